//! Row types: one observation per row, narrow and typed, with the unit at the end of each name.

pub mod io500;
pub(crate) mod job_rows;
pub(crate) mod key;
pub(crate) mod phase_record;
pub(crate) mod server_rows;
pub(crate) mod warning;

use plan::{Measure, Operation};
use serde::{Deserialize, Serialize};

use crate::PhaseKey;

/// One phase as a whole: all tasks together. Times count from the phase's common start.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PhaseRow {
    /// Which phase.
    #[serde(flatten)]
    pub key: PhaseKey,
    /// Wall clock at the start, nanoseconds since 1970-01-01 UTC.
    pub started_unix_ns: i64,
    /// First task's open began → last task's close ended.
    pub wall_ns: u64,
    /// First task's open began → last task's open ended.
    pub open_ns: u64,
    /// First task's first transfer began → last task's last transfer ended.
    pub io_ns: u64,
    /// First task's close (with its fsync) began → last task's close ended.
    pub close_ns: u64,
    /// Bytes moved by reads.
    pub read_bytes: u64,
    /// Bytes moved by writes.
    pub write_bytes: u64,
    /// Completed reads.
    pub reads: u64,
    /// Completed writes.
    pub writes: u64,
    /// First transfer began → first task was done.
    pub first_done_ns: u64,
    /// Bytes that all tasks together had moved when the first task was done; those of other processes
    /// than that task's are taken from their seconds, as if they had been moved evenly within each.
    pub first_done_bytes: u64,
    /// With a stonewall: first transfer began → the deadline was seen by the last task.
    pub stonewall_ns: Option<u64>,
    /// With a stonewall: bytes moved by all tasks up to the deadline.
    pub stonewall_bytes: Option<u64>,
    /// CPU time of all processes of the run in user mode during the phase.
    pub user_cpu_ns: u64,
    /// CPU time of all processes of the run in the kernel during the phase.
    pub system_cpu_ns: u64,
    /// Bytes that were compared and were wrong, in 512-byte cells.
    pub wrong_cells: u64,
    /// Bytes that the devices under the targets read, where they could be observed.
    pub device_read_bytes: Option<u64>,
    /// Bytes that the devices under the targets wrote, where they could be observed.
    pub device_write_bytes: Option<u64>,
    /// Completed operations that are no transfers: files, directories, objects, exchanges.
    #[serde(default)]
    pub items: u64,
    /// Bytes that the file system holds for the files that were looked at (`st_blocks` of 512 bytes).
    #[serde(default)]
    pub allocated_bytes: Option<u64>,
    /// In a search, the names that fit with their size and time.
    #[serde(default)]
    pub found: Option<u64>,
    /// Items unexpectedly missing or already there: another process changes the tree.
    #[serde(default)]
    pub surprises: u64,
    /// Where operations were kept and devices traced beside them: requests that followed another one of the same
    /// device in the same direction.
    #[serde(default)]
    pub traced_requests: Option<u64>,
    /// Of these, those that began where the one before had ended.
    #[serde(default)]
    pub traced_contiguous: Option<u64>,
    /// Median distance of the others from there.
    #[serde(default)]
    pub traced_seek_bytes: Option<u64>,
    /// For jobs: CPU time of the process that launched and watched them, excluded from the phase's own CPU
    /// time.
    #[serde(default)]
    pub harness_cpu_ns: Option<u64>,
    /// Processor time of everything on its nodes while they were observed: programs, threads of the kernel and
    /// interrupts.
    #[serde(default)]
    pub node_cpu_ns: Option<u64>,
    /// Bytes of the files that are read which the page caches of the readers' nodes held before the phase.
    #[serde(default)]
    pub resident_bytes: Option<u64>,
    /// Bytes of these files; one that all tasks share counts once, others for each process that reads them.
    #[serde(default)]
    pub resident_of_bytes: Option<u64>,
    /// Bytes that the run's own processes had fetched from block devices, as the kernel accounts to them.
    #[serde(default)]
    pub fetched_bytes: Option<u64>,
    /// The part of `io_ns` for which threads of the run were ready and waited for a processor, summed over them.
    #[serde(default)]
    pub cpu_wait_ns: Option<u64>,
}

impl PhaseRow {
    /// An empty phase of zero duration, without deadline or watched devices; a base for constructing others.
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

    /// Completed operations: transfers in either direction, and items.
    #[must_use]
    pub fn transfers(&self) -> u64 {
        self.reads + self.writes + self.items
    }
}

/// One task in one phase. Times count from the phase's common start.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskRow {
    /// Which phase.
    #[serde(flatten)]
    pub key: PhaseKey,
    /// The task's number.
    pub task: u32,
    /// The node that it ran on.
    pub node: String,
    /// Number of the file in the set.
    pub file: u32,
    /// Open began.
    pub open_start_ns: u64,
    /// Open ended.
    pub open_end_ns: u64,
    /// The first transfer began.
    pub io_start_ns: u64,
    /// The last transfer ended.
    pub io_end_ns: u64,
    /// Close (with its fsync) began.
    pub close_start_ns: u64,
    /// Close ended.
    pub close_end_ns: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Completed operations: transfers, or items.
    pub transfers: u64,
    /// With a stonewall: those that were completed when the task saw the deadline.
    #[serde(default)]
    pub stonewall_transfers: Option<u64>,
}

