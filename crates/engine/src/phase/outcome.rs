//! The outcome of a phase.

use std::fmt;
use std::path::PathBuf;

use plan::{Measure, Operation};
use serde::{Deserialize, Serialize};

use crate::{EndOutcome, LastOperation, LatencyHistogram};

/// The outcome of one task. Times are nanoseconds since the phase's common start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskOutcome {
    /// The task's number in the whole run.
    pub task: u32,
    /// The file's number in the file set.
    pub file: u32,
    /// When open began.
    pub open_start_ns: u64,
    /// When open ended, including advice, preallocation and mapping.
    pub open_end_ns: u64,
    /// When the first transfer began.
    pub io_start_ns: u64,
    /// When the last transfer ended.
    pub io_end_ns: u64,
    /// When close (including its fsync) began.
    pub close_start_ns: u64,
    /// When close ended.
    pub close_end_ns: u64,
    /// Number of bytes of the completed transfers.
    pub bytes: u64,
    /// Number of completed reads.
    pub reads: u64,
    /// Number of completed writes.
    pub writes: u64,
    /// Number of completed operations other than transfers.
    pub items: u64,
    /// With a stonewall: the number of operations completed when the task saw the deadline.
    pub stonewall_transfers: Option<u64>,
}

impl TaskOutcome {
    /// Number of completed operations: transfers in either direction, and items.
    #[must_use]
    pub const fn transfers(&self) -> u64 {
        self.reads.saturating_add(self.writes).saturating_add(self.items)
    }
}

/// The amount moved until the stonewall.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stonewalled {
    /// Time from the beginning of the first transfer until the last task of this process saw the
    /// deadline.
    pub ns: u64,
    /// Bytes moved by the tasks of this process until each of them saw the deadline.
    pub bytes: u64,
    /// With wear-out: the number of transfers to which every task of the run then continued.
    pub worn_out_transfers: Option<u64>,
}

/// The latencies of one operation.
#[derive(Debug, Clone)]
pub struct Latency {
    /// The operation.
    pub operation: Operation,
    /// The moment from which the latency is counted.
    pub measure: Measure,
    /// The latencies of all transfers of the phase.
    pub histogram: LatencyHistogram,
}

/// The totals of one operation in one interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeriesInterval {
    /// The operation.
    pub operation: Operation,
    /// Start of the interval, from the phase's common start.
    pub start_ns: u64,
    /// Length of the interval; the last one of a phase is shorter.
    pub length_ns: u64,
    /// Bytes of the transfers completed in the interval.
    pub bytes: u64,
    /// Number of these transfers.
    pub transfers: u64,
    /// Sum of their latencies (response).
    pub latency_sum_ns: u64,
    /// The largest of their latencies (response).
    pub latency_max_ns: u64,
}

impl SeriesInterval {
    /// Key by which intervals of several ranks are merged.
    #[must_use]
    pub const fn place(&self) -> (u64, Operation) {
        (self.start_ns, self.operation)
    }

    /// Adds another part of the same interval.
    pub fn add(&mut self, other: &Self) {
        self.length_ns = self.length_ns.max(other.length_ns);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.transfers = self.transfers.saturating_add(other.transfers);
        self.latency_sum_ns = self.latency_sum_ns.saturating_add(other.latency_sum_ns);
        self.latency_max_ns = self.latency_max_ns.max(other.latency_max_ns);
    }
}

/// What was found instead of the expected data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MismatchKind {
    /// Correct position, but an older generation than expected: a lost write.
    Stale {
        /// The generation found.
        found: u16,
    },
    /// The run's data, but of another position.
    Misplaced {
        /// Number of the file that the data belongs to.
        file: u32,
        /// The offset that the data belongs to.
        offset: u64,
    },
    /// Damage within a cell, or cells of two generations within the range of a single write.
    Torn {
        /// The generation of the cell, if its stamp is readable.
        found: Option<u16>,
    },
    /// Data that this program did not write.
    Foreign,
    /// Only zeros: a hole, or blocks that were never written.
    Zeros,
    /// Data of this program with another signature.
    OtherRun {
        /// The generation found.
        found: u16,
    },
}

impl MismatchKind {
    /// The name used in tables and records.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Stale { .. } => "stale",
            Self::Misplaced { .. } => "misplaced",
            Self::Torn { .. } => "torn",
            Self::Foreign => "foreign",
            Self::Zeros => "zeros",
            Self::OtherRun { .. } => "other run",
        }
    }

    /// Index in [`Mismatches::by_kind`].
    pub(crate) const fn index(self) -> usize {
        match self {
            Self::Stale { .. } => 0,
            Self::Misplaced { .. } => 1,
            Self::Torn { .. } => 2,
            Self::Foreign => 3,
            Self::Zeros => 4,
            Self::OtherRun { .. } => 5,
        }
    }
}

