//! References beside measured series: published figures as stars, expected values and limits as lines across
//! the chart.

use std::cmp::Ordering;

use analysis::{comparisons::PublishedComparison, gate::Stated, sweeps::Curve};
use plan::Amount;
use serde_json::Value;

use super::look::INK;
use super::plotly::Trace;
use super::series::grouped;
use crate::escape::chart as escaped;
use crate::format::BYTES_PER_SECOND;
use crate::format::{divisor, percent};
use crate::report::Report;
use crate::section::{in_unit, title};

/// Limits of one chart, each with dashes of its own.
const LIMIT_DASHES: [&str; 6] = ["dash", "longdash", "dashdot", "longdashdot", "3px,6px", "12px,2px"];
/// A limit beyond this multiple of the highest measured point would flatten the lines.
const FAR: f64 = 2.5;

/// Published figures of one chart.
pub(super) struct Stars<X>(Vec<Star<X>>);

struct Star<X> {
    at: X,
    /// On the axis of values.
    value: f64,
    /// As printed, for one that is beyond the axis.
    printed: String,
    words: String,
    misprinted: bool,
}

impl<X> Stars<X> {
    /// Those with a place on an axis of `unit`. Figures that were not requested and have other conditions are
    /// only in their table.
    pub(super) fn of(report: &Report, unit: &str, place: impl Fn(&PublishedComparison) -> Option<X>) -> Self {
        let star = |one: &PublishedComparison| {
            one.differs.is_empty().then_some(())?;
            Some(Star {
                value: on_axis(one.value(), one.unit(), unit)?,
                at: place(one)?,
                printed: escaped(&in_unit(one.value(), one.unit())),
                words: words(report, one),
                misprinted: !one.misprint.is_empty(),
            })
        };
        Self(report.found.published.iter().filter_map(Stated::says).filter_map(star).collect())
    }

    /// Where they stand.
    pub(super) fn places(&self) -> impl Iterator<Item = &X> {
        self.0.iter().map(|one| &one.at)
    }

    /// The ends of an axis with own points in `own` and those that stand on it with them: within `far` times of them.
    pub(super) fn ends(&self, own: [f64; 2], far: f64) -> [f64; 2] {
        let near = |value: &f64| (own[0] / far..=own[1] * far).contains(value);
        let near = self.0.iter().map(|one| one.value).filter(near);
        near.fold(own, |[low, high], value| [low.min(value), high.max(value)])
    }

    /// As [`Stars::ends`] of an axis from 0 with own points up to `own`.
    pub(super) fn top(&self, own: f64) -> f64 {
        self.ends([0.0, own], FAR)[1]
    }

    /// Stars, open where misprinted; arrows with their values at the `ends` of the axis for those that are beyond them.
    /// Values are lengths where the chart is `across`, else heights.
    pub(super) fn traces(
        &self,
        [low, high]: [f64; 2],
        across: bool,
        place: impl Fn(&X, f64) -> (Value, Value),
    ) -> Vec<Trace> {
        let beyond = |one: &Star<X>| (one.value > high).cmp(&(one.value < low));
        let arrow = |one: &Star<X>| match (beyond(one), across) {
            (Ordering::Equal, _) => ("star", ""),
            (Ordering::Greater, true) => ("triangle-right", "middle left"),
            (Ordering::Less, true) => ("triangle-left", "middle right"),
            (_, false) => ("triangle-up", "bottom center"),
        };
        let trace = |alike: Vec<&Star<X>>| {
            let (symbol, text) = arrow(alike[0]);
            let open = if alike[0].misprinted { "-open" } else { "" };
            let points = alike.iter().map(|one| {
                let (x, y) = place(&one.at, one.value.clamp(low, high));
                (x, y, one.words.clone())
            });
            let name = ["published", if open.is_empty() { "" } else { ", misprinted" }];
            let name = name.concat() + if text.is_empty() { "" } else { ", beyond the axis" };
            let marks = Trace::marks(&name, INK).with("marker.symbol", format!("{symbol}{open}"));
            let marks = marks.with("marker.size", 12).points(points);
            if text.is_empty() {
                return marks;
            }
            let printed: Vec<&str> = alike.iter().map(|one| one.printed.as_str()).collect();
            marks.with("mode", "markers+text").with("text", printed).with("textposition", text)
        };
        let kinds =
            grouped(&self.0, |one, other| (one.misprinted, beyond(one)) == (other.misprinted, beyond(other)));
        kinds.into_iter().map(trace).collect()
    }
}

