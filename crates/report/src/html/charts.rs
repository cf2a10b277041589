//! The charts of the page, as data and layout of plotly.js.
//!
//! Colours are those of Okabe and Ito ("Color Universal Design", 2008), which people with any
//! colour vision tell apart; shape or hatching says the same again. The page adds what depends on
//! light, dark and print; `"ink"` stands for the colour of its text. A browser test lets
//! `Plotly.validate` look at every chart, since nothing else would notice a misspelt attribute.

use serde::Serialize;
use serde_json::{Value, json};

use super::detail::{Detail, word};
use crate::format::{latency, rate};
use crate::text::iops;
use crate::view::{Figure, Report, Spread};

const BLUE: &str = "#0072B2";
const VERMILLION: &str = "#D55E00";
const GREEN: &str = "#009E73";
const ORANGE: &str = "#E69F00";
const SKY: &str = "#56B4E9";
const PURPLE: &str = "#CC79A7";

/// Lines of one chart take these in turn, and a dash pattern with every round.
const PALETTE: [&str; 6] = [BLUE, VERMILLION, GREEN, ORANGE, PURPLE, SKY];
const DASHES: [&str; 4] = ["solid", "dash", "dot", "dashdot"];
/// Shapes that say the same as the colours.
const SHAPES: [&str; 6] = ["circle", "square", "diamond", "triangle-up", "x", "star"];

/// Transfers of at least this size are told in bytes per second, smaller ones in transfers per
/// second, as data sheets do.
pub(crate) const LARGE_TRANSFER_BYTES: u64 = 64 << 10;
/// Heights in CSS pixels.
const ROW_PX: usize = 34;
const FRAME_PX: usize = 110;
const PANEL_PX: usize = 170;

/// One chart.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Chart {
    pub(crate) id: String,
    #[serde(skip)]
    pub(crate) title: String,
    #[serde(skip)]
    pub(crate) note: String,
    /// Takes the whole width of the page.
    #[serde(skip)]
    pub(crate) full: bool,
    pub(crate) height: usize,
    pub(crate) data: Vec<Value>,
    pub(crate) layout: Value,
}

/// The charts in which all figures stand side by side.
pub(crate) fn overview(report: &Report, details: &[Detail]) -> Vec<Chart> {
    let of_size = |large: bool| -> Vec<&Figure> {
        report
            .figures
            .iter()
            .filter(|figure| (figure.transfer_bytes >= LARGE_TRANSFER_BYTES) == large)
            .collect()
    };
    let mut charts = Vec::new();
    let large = of_size(true);
    if !large.is_empty() {
        charts.push(bars(&large, &Kind::BANDWIDTH));
    }
    let small = of_size(false);
    if !small.is_empty() {
        charts.push(bars(&small, &Kind::IOPS));
    }
    let timed: Vec<&Figure> = report.figures.iter().filter(|figure| !figure.latency.is_empty()).collect();
    if !timed.is_empty() {
        charts.push(percentiles(&timed));
        charts.push(distribution(report, details));
    }
    charts
}

/// What bars show.
struct Kind {
    id: &'static str,
    title: &'static str,
    axis: &'static str,
    /// Divides the raw number for the axis.
    unit: f64,
    /// Published figures are bandwidths.
    published: bool,
    of: fn(&Figure) -> &Spread,
    repetition: fn(&crate::view::Repetition) -> f64,
    words: fn(f64) -> String,
}

impl Kind {
    const BANDWIDTH: Self = Self {
        id: "chart-bandwidth",
        title: "Bandwidth of large transfers",
        axis: "MB/s (10⁶ bytes per second)",
        unit: 1e6,
        published: true,
        of: |figure| &figure.bytes_per_second,
        repetition: |one| one.bytes_per_second,
        words: rate,
    };
    const IOPS: Self = Self {
        id: "chart-iops",
        title: "Rate of small transfers",
        axis: "transfers per second (IOPS)",
        unit: 1.0,
        published: false,
        of: |figure| &figure.transfers_per_second,
        repetition: |one| one.transfers_per_second,
        words: |value| format!("{} IOPS", iops(value)),
    };
}

