//! One device: its slots, its write cache, and its troubles.

use std::collections::VecDeque;

use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::model::{Device, Trouble, TroubleKind, WriteCache};
use crate::simulation::parts::service::{ServiceTime, uniform, whole};
use crate::simulation::parts::station::{Limiter, READ, RateLimit, Slots, WRITE};
use crate::simulation::time::{CLOCK_END, TICKS_PER_NS, Ticks, ticks};

/// One device of a model.
#[derive(Debug, Clone)]
pub(crate) struct Drive {
    service: [ServiceTime; 2],
    slots: Slots,
    limits: [RateLimit; 2],
    limiter: Limiter,
    cache: Option<CacheState>,
    /// Where the last request ended: file and offset.
    last_end: (u64, u64),
    pub(crate) random: Xoshiro256PlusPlus,
    /// Factor by which service times are longer.
    slow: f64,
    /// Change of the rate per tick.
    drift: f64,
    stalls: Vec<Stall>,
    bursts: Vec<Burst>,
    load: Option<BackgroundLoad>,
    /// The share of reads that a cache serves from the second repetition on.
    pub(crate) warming: f64,
    /// The work done since it was last read.
    counters: Counters,
    /// When the last of its requests ends, and since when it has had one in flight, or since it was last read.
    busy_until: Ticks,
    busy_since: Ticks,
    /// The work that has not been counted yet, in the order in which it begins, and its length at which that which is done
    /// is counted.
    later: VecDeque<Work>,
    later_most: usize,
    /// The end of the present interval of the counters.
    interval_end: Ticks,
    /// The work of all intervals before it.
    earlier: Counters,
}

/// The work of one request, whose bytes are moved evenly between two times.
#[derive(Debug, Clone, Copy)]
struct Work {
    from: Ticks,
    until: Ticks,
    bytes: u64,
    /// From its arrival to its end.
    time: Ticks,
    is_write: bool,
    /// Whether as many bytes are read first.
    modifies: bool,
}

/// The work of a device.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Counters {
    pub(crate) requests: [u64; 2],
    pub(crate) bytes: [u64; 2],
    /// Sum of the times from arrival to end.
    pub(crate) time: [Ticks; 2],
    /// Time with at least one request in flight.
    pub(crate) busy: Ticks,
}

/// Something that fills or empties, and its limit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Level {
    pub(crate) filled: f64,
    pub(crate) limit: f64,
    /// Whether it holds bytes, so that it may fill or empty for long.
    pub(crate) holds: bool,
}

/// A request for a device.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Piece {
    /// [`READ`] or [`WRITE`], in a byte.
    way: u8,
    pub(crate) bytes: u64,
    /// The file and the offset on the device.
    pub(crate) place: (u64, u64),
    /// Whether data and parity are read before they are written.
    pub(crate) modifies: bool,
}

impl Piece {
    #[inline]
    pub(crate) fn new(direction: usize, bytes: u64, place: (u64, u64), modifies: bool) -> Self {
        Self { way: u8::from(direction == WRITE), bytes, place, modifies }
    }

    #[inline]
    pub(crate) fn direction(&self) -> usize {
        usize::from(self.way)
    }

    pub(crate) fn set_direction(&mut self, direction: usize) {
        self.way = u8::from(direction == WRITE);
    }
}

/// A write cache, whose contents drain at a constant rate.
#[derive(Debug, Clone)]
struct CacheState {
    size: f64,
    time: f64,
    drain_per_tick: f64,
    filled: f64,
    at: Ticks,
}

#[derive(Debug, Clone, Copy)]
struct Stall {
    at: Ticks,
    length: Ticks,
    every: Option<Ticks>,
}

/// A token bucket.
#[derive(Debug, Clone, Copy)]
struct Burst {
    size: f64,
    per_tick: f64,
    left: f64,
    at: Ticks,
}

/// Requests of others, which are a Poisson process.
#[derive(Debug, Clone)]
struct BackgroundLoad {
    mean_gap: f64,
    next: Ticks,
}

/// Least number of requests after which those that are done are counted.
const LATER_MIN: usize = 64;
/// Size of a request of others in bytes.
const BACKGROUND_BYTES: u64 = 4096;
/// If there are this many stalls without any time between them, there is no time without stalls at all.
const STALLS_MAX: u32 = 100_000;
/// Requests of others that arrived earlier than this no longer matter: ten seconds.
const BACKGROUND_MEMORY: Ticks = 10_000_000_000 * TICKS_PER_NS;

