//! A model that serves as the machine of a run.

mod ahead;
mod capacity;
mod computing;
mod facts;
mod jobs;
mod left_out;
mod members;
mod outcome;
mod setup;
mod state;

use std::iter::repeat_n;
use std::num::NonZero;
use std::sync::Arc;
use std::thread::available_parallelism;
use std::time::Duration;

use comm::{Clock, Topology};
use engine::Controls;
use plan::{Binding, Case, Plan, Rpc};
use record::HostFacts;
use runner::{Machine, MachineJob, MachinePhase, RunnerError};

use crate::machine::ahead::Ahead;
use crate::machine::setup::{PhaseOrder, Setup, in_time, lacking};
use crate::machine::state::MachineState;
use crate::model::Model;
use crate::simulation::system::{NodeLimits, System, node_name};
use crate::simulation::time::ns;

/// A model that is used in a run: the state of its parts, and the time on its clock.
///
/// The same model, seed and plan give the same figures on every machine, whatever the number of threads.
#[derive(Debug)]
pub struct SimulatedMachine {
    setup: Arc<Setup>,
    state: MachineState,
    ahead: Ahead,
    /// The case of the last phase, or the name of those that run at the same time.
    case: String,
}

impl SimulatedMachine {
    /// Creates the machine of `model` in its idle state, with as many nodes as `plan` needs. All random
    /// choices are derived from `seed`.
    #[must_use]
    pub fn new(model: Model, plan: &Plan, seed: u64) -> Self {
        let needed = plan.cases.iter().map(|case| case.workload.nodes).max().unwrap_or(1);
        let nodes = needed.clamp(1, model.node.count);
        let idle = System::new(&model, nodes);
        // Each endpoint of exchanges is a process.
        let ends = |case: &Case| {
            let of_rpc = case.workload.work.rpc().map(|rpc| rpc.ends.div_ceil(case.workload.nodes.max(1)));
            of_rpc.unwrap_or(1)
        };
        let processes = plan.cases.iter().map(ends).max().unwrap_or(1) as usize;
        let names = (0..nodes).flat_map(|node| repeat_n(node_name(&model, node), processes));
        let topology = Topology::of(names);
        let threads = available_parallelism().map_or(1, NonZero::get);
        let (limits, members, cases) = (NodeLimits::of(&model), members::of_plan(plan), plan.cases.clone());
        let setup = Setup { limits, cases, members, seed, extrapolates: true, idle, topology, model };
        let ahead = Ahead::new(&setup, plan, threads);
        Self { state: MachineState::new(&setup), setup: Arc::new(setup), ahead, case: String::new() }
    }

    /// The same, but with at most so many threads instead of one for each processor.
    #[must_use]
    pub fn with_threads(mut self, threads: NonZero<usize>) -> Self {
        self.ahead.threads = threads.get();
        self
    }

    /// The same, but all of each phase is simulated, however long its state is steady.
    #[must_use]
    pub fn without_extrapolation(self) -> Self {
        let setup = Setup { extrapolates: false, ..Setup::clone(&self.setup) };
        Self { setup: Arc::new(setup), ..self }
    }

    /// The model.
    #[must_use]
    pub fn model(&self) -> &Model {
        &self.setup.model
    }

    /// The machine's nodes, each with as many processes as the plan needs.
    #[must_use]
    pub fn topology(&self) -> Topology {
        self.setup.topology.clone()
    }

    fn node_count(&self) -> u32 {
        u32::try_from(self.setup.idle.nodes.len()).unwrap_or(u32::MAX)
    }

    /// Checks that the model specifies how long messages take, and everything else that `rpc` needs.
    fn check_exchanges(&self, case: &Case, rpc: &Rpc) -> Result<(), RunnerError> {
        let bound = |binding: &Binding| *binding != Binding::None;
        if rpc.interface.is_some() || bound(&rpc.client_binding) || bound(&rpc.server_binding) {
            let told = "a node of a model has one network adapter and identical processors: omit \
                        `interface`, `client_processors` and `server_processors`";
            return Err(lacking(case, told.to_owned()));
        }
        let works = self.setup.idle.request_time > 0;
        let links =
            self.setup.model.links.iter().filter(|link| self.setup.model.node.through.contains(&link.name));
        let mut takes = links.map(|link| link.bandwidth.is_some() || self.setup.idle.latency_between() > 0);
        let is_sent = self.setup.model.node.bandwidth.is_some() || takes.any(|one| one);
        // Messages within a node only use processor time.
        let nodes = self.setup.nodes_of_ends(&case.workload)?;
        let node = |end: u32| nodes.get(end as usize);
        let stays = rpc.pairs().any(|(client, server)| node(client) == node(server));
        let goes = rpc.pairs().any(|(client, server)| node(client) != node(server));
        if goes && !is_sent {
            let told = "the model has no network between its nodes: give `bandwidth` or `through` of [node]";
            return Err(lacking(case, told.to_owned()));
        }
        if stays && !works {
            let told = "the model does not state how long a message within a node takes: give `request_time` of \
                 [node]";
            return Err(lacking(case, told.to_owned()));
        }
        Ok(())
    }
}

