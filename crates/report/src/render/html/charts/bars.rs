//! Rates of all figures as horizontal bars, with repetitions, intervals and published figures.

use analysis::{comparisons::PublishedComparison, statistics::Summary};
use serde_json::json;

use super::latency;
use super::latency::{FRAME_PX, ROW_PX, label, rows};
use super::look::{Look, TEXT_COLOUR, work};
use super::marks::Stars;
use super::plotly::{Chart, Trace, axis, error_bar};
use super::series::rows_of;
use crate::format::BYTES_PER_SECOND;
use crate::format::{divisor, rate_in};
use crate::report::Report;
use crate::report::figure::{Figure, in_order};

/// Rates of operations whose ratio exceeds this are drawn on a logarithmic axis.
const LOGARITHMIC_RATIO: f64 = 50.0;
/// Published figures beyond this multiple of the measured ones become arrows at the ends of such an axis.
const FAR_ON_LOGARITHMIC: f64 = 100.0;

/// The charts that compare all figures: rates, then latencies.
pub(crate) fn overview(report: &Report) -> Vec<Chart> {
    // A figure served from memory says nothing about the device; only the tables have it, marked.
    let figures = in_order(report.figures.iter().filter(|one| !one.page_cache || one.is_operations()));
    let kind = |one: &Figure| (one.is_operations(), !one.is_large());
    let mut kinds = analysis::figures::grouped(figures.iter().copied(), |one| kind(one));
    kinds.sort_by_key(|figures| kind(figures[0]));
    let chart = |all: &Vec<&Figure>| {
        let (figures, omitted) = rows_of(all);
        let (name, title) = match kind(figures[0]) {
            (true, _) => ("operations", "Rate of operations"),
            (false, false) => ("bandwidth", "Bandwidth of large transfers"),
            (false, true) => ("iops", "Rate of small transfers"),
        };
        let note = match figures.iter().any(|figure| figure.repeated() > 1) {
            true => "Median with its interval where there is one; ticks: the repetitions that count.",
            false => "One repetition of each.",
        };
        bars(report, Chart::new(name, "", title, format!("{note}{omitted}")), &figures)
    };
    let mut charts: Vec<Chart> = kinds.iter().map(chart).collect();
    charts.extend(latency::overview(report, &figures));
    charts
}

/// A row for each figure: a bar, or a marker on a logarithmic axis, where bar lengths are meaningless.
fn bars(report: &Report, chart: Chart, figures: &[&Figure]) -> Chart {
    let large = figures.iter().any(|figure| figure.is_large());
    let unit = |figure: &Figure| if large { BYTES_PER_SECOND } else { figure.operations_unit() };
    let scale = if large { divisor(BYTES_PER_SECOND) } else { 1.0 };
    let spread = |figure: &Figure| *figure.spread_in(unit(figure));
    // Rates of operations can differ by orders of magnitude; the shortest bars would be invisible.
    let medians = || figures.iter().map(|figure| spread(figure).median).filter(|&median| median > 0.0);
    let (least, most) = (medians().fold(f64::INFINITY, f64::min), medians().fold(0.0, f64::max));
    let logarithmic = figures.iter().any(|figure| figure.is_operations()) && most > least * LOGARITHMIC_RATIO;
    let mut data = Vec::new();
    for these in analysis::figures::grouped(figures.iter().copied(), |one| work(one.phase)) {
        let points = these.iter().map(|figure| {
            let Summary { median, median_interval: interval, .. } = spread(figure);
            let words = format!("<b>{}</b>", label(report, figure));
            let point = (median / scale, label(report, figure), words, figure.number);
            (point, error_bar(median, interval.map(|ends| (ends.low, ends.high)), |rate| rate / scale))
        });
        let (name, look) = (work(these[0].phase).0, Look::of_work(these[0].phase, 0));
        let trace = match logarithmic {
            true => Trace::marks(name, look).with("marker.size", 11),
            false => Trace::bars(name, look).with("orientation", "h"),
        };
        data.push(trace.points_with_errors("x", points));
    }
    let several = figures.iter().filter(|figure| figure.repeated() > 1);
    let repetitions = several.flat_map(|figure| figure.counted().map(move |one| (figure, one)));
    let repetitions = repetitions.map(|(figure, one)| {
        let value = figure.rate_in(one, unit(figure));
        let words = format!("repetition {}: {}", one.repetition + 1, rate_in(value, unit(figure)));
        (value / scale, label(report, figure), words, figure.number)
    });
    data.push(Trace::repetitions().points(repetitions));
    let unit_of_all = unit(figures[0]);
    let row = |one: &PublishedComparison| {
        let own = figures.iter().find(|figure| one.figure == Some(figure.number - 1));
        own.map(|figure| label(report, figure))
    };
    let stars = Stars::of(report, unit_of_all, row, |_| TEXT_COLOUR);
    // A logarithmic axis ends at powers of ten.
    let ends = match logarithmic {
        true => {
            let [low, high] = stars.ends([least, most], FAR_ON_LOGARITHMIC);
            [10_f64.powf(low.log10().floor()), 10_f64.powf(high.log10().ceil())]
        }
        false => [0.0, stars.top(most / scale)],
    };
    data.extend(stars.traces(ends, true, |_| false, |row, value| (value.into(), row.as_str().into())));
    let operations = figures.iter().any(|figure| figure.is_operations());
    let x = match (large, operations) {
        (true, _) => "MB/s (10⁶ bytes per second)",
        (false, true) => "operations per second",
        (false, false) => "transfers per second (IOPS)",
    };
    let x = match logarithmic {
        true => json!({
            "title": { "text": x }, "type": "log",
            "range": [ends[0].log10() - 0.1, ends[1].log10() + 0.1], "dtick": 1,
        }),
        false => axis(x),
    };
    let named = figures.iter().map(|figure| {
        format!("{}  <b>{}</b> ", label(report, figure), rate_in(spread(figure).median, unit(figure)))
    });
    let labels: Vec<String> = figures.iter().map(|figure| label(report, figure)).collect();
    let chart = chart
        .height(FRAME_PX + ROW_PX * figures.len())
        .axes(x, rows(&labels))
        .with("yaxis.ticktext", named.collect::<Vec<_>>());
    if logarithmic { chart.traces(data) } else { chart.with("barmode", "overlay").traces(data) }
}
