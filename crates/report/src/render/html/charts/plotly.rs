//! The subset of plotly.js used by the charts.
//!
//! Colours that depend on light mode, dark mode and print are set by the script of the page, which replaces
//! [`TEXT_COLOUR`] by the colour of its text. A browser test runs `Plotly.validate` on every chart, since plotly ignores misspelt attributes.

use std::collections::HashMap;

use serde::Serialize;
use serde_json::{Value, json};

use super::look::{Look, TEXT_COLOUR, dash_drawn, pattern_drawn, symbol_drawn};
use crate::format::escape::chart as escaped;

/// Distances from a point to the upper and the lower end of its error bar; none if unknown.
pub(super) type ErrorBar = (Option<f64>, Option<f64>);

/// The error bar of a point at `value` between `ends` (low, high); `scale` converts distances to those on the axis.
pub(super) fn error_bar(value: f64, ends: Option<(f64, f64)>, scale: impl Fn(f64) -> f64) -> ErrorBar {
    (ends.map(|(_, high)| scale(high - value)), ends.map(|(low, _)| scale(value - low)))
}

/// Position of a point, its hover text, and the number of the figure whose conditions the page adds.
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

    /// A map of `values` by rows, with a text in each cell and its hover text.
    pub(super) fn map(
        columns: Vec<String>,
        rows: Vec<String>,
        values: Vec<Vec<Option<f64>>>,
        texts: Vec<Vec<String>>,
        words: Vec<Vec<String>>,
    ) -> Self {
        Self(json!({
            "type": "heatmap", "x": columns, "y": rows, "z": values, "text": texts, "texttemplate": "%{text}",
            "hovertext": words, "hovertemplate": "%{hovertext}<extra></extra>", "showscale": false,
            "colorscale": [[0.0, "#DCEBF7"], [1.0, "#5B9BCB"]], "textfont": { "color": "#1b1f24" },
            "xgap": 2, "ygap": 2, "showlegend": false,
        }))
    }

    /// Ticks for single repetitions, across horizontal rows.
    pub(super) fn repetitions() -> Self {
        let look = Look { symbol: "line-ns-open", ..TEXT_COLOUR.into() };
        Self::marks("repetitions", look).with("marker.size", 14)
    }

    /// A line with a marker at each point.
    pub(super) fn curve(name: &str, look: impl Into<Look>) -> Self {
        let look = look.into();
        let marks = Self::marks("", look).0["marker"].take();
        Self::lines(name, look).with("mode", "lines+markers").with("marker", marks).with("marker.size", 7)
    }

    /// A thin straight line between two points; its hover text is its name.
    pub(super) fn level(name: &str, dash: &'static str, ends: [(f64, f64); 2]) -> Self {
        let points = ends.map(|(x, y)| (x, y, escaped(name)));
        Self::lines(name, Look { dash, ..TEXT_COLOUR.into() }).with("line.width", 1.2).points(points)
    }

    /// The area between two edges.
    pub(super) fn band<X: Into<Value>>(look: impl Into<Look>, edges: [Vec<(X, f64)>; 2]) -> [Self; 2] {
        let look = look.into();
        let [low, high] =
            edges.map(|edge| Self::lines("", look).with("line.width", 0).hidden(true).points(edge));
        [low, high.with("fill", "tonexty").with("fillcolor", format!("{}22", look.colour))]
    }

    /// These points; those without a hover text are skipped by the pointer.
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

    /// As [`Trace::points`], each with its error bar along `axis`.
    pub(super) fn points_with_errors<P: Into<Point>>(
        self,
        axis: &str,
        points: impl IntoIterator<Item = (P, ErrorBar)>,
    ) -> Self {
        let (points, bars): (Vec<P>, Vec<ErrorBar>) = points.into_iter().unzip();
        let (above, below): (Vec<_>, Vec<_>) = bars.into_iter().unzip();
        let trace = self.points(points);
        if above.iter().all(Option::is_none) {
            return trace;
        }
        // plotly would treat null as 0 and draw an interval of zero width.
        let known = |ends: Vec<Option<f64>>| -> Vec<Value> {
            ends.into_iter().map(|end| end.map_or_else(|| "unknown".into(), Value::from)).collect()
        };
        let (above, below) = (known(above), known(below));
        trace.with(
            &format!("error_{axis}"),
            json!({
                "type": "data", "symmetric": false, "array": above, "arrayminus": below,
                "color": TEXT_COLOUR, "thickness": 1.3, "width": 4,
            }),
        )
    }

    /// An outline around bars or markers.
    pub(super) fn outlined(self, width: impl Into<Value>) -> Self {
        self.with("marker.line.color", TEXT_COLOUR).with("marker.line.width", width)
    }

    /// Without a legend entry if `hidden`.
    pub(super) fn hidden(self, hidden: bool) -> Self {
        self.with("showlegend", !hidden)
    }

    /// The legend entry of this series, which is number `place` of its chart.
    fn legend_entry(&self, place: usize) -> Option<Value> {
        let Self(one) = self;
        let name = one["name"].as_str().filter(|_| one["showlegend"] != false)?;
        let text = |path: &str| one.pointer(path).and_then(Value::as_str).unwrap_or_default();
        let (bars, mode) = (one["type"] == "bar", text("/mode"));
        let line = mode.contains("lines");
        let colour = if line { &one["line"]["color"] } else { &one["marker"]["color"] };
        let colour = colour.as_str().filter(|&colour| colour != TEXT_COLOUR);
        let mark = match () {
            () if bars => pattern_drawn(text("/marker/pattern/shape")),
            () if mode.contains("markers") => symbol_drawn(text("/marker/symbol")),
            () => "",
        };
        let dash = line.then(|| dash_drawn(text("/line/dash")));
        Some(json!({
            "place": place, "name": name.replace('<', "&lt;"), "colour": colour.unwrap_or("currentColor"), "mark": mark,
            "dash": dash, "width": one["line"]["width"].as_f64().unwrap_or(2.0),
        }))
    }

    /// Sets the attribute at `path`, as in `line.width`.
    pub(super) fn with(mut self, path: &str, value: impl Into<Value>) -> Self {
        put(&mut self.0, path, value.into());
        self
    }
}

