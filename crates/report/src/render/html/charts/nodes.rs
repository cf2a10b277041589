//! Rates of nodes: a bar for each node, markers for its devices, and a gap where nothing was measured; for many nodes
//! the distribution.

use analysis::{
    figures::DeviceMean,
    gate::{LISTED_MAX, Stated},
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

/// Maximum number of labelled nodes on the axis.
const TICKS_MAX: usize = 24;
/// Maximum number of device names with a series each.
const DEVICES_NAMED: usize = 4;
/// Maximum number of points of the line of a distribution.
const STEPS_MAX: usize = 200;
/// Horizontal offset between devices of different names; nodes are 1 apart.
const DEVICE_STEP: f64 = 0.16;
/// Maximum number of charts: for each target, phase and workload the comparison with the most nodes.
const COMPARED_MAX: usize = 6;

/// The charts of node comparisons.
pub(super) fn charts(report: &Report) -> Vec<Chart> {
    let group = |one: &NodeComparison| report.figures.get(one.figure).map(|own| &own.group);
    let stated = report.found.nodes.iter().filter_map(Stated::says);
    let compared = analysis::figures::grouped(stated, |one| (&one.target, one.phase, group(one)));
    // The first of the largest.
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

fn comparison(report: &Report, one: &NodeComparison) -> Chart {
    let mut names: Vec<&str> = one.nodes.iter().map(|node| node.node.as_str()).collect();
    names.extend(one.missing.iter().map(String::as_str));
    if names.len() > LISTED_MAX {
        return distribution(report, one);
    }
    // Nodes that were not measured keep their place in the order of names.
    names.sort_by(|a, b| analysis::figures::by_name(a, b));
    let place = |node: &NodeStanding| {
        names.binary_search_by(|name| analysis::figures::by_name(name, &node.node)).unwrap_or_default()
    };
    let unit = unit_of(one.phase);
    let mut data = Vec::new();
    for (slow, name, symbol, pattern) in STANDINGS {
        let these = one.nodes.iter().filter(|node| node.slow == slow);
        let point =
            |node: &NodeStanding| (place(node), node.headline.median / divisor(unit), words(node, unit));
        let look = Look { symbol, pattern, ..Look::of_work(one.phase, 0) };
        data.push(Trace::bars(name, look).points(these.map(point)));
    }
    data.extend(device_points(one, &place));
    let [low, high] = axis_ends(names.len());
    data.extend(levels(one).into_iter().map(|(rate, name, dash)| {
        Trace::level(&name, dash, [low, high].map(|end| (end, rate / divisor(unit))))
    }));
    let workload = report.figures.get(one.figure).map(|figure| figure.group.as_str()).unwrap_or_default();
    Chart::new("nodes", "nodes-compared", heading(report, one), note(one))
        .of_workload(workload)
        .axes(node_axis(&names), axis(column_unit(unit)))
        .traces(data)
        .with("barmode", "overlay")
}

/// How a node compares with the others, with name, symbol and pattern.
const STANDINGS: [(Option<bool>, &str, &str, &str); 3] = [
    (Some(false), "node", "circle", ""),
    (None, "far below the others", "triangle-up", "."),
    (Some(true), "slow node", "x", "x"),
];

/// The share of the nodes that are not faster than a given rate, with the slow nodes marked; and the same for the
/// slowest device of each node.
fn distribution(report: &Report, one: &NodeComparison) -> Chart {
    let unit = unit_of(one.phase);
    let mut nodes: Vec<&NodeStanding> = one.nodes.iter().collect();
    nodes.sort_by(|a, b| a.headline.median.total_cmp(&b.headline.median));
    let percent_of = |place: usize, of: usize| (place + 1) as f64 / of as f64 * 100.0;
    let line = |name: &str, index: usize, rates: &[f64]| {
        // The first, the last, and others at equal steps.
        let last = rates.len().saturating_sub(1);
        let steps = last.clamp(1, STEPS_MAX);
        let places = (0..=steps).map(|step| step * last / steps).filter(|&place| place < rates.len());
        let points = places.map(|place| {
            let share = percent_of(place, rates.len());
            let words = format!("{share:.1} % are not faster than {}", rate_in(rates[place], unit));
            (rates[place] / divisor(unit), share, words)
        });
        Trace::lines(name, Look::of_work(one.phase, index)).with("line.shape", "hv").points(points)
    };
    let rates: Vec<f64> = nodes.iter().map(|node| node.headline.median).collect();
    let mut data = vec![line("nodes", 0, &rates)];
    if unit == BYTES_PER_SECOND {
        let slowest = one.nodes.iter().filter_map(slowest_device);
        let mut devices: Vec<f64> = slowest.map(|(_, mean)| mean.moved_per_second()).collect();
        devices.sort_by(f64::total_cmp);
        data.push(line("slowest device of each node", 1, &devices));
    }
    for (slow, name, symbol, _) in STANDINGS.into_iter().filter(|(slow, ..)| *slow != Some(false)) {
        let these = nodes.iter().enumerate().filter(|(_, node)| node.slow == slow);
        let points = these.map(|(place, node)| {
            (node.headline.median / divisor(unit), percent_of(place, nodes.len()), words(node, unit))
        });
        let look = Look { symbol, ..Look::of_work(one.phase, 0) };
        data.push(Trace::marks(name, look).points(points));
    }
    data.extend(levels(one).into_iter().map(|(rate, name, dash)| {
        Trace::level(&name, dash, [0.0, 100.0].map(|share| (rate / divisor(unit), share)))
    }));
    let rates = json!({ "title": { "text": column_unit(unit) } });
    let workload = report.figures.get(one.figure).map(|figure| figure.group.as_str()).unwrap_or_default();
    Chart::new("nodes", "nodes-compared", heading(report, one), note(one))
        .of_workload(workload)
        .axes(rates, axis("% of the nodes that are not faster"))
        .traces(data)
}

/// Rates of all nodes together that are drawn as straight lines: rate, name and dash.
fn levels(one: &NodeComparison) -> Vec<(f64, String, &'static str)> {
    let unit = unit_of(one.phase);
    let named = |rate: f64, name: String, dash| (rate, format!("{name}, {}", rate_in(rate, unit)), dash);
    let mut levels = vec![named(one.average.mean, "mean of the nodes".to_owned(), "dash")];
    levels.extend(one.bound.as_ref().map(|bound| {
        let (slowest, nodes) = (&bound.slowest, one.nodes.len());
        let name = format!("slowest, {}: {nodes} × this is the collective bound", slowest.name);
        named(slowest.rate, name, "dot")
    }));
    levels
}

fn note(one: &NodeComparison) -> String {
    let counted = if unit_of(one.phase) == BYTES_PER_SECOND { "bytes" } else { "operations" };
    let mut note = format!(
        "Median of the passes that count; a node's {counted} ÷ its own time. Devices: their own count."
    );
    if !one.missing.is_empty() {
        let missing: Vec<&str> = one.missing.iter().map(String::as_str).collect();
        note.push_str(&format!(" Not measured on {}.", node_names::shortened(&missing)));
    }
    note
}

fn heading(report: &Report, one: &NodeComparison) -> String {
    let what = report.figures.get(one.figure).map_or("", |own| own.what.as_str());
    format!("Figure {}, {what}{}: rate of each node", one.figure + 1, target(report, "on", &one.target))
}

fn words(node: &NodeStanding, unit: &str) -> String {
    let slow = match node.slow {
        Some(true) => ": slow",
        Some(false) => "",
        None => ": far below the others, but too few passes to call it slow, or the passes do not show it",
    };
    let (name, median) = (escaped(&node.node), rate_in(node.headline.median, unit));
    let (share, n) = (percent(node.share), node.headline.n);
    format!("<b>{name}</b>{slow}<br>{median}, {share} of the median, n = {n}")
}

/// A device of a node by its name, with the kernel's count.
type Device = (String, DeviceMean);

fn slowest_device(node: &NodeStanding) -> Option<&Device> {
    let moved = |device: &&Device| device.1.moved_per_second();
    node.devices.iter().min_by(|a, b| moved(a).total_cmp(&moved(b)))
}

/// The devices of the nodes as markers: a series for each device name, or only the slowest device of each node if
/// there are many.
fn device_points(one: &NodeComparison, place: &dyn Fn(&NodeStanding) -> usize) -> Vec<Trace> {
    let devices = one.nodes.iter().flat_map(|node| node.devices.iter().map(move |device| (node, device)));
    let point = |(node, (name, mean)): &(&NodeStanding, &Device), beside: f64| {
        let moved = mean.moved_per_second();
        let words = format!("<b>{}</b> {}: {}", escaped(&node.node), escaped(name), rate(moved));
        (place(node) as f64 + beside, moved / 1e6, words)
    };
    let names = analysis::figures::grouped(devices, |(_, device)| &device.0);
    let trace =
        |name: &str, symbol| Trace::marks(name, Look { symbol, ..Look::of_work(one.phase, 1) }).outlined(1);
    if names.len() <= DEVICES_NAMED {
        let middle = (names.len() as f64 - 1.0) / 2.0;
        let each = names.iter().enumerate().map(|(index, all)| {
            let points = all.iter().map(|one| point(one, (index as f64 - middle) * DEVICE_STEP));
            trace(&all[0].1.0, Look::of(index).symbol).points(points)
        });
        return each.collect();
    }
    let points = one.nodes.iter().filter_map(|node| Some(point(&(node, slowest_device(node)?), 0.0)));
    vec![trace("slowest device of each node", "diamond").points(points)]
}
