//! What one direction did in one interval of a phase, on one rank or on several together.

use record::Operation;
use serde::{Deserialize, Serialize};

use crate::convert;

/// What one direction did in one interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Interval {
    pub(crate) start_ns: u64,
    pub(crate) operation: Operation,
    pub(crate) length_ns: u64,
    pub(crate) bytes: u64,
    pub(crate) transfers: u64,
    pub(crate) latency_sum_ns: u64,
    pub(crate) latency_max_ns: u64,
}

impl Interval {
    /// That of one rank.
    pub(crate) fn of(interval: &engine::SeriesInterval) -> Self {
        Self {
            start_ns: interval.start_ns,
            operation: convert::operation(interval.operation),
            length_ns: interval.length_ns,
            bytes: interval.bytes,
            transfers: interval.transfers,
            latency_sum_ns: interval.latency_sum_ns,
            latency_max_ns: interval.latency_max_ns,
        }
    }

    /// What two intervals have in common that are joined.
    pub(crate) fn place(&self) -> (u64, Operation) {
        (self.start_ns, self.operation)
    }

    /// Adds what others did in it.
    pub(crate) fn add(&mut self, other: &Self) {
        self.length_ns = self.length_ns.max(other.length_ns);
        self.bytes += other.bytes;
        self.transfers += other.transfers;
        self.latency_sum_ns += other.latency_sum_ns;
        self.latency_max_ns = self.latency_max_ns.max(other.latency_max_ns);
    }
}
