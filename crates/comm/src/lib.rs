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
//! | [`Fake`] | several ranks as threads of one process, for tests |
//! | [`Launched`] | what a launcher says of this process |
//! | [`CommError`] | a peer is gone, late or out of step |
//!
//! Every call is collective: all ranks make the same calls in the same order. A rank that does
//! not is an error for all of them, never a hang.
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

mod error;
mod fake;
mod launched;
mod solo;

pub use error::CommError;
pub use fake::Fake;
pub use launched::Launched;
pub use solo::Solo;

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
}
