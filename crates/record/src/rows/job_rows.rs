//! Rows of phases of jobs: launches, their steps, and the bytes moved in each space.

use serde::{Deserialize, Serialize};

use crate::{PhaseKey, SharedText};

/// One launch of a phase of jobs, or one table of a load phase: a process with the kernel's accounting.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaunchRow {
    /// The phase it belongs to.
    #[serde(flatten)]
    pub key: PhaseKey,
    /// The node on which it ran.
    pub node: SharedText,
    /// Launch number, which is its task number.
    pub launch: u32,
    /// Its test; in a load phase, the table that it creates.
    pub test: SharedText,
    /// `computation`, `memory`, `io`; `load`.
    pub kind: SharedText,
    /// The stream, which determines the data that it worked on.
    pub stream: u32,
    /// Its round within the stream.
    pub round: u32,
    /// Start, relative to the phase's common start.
    pub start_ns: u64,
    /// End as reported by the kernel, relative to the phase's common start.
    pub end_ns: u64,
    /// Time from its start until its first step.
    pub start_cost_ns: u64,
    /// CPU time in user mode, from `wait4(2)`.
    pub user_cpu_ns: u64,
    /// CPU time in the kernel, from `wait4(2)`.
    pub system_cpu_ns: u64,
    /// CPU time of its control group, or `None` if it had none.
    pub group_cpu_ns: Option<u64>,
    /// Peak resident memory: that of its largest step, and for a launch that did not complete at least that.
    pub peak_memory_bytes: u64,
    /// Page faults that needed I/O.
    pub major_faults: u64,
    /// Bytes that the kernel read from storage for it (`ru_inblock`, in units of 512 bytes).
    pub block_input_bytes: u64,
    /// Bytes that the kernel has written or will write for it (`ru_oublock`, in units of 512 bytes).
    pub block_output_bytes: u64,
    /// Voluntary context switches.
    pub voluntary_switches: u64,
    /// Involuntary context switches.
    pub involuntary_switches: u64,
    /// Bytes that it read from permanent space.
    pub permanent_read_bytes: u64,
    /// Bytes that it wrote to permanent space.
    pub permanent_write_bytes: u64,
    /// Bytes that it read from work space.
    pub work_read_bytes: u64,
    /// Bytes that it wrote to work space.
    pub work_write_bytes: u64,
    /// Peak number of bytes stored in work space.
    pub work_peak_bytes: u64,
    /// Bytes that it read from utility space.
    pub utility_read_bytes: u64,
    /// Bytes that it wrote to utility space.
    pub utility_write_bytes: u64,
    /// Peak number of bytes stored in utility space.
    pub utility_peak_bytes: u64,
    /// `complete`, `failed`, `killed`, `out-of-memory`, `too-long`, `skipped` or `stopped`.
    pub outcome: SharedText,
    /// Why it is not complete; empty if it is.
    pub message: SharedText,
}

impl LaunchRow {
    /// A complete launch of `test` that took no time and moved no data. Used as a base for constructing
    /// others.
    #[must_use]
    pub fn new(key: PhaseKey, test: &str) -> Self {
        Self {
            key,
            node: SharedText::EMPTY,
            launch: 0,
            test: test.into(),
            kind: SharedText::EMPTY,
            stream: 0,
            round: 0,
            start_ns: 0,
            end_ns: 0,
            start_cost_ns: 0,
            user_cpu_ns: 0,
            system_cpu_ns: 0,
            group_cpu_ns: None,
            peak_memory_bytes: 0,
            major_faults: 0,
            block_input_bytes: 0,
            block_output_bytes: 0,
            voluntary_switches: 0,
            involuntary_switches: 0,
            permanent_read_bytes: 0,
            permanent_write_bytes: 0,
            work_read_bytes: 0,
            work_write_bytes: 0,
            work_peak_bytes: 0,
            utility_read_bytes: 0,
            utility_write_bytes: 0,
            utility_peak_bytes: 0,
            outcome: "complete".into(),
            message: SharedText::EMPTY,
        }
    }
}

/// One step of a launch. For a killed launch, times and counts end with its last completed step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepRow {
    /// The phase it belongs to.
    #[serde(flatten)]
    pub key: PhaseKey,
    /// The launch.
    pub launch: u32,
    /// Its test.
    pub test: SharedText,
    /// The number of the step in the launch, from 0.
    pub step: u32,
    /// The action, for example `sort`.
    pub action: SharedText,
    /// Number of threads that executed it.
    pub threads: u32,
    /// Start, relative to the phase's common start.
    pub start_ns: u64,
    /// End, relative to the phase's common start.
    pub end_ns: u64,
    /// CPU time in user mode.
    pub user_cpu_ns: u64,
    /// CPU time in the kernel.
    pub system_cpu_ns: u64,
    /// Peak resident memory during the step.
    pub peak_memory_bytes: u64,
    /// Bytes that the kernel read from storage for it.
    pub block_input_bytes: u64,
    /// Bytes that the kernel has written or will write for it.
    pub block_output_bytes: u64,
    /// Voluntary context switches.
    pub voluntary_switches: u64,
    /// Involuntary context switches.
    pub involuntary_switches: u64,
    /// Bytes that it read from permanent space.
    pub permanent_read_bytes: u64,
    /// Bytes that it wrote to permanent space.
    pub permanent_write_bytes: u64,
    /// Bytes that it read from work space.
    pub work_read_bytes: u64,
    /// Bytes that it wrote to work space.
    pub work_write_bytes: u64,
    /// Bytes that it read from utility space.
    pub utility_read_bytes: u64,
    /// Bytes that it wrote to utility space.
    pub utility_write_bytes: u64,
    /// Number of rows that it read.
    pub rows_in: u64,
    /// Number of rows that it wrote or left.
    pub rows_out: u64,
    /// Wrapping sum of the XXH64 of each row that it wrote or left, as 16 hexadecimal digits; empty if there
    /// are no rows.
    pub checksum: SharedText,
    /// Further results, as a JSON object of names and numbers.
    pub result: SharedText,
}

/// Bytes that all jobs together moved in one space in one second of a phase.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpaceRow {
    /// The phase it belongs to.
    #[serde(flatten)]
    pub key: PhaseKey,
    /// `permanent`, `work` or `utility`.
    pub space: SharedText,
    /// Start of the interval, relative to the phase's common start.
    pub start_ns: u64,
    /// Length of the interval; the last one may be shorter.
    pub length_ns: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Free bytes of this space's file system at the end of the interval, or `None` if unknown.
    pub free_bytes: Option<u64>,
}
