//! Whether repetitions show that a curve is not flat or not a straight line: the only place that decides which shapes
//! are stated.

use statrs::distribution::{ContinuousCDF, FisherSnedecor};

use crate::statistics::{DIFFERENCE_LEVEL, Sample, scatter::Scatter};

/// The minimum number of repetitions of each point for estimating their scatter.
pub const FIT_REPETITIONS_LEAST: usize = 3;
/// The minimum number of points for a shape: with the two parameters of a line, three points leave too little to
/// test.
pub const FIT_POINTS_LEAST: usize = 4;
/// The weights of a line are computed from the line itself; after this many iterations they hardly change any more.
const ROUNDS: usize = 3;

/// A model of a curve: a constant rate, or a straight line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Model {
    Flat,
    Straight,
}

/// Whether the points are farther from `model` than the scatter explains. Returns `None` if there are too few points,
/// or too few repetitions of one. This is a test for lack of fit: the squares of the points' distances from the model,
/// each ÷ the variance of its point (`Scatter::of_repetitions`), are compared with an F distribution at
/// [`DIFFERENCE_LEVEL`]. Points may scatter differently, as they do where a system gets full. The squares are of relative
/// distances, because noise grows with the rate.
///
/// Source: Johansen, "The Welch–James approximation to the distribution of the residual sum of squares in a weighted
/// linear regression", Biometrika 67, 1980; for the flat model it is Welch's analysis of variance, Biometrika 38, 1951.
#[must_use]
pub fn lack_of_fit(samples: &[Sample], model: Model) -> Option<bool> {
    Some(is_off(samples, model, &Scatter::of_repetitions(samples, FIT_REPETITIONS_LEAST)?)?.1)
}

/// The line through `samples`, and whether they are farther from it than `scatter` explains.
fn is_off(samples: &[Sample], model: Model, scatter: &Scatter) -> Option<(Line, bool)> {
    let line = Line::through(samples, model, scatter)?;
    let freedom = samples.len() as f64 - if model == Model::Flat { 1.0 } else { 2.0 };
    let is_off = if scatter.is_one {
        exceeds(line.squares / freedom, freedom, scatter.freedom)
    } else {
        let estimated: f64 = line.leverages.iter().map(|leverage| (1.0 - leverage).powi(2)).sum();
        let estimated = estimated / scatter.freedom;
        let scale = freedom + 2.0 * estimated - 6.0 * estimated / (freedom + 2.0);
        exceeds(line.squares / scale, freedom, freedom * (freedom + 2.0) / (3.0 * estimated))
    };
    Some((line, is_off))
}

/// Whether a line with a slope is stated: the flat model is rejected, and the straight line is not.
pub(crate) fn rises_straight(samples: &[Sample]) -> bool {
    lack_of_fit(samples, Model::Flat) == Some(true) && lack_of_fit(samples, Model::Straight) == Some(false)
}

/// Whether a line that bends down at `x` describes the curve better than a straight one, by the F test for one more
/// parameter at [`DIFFERENCE_LEVEL`], and the straight line is rejected.
///
/// Source: Draper and Smith, as above, sections 6.1 and 14.3 (a join point at a known value).
#[must_use]
pub fn bends_at(samples: &[Sample], x: f64) -> bool {
    Scatter::of_repetitions(samples, FIT_REPETITIONS_LEAST).is_some_and(|scatter| bends(samples, x, &scatter))
}

/// The same for points that were measured once, with the scatter of neighbours alone: between few points, a rise that
/// is no straight line on this axis is farther from any line than they scatter.
#[must_use]
pub fn bends_once_at(samples: &[Sample], x: f64) -> bool {
    Scatter::of_neighbours(samples, Some(x)).is_some_and(|scatter| bends(samples, x, &scatter))
}

