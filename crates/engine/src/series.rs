//! What each worker records of each transfer: a histogram, and sums per interval.

use crate::LatencyHistogram;
use crate::clock::Scale;
use crate::histogram::{BUCKETS, Counters};

/// Counts of both directions: reads, writes.
pub(crate) type Counts = [[u32; BUCKETS]; 2];

/// Intervals there is room for at once; room doubles when a phase outlasts it.
const INTERVALS_AT_FIRST: usize = 16;

/// Sums of one direction in one interval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Sums {
    pub(crate) transfers: u64,
    pub(crate) latency_ns: u64,
    pub(crate) latency_max_ns: u64,
}

impl Sums {
    #[inline(always)]
    fn add(&mut self, nanos: u64) {
        self.transfers += 1;
        self.latency_ns += nanos;
        self.latency_max_ns = self.latency_max_ns.max(nanos);
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.transfers += other.transfers;
        self.latency_ns += other.latency_ns;
        self.latency_max_ns = self.latency_max_ns.max(other.latency_max_ns);
    }
}

/// The book of one worker.
#[derive(Debug)]
pub(crate) struct Recorder<'a> {
    response: Counters<'a>,
    /// Only in an open loop.
    service: Option<Counters<'a>>,
    scale: Scale,
    current: [Sums; 2],
    /// End of the current interval, in ticks.
    interval_end: u64,
    interval_ticks: u64,
    past: Vec<[Sums; 2]>,
}

impl<'a> Recorder<'a> {
    /// Counts into memory that must be zero.
    pub(crate) fn new(response: &'a mut Counts, service: Option<&'a mut Counts>) -> Self {
        Self {
            response: Counters::new(response),
            service: service.map(Counters::new),
            scale: Scale::from_bits(0),
            current: [Sums::default(); 2],
            interval_end: u64::MAX,
            interval_ticks: u64::MAX,
            past: Vec::with_capacity(INTERVALS_AT_FIRST),
        }
    }

    /// The phase starts at `start` ticks; intervals have `interval_ticks` each.
    pub(crate) fn start(&mut self, scale: Scale, start: u64, interval_ticks: u64) {
        self.scale = scale;
        self.interval_ticks = interval_ticks.max(1);
        self.interval_end = start.saturating_add(self.interval_ticks);
    }

    /// A transfer in `direction` (0 read, 1 write) ended at `end` after `ticks`.
    #[inline(always)]
    pub(crate) fn add(&mut self, direction: usize, ticks: u64, end: u64) {
        let nanos = self.scale.nanos(ticks);
        self.response.add(direction, nanos);
        if end >= self.interval_end {
            self.turn(end);
        }
        self.current[direction].add(nanos);
    }

    /// How long the transfer took from the hand-over, in an open loop.
    #[inline(always)]
    pub(crate) fn add_service(&mut self, direction: usize, ticks: u64) {
        let nanos = self.scale.nanos(ticks);
        if let Some(service) = &mut self.service {
            service.add(direction, nanos);
        }
    }

    #[cold]
    fn turn(&mut self, end: u64) {
        while end >= self.interval_end {
            self.past.push(std::mem::take(&mut self.current));
            self.interval_end = self.interval_end.saturating_add(self.interval_ticks);
        }
    }

    /// Adds all counts to the histograms of the process, by direction.
    pub(crate) fn add_to(&self, response: &mut [LatencyHistogram; 2], service: &mut [LatencyHistogram; 2]) {
        self.response.add_to(response);
        if let Some(counters) = &self.service {
            counters.add_to(service);
        }
    }

    /// Adds all intervals to the series of the process.
    pub(crate) fn add_series(&self, series: &mut Vec<[Sums; 2]>) {
        let intervals = self.past.iter().chain(std::iter::once(&self.current));
        for (index, sums) in intervals.enumerate() {
            if index == series.len() {
                series.push([Sums::default(); 2]);
            }
            for (all, one) in series[index].iter_mut().zip(sums) {
                all.merge(one);
            }
        }
    }
}
