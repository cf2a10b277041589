//! Row types. Each row is one observation with typed columns; the name of a column ends with its unit.

pub mod io500;
pub(crate) mod job_rows;
pub(crate) mod key;
pub(crate) mod phase_record;
pub(crate) mod server_rows;
pub(crate) mod shared_text;
pub(crate) mod warning;

use plan::{Measure, Operation};
use serde::{Deserialize, Serialize};

use crate::{PhaseKey, SharedText};

/// One phase as a whole: all tasks together. Times count from the phase's common start.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PhaseRow {
    /// The phase it belongs to.
    #[serde(flatten)]
    pub key: PhaseKey,
    /// Wall clock at the start, nanoseconds since 1970-01-01 UTC.
    pub started_unix_ns: i64,
    /// Time from the beginning of the first task's open to the end of the last task's close.
    pub wall_ns: u64,
    /// Time from the beginning of the first task's open to the end of the last task's open.
    pub open_ns: u64,
    /// Time from the beginning of the first transfer to the end of the last one, over all tasks.
    pub io_ns: u64,
    /// Time from the beginning of the first task's close (with its fsync) to the end of the last task's
    /// close.
    pub close_ns: u64,
    /// Bytes moved by reads.
    pub read_bytes: u64,
    /// Bytes moved by writes.
    pub write_bytes: u64,
    /// Number of completed reads.
    pub reads: u64,
    /// Number of completed writes.
    pub writes: u64,
    /// Time from the beginning of the first transfer until the first task was done.
    pub first_done_ns: u64,
    /// Bytes that all tasks together had moved when the first task was done. For processes other than
    /// that task's, they are interpolated from the per-second series, as if moved evenly within each
    /// second.
    pub first_done_bytes: u64,
    /// With a stonewall: time from the beginning of the first transfer until the last task saw the
    /// deadline.
    pub stonewall_ns: Option<u64>,
    /// With a stonewall: bytes moved by all tasks until the deadline.
    pub stonewall_bytes: Option<u64>,
    /// CPU time of all processes of the run in user mode during the phase.
    pub user_cpu_ns: u64,
    /// CPU time of all processes of the run in the kernel during the phase.
    pub system_cpu_ns: u64,
    /// Number of 512-byte cells that were compared and were wrong.
    pub wrong_cells: u64,
    /// Bytes that the devices under the targets read, if they could be observed.
    pub device_read_bytes: Option<u64>,
    /// Bytes that the devices under the targets wrote, if they could be observed.
    pub device_write_bytes: Option<u64>,
    /// Number of completed operations other than transfers: files, directories, objects, exchanges.
    #[serde(default)]
    pub items: u64,
    /// Bytes that the file system has allocated for the examined files (`st_blocks`, in units of 512
    /// bytes).
    #[serde(default)]
    pub allocated_bytes: Option<u64>,
    /// In a search: the number of names that also match the size and time conditions.
    #[serde(default)]
    pub found: Option<u64>,
    /// Number of items that were unexpectedly missing or already present, because another process changed
    /// the tree.
    #[serde(default)]
    pub surprises: u64,
    /// If operations were recorded and devices traced at the same time: number of requests that followed another
    /// one of the same device in the same direction.
    #[serde(default)]
    pub traced_requests: Option<u64>,
    /// Number of these requests that began where the previous one had ended.
    #[serde(default)]
    pub traced_contiguous: Option<u64>,
    /// Median distance of the others from that position.
    #[serde(default)]
    pub traced_seek_bytes: Option<u64>,
    /// For jobs: CPU time of the process that launched and watched them, which is not included in the
    /// phase's own CPU time.
    #[serde(default)]
    pub harness_cpu_ns: Option<u64>,
    /// Processor time used by everything on its nodes while they were observed: programs, kernel threads and
    /// interrupts.
    #[serde(default)]
    pub node_cpu_ns: Option<u64>,
    /// Bytes of the files to be read that were in the page caches of the readers' nodes before the phase.
    #[serde(default)]
    pub resident_bytes: Option<u64>,
    /// Total bytes of these files. A file that all tasks share counts once, other files for each process
    /// that reads them.
    #[serde(default)]
    pub resident_of_bytes: Option<u64>,
    /// Bytes that the run's own processes fetched from block devices, according to the kernel's
    /// accounting.
    #[serde(default)]
    pub fetched_bytes: Option<u64>,
    /// The part of `io_ns` for which threads of the run were ready and waited for a processor, as a sum
    /// over the threads.
    #[serde(default)]
    pub cpu_wait_ns: Option<u64>,
}

