//! How the ratios of CPU time to real time are distributed.

use analysis::Matrix;

use super::plotly::{Chart, Look, Trace, axis};
use crate::section::title;
use crate::view::Report;

/// Systems that one chart can hold.
const SYSTEMS_MAX: usize = 12;

/// One histogram for each workload.
pub(super) fn charts(report: &Report) -> Vec<Chart> {
    let of_group = |systems: &[Matrix]| {
        let shown = systems.iter().filter(|one| one.ratios.is_some()).take(SYSTEMS_MAX);
        let systems: Vec<&Matrix> = shown.collect();
        (!systems.is_empty()).then(|| histogram(report, &systems))
    };
    let groups = report.found.matrices.all.chunk_by(|a, b| a.group == b.group);
    groups.filter_map(of_group).collect()
}

fn histogram(report: &Report, systems: &[&Matrix]) -> Chart {
    let bins = || systems.iter().flat_map(|one| one.histogram.bins());
    let top = bins().map(|(.., launches)| launches).max().unwrap_or_default() as f64;
    let width = bins().next().map_or(0.0, |(from, to, _)| to - from);
    let bars = systems.iter().enumerate().map(|(place, one)| {
        let bins = one.histogram.bins().map(|(from, to, launches)| {
            let words = format!("{launches} launches from {from:.3} to below {to:.3}");
            (f64::midpoint(from, to), launches, words)
        });
        Trace::bars(title(report, &one.system), Look::of(place)).points(bins)
    });
    let means = systems.iter().enumerate().filter_map(|(place, one)| {
        let mean = one.ratios.as_ref()?.summary.mean;
        let level = Trace::level(&format!("mean {mean:.3}"), "dash", [(mean, 0.0), (mean, top)]);
        Some(level.with("line.color", Look::of(place).colour).hidden(true))
    });
    let one = Trace::level("below 1: waits for I/O, above: threaded", "dot", [(1.0, 0.0), (1.0, top)]);
    let heading = format!("{}: CPU time ÷ real time of every launch", systems[0].group);
    let note = format!(
        "Launches in bins of {width:.3}; dashed: the mean of each system. The bin is twice the distance of the \
         quartiles ÷ ∛n, raised to a round number."
    );
    Chart::new("matrix", "matrix", heading, note)
        .axes(axis("(user + system CPU time) ÷ real time"), axis("launches"))
        .with("xaxis.rangemode", "normal")
        .traces(bars.chain([one]).chain(means))
}
