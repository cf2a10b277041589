//! A connection that is open, and what its end counts on it.

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};

use plan::Rpc;

use super::error::NetworkError;
use super::noise::{Noise, stream};
use crate::account::TaskReport;
use crate::clock::Scale;
use crate::common::Common;
use crate::outcome::{Mismatch, MismatchKind, Mismatches};
use crate::sys::{CpuTime, thread_cpu_time};
use crate::{EngineError, Errno};

/// After the phase was ended early, what is under way is waited for no longer than this.
const DRAIN_NS: u64 = 2_000_000_000;
/// Wrong data is counted in cells of so many bytes, as in files.
const CELL: u64 = 512;

/// Which side of a connection an end is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Asks,
    Answers,
}

/// A connection of a task.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) socket: OwnedFd,
    pub(super) task: u32,
    /// Name and address of the other end.
    pub(super) peer: String,
}

/// From when on the time of a thread's processor counts: the end of the warm-up.
pub(super) struct Spent<'a> {
    from: u64,
    start: Option<CpuTime>,
    /// The first thread of an end restarts the meter of the whole process as well.
    process: Option<&'a Common<'a>>,
}

impl<'a> Spent<'a> {
    pub(super) fn from(moment: u64, process: Option<&'a Common<'a>>) -> Self {
        Self { from: moment, start: None, process }
    }

    /// It is `now`.
    #[inline]
    pub(super) fn pass(&mut self, now: u64) {
        if self.start.is_none() && now >= self.from {
            self.begin();
        }
    }

    #[cold]
    fn begin(&mut self) {
        self.start = Some(thread_cpu_time());
        if let Some(process) = self.process {
            process.meter_from_here();
        }
    }

    /// What the thread has spent since.
    pub(super) fn end(&self) -> CpuTime {
        self.start.map_or_else(CpuTime::default, |start| thread_cpu_time().since(start))
    }
}

/// When exchanges are begun, and how many.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    /// The common start, in ticks.
    pub(super) base: u64,
    /// What was exchanged before is not counted.
    pub(super) counted_from: u64,
    /// None starts from here on.
    pub(super) end: u64,
    /// So many are counted on each connection.
    pub(super) limit: u64,
    /// A connection on which nothing moves for this long has stalled.
    pub(super) deadline: u64,
    /// What is under way when the phase is ended early may take so long.
    pub(super) drain: u64,
}

impl Bounds {
    /// From `base` on. Without a duration each task does `operations`.
    pub(super) fn new(rpc: &Rpc, base: u64, scale: Scale, duration: Option<u64>, operations: u64) -> Self {
        let counted_from = base.saturating_add(scale.ticks(rpc.warm_up.0));
        Self {
            base,
            counted_from,
            end: duration.map_or(u64::MAX, |duration| counted_from.saturating_add(scale.ticks(duration))),
            limit: if duration.is_some() { u64::MAX } else { operations },
            deadline: scale.ticks(rpc.deadline.0),
            drain: scale.ticks(DRAIN_NS.min(rpc.deadline.0)),
        }
    }
}

/// What all connections of a thread have in common.
#[derive(Clone, Copy)]
pub(super) struct Terms<'a> {
    pub(super) role: Role,
    pub(super) bounds: Bounds,
    pub(super) noise: &'a Noise,
    pub(super) stop: &'a AtomicBool,
    pub(super) scale: Scale,
    /// Requests under way on each connection.
    pub(super) depth: u32,
    /// Bytes of a message that this end sends.
    pub(super) sends: u64,
    /// Bytes of a message that this end receives.
    pub(super) receives: u64,
    /// Number of the end that answers each connection is the file of its task.
    pub(super) rpc: &'a Rpc,
    pub(super) quit_on_error: bool,
}

