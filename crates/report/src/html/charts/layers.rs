//! From the rate of the device to that of the application: what each layer takes.

use serde_json::{Value, json};

use analysis::{Layer, Stated};

use super::spread::pattern_of;
use super::{BLUE, Chart, GREEN, VERMILLION, escaped};
use crate::format::percent;
use crate::section::{headline, point, signed, title};
use crate::view::{Figure, Report};

/// Waterfalls of one page; the table has the rest.
const CHARTS_MAX: usize = 16;

/// One for each workload, phase and chain of layers, at the point at which the lowest is fastest.
pub(super) fn charts(report: &Report) -> Vec<Chart> {
    // Those at which the lowest layer is fastest; what is withheld is not drawn.
    let best = report
        .found
        .layers
        .iter()
        .filter_map(|stack| steps(report, stack))
        .filter(|stack| stack[0].1.best)
        .take(CHARTS_MAX);
    best.enumerate().map(|(index, stack)| waterfall(report, &stack, index)).collect()
}

/// The layers of a stack; none where one of them is withheld.
fn steps<'a>(report: &'a Report, stack: &'a [Stated<Layer>]) -> Option<Vec<Step<'a>>> {
    stack.iter().map(|one| Some((report.figures.get(one.figure())?, one.says()?))).collect()
}

/// A layer and its figure.
type Step<'a> = (&'a Figure, &'a Layer);

fn waterfall(report: &Report, stack: &[Step<'_>], index: usize) -> Chart {
    let [(first, _), .., (last, highest)] = stack else { unreachable!("a stack has two layers") };
    let large = first.is_large();
    let unit = if large { "MB/s" } else { first.operations_unit() };
    let value = |(figure, layer): &Step<'_>| {
        if large { layer.rate / 1e6 } else { figure.transfers_per_second.median }
    };
    let rates: Vec<f64> = stack.iter().map(value).collect();
    let names: Vec<String> = stack.iter().map(|(_, layer)| escaped(title(report, &layer.target))).collect();
    let words: Vec<String> = stack.iter().map(|step| words(report, step)).collect();
    let losses: Vec<f64> = (0..rates.len())
        .map(|place| place.checked_sub(1).map_or(0.0, |below| (rates[below] - rates[place]).max(0.0)))
        .collect();
    let gains: Vec<f64> = (0..rates.len())
        .map(|place| place.checked_sub(1).map_or(0.0, |below| (rates[place] - rates[below]).max(0.0)))
        .collect();
    let kept: Vec<f64> = rates.iter().zip(&gains).map(|(rate, gain)| rate - gain).collect();
    let label = |(_, layer): &Step<'_>, sign: f64| match layer.loss() {
        Some(loss) if loss * sign > 0.0 => signed(-loss),
        _ => String::new(),
    };
    let labels = |sign: f64| stack.iter().map(|step| label(step, sign)).collect::<Vec<_>>();
    let bar = |name: &str, y: &[f64], colour: &str, pattern: &str, text: Vec<String>| {
        json!({
            "type": "bar", "name": name, "x": names, "y": y, "customdata": words, "text": text,
            "textposition": "inside", "insidetextanchor": "middle", "hovertemplate": "%{customdata}<extra></extra>",
            "marker": { "color": colour, "pattern": pattern_of(pattern) },
        })
    };
    let shown: Vec<String> = stack.iter().map(|(figure, _)| headline(figure)).collect();
    let mut data = vec![bar("rate of the layer", &kept, BLUE, "", shown)];
    if gains.iter().any(|&gain| gain > 0.0) {
        data.push(bar("gained over the layer below", &gains, GREEN, ".", labels(-1.0)));
    }
    if losses.iter().any(|&loss| loss > 0.0) {
        data.push(bar("lost against the layer below", &losses, VERMILLION, "/", labels(1.0)));
    }
    let at = point(&first.settings);
    let at = if at.is_empty() { first.phase.to_owned() } else { format!("{}, {at}", first.phase) };
    Chart {
        id: format!("chart-layers-{index}"),
        place: "layers".to_owned(),
        title: format!("{}, {at}: from the device to the application", escaped(&first.group)),
        note: format!(
            "{}. {} of the lowest layer's rate is left at the highest.",
            last.conditions,
            percent(highest.share)
        ),
        full: stack.len() > 4,
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

fn words(report: &Report, (figure, layer): &Step<'_>) -> String {
    let target = escaped(title(report, &layer.target));
    let mut text = format!("<b>{target}</b>: {}<br>{}", headline(figure), escaped(&figure.conditions));
    if let Some(loss) = layer.loss() {
        text.push_str(&format!("<br>loss {}", signed(loss)));
    }
    if let Some(seconds) = layer.cpu_seconds_per_gb {
        text.push_str(&format!("<br>{seconds:.3} s of processor time for each GB"));
    }
    if let Some(share) = layer.cache_share {
        text.push_str(&format!("<br>caches {}", percent(share)));
    }
    text
}
