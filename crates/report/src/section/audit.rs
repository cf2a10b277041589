//! What is doubtful, with the numbers that show it.

use super::{Block, figure, only, which_target};
use crate::table::{Align, Cell, Table, Tone};
use crate::view::Report;

pub(super) fn blocks(report: &Report) -> Vec<Block> {
    let mut table = Table::new(&[
        ("#", Align::Right),
        ("check", Align::Left),
        ("target", Align::Left),
        ("concerns", Align::Left),
        ("evidence", Align::Left),
        ("advice", Align::Left),
    ]);
    let mut all: Vec<_> = report.findings.audit.iter().collect();
    all.sort_by_key(|one| !one.disqualifies);
    for one in all {
        let tone = if one.disqualifies { Tone::Bad } else { Tone::Doubtful };
        let own = one.figure.and_then(|number| figure(report, number));
        let target = own.map(|own| which_target(report, own)).unwrap_or_default();
        table.row(vec![
            Cell::figure(one.figure),
            Cell::toned(one.check, tone),
            target.into(),
            one.concerns.clone().into(),
            one.evidence.clone().into(),
            one.advice.clone().into(),
        ]);
    }
    let mut blocks = only("", table);
    let disqualified = report.findings.audit.iter().filter(|one| one.disqualifies).count();
    if disqualified > 0 {
        blocks.push(Block::Text(format!(
            "{} of these: no commitment can pass with such a figure. They stand first.",
            crate::format::grouped(disqualified as u64)
        )));
    }
    blocks
}
