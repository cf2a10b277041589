//! The fit of a sweep, and the samples from which its intervals are computed.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use record::Run;

use super::network::{Load, Nodes, simulate};
use super::search::{
    AS_GOOD, FLOOR, Joint, Limited, Measured, Observation, Solution, at_slots, criterion, predicted, search,
    search_near,
};
use super::shape::Shape;
use super::sweep::{Direction, Point, Sweep};
use crate::simulation::parts::service::{ServiceTime, normal, uniform};

/// Number of bootstrap samples. 95 % intervals need at least two hundred (Efron and Tibshirani, "An Introduction to
/// the Bootstrap", 1993, chapter 6).
const SAMPLES: usize = 200;
/// The ends of a 95 % interval.
const TAILS: [f64; 2] = [0.025, 0.975];
/// If a rate is below this share of what the response time alone would permit, it is limited by the
/// capacity.
const KNEE: f64 = 0.9;
/// Number of times that the closed form is corrected by simulation.
const CORRECTIONS: usize = 2;
/// If the criterion of a network is higher by more than this, the network is excluded (Raftery, "Bayesian Model
/// Selection in Social Research", Sociological Methodology 25, 1995: strong evidence).
const NOT_EXCLUDED: f64 = 6.0;
/// Maximum number of steps to more or fewer slots, and the divisor that gives the size of a step.
const STEPS_MAX: usize = 10;
const SLOTS_SHARE: u32 = 40;
/// Maximum share of the response time that can be processor time.
const PROCESSOR_SHARE_MAX: f64 = 0.95;

/// A fit with its bootstrap samples.
#[derive(Debug, Clone)]
pub(super) struct Fit {
    pub(super) nodes: Nodes,
    pub(super) joint: Joint,
    pub(super) directions: Vec<FittedDirection>,
    samples: Vec<Joint>,
    /// Other networks that are not excluded by the points.
    pub(super) others: Vec<Joint>,
    /// Standard deviation of the logarithm of the rate between repetitions.
    pub(super) noise: f64,
    seed: u64,
}

/// One direction of a fit.
#[derive(Debug, Clone)]
pub(super) struct FittedDirection {
    pub(super) shape: Shape,
    observations: Vec<Observation>,
    /// Standard deviation of the residuals of the logarithm of the rate.
    misfit: f64,
    /// Maximum number of transfers in flight.
    pub(super) most: u32,
}

/// A network with corrections from its own simulation.
#[derive(Debug, Clone)]
struct Refined {
    joint: Joint,
    /// The observations of each direction.
    corrected: Vec<Vec<Observation>>,
}

impl Refined {
    fn criterion(&self) -> f64 {
        criterion(&self.joint.solutions)
    }
}

/// A value with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Estimate {
    pub(super) value: f64,
    pub(super) low: f64,
    pub(super) high: f64,
}

impl Estimate {
    /// Half the width of the interval, as a share of the value.
    pub(super) fn half_width(&self) -> f64 {
        (self.high - self.low) / 2.0 / self.value
    }
}

/// Determines the processor time from the point that needs the least, because it also includes work at
/// the beginning of a phase.
pub(super) fn nodes(run: &Run, sweep: &Sweep) -> Nodes {
    let points = || sweep.directions.iter().flat_map(|one| &one.points);
    let least = points().map(|point| point.processor_ns).fold(f64::INFINITY, f64::min);
    let response = points().map(|point| point.mean()[1].exp()).fold(f64::INFINITY, f64::min);
    let request_ns = if least.is_finite() { least.min(response * PROCESSOR_SHARE_MAX) } else { 0.0 };
    let of_one = run.manifest.host.usable_cpus.max(1);
    Nodes { request_ns, processors: of_one.saturating_mul(sweep.nodes) }
}

