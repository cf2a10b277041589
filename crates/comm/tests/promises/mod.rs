//! What every way of agreeing must keep.

use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use comm::{Clock, Comm, CommError};

/// What one rank does and may rely on.
pub(crate) fn keeps(comm: &dyn Comm) {
    agrees(comm);
    collects(comm);
    combines(comm);
    streams(comm);
    groups(comm);
    meets(comm);
    strands(comm, 6);
    waits_on_one_strand(comm);
    // Signals reach all ranks, whoever sends them.
    let (sender, came) = channel();
    let sender = Mutex::new(sender);
    comm.on_signal(Arc::new(move |value| {
        let _ = sender.lock().unwrap().send(value);
    }));
    comm.barrier().unwrap();
    for from in [0, comm.size() - 1] {
        if comm.rank() == from {
            comm.signal(u64::from(from) + 7);
        }
        assert_eq!(came.recv_timeout(Duration::from_secs(30)).unwrap(), u64::from(from) + 7);
        comm.barrier().unwrap();
    }
    comm.on_signal(Arc::new(|_| ()));
    assert_eq!(came.recv_timeout(Duration::from_millis(1)).ok(), None, "a signal comes once");
    comm.barrier().unwrap();
}

pub(crate) fn agrees(comm: &dyn Comm) {
    let (rank, size) = (comm.rank(), comm.size());
    assert!(rank < size);
    assert!(!comm.node().is_empty());
    let topology = comm.topology();
    assert_eq!(topology.node_of().len(), size as usize);
    assert_eq!(topology.names()[topology.node_of()[rank as usize] as usize], comm.node());

    assert_eq!(comm.max_u64(u64::from(rank)).unwrap(), u64::from(size - 1));
    assert_eq!(comm.max_u64(u64::MAX - u64::from(rank)).unwrap(), u64::MAX);
    assert!(!comm.any(false).unwrap());
    assert!(comm.any(rank == size - 1).unwrap(), "one vote is enough");
    assert!(comm.any(true).unwrap());
    assert_eq!(comm.broadcast(format!("from {rank}").into_bytes()).unwrap(), b"from 0");
    assert_eq!(comm.broadcast(Vec::new()).unwrap(), b"");
    let large: Vec<u8> = (0..300_000u32).map(|number| number.to_le_bytes()[0]).collect();
    assert_eq!(comm.broadcast(large.clone()).unwrap(), large);
}

pub(crate) fn collects(comm: &dyn Comm) {
    let (rank, size) = (comm.rank(), comm.size());
    let gathered = comm.gather(vec![rank.to_le_bytes()[0]; rank as usize]).unwrap();
    assert_eq!(gathered.is_some(), rank == 0);
    if let Some(parts) = gathered {
        assert_eq!(parts.len(), size as usize);
        for (rank, part) in parts.iter().enumerate() {
            assert_eq!(part, &vec![rank.to_le_bytes()[0]; rank], "parts come in the order of ranks");
        }
    }
}

pub(crate) fn combines(comm: &dyn Comm) {
    // Text put together is associative and not commutative.
    let merge = &mut |first: Vec<u8>, second: Vec<u8>| [first, second].concat();
    let whole = comm.combine(format!("<{}>", comm.rank()).into_bytes(), merge).unwrap();
    let ordered: String = (0..comm.size()).map(|rank| format!("<{rank}>")).collect();
    assert_eq!(whole, (comm.rank() == 0).then(|| ordered.into_bytes()));
}

/// Bytes of a rank's part of a stream: from none to several pieces.
fn length(rank: u32) -> usize {
    [0, 1, 50_000, 200_000][rank as usize % 4]
}

pub(crate) fn streams(comm: &dyn Comm) {
    let part = |rank: u32| vec![rank.to_le_bytes()[0]; length(rank)];
    let mut next = 0;
    comm.stream(part(comm.rank()), &mut |rank, bytes| {
        assert_eq!(rank, next, "parts come in the order of ranks");
        assert!(bytes == part(rank), "the part of rank {rank} is whole");
        next += 1;
    })
    .unwrap();
    assert_eq!(next, if comm.rank() == 0 { comm.size() } else { 0 });
}

