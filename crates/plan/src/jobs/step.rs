//! The steps of a job.

use serde::{Deserialize, Serialize};

use super::JobSpace;
use crate::Bytes;

/// Sort order of the rows of a table.
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
    /// Where it is stored: a table in permanent space can be read by later tests.
    pub space: JobSpace,
}

/// A step of a test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// The operation.
    pub action: Action,
    /// Number of threads.
    pub threads: u32,
    /// Memory for its data; at least [`super::Jobs::memory_min`].
    pub memory: Bytes,
}

/// The operation of a step.
///
/// An input is a table of the workload, or the output of an earlier step of the same test, or a permanent
/// output of another test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "lowercase")]
pub enum Action {
    /// Generates a table from the seed.
    Generate {
        /// The table to create.
        output: Output,
        /// Number of rows.
        rows: u64,
        /// Number of distinct keys; keys are below this number.
        groups: u64,
        /// The order of its rows.
        order: TableOrder,
    },
    /// Reads a table and keeps the rows of selected days.
    Scan {
        /// The input table.
        input: String,
        /// Where the selected rows are written; nowhere if not named.
        output: Option<Output>,
        /// Share of the days that are kept, in parts of 1,000,000.
        keep_millionths: u32,
    },
    /// Counts rows and sums quantities and amounts per key, using a hash table.
    Summarise {
        /// The input table.
        input: String,
        /// Where a row for each key is written, in key order.
        output: Option<Output>,
    },
    /// Sorts by key and number. At its end three copies of the input exist: one in work space, the sorted
    /// runs in utility space, and the output.
    Sort {
        /// The input table.
        input: String,
        /// Where the sorted rows are written.
        output: Output,
    },
    /// Joins two tables sorted by key, reading each once.
    Merge {
        /// The one side.
        left: String,
        /// The other side.
        right: String,
        /// Where a row for each pair of equal keys is written, in key order.
        output: Option<Output>,
    },
    /// Builds an index by key and reads rows by it in a random order.
    Index {
        /// The input table.
        input: String,
        /// Number of keys that are looked up.
        lookups: u64,
    },
    /// Adds rows at the end of a table.
    Append {
        /// The table to extend.
        table: String,
        /// Number of rows that are added.
        rows: u64,
    },
    /// Updates rows in place.
    Update {
        /// The table to change.
        table: String,
        /// Share of the pages that are changed, in parts of 1,000,000.
        share_millionths: u32,
    },
    /// Least-squares regression of the measure on the eight variables.
    Regression {
        /// The input table.
        input: String,
        /// Floating-point operations; as many passes over the rows in memory are made as these require.
        operations: u64,
    },
    /// Factorises a dense matrix.
    Factorisation {
        /// Input table whose variables fill the matrix; drawn from the seed if not named.
        input: Option<String>,
        /// Floating-point operations, which determine the number of its rows.
        operations: u64,
    },
    /// Fourier transforms of a series, and back.
    Fourier {
        /// Input table whose amounts are the series; drawn from the seed if not named.
        input: Option<String>,
        /// Floating-point operations; as many transforms are made as these require.
        operations: u64,
    },
    /// Paths of a random process, and the mean of their end points.
    Simulation {
        /// Floating-point operations, which determine the number of paths.
        operations: u64,
    },
    /// Holds rows in memory and visits them in a cache-unfriendly order.
    Shuffle {
        /// Input table; drawn from the seed if not named.
        input: Option<String>,
        /// Number of visits.
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

    /// Number of operations that it computes: floating-point ones, or visits. `None` if it only moves
    /// rows.
    #[must_use]
    pub const fn operations(&self) -> u64 {
        match self {
            Self::Regression { operations, .. }
            | Self::Factorisation { operations, .. }
            | Self::Fourier { operations, .. }
            | Self::Simulation { operations }
            | Self::Shuffle { operations, .. } => *operations,
            _ => 0,
        }
    }

    /// The table that it changes in place.
    #[must_use]
    pub fn changes(&self) -> Option<&str> {
        match self {
            Self::Append { table, .. } | Self::Update { table, .. } => Some(table),
            _ => None,
        }
    }

    /// The table that it creates.
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
