//! Tests what other ranks and unknown senders may send to a rank. MPI is not used: the bytes are passed
//! to the thread that would call it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, any, prop_assert, prop_assert_eq, prop_oneof, proptest};
use proptest::sample::Index;

use super::agent::Agent;
use super::calls::{MpiCalls, MpiError, Request};
use super::frame::{self, Frame, FrameKind, HEAD_BYTES, ROOM};
use super::queue::MessageQueue;
use super::secret::Secret;
use super::{place_in, places};
use crate::CommError;
use crate::links::{Call, Failure, Operation};

const SIZE: u32 = 8;
/// The rank under test: its parent is rank 0, its child rank 3.
const OWN: u32 = 2;
const SECRET: Secret = Secret::of([7; 16]);
const CALL: Call = Call { strand: 0, group: 0, sequence: 0, operation: Operation::Barrier };

type Sent = Arc<Mutex<Vec<(u32, Vec<u8>)>>>;

/// An MPI that records what is sent, and delivers nothing. If `stuck` is set, its sends never complete.
struct SendOnlyMpi {
    sent: Sent,
    stuck: Arc<AtomicBool>,
}

impl MpiCalls for SendOnlyMpi {
    fn init(&self) -> Result<(), MpiError> {
        Ok(())
    }

    fn finalize(&self) -> Result<(), MpiError> {
        Ok(())
    }

    fn rank(&self) -> Result<u32, MpiError> {
        Ok(OWN)
    }

    fn size(&self) -> Result<u32, MpiError> {
        Ok(SIZE)
    }

    fn send(&self, bytes: &[u8], to: u32) -> Result<Request, MpiError> {
        self.sent.lock().expect("no panic").push((to, bytes.to_vec()));
        Ok(Request::default())
    }

    fn receive(&self, _bytes: &mut [u8]) -> Result<Request, MpiError> {
        Ok(Request::default())
    }

    fn done(&self, _request: &mut Request) -> Result<bool, MpiError> {
        Ok(!self.stuck.load(Ordering::Relaxed))
    }

    fn abort(&self, _code: i32) {}
}

/// A rank that has learned the secret, and what it has sent.
struct Tested {
    agent: Agent,
    queue: Arc<MessageQueue>,
    sent: Sent,
    stuck: Arc<AtomicBool>,
    /// Number of the next frame of each rank.
    next: [u64; SIZE as usize],
}

impl Tested {
    fn new() -> Self {
        let mut tested = Self::stranger();
        tested.give(0, frame::welcome());
        tested
    }

    /// Creates a rank that has not learned the secret yet.
    fn stranger() -> Self {
        let (queue, sent, stuck) = (MessageQueue::new(), Sent::default(), Arc::<AtomicBool>::default());
        let calls = Box::new(SendOnlyMpi { sent: Arc::clone(&sent), stuck: Arc::clone(&stuck) });
        let patience = Duration::from_secs(15);
        let agent = Agent::new(calls, Arc::clone(&queue), (OWN, SIZE), patience, Secret::of([0; 16]));
        Self { agent, queue, sent, stuck, next: [0; SIZE as usize] }
    }

    /// The next frame from `from`, sealed by that sender.
    fn sealed(&mut self, from: u32, mut frame: Vec<u8>) -> Vec<u8> {
        let number = &mut self.next[from as usize];
        frame::seal(&mut frame, SECRET, (from, OWN), *number);
        *number += 1;
        frame
    }

    fn give(&mut self, from: u32, frame: Vec<u8>) {
        let frame = self.sealed(from, frame);
        self.agent.take(&frame);
    }

    /// The rank that is lost, and the reason given.
    fn lost(&self) -> Option<(u32, String)> {
        match self.queue.inbox.failed()?.error {
            CommError::Lost { rank, what, .. } => Some((rank, what)),
            error => panic!("{error}"),
        }
    }

    fn expect_lost(&self, rank: u32, says: &str) {
        let (lost, what) = self.lost().unwrap_or_else(|| panic!("nobody is lost: {says}"));
        assert!(lost == rank && what.contains(says), "rank {lost} {what}");
    }

    fn taken(&self, from: u32) -> Option<Vec<u8>> {
        self.queue.inbox.take(from, CALL).and_then(Result::ok).map(|message| message.bytes)
    }
}

fn message(bytes: &[u8]) -> Vec<Vec<u8>> {
    frame::of_message(CALL, bytes).collect()
}

/// The only frame of a short message.
fn short(bytes: &[u8]) -> Vec<u8> {
    message(bytes).remove(0)
}