/// One bar for each figure, its repetitions as points, its interval as a line, published figures
/// as marks.
fn bars(figures: &[&Figure], kind: &Kind) -> Chart {
    let mut data = Vec::new();
    for cached in [false, true] {
        for (phase, name, colour) in
            [("read", "read", BLUE), ("write", "write", VERMILLION), ("mixed", "reads and writes", GREEN)]
        {
            let these: Vec<&&Figure> = figures
                .iter()
                .filter(|figure| figure.phase == phase && figure.page_cache == cached)
                .collect();
            if !these.is_empty() {
                data.push(bar_trace(&these, kind, name, colour, cached));
            }
        }
    }
    data.push(repetition_trace(figures, kind));
    data.extend(published_trace(figures, kind));
    let rows: Vec<String> = figures.iter().map(|figure| label(figure)).collect();
    let mut layout = rows_layout(&rows);
    layout["xaxis"] =
        json!({ "title": { "text": kind.axis }, "rangemode": "tozero", "separatethousands": true });
    layout["updatemenus"] = scale_buttons();
    layout["barmode"] = json!("overlay");
    layout["bargap"] = json!(0.35);
    Chart {
        id: kind.id.to_owned(),
        title: kind.title.to_owned(),
        note: "Bar: median. Points: every repetition. Line: confidence interval of the median. Hatched: the page \
               cache took part."
            .to_owned(),
        full: true,
        height: FRAME_PX + 20 + ROW_PX * figures.len(),
        data,
        layout,
    }
}

fn bar_trace(figures: &[&&Figure], kind: &Kind, name: &str, colour: &str, cached: bool) -> Value {
    let spread = |figure: &Figure| *(kind.of)(figure);
    let medians: Vec<f64> = figures.iter().map(|figure| spread(figure).median / kind.unit).collect();
    let above: Vec<f64> =
        figures.iter().map(|f| width(spread(f).median, spread(f).interval_high, kind.unit)).collect();
    let below: Vec<f64> = figures
        .iter()
        .map(|f| width(spread(f).interval_low.unwrap_or(spread(f).median), Some(spread(f).median), kind.unit))
        .collect();
    let has_interval = figures.iter().any(|figure| spread(figure).interval_low.is_some());
    let name = if cached { format!("{name}, page cache") } else { name.to_owned() };
    let pattern = if cached {
        json!({ "shape": "/", "fillmode": "overlay", "size": 7, "solidity": 0.4 })
    } else {
        json!({ "shape": "" })
    };
    json!({
        "type": "bar",
        "orientation": "h",
        "name": name,
        "x": medians,
        "y": figures.iter().map(|figure| label(figure)).collect::<Vec<_>>(),
        "text": figures.iter().map(|figure| (kind.words)(spread(figure).median)).collect::<Vec<_>>(),
        "textposition": "outside",
        "cliponaxis": false,
        "hovertext": figures.iter().map(|figure| hover(figure, kind)).collect::<Vec<_>>(),
        "hovertemplate": "%{hovertext}<extra></extra>",
        "marker": { "color": colour, "pattern": pattern },
        "error_x": {
            "visible": has_interval, "type": "data", "symmetric": false, "array": above, "arrayminus": below,
            "color": "ink", "thickness": 1.6, "width": 5,
        },
    })
}

/// The distance from `low` to `high` in units of the axis; 0 where there is no interval.
fn width(low: f64, high: Option<f64>, unit: f64) -> f64 {
    high.map_or(0.0, |high| (high - low).max(0.0) / unit)
}

fn repetition_trace(figures: &[&Figure], kind: &Kind) -> Value {
    let (mut x, mut y, mut text) = (Vec::new(), Vec::new(), Vec::new());
    for figure in figures.iter().filter(|figure| figure.repetitions.len() > 1) {
        for one in &figure.repetitions {
            let value = (kind.repetition)(one);
            x.push(value / kind.unit);
            y.push(label(figure));
            text.push(format!(
                "repetition {}: {}<br>{}",
                one.repetition + 1,
                (kind.words)(value),
                escaped(&figure.conditions)
            ));
        }
    }
    json!({
        "type": "scatter",
        "mode": "markers",
        "name": "repetitions",
        "visible": !x.is_empty(),
        "x": x,
        "y": y,
        "text": text,
        "hovertemplate": "%{text}<extra></extra>",
        "marker": { "color": "rgba(255,255,255,0.85)", "size": 7, "symbol": "circle", "line": { "color": "#000000", "width": 1.2 } },
    })
}

