//! References in charts of measured series: published figures as stars, expected values and limits as lines.

use std::cmp::Ordering;

use analysis::{comparisons::PublishedComparison, gate::Stated, sweeps::Curve};
use serde_json::Value;

use super::look::TEXT_COLOUR;
use super::plotly::Trace;

use crate::format::BYTES_PER_SECOND;
use crate::format::escape::chart as escaped;
use crate::format::{divisor, percent};
use crate::report::Report;
use crate::section::{published_value, title};

/// Dashes of the limits of one chart, which also bound their number.
const LIMIT_DASHES: [&str; 6] = ["dash", "longdash", "dashdot", "longdashdot", "3px,6px", "12px,2px"];
/// Limits and published figures beyond this multiple of the highest measured point do not extend the axis.
const FAR: f64 = 2.5;

/// Published figures in a chart; `X` is their position on the other axis.
pub(super) struct Stars<X>(Vec<Star<X>>);

struct Star<X> {
    at: X,
    /// On the axis of rates.
    value: f64,
    /// For a figure beyond the end of the axis.
    printed: String,
    words: String,
    misprinted: bool,
    /// The colour of the series that it stands beside.
    colour: &'static str,
}

impl<X> Stars<X> {
    /// The published figures that can be shown on an axis of `unit` and have a `place`. Figures measured under other
    /// conditions are only in the table.
    pub(super) fn of(
        report: &Report,
        unit: &str,
        place: impl Fn(&PublishedComparison) -> Option<X>,
        colour: impl Fn(&PublishedComparison) -> &'static str,
    ) -> Self {
        let star = |one: &PublishedComparison| {
            one.differs.is_empty().then_some(())?;
            Some(Star {
                value: on_axis(one.value(), one.unit(), unit)?,
                at: place(one)?,
                printed: escaped(&published_value(one, one.value())),
                words: words(report, one),
                misprinted: !one.misprint.is_empty(),
                colour: colour(one),
            })
        };
        Self(report.found.published.iter().filter_map(Stated::says).filter_map(star).collect())
    }

    /// Their positions.
    pub(super) fn places(&self) -> impl Iterator<Item = &X> {
        self.0.iter().map(|one| &one.at)
    }

    /// The ends of an axis for measured points within `own` and for published figures within a factor of `far`.
    pub(super) fn ends(&self, own: [f64; 2], far: f64) -> [f64; 2] {
        let near = |value: &f64| (own[0] / far..=own[1] * far).contains(value);
        let near = self.0.iter().map(|one| one.value).filter(near);
        near.fold(own, |[low, high], value| [low.min(value), high.max(value)])
    }

    /// The end of an axis from 0 for measured points up to `own`.
    pub(super) fn top(&self, own: f64) -> f64 {
        self.ends([0.0, own], FAR)[1]
    }

    /// Whether a figure is beyond the end of an axis from 0.
    pub(super) fn has_beyond(&self, end: f64) -> bool {
        self.0.iter().any(|one| one.value > end)
    }

