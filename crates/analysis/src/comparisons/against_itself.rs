//! Compares a run with itself (an A/A test): every difference that is reported is a false alarm.

use crate::gate::Gate;
use crate::statistics::{Rule, exact_share};

/// How the repetitions of a figure are divided into two sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Division {
    /// A B B A A B B A…, like interleaved cases.
    InTurn,
    /// The first half and the second half, like two runs one after the other.
    OneAfterOther,
}

impl Division {
    /// Both divisions.
    pub const ALL: [Self; 2] = [Self::InTurn, Self::OneAfterOther];

    /// Splits `values` into two sides. The values are in the order of measurement, and their number is even.
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

/// How often a rule reported a difference where there is none.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FalseAlarms {
    /// The rule.
    pub rule: Rule,
    /// How the repetitions were divided.
    pub division: Division,
    /// The number of comparisons that were reported as different.
    pub alarms: usize,
    /// The confidence interval for the probability of a false alarm: [`exact_share`].
    pub interval: (f64, f64),
}

/// The figures of a run, each compared with itself several times.
#[derive(Debug, Clone, PartialEq)]
pub struct AgainstItself {
    /// The number of figures with enough repetitions.
    pub figures: usize,
    /// The number of figures with too few repetitions, or about which the audit allows no statement.
    pub left_out: usize,
    /// The number of comparisons over all figures.
    pub comparisons: usize,
    /// The lowest and highest number of repetitions on each side of a comparison.
    pub repetitions: (usize, usize),
    /// One entry for each of [`Rule::ALL`] with each of [`Division::ALL`].
    pub alarms: Vec<FalseAlarms>,
}

/// No figure of a run has enough repetitions for a comparison with itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooFewRepetitions {
    /// The highest number of repetitions among the figures that the audit allows statements about.
    pub has: usize,
    /// The number of repetitions needed.
    pub needed: usize,
}

/// Compares the figures of `gate` with themselves `times` times. The counted repetitions of each figure, in the order
/// of measurement, are divided into `times` comparisons of equal size that share no repetition. Each comparison is
/// judged on its own.
///
/// # Errors
/// Errors if no figure has [`Rule::LEAST`] repetitions for each side of that many comparisons.
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
