//! What is recorded about the operations of a phase: histograms and sums per interval, as in the engine.

use engine::{Latency, LatencyHistogram, SeriesInterval};
use plan::{Measure, Operation};

use crate::simulation::time::{Ticks, ns};

/// Sums of one operation in one interval.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    bytes: u64,
    operations: u64,
    latency: u64,
    latency_max: u64,
}

/// The series of one operation.
#[derive(Debug, Clone, Default)]
struct Series(Vec<Sums>);

impl Series {
    fn add(&mut self, interval: usize, bytes: u64, latency: u64) {
        if self.0.len() <= interval {
            self.0.resize(interval + 1, Sums::default());
        }
        let sums = &mut self.0[interval];
        sums.bytes += bytes;
        sums.operations += 1;
        sums.latency += latency;
        sums.latency_max = sums.latency_max.max(latency);
    }
}

/// The recording of the operations of a phase.
#[derive(Debug)]
pub(crate) struct Recording {
    interval: Ticks,
    /// Latencies from the intended start, by operation in the order of [`Operation::ALL`].
    response: [Option<Box<LatencyHistogram>>; Operation::ALL.len()],
    /// In an open loop: latencies from the submission.
    service: [Option<Box<LatencyHistogram>>; Operation::ALL.len()],
    /// The longest latency, in nanoseconds.
    pub(crate) longest_ns: u64,
    /// The series of each node that has one.
    nodes: Vec<[Series; Operation::ALL.len()]>,
}

impl Recording {
    /// Creates a recording for `nodes` nodes, with intervals of this length.
    pub(crate) fn new(nodes: usize, interval: Ticks) -> Self {
        Self {
            interval: interval.max(1),
            response: Default::default(),
            service: Default::default(),
            longest_ns: 0,
            nodes: vec![Default::default(); nodes],
        }
    }

    /// Adds an operation of `node` that ended at `end`, measured from the start of the phase.
    #[inline]
    pub(crate) fn add(&mut self, node: usize, operation: Operation, end: Ticks, latency: Ticks, bytes: u64) {
        let nanos = ns(latency);
        let index = operation as usize;
        self.longest_ns = self.longest_ns.max(nanos);
        self.response[index].get_or_insert_with(|| Box::new(LatencyHistogram::new())).add(nanos, 1);
        #[expect(clippy::cast_possible_truncation, reason = "as many intervals as fit into memory")]
        let interval = (end / self.interval) as usize;
        self.nodes[node][index].add(interval, bytes, nanos);
    }

    /// In an open loop: adds the time since the submission.
    pub(crate) fn add_service(&mut self, operation: Operation, latency: Ticks) {
        let histogram = &mut self.service[operation as usize];
        histogram.get_or_insert_with(|| Box::new(LatencyHistogram::new())).add(ns(latency), 1);
    }

    /// All histograms.
    pub(crate) fn latencies(&mut self) -> Vec<Latency> {
        let measures = [(Measure::Response, &mut self.response), (Measure::Service, &mut self.service)];
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