impl PhaseRow {
    /// An empty phase of zero duration, without deadline and observed devices. Used as a base for
    /// constructing others.
    ///
    /// ```
    /// use record::{PhaseKey, PhaseRow};
    ///
    /// let key = PhaseKey { case: "c".into(), repetition: 0, phase: plan::Phase::Read };
    /// let row = PhaseRow { reads: 2, read_bytes: 8192, ..PhaseRow::new(key) };
    /// assert_eq!((row.transfers(), row.bytes(), row.wall_ns), (2, 8192, 0));
    /// ```
    #[must_use]
    pub const fn new(key: PhaseKey) -> Self {
        Self {
            key,
            started_unix_ns: 0,
            wall_ns: 0,
            open_ns: 0,
            io_ns: 0,
            close_ns: 0,
            read_bytes: 0,
            write_bytes: 0,
            reads: 0,
            writes: 0,
            first_done_ns: 0,
            first_done_bytes: 0,
            stonewall_ns: None,
            stonewall_bytes: None,
            user_cpu_ns: 0,
            system_cpu_ns: 0,
            wrong_cells: 0,
            device_read_bytes: None,
            device_write_bytes: None,
            items: 0,
            allocated_bytes: None,
            found: None,
            surprises: 0,
            traced_requests: None,
            traced_contiguous: None,
            traced_seek_bytes: None,
            harness_cpu_ns: None,
            node_cpu_ns: None,
            resident_bytes: None,
            resident_of_bytes: None,
            fetched_bytes: None,
            cpu_wait_ns: None,
        }
    }

    /// Bytes moved in either direction.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.read_bytes + self.write_bytes
    }

    /// Number of completed operations: transfers in either direction, and items.
    #[must_use]
    pub fn transfers(&self) -> u64 {
        self.reads + self.writes + self.items
    }
}

/// One task in one phase. Times count from the phase's common start.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskRow {
    /// The phase it belongs to.
    #[serde(flatten)]
    pub key: PhaseKey,
    /// The task's number.
    pub task: u32,
    /// The node on which it ran.
    pub node: SharedText,
    /// The file's number in the file set.
    pub file: u32,
    /// When open began.
    pub open_start_ns: u64,
    /// When open ended.
    pub open_end_ns: u64,
    /// When the first transfer began.
    pub io_start_ns: u64,
    /// When the last transfer ended.
    pub io_end_ns: u64,
    /// When close (with its fsync) began.
    pub close_start_ns: u64,
    /// When close ended.
    pub close_end_ns: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Number of completed operations: transfers or items.
    pub transfers: u64,
    /// With a stonewall: number of operations completed when the task saw the deadline.
    #[serde(default)]
    pub stonewall_transfers: Option<u64>,
}

impl TaskRow {
    /// A task that did nothing. Its file has the task's number, and its node has no name.
    #[must_use]
    pub const fn new(key: PhaseKey, task: u32) -> Self {
        Self {
            key,
            task,
            node: SharedText::EMPTY,
            file: task,
            open_start_ns: 0,
            open_end_ns: 0,
            io_start_ns: 0,
            io_end_ns: 0,
            close_start_ns: 0,
            close_end_ns: 0,
            bytes: 0,
            transfers: 0,
            stonewall_transfers: None,
        }
    }
}

/// One bucket of a latency histogram of all transfers of a phase. A row that counts none holds the mean that another
/// tool has printed, which is not known from its buckets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LatencyRow {
    /// The phase it belongs to.
    #[serde(flatten)]
    pub key: PhaseKey,
    /// The direction of the transfers.
    pub operation: Operation,
    /// The moment from which the latency is counted.
    pub measure: Measure,
    /// Smallest latency that the bucket counts.
    pub low_ns: u64,
    /// Largest latency that the bucket counts.
    pub high_ns: u64,
    /// Number of transfers in the bucket.
    pub count: u64,
}

/// The transfers in one direction in one second of a phase.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeriesRow {
    /// The phase it belongs to.
    #[serde(flatten)]
    pub key: PhaseKey,
    /// The direction of the transfers.
    pub operation: Operation,
    /// Start of the interval, relative to the phase's common start.
    pub start_ns: u64,
    /// Length of the interval; the last one may be shorter.
    pub length_ns: u64,
    /// Bytes of the transfers that completed in the interval.
    pub bytes: u64,
    /// Number of transfers that completed in the interval.
    pub transfers: u64,
    /// Sum of their latencies.
    pub latency_sum_ns: u64,
    /// The largest of their latencies.
    pub latency_max_ns: u64,
}

