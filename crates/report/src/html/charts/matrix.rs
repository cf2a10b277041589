//! How the ratios of CPU time to real time are distributed.

use serde_json::{Value, json};

use super::spread::pattern_of;
use super::{Chart, PALETTE, escaped};
use crate::section::{matrix_name, matrix_place};
use crate::view::Report;
use crate::view::matrix::Matrix;

/// Hatchings that say the same as the colours.
const PATTERNS: [&str; 4] = ["", "/", ".", "x"];
/// Systems that one chart can hold.
const SYSTEMS_MAX: usize = 12;

/// One histogram for each workload.
pub(super) fn charts(report: &Report) -> Vec<Chart> {
    let all = &report.findings.matrices.systems;
    let mut groups: Vec<&str> = all.iter().map(|one| one.group.as_str()).collect();
    groups.dedup();
    let several = groups.len() > 1;
    let of_group = |(index, group): (usize, &&str)| {
        let systems: Vec<&Matrix> =
            all.iter().filter(|one| one.group == **group && !one.histogram.is_empty()).collect();
        let place = if several { matrix_place(group) } else { "matrix".to_owned() };
        (!systems.is_empty()).then(|| histogram(report, &systems, place, index))
    };
    groups.iter().enumerate().filter_map(of_group).collect()
}

fn histogram(report: &Report, systems: &[&Matrix], place: String, index: usize) -> Chart {
    let shown = &systems[..systems.len().min(SYSTEMS_MAX)];
    let width = shown[0].histogram.first().map_or(0.1, |bin| bin.to - bin.from);
    let means = shown.iter().enumerate().filter_map(|(place, one)| {
        let mean = one.ratios.as_ref()?.mean;
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
        place,
        title: "CPU time ÷ real time of every launch".to_owned(),
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
    let middles: Vec<f64> = one.histogram.iter().map(|bin| f64::midpoint(bin.from, bin.to)).collect();
    let counts: Vec<usize> = one.histogram.iter().map(|bin| bin.launches).collect();
    let words: Vec<String> = one
        .histogram
        .iter()
        .map(|bin| format!("{} launches from {:.3} to below {:.3}", bin.launches, bin.from, bin.to))
        .collect();
    json!({
        "type": "bar", "name": escaped(&matrix_name(report, one)), "x": middles, "y": counts, "customdata": words,
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
