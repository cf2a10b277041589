//! The same workload on several targets, by node and target: where something is blank, nothing was
//! measured.

use std::collections::HashMap;

use plan::{Phase, Plan, Setting};

use crate::node_comparison::{NodeScore, all_nodes, node_scores};
use crate::subject::{Subject, TARGET, ValueKey, subjects};
use crate::{Figure, NodeFigure, Summary};

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
    /// For each target over the nodes that were measured, of the median of each: mean, deviation, n.
    pub averages: Vec<Option<Summary>>,
}

/// One node on one target.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeCell {
    /// The figure.
    pub figure: usize,
    /// Its first rate, [`Figure::headline`], over the passes that count and were on this node.
    pub rate: Summary,
    /// Much slower than the other nodes on this target; see [`crate::slow_nodes`].
    pub slow: bool,
}

/// A grid for each workload, phase and combination of settings that was measured on several targets,
/// in a study of several nodes. `known` are nodes of the study beside those that its figures name.
#[must_use]
pub fn node_grids(plan: &Plan, figures: &[Figure], known: &[String]) -> Vec<NodeGrid> {
    of_subjects(&subjects(plan, figures), &all_nodes(figures, known))
}

/// What the cells of one grid have in common.
type GridKey<'a> = (&'a str, Phase, Vec<(&'a str, ValueKey<'a>)>);

/// As [`node_grids`], of figures that were looked up already.
pub(crate) fn of_subjects(subjects: &[Subject<'_>], nodes: &[String]) -> Vec<NodeGrid> {
    if nodes.len() < 2 {
        return Vec::new();
    }
    let mut places: HashMap<GridKey<'_>, usize> = HashMap::new();
    let mut grids: Vec<Vec<&Subject<'_>>> = Vec::new();
    for subject in subjects.iter().filter(|subject| !subject.figure.nodes.is_empty()) {
        let settings = subject.case.settings.iter().filter(|setting| setting.key != TARGET);
        let settings = settings.map(|setting| (setting.key.as_str(), ValueKey::from(&setting.value)));
        let key = (subject.case.group.as_str(), subject.figure.phase, settings.collect());
        let place = *places.entry(key).or_insert_with(|| {
            grids.push(Vec::new());
            grids.len() - 1
        });
        grids[place].push(subject);
    }
    grids.iter().filter_map(|members| grid(members, nodes)).collect()
}

/// None where there is one target.
fn grid(members: &[&Subject<'_>], nodes: &[String]) -> Option<NodeGrid> {
    let mut columns: Vec<&Subject<'_>> = Vec::new();
    for member in members {
        // Of a target that has several figures the one on most nodes stands in the grid.
        match columns.iter_mut().find(|column| column.case.target == member.case.target) {
            Some(column) if column.figure.nodes.len() < member.figure.nodes.len() => *column = member,
            Some(_) => {}
            None => columns.push(member),
        }
    }
    if columns.len() < 2 {
        return None;
    }
    let cells: Vec<HashMap<&str, NodeCell>> = columns.iter().map(|column| cells(column)).collect();
    let row = |node: &String| cells.iter().map(|cells| cells.get(node.as_str()).cloned()).collect();
    let average = |column: &&Subject<'_>| {
        let medians = column.figure.nodes.iter().map(|node| column.figure.headline_of_node(node).median);
        Summary::of(&medians.collect::<Vec<_>>())
    };
    let first = columns.first()?;
    Some(NodeGrid {
        group: first.case.group.clone(),
        phase: first.figure.phase,
        settings: first.settings(),
        targets: columns.iter().map(|column| column.case.target.clone()).collect(),
        nodes: nodes.to_vec(),
        cells: nodes.iter().map(row).collect(),
        averages: columns.iter().map(average).collect(),
    })
}

/// The column of a figure, by node.
fn cells<'a>(column: &Subject<'a>) -> HashMap<&'a str, NodeCell> {
    let cell = |(node, score): (&'a NodeFigure, NodeScore)| {
        let (figure, rate) = (column.index, *column.figure.headline_of_node(node));
        (node.node.as_str(), NodeCell { figure, rate, slow: score.slow })
    };
    column.figure.nodes.iter().zip(node_scores(column.figure)).map(cell).collect()
}
