//! Exchanges by blocking calls: one thread per connection, with one request in flight.

use plan::Nanos;
use rustix::io::Errno as SysErrno;
use rustix::net::{RecvFlags, SendFlags, Shutdown, recv, send, shutdown, sockopt};

use super::connection::{Connection, EndpointRole, Spent, ThreadParameters, broken, closed};
use super::noise::CHUNK_MAX;
use crate::phase::clock::{self, Clock};
use crate::phase::controls::WorkerCounters;
use crate::phase::outcome::Mismatches;
use crate::recording::account::TaskReport;
use crate::recording::series::Recorder;
use crate::{EngineError, Errno};

/// Timeout after which a waiting call checks for a stop or a stall.
const LOOK_EVERY: Nanos = Nanos::millis(100);

/// Result of sending or receiving a message.
enum Moved {
    Whole,
    /// The other end has closed the connection before the first byte.
    End,
    /// The phase was ended, and the message in flight did not arrive.
    GivenUp,
}

/// A connection in use.
struct BlockingConnection<'a, C: Clock> {
    parameters: ThreadParameters<'a>,
    clock: C,
    connection: &'a Connection,
    buffer: Vec<u8>,
    sent: u64,
    received: u64,
    exchanges: u64,
    found: &'a mut Mismatches,
}

/// Runs exchanges on `connection` until the bounds are reached or the other end closes it.
pub(super) fn run<C: Clock>(
    parameters: ThreadParameters<'_>,
    clock: C,
    connection: &Connection,
    report: &mut TaskReport,
    recorder: Option<&mut Recorder<'_, 1>>,
    counters: &WorkerCounters,
    (found, spent): (&mut Mismatches, &mut Spent<'_>),
) -> Result<(), EngineError> {
    let set_up = |side| sockopt::set_socket_timeout(&connection.socket, side, Some(LOOK_EVERY.into()));
    for side in [sockopt::Timeout::Recv, sockopt::Timeout::Send] {
        set_up(side).map_err(|errno| broken("setsockopt", connection, errno.into(), 0))?;
    }
    let length = usize::try_from(parameters.receives).unwrap_or(CHUNK_MAX).min(CHUNK_MAX);
    let mut blocking = BlockingConnection {
        parameters,
        clock,
        connection,
        buffer: vec![0; length],
        sent: 0,
        received: 0,
        exchanges: 0,
        found,
    };
    let ended = match parameters.role {
        EndpointRole::Asks => blocking.ask(report, recorder, counters, spent),
        EndpointRole::Answers => blocking.answer(spent),
    };
    // The other end notices at once.
    let _ = shutdown(&connection.socket, Shutdown::Both);
    ended
}

impl<C: Clock> BlockingConnection<'_, C> {
    fn ask(
        &mut self,
        report: &mut TaskReport,
        mut recorder: Option<&mut Recorder<'_, 1>>,
        counters: &WorkerCounters,
        spent: &mut Spent<'_>,
    ) -> Result<(), EngineError> {
        let bounds = self.parameters.bounds;
        let mut start = self.clock.now().max(bounds.base);
        spent.pass(start);
        while start < bounds.end && report.items < bounds.limit && !self.parameters.is_stopped() {
            if !matches!(self.send()?, Moved::Whole) {
                break;
            }
            match self.receive()? {
                Moved::Whole => {}
                Moved::End if self.parameters.is_stopped() => break,
                Moved::End => return Err(closed(self.connection, self.exchanges)),
                Moved::GivenUp => break,
            }
            let now = self.clock.now();
            spent.pass(now);
            self.exchanges += 1;
            if self.parameters.counts(start, now) {
                self.parameters.count(report, now);
                counters.items.store(report.items, std::sync::atomic::Ordering::Relaxed);
                if let Some(recorder) = &mut recorder {
                    recorder.add(0, clock::between(start, now), now);
                }
            }
            start = now;
        }
        Ok(())
    }

    fn answer(&mut self, spent: &mut Spent<'_>) -> Result<(), EngineError> {
        while matches!(self.receive()?, Moved::Whole) {
            spent.pass(self.clock.now());
            if !matches!(self.send()?, Moved::Whole) {
                break;
            }
            self.exchanges += 1;
        }
        Ok(())
    }

    fn send(&mut self) -> Result<Moved, EngineError> {
        let mut left = self.parameters.sends;
        let mut waits = Waits::default();
        while left > 0 {
            let bytes = self.parameters.outgoing(self.connection, self.sent);
            let chunk = usize::try_from(left).unwrap_or(CHUNK_MAX).min(CHUNK_MAX);
            match send(&self.connection.socket, &bytes[..chunk], SendFlags::NOSIGNAL) {
                Ok(moved) => {
                    (left, self.sent) = (left - moved as u64, self.sent + moved as u64);
                    waits = Waits::default();
                }
                Err(errno) if waits.may_go_on(errno, self)? => {}
                Err(_) => return Ok(Moved::GivenUp),
            }
        }
        Ok(Moved::Whole)
    }

    fn receive(&mut self) -> Result<Moved, EngineError> {
        let mut left = self.parameters.receives;
        let mut waits = Waits::default();
        while left > 0 {
            let length = usize::try_from(left).unwrap_or(usize::MAX).min(self.buffer.len());
            match recv(&self.connection.socket, &mut self.buffer[..length], RecvFlags::WAITALL) {
                Ok((_, 0)) if left == self.parameters.receives => return Ok(Moved::End),
                Ok((_, 0)) if self.parameters.is_stopped() => return Ok(Moved::GivenUp),
                Ok((_, 0)) => return Err(closed(self.connection, self.exchanges)),
                Ok((_, moved)) => {
                    self.parameters.check(
                        self.connection,
                        self.received,
                        &self.buffer[..moved],
                        self.found,
                    )?;
                    (left, self.received) = (left - moved as u64, self.received + moved as u64);
                    waits = Waits::default();
                }
                Err(errno) if waits.may_go_on(errno, self)? => {}
                Err(_) => return Ok(Moved::GivenUp),
            }
        }
        Ok(Moved::Whole)
    }
}

/// Time since the last progress.
#[derive(Default)]
struct Waits {
    since: Option<u64>,
    stopped: Option<u64>,
}

impl Waits {
    /// Whether to repeat a call that has moved nothing.
    fn may_go_on<C: Clock>(
        &mut self,
        errno: SysErrno,
        blocking: &BlockingConnection<'_, C>,
    ) -> Result<bool, EngineError> {
        let parameters = &blocking.parameters;
        let stopped = parameters.is_stopped();
        if !matches!(errno, SysErrno::AGAIN | SysErrno::INTR) {
            let errno = Errno::from(errno);
            return if stopped {
                Ok(false)
            } else {
                Err(broken("send or recv", blocking.connection, errno, blocking.exchanges))
            };
        }
        let now = blocking.clock.now();
        let since = *self.since.get_or_insert(now.saturating_sub(parameters.scale.ticks(LOOK_EVERY.0)));
        if stopped {
            return Ok(now - *self.stopped.get_or_insert(now) <= parameters.bounds.drain);
        }
        if now - since > parameters.bounds.deadline {
            return Err(parameters.stalled(blocking.connection, blocking.exchanges));
        }
        Ok(true)
    }
}
