//! The closed network that is fitted: tasks, a rate limit, and a station with slots.
//!
//! `N` transfers circulate: each uses processor time of its task, then passes a rate limit, then uses one of `m`
//! slots. Two solutions are known. If all times are fixed, the rate is the minimum of its asymptotic bounds (Lazowska
//! et al., "Quantitative System Performance", 1984, chapter 5.2). If the time in a slot is exponential, it is that of
//! the machine repairman model, M/M/m//N, which is exact by its birth-death equations (the same, chapter 8;
//! Kleinrock, "Queueing Systems", 1975, chapter 3.8). Between them the rate is interpolated by the squared
//! coefficient of variation, as is usual for waiting times (Allen, "Probability, Statistics, and Queueing Theory",
//! 1990, chapter 5.4). The remaining error is determined by a simulation of the same network ([`simulate`]).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::simulation::parts::service::{ServiceTime, whole};
use crate::simulation::parts::station::{Limiter, Slots};
use crate::simulation::time::{TICKS_PER_NS, Ticks, ticks};

/// Number of transfers of a simulation, if it is not shorter, and number for each transfer in flight.
const SIMULATED: u64 = 20_000;
const SIMULATED_PER_TRANSFER: u64 = 100;

/// Times of the storage for one direction, in nanoseconds; 0 if there is no such part.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Station {
    pub(super) time_ns: f64,
    pub(super) per_byte_ns: f64,
    /// Minimum time between two transfers.
    pub(super) limit_ns: f64,
    /// Minimum time between two transfers for each byte.
    pub(super) limit_per_byte_ns: f64,
}

impl Station {
    /// Time in a slot.
    pub(super) fn service_ns(&self, bytes: u64) -> f64 {
        self.time_ns + self.per_byte_ns * bytes as f64
    }

    /// Time that the rate limit requires.
    pub(super) fn pause_ns(&self, bytes: u64) -> f64 {
        self.limit_ns.max(self.limit_per_byte_ns * bytes as f64)
    }
}

/// The load: a number of tasks, each with a number of transfers in flight.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Load {
    pub(super) tasks: u32,
    pub(super) depth: u32,
    pub(super) bytes: u64,
}

impl Load {
    pub(super) fn in_flight(&self) -> u32 {
        self.tasks.saturating_mul(self.depth)
    }
}

/// What is the same for all points.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Nodes {
    /// Processor time of a transfer.
    pub(super) request_ns: f64,
    /// Number of processors of all nodes.
    pub(super) processors: u32,
}

impl Nodes {
    /// Transfers per nanosecond that the tasks can issue.
    fn issued(&self, load: Load) -> f64 {
        f64::from(load.tasks.min(self.processors)) / self.request_ns
    }
}

/// Transfers per nanosecond. `variation` is the squared coefficient of variation of the time in a slot, without
/// its part that depends on the bytes.
pub(super) fn rate(nodes: &Nodes, station: &Station, slots: u32, variation: f64, load: Load) -> f64 {
    let in_flight = f64::from(load.in_flight());
    let (service, pause) = (station.service_ns(load.bytes), station.pause_ns(load.bytes));
    let outside = nodes.request_ns + pause;
    let bounded = |rate: f64| rate.min(1.0 / pause).min(nodes.issued(load));
    let fixed = bounded((in_flight / (outside + service)).min(f64::from(slots) / service));
    let share = (station.time_ns / service).powi(2) * variation;
    let share = share.clamp(0.0, 1.0);
    if share == 0.0 || load.in_flight() <= slots {
        return fixed;
    }
    let exponential = bounded(repairman(load.in_flight(), slots, outside, service));
    fixed * (1.0 - share) + exponential * share
}

/// The rate at which `customers` are served by `slots` servers with an exponential time of mean `service`, if they
/// spend the time `outside` between two services.
fn repairman(customers: u32, slots: u32, outside: f64, service: f64) -> f64 {
    let served = |at: u32| f64::from(at.min(slots)) / service;
    if outside <= 0.0 {
        return served(customers);
    }
    // Weights are relative to the largest so far, because their products would overflow.
    let (mut weight, mut sum, mut rate) = (1.0_f64, 1.0_f64, 0.0_f64);
    for at in 1..=customers {
        weight *= f64::from(customers - at + 1) / outside / served(at);
        if weight > 1e100 {
            (sum, rate, weight) = (sum / weight, rate / weight, 1.0);
        }
        sum += weight;
        rate += weight * served(at);
    }
    rate / sum
}

