//! Detection of outliers.

/// Above this robust z-score a value is an outlier (Iglewicz and Hoaglin, "How to Detect and Handle
/// Outliers", ASQC, 1993).
pub const ROBUST_Z_MAX: f64 = 3.5;
/// Quartile of the normal distribution, which makes the median absolute deviation comparable with a
/// standard deviation.
const QUARTILE: f64 = 0.674_489_750_196_081_7;
/// Its reciprocal, 1.4826.
pub(crate) const MAD_FACTOR: f64 = 1.0 / QUARTILE;
/// `√(π/2)`: the corresponding factor for the mean absolute deviation.
const MEAN_FACTOR: f64 = 1.253_314_137_315_500_3;

/// The distance of each value from the median in robust standard deviations: `0.6745 · (x − median) ÷
/// MAD`, where MAD is the median absolute deviation from the median. Unlike mean and standard deviation,
/// neither is affected by outliers.
///
/// If more than half of the values are equal and MAD is 0, the mean absolute deviation times `√(π/2)` is
/// used instead, as the same authors recommend; if that is 0 too, all scores are 0. Returns `None` for
/// fewer than three values or if one is not finite.
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

/// The indices of the values that are outliers by more than [`ROBUST_Z_MAX`]; they are shown but still
/// count.
#[must_use]
pub fn standing_apart(values: &[f64]) -> Vec<usize> {
    let scores = robust_z(values).unwrap_or_default();
    let far = scores.iter().enumerate().filter(|(_, score)| score.abs() > ROBUST_Z_MAX);
    far.map(|(place, _)| place).collect()
}