impl TaskRow {
    /// A task that did nothing, on the file of its number and an unnamed node.
    #[must_use]
    pub const fn new(key: PhaseKey, task: u32) -> Self {
        Self {
            key,
            task,
            node: String::new(),
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

/// One bucket of a latency histogram of all transfers of a phase.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LatencyRow {
    /// Which phase.
    #[serde(flatten)]
    pub key: PhaseKey,
    /// Which direction.
    pub operation: Operation,
    /// Start point of the latency.
    pub measure: Measure,
    /// Smallest latency that falls into the bucket.
    pub low_ns: u64,
    /// Largest latency that falls into the bucket.
    pub high_ns: u64,
    /// Transfers in the bucket.
    pub count: u64,
}

/// What one direction did in one second of a phase.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeriesRow {
    /// Which phase.
    #[serde(flatten)]
    pub key: PhaseKey,
    /// Which direction.
    pub operation: Operation,
    /// The interval starts this long after the phase's common start.
    pub start_ns: u64,
    /// The interval's length; the last one may be shorter.
    pub length_ns: u64,
    /// Bytes of the transfers that completed in the interval.
    pub bytes: u64,
    /// Transfers that completed in the interval.
    pub transfers: u64,
    /// Sum of their latencies.
    pub latency_sum_ns: u64,
    /// The largest of their latencies.
    pub latency_max_ns: u64,
}

/// What the kernel counted for one block device in one interval of a phase.
/// Source of the columns: `Documentation/admin-guide/iostats.rst` of Linux.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceRow {
    /// Which phase.
    #[serde(flatten)]
    pub key: PhaseKey,
    /// The node that it is a device of; empty in records of version 2 and earlier.
    #[serde(default)]
    pub node: String,
    /// The kernel's name, as in `nvme0n1`.
    pub device: String,
    /// The interval starts this long after the phase's common start.
    pub start_ns: u64,
    /// The interval's length.
    pub length_ns: u64,
    /// Completed reads.
    pub reads: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Sum of the reads' times.
    pub read_time_ns: u64,
    /// Completed writes.
    pub writes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Sum of the writes' times.
    pub write_time_ns: u64,
    /// Time during which at least one request was in flight.
    pub busy_ns: u64,
    /// Requests in flight, summed over time.
    pub queue_time_ns: u64,
}

/// Contention and throttling of a node in one interval. Unavailable counters are none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LoadRow {
    /// Which phase.
    #[serde(flatten)]
    pub key: PhaseKey,
    /// The node.
    pub node: String,
    /// The interval starts this long after the phase's common start.
    pub start_ns: u64,
    /// Its length after the common start; much longer than the others where the program did not run. The interval in
    /// which the phase started has all that was counted in it, those before have no row.
    pub length_ns: u64,
    /// Processor time of everything on the node: programs, threads of the kernel, interrupts.
    pub busy_cpu_ns: Option<u64>,
    /// Processor time that a hypervisor gave to others.
    pub stolen_cpu_ns: Option<u64>,
    /// Periods of the processor quota of the control group that was throttled most.
    pub quota_periods: Option<u64>,
    /// Those in which its processes had used up the quota.
    pub throttled_periods: Option<u64>,
    /// Time for which threads of the run were ready and waited for a processor, summed over those that were there
    /// at its end; of more than 256 threads some are looked at, and stand for all. None where no thread could be.
    pub cpu_wait_ns: Option<u64>,
    /// Time for which some task of the control group of the run waited for memory to be freed or read back (pressure
    /// stall information); none in the root group, where it would be that of others as well.
    pub memory_stall_ns: Option<u64>,
    /// Time during which the program did not run although the processors were free: it was stopped by a
    /// signal, its control group was frozen, or the machine itself was paused.
    pub stopped_ns: u64,
    /// Threads of the run in uninterruptible sleep at the end of an interval in which no device had a request.
    pub blocked_threads: u32,
    /// The function of the kernel that held most of them (`wchan`); else empty.
    pub blocked_in: String,
}

/// What the tasks of one node did in one direction in one second of a phase of several nodes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeSeriesRow {
    /// Which phase.
    #[serde(flatten)]
    pub key: PhaseKey,
    /// The node.
    pub node: String,
    /// Which direction.
    pub operation: Operation,
    /// The interval starts this long after the phase's common start.
    pub start_ns: u64,
    /// The interval's length; the last one may be shorter.
    pub length_ns: u64,
    /// Bytes of the transfers that completed in the interval.
    pub bytes: u64,
    /// Transfers that completed in the interval.
    pub transfers: u64,
    /// Sum of their latencies.
    pub latency_sum_ns: u64,
    /// The largest of their latencies.
    pub latency_max_ns: u64,
}

