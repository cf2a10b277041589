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
/// or too few repetitions of one. This is the test for lack of fit: the mean square of the points' distances from the
/// model ÷ the mean square of repetitions within points, compared with the F distribution at [`DIFFERENCE_LEVEL`].
/// The squares are of relative distances, because noise grows with the rate.
///
/// Source: Draper and Smith, "Applied Regression Analysis", 3rd edition, 1998, section 2.1; for the flat model it is
/// the one-way analysis of variance.
#[must_use]
pub fn lack_of_fit(samples: &[Sample], model: Model) -> Option<bool> {
    Some(is_off(samples, model, Scatter::of_repetitions(samples, FIT_REPETITIONS_LEAST)?)?.1)
}

/// The line through `samples`, and whether they are farther from it than `scatter` explains.
fn is_off(samples: &[Sample], model: Model, scatter: Scatter) -> Option<(Line, bool)> {
    let line = Line::through(samples, model)?;
    let freedom = samples.len() as f64 - if model == Model::Flat { 1.0 } else { 2.0 };
    let is_off = exceeds(line.squares / freedom / scatter.variance, freedom, scatter.freedom);
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
    Scatter::of_repetitions(samples, FIT_REPETITIONS_LEAST)
        .is_some_and(|scatter| bends(samples, x, scatter, false))
}

/// The same for points that were measured once, with the scatter of neighbours alone: between few points, a rise that
/// is no straight line on this axis is farther from any line than they scatter.
#[must_use]
pub fn bends_once_at(samples: &[Sample], x: f64) -> bool {
    Scatter::of_neighbours(samples, Some(x)).is_some_and(|scatter| bends(samples, x, scatter, true))
}

fn bends(samples: &[Sample], x: f64, scatter: Scatter, by_scatter: bool) -> bool {
    let Some((line, true)) = is_off(samples, Model::Straight, scatter) else { return false };
    // The residuals of the bend and of the rates after the line was fitted to both.
    let bend = samples.iter().map(|one| (one.x - x).max(0.0)).collect::<Vec<_>>();
    let bend = left_of(samples, &line.weights, &bend, Model::Straight);
    let (of_both, of_bend) =
        (product(&line.weights, &bend, &line.left), product(&line.weights, &bend, &bend));
    let freedom = samples.len() as f64 - 3.0;
    let gain = of_both * of_both / of_bend;
    let error = ((line.squares - gain).max(0.0) / freedom).max(scatter.variance);
    let (error, freedom) = if by_scatter { (scatter.variance, scatter.freedom) } else { (error, freedom) };
    of_both < 0.0 && of_bend > 0.0 && exceeds(gain / error, 1.0, freedom)
}

fn exceeds(ratio: f64, freedom: f64, of_error: f64) -> bool {
    FisherSnedecor::new(freedom, of_error).is_ok_and(|f| f.sf(ratio) <= DIFFERENCE_LEVEL)
}

/// A weighted least-squares line through the means of the points.
struct Line {
    /// Repetitions ÷ squared rate, for each point.
    weights: Vec<f64>,
    /// Mean − line.
    left: Vec<f64>,
    /// Weighted sum of squares of [`Line::left`].
    squares: f64,
}

impl Line {
    /// Returns `None` if there are not enough data to test it.
    fn through(samples: &[Sample], model: Model) -> Option<Self> {
        if samples.len() < FIT_POINTS_LEAST || samples.iter().any(|one| one.mean <= 0.0) {
            return None;
        }
        let means: Vec<f64> = samples.iter().map(|one| one.mean).collect();
        let (mut weights, mut left) = (Vec::new(), vec![0.0; samples.len()]);
        for _ in 0..ROUNDS {
            let weight = |(one, left): (&Sample, &f64)| {
                let fitted = if one.mean > *left { one.mean - left } else { one.mean };
                one.repetitions as f64 / (fitted * fitted)
            };
            weights = samples.iter().zip(&left).map(weight).collect();
            left = left_of(samples, &weights, &means, model);
        }
        Some(Self { squares: product(&weights, &left, &left), weights, left })
    }
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
