//! Barriers of the engine's phases across the processes of a run.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use comm::Comm;
use engine::{Point, Rendezvous, RendezvousError};
use plan::Nanos;

/// How often a phase that begins later looks whether it has to end.
const WAIT_STEP: Duration = Duration::from_millis(20);

/// The engine's barriers, implemented with a [`Comm`].
pub(crate) struct RankBarrier<'a> {
    /// All ranks.
    comm: &'a dyn Comm,
    /// The ranks that run tasks.
    group: &'a dyn Comm,
    /// The phase number, sent to the other ranks when a task fails.
    number: u64,
    /// Set if other phases run at the same time.
    beside: Option<Beside<'a>>,
    /// Called when the tasks of this rank are about to start, before the ranks meet there.
    at_start: &'a (dyn Fn() + Sync),
    /// Whether the processes have agreed that everything is prepared.
    is_ready: AtomicBool,
}

impl<'a> RankBarrier<'a> {
    /// Creates the barriers of the ranks of `group`, a subset of `comm`, for the phase with this number.
    pub(crate) fn new(
        comm: &'a dyn Comm,
        group: &'a dyn Comm,
        number: u64,
        beside: Option<Beside<'a>>,
        at_start: &'a (dyn Fn() + Sync),
    ) -> Self {
        Self { comm, group, number, beside, at_start, is_ready: AtomicBool::new(false) }
    }
}

impl Rendezvous for RankBarrier<'_> {
    fn meet(&self, _point: Point) -> Result<(), RendezvousError> {
        self.group.barrier().map_err(Into::into)
    }

    fn begin(&self, point: Point) -> Result<Duration, RendezvousError> {
        if point == Point::Start {
            self.beside.iter().for_each(Beside::wait_for_start);
            (self.at_start)();
        }
        self.group.meet().map_err(Into::into)
    }

    fn agree_max(&self, value: u64) -> Result<u64, RendezvousError> {
        self.group.max_u64(value).map_err(Into::into)
    }

    fn any(&self, value: bool) -> Result<bool, RendezvousError> {
        // The first question is whether the preparation failed: of phases at the same time, in any of them on any rank.
        let is_first = !self.is_ready.swap(true, Ordering::Relaxed);
        match self.beside.as_ref().filter(|_| is_first) {
            Some(beside) => Ok(beside.pass.arrive(value)),
            None => self.group.any(value).map_err(Into::into),
        }
    }

    fn share(&self, own: Vec<u8>) -> Result<Vec<Vec<u8>>, RendezvousError> {
        let all = self.group.gather(own)?;
        let all = all.map(|all| serde_json::to_vec(&all)).transpose()?.unwrap_or_default();
        Ok(serde_json::from_slice(&self.group.broadcast(all)?)?)
    }

    fn fail(&self) {
        self.comm.signal(self.number);
    }
}

/// How a phase starts beside others.
pub(crate) struct Beside<'a> {
    /// The gate before the start of all.
    pub(crate) pass: GatePass<'a>,
    /// How long after the first of them it begins.
    pub(crate) start: Nanos,
    /// Set when the phases have to end.
    pub(crate) halt: Arc<AtomicBool>,
}

impl Beside<'_> {
    /// Waits until the phase begins, or has to end.
    fn wait_for_start(&self) {
        let until = Instant::now() + Duration::from(self.start);
        while !self.halt.load(Ordering::Relaxed) {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            thread::sleep(left.min(WAIT_STEP));
        }
    }
}

/// Where the phases that run at the same time in a process wait until all of them are prepared, in this process and in all
/// others.
#[derive(Debug)]
pub(crate) struct StartGate {
    state: Mutex<GateState>,
    changed: Condvar,
}

#[derive(Debug)]
struct GateState {
    /// Phases that have not arrived and may still do so.
    awaited: usize,
    failed: bool,
    /// Set when the processes have agreed: whether any phase has failed.
    opened: Option<bool>,
}

/// A phase's right to pass a [`StartGate`]. If it is dropped before, the phase has failed.
#[derive(Debug)]
pub(crate) struct GatePass<'g> {
    gate: &'g StartGate,
    has_arrived: AtomicBool,
}

impl StartGate {
    /// A gate for so many phases of this process, which has perhaps `failed` already.
    pub(crate) fn new(phases: usize, failed: bool) -> Self {
        let state = GateState { awaited: phases, failed, opened: None };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }

    /// Waits until all phases of this process have arrived, or one has failed. Then opens the gate with the answer of
    /// `any`, which asks all processes whether any has failed.
    pub(crate) fn open(&self, any: impl FnOnce(bool) -> bool) {
        let mut state = self.lock();
        while state.awaited > 0 && !state.failed {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let failed = state.failed;
        drop(state);
        let failed = any(failed);
        self.lock().opened = Some(failed);
        self.changed.notify_all();
    }

    /// The pass of one of the phases.
    pub(crate) fn enter(&self) -> GatePass<'_> {
        GatePass { gate: self, has_arrived: AtomicBool::new(false) }
    }

