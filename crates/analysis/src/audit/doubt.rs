//! What an audit says: the check that found something doubtful, the numbers, and what to do.

use std::collections::HashSet;

use super::policy::{Check, Severity, Use};

/// Something doubtful, with evidence.
#[derive(Debug, Clone, PartialEq)]
pub struct Doubt {
    /// Which check found it.
    pub check: Check,
    /// The figure; none where it concerns the study or a published figure.
    pub figure: Option<usize>,
    /// What it concerns, in words: conditions of the figure, or the id of a published one.
    pub concerns: String,
    /// The numbers that show it.
    pub evidence: String,
    /// What to do about it.
    pub advice: String,
}

impl Doubt {
    /// Whether no promise can be kept by a figure with it.
    #[must_use]
    pub fn disqualifies(&self) -> bool {
        self.withholds(Use::PromiseKept)
    }

    /// Whether `statement` cannot be made of a figure with it.
    #[must_use]
    pub fn withholds(&self, statement: Use) -> bool {
        self.check.severity(statement) == Severity::Withheld
    }
}

/// The figures that one of `checks` doubts.
#[must_use]
pub fn doubted(doubts: &[Doubt], checks: &[Check]) -> HashSet<usize> {
    doubts.iter().filter(|doubt| checks.contains(&doubt.check)).filter_map(|doubt| doubt.figure).collect()
}
