//! The targets of a study beside each other: the best rate of each with what was published, and beside that its scaling
//! and how busy its devices were.

use plan::Phase;
use serde_json::{Value, json};

use super::latency::rows;
use super::look::{Look, TEXT_COLOUR, work};
use super::plotly::{Chart, Trace, error_bar};
use crate::format::BYTES_PER_SECOND;
use crate::format::escape::chart as escaped;
use crate::format::{column_unit, compact_rate, counted, divisor, percent, rate_in};
use crate::report::Report;
use crate::section::{point, published_value, signed};
use crate::summary::members::{Member, Members, Told, members};

/// Heights in CSS pixels: of the bar of a phase, between targets, and of everything else.
const BAR_PX: usize = 22;
const GAP_PX: usize = 12;
const FRAME_PX: usize = 84;
/// End of the axis of rates ÷ highest value.
const HEADROOM: f64 = 1.05;
/// Published figures beyond this multiple of the highest own one do not extend the axis.
const FAR: f64 = 2.5;
/// The parts of the width of the rates and of each panel beside them.
const PANEL: f64 = 0.15;
const BETWEEN: f64 = 0.04;

/// One chart for each workload that measured many targets, unless all of its rates are withheld.
pub(super) fn charts(report: &Report) -> Vec<Chart> {
    let members = members(report);
    let is_told = |these: &&Members<'_>| these.all.iter().any(|one| one.withheld.is_none());
    members.iter().filter(is_told).map(chart).collect()
}

/// What a panel beside the rates shows.
struct Panel<'a> {
    title: &'static str,
    share: &'a dyn Fn(&Member<'_>) -> Option<f64>,
}