/// Transfers per nanosecond and their mean time in nanoseconds, by a simulation of `transfers` transfers. `service`
/// is that of the station. The same `seed` gives the same result.
pub(super) fn simulate(
    nodes: &Nodes,
    station: &Station,
    service: &ServiceTime,
    slots: u32,
    load: Load,
    transfers: u64,
    seed: u64,
) -> (f64, f64) {
    let in_flight = u64::from(load.in_flight());
    let most = SIMULATED.max(in_flight * SIMULATED_PER_TRANSFER);
    let is_short = transfers > most;
    let each = (transfers.min(most) / u64::from(load.tasks)).max(u64::from(load.depth));
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut slots = Slots::new(slots);
    let mut processors = Slots::new(nodes.processors);
    let is_crowded = load.tasks > nodes.processors;
    let mut limiter = Limiter::default();
    let (request, pause) = (whole(ticks(nodes.request_ns)), ticks(station.pause_ns(load.bytes)));
    let mut busy = vec![0; load.tasks as usize];
    let mut left = vec![each; load.tasks as usize];
    // Events: when, to which task, when its transfer began, and whether it now reaches the station.
    let mut events: BinaryHeap<Reverse<(Ticks, bool, u32, Ticks)>> = BinaryHeap::new();
    for task in 0..load.tasks {
        (0..load.depth).for_each(|_| events.push(Reverse((0, false, task, 0))));
    }
    let (mut ends, mut time): (Vec<Ticks>, f64) = (Vec::new(), 0.0);
    while let Some(Reverse((now, reaches, task, began))) = events.pop() {
        let index = task as usize;
        if reaches {
            let passed = limiter.pass(now, pause);
            let end = slots.serve(passed, service.draw(&mut random, load.bytes, false, 1.0));
            ends.push(end);
            time += (end - began) as f64;
            events.push(Reverse((end, false, task, 0)));
        } else if left[index] > 0 {
            left[index] -= 1;
            let begin = now.max(busy[index]);
            busy[index] = if is_crowded { processors.serve(begin, request) } else { begin + request };
            events.push(Reverse((busy[index], true, task, now)));
        }
    }
    ends.sort_unstable();
    let count = ends.len();
    // In a short simulation, the beginning and the end, with fewer transfers in flight, would have too
    // much weight.
    let cut = if is_short { usize::try_from(in_flight).unwrap_or(0).min(count / 4) } else { 0 };
    let begin = if cut > 0 { ends[cut - 1] } else { 0 };
    let length = (ends[count - 1 - cut] - begin).max(1) as f64 / TICKS_PER_NS as f64;
    ((count - 2 * cut) as f64 / length, time / count as f64 / TICKS_PER_NS as f64)
}

#[cfg(test)]
mod tests {
    use super::{Load, Nodes, Station, rate, repairman, simulate};
    use crate::model::{Distribution, Service, Time};
    use crate::simulation::parts::service::ServiceTime;

    #[test]
    fn the_repairman_agrees_with_mean_value_analysis() {
        // One server: R(n) = S (1 + Q(n-1)), X(n) = n / (Z + R(n)), Q(n) = X(n) R(n).
        let (outside, service) = (30.0, 10.0);
        let mut queue = 0.0;
        for customers in 1..50_u32 {
            let response = service * (1.0 + queue);
            let expected = f64::from(customers) / (outside + response);
            queue = expected * response;
            let found = repairman(customers, 1, outside, service);
            assert!((found / expected - 1.0).abs() < 1e-9, "{customers}: {found}, expected {expected}");
        }
    }

    #[test]
    fn the_closed_form_agrees_with_a_simulation() {
        let nodes = Nodes { request_ns: 5_000.0, processors: 4 };
        let station = Station { time_ns: 80_000.0, ..Station::default() };
        for (distribution, variation, allowed) in
            [(Distribution::Fixed, 0.0, 0.002), (Distribution::Exponential, 1.0, 0.03)]
        {
            let service = Service {
                time: Time(80_000),
                next_time: None,
                rate: None,
                distribution,
                deviation: None,
                quantiles: Vec::new(),
                tail: Vec::new(),
            };
            for depth in [1, 4, 8, 16, 64] {
                let load = Load { tasks: 1, depth, bytes: 4096 };
                let closed = rate(&nodes, &station, 8, variation, load);
                let service = ServiceTime::new(&service);
                let (found, latency) = simulate(&nodes, &station, &service, 8, load, u64::MAX, 1);
                assert!((found / closed - 1.0).abs() < allowed, "{distribution:?} {depth}: {found} {closed}");
                let little = found * latency / f64::from(depth);
                assert!((little - 1.0).abs() < 0.02, "{distribution:?} {depth}: {little}");
            }
        }
    }
}
