//! Rates against a swept key: one line for each target, phase and setting.
//!
//! Charts that are to be compared have the same axes, lines that coincide are named together, and
//! published figures and limits stand in the chart of the lines that they are about.

use std::collections::HashMap;

use analysis::{Curve, CurvePoint};
use plan::Client;
use serde_json::{Value, json};

use super::Chart;
use super::axis::{Axis, Span};
use super::line::{Look, Trace, legend_rows};
use super::marks;
use crate::build::findings::client;
use crate::section::{line_name, title};
use crate::view::{BYTES_PER_SECOND, Figure, Report};
use crate::words::unit as unit_of;

/// Lines of one chart; more cannot be told apart.
const LINES_MAX: usize = 16;
/// Lines up to which all targets share one chart.
const TOGETHER_MAX: usize = 6;
/// Lines up to which bytes and transfers per second share one chart with two axes.
const TWIN_MAX: usize = 4;
/// Charts of all sweeps: more would be slow to open, and nobody would look at them.
const CHARTS_MAX: usize = 48;
/// Height of one row of a legend, in CSS pixels.
const LEGEND_ROW_PX: usize = 20;
/// An axis ends so much above its highest value.
const ROOM_ABOVE: f64 = 1.06;

/// What stands on the y axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    /// 10⁶ bytes per second.
    Megabytes,
    /// Transfers per second.
    Transfers,
    /// Operations per second by their name.
    Operations(&'static str),
}

impl Unit {
    pub(super) fn of(self, point: &CurvePoint) -> f64 {
        match self {
            Self::Megabytes => point.bytes_per_second / 1e6,
            Self::Transfers | Self::Operations(_) => point.transfers_per_second,
        }
    }

    /// A value of one of the units of findings on this axis; none where it is of another kind.
    pub(super) fn from(self, value: f64, unit: &str) -> Option<f64> {
        match (self, unit) {
            (Self::Megabytes, "bytes/s") => Some(value / 1e6),
            (Self::Transfers | Self::Operations(_), "ops/s") => Some(value),
            _ => None,
        }
    }

    pub(super) const fn title(self) -> &'static str {
        match self {
            Self::Megabytes => "MB/s",
            Self::Transfers => "IOPS",
            Self::Operations(unit) => unit,
        }
    }

    /// What the axis is divided by.
    pub(super) const fn divisor(self) -> f64 {
        match self {
            Self::Megabytes => 1e6,
            Self::Transfers | Self::Operations(_) => 1.0,
        }
    }

    /// Of what is read by `unit`.
    pub(super) fn named(unit: &'static str) -> Self {
        if unit == BYTES_PER_SECOND { Self::Megabytes } else { Self::Operations(unit) }
    }
}

/// Curves over one axis of one workload and client: what belongs together.
struct Family<'a> {
    group: &'a str,
    axis: &'a str,
    curves: Vec<&'a Curve>,
}

/// The charts of all sweeps; `second` is another run of the same study, drawn dotted.
pub(super) fn charts(report: &Report, second: Option<&Report>) -> Vec<Chart> {
    let mut charts = Vec::new();
    for (index, family) in families(report).iter().enumerate() {
        let room = CHARTS_MAX.saturating_sub(charts.len());
        charts.extend(of_family(report, second, family, index).into_iter().take(room));
    }
    charts
}

fn families(report: &Report) -> Vec<Family<'_>> {
    let mut families: Vec<(Family<'_>, Client)> = Vec::new();
    for curve in report.found.curves.iter().filter(|curve| curve.points.len() > 1) {
        let same = |(family, client): &&mut (Family<'_>, Client)| {
            family.group == curve.group && family.axis == curve.axis && *client == curve.client
        };
        match families.iter_mut().find(same) {
            Some((family, _)) => family.curves.push(curve),
            None => families
                .push((Family { group: &curve.group, axis: &curve.axis, curves: vec![curve] }, curve.client)),
        }
    }
    families.into_iter().map(|(family, _)| family).collect()
}

fn of_family(report: &Report, second: Option<&Report>, family: &Family<'_>, index: usize) -> Vec<Chart> {
    let targets = targets(&family.curves);
    let apart = targets.len() > 1 && family.curves.len() > TOGETHER_MAX;
    let units =
        units(report, family, if apart { family.curves.len() / targets.len() } else { family.curves.len() });
    let span = Span::of(family.axis, &family.curves);
    let mut charts = Vec::new();
    for (number, unit) in units.iter().enumerate() {
        let top = family
            .curves
            .iter()
            .flat_map(|curve| &curve.points)
            .map(|point| unit.0.of(point))
            .fold(0.0, f64::max);
        let parts: Vec<(Option<&str>, Vec<&Curve>)> = if apart {
            targets.iter().map(|&target| (Some(target), of_target(&family.curves, target))).collect()
        } else {
            vec![(None, family.curves.clone())]
        };
        let drawn: Vec<Drawn> = parts
            .into_iter()
            .map(|(target, curves)| {
                Part { report, second, family, target, curves, unit: *unit, span: &span, top }.draw()
            })
            .collect();
        // Charts that are compared have the same axes and so the same room for their legends.
        let top = drawn.iter().map(|one| one.top).fold(0.0, f64::max);
        let rows = drawn.iter().map(|one| one.rows).max().unwrap_or(0);
        let charts_of_unit = drawn.into_iter().enumerate();
        charts.extend(
            charts_of_unit
                .map(|(place, one)| one.chart(format!("chart-sweep-{index}-{number}-{place}"), top, rows)),
        );
    }
    charts
}

