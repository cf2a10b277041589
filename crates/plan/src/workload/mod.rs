//! A pattern of transfers by a number of tasks on a set of files.

pub(crate) mod backend;
pub(crate) mod limits;
pub(crate) mod stonewall;
mod validate;

use std::ops::Deref;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::{Backend, Bytes, Geometry, Nanos, PlanError, Stonewall, Work};

/// Whether tasks share one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sharing {
    /// One file for all tasks, laid out segment by segment.
    Shared,
    /// A file for each task, named by the task's number.
    PerTask,
}

/// Treatment of existing files before a write phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Existing {
    /// They are removed first, so that each write phase creates its files.
    Replace,
    /// They are overwritten in place.
    Reuse,
}

/// Treatment of the files at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Keep {
    /// They are removed in any case.
    Never,
    /// They are only kept if a check found wrong data.
    OnError,
    /// They are kept.
    Always,
}

/// The files of a workload. Workloads with an equal set share the same files and their data.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FileSet {
    /// One path, or several over which the tasks are distributed round-robin (`task mod n`). The path of a block
    /// device is used as it is, without a suffix.
    pub targets: Vec<PathBuf>,
    /// Whether tasks share one file.
    pub sharing: Sharing,
    /// Whether the file of each task is the target with its number, under exactly that name.
    #[serde(default)]
    pub exact_names: bool,
    /// Whether each task's file is in a directory of its own.
    pub unique_dir: bool,
    /// Whether each repetition has files of its own.
    pub file_per_repetition: bool,
    /// Treatment of existing files before a write phase.
    pub existing: Existing,
    /// Treatment of the files at the end.
    pub keep: Keep,
    /// Whether space is allocated (`posix_fallocate`) before the write phase.
    pub preallocate: bool,
    /// Whether missing files that a read needs are created in a fill phase. Otherwise a missing, short or sparse file
    /// is an error.
    pub fill: bool,
}

/// The order in which a task visits its transfers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// Segment by segment, block by block, in ascending offsets.
    Sequential,
    /// Each transfer of the file once, in a random order determined by the seed; in a shared file every task has an
    /// exact, equal share.
    Random {
        /// The seed of the order.
        seed: u64,
    },
    /// Blocks of the file drawn with replacement, so that some may be repeated and others left out; in ascending
    /// offsets within a block. Source: the calls of `ior -r -z -z` of IOR 4.1 and of ioping 1.3, as strace shows
    /// them.
    RandomBlocks {
        /// The seed of the drawing.
        seed: u64,
        /// Number of whole blocks in a file.
        blocks: u64,
        /// Whether each task draws its own blocks; otherwise all draw the same.
        own: bool,
    },
    /// Like sequential, but from the last transfer to the first.
    Backward,
    /// Every n-th transfer starting with the first, then every n-th starting with the second, and so on until each
    /// has been visited once, like IOzone and gpfsperf.
    Strided {
        /// Distance from one transfer to the next, in transfers of the task.
        stride: u64,
    },
    /// The first transfer repeatedly, as many times as a pass has transfers: IOzone's record rewrite.
    Same,
}

impl Order {
    /// Whether transfers go to random offsets.
    #[must_use]
    pub const fn is_random(self) -> bool {
        matches!(self, Self::Random { .. } | Self::RandomBlocks { .. })
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Sequential => "sequential",
            Self::Random { .. } => "random",
            Self::RandomBlocks { .. } => "random blocks",
            Self::Backward => "backward",
            Self::Strided { .. } => "strided",
            Self::Same => "same",
        }
    }
}

/// Limit on primed data: more than a processor's caches hold need not be loaded into them.
pub const PRIMED_MAX: Bytes = Bytes::mib(4);

/// When data must be on stable storage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct SyncRule {
    /// Whether to call `fsync(2)` after the last write, inside the timed close.
    pub at_close: bool,
    /// Whether to call `fsync(2)` after each write, inside that transfer's latency.
    pub per_write: bool,
}

/// Access advice given to the kernel after open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Advice {
    /// No advice.
    #[default]
    None,
    /// One call with `POSIX_FADV_RANDOM | POSIX_FADV_NOREUSE | POSIX_FADV_DONTNEED`, as study D prints it. The values
    /// are an enumeration: combined by OR they are 5, which is `NOREUSE` alone.
    AsPublished,
    /// Three calls, one for each advice, as study D intended.
    AsMeant,
}

