//! Rates against a swept key, with a line for each target, phase and setting; and every repetition against a
//! swept size.
//!
//! The charts of one sweep have the same axes, which also cover the second run and published figures. Lines that
//! coincide share a legend entry.

use analysis::{
    comparisons::PublishedComparison,
    gate::Stated,
    sweeps::{Curve, CurvePoint, Dispersion},
};
use serde_json::json;

use super::axis::{Axis, unit_of as axis_unit};
use super::look::{Look, TEXT_COLOUR};
use super::marks::{self, Stars};
use super::plotly::{Chart, Trace};
use super::series::{fixed, in_order};
use crate::format::BYTES_PER_SECOND;
use crate::format::escape::chart as escaped;
use crate::format::names::client;
use crate::format::names::unit as unit_of;
use crate::format::{column_unit, compact_rate, divisor, percent, rate_in};
use crate::report::Report;
use crate::report::figure::Figure;
use crate::section::{line_name, title, workload_place};

/// Maximum number of lines of one chart; more cannot be told apart.
const LINES_MAX: usize = 16;
/// Maximum number of lines for which all targets share one chart.
const TOGETHER_MAX: usize = 6;
/// Maximum number of lines with bands of their intervals.
const BANDS_MAX: usize = 6;
/// End of the y axis ÷ highest value.
const HEADROOM: f64 = 1.06;
/// The same where there are figures beyond it.
const HEADROOM_OF_LABELS: f64 = 1.2;

/// The charts of all sweeps; `second` is another run of the same study, drawn dotted.
pub(super) fn charts(report: &Report, second: Option<&Report>) -> Vec<Chart> {
    let families =
        analysis::figures::grouped(&report.found.curves, |one| (&one.group, &one.axis, client(one.client)));
    families.into_iter().flat_map(|curves| of_family(report, second, &in_order(curves))).collect()
}

fn of_family(report: &Report, second: Option<&Report>, curves: &[&Curve]) -> Vec<Chart> {
    let mut parts = analysis::figures::grouped(curves.iter().copied(), |one| &one.target);
    let apart = parts.len() > 1 && curves.len() > TOGETHER_MAX;
    if !apart {
        parts = vec![curves.to_vec()];
    }
    // Too many lines for one chart are split by phase.
    let crowded = |part: &Vec<&Curve>| part.len() > TOGETHER_MAX;
    let by_phase = parts.iter().any(crowded) && curves.iter().any(|curve| curve.phase != curves[0].phase);
    if by_phase {
        parts =
            parts.into_iter().flat_map(|part| analysis::figures::grouped(part, |one| one.phase)).collect();
    }
    let mut charts = Vec::new();
    let units = units(report, curves);
    let half = apart || units.len() > 1;
    for (place, unit) in units.into_iter().enumerate() {
        let stars: Vec<Stars<f64>> = parts
            .iter()
            .map(|part| {
                let beside =
                    |one: &PublishedComparison| part.iter().find_map(|curve| marks::place(one, curve));
                Stars::of(report, unit, beside, |one| colour_beside(part, one))
            })
            .collect();
        let others = curves.iter().filter_map(|curve| of_second(second, curve));
        let all: Vec<&Curve> = curves.iter().copied().chain(others).collect();
        let axis = Axis::of(&all, stars.iter().flat_map(Stars::places).copied());
        let sweep = Sweep { report, second, axis, unit, half, apart, by_phase, in_second_unit: place > 0 };
        let highest = all.iter().map(|curve| sweep.peak(curve)).fold(0.0, f64::max);
        let limits: Vec<_> = parts.iter().map(|part| marks::limits(report, part, unit, highest)).collect();
        let lines = limits.iter().flatten().map(|(.., value)| *value);
        let top = lines.chain(stars.iter().map(|stars| stars.top(highest))).fold(highest, f64::max);
        let each = parts.iter().zip(limits).zip(stars);
        charts.extend(each.map(|((part, limits), stars)| sweep.chart(part, &limits, &stars, top)));
    }
    charts
}

/// The colour of the line among `curves` that a published figure stands beside.
fn colour_beside(curves: &[&Curve], one: &PublishedComparison) -> &'static str {
    let line = curves.iter().find(|curve| marks::place(one, curve).is_some());
    line.map_or(TEXT_COLOUR, |line| look_among(curves, line).colour)
}

