//! Commitments that nothing that this run measures can keep, with the line that the study lacks.

use std::collections::BTreeSet;

use plan::{Case, Commitment, Phase, Plan, RunEnvironment, state_caches, visible};

use crate::format::screen::Screen;
use crate::format::table::wrapped;

/// A line for each reason; none on a model, which has no caches that nobody knows.
pub(super) fn doubtful(plan: &Plan, environment: &RunEnvironment, screen: Screen) -> String {
    let commitments = plan.criteria.commitments.iter();
    let mut lines: Vec<String> = commitments.flat_map(|one| terms(plan, one)).collect();
    lines.extend(unstated(plan).filter(|_| environment.model.is_none()));
    lines.iter().map(|line| wrapped("  ! ", line, screen.prose())).collect()
}

/// What the figures of a commitment do not meet of what the study file says, each once.
fn terms(plan: &Plan, commitment: &Commitment) -> BTreeSet<String> {
    let name = visible(&commitment.name);
    let figures = plan.selected(&commitment.figures).into_iter();
    let unmet = figures.flat_map(|(case, phase)| commitment.terms.unmet(case, phase));
    unmet.map(|why| format!("`{name}` cannot be kept: {why}")).collect()
}

/// The targets of promised reads of which the study states no caches.
fn unstated(plan: &Plan) -> impl Iterator<Item = String> {
    let promised = plan.criteria.commitments.iter().flat_map(|one| plan.selected(&one.figures));
    let is_stated = |case: &Case| {
        let target = plan.criteria.targets.iter().find(|target| target.name == case.target);
        target.is_some_and(|target| target.stated_memory().is_some())
    };
    let lacking = promised.filter(|(case, phase)| reads(case, *phase) && !is_stated(case));
    let targets: BTreeSet<&str> = lacking.map(|(case, _)| case.target.as_str()).collect();
    targets.into_iter().map(|name| {
        format!("reads are promised, and a cache behind the devices (drive, controller, array, hypervisor) may answer them: {}", state_caches(name))
    })
}

/// Whether a figure of `phase` of `case` depends on where data is read from.
fn reads(case: &Case, phase: Phase) -> bool {
    let workload = &case.workload;
    let does = match phase {
        Phase::Mixed => workload.read_percent > 0,
        Phase::Jobs => true,
        _ => phase.is_result() && workload.work.kind().only_reads(phase),
    };
    does && workload.backend.moves_data()
}
