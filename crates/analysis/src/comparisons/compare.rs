//! Compares figures of two runs, releases or targets.

use plan::{Operation, Phase, RateName};

use crate::figures::{Figure, LatencySummary, RepetitionFigure};
use crate::gate::{Outcome, Reason, Stated};
use crate::statistics::{
    Contrast, DIFFERENCE_LEAST, Difference, Family, Grade, OBVIOUS_LEAST, Settled, difference::difference,
    settled_by,
};

/// A comparison of two figures from two runs, releases or targets.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// The case.
    pub case: String,
    /// The phase.
    pub phase: Phase,
    /// The operation, if latencies are compared.
    pub operation: Option<Operation>,
    /// For a rate: whether it is the rate over the transfer time alone, in addition to the rate by which both figures
    /// are summarised.
    pub transferring: bool,
    /// The difference of the first rate of the phase, [`crate::figures::RateOf::phase`]; in nanoseconds if
    /// [`Comparison::operation`] is set.
    pub difference: Difference,
    /// What would tell the change if it is not told.
    pub settled_by: Option<Settled>,
    /// The outcome that the policy of [`crate::gate::Kind::Comparison`] derives from the doubts about both figures.
    /// Nothing is stated about a withheld comparison.
    pub outcome: Outcome,
    /// The reasons why it is marked or withheld, each with its run.
    pub reasons: Vec<Reason>,
}

impl Comparison {
    /// Whether the audit allows no statement.
    #[must_use]
    pub fn is_withheld(&self) -> bool {
        self.outcome == Outcome::Withheld
    }
}

/// The values by which two figures are compared: a rate, or the mean latency of an operation.
#[derive(Debug)]
pub(crate) struct Samples {
    case: String,
    phase: Phase,
    operation: Option<Operation>,
    transferring: bool,
    before: Vec<f64>,
    after: Vec<f64>,
}

/// The samples for a comparison of two figures. The figures may be of one case, or of two that differ in the property
/// of interest: two targets, or 64 tasks and 160. Rates come first, by the name by which both are summarised, or by
/// wall time if the names differ; then the mean latency of each operation. For figures of different tools, the rate
/// over the transfer time alone comes in between if it differs, because tools count opening, syncing and closing in
/// different ways.
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

/// Two rates of one figure that are closer than this are shown as one.
const SAME_RATE: f64 = 0.01;

fn is_other(all: &[f64], transferring: &[f64]) -> bool {
    let median = |values| crate::statistics::Summary::of(values).map_or(f64::NAN, |summary| summary.median);
    (median(transferring) / median(all) - 1.0).abs() > SAME_RATE
}

impl Samples {
    /// Whether latencies are compared, for which smaller is better.
    pub(crate) const fn is_of_latency(&self) -> bool {
        self.operation.is_some()
    }

    /// The best grade that a difference can have with so many values. What is shown and what is obvious are two
    /// families, each with its own error.
    pub(crate) fn grade(&self) -> Option<Grade> {
        match self.before.len().min(self.after.len()) {
            DIFFERENCE_LEAST.. => Some(Grade::Shown),
            OBVIOUS_LEAST.. => Some(Grade::Obvious),
            _ => None,
        }
    }

    /// The comparison as one of a family that could be stated, with the outcome that `gate` gives it.
    pub(crate) fn compared(
        self,
        family: Family,
        gate: impl FnOnce(&Self, &Difference) -> Stated<()>,
    ) -> Option<Comparison> {
        let found = difference(&self.before, &self.after, family)?;
        let gated = gate(&self, &found);
        let untested = Difference { interval: None, p_value: None, outcome: Contrast::NotShown, ..found };
        let is_open = gated.says().is_some() && !found.is_stated();
        let settled_by = is_open.then(|| settled_by(&self.before, &self.after, family.size)).flatten();
        Some(Comparison {
            settled_by,
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

/// The comparisons of `all` as one family.
pub(crate) fn family<'a>(all: impl Iterator<Item = &'a Samples>) -> Family {
    let (before, after): (Vec<&[f64]>, Vec<&[f64]>) =
        all.map(|one| (one.before.as_slice(), one.after.as_slice())).unzip();
    Family::of_samples(before.len(), &before, &after)
}

fn names(before: &Figure, after: &Figure) -> String {
    match before.node_count.zip(after.node_count).filter(|(one, other)| one != other) {
        None if before.case == after.case => before.case.clone(),
        None => format!("{} → {}", before.case, after.case),
        Some((one, other)) => {
            format!("{} ({}) → {} ({})", before.case, nodes(one), after.case, nodes(other))
        }
    }
}

/// The same workload on 2 nodes is not the same as on 1, even if the case has the same name.
fn nodes(count: u64) -> String {
    if count == 1 { "1 node".to_owned() } else { format!("{count} nodes") }
}

/// The values of the counted passes: warm-up passes are not part of the scatter.
fn values(figure: &Figure, of: impl Fn(&RepetitionFigure) -> Option<f64>) -> Vec<f64> {
    figure.counted().filter_map(of).collect()
}

/// The rates that differ most, in either direction: among those that were shown to differ, or else among those with
/// too few values to tell.
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
