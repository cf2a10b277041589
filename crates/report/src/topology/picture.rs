//! The diagram as a picture: servers above, storage below, each link a line.

use std::fmt::Write as _;

use plan::topology::{Cell, Server, To, Topology};

use super::{called, facts};
use crate::escape::html;

/// Lengths in pixels.
const SERVER_WIDTH: u32 = 300;
const GAP: u32 = 30;
const LINE: u32 = 18;
const MARGIN: u32 = 20;
/// Room for the lines between servers and storage.
const LINKS: u32 = 60;
/// Side of a drive.
const DRIVE: u32 = 14;
/// Servers, links and drives that are drawn; the words beside them have the number.
const SERVERS_MAX: u32 = 6;
const LINKS_MAX: u32 = 32;
const DRIVES_MAX: u32 = 120;

/// The picture of `topology`, one cell of each kind.
#[must_use]
pub fn topology_svg(topology: &Topology) -> String {
    let mut body = String::new();
    let mut top = MARGIN + LINE;
    text(&mut body, MARGIN, top, "t", &topology.title);
    top += LINE;
    let mut widest = 0;
    for cell in &topology.cells {
        let (height, width) = cell_of(&mut body, topology, cell, top);
        top += height + GAP;
        widest = widest.max(width);
    }
    let width = widest + 2 * MARGIN;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{top}\" viewBox=\"0 0 {width} {top}\" \
         role=\"img\" aria-label=\"{}\">\n<style>text{{font:13px sans-serif;fill:#1a1c1f}}.t{{font-weight:bold;\
         font-size:15px}}.f{{fill:#5b6470}}rect{{fill:#fff;stroke:#5b6470}}.s{{fill:#eef2f7}}.d{{fill:#dfe7f1}}\
         line{{stroke:#2b6cb0;stroke-width:1.5}}.n{{stroke:#2f855a}}</style>\n\
         <rect width=\"{width}\" height=\"{top}\" style=\"stroke:none\"/>\n{body}</svg>\n",
        html(&topology.title)
    )
}

/// The picture in a page of its own.
#[must_use]
pub fn topology_page(topology: &Topology) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>{}</title>\n<body style=\"margin:0\">\n{}</body></html>\n",
        html(&topology.title),
        topology_svg(topology)
    )
}

/// Draws one cell below `top`; its height and width.
fn cell_of(body: &mut String, topology: &Topology, cell: &Cell, top: u32) -> (u32, u32) {
    let (server, storage) = (&topology.servers[cell.server], &topology.storages[cell.storage]);
    let shown = cell.servers.min(SERVERS_MAX);
    let width = shown * (SERVER_WIDTH + GAP) - GAP;
    let mut y = top + LINE;
    text(body, MARGIN, y, "t", &format!("{} × {}", cell.count, cell.title));
    y += LINE;
    text(body, MARGIN, y, "f", &facts(topology, cell).join(" · "));
    y += GAP;
    let height = server_height(server);
    for number in 0..shown {
        server_of(body, server, number + 1, MARGIN + number * (SERVER_WIDTH + GAP), y);
    }
    if cell.servers > shown {
        text(body, MARGIN, y + height + LINE, "f", &format!("and {} more servers", cell.servers - shown));
    }
    y += height;
    let links = topology.storage_links(cell).min(LINKS_MAX);
    for link in 0..links {
        // Links leave the servers and reach the ports evenly.
        let x = MARGIN + (2 * link + 1) * width / (2 * links);
        let _ = writeln!(body, "<line x1=\"{x}\" y1=\"{y}\" x2=\"{x}\" y2=\"{}\"/>", y + LINKS);
    }
    y += LINKS;
    let a_row = (width - 2 * GAP) / (DRIVE + 4);
    let drives = storage.drives.min(DRIVES_MAX);
    let rows = drives.div_ceil(a_row.max(1));
    let inner = LINE * (2 + u32::from(storage.controllers > 0) * 2) + rows * (DRIVE + 4) + LINE;
    let _ =
        writeln!(body, "<rect x=\"{MARGIN}\" y=\"{y}\" width=\"{width}\" height=\"{inner}\" class=\"s\"/>");
    let mut line = y + LINE;
    text(body, MARGIN + 10, line, "t", called(&storage.title, &storage.name));
    for controller in 0..storage.controllers.min(8) {
        let each = (width - 20) / storage.controllers.min(8);
        let x = MARGIN + 10 + controller * each;
        let _ = writeln!(
            body,
            "<rect x=\"{x}\" y=\"{}\" width=\"{}\" height=\"{}\"/>",
            line + 6,
            each - 6,
            LINE + 8
        );
        let memory = if storage.memory.is_empty() { String::new() } else { format!(", {}", storage.memory) };
        let mark = crate::format::mark(controller as usize);
        text(
            body,
            x + 8,
            line + LINE + 6,
            "",
            &format!("controller {mark}: {} ports{memory}", storage.ports),
        );
    }
    line += if storage.controllers > 0 { 2 * LINE } else { 0 };
    line += LINE;
    let drive = if storage.drive.is_empty() { "drives" } else { &storage.drive };
    text(body, MARGIN + 10, line, "f", &format!("{} × {drive}", storage.drives));
    for number in 0..drives {
        let (column, row) = (number % a_row.max(1), number / a_row.max(1));
        let _ = writeln!(
            body,
            "<rect x=\"{}\" y=\"{}\" width=\"{DRIVE}\" height=\"{DRIVE}\" class=\"d\"/>",
            MARGIN + 10 + column * (DRIVE + 4),
            line + 8 + row * (DRIVE + 4)
        );
    }
    (y + inner - top, width)
}

