//! Intervals of any statistic, from samples of the sample.
//!
//! Values are drawn from the sample itself, with replacement, as many as it has; the statistic of
//! many such samples shows how far it would vary. The generator is xoshiro256++ (Blackman and
//! Vigna, 2021), seeded by SplitMix64, and its numbers are taken in a fixed order: the same values,
//! seed and number of samples give the same interval on every machine.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use statrs::distribution::{ContinuousCDF, Normal};

/// Samples that an interval is drawn from where nothing else is asked: beyond this its ends move
/// by less than one percent of its width (Efron and Tibshirani, 1993, section 19.3, ask for 1000
/// at least).
pub const BOOTSTRAP_SAMPLES: usize = 10_000;

/// Which ends an interval has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BootstrapMethod {
    /// The percentiles of the samples' statistics (Efron, 1979). Too narrow, and off to one side,
    /// where the statistic is biased or the values are skewed.
    Percentile,
    /// Bias-corrected and accelerated (Efron, "Better Bootstrap Confidence Intervals", Journal of
    /// the American Statistical Association 82, 1987): the percentiles are moved by the share of
    /// samples below the statistic (bias) and by the skewness of the jackknife (acceleration).
    Bca,
}

/// An interval of a statistic.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BootstrapInterval {
    /// The statistic of the values themselves.
    pub statistic: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// The confidence that was asked for.
    pub confidence: f64,
    /// The bias z₀ of [`BootstrapMethod::Bca`]; 0 for percentiles.
    pub bias: f64,
    /// The acceleration â of [`BootstrapMethod::Bca`]; 0 for percentiles.
    pub acceleration: f64,
}

/// How an interval is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bootstrap {
    /// Which ends the interval has.
    pub method: BootstrapMethod,
    /// Samples, at least 2.
    pub samples: usize,
    /// Between 0 and 1, as in 0.95.
    pub confidence: f64,
    /// Chooses the samples.
    pub seed: u64,
}

impl Default for Bootstrap {
    fn default() -> Self {
        Self {
            method: BootstrapMethod::Bca,
            samples: BOOTSTRAP_SAMPLES,
            confidence: crate::CONFIDENCE,
            seed: 0,
        }
    }
}

impl Bootstrap {
    /// The interval of `statistic` over `values`.
    ///
    /// None for fewer than two values, values or statistics that are not finite, a confidence
    /// outside of 0 to 1, or where the correction does not exist because all samples lie on one
    /// side of the statistic.
    ///
    /// ```
    /// use analysis::{Bootstrap, bootstrap_mean};
    /// let interval = Bootstrap::default().interval(&[9.0, 10.0, 11.0, 10.0], bootstrap_mean).expect("four values");
    /// assert!(interval.low < 10.0 && 10.0 < interval.high);
    /// ```
    #[must_use]
    pub fn interval(
        &self,
        values: &[f64],
        statistic: impl Fn(&mut [f64]) -> f64,
    ) -> Option<BootstrapInterval> {
        values.iter().all(|value| value.is_finite()).then(|| self.interval_of(values, statistic)).flatten()
    }

    /// As [`Bootstrap::interval`], of values that are drawn as a whole: pairs, or groups.
    #[must_use]
    pub fn interval_of<T: Copy>(
        &self,
        values: &[T],
        statistic: impl Fn(&mut [T]) -> f64,
    ) -> Option<BootstrapInterval> {
        let usable = values.len() >= 2 && self.samples >= 2 && self.confidence > 0.0 && self.confidence < 1.0;
        if !usable {
            return None;
        }
        let own = statistic(&mut values.to_vec());
        let mut drawn = self.draw(values, &statistic);
        if !own.is_finite() || drawn.iter().any(|value| !value.is_finite()) {
            return None;
        }
        drawn.sort_by(f64::total_cmp);
        let tail = (1.0 - self.confidence) / 2.0;
        let (low, high, bias, acceleration) = match self.method {
            BootstrapMethod::Percentile => (tail, 1.0 - tail, 0.0, 0.0),
            BootstrapMethod::Bca => {
                let normal = Normal::standard();
                let bias = normal.inverse_cdf(share_below(&drawn, own));
                let acceleration = acceleration(values, &statistic);
                let moved = |share: f64| {
                    let z = bias + normal.inverse_cdf(share);
                    normal.cdf(bias + z / (1.0 - acceleration * z))
                };
                (moved(tail), moved(1.0 - tail), bias, acceleration)
            }
        };
        let interval = BootstrapInterval {
            statistic: own,
            low: quantile(&drawn, low)?,
            high: quantile(&drawn, high)?,
            confidence: self.confidence,
            bias,
            acceleration,
        };
        bias.is_finite().then_some(interval)
    }

