//! The charts of the page. Each file makes the series of one subject; `plotly` is the description of a chart,
//! `look` the style of series, `axis`, `marks` and `series` are shared.

mod axis;
mod bars;
mod devices;
mod figure;
mod jobs;
mod latency;
mod look;
mod marks;
mod members;
mod nodes;
mod over_time;
mod pictures;
mod plotly;
mod series;
mod sweep;
mod weak;

use crate::format::escape::chart as escaped;
use crate::format::rate_in;
use crate::report::Report;
use crate::report::figure::Figure;

pub(crate) use bars::overview;
pub(crate) use figure::of_figure;
pub(crate) use look::work;
pub(crate) use over_time::over_time;
pub(crate) use pictures::pictures;
pub(crate) use plotly::Chart;

/// Maximum number of charts of one kind, so that the page opens fast; the tables have the rest.
const CHARTS_MAX: usize = 48;

/// The charts of a study, for its sections; `second` is another run of it.
pub(crate) fn of_study(report: &Report, second: Option<&Report>) -> Vec<Chart> {
    let kinds = [
        members::charts(report),
        sweep::maps(report),
        sweep::charts(report, second),
        nodes::charts(report),
        weak::charts(report),
        devices::charts(report),
        jobs::charts(report),
        latency::of_sweeps(report),
        sweep::dispersions(report),
    ];
    kinds.into_iter().flat_map(|charts| charts.into_iter().take(CHARTS_MAX)).collect()
}

/// Hover text of a figure: its conditions and the measured value.
pub(crate) fn hover(figure: &Figure) -> String {
    let mut lines = vec![
        escaped(&figure.conditions),
        format!("{}: {}", escaped(&figure.statistic()), crate::section::headline(figure)),
    ];
    if figure.repeated() > 1 {
        let unit = figure.shown_unit();
        let [low, high] = [figure.spread_in(unit).min, figure.spread_in(unit).max];
        lines.push(format!("all from {} to {}", rate_in(low, unit), rate_in(high, unit)));
    }
    lines.extend(figure.latency.first().map(|one| one.hover()));
    if figure.page_cache {
        lines.push("the page cache took part".to_owned());
    }
    if !figure.doubts.is_empty() {
        lines.push(format!("doubted: {}", figure.doubts.join(", ")));
    }
    lines.join("<br>")
}
