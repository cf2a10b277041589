//! What is simulated before it is due, so that all processors are used.
//!
//! Two things do not depend on what was done before, so that they give the same result at any time and on any thread:
//!
//! - a phase is *independent* if no earlier phase can change it and it changes no later one: nothing of it is in a page
//!   cache or a write cache, and no trouble begins or ends at some time of the run;
//! - a whole case, if nothing of its files is left in any cache when it begins.
//!
//! One thread for each further processor simulates these units in the order of the plan. A result counts only if the run
//! asks for exactly that phase, in the state in which it was simulated. All others are simulated when they are due.

use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use engine::{Controls, PhaseJob, TransferLimit};
use plan::{Case, FileSet, Operation, Phase, Plan, Workload};
use runner::{MachinePhase, drops_caches_before, nodes_of_tasks, pause_before};

use super::setup::{PhaseOrder, Setup};
use super::state::{Followed, MachineState, Past, bytes_on_nodes, replaces_files};
use crate::simulation::time::Ticks;

/// Phases that may be kept until they are due.
const KEPT_MAX: usize = 256;
/// How often a thread that waits for another one looks at the stop flag and shows the progress.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Index of a case, pass, phase.
type Place = (usize, u32, Phase);

/// The threads, and what they have simulated.
#[derive(Debug)]
pub(super) struct Ahead {
    /// Number of threads that simulate, with the one of the run.
    pub(super) threads: usize,
    shared: Arc<Shared>,
    helpers: Vec<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    units: Vec<Unit>,
    /// The unit of each phase that belongs to one.
    unit_of: HashMap<Place, usize>,
    /// The first case that takes turns with each case.
    block_of: Vec<usize>,
    board: Mutex<Board>,
    changed: Condvar,
}

/// What one thread simulates.
#[derive(Debug)]
struct Unit {
    /// The first case that takes turns with its case.
    block: usize,
    places: Vec<Place>,
    /// For all phases of a case, each in the state that the one before it has left: bytes of its files that are expected to
    /// be in the page cache of each node when it begins.
    cached: Option<Vec<u64>>,
}

#[derive(Debug)]
struct Board {
    units: Vec<UnitState>,
    kept: HashMap<Place, Kept>,
    /// All units before this one are simulated or need not be.
    next: usize,
    is_over: bool,
}

#[derive(Debug, Clone)]
enum UnitState {
    Waits,
    /// A helper simulates it, whose progress and stop flag these are.
    Runs(Arc<Controls>),
    /// Nobody else has to simulate it.
    Over,
}

/// A phase that has been simulated before it is due.
#[derive(Debug)]
struct Kept {
    workload: Workload,
    node_of: Vec<u32>,
    phase: MachinePhase,
    effect: Effect,
}

/// What a phase changes.
#[derive(Debug)]
enum Effect {
    /// An independent phase takes this time.
    Takes(Ticks),
    /// A phase of a case, after this.
    Follows(Past, Followed),
}

impl Ahead {
    pub(super) fn new(setup: &Setup, plan: &Plan, threads: usize) -> Self {
        let units = units_of(setup, plan);
        let places =
            units.iter().enumerate().flat_map(|(unit, one)| one.places.iter().map(move |at| (*at, unit)));
        let board = Board {
            units: vec![UnitState::Waits; units.len()],
            kept: HashMap::new(),
            next: 0,
            is_over: false,
        };
        let shared = Shared {
            unit_of: places.collect(),
            block_of: plan.blocks().flat_map(|block| block.clone().map(move |_| block.start)).collect(),
            units,
            board: Mutex::new(board),
            changed: Condvar::new(),
        };
        Self { threads, shared: Arc::new(shared), helpers: Vec::new() }
    }

    /// The result of a phase that a helper has simulated or is simulating in this `state`, which is changed as by the
    /// phase.
    pub(super) fn take(
        &mut self,
        setup: &Arc<Setup>,
        order: &PhaseOrder<'_>,
        controls: &Controls,
        state: &mut MachineState,
    ) -> Option<MachinePhase> {
        let PhaseOrder { case, ref job, node_of, .. } = *order;
        let index = setup.cases.iter().position(|one| one.id == case.id)?;
        let place = (index, job.repetition, job.phase);
        self.shared.forget_before(self.shared.block_of[index]);
        let unit = self.shared.unit_of.get(&place).copied();
        self.start(setup);
        let kept = unit.and_then(|unit| self.shared.claim(setup, unit, place, controls));
        let (kept, unit) = (kept?, unit?);
        let is_same = is_plain(job) && kept.node_of == node_of && kept.workload == *job.workload;
        let started = state.unix_ns();
        match kept.effect {
            Effect::Takes(time) if is_same => state.passes(&[(case, job)], time),
            Effect::Follows(before, after) if is_same && before == state.past => {
                state.follow(setup, case, after);
            }
            _ => {
                self.shared.board().give_up(unit);
                return None;
            }
        }
        let mut phase = kept.phase;
        phase.outcome.started_unix_ns = started;
        Some(phase)
    }

