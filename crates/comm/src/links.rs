//! Point-to-point messages, the basis of all collective operations.

use std::collections::{HashMap, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::{CommError, OnSignal};

/// Kinds of collective operations. A rank that receives a message of a different operation than its own
/// is out of step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Operation {
    Barrier,
    Maximum,
    Vote,
    Gathering,
    Broadcast,
    Merge,
    Stream,
    Comparison,
    Meeting,
    End,
    /// The same operation, but an earlier or later call of it.
    AnotherCall,
    /// An operation of other ranks.
    AnotherGroup,
}

impl Operation {
    pub(crate) const ALL: [Self; 12] = [
        Self::Barrier,
        Self::Maximum,
        Self::Vote,
        Self::Gathering,
        Self::Broadcast,
        Self::Merge,
        Self::Stream,
        Self::Comparison,
        Self::Meeting,
        Self::End,
        Self::AnotherCall,
        Self::AnotherGroup,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Barrier => "a barrier",
            Self::Maximum => "a maximum",
            Self::Vote => "a vote",
            Self::Gathering => "a gathering",
            Self::Broadcast => "a broadcast",
            Self::Merge => "a merge",
            Self::Stream => "a stream",
            Self::Comparison => "a comparison of clocks",
            Self::Meeting => "a meeting",
            Self::End => "the end",
            Self::AnotherCall => "another call of the same kind",
            Self::AnotherGroup => "a call of other ranks",
        }
    }

    pub(crate) fn of_code(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code)).copied()
    }

    /// The operation with this name, as returned by [`Operation::name`].
    pub(crate) fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|operation| operation.name() == name)
    }
}

/// The call a message belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Call {
    /// The strand on which it is made.
    pub(crate) strand: u8,
    /// The ranks that make the call together.
    pub(crate) group: u64,
    /// Number of earlier calls of the group on this strand.
    pub(crate) sequence: u64,
    pub(crate) operation: Operation,
}

impl Call {
    /// The error if `rank` is in another call.
    pub(crate) fn out_of_step(self, rank: u32, theirs: Self) -> CommError {
        let (theirs, ours) = (self.seen_from_here(theirs).name(), self.operation.name());
        CommError::OutOfStep { rank, theirs, ours }
    }

    /// Describes the call `theirs` of the same strand relative to this call.
    fn seen_from_here(self, theirs: Self) -> Operation {
        if theirs.group != self.group {
            Operation::AnotherGroup
        } else if theirs.operation == self.operation {
            Operation::AnotherCall
        } else {
            theirs.operation
        }
    }
}

/// Received bytes.
#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) call: Call,
    pub(crate) bytes: Vec<u8>,
    /// Arrival time according to [`Links::now_ns`].
    pub(crate) at_ns: i64,
}

impl Message {
    /// The memory that it uses while it waits.
    fn memory(&self) -> usize {
        size_of::<Self>() + self.bytes.capacity()
    }
}

/// Messages between this rank and every other one of its world. The order of messages between two ranks
/// on one strand is preserved.
pub(crate) trait Links: Send + Sync {
    /// This rank's number in the world.
    fn rank(&self) -> u32;

    /// Sends bytes to `to`, without waiting until they are received.
    fn send(&self, to: u32, call: Call, bytes: Vec<u8>);

    /// Waits for the next bytes from `from` on the strand of this call, which must belong to this call.
    fn receive(&self, from: u32, call: Call) -> Result<Message, CommError>;

    /// Ends the world on all ranks, unless it has already ended. Returns why it ended.
    fn fail(&self, call: Call, error: CommError) -> CommError;

    /// The failure of the world, if it ends `call`.
    fn failure(&self, call: Call) -> Option<CommError>;

    /// The failure of the world, whatever the call.
    fn failed(&self) -> Option<CommError>;

    /// This rank's monotonic clock in nanoseconds.
    fn now_ns(&self) -> i64;

    /// Sends a value to all ranks.
    fn signal(&self, value: u64);

    /// Sets the handler of signals.
    fn on_signal(&self, handler: OnSignal);
}

