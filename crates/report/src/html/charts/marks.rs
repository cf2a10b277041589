//! What stands beside own series: published figures as stars, expected values and limits as lines
//! across the chart.

use analysis::{Beside, Curve, Stated};
use plan::Amount;
use serde_json::Value;

use super::look::{INK, Look};
use super::plotly::Trace;
use crate::escape::chart as escaped;
use crate::format::BYTES_PER_SECOND;
use crate::format::{divisor, percent};
use crate::report::Report;
use crate::section::{in_unit, title};

/// Limits of one chart, each with dashes of its own.
const LIMIT_DASHES: [&str; 3] = ["dash", "longdash", "dashdot"];
/// What is more than this many times the highest own point would press the lines to the floor.
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
    /// Those that have a place, for an axis of `unit`.
    pub(super) fn of(report: &Report, unit: &str, place: impl Fn(&Beside) -> Option<X>) -> Self {
        let star = |one: &Beside| {
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

    /// The highest value of own points up to `own` and of those that stand on one axis with them.
    pub(super) fn top(&self, own: f64) -> f64 {
        self.0.iter().map(|one| one.value).filter(|&value| value <= own * FAR).fold(own, f64::max)
    }

    /// Stars, open where misprinted; arrows with their values at `top` for those that are far beyond it. Values are
    /// heights, or lengths where the chart is `across`.
    pub(super) fn traces(
        &self,
        top: f64,
        across: bool,
        place: impl Fn(&X, f64) -> (Value, Value),
    ) -> Vec<Trace> {
        let (arrow, beside) =
            if across { ("triangle-right", "middle left") } else { ("triangle-up", "bottom center") };
        let kinds = [
            ("published", "star", false, false),
            ("published, misprinted", "star-open", true, false),
            ("published, beyond the axis", arrow, false, true),
            (
                "published, misprinted, beyond the axis",
                if across { "triangle-right-open" } else { "triangle-up-open" },
                true,
                true,
            ),
        ];
        let trace = |(name, symbol, misprinted, beyond): (&str, &'static str, bool, bool)| {
            let is_of = |one: &&Star<X>| one.misprinted == misprinted && (one.value > top) == beyond;
            let these: Vec<&Star<X>> = self.0.iter().filter(is_of).collect();
            let points = these.iter().map(|one| {
                let (x, y) = place(&one.at, one.value.min(top));
                (x, y, one.words.clone())
            });
            let marks =
                Trace::marks(name, Look { symbol, ..INK.into() }).with("marker.size", 12).points(points);
            if !beyond {
                return marks;
            }
            let printed: Vec<&str> = these.iter().map(|one| one.printed.as_str()).collect();
            marks.with("mode", "markers+text").with("text", printed).with("textposition", beside)
        };
        kinds.into_iter().map(trace).collect()
    }
}

/// A value of one of the units of findings on an axis of rates of `unit`; none where it is of another kind.
fn on_axis(value: f64, of: &str, unit: &str) -> Option<f64> {
    let alike = of == if unit == BYTES_PER_SECOND { "bytes/s" } else { "ops/s" };
    alike.then_some(value / divisor(unit))
}

/// Where on the axis of `curve` a published figure stands; none where it is not about it.
pub(super) fn place(one: &Beside, curve: &Curve) -> Option<f64> {
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

fn words(report: &Report, one: &Beside) -> String {
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
    lines.extend((!one.differs.is_empty()).then(|| escaped(&one.differs.join("; "))));
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
