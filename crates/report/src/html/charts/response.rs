//! Latencies over a sweep: percentiles against the swept key, and latency against the rate.

use analysis::{Curve, CurvePoint, ShownIn};

use super::axis::Axis;
use super::latency;
use super::plotly::{Chart, Look, Trace, axis};
use super::series::grouped;
use crate::escape::chart as escaped;
use crate::format::iops;
use crate::latencies::{self, words};
use crate::section::line_name;
use crate::view::Report;

/// Lines of the chart of latency against rate.
const LINES_MAX: usize = 12;
/// More of these keys is more load.
const LOADS: [&str; 5] = ["tasks", "depth", "nodes", "rate", "pace"];

/// The charts of all sweeps that have latencies of small transfers at every point.
pub(super) fn charts(report: &Report) -> Vec<Chart> {
    let is_timed = |point: &CurvePoint| {
        let figure = report.figures.get(point.figure);
        figure.is_some_and(|one| !one.is_large() && !one.latency.is_empty())
    };
    let timed = |curve: &&Curve| curve.points.len() > 2 && curve.points.iter().all(is_timed);
    let timed = report.found.curves.iter().filter(timed);
    let mut charts = Vec::new();
    for curves in grouped(timed, |one, other| one.group == other.group) {
        let is_load = |curve: &&&Curve| LOADS.contains(&curve.axis.as_str());
        let loads: Vec<&Curve> = curves.iter().filter(is_load).take(LINES_MAX).copied().collect();
        if !loads.is_empty() {
            charts.push(against_rate(report, &loads));
        }
        charts.extend(curves.into_iter().map(|curve| percentiles(report, curve)));
    }
    charts
}

/// Mean, p50, p99, p99.9 and the longest against the swept key.
fn percentiles(report: &Report, curve: &Curve) -> Chart {
    let swept = Axis::of(&[curve]);
    let data = latencies::statistics(ShownIn::Latencies).enumerate().map(|(index, kind)| {
        let points = curve.points.iter().filter_map(|point| {
            let latency = report.figures.get(point.figure)?.latency.first()?;
            let (_, nanos) = latency.shown(ShownIn::Latencies).nth(index)?;
            let told = format!("<b>{} {}</b> at {}", kind.heading, words(nanos), swept.words(point.x));
            Some((swept.at(point.x), latency::microseconds(nanos), told, point.figure + 1))
        });
        Trace::curve(kind.heading, Look::of(index)).points(points)
    });
    let latencies = curve.points.iter().filter_map(|point| report.figures.get(point.figure)?.latency.first());
    let nanos = latencies.flat_map(|one| one.shown(ShownIn::Latencies)).map(|(_, nanos)| nanos);
    let heading = format!("Latency against {}: {}", swept.name(), line_name(report, curve, true));
    let note = "Percentiles of every transfer, all repetitions together.";
    Chart::new("response", &curve.group, heading, note)
        .half(true)
        .axes(swept.layout(), latency::axis("latency of a transfer", nanos))
        .traces(data)
}

/// Mean latency against transfers per second, along the swept load.
fn against_rate(report: &Report, curves: &[&Curve]) -> Chart {
    let data = curves.iter().enumerate().map(|(number, curve)| {
        let swept = Axis::of(&[curve]);
        let timed = || curve.points.iter().filter_map(|point| Some((point, point.latency_mean_ns?)));
        let points = timed().map(|(point, nanos)| {
            let (at, rate) = (escaped(&swept.words(point.x)), iops(point.transfers_per_second));
            let told = format!("<b>{at}</b>: {rate} IOPS, mean {}", words(nanos));
            (point.transfers_per_second, latency::microseconds(nanos), told, point.figure + 1)
        });
        Trace::curve(&line_name(report, curve, true), Look::of(number))
            .with("mode", "lines+markers+text")
            .with("text", timed().map(|(point, _)| point.at.to_string()).collect::<Vec<_>>())
            .with("textposition", "top left")
            .points(points)
    });
    let note =
        format!("Mean response time and rate of each point; the number beside it is {}.", curves[0].axis);
    Chart::new("response", &curves[0].group, "Latency against IOPS", note)
        .half(true)
        .axes(axis("transfers per second (IOPS)"), axis("mean latency, µs"))
        .traces(data)
}
