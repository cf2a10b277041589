//! Tests which connections are accepted, and what happens to the others.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::OwnedFd;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use plan::{Bytes, Nanos, Rpc};
use proptest::collection::vec;
use proptest::prelude::{ProptestConfig, any, prop_assert, prop_assert_eq, proptest};

use super::{Failed, HELLO_BYTES, KEY_BYTES, STRANGERS_MAX, Wait, admit, same};
use crate::SingleProcess;
use crate::rpc::endpoint_exchange::{Key, Meeting};

static GO_ON: AtomicBool = AtomicBool::new(false);

/// An endpoint that listens, and expects one connection for each of this many tasks.
struct Door {
    rpc: Rpc,
    meeting: Meeting,
    address: SocketAddr,
    key: Key,
    answer: Key,
}

impl Door {
    fn open(connections: u32) -> Self {
        let rpc = Rpc { connections, ..Rpc::new(Bytes(1), Bytes(1)) };
        let meeting = Meeting::hold(&rpc, 0, &SingleProcess).expect("it listens");
        let address = meeting.way_to(0).expect("known");
        let (key, answer) = meeting.keys_of(0).expect("known");
        Self { rpc, meeting, address, key, answer }
    }

    fn call(&self) -> TcpStream {
        TcpStream::connect(self.address).expect("it listens")
    }

    /// A connection that presents the key and `task`.
    fn peer(&self, task: u32) -> TcpStream {
        let mut stream = self.call();
        stream.write_all(&self.key).expect("sent");
        stream.write_all(&task.to_le_bytes()).expect("sent");
        stream
    }

    /// Accepts peers, which may be silent for `hello`. Returns how many were rejected, and the indices of those
    /// that were accepted, each with the result of `look` at that moment.
    fn admit<T>(&self, hello: Duration, mut look: impl FnMut() -> T) -> (u64, Vec<(usize, OwnedFd, T)>) {
        let patience = Duration::from_secs(60);
        let wait = Wait { until: Instant::now() + patience, patience, hello, stop: &GO_ON };
        let expected: Vec<u32> = (0..self.rpc.connections).collect();
        let mut taken = Vec::new();
        let shut_out = admit(&self.meeting, &self.rpc, &expected, wait, |place, socket| {
            taken.push((place, socket, look()))
        });
        match shut_out {
            Ok(shut_out) => (shut_out, taken),
            Err(Failed::Network(error)) => panic!("{error}"),
            Err(Failed::Stopped) => panic!("stopped"),
        }
    }
}

const LONG: Duration = Duration::from_secs(60);

/// Everything that an unauthenticated connection receives until it is rejected.
fn told(stream: &mut TcpStream) -> Vec<u8> {
    stream.set_read_timeout(Some(LONG)).expect("set");
    let mut all = Vec::new();
    match stream.read_to_end(&mut all) {
        Ok(_) => {}
        // The bytes it has sent were not read.
        Err(error) => assert_eq!(error.kind(), ErrorKind::ConnectionReset, "{error}"),
    }
    all
}

/// Whether a connection is still open and nothing has been received.
fn is_open(stream: &TcpStream) -> bool {
    stream.set_nonblocking(true).expect("set");
    matches!(stream.peek(&mut [0]), Err(error) if error.kind() == ErrorKind::WouldBlock)
}

/// Runs `stranger` against the listening endpoint, and lets the genuine peer connect when it is done.
fn before_the_peer(hello: Duration, stranger: impl FnOnce(&Door) + Send) -> u64 {
    let door = Door::open(1);
    std::thread::scope(|scope| {
        let outside = scope.spawn(|| {
            stranger(&door);
            let mut answer = Key::default();
            door.peer(0).read_exact(&mut answer).expect("answered");
            assert_eq!(answer, door.answer);
        });
        let (shut_out, taken) = door.admit(hello, || ());
        assert_eq!(taken.len(), 1);
        outside.join().expect("no panic");
        shut_out
    })
}

#[test]
fn a_wrong_key_is_shut_out_before_anything_else_comes() {
    // It sends a key and nothing more. If more bytes were awaited, the peer would never be accepted.
    let shut_out = before_the_peer(LONG, |door| {
        let mut stranger = door.call();
        let mut wrong = door.key;
        wrong[KEY_BYTES - 1] ^= 1;
        stranger.write_all(&wrong).expect("sent");
        assert!(told(&mut stranger).is_empty(), "nothing is said to it");
    });
    assert_eq!(shut_out, 1);
}

#[test]
fn nothing_behind_a_wrong_key_is_read() {
    // If bytes have not been read when a socket is closed, the kernel resets the connection.
    let shut_out = before_the_peer(LONG, |door| {
        let mut stranger = door.call();
        stranger.write_all(&[7; KEY_BYTES + 1]).expect("sent");
        stranger.set_read_timeout(Some(LONG)).expect("set");
        let error = stranger.read(&mut [0]).expect_err("reset");
        assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    });
    assert_eq!(shut_out, 1);
}