impl Terms<'_> {
    pub(super) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// The report of a task whose connection was opened from one moment to another.
    pub(super) fn report(&self, task: u32, open: (u64, u64)) -> TaskReport {
        let first = self.bounds.counted_from;
        let file = self.rpc.server_of(task);
        TaskReport { task, file, open, io: (first, first), ..TaskReport::default() }
    }

    /// Whether an exchange from `start` to `now` is counted. Of a time that is measured all that end in it are,
    /// since those that end just after its begin stand for those that do just after its end; where a number
    /// is asked for, those that start.
    #[inline]
    pub(super) fn counts(&self, start: u64, now: u64) -> bool {
        let moment = if self.bounds.limit == u64::MAX { now } else { start };
        moment >= self.bounds.counted_from
    }

    /// Counts an exchange that was complete at `now`.
    #[inline]
    pub(super) fn count(&self, report: &mut TaskReport, now: u64) {
        report.items += 1;
        report.io.1 = now;
    }

    /// The bytes of what was counted.
    pub(super) fn close(&self, report: &mut TaskReport, closed: (u64, u64)) {
        report.write_bytes = report.items * self.sends;
        report.read_bytes = report.items * self.receives;
        report.close = closed;
    }

    pub(super) fn stalled(&self, line: &Line, exchanges: u64) -> EngineError {
        let seconds = self.rpc.deadline.0.div_ceil(1_000_000_000);
        NetworkError::Stalled { peer: line.peer.clone(), seconds, exchanges }.into()
    }

    /// The bytes that this end sends on `line` from `offset` on.
    #[inline]
    pub(super) fn outgoing(&self, line: &Line, offset: u64) -> &[u8] {
        self.noise.from(stream(line.task, self.role == Role::Answers), offset)
    }

    /// Compares what came on `line` at `offset`, where that is asked for.
    ///
    /// # Errors
    /// It is wrong, and that ends the phase.
    #[inline]
    pub(super) fn check(
        &self,
        line: &Line,
        offset: u64,
        bytes: &[u8],
        found: &mut Mismatches,
    ) -> Result<(), EngineError> {
        if !self.noise.is_placed() {
            return Ok(());
        }
        self.compare(line, offset, bytes, found)
    }

    #[cold]
    fn compare(
        &self,
        line: &Line,
        offset: u64,
        bytes: &[u8],
        found: &mut Mismatches,
    ) -> Result<(), EngineError> {
        let stream = stream(line.task, self.role == Role::Asks);
        found.checked_cells += (bytes.len() as u64).div_ceil(CELL);
        let mut rest = 0;
        while let Some(at) = self.noise.first_wrong(stream, offset + rest as u64, &bytes[rest..]) {
            let at = rest + at;
            let wrong = offset + at as u64;
            let zeros = bytes[at..].iter().take(16).all(|&byte| byte == 0);
            let kind = if zeros { MismatchKind::Zeros } else { MismatchKind::Foreign };
            let mismatch = Mismatch {
                path: format!("connection {} with {}", line.task, line.peer).into(),
                task: line.task,
                offset: wrong,
                cell: wrong / CELL * CELL,
                expected_file: line.task,
                expected_generations: None,
                kind,
                found: bytes[at..].iter().take(16).copied().collect(),
            };
            if self.quit_on_error {
                return Err(EngineError::WrongData(Box::new(mismatch)));
            }
            found.wrong_cells += 1;
            found.by_kind[kind.index()] += 1;
            if found.first.len() < Mismatches::DESCRIBED {
                found.first.push(mismatch);
            }
            let next = (wrong / CELL + 1) * CELL - offset;
            rest = usize::try_from(next).unwrap_or(usize::MAX).min(bytes.len());
        }
        Ok(())
    }
}

/// What an error of a call on a connection means.
pub(super) fn broken(call: &'static str, line: &Line, errno: Errno, exchanges: u64) -> EngineError {
    let peer = line.peer.clone();
    match errno.0 {
        libc::ECONNRESET | libc::EPIPE => NetworkError::Closed { peer, exchanges },
        _ => NetworkError::Call { call, peer, errno },
    }
    .into()
}

/// The other end has closed a connection.
pub(super) fn closed(line: &Line, exchanges: u64) -> EngineError {
    NetworkError::Closed { peer: line.peer.clone(), exchanges }.into()
}