    /// Whether helpers simulate case number `index`.
    pub(super) fn simulates(&self, index: usize) -> bool {
        self.shared.unit_of.keys().any(|place| place.0 == index)
    }

    /// Starts the helpers.
    fn start(&mut self, setup: &Arc<Setup>) {
        if !self.helpers.is_empty() || self.shared.units.is_empty() {
            return;
        }
        let helper = |_| {
            let (shared, setup) = (Arc::clone(&self.shared), Arc::clone(setup));
            thread::spawn(move || while shared.helps(&setup) {})
        };
        self.helpers = (1..self.threads).map(helper).collect();
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        let mut board = self.shared.board();
        board.is_over = true;
        (0..board.units.len()).for_each(|unit| board.give_up(unit));
        drop(board);
        self.shared.changed.notify_all();
        // A helper that has panicked has said so.
        self.helpers.drain(..).for_each(|helper| drop(helper.join()));
    }
}

impl Board {
    /// The next unit that waits, which the caller has to simulate. `None` if enough is kept.
    fn start_next(&mut self) -> Option<(usize, Arc<Controls>)> {
        let waits = |unit: &UnitState| matches!(unit, UnitState::Waits);
        let next = self.units[self.next..].iter().position(waits).map(|further| self.next + further);
        let next = next.filter(|_| self.kept.len() < KEPT_MAX)?;
        let controls = Arc::new(Controls::new());
        self.units[next] = UnitState::Runs(Arc::clone(&controls));
        self.next = next + 1;
        Some((next, controls))
    }

    /// Nobody needs the unit.
    fn give_up(&mut self, unit: usize) {
        if let UnitState::Runs(controls) = std::mem::replace(&mut self.units[unit], UnitState::Over) {
            controls.stop();
        }
    }
}

impl Shared {
    fn board(&self) -> MutexGuard<'_, Board> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Drops everything of the cases before `block`, which are over.
    fn forget_before(&self, block: usize) {
        let mut board = self.board();
        let over = self.units.partition_point(|unit| unit.block < block);
        if board.next < over || board.kept.keys().any(|place| self.block_of[place.0] < block) {
            (0..over).for_each(|unit| board.give_up(unit));
            board.next = board.next.max(over);
            board.kept.retain(|place, _| self.block_of[place.0] >= block);
            self.changed.notify_all();
        }
    }

    /// The result of a phase. `None` if the caller has to simulate it, as no helper will. While one does, the caller
    /// simulates what follows.
    fn claim(&self, setup: &Setup, unit: usize, place: Place, controls: &Controls) -> Option<Kept> {
        let mut board = self.board();
        loop {
            if let Some(kept) = board.kept.remove(&place) {
                self.changed.notify_all();
                return Some(kept);
            }
            let UnitState::Runs(helper) = &board.units[unit] else { break };
            if controls.is_stopped() {
                break;
            }
            controls.show(helper.progress());
            if let Some((next, _)) = board.start_next() {
                drop(board);
                self.simulate(next, setup, (controls, false));
                board = self.board();
            } else {
                board =
                    self.changed.wait_timeout(board, LOOK_EVERY).unwrap_or_else(PoisonError::into_inner).0;
            }
        }
        board.units[unit] = UnitState::Over;
        None
    }

    /// Simulates the next unit, if there is any.
    fn helps(&self, setup: &Setup) -> bool {
        let Some((unit, controls)) = self.next() else { return false };
        self.simulate(unit, setup, (&controls, true));
        true
    }

    /// Waits for a unit to simulate.
    fn next(&self) -> Option<(usize, Arc<Controls>)> {
        let mut board = self.board();
        while !board.is_over && board.next < board.units.len() {
            if let Some(next) = board.start_next() {
                return Some(next);
            }
            board = self.changed.wait(board).unwrap_or_else(PoisonError::into_inner);
        }
        None
    }

    /// Simulates the phases of unit number `unit` from parts at rest on, until one of them is stopped or the model lacks
    /// something, which is told when it is due.
    fn simulate(&self, unit: usize, setup: &Setup, (controls, shows): (&Controls, bool)) {
        let _ends = Ends { shared: self, unit };
        let unit = &self.units[unit];
        let mut state = match (&unit.cached, unit.places.first()) {
            (Some(cached), Some(&(index, ..))) => {
                MachineState::before(setup, &setup.cases[index], cached.clone())
            }
            _ => MachineState::new(setup),
        };
        for (number, &(index, pass, phase)) in unit.places.iter().enumerate() {
            let case = &setup.cases[index];
            if number > 0 {
                state.pause(pause_before(case, phase));
                if drops_caches_before(case, phase) {
                    state.drop_caches(setup);
                }
            }
            let before = state.past.clone();
            let carry_out = |order: PhaseOrder<'_>| {
                let node_of = order.node_of.to_vec();
                state.carry_out(setup, &[order], &[controls]).map(|done| (done, node_of))
            };
            let done = setup.planned((case, pass, phase), shows, carry_out);
            let Ok(((mut done, false), node_of)) = done else { return };
            let Some(done) = done.pop() else { return };
            let is_last = number + 1 == unit.places.len();
            let effect = match unit.cached.is_some() {
                true => Effect::Follows(before, state.followed(is_last)),
                false => Effect::Takes(state.now()),
            };
            let kept = Kept { workload: case.workload.clone(), node_of, phase: done, effect };
            self.board().kept.insert((index, pass, phase), kept);
            self.changed.notify_all();
        }
    }
}

