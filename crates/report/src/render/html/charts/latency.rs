//! Latency percentiles of figures, and latencies of sweeps against the swept key and against the rate.

use analysis::{
    comparisons::Comparison,
    figures::ShownIn,
    sweeps::{Curve, CurvePoint},
};
use plan::Nanos;
use serde_json::{Value, json};

use super::axis::Axis;
use super::look::{self, Look};
use super::plotly::{self, Chart, Trace};
use super::series::{in_order, rows_of};
use crate::format::escape::chart as escaped;
use crate::format::{iops, whole};
use crate::report::Report;
use crate::report::figure::Figure;
use crate::report::latencies::{self, is_of_tail, words};
use crate::section::{line_name, which_target, workload_place};

/// An axis whose last tick ÷ first tick exceeds this has ticks at powers of ten only, else at 1, 2 and 5 of each.
const LONG_AXIS: u64 = 500;
/// Heights in CSS pixels: of a row, and of everything else.
pub(super) const ROW_PX: usize = 34;
pub(super) const FRAME_PX: usize = 76;

/// A logarithmic axis of [`microseconds`] that covers `nanos`; tick labels have units that fit.
pub(super) fn axis(title: &str, nanos: impl Iterator<Item = f64>) -> Value {
    let values: Vec<u64> = nanos.map(whole).filter(|&value| value > 0).collect();
    let high = values.iter().copied().max().unwrap_or(1);
    let low = values.into_iter().min().unwrap_or(1);
    let ladder = || (0..19).flat_map(|power| [1, 2, 5].map(|step| step * 10_u64.pow(power)));
    let first = ladder().rfind(|&tick| tick <= low).unwrap_or(1);
    let last = ladder().find(|&tick| tick >= high && tick > first).unwrap_or(high);
    let step = if last / first > LONG_AXIS { 3 } else { 1 };
    let ticks = ladder().step_by(step).filter(|tick| (first..=last).contains(tick));
    json!({
        "title": { "text": title }, "type": "log", "tickmode": "array",
        "tickvals": ticks.clone().map(|tick| microseconds(tick as f64)).collect::<Vec<_>>(),
        "ticktext": ticks.map(|tick| Nanos(tick).to_string()).collect::<Vec<_>>(),
        "range": [microseconds(first as f64).log10() - 0.03, microseconds(last as f64).log10() + 0.03],
        "minor": { "ticks": "inside", "ticklen": 3, "dtick": "D1" },
    })
}

/// The position on an [`axis`]. Zero, which a logarithmic axis does not have, is drawn as 1 ns.
pub(super) fn microseconds(nanos: f64) -> f64 {
    nanos.max(1.0) / 1e3
}

/// The percentiles of those of `figures` that were not served from memory.
pub(super) fn overview(report: &Report, figures: &[&Figure]) -> Option<Chart> {
    let timed =
        |figure: &&Figure| !figure.latency.is_empty() && (!figure.page_cache || figure.is_operations());
    let timed: Vec<&Figure> = figures.iter().copied().filter(timed).collect();
    let (drawn, omitted) = rows_of(&timed);
    (!drawn.is_empty()).then(|| percentiles(report, &drawn, &omitted))
}

/// A y axis with a row for each label, the first on top.
pub(super) fn rows(labels: &[String]) -> Value {
    json!({
        "type": "category", "categoryorder": "array", "categoryarray": labels.iter().rev().collect::<Vec<_>>(),
        "range": [-0.6, labels.len() as f64 - 0.4], "showgrid": false,
        "tickmode": "array", "tickvals": labels, "ticktext": labels,
    })
}

/// The label of a figure's row; the number makes it unique.
pub(super) fn label(report: &Report, figure: &Figure) -> String {
    let tasks = match figure.tasks {
        None | Some(1) => String::new(),
        Some(tasks) => format!(" × {tasks} tasks"),
    };
    let target = which_target(report, figure);
    let target = if target.is_empty() { String::new() } else { format!("{} · ", escaped(target)) };
    format!("{}. {target}{} · {}{tasks}", figure.number, escaped(&figure.what), escaped(&figure.path))
}