fn bends(samples: &[Sample], x: f64, scatter: &Scatter) -> bool {
    let Some((line, true)) = is_off(samples, Model::Straight, scatter) else { return false };
    // The residuals of the bend and of the rates after the line was fitted to both.
    let bend = samples.iter().map(|one| (one.x - x).max(0.0)).collect::<Vec<_>>();
    let bend = left_of(samples, &line.weights, &bend, Model::Straight);
    let (of_both, of_bend) =
        (product(&line.weights, &bend, &line.left), product(&line.weights, &bend, &bend));
    let freedom = samples.len() as f64 - 3.0;
    let gain = of_both * of_both / of_bend;
    // Weights are 1 ÷ variance, so the scatter is 1.
    let error = ((line.squares - gain).max(0.0) / freedom).max(1.0);
    let (error, freedom) = if scatter.is_one { (1.0, scatter.freedom) } else { (error, freedom) };
    of_both < 0.0 && of_bend > 0.0 && exceeds(gain / error, 1.0, freedom)
}

fn exceeds(ratio: f64, freedom: f64, of_error: f64) -> bool {
    FisherSnedecor::new(freedom, of_error).is_ok_and(|f| f.sf(ratio) <= DIFFERENCE_LEVEL)
}

/// A weighted least-squares line through the means of the points.
struct Line {
    /// 1 ÷ the variance of each mean.
    weights: Vec<f64>,
    /// What each mean weighs in its own fitted value.
    leverages: Vec<f64>,
    /// Mean − line.
    left: Vec<f64>,
    /// Weighted sum of squares of [`Line::left`].
    squares: f64,
}

impl Line {
    /// Returns `None` if there are not enough data to test it.
    fn through(samples: &[Sample], model: Model, scatter: &Scatter) -> Option<Self> {
        if samples.len() < FIT_POINTS_LEAST || samples.iter().any(|one| one.mean <= 0.0) {
            return None;
        }
        let means: Vec<f64> = samples.iter().map(|one| one.mean).collect();
        let variances: Vec<f64> = scatter.of_means(samples).collect();
        let (mut weights, mut left) = (Vec::new(), vec![0.0; samples.len()]);
        for _ in 0..ROUNDS {
            let weight = |((mean, left), variance): ((&f64, &f64), &f64)| {
                let fitted = if mean > left { mean - left } else { *mean };
                1.0 / (fitted * fitted * variance)
            };
            weights = means.iter().zip(&left).zip(&variances).map(weight).collect();
            left = left_of(samples, &weights, &means, model);
        }
        let leverages = leverages(samples, &weights, model);
        Some(Self { squares: product(&weights, &left, &left), weights, leverages, left })
    }
}

fn leverages(samples: &[Sample], weights: &[f64], model: Model) -> Vec<f64> {
    let all: f64 = weights.iter().sum();
    let x: Vec<f64> = samples.iter().map(|one| one.x).collect();
    let x = left_of(samples, weights, &x, Model::Flat);
    let squares = product(weights, &x, &x);
    let of_slope = |weight: f64, x: f64| if model == Model::Flat { 0.0 } else { weight * x * x / squares };
    weights.iter().zip(&x).map(|(weight, x)| weight / all + of_slope(*weight, *x)).collect()
}

/// The residuals of `values` after a weighted line was fitted.
fn left_of(samples: &[Sample], weights: &[f64], values: &[f64], model: Model) -> Vec<f64> {
    let all: f64 = weights.iter().sum();
    let centred = |values: &[f64]| {
        let mean = weights.iter().zip(values).map(|(weight, value)| weight * value).sum::<f64>() / all;
        values.iter().map(|value| value - mean).collect::<Vec<_>>()
    };
    let x = centred(&samples.iter().map(|one| one.x).collect::<Vec<_>>());
    let y = centred(values);
    let slope = match model {
        Model::Flat => 0.0,
        Model::Straight => product(weights, &x, &y) / product(weights, &x, &x),
    };
    x.iter().zip(&y).map(|(x, y)| y - slope * x).collect()
}

/// The weighted sum of products.
fn product(weights: &[f64], one: &[f64], other: &[f64]) -> f64 {
    weights.iter().zip(one).zip(other).map(|((weight, one), other)| weight * one * other).sum()
}
