//! Clock offsets between nodes, for each comparison.

use serde::{Deserialize, Serialize};

/// One comparison of the clocks of all nodes of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clocks {
    /// The case before or during which it was made; none before the first one.
    pub case: Option<String>,
    /// Wall clock of the first node, nanoseconds since 1970-01-01 UTC.
    pub at_unix_ns: i64,
    /// The nodes, in the order of their first ranks.
    pub nodes: Vec<NodeClock>,
}

/// The clock of one node against that of the first one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeClock {
    /// The node.
    pub node: String,
    /// The monotonic clock of the first node less that of this one, nanoseconds.
    pub offset_ns: i64,
    /// Uncertainty of the offset.
    pub error_ns: u64,
}