/// The percentiles of each figure in a row, on one logarithmic axis.
fn percentiles(report: &Report, figures: &[&Figure], omitted: &str) -> Chart {
    let labels: Vec<String> = figures.iter().map(|figure| label(report, figure)).collect();
    let tail = |figure: &Figure| {
        let shown = figure.latency[0].shown(ShownIn::Latencies);
        shown.filter(|(statistic, _)| is_of_tail(statistic)).collect::<Vec<_>>()
    };
    let tails: Vec<_> = figures.iter().map(|figure| tail(figure)).collect();
    let spans = tails.iter().zip(&labels).map(|(tail, label)| {
        let ends = tail.first().into_iter().chain(tail.last());
        let span = Trace::lines("span", "rgba(128,136,145,0.55)").hidden(true);
        span.points(ends.map(|(_, nanos)| (microseconds(*nanos), label.as_str())))
    });
    let marks = tails[0].iter().enumerate().map(|(index, (statistic, _))| {
        let points = tails.iter().zip(figures).zip(&labels).map(|((tail, figure), label)| {
            let text = format!("{}: {}", statistic.heading, words(tail[index].1));
            (microseconds(tail[index].1), label.as_str(), text, figure.number)
        });
        let colours: Vec<&str> = figures.iter().map(|figure| look::work(figure.phase).1[0]).collect();
        let marks = Trace::marks(statistic.heading, Look::of(index)).with("marker.color", colours);
        marks.with("marker.size", 10).outlined(0.6).points(points)
    });
    let all = tails.iter().flatten().map(|(_, nanos)| *nanos);
    // Series without visible points, so that the legend explains the colours.
    let works =
        analysis::figures::grouped(figures.iter().map(|figure| look::work(figure.phase)), |work| *work);
    let colours = works.iter().map(|same| {
        let (name, shades) = same[0];
        Trace::lines(name, shades[0]).with("line.width", 6).points([(Value::Null, Value::Null)])
    });
    let note = format!("One in a hundred took longer than p99.{omitted}");
    Chart::new("percentiles", "", "Latency percentiles", note)
        .height(FRAME_PX + ROW_PX * figures.len())
        .axes(axis("latency of a transfer", all), rows(&labels))
        .traces(spans.chain(marks).chain(colours.filter(|_| works.len() > 1)))
}

/// Maximum number of figures of two runs whose percentiles are beside each other.
const BESIDE_MAX: usize = 12;

/// The percentiles of the figures that both `runs` have and that are `compared`: open before, filled after.
pub(super) fn beside(runs: [&Report; 2], compared: &[Comparison]) -> Option<Chart> {
    let of = |figure: &Figure| figure.latency.first().is_some_and(|one| one.count > 0);
    let is_compared = |figure: &Figure| {
        let same = |one: &&Comparison| (&one.case, one.phase) == (&figure.case, figure.phase);
        let mut same = compared.iter().filter(same).peekable();
        same.peek().is_some() && same.all(|one| !one.is_withheld())
    };
    let pair = |one| {
        let one: &Figure = one;
        let same = |other: &&Figure| (&other.case, other.phase) == (&one.case, one.phase);
        let other = runs[1].figures.iter().find(same)?;
        (of(one) && of(other) && is_compared(one)).then_some([one, other])
    };
    let mut pairs: Vec<[&Figure; 2]> = runs[0].figures.iter().filter_map(pair).collect();
    let more = pairs.len().saturating_sub(BESIDE_MAX);
    pairs.truncate(BESIDE_MAX);
    let labels: Vec<String> = pairs.iter().map(|[one, _]| label(runs[0], one)).collect();
    let tail = |figure: &Figure| {
        let shown = figure.latency[0].shown(ShownIn::Latencies);
        shown.filter(|(statistic, _)| is_of_tail(statistic)).collect::<Vec<_>>()
    };
    let statistics = pairs.first().map(|[one, _]| tail(one)).unwrap_or_default();
    let mut nanos = Vec::new();
    let mut data = Vec::new();
    for (index, (statistic, _)) in statistics.iter().enumerate() {
        for (side, when) in ["before", "after"].into_iter().enumerate() {
            let points = pairs.iter().zip(&labels).filter_map(|(pair, label)| {
                let (_, value) = *tail(pair[side]).get(index)?;
                nanos.push(value);
                let text = format!("<b>{label}</b><br>{} {when}: {}", statistic.heading, words(value));
                Some((microseconds(value), label.as_str(), text))
            });
            let look = Look::of(index);
            let open = if side == 0 { "-open" } else { "" };
            let marks = Trace::marks(&format!("{} {when}", statistic.heading), look)
                .with("marker.symbol", format!("{}{open}", look.symbol))
                .with("marker.size", 10);
            data.push(marks.points(points.collect::<Vec<_>>()));
        }
    }
    (!labels.is_empty()).then(|| {
        let more = if more == 0 { String::new() } else { format!(" {more} more figures in the tables.") };
        let note = format!("Open: before, filled: after.{more}");
        Chart::new("beside", "", "Latency percentiles before and after", note)
            .height(FRAME_PX + ROW_PX * labels.len())
            .axes(axis("latency of a transfer", nanos.into_iter()), rows(&labels))
            .traces(data)
    })
}

