//! Errors between ranks.

use std::time::Duration;

use thiserror::Error;

/// Why ranks could not agree. After the first error of a world every later call fails with it.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CommError {
    /// A rank ended before it joined the call.
    #[error("rank {rank} ended before it came to {operation}; see that rank's own error")]
    PeerGone {
        /// The missing rank.
        rank: u32,
        /// The call in which the others waited.
        operation: &'static str,
    },
    /// A rank did not join the call in time.
    #[error(
        "rank {} did not come to {operation} within {} s; it is stopped, lost or stuck in a transfer",
        missing.iter().map(u32::to_string).collect::<Vec<_>>().join(", "),
        patience.as_secs_f64()
    )]
    TimedOut {
        /// The missing ranks.
        missing: Vec<u32>,
        /// The call in which the others waited.
        operation: &'static str,
        /// How long they waited.
        patience: Duration,
    },
    /// A rank was stopped, disconnected or killed, or its MPI reports it so.
    #[error("rank {rank} on node {node} is lost: {what}; see that node, then run again")]
    Lost {
        /// The lost rank.
        rank: u32,
        /// The node it runs on.
        node: String,
        /// How the loss was detected.
        what: String,
    },
    /// Two ranks made different calls.
    #[error("rank {rank} came to {theirs} while the others are in {ours}; all ranks need the same plan")]
    OutOfStep {
        /// The rank that arrived second.
        rank: u32,
        /// Its call.
        theirs: &'static str,
        /// The call of the first rank.
        ours: &'static str,
    },
}
