//! Transfers per second of one system, by what is meant by the word.

use analysis::ShownIn;

use super::{Block, figure, only, title};
use crate::format::grouped;
use crate::latencies;
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
    let before = [
        ("#", Align::Right),
        ("target", Align::Left),
        ("transfers", Align::Left),
        ("path, depth", Align::Left),
        ("tasks", Align::Right),
        ("client", Align::Left),
        ("device ÷ tasks", Align::Left),
        ("IOPS", Align::Right),
    ];
    let columns = latencies::columns(&before, ShownIn::Always, &[("rate", Align::Left)]);
    let mut table = Table::new(&columns);
    let all = best.len();
    for figure in best.into_iter().take(DEFINITIONS_MAX) {
        let mut row: Vec<Cell> = vec![
            Cell::figure(Some(figure.number)),
            title(report, &figure.target).into(),
            figure.what.clone().into(),
            figure.path.clone().into(),
            grouped(u64::from(figure.tasks)).into(),
            figure.client.into(),
            cache(figure).into(),
            Cell::toned(iops(figure.transfers_per_second.median), Tone::Main),
        ];
        row.extend(latencies::cells(figure.latency.first(), ShownIn::Always).into_iter().map(Cell::from));
        row.push(figure.rate.into());
        table.row(row);
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
