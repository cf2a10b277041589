//! The topology of a site as a diagram for a terminal.

use std::fmt::Write as _;

use plan::topology::{Card, Cell, LinkEnd, Server, Topology};
use plan::visible;

use crate::format::table::width;

/// Width of a terminal, minus that of a frame.
const COLUMNS: usize = 100;

/// Draws all cells of `topology`, one of each kind.
#[must_use]
pub fn topology(topology: &Topology) -> String {
    let mut out = format!("{}\n", visible(&topology.title));
    for cell in &topology.cells {
        diagram(&mut out, topology, cell);
    }
    let sum = |of: fn(&Topology, &Cell) -> u32| -> u64 {
        topology.cells.iter().map(|cell| u64::from(cell.count) * u64::from(of(topology, cell))).sum()
    };
    let (cells, servers) = (sum(|_, _| 1), sum(|_, cell| cell.servers));
    let drives = sum(|topology, cell| topology.storages[cell.storage].drives);
    let _ = writeln!(out, "\nIn all: {cells} cells, {servers} servers, {drives} drives");
    out
}

fn diagram(out: &mut String, topology: &Topology, cell: &Cell) {
    let (server, storage) = (&topology.servers[cell.server], &topology.storages[cell.storage]);
    let _ = writeln!(out, "\n{} × {}", cell.count, visible(&cell.title));
    for number in 1..=cell.servers {
        frame(out, &server_lines(server, number));
    }
    let links = topology.storage_links(cell);
    if links > 0 {
        let _ = writeln!(out, "  │ {links} links");
    }
    let mut lines = vec![format!("storage: {}", called(&storage.title, &storage.name))];
    for number in 0..storage.controllers {
        let memory = if storage.memory.is_empty() { String::new() } else { format!(", {}", storage.memory) };
        lines.push(format!(
            "controller {}: {} ports{memory}",
            crate::format::mark(number as usize),
            storage.ports
        ));
    }
    let drive = if storage.drive.is_empty() { "drives" } else { &storage.drive };
    lines.push(format!("{} × {drive}", storage.drives));
    frame(out, &lines);
    for line in facts(topology, cell) {
        let _ = writeln!(out, "  {}", visible(&line));
    }
}

fn server_lines(server: &Server, number: u32) -> Vec<String> {
    let mut head = format!("server {number}: {}", called(&server.title, &server.name));
    if !server.memory.is_empty() {
        let _ = write!(head, ", memory {}", server.memory);
    }
    let mut lines = vec![head];
    for socket in 0..server.sockets {
        let processor =
            if server.processor.is_empty() { String::new() } else { format!(": {}", server.processor) };
        lines.push(format!("socket {socket}{processor}"));
        lines.extend(server.cards.iter().map(|card| format!("  {}", card_line(card))));
    }
    lines
}

fn card_line(card: &Card) -> String {
    let to = match card.to {
        LinkEnd::Network => "network",
        LinkEnd::Storage => "storage",
    };
    let rate = match card.bytes_per_second() {
        Some(rate) => format!(", {} each", crate::format::rate(rate)),
        None => String::new(),
    };
    format!("{} × {} ══ {to}{rate}", card.per_socket, card.title)
}

/// `lines` in a box.
fn frame(out: &mut String, lines: &[String]) {
    let lines: Vec<String> = lines.iter().map(|line| visible(line).chars().take(COLUMNS).collect()).collect();
    let most = lines.iter().map(|line| width(line)).max().unwrap_or(0);
    let _ = writeln!(out, "┌─{}─┐", "─".repeat(most));
    for line in &lines {
        let _ = writeln!(out, "│ {line}{} │", " ".repeat(most - width(line)));
    }
    let _ = writeln!(out, "└─{}─┘", "─".repeat(most));
}

/// Display name of a kind: its title, else its name.
fn called<'a>(title: &'a str, name: &'a str) -> &'a str {
    if title.is_empty() { name } else { title }
}

/// Capacity of a cell's links, and problems with their number.
fn facts(topology: &Topology, cell: &Cell) -> Vec<String> {
    let (links, ports) = (topology.storage_links(cell), topology.storage_ports(cell));
    let mut lines = Vec::new();
    let rate = |to: LinkEnd| topology.rate(cell, to).map(crate::format::rate);
    if let Some(rate) = rate(LinkEnd::Network) {
        lines.push(format!("to the network {rate} each way"));
    }
    if let Some(rate) = rate(LinkEnd::Storage) {
        lines.push(format!("to the storage {rate} each way"));
    }
    if ports > 0 {
        let fit = if links > ports { ": more links than ports" } else { "" };
        lines.push(format!("{links} links to {ports} ports{fit}"));
    }
    lines
}