/// Why a world has failed, and the call in which this was detected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) call: Option<Call>,
    pub(crate) error: CommError,
}

impl Failure {
    /// Whether it ends `call`. A completed call remains valid: ranks that are still in an earlier call of the
    /// same group and strand will receive all messages they need.
    pub(crate) fn ends(&self, call: Call) -> bool {
        self.call.is_none_or(|seen| {
            (seen.strand, seen.group) != (call.strand, call.group) || call.sequence >= seen.sequence
        })
    }
}

/// Messages for one rank that were received and have not been taken yet.
pub(crate) struct Inbox {
    state: Mutex<State>,
    /// Wakes the thread that waits on a strand, so that no message wakes those of other strands.
    changed: [Condvar; STRANDS],
    listener: Mutex<Listener>,
}

/// Number of strands.
const STRANDS: usize = 1 << u8::BITS;

#[derive(Default)]
struct State {
    peers: HashMap<u32, Peer>,
    failure: Option<Failure>,
    /// Rank and call of each awaited message. There is at most one on each strand, since a rank is in one
    /// call of a strand at a time.
    awaited: Vec<(u32, Call)>,
}

/// What was received from one rank.
#[derive(Default)]
struct Peer {
    /// The messages, by strand.
    queues: Vec<VecDeque<Message>>,
    /// The memory that they use.
    held: usize,
    /// Whether no further messages will arrive.
    ended: bool,
}

impl Peer {
    fn push(&mut self, message: Message) {
        let strand = usize::from(message.call.strand);
        if self.queues.len() <= strand {
            self.queues.resize_with(strand + 1, VecDeque::new);
        }
        self.held += message.memory();
        self.queues[strand].push_back(message);
    }

    fn pop(&mut self, strand: u8) -> Option<Message> {
        let message = self.queues.get_mut(usize::from(strand))?.pop_front()?;
        self.held -= message.memory();
        Some(message)
    }

    fn is_empty(&self, strand: u8) -> bool {
        self.queues.get(usize::from(strand)).is_none_or(VecDeque::is_empty)
    }
}

impl State {
    /// Rank and call of the message awaited on a strand.
    fn awaited_on(&self, strand: u8) -> Option<(u32, Call)> {
        self.awaited.iter().copied().find(|(_, call)| call.strand == strand)
    }
}

#[derive(Default)]
struct Listener {
    handler: Option<OnSignal>,
    /// Signals received before a handler was set.
    early: Vec<u64>,
}

/// Interval at which a waiting rank checks whether the other one waits for it. This is not urgent, because it
/// only happens if ranks make different calls.
const LOOK: Duration = Duration::from_secs(1);

/// Maximum number of signals kept without a handler; later ones are dropped.
const EARLY_SIGNALS: usize = 16;

impl Default for Inbox {
    fn default() -> Self {
        Self {
            state: Mutex::default(),
            changed: [const { Condvar::new() }; STRANDS],
            listener: Mutex::default(),
        }
    }
}

impl Inbox {
    /// Stores a received message.
    pub(crate) fn deliver(&self, from: u32, message: Message) {
        let strand = message.call.strand;
        let mut state = self.lock();
        state.peers.entry(from).or_default().push(message);
        let awaited = state.awaited_on(strand).is_some_and(|(rank, _)| rank == from);
        drop(state);
        if awaited {
            self.wake(strand);
        }
    }

    /// The memory used by messages of a rank that have not been taken yet, on all strands.
    pub(crate) fn held(&self, from: u32) -> usize {
        self.lock().peers.get(&from).map_or(0, |peer| peer.held)
    }

    /// Records that no more messages will arrive from a rank.
    pub(crate) fn end(&self, from: u32) {
        let mut state = self.lock();
        state.peers.entry(from).or_default().ended = true;
        self.wake_all(&state);
    }

    /// Sets the failure unless there is one.
    pub(crate) fn fail(&self, failure: Failure) {
        let mut state = self.lock();
        state.failure.get_or_insert(failure);
        self.wake_all(&state);
    }

    /// Wakes the thread that waits on a strand.
    fn wake(&self, strand: u8) {
        self.changed[usize::from(strand)].notify_one();
    }

