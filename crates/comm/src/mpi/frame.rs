//! The bytes that go from one process to another: a head of a fixed size and at most so many bytes that
//! one reception holds them.

use crate::CommError;
use crate::links::{Call, Failure, Operation};

/// The largest frame: a piece of a stream fits, and eight of them cost a process half a megabyte.
pub(super) const FRAME_BYTES: usize = 64 * 1024;

const HEAD_BYTES: usize = 32;

/// What a frame is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// The sender is there.
    Heartbeat,
    /// A signal to all ranks.
    Signal(u64),
    /// The world has failed, seen in this call.
    News(Call),
    /// Bytes of a message of which more is to come.
    Part(Call),
    /// The last bytes of a message.
    Last(Call),
}

/// A frame that came.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Frame<'a> {
    pub(super) from: u32,
    pub(super) kind: Kind,
    pub(super) bytes: &'a [u8],
}

impl<'a> Frame<'a> {
    /// Reads a frame at the start of `bytes`; `None` if it is none of ours.
    pub(super) fn of(bytes: &'a [u8]) -> Option<Self> {
        let (head, rest) = bytes.split_first_chunk::<HEAD_BYTES>()?;
        let word = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let long = |at: usize| u64::from(word(at)) | u64::from(word(at + 4)) << 32;
        let bytes = rest.get(..usize::try_from(word(24)).ok()?)?;
        let call = Call { group: long(8), sequence: long(16), operation: Operation::of_code(head[5])? };
        let kind = match head[4] {
            HEARTBEAT => Kind::Heartbeat,
            SIGNAL => Kind::Signal(u64::from_le_bytes(*bytes.first_chunk()?)),
            NEWS => Kind::News(call),
            PART => Kind::Part(call),
            LAST => Kind::Last(call),
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

/// Nothing of a call.
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

/// A message in frames; at least one.
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

/// The failure that news tell of; `call` is that of their head.
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

/// Bytes of a text in news; what MPI says of an error is shorter.
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
