//! Compares two systems that ran the same matrix, over passes.

use std::collections::{BTreeMap, HashMap};

use plan::{Jobs, Plan, Work};

use super::launches::{COLUMNS, LaunchMean, MatrixPass, sum, value_of};
use super::system::JobAccounting;
use crate::gate::{
    Kind, Of, Quantity, Statement, Value,
    table::{Column, any, below, change, detail, subject, text, word},
};
use crate::statistics::{Contrast, Difference, Summary, difference::difference};

/// The comparison of a second system with a first one.
#[derive(Debug, Clone, PartialEq)]
pub struct MatrixComparison {
    /// The baseline, as an index into [`super::Matrices::all`]; for two runs, into that of the first run.
    pub first: usize,
    /// The other system; for two runs, as an index into that of the second run.
    pub second: usize,
    /// Whether every launch completed in every pass of both systems, and each has its pair. Otherwise nothing here
    /// compares the whole workload.
    pub complete: bool,
    /// The differences, with the test over passes if there is one.
    pub contrasts: Vec<(JobContrast, Option<Difference>)>,
}

/// One aspect in which two systems that ran the same jobs are compared.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct JobContrast {
    /// The second system, and the first one, which is the baseline.
    pub(super) systems: [String; 2],
    pub(super) what: &'static str,
    /// What is compared, as in `101 launches`.
    pub(super) of: String,
    /// The values of the first and of the second system.
    pub(super) values: [Value; 2],
    /// Second ÷ first − 1.
    pub(super) change: Option<f64>,
    /// The interval of the change.
    pub(super) interval: Option<(f64, f64)>,
    pub(super) verdict: String,
    /// The printed text, or an explanation of the numbers.
    pub(super) how: String,
}

impl Statement for JobContrast {
    const KIND: Kind = Kind::JobContrast;
    const OF: Of = Of::Figure;
    const CAPTION: &'static str = "Systems beside each other, tested over passes: launches of one pass ran under the same conditions and are \
                                   not independent repetitions";
    const COLUMNS: &'static [Column<Self>] = &[
        subject(text("system", "system", "The system.", |one| one.systems[0].clone())),
        subject(text("against", "against", "The baseline.", |one| one.systems[1].clone())),
        subject(word("what", "what", "What is compared.", |one| one.what)),
        detail(word("of", "of", "The launches that are compared.", |one| &one.of)),
        any("first", "baseline", "The value of the baseline.", Quantity::Amount, |one| one.values[0].clone()),
        any("second", "system", "The value of the system.", Quantity::Amount, |one| one.values[1].clone()),
        change("change", "change", "System ÷ baseline − 1.", |one| one.change),
        any("interval", "interval", "The interval of the change.", Quantity::Interval, |one| {
            Value::or_none(one.interval, |(low, high)| Value::Changes(low, high))
        }),
        word("verdict", "verdict", "What follows.", |one| &one.verdict),
        below(word("how", "how", "The printed values, or how the numbers are computed.", |one| &one.how)),
    ];
}

/// Whether two works launch the same jobs on the same rows. Page size and direct I/O only determine how the rows are
/// moved.
#[must_use]
pub fn same_jobs(one: &Work, other: &Work) -> bool {
    match (one.jobs(), other.jobs()) {
        (Some(one), Some(other)) => {
            let Jobs { page_bytes, direct, .. } = *one;
            *one == Jobs { page_bytes, direct, ..other.clone() }
        }
        _ => one == other,
    }
}

