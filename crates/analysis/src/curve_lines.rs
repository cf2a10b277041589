//! Straight lines through curves.

use crate::curve::{Curve, CurveRegression, Sample};
use crate::lack_of_fit::rises_straight;
use crate::regression::Regression;

/// Keys that count what works side by side: a straight line through their curves says what one
/// more brings.
const COUNTED: [&str; 3] = ["nodes", "tasks", "tasks_per_node"];

/// Whether a curve is over one of them.
pub(crate) fn is_counted(curve: &Curve) -> bool {
    COUNTED.contains(&curve.axis.as_str())
}

/// A straight line through each curve over a number of nodes or tasks, where the curve is not flat and repetitions do
/// not show that it is none: not through one that saturates, nor one with a disqualified point.
#[must_use]
pub fn regressions(curves: &[Curve]) -> Vec<CurveRegression> {
    let counted = curves.iter().enumerate().filter(|(_, curve)| is_counted(curve));
    counted
        .filter(|(_, curve)| is_line(curve))
        .filter_map(|(place, curve)| regression(place, curve))
        .collect()
}

fn is_line(curve: &Curve) -> bool {
    let samples: Vec<Sample> = curve.points.iter().map(Sample::from).collect();
    curve.points.iter().all(|point| point.usable) && rises_straight(&samples)
}

/// The line through the curve at `place`; none where it has fewer than three points.
pub(crate) fn regression(place: usize, curve: &Curve) -> Option<CurveRegression> {
    let x: Vec<f64> = curve.points.iter().map(|point| point.x).collect();
    let y: Vec<f64> = curve.points.iter().map(|point| point.rate).collect();
    let line = Regression::of(&x, &y)?;
    Some(CurveRegression {
        curve: place,
        slope: line.slope,
        slope_half_width: line.uncertainty?.slope_half_width,
        intercept: line.intercept,
        r_squared: line.r_squared,
    })
}
