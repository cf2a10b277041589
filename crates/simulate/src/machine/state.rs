//! The state of a model during a run.

use std::time::Duration;

use engine::{Controls, PhaseJob};
use plan::{Case, Existing, Order, Phase, ReadFrom, Workload};
use runner::{MachinePhase, RunnerError};

use super::outcome;
use super::setup::{PhaseOrder, Setup, in_time, key_of};
use crate::simulation::system::System;
use crate::simulation::task::bytes_of_task;
use crate::simulation::time::{TICKS_PER_NS, Ticks, ns};

/// The state of all parts, and the time on the model's clock.
#[derive(Debug, Clone)]
pub(super) struct MachineState {
    pub(super) system: System,
    /// When all parts were last at rest, which is the time 0 of `system`.
    pub(super) rested: Ticks,
    /// What determines the state since then.
    pub(super) past: Past,
    /// Whether only the time of `system` is known: the rest is then found from `done` when it is needed.
    is_stale: bool,
}

/// What has happened since all parts were at rest.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Past {
    /// Bytes of the files of the case in the page cache of each node at that time.
    pub(super) cached: Vec<u64>,
    pub(super) done: Vec<Done>,
}

/// A phase that a helper has simulated since all parts were at rest.
#[derive(Debug)]
pub(super) struct Followed {
    /// What has happened when it has ended.
    pub(super) past: Past,
    pub(super) now: Ticks,
    pub(super) state: Option<Box<MachineState>>,
}

/// What changes the state.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Done {
    /// A phase of a case, in a repetition.
    Phase(String, u32, Phase),
    Pause(Duration),
    CachesDropped,
    FilesRemoved(String),
}

impl MachineState {
    /// All parts of `setup` at rest.
    pub(super) fn new(setup: &Setup) -> Self {
        Self { system: setup.idle.clone(), rested: 0, past: Past::default(), is_stale: false }
    }

    /// Time on the clock of the run.
    pub(super) fn now(&self) -> Ticks {
        self.rested.saturating_add(self.system.now)
    }

    /// The same in nanoseconds since the epoch: the clock begins with the run, at whatever time that is.
    pub(super) fn unix_ns(&self) -> i64 {
        i64::try_from(ns(self.now())).unwrap_or(i64::MAX)
    }

    /// The same at the begin of `case`, with these bytes of its files in the page cache of each node.
    pub(super) fn before(setup: &Setup, case: &Case, cached: Vec<u64>) -> Self {
        let mut state = Self::new(setup);
        for (node, bytes) in state.system.nodes.iter_mut().zip(&cached) {
            node.cached.insert(key_of_case(setup, case), *bytes);
        }
        state.past.cached = cached;
        state
    }

    /// Begins a case, and those that run at the same time. If nothing waits to be written, all parts are at rest, whatever was done before.
    pub(super) fn begin_case(&mut self, setup: &Setup, case: &Case) {
        self.refresh(setup);
        for case in setup.beside(case) {
            if let Some(&first) = case.phases.first() {
                self.replace_files(setup, case, first);
            }
        }
        let nodes = &self.system.nodes;
        let is_clean = self.system.behind.is_empty() && nodes.iter().all(|node| node.dirty == 0);
        if setup.can_rest() && is_clean {
            let key = key_of_case(setup, case);
            let cached = nodes.iter().map(|node| node.cached.get(&key).copied().unwrap_or(0)).collect();
            self.rested = self.now();
            self.turn(setup, case, Self::before(setup, case, cached));
        }
    }

    /// Takes over the state `next` of another run since all parts were at rest. Its page caches have nothing but files of
    /// `case`.
    fn turn(&mut self, setup: &Setup, case: &Case, next: Self) {
        let next = Self { rested: self.rested, ..next };
        let before = std::mem::replace(self, next);
        let key = key_of_case(setup, case);
        let size = setup.limits.cache.map_or(0, |(size, _)| size);
        for (node, before) in self.system.nodes.iter_mut().zip(before.system.nodes) {
            node.cached.extend(before.cached.into_iter().filter(|(other, _)| *other != key));
            node.evict(size, key);
        }
    }

