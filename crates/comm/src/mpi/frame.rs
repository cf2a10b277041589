//! Frames between processes: a header of fixed size and a payload that fits one receive buffer.

use crate::CommError;
use crate::links::{Call, Failure, Operation};

pub(super) use plan::limits::FRAME_BYTES;

const HEAD_BYTES: usize = 32;

/// The kind of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FrameKind {
    /// The sender is alive.
    Heartbeat,
    /// A signal to all ranks.
    Signal(u64),
    /// The world has failed, as seen in this call.
    News(Call),
    /// The sender waits for the receiver in this call, and asks whether it waits for the sender.
    Question(Call),
    /// It does. The call is that of the question; the answering rank's call is in the payload.
    Answer(Call),
    /// Part of a message, not the last.
    Part(Call),
    /// The last bytes of a message.
    Last(Call),
}

/// A received frame.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Frame<'a> {
    pub(super) from: u32,
    pub(super) kind: FrameKind,
    pub(super) bytes: &'a [u8],
}

impl<'a> Frame<'a> {
    /// Parses a frame at the start of `bytes`; `None` if it is not one of ours.
    pub(super) fn of(bytes: &'a [u8]) -> Option<Self> {
        let (head, rest) = bytes.split_first_chunk::<HEAD_BYTES>()?;
        let word = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let long = |at: usize| u64::from(word(at)) | u64::from(word(at + 4)) << 32;
        let bytes = rest.get(..usize::try_from(word(24)).ok()?)?;
        let call = Call { group: long(8), sequence: long(16), operation: Operation::of_code(head[5])? };
        let kind = match head[4] {
            HEARTBEAT => FrameKind::Heartbeat,
            SIGNAL => FrameKind::Signal(u64::from_le_bytes(*bytes.first_chunk()?)),
            NEWS => FrameKind::News(call),
            QUESTION => FrameKind::Question(call),
            ANSWER => FrameKind::Answer(call),
            PART => FrameKind::Part(call),
            LAST => FrameKind::Last(call),
            _ => return None,
        };
        Some(Self { from: word(0), kind, bytes })
    }
}

const HEARTBEAT: u8 = 0;
const SIGNAL: u8 = 1;
const NEWS: u8 = 2;
const PART: u8 = 3;
const LAST: u8 = 4;
const QUESTION: u8 = 5;
const ANSWER: u8 = 6;

/// Placeholder for no call.
const NO_CALL: Call = Call { group: 0, sequence: 0, operation: Operation::End };

fn encode(from: u32, kind: u8, call: Call, bytes: &[u8]) -> Vec<u8> {
    let length = u32::try_from(bytes.len()).expect("a frame is small");
    let mut frame = Vec::with_capacity(HEAD_BYTES + bytes.len());
    frame.extend(from.to_le_bytes());
    frame.extend([kind, call.operation as u8, 0, 0]);
    frame.extend(call.group.to_le_bytes());
    frame.extend(call.sequence.to_le_bytes());
    frame.extend(length.to_le_bytes());
    frame.extend([0; 4]);
    frame.extend(bytes);
    frame
}

pub(super) fn heartbeat(from: u32) -> Vec<u8> {
    encode(from, HEARTBEAT, NO_CALL, &[])
}

pub(super) fn signal(from: u32, value: u64) -> Vec<u8> {
    encode(from, SIGNAL, NO_CALL, &value.to_le_bytes())
}

pub(super) fn question(from: u32, call: Call) -> Vec<u8> {
    encode(from, QUESTION, call, &[])
}

pub(super) fn answer(from: u32, theirs: Call, ours: Call) -> Vec<u8> {
    let mut bytes = vec![ours.operation as u8];
    bytes.extend(ours.group.to_le_bytes());
    bytes.extend(ours.sequence.to_le_bytes());
    encode(from, ANSWER, theirs, &bytes)
}

/// The call in the payload of an answer.
pub(super) fn call(bytes: &[u8]) -> Option<Call> {
    let (code, rest) = bytes.split_first()?;
    let (group, rest) = rest.split_first_chunk()?;
    Some(Call {
        group: u64::from_le_bytes(*group),
        sequence: u64::from_le_bytes(*rest.first_chunk()?),
        operation: Operation::of_code(*code)?,
    })
}

/// Splits a message into frames; at least one.
pub(super) fn of_message(from: u32, call: Call, bytes: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    const ROOM: usize = FRAME_BYTES - HEAD_BYTES;
    let count = bytes.len().div_ceil(ROOM).max(1);
    (0..count).map(move |number| {
        let kind = if number + 1 == count { LAST } else { PART };
        encode(from, kind, call, &bytes[number * ROOM..bytes.len().min((number + 1) * ROOM)])
    })
}

/// News of a failure, seen in `call`.
pub(super) fn news(from: u32, call: Option<Call>, error: &CommError) -> Vec<u8> {
    let mut bytes = vec![u8::from(call.is_some())];
    bytes.extend(match error {
        CommError::PeerGone { rank, operation } => fields(0, *rank, &[operation]),
        CommError::TimedOut { missing, operation, .. } => {
            fields(0, missing.first().copied().unwrap_or_default(), &[operation])
        }
        CommError::OutOfStep { rank, theirs, ours } => fields(1, *rank, &[theirs, ours]),
        CommError::Lost { rank, node, what } => fields(2, *rank, &[node, what]),
    });
    encode(from, NEWS, call.unwrap_or(NO_CALL), &bytes)
}

/// The failure in the payload of news; `call` is that of their header.
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
    use super::{FRAME_BYTES, Frame, FrameKind, answer, call, failure, heartbeat, news, of_message, signal};
    use crate::CommError;
    use crate::links::{Call, Failure, Operation};

    const CALL: Call = Call { group: 7, sequence: u64::MAX, operation: Operation::Vote };

    #[test]
    fn frames_are_read_as_they_were_written() {
        let kind = |frame: &[u8]| Frame::of(frame).map(|frame| (frame.from, frame.kind));
        assert_eq!(kind(&heartbeat(3)), Some((3, FrameKind::Heartbeat)));
        assert_eq!(kind(&signal(4, 5)), Some((4, FrameKind::Signal(5))));
        let ours = Call { group: 1, sequence: 2, operation: Operation::Merge };
        let answered = answer(6, CALL, ours);
        let read = Frame::of(&answered).expect("a whole frame");
        assert_eq!((read.kind, call(read.bytes)), (FrameKind::Answer(CALL), Some(ours)));
        for cut in 0..answered.len() {
            assert_eq!(Frame::of(&answered[..cut]), None);
        }
    }

    #[test]
    fn a_message_comes_in_frames_that_fit_a_reception() {
        for length in [0, 1, FRAME_BYTES - 32, FRAME_BYTES - 31, 300_000] {
            let bytes: Vec<u8> = (0..length).map(|at| at.to_le_bytes()[0]).collect();
            let frames: Vec<_> = of_message(1, CALL, &bytes).collect();
            assert!(frames.iter().all(|frame| frame.len() <= FRAME_BYTES));
            let read: Vec<_> = frames.iter().map(|frame| Frame::of(frame).expect("whole")).collect();
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
            let frame = news(2, seen, &error);
            let read = Frame::of(&frame).expect("a whole frame");
            let FrameKind::News(head) = read.kind else { panic!("{read:?}") };
            assert_eq!(failure(head, read.bytes), Some(Failure { call: seen, error }));
        }
    }
}
