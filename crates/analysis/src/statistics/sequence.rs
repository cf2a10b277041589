//! An interval of the median that may be checked after every repetition.

use crate::statistics::{CONFIDENCE, Interval, summary::sorted};

/// The interval of the median after `values.len()` repetitions, from a confidence sequence: with at least
/// [`CONFIDENCE`], the median lies within the intervals after *every* number of repetitions, so a case may end at any
/// of them, by any rule. [`crate::statistics::Summary::median_interval`] only guarantees that for a single number
/// chosen in advance; if it is computed after each repetition, it misses the median far more often (a test prints how
/// often).
///
/// The interval is from the j-th smallest to the j-th largest of the n values, where j is the largest for which
/// `(n + 1) · C(n, j − 1) ≤ 2ⁿ · 0.05`. The only assumption is that the repetitions are independent and have the same
/// median. Returns `None` below [`plan::INTERVAL_REPETITIONS_MIN`] values, or if one is not a finite number.
///
/// Derivation: of n values, the number k below the median is distributed like the heads of n coin tosses. The
/// likelihood of k under a uniformly drawn probability ÷ that under ½ is `2ⁿ ÷ ((n + 1) · C(n, k))`, a martingale
/// with mean 1, which ever reaches 20 with a probability of at most 1/20 (Ville, 1939). Source: Darling and Robbins,
/// "Confidence Sequences for Mean, Variance, and Median", Proceedings of the National Academy of Sciences 58, 1967;
/// with this mixture Howard and Ramdas, "Sequential Estimation of Quantiles with Applications to A/B Testing and
/// Best-Arm Identification", Bernoulli 28, 2022.
///
/// ```
/// use analysis::statistics::median_sequence;
/// let interval = median_sequence(&[4.0, 1.0, 3.0, 2.0, 8.0, 5.0, 7.0, 6.0]).expect("eight values");
/// assert_eq!((interval.low, interval.high), (1.0, 8.0));
/// ```
#[must_use]
pub fn median_sequence(values: &[f64]) -> Option<Interval> {
    if values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let n = values.len();
    let count = n as f64;
    let most = count * std::f64::consts::LN_2 + (1.0 - CONFIDENCE).ln() - (count + 1.0).ln();
    // The logarithm of C(n, j − 1).
    let (mut ways, mut ends) = (0.0, None);
    for j in 1..=n / 2 {
        if ways > most {
            break;
        }
        ends = Some(j);
        ways += ((n - j + 1) as f64 / j as f64).ln();
    }
    let (sorted, j) = (sorted(values), ends?);
    Some(Interval { low: sorted[j - 1], high: sorted[n - j], confidence: CONFIDENCE })
}
