//! A straight line through points, its uncertainty, and where it reaches a plateau.

use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::statistics::{CONFIDENCE, whole};

/// A least-squares line, `y = intercept + slope · x`, with its uncertainty.
///
/// Draper and Smith, "Applied Regression Analysis", 3rd edition, 1998, sections 1.2 to 1.4 and 3.1: `Sxx = Σ(x −
/// x̄)²`, `slope = Σ(x − x̄)(y − ȳ) ÷ Sxx`, and the residual variance `s² = Σ(residual²) ÷ (n − 2)`. Intervals have
/// [`CONFIDENCE`] and assume independent, normally distributed residuals.
///
/// ```
/// let nodes: Vec<f64> = (1..=16).map(f64::from).collect();
/// let rates: Vec<f64> = nodes.iter().map(|n| 5153.0 * n).collect();
/// let line = analysis::statistics::Regression::of(&nodes, &rates).expect("sixteen points");
/// assert_eq!((line.slope, line.r_squared), (5153.0, 1.0));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Regression {
    /// The number of points.
    pub n: usize,
    /// Increase of y per unit of x.
    pub slope: f64,
    /// y at x = 0.
    pub intercept: f64,
    /// Share of the variance of y that the line explains, `1 − Σ(residual²) ÷ Σ(y − ȳ)²`; 0 if all y are equal.
    pub r_squared: f64,
    /// y minus the line for each point, in the given order.
    pub residuals: Vec<f64>,
    /// The uncertainty from the scatter. `None` for two points, which any line fits exactly.
    pub uncertainty: Option<Uncertainty>,
    mean_x: f64,
    squares_x: f64,
    range_x: (f64, f64),
}

/// The uncertainty of a line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Uncertainty {
    /// Standard deviation of the residuals, s, with n − 2 degrees of freedom.
    pub deviation: f64,
    /// Half width of the interval of the slope, `t · s ÷ √Sxx`.
    pub slope_half_width: f64,
    /// Half width of the interval of the intercept, `t · s · √(1/n + x̄² ÷ Sxx)`.
    pub intercept_half_width: f64,
    /// t: Student's for [`CONFIDENCE`] (two-sided) and n − 2 degrees of freedom.
    pub student: f64,
}

/// The value of a line at one x.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prediction {
    /// The line at x.
    pub value: f64,
    /// Half width of the interval for the line itself, `t · s · √(1/n + (x − x̄)² ÷ Sxx)`.
    pub line_half_width: Option<f64>,
    /// Half width of the interval for one more measurement, `t · s · √(1 + 1/n + (x − x̄)² ÷ Sxx)`.
    pub half_width: Option<f64>,
    /// Whether x is outside the range of the points: the interval does not account for the possibility that the line
    /// does not continue.
    pub extrapolated: bool,
}

impl Regression {
    /// The line through `(x, y)`. Returns `None` if the lists differ in length, have fewer than two points or a value
    /// that is not finite, or if all x are equal.
    #[must_use]
    pub fn of(x: &[f64], y: &[f64]) -> Option<Self> {
        let n = x.len();
        if n < 2 || n != y.len() || x.iter().chain(y).any(|value| !value.is_finite()) {
            return None;
        }
        let count = n as f64;
        let (mean_x, mean_y) = (x.iter().sum::<f64>() / count, y.iter().sum::<f64>() / count);
        let squares_x: f64 = x.iter().map(|x| (x - mean_x).powi(2)).sum();
        let squares_y: f64 = y.iter().map(|y| (y - mean_y).powi(2)).sum();
        if squares_x == 0.0 {
            return None;
        }
        let products: f64 = x.iter().zip(y).map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
        let slope = products / squares_x;
        let intercept = mean_y - slope * mean_x;
        // Computed relative to the means, which is accurate near the points even if the intercept is far away.
        let residual = |(x, y): (&f64, &f64)| (y - mean_y) - slope * (x - mean_x);
        let residuals: Vec<f64> = x.iter().zip(y).map(residual).collect();
        let squares: f64 = residuals.iter().map(|residual| residual.powi(2)).sum();
        let r_squared = if squares_y == 0.0 { 0.0 } else { (1.0 - squares / squares_y).max(0.0) };
        let range_x =
            x.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &x| (low.min(x), high.max(x)));
        let uncertainty = (n > 2).then(|| {
            let deviation = (squares / (count - 2.0)).sqrt();
            let student = student(count - 2.0);
            Uncertainty {
                deviation,
                slope_half_width: student * (deviation / squares_x.sqrt()),
                intercept_half_width: student
                    * (deviation * (1.0 / count + mean_x.powi(2) / squares_x).sqrt()),
                student,
            }
        });
        Some(Self { n, slope, intercept, r_squared, residuals, uncertainty, mean_x, squares_x, range_x })
    }

    /// The value of the line at `x`, within or outside the range of the points.
    #[must_use]
    pub fn predict(&self, x: f64) -> Prediction {
        let leverage = 1.0 / self.n as f64 + (x - self.mean_x).powi(2) / self.squares_x;
        let half_width = |share: f64| {
            self.uncertainty.map(|uncertainty| uncertainty.student * uncertainty.deviation * share.sqrt())
        };
        Prediction {
            value: self.intercept + self.slope * x,
            line_half_width: half_width(leverage),
            half_width: half_width(1.0 + leverage),
            extrapolated: x < self.range_x.0 || x > self.range_x.1,
        }
    }
}

/// The quantile of Student's t for the two-sided [`CONFIDENCE`].
pub(crate) fn student(freedom: f64) -> f64 {
    StudentsT::new(0.0, 1.0, freedom)
        .map_or(f64::INFINITY, |student| student.inverse_cdf(1.0 - (1.0 - CONFIDENCE) / 2.0))
}

/// The smallest whole number `n`, at least 1, at which `intercept + slope · n` reaches `plateau`: the number of nodes
/// from which local devices are faster than a shared layer that does not grow.
///
/// ```
/// assert_eq!(analysis::statistics::crossover(378.0, 0.0, 4400.0), Some(12));
/// ```
#[must_use]
pub fn crossover(slope: f64, intercept: f64, plateau: f64) -> Option<u64> {
    // A whole number with a rounding error must not be rounded up to the next one.
    let exact = ((plateau - intercept) / slope * (1.0 - 1e-12)).ceil();
    match [slope, intercept, plateau].iter().all(|value| value.is_finite()) {
        true if intercept + slope >= plateau => Some(1),
        true if slope > 0.0 && exact < 9e15 => Some(whole(exact)),
        _ => None,
    }
}
