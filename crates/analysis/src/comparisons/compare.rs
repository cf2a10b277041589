//! Compares figures of two runs, releases or targets.

use plan::{FigureQuantity, Operation, Phase, RateName};

use crate::comparisons::Pair;
use crate::figures::{Figure, LatencySummary, RepetitionFigure};
use crate::gate::{Outcome, Reason};
use crate::statistics::{
    Contrast, Difference, Family, Grade, Settled, Summary, best_grade, difference::difference, settled_by,
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
    /// What is compared of them.
    pub quantity: FigureQuantity,
    /// For a rate: whether it is the rate over the transfer time alone, in addition to the rate by which both figures
    /// are summarised.
    pub transferring: bool,
    /// The difference of the first rate of the phase, [`crate::figures::RateOf::phase`]; in nanoseconds if
    /// [`Comparison::operation`] is set.
    pub difference: Difference,
    /// What would tell the change if it is not told.
    pub settled_by: Option<Settled>,
    /// If a run is one value: the scatter of the first side and that of the second.
    pub scatter: Option<[RunScatter; 2]>,
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

/// The scatter of the runs of a side, as coefficients of variation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunScatter {
    /// Of the medians of the runs. `None` for a single run.
    pub between: Option<f64>,
    /// Of the passes of a run: the root mean square over the runs. `None` if no run has several passes.
    pub within: Option<f64>,
}

/// The values by which two figures are compared: a rate, or a latency of an operation.
#[derive(Debug)]
pub(crate) struct Samples {
    case: String,
    phase: Phase,
    operation: Option<Operation>,
    quantity: FigureQuantity,
    transferring: bool,
    before: Vec<f64>,
    after: Vec<f64>,
    scatter: Option<[RunScatter; 2]>,
    /// What the values of the second side are compared with, ÷ those of the first.
    factor: f64,
}

/// The samples for a comparison of a figure of one side with one of the other: on each side one for each run, and at
/// least one. They may be of one case, or of two that differ in the property of interest: two targets, or 64 tasks and
/// 160. Rates come first; then the mean latency of each operation. For figures of different tools, the rate over the
/// transfer time alone comes in between if it differs, because tools count opening, syncing and closing in different
/// ways. If it `is_of_runs`, a run is one value: the median of its passes.
pub(crate) fn samples(figures: &[Vec<&Figure>; 2], is_of_runs: bool, of_two_tools: bool) -> Vec<Samples> {
    let mut found = samples_of(FigureQuantity::Rate, figures, is_of_runs);
    if of_two_tools {
        let all = by_rate(RateName::ByWall, figures, is_of_runs);
        let transferring = Samples { transferring: true, ..by_rate(RateName::ByIo, figures, is_of_runs) };
        if is_other(&all.before, &transferring.before) || is_other(&all.after, &transferring.after) {
            found.push(transferring);
        }
    }
    let latencies = samples_of(FigureQuantity::Latency, figures, is_of_runs).into_iter();
    found.extend(latencies.filter(|one| !one.before.is_empty() && !one.after.is_empty()));
    found
}

/// The samples of one quantity: of rates those of the rate by which all figures are summarised, or of the rate by wall
/// time if they differ; of latencies those of each operation that a side knows. A side that does not has no values.
pub(crate) fn samples_of(
    quantity: FigureQuantity,
    sides: &[Vec<&Figure>; 2],
    is_of_runs: bool,
) -> Vec<Samples> {
    let figures = || sides.iter().flatten();
    if quantity == FigureQuantity::Rate {
        let rate = figures().next().map_or(RateName::ByWall, |one| one.rate);
        let is_same = figures().all(|one| one.rate == rate);
        return vec![by_rate(if is_same { rate } else { RateName::ByWall }, sides, is_of_runs)];
    }
    let of_operation = |operation: Operation| {
        let value = move |latency: &LatencySummary| latency.value(quantity);
        let of = |one: &RepetitionFigure| value(one.response(operation)?);
        let is_known = |one: &&Figure| one.response(operation).and_then(value).is_some();
        if !figures().any(is_known) {
            return None;
        }
        let mut found = sampled(sides, is_of_runs, &of);
        // A pass may state what the figure as a whole does not.
        for (values, side) in [&mut found.before, &mut found.after].into_iter().zip(sides) {
            if !side.iter().any(is_known) {
                values.clear();
            }
        }
        Some(Samples { operation: Some(operation), quantity, ..found })
    };
    Operation::ALL.into_iter().filter_map(of_operation).collect()
}

fn by_rate(rate: RateName, sides: &[Vec<&Figure>; 2], is_of_runs: bool) -> Samples {
    let counts = sides[1].iter().chain(&sides[0]).next().map(|one| one.rate_of());
    sampled(sides, is_of_runs, &|one| one.rates.get(rate).zip(counts).map(|(rate, counts)| counts.get(&rate)))
}

fn sampled(
    sides: &[Vec<&Figure>; 2],
    is_of_runs: bool,
    of: &dyn Fn(&RepetitionFigure) -> Option<f64>,
) -> Samples {
    let [before, after] = sides;
    let [(before_values, one), (after_values, other)] =
        [before, after].map(|side| if is_of_runs { medians(side, of) } else { (passes(side, of), None) });
    Samples {
        case: names(before[0], after[0]),
        phase: after[0].phase,
        operation: None,
        quantity: FigureQuantity::Rate,
        transferring: false,
        before: before_values,
        after: after_values,
        scatter: one.zip(other).map(|(one, other)| [one, other]),
        factor: 1.0,
    }
}

