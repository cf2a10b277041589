//! The pictures of the first screen: changes between two runs, else up to four charts of the study, chosen by what varies
//! in it, else its commitments.

use analysis::{
    comparisons::{Comparison, Verdict, side},
    gate::Stated,
    statistics::{CONFIDENCE, Contrast, Summary, median_bounds},
};
use plan::Bound;
use serde_json::json;

use super::latency::{self, FRAME_PX, ROW_PX, rows};
use super::look::{Look, SKY, TEXT_COLOUR, work};
use super::plotly::{Chart, Trace, error_bar};
use crate::format::escape::chart as escaped;
use crate::format::percent;
use crate::report::Report;
use crate::report::origin;
use crate::section::{criterion, promised_unit, signed};
use crate::summary::commitments::by_judgement;
use crate::summary::members::members;

/// Maximum number of rows of the first screen's chart.
const ROWS_MAX: usize = 12;
/// Maximum height of the first screen's chart in CSS pixels.
const HEIGHT_MAX: usize = 640;
/// Maximum number of pictures of a study.
const PICTURES_MAX: usize = 4;
/// Kinds of charts that are pictures of a study, with how many of each, in order of preference: what varies decides
/// which of them there are. Many targets, or devices of one, are beside each other; jobs run over time; nodes, or other swept keys, have
/// lines; repeated sizes have their scatter.
const KINDS: [(&str, usize); 9] = [
    ("members", 2),
    ("each-device", 1),
    ("systems", 2),
    ("jobs-profile", 1),
    ("weak", 4),
    ("map", 4),
    ("sweep", 4),
    ("dispersion", 1),
    ("nodes", 1),
];
/// Kinds used if there is none of these.
const OTHERS: [&str; 5] = ["matrix", "layers", "devices", "operations", "percentiles"];
/// Maximum number of labelled ticks of a logarithmic axis.
const TICKS_MAX: usize = 7;
/// Shares whose ratio exceeds this are drawn on a logarithmic axis.
const LOGARITHMIC_RATIO: f64 = 10.0;

/// The pictures of the first screen; those of `of_study` or `overview` are removed from there.
pub(crate) fn pictures(
    report: &Report,
    second: Option<(&Report, &[Comparison])>,
    of_study: &mut Vec<Chart>,
    overview: &mut Vec<Chart>,
) -> Vec<Chart> {
    // The card already shows all results of a benchmark next to its score.
    if second.is_none() && !report.found.scores.is_empty() {
        return Vec::new();
    }
    if let Some((other, compared)) = second
        && let Some(changes) = changes(compared, [report, other])
    {
        return std::iter::once(changes).chain(latency::beside([report, other], compared)).collect();
    }
    // If two runs have nothing comparable, the chart is of the first run and its title says so. Sweep charts
    // contain both runs.
    let alone = |chart: Chart| if second.is_none() || chart.is("sweep") { chart } else { chart.before() };
    let promised_of = |chart: &Chart| {
        let workloads = report.found.verdicts.iter().filter_map(Stated::says);
        let mut workloads = workloads.filter_map(|one| report.figures.get(one.figure?));
        workloads.any(|figure| figure.group == chart.workload)
    };
    // What commitments are about comes first.
    of_study.sort_by_key(|chart| !promised_of(chart));
    let members = members(report);
    let mut taken: Vec<Chart> = Vec::new();
    for (kind, most) in KINDS {
        // The picture of many targets has those of other workloads beside which they stand.
        let beside = members.iter().flat_map(|these| &these.all).map(|one| one.figure.group.as_str());
        let mut shown: Vec<String> = taken.iter().map(|chart| chart.workload.clone()).collect();
        shown.extend(beside.filter(|_| kind != "members").map(str::to_owned));
        let is_new = |chart: &Chart| chart.compares(kind, HEIGHT_MAX) && !shown.contains(&chart.workload);
        for _ in 0..most.min(PICTURES_MAX.saturating_sub(taken.len())) {
            match of_study.iter().position(is_new) {
                Some(place) => taken.push(alone(of_study.remove(place))),
                None => break,
            }
        }
    }
    if taken.is_empty() {
        taken.extend(promised(report));
    }
    for kind in OTHERS {
        for charts in [&mut *of_study, &mut *overview] {
            let place = charts.iter().position(|one| one.compares(kind, HEIGHT_MAX));
            if let Some(place) = place.filter(|_| taken.is_empty()) {
                taken.push(alone(charts.remove(place)));
            }
        }
    }
    if taken.is_empty() && !overview.is_empty() {
        taken.push(alone(overview.remove(0)));
    }
    // Pairs of charts stand beside each other.
    let (all, half) = (taken.len(), taken.len() > 2);
    let paired = |place: usize| half && (place + 1 < all || all % 2 == 0);
    let charts = taken.into_iter().enumerate();
    charts.map(|(place, chart)| if paired(place) { chart.halved() } else { chart.half(false) }).collect()
}

