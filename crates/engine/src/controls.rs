//! What other threads may touch while a phase runs: the stop flag and the progress counters.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::LastOperation;
use crate::history::History;

/// How far a phase has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Progress {
    /// Completed transfers of this process in the current phase.
    pub transfers: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Of jobs: how far their launches have come.
    pub launches: Option<Launches>,
}

/// How far the launches of a phase have come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Launches {
    /// Processes that run.
    pub running: u32,
    /// Launches that are over, however they have ended.
    pub over: u32,
    /// All launches.
    pub all: u32,
}

/// Counters of one worker. Two cache lines, since processors fetch lines in pairs: no worker
/// ever waits for a line that another one writes.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Slot {
    pub(crate) reads: AtomicU64,
    pub(crate) writes: AtomicU64,
    /// Operations that are no transfers.
    pub(crate) items: AtomicU64,
}

impl Slot {
    /// Completed operations: transfers in either direction, and items.
    pub(crate) fn transfers(&self) -> u64 {
        [&self.reads, &self.writes, &self.items].into_iter().map(|count| count.load(Ordering::Relaxed)).sum()
    }
}

#[derive(Debug, Default)]
struct Board {
    slots: Arc<[Slot]>,
    transfer_bytes: u64,
    history: Option<Arc<History>>,
    /// What was shown, where other processes do the work.
    shown: Option<Progress>,
    /// Phases begun so far.
    phases: u64,
}

/// Up to where somebody has seen the operations of the phases.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Seen {
    phase: u64,
    workers: Vec<u64>,
}

/// Stop flag and progress, shared by the thread that runs a phase and those that watch it.
///
/// A `Controls` may serve several phases, one after the other; progress is that of the last one
/// begun. The user's stop stays; a halt after a failure ends with its phase.
#[derive(Debug, Default)]
pub struct Controls {
    /// What the user asked for.
    asked: Arc<AtomicBool>,
    /// What the workers look at: set with `asked`, and alone when a task fails.
    halt: Arc<AtomicBool>,
    board: Mutex<Board>,
}

impl Controls {
    /// Not stopped, nothing done.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Ends the phase soon, and lets no other start: transfers under way are completed, then all
    /// files are closed.
    pub fn stop(&self) {
        self.asked.store(true, Ordering::SeqCst);
        self.halt.store(true, Ordering::SeqCst);
    }

    /// Ends the phase that is under way soon, as after a failure of a peer; the next one may start.
    pub fn halt(&self) {
        self.halt.store(true, Ordering::SeqCst);
    }

    /// Whether [`Controls::stop`] was called, or its flags were set.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }

    /// The flags that [`Controls::stop`] sets, in their order, for a library that sets flags from
    /// signal handlers.
    #[must_use]
    pub fn stop_flags(&self) -> [Arc<AtomicBool>; 2] {
        [Arc::clone(&self.asked), Arc::clone(&self.halt)]
    }

    /// What the workers look at.
    pub(crate) fn halt_flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.halt)
    }

    /// How far the phase has come. Costs the workers nothing but a shared read of their counters.
    #[must_use]
    pub fn progress(&self) -> Progress {
        let board = self.board.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(shown) = board.shown {
            return shown;
        }
        let transfers: u64 = board.slots.iter().map(Slot::transfers).sum();
        Progress { transfers, bytes: transfers * board.transfer_bytes, launches: None }
    }

    /// Other processes do the work of the phase, and have come so far. It stands until the next phase begins.
    pub fn show(&self, progress: Progress) {
        self.board.lock().unwrap_or_else(PoisonError::into_inner).shown = Some(progress);
    }

    /// What was kept of the phase since this was last asked with the same `seen`, by the starts of the
    /// operations; nothing where the workload keeps none. Costs the workers nothing.
    #[must_use]
    pub fn last_operations(&self, seen: &mut Seen) -> Vec<LastOperation> {
        let board = self.board.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(history) = board.history.clone() else { return Vec::new() };
        let phase = board.phases;
        drop(board);
        if seen.phase != phase {
            *seen = Seen { phase, workers: Vec::new() };
        }
        history.since(&mut seen.workers)
    }

    /// The phase that was begun keeps its last operations in `history`.
    pub(crate) fn keep(&self, history: &Arc<History>) {
        self.board.lock().unwrap_or_else(PoisonError::into_inner).history = Some(Arc::clone(history));
    }

    /// Fresh counters for the workers of a phase.
    pub(crate) fn begin(&self, workers: usize, transfer_bytes: u64) -> Arc<[Slot]> {
        let slots: Arc<[Slot]> = (0..workers).map(|_| Slot::default()).collect();
        // A stop that comes between these two lines sets both flags itself.
        self.halt.store(false, Ordering::SeqCst);
        self.halt.fetch_or(self.asked.load(Ordering::SeqCst), Ordering::SeqCst);
        let mut board = self.board.lock().unwrap_or_else(PoisonError::into_inner);
        let phases = board.phases + 1;
        *board = Board { slots: Arc::clone(&slots), transfer_bytes, history: None, shown: None, phases };
        slots
    }
}