/// One wrong cell. Displays as `FILE: wrong data at offset N: …`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// The file that was read.
    pub path: PathBuf,
    /// The task that read it.
    pub task: u32,
    /// Offset in the file of the first wrong byte.
    pub offset: u64,
    /// Offset in the file of the cell that contains the wrong byte.
    pub cell: u64,
    /// Number of the file that was expected.
    pub expected_file: u32,
    /// The generations expected; `None` if any is accepted.
    pub expected_generations: Option<(u16, u16)>,
    /// What was found.
    pub kind: MismatchKind,
    /// The first bytes found from `offset` on, at most 16.
    pub found: Vec<u8>,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: wrong data at offset {}: ", self.path.display(), self.offset)?;
        match self.kind {
            MismatchKind::Stale { found } => write!(f, "stale data of generation {found}"),
            MismatchKind::Misplaced { file, offset } if file == self.expected_file => {
                write!(f, "misplaced data that belongs to offset {offset}")
            }
            MismatchKind::Misplaced { file, offset } => {
                write!(f, "misplaced data that belongs to offset {offset} of file {file}")
            }
            MismatchKind::Torn { found: Some(found) } => {
                write!(f, "torn data, partly of generation {found}")
            }
            MismatchKind::Torn { found: None } => f.write_str("torn data: bytes within a cell are damaged"),
            MismatchKind::Foreign => f.write_str("foreign data, which ioproof did not write"),
            MismatchKind::Zeros => f.write_str("zeros: a hole or never written"),
            MismatchKind::OtherRun { found } => write!(
                f,
                "stale data of another run: ioproof wrote it with another seed (ior: -G), as generation {found}"
            ),
        }?;
        match self.expected_generations {
            Some((first, last)) if first == last => write!(f, ", expected generation {first}"),
            Some((first, last)) => write!(f, ", expected a generation from {first} to {last}"),
            None => Ok(()),
        }?;
        f.write_str(" (bytes")?;
        for byte in &self.found {
            write!(f, " {byte:02x}")?;
        }
        f.write_str(")")
    }
}

/// All wrong data of a phase.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Mismatches {
    /// Number of wrong cells. A cell has 512 bytes, but the last one of a transfer may be shorter.
    pub wrong_cells: u64,
    /// The same by kind: stale, misplaced, torn, foreign, zeros, of another run.
    pub by_kind: [u64; 6],
    /// Number of cells that were compared.
    pub checked_cells: u64,
    /// The first wrong cells, by file and offset; at most [`Mismatches::DESCRIBED`].
    pub first: Vec<Mismatch>,
}

impl Mismatches {
    /// Maximum number of wrong cells described individually.
    pub const DESCRIBED: usize = 16;

    /// Adds the findings of another worker or process.
    pub fn merge(&mut self, other: Self) {
        self.wrong_cells += other.wrong_cells;
        self.checked_cells += other.checked_cells;
        for (mine, theirs) in self.by_kind.iter_mut().zip(other.by_kind) {
            *mine += theirs;
        }
        self.first.extend(other.first);
        self.first.sort_by_key(|mismatch| (mismatch.expected_file, mismatch.offset));
        self.first.truncate(Self::DESCRIBED);
    }
}

/// Items modified by another process during the run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Surprises {
    /// Number of items.
    pub count: u64,
    /// Descriptions of the first items, for example `/t/test-dir.0-0/file.mdtest.0.7: is not there`; at
    /// most [`Surprises::DESCRIBED`].
    pub first: Vec<String>,
}

impl Surprises {
    /// Maximum number of items described individually.
    pub const DESCRIBED: usize = 16;

    /// Adds the surprises of another worker or process.
    pub fn merge(&mut self, other: Self) {
        self.count += other.count;
        self.first.extend(other.first);
        self.first.truncate(Self::DESCRIBED);
    }
}

