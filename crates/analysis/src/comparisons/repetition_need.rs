//! What the planned repetitions can tell for a claim or a commitment, and how many would tell more.

use plan::{Case, Claim, Commitment, Over, Phase, Plan, Quantity, Relation, Selector, Side, Statistic};

use crate::statistics::{DIFFERENCE_LEAST, Question, detectable, repetitions_for};

/// What the repetitions of a plan can tell for a rule of a claim, or for a commitment.
#[derive(Debug, Clone, PartialEq)]
pub struct RepetitionNeed {
    /// What is asked.
    pub question: Question,
    /// Whether the coefficient of variation of several figures is compared, not a rate or a latency.
    pub of_variation: bool,
    /// The number of comparisons that are made together.
    pub family: usize,
    /// The repetitions of the side with the fewest.
    pub planned: usize,
    /// The difference that the claim states, after ÷ before − 1: `factor = 0.909` states −9.1 %.
    pub difference: Option<f64>,
    /// The tolerance within which both sides have to be equal.
    pub tolerance: Option<f64>,
    /// The noise of the figures, as far as it is known: the standard deviation of ln(rate) between passes.
    pub noise: Option<f64>,
    /// The scatter of what is compared ÷ that noise.
    scale: f64,
}

impl RepetitionNeed {
    /// The need of a rule; `noise` is that of a phase of a case, if known. `None` if noise does not tell what a
    /// quantity scatters by, such as a knee, or if nothing of it is planned.
    #[must_use]
    pub fn of_claim(plan: &Plan, claim: &Claim, noise: impl Fn(&Case, Phase) -> Option<f64>) -> Option<Self> {
        let right = match &claim.right {
            Side::Measured(selector) => Some(selector),
            Side::Value(_) | Side::OperationsPerSecond(_) => None,
        };
        let sides: Vec<Vec<(&Case, Phase)>> =
            [Some(&claim.left), right].into_iter().flatten().map(|side| plan.selected(side)).collect();
        let most = sides.iter().map(Vec::len).max()?;
        let of_variation = claim.quantity == Quantity::Variation;
        let among = match claim.quantity {
            // The best of several may be the best by chance: see `claims`.
            Quantity::BestRate | Quantity::LowestRate | Quantity::Latency => most,
            Quantity::TypicalRate | Quantity::Variation => 1,
            _ => return None,
        };
        let question = match (claim.relation, right) {
            (Relation::Equal, None) => Question::EqualsNumber,
            (_, None) => Question::Number,
            (Relation::Equal, Some(_)) => Question::Equal,
            (Relation::Greater | Relation::Less, Some(_)) => Question::Differ,
        };
        let is_equal = claim.relation == Relation::Equal;
        // Of k points whose variation is far above the noise, the variation scatters by noise ÷ √(k − 1), and of points
        // that are equal by less.
        let least = sides.iter().map(Vec::len).min()?;
        let scale = if of_variation { 1.0 / (least.max(2) as f64 - 1.0).sqrt() } else { 1.0 };
        let figures: Vec<(&Case, Phase)> = sides.into_iter().flatten().collect();
        Some(Self {
            question,
            of_variation,
            family: plan.criteria.claims.len() * among,
            planned: planned(&figures)?,
            difference: (is_equal && claim.factor != 1.0).then_some(claim.factor - 1.0),
            tolerance: is_equal.then_some(claim.tolerance),
            noise: pooled(&figures, noise),
            scale,
        })
    }

    /// The need of a commitment that a median of five repetitions or more, or its bound, is to keep. `None` for
    /// others: a percentile takes transfers ([`super::PercentileNeed`]), and the best, worst or mean of all
    /// repetitions is compared as it is.
    #[must_use]
    pub fn of_commitment(
        plan: &Plan,
        commitment: &Commitment,
        noise: impl Fn(&Case, Phase) -> Option<f64>,
    ) -> Option<Self> {
        let of_percentile = commitment.asked.percentile().is_some();
        let by_median = matches!(commitment.statistic, Statistic::Median | Statistic::ConfidenceBound);
        let selector: &Selector = &commitment.figures;
        let figures = plan.selected(selector);
        let planned = planned(&figures)?;
        // A median of fewer is judged beyond a margin of its own, whatever the noise is.
        let has_bound = commitment.statistic != Statistic::Median || planned >= DIFFERENCE_LEAST;
        (by_median && !of_percentile && has_bound).then_some(())?;
        Some(Self {
            question: Question::Promise,
            of_variation: false,
            family: if commitment.over == Over::Best { figures.len() } else { 1 },
            planned,
            difference: None,
            tolerance: None,
            noise: pooled(&figures, noise),
            scale: 1.0,
        })
    }

    /// The smallest effect that the planned repetitions tell with this noise in nine of ten runs: after ÷ before − 1,
    /// or the difference of two variations.
    #[must_use]
    pub fn told(&self, noise: f64) -> Option<f64> {
        detectable(self.question, noise * self.scale, self.planned, self.family)
    }

    /// The number of repetitions that tell `effect` with this noise; `None` if it is too large to ask for.
    #[must_use]
    pub fn takes(&self, effect: f64, noise: f64) -> Option<usize> {
        repetitions_for(self.question, effect, noise * self.scale, self.family)
    }

    /// The number of repetitions that tell a difference of `effect`, also where equality is asked for.
    #[must_use]
    pub fn takes_to_differ(&self, effect: f64, noise: f64) -> Option<usize> {
        let question = if self.question == Question::Equal { Question::Differ } else { self.question };
        repetitions_for(question, effect, noise * self.scale, self.family)
    }
}

fn planned(figures: &[(&Case, Phase)]) -> Option<usize> {
    figures.iter().map(|(case, _)| case.repetitions_least() as usize).min()
}

/// The root of the mean square of the known noises.
fn pooled(figures: &[(&Case, Phase)], noise: impl Fn(&Case, Phase) -> Option<f64>) -> Option<f64> {
    let squares: Vec<f64> =
        figures.iter().filter_map(|(case, phase)| noise(case, *phase)).map(|noise| noise.powi(2)).collect();
    (!squares.is_empty()).then(|| (squares.iter().sum::<f64>() / squares.len() as f64).sqrt())
}
