//! Live output of individual operations while a phase runs. A thread polls for new operations and passes
//! them to the tool's printer.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use dialect::{LiveOperation, ToolPrinter};
use engine::{Controls, HistoryCursor, LastOperation};

use super::output::Output;
use crate::console::exit::Failure;

/// Polling interval: short enough to look immediate, and of negligible cost.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// The printer of a tool, and its output.
pub(crate) struct ToolOutput {
    pub(crate) printer: Box<dyn ToolPrinter>,
    pub(crate) out: Output,
    /// The first failure to print, if there was one.
    pub(crate) failed: Option<Failure>,
}

impl ToolOutput {
    /// Prints `text`.
    pub(crate) fn write(&mut self, text: &str) {
        if let Err(failure) = self.out.write(text) {
            self.failed.get_or_insert(failure);
        }
    }
}

/// Output that is shared by the thread of a phase and the thread of the run.
#[derive(Clone)]
pub(crate) struct Shared(Arc<Mutex<ToolOutput>>);

impl Shared {
    pub(crate) fn new(output: ToolOutput) -> Self {
        Self(Arc::new(Mutex::new(output)))
    }

    /// Locks the output.
    pub(crate) fn lock(&self) -> MutexGuard<'_, ToolOutput> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The thread that polls for new operations of a phase. It ends on drop.
pub(crate) struct OperationPoller {
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl OperationPoller {
    /// Starts to poll for operations of the phase of `controls`. If no thread can be started, the lines are
    /// printed at the end of the phase.
    pub(crate) fn start(output: Shared, controls: Arc<Controls>) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&over);
        let thread = thread::Builder::new().name("operations".to_owned());
        let thread = thread.spawn(move || look(&output, &controls, &seen)).ok();
        Self { over, thread }
    }
}

impl Drop for OperationPoller {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // A panic of the thread has been printed; the run's result remains valid.
            let _ = thread.join();
        }
    }
}

fn look(output: &Shared, controls: &Controls, over: &AtomicBool) {
    let (mut seen, mut start_unix_ns) = (HistoryCursor::default(), i64::MAX);
    while !over.load(Ordering::Acquire) {
        let new = controls.last_operations(&mut seen);
        if let Some(last) = new.iter().map(end_ns).max() {
            // The phase must have started before an operation that has just ended.
            start_unix_ns = start_unix_ns.min(now_unix_ns().saturating_sub(last));
            let new: Vec<LiveOperation> = new.iter().map(|one| live(one, start_unix_ns)).collect();
            let mut output = output.lock();
            let text = output.printer.operations(&new);
            output.write(&text);
            if output.out.is_unread() {
                // An endless run is only made for its output, so stop it if the output fails.
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
        offset_bytes: one.offset,
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