impl Drive {
    /// Creates number `member` of the group `device`, with those of `troubles` that concern it.
    pub(crate) fn new(device: &Device, member: u32, troubles: &[Trouble]) -> Self {
        let mut drive = Self {
            service: [ServiceTime::new(&device.read), ServiceTime::new(&device.write)],
            slots: Slots::new(device.slots),
            limits: RateLimit::both(&device.limits),
            limiter: Limiter::default(),
            cache: device.write_cache.as_ref().map(CacheState::new),
            last_end: (u64::MAX, 0),
            random: Xoshiro256PlusPlus::seed_from_u64(0),
            slow: 1.0,
            drift: 0.0,
            stalls: Vec::new(),
            bursts: Vec::new(),
            load: None,
            warming: 0.0,
            counters: Counters::default(),
            busy_until: 0,
            busy_since: 0,
            later: VecDeque::new(),
            later_most: LATER_MIN,
            interval_end: 0,
            earlier: Counters::default(),
        };
        for trouble in troubles {
            if trouble.devices == device.name
                && (trouble.members.is_empty() || trouble.members.contains(&member))
            {
                drive.trouble(trouble, device);
            }
        }
        drive
    }

    fn trouble(&mut self, trouble: &Trouble, device: &Device) {
        let share = trouble.share.unwrap_or_default();
        let time = |time: Option<crate::model::Time>| time.map(|time| whole(ticks(time.0 as f64)));
        match trouble.kind {
            TroubleKind::Slow => self.slow /= share.max(1e-9),
            TroubleKind::Drift => self.drift = share / ticks(3600e9),
            TroubleKind::Warming => self.warming = share,
            TroubleKind::Stall => {
                self.stalls.extend(time(trouble.at).zip(time(trouble.length)).map(|(at, length)| Stall {
                    at,
                    length,
                    every: time(trouble.every).filter(|every| *every > 0),
                }))
            }
            TroubleKind::Burst => self.bursts.extend(trouble.size.zip(trouble.rate).map(|(size, rate)| {
                let size = size.0 as f64;
                Burst { size, per_tick: rate.0 / ticks(1e9), left: size, at: 0 }
            })),
            TroubleKind::Load if share > 0.0 => {
                let busy = ticks(self.service[READ].mean_ns(BACKGROUND_BYTES, false));
                let mean_gap = busy / share / f64::from(device.slots.max(1));
                self.load = Some(BackgroundLoad { mean_gap, next: 0 });
            }
            TroubleKind::Load => {}
        }
    }

    /// Returns when a request that arrives at `arrival` has been served. All its times are multiplied by
    /// `factor`.
    #[inline]
    pub(crate) fn serve(&mut self, arrival: Ticks, piece: &Piece, factor: f64) -> Ticks {
        let (direction, Piece { bytes, place, modifies, .. }) = (piece.direction(), *piece);
        let mut factor = factor * self.slow;
        if self.drift != 0.0 {
            factor /= (1.0 + self.drift * arrival as f64).max(1e-6);
        }
        self.disturb(arrival);
        let cost = self.limits[direction].cost(bytes) * factor.max(1.0);
        let mut start = self.limiter.pass(arrival, cost);
        for burst in &mut self.bursts {
            start = burst.pass(start, bytes);
        }
        let continues = self.last_end == place;
        self.last_end = (place.0, place.1.saturating_add(bytes));
        let mut begun = start;
        let end = match self.cache.as_mut().filter(|_| direction == WRITE) {
            Some(cache) => {
                // It cannot accept data faster than the device's interface, whether or not there is room.
                let taken = cache.take(start, bytes);
                let transfer = self.service[WRITE].transfer(bytes, factor);
                let moved = self.slots.serve_until(start, |start| {
                    begun = start;
                    after_stalls(&self.stalls, start, transfer)
                });
                taken.max(moved)
            }
            None => {
                let mut service = self.service[direction].draw(&mut self.random, bytes, continues, factor);
                if modifies {
                    service += self.service[READ].draw(&mut self.random, bytes, false, factor);
                }
                self.slots.serve_until(start, |start| {
                    begun = start;
                    after_stalls(&self.stalls, start, service)
                })
            }
        };
        let end = end.max(arrival.saturating_add(TICKS_PER_NS));
        if arrival > self.busy_until {
            self.counters.busy += self.busy_until.saturating_sub(self.busy_since);
            self.busy_since = self.busy_since.max(arrival);
        }
        self.busy_until = self.busy_until.max(end);
        // Where there is a limit, it says when the bytes pass.
        let (from, until) =
            if cost > 0.0 { (start.saturating_sub(whole(cost)), start) } else { (begun, end) };
        let (is_write, time) = (direction == WRITE, end - arrival);
        self.later.push_back(Work { from, until, bytes, time, is_write, modifies });
        if self.later.len() >= self.later_most {
            self.settle(arrival.min(self.interval_end));
            self.later_most = (2 * self.later.len()).max(LATER_MIN);
        }
        end
    }

