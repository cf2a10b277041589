//! The nodes of a run, and what is compared over them.

use schemars::JsonSchema;
use serde::Serialize;

/// The nodes of a run of several processes, or of several runs that were merged.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct ClusterInfo {
    /// What the MPI library says of itself; absent where no launcher started the run.
    pub(crate) library: Option<String>,
    /// Processes; absent likewise.
    pub(crate) ranks: Option<usize>,
    /// All names in short, as in `n[01-16]`.
    pub(crate) names: String,
    /// In the order of their first ranks.
    pub(crate) nodes: Vec<NodeInfo>,
    /// Facts that are not the same on all nodes.
    pub(crate) differences: Vec<Difference>,
}

/// One node.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct NodeInfo {
    pub(crate) node: String,
    /// Its processes.
    pub(crate) ranks: Vec<u32>,
    /// The monotonic clock of the first node less that of this one at the start; absent where no
    /// launcher started the run.
    pub(crate) clock_offset_ns: Option<i64>,
    /// The offset may be off by so much.
    pub(crate) clock_error_ns: Option<u64>,
    /// By how much the offset had changed at the end.
    pub(crate) clock_drift_ns: Option<i64>,
}

/// A fact that is not the same on all nodes.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Difference {
    /// As in `kernel`.
    pub(crate) fact: String,
    /// Each value with its nodes, that of the most nodes last.
    pub(crate) values: Vec<FactValue>,
}

/// A value of a fact, and where it holds.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct FactValue {
    pub(crate) value: String,
    /// In the order of the run.
    pub(crate) nodes: Vec<String>,
}

/// Which nodes read what which nodes had written.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct RankMap {
    pub(crate) figure: usize,
    /// Of the pass that is shown, from 0; the others are alike or drawn in the same way.
    pub(crate) repetition: u32,
    /// Tasks that read.
    pub(crate) tasks: usize,
    /// Of these, tasks that read what a task of their own node had written.
    pub(crate) own_node: usize,
    /// Of these, tasks that read what they had written themselves.
    pub(crate) own_data: usize,
    /// In the order of tasks.
    pub(crate) rows: Vec<RankMapRow>,
}

/// Whose data a task read.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct RankMapRow {
    pub(crate) task: u32,
    pub(crate) node: String,
    /// The number of the file.
    pub(crate) file: u32,
    /// The task that wrote it.
    pub(crate) written_by: u32,
    pub(crate) written_on: String,
}
