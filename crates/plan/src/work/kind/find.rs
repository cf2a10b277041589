//! A search through directories.

use super::{WorkKind, backend, tasks};
use crate::{Bytes, Find, Phase, PlanError, Workload, WorkloadSpec};

impl WorkKind for Find {
    fn check(&self, spec: &WorkloadSpec) -> Result<(), PlanError> {
        Self::check(self, spec.backend)
    }

    /// The number of names is not known in advance.
    fn pass(&self, _workload: &Workload) -> u64 {
        u64::MAX
    }

    fn bytes(&self, _workload: &Workload) -> Bytes {
        Bytes(0)
    }

    fn operation_bytes(&self, _phase: Phase) -> Option<Bytes> {
        Some(Bytes(0))
    }

    fn beyond_models(&self) -> Option<&'static str> {
        Some("a model has no directories that could be searched")
    }

    fn longer(&self, _workload: &Workload) -> &'static str {
        "search a tree with more files"
    }

    fn what(&self, _workload: &Workload, phase: Phase) -> String {
        format!("{phase} {}", self.matching)
    }

    fn conditions(&self, workload: &Workload, phase: Phase) -> String {
        format!("{phase}, {}, {self}, {}", tasks(workload), backend(workload))
    }
}