impl Machine for SimulatedMachine {
    fn check(&self, plan: &Plan) -> Result<(), RunnerError> {
        for case in &plan.cases {
            let workload = &case.workload;
            if workload.nodes > self.setup.model.node.count {
                let (needed, there) = (workload.nodes, self.setup.model.node.count);
                let told = format!(
                    "it needs {needed} nodes, but the model has {there}: lower `nodes`, or raise `count` of \
                     its nodes"
                );
                return Err(lacking(case, told));
            }
            if let Some(rpc) = workload.work.rpc() {
                self.check_exchanges(case, rpc)?;
            }
            if let Some(jobs) = workload.work.jobs() {
                self.check_jobs(case, jobs)?;
            }
            if let Some(why) = workload.work.kind().beyond_models() {
                return Err(lacking(case, format!("{why}: omit this workload")));
            }
            if workload.work.has_target() {
                self.setup.layout_of(case)?;
                self.check_local(case)?;
                self.check_members(case)?;
            }
            let checks = case.phases.iter().any(|phase| !phase.is_result() && phase.needs_data());
            if workload.verify || checks {
                let told = "a model has no data that could be checked: omit `verify` and the check phases";
                return Err(lacking(case, told.to_owned()));
            }
            if workload.memory_hog.0 > 0 {
                let told = "a model has no memory that could be occupied: omit `memory_hog`, and lower the model's \
                     cache";
                return Err(lacking(case, told.to_owned()));
            }
            if case.stated.is_some() {
                return Err(lacking(case, "another tool cannot measure a model".to_owned()));
            }
        }
        self.check_capacity(plan)
    }

    fn nodes(&self) -> Vec<HostFacts> {
        (0..self.node_count()).map(|node| facts::of_node(&self.setup.model, node)).collect()
    }

    fn clocks(&self) -> Vec<Clock> {
        let node = &self.setup.model.node;
        let used = self.node_count();
        if used < 2 || (node.clock_offset.is_none() && node.clock_drift.is_none()) {
            return Vec::new();
        }
        let drifted = node.clock_drift.unwrap_or(0.0) * ns(self.state.now()) as f64;
        let behind = node.clock_offset.map_or(0.0, |time| time.0 as f64) + drifted;
        // The error of a comparison is half of a round trip.
        let error_ns = ns(self.setup.idle.latency_between());
        // The clocks of the nodes in between are spaced evenly, whether or not the plan needs the last
        // node.
        let last = f64::from(self.setup.idle.nodes_of_model - 1);
        let clock = |number: u32| {
            #[expect(clippy::cast_possible_truncation, reason = "far less than a year")]
            let offset_ns = (behind * f64::from(number) / last).round() as i64;
            Clock { offset_ns, error_ns: if number == 0 { 0 } else { error_ns } }
        };
        (0..used).map(clock).collect()
    }

    fn phases(&mut self, phases: &[MachineJob<'_>]) -> Result<Vec<MachinePhase>, RunnerError> {
        let Some(MachineJob { case, job, controls, .. }) = phases.first() else { return Ok(Vec::new()) };
        let block = case.concurrent.as_ref().map_or(&case.id, |together| &together.name);
        if self.case != *block {
            self.case.clone_from(block);
            self.state.begin_case(&self.setup, case);
        }
        if let Some(jobs) = job.workload.work.jobs() {
            let layout = self.setup.layout_needed(case)?;
            return self.jobs(case, job, jobs, layout, controls).map(|phase| vec![phase]);
        }
        let mut orders = Vec::new();
        for MachineJob { case, job, node_of, .. } in phases {
            let layout = self.setup.layout_needed(case)?;
            orders.push(PhaseOrder { case, job: job.clone(), layout, node_of, shows: true });
        }
        if let [order] = orders.as_slice()
            && let Some(phase) = self.ahead.take(&self.setup, order, controls, &mut self.state)
        {
            return Ok(vec![phase]);
        }
        let controls: Vec<&Controls> = phases.iter().map(|phase| phase.controls).collect();
        self.state.carry_out(&self.setup, &orders, &controls).map(|(phases, _)| phases)
    }

    fn files_removed(&mut self, case: &Case) {
        self.state.files_removed(&self.setup, case);
    }

    fn drop_caches(&mut self) {
        self.state.drop_caches(&self.setup);
    }

    fn elapsed(&self) -> Duration {
        Duration::from_nanos(ns(self.state.now()))
    }

    fn pause(&mut self, time: Duration) {
        self.state.pause(time);
    }
}
