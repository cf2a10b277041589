//! The points of a curve, and their scatter: from their repetitions, or from their neighbours.

use statrs::function::gamma::digamma;

use crate::statistics::Summary;

/// The scatter of repetitions is assumed to be at least this share of the rate.
const SCATTER_MIN: f64 = 1e-3;
/// Degrees of freedom of [`Scatter::of_neighbours`] for each inner point: the distances of neighbouring points overlap.
/// For even steps their correlations are −2/3 and 1/6, and 1 ÷ (1 + 2 × (4/9 + 1/36)) = 18/35.
const FREEDOM_OF_POINT: f64 = 18.0 / 35.0;

/// One point of a curve, with the values that determine its shape.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// The swept value.
    pub x: f64,
    /// The median rate.
    pub y: f64,
    /// The mean rate.
    pub mean: f64,
    /// The number of repetitions.
    pub repetitions: usize,
    /// Standard deviation (n − 1) of the repetitions, in the unit of [`Sample::y`].
    pub deviation: f64,
}

impl Sample {
    /// The repetitions at `x`.
    pub(crate) const fn of(x: f64, all: &Summary) -> Self {
        let Summary { median: y, mean, n: repetitions, deviation_sample: deviation, .. } = *all;
        Self { x, y, mean, repetitions, deviation }
    }

    /// A point with a single measurement.
    #[must_use]
    pub const fn once(x: f64, y: f64) -> Self {
        Self { x, y, mean: y, repetitions: 1, deviation: 0.0 }
    }
}

/// The scatter that several samples have in common. The variances of few values are themselves widely scattered; what
/// is known of the others makes a variance that is low by chance higher.
///
/// Source: Smyth, "Linear models and empirical Bayes methods for assessing differential expression in microarray
/// experiments", Statistical Applications in Genetics and Molecular Biology 3, 2004, sections 3 and 6.2. Two things
/// differ: the variances are not taken lower than they are, since samples of one page differ in kind, and the common
/// variance is the geometric mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CommonScatter {
    variance: f64,
    /// As many degrees of freedom is the common variance worth: few if the samples scatter differently.
    freedom: f64,
}

/// With fewer samples it is not known whether they scatter alike.
const COMMON_LEAST: usize = 4;
/// However alike the samples scatter, the common variance is not worth more than thirteen values.
const COMMON_FREEDOM_MAX: f64 = 12.0;
/// Variances below this are rounding.
const VARIANCE_MIN: f64 = 1e-18;

impl CommonScatter {
    /// The common scatter of samples of positive values, by the variances of their logarithms. Samples without scatter
    /// of their own, of fewer than two values or with one that is not above 0, do not count. Returns `None` for fewer
    /// than four others.
    #[must_use]
    pub fn of_samples<'a>(samples: impl IntoIterator<Item = &'a [f64]>) -> Option<Self> {
        let of_sample = |sample: &[f64]| {
            let logarithms: Vec<f64> = sample.iter().map(|value| value.ln()).collect();
            let all = Summary::of(&logarithms).filter(|all| all.n > 1)?;
            Some((all.deviation_sample.powi(2), (all.n - 1) as f64))
        };
        Self::of(&samples.into_iter().filter_map(of_sample).collect::<Vec<_>>())
    }

    /// The common scatter by variances and their degrees of freedom.
    fn of(variances: &[(f64, f64)]) -> Option<Self> {
        let of_one = |&(variance, freedom): &(f64, f64)| {
            // The logarithm of an estimated variance is low on average.
            let bias = digamma(freedom / 2.0) - (freedom / 2.0).ln();
            (variance.max(VARIANCE_MIN).ln() - bias, trigamma(freedom / 2.0))
        };
        if variances.len() < COMMON_LEAST {
            return None;
        }
        let (logarithms, of_estimate): (Vec<f64>, Vec<f64>) = variances.iter().map(of_one).unzip();
        let all = Summary::of(&logarithms)?;
        // What they scatter more than estimates of one variance do.
        let differ =
            all.deviation_sample.powi(2) - of_estimate.iter().sum::<f64>() / of_estimate.len() as f64;
        Some(Self { variance: all.mean.exp(), freedom: freedom_of(differ) })
    }

    /// The variance of a sample with `freedom` degrees of freedom of its own, and what it is worth.
    pub(crate) fn moderated(&self, variance: f64, freedom: f64) -> (f64, f64) {
        let all = self.freedom + freedom;
        (variance.max((self.freedom * self.variance + freedom * variance) / all), all)
    }
}

/// The degrees of freedom of which an estimate has logarithms with this variance, at most [`COMMON_FREEDOM_MAX`].
fn freedom_of(variance: f64) -> f64 {
    let (mut low, mut high) = (0.0, COMMON_FREEDOM_MAX);
    if variance <= trigamma(high / 2.0) {
        return high;
    }
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if trigamma(middle / 2.0) > variance { low = middle } else { high = middle }
    }
    low
}

/// The number of halvings of the range of degrees of freedom, which leave less than a millionth.
const HALVINGS: usize = 24;

/// The derivative of the digamma function, by its recurrence and its asymptotic series: Abramowitz and Stegun,
/// "Handbook of Mathematical Functions", 6.4.6 and 6.4.12.
fn trigamma(x: f64) -> f64 {
    let (mut x, mut sum) = (x, 0.0);
    while x < 6.0 {
        sum += x.powi(-2);
        x += 1.0;
    }
    let square = x.powi(-2);
    sum + 1.0 / x + square / 2.0 + square / x * (1.0 / 6.0 - square * (1.0 / 30.0 - square / 42.0))
}

