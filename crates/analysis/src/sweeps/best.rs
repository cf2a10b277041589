//! The best point of each sweep, and its lead.

use plan::{Jobs, Phase, Work};

use crate::figures::{RateOf, Subject, sweeps, value_of};
use crate::gate::{
    Gate, Kind, Of, Stated, Statement,
    table::{Column, change, count, detail, figure, operations, rate, seconds, subject, word},
};
use crate::jobs::same_jobs;
use crate::statistics::median;

/// The best point of a sweep.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the name says it")]
pub struct Best {
    /// The index of the second best figure.
    pub runner_up: Option<usize>,
    /// Median of its first rate.
    pub rate: f64,
    pub counts: RateOf,
    pub operations_per_second: f64,
    /// Median of the wall times of its passes in seconds, if it is one of jobs, which are compared by it.
    pub elapsed: Option<f64>,
    /// Rate ÷ that of the second best − 1; of jobs the time of the second best ÷ its own − 1. `None` if it is within
    /// the scatter.
    pub gain: Option<f64>,
    /// The number of points that it was chosen from.
    pub of: usize,
    /// The conditions under which it holds, in a sentence.
    pub caution: String,
    /// For bandwidth: the fastest figure at the largest transfer size, if that is larger and shown to be slower.
    pub larger_is_slower: Option<usize>,
}

impl Statement for Best {
    const KIND: Kind = Kind::Best;
    const OF: Of = Of::Point;
    const COUNTS: Option<fn(&Self) -> RateOf> = Some(|one| one.counts);
    const CAPTION: &'static str = "Best of the points of a sweep by the median of their repetitions; the same jobs by \
         the time of a pass. Ahead: best ÷ second best − 1, where the difference is shown. A peak holds under the \
         conditions in its row and no others; applications are unlikely to reach it.";
    const COLUMNS: &'static [Column<Self>] = &[
        count("points", "of", "points that it was chosen from", |one| Some(one.of as u64)),
        rate("rate_per_second", "rate", "median of the first rate of the phase", |one| Some(one.rate)),
        operations("operations_per_second", "operations", "median of the operations per second", |one| {
            Some(one.operations_per_second)
        }),
        seconds("elapsed", "elapsed", "median wall time of a pass, by which jobs are compared", |one| {
            one.elapsed
        }),
        change(
            "gain",
            "ahead",
            "best ÷ second best − 1; of jobs the time of the second best ÷ its own − 1",
            |one| one.gain,
        ),
        figure(
            "larger_is_slower",
            "larger is slower",
            "the fastest figure at the largest transfer size, where that is larger and slower: the peak \
             belongs to its size",
            |one| one.larger_is_slower,
        ),
        // A label of every sample of OpenMetrics, so that nobody gets the rate without it.
        subject(detail(word("caution", "caution", "The conditions under which a peak holds.", |one| {
            &one.caution
        }))),
    ];
}

/// The best figure of each workload, target and phase with several points, in the order of the figures. Loading tables
/// only prepares jobs.
#[must_use]
pub(crate) fn best(gate: &Gate<'_>) -> Vec<Stated<Best>> {
    let sweeps = sweeps(&gate.subjects).into_iter().filter(|sweep| sweep[0].figure.phase != Phase::Load);
    sweeps
        .flat_map(of_same_jobs)
        .filter(|sweep| sweep.len() > 1 && !is_of_members(sweep))
        .filter_map(|sweep| best_of(gate, &sweep))
        .collect()
}

/// Whether the points are one after the other member of a target. The fastest of several devices is no setting to choose.
fn is_of_members(sweep: &[&Subject<'_>]) -> bool {
    let others = |one: &Subject<'_>| {
        one.case.settings.iter().filter(|setting| setting.key != "member").cloned().collect::<Vec<_>>()
    };
    sweep.iter().all(|one| value_of(one.case, "member").is_some() && others(one) == others(sweep[0]))
}

/// The points of a sweep that can be compared: of jobs, those that launch the same ones, whatever number at a time.
fn of_same_jobs<'b, 'a>(sweep: Vec<&'b Subject<'a>>) -> Vec<Vec<&'b Subject<'a>>> {
    if sweep[0].figure.phase != Phase::Jobs {
        return vec![sweep];
    }
    let mut alike: Vec<Vec<&'b Subject<'a>>> = Vec::new();
    for one in sweep {
        let is_same = |other: &Subject<'_>| same_jobs(&unlimited(one), &unlimited(other));
        match alike.iter_mut().find(|these| is_same(these[0])) {
            Some(these) => these.push(one),
            None => alike.push(vec![one]),
        }
    }
    alike
}

/// The work of a point without a limit on the jobs that run at a time.
fn unlimited(subject: &Subject<'_>) -> Work {
    let work = &subject.case.workload.work;
    work.jobs().map_or_else(|| work.clone(), |jobs| Jobs { concurrency: 0, ..jobs.clone() }.into())
}

fn best_of(gate: &Gate<'_>, sweep: &[&Subject<'_>]) -> Option<Stated<Best>> {
    let chosen = gate.best_by(sweep, Subject::speed)?;
    let best = chosen.best;
    let is_of_jobs = best.figure.phase == Phase::Jobs;
    // Any of the others could have been the second best.
    let family = chosen.of.saturating_sub(1);
    let differs = |other: &Subject<'_>| gate.difference_of(&other.speeds(), &best.speeds(), family);
    let difference = chosen.runner_up.and_then(differs);
    let larger = larger(gate, sweep, best).filter(|_| !is_of_jobs);
    let larger = larger.filter(|other| gate.is_shown(other.index, best.index, family));
    let value = Best {
        runner_up: chosen.runner_up.map(|one| one.index),
        rate: best.rate(),
        counts: best.figure.rate_of(),
        operations_per_second: best.figure.transfers_per_second.median,
        elapsed: median(&best.seconds()).filter(|_| is_of_jobs),
        gain: difference.as_ref().filter(|one| one.is_stated()).map(|one| one.change),
        of: chosen.of,
        caution: format!(
            "a peak holds under these conditions and no others, and applications are unlikely to reach it: {}",
            best.figure.conditions
        ),
        larger_is_slower: larger.map(|one| one.index),
    };
    Some(gate.state_choice(&chosen, difference.as_ref(), value))
}

/// The fastest figure at the largest transfer size, if that size is larger than that of the best figure.
fn larger<'b, 'a>(gate: &Gate<'a>, sweep: &[&'b Subject<'a>], best: &Subject<'_>) -> Option<&'b Subject<'a>> {
    let transfer = |subject: &Subject<'_>| subject.case.workload.geometry.transfer;
    let usable = || sweep.iter().copied().filter(|one| gate.is_usable(one.index));
    let largest = usable().map(transfer).max().filter(|&largest| largest > transfer(best))?;
    let at_largest: Vec<&'b Subject<'a>> = usable().filter(|one| transfer(one) == largest).collect();
    gate.best(&at_largest).map(|chosen| chosen.best)
}
