//! Whether repetitions depend on the ones before them: a trend from one to the next, or likeness.

use statrs::distribution::{ContinuousCDF, Normal};

use crate::statistics::{CHANGE_MIN, DIFFERENCE_LEVEL, PAIRS_MAX, Summary, median, ranks::doubled_ranks};

/// The minimum number of values for a trend of one series alone: six in order have a probability of 0.003, five one of
/// 0.017.
pub const TREND_LEAST: usize = 6;
/// The minimum number of values for likeness: with fewer the normal approximation is off by more than a tenth.
pub const ALIKE_LEAST: usize = 10;
/// The minimum number of values for an estimate of their autocorrelation that is not dominated by its bias.
const ESTIMATE_LEAST: usize = 5;
/// With up to this many values the distribution of a trend is counted out; with more, the normal approximation is
/// within one part in a hundred.
const EXACT_MAX: usize = 60;
/// The estimated autocorrelation of samples counts from this many standard errors on: 5 % of independent ones reach it.
const COUNTS_FROM: f64 = 1.645;
/// Upper limit for the estimated autocorrelation: that of values with a trend says nothing of their scatter.
const AUTOCORRELATION_MAX: f64 = 0.8;
/// Fewer values, over all samples, show no autocorrelation.
const VALUES_MIN: f64 = 20.0;

/// How values in the order of measurement depend on each other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Course {
    /// They rise or fall from one to the next by this share.
    Trend(f64),
    /// Each is like the one before, with this autocorrelation.
    Alike(f64),
}

/// How positive `values`, one of `family` series in the order of measurement, depend on each other. Two tests are
/// made, each at half of [`DIFFERENCE_LEVEL`] ÷ `family`. Values within 5 % of each other ([`CHANGE_MIN`]) have no
/// course.
///
/// *Trend*: Kendall's test, for up to 60 values with the exact distribution of the number of pairs in order; equal
/// values count as out of order. Its size is the median of the slopes of the logarithms between all pairs; series of
/// more than [`PAIRS_MAX`] pairs have none. M. Kendall, "A New Measure of Rank Correlation", Biometrika 30, 1938; P.
/// Sen, JASA 63, 1968.
///
/// *Likeness*: the squared differences of the ranks of neighbours ÷ the squared distances of all ranks from their mean
/// are 2 on average, and less if neighbours are alike. R. Bartels, "The Rank Version of von Neumann's Ratio Test for
/// Randomness", JASA 77, 1982. From ten values on; half of twenty values with an autocorrelation of 0.6 show it.
#[must_use]
pub fn course(values: &[f64], family: usize) -> Option<Course> {
    let all = Summary::of(values).filter(|all| all.min > 0.0)?;
    // As for a change of the level, less is of no interest, however significant it is.
    if all.max - all.min < CHANGE_MIN * all.max {
        return None;
    }
    let level = DIFFERENCE_LEVEL / 2.0 / family.max(1) as f64;
    let has_pairs =
        values.len() >= TREND_LEAST && values.len().saturating_mul(values.len() - 1) / 2 <= PAIRS_MAX;
    let trend = || (has_pairs && in_order(values) <= level).then(|| Course::Trend(slope(values)));
    let alike = || {
        let is_alike = values.len() >= ALIKE_LEAST && likeness(values) <= level;
        is_alike.then(|| Course::Alike(autocorrelation([values]).map_or(0.0, |one| one.found)))
    };
    trend().or_else(alike)
}

/// The probability that as many pairs of values are in order, in either direction.
fn in_order(values: &[f64]) -> f64 {
    let n = values.len();
    let pairs = (0..n).flat_map(|one| (one + 1..n).map(move |other| (one, other)));
    let (mut rising, mut falling) = (0, 0);
    for (one, other) in pairs {
        rising += usize::from(values[one] < values[other]);
        falling += usize::from(values[one] > values[other]);
    }
    // Ties are pairs that are out of order in both directions.
    let out_of_order = n * (n - 1) / 2 - rising.max(falling);
    if n > EXACT_MAX {
        let (pairs, n) = ((n * (n - 1) / 2) as f64, n as f64);
        let apart = pairs - 2.0 * out_of_order as f64;
        let score = apart / (pairs * (2.0 * n + 5.0) / 9.0).sqrt();
        return (2.0 * Normal::standard().sf(score)).min(1.0);
    }
    // Shares of all orders of n values by their number of pairs out of order.
    let mut shares = vec![1.0];
    for count in 2..=n {
        let mut next = vec![0.0; shares.len() + count - 1];
        for (place, share) in shares.iter().enumerate() {
            next[place..place + count].iter_mut().for_each(|one| *one += share / count as f64);
        }
        shares = next;
    }
    (2.0 * shares[..=out_of_order].iter().sum::<f64>()).min(1.0)
}

/// The median change from one value to the next, over all pairs.
fn slope(values: &[f64]) -> f64 {
    let of_pairs = (0..values.len()).flat_map(|one| {
        (one + 1..values.len()).map(move |other| (values[other] / values[one]).ln() / (other - one) as f64)
    });
    median(&of_pairs.collect::<Vec<_>>()).map_or(0.0, f64::exp_m1)
}

