//! The one thread of a process that calls MPI.
//!
//! Other threads pass it messages to send; it puts received ones into the [`Inbox`], from which they are
//! taken. While a message is awaited it polls MPI and yields to other threads in between; after a while, and
//! while nothing is awaited, it sleeps between two polls. It also detects silent neighbours, since MPI itself
//! may wait forever.
//!
//! Rank 0 makes a secret, which goes down the tree of all ranks in the first frame of each. From then on a
//! frame without it is dropped unread. A frame with it that another rank cannot have sent in this place means
//! that MPI or the other rank is broken: that rank is lost, and all are told why.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::thread::yield_now;
use std::time::{Duration, Instant};

use super::calls::{MpiCalls, MpiError, Request, end_now};
use super::frame::{self, FRAME_BYTES, Frame, FrameKind, NoFrame};
use super::queue::{MessageQueue, Order};
use super::secret::Secret;
use crate::links::{Call, Failure, Message};
use crate::tree::TreePosition;
use crate::{CommError, clock};

/// Number of receives posted at MPI: bursts need no copy through MPI's own buffers.
const RECEPTIONS: usize = 8;

/// Maximum number of frames to one rank in flight at MPI.
const SENDS: usize = 16;

/// Number of frames that are received before other work has its turn: ranks that send without an end keep
/// neither heartbeats nor orders from being sent.
const FRAMES_AT_ONCE: usize = 64;

/// Maximum number of signals that wait for one rank. One that takes none of them for so long is about to be
/// lost, and later ones are dropped.
const SIGNALS_WAITING: usize = 256;

/// Time after the last event during which MPI is polled without a sleep, if a message is awaited: ranks that
/// end a phase together arrive within it.
const EAGER: Duration = Duration::from_millis(3);

/// A rank that has waited for some time sleeps for this fraction of it before the next poll: between a
/// thousand ranks a message takes a dozen hops, which together add less than a tenth to the wait.
const AWAITING_PART: u32 = 128;

/// The longest sleep while a message is awaited. It delays other ranks; a poll costs up to a hundred
/// microseconds, so a rank with a long wait uses a hundredth of a processor.
const AWAITING_SLEEP: Duration = Duration::from_millis(10);

/// The longest sleep while nothing is awaited: the maximum delay of signals and heartbeats.
const IDLE_SLEEP: Duration = Duration::from_millis(40);

/// The shortest sleep worth a system call.
const SHORTEST_SLEEP: Duration = Duration::from_micros(50);

/// Interval of heartbeats to neighbours.
const HEARTBEAT: Duration = Duration::from_secs(1);

/// A thread that did not run for this long has not received either: it reports no neighbour as silent.
const ABSENCE: Duration = Duration::from_secs(3);

/// State of the agent thread.
pub(super) struct Agent {
    calls: Box<dyn MpiCalls>,
    queue: Arc<MessageQueue>,
    rank: u32,
    size: u32,
    patience: Duration,
    /// [`plan::limits::MESSAGE_BYTES`] outside tests.
    pub(super) message_bytes_max: usize,
    /// In the order in which MPI completes them.
    receptions: VecDeque<InFlight>,
    /// Known to rank 0 from the start, to the others from their first frame on. Nothing is sent before.
    secret: Option<Secret>,
    /// In the tree in which the secret is handed on.
    place: TreePosition,
    /// Outgoing frames, by rank.
    sends: BTreeMap<u32, Outgoing>,
    /// State of what comes from each rank.
    incoming: BTreeMap<u32, Incoming>,
    /// Time of the last frame from each neighbour.
    heard: BTreeMap<u32, Instant>,
    /// The node of each rank, once known.
    nodes: Vec<String>,
    beats: Option<Instant>,
}

#[derive(Default)]
struct Outgoing {
    /// Submitted to MPI.
    started: VecDeque<InFlight>,
    waiting: VecDeque<Vec<u8>>,
    /// Signals to be sent, which go first.
    signals: BTreeSet<u64>,
    /// Number of the next frame.
    next: u64,
}

/// The frames from one rank.
#[derive(Default)]
struct Incoming {
    /// Number of the next frame.
    next: u64,
    /// The call and the bytes of an incomplete message.
    part: Option<(Call, Vec<u8>)>,
}

/// A buffer that MPI may access until a request is done. It is never moved, and is leaked if the request is
/// dropped before that: there is no way to know when MPI stops using it.
struct InFlight {
    request: Request,
    bytes: ManuallyDrop<Vec<u8>>,
}

impl InFlight {
    fn new(request: Request, bytes: Vec<u8>) -> Self {
        Self { request, bytes: ManuallyDrop::new(bytes) }
    }

