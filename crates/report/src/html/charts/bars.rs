//! Figures side by side: rates as bars with repetitions, intervals and published figures, and their
//! latencies.

use analysis::Summary;
use serde_json::json;

use super::latency::{FRAME_PX, ROW_PX, label, rows};
use super::plotly::{BLUE, Chart, GREEN, ORANGE, PURPLE, SKY, Trace, VERMILLION, axis};
use super::series::grouped;
use super::{latency, marks};
use crate::figure::Figure;
use crate::format::BYTES_PER_SECOND;
use crate::format::{divisor, rate_in};
use crate::report::Report;

/// Rates that differ by more than this are drawn on a logarithmic axis.
const WIDE: f64 = 50.0;
/// Name and colour of the bar of a figure.
fn sort(figure: &Figure) -> (&'static str, &'static str) {
    match figure.phase.name() {
        "read" | "file-read" => ("read", BLUE),
        "write" | "file-write" => ("write", VERMILLION),
        "mixed" => ("reads and writes", GREEN),
        "exchange" => ("exchange", BLUE),
        "benchmark" => ("round over objects", SKY),
        "directory-stat" | "file-stat" | "directory-list" => ("stat and list", GREEN),
        "directory-rename" | "file-rename" => ("rename", ORANGE),
        "directory-remove" | "file-remove" | "tree-remove" | "cleanup" => ("remove", PURPLE),
        _ => ("create", VERMILLION),
    }
}

/// The charts in which figures stand side by side.
pub(crate) fn overview(report: &Report, figures: &[&Figure]) -> Vec<Chart> {
    // What memory answered is no figure of a device; tables have it, marked.
    let drawn = figures.iter().copied().filter(|one| !one.page_cache || one.is_operations());
    let kind = |one: &Figure| (one.is_operations(), !one.is_large());
    let mut kinds = grouped(drawn, |one, other| kind(one) == kind(other));
    kinds.sort_by_key(|figures| kind(figures[0]));
    let chart = |figures: &Vec<&Figure>| {
        let (name, title) = match kind(figures[0]) {
            (true, _) => ("operations", "Rate of operations"),
            (false, false) => ("bandwidth", "Bandwidth of large transfers"),
            (false, true) => ("iops", "Rate of small transfers"),
        };
        let note = match figures.iter().any(|figure| figure.repeated() > 1) {
            true => "Bar: median, with its interval where there is one. Points: the repetitions that count.",
            false => "One repetition of each.",
        };
        bars(report, Chart::new(name, "", title, note), figures)
    };
    let mut charts: Vec<Chart> = kinds.iter().map(chart).collect();
    charts.extend(latency::overview(figures));
    charts
}

/// A bar for each figure, in a row of its own.
fn bars(report: &Report, chart: Chart, figures: &[&Figure]) -> Chart {
    let large = figures.iter().any(|figure| figure.is_large());
    let unit = |figure: &Figure| if large { BYTES_PER_SECOND } else { figure.operations_unit() };
    let scale = if large { divisor(BYTES_PER_SECOND) } else { 1.0 };
    let spread = |figure: &Figure| *figure.spread_in(unit(figure));
    let mut data = Vec::new();
    for these in grouped(figures.iter().copied(), |one, other| sort(one) == sort(other)) {
        let (name, colour) = sort(these[0]);
        let points = these.iter().map(|figure| {
            let words = format!("<b>{}</b>", label(figure));
            (spread(figure).median / scale, label(figure), words, figure.number)
        });
        let ends = these.iter().map(|figure| {
            let Summary { median, median_interval: interval, .. } = spread(figure);
            (
                interval.map(|ends| (ends.high - median) / scale),
                interval.map(|ends| (median - ends.low) / scale),
            )
        });
        let bars = Trace::bars(name, colour);
        data.push(bars.with("orientation", "h").points(points).whiskers("x", ends));
    }
    let several = figures.iter().filter(|figure| figure.repeated() > 1);
    let repetitions = several.flat_map(|figure| figure.counted().map(move |one| (figure, one)));
    let repetitions = repetitions.map(|(figure, one)| {
        let value = figure.rate_in(one, unit(figure));
        let words = format!("repetition {}: {}", one.repetition + 1, rate_in(value, unit(figure)));
        (value / scale, label(figure), words, figure.number)
    });
    data.push(Trace::marks("repetitions", "rgba(255,255,255,0.85)").rimmed(1.2).points(repetitions));
    let unit_of_all = unit(figures[0]);
    data.extend(marks::published(report, unit_of_all, |one, value, words| {
        let figure = figures.iter().find(|figure| one.figure == Some(figure.number - 1))?;
        Some((value, label(figure), words))
    }));
    let operations = figures.iter().any(|figure| figure.is_operations());
    let x = match (large, operations) {
        (true, _) => "MB/s (10⁶ bytes per second)",
        (false, true) => "operations per second",
        (false, false) => "transfers per second (IOPS)",
    };
    // Rates of operations differ by orders of magnitude, and short bars tell nothing.
    let medians = || figures.iter().map(|figure| spread(figure).median).filter(|&median| median > 0.0);
    let (least, most) = (medians().fold(f64::INFINITY, f64::min), medians().fold(0.0, f64::max));
    let x = match operations && most > least * WIDE {
        true => json!({ "title": { "text": x }, "type": "log" }),
        false => axis(x),
    };
    let named = figures
        .iter()
        .map(|figure| format!("{}  <b>{}</b> ", label(figure), rate_in(spread(figure).median, unit(figure))));
    let labels: Vec<String> = figures.iter().map(|figure| label(figure)).collect();
    chart
        .height(FRAME_PX + ROW_PX * figures.len())
        .axes(x, rows(&labels))
        .with("yaxis.tickmode", "array")
        .with("yaxis.ticktext", named.collect::<Vec<_>>())
        .with("yaxis.tickvals", labels)
        .with("barmode", "overlay")
        .traces(data)
}
