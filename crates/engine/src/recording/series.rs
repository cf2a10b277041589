//! Per-worker recording of operations: a histogram, and sums per interval.

use crate::LatencyHistogram;
use crate::phase::clock::Scale;
use crate::recording::histogram::{BUCKETS, Counters};
use crate::recording::history::HistoryWriter;

/// Counts of each of `N` operations; for transfers: reads, writes.
pub(crate) type Counts<const N: usize = 2> = [[u32; BUCKETS]; N];

/// Initial capacity in intervals. It doubles when a phase lasts longer.
const INTERVALS_AT_FIRST: usize = 16;

/// Sums of one operation in one interval.
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

/// The recorder of one worker with `N` kinds of operations.
#[derive(Debug)]
pub(crate) struct Recorder<'a, const N: usize = 2> {
    response: Counters<'a, N>,
    /// Only set in an open loop.
    service: Option<Counters<'a, N>>,
    /// Only set if the history was requested.
    keeper: Option<HistoryWriter>,
    scale: Scale,
    current: [Sums; N],
    /// End of the current interval, in ticks.
    interval_end: u64,
    interval_ticks: u64,
    past: Vec<[Sums; N]>,
}

impl<'a, const N: usize> Recorder<'a, N> {
    /// Creates a recorder that counts into memory, which must be zeroed.
    pub(crate) fn new(response: &'a mut Counts<N>, service: Option<&'a mut Counts<N>>) -> Self {
        Self {
            response: Counters::new(response),
            service: service.map(Counters::new),
            keeper: None,
            scale: Scale::from_bits(0),
            current: [Sums::default(); N],
            interval_end: u64::MAX,
            interval_ticks: u64::MAX,
            past: Vec::with_capacity(INTERVALS_AT_FIRST),
        }
    }

    /// Also records the history of the last operations.
    pub(crate) fn keeping(self, keeper: Option<HistoryWriter>) -> Self {
        Self { keeper, ..self }
    }

    /// Starts the phase at `start` ticks; intervals are `interval_ticks` long.
    pub(crate) fn start(&mut self, scale: Scale, start: u64, interval_ticks: u64) {
        self.scale = scale;
        self.interval_ticks = interval_ticks.max(1);
        self.interval_end = start.saturating_add(self.interval_ticks);
    }

    /// Brings the counters into memory and the caches.
    pub(crate) fn touch(&mut self) {
        self.response.touch();
    }

    /// Counts one `operation` (for transfers: 0 read, 1 write) that took `ticks` and ended at `end`.
    #[inline(always)]
    pub(crate) fn add(&mut self, operation: usize, ticks: u64, end: u64) {
        let nanos = self.scale.nanos(ticks);
        self.response.add(operation, nanos);
        if end >= self.interval_end {
            self.turn(end);
        }
        self.current[operation].add(nanos);
    }

    /// Adds one `operation` of `task`, from `start` to `end`, to the history. It was done at this offset, or
    /// on the item of this number.
    #[inline(always)]
    pub(crate) fn keep(&mut self, task: u32, operation: usize, start: u64, end: u64, place: u64) {
        if let Some(keeper) = &mut self.keeper {
            keeper.keep(task, operation, start, end, place);
        }
    }

    /// In an open loop: counts the time from submission to completion.
    #[inline(always)]
    pub(crate) fn add_service(&mut self, operation: usize, ticks: u64) {
        let nanos = self.scale.nanos(ticks);
        if let Some(service) = &mut self.service {
            service.add(operation, nanos);
        }
    }

    #[cold]
    fn turn(&mut self, end: u64) {
        while end >= self.interval_end {
            self.past.push(std::mem::replace(&mut self.current, [Sums::default(); N]));
            self.interval_end = self.interval_end.saturating_add(self.interval_ticks);
        }
    }

    /// Adds all counts to the histograms of the process, by operation.
    pub(crate) fn add_to(&self, response: &mut [LatencyHistogram; N], service: &mut [LatencyHistogram; N]) {
        self.response.add_to(response);
        if let Some(counters) = &self.service {
            counters.add_to(service);
        }
    }

    /// Adds all intervals to the series of the process.
    pub(crate) fn add_series(&self, series: &mut Vec<[Sums; N]>) {
        let intervals = self.past.iter().chain(std::iter::once(&self.current));
        for (index, sums) in intervals.enumerate() {
            if index == series.len() {
                series.push([Sums::default(); N]);
            }
            for (all, one) in series[index].iter_mut().zip(sums) {
                all.merge(one);
            }
        }
    }
}