/// The kernel's counters of one block device in one interval of a phase. Source of the columns:
/// `Documentation/admin-guide/iostats.rst` of Linux.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceRow {
    /// The phase it belongs to.
    #[serde(flatten)]
    pub key: PhaseKey,
    /// The node of the device; empty in records of version 2 and earlier.
    #[serde(default)]
    pub node: SharedText,
    /// The kernel's name, for example `nvme0n1`.
    pub device: SharedText,
    /// Start of the interval, relative to the phase's common start.
    pub start_ns: u64,
    /// Length of the interval.
    pub length_ns: u64,
    /// Number of completed reads.
    pub reads: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Sum of the durations of the reads.
    pub read_time_ns: u64,
    /// Number of completed writes.
    pub writes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Sum of the durations of the writes.
    pub write_time_ns: u64,
    /// Time during which at least one request was in flight.
    pub busy_ns: u64,
    /// Number of requests in flight, integrated over time.
    pub queue_time_ns: u64,
}

/// Contention and throttling of a node in one interval. Unavailable counters are `None`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LoadRow {
    /// The phase it belongs to.
    #[serde(flatten)]
    pub key: PhaseKey,
    /// The node.
    pub node: SharedText,
    /// Start of the interval, relative to the phase's common start.
    pub start_ns: u64,
    /// Length of the interval after the common start. It is much longer than the others if the program did not run.
    /// Of what was counted in the interval in which the phase started, the row has the part after the start, in
    /// proportion to its time; earlier intervals have no row.
    pub length_ns: u64,
    /// Processor time used by everything on the node: programs, kernel threads, interrupts.
    pub busy_cpu_ns: Option<u64>,
    /// Processor time that a hypervisor gave to others.
    pub stolen_cpu_ns: Option<u64>,
    /// Number of quota periods of the control group that was throttled most.
    pub quota_periods: Option<u64>,
    /// Number of these periods in which its processes had used up the quota.
    pub throttled_periods: Option<u64>,
    /// Time for which threads of the run were ready and waited for a processor, as a sum over the threads that
    /// existed at its end. If there are more than 256 threads, a sample represents all. `None` if no thread could
    /// be examined.
    pub cpu_wait_ns: Option<u64>,
    /// Time for which some task of the run's control group waited for memory to be freed or read back (pressure
    /// stall information). `None` in the root group, whose value would include other processes.
    pub memory_stall_ns: Option<u64>,
    /// Time during which the program did not run although processors were free: it was stopped by a
    /// signal, its control group was frozen, or the machine itself was paused.
    pub stopped_ns: u64,
    /// Number of threads of the run in uninterruptible sleep at the end of an interval in which no device
    /// had a request.
    pub blocked_threads: u32,
    /// The kernel function in which most of them were blocked (`wchan`); otherwise empty.
    pub blocked_in: SharedText,
}

/// The transfers of the tasks of one node in one direction, in one second of a phase that has several
/// nodes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeSeriesRow {
    /// The phase it belongs to.
    #[serde(flatten)]
    pub key: PhaseKey,
    /// The node.
    pub node: SharedText,
    /// The direction of the transfers.
    pub operation: Operation,
    /// Start of the interval, relative to the phase's common start.
    pub start_ns: u64,
    /// Length of the interval; the last one may be shorter.
    pub length_ns: u64,
    /// Bytes of the transfers that completed in the interval.
    pub bytes: u64,
    /// Number of transfers that completed in the interval.
    pub transfers: u64,
    /// Sum of their latencies.
    pub latency_sum_ns: u64,
    /// The largest of their latencies.
    pub latency_max_ns: u64,
}

