//! Facts about the host. Unknown facts are recorded as unknown, never guessed.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::environment::fact::Fact;
use crate::environment::machine::{
    BatchJobFacts, MachineFacts, NetworkFacts, PcieFacts, ProcessorFacts, SoftwareFacts, VolumeFacts,
};
use crate::environment::tuning::Tuning;

/// The host that a run was made on.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostFacts {
    /// `uname -n`.
    pub node: String,
    /// Name and version of the operating system, as in `Debian GNU/Linux 12 (bookworm)`.
    pub operating_system: Fact<String>,
    /// Kernel release and build, as in `6.1.0-18-amd64 #1 SMP …`.
    pub kernel: Fact<String>,
    /// Model of the processors.
    pub cpu_model: Fact<String>,
    /// Sockets.
    pub sockets: Fact<u32>,
    /// Processors that the kernel schedules on.
    pub logical_cpus: u32,
    /// Processors that this process may use (affinity and cgroup).
    pub usable_cpus: u32,
    /// NUMA nodes.
    pub numa_nodes: Fact<u32>,
    /// The frequency governor of the first processor.
    pub governor: Fact<String>,
    /// Memory in all; 0 where it is not known.
    pub memory_bytes: u64,
    /// The memory limit of this process's cgroup, if there is one below the host's memory.
    pub memory_limit_bytes: Option<u64>,
    /// `/sys/kernel/mm/transparent_hugepage/enabled`, or `redhat_transparent_hugepage` in its place.
    pub transparent_hugepages: Fact<String>,
    /// The clock that latencies are read from, as in `tsc`.
    pub clock: String,
    /// The batch job, as in `slurm 4711`.
    pub batch_job: Option<String>,
    /// The file systems of the targets.
    pub file_systems: Vec<FileSystemFacts>,
    /// The block devices under the targets, members of a stack included.
    pub devices: Vec<BlockDeviceFacts>,
    /// Which of them are under which target; empty in records of earlier programs.
    #[serde(default)]
    pub target_devices: Vec<TargetDevices>,
    /// The machine, its firmware and its kernel.
    #[serde(default)]
    pub machine: MachineFacts,
    /// Cores, caches and how the processors are set.
    #[serde(default)]
    pub processors: ProcessorFacts,
    /// The batch job with its name and nodes.
    #[serde(default)]
    pub job: Option<BatchJobFacts>,
    /// Network interfaces with hardware behind them. In the record of a run it is looked for when the run
    /// has ended.
    #[serde(default)]
    pub network: Fact<Vec<NetworkFacts>>,
    /// Volumes of md, the device mapper and btrfs; looked for when a run has ended.
    #[serde(default)]
    pub volumes: Fact<Vec<VolumeFacts>>,
    /// Storage software and its versions; looked for when a run has ended.
    #[serde(default)]
    pub software: Fact<Vec<SoftwareFacts>>,
    /// What `host tune` had set when the run began.
    #[serde(default)]
    pub tuning: Tuning,
}

/// The devices under one path that is measured, by the names that [`HostFacts::devices`] has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TargetDevices {
    /// The path, as the plan has it.
    pub path: String,
    /// The whole devices that carry its bytes: of a volume the volume, of a file system over several devices
    /// each of them. Empty where no device of this host does.
    pub top: Vec<String>,
    /// The whole devices at the bottom, which are made of no others; those of `top` where it is not stacked.
    pub bottom: Vec<String>,
}

/// The processes of a run that a launcher has started.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cluster {
    /// What the MPI library says of itself.
    pub library: String,
    /// The nodes, in the order of their first ranks. The first one is [`crate::Manifest::host`].
    pub nodes: Vec<NodeFacts>,
}

/// A node of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NodeFacts {
    /// What it is.
    pub host: HostFacts,
    /// The processes on it.
    pub ranks: Vec<u32>,
    /// The monotonic clock of the first node less that of this one when the run began, nanoseconds.
    pub clock_offset_ns: i64,
    /// The offset may be off by so much.
    pub clock_error_ns: u64,
    /// By how much the offset had changed at the end of the run.
    pub clock_drift_ns: Option<i64>,
    /// The running kernel (`/proc/sys/kernel/random/boot_id`): containers of one machine share it. `None` in records
    /// of earlier programs, and of models.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boot_id: Option<String>,
}