    /// Drops the data of the files that `phase` of `case` removes before it writes new ones.
    fn replace_files(&mut self, setup: &Setup, case: &Case, phase: Phase) {
        if replaces_files(case, phase) {
            self.drop_files(setup, case);
        }
    }

    fn drop_files(&mut self, setup: &Setup, case: &Case) {
        self.refresh(setup);
        let key = key_of_case(setup, case);
        if self.system.behind.iter().all(|behind| behind.key == key) {
            self.system.give_up_behind();
        }
        self.system.nodes.iter_mut().for_each(|node| node.cached.retain(|other, _| *other != key));
    }

    /// What a run without a helper needs to go on from here; with the state itself if `is_last`.
    pub(super) fn followed(&self, is_last: bool) -> Followed {
        let state = is_last.then(|| Box::new(self.clone()));
        Followed { past: self.past.clone(), now: self.system.now, state }
    }

    /// Goes on to where a helper has done this since all parts were at rest, and to its state, if that is known.
    pub(super) fn follow(&mut self, setup: &Setup, case: &Case, helper: Followed) {
        let Followed { past, now, state } = helper;
        match state {
            Some(state) => self.turn(setup, case, *state),
            None => self.is_stale = true,
        }
        (self.past, self.system.now) = (past, now);
    }

    /// Whether a helper has simulated the last phase, and the state was not needed since.
    #[cfg(test)]
    pub(super) fn is_stale(&self) -> bool {
        self.is_stale
    }

    /// Makes sure that the state is known, by doing again what was done.
    fn refresh(&mut self, setup: &Setup) {
        if !std::mem::take(&mut self.is_stale) {
            return;
        }
        let Past { cached, done } = std::mem::take(&mut self.past);
        let case = |id: &String| setup.cases.iter().find(|case| case.id == *id);
        let is_phase = |done: &Done| matches!(done, Done::Phase(..));
        let Some(Done::Phase(of, ..)) = done.iter().find(|done| is_phase(done)) else { return };
        let Some(of) = case(of) else { return };
        let mut again = Self::before(setup, of, cached);
        for done in done {
            match done {
                Done::Pause(time) => again.pause(time),
                Done::CachesDropped => again.drop_caches(setup),
                Done::FilesRemoved(id) => {
                    case(&id).into_iter().for_each(|case| again.files_removed(setup, case))
                }
                Done::Phase(_, pass, phase) => {
                    let carry_out =
                        |order: PhaseOrder<'_>| again.carry_out(setup, &[order], &[&Controls::new()]);
                    let done = setup.planned((of, pass, phase), false, carry_out);
                    debug_assert!(matches!(done, Ok((_, false))), "a helper has done it");
                }
            }
        }
        self.turn(setup, of, again);
    }

    fn did(&mut self, what: Done) {
        self.past.done.push(what);
    }