    /// Returns the work that has been counted since the last call. The next interval ends at `next`.
    pub(crate) fn take_settled(&mut self, next: Ticks) -> Counters {
        self.interval_end = next;
        self.earlier.add(&self.counters);
        std::mem::take(&mut self.counters)
    }

    /// Counts what has been done by `now`.
    pub(crate) fn settle(&mut self, now: Ticks) {
        let Self { later, counters, .. } = self;
        let mut unfinished = Vec::new();
        for mut work in later.drain(..later.partition_point(|work| work.from <= now)) {
            work.count_part(now, counters);
            if work.until > now {
                unfinished.push(work);
            }
        }
        unfinished.into_iter().rev().for_each(|work| later.push_front(work));
        counters.busy += self.busy_until.min(now).saturating_sub(self.busy_since);
        self.busy_since = self.busy_since.max(now);
    }

    /// All work that has been counted.
    pub(crate) fn all_counters(&self) -> Counters {
        let mut all = self.earlier;
        all.add(&self.counters);
        all
    }

    /// Counts work that was not simulated, in this time.
    pub(crate) fn add_counters(&mut self, work: &Counters, time: Ticks) {
        self.counters.add(&Counters { busy: work.busy.min(time), ..*work });
    }

    /// What fills and empties in it.
    pub(crate) fn levels(&self) -> impl Iterator<Item = Level> {
        let cache =
            self.cache.iter().map(|cache| Level { filled: cache.filled, limit: cache.size, holds: true });
        cache.chain(self.bursts.iter().map(|burst| Level {
            filled: burst.left,
            limit: burst.size,
            holds: true,
        }))
    }

    /// Whether it has been the same all the time from `from` until `now`.
    pub(crate) fn is_even(&self, from: Ticks, now: Ticks) -> bool {
        self.drift == 0.0 && self.next_trouble(from) > now
    }

    /// Whether others use it, too.
    pub(crate) fn has_load(&self) -> bool {
        self.load.is_some()
    }

    /// Whether a request that begins where the last one ended takes another time.
    pub(crate) fn depends_on_place(&self) -> bool {
        self.service.iter().any(ServiceTime::depends_on_place)
    }

    /// When it stalls next.
    pub(crate) fn next_trouble(&self, now: Ticks) -> Ticks {
        let begins = self.stalls.iter().filter_map(|stall| stall.next(now)).map(|(begin, _)| begin);
        begins.min().unwrap_or(Ticks::MAX)
    }

    /// Moves everything in it by `time`.
    pub(crate) fn shift(&mut self, time: Ticks) {
        self.slots.shift(time);
        self.limiter.shift(time);
        self.cache.iter_mut().for_each(|cache| cache.at = cache.at.saturating_add(time));
        self.bursts.iter_mut().for_each(|burst| burst.at = burst.at.saturating_add(time));
        self.load.iter_mut().for_each(|load| load.next = load.next.saturating_add(time));
        for work in &mut self.later {
            (work.from, work.until) = (work.from.saturating_add(time), work.until.saturating_add(time));
        }
        self.busy_until = self.busy_until.saturating_add(time);
        self.busy_since = self.busy_since.saturating_add(time);
    }

    /// Drops everything that is waiting for it at `now`.
    pub(crate) fn give_up(&mut self, now: Ticks) {
        self.later.retain(|work| work.until <= now);
        self.busy_until = self.busy_until.min(now);
        self.slots.give_up(now);
        self.limiter.give_up(now);
        self.cache.iter_mut().for_each(|cache| cache.give_up(now));
        self.bursts.iter_mut().for_each(|burst| burst.left = burst.left.max(0.0));
    }

    /// Serves the requests of others that have arrived by `now`.
    fn disturb(&mut self, now: Ticks) {
        let Self { load, stalls, slots, service, random, slow, .. } = self;
        let Some(load) = load else { return };
        // Requests that arrived long ago have been served.
        load.next = load.next.max(now.saturating_sub(BACKGROUND_MEMORY));
        while load.next <= now {
            let time = service[READ].draw(random, BACKGROUND_BYTES, false, *slow);
            let _ = slots.serve_until(load.next, |start| after_stalls(stalls, start, time));
            load.next += whole(-load.mean_gap * libm::log(uniform(random))).max(1);
        }
    }
}

