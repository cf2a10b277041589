//! The figures that a commitment or a statement of a study is about, and why they decide nothing.

use std::collections::HashSet;

use plan::{Case, Phase, Plan, Selector};

use super::Gate;
use crate::{Doubt, Figure, Use};

impl Gate<'_> {
    /// The cases and result phases that a selection is about, each once, with the place of the figure; none where no
    /// repetition that counts was measured.
    pub(crate) fn selected(&self, figures: &Selector) -> Vec<(&Case, Phase, Option<usize>)> {
        let mut seen = HashSet::new();
        let place = |case: &Case, phase| {
            let measured = |figure: &Figure| figure.phase == phase && figure.counted().next().is_some();
            let mut of_case = self.places.get(case.id.as_str()).into_iter().flatten().copied();
            of_case.find(|&place| measured(&self.figures[place]))
        };
        let cases = self.plan.cases.iter();
        cases
            .flat_map(|case| case.phases.iter().map(move |&phase| (case, phase)))
            .filter(|(case, phase)| phase.is_result() && figures.takes(case, *phase))
            .filter(|(case, phase)| seen.insert((case.id.as_str(), *phase)))
            .map(|(case, phase)| (case, phase, place(case, phase)))
            .collect()
    }

    /// Why nothing can be said of a selection: a part of it was not measured, which could be the best or the worst.
    pub(crate) fn incomplete(&self, selector: &Selector) -> Option<String> {
        let meant = self.selected(selector);
        let missing = meant.iter().filter(|(.., place)| place.is_none()).count();
        let verb = if missing == 1 { "was" } else { "were" };
        (missing > 0).then(|| format!("{missing} of {} figures {verb} not measured", meant.len()))
    }

    /// Why `figures` decide nothing: something speaks against one of them.
    pub(crate) fn doubtful(&self, figures: &[usize]) -> Option<String> {
        let mut reasons =
            figures.iter().filter_map(|&figure| self.against(figure, Use::PromiseKept).into_iter().next());
        let first = reasons.next()?;
        let count = 1 + reasons.count();
        Some(match figures.len() {
            1 => format!("the figure is doubtful: {first}"),
            all if count == 1 => format!("one of {all} figures is doubtful: {first}"),
            all => format!("{count} of {all} figures are doubtful, as one for {first}"),
        })
    }
}

/// Why each of `figures` may not be compared, in their order: the first thing that speaks against it, by the doubts that
/// disqualify it or because it was not finished; none where nothing does.
#[must_use]
pub fn refusals(plan: &Plan, figures: &[Figure], doubts: &[Doubt]) -> Vec<Option<String>> {
    let gate = Gate::new(plan, figures, doubts);
    (0..figures.len()).map(|place| gate.against(place, Use::PromiseKept).into_iter().next()).collect()
}
