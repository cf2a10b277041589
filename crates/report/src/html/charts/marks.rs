//! What stands beside own lines: published figures as stars, expected values and limits as lines
//! across the chart.

use analysis::{Beside, Curve, Stated};
use plan::Amount;
use serde_json::{Value, json};

use super::axis::Axis;
use super::sweep::Unit;
use super::{PURPLE, escaped};
use crate::format::percent;
use crate::section::{in_unit, title};
use crate::view::Report;

/// Limits of one chart, each with dashes of its own.
const LIMIT_DASHES: [&str; 4] = ["dash", "longdash", "dot", "longdashdot"];
/// A limit that is more than this many times the highest point would press the lines to the floor.
const FAR: f64 = 2.5;

/// Published figures that belong to one of `curves`; misprints are open stars.
pub(super) fn published(report: &Report, curves: &[&Curve], unit: Unit, axis: &Axis<'_>) -> Vec<Value> {
    let (mut sound, mut misprinted) = (Vec::new(), Vec::new());
    for one in report.found.published.iter().filter_map(Stated::says) {
        let Some(value) = unit.from(one.published, &one.unit) else { continue };
        let Some(place) = curves.iter().find_map(|curve| place(one, curve)) else { continue };
        let point = (axis.at(place), value, words(report, one));
        if one.misprint.is_empty() { sound.push(point) } else { misprinted.push(point) }
    }
    let kinds = [("published", "star", sound), ("published, misprinted", "star-open", misprinted)];
    let some = kinds.into_iter().filter(|(_, _, points)| !points.is_empty());
    some.map(|(name, symbol, points)| stars(name, symbol, &points)).collect()
}

fn stars(name: &str, symbol: &str, points: &[(f64, f64, String)]) -> Value {
    json!({
        "type": "scatter", "mode": "markers", "name": name,
        "x": points.iter().map(|(x, ..)| x).collect::<Vec<_>>(),
        "y": points.iter().map(|(_, y, _)| y).collect::<Vec<_>>(),
        "text": points.iter().map(|(.., text)| text).collect::<Vec<_>>(),
        "hovertemplate": "%{text}<extra></extra>",
        "marker": { "color": PURPLE, "size": 13, "symbol": symbol, "line": { "color": "ink", "width": 1 } },
    })
}

/// Where on the axis of `curve` a published figure stands; none where it is not about it.
fn place(one: &Beside, curve: &Curve) -> Option<f64> {
    let about = one.group.as_ref().is_none_or(|group| *group == curve.group)
        && one.target.as_ref().is_none_or(|target| *target == curve.target)
        && one.phase.is_none_or(|phase| phase == curve.phase);
    if !about {
        return None;
    }
    let stated = one.at.iter().find(|setting| setting.key == curve.axis);
    if let Some(stated) = stated {
        let others = one.at.iter().filter(|setting| setting.key != curve.axis && setting.key != "target");
        let is_fixed = |other: &plan::Setting| curve.fixed.contains(other);
        return others.into_iter().all(is_fixed).then(|| stated.value.on_axis())?;
    }
    let own = one.figure?;
    curve.points.iter().find(|point| point.figure == own).map(|point| point.x)
}

fn words(report: &Report, one: &Beside) -> String {
    let target = one.target.as_deref().map(|target| title(report, target)).unwrap_or_default();
    let mut lines = vec![
        format!("<b>published: {}</b>", escaped(&in_unit(one.published, &one.unit))),
        format!(
            "{} · printed {} ({})",
            escaped(&one.id),
            escaped(&one.as_published),
            escaped(&one.statistic)
        ),
        escaped(&one.source),
    ];
    if !target.is_empty() {
        lines.push(format!("beside {}", escaped(target)));
    }
    if let (Some(own), Some(ratio)) = (one.own, one.ratio) {
        lines.push(format!("own {}, {} of it", escaped(&in_unit(own, &one.unit)), percent(ratio)));
    }
    if !one.misprint.is_empty() {
        lines.push(format!("misprint: {}", escaped(&one.misprint)));
    }
    lines.join("<br>")
}

/// Expected values and limits of the targets of `curves`, and the highest of them that is shown.
pub(super) fn limits(
    report: &Report,
    curves: &[&Curve],
    unit: Unit,
    axis: &Axis<'_>,
    top: f64,
) -> (Vec<Value>, f64) {
    let Some(ends) = axis.ends() else { return (Vec::new(), top) };
    let mut seen: Vec<(String, f64)> = Vec::new();
    for one in report.found.expected.iter().filter_map(Stated::says) {
        let (number, of) = match one.amount {
            Amount::BytesPerSecond(value) => (value, "bytes/s"),
            Amount::OperationsPerSecond(value) => (value, "ops/s"),
            Amount::Latency { .. } => continue,
        };
        let Some(value) = unit.from(number, of) else { continue };
        let about = report.figures.get(one.figure).is_some_and(|figure| {
            curves.iter().any(|curve| {
                curve.group == figure.group
                    && curve.target == figure.target
                    && curve.phase.name() == figure.phase
            })
        });
        let new = !seen.iter().any(|(name, known)| *name == one.name && (known - value).abs() < f64::EPSILON);
        if about && new && value <= top * FAR && seen.len() < LIMIT_DASHES.len() {
            seen.push((one.name.clone(), value));
        }
    }
    let highest = seen.iter().map(|(_, value)| *value).fold(0.0, f64::max);
    let line = |(index, (name, value)): (usize, &(String, f64))| {
        let shown = match unit {
            Unit::Megabytes => crate::format::rate(value * 1e6),
            Unit::Transfers => in_unit(*value, "ops/s"),
            Unit::Operations(name) => crate::format::rate_in(*value, name),
        };
        json!({
            "type": "scatter", "mode": "lines", "name": format!("{}: {shown}", escaped(name)),
            "x": ends, "y": [value, value], "hovertemplate": "%{fullData.name}<extra></extra>",
            "line": { "color": "ink", "dash": LIMIT_DASHES[index % LIMIT_DASHES.len()], "width": 1.2 },
        })
    };
    (seen.iter().enumerate().map(line).collect(), highest)
}
