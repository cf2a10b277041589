//! Several ranks as threads of one process, for tests of code that needs peers.
//!
//! They behave like processes and send the same messages; only the transport differs.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::links::{Call, Failure, Inbox, Links, Message};
use crate::tree::Ranks;
use crate::{Comm, CommError, Delegate, OnSignal, Topology, clock};

/// Default time that a rank waits for a message. It is longer than any phase of a test, but short enough
/// that a hang ends before the timeout of the test runner.
const PATIENCE: Duration = Duration::from_secs(60);

/// One rank of a world of threads. When it is dropped, the others learn that it is gone.
pub struct Fake {
    ranks: Ranks<Threads>,
}

/// Messages between threads.
struct Threads {
    rank: u32,
    /// How far this rank's clock is behind, in nanoseconds.
    behind_ns: i64,
    world: Arc<World>,
}

struct World {
    inboxes: Vec<Inbox>,
    patience: Duration,
    /// The first failure, which applies to all ranks.
    failure: Mutex<Option<Failure>>,
}

impl Fake {
    /// Creates a world with one rank for each name, which is the name of the rank's node.
    #[must_use]
    pub fn world(nodes: &[&str]) -> Vec<Self> {
        Self::world_with_patience(nodes, PATIENCE)
    }

    /// Like [`Fake::world`], with `patience` as the maximum wait for a message.
    #[must_use]
    pub fn world_with_patience(nodes: &[&str], patience: Duration) -> Vec<Self> {
        Self::build(nodes, patience, &|_| 0)
    }

    /// Like [`Fake::world`], with the clock of each node behind by the given nanoseconds.
    ///
    /// ```
    /// use comm::{Comm, Fake};
    /// let world = Fake::world_with_clocks(&[("node1", 0), ("node2", 1_000_000_000)]);
    /// let found = std::thread::scope(|scope| {
    ///     let ranks: Vec<_> = world.iter().map(|rank| scope.spawn(|| rank.synchronize())).collect();
    ///     ranks.into_iter().map(|rank| rank.join().expect("no panic").expect("all came")).collect::<Vec<_>>()
    /// });
    /// assert!(found[0][1].offset_ns.abs_diff(1_000_000_000) <= found[0][1].error_ns);
    /// assert!(found[1].is_empty());
    /// ```
    #[must_use]
    pub fn world_with_clocks(nodes: &[(&str, i64)]) -> Vec<Self> {
        let names: Vec<&str> = nodes.iter().map(|(name, _)| *name).collect();
        Self::build(&names, PATIENCE, &|rank| nodes[rank as usize].1)
    }

    fn build(nodes: &[&str], patience: Duration, behind_ns: &dyn Fn(u32) -> i64) -> Vec<Self> {
        let inboxes = nodes.iter().map(|_| Inbox::default()).collect();
        let world = Arc::new(World { inboxes, patience, failure: Mutex::default() });
        (0..)
            .take(nodes.len())
            .map(|rank| {
                let links = Threads { rank, behind_ns: behind_ns(rank), world: Arc::clone(&world) };
                Self { ranks: Ranks::world(links, Topology::of(nodes.iter().copied())) }
            })
            .collect()
    }
}

#[cfg(test)]
impl Fake {
    /// The messages of this rank, for tests that send what no regular call would send.
    pub(crate) fn links(&self) -> &impl Links {
        self.ranks.links()
    }
}

impl Delegate for Fake {
    fn comm(&self) -> &dyn Comm {
        &self.ranks
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        let links = self.ranks.links();
        links.world.inboxes.iter().for_each(|inbox| inbox.end(links.rank));
    }
}

impl World {
    /// Sets the failure of all ranks, unless there is one, and returns it.
    fn fail(&self, call: Call, error: CommError) -> CommError {
        let mut first = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        let failure = first.get_or_insert(Failure { call: Some(call), error }).clone();
        drop(first);
        self.inboxes.iter().for_each(|inbox| inbox.fail(failure.clone()));
        failure.error
    }
}

impl Links for Threads {
    fn rank(&self) -> u32 {
        self.rank
    }

    fn send(&self, to: u32, call: Call, bytes: Vec<u8>) {
        let peer = &self.world.inboxes[to as usize];
        peer.deliver(self.rank, Message { call, bytes, at_ns: clock::monotonic_ns() });
    }

    fn receive(&self, from: u32, call: Call) -> Result<Message, CommError> {
        let (own, peer) = (&self.world.inboxes[self.rank as usize], &self.world.inboxes[from as usize]);
        // Two ranks waiting for each other on one strand would wait forever. The other's earlier messages
        // have already been received.
        let look = || {
            let theirs = peer.awaits(self.rank, call.strand).filter(|theirs| *theirs != call)?;
            own.awaits(from, call.strand).map(|_| call.out_of_step(from, theirs))
        };
        let received = own.receive(from, call, Some(self.world.patience), look);
        match received {
            Ok(message) => Ok(Message { at_ns: message.at_ns - self.behind_ns, ..message }),
            Err(error) => Err(self.fail(call, error)),
        }
    }

    fn fail(&self, call: Call, error: CommError) -> CommError {
        self.world.fail(call, error)
    }

    fn failure(&self, call: Call) -> Option<CommError> {
        self.world.inboxes[self.rank as usize].failure(call)
    }

    fn failed(&self) -> Option<CommError> {
        self.world.inboxes[self.rank as usize].failed().map(|failure| failure.error)
    }

    fn now_ns(&self) -> i64 {
        clock::monotonic_ns() - self.behind_ns
    }

    fn signal(&self, value: u64) {
        self.world.inboxes.iter().for_each(|inbox| inbox.signal(value));
    }

    fn on_signal(&self, handler: OnSignal) {
        self.world.inboxes[self.rank as usize].on_signal(handler);
    }
}