fn published_trace(figures: &[&Figure], kind: &Kind) -> Option<Value> {
    let (mut x, mut y, mut text) = (Vec::new(), Vec::new(), Vec::new());
    for figure in figures.iter().filter(|_| kind.published) {
        for one in &figure.published {
            x.push(one.bytes_per_second / kind.unit);
            y.push(label(figure));
            text.push(format!(
                "published: {}<br>{}<br>{}",
                escaped(&one.as_published),
                escaped(&one.source),
                escaped(&one.conditions)
            ));
        }
    }
    (!x.is_empty()).then(|| {
        json!({
            "type": "scatter",
            "mode": "markers",
            "name": "published",
            "x": x,
            "y": y,
            "text": text,
            "hovertemplate": "%{text}<extra></extra>",
            "marker": { "color": PURPLE, "size": 12, "symbol": "star", "line": { "color": "ink", "width": 1 } },
        })
    })
}

/// Linear and logarithmic scale of the value axis.
fn scale_buttons() -> Value {
    let button = |label: &str, kind: &str| json!({ "label": label, "method": "relayout", "args": [{ "xaxis.type": kind }] });
    json!([{
        "type": "buttons", "direction": "right", "showactive": true, "active": 0, "x": 1, "xanchor": "right", "y": 1,
        "yanchor": "bottom", "pad": { "b": 4 }, "font": { "size": 11.5, "color": "#1b1f24" }, "bgcolor": "#f6f8fa",
        "bordercolor": "#c0c7ce",
        "buttons": [button("linear", "linear"), button("logarithmic", "log")],
    }])
}

/// The conditions and all repetitions.
fn hover(figure: &Figure, kind: &Kind) -> String {
    let mut lines = vec![
        format!("<b>{}</b>", escaped(&figure.conditions)),
        format!("{}: {}", escaped(&figure.statistic), (kind.words)((kind.of)(figure).median)),
    ];
    if figure.page_cache {
        lines.push("the page cache took part".to_owned());
    }
    if figure.repetitions.len() > 1 {
        let all: Vec<String> =
            figure.repetitions.iter().map(|one| (kind.words)((kind.repetition)(one))).collect();
        lines.push(format!("repetitions: {}", all.join(", ")));
    }
    if let Some(one) = figure.latency.first() {
        lines.push(format!(
            "latency p50 {}, p99 {}, p99.9 {}, max {}",
            latency(one.p50_ns),
            latency(one.p99_ns),
            latency(one.p99_9_ns),
            latency(one.maximum_ns)
        ));
    }
    lines.join("<br>")
}

/// Percentiles of every figure on one logarithmic axis, one row each.
fn percentiles(figures: &[&Figure]) -> Chart {
    let rows: Vec<String> = figures.iter().map(|figure| label(figure)).collect();
    let ends: Vec<Value> = figures
        .iter()
        .zip(&rows)
        .map(|(figure, row)| {
            let one = &figure.latency[0];
            json!({
                "type": "scatter", "mode": "lines", "showlegend": false, "hoverinfo": "skip",
                "x": [microseconds(one.p50_ns), microseconds(one.maximum_ns)], "y": [row, row],
                "line": { "color": "rgba(128,136,145,0.55)", "width": 2 },
            })
        })
        .collect();
    let kinds: [(&str, fn(&crate::view::LatencyInfo) -> u64, &str, &str); 4] = [
        ("p50", |one| one.p50_ns, GREEN, "circle"),
        ("p99", |one| one.p99_ns, BLUE, "diamond"),
        ("p99.9", |one| one.p99_9_ns, ORANGE, "square"),
        ("max", |one| one.maximum_ns, VERMILLION, "x"),
    ];
    let marks = kinds.iter().map(|(name, of, colour, shape)| {
        let value = |figure: &&Figure| of(&figure.latency[0]);
        json!({
            "type": "scatter", "mode": "markers", "name": name,
            "x": figures.iter().map(|figure| microseconds(value(figure))).collect::<Vec<_>>(),
            "y": rows,
            "text": figures.iter().map(|figure| format!("{name}: {}<br>{}", latency(value(figure)), escaped(&figure.conditions))).collect::<Vec<_>>(),
            "hovertemplate": "%{text}<extra></extra>",
            "marker": { "color": colour, "symbol": shape, "size": 10, "line": { "color": "ink", "width": 0.6 } },
        })
    });
    let data = ends.into_iter().chain(marks).collect();
    let mut layout = rows_layout(&rows);
    layout["xaxis"] = latency_axis("latency of a transfer");
    Chart {
        id: "chart-percentiles".to_owned(),
        title: "Latency percentiles".to_owned(),
        note: "Half of all transfers took at most p50; one in a hundred took longer than p99.".to_owned(),
        full: true,
        height: FRAME_PX + ROW_PX * figures.len(),
        data,
        layout,
    }
}

