//! Two systems that ran the same matrix: launch by launch.

use std::collections::{BTreeMap, HashMap};

use plan::{Jobs, Plan, Work};

use super::{Amounts, LaunchMean, Matrix, SumColumn};
use crate::{
    BOOTSTRAP_SAMPLES, Bootstrap, BootstrapMethod, Contrast, Difference, Interval, Steadier, Summary,
    difference,
};

/// Fewer pairs of launches, or fewer tests, than this say too little of a spread: samples of so few values
/// hardly differ from each other, and the interval would be too narrow.
pub const PAIRED_LAUNCHES_MIN: usize = 10;
/// Values that samples of the bootstrap draw in all: large matrices have fewer samples, 1000 at least.
const DRAWN_MAX: usize = 20_000_000;
/// Fewest samples: Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, section 19.3.
const SAMPLES_MIN: usize = 1_000;
/// Pairs up to which the interval is corrected: the jackknife of the correction takes the square of them, and
/// with more the correction is small.
const CORRECTED_MAX: usize = 2_000;

/// The second system against the first one.
#[derive(Debug, Clone, PartialEq)]
pub struct MatrixComparison {
    /// The baseline, by its place in [`super::Matrices::all`]; of two runs, in those of the first run.
    pub first: usize,
    /// The other one; of two runs, in those of the second run.
    pub second: usize,
    /// Launches that both completed, paired by test, stream and round.
    pub pairs: usize,
    /// Launches that only one of them completed.
    pub unpaired: [usize; 2],
    /// Every launch of every pass of both completed, and each has its pair. Else nothing here is a comparison of
    /// the whole workload.
    pub complete: bool,
    /// Sums over the pairs, in the order of [`SumColumn::ALL`].
    pub columns: [ColumnChange; 4],
    /// Real time of each pair.
    pub real: Option<TimeChange>,
    /// Standard deviation of the ratios of CPU time to real time: what the study of 2014 calls consistency.
    pub ratio_spread: Option<SpreadChange>,
    /// How far launches of one test are from each other in real time.
    pub time_spread: Option<SpreadChange>,
}

/// A column of the table of sums, of both systems.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ColumnChange {
    /// In seconds or bytes.
    pub first: f64,
    /// In seconds or bytes.
    pub second: f64,
    /// Second − first.
    pub delta: f64,
    /// Delta ÷ first; none where that is 0.
    pub share: Option<f64>,
    /// The sums of the passes of both against each other; none where one has no time or no memory.
    pub over_passes: Option<Difference>,
}

/// Real time of launches that are paired.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TimeChange {
    /// Pairs.
    pub n: usize,
    /// Median of second ÷ first − 1.
    pub median: f64,
    /// That holds it, whatever its distribution ([`Summary::median_interval`]); none for one pair.
    pub interval: Option<Interval>,
    /// Not shown where 0 is within the interval; *lower* is the second one with less time.
    pub outcome: Contrast,
}

