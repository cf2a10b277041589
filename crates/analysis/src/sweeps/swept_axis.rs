//! The scale of a swept axis.

use crate::statistics::{Sample, Summary};

/// An axis whose end is below this multiple of its start is drawn linearly.
const GEOMETRIC_SPAN_MIN: f64 = 4.0;

/// The scale for values on the axis of a curve: logarithmic if the sweep is [`geometric`].
pub(super) fn axis(samples: &[Sample]) -> fn(f64) -> f64 {
    let logarithmic = geometric(&samples.iter().map(|sample| sample.x).collect::<Vec<_>>());
    if logarithmic { f64::log2 } else { |value| value }
}

/// Whether the values on an axis grow by a factor, that is, whether their logarithms are more evenly spaced than the
/// values.
#[must_use]
pub fn geometric(values: &[f64]) -> bool {
    let (Some(first), Some(last)) = (values.first(), values.last()) else { return false };
    if values.len() < 3 || *first <= 0.0 || last / first < GEOMETRIC_SPAN_MIN {
        return false;
    }
    let unevenness = |value: fn(f64) -> f64| {
        let steps: Vec<f64> = values.windows(2).map(|pair| value(pair[1]) - value(pair[0])).collect();
        Summary::of(&steps).map_or(f64::INFINITY, |summary| summary.variation)
    };
    unevenness(f64::log2) < unevenness(|value| value)
}
