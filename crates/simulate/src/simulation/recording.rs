//! What is recorded about the operations of a phase: histograms and sums per interval, as in the engine.

use engine::{Latency, LatencyHistogram, SeriesInterval};
use plan::{Measure, Operation};

use crate::simulation::time::{Ticks, ns};

/// Sums of one operation in one interval.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Sums {
    pub(crate) bytes: u64,
    pub(crate) operations: u64,
    /// In nanoseconds, like `latency_max`.
    pub(crate) latency: u64,
    pub(crate) latency_max: u64,
}

impl Sums {
    fn add(&mut self, more: &Self) {
        self.bytes += more.bytes;
        self.operations += more.operations;
        self.latency += more.latency;
        self.latency_max = self.latency_max.max(more.latency_max);
    }
}

/// The series of one operation.
#[derive(Debug, Clone, Default)]
struct Series(Vec<Sums>);

impl Series {
    fn add(&mut self, interval: usize, more: &Sums) {
        if self.0.len() <= interval {
            self.0.resize(interval + 1, Sums::default());
        }
        self.0[interval].add(more);
    }
}

/// The latencies of one operation in a part of a phase.
#[derive(Debug, Clone, Default)]
pub(crate) struct Window {
    pub(crate) histogram: Box<LatencyHistogram>,
    pub(crate) sums: Sums,
}

/// The latencies by operation, in the order of [`Operation::ALL`].
type ByOperation<T> = [Option<T>; Operation::ALL.len()];

/// The recording of the operations of a phase.
#[derive(Debug)]
pub(crate) struct Recording {
    interval: Ticks,
    /// Latencies from the intended start, up to the present window and in it.
    before: ByOperation<Box<LatencyHistogram>>,
    response: ByOperation<Window>,
    /// The window before the present one.
    previous: ByOperation<Window>,
    /// In an open loop: latencies from the submission.
    service_before: ByOperation<Box<LatencyHistogram>>,
    service: ByOperation<Box<LatencyHistogram>>,
    /// Number of operations, and the sum of their latencies in nanoseconds.
    operations: u64,
    latency_ns: u64,
    /// The longest latency, in nanoseconds.
    pub(crate) longest_ns: u64,
    /// The present interval of the series, and when it begins.
    present: (usize, Ticks),
    /// The series of each node that has one.
    nodes: Vec<[Series; Operation::ALL.len()]>,
}

impl Recording {
    /// Creates a recording for `nodes` nodes, with intervals of this length.
    pub(crate) fn new(nodes: usize, interval: Ticks) -> Self {
        Self {
            interval: interval.max(1),
            before: Default::default(),
            response: Default::default(),
            previous: Default::default(),
            service_before: Default::default(),
            service: Default::default(),
            operations: 0,
            latency_ns: 0,
            longest_ns: 0,
            present: (0, 0),
            nodes: vec![Default::default(); nodes],
        }
    }

    /// Adds an operation of `node` that ended at `end`, measured from the start of the phase.
    #[inline]
    pub(crate) fn add(&mut self, node: usize, operation: Operation, end: Ticks, latency: Ticks, bytes: u64) {
        let nanos = ns(latency);
        let index = operation as usize;
        self.longest_ns = self.longest_ns.max(nanos);
        let sums = Sums { bytes, operations: 1, latency: nanos, latency_max: nanos };
        let window = self.response[index].get_or_insert_default();
        window.histogram.add(nanos, 1);
        window.sums.add(&sums);
        self.operations += 1;
        self.latency_ns = self.latency_ns.wrapping_add(nanos);
        let interval = self.interval_of(end);
        self.nodes[node][index].add(interval, &sums);
    }

    /// The interval with the time `end`. Most often it is the present one.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "as many intervals as fit into memory")]
    fn interval_of(&mut self, end: Ticks) -> usize {
        let (_, begin) = self.present;
        if end < begin || end - begin >= self.interval {
            let interval = end / self.interval;
            self.present = (interval as usize, interval * self.interval);
        }
        self.present.0
    }

    /// Number of operations, and the sum of their latencies in nanoseconds.
    pub(crate) fn recorded(&self) -> (u64, u64) {
        (self.operations, self.latency_ns)
    }

    /// Begins a window, which is all that is recorded until the next one begins.
    pub(crate) fn begin_window(&mut self) {
        let ended = self.restart_window();
        self.previous = ended;
    }

