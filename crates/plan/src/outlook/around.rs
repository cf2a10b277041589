//! What is known of the place where a plan is to run.

use std::path::PathBuf;

use crate::{Bytes, Nanos, Workload};

/// What is known of the place where a plan is to run.
#[derive(Debug, Clone, PartialEq)]
pub struct Surroundings {
    /// The file systems (or block devices) that the targets are on.
    pub spaces: Vec<Space>,
    /// Memory that the page cache may use; `None` where it is not known.
    pub memory: Option<Bytes>,
    /// The node of each process, by rank; empty where the run is one process, or not known.
    pub node_of: Vec<u32>,
    /// What writing is expected to reach.
    pub write: ExpectedRate,
    /// What reading is expected to reach.
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
    /// Most bytes per second, whatever the tasks and the depth.
    pub bytes_per_second: f64,
    /// Time of one small transfer, which limits few tasks at a low depth.
    pub transfer_time: Nanos,
    /// In words, as in `given with --expect` or `assumed`.
    pub source: String,
}

impl ExpectedRate {
    /// Stands in where nothing is known: a SATA-class solid-state disk.
    #[must_use]
    pub fn assumed() -> Self {
        Self { bytes_per_second: 500e6, transfer_time: Nanos(100_000), source: "assumed".to_owned() }
    }

    /// Bytes per second that `workload` is expected to reach: the limit of the storage, of one
    /// transfer's time at its depth and tasks (Little's law), or of its own pace.
    #[must_use]
    pub fn of(&self, workload: &Workload) -> f64 {
        self.on(1.0, workload)
    }

    /// As [`ExpectedRate::of`], on so many storages of that rate.
    pub(super) fn on(&self, storages: f64, workload: &Workload) -> f64 {
        let transfer = workload.geometry.transfer.0 as f64;
        let under_way = f64::from(workload.tasks) * f64::from(workload.backend.depth());
        let by_latency = under_way * transfer / self.transfer_time.as_secs_f64().max(1e-9);
        let by_pace = workload.pace.map_or(f64::INFINITY, |pace| pace.transfers_per_second * transfer);
        (self.bytes_per_second * storages).min(by_latency).min(by_pace)
    }
}