/// A chart with a row for each label, and a vertical reference line at `reference`.
fn intervals(kind: &'static str, title: &str, note: String, labels: &[String], reference: f64) -> Chart {
    let line = json!({
        "type": "line", "x0": reference, "x1": reference, "yref": "paper", "y0": 0, "y1": 1, "layer": "below",
        "line": { "color": TEXT_COLOUR, "width": 1.5 },
    });
    let height = FRAME_PX + ROW_PX * labels.len();
    Chart::new(kind, "", title, note).height(height).with("yaxis", rows(labels)).with("shapes", vec![line])
}

/// Changes between two `runs`, with their intervals and the repetitions of both.
fn changes(all: &[Comparison], runs: [&Report; 2]) -> Option<Chart> {
    // The mean latency of a closed loop follows from its rate, so it is left out where the rate is compared.
    let is_rate = |one: &Comparison| one.operation.is_none() && !one.transferring;
    let repeats = |one: &Comparison| {
        let same = |rate: &Comparison| is_rate(rate) && (&rate.case, rate.phase) == (&one.case, one.phase);
        one.operation.is_some() && all.iter().any(same)
    };
    let mut shown: Vec<&Comparison> = all.iter().filter(|one| !one.is_withheld() && !repeats(one)).collect();
    // Changes are in percent; the sign of latencies is inverted, so that faster is always to the right.
    let side = |one: &Comparison| if one.operation.is_some() { -100.0 } else { 100.0 };
    let rank = |one: &Comparison| (!one.difference.is_stated(), one.difference.interval.is_none());
    let size = |one: &Comparison| one.difference.change.abs();
    shown.sort_by(|one, other| rank(one).cmp(&rank(other)).then(size(other).total_cmp(&size(one))));
    let hidden = shown.len().saturating_sub(ROWS_MAX);
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
    let groups = analysis::figures::grouped(shown.iter().copied(), |one| {
        (work(one.phase), one.difference.is_stated())
    });
    let traces = groups.iter().map(|group| {
        let (phase, stated) = (group[0].phase, group[0].difference.is_stated());
        let name = format!("{}{}", work(phase).0, if stated { "" } else { ", no change shown" });
        let symbol = if stated { "circle" } else { "circle-open" };
        let points = group.iter().map(|one| {
            let change = one.difference.change;
            let text = match one.difference.outcome {
                Contrast::NotShown => "no change shown".to_owned(),
                _ => signed(change),
            };
            let (above, below) = error_bar(change, one.difference.interval, |share| share * 100.0);
            let bar = if side(one) < 0.0 { (below, above) } else { (above, below) };
            ((change * side(one), label(one), format!("<b>{}</b>: {text}", label(one))), bar)
        });
        let look = Look { symbol, ..Look::of_work(phase, 0) };
        Trace::marks(&name, look).with("marker.size", 11).points_with_errors("x", points)
    });
    let repetitions = |side: usize| {
        let figure = |report: &'_ Report, one: &Comparison| {
            let own = report.figures.iter().find(|own| (&own.case, own.phase) == (&one.case, one.phase));
            let values =
                own.map(|own| own.counted().filter_map(|pass| own.headline_of(pass)).collect::<Vec<_>>());
            values.filter(|values| !values.is_empty())
        };
        let points = shown.iter().filter(|one| is_rate(one)).flat_map(|one| {
            let middle = figure(runs[0], one).and_then(|values| Some(Summary::of(&values)?.median));
            let values = figure(runs[side], one).unwrap_or_default();
            values.into_iter().filter_map(move |value| Some(((value / middle? - 1.0) * 100.0, one)))
        });
        points.map(|(change, one)| (change, label(one), signed(change / 100.0))).collect::<Vec<_>>()
    };
    let ticks = [("repetitions before", "line-ns-open", 0), ("repetitions after", "line-ns-open", 1)];
    let ticks = ticks.map(|(name, symbol, side)| {
        let colour = if side == 0 { SKY } else { TEXT_COLOUR };
        let look = Look { symbol, ..colour.into() };
        Trace::marks(name, look).with("marker.size", 14).points(repetitions(side))
    });
    let more = if hidden == 0 { String::new() } else { format!(" {hidden} more in the table.") };
    let inverted = match shown.iter().any(|one| one.operation.is_some()) {
        true => " Changes of latencies have the other sign here: shorter is to the right.",
        false => "",
    };
    let note = format!(
        "After against before, with the interval of the change where there is one. Ticks: every repetition ÷ the \
             median before.{inverted}{more}"
    );
    (!labels.is_empty()).then(|| {
        let x = json!({ "title": { "text": "← slower    change, %    faster →" }, "zeroline": false });
        intervals("changes", "What changed", note, &labels, 0.0)
            .with("xaxis", x)
            .traces(ticks.into_iter().chain(traces))
    })
}

