//! Jobs of an analytics server: many concurrent processes that compute, sort, scan and write tables in
//! permanent, work and utility space.
//!
//! A *table* is a file of fixed-width rows in pages. A *test* is a kind of job: a list of [`Step`]s on
//! tables. A *launch* is one job: a process that executes the steps of its test. A test is launched in
//! several *streams*, which run concurrently on separate data, and in several *rounds*, which run back to
//! back in each stream. [`Jobs::launches`] is the matrix of all of them.
//!
//! Sizes and operation counts are those of this measurement: values stated by a study at full scale have
//! already been multiplied by its scale.
//!
//! ```
//! use plan::{Bytes, Jobs, JobTest, TestKind};
//! let mut sort = JobTest::new("sort", TestKind::Io, Vec::new());
//! (sort.streams, sort.rounds) = (2, 3);
//! let jobs = Jobs { tests: vec![sort], ..Jobs::new(Bytes::kib(256)) };
//! let launches = jobs.launches();
//! assert_eq!(launches.len(), 6);
//! // The second round of the second stream waits for its first round.
//! assert_eq!((launches[3].stream, launches[3].round, &launches[3].after[..]), (1, 1, &[1][..]));
//! ```

mod amounts;
mod extent;
mod launches;
mod passes;
mod problems;
mod seeds;
mod step;
#[cfg(test)]
mod tests;
mod traffic;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use extent::{Extent, Extents, StepRows};
pub use launches::Launch;
pub use passes::{Data, Flow, StepPass};
pub use problems::JobProblem;
pub use seeds::{GOLDEN, data_seed, drawn, mix, step_seed, table_seed};
pub use step::{Action, Output, Step, TableOrder};
pub use traffic::Traffic;

use crate::{Bytes, Nanos};

/// Bytes of a row; see [`crate::jobs`].
pub const ROW_BYTES: u64 = 128;
/// Smallest and largest page that the studied application allows.
pub const PAGE_BYTES: (Bytes, Bytes) = (Bytes::kib(64), Bytes::mib(1));
/// Limit on launches; more are taken for a typing error. At 30 at a time, even the shortest published ones
/// would take half a day, and each launch stores the numbers of those it waits for.
pub const LAUNCHES_MAX: u64 = 1 << 12;
/// Limit on rows of a table: 128 TiB.
pub const ROWS_MAX: u64 = 1 << 40;
/// Minimum memory of a step in pages, plus [`PAGES_PER_THREAD`] for each of its threads: it must hold pages
/// of all its inputs and outputs.
pub const PAGES_MIN: u64 = 16;
/// See [`PAGES_MIN`].
pub const PAGES_PER_THREAD: u64 = 4;

/// One of the three storage areas of jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum JobSpace {
    /// Persistent tables: those that jobs read, and those that they leave for other jobs.
    Permanent,
    /// Data written by a job for its own later steps.
    Work,
    /// Temporary data of a step, such as sort runs.
    Utility,
}

impl JobSpace {
    /// All of them, in the order of [`crate::FileSet::targets`] of a workload of jobs.
    pub const ALL: [Self; 3] = [Self::Permanent, Self::Work, Self::Utility];

    /// The word used in tables and records, and the name of its directory.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Permanent => "permanent",
            Self::Work => "work",
            Self::Utility => "utility",
        }
    }
}

impl fmt::Display for JobSpace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The resource that a test stresses most, in the terms of the published workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TestKind {
    /// Processors, fed by I/O.
    Computation,
    /// Memory.
    Memory,
    /// Storage.
    Io,
}

impl TestKind {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::Computation, Self::Memory, Self::Io];

    /// The word used in studies, tables and records.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Computation => "computation",
            Self::Memory => "memory",
            Self::Io => "io",
        }
    }
}

