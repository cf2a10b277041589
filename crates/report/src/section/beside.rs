//! Own figures beside published ones, in one unit.

use super::{Block, conditions, figure, in_unit, only, point};
use crate::format::percent;
use crate::table::{Align, Cell, Table, Tone};
use crate::view::Report;

pub(super) fn blocks(report: &Report) -> Vec<Block> {
    let mut table = Table::new(&[
        ("published figure", Align::Left),
        ("printed", Align::Left),
        ("published", Align::Right),
        ("own", Align::Right),
        ("own ÷ published", Align::Right),
        ("#", Align::Right),
        ("source", Align::Left),
        ("own conditions", Align::Left),
    ])
    .below("own conditions");
    let mut misprints = Vec::new();
    for one in &report.findings.beside {
        let own = one.figure.and_then(|number| figure(report, number));
        let own_conditions =
            own.map_or_else(|| "nothing comparable was measured".to_owned(), |own| conditions(report, own));
        let at = point(&one.at);
        let place = if at.is_empty() { String::new() } else { format!(" ({at})") };
        let mark = if one.misprint.is_empty() { "" } else { " †" };
        table.row(vec![
            Cell::from(one.id.clone()),
            format!("{}{mark}", one.as_published).into(),
            in_unit(one.published, &one.unit).into(),
            one.own.map(|own| in_unit(own, &one.unit)).unwrap_or_default().into(),
            Cell::toned(one.ratio.map(percent).unwrap_or_default(), Tone::Main),
            Cell::figure(one.figure),
            format!("{} ({})", one.source, one.statistic).into(),
            format!("{own_conditions}{place}").into(),
        ]);
        if !one.misprint.is_empty() {
            misprints.push(format!("† {}: printed {}; {}", one.id, one.as_published, one.misprint));
        }
    }
    let mut blocks = only("", table);
    if !misprints.is_empty() {
        blocks.push(Block::List(misprints));
    }
    blocks
}
