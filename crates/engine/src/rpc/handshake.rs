//! Establishes connections between endpoints that know each other's keys.
//!
//! The client presents the key and the number of the task; the server presents its own key. From a
//! connecting peer only the key is read until it has been compared, and nothing is sent to it before that. A
//! peer without the key, or one that is too slow, is rejected and counted.

use std::collections::VecDeque;
use std::hint::black_box;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use plan::Rpc;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno as SysErrno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, accept_with, bind, connect, recv, send,
    socket_with, sockopt,
};

use super::endpoint_exchange::{Key, Meeting};
use super::error::NetworkError;
use crate::Errno;

/// Interval at which the stop flag is checked.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Maximum time an unauthenticated connection may stay open, unless the deadline of the phase is shorter.
const HELLO_PATIENCE: Duration = Duration::from_secs(5);
/// Maximum number of unauthenticated connections beyond those expected. If there are more, the one that has
/// waited longest is rejected, because a genuine peer sends its key as soon as it is connected.
pub(super) const STRANGERS_MAX: usize = 64;
/// Maximum number of connections accepted before the waiting ones are read again.
const ACCEPTED_AT_ONCE: usize = 256;
/// Size of the key and the task number.
const HELLO_BYTES: usize = 20;
/// Size of the key.
const KEY_BYTES: usize = size_of::<Key>();

/// Why connecting failed.
pub(super) enum Failed {
    Network(NetworkError),
    /// The phase was ended.
    Stopped,
}

impl From<NetworkError> for Failed {
    fn from(error: NetworkError) -> Self {
        Self::Network(error)
    }
}

/// Deadline for establishing all connections, and the flag that ends the wait early.
#[derive(Clone, Copy)]
pub(super) struct Wait<'a> {
    until: Instant,
    patience: Duration,
    /// How long a connection may stay open without its key.
    hello: Duration,
    stop: &'a AtomicBool,
}

impl<'a> Wait<'a> {
    pub(super) fn new(rpc: &Rpc, stop: &'a AtomicBool) -> Self {
        let patience = Duration::from_nanos(rpc.deadline.0);
        Self { until: Instant::now() + patience, patience, hello: patience.min(HELLO_PATIENCE), stop }
    }

    fn is_over(&self) -> bool {
        Instant::now() >= self.until
    }

    /// Waits briefly for one of `sockets`.
    fn look(&self, sockets: &mut [PollFd<'_>]) -> Result<(), Failed> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(Failed::Stopped);
        }
        let left = self.until.saturating_duration_since(Instant::now()).min(LOOK_EVERY);
        // Whether or not it was interrupted, the caller checks each socket.
        let _ = poll(sockets, Timespec::try_from(left).ok().as_ref());
        Ok(())
    }
}

/// A client's connection whose server has not answered yet.
pub(super) struct Called {
    pub(super) socket: OwnedFd,
    pub(super) peer: String,
    answer: Key,
}

impl Called {
    /// Connects to the server of `task` and presents its key.
    pub(super) fn call(meeting: &Meeting, rpc: &Rpc, task: u32, wait: Wait<'_>) -> Result<Self, Failed> {
        let server = rpc.server_of(task);
        let name = meeting.name_of(server);
        let nowhere = || NetworkError::NoWay { host: meeting.host.name.clone(), peer: name.to_owned() };
        let address = meeting.way_to(server).ok_or_else(nowhere)?;
        let (key, answer) = meeting.keys_of(server).ok_or_else(nowhere)?;
        let peer = format!("{name} ({address})");
        let refused = |errno| NetworkError::Connect { peer: peer.clone(), errno };
        let socket = dial(address, meeting, wait).map_err(|failed| match failed {
            Ok(errno) => Failed::Network(refused(errno)),
            Err(failed) => failed,
        })?;
        let mut hello = [0; HELLO_BYTES];
        hello[..KEY_BYTES].copy_from_slice(&key);
        hello[KEY_BYTES..].copy_from_slice(&task.to_le_bytes());
        // The message fits into the empty send buffer of a new connection.
        let _ = sockopt::set_tcp_nodelay(&socket, true);
        send(&socket, &hello, SendFlags::NOSIGNAL).map_err(|errno| refused(errno.into()))?;
        Ok(Self { socket, peer, answer })
    }

    /// Waits for the server's answer.
    pub(super) fn answered(self, wait: Wait<'_>) -> Result<(OwnedFd, String), Failed> {
        let mut answer = Key::default();
        let mut have = 0;
        while have < answer.len() {
            if wait.is_over() {
                let seconds = wait.patience.as_secs();
                return Err(NetworkError::Stalled { peer: self.peer, seconds, exchanges: 0 }.into());
            }
            wait.look(&mut [PollFd::new(&self.socket, PollFlags::IN)])?;
            match recv(&self.socket, &mut answer[have..], RecvFlags::DONTWAIT) {
                Ok((_, more)) if more > 0 => have += more,
                Err(SysErrno::AGAIN | SysErrno::INTR) => {}
                Ok(_) | Err(_) => return Err(NetworkError::NotOurs { peer: self.peer }.into()),
            }
        }
        match same(&answer, &self.answer) {
            true => Ok((self.socket, self.peer)),
            false => Err(NetworkError::NotOurs { peer: self.peer }.into()),
        }
    }
}

