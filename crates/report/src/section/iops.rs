//! Transfers per second of one system, by what is meant by the word.

use super::{Block, figure, only, title};
use crate::format::{grouped, latency, whole};
use crate::table::{Align, Cell, Table, Tone};
use crate::text::{iops, share};
use crate::view::{Figure, Report};

/// Fewer definitions need no table.
const DEFINITIONS_LEAST: usize = 2;
/// More rows than this tell a reader no more.
const DEFINITIONS_MAX: usize = 10;

pub(super) fn blocks(report: &Report) -> Vec<Block> {
    let best = report.findings.iops.iter().filter_map(|&number| figure(report, number));
    let best: Vec<&Figure> = best.filter(|one| !one.is_large()).collect();
    if best.len() < DEFINITIONS_LEAST {
        return Vec::new();
    }
    let mut table = Table::new(&[
        ("#", Align::Right),
        ("target", Align::Left),
        ("transfers", Align::Left),
        ("path, depth", Align::Left),
        ("tasks", Align::Right),
        ("client", Align::Left),
        ("device ÷ tasks", Align::Left),
        ("IOPS", Align::Right),
        ("mean", Align::Right),
        ("p99", Align::Right),
        ("rate", Align::Left),
    ]);
    let all = best.len();
    for figure in best.into_iter().take(DEFINITIONS_MAX) {
        let first = figure.latency.first();
        table.row(vec![
            Cell::figure(Some(figure.number)),
            title(report, &figure.target).into(),
            figure.what.clone().into(),
            figure.path.clone().into(),
            grouped(u64::from(figure.tasks)).into(),
            figure.client.into(),
            cache(figure).into(),
            Cell::toned(iops(figure.transfers_per_second.median), Tone::Main),
            first.map(|one| latency(whole(one.mean_ns))).unwrap_or_default().into(),
            first.map(|one| latency(one.p99_ns)).unwrap_or_default().into(),
            figure.rate.into(),
        ]);
    }
    let mut lead =
        "Transfers completed per second of the same system, highest first; of equal definitions the fastest"
            .to_owned();
    if all > DEFINITIONS_MAX {
        lead.push_str(&format!("; {DEFINITIONS_MAX} of {all} definitions, the JSON form has all"));
    }
    let mut blocks = only(&lead, table);
    blocks.push(Block::Text(
        "All of these are its IOPS. None of them means anything without the words in its row.".to_owned(),
    ));
    blocks
}

fn cache(figure: &Figure) -> String {
    let share = share(figure.device_share);
    if figure.page_cache { format!("{share}, page cache") } else { share }
}