/// The share of transfers that took at most so long, one line for each figure.
fn distribution(report: &Report, details: &[Detail]) -> Chart {
    let mut data = Vec::new();
    for (index, (figure, detail)) in report.figures.iter().zip(details).enumerate() {
        for curve in &detail.curves {
            let name = format!("{}. {}", figure.number, curve_name(figure, word(curve.operation)));
            data.push(json!({
                "type": "scatter", "mode": "lines", "name": name,
                "x": curve.points.iter().map(|point| microseconds(point.latency_ns)).collect::<Vec<_>>(),
                "y": curve.points.iter().map(|point| point.share * 100.0).collect::<Vec<_>>(),
                "text": curve.points.iter().map(|point| latency(point.latency_ns)).collect::<Vec<_>>(),
                "hovertemplate": format!("%{{y:.3f}} % took at most %{{text}}<br>{}<extra></extra>", escaped(&figure.conditions)),
                "line": { "color": PALETTE[index % PALETTE.len()], "dash": DASHES[index / PALETTE.len() % DASHES.len()], "width": 2, "shape": "hv" },
            }));
        }
    }
    let lines = data.len();
    Chart {
        id: "chart-distribution".to_owned(),
        title: "Latency distribution".to_owned(),
        note: "Share of all transfers that took at most so long. Click a name to hide its line, twice to see it alone."
            .to_owned(),
        full: true,
        height: 420 + 18 * lines.saturating_sub(8),
        data,
        layout: json!({
            "xaxis": latency_axis("latency of a transfer"),
            "yaxis": { "title": { "text": "share of transfers" }, "range": [0, 101], "ticksuffix": " %" },
            "legend": { "orientation": "v", "x": 1.02, "xanchor": "left", "y": 1, "yanchor": "top", "font": { "size": 12 } },
            "hovermode": "closest",
        }),
    }
}

fn curve_name(figure: &Figure, operation: &str) -> String {
    let of = if figure.latency.len() > 1 { format!(", {operation}s") } else { String::new() };
    format!("{}, {}{of}", figure.what, figure.path)
}

/// The charts of one figure: over time, devices, tasks.
pub(crate) fn of_figure(figure: &Figure, detail: &Detail) -> Vec<Chart> {
    let mut charts = Vec::new();
    if !detail.seconds.is_empty() {
        charts.push(over_time(figure, detail));
    }
    if !detail.devices.is_empty() {
        charts.push(devices(figure, detail));
    }
    if detail.tasks.iter().any(|task| task.task > 0) {
        charts.push(tasks(figure, detail));
    }
    charts
}

