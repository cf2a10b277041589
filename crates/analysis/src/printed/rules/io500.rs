//! IO500: its scores.

use super::printout::{Found, Printout};
use crate::printed::score::score_checks;

/// The scores of the result that this case is the last of.
pub(super) fn scores(printout: &Printout<'_>) -> Vec<Found> {
    let has_release = printout.case.printed_by.as_ref().is_some_and(|by| by.release.is_some());
    let checks = score_checks(printout.run, printout.printed, has_release);
    checks.into_iter().map(|check| (None, check)).collect()
}
