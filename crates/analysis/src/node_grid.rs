//! The same workload on several targets, by node and target: where something is blank, nothing was
//! measured.

use std::collections::HashMap;

use plan::{Phase, Setting};

use crate::Summary;
use crate::gate::Gate;
use crate::node_comparison::{all_nodes, node_scores};
use crate::subject::{Subject, TARGET, grouped};

/// One workload and phase on several targets.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeGrid {
    /// The workload.
    pub group: String,
    /// The phase.
    pub phase: Phase,
    /// The swept keys and their values, the target left out.
    pub settings: Vec<Setting>,
    /// The targets, in the order of the study: the columns.
    pub targets: Vec<String>,
    /// All nodes of the study, in the order of names: the rows.
    pub nodes: Vec<String>,
    /// A row for each node with a cell for each target; none where nothing was measured.
    pub cells: Vec<Vec<Option<NodeCell>>>,
}

/// One node on one target.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeCell {
    /// The figure.
    pub figure: usize,
    /// Its first rate, [`crate::Figure::headline`], over the passes that count and were on this node.
    pub rate: Summary,
    /// Much slower than the other nodes on this target; see [`crate::slow_nodes`].
    pub slow: bool,
}

/// A grid for each workload, phase and combination of settings that was measured on several targets,
/// in a study of several nodes. `known` are nodes of the study beside those that its figures name.
#[must_use]
pub fn node_grids(gate: &Gate<'_>, known: &[String]) -> Vec<NodeGrid> {
    let nodes = all_nodes(gate.figures, known);
    let subjects = gate.subjects.iter().filter(|subject| nodes.len() > 1 && !subject.figure.nodes.is_empty());
    let alike = grouped(subjects, |subject| subject.place(&[TARGET]));
    alike.into_iter().filter_map(|members| grid(members, &nodes)).collect()
}

/// None where there is one target.
fn grid(members: Vec<&Subject<'_>>, nodes: &[String]) -> Option<NodeGrid> {
    // Of a target that has several figures the first on most nodes stands in the grid.
    let of_target = grouped(members, |member| member.case.target.as_str()).into_iter();
    let columns: Vec<&Subject<'_>> =
        of_target.filter_map(|all| all.into_iter().rev().max_by_key(|one| one.figure.nodes.len())).collect();
    let [first, _, ..] = columns[..] else { return None };
    let cells: Vec<HashMap<&str, NodeCell>> = columns.iter().map(|column| cells(column)).collect();
    let row = |node: &String| cells.iter().map(|cells| cells.get(node.as_str()).cloned()).collect();
    Some(NodeGrid {
        group: first.case.group.clone(),
        phase: first.figure.phase,
        settings: first.settings(&[TARGET]),
        targets: columns.iter().map(|column| column.case.target.clone()).collect(),
        nodes: nodes.to_vec(),
        cells: nodes.iter().map(row).collect(),
    })
}

/// The column of a figure, by node.
fn cells<'a>(column: &Subject<'a>) -> HashMap<&'a str, NodeCell> {
    let nodes = column.figure.nodes.iter().zip(node_scores(column.figure));
    let cell = |rate: &Summary, slow| NodeCell { figure: column.index, rate: *rate, slow };
    nodes
        .map(|(node, score)| (node.node.as_str(), cell(column.figure.headline_of_node(node), score.slow)))
        .collect()
}
