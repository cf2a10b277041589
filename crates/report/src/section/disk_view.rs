//! What the application asked for in a row, and what the disks got in a row.

use super::{Block, conditions, figure, only};
use crate::format::{decimal_bytes, grouped, percent, whole};
use crate::table::{Align, Cell, Table, Tone};
use crate::view::Report;

/// From this much less at the devices on, a sequential stream is no longer one.
const FALLEN: f64 = 0.10;

pub(super) fn blocks(report: &Report) -> Vec<Block> {
    let sentences: Vec<String> = report
        .findings
        .disk_views
        .iter()
        .filter_map(|one| {
            let share = one.device_share?;
            let fallen = one.application_share - share >= FALLEN;
            let end = if fallen { ": not what the application asked for" } else { "" };
            Some(format!(
                "Figure {}, {}: {} of the transfers follow each other at the application, {} at the devices{end}.",
                one.figure,
                crate::format::counted(one.tasks.into(), "stream"),
                percent(one.application_share),
                percent(share),
            ))
        })
        .collect();
    let mut blocks = Vec::new();
    if !sentences.is_empty() {
        blocks.push(Block::List(sentences));
    }
    blocks.extend(only(
        "Of the last operations that were kept, and of the requests that the kernel traced beside them: in a row means \
         that one begins where the one before it, of the same task or of the same device and direction, has ended. \
         Jumps: median distance of the others. Tracing costs what the history costs; without it nothing",
        table(report),
    ));
    blocks
}

fn table(report: &Report) -> Table {
    let mut table = Table::new(&[
        ("#", Align::Right),
        ("streams", Align::Right),
        ("operations", Align::Right),
        ("in a row", Align::Right),
        ("jumps", Align::Right),
        ("requests", Align::Right),
        ("in a row there", Align::Right),
        ("jumps there", Align::Right),
        ("conditions", Align::Left),
    ])
    .below("conditions");
    for one in &report.findings.disk_views {
        let Some(own) = figure(report, one.figure) else { continue };
        let bytes = |value: Option<f64>| value.map(|bytes| decimal_bytes(whole(bytes))).unwrap_or_default();
        let there = one.device_share.map(|share| {
            let fallen = one.application_share - share >= FALLEN;
            Cell::toned(percent(share), if fallen { Tone::Bad } else { Tone::Main })
        });
        table.row(vec![
            Cell::figure(Some(one.figure)),
            one.tasks.to_string().into(),
            grouped(one.operations).into(),
            percent(one.application_share).into(),
            bytes(one.application_seek_bytes).into(),
            one.device_requests.map(grouped).unwrap_or_default().into(),
            there.unwrap_or_default(),
            bytes(one.device_seek_bytes).into(),
            conditions(report, own).into(),
        ]);
    }
    table
}
