//! The little of plotly.js that charts are made of.
//!
//! Colours are those of Okabe and Ito ("Color Universal Design", 2008), which people with any
//! colour vision tell apart; shape, dash or hatching says the same again. The page adds what depends
//! on light, dark and print; [`INK`] stands for the colour of its text. A browser test lets
//! `Plotly.validate` look at every chart, since nothing else would notice a misspelt attribute.

use std::collections::HashMap;

use serde::Serialize;
use serde_json::{Value, json};

use crate::escape::chart as escaped;

pub(super) const BLUE: &str = "#0072B2";
pub(super) const VERMILLION: &str = "#D55E00";
pub(super) const GREEN: &str = "#009E73";
pub(super) const ORANGE: &str = "#E69F00";
pub(super) const SKY: &str = "#56B4E9";
pub(super) const PURPLE: &str = "#CC79A7";
/// The colour of text.
pub(super) const INK: &str = "ink";

/// Series of one chart take these in turn, and the next dash with every round.
const PALETTE: [&str; 6] = [BLUE, VERMILLION, GREEN, ORANGE, PURPLE, SKY];
const DASHES: [&str; 4] = ["solid", "dash", "dot", "dashdot"];
const SYMBOLS: [&str; 6] = ["circle", "square", "diamond", "triangle-up", "x", "star"];
const PATTERNS: [&str; 6] = ["", "/", "x", ".", "-", "|"];

/// Width that a legend has on a page or paper, in CSS pixels: the narrower of both.
const FULL_PX: usize = 940;
const HALF_PX: usize = 430;
/// Width of two letters of a legend, of the sample beside it, and height of a row of it.
const LETTER_PX: usize = 13;
const SAMPLE_PX: usize = 48;
const LEGEND_ROW_PX: usize = 20;

/// How a series looks: a line by its dash, marks by their symbol, bars by their pattern.
#[derive(Debug, Clone, Copy)]
pub(super) struct Look {
    pub(super) colour: &'static str,
    pub(super) dash: &'static str,
    pub(super) symbol: &'static str,
    pub(super) pattern: &'static str,
}

impl Look {
    /// The look of series number `index` of a chart.
    pub(super) fn of(index: usize) -> Self {
        let round = index / PALETTE.len();
        let shape = (index + round) % SYMBOLS.len();
        Self {
            colour: PALETTE[index % PALETTE.len()],
            dash: DASHES[round % DASHES.len()],
            symbol: SYMBOLS[shape],
            pattern: PATTERNS[shape],
        }
    }
}

impl From<&'static str> for Look {
    fn from(colour: &'static str) -> Self {
        Self { colour, ..Self::of(0) }
    }
}

/// Where a point stands, what a pointer is told there, and the number of the figure whose conditions
/// the page adds.
#[derive(Debug)]
pub(super) struct Point(Value, Value, Option<String>, Option<usize>);

impl<X: Into<Value>, Y: Into<Value>> From<(X, Y)> for Point {
    fn from((x, y): (X, Y)) -> Self {
        Self(x.into(), y.into(), None, None)
    }
}

impl<X: Into<Value>, Y: Into<Value>> From<(X, Y, String)> for Point {
    fn from((x, y, words): (X, Y, String)) -> Self {
        Self(x.into(), y.into(), Some(words), None)
    }
}

impl<X: Into<Value>, Y: Into<Value>> From<(X, Y, String, usize)> for Point {
    fn from((x, y, words, figure): (X, Y, String, usize)) -> Self {
        Self(x.into(), y.into(), Some(words), Some(figure))
    }
}

/// A series of a chart.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Trace(pub(super) Value);

impl Trace {
    pub(super) fn bars(name: &str, look: impl Into<Look>) -> Self {
        let Look { colour, pattern, .. } = look.into();
        let marker = json!({ "color": colour, "pattern": { "shape": pattern } });
        Self(json!({ "type": "bar", "name": escaped(name), "marker": marker }))
    }

    pub(super) fn lines(name: &str, look: impl Into<Look>) -> Self {
        let Look { colour, dash, .. } = look.into();
        Self(json!({
            "type": "scatter", "mode": "lines", "name": escaped(name), "line": { "color": colour, "dash": dash },
        }))
    }

    pub(super) fn marks(name: &str, look: impl Into<Look>) -> Self {
        let Look { colour, symbol, .. } = look.into();
        Self(json!({
            "type": "scatter", "mode": "markers", "name": escaped(name),
            "marker": { "color": colour, "symbol": symbol, "size": 8 },
        }))
    }

    /// A line with a mark at each point.
    pub(super) fn curve(name: &str, look: impl Into<Look>) -> Self {
        let look = look.into();
        let marks = Self::marks("", look).0["marker"].take();
        Self::lines(name, look).with("mode", "lines+markers").with("marker", marks).with("marker.size", 7)
    }

    /// A thin line from one point to another, told by its name.
    pub(super) fn level(name: &str, dash: &'static str, ends: [(f64, f64); 2]) -> Self {
        let points = ends.map(|(x, y)| (x, y, escaped(name)));
        Self::lines(name, Look { dash, ..INK.into() }).with("line.width", 1.2).points(points)
    }

    /// These points; a pointer passes over those that tell nothing.
    pub(super) fn points<P: Into<Point>>(self, points: impl IntoIterator<Item = P>) -> Self {
        let (mut x, mut y, mut words, mut figures) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for Point(at, value, told, figure) in points.into_iter().map(Into::into) {
            x.push(at);
            y.push(value);
            words.extend(told);
            figures.extend(figure);
        }
        let trace = if words.is_empty() { self.with("hoverinfo", "skip") } else { self.with("words", words) };
        let trace = if figures.is_empty() { trace } else { trace.with("figures", figures) };
        trace.with("x", x).with("y", y)
    }