/// Whose data a task reads or checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReadFrom {
    /// Its own data.
    Same,
    /// The data that task `t + tasks` wrote (modulo the number of tasks).
    Shift {
        /// Shift in tasks.
        tasks: u32,
    },
    /// A random assignment in which each task's data is read once.
    Shuffle {
        /// Minimum distance between a task and the one it reads from, if possible.
        at_least: u32,
        /// The seed of the assignment; it changes with the repetition if `reseed` is set.
        seed: u64,
        /// Whether each repetition has a different assignment.
        reseed: bool,
    },
}

/// The rate of an open-loop run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Pace {
    /// Transfers per second of all tasks together; intended starts are evenly spaced.
    pub transfers_per_second: f64,
}

/// How the tasks of a workload are spread over the processes of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Spread {
    /// Over the first [`WorkloadSpec::nodes`] nodes. Consecutive tasks are on one node, distributed evenly over its
    /// processes.
    #[default]
    Nodes,
    /// A fixed number of consecutive tasks on each process, in the order of the launcher's ranks, like IOR. Surplus
    /// processes have no tasks.
    Ranks {
        /// Tasks of each process.
        tasks_per_rank: u32,
    },
}

const fn one() -> u32 {
    1
}

/// A workload specification that is not yet validated.
///
/// [`WorkloadSpec::new`] gives a sequential psync workload of one task; change the fields that differ and call
/// [`WorkloadSpec::validate`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorkloadSpec {
    /// A name for tables; unique in a plan.
    pub name: String,
    /// What the tasks do.
    #[serde(default)]
    pub work: Work,
    /// The files, or the directories below which trees are created.
    pub files: FileSet,
    /// Number of logical workers, each with offsets of its own.
    pub tasks: u32,
    /// Number of nodes; 1 if the run was not started by a launcher.
    #[serde(default = "one")]
    pub nodes: u32,
    /// How the tasks are spread over processes.
    #[serde(default)]
    pub spread: Spread,
    /// Transfers, blocks and segments.
    pub geometry: Geometry,
    /// The order of a task's transfers.
    pub order: Order,
    /// Whether each repetition has another random order, so that no cache holds its data.
    #[serde(default)]
    pub fresh_order: bool,
    /// How transfers reach the kernel.
    pub backend: Backend,
    /// Whether to use `O_DIRECT`, which bypasses the page cache.
    pub direct: bool,
    /// When data must be on stable storage.
    pub sync: SyncRule,
    /// Access advice given to the kernel after open.
    pub advice: Advice,
    /// Whose data a task reads.
    pub read_from: ReadFrom,
    /// Ends a phase by the clock; the remaining work is skipped.
    pub stonewall: Option<Stonewall>,
    /// Repeats the pass until this time has passed, and stops then.
    pub duration: Option<Nanos>,
    /// Each task ends a pass after this many transfers, for example because only this much was written before.
    #[serde(default)]
    pub transfer_limit: Option<u64>,
    /// Each task does exactly this many transfers: it repeats the pass, or stops within it.
    #[serde(default)]
    pub operations: Option<u64>,
    /// Open loop: transfers start by the clock, not when the previous one has ended.
    pub pace: Option<Pace>,
    /// Share of reads, in percent, in a [`crate::Phase::Mixed`].
    pub read_percent: u8,
    /// Whether all tasks wait for each other between open, transfers and close.
    pub barriers: bool,
    /// Whether reads are compared with what was written, inside the timed phase.
    pub verify: bool,
    /// Whether to stop at the first wrong byte instead of counting.
    pub quit_on_error: bool,
    /// Whether a short read or write is an error immediately instead of being continued.
    pub single_attempt: bool,
    /// Data signature: the same value gives the same bytes.
    pub signature: u64,
    /// Total memory held by this node during the run.
    pub memory_hog: Bytes,
    /// Warns about a task whose time differs from the mean by more than this.
    pub outlier: Option<Nanos>,
    /// Whether to drop the bytes to be read from the page cache before each read, untimed (`POSIX_FADV_DONTNEED`),
    /// like ioping. Psync only.
    #[serde(default)]
    pub forget: bool,
    /// Whether only the data must be stable after a write: `fdatasync(2)` instead of `fsync(2)`. Psync only.
    #[serde(default)]
    pub data_sync: bool,
    /// How often each task reads its part of the file before its time starts, so that data, buffer and counters are
    /// in the processor's caches, as in a tool whose tests follow each other immediately. Not with direct I/O, and
    /// only up to [`PRIMED_MAX`].
    #[serde(default)]
    pub primed: u8,
    /// Whether the file is synced and closed outside all times after the last write, like IOzone without `-c` and
    /// `-e`. The times then include no guarantee of stable data.
    #[serde(default)]
    pub sync_after: bool,
    /// Whether the file is opened with `O_SYNC` (`O_DSYNC` for data only), instead of a call after each write, if
    /// each write must be stable. Not for streams and mappings, which write later.
    #[serde(default)]
    pub sync_open: bool,
    /// Whether the operations are only recorded for the output of a foreign tool, so that devices are not traced.
    #[serde(default)]
    pub untraced: bool,
    /// Each process records its last operations, up to this many, with time, offset and duration.
    #[serde(default)]
    pub history: Option<u64>,
}

