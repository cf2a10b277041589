//! Phases of jobs.

use engine::{Controls, PhaseJob};
use jobs::launch::{LaunchRules, load_tasks, matrix_tasks};
use plan::jobs::Step;
use plan::{Case, Existing, Jobs, JobsPlacement, Phase};
use runner::{MachinePhase, RunnerError, outcome_of_launches};

use super::{SimulatedMachine, in_time, lacking, outcome};
use crate::simulation::jobs::ComputeTimes;
use crate::simulation::phase::PhaseInput;
use crate::simulation::phase::launches::launches;

impl SimulatedMachine {
    /// Checks that the model specifies how fast the steps of `jobs` compute, and has the memory that each
    /// of them asks for.
    pub(super) fn check_jobs(&self, case: &Case, jobs: &Jobs) -> Result<(), RunnerError> {
        let node = &self.setup.model.node;
        if node.rows_per_second.is_none() {
            let told = "the model does not state how fast its processors read and write rows: give \
                        `rows_per_second` of its nodes";
            return Err(lacking(case, told.to_owned()));
        }
        let steps = || jobs.tests.iter().flat_map(|test| test.steps.iter().map(move |step| (test, step)));
        let computes = |step: &Step| step.action.operations() > 0;
        if let Some((test, step)) =
            steps().find(|(_, step)| computes(step)).filter(|_| node.operations_per_second.is_none())
        {
            let told = format!(
                "test `{}`: the model does not state how fast its processors compute (`{}`): give \
                 `operations_per_second` of its nodes",
                test.name,
                step.action.name()
            );
            return Err(lacking(case, told));
        }
        let Some(memory) = node.memory else { return Ok(()) };
        match steps().find(|(_, step)| step.memory.0 > memory.0) {
            None => Ok(()),
            Some((test, step)) => {
                let told = format!(
                    "test `{}`: a step needs {} of memory (`{}`), but a node of the model has {}: lower \
                     `memory`, or raise it in the model",
                    test.name,
                    step.memory,
                    step.action.name(),
                    plan::Bytes(memory.0)
                );
                Err(lacking(case, told))
            }
        }
    }

    /// Carries out a phase of `jobs` on `layout`.
    pub(super) fn jobs(
        &mut self,
        case: &Case,
        job: &PhaseJob<'_>,
        jobs: &Jobs,
        layout: usize,
        controls: &Controls,
    ) -> Result<MachinePhase, RunnerError> {
        let placement = JobsPlacement::new(job.workload).ok_or(RunnerError::OutOfPlace)?;
        let reuse = job.workload.files.existing == Existing::Reuse;
        let loads = job.phase == Phase::Load;
        let processors = self.setup.model.node.processors;
        let (tasks, concurrency, limit) = match loads {
            true => (load_tasks(placement, job.repetition, reuse), processors, None),
            false => (matrix_tasks(placement, job.repetition), jobs.concurrency, jobs.launch_limit),
        };
        let rules = LaunchRules { concurrency, limit, interval: job.series_interval };
        let started = self.state.unix_ns();
        let factors = self.setup.draw(&[(case, job)], &mut self.state.system);
        let factor = factors.first().copied().ok_or(RunnerError::OutOfPlace)?;
        let times = ComputeTimes::of(&self.setup.model.node, factor);
        let input = PhaseInput {
            job,
            node_of: &[],
            ends: &[],
            layout,
            after: 0,
            key: 0,
            members: None,
            factor,
            cached: &[],
            controls,
            shows: true,
            extrapolates: self.setup.extrapolates,
        };
        let (system, limits) = (&mut self.state.system, &self.setup.limits);
        let (launched, output) = launches(&input, limits, (jobs, times), (&tasks, rules), system);
        let output = output.ok_or(RunnerError::OutOfPlace)?;
        in_time(case, &output)?;
        self.state.passes(&[(case, job)], 0);
        let outcome = outcome_of_launches(&launched, started);
        let devices = outcome::devices(&output, &self.setup.idle.drive_names);
        Ok(MachinePhase {
            outcome,
            series: Vec::new(),
            devices,
            ends: Vec::new(),
            launched: Some((tasks, launched)),
            warnings: Vec::new(),
        })
    }
}