impl Fit {
    /// The fit of `directions`, or `None` if nothing fits.
    pub(super) fn of(directions: &[Direction], nodes: Nodes, seed: u64) -> Option<Self> {
        let fitted = directions.iter().map(|direction| FittedDirection {
            shape: shape(direction, &nodes),
            observations: direction
                .points
                .iter()
                .map(|point| Observation { load: point.load, measured: point.mean(), correction: [0.0; 2] })
                .collect(),
            misfit: 0.0,
            most: direction.points.iter().map(|point| point.load.in_flight()).max().unwrap_or(1),
        });
        let mut fit = Self {
            nodes,
            joint: Joint { slots: 1, as_good: [1; 2], solutions: Vec::new() },
            directions: fitted.collect(),
            samples: Vec::new(),
            others: Vec::new(),
            noise: noise(directions),
            seed,
        };
        let most = fit.directions.iter().map(|one| one.most).max()?;
        let starts = [Limited::No, Limited::Perhaps, Limited::Yes].into_iter();
        let mut starts: Vec<Joint> =
            starts.filter_map(|limited| search(&nodes, &fit.measured(), limited)).collect();
        starts.dedup_by_key(|start| start.parts());
        let mut tried: Vec<Refined> = Vec::new();
        for start in &starts {
            fit.climb(directions, start, most, &mut tried);
        }
        // If more slots make no difference, a rate limit may have been reached before.
        let limited = starts.last().filter(|start| start.has_limit());
        tried.extend(limited.map(|start| fit.refined(directions, most, &start.solutions)));
        let least = tried.iter().map(Refined::criterion).min_by(f64::total_cmp)?;
        let within = |more: f64| tried.iter().filter(move |one| one.criterion() <= least + more);
        let is_limited = |one: &&Refined| one.joint.has_limit();
        let best = within(AS_GOOD)
            .min_by(|a, b| is_limited(a).cmp(&is_limited(b)).then(a.criterion().total_cmp(&b.criterion())))?
            .clone();
        fit.others = within(NOT_EXCLUDED).map(|one| one.joint.clone()).collect();
        let slots = || fit.others.iter().map(|one| one.slots);
        let as_good = [slots().min()?, slots().max()?];
        fit.take(&best);
        fit.joint.as_good = as_good;
        for (index, direction) in fit.directions.iter_mut().enumerate() {
            let squares = fit.joint.solutions[index].squares / 2.0;
            let parameters = 2.0_f64.min(direction.observations.len() as f64 - 1.0);
            direction.misfit = (squares / (direction.observations.len() as f64 - parameters)).sqrt();
        }
        fit.samples = fit.sampled(directions);
        Some(fit)
    }

    /// Tries more and fewer slots than `start` has, as long as the fit improves.
    fn climb(&self, directions: &[Direction], start: &Joint, most: u32, tried: &mut Vec<Refined>) {
        let first = self.refined(directions, start.slots, &start.solutions);
        for more in [false, true] {
            let mut best = first.clone();
            for _ in 0..STEPS_MAX {
                let step = (best.joint.slots / SLOTS_SHARE).max(1);
                let slots =
                    if more { best.joint.slots + step } else { best.joint.slots.saturating_sub(step) };
                if !(1..=most).contains(&slots) {
                    break;
                }
                let next = self.refined(directions, slots, &best.joint.solutions);
                let is_better = next.criterion() < best.criterion();
                tried.push(next.clone());
                if !is_better {
                    break;
                }
                best = next;
            }
        }
        tried.push(first);
    }

    /// The least-squares solution for this number of slots. The errors of the closed form are corrected with
    /// simulations of the same network.
    fn refined(&self, directions: &[Direction], slots: u32, from: &[Solution]) -> Refined {
        let mut fit = Self { samples: Vec::new(), ..self.clone() };
        fit.joint = Joint { slots, as_good: [slots; 2], solutions: from.to_vec() };
        for _ in 0..CORRECTIONS {
            fit.correct(directions);
            fit.joint.solutions = at_slots(&fit.nodes, &fit.measured(), slots, &fit.joint.solutions);
        }
        fit.correct(directions);
        for index in 0..fit.directions.len() {
            let observations = &fit.directions[index].observations;
            let squares = observations.iter().map(|one| {
                let predicted = fit.closed(index, &fit.joint, one);
                (one.measured[0] - predicted[0]).powi(2) + (one.measured[1] - predicted[1]).powi(2)
            });
            let squares = squares.sum();
            fit.joint.solutions[index] = fit.joint.solutions[index].with(squares, observations.len());
        }
        let corrected = fit.directions.into_iter().map(|one| one.observations).collect();
        Refined { joint: fit.joint, corrected }
    }

