//! What a study that is scaled to a budget gives up, before it runs.

use std::borrow::Cow;

use plan::{Plan, UntoldKind, visible};

use super::case::line;
use crate::format::screen::Screen;
use crate::format::table::wrapped;

/// Statements that are named before a run; [`explained`] names all.
const NAMED_BEFORE: usize = 3;

/// The line with what is given up, and how much can no longer be told. Empty for a study that runs as it says.
pub(super) fn line_of(plan: &Plan, screen: Screen) -> String {
    let Some(scaling) = &plan.scaling else { return String::new() };
    let mut out = line("scaled", &words(&scaling.to_string()), screen);
    let details = scaling.details();
    let more = details.len().saturating_sub(NAMED_BEFORE);
    out.extend(details.iter().take(NAMED_BEFORE).map(|detail| line("", &visible(detail), screen)));
    if more > 0 {
        out += &line("", &format!("{more} more, which --explain names"), screen);
    }
    out
}

/// All that is given up, what can no longer be told and why; with `full`, the values that are changed.
pub(super) fn explained(plan: &Plan, full: bool, screen: Screen) -> String {
    let Some(scaling) = &plan.scaling else { return String::new() };
    let mut out =
        wrapped("scaled to     ", &words(&scaling.to_string()).replacen("to ", "", 1), screen.prose());
    for detail in scaling.details() {
        out += &wrapped("              ", &visible(&detail), screen.prose());
    }
    let settings = scaling.settings.iter().filter(|_| full);
    out.extend(settings.map(|one| wrapped("  changed     ", &visible(one), screen.prose())));
    let caps = scaling.caps();
    if full && !caps.is_empty() {
        out += &wrapped("  besides     ", &format!("the points beyond {caps} are left out"), screen.prose());
    }
    out
}

/// The plan with only those claims and commitments that it can tell.
pub(super) fn tellable(plan: &Plan) -> Cow<'_, Plan> {
    let Some(scaling) = &plan.scaling else { return Cow::Borrowed(plan) };
    let mut left = plan.clone();
    left.criteria.claims.retain(|one| scaling.untold(UntoldKind::Claim, &one.id).is_none());
    left.criteria.commitments.retain(|one| scaling.untold(UntoldKind::Commitment, &one.name).is_none());
    Cow::Owned(left)
}

/// The line without its first word, which is the heading.
fn words(line: &str) -> String {
    line.strip_prefix("scaled ").unwrap_or(line).to_owned()
}