fn chart(these: &Members<'_>) -> Chart {
    let scale = if these.unit == BYTES_PER_SECOND { divisor(these.unit) } else { 1.0 };
    let mut labels: Vec<String> = Vec::new();
    for one in &these.all {
        let label = escaped(one.target);
        if !labels.contains(&label) {
            labels.push(label);
        }
    }
    let mut phases: Vec<Phase> = Vec::new();
    for one in &these.all {
        if !phases.contains(&one.phase) {
            phases.push(one.phase);
        }
    }
    let scaling = |one: &Member<'_>| match one.scaling {
        Some(Told::Share(share)) => Some(share),
        _ => None,
    };
    let busy = |one: &Member<'_>| one.busy;
    let panels = [Panel { title: "scaling, %", share: &scaling }, Panel { title: "%util", share: &busy }];
    let panels: Vec<Panel<'_>> =
        panels.into_iter().filter(|panel| these.all.iter().any(|one| (panel.share)(one).is_some())).collect();
    let main = 1.0 - panels.len() as f64 * (PANEL + BETWEEN);
    let own = these.all.iter().filter_map(|one| one.rate(these.unit)).fold(0.0, f64::max) / scale;
    let published = |one: &Member<'_>| one.published.map(|other| other.value() / scale);
    let all = these.all.iter().filter_map(published);
    let near = all.filter(|value| own == 0.0 || *value <= own * FAR);
    let top = near.fold(own, f64::max).max(f64::MIN_POSITIVE) * HEADROOM;
    let mut data = Vec::new();
    // Rows go from top to bottom, bars of a row from bottom to top.
    for &phase in phases.iter().rev() {
        let of_phase: Vec<&Member<'_>> = these.all.iter().filter(|one| one.phase == phase).collect();
        let name = work(phase).0;
        let place =
            |trace: Trace| trace.with("offsetgroup", name).with("legendgroup", name).with("orientation", "h");
        data.push(place(bars(these.unit, scale, name, phase, &of_phase)));
        let ticks = of_phase.iter().filter_map(|one| {
            let (other, value) = (one.published?, published(one)?);
            let beyond = if value > top { ", beyond the axis" } else { "" };
            let words = format!(
                "<b>published: {}</b>{beyond}<br>{}<br>{}",
                escaped(&published_value(other, other.value())),
                escaped(&other.published.id),
                escaped(&other.source())
            );
            Some((value.min(top), escaped(one.target), words))
        });
        let look = Look { symbol: "line-ns-open", ..TEXT_COLOUR.into() };
        let ticks = Trace::marks("published", look)
            .with("marker.size", BAR_PX)
            .with("marker.line.width", 3)
            .hidden(phase != phases[0])
            .points(ticks);
        data.push(place(ticks));
        for (number, panel) in (2..).zip(&panels) {
            let points = of_phase.iter().filter_map(|one| {
                let share = (panel.share)(one)?;
                let words =
                    format!("<b>{}</b>, {name}: {} {}", escaped(one.target), panel.title, percent(share));
                Some((share * 100.0, escaped(one.target), words))
            });
            let marks = Trace::marks(name, Look::of_work(phase, 0)).with("marker.size", 10);
            data.push(place(marks.with("xaxis", format!("x{number}")).hidden(true).points(points)));
        }
    }
    let rates = json!({
        "title": { "text": column_unit(these.unit) }, "range": [0.0, top], "domain": [0.0, main],
    });
    let mut chart = Chart::new("members", "targets", title(these), note(these, &panels))
        .of_workload(these.group)
        .height(FRAME_PX + labels.len() * (phases.len() * BAR_PX + GAP_PX))
        .axes(rates, rows(&labels))
        .with("barmode", "group")
        .with("bargap", 0.25)
        .with("shapes", references(these, &labels, scale));
    for (number, panel) in (0..).zip(&panels) {
        let from = main + BETWEEN + f64::from(number) * (PANEL + BETWEEN);
        let highest = these.all.iter().filter_map(panel.share).fold(1.0, f64::max);
        let layout = json!({
            "title": { "text": panel.title }, "range": [0.0, highest * 108.0], "domain": [from, from + PANEL],
            "anchor": "y", "tickvals": [50, 100],
        });
        chart = chart.with(&format!("xaxis{}", number + 2), layout);
    }
    // Marks stand at the bars of their phase.
    let has_marks = !panels.is_empty() || these.all.iter().any(|one| one.published.is_some());
    let chart = if has_marks { chart.with("scattermode", "group") } else { chart };
    chart.traces(data)
}

