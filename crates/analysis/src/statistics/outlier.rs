//! Values that stand apart from the others.

/// Above this a value stands apart (Iglewicz and Hoaglin, "How to Detect and Handle Outliers",
/// ASQC, 1993).
pub const ROBUST_Z_MAX: f64 = 3.5;
/// Quartile of the normal distribution: makes the median absolute deviation comparable with a
/// standard deviation.
const QUARTILE: f64 = 0.674_489_750_196_081_7;
/// One divided by it, 1.4826.
pub(crate) const MAD_FACTOR: f64 = 1.0 / QUARTILE;
/// `√(π/2)`: the same for the mean absolute deviation.
const MEAN_FACTOR: f64 = 1.253_314_137_315_500_3;

/// How far each value is from the median, in robust standard deviations: `0.6745 · (x − median) ÷
/// MAD`, where MAD is the median of all distances from the median. Unlike a standard deviation,
/// neither is moved by the values that stand apart.
///
/// Where more than half of the values are equal and MAD is 0, the mean distance times `√(π/2)` takes its
/// place, as the same authors advise; where that is 0 too, all are 0. None for fewer than three
/// values or one that is not finite.
#[must_use]
pub fn robust_z(values: &[f64]) -> Option<Vec<f64>> {
    if values.len() < 3 {
        return None;
    }
    let center = crate::statistics::Summary::of(values)?.median;
    let distances: Vec<f64> = values.iter().map(|value| (value - center).abs()).collect();
    let all = crate::statistics::Summary::of(&distances)?;
    let unit = if all.median > 0.0 { all.median / QUARTILE } else { all.mean * MEAN_FACTOR };
    let score = |value: &f64| if unit > 0.0 { (value - center) / unit } else { 0.0 };
    Some(values.iter().map(score).collect())
}

/// The places of the values that stand apart by more than [`ROBUST_Z_MAX`]; they are shown and
/// still count.
#[must_use]
pub fn standing_apart(values: &[f64]) -> Vec<usize> {
    let scores = robust_z(values).unwrap_or_default();
    let far = scores.iter().enumerate().filter(|(_, score)| score.abs() > ROBUST_Z_MAX);
    far.map(|(place, _)| place).collect()
}
