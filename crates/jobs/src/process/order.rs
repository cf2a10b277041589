//! The input and output of a job's process.
//!
//! Both consist of lines of JSON: one [`JobOrder`] on standard input, then [`JobEvent`]s on standard output.

use std::collections::BTreeMap;
use std::path::PathBuf;

use plan::Bytes;
use plan::jobs::Step;
use serde::{Deserialize, Serialize};

/// One job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JobOrder {
    /// Number of the launch.
    pub launch: u32,
    /// Its test, or the table it loads.
    pub test: String,
    /// Its data stream.
    pub stream: u32,
    /// Its index among the launches of its stream.
    pub round: u32,
    /// Size of a page.
    pub page_bytes: Bytes,
    /// Whether pages bypass the page cache.
    pub direct: bool,
    /// Whether tables are synced when closed.
    pub sync: bool,
    /// Whether the output of a `generate` step is read back and checked, as in the load phase.
    #[serde(default)]
    pub check: bool,
    /// Seed of all data: see [`plan::Jobs::seed`].
    pub seed: u64,
    /// The job's directory in each space, in the order of [`plan::JobSpace::ALL`]. Those in work and utility
    /// space are private.
    pub directories: [PathBuf; 3],
    /// Files of tables that its steps read or change and that were created by other jobs or the load
    /// phase.
    pub inputs: BTreeMap<String, PathBuf>,
    /// The steps.
    pub steps: Vec<Step>,
    /// File descriptor for its counters ([`crate::Counters`]).
    pub counters_fd: Option<i32>,
}

/// An event reported by a job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum JobEvent {
    /// It has read its order and begins. `at_ns` is `CLOCK_MONOTONIC`.
    Began {
        /// The time.
        at_ns: u64,
    },
    /// A step is done.
    Step(Box<StepReport>),
    /// It failed.
    Failed {
        /// The step, from 0, or `None` before the first one.
        step: Option<u32>,
        /// The problem, where it occurred, and the next step.
        message: String,
    },
    /// All steps are done, and all files are closed.
    Done,
}

/// Report of a completed step: the FULLSTIMER figures, and more.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct StepReport {
    /// Its number in the test, from 0.
    pub step: u32,
    /// Start time, `CLOCK_MONOTONIC`.
    pub start_ns: u64,
    /// End time.
    pub end_ns: u64,
    /// CPU time in user mode, of all threads.
    pub user_cpu_ns: u64,
    /// CPU time in the kernel.
    pub system_cpu_ns: u64,
    /// Peak resident memory during the step.
    pub peak_memory_bytes: u64,
    /// `ru_inblock` × 512.
    pub block_input_bytes: u64,
    /// `ru_oublock` × 512.
    pub block_output_bytes: u64,
    /// Voluntary context switches (waits).
    pub voluntary_switches: u64,
    /// Involuntary context switches (end of its time slice).
    pub involuntary_switches: u64,
    /// Bytes moved in each space.
    pub moved: Counters,
    /// Rows and results.
    pub outcome: StepOutcome,
}

/// Rows and results of a step.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct StepOutcome {
    /// Number of rows read.
    pub rows_in: u64,
    /// Number of rows written or kept.
    pub rows_out: u64,
    /// Wrapping sum of the XXH64 (seed 0) of the bytes of each row written or kept.
    pub checksum: Option<u64>,
    /// Other results, by name: sums, coefficients, norms.
    pub found: BTreeMap<String, f64>,
}

/// Bytes moved in each space, in the order of [`plan::JobSpace::ALL`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Counters {
    /// Bytes read.
    pub read_bytes: [u64; 3],
    /// Bytes written.
    pub write_bytes: [u64; 3],
    /// Number of reads.
    pub reads: [u64; 3],
    /// Number of writes.
    pub writes: [u64; 3],
    /// Bytes currently held by the job.
    pub held_bytes: [u64; 3],
    /// Peak of the held bytes.
    pub peak_bytes: [u64; 3],
}
