//! Summary statistics of several values: the typical value, the spread, and the uncertainty.

/// The target confidence of [`Summary::median_interval`].
pub const CONFIDENCE: f64 = 0.95;

/// A difference is stated if equal samples would show it with at most this probability.
pub const DIFFERENCE_LEVEL: f64 = 0.01;

/// A non-parametric interval of the median.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Lower end, which is one of the values.
    pub low: f64,
    /// Upper end, which is one of the values.
    pub high: f64,
    /// The probability that the interval contains the median, at least [`CONFIDENCE`].
    pub confidence: f64,
}

/// Statistics of several values, such as the repetitions of a case.
///
/// ```
/// let summary = analysis::statistics::Summary::of(&[10.0, 30.0, 20.0]).expect("three values");
/// assert_eq!((summary.median, summary.mean, summary.best), (20.0, 20.0, 30.0));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(missing_docs, reason = "the name says it")]
pub struct Summary {
    pub n: usize,
    pub mean: f64,
    /// The middle value, or the mean of the two middle values.
    pub median: f64,
    pub min: f64,
    pub max: f64,
    /// Standard deviation with divisor n, as IOR prints it.
    pub deviation_population: f64,
    /// Standard deviation with divisor n − 1, as mdtest prints it; 0 for one value.
    pub deviation_sample: f64,
    /// Coefficient of variation: [`Summary::deviation_sample`] ÷ [`Summary::mean`]; 0 if the mean is 0.
    pub variation: f64,
    /// The narrowest interval from order statistics. `None` for fewer than six values: five only give 93.75 %. If the
    /// values themselves ended the case, it is [`crate::statistics::median_sequence`]: see
    /// [`crate::statistics::summary_under`].
    ///
    /// Source: Le Boudec, "Performance Evaluation of Computer and Communication Systems", 2010, theorem 2.1;
    /// recommended by Hoefler and Belli, "Scientific Benchmarking of Parallel Computing Systems", SC'15, rule 5.
    pub median_interval: Option<Interval>,
    /// The largest value: the best of several rates. Only to be shown if a method asks for it.
    pub best: f64,
}

impl Summary {
    /// The statistics of `values`. Returns `None` if there are none or one is not a finite number.
    #[must_use]
    pub fn of(values: &[f64]) -> Option<Self> {
        if values.is_empty() || values.iter().any(|value| !value.is_finite()) {
            return None;
        }
        let sorted = sorted(values);
        let n = sorted.len();
        let mean = sorted.iter().sum::<f64>() / n as f64;
        // Uses two passes, because the squares of large, similar values would cancel otherwise.
        let squares: f64 = sorted.iter().map(|value| (value - mean).powi(2)).sum();
        let deviation_sample = if n > 1 { (squares / (n - 1) as f64).sqrt() } else { 0.0 };
        Some(Self {
            n,
            mean,
            median: f64::midpoint(sorted[(n - 1) / 2], sorted[n / 2]),
            min: sorted[0],
            max: sorted[n - 1],
            deviation_population: (squares / n as f64).sqrt(),
            deviation_sample,
            variation: if mean == 0.0 { 0.0 } else { deviation_sample / mean },
            median_interval: ends(&sorted, (1.0 - CONFIDENCE) / 2.0).map(|(low, high, missed)| Interval {
                low,
                high,
                confidence: 1.0 - 2.0 * missed,
            }),
            best: sorted[n - 1],
        })
    }
}

pub(crate) fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

/// The lower and upper confidence bounds of the median. Each bound alone has a confidence of at least 1 − `level`,
/// which takes five values for 0.05. Returns `None` if there are fewer values, or one is not a finite number.
#[must_use]
pub fn median_bounds(values: &[f64], level: f64) -> Option<Interval> {
    if values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let (low, high, missed) = ends(&sorted(values), level)?;
    Some(Interval { low, high, confidence: 1.0 - missed })
}

/// The number of values that a bound needs so that the median is beyond it with a probability of at most `level`: 2⁻ⁿ
/// is not above `level`.
#[must_use]
pub fn bound_least(level: f64) -> usize {
    usize::try_from(whole((-level.log2()).ceil())).map_or(usize::MAX, |n| n.max(1))
}

/// The `j`-th smallest and largest value, where `j` is the largest for which the median is beyond either of them with
/// a probability of at most `level`; and that probability.
fn ends(sorted: &[f64], level: f64) -> Option<(f64, f64, f64)> {
    let n = sorted.len();
    let mut chosen = None;
    // P(median below the j-th smallest) = P(Binomial(n, 1/2) <= j − 1); both sides are symmetric.
    let mut log_probability = -(n as f64) * std::f64::consts::LN_2;
    let mut missed = 0.0;
    for j in 1..=n / 2 {
        missed += log_probability.exp();
        if missed > level {
            break;
        }
        chosen = Some((sorted[j - 1], sorted[n - j], missed));
        log_probability += ((n - j + 1) as f64 / j as f64).ln();
    }
    chosen
}

/// The same median as in [`Summary::of`].
pub(crate) fn median(values: &[f64]) -> Option<f64> {
    Summary::of(values).map(|all| all.median)
}

/// Truncates to a whole number; the cast saturates.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number that is not negative")]
pub(crate) const fn whole(value: f64) -> u64 {
    value as u64
}

/// The rank, starting at 1, of the smallest of `n` values that at least `percent` of them do not exceed.
#[expect(clippy::cast_possible_truncation, reason = "a rank of values in memory or of counted ones")]
pub(crate) fn nearest_rank(percent: f64, n: u64) -> usize {
    // 99.9 / 100 · 1000 is slightly above 999 in binary: a whole number with a rounding error must not be rounded up
    // to the next one.
    whole((percent.clamp(0.0, 100.0) / 100.0 * n as f64 * (1.0 - 1e-12)).ceil()).max(1) as usize
}

/// The value below which `share` of `sorted` lies, linearly interpolated between neighbours. Returns `None` if there
/// are no values or the share is NaN.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share of a length lies between 0 and the length"
)]
pub(crate) fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let place = Some(share * last as f64).filter(|place| !place.is_nan())?;
    let (low, high) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    Some(low + (high - low) * place.fract())
}

#[cfg(test)]
mod tests {
    use super::nearest_rank;

    #[test]
    fn ranks_are_not_moved_by_rounding() {
        for n in [1000_u64, 10_000, 100_000, 123_456_789_000] {
            for (percent, thousandths) in
                [(50.0, 500), (90.0, 900), (99.0, 990), (99.9, 999), (0.1, 1), (100.0, 1000)]
            {
                assert_eq!(nearest_rank(percent, n) as u64, n / 1000 * thousandths, "{percent} % of {n}");
            }
        }
        assert_eq!(nearest_rank(99.9, 1001), 1000);
        assert_eq!(nearest_rank(0.0, 5), 1);
    }
}
