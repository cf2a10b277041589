//! Connections between ends that know each other's keys.
//!
//! Who asks presents the key and the number of the task; who answers presents its answer. Whoever connects
//! without the key, or too slowly, is shut out and counted.

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

use super::error::NetworkError;
use super::meeting::{Key, Meeting};
use crate::Errno;

/// Between two looks at the flag that ends the phase.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// A stranger may keep a connection open for so long, or for the deadline of the phase if that is shorter.
const HELLO_PATIENCE: Duration = Duration::from_secs(5);
/// Connections that may be open and have not presented a key, beside those that are expected.
const STRANGERS_MAX: usize = 64;
/// The key and the number of the task.
const HELLO_BYTES: usize = 20;

/// Why an end did not come through.
pub(super) enum Failed {
    Network(NetworkError),
    /// The phase was ended meanwhile.
    Stopped,
}

impl From<NetworkError> for Failed {
    fn from(error: NetworkError) -> Self {
        Self::Network(error)
    }
}

/// How long all connections may take to come into being, and what ends the wait before.
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

    /// Waits for one of `sockets`, for a moment.
    fn look(&self, sockets: &mut [PollFd<'_>]) -> Result<(), Failed> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(Failed::Stopped);
        }
        let left = self.until.saturating_duration_since(Instant::now()).min(LOOK_EVERY);
        // Interrupted or not, the caller looks at each.
        let _ = poll(sockets, Timespec::try_from(left).ok().as_ref());
        Ok(())
    }
}

/// A connection for a task of this end, before its peer has answered.
pub(super) struct Called {
    pub(super) socket: OwnedFd,
    pub(super) peer: String,
    answer: Key,
}

impl Called {
    /// Connects to the end that answers `task`, and presents its key.
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
        // It fits into the empty buffer of a new connection.
        let _ = sockopt::set_tcp_nodelay(&socket, true);
        send(&socket, &hello, SendFlags::NOSIGNAL).map_err(|errno| refused(errno.into()))?;
        Ok(Self { socket, peer, answer })
    }

    /// Waits for the answer of the other end.
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

/// A connection to `address`; blocks from then on.
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
struct Stranger {
    socket: OwnedFd,
    hello: [u8; HELLO_BYTES],
    have: usize,
    until: Instant,
}

/// Lets in the connections of `expected` tasks, which rise, and hands each to `take`. When all are there
/// nobody listens any more. Gives the number of those that were shut out.
///
/// # Errors
/// Some did not come in time.
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
    let mut strangers: Vec<Stranger> = Vec::new();
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
                strangers.push(Stranger { socket, hello: [0; HELLO_BYTES], have: 0, until });
            }
        }
        let mut waiting = Vec::with_capacity(strangers.len());
        for stranger in strangers {
            match stranger.listen() {
                Heard::Nothing(stranger) => waiting.push(stranger),
                Heard::Hello(socket, hello) => {
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
                Heard::Gone => shut_out += 1,
            }
        }
        let too_many = waiting.len().saturating_sub(missing + STRANGERS_MAX);
        shut_out += too_many as u64;
        // Those that have waited longest.
        waiting.drain(..too_many);
        strangers = waiting;
    }
    Ok(shut_out + strangers.len() as u64)
}

/// What a stranger says.
enum Heard {
    /// Not all of it yet.
    Nothing(Stranger),
    Hello(OwnedFd, [u8; HELLO_BYTES]),
    /// It hung up, or took too long.
    Gone,
}

impl Stranger {
    fn listen(mut self) -> Heard {
        match recv(&self.socket, &mut self.hello[self.have..], RecvFlags::DONTWAIT) {
            Ok((_, more)) if more > 0 => self.have += more,
            Err(SysErrno::AGAIN | SysErrno::INTR) => {}
            Ok(_) | Err(_) => return Heard::Gone,
        }
        match self.have {
            HELLO_BYTES => Heard::Hello(self.socket, self.hello),
            _ if Instant::now() < self.until => Heard::Nothing(self),
            _ => Heard::Gone,
        }
    }
}

/// Whether two keys are the same, in a time that does not tell where they differ.
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