/// Spreads of two systems.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpreadChange {
    /// Of the first.
    pub first: f64,
    /// Of the second.
    pub second: f64,
    /// What was drawn: pairs of launches, or tests with all their launches.
    pub n: usize,
    /// Second ÷ first.
    pub ratio: f64,
    /// That holds the ratio; none where [`SpreadChange::steadier`] is [`Steadier::TooFew`].
    pub interval: Option<(f64, f64)>,
    /// Of the interval.
    pub confidence: f64,
    /// Samples of the bootstrap.
    pub samples: usize,
    /// Chooses the samples.
    pub seed: u64,
    /// No difference where 1 is within the interval.
    pub steadier: Steadier,
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
pub(super) fn comparisons(plan: &Plan, all: &[Matrix]) -> Vec<MatrixComparison> {
    let baseline_of = |target: &str| {
        let terms = plan.terms.targets.iter().find(|terms| terms.name == target);
        terms.and_then(|terms| terms.baseline.as_deref())
    };
    let same = |one: &Matrix, other: &Matrix| one.group == other.group && one.settings == other.settings;
    let work =
        |one: &Matrix| plan.cases.iter().find(|case| case.id == one.case).map(|case| &case.workload.work);
    let swept = |one: &Matrix, other: &Matrix| {
        let of_sweep = one.group == other.group && one.target == other.target;
        of_sweep && work(one).zip(work(other)).is_some_and(|(one, other)| same_jobs(one, other))
    };
    let pair = |(first, baseline): (usize, &Matrix), second: usize| MatrixComparison {
        first,
        second,
        ..compare_matrices(baseline, &all[second])
    };
    let mut found = Vec::new();
    for (second, matrix) in all.iter().enumerate() {
        let others =
            || all.iter().enumerate().filter(|(place, other)| *place != second && same(matrix, other));
        let named = baseline_of(&matrix.target);
        let is_baseline =
            others().any(|(_, other)| baseline_of(&other.target) == Some(matrix.target.as_str()));
        if named.is_some() || !is_baseline {
            let first = others()
                .find(|(_, other)| named.is_some_and(|name| name == other.target))
                .or_else(|| others().next().filter(|(place, _)| *place < second));
            found.extend(first.map(|first| pair(first, second)));
        }
        let first = all[..second].iter().enumerate().find(|(_, other)| swept(matrix, other));
        found.extend(first.map(|first| pair(first, second)));
    }
    found
}

/// Compares two matrices of the same workload, on two systems or of two runs. Places are 0.
#[must_use]
pub fn compare_matrices(first: &Matrix, second: &Matrix) -> MatrixComparison {
    let of_second: HashMap<_, &LaunchMean> = second.launches.iter().map(|one| (one.key(), one)).collect();
    let pairs: Vec<(&LaunchMean, &LaunchMean)> =
        first.launches.iter().filter_map(|one| Some((one, *of_second.get(&one.key())?))).collect();
    let unpaired = [first.launches.len() - pairs.len(), second.launches.len() - pairs.len()];
    let sums = [
        Amounts::sum(pairs.iter().map(|(one, _)| &one.amounts)),
        Amounts::sum(pairs.iter().map(|(_, other)| &other.amounts)),
    ];
    MatrixComparison {
        first: 0,
        second: 0,
        pairs: pairs.len(),
        unpaired,
        complete: first.is_complete() && second.is_complete() && unpaired == [0, 0] && !pairs.is_empty(),
        columns: SumColumn::ALL.map(|column| column_change(column, &sums, [first, second])),
        real: time_change(&pairs),
        ratio_spread: ratio_spread(&pairs),
        time_spread: time_spread(&pairs),
    }
}

fn column_change(column: SumColumn, sums: &[Amounts; 2], matrices: [&Matrix; 2]) -> ColumnChange {
    let [first, second] = sums.each_ref().map(|sums| sums.get(column));
    let of_passes = |matrix: &Matrix| -> Vec<f64> {
        let used = matrix.passes.iter().filter(|pass| matrix.partial || pass.is_complete());
        used.map(|pass| pass.sums.get(column)).collect()
    };
    let [before, after] = matrices.map(of_passes);
    ColumnChange {
        first,
        second,
        delta: second - first,
        share: (first > 0.0).then(|| (second - first) / first),
        over_passes: difference(&before, &after, SumColumn::ALL.len()),
    }
}

fn time_change(pairs: &[(&LaunchMean, &LaunchMean)]) -> Option<TimeChange> {
    let times = pairs.iter().map(|(one, other)| (one.amounts.real_seconds, other.amounts.real_seconds));
    let changes: Vec<f64> =
        times.filter(|(first, _)| *first > 0.0).map(|(first, second)| second / first - 1.0).collect();
    let summary = Summary::of(&changes)?;
    let interval = summary.median_interval;
    let outcome = match interval {
        None => Contrast::TooFew,
        Some(held) if held.low > 0.0 => Contrast::Higher,
        Some(held) if held.high < 0.0 => Contrast::Lower,
        Some(_) => Contrast::NotShown,
    };
    Some(TimeChange { n: summary.n, median: summary.median, interval, outcome })
}

