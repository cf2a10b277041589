//! Whether printed statistics of several values are consistent.

use crate::statistics::whole;

/// The printed statistics of several values. Statistics that are not printed are `None`.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[expect(missing_docs, reason = "the name says it")]
pub struct PrintedStatistics {
    pub n: Option<u64>,
    pub min: Option<f64>,
    pub max: Option<f64>,
    /// Maximum minus minimum; computed from these if both are present.
    pub range: Option<f64>,
    pub mean: Option<f64>,
    /// Standard deviation with divisor n − 1.
    pub deviation: Option<f64>,
    /// Whether the divisor of the deviation may also be n.
    pub either_divisor: bool,
    /// The relative rounding error of each statistic; 0 for exact values.
    pub rounding: f64,
}

/// Why printed statistics are inconsistent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the name says it")]
pub enum Implausible {
    NegativeRange,
    NegativeDeviation,
    /// The mean is outside the range that is possible for such values.
    MeanOutside,
    /// Values with this range have a larger deviation.
    DeviationTooSmall,
    /// Values with this range cannot have such a large deviation.
    DeviationTooLarge,
}

/// The smallest possible standard deviation (divisor n − 1) of `n` values with this range: `range ÷ √(2 (n − 1))`,
/// reached if all values except the extremes are in the middle.
///
/// Source: Thomson, "Bounds for the ratio of range to standard deviation", Biometrika 42, 1955.
#[must_use]
pub fn deviation_min(range: f64, n: u64) -> f64 {
    if n < 2 { 0.0 } else { range / (2.0 * (n - 1) as f64).sqrt() }
}

/// The largest possible standard deviation, reached if half of the values are at each end:
/// `range ÷ 2 · √(n ÷ (n − 1))`, or `range ÷ 2 · √((n + 1) ÷ n)` for odd n.
///
/// Source: Popoviciu's inequality on variances (1935), with the divisor n − 1; Thomson 1955 as for [`deviation_min`].
#[must_use]
pub fn deviation_max(range: f64, n: u64) -> f64 {
    let values = n as f64;
    match n {
        0 | 1 => 0.0,
        _ if n.is_multiple_of(2) => range / 2.0 * (values / (values - 1.0)).sqrt(),
        _ => range / 2.0 * ((values + 1.0) / values).sqrt(),
    }
}

/// The smallest number of values that can have both this range and this standard deviation. Returns `None` if no
/// number can, because the deviation is not above 0.
#[must_use]
pub fn values_needed(range: f64, deviation: f64) -> Option<u64> {
    (deviation > 0.0).then(|| whole((1.0 + range * range / (2.0 * deviation * deviation)).ceil()))
}

/// The inconsistencies of printed statistics, with their numbers; empty if there are none.
///
/// ```
/// use analysis::printed::{PrintedStatistics, check_statistics};
/// let printed = PrintedStatistics { n: Some(101), range: Some(2.15), deviation: Some(0.035), ..Default::default() };
/// assert!(check_statistics(&printed)[0].1.contains("at least 0.152"));
/// ```
#[must_use]
pub fn check_statistics(printed: &PrintedStatistics) -> Vec<(Implausible, String)> {
    let extremes = printed.min.zip(printed.max);
    let range = extremes.map(|(min, max)| max - min).or(printed.range);
    if let Some(range) = range.filter(|&range| range < 0.0) {
        return vec![(
            Implausible::NegativeRange,
            format!("the largest value minus the smallest is {range}"),
        )];
    }
    if let Some(deviation) = printed.deviation.filter(|&deviation| deviation < 0.0) {
        return vec![(Implausible::NegativeDeviation, format!("a standard deviation of {deviation}"))];
    }
    // Floating-point sums are off by a few of the last bits even if nothing was rounded.
    let slack = printed.rounding + 1e-9;
    let mean = extremes
        .zip(printed.mean)
        .and_then(|(extremes, mean)| mean_outside(printed.n, extremes, mean, slack));
    let deviation = range.zip(printed.deviation).and_then(|(range, deviation)| {
        let size = extremes.map_or(range, |(min, max)| min.abs().max(max.abs()));
        deviation_outside(printed, range, deviation, slack, size)
    });
    mean.into_iter().chain(deviation).collect()
}

fn mean_outside(
    n: Option<u64>,
    (min, max): (f64, f64),
    mean: f64,
    slack: f64,
) -> Option<(Implausible, String)> {
    // At least one of the n values is the minimum and one the maximum.
    let edge = n.filter(|&n| n > 1).map_or(0.0, |n| (max - min) / n as f64);
    let (at_least, at_most) = (min + edge, max - edge);
    let tolerance = slack * min.abs().max(max.abs());
    (mean < at_least - tolerance || mean > at_most + tolerance).then(|| {
        let evidence = format!("a mean of {mean} is not between {at_least:.4} and {at_most:.4}");
        (Implausible::MeanOutside, evidence)
    })
}

/// `size` is the magnitude of the values: the mean of equal values is off in its last bits, so their deviation is not
/// 0 although their range is.
fn deviation_outside(
    printed: &PrintedStatistics,
    range: f64,
    deviation: f64,
    slack: f64,
    size: f64,
) -> Option<(Implausible, String)> {
    const LAST_BITS: f64 = 1e-9;
    let impossible = |values: &str| {
        format!("a standard deviation of {deviation} is impossible for {values} with a range of {range}")
    };
    // Two values have the largest deviation relative to their range.
    let at_most = deviation_max(range, printed.n.unwrap_or(2));
    let values = printed.n.map_or_else(|| "values".to_owned(), |n| format!("{n} values"));
    if deviation > at_most * (1.0 + 2.0 * slack) + LAST_BITS * size + f64::MIN_POSITIVE {
        let evidence = format!("{}: it is at most {at_most:.3}", impossible(&values));
        return Some((Implausible::DeviationTooLarge, evidence));
    }
    // The bound for divisor n is that of one more value.
    let more = u64::from(printed.either_divisor);
    let at_least = deviation_min(range, printed.n.filter(|&n| n > 1)? + more);
    (deviation < at_least * (1.0 - 2.0 * slack)).then(|| {
        let needed = values_needed(range, deviation).map_or(u64::MAX, |needed| needed - more);
        let evidence =
            format!("{}: it is at least {at_least:.3}; {needed} values would be needed", impossible(&values));
        (Implausible::DeviationTooSmall, evidence)
    })
}