/// The variances of the values of a curve, one for each point, as squares of a share of the rate, because noise grows
/// with the rate.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Scatter {
    pub(crate) variances: Vec<f64>,
    /// The degrees of freedom of each.
    pub(crate) freedom: f64,
    /// Whether all of them are one estimate.
    pub(crate) is_one: bool,
}

/// How many points on each side of a point scatter like it, so that one whose repetitions agree by chance is not more
/// certain than they are.
const ALIKE_BESIDE: usize = 2;

impl Scatter {
    /// The variance of each point by its repetitions: its own, at least the moderated one of [`CommonScatter`], and at
    /// least the mean of those around it. Returns `None` if a point has fewer than `least` repetitions, or a rate of 0.
    pub(crate) fn of_repetitions(samples: &[Sample], least: usize) -> Option<Self> {
        if samples.is_empty() || samples.iter().any(|one| one.repetitions < least || one.mean <= 0.0) {
            return None;
        }
        let of_own = |one: &Sample| (own(one).max(SCATTER_MIN * SCATTER_MIN), (one.repetitions - 1) as f64);
        let all: Vec<(f64, f64)> = samples.iter().map(of_own).collect();
        let common = CommonScatter::of(&all);
        let mut worth = f64::INFINITY;
        let of_point = |place: usize| {
            let (variance, freedom) = all[place];
            let (moderated, freedom) =
                common.map_or((variance, freedom), |common| common.moderated(variance, freedom));
            worth = worth.min(freedom);
            let around = &all[place.saturating_sub(ALIKE_BESIDE)..all.len().min(place + ALIKE_BESIDE + 1)];
            let mean = around.iter().map(|(variance, _)| variance).sum::<f64>() / around.len() as f64;
            moderated.max(mean)
        };
        let variances = (0..all.len()).map(of_point).collect();
        Some(Self { variances, freedom: worth, is_one: false })
    }

    /// The variance of each inner point around the straight line through its neighbours, which is little affected by
    /// the shape of a curve with many points. Points are in ascending order of x. Returns `None` if there are fewer
    /// than four of them, if two have the same x, or a rate is 0. What a point at `bend` is off is no scatter if the
    /// curve bends there.
    ///
    /// Source: Gasser, Sroka, Jennen-Steinmetz, "Residual variance and residual pattern in nonlinear regression",
    /// Biometrika 73, 1986.
    pub(crate) fn of_neighbours(samples: &[Sample], bend: Option<f64>) -> Option<Self> {
        let apart = samples.windows(2).all(|pair| pair[0].x < pair[1].x);
        if samples.len() < 4 || !apart || samples.iter().any(|one| one.mean <= 0.0) {
            return None;
        }
        let all = samples.windows(3).filter(|around| bend != Some(around[1].x));
        let inner = all.clone().count() as f64;
        let squares = all.map(|around| {
            let after = (around[1].x - around[0].x) / (around[2].x - around[0].x);
            let before = 1.0 - after;
            let [low, middle, high] = [0, 1, 2].map(|place| around[place].mean.ln());
            (before * low + after * high - middle).powi(2) / (before * before + after * after + 1.0)
        });
        let variance = (squares.sum::<f64>() / inner).max(SCATTER_MIN * SCATTER_MIN);
        let variances = samples.iter().map(|one| variance.max(own(one))).collect();
        Some(Self { variances, freedom: inner * FREEDOM_OF_POINT, is_one: true })
    }

    /// The variances of the means of `samples`, whose scatter it is.
    pub(crate) fn of_means(&self, samples: &[Sample]) -> impl Iterator<Item = f64> {
        let counts = samples.iter().map(|one| one.repetitions.max(1) as f64);
        self.variances.iter().zip(counts).map(|(variance, count)| variance / count)
    }
}

/// The variance of the repetitions of a point.
fn own(one: &Sample) -> f64 {
    (one.deviation / one.mean).powi(2)
}

#[cfg(test)]
mod tests {
    use super::{CommonScatter, freedom_of, trigamma};

    #[test]
    fn trigamma_has_its_tabulated_values() {
        // π² ÷ 6, π² ÷ 2, and Abramowitz and Stegun, table 6.1.
        for (x, value) in
            [(1.0, 1.644_934_066_8), (0.5, 4.934_802_200_5), (1.5, 0.934_802_200_5), (10.0, 0.105_166_335_7)]
        {
            assert!((trigamma(x) - value).abs() < 1e-8, "{x}: {}", trigamma(x));
        }
    }

    #[test]
    fn a_variance_that_is_low_by_chance_is_raised_and_a_high_one_stays() {
        let alike = CommonScatter::of(&[(4.0, 4.0); 6]).expect("six samples");
        assert!((alike.freedom - 12.0).abs() < 1e-9, "alike: {alike:?}");
        let (low, worth) = alike.moderated(0.04, 4.0);
        assert!(low > 3.0 && (worth - 16.0).abs() < 1e-9, "{low}, {worth}");
        assert!((alike.moderated(400.0, 4.0).0 - 400.0).abs() < 1e-9);
        let unlike = CommonScatter::of(&[0.001, 0.1, 1.0, 10.0, 1000.0].map(|one| (one, 4.0))).expect("five");
        assert!(
            unlike.freedom < 0.5,
            "samples that scatter differently tell little of each other: {unlike:?}"
        );
        assert_eq!(CommonScatter::of(&[(1.0, 4.0); 3]), None);
    }

    #[test]
    fn the_degrees_of_freedom_are_those_of_an_estimate_that_scatters_so_much() {
        for freedom in [0.5, 1.0, 3.0, 7.0] {
            assert!((freedom_of(trigamma(freedom / 2.0)) - freedom).abs() < 1e-5);
        }
        assert!((freedom_of(0.0) - 12.0).abs() < 1e-9);
    }
}
