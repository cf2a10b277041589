//! Two runs, releases, targets or task counts beside each other, with a test that can say "no
//! difference".

use std::collections::HashMap;

use plan::RateName;
use record::Operation;

use crate::{
    CONFIDENCE, Comparison, Figure, Latency, Outcome, RepetitionFigure, Summary, can_differ, mann_whitney,
    shift,
};

/// How two samples of a positive quantity compare.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Difference {
    /// Median of the first.
    pub before: f64,
    /// Median of the second.
    pub after: f64,
    /// After ÷ before − 1.
    pub change: f64,
    /// Where the change lies with at least [`CONFIDENCE`]: the interval of [`shift`] of the
    /// logarithms, so that it is one of ratios. None where there are too few values for it.
    pub interval: Option<(f64, f64)>,
    /// Of [`mann_whitney`]; none where a side has one value.
    pub p_value: Option<f64>,
    /// What can be said.
    pub outcome: Outcome,
}

/// Compares two samples; `more_is_better` for rates, not for times. [`Outcome::TooFew`] where not
/// even the samples farthest apart would be a difference, as three against three.
///
/// None where a side has no value, or one that is not finite or not above 0.
#[must_use]
pub fn difference(before: &[f64], after: &[f64], more_is_better: bool) -> Option<Difference> {
    if before.iter().chain(after).any(|&value| value <= 0.0) {
        return None;
    }
    let (first, second) = (Summary::of(before)?, Summary::of(after)?);
    let test = mann_whitney(before, after)?;
    let logarithms = |values: &[f64]| values.iter().map(|value| value.ln()).collect::<Vec<_>>();
    let ratios = shift(&logarithms(before), &logarithms(after)).and_then(|shift| shift.interval);
    let outcome = if !can_differ(first.n, second.n) {
        Outcome::TooFew
    } else if test.p_value > 1.0 - CONFIDENCE {
        Outcome::NoDifference
    } else if (2.0 * test.u > (first.n * second.n) as f64) == more_is_better {
        Outcome::Faster
    } else {
        Outcome::Slower
    };
    Some(Difference {
        before: first.median,
        after: second.median,
        change: second.median / first.median - 1.0,
        interval: ratios.map(|(low, high)| (low.exp_m1(), high.exp_m1())),
        p_value: (first.n > 1 && second.n > 1).then_some(test.p_value),
        outcome,
    })
}

/// Compares the figures that two runs have in common, by case and phase, in the order of the
/// first: rates, then the mean latencies of each operation. Each test is wrong about equal
/// figures once in twenty times; see [`by_chance`].
#[must_use]
pub fn compare(before: &[Figure], after: &[Figure]) -> Vec<Comparison> {
    let of_after: HashMap<_, &Figure> =
        after.iter().map(|figure| ((figure.case.as_str(), figure.phase), figure)).collect();
    let pair = |before: &Figure| {
        of_after.get(&(before.case.as_str(), before.phase)).map(|after| compare_figures(before, after))
    };
    before.iter().filter_map(pair).flatten().collect()
}

/// Compares two figures, of the same case or of two that differ in what is of interest: two
/// targets, or 64 tasks and 160. Rates are compared by the rate that both are summarised by, or by
/// wall time where that differs.
#[must_use]
pub fn compare_figures(before: &Figure, after: &Figure) -> Vec<Comparison> {
    let rate = if before.rate == after.rate { before.rate } else { RateName::ByWall };
    let latencies = Operation::ALL.map(|operation| {
        let mean = |one: &RepetitionFigure| one.response(operation).map(|latency| latency.mean_ns);
        let is_known = |figure: &Figure| figure.response(operation).is_some_and(Latency::knows_mean);
        let both = is_known(before) && is_known(after);
        let found = both.then(|| difference(&values(before, mean), &values(after, mean), false));
        (Some(operation), found.flatten())
    });
    let found = std::iter::once((None, rates(before, after, rate))).chain(latencies);
    let case = names(before, after);
    let row = |(operation, difference): (_, Option<Difference>)| {
        Some(comparison(&case, after, operation, &difference?, false))
    };
    found.filter_map(row).collect()
}

/// The rates of two figures over the time of their transfers alone, where they say something else than those
/// by wall time: tools count opening, syncing and closing in different ways.
pub(crate) fn compare_transferring(before: &Figure, after: &Figure) -> Option<Comparison> {
    let by = |rate| rates(before, after, rate);
    let (all, transferring) = (by(RateName::ByWall)?, by(RateName::ByIo)?);
    let is_other = (transferring.before / all.before - 1.0).abs() > SAME_RATE
        || (transferring.after / all.after - 1.0).abs() > SAME_RATE;
    is_other.then(|| comparison(&names(before, after), after, None, &transferring, true))
}

/// Two rates of one figure that are closer are shown as one.
const SAME_RATE: f64 = 0.01;

fn rates(before: &Figure, after: &Figure, rate: RateName) -> Option<Difference> {
    let counts = after.rate_of();
    let of = |one: &RepetitionFigure| one.rates.get(rate).map(|rate| counts.get(&rate));
    difference(&values(before, of), &values(after, of), true)
}

fn comparison(
    case: &str,
    after: &Figure,
    operation: Option<Operation>,
    difference: &Difference,
    transferring: bool,
) -> Comparison {
    Comparison {
        case: case.to_owned(),
        phase: after.phase,
        operation,
        transferring,
        before: difference.before,
        after: difference.after,
        change: difference.change,
        interval: difference.interval,
        p_value: difference.p_value,
        outcome: difference.outcome,
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

/// The rates that differ most, in either direction: "the difference is at most x %".
#[must_use]
pub fn largest_gap(comparisons: &[Comparison]) -> Option<&Comparison> {
    let rates = comparisons.iter().filter(|one| one.operation.is_none() && !one.transferring);
    rates.max_by(|a, b| a.change.abs().total_cmp(&b.change.abs()))
}

/// How many of `comparisons` would be called different at most, on average, if none were: one in
/// twenty of those that had enough values. As many differences are no finding.
#[must_use]
pub fn by_chance(comparisons: &[Comparison]) -> f64 {
    let tested = comparisons.iter().filter(|comparison| comparison.outcome != Outcome::TooFew);
    tested.count() as f64 * (1.0 - CONFIDENCE)
}
