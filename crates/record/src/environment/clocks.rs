//! Clock offsets between nodes, for each comparison.

use serde::{Deserialize, Serialize};

/// One comparison of the clocks of all nodes of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clocks {
    /// The case before or during which it was made, or `None` if before the first case.
    pub case: Option<String>,
    /// Wall clock of the first node at that time, nanoseconds since 1970-01-01 UTC.
    pub at_unix_ns: i64,
    /// The nodes, in the order of their first ranks.
    pub nodes: Vec<NodeClock>,
}

/// The clock of one node compared with that of the first node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeClock {
    /// The node.
    pub node: String,
    /// The monotonic clock of the first node minus that of this node, in nanoseconds.
    pub offset_ns: i64,
    /// Uncertainty of the offset in nanoseconds.
    pub error_ns: u64,
}
