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
    ) -> Self {
        Self { comm, group, number, beside, is_ready: AtomicBool::new(false) }
    }
}

impl Rendezvous for RankBarrier<'_> {
    fn meet(&self, _point: Point) -> Result<(), RendezvousError> {
        self.group.barrier().map_err(Into::into)
    }

    fn begin(&self, point: Point) -> Result<Duration, RendezvousError> {
        if let Some(beside) = self.beside.as_ref().filter(|_| point == Point::Start) {
            beside.wait_for_start();
        }
        self.group.meet().map_err(Into::into)
    }

    fn agree_max(&self, value: u64) -> Result<u64, RendezvousError> {
        self.group.max_u64(value).map_err(Into::into)
    }

    fn any(&self, value: bool) -> Result<bool, RendezvousError> {
        // The first question is whether the preparation failed, here or in a phase beside this one.
        let is_first = !self.is_ready.swap(true, Ordering::Relaxed);
        let value = match self.beside.as_ref().filter(|_| is_first) {
            Some(beside) => beside.pass.arrive(value),
            None => value,
        };
        self.group.any(value).map_err(Into::into)
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

/// Where the phases that run at the same time in a process wait until all of them are prepared.
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
}

/// A phase's right to pass a [`StartGate`]. If it is dropped before, the phase has failed.
#[derive(Debug)]
pub(crate) struct GatePass<'g> {
    gate: &'g StartGate,
    has_arrived: AtomicBool,
}

impl StartGate {
    /// A gate for so many phases.
    pub(crate) fn new(phases: usize) -> Self {
        Self { state: Mutex::new(GateState { awaited: phases, failed: false }), changed: Condvar::new() }
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
    /// Waits until all phases have arrived, each saying whether its preparation `failed`. Returns whether any did.
    pub(crate) fn arrive(&self, failed: bool) -> bool {
        let mut state = self.gate.lock();
        self.note(&mut state, failed);
        while state.awaited > 0 && !state.failed {
            state = self.gate.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.failed
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
    use std::thread;

    use super::StartGate;

    #[test]
    fn all_wait_for_the_last_and_learn_of_a_failure() {
        for fails in [false, true] {
            let (gate, prepared) = (StartGate::new(4), AtomicUsize::new(0));
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
                threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
            });
            assert_eq!(results, [fails; 4]);
        }
    }

    #[test]
    fn a_phase_that_never_arrives_has_failed() {
        let gate = StartGate::new(2);
        let pass = gate.enter();
        drop(gate.enter());
        assert!(pass.arrive(false));
    }
}