/// The rate of each target in a phase. A withheld rate has no bar, and the words say that.
fn bars(unit: &str, scale: f64, name: &str, phase: Phase, these: &[&Member<'_>]) -> Trace {
    let points = these.iter().map(|one| {
        let rate = one.rate(unit);
        let spread = one.figure.spread_in(unit);
        let ends =
            spread.median_interval.as_ref().map_or((spread.min, spread.max), |ends| (ends.low, ends.high));
        let several = rate.is_some() && spread.n > 1;
        let words = match rate {
            Some(rate) => format!("<b>{}</b>, {name}: {}", escaped(one.target), rate_in(rate, unit)),
            None => format!("<b>{}</b>, {name}", escaped(one.target)),
        };
        let at = point(&one.figure.settings);
        let words = if at.is_empty() { words } else { format!("{words} at {}", escaped(&at)) };
        let value = rate.unwrap_or(0.0);
        let bar = error_bar(value, several.then_some(ends), |distance| distance / scale);
        // What the page adds of a figure has its rate.
        let figure = rate.map_or(0, |_| one.figure.number);
        ((value / scale, escaped(one.target), words, figure), bar)
    });
    let labels: Vec<Value> = these.iter().map(|one| escaped(&said(one, unit)).into()).collect();
    // The words are within the bar, where neither ticks nor lines cross them, so it has no pattern.
    Trace::bars(name, Look { pattern: "", ..Look::of_work(phase, 0) })
        .points_with_errors("x", points)
        .with("text", labels)
        .with("textposition", "auto")
        .with("insidetextanchor", "start")
        .with("insidetextfont", json!({ "color": "#ffffff" }))
        .with("textangle", 0)
        .with("cliponaxis", false)
        .with("constraintext", "none")
}

/// What stands at a bar: its phase and rate, and its loss against the reference if one is shown.
fn said(one: &Member<'_>, unit: &str) -> String {
    let rate = one.rate(unit).map_or_else(|| "withheld".to_owned(), |rate| compact_rate(rate, unit));
    let tax = match one.tax.as_ref().map(|(_, told)| told) {
        Some(Told::Share(share)) if *share < 0.0 => format!(", gain {}", signed(-share)),
        Some(Told::Share(share)) => format!(", tax {}", percent(*share)),
        Some(Told::NotShown | Told::Withheld(_)) | None => String::new(),
    };
    format!(" {} {rate}{tax}", work(one.phase).0)
}

/// A line at the rate of each reference, down to the last target that is compared with it.
fn references(these: &Members<'_>, labels: &[String], scale: f64) -> Vec<Value> {
    let row = |target: &str| labels.iter().position(|label| *label == escaped(target));
    let mut lines = Vec::new();
    for reference in &these.all {
        let Some(rate) = reference.rate(these.unit) else { continue };
        let above = these.all.iter().filter(|one| {
            one.phase == reference.phase
                && one.tax.as_ref().is_some_and(|(name, _)| *name == reference.target)
        });
        let Some(last) = above.filter_map(|one| row(one.target)).max() else { continue };
        let Some(first) = row(reference.target) else { continue };
        // Rows are numbered from the bottom.
        let at = |row: usize| (labels.len() - 1 - row) as f64;
        lines.push(json!({
            "type": "line", "x0": rate / scale, "x1": rate / scale, "y0": at(first), "y1": at(last) - 0.45,
            "line": { "color": work(reference.phase).1[0], "width": 1.4, "dash": "dot" },
        }));
    }
    lines
}

fn title(these: &Members<'_>) -> String {
    match these.unit {
        BYTES_PER_SECOND => format!("Best of each target: {}", these.group),
        unit => format!("Best of each target: {}, {unit}", these.group),
    }
}

fn note(these: &Members<'_>, panels: &[Panel<'_>]) -> String {
    let has = |of: fn(&Member<'_>) -> bool| these.all.iter().any(of);
    let reference = these.all.iter().find_map(|one| Some(one.tax.as_ref()?.0));
    let taxes = || these.all.iter().filter_map(|one| Some(&one.tax.as_ref()?.1));
    let none = taxes().filter(|told| **told == Told::NotShown).count() as u64;
    let others: Vec<&String> = taxes()
        .filter_map(|told| match told {
            Told::Withheld(why) => Some(why),
            Told::Share(_) | Told::NotShown => None,
        })
        .collect();
    let withheld = these.all.iter().filter_map(|one| one.withheld.as_ref());
    let list = |all: Vec<&String>| {
        analysis::figures::grouped(all, |why| *why)
            .iter()
            .map(|same| same[0].as_str())
            .collect::<Vec<_>>()
            .join("; ")
    };
    let parts = [
        Some("Median of the best point, with its interval or its lowest and highest repetition.".to_owned()),
        has(|one| one.published.is_some()).then(|| "Upright ticks: published.".to_owned()),
        reference.map(|name| format!("Dotted: {name}, against which the tax is counted.")),
        (none > 0).then(|| format!("No tax is shown of {}.", counted(none, "bar"))),
        (!others.is_empty()).then(|| {
            format!("The tax of {} cannot be told: {}.", counted(others.len() as u64, "bar"), list(others))
        }),
        (withheld.clone().count() > 0).then(|| format!("Withheld: {}.", list(withheld.collect()))),
        panels
            .iter()
            .any(|panel| panel.title.starts_with("scaling"))
            .then(|| "Scaling: rate ÷ (devices × the best of one).".to_owned()),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
}
