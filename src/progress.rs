//! The live line: a thread of its own that reads the engine's counters a few times a second.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use engine::Controls;
use plan::{Outlook, Phase, Plan};
use report::Progress;

/// Often enough to look alive, seldom enough to cost nothing.
const TICK: Duration = Duration::from_millis(250);

struct Running {
    started: Instant,
    controls: Arc<Controls>,
    /// The share of all tasks that `controls` counts.
    share: f64,
}

impl Running {
    /// Bytes of all tasks so far, as if those of other processes were as fast as those of this one.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "far below 2^63 bytes")]
    fn bytes(&self) -> u64 {
        let own = self.controls.progress().bytes;
        if self.share > 0.0 && self.share < 1.0 { (own as f64 / self.share) as u64 } else { own }
    }
}

struct Shared {
    line: Progress,
    running: Option<Running>,
    over: bool,
}

/// Shows how far a run is, on the error stream, where that is a terminal.
pub(crate) struct LiveLine {
    shared: Arc<(Mutex<Shared>, Condvar)>,
    thread: Option<JoinHandle<()>>,
}

impl LiveLine {
    /// A line for `plan`.
    pub(crate) fn start(plan: &Plan, outlooks: &[Outlook]) -> Self {
        let shared = Shared { line: Progress::new(plan, outlooks), running: None, over: false };
        let shared = Arc::new((Mutex::new(shared), Condvar::new()));
        let ticking = Arc::clone(&shared);
        // Without the thread the line stands still, which is no reason to fail.
        let thread = std::io::IsTerminal::is_terminal(&std::io::stderr())
            .then(|| thread::Builder::new().name("live-line".to_owned()).spawn(move || tick(&ticking)).ok())
            .flatten();
        Self { shared, thread }
    }

    /// A phase begins; `controls` counts this `share` of its tasks.
    pub(crate) fn phase(
        &self,
        case: &str,
        repetition: u32,
        phase: Phase,
        controls: &Arc<Controls>,
        share: f64,
    ) {
        let mut shared = self.lock();
        shared.line.start(case, repetition, phase);
        shared.running = Some(Running { started: Instant::now(), controls: Arc::clone(controls), share });
    }

    /// The phase is over.
    pub(crate) fn phase_over(&self) {
        let mut shared = self.lock();
        if let Some(running) = shared.running.take() {
            shared.line.end(running.started.elapsed());
        }
    }

    /// Nothing more of this case will run.
    pub(crate) fn skip(&self, case: &str) {
        self.lock().line.skip(case);
    }

    /// Writes a line that stays.
    pub(crate) fn say(&self, text: &str) {
        self.lock().line.say(text);
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for LiveLine {
    fn drop(&mut self) {
        self.lock().over = true;
        self.shared.1.notify_all();
        if let Some(thread) = self.thread.take() {
            // A panic of the ticking thread has been printed; the run's result stands.
            let _ = thread.join();
        }
        self.lock().line.finish();
    }
}

fn tick((shared, over): &(Mutex<Shared>, Condvar)) {
    let mut guard = shared.lock().unwrap_or_else(PoisonError::into_inner);
    while !guard.over {
        let launches = |running: &Running| running.controls.progress().launches;
        let now = guard
            .running
            .as_ref()
            .map(|running| (running.bytes(), running.started.elapsed(), launches(running)));
        if let Some((bytes, elapsed, launches)) = now {
            guard.line.update(bytes, elapsed);
            if let Some(engine::Launches { running, over, all }) = launches {
                guard.line.launches(running, over, all);
            }
        }
        guard = over.wait_timeout(guard, TICK).unwrap_or_else(PoisonError::into_inner).0;
    }
}