    /// The bytes, once the request is done.
    fn take(self) -> Vec<u8> {
        ManuallyDrop::into_inner(self.bytes)
    }
}

impl Agent {
    pub(super) fn new(
        calls: Box<dyn MpiCalls>,
        queue: Arc<MessageQueue>,
        (rank, size): (u32, u32),
        patience: Duration,
        secret: Secret,
    ) -> Self {
        Self {
            secret: (rank == 0).then_some(secret),
            place: TreePosition::of(rank as usize, &vec![0; size as usize]),
            calls,
            queue,
            rank,
            size,
            patience,
            message_bytes_max: plan::limits::MESSAGE_BYTES,
            receptions: VecDeque::new(),
            sends: BTreeMap::new(),
            incoming: BTreeMap::new(),
            heard: BTreeMap::new(),
            nodes: Vec::new(),
            beats: None,
        }
    }

    /// Runs until this rank leaves.
    pub(super) fn run(mut self) {
        for _ in 0..RECEPTIONS {
            self.expect(vec![0; FRAME_BYTES]);
        }
        if self.secret.is_some() {
            self.welcome();
        }
        let mut event = Instant::now();
        let mut looked = event;
        loop {
            let orders = self.queue.take_orders();
            let mut busy = !orders.is_empty();
            for order in orders {
                if let Order::Leave(answer) = order {
                    // The requesting thread may no longer wait for the answer.
                    let _ = answer.send(self.leave());
                    return;
                }
                self.carry_out(order);
            }
            busy |= self.receive();
            busy |= self.send();
            let now = Instant::now();
            self.watch(now, now - looked);
            looked = now;
            if busy {
                event = now;
            } else {
                self.pause(now - event);
            }
        }
    }

    pub(super) fn carry_out(&mut self, order: Order) {
        match order {
            Order::Send { to, frame } => self.queue(to, frame),
            Order::Signal(value) => self.spread(value, None),
            Order::Watch { neighbours, nodes } => {
                let now = Instant::now();
                self.heard = neighbours.into_iter().map(|rank| (rank, now)).collect();
                self.nodes = nodes;
                self.beats = Some(now);
            }
            Order::Rest => {
                self.beats = None;
                self.heard.clear();
            }
            Order::Abort(code) => {
                self.calls.abort(code);
                end_now(code);
            }
            Order::Leave(_) => {}
        }
    }

    /// Pauses after no event for `quiet`.
    fn pause(&self, quiet: Duration) {
        let awaiting = self.queue.is_awaiting();
        if awaiting || self.sends.values().any(|outgoing| !outgoing.started.is_empty()) {
            if quiet < EAGER {
                yield_now();
            } else {
                self.queue.sleep((quiet / AWAITING_PART).clamp(SHORTEST_SLEEP, AWAITING_SLEEP), awaiting);
            }
        } else {
            self.queue.sleep((quiet / 4).clamp(SHORTEST_SLEEP, IDLE_SLEEP), awaiting);
        }
    }

    /// Posts a receive for one more frame.
    fn expect(&mut self, mut bytes: Vec<u8>) {
        match self.calls.receive(&mut bytes) {
            Ok(request) => self.receptions.push_back(InFlight::new(request, bytes)),
            Err(failed) => self.lose(self.rank, format!("its MPI says: {}", failed.0)),
        }
    }

    /// Hands the secret on to the children in the tree of all ranks.
    fn welcome(&mut self) {
        for below in std::mem::take(&mut self.place.below) {
            self.queue(u32::try_from(below).expect("ranks are numbered by a u32"), frame::welcome());
        }
    }

    /// Processes some received frames; returns whether there were any.
    fn receive(&mut self) -> bool {
        let mut some = false;
        for _ in 0..FRAMES_AT_ONCE {
            let Some(reception) = self.receptions.front_mut() else { break };
            match self.calls.done(&mut reception.request) {
                Ok(false) => break,
                Ok(true) => {
                    some = true;
                    if let Some(mut bytes) = self.receptions.pop_front().map(InFlight::take) {
                        self.take(&bytes);
                        frame::unseal(&mut bytes);
                        self.expect(bytes);
                    }
                }
                Err(failed) => {
                    self.receptions.pop_front();
                    self.lose(self.rank, format!("its MPI says: {}", failed.0));
                }
            }
        }
        some
    }

    /// Takes received bytes. Those without the secret are dropped: they are no part of this launch.
    pub(super) fn take(&mut self, bytes: &[u8]) {
        let Some(secret) = self.secret else { return self.learn(bytes) };
        let mistake = match Frame::of(bytes, secret) {
            Err(NoFrame::Foreign) => return,
            Err(NoFrame::Malformed(from)) => Some((from, "it sent a malformed frame".to_owned())),
            Ok(frame) => self.accept(&frame).err().map(|what| (frame.from, what)),
        };
        if let Some((from, what)) = mistake {
            if let Some(incoming) = self.incoming.get_mut(&from) {
                incoming.part = None;
            }
            self.lose(from, what);
        }
    }