/// The file system of a target.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileSystemFacts {
    /// Where it is mounted.
    pub mount_point: String,
    /// Its type, as in `xfs`.
    pub kind: String,
    /// What is mounted, as in `/dev/nvme0n1p1`.
    pub source: String,
    /// Mount options.
    pub options: String,
    /// Bytes in all.
    pub size_bytes: u64,
    /// Bytes that this user may still use, at the start of the run.
    pub free_bytes: u64,
    /// Bytes that are free for the superuser alone; unknown in records of earlier programs, and 0 there.
    #[serde(default)]
    pub reserved_bytes: u64,
    /// Inodes in all; 0 where the file system has no fixed number.
    pub inodes: u64,
    /// Inodes free at the start of the run.
    pub free_inodes: u64,
}

/// Mount options with which an fsync succeeds before the data is on stable storage: of ext4, XFS, btrfs, F2FS, NILFS2,
/// GFS2, OCFS2, ReiserFS (the barriers), overlayfs (`volatile`, which newer kernels print as `fsync=volatile`), CIFS
/// (`nostrictsync`) and bcachefs.
const AGAINST_FSYNC: [&str; 9] = [
    "nobarrier",
    "barrier=0",
    "barrier=none",
    "barrier=off",
    "fsync_mode=nobarrier",
    "volatile",
    "fsync=volatile",
    "nostrictsync",
    "journal_flush_disabled",
];

/// The first of the mount options `options` with which an fsync succeeds before the data is on stable storage.
#[must_use]
pub fn option_against_fsync(options: &str) -> Option<&str> {
    options.split(',').find(|option| AGAINST_FSYNC.contains(option))
}

impl HostFacts {
    /// The known file system that contains `path`; for a relative path the only one.
    #[must_use]
    pub fn file_system_of(&self, path: &Path) -> Option<&FileSystemFacts> {
        if path.is_relative() {
            return self.file_systems.first().filter(|_| self.file_systems.len() == 1);
        }
        let above = self.file_systems.iter().filter(|one| path.starts_with(&one.mount_point));
        above.max_by_key(|one| one.mount_point.len())
    }
}

/// A block device under a target.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BlockDeviceFacts {
    /// The kernel's name, as in `nvme0n1`.
    pub name: String,
    /// Model.
    pub model: Fact<String>,
    /// Serial number.
    pub serial: Fact<String>,
    /// Firmware revision.
    pub firmware: Fact<String>,
    /// Capacity.
    pub size_bytes: u64,
    /// Whether it turns.
    pub rotational: Fact<bool>,
    /// The scheduler in use.
    pub scheduler: Fact<String>,
    /// Hardware queues.
    pub hardware_queues: Fact<u32>,
    /// Requests that the queue holds.
    pub queue_requests: Fact<u32>,
    /// Read-ahead.
    pub read_ahead_bytes: Fact<u64>,
    /// Logical block size: the alignment that `O_DIRECT` needs.
    pub logical_block_bytes: Fact<u32>,
    /// Physical block size.
    pub physical_block_bytes: Fact<u32>,
    /// NUMA node of its controller.
    pub numa_node: Fact<i32>,
    /// The world wide name.
    #[serde(default)]
    pub world_wide_name: Fact<String>,
    /// Commands that the device itself holds, as a SCSI disk says.
    #[serde(default)]
    pub queue_depth: Fact<u32>,
    /// The processors that the first hardware queue serves, as in `0-3`.
    #[serde(default)]
    pub first_queue_cpus: Fact<String>,
    /// The driver of its controller and, where it has one, the driver's version.
    #[serde(default)]
    pub driver: Fact<String>,
    /// Wear in percent of what the vendor has promised; may go above 100.
    #[serde(default)]
    pub wear_percent: Fact<u32>,
    /// Whether it has a write cache that loses its data without power.
    #[serde(default)]
    pub volatile_write_cache: Fact<bool>,
    /// Where it is on the PCI bus.
    #[serde(default)]
    pub pcie: Fact<PcieFacts>,
}
