//! The points of a curve, and their scatter: from their repetitions, or from their neighbours.

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

/// The variance of one value of a curve, as a square of a share of the rate, because noise grows with the rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scatter {
    pub(crate) variance: f64,
    /// The degrees of freedom with which it was estimated.
    pub(crate) freedom: f64,
}

impl Scatter {
    /// The variance of repetitions within points, pooled. Returns `None` if a point has fewer than `least` repetitions,
    /// or a rate of 0.
    pub(crate) fn of_repetitions(samples: &[Sample], least: usize) -> Option<Self> {
        if samples.is_empty() || samples.iter().any(|one| one.repetitions < least || one.mean <= 0.0) {
            return None;
        }
        let of_point = |one: &Sample| (one.repetitions - 1) as f64;
        let freedom: f64 = samples.iter().map(of_point).sum();
        let within: f64 = samples.iter().map(|one| of_point(one) * own(one)).sum();
        Some(Self { variance: (within / freedom).max(SCATTER_MIN * SCATTER_MIN), freedom })
    }

    /// The variance of each inner point around the straight line through its neighbours, which is little affected by
    /// the shape of a curve with many points. Points are in ascending order of x. Returns `None` if there are fewer than
    /// four of them, if two have the same x, or a rate is 0. What a point at `bend` is off is no scatter if the curve
    /// bends there.
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
        let variance = squares.sum::<f64>() / inner;
        Some(Self { variance: variance.max(SCATTER_MIN * SCATTER_MIN), freedom: inner * FREEDOM_OF_POINT })
    }

    /// The variance of the mean of a point. A point whose own repetitions scatter more than all together has its own.
    pub(crate) fn of_mean(&self, one: &Sample) -> f64 {
        self.variance.max(own(one)) / one.repetitions.max(1) as f64
    }
}

/// The variance of the repetitions of a point.
fn own(one: &Sample) -> f64 {
    (one.deviation / one.mean).powi(2)
}
