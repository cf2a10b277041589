//! Rates of all figures as bars: repetitions as points, intervals as lines, published figures as
//! stars.

use analysis::Stated;
use serde_json::{Value, json};

use super::{
    BLUE, Chart, FRAME_PX, GREEN, ORANGE, PURPLE, ROW_PX, SKY, VERMILLION, escaped, label, rows_layout,
};
use crate::format::rate;
use crate::text::iops;
use crate::view::{Figure, Report, Spread};

/// Rates that differ by more than this are drawn on a logarithmic axis.
const WIDE: f64 = 50.0;

/// What bars show.
pub(super) struct Kind {
    id: &'static str,
    title: &'static str,
    axis: &'static str,
    /// Divides the raw number for the axis.
    unit: f64,
    /// Published figures are bandwidths.
    published: bool,
    of: fn(&Figure) -> &Spread,
    repetition: fn(&crate::view::Repetition) -> f64,
    words: fn(&Figure, f64) -> String,
}

impl Kind {
    pub(super) const BANDWIDTH: Self = Self {
        id: "chart-bandwidth",
        title: "Bandwidth of large transfers",
        axis: "MB/s (10⁶ bytes per second)",
        unit: 1e6,
        published: true,
        of: |figure| &figure.bytes_per_second,
        repetition: |one| one.bytes_per_second,
        words: |_, value| rate(value),
    };
    pub(super) const IOPS: Self = Self {
        id: "chart-iops",
        title: "Rate of small transfers",
        axis: "transfers per second (IOPS)",
        unit: 1.0,
        published: false,
        of: |figure| &figure.transfers_per_second,
        repetition: |one| one.transfers_per_second,
        words: |_, value| format!("{} IOPS", iops(value)),
    };
    /// Of names, small files, objects and messages. Their rates differ by orders of magnitude.
    pub(super) const OPERATIONS: Self = Self {
        id: "chart-operations",
        title: "Rate of operations",
        axis: "operations per second",
        unit: 1.0,
        published: true,
        of: |figure| &figure.transfers_per_second,
        repetition: |one| one.transfers_per_second,
        words: |figure, value| format!("{} {}", iops(value), figure.unit),
    };
}

/// What a bar of `phase` is called in the legend.
fn sort(phase: &str) -> &'static str {
    match phase {
        "read" | "file-read" => "read",
        "write" | "file-write" => "write",
        "mixed" => "reads and writes",
        "exchange" => "exchange",
        "benchmark" => "round over objects",
        "directory-stat" | "file-stat" | "directory-list" => "stat and list",
        "directory-rename" | "file-rename" => "rename",
        "directory-remove" | "file-remove" | "tree-remove" | "cleanup" => "remove",
        _ => "create",
    }
}

/// One bar for each figure, its repetitions as points, its interval as a line, published figures
/// as marks.
pub(super) fn bars(report: &Report, figures: &[&Figure], kind: &Kind, cached: bool) -> Chart {
    let kinds = [
        ("read", BLUE),
        ("write", VERMILLION),
        ("reads and writes", GREEN),
        ("create", VERMILLION),
        ("stat and list", GREEN),
        ("rename", ORANGE),
        ("remove", PURPLE),
        ("round over objects", SKY),
        ("exchange", BLUE),
    ];
    let mut data = Vec::new();
    for (name, colour) in kinds {
        let these: Vec<&&Figure> = figures.iter().filter(|figure| sort(figure.phase) == name).collect();
        if !these.is_empty() {
            data.push(bar_trace(&these, kind, name, colour, cached));
        }
    }
    data.extend(interval_trace(figures, kind));
    data.extend(repetition_trace(figures, kind));
    data.extend(published_trace(report, figures, kind));
    let note = match (cached, figures.iter().any(|figure| figure.counted() > 1)) {
        (true, _) => "Memory of this host took part: these are no figures of the device.",
        (false, true) => "Bar: median. Points: the repetitions that count.",
        (false, false) => "One repetition of each.",
    };
    let rows: Vec<String> = figures.iter().map(|figure| label(figure)).collect();
    let mut layout = rows_layout(&rows);
    // Rates of operations differ by orders of magnitude, and short bars tell nothing.
    let medians = || figures.iter().map(|figure| (kind.of)(figure).median).filter(|&median| median > 0.0);
    let (least, most) = (medians().fold(f64::INFINITY, f64::min), medians().fold(0.0, f64::max));
    let logarithmic =
        kind.unit == 1.0 && figures.iter().all(|figure| figure.is_operations()) && most > least * WIDE;
    // A logarithmic axis has no zero to begin at.
    let (key, value) = if logarithmic { ("type", "log") } else { ("rangemode", "tozero") };
    layout["xaxis"] = json!({ "title": { "text": kind.axis }, key: value });
    layout["yaxis"]["tickmode"] = json!("array");
    layout["yaxis"]["tickvals"] = json!(rows);
    layout["yaxis"]["ticktext"] = figures
        .iter()
        .map(|figure| {
            format!("{}  <b>{}</b> ", label(figure), (kind.words)(figure, (kind.of)(figure).median))
        })
        .collect();
    layout["updatemenus"] = scale_buttons(logarithmic);
    layout["barmode"] = json!("overlay");
    layout["bargap"] = json!(0.35);
    Chart {
        id: format!("{}{}", kind.id, if cached { "-cached" } else { "" }),
        place: String::new(),
        title: format!("{}{}", kind.title, if cached { ", page cache" } else { "" }),
        note: note.to_owned(),
        full: true,
        height: FRAME_PX + 20 + ROW_PX * figures.len(),
        data,
        layout,
    }
}

