//! Nodes beside each other: a bar or point for each node and device or target, a gap where nothing
//! was measured; and nodes × time as a heat map.

use analysis::{DeviceMean, HeatCell, HeatMap, NodeComparison, NodeGrid, NodeStanding, Stated};
use record::Run;
use serde_json::json;

use super::plotly::{BLUE, Chart, Look, ORANGE, Trace, VERMILLION, axis};
use super::series::{fixed, grouped, target};
use crate::escape::chart as escaped;
use crate::format::BYTES_PER_SECOND;
use crate::format::{column_unit, divisor, number, percent, rate, rate_in};
use crate::hosts;
use crate::report::Report;
use crate::section::title;
use crate::words::unit as unit_of;

/// Nodes up to which each has a bar; more are points.
const BARS_MAX: usize = 64;
/// Names on an axis of nodes.
const TICKS_MAX: usize = 24;
/// Kinds of devices, by name, with points of their own.
const DEVICES_NAMED: usize = 4;
/// Devices of one name stand so far beside those of the next, in widths of a node.
const DEVICE_STEP: f64 = 0.16;
/// Height of a row of a heat map, in CSS pixels, and the heights that the whole may have.
const HEAT_ROW_PX: usize = 22;
const HEAT_PX: (usize, usize) = (200, 600);
/// Comparisons whose nodes are drawn: of each target and phase the one on most nodes.
const COMPARED_MAX: usize = 6;

/// One chart for each grid, one for each figure whose nodes are listed, and its nodes × time where the record has
/// their seconds.
pub(super) fn charts(run: &Run, report: &Report) -> Vec<Chart> {
    let filled = |one: &&NodeGrid| one.cells.iter().flatten().flatten().count();
    let grids = grouped(&report.found.node_grids, |one, other| {
        (&one.group, one.phase) == (&other.group, other.phase)
    });
    let grids = grids.into_iter().filter_map(|alike| most(alike, filled));
    let group = |one: &NodeComparison| report.figures.get(one.figure).map(|own| &own.group);
    let compared = grouped(report.found.nodes.iter().filter_map(Stated::says), |one, other| {
        (&one.target, one.phase, group(one)) == (&other.target, other.phase, group(other))
    });
    let compared = compared.into_iter().filter_map(|alike| most(alike, |one| one.nodes.len()));
    let compared: Vec<&NodeComparison> = compared.take(COMPARED_MAX).collect();
    let heat_map = |one: &&NodeComparison| {
        let source = report.figures.get(one.figure)?;
        let map = analysis::heat_map(&run.nodes(&source.case), source)?;
        Some(heat(report, one, &map))
    };
    let grids = grids.map(|one| grid(report, one));
    let comparisons = compared.iter().map(|one| comparison(report, one));
    grids.chain(comparisons).chain(compared.iter().filter_map(heat_map)).collect()
}

/// The first with most.
fn most<T: Copy>(alike: Vec<T>, size: impl Fn(&T) -> usize) -> Option<T> {
    alike.into_iter().rev().max_by_key(size)
}

/// A chart over nodes: numbers, some of which have names.
fn over_nodes(kind: &'static str, heading: String, note: String, nodes: &[&str], y: &str) -> Chart {
    let step = nodes.len().div_ceil(TICKS_MAX).max(1);
    let ticks: Vec<usize> = (0..nodes.len()).step_by(step).collect();
    let x = json!({
        "title": { "text": "node" }, "tickmode": "array",
        "ticktext": ticks.iter().map(|&tick| escaped(nodes[tick])).collect::<Vec<_>>(),
        "tickvals": ticks, "range": ends(nodes.len()), "showgrid": false,
    });
    Chart::new(kind, "nodes-compared", heading, note).axes(x, axis(y))
}

/// The ends of an axis of `nodes` nodes, with room for the marks of the first and the last.
fn ends(nodes: usize) -> [f64; 2] {
    let room = (nodes as f64 * 0.02).max(0.7);
    [-room, nodes as f64 - 1.0 + room]
}

/// Bars where there is room, else points.
fn marks(few: bool, name: &str, look: Look) -> Trace {
    if few { Trace::bars(name, look) } else { Trace::marks(name, look).with("marker.size", 5) }
}