impl WorkloadSpec {
    /// A workload of one task on one file: sequential, psync, buffered, removed afterwards.
    #[must_use]
    pub fn new(name: impl Into<String>, target: impl Into<PathBuf>, geometry: Geometry) -> Self {
        Self {
            name: name.into(),
            work: Work::default(),
            files: FileSet {
                targets: vec![target.into()],
                sharing: Sharing::Shared,
                exact_names: false,
                unique_dir: false,
                file_per_repetition: false,
                existing: Existing::Replace,
                keep: Keep::Never,
                preallocate: false,
                fill: false,
            },
            tasks: 1,
            nodes: 1,
            spread: Spread::Nodes,
            geometry,
            order: Order::Sequential,
            fresh_order: false,
            backend: Backend::plain(),
            direct: false,
            sync: SyncRule::default(),
            advice: Advice::None,
            read_from: ReadFrom::Same,
            stonewall: None,
            duration: None,
            transfer_limit: None,
            operations: None,
            pace: None,
            read_percent: 100,
            barriers: false,
            verify: false,
            quit_on_error: false,
            single_attempt: false,
            signature: 0,
            memory_hog: Bytes(0),
            outlier: None,
            forget: false,
            data_sync: false,
            primed: 0,
            sync_after: false,
            sync_open: false,
            untraced: false,
            history: None,
        }
    }
}

/// A workload that can be run. Its fields are those of [`WorkloadSpec`], read-only.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "WorkloadSpec", into = "WorkloadSpec")]
pub struct Workload(pub(crate) WorkloadSpec);

impl Deref for Workload {
    type Target = WorkloadSpec;

    fn deref(&self) -> &WorkloadSpec {
        &self.0
    }
}

impl TryFrom<WorkloadSpec> for Workload {
    type Error = PlanError;

    fn try_from(spec: WorkloadSpec) -> Result<Self, PlanError> {
        spec.validate()
    }
}

impl From<Workload> for WorkloadSpec {
    fn from(workload: Workload) -> Self {
        workload.0
    }
}

impl Workload {
    /// Whether each task ends a phase with a `sync(2)`: see [`crate::Tree::sync_all`].
    #[must_use]
    pub fn syncs_all(&self) -> bool {
        self.backend.moves_data() && self.work.tree().is_some_and(|tree| tree.sync_all)
    }

    /// The name of the order of the transfers in tables.
    #[must_use]
    pub fn order_name(&self) -> &'static str {
        match self.order {
            Order::RandomBlocks { .. } if self.geometry.transfers_per_block() == 1 => "random",
            order => order.name(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::WorkloadSpec;
    use crate::{Backend, Bytes, Geometry, Phase};

    #[test]
    fn conditions_say_what_a_figure_is_of() {
        let geometry = Geometry { transfer: Bytes::kib(4), block: Bytes::mib(1), segments: 1 };
        let mut spec = WorkloadSpec::new("w", "f", geometry);
        spec.backend = Backend::Uring { depth: 32, required: false };
        spec.direct = true;
        let workload = spec.validate().expect("valid");
        assert_eq!(workload.conditions(Phase::Read), "4 KiB sequential read, direct, uring depth 32, 1 task");
    }
}
