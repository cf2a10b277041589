//! Rates of nodes: a bar or marker for each node and its devices; a gap where nothing was measured.

use analysis::{
    figures::DeviceMean,
    gate::Stated,
    nodes::{NodeComparison, NodeStanding},
};
use serde_json::{Value, json};

use super::look::Look;
use super::plotly::{Chart, Trace, axis};
use super::series::target;
use crate::format::BYTES_PER_SECOND;
use crate::format::escape::chart as escaped;
use crate::format::names::unit as unit_of;
use crate::format::node_names;
use crate::format::{column_unit, divisor, percent, rate, rate_in};
use crate::report::Report;

/// Maximum number of nodes drawn as bars; more are markers.
const BARS_MAX: usize = 64;
/// Maximum number of labelled nodes on the axis.
const TICKS_MAX: usize = 24;
/// Maximum number of device names with a series each.
const DEVICES_NAMED: usize = 4;
/// Horizontal offset between devices of different names; nodes are 1 apart.
const DEVICE_STEP: f64 = 0.16;
/// Maximum number of charts: for each target, phase and workload the comparison with the most nodes.
const COMPARED_MAX: usize = 6;

/// The charts of node comparisons.
pub(super) fn charts(report: &Report) -> Vec<Chart> {
    let group = |one: &NodeComparison| report.figures.get(one.figure).map(|own| &own.group);
    let stated = report.found.nodes.iter().filter_map(Stated::says);
    let compared = analysis::figures::grouped(stated, |one| (&one.target, one.phase, group(one)));
    // Of equally large ones the first.
    let largest =
        compared.into_iter().filter_map(|all| all.into_iter().rev().max_by_key(|one| one.nodes.len()));
    largest.take(COMPARED_MAX).map(|one| comparison(report, one)).collect()
}

/// The x axis: node numbers, some of which are labelled by name.
fn node_axis(nodes: &[&str]) -> Value {
    let step = nodes.len().div_ceil(TICKS_MAX).max(1);
    let ticks: Vec<usize> = (0..nodes.len()).step_by(step).collect();
    json!({
        "title": { "text": "node" }, "tickmode": "array",
        "ticktext": ticks.iter().map(|&tick| escaped(nodes[tick])).collect::<Vec<_>>(),
        "tickvals": ticks, "range": axis_ends(nodes.len()), "showgrid": false,
    })
}

/// The ends of an axis of `nodes` nodes, with room for the markers of the first and the last.
fn axis_ends(nodes: usize) -> [f64; 2] {
    let room = (nodes as f64 * 0.02).max(0.7);
    [-room, nodes as f64 - 1.0 + room]
}

/// Bars where there is room, else markers.
fn marks(few: bool, name: &str, look: Look) -> Trace {
    if few { Trace::bars(name, look) } else { Trace::marks(name, look).with("marker.size", 5) }
}

fn comparison(report: &Report, one: &NodeComparison) -> Chart {
    let mut names: Vec<&str> = one.nodes.iter().map(|node| node.node.as_str()).collect();
    names.extend(one.missing.iter().map(String::as_str));
    // Nodes that were not measured keep their place in the order of names.
    names.sort_by(|a, b| analysis::figures::by_name(a, b));
    let place = |node: &NodeStanding| {
        names.binary_search_by(|name| analysis::figures::by_name(name, &node.node)).unwrap_or_default()
    };
    let (few, unit) = (names.len() <= BARS_MAX, unit_of(one.phase));
    let mut data = Vec::new();
    for (slow, name, symbol, pattern) in [
        (Some(false), "node", "circle", ""),
        (None, "far below the others", "triangle-up", "."),
        (Some(true), "slow node", "x", "x"),
    ] {
        let these = one.nodes.iter().filter(|node| node.slow == slow);
        let point =
            |node: &NodeStanding| (place(node), node.headline.median / divisor(unit), words(node, unit));
        data.push(
            marks(few, name, Look { symbol, pattern, ..Look::of_work(one.phase, 0) })
                .points(these.map(point)),
        );
    }
    data.extend(device_points(one, few, &place));
    let [low, high] = axis_ends(names.len());
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
        "Median of the passes that count; a node's {counted} ÷ its own time. Devices: their own count."
    );
    if !one.missing.is_empty() {
        let missing: Vec<&str> = one.missing.iter().map(String::as_str).collect();
        note.push_str(&format!(" Blank: not measured on {}.", node_names::shortened(&missing)));
    }
    let chart = Chart::new("nodes", "nodes-compared", heading(report, one), note)
        .axes(node_axis(&names), axis(column_unit(unit)))
        .traces(data);
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

/// The devices of the nodes as markers: a series for each device name, or where there are many only the slowest
/// device of each node.
fn device_points(one: &NodeComparison, few: bool, place: &dyn Fn(&NodeStanding) -> usize) -> Vec<Trace> {
    type Device = (String, DeviceMean);
    let devices = one.nodes.iter().flat_map(|node| node.devices.iter().map(move |device| (node, device)));
    let point = |(node, (name, mean)): &(&NodeStanding, &Device), beside: f64| {
        let moved = mean.moved_per_second();
        let words = format!("<b>{}</b> {}: {}", escaped(&node.node), escaped(name), rate(moved));
        (place(node) as f64 + beside, moved / 1e6, words)
    };
    let names = analysis::figures::grouped(devices, |(_, device)| &device.0);
    let trace =
        |name: &str, symbol| Trace::marks(name, Look { symbol, ..Look::of_work(one.phase, 1) }).outlined(1);
    if few && names.len() <= DEVICES_NAMED {
        let middle = (names.len() as f64 - 1.0) / 2.0;
        let each = names.iter().enumerate().map(|(index, all)| {
            let points = all.iter().map(|one| point(one, (index as f64 - middle) * DEVICE_STEP));
            trace(&all[0].1.0, Look::of(index).symbol).points(points)
        });
        return each.collect();
    }
    let moved = |device: &&Device| device.1.moved_per_second();
    let points = one.nodes.iter().filter_map(|node| {
        let slowest = node.devices.iter().min_by(|a, b| moved(a).total_cmp(&moved(b)))?;
        Some(point(&(node, slowest), 0.0))
    });
    vec![trace("slowest device of each node", "diamond").points(points)]
}
