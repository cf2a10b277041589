//! What all phases of a run have in common, and how one of them is simulated.

use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use comm::Topology;
use engine::{Controls, PhaseJob};
use plan::{Case, Phase, Workload};
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use runner::{RunnerError, SERIES_INTERVAL, nodes_of_tasks};

use crate::model::{Model, TroubleKind};
use crate::simulation::parts::service::normal;
use crate::simulation::phase::{PhaseInput, PhaseOutput, simulate};
use crate::simulation::system::{NodeLimits, System};
use crate::simulation::task::Members;
use crate::simulation::time::TICKS_PER_NS;

/// Upper end of the last bucket of latency histograms: 2^42 ns.
const LATENCY_LIMIT_NS: u64 = 1 << 42;

/// What does not change during a run.
#[derive(Debug, Clone)]
pub(super) struct Setup {
    pub(super) model: Model,
    pub(super) limits: NodeLimits,
    pub(super) cases: Vec<Case>,
    /// The members, by case.
    pub(super) members: HashMap<String, Members>,
    pub(super) seed: u64,
    pub(super) extrapolates: bool,
    /// All parts at rest.
    pub(super) idle: System,
    /// The nodes, each with as many processes as the plan needs.
    pub(super) topology: Topology,
}

/// A phase to be simulated.
pub(super) struct PhaseOrder<'a> {
    pub(super) case: &'a Case,
    pub(super) job: PhaseJob<'a>,
    /// Index of the layout.
    pub(super) layout: usize,
    /// The node of each task.
    pub(super) node_of: &'a [u32],
    /// Whether its progress is shown.
    pub(super) shows: bool,
}

impl Setup {
    pub(super) fn layout_of(&self, case: &Case) -> Result<usize, RunnerError> {
        let target = case.target.as_str();
        let layout = self.model.layout_of(target);
        let index = layout.and_then(|layout| self.model.layouts.iter().position(|one| one == layout));
        index.ok_or_else(|| {
            let names: Vec<&str> =
                self.model.layouts.iter().flat_map(|layout| &layout.targets).map(String::as_str).collect();
            let told = format!(
                "the target `{target}` is not on any layout of the model, whose layouts have the targets \
                 {}: add it to `targets` of one of them",
                names.join(", ")
            );
            lacking(case, told)
        })
    }

    /// The layout of a case. Exchanges do not use any devices.
    pub(super) fn layout_needed(&self, case: &Case) -> Result<usize, RunnerError> {
        if case.workload.work.has_target() { self.layout_of(case) } else { Ok(0) }
    }

    /// The node of each endpoint of the exchanges of `workload`.
    pub(super) fn nodes_of_ends(&self, workload: &Workload) -> Result<Vec<u32>, RunnerError> {
        let node_of = self.topology.node_of();
        let ends = plan::assign(workload, node_of)?;
        Ok(ends.iter().map(|end| node_of[end.rank as usize]).collect())
    }

    /// Whether parts are ever at rest: not with a write cache that still has data to write, or with a trouble that begins or
    /// ends at some time of the run.
    pub(super) fn can_rest(&self) -> bool {
        let Model { devices, troubles, .. } = &self.model;
        devices.iter().all(|devices| devices.write_cache.is_none())
            && troubles.iter().all(|trouble| trouble.kind == TroubleKind::Slow)
    }

    /// Whether no phase of `workload` changes another one, or is changed by one.
    pub(super) fn is_independent(&self, workload: &Workload) -> bool {
        (workload.work.is_transfers() || workload.work.tree().is_some())
            && (workload.direct || self.model.node.cache.is_none())
            && self.can_rest()
    }

