//! Two systems that ran the same matrix: launch by launch.

use std::collections::{BTreeMap, HashMap};

use plan::{Jobs, Plan, Work};

use super::launches::{COLUMNS, LaunchMean, sum, value_of};
use super::system::JobAccounting;
use crate::gate::{
    Kind, Of, Quantity, Statement, Value,
    table::{Column, any, below, change, detail, subject, text, word},
};
use crate::statistics::{
    BOOTSTRAP_SAMPLES, Bootstrap, BootstrapMethod, Contrast, Difference, Summary, difference::difference,
};

/// Fewer pairs of launches, or fewer tests, than this say too little of a spread: samples of so few values
/// hardly differ from each other, and the interval would be too narrow.
const DRAWN_MIN: usize = 10;
/// Values that samples of the bootstrap draw in all: large matrices have fewer samples, 1000 at least.
const DRAWN_MAX: usize = 20_000_000;
/// Fewest samples: Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, section 19.3.
const SAMPLES_MIN: usize = 1_000;
/// Pairs up to which the interval is corrected: the jackknife of the correction takes the square of them, and
/// with more the correction is small.
const CORRECTED_MAX: usize = 2_000;

/// The verdict on what may be chance.
const NOT_SHOWN: &str = "not shown";

/// The second system against the first one.
#[derive(Debug, Clone, PartialEq)]
pub struct MatrixComparison {
    /// The baseline, by its place in [`super::Matrices::all`]; of two runs, in those of the first run.
    pub first: usize,
    /// The other one; of two runs, in those of the second run.
    pub second: usize,
    /// Every launch of every pass of both completed, and each has its pair. Else nothing here is a comparison of
    /// the whole workload.
    pub complete: bool,
    /// What differs, with the test over passes where there is one.
    pub contrasts: Vec<(JobContrast, Option<Difference>)>,
}

/// One side of how two systems that ran the same jobs compare.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct JobContrast {
    /// The second system, and the first one, which is the baseline.
    pub(super) systems: [String; 2],
    pub(super) what: &'static str,
    /// What it is of, as in `101 pairs of launches`.
    pub(super) of: String,
    /// Of the first, and of the second.
    pub(super) values: [Value; 2],
    /// Second ÷ first − 1.
    pub(super) change: Option<f64>,
    /// Where the change lies.
    pub(super) interval: Option<(f64, f64)>,
    pub(super) verdict: String,
    /// What is printed, or how it was tested.
    pub(super) how: String,
}

impl Statement for JobContrast {
    const KIND: Kind = Kind::JobContrast;
    const OF: Of = Of::Figure;
    const CAPTION: &'static str = "Systems beside each other. Sums are tested over passes; real times and spreads over launches, \
                                   which do not know how one pass differs from the next";
    const COLUMNS: &'static [Column<Self>] = &[
        subject(text("system", "system", "The system.", |one| one.systems[0].clone())),
        subject(text("against", "against", "The baseline.", |one| one.systems[1].clone())),
        subject(word("what", "what", "What is compared.", |one| one.what)),
        detail(word("of", "of", "What it is of.", |one| &one.of)),
        any("first", "baseline", "Of the baseline.", Quantity::Amount, |one| one.values[0].clone()),
        any("second", "system", "Of the system.", Quantity::Amount, |one| one.values[1].clone()),
        change("change", "change", "System ÷ baseline − 1.", |one| one.change),
        any("interval", "interval", "Where the change lies.", Quantity::Interval, |one| {
            Value::or_none(one.interval, |(low, high)| Value::Changes(low, high))
        }),
        word("verdict", "verdict", "What follows.", |one| &one.verdict),
        below(word("how", "how", "What is printed, or how it was tested.", |one| &one.how)),
    ];
}

/// Whether two works launch the same jobs on the same rows. The page and direct I/O are how the rows are moved.
#[must_use]
pub fn same_jobs(one: &Work, other: &Work) -> bool {
    match (one, other) {
        (Work::Jobs(one), Work::Jobs(other)) => {
            let Jobs { page_bytes, direct, .. } = *one;
            *one == Jobs { page_bytes, direct, ..other.clone() }
        }
        _ => one == other,
    }
}

