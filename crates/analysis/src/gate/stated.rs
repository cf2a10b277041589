//! A statement with what the policy of its kind makes of it.

use super::policy::{Because, Kind};
use crate::audit::{Outcome, Use};
use crate::statistics::{Contrast, Difference};

/// A reason for which a statement is withheld or marked.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the name says it")]
pub struct Reason {
    pub because: Because,
    /// The numbers that show it, and what would settle it.
    pub evidence: String,
}

impl Reason {
    pub(super) fn new(because: Because, evidence: impl Into<String>) -> Self {
        Self { because, evidence: evidence.into() }
    }
}

/// A statement after the gate.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the name says it")]
pub struct Stated<T> {
    /// Every figure that it rests on, by its place; the one that it is of first.
    pub inputs: Vec<usize>,
    pub outcome: Outcome,
    /// Why it is marked or withheld.
    pub reasons: Vec<Reason>,
    value: T,
}

impl<T> Stated<T> {
    /// What it says; none where it is withheld.
    pub const fn says(&self) -> Option<&T> {
        match self.outcome {
            Outcome::Withheld => None,
            Outcome::Stated | Outcome::Marked => Some(&self.value),
        }
    }

    /// What a plan says, which rests on no figure.
    pub(crate) const fn of_plan(value: T) -> Self {
        Self { inputs: Vec::new(), outcome: Outcome::Stated, reasons: Vec::new(), value }
    }

    /// The figure that it is of.
    ///
    /// # Panics
    /// Of a kind that rests on no figure.
    #[must_use]
    pub fn figure(&self) -> usize {
        self.inputs[0]
    }

    /// With a reason to mark it.
    pub(super) fn with(mut self, mark: Option<Reason>) -> Self {
        if mark.is_some() {
            self.outcome = self.outcome.max(Outcome::Marked);
        }
        self.reasons.extend(mark);
        self
    }

    /// Several statements with the outcome of this one, as of the parts of what it says.
    pub(crate) fn each<U>(&self, of: impl FnOnce(&T) -> Vec<U>) -> Vec<Stated<U>> {
        let one = |value| Stated {
            inputs: self.inputs.clone(),
            outcome: self.outcome,
            reasons: self.reasons.clone(),
            value,
        };
        of(&self.value).into_iter().map(one).collect()
    }

    /// For columns that say what a statement is about, which stand where it is withheld, too.
    pub(crate) const fn about(&self) -> &T {
        &self.value
    }
}

/// Applies the policy of `kind` to everything that speaks against a statement. Of several reasons of one kind the first
/// is kept.
pub(super) fn decide<T>(
    (kind, statement): (Kind, Use),
    inputs: Vec<usize>,
    all: Vec<Reason>,
    value: T,
) -> Stated<T> {
    let outcome_of = |reason: &Reason| kind.policy().outcome(reason.because, statement);
    let mut reasons: Vec<Reason> = Vec::new();
    for reason in all {
        let known = reasons.iter().any(|one| one.because == reason.because);
        if outcome_of(&reason) > Outcome::Stated && !known {
            reasons.push(reason);
        }
    }
    let outcome = reasons.iter().map(outcome_of).max().unwrap_or(Outcome::Stated);
    // Only what withholds it is told then.
    reasons.retain(|reason| outcome != Outcome::Withheld || outcome_of(reason) == outcome);
    Stated { inputs, outcome, reasons, value }
}

/// Why a difference is not stated.
pub(crate) fn untold(kind: Kind, difference: &Difference) -> Option<Reason> {
    match difference.outcome {
        Contrast::Higher | Contrast::Lower => None,
        Contrast::TooFew => too_few(difference.n.0.min(difference.n.1), kind.policy().least),
        Contrast::NotShown => Some(Reason::new(Because::WithinScatter, not_shown(difference))),
    }
}

pub(super) fn too_few(n: usize, least: usize) -> Option<Reason> {
    (n < least).then(|| Reason::new(Because::TooFew, format!("{n}, {least} are needed")))
}

/// `−3.1 % to +1.2 %`, as far as it is known.
fn not_shown(difference: &Difference) -> String {
    match difference.interval {
        Some((low, high)) => format!("between {:+.1} % and {:+.1} %", low * 100.0, high * 100.0),
        None => "no interval".to_owned(),
    }
}