/// The values of the counted passes: warm-up passes are not part of the scatter.
fn passes(figures: &[&Figure], of: &dyn Fn(&RepetitionFigure) -> Option<f64>) -> Vec<f64> {
    figures.iter().flat_map(|figure| figure.counted()).filter_map(of).collect()
}

/// The median of each run, and the scatter of all of them.
fn medians(
    figures: &[&Figure],
    of: &dyn Fn(&RepetitionFigure) -> Option<f64>,
) -> (Vec<f64>, Option<RunScatter>) {
    let runs = figures.iter().filter_map(|figure| Summary::of(&passes(&[figure], of)));
    let runs: Vec<Summary> = runs.collect();
    let medians: Vec<f64> = runs.iter().map(|one| one.median).collect();
    let squares: Vec<f64> = runs.iter().filter(|one| one.n > 1).map(|one| one.variation.powi(2)).collect();
    let within = (!squares.is_empty()).then(|| (squares.iter().sum::<f64>() / squares.len() as f64).sqrt());
    let between = Summary::of(&medians).filter(|all| all.n > 1).map(|all| all.variation);
    (medians, Some(RunScatter { between, within }))
}

/// Two rates of one figure that are closer than this are shown as one.
const SAME_RATE: f64 = 0.01;

fn is_other(all: &[f64], transferring: &[f64]) -> bool {
    let median = |values| Summary::of(values).map_or(f64::NAN, |summary| summary.median);
    (median(transferring) / median(all) - 1.0).abs() > SAME_RATE
}

impl Samples {
    /// The same values, of which those of the second side are compared with `factor` × those of the first.
    pub(crate) fn against(self, factor: f64) -> Self {
        Self { factor, ..self }
    }

    /// What is compared: the case, the phase, the quantity, and the operation if it is a latency.
    pub(crate) fn subject(&self) -> (&str, Phase, FigureQuantity, Option<Operation>) {
        (&self.case, self.phase, self.quantity, self.operation)
    }

    /// The sides without a value.
    pub(crate) const fn is_missing(&self) -> [bool; 2] {
        [self.before.is_empty(), self.after.is_empty()]
    }

    fn expected(&self) -> Vec<f64> {
        self.before.iter().map(|value| value * self.factor).collect()
    }

    /// The comparison as one of a family that could be stated, with the outcome that the gate gives it.
    fn compared(&self, pair: &Pair<'_, '_>, family: Family) -> Option<Comparison> {
        let expected = self.expected();
        let from_expected = difference(&expected, &self.after, family)?;
        let of_first = |change: f64| (1.0 + change) * self.factor - 1.0;
        let found = Difference {
            before: from_expected.before / self.factor,
            change: of_first(from_expected.change),
            interval: from_expected.interval.map(|(low, high)| (of_first(low), of_first(high))),
            ..from_expected
        };
        let gated = pair.gated(&found, from_expected.change, self.quantity.is_of_latency());
        let untested = Difference { interval: None, p_value: None, outcome: Contrast::NotShown, ..found };
        let is_open = gated.says().is_some() && !found.is_stated();
        let settled_by = is_open.then(|| settled_by(&expected, &self.after, family)).flatten();
        Some(Comparison {
            settled_by,
            case: self.case.clone(),
            phase: self.phase,
            operation: self.operation,
            quantity: self.quantity,
            transferring: self.transferring,
            scatter: self.scatter,
            difference: if gated.says().is_some() { found } else { untested },
            outcome: gated.outcome,
            reasons: gated.reasons,
        })
    }
}

/// Compares all samples of all pairs. Those that could be stated are families, whatever their size: a family must not
/// depend on the result. What can be shown and what can be obvious are two, each with its own error. `None` where a
/// side has no value, or one that is not above 0.
pub(crate) fn compared(all: &[(&Pair<'_, '_>, Vec<Samples>)]) -> Vec<Vec<Option<Comparison>>> {
    let grade = |one: &Samples| best_grade(one.before.len(), one.after.len());
    let usable: Vec<&Samples> =
        all.iter().filter(|(pair, _)| pair.is_usable()).flat_map(|(_, samples)| samples).collect();
    let family = |of: Option<Grade>| {
        let samples: Vec<&&Samples> = usable.iter().filter(|one| grade(one) == of).collect();
        let before: Vec<&[f64]> = samples.iter().map(|one| one.before.as_slice()).collect();
        let after: Vec<&[f64]> = samples.iter().map(|one| one.after.as_slice()).collect();
        Family::of_samples(samples.len(), &before, &after)
    };
    let [shown, obvious, neither] = [Some(Grade::Shown), Some(Grade::Obvious), None].map(family);
    let of_sample = |pair: &Pair<'_, '_>, one: &Samples| {
        let family = match grade(one) {
            Some(Grade::Shown) => shown,
            Some(Grade::Obvious) => obvious,
            None => neither,
        };
        one.compared(pair, family)
    };
    all.iter().map(|(pair, samples)| samples.iter().map(|one| of_sample(pair, one)).collect()).collect()
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
