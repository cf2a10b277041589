//! What curves look like, in sentences.

use super::{place, point, title};
use crate::format::{percent, rate_in};
use crate::text::iops;
use crate::view::Report;
use crate::view::findings::{Curve, Overlay, Regression};

/// Points below which a curve has no shape worth a sentence.
const POINTS_LEAST: usize = 3;
/// Share of the variance below which a straight line is no description of a curve.
const EXPLAINED_LEAST: f64 = 0.9;

/// One sentence for each curve of `group` that has a shape, and for each pair of its curves.
pub(super) fn sentences(report: &Report, group: &str) -> Vec<String> {
    let curves = report.findings.curves.iter().enumerate();
    let of_pairs = report.findings.overlays.iter().filter_map(|one| apart(report, group, one));
    let mut sentences: Vec<String> = curves
        .filter(|(_, curve)| curve.group == group && curve.points.len() >= POINTS_LEAST)
        .filter_map(|(index, curve)| {
            let line = report.findings.regressions.iter().find(|one| one.curve == index);
            sentence(report, curve, line)
        })
        .collect();
    sentences.extend(of_pairs);
    sentences.extend(peaks(report, group));
    sentences
}

/// How the peaks of other workloads compare with that of `group`, said where both are known.
fn peaks(report: &Report, group: &str) -> Vec<String> {
    let curve = |index: usize| report.findings.curves.get(index);
    let pairs =
        report.findings.peaks.iter().filter_map(|one| Some((one, curve(one.first)?, curve(one.second)?)));
    pairs
        .filter(|(_, _, second)| second.group == group)
        .map(|(one, first, second)| {
            let apart = match one.apart {
                Some(apart) => format!("{} apart", percent(apart)),
                None => "no difference shown".to_owned(),
            };
            format!(
                "{} on {} over {}: peak IOPS {apart} ({} in {}, {} in {}).",
                second.phase,
                title(report, &second.target),
                second.axis,
                iops(one.first_transfers_per_second),
                first.group,
                iops(one.second_transfers_per_second),
                second.group
            )
        })
        .collect()
}

/// What tells a curve from the others of its chart: `write on flash, transfer 1 MiB`.
pub(crate) fn line_name(report: &Report, curve: &Curve, with_target: bool) -> String {
    let mut text = curve.phase.to_owned();
    if with_target && !curve.target.is_empty() {
        text.push_str(&format!(" on {}", title(report, &curve.target)));
    }
    let fixed = point(&curve.fixed);
    if !fixed.is_empty() {
        text.push_str(&format!(", {fixed}"));
    }
    text
}

fn sentence(report: &Report, curve: &Curve, line: Option<&Regression>) -> Option<String> {
    let unit = curve.points.first()?.at.unit;
    let at = |value: f64| format!("{} {}", curve.axis, place(value, unit));
    let (shape, mut parts) = (&curve.shape, Vec::new());
    // At the best point itself, or at the last one, such a share says nothing of its own.
    let last = curve.points.last().map(|point| point.x);
    let says = |from: f64| [shape.peak, last].iter().flatten().all(|other| from < *other);
    if let Some(spot) = shape.sweet_spot {
        parts.push(format!("sweet spot at {}", sweet_spot(curve, spot).unwrap_or_else(|| at(spot))));
    }
    if let Some(knee) = shape.knee {
        parts.push(format!("knee at {}", at(knee)));
    }
    if let Some((from, to)) = shape.plateau_from.zip(shape.plateau_to).filter(|(from, to)| from < to) {
        parts.push(format!("within 10 % of the best from {} to {}", at(from), place(to, unit)));
    }
    match (shape.reaches_90_percent, shape.reaches_95_percent) {
        (Some(ninety), Some(more)) if ninety < more && says(more) => {
            parts.push(format!("90 % of the best from {}, 95 % from {}", at(ninety), at(more)));
        }
        (Some(ninety), Some(more)) if ninety < more => {
            parts.push(format!("90 % of the best from {}", at(ninety)));
        }
        (_, Some(more)) if says(more) => parts.push(format!("95 % of the best from {}", at(more))),
        (Some(ninety), None) if says(ninety) => parts.push(format!("90 % of the best from {}", at(ninety))),
        _ => {}
    }
    if let Some((spread, from)) = shape.spread_beyond.zip(shape.reaches_95_percent) {
        parts.push(format!("at most {} below the best beyond {}", percent(spread), at(from)));
    }
    if let Some((period, depth)) = shape.dips_period.zip(shape.dips_depth) {
        let what = if depth < 0.0 { "peaks" } else { "dips" };
        parts.push(format!("{what} of {} every {}", percent(depth.abs()), place(period, unit)));
    }
    parts.extend(line.filter(|line| is_a_line(line)).map(|line| regression(curve, line)));
    // The peak alone stands in the table of best points.
    if parts.is_empty() {
        return None;
    }
    if let Some(peak) = shape.peak.filter(|_| shape.sweet_spot.is_none()) {
        parts.insert(0, format!("best at {}", at(peak)));
    }
    Some(format!("{}: {}.", line_name(report, curve, true), parts.join("; ")))
}

/// How far two curves of `group` are apart.
fn apart(report: &Report, group: &str, one: &Overlay) -> Option<String> {
    let curves = &report.findings.curves;
    let (first, second) = (curves.get(one.first)?, curves.get(one.second)?);
    let unit = first.points.first()?.at.unit;
    (first.group == group).then(|| {
        format!(
            "{} and {}: at most {} apart, at {} {}.",
            line_name(report, first, true),
            line_name(report, second, true),
            percent(one.difference.abs()),
            first.axis,
            place(one.x, unit)
        )
    })
}

/// A share of reads is told as the share of writes as well.
fn sweet_spot(curve: &Curve, at: f64) -> Option<String> {
    (curve.axis == "read_percent").then(|| format!("{:.0} % writes, {at:.0} % reads", 100.0 - at))
}

/// Whether a line says something: its slope is not 0 by its own interval, and it explains the curve.
fn is_a_line(line: &Regression) -> bool {
    line.slope_per_second.abs() > line.slope_half_width_per_second && line.r_squared >= EXPLAINED_LEAST
}

fn regression(curve: &Curve, line: &Regression) -> String {
    format!(
        "a line of {} ± {} for each further {} explains {} of the variance",
        rate_in(line.slope_per_second, line.unit),
        rate_in(line.slope_half_width_per_second, line.unit),
        curve.axis.strip_suffix('s').unwrap_or(&curve.axis),
        percent(line.r_squared)
    )
}