#[test]
fn one_that_says_nothing_or_too_little_is_told_nothing_and_shut_out() {
    let shut_out = before_the_peer(Duration::from_millis(50), |door| {
        let mut silent = door.call();
        let mut slow = door.call();
        slow.write_all(&door.key[..KEY_BYTES - 1]).expect("sent");
        let mut without_task = door.call();
        without_task.write_all(&door.key).expect("sent");
        for stranger in [&mut silent, &mut slow, &mut without_task] {
            assert!(told(stranger).is_empty());
        }
    });
    assert_eq!(shut_out, 3);
}

#[test]
fn a_connection_without_its_key_has_five_seconds_or_less() {
    let hello = |deadline: Nanos| Wait::new(&Rpc { deadline, ..Rpc::new(Bytes(1), Bytes(1)) }, &GO_ON).hello;
    assert_eq!(hello(Nanos::secs(30)), Duration::from_secs(5));
    assert_eq!(hello(Nanos::millis(400)), Duration::from_millis(400), "never longer than the wait for all");
}

#[test]
fn a_key_gives_one_connection_of_a_task_that_is_expected() {
    let shut_out = before_the_peer(LONG, |door| {
        for task in [1, u32::MAX] {
            assert!(told(&mut door.peer(task)).is_empty());
        }
    });
    assert_eq!(shut_out, 2);
    // A second connection for the same task, while that of another task is missing.
    let door = Door::open(2);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut first = door.peer(0);
            first.read_exact(&mut [0; KEY_BYTES]).expect("answered");
            assert!(told(&mut door.peer(0)).is_empty());
            drop(door.peer(1));
        });
        let (shut_out, taken) = door.admit(LONG, || ());
        assert_eq!((shut_out, taken.len()), (1, 2));
    });
}

#[test]
fn a_flood_of_strangers_keeps_no_peer_out_and_few_descriptors() {
    const FLOOD: usize = 600;
    let door = Door::open(1);
    let strangers: Vec<TcpStream> = (0..FLOOD).map(|_| door.call()).collect();
    // The peer connects last.
    let peer = door.peer(0);
    let open = || strangers.iter().filter(|stranger| is_open(stranger)).count();
    let (shut_out, taken) = door.admit(LONG, open);
    let [(0, _, open)] = taken.as_slice() else { panic!("{taken:?}") };
    assert!(*open <= STRANGERS_MAX + 1, "{open} are open");
    assert_eq!(shut_out, FLOOD as u64);
    assert!(strangers.iter().all(|stranger| !is_open(stranger)));
    drop(peer);
}

#[test]
fn nobody_listens_when_all_have_come() {
    let door = Door::open(1);
    let peer = door.peer(0);
    let (_, taken) = door.admit(LONG, || ());
    assert_eq!(TcpStream::connect(door.address).expect_err("refused").kind(), ErrorKind::ConnectionRefused);
    drop((taken, peer));
}

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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn strangers_are_told_nothing_whatever_they_send_and_in_whatever_pieces(
        all in vec(vec(vec(any::<u8>(), 0..HELLO_BYTES + 4), 0..4), 1..6),
        hello in vec(1..HELLO_BYTES, 0..4),
    ) {
        let door = Door::open(1);
        let heard: Vec<Vec<u8>> = std::thread::scope(|scope| {
            let outside = scope.spawn(|| {
                let mut strangers: Vec<TcpStream> = all.iter().map(|_| door.call()).collect();
                for (stranger, pieces) in strangers.iter_mut().zip(&all) {
                    // It may have been rejected in the meantime.
                    let _ = pieces.iter().try_for_each(|piece| stranger.write_all(piece));
                }
                let whole = [&door.key[..], &0_u32.to_le_bytes()].concat();
                let mut peer = door.call();
                let mut from = 0;
                let mut ends = hello.clone();
                ends.sort_unstable();
                for end in ends.into_iter().chain([HELLO_BYTES]) {
                    peer.write_all(&whole[from..end]).expect("sent");
                    from = end;
                }
                peer.read_exact(&mut [0; KEY_BYTES]).expect("answered");
                strangers.iter_mut().map(told).collect()
            });
            let (shut_out, taken) = door.admit(LONG, || ());
            assert_eq!((shut_out, taken.len()), (all.len() as u64, 1));
            outside.join().expect("no panic")
        });
        prop_assert_eq!(heard.concat(), Vec::<u8>::new());
        prop_assert!(!GO_ON.load(std::sync::atomic::Ordering::Relaxed));
    }
}
