//! The one thread of a process that calls MPI.
//!
//! Other threads pass it messages to send; it puts received ones into the [`Inbox`], from which they are
//! taken. While a message is awaited it polls MPI and yields to other threads in between; after a while, and
//! while nothing is awaited, it sleeps between two polls. It also detects silent neighbours, since MPI itself
//! may wait forever.

use std::collections::{BTreeMap, VecDeque};
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::yield_now;
use std::time::{Duration, Instant};

use super::calls::{MpiCalls, MpiError, Request, end_now};
use super::frame::{self, FRAME_BYTES, Frame, FrameKind};
use crate::links::{Call, Failure, Inbox, Links, Message};
use crate::{CommError, OnSignal, clock};

/// Number of receives posted at MPI: bursts need no copy through MPI's own buffers.
const RECEPTIONS: usize = 8;

/// Maximum number of frames to one rank in flight at MPI.
const SENDS: usize = 16;

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

/// Requests of other threads.
pub(super) enum Order {
    Send {
        to: u32,
        frame: Vec<u8>,
    },
    Signal(u64),
    /// Starts to watch these neighbours.
    Watch {
        neighbours: Vec<u32>,
        nodes: Vec<String>,
    },
    /// Stops heartbeats: all ranks are about to end.
    Rest,
    /// Finalizes MPI; returns whether that succeeded.
    Leave(Sender<Result<(), MpiError>>),
    Abort(i32),
}

/// State shared by the agent and other threads of the process.
pub(super) struct MessageQueue {
    pub(super) inbox: Inbox,
    /// Number of threads waiting for a message.
    awaiting: AtomicUsize,
    orders: Mutex<Orders>,
    wake: Condvar,
}

#[derive(Default)]
struct Orders {
    queue: VecDeque<Order>,
    asleep: bool,
}