    /// Seeds all random numbers of phases that run at the same time, and returns the factor of the times of each. Cases draw
    /// the same numbers whatever ran before them, so that a resumed run gives the same figures.
    pub(super) fn draw(&self, phases: &[(&Case, &PhaseJob<'_>)], system: &mut System) -> Vec<f64> {
        let noise = self.model.model.noise;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed_of(self.seed, phases));
        let mut factor = || if noise > 0.0 { libm::exp(noise * normal(&mut random)) } else { 1.0 };
        let factors = phases.iter().map(|_| factor()).collect();
        system.reseed(&mut random);
        factors
    }

    /// Does something with the order of a phase of which only the plan determines what it does.
    pub(super) fn planned<T>(
        &self,
        (case, pass, phase): (&Case, u32, Phase),
        shows: bool,
        what: impl FnOnce(PhaseOrder<'_>) -> Result<T, RunnerError>,
    ) -> Result<T, RunnerError> {
        let node_of = nodes_of_tasks(&case.workload, &self.topology)?;
        let layout = self.layout_needed(case)?;
        let job = PhaseJob { series_interval: SERIES_INTERVAL, ..PhaseJob::new(&case.workload, phase, pass) };
        what(PhaseOrder { case, job, layout, node_of: &node_of, shows })
    }

    /// Simulates phases at the same time on `system`, whose clock it advances. For each of them, `ends` are the nodes of its
    /// endpoints, `cached` the shares of the reads of each node that its page cache serves, and `controls` its own.
    pub(super) fn simulate(
        &self,
        orders: &[PhaseOrder<'_>],
        ends: &[Vec<u32>],
        cached: &[Vec<f64>],
        controls: &[&Controls],
        system: &mut System,
    ) -> Vec<PhaseOutput> {
        let drawn: Vec<_> = orders.iter().map(|order| (order.case, &order.job)).collect();
        let factors = self.draw(&drawn, system);
        let alone = orders.len() == 1;
        let mut inputs = Vec::new();
        let given = ends.iter().zip(cached).zip(controls).zip(factors);
        for (order, (((ends, cached), controls), factor)) in orders.iter().zip(given) {
            let &PhaseOrder { case, ref job, layout, node_of, shows } = order;
            let together = case.concurrent.as_ref().filter(|_| !alone);
            inputs.push(PhaseInput {
                job,
                node_of,
                ends,
                layout,
                after: together.map_or(0, |together| together.start.0.saturating_mul(TICKS_PER_NS)),
                key: key_of(layout, case),
                members: self.members.get(&case.id).copied(),
                factor,
                cached,
                controls,
                shows,
                extrapolates: self.extrapolates,
            });
        }
        simulate(&inputs, &self.limits, system)
    }

    /// The cases that run at the same time as `case`, with itself.
    pub(super) fn beside<'s>(&'s self, case: &'s Case) -> impl Iterator<Item = &'s Case> {
        let others = self.cases.iter().filter(|other| other.runs_with(case) && other.id != case.id);
        std::iter::once(case).chain(others)
    }
}

/// The seed of phases that run at the same time, computed with FNV-1a.
fn seed_of(seed: u64, phases: &[(&Case, &PhaseJob<'_>)]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for (case, job) in phases {
        let pass = job.repetition.to_le_bytes();
        let words = [case.id.as_bytes(), job.phase.name().as_bytes(), &pass, &seed.to_le_bytes()];
        let add = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        hash = words.concat().iter().fold(hash, add);
    }
    hash
}

/// Rejects a phase that reached the end of the clock, or has latencies that do not fit into a histogram.
pub(super) fn in_time(case: &Case, output: &PhaseOutput) -> Result<(), RunnerError> {
    if output.too_long {
        let told = "this takes more than 50 days on the model: check its times and rates, or do less work";
        return Err(lacking(case, told.to_owned()));
    }
    if output.recording.longest_ns >= LATENCY_LIMIT_NS {
        let told = "one operation takes more than 73 minutes on the model, the maximum latency that is \
                    counted: check its times and rates, or do less work at once";
        return Err(lacking(case, told.to_owned()));
    }
    Ok(())
}

/// The error about something that `case` needs and the model does not have.
pub(super) fn lacking(case: &Case, told: String) -> RunnerError {
    RunnerError::Model { case: case.id.clone(), told }
}

/// A key that distinguishes the files of cases. It is only used within one run.
pub(super) fn key_of(layout: usize, case: &Case) -> u64 {
    let mut hasher = DefaultHasher::new();
    (layout, &case.workload.files).hash(&mut hasher);
    hasher.finish()
}