    fn take(&mut self, refined: &Refined) {
        self.joint = refined.joint.clone();
        for (direction, observations) in self.directions.iter_mut().zip(&refined.corrected) {
            direction.observations.clone_from(observations);
        }
    }

    fn measured(&self) -> Vec<Measured<'_>> {
        let of = |one| {
            let FittedDirection { shape, observations, .. }: &FittedDirection = one;
            Measured { observations: observations.as_slice(), variation: shape.variation }
        };
        self.directions.iter().map(of).collect()
    }

    /// Determines the error of the closed form at each point from a simulation.
    fn correct(&mut self, directions: &[Direction]) {
        for (index, direction) in directions.iter().enumerate() {
            for (place, point) in direction.points.iter().enumerate() {
                let correction = self.correction(index, point);
                self.directions[index].observations[place].correction = correction;
            }
        }
    }

    fn correction(&self, index: usize, point: &Point) -> [f64; 2] {
        let bare = Observation { load: point.load, measured: [0.0; 2], correction: [0.0; 2] };
        let closed = self.closed(index, &self.joint, &bare);
        let simulated = self.simulated(index, point.load, point.transfers);
        [simulated[0] - closed[0], simulated[1] - closed[1]]
    }

    fn closed(&self, index: usize, joint: &Joint, at: &Observation) -> [f64; 2] {
        let variation = self.directions[index].shape.variation;
        predicted(&self.nodes, &joint.solutions[index].station, joint.slots, variation, at)
    }

    /// Logarithms of the rate and the latency in a simulation of the fitted network.
    pub(super) fn simulated(&self, index: usize, load: Load, transfers: u64) -> [f64; 2] {
        let station = &self.joint.solutions[index].station;
        let service = self.directions[index].shape.service(station.time_ns, station.per_byte_ns);
        let service = ServiceTime::new(&service);
        let (rate, latency) =
            simulate(&self.nodes, station, &service, self.joint.slots, load, transfers, self.seed);
        [rate.ln(), latency.ln()]
    }

    /// Fits of repetitions that are drawn from those of each point, with residuals whose sign is random.
    fn sampled(&self, directions: &[Direction]) -> Vec<Joint> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(self.seed);
        let sample = |random: &mut Xoshiro256PlusPlus| {
            let mut all: Vec<Vec<Observation>> = Vec::new();
            for (index, direction) in directions.iter().enumerate() {
                let observations = &self.directions[index].observations;
                let of = |(point, own): (&Point, &Observation)| {
                    let drawn = drawn(point, random);
                    let sign = if uniform(random) < 0.5 { -1.0 } else { 1.0 };
                    let fitted = self.closed(index, &self.joint, own);
                    let measured = [0, 1].map(|which| {
                        let residual = own.measured[which] - fitted[which];
                        fitted[which] + sign * residual + drawn[which] - own.measured[which]
                    });
                    Observation { measured, ..*own }
                };
                all.push(direction.points.iter().zip(observations).map(of).collect());
            }
            let measured: Vec<Measured<'_>> = all
                .iter()
                .zip(&self.directions)
                .map(|(observations, one)| Measured { observations, variation: one.shape.variation })
                .collect();
            search_near(&self.nodes, &measured, &self.joint)
        };
        (0..SAMPLES).filter_map(|_| sample(&mut random)).collect()
    }

    /// Whether the capacity was observed in a direction, that is, at some point more transfers in flight
    /// do not increase the rate accordingly.
    pub(super) fn is_saturated(&self, index: usize) -> bool {
        let station = &self.joint.solutions[index].station;
        let limited = |one: &Observation| {
            let bytes = one.load.bytes;
            let response = self.nodes.request_ns + station.pause_ns(bytes) + station.service_ns(bytes);
            let alone = f64::from(one.load.in_flight()) / response;
            one.measured[0].exp() < KNEE * alone
        };
        self.directions[index].observations.iter().any(limited)
    }

    /// Predicted transfers per second at `point`, which need not belong to the fit, with the interval of
    /// the mean of its repetitions.
    pub(super) fn predict(&self, index: usize, point: &Point) -> Estimate {
        let correction = self.correction(index, point);
        let at = Observation { load: point.load, measured: [0.0; 2], correction };
        let mut random = Xoshiro256PlusPlus::seed_from_u64(self.seed ^ 1);
        let off = self.off(index, point);
        let drawn = self
            .samples
            .iter()
            .map(|joint| (self.closed(index, joint, &at)[0] + off * normal(&mut random)).exp() * 1e9);
        estimate(self.closed(index, &self.joint, &at)[0].exp() * 1e9, drawn.collect())
    }

    /// Standard deviation of the logarithm of a measured mean rate relative to the predicted one.
    pub(super) fn off(&self, index: usize, point: &Point) -> f64 {
        let of_mean = self.noise / (point.passes.len().max(1) as f64).sqrt();
        of_mean.hypot(self.directions[index].misfit).hypot(FLOOR)
    }

    /// A parameter of a direction. Its interval includes those of the networks that are not excluded.
    pub(super) fn parameter(&self, of: impl Fn(&Joint) -> f64) -> Estimate {
        let own = estimate(of(&self.joint), self.samples.iter().map(&of).collect());
        let others = self.others.iter().map(&of).filter(|value| value.is_finite());
        others.fold(own, |own, value| Estimate { low: own.low.min(value), high: own.high.max(value), ..own })
    }

    /// The minimum and maximum number of slots that fit. The maximum is `None` if more would fit as well.
    pub(super) fn slots(&self) -> (u32, Option<u32>) {
        let all = || self.samples.iter().map(|one| one.slots).chain(self.joint.as_good);
        let least = all().min().unwrap_or(1);
        let most = all().max().unwrap_or(1);
        let tried = self.directions.iter().map(|one| one.most).max().unwrap_or(1);
        (least, (most < tried).then_some(most))
    }
}

