//! How the processes of one run agree.
//!
//! A run may be spread over several processes, called *ranks*. They meet at barriers, agree on
//! the slowest time and on whether anything failed, and hand their records to rank 0. That is
//! all: nothing here knows of files, transfers or plans.
//!
//! | type | what it is |
//! |---|---|
//! | [`Comm`] | what a rank can ask of the others |
//! | [`Solo`] | a run in one process |
//! | [`Mpi`] | processes that a launcher started, with the MPI library of the site |
//! | [`Fake`] | several ranks as threads of one process, for tests |
//! | [`Topology`] | which ranks run on which nodes |
//! | [`Clock`] | how far a node's clock is from that of rank 0 |
//! | [`agree`] | whether all ranks are the same program that is asked the same |
//! | [`Launched`] | what a launcher says of this process |
//! | [`Stranded`] | a rank that cannot leave, as others are lost |
//! | [`CommError`] | a peer is gone, late or out of step |
//!
//! Every call but those that say otherwise is collective: all ranks make the same calls in the same
//! order. A rank that does not is an error for all of them, never a hang.
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
mod topology;
mod tree;

pub use agree::{Agreement, Difference, agree};
pub use error::CommError;
pub use fake::Fake;
pub use launched::{Launched, Launcher};
pub use mpi::{JoinError, Joining, Mpi, PATIENCE, Stranded, join};
pub use solo::Solo;
pub use topology::Topology;

use std::sync::Arc;
use std::time::Duration;

/// Something that is a rank because it holds one.
trait Delegate: Send + Sync {
    fn comm(&self) -> &dyn Comm;
}

/// How far the clock of a node is from that of rank 0, as far as messages can tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Clock {
    /// Rank 0's monotonic clock less the node's, nanoseconds.
    pub offset_ns: i64,
    /// The offset may be off by so much: half of the shortest way there and back.
    pub error_ns: u64,
}

/// Joins two parts of a [`Comm::combine`]; the first one is of lower ranks.
pub type Merge<'a> = &'a mut dyn FnMut(Vec<u8>, Vec<u8>) -> Vec<u8>;

/// Told of a [`Comm::signal`] of any rank, on a thread of the communication's own.
pub type OnSignal = Arc<dyn Fn(u64) + Send + Sync>;

/// What a rank can ask of the others. Each call is made by all ranks, in the same order.
pub trait Comm: Send + Sync {
    /// This rank's number, from 0.
    fn rank(&self) -> u32;

    /// How many ranks there are; at least 1.
    fn size(&self) -> u32;

    /// The name of the node that this rank runs on.
    fn node(&self) -> &str;

    /// Returns when all ranks have come here.
    ///
    /// # Errors
    /// A peer is gone, late or out of step.
    fn barrier(&self) -> Result<(), CommError>;

    /// The largest value that a rank gave, on every rank.
    ///
    /// # Errors
    /// A peer is gone, late or out of step.
    fn max_u64(&self, value: u64) -> Result<u64, CommError>;

    /// Whether any rank said `true`, on every rank.
    ///
    /// # Errors
    /// A peer is gone, late or out of step.
    fn any(&self, value: bool) -> Result<bool, CommError>;

    /// Collects the bytes of all ranks on rank 0, by rank; `None` on the others.
    ///
    /// # Errors
    /// A peer is gone, late or out of step.
    fn gather(&self, bytes: Vec<u8>) -> Result<Option<Vec<Vec<u8>>>, CommError>;

    /// The bytes that rank 0 gave, on every rank. What the others give is not looked at.
    ///
    /// # Errors
    /// A peer is gone, late or out of step.
    fn broadcast(&self, bytes: Vec<u8>) -> Result<Vec<u8>, CommError>;

    /// Which ranks run on which nodes.
    fn topology(&self) -> &Topology;

    /// Joins the bytes of all ranks, pair by pair along a tree, and gives the whole on rank 0; `None`
    /// on the others. `merge` is called on ranks between, with neighbours in rising order.
    ///
    /// # Errors
    /// A peer is gone, late or out of step.
    fn combine(&self, bytes: Vec<u8>, merge: Merge<'_>) -> Result<Option<Vec<u8>>, CommError>;

    /// Hands the bytes of one rank after the other to `take` on rank 0, in the order of ranks, and never
    /// holds those of more than a few of them there. On the others `take` is not called.
    ///
    /// # Errors
    /// A peer is gone, late or out of step.
    fn stream(&self, bytes: Vec<u8>, take: &mut dyn FnMut(u32, Vec<u8>)) -> Result<(), CommError>;

    /// Only the ranks in `members`, numbered anew by their place there; `None` on a rank that is not
    /// among them. All ranks of a group make the same calls on it; no rank makes calls on two groups
    /// with a common member in different orders.
    fn group<'a>(&'a self, members: &[u32]) -> Option<Box<dyn Comm + 'a>>;

    /// Measures the clocks of all nodes against that of rank 0, for [`Comm::meet`]. Gives them on
    /// rank 0, by node; nothing on the others.
    ///
    /// # Errors
    /// A peer is gone, late or out of step.
    fn synchronize(&self) -> Result<Vec<Clock>, CommError>;

    /// A barrier that agrees on a moment: returns how long ago the last rank came to it. That is the same
    /// moment on all ranks, as exactly as their clocks are known.
    ///
    /// # Errors
    /// A peer is gone, late or out of step.
    fn meet(&self) -> Result<Duration, CommError>;

    /// Tells all ranks, this one too, of `value`, whatever they are doing; returns at once. The handler
    /// of each rank is called with it soon after. Not collective.
    fn signal(&self, value: u64);

    /// Who is told of signals from now on. Not collective.
    fn on_signal(&self, handler: OnSignal);

    /// Why the next call will fail, where that is known already: a rank is lost while the others are at
    /// work and make no calls. Returns at once. Not collective.
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
