//! What can go wrong between ranks.

use std::time::Duration;

use thiserror::Error;

/// Why ranks could not agree. After the first error of a world every later call fails with it.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CommError {
    /// A rank ended before it came.
    #[error("rank {rank} ended before it came to {operation}; see that rank's own error")]
    PeerGone {
        /// The rank that is missing.
        rank: u32,
        /// What the others were waiting in.
        operation: &'static str,
    },
    /// A rank did not come in time.
    #[error(
        "rank {} did not come to {operation} within {} s; it is stopped, lost or stuck in a transfer",
        missing.iter().map(u32::to_string).collect::<Vec<_>>().join(", "),
        patience.as_secs_f64()
    )]
    TimedOut {
        /// The ranks that are missing.
        missing: Vec<u32>,
        /// What the others were waiting in.
        operation: &'static str,
        /// For how long they waited.
        patience: Duration,
    },
    /// A rank was stopped, cut off from the others or killed, or its MPI says that it is.
    #[error("rank {rank} on node {node} is lost: {what}; see that node, then run again")]
    Lost {
        /// The rank that is lost.
        rank: u32,
        /// The node it runs on.
        node: String,
        /// How that was seen.
        what: String,
    },
    /// Two ranks made different calls.
    #[error("rank {rank} came to {theirs} while the others are in {ours}; all ranks need the same plan")]
    OutOfStep {
        /// The rank that came second.
        rank: u32,
        /// What it called.
        theirs: &'static str,
        /// What the first rank of the round called.
        ours: &'static str,
    },
}
