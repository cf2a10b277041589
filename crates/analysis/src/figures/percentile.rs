//! The percentiles of which a study wants bounds.

use plan::{Asked, Case, Criteria, Phase, Plan, Selector};

/// A percentile that a study promises or expects of some figures.
pub(crate) struct Wanted<'a> {
    /// All figures if `None`.
    figures: Option<&'a Selector>,
    pub(crate) percent: f64,
    /// The number of these figures, if they are judged together.
    family: usize,
}

impl<'a> Wanted<'a> {
    /// All percentiles of the criteria of `plan`.
    pub(crate) fn of(plan: &'a Plan) -> Vec<Self> {
        let Criteria { commitments, expectations, .. } = &plan.criteria;
        let promised = commitments.iter().filter_map(|one| {
            let family = plan.selected(&one.figures).len().max(1);
            Some(Self { figures: Some(&one.figures), percent: one.asked.percentile()?, family })
        });
        let expected = expectations.iter().filter_map(|one| {
            Some(Self { figures: None, percent: Asked::from(one.amount).percentile()?, family: 1 })
        });
        promised.chain(expected).collect()
    }

    /// The percentiles that `all` ask for `phase` of `case`, each for one figure and for all figures together.
    pub(crate) fn asked(all: &[Self], case: &Case, phase: Phase) -> Vec<(f64, usize)> {
        let takes = |one: &&Self| one.figures.is_none_or(|figures| figures.takes(case, phase));
        let asked = all.iter().filter(takes).flat_map(|one| [(one.percent, 1), (one.percent, one.family)]);
        let mut asked: Vec<(f64, usize)> = asked.collect();
        asked.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
        asked.dedup();
        asked
    }
}
