//! Jobs of an analytics server.

use std::path::PathBuf;

use super::{JOBS_HALVINGS, NamesMade, WorkKind, largest};
use crate::{Bytes, Jobs, JobsPlacement, Operation, Phase, PlanError, Workload, WorkloadSpec};

impl WorkKind for Jobs {
    fn check(&self, spec: &WorkloadSpec) -> Result<(), PlanError> {
        Self::check(self, spec.tasks, spec.nodes, spec.backend)
    }

    fn pass(&self, _workload: &Workload) -> u64 {
        1
    }

    fn footprint(&self, _workload: &Workload) -> Bytes {
        self.loaded_bytes()
    }

    fn phase_bytes(&self, _workload: &Workload, phase: Phase) -> Bytes {
        if phase == Phase::Load { self.loaded_bytes() } else { self.read_bytes() }
    }

    fn bytes(&self, workload: &Workload) -> Bytes {
        largest(self, workload, [Phase::Load, Phase::Jobs])
    }

    fn operation_bytes(&self, _phase: Phase) -> Option<Bytes> {
        Some(self.page_bytes)
    }

    fn read_part(&self, _workload: &Workload, phase: Phase) -> (u64, u64) {
        match phase {
            Phase::Jobs => {
                let traffic = self.traffic();
                (traffic.read.0, traffic.read.0.saturating_add(traffic.written.0).max(1))
            }
            _ => (u64::from(phase.operation() != Some(Operation::Write)), 1),
        }
    }

    fn names(&self, _workload: &Workload, _phases: &[Phase]) -> NamesMade {
        let (files, bytes) = (self.loaded_files(), self.loaded_bytes());
        NamesMade { files, directories: 0, file_bytes: Bytes(bytes.0 / files.max(1)) }
    }

    fn roots(&self, workload: &Workload, repetition: u32) -> Vec<PathBuf> {
        JobsPlacement::new(workload).map(|placement| placement.roots(repetition)).unwrap_or_default()
    }

    fn is_direct(&self, _workload: &Workload) -> bool {
        self.direct
    }

    fn syncs(&self, _workload: &Workload) -> bool {
        self.sync
    }

    fn can_be_direct(&self, _workload: &Workload) -> bool {
        true
    }

    fn cached_bytes(&self, _workload: &Workload) -> Option<u64> {
        (!self.direct).then(|| self.loaded_bytes().0)
    }

    fn amount(&self, _workload: &Workload) -> u64 {
        self.scale_billionths
    }

    fn halvings(&self, _workload: &Workload, _least: u64) -> u32 {
        JOBS_HALVINGS
    }

    fn longer(&self, _workload: &Workload) -> &'static str {
        "raise the scale"
    }

    fn conditions(&self, _workload: &Workload, phase: Phase) -> String {
        Self::conditions(self, phase)
    }
}
