//! Intervals of any statistic, from samples of the sample.
//!
//! The generator is xoshiro256++ (Blackman and Vigna, 2021), seeded by SplitMix64, and its numbers are taken in a fixed
//! order: the same values, seed and number of samples give the same interval on every machine.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use statrs::distribution::{ContinuousCDF, Normal};

/// Samples where nothing else is asked: beyond this the ends of an interval move by less than one percent of its width
/// (Efron and Tibshirani, 1993, section 19.3, ask for 1000 at least).
pub const BOOTSTRAP_SAMPLES: usize = 10_000;

/// Which ends an interval has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BootstrapMethod {
    /// Of the samples' statistics (Efron, 1979). Off to one side where the statistic is biased or the values are skewed.
    Percentile,
    /// Percentiles, moved by the share of samples below the statistic (bias) and by the skewness of the jackknife
    /// (acceleration): Efron, "Better Bootstrap Confidence Intervals", Journal of the American Statistical Association 82, 1987.
    Bca,
}

/// An interval of a statistic.
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(missing_docs, reason = "the name says it")]
pub struct BootstrapInterval {
    /// The statistic of the values themselves.
    pub statistic: f64,
    pub low: f64,
    pub high: f64,
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
        let method = BootstrapMethod::Bca;
        Self { method, samples: BOOTSTRAP_SAMPLES, confidence: crate::statistics::CONFIDENCE, seed: 0 }
    }
}

impl Bootstrap {
    /// The interval of `statistic` over `values`, which may be pairs or groups that are drawn as a whole. None for fewer
    /// than two values, statistics that are not finite, or where all samples lie on one side of the statistic.
    ///
    /// ```
    /// use analysis::statistics::{Bootstrap, bootstrap_mean};
    /// let interval = Bootstrap::default().interval(&[9.0, 10.0, 11.0, 10.0], bootstrap_mean).expect("four values");
    /// assert!(interval.low < 10.0 && 10.0 < interval.high);
    /// ```
    #[must_use]
    pub fn interval<T: Copy>(
        &self,
        values: &[T],
        statistic: impl Fn(&mut [T]) -> f64,
    ) -> Option<BootstrapInterval> {
        let tail = (1.0 - self.confidence) / 2.0;
        if values.len() < 2 || self.samples < 2 || tail <= 0.0 || tail >= 0.5 {
            return None;
        }
        let own = statistic(&mut values.to_vec());
        let mut random = Xoshiro256PlusPlus::seed_from_u64(self.seed);
        let mut sample = values.to_vec();
        let draw = |_| {
            sample.fill_with(|| values[below(&mut random, values.len())]);
            statistic(&mut sample)
        };
        let mut drawn: Vec<f64> = (0..self.samples).map(draw).collect();
        if !own.is_finite() || drawn.iter().any(|value| !value.is_finite()) {
            return None;
        }
        drawn.sort_by(f64::total_cmp);
        let (low, high, bias, acceleration) = match self.method {
            BootstrapMethod::Percentile => (tail, 1.0 - tail, 0.0, 0.0),
            BootstrapMethod::Bca => {
                let normal = Normal::standard();
                // Equal ones are half below, so that a statistic of few different values is not called biased.
                let below = drawn.partition_point(|&value| value < own);
                let not_above = drawn.partition_point(|&value| value <= own);
                let bias = normal.inverse_cdf((below + not_above) as f64 / (2 * drawn.len()) as f64);
                let acceleration = acceleration(values, &statistic);
                let moved = |share: f64| {
                    let z = bias + normal.inverse_cdf(share);
                    normal.cdf(bias + z / (1.0 - acceleration * z))
                };
                (moved(tail), moved(1.0 - tail), bias, acceleration)
            }
        };
        let (low, high) = (quantile(&drawn, low)?, quantile(&drawn, high)?);
        bias.is_finite().then_some(BootstrapInterval { statistic: own, low, high, bias, acceleration })
    }
}

/// The arithmetic mean, for [`Bootstrap::interval`].
#[must_use]
pub fn bootstrap_mean(values: &mut [f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
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

/// `Σ(θ̄ − θᵢ)³ ÷ 6(Σ(θ̄ − θᵢ)²)^{3/2}` over the statistics that leave out one value each; 0 where
/// they are all equal.
fn acceleration<T: Copy>(values: &[T], statistic: &impl Fn(&mut [T]) -> f64) -> f64 {
    let without = |index: usize| statistic(&mut [&values[..index], &values[index + 1..]].concat());
    let jackknife: Vec<f64> = (0..values.len()).map(without).collect();
    let mean = jackknife.iter().sum::<f64>() / jackknife.len() as f64;
    let sum = |power: i32| jackknife.iter().map(|value| (mean - value).powi(power)).sum::<f64>();
    let acceleration = sum(3) / (6.0 * sum(2).powf(1.5));
    if acceleration.is_finite() { acceleration } else { 0.0 }
}

/// The value below which `share` of `sorted` lies, between neighbours in proportion; none of no values, and where the
/// share is no number.
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
