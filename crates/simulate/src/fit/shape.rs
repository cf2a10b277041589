//! The distribution of the time of one transfer, from the histogram of a point with one transfer in
//! flight.

use analysis::figures::Latency;

use crate::model::{Bandwidth, Distribution, Service, Time};
use crate::simulation::parts::quantiles::{Quantiles, tail_shares};

/// Number of steps between the quantiles; the last step is one percent.
const STEPS: u32 = 100;
/// If the 1st and the 99th percentile differ by less than this share of the mean, and the last one of the tail from the
/// 99th, the time is treated as fixed, because a latency bucket is up to one percent wide.
const FIXED: f64 = 0.03;
/// A quantile is known if at least this many transfers took longer: their number then has a standard error of a third.
const BEYOND_LEAST: f64 = 10.0;

/// The shape of a distribution of times, normalised to a mean of 1.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Shape {
    /// `None` if the time is fixed.
    quantiles: Option<Quantiles>,
    /// Squared coefficient of variation.
    pub(super) variation: f64,
    /// The largest percentile that was measured; 0 if only the mean is known.
    pub(super) percentile: f64,
}

impl Shape {
    /// The shape of a time of which only the mean is known.
    pub(super) fn of_mean() -> Self {
        Self { quantiles: None, variation: 0.0, percentile: 0.0 }
    }

    /// The shape of the times in `latency` minus `other_ns`, which is part of each of them.
    ///
    /// The tail has the quantiles that enough transfers exceed. If there are none, the last quantile is not the longest
    /// time, but the value with which the last hundredth has the right mean.
    pub(super) fn of(latency: &Latency, other_ns: f64) -> Self {
        let count = latency.count() as f64;
        let is_known = |share: &f64| ((1.0 - share) * count).round() >= BEYOND_LEAST;
        let at = |share: f64| (latency.percentile(percent(share)) as f64 - other_ns).max(0.0);
        let least = (latency.min_ns() as f64 - other_ns).max(0.0);
        let between = (1..STEPS).map(|step| at(f64::from(step) / f64::from(STEPS)));
        let mut steps: Vec<f64> = [least].into_iter().chain(between).collect();
        let tail: Vec<f64> = tail_shares().take_while(is_known).map(at).collect();
        let (low, before) = (steps[1], steps[steps.len() - 1]);
        let mean = (latency.mean_ns() - other_ns).max(1.0);
        steps.push(if tail.is_empty() {
            let body = steps.windows(2).map(|pair| pair[0].midpoint(pair[1])).sum::<f64>();
            (2.0 * (mean * f64::from(STEPS) - body) - before).max(before)
        } else {
            at(1.0)
        });
        let shares = [0.9, 0.99].into_iter().chain(tail_shares());
        let percentile = shares.take_while(is_known).last().map_or(0.0, percent);
        // The noise of the passes widens the body, not the tail.
        let is_fixed = |from: f64, until: f64| until - from < FIXED * mean;
        if is_fixed(low, before) && is_fixed(before, *tail.last().unwrap_or(&before)) {
            return Self { percentile, ..Self::of_mean() };
        }
        let quantiles = Quantiles::new(&steps, &tail);
        let mean = quantiles.mean().max(1.0);
        let quantiles = quantiles.scaled(1.0 / mean);
        let variation = (quantiles.mean_square() - 1.0).max(0.0);
        Self { quantiles: Some(quantiles), variation, percentile }
    }

    /// The service with a mean time and a time for each byte.
    pub(super) fn service(&self, time_ns: f64, per_byte_ns: f64) -> Service {
        let rate = (per_byte_ns > 0.0).then(|| Bandwidth((1e9 / per_byte_ns).round()));
        let times = |one: f64| nanos(one * time_ns);
        let (steps, tail) = match &self.quantiles {
            Some(all) => (all.steps().map(times).collect(), all.tail().map(times).collect()),
            None => (Vec::new(), Vec::new()),
        };
        let is_fixed = steps.is_empty();
        Service {
            time: if is_fixed { nanos(time_ns) } else { Time(0) },
            next_time: None,
            rate,
            distribution: if is_fixed { Distribution::Fixed } else { Distribution::Empirical },
            deviation: None,
            quantiles: steps,
            tail,
        }
    }
}

/// A share as a percentile, without what the binary representation adds: `99.99`.
fn percent(share: f64) -> f64 {
    (share * 1e11).round() / 1e9
}

/// Converts to a time, which is not negative.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a time, not negative")]
pub(super) fn nanos(time: f64) -> Time {
    Time(time.max(0.0).round() as u64)
}
