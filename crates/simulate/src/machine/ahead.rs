//! Phases that are simulated before they are due, so that all processors are used.
//!
//! A phase is *independent* if no earlier phase can change it and it changes no later one: nothing of it is in a page
//! cache or a write cache, and no trouble begins or ends at some time of the run. It is simulated on idle parts, whether
//! it is due or not, so that its result does not depend on the number of threads. All other phases are simulated one
//! after another, on the parts as the phase before has left them.

use std::collections::HashMap;
use std::thread;

use engine::{Controls, PhaseJob, TransferLimit};
use plan::{Case, Phase, Workload};
use record::PhaseKey;
use runner::{MachinePhase, RunnerError};

use super::outcome;
use super::setup::{PhaseOrder, Setup, in_time};
use crate::simulation::phase::PhaseOutput;
use crate::simulation::system::System;
use crate::simulation::time::Ticks;

/// Phases that may be kept until they are due.
const KEPT_MAX: usize = 256;

/// The independent phases of a run.
#[derive(Debug)]
pub(super) struct Ahead {
    /// All parts at rest.
    idle: System,
    /// Number of threads that simulate.
    pub(super) threads: usize,
    kept: HashMap<PhaseKey, Kept>,
}

/// A phase that has been simulated before it is due.
#[derive(Debug)]
struct Kept {
    workload: Workload,
    node_of: Vec<u32>,
    result: Independent,
}

/// The result of an independent phase, which begins at 0.
#[derive(Debug)]
pub(super) struct Independent {
    pub(super) phase: MachinePhase,
    pub(super) length: Ticks,
}

impl Ahead {
    pub(super) fn new(idle: System, threads: usize) -> Self {
        Self { idle, threads, kept: HashMap::new() }
    }

    /// The result of an independent phase. Others that follow it are simulated at the same time.
    pub(super) fn phase(
        &mut self,
        setup: &Setup,
        order: &PhaseOrder<'_>,
        controls: &Controls,
    ) -> Result<Independent, RunnerError> {
        if let Some(kept) = self.take(order) {
            return Ok(kept);
        }
        let next = self.next(setup, order);
        let idle = &self.idle;
        let own = thread::scope(|scope| {
            let start = |order| scope.spawn(move || (independent(setup, idle, &order, controls), order));
            let helpers: Vec<_> = next.into_iter().map(start).collect();
            let own = independent(setup, idle, order, controls);
            for helper in helpers {
                // Where the model lacks something, this is told when the phase is due.
                if let Ok((Ok((result, false)), order)) = helper.join() {
                    let (workload, node_of) = (order.job.workload.clone(), order.node_of.to_vec());
                    self.kept.insert(phase_key(order.case, &order.job), Kept { workload, node_of, result });
                }
            }
            own
        });
        own.map(|(result, _)| result)
    }

    /// The result of a phase that was simulated before, if it was of the same order.
    fn take(&mut self, order: &PhaseOrder<'_>) -> Option<Independent> {
        let kept = self.kept.remove(&phase_key(order.case, &order.job))?;
        let is_same =
            is_plain(&order.job) && kept.node_of == order.node_of && kept.workload == *order.job.workload;
        is_same.then_some(kept.result)
    }

    /// One phase for each other thread, of those that follow `order` in most runs: in its case, then in the next one.
    fn next<'f>(&self, setup: &'f Setup, order: &PhaseOrder<'f>) -> Vec<PhaseOrder<'f>> {
        let PhaseOrder { case: Case { id, .. }, ref job, node_of, .. } = *order;
        let room = KEPT_MAX.saturating_sub(self.kept.len()).min(self.threads - 1);
        let place = setup.cases.iter().position(|case| case.id == *id).filter(|_| room > 0);
        let Some(place) = place.filter(|place| setup.cases[*place].workload == *job.workload) else {
            return Vec::new();
        };
        let case = &setup.cases[place];
        let phases: &[Phase] = if is_untimed(job) { &case.phases } else { &[job.phase] };
        let done = phases.iter().position(|phase| *phase == job.phase).map_or(0, |index| index + 1);
        let own = phases_from(case, job.repetition, phases).skip(done);
        // The tasks of a case with as many of them are on the same nodes.
        let is_alike = |next: &&Case| {
            let workload = &next.workload;
            (workload.tasks, workload.nodes) == (case.workload.tasks, case.workload.nodes)
        };
        let next = setup.cases.get(place + 1).filter(is_alike);
        let next =
            next.into_iter().flat_map(|next| phases_from(next, 0, next.phases.get(..1).unwrap_or_default()));
        let order_of = |(case, pass, phase): (&'f Case, u32, Phase)| {
            let job = PhaseJob {
                series_interval: job.series_interval,
                ..PhaseJob::new(&case.workload, phase, pass)
            };
            let is_new =
                setup.is_independent(job.workload) && !self.kept.contains_key(&phase_key(case, &job));
            let layout = setup.layout_of(case).ok().filter(|_| is_new)?;
            Some(PhaseOrder { case, job, layout, node_of, shows: false })
        };
        own.chain(next).filter_map(order_of).take(room).collect()
    }
}

/// These phases of each pass of `case` that nothing can omit, from pass number `from` on.
fn phases_from<'c>(
    case: &'c Case,
    from: u32,
    phases: &[Phase],
) -> impl Iterator<Item = (&'c Case, u32, Phase)> {
    (from..case.passes_min()).flat_map(move |pass| phases.iter().map(move |phase| (case, pass, *phase)))
}

fn phase_key(case: &Case, job: &PhaseJob<'_>) -> PhaseKey {
    PhaseKey { case: case.id.as_str().into(), repetition: job.repetition, phase: job.phase }
}

/// Whether no clock ends the phase, so that the phases after it access all that it does.
fn is_untimed(job: &PhaseJob<'_>) -> bool {
    job.workload.work.is_transfers() && job.ending().limit().is_none()
}

/// Whether nothing but the workload, the phase and the repetition determines what is done.
fn is_plain(job: &PhaseJob<'_>) -> bool {
    job.limit == TransferLimit::Pass && job.renamings == 0 && job.steps_before.is_empty()
}

/// Simulates a phase on idle parts. Also returns whether it was stopped.
fn independent(
    setup: &Setup,
    idle: &System,
    order: &PhaseOrder<'_>,
    controls: &Controls,
) -> Result<(Independent, bool), RunnerError> {
    let mut system = idle.clone();
    let cached = vec![0.0; system.nodes.len()];
    let output = setup.simulate(order, &[], &cached, controls, &mut system);
    in_time(order.case, &output)?;
    let PhaseOutput { start, end, stopped, .. } = output;
    let phase = outcome::of(output, order.job.workload, &idle.drive_names);
    Ok((Independent { phase, length: end - start }, stopped))
}
