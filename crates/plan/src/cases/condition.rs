//! The conditions of a case that a text printed by another tool may not contain.

use serde::{Deserialize, Serialize};

/// A condition under which a case was measured. The value is in the workload; for an imported case it is only
/// meaningful there if [`crate::Case::knows`] it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Condition {
    /// Bytes of one operation: a transfer, a file, an object.
    Transfer,
    /// Bytes in sequence of each task.
    Block,
    /// Bytes that a pass goes over: the size of the data.
    Volume,
    /// The order of a task's transfers.
    Order,
    /// The files, devices or directories.
    Path,
    /// Whether tasks share a file.
    Sharing,
    /// Whether the page cache was bypassed.
    Cache,
    /// When data had to be on stable storage.
    Sync,
    /// The system calls.
    Engine,
    /// Operations of each task at a time.
    Depth,
    /// The number of tasks.
    Tasks,
    /// The number of nodes.
    Nodes,
    /// The directories of a tree, and the items in them.
    Tree,
}

impl Condition {
    /// All conditions.
    pub const ALL: [Self; 13] = [
        Self::Transfer,
        Self::Block,
        Self::Volume,
        Self::Order,
        Self::Path,
        Self::Sharing,
        Self::Cache,
        Self::Sync,
        Self::Engine,
        Self::Depth,
        Self::Tasks,
        Self::Nodes,
        Self::Tree,
    ];

    /// Its name in texts.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Transfer => "bytes of an operation",
            Self::Block => "block",
            Self::Volume => "volume",
            Self::Order => "order",
            Self::Path => "path",
            Self::Sharing => "files",
            Self::Cache => "cache",
            Self::Sync => "fsync",
            Self::Engine => "engine",
            Self::Depth => "depth",
            Self::Tasks => "tasks",
            Self::Nodes => "nodes",
            Self::Tree => "directories",
        }
    }
}
