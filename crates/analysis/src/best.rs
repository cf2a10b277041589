//! The best point of each sweep, and by how much it is ahead.

use plan::Plan;

use crate::Figure;
use crate::findings::Best;
use crate::subject::{Subject, subjects, sweeps};

/// The best figure of each workload, target and phase, by the median of the repetitions, in the
/// order of the figures. Of two that are as fast the first counts.
#[must_use]
pub fn best(plan: &Plan, figures: &[Figure]) -> Vec<Best> {
    of_subjects(&subjects(plan, figures))
}

/// As [`best`], of figures that were looked up already.
pub(crate) fn of_subjects(subjects: &[Subject<'_>]) -> Vec<Best> {
    sweeps(subjects).iter().filter_map(|sweep| best_of(sweep)).collect()
}

fn best_of(sweep: &[&Subject<'_>]) -> Option<Best> {
    let mut places: [Option<&Subject<'_>>; 2] = [None, None];
    let ahead = |one: &Subject<'_>, other: Option<&Subject<'_>>| other.is_none_or(|o| one.rate() > o.rate());
    for subject in sweep {
        if ahead(subject, places[0]) {
            places = [Some(subject), places[0]];
        } else if ahead(subject, places[1]) {
            places[1] = Some(subject);
        }
    }
    let [best, runner_up] = places;
    let best = best?;
    Some(Best {
        group: best.case.group.clone(),
        target: best.case.target.clone(),
        phase: best.figure.phase,
        figure: best.index,
        settings: best.settings(),
        bytes_per_second: best.figure.bytes_per_second.median,
        transfers_per_second: best.figure.transfers_per_second.median,
        runner_up: runner_up.map(|subject| subject.index),
        gain: runner_up.filter(|second| second.rate() > 0.0).map(|second| best.rate() / second.rate() - 1.0),
        of: sweep.len(),
        larger_is_slower: larger_and_slower(sweep, best),
    })
}

/// The fastest figure at the largest transfer size, if that is larger than that of the best.
fn larger_and_slower(sweep: &[&Subject<'_>], best: &Subject<'_>) -> Option<usize> {
    let transfer = |subject: &Subject<'_>| subject.case.workload.geometry.transfer;
    let largest = sweep.iter().map(|subject| transfer(subject)).max()?;
    if largest <= transfer(best) {
        return None;
    }
    let at_largest = sweep.iter().filter(|subject| transfer(subject) == largest);
    at_largest.max_by(|a, b| a.rate().total_cmp(&b.rate())).map(|subject| subject.index)
}
