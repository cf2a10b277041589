//! Progress display of a run, by a thread that polls the engine's counters.

use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use engine::Controls;
use plan::{CaseEstimate, Plan};
use report::{Progress, Shown};
use runner::Event;

/// Update interval: short enough to look alive, and of negligible cost.
const TICK: Duration = Duration::from_millis(250);
/// Time after an interrupt until the user is told that files are still being removed.
const PATIENCE: Duration = Duration::from_secs(1);
const STOPPING: &str =
    "stopping: what the run has created is being removed; a second Ctrl-C leaves this to `ioproof clean`";
/// Polling interval when lines are printed once a minute.
const TICK_OF_LOG: Duration = Duration::from_secs(1);

struct Running {
    started: Instant,
    controls: Arc<Controls>,
    /// The fraction of all tasks that `controls` counts.
    share: f64,
}

impl Running {
    /// Extrapolates `own` to all tasks, assuming that other processes are as fast as this one.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "far below 2^63 bytes")]
    fn of_all(&self, own: u64) -> u64 {
        if self.share > 0.0 && self.share < 1.0 { (own as f64 / self.share) as u64 } else { own }
    }
}

struct Shared {
    line: Progress,
    running: Option<Running>,
    /// Counters of the phase that was started last.
    controls: Option<Arc<Controls>>,
    /// When the stop of the run was noticed, and whether it was reported.
    stopped: Option<(Instant, bool)>,
    over: bool,
}

/// Shows the progress of a run and the results of its cases on standard error.
pub(crate) struct LiveLine {
    shared: Arc<(Mutex<Shared>, Condvar)>,
    thread: Option<JoinHandle<()>>,
}

impl LiveLine {
    /// Prints the path of the `record` of `plan` and starts the progress display. In a model, `computing` has the expected
    /// seconds of computing a phase of each case.
    pub(crate) fn start(
        record: &Path,
        plan: &Plan,
        estimates: &[CaseEstimate],
        computing: Option<&[f64]>,
        shown: Shown,
    ) -> Self {
        let line = Progress::new(record, plan, estimates, computing, shown);
        let (is_shown, tick_after) = (line.is_shown(), if line.is_live() { TICK } else { TICK_OF_LOG });
        let shared = Arc::new((
            Mutex::new(Shared { line, running: None, controls: None, stopped: None, over: false }),
            Condvar::new(),
        ));
        let ticking = Arc::clone(&shared);
        // Without the thread the line is not updated, but the run continues.
        let spawn = || {
            let thread = thread::Builder::new().name("live-line".to_owned());
            thread.spawn(move || tick(&ticking, tick_after)).ok()
        };
        let thread = is_shown.then(spawn).flatten();
        Self { shared, thread }
    }

    /// Handles an event of the run.
    pub(crate) fn event(&self, event: &Event<'_>) {
        let shared = &mut *self.lock();
        match event {
            Event::PhaseStarted { case, repetition, phase, controls, share, .. } => {
                shared.line.start(case, *repetition, *phase);
                let controls = Arc::clone(controls);
                shared.controls = Some(Arc::clone(&controls));
                shared.running = Some(Running { started: Instant::now(), controls, share: *share });
            }
            Event::PhaseFinished(record) => {
                shared.phase_over();
                shared.line.measured(&record.phase);
            }
            Event::CaseFailed { case, message } => {
                shared.phase_over();
                shared.line.failed(&case.id, message);
            }
            Event::CaseSkipped { case, .. } => shared.line.skip(&case.id),
            Event::CaseFinished(case) => shared.line.finished(&case.id),
            Event::CaseStarted { .. }
            | Event::Warning(_)
            | Event::Wiped { .. }
            | Event::Removed { .. }
            | Event::Layout { .. } => {}
        }
    }

    /// Runs `write`, which prints to the terminal, with the live line removed.
    pub(crate) fn beside<T>(&self, write: impl FnOnce() -> T) -> T {
        self.lock().line.beside(write)
    }

    /// Writes a line that remains on the terminal.
    pub(crate) fn say(&self, text: &str) {
        self.lock().line.say(text);
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shared {
    /// Reports why a stopped run has not ended yet.
    fn say_if_stopping(&mut self) {
        if !self.controls.as_ref().is_some_and(|controls| controls.is_stopped()) {
            return;
        }
        let (since, said) = self.stopped.get_or_insert((Instant::now(), false));
        if !*said && since.elapsed() >= PATIENCE {
            *said = true;
            self.line.say(STOPPING);
        }
    }

    fn phase_over(&mut self) {
        if let Some(running) = self.running.take() {
            self.line.end(running.started.elapsed());
        }
    }
}

impl Drop for LiveLine {
    fn drop(&mut self) {
        self.lock().over = true;
        self.shared.1.notify_all();
        if let Some(thread) = self.thread.take() {
            // A panic of the display thread has been printed; the run's result remains valid.
            let _ = thread.join();
        }
        self.lock().line.finish();
    }
}

fn tick((shared, over): &(Mutex<Shared>, Condvar), after: Duration) {
    let mut guard = shared.lock().unwrap_or_else(PoisonError::into_inner);
    while !guard.over {
        let Shared { line, running, .. } = &mut *guard;
        if let Some(running) = running {
            let own = running.controls.progress();
            let (bytes, operations) = (running.of_all(own.bytes), running.of_all(own.transfers));
            let on_model = own.model_ns.map(Duration::from_nanos);
            line.update(bytes, operations, running.started.elapsed(), on_model);
            if let Some(engine::Launches { running, over, all }) = own.launches {
                line.launches(running, over, all);
            }
        }
        line.tick();
        guard.say_if_stopping();
        guard = over.wait_timeout(guard, after).unwrap_or_else(PoisonError::into_inner).0;
    }
}
