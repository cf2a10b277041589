//! What is known about the storage and host where a plan is to run.

use std::path::PathBuf;

use crate::{Bytes, Nanos, Workload};

/// What is known about the storage and host where a plan is to run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunEnvironment {
    /// The file systems (or block devices) that the targets are on.
    pub spaces: Vec<Space>,
    /// Memory available to the page cache; `None` if unknown.
    pub memory: Option<Bytes>,
    /// The node of each process, by rank; empty for a single process or if unknown.
    pub node_of: Vec<u32>,
    /// Expected write rate.
    pub write: ExpectedRate,
    /// Expected read rate.
    pub read: ExpectedRate,
}

/// A file system, and which targets are on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Space {
    /// Its mount point, or the device's path.
    pub name: String,
    /// Bytes that this user may still write there.
    pub free: Bytes,
    /// Targets of the plan that are on it.
    pub targets: Vec<PathBuf>,
}

/// A rate, and where it comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct ExpectedRate {
    /// Maximum bytes per second at any number of tasks and depth.
    pub bytes_per_second: f64,
    /// Time of one small transfer, which limits few tasks at low depth.
    pub transfer_time: Nanos,
    /// In words, as in `given with --expect` or `assumed`.
    pub source: String,
}

impl ExpectedRate {
    /// Default if nothing is known: a SATA-class solid-state disk.
    #[must_use]
    pub fn assumed() -> Self {
        Self { bytes_per_second: 500e6, transfer_time: Nanos(100_000), source: "assumed".to_owned() }
    }

    /// Expected bytes per second of `workload`: limited by the storage, by the time of one transfer at its
    /// depth and number of tasks (Little's law), or by its own pacing.
    #[must_use]
    pub fn of(&self, workload: &Workload) -> f64 {
        self.on(1.0, workload)
    }

    /// Like [`ExpectedRate::of`], for `storages` storages of that rate.
    pub(super) fn on(&self, storages: f64, workload: &Workload) -> f64 {
        let transfer = workload.geometry.transfer.0 as f64;
        let under_way = f64::from(workload.tasks) * f64::from(workload.backend.depth());
        let by_latency = under_way * transfer / self.transfer_time.as_secs_f64().max(1e-9);
        let by_pace = workload.pace.map_or(f64::INFINITY, |pace| pace.transfers_per_second * transfer);
        (self.bytes_per_second * storages).min(by_latency).min(by_pace)
    }
}
