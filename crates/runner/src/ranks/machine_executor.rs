//! Carries out orders on a machine that is given by a description.

use std::borrow::Cow;
use std::sync::Arc;

use comm::Topology;
use engine::{Controls, PhaseJob, TransferLimit};
use plan::{Case, Keep, Plan, Workload};

use crate::files::data::fill_workload;
use crate::files::file_sets::FileSets;
use crate::files::paths;
use crate::ranks::merge_ranks::{PhaseTotals, SERIES_INTERVAL};
use crate::ranks::order::{Answer, Order, PhaseOrder};
use crate::ranks::rank_assignment::nodes_of_tasks;
use crate::ranks::rows::Table;
use crate::{Machine, MachineJob, RunnerError};

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

    /// Runs phases at the same time, with the controls of each, and adds the rows of each to its own of `tables`.
    ///
    /// # Errors
    /// Errors if the plan does not have one of the phases, or if the machine lacks something.
    pub(crate) fn phases(
        &mut self,
        orders: &[PhaseOrder],
        topology: &Topology,
        tables: &mut [Table<'_>],
        streams: &[Arc<Controls>],
    ) -> Result<Vec<PhaseTotals>, RunnerError> {
        let parts: Vec<Part<'_>> =
            orders.iter().map(|order| self.part(order, topology)).collect::<Result<_, _>>()?;
        let jobs: Vec<MachineJob<'_>> =
            parts.iter().zip(streams).map(|(part, controls)| part.job(controls)).collect();
        let phases = self.machine.phases(&jobs)?;
        let mut all = Vec::new();
        for ((phase, part), table) in phases.into_iter().zip(&parts).zip(tables) {
            all.push(PhaseTotals::of(&phase.outcome));
            table.add_machine(phase, &part.workload.work, &part.node_of);
        }
        Ok(all)
    }

    fn part<'o>(&self, order: &'o PhaseOrder, topology: &Topology) -> Result<Part<'o>, RunnerError>
    where
        'a: 'o,
    {
        let case = self.plan.cases.get(order.case).ok_or(RunnerError::OutOfPlace)?;
        let workload = match order.fills.and_then(|writer| self.plan.cases.get(writer)) {
            Some(writer) => Cow::Owned(fill_workload(&writer.workload)?),
            None => Cow::Borrowed(&case.workload),
        };
        let node_of = nodes_of_tasks(&workload, topology)?;
        Ok(Part { order, case, workload, node_of })
    }
}

/// What an order asks for.
struct Part<'o> {
    order: &'o PhaseOrder,
    case: &'o Case,
    /// The case's workload, or the one that fills its files.
    workload: Cow<'o, Workload>,
    node_of: Vec<u32>,
}

impl Part<'_> {
    fn job<'p>(&'p self, controls: &'p Controls) -> MachineJob<'p> {
        let Self { order, case, workload, node_of } = self;
        let job = PhaseJob {
            series_interval: SERIES_INTERVAL,
            renamings: order.renamings,
            steps_before: &order.steps_before,
            limit: order.limits.as_deref().map_or(TransferLimit::Pass, TransferLimit::PerTask),
            ..PhaseJob::new(workload, order.phase, order.pass)
        };
        MachineJob { case, job, node_of, controls }
    }
}
