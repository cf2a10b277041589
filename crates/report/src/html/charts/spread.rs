//! Every repetition against a swept size, and the best of each target side by side.

use analysis::{Dispersion, Kind, Stated};
use serde_json::{Value, json};

use super::axis::{Axis, Span, unit_of as axis_unit};
use super::{BLUE, Chart, GREEN, ORANGE, PURPLE, SKY, VERMILLION, escaped};
use crate::format::{column_unit, divisor, percent, rate_in};
use crate::section::{in_unit, title};
use crate::view::{Figure, Report};
use crate::words::unit as unit_of;

/// Charts of dispersion; the table has the rest.
const DISPERSIONS_MAX: usize = 12;

/// One chart for each dispersion.
pub(super) fn dispersions(report: &Report) -> Vec<Chart> {
    report
        .found
        .dispersion
        .iter()
        .filter_map(Stated::says)
        .filter(|one| one.points.len() > 1)
        .take(DISPERSIONS_MAX)
        .enumerate()
        .map(|(index, one)| dispersion(report, one, index))
        .collect()
}

fn dispersion(report: &Report, one: &Dispersion, index: usize) -> Chart {
    let unit = one.points.first().map_or("", |point| axis_unit(&point.at));
    let span = Span::new(&one.axis, unit, one.points.iter().map(|point| point.x).collect());
    let axis = Axis::new(&span);
    let (mut x, mut y, mut figures, mut words) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for point in &one.points {
        for (number, value) in point.repetitions.iter().enumerate() {
            x.push(axis.at(point.x));
            y.push(value / divisor(unit_of(one.phase)));
            figures.push(point.figure + 1);
            let varies = percent(point.variation);
            words.push(format!(
                "<b>{}</b>, value {} of {}: {}; all vary by {varies}",
                axis.words(point.x),
                number + 1,
                point.repetitions.len(),
                rate_in(*value, unit_of(one.phase))
            ));
        }
    }
    let median = |figure: usize| {
        report.figures.get(figure).map(|own| own.headline().median / divisor(unit_of(one.phase)))
    };
    let top = y.iter().copied().fold(0.0, f64::max) * 1.06;
    let mut data = vec![
        json!({
            "type": "scatter", "mode": "lines", "name": "median", "hoverinfo": "skip",
            "x": one.points.iter().map(|point| axis.at(point.x)).collect::<Vec<_>>(),
            "y": one.points.iter().map(|point| median(point.figure)).collect::<Vec<_>>(),
            "line": { "color": BLUE, "width": 1.6 },
        }),
        json!({
            "type": "scatter", "mode": "markers", "name": "every repetition", "x": x, "y": y,
            "figures": figures, "words": words, "opacity": 0.85,
            "marker": { "color": BLUE, "symbol": "circle-open", "size": 9, "line": { "width": 1.6 } },
        }),
    ];
    let onset = one.points.iter().find(|point| Some(&point.at) == one.onset.as_ref());
    if let Some(onset) = onset.map(|point| point.x) {
        data.push(json!({
            "type": "scatter", "mode": "lines", "name": format!("spread begins at {}", axis.words(onset)),
            "x": [axis.at(onset), axis.at(onset)], "y": [0, top], "hoverinfo": "skip",
            "line": { "color": VERMILLION, "dash": "dash", "width": 1.4 },
        }));
    }
    Chart {
        id: format!("chart-dispersion-{index}"),
        place: "repetitions".to_owned(),
        title: format!("{}, {} of {}", title(report, &one.target), one.phase, one.group),
        note: "Every repetition at every size.".to_owned(),
        full: one.points.len() > 12,
        height: 360,
        data,
        layout: json!({
            "xaxis": axis.layout(), "yaxis": { "title": { "text": column_unit(unit_of(one.phase)) }, "range": [0, top] }, "hovermode": "closest",
        }),
    }
}

/// The best of each target beside each other, one chart for each workload with several targets.
pub(super) fn comparisons(report: &Report) -> Vec<Chart> {
    let best: Vec<&Figure> = report
        .statements
        .stated(Kind::Best)
        .filter_map(|row| report.figures.get(*row.figures.first()?))
        .collect();
    let mut groups: Vec<&str> = Vec::new();
    for one in &best {
        if !groups.contains(&one.group.as_str()) {
            groups.push(&one.group);
        }
    }
    let mut charts = Vec::new();
    for group in groups {
        let these: Vec<&Figure> = best.iter().copied().filter(|one| one.group == group).collect();
        let several = these.iter().any(|one| one.target != these[0].target);
        if several {
            charts.push(comparison(report, group, &these, charts.len()));
        }
    }
    charts
}

