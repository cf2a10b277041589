//! The state of one of the phases that run at the same time.

use engine::{Controls, PhaseJob, Progress, Stonewalled};
use plan::Phase;

use crate::simulation::exchanges::Exchanges;
use crate::simulation::objects::ObjectPhase;
use crate::simulation::parts::service::whole;
use crate::simulation::recording::Recording;
use crate::simulation::system::{LayoutPath, NodeLimits, System};
use crate::simulation::task::{Members, bytes_of_task};
use crate::simulation::time::{TICKS_PER_NS, Ticks, ns, ticks};

/// Spreads the numbers of phases over those of files: 2^64 divided by the golden ratio.
const FILES_APART: u64 = 0x9E37_79B9_7F4A_7C15;

/// The input of the simulation of a phase.
pub(crate) struct PhaseInput<'a> {
    pub(crate) job: &'a PhaseJob<'a>,
    /// The node of each task.
    pub(crate) node_of: &'a [u32],
    /// For exchanges: the node of each endpoint.
    pub(crate) ends: &'a [u32],
    /// Index of the layout.
    pub(crate) layout: usize,
    /// How long after the first of the phases that run at the same time it begins.
    pub(crate) after: Ticks,
    /// Distinguishes the files of the case from those of others.
    pub(crate) key: u64,
    /// The devices of the case, if it uses members of its target.
    pub(crate) members: Option<Members>,
    /// Factor for all times. Rate limits are not exceeded, however.
    pub(crate) factor: f64,
    /// The share of each node's reads that its page cache serves.
    pub(crate) cached: &'a [f64],
    pub(crate) controls: &'a Controls,
    /// Whether the progress is shown there.
    pub(crate) shows: bool,
    /// Whether the time in a steady state is computed and not simulated.
    pub(crate) extrapolates: bool,
}

/// What belongs to one phase. The parts of the model, the clock and the events belong to all that run at the same time.
pub(super) struct RunningPhase<'a> {
    pub(super) input: &'a PhaseInput<'a>,
    pub(super) path: LayoutPath,
    /// For each tier of the path: whether a request goes on to the next part at once.
    pub(super) goes_on: Vec<bool>,
    /// Distinguishes its files and directories from those of the other phases; 0 for the first.
    pub(super) apart: u64,
    /// Index of its first task; those of the next phase follow its last one.
    pub(super) first_task: usize,
    /// Number of bytes of a transfer.
    pub(super) transfer: u64,
    pub(super) recording: Recording,
    pub(super) start: Ticks,
    /// No operation begins at or after this time.
    pub(super) deadline: Ticks,
    /// Number of operations to which all tasks continue after a stonewall.
    pub(super) worn: Option<u64>,
    pub(super) stonewall: Option<(Ticks, u64)>,
    /// Number of tasks that have not reached their end yet, plus one for the launcher of jobs.
    pub(super) left: usize,
    /// Number of tasks whose data is written before their files are closed.
    pub(super) syncing: usize,
    pub(super) first_done: Option<(Ticks, u64)>,
    pub(super) moved: u64,
    /// Processor time of a request on its node.
    pub(super) request_time: Ticks,
    /// Ticks between due operations of one task, and between those of neighbouring tasks.
    pub(super) pace: Option<(f64, f64)>,
    pub(super) buffered: bool,
    /// Whether writes wait for the devices although they use the page cache.
    pub(super) synced: bool,
    /// Size of the files of each task in bytes, which limits how many bytes wait to be written.
    pub(super) bytes_of_task: u64,
    pub(super) moves_data: bool,
    /// For objects: their order.
    pub(super) objects: Option<ObjectPhase<'a>>,
    /// For exchanges: their endpoints.
    pub(super) exchanges: Option<Exchanges<'a>>,
    pub(super) warm: bool,
    pub(super) unstarted: u64,
    pub(super) first_io: Ticks,
}