/// Maximum number of lines of a chart of latency against rate.
const LINES_MAX: usize = 12;
/// Swept keys whose larger values mean more load.
const LOADS: [&str; 5] = ["tasks", "depth", "nodes", "rate", "pace"];

/// The charts of all sweeps of small transfers with latencies at every point, without disqualified points.
pub(super) fn of_sweeps(report: &Report) -> Vec<Chart> {
    let is_timed = |point: &CurvePoint| {
        let figure = report.figures.get(point.figure);
        figure.is_some_and(|one| !one.is_large() && !one.latency.is_empty())
    };
    let timed = |curve: &&Curve| curve.usable().count() > 2 && curve.points.iter().all(is_timed);
    let timed = report.found.curves.iter().filter(timed);
    let mut charts = Vec::new();
    for curves in analysis::figures::grouped(timed, |one| &one.group) {
        let is_load = |curve: &&&Curve| LOADS.contains(&curve.axis.as_str());
        let loads: Vec<&Curve> =
            in_order(curves.iter().filter(is_load).copied()).into_iter().take(LINES_MAX).collect();
        if !loads.is_empty() {
            charts.push(against_rate(report, &loads));
        }
        charts.extend(curves.into_iter().map(|curve| against_axis(report, curve)));
    }
    charts
}

/// Latency statistics against the swept key.
fn against_axis(report: &Report, curve: &Curve) -> Chart {
    let swept = Axis::of(&[curve], []);
    let data = latencies::statistics(ShownIn::Latencies).enumerate().map(|(index, kind)| {
        let points = curve.usable().filter_map(|point| {
            let latency = report.figures.get(point.figure)?.latency.first()?;
            let (_, nanos) = latency.shown(ShownIn::Latencies).nth(index)?;
            let text = format!("<b>{} {}</b> at {}", kind.heading, words(nanos), swept.words(point.x));
            Some((swept.at(point.x), microseconds(nanos), text, point.figure + 1))
        });
        Trace::curve(kind.heading, Look::of_work(curve.phase, index)).points(points)
    });
    let latencies = curve.usable().filter_map(|point| report.figures.get(point.figure)?.latency.first());
    let nanos = latencies.flat_map(|one| one.shown(ShownIn::Latencies)).map(|(_, nanos)| nanos);
    let heading = format!("Latency against {}: {}", swept.name(), line_name(report, curve, true));
    let note = "Percentiles of every transfer, all repetitions together.";
    Chart::new("response", &workload_place(&curve.group), heading, note)
        .half(true)
        .axes(swept.layout(), axis("latency of a transfer", nanos))
        .traces(data)
}

/// Mean latency against transfers per second, along the swept load.
fn against_rate(report: &Report, curves: &[&Curve]) -> Chart {
    let data = curves.iter().enumerate().map(|(number, curve)| {
        let swept = Axis::of(&[curve], []);
        let timed = || curve.usable().filter_map(|point| Some((point, point.latency_mean_ns?)));
        let points = timed().map(|(point, nanos)| {
            let (at, rate) = (escaped(&swept.words(point.x)), iops(point.transfers_per_second));
            let text = format!("<b>{at}</b>: {rate} IOPS, mean {}", words(nanos));
            (point.transfers_per_second, microseconds(nanos), text, point.figure + 1)
        });
        let before = curves[..number].iter().filter(|other| other.phase == curve.phase).count();
        Trace::curve(&line_name(report, curve, true), Look::of_work(curve.phase, before))
            .with("mode", "lines+markers+text")
            .with("text", timed().map(|(point, _)| point.at.to_string()).collect::<Vec<_>>())
            .with("textposition", "top left")
            .points(points)
    });
    let note =
        format!("Mean response time and rate of each point; the number beside it is {}.", curves[0].axis);
    Chart::new("response", &workload_place(&curves[0].group), "Latency against IOPS", note)
        .half(true)
        .axes(plotly::axis("transfers per second (IOPS)"), plotly::axis("mean latency, µs"))
        .traces(data)
}

#[cfg(test)]
mod tests {
    use super::axis;

    fn ticks(values: &[f64]) -> Vec<String> {
        let axis = axis("", values.iter().copied());
        axis["ticktext"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|tick| tick.as_str().expect("text").to_owned())
            .collect()
    }

    #[test]
    fn every_axis_has_ticks_on_both_sides_of_its_values() {
        assert_eq!(ticks(&[41_000.0, 43_000.0]), ["20 µs", "50 µs"]);
        assert_eq!(ticks(&[1_000.0, 1_000.0]), ["1 µs", "2 µs"]);
        assert_eq!(ticks(&[1_500.0, 40_000_000.0]), ["1 µs", "10 µs", "100 µs", "1 ms", "10 ms"]);
        assert_eq!(ticks(&[]), ["1 ns", "2 ns"]);
    }
}
