//! The same work on several targets that were measured in turns: each figure beside that of the first target.

use crate::figures::{RateOf, Subject, grouped};
use crate::gate::{
    Gate, Kind, Of, Quantity, Stated, Statement, Value,
    table::{Column, any, change, detail, number, rate, subject, text, word},
};
use crate::statistics::{Contrast, Difference};

/// A figure of one target compared with the same figure of the first target.
#[derive(Debug, Clone, PartialEq)]
pub struct TargetContrast {
    /// The name of the target.
    pub target: String,
    /// The name of the first target.
    pub first: String,
    /// From the first target to the other.
    pub difference: Difference,
    /// What the rates count.
    pub counts: RateOf,
}

impl TargetContrast {
    /// The result of the test, in words.
    #[must_use]
    pub const fn outcome(&self) -> &'static str {
        match self.difference.outcome {
            Contrast::Higher => "faster",
            Contrast::Lower => "slower",
            Contrast::NotShown => "no difference shown",
            Contrast::TooFew => "too few values",
        }
    }

    /// The change. `None` if none is shown, because a number would suggest one.
    #[must_use]
    pub fn change(&self) -> Option<f64> {
        (self.difference.outcome != Contrast::NotShown).then_some(self.difference.change)
    }
}

impl Statement for TargetContrast {
    const KIND: Kind = Kind::TargetContrast;
    const OF: Of = Of::Figure;
    const COUNTS: Option<fn(&Self) -> RateOf> = Some(|one| one.counts);
    const CAPTION: &'static str =
        "Targets that were measured in turns, each figure beside that of the first target";
    const COLUMNS: &'static [Column<Self>] = &[
        subject(word("target", "target", "The target.", |one| &one.target)),
        subject(word(
            "first",
            "beside",
            "The target that it is compared with, whose figure is the second in `figures`.",
            |one| &one.first,
        )),
        rate("first_per_second", "its rate", "Median of the first rate, of the first target.", |one| {
            Some(one.difference.before)
        }),
        rate("rate_per_second", "rate", "Median of the first rate.", |one| Some(one.difference.after)),
        change("change", "change", "Rate ÷ that of the first target − 1; where it was told.", Self::change),
        any(
            "interval",
            "between",
            "Interval of the change, at the level of the test.",
            Quantity::Interval,
            |one| Value::or_none(one.difference.interval, |(low, high)| Value::Changes(low, high)),
        ),
        text(
            "outcome_word",
            "result",
            "`faster`, `slower`, `no difference shown`, or `too few values`.",
            |one| one.outcome().to_owned(),
        ),
        detail(number("p_value", "p", "p of the test of differences, corrected for all of them.", |one| {
            one.difference.p_value
        })),
    ];
}

/// Each figure of a quick run of several directories, beside that of the first directory.
#[must_use]
pub(crate) fn target_contrasts(gate: &Gate<'_>) -> Vec<Stated<TargetContrast>> {
    if gate.plan.source.quick_directories().len() < 2 {
        return Vec::new();
    }
    let place = |target: &str| gate.plan.criteria.targets.iter().position(|one| one.name == target);
    let mut pairs: Vec<(&Subject<'_>, &Subject<'_>)> = Vec::new();
    for mut same in grouped(&gate.subjects, |one| one.place(&[])) {
        same.sort_by_key(|one| place(&one.case.target));
        let (Some(first), others) = (same.first().copied(), same.iter().skip(1)) else { continue };
        // Without its figure on the first target there is nothing to compare with.
        if place(&first.case.target) == Some(0) {
            pairs.extend(others.map(|other| (first, *other)));
        }
    }
    let is_usable = |one: &Subject<'_>| gate.is_usable(one.index);
    let family = pairs.iter().filter(|(first, other)| is_usable(first) && is_usable(other)).count();
    let contrast = |(first, other): &(&Subject<'_>, &Subject<'_>)| {
        let difference = gate.difference(first, other, family)?;
        let value = TargetContrast {
            target: other.case.target.clone(),
            first: first.case.target.clone(),
            difference,
            counts: other.figure.rate_of(),
        };
        Some(gate.state_difference(vec![other.index, first.index], &difference, value))
    };
    pairs.iter().filter_map(contrast).collect()
}