    /// Notes phases, and advances the clock.
    pub(super) fn passes(&mut self, phases: &[(&Case, &PhaseJob<'_>)], time: Ticks) {
        self.system.now = self.system.now.saturating_add(time);
        for (case, job) in phases {
            self.did(Done::Phase(case.id.clone(), job.repetition, job.phase));
        }
    }

    /// Carries out phases at the same time, each with its own of `controls`. Also returns whether they were stopped.
    pub(super) fn carry_out(
        &mut self,
        setup: &Setup,
        orders: &[PhaseOrder<'_>],
        controls: &[&Controls],
    ) -> Result<(Vec<MachinePhase>, bool), RunnerError> {
        self.refresh(setup);
        let started = self.unix_ns();
        let phases: Vec<_> = orders.iter().map(|order| (order.case, &order.job)).collect();
        orders.iter().for_each(|order| self.replace_files(setup, order.case, order.job.phase));
        let mut is_independent = orders.iter().map(|order| setup.is_independent(order.job.workload));
        let outputs = if is_independent.all(|one| one) && self.system.behind.is_empty() {
            // On idle parts, so that the result is the same at any time.
            let mut idle = setup.idle.clone();
            let cached = vec![vec![0.0; idle.nodes.len()]; orders.len()];
            let outputs = setup.simulate(orders, &vec![vec![]; orders.len()], &cached, controls, &mut idle);
            self.passes(&phases, idle.now);
            outputs
        } else {
            let mut ends = Vec::new();
            let (mut cached, mut bytes) = (Vec::new(), Vec::new());
            for PhaseOrder { case, job, layout, node_of, .. } in orders {
                let has_target = job.workload.work.has_target();
                ends.push(if has_target { Vec::new() } else { setup.nodes_of_ends(job.workload)? });
                let (share, all) = self.cached(setup, job, node_of, key_of(*layout, case));
                cached.push(share);
                bytes.push(all);
            }
            let outputs = setup.simulate(orders, &ends, &cached, controls, &mut self.system);
            for ((output, bytes), PhaseOrder { case, job, layout, .. }) in
                outputs.iter().zip(&bytes).zip(orders)
            {
                if !job.workload.direct && job.workload.work.has_target() {
                    let mut moved = vec![0; self.system.nodes.len()];
                    output.tasks.iter().for_each(|task| moved[task.node as usize] += task.bytes);
                    self.keep_in_caches(setup, key_of(*layout, case), &moved, bytes);
                }
            }
            self.passes(&phases, 0);
            outputs
        };
        let stopped = outputs.iter().any(|output| output.stopped);
        let first = outputs.iter().map(|output| output.start).min().unwrap_or(0);
        let mut all = Vec::new();
        for (output, PhaseOrder { case, job, .. }) in outputs.into_iter().zip(orders) {
            in_time(case, &output)?;
            let later = i64::try_from(ns(output.start - first)).unwrap_or(i64::MAX);
            let started = started.saturating_add(later);
            all.push(outcome::machine_phase(output, job.workload, started, &setup.idle.drive_names));
        }
        Ok((all, stopped))
    }

    /// Drops the data of the files of `case`, which were removed.
    pub(super) fn files_removed(&mut self, setup: &Setup, case: &Case) {
        self.drop_files(setup, case);
        self.did(Done::FilesRemoved(case.id.clone()));
    }

    /// Empties the caches of the nodes.
    pub(super) fn drop_caches(&mut self, setup: &Setup) {
        self.refresh(setup);
        self.system.write_all_behind();
        self.system.nodes.iter_mut().for_each(|node| node.cached.clear());
        self.did(Done::CachesDropped);
    }

    /// Advances the clock.
    pub(super) fn pause(&mut self, time: Duration) {
        if !time.is_zero() {
            let nanos = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX / TICKS_PER_NS);
            self.system.now = self.system.now.saturating_add(nanos.saturating_mul(TICKS_PER_NS));
            self.did(Done::Pause(time));
        }
    }

    /// The share of the reads of each node that its page cache serves, and the number of bytes that the
    /// tasks of each node access.
    fn cached(&self, setup: &Setup, job: &PhaseJob<'_>, node_of: &[u32], key: u64) -> (Vec<f64>, Vec<u64>) {
        let workload = job.workload;
        let bytes = bytes_on_nodes(setup, workload, node_of);
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
    fn keep_in_caches(&mut self, setup: &Setup, key: u64, moved: &[u64], all: &[u64]) {
        let Some((size, _)) = setup.limits.cache else { return };
        for ((node, moved), all) in self.system.nodes.iter_mut().zip(moved).zip(all) {
            let there = node.cached.entry(key).or_insert(0);
            *there = (*there).max(*moved).min(*all).min(size);
            node.evict(size, key);
        }
    }
}

/// Whether `phase` of `case` removes its files before it writes new ones.
pub(super) fn replaces_files(case: &Case, phase: Phase) -> bool {
    phase == Phase::Write && case.workload.files.existing == Existing::Replace
}

/// The key of the files of `case`.
fn key_of_case(setup: &Setup, case: &Case) -> u64 {
    setup.layout_of(case).map_or(0, |layout| key_of(layout, case))
}

/// Bytes that the tasks of each node access.
pub(super) fn bytes_on_nodes(setup: &Setup, workload: &Workload, node_of: &[u32]) -> Vec<u64> {
    let mut bytes = vec![0_u64; setup.idle.nodes.len()];
    let each = bytes_of_task(workload);
    node_of.iter().for_each(|node| bytes[*node as usize] += each);
    bytes
}