/// Connects to `address`. The socket is in blocking mode afterwards.
fn dial(address: SocketAddr, meeting: &Meeting, wait: Wait<'_>) -> Result<OwnedFd, Result<Errno, Failed>> {
    let refused = |errno: SysErrno| Ok(errno.into());
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(family, SocketType::STREAM, flags, None).map_err(refused)?;
    if let Some(from) = meeting.from {
        bind(&socket, &SocketAddr::new(from, 0)).map_err(refused)?;
    }
    match connect(&socket, &address) {
        Ok(()) => {}
        Err(SysErrno::INPROGRESS | SysErrno::INTR) => loop {
            if wait.is_over() {
                return Err(refused(SysErrno::TIMEDOUT));
            }
            let mut look = [PollFd::new(&socket, PollFlags::OUT)];
            wait.look(&mut look).map_err(Err)?;
            if !look[0].revents().is_empty() {
                sockopt::socket_error(&socket).map_err(refused)?.map_err(refused)?;
                break;
            }
        },
        Err(errno) => return Err(refused(errno)),
    }
    rustix::io::ioctl_fionbio(&socket, false).map_err(refused)?;
    Ok(socket)
}

/// A connection that has not presented its key and task yet.
struct UnauthenticatedPeer {
    socket: OwnedFd,
    hello: [u8; HELLO_BYTES],
    have: usize,
    until: Instant,
}

/// Accepts the connections of `expected` tasks, in ascending order, and passes each to `take`. Closes the
/// listening sockets when all connections are established. Returns the number of rejected connections.
///
/// # Errors
/// Errors if some tasks did not connect in time.
pub(super) fn admit(
    meeting: &Meeting,
    rpc: &Rpc,
    expected: &[u32],
    wait: Wait<'_>,
    mut take: impl FnMut(usize, OwnedFd),
) -> Result<u64, Failed> {
    let Some((key, answer)) = meeting.keys_of(meeting.end) else { return Ok(0) };
    let listeners = std::mem::take(&mut *meeting.listeners.lock().unwrap_or_else(PoisonError::into_inner));
    let mut came = vec![false; expected.len()];
    let mut missing = expected.len();
    let mut waiting: VecDeque<UnauthenticatedPeer> = VecDeque::new();
    let mut shut_out = 0;
    while missing > 0 {
        if wait.is_over() {
            let first = expected.iter().zip(&came).find(|(_, came)| !**came).map_or(0, |(task, _)| *task);
            return Err(NetworkError::Missing {
                missing,
                all: expected.len(),
                host: meeting.host.name.clone(),
                peer: meeting.name_of(rpc.client_of(first)).to_owned(),
                seconds: wait.patience.as_secs(),
            }
            .into());
        }
        let sockets = listeners.iter().chain(waiting.iter().map(|one| &one.socket));
        let mut look: Vec<PollFd<'_>> = sockets.map(|socket| PollFd::new(socket, PollFlags::IN)).collect();
        wait.look(&mut look)?;
        drop(look);
        // Waiting connections come first, and each new one is read as soon as it is accepted.
        let known = std::mem::take(&mut waiting);
        let new = listeners.iter().flat_map(|listener| {
            let accept = move || accept_with(listener, SocketFlags::CLOEXEC).ok();
            std::iter::from_fn(accept).take(ACCEPTED_AT_ONCE)
        });
        let until = Instant::now() + wait.hello;
        let new = new.map(|socket| UnauthenticatedPeer { socket, hello: [0; HELLO_BYTES], have: 0, until });
        for peer in known.into_iter().chain(new) {
            match peer.listen(&key) {
                HelloResult::Nothing(peer) => {
                    waiting.push_back(peer);
                    if waiting.len() > missing + STRANGERS_MAX {
                        waiting.pop_front();
                        shut_out += 1;
                    }
                }
                HelloResult::Hello(socket, task) => {
                    let place = expected.binary_search(&task).ok().filter(|&place| !came[place]);
                    let _ = sockopt::set_tcp_nodelay(&socket, true);
                    match place.filter(|_| send(&socket, &answer, SendFlags::NOSIGNAL).is_ok()) {
                        Some(place) => {
                            came[place] = true;
                            missing -= 1;
                            take(place, socket);
                        }
                        None => shut_out += 1,
                    }
                }
                HelloResult::Gone => shut_out += 1,
            }
        }
    }
    Ok(shut_out + waiting.len() as u64)
}

/// Result of reading from an unauthenticated peer.
enum HelloResult {
    /// The message is still incomplete.
    Nothing(UnauthenticatedPeer),
    /// The peer has the key, and this is the connection of this task.
    Hello(OwnedFd, u32),
    /// The peer closed the connection, does not have the key, or took too long.
    Gone,
}

impl UnauthenticatedPeer {
    /// Reads the available bytes up to the end of the key. What follows is only read if the key is right.
    fn listen(mut self, key: &Key) -> HelloResult {
        loop {
            let wanted = if self.have < KEY_BYTES { KEY_BYTES } else { HELLO_BYTES };
            match recv(&self.socket, &mut self.hello[self.have..wanted], RecvFlags::DONTWAIT) {
                Ok((_, more)) if more > 0 => self.have += more,
                Err(SysErrno::AGAIN | SysErrno::INTR) if Instant::now() < self.until => {
                    return HelloResult::Nothing(self);
                }
                Ok(_) | Err(_) => return HelloResult::Gone,
            }
            let (presented, task) = self.hello.split_at(KEY_BYTES);
            if self.have == KEY_BYTES && !same(presented, key) {
                return HelloResult::Gone;
            }
            if let Some(task) = task.first_chunk().filter(|_| self.have == HELLO_BYTES) {
                return HelloResult::Hello(self.socket, u32::from_le_bytes(*task));
            }
        }
    }
}

/// Compares two keys in constant time.
fn same(one: &[u8], two: &[u8]) -> bool {
    one.len() == two.len()
        && black_box(one.iter().zip(two).fold(0, |differs, (one, two)| differs | (one ^ two))) == 0
}

#[cfg(test)]
mod tests;
