//! Detects whether and where a series of values changes its level.

use crate::statistics::{DIFFERENCE_LEVEL, MAD_FACTOR, ROBUST_Z_MAX, median};

/// A change smaller than this share of the larger level is not reported, however significant it is.
pub const CHANGE_MIN: f64 = 0.05;
/// The minimum number of values for detecting a change: with fewer, the false alarm probability is not known to
/// within a tenth.
pub const CHANGE_VALUES_MIN: usize = 20;
/// The minimum share of all values before and after a change: a change closer to an end does not establish a new
/// level.
const END_SHARE: f64 = 0.1;
/// The minimum number of values on either side of a change.
const ENDS_MIN: usize = 2;
/// The minimum number of independent values to which a dependent series must be equivalent: below it, the
/// significance level does not hold.
const WORTH_MIN: f64 = 15.0;
/// The scatter of a level is assumed to be at least this share of it.
const SCATTER_MIN: f64 = 1e-3;
/// The statistic is divided by 1 + this ÷ effective values, so that the significance level holds for short dependent
/// series.
const SHORT: f64 = 10.0;
/// The upper 95 % limit of the estimated autocorrelation is used.
const AUTOCORRELATION_QUANTILE: f64 = 1.645;
/// Upper limit for the estimated autocorrelation.
const AUTOCORRELATION_MAX: f64 = 0.95;

/// Whether the values of a series depend on each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dependence {
    /// They are independent, as assumed for repetitions.
    Independent,
    /// They depend on earlier values, like the seconds of one pass.
    Consecutive,
}

/// The largest change in the level of a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChangePoint {
    /// The number of values before the change.
    pub at: usize,
    /// Median of the values before the change.
    pub before: f64,
    /// Median of the values after the change.
    pub after: f64,
    /// Probability that a series without a change shows one at least as clearly.
    pub p_value: f64,
}

impl ChangePoint {
    /// Whether the change is reported, as one of `family` series that were searched for a change: its probability is
    /// at most [`DIFFERENCE_LEVEL`] ÷ `family`, and its size is at least [`CHANGE_MIN`].
    #[must_use]
    pub fn is_shown(&self, family: usize) -> bool {
        let larger = self.before.abs().max(self.after.abs());
        self.p_value * family.max(1) as f64 <= DIFFERENCE_LEVEL
            && (self.after - self.before).abs() >= CHANGE_MIN * larger
    }

    /// After ÷ before − 1. Returns `None` if the level before is 0.
    #[must_use]
    pub fn change(&self) -> Option<f64> {
        (self.before > 0.0).then(|| self.after / self.before - 1.0)
    }
}

/// The place at which the level of `values`, in the order of measurement, changes most clearly. Returns `None` for
/// fewer than [`CHANGE_VALUES_MIN`] values, for consecutive values that are equivalent to fewer than 15 independent
/// ones, or if a value is not finite.
///
/// For each place k, the distance of the partial sum from its share of the whole, `T = (S_k − k ÷ n · S_n) ÷ √n`, is
/// squared and divided by `V`, which is n⁻² times the sum of the squared distances of partial sums from their share
/// within either side. The largest quotient is the statistic. `V` grows with the scatter and its autocorrelation as
/// `T²` does, but not with the change, so neither has to be estimated: Shao and Zhang, "Testing for Change Points in
/// Time Series", Journal of the American Statistical Association 105, 2010. Outliers ([`ROBUST_Z_MAX`]) are clipped
/// to that limit.
///
/// The probability is e^(1.75 − 0.76 · √statistic), fitted to a simulation of independent normal values between 5 %
/// and 0.01 %; at 1 % it requires 69.9, compared with 68.6 in the paper. In short dependent series the statistic is
/// too large. For [`Dependence::Consecutive`] values, the first-order autocorrelation r is therefore estimated around
/// both levels, corrected by (2 + 4r) ÷ n for the bias from estimating them, and taken at the upper end of its
/// interval; n · (1 − r) ÷ (1 + r) is the equivalent number of independent values, and the statistic is divided by
/// 1 + 10 ÷ that number. Tests show that the significance level holds for r from 0 to 0.95 and any length. No random
/// numbers are used: the result is the same on any machine.
///
/// ```
/// use analysis::statistics::{Dependence, change_point};
/// let rates: Vec<f64> = (0..40).map(|second| if second < 30 { 500.0 } else { 200.0 } + f64::from(second % 3)).collect();
/// let found = change_point(&rates, Dependence::Independent).expect("forty values");
/// assert!(found.is_shown(1) && (found.at, found.before, found.after) == (30, 501.0, 201.0));
/// ```
#[must_use]
pub fn change_point(values: &[f64], dependence: Dependence) -> Option<ChangePoint> {
    let n = values.len();
    if n < CHANGE_VALUES_MIN {
        return None;
    }
    let centred = without_outliers(values)?;
    let (forward, backward) = (Sums::of(centred.iter()), Sums::of(centred.iter().rev()));
    let least = ENDS_MIN.max(ceiling(END_SHARE * n as f64));
    let level = median(values)?.abs();
    let (mut at, mut largest) = (0, -1.0);
    for place in least..=n - least {
        let count = n as f64;
        let apart = (forward.partial[place] - place as f64 / count * forward.partial[n]).powi(2) / count;
        let within = (forward.within(place) + backward.within(n - place)) / count.powi(2);
        // The value for independent values with the least scatter.
        let sizes = (place as f64).powi(2) + ((n - place) as f64).powi(2) - 2.0;
        let least_within = (SCATTER_MIN * level).powi(2) * sizes / 6.0 / count.powi(2);
        let within = within.max(least_within);
        let statistic = if within > 0.0 { apart / within } else { 0.0 };
        if statistic > largest {
            (at, largest) = (place, statistic);
        }
    }
    let statistic = match dependence {
        Dependence::Independent => largest,
        Dependence::Consecutive => {
            let worth = effective(&centred, at);
            if worth < WORTH_MIN {
                return None;
            }
            largest / (1.0 + SHORT / worth)
        }
    };
    let p_value = (1.75 - 0.76 * statistic.max(0.0).sqrt()).exp().min(1.0);
    Some(ChangePoint { at, before: median(&values[..at])?, after: median(&values[at..])?, p_value })
}

