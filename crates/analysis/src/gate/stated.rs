//! A statement with the outcome of the policy for its kind.

use super::policy::{Because, Kind};
use crate::audit::{Outcome, Use};
use crate::statistics::{Contrast, Difference};

/// A reason why a statement is withheld or marked.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the name says it")]
pub struct Reason {
    pub because: Because,
    /// The numbers that show the reason, and what would settle it.
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
    /// The indices of all figures that it rests on, starting with the figure that it is about.
    pub inputs: Vec<usize>,
    pub outcome: Outcome,
    /// The reasons why it is marked or withheld.
    pub reasons: Vec<Reason>,
    value: T,
}

impl<T> Stated<T> {
    /// The value of the statement. Returns `None` if it is withheld.
    pub const fn says(&self) -> Option<&T> {
        match self.outcome {
            Outcome::Withheld => None,
            Outcome::Stated | Outcome::Marked => Some(&self.value),
        }
    }

    /// A statement of something in the plan, which rests on no figure.
    pub(crate) const fn of_plan(value: T) -> Self {
        Self { inputs: Vec::new(), outcome: Outcome::Stated, reasons: Vec::new(), value }
    }

    /// The figure that the statement is about.
    ///
    /// # Panics
    /// Panics if the statement is of a kind that rests on no figure.
    #[must_use]
    pub fn figure(&self) -> usize {
        self.inputs[0]
    }

    /// Adds a reason to mark it.
    pub(super) fn with(mut self, mark: Option<Reason>) -> Self {
        if mark.is_some() {
            self.outcome = self.outcome.max(Outcome::Marked);
        }
        self.reasons.extend(mark);
        self
    }

    /// Splits the statement into several with the same outcome, such as the parts of its value.
    pub(crate) fn each<U>(&self, of: impl FnOnce(&T) -> Vec<U>) -> Vec<Stated<U>> {
        let one = |value| Stated {
            inputs: self.inputs.clone(),
            outcome: self.outcome,
            reasons: self.reasons.clone(),
            value,
        };
        of(&self.value).into_iter().map(one).collect()
    }

    /// For columns with the subject of a statement, which are shown even if it is withheld.
    pub(crate) const fn about(&self) -> &T {
        &self.value
    }
}

/// Applies the policy of `kind` to all reasons against a statement. If several reasons are of the same kind, the
/// first one is kept.
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
    // If the statement is withheld, only the reasons for that are reported.
    reasons.retain(|reason| outcome != Outcome::Withheld || outcome_of(reason) == outcome);
    Stated { inputs, outcome, reasons, value }
}

/// The reason why a difference is not stated, or on what condition it is.
pub(crate) fn untold(kind: Kind, difference: &Difference) -> Option<Reason> {
    match difference.outcome {
        Contrast::Higher | Contrast::Lower => {
            difference.is_obvious().then(|| Reason::new(Because::Obvious, condition(difference)))
        }
        Contrast::TooFew => too_few(difference.n.0.min(difference.n.1), kind.policy().least),
        Contrast::NotShown => Some(Reason::new(Because::WithinScatter, not_shown(difference))),
    }
}

/// The condition of a difference that is obvious.
pub(crate) fn condition(difference: &Difference) -> String {
    let (least, to_show) = (difference.n.0.min(difference.n.1), difference.to_show);
    format!("unless this storage has two states this far apart: n = {least}, {to_show} a side tell")
}

pub(super) fn too_few(n: usize, least: usize) -> Option<Reason> {
    (n < least).then(|| Reason::new(Because::TooFew, format!("n = {n}, {least} are needed")))
}

/// The interval as text, as in `−3.1 % to +1.2 %`, as far as it is known.
fn not_shown(difference: &Difference) -> String {
    match difference.interval {
        Some((low, high)) => format!("between {:+.1} % and {:+.1} %", low * 100.0, high * 100.0),
        None => "no interval".to_owned(),
    }
}
