//! The process of one job: reads its order, runs its steps, and reports each completed step.
//!
//! The FULLSTIMER figures of a step are differences between two readings of the kernel's accounting of this
//! process, which are taken directly before and after the step. All threads of a step have ended by then, so
//! the sum over the steps equals the result of `wait4(2)`, except for process start-up and exit.

pub(crate) mod counters;
pub(crate) mod meter;
pub(crate) mod order;
pub(crate) mod usage;

use std::io::{self, BufRead, Write};
use std::sync::Arc;

use plan::limits::JOB_ORDER_BYTES;
use rustix::process::{Signal, getppid, set_parent_process_death_signal};
use thiserror::Error;

use crate::process::usage::{forget_peak, give_back_memory, now_ns, peak_memory_bytes};
use crate::{
    Counters, CountersFile, Io, JobError, JobEvent, JobOrder, Meter, StepContext, StepReport, Usage, steps,
};

/// Outcome of a job with a valid order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// All steps are done.
    Done,
    /// A step failed, and this was reported.
    Failed,
}

/// Why a process could not read its order or report its events.
#[derive(Debug, Error)]
pub enum ProcessError {
    /// There is no order on standard input.
    #[error("standard input has no order: this command is for `ioproof run`, which writes one there")]
    NoOrder,
    /// The order cannot be parsed.
    #[error(
        "the order on standard input cannot be parsed: {0}; the program that wrote it must have the same \
         version"
    )]
    NotUnderstood(#[source] serde_json::Error),
    /// Standard input cannot be read.
    #[error("the order cannot be read from standard input: {0}")]
    NotRead(#[source] io::Error),
    /// Standard output cannot be written.
    #[error("the job cannot report to standard output: {0}; is the program that launched it gone?")]
    NotTold(#[source] io::Error),
    /// The counters' descriptor cannot be written.
    #[error("counters cannot be written to descriptor {fd}: {error}; the launcher must leave it open")]
    Counters {
        /// Its number.
        fd: i32,
        /// The error reported by the kernel.
        error: io::Error,
    },
    /// The launcher ended before the death signal was set.
    #[error("the program that launched this job is gone")]
    Orphan,
}

/// Serves the launcher that started this process: reads one order from standard input, and writes events to
/// standard output. From here on the process is killed when the thread that started it ends, so that a
/// killed run leaves no jobs.
///
/// # Errors
/// Errors if there is no order, or no reader of the events.
pub fn serve() -> Result<Ended, ProcessError> {
    let launcher = getppid();
    // If the kernel lacks this signal, a job ends when it next writes an event.
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    let order = read_order(io::stdin().lock())?;
    if getppid() != launcher {
        return Err(ProcessError::Orphan);
    }
    // If the launcher ended before the signal was set, nothing reads the next event.
    work(&order, io::stdout().lock())
}

/// Parses the order in a line of JSON.
///
/// # Errors
/// Errors if there is none, or if it is not an order.
pub fn read_order(input: impl BufRead) -> Result<JobOrder, ProcessError> {
    let mut line = String::new();
    input.take(JOB_ORDER_BYTES).read_line(&mut line).map_err(ProcessError::NotRead)?;
    if line.trim().is_empty() {
        return Err(ProcessError::NoOrder);
    }
    serde_json::from_str(&line).map_err(ProcessError::NotUnderstood)
}

/// Executes `order`, and reports events as lines of JSON.
///
/// # Errors
/// Errors if there is no reader of the events, or no file for the counters named in the order. A step
/// that fails is reported as an event.
pub fn work(order: &JobOrder, mut events: impl Write) -> Result<Ended, ProcessError> {
    tell(&mut events, &JobEvent::Began { at_ns: now_ns() })?;
    let meter = match order.counters_fd {
        Some(fd) => {
            Meter::telling(CountersFile::inherited(fd).map_err(|error| ProcessError::Counters { fd, error })?)
        }
        None => Meter::default(),
    };
    let io =
        Io { page_bytes: order.page_bytes, direct: order.direct, sync: order.sync, meter: Arc::new(meter) };
    for number in 0..u32::try_from(order.steps.len()).unwrap_or(u32::MAX) {
        let report = measured(order, number, &io);
        io.meter
            .tell()
            .map_err(|error| ProcessError::Counters { fd: order.counters_fd.unwrap_or(-1), error })?;
        match report {
            Ok(report) => tell(&mut events, &JobEvent::Step(Box::new(report)))?,
            Err(error) => {
                tell(&mut events, &JobEvent::Failed { step: Some(number), message: error.to_string() })?;
                return Ok(Ended::Failed);
            }
        }
    }
    tell(&mut events, &JobEvent::Done)?;
    Ok(Ended::Done)
}

/// Runs one step and measures it.
fn measured(order: &JobOrder, number: u32, io: &Io) -> Result<StepReport, JobError> {
    let context = StepContext { order, step: number, io };
    let moved = io.meter.snapshot();
    forget_peak();
    let (usage, start_ns) = (Usage::own(), now_ns());
    let mut outcome = steps::run_step(&context, &order.steps[number as usize])?;
    give_back_memory();
    let (end_ns, usage) = (now_ns(), Usage::own().since(usage));
    // JSON cannot represent infinities.
    outcome.found.retain(|_, value| value.is_finite());
    Ok(StepReport {
        step: number,
        start_ns,
        end_ns,
        user_cpu_ns: usage.user_cpu_ns,
        system_cpu_ns: usage.system_cpu_ns,
        peak_memory_bytes: peak_memory_bytes(),
        block_input_bytes: usage.block_input_bytes,
        block_output_bytes: usage.block_output_bytes,
        voluntary_switches: usage.voluntary_switches,
        involuntary_switches: usage.involuntary_switches,
        moved: io.meter.snapshot().since(&moved),
        outcome,
    })
}

impl Counters {
    /// Bytes moved since `earlier`. Held bytes and their peak are those of this reading.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let less = |now: [u64; 3], then: [u64; 3]| {
            std::array::from_fn(|space| now[space].saturating_sub(then[space]))
        };
        Self {
            read_bytes: less(self.read_bytes, earlier.read_bytes),
            write_bytes: less(self.write_bytes, earlier.write_bytes),
            reads: less(self.reads, earlier.reads),
            writes: less(self.writes, earlier.writes),
            held_bytes: self.held_bytes,
            peak_bytes: self.peak_bytes,
        }
    }
}

/// Writes one event with a single write call.
fn tell(events: &mut impl Write, event: &JobEvent) -> Result<(), ProcessError> {
    let mut line = serde_json::to_vec(event).map_err(|error| ProcessError::NotTold(error.into()))?;
    line.push(b'\n');
    events.write_all(&line).and_then(|()| events.flush()).map_err(ProcessError::NotTold)
}
