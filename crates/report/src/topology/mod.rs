//! The topology of a site as a diagram: for a terminal, and as a picture.

mod picture;
mod text;

use plan::topology::{Cell, To, Topology};

pub use picture::{topology_page, topology_svg};
pub use text::topology;

/// What people call a kind: its title, else its name.
fn called<'a>(title: &'a str, name: &'a str) -> &'a str {
    if title.is_empty() { name } else { title }
}

/// What a cell's links can carry, and what is wrong with their number.
fn facts(topology: &Topology, cell: &Cell) -> Vec<String> {
    let (links, ports) = (topology.storage_links(cell), topology.storage_ports(cell));
    let mut lines = Vec::new();
    let rate = |to: To| topology.rate(cell, to).map(crate::format::rate);
    if let Some(rate) = rate(To::Network) {
        lines.push(format!("to the network {rate} each way"));
    }
    if let Some(rate) = rate(To::Storage) {
        lines.push(format!("to the storage {rate} each way"));
    }
    if ports > 0 {
        let fit = if links > ports { ": more links than ports" } else { "" };
        lines.push(format!("{links} links to {ports} ports{fit}"));
    }
    lines
}