    fn lock(&self) -> MutexGuard<'_, GateState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl GatePass<'_> {
    /// Waits until the gate opens; its own preparation has perhaps `failed`. Returns whether any did.
    pub(crate) fn arrive(&self, failed: bool) -> bool {
        let mut state = self.gate.lock();
        self.note(&mut state, failed);
        loop {
            match state.opened {
                Some(failed) => return failed,
                None => state = self.gate.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }

    fn note(&self, state: &mut GateState, failed: bool) {
        if !self.has_arrived.swap(true, Ordering::Relaxed) {
            state.awaited = state.awaited.saturating_sub(1);
            state.failed |= failed;
            self.gate.changed.notify_all();
        }
    }
}

impl Drop for GatePass<'_> {
    fn drop(&mut self) {
        self.note(&mut self.gate.lock(), true);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Arc, Mutex};
    use std::thread;
    use std::time::{Duration, Instant};

    use comm::{Comm, Fake, Solo};
    use engine::{Point, Rendezvous};
    use plan::Nanos;

    use super::{Beside, RankBarrier, StartGate};

    #[test]
    fn what_starts_later_is_observed_from_its_own_start() {
        let (solo, gate, began) = (Solo::new("here"), StartGate::new(1, false), Instant::now());
        let beside = Beside { pass: gate.enter(), start: Nanos::millis(50), halt: Arc::default() };
        let seen = Mutex::new(Vec::new());
        let look = || seen.lock().expect("no panic").push(began.elapsed());
        let barrier = RankBarrier::new(&solo, &solo, 1, Some(beside), &look);
        for point in [Point::Start, Point::Opened] {
            barrier.begin(point).expect("alone");
        }
        let seen = seen.lock().expect("no panic");
        assert!(matches!(seen[..], [at] if at >= Duration::from_millis(50)), "{seen:?}");
    }

    #[test]
    fn all_wait_for_the_last_and_learn_of_a_failure() {
        for fails in [false, true] {
            let (gate, prepared) = (StartGate::new(4, false), AtomicUsize::new(0));
            let results: Vec<bool> = thread::scope(|scope| {
                let phase = |number: u64| {
                    let (gate, prepared) = (&gate, &prepared);
                    scope.spawn(move || {
                        let pass = gate.enter();
                        thread::sleep(std::time::Duration::from_millis(5 * number));
                        prepared.fetch_add(1, Ordering::SeqCst);
                        let failed = pass.arrive(fails && number == 3);
                        assert!(failed || prepared.load(Ordering::SeqCst) == 4);
                        failed
                    })
                };
                let threads: Vec<_> = (0..4).map(phase).collect();
                gate.open(|failed| failed);
                threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
            });
            assert_eq!(results, [fails; 4]);
        }
    }

    #[test]
    fn a_phase_that_never_arrives_has_failed() {
        let gate = StartGate::new(2, false);
        let pass = gate.enter();
        drop(gate.enter());
        gate.open(|failed| failed);
        assert!(pass.arrive(false));
    }

    /// The first rank has tasks of both phases, and the second of one, which is prepared last.
    #[test]
    fn the_phases_of_all_ranks_wait_for_each_other() {
        for fails in [false, true] {
            let prepared = AtomicUsize::new(0);
            let go = |rank: Fake, phases: usize| {
                let (gate, number) = (StartGate::new(phases, false), rank.rank());
                thread::scope(|scope| {
                    let phase = |_| {
                        let (gate, prepared) = (&gate, &prepared);
                        scope.spawn(move || {
                            let pass = gate.enter();
                            thread::sleep(Duration::from_millis(20 * u64::from(number)));
                            prepared.fetch_add(1, Ordering::SeqCst);
                            let failed = pass.arrive(fails && number == 1);
                            assert!(failed || prepared.load(Ordering::SeqCst) == 3);
                            failed
                        })
                    };
                    let threads: Vec<_> = (0..phases).map(phase).collect();
                    gate.open(|failed| rank.any(failed).expect("both came"));
                    threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
                })
            };
            let mut world = Fake::world(&["n1", "n2"]);
            let (two, one) = (world.pop().expect("two"), world.pop().expect("two"));
            let results: [Vec<bool>; 2] = thread::scope(|scope| {
                let second = scope.spawn(|| go(two, 1));
                [go(one, 2), second.join().expect("no panic")]
            });
            assert_eq!(results.concat(), [fails; 3]);
        }
    }
}
