//! The processes that a launcher has started.

/// The processes that a launcher has started, and the host. The default is a single process that was
/// started by hand, on a host with an unknown amount of memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Launcher<'a> {
    /// The node number of each process, by rank. Nodes are numbered in the order of their first ranks.
    /// Empty if the process was started by hand and runs all tasks.
    pub node_of: &'a [u32],
    /// The names of the nodes, by number.
    pub names: &'a [String],
    /// Number of tasks without `-N`, if this process runs all.
    pub tasks: Option<u32>,
    /// Number of nodes on which they run.
    pub nodes: Option<u32>,
    /// Memory of this node, to which `-M 50%` refers.
    pub memory_bytes: Option<u64>,
}

impl Launcher<'_> {
    /// The node of each task, if each process runs `per_rank` of them. If the process was started by
    /// hand, it runs this many tasks unless [`Launcher::tasks`] is set.
    pub(crate) fn node_of_tasks(&self, per_rank: u32) -> Vec<u32> {
        match self.node_of {
            [] => vec![0; self.tasks.unwrap_or(per_rank).max(1) as usize],
            ranks => ranks.iter().flat_map(|&node| std::iter::repeat_n(node, per_rank as usize)).collect(),
        }
    }
}
