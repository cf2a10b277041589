//! Limits of changes between two sides, and whether they were kept.

use plan::{FigureQuantity, Limit, figure_name};

use crate::comparisons::{Comparison, Pair, Samples, Sides, compared, samples_of};
use crate::figures::{Figure, percentiles};
use crate::gate::{Gate, Kind, untold};
use crate::statistics::{Contrast, DIFFERENCE_LEAST, Settled};

/// Whether a limit was kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LimitResult {
    /// The value is beyond the limit.
    Worse,
    /// The values do not tell, or there are none.
    Untold,
    /// The value is within the limit.
    Within,
}

impl LimitResult {
    /// All, in the order in which they are shown.
    pub const ALL: [Self; 3] = [Self::Worse, Self::Untold, Self::Within];

    /// The word for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Worse => "worse",
            Self::Untold => "cannot be told",
            Self::Within => "within the limit",
        }
    }
}

/// A limit for one value of one figure, and whether it was kept.
#[derive(Debug, Clone, PartialEq)]
pub struct Limited {
    /// The index of the limit.
    pub limit: usize,
    /// The value that it is about, as in `small tasks=4 read.p99`.
    pub name: String,
    /// Whether it was kept.
    pub result: LimitResult,
    /// The comparison with the limit: its outcome says on which side of the limit the second value is, its numbers are
    /// of the change. `None` if a side has no value.
    pub comparison: Option<Comparison>,
    /// Why it cannot be told; empty if it can be.
    pub why: String,
    /// What would tell it.
    pub needs: Option<Needs>,
}

/// What would tell whether a limit was kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// So many values on each side.
    Values(usize),
    /// So many values on each side at least: fewer show no difference, and how many do is not known.
    AtLeast(usize),
    /// More than [`crate::statistics::REPETITIONS_MOST`]: the change is too close to the limit.
    TooMany,
}

impl Limited {
    /// The change, as far as something may be said of it.
    #[must_use]
    pub fn change(&self) -> Option<f64> {
        self.comparison.as_ref().filter(|one| !one.is_withheld()).map(|one| one.difference.change)
    }

    /// The first of two is the one that is shown first: by the result, then by the largest change.
    fn rank(&self) -> (LimitResult, f64) {
        (self.result, -self.change().map_or(0.0, |change| change.ln_1p().abs()))
    }
}

/// The result of all limits.
#[derive(Debug, Clone, PartialEq)]
pub struct LimitResults {
    /// The worst first.
    pub all: Vec<Limited>,
    /// The limits that are about no figure of either side, by index.
    pub without_figure: Vec<usize>,
    /// Whether a run is one value.
    pub is_of_runs: bool,
}

impl LimitResults {
    /// Worse if a value is, else untold if a value is.
    #[must_use]
    pub fn result(&self) -> LimitResult {
        self.all.iter().map(|one| one.result).min().unwrap_or(LimitResult::Untold)
    }

    /// How many values have this result.
    #[must_use]
    pub fn count(&self, result: LimitResult) -> usize {
        self.all.iter().filter(|one| one.result == result).count()
    }
}

