//! State that other threads may use while a phase runs: the stop flag and the progress counters.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::LastOperation;
use crate::recording::history::History;

/// The progress of a phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Progress {
    /// Number of transfers completed by this process in the current phase.
    pub transfers: u64,
    /// Number of bytes moved by these transfers.
    pub bytes: u64,
    /// Progress of the launches, if the work consists of jobs.
    pub launches: Option<Launches>,
    /// Nanoseconds since the phase began on the clock of a model; `None` if it is measured.
    pub model_ns: Option<u64>,
}

/// Progress of the launches of a phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Launches {
    /// Number of running processes.
    pub running: u32,
    /// Number of launches that have ended, successfully or not.
    pub over: u32,
    /// Total number of launches.
    pub all: u32,
}

/// The counters of one worker. Aligned to two cache lines, because processors fetch lines in pairs; this
/// avoids false sharing between workers.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct WorkerCounters {
    pub(crate) reads: AtomicU64,
    pub(crate) writes: AtomicU64,
    /// Number of operations other than transfers.
    pub(crate) items: AtomicU64,
}

impl WorkerCounters {
    /// Number of completed operations: transfers in either direction, and items.
    pub(crate) fn transfers(&self) -> u64 {
        [&self.reads, &self.writes, &self.items].into_iter().map(|count| count.load(Ordering::Relaxed)).sum()
    }
}

#[derive(Debug, Default)]
struct ProgressCounters {
    counters: Arc<[WorkerCounters]>,
    transfer_bytes: u64,
    history: Option<Arc<History>>,
    /// Progress set by [`Controls::show`], if other processes do the work.
    shown: Option<Progress>,
    /// Number of phases begun.
    phases: u64,
}

/// Position up to which a reader has read the history.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HistoryCursor {
    phase: u64,
    workers: Vec<u64>,
}

/// Stop flag and progress, shared by the thread that runs a phase and its observers.
///
/// A `Controls` may be used for several phases in sequence; the progress is that of the latest phase. A stop
/// by the user persists; a halt after a failure ends with its phase.
#[derive(Debug, Default)]
pub struct Controls {
    /// Set when the user asks for a stop.
    asked: Arc<AtomicBool>,
    /// Polled by the workers. Set together with `asked`, or alone if a task fails.
    halt: Arc<AtomicBool>,
    progress: Mutex<ProgressCounters>,
}

impl Controls {
    /// Creates controls that are not stopped and have no progress.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Controls with a progress of their own, for a phase that runs at the same time as others. A stop or a halt of one of
    /// them ends all.
    #[must_use]
    pub fn beside(&self) -> Self {
        let [asked, halt] = self.stop_flags();
        Self { asked, halt, progress: Mutex::default() }
    }

    /// Ends the phase soon and prevents further phases. Transfers in flight are completed, then all files are
    /// closed.
    pub fn stop(&self) {
        self.asked.store(true, Ordering::SeqCst);
        self.halt.store(true, Ordering::SeqCst);
    }

    /// Ends the running phase soon, for example because a peer failed. The next phase may still start.
    pub fn halt(&self) {
        self.halt.store(true, Ordering::SeqCst);
    }

    /// Whether [`Controls::stop`] was called or its flags were set.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }

    /// Returns the flags that [`Controls::stop`] sets, in order. Meant for a library that sets flags from
    /// signal handlers.
    #[must_use]
    pub fn stop_flags(&self) -> [Arc<AtomicBool>; 2] {
        [Arc::clone(&self.asked), Arc::clone(&self.halt)]
    }

    /// The flag polled by the workers.
    pub(crate) fn halt_flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.halt)
    }

    /// Returns the progress of the phase. The only cost to the workers is a shared read of their
    /// counters.
    #[must_use]
    pub fn progress(&self) -> Progress {
        let progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(shown) = progress.shown {
            return shown;
        }
        let transfers: u64 = progress.counters.iter().map(WorkerCounters::transfers).sum();
        Progress { transfers, bytes: transfers * progress.transfer_bytes, ..Progress::default() }
    }

    /// Sets the progress of a phase whose work is done by other processes. Kept until the next phase
    /// begins.
    pub fn show(&self, progress: Progress) {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner).shown = Some(progress);
    }

    /// Returns the operations added to the history since the last call with the same `seen`, ordered by
    /// start time. Empty if the workload keeps no history. Causes no cost to the workers.
    #[must_use]
    pub fn last_operations(&self, seen: &mut HistoryCursor) -> Vec<LastOperation> {
        let progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(history) = progress.history.clone() else { return Vec::new() };
        let phase = progress.phases;
        drop(progress);
        if seen.phase != phase {
            *seen = HistoryCursor { phase, workers: Vec::new() };
        }
        history.since(&mut seen.workers)
    }

    /// Sets `history` as the history of the current phase.
    pub(crate) fn keep(&self, history: &Arc<History>) {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner).history = Some(Arc::clone(history));
    }

    /// Creates fresh counters for the workers of a phase.
    pub(crate) fn begin(&self, workers: usize, transfer_bytes: u64) -> Arc<[WorkerCounters]> {
        let counters: Arc<[WorkerCounters]> = (0..workers).map(|_| WorkerCounters::default()).collect();
        // A stop that happens between these two lines sets both flags itself.
        self.halt.store(false, Ordering::SeqCst);
        self.halt.fetch_or(self.asked.load(Ordering::SeqCst), Ordering::SeqCst);
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        let phases = progress.phases + 1;
        *progress = ProgressCounters {
            counters: Arc::clone(&counters),
            transfer_bytes,
            history: None,
            shown: None,
            phases,
        };
        counters
    }
}