/// Head, and for each socket its processor and its cards.
fn server_height(server: &Server) -> u32 {
    let cards = u32::try_from(server.cards.len()).unwrap_or(u32::MAX);
    LINE * 2 + server.sockets.min(8) * (LINE * (1 + cards) + 14)
}

fn server_of(body: &mut String, server: &Server, number: u32, x: u32, y: u32) {
    let height = server_height(server);
    let _ = writeln!(
        body,
        "<rect x=\"{x}\" y=\"{y}\" width=\"{SERVER_WIDTH}\" height=\"{height}\" class=\"s\"/>"
    );
    let memory = if server.memory.is_empty() { String::new() } else { format!(", {}", server.memory) };
    let title = called(&server.title, &server.name);
    text(body, x + 10, y + LINE, "t", &format!("server {number}: {title}{memory}"));
    let cards = u32::try_from(server.cards.len()).unwrap_or(u32::MAX);
    for socket in 0..server.sockets.min(8) {
        let tall = LINE * (1 + cards) + 8;
        let at = y + LINE + 10 + socket * (tall + 6);
        let _ = writeln!(
            body,
            "<rect x=\"{}\" y=\"{at}\" width=\"{}\" height=\"{tall}\"/>",
            x + 10,
            SERVER_WIDTH - 20
        );
        let processor =
            if server.processor.is_empty() { String::new() } else { format!(": {}", server.processor) };
        text(body, x + 18, at + LINE - 3, "", &format!("socket {socket}{processor}"));
        for (place, card) in (0..).zip(&server.cards) {
            let row = at + LINE * (2 + place) - 3;
            let (class, to) = match card.to {
                To::Network => (" class=\"n\"", "network"),
                To::Storage => ("", "storage"),
            };
            let _ = writeln!(
                body,
                "<line x1=\"{}\" y1=\"{1}\" x2=\"{2}\" y2=\"{1}\"{class}/>",
                x + 18,
                row - 4,
                x + 30
            );
            let rate = card.bytes_per_second().map(|rate| format!(", {}", crate::format::rate(rate)));
            let words = format!("{} × {} to {to}{}", card.per_socket, card.title, rate.unwrap_or_default());
            text(body, x + 36, row, "", &words);
        }
    }
}

fn text(body: &mut String, x: u32, y: u32, class: &str, words: &str) {
    let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
    let _ = writeln!(body, "<text x=\"{x}\" y=\"{y}\"{class}>{}</text>", html(words));
}
