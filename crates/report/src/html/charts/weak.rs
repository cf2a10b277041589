//! Rates over numbers of nodes with the line through them, plateaus, and where layers meet.

use analysis::{LayerCrossover, Stated, WeakScaling};
use serde_json::{Value, json};

use super::axis::{Axis, Span};
use super::sweep::Unit;
use super::{Chart, DASHES, PALETTE, SHAPES, escaped, marks};
use crate::format::{column_unit, counted, divisor, percent, rate_in};
use crate::section::title;
use crate::view::Report;
use crate::view::findings::Curve;
use crate::words::unit as unit_of;

/// Charts of weak scaling; the table has the rest.
const CHARTS_MAX: usize = 12;

/// Series that are drawn together: one phase of one workload with the same tasks on each node.
struct Family<'a> {
    members: Vec<(usize, &'a WeakScaling)>,
}

/// One chart for each phase of each workload, with all targets.
pub(super) fn charts(report: &Report) -> Vec<Chart> {
    let mut families: Vec<Family<'_>> = Vec::new();
    let series = report.found.weak_scaling.iter().enumerate();
    for (place, one) in series.filter_map(|(place, one)| Some((place, one.says()?))) {
        let alike = |family: &&mut Family<'_>| {
            family.members.iter().all(|(_, known)| {
                known.phase == one.phase
                    && known.tasks_per_node == one.tasks_per_node
                    && known.fixed == one.fixed
                    // One target that is reached in two ways would have one name for two lines.
                    && (known.client == one.client || known.target != one.target)
                    // Layers that meet may be workloads of their own.
                    && (known.group == one.group || meet(report, place, &family.members))
            })
        };
        match families.iter_mut().find(alike) {
            Some(family) => family.members.push((place, one)),
            None => families.push(Family { members: vec![(place, one)] }),
        }
    }
    families.iter().take(CHARTS_MAX).enumerate().map(|(index, one)| chart(report, one, index)).collect()
}

/// Whether a crossover is known between a series and one of `members`.
fn meet(report: &Report, place: usize, members: &[(usize, &WeakScaling)]) -> bool {
    report.found.layer_crossovers.iter().filter_map(Stated::says).any(|one| {
        members.iter().any(|(other, _)| {
            (one.local, one.shared) == (place, *other) || (one.shared, one.local) == (place, *other)
        })
    })
}

/// `write on GPFS, 64 tasks on each node`.
fn series_name(report: &Report, one: &WeakScaling) -> String {
    let target = title(report, &one.target);
    let on = if target.is_empty() { String::new() } else { format!(" on {target}") };
    format!("{}{on}, {} on each node{}", one.phase, counted(one.tasks_per_node, "task"), fixed(one))
}

/// `, transfer 1 MiB`: the other swept keys of a series.
fn fixed(one: &WeakScaling) -> String {
    one.fixed.iter().map(|setting| format!(", {setting}")).collect()
}

fn chart(report: &Report, family: &Family<'_>, index: usize) -> Chart {
    let first = family.members[0].1;
    let points = family.members.iter().flat_map(|(_, one)| &one.points);
    let more = family.members.iter().flat_map(|(_, one)| &one.extrapolated);
    let values = points.map(|point| point.nodes as f64).chain(more.map(|more| more.nodes as f64));
    let span = Span::new("nodes", "", values.collect());
    let axis = Axis::new(&span);
    let top = family.members.iter().flat_map(|(_, one)| &one.points);
    let unit = Unit::named(unit_of(first.phase));
    let top = top.map(|point| point.rate / unit.divisor()).fold(0.0, f64::max);
    let mut data = Vec::new();
    for (place, (_, one)) in family.members.iter().enumerate() {
        data.extend(series(report, one, place));
    }
    data.extend(meetings(report, family, top));
    let curves: Vec<&Curve> = report
        .findings
        .curves
        .iter()
        .filter(|curve| {
            curve.axis == "nodes"
                && family.members.iter().any(|(_, one)| {
                    one.group == curve.group && one.target == curve.target && one.phase.name() == curve.phase
                })
        })
        .collect();
    data.extend(marks::published(report, &curves, unit, &axis));
    let rows = data.iter().filter(|trace| trace["showlegend"] != false).count().div_ceil(3);
    let margin = 14 + 20 * rows;
    Chart {
        id: format!("chart-weak-{index}"),
        place: "weak-scaling".to_owned(),
        title: format!(
            "{}, {} on each node{}: {} over nodes",
            first.phase,
            counted(first.tasks_per_node, "task"),
            fixed(first),
            if unit == Unit::Megabytes { "bandwidth" } else { unit_of(first.phase) }
        ),
        note: "Medians of the repetitions that count, ± their standard deviation. Thin: the line of least squares, with \
               its 95 % interval."
            .to_owned(),
        full: true,
        height: 380 + margin,
        data,
        layout: json!({
            "xaxis": axis.layout(),
            "yaxis": { "title": { "text": unit.title() }, "rangemode": "tozero" },
            "legend": { "font": { "size": 12 } }, "hovermode": "closest",
            "margin": { "l": 10, "r": 24, "t": margin, "b": 44 },
        }),
    }
}

