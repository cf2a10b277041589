//! Grouping and naming of series.

use analysis::sweeps::Curve;
use plan::Setting;

use crate::figure::{Figure, by_values};
use crate::report::Report;
use crate::section::title;

/// Rows of one chart.
const ROWS_MAX: usize = 64;

/// Groups of `all` whose items are `alike`, in order of first occurrence.
pub(super) fn grouped<T>(all: impl IntoIterator<Item = T>, alike: impl Fn(&T, &T) -> bool) -> Vec<Vec<T>> {
    let mut groups: Vec<Vec<T>> = Vec::new();
    for one in all {
        match groups.iter_mut().find(|group| alike(&group[0], &one)) {
            Some(group) => group.push(one),
            None => groups.push(vec![one]),
        }
    }
    groups
}

/// `curves` in legend order: those of each target and phase by the values of other settings.
pub(super) fn in_order<'a>(curves: impl IntoIterator<Item = &'a Curve>) -> Vec<&'a Curve> {
    let mut alike = analysis::figures::grouped(curves, |one| (one.target.as_str(), one.phase));
    for lines in &mut alike {
        lines.sort_by(|one, other| by_values(&one.fixed, &other.fixed));
    }
    alike.concat()
}

/// Those of `all` that have a row, and what is said where that is not all: the fastest of each target, workload and
/// phase.
pub(super) fn rows_of<'a>(all: &[&'a Figure]) -> (Vec<&'a Figure>, String) {
    if all.len() <= ROWS_MAX {
        return (all.to_vec(), String::new());
    }
    let rate = |one: &Figure| one.spread_in(one.shown_unit()).median;
    let alike = analysis::figures::grouped(all.iter().copied(), |one| (&one.group, &one.target, one.phase));
    let fastest =
        alike.into_iter().filter_map(|alike| alike.into_iter().max_by(|a, b| rate(a).total_cmp(&rate(b))));
    let fastest: Vec<&Figure> = fastest.take(ROWS_MAX).collect();
    let told = format!(
        " {} of {} figures: the fastest of each target, workload and phase; the tables have all.",
        fastest.len(),
        all.len()
    );
    (fastest, told)
}

/// `, transfer 1 MiB`: other settings of a series, after its name.
pub(super) fn fixed(settings: &[Setting]) -> String {
    settings.iter().map(|one| format!(", {one}")).collect()
}

/// ` on flash`, or ` of flash`: nothing where the study names no target.
pub(super) fn target(report: &Report, word: &str, name: &str) -> String {
    match title(report, name) {
        "" => String::new(),
        title => format!(" {word} {title}"),
    }
}
