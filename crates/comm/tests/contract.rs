//! What every way of agreeing must keep, tried on each of them.
#![expect(clippy::unwrap_used, reason = "a failed call is what a test is to report")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use comm::{Comm, CommError, Fake, Solo};
use proptest::collection::vec;
use proptest::prelude::{ProptestConfig, any, proptest};

mod promises;

use promises::{
    agrees, collects, combines, groups, keeps, make_different_calls_on_one_strand, meets, on_strands,
    strands, streams, wait_for_each_other_on_two_strands, waits_on_one_strand,
};

/// A barrier holds all back until the last one comes. `arrived` counts the ranks that came.
fn holds_back(comm: &dyn Comm, arrived: &AtomicU32) {
    for round in 1..=50 {
        arrived.fetch_add(1, Ordering::SeqCst);
        if round % 2 == 0 {
            comm.barrier().unwrap();
        } else {
            comm.meet().unwrap();
        }
        assert!(arrived.load(Ordering::SeqCst) >= round * comm.size(), "a rank passed before all had come");
    }
}

/// Runs `each` on every rank of `world` and gives what they returned, by rank.
fn on_all<T: Send>(world: Vec<Fake>, each: impl Fn(Fake) -> T + Sync) -> Vec<T> {
    std::thread::scope(|scope| {
        let each = &each;
        let threads: Vec<_> = world.into_iter().map(|rank| scope.spawn(move || each(rank))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// What a group of ranks may rely on beside those that are not in it.
fn keeps_as_a_group(comm: &dyn Comm) {
    agrees(comm);
    collects(comm);
    combines(comm);
    streams(comm);
    groups(comm);
    meets(comm);
    strands(comm, 2);
    waits_on_one_strand(comm);
}

#[test]
fn one_process_keeps_the_contract() {
    keeps(&Solo::new("node1"));
}

#[test]
fn threads_keep_the_contract() {
    for size in [1, 2, 7, 64] {
        let arrived = AtomicU32::new(0);
        on_all(Fake::world(&vec!["node1"; size]), |rank| {
            holds_back(&rank, &arrived);
            keeps(&rank);
        });
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn any_number_of_ranks_on_any_nodes_keeps_the_contract(nodes in vec(0..5usize, 1..70)) {
        let names = ["a", "b", "c", "d", "e"];
        let world = Fake::world(&nodes.iter().map(|&node| names[node]).collect::<Vec<_>>());
        on_all(world, |rank| keeps(&rank));
    }

    #[test]
    fn any_ranks_make_a_group(
        nodes in vec(0..3usize, 1..30),
        order in vec(any::<u32>(), 30),
        size in 1..30usize,
    ) {
        let names = ["a", "b", "c"];
        let mut members: Vec<u32> = (0..).take(nodes.len()).collect();
        members.sort_by_key(|&member| order[member as usize]);
        members.truncate(size);
        let world = Fake::world(&nodes.iter().map(|&node| names[node]).collect::<Vec<_>>());
        on_all(world, |rank| {
            if let Some(group) = rank.group(&members) {
                assert_eq!(members[group.rank() as usize], rank.rank());
                keeps_as_a_group(&*group);
            }
            rank.barrier().unwrap();
        });
    }
}

#[test]
fn clocks_of_nodes_are_found_and_a_meeting_is_the_same_moment_by_all_of_them() {
    let behind = |node: i64| (node - 3) * 1_000_000_007;
    let nodes = ["a", "b", "c", "d", "e", "f", "g"];
    let places: Vec<(&str, i64)> = (0..21).map(|rank| (nodes[rank % 7], behind((rank % 7) as i64))).collect();
    let found = on_all(Fake::world_with_clocks(&places), |rank| {
        let clocks = rank.synchronize().unwrap();
        let since = rank.meet().unwrap();
        (clocks, Instant::now().checked_sub(since).unwrap(), since)
    });
    for (node, clock) in (0..).zip(&found[0].0) {
        let truth = behind(node) - behind(0);
        assert!(clock.offset_ns.abs_diff(truth) <= clock.error_ns, "node {node}: {clock:?}, not {truth}");
    }
    assert!(found[1..].iter().all(|(clocks, ..)| clocks.is_empty()));
    // Clocks are apart by seconds; the moment is not.
    let moments = found.iter().map(|(_, moment, _)| *moment);
    let (first, last) = (moments.clone().min().unwrap(), moments.max().unwrap());
    assert!(last - first < Duration::from_millis(500), "{:?}", last - first);
}

#[test]
fn a_stream_holds_few_parts_at_a_time() {
    // Rank 0 takes nothing until it is told to; the others may then have sent only a little.
    const PART_BYTES: usize = 4_000_000;
    let sent = AtomicU32::new(0);
    on_all(Fake::world(&["n"; 8]), |rank| {
        rank.stream(vec![1; PART_BYTES], &mut |from, _| {
            if from == 0 {
                std::thread::sleep(Duration::from_millis(50));
                assert_eq!(sent.load(Ordering::SeqCst), 0, "a rank has sent all before any was taken");
            }
        })
        .unwrap();
        sent.fetch_add(1, Ordering::SeqCst);
    });
}

#[test]
fn a_signal_that_comes_before_anyone_listens_is_kept() {
    let world = Fake::world(&["n"; 2]);
    world[0].signal(3);
    let heard = Arc::new(AtomicU32::new(0));
    let hears = Arc::clone(&heard);
    world[1].on_signal(Arc::new(move |value| hears.store(u32::try_from(value).unwrap(), Ordering::SeqCst)));
    assert_eq!(heard.load(Ordering::SeqCst), 3);
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
        "rank 0 did not reach a barrier within 0.02 s; it is stopped, lost or stuck in a transfer"
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
fn ranks_that_would_wait_for_one_another_are_out_of_step() {
    let results = on_all(Fake::world(&["n"; 4]), |rank| {
        if rank.rank() == 1 { rank.broadcast(Vec::new()).map(|_| ()) } else { rank.barrier() }
    });
    assert!(matches!(results[0], Err(CommError::OutOfStep { .. })), "{results:?}");
    assert!(results.iter().all(|result| result == &results[0]), "{results:?}");
}

#[test]
fn calls_on_several_strands_do_not_disturb_each_other() {
    strands(&Solo::new("n"), 2000);
    for size in [2, 5] {
        on_all(Fake::world(&["a", "a", "b", "b", "c"][..size]), |rank| strands(&rank, 1000));
    }
}

#[test]
fn ranks_that_wait_for_each_other_on_two_strands_are_in_step() {
    on_all(Fake::world(&["n"; 3]), |rank| wait_for_each_other_on_two_strands(&rank));
}

#[test]
fn clocks_are_those_of_all_strands() {
    let places = [("a", 0), ("b", 3_000_000_000), ("b", 3_000_000_000), ("c", -5_000_000_000)];
    on_all(Fake::world_with_clocks(&places), |rank| {
        rank.synchronize().unwrap();
        on_strands(&rank, |strand, number| {
            for round in 0..100 {
                if round % 10 == u64::from(number % 10) {
                    strand.synchronize().unwrap();
                }
                let before = Instant::now();
                let since = strand.meet().unwrap();
                // Clocks are apart by seconds.
                let waited = before.elapsed();
                assert!(since <= waited + Duration::from_millis(500), "{since:?} of {waited:?}");
            }
        });
    });
}

#[test]
fn ranks_that_are_out_of_step_on_one_strand_end_the_calls_on_all() {
    let results = on_all(Fake::world(&["n"; 4]), |rank| make_different_calls_on_one_strand(&rank));
    let first = &results[0][0];
    let CommError::OutOfStep { theirs, ours, .. } = first else { panic!("{first}") };
    let mut calls = [*theirs, *ours];
    calls.sort_unstable();
    assert_eq!(calls, ["a barrier", "a broadcast"]);
    assert!(results.iter().flatten().all(|error| error == first), "{results:?}");
}

#[test]
fn a_rank_that_ends_is_an_error_on_all_strands() {
    let results = on_all(Fake::world(&["n"; 4]), |rank| {
        if rank.rank() == 2 {
            on_strands(&rank, |strand, _| (0..50).for_each(|_| strand.barrier().unwrap()));
            return Vec::new();
        }
        on_strands(&rank, |strand, _| {
            (0..50).for_each(|_| strand.barrier().unwrap());
            strand.barrier().unwrap_err()
        })
    });
    let gone = CommError::PeerGone { rank: 2, operation: "a barrier" };
    for rank in [0, 1, 3] {
        assert_eq!(results[rank], [gone.clone(), gone.clone(), gone.clone()]);
    }
}

#[test]
fn signals_reach_the_handler_of_any_strand() {
    for comm in [&Solo::new("n") as &dyn Comm, &Fake::world(&["n"])[0]] {
        let heard = Arc::new(AtomicU32::new(0));
        let hears = Arc::clone(&heard);
        comm.strand(1).on_signal(Arc::new(move |value| {
            hears.fetch_add(u32::try_from(value).unwrap(), Ordering::SeqCst);
        }));
        comm.strand(2).signal(3);
        comm.group(&[0]).unwrap().signal(5);
        comm.signal(7);
        assert_eq!(heard.load(Ordering::SeqCst), 15);
    }
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
