//! A machine given by a description, which carries out the phases of a simulated run.

use std::time::Duration;

use comm::Clock;
use engine::{Controls, EndOutcome, PhaseJob, PhaseOutcome, SeriesInterval};
use host::DeviceSample;
use jobs::launch::{LaunchTask, Launched};
use plan::{Case, Plan};
use record::{HostFacts, Warning};

use crate::RunnerError;

/// Takes the place of the engine, the host and the clock of a run. Nothing on this host is measured or
/// changed.
///
/// The times of its phases are measured on its own clock, which only phases and pauses advance.
pub trait Machine {
    /// Checks that all of `plan` can be carried out.
    ///
    /// # Errors
    /// Returns what the machine lacks, with the place and the next step.
    fn check(&self, plan: &Plan) -> Result<(), RunnerError>;

    /// The facts of each node.
    fn nodes(&self) -> Vec<HostFacts>;

    /// The present offset of each node's clock from that of the first node; empty if all use one clock.
    fn clocks(&self) -> Vec<Clock>;

    /// Carries out phases of different cases at the same time, and returns their results in the same order.
    ///
    /// # Errors
    /// Errors if the machine lacks something.
    fn phases(&mut self, phases: &[MachineJob<'_>]) -> Result<Vec<MachinePhase>, RunnerError>;

    /// Carries out a single phase of `case`. `node_of` has the node of each task.
    ///
    /// # Errors
    /// Errors if the machine lacks something.
    fn phase(
        &mut self,
        case: &Case,
        job: &PhaseJob<'_>,
        node_of: &[u32],
        controls: &Controls,
    ) -> Result<MachinePhase, RunnerError> {
        let one = MachineJob { case, job: job.clone(), node_of, controls };
        self.phases(&[one])?.pop().ok_or(RunnerError::OutOfPlace)
    }

    /// Must be called when the files of a case were removed. Their data in the nodes' caches is then dropped.
    fn files_removed(&mut self, case: &Case);

    /// Empties the caches of the nodes.
    fn drop_caches(&mut self);

    /// Time on the machine's clock since the run began.
    fn elapsed(&self) -> Duration;

    /// Advances the clock.
    fn pause(&mut self, time: Duration);
}

/// A phase of a case on a [`Machine`].
#[derive(Debug)]
pub struct MachineJob<'a> {
    /// The case. If others run at the same time, its [`Case::concurrent`] says when it begins.
    pub case: &'a Case,
    /// What is done.
    pub job: PhaseJob<'a>,
    /// The node of each task.
    pub node_of: &'a [u32],
    /// The stop flag, and the progress of the phase.
    pub controls: &'a Controls,
}

/// The result of a phase on a [`Machine`].
#[derive(Debug)]
pub struct MachinePhase {
    /// The outcome of all nodes together.
    pub outcome: PhaseOutcome,
    /// The series of each node that took part, by node number; empty if there is only one.
    pub series: Vec<(u32, Vec<SeriesInterval>)>,
    /// The devices, each with the name of the place where it is.
    pub devices: Vec<(String, DeviceSample)>,
    /// For jobs: the launches and their results, all on the first node.
    pub launched: Option<(Vec<LaunchTask>, Launched)>,
    /// For exchanges: each endpoint with the number of its node.
    pub ends: Vec<(u32, EndOutcome)>,
    /// What a reader should know about the phase.
    pub warnings: Vec<Warning>,
}
