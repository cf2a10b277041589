//! Whether printed statistics of several values can belong together.

use std::fmt;

/// What is printed of several values. What is not printed is none.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct PrintedStatistics {
    /// How many values there were.
    pub n: Option<u64>,
    /// Smallest.
    pub min: Option<f64>,
    /// Largest.
    pub max: Option<f64>,
    /// Largest minus smallest; taken from those two where both are there.
    pub range: Option<f64>,
    /// Arithmetic mean.
    pub mean: Option<f64>,
    /// Standard deviation with divisor n − 1.
    pub deviation: Option<f64>,
    /// Share by which each of them may be off because it was rounded; 0 for exact values.
    pub rounding: f64,
}

/// Why printed statistics cannot belong together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Implausible {
    /// The smallest value is above the largest, or the range is negative.
    NegativeRange {
        /// Largest minus smallest.
        range: f64,
    },
    /// The deviation is negative.
    NegativeDeviation {
        /// As printed.
        deviation: f64,
    },
    /// The mean is not where the mean of such values can be.
    MeanOutside {
        /// As printed.
        mean: f64,
        /// Lowest that it can be.
        at_least: f64,
        /// Highest that it can be.
        at_most: f64,
    },
    /// Values with this range spread more.
    DeviationTooSmall {
        /// As printed.
        deviation: f64,
        /// Smallest that it can be; see [`deviation_min`].
        at_least: f64,
        /// Largest minus smallest.
        range: f64,
        /// Values.
        n: u64,
        /// The smallest number of values that can have both.
        values_needed: u64,
    },
    /// Values with this range cannot spread so much.
    DeviationTooLarge {
        /// As printed.
        deviation: f64,
        /// Largest that it can be; see [`deviation_max`].
        at_most: f64,
        /// Largest minus smallest.
        range: f64,
        /// Values; none where not said.
        n: Option<u64>,
    },
}

impl fmt::Display for Implausible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::NegativeRange { range } => write!(f, "the largest value minus the smallest is {range}"),
            Self::NegativeDeviation { deviation } => write!(f, "a standard deviation of {deviation}"),
            Self::MeanOutside { mean, at_least, at_most } => {
                write!(f, "a mean of {mean} is not between {at_least:.4} and {at_most:.4}")
            }
            Self::DeviationTooSmall { deviation, at_least, range, n, values_needed } => write!(
                f,
                "a standard deviation of {deviation} is impossible for {n} values with a range of {range}: \
                 it is at least {at_least:.3}; {values_needed} values would be needed"
            ),
            Self::DeviationTooLarge { deviation, at_most, range, n } => {
                let values = n.map_or_else(|| "values".to_owned(), |n| format!("{n} values"));
                write!(
                    f,
                    "a standard deviation of {deviation} is impossible for {values} with a range of {range}: \
                     it is at most {at_most:.3}"
                )
            }
        }
    }
}

/// The smallest standard deviation (divisor n − 1) of `n` values with this range:
/// `range ÷ √(2 (n − 1))`, reached when all values but the extremes lie in the middle.
///
/// Source: Thomson, "Bounds for the ratio of range to standard deviation", Biometrika 42, 1955.
///
/// ```
/// assert!((analysis::deviation_min(2.15, 101) - 0.152).abs() < 1e-3);
/// ```
#[must_use]
pub fn deviation_min(range: f64, n: u64) -> f64 {
    if n < 2 { 0.0 } else { range / (2.0 * (n - 1) as f64).sqrt() }
}

/// The largest standard deviation (divisor n − 1) of `n` values with this range, reached when half
/// of them lie at each end: `range ÷ 2 · √(n ÷ (n − 1))`, for an odd number
/// `range ÷ 2 · √((n + 1) ÷ n)`.
///
/// Source: Popoviciu's inequality on variances (1935), with the divisor n − 1; Thomson 1955 as for
/// [`deviation_min`].
#[must_use]
pub fn deviation_max(range: f64, n: u64) -> f64 {
    let values = n as f64;
    match n {
        0 | 1 => 0.0,
        _ if n.is_multiple_of(2) => range / 2.0 * (values / (values - 1.0)).sqrt(),
        _ => range / 2.0 * ((values + 1.0) / values).sqrt(),
    }
}

/// The smallest number of values that can have both this range and this standard deviation; none
/// where no number can, because the deviation is not above 0.
#[must_use]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the quotient of squares is not negative, and a cast saturates"
)]
pub fn values_needed(range: f64, deviation: f64) -> Option<u64> {
    (deviation > 0.0).then(|| (1.0 + range * range / (2.0 * deviation * deviation)).ceil() as u64)
}

/// What cannot be in printed statistics; empty where all of it can.
///
/// ```
/// use analysis::{PrintedStatistics, check_statistics};
/// let printed = PrintedStatistics { n: Some(101), range: Some(2.15), deviation: Some(0.035), ..Default::default() };
/// let found = check_statistics(&printed);
/// assert!(found[0].to_string().contains("at least 0.152"));
/// ```
#[must_use]
pub fn check_statistics(printed: &PrintedStatistics) -> Vec<Implausible> {
    let mut found = Vec::new();
    let extremes = printed.min.zip(printed.max);
    let range = extremes.map(|(min, max)| max - min).or(printed.range);
    // Sums in floating point are off by a few of the last bits even where nothing was rounded.
    let slack = printed.rounding + 1e-9;
    if let Some(range) = range.filter(|&range| range < 0.0) {
        found.push(Implausible::NegativeRange { range });
        return found;
    }
    if let Some(deviation) = printed.deviation.filter(|&deviation| deviation < 0.0) {
        found.push(Implausible::NegativeDeviation { deviation });
        return found;
    }
    found.extend(mean_outside(printed, slack));
    if let Some((range, deviation)) = range.zip(printed.deviation) {
        let size = extremes.map_or(range, |(min, max)| min.abs().max(max.abs()));
        found.extend(deviation_outside(printed.n, range, deviation, slack, size));
    }
    found
}

fn mean_outside(printed: &PrintedStatistics, slack: f64) -> Option<Implausible> {
    let (min, max, mean) = (printed.min?, printed.max?, printed.mean?);
    // Of n values at least one is the smallest and one the largest.
    let edge = printed.n.filter(|&n| n > 1).map_or(0.0, |n| (max - min) / n as f64);
    let (at_least, at_most) = (min + edge, max - edge);
    let room = slack * min.abs().max(max.abs());
    (mean < at_least - room || mean > at_most + room).then_some(Implausible::MeanOutside {
        mean,
        at_least,
        at_most,
    })
}

/// `size` is that of the values: the mean of equal ones is off by its last bits, and so their
/// deviation is not 0 though their range is.
fn deviation_outside(
    n: Option<u64>,
    range: f64,
    deviation: f64,
    slack: f64,
    size: f64,
) -> Option<Implausible> {
    const LAST_BITS: f64 = 1e-9;
    // Two values spread most, as a share of their range.
    let at_most = deviation_max(range, n.unwrap_or(2));
    if deviation > at_most * (1.0 + 2.0 * slack) + LAST_BITS * size + f64::MIN_POSITIVE {
        return Some(Implausible::DeviationTooLarge { deviation, at_most, range, n });
    }
    let n = n.filter(|&n| n > 1)?;
    let at_least = deviation_min(range, n);
    (deviation < at_least * (1.0 - 2.0 * slack)).then(|| Implausible::DeviationTooSmall {
        deviation,
        at_least,
        range,
        n,
        values_needed: values_needed(range, deviation).unwrap_or(u64::MAX),
    })
}
