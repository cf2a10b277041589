//! The nodes of a run: differences, clock accuracy, and the map of readers to writers.

use super::block::{Block, conditions, only};
use crate::format::node_names;
use crate::format::table::{Cell, Table, Tone};
use crate::format::{counted, grouped, latency};
use crate::report::Report;
use crate::report::cluster::{ClusterInfo, Difference, FactValue, NodeInfo, RankMap, RankMapRow};

/// Maximum number of values of a differing fact named beside the most frequent one.
const VALUES_NAMED: usize = 3;
/// Maximum number of rows shown of a rank map.
const MAPPED_ROWS: usize = 12;
/// Maximum number of maps shown as tables; the others have a sentence only.
const MAPS_SHOWN: usize = 2;

pub(super) fn blocks(report: &Report) -> Vec<Block> {
    let mut blocks = Vec::new();
    if let Some(cluster) = &report.cluster {
        blocks.push(Block::Text(format!("{}.", cluster.line().replace(" · ", "; "))));
        blocks.push(match cluster.differences.as_slice() {
            [] if cluster.nodes.len() < 2 => Block::List(Vec::new()),
            [] => Block::Text("The nodes agree in all facts that were read.".to_owned()),
            all => Block::List(all.iter().map(difference).collect()),
        });
        blocks.extend(clocks(cluster));
    }
    blocks.extend(rank_maps(report));
    blocks.retain(|block| !matches!(block, Block::List(lines) if lines.is_empty()));
    blocks
}

/// `kernel: n03 has 6.1.0-17; the other 15 nodes have 6.1.0-18`.
fn difference(one: &Difference) -> String {
    let Some((most, others)) = one.values.split_last() else { return one.fact.clone() };
    let nodes = |value: &FactValue| {
        let names: Vec<&str> = value.nodes.iter().map(String::as_str).collect();
        format!("{} {} {}", node_names::shortened(&names), have(names.len()), value.value)
    };
    // Values are sorted by frequency; the most frequent of the others is named first.
    let mut parts: Vec<String> = others.iter().rev().take(VALUES_NAMED).map(nodes).collect();
    let left = others.len().saturating_sub(VALUES_NAMED);
    if left > 0 {
        let left_nodes: usize = others.iter().take(left).map(|value| value.nodes.len()).sum();
        parts.push(format!(
            "{} {} {}",
            counted(left_nodes as u64, "more node"),
            have(left_nodes),
            counted(left as u64, "other value")
        ));
    }
    let rest = most.nodes.len();
    parts.push(match rest {
        1 => nodes(most),
        _ => format!("the other {} nodes have {}", grouped(rest as u64), most.value),
    });
    format!("{}: {}", one.fact, parts.join("; "))
}

const fn have(count: usize) -> &'static str {
    if count == 1 { "has" } else { "have" }
}

/// The accuracy of clock offsets between nodes.
fn clocks(cluster: &ClusterInfo) -> Option<Block> {
    let first = cluster.nodes.first()?;
    let others: Vec<&NodeInfo> =
        cluster.nodes[1..].iter().filter(|one| one.clock_error_ns.is_some()).collect();
    let worst = others.iter().max_by_key(|one| one.clock_error_ns)?;
    let mut text = format!(
        "Times are in the clock of {}. Offsets of the other clocks are known to ± {} or better (worst: {})",
        first.node,
        latency(worst.clock_error_ns.unwrap_or_default()),
        worst.node
    );
    let drifted = others.iter().filter_map(|one| Some((one, one.clock_drift_ns?)));
    if let Some((one, drift)) = drifted.max_by_key(|(_, drift)| drift.unsigned_abs()) {
        text.push_str(&format!(
            "; by the end of the run they had moved by at most {} ({})",
            latency(drift.unsigned_abs()),
            one.node
        ));
    }
    text.push('.');
    Some(Block::Text(text))
}

fn rank_maps(report: &Report) -> Vec<Block> {
    let all = &report.rank_maps;
    if all.is_empty() {
        return Vec::new();
    }
    let mut blocks = vec![Block::List(all.iter().map(|one| sentence(report, one)).collect())];
    // Maps with the most reads of own data come first, because memory may have served these.
    let mut shown: Vec<&RankMap> = all.iter().collect();
    shown.sort_by_key(|one| std::cmp::Reverse(one.own_node));
    for one in shown.into_iter().take(MAPS_SHOWN) {
        blocks.extend(only(&caption(one), rows(one)));
    }
    blocks
}

fn sentence(report: &Report, one: &RankMap) -> String {
    let own = report.figures.get(one.figure - 1).map(|own| conditions(report, own)).unwrap_or_default();
    let mut text = format!(
        "Figure {} ({own}): {} of {} read what their own node had written",
        one.figure,
        grouped(one.own_node as u64),
        counted(one.tasks as u64, "task")
    );
    if one.own_data > 0 {
        text.push_str(&format!(", {} what they had written themselves", grouped(one.own_data as u64)));
    }
    text.push('.');
    text
}

fn caption(one: &RankMap) -> String {
    let mut text = format!("Who read whose data: figure {}, repetition {}", one.figure, one.repetition + 1);
    if one.tasks > MAPPED_ROWS {
        text.push_str(&format!(
            "; the first {MAPPED_ROWS} of {} tasks, the table `tasks` of the record has all",
            grouped(one.tasks as u64)
        ));
    }
    text
}

fn rows(one: &RankMap) -> Table {
    let own = |row: &RankMapRow| if row.node == row.written_on { "own node" } else { "" };
    Table::of(one.rows.iter().take(MAPPED_ROWS))
        .right("task", |row| row.task.to_string())
        .left("on", |row| row.node.clone())
        .right("read file", |row| row.file.to_string())
        .right("of task", |row| row.written_by.to_string())
        .left("written on", |row| row.written_on.clone())
        .left("", |row| Cell::toned(own(row), Tone::Doubtful))
        .done()
}