    /// Learns the secret from the parent's first frame, and hands it on. Anything else is dropped before that.
    fn learn(&mut self, bytes: &[u8]) {
        let Some((secret, frame)) = frame::welcome_in(bytes) else { return };
        if Some(frame.from as usize) == self.place.above && (frame.to, frame.number) == (self.rank, 0) {
            self.secret = Some(secret);
            self.incoming.entry(frame.from).or_default().next = 1;
            self.welcome();
        }
    }

    /// Acts on a frame of this launch.
    ///
    /// # Errors
    /// Its sender cannot have sent it here and now; the words follow "rank … is lost".
    fn accept(&mut self, frame: &Frame<'_>) -> Result<(), String> {
        let from = frame.from;
        if from >= self.size || from == self.rank || frame.to != self.rank {
            return Err(format!("a frame from it to rank {} came to rank {}", frame.to, self.rank));
        }
        let incoming = self.incoming.entry(from).or_default();
        if frame.number != incoming.next {
            return Err(format!("frame {} came from it where {} was due", frame.number, incoming.next));
        }
        incoming.next += 1;
        if let Some(heard) = self.heard.get_mut(&from) {
            *heard = Instant::now();
        }
        match frame.kind {
            FrameKind::Heartbeat => {}
            FrameKind::Welcome => return Err("it sent the secret of the launch twice".to_owned()),
            FrameKind::Signal(value) => self.spread(value, Some(from)),
            FrameKind::News(call) => match frame::failure(call, frame.bytes) {
                Some(failure) => self.queue.inbox.fail(failure),
                None => return Err("it sent malformed news".to_owned()),
            },
            FrameKind::Question(theirs) => self.answer(from, theirs),
            FrameKind::Answer(ours) => self.compare(from, ours, frame.bytes),
            FrameKind::Part(call) | FrameKind::Last(call) => {
                let last = matches!(frame.kind, FrameKind::Last(_));
                return self.assemble(from, call, frame.bytes, last);
            }
        }
        Ok(())
    }

    /// The other rank waits for this one in `theirs`. Two ranks that wait for each other in different calls
    /// would wait forever, unless a message is on its way: messages sent before arrive before the answer, so the
    /// asking rank can tell. While frames to it wait there is nothing to answer, and it asks again.
    fn answer(&mut self, from: u32, theirs: Call) {
        let idle = self.sends.get(&from).is_none_or(Outgoing::is_empty);
        if let Some(ours) = self.queue.inbox.awaits(from).filter(|_| idle) {
            // Queued after the messages the thread sent before it began to wait.
            self.queue.order(Order::Send { to: from, frame: frame::answer(theirs, ours) });
        }
    }

    /// Ends the world if the rank that this one waits for in `ours` waits for this one in another call.
    fn compare(&mut self, from: u32, ours: Call, answer: &[u8]) {
        if let Some(theirs) = frame::call(answer)
            && theirs != ours
            && self.queue.inbox.awaits(from) == Some(ours)
            && self.queue.inbox.failure(ours).is_none()
        {
            let error = ours.out_of_step(from, theirs);
            self.queue.inbox.fail(Failure { call: Some(ours), error: error.clone() });
            let news = frame::news(Some(ours), &error);
            self.tell_all(&news, from);
            self.queue(from, news);
        }
    }

    /// Adds to a message, and delivers it when it is complete.
    fn assemble(&mut self, from: u32, call: Call, bytes: &[u8], last: bool) -> Result<(), String> {
        let incoming = self.incoming.entry(from).or_default();
        let (begun, mut whole) = incoming.part.take().unwrap_or((call, Vec::new()));
        if begun != call {
            return Err("a message of it ended within another".to_owned());
        }
        if whole.len() + bytes.len() + self.queue.inbox.held(from) > self.message_bytes_max {
            let most = self.message_bytes_max >> 20;
            return Err(format!("it sent more than {most} MiB that nobody has taken"));
        }
        whole.extend(bytes);
        if last {
            let message = Message { call, bytes: whole, at_ns: clock::monotonic_ns() };
            self.queue.inbox.deliver(from, message);
        } else {
            incoming.part = Some((call, whole));
        }
        Ok(())
    }

    fn queue(&mut self, to: u32, frame: Vec<u8>) {
        self.sends.entry(to).or_default().waiting.push_back(frame);
    }

