//! Latencies of all figures: percentiles and distributions.

use analysis::{LatencyStatistic, ShownIn};
use plan::Nanos;
use serde_json::{Value, json};

use super::{
    BLUE, Chart, DASHES, FRAME_PX, GREEN, ORANGE, PALETTE, PURPLE, ROW_PX, SKY, VERMILLION, escaped, label,
    rows_layout,
};
use crate::format::whole;
use crate::html::detail::Detail;
use crate::latencies::{is_of_tail, words};
use crate::view::Figure;

/// Colours and shapes of statistics of the tail, in the order of the list.
pub(super) const MARKS: [(&str, &str); 6] = [
    (GREEN, "circle"),
    (BLUE, "diamond"),
    (ORANGE, "square"),
    (VERMILLION, "x"),
    (PURPLE, "star"),
    (SKY, "triangle-up"),
];

/// Percentiles of every figure on one logarithmic axis, one row each.
pub(super) fn percentiles(figures: &[&Figure]) -> Chart {
    let rows: Vec<String> = figures.iter().map(|figure| label(figure)).collect();
    let tails: Vec<Vec<(&LatencyStatistic, f64)>> = figures
        .iter()
        .map(|figure| {
            let shown = figure.latency[0].shown(ShownIn::Latencies);
            shown.filter(|(statistic, _)| is_of_tail(statistic)).collect()
        })
        .collect();
    let ends = tails.iter().zip(&rows).map(|(tail, row)| {
        let ends = [tail.first(), tail.last()].map(|end| end.map_or(0.0, |(_, nanos)| microseconds(*nanos)));
        json!({
            "type": "scatter", "mode": "lines", "showlegend": false, "hoverinfo": "skip",
            "x": ends, "y": [row, row],
            "line": { "color": "rgba(128,136,145,0.55)", "width": 2 },
        })
    });
    let marks = tails[0].iter().enumerate().map(|(index, (statistic, _))| {
        let values = || tails.iter().map(move |tail| tail[index].1);
        let told = |(nanos, figure): (f64, &&Figure)| {
            format!("{}: {}<br>{}", statistic.heading, words(nanos), escaped(&figure.conditions))
        };
        let (colour, shape) = MARKS[index % MARKS.len()];
        json!({
            "type": "scatter", "mode": "markers", "name": statistic.heading,
            "x": values().map(microseconds).collect::<Vec<_>>(),
            "y": rows,
            "text": values().zip(figures).map(told).collect::<Vec<_>>(),
            "hovertemplate": "%{text}<extra></extra>",
            "marker": { "color": colour, "symbol": shape, "size": 10, "line": { "color": "ink", "width": 0.6 } },
        })
    });
    let data = ends.chain(marks).collect();
    let mut layout = rows_layout(&rows);
    let all = tails.iter().flatten().map(|(_, nanos)| *nanos);
    layout["xaxis"] = latency_axis("latency of a transfer", all);
    Chart {
        id: "chart-percentiles".to_owned(),
        place: String::new(),
        title: "Latency percentiles".to_owned(),
        note: "Half of all transfers took at most p50; one in a hundred took longer than p99.".to_owned(),
        full: true,
        height: FRAME_PX + ROW_PX * figures.len(),
        data,
        layout,
    }
}

