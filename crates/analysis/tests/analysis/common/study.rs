//! Figures of small studies for tests, built from rows like those of a record.

use analysis::figures::{Figure, figures};
use plan::{Case, Phase, Plan, RateName};
use record::{LatencyRow, PhaseKey, PhaseRow, TaskRow};

use crate::common::rows::{SECOND, workload};

/// The rows of a study.
#[derive(Default)]
pub(crate) struct Study {
    pub(crate) cases: Vec<Case>,
    pub(crate) phases: Vec<PhaseRow>,
    pub(crate) tasks: Vec<TaskRow>,
    pub(crate) latency: Vec<LatencyRow>,
}

pub(crate) fn key(case: &Case, repetition: usize, phase: Phase) -> PhaseKey {
    PhaseKey {
        case: case.id.as_str().into(),
        repetition: u32::try_from(repetition).expect("a small number"),
        phase,
    }
}

/// A case in which one task reads with 4 KiB transfers.
pub(crate) fn reads(id: &str) -> Case {
    Case::new(id, workload(|_| ()), vec![Phase::Read])
}

impl Study {
    /// Adds `case`. In each repetition, its first phase took ten seconds of both wall time and I/O time, and reached
    /// this number of transfers per second.
    pub(crate) fn with(mut self, case: Case, transfers_per_second: &[u64]) -> Self {
        let phase = case.phases[0];
        for (repetition, rate) in transfers_per_second.iter().enumerate() {
            let key = key(&case, repetition, phase);
            let bytes = rate * 10 * case.workload.geometry.transfer.0;
            let mut row = crate::common::rows::phase(&key, bytes, 10 * SECOND);
            row.wall_ns = 10 * SECOND;
            (row.reads, row.writes) = if phase == Phase::Write { (0, rate * 10) } else { (rate * 10, 0) };
            self.phases.push(row);
        }
        let repetitions = u32::try_from(transfers_per_second.len()).expect("few");
        self.cases.push(Case { repetitions, ..case });
        self
    }

    pub(crate) fn plan(&self) -> Plan {
        crate::common::rows::plan(self.cases.clone())
    }

    pub(crate) fn figures(&self) -> Vec<Figure> {
        figures(&self.run(), RateName::ByWall)
    }

    pub(crate) fn run(&self) -> record::Run {
        crate::common::rows::run_of(&self.plan(), &self.phases, &self.tasks, &self.latency)
    }
}
