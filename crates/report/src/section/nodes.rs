//! Nodes beside each other: slow ones, blanks, averages, and what the slowest lets all reach.

use super::{Block, conditions, figure, only, point, title};
use crate::format::{
    bare_rate, column_unit, counted, divisor, grouped, megabytes, number, percent, rate, rate_in, rate_under,
    shared_unit,
};
use crate::hosts;
use crate::table::{Align, Cell, Table, Tone};
use crate::view::Report;
use crate::view::nodes::{Average, NodeComparison, NodeGrid, NodeStanding};

/// Comparisons whose nodes are listed and drawn: of each target and phase the one on most nodes.
const COMPARED_MAX: usize = 6;
/// Nodes of one comparison that are listed; of more the slowest.
const NODES_SHOWN: usize = 16;
/// Devices of one node that are listed; of more the slowest.
const DEVICES_SHOWN: usize = 4;
/// Figures up to which all are in the table of averages; of more those that are listed.
const AVERAGES_MAX: usize = 12;
/// Grids that are listed and drawn: of each workload and phase the one with the fewest blanks.
const GRIDS_MAX: usize = 4;

/// The comparisons that are shown in full.
pub(crate) fn compared(report: &Report) -> Vec<&NodeComparison> {
    let group = |one: &NodeComparison| figure(report, one.figure).map_or("", |own| own.group.as_str());
    let mut chosen: Vec<&NodeComparison> = Vec::new();
    for one in &report.findings.nodes {
        let alike = |known: &&mut &NodeComparison| {
            known.target == one.target && known.phase == one.phase && group(known) == group(one)
        };
        match chosen.iter_mut().find(alike) {
            Some(known) if one.nodes.len() > known.nodes.len() => *known = one,
            Some(_) => {}
            None => chosen.push(one),
        }
    }
    chosen.truncate(COMPARED_MAX);
    chosen
}

/// The grids that are shown.
pub(crate) fn grids(report: &Report) -> Vec<&NodeGrid> {
    let filled = |one: &NodeGrid| one.rows.iter().flat_map(|row| &row.cells).flatten().count();
    let mut chosen: Vec<&NodeGrid> = Vec::new();
    for one in &report.findings.node_grids {
        let alike = |known: &&mut &NodeGrid| known.group == one.group && known.phase == one.phase;
        match chosen.iter_mut().find(alike) {
            Some(known) if filled(one) > filled(known) => *known = one,
            Some(_) => {}
            None => chosen.push(one),
        }
    }
    chosen.truncate(GRIDS_MAX);
    chosen
}

pub(super) fn blocks(report: &Report) -> Vec<Block> {
    let all = &report.findings.nodes;
    if all.is_empty() {
        return Vec::new();
    }
    let chosen = compared(report);
    let mut blocks = vec![Block::List(chosen.iter().map(|one| sentence(report, one)).collect())];
    let mut caption =
        "Mean ± standard deviation (n − 1) over the nodes, of the median of each; collective bound: nodes × \
                       the slowest one"
            .to_owned();
    let averaged: Vec<&NodeComparison> =
        if all.len() > AVERAGES_MAX { chosen.clone() } else { all.iter().collect() };
    if averaged.len() < all.len() {
        caption.push_str(&format!(
            "; of each target and phase the figure on most nodes, the JSON form has all {}",
            grouped(all.len() as u64)
        ));
    }
    blocks.extend(only(&caption, averages(report, &averaged)));
    for one in &chosen {
        blocks.extend(only(&nodes_caption(report, one), standings(one)));
    }
    for grid in grids(report) {
        blocks.extend(only(&grid_caption(grid), grid_table(report, grid)));
    }
    blocks
}

/// `860 ± 12`, in MB/s or in operations per second.
fn plus_minus(one: &Average, unit: &str) -> String {
    let mean = bare_rate(one.mean_per_second, unit);
    match one.deviation_per_second {
        Some(deviation) => format!("{mean} ± {}", number(deviation / divisor(unit))),
        None => mean,
    }
}

/// As [`plus_minus`], with its unit where the heading, `shared`, has none.
fn plus_minus_under(shared: &str, one: &Average, unit: &'static str) -> String {
    let text = plus_minus(one, unit);
    if shared.is_empty() { format!("{text} {}", column_unit(unit)) } else { text }
}