/// `values` as distances from their median, clipped at [`ROBUST_Z_MAX`] robust deviations.
fn without_outliers(values: &[f64]) -> Option<Vec<f64>> {
    let centre = median(values)?;
    let distances: Vec<f64> = values.iter().map(|value| (value - centre).abs()).collect();
    let reach = median(&distances)? * MAD_FACTOR * ROBUST_Z_MAX;
    let near = |value: &f64| if reach > 0.0 { (value - centre).clamp(-reach, reach) } else { value - centre };
    Some(values.iter().map(near).collect())
}

/// The number of independent values to which a series with a change after `at` is equivalent.
fn effective(values: &[f64], at: usize) -> f64 {
    let n = values.len() as f64;
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    let (before, after) = (mean(&values[..at]), mean(&values[at..]));
    let left: Vec<f64> = values
        .iter()
        .enumerate()
        .map(|(place, value)| value - if place < at { before } else { after })
        .collect();
    let squares: f64 = left.iter().map(|value| value * value).sum();
    let products = |part: &[f64]| part.windows(2).map(|pair| pair[0] * pair[1]).sum::<f64>();
    let estimate = match squares > 0.0 {
        true => (products(&left[..at]) + products(&left[at..])) / squares,
        false => 0.0,
    };
    let estimate = (estimate + (2.0 + 4.0 * estimate) / n).clamp(0.0, AUTOCORRELATION_MAX);
    let error = ((1.0 - estimate * estimate) / n).sqrt();
    let high = (estimate + AUTOCORRELATION_QUANTILE * error).min(AUTOCORRELATION_MAX);
    n * (1.0 - high) / (1.0 + high)
}

/// Partial sums of a series from one of its ends, and sums over these.
struct Sums {
    /// S_t, starting with S_0 = 0.
    partial: Vec<f64>,
    /// Σ S_t² and Σ t · S_t, over all indices up to t.
    squares: Vec<f64>,
    moments: Vec<f64>,
}

impl Sums {
    fn of<'a>(values: impl Iterator<Item = &'a f64>) -> Self {
        let mut sums = Self { partial: vec![0.0], squares: vec![0.0], moments: vec![0.0] };
        let (mut sum, mut squares, mut moments) = (0.0, 0.0, 0.0);
        for (value, place) in values.zip(1_u32..) {
            sum += value;
            squares += sum * sum;
            moments += f64::from(place) * sum;
            sums.partial.push(sum);
            sums.squares.push(squares);
            sums.moments.push(moments);
        }
        sums
    }

    /// Σ (S_t − t ÷ k · S_k)² over t from 1 to k.
    fn within(&self, k: usize) -> f64 {
        let count = k as f64;
        let slope = self.partial[k] / count;
        let places = count * (count + 1.0) * (2.0 * count + 1.0) / 6.0;
        (self.squares[k] - 2.0 * slope * self.moments[k] + slope * slope * places).max(0.0)
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a length")]
fn ceiling(value: f64) -> usize {
    value.ceil() as usize
}
