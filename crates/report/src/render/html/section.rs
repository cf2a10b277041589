//! Template values of sections.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::charts::Chart;
use crate::format::table::{Align, Cell, Table};
use crate::section::{Block, Section};

/// Maximum number of rows of a table, so that the page opens fast.
const ROWS_SHOWN: usize = 300;
/// Tables with more rows are collapsed.
const ROWS_OPEN: usize = 40;
/// Maximum number of lines of a list.
const LINES_SHOWN: usize = 100;

/// `section` with its charts, and links to the figures in `linked`.
pub(super) fn value(section: &Section, charts: &[Chart], linked: &HashSet<usize>) -> Value {
    json!({
        "id": section.id,
        "title": section.title,
        "charts": charts_of(charts, section.id),
        "blocks": section.blocks.iter().map(|block| block_value(block, charts, linked)).collect::<Vec<_>>(),
    })
}

/// The captions of the charts at `place`.
fn charts_of(charts: &[Chart], place: &str) -> Vec<Value> {
    charts.iter().filter(|chart| chart.place == place).map(Chart::caption).collect()
}

/// A block with its charts, and links to the figures in `linked`.
pub(super) fn block_value(block: &Block, charts: &[Chart], linked: &HashSet<usize>) -> Value {
    match block {
        Block::Heading { place, text } => {
            json!({ "kind": "heading", "text": text, "charts": charts_of(charts, place) })
        }
        Block::Text(text) => json!({ "kind": "text", "text": text }),
        Block::List(lines) => {
            let gone = lines.len().saturating_sub(LINES_SHOWN);
            json!({ "kind": "list", "lines": &lines[..lines.len() - gone], "gone": gone })
        }
        Block::Table { caption, table } => table_value(caption, table, linked),
    }
}

/// A table with links to the figures in `linked`.
pub(super) fn table_value(caption: &str, table: &Table, linked: &HashSet<usize>) -> Value {
    let parted = table.parted_for_page();
    let (table, below) = match &parted {
        Some((table, below)) => (table, below.as_slice()),
        None => (table, &[] as &[String]),
    };
    let right: Vec<bool> = table.columns().iter().map(|(_, align)| *align == Align::Right).collect();
    let heading = |(name, align): &(String, Align)| json!({ "name": name, "right": *align == Align::Right, "scale": "" });
    let rows = table.rows().iter().take(ROWS_SHOWN);
    json!({
        "kind": "table",
        "caption": caption,
        "headed": table.columns().iter().any(|(name, _)| !name.is_empty()),
        "columns": table.columns().iter().map(heading).collect::<Vec<_>>(),
        "rows": rows.map(|row| cells(row, &right, linked)).collect::<Vec<_>>(),
        "below": below.iter().take(ROWS_SHOWN).collect::<Vec<_>>(),
        "all": table.rows().len(),
        "folded": table.rows().len() > ROWS_OPEN,
        "gone": table.rows().len().saturating_sub(ROWS_SHOWN),
    })
}

fn cells(row: &[Cell], right: &[bool], linked: &HashSet<usize>) -> Value {
    row.iter()
        .zip(right)
        .map(|(cell, right)| {
            let link = cell.figure.filter(|number| linked.contains(number));
            json!({
                "text": cell.text, "tone": cell.tone, "right": right, "link": link,
                "figure": cell.figure, "bar": null,
            })
        })
        .collect()
}
