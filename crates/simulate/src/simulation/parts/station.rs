//! Parts at which requests queue, first come, first served.
//!
//! Requests reach a part in the order of time, so the time at which one leaves is known when it arrives:
//! `max(arrival, first free slot) + service` (Lindley's recursion for several servers).

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use rand_xoshiro::Xoshiro256PlusPlus;

use crate::model::{Bandwidth, Limits, Link, Server};
use crate::simulation::parts::service::{ServiceTime, whole};
use crate::simulation::time::{Ticks, ticks};

/// Index of the read direction.
pub(crate) const READ: usize = 0;
/// Index of the write direction.
pub(crate) const WRITE: usize = 1;

/// The times at which slots become free.
#[derive(Debug, Clone)]
pub(crate) struct Slots {
    /// Times in order. With equal service times all of them are here.
    queue: VecDeque<Ticks>,
    /// The other ones.
    heap: BinaryHeap<Reverse<Ticks>>,
}

impl Slots {
    pub(crate) fn new(slots: u32) -> Self {
        Self { queue: vec![0; slots.max(1) as usize].into(), heap: BinaryHeap::new() }
    }

    /// Returns when a request that arrives at `arrival` and takes `service` has been served.
    #[inline]
    pub(crate) fn serve(&mut self, arrival: Ticks, service: Ticks) -> Ticks {
        self.serve_until(arrival, |start| start.saturating_add(service))
    }

    /// The same for a request whose end depends on when its service begins.
    #[inline]
    pub(crate) fn serve_until(&mut self, arrival: Ticks, end: impl FnOnce(Ticks) -> Ticks) -> Ticks {
        let of_heap = self.heap.peek().map(|Reverse(free)| *free);
        let free = match (self.queue.front().copied(), of_heap) {
            (Some(one), Some(other)) if other < one => {
                self.heap.pop();
                other
            }
            (Some(one), _) => {
                self.queue.pop_front();
                one
            }
            (None, other) => {
                self.heap.pop();
                other.unwrap_or(0)
            }
        };
        let end = end(arrival.max(free));
        if self.queue.back().is_none_or(|last| *last <= end) {
            self.queue.push_back(end);
        } else {
            self.heap.push(Reverse(end));
        }
        end
    }

    /// Makes all slots free at `now`.
    pub(crate) fn give_up(&mut self, now: Ticks) {
        self.map(|free| free.min(now));
    }

    /// Moves all times by `time`.
    pub(crate) fn shift(&mut self, time: Ticks) {
        self.map(|free| free.saturating_add(time));
    }

    /// Changes all times by a function that keeps their order.
    fn map(&mut self, of: impl Fn(Ticks) -> Ticks) {
        self.queue.iter_mut().for_each(|free| *free = of(*free));
        self.heap = self.heap.drain().map(|Reverse(free)| Reverse(of(free))).collect();
    }

    /// Whether all slots are free at `now`.
    fn are_free(&self, now: Ticks) -> bool {
        self.queue.iter().chain(self.heap.iter().map(|Reverse(free)| free)).all(|free| *free <= now)
    }

    /// The number of slots.
    pub(crate) fn count(&self) -> usize {
        self.queue.len() + self.heap.len()
    }
}

/// A rate limit.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RateLimit {
    ticks_per_request: f64,
    ticks_per_byte: f64,
}

impl RateLimit {
    pub(crate) fn new(requests: Option<f64>, bytes: Option<Bandwidth>) -> Self {
        let per_second = |rate: f64| ticks(1e9) / rate;
        Self {
            ticks_per_request: requests.map_or(0.0, per_second),
            ticks_per_byte: bytes.map_or(0.0, |rate| per_second(rate.0)),
        }
    }

    /// The rate limits of both directions in `limits`.
    pub(crate) fn both(limits: &Limits) -> [Self; 2] {
        [
            Self::new(limits.read_iops, limits.read_bandwidth),
            Self::new(limits.write_iops, limits.write_bandwidth),
        ]
    }

    /// The time that a request of `bytes` uses of it.
    #[inline]
    pub(crate) fn cost(&self, bytes: u64) -> f64 {
        self.ticks_per_request.max(self.ticks_per_byte * bytes as f64)
    }
}

/// A queue in front of a rate limit.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Limiter {
    /// When it is free: whole ticks and a part of one. Sums of times since the start would be rounded the more the later
    /// it is, and what repeats itself would not do so exactly.
    free: Ticks,
    part: f64,
}

impl Limiter {
    /// Returns when a request that arrives at `arrival` and costs `cost` ticks has passed.
    #[inline]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a time, not negative")]
    pub(crate) fn pass(&mut self, arrival: Ticks, cost: f64) -> Ticks {
        if cost <= 0.0 {
            return arrival;
        }
        if arrival > self.free {
            (self.free, self.part) = (arrival, 0.0);
        }
        let ticks = cost as Ticks;
        self.free = self.free.saturating_add(ticks);
        self.part += cost - ticks as f64;
        if self.part >= 1.0 {
            (self.free, self.part) = (self.free.saturating_add(1), self.part - 1.0);
        }
        self.free.saturating_add(u64::from(self.part >= 0.5))
    }

