//! A machine that is described instead of present: what carries out the phases of a simulated run.

use std::time::Duration;

use comm::Clock;
use engine::{Controls, EndOutcome, PhaseJob, PhaseOutcome, SeriesInterval};
use host::DeviceSample;
use jobs::launch::{LaunchTask, Launched};
use plan::{Case, Plan};
use record::HostFacts;

use crate::RunnerError;

/// Stands in for the engine, the host and the clock of a run. Nothing of this host is measured or changed.
///
/// The times of its phases count on a clock of its own, which only phases and pauses move.
pub trait Machine {
    /// Checks that all of `plan` can be carried out.
    ///
    /// # Errors
    /// What the machine lacks, with the place and the next step.
    fn check(&self, plan: &Plan) -> Result<(), RunnerError>;

    /// The facts of each node.
    fn nodes(&self) -> Vec<HostFacts>;

    /// The clock of each node against that of the first, now; empty where they are one clock.
    fn clocks(&self) -> Vec<Clock>;

    /// Carries out a phase of `case`; `node_of` has the node of each task.
    ///
    /// # Errors
    /// The machine lacks something.
    fn phase(
        &mut self,
        case: &Case,
        job: &PhaseJob<'_>,
        node_of: &[u32],
        controls: &Controls,
    ) -> Result<MachinePhase, RunnerError>;

    /// Files of a case were removed, and what the caches of the nodes have not written of them with it.
    fn files_removed(&mut self);

    /// Empties the caches of the nodes.
    fn drop_caches(&mut self);

    /// Time on its clock since the run began.
    fn elapsed(&self) -> Duration;

    /// Lets time pass.
    fn pause(&mut self, time: Duration);
}

/// What a phase on a [`Machine`] gave.
#[derive(Debug)]
pub struct MachinePhase {
    /// Of all nodes together.
    pub outcome: PhaseOutcome,
    /// The series of each node that took part, by number; empty where there is only one.
    pub series: Vec<(u32, Vec<SeriesInterval>)>,
    /// The devices, each with the name of the place where it is.
    pub devices: Vec<(String, DeviceSample)>,
    /// For jobs: the launches and what became of them, all on the first node.
    pub launched: Option<(Vec<LaunchTask>, Launched)>,
    /// For exchanges: each end, with its node by number.
    pub ends: Vec<(u32, EndOutcome)>,
}
