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

use std::iter::repeat_n;
use std::num::NonZero;
use std::thread::available_parallelism;
use std::time::Duration;

use comm::{Clock, Topology};
use engine::{Controls, PhaseJob};
use plan::{Binding, Case, Order, Plan, ReadFrom, Rpc, Workload};
use record::HostFacts;
use runner::{Machine, MachinePhase, RunnerError};

use crate::machine::ahead::{Ahead, Independent};
use crate::machine::setup::{PhaseOrder, Setup, in_time, key_of, lacking};
use crate::model::Model;
use crate::simulation::system::{NodeLimits, System, node_name};
use crate::simulation::task::bytes_of_task;
use crate::simulation::time::{TICKS_PER_NS, ns};

/// A model that is used in a run: the state of its parts, and the time on its clock.
///
/// The same model, seed and plan give the same figures on every machine, whatever the number of threads.
#[derive(Debug)]
pub struct SimulatedMachine {
    setup: Setup,
    system: System,
    ahead: Ahead,
    topology: Topology,
}

impl SimulatedMachine {
    /// Creates the machine of `model` in its idle state, with as many nodes as `plan` needs. All random
    /// choices are derived from `seed`.
    #[must_use]
    pub fn new(model: Model, plan: &Plan, seed: u64) -> Self {
        let needed = plan.cases.iter().map(|case| case.workload.nodes).max().unwrap_or(1);
        let nodes = needed.clamp(1, model.node.count);
        let system = System::new(&model, nodes);
        // Each endpoint of exchanges is a process.
        let ends = |case: &Case| {
            let of_rpc = case.workload.work.rpc().map(|rpc| rpc.ends.div_ceil(case.workload.nodes.max(1)));
            of_rpc.unwrap_or(1)
        };
        let processes = plan.cases.iter().map(ends).max().unwrap_or(1) as usize;
        let names = (0..nodes).flat_map(|node| repeat_n(node_name(&model, node), processes));
        let topology = Topology::of(names);
        let threads = available_parallelism().map_or(1, NonZero::get);
        let ahead = Ahead::new(system.clone(), threads);
        let (limits, members) = (NodeLimits::of(&model), members::of_plan(plan));
        let setup = Setup { limits, cases: plan.cases.clone(), members, seed, extrapolates: true, model };
        Self { setup, system, ahead, topology }
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
        Self { setup: Setup { extrapolates: false, ..self.setup }, ..self }
    }

    /// The model.
    #[must_use]
    pub fn model(&self) -> &Model {
        &self.setup.model
    }

    /// The machine's nodes, each with as many processes as the plan needs.
    #[must_use]
    pub fn topology(&self) -> Topology {
        self.topology.clone()
    }

    fn node_count(&self) -> u32 {
        u32::try_from(self.system.nodes.len()).unwrap_or(u32::MAX)
    }