/// The share of transfers that took at most so long, one line for each figure.
pub(super) fn distribution(figures: &[&Figure], details: &[Detail]) -> Chart {
    let mut data = Vec::new();
    for (index, (figure, detail)) in figures.iter().zip(details).enumerate() {
        for curve in &detail.curves {
            let name = format!("{}. {}", figure.number, curve_name(figure, curve.operation.name()));
            data.push(json!({
                "type": "scatter", "mode": "lines", "name": name,
                "x": curve.points.iter().map(|point| microseconds(point.latency_ns as f64)).collect::<Vec<_>>(),
                "y": curve.points.iter().map(|point| point.share * 100.0).collect::<Vec<_>>(),
                "text": curve.points.iter().map(|point| words(point.latency_ns as f64)).collect::<Vec<_>>(),
                "hovertemplate": format!("%{{y:.3f}} % took at most %{{text}}<br>{}<extra></extra>", escaped(&figure.conditions)),
                "line": { "color": PALETTE[index % PALETTE.len()], "dash": DASHES[index / PALETTE.len() % DASHES.len()], "width": 2, "shape": "hv" },
            }));
        }
    }
    let lines = data.len();
    let all = details.iter().flat_map(|detail| &detail.curves).flat_map(|curve| &curve.points);
    let axis = latency_axis("latency of a transfer", all.map(|point| point.latency_ns as f64));
    Chart {
        id: "chart-distribution".to_owned(),
        place: String::new(),
        title: "Latency distribution".to_owned(),
        note: "Share of all transfers that took at most so long. Click a name to hide its line, twice to see it alone."
            .to_owned(),
        full: true,
        height: 420 + 18 * lines.saturating_sub(8),
        data,
        layout: json!({
            "xaxis": axis,
            "yaxis": { "title": { "text": "share of transfers" }, "range": [0, 101], "ticksuffix": " %" },
            "legend": {
 "orientation": "v", "xref": "paper", "x": 1.02, "xanchor": "left", "yref": "paper", "y": 1, "yanchor": "top",
 "font": { "size": 12 },
 },
            "showlegend": true,
            "hovermode": "closest",
        }),
    }
}

fn curve_name(figure: &Figure, operation: &str) -> String {
    let of = if figure.latency.len() > 1 { format!(", {operation}s") } else { String::new() };
    format!("{}, {}{of}", figure.what, figure.path)
}

/// A logarithmic axis in microseconds around `nanos`, whose ticks name the unit that fits. Ticks
/// stand at every 1, 2 and 5 where the axis is short, at powers of ten where it is long.
pub(super) fn latency_axis(title: &str, nanos: impl Iterator<Item = f64>) -> Value {
    let (mut low, mut high) = (u64::MAX, 1);
    for value in nanos.map(whole).filter(|&value| value > 0) {
        (low, high) = (low.min(value), high.max(value));
    }
    let low = low.min(high);
    let ladder: Vec<u64> = (0..19).flat_map(|power| [1, 2, 5].map(|step| step * 10_u64.pow(power))).collect();
    let first = ladder.iter().copied().filter(|&tick| tick <= low).max().unwrap_or(1);
    let last = ladder.iter().copied().find(|&tick| tick >= high && tick > first).unwrap_or(high);
    let long = last / first > LONG_AXIS;
    let shown = |tick: u64| {
        (first..=last).contains(&tick) && (!long || tick.ilog10() != (tick - 1).max(1).ilog10() || tick == 1)
    };
    let ticks: Vec<u64> = ladder.into_iter().filter(|&tick| shown(tick)).collect();
    json!({
        "title": { "text": title }, "type": "log", "tickmode": "array",
        "tickvals": ticks.iter().map(|&tick| microseconds(tick as f64)).collect::<Vec<_>>(),
        "ticktext": ticks.iter().map(|&tick| Nanos(tick).to_string()).collect::<Vec<_>>(),
        "range": [microseconds(first as f64).log10() - 0.03, microseconds(last as f64).log10() + 0.03],
        "minor": { "ticks": "inside", "ticklen": 3, "dtick": "D1" },
    })
}

/// An axis over more than this ratio has ticks at powers of ten alone.
const LONG_AXIS: u64 = 500;

/// For a [`latency_axis`]: 0 is shown at its left end.
pub(super) fn microseconds(nanos: f64) -> f64 {
    nanos.max(1.0) / 1e3
}

#[cfg(test)]
mod tests {
    use super::latency_axis;

    fn ticks(values: &[f64]) -> Vec<String> {
        let axis = latency_axis("", values.iter().copied());
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
