//! The one chart of the first screen, chosen by the purpose of the study.

use analysis::{
    comparisons::{Comparison, Verdict, side},
    gate::Standing,
    statistics::{CONFIDENCE, Contrast, median_bounds},
};
use plan::Bound;
use serde_json::json;

use super::latency::{FRAME_PX, ROW_PX, rows};
use super::look::{INK, Look, work};
use super::plotly::{Chart, Trace};
use super::series::grouped;
use crate::card::by_judgement;
use crate::escape::chart as escaped;
use crate::format::percent;
use crate::report::Report;
use crate::section::{criterion, signed};

/// Maximum number of rows of a chart at a glance.
const ROWS_MAX: usize = 12;
/// Maximum height of a chart at a glance.
const HEIGHT_MAX: usize = 640;
/// Kinds of charts used if there are no commitments or comparisons, best first; each study has few of them.
const KINDS: [&str; 10] = [
    "jobs-launches",
    "jobs-profile",
    "matrix",
    "layers",
    "weak",
    "sweep",
    "nodes",
    "devices",
    "operations",
    "percentiles",
];
/// Ticks of a logarithmic axis.
const TICKS_MAX: usize = 7;
/// Shares that differ by more than this are drawn on a logarithmic axis.
const WIDE: f64 = 10.0;

/// The chart that answers, taken from `of_study` or `overview` where it is one of those.
pub(crate) fn answer(
    report: &Report,
    changes: Option<&[Comparison]>,
    of_study: &mut Vec<Chart>,
    overview: &mut Vec<Chart>,
) -> Option<Chart> {
    let held = changes.map_or_else(|| promised(report), self::changes);
    // Of two runs of which nothing can be compared the first is drawn, and says so; sweeps have both.
    let alone = |chart: Chart| if changes.is_none() || chart.is("sweep") { chart } else { chart.before() };
    held.or_else(|| {
        let place = |charts: &[Chart], kind: &str| charts.iter().position(|one| one.tells(kind, HEIGHT_MAX));
        for kind in KINDS {
            for charts in [&mut *of_study, &mut *overview] {
                if let Some(place) = place(charts, kind) {
                    return Some(alone(charts.remove(place)));
                }
            }
        }
        (!overview.is_empty()).then(|| alone(overview.remove(0)))
    })
}

/// A chart with an interval in each row, and the reference line at `held`.
fn intervals(kind: &'static str, title: &str, note: String, labels: &[String], held: f64) -> Chart {
    let line = json!({
        "type": "line", "x0": held, "x1": held, "yref": "paper", "y0": 0, "y1": 1, "layer": "below",
        "line": { "color": INK, "width": 1.5 },
    });
    let height = FRAME_PX + ROW_PX * labels.len();
    Chart::new(kind, "", title, note).height(height).with("yaxis", rows(labels)).with("shapes", vec![line])
}

/// Changes between two runs: those that are shown first.
fn changes(all: &[Comparison]) -> Option<Chart> {
    // A mean latency repeats the rate of its figure, where that is known.
    let is_rate = |one: &Comparison| one.operation.is_none() && !one.transferring;
    let repeats = |one: &Comparison| {
        let same = |rate: &Comparison| is_rate(rate) && (&rate.case, rate.phase) == (&one.case, one.phase);
        one.operation.is_some() && all.iter().any(same)
    };
    let mut shown: Vec<&Comparison> = all.iter().filter(|one| !one.is_withheld() && !repeats(one)).collect();
    // Right of the line is faster, of latencies too.
    let side = |one: &Comparison| if one.operation.is_some() { -100.0 } else { 100.0 };
    let rank = |one: &Comparison| (!one.difference.is_stated(), one.difference.interval.is_none());
    let size = |one: &Comparison| one.difference.change.abs();
    shown.sort_by(|one, other| rank(one).cmp(&rank(other)).then(size(other).total_cmp(&size(one))));
    let gone = shown.len().saturating_sub(ROWS_MAX);
    shown.truncate(ROWS_MAX);
    let label = |one: &Comparison| {
        let of = match one.operation {
            Some(of) => format!("latency of {}s", of.name()),
            None if one.transferring => format!("{} while transferring", one.phase),
            None => one.phase.to_string(),
        };
        format!("{} · {of}", escaped(&one.case))
    };
    let labels: Vec<String> = shown.iter().map(|one| label(one)).collect();
    let trace = |(name, stated, phases): (&str, bool, &[&Comparison])| {
        let open = if stated { "circle" } else { "circle-open" };
        let look = Look { symbol: open, ..Look::of_work(phases[0].phase, 0) };
        let points = phases.iter().map(|one| {
            let said = match one.difference.outcome {
                Contrast::NotShown => "no change shown".to_owned(),
                _ => signed(one.difference.change),
            };
            let words = format!("<b>{}</b>: {said}", label(one));
            (one.difference.change * side(one), label(one), words)
        });
        let ends = phases.iter().map(|one| {
            let change = one.difference.change;
            let ends = one.difference.interval.map(|(low, high)| {
                let ends = [(high - change) * 100.0, (change - low) * 100.0];
                if side(one) < 0.0 { [ends[1], ends[0]] } else { ends }
            });
            (ends.map(|[above, _]| above), ends.map(|[_, below]| below))
        });
        Trace::marks(name, look).with("marker.size", 11).points(points).whiskers("x", ends)
    };
    let kinds = grouped(shown.iter().copied(), |one, other| {
        (work(one.phase), one.difference.is_stated()) == (work(other.phase), other.difference.is_stated())
    });
    let named = kinds.iter().map(|alike| {
        let stated = alike[0].difference.is_stated();
        let name = format!("{}{}", work(alike[0].phase).0, if stated { "" } else { ", no change shown" });
        (name, stated, alike.as_slice())
    });
    let traces: Vec<Trace> = named.map(|(name, stated, alike)| trace((&name, stated, alike))).collect();
    let more = if gone == 0 { String::new() } else { format!(" {gone} more in the table.") };
    let turned = match shown.iter().any(|one| one.operation.is_some()) {
        true => " Changes of latencies have the other sign here: shorter is to the right.",
        false => "",
    };
    let note =
        format!("After against before, with the interval of the change where there is one.{turned}{more}");
    (!labels.is_empty()).then(|| {
        let x = json!({ "title": { "text": "← slower    change, %    faster →" }, "zeroline": false });
        intervals("changes", "What changed", note, &labels, 0.0).with("xaxis", x).traces(traces)
    })
}