    /// Checks that the model specifies how long messages take, and everything else that `rpc` needs.
    fn check_exchanges(&self, case: &Case, rpc: &Rpc) -> Result<(), RunnerError> {
        let bound = |binding: &Binding| *binding != Binding::None;
        if rpc.interface.is_some() || bound(&rpc.client_binding) || bound(&rpc.server_binding) {
            let told = "a node of a model has one network adapter and identical processors: omit \
                        `interface`, `client_processors` and `server_processors`";
            return Err(lacking(case, told.to_owned()));
        }
        let works = self.system.request_time > 0;
        let links =
            self.setup.model.links.iter().filter(|link| self.setup.model.node.through.contains(&link.name));
        let mut takes = links.map(|link| link.bandwidth.is_some() || self.system.latency_between() > 0);
        let is_sent = self.setup.model.node.bandwidth.is_some() || takes.any(|one| one);
        // Messages within a node only use processor time.
        let nodes = self.nodes_of_ends(&case.workload)?;
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

    /// The node of each endpoint of the exchanges of `workload`.
    fn nodes_of_ends(&self, workload: &Workload) -> Result<Vec<u32>, RunnerError> {
        let node_of = self.topology.node_of();
        let ends = plan::assign(workload, node_of)?;
        Ok(ends.iter().map(|end| node_of[end.rank as usize]).collect())
    }

    /// The share of the reads of each node that its page cache serves, and the number of bytes that the
    /// tasks of each node access.
    fn cached(&self, job: &PhaseJob<'_>, node_of: &[u32], key: u64) -> (Vec<f64>, Vec<u64>) {
        let workload = job.workload;
        let mut bytes = vec![0_u64; self.system.nodes.len()];
        let each = bytes_of_task(workload);
        node_of.iter().for_each(|node| bytes[*node as usize] += each);
        let together = node_of.windows(2).all(|pair| pair[0] == pair[1]);
        let shift = workload.work.tree().map(|tree| tree.shift);
        let shift = shift.or(workload.work.objects().map(|objects| objects.offset));
        let own = shift.map_or(workload.read_from == ReadFrom::Same, |shift| shift == 0);
        let own = own || together;
        let order = match workload.work.tree() {
            Some(tree) => tree.random.map_or(Order::Sequential, |seed| Order::Random { seed }),
            None => workload.order,
        };
        let share = |(node, all): (usize, &u64)| {
            let there = self.system.nodes[node].cached.get(&key).copied().unwrap_or(0);
            match order {
                _ if !own || workload.direct || workload.forget || *all == 0 => 0.0,
                // If a sequential pass reads more than the cache can hold, the next bytes have always
                // been evicted already.
                _ if there >= *all => 1.0,
                order if order.is_random() => there as f64 / *all as f64,
                _ => 0.0,
            }
        };
        (bytes.iter().enumerate().map(share).collect(), bytes)
    }

    /// Records what the page caches contain after a phase.
    fn keep_in_caches(&mut self, key: u64, moved: &[u64], all: &[u64]) {
        let Some((size, _)) = self.setup.limits.cache else { return };
        for ((node, moved), all) in self.system.nodes.iter_mut().zip(moved).zip(all) {
            let there = node.cached.entry(key).or_insert(0);
            *there = (*there).max(*moved).min(*all).min(size);
            let held = *there;
            // Older contents are evicted.
            let mut room = size - held;
            for (other, bytes) in &mut node.cached {
                if *other != key {
                    *bytes = (*bytes).min(room);
                    room -= *bytes;
                }
            }
        }
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
        let drifted = node.clock_drift.unwrap_or(0.0) * ns(self.system.now) as f64;
        let behind = node.clock_offset.map_or(0.0, |time| time.0 as f64) + drifted;
        // The error of a comparison is half of a round trip.
        let error_ns = ns(self.system.latency_between());
        // The clocks of the nodes in between are spaced evenly, whether or not the plan needs the last
        // node.
        let last = f64::from(self.system.nodes_of_model - 1);
        let clock = |number: u32| {
            #[expect(clippy::cast_possible_truncation, reason = "far less than a year")]
            let offset_ns = (behind * f64::from(number) / last).round() as i64;
            Clock { offset_ns, error_ns: if number == 0 { 0 } else { error_ns } }
        };
        (0..used).map(clock).collect()
    }

    fn phase(
        &mut self,
        case: &Case,
        job: &PhaseJob<'_>,
        node_of: &[u32],
        controls: &Controls,
    ) -> Result<MachinePhase, RunnerError> {
        // Exchanges do not use any devices.
        let exchanges = !job.workload.work.has_target();
        let layout = if exchanges { 0 } else { self.setup.layout_of(case)? };
        if let Some(jobs) = job.workload.work.jobs() {
            return self.jobs(case, job, jobs, layout, controls);
        }
        let order = PhaseOrder { case, job: job.clone(), layout, node_of, shows: true };
        if self.setup.is_independent(job.workload) && self.system.behind.is_empty() {
            let Independent { mut phase, length } = self.ahead.phase(&self.setup, &order, controls)?;
            phase.outcome.started_unix_ns = i64::try_from(ns(self.system.now)).unwrap_or(i64::MAX);
            self.system.now = self.system.now.saturating_add(length);
            return Ok(phase);
        }
        let key = key_of(layout, case);
        let (cached, bytes) = self.cached(job, node_of, key);
        let ends = if exchanges { self.nodes_of_ends(job.workload)? } else { Vec::new() };
        let output = self.setup.simulate(&order, &ends, &cached, controls, &mut self.system);
        in_time(case, &output)?;
        if !job.workload.direct && !exchanges {
            let mut moved = vec![0; self.system.nodes.len()];
            output.tasks.iter().for_each(|task| moved[task.node as usize] += task.bytes);
            self.keep_in_caches(key, &moved, &bytes);
        }
        Ok(outcome::of(output, job.workload, &self.system.drive_names))
    }

    fn files_removed(&mut self) {
        self.system.give_up_behind();
    }

    fn drop_caches(&mut self) {
        self.system.write_all_behind();
        self.system.nodes.iter_mut().for_each(|node| node.cached.clear());
    }

    fn elapsed(&self) -> Duration {
        Duration::from_nanos(ns(self.system.now))
    }

    fn pause(&mut self, time: Duration) {
        let nanos = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX / TICKS_PER_NS);
        self.system.now = self.system.now.saturating_add(nanos.saturating_mul(TICKS_PER_NS));
    }
}
