//! The charts of the page: each file says which series a kind of chart has.

mod axis;
mod bars;
mod devices;
mod figure;
mod latency;
mod layers;
mod marks;
mod matrix;
mod nodes;
mod plotly;
mod response;
mod series;
mod spread;
mod sweep;
mod timeline;
mod weak;

use record::Run;

use crate::escape::chart as escaped;
use crate::format::rate_in;
use crate::view::{Figure, Report};

pub(crate) use bars::overview;
pub(crate) use figure::of_figure;
pub(crate) use plotly::Chart;

/// Charts of one kind: more would be slow to open, and nobody would look at them; the tables have the rest.
const CHARTS_MAX: usize = 48;
/// Repetitions in one line of what a pointer is told.
const HOVER_COLUMNS: usize = 6;

/// The charts of a study: comparisons, sweeps, latencies, repetitions.
pub(crate) fn of_study(run: &Run, report: &Report, second: Option<&Report>) -> Vec<Chart> {
    let kinds = [
        bars::best(report),
        matrix::charts(report),
        sweep::charts(report, second),
        nodes::charts(run, report),
        weak::charts(report),
        devices::charts(report),
        layers::charts(report),
        timeline::charts(report),
        response::charts(report),
        spread::charts(report),
    ];
    kinds.into_iter().flat_map(|charts| charts.into_iter().take(CHARTS_MAX)).collect()
}

/// The conditions and all repetitions of a figure, for whoever points at it.
pub(crate) fn hover(figure: &Figure) -> String {
    let mut lines = vec![
        escaped(&figure.conditions),
        format!("{}: {}", escaped(&figure.statistic), crate::section::headline(figure)),
    ];
    if figure.repetitions.len() > 1 {
        let all = figure.repetitions.iter().map(|one| {
            let value = rate_in(one.headline(figure.shown_unit()), figure.shown_unit());
            if one.counts() { value } else { format!("({value}, {})", one.role) }
        });
        let all: Vec<String> = all.collect();
        for (index, some) in all.chunks(HOVER_COLUMNS).enumerate() {
            lines.push(format!("{}{}", if index == 0 { "all: " } else { "" }, some.join(", ")));
        }
    }
    lines.extend(figure.latency.first().map(|one| one.hover()));
    if figure.page_cache {
        lines.push("the page cache took part".to_owned());
    }
    lines.join("<br>")
}
