//! Commitments of a study that was read with overrides: what they are about stays what the file says.

use std::collections::HashSet;

use super::overrides::Override;
use crate::{Phase, Plan, Selector, Terms};

/// Gives each commitment of `plan`, which was read with `overrides`, the terms that it has in `written`, the plan of
/// the same file without overrides. Only an override of the commitment itself changes its number of nodes.
pub(super) fn keep_terms(plan: &mut Plan, written: &Plan, overrides: &[Override]) {
    let own = plan.criteria.commitments.iter().zip(&written.criteria.commitments);
    let terms = own.map(|(own, file)| {
        let there: HashSet<_> = selected(plan, &own.figures).collect();
        let is_set = overrides.iter().any(|one| one.sets("commitment", &file.name, "nodes"));
        Terms {
            nodes: if is_set { &own.terms } else { &file.terms }.nodes.clone(),
            reads_others: file.terms.reads_others,
            taken_away: selected(written, &file.figures).filter(|figure| !there.contains(figure)).count(),
            differing: Vec::new(),
        }
    });
    let terms: Vec<Terms> = terms.collect();
    for (commitment, terms) in plan.criteria.commitments.iter_mut().zip(terms) {
        commitment.terms = terms;
    }
}

/// The figures of a plan that `selector` takes.
fn selected<'p>(plan: &'p Plan, selector: &Selector) -> impl Iterator<Item = (&'p str, Phase)> {
    plan.selected(selector).into_iter().map(|(case, phase)| (case.id.as_str(), phase))
}
