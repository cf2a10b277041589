//! What runs that are merged state differently about a commitment, and where they measured it in different places.
//!
//! The merged plan has one commitment of each name, whichever run is named first. Passes of a run that promised
//! something else, described the target otherwise, or used other storage are no evidence for it.

use std::collections::BTreeSet;

use plan::{Case, Commitment, Layer, Plan, PlanSource};
use serde::Serialize;

use crate::Run;
use crate::run::own_parts::parts_of;

/// Stores in each commitment of `plan` what differs between `runs`, from which `plan` was made.
pub(super) fn mark(plan: &mut Plan, runs: &[Run]) {
    let differing = |commitment| differing(plan, runs, commitment);
    let all: Vec<Vec<String>> = plan.criteria.commitments.iter().map(differing).collect();
    for (commitment, differing) in plan.criteria.commitments.iter_mut().zip(all) {
        commitment.terms.differing.extend(differing);
    }
}

fn differing(plan: &Plan, runs: &[Run], commitment: &Commitment) -> Vec<String> {
    let selected: BTreeSet<&str> =
        plan.selected(&commitment.figures).into_iter().map(|(case, _)| case.id.as_str()).collect();
    let cases = |run: &'_ Run| -> Vec<Case> {
        let all = run.manifest.plan.cases.iter();
        all.filter(|case| selected.contains(case.id.as_str())).cloned().collect()
    };
    let concerned: Vec<(&Run, Vec<Case>)> = runs
        .iter()
        .map(|run| (run, cases(run)))
        .filter(|(run, cases)| !cases.is_empty() || stated(run, commitment).is_some())
        .collect();
    // Of each run, the first one before it that it differs from is named.
    let differs = |(index, other): (usize, &(&Run, Vec<Case>))| {
        concerned[..index].iter().find_map(|one| between(one, other, commitment))
    };
    concerned.iter().enumerate().filter_map(differs).collect()
}

/// What differs between two runs, with their cases that a commitment is about.
fn between(one: &(&Run, Vec<Case>), other: &(&Run, Vec<Case>), commitment: &Commitment) -> Option<String> {
    let ((one, own), (other, theirs)) = (one, other);
    let mut differs = terms(one, other, commitment);
    for case in own {
        let same = theirs.iter().find(|theirs| theirs.id == case.id);
        differs.extend(same.and_then(|theirs| places(one, case, other, theirs)));
    }
    let [one, other] = [one, other].map(|run| &run.manifest.run_id);
    let differs = (!differs.is_empty()).then(|| differs.join("; "))?;
    Some(format!("runs {one} and {other} cannot be judged together, so judge each alone: {differs}"))
}

fn stated<'r>(run: &'r Run, commitment: &Commitment) -> Option<&'r Commitment> {
    run.manifest.plan.criteria.commitments.iter().find(|own| own.name == commitment.name)
}

/// The differences between what both studies state, as in ``target `d` (caches)``.
fn terms(one: &Run, other: &Run, commitment: &Commitment) -> Vec<String> {
    let mut differs = Vec::new();
    match (stated(one, commitment), stated(other, commitment)) {
        (Some(own), Some(theirs)) => differs.extend(unequal("commitment", &commitment.name, own, theirs)),
        // Another tool that measures in turn with a study promises nothing.
        (None, Some(_)) | (Some(_), None) if [one, other].into_iter().all(is_study) => {
            differs.push(format!("only one of them has commitment `{}`", commitment.name));
        }
        _ => {}
    }
    let (plan, others) = (&one.manifest.plan, &other.manifest.plan);
    let (criteria, other_criteria) = (&plan.criteria, &others.criteria);
    differs.extend(same_names("target", &criteria.targets, &other_criteria.targets, |one| &one.name));
    let (own, theirs) = (&criteria.expectations, &other_criteria.expectations);
    differs.extend(same_names("expectation", own, theirs, |one| &one.name));
    differs.extend(same_names("layout", &plan.layouts, &others.layouts, |one| &one.name));
    differs
}

const fn is_study(run: &Run) -> bool {
    matches!(run.manifest.plan.source, PlanSource::Study { .. })
}

fn same_names<T: PartialEq + Serialize>(
    what: &str,
    own: &[T],
    others: &[T],
    name: fn(&T) -> &String,
) -> Vec<String> {
    let pairs =
        own.iter().filter_map(|one| Some((one, others.iter().find(|other| name(other) == name(one))?)));
    pairs.filter_map(|(one, other)| unequal(what, name(one), one, other)).collect()
}

/// The name, and the keys whose values differ.
fn unequal<T: PartialEq + Serialize>(what: &str, name: &str, one: &T, other: &T) -> Option<String> {
    if one == other {
        return None;
    }
    let [one, other] = [one, other].map(|value| match serde_json::to_value(value) {
        Ok(serde_json::Value::Object(keys)) => keys,
        _ => serde_json::Map::new(),
    });
    let keys: BTreeSet<&String> =
        one.keys().chain(other.keys()).filter(|key| one.get(*key) != other.get(*key)).collect();
    let keys: Vec<&str> = keys.into_iter().map(String::as_str).collect();
    Some(format!("{what} `{name}` ({})", keys.join(", ")))
}

/// Where both runs measured the case, if that differs.
fn places(one: &Run, own: &Case, other: &Run, theirs: &Case) -> Option<String> {
    let [one, other] = [(one, own), (other, theirs)].map(|(run, case)| place(run, case));
    (one != other).then(|| format!("case `{}` was measured on {one} and on {other}", own.id))
}

fn place(run: &Run, case: &Case) -> String {
    let manifest = &run.manifest;
    let of_target = |target: &std::path::PathBuf| match manifest.host.file_system_of(target) {
        Some(one) => format!("{} ({} of {})", target.display(), one.kind, one.source),
        None => target.display().to_string(),
    };
    let mut place = case.workload.files.targets.iter().map(of_target).collect::<Vec<_>>().join(", ");
    let described = manifest.plan.criteria.targets.iter().find(|one| one.name == case.target);
    // All nodes reach the same files of shared storage.
    if !described.is_some_and(|one| one.layer == Layer::Shared) {
        let parts = parts_of(run);
        let nodes: BTreeSet<&str> = parts.iter().flat_map(|part| part.nodes_of(case)).collect();
        place.push_str(&format!(" of {}", nodes.into_iter().collect::<Vec<_>>().join(", ")));
    }
    place
}
