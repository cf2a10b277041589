//! Frames between processes: a header of fixed size and a payload that fits one receive buffer.
//!
//! | bytes | content |
//! |---|---|
//! | 16 | the secret of the launch |
//! | 4, 4 | rank of the sender, rank of the receiver |
//! | 8 | number of earlier frames from this sender to this receiver |
//! | 1, 1, 1, 1 | kind, operation and strand of the call, a zero |
//! | 4 | length of the payload |
//! | 8, 8 | group and sequence of the call |
//!
//! Frames are created without the first three rows; [`seal`] adds them when a frame is sent. A frame that does
//! not begin with the secret is not read any further.

use super::secret::{SECRET_BYTES, Secret};
use crate::CommError;
use crate::links::{Call, Failure, Operation};

pub(super) use plan::limits::FRAME_BYTES;

/// Size of a header.
pub(super) const HEAD_BYTES: usize = 56;

/// Maximum size of a payload. Every part of a message except the last one has this size.
pub(super) const ROOM: usize = FRAME_BYTES - HEAD_BYTES;

/// The kind of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FrameKind {
    /// The first frame from a parent in the tree of all ranks: the receiver learns the secret from its header.
    Welcome,
    /// The sender is alive.
    Heartbeat,
    /// A signal to all ranks.
    Signal(u64),
    /// The world has failed, as seen in this call.
    News(Call),
    /// The sender waits for the receiver in this call, and asks whether it waits for the sender.
    Question(Call),
    /// The answer that the rank waits in a call. The call here is that of the question; the answering
    /// rank's call, which is on the same strand, is in the payload.
    Answer(Call),
    /// A part of a message other than the last one.
    Part(Call),
    /// The last bytes of a message.
    Last(Call),
}

/// A received frame.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Frame<'a> {
    pub(super) from: u32,
    pub(super) to: u32,
    /// Number of earlier frames of this pair of ranks.
    pub(super) number: u64,
    pub(super) kind: FrameKind,
    pub(super) bytes: &'a [u8],
}

/// Why some bytes are not a valid frame.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NoFrame {
    /// They do not begin with the secret.
    Foreign,
    /// They begin with the secret and claim to be from this rank, but have no valid meaning.
    Malformed(u32),
}

/// The secret in the header of a frame, and the frame itself, for a rank that does not know the secret yet.
pub(super) fn welcome_in(bytes: &[u8]) -> Option<(Secret, Frame<'_>)> {
    let secret = Secret::of(*bytes.first_chunk()?);
    let frame = Frame::of(bytes, secret).ok().filter(|frame| frame.kind == FrameKind::Welcome)?;
    Some((secret, frame))
}

impl<'a> Frame<'a> {
    /// Parses a frame at the start of `bytes`.
    ///
    /// # Errors
    /// Errors if it does not begin with `secret`, or has no valid meaning.
    pub(super) fn of(bytes: &'a [u8], secret: Secret) -> Result<Self, NoFrame> {
        let (head, rest) = bytes.split_first_chunk::<HEAD_BYTES>().ok_or(NoFrame::Foreign)?;
        match head.first_chunk() {
            Some(first) if secret.is(*first) => {}
            _ => return Err(NoFrame::Foreign),
        }
        Self::parse(head, rest).ok_or(NoFrame::Malformed(word(head, FROM_AT)))
    }

    fn parse(head: &[u8; HEAD_BYTES], rest: &'a [u8]) -> Option<Self> {
        let bytes = rest.get(..usize::try_from(word(head, LENGTH_AT)).ok()?)?;
        let operation = Operation::of_code(head[KIND_AT + 1])?;
        let call = Call {
            strand: head[KIND_AT + 2],
            group: long(head, GROUP_AT),
            sequence: long(head, GROUP_AT + 8),
            operation,
        };
        let kind = match head[KIND_AT] {
            HEARTBEAT => FrameKind::Heartbeat,
            SIGNAL => FrameKind::Signal(u64::from_le_bytes(*bytes.first_chunk()?)),
            NEWS => FrameKind::News(call),
            QUESTION => FrameKind::Question(call),
            ANSWER => FrameKind::Answer(call),
            PART if bytes.len() == ROOM => FrameKind::Part(call),
            LAST => FrameKind::Last(call),
            WELCOME => FrameKind::Welcome,
            _ => return None,
        };
        let (from, to, number) = (word(head, FROM_AT), word(head, FROM_AT + 4), long(head, FROM_AT + 8));
        Some(Self { from, to, number, kind, bytes })
    }
}

const FROM_AT: usize = SECRET_BYTES;
const KIND_AT: usize = FROM_AT + 16;
const LENGTH_AT: usize = KIND_AT + 4;
const GROUP_AT: usize = LENGTH_AT + 4;