fn comparison(report: &Report, one: &NodeComparison) -> Chart {
    let mut names: Vec<&str> = one.nodes.iter().map(|node| node.node.as_str()).collect();
    names.extend(one.missing.iter().map(String::as_str));
    // Blanks stand where their names belong.
    names.sort_by(|a, b| analysis::by_name(a, b));
    let place = |node: &NodeStanding| {
        names.binary_search_by(|name| analysis::by_name(name, &node.node)).unwrap_or_default()
    };
    let (few, unit) = (names.len() <= BARS_MAX, unit_of(one.phase));
    let mut data = Vec::new();
    for (slow, name, colour, symbol, pattern) in [
        (Some(false), "node", BLUE, "circle", ""),
        (None, "far below the others", ORANGE, "x", "/"),
        (Some(true), "slow node", VERMILLION, "x", "/"),
    ] {
        let these = one.nodes.iter().filter(|node| node.slow == slow);
        let point =
            |node: &NodeStanding| (place(node), node.headline.median / divisor(unit), words(node, unit));
        data.push(marks(few, name, Look { symbol, pattern, ..colour.into() }).points(these.map(point)));
    }
    data.extend(device_points(one, few, &place));
    let [low, high] = ends(names.len());
    let mut level = |rate: f64, name: String, dash: &'static str| {
        let name = format!("{name}, {}", rate_in(rate, unit));
        data.push(Trace::level(&name, dash, [low, high].map(|end| (end, rate / divisor(unit)))));
    };
    level(one.average.mean, "mean of the nodes".to_owned(), "dash");
    if let Some(bound) = &one.bound {
        let (slowest, nodes) = (&bound.slowest, one.nodes.len());
        level(
            slowest.rate,
            format!("slowest, {}: {nodes} × this is the collective bound", slowest.name),
            "dot",
        );
    }
    let counted = if unit == BYTES_PER_SECOND { "bytes" } else { "operations" };
    let mut note = format!(
        "Median of the passes that count; a node's {counted} ÷ its own time. Devices: the kernel's count."
    );
    if !one.missing.is_empty() {
        let missing: Vec<&str> = one.missing.iter().map(String::as_str).collect();
        note.push_str(&format!(" Blank: not measured on {}.", hosts::shortened(&missing)));
    }
    let chart = over_nodes("nodes", heading(report, one), note, &names, column_unit(unit)).traces(data);
    if few { chart.with("barmode", "overlay") } else { chart }
}

fn heading(report: &Report, one: &NodeComparison) -> String {
    let what = report.figures.get(one.figure).map_or("", |own| own.what.as_str());
    format!("Figure {}, {what}{}: rate of each node", one.figure + 1, target(report, "on", &one.target))
}

fn words(node: &NodeStanding, unit: &str) -> String {
    let slow = match node.slow {
        Some(true) => ": slow",
        Some(false) => "",
        None => ": far below the others, and too few passes to call it slow, or none that show it",
    };
    let (name, median) = (escaped(&node.node), rate_in(node.headline.median, unit));
    let (share, n) = (percent(node.share), node.headline.n);
    format!("<b>{name}</b>{slow}<br>{median}, {share} of the median, n = {n}")
}

/// The devices of the nodes as points, one trace for each name where there are few.
fn device_points(one: &NodeComparison, few: bool, place: &dyn Fn(&NodeStanding) -> usize) -> Vec<Trace> {
    type Device = (String, DeviceMean);
    let devices = one.nodes.iter().flat_map(|node| node.devices.iter().map(move |device| (node, device)));
    let point = |(node, (name, mean)): &(&NodeStanding, &Device), beside: f64| {
        let moved = mean.moved_per_second();
        let words = format!("<b>{}</b> {}: {}", escaped(&node.node), escaped(name), rate(moved));
        (place(node) as f64 + beside, moved / 1e6, words)
    };
    let names = grouped(devices, |(_, one), (_, other)| one.0 == other.0);
    let trace = |name: &str, look: Look| Trace::marks(name, look).rimmed(1);
    if few && names.len() <= DEVICES_NAMED {
        let middle = (names.len() as f64 - 1.0) / 2.0;
        let each = names.iter().enumerate().map(|(index, all)| {
            let points = all.iter().map(|one| point(one, (index as f64 - middle) * DEVICE_STEP));
            trace(&all[0].1.0, Look::of(index + 2)).points(points)
        });
        return each.collect();
    }
    // Points of many would lie on each other.
    let moved = |device: &&Device| device.1.moved_per_second();
    let points = one.nodes.iter().filter_map(|node| {
        let slowest = node.devices.iter().min_by(|a, b| moved(a).total_cmp(&moved(b)))?;
        Some(point(&(node, slowest), 0.0))
    });
    let look = Look { symbol: "diamond", ..ORANGE.into() };
    vec![trace("slowest device of each node", look).points(points)]
}

