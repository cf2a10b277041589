//! Two runs, or the runs of two sides, beside each other.

use crate::comparisons::conditions::Differences;
use crate::comparisons::{Comparison, Pair, Samples, Sides, compared, samples};
use crate::gate::Gate;

/// Two figures of the same point or name, by index in the first run of their side, and how they compare.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the name says it")]
pub struct Paired {
    pub before: usize,
    pub after: usize,
    /// Rates first, then mean latencies.
    pub comparisons: Vec<Comparison>,
    /// The conditions in which the two figures differ, in words. A condition that a text does not print is no
    /// difference.
    pub differs: Vec<String>,
    /// The conditions that are not printed, with the value of the other figure if that is known: `nodes (after: 10)`.
    pub not_printed: Vec<String>,
    pub by_conditions: bool,
}

/// Compares the figures that both sides have in common, in the order of the first run. With several runs on a side, a
/// run is one value: the median of its passes.
#[must_use]
pub fn paired(before: &[Gate<'_>], after: &[Gate<'_>]) -> Vec<Paired> {
    let sides = Sides::of([before, after]);
    let question = |pair| {
        let [before, after] = Pair::leading(pair);
        (pair, samples(&pair.figures(), pair.is_of_runs, before.case != after.case))
    };
    let questions: Vec<(&Pair<'_, '_>, Vec<Samples>)> = sides.pairs.iter().map(question).collect();
    let of_pair = |(pair, comparisons): (&Pair<'_, '_>, Vec<Option<Comparison>>)| {
        let [before, after] = pair.leaders.map(|(_, place)| place);
        let [one, two] = pair.leading();
        let Differences { told, unknown } = pair.differences();
        Paired {
            before,
            after,
            comparisons: comparisons.into_iter().flatten().collect(),
            differs: told,
            not_printed: unknown,
            by_conditions: one.case != two.case,
        }
    };
    sides.pairs.iter().zip(compared(&questions)).map(of_pair).collect()
}
