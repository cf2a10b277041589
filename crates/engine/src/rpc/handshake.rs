//! Connections between endpoints that know each other's keys.
//!
//! The client presents the key and the number of the task; the server presents its own key. A peer that
//! connects without the key, or is too slow, is rejected and counted.

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

/// Polling interval of the stop flag.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Maximum time an unauthenticated connection may stay open, or the deadline of the phase if that is shorter.
const HELLO_PATIENCE: Duration = Duration::from_secs(5);
/// Maximum number of unauthenticated connections beyond those expected.
const STRANGERS_MAX: usize = 64;
/// Size of the key and the task number.
const HELLO_BYTES: usize = 20;

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
    stop: &'a AtomicBool,
}

impl<'a> Wait<'a> {
    pub(super) fn new(rpc: &Rpc, stop: &'a AtomicBool) -> Self {
        let patience = Duration::from_nanos(rpc.deadline.0);
        Self { until: Instant::now() + patience, patience, stop }
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
        // Interrupted or not, the caller checks each socket.
        let _ = poll(sockets, Timespec::try_from(left).ok().as_ref());
        Ok(())
    }
}

/// A client connection whose server has not answered yet.
pub(super) struct Called {
    pub(super) socket: OwnedFd,
    pub(super) peer: String,
    answer: Key,
}

impl Called {
    /// Connects to the server of `task`, and presents its key.
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
        hello[..16].copy_from_slice(&key);
        hello[16..].copy_from_slice(&task.to_le_bytes());
        // It fits into the empty send buffer of a new connection.
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

/// A connection to `address`, in blocking mode afterwards.
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

/// A connection that has not presented its key.
struct UnauthenticatedPeer {
    socket: OwnedFd,
    hello: [u8; HELLO_BYTES],
    have: usize,
    until: Instant,
}

/// Accepts the connections of `expected` tasks, in rising order, and passes each to `take`. Closes the
/// listening sockets when all are established. Returns the number of rejected connections.
///
/// # Errors
/// Some did not connect in time.
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
    let mut strangers: Vec<UnauthenticatedPeer> = Vec::new();
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
        let sockets = listeners.iter().chain(strangers.iter().map(|one| &one.socket));
        let mut look: Vec<PollFd<'_>> = sockets.map(|socket| PollFd::new(socket, PollFlags::IN)).collect();
        wait.look(&mut look)?;
        drop(look);
        for listener in &listeners {
            while let Ok(socket) = accept_with(listener, SocketFlags::CLOEXEC) {
                let until = Instant::now() + wait.patience.min(HELLO_PATIENCE);
                strangers.push(UnauthenticatedPeer { socket, hello: [0; HELLO_BYTES], have: 0, until });
            }
        }
        let mut waiting = Vec::with_capacity(strangers.len());
        for stranger in strangers {
            match stranger.listen() {
                HelloResult::Nothing(stranger) => waiting.push(stranger),
                HelloResult::Hello(socket, hello) => {
                    let number = u32::from_le_bytes([hello[16], hello[17], hello[18], hello[19]]);
                    let place = expected.binary_search(&number).ok().filter(|&place| !came[place]);
                    let right = same(&hello[..16], &key);
                    let _ = sockopt::set_tcp_nodelay(&socket, true);
                    match place.filter(|_| right && send(&socket, &answer, SendFlags::NOSIGNAL).is_ok()) {
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
        let too_many = waiting.len().saturating_sub(missing + STRANGERS_MAX);
        shut_out += too_many as u64;
        // Those waiting longest.
        waiting.drain(..too_many);
        strangers = waiting;
    }
    Ok(shut_out + strangers.len() as u64)
}

/// Result of reading from an unauthenticated peer.
enum HelloResult {
    /// Incomplete so far.
    Nothing(UnauthenticatedPeer),
    Hello(OwnedFd, [u8; HELLO_BYTES]),
    /// It closed the connection, or took too long.
    Gone,
}

impl UnauthenticatedPeer {
    fn listen(mut self) -> HelloResult {
        match recv(&self.socket, &mut self.hello[self.have..], RecvFlags::DONTWAIT) {
            Ok((_, more)) if more > 0 => self.have += more,
            Err(SysErrno::AGAIN | SysErrno::INTR) => {}
            Ok(_) | Err(_) => return HelloResult::Gone,
        }
        match self.have {
            HELLO_BYTES => HelloResult::Hello(self.socket, self.hello),
            _ if Instant::now() < self.until => HelloResult::Nothing(self),
            _ => HelloResult::Gone,
        }
    }
}

/// Compares two keys in constant time.
fn same(one: &[u8], two: &[u8]) -> bool {
    one.len() == two.len()
        && black_box(one.iter().zip(two).fold(0, |differs, (one, two)| differs | (one ^ two))) == 0
}

#[cfg(test)]
mod tests {
    use super::same;

    #[test]
    fn keys_are_the_same_in_all_bits_or_not_at_all() {
        let key: Vec<u8> = (0..16).collect();
        assert!(same(&key, &key.clone()));
        for bit in 0..128 {
            let mut other = key.clone();
            other[bit / 8] ^= 1 << (bit % 8);
            assert!(!same(&key, &other), "bit {bit}");
        }
        assert!(!same(&key, &key[..15]));
    }
}
