//! Rates of single nodes, for averages over nodes.

use std::collections::BTreeMap;

use record::TaskRow;

/// What the tasks of one node moved together.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeRate {
    /// The node's name.
    pub node: String,
    /// Tasks on it.
    pub tasks: usize,
    /// Their bytes ÷ (the first of their transfers began → the last of them ended).
    pub bytes_per_second: f64,
    /// Their transfers ÷ the same time.
    pub transfers_per_second: f64,
}

/// The rates of the nodes in the rows of one phase, by name. [`crate::Summary::of`] them is the
/// average over nodes with its deviation and n; the sum of them is at least the rate of the whole.
/// A node that moved nothing has a rate of 0.
#[must_use]
pub fn node_rates<'a>(tasks: impl IntoIterator<Item = &'a TaskRow>) -> Vec<NodeRate> {
    let mut nodes: BTreeMap<&str, Vec<&TaskRow>> = BTreeMap::new();
    for task in tasks {
        nodes.entry(task.node.as_str()).or_default().push(task);
    }
    let rate = |(node, tasks): (&str, Vec<&TaskRow>)| {
        let moved = || tasks.iter().filter(|task| task.transfers > 0);
        let start = moved().map(|task| task.io_start_ns).min().unwrap_or(0);
        let end = moved().map(|task| task.io_end_ns).max().unwrap_or(0);
        let seconds = end.saturating_sub(start) as f64 / 1e9;
        let per_second = |amount: u64| if seconds > 0.0 { amount as f64 / seconds } else { 0.0 };
        NodeRate {
            node: node.to_owned(),
            tasks: tasks.len(),
            bytes_per_second: per_second(tasks.iter().map(|task| task.bytes).sum()),
            transfers_per_second: per_second(tasks.iter().map(|task| task.transfers).sum()),
        }
    };
    nodes.into_iter().map(rate).collect()
}