/// The look of `line` among the lines of a chart: by its work, then by its place among those of other settings.
fn look_among(curves: &[&Curve], line: &Curve) -> Look {
    let mut settings = Vec::new();
    for curve in curves {
        let setting = (&curve.target, &curve.fixed);
        if !settings.contains(&setting) {
            settings.push(setting);
        }
    }
    let place = settings.iter().position(|one| *one == (&line.target, &line.fixed)).unwrap_or_default();
    Look::of_work(line.phase, place)
}

/// The units of the charts of `curves`: of a sweep over transfer sizes bytes and transfers per second, else the unit
/// that data sheets use for such transfers.
fn units(report: &Report, curves: &[&Curve]) -> Vec<&'static str> {
    let points = curves.iter().flat_map(|curve| &curve.points);
    let mut figures = points.filter_map(|point| report.figures.get(point.figure));
    let is_small = |figure: &Figure| !figure.is_large();
    let mut named = curves.iter().map(|curve| unit_of(curve.phase));
    if let Some(first) = named.next().filter(|unit| *unit != BYTES_PER_SECOND) {
        return vec![if named.all(|unit| unit == first) { first } else { "operations/s" }];
    }
    if curves[0].axis != "transfer" {
        return vec![if figures.all(is_small) { "IOPS" } else { BYTES_PER_SECOND }];
    }
    if figures.any(is_small) { vec![BYTES_PER_SECOND, "IOPS"] } else { vec![BYTES_PER_SECOND] }
}

/// The same curve of the second run.
fn of_second<'a>(second: Option<&'a Report>, curve: &Curve) -> Option<&'a Curve> {
    let key = |one: &Curve| (one.group.clone(), one.target.clone(), one.phase, one.axis.clone());
    let mut others = second.into_iter().flat_map(|second| &second.found.curves);
    others.find(|other| key(other) == key(curve) && other.fixed == curve.fixed)
}

/// What the charts of one sweep in one unit have in common.
struct Sweep<'a> {
    report: &'a Report,
    second: Option<&'a Report>,
    axis: Axis,
    unit: &'static str,
    /// Whether a chart takes half of the page's width.
    half: bool,
    /// Whether each target has a chart of its own.
    apart: bool,
    /// Whether each phase has a chart of its own.
    by_phase: bool,
    /// Whether the same lines have a chart in bytes.
    in_second_unit: bool,
}