fn put(into: &mut Value, path: &str, value: Value) {
    *path.split('.').fold(into, |at, key| &mut at[key]) = value;
}

/// An axis of numbers that starts at 0.
pub(super) fn axis(title: &str) -> Value {
    json!({ "title": { "text": title }, "rangemode": "tozero" })
}

/// An axis of names, in the order of the points.
pub(super) fn names() -> Value {
    json!({ "type": "category", "showgrid": false })
}

/// One chart.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Chart {
    id: String,
    #[serde(skip)]
    kind: &'static str,
    /// The section, or the heading within one, under which it is placed.
    #[serde(skip)]
    pub(crate) place: String,
    /// The workload that it shows, if it is one.
    #[serde(skip)]
    pub(super) workload: String,
    #[serde(skip)]
    title: String,
    #[serde(skip)]
    note: String,
    /// Whether it takes the whole width of the page.
    #[serde(skip)]
    full: bool,
    /// In CSS pixels.
    #[serde(skip)]
    height: usize,
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
            workload: String::new(),
            title: title.into(),
            note: note.into(),
            full: true,
            height: 340,
            data: Vec::new(),
            layout: json!({}),
        }
    }

    /// Of one workload.
    pub(super) fn of_workload(self, workload: &str) -> Self {
        Self { workload: workload.to_owned(), ..self }
    }

    /// Takes half of the page's width if `half`.
    pub(super) fn half(self, half: bool) -> Self {
        Self { full: !half, ..self }
    }

    /// Takes half of the page's width, unless its rows have names, which need the room.
    pub(super) fn halved(self) -> Self {
        let named = self.layout["yaxis"]["type"] == "category";
        self.half(!named)
    }

    pub(super) fn height(self, height: usize) -> Self {
        Self { height, ..self }
    }

    pub(super) fn axes(self, x: Value, y: Value) -> Self {
        self.with("xaxis", x).with("yaxis", y)
    }

    /// Panels above each other over the seconds of a phase, each with its range of the height (0 to 1) and its
    /// y axis. A trace names its panel by `yaxis`: `y`, `y2` and so on.
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

    /// Sets the attribute at `path` of the layout.
    pub(super) fn with(mut self, path: &str, value: impl Into<Value>) -> Self {
        put(&mut self.layout, path, value.into());
        self
    }

    /// Sets the series; those without points are dropped.
    pub(super) fn traces(mut self, traces: impl IntoIterator<Item = Trace>) -> Self {
        let empty = |Trace(one): &Trace| one["x"].as_array().is_some_and(Vec::is_empty);
        self.data = traces.into_iter().filter(|one| !empty(one)).collect();
        self
    }

    /// Gives each chart of a page its element id: `chart-sweep-0`.
    pub(crate) fn number<'a>(all: impl IntoIterator<Item = &'a mut Self>) {
        let mut numbers: HashMap<&str, usize> = HashMap::new();
        for chart in all {
            let next = numbers.entry(chart.kind).or_default();
            chart.id = format!("chart-{}-{next}", chart.kind);
            *next += 1;
        }
    }

    /// Whether it is of `kind`, has a series of more than two points, and is at most `height` pixels high.
    pub(super) fn compares(&self, kind: &str, height: usize) -> bool {
        // The places of bars that are in groups are lists of groups and of names.
        let points = |x: &Value| x.get(0).and_then(Value::as_array).or(x.as_array()).map_or(0, Vec::len);
        let several = |Trace(one): &Trace| points(&one["x"]) > 2;
        self.kind == kind && self.height <= height && self.data.iter().any(several)
    }

    pub(super) fn is(&self, kind: &str) -> bool {
        self.kind == kind
    }

    /// Adds `mark` within the drawing, so that it is kept when the chart is saved or copied.
    pub(crate) fn mark(&mut self, mark: &str) {
        /// Room for the line above the drawing, in CSS pixels.
        const LINE_HEIGHT: usize = 32;
        let title = json!({
            "text": escaped(mark), "font": { "size": 12, "color": TEXT_COLOUR },
            "x": 0, "xref": "paper", "xanchor": "left", "y": 1, "yref": "container", "yanchor": "top", "pad": { "t": 6 },
        });
        put(&mut self.layout, "title", title);
        put(&mut self.layout, "margin.t", LINE_HEIGHT.into());
    }

    /// Marks the title as a chart of the first of two runs only.
    pub(super) fn before(self) -> Self {
        Self { title: format!("Before alone: {}", self.title), ..self }
    }

    /// What the page shows around the chart: title, note and legend.
    pub(crate) fn caption(&self) -> Value {
        let entries = self.data.iter().enumerate().filter_map(|(place, trace)| trace.legend_entry(place));
        let entries: Vec<Value> =
            if self.layout["showlegend"] == false { Vec::new() } else { entries.collect() };
        json!({
            "id": self.id, "title": self.title, "note": self.note, "full": self.full, "height": self.height,
            // A single series is named by the title.
            "keys": if entries.len() > 1 { entries } else { Vec::new() },
        })
    }

    /// The numbers of the figures that its points refer to.
    pub(crate) fn figures(&self) -> impl Iterator<Item = u64> {
        let lists = self.data.iter().filter_map(|Trace(one)| one["figures"].as_array());
        lists.flatten().filter_map(Value::as_u64)
    }
}
