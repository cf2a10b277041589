//! The nodes of a run, and what is compared over them.

use schemars::JsonSchema;
use serde::Serialize;

use super::findings::Setting;

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

/// A statistic over nodes or over the passes of one: mean, standard deviation with n − 1, n.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub(crate) struct Average {
    pub(crate) mean_per_second: f64,
    pub(crate) median_per_second: f64,
    /// Absent with one value.
    pub(crate) deviation_per_second: Option<f64>,
    /// Deviation ÷ mean; absent with one value.
    pub(crate) variation: Option<f64>,
    pub(crate) n: usize,
}

/// The nodes of one figure beside each other.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct NodeComparison {
    pub(crate) figure: usize,
    pub(crate) target: String,
    pub(crate) phase: &'static str,
    /// All nodes worked at the same time, in each pass.
    pub(crate) together: bool,
    /// `bytes/s` of transfers; else operations by their name, as in `creates/s`.
    pub(crate) unit: &'static str,
    /// In the order of names.
    pub(crate) nodes: Vec<NodeStanding>,
    /// Nodes of the study that it was not measured on.
    pub(crate) missing: Vec<String>,
    /// Over the nodes.
    pub(crate) average: Average,
    pub(crate) bound: Option<CollectiveBound>,
}

/// A node among the others.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct NodeStanding {
    pub(crate) node: String,
    pub(crate) tasks: usize,
    /// Over the passes that count.
    pub(crate) rate: Average,
    pub(crate) transfers_per_second: f64,
    /// Rate ÷ median of all nodes.
    pub(crate) share: f64,
    /// Robust z-score of the rate.
    pub(crate) z: f64,
    pub(crate) slow: bool,
    pub(crate) devices: Vec<NodeDevice>,
}

/// A device of a node, by the kernel's count.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct NodeDevice {
    pub(crate) device: String,
    pub(crate) read_bytes_per_second: f64,
    pub(crate) write_bytes_per_second: f64,
}

/// What work that waits for all nodes can reach.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct CollectiveBound {
    /// The slowest node, and its rate.
    pub(crate) slowest: String,
    pub(crate) slowest_per_second: f64,
    /// Nodes × that rate.
    pub(crate) bound_per_second: f64,
    /// The slowest device of that node; absent where none was observed.
    pub(crate) device: Option<NodeDevice>,
    /// The rate of all nodes together; absent where they did not work at the same time.
    pub(crate) measured_per_second: Option<f64>,
    /// Measured ÷ bound.
    pub(crate) share: Option<f64>,
    /// Nodes × the median node − the bound.
    pub(crate) lost_per_second: f64,
}

/// One workload and phase on several targets, by node.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct NodeGrid {
    pub(crate) group: String,
    pub(crate) phase: &'static str,
    pub(crate) settings: Vec<Setting>,
    /// `bytes/s` of transfers; else operations by their name, as in `creates/s`.
    pub(crate) unit: &'static str,
    /// The columns.
    pub(crate) targets: Vec<String>,
    pub(crate) rows: Vec<NodeGridRow>,
    /// Over the nodes, one for each target; `null` where nothing was measured.
    pub(crate) averages: Vec<Option<Average>>,
}

/// A node on each target.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct NodeGridRow {
    pub(crate) node: String,
    /// One for each target; `null` where nothing was measured.
    pub(crate) cells: Vec<Option<NodeGridCell>>,
}

/// A node on one target.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct NodeGridCell {
    pub(crate) figure: usize,
    pub(crate) rate: Average,
    pub(crate) slow: bool,
}