fn names<'a>(nodes: impl Iterator<Item = &'a str>) -> String {
    hosts::shortened(&nodes.collect::<Vec<_>>())
}

/// What stands out among the nodes of a figure, in one sentence.
fn sentence(report: &Report, one: &NodeComparison) -> String {
    let what = figure(report, one.figure).map(|own| own.what.clone()).unwrap_or_default();
    let on = title(report, &one.target);
    let on = if on.is_empty() { String::new() } else { format!(" on {on}") };
    let slow: Vec<&str> = one.nodes.iter().filter(|node| node.slow).map(|node| node.node.as_str()).collect();
    let mut text = format!("Figure {}, {what}{on}: ", one.figure);
    text.push_str(&match slow.len() {
        0 => format!("none of {} is slow", counted(one.nodes.len() as u64, "node")),
        _ => format!(
            "{} of {} {} slow: {}",
            slow.len(),
            counted(one.nodes.len() as u64, "node"),
            if slow.len() == 1 { "is" } else { "are" },
            hosts::shortened(&slow)
        ),
    });
    if !one.missing.is_empty() {
        text.push_str(&format!("; not measured on {}", names(one.missing.iter().map(String::as_str))));
    }
    if let Some(bound) = &one.bound {
        text.push_str(&format!(
            "; {} × the slowest, {} with {}, is {}",
            one.nodes.len(),
            bound.slowest,
            rate_in(bound.slowest_per_second, one.unit),
            rate_in(bound.bound_per_second, one.unit)
        ));
        if let Some((measured, share)) = bound.measured_per_second.zip(bound.share) {
            text.push_str(&format!(
                "; together they reached {}, {} of it",
                rate_in(measured, one.unit),
                percent(share)
            ));
        }
        if let Some(device) = &bound.device {
            let device_rate = device.read_bytes_per_second + device.write_bytes_per_second;
            text.push_str(&format!(
                "; the slowest device of {} is {} with {}",
                bound.slowest,
                device.device,
                rate(device_rate)
            ));
        }
    }
    text.push('.');
    text
}

fn averages(report: &Report, these: &[&NodeComparison]) -> Table {
    let unit = shared_unit(these.iter().map(|one| one.unit));
    let [mean, bound, reached] =
        ["mean ± deviation", "bound", "reached"].map(|word| format!("{word} {unit}").trim_end().to_owned());
    let mut table = Table::new(&[
        ("#", Align::Right),
        ("target", Align::Left),
        ("phase", Align::Left),
        ("n", Align::Right),
        (&mean, Align::Right),
        ("fluctuation", Align::Right),
        ("slow", Align::Left),
        ("not measured on", Align::Left),
        (&bound, Align::Right),
        (&reached, Align::Right),
        ("of it", Align::Right),
        ("conditions", Align::Left),
    ])
    .below("conditions");
    for one in these {
        let average = &one.average;
        let slow: Vec<&str> =
            one.nodes.iter().filter(|node| node.slow).map(|node| node.node.as_str()).collect();
        let bound = one.bound.as_ref();
        table.row(vec![
            Cell::figure(Some(one.figure)),
            title(report, &one.target).into(),
            one.phase.into(),
            average.n.to_string().into(),
            plus_minus_under(unit, average, one.unit).into(),
            average.variation.map(percent).unwrap_or_default().into(),
            Cell::toned(hosts::shortened(&slow), if slow.is_empty() { Tone::Plain } else { Tone::Bad }),
            names(one.missing.iter().map(String::as_str)).into(),
            bound.map(|bound| rate_under(unit, bound.bound_per_second, one.unit)).unwrap_or_default().into(),
            bound
                .and_then(|bound| bound.measured_per_second)
                .map(|measured| rate_under(unit, measured, one.unit))
                .unwrap_or_default()
                .into(),
            bound.and_then(|bound| bound.share).map(percent).unwrap_or_default().into(),
            figure(report, one.figure).map(|own| conditions(report, own)).unwrap_or_default().into(),
        ]);
    }
    table
}

fn nodes_caption(report: &Report, one: &NodeComparison) -> String {
    let what = figure(report, one.figure).map(|own| own.what.clone()).unwrap_or_default();
    let mut text = format!(
        "Nodes of figure {} ({what}); z: distance from the median in robust standard deviations",
        one.figure
    );
    if one.nodes.len() > NODES_SHOWN {
        text.push_str(&format!(
            "; the {NODES_SHOWN} slowest of {}, the JSON form has all",
            grouped(one.nodes.len() as u64)
        ));
    }
    text
}

