//! Requests and responses between processes.

use super::WorkKind;
use crate::{Bytes, Nanos, Phase, PlanError, Rpc, Workload, WorkloadSpec};

impl WorkKind for Rpc {
    fn check(&self, spec: &WorkloadSpec) -> Result<(), PlanError> {
        Self::check(self, spec.tasks, spec.nodes, spec.backend)
    }

    fn pass(&self, _workload: &Workload) -> u64 {
        1
    }

    fn bytes(&self, _workload: &Workload) -> Bytes {
        Bytes(0)
    }

    fn operation_bytes(&self, _phase: Phase) -> Option<Bytes> {
        Some(Bytes(self.request_bytes.0 + self.response_bytes.0))
    }

    fn warm_up(&self) -> Nanos {
        self.warm_up
    }

    fn longer(&self, _workload: &Workload) -> &'static str {
        "exchange more messages, or for a longer time"
    }

    fn what(&self, _workload: &Workload, _phase: Phase) -> String {
        format!("{} → {} {}", self.request_bytes, self.response_bytes, self.pattern.name())
    }

    fn conditions(&self, workload: &Workload, _phase: Phase) -> String {
        Self::conditions(self, workload.nodes, workload.backend.depth())
    }
}
