//! How the ratios of CPU time to real time are distributed.

use analysis::Matrix;
use serde_json::{Value, json};

use super::spread::pattern_of;
use super::{Chart, PALETTE, escaped};
use crate::section::title;
use crate::view::Report;

/// Hatchings that say the same as the colours.
const PATTERNS: [&str; 4] = ["", "/", ".", "x"];
/// Systems that one chart can hold.
const SYSTEMS_MAX: usize = 12;

/// One histogram for each workload.
pub(super) fn charts(report: &Report) -> Vec<Chart> {
    let of_group = |(index, systems): (usize, &[Matrix])| {
        let systems: Vec<&Matrix> = systems.iter().filter(|one| one.ratios.is_some()).collect();
        (!systems.is_empty()).then(|| histogram(report, &systems, index))
    };
    let groups = report.found.matrices.all.chunk_by(|a, b| a.group == b.group);
    groups.enumerate().filter_map(of_group).collect()
}

fn histogram(report: &Report, systems: &[&Matrix], index: usize) -> Chart {
    let shown = &systems[..systems.len().min(SYSTEMS_MAX)];
    let width = shown[0].histogram.bins().next().map_or(0.0, |(from, to, _)| to - from);
    let means = shown.iter().enumerate().filter_map(|(place, one)| {
        let mean = one.ratios.as_ref()?.summary.mean;
        Some(line(mean, PALETTE[place % PALETTE.len()], "dash"))
    });
    let mut shapes = vec![line(1.0, "ink", "dot")];
    shapes.extend(means);
    let at_one = json!({
        "x": 1, "y": 1, "yref": "paper", "yanchor": "bottom", "showarrow": false, "font": { "size": 11.5 },
        "text": "← waits for I/O · 1 · threaded →",
    });
    Chart {
        id: format!("chart-matrix-{index}"),
        place: "matrix".to_owned(),
        title: format!("{}: CPU time ÷ real time of every launch", shown[0].group),
        note: format!(
            "Launches in bins of {width:.3}; dashed: the mean of each system. The bin is twice the distance of the \
             quartiles ÷ ∛n, raised to a round number."
        ),
        full: true,
        height: 380,
        data: shown.iter().enumerate().map(|(place, one)| bars(report, one, place)).collect(),
        layout: json!({
            "barmode": "group", "bargap": 0.12,
            "xaxis": { "title": { "text": "(user + system CPU time) ÷ real time" }, "showgrid": false },
            "yaxis": { "title": { "text": "launches" }, "rangemode": "tozero" },
            "shapes": shapes, "annotations": [at_one], "hovermode": "x unified",
            "margin": { "l": 56, "r": 24, "t": 74, "b": 54 },
        }),
    }
}

fn bars(report: &Report, one: &Matrix, place: usize) -> Value {
    let bins = one.histogram.bins();
    let middles: Vec<f64> = bins.clone().map(|(from, to, _)| f64::midpoint(from, to)).collect();
    let counts: Vec<usize> = bins.clone().map(|(_, _, launches)| launches).collect();
    let words: Vec<String> = bins
        .map(|(from, to, launches)| format!("{launches} launches from {from:.3} to below {to:.3}"))
        .collect();
    json!({
        "type": "bar", "name": escaped(title(report, &one.system)), "x": middles, "y": counts, "customdata": words,
        "showlegend": true, "hovertemplate": "%{customdata}",
        "marker": {
            "color": PALETTE[place % PALETTE.len()],
            "pattern": pattern_of(PATTERNS[place % PATTERNS.len()]),
        },
    })
}

fn line(at: f64, colour: &str, dash: &str) -> Value {
    json!({
        "type": "line", "x0": at, "x1": at, "y0": 0, "y1": 1, "yref": "paper",
        "line": { "color": colour, "width": 1.6, "dash": dash },
    })
}