impl Sweep<'_> {
    /// The y value of a point.
    fn y(&self, point: &CurvePoint) -> f64 {
        let bytes = self.unit == BYTES_PER_SECOND;
        if bytes { point.bytes_per_second / divisor(self.unit) } else { point.transfers_per_second }
    }

    /// The y values of both ends of the interval of a point's median, else of its lowest and highest repetition.
    fn ends(&self, point: &CurvePoint) -> [f64; 2] {
        let all = &point.headline;
        let ends = all.median_interval.as_ref().map_or([all.min, all.max], |ends| [ends.low, ends.high]);
        ends.map(|end| self.y(point) * end / all.median.max(f64::MIN_POSITIVE))
    }

    fn peak(&self, curve: &Curve) -> f64 {
        curve.points.iter().map(|point| self.ends(point)[1].max(self.y(point))).fold(0.0, f64::max)
    }

    fn chart(
        &self,
        all: &[&Curve],
        limits: &[(String, &'static str, f64)],
        stars: &Stars<f64>,
        top: f64,
    ) -> Chart {
        let mut peaks: Vec<f64> = all.iter().map(|curve| self.peak(curve)).collect();
        peaks.sort_by(|one, other| other.total_cmp(one));
        let least = peaks.get(LINES_MAX - 1).copied().unwrap_or_default();
        let fast = all.iter().copied().filter(|curve| self.peak(curve) >= least);
        let curves: Vec<&Curve> = fast.take(LINES_MAX).collect();
        let [low, high] = self.axis.ends();
        let right = |&at: &f64| self.axis.is_right(at);
        // The values of figures beyond the axis stand above all lines.
        let (headroom, end) = match stars.has_beyond(top) {
            true => (HEADROOM_OF_LABELS, top * (HEADROOM_OF_LABELS + 1.0) / 2.0),
            false => (HEADROOM, top),
        };
        let stars =
            stars.traces([0.0, end], false, right, |&at, value| (self.axis.at(at).into(), value.into()));
        let limits = limits
            .iter()
            .map(|(name, dash, value)| Trace::level(name, dash, [(low, *value), (high, *value)]));
        let y = json!({ "title": { "text": column_unit(self.unit) }, "range": [0, top * headroom] });
        let kind = if self.in_second_unit { "sweep-iops" } else { "sweep" };
        let chart = Chart::new(
            kind,
            &workload_place(&curves[0].group),
            self.title(curves[0]),
            self.note(&curves, all.len()),
        );
        let chart = chart.of_workload(&curves[0].group).half(self.half).axes(self.axis.layout(), y);
        chart.traces(self.lines(&curves).into_iter().chain(stars).chain(limits))
    }

    fn title(&self, first: &Curve) -> String {
        let what = if self.unit == BYTES_PER_SECOND { "Bandwidth" } else { self.unit };
        let of = if self.apart { format!("{}: ", title(self.report, &first.target)) } else { String::new() };
        let phase = if self.by_phase { format!(" of {}", first.phase) } else { String::new() };
        format!("{of}{what}{phase} against {}", self.axis.name())
    }

    /// How to read the chart.
    fn note(&self, curves: &[&Curve], all: usize) -> String {
        let client = client(curves[0].client);
        let banded = curves.len() <= BANDS_MAX
            && curves.iter().any(|curve| !self.band(curve, TEXT_COLOUR.into()).is_empty());
        let parts = [
            (true, "Medians of the repetitions that count.".to_owned()),
            (
                banded,
                "Band: the interval of the median from six repetitions on, else lowest to highest."
                    .to_owned(),
            ),
            (
                curves.iter().any(|curve| curve.points.iter().any(|point| !point.usable)),
                "Crosses: the audit disqualified the figure.".to_owned(),
            ),
            (self.apart, "The same axes for all targets.".to_owned()),
            (all > curves.len(), format!("The {} fastest of {all} lines.", curves.len())),
            (!client.is_empty(), format!("Clients {client}.")),
        ];
        let said = parts.into_iter().filter_map(|(says, words)| says.then_some(words));
        said.collect::<Vec<_>>().join(" ")
    }

    /// The lines of `curves`. The first of coinciding lines is named after all of them.
    fn lines(&self, curves: &[&Curve]) -> Vec<Trace> {
        let with_target = curves.iter().any(|curve| curve.target != curves[0].target);
        let mut coinciding: Vec<Vec<&Curve>> = Vec::new();
        for curve in curves {
            match coinciding.iter_mut().find(|group| self.coincide(group[0], curve)) {
                Some(group) => group.push(curve),
                None => coinciding.push(vec![curve]),
            }
        }
        let (mut data, mut others) = (Vec::new(), Vec::new());
        for curve in curves {
            let look = look_among(curves, curve);
            let named = coinciding.iter().find(|group| std::ptr::eq(group[0], *curve));
            let names = named.into_iter().flatten().map(|one| line_name(self.report, one, with_target));
            let names: Vec<String> = names.collect();
            let bands = if curves.len() <= BANDS_MAX { self.band(curve, look) } else { Vec::new() };
            let group = format!("{} {}{}", curve.phase, curve.target, fixed(&curve.fixed));
            let line = self.line(curve, look, &names.join(" = "));
            let doubtful = self.doubtful(curve, look);
            let traces = bands.into_iter().chain([line, doubtful]);
            data.extend(traces.map(|one| one.with("legendgroup", &*group)));
            others.extend(of_second(self.second, curve).map(|other| self.other(other, look)));
        }
        // One legend entry for all lines of the second run.
        let named = others.into_iter().enumerate().map(|(place, one): (usize, Trace)| one.hidden(place > 0));
        data.extend(named);
        data
    }

    /// The band of the usable points' intervals, if each of them has several repetitions.
    fn band(&self, curve: &Curve, look: Look) -> Vec<Trace> {
        if curve.usable().any(|point| point.headline.n < 2) {
            return Vec::new();
        }
        let end = |at: usize| {
            let end = move |point: &CurvePoint| (self.axis.at(point.x), self.ends(point)[at]);
            curve.usable().map(end).collect()
        };
        Trace::band(look, [end(0), end(1)]).into()
    }

    /// Whether the analysis found both lines within the noise of each other.
    fn coincide(&self, one: &Curve, other: &Curve) -> bool {
        let found = &self.report.found;
        let is_in =
            |group: &[usize], curve| group.iter().any(|&place| std::ptr::eq(&found.curves[place], curve));
        one.phase == other.phase
            && found.coincident.iter().any(|group| is_in(group, one) && is_in(group, other))
    }

    /// The line of `curve` with the legend entry `shown`.
    fn line(&self, curve: &Curve, look: Look, shown: &str) -> Trace {
        let figures: Vec<usize> = curve.points.iter().map(|point| point.figure + 1).collect();
        let line = self.draw(curve, &line_name(self.report, curve, true), look);
        line.with("name", escaped(shown)).with("figures", figures).hidden(shown.is_empty())
    }

    /// A line of the second run.
    fn other(&self, curve: &Curve, look: Look) -> Trace {
        let name = format!("{}, second run", line_name(self.report, curve, true));
        let line = self.draw(curve, &name, Look { dash: "dot", ..look });
        let open = format!("{}-open", look.symbol);
        line.with("marker.symbol", open).with("name", "the second run").with("legendgroup", "second")
    }

    fn draw(&self, curve: &Curve, name: &str, look: Look) -> Trace {
        let size = match curve.points.len() {
            0..=40 => 7,
            41..=100 => 4,
            _ => 2,
        };
        // A disqualified point leaves a gap in the line.
        let point = |point: &CurvePoint| {
            let y = Some(self.y(point)).filter(|_| point.usable);
            (self.axis.at(point.x), y, self.words(name, point))
        };
        Trace::curve(name, look).with("marker.size", size).points(curve.points.iter().map(point))
    }

    /// The disqualified points of `curve`, each with what speaks against it.
    fn doubtful(&self, curve: &Curve, look: Look) -> Trace {
        let name = line_name(self.report, curve, true);
        let points = curve.points.iter().filter(|point| !point.usable).map(|point| {
            let against = self.report.figures.get(point.figure).map(|figure| figure.doubts.join(", "));
            let words =
                format!("{}<br>not usable: {}", self.words(&name, point), against.unwrap_or_default());
            (self.axis.at(point.x), self.y(point), words, point.figure + 1)
        });
        Trace::marks(&name, Look { symbol: "x-open", ..look }).hidden(true).points(points)
    }

    /// Hover text before the conditions: the line, the position, and limits of the rate.
    fn words(&self, name: &str, point: &CurvePoint) -> String {
        let mut text = format!("<b>{}</b>, {}", escaped(name), escaped(&self.axis.words(point.x)));
        if let Some(bound) = point.balance_bound.filter(|&bound| bound < 1.0) {
            text.push_str(&format!("<br>tasks allow {} of the sum", percent(bound)));
        }
        if let Some(ratio) = point.little {
            text.push_str(&format!("<br>Little's law: {} of the transfers in flight", percent(ratio)));
        }
        text
    }
}

/// Least number of values of each key of a map.
const MAP_LEAST: usize = 3;

/// The rates over two swept keys as a map, where their lines would be too many for one chart.
pub(super) fn maps(report: &Report) -> Vec<Chart> {
    let families =
        analysis::figures::grouped(&report.found.curves, |one| (&one.group, &one.target, one.phase));
    families.into_iter().filter_map(|curves| map(report, &curves)).collect()
}

fn map(report: &Report, curves: &[&Curve]) -> Option<Chart> {
    let axis = &curves[0].axis;
    let lines: Vec<&Curve> = curves.iter().copied().filter(|one| one.axis == *axis).collect();
    let key = match lines[0].fixed.as_slice() {
        [only] => only.key.as_str(),
        _ => return None,
    };
    let value = |curve: &Curve| match curve.fixed.as_slice() {
        [only] if only.key == key => Some((only.value.on_axis()?, axis_unit(&only.value))),
        _ => None,
    };
    let values: Option<Vec<(f64, &'static str)>> = lines.iter().map(|one| value(one)).collect();
    let values = values?;
    let is_crowded = lines.len() > TOGETHER_MAX / 2 && lines.len() >= MAP_LEAST;
    let is_told = lines.iter().any(|one| one.usable().next().is_some());
    if !is_crowded || !is_told || lines.iter().all(|one| one.points.len() < MAP_LEAST) {
        return None;
    }
    let across = Axis::of(&lines, []);
    let up = Axis::new(key, values[0].1, values.iter().map(|(value, _)| *value).collect());
    let unit = units(report, &lines)[0];
    let scale = divisor(unit);
    let mut columns: Vec<f64> = lines.iter().flat_map(|one| &one.points).map(|point| point.x).collect();
    columns.sort_by(f64::total_cmp);
    columns.dedup();
    let mut rows: Vec<(f64, &Curve)> =
        values.iter().map(|(value, _)| *value).zip(lines.iter().copied()).collect();
    rows.sort_by(|one, other| one.0.total_cmp(&other.0));
    let rate = |point: &CurvePoint| match unit {
        BYTES_PER_SECOND => point.bytes_per_second,
        _ => point.transfers_per_second,
    };
    let (mut z, mut words, mut text) = (Vec::new(), Vec::new(), Vec::new());
    for (value, curve) in &rows {
        let cells = columns.iter().map(|&x| curve.points.iter().find(|point| point.x == x));
        let told = |point: Option<&CurvePoint>| {
            let (Some(point), at) = (point, up.words(*value)) else { return String::new() };
            let place = format!("{}, {}", escaped(&across.words(point.x)), escaped(&at));
            match point.usable {
                true => format!("<b>{place}</b>: {}", rate_in(rate(point), unit)),
                false => format!("<b>{place}</b>: the audit disqualified it"),
            }
        };
        let usable = |point: Option<&CurvePoint>| point.filter(|point| point.usable).map(&rate);
        z.push(cells.clone().map(|point| usable(point).map(|rate| rate / scale)).collect::<Vec<_>>());
        text.push(
            cells
                .clone()
                .map(|point| usable(point).map_or_else(|| "–".to_owned(), |rate| compact_rate(rate, unit)))
                .collect::<Vec<_>>(),
        );
        words.push(cells.map(told).collect::<Vec<_>>());
    }
    let names = |axis: &Axis, values: &[f64]| -> Vec<String> {
        values.iter().map(|&value| axis.name_of(value)).collect()
    };
    let places: Vec<f64> = rows.iter().map(|(value, _)| *value).collect();
    let target = title(report, &lines[0].target);
    let on = if target.is_empty() { String::new() } else { format!(" on {target}") };
    let heading =
        format!("{} {}{on} over {} and {}", lines[0].group, lines[0].phase, across.name(), up.name());
    let note =
        format!("Medians in {}; darker is faster. A dash: not measured, or disqualified.", column_unit(unit));
    let trace = Trace::map(names(&across, &columns), names(&up, &places), z, text, words);
    let named =
        |axis: &Axis| json!({ "type": "category", "title": { "text": axis.name() }, "showgrid": false });
    Some(
        Chart::new("map", &workload_place(&lines[0].group), heading, note)
            .of_workload(&lines[0].group)
            .half(true)
            .height(120 + 34 * places.len())
            .axes(named(&across), named(&up))
            .traces([trace]),
    )
}

/// One chart for each dispersion.
pub(super) fn dispersions(report: &Report) -> Vec<Chart> {
    let all = report.found.dispersion.iter().filter_map(Stated::says).filter(|one| one.points.len() > 1);
    all.map(|one| dispersion(report, one)).collect()
}

fn dispersion(report: &Report, one: &Dispersion) -> Chart {
    let curve = &one.curve;
    let points: Vec<&CurvePoint> = one.points.iter().map(|one| &one.point).collect();
    let places = points.iter().map(|point| point.x);
    let swept = Axis::new(&curve.axis, axis_unit(&points[0].at), places.collect());
    let look = Look::of_work(curve.phase, 0);
    let unit = unit_of(curve.phase);
    let medians = points.iter().map(|point| (swept.at(point.x), point.headline.median / divisor(unit)));
    let repetitions: Vec<_> = points
        .iter()
        .flat_map(|point| {
            let (swept, figure) = (&swept, &report.figures[point.figure]);
            let values = figure.counted().filter_map(|pass| figure.headline_of(pass));
            values.zip(1..).map(move |(value, number)| {
                let words = format!(
                    "<b>{}</b>, value {number} of {}: {}; all vary by {}",
                    swept.words(point.x),
                    point.headline.n,
                    rate_in(value, unit),
                    percent(point.headline.variation)
                );
                (swept.at(point.x), value / divisor(unit), words, point.figure + 1)
            })
        })
        .collect();
    let top = repetitions.iter().map(|(_, value, ..)| *value).fold(0.0, f64::max) * HEADROOM;
    let onset = points.iter().find(|point| Some(&point.at) == one.onset.as_ref()).map(|point| {
        let name = format!("spread begins at {}", swept.words(point.x));
        let x = swept.at(point.x);
        Trace::level(&name, "dash", [(x, 0.0), (x, top)])
    });
    let open =
        Trace::marks("every repetition", look).with("marker.symbol", "circle-open").points(repetitions);
    let heading = format!("{}, {} of {}", title(report, &curve.target), curve.phase, curve.group);
    let y = json!({ "title": { "text": column_unit(unit) }, "range": [0, top] });
    Chart::new("dispersion", "repetitions", heading, "Every repetition at every size.")
        .of_workload(&curve.group)
        .half(points.len() <= 12)
        .axes(swept.layout(), y)
        .traces([Trace::lines("median", look).points(medians), open].into_iter().chain(onset))
}
