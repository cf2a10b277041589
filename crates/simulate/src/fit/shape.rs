//! The distribution of the time of one transfer, from the histogram of a point with one transfer in
//! flight.

use analysis::figures::Latency;

use crate::model::{Distribution, Service, Time};
use crate::simulation::parts::service::mean_between;

/// Number of steps between the quantiles; the last step is one percent.
const STEPS: u32 = 100;
/// If the 1st and 99th percentile differ by less than this share of the mean, the time is treated as fixed, because a
/// latency bucket is up to one percent wide.
const FIXED: f64 = 0.03;

/// The shape of a distribution of times, normalised to a mean of 1.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Shape {
    /// Quantiles at equal steps from the minimum to the maximum; empty if the time is fixed.
    quantiles: Vec<f64>,
    /// Squared coefficient of variation.
    pub(super) variation: f64,
}

impl Shape {
    /// The shape of a fixed time.
    pub(super) fn fixed() -> Self {
        Self { quantiles: Vec::new(), variation: 0.0 }
    }

    /// The shape of the times in `latency` minus `other_ns`, which is part of each of them.
    ///
    /// The last quantile is not the longest time, but the value with which the last hundredth has the
    /// right mean.
    pub(super) fn of(latency: &Latency, other_ns: f64) -> Self {
        let percent = |step: u32| f64::from(step) * 100.0 / f64::from(STEPS);
        let at = |step: u32| match step {
            0 => latency.min_ns() as f64,
            _ => latency.percentile(percent(step)) as f64,
        };
        let mut times: Vec<f64> = (0..=STEPS).map(|step| (at(step) - other_ns).max(0.0)).collect();
        let mean = (latency.mean_ns() - other_ns).max(1.0);
        let body = times[..times.len() - 1].windows(2).map(|pair| pair[0].midpoint(pair[1])).sum::<f64>();
        if let [.., before, last] = times.as_mut_slice() {
            *last = (2.0 * (mean * f64::from(STEPS) - body) - *before).max(*before);
        }
        let (low, high) = (times[1], times[times.len() - 2]);
        if high - low < FIXED * mean {
            return Self::fixed();
        }
        let scale = 1.0 / mean_between(&times).max(1.0);
        let quantiles: Vec<f64> = times.iter().map(|time| time * scale).collect();
        // For a uniform distribution between two quantiles, the mean of the squares is (a² + ab + b²) ÷
        // 3.
        let squares = quantiles.windows(2).map(|pair| {
            let (a, b) = (pair[0], pair[1]);
            (a * a + a * b + b * b) / 3.0
        });
        let variation = (squares.sum::<f64>() / f64::from(STEPS) - 1.0).max(0.0);
        Self { quantiles, variation }
    }

    /// The service with a mean time and a time for each byte.
    pub(super) fn service(&self, time_ns: f64, per_byte_ns: f64) -> Service {
        let rate = (per_byte_ns > 0.0).then(|| crate::model::Bandwidth((1e9 / per_byte_ns).round()));
        let quantiles: Vec<Time> = self.quantiles.iter().map(|one| nanos(one * time_ns)).collect();
        let distribution = if quantiles.is_empty() { Distribution::Fixed } else { Distribution::Empirical };
        let time = if quantiles.is_empty() { nanos(time_ns) } else { Time(0) };
        Service { time, next_time: None, rate, distribution, deviation: None, quantiles }
    }
}

/// Converts to a time, which is not negative.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a time, not negative")]
pub(super) fn nanos(time: f64) -> Time {
    Time(time.max(0.0).round() as u64)
}
