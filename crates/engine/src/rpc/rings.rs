//! Exchanges by `io_uring`: each thread has one ring, which carries many connections.
//!
//! Each connection has at most one send and one receive in flight, to preserve the order of the stream. A
//! send may carry several messages, and a receive may return several. Both are submitted by the call that
//! waits.

#![expect(unsafe_code, reason = "hands buffers to the kernel")]

use std::collections::VecDeque;
use std::os::fd::AsRawFd;
use std::sync::atomic::Ordering;
use std::time::Duration;

use io_uring::types::{Fixed, TimeoutFlags, Timespec};
use io_uring::{IoUring, SubmissionQueue, Submitter, opcode, squeue};
use rustix::net::{Shutdown, shutdown};

use super::connection::{Connection, EndpointRole, Spent, ThreadParameters, broken, closed};
use super::noise::CHUNK_MAX;
use crate::phase::clock::{self, Clock};
use crate::phase::controls::Slot;
use crate::phase::outcome::Mismatches;
use crate::recording::account::TaskReport;
use crate::recording::series::Recorder;
use crate::system::ring;
use crate::{EngineError, Errno, Note};

/// Interval at which the ring checks for a stop or a stall, even under load.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// Total size of the receive buffers of all connections of a thread.
const BUFFERS_MAX: usize = 32 << 20;
/// Minimum size of the receive buffer of a connection.
const BUFFER_MIN: usize = 4 << 10;
/// `IORING_RECVSEND_POLL_FIRST` from linux/io_uring.h: poll before the first attempt to receive.
const POLL_FIRST: u16 = 1;
/// Kind of request, in the lowest bits of its user data. The bits above hold the index of the connection.
const SEND: u64 = 0;
const RECEIVE: u64 = 1;
const LOOK: u64 = 2;
const KINDS: u32 = 2;

/// A connection in use.
struct RingConnection {
    line: Connection,
    report: TaskReport,
    /// Number of bytes of whole messages still to be sent.
    owed: u64,
    sent: u64,
    sending: bool,
    received: u64,
    /// Number of bytes missing from the message being received.
    lacks: u64,
    receiving: bool,
    /// Submission times of the requests in flight.
    starts: VecDeque<u64>,
    /// Number of requests that have been or will be counted.
    begun: u64,
    exchanges: u64,
    /// Whether there was progress since the last check.
    moved: bool,
    /// Time of the last check that saw progress.
    moved_at: u64,
    over: bool,
}

/// State of a thread's connections.
pub(super) struct ThreadState<'a, 'm, 's> {
    pub(super) recorder: Option<&'a mut Recorder<'m, 1>>,
    pub(super) slot: &'a Slot,
    pub(super) found: &'a mut Mismatches,
    pub(super) spent: &'a mut Spent<'s>,
    pub(super) notes: &'a mut Vec<Note>,
}

/// Runs exchanges on all `lines` until the bounds are reached or the peers close them. `reports` has an entry
/// for each connection.
pub(super) fn run<C: Clock>(
    parameters: ThreadParameters<'_>,
    clock: C,
    lines: Vec<Connection>,
    reports: &mut [TaskReport],
    kept: ThreadState<'_, '_, '_>,
) -> Result<(), EngineError> {
    let room = (BUFFERS_MAX / lines.len().max(1)).clamp(BUFFER_MIN, CHUNK_MAX);
    let all = parameters.receives.saturating_mul(u64::from(parameters.depth));
    let room = usize::try_from(all).unwrap_or(CHUNK_MAX).clamp(1, room);
    let mut memory = vec![0; room * lines.len()];
    let mut ring = ring::set_up(2 * lines.len() + 1, kept.notes)?;
    let modern = kept.notes.is_empty();
    let descriptors: Vec<i32> = lines.iter().map(|line| line.socket.as_raw_fd()).collect();
    ring.submitter()
        .register_files(&descriptors)
        .map_err(|error| EngineError::Uring(crate::UringUnavailable::Other(Errno::from(&error))))?;
    let now = clock.now();
    let wires = lines.into_iter().zip(reports.iter()).map(|(line, report)| RingConnection {
        line,
        report: *report,
        owed: 0,
        sent: 0,
        sending: false,
        received: 0,
        lacks: parameters.receives,
        receiving: false,
        starts: VecDeque::with_capacity(parameters.depth as usize),
        begun: 0,
        exchanges: 0,
        moved: false,
        moved_at: now,
        over: false,
    });
    let mut hub = ConnectionRing {
        parameters,
        clock,
        wires: wires.collect(),
        memory: &mut memory,
        room,
        modern,
        whole: parameters.depth == 1,
        under_way: 0,
        counted: 0,
        stopped_at: None,
        failure: None,
        kept,
    };
    let ended = hub.exchange(&mut ring);
    for (report, wire) in reports.iter_mut().zip(&hub.wires) {
        *report = wire.report;
    }
    ended
}

