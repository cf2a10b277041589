//! IO500: its scores.

use super::{Found, Printout};
use crate::printed::score::score_checks;

/// The scores of the result that this case is the last of.
pub(super) fn scores(printout: &Printout<'_>) -> Vec<Found> {
    score_checks(printout.run, printout.printed).into_iter().map(|check| (None, check)).collect()
}
