//! Rates over numbers of nodes with the fitted line, plateaus, and crossovers of layers.

use analysis::{
    gate::Stated,
    nodes::WeakScaling,
    statistics::{Prediction, Regression},
};

use super::axis::Axis;
use super::look::Look;
use super::marks::{self, Stars};
use super::plotly::{Chart, Trace, axis};
use super::series::{fixed, target};
use crate::escape::chart as escaped;
use crate::format::BYTES_PER_SECOND;
use crate::format::{column_unit, counted, divisor, percent, rate_in};
use crate::report::Report;
use crate::section::title;
use crate::words::unit as unit_of;

/// Series that are drawn together, by their places in the findings: one phase with the same tasks on each node.
type Family<'a> = Vec<(usize, &'a WeakScaling)>;

/// One chart for each phase of each workload, with all targets.
pub(super) fn charts(report: &Report) -> Vec<Chart> {
    let mut families: Vec<Family<'_>> = Vec::new();
    let series = report.found.weak_scaling.iter().enumerate();
    for (place, one) in series.filter_map(|(place, one)| Some((place, one.says()?))) {
        let alike = |family: &&mut Family<'_>| {
            family.iter().all(|(_, known)| {
                (known.phase, known.tasks_per_node) == (one.phase, one.tasks_per_node)
                    && known.fixed == one.fixed
                    // One target that is reached in two ways would have one name for two lines.
                    && (known.client == one.client || known.target != one.target)
                    // Crossing layers may belong to separate workloads.
                    && (known.group == one.group || meet(report, place, family))
            })
        };
        match families.iter_mut().find(alike) {
            Some(family) => family.push((place, one)),
            None => families.push(vec![(place, one)]),
        }
    }
    families.iter().map(|one| chart(report, one)).collect()
}

/// Whether a crossover is known between a series and one of `family`.
fn meet(report: &Report, place: usize, family: &Family<'_>) -> bool {
    let is_member = |other: usize| family.iter().any(|(member, _)| *member == other);
    report
        .found
        .layer_crossovers
        .iter()
        .filter_map(Stated::says)
        .any(|one| one.local == place && is_member(one.shared) || one.shared == place && is_member(one.local))
}

fn chart(report: &Report, family: &Family<'_>) -> Chart {
    let first = family[0].1;
    let unit = unit_of(first.phase);
    let points = family.iter().flat_map(|(_, one)| &one.points);
    let more = family.iter().flat_map(|(_, one)| &one.extrapolated).map(|more| more.nodes);
    let nodes = points.clone().map(|point| point.nodes).chain(more).map(|nodes| nodes as f64);
    let curves = report.found.curves.iter().filter(|curve| {
        let of = |one: &WeakScaling| {
            (&one.group, &one.target, one.phase) == (&curve.group, &curve.target, curve.phase)
        };
        curve.axis == "nodes" && family.iter().any(|(_, one)| of(one))
    });
    let stars = Stars::of(report, unit, |one| curves.clone().find_map(|curve| marks::place(one, curve)));
    let swept = Axis::new("nodes", "", nodes.chain(stars.places().copied()).collect());
    let top = points.map(|point| point.rate / divisor(unit)).fold(0.0, f64::max);
    let each = family.iter().enumerate();
    let mut data: Vec<Trace> =
        each.flat_map(|(place, (_, one))| series(report, one, Look::of_work(one.phase, place))).collect();
    // Where a node-local series of the family overtakes a shared one.
    let member = |place: usize| family.iter().any(|(one, _)| *one == place);
    let crossovers = report.found.layer_crossovers.iter().filter_map(Stated::says);
    data.extend(crossovers.filter(|one| member(one.local) && member(one.shared)).filter_map(|one| {
        let nodes = one.nodes?;
        let [fast, slow] = one.targets.each_ref().map(|target| title(report, target));
        let from = counted(nodes, "node");
        let name = format!("{}: {fast} is faster than {slow} from {from} on", one.phase);
        Some(Trace::level(&name, "dashdot", [0.0, top].map(|end| (nodes as f64, end))))
    }));
    data.extend(stars.traces([0.0, stars.top(top)], false, |&at, value| (swept.at(at).into(), value.into())));
    let heading = format!(
        "{}, {} on each node{}: {} over nodes",
        first.phase,
        counted(first.tasks_per_node, "task"),
        fixed(&first.fixed),
        if unit == BYTES_PER_SECOND { "bandwidth" } else { unit }
    );
    let note = "Medians of the repetitions that count, ± their standard deviation. Thin: the line of least squares, \
                with its 95 % interval.";
    Chart::new("weak", "weak-scaling", heading, note)
        .axes(swept.layout(), axis(column_unit(unit)))
        .traces(data)
}