/// One operation of a phase as seen by the caller. Includes the device's part of the time if the device
/// could be traced. Columns that the engine does not know are those of the I/O history printed by IBM
/// Storage Scale (`mmfsadm dump iohist`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HistoryRow {
    /// The phase it belongs to.
    #[serde(flatten)]
    pub key: PhaseKey,
    /// The node on which it was requested.
    pub node: SharedText,
    /// The task that requested it.
    pub task: u32,
    /// The worker of the task's process that executed it, from 0.
    pub thread: u32,
    /// The operation.
    pub operation: Operation,
    /// Time of submission to the kernel, relative to the phase's common start.
    pub start_ns: u64,
    /// Time from submission to completion.
    pub latency_ns: u64,
    /// Path of the file or device, or name of the item; empty if unknown.
    pub file: SharedText,
    /// Offset in the file; 0 for operations on whole items.
    pub offset_bytes: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// The device with the bytes, by its name on the node; empty if unknown.
    pub device: SharedText,
    /// First sector of 512 bytes on that device.
    pub sector: Option<u64>,
    /// The device's part of the time. `None` if the device's requests could not be traced, or if none of
    /// them belongs to the operation.
    pub device_ns: Option<u64>,
    /// How the device's request was found: by `sector`, or by `time` (only its time and size); empty if
    /// none was found.
    pub matched: SharedText,
    /// What the bytes are: `data`, `metadata`, `inode`, and so on; empty if unknown.
    pub kind: SharedText,
    /// The inode of the file.
    pub tag1: Option<i64>,
    /// The block in the file, in units of the file system's block size.
    pub tag2: Option<i64>,
    /// The disk's name among all disks; in this program's own runs its world wide name or serial number.
    pub disk_uid: SharedText,
    /// The node's role: `cli` (client), `srv` (server), or `lcl` for a local disk.
    pub node_type: SharedText,
    /// The node that serves the disk.
    pub server: SharedText,
    /// The purpose: in this program's own runs the phase, otherwise what the file system reports.
    pub context: SharedText,
    /// The name of the thread that executed it.
    pub thread_name: SharedText,
    /// Further information from newer dumps.
    #[serde(default)]
    pub comment: SharedText,
}

impl HistoryRow {
    /// An operation of the first task with only its kind set: zero duration, no bytes moved, no device
    /// traced.
    #[must_use]
    pub const fn new(key: PhaseKey, operation: Operation) -> Self {
        Self {
            key,
            node: SharedText::EMPTY,
            task: 0,
            thread: 0,
            operation,
            start_ns: 0,
            latency_ns: 0,
            file: SharedText::EMPTY,
            offset_bytes: 0,
            bytes: 0,
            device: SharedText::EMPTY,
            sector: None,
            device_ns: None,
            matched: SharedText::EMPTY,
            kind: SharedText::EMPTY,
            tag1: None,
            tag2: None,
            disk_uid: SharedText::EMPTY,
            node_type: SharedText::EMPTY,
            server: SharedText::EMPTY,
            context: SharedText::EMPTY,
            thread_name: SharedText::EMPTY,
            comment: SharedText::EMPTY,
        }
    }
}

/// One value printed by another tool, verbatim.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PrintedRow {
    /// The phase that it describes.
    #[serde(flatten)]
    pub key: PhaseKey,
    /// The tool's name for it. Results of IO500 have the labels of [`crate::io500`].
    pub label: SharedText,
    /// The value as printed.
    pub value: SharedText,
    /// The value as a number in `unit`, or `None` if it is not a number.
    pub number: Option<f64>,
    /// The unit that the tool means; empty for counts and texts.
    pub unit: SharedText,
    /// `max`, `mean`, and so on; empty if the tool does not say.
    pub statistic: SharedText,
    /// The file from which it was read.
    pub source: SharedText,
    /// The line in the file, from 1.
    pub line: u32,
}

/// One endpoint of exchanges in one phase: its place in the network and on its host, and the CPU time of
/// its threads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndRow {
    /// The phase it belongs to.
    #[serde(flatten)]
    pub key: PhaseKey,
    /// The node on which it ran.
    pub node: SharedText,
    /// Its number among the endpoints.
    pub end: u32,
    /// The network interface that it used; empty if no single interface has its address.
    pub interface: SharedText,
    /// The address used there.
    pub address: SharedText,
    /// The NUMA node of the adapter, if known.
    pub adapter_node: Option<u32>,
    /// Number of client threads.
    pub client_threads: u32,
    /// Number of server threads.
    pub server_threads: u32,
    /// CPU time of the client threads during the exchanges.
    pub client_cpu_ns: u64,
    /// CPU time of the server threads during the exchanges.
    pub server_cpu_ns: u64,
    /// The processors that client threads were bound to: one for each thread, for example `0,1,0,1`, or
    /// the same ones for all threads, for example `0-3`. Empty if they were not bound.
    pub client_processors: SharedText,
    /// The processors that server threads were bound to, in the same format.
    pub server_processors: SharedText,
    /// The transport of the messages, for example `TCP`.
    pub transport: SharedText,
    /// Why RDMA was not used.
    pub rdma: SharedText,
    /// Number of connections rejected because they lacked the key of the phase.
    pub shut_out: u64,
}
