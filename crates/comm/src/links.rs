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
    const ALL: [Self; 12] = [
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
    /// The ranks that make the call together.
    pub(crate) group: u64,
    /// Number of earlier calls of the group.
    pub(crate) sequence: u64,
    pub(crate) operation: Operation,
}

impl Call {
    /// The error if `rank` is in another call.
    pub(crate) fn out_of_step(self, rank: u32, theirs: Self) -> CommError {
        let (theirs, ours) = (self.seen_from_here(theirs).name(), self.operation.name());
        CommError::OutOfStep { rank, theirs, ours }
    }

    /// Describes the call `theirs` relative to this call.
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
/// is preserved.
pub(crate) trait Links: Send + Sync {
    /// This rank's number in the world.
    fn rank(&self) -> u32;

    /// Sends bytes to `to`, without waiting until they are received.
    fn send(&self, to: u32, call: Call, bytes: Vec<u8>);

    /// Waits for the next bytes from `from`, which must belong to this call.
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
    /// same group will receive all messages they need.
    pub(crate) fn ends(&self, call: Call) -> bool {
        self.call.is_none_or(|seen| seen.group != call.group || call.sequence >= seen.sequence)
    }
}

/// Messages for one rank that were received and have not been taken yet.
#[derive(Default)]
pub(crate) struct Inbox {
    state: Mutex<State>,
    changed: Condvar,
    listener: Mutex<Listener>,
}

#[derive(Default)]
struct State {
    queues: HashMap<u32, Queue>,
    failure: Option<Failure>,
    /// Rank and call of the awaited message.
    awaited: Option<(u32, Call)>,
}

#[derive(Default)]
struct Queue {
    messages: VecDeque<Message>,
    /// The memory that they use.
    held: usize,
    /// Whether no further messages will arrive.
    ended: bool,
}

impl Queue {
    fn push(&mut self, message: Message) {
        self.held += message.memory();
        self.messages.push_back(message);
    }

    fn pop(&mut self) -> Option<Message> {
        let message = self.messages.pop_front()?;
        self.held -= message.memory();
        Some(message)
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

impl Inbox {
    /// Stores a received message.
    pub(crate) fn deliver(&self, from: u32, message: Message) {
        self.lock().queues.entry(from).or_default().push(message);
        self.changed.notify_all();
    }

    /// The memory used by messages of a rank that have not been taken yet.
    pub(crate) fn held(&self, from: u32) -> usize {
        self.lock().queues.get(&from).map_or(0, |queue| queue.held)
    }

    /// Records that no more messages will arrive from a rank.
    pub(crate) fn end(&self, from: u32) {
        self.lock().queues.entry(from).or_default().ended = true;
        self.changed.notify_all();
    }

    /// Sets the failure unless there is one.
    pub(crate) fn fail(&self, failure: Failure) {
        self.lock().failure.get_or_insert(failure);
        self.changed.notify_all();
    }

    /// The failure, whatever the call.
    pub(crate) fn failed(&self) -> Option<Failure> {
        self.lock().failure.clone()
    }

    /// The failure that ends `call`.
    pub(crate) fn failure(&self, call: Call) -> Option<CommError> {
        self.lock().failure.as_ref().filter(|failure| failure.ends(call)).map(|failure| failure.error.clone())
    }

    /// Takes the next message from `from`, if it has been received. Errors if it belongs to another call
    /// or can no longer arrive.
    pub(crate) fn take(&self, from: u32, call: Call) -> Option<Result<Message, CommError>> {
        Self::next(&mut self.lock(), from, call)
    }

    /// Waits for the next message from `from`. `look` is called at intervals and may report that it will
    /// not arrive.
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
        state.awaited = Some((from, call));
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
            state = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        };
        state.awaited = None;
        received
    }

    /// The call in which this rank waits for a message from `from`, if it does and none is present.
    pub(crate) fn awaits(&self, from: u32) -> Option<Call> {
        let state = self.lock();
        let empty = state.queues.get(&from).is_none_or(|queue| queue.messages.is_empty());
        state.awaited.filter(|(awaited, _)| *awaited == from && empty).map(|(_, call)| call)
    }

    fn next(state: &mut State, from: u32, call: Call) -> Option<Result<Message, CommError>> {
        let queue = state.queues.entry(from).or_default();
        if let Some(message) = queue.pop() {
            if message.call == call {
                return Some(Ok(message));
            }
            return Some(Err(call.out_of_step(from, message.call)));
        }
        let ended = queue.ended;
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