fn targets<'a>(curves: &[&'a Curve]) -> Vec<&'a str> {
    let mut targets: Vec<&str> = Vec::new();
    for curve in curves {
        if !targets.contains(&curve.target.as_str()) {
            targets.push(&curve.target);
        }
    }
    targets
}

fn of_target<'a>(curves: &[&'a Curve], target: &str) -> Vec<&'a Curve> {
    curves.iter().copied().filter(|curve| curve.target == target).collect()
}

/// The units of the charts of `family`, each with the one of its right axis. Over transfer sizes
/// both are wanted; else what data sheets give for such transfers.
fn units(report: &Report, family: &Family<'_>, lines: usize) -> Vec<(Unit, Option<Unit>)> {
    let points = family.curves.iter().flat_map(|curve| &curve.points);
    let mut figures = points.filter_map(|point| report.figures.get(point.figure));
    let is_small = |figure: &Figure| !figure.is_large();
    let mut named = family.curves.iter().map(|curve| unit_of(curve.phase));
    if let Some(first) = named.next().filter(|unit| *unit != BYTES_PER_SECOND) {
        let unit = if named.all(|unit| unit == first) { first } else { "operations/s" };
        return vec![(Unit::Operations(unit), None)];
    }
    if family.axis == "transfer" {
        return match lines {
            0..=TWIN_MAX => vec![(Unit::Transfers, Some(Unit::Megabytes))],
            _ if figures.any(is_small) => vec![(Unit::Megabytes, None), (Unit::Transfers, None)],
            _ => vec![(Unit::Megabytes, None)],
        };
    }
    let small = figures.all(is_small);
    vec![(if small { Unit::Transfers } else { Unit::Megabytes }, None)]
}

/// One chart of a family.
struct Part<'a> {
    report: &'a Report,
    second: Option<&'a Report>,
    family: &'a Family<'a>,
    target: Option<&'a str>,
    curves: Vec<&'a Curve>,
    unit: (Unit, Option<Unit>),
    span: &'a Span,
    /// The highest point of all charts of the family.
    top: f64,
}