    /// Drops everything that is waiting at `now`.
    pub(crate) fn give_up(&mut self, now: Ticks) {
        if self.free > now {
            (self.free, self.part) = (now, 0.0);
        }
    }

    /// Moves everything that is waiting by `time`.
    pub(crate) fn shift(&mut self, time: Ticks) {
        self.free = self.free.saturating_add(time);
    }
}

/// A link or server on the path to the devices.
#[derive(Debug, Clone)]
pub(crate) struct Station {
    limits: [RateLimit; 2],
    /// Either one for both directions, or one for each.
    limiters: [Limiter; 2],
    full_duplex: bool,
    service: [Option<ServiceTime>; 2],
    slots: Slots,
    /// Latency on the way to the devices, and again on the way back.
    pub(crate) latency: Ticks,
}

impl Station {
    pub(crate) fn of_link(link: &Link) -> Self {
        Self {
            limits: [RateLimit::new(None, link.bandwidth); 2],
            limiters: [Limiter::default(); 2],
            full_duplex: true,
            service: [None, None],
            slots: Slots::new(1),
            latency: link.latency.map_or(0, |latency| whole(ticks(latency.0 as f64))),
        }
    }

    pub(crate) fn of_server(server: &Server) -> Self {
        Self {
            limits: RateLimit::both(&server.limits),
            limiters: [Limiter::default(); 2],
            full_duplex: false,
            service: [&server.read, &server.write].map(|one| one.as_ref().map(ServiceTime::new)),
            slots: Slots::new(server.slots),
            latency: 0,
        }
    }

    /// The queue of a link in one direction, and the time that `bytes` take there.
    pub(crate) fn lane(&mut self, direction: usize, bytes: u64) -> (&mut Limiter, f64) {
        (&mut self.limiters[direction], self.limits[direction].cost(bytes))
    }

    /// Drops everything that is waiting at `now`.
    pub(crate) fn give_up(&mut self, now: Ticks) {
        self.slots.give_up(now);
        self.limiters.iter_mut().for_each(|limiter| limiter.give_up(now));
    }

    /// Moves everything that is waiting by `time`.
    pub(crate) fn shift(&mut self, time: Ticks) {
        self.slots.shift(time);
        self.limiters.iter_mut().for_each(|limiter| limiter.shift(time));
    }

    /// Whether each of at most so many `requests` takes the same time from `now` on, because none waits for another.
    pub(crate) fn never_waits(&self, requests: u64, now: Ticks) -> bool {
        let is_unlimited = self.limits.iter().all(|limit| limit.cost(u64::MAX) <= 0.0);
        let is_even = |service: &Option<ServiceTime>| service.as_ref().is_none_or(ServiceTime::is_constant);
        let has_room = self.slots.count() as u64 >= requests && self.slots.are_free(now);
        is_unlimited
            && self.service.iter().all(is_even)
            && (has_room || self.service.iter().all(Option::is_none))
    }

    /// Whether requests in one direction leave it in the order in which they arrive.
    pub(crate) fn keeps_order(&self) -> bool {
        let is_even = |service: &Option<ServiceTime>| service.as_ref().is_none_or(ServiceTime::is_constant);
        self.slots.count() == 1 || self.service.iter().all(is_even)
    }

    /// Returns when a request that arrives at `arrival` leaves.
    pub(crate) fn pass(
        &mut self,
        arrival: Ticks,
        direction: usize,
        bytes: u64,
        random: &mut Xoshiro256PlusPlus,
        factor: f64,
    ) -> Ticks {
        let limiter = if self.full_duplex { direction } else { READ };
        let cost = self.limits[direction].cost(bytes) * factor.max(1.0);
        let passed = self.limiters[limiter].pass(arrival, cost);
        match &self.service[direction] {
            Some(service) => self.slots.serve(passed, service.draw(random, bytes, false, factor)),
            None => passed,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert_eq, proptest};

    use super::Slots;

    proptest! {
        /// The first slot that is free serves, whatever the order in which others become free.
        #[test]
        fn slots_serve_first_come_first_served(slots in 1_u32..9, requests: Vec<(u8, u8)>, moved in 0_u64..9) {
            let (mut tested, mut free) = (Slots::new(slots), vec![0_u64; slots as usize]);
            for (arrival, service) in requests {
                let (arrival, service) = (u64::from(arrival), u64::from(service));
                free.sort_unstable();
                free[0] = arrival.max(free[0]) + service;
                prop_assert_eq!(tested.serve(arrival, service), free[0]);
                tested.shift(moved);
                free.iter_mut().for_each(|free| *free += moved);
            }
            prop_assert_eq!(tested.count(), free.len());
        }
    }
}
