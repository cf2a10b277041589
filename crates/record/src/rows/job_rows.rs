//! Rows of phases of jobs: launches, their steps, and the bytes moved in each space.

use serde::{Deserialize, Serialize};

use crate::table::{KeyedRow, Value, row};
use crate::{PhaseKey, SharedText};

row! {
    /// One launch of a phase of jobs, or one table of a load phase: a process with the kernel's accounting.
    #[derive(Eq)]
    LaunchRow in "launches" {
        /// The node on which it ran.
        node: SharedText,
        /// Launch number, which is its task number.
        launch: u32,
        /// Its test; in a load phase, the table that it creates.
        test: SharedText,
        /// `computation`, `memory`, `io`; `load`.
        kind: SharedText,
        /// The stream, which determines the data that it worked on.
        stream: u32,
        /// Its round within the stream.
        round: u32,
        /// Start, relative to the phase's common start.
        start_ns: u64,
        /// End as reported by the kernel, relative to the phase's common start.
        end_ns: u64,
        /// Time from its start until its first step.
        start_cost_ns: u64,
        /// CPU time in user mode, from `wait4(2)`.
        user_cpu_ns: u64,
        /// CPU time in the kernel, from `wait4(2)`.
        system_cpu_ns: u64,
        /// CPU time of its control group, or `None` if it had none.
        group_cpu_ns: Option<u64>,
        /// Peak resident memory: that of its largest step, and for a launch that did not complete at least that.
        peak_memory_bytes: u64,
        /// Page faults that needed I/O.
        major_faults: u64,
        /// Bytes that the kernel read from storage for it (`ru_inblock`, in units of 512 bytes).
        block_input_bytes: u64,
        /// Bytes that the kernel has written or will write for it (`ru_oublock`, in units of 512 bytes).
        block_output_bytes: u64,
        /// Voluntary context switches.
        voluntary_switches: u64,
        /// Involuntary context switches.
        involuntary_switches: u64,
        /// Bytes that it read from permanent space.
        permanent_read_bytes: u64,
        /// Bytes that it wrote to permanent space.
        permanent_write_bytes: u64,
        /// Bytes that it read from work space.
        work_read_bytes: u64,
        /// Bytes that it wrote to work space.
        work_write_bytes: u64,
        /// Peak number of bytes stored in work space.
        work_peak_bytes: u64,
        /// Bytes that it read from utility space.
        utility_read_bytes: u64,
        /// Bytes that it wrote to utility space.
        utility_write_bytes: u64,
        /// Peak number of bytes stored in utility space.
        utility_peak_bytes: u64,
        /// `complete`, `failed`, `killed`, `out-of-memory`, `too-long`, `skipped` or `stopped`.
        outcome: SharedText,
        /// Why it is not complete; empty if it is.
        message: SharedText,
    }
}

impl LaunchRow {
    /// A complete launch of `test` that took no time and moved no data. Used as a base for constructing
    /// others.
    #[must_use]
    pub fn new(key: PhaseKey, test: &str) -> Self {
        Self { test: test.into(), outcome: "complete".into(), ..Self::zero(key) }
    }
}

row! {
    /// One step of a launch. For a killed launch, times and counts end with its last completed step.
    #[derive(Eq)]
    StepRow in "steps" {
        /// The launch.
        launch: u32,
        /// Its test.
        test: SharedText,
        /// The number of the step in the launch, from 0.
        step: u32,
        /// The action, for example `sort`.
        action: SharedText,
        /// Number of threads that executed it.
        threads: u32,
        /// Start, relative to the phase's common start.
        start_ns: u64,
        /// End, relative to the phase's common start.
        end_ns: u64,
        /// CPU time in user mode.
        user_cpu_ns: u64,
        /// CPU time in the kernel.
        system_cpu_ns: u64,
        /// Peak resident memory during the step.
        peak_memory_bytes: u64,
        /// Bytes that the kernel read from storage for it.
        block_input_bytes: u64,
        /// Bytes that the kernel has written or will write for it.
        block_output_bytes: u64,
        /// Voluntary context switches.
        voluntary_switches: u64,
        /// Involuntary context switches.
        involuntary_switches: u64,
        /// Bytes that it read from permanent space.
        permanent_read_bytes: u64,
        /// Bytes that it wrote to permanent space.
        permanent_write_bytes: u64,
        /// Bytes that it read from work space.
        work_read_bytes: u64,
        /// Bytes that it wrote to work space.
        work_write_bytes: u64,
        /// Bytes that it read from utility space.
        utility_read_bytes: u64,
        /// Bytes that it wrote to utility space.
        utility_write_bytes: u64,
        /// Number of rows that it read.
        rows_in: u64,
        /// Number of rows that it wrote or left.
        rows_out: u64,
        /// Wrapping sum of the XXH64 of each row that it wrote or left, as 16 hexadecimal digits; empty if there
        /// are no rows.
        checksum: SharedText,
        /// Further results, as a JSON object of names and numbers.
        result: SharedText,
    }
}

row! {
    /// Bytes that all jobs together moved in one space in one second of a phase.
    #[derive(Eq)]
    SpaceRow in "spaces" {
        /// `permanent`, `work` or `utility`.
        space: SharedText,
        /// Start of the interval, relative to the phase's common start.
        start_ns: u64,
        /// Length of the interval; the last one may be shorter.
        length_ns: u64,
        /// Bytes read.
        read_bytes: u64,
        /// Bytes written.
        write_bytes: u64,
        /// Free bytes of this space's file system at the end of the interval, or `None` if unknown.
        free_bytes: Option<u64>,
    }
}