#[test]
fn nothing_is_read_or_sent_before_the_secret_and_it_comes_from_the_parent() {
    let mut tested = Tested::stranger();
    let secret = |from: u32, to: u32, number: u64, mut frame: Vec<u8>| {
        frame::seal(&mut frame, SECRET, (from, to), number);
        frame
    };
    for foreign in [
        secret(1, OWN, 0, frame::welcome()),
        secret(0, 3, 0, frame::welcome()),
        secret(0, OWN, 1, frame::welcome()),
        secret(0, OWN, 0, short(b"a")),
        Vec::new(),
        vec![7; 16],
    ] {
        tested.agent.take(&foreign);
        assert!(!tested.agent.send() && tested.sent.lock().expect("no panic").is_empty());
        assert!(tested.queue.inbox.failed().is_none() && tested.taken(0).is_none());
    }
    tested.give(0, frame::welcome());
    assert!(tested.agent.send());
    let sent = tested.sent.lock().expect("no panic").clone();
    let [(to, frame)] = sent.as_slice() else { panic!("{sent:?}") };
    let frame = Frame::of(frame, SECRET).expect("a frame");
    assert_eq!((*to, frame.from, frame.to, frame.number, frame.kind), (3, OWN, 3, 0, FrameKind::Welcome));
    tested.give(0, short(b"a"));
    assert_eq!(tested.taken(0).as_deref(), Some(&b"a"[..]));
}

#[test]
fn a_frame_of_another_launch_changes_nothing() {
    let mut tested = Tested::new();
    let mut old = short(b"old");
    frame::seal(&mut old, Secret::of([6; 16]), (1, OWN), 0);
    tested.agent.take(&old);
    assert!(tested.lost().is_none() && tested.taken(1).is_none());
    tested.give(1, short(b"new"));
    assert_eq!(tested.taken(1).as_deref(), Some(&b"new"[..]));
}

#[test]
fn a_frame_that_comes_twice_late_or_not_at_all_loses_its_sender() {
    for order in [[0, 0].as_slice(), &[1], &[0, 2], &[1, 0]] {
        let mut tested = Tested::new();
        let frames: Vec<Vec<u8>> = (0..3).map(|_| tested.sealed(1, short(b"a"))).collect();
        order.iter().for_each(|&number: &usize| tested.agent.take(&frames[number]));
        tested.expect_lost(1, "arrived from it when");
    }
}

#[test]
fn a_frame_of_a_wrong_rank_loses_that_rank() {
    let wrong = |from: u32, to: u32| {
        let mut tested = Tested::new();
        let mut frame = short(b"a");
        frame::seal(&mut frame, SECRET, (from, to), 0);
        tested.agent.take(&frame);
        tested.expect_lost(from, "arrived at rank 2");
    };
    wrong(1, 3);
    wrong(OWN, OWN);
    wrong(SIZE, OWN);
    wrong(u32::MAX, OWN);
}

#[test]
fn frames_without_a_meaning_lose_their_sender() {
    let mut kind = short(b"a");
    kind[32] = 99;
    let mut operation = short(b"a");
    operation[33] = 99;
    let mut length = short(b"a");
    length[36..40].fill(0xff);
    let mut part = message(&vec![1; ROOM + 1]).remove(0);
    part.truncate(100);
    part[36..40].copy_from_slice(&44_u32.to_le_bytes());
    let mut news = short(b"a");
    news[32] = 2;
    for (number, frame) in [kind, operation, length, part, news, frame::welcome()].into_iter().enumerate() {
        let mut tested = Tested::new();
        tested.give(1, frame);
        assert_eq!(tested.lost().map(|(rank, _)| rank), Some(1), "{number}");
        assert!(tested.taken(1).is_none());
    }
}

#[test]
fn a_message_within_another_and_one_of_another_group_are_seen() {
    let mut tested = Tested::new();
    let whole = vec![1; ROOM + 1];
    tested.give(1, message(&whole).remove(0));
    let other = Call { sequence: 1, ..CALL };
    tested.give(1, frame::of_message(other, b"a").next().expect("one"));
    tested.expect_lost(1, "ended within another");

    let mut tested = Tested::new();
    let foreign = Call { group: 99, ..CALL };
    tested.give(1, frame::of_message(foreign, b"a").next().expect("one"));
    let error = tested.queue.inbox.take(1, CALL).expect("it came").expect_err("of another group");
    assert!(matches!(error, CommError::OutOfStep { rank: 1, .. }), "{error}");
}

#[test]
fn parts_of_messages_on_several_strands_come_in_turns() {
    let mut tested = Tested::new();
    let of = |strand: u8| {
        let call = Call { strand, ..CALL };
        (call, vec![strand; 2 * ROOM + 1])
    };
    let all = [0, 1, 255].map(of);
    let frames: Vec<Vec<_>> =
        all.iter().map(|(call, bytes)| frame::of_message(*call, bytes).collect()).collect();
    for number in 0..3 {
        frames.iter().for_each(|message| tested.give(1, message[number].clone()));
    }
    assert!(tested.lost().is_none());
    for (call, bytes) in all {
        let message = tested.queue.inbox.take(1, call).expect("it came").expect("of this call");
        assert!(message.call == call && message.bytes == bytes);
    }
    assert_eq!(tested.queue.inbox.held(1), 0);
}