fn bar_trace(figures: &[&&Figure], kind: &Kind, name: &str, colour: &str, cached: bool) -> Value {
    let spread = |figure: &Figure| *(kind.of)(figure);
    let medians: Vec<f64> = figures.iter().map(|figure| spread(figure).median / kind.unit).collect();
    let pattern = if cached {
        json!({ "shape": "/", "fillmode": "overlay", "size": 7, "solidity": 0.4 })
    } else {
        json!({ "shape": "" })
    };
    json!({
        "type": "bar",
        "orientation": "h",
        "name": name,
        "showlegend": true,
        "x": medians,
        "y": figures.iter().map(|figure| label(figure)).collect::<Vec<_>>(),
        "hovertext": figures.iter().map(|figure| hover(figure, kind)).collect::<Vec<_>>(),
        "hovertemplate": "%{hovertext}<extra></extra>",
        "marker": { "color": colour, "pattern": pattern },
    })
}

/// The interval of each figure that has one: a line with an end on each side.
fn interval_trace(figures: &[&Figure], kind: &Kind) -> Option<Value> {
    let (mut x, mut y) = (Vec::new(), Vec::new());
    for figure in figures {
        let spread = (kind.of)(figure);
        if let (Some(low), Some(high)) = (spread.interval_low, spread.interval_high) {
            x.extend([Some(low / kind.unit), Some(high / kind.unit), None]);
            y.extend([Some(label(figure)), Some(label(figure)), None]);
        }
    }
    (!x.is_empty()).then(|| {
        json!({
            "type": "scatter",
            "mode": "lines+markers",
            "name": "interval of the median",
            "x": x,
            "y": y,
            "hoverinfo": "skip",
            "line": { "color": "ink", "width": 2 },
            "marker": { "color": "ink", "symbol": "line-ns", "size": 14, "line": { "color": "ink", "width": 2 } },
        })
    })
}

fn repetition_trace(figures: &[&Figure], kind: &Kind) -> Option<Value> {
    let (mut x, mut y, mut text) = (Vec::new(), Vec::new(), Vec::new());
    for figure in figures.iter().filter(|figure| figure.counted() > 1) {
        for one in figure.counting() {
            let value = (kind.repetition)(one);
            x.push(value / kind.unit);
            y.push(label(figure));
            text.push(format!(
                "repetition {}: {}<br>{}",
                one.repetition + 1,
                (kind.words)(figure, value),
                escaped(&figure.conditions)
            ));
        }
    }
    (!x.is_empty()).then(|| json!({
        "type": "scatter",
        "mode": "markers",
        "name": "repetitions",
        "x": x,
        "y": y,
        "text": text,
        "hovertemplate": "%{text}<extra></extra>",
        "marker": { "color": "rgba(255,255,255,0.85)", "size": 7, "symbol": "circle", "line": { "color": "#000000", "width": 1.2 } },
    }))
}

fn published_trace(report: &Report, figures: &[&Figure], kind: &Kind) -> Option<Value> {
    let (mut x, mut y, mut text) = (Vec::new(), Vec::new(), Vec::new());
    for one in report.found.published.iter().filter(|_| kind.published).filter_map(Stated::says) {
        let Some(figure) = figures.iter().find(|figure| one.figure == Some(figure.number - 1)) else {
            continue;
        };
        if one.unit != if figure.is_operations() { "ops/s" } else { "bytes/s" } {
            continue;
        }
        x.push(one.published / kind.unit);
        y.push(label(figure));
        text.push(format!(
            "published: {}<br>{}<br>{}",
            escaped(&one.as_published),
            escaped(&one.source),
            escaped(&one.differs.join("; "))
        ));
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
fn scale_buttons(logarithmic: bool) -> Value {
    let button = |label: &str, kind: &str| json!({ "label": label, "method": "relayout", "args": [{ "xaxis.type": kind }] });
    json!([{
        "type": "buttons", "direction": "right", "showactive": true, "active": i32::from(logarithmic), "x": 1, "xanchor": "right", "y": 0,
        "yanchor": "top", "pad": { "t": 30 }, "font": { "size": 11.5, "color": "#1b1f24" }, "bgcolor": "#f6f8fa",
        "bordercolor": "#c0c7ce",
        "buttons": [button("linear", "linear"), button("logarithmic", "log")],
    }])
}

/// The conditions and all repetitions.
fn hover(figure: &Figure, kind: &Kind) -> String {
    let mut lines = vec![
        format!("<b>{}</b>", escaped(&figure.conditions)),
        format!("{}: {}", escaped(&figure.statistic), (kind.words)(figure, (kind.of)(figure).median)),
    ];
    if figure.page_cache {
        lines.push("the page cache took part".to_owned());
    }
    if figure.counted() > 1 {
        let all: Vec<String> =
            figure.counting().map(|one| (kind.words)(figure, (kind.repetition)(one))).collect();
        lines.push(format!("repetitions: {}", all.join(", ")));
    }
    if let Some(one) = figure.latency.first() {
        lines.push(one.hover());
    }
    lines.join("<br>")
}