/// The connections of one ring.
struct ConnectionRing<'a, 'm, 's, C: Clock> {
    parameters: ThreadParameters<'a>,
    clock: C,
    wires: Vec<RingConnection>,
    /// `room` bytes for each connection.
    memory: &'a mut [u8],
    room: usize,
    /// Whether the kernel supports every flag.
    modern: bool,
    /// Whether a receive waits for a whole message, as it does with one request in flight.
    whole: bool,
    /// Number of sends and receives that have not completed.
    under_way: usize,
    counted: u64,
    stopped_at: Option<u64>,
    failure: Option<EngineError>,
    kept: ThreadState<'a, 'm, 's>,
}

/// The submission side of the ring.
struct Entry<'r> {
    submitter: Submitter<'r>,
    queue: SubmissionQueue<'r>,
}

impl Entry<'_> {
    fn push(&mut self, entry: &squeue::Entry) -> Result<(), Errno> {
        // SAFETY: the caller's buffers outlive the ring, and each is the only one of its connection.
        while unsafe { self.queue.push(entry) }.is_err() {
            self.queue.sync();
            self.submitter.submit().map_err(|error| Errno::from(&error))?;
            self.queue.sync();
        }
        Ok(())
    }
}

impl<C: Clock> ConnectionRing<'_, '_, '_, C> {
    fn exchange(&mut self, ring: &mut IoUring) -> Result<(), EngineError> {
        let call = |errno| EngineError::Uring(crate::UringUnavailable::Other(errno));
        let (mut submitter, queue, mut completions) = ring.split();
        // Saves the kernel a look-up in each call. Older kernels work without it.
        let _ = submitter.register_ring_fd();
        let mut entry = Entry { submitter, queue };
        let time = Timespec::from(LOOK_EVERY);
        let look = opcode::Timeout::new(&raw const time).flags(TimeoutFlags::empty()).build();
        let look = look.user_data(LOOK);
        entry.push(&look).map_err(call)?;
        for place in 0..self.wires.len() {
            self.begin(place);
            self.arm(place, &mut entry).map_err(call)?;
        }
        while self.under_way > 0 || self.wires.iter().any(|wire| !wire.over) {
            entry.queue.sync();
            match entry.submitter.submit_and_wait(1) {
                Ok(_) => {}
                Err(error) => match error.raw_os_error() {
                    Some(libc::EINTR | libc::EAGAIN | libc::EBUSY | libc::ETIME) => {}
                    _ => return Err(call(Errno::from(&error))),
                },
            }
            entry.queue.sync();
            completions.sync();
            for completion in &mut completions {
                let (data, result) = (completion.user_data(), completion.result());
                let place = usize::try_from(data >> KINDS).unwrap_or(usize::MAX);
                match data & ((1 << KINDS) - 1) {
                    LOOK => {
                        self.look();
                        entry.push(&look).map_err(call)?;
                        continue;
                    }
                    SEND => self.sent(place, result),
                    _ => self.received(place, result),
                }
                self.arm(place, &mut entry).map_err(call)?;
            }
        }
        let _ = entry.submitter.unregister_ring_fd();
        self.failure.take().map_or(Ok(()), Err)
    }

    /// Begins the first requests of a connection.
    fn begin(&mut self, place: usize) {
        if self.parameters.role == EndpointRole::Asks {
            let now = self.clock.now().max(self.parameters.bounds.base);
            self.ask(place, self.parameters.depth, now);
        }
    }

    /// Begins up to `count` requests at `now`. Ends the connection if none are left.
    #[inline]
    fn ask(&mut self, place: usize, count: u32, now: u64) {
        let (bounds, stopped) = (self.parameters.bounds, self.parameters.is_stopped());
        let wire = &mut self.wires[place];
        for _ in 0..count {
            if stopped || now >= bounds.end || wire.begun >= bounds.limit {
                break;
            }
            wire.begun += u64::from(now >= bounds.counted_from);
            wire.starts.push_back(now);
            wire.owed += self.parameters.sends;
        }
        if wire.starts.is_empty() {
            self.end(place);
        }
    }

    /// Closes a connection. Its requests in flight complete at once.
    fn end(&mut self, place: usize) {
        let wire = &mut self.wires[place];
        if !wire.over {
            wire.over = true;
            let _ = shutdown(&wire.line.socket, Shutdown::Both);
        }
    }

    fn fail(&mut self, error: EngineError) {
        self.failure.get_or_insert(error);
        for place in 0..self.wires.len() {
            self.end(place);
        }
    }

    /// Queues what the connection needs: a send if there are bytes to send, a receive if messages are
    /// expected.
    #[inline]
    fn arm(&mut self, place: usize, entry: &mut Entry<'_>) -> Result<(), Errno> {
        let wire = &mut self.wires[place];
        if wire.over {
            return Ok(());
        }
        let number = Fixed(u32::try_from(place).unwrap_or(u32::MAX));
        let data = (place as u64) << KINDS;
        if wire.owed > 0 && !wire.sending {
            let bytes = self.parameters.outgoing(&wire.line, wire.sent);
            let length = u32::try_from(wire.owed.min(CHUNK_MAX as u64)).unwrap_or(u32::MAX);
            let send = opcode::Send::new(number, bytes.as_ptr(), length)
                .flags(libc::MSG_NOSIGNAL | libc::MSG_WAITALL)
                .build();
            entry.push(&send.user_data(data | SEND))?;
            wire.sending = true;
            self.under_way += 1;
        }
        let due = self.parameters.role == EndpointRole::Answers || !wire.starts.is_empty();
        if due && !wire.receiving {
            let wanted = match self.whole {
                true => usize::try_from(wire.lacks).unwrap_or(usize::MAX).min(self.room),
                false => self.room,
            };
            let memory = &mut self.memory[place * self.room..][..wanted];
            let length = u32::try_from(memory.len()).unwrap_or(u32::MAX);
            let flags = if self.whole { libc::MSG_WAITALL } else { 0 };
            let first = if self.whole && self.modern { POLL_FIRST } else { 0 };
            let receive =
                opcode::Recv::new(number, memory.as_mut_ptr(), length).flags(flags).ioprio(first).build();
            entry.push(&receive.user_data(data | RECEIVE))?;
            wire.receiving = true;
            self.under_way += 1;
        }
        Ok(())
    }

    #[inline]
    fn sent(&mut self, place: usize, result: i32) {
        self.under_way -= 1;
        let wire = &mut self.wires[place];
        wire.sending = false;
        if wire.over {
            return;
        }
        match u64::try_from(result) {
            Ok(moved) => {
                wire.owed -= moved;
                wire.sent += moved;
                wire.moved = true;
            }
            Err(_) => self.broke("send", place, Errno(-result)),
        }
    }

    #[inline]
    fn received(&mut self, place: usize, result: i32) {
        self.under_way -= 1;
        let wire = &mut self.wires[place];
        wire.receiving = false;
        if wire.over {
            return;
        }
        match usize::try_from(result) {
            Ok(0) => self.closed(place),
            Ok(moved) => self.took(place, moved),
            Err(_) => self.broke("recv", place, Errno(-result)),
        }
    }

    /// Accounts for `moved` received bytes and the messages that they complete.
    #[inline]
    fn took(&mut self, place: usize, moved: usize) {
        let now = self.clock.now();
        self.kept.spent.pass(now);
        let wire = &mut self.wires[place];
        let bytes = &self.memory[place * self.room..][..moved];
        if let Err(error) = self.parameters.check(&wire.line, wire.received, bytes, self.kept.found) {
            return self.fail(error);
        }
        let moved = moved as u64;
        wire.received += moved;
        wire.moved = true;
        if moved < wire.lacks {
            wire.lacks -= moved;
            return;
        }
        let beyond = moved - wire.lacks;
        let complete = 1 + beyond / self.parameters.receives;
        wire.lacks = self.parameters.receives - beyond % self.parameters.receives;
        wire.exchanges += complete;
        if self.parameters.role == EndpointRole::Answers {
            wire.owed += complete * self.parameters.sends;
            return;
        }
        let mut ended = 0;
        for start in wire.starts.drain(..wire.starts.len().min(usize::try_from(complete).unwrap_or(0))) {
            ended += 1;
            if self.parameters.counts(start, now) {
                self.parameters.count(&mut wire.report, now);
                self.counted += 1;
                if let Some(recorder) = &mut self.kept.recorder {
                    recorder.add(0, clock::between(start, now), now);
                }
            }
        }
        self.kept.slot.items.store(self.counted, Ordering::Relaxed);
        self.ask(place, ended, now);
    }

    /// Handles a connection that the other end has closed.
    fn closed(&mut self, place: usize) {
        let wire = &self.wires[place];
        let answered = wire.lacks == self.parameters.receives && wire.owed == 0 && !wire.sending;
        let expected = self.parameters.role == EndpointRole::Answers && answered;
        match expected || self.parameters.is_stopped() {
            true => self.end(place),
            false => self.fail(closed(&wire.line, wire.exchanges)),
        }
    }

    fn broke(&mut self, call: &'static str, place: usize, errno: Errno) {
        if matches!(errno.0, libc::EINTR | libc::EAGAIN) {
            return;
        }
        let wire = &self.wires[place];
        match self.parameters.is_stopped() {
            true => self.end(place),
            false => self.fail(broken(call, &wire.line, errno, wire.exchanges)),
        }
    }

    /// Checks whether the phase was ended or a connection has stalled.
    fn look(&mut self) {
        let (now, bounds) = (self.clock.now(), self.parameters.bounds);
        if self.parameters.is_stopped() {
            let since = *self.stopped_at.get_or_insert(now);
            if now.saturating_sub(since) > bounds.drain {
                (0..self.wires.len()).for_each(|place| self.end(place));
            }
            return;
        }
        for wire in &mut self.wires {
            if std::mem::take(&mut wire.moved) {
                wire.moved_at = now;
            }
        }
        let stalled =
            |wire: &&RingConnection| !wire.over && now.saturating_sub(wire.moved_at) > bounds.deadline;
        if let Some(wire) = self.wires.iter().find(stalled) {
            let error = self.parameters.stalled(&wire.line, wire.exchanges);
            self.fail(error);
        }
    }
}