/// Each node on each target.
fn grid(report: &Report, one: &NodeGrid) -> Chart {
    let names: Vec<&str> = one.nodes.iter().map(String::as_str).collect();
    let unit = unit_of(one.phase);
    let few = names.len() * one.targets.len() <= 2 * BARS_MAX;
    let data = one.targets.iter().enumerate().map(|(column, target)| {
        let target = title(report, target);
        let cells = || one.cells.iter().map(move |row| row.get(column)?.as_ref());
        let points = names.iter().enumerate().zip(cells()).filter_map(|((place, node), cell)| {
            let (median, n) = (cell?.rate.median, cell?.rate.n);
            let slow = if cell?.slow { ": slow" } else { "" };
            let words = format!(
                "<b>{}</b> on {}{slow}<br>{}, n = {n}",
                escaped(node),
                escaped(target),
                rate_in(median, unit)
            );
            Some((place, median / divisor(unit), words))
        });
        let trace = marks(few, target, Look::of(column)).points(points);
        let widths = cells().flatten().map(|cell| if cell.slow { 3 } else { 0 });
        trace.rimmed(widths.collect::<Vec<_>>())
    });
    let heading = format!("{} of {}{}: each node on each target", one.phase, one.group, fixed(&one.settings));
    let note =
        "Median of the passes that count. Slow nodes have a thick rim. Blank: not measured.".to_owned();
    over_nodes("node-grid", heading, note, &names, column_unit(unit)).traces(data)
}

/// Nodes × time.
fn heat(report: &Report, one: &NodeComparison, map: &HeatMap) -> Chart {
    let unit = unit_of(one.phase);
    let label = |row: &Vec<String>| match row.as_slice() {
        [first, .., last] => escaped(&format!("{first} to {last}")),
        row => escaped(&row.concat()),
    };
    let labels: Vec<String> = map.rows.iter().map(label).collect();
    let bins = map.rows.iter().any(|row| row.len() > 1);
    let words = |row: &str, start: f64, cell: &HeatCell| {
        let (start, end) = (number(start), number(start + map.column_seconds));
        let rates = match bins {
            true => format!("slowest {}, mean {}", rate_in(cell.lowest, unit), rate_in(cell.rate, unit)),
            false => rate_in(cell.rate, unit),
        };
        format!("<b>{row}</b>, {start} to {end} s<br>{rates}")
    };
    let text = labels.iter().zip(&map.cells).map(|(row, cells)| {
        let each = cells.iter().zip(&map.starts);
        each.map(|(cell, &start)| cell.map(|cell| words(row, start, &cell)).unwrap_or_default())
            .collect::<Vec<_>>()
    });
    let shade = |cell: &Option<HeatCell>| cell.map(|cell| (cell.lowest / divisor(unit) * 1e2).round() / 1e2);
    let shades = map.cells.iter().map(|row| row.iter().map(shade).collect::<Vec<_>>());
    let mut note = format!(
        "Repetition {}. Light is fast, dark is slow; a gap is a node that had not begun or was done.",
        map.repetition + 1
    );
    if bins {
        note.push_str(" Neighbouring nodes share a row, in the colour of the slowest of them.");
    }
    let trace = Trace(json!({
        "type": "heatmap", "z": shades.collect::<Vec<_>>(), "text": text.collect::<Vec<_>>(),
        "x": map.starts.iter().map(|start| start + map.column_seconds / 2.0).collect::<Vec<_>>(),
        "y": labels,
        "zmin": 0, "zmax": map.highest / divisor(unit), "colorscale": "Cividis", "hoverongaps": false,
        "hovertemplate": "%{text}<extra></extra>",
        "colorbar": { "title": { "text": column_unit(unit) }, "thickness": 14, "outlinewidth": 0 },
    }));
    let seconds = json!({ "title": { "text": "seconds since the start of the phase" }, "showgrid": false });
    let y = json!({ "title": { "text": "node" }, "type": "category", "autorange": "reversed", "showgrid": false });
    let heading = format!("{} over time", heading(report, one));
    Chart::new("heat", "nodes-compared", heading, note)
        .height((labels.len() * HEAT_ROW_PX + 80).clamp(HEAT_PX.0, HEAT_PX.1))
        .axes(seconds, y)
        .traces([trace])
}