/// A value of one of the units of findings on an axis of rates of `unit`; none where it is of another kind.
fn on_axis(value: f64, of: &str, unit: &str) -> Option<f64> {
    let alike = of == if unit == BYTES_PER_SECOND { "bytes/s" } else { "ops/s" };
    alike.then_some(value / divisor(unit))
}

/// Where on the axis of `curve` a published figure stands; none where it is not about it.
pub(super) fn place(one: &PublishedComparison, curve: &Curve) -> Option<f64> {
    let about = one.group.as_ref().is_none_or(|group| *group == curve.group)
        && one.target.as_ref().is_none_or(|target| *target == curve.target)
        && one.phase.is_none_or(|phase| phase == curve.phase);
    if !about {
        return None;
    }
    if let Some(stated) = one.at.iter().find(|setting| setting.key == curve.axis) {
        let mut others = one.at.iter().filter(|other| other.key != curve.axis && other.key != "target");
        return others.all(|other| curve.fixed.contains(other)).then(|| stated.value.on_axis())?;
    }
    let own = one.figure?;
    curve.points.iter().find(|point| point.figure == own).map(|point| point.x)
}

fn words(report: &Report, one: &PublishedComparison) -> String {
    let published = &one.published;
    let mut lines = vec![
        format!("<b>published: {}</b>", escaped(&in_unit(one.value(), one.unit()))),
        escaped(&format!(
            "{} · printed {} ({})",
            published.id,
            published.as_published(),
            published.statistic.name()
        )),
        escaped(&one.source()),
    ];
    let target = one.target.as_deref().map(|target| title(report, target)).unwrap_or_default();
    if !target.is_empty() {
        lines.push(format!("beside {}", escaped(target)));
    }
    if let (Some(own), Some(ratio)) = (one.own, one.ratio()) {
        lines.push(format!("own {}, {} of it", escaped(&in_unit(own, one.unit())), percent(ratio)));
    }
    lines.extend((!one.misprint.is_empty()).then(|| format!("misprint: {}", escaped(&one.misprint))));
    lines.join("<br>")
}

/// Names, dashes and heights of the expected values and limits of the targets of `curves` that can be shown where
/// `top` is the highest point of the chart.
pub(super) fn limits(
    report: &Report,
    curves: &[&Curve],
    unit: &'static str,
    top: f64,
) -> Vec<(String, &'static str, f64)> {
    let mut limits: Vec<(String, &str, f64)> = Vec::new();
    for one in report.found.expected.iter().filter_map(Stated::says) {
        let (number, of) = match one.amount {
            Amount::BytesPerSecond(value) => (value, "bytes/s"),
            Amount::OperationsPerSecond(value) => (value, "ops/s"),
            Amount::Latency { .. } => continue,
        };
        let Some(value) = on_axis(number, of, unit) else { continue };
        let about = report.figures.get(one.figure).is_some_and(|figure| {
            curves.iter().any(|curve| {
                (&curve.group, &curve.target, curve.phase) == (&figure.group, &figure.target, figure.phase)
            })
        });
        let name = format!("{}: {}", one.name, crate::format::rate_in(number, unit));
        let known = limits.iter().any(|(other, ..)| *other == name);
        if let Some(dash) = LIMIT_DASHES.get(limits.len())
            && about
            && !known
            && value <= top * FAR
        {
            limits.push((name, dash, value));
        }
    }
    limits
}