fn word(head: &[u8; HEAD_BYTES], at: usize) -> u32 {
    u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]])
}

fn long(head: &[u8; HEAD_BYTES], at: usize) -> u64 {
    u64::from(word(head, at)) | u64::from(word(head, at + 4)) << 32
}

const HEARTBEAT: u8 = 0;
const SIGNAL: u8 = 1;
const NEWS: u8 = 2;
const PART: u8 = 3;
const LAST: u8 = 4;
const QUESTION: u8 = 5;
const ANSWER: u8 = 6;
const WELCOME: u8 = 7;

/// Placeholder if there is no call.
const NO_CALL: Call = Call { strand: 0, group: 0, sequence: 0, operation: Operation::End };

fn encode(kind: u8, call: Call, bytes: &[u8]) -> Vec<u8> {
    let length = u32::try_from(bytes.len()).expect("a frame is small");
    let mut frame = Vec::with_capacity(HEAD_BYTES + bytes.len());
    frame.resize(KIND_AT, 0);
    frame.extend([kind, call.operation as u8, call.strand, 0]);
    frame.extend(length.to_le_bytes());
    frame.extend(call.group.to_le_bytes());
    frame.extend(call.sequence.to_le_bytes());
    frame.extend(bytes);
    frame
}

/// Completes the header of a frame: the secret, sender and receiver, and its number among their frames.
pub(super) fn seal(frame: &mut [u8], secret: Secret, (from, to): (u32, u32), number: u64) {
    frame[..FROM_AT].copy_from_slice(&secret.bytes());
    frame[FROM_AT..FROM_AT + 4].copy_from_slice(&from.to_le_bytes());
    frame[FROM_AT + 4..FROM_AT + 8].copy_from_slice(&to.to_le_bytes());
    frame[FROM_AT + 8..KIND_AT].copy_from_slice(&number.to_le_bytes());
}

/// Removes the secret from a receive buffer, so that a shorter message received into it does not find the
/// secret of an earlier frame.
pub(super) fn unseal(buffer: &mut [u8]) {
    buffer[..FROM_AT].fill(0);
}

pub(super) fn welcome() -> Vec<u8> {
    encode(WELCOME, NO_CALL, &[])
}

pub(super) fn heartbeat() -> Vec<u8> {
    encode(HEARTBEAT, NO_CALL, &[])
}

pub(super) fn signal(value: u64) -> Vec<u8> {
    encode(SIGNAL, NO_CALL, &value.to_le_bytes())
}

pub(super) fn question(call: Call) -> Vec<u8> {
    encode(QUESTION, call, &[])
}

pub(super) fn answer(theirs: Call, ours: Call) -> Vec<u8> {
    let mut bytes = vec![ours.operation as u8];
    bytes.extend(ours.group.to_le_bytes());
    bytes.extend(ours.sequence.to_le_bytes());
    encode(ANSWER, theirs, &bytes)
}

/// The call in the payload of an answer on this strand.
pub(super) fn call(strand: u8, bytes: &[u8]) -> Option<Call> {
    let (code, rest) = bytes.split_first()?;
    let (group, rest) = rest.split_first_chunk()?;
    Some(Call {
        strand,
        group: u64::from_le_bytes(*group),
        sequence: u64::from_le_bytes(*rest.first_chunk()?),
        operation: Operation::of_code(*code)?,
    })
}

/// Splits a message into frames; at least one.
pub(super) fn of_message(call: Call, bytes: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    let count = bytes.len().div_ceil(ROOM).max(1);
    (0..count).map(move |number| {
        let kind = if number + 1 == count { LAST } else { PART };
        encode(kind, call, &bytes[number * ROOM..bytes.len().min((number + 1) * ROOM)])
    })
}

/// News of a failure, seen in `call`.
pub(super) fn news(call: Option<Call>, error: &CommError) -> Vec<u8> {
    let mut bytes = vec![u8::from(call.is_some())];
    bytes.extend(match error {
        CommError::PeerGone { rank, operation } => fields(0, *rank, &[operation]),
        CommError::TimedOut { missing, operation, .. } => {
            fields(0, missing.first().copied().unwrap_or_default(), &[operation])
        }
        CommError::OutOfStep { rank, theirs, ours } => fields(1, *rank, &[theirs, ours]),
        CommError::Lost { rank, node, what } => fields(2, *rank, &[node, what]),
    });
    encode(NEWS, call.unwrap_or(NO_CALL), &bytes)
}