/// Compares every system of a workload with its baseline: the target that the study names as baseline, or the first
/// one. On a single target, every other point of a sweep over the way rows are moved is compared with the first one.
pub(super) fn comparisons(plan: &Plan, all: &[JobAccounting]) -> Vec<MatrixComparison> {
    let baseline_of = |matrix: &JobAccounting| {
        let target = plan.criteria.targets.iter().find(|target| target.name == matrix.case.target);
        target.and_then(|target| target.baseline.as_deref())
    };
    let mut found = Vec::new();
    for (second, matrix) in all.iter().enumerate() {
        let others = || {
            let all = all.iter().enumerate().filter(|(place, _)| *place != second);
            all.filter(|(_, other)| {
                other.case.group == matrix.case.group && other.settings == matrix.settings
            })
        };
        let named = baseline_of(matrix);
        let is_baseline = others().any(|(_, other)| baseline_of(other) == Some(&matrix.case.target));
        let against = named
            .and_then(|name| others().find(|(_, other)| other.case.target == name))
            .or_else(|| others().next().filter(|(place, _)| *place < second))
            .filter(|_| named.is_some() || !is_baseline);
        let swept = all[..second].iter().enumerate().find(|(_, other)| {
            let (one, other) = (&matrix.case, &other.case);
            (&one.group, &one.target) == (&other.group, &other.target)
                && same_jobs(&one.workload.work, &other.workload.work)
        });
        for (first, baseline) in against.into_iter().chain(swept) {
            let compared =
                compare_matrices([matrix.system.clone(), baseline.system.clone()], baseline, matrix);
            found.push(MatrixComparison { first, second, ..compared });
        }
    }
    found
}

/// Compares two matrices of the same workload, from two systems or two runs. `systems` holds the names of the second
/// and of the first. Launches are paired by test, stream and round. The indices in the result are 0.
#[must_use]
pub fn compare_matrices(
    systems: [String; 2],
    first: &JobAccounting,
    second: &JobAccounting,
) -> MatrixComparison {
    let of_second: HashMap<_, &LaunchMean> = second.launches.iter().map(|one| (one.key(), one)).collect();
    let paired = |one| Some([one, *of_second.get(&LaunchMean::key(one))?]);
    let pairs: Vec<[&LaunchMean; 2]> = first.launches.iter().filter_map(paired).collect();
    let matrices = [first, second];
    let whole = |one: &JobAccounting| one.is_complete() && one.launches.len() == pairs.len();
    let of = format!("{} launches", pairs.len());
    let blank = JobContrast { systems, of, ..JobContrast::default() };
    let contrasts = sums(&blank, &pairs, matrices).into_iter().chain(by_launch(&blank, matrices));
    let complete = !pairs.is_empty() && matrices.into_iter().all(whole);
    MatrixComparison { first: 0, second: 0, complete, contrasts: contrasts.collect() }
}

/// The number of comparisons that are tested together.
const FAMILY: usize = COLUMNS.len() + MEASURES.len();

/// The comparison of each column of the table of sums, over the pairs.
fn sums(
    blank: &JobContrast,
    pairs: &[[&LaunchMean; 2]],
    matrices: [&JobAccounting; 2],
) -> Vec<(JobContrast, Option<Difference>)> {
    let sums = [0, 1].map(|side| sum(pairs.iter().map(|pair| pair[side])));
    let of_column = |(column, what): (usize, &'static str)| {
        let amounts = sums.map(|sums| sums[column]);
        let passes = matrices.map(|one| one.used().map(|pass| pass.sums[column]).collect::<Vec<f64>>());
        let blank = JobContrast { what, values: amounts.map(|sum| value_of(column, sum)), ..blank.clone() };
        tested(blank, amounts, &passes, ["less", "more"].map(str::to_owned))
    };
    COLUMNS.into_iter().enumerate().map(of_column).collect()
}

/// A launch in one pass.
struct Timed<'a> {
    test: &'a str,
    /// Logarithm of its real time in seconds.
    real: f64,
    /// Logarithm of CPU time ÷ real time. `None` if it used no CPU time.
    ratio: Option<f64>,
}

impl<'a> Timed<'a> {
    /// Returns `None` if the launch took no time.
    fn of(one: &'a LaunchMean) -> Option<Self> {
        let real = Some(one.amounts[0]).filter(|&real| real > 0.0)?.ln();
        let ratio = one.ratio.filter(|&ratio| ratio > 0.0).map(f64::ln);
        Some(Self { test: &one.test, real, ratio })
    }
}