/// Places between two numbers of nodes at which a line is drawn.
const STEPS: usize = 12;

/// The points of one series, its line with the interval, its plateau and what is beyond.
fn series(report: &Report, one: &WeakScaling, look: Look) -> Vec<Trace> {
    let unit = unit_of(one.phase);
    let scale = divisor(unit);
    let name = match title(report, &one.target) {
        "" => one.phase.name(),
        title => title,
    };
    let mut data = Vec::new();
    if let Some(fitted) = &one.line {
        let Regression { slope, r_squared, .. } = *fitted;
        // A straight line is curved on a logarithmic axis: it is drawn through many positions, spaced by a
        // constant factor.
        let (low, high) = (one.points[0].nodes as f64, one.points[one.points.len() - 1].nodes as f64);
        let count = STEPS * one.points.len();
        let places = (0..=count).map(|step| low * (high / low).powf(step as f64 / count as f64));
        let line = places.map(|nodes| (nodes, fitted.predict(nodes)));
        let edge = |sign: f64| {
            let edge = |(nodes, at): (f64, Prediction)| {
                Some((nodes, ((at.value + sign * at.line_half_width?) / scale).max(0.0)))
            };
            line.clone().filter_map(edge).collect::<Vec<_>>()
        };
        data.extend(Trace::band(look, [edge(-1.0), edge(1.0)]));
        let name = format!("{name}: {} for each node, R² {r_squared:.3}", rate_in(slope, unit));
        let points = line.map(|(nodes, at)| (nodes, at.value / scale));
        data.push(Trace::lines(&name, look).with("line.width", 1.2).points(points));
    }
    let points = one.points.iter().map(|point| {
        let (on, tasks) = (target(report, "on", &one.target), counted(one.tasks_per_node, "task"));
        let series = format!("{}{on}, {tasks} on each node{}", one.phase, fixed(&one.fixed));
        let mut words = format!("<b>{}</b>, nodes {}", escaped(&series), point.nodes);
        if let Some(efficiency) = point.efficiency {
            words.push_str(&format!("<br>efficiency {}", percent(efficiency)));
        }
        (point.nodes, point.rate / scale, words, point.figure + 1)
    });
    let deviations = one.points.iter().map(|point| Some(point.deviation / scale));
    let curve = Trace::curve(name, look).points(points);
    data.push(curve.whiskers("y", deviations.map(|deviation| (deviation, deviation))));
    if let Some(full) = &one.saturation {
        let name = format!("{name}: plateau {} from {} nodes", rate_in(full.rate, unit), full.from_nodes);
        let ends = [full.from_nodes, full.to_nodes].map(|nodes| (nodes as f64, full.rate / scale));
        data.push(Trace::level(&name, "dash", ends).with("line.width", 2.5));
    }
    // A falling line would predict negative rates for enough nodes.
    let more = || one.extrapolated.iter().filter(|more| more.rate > 0.0);
    let points = more().map(|more| {
        let words = format!("{} nodes, not measured: {}", more.nodes, rate_in(more.rate, unit));
        (more.nodes, more.rate / scale, words)
    });
    let halves = more().map(|more| {
        let half = more.half_width;
        (half.map(|half| half / scale), half.map(|half| half.min(more.rate) / scale))
    });
    let open = Trace::marks(&format!("{name}: what the line says of more nodes"), look)
        .with("marker.symbol", format!("{}-open", look.symbol));
    data.push(open.points(points).whiskers("y", halves));
    data.into_iter().map(|trace: Trace| trace.with("legendgroup", name)).collect()
}
