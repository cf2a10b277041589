//! Signals between ranks while tasks run: a stop requested by the user, and the failure of a task.

use std::io;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use comm::Comm;
use engine::{Controls, EngineError, LimitKind};

use crate::RunnerError;

/// The signal for a stop requested by the user. Every other signal is the number of a phase in which a
/// task has failed.
const STOP: u64 = 0;

/// Polling interval for a stop request. It is short for a person, and cheap for 64 ranks on two
/// processors.
const LOOK: Duration = Duration::from_millis(100);

/// Signal handling of a rank.
#[derive(Debug)]
pub(crate) struct Signals {
    controls: Arc<Controls>,
    /// The number of the current phase, or 0 between phases. A signal is handled while holding the lock, so
    /// that a late one never ends the next phase.
    under_way: Mutex<u64>,
}

impl Signals {
    /// Starts to listen to the signals of `comm`.
    pub(crate) fn listen(comm: &dyn Comm, controls: &Arc<Controls>) -> Arc<Self> {
        let signals = Arc::new(Self { controls: Arc::clone(controls), under_way: Mutex::new(0) });
        let told = Arc::clone(&signals);
        comm.on_signal(Arc::new(move |value| told.receive(value)));
        signals
    }

    fn receive(&self, value: u64) {
        if value == STOP {
            return self.controls.stop();
        }
        let under_way = self.under_way.lock().unwrap_or_else(PoisonError::into_inner);
        if *under_way == value {
            self.controls.halt();
        }
    }

    /// Sets the current phase, or 0 at its end.
    pub(crate) fn phase(&self, number: u64) {
        *self.under_way.lock().unwrap_or_else(PoisonError::into_inner) = number;
    }
}

/// Runs `work` while a thread forwards the user's stop request to all ranks, and ends the current phase if a
/// rank is lost, because ranks with running tasks would only notice the loss at its end.
///
/// # Errors
/// Errors if the thread cannot be started; no work was done in that case.
pub(crate) fn forward_signals<T>(
    comm: &dyn Comm,
    controls: &Controls,
    work: impl FnOnce() -> T,
) -> Result<T, RunnerError> {
    if comm.size() == 1 {
        return Ok(work());
    }
    thread::scope(|scope| {
        let (done, over) = mpsc::channel::<()>();
        let forward = move || {
            let mut told = false;
            while over.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
                if controls.is_stopped() && !std::mem::replace(&mut told, true) {
                    comm.signal(STOP);
                }
                if comm.failure().is_some() {
                    controls.halt();
                }
            }
        };
        thread::Builder::new().spawn_scoped(scope, forward).map_err(no_thread)?;
        let result = work();
        drop(done);
        Ok(result)
    })
}

/// The error if a thread cannot be started.
pub(crate) fn no_thread(error: io::Error) -> EngineError {
    EngineError::Limit {
        which: LimitKind::Threads,
        have: 0,
        need: 1,
        remedy: format!("raise `ulimit -u` and the control group's pids.max ({error})"),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use comm::{Comm, Solo};
    use engine::Controls;

    use super::{STOP, Signals};

    #[test]
    fn a_late_signal_of_a_phase_does_not_touch_the_next_and_a_stop_stays() {
        let (solo, controls) = (Solo::new("here"), Arc::new(Controls::new()));
        let signals = Signals::listen(&solo, &controls);
        let halted = || controls.stop_flags()[1].load(std::sync::atomic::Ordering::SeqCst);
        signals.phase(2);
        solo.signal(1);
        assert!(!halted());
        solo.signal(2);
        assert!(halted() && !controls.is_stopped());
        solo.signal(STOP);
        assert!(controls.is_stopped());
    }
}