impl Work {
    /// Counts the part of it that is done by `now`.
    fn count_part(&mut self, now: Ticks, counters: &mut Counters) {
        let direction = if self.is_write { WRITE } else { READ };
        let is_done = self.until <= now;
        let part = if is_done {
            self.bytes
        } else {
            let passed = now.saturating_sub(self.from);
            whole(self.bytes as f64 * (passed as f64 / (self.until - self.from) as f64))
        };
        self.bytes -= part;
        counters.bytes[direction] += part;
        if self.modifies {
            counters.bytes[READ] += part;
        }
        if is_done {
            counters.requests[direction] += 1;
            counters.time[direction] = counters.time[direction].saturating_add(self.time);
            counters.requests[READ] += u64::from(self.modifies);
        }
        self.from = self.from.max(now);
    }
}

impl Counters {
    pub(crate) fn add(&mut self, more: &Self) {
        for direction in [READ, WRITE] {
            self.requests[direction] += more.requests[direction];
            self.bytes[direction] += more.bytes[direction];
            self.time[direction] = self.time[direction].saturating_add(more.time[direction]);
        }
        self.busy = self.busy.saturating_add(more.busy);
    }

    /// The work since the state `before`.
    pub(crate) fn since(&self, before: &Self) -> Self {
        let of = |now: [u64; 2], then: [u64; 2]| [now[READ] - then[READ], now[WRITE] - then[WRITE]];
        Self {
            requests: of(self.requests, before.requests),
            bytes: of(self.bytes, before.bytes),
            time: of(self.time, before.time),
            busy: self.busy - before.busy,
        }
    }

    /// The part of its repetitions between two numbers of them.
    pub(crate) fn between(&self, from: f64, until: f64) -> Self {
        let of = |all: u64| whole(all as f64 * until) - whole(all as f64 * from);
        Self {
            requests: self.requests.map(of),
            bytes: self.bytes.map(of),
            time: self.time.map(of),
            busy: of(self.busy),
        }
    }
}

impl Stall {
    /// The begin and end of the first stall that ends after `now`.
    fn next(&self, now: Ticks) -> Option<(Ticks, Ticks)> {
        let first = self.at.saturating_add(self.length);
        let begin = match (now < first, self.every) {
            (true, _) => self.at,
            (false, Some(every)) => self.at.saturating_add(((now - first) / every + 1).saturating_mul(every)),
            (false, None) => return None,
        };
        Some((begin, begin.saturating_add(self.length)))
    }
}

/// When a service that begins at `start` ends, given that it is interrupted during stalls.
#[inline]
fn after_stalls(stalls: &[Stall], start: Ticks, service: Ticks) -> Ticks {
    let (mut now, mut left) = (start, service);
    let mut without_rest = 0;
    while let Some((begin, end)) = stalls.iter().filter_map(|stall| stall.next(now)).min() {
        without_rest = if begin <= now { without_rest + 1 } else { 0 };
        if without_rest > STALLS_MAX {
            return CLOCK_END;
        }
        let before = begin.saturating_sub(now);
        if before >= left {
            break;
        }
        left -= before;
        now = end;
    }
    now.saturating_add(left)
}

impl ServiceTime {
    /// The time required by the bytes alone.
    fn transfer(&self, bytes: u64, factor: f64) -> Ticks {
        whole((self.mean_ns(bytes, true) - self.mean_ns(0, true)) * TICKS_PER_NS as f64 * factor)
    }
}

impl CacheState {
    fn new(cache: &WriteCache) -> Self {
        Self {
            size: cache.size.0 as f64,
            time: ticks(cache.time.0 as f64),
            drain_per_tick: cache.drain.0 / ticks(1e9),
            filled: 0.0,
            at: 0,
        }
    }

    /// Drains it until `now`.
    fn drain(&mut self, now: Ticks) {
        let gone = now.saturating_sub(self.at) as f64 * self.drain_per_tick;
        self.filled = (self.filled - gone).max(0.0);
        self.at = self.at.max(now);
    }

    /// Drops what it has no room for at `now`.
    fn give_up(&mut self, now: Ticks) {
        self.drain(now);
        self.filled = self.filled.min(self.size);
    }

    /// When there is room for `bytes` that arrive at `arrival`, plus the time of the cache.
    fn take(&mut self, arrival: Ticks, bytes: u64) -> Ticks {
        self.drain(arrival);
        self.filled += bytes as f64;
        let wait = ((self.filled - self.size) / self.drain_per_tick).max(0.0);
        arrival.saturating_add(whole(wait + self.time))
    }
}

impl Burst {
    /// When `bytes` that arrive at `arrival` have passed.
    fn pass(&mut self, arrival: Ticks, bytes: u64) -> Ticks {
        let back = arrival.saturating_sub(self.at) as f64 * self.per_tick;
        self.left = (self.left + back).min(self.size);
        self.at = self.at.max(arrival);
        self.left -= bytes as f64;
        arrival.saturating_add(whole((-self.left / self.per_tick).max(0.0)))
    }
}