/// Two panels above each other on one time axis: rate and largest latency.
fn over_time(figure: &Figure, detail: &Detail) -> Chart {
    let large = figure.transfer_bytes >= LARGE_TRANSFER_BYTES;
    let mut data = Vec::new();
    for (index, line) in detail.seconds.iter().enumerate() {
        let (colour, dash) = line_style(index);
        let name = line_name(detail.seconds.len(), line.repetition, word(line.operation), figure);
        let x: Vec<f64> = line.points.iter().map(|point| point.at_seconds).collect();
        let rates: Vec<f64> = line
            .points
            .iter()
            .map(|point| if large { point.bytes_per_second / 1e6 } else { point.transfers_per_second })
            .collect();
        let words: Vec<String> = line
            .points
            .iter()
            .map(|point| {
                format!("{} · {} IOPS", rate(point.bytes_per_second), iops(point.transfers_per_second))
            })
            .collect();
        data.push(json!({
            "type": "scatter", "mode": "lines+markers", "name": name, "legendgroup": name, "showlegend": detail.seconds.len() > 1,
            "x": x, "y": rates, "text": words,
            "hovertemplate": "second %{x:.1f}: %{text}<extra>%{fullData.name}</extra>",
            "line": { "color": colour, "dash": dash, "width": 2 },
            "marker": { "symbol": SHAPES[index % SHAPES.len()], "size": 5 },
        }));
        data.push(json!({
            "type": "scatter", "mode": "lines+markers", "name": name, "legendgroup": name, "showlegend": false,
            "x": x, "y": line.points.iter().map(|point| microseconds(point.latency_max_ns)).collect::<Vec<_>>(),
            "text": line.points.iter().map(|point| latency(point.latency_max_ns)).collect::<Vec<_>>(),
            "hovertemplate": "second %{x:.1f}: longest %{text}<extra>%{fullData.name}</extra>", "xaxis": "x", "yaxis": "y2",
            "line": { "color": colour, "dash": dash, "width": 1.5 },
            "marker": { "symbol": SHAPES[index % SHAPES.len()], "size": 5 },
        }));
    }
    let rate_title = if large { "MB/s" } else { "IOPS" };
    let mut longest = latency_axis("longest latency");
    longest["domain"] = json!([0.0, 0.42]);
    Chart {
        id: format!("chart-{}-time", figure.number),
        title: "Over time".to_owned(),
        note: "What completed in each second, and its longest transfer.".to_owned(),
        full: false,
        height: FRAME_PX + 2 * PANEL_PX,
        data,
        layout: json!({
            "xaxis": { "title": { "text": "seconds since the start of the phase" }, "rangemode": "tozero", "anchor": "y2" },
            "yaxis": { "title": { "text": rate_title }, "rangemode": "tozero", "domain": [0.52, 1.0], "separatethousands": true },
            "yaxis2": longest,
            "hovermode": "closest",
        }),
    }
}