fn standings(one: &NodeComparison) -> Table {
    let mut table = Table::new(&[
        ("node", Align::Left),
        ("tasks", Align::Right),
        (column_unit(one.unit), Align::Right),
        ("n", Align::Right),
        ("of median", Align::Right),
        ("z", Align::Right),
        ("", Align::Left),
        ("devices, MB/s", Align::Left),
    ]);
    let mut shown: Vec<&NodeStanding> = one.nodes.iter().collect();
    if shown.len() > NODES_SHOWN {
        shown.sort_by(|a, b| a.share.total_cmp(&b.share));
        shown.truncate(NODES_SHOWN);
    }
    for node in shown {
        let tone = if node.slow { Tone::Bad } else { Tone::Plain };
        table.row(vec![
            node.node.as_str().into(),
            grouped(node.tasks as u64).into(),
            Cell::toned(plus_minus(&node.rate, one.unit), tone),
            node.rate.n.to_string().into(),
            percent(node.share).into(),
            format!("{:+.1}", node.z).into(),
            if node.slow { Cell::toned("slow", Tone::Bad) } else { Cell::default() },
            devices(node).into(),
        ]);
    }
    // Blanks stand at the end, so that nobody takes them for slow ones.
    for name in one.missing.iter().take(NODES_SHOWN) {
        let mut row = vec![Cell::default(); 8];
        row[0] = name.as_str().into();
        row[6] = Cell::toned("not measured", Tone::Doubtful);
        table.row(row);
    }
    table
}

/// `nvme0n1 430.1, nvme1n1 428.9`.
fn devices(node: &NodeStanding) -> String {
    let rate = |one: &crate::view::nodes::NodeDevice| one.read_bytes_per_second + one.write_bytes_per_second;
    let mut all: Vec<_> = node.devices.iter().collect();
    let more = all.len().saturating_sub(DEVICES_SHOWN);
    if more > 0 {
        all.sort_by(|a, b| rate(a).total_cmp(&rate(b)));
        all.truncate(DEVICES_SHOWN);
    }
    let mut parts: Vec<String> =
        all.into_iter().map(|one| format!("{} {}", one.device, megabytes(rate(one)))).collect();
    if more > 0 {
        parts.push(format!("{more} faster"));
    }
    parts.join(", ")
}

fn grid_caption(grid: &NodeGrid) -> String {
    let mut text = format!("{} of {} by node and target, {}", grid.phase, grid.group, column_unit(grid.unit));
    let settings = point(&grid.settings);
    if !settings.is_empty() {
        text.push_str(&format!(" ({settings})"));
    }
    if grid.rows.len() > NODES_SHOWN {
        text.push_str(&format!(
            "; those with a slow rate or a blank first, {NODES_SHOWN} of {}, the JSON form has all",
            grouped(grid.rows.len() as u64)
        ));
    }
    text
}

fn grid_table(report: &Report, grid: &NodeGrid) -> Table {
    let mut columns = vec![("node", Align::Left)];
    columns.extend(grid.targets.iter().map(|target| (title(report, target), Align::Right)));
    let mut table = Table::new(&columns);
    let mut rows: Vec<_> = grid.rows.iter().collect();
    if rows.len() > NODES_SHOWN {
        rows.sort_by_key(|row| !row.cells.iter().any(|cell| cell.as_ref().is_none_or(|cell| cell.slow)));
        rows.truncate(NODES_SHOWN);
    }
    for row in rows {
        let mut cells = vec![Cell::from(row.node.as_str())];
        cells.extend(row.cells.iter().map(|cell| match cell {
            Some(cell) if cell.slow => {
                Cell::toned(format!("slow {}", plus_minus(&cell.rate, grid.unit)), Tone::Bad)
            }
            Some(cell) => plus_minus(&cell.rate, grid.unit).into(),
            None => Cell::default(),
        }));
        table.row(cells);
    }
    let average = |one: &Option<Average>| -> Cell {
        one.as_ref()
            .map(|one| format!("{}, n = {}", plus_minus(one, grid.unit), one.n))
            .unwrap_or_default()
            .into()
    };
    table.row(
        std::iter::once(Cell::from("mean ± deviation")).chain(grid.averages.iter().map(average)).collect(),
    );
    table
}
