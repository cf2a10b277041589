//! Names of tables in a study: they must be unique, and must exist if another table refers to them.

use super::error::StudyError;
use super::table::values::Span;
use crate::text::nearest::nearest;
use crate::text::visible::shown;

/// The error for a name that no table of the kind `noun` has.
pub(super) fn unknown<'n>(
    noun: &str,
    wanted: &str,
    span: Span,
    names: impl Iterator<Item = &'n str> + Clone,
) -> StudyError {
    let help = match (nearest(wanted, names.clone()), names.clone().next().is_none()) {
        (Some(meant), _) => format!("did you mean \"{meant}\"?"),
        (None, false) => format!("the {noun}s are {}", names.collect::<Vec<_>>().join(", ")),
        (None, true) => format!("the study has no [[{noun}]]; add one with this name"),
    };
    let message = format!("there is no {noun} `{}`", shown(wanted));
    StudyError::new(span, format!("no such {noun}"), message, help)
}

/// Adds `name` to `names`, and reports it if it already exists.
pub(super) fn unique(
    names: &mut Vec<(String, Span)>,
    name: &str,
    span: Span,
    noun: &str,
    errors: &mut Vec<StudyError>,
) {
    if let Some((_, first)) = names.iter().find(|(other, _)| other == name) {
        let message = format!("two {noun}s are called `{name}`");
        let help = format!("{noun} names must be unique in a study");
        errors.push(StudyError::new(span, "again here", message, help).and(first.clone(), "first here"));
        return;
    }
    names.push((name.to_owned(), span));
}
