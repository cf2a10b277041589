//! The only thread of a process that calls MPI.
//!
//! Other threads pass it messages to send. It puts received messages into the [`Inbox`], from which they are
//! taken. While a message is awaited, it polls MPI and yields to other threads in between; after a while, and
//! while nothing is awaited, it sleeps between two polls. It also detects silent neighbours, because MPI
//! itself may wait forever.
//!
//! Rank 0 generates a secret, which is passed down the tree of all ranks in the first frame to each of them.
//! From then on, a frame without the secret is dropped unread. If a frame has the secret but cannot have been
//! sent at this point, MPI or the sending rank is broken: that rank is then lost, and all ranks are told why.

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

/// Number of receives posted to MPI, so that bursts need not be copied through MPI's own buffers.
const RECEPTIONS: usize = 8;

/// Maximum number of frames to one rank in flight at MPI.
const SENDS: usize = 16;

/// Number of frames received before other work is done, so that ranks which send continuously do not
/// delay heartbeats and orders.
const FRAMES_AT_ONCE: usize = 64;

/// Maximum number of signals that wait for one rank. A rank that takes none of them for so long is about to
/// be lost, and later signals are dropped.
const SIGNALS_WAITING: usize = 256;

/// If a message is awaited, MPI is polled without sleeping for this time after the last event. Ranks that
/// end a phase together arrive within it.
const EAGER: Duration = Duration::from_millis(3);

/// A rank that has waited for some time sleeps for this fraction of it before the next poll. Between a
/// thousand ranks a message takes a dozen hops, which together add less than a tenth to the wait.
const AWAITING_PART: u32 = 128;

/// Longest sleep while a message is awaited. It delays other ranks, but a poll costs up to a hundred
/// microseconds, so a rank with a long wait uses a hundredth of a processor.
const AWAITING_SLEEP: Duration = Duration::from_millis(10);

/// Longest sleep while nothing is awaited, which is the maximum delay of signals and heartbeats.
const IDLE_SLEEP: Duration = Duration::from_millis(40);

/// Shortest sleep that is worth a system call.
const SHORTEST_SLEEP: Duration = Duration::from_micros(50);

/// Interval of heartbeats to neighbours.
const HEARTBEAT: Duration = Duration::from_secs(1);

/// If this thread did not run for this long, it has not received anything either, so it reports no
/// neighbour as silent.
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
    /// The posted receives, in the order in which MPI completes them.
    receptions: VecDeque<InFlight>,
    /// The secret. Rank 0 knows it from the start, the other ranks from their first frame on. Nothing is
    /// sent before.
    secret: Option<Secret>,
    /// The position in the tree in which the secret is passed on.
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
    /// The frames submitted to MPI.
    started: VecDeque<InFlight>,
    waiting: VecDeque<Vec<u8>>,
    /// Signals to be sent, which have priority.
    signals: BTreeSet<u64>,
    /// Number of the next frame.
    next: u64,
}

/// The frames from one rank.
#[derive(Default)]
struct Incoming {
    /// Number of the next frame.
    next: u64,
    /// The call and the bytes of the incomplete message of each strand, on which threads send at the same
    /// time.
    parts: BTreeMap<u8, (Call, Vec<u8>)>,
}

/// A buffer that MPI may access until a request is done. It is never moved, and it is leaked if the request
/// is dropped before that, because it is not known when MPI stops using it.
struct InFlight {
    request: Request,
    bytes: ManuallyDrop<Vec<u8>>,
}

impl InFlight {
    fn new(request: Request, bytes: Vec<u8>) -> Self {
        Self { request, bytes: ManuallyDrop::new(bytes) }
    }

    /// Takes the bytes. The request must be done.
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
                    // The requesting thread may no longer be waiting for the answer.
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