/// A circumstance of the phase that affects its figures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Note {
    /// The kernel is too old for the fastest `io_uring` mode; the named mode was used.
    OlderUringMode {
        /// The flags that were left out.
        without: &'static str,
    },
    /// More than half of the buffers could not be registered with `io_uring`.
    BuffersNotRegistered {
        /// `RLIMIT_MEMLOCK` in bytes.
        have: u64,
        /// Bytes of all buffers and rings.
        need: u64,
    },
    /// Files could not be registered with `io_uring`.
    FilesNotRegistered,
    /// `io_uring` has no operation for this phase; plain system calls were used, one at a time for each task.
    PlainCalls {
        /// What the phase does, for example `reads the names in directories`.
        what: &'static str,
    },
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OlderUringMode { without } => {
                write!(
                    f,
                    "io_uring ran without {without}, which this kernel does not have; a newer kernel uses \
                     less CPU"
                )
            }
            Self::BuffersNotRegistered { have, need } => write!(
                f,
                "io_uring ran with fewer than half of its buffers registered: the locked-memory limit is {have} \
                 bytes, but they and its rings need {need}, beside what other processes of this user have locked; \
                 `ulimit -l {}` is sufficient if they have locked nothing",
                need.div_ceil(1024)
            ),
            Self::FilesNotRegistered => {
                f.write_str("io_uring ran without registered files: the kernel rejected them")
            }
            Self::PlainCalls { what } => write!(
                f,
                "io_uring was not used in the phase that {what}: plain system calls were used, one at a \
                 time for each task"
            ),
        }
    }
}

/// The outcome of the part of a phase that ran in this process. Unless noted otherwise, times count from
/// the phase's common start. The durations are those of the record's phase table.
#[derive(Debug, Clone)]
pub struct PhaseOutcome {
    /// Wall clock at the common start, nanoseconds since 1970-01-01 UTC.
    pub started_unix_ns: i64,
    /// This host's `CLOCK_MONOTONIC_RAW` at the common start, the clock of the kernel tracer's events.
    pub started_raw_ns: u64,
    /// The outcome of each task, by task number.
    pub tasks: Vec<TaskOutcome>,
    /// Time from the beginning of the first task's open to the end of the last task's close.
    pub wall_ns: u64,
    /// Time from the beginning of the first task's open to the end of the last task's open.
    pub open_ns: u64,
    /// Time from the beginning of the first transfer to the end of the last one, over all tasks.
    pub io_ns: u64,
    /// Time from the beginning of the first task's close to the end of the last task's close.
    pub close_ns: u64,
    /// Bytes moved by reads.
    pub read_bytes: u64,
    /// Bytes moved by writes.
    pub write_bytes: u64,
    /// Number of completed reads.
    pub reads: u64,
    /// Number of completed writes.
    pub writes: u64,
    /// Number of completed operations other than transfers: files, directories, objects, exchanges.
    pub items: u64,
    /// Bytes that the file system has allocated for the files that were examined with `stat`.
    pub allocated_bytes: Option<u64>,
    /// In a search: the number of names that also match the size and time conditions.
    pub found: Option<u64>,
    /// Items modified by another process during the run.
    pub surprises: Surprises,
    /// Time from the beginning of the first transfer until the first task was done.
    pub first_done_ns: u64,
    /// Bytes moved by all tasks of this process when the first of them was done.
    pub first_done_bytes: u64,
    /// With a stonewall: the amount moved until then.
    pub stonewall: Option<Stonewalled>,
    /// Histograms of the operations that occurred.
    pub latency: Vec<Latency>,
    /// Intervals with completed operations, ordered by time.
    pub series: Vec<SeriesInterval>,
    /// The last operations of this process, by start time, if the workload records them.
    pub history: Vec<LastOperation>,
    /// CPU time of this process in user mode during the phase.
    pub user_cpu_ns: u64,
    /// CPU time of this process in the kernel during the phase.
    pub system_cpu_ns: u64,
    /// Findings of the checks.
    pub mismatches: Mismatches,
    /// Whether the phase was ended by [`crate::Controls::stop`]. The values are then those measured until
    /// the stop.
    pub stopped: bool,
    /// In an open loop: the number of transfers due before the end that were never started, because the
    /// storage was too slow for the rate even with as much time again.
    pub unstarted: u64,
    /// Number of transfers that took several calls because the storage moved fewer bytes than requested.
    pub continued: u64,
    /// Circumstances of the phase.
    pub notes: Vec<Note>,
    /// For exchanges: the outcome of this process's endpoint.
    pub end: Option<EndOutcome>,
}

impl PhaseOutcome {
    /// The largest number of transfers that a task of this process has done, as in IOR's stonewalling
    /// status file.
    #[must_use]
    pub fn most_transfers(&self) -> u64 {
        self.tasks.iter().map(TaskOutcome::transfers).max().unwrap_or(0)
    }
}
