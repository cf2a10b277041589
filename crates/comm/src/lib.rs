//! Communication between the processes of one run.
//!
//! A run may consist of several processes, called *ranks*. They synchronise at barriers, agree on the
//! slowest time and on whether anything failed, and send their records to rank 0. This crate does not know
//! about files, transfers or plans.
//!
//! | type | what it is |
//! |---|---|
//! | [`Comm`] | the collective operations of a rank |
//! | [`Solo`] | a run in one process |
//! | [`Mpi`] | processes started by a launcher, with the MPI library of the site |
//! | [`Fake`] | several ranks as threads of one process, for tests |
//! | [`Topology`] | which ranks run on which nodes |
//! | [`Clock`] | offset of a node's clock from that of rank 0 |
//! | [`agree`] | checks that all ranks run the same program with the same arguments |
//! | [`Launched`] | what a launcher's variables say about this process |
//! | [`FinalizeFailed`] | a rank that cannot leave because others are lost |
//! | [`CommError`] | a peer is gone, late or out of step |
//!
//! Unless documented otherwise, every call is collective: all ranks must make the same calls in the same
//! order. If a rank does not, all of them get an error, and none hangs.
//!
//! Threads that make calls at the same time use a [strand](Comm::strand) each. The order of calls matters
//! only within a strand.
//!
//! ```
//! use comm::{Comm, Fake};
//! let slowest: Vec<u64> = std::thread::scope(|scope| {
//!     let ranks = Fake::world(&["node1", "node1", "node2"]);
//!     let threads: Vec<_> = ranks
//!         .into_iter()
//!         .map(|rank| scope.spawn(move || rank.max_u64(u64::from(rank.rank()) * 10)))
//!         .collect();
//!     threads.into_iter().map(|t| t.join().expect("no panic").expect("all came")).collect()
//! });
//! assert_eq!(slowest, [20, 20, 20]);
//! ```

mod agree;
mod clock;
mod error;
mod fake;
mod launched;
mod links;
mod mpi;
mod solo;
mod stream;
mod topology;
mod tree;

#[doc(hidden)]
pub use mpi::fuzzing;

pub use agree::{Agreement, Difference, agree};
pub use error::{CommError, JoinError};
pub use fake::Fake;
pub use launched::{Launched, Launcher};
pub use mpi::{FinalizeFailed, JoinOptions, Mpi, PATIENCE, installed, join};
pub use solo::Solo;
pub use topology::Topology;

use std::sync::Arc;
use std::time::Duration;

/// A type that implements [`Comm`] by delegating to a rank it holds.
trait Delegate: Send + Sync {
    fn comm(&self) -> &dyn Comm;
}

/// Measured offset of a node's clock from that of rank 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Clock {
    /// Rank 0's monotonic clock minus the node's, in nanoseconds.
    pub offset_ns: i64,
    /// Error bound of the offset: half of the shortest round trip.
    pub error_ns: u64,
}

/// Merges two parts of a [`Comm::combine`]; the first one is from lower ranks.
pub type Merge<'a> = &'a mut dyn FnMut(Vec<u8>, Vec<u8>) -> Vec<u8>;

/// Handler for a [`Comm::signal`] of any rank, called on a thread of this crate.
pub type OnSignal = Arc<dyn Fn(u64) + Send + Sync>;

/// The operations between ranks. Each call must be made by all ranks, in the same order on each strand.
pub trait Comm: Send + Sync {
    /// This rank's number, from 0.
    fn rank(&self) -> u32;

    /// Number of ranks; at least 1.
    fn size(&self) -> u32;

    /// Name of this rank's node.
    fn node(&self) -> &str;

    /// Returns when all ranks have called it.
    ///
    /// # Errors
    /// Errors if a peer is gone, late or out of step.
    fn barrier(&self) -> Result<(), CommError>;

    /// Returns the largest of the ranks' values, on every rank.
    ///
    /// # Errors
    /// Errors if a peer is gone, late or out of step.
    fn max_u64(&self, value: u64) -> Result<u64, CommError>;

    /// Returns whether any rank passed `true`, on every rank.
    ///
    /// # Errors
    /// Errors if a peer is gone, late or out of step.
    fn any(&self, value: bool) -> Result<bool, CommError>;

    /// Collects the bytes of all ranks on rank 0, ordered by rank. Returns `None` on the other ranks.
    ///
    /// # Errors
    /// Errors if a peer is gone, late or out of step.
    fn gather(&self, bytes: Vec<u8>) -> Result<Option<Vec<Vec<u8>>>, CommError>;

    /// Returns the bytes of rank 0 on every rank. Those of the other ranks are ignored.
    ///
    /// # Errors
    /// Errors if a peer is gone, late or out of step.
    fn broadcast(&self, bytes: Vec<u8>) -> Result<Vec<u8>, CommError>;

    /// Which ranks run on which nodes.
    fn topology(&self) -> &Topology;

