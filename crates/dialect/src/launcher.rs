//! The processes that a launcher has started.

/// The processes that a launcher has started, and the host. The default is one process, started by
/// hand, on a host of unknown memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Launcher<'a> {
    /// The number of the node of each process, by rank; nodes are numbered in the order of their
    /// first ranks. Empty: started by hand, and this process carries all tasks.
    pub node_of: &'a [u32],
    /// The names of the nodes, by number.
    pub names: &'a [String],
    /// Tasks without `-N` if this process carries all.
    pub tasks: Option<u32>,
    /// Nodes that they are on.
    pub nodes: Option<u32>,
    /// Memory of this node, which `-M 50%` takes its share of.
    pub memory_bytes: Option<u64>,
}

impl Launcher<'_> {
    /// The node of each task where each process carries `per_rank` of them; started by hand, there are as
    /// many unless [`Launcher::tasks`] says otherwise.
    pub(crate) fn node_of_tasks(&self, per_rank: u32) -> Vec<u32> {
        match self.node_of {
            [] => vec![0; self.tasks.unwrap_or(per_rank).max(1) as usize],
            ranks => ranks.iter().flat_map(|&node| std::iter::repeat_n(node, per_rank as usize)).collect(),
        }
    }
}
