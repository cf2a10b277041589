//! Nodes side by side: a bar or point for each node and device, a gap where nothing was measured.

use analysis::{
    figures::DeviceMean,
    gate::Stated,
    nodes::{NodeComparison, NodeStanding},
};
use serde_json::json;

use super::look::Look;
use super::plotly::{Chart, Trace, axis};
use super::series::{grouped, target};
use crate::escape::chart as escaped;
use crate::format::BYTES_PER_SECOND;
use crate::format::{column_unit, divisor, percent, rate, rate_in};
use crate::hosts;
use crate::report::Report;
use crate::words::unit as unit_of;

/// Maximum number of nodes drawn as bars; more are points.
const BARS_MAX: usize = 64;
/// Names on an axis of nodes.
const TICKS_MAX: usize = 24;
/// Kinds of devices, by name, with points of their own.
const DEVICES_NAMED: usize = 4;
/// Offset between devices of different names, in widths of a node.
const DEVICE_STEP: f64 = 0.16;
/// Maximum number of comparisons drawn: for each target and phase the one on most nodes.
const COMPARED_MAX: usize = 6;

/// One chart for each figure whose nodes are listed.
pub(super) fn charts(report: &Report) -> Vec<Chart> {
    let group = |one: &NodeComparison| report.figures.get(one.figure).map(|own| &own.group);
    let compared = grouped(report.found.nodes.iter().filter_map(Stated::says), |one, other| {
        (&one.target, one.phase, group(one)) == (&other.target, other.phase, group(other))
    });
    let compared = compared.into_iter().filter_map(|alike| most(alike, |one| one.nodes.len()));
    compared.take(COMPARED_MAX).map(|one| comparison(report, one)).collect()
}

/// The first of the largest ones.
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
    // Blanks mark the positions of their names.
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
    let trace =
        |name: &str, symbol| Trace::marks(name, Look { symbol, ..Look::of_work(one.phase, 1) }).rimmed(1);
    if few && names.len() <= DEVICES_NAMED {
        let middle = (names.len() as f64 - 1.0) / 2.0;
        let each = names.iter().enumerate().map(|(index, all)| {
            let points = all.iter().map(|one| point(one, (index as f64 - middle) * DEVICE_STEP));
            trace(&all[0].1.0, Look::of(index).symbol).points(points)
        });
        return each.collect();
    }
    // Points of many would lie on each other.
    let moved = |device: &&Device| device.1.moved_per_second();
    let points = one.nodes.iter().filter_map(|node| {
        let slowest = node.devices.iter().min_by(|a, b| moved(a).total_cmp(&moved(b)))?;
        Some(point(&(node, slowest), 0.0))
    });
    vec![trace("slowest device of each node", "diamond").points(points)]
}