pub(crate) fn groups(comm: &dyn Comm) {
    let (rank, size) = (comm.rank(), comm.size());
    // Every second rank, from the last one down: a group has an order of its own.
    let members: Vec<u32> = (0..size).rev().step_by(2).collect();
    let group = comm.group(&members);
    assert_eq!(group.is_some(), members.contains(&rank));
    if let Some(group) = group {
        assert_eq!(members[group.rank() as usize], rank);
        assert_eq!(group.size() as usize, members.len());
        assert_eq!(group.node(), comm.node());
        agrees(&*group);
        collects(&*group);
        combines(&*group);
        streams(&*group);
        group.meet().unwrap();
        let inner = group.group(&[group.size() - 1]);
        assert_eq!(inner.is_some(), group.rank() == group.size() - 1);
        if let Some(inner) = inner {
            assert_eq!((inner.rank(), inner.size()), (0, 1));
            agrees(&*inner);
        }
        // The same group again is the same ranks.
        comm.group(&members).unwrap().barrier().unwrap();
    }
    comm.barrier().unwrap();
}

/// All ranks see the same moment, which is not before the last of them came. They run on one machine.
pub(crate) fn meets(comm: &dyn Comm) {
    let clocks = comm.synchronize().unwrap();
    if comm.rank() == 0 {
        assert_eq!(clocks.len(), comm.topology().names().len());
        assert_eq!(clocks[0], Clock::default());
        for clock in clocks {
            assert!(clock.offset_ns.unsigned_abs() <= clock.error_ns, "one clock: {clock:?}");
        }
    } else {
        assert!(clocks.is_empty());
    }
    comm.barrier().unwrap();
    let before = Instant::now();
    if comm.rank() == comm.size() - 1 {
        std::thread::sleep(Duration::from_millis(30));
    }
    let since = comm.meet().unwrap();
    let waited = before.elapsed();
    assert!(since <= waited, "the last rank came after this one began to wait: {since:?} of {waited:?}");
}

/// Numbers of strands that are used at the same time; the first one is also used without a number.
pub(crate) const STRANDS: [u8; 3] = [0, 1, 255];

