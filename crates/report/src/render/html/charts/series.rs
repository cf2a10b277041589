//! Grouping and naming of series.

use analysis::sweeps::Curve;
use plan::Setting;

use crate::report::Report;
use crate::report::figure::{Figure, by_values};
use crate::section::title;

/// Maximum number of rows of a chart.
const ROWS_MAX: usize = 64;

/// `curves` in legend order: those of each target and phase by the values of other settings.
pub(super) fn in_order<'a>(curves: impl IntoIterator<Item = &'a Curve>) -> Vec<&'a Curve> {
    let mut groups = analysis::figures::grouped(curves, |one| (one.target.as_str(), one.phase));
    for lines in &mut groups {
        lines.sort_by(|one, other| by_values(&one.fixed, &other.fixed));
    }
    groups.concat()
}

/// The figures of `all` that get a row, and a note if that is not all: then the fastest of each target, workload and
/// phase.
pub(super) fn rows_of<'a>(all: &[&'a Figure]) -> (Vec<&'a Figure>, String) {
    if all.len() <= ROWS_MAX {
        return (all.to_vec(), String::new());
    }
    let rate = |one: &Figure| one.spread_in(one.shown_unit()).median;
    let groups = analysis::figures::grouped(all.iter().copied(), |one| (&one.group, &one.target, one.phase));
    let fastest =
        groups.into_iter().filter_map(|group| group.into_iter().max_by(|a, b| rate(a).total_cmp(&rate(b))));
    let fastest: Vec<&Figure> = fastest.take(ROWS_MAX).collect();
    let note = format!(
        " {} of {} figures: the fastest of each target, workload and phase; the tables have all.",
        fastest.len(),
        all.len()
    );
    (fastest, note)
}

/// `, transfer 1 MiB`: the settings that are constant in a series, to follow its name.
pub(super) fn fixed(settings: &[Setting]) -> String {
    settings.iter().map(|one| format!(", {one}")).collect()
}

/// ` on flash` or ` of flash`; empty if the study names no target.
pub(super) fn target(report: &Report, word: &str, name: &str) -> String {
    match title(report, name) {
        "" => String::new(),
        title => format!(" {word} {title}"),
    }
}
