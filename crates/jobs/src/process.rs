//! The process of one job: reads its order, goes through its steps, and tells each that is done.
//!
//! FULLSTIMER figures of a step are differences between two readings of the kernel's accounts of this process, one
//! right before the step and one right after it. All threads of a step have ended by then, so that the sum over the
//! steps is what `wait4(2)` tells at the end, but for starting and ending the process itself.

use std::io::{self, BufRead, Write};
use std::sync::Arc;

use rustix::process::{Signal, getppid, set_parent_process_death_signal};
use thiserror::Error;

use crate::usage::{forget_peak, give_back_memory, now_ns, peak_memory_bytes};
use crate::{
    Counters, CountersFile, Io, JobError, JobEvent, JobOrder, Meter, StepContext, StepReport, Usage, step,
};

/// An order that is longer is none: it names a few tables and steps.
const ORDER_BYTES_MAX: u64 = 16 << 20;

/// How a job has ended whose order was understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// All its steps are done.
    Done,
    /// One of them failed, as it has told.
    Failed,
}

/// Why a process could not take its order or tell what it does.
#[derive(Debug, Error)]
pub enum ProcessError {
    /// The standard input has none.
    #[error("the standard input has no order: this command is for `ioproof run`, which writes one there")]
    NoOrder,
    /// It is not one that this program knows.
    #[error(
        "the order on the standard input is not understood: {0}; the program that wrote it must be of this version"
    )]
    NotUnderstood(#[source] serde_json::Error),
    /// The kernel refused.
    #[error("the order cannot be read from the standard input: {0}")]
    NotRead(#[source] io::Error),
    /// Nobody listens.
    #[error(
        "what the job does cannot be told on the standard output: {0}; is the program that launched it gone?"
    )]
    NotTold(#[source] io::Error),
    /// The descriptor that the order names.
    #[error("counters cannot be written into descriptor {fd}: {error}; the launcher must leave it open")]
    Counters {
        /// Its number.
        fd: i32,
        /// What the kernel said.
        error: io::Error,
    },
    /// The launcher has gone before its end could end this process.
    #[error("the program that launched this job is gone")]
    Orphan,
}

/// Serves the launcher that has started this process: takes one order from the standard input, and tells events on
/// the standard output. From here on the process dies with the thread that started it, so that a killed run leaves
/// no jobs.
///
/// # Errors
/// There is no order, or nobody to tell.
pub fn serve() -> Result<Ended, ProcessError> {
    let launcher = getppid();
    // Where the kernel has no such signal, a job ends when it next tells something.
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    let order = read_order(io::stdin().lock())?;
    if getppid() != launcher {
        return Err(ProcessError::Orphan);
    }
    // A launcher that was gone before the signal was asked for does not read what it is told next.
    work(&order, io::stdout().lock())
}

/// The one order that a line of JSON has.
///
/// # Errors
/// There is none, or another thing.
pub fn read_order(input: impl BufRead) -> Result<JobOrder, ProcessError> {
    let mut line = String::new();
    input.take(ORDER_BYTES_MAX).read_line(&mut line).map_err(ProcessError::NotRead)?;
    if line.trim().is_empty() {
        return Err(ProcessError::NoOrder);
    }
    serde_json::from_str(&line).map_err(ProcessError::NotUnderstood)
}

/// Does what `order` asks for, and tells it as lines of JSON.
///
/// # Errors
/// Nobody to tell, or no file for the counters that the order names. A step that fails is an event.
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

/// Does one step and measures it.
fn measured(order: &JobOrder, number: u32, io: &Io) -> Result<StepReport, JobError> {
    let context = StepContext { order, step: number, io };
    let moved = io.meter.snapshot();
    forget_peak();
    let (usage, start_ns) = (Usage::own(), now_ns());
    let mut outcome = step::run(&context, &order.steps[number as usize])?;
    give_back_memory();
    let (end_ns, usage) = (now_ns(), Usage::own().since(usage));
    // JSON has no infinities.
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
    /// What was moved since an `earlier` moment; what is held, and the most of it, are those of this one.
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

/// One event, in one write.
fn tell(events: &mut impl Write, event: &JobEvent) -> Result<(), ProcessError> {
    let mut line = serde_json::to_vec(event).map_err(|error| ProcessError::NotTold(error.into()))?;
    line.push(b'\n');
    events.write_all(&line).and_then(|()| events.flush()).map_err(ProcessError::NotTold)
}