/// Runs `each` on every strand, in threads.
pub(crate) fn on_strands<T: Send>(comm: &dyn Comm, each: impl Fn(&dyn Comm, u8) -> T + Sync) -> Vec<T> {
    std::thread::scope(|scope| {
        let each = &each;
        let start = |number: u8| scope.spawn(move || each(&*comm.strand(number), number));
        let threads: Vec<_> = STRANDS.into_iter().map(start).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// Calls of all kinds are made on several strands at the same time, `rounds` times as many on each strand as on
/// the one before, in different orders.
pub(crate) fn strands(comm: &dyn Comm, rounds: u64) {
    let (rank, size) = (comm.rank(), comm.size());
    on_strands(comm, |strand, number| {
        assert_eq!((strand.rank(), strand.size(), strand.node()), (rank, size, comm.node()));
        assert_eq!(strand.topology(), comm.topology());
        let members: Vec<u32> = (0..size).filter(|member| member % 2 == u32::from(number) % 2).collect();
        let group = strand.group(&members);
        let position = STRANDS.iter().position(|&known| known == number).unwrap();
        for round in 0..rounds * (position as u64 + 1) {
            let seed = round.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ u64::from(number) << 32;
            call_of_any_kind(strand, seed);
            if let Some(group) = group.as_deref().filter(|_| round % 3 == 0) {
                call_of_any_kind(group, !seed);
            }
            // Ranks are early and late in turn.
            if (seed >> 40) % 16 == u64::from(rank % 16) {
                std::thread::yield_now();
            }
        }
        // The same strand, asked for on another one.
        assert_eq!(strand.strand(number).max_u64(u64::from(rank)).unwrap(), u64::from(size - 1));
    });
    comm.barrier().unwrap();
}

/// Makes the call that a number stands for, and checks its result, which is that of no other number.
fn call_of_any_kind(comm: &dyn Comm, seed: u64) {
    let (rank, size) = (comm.rank(), comm.size());
    let of = |rank: u32| (seed ^ u64::from(rank)).to_le_bytes();
    match (seed >> 24) % 16 {
        0..2 => comm.barrier().unwrap(),
        2..4 => {
            let largest = (0..size).map(|rank| u64::from_le_bytes(of(rank))).max();
            assert_eq!(comm.max_u64(u64::from_le_bytes(of(rank))).unwrap(), largest.unwrap());
        }
        4..6 => {
            let vote = seed.is_multiple_of(3) && u64::from(rank) == seed % u64::from(size);
            assert_eq!(comm.any(vote).unwrap(), seed.is_multiple_of(3));
        }
        6..8 => {
            let gathered = comm.gather(of(rank).to_vec()).unwrap();
            let all = || (0..size).map(|rank| of(rank).to_vec()).collect();
            assert_eq!(gathered, (rank == 0).then(all));
        }
        8..10 => assert_eq!(comm.broadcast(of(rank).to_vec()).unwrap(), of(0)),
        10 => {
            // More than a frame between processes, so that its parts come between those of other strands.
            let large = |rank: u32| of(rank).repeat(20_000);
            assert!(comm.broadcast(large(rank)).unwrap() == large(0));
        }
        11..13 => {
            let merge = &mut |first: Vec<u8>, second: Vec<u8>| [first, second].concat();
            let whole = comm.combine(of(rank).to_vec(), merge).unwrap();
            assert_eq!(whole, (rank == 0).then(|| (0..size).flat_map(of).collect()));
        }
        13 => {
            let mut came = Vec::new();
            comm.stream(of(rank).to_vec(), &mut |rank, bytes| came.push((rank, bytes))).unwrap();
            let all = (0..size).filter(|_| rank == 0).map(|rank| (rank, of(rank).to_vec()));
            assert_eq!(came, all.collect::<Vec<_>>());
        }
        14 => assert_eq!(comm.synchronize().unwrap().is_empty(), rank > 0),
        _ => {
            let start = Instant::now();
            let since = comm.meet().unwrap();
            // Other strands compare the clocks meanwhile.
            assert!(
                since <= start.elapsed() + Duration::from_millis(500),
                "{since:?} of {:?}",
                start.elapsed()
            );
        }
    }
}

/// All ranks but the last one wait on one strand while all of them go on with another one.
pub(crate) fn waits_on_one_strand(comm: &dyn Comm) {
    let last = comm.size() - 1;
    let (waits, goes_on) = (comm.strand(1), comm.strand(2));
    std::thread::scope(|scope| {
        let (about_to_wait, waiting) = channel();
        let wait = |waits: &dyn Comm| waits.max_u64(u64::from(comm.rank())).unwrap();
        let waiter = (comm.rank() != last).then(|| {
            let waits = &*waits;
            scope.spawn(move || {
                about_to_wait.send(()).unwrap();
                wait(waits)
            })
        });
        if waiter.is_some() {
            waiting.recv().unwrap();
        }
        for round in 0..20 {
            assert_eq!(goes_on.max_u64(round + u64::from(comm.rank())).unwrap(), round + u64::from(last));
        }
        let largest = waiter.map_or_else(|| wait(&*waits), |waiter| waiter.join().unwrap());
        assert_eq!(largest, u64::from(last));
    });
    comm.barrier().unwrap();
}

/// Two ranks wait for each other in different calls, for longer than it takes to be found out of step. They are
/// in step, because these are calls of two strands.
pub(crate) fn wait_for_each_other_on_two_strands(comm: &dyn Comm) {
    let (first, second) = (comm.strand(1), comm.strand(2));
    if comm.rank() == 0 {
        std::thread::scope(|scope| {
            let barrier = scope.spawn(|| first.barrier());
            std::thread::sleep(Duration::from_millis(2500));
            second.broadcast(b"late".to_vec()).unwrap();
            barrier.join().unwrap().unwrap();
        });
    } else {
        assert_eq!(second.broadcast(Vec::new()).unwrap(), b"late");
        first.barrier().unwrap();
    }
}

/// Rank 1 makes another call than the others on one strand, while all ranks make calls on the other strands.
/// Returns the errors with which the calls of this rank ended, by strand.
pub(crate) fn make_different_calls_on_one_strand(comm: &dyn Comm) -> Vec<CommError> {
    let errors = on_strands(comm, |strand, number| {
        let mut calls = 0;
        loop {
            let called = match number == STRANDS[1] && comm.rank() == 1 && calls == 50 {
                true => strand.broadcast(Vec::new()).map(|_| ()),
                false => strand.barrier(),
            };
            match called {
                Ok(()) => calls += 1,
                Err(error) => return error,
            }
        }
    });
    assert_eq!(comm.strand(7).barrier().unwrap_err(), errors[0], "no strand begins after that");
    errors
}
