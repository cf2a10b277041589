//! Tests with ranks that send invalid messages within the calls that they should make.

use proptest::collection::vec;
use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};

use super::{decode_clock, integer, number, split};
use crate::links::{Call, Links, Operation};
use crate::tree::WORLD;
use crate::{Comm, CommError, Fake};

/// The result of a call on rank 0 of two ranks, if rank 1 sends it `messages` instead of those of the call.
fn seen<T: Send>(
    operation: Operation,
    messages: &[&[u8]],
    call: impl Fn(&Fake) -> Result<T, CommError> + Sync,
) -> Result<T, CommError> {
    let world = Fake::world(&["n0", "n1"]);
    let (rank, hostile) = (&world[0], world[1].links());
    for bytes in messages {
        hostile.send(0, Call { strand: 0, group: WORLD, sequence: 0, operation }, bytes.to_vec());
    }
    call(rank)
}

fn lost(result: Result<impl Sized, CommError>) -> (u32, String) {
    match result {
        Err(CommError::Lost { rank, node, what }) => {
            assert_eq!(node, "n1");
            (rank, what)
        }
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("no error"),
    }
}

#[test]
fn a_gathering_with_wrong_lengths_names_the_rank() {
    let absurd = u64::MAX.to_le_bytes();
    let one = |length: u64, bytes: &[u8]| [&length.to_le_bytes(), bytes].concat();
    let two = [one(1, b"a"), one(1, b"b")].concat();
    for bytes in [&absurd[..], &one(5, b"abc"), &one(2, b"abc"), &two, b"", b"abc"] {
        let (rank, what) = lost(seen(Operation::Gathering, &[bytes], |rank| rank.gather(vec![9])));
        assert_eq!(
            (rank, what.as_str()),
            (1, "the data it sent for gathering does not have the declared length")
        );
    }
    let whole =
        seen(Operation::Gathering, &[&one(3, b"abc")], |rank| rank.gather(vec![9])).expect("well made");
    assert_eq!(whole, Some(vec![vec![9], b"abc".to_vec()]));
}

#[test]
fn a_stream_with_too_many_or_too_few_pieces_names_the_rank_and_ends_the_world() {
    for (pieces, says) in [
        (&[&[1, 9][..], &[1]][..], "continues after"),
        (&[&[0, 9], &[]], "ended before"),
        (&[&[]], "ended before"),
    ] {
        let mut taken = Vec::new();
        let world = Fake::world(&["n0", "n1"]);
        let call = Call { strand: 0, group: WORLD, sequence: 0, operation: Operation::Stream };
        pieces.iter().for_each(|piece| world[1].links().send(0, call, piece.to_vec()));
        let (rank, what) = lost(world[0].stream(vec![5], &mut |rank, bytes| taken.push((rank, bytes))));
        assert!(rank == 1 && what.contains(says), "{what}");
        assert!(taken.iter().all(|(rank, _)| *rank < 2), "{taken:?}");
        assert!(matches!(world[1].barrier(), Err(CommError::Lost { rank: 1, .. })), "the other rank is told");
    }
}

#[test]
fn numbers_and_clocks_of_any_length_are_read() {
    for bytes in [&b""[..], b"abc", &[0xff; 16], &[0x80; 40]] {
        let largest = seen(Operation::Maximum, &[bytes], |rank| rank.max_u64(7)).expect("a number");
        assert!(largest >= 7);
        let voted = seen(Operation::Vote, &[bytes], |rank| rank.any(true));
        assert!(voted.expect("a vote"), "one's own counts whatever others send");
        let met = seen(Operation::Meeting, &[bytes], Comm::meet);
        assert!(met.is_ok());
    }
    // Each answer claims to have been received and sent at the extremes of time.
    let ends: Vec<u8> = [i64::MIN.to_le_bytes(), i64::MAX.to_le_bytes()].concat();
    let world = Fake::world(&["n0", "n1"]);
    std::thread::scope(|scope| {
        let asks = scope.spawn(|| world[0].synchronize());
        let hostile = world[1].links();
        let group = super::number_of(WORLD, &[0, 1]);
        let call = Call { strand: 0, group, sequence: 0, operation: Operation::Comparison };
        for _ in 0..super::COMPARISONS {
            hostile.receive(0, call).expect("asked");
            hostile.send(0, call, ends.clone());
        }
        hostile.send(0, call, vec![0xff; 33]);
        let (rank, what) = lost(asks.join().expect("no panic"));
        assert_eq!((rank, what.as_str()), (1, "its clock reading is malformed"));
    });
}

proptest! {
    #[test]
    fn any_bytes_are_split_numbered_and_read_without_a_panic(bytes in vec(any::<u8>(), 0..200), ranks in 1..9_usize) {
        match split(&bytes, ranks) {
            Ok(parts) => {
                prop_assert_eq!(parts.len(), ranks);
                prop_assert_eq!(parts.concat().len() + 8 * ranks, bytes.len());
            }
            Err(rank) => prop_assert!((rank as usize) < ranks),
        }
        let _ = (number(&bytes), integer(&bytes, 3), integer(&bytes, usize::MAX), decode_clock(&bytes));
    }
}
