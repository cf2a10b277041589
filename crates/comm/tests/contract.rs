//! What every way of agreeing must keep, tried on each of them.
#![expect(clippy::unwrap_used, reason = "a failed call is what a test is to report")]

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use comm::{Comm, CommError, Fake, Solo};

/// What one rank does and may rely on. `arrived` counts the ranks that came to each barrier.
fn keeps_the_contract(comm: &dyn Comm, arrived: &AtomicU32) {
    let (rank, size) = (comm.rank(), comm.size());
    assert!(rank < size);
    assert!(!comm.node().is_empty());

    for round in 1..=50 {
        arrived.fetch_add(1, Ordering::SeqCst);
        comm.barrier().unwrap();
        assert!(arrived.load(Ordering::SeqCst) >= round * size, "a rank passed before all had come");
    }

    assert_eq!(comm.max_u64(u64::from(rank)).unwrap(), u64::from(size - 1));
    assert_eq!(comm.max_u64(u64::MAX - u64::from(rank)).unwrap(), u64::MAX);
    assert!(!comm.any(false).unwrap());
    assert!(comm.any(rank == size - 1).unwrap(), "one vote is enough");
    assert!(comm.any(true).unwrap());

    let own = vec![u8::try_from(rank).unwrap(); rank as usize];
    let gathered = comm.gather(own).unwrap();
    assert_eq!(gathered.is_some(), rank == 0);
    if let Some(parts) = gathered {
        assert_eq!(parts.len(), size as usize);
        for (rank, part) in parts.iter().enumerate() {
            assert_eq!(part, &vec![u8::try_from(rank).unwrap(); rank], "parts come in the order of ranks");
        }
    }

    assert_eq!(comm.broadcast(format!("from {rank}").into_bytes()).unwrap(), b"from 0");
    assert_eq!(comm.broadcast(Vec::new()).unwrap(), b"");
}

/// Runs `each` on every rank of `world` and gives what they returned, by rank.
fn on_all<T: Send>(world: Vec<Fake>, each: impl Fn(Fake) -> T + Sync) -> Vec<T> {
    std::thread::scope(|scope| {
        let each = &each;
        let threads: Vec<_> = world.into_iter().map(|rank| scope.spawn(move || each(rank))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

#[test]
fn one_process_keeps_the_contract() {
    keeps_the_contract(&Solo::new("node1"), &AtomicU32::new(0));
}

#[test]
fn threads_keep_the_contract() {
    for size in [1, 2, 7] {
        let arrived = AtomicU32::new(0);
        on_all(Fake::world(&vec!["node1"; size]), |rank| keeps_the_contract(&rank, &arrived));
    }
}

#[test]
fn ranks_know_their_nodes() {
    let nodes = on_all(Fake::world(&["a", "a", "b"]), |rank| rank.node().to_owned());
    assert_eq!(nodes, ["a", "a", "b"]);
}

#[test]
fn a_rank_that_ends_is_an_error_for_those_that_wait() {
    let results = on_all(Fake::world(&["n"; 4]), |rank| {
        if rank.rank() == 2 {
            return Ok(());
        }
        rank.barrier()
    });
    let gone = Err(CommError::PeerGone { rank: 2, operation: "a barrier" });
    assert_eq!(results, [gone.clone(), gone.clone(), Ok(()), gone]);
}

#[test]
fn a_rank_that_panics_is_an_error_for_those_that_wait() {
    let mut world = Fake::world(&["n"; 2]);
    let (second, first) = (world.pop().unwrap(), world.pop().unwrap());
    let panicked = std::thread::spawn(move || {
        let _held = second;
        panic!("as a test of what the other rank sees");
    });
    assert!(panicked.join().is_err());
    let error = first.max_u64(1).unwrap_err();
    assert_eq!(error, CommError::PeerGone { rank: 1, operation: "a maximum" });
    assert_eq!(first.any(false).unwrap_err(), error, "the first error stays");
}

#[test]
fn a_rank_that_never_comes_is_an_error_after_a_bounded_wait() {
    let world = Fake::world_with_patience(&["n"; 3], Duration::from_millis(20));
    let error = world[1].barrier().unwrap_err();
    let CommError::TimedOut { missing, operation, .. } = &error else { panic!("{error}") };
    assert_eq!((missing.as_slice(), *operation), ([0].as_slice(), "a barrier"));
    assert_eq!(
        error.to_string(),
        "rank 0 did not come to a barrier within 0.02 s; it is stopped, lost or stuck in a transfer"
    );
    assert_eq!(world[0].barrier().unwrap_err(), error, "a late rank learns why the others left");
}

#[test]
fn ranks_that_make_different_calls_are_out_of_step() {
    let results = on_all(Fake::world(&["n"; 2]), |rank| {
        if rank.rank() == 0 { rank.barrier() } else { rank.any(true).map(|_| ()) }
    });
    assert!(matches!(results[0], Err(CommError::OutOfStep { .. })), "{results:?}");
    assert_eq!(results[0], results[1]);
}

#[test]
fn an_agreement_that_was_reached_stays_when_a_rank_ends_right_after_it() {
    for _ in 0..200 {
        let results = on_all(Fake::world(&["n"; 8]), |rank| {
            let agreed = rank.max_u64(u64::from(rank.rank()));
            if rank.rank() == 0 {
                assert!(matches!(rank.barrier(), Err(CommError::PeerGone { .. })));
            }
            agreed
        });
        assert_eq!(results, [const { Ok(7) }; 8]);
    }
}

#[test]
fn a_rank_may_end_right_after_the_last_agreement() {
    for _ in 0..200 {
        let results = on_all(Fake::world(&["n"; 3]), |rank| rank.max_u64(u64::from(rank.rank())));
        assert_eq!(results, [Ok(2), Ok(2), Ok(2)]);
    }
}
