//! One figure of many runs: its value in each, and the runs with which its level changed.

use plan::{FigureName, FigureQuantity, Measure, Phase, RateName};
use record::Run;

use crate::audit::Use;
use crate::figures::{
    Figure, LATENCY_STATISTICS, LatencySummary, RepetitionFigure, Take, figures, percentiles,
};
use crate::findings;
use crate::gate::{Gate, Kind, Outcome, Reason};
use crate::statistics::{LevelChange, Summary, level_changes};

/// A figure of one run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunValue {
    /// The case.
    pub case: String,
    /// The phase.
    pub phase: Phase,
    /// Size, order, path and tasks.
    pub conditions: String,
    /// The value, in bytes or operations per second or in nanoseconds.
    pub value: f64,
    /// `bytes/s`, `ops/s` or `ns`.
    pub unit: &'static str,
    /// The number of passes.
    pub n: usize,
    /// The interval of the median of the passes, or their range if there are too few for an interval; `None` of one
    /// pass.
    pub ends: Option<(f64, f64)>,
    /// Whether [`RunValue::ends`] is an interval.
    pub is_interval: bool,
    /// What the audit allows to be said of the figure when runs are compared: that of a withheld one is shown, and
    /// left out of every statement.
    pub outcome: Outcome,
    /// The reasons why it is marked or withheld.
    pub reasons: Vec<Reason>,
}

/// Why a run has no such figure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoValue {
    /// It did not measure it.
    Missing(String),
    /// The name stands for several figures, or asks for what no run has.
    Ambiguous(String),
}

/// The figure `name` of `run`.
///
/// # Errors
/// Errors if the run has no such figure, or several.
pub fn value_of(run: &Run, name: &FigureName) -> Result<RunValue, NoValue> {
    let all = figures(run, RateName::ByWall);
    let place = place(&all, name)?;
    let figure = &all[place];
    let (value, passes, unit) = values(figure, name)?;
    let summary = Summary::of(&passes).filter(|summary| summary.n > 1);
    let interval = summary.and_then(|summary| summary.median_interval).map(|ends| (ends.low, ends.high));
    let gate = Gate::new(&run.manifest.plan, &all, &findings::audit(run, &all));
    let stated = gate.weigh(Kind::RateChange, Use::Compared, place, ());
    Ok(RunValue {
        case: figure.case.clone(),
        phase: figure.phase,
        conditions: figure.conditions.clone(),
        value,
        unit,
        n: passes.len(),
        ends: interval.or_else(|| summary.map(|summary| (summary.min, summary.max))),
        is_interval: interval.is_some(),
        outcome: stated.outcome,
        reasons: stated.reasons,
    })
}

/// The index of the figure that `name` stands for.
fn place(all: &[Figure], name: &FigureName) -> Result<usize, NoValue> {
    let is_measured = |figure: &Figure| figure.phase.is_result() && figure.counted().next().is_some();
    let is_meant = |figure: &Figure| is_measured(figure) && name.is_of(&figure.case, figure.phase);
    let places: Vec<usize> = (0..all.len()).filter(|&place| is_meant(&all[place])).collect();
    match places[..] {
        [only] => Ok(only),
        [] => Err(NoValue::Missing(format!("it has no {name}"))),
        _ => {
            let named =
                |place: &usize| plan::figure_name(&all[*place].case, all[*place].phase, name.quantity, None);
            let names: Vec<String> = places.iter().map(named).collect();
            Err(NoValue::Ambiguous(format!(
                "{name} stands for {} figures: {}; name one",
                names.len(),
                names.join(", ")
            )))
        }
    }
}

/// The value of a figure, those of its passes, and their unit.
fn values(figure: &Figure, name: &FigureName) -> Result<(f64, Vec<f64>, &'static str), NoValue> {
    // Of a phase with several operations, the slowest counts.
    let slowest = |all: &[LatencySummary]| {
        let responses = all.iter().filter(|one| one.measure == Measure::Response);
        responses.filter_map(|one| one.value(name.quantity)).reduce(f64::max)
    };
    if name.quantity == FigureQuantity::Rate {
        let passes = figure.headline_of_passes();
        return Ok((figure.headline().median, passes, figure.rate_of().unit()));
    }
    let listed = |percent: f64| {
        LATENCY_STATISTICS
            .iter()
            .any(|one| matches!(one.take, Take::Percentile(of) if of.total_cmp(&percent).is_eq()))
    };
    let Some(value) = slowest(&figure.latency) else {
        return Err(match name.quantity {
            FigureQuantity::Percentile(percent) if !listed(percent) && !figure.latency.is_empty() => {
                NoValue::Missing(format!(
                    "it has no {name}; every run has {}, and those that its study promises",
                    percentiles()
                ))
            }
            _ => NoValue::Missing(format!("it has no latencies of {}", figure.phase)),
        });
    };
    let of_pass = |pass: &RepetitionFigure| slowest(&pass.latency);
    let passes: Vec<f64> = figure.counted().filter_map(of_pass).collect();
    // As a comparison of several runs a side.
    let median = Summary::of(&passes).map_or(value, |summary| summary.median);
    Ok((median, passes, "ns"))
}

/// The runs, by their indices in `values`, with which the level changed. Runs whose figure is withheld are left out,
/// and those without one have `None`.
#[must_use]
pub fn changes(values: &[Option<&RunValue>]) -> Vec<LevelChange> {
    let counted: Vec<(usize, f64)> = values
        .iter()
        .enumerate()
        .filter_map(|(place, one)| {
            one.filter(|one| one.outcome != Outcome::Withheld).map(|one| (place, one.value))
        })
        .collect();
    let series: Vec<f64> = counted.iter().map(|(_, value)| *value).collect();
    let in_all = |one: LevelChange| LevelChange { at: counted[one.at].0, ..one };
    level_changes(&series).into_iter().map(in_all).collect()
}
