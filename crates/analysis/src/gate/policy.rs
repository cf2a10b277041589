//! What each kind of statement needs, and what becomes of it where that is missing: one row for each kind. Nothing else
//! decides whether a statement stands.

use std::fmt::Write as _;

use crate::Check;
use crate::difference::DIFFERENCE_LEAST;

/// A kind of statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// The best point of a sweep.
    Best,
    /// A rate against the sum of single devices.
    Scaling,
    /// What a target loses or gains against another.
    Tax,
    /// Which target varies least over a sweep.
    Consistency,
    /// Time × devices and × rack units.
    Cost,
    /// Which data a target is for.
    Placement,
}

/// What becomes of a statement for a reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Treatment {
    /// It is not made; the reason stands in its place.
    Withheld,
    /// It is made, and the reason stands beside it.
    Marked,
    /// The reason does not touch it.
    Ignored,
}

use Treatment::{Ignored, Marked, Withheld};

impl Treatment {
    /// The word in documentation.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Withheld => "withheld",
            Self::Marked => "marked",
            Self::Ignored => "–",
        }
    }
}

/// Why a statement is withheld or marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Because {
    /// The audit disqualifies a figure that it rests on.
    Disqualified(Check),
    /// The audit doubts a figure that it rests on by a check that disqualifies it for promises alone.
    Doubted(Check),
    /// The case of a figure ended before all its repetitions were measured, or never met the rule that ends it.
    Unfinished,
    /// There are fewer repetitions than it needs.
    TooFew,
    /// The difference is not larger than the scatter shows.
    WithinScatter,
    /// Other figures that could have changed it are disqualified, and were left out.
    LeftOut,
}

impl Because {
    /// The name in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Disqualified(check) | Self::Doubted(check) => check.name(),
            Self::Unfinished => "unfinished",
            Self::TooFew => "too few repetitions",
            Self::WithinScatter => "within the scatter",
            Self::LeftOut => "figures left out",
        }
    }
}

/// What a kind of statement needs.
#[derive(Debug, Clone, Copy)]
pub struct Policy {
    /// The kind.
    pub kind: Kind,
    /// Its name in JSON, CSV and OpenMetrics.
    pub id: &'static str,
    /// Its heading.
    pub title: &'static str,
    /// The section of a report that it stands in.
    pub section: &'static str,
    /// Repetitions of each figure below which it has too few.
    pub least: usize,
    /// A figure that the audit disqualifies, or that is unfinished.
    pub disqualified: Treatment,
    /// Fewer repetitions than `least`.
    pub too_few: Treatment,
    /// A difference that is not larger than the scatter shows.
    pub within_scatter: Treatment,
    /// How it is tested; empty where it is a value and no comparison.
    pub test: &'static str,
}

/// A row in which figures that are disqualified withhold the statement.
const fn row(kind: Kind, id: &'static str, title: &'static str, section: &'static str) -> Policy {
    Policy {
        kind,
        id,
        title,
        section,
        least: 1,
        disqualified: Withheld,
        too_few: Marked,
        within_scatter: Ignored,
        test: "",
    }
}

/// The policy: one row for each kind.
pub const POLICY: [Policy; 6] = [
    Policy {
        least: DIFFERENCE_LEAST,
        within_scatter: Marked,
        test: "difference from the second best, corrected for the number of points",
        ..row(Kind::Best, "best", "Best points", "best")
    },
    Policy { least: DIFFERENCE_LEAST, ..row(Kind::Scaling, "scaling", "Scaling", "targets") },
    Policy {
        least: DIFFERENCE_LEAST,
        within_scatter: Withheld,
        test: "difference, corrected for the number of pairs",
        ..row(Kind::Tax, "tax", "Tax", "targets")
    },
    row(Kind::Consistency, "consistency", "Consistency over the points of a sweep", "targets"),
    Policy { least: DIFFERENCE_LEAST, ..row(Kind::Cost, "cost", "Cost", "cost") },
    Policy { least: DIFFERENCE_LEAST, ..row(Kind::Placement, "placement", "Placement", "cost") },
];

impl Kind {
    /// Its row.
    #[must_use]
    pub fn policy(self) -> &'static Policy {
        POLICY.iter().find(|row| row.kind == self).expect("a test looks for a row for each kind")
    }
}

impl Policy {
    /// What becomes of the statement for this reason.
    #[must_use]
    pub const fn treatment(&self, because: Because) -> Treatment {
        match because {
            Because::Disqualified(_) | Because::Unfinished => self.disqualified,
            Because::TooFew => self.too_few,
            Because::WithinScatter => self.within_scatter,
            Because::Doubted(_) | Because::LeftOut => Marked,
        }
    }
}

/// The table of all kinds for the documentation.
#[must_use]
pub fn policy_table() -> String {
    let mut out = String::from(
        "| statement | doubtful or unfinished figure | least repetitions | fewer | difference within the scatter | test |\n\
         |---|---|---:|---|---|---|\n",
    );
    for row in &POLICY {
        // Writing to a String cannot fail.
        let _ = writeln!(
            out,
            "| {} (`{}`) | {} | {} | {} | {} | {} |",
            row.title,
            row.id,
            row.disqualified.name(),
            row.least,
            if row.least > 1 { row.too_few.name() } else { Ignored.name() },
            row.within_scatter.name(),
            if row.test.is_empty() { "none: a value" } else { row.test },
        );
    }
    out
}
