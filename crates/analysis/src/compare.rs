//! The figures of two runs, releases or targets beside each other.

use plan::{Phase, RateName};
use record::Operation;

use crate::{Contrast, DIFFERENCE_LEAST, Difference, Figure, LatencySummary, RepetitionFigure, difference};

/// How two figures of two runs, releases or targets compare.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// The case.
    pub case: String,
    /// The phase.
    pub phase: Phase,
    /// Which one, where latencies are compared.
    pub operation: Option<Operation>,
    /// Of a rate: it is that over the time of the transfers alone, beside the one by which both are
    /// summarised.
    pub transferring: bool,
    /// Of the first rate of the phase, [`crate::RateOf::phase`]; of nanoseconds where
    /// [`Comparison::operation`] is given.
    pub difference: Difference,
    /// Why the figures may not be compared, though they were measured: what the audit says of one of them. Nothing
    /// is stated then.
    pub refused: Option<String>,
}

/// What two figures are compared by: a rate, or the mean latency of an operation.
#[derive(Debug)]
pub(crate) struct Samples {
    case: String,
    phase: Phase,
    operation: Option<Operation>,
    transferring: bool,
    before: Vec<f64>,
    after: Vec<f64>,
    refused: Option<String>,
}

/// What the figures are compared by, which may be of one case or of two that differ in what is of interest: two
/// targets, or 64 tasks and 160. Rates come first, by the name that both are summarised by, or by wall time where
/// that differs; then the mean latencies of each operation. Between, where the figures are of different tools, the
/// rate over the time of the transfers alone, if it says something else: tools count opening, syncing and closing
/// in different ways.
pub(crate) fn samples(
    before: &Figure,
    after: &Figure,
    of_two_tools: bool,
    refused: Option<&str>,
) -> Vec<Samples> {
    let counts = after.rate_of();
    let sampled = |operation, transferring, of: &dyn Fn(&RepetitionFigure) -> Option<f64>| {
        let [before_values, after_values] = [before, after].map(|figure| values(figure, of));
        Samples {
            case: names(before, after),
            phase: after.phase,
            operation,
            transferring,
            before: before_values,
            after: after_values,
            refused: refused.map(str::to_owned),
        }
    };
    let by = |rate: RateName| move |one: &RepetitionFigure| one.rates.get(rate).map(|rate| counts.get(&rate));
    let rate = if before.rate == after.rate { before.rate } else { RateName::ByWall };
    let mut found = vec![sampled(None, false, &by(rate))];
    if of_two_tools {
        let all = sampled(None, false, &by(RateName::ByWall));
        let transferring = sampled(None, true, &by(RateName::ByIo));
        if is_other(&all.before, &transferring.before) || is_other(&all.after, &transferring.after) {
            found.push(transferring);
        }
    }
    for operation in Operation::ALL {
        let is_known = |figure: &Figure| figure.response(operation).is_some_and(|latency| latency.knows_mean);
        if is_known(before) && is_known(after) {
            let mean = |one: &RepetitionFigure| one.response(operation).map(LatencySummary::mean_ns);
            found.push(sampled(Some(operation), false, &mean));
        }
    }
    found
}

/// Two rates of one figure that are closer are shown as one.
const SAME_RATE: f64 = 0.01;

fn is_other(all: &[f64], transferring: &[f64]) -> bool {
    let median = |values| crate::Summary::of(values).map_or(f64::NAN, |summary| summary.median);
    (median(transferring) / median(all) - 1.0).abs() > SAME_RATE
}

/// How many of the comparisons of one page can be called different at all: those with enough values that nothing speaks
/// against.
pub(crate) fn family<'a>(all: impl Iterator<Item = &'a Samples>) -> usize {
    all.filter(|one| one.refused.is_none() && one.before.len().min(one.after.len()) >= DIFFERENCE_LEAST)
        .count()
}

impl Samples {
    pub(crate) fn compared(&self, family: usize) -> Option<Comparison> {
        let found = difference(&self.before, &self.after, family)?;
        let untested = Difference { interval: None, p_value: None, outcome: Contrast::NotShown, ..found };
        Some(Comparison {
            case: self.case.clone(),
            phase: self.phase,
            operation: self.operation,
            transferring: self.transferring,
            difference: if self.refused.is_some() { untested } else { found },
            refused: self.refused.clone(),
        })
    }
}

fn names(before: &Figure, after: &Figure) -> String {
    match (before.case == after.case, before.node_count == after.node_count) {
        (true, true) => before.case.clone(),
        (false, true) => format!("{} → {}", before.case, after.case),
        (_, false) => format!(
            "{} ({}) → {} ({})",
            before.case,
            nodes(before.node_count),
            after.case,
            nodes(after.node_count)
        ),
    }
}

/// One workload on 2 nodes is not the same as on 1, though the case may have the same name.
fn nodes(count: u64) -> String {
    if count == 1 { "1 node".to_owned() } else { format!("{count} nodes") }
}

/// Of the passes that count: a warm-up is no scatter.
fn values(figure: &Figure, of: impl Fn(&RepetitionFigure) -> Option<f64>) -> Vec<f64> {
    figure.counted().filter_map(of).collect()
}

/// The rates that differ most, in either direction; one that was shown to differ comes before all others.
#[must_use]
pub fn largest_gap(comparisons: &[Comparison]) -> Option<&Comparison> {
    let rates = comparisons
        .iter()
        .filter(|one| one.operation.is_none() && !one.transferring && one.refused.is_none());
    let rank = |one: &Comparison| (one.difference.is_stated(), one.difference.change.abs());
    rates.max_by(|a, b| {
        let (a, b) = (rank(a), rank(b));
        a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
    })
}
