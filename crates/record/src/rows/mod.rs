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

use crate::table::{KeyedRow, Value, row};
use crate::{PhaseKey, SharedText};

row! {
    /// One phase as a whole: all tasks together. Times count from the phase's common start.
    PhaseRow in "phases" {
        /// Wall clock at the start, nanoseconds since 1970-01-01 UTC.
        started_unix_ns: i64,
        /// Time from the beginning of the first task's open to the end of the last task's close.
        wall_ns: u64,
        /// Time from the beginning of the first task's open to the end of the last task's open.
        open_ns: u64,
        /// Time from the beginning of the first transfer to the end of the last one, over all tasks.
        io_ns: u64,
        /// Time from the beginning of the first task's close (with its fsync) to the end of the last task's
        /// close.
        close_ns: u64,
        /// Bytes moved by reads.
        read_bytes: u64,
        /// Bytes moved by writes.
        write_bytes: u64,
        /// Number of completed reads.
        reads: u64,
        /// Number of completed writes.
        writes: u64,
        /// Time from the beginning of the first transfer until the first task was done.
        first_done_ns: u64,
        /// Bytes that all tasks together had moved when the first task was done. For processes other than
        /// that task's, they are interpolated from the per-second series, as if moved evenly within each
        /// second.
        first_done_bytes: u64,
        /// With a stonewall: time from the beginning of the first transfer until the last task saw the
        /// deadline.
        stonewall_ns: Option<u64>,
        /// With a stonewall: bytes moved by all tasks until the deadline.
        stonewall_bytes: Option<u64>,
        /// CPU time of all processes of the run in user mode during the phase.
        user_cpu_ns: u64,
        /// CPU time of all processes of the run in the kernel during the phase.
        system_cpu_ns: u64,
        /// Number of 512-byte cells that were compared and were wrong.
        wrong_cells: u64,
        /// Bytes that the devices under the targets read, if they could be observed.
        device_read_bytes: Option<u64>,
        /// Bytes that the devices under the targets wrote, if they could be observed.
        device_write_bytes: Option<u64>,
        /// Number of completed operations other than transfers: files, directories, objects, exchanges.
        items: u64 = 4,
        /// Bytes that the file system has allocated for the examined files (`st_blocks`, in units of 512
        /// bytes).
        allocated_bytes: Option<u64> = 4,
        /// In a search: the number of names that also match the size and time conditions.
        found: Option<u64> = 4,
        /// Number of items that were unexpectedly missing or already present, because another process changed
        /// the tree.
        surprises: u64 = 4,
        /// If operations were recorded and devices traced at the same time: number of requests that followed another
        /// one of the same device in the same direction.
        traced_requests: Option<u64> = 4,
        /// Number of these requests that began where the previous one had ended.
        traced_contiguous: Option<u64> = 4,
        /// Median distance of the others from that position.
        traced_seek_bytes: Option<u64> = 4,
        /// For jobs: CPU time of the process that launched and watched them, which is not included in the
        /// phase's own CPU time.
        harness_cpu_ns: Option<u64> = 4,
        /// Processor time used by everything on its nodes while they were observed: programs, kernel threads and
        /// interrupts.
        node_cpu_ns: Option<u64> = 4,
        /// The part of `io_ns` for which threads of the run were ready and waited for a processor, as a sum
        /// over the threads.
        cpu_wait_ns: Option<u64> = 4,
        /// Bytes of the files to be read that were in the page caches of the readers' nodes before the phase.
        resident_bytes: Option<u64> = 4,
        /// Total bytes of these files. A file that all tasks share counts once, other files for each process
        /// that reads them.
        resident_of_bytes: Option<u64> = 4,
        /// Bytes that the run's own processes fetched from block devices, according to the kernel's
        /// accounting.
        fetched_bytes: Option<u64> = 4,
    }
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
    pub fn new(key: PhaseKey) -> Self {
        Self::zero(key)
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

row! {
    /// One task in one phase. Times count from the phase's common start.
    TaskRow in "tasks" {
        /// The task's number.
        task: u32,
        /// The node on which it ran.
        node: SharedText,
        /// The file's number in the file set.
        file: u32,
        /// When open began.
        open_start_ns: u64,
        /// When open ended.
        open_end_ns: u64,
        /// When the first transfer began.
        io_start_ns: u64,
        /// When the last transfer ended.
        io_end_ns: u64,
        /// When close (with its fsync) began.
        close_start_ns: u64,
        /// When close ended.
        close_end_ns: u64,
        /// Bytes moved.
        bytes: u64,
        /// Number of completed operations: transfers or items.
        transfers: u64,
        /// With a stonewall: number of operations completed when the task saw the deadline.
        stonewall_transfers: Option<u64> = 4,
    }
}

impl TaskRow {
    /// A task that did nothing. Its file has the task's number, and its node has no name.
    #[must_use]
    pub fn new(key: PhaseKey, task: u32) -> Self {
        Self { task, file: task, ..Self::zero(key) }
    }
}

row! {
    /// One bucket of a latency histogram of all transfers of a phase. A row that counts none holds the mean that another
    /// tool has printed, which is not known from its buckets.
    #[derive(Eq)]
    LatencyRow in "latency" {
        /// The direction of the transfers.
        operation: Operation,
        /// The moment from which the latency is counted.
        measure: Measure,
        /// Smallest latency that the bucket counts.
        low_ns: u64,
        /// Largest latency that the bucket counts.
        high_ns: u64,
        /// Number of transfers in the bucket.
        count: u64,
    }
}

row! {
    /// The transfers in one direction in one second of a phase.
    #[derive(Eq)]
    SeriesRow in "series" {
        /// The direction of the transfers.
        operation: Operation,
        /// Start of the interval, relative to the phase's common start.
        start_ns: u64,
        /// Length of the interval; the last one may be shorter.
        length_ns: u64,
        /// Bytes of the transfers that completed in the interval.
        bytes: u64,
        /// Number of transfers that completed in the interval.
        transfers: u64,
        /// Sum of their latencies.
        latency_sum_ns: u64,
        /// The largest of their latencies.
        latency_max_ns: u64,
    }
}

row! {
    /// The kernel's counters of one block device in one interval of a phase. Source of the columns:
    /// `Documentation/admin-guide/iostats.rst` of Linux.
    #[derive(Eq)]
    DeviceRow in "devices" {
        /// The node of the device; empty in records of version 2 and earlier.
        node: SharedText = 3,
        /// The kernel's name, for example `nvme0n1`.
        device: SharedText,
        /// Start of the interval, relative to the phase's common start.
        start_ns: u64,
        /// Length of the interval.
        length_ns: u64,
        /// Number of completed reads.
        reads: u64,
        /// Bytes read.
        read_bytes: u64,
        /// Sum of the durations of the reads.
        read_time_ns: u64,
        /// Number of completed writes.
        writes: u64,
        /// Bytes written.
        write_bytes: u64,
        /// Sum of the durations of the writes.
        write_time_ns: u64,
        /// Time during which at least one request was in flight.
        busy_ns: u64,
        /// Number of requests in flight, integrated over time.
        queue_time_ns: u64,
    }
}

row! {
    /// Contention and throttling of a node in one interval. Unavailable counters are `None`.
    LoadRow in "load" {
        /// The node.
        node: SharedText,
        /// Start of the interval, relative to the phase's common start.
        start_ns: u64,
        /// Length of the interval after the common start. It is much longer than the others if the program did not run.
        /// Of what was counted in the interval in which the phase started, the row has the part after the start, in
        /// proportion to its time; earlier intervals have no row.
        length_ns: u64,
        /// Processor time used by everything on the node: programs, kernel threads, interrupts.
        busy_cpu_ns: Option<u64>,
        /// Processor time that a hypervisor gave to others.
        stolen_cpu_ns: Option<u64>,
        /// Number of quota periods of the control group that was throttled most.
        quota_periods: Option<u64>,
        /// Number of these periods in which its processes had used up the quota.
        throttled_periods: Option<u64>,
        /// Time for which threads of the run were ready and waited for a processor, as a sum over the threads that
        /// existed at its end. If there are more than 256 threads, a sample represents all. `None` if no thread could
        /// be examined.
        cpu_wait_ns: Option<u64>,
        /// Time for which some task of the run's control group waited for memory to be freed or read back (pressure
        /// stall information). `None` in the root group, whose value would include other processes.
        memory_stall_ns: Option<u64>,
        /// Time during which the program did not run although processors were free: it was stopped by a
        /// signal, its control group was frozen, or the machine itself was paused.
        stopped_ns: u64,
        /// Number of threads of the run in uninterruptible sleep at the end of an interval in which no device
        /// had a request.
        blocked_threads: u32,
        /// The kernel function in which most of them were blocked (`wchan`); otherwise empty.
        blocked_in: SharedText,
    }
}

row! {
    /// The transfers of the tasks of one node in one direction, in one second of a phase that has several
    /// nodes.
    #[derive(Eq)]
    NodeSeriesRow in "node_series" {
        /// The node.
        node: SharedText,
        /// The direction of the transfers.
        operation: Operation,
        /// Start of the interval, relative to the phase's common start.
        start_ns: u64,
        /// Length of the interval; the last one may be shorter.
        length_ns: u64,
        /// Bytes of the transfers that completed in the interval.
        bytes: u64,
        /// Number of transfers that completed in the interval.
        transfers: u64,
        /// Sum of their latencies.
        latency_sum_ns: u64,
        /// The largest of their latencies.
        latency_max_ns: u64,
    }
}

row! {
    /// One operation of a phase as seen by the caller. Includes the device's part of the time if the device
    /// could be traced. Columns that the engine does not know are those of the I/O history printed by IBM
    /// Storage Scale (`mmfsadm dump iohist`).
    #[derive(Eq)]
    HistoryRow in "history" {
        /// The node on which it was requested.
        node: SharedText,
        /// The task that requested it.
        task: u32,
        /// The worker of the task's process that executed it, from 0.
        thread: u32,
        /// The operation.
        operation: Operation,
        /// Time of submission to the kernel, relative to the phase's common start.
        start_ns: u64,
        /// Time from submission to completion.
        latency_ns: u64,
        /// Path of the file or device, or name of the item; empty if unknown.
        file: SharedText,
        /// Offset in the file; 0 for operations on whole items.
        offset_bytes: u64,
        /// Bytes moved.
        bytes: u64,
        /// The device with the bytes, by its name on the node; empty if unknown.
        device: SharedText,
        /// First sector of 512 bytes on that device.
        sector: Option<u64>,
        /// The device's part of the time. `None` if the device's requests could not be traced, or if none of
        /// them belongs to the operation.
        device_ns: Option<u64>,
        /// How the device's request was found: by `sector`, or by `time` (only its time and size); empty if
        /// none was found.
        matched: SharedText,
        /// What the bytes are: `data`, `metadata`, `inode`, and so on; empty if unknown.
        kind: SharedText,
        /// The inode of the file.
        tag1: Option<i64>,
        /// The block in the file, in units of the file system's block size.
        tag2: Option<i64>,
        /// The disk's name among all disks; in this program's own runs its world wide name or serial number.
        disk_uid: SharedText,
        /// The node's role: `cli` (client), `srv` (server), or `lcl` for a local disk.
        node_type: SharedText,
        /// The node that serves the disk.
        server: SharedText,
        /// The purpose: in this program's own runs the phase, otherwise what the file system reports.
        context: SharedText,
        /// The name of the thread that executed it.
        thread_name: SharedText,
        /// Further information from newer dumps.
        comment: SharedText = 4,
    }
}

impl HistoryRow {
    /// An operation of the first task with only its kind set: zero duration, no bytes moved, no device
    /// traced.
    #[must_use]
    pub fn new(key: PhaseKey, operation: Operation) -> Self {
        Self { operation, ..Self::zero(key) }
    }
}

row! {
    /// One value printed by another tool, verbatim.
    PrintedRow in "printed" {
        /// The tool's name for it. Results of IO500 have the labels of [`crate::io500`].
        label: SharedText,
        /// The value as printed.
        value: SharedText,
        /// The value as a number in `unit`, or `None` if it is not a number.
        number: Option<f64>,
        /// The unit that the tool means; empty for counts and texts.
        unit: SharedText,
        /// `max`, `mean`, and so on; empty if the tool does not say.
        statistic: SharedText,
        /// The file from which it was read.
        source: SharedText,
        /// The line in the file, from 1.
        line: u32,
    }
}

row! {
    /// One endpoint of exchanges in one phase: its place in the network and on its host, and the CPU time of
    /// its threads.
    #[derive(Eq)]
    EndRow in "ends" {
        /// The node on which it ran.
        node: SharedText,
        /// Its number among the endpoints.
        end: u32,
        /// The network interface that it used; empty if no single interface has its address.
        interface: SharedText,
        /// The address used there.
        address: SharedText,
        /// The NUMA node of the adapter, if known.
        adapter_node: Option<u32>,
        /// Number of client threads.
        client_threads: u32,
        /// Number of server threads.
        server_threads: u32,
        /// CPU time of the client threads during the exchanges.
        client_cpu_ns: u64,
        /// CPU time of the server threads during the exchanges.
        server_cpu_ns: u64,
        /// The processors that client threads were bound to: one for each thread, for example `0,1,0,1`, or
        /// the same ones for all threads, for example `0-3`. Empty if they were not bound.
        client_processors: SharedText,
        /// The processors that server threads were bound to, in the same format.
        server_processors: SharedText,
        /// The transport of the messages, for example `TCP`.
        transport: SharedText,
        /// Why RDMA was not used.
        rdma: SharedText,
        /// Number of connections rejected because they lacked the key of the phase.
        shut_out: u64,
    }
}
