//! Progress of the steps on objects, since a later case may continue with the objects of an earlier one.

use std::collections::BTreeMap;
use std::path::PathBuf;

use plan::{Case, Phase};
use record::PhaseRecord;

/// Number of steps in each set that each task has done since the objects were created, by the roots of
/// the objects.
#[derive(Debug, Default)]
pub(super) struct ObjectSteps(BTreeMap<Vec<PathBuf>, Vec<u64>>);

impl ObjectSteps {
    /// The steps done before a phase of `pass` of `case`; empty if the run knows of none.
    pub(super) fn before(&self, case: &Case, pass: u32) -> Vec<u64> {
        self.0.get(&case.workload.roots(pass)).cloned().unwrap_or_default()
    }

    /// Records the steps of a finished `phase`.
    pub(super) fn after(&mut self, case: &Case, phase: Phase, record: &PhaseRecord) {
        let Some(objects) = case.workload.work.objects() else { return };
        let roots = case.workload.roots(record.phase.key.repetition);
        if phase.begins() || phase.ends() {
            self.0.remove(&roots);
            return;
        }
        let done = self.0.entry(roots).or_default();
        done.resize(case.workload.tasks as usize, objects.first);
        let round = objects.operations_of_step().saturating_mul(u64::from(objects.sets)).max(1);
        for row in &record.tasks {
            if let Some(steps) = done.get_mut(row.task as usize) {
                // An operation that found a modified item is not counted as done.
                *steps = steps.saturating_add(match case.workload.stonewall {
                    Some(_) => row.transfers.div_ceil(round),
                    None => objects.steps,
                });
            }
        }
    }
}
