//! Jobs of an analytics server: many processes at once that compute, sort, scan and write tables in
//! permanent, work and utility space.
//!
//! A *table* is a file of rows of fixed width in pages. A *test* is a kind of job: a list of [`Step`]s on
//! tables. A *launch* is one job: a process that goes through the steps of its test. A test is launched in
//! several *streams*, which run at the same time on data of their own, and in several *rounds*, which run
//! back to back in each stream. [`Jobs::launches`] is the matrix of all of them.
//!
//! Sizes and numbers of operations are those of this measurement: what a study states at full scale has been
//! multiplied by its scale already.
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
mod problems;
mod seeds;
mod step;
#[cfg(test)]
mod tests;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use extent::Extent;
pub use launches::Launch;
pub use problems::JobProblem;
pub use seeds::{GOLDEN, data_seed, drawn, mix, step_seed, table_seed};
pub use step::{Action, Output, Step, TableOrder};

use crate::{Bytes, Nanos};

/// Bytes of a row: what [`crate::jobs`] calls fixed width.
pub const ROW_BYTES: u64 = 128;
/// Smallest and largest page, as the studied application allows them.
pub const PAGE_BYTES: (Bytes, Bytes) = (Bytes::kib(64), Bytes::mib(1));
/// More launches than this are taken for a slip of the pen: of the shortest published ones they would take half a
/// day at 30 at a time, and each knows those that it waits for by their numbers.
pub const LAUNCHES_MAX: u64 = 1 << 12;
/// More rows than this are no table of a server: 128 TiB.
pub const ROWS_MAX: u64 = 1 << 40;
/// A step has memory for so many pages at least, whatever its study says, and for [`PAGES_PER_THREAD`] more for
/// each of its threads: it has to hold pages of all its inputs and outputs.
pub const PAGES_MIN: u64 = 16;
/// See [`PAGES_MIN`].
pub const PAGES_PER_THREAD: u64 = 4;

/// One of the three places that jobs keep data in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Space {
    /// What stays: the tables that jobs read, and those that they leave for others.
    Permanent,
    /// What a job writes for its own later steps.
    Work,
    /// What a step writes for itself, as the runs of a sort.
    Utility,
}

impl Space {
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

impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What a test stresses most, in the words of the published workload.
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
    /// Bytes of a page: what one transfer moves.
    pub page_bytes: Bytes,
    /// By how much sizes and operations were multiplied, in parts of 1,000,000,000.
    pub scale_billionths: u64,
    /// All data are drawn from this.
    pub seed: u64,
    /// The tables that stand in permanent space before the first launch.
    pub tables: Vec<JobTable>,
    /// The kinds of job.
    pub tests: Vec<JobTest>,
    /// At most so many launches at a time; all that are ready where 0.
    pub concurrency: u32,
    /// Pages bypass the page cache.
    pub direct: bool,
    /// A table is on stable storage when it is closed.
    pub sync: bool,
    /// Free space below this share of a file system, in percent, is warned about.
    pub free_percent_min: u32,
    /// A launch that runs for longer is ended and counts as failed.
    pub launch_limit: Option<Nanos>,
}

/// A table that the load phase makes from the seed: once for each stream that reads it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobTable {
    /// Its name, unique among tables and permanent outputs.
    pub name: String,
    /// Rows.
    pub rows: u64,
    /// Different keys.
    pub groups: u64,
    /// In what order its rows stand.
    pub order: TableOrder,
}

/// A kind of job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobTest {
    /// Its name.
    pub name: String,
    /// What it is for, in the reader's words; may be empty.
    pub title: String,
    /// What it stresses most.
    pub kind: TestKind,
    /// So many run at the same time, each on data of its own.
    pub streams: u32,
    /// So many run back to back in each stream.
    pub rounds: u32,
    /// Tests all of whose launches have ended before the first of this one begins.
    pub after: Vec<String>,
    /// A ceiling that the kernel keeps for the memory of one launch, page cache included, where it can.
    pub memory_max: Option<Bytes>,
    /// What is done, one step after the other.
    pub steps: Vec<Step>,
}

impl JobTest {
    /// A test that is launched once, has no ceiling and waits for none.
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

    /// Rows that a page holds beside its header, which is as long as a row.
    #[must_use]
    pub const fn rows_per_page(&self) -> u64 {
        self.page_bytes.0 / ROW_BYTES - 1
    }

    /// Bytes of a table of so many rows: whole pages, one at least.
    #[must_use]
    pub fn table_bytes(&self, rows: u64) -> Bytes {
        Bytes(rows.div_ceil(self.rows_per_page()).max(1).saturating_mul(self.page_bytes.0))
    }

    /// The least memory that a step with so many threads has.
    #[must_use]
    pub const fn memory_min(&self, threads: u32) -> Bytes {
        Bytes((PAGES_MIN + PAGES_PER_THREAD * threads as u64) * self.page_bytes.0)
    }

    /// The test called `name`.
    #[must_use]
    pub fn test(&self, name: &str) -> Option<&JobTest> {
        self.tests.iter().find(|test| test.name == name)
    }

    /// Streams that the table called `name` is made for: as many as the test with most of them that uses it.
    #[must_use]
    pub fn replicas(&self, name: &str) -> u32 {
        let uses =
            |test: &&JobTest| test.steps.iter().any(|step| step.action.inputs().any(|one| one == name));
        self.tests.iter().filter(uses).map(|test| test.streams).max().unwrap_or(0)
    }
}