/// What was measured as a share of what was promised, with intervals and repetitions.
fn promised(report: &Report) -> Option<Chart> {
    let measured = by_judgement(report).into_iter();
    let measured = measured.filter_map(|one| Some((one, share(one, one.measured?))));
    let measured = measured.filter(|(_, share)| *share > 0.0 && share.is_finite());
    let measured: Vec<(&Verdict, f64)> = measured.take(ROWS_MAX).collect();
    let label = |one: &Verdict| {
        let commitment = &one.commitment;
        let word = one.word();
        let promised = criterion(one.asked(), side(commitment.bound), promised_unit(report, one));
        escaped(&format!("{word} · {}, {promised}", commitment.name))
    };
    let labels: Vec<String> = measured.iter().map(|(one, _)| label(one)).collect();
    // A single one is a line of the card.
    if labels.len() < 2 {
        return None;
    }
    let values = |one: &Verdict| -> Vec<f64> {
        let own = one.figure.and_then(|place| report.figures.get(place));
        let values = own.into_iter().flat_map(|own| own.counted()).filter_map(|pass| one.value(pass));
        values.map(|value| share(one, value)).filter(|share| share.is_finite()).collect()
    };
    let phase = |one: &Verdict| one.figure.and_then(|place| report.figures.get(place)).map(|own| own.phase);
    let groups = analysis::figures::grouped(measured.iter().copied(), |(one, _)| phase(one));
    let shares = groups.iter().map(|group| {
        let of_phase = phase(group[0].0);
        let look = of_phase.map_or_else(|| Look::of(0), |phase| Look::of_work(phase, 0));
        let points = group.iter().map(|&(one, share)| {
            let words = format!("<b>{}</b>: {} of it", label(one), percent(share));
            let bounds = median_bounds(&values(one), 1.0 - CONFIDENCE);
            let bounds = bounds.map(|ends| (ends.low.min(share), ends.high.max(share)));
            ((share * 100.0, label(one), words), error_bar(share, bounds, |share| share * 100.0))
        });
        let name = of_phase.map_or("measured", |phase| work(phase).0);
        Trace::marks(name, look).with("marker.size", 11).points_with_errors("x", points)
    });
    let repetitions = measured
        .iter()
        .flat_map(|(one, _)| values(one).into_iter().map(move |value| (value * 100.0, label(one))));
    let repetitions = Trace::repetitions().points(repetitions);
    let all = || measured.iter().map(|(_, share)| *share).chain([1.0]);
    let (least, most) = (all().fold(f64::INFINITY, f64::min), all().fold(0.0, f64::max));
    let inverted = match measured.iter().any(|(one, _)| one.commitment.bound == Bound::AtMost) {
        true => " For upper limits: promised ÷ reached.",
        false => "",
    };
    let (kept, not_kept) = match origin::is_simulated(report) {
        true => ("would be kept", "would not be kept"),
        false => ("kept", "not kept"),
    };
    let note =
        format!("Reached ÷ promised, with the interval of the median.{inverted} Right of the line: {kept}.");
    (!labels.is_empty()).then(|| {
        let title = json!({ "text": format!("← {not_kept}    % of what was promised    {kept} →") });
        let x = match most > least * LOGARITHMIC_RATIO {
            true => {
                let near = |tick: &f64| (least * 10.0..=most * 1000.0).contains(tick);
                let powers: Vec<f64> = (-6..9).map(|power| 10_f64.powi(power)).filter(near).collect();
                let step = powers.len().div_ceil(TICKS_MAX).max(1);
                let ticks: Vec<f64> = powers.into_iter().step_by(step).collect();
                json!({ "title": title, "type": "log", "tickvals": ticks, "ticktext": ticks, "tickangle": 0 })
            }
            false => json!({ "title": title, "rangemode": "tozero" }),
        };
        let chart = intervals("promised", "Reached against promised", note, &labels, 100.0).with("xaxis", x);
        chart.traces(shares.chain([repetitions]))
    })
}

/// Measured `value` ÷ promised amount, or its inverse for an upper bound; at least 1 means kept.
fn share(one: &Verdict, value: f64) -> f64 {
    let promised = one.promised().unwrap_or(f64::NAN);
    match one.commitment.bound {
        Bound::AtLeast => value / promised,
        Bound::AtMost => promised / value,
    }
}