fn comparison(report: &Report, group: &str, best: &[&Figure], index: usize) -> Chart {
    let small = best.iter().all(|one| !one.is_large());
    let value =
        |spread_bytes: f64, spread_transfers: f64| if small { spread_transfers } else { spread_bytes / 1e6 };
    let mut phases: Vec<&str> = vec!["read", "write", "mixed"];
    for one in best {
        if !phases.contains(&one.phase) {
            phases.push(one.phase);
        }
    }
    let looks = [(BLUE, ""), (VERMILLION, "/"), (GREEN, "x"), (ORANGE, "-"), (PURPLE, "|"), (SKY, "+")];
    let operations = best.iter().any(|one| one.is_operations());
    let mut data: Vec<Value> = Vec::new();
    for (place, phase) in phases.into_iter().enumerate() {
        let (colour, pattern) = looks[place % looks.len()];
        let these: Vec<&Figure> = best.iter().copied().filter(|one| one.phase == phase).collect();
        if these.is_empty() {
            continue;
        }
        let ends = |figure: &Figure| {
            let (bytes, transfers) = (&figure.bytes_per_second, &figure.transfers_per_second);
            let low = bytes.interval_low.zip(transfers.interval_low).map(|(b, t)| value(b, t));
            let high = bytes.interval_high.zip(transfers.interval_high).map(|(b, t)| value(b, t));
            low.zip(high)
        };
        let median =
            |figure: &Figure| value(figure.bytes_per_second.median, figure.transfers_per_second.median);
        let above = |figure: &Figure| ends(figure).map_or(0.0, |(_, high)| high - median(figure));
        let below = |figure: &Figure| ends(figure).map_or(0.0, |(low, _)| median(figure) - low);
        data.push(json!({
            "type": "bar", "name": phase,
            "x": these.iter().map(|one| escaped(title(report, &one.target))).collect::<Vec<_>>(),
            "y": these.iter().map(|figure| median(figure)).collect::<Vec<_>>(),
            "labels": these.iter().map(|figure| crate::section::headline(figure)).collect::<Vec<_>>(),
            "textposition": "outside", "cliponaxis": false, "textfont": { "size": 12 },
            "error_y": {
                "type": "data", "symmetric": false, "color": "ink", "thickness": 1.4, "width": 5,
                "array": these.iter().map(|figure| above(figure)).collect::<Vec<_>>(),
                "arrayminus": these.iter().map(|figure| below(figure)).collect::<Vec<_>>(),
            },
            "figures": these.iter().map(|one| one.number).collect::<Vec<_>>(),
            "words": these.iter().map(|one| format!("<b>best {phase} on {}</b> of its sweep", escaped(title(report, &one.target)))).collect::<Vec<_>>(),
            "marker": { "color": colour, "pattern": pattern_of(pattern) },
        }));
    }
    data.extend(published(report, best, small));
    Chart {
        id: format!("chart-comparison-{index}"),
        place: "best".to_owned(),
        title: format!("Best of each target: {group}"),
        note: "The best point of each sweep by the median; the line is the interval of the median."
            .to_owned(),
        full: true,
        height: 420,
        data,
        layout: json!({
            "barmode": "group", "bargap": 0.28, "hovermode": "closest",
            "xaxis": { "type": "category" },
            "yaxis": { "title": { "text": match (operations, small) {
                (true, _) => "operations/s",
                (false, true) => "IOPS",
                (false, false) => "MB/s",
            } }, "rangemode": "tozero" },
        }),
    }
}

/// Hatching, which says the same as the colour; an empty shape knows nothing of size.
pub(super) fn pattern_of(shape: &str) -> Value {
    if shape.is_empty() {
        return json!({ "shape": "" });
    }
    json!({ "shape": shape, "fillmode": "overlay", "size": 7, "solidity": 0.35 })
}

/// Published figures beside the best of their target.
fn published(report: &Report, best: &[&Figure], small: bool) -> Option<Value> {
    let (mut x, mut y, mut text, mut labels) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for one in report.found.published.iter().filter_map(analysis::Stated::says) {
        let own = best.iter().find(|best| {
            one.target.as_ref().is_some_and(|target| *target == best.target)
                && one.group.as_ref().is_none_or(|group| *group == best.group)
                && one.phase.map(plan::Phase::name) == Some(best.phase)
        });
        let value = match one.unit.as_str() {
            "bytes/s" if !small => one.published / 1e6,
            "ops/s" if small => one.published,
            _ => continue,
        };
        let Some(own) = own.filter(|own| one.figure == Some(own.number - 1)) else { continue };
        x.push(escaped(title(report, &own.target)));
        y.push(value);
        let phase = one.phase.map(plan::Phase::name).unwrap_or_default();
        labels.push(format!("{phase} {}", in_unit(one.published, &one.unit)));
        text.push(format!(
            "<b>published {}: {}</b><br>{}<br>{}",
            phase,
            escaped(&one.as_published),
            escaped(&one.id),
            escaped(&one.source)
        ));
    }
    (!x.is_empty()).then(|| {
        json!({
            "type": "scatter", "mode": "markers+text", "name": "published", "x": x, "y": y, "text": labels,
            "textposition": "middle right", "textfont": { "size": 11 }, "cliponaxis": false,
            "hovertext": text, "hovertemplate": "%{hovertext}<extra></extra>",
            "marker": { "color": PURPLE, "size": 13, "symbol": "star", "line": { "color": "ink", "width": 1 } },
        })
    })
}