/// Three panels on one time axis for the block devices: MB/s, busy, queue.
fn devices(figure: &Figure, detail: &Detail) -> Chart {
    let mut names: Vec<&str> = detail.devices.iter().map(|line| line.device.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let mut data = Vec::new();
    for line in &detail.devices {
        let index = names.iter().position(|name| *name == line.device).unwrap_or_default();
        let (colour, _) = line_style(index);
        let dash = DASHES[line.repetition as usize % DASHES.len()];
        let name = if detail.devices.len() > names.len() {
            format!("{}, repetition {}", line.device, line.repetition + 1)
        } else {
            line.device.clone()
        };
        let x: Vec<f64> = line.points.iter().map(|point| point.at_seconds).collect();
        let panels: [(&str, Vec<f64>, &str); 3] = [
            (
                "y",
                line.points
                    .iter()
                    .map(|p| (p.rates.read_bytes_per_second + p.rates.write_bytes_per_second) / 1e6)
                    .collect(),
                "%{y:,.1f} MB/s",
            ),
            ("y2", line.points.iter().map(|p| p.rates.busy_share * 100.0).collect(), "%{y:.0f} % busy"),
            (
                "y3",
                line.points.iter().map(|p| p.rates.queue_requests).collect(),
                "%{y:.1f} requests under way",
            ),
        ];
        for (axis, y, words) in panels {
            data.push(json!({
                "type": "scatter", "mode": "lines+markers", "name": name, "legendgroup": name, "showlegend": axis == "y",
                "x": x, "y": y, "xaxis": "x", "yaxis": axis,
                "hovertemplate": format!("second %{{x:.1f}}: {words}<extra>%{{fullData.name}}</extra>"),
                "line": { "color": colour, "dash": dash, "width": 1.8 },
                "marker": { "symbol": SHAPES[index % SHAPES.len()], "size": 4 },
            }));
        }
    }
    Chart {
        id: format!("chart-{}-devices", figure.number),
        title: "Block devices".to_owned(),
        note: "What the kernel counted beside the run.".to_owned(),
        full: false,
        height: FRAME_PX + 2 * PANEL_PX,
        data,
        layout: json!({
            "xaxis": { "title": { "text": "seconds since the start of the phase" }, "rangemode": "tozero", "anchor": "y3" },
            "yaxis": { "title": { "text": "MB/s" }, "rangemode": "tozero", "domain": [0.72, 1.0] },
            "yaxis2": { "title": { "text": "busy" }, "ticksuffix": " %", "range": [0, 105], "domain": [0.36, 0.64] },
            "yaxis3": { "title": { "text": "queue" }, "rangemode": "tozero", "domain": [0.0, 0.28] },
            "hovermode": "closest",
        }),
    }
}

/// The rate of every task, so that a straggler is seen.
fn tasks(figure: &Figure, detail: &Detail) -> Chart {
    let repetitions: Vec<u32> = {
        let mut all: Vec<u32> = detail.tasks.iter().map(|task| task.repetition).collect();
        all.sort_unstable();
        all.dedup();
        all
    };
    let data = repetitions
        .iter()
        .enumerate()
        .map(|(index, repetition)| {
            let these: Vec<_> = detail.tasks.iter().filter(|task| task.repetition == *repetition).collect();
            json!({
                "type": "scatter", "mode": "markers", "name": format!("repetition {}", repetition + 1),
                "showlegend": repetitions.len() > 1,
                "x": these.iter().map(|task| task.task).collect::<Vec<_>>(),
                "y": these.iter().map(|task| task.bytes_per_second / 1e6).collect::<Vec<_>>(),
                "text": these.iter().map(|task| format!("task {} on {}, file {}: {}", task.task, escaped(&task.node), task.file, rate(task.bytes_per_second))).collect::<Vec<_>>(),
                "hovertemplate": "%{text}<extra></extra>",
                "marker": { "color": PALETTE[index % PALETTE.len()], "symbol": SHAPES[index % SHAPES.len()], "size": 7 },
            })
        })
        .collect();
    Chart {
        id: format!("chart-{}-tasks", figure.number),
        title: "Each task".to_owned(),
        note: "Bytes of a task ÷ the time from its first to the end of its last transfer.".to_owned(),
        full: false,
        height: FRAME_PX + PANEL_PX + 40,
        data,
        layout: json!({
            "xaxis": { "title": { "text": "task" }, "tickformat": "d" },
            "yaxis": { "title": { "text": "MB/s" }, "rangemode": "tozero" },
            "hovermode": "closest",
        }),
    }
}

fn line_style(index: usize) -> (&'static str, &'static str) {
    (PALETTE[index % PALETTE.len()], DASHES[index / PALETTE.len() % DASHES.len()])
}

fn line_name(lines: usize, repetition: u32, operation: &str, figure: &Figure) -> String {
    let mut parts = Vec::new();
    if figure.latency.len() > 1 || figure.phase == "mixed" {
        parts.push(format!("{operation}s"));
    }
    if figure.repetitions.len() > 1 || parts.is_empty() || lines == 1 {
        parts.push(format!("repetition {}", repetition + 1));
    }
    parts.join(", ")
}

/// Rows named by figure, the first on top.
fn rows_layout(rows: &[String]) -> Value {
    let order: Vec<&String> = rows.iter().rev().collect();
    json!({
        "yaxis": {
            "type": "category", "categoryorder": "array", "categoryarray": order,
            "range": [-0.6, rows.len() as f64 - 0.4], "tickfont": { "size": 12.5 }, "showgrid": false,
        },
        "hovermode": "closest",
    })
}

/// The row of a figure: its number keeps equal conditions apart.
fn label(figure: &Figure) -> String {
    let tasks = if figure.tasks == 1 { String::new() } else { format!(" × {} tasks", figure.tasks) };
    format!("{} · {}{tasks}  {}", escaped(&figure.what), escaped(&figure.path), figure.number)
}

/// A logarithmic axis in microseconds whose ticks name the unit that fits.
fn latency_axis(title: &str) -> Value {
    let decades = [
        (1e-3, "1 ns"),
        (1e-2, "10 ns"),
        (1e-1, "100 ns"),
        (1e0, "1 µs"),
        (1e1, "10 µs"),
        (1e2, "100 µs"),
        (1e3, "1 ms"),
        (1e4, "10 ms"),
        (1e5, "100 ms"),
        (1e6, "1 s"),
        (1e7, "10 s"),
        (1e8, "100 s"),
    ];
    json!({
        "title": { "text": title }, "type": "log", "tickmode": "array",
        "tickvals": decades.map(|(value, _)| value), "ticktext": decades.map(|(_, text)| text),
        "minor": { "ticks": "inside", "ticklen": 3, "dtick": "D1" },
    })
}

/// For the axis of [`latency_axis`]: a latency of 0 is shown at its left end.
fn microseconds(nanos: u64) -> f64 {
    nanos.max(1) as f64 / 1e3
}

/// Text that plotly shows as it is: it understands a little HTML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
