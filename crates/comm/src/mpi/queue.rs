//! What the thread that calls MPI shares with the other threads of a process: orders to it, and received
//! messages.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::calls::MpiError;
use super::frame;
use crate::links::{Call, Failure, Inbox, Links, Message};
use crate::{CommError, OnSignal, clock};

/// Requests of other threads.
pub(super) enum Order {
    /// Sends a frame that is not sealed yet.
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
    /// Finalizes MPI, and returns whether this succeeded.
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

    /// All orders so far.
    pub(super) fn take_orders(&self) -> VecDeque<Order> {
        std::mem::take(&mut self.lock().queue)
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

    pub(super) fn is_awaiting(&self) -> bool {
        self.awaiting.load(Ordering::Relaxed) > 0
    }

    /// Sleeps for `time`, or until there is work. A thread that starts to wait for a message first
    /// increments the counter and then takes the lock, so either the increment is visible here or the
    /// sleep is visible there.
    pub(super) fn sleep(&self, time: Duration, awaiting: bool) {
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

impl Links for PeerMessages {
    fn rank(&self) -> u32 {
        self.rank
    }

    fn send(&self, to: u32, call: Call, bytes: Vec<u8>) {
        for frame in frame::of_message(call, &bytes) {
            self.queue.order(Order::Send { to, frame });
        }
    }

    fn receive(&self, from: u32, call: Call) -> Result<Message, CommError> {
        let queue = &self.queue;
        let received = queue.inbox.take(from, call).unwrap_or_else(|| {
            queue.awaiting.fetch_add(1, Ordering::Relaxed);
            queue.rouse(&mut queue.lock());
            let ask = || {
                queue.order(Order::Send { to: from, frame: frame::question(call) });
                None
            };
            let received = queue.inbox.receive(from, call, None, ask);
            queue.awaiting.fetch_sub(1, Ordering::Relaxed);
            received
        });
        received.map_err(|error| self.fail(call, error))
    }

    fn fail(&self, call: Call, error: CommError) -> CommError {
        let told = matches!(self.queue.inbox.failed(), Some(failure) if failure.ends(call));
        self.queue.inbox.fail(Failure { call: Some(call), error: error.clone() });
        if !told {
            let news = frame::news(Some(call), &error);
            for to in (0..self.size).filter(|&to| to != self.rank) {
                self.queue.order(Order::Send { to, frame: news.clone() });
            }
        }
        self.queue.inbox.failure(call).unwrap_or(error)
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
