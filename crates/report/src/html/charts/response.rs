//! Latencies over a sweep: percentiles against the swept key, and latency against the rate.

use analysis::{Curve, LATENCY_STATISTICS, ShownIn};

use super::axis::Axis;
use super::plotly::{Chart, Look, Trace, axis};
use super::{escaped, grouped, latency};
use crate::format;
use crate::format::iops;
use crate::latencies::{LatencyInfo, is_of_tail, words};
use crate::section::line_name;
use crate::view::Report;

/// Curves with percentiles of their own, each in a chart.
const CURVES_MAX: usize = 8;
/// Lines of the chart of latency against rate.
const LINES_MAX: usize = 12;
/// More of these keys is more load.
const LOADS: [&str; 5] = ["tasks", "depth", "nodes", "rate", "pace"];

/// The charts of all sweeps that have latencies of small transfers at every point.
pub(super) fn charts(report: &Report) -> Vec<Chart> {
    let small = |place: usize| {
        report.figures.get(place).is_some_and(|one| !one.is_large() && !one.latency.is_empty())
    };
    let timed = report
        .found
        .curves
        .iter()
        .filter(|curve| curve.points.len() > 2 && curve.points.iter().all(|point| small(point.figure)));
    let mut charts = Vec::new();
    for curves in grouped(timed, |one, other| one.group == other.group) {
        let is_load = |curve: &&&Curve| LOADS.contains(&curve.axis.as_str());
        let loads: Vec<&Curve> = curves.iter().filter(is_load).take(LINES_MAX).copied().collect();
        if !loads.is_empty() {
            charts.push(against_rate(report, &loads, charts.len()));
        }
        for curve in curves.into_iter().take(CURVES_MAX) {
            charts.push(percentiles(report, curve, charts.len()));
        }
    }
    charts
}

/// p50, p99, p99.9 and the longest against the swept key.
fn percentiles(report: &Report, curve: &Curve, index: usize) -> Chart {
    let swept = Axis::of(&[curve]);
    let timed = || {
        curve
            .points
            .iter()
            .filter_map(|point| Some((point, report.figures.get(point.figure)?.latency.first()?)))
    };
    let all = |one: &LatencyInfo| one.shown(ShownIn::Latencies).map(|(_, nanos)| nanos).collect::<Vec<f64>>();
    let statistics = LATENCY_STATISTICS.iter().filter(|one| one.shown >= ShownIn::Latencies);
    let mut tail = 0..;
    let data = statistics.enumerate().map(|(index, kind)| {
        let look = if is_of_tail(kind) { latency::look(tail.next().unwrap_or(0)) } else { "#7f8791".into() };
        let points = timed().filter_map(|(point, one)| {
            let nanos = *all(one).get(index)?;
            let told = format!("<b>{} {}</b> at {}", kind.heading, words(nanos), swept.words(point.x));
            Some((swept.at(point.x), latency::microseconds(nanos), told, point.figure + 1))
        });
        Trace::curve(kind.heading, look).with("line.dash", Look::of(6 * index).dash).points(points)
    });
    let nanos = timed().flat_map(|(_, one)| all(one));
    let heading = format!("Latency against {}: {}", swept.name(), line_name(report, curve, true));
    let note = "Percentiles of every transfer, all repetitions together.";
    Chart::new(format!("chart-response-{index}"), &curve.group, heading, note)
        .half(true)
        .axes(swept.layout(), latency::axis("latency of a transfer", nanos))
        .traces(data)
}

/// Mean latency against transfers per second, along the swept load.
fn against_rate(report: &Report, curves: &[&Curve], index: usize) -> Chart {
    let data = curves.iter().enumerate().map(|(number, curve)| {
        let swept = Axis::of(&[curve]);
        let timed = || curve.points.iter().filter_map(|point| Some((point, point.latency_mean_ns?)));
        let points = timed().map(|(point, nanos)| {
            let (at, rate) = (escaped(&swept.words(point.x)), iops(point.transfers_per_second));
            let words = format!("<b>{at}</b>: {rate} IOPS, mean {}", format::latency(format::whole(nanos)));
            (point.transfers_per_second, nanos / 1e3, words, point.figure + 1)
        });
        Trace::curve(&line_name(report, curve, true), Look::of(number))
            .with("mode", "lines+markers+text")
            .with("text", timed().map(|(point, _)| point.at.to_string()).collect::<Vec<_>>())
            .with("textposition", "top left")
            .points(points)
    });
    let note =
        format!("Mean response time and rate of each point; the number beside it is {}.", curves[0].axis);
    Chart::new(format!("chart-response-{index}"), &curves[0].group, "Latency against IOPS", note)
        .half(true)
        .axes(axis("transfers per second (IOPS)"), axis("mean latency, µs"))
        .traces(data)
}
