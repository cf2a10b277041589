//! Carries out orders on a machine that is given by a description.

use std::sync::Arc;

use comm::Topology;
use engine::{Controls, PhaseJob, TransferLimit};
use plan::{Case, Keep, Plan};

use crate::files::data::fill_workload;
use crate::files::file_sets::FileSets;
use crate::files::paths;
use crate::ranks::merge_ranks::{PhaseTotals, SERIES_INTERVAL};
use crate::ranks::order::{Answer, Order, PhaseOrder};
use crate::ranks::rank_assignment::nodes_of_tasks;
use crate::ranks::rows::Table;
use crate::{Machine, RunnerError};

/// Carries out the orders of a simulated run.
pub(crate) struct MachineExecutor<'a> {
    pub(crate) machine: &'a mut dyn Machine,
    pub(crate) plan: &'a Plan,
    /// The file sets of all cases.
    pub(crate) file_sets: FileSets<'a>,
    pub(crate) controls: Arc<Controls>,
}

impl<'a> MachineExecutor<'a> {
    /// Carries out `order`. Since there are no files, most orders need no action.
    pub(crate) fn carry_out(&mut self, order: &Order) -> Answer {
        match order {
            Order::DropCaches { .. } => {
                self.machine.drop_caches();
                Answer::Done
            }
            Order::CaseEnds { case, .. } => {
                if let Some(case) = self.removed_with(*case) {
                    self.machine.files_removed(case);
                }
                Answer::Files { removed: 0, there: true }
            }
            Order::Prepare(_) | Order::RemoveAll => Answer::Files { removed: 0, there: true },
            Order::Wipe { case } => {
                if let Some(case) = self.plan.cases.get(*case) {
                    self.machine.files_removed(case);
                }
                Answer::Wiped(Vec::new())
            }
            Order::Lacks { .. } => Answer::Lacking(false),
            _ => Answer::Done,
        }
    }

    /// The case number `index`, if a measured run would remove its files at its end.
    fn removed_with(&self, index: usize) -> Option<&'a Case> {
        let case = self.plan.cases.get(index).filter(|case| case.workload.files.keep != Keep::Always)?;
        let mine = paths::paths(case).into_iter().collect();
        self.file_sets.needed_after(index, case, &mine).is_empty().then_some(case)
    }

    /// Runs a phase and adds its rows to `table`.
    ///
    /// # Errors
    /// Errors if the plan does not have the phase, or if the machine lacks something.
    pub(crate) fn phase(
        &mut self,
        order: &PhaseOrder,
        topology: &Topology,
        table: &mut Table<'_>,
    ) -> Result<PhaseTotals, RunnerError> {
        let case = self.plan.cases.get(order.case).ok_or(RunnerError::OutOfPlace)?;
        let filling = order.fills.and_then(|writer| self.plan.cases.get(writer));
        let filling = filling.map(|writer| fill_workload(&writer.workload)).transpose()?;
        let workload = filling.as_ref().unwrap_or(&case.workload);
        let node_of = nodes_of_tasks(workload, topology)?;
        let job = PhaseJob {
            series_interval: SERIES_INTERVAL,
            renamings: order.renamings,
            steps_before: &order.steps_before,
            limit: order.limits.as_deref().map_or(TransferLimit::Pass, TransferLimit::PerTask),
            ..PhaseJob::new(workload, order.phase, order.pass)
        };
        let phase = self.machine.phase(case, &job, &node_of, &self.controls)?;
        let totals = PhaseTotals::of(&phase.outcome);
        table.add_machine(phase, &workload.work, &node_of);
        Ok(totals)
    }
}