/// Standard deviations of the ratios of all paired launches; a launch is drawn with its pair.
fn ratio_spread(pairs: &[(&LaunchMean, &LaunchMean)]) -> Option<SpreadChange> {
    let ratios: Vec<(f64, f64)> =
        pairs.iter().filter_map(|(one, other)| Some((one.ratio?, other.ratio?))).collect();
    let statistic = |sample: &mut [(f64, f64)]| {
        let squares = squares_about_means(sample);
        (squares.1 / squares.0).sqrt()
    };
    let squares = squares_about_means(&ratios);
    let degrees = ratios.len().checked_sub(1).filter(|&degrees| degrees > 0)? as f64;
    let spreads = ((squares.0 / degrees).sqrt(), (squares.1 / degrees).sqrt());
    spread_change(spreads, &ratios, statistic)
}

/// Σ(x − x̄)² of both sides.
fn squares_about_means(pairs: &[(f64, f64)]) -> (f64, f64) {
    let n = pairs.len() as f64;
    let sum = pairs.iter().fold((0.0, 0.0), |sum, pair| (sum.0 + pair.0, sum.1 + pair.1));
    let mean = (sum.0 / n, sum.1 / n);
    pairs.iter().fold((0.0, 0.0), |squares, pair| {
        (squares.0 + (pair.0 - mean.0).powi(2), squares.1 + (pair.1 - mean.1).powi(2))
    })
}

/// Distances of the logarithms of real times from the mean of their test: √(Σ squares ÷ degrees of freedom). A
/// test is drawn with all its launches, for launches of one test resemble each other.
fn time_spread(pairs: &[(&LaunchMean, &LaunchMean)]) -> Option<SpreadChange> {
    let mut by_test: BTreeMap<&str, Vec<(f64, f64)>> = BTreeMap::new();
    for (one, other) in pairs {
        let times = (one.amounts.real_seconds, other.amounts.real_seconds);
        if times.0 > 0.0 && times.1 > 0.0 {
            by_test.entry(&one.test).or_default().push((times.0.ln(), times.1.ln()));
        }
    }
    by_test.retain(|_, times| times.len() > 1);
    let tests: Vec<(f64, f64)> = by_test.values().map(|times| squares_about_means(times)).collect();
    let degrees: usize = by_test.values().map(|times| times.len() - 1).sum();
    let sum = |tests: &[(f64, f64)]| tests.iter().fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    let all = sum(&tests);
    let spreads = ((all.0 / degrees as f64).sqrt(), (all.1 / degrees as f64).sqrt());
    spread_change(spreads, &tests, |sample: &mut [(f64, f64)]| {
        let squares = sum(sample);
        (squares.1 / squares.0).sqrt()
    })
}

/// `spreads` of both, and the interval of their ratio, `statistic` of what is drawn from `values`. None where
/// a spread is 0 or unknown.
fn spread_change(
    spreads: (f64, f64),
    values: &[(f64, f64)],
    statistic: impl Fn(&mut [(f64, f64)]) -> f64,
) -> Option<SpreadChange> {
    let (first, second) = spreads;
    if !(first > 0.0 && second > 0.0 && first.is_finite() && second.is_finite()) {
        return None;
    }
    let n = values.len();
    let samples = (DRAWN_MAX / n.max(1)).clamp(SAMPLES_MIN, BOOTSTRAP_SAMPLES);
    let method = if n > CORRECTED_MAX { BootstrapMethod::Percentile } else { BootstrapMethod::Bca };
    let bootstrap = Bootstrap { method, samples, ..Bootstrap::default() };
    let enough = n >= PAIRED_LAUNCHES_MIN;
    let interval = enough.then(|| bootstrap.interval_of(values, statistic)).flatten();
    let interval = interval.map(|held| (held.low, held.high));
    let steadier = match interval {
        None => Steadier::TooFew,
        Some((_, high)) if high < 1.0 => Steadier::Second,
        Some((low, _)) if low > 1.0 => Steadier::First,
        Some(_) => Steadier::NoDifference,
    };
    Some(SpreadChange {
        first,
        second,
        n,
        ratio: second / first,
        interval,
        confidence: bootstrap.confidence,
        samples,
        seed: bootstrap.seed,
        steadier,
    })
}
