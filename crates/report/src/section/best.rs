//! The best point of each sweep, with the published one beside it.

use super::{Block, figure, headline, only, point, signed, title};
use crate::format::{mebibytes, megabytes, percent};
use crate::table::{Align, Cell, Table, Tone};
use crate::text::iops;
use crate::view::Report;
use crate::view::findings::{Beside, Best};

/// What must be known of any peak.
const CAUTION: &str = "Best of all points of a sweep by the median of their repetitions. A peak holds under the \
                       conditions in its row and no others; applications are unlikely to reach it.";

pub(super) fn blocks(report: &Report) -> Vec<Block> {
    let mut table = Table::new(&[
        ("#", Align::Right),
        ("workload", Align::Left),
        ("target", Align::Left),
        ("phase", Align::Left),
        ("best at", Align::Left),
        ("of", Align::Right),
        ("MB/s", Align::Right),
        ("MiB/s", Align::Right),
        ("IOPS", Align::Right),
        ("ahead", Align::Right),
        ("published", Align::Left),
        ("ratio", Align::Right),
        ("conditions", Align::Left),
    ])
    .below("conditions");
    for one in &report.findings.best {
        let beside = published(report, one);
        // The best of one point is no choice; the table of rates has it.
        if one.points < 2 && beside.is_none() {
            continue;
        }
        let own = figure(report, one.figure);
        let of_bytes = own.is_none_or(|own| !own.is_operations());
        // A file that is looked at moves no bytes, which is no rate of 0.
        let moved = |value: f64, show: fn(f64) -> String| {
            if of_bytes || value > 0.0 { show(value) } else { String::new() }
        };
        table.row(vec![
            Cell::figure(Some(one.figure)),
            one.group.clone().into(),
            title(report, &one.target).into(),
            one.phase.into(),
            Cell::toned(point(&one.settings), Tone::Main),
            one.points.to_string().into(),
            match of_bytes {
                true => Cell::toned(megabytes(one.bytes_per_second), Tone::Main),
                false => moved(one.bytes_per_second, megabytes).into(),
            },
            moved(one.bytes_per_second, mebibytes).into(),
            match own.filter(|own| own.is_operations()) {
                Some(own) => {
                    Cell::toned(format!("{} {}", iops(one.transfers_per_second), own.unit), Tone::Main)
                }
                None => iops(one.transfers_per_second).into(),
            },
            one.gain.map(signed).unwrap_or_default().into(),
            beside.map(as_published).unwrap_or_default().into(),
            beside.and_then(|beside| beside.ratio).map(percent).unwrap_or_default().into(),
            one.conditions.clone().into(),
        ]);
    }
    let mut blocks = only("", table);
    if blocks.is_empty() {
        return blocks;
    }
    let larger: Vec<String> =
        report.findings.best.iter().filter_map(|one| larger_is_slower(report, one)).collect();
    if !larger.is_empty() {
        blocks.push(Block::List(larger));
    }
    blocks.push(Block::Text(format!("{CAUTION} Ahead: best ÷ second best − 1. Ratio: own ÷ published.")));
    blocks
}

/// The published figure of the same workload, target and phase, where it is one of a whole sweep.
fn published<'a>(report: &'a Report, best: &Best) -> Option<&'a Beside> {
    report.findings.beside.iter().find(|one| {
        one.phase == Some(best.phase)
            && one.target.as_ref().is_none_or(|target| *target == best.target)
            && one.group.as_ref().is_none_or(|group| *group == best.group)
            && matches!(one.unit.as_str(), "bytes/s" | "ops/s")
            && (one.at.is_empty() || one.figure == Some(best.figure))
    })
}

fn as_published(one: &Beside) -> String {
    let misprint = if one.misprint.is_empty() { "" } else { " (misprint)" };
    format!("{}{misprint}", one.as_published)
}

fn larger_is_slower(report: &Report, best: &Best) -> Option<String> {
    let slower = figure(report, best.larger_is_slower?)?;
    let (what, limit) =
        if slower.exchange.is_some() { ("message", "network") } else { ("transfer", "storage") };
    Some(format!(
        "{} {} of {}: a larger {what} is slower than the best point ({}, {}), so this is a peak of its size and \
         no limit of the {limit}.",
        title(report, &best.target),
        best.phase,
        best.group,
        headline(slower),
        slower.conditions
    ))
}