/// One operation of a phase as seen by the caller, with the device's part of its time if the device could be
/// traced. Columns unknown to the engine are those of the I/O history printed by IBM Storage Scale (`mmfsadm
/// dump iohist`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HistoryRow {
    /// Which phase.
    #[serde(flatten)]
    pub key: PhaseKey,
    /// The node that it was asked for on.
    pub node: String,
    /// The task that asked for it.
    pub task: u32,
    /// The worker of its process that carried it out, from 0.
    pub thread: u32,
    /// What was done.
    pub operation: Operation,
    /// It was handed to the kernel this long after the phase's common start.
    pub start_ns: u64,
    /// Time from submission to completion.
    pub latency_ns: u64,
    /// Path of the file or device, or the item's name; empty where it is not known.
    pub file: String,
    /// Where in the file; 0 for operations on whole items.
    pub offset_bytes: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// The device that the bytes are on, as it is called there; empty where it is not known.
    pub device: String,
    /// First sector of 512 bytes on that device.
    pub sector: Option<u64>,
    /// The part of the time that the device took; none where its requests could not be watched, or none
    /// of them belongs to the operation.
    pub device_ns: Option<u64>,
    /// How the device's request was found: `sector`, or `time` (by its time and size alone); empty where
    /// none was.
    pub matched: String,
    /// What the bytes are: `data`, `metadata`, `inode`, and so on; empty where it is not known.
    pub kind: String,
    /// The inode of the file.
    pub tag1: Option<i64>,
    /// The block in the file: of the file system's block size.
    pub tag2: Option<i64>,
    /// The disk's name among all disks: of an own run its world wide name or serial number.
    pub disk_uid: String,
    /// The node's part in it: `cli`, `srv`, or `lcl` of a local disk.
    pub node_type: String,
    /// The node that serves the disk.
    pub server: String,
    /// What it was done for: the phase of an own run, else what the file system says.
    pub context: String,
    /// The name of the thread that did it.
    pub thread_name: String,
    /// What a newer dump says of it besides.
    #[serde(default)]
    pub comment: String,
}

impl HistoryRow {
    /// An operation of the first task of which only the kind is known: zero duration, no bytes moved, no
    /// device traced.
    #[must_use]
    pub const fn new(key: PhaseKey, operation: Operation) -> Self {
        Self {
            key,
            node: String::new(),
            task: 0,
            thread: 0,
            operation,
            start_ns: 0,
            latency_ns: 0,
            file: String::new(),
            offset_bytes: 0,
            bytes: 0,
            device: String::new(),
            sector: None,
            device_ns: None,
            matched: String::new(),
            kind: String::new(),
            tag1: None,
            tag2: None,
            disk_uid: String::new(),
            node_type: String::new(),
            server: String::new(),
            context: String::new(),
            thread_name: String::new(),
            comment: String::new(),
        }
    }
}

/// One value printed by another tool, verbatim.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PrintedRow {
    /// Which phase it is about.
    #[serde(flatten)]
    pub key: PhaseKey,
    /// What the tool calls it; results of IO500 have the labels of [`crate::io500`].
    pub label: String,
    /// As printed.
    pub value: String,
    /// The number that this is, in `unit`; none where it is none.
    pub number: Option<f64>,
    /// The unit as the tool means it; empty for counts and words.
    pub unit: String,
    /// `max`, `mean`, and so on; empty where the tool does not say.
    pub statistic: String,
    /// The file that it was read from.
    pub source: String,
    /// The line there, from 1.
    pub line: u32,
}

/// One end of exchanges in one phase: its place in the network and on its host, and the cost of its threads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndRow {
    /// Which phase.
    #[serde(flatten)]
    pub key: PhaseKey,
    /// The node that it ran on.
    pub node: String,
    /// Its number among the ends.
    pub end: u32,
    /// The network interface that it used; empty where no one interface has its address.
    pub interface: String,
    /// Its address there.
    pub address: String,
    /// The NUMA node of the adapter, if known.
    pub adapter_node: Option<u32>,
    /// Client threads.
    pub client_threads: u32,
    /// Server threads.
    pub server_threads: u32,
    /// CPU time of the client threads, while there were exchanges.
    pub client_cpu_ns: u64,
    /// The same for the server threads.
    pub server_cpu_ns: u64,
    /// The processors that asking threads were bound to: one for each thread, as `0,1,0,1`, or all of them
    /// for all threads, as `0-3`. Empty where they were bound to none.
    pub client_processors: String,
    /// The same for the server threads.
    pub server_processors: String,
    /// How messages went over the network, as `TCP`.
    pub transport: String,
    /// Why RDMA was not used.
    pub rdma: String,
    /// Connections rejected because they lacked the key of the phase.
    pub shut_out: u64,
}
