//! A description of a model for a terminal: what it models, the path to the devices of each layout, and its
//! maximum rates.

use std::fmt::Write as _;

use plan::{Bytes, visible};

use crate::Screen;
use crate::format::screen::COLUMNS;
use crate::format::table::{Table, wrapped};
use crate::format::{grouped, iops, latency, rate, whole};

/// What is shown of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelView {
    /// Its name.
    pub name: String,
    /// Where its figures are from; may be empty.
    pub source: String,
    /// Number of nodes, and processors of each.
    pub nodes: (u32, u32),
    /// Whether it has troubles, which bounds leave out.
    pub has_troubles: bool,
    /// Its layouts.
    pub layouts: Vec<LayoutView>,
}

/// A layout of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct LayoutView {
    /// Its name.
    pub name: String,
    /// The targets that use it.
    pub targets: Vec<String>,
    /// Whether each node has its own.
    pub local: bool,
    /// The parts from the nodes to the devices, which are last: how many, and their name.
    pub path: Vec<(u32, String)>,
    /// Number of devices that each file is on, and the bytes on one before the next one follows, if it is on several.
    pub striping: (u32, Option<Bytes>),
    /// Chunks of parity in a stripe.
    pub parity: u32,
    /// Copies of each chunk.
    pub copies: u32,
    /// Its bounds, in the order of the table.
    pub bounds: Vec<BoundView>,
}

/// What a layout gives at most for one kind of transfer from a number of nodes.
#[derive(Debug, Clone, PartialEq)]
pub struct BoundView {
    /// Bytes of a transfer.
    pub bytes: u64,
    /// Whether transfers are writes.
    pub writes: bool,
    /// Whether they are at random offsets.
    pub random: bool,
    /// Number of nodes.
    pub nodes: u32,
    /// All limits, lowest first: how many parts of which name, and transfers per second of them together.
    pub limits: Vec<(u64, String, f64)>,
    /// Minimum mean response time in nanoseconds.
    pub response_ns: f64,
    /// Number of transfers in flight from which on the lowest limit counts.
    pub saturation: f64,
    /// Bytes that the devices move for each byte of a transfer.
    pub amplification: f64,
}

/// The description of a model.
#[must_use]
pub fn model(view: &ModelView, screen: Screen) -> String {
    let mut out = format!("{}\n", screen.strong(&visible(&view.name)));
    let source = if view.source.is_empty() { "not given" } else { &view.source };
    out += &wrapped("  source: ", &visible(source), COLUMNS);
    let nodes = match view.nodes.0 {
        1 => "1 node".to_owned(),
        count => format!("{} nodes", grouped(u64::from(count))),
    };
    let _ = writeln!(out, "  {nodes}, each with {} processors", grouped(u64::from(view.nodes.1)));
    if view.has_troubles {
        out += &wrapped("  ", "its troubles are left out of these bounds", COLUMNS);
    }
    for layout in &view.layouts {
        let _ = writeln!(out, "\n{}", screen.strong(&format!("layout {}", visible(&layout.name))));
        let targets = format!("targets: {}", visible(&layout.targets.join(", ")));
        out += &wrapped("  ", &targets, COLUMNS);
        out += &wrapped("  ", &way(layout), COLUMNS);
        out.push('\n');
        out += &table(&layout.bounds).to_text("  ", screen);
    }
    out
}

/// Bytes per second at a limit.
fn bandwidth(line: &BoundView, (_, _, transfers_per_second): &(u64, String, f64)) -> String {
    rate(transfers_per_second * line.bytes as f64)
}

fn table(lines: &[BoundView]) -> Table {
    Table::of(lines)
        .left("transfer", |line| words(line))
        .right("nodes", |line| grouped(u64::from(line.nodes)))
        .right("at most", |line| line.limits.first().map(|limit| bandwidth(line, limit)))
        .right("IOPS", |line| line.limits.first().map(|(_, _, per_second)| iops(*per_second)))
        .left("weakest link", |line| line.limits.first().map(counted))
        .right("response at least", |line| latency(whole(line.response_ns)))
        .right("saturated from", |line| format!("{} in flight", grouped(whole(line.saturation.ceil()))))
        .right("bytes moved", |line| format!("× {:.2}", line.amplification))
        .left("other limits", |line| {
            let other = |limit: &(u64, String, f64)| format!("{} {}", counted(limit), bandwidth(line, limit));
            line.limits.iter().skip(1).map(other).collect::<Vec<_>>().join(", ")
        })
        .done()
        .below("other limits")
}

/// `3 × controller`.
fn counted((count, part, _): &(u64, String, f64)) -> String {
    if *count == 1 { part.clone() } else { format!("{} × {part}", grouped(*count)) }
}

fn words(line: &BoundView) -> String {
    let order = if line.random { "random" } else { "sequential" };
    format!("{} {order} {}", Bytes(line.bytes), if line.writes { "writes" } else { "reads" })
}

/// The path from the nodes to the devices, and how files are laid out on them.
fn way(layout: &LayoutView) -> String {
    let mut parts = vec![if layout.local { "each node" } else { "nodes" }.to_owned()];
    parts.extend(
        layout.path.iter().map(|(count, name)| format!("{} × {}", grouped(u64::from(*count)), visible(name))),
    );
    let mut way = parts.join(" → ");
    let is_several = layout.path.last().is_some_and(|(count, _)| *count > 1);
    let _ = match layout.striping {
        (stripe, Some(chunk)) => write!(way, ", each file over {stripe} in chunks of {chunk}"),
        (_, None) if is_several => write!(way, ", each file on one"),
        _ => Ok(()),
    };
    if layout.parity > 0 {
        let _ = write!(way, ", {} of them parity", layout.parity);
    }
    if layout.copies > 1 {
        let _ = write!(way, ", {} copies", layout.copies);
    }
    way
}
