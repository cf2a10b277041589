//! Figures against data sheets and limits, and the lowest limit of each target.

use super::{Block, amount, figure, headline, only, title, which_target};
use crate::format::percent;
use crate::table::{Align, Cell, Table, Tone};
use crate::view::Report;
use crate::view::findings::WeakestLink;

pub(super) fn blocks(report: &Report) -> Vec<Block> {
    let mut blocks = only("Measured ÷ expected", ratios(report));
    let reached: Vec<String> = report
        .findings
        .expected
        .iter()
        .filter_map(|one| {
            let target = figure(report, one.figure).map(|own| which_target(report, own)).unwrap_or_default();
            let on = if target.is_empty() { String::new() } else { format!(" on {target}") };
            Some(format!("Figure {}{on}, {}: {}.", one.figure, one.name, one.reached.as_ref()?))
        })
        .collect();
    if !reached.is_empty() {
        blocks.push(Block::List(reached));
    }
    blocks.extend(only(
        "The weakest link: the lowest of all limits, for each number of nodes",
        links_table(&report.findings.weakest_links, |target| title(report, target).to_owned()),
    ));
    blocks
}

fn ratios(report: &Report) -> Table {
    let mut table = Table::new(&[
        ("#", Align::Right),
        ("target", Align::Left),
        ("measured", Align::Right),
        ("expected", Align::Right),
        ("ratio", Align::Right),
        ("by", Align::Left),
        ("source", Align::Left),
        ("conditions", Align::Left),
    ])
    .below("conditions");
    for one in &report.findings.expected {
        let Some(own) = figure(report, one.figure) else { continue };
        let measured = match one.amount.unit {
            "bytes/s" => crate::format::rate(own.bytes_per_second.median),
            "ops/s" => super::in_unit(own.transfers_per_second.median, "ops/s"),
            "ns" => super::in_unit(one.amount.value * one.ratio, "ns"),
            _ => headline(own),
        };
        let over = one.ceiling && one.ratio > 1.0;
        let tone = if over { Tone::Bad } else { Tone::Main };
        let ceiling = if one.ceiling { " (ceiling)" } else { "" };
        table.row(vec![
            Cell::figure(Some(one.figure)),
            title(report, &own.target).into(),
            measured.into(),
            amount(&one.amount).into(),
            Cell::toned(percent(one.ratio), tone),
            format!("{}{ceiling}", one.name).into(),
            one.source.clone().into(),
            own.conditions.clone().into(),
        ]);
    }
    table
}

/// One row for each bound; `title` is what people call a target.
pub(crate) fn links_table(links: &[WeakestLink], title: impl Fn(&str) -> String) -> Table {
    let mut table = Table::new(&[
        ("target", Align::Left),
        ("phase", Align::Left),
        ("order", Align::Left),
        ("nodes", Align::Right),
        ("expected", Align::Right),
        ("weakest link", Align::Left),
        ("reached", Align::Right),
        ("all limits", Align::Left),
    ])
    .below("all limits");
    for one in links {
        let all: Vec<String> =
            one.limits.iter().map(|limit| format!("{} {}", limit.name, amount(&limit.amount))).collect();
        table.row(vec![
            title(&one.target).into(),
            one.phase.unwrap_or("all").into(),
            order(one).into(),
            one.nodes.to_string().into(),
            Cell::toned(amount(&one.amount), Tone::Main),
            one.weakest.clone().into(),
            one.efficiency.map(percent).unwrap_or_default().into(),
            all.join("; ").into(),
        ]);
    }
    table
}

/// `random, 4 KiB`.
fn order(one: &WeakestLink) -> String {
    let size = one.transfer_bytes.map(|bytes| plan::Bytes(bytes).to_string());
    one.order.map(str::to_owned).into_iter().chain(size).collect::<Vec<_>>().join(", ")
}
