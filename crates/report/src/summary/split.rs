//! How results split: what each unit of a limit carried and what its grade means, and how the time of single operations was
//! spent.

use std::collections::HashMap;

use analysis::{figures::HistoryContext, gate::Stated, targets::Expected};

use crate::format::table::{Cell, Table, Tone};
use crate::format::{grouped, latency, percent, whole};
use crate::report::Report;
use crate::report::figure::Figure;
use crate::section::{Block, in_unit, only};

/// Maximum number of rows of each of the tables. One of limits that is longer is only in its section.
const ROWS_MAX: usize = 8;

/// The tables that are not empty and not too long.
/// `marks` are those of the doubts about each figure, by its number.
pub(crate) fn blocks(report: &Report, marks: &HashMap<usize, String>) -> Vec<Block> {
    limits(report, marks).into_iter().chain(unmatched(report)).chain(operations(report, marks)).collect()
}

/// The limits of nodes none of which took part.
fn unmatched(report: &Report) -> Vec<Block> {
    let told = |(name, nodes): &(String, String)| {
        Block::Text(format!("No figure is of a node in {nodes}, so that \"{name}\" is compared with none."))
    };
    report.found.without_nodes.iter().map(told).collect()
}

/// Figures beside limits that several units have, that are of some nodes, or that have grades with a meaning.
fn limits(report: &Report, marks: &HashMap<usize, String>) -> Vec<Block> {
    let says = report.found.expected.iter().filter_map(|one| Some((one, one.says()?)));
    let says: Vec<(&Stated<Expected>, &Expected)> = says.collect();
    // Of several grades, the one with the meaning stands for all.
    let is_graded = |one: &Expected| {
        let same =
            |other: &Expected| (other.figure, other.count.to_bits()) == (one.figure, one.count.to_bits());
        says.iter().any(|(_, other)| other.reached.is_some() && same(other))
    };
    let is_split = |one: &Expected| match one.reached {
        Some(_) => true,
        None => (one.count > 1.0 || !one.nodes.is_empty()) && !is_graded(one),
    };
    let rows: Vec<(&Stated<Expected>, &Expected)> =
        says.iter().copied().filter(|(_, one)| is_split(one)).collect();
    if rows.len() > ROWS_MAX {
        return Vec::new();
    }
    let own = |one: &Expected| report.figures.get(one.figure);
    let words = |one: &Expected, value: f64| {
        in_unit(value, one.amount.unit(), own(one).map_or("ops/s", Figure::operations_unit))
    };
    let table = Table::of(rows)
        .right("#", |(_, one)| Cell::figure(Some(one.figure + 1)))
        .left("workload", |(_, one)| own(one).map(|own| format!("{} {}", own.group, own.phase)))
        .left("limit", |(_, one)| one.name.clone())
        .left("nodes", |(_, one)| one.nodes.clone())
        .right("expected", |(_, one)| words(one, one.amount.number()))
        .right("reached", |(stated, one)| {
            let tone = if stated.reasons.is_empty() { Tone::Main } else { Tone::Doubtful };
            Cell::toned(words(one, one.measured()), tone)
        })
        .right("mean of each", |(_, one)| one.of_each().map(|each| words(one, each)))
        .right("of it", |(_, one)| percent(one.ratio))
        .left("!", |(_, one)| mark(marks, one.figure))
        .left("means", |(_, one)| one.reached.clone())
        .done();
    only("Expected and reached", table.below("means").without_empty_columns())
}

/// Single operations: what of their time was spent in the device, and for how many no request was found.
fn operations(report: &Report, marks: &HashMap<usize, String>) -> Vec<Block> {
    let says = report.found.io_histories.iter().filter_map(|one| Some((one.figure(), &one.says()?.0)));
    let mut rows: Vec<(usize, &HistoryContext)> = says.collect();
    let more = rows.len().saturating_sub(ROWS_MAX);
    rows.truncate(ROWS_MAX);
    let caption = match rows.iter().any(|(_, one)| one.split.device.is_some()) {
        true => "Single operations: the time of each, and its part in the device",
        false => "Single operations: the time of each",
    };
    let nanos = |value: Option<f64>| value.map(|nanos| latency(whole(nanos)));
    let table = Table::of(rows)
        .right("#", |(figure, _)| Cell::figure(Some(figure + 1)))
        .left("workload", |(figure, _)| {
            report.figures.get(*figure).map(|own| format!("{} {}", own.group, own.phase))
        })
        .left("context", |(_, one)| format!("{} {}", one.context, one.kind).trim().to_owned())
        .right("operations", |(_, one)| grouped(one.split.operations))
        .right("each", |(_, one)| nanos(Some(one.split.latency_ns)))
        .right("start to start", |(_, one)| nanos(one.split.gap_ns))
        .right("device", |(_, one)| nanos(one.split.device.map(|part| part.device_ns)))
        .right("rest", |(_, one)| nanos(one.split.device.map(|part| part.rest_ns)))
        .right("no request", |(_, one)| one.without_request.map(percent))
        .left("!", |(figure, _)| mark(marks, *figure))
        .done();
    let mut blocks = only(caption, table.without_empty_columns());
    blocks.extend((more > 0).then(|| Block::Text(format!("{more} more in the full report."))));
    blocks
}

/// The marks of the doubts about the figure at `place`.
fn mark(marks: &HashMap<usize, String>, place: usize) -> Cell {
    Cell::toned(marks.get(&(place + 1)).cloned().unwrap_or_default(), Tone::Doubtful)
}
