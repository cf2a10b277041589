//! Every repetition against a swept size.

use analysis::{Dispersion, Stated};
use serde_json::json;

use super::axis::{Axis, unit_of as axis_unit};
use super::plotly::{BLUE, Chart, Trace, VERMILLION};
use crate::format::{column_unit, divisor, percent, rate_in};
use crate::section::title;
use crate::view::Report;
use crate::words::unit as unit_of;

/// One chart for each dispersion.
pub(super) fn charts(report: &Report) -> Vec<Chart> {
    let all = report.found.dispersion.iter().filter_map(Stated::says).filter(|one| one.points.len() > 1);
    all.map(|one| dispersion(report, one)).collect()
}

fn dispersion(report: &Report, one: &Dispersion) -> Chart {
    let places = one.points.iter().map(|point| point.x);
    let axis = Axis::new(&one.axis, axis_unit(&one.points[0].at), places.collect());
    let unit = unit_of(one.phase);
    let medians = one.points.iter().filter_map(|point| {
        Some((axis.at(point.x), report.figures.get(point.figure)?.headline().median / divisor(unit)))
    });
    let repetitions = one.points.iter().flat_map(|point| {
        let axis = &axis;
        point.repetitions.iter().zip(1..).map(move |(value, number)| {
            let words = format!(
                "<b>{}</b>, value {number} of {}: {}; all vary by {}",
                axis.words(point.x),
                point.repetitions.len(),
                rate_in(*value, unit),
                percent(point.variation)
            );
            (axis.at(point.x), value / divisor(unit), words, point.figure + 1)
        })
    });
    let top = repetitions.clone().map(|(_, value, ..)| value).fold(0.0, f64::max) * 1.06;
    let onset = one.points.iter().find(|point| Some(&point.at) == one.onset.as_ref()).map(|point| {
        let name = format!("spread begins at {}", axis.words(point.x));
        let x = axis.at(point.x);
        Trace::level(&name, "dash", [(x, 0.0), (x, top)]).with("line.color", VERMILLION)
    });
    let open =
        Trace::marks("every repetition", BLUE).with("marker.symbol", "circle-open").points(repetitions);
    let heading = format!("{}, {} of {}", title(report, &one.target), one.phase, one.group);
    let y = json!({ "title": { "text": column_unit(unit) }, "range": [0, top] });
    Chart::new("dispersion", "repetitions", heading, "Every repetition at every size.")
        .half(one.points.len() <= 12)
        .axes(axis.layout(), y)
        .traces([Trace::lines("median", BLUE).points(medians), open].into_iter().chain(onset))
}