/// Every system of a workload against its baseline: the target that its study names as such, or the first one. On one
/// target every other point of a sweep over how rows are moved against the first one.
pub(super) fn comparisons(plan: &Plan, all: &[JobAccounting]) -> Vec<MatrixComparison> {
    let baseline_of = |matrix: &JobAccounting| {
        let terms = plan.terms.targets.iter().find(|terms| terms.name == matrix.case.target);
        terms.and_then(|terms| terms.baseline.as_deref())
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

/// Compares two matrices of the same workload, on two systems or of two runs; `systems` are the words for the second and
/// for the first. Launches are paired by test, stream and round. Places are 0.
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
    let of = format!("{} pairs of launches", pairs.len());
    let blank = JobContrast { systems, of, ..JobContrast::default() };
    let mut contrasts = sums(&blank, &pairs, matrices);
    let more = [real_time(&blank, &pairs), ratio_spread(&blank, &pairs), time_spread(&blank, &pairs)];
    contrasts.extend(more.into_iter().flatten().map(|one| (one, None)));
    let complete = !pairs.is_empty() && matrices.into_iter().all(whole);
    MatrixComparison { first: 0, second: 0, complete, contrasts }
}

/// Each column of the table of sums, over the pairs; tested over the passes of both.
fn sums(
    blank: &JobContrast,
    pairs: &[[&LaunchMean; 2]],
    matrices: [&JobAccounting; 2],
) -> Vec<(JobContrast, Option<Difference>)> {
    let sums = [0, 1].map(|side| sum(pairs.iter().map(|pair| pair[side])));
    let of_column = |(column, what): (usize, &'static str)| {
        let [first, second] = sums.map(|sums| sums[column]);
        let of_passes = |one: &JobAccounting| one.used().map(|pass| pass.sums[column]).collect::<Vec<f64>>();
        let [before, after] = matrices.map(of_passes);
        let test = difference(&before, &after, COLUMNS.len());
        let verdict = match test.map(|test| test.outcome) {
            Some(Contrast::Lower) => "less",
            Some(Contrast::Higher) => "more",
            Some(Contrast::NotShown) => NOT_SHOWN,
            Some(Contrast::TooFew) | None => "too few passes",
        };
        let contrast = JobContrast {
            what,
            values: [first, second].map(|amount| value_of(column, amount)),
            // A change beside "not shown" would say both.
            change: (first > 0.0 && verdict != NOT_SHOWN).then(|| (second - first) / first),
            interval: test.and_then(|test| test.interval),
            verdict: verdict.to_owned(),
            ..blank.clone()
        };
        (contrast, test)
    };
    COLUMNS.into_iter().enumerate().map(of_column).collect()
}

fn real_times(pair: &[&LaunchMean; 2]) -> [f64; 2] {
    pair.map(|one| one.amounts[0])
}

/// Not shown where 0 is within the interval of order statistics, which needs no distribution.
fn real_time(blank: &JobContrast, pairs: &[[&LaunchMean; 2]]) -> Option<JobContrast> {
    let times = pairs.iter().map(real_times).filter(|[first, _]| *first > 0.0);
    let all = Summary::of(&times.map(|[first, second]| second / first - 1.0).collect::<Vec<_>>())?;
    let interval = all.median_interval.map(|held| (held.low, held.high));
    let verdict = match interval {
        None => "too few launches",
        Some((low, _)) if low > 0.0 => "slower",
        Some((_, high)) if high < 0.0 => "faster",
        Some(_) => NOT_SHOWN,
    };
    Some(JobContrast {
        what: "real time, launch by launch",
        change: (verdict != NOT_SHOWN).then_some(all.median),
        interval,
        verdict: verdict.to_owned(),
        how: "median of second ÷ first − 1, by order statistics".to_owned(),
        ..blank.clone()
    })
}

/// Standard deviations of the ratios of all paired launches, which the study of 2014 calls consistency; a launch is drawn
/// with its pair.
fn ratio_spread(blank: &JobContrast, pairs: &[[&LaunchMean; 2]]) -> Option<JobContrast> {
    let ratios: Vec<[f64; 2]> =
        pairs.iter().filter_map(|[one, other]| Some([one.ratio?, other.ratio?])).collect();
    let blank = JobContrast { what: "spread of CPU ÷ real", ..blank.clone() };
    spread(blank, "pairs of launches", &ratios, ratios.len().saturating_sub(1), squares_about_means)
}

/// Distances of the logarithms of real times from the mean of their test: √(Σ squares ÷ degrees of freedom). A
/// test is drawn with all its launches, for launches of one test resemble each other.
fn time_spread(blank: &JobContrast, pairs: &[[&LaunchMean; 2]]) -> Option<JobContrast> {
    let mut by_test: BTreeMap<&str, Vec<[f64; 2]>> = BTreeMap::new();
    for pair in pairs.iter().filter(|pair| real_times(pair).iter().all(|time| *time > 0.0)) {
        by_test.entry(&pair[0].test).or_default().push(real_times(pair).map(f64::ln));
    }
    by_test.retain(|_, times| times.len() > 1);
    let tests: Vec<[f64; 2]> = by_test.values().map(|times| squares_about_means(times)).collect();
    let degrees = by_test.values().map(|times| times.len() - 1).sum();
    let blank = JobContrast { what: "spread of real times within a test", ..blank.clone() };
    spread(blank, "tests", &tests, degrees, sum_of)
}

fn sum_of(pairs: &[[f64; 2]]) -> [f64; 2] {
    pairs.iter().fold([0.0; 2], |sum, pair| [sum[0] + pair[0], sum[1] + pair[1]])
}

/// Σ(x − x̄)² of both sides.
fn squares_about_means(pairs: &[[f64; 2]]) -> [f64; 2] {
    let means = sum_of(pairs).map(|sum| sum / pairs.len() as f64);
    pairs
        .iter()
        .fold([0.0; 2], |squares, pair| [0, 1].map(|side| squares[side] + (pair[side] - means[side]).powi(2)))
}

/// √(`squares` of `values` ÷ `degrees`) of both, and the interval of their ratio, where values are drawn. None where a
/// spread is 0 or unknown; no difference where 1 is within the interval.
fn spread(
    blank: JobContrast,
    drawn: &str,
    values: &[[f64; 2]],
    degrees: usize,
    squares: impl Fn(&[[f64; 2]]) -> [f64; 2],
) -> Option<JobContrast> {
    let [first, second] = squares(values).map(|squares| (squares / degrees as f64).sqrt());
    if !(first > 0.0 && second > 0.0 && first.is_finite() && second.is_finite()) {
        return None;
    }
    let n = values.len();
    let samples = (DRAWN_MAX / n).clamp(SAMPLES_MIN, BOOTSTRAP_SAMPLES);
    let method = if n > CORRECTED_MAX { BootstrapMethod::Percentile } else { BootstrapMethod::Bca };
    let bootstrap = Bootstrap { method, samples, ..Bootstrap::default() };
    let ratio = |sample: &mut [[f64; 2]]| {
        let [first, second] = squares(sample);
        (second / first).sqrt()
    };
    let interval = (n >= DRAWN_MIN).then(|| bootstrap.interval(values, ratio)).flatten();
    let interval = interval.map(|held| (held.low - 1.0, held.high - 1.0));
    let verdict = match interval {
        None => format!("too few {drawn}"),
        Some((_, high)) if high < 0.0 => format!("more consistent is {}", blank.systems[0]),
        Some((low, _)) if low > 0.0 => format!("more consistent is {}", blank.systems[1]),
        Some(_) => NOT_SHOWN.to_owned(),
    };
    Some(JobContrast {
        of: format!("{n} {drawn}"),
        values: [first, second].map(Value::Number),
        change: (verdict != NOT_SHOWN).then_some(second / first - 1.0),
        interval,
        verdict,
        how: format!("paired bootstrap, {samples} samples, seed {}", bootstrap.seed),
        ..blank
    })
}
