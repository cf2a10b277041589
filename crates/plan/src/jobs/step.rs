//! What a job does, one step after the other.

use serde::{Deserialize, Serialize};

use super::Space;
use crate::Bytes;

/// In what order the rows of a table stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TableOrder {
    /// By number; keys are drawn at random.
    #[default]
    Number,
    /// By key.
    Key,
}

/// A table that a step writes.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Output {
    /// Its name.
    pub table: String,
    /// Where it stands: one in permanent space can be read by tests that come after this one.
    pub space: Space,
}

/// A step of a test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// What is done.
    pub action: Action,
    /// Threads that do it.
    pub threads: u32,
    /// Memory for its data; [`super::Jobs::memory_min`] at least.
    pub memory: Bytes,
}

/// What a step does.
///
/// An input is a table of the workload, or the output of an earlier step of the same test, or a permanent
/// output of another test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "lowercase")]
pub enum Action {
    /// Makes a table from the seed.
    Generate {
        /// What is made.
        output: Output,
        /// Its rows.
        rows: u64,
        /// Its different keys: each row has one below this number.
        groups: u64,
        /// The order of its rows.
        order: TableOrder,
    },
    /// Reads a table and keeps the rows of some days.
    Scan {
        /// What is read.
        input: String,
        /// Where the rows that are kept are written; nowhere where none is named.
        output: Option<Output>,
        /// Share of the days that are kept, in parts of 1,000,000.
        keep_millionths: u32,
    },
    /// Rows, sum of quantities and sum of amounts of each key, by a hash table.
    Summarise {
        /// What is read.
        input: String,
        /// Where a row for each key is written, in the order of keys.
        output: Option<Output>,
    },
    /// Sorts by key and number. Three copies of the input stand at its end: one in work space, the sorted runs
    /// in utility space, and the output.
    Sort {
        /// What is read.
        input: String,
        /// Where the rows are written in order.
        output: Output,
    },
    /// Joins two tables that are in the order of their keys, by reading both once.
    Merge {
        /// The one side.
        left: String,
        /// The other side.
        right: String,
        /// Where a row for each pair of equal keys is written, in the order of keys.
        output: Option<Output>,
    },
    /// Builds an index by key and reads rows by it in a random order.
    Index {
        /// What is read.
        input: String,
        /// Keys that are looked up.
        lookups: u64,
    },
    /// Adds rows at the end of a table.
    Append {
        /// What is changed.
        table: String,
        /// Rows that are added.
        rows: u64,
    },
    /// Changes rows where they stand.
    Update {
        /// What is changed.
        table: String,
        /// Share of the pages that are changed, in parts of 1,000,000.
        share_millionths: u32,
    },
    /// Least squares of the measure on the eight variables.
    Regression {
        /// What is read.
        input: String,
        /// Floating-point operations: as many passes over the rows that are in memory as these take.
        operations: u64,
    },
    /// Factorises a dense matrix.
    Factorisation {
        /// What is read first, whose variables fill the matrix; drawn from the seed where none is named.
        input: Option<String>,
        /// Floating-point operations, which give the number of its rows.
        operations: u64,
    },
    /// Fourier transforms of a series, and back.
    Fourier {
        /// What is read first, whose amounts are the series; drawn from the seed where none is named.
        input: Option<String>,
        /// Floating-point operations: as many transforms as these take.
        operations: u64,
    },
    /// Paths of a random process, and the mean of their ends.
    Simulation {
        /// Floating-point operations, which give the number of paths.
        operations: u64,
    },
    /// Holds rows in memory and visits them in an order that no cache foresees.
    Shuffle {
        /// What is read first; drawn from the seed where none is named.
        input: Option<String>,
        /// Visits.
        operations: u64,
    },
}

impl Action {
    /// The word used in studies, tables and records.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Generate { .. } => "generate",
            Self::Scan { .. } => "scan",
            Self::Summarise { .. } => "summarise",
            Self::Sort { .. } => "sort",
            Self::Merge { .. } => "merge",
            Self::Index { .. } => "index",
            Self::Append { .. } => "append",
            Self::Update { .. } => "update",
            Self::Regression { .. } => "regression",
            Self::Factorisation { .. } => "factorisation",
            Self::Fourier { .. } => "fourier",
            Self::Simulation { .. } => "simulation",
            Self::Shuffle { .. } => "shuffle",
        }
    }

    /// The tables that it reads or changes.
    pub fn inputs(&self) -> impl Iterator<Item = &str> {
        let (one, two) = match self {
            Self::Generate { .. } | Self::Simulation { .. } => (None, None),
            Self::Merge { left, right, .. } => (Some(left), Some(right)),
            Self::Scan { input, .. }
            | Self::Summarise { input, .. }
            | Self::Sort { input, .. }
            | Self::Index { input, .. }
            | Self::Regression { input, .. }
            | Self::Append { table: input, .. }
            | Self::Update { table: input, .. } => (Some(input), None),
            Self::Factorisation { input, .. } | Self::Fourier { input, .. } | Self::Shuffle { input, .. } => {
                (input.as_ref(), None)
            }
        };
        one.into_iter().chain(two).map(String::as_str)
    }

    /// The table that it changes where it stands.
    #[must_use]
    pub fn changes(&self) -> Option<&str> {
        match self {
            Self::Append { table, .. } | Self::Update { table, .. } => Some(table),
            _ => None,
        }
    }

    /// The table that it writes anew.
    #[must_use]
    pub const fn output(&self) -> Option<&Output> {
        match self {
            Self::Generate { output, .. } | Self::Sort { output, .. } => Some(output),
            Self::Scan { output, .. } | Self::Summarise { output, .. } | Self::Merge { output, .. } => {
                output.as_ref()
            }
            _ => None,
        }
    }
}