    /// Starts queued sends, and drops completed ones; returns whether there were any.
    pub(super) fn send(&mut self) -> bool {
        let Some(secret) = self.secret else { return false };
        let mut some = false;
        let mut lost = None;
        for (&to, outgoing) in &mut self.sends {
            let sent = outgoing.go_on(&*self.calls, secret, (self.rank, to));
            match sent {
                Ok(progress) => some |= progress,
                Err(failed) => lost = Some((to, failed)),
            }
        }
        if let Some((to, failed)) = lost {
            self.sends.remove(&to);
            self.lose(to, format!("MPI says: {}", failed.0));
        }
        some
    }

    /// Forwards a signal to all neighbours except its sender. The neighbours form a tree, so each rank
    /// receives it once.
    fn spread(&mut self, value: u64, from: Option<u32>) {
        let neighbours: Vec<u32> = self.heard.keys().copied().filter(|&to| Some(to) != from).collect();
        for to in neighbours {
            let signals = &mut self.sends.entry(to).or_default().signals;
            if signals.len() < SIGNALS_WAITING {
                signals.insert(value);
            }
        }
        self.queue.inbox.signal(value);
    }

    /// Sends due heartbeats and checks for silent neighbours. `gap` is the time this thread did not check.
    fn watch(&mut self, now: Instant, gap: Duration) {
        if gap > ABSENCE {
            self.heard.values_mut().for_each(|heard| *heard = now);
        }
        let Some(due) = self.beats.filter(|&due| due <= now) else { return };
        self.beats = Some(due.max(now - HEARTBEAT) + HEARTBEAT);
        let neighbours: Vec<u32> = self.heard.keys().copied().collect();
        for to in neighbours {
            // No further frames for a rank that does not receive.
            if self.sends.get(&to).is_none_or(Outgoing::is_empty) {
                self.queue(to, frame::heartbeat());
            }
            if now - self.heard[&to] > self.patience {
                let silent = self.patience.as_secs_f64();
                self.lose(to, format!("nothing was heard of it for {silent} s"));
            }
        }
    }

    /// Reports a lost rank to all ranks.
    fn lose(&mut self, rank: u32, what: String) {
        if self.queue.inbox.failed().is_some_and(|failure| failure.call.is_none()) {
            return;
        }
        let node = self.nodes.get(rank as usize).cloned().unwrap_or_else(|| "unknown".to_owned());
        let error = CommError::Lost { rank, node, what };
        let news = frame::news(None, &error);
        self.tell_all(&news, rank);
        self.queue.inbox.fail(Failure { call: None, error });
    }

    /// Sends news to all other ranks except one.
    fn tell_all(&mut self, news: &[u8], but: u32) {
        let own = self.rank;
        for to in (0..self.size).filter(|&to| to != own && to != but) {
            self.queue(to, news.to_vec());
        }
    }

    fn is_sending(&self) -> bool {
        self.sends.values().any(|outgoing| !outgoing.is_empty())
    }

    /// Finalizes when all ranks are about to end: no message is on its way to this one.
    fn leave(mut self) -> Result<(), MpiError> {
        while self.is_sending() {
            if !self.send() {
                yield_now();
            }
        }
        // Posted receives are completed by messages to itself, so that nothing has to be cancelled.
        for _ in 0..self.receptions.len() {
            self.queue(self.rank, frame::heartbeat());
        }
        while let Some(reception) = self.receptions.front_mut() {
            if self.calls.done(&mut reception.request)? {
                drop(self.receptions.pop_front().map(InFlight::take));
            }
            self.send();
        }
        while self.is_sending() {
            self.send();
        }
        self.calls.finalize()
    }
}

impl Outgoing {
    fn is_empty(&self) -> bool {
        self.started.is_empty() && self.waiting.is_empty() && self.signals.is_empty()
    }

    fn go_on(
        &mut self,
        calls: &dyn MpiCalls,
        secret: Secret,
        (from, to): (u32, u32),
    ) -> Result<bool, MpiError> {
        let mut some = false;
        while let Some(started) = self.started.front_mut() {
            if !calls.done(&mut started.request)? {
                break;
            }
            drop(self.started.pop_front().map(InFlight::take));
            some = true;
        }
        while self.started.len() < SENDS
            && let Some(mut frame) = self.take_next()
        {
            frame::seal(&mut frame, secret, (from, to), self.next);
            self.next += 1;
            self.started.push_back(InFlight::new(calls.send(&frame, to)?, frame));
            some = true;
        }
        Ok(some)
    }

    /// The next frame to be sent.
    fn take_next(&mut self) -> Option<Vec<u8>> {
        self.signals.pop_first().map(frame::signal).or_else(|| self.waiting.pop_front())
    }
}
