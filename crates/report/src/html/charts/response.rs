//! Latencies over a sweep: percentiles against the swept key, and latency against the rate.

use analysis::{Curve, CurvePoint, LATENCY_STATISTICS, ShownIn};
use serde_json::{Value, json};

use super::axis::{Axis, Span};
use super::latency::{MARKS, latency_axis, microseconds};
use super::{Chart, DASHES, PALETTE, SHAPES, escaped};
use crate::format::{latency, whole};
use crate::latencies::{LatencyInfo, is_of_tail, words};
use crate::section::line_name;
use crate::text::iops;
use crate::view::{Figure, Report};

/// Curves with percentiles of their own, each in a chart.
const CURVES_MAX: usize = 8;
/// Lines of the chart of latency against rate.
const LINES_MAX: usize = 12;

/// Colour and shape of the mean.
const MEAN: (&str, &str) = ("#7f8791", "diamond");

/// The charts of all sweeps that have latencies.
pub(super) fn charts(report: &Report) -> Vec<Chart> {
    let mut groups: Vec<&str> = Vec::new();
    let timed: Vec<&Curve> = report.found.curves.iter().filter(|curve| is_timed(report, curve)).collect();
    for curve in &timed {
        if !groups.contains(&curve.group.as_str()) {
            groups.push(&curve.group);
        }
    }
    let mut charts = Vec::new();
    for group in groups {
        let these: Vec<&Curve> = timed.iter().copied().filter(|curve| curve.group == group).collect();
        let loads: Vec<&Curve> = these.iter().copied().filter(|curve| is_load(&curve.axis)).collect();
        if !loads.is_empty() {
            charts.push(against_rate(report, group, &loads, charts.len()));
        }
        for curve in these.iter().take(CURVES_MAX) {
            charts.push(percentiles(report, curve, charts.len()));
        }
    }
    charts
}

/// More of these keys is more load.
fn is_load(axis: &str) -> bool {
    matches!(axis, "tasks" | "depth" | "nodes" | "rate" | "pace")
}

/// Whether most points of a curve with several have latencies of small transfers.
fn is_timed(report: &Report, curve: &Curve) -> bool {
    let small = |figure: &Figure| !figure.is_large() && !figure.latency.is_empty();
    let timed =
        curve.points.iter().filter_map(|point| report.figures.get(point.figure)).filter(|one| small(one));
    curve.points.len() > 2 && timed.count() == curve.points.len()
}

/// p50, p99, p99.9 and the longest against the swept key.
fn percentiles(report: &Report, curve: &Curve, index: usize) -> Chart {
    let span = Span::of(&curve.axis, &[curve]);
    let axis = Axis::new(&span);
    let name = line_name(report, curve, true);
    let points: Vec<(f64, usize, &LatencyInfo)> = curve
        .points
        .iter()
        .filter_map(|point| {
            Some((point.x, point.figure + 1, report.figures.get(point.figure)?.latency.first()?))
        })
        .collect();
    let mut marks = MARKS.iter().cycle();
    let data = LATENCY_STATISTICS.iter().filter(|one| one.shown >= ShownIn::Latencies).enumerate().map(
        |(index, kind)| {
            let &(colour, symbol) = if is_of_tail(kind) { marks.next().unwrap_or(&MARKS[0]) } else { &MEAN };
            let values = || {
                points.iter().filter_map(|(x, figure, one)| {
                    Some((*x, *figure, one.shown(ShownIn::Latencies).nth(index)?.1))
                })
            };
            let told = |(x, _, nanos): (f64, usize, f64)| {
                format!("<b>{} {}</b> at {}", kind.heading, words(nanos), axis.words(x))
            };
            json!({
                "type": "scatter", "mode": "lines+markers", "name": kind.heading,
                "x": values().map(|(x, ..)| axis.at(x)).collect::<Vec<_>>(),
                "y": values().map(|(.., nanos)| microseconds(nanos)).collect::<Vec<_>>(),
                "figures": values().map(|(_, figure, _)| figure).collect::<Vec<_>>(),
                "words": values().map(told).collect::<Vec<_>>(),
                "line": { "color": colour, "dash": DASHES[index % DASHES.len()], "width": 2 },
                "marker": { "color": colour, "symbol": symbol, "size": 7 },
            })
        },
    );
    let all = points.iter().flat_map(|(_, _, one)| one.shown(ShownIn::Latencies)).map(|(_, nanos)| nanos);
    Chart {
        id: format!("chart-response-{index}"),
        place: curve.group.clone(),
        title: format!("Latency against {}: {name}", span.name()),
        note: "Percentiles of every transfer, all repetitions together.".to_owned(),
        full: false,
        height: 360,
        data: data.collect(),
        layout: json!({ "xaxis": axis.layout(), "yaxis": latency_axis("latency of a transfer", all), "hovermode": "closest" }),
    }
}

/// Mean latency against transfers per second, along the swept load.
fn against_rate(report: &Report, group: &str, curves: &[&Curve], index: usize) -> Chart {
    let data: Vec<Value> = curves
        .iter()
        .take(LINES_MAX)
        .enumerate()
        .map(|(number, curve)| {
            let name = line_name(report, curve, true);
            let span = Span::of(&curve.axis, &[curve]);
            let timed = || curve.points.iter().filter(|point| point.latency_mean_ns.is_some());
            let mean = |point: &CurvePoint| whole(point.latency_mean_ns.unwrap_or_default());
            let told = |point: &CurvePoint| {
                let rate = iops(point.transfers_per_second);
                format!("<b>{}</b>: {rate} IOPS, mean {}", escaped(&span.words(point.x)), latency(mean(point)))
            };
            json!({
                "type": "scatter", "mode": "lines+markers+text", "name": escaped(&name),
                "x": timed().map(|point| point.transfers_per_second).collect::<Vec<_>>(),
                "y": timed().map(|point| mean(point) as f64 / 1e3).collect::<Vec<_>>(),
                "labels": timed().map(|point| point.at.to_string()).collect::<Vec<_>>(),
                "figures": timed().map(|point| point.figure + 1).collect::<Vec<_>>(),
                "words": timed().map(told).collect::<Vec<_>>(),
                "textposition": "top left",
                "showlegend": curves.len() > 1,
                "line": { "color": PALETTE[number % PALETTE.len()], "width": 2 },
                "marker": { "color": PALETTE[number % PALETTE.len()], "symbol": SHAPES[number % SHAPES.len()], "size": 7 },
            })
        })
        .collect();
    let axis = curves.first().map_or("", |curve| &curve.axis);
    Chart {
        id: format!("chart-response-{index}"),
        place: group.to_owned(),
        title: "Latency against IOPS".to_owned(),
        note: format!("Mean response time and rate of each point; the number beside it is {axis}."),
        full: false,
        height: 360,
        data,
        layout: json!({
            "xaxis": { "title": { "text": "transfers per second (IOPS)" }, "rangemode": "tozero" },
            "yaxis": { "title": { "text": "mean latency, µs" }, "rangemode": "tozero" },
            "hovermode": "closest",
        }),
    }
}