/// Judges `limits` of the changes between two sides, each with one run or several.
///
/// The values of the second side are compared with those of the first times the limit, by the test of differences, with
/// all values of all limits as one family. So a value is beyond the limit, or within it, if the interval of its change
/// is, or if it is obvious, of too few values for an interval. What only one side has, or what was not measured alike, cannot be told.
#[must_use]
pub fn limited(limits: &[Limit], before: &[Gate<'_>], after: &[Gate<'_>]) -> LimitResults {
    let sides = Sides::of([before, after]);
    let mut questions: Vec<(&Pair<'_, '_>, Vec<Samples>)> = Vec::new();
    let mut limit_of = Vec::new();
    let mut all = Vec::new();
    for (number, limit) in limits.iter().enumerate() {
        let is_meant = |one: &&Figure| limit.figure.is_of(&one.case, one.phase);
        for pair in sides.pairs.iter().filter(|pair| pair.leading().iter().any(is_meant)) {
            let samples = samples_of(limit.figure.quantity, &pair.figures(), pair.is_of_runs).into_iter();
            questions.push((pair, samples.map(|one| one.against(limit.factor())).collect()));
            limit_of.push(number);
        }
        for (figures, side) in sides.alone.iter().zip(["after", "before"]) {
            let has = |one: &&&Figure| {
                let alone = [vec![**one], vec![**one]];
                !samples_of(limit.figure.quantity, &alone, false).is_empty()
            };
            all.extend(figures.iter().filter(|one| is_meant(one)).filter(has).map(|one| Limited {
                limit: number,
                name: figure_name(&one.case, one.phase, limit.figure.quantity, None),
                result: LimitResult::Untold,
                comparison: None,
                why: format!("not measured {side}"),
                needs: None,
            }));
        }
    }
    for (at, found) in compared(&questions).into_iter().enumerate() {
        let limit = &limits[limit_of[at]];
        let differs = questions[at].0.differences().told;
        let of = |(sample, found): (&Samples, _)| judged((limit_of[at], limit), sample, found, &differs);
        all.extend(questions[at].1.iter().zip(found).map(of));
    }
    all.sort_by(|one, other| {
        let (one, other) = (one.rank(), other.rank());
        one.0.cmp(&other.0).then(one.1.total_cmp(&other.1))
    });
    let without_figure = (0..limits.len()).filter(|number| !all.iter().any(|one| one.limit == *number));
    LimitResults {
        without_figure: without_figure.collect(),
        all,
        is_of_runs: before.len() > 1 || after.len() > 1,
    }
}

fn judged(
    (number, limit): (usize, &Limit),
    sample: &Samples,
    comparison: Option<Comparison>,
    differs: &[String],
) -> Limited {
    let (case, phase, quantity, operation) = sample.subject();
    let name = figure_name(case, phase, quantity, operation);
    let is_beyond = |outcome| (outcome == Contrast::Lower) == (limit.factor() < 1.0);
    let result = match &comparison {
        _ if !differs.is_empty() => LimitResult::Untold,
        Some(one) if one.is_withheld() || !one.difference.is_stated() => LimitResult::Untold,
        Some(one) if is_beyond(one.difference.outcome) => LimitResult::Worse,
        Some(_) => LimitResult::Within,
        None => LimitResult::Untold,
    };
    let why = match (&comparison, sample.is_missing()) {
        _ if result != LimitResult::Untold => String::new(),
        _ if !differs.is_empty() => format!("not measured alike: {}", differs.join("; ")),
        (Some(one), _) => undecided(one),
        (None, [true, _]) => missing(quantity, "before"),
        (None, [_, true]) => missing(quantity, "after"),
        (None, _) => "a value is not above 0".to_owned(),
    };
    let is_open =
        |one: &&Comparison| result == LimitResult::Untold && !one.is_withheld() && differs.is_empty();
    let needs = comparison.as_ref().filter(is_open).map(|one| match one.settled_by {
        Some(Settled { repetitions, .. }) => Needs::Values(repetitions),
        None if one.difference.n.0.min(one.difference.n.1) < DIFFERENCE_LEAST => {
            Needs::AtLeast(DIFFERENCE_LEAST)
        }
        None => Needs::TooMany,
    });
    Limited { limit: number, name, result, comparison, why, needs }
}

/// Why a comparison does not tell on which side of a limit a value is.
fn undecided(one: &Comparison) -> String {
    let open = untold(Kind::Comparison, &one.difference).filter(|_| !one.is_withheld());
    let reasons = one.reasons.iter().filter(|_| one.is_withheld()).chain(&open);
    let words: Vec<String> =
        reasons.map(|reason| format!("{}: {}", reason.because.name(), reason.evidence)).collect();
    words.join("; ")
}

fn missing(quantity: FigureQuantity, side: &str) -> String {
    match quantity {
        FigureQuantity::Percentile(percent) => {
            format!("no p{percent} {side}: figures have {}, and those that the study promises", percentiles())
        }
        FigureQuantity::Latency => format!("no mean latency {side}"),
        FigureQuantity::Rate => format!("no rate {side}"),
    }
}