/// The points of one series, its line with the interval, its plateau and what is beyond.
fn series(report: &Report, one: &WeakScaling, place: usize) -> Vec<Value> {
    let (colour, symbol) = (PALETTE[place % PALETTE.len()], SHAPES[place % SHAPES.len()]);
    let target = title(report, &one.target);
    let name = escaped(if target.is_empty() { one.phase.name() } else { target });
    let nodes: Vec<u64> = one.points.iter().map(|point| point.nodes).collect();
    let unit = unit_of(one.phase);
    let (x, scale) = (json!(nodes), divisor(unit));
    let at = |point: &analysis::ScalingPoint| one.line.as_ref().map(|line| line.predict(point.nodes as f64));
    let mut data = Vec::new();
    let band: Option<Vec<(f64, f64)>> = one
        .points
        .iter()
        .map(|point| at(point).and_then(|at| Some((at.value / scale, at.line_half_width? / scale))))
        .collect();
    if let Some(band) = band {
        let edge = |sign: f64| {
            let rates = band.iter().map(|(middle, half)| (middle + sign * half).max(0.0));
            rates.collect::<Vec<f64>>()
        };
        for (sign, fill) in [(-1.0, None), (1.0, Some("tonexty"))] {
            let mut trace = json!({
                "type": "scatter", "mode": "lines", "x": x, "y": edge(sign), "hoverinfo": "skip",
                "showlegend": false, "line": { "color": colour, "width": 0 }, "legendgroup": name,
            });
            if let Some(fill) = fill {
                trace["fill"] = fill.into();
                trace["fillcolor"] = format!("{colour}22").into();
            }
            data.push(trace);
        }
    }
    if let Some(analysis::Regression { slope, r_squared, .. }) = one.line {
        let line = one.points.iter().map(|point| at(point).map(|at| at.value / scale));
        data.push(json!({
            "type": "scatter", "mode": "lines", "x": x, "legendgroup": name, "y": line.collect::<Vec<_>>(),
            "name": format!("{name}: {} for each node, R² {r_squared:.3}", rate_in(slope, unit)),
            "hoverinfo": "skip", "line": { "color": colour, "width": 1.2, "dash": DASHES[2] },
        }));
    }
    let words = one.points.iter().map(|point| {
        let mut text = format!("<b>{}</b>, nodes {}", escaped(&series_name(report, one)), point.nodes);
        if let Some(efficiency) = point.efficiency {
            text.push_str(&format!("<br>efficiency {}", percent(efficiency)));
        }
        text
    });
    data.push(json!({
        "type": "scatter", "mode": "lines+markers", "name": name, "legendgroup": name, "x": x,
        "y": one.points.iter().map(|point| point.rate / scale).collect::<Vec<_>>(),
        "figures": one.points.iter().map(|point| point.figure + 1).collect::<Vec<_>>(),
        "words": words.collect::<Vec<_>>(),
        "error_y": {
            "type": "data", "thickness": 1.2, "width": 3, "color": colour,
            "array": one.points.iter().map(|point| point.deviation / scale).collect::<Vec<_>>(),
        },
        "line": { "color": colour, "width": 2 }, "marker": { "color": colour, "symbol": symbol, "size": 8 },
    }));
    if let Some(full) = &one.saturation {
        let value = full.rate / scale;
        data.push(json!({
            "type": "scatter", "mode": "lines", "legendgroup": name, "x": [full.from_nodes, full.to_nodes], "y": [value, value],
            "name": format!("{name}: plateau {} from {} nodes", rate_in(full.rate, unit), full.from_nodes),
            "hoverinfo": "skip", "line": { "color": "ink", "width": 2.5, "dash": DASHES[1] },
        }));
    }
    // A line that falls says of enough nodes that they move less than nothing.
    let more: Vec<_> = one.extrapolated.iter().filter(|more| more.rate > 0.0).collect();
    if !more.is_empty() {
        let half = |most: fn(f64) -> f64| {
            let halves =
                more.iter().map(|more| more.half_width.map(|half| half.min(most(more.rate)) / scale));
            halves.collect::<Vec<_>>()
        };
        data.push(json!({
            "type": "scatter", "mode": "markers", "legendgroup": name, "name": format!("{name}: what the line says of more nodes"),
            "x": more.iter().map(|more| more.nodes).collect::<Vec<_>>(),
            "y": more.iter().map(|more| more.rate / scale).collect::<Vec<_>>(),
            "error_y": {
                "type": "data", "thickness": 1, "width": 3, "color": colour,
                "symmetric": false, "array": half(|_| f64::INFINITY), "arrayminus": half(|rate| rate),
            },
            "hovertemplate": format!("%{{x}} nodes, not measured: %{{y:,.0f}} {}<extra></extra>", column_unit(unit)),
            "marker": { "color": colour, "symbol": format!("{symbol}-open"), "size": 9 },
        }));
    }
    data
}

/// Where a node-local series of the family overtakes a shared one.
fn meetings(report: &Report, family: &Family<'_>, top: f64) -> Vec<Value> {
    let member = |place: usize| family.members.iter().any(|(one, _)| *one == place);
    let all = report.found.layer_crossovers.iter().filter_map(Stated::says);
    let these = all.filter(|one| member(one.local) && member(one.shared));
    these
        .filter_map(|one| {
            let nodes = one.nodes?;
            Some(json!({
                "type": "scatter", "mode": "lines+markers", "name": escaped(&words(report, one, nodes)),
                "x": [nodes, nodes, nodes], "y": [0.0, one.plateau / divisor(unit_of(one.phase)), top],
                "hovertemplate": "%{fullData.name}<extra></extra>",
                "line": { "color": "ink", "width": 1.4, "dash": DASHES[3] },
                "marker": { "color": "ink", "symbol": "circle-open", "size": [0, 14, 0], "line": { "width": 2 } },
            }))
        })
        .collect()
}

fn words(report: &Report, one: &LayerCrossover, nodes: u64) -> String {
    let [fast, slow] = one.targets.each_ref().map(|target| title(report, target));
    format!("{}: {fast} is faster than {slow} from {} on", one.phase, counted(nodes, "node"))
}
