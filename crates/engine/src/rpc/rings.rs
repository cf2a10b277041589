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
use crate::phase::controls::WorkerCounters;
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

/// A connection and what is in flight on it.
struct ConnectionState {
    connection: Connection,
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
    pub(super) counters: &'a WorkerCounters,
    pub(super) found: &'a mut Mismatches,
    pub(super) spent: &'a mut Spent<'s>,
    pub(super) notes: &'a mut Vec<Note>,
}

/// Runs exchanges on all `connections` until the bounds are reached or the peers close them. `reports` has an entry
/// for each connection.
pub(super) fn run<C: Clock>(
    parameters: ThreadParameters<'_>,
    clock: C,
    connections: Vec<Connection>,
    reports: &mut [TaskReport],
    kept: ThreadState<'_, '_, '_>,
) -> Result<(), EngineError> {
    let most = (BUFFERS_MAX / connections.len().max(1)).clamp(BUFFER_MIN, CHUNK_MAX);
    let all = parameters.receives.saturating_mul(u64::from(parameters.depth));
    let buffer_bytes = usize::try_from(all).unwrap_or(CHUNK_MAX).clamp(1, most);
    let mut memory = vec![0; buffer_bytes * connections.len()];
    let mut ring = ring::set_up(2 * connections.len() + 1, kept.notes)?;
    let modern = kept.notes.is_empty();
    let descriptors: Vec<i32> = connections.iter().map(|connection| connection.socket.as_raw_fd()).collect();
    ring.submitter()
        .register_files(&descriptors)
        .map_err(|error| EngineError::Uring(crate::UringUnavailable::Other(Errno::from(&error))))?;
    let now = clock.now();
    let states = connections.into_iter().zip(reports.iter()).map(|(connection, report)| ConnectionState {
        connection,
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
    let mut connection_ring = ConnectionRing {
        parameters,
        clock,
        states: states.collect(),
        memory: &mut memory,
        buffer_bytes,
        modern,
        whole: parameters.depth == 1,
        under_way: 0,
        counted: 0,
        stopped_at: None,
        failure: None,
        kept,
    };
    let ended = connection_ring.exchange(&mut ring);
    for (report, state) in reports.iter_mut().zip(&connection_ring.states) {
        *report = state.report;
    }
    ended
}

/// The connections of one ring.
struct ConnectionRing<'a, 'm, 's, C: Clock> {
    parameters: ThreadParameters<'a>,
    clock: C,
    states: Vec<ConnectionState>,
    /// `buffer_bytes` bytes for each connection.
    memory: &'a mut [u8],
    buffer_bytes: usize,
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
        for place in 0..self.states.len() {
            self.begin(place);
            self.arm(place, &mut entry).map_err(call)?;
        }
        while self.under_way > 0 || self.states.iter().any(|state| !state.over) {
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
        let state = &mut self.states[place];
        for _ in 0..count {
            if stopped || now >= bounds.end || state.begun >= bounds.limit {
                break;
            }
            state.begun += u64::from(now >= bounds.counted_from);
            state.starts.push_back(now);
            state.owed += self.parameters.sends;
        }
        if state.starts.is_empty() {
            self.end(place);
        }
    }

    /// Closes a connection. Its requests in flight complete at once.
    fn end(&mut self, place: usize) {
        let state = &mut self.states[place];
        if !state.over {
            state.over = true;
            let _ = shutdown(&state.connection.socket, Shutdown::Both);
        }
    }

    fn fail(&mut self, error: EngineError) {
        self.failure.get_or_insert(error);
        for place in 0..self.states.len() {
            self.end(place);
        }
    }

    /// Queues what the connection needs: a send if there are bytes to send, a receive if messages are
    /// expected.
    #[inline]
    fn arm(&mut self, place: usize, entry: &mut Entry<'_>) -> Result<(), Errno> {
        let state = &mut self.states[place];
        if state.over {
            return Ok(());
        }
        let number = Fixed(u32::try_from(place).unwrap_or(u32::MAX));
        let data = (place as u64) << KINDS;
        if state.owed > 0 && !state.sending {
            let bytes = self.parameters.outgoing(&state.connection, state.sent);
            let length = u32::try_from(state.owed.min(CHUNK_MAX as u64)).unwrap_or(u32::MAX);
            let send = opcode::Send::new(number, bytes.as_ptr(), length)
                .flags(libc::MSG_NOSIGNAL | libc::MSG_WAITALL)
                .build();
            entry.push(&send.user_data(data | SEND))?;
            state.sending = true;
            self.under_way += 1;
        }
        let due = self.parameters.role == EndpointRole::Answers || !state.starts.is_empty();
        if due && !state.receiving {
            let wanted = match self.whole {
                true => usize::try_from(state.lacks).unwrap_or(usize::MAX).min(self.buffer_bytes),
                false => self.buffer_bytes,
            };
            let memory = &mut self.memory[place * self.buffer_bytes..][..wanted];
            let length = u32::try_from(memory.len()).unwrap_or(u32::MAX);
            let flags = if self.whole { libc::MSG_WAITALL } else { 0 };
            let first = if self.whole && self.modern { POLL_FIRST } else { 0 };
            let receive =
                opcode::Recv::new(number, memory.as_mut_ptr(), length).flags(flags).ioprio(first).build();
            entry.push(&receive.user_data(data | RECEIVE))?;
            state.receiving = true;
            self.under_way += 1;
        }
        Ok(())
    }

    #[inline]
    fn sent(&mut self, place: usize, result: i32) {
        self.under_way -= 1;
        let state = &mut self.states[place];
        state.sending = false;
        if state.over {
            return;
        }
        match u64::try_from(result) {
            Ok(moved) => {
                state.owed -= moved;
                state.sent += moved;
                state.moved = true;
            }
            Err(_) => self.broke("send", place, Errno(-result)),
        }
    }

    #[inline]
    fn received(&mut self, place: usize, result: i32) {
        self.under_way -= 1;
        let state = &mut self.states[place];
        state.receiving = false;
        if state.over {
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
        let state = &mut self.states[place];
        let bytes = &self.memory[place * self.buffer_bytes..][..moved];
        if let Err(error) = self.parameters.check(&state.connection, state.received, bytes, self.kept.found) {
            return self.fail(error);
        }
        let moved = moved as u64;
        state.received += moved;
        state.moved = true;
        if moved < state.lacks {
            state.lacks -= moved;
            return;
        }
        let beyond = moved - state.lacks;
        let complete = 1 + beyond / self.parameters.receives;
        state.lacks = self.parameters.receives - beyond % self.parameters.receives;
        state.exchanges += complete;
        if self.parameters.role == EndpointRole::Answers {
            state.owed += complete * self.parameters.sends;
            return;
        }
        let mut ended = 0;
        for start in state.starts.drain(..state.starts.len().min(usize::try_from(complete).unwrap_or(0))) {
            ended += 1;
            if self.parameters.counts(start, now) {
                self.parameters.count(&mut state.report, now);
                self.counted += 1;
                if let Some(recorder) = &mut self.kept.recorder {
                    recorder.add(0, clock::between(start, now), now);
                }
            }
        }
        self.kept.counters.items.store(self.counted, Ordering::Relaxed);
        self.ask(place, ended, now);
    }

    /// Handles a connection that the other end has closed.
    fn closed(&mut self, place: usize) {
        let state = &self.states[place];
        let answered = state.lacks == self.parameters.receives && state.owed == 0 && !state.sending;
        let expected = self.parameters.role == EndpointRole::Answers && answered;
        match expected || self.parameters.is_stopped() {
            true => self.end(place),
            false => self.fail(closed(&state.connection, state.exchanges)),
        }
    }

    fn broke(&mut self, call: &'static str, place: usize, errno: Errno) {
        if matches!(errno.0, libc::EINTR | libc::EAGAIN) {
            return;
        }
        let state = &self.states[place];
        match self.parameters.is_stopped() {
            true => self.end(place),
            false => self.fail(broken(call, &state.connection, errno, state.exchanges)),
        }
    }

    /// Checks whether the phase was ended or a connection has stalled.
    fn look(&mut self) {
        let (now, bounds) = (self.clock.now(), self.parameters.bounds);
        if self.parameters.is_stopped() {
            let since = *self.stopped_at.get_or_insert(now);
            if now.saturating_sub(since) > bounds.drain {
                (0..self.states.len()).for_each(|place| self.end(place));
            }
            return;
        }
        for state in &mut self.states {
            if std::mem::take(&mut state.moved) {
                state.moved_at = now;
            }
        }
        let stalled =
            |state: &&ConnectionState| !state.over && now.saturating_sub(state.moved_at) > bounds.deadline;
        if let Some(state) = self.states.iter().find(stalled) {
            let error = self.parameters.stalled(&state.connection, state.exchanges);
            self.fail(error);
        }
    }
}