/// The probability that the ranks of neighbours are as much alike.
fn likeness(values: &[f64]) -> f64 {
    let ranks: Vec<f64> = doubled_ranks(values).0.into_iter().map(|rank| rank as f64 / 2.0).collect();
    let n = ranks.len() as f64;
    let mean = (n + 1.0) / 2.0;
    let squares: f64 = ranks.iter().map(|rank| (rank - mean).powi(2)).sum();
    let steps: f64 = ranks.windows(2).map(|pair| (pair[1] - pair[0]).powi(2)).sum();
    let variance =
        4.0 * (n - 2.0) * (5.0 * n * n - 2.0 * n - 9.0) / (5.0 * n * (n + 1.0) * (n - 1.0).powi(2));
    if squares == 0.0 { 1.0 } else { Normal::standard().cdf((steps / squares - 2.0) / variance.sqrt()) }
}

/// The autocorrelation of samples, that of all together.
struct Autocorrelation {
    /// The number of values.
    values: f64,
    found: f64,
    /// Its standard error if there is none.
    error: f64,
}

/// The autocorrelation of the logarithms of samples.
fn autocorrelation<'a>(samples: impl IntoIterator<Item = &'a [f64]>) -> Option<Autocorrelation> {
    let (mut products, mut squares, mut weight) = (0.0, 0.0, 0.0);
    for sample in samples.into_iter().filter(|sample| sample.len() >= ESTIMATE_LEAST) {
        let logarithms: Vec<f64> = sample.iter().map(|value| value.ln()).collect();
        let Some(all) = Summary::of(&logarithms).filter(|all| all.deviation_population > 0.0) else {
            continue;
        };
        let n = sample.len() as f64;
        // In units of the sample's own scatter, so that none weighs more.
        let left: Vec<f64> =
            logarithms.iter().map(|value| (value - all.mean) / all.deviation_population).collect();
        let own = left.windows(2).map(|pair| pair[0] * pair[1]).sum::<f64>() / n;
        // Around their own mean values have −(1 + 3r) ÷ n more than r: Kendall and Stuart, "The Advanced Theory of
        // Statistics", volume 3, section 48.
        products += n * (own + 1.0 / n) / (1.0 - 3.0 / n);
        squares += (n - 2.0).powi(2) / (n - 1.0) / (1.0 - 3.0 / n).powi(2);
        weight += n;
    }
    (weight > 0.0).then(|| Autocorrelation {
        values: weight,
        found: (products / weight).clamp(-1.0, AUTOCORRELATION_MAX),
        error: squares.sqrt() / weight,
    })
}

/// What the variance of a mean of `n` values is multiplied with for values like those of `samples`, because they
/// depend on each other: 1 if they do not, beyond chance. It corrects the error of the mean and that of the variance,
/// for an autocorrelation that falls as rʲ over j values.
#[must_use]
pub fn inflation<'a>(samples: impl IntoIterator<Item = &'a [f64]>) -> Inflation {
    let counts = |one: &Autocorrelation| one.values >= VALUES_MIN && one.found > COUNTS_FROM * one.error;
    Inflation(autocorrelation(samples).filter(counts).map_or(0.0, |one| one.found))
}

/// How much larger the variance of a mean is because values depend on each other.
#[derive(Debug, Clone, Copy, Default, PartialEq, PartialOrd)]
pub struct Inflation(f64);

impl Inflation {
    /// The larger of both.
    pub(crate) const fn or(self, other: Self) -> Self {
        Self(self.0.max(other.0))
    }

    /// The factor for a mean of `n` values.
    pub(crate) fn of_mean(self, n: usize) -> f64 {
        if n < 2 {
            return 1.0;
        }
        let count = n as f64;
        let (mut sum, mut power) = (1.0, 1.0);
        for step in 1..n {
            power *= self.0;
            sum += 2.0 * (1.0 - step as f64 / count) * power;
        }
        sum / (1.0 - (sum - 1.0) / (count - 1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::{Inflation, in_order, likeness};

    #[test]
    fn orders_have_the_probabilities_of_the_table() {
        // Five values have 120 orders: one rises throughout, four have one pair out of order.
        assert!((in_order(&[1.0, 2.0, 3.0, 4.0, 5.0]) - 2.0 / 120.0).abs() < 1e-12);
        assert!((in_order(&[2.0, 1.0, 3.0, 4.0, 5.0]) - 10.0 / 120.0).abs() < 1e-12);
        assert!((in_order(&[6.0, 5.0, 4.0, 3.0, 2.0, 1.0]) - 2.0 / 720.0).abs() < 1e-12);
        assert!((in_order(&[1.0; 5]) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn neighbours_that_are_alike_are_improbable() {
        let half: Vec<f64> =
            (0..20).map(|place| f64::from(place / 10) + 0.01 * f64::from(place * 7 % 10)).collect();
        assert!(likeness(&half) < 0.01, "{}", likeness(&half));
        let turns: Vec<f64> =
            (0..20).map(|place| f64::from(place % 2) + 0.01 * f64::from(place * 7 % 10)).collect();
        assert!(likeness(&turns) > 0.99);
    }

    #[test]
    fn a_mean_of_dependent_values_is_less_certain() {
        assert!((Inflation(0.0).of_mean(6) - 1.0).abs() < 1e-12);
        // 1 + 2 · (5/6 · 0.5 + 4/6 · 0.25 + 3/6 · 0.125 + 2/6 · 0.0625 + 1/6 · 0.03125) = 2.34375, ÷ (1 − 1.34375 ÷ 5).
        assert!((Inflation(0.5).of_mean(6) - 2.343_75 / (1.0 - 1.343_75 / 5.0)).abs() < 1e-12);
    }
}
