//! Rates over the number of nodes, with fitted lines, plateaus, and the crossovers of layers.

use analysis::{
    comparisons::PublishedComparison,
    gate::Stated,
    nodes::{Extrapolation, WeakScaling},
    statistics::{Prediction, Regression},
};

use super::axis::{Axis, geometric_steps};
use super::look::{Look, TEXT_COLOUR};
use super::marks::{self, Stars};
use super::plotly::{Chart, Trace, axis};
use super::series::{fixed, target};
use crate::format::BYTES_PER_SECOND;
use crate::format::escape::chart as escaped;
use crate::format::names::unit as unit_of;
use crate::format::{column_unit, counted, divisor, percent, rate_in};
use crate::report::Report;
use crate::section::title;

/// Series of one chart, with their places in the findings: the same phase and the same tasks on each node.
type Family<'a> = Vec<(usize, &'a WeakScaling)>;

/// One chart for each phase of each workload, with all targets.
pub(super) fn charts(report: &Report) -> Vec<Chart> {
    let mut families: Vec<Family<'_>> = Vec::new();
    let series = report.found.weak_scaling.iter().enumerate();
    for (place, one) in series.filter_map(|(place, one)| Some((place, one.says()?))) {
        let belongs = |family: &&mut Family<'_>| {
            family.iter().all(|(_, known)| {
                (known.phase, known.tasks_per_node) == (one.phase, one.tasks_per_node)
                    && known.fixed == one.fixed
                    // Both lines of a target measured from two kinds of clients would have the same name.
                    && (known.client == one.client || known.target != one.target)
                    // Layers with a crossover may belong to separate workloads.
                    && (known.group == one.group || cross(report, place, family))
            })
        };
        match families.iter_mut().find(belongs) {
            Some(family) => family.push((place, one)),
            None => families.push(vec![(place, one)]),
        }
    }
    families.iter().map(|one| chart(report, one)).collect()
}

/// Whether a crossover is known between the series at `place` and one of `family`.
fn cross(report: &Report, place: usize, family: &Family<'_>) -> bool {
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
    let more = family.iter().flat_map(|(place, _)| beyond(report, *place)).map(|more| more.nodes);
    let nodes = points.clone().map(|point| point.nodes).chain(more).map(|nodes| nodes as f64);
    let curves = report.found.curves.iter().filter(|curve| {
        let of = |one: &WeakScaling| {
            (&one.group, &one.target, one.phase) == (&curve.group, &curve.target, curve.phase)
        };
        curve.axis == "nodes" && family.iter().any(|(_, one)| of(one))
    });
    let colour = |one: &PublishedComparison| {
        let of = family.iter().position(|(_, own)| Some(own.target.as_str()) == one.target.as_deref());
        of.map_or(TEXT_COLOUR, |place| Look::of_work(first.phase, place).colour)
    };
    let place = |one: &PublishedComparison| curves.clone().find_map(|curve| marks::place(one, curve));
    let stars = Stars::of(report, unit, place, colour);
    let swept = Axis::new("nodes", "", nodes.chain(stars.places().copied()).collect());
    let top = points.map(|point| point.rate / divisor(unit)).fold(0.0, f64::max);
    let each = family.iter().enumerate();
    let mut data: Vec<Trace> = each
        .flat_map(|(look, member)| series(report, *member, Look::of_work(member.1.phase, look)))
        .collect();
    // Node counts from which a node-local series of the family is faster than a shared one.
    let member = |place: usize| family.iter().any(|(one, _)| *one == place);
    let crossovers = report.found.layer_crossovers.iter().filter_map(Stated::says);
    data.extend(crossovers.filter(|one| member(one.local) && member(one.shared)).filter_map(|one| {
        let nodes = one.nodes?;
        let [fast, slow] = one.targets.each_ref().map(|target| title(report, target));
        let from = counted(nodes, "node");
        let name = format!("{}: {fast} is faster than {slow} from {from} on", one.phase);
        Some(Trace::level(&name, "dashdot", [0.0, top].map(|end| (nodes as f64, end))))
    }));
    data.extend(stars.traces(
        [0.0, stars.top(top)],
        false,
        |&at| swept.is_right(at),
        |&at, value| (swept.at(at).into(), value.into()),
    ));
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
        .of_workload(&first.group)
        .axes(swept.layout(), axis(column_unit(unit)))
        .traces(data)
}

/// What the line of the series at `place` predicts for numbers of nodes that were not measured.
fn beyond(report: &Report, place: usize) -> impl Iterator<Item = &Extrapolation> {
    report.found.extrapolations.iter().filter_map(Stated::says).filter(move |more| more.series == place)
}

/// One series: its points, its fitted line with the interval, its plateau, and extrapolated points.
fn series(report: &Report, (place, one): (usize, &WeakScaling), look: Look) -> Vec<Trace> {
    let unit = unit_of(one.phase);
    let scale = divisor(unit);
    let name = match title(report, &one.target) {
        "" => one.phase.name(),
        title => title,
    };
    let mut data = Vec::new();
    if let Some(fitted) = &one.line {
        let Regression { slope, r_squared, .. } = *fitted;
        // On a logarithmic axis a straight line appears curved, so it is drawn through many points.
        let (low, high) = (one.points[0].nodes as f64, one.points[one.points.len() - 1].nodes as f64);
        let line = geometric_steps(low, high, one.points.len()).map(|nodes| (nodes, fitted.predict(nodes)));
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
        let deviation = Some(point.deviation / scale);
        ((point.nodes, point.rate / scale, words, point.figure + 1), (deviation, deviation))
    });
    data.push(Trace::curve(name, look).points_with_errors("y", points));
    if let Some(full) = &one.saturation {
        let name = format!("{name}: plateau {} from {} nodes", rate_in(full.rate, unit), full.from_nodes);
        let ends = [full.from_nodes, full.to_nodes].map(|nodes| (nodes as f64, full.rate / scale));
        data.push(Trace::level(&name, "dash", ends).with("line.width", 2.5));
    }
    let points = beyond(report, place).map(|more| {
        let words = format!("{} nodes, not measured: {}", more.nodes, rate_in(more.rate, unit));
        let half = more.half_width;
        let bar = (half.map(|half| half / scale), half.map(|half| half.min(more.rate) / scale));
        ((more.nodes, more.rate / scale, words), bar)
    });
    let open = Trace::marks(&format!("{name}: what the line predicts for more nodes"), look)
        .with("marker.symbol", format!("{}-open", look.symbol));
    data.push(open.points_with_errors("y", points));
    data.into_iter().map(|trace: Trace| trace.with("legendgroup", name)).collect()
}