impl MessageQueue {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self {
            inbox: Inbox::default(),
            awaiting: AtomicUsize::new(0),
            orders: Mutex::default(),
            wake: Condvar::new(),
        })
    }

    pub(super) fn order(&self, order: Order) {
        let mut orders = self.lock();
        orders.queue.push_back(order);
        self.rouse(&mut orders);
    }

    fn rouse(&self, orders: &mut Orders) {
        if orders.asleep {
            orders.asleep = false;
            self.wake.notify_one();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Orders> {
        self.orders.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_awaiting(&self) -> bool {
        self.awaiting.load(Ordering::Relaxed) > 0
    }

    /// Sleeps for `time`, or until there is work. A thread starting to wait for a message increments the
    /// counter and then takes the lock: either the increment is seen here, or the sleep is seen there.
    fn sleep(&self, time: Duration, awaiting: bool) {
        let mut orders = self.lock();
        if orders.queue.is_empty() && self.is_awaiting() == awaiting {
            orders.asleep = true;
            orders = self.wake.wait_timeout(orders, time).unwrap_or_else(PoisonError::into_inner).0;
            orders.asleep = false;
        }
    }
}

/// Messages of one process of the job.
pub(super) struct PeerMessages {
    pub(super) rank: u32,
    pub(super) queue: Arc<MessageQueue>,
    pub(super) size: u32,
}

impl PeerMessages {
    /// Ends the world on all ranks.
    fn fail(&self, call: Call, error: CommError) -> CommError {
        let told = matches!(self.queue.inbox.failed(), Some(failure) if failure.ends(call));
        self.queue.inbox.fail(Failure { call: Some(call), error: error.clone() });
        if !told {
            let news = frame::news(self.rank, Some(call), &error);
            for to in (0..self.size).filter(|&to| to != self.rank) {
                self.queue.order(Order::Send { to, frame: news.clone() });
            }
        }
        self.queue.inbox.failure(call).unwrap_or(error)
    }
}

impl Links for PeerMessages {
    fn rank(&self) -> u32 {
        self.rank
    }

    fn send(&self, to: u32, call: Call, bytes: Vec<u8>) {
        for frame in frame::of_message(self.rank, call, &bytes) {
            self.queue.order(Order::Send { to, frame });
        }
    }

    fn receive(&self, from: u32, call: Call) -> Result<Message, CommError> {
        let queue = &self.queue;
        let received = queue.inbox.take(from, call).unwrap_or_else(|| {
            queue.awaiting.fetch_add(1, Ordering::Relaxed);
            queue.rouse(&mut queue.lock());
            let ask = || {
                queue.order(Order::Send { to: from, frame: frame::question(self.rank, call) });
                None
            };
            let received = queue.inbox.receive(from, call, None, ask);
            queue.awaiting.fetch_sub(1, Ordering::Relaxed);
            received
        });
        received.map_err(|error| self.fail(call, error))
    }

    fn failure(&self, call: Call) -> Option<CommError> {
        self.queue.inbox.failure(call)
    }

    fn failed(&self) -> Option<CommError> {
        self.queue.inbox.failed().map(|failure| failure.error)
    }

    fn now_ns(&self) -> i64 {
        clock::monotonic_ns()
    }

    fn signal(&self, value: u64) {
        self.queue.order(Order::Signal(value));
    }

    fn on_signal(&self, handler: OnSignal) {
        self.queue.inbox.on_signal(handler);
    }
}

/// State of the agent thread.
pub(super) struct Agent {
    calls: Box<dyn MpiCalls>,
    queue: Arc<MessageQueue>,
    rank: u32,
    size: u32,
    patience: Duration,
    /// In the order in which MPI completes them.
    receptions: VecDeque<InFlight>,
    /// Outgoing frames, by rank.
    sends: BTreeMap<u32, Outgoing>,
    /// Incomplete messages, by rank.
    parts: BTreeMap<u32, Vec<u8>>,
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
    ) -> Self {
        Self {
            calls,
            queue,
            rank,
            size,
            patience,
            receptions: VecDeque::new(),
            sends: BTreeMap::new(),
            parts: BTreeMap::new(),
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
        let mut event = Instant::now();
        let mut looked = event;
        loop {
            let orders = std::mem::take(&mut self.queue.lock().queue);
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

    fn carry_out(&mut self, order: Order) {
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

    /// Processes received frames; returns whether there were any.
    fn receive(&mut self) -> bool {
        let mut some = false;
        while let Some(reception) = self.receptions.front_mut() {
            match self.calls.done(&mut reception.request) {
                Ok(false) => break,
                Ok(true) => {
                    some = true;
                    if let Some(bytes) = self.receptions.pop_front().map(InFlight::take) {
                        if let Some(frame) = Frame::of(&bytes) {
                            self.accept(&frame);
                        }
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

    fn accept(&mut self, frame: &Frame<'_>) {
        let from = frame.from;
        if let Some(heard) = self.heard.get_mut(&from) {
            *heard = Instant::now();
        }
        match frame.kind {
            FrameKind::Heartbeat => {}
            FrameKind::Signal(value) => self.spread(value, Some(from)),
            FrameKind::News(call) => {
                if let Some(failure) = frame::failure(call, frame.bytes) {
                    self.queue.inbox.fail(failure);
                }
            }
            // The other rank waits for this one in `theirs`. Two ranks that wait for each other in different
            // calls would wait forever, unless a message is on its way: messages sent before arrive before
            // the answer, so the asking rank can tell.
            FrameKind::Question(theirs) => {
                if let Some(ours) = self.queue.inbox.awaits(from) {
                    // Queued after the messages the thread sent before it began to wait.
                    let frame = frame::answer(self.rank, theirs, ours);
                    self.queue.order(Order::Send { to: from, frame });
                }
            }
            FrameKind::Answer(ours) => {
                if let Some(theirs) = frame::call(frame.bytes)
                    && theirs != ours
                    && self.queue.inbox.awaits(from) == Some(ours)
                {
                    let error = ours.out_of_step(from, theirs);
                    self.queue.inbox.fail(Failure { call: Some(ours), error: error.clone() });
                    let news = frame::news(self.rank, Some(ours), &error);
                    self.tell_all(&news, from);
                    self.queue(from, news);
                }
            }
            FrameKind::Part(_) => self.parts.entry(from).or_default().extend(frame.bytes),
            FrameKind::Last(call) => {
                let mut bytes = self.parts.remove(&from).unwrap_or_default();
                bytes.extend(frame.bytes);
                self.queue.inbox.deliver(from, Message { call, bytes, at_ns: clock::monotonic_ns() });
            }
        }
    }

    fn queue(&mut self, to: u32, frame: Vec<u8>) {
        self.sends.entry(to).or_default().waiting.push_back(frame);
    }

    /// Starts queued sends, and drops completed ones; returns whether there were any.
    fn send(&mut self) -> bool {
        let mut some = false;
        let mut lost = None;
        for (&to, outgoing) in &mut self.sends {
            let sent = outgoing.go_on(&*self.calls, to);
            match sent {
                Ok(progress) => some |= progress,
                Err(failed) => lost = Some((to, failed)),
            }
        }
        self.sends.retain(|_, outgoing| !outgoing.is_empty());
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
            self.queue(to, frame::signal(self.rank, value));
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
                self.queue(to, frame::heartbeat(self.rank));
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
        let news = frame::news(self.rank, None, &error);
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

    /// Finalizes when all ranks are about to end: no message is on its way to this one.
    fn leave(mut self) -> Result<(), MpiError> {
        while !self.sends.is_empty() {
            if !self.send() {
                yield_now();
            }
        }
        // Posted receives are completed by messages to itself, so that nothing has to be cancelled.
        for _ in 0..self.receptions.len() {
            self.queue(self.rank, frame::heartbeat(self.rank));
        }
        while let Some(reception) = self.receptions.front_mut() {
            if self.calls.done(&mut reception.request)? {
                drop(self.receptions.pop_front().map(InFlight::take));
            }
            self.send();
        }
        while !self.sends.is_empty() {
            self.send();
        }
        self.calls.finalize()
    }
}

impl Outgoing {
    fn is_empty(&self) -> bool {
        self.started.is_empty() && self.waiting.is_empty()
    }

    fn go_on(&mut self, calls: &dyn MpiCalls, to: u32) -> Result<bool, MpiError> {
        let mut some = false;
        while let Some(started) = self.started.front_mut() {
            if !calls.done(&mut started.request)? {
                break;
            }
            drop(self.started.pop_front().map(InFlight::take));
            some = true;
        }
        while self.started.len() < SENDS
            && let Some(frame) = self.waiting.pop_front()
        {
            self.started.push_back(InFlight::new(calls.send(&frame, to)?, frame));
            some = true;
        }
        Ok(some)
    }
}