    /// Begins the window anew, and keeps the previous one. Returns what was recorded in it so far.
    pub(crate) fn restart_window(&mut self) -> ByOperation<Window> {
        let ended = std::mem::take(&mut self.response);
        for (before, window) in self.before.iter_mut().zip(&ended) {
            if let Some(window) = window {
                before.get_or_insert_default().merge(&window.histogram);
            }
        }
        for (before, window) in self.service_before.iter_mut().zip(&mut self.service) {
            if let Some(window) = window.take() {
                before.get_or_insert_default().merge(&window);
            }
        }
        ended
    }

    /// The operations of the window, by operation, each with those of the window before it.
    pub(crate) fn windows(&self) -> impl Iterator<Item = (&Window, Option<&Window>)> {
        let pairs = self.response.iter().zip(&self.previous);
        pairs.filter_map(|(window, previous)| Some((window.as_ref()?, previous.as_ref())))
    }

    /// The sums of the operations of the window.
    pub(crate) fn window_sums(&self) -> [Sums; Operation::ALL.len()] {
        let sums = |window: &Option<Window>| window.as_ref().map_or_else(Sums::default, |window| window.sums);
        self.response.each_ref().map(sums)
    }

    /// Adds as many latencies as `totals` has of each operation, distributed as in the window. Returns the mean and the
    /// maximum of the window, in nanoseconds.
    pub(crate) fn repeat_window(&mut self, totals: ByOperation<u64>) -> [(f64, u64); Operation::ALL.len()] {
        let mut means = [(0.0, 0); Operation::ALL.len()];
        for (index, total) in totals.into_iter().enumerate() {
            let (Some(total), Some(window)) = (total, &self.response[index]) else { continue };
            let Sums { operations, latency, latency_max, .. } = window.sums;
            repeat(&window.histogram, total, self.before[index].get_or_insert_default());
            if let Some(service) = &self.service[index] {
                repeat(service, total, self.service_before[index].get_or_insert_default());
            }
            means[index] = (latency as f64 / operations.max(1) as f64, latency_max);
        }
        means
    }

    /// Adds operations of `node` that ended in the interval with `end`, without their latencies.
    pub(crate) fn add_sums(&mut self, node: usize, operation: usize, end: Ticks, sums: &Sums) {
        let interval = self.interval_of(end);
        if sums.operations > 0 {
            self.nodes[node][operation].add(interval, sums);
        }
    }

    /// In an open loop: adds the time since the submission.
    pub(crate) fn add_service(&mut self, operation: Operation, latency: Ticks) {
        self.service[operation as usize].get_or_insert_default().add(ns(latency), 1);
    }

    /// All histograms.
    pub(crate) fn latencies(&mut self) -> Vec<Latency> {
        self.begin_window();
        let measures = [(Measure::Response, &mut self.before), (Measure::Service, &mut self.service_before)];
        let mut all = Vec::new();
        for (measure, histograms) in measures {
            for (operation, histogram) in Operation::ALL.into_iter().zip(histograms) {
                let latency =
                    histogram.take().map(|histogram| Latency { operation, measure, histogram: *histogram });
                all.extend(latency);
            }
        }
        all
    }

    /// The series of a node, ordered by time, for a phase of this `length`.
    pub(crate) fn series(&self, node: usize, length: Ticks) -> Vec<SeriesInterval> {
        let mut all = Vec::new();
        for (operation, Series(series)) in Operation::ALL.into_iter().zip(&self.nodes[node]) {
            for (index, sums) in (0_u64..).zip(series).filter(|(_, sums)| sums.operations > 0) {
                let start = index * self.interval;
                all.push(SeriesInterval {
                    operation,
                    start_ns: ns(start),
                    length_ns: ns(self.interval.min(length.saturating_sub(start)).max(1)),
                    bytes: sums.bytes,
                    transfers: sums.operations,
                    latency_sum_ns: sums.latency,
                    latency_max_ns: sums.latency_max,
                });
            }
        }
        all.sort_by_key(SeriesInterval::place);
        all
    }
}

/// Adds `total` latencies to `sum`, distributed as in `histogram`.
fn repeat(histogram: &LatencyHistogram, total: u64, sum: &mut LatencyHistogram) {
    let all = u128::from(histogram.total().max(1));
    let (mut counted, mut added) = (0_u128, 0_u64);
    for (low, _, count) in histogram.buckets() {
        counted += u128::from(count);
        let until = u64::try_from(counted * u128::from(total) / all).unwrap_or(u64::MAX);
        sum.add(low, until - added);
        added = until;
    }
}