/// The end of a unit, even by a panic.
struct Ends<'s> {
    shared: &'s Shared,
    unit: usize,
}

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.shared.board().units[self.unit] = UnitState::Over;
        self.shared.changed.notify_all();
    }
}

/// The units of a plan.
fn units_of(setup: &Setup, plan: &Plan) -> Vec<Unit> {
    let mut left = Cached::default();
    let mut units = Vec::new();
    for block in plan.blocks() {
        for (index, case) in block.clone().zip(&setup.cases[block.clone()]) {
            let places = places_of(index, case);
            let unit = |places, cached| Unit { block: block.start, places, cached };
            if setup.is_independent(&case.workload) {
                units.extend(places.into_iter().map(|place| unit(vec![place], None)));
                continue;
            }
            let is_one =
                block.len() == 1 && places.len() <= KEPT_MAX / 2 && setup.can_rest() && is_alone(case);
            let cached = left.before(setup, case).filter(|_| is_one);
            units.extend(cached.map(|cached| unit(places, Some(cached))));
            left.add(setup, case);
        }
    }
    units
}

/// The phases of a case, in order, which nothing can omit and for which it is known what they access. None of a case that
/// runs at the same time as others.
fn places_of(index: usize, case: &Case) -> Vec<Place> {
    let work = &case.workload.work;
    if case.stated.is_some() || case.concurrent.is_some() || work.jobs().is_some() || work.objects().is_some()
    {
        return Vec::new();
    }
    // What a phase has done by a time, and how often it has renamed files, decides what later ones access.
    let is_timed = |phase: &Phase| PhaseJob::new(&case.workload, *phase, 0).ending().limit().is_some();
    let renames = |phase: &Phase| phase.operation() == Some(Operation::Rename);
    let decides = |phase: &Phase| is_timed(phase) || renames(phase);
    let known = case.phases.iter().position(decides).map_or(case.phases.len(), |index| index + 1);
    let phases = &case.phases[..known];
    (0..case.passes_min()).flat_map(|pass| phases.iter().map(move |phase| (index, pass, *phase))).collect()
}

/// Whether nothing but the phases of `case` changes the state of the parts, from its begin to its end.
fn is_alone(case: &Case) -> bool {
    let known = places_of(0, case).len();
    known == case.phases.len() * case.passes_min() as usize
        && !case.protocol.wipe
        && case.protocol.precondition == 0
}

/// What is in the page caches, as far as the plan tells it.
#[derive(Default)]
struct Cached<'p> {
    /// Bytes on each node, by files.
    files: HashMap<&'p FileSet, Vec<u64>>,
}

impl<'p> Cached<'p> {
    /// Bytes of the files of `case` in the page cache of each node when it begins: none of new files, and all of those that
    /// an earlier case has, if there is room for the files of all cases. `None` if it is not known.
    fn before(&self, setup: &Setup, case: &Case) -> Option<Vec<u64>> {
        let nodes = setup.idle.nodes.len();
        let is_new = case.phases.first().is_some_and(|phase| replaces_files(case, *phase));
        let Some(own) = self.files.get(&case.workload.files).filter(|_| !is_new) else {
            return Some(vec![0; nodes]);
        };
        let (size, _) = setup.limits.cache?;
        let has_room = |node: usize| self.files.values().map(|bytes| bytes[node]).sum::<u64>() <= size;
        (0..nodes).all(has_room).then(|| own.clone())
    }

    /// Adds what `case` leaves.
    fn add(&mut self, setup: &Setup, case: &'p Case) {
        let workload = &case.workload;
        if !workload.direct && !self.files.contains_key(&workload.files) {
            let bytes = nodes_of_tasks(workload, &setup.topology)
                .map(|node_of| bytes_on_nodes(setup, workload, &node_of));
            self.files.insert(&workload.files, bytes.unwrap_or_default());
        }
    }
}

/// Whether nothing but the workload, the phase and the repetition determines what is done.
fn is_plain(job: &PhaseJob<'_>) -> bool {
    job.limit == TransferLimit::Pass && job.renamings == 0 && job.steps_before.is_empty()
}

#[cfg(test)]
mod tests;
