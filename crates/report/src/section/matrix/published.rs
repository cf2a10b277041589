//! The printed tables, in the form of the own ones, with what the audit says of them.

use super::{RATIO_COLUMNS, Scale, ratio, signed_percent};
use crate::section::{Block, only};
use crate::table::{Align, Cell, Table, Tone};
use crate::view::Report;
use crate::view::matrix::{PublishedCell, PublishedMatrix};

/// Launches behind each printed number.
const LAUNCHES: &str = "101";

fn tables(report: &Report) -> Option<&PublishedMatrix> {
    report.findings.matrices.published.as_ref()
}

/// A printed number; marked where the audit doubts it.
fn cell(one: &PublishedCell) -> Cell {
    match one.doubts.is_empty() {
        true => one.printed.as_str().into(),
        false => Cell::toned(format!("{} (!)", one.printed), Tone::Doubtful),
    }
}

/// Table 1 as printed, with the differences computed again.
pub(super) fn sums(report: &Report) -> Vec<Block> {
    let Some(published) = tables(report) else { return Vec::new() };
    let headings = Scale::PUBLISHED.headings();
    let mut columns = vec![("storage system", Align::Left), ("launches", Align::Right)];
    columns.extend(headings.iter().map(|heading| (heading.as_str(), Align::Right)));
    let mut table = Table::new(&columns);
    for system in &published.systems {
        let mut cells = vec![Cell::from(system.title.as_str()), LAUNCHES.into()];
        cells.extend(system.sums.iter().map(cell));
        table.row(cells);
    }
    let mut row = |name: &str, cells: Vec<Cell>| {
        let mut all = vec![Cell::from(name), Cell::from("")];
        all.extend(cells);
        table.row(all);
    };
    row("Aggregate delta, printed", published.changes.iter().map(|one| cell(&one.cell)).collect());
    let again = published.changes.iter().zip(Scale::PUBLISHED.divisors());
    let again = again.map(|(one, divisor)| {
        let tone = if one.agrees { Tone::Plain } else { Tone::Doubtful };
        Cell::toned(format!("{:+}", rounded(one.recomputed / divisor)), tone)
    });
    row("Δ computed again", again.collect());
    row("Δ in percent", published.changes.iter().map(|one| signed_percent(one.share).into()).collect());
    only(&format!("Table 1, published: {}; (!) the audit doubts it", published.cited), table)
}

/// Without the digits that binary arithmetic adds to differences of printed numbers.
fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

/// Table 2 as printed; what it does not print is empty.
pub(super) fn ratios(report: &Report) -> Vec<Block> {
    let Some(published) = tables(report) else { return Vec::new() };
    let mut table = Table::new(&RATIO_COLUMNS);
    for system in &published.systems {
        let mut cells = vec![Cell::from(system.title.as_str()), LAUNCHES.into()];
        cells.extend(system.ratios.iter().map(cell));
        cells.extend([Cell::from(""), "".into()]);
        cells.push(ratio(system.ratio_of_sums).into());
        cells.extend([Cell::from(""), "".into()]);
        table.row(cells);
    }
    let caption = format!("Table 2, published: {}; ratio of sums from its Table 1", published.cited);
    only(&caption, table)
}

/// What the audit says of the printed numbers.
pub(super) fn doubts(report: &Report) -> Vec<Block> {
    let Some(published) = tables(report) else { return Vec::new() };
    let of_systems = published.systems.iter().flat_map(|one| one.sums.iter().chain(&one.ratios));
    let cells = of_systems.chain(published.changes.iter().map(|one| &one.cell));
    let lines: Vec<String> = cells
        .flat_map(|one| one.doubts.iter().map(|doubt| format!("{} ({}): {doubt}", one.printed, one.id)))
        .collect();
    if lines.is_empty() { Vec::new() } else { vec![Block::List(lines)] }
}
