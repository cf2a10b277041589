//! The audit of own figures.

use std::collections::HashMap;

use plan::Plan;

use super::{measured, terms};
use crate::subject::subjects;
use crate::{Doubt, Expected, Figure};

/// What is doubtful in `figures`, in their order, then what concerns the study as a whole. Each
/// check speaks once of a figure, however many repetitions it finds. `expected` are the figures
/// against data sheets and limits.
#[must_use]
pub fn audit(plan: &Plan, figures: &[Figure], expected: &[Expected]) -> Vec<Doubt> {
    let mut limits: HashMap<usize, Vec<&Expected>> = HashMap::new();
    for one in expected {
        limits.entry(one.figure).or_default().push(one);
    }
    let mut doubts = Vec::new();
    for subject in subjects(plan, figures) {
        let limits = limits.get(&subject.index).map_or(&[][..], Vec::as_slice);
        let mut found = measured::doubts(&subject);
        found.extend(terms::of_figure(&subject, limits));
        let concerns = || match subject.case.target.as_str() {
            "" => subject.figure.conditions.clone(),
            target => format!("{target}: {}", subject.figure.conditions),
        };
        doubts.extend(found.into_iter().map(|one| one.of(Some(subject.index), concerns())));
    }
    doubts.extend(terms::of_study(plan, figures));
    doubts
}