impl fmt::Display for TestKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The jobs of a workload.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Jobs {
    /// Page size in bytes: the amount that one transfer moves.
    pub page_bytes: Bytes,
    /// Scale factor of sizes and operation counts, in parts of 1,000,000,000.
    pub scale_billionths: u64,
    /// Seed of all data.
    pub seed: u64,
    /// Tables that exist in permanent space before the first launch.
    pub tables: Vec<JobTable>,
    /// The kinds of job.
    pub tests: Vec<JobTest>,
    /// Maximum number of concurrent launches; 0 means all that are ready.
    pub concurrency: u32,
    /// Pages bypass the page cache.
    pub direct: bool,
    /// Tables are synced to stable storage when closed.
    pub sync: bool,
    /// Warn if the free space of a file system falls below this share, in percent.
    pub free_percent_min: u32,
    /// A launch that runs longer is terminated and counts as failed.
    pub launch_limit: Option<Nanos>,
}

/// A table that the load phase creates from the seed: once for each stream that reads it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobTable {
    /// Its name, unique among tables and permanent outputs.
    pub name: String,
    /// Number of rows.
    pub rows: u64,
    /// Number of distinct keys.
    pub groups: u64,
    /// Sort order of its rows.
    pub order: TableOrder,
}

/// A kind of job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobTest {
    /// Its name.
    pub name: String,
    /// Its purpose, as the study's author wrote it; may be empty.
    pub title: String,
    /// The resource that it stresses most.
    pub kind: TestKind,
    /// Number of concurrent launches, each on its own data.
    pub streams: u32,
    /// Number of consecutive launches in each stream.
    pub rounds: u32,
    /// Tests whose launches must all have finished before the first of this one starts.
    pub after: Vec<String>,
    /// Memory limit of one launch enforced by the kernel where possible, page cache included.
    pub memory_max: Option<Bytes>,
    /// The steps, in order of execution.
    pub steps: Vec<Step>,
}

impl JobTest {
    /// A test that is launched once, without memory limit or dependencies.
    #[must_use]
    pub fn new(name: &str, kind: TestKind, steps: Vec<Step>) -> Self {
        Self {
            name: name.to_owned(),
            title: String::new(),
            kind,
            streams: 1,
            rounds: 1,
            after: Vec::new(),
            memory_max: None,
            steps,
        }
    }
}

impl Jobs {
    /// No tests yet: full scale, buffered, without a limit.
    #[must_use]
    pub const fn new(page_bytes: Bytes) -> Self {
        Self {
            page_bytes,
            scale_billionths: 1_000_000_000,
            seed: 1,
            tables: Vec::new(),
            tests: Vec::new(),
            concurrency: 0,
            direct: false,
            sync: false,
            free_percent_min: 5,
            launch_limit: None,
        }
    }

    /// Rows per page; the header takes the space of one row.
    #[must_use]
    pub const fn rows_per_page(&self) -> u64 {
        self.page_bytes.0 / ROW_BYTES - 1
    }

    /// Size of a table with `rows` rows: whole pages, at least one.
    #[must_use]
    pub fn table_bytes(&self, rows: u64) -> Bytes {
        Bytes(rows.div_ceil(self.rows_per_page()).max(1).saturating_mul(self.page_bytes.0))
    }

    /// Minimum memory of a step with `threads` threads.
    #[must_use]
    pub const fn memory_min(&self, threads: u32) -> Bytes {
        Bytes((PAGES_MIN + PAGES_PER_THREAD * threads as u64) * self.page_bytes.0)
    }

    /// The test called `name`.
    #[must_use]
    pub fn test(&self, name: &str) -> Option<&JobTest> {
        self.tests.iter().find(|test| test.name == name)
    }

    /// Number of streams that the table called `name` is created for: the largest number of streams of any
    /// test that uses it.
    #[must_use]
    pub fn replicas(&self, name: &str) -> u32 {
        let uses =
            |test: &&JobTest| test.steps.iter().any(|step| step.action.inputs().any(|one| one == name));
        self.tests.iter().filter(uses).map(|test| test.streams).max().unwrap_or(0)
    }
}
