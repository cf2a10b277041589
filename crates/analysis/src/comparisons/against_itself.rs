//! A run compared with itself (an A/A test): each difference that is called is a false alarm.

use crate::gate::Gate;
use crate::statistics::{Rule, exact_share};

/// How the repetitions of a comparison are divided into two sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Division {
    /// A B B A A B B A…, as cases that are interleaved.
    InTurn,
    /// The first half and the second, as two runs, one after the other.
    OneAfterOther,
}

impl Division {
    /// Both.
    pub const ALL: [Self; 2] = [Self::InTurn, Self::OneAfterOther];

    /// The two sides of `values`, which are in the order in which they were measured and even in number.
    #[must_use]
    pub fn sides(self, values: &[f64]) -> [Vec<f64>; 2] {
        let half = values.len() / 2;
        let is_first = |place: usize| match self {
            Self::InTurn => matches!(place % 4, 0 | 3),
            Self::OneAfterOther => place < half,
        };
        let side = |first| {
            let own = values.iter().enumerate().filter(|(place, _)| is_first(*place) == first);
            own.map(|(_, value)| *value).collect()
        };
        [side(true), side(false)]
    }
}

/// How often a rule called a difference where there is none.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FalseAlarms {
    /// The rule.
    pub rule: Rule,
    /// How the repetitions were divided.
    pub division: Division,
    /// Comparisons that were called different.
    pub alarms: usize,
    /// Where the probability of one lies: [`exact_share`].
    pub interval: (f64, f64),
}

/// The figures of a run, each compared with itself several times.
#[derive(Debug, Clone, PartialEq)]
pub struct AgainstItself {
    /// Figures with enough repetitions.
    pub figures: usize,
    /// Figures with too few, or of which the audit lets nothing be said.
    pub left_out: usize,
    /// Comparisons, of all figures together.
    pub comparisons: usize,
    /// Fewest and most repetitions on each side of one.
    pub repetitions: (usize, usize),
    /// For each of [`Rule::ALL`], with each of [`Division::ALL`].
    pub alarms: Vec<FalseAlarms>,
}

/// No figure of a run has enough repetitions to be compared with itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooFewRepetitions {
    /// The most that a figure has which the audit lets something be said of.
    pub has: usize,
    /// How many are needed.
    pub needed: usize,
}

/// Compares the figures of `gate` with themselves `times` times: their repetitions that count, in the order in which
/// they were measured, go into so many comparisons of equally many, without any of them in two. Each is judged alone.
///
/// # Errors
/// No figure has [`Rule::LEAST`] repetitions for each side of so many comparisons.
pub fn against_itself(gate: &Gate<'_>, times: usize) -> Result<AgainstItself, TooFewRepetitions> {
    let needed = Rule::LEAST.saturating_mul(2).saturating_mul(times);
    let usable = gate.subjects.iter().filter(|one| gate.is_usable(one.index));
    let all: Vec<Vec<f64>> = usable.map(|one| one.figure.headline_of_passes()).collect();
    let has = all.iter().map(Vec::len).max().unwrap_or(0);
    if times == 0 || has < needed {
        return Err(TooFewRepetitions { has, needed });
    }
    let enough: Vec<&Vec<f64>> = all.iter().filter(|values| values.len() >= needed).collect();
    let on_side = |values: &Vec<f64>| values.len() / times / 2;
    let compared: Vec<&[f64]> =
        enough.iter().flat_map(|values| values.chunks_exact(2 * on_side(values)).take(times)).collect();
    let alarms = |rule: Rule, division: Division| {
        let differ = compared.iter().filter(|values| {
            let [first, second] = division.sides(values);
            rule.says(&first, &second).is_some()
        });
        let alarms = differ.count();
        FalseAlarms { rule, division, alarms, interval: exact_share(alarms, compared.len()) }
    };
    let sizes = || enough.iter().map(|values| on_side(values));
    Ok(AgainstItself {
        figures: enough.len(),
        left_out: gate.subjects.len() - enough.len(),
        comparisons: compared.len(),
        repetitions: (sizes().min().unwrap_or(0), sizes().max().unwrap_or(0)),
        alarms: Rule::ALL
            .iter()
            .flat_map(|&rule| Division::ALL.map(|division| alarms(rule, division)))
            .collect(),
    })
}