    /// Whiskers along `axis`, so far above and below each point.
    pub(super) fn whiskers(self, axis: &str, ends: impl Iterator<Item = (Option<f64>, Option<f64>)>) -> Self {
        let (above, below): (Vec<_>, Vec<_>) = ends.unzip();
        if above.iter().all(Option::is_none) {
            return self;
        }
        self.with(
            &format!("error_{axis}"),
            json!({
                "type": "data", "symmetric": false, "array": above, "arrayminus": below,
                "color": INK, "thickness": 1.3, "width": 4,
            }),
        )
    }

    /// A rim around bars or marks.
    pub(super) fn rimmed(self, width: impl Into<Value>) -> Self {
        self.with("marker.line.color", INK).with("marker.line.width", width)
    }

    /// Without a name in the legend, if `hidden`.
    pub(super) fn hidden(self, hidden: bool) -> Self {
        self.with("showlegend", !hidden)
    }

    /// With the attribute at `path`, as in `line.width`.
    pub(super) fn with(mut self, path: &str, value: impl Into<Value>) -> Self {
        put(&mut self.0, path, value.into());
        self
    }
}

fn put(into: &mut Value, path: &str, value: Value) {
    *path.split('.').fold(into, |at, key| &mut at[key]) = value;
}

/// An axis of values from 0.
pub(super) fn axis(title: &str) -> Value {
    json!({ "title": { "text": title }, "rangemode": "tozero" })
}

/// An axis of names, in the order in which they come.
pub(super) fn names() -> Value {
    json!({ "type": "category", "showgrid": false })
}

/// One chart.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Chart {
    id: String,
    #[serde(skip)]
    kind: &'static str,
    /// The section, or the heading within one, that it stands under.
    #[serde(skip)]
    pub(crate) place: String,
    #[serde(skip)]
    title: String,
    #[serde(skip)]
    note: String,
    /// Takes the whole width of the page.
    #[serde(skip)]
    full: bool,
    /// Height of all but the legend, in CSS pixels.
    height: usize,
    /// Height of the legend.
    pub(super) legend: usize,
    data: Vec<Trace>,
    layout: Value,
}

impl Chart {
    /// A chart of the whole width at `place`.
    pub(super) fn new(
        kind: &'static str,
        place: &str,
        title: impl Into<String>,
        note: impl Into<String>,
    ) -> Self {
        Self {
            id: String::new(),
            kind,
            place: place.to_owned(),
            title: title.into(),
            note: note.into(),
            full: true,
            height: 340,
            legend: 0,
            data: Vec::new(),
            layout: json!({}),
        }
    }

    /// Of half the width of the page.
    pub(super) fn half(self, half: bool) -> Self {
        Self { full: !half, ..self }
    }

    pub(super) fn height(self, height: usize) -> Self {
        Self { height, ..self }
    }

    pub(super) fn axes(self, x: Value, y: Value) -> Self {
        self.with("xaxis", x).with("yaxis", y)
    }

    /// Panels above each other over the seconds of a phase, each from one share of the height to another; a trace
    /// names its own by `yaxis`: `y`, `y2` and so on.
    pub(super) fn panels<const N: usize>(self, panels: [([f64; 2], Value); N]) -> Self {
        let mut chart = self.with("xaxis", axis("seconds since the start of the phase"));
        for (number, (domain, panel)) in (1..).zip(panels) {
            let name = if number == 1 { String::new() } else { format!("{number}") };
            chart = chart
                .with(&format!("yaxis{name}"), panel)
                .with(&format!("yaxis{name}.domain"), domain)
                .with("xaxis.anchor", format!("y{name}"));
        }
        chart
    }

    /// With the attribute at `path` of the layout.
    pub(super) fn with(mut self, path: &str, value: impl Into<Value>) -> Self {
        put(&mut self.layout, path, value.into());
        self
    }

    /// With those series that have points, and room for their names.
    pub(super) fn traces(mut self, traces: impl IntoIterator<Item = Trace>) -> Self {
        let empty = |Trace(one): &Trace| one["x"].as_array().is_some_and(Vec::is_empty);
        self.data = traces.into_iter().filter(|one| !empty(one)).collect();
        let legend = self.layout["showlegend"] != false;
        let shown = self.data.iter().filter(|Trace(one)| legend && one["showlegend"] != false);
        let widths = shown.map(|Trace(one)| one["name"].as_str().map_or(0, |name| name.chars().count()));
        // plotly gives all names of a row the width of the widest.
        let widest = widths.clone().max().unwrap_or(0) * LETTER_PX / 2 + SAMPLE_PX;
        let columns = (if self.full { FULL_PX } else { HALF_PX } / widest).max(1);
        self.legend = 14 + LEGEND_ROW_PX * widths.count().div_ceil(columns).max(1);
        self
    }

    /// Gives each of all charts of a page its name there: `chart-sweep-0`.
    pub(crate) fn number<'a>(all: impl IntoIterator<Item = &'a mut Self>) {
        let mut numbers: HashMap<&str, usize> = HashMap::new();
        for chart in all {
            let next = numbers.entry(chart.kind).or_default();
            chart.id = format!("chart-{}-{next}", chart.kind);
            *next += 1;
        }
    }

    /// What stands above it.
    pub(crate) fn caption(&self) -> Value {
        json!({ "id": self.id, "title": self.title, "note": self.note, "full": self.full })
    }

    /// The numbers of all figures that its points name.
    pub(crate) fn figures(&self) -> impl Iterator<Item = u64> {
        let lists = self.data.iter().filter_map(|Trace(one)| one["figures"].as_array());
        lists.flatten().filter_map(Value::as_u64)
    }
}