#[test]
fn a_question_is_answered_from_its_strand() {
    let mut tested = Tested::new();
    while tested.agent.send() {}
    let queue = Arc::clone(&tested.queue);
    let call = |strand: u8, operation| Call { strand, operation, ..CALL };
    std::thread::scope(|scope| {
        for (strand, operation) in [(1, Operation::Vote), (2, Operation::Merge)] {
            let inbox = &queue.inbox;
            scope.spawn(move || drop(inbox.receive(0, call(strand, operation), None, || None)));
            while inbox.awaits(0, strand).is_none() {
                std::thread::yield_now();
            }
        }
        // Nobody waits on strand 3, and strand 2 waits in the same call.
        (1..4).for_each(|strand| tested.give(0, frame::question(call(strand, Operation::Merge))));
        tested.queue.take_orders().into_iter().for_each(|order| tested.agent.carry_out(order));
        while tested.agent.send() {}
        let error = CommError::PeerGone { rank: 0, operation: "a vote" };
        queue.inbox.fail(Failure { call: None, error });
    });
    let sent = tested.sent.lock().expect("no panic");
    let answers = sent.iter().filter_map(|(to, bytes)| {
        let frame = Frame::of(bytes, SECRET).expect("a frame");
        match frame.kind {
            FrameKind::Answer(asked) if *to == 0 => Some((asked, frame::call(asked.strand, frame.bytes))),
            _ => None,
        }
    });
    let expected = [(1, Operation::Vote), (2, Operation::Merge)]
        .map(|(strand, ours)| (call(strand, Operation::Merge), Some(call(strand, ours))));
    assert_eq!(answers.collect::<Vec<_>>(), expected);
}

#[test]
fn a_rank_that_sends_without_end_is_lost_at_the_limit() {
    // Parts of one message: as many as fit, and one more.
    const LIMIT: usize = 4 << 20;
    let mut tested = Tested::new();
    tested.agent.message_bytes_max = LIMIT;
    let part = message(&vec![1; ROOM + 1]).remove(0);
    for _ in 0..LIMIT / ROOM {
        tested.give(1, part.clone());
    }
    assert!(tested.lost().is_none());
    tested.give(1, part.clone());
    tested.expect_lost(1, "more than 4 MiB");
    // The same on several strands, of which each is below the limit.
    let mut tested = Tested::new();
    tested.agent.message_bytes_max = LIMIT;
    for number in 0..=LIMIT / ROOM {
        assert!(tested.lost().is_none());
        let call = Call { strand: u8::try_from(number % 3).expect("small"), ..CALL };
        tested.give(1, frame::of_message(call, &vec![1; ROOM + 1]).next().expect("a part"));
    }
    tested.expect_lost(1, "more than 4 MiB");
    // Complete messages that nobody takes, including empty ones.
    let mut tested = Tested::new();
    tested.agent.message_bytes_max = LIMIT;
    tested.give(1, short(b""));
    let empty = tested.queue.inbox.held(1);
    assert!(empty > 0);
    for _ in 0..LIMIT / empty + 1 {
        tested.give(1, short(b""));
    }
    tested.expect_lost(1, "that no call has taken");
}

#[test]
fn questions_of_a_rank_that_takes_no_answer_do_not_pile_up() {
    let mut tested = Tested::new();
    while tested.agent.send() {}
    tested.stuck.store(true, Ordering::Relaxed);
    let queue = Arc::clone(&tested.queue);
    let other = Call { operation: Operation::Vote, ..CALL };
    std::thread::scope(|scope| {
        scope.spawn(|| drop(queue.inbox.receive(0, other, None, || None)));
        while tested.queue.inbox.awaits(0, 0).is_none() {
            std::thread::yield_now();
        }
        let mut answers = 0;
        for _ in 0..1000 {
            // As many as are received before orders are processed.
            (0..64).for_each(|_| tested.give(0, frame::question(CALL)));
            for order in tested.queue.take_orders() {
                tested.agent.carry_out(order);
                answers += 1;
            }
            tested.agent.send();
        }
        let error = CommError::PeerGone { rank: 0, operation: "a vote" };
        queue.inbox.fail(Failure { call: None, error });
        assert!((1..=64).contains(&answers), "{answers} for 64,000");
    });
}

