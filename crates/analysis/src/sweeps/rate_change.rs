//! Changes of the rate during measurement: within a pass, over passes, over stored runs.

use record::{Part, Run};

use crate::audit::Use;
use crate::figures::{RateOf, RepetitionFigure, Subject};
use crate::gate::{
    Gate, Kind, Of, Stated, Statement,
    table::{Column, change, number, rate, subject, text},
};
use crate::statistics::{ChangePoint, Dependence, change_point, median};

/// A change of the rate of a figure at one point in time.
#[derive(Debug, Clone, PartialEq)]
pub struct RateChange {
    /// The series, as in `seconds of pass 3`.
    pub series: String,
    /// The position of the change, as in `after 31 s`.
    pub place: String,
    /// The change; levels are of the first rate of the phase.
    pub change: ChangePoint,
    /// The number of series that were searched for a change.
    pub family: usize,
    counts: RateOf,
}

impl Statement for RateChange {
    const KIND: Kind = Kind::RateChange;
    const OF: Of = Of::Point;
    const COUNTS: Option<fn(&Self) -> RateOf> = Some(|one| one.counts);
    const CAPTION: &'static str = "The clearest change of the level of a rate: within the seconds of a pass, \
         over passes, or over stored runs. From, to: medians before and after it. Reported from 5 % on";
    const COLUMNS: &'static [Column<Self>] = &[
        subject(text("series", "over", "What the series consists of.", |one| one.series.clone())),
        text("place", "where", "Where the change is.", |one| one.place.clone()),
        rate("before", "from", "Median before it.", |one| Some(one.change.before)),
        rate("after", "to", "Median after it.", |one| Some(one.change.after)),
        change("change", "change", "After ÷ before − 1; empty where the rate was 0 before.", |one| {
            one.change.change()
        }),
        number("p_value", "p", "Probability of such a change by chance, corrected for all series.", |one| {
            Some((one.change.p_value * one.family as f64).min(1.0))
        }),
    ];
}

/// The changes in the figures of `run`. All series of one kind in the run form a family.
pub(crate) fn of_gate(run: &Run, gate: &Gate<'_>) -> Vec<Stated<RateChange>> {
    let of = |one: &Subject<'_>| (one.index, one.figure.rate_of());
    let within = gate.subjects.iter().flat_map(|one| {
        let changes =
            one.figure.counted().filter_map(|pass| pass.change.map(|found| (pass.repetition, found)));
        changes.map(move |(pass, found)| {
            let words = (format!("seconds of pass {}", pass + 1), format!("after {:.0} s", found.seconds));
            (of(one), words, found.change)
        })
    });
    let over = gate.subjects.iter().filter_map(|one| {
        let (words, change) = over_passes(run, one)?;
        Some((of(one), words, change))
    });
    [within.collect::<Vec<_>>(), over.collect()]
        .into_iter()
        .flat_map(|all| {
            let family = all.len();
            let shown = all.into_iter().filter(move |(.., found)| found.is_shown(family));
            shown.map(move |((figure, counts), (series, place), change)| {
                gate.state_as(
                    Use::Compared,
                    vec![figure],
                    RateChange { series, place, change, family, counts },
                )
            })
        })
        .collect()
}

/// The clearest change over the counted passes of a figure, which are assumed to be independent. With several runs,
/// the medians of the runs are used, because the passes of one run are more similar than those of two.
fn over_passes(run: &Run, subject: &Subject<'_>) -> Option<((String, String), ChangePoint)> {
    let figure = subject.figure;
    let rate = |pass: &RepetitionFigure| figure.headline_of(pass);
    let id = figure.case.as_str();
    let mut parts: Vec<&Part> = run.parts.iter().filter(|part| part.passes.contains_key(id)).collect();
    if parts.len() < 2 {
        let passes: Vec<_> =
            figure.counted().filter_map(|pass| Some((pass.repetition, rate(pass)?))).collect();
        let rates: Vec<f64> = passes.iter().map(|(_, rate)| *rate).collect();
        let found = change_point(&rates, Dependence::Independent)?;
        let place = format!("from pass {} on", passes[found.at].0 + 1);
        return Some((("passes".to_owned(), place), found));
    }
    parts.sort_by_key(|part| part.started_unix_ns);
    let of_part = |part: &&Part| {
        let own = part.passes.get(id)?;
        let rates: Vec<f64> =
            figure.counted().filter(|pass| own.holds(pass.repetition)).filter_map(rate).collect();
        Some((part.run_id.clone(), median(&rates)?))
    };
    let runs: Vec<(String, f64)> = parts.iter().filter_map(of_part).collect();
    let rates: Vec<f64> = runs.iter().map(|(_, rate)| *rate).collect();
    let found = change_point(&rates, Dependence::Independent)?;
    Some((("runs".to_owned(), format!("from run {} on", runs[found.at].0)), found))
}