impl Part<'_> {
    fn draw(mut self) -> Drawn {
        let all = self.curves.len();
        let peak =
            |curve: &&Curve| curve.points.iter().map(|point| self.unit.0.of(point)).fold(0.0, f64::max);
        if all > LINES_MAX {
            let mut kept = self.curves.clone();
            kept.sort_by(|a, b| peak(b).total_cmp(&peak(a)));
            kept.truncate(LINES_MAX);
            self.curves.retain(|curve| kept.iter().any(|one| std::ptr::eq(*one, *curve)));
        }
        let axis = Axis::new(self.span);
        let names = self.names();
        let mut data = self.lines(&axis, &names);
        data.extend(marks::published(self.report, &self.curves, self.unit.0, &axis));
        let (limits, highest) = marks::limits(self.report, &self.curves, self.unit.0, &axis, self.top);
        data.extend(limits);
        let legend: Vec<String> = data.iter().filter_map(legend_name).collect();
        let full = self.target.is_none();
        let mut layout = json!({
            "xaxis": axis.layout(),
            "yaxis": { "title": { "text": self.unit.0.title() } },
            "legend": { "font": { "size": 12 } },
            "hovermode": "closest",
        });
        if self.unit.1.is_some() {
            layout["yaxis2"] = json!({
                "title": { "text": "MiB/s (dashed)" }, "rangemode": "tozero", "overlaying": "y", "side": "right",
                "showgrid": false, "automargin": true,
            });
        }
        Drawn {
            place: self.family.group.to_owned(),
            title: self.title(),
            note: self.note(all),
            full,
            data,
            layout,
            top: self.top.max(highest),
            rows: legend_rows(&legend, full),
        }
    }

    fn title(&self) -> String {
        let what = match self.unit {
            (Unit::Megabytes, _) => "Bandwidth",
            (Unit::Transfers, Some(_)) => "IOPS and bandwidth",
            (Unit::Transfers, None) => "IOPS",
            (Unit::Operations(unit), _) => unit,
        };
        let target =
            self.target.map(|target| format!("{}: ", title(self.report, target))).unwrap_or_default();
        format!("{target}{what} against {}", self.span.name())
    }

    /// What must be known to read the chart.
    fn note(&self, all: usize) -> String {
        let mut parts = vec!["Medians of the repetitions that count.".to_owned()];
        if self.target.is_some() {
            parts.push("The same axes for all targets.".to_owned());
        }
        if all > self.curves.len() {
            parts.push(format!("The {} fastest of {all} lines.", self.curves.len()));
        }
        if self.second.is_some() {
            parts.push("Dotted: the second run.".to_owned());
        }
        let client = self.curves.first().map_or("", |curve| client(curve.client));
        if !client.is_empty() {
            parts.push(format!("Clients {client}."));
        }
        parts.join(" ")
    }

    /// The name of each line; none for one that coincides with an earlier one, which then has both
    /// names.
    fn names(&self) -> Vec<Option<String>> {
        let with_target = self.target.is_none() && targets(&self.curves).len() > 1;
        let mut names: Vec<Option<String>> =
            self.curves.iter().map(|curve| Some(line_name(self.report, curve, with_target))).collect();
        for index in 1..self.curves.len() {
            let coincides = |earlier: &usize| {
                names[*earlier].is_some()
                    && self.curves[*earlier].phase == self.curves[index].phase
                    && self.coincide(self.curves[*earlier], self.curves[index])
            };
            if let Some(earlier) = (0..index).find(|earlier| coincides(earlier)) {
                let other = names[index].take().unwrap_or_default();
                if let Some(name) = &mut names[earlier] {
                    name.push_str(&format!(" = {other}"));
                }
            }
        }
        names
    }

    /// Whether the analysis found both lines within the noise of each other.
    fn coincide(&self, one: &Curve, other: &Curve) -> bool {
        let findings = &self.report.found;
        let place = |curve: &Curve| findings.curves.iter().position(|other| std::ptr::eq(curve, other));
        let (Some(one), Some(other)) = (place(one), place(other)) else { return false };
        findings.coincident.iter().any(|group| group.contains(&one) && group.contains(&other))
    }

    fn lines(&self, axis: &Axis<'_>, names: &[Option<String>]) -> Vec<Value> {
        let mut looks: HashMap<String, usize> = HashMap::new();
        let mut data = Vec::new();
        for (curve, name) in self.curves.iter().zip(names) {
            let mut key = curve.target.clone();
            curve.fixed.iter().for_each(|one| key.push_str(&one.value.to_string()));
            // Dashes tell reads from writes; more phases have colours of their own.
            if unit_of(curve.phase) != BYTES_PER_SECOND {
                key.push_str(curve.phase.name());
            }
            let next = looks.len();
            let look = Look::new(*looks.entry(key).or_insert(next), curve.phase);
            let full_name = line_name(self.report, curve, true);
            let trace = Trace { curve, axis, name: name.as_deref(), full_name: &full_name, look };
            data.push(trace.value(self.unit.0, "y"));
            if let Some(right) = self.unit.1 {
                data.push(trace.right(right));
            }
            let other = self.second.and_then(|second| same_curve(second, curve));
            data.extend(other.map(|other| trace.second(other, self.unit.0)));
        }
        data
    }
}

/// A chart whose axes have no ends yet.
struct Drawn {
    place: String,
    title: String,
    note: String,
    full: bool,
    data: Vec<Value>,
    layout: Value,
    /// The highest value on the left axis.
    top: f64,
    /// Rows of its legend.
    rows: usize,
}

impl Drawn {
    fn chart(mut self, id: String, top: f64, rows: usize) -> Chart {
        self.layout["yaxis"]["range"] = json!([0, top * ROOM_ABOVE]);
        self.layout["margin"] = json!({ "t": 14 + LEGEND_ROW_PX * rows, "l": 10, "r": 24, "b": 44 });
        Chart {
            id,
            place: self.place,
            title: self.title,
            note: self.note,
            full: self.full,
            height: if self.full { 380 } else { 300 } + LEGEND_ROW_PX * rows,
            data: self.data,
            layout: self.layout,
        }
    }
}

/// The same curve of another run.
fn same_curve<'a>(other: &'a Report, curve: &Curve) -> Option<&'a Curve> {
    other.found.curves.iter().find(|one| {
        one.group == curve.group
            && one.target == curve.target
            && one.phase == curve.phase
            && one.axis == curve.axis
            && one.fixed == curve.fixed
    })
}

fn legend_name(trace: &Value) -> Option<String> {
    let shown = trace["showlegend"].as_bool().unwrap_or(true);
    shown.then(|| trace["name"].as_str().unwrap_or_default().to_owned())
}
