//! What is known about the storage and host where a plan is to run.

use std::path::PathBuf;

use super::prediction::Predictions;
use crate::{Bytes, Nanos};

/// What is known about the storage and host on which a plan is to run. By default nothing is known.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunEnvironment {
    /// The file systems (or block devices) that the targets are on.
    pub spaces: Vec<FileSystemSpace>,
    /// Memory available to the page cache; `None` if unknown.
    pub memory: Option<Bytes>,
    /// Processors of a node; `None` if unknown.
    pub processors: Option<u32>,
    /// The node of each process, by rank; empty for a single process or if unknown.
    pub node_of: Vec<u32>,
    /// Rates given by hand, by a model or by an earlier run. The study's own expectations are not included, because
    /// they are part of the plan.
    pub predicted: Predictions,
    /// The name of the model on which the plan runs; `None` on a host. On a model all data exists before the run, so
    /// that nothing is filled, and no device is assumed.
    pub model: Option<String>,
    /// The device that is assumed on a host if nothing else is known.
    pub assumed: AssumedDevice,
}

/// A file system, and which targets are on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileSystemSpace {
    /// Its mount point, or the device's path.
    pub name: String,
    /// Bytes that this user may still write there.
    pub free: Bytes,
    /// Targets of the plan that are on it.
    pub targets: Vec<PathBuf>,
}

/// The class of device that is assumed under the targets.
#[derive(Debug, Clone, PartialEq)]
pub struct AssumedDevice {
    /// Maximum bytes per second of one device with any number of tasks and any depth.
    pub bytes_per_second: f64,
    /// Time of one small random transfer, which limits few tasks at low depth.
    pub transfer_time: Nanos,
    /// A description, as in `solid-state disk`.
    pub class: String,
}

/// A device of unknown kind, as fast as a SATA-class solid-state disk.
impl Default for AssumedDevice {
    fn default() -> Self {
        Self { bytes_per_second: 500e6, transfer_time: Nanos(100_000), class: "device".to_owned() }
    }
}