    /// The statistic of each sample.
    fn draw<T: Copy>(&self, values: &[T], statistic: &impl Fn(&mut [T]) -> f64) -> Vec<f64> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(self.seed);
        let mut sample = values.to_vec();
        (0..self.samples)
            .map(|_| {
                for place in &mut sample {
                    *place = values[below(&mut random, values.len())];
                }
                statistic(&mut sample)
            })
            .collect()
    }
}

/// The arithmetic mean, for [`Bootstrap::interval`].
#[must_use]
pub fn bootstrap_mean(values: &mut [f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The median, for [`Bootstrap::interval`]. BCa of a median of few values is rough: its samples take
/// few different values, and its jackknife hardly varies. The interval of [`crate::Summary`] is exact.
#[must_use]
pub fn bootstrap_median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    let n = values.len();
    f64::midpoint(values[(n - 1) / 2], values[n / 2])
}

/// A number below `n`, each with the same probability (Lemire, "Fast Random Integer Generation in
/// an Interval", ACM Transactions on Modeling and Computer Simulation 29, 2019).
#[expect(clippy::cast_possible_truncation, reason = "the high word of the product is below n")]
fn below(random: &mut Xoshiro256PlusPlus, n: usize) -> usize {
    let n = n as u64;
    let reject_below = n.wrapping_neg() % n;
    loop {
        let product = u128::from(random.next_u64()) * u128::from(n);
        if product as u64 >= reject_below {
            return (product >> 64) as usize;
        }
    }
}

/// The share of `drawn` below `own`; equal ones are half below, so that a statistic of few
/// different values is not called biased.
fn share_below(drawn: &[f64], own: f64) -> f64 {
    let below = drawn.partition_point(|&value| value < own);
    let not_above = drawn.partition_point(|&value| value <= own);
    (below + not_above) as f64 / (2 * drawn.len()) as f64
}

/// `Σ(θ̄ − θᵢ)³ ÷ 6(Σ(θ̄ − θᵢ)²)^{3/2}` over the statistics that leave out one value each; 0 where
/// they are all equal.
fn acceleration<T: Copy>(values: &[T], statistic: &impl Fn(&mut [T]) -> f64) -> f64 {
    let without = |index: usize| {
        let mut rest = values.to_vec();
        rest.remove(index);
        statistic(&mut rest)
    };
    let jackknife: Vec<f64> = (0..values.len()).map(without).collect();
    let mean = jackknife.iter().sum::<f64>() / jackknife.len() as f64;
    let squares: f64 = jackknife.iter().map(|value| (mean - value).powi(2)).sum();
    let cubes: f64 = jackknife.iter().map(|value| (mean - value).powi(3)).sum();
    let acceleration = cubes / (6.0 * squares.powf(1.5));
    if acceleration.is_finite() { acceleration } else { 0.0 }
}

/// The value below which `share` of `sorted` lies, between neighbours in proportion; none where
/// the share is no number.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share of a length lies between 0 and the length"
)]
fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    if !(0.0..=1.0).contains(&share) {
        return None;
    }
    let place = share * (sorted.len() - 1) as f64;
    let low = place.floor() as usize;
    let high = (low + 1).min(sorted.len() - 1);
    Some(sorted[low] + (sorted[high] - sorted[low]) * (place - low as f64))
}