/// Promised and measured values.
fn promised(report: &Report) -> Option<Chart> {
    let measured = by_judgement(report).into_iter();
    let measured = measured.filter_map(|one| Some((one, share(one, one.measured?))));
    let measured = measured.filter(|(_, share)| *share > 0.0 && share.is_finite());
    let measured: Vec<(&Verdict, f64)> = measured.take(ROWS_MAX).collect();
    let label = |one: &Verdict| {
        let commitment = &one.commitment;
        let word = Standing::OF_COMMITMENTS[one.judgement as usize];
        let promised = criterion(commitment.amount, side(commitment.bound));
        escaped(&format!("{word} · {}, {promised}", commitment.name))
    };
    let labels: Vec<String> = measured.iter().map(|(one, _)| label(one)).collect();
    let values = |one: &Verdict| -> Vec<f64> {
        let own = one.figure.and_then(|place| report.figures.get(place));
        let values = own.into_iter().flat_map(|own| own.counted()).filter_map(|pass| one.value(pass));
        values.map(|value| share(one, value)).filter(|share| share.is_finite()).collect()
    };
    let phase = |one: &Verdict| one.figure.and_then(|place| report.figures.get(place)).map(|own| own.phase);
    let dots = grouped(measured.iter().copied(), |(one, _), (other, _)| phase(one) == phase(other));
    let dots = dots.iter().map(|alike| {
        let look = phase(alike[0].0).map_or_else(|| Look::of(0), |phase| Look::of_work(phase, 0));
        let points = alike.iter().map(|(one, share)| {
            let words = format!("<b>{}</b>: {} of it", label(one), percent(*share));
            (share * 100.0, label(one), words)
        });
        let ends = alike.iter().map(|(one, share)| {
            let ends = median_bounds(&values(one), 1.0 - CONFIDENCE);
            (
                ends.as_ref().map(|ends| (ends.high - share).max(0.0) * 100.0),
                ends.as_ref().map(|ends| (share - ends.low).max(0.0) * 100.0),
            )
        });
        let name = phase(alike[0].0).map_or("measured", |phase| work(phase).0);
        Trace::marks(name, look).with("marker.size", 11).points(points).whiskers("x", ends)
    });
    let passes = measured
        .iter()
        .flat_map(|(one, _)| values(one).into_iter().map(move |value| (value * 100.0, label(one))));
    let passes = Trace::marks("repetitions", Look { symbol: "line-ns-open", ..INK.into() })
        .with("marker.size", 14)
        .points(passes);
    let shares = || measured.iter().map(|(_, share)| *share).chain([1.0]);
    let (least, most) = (shares().fold(f64::INFINITY, f64::min), shares().fold(0.0, f64::max));
    let turned = match measured.iter().any(|(one, _)| one.commitment.bound == Bound::AtMost) {
        true => " Of what may be at most so much: promised ÷ measured.",
        false => "",
    };
    let note =
        format!("Measured ÷ promised, with the interval of the median.{turned} Right of the line: kept.");
    (!labels.is_empty()).then(|| {
        let title = json!({ "text": "← not kept    % of what was promised    kept →" });
        let x = match most > least * WIDE {
            true => {
                let near = |tick: &f64| (least * 10.0..=most * 1000.0).contains(tick);
                let powers: Vec<f64> = (-6..9).map(|power| 10_f64.powi(power)).filter(near).collect();
                let step = powers.len().div_ceil(TICKS_MAX).max(1);
                let ticks: Vec<f64> = powers.into_iter().step_by(step).collect();
                json!({ "title": title, "type": "log", "tickvals": ticks, "ticktext": ticks, "tickangle": 0 })
            }
            false => json!({ "title": title, "rangemode": "tozero" }),
        };
        let chart = intervals("promised", "Measured against promised", note, &labels, 100.0).with("xaxis", x);
        chart.traces(dots.chain([passes]))
    })
}

/// How far a commitment was met, where 1 is exactly: measured `value` ÷ promised amount, inverted for an
/// upper bound.
fn share(one: &Verdict, value: f64) -> f64 {
    match one.commitment.bound {
        Bound::AtLeast => value / number(one),
        Bound::AtMost => number(one) / value,
    }
}

/// The promised amount, as a number in the unit of [`Verdict::measured`].
const fn number(one: &Verdict) -> f64 {
    match one.commitment.amount {
        plan::Amount::BytesPerSecond(value) | plan::Amount::OperationsPerSecond(value) => value,
        plan::Amount::Latency { nanos, .. } => nanos,
    }
}
