//! The charts of the page, as data and layout of plotly.js.
//!
//! Colours are those of Okabe and Ito ("Color Universal Design", 2008), which people with any
//! colour vision tell apart; shape or hatching says the same again. The page adds what depends on
//! light, dark and print; `"ink"` stands for the colour of its text. A browser test lets
//! `Plotly.validate` look at every chart, since nothing else would notice a misspelt attribute.

mod axis;
mod bars;
mod devices;
mod figure;
mod latency;
mod layers;
mod line;
mod marks;
mod matrix;
mod nodes;
mod response;
mod spread;
mod sweep;
mod timeline;
mod weak;

use serde::Serialize;
use serde_json::{Value, json};

use super::detail::Detail;
use crate::view::{Figure, Report};

pub(crate) use figure::of_figure;
pub(crate) use nodes::heat_maps;

use crate::escape::chart as escaped;

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

/// Heights in CSS pixels.
const ROW_PX: usize = 34;
/// Repetitions in one line of what a pointer is told.
const HOVER_COLUMNS: usize = 6;
const FRAME_PX: usize = 110;
const PANEL_PX: usize = 170;

/// One chart.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Chart {
    pub(crate) id: String,
    /// The section, or the heading within one, that it stands under.
    #[serde(skip)]
    pub(crate) place: String,
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

impl Chart {
    /// What stands above it.
    pub(crate) fn caption(&self) -> Value {
        json!({ "id": self.id, "title": self.title, "note": self.note, "full": self.full })
    }
}

/// The charts of a study: comparisons, sweeps, latencies, repetitions.
pub(crate) fn of_study(report: &Report, second: Option<&Report>) -> Vec<Chart> {
    let mut charts = spread::comparisons(report);
    charts.extend(matrix::charts(report));
    charts.extend(sweep::charts(report, second));
    charts.extend(nodes::charts(report));
    charts.extend(weak::charts(report));
    charts.extend(devices::charts(report));
    charts.extend(layers::charts(report));
    charts.extend(timeline::charts(report));
    charts.extend(response::charts(report));
    charts.extend(spread::dispersions(report));
    charts
}

/// The conditions and all repetitions of a figure, for whoever points at it.
pub(crate) fn hover(figure: &Figure) -> String {
    let mut lines = vec![
        escaped(&figure.conditions),
        format!("{}: {}", escaped(&figure.statistic), crate::section::headline(figure)),
    ];
    if figure.repetitions.len() > 1 {
        let all = figure.repetitions.iter().map(|one| {
            let value = if figure.is_large() {
                crate::format::rate(one.bytes_per_second)
            } else {
                crate::text::iops(one.transfers_per_second)
            };
            if one.counts() { value } else { format!("({value}, {})", one.role) }
        });
        let all: Vec<String> = all.collect();
        for (index, some) in all.chunks(HOVER_COLUMNS).enumerate() {
            lines.push(format!("{}{}", if index == 0 { "all: " } else { "" }, some.join(", ")));
        }
    }
    if let Some(one) = figure.latency.first() {
        lines.push(one.hover());
    }
    if figure.page_cache {
        lines.push("the page cache took part".to_owned());
    }
    lines.join("<br>")
}

/// The charts in which figures stand side by side.
pub(crate) fn overview(report: &Report, figures: &[&Figure], details: &[Detail]) -> Vec<Chart> {
    // Memory is so much faster than a device that the device's bars would shrink to nothing.
    let mut charts = Vec::new();
    for cached in [false, true] {
        for (large, kind) in [(true, &bars::Kind::BANDWIDTH), (false, &bars::Kind::IOPS)] {
            let these = figures.iter().copied().filter(|figure| figure.page_cache == cached);
            let these = these.filter(|figure| !figure.is_operations() && figure.is_large() == large);
            let these: Vec<&Figure> = these.collect();
            if !these.is_empty() {
                charts.push(bars::bars(report, &these, kind, cached));
            }
        }
    }
    let operations: Vec<&Figure> = figures.iter().copied().filter(|figure| figure.is_operations()).collect();
    if !operations.is_empty() {
        charts.push(bars::bars(report, &operations, &bars::Kind::OPERATIONS, false));
    }
    let timed: Vec<&Figure> = figures.iter().copied().filter(|figure| !figure.latency.is_empty()).collect();
    if !timed.is_empty() {
        charts.push(latency::percentiles(&timed));
        charts.push(latency::distribution(figures, details));
    }
    charts
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
    format!("{}. {} · {}{tasks}", figure.number, escaped(&figure.what), escaped(&figure.path))
}