    /// Merges the bytes of all ranks pairwise along a tree. Returns the result on rank 0, and `None` on the
    /// other ranks. `merge` is also called on intermediate ranks, with neighbours in ascending order.
    ///
    /// # Errors
    /// Errors if a peer is gone, late or out of step.
    fn combine(&self, bytes: Vec<u8>, merge: Merge<'_>) -> Result<Option<Vec<u8>>, CommError>;

    /// Passes the bytes of each rank to `take` on rank 0, in rank order, while holding those of only a few
    /// ranks at a time. On the other ranks `take` is not called.
    ///
    /// # Errors
    /// Errors if a peer is gone, late or out of step.
    fn stream(&self, bytes: Vec<u8>, take: &mut dyn FnMut(u32, Vec<u8>)) -> Result<(), CommError>;

    /// Creates a group of the ranks in `members`, renumbered by their position there. Returns `None` on a
    /// rank that is not a member. All ranks of a group must make the same calls on it, and ranks must not
    /// make calls on two groups of a strand with common members in different orders. The group is on the
    /// strand on which it is created.
    fn group<'a>(&'a self, members: &[u32]) -> Option<Box<dyn Comm + 'a>>;

    /// The same ranks on the strand with this number. Calls on a strand are independent of those on all other
    /// strands, so a rank may be in a call on each of them at the same time, in a thread of its own; threads
    /// that share a strand take turns. Strand 0 is the one of a run at its start, and each rank can use any
    /// strand without asking the others. Clocks, signals and failures are those of all strands: an error on
    /// one ends the calls on all. Not collective.
    ///
    /// A rank that makes a call on the wrong strand is not out of step: the others wait for it as for one that
    /// comes late, because another of its threads may still make the call on the right strand.
    ///
    /// ```
    /// use comm::{Comm, Fake};
    /// let world = Fake::world(&["node1", "node2"]);
    /// std::thread::scope(|scope| {
    ///     for rank in &world {
    ///         let (first, second) = (rank.strand(1), rank.strand(2));
    ///         scope.spawn(move || (0..10).for_each(|_| first.barrier().expect("all came")));
    ///         scope.spawn(move || assert_eq!(second.max_u64(7), Ok(7)));
    ///     }
    /// });
    /// ```
    fn strand<'a>(&'a self, number: u8) -> Box<dyn Comm + 'a>;

    /// Measures the offset of each node's clock from that of rank 0, for [`Comm::meet`] on all strands.
    /// Returns the clocks by node on rank 0, and an empty list on the other ranks.
    ///
    /// # Errors
    /// Errors if a peer is gone, late or out of step.
    fn synchronize(&self) -> Result<Vec<Clock>, CommError>;

    /// A barrier that agrees on a point in time: it returns how long ago the last rank arrived. This is the
    /// same time on all ranks, within the error of their clocks.
    ///
    /// # Errors
    /// Errors if a peer is gone, late or out of step.
    fn meet(&self) -> Result<Duration, CommError>;

    /// Sends `value` to all ranks, including this one, whatever their current calls. Returns at once; the
    /// handler of each rank is called with the value soon after. Not collective.
    fn signal(&self, value: u64);

    /// Sets the handler of signals. Not collective.
    fn on_signal(&self, handler: OnSignal);

    /// The reason why the next call will fail, if this is already known, for example because a rank was
    /// lost while the others work and make no calls. Returns at once. Not collective.
    fn failure(&self) -> Option<CommError>;
}

impl<Holder: Delegate> Comm for Holder {
    fn rank(&self) -> u32 {
        self.comm().rank()
    }

    fn size(&self) -> u32 {
        self.comm().size()
    }

    fn node(&self) -> &str {
        self.comm().node()
    }

    fn barrier(&self) -> Result<(), CommError> {
        self.comm().barrier()
    }

    fn max_u64(&self, value: u64) -> Result<u64, CommError> {
        self.comm().max_u64(value)
    }

    fn any(&self, value: bool) -> Result<bool, CommError> {
        self.comm().any(value)
    }

    fn gather(&self, bytes: Vec<u8>) -> Result<Option<Vec<Vec<u8>>>, CommError> {
        self.comm().gather(bytes)
    }

    fn broadcast(&self, bytes: Vec<u8>) -> Result<Vec<u8>, CommError> {
        self.comm().broadcast(bytes)
    }

    fn topology(&self) -> &Topology {
        self.comm().topology()
    }

    fn combine(&self, bytes: Vec<u8>, merge: Merge<'_>) -> Result<Option<Vec<u8>>, CommError> {
        self.comm().combine(bytes, merge)
    }

    fn stream(&self, bytes: Vec<u8>, take: &mut dyn FnMut(u32, Vec<u8>)) -> Result<(), CommError> {
        self.comm().stream(bytes, take)
    }

    fn group<'a>(&'a self, members: &[u32]) -> Option<Box<dyn Comm + 'a>> {
        self.comm().group(members)
    }

    fn strand<'a>(&'a self, number: u8) -> Box<dyn Comm + 'a> {
        self.comm().strand(number)
    }

    fn synchronize(&self) -> Result<Vec<Clock>, CommError> {
        self.comm().synchronize()
    }

    fn meet(&self) -> Result<Duration, CommError> {
        self.comm().meet()
    }

    fn signal(&self, value: u64) {
        self.comm().signal(value);
    }

    fn on_signal(&self, handler: OnSignal) {
        self.comm().on_signal(handler);
    }

    fn failure(&self) -> Option<CommError> {
        self.comm().failure()
    }
}
