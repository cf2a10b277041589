//! A description of a model for a terminal: what it models, the path to the devices of each layout, and its
//! maximum rates.

use std::fmt::Write as _;

use plan::{Bytes, visible};
use simulate::{Bounds, Device, Issuers, Layout, Model, PartLimit, Transfer};

use crate::Screen;
use crate::format::screen::COLUMNS;
use crate::format::table::{Table, wrapped};
use crate::format::{grouped, iops, latency, rate, whole};

/// The selection of what is shown of a model.
#[derive(Debug, Clone)]
pub struct ModelView {
    /// Kinds of transfers, in the order of the table.
    pub transfers: Vec<Transfer>,
    /// Numbers of nodes.
    pub nodes: Vec<u32>,
    /// Tasks per node; `None` for as many as needed.
    pub tasks: Option<u32>,
    /// Transfers in flight per task.
    pub depth: u32,
}

/// One line of the table of bounds.
struct Line {
    transfer: Transfer,
    nodes: u32,
    bounds: Bounds,
}

/// The description of `model` with the bounds that `view` selects.
#[must_use]
pub fn model(model: &Model, view: &ModelView, screen: Screen) -> String {
    let about = &model.model;
    let mut out = format!("{}\n", screen.strong(&visible(&about.name)));
    let source = if about.source.is_empty() { "not given" } else { &about.source };
    out += &wrapped("  source: ", &visible(source), COLUMNS);
    let nodes = match model.node.count {
        1 => "1 node".to_owned(),
        count => format!("{} nodes", grouped(u64::from(count))),
    };
    let _ = writeln!(out, "  {nodes}, each with {} processors", grouped(u64::from(model.node.processors)));
    if !model.troubles.is_empty() {
        out += &wrapped("  ", "its troubles are left out of these bounds", COLUMNS);
    }
    for layout in &model.layouts {
        let _ = writeln!(out, "\n{}", screen.strong(&format!("layout {}", visible(&layout.name))));
        let targets = format!("targets: {}", visible(&layout.targets.join(", ")));
        out += &wrapped("  ", &targets, COLUMNS);
        out += &wrapped("  ", &way(model, layout), COLUMNS);
        out.push('\n');
        let line = |(transfer, nodes): (Transfer, u32)| {
            let issuers = Issuers { nodes, tasks: view.tasks, depth: view.depth };
            Line { transfer, nodes, bounds: model.bounds(layout, transfer, issuers) }
        };
        let all = view.transfers.iter().flat_map(|one| view.nodes.iter().map(|nodes| (*one, *nodes)));
        out += &table(all.map(line)).to_text("  ", screen);
    }
    out
}

fn table(lines: impl Iterator<Item = Line>) -> Table {
    Table::of(lines)
        .left("transfer", |line| words(line.transfer))
        .right("nodes", |line| grouped(u64::from(line.nodes)))
        .right("at most", |line| rate(line.bounds.transfers_per_second() * line.transfer.bytes as f64))
        .right("IOPS", |line| iops(line.bounds.transfers_per_second()))
        .left("weakest link", |line| line.bounds.weakest().map(counted))
        .right("response at least", |line| latency(whole(line.bounds.response_ns)))
        .right("saturated from", |line| {
            format!("{} in flight", grouped(whole(line.bounds.saturation.ceil())))
        })
        .right("bytes moved", |line| format!("× {:.2}", line.bounds.amplification))
        .left("other limits", |line| {
            let other = |limit: &PartLimit| {
                let bytes = limit.transfers_per_second * line.transfer.bytes as f64;
                format!("{} {}", counted(limit), rate(bytes))
            };
            line.bounds.limits.iter().skip(1).map(other).collect::<Vec<_>>().join(", ")
        })
        .done()
        .below("other limits")
}

/// `3 × controller`.
fn counted(limit: &PartLimit) -> String {
    match limit.count {
        1 => limit.part.clone(),
        count => format!("{} × {}", grouped(count), limit.part),
    }
}

fn words(transfer: Transfer) -> String {
    let Transfer { bytes, writes, random } = transfer;
    let order = if random { "random" } else { "sequential" };
    format!("{} {order} {}", Bytes(bytes), if writes { "writes" } else { "reads" })
}

/// The path from the nodes to the devices, and how files are laid out on them.
fn way(model: &Model, layout: &Layout) -> String {
    let links = model.links.iter().map(|link| (&link.name, link.count));
    let servers = model.servers.iter().map(|server| (&server.name, server.count));
    let all: Vec<(&String, u32)> = links.chain(servers).collect();
    let part = |name: &String| {
        let count = all.iter().find(|(known, _)| *known == name).map_or(1, |(_, count)| *count);
        format!("{} × {}", grouped(u64::from(count)), visible(name))
    };
    let mut parts = vec![if layout.local { "each node" } else { "nodes" }.to_owned()];
    parts.extend(layout.through.iter().map(part));
    let devices = model.group(&layout.devices);
    let count = devices.map_or(1, |devices: &Device| devices.count);
    parts.push(format!("{} × {}", grouped(u64::from(count)), visible(&layout.devices)));
    let mut way = parts.join(" → ");
    let _ = match layout.striping(count) {
        (stripe, Some(chunk)) => write!(way, ", each file over {stripe} in chunks of {}", Bytes(chunk.0)),
        (_, None) if count > 1 => write!(way, ", each file on one"),
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
