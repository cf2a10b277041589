//! Nodes beside each other: a bar or point for each node and device or target, a gap where nothing
//! was measured; and nodes × time as a heat map.

use analysis::{DeviceMean, NodeCell, NodeComparison, NodeGrid, NodeStanding, Stated};
use record::Run;
use serde_json::{Value, json};

use super::spread::pattern_of;
use super::{BLUE, Chart, GREEN, ORANGE, PALETTE, PURPLE, SHAPES, SKY, VERMILLION, escaped};
use crate::format::{column_unit, counted, divisor, number, percent, rate, rate_in};
use crate::hosts;
use crate::section::title;
use crate::view::{BYTES_PER_SECOND, Report};
use crate::words::unit as unit_of;

/// Nodes up to which each has a bar; more are points.
const BARS_MAX: usize = 64;
/// Names on an axis of nodes.
const TICKS_MAX: usize = 24;
/// Kinds of devices, by name, with points of their own.
const DEVICES_NAMED: usize = 4;
/// Devices of one name stand so far beside those of the next, in widths of a node.
const DEVICE_STEP: f64 = 0.16;
/// Heights of a row of a heat map and of the whole, in CSS pixels.
const HEAT_ROW_PX: usize = 22;
const HEAT_LEAST_PX: usize = 120;
const HEAT_MOST_PX: usize = 520;
const HEAT_FRAME_PX: usize = 100;

/// Comparisons whose nodes are drawn: of each target and phase the one on most nodes.
const COMPARED_MAX: usize = 6;
/// Grids that are drawn: of each workload and phase the one with the fewest blanks.
const GRIDS_MAX: usize = 4;

/// The place of all of them.
const PLACE: &str = "nodes-compared";

/// One chart for each grid, and one for each figure whose nodes are listed.
pub(super) fn charts(report: &Report) -> Vec<Chart> {
    let grids = grids(report).into_iter().enumerate();
    let mut charts: Vec<Chart> = grids.map(|(index, one)| grid(report, one, index)).collect();
    charts.extend(compared(report).into_iter().map(|one| comparison(report, one)));
    charts
}

