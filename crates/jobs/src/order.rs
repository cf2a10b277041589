//! What a process of one job is told, and what it tells.
//!
//! Both are lines of JSON: one [`JobOrder`] on the standard input, then [`JobEvent`]s on the standard output.

use std::collections::BTreeMap;
use std::path::PathBuf;

use plan::Bytes;
use plan::jobs::Step;
use serde::{Deserialize, Serialize};

/// One job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JobOrder {
    /// Its number.
    pub launch: u32,
    /// Its test, or the table that it loads.
    pub test: String,
    /// Which data it works on.
    pub stream: u32,
    /// Which of the launches of its stream it is.
    pub round: u32,
    /// Bytes of a page.
    pub page_bytes: Bytes,
    /// Pages bypass the page cache.
    pub direct: bool,
    /// Tables are on stable storage when they are closed.
    pub sync: bool,
    /// What a `generate` step makes is read back and checked, as in the phase that loads.
    #[serde(default)]
    pub check: bool,
    /// All data are drawn from this: see [`plan::Jobs::seed`].
    pub seed: u64,
    /// The directory of each space that the job writes in, in the order of [`plan::JobSpace::ALL`]. Those of work
    /// and utility space are its own.
    pub directories: [PathBuf; 3],
    /// Files of tables that other jobs, or the load phase, have made: those that its steps read or change.
    pub inputs: BTreeMap<String, PathBuf>,
    /// What is done.
    pub steps: Vec<Step>,
    /// A file descriptor that it writes its counters to ([`crate::Counters`]).
    pub counters_fd: Option<i32>,
}

/// What a job says of itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum JobEvent {
    /// It has read its order and begins; `at_ns` is `CLOCK_MONOTONIC`.
    Began {
        /// When.
        at_ns: u64,
    },
    /// A step is done.
    Step(Box<StepReport>),
    /// It cannot go on.
    Failed {
        /// The step, from 0; none before the first.
        step: Option<u32>,
        /// What is wrong, where, and the next step.
        message: String,
    },
    /// All steps are done, and all files are closed.
    Done,
}

/// A step that is done: what FULLSTIMER prints, and more.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct StepReport {
    /// Its number in the test, from 0.
    pub step: u32,
    /// When it began, `CLOCK_MONOTONIC`.
    pub start_ns: u64,
    /// When it ended.
    pub end_ns: u64,
    /// CPU time in user mode, of all threads.
    pub user_cpu_ns: u64,
    /// CPU time in the kernel.
    pub system_cpu_ns: u64,
    /// The most memory that was resident at a time during the step.
    pub peak_memory_bytes: u64,
    /// `ru_inblock` × 512.
    pub block_input_bytes: u64,
    /// `ru_oublock` × 512.
    pub block_output_bytes: u64,
    /// Context switches since it waited.
    pub voluntary_switches: u64,
    /// Context switches since its time was over.
    pub involuntary_switches: u64,
    /// What it moved in each space.
    pub moved: Counters,
    /// What it did with rows.
    pub outcome: StepOutcome,
}

/// Rows of a step, and what it found.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct StepOutcome {
    /// Rows that it read.
    pub rows_in: u64,
    /// Rows that it wrote or left.
    pub rows_out: u64,
    /// Wrapping sum of the XXH64 (seed 0) of the bytes of each row that it wrote or left.
    pub checksum: Option<u64>,
    /// What else it found, by name: sums, coefficients, norms.
    pub found: BTreeMap<String, f64>,
}

/// Bytes moved in each space, in the order of [`plan::JobSpace::ALL`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Counters {
    /// Read.
    pub read_bytes: [u64; 3],
    /// Written.
    pub write_bytes: [u64; 3],
    /// Transfers that read.
    pub reads: [u64; 3],
    /// Transfers that wrote.
    pub writes: [u64; 3],
    /// What stands there now that the job has made.
    pub held_bytes: [u64; 3],
    /// The most of it at a time.
    pub peak_bytes: [u64; 3],
}
