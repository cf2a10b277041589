//! From the rate of the device to that of the application: what each layer takes.

use analysis::Layer;
use serde_json::json;

use super::plotly::{BLUE, Chart, GREEN, INK, Trace, VERMILLION, axis, names};
use crate::escape::chart as escaped;
use crate::format::{column_unit, divisor, percent};
use crate::section::{headline, point, signed, title};
use crate::view::{Figure, Report};

/// A layer and its figure.
type Step<'a> = (&'a Figure, &'a Layer);

/// One for each workload, phase and chain of layers, at the point at which the lowest is fastest; none where a layer
/// is withheld.
pub(super) fn charts(report: &Report) -> Vec<Chart> {
    let steps = report.found.layers.iter().filter_map(|stack| {
        let steps = stack.iter().map(|one| Some((report.figures.get(one.figure())?, one.says()?)));
        steps.collect::<Option<Vec<Step<'_>>>>()
    });
    steps.filter(|stack| stack[0].1.best).map(|stack| waterfall(report, &stack)).collect()
}

fn waterfall(report: &Report, stack: &[Step<'_>]) -> Chart {
    let (first, (last, highest)) = (stack[0].0, stack[stack.len() - 1]);
    let unit = first.shown_unit();
    let rate = |(figure, _): &Step<'_>| figure.spread_in(unit).median / divisor(unit);
    let points = stack.iter().enumerate().map(|(place, step)| {
        let below = place.checked_sub(1).map_or(0.0, |below| rate(&stack[below]));
        (escaped(title(report, &step.1.target)), rate(step) - below, words(report, step))
    });
    let shown = stack.iter().map(|(figure, layer)| match layer.loss {
        Some(loss) => format!("{} ({})", headline(figure), signed(-loss)),
        None => headline(figure),
    });
    let measures = (0..stack.len()).map(|place| if place == 0 { "absolute" } else { "relative" });
    let steps = Trace(json!({
        "type": "waterfall", "name": "rate", "text": shown.collect::<Vec<_>>(), "textposition": "outside", "cliponaxis": false,
        "measure": measures.collect::<Vec<_>>(), "totals": { "marker": { "color": BLUE } },
        "increasing": { "marker": { "color": GREEN } }, "decreasing": { "marker": { "color": VERMILLION } },
        "connector": { "line": { "color": INK, "width": 1, "dash": "dot" } },
    }));
    let at = point(&first.settings);
    let at = if at.is_empty() { first.phase.to_owned() } else { format!("{}, {at}", first.phase) };
    let heading = format!("{}, {at}: from the device to the application", first.group);
    let left = percent(highest.share);
    let note = format!("{}. {left} of the lowest layer's rate is left at the highest.", last.conditions);
    Chart::new("layers", "layers", heading, note)
        .half(stack.len() <= 4)
        .axes(names(), axis(column_unit(unit)))
        .traces([steps.points(points)])
}

fn words(report: &Report, (figure, layer): &Step<'_>) -> String {
    let target = escaped(title(report, &layer.target));
    let mut text = format!("<b>{target}</b>: {}<br>{}", headline(figure), escaped(&figure.conditions));
    if let Some(loss) = layer.loss {
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