/// The failure in the payload of news. `call` is the one in the header of the news.
pub(super) fn failure(call: Call, bytes: &[u8]) -> Option<Failure> {
    let (seen, bytes) = bytes.split_first()?;
    let (kind, bytes) = bytes.split_first()?;
    let (rank, texts) = bytes.split_first_chunk::<4>()?;
    let rank = u32::from_le_bytes(*rank);
    let texts = String::from_utf8_lossy(texts);
    let mut texts = texts.split('\0');
    let mut name = || Operation::of_name(texts.next()?).map(Operation::name);
    let error = match kind {
        0 => CommError::PeerGone { rank, operation: name()? },
        1 => CommError::OutOfStep { rank, theirs: name()?, ours: name()? },
        2 => CommError::Lost { rank, node: texts.next()?.to_owned(), what: texts.next()?.to_owned() },
        _ => return None,
    };
    Some(Failure { call: (*seen == 1).then_some(call), error })
}

/// Maximum length of a text in news; MPI's error texts are shorter.
const TEXT_BYTES: usize = 2048;

fn fields(kind: u8, rank: u32, texts: &[&str]) -> Vec<u8> {
    let mut bytes = vec![kind];
    bytes.extend(rank.to_le_bytes());
    for (number, text) in texts.iter().enumerate() {
        if number > 0 {
            bytes.push(0);
        }
        bytes.extend(text.bytes().filter(|&byte| byte != 0).take(TEXT_BYTES));
    }
    bytes
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::{Strategy, any, prop_assert, prop_assert_eq, proptest};

    use super::{
        FRAME_BYTES, Frame, FrameKind, HEAD_BYTES, LENGTH_AT, NoFrame, ROOM, answer, call, failure,
        heartbeat, news, of_message, question, seal, signal, unseal, welcome, welcome_in,
    };
    use crate::CommError;
    use crate::links::{Call, Failure, Operation};
    use crate::mpi::secret::Secret;

    const CALL: Call = Call { strand: 9, group: 7, sequence: u64::MAX, operation: Operation::Vote };
    const SECRET: Secret = Secret::of([7; 16]);

    fn sealed(mut frame: Vec<u8>) -> Vec<u8> {
        seal(&mut frame, SECRET, (3, 4), 5);
        frame
    }

    #[test]
    fn frames_are_read_as_they_were_written() {
        let kind = |frame: Vec<u8>| {
            let frame = sealed(frame);
            let read = Frame::of(&frame, SECRET).expect("a frame");
            assert_eq!((read.from, read.to, read.number), (3, 4, 5));
            read.kind
        };
        assert_eq!(kind(heartbeat()), FrameKind::Heartbeat);
        assert_eq!(kind(signal(5)), FrameKind::Signal(5));
        assert_eq!(kind(welcome()), FrameKind::Welcome);
        let ours = Call { strand: 9, group: 1, sequence: 2, operation: Operation::Merge };
        let answered = sealed(answer(CALL, ours));
        let read = Frame::of(&answered, SECRET).expect("a whole frame");
        assert_eq!((read.kind, call(CALL.strand, read.bytes)), (FrameKind::Answer(CALL), Some(ours)));
        for cut in 0..answered.len() {
            let expected = if cut < HEAD_BYTES { NoFrame::Foreign } else { NoFrame::Malformed(3) };
            assert_eq!(Frame::of(&answered[..cut], SECRET), Err(expected), "{cut}");
        }
    }

    #[test]
    fn nothing_is_read_of_a_frame_without_the_secret() {
        for frame in [sealed(heartbeat()), sealed(vec![0xff; HEAD_BYTES])] {
            for bit in 0..128 {
                let mut other = frame.clone();
                other[bit / 8] ^= 1 << (bit % 8);
                // Malformed or not, all that is known of it is that it is foreign.
                assert_eq!(Frame::of(&other, SECRET), Err(NoFrame::Foreign), "bit {bit}");
            }
        }
        assert_eq!(Frame::of(&sealed(vec![0xff; HEAD_BYTES]), SECRET), Err(NoFrame::Malformed(3)));
    }

    #[test]
    fn a_short_message_into_a_used_buffer_is_no_frame_of_the_launch() {
        let mut buffer = sealed(heartbeat());
        unseal(&mut buffer);
        assert_eq!(Frame::of(&buffer, SECRET), Err(NoFrame::Foreign), "an empty message");
        buffer[..4].fill(7);
        assert_eq!(Frame::of(&buffer, SECRET), Err(NoFrame::Foreign));
    }

    #[test]
    fn a_welcome_tells_the_secret_and_no_other_frame_does() {
        let frame = sealed(welcome());
        let (secret, frame) = welcome_in(&frame).expect("a welcome");
        assert!(secret.is([7; 16]));
        assert_eq!((frame.from, frame.to, frame.number), (3, 4, 5));
        assert!(welcome_in(&sealed(heartbeat())).is_none());
        assert!(welcome_in(&[]).is_none());
    }

    #[test]
    fn a_message_comes_in_frames_that_fit_a_reception() {
        for length in [0, 1, ROOM, ROOM + 1, 300_000] {
            let bytes: Vec<u8> = (0..length).map(|at| at.to_le_bytes()[0]).collect();
            let frames: Vec<_> = of_message(CALL, &bytes).map(sealed).collect();
            assert!(frames.iter().all(|frame| frame.len() <= FRAME_BYTES));
            let read: Vec<_> = frames.iter().map(|frame| Frame::of(frame, SECRET).expect("whole")).collect();
            let (last, others) = read.split_last().expect("at least one");
            assert_eq!(last.kind, FrameKind::Last(CALL));
            assert!(others.iter().all(|frame| frame.kind == FrameKind::Part(CALL)));
            assert_eq!(read.iter().flat_map(|frame| frame.bytes.to_vec()).collect::<Vec<_>>(), bytes);
        }
    }

    #[test]
    fn news_of_a_failure_are_read_as_they_were_written() {
        let errors = [
            (Some(CALL), CommError::PeerGone { rank: 3, operation: "a vote" }),
            (Some(CALL), CommError::OutOfStep { rank: 3, theirs: "a merge", ours: "a vote" }),
            (None, CommError::Lost { rank: 9, node: "n1".to_owned(), what: "it is gone".to_owned() }),
        ];
        for (seen, error) in errors {
            let frame = sealed(news(seen, &error));
            let read = Frame::of(&frame, SECRET).expect("a whole frame");
            let FrameKind::News(head) = read.kind else { panic!("{read:?}") };
            assert_eq!(failure(head, read.bytes), Some(Failure { call: seen, error }));
        }
    }

    fn calls_of(strand: u8) -> impl Strategy<Value = Call> {
        let code = 0..u8::try_from(Operation::ALL.len()).expect("few");
        (any::<u64>(), any::<u64>(), code).prop_map(move |(group, sequence, code)| Call {
            strand,
            group,
            sequence,
            operation: Operation::of_code(code).expect("one of them"),
        })
    }

    proptest! {
        #[test]
        fn the_call_of_a_frame_is_read_as_it_was_written(
            (theirs, ours) in any::<u8>().prop_flat_map(|strand| (calls_of(strand), calls_of(strand))),
            bytes in vec(any::<u8>(), 0..80),
        ) {
            let written = |frame| sealed(frame);
            for frame in of_message(ours, &bytes).map(written) {
                let read = Frame::of(&frame, SECRET).expect("a frame");
                prop_assert_eq!((read.kind, read.bytes), (FrameKind::Last(ours), &bytes[..]));
            }
            let part = sealed(of_message(ours, &[1; ROOM + 1]).next().expect("a part"));
            prop_assert_eq!(Frame::of(&part, SECRET).map(|read| read.kind), Ok(FrameKind::Part(ours)));
            let asked = sealed(question(ours));
            prop_assert_eq!(Frame::of(&asked, SECRET).map(|read| read.kind), Ok(FrameKind::Question(ours)));
            let answered = sealed(answer(theirs, ours));
            let read = Frame::of(&answered, SECRET).expect("a frame");
            prop_assert_eq!((read.kind, call(theirs.strand, read.bytes)), (FrameKind::Answer(theirs), Some(ours)));
            let error = theirs.out_of_step(3, ours);
            let told = sealed(news(Some(theirs), &error));
            let read = Frame::of(&told, SECRET).expect("a frame");
            prop_assert_eq!(read.kind, FrameKind::News(theirs));
            prop_assert_eq!(failure(theirs, read.bytes), Some(Failure { call: Some(theirs), error }));
        }

        #[test]
        fn any_bytes_are_read_without_a_panic_and_only_what_is_there(
            bytes in vec(any::<u8>(), 0..200),
            length in any::<u32>(),
        ) {
            prop_assert_eq!(Frame::of(&bytes, Secret::of([9; 16])), Err(NoFrame::Foreign));
            let _ = (call(0, &bytes), failure(CALL, &bytes), welcome_in(&bytes));
            let mut known = bytes;
            known.resize(known.len().max(HEAD_BYTES), 0);
            known[LENGTH_AT..LENGTH_AT + 4].copy_from_slice(&length.to_le_bytes());
            let known = sealed(known);
            match Frame::of(&known, SECRET) {
                Ok(frame) => prop_assert!(frame.bytes.len() <= known.len() - HEAD_BYTES),
                Err(error) => prop_assert_eq!(error, NoFrame::Malformed(3)),
            }
        }
    }
}
