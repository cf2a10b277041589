//! Checks of what other tools printed.

pub(crate) mod imported;
pub(crate) mod plausible;
pub(crate) mod printed_checks;
pub(crate) mod reconciled;
pub(crate) mod rules;
pub(crate) mod score;

pub use self::{imported::*, plausible::*, printed_checks::*, reconciled::*, rules::*, score::*};
