//! From the rate of the device to that of the application: what each layer takes.

use serde_json::{Value, json};

use super::spread::pattern_of;
use super::{BLUE, Chart, GREEN, VERMILLION, escaped};
use crate::format::percent;
use crate::section::{headline, signed, stack_name, title};
use crate::view::layers::{LayerStack, LayerStep};
use crate::view::{Figure, Report};

/// Waterfalls of one page; the table has the rest.
const CHARTS_MAX: usize = 16;

/// One for each workload, phase and chain of layers, at the point at which the lowest is fastest.
pub(super) fn charts(report: &Report) -> Vec<Chart> {
    let best = report.findings.layers.iter().filter(|one| one.best).take(CHARTS_MAX);
    best.enumerate().map(|(index, one)| waterfall(report, one, index)).collect()
}

fn waterfall(report: &Report, stack: &LayerStack, index: usize) -> Chart {
    let own = |step: &LayerStep| report.figures.get(step.figure.wrapping_sub(1));
    let large = stack.steps.first().and_then(own).is_none_or(Figure::is_large);
    let unit = stack
        .steps
        .first()
        .and_then(own)
        .map_or("MB/s", |one| if large { "MB/s" } else { one.operations_unit() });
    let rates: Vec<f64> = stack.steps.iter().map(|step| value(own(step), step, large)).collect();
    let names: Vec<String> = stack.steps.iter().map(|step| escaped(title(report, &step.target))).collect();
    let words: Vec<String> = stack.steps.iter().map(|step| words(report, step)).collect();
    let losses: Vec<f64> = (0..rates.len())
        .map(|place| place.checked_sub(1).map_or(0.0, |below| (rates[below] - rates[place]).max(0.0)))
        .collect();
    let gains: Vec<f64> = (0..rates.len())
        .map(|place| place.checked_sub(1).map_or(0.0, |below| (rates[place] - rates[below]).max(0.0)))
        .collect();
    let kept: Vec<f64> = rates.iter().zip(&gains).map(|(rate, gain)| rate - gain).collect();
    let label = |step: &LayerStep, sign: f64| match step.loss {
        Some(loss) if loss * sign > 0.0 => signed(-loss),
        _ => String::new(),
    };
    let labels = |sign: f64| stack.steps.iter().map(|step| label(step, sign)).collect::<Vec<_>>();
    let bar = |name: &str, y: &[f64], colour: &str, pattern: &str, text: Vec<String>| {
        json!({
            "type": "bar", "name": name, "x": names, "y": y, "customdata": words, "text": text,
            "textposition": "inside", "insidetextanchor": "middle", "hovertemplate": "%{customdata}<extra></extra>",
            "marker": { "color": colour, "pattern": pattern_of(pattern) },
        })
    };
    let shown: Vec<String> =
        stack.steps.iter().map(|step| own(step).map(headline).unwrap_or_default()).collect();
    let mut data = vec![bar("rate of the layer", &kept, BLUE, "", shown)];
    if gains.iter().any(|&gain| gain > 0.0) {
        data.push(bar("gained over the layer below", &gains, GREEN, ".", labels(-1.0)));
    }
    if losses.iter().any(|&loss| loss > 0.0) {
        data.push(bar("lost against the layer below", &losses, VERMILLION, "/", labels(1.0)));
    }
    let last = stack.steps.last();
    let conditions = last.and_then(own).map(|one| one.conditions.clone()).unwrap_or_default();
    Chart {
        id: format!("chart-layers-{index}"),
        place: "layers".to_owned(),
        title: format!(
            "{}, {}: from the device to the application",
            escaped(&stack.group),
            stack_name(stack)
        ),
        note: format!(
            "{}. {} of the lowest layer's rate is left at the highest.",
            conditions,
            last.map(|step| percent(step.share)).unwrap_or_default()
        ),
        full: stack.steps.len() > 4,
        height: 380,
        data,
        layout: json!({
            "barmode": "stack", "bargap": 0.35, "xaxis": { "type": "category", "showgrid": false },
            "yaxis": { "title": { "text": unit }, "rangemode": "tozero" }, "hovermode": "closest",
            "shapes": connectors(&rates), "margin": { "l": 10, "r": 24, "t": 58, "b": 44 },
        }),
    }
}

/// From the top of each layer's rate to the next one's.
fn connectors(rates: &[f64]) -> Vec<Value> {
    let line = |(place, rate): (usize, &f64)| {
        json!({ "type": "line", "x0": place, "x1": place + 1, "y0": rate, "y1": rate, "layer": "below",
            "line": { "color": "ink", "width": 1, "dash": "dot" } })
    };
    rates[..rates.len().saturating_sub(1)].iter().enumerate().map(line).collect()
}

fn value(figure: Option<&Figure>, step: &LayerStep, large: bool) -> f64 {
    if large { step.per_second / 1e6 } else { figure.map_or(0.0, |one| one.transfers_per_second.median) }
}

fn words(report: &Report, step: &LayerStep) -> String {
    let mut text = format!("<b>{}</b>", escaped(title(report, &step.target)));
    if let Some(own) = report.figures.get(step.figure.wrapping_sub(1)) {
        text.push_str(&format!(": {}<br>{}", headline(own), escaped(&own.conditions)));
    }
    if let Some(loss) = step.loss {
        let noise = if step.within_noise { ", within the scatter" } else { "" };
        text.push_str(&format!("<br>loss {}{noise}", signed(loss)));
    }
    if let Some(seconds) = step.cpu_seconds_per_gb {
        text.push_str(&format!("<br>{seconds:.3} s of processor time for each GB"));
    }
    if let Some(share) = step.cache_share {
        text.push_str(&format!("<br>caches {}", percent(share)));
    }
    text
}
