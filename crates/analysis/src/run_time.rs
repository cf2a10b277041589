//! Where the time of a run went.

use std::sync::Arc;

use std::collections::HashMap;

use plan::{Case, Nanos, Phase};
use record::{PhaseKey, PhaseRow, Provenance, Run};

use crate::{Reconciled, TimePart};

/// The phases and rests of a run that this program made, against the time from its start to its end. What
/// they do not explain is around them: checks, preparation, observation, cleaning. None of a run that has not
/// ended, or that was put together from several or from what other tools printed.
#[must_use]
pub fn run_time(run: &Run) -> Option<Reconciled> {
    let manifest = &run.manifest;
    let own = matches!(manifest.provenance, Provenance::Measured | Provenance::Simulated);
    let finished = manifest.finished_unix_ns.filter(|_| own && run.parts.len() < 2)?;
    let wall = finished.checked_sub(manifest.started_unix_ns).filter(|&nanos| nanos > 0)?;
    let mut parts = parts(&manifest.plan.cases, &run.phases);
    let paused = paused_ns(run);
    if paused > 0 {
        parts.push(TimePart::new("between an end and a resumption", Nanos(paused).as_secs_f64()));
    }
    let time = Reconciled::new(parts, wall as f64 / 1e9, 0.0);
    (!time.parts.is_empty()).then_some(time)
}

/// Nanoseconds in which the run did not run, having ended early and been resumed later.
#[must_use]
pub fn paused_ns(run: &Run) -> u64 {
    run.pauses.iter().map(|pause| pause.to_unix_ns.abs_diff(pause.from_unix_ns)).sum()
}

/// The time of each phase over all passes, in the order in which they came first, and of all rests.
fn parts(cases: &[Case], phases: &[Arc<PhaseRow>]) -> Vec<TimePart> {
    let known: HashMap<&str, &Case> = cases.iter().map(|case| (case.id.as_str(), case)).collect();
    let mut parts: Vec<(Phase, f64)> = Vec::new();
    let mut rests = 0.0;
    let mut before: Option<&PhaseKey> = None;
    for row in phases {
        let seconds = Nanos(row.wall_ns).as_secs_f64();
        match parts.iter_mut().find(|(phase, _)| *phase == row.key.phase) {
            Some((_, sum)) => *sum += seconds,
            None => parts.push((row.key.phase, seconds)),
        }
        let same_pass =
            before.is_some_and(|key| key.case == row.key.case && key.repetition == row.key.repetition);
        before = Some(&row.key);
        let Some(case) = known.get(&*row.key.case) else { continue };
        // Trees rest before a pass, transfers before each phase that is a result.
        let rested = if case.workload.work.makes_trees() { !same_pass } else { row.key.phase.is_result() };
        if rested {
            rests += case.delay.as_secs_f64();
        }
    }
    let mut all: Vec<TimePart> =
        parts.into_iter().map(|(phase, seconds)| TimePart::new(phase.name(), seconds)).collect();
    if rests > 0.0 {
        all.push(TimePart::new("delay", rests));
    }
    all
}
