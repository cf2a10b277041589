//! What a foreign tool prints of single operations while a phase goes on: a thread looks for new ones and
//! hands them to the tool's printer.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use dialect::{LiveOperation, ToolPrinter};
use engine::{Controls, LastOperation, Seen};

use super::output::Output;
use crate::exit::Failure;

/// Soon enough to look as if it were printed at once, seldom enough to cost nothing.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// The printer of a tool, and what it prints on.
pub(crate) struct Paper {
    pub(crate) printer: Box<dyn ToolPrinter>,
    pub(crate) out: Output,
    /// The first failure to print.
    pub(crate) failed: Option<Failure>,
}

impl Paper {
    /// Prints `text`.
    pub(crate) fn write(&mut self, text: &str) {
        if let Err(failure) = self.out.write(text) {
            self.failed.get_or_insert(failure);
        }
    }
}

/// Paper that the thread of a phase and the thread of the run print on.
#[derive(Clone)]
pub(crate) struct Shared(Arc<Mutex<Paper>>);

impl Shared {
    pub(crate) fn new(paper: Paper) -> Self {
        Self(Arc::new(Mutex::new(paper)))
    }

    /// Nobody else prints while this is held.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Paper> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The thread that looks for new operations of a phase. Dropping it ends it.
pub(crate) struct Looking {
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Looking {
    /// Looks for operations of the phase that `controls` are of. Without a thread, lines come at the end
    /// of the phase, which is no reason to fail.
    pub(crate) fn start(paper: Shared, controls: Arc<Controls>) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&over);
        let thread = thread::Builder::new().name("operations".to_owned());
        let thread = thread.spawn(move || look(&paper, &controls, &seen)).ok();
        Self { over, thread }
    }
}

impl Drop for Looking {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // A panic of the thread has been printed; the run's result stands.
            let _ = thread.join();
        }
    }
}

fn look(paper: &Shared, controls: &Controls, over: &AtomicBool) {
    let (mut seen, mut start_unix_ns) = (Seen::default(), i64::MAX);
    while !over.load(Ordering::Acquire) {
        let new = controls.last_operations(&mut seen);
        if let Some(last) = new.iter().map(end_ns).max() {
            // The phase's start cannot be later than that of what has just ended.
            start_unix_ns = start_unix_ns.min(now_unix_ns().saturating_sub(last));
            let new: Vec<LiveOperation> = new.iter().map(|one| live(one, start_unix_ns)).collect();
            let mut paper = paper.lock();
            let text = paper.printer.operations(&new);
            paper.write(&text);
            if paper.out.is_unread() {
                // Lines are what this goes on for, perhaps without an end.
                controls.stop();
            }
        }
        thread::park_timeout(LOOK_EVERY);
    }
}

fn live(one: &LastOperation, start_unix_ns: i64) -> LiveOperation {
    LiveOperation {
        operation: one.operation,
        start_ns: one.start_ns,
        latency_ns: one.latency_ns,
        bytes: one.bytes,
        ended_unix_ns: start_unix_ns.saturating_add(end_ns(one)),
    }
}

fn end_ns(one: &LastOperation) -> i64 {
    i64::try_from(one.start_ns + one.latency_ns).unwrap_or(i64::MAX)
}

fn now_unix_ns() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}
