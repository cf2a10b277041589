//! Small objects in sets.

use std::path::PathBuf;

use super::{NamesMade, WorkKind, backend, halvings, largest, tasks};
use crate::{Bytes, Objects, ObjectsPlacement, Phase, PlanError, Workload, WorkloadSpec};

impl Objects {
    /// Sets of all tasks.
    fn all_sets(&self, workload: &Workload) -> u64 {
        u64::from(self.sets).saturating_mul(u64::from(workload.tasks))
    }
}

impl WorkKind for Objects {
    fn check(&self, spec: &WorkloadSpec) -> Result<(), PlanError> {
        Self::check(self, spec.tasks)
    }

    fn pass(&self, _workload: &Workload) -> u64 {
        u64::from(self.sets).saturating_mul(self.steps)
    }

    fn footprint(&self, workload: &Workload) -> Bytes {
        let all = self.all_sets(workload).saturating_mul(self.precreated);
        Bytes(all.saturating_mul(self.object_bytes.0))
    }

    fn operations(&self, workload: &Workload, phase: Phase) -> Option<u64> {
        Some(Self::operations(self, phase, workload.tasks))
    }

    fn phase_bytes(&self, workload: &Workload, phase: Phase) -> Bytes {
        let moved = match phase {
            Phase::Precreate => self.precreated,
            Phase::Benchmark if self.read_only => self.steps,
            Phase::Benchmark => self.steps.saturating_mul(2),
            _ => 0,
        };
        Bytes(self.all_sets(workload).saturating_mul(moved).saturating_mul(self.object_bytes.0))
    }

    fn bytes(&self, workload: &Workload) -> Bytes {
        largest(self, workload, [Phase::Precreate, Phase::Benchmark])
    }

    fn operation_bytes(&self, _phase: Phase) -> Option<Bytes> {
        Some(self.object_bytes)
    }

    fn read_part(&self, _workload: &Workload, phase: Phase) -> (u64, u64) {
        match phase {
            Phase::Benchmark if self.read_only => (1, 1),
            Phase::Benchmark => (1, 2),
            _ if phase.makes() => (0, 1),
            _ => (1, 1),
        }
    }

    fn only_reads(&self, phase: Phase) -> bool {
        phase == Phase::Benchmark && self.read_only
    }

    fn names(&self, workload: &Workload, phases: &[Phase]) -> NamesMade {
        self.names_needed(phases, u64::from(workload.tasks))
    }

    fn names_needed(&self, _phases: &[Phase], tasks: u64) -> NamesMade {
        let sets = u64::from(self.sets).saturating_mul(tasks);
        let files = sets.saturating_mul(self.precreated);
        NamesMade { files, directories: sets, file_bytes: self.object_bytes }
    }

    fn roots(&self, workload: &Workload, repetition: u32) -> Vec<PathBuf> {
        ObjectsPlacement::new(workload).map(|placement| placement.roots(repetition)).unwrap_or_default()
    }

    fn is_in_target(&self) -> bool {
        self.in_target
    }

    fn counts_missing(&self) -> bool {
        self.in_target
    }

    fn direct_sizes(&self, _workload: &Workload, _phases: &[Phase]) -> Vec<Bytes> {
        vec![self.object_bytes]
    }

    fn amount(&self, _workload: &Workload) -> u64 {
        self.steps
    }

    fn halved_keys(&self) -> &'static [&'static str] {
        &["precreated", "steps"]
    }

    fn halvings(&self, _workload: &Workload, least: u64) -> u32 {
        halvings(self.steps.min(self.precreated), least)
    }

    fn longer(&self, _workload: &Workload) -> &'static str {
        "give each task more objects and steps"
    }

    fn conditions(&self, workload: &Workload, phase: Phase) -> String {
        format!("{phase}, {}, {}, {}", tasks(workload), self.in_words(), backend(workload))
    }
}
