//! An open connection and its counters.

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};

use plan::Rpc;

use super::error::NetworkError;
use super::noise::{Noise, stream};
use crate::phase::clock::Scale;
use crate::phase::common::Common;
use crate::phase::outcome::{Mismatch, MismatchKind, Mismatches};
use crate::recording::account::TaskReport;
use crate::system::sys::{CpuTime, thread_cpu_time};
use crate::{EngineError, Errno};

/// Maximum wait for requests in flight after the phase was ended early.
const DRAIN_NS: u64 = 2_000_000_000;
/// Wrong data is counted in cells of this many bytes, as for files.
const CELL: u64 = 512;

/// The role of an endpoint on a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EndpointRole {
    Asks,
    Answers,
}

/// A connection of a task.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) socket: OwnedFd,
    pub(super) task: u32,
    /// Name and address of the peer.
    pub(super) peer: String,
}

/// CPU time used by a thread since the end of the warm-up.
pub(super) struct Spent<'a> {
    from: u64,
    start: Option<CpuTime>,
    /// Set for the first thread of an endpoint, which also restarts the meter of the process.
    process: Option<&'a Common<'a>>,
}

impl<'a> Spent<'a> {
    pub(super) fn from(moment: u64, process: Option<&'a Common<'a>>) -> Self {
        Self { from: moment, start: None, process }
    }

    /// Advances the time to `now`.
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

    /// CPU time that the thread has used since the end of the warm-up.
    pub(super) fn end(&self) -> CpuTime {
        self.start.map_or_else(CpuTime::default, |start| thread_cpu_time().since(start))
    }
}

/// Time limits and the number of exchanges.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    /// The common start, in ticks.
    pub(super) base: u64,
    /// Exchanges before this time are not counted.
    pub(super) counted_from: u64,
    /// No exchange starts after this time.
    pub(super) end: u64,
    /// Number of exchanges counted on each connection.
    pub(super) limit: u64,
    /// If nothing moves on a connection for this long, it has stalled.
    pub(super) deadline: u64,
    /// Maximum wait for requests in flight when the phase is ended early.
    pub(super) drain: u64,
}

impl Bounds {
    /// Creates bounds that start at `base`. Without a duration each task does `operations`.
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

/// Parameters shared by all connections of a thread.
#[derive(Clone, Copy)]
pub(super) struct ThreadParameters<'a> {
    pub(super) role: EndpointRole,
    pub(super) bounds: Bounds,
    pub(super) noise: &'a Noise,
    pub(super) stop: &'a AtomicBool,
    pub(super) scale: Scale,
    /// Requests in flight on each connection.
    pub(super) depth: u32,
    /// Size of a message sent by this endpoint.
    pub(super) sends: u64,
    /// Size of a message received by this endpoint.
    pub(super) receives: u64,
    /// Determines the server of each task. The task's file number is the server's number.
    pub(super) rpc: &'a Rpc,
    pub(super) quit_on_error: bool,
}

impl ThreadParameters<'_> {
    pub(super) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Creates the report of a task whose connection was opened during `open`.
    pub(super) fn report(&self, task: u32, open: (u64, u64)) -> TaskReport {
        let first = self.bounds.counted_from;
        let file = self.rpc.server_of(task);
        TaskReport { task, file, open, io: (first, first), ..TaskReport::default() }
    }

    /// Whether an exchange from `start` to `now` is counted. With a duration, exchanges that end within it
    /// are counted: those that end just after its beginning make up for those that end just after its end.
    /// With a number of operations, exchanges that start within the counted time are counted.
    #[inline]
    pub(super) fn counts(&self, start: u64, now: u64) -> bool {
        let moment = if self.bounds.limit == u64::MAX { now } else { start };
        moment >= self.bounds.counted_from
    }

    /// Counts an exchange that completed at `now`.
    #[inline]
    pub(super) fn count(&self, report: &mut TaskReport, now: u64) {
        report.items += 1;
        report.io.1 = now;
    }

    /// Sets the bytes of the counted exchanges.
    pub(super) fn close(&self, report: &mut TaskReport, closed: (u64, u64)) {
        report.write_bytes = report.items * self.sends;
        report.read_bytes = report.items * self.receives;
        report.close = closed;
    }

    pub(super) fn stalled(&self, connection: &Connection, exchanges: u64) -> EngineError {
        let seconds = self.rpc.deadline.0.div_ceil(1_000_000_000);
        NetworkError::Stalled { peer: connection.peer.clone(), seconds, exchanges }.into()
    }

    /// Returns the bytes to send on `connection` from `offset` on.
    #[inline]
    pub(super) fn outgoing(&self, connection: &Connection, offset: u64) -> &[u8] {
        self.noise.from(stream(connection.task, self.role == EndpointRole::Answers), offset)
    }

    /// Checks the bytes received on `connection` at `offset`, if verification is enabled.
    ///
    /// # Errors
    /// Errors if the data is wrong and the workload ends the phase at wrong data.
    #[inline]
    pub(super) fn check(
        &self,
        connection: &Connection,
        offset: u64,
        bytes: &[u8],
        found: &mut Mismatches,
    ) -> Result<(), EngineError> {
        if !self.noise.is_placed() {
            return Ok(());
        }
        self.compare(connection, offset, bytes, found)
    }

    #[cold]
    fn compare(
        &self,
        connection: &Connection,
        offset: u64,
        bytes: &[u8],
        found: &mut Mismatches,
    ) -> Result<(), EngineError> {
        let stream = stream(connection.task, self.role == EndpointRole::Asks);
        found.checked_cells += (bytes.len() as u64).div_ceil(CELL);
        let mut rest = 0;
        while let Some(at) = self.noise.first_wrong(stream, offset + rest as u64, &bytes[rest..]) {
            let at = rest + at;
            let wrong = offset + at as u64;
            let zeros = bytes[at..].iter().take(16).all(|&byte| byte == 0);
            let kind = if zeros { MismatchKind::Zeros } else { MismatchKind::Foreign };
            let mismatch = Mismatch {
                path: format!("connection {} with {}", connection.task, connection.peer).into(),
                task: connection.task,
                offset: wrong,
                cell: wrong / CELL * CELL,
                expected_file: connection.task,
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

/// Converts an error of a call on a connection.
pub(super) fn broken(
    call: &'static str,
    connection: &Connection,
    errno: Errno,
    exchanges: u64,
) -> EngineError {
    let peer = connection.peer.clone();
    match errno.0 {
        libc::ECONNRESET | libc::EPIPE => NetworkError::Closed { peer, exchanges },
        _ => NetworkError::Call { call, peer, errno },
    }
    .into()
}

/// The error for a connection that the other end has closed.
pub(super) fn closed(connection: &Connection, exchanges: u64) -> EngineError {
    NetworkError::Closed { peer: connection.peer.clone(), exchanges }.into()
}