impl<'a> RunningPhase<'a> {
    /// Number `number` of the phases, with `tasks` tasks from the index `first_task` on.
    pub(super) fn new(
        input: &'a PhaseInput<'a>,
        (number, limits): (u32, &NodeLimits),
        (first_task, tasks): (usize, usize),
        interval: Ticks,
        system: &System,
    ) -> Self {
        let job = input.job;
        let workload = job.workload;
        let start = system.now.saturating_add(input.after);
        let exchanges = workload.work.rpc().map(|rpc| {
            // Establishing a connection takes one round trip.
            let opened = start.saturating_add(2 * system.latency_between());
            let shared = workload.backend.capabilities().needs_uring;
            let by_time = job.ending().limit().is_some();
            Exchanges::new(rpc, input.ends, system, opened, (shared, by_time))
        });
        let from = exchanges.as_ref().map_or(start, |exchanges| exchanges.counted_from);
        let limit = job.ending().limit();
        let deadline =
            limit.map_or(u64::MAX, |limit| from.saturating_add(limit.0.saturating_mul(TICKS_PER_NS)));
        let pace = workload.pace.filter(|_| job.phase.is_result() && exchanges.is_none()).map(|pace| {
            let between = ticks(1e9) / pace.transfers_per_second;
            (between * f64::from(workload.tasks), between)
        });
        // Jobs that sync their tables when closing them wait for the devices.
        let (direct, synced) =
            (workload.work.kind().is_direct(workload), workload.work.kind().syncs(workload));
        Self {
            input,
            path: system.paths[input.layout].clone(),
            goes_on: Vec::new(),
            apart: u64::from(number).wrapping_mul(FILES_APART),
            first_task,
            transfer: workload.geometry.transfer.0,
            recording: Recording::new(system.nodes.len(), interval),
            start,
            deadline,
            worn: None,
            stonewall: None,
            left: tasks + usize::from(workload.work.jobs().is_some()),
            syncing: 0,
            first_done: None,
            moved: 0,
            request_time: whole(system.request_time as f64 * input.factor),
            pace,
            buffered: limits.cache.is_some() && !direct,
            synced,
            bytes_of_task: bytes_of_task(workload),
            moves_data: workload.backend.moves_data(),
            objects: workload.work.objects().map(|objects| ObjectPhase::new(job, objects)),
            exchanges,
            warm: job.repetition > 0,
            unstarted: 0,
            first_io: u64::MAX,
        }
    }

    /// Determines where requests go on at once if it runs alone, with `tasks` tasks.
    pub(super) fn runs_alone(&mut self, tasks: usize, system: &System) {
        let job = self.input.job;
        let in_flight = tasks as u64 * u64::from(job.workload.backend.depth().max(1));
        // A page cache writes as much at once as it holds.
        let requests = if self.buffered || !system.behind.is_empty() { u64::MAX } else { in_flight };
        let requests = requests.saturating_mul(self.path.striping.pieces_at_most());
        let one_way = job.workload.work.is_transfers() && job.phase != Phase::Mixed;
        self.goes_on = self.path.goes_on(&system.stations, requests, self.start);
        self.goes_on.iter_mut().for_each(|goes_on| *goes_on &= one_way);
    }

    /// Requests of different phases do not stay in order, so each part looks at them when they arrive.
    pub(super) fn runs_beside_others(&mut self) {
        self.goes_on = vec![false; self.path.tiers.len()];
    }

    /// Whether a steady state of it is known if it runs alone.
    pub(super) fn may_be_steady(&self) -> bool {
        let work = &self.input.job.workload.work;
        self.input.extrapolates
            && self.objects.is_none()
            && (work.is_transfers() || work.makes_trees() || self.exchanges.is_some())
    }

    /// Whether all tasks have ended and their files are closed. Page caches may still be writing.
    pub(super) fn is_over(&self) -> bool {
        self.left == 0 && self.syncing == 0
    }

    /// The first end of an interval of its series after `now`; its start, if it has not begun at `before`.
    pub(super) fn interval_after(&self, now: Ticks, before: Ticks, interval: Ticks) -> Ticks {
        if before < self.start {
            return self.start;
        }
        self.start + ((now - self.start) / interval + 1) * interval
    }

    /// How it ended by the stonewall.
    pub(super) fn stonewalled(&self) -> Option<Stonewalled> {
        self.stonewall.map(|(at, bytes)| Stonewalled {
            ns: ns(at - self.first_io.min(at)),
            bytes,
            worn_out_transfers: self.worn,
        })
    }

    /// Shows that so many `transfers` have ended by `now`.
    pub(super) fn show(&self, now: Ticks, transfers: u64) {
        if self.input.shows {
            let model_ns = Some(ns(now.saturating_sub(self.start)));
            let progress = Progress { transfers, bytes: self.moved, launches: None, model_ns };
            self.input.controls.show(progress);
        }
    }
}
