//! Targets as described by the study, and their comparison.

use super::block::{Block, Extent, only};
use crate::format::table::Table;
use crate::report::Report;
use crate::report::circumstances::TargetInfo;

pub(super) fn blocks(report: &Report, extent: Extent) -> Vec<Block> {
    let mut blocks: Vec<Block> = node(report).map(Block::Text).into_iter().collect();
    blocks.extend(only("What each target is, as the study says", described(report)));
    if report.study.targets.len() > 1 {
        blocks.extend(report.statements.blocks(report, "targets", extent));
    }
    blocks
}

/// The study's description of a node, and how the measured node differs from it.
fn node(report: &Report) -> Option<String> {
    let study = &report.study;
    let differs = match study.node_differs.as_slice() {
        [] => String::new(),
        all => format!(" The measured node is a different one: it has {}.", all.join(" and ")),
    };
    let said = (!study.node.is_empty()).then_some(&study.node);
    said.map(|node| format!("Each node, as the study says: {node}.{differs}"))
}

/// Targets for which the study states more than a name.
fn described(report: &Report) -> Table {
    let says_more = |one: &&TargetInfo| {
        one.devices > 0 || [&*one.stands_for, one.layer, one.client].iter().any(|word| !word.is_empty())
    };
    let reached_by = |one: &TargetInfo| match one.layer {
        "node-local" => "its node",
        "shared" => "all nodes",
        _ => "",
    };
    Table::of(report.study.targets.iter().filter(says_more))
        .left("target", |one| one.title.clone())
        .left("stands for", |one| one.stands_for.clone())
        .left("reached by", |one| reached_by(one))
        .left("client", |one| one.client)
        .right("devices", |one| (one.devices > 0).then(|| one.devices.to_string()))
        .done()
}