/// The mean of repetitions drawn with replacement, as many as there are.
fn drawn(point: &Point, random: &mut Xoshiro256PlusPlus) -> [f64; 2] {
    let count = point.passes.len() as u64;
    let mut sum = [0.0; 2];
    for _ in 0..count {
        let pass = point.passes[usize::try_from(random.next_u64() % count).unwrap_or(0)];
        sum = [sum[0] + pass[0], sum[1] + pass[1]];
    }
    sum.map(|sum| sum / count as f64)
}

fn estimate(value: f64, mut drawn: Vec<f64>) -> Estimate {
    drawn.sort_by(f64::total_cmp);
    let at = |share: f64| {
        let place = (share * (drawn.len().max(1) - 1) as f64).round();
        drawn.get(index(place)).copied().unwrap_or(value)
    };
    Estimate { value, low: at(TAILS[0]).min(value), high: at(TAILS[1]).max(value) }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a place in a list, not negative"
)]
fn index(place: f64) -> usize {
    place as usize
}

/// The pooled standard deviation of the logarithms of rates within points.
fn noise(directions: &[Direction]) -> f64 {
    let points = || directions.iter().flat_map(|one| &one.points);
    let squares: f64 = points()
        .map(|point| {
            let mean = point.mean()[0];
            point.passes.iter().map(|pass| (pass[0] - mean).powi(2)).sum::<f64>()
        })
        .sum();
    let freedom: usize = points().map(|point| point.passes.len().saturating_sub(1)).sum();
    (squares / freedom.max(1) as f64).sqrt()
}

/// The shape of the distribution of the time in a slot, from the smallest transfers with one in flight.
fn shape(direction: &Direction, nodes: &Nodes) -> Shape {
    let alone = direction.points.iter().find(|point| point.load.in_flight() == 1);
    alone
        .and_then(|point| point.latency.as_ref())
        .map_or_else(Shape::of_mean, |latency| Shape::of(latency, nodes.request_ns))
}
