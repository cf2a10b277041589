//! The audit of own figures.

use std::collections::HashMap;

use plan::Plan;

use super::{Found, SCALING_SLACK, measured, percent, terms};
use crate::scaling::scaling_of;
use crate::subject::subjects;
use crate::{Check, Doubt, Expected, Figure, Scaling};

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
    let subjects = subjects(plan, figures);
    let beyond = beyond_devices(figures, &scaling_of(&subjects));
    for subject in subjects {
        let limits = limits.get(&subject.index).map_or(&[][..], Vec::as_slice);
        let mut found = measured::doubts(&subject);
        found.extend(terms::of_figure(&subject, limits));
        let concerns = || match subject.case.target.as_str() {
            "" => subject.figure.conditions.clone(),
            target => format!("{target}: {}", subject.figure.conditions),
        };
        found.extend(beyond.get(&subject.index).cloned());
        doubts.extend(found.into_iter().map(|one| one.of(Some(subject.index), concerns())));
    }
    doubts.extend(terms::of_study(plan, figures));
    doubts
}

/// Figures that are faster than all their devices together, by their place.
fn beyond_devices(figures: &[Figure], scaling: &[Scaling]) -> HashMap<usize, Found> {
    let beyond = scaling.iter().filter(|one| one.share > 1.0 + SCALING_SLACK);
    let found = |one: &Scaling| {
        let evidence = format!(
            "{} of what {} devices reach together, by the baseline of {}",
            percent(one.share),
            one.devices,
            figures[one.baseline].conditions
        );
        let advice = "measure the baseline with the same sizes and enough tasks, or correct `devices`";
        (one.figure, Found::new(Check::AboveCeiling, evidence, advice))
    };
    beyond.map(found).collect()
}
