//! Messages between two ranks, on which all that several ranks do together stands.

use std::collections::{HashMap, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::{CommError, OnSignal};

/// What ranks do together. A rank that hears of another operation than its own is out of step.
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

    /// The operation of this name, which came from [`Operation::name`].
    pub(crate) fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|operation| operation.name() == name)
    }
}

/// Which call a message belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Call {
    /// The ranks that make the call together.
    pub(crate) group: u64,
    /// How many calls they made before.
    pub(crate) sequence: u64,
    pub(crate) operation: Operation,
}

impl Call {
    /// `rank` is in another call, of which this rank has heard.
    pub(crate) fn out_of_step(self, rank: u32, theirs: Self) -> CommError {
        let (theirs, ours) = (self.seen_from_here(theirs).name(), self.operation.name());
        CommError::OutOfStep { rank, theirs, ours }
    }

    /// What `theirs` is, seen from a rank in this call.
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

/// Bytes that came.
#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) call: Call,
    pub(crate) bytes: Vec<u8>,
    /// When they came, by [`Links::now_ns`].
    pub(crate) at_ns: i64,
}

/// Messages between this rank and every other one of its world; those of a pair stay in order.
pub(crate) trait Links: Send + Sync {
    /// This rank's number in the world.
    fn rank(&self) -> u32;

    /// Hands over bytes for `to`; does not wait until they are received.
    fn send(&self, to: u32, call: Call, bytes: Vec<u8>);

    /// Waits for the next bytes from `from`, which must be of this call.
    fn receive(&self, from: u32, call: Call) -> Result<Message, CommError>;

    /// The failure of the world that ends `call`.
    fn failure(&self, call: Call) -> Option<CommError>;

    /// The failure of the world, whatever it ends.
    fn failed(&self) -> Option<CommError>;

    /// This rank's monotonic clock, nanoseconds.
    fn now_ns(&self) -> i64;

    /// Tells all ranks of a value.
    fn signal(&self, value: u64);

    /// Who is told of signals.
    fn on_signal(&self, handler: OnSignal);
}

/// Why a world has failed, and in which call that was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) call: Option<Call>,
    pub(crate) error: CommError,
}

impl Failure {
    /// Whether it ends `call`. An agreement that was reached before stays one: ranks that are still
    /// in an earlier call of the same ranks have all they need on its way to them.
    pub(crate) fn ends(&self, call: Call) -> bool {
        self.call.is_none_or(|seen| seen.group != call.group || call.sequence >= seen.sequence)
    }
}

/// What has come for one rank and was not taken yet.
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
    /// Whose message is waited for, and in which call.
    awaited: Option<(u32, Call)>,
}

#[derive(Default)]
struct Queue {
    messages: VecDeque<Message>,
    /// Nothing will follow.
    ended: bool,
}

#[derive(Default)]
struct Listener {
    handler: Option<OnSignal>,
    /// Signals that came before anyone listened.
    early: Vec<u64>,
}

/// How often a rank that waits looks whether the other one waits for it, which is no hurry: it happens
/// only where ranks make different calls.
const LOOK: Duration = Duration::from_secs(1);

/// Signals that are kept for a rank which does not listen yet; later ones replace nothing.
const EARLY_SIGNALS: usize = 16;

impl Inbox {
    /// Lays down a message.
    pub(crate) fn deliver(&self, from: u32, message: Message) {
        self.lock().queues.entry(from).or_default().messages.push_back(message);
        self.changed.notify_all();
    }

    /// Says that nothing more will come from a rank.
    pub(crate) fn end(&self, from: u32) {
        self.lock().queues.entry(from).or_default().ended = true;
        self.changed.notify_all();
    }

    /// Sets the failure unless there is one.
    pub(crate) fn fail(&self, failure: Failure) {
        self.lock().failure.get_or_insert(failure);
        self.changed.notify_all();
    }

    /// The failure, whatever it ends.
    pub(crate) fn failed(&self) -> Option<Failure> {
        self.lock().failure.clone()
    }

    /// The failure that ends `call`.
    pub(crate) fn failure(&self, call: Call) -> Option<CommError> {
        self.lock().failure.as_ref().filter(|failure| failure.ends(call)).map(|failure| failure.error.clone())
    }

    /// Takes the next message from `from`, if it has come; an error if it is not of this call or
    /// cannot come any more.
    pub(crate) fn take(&self, from: u32, call: Call) -> Option<Result<Message, CommError>> {
        Self::next(&mut self.lock(), from, call)
    }

    /// Waits for the next message from `from`. Now and then `look` may say that it will not come.
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
            // Messages are looked at first: what has come counts, whatever happened after it.
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

    /// The call in which this rank waits for a message of `from`, if it does and there is none.
    pub(crate) fn awaits(&self, from: u32) -> Option<Call> {
        let state = self.lock();
        let empty = state.queues.get(&from).is_none_or(|queue| queue.messages.is_empty());
        state.awaited.filter(|(awaited, _)| *awaited == from && empty).map(|(_, call)| call)
    }

    fn next(state: &mut State, from: u32, call: Call) -> Option<Result<Message, CommError>> {
        let queue = state.queues.entry(from).or_default();
        if let Some(message) = queue.messages.pop_front() {
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

    /// Tells the listener of a signal.
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

    /// Sets the listener and tells it of what came before it.
    pub(crate) fn on_signal(&self, handler: OnSignal) {
        let mut listener = self.listener.lock().unwrap_or_else(PoisonError::into_inner);
        let early = std::mem::take(&mut listener.early);
        listener.handler = Some(OnSignal::clone(&handler));
        drop(listener);
        early.into_iter().for_each(|value| handler(value));
    }

    /// The state; no code that holds it can panic between two changes that belong together.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