    /// Stars, open where misprinted; for figures beyond the ends of the axis arrows there, labelled with their values.
    /// Rates are on the x axis if `across`, else on the y axis. The label of an arrow that `is_right` is on its left.
    pub(super) fn traces(
        &self,
        [low, high]: [f64; 2],
        across: bool,
        is_right: impl Fn(&X) -> bool,
        place: impl Fn(&X, f64) -> (Value, Value),
    ) -> Vec<Trace> {
        let beyond = |one: &Star<X>| (one.value > high).cmp(&(one.value < low));
        let at = |one: &Star<X>| place(&one.at, one.value.clamp(low, high));
        let symbol = |one: &Star<X>| match (beyond(one), across) {
            (Ordering::Equal, _) => "star",
            (Ordering::Greater, true) => "triangle-right",
            (Ordering::Less, true) => "triangle-left",
            (_, false) => "triangle-up",
        };
        let position = |one: &Star<X>| match (beyond(one), across) {
            (Ordering::Less, true) => "middle right",
            (_, true) => "middle left",
            (_, false) if is_right(&one.at) => "middle left",
            (_, false) => "middle right",
        };
        // Labels at one place would stand on each other: the first has them all.
        let outside = || self.0.iter().filter(|one| beyond(one).is_ne());
        let label = |one: &Star<X>| {
            let here: Vec<&Star<X>> = outside().filter(|other| at(other) == at(one)).collect();
            match here.first() {
                Some(first) if std::ptr::eq(*first, one) => {
                    here.iter().map(|one| one.printed.as_str()).collect::<Vec<_>>().join("<br>")
                }
                _ => String::new(),
            }
        };
        let trace = |group: Vec<&Star<X>>| {
            let is_outside = beyond(group[0]).is_ne();
            let open = if group[0].misprinted { "-open" } else { "" };
            let points = group.iter().map(|one| {
                let (x, y) = at(one);
                (x, y, one.words.clone())
            });
            let name = ["published", if open.is_empty() { "" } else { ", misprinted" }];
            let name = name.concat() + if is_outside { ", beyond the axis" } else { "" };
            let symbol = format!("{}{open}", symbol(group[0]));
            let colours: Vec<&str> = group.iter().map(|one| one.colour).collect();
            let marks = Trace::marks(&name, TEXT_COLOUR).with("marker.symbol", symbol);
            let marks = marks.with("marker.size", 12).with("marker.color", colours).points(points);
            let marks = if open.is_empty() { marks.outlined(1.0) } else { marks };
            if !is_outside {
                return marks;
            }
            let labels: Vec<String> = group.iter().map(|one| label(one)).collect();
            let positions: Vec<&str> = group.iter().map(|one| position(one)).collect();
            marks.with("mode", "markers+text").with("text", labels).with("textposition", positions)
        };
        let groups = analysis::figures::grouped(&self.0, |one| (one.misprinted, beyond(one)));
        groups.into_iter().map(trace).collect()
    }
}

/// A `value` in the unit `of` (`bytes/s` or `ops/s`) on an axis of rates of `unit`; none if they do not match.
fn on_axis(value: f64, of: &str, unit: &str) -> Option<f64> {
    let alike = of == if unit == BYTES_PER_SECOND { "bytes/s" } else { "ops/s" };
    alike.then_some(value / divisor(unit))
}

/// The position of a published figure on the x axis of `curve`; none if it does not belong there.
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
        format!("<b>published: {}</b>", escaped(&published_value(one, one.value()))),
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
        lines.push(format!("own {}, {} of it", escaped(&published_value(one, own)), percent(ratio)));
    }
    lines.extend((!one.misprint.is_empty()).then(|| format!("misprint: {}", escaped(&one.misprint))));
    lines.join("<br>")
}

/// Names, dashes and values of the expectations, limits and promises for `curves`, in a chart with the highest point
/// `top`.
pub(super) fn limits(
    report: &Report,
    curves: &[&Curve],
    unit: &'static str,
    top: f64,
) -> Vec<(String, &'static str, f64)> {
    let mut limits: Vec<(String, &str, f64)> = Vec::new();
    for one in report.found.expected.iter().filter_map(Stated::says) {
        let number = one.amount.number();
        let Some(value) = on_axis(number, one.amount.unit(), unit) else { continue };
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
    for one in report.found.verdicts.iter().filter_map(Stated::says) {
        let Some((amount, number)) = one.amount.zip(one.promised()) else { continue };
        let Some(value) = on_axis(number, amount.unit(), unit) else { continue };
        let about = one.about.iter().filter_map(|&place| report.figures.get(place)).any(|figure| {
            curves.iter().any(|curve| {
                (&curve.group, &curve.target, curve.phase) == (&figure.group, &figure.target, figure.phase)
            })
        });
        let name = format!("promised: {}", crate::format::rate_in(number, unit));
        let known = limits.iter().any(|(other, ..)| *other == name);
        if about && !known && value <= top * FAR {
            limits.push((name, "dot", value));
        }
    }
    limits
}
