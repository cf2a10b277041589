//! How series are put together and called.

use analysis::Curve;
use plan::Setting;

use crate::figure::by_values;
use crate::report::Report;
use crate::section::title;

/// `all` in groups, each at the place of its first, with which the others are `alike`.
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

/// `curves` as legends name them: those of each target and phase by the values of what else is set.
pub(super) fn in_order<'a>(curves: impl IntoIterator<Item = &'a Curve>) -> Vec<&'a Curve> {
    let mut alike = analysis::grouped(curves, |one| (one.target.as_str(), one.phase));
    for lines in &mut alike {
        lines.sort_by(|one, other| by_values(&one.fixed, &other.fixed));
    }
    alike.concat()
}

/// `, transfer 1 MiB`: what else is set at a series, behind its name.
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