/// A number that is computed from the launches of one pass.
struct Measure {
    what: &'static str,
    of: fn(&[Timed<'_>]) -> Option<f64>,
    how: &'static str,
    /// Whether it is a time in seconds, for which less is faster; else it is a spread, for which less is steadier.
    is_time: bool,
}

const MEASURES: [Measure; 3] = [
    Measure {
        what: "real time, launch by launch",
        of: |all| Some(Summary::of(&all.iter().map(|one| one.real).collect::<Vec<_>>())?.mean.exp()),
        how: "geometric mean of the launches of a pass",
        is_time: true,
    },
    Measure {
        what: "spread of CPU ÷ real within a test",
        of: |all| spread(all.iter().filter_map(|one| Some((one.test, one.ratio?)))),
        how: "standard deviation of the logarithms of the ratios of a pass, each from the mean of its test",
        is_time: false,
    },
    Measure {
        what: "spread of real times within a test",
        of: |all| spread(all.iter().map(|one| (one.test, one.real))),
        how: "standard deviation of the logarithms of the times of a pass, each from the mean of its test",
        is_time: false,
    },
];

/// Tests each of [`MEASURES`] with one number per pass, because the launches of a pass ran under the same conditions
/// and are not independent repetitions.
fn by_launch(blank: &JobContrast, matrices: [&JobAccounting; 2]) -> Vec<(JobContrast, Option<Difference>)> {
    let of_measure = |measure: &Measure| {
        let of_pass =
            |pass: &MatrixPass| (measure.of)(&pass.launches.iter().filter_map(Timed::of).collect::<Vec<_>>());
        let passes = matrices.map(|one| one.used().filter_map(of_pass).collect::<Vec<f64>>());
        let [first, second] = [0, 1].map(|side| Some(Summary::of(&passes[side])?.median));
        let amounts = [first?, second?];
        let steadier = blank.systems.clone().map(|system| format!("more consistent is {system}"));
        let words = if measure.is_time { ["faster", "slower"].map(str::to_owned) } else { steadier };
        let values = amounts.map(if measure.is_time { Value::Seconds } else { Value::Number });
        let blank = JobContrast { what: measure.what, values, how: measure.how.to_owned(), ..blank.clone() };
        Some(tested(blank, amounts, &passes, words))
    };
    MEASURES.iter().filter_map(of_measure).collect()
}

/// `blank` with the result of the test of `amounts` over `passes`; `words` are those for less and for more.
fn tested(
    blank: JobContrast,
    [first, second]: [f64; 2],
    [before, after]: &[Vec<f64>; 2],
    [less, more]: [String; 2],
) -> (JobContrast, Option<Difference>) {
    let test = difference(before, after, FAMILY);
    let (is_shown, verdict) = match test.map(|test| test.outcome) {
        Some(Contrast::Lower) => (true, less),
        Some(Contrast::Higher) => (true, more),
        Some(Contrast::NotShown) => (false, "not shown".to_owned()),
        Some(Contrast::TooFew) => (true, "too few passes".to_owned()),
        None => (false, "not tested: a value is 0".to_owned()),
    };
    // A change shown next to "not shown" would be contradictory.
    let change = (first > 0.0 && is_shown).then(|| second / first - 1.0);
    (JobContrast { change, interval: test.and_then(|test| test.interval), verdict, ..blank }, test)
}

/// √(Σ squares ÷ degrees of freedom) of values about the mean of their group. Returns `None` if no group has two
/// values.
fn spread<'a>(values: impl Iterator<Item = (&'a str, f64)>) -> Option<f64> {
    let mut groups: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    values.for_each(|(group, value)| groups.entry(group).or_default().push(value));
    let of_group = |values: &Vec<f64>| {
        let degrees = (values.len() - 1) as f64;
        Some((Summary::of(values)?.deviation_sample.powi(2) * degrees, degrees))
    };
    let all = groups.values().filter_map(of_group);
    let (squares, degrees) = all.fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    (degrees > 0.0).then(|| (squares / degrees).sqrt())
}