    /// Pauses, given that there has been no event for `quiet`.
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
            Err(failed) => self.lose(self.rank, format!("its MPI reports: {}", failed.0)),
        }
    }

    /// Passes the secret on to the children in the tree of all ranks.
    fn welcome(&mut self) {
        for below in std::mem::take(&mut self.place.below) {
            self.queue(u32::try_from(below).expect("ranks are numbered by a u32"), frame::welcome());
        }
    }

    /// Processes some received frames. Returns whether there were any.
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
                    self.lose(self.rank, format!("its MPI reports: {}", failed.0));
                }
            }
        }
        some
    }

    /// Processes received bytes. If they do not have the secret, they are dropped, because they do not
    /// belong to this launch.
    pub(super) fn take(&mut self, bytes: &[u8]) {
        let Some(secret) = self.secret else { return self.learn(bytes) };
        let mistake = match Frame::of(bytes, secret) {
            Err(NoFrame::Foreign) => return,
            Err(NoFrame::Malformed(from)) => Some((from, "it sent a malformed frame".to_owned())),
            Ok(frame) => self.accept(&frame).err().map(|what| (frame.from, what)),
        };
        if let Some((from, what)) = mistake {
            if let Some(incoming) = self.incoming.get_mut(&from) {
                incoming.parts.clear();
            }
            self.lose(from, what);
        }
    }

    /// Learns the secret from the parent's first frame, and passes it on. Anything else is dropped before
    /// that.
    fn learn(&mut self, bytes: &[u8]) {
        let Some((secret, frame)) = frame::welcome_in(bytes) else { return };
        if Some(frame.from as usize) == self.place.above && (frame.to, frame.number) == (self.rank, 0) {
            self.secret = Some(secret);
            self.incoming.entry(frame.from).or_default().next = 1;
            self.welcome();
        }
    }

    /// Processes a frame of this launch.
    ///
    /// # Errors
    /// Errors if its sender cannot have sent it to this rank at this point. The text is phrased to follow
    /// "rank … is lost".
    fn accept(&mut self, frame: &Frame<'_>) -> Result<(), String> {
        let from = frame.from;
        if from >= self.size || from == self.rank || frame.to != self.rank {
            return Err(format!("a frame from it to rank {} arrived at rank {}", frame.to, self.rank));
        }
        let incoming = self.incoming.entry(from).or_default();
        if frame.number != incoming.next {
            return Err(format!(
                "frame {} arrived from it when {} was expected",
                frame.number, incoming.next
            ));
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
                None => return Err("it sent a malformed message".to_owned()),
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

    /// Answers a rank that waits for this one in call `theirs`. Two ranks that wait for each other in different
    /// calls of a strand would wait forever, unless a message is on its way. Messages sent earlier arrive before
    /// the answer, so the asking rank can decide. While frames to that rank are held back, which may be answers,
    /// no further one is sent, and it will ask again. Frames in flight may be those of a busy strand.
    fn answer(&mut self, from: u32, theirs: Call) {
        let held_back = self.sends.get(&from).is_some_and(|outgoing| !outgoing.waiting.is_empty());
        if let Some(ours) = self.queue.inbox.awaits(from, theirs.strand).filter(|_| !held_back) {
            // Queued after the messages that the thread sent before it began to wait.
            self.queue.order(Order::Send { to: from, frame: frame::answer(theirs, ours) });
        }
    }

    /// Ends the world if the rank for which this one waits in call `ours` waits for this one in a
    /// different call.
    fn compare(&mut self, from: u32, ours: Call, answer: &[u8]) {
        if let Some(theirs) = frame::call(ours.strand, answer)
            && theirs != ours
            && self.queue.inbox.awaits(from, ours.strand) == Some(ours)
            && self.queue.inbox.failure(ours).is_none()
        {
            let error = ours.out_of_step(from, theirs);
            self.queue.inbox.fail(Failure { call: Some(ours), error: error.clone() });
            let news = frame::news(Some(ours), &error);
            self.tell_all(&news, from);
            self.queue(from, news);
        }
    }

    /// Appends to a message, and delivers it when it is complete.
    fn assemble(&mut self, from: u32, call: Call, bytes: &[u8], last: bool) -> Result<(), String> {
        let incoming = self.incoming.entry(from).or_default();
        let (begun, mut whole) = incoming.parts.remove(&call.strand).unwrap_or((call, Vec::new()));
        if begun != call {
            return Err("one of its messages ended within another".to_owned());
        }
        let others: usize = incoming.parts.values().map(|(_, part)| part.len()).sum();
        if others + whole.len() + bytes.len() + self.queue.inbox.held(from) > self.message_bytes_max {
            let most = self.message_bytes_max >> 20;
            return Err(format!("it sent more than {most} MiB that no call has taken"));
        }
        whole.extend(bytes);
        if last {
            let message = Message { call, bytes: whole, at_ns: clock::monotonic_ns() };
            self.queue.inbox.deliver(from, message);
        } else {
            incoming.parts.insert(call.strand, (call, whole));
        }
        Ok(())
    }

    fn queue(&mut self, to: u32, frame: Vec<u8>) {
        self.sends.entry(to).or_default().waiting.push_back(frame);
    }

    /// Starts queued sends, and drops completed ones. Returns whether there were any.
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
            self.lose(to, format!("MPI reports: {}", failed.0));
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

    /// Sends due heartbeats, and checks for silent neighbours. `gap` is the time for which this thread
    /// did not check.
    fn watch(&mut self, now: Instant, gap: Duration) {
        if gap > ABSENCE {
            self.heard.values_mut().for_each(|heard| *heard = now);
        }
        let Some(due) = self.beats.filter(|&due| due <= now) else { return };
        self.beats = Some(due.max(now - HEARTBEAT) + HEARTBEAT);
        let neighbours: Vec<u32> = self.heard.keys().copied().collect();
        for to in neighbours {
            // No more frames are queued for a rank that does not receive.
            if self.sends.get(&to).is_none_or(Outgoing::is_empty) {
                self.queue(to, frame::heartbeat());
            }
            if now - self.heard[&to] > self.patience {
                let silent = self.patience.as_secs_f64();
                self.lose(to, format!("nothing was received from it for {silent} s"));
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

    /// Finalizes MPI when all ranks are about to end, so that no message to this rank is on its way.
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