    /// Wakes all waiting threads.
    fn wake_all(&self, state: &State) {
        state.awaited.iter().for_each(|(_, call)| self.wake(call.strand));
    }

    /// The failure, whatever the call.
    pub(crate) fn failed(&self) -> Option<Failure> {
        self.lock().failure.clone()
    }

    /// The failure that ends `call`.
    pub(crate) fn failure(&self, call: Call) -> Option<CommError> {
        self.lock().failure.as_ref().filter(|failure| failure.ends(call)).map(|failure| failure.error.clone())
    }

    /// Takes the next message from `from` on the strand of this call, if it has been received. Errors if it
    /// belongs to another call or can no longer arrive.
    pub(crate) fn take(&self, from: u32, call: Call) -> Option<Result<Message, CommError>> {
        Self::next(&mut self.lock(), from, call)
    }

    /// Waits for the next message from `from` on the strand of this call. `look` is called at intervals and
    /// may report that it will not arrive.
    pub(crate) fn receive(
        &self,
        from: u32,
        call: Call,
        patience: Option<Duration>,
        mut look: impl FnMut() -> Option<CommError>,
    ) -> Result<Message, CommError> {
        let start = Instant::now();
        let mut looked = start;
        let mut state = self.lock();
        state.awaited.push((from, call));
        let received = loop {
            // Messages are checked first: a received message is valid regardless of later events.
            if let Some(next) = Self::next(&mut state, from, call) {
                break next;
            }
            if patience.is_some_and(|patience| start.elapsed() >= patience) {
                let (operation, patience) = (call.operation.name(), patience.unwrap_or_default());
                break Err(CommError::TimedOut { missing: vec![from], operation, patience });
            }
            if looked.elapsed() >= LOOK {
                drop(state);
                let found = look();
                looked = Instant::now();
                state = self.lock();
                if let Some(error) = found {
                    break Err(error);
                }
                continue;
            }
            let left = patience.map_or(LOOK, |patience| patience.saturating_sub(start.elapsed()).min(LOOK));
            let changed = &self.changed[usize::from(call.strand)];
            state = changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        };
        state.awaited.retain(|(_, awaited)| awaited.strand != call.strand);
        received
    }

    /// The call of a strand in which this rank waits for a message from `from`, if it does and none is
    /// present.
    pub(crate) fn awaits(&self, from: u32, strand: u8) -> Option<Call> {
        let state = self.lock();
        let empty = state.peers.get(&from).is_none_or(|peer| peer.is_empty(strand));
        state.awaited_on(strand).filter(|(awaited, _)| *awaited == from && empty).map(|(_, call)| call)
    }

    fn next(state: &mut State, from: u32, call: Call) -> Option<Result<Message, CommError>> {
        let peer = state.peers.entry(from).or_default();
        if let Some(message) = peer.pop(call.strand) {
            if message.call == call {
                return Some(Ok(message));
            }
            return Some(Err(call.out_of_step(from, message.call)));
        }
        let ended = peer.ended;
        if let Some(failure) = state.failure.as_ref().filter(|failure| failure.ends(call)) {
            return Some(Err(failure.error.clone()));
        }
        ended.then(|| Err(CommError::PeerGone { rank: from, operation: call.operation.name() }))
    }

    /// Calls the handler with a signal.
    pub(crate) fn signal(&self, value: u64) {
        let mut listener = self.listener.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(handler) = listener.handler.clone() else {
            if listener.early.len() < EARLY_SIGNALS {
                listener.early.push(value);
            }
            return;
        };
        drop(listener);
        handler(value);
    }

    /// Sets the handler and calls it with earlier signals.
    pub(crate) fn on_signal(&self, handler: OnSignal) {
        let mut listener = self.listener.lock().unwrap_or_else(PoisonError::into_inner);
        let early = std::mem::take(&mut listener.early);
        listener.handler = Some(OnSignal::clone(&handler));
        drop(listener);
        early.into_iter().for_each(|value| handler(value));
    }

    /// Locks the state. Code that holds the lock cannot panic between two dependent changes.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
