//! The duration of a request: a fixed or random part, plus bytes ÷ rate.
//!
//! Logarithms are computed with `libm`, so that the same seed gives the same times on every machine.

use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::model::{Distribution, Service};
use crate::simulation::parts::quantiles::Quantiles;
use crate::simulation::time::{TICKS_PER_NS, Ticks, ticks};

/// A service time that can be drawn.
#[derive(Debug, Clone)]
pub(crate) struct ServiceTime {
    /// Mean of the part that does not depend on the size: for a request at any position, and for one that
    /// continues the previous one.
    mean: [f64; 2],
    ticks_per_byte: f64,
    shape: Shape,
}

#[derive(Debug, Clone)]
enum Shape {
    Fixed,
    Exponential,
    /// The logarithm has a normal distribution with this mean and standard deviation, which results in a
    /// mean of 1.
    LogNormal {
        location: f64,
        scale: f64,
    },
    /// As multiples of its mean.
    Empirical(Quantiles),
}

impl ServiceTime {
    pub(crate) fn new(service: &Service) -> Self {
        let mut mean = ticks(service.time.0 as f64);
        let shape = match service.distribution {
            Distribution::Fixed => Shape::Fixed,
            Distribution::Exponential => Shape::Exponential,
            Distribution::LogNormal => {
                let deviation = service.deviation.unwrap_or(0.0);
                let variance = libm::log1p(deviation * deviation);
                Shape::LogNormal { location: -variance / 2.0, scale: libm::sqrt(variance) }
            }
            Distribution::Empirical => {
                let [steps, tail] = [&service.quantiles, &service.tail]
                    .map(|times| times.iter().map(|time| ticks(time.0 as f64)).collect::<Vec<f64>>());
                let quantiles = Quantiles::new(&steps, &tail);
                mean = quantiles.mean();
                Shape::Empirical(quantiles.scaled(1.0 / mean.max(1.0)))
            }
        };
        let next = service.next_time.map_or(mean, |time| ticks(time.0 as f64));
        let ticks_per_byte = service.rate.map_or(0.0, |rate| ticks(1e9) / rate.0);
        Self { mean: [mean, next], ticks_per_byte, shape }
    }

    /// Draws a service time for `bytes`, all of it multiplied by `factor`.
    #[inline]
    pub(crate) fn draw(
        &self,
        random: &mut Xoshiro256PlusPlus,
        bytes: u64,
        continues: bool,
        factor: f64,
    ) -> Ticks {
        let mean = self.mean[usize::from(continues)];
        let time = match &self.shape {
            Shape::Fixed => mean,
            Shape::Exponential => -mean * libm::log(uniform(random)),
            Shape::LogNormal { location, scale } => mean * libm::exp(location + scale * normal(random)),
            Shape::Empirical(quantiles) => mean * quantiles.at(uniform(random)),
        };
        whole((time + self.ticks_per_byte * bytes as f64) * factor)
    }

    /// Whether a request that continues the previous one takes another time.
    pub(crate) fn depends_on_place(&self) -> bool {
        self.mean[0].total_cmp(&self.mean[1]).is_ne()
    }

    /// Whether all requests take the same time.
    pub(crate) fn is_constant(&self) -> bool {
        matches!(self.shape, Shape::Fixed) && self.ticks_per_byte == 0.0
    }

    /// Its mean for `bytes`, in nanoseconds.
    pub(crate) fn mean_ns(&self, bytes: u64, continues: bool) -> f64 {
        (self.mean[usize::from(continues)] + self.ticks_per_byte * bytes as f64) / TICKS_PER_NS as f64
    }
}

/// A number above 0 and at most 1.
#[inline]
pub(crate) fn uniform(random: &mut Xoshiro256PlusPlus) -> f64 {
    // The upper 53 bits, plus one.
    ((random.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64
}

/// A standard normal number, by the Box-Muller method.
pub(crate) fn normal(random: &mut Xoshiro256PlusPlus) -> f64 {
    let radius = libm::sqrt(-2.0 * libm::log(uniform(random)));
    radius * libm::cos(std::f64::consts::TAU * uniform(random))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a time, not negative")]
pub(crate) fn whole(time: f64) -> Ticks {
    (time + 0.5) as Ticks
}