/// The comparisons that are drawn.
fn compared(report: &Report) -> Vec<&NodeComparison> {
    let group = |one: &NodeComparison| report.figures.get(one.figure).map_or("", |own| own.group.as_str());
    let mut chosen: Vec<&NodeComparison> = Vec::new();
    for one in report.found.nodes.iter().filter_map(Stated::says) {
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

/// The grids that are drawn.
fn grids(report: &Report) -> Vec<&NodeGrid> {
    let filled = |one: &NodeGrid| one.cells.iter().flatten().flatten().count();
    let mut chosen: Vec<&NodeGrid> = Vec::new();
    for one in &report.found.node_grids {
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

impl Chart {
    /// How bars of one node stand to each other, where there are bars.
    fn with_bars(mut self, bars: bool, mode: &str) -> Self {
        if bars {
            self.layout["barmode"] = mode.into();
            self.layout["bargap"] = 0.25.into();
        }
        self
    }
}

/// An axis of nodes: numbers, some of which have names.
fn nodes_axis(names: &[&str]) -> Value {
    let step = names.len().div_ceil(TICKS_MAX).max(1);
    let ticks: Vec<usize> = (0..names.len()).step_by(step).collect();
    json!({
        "title": { "text": "node" }, "tickmode": "array",
        "ticktext": ticks.iter().map(|&tick| escaped(names[tick])).collect::<Vec<_>>(),
        "tickvals": ticks, "range": ends(names.len()), "showgrid": false,
    })
}

/// The ends of an axis of `nodes` nodes, with room for the marks of the first and the last.
fn ends(nodes: usize) -> [f64; 2] {
    let room = (nodes as f64 * 0.02).max(0.7);
    [-room, nodes as f64 - 1.0 + room]
}

/// Bars where there is room, else points.
fn marks(few: bool, name: &str, colour: &str, symbol: &str, pattern: &str) -> Value {
    if few {
        json!({ "type": "bar", "name": name, "hovertemplate": "%{text}<extra></extra>", "textposition": "none",
            "marker": { "color": colour, "pattern": pattern_of(pattern) } })
    } else {
        json!({ "type": "scatter", "mode": "markers", "name": name, "hovertemplate": "%{text}<extra></extra>",
            "marker": { "color": colour, "symbol": symbol, "size": if pattern.is_empty() { 5 } else { 9 } } })
    }
}

fn comparison(report: &Report, one: &NodeComparison) -> Chart {
    let mut names: Vec<&str> = one.nodes.iter().map(|node| node.node.as_str()).collect();
    names.extend(one.missing.iter().map(String::as_str));
    // Blanks stand where their names belong.
    names.sort_by(|a, b| analysis::by_name(a, b));
    let places: std::collections::HashMap<&str, usize> =
        names.iter().enumerate().map(|(place, name)| (*name, place)).collect();
    let place = |node: &NodeStanding| places.get(node.node.as_str()).copied().unwrap_or_default();
    let (few, unit) = (names.len() <= BARS_MAX, unit_of(one.phase));
    let mut data = Vec::new();
    for (slow, name, colour, symbol, pattern) in [
        (Some(false), "node", BLUE, "circle", ""),
        (None, "far below the others", ORANGE, "x", "/"),
        (Some(true), "slow node", VERMILLION, "x", "/"),
    ] {
        let these: Vec<&NodeStanding> = one.nodes.iter().filter(|node| node.slow == slow).collect();
        if these.is_empty() {
            continue;
        }
        let mut trace = marks(few, name, colour, symbol, pattern);
        trace["x"] = these.iter().map(|node| place(node)).collect();
        trace["y"] = these.iter().map(|node| node.headline().median / divisor(unit)).collect();
        trace["text"] = these.iter().map(|node| words(node, unit)).collect();
        data.push(trace);
    }
    data.extend(device_points(one, few, &place));
    let ends = json!(ends(names.len()));
    data.push(level(&ends, (one.average().mean, unit), "mean of the nodes", "dash"));
    if let Some(bound) = &one.bound {
        data.push(level(
            &ends,
            (bound.slowest.rate, unit),
            &format!(
                "slowest, {}: {} × this is the collective bound",
                escaped(&bound.slowest.name),
                one.nodes.len()
            ),
            "dot",
        ));
    }
    Chart {
        id: format!("chart-nodes-{}", one.figure + 1),
        place: PLACE.to_owned(),
        title: heading(report, one),
        note: note(one),
        full: true,
        height: 380,
        data,
        layout: json!({
            "xaxis": nodes_axis(&names),
            "yaxis": { "title": { "text": column_unit(unit) }, "rangemode": "tozero" },
            "hovermode": "closest", "margin": { "l": 10, "r": 24, "t": 58, "b": 44 },
        }),
    }
    .with_bars(few, "overlay")
}

fn heading(report: &Report, one: &NodeComparison) -> String {
    let own = report.figures.get(one.figure);
    let what = own.map(|own| own.what.clone()).unwrap_or_default();
    let on = title(report, &one.target);
    let on = if on.is_empty() { String::new() } else { format!(" on {on}") };
    format!("Figure {}, {what}{on}: rate of each node", one.figure + 1)
}

fn note(one: &NodeComparison) -> String {
    let counted = if unit_of(one.phase) == BYTES_PER_SECOND { "bytes" } else { "operations" };
    let mut parts = vec![format!(
        "Median of the passes that count; a node's {counted} ÷ its own time. Devices: the kernel's count."
    )];
    if !one.missing.is_empty() {
        let names: Vec<&str> = one.missing.iter().map(String::as_str).collect();
        parts.push(format!("Blank: not measured on {}.", hosts::shortened(&names)));
    }
    parts.join(" ")
}

fn words(node: &NodeStanding, unit: &str) -> String {
    let mut text = format!(
        "<b>{}</b>{}<br>{}, {} of the median, z {:+.1}<br>{}, n = {}",
        escaped(&node.node),
        match node.slow {
            Some(true) => ": slow",
            Some(false) => "",
            None => ": far below the others, and too few passes to call it slow, or none that show it",
        },
        rate_in(node.headline().median, unit),
        percent(node.share),
        node.z,
        counted(node.tasks as u64, "task"),
        node.headline().n
    );
    if node.headline().n > 1 {
        text.push_str(&format!(", ± {}", rate_in(node.headline().deviation_sample, unit)));
    }
    text
}

/// A device of a node.
type Device = (String, DeviceMean);

fn moved(device: &Device) -> f64 {
    device.1.moved_per_second()
}

/// The devices of the nodes as points, one trace for each name where there are few.
fn device_points(one: &NodeComparison, few: bool, place: &dyn Fn(&NodeStanding) -> usize) -> Vec<Value> {
    let mut names: Vec<&str> = Vec::new();
    let all = one.nodes.iter().flat_map(|node| &node.devices);
    for device in all {
        if names.len() <= DEVICES_NAMED && !names.contains(&device.0.as_str()) {
            names.push(&device.0);
        }
    }
    if names.is_empty() {
        return Vec::new();
    }
    let points = |keep: &dyn Fn(&Device) -> bool, beside: f64| -> Vec<(f64, f64, String)> {
        let of_node = |node: &NodeStanding| {
            let mut devices: Vec<&Device> = node.devices.iter().filter(|device| keep(device)).collect();
            // Points of many nodes would lie on each other.
            if !few {
                devices.sort_by(|a, b| moved(a).total_cmp(&moved(b)));
                devices.truncate(1);
            }
            let at = place(node) as f64 + beside;
            let point = |device: &Device| {
                let (node, name) = (escaped(&node.node), escaped(&device.0));
                (at, moved(device) / 1e6, format!("<b>{node}</b> {name}: {}", rate(moved(device))))
            };
            devices.into_iter().map(point).collect::<Vec<_>>()
        };
        one.nodes.iter().flat_map(of_node).collect()
    };
    let trace = |name: String, colour: &str, symbol: &str, points: Vec<(f64, f64, String)>| {
        json!({
            "type": "scatter", "mode": "markers", "name": name,
            "x": points.iter().map(|(x, ..)| *x).collect::<Vec<_>>(),
            "y": points.iter().map(|(_, y, _)| *y).collect::<Vec<_>>(),
            "text": points.into_iter().map(|(.., text)| text).collect::<Vec<_>>(),
            "hovertemplate": "%{text}<extra></extra>",
            "marker": {
                "color": colour, "symbol": symbol, "size": if few { 8 } else { 5 },
                "line": { "color": "ink", "width": u8::from(few) },
            },
        })
    };
    if !few || names.len() > DEVICES_NAMED {
        let name = if few { "device" } else { "slowest device of each node" };
        return vec![trace(name.to_owned(), ORANGE, "diamond", points(&|_| true, 0.0))];
    }
    let middle = (names.len() as f64 - 1.0) / 2.0;
    let colours = [ORANGE, SKY, GREEN, PURPLE];
    let each = names.iter().zip(colours).zip(&SHAPES[1..]).enumerate();
    each.map(|(index, ((name, colour), symbol))| {
        let beside = (index as f64 - middle) * DEVICE_STEP;
        trace(escaped(name), colour, symbol, points(&|device| device.0 == *name, beside))
    })
    .collect()
}

/// A line across the chart.
fn level(ends: &Value, (value, unit): (f64, &str), name: &str, dash: &str) -> Value {
    let height = value / divisor(unit);
    json!({
        "type": "scatter", "mode": "lines", "name": format!("{name}, {}", rate_in(value, unit)),
        "x": ends, "y": [height, height], "hoverinfo": "skip",
        "line": { "color": "ink", "dash": dash, "width": 1.2 },
    })
}

/// Each node on each target.
fn grid(report: &Report, one: &NodeGrid, index: usize) -> Chart {
    let names: Vec<&str> = one.nodes.iter().map(String::as_str).collect();
    let unit = unit_of(one.phase);
    let few = names.len() * one.targets.len() <= 2 * BARS_MAX;
    let patterns = ["", "/", "x", ".", "-", "|"];
    let mut data = Vec::new();
    for (column, target) in one.targets.iter().enumerate() {
        let target = title(report, target);
        let rows = names.iter().zip(&one.cells).enumerate();
        let cells: Vec<(usize, &str, &NodeCell)> = rows
            .filter_map(|(place, (node, cells))| Some((place, *node, cells.get(column)?.as_ref()?)))
            .collect();
        let colour = PALETTE[column % PALETTE.len()];
        let symbol = SHAPES[column % SHAPES.len()];
        let mut trace = marks(few, &escaped(target), colour, symbol, patterns[column % patterns.len()]);
        trace["x"] = cells.iter().map(|(place, ..)| *place).collect();
        trace["y"] = cells.iter().map(|(.., cell)| cell.rate.median / divisor(unit)).collect();
        trace["text"] = cells
            .iter()
            .map(|(_, node, cell)| {
                format!(
                    "<b>{}</b> on {}{}<br>{}, n = {}",
                    escaped(node),
                    escaped(target),
                    if cell.slow { ": slow" } else { "" },
                    rate_in(cell.rate.median, unit),
                    cell.rate.n
                )
            })
            .collect();
        if few {
            trace["marker"]["line"] = json!({
                "color": "ink",
                "width": cells.iter().map(|(.., cell)| if cell.slow { 3 } else { 0 }).collect::<Vec<_>>(),
            });
        } else {
            trace["marker"]["size"] = cells.iter().map(|(.., cell)| if cell.slow { 11 } else { 5 }).collect();
        }
        data.push(trace);
    }
    let settings: String = one.settings.iter().map(|setting| format!(", {setting}")).collect();
    let slow = if few { "Slow nodes have a thick rim." } else { "Slow nodes are larger." };
    Chart {
        id: format!("chart-node-grid-{index}"),
        place: PLACE.to_owned(),
        title: format!("{} of {}{settings}: each node on each target", one.phase, one.group),
        note: format!("Median of the passes that count. {slow} Blank: not measured."),
        full: true,
        height: 360,
        data,
        layout: json!({
            "xaxis": nodes_axis(&names),
            "yaxis": { "title": { "text": column_unit(unit) }, "rangemode": "tozero" },
            "hovermode": "closest",
        }),
    }
    .with_bars(few, "group")
}

/// Nodes × time of each figure whose nodes are listed, where the record has their seconds.
pub(crate) fn heat_maps(run: &Run, report: &Report) -> Vec<Chart> {
    let chosen = compared(report).into_iter();
    let map = |one: &NodeComparison| {
        let source = report.sources.get(one.figure)?;
        let map = analysis::heat_map(&run.nodes(&source.case), source)?;
        Some(heat(report, one, &map))
    };
    chosen.filter_map(map).collect()
}

fn heat(report: &Report, one: &NodeComparison, map: &analysis::HeatMap) -> Chart {
    let label = |row: &Vec<String>| match row.as_slice() {
        [one] => one.clone(),
        [first, .., last] => format!("{first} to {last}"),
        [] => String::new(),
    };
    let unit = unit_of(one.phase);
    let scale = divisor(unit);
    let labels: Vec<String> = map.rows.iter().map(label).collect();
    let bins = map.rows.iter().any(|row| row.len() > 1);
    let words = |row: &str, start: f64, cell: &analysis::HeatCell| {
        let mean =
            if bins { format!("<br>mean of them {}", rate_in(cell.rate, unit)) } else { String::new() };
        let end = start + map.column_seconds;
        format!(
            "<b>{}</b>, {} to {} s<br>{}{}{mean}",
            escaped(row),
            number(start),
            number(end),
            if bins { "slowest " } else { "" },
            rate_in(cell.lowest, unit)
        )
    };
    let text = labels.iter().zip(&map.cells).map(|(row, cells)| {
        let each = cells.iter().zip(&map.starts);
        each.map(|(cell, &start)| cell.as_ref().map_or_else(String::new, |cell| words(row, start, cell)))
            .collect::<Vec<_>>()
    });
    let z = map.cells.iter().map(|row| {
        row.iter()
            .map(|cell| cell.as_ref().map(|cell| (cell.lowest / scale * 1e2).round() / 1e2))
            .collect::<Vec<_>>()
    });
    let rows = labels.len();
    let step = rows.div_ceil(TICKS_MAX).max(1);
    let ticks: Vec<usize> = (0..rows).step_by(step).collect();
    let mut note = format!(
        "Repetition {}. Light is fast, dark is slow; a gap is a node that had not begun or was done.",
        map.repetition + 1
    );
    if bins {
        note.push_str(" Neighbouring nodes share a row, in the colour of the slowest of them.");
    }
    Chart {
        id: format!("chart-heat-{}", one.figure + 1),
        place: PLACE.to_owned(),
        title: format!("{} over time", heading(report, one)),
        note,
        full: true,
        height: (rows * HEAT_ROW_PX).clamp(HEAT_LEAST_PX, HEAT_MOST_PX) + HEAT_FRAME_PX,
        data: vec![json!({
            "type": "heatmap", "z": z.collect::<Vec<_>>(), "text": text.collect::<Vec<_>>(),
            "x": map.starts.iter().map(|start| start + map.column_seconds / 2.0).collect::<Vec<_>>(),
            "y": (0..rows).collect::<Vec<_>>(),
            "zmin": 0, "zmax": map.highest / scale, "colorscale": "Cividis", "hoverongaps": false,
            "hovertemplate": "%{text}<extra></extra>",
            "colorbar": { "title": { "text": column_unit(unit) }, "thickness": 14, "outlinewidth": 0 },
        })],
        layout: json!({
            "xaxis": { "title": { "text": "seconds since the start of the phase" }, "showgrid": false },
            "yaxis": {
                "title": { "text": "node" }, "tickmode": "array", "tickvals": ticks, "showgrid": false,
                "ticktext": ticks.iter().map(|&tick| escaped(&labels[tick])).collect::<Vec<_>>(),
                "range": [rows as f64 - 0.5, -0.5],
            },
            "hovermode": "closest", "margin": { "l": 10, "r": 24, "t": 14, "b": 44 },
        }),
    }
}
