//! What the figures say together of nodes, layers and jobs.

use super::family::{Family, Labels, with};
use crate::view::{BYTES_PER_SECOND, Report};

/// The families; `of` gives the labels of a figure by its number.
pub(super) fn families(report: &Report, of: impl Fn(usize) -> Option<Labels>) -> Vec<Family> {
    let mut all = Vec::from(nodes(report, &of));
    all.extend(super::layers::families(report, &of));
    all
}

/// The nodes of each figure of several.
fn nodes(report: &Report, of: impl Fn(usize) -> Option<Labels>) -> [Family; 4] {
    let mut rate = Family::measured(
        "ioproof_node_bandwidth_bytes_per_second",
        "bytes_per_second",
        "bytes of the tasks of a node over the node's own time, median of the passes that count",
    );
    let mut operations = Family::measured(
        "ioproof_node_operations_per_second",
        "operations_per_second",
        "operations of the tasks of a node over the node's own time, median of the passes that count",
    );
    let mut slow = Family::gauge("ioproof_node_slow", "1 where a node is much slower than the others");
    let mut bound = Family::measured(
        "ioproof_collective_bound_bytes_per_second",
        "bytes_per_second",
        "number of nodes times the rate of the slowest",
    );
    for one in &report.findings.nodes {
        let Some(figure) = of(one.figure) else { continue };
        let bytes = one.unit == BYTES_PER_SECOND;
        for node in &one.nodes {
            let which = with(&figure, &[("node", &node.node)]);
            let of = if bytes { &mut rate } else { &mut operations };
            of.put(which.clone(), node.rate.median_per_second);
            slow.put(which, f64::from(u8::from(node.slow)));
        }
        if let Some(limit) = one.bound.as_ref().filter(|_| bytes) {
            bound.put(with(&figure, &[("slowest", &limit.slowest)]), limit.bound_per_second);
        }
    }
    [rate, operations, slow, bound]
}
