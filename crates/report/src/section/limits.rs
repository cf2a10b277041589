//! Whether processors or the storage set the rate.

use super::{Block, conditions, figure, headline, only};
use crate::format::{latency, percent, whole};
use crate::table::{Align, Cell, Table, Tone};
use crate::view::Report;
use crate::view::findings::LimitedBy;

/// Rows for figures that the storage limits, which is the usual case.
const STORAGE_MAX: usize = 12;

pub(super) fn blocks(report: &Report) -> Vec<Block> {
    let operations = report.figures.iter().any(crate::view::Figure::is_operations);
    let mut table = Table::new(&[
        ("#", Align::Right),
        ("limit", Align::Left),
        ("user", Align::Right),
        ("system", Align::Right),
        ("waiting", Align::Right),
        (if operations { "CPU per operation" } else { "CPU per transfer" }, Align::Right),
        ("rate", Align::Right),
        ("conditions", Align::Left),
    ])
    .below("conditions");
    let all = &report.findings.limited_by;
    let (storage, other): (Vec<_>, Vec<_>) = all.iter().partition(|one| one.limit == "storage");
    let more = storage.len().saturating_sub(STORAGE_MAX);
    for one in other.into_iter().chain(storage.into_iter().take(STORAGE_MAX)) {
        table.row(row(report, one));
    }
    let mut blocks = only(
        "Processor time ÷ (I/O time × tasks or processors, whichever are fewer); the rest is waiting",
        table,
    );
    if more > 0 {
        blocks.push(Block::Text(format!(
            "{} more figures were limited by the storage, too.",
            crate::format::grouped(more as u64)
        )));
    }
    blocks
}

fn row(report: &Report, one: &LimitedBy) -> Vec<Cell> {
    let own = figure(report, one.figure);
    let (words, tone) = match one.limit {
        "processor" => ("CPU bound", Tone::Doubtful),
        "storage" if own.is_some_and(|own| own.exchange.is_some()) => ("waiting for answers", Tone::Plain),
        "storage" => ("waiting for storage", Tone::Plain),
        _ => ("both", Tone::Plain),
    };
    vec![
        Cell::figure(Some(one.figure)),
        Cell::toned(words, tone),
        percent(one.user_share).into(),
        percent(one.system_share).into(),
        percent(one.wait_share).into(),
        latency(whole(one.cpu_ns_per_transfer)).into(),
        own.map(headline).unwrap_or_default().into(),
        own.map(|own| conditions(report, own)).unwrap_or_default().into(),
    ]
}
