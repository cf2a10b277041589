//! The figures of two runs, releases or targets beside each other.

use plan::{Operation, Phase, RateName};

use crate::figures::{Figure, LatencySummary, RepetitionFigure};
use crate::gate::{Outcome, Reason, Stated};
use crate::statistics::{Contrast, DIFFERENCE_LEAST, Difference, difference::difference};

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
    /// Of the first rate of the phase, [`crate::figures::RateOf::phase`]; of nanoseconds where
    /// [`Comparison::operation`] is given.
    pub difference: Difference,
    /// What the policy of [`crate::gate::Kind::Comparison`] makes of what the audit says of both figures. Nothing is stated
    /// of what is withheld.
    pub outcome: Outcome,
    /// Why it is marked or withheld, with the run that each reason is of.
    pub reasons: Vec<Reason>,
}

impl Comparison {
    /// Whether the audit lets nothing be said.
    #[must_use]
    pub fn is_withheld(&self) -> bool {
        self.outcome == Outcome::Withheld
    }
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
}

/// What the figures are compared by, which may be of one case or of two that differ in what is of interest: two
/// targets, or 64 tasks and 160. Rates come first, by the name that both are summarised by, or by wall time where
/// that differs; then the mean latencies of each operation. Between, where the figures are of different tools, the
/// rate over the time of the transfers alone, if it says something else: tools count opening, syncing and closing
/// in different ways.
pub(crate) fn samples(before: &Figure, after: &Figure, of_two_tools: bool) -> Vec<Samples> {
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
    let median = |values| crate::statistics::Summary::of(values).map_or(f64::NAN, |summary| summary.median);
    (median(transferring) / median(all) - 1.0).abs() > SAME_RATE
}

impl Samples {
    /// Whether it compares latencies, of which the smaller is the better.
    pub(crate) const fn is_of_latency(&self) -> bool {
        self.operation.is_some()
    }

    /// Whether there are enough values for a difference.
    pub(crate) fn are_enough(&self) -> bool {
        self.before.len().min(self.after.len()) >= DIFFERENCE_LEAST
    }

    /// The comparison, one of `family` that could be stated, as `gate` lets it stand.
    pub(crate) fn compared(
        self,
        family: usize,
        gate: impl FnOnce(&Self, &Difference) -> Stated<()>,
    ) -> Option<Comparison> {
        let found = difference(&self.before, &self.after, family)?;
        let gated = gate(&self, &found);
        let untested = Difference { interval: None, p_value: None, outcome: Contrast::NotShown, ..found };
        Some(Comparison {
            case: self.case,
            phase: self.phase,
            operation: self.operation,
            transferring: self.transferring,
            difference: if gated.says().is_some() { found } else { untested },
            outcome: gated.outcome,
            reasons: gated.reasons,
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

/// The rates that differ most, in either direction: of those that were shown to differ, or else of those with too few
/// values to tell.
#[must_use]
pub fn largest_gap(comparisons: &[Comparison]) -> Option<&Comparison> {
    let rates = comparisons.iter().filter(|one| one.operation.is_none() && !one.transferring);
    let open = rates.filter(|one| !one.is_withheld() && one.difference.outcome != Contrast::NotShown);
    let rank = |one: &Comparison| (one.difference.is_stated(), one.difference.change.abs());
    open.max_by(|a, b| {
        let (a, b) = (rank(a), rank(b));
        a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
    })
}
