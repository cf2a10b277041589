//! What every way of agreeing must keep.

use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use comm::{Clock, Comm};

/// What one rank does and may rely on.
pub(crate) fn keeps(comm: &dyn Comm) {
    agrees(comm);
    collects(comm);
    combines(comm);
    streams(comm);
    groups(comm);
    meets(comm);
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