#[test]
fn signals_of_a_flood_do_not_pile_up() {
    let mut tested = Tested::new();
    let nodes = vec!["n".to_owned(); SIZE as usize];
    tested.agent.carry_out(super::queue::Order::Watch { neighbours: vec![0, 3], nodes });
    for value in 0..100_000 {
        tested.give(0, frame::signal(value));
    }
    assert!(tested.lost().is_none());
    while tested.agent.send() {}
    let sent = tested.sent.lock().expect("no panic");
    assert!(sent.len() < 1000, "{} frames for 100,000", sent.len());
}

#[test]
fn what_ranks_tell_when_they_join_is_counted() {
    let told = |count: usize| "n1\0Open MPI\0".repeat(count).into_bytes();
    let (nodes, versions) = places(&told(3), 3).expect("three");
    assert_eq!((nodes.len(), versions[2].as_str()), (3, "Open MPI"));
    assert_eq!((places(&told(3), 2), places(&told(3), 4), places(&told(3), u32::MAX)), (None, None, None));
    assert_eq!((places(b"n1\0v\0n2\0v", 2), places(b"\xff\0v\0", 1), places(b"", 1)), (None, None, None));
    assert_eq!(place_in(b"n1\0v\0n2\0v\0"), None, "of two ranks");
    assert_eq!(place_in(b"n1\0v\0"), Some(("n1".to_owned(), "v".to_owned())));
}

/// Bytes of a frame, the first of which are printed if a test fails.
#[derive(Clone)]
struct Bytes(Vec<u8>);

impl std::fmt::Debug for Bytes {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{:?} of {}", &self.0[..self.0.len().min(80)], self.0.len())
    }
}

/// A frame that some rank may send, whether or not it is valid.
fn frames() -> impl Strategy<Value = Bytes> {
    let call = (0..3_u8, 0..2_u64, 0..3_u64, 0..12_u8).prop_map(|(strand, group, sequence, code)| Call {
        strand,
        group,
        sequence,
        operation: Operation::of_code(code).expect("there are twelve"),
    });
    let made = (call, vec(any::<u8>(), 0..80), 0..7_u8).prop_map(|(call, bytes, kind)| match kind {
        0 => frame::heartbeat(),
        1 => frame::signal(bytes.len() as u64),
        2 => frame::question(call),
        3 => frame::answer(call, CALL),
        4 => frame::news(Some(call), &CommError::PeerGone { rank: 1, operation: "a vote" }),
        5 => frame::of_message(call, &vec![1; ROOM + 1]).next().expect("a part"),
        _ => frame::of_message(call, &bytes).next().expect("one"),
    });
    let broken = (made.clone(), any::<Index>(), any::<u8>(), any::<bool>());
    let broken = broken.prop_map(|(mut frame, at, byte, cut)| {
        let at = at.index(frame.len());
        if cut {
            frame.truncate(at.max(HEAD_BYTES))
        } else {
            frame[at] = byte
        }
        frame
    });
    prop_oneof![
        6 => made,
        1 => broken,
        1 => vec(any::<u8>(), HEAD_BYTES..200),
        1 => Just(frame::welcome()),
    ]
    .prop_map(Bytes)
}

proptest! {
    #[test]
    fn whatever_ranks_send_costs_no_more_than_it_has_and_no_more_is_sent_than_an_answer_to_it(
        all in vec((0..SIZE + 2, 0..20 * SIZE, 0..40_u64, frames()), 1..60)
    ) {
        let mut tested = Tested::new();
        while tested.agent.send() {}
        let (mut came, mut next) = (0, [0; SIZE as usize + 2]);
        next[0] = 1;
        for (from, to, skipped, Bytes(mut frame)) in all.iter().cloned() {
            // Most frames have the right receiver and the expected number.
            let to = if to < SIZE { to } else { OWN };
            let number = &mut next[from as usize];
            *number += u64::from(skipped == 0);
            frame::seal(&mut frame, SECRET, (from, to), *number);
            *number += 1;
            came += frame.len();
            tested.agent.take(&frame);
            let held: usize = (0..SIZE + 2).map(|rank| tested.queue.inbox.held(rank)).sum();
            prop_assert!(held <= 2 * came + 100 * all.len(), "{} of {}", held, came);
        }
        while tested.agent.send() {}
        let sent = tested.sent.lock().expect("no panic").len();
        prop_assert!(sent <= 1 + 2 * SIZE as usize + all.len() * SIZE as usize, "{}", sent);
    }

    #[test]
    fn bytes_without_the_secret_change_nothing(all in vec(vec(any::<u8>(), 0..300), 1..20)) {
        let mut tested = Tested::new();
        while tested.agent.send() {}
        let sent = tested.sent.lock().expect("no panic").len();
        for bytes in all {
            tested.agent.take(&bytes);
        }
        prop_assert!(!tested.agent.send() && tested.queue.inbox.failed().is_none());
        prop_assert_eq!(tested.sent.lock().expect("no panic").len(), sent);
    }
}
