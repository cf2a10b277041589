//! Errors between ranks.

use std::path::PathBuf;
use std::time::Duration;

use thiserror::Error;

use crate::Launched;

/// Why ranks could not agree. After the first error of a world, every later call fails with the same
/// error.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CommError {
    /// A rank ended before it joined the call.
    #[error("rank {rank} ended before it reached {operation}; see that rank's own error")]
    PeerGone {
        /// The missing rank.
        rank: u32,
        /// The call in which the others waited.
        operation: &'static str,
    },
    /// A rank did not join the call in time.
    #[error(
        "rank {} did not reach {operation} within {} s; it is stopped, lost or stuck in a transfer",
        missing.iter().map(u32::to_string).collect::<Vec<_>>().join(", "),
        patience.as_secs_f64()
    )]
    TimedOut {
        /// The missing ranks.
        missing: Vec<u32>,
        /// The call in which the others waited.
        operation: &'static str,
        /// How long the others waited.
        patience: Duration,
    },
    /// A rank was stopped, disconnected or killed, or its MPI library reports that it was.
    #[error("rank {rank} on node {node} is lost: {what}; check that node, then run again")]
    Lost {
        /// The lost rank.
        rank: u32,
        /// The node it runs on.
        node: String,
        /// How the loss was detected.
        what: String,
    },
    /// Two ranks made different calls.
    #[error("rank {rank} reached {theirs} while the others are in {ours}; all ranks need the same plan")]
    OutOfStep {
        /// The rank that arrived second.
        rank: u32,
        /// Its call.
        theirs: &'static str,
        /// The call of the first rank.
        ours: &'static str,
    },
}

/// Why a launched process could not become a rank. Every process of the job gets the error; one of them
/// should report it: see [`Launched::rank`].
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum JoinError {
    /// No suitable library was found.
    #[error(
        "this is process {} of {} of {}, but no MPI library for it was found; tried {tried}; name one with --mpi PATH",
        launched.rank, launched.size, launched.launcher
    )]
    NoLibrary {
        /// The information from the launcher.
        launched: Launched,
        /// The names and paths tried.
        tried: String,
    },
    /// The file is not an MPI library, or has an unknown ABI.
    #[error("{} is not a known MPI library (standard ABI, Open MPI, MPICH and its family); name another \
             with --mpi PATH", library.display())]
    NotMpi {
        /// The loaded file.
        library: PathBuf,
    },
    /// The library exists but cannot be loaded.
    #[error("the MPI library {} cannot be loaded: {reason}", library.display())]
    Unloadable {
        /// Its path.
        library: PathBuf,
        /// The loader's message.
        reason: String,
    },
    /// Launcher and library do not match, because they report different numbers of processes.
    #[error(
        "{} started {} processes, but {library} counts {size}{}: it does not match this launcher; name the \
         library of the launcher with --mpi PATH, or use another launcher (under Slurm: srun --mpi=pmix for \
         Open MPI, srun --mpi=pmi2 for MPICH)",
        launched.launcher, launched.size,
        if *size == 1 { ", so every process believes that it is alone" } else { "" }
    )]
    Alone {
        /// The information from the launcher.
        launched: Launched,
        /// The library, with its version.
        library: String,
        /// The number reported by the library.
        size: u32,
    },
    /// The library did not start.
    #[error("{library} did not start: {reason}")]
    NotStarted {
        /// The library, with its version.
        library: String,
        /// Its message.
        reason: String,
    },
    /// Ranks loaded different libraries.
    #[error("rank {rank} on node {node} runs {theirs}, but rank 0 runs {ours}; all nodes need the same MPI")]
    Different {
        /// The first rank that differs.
        rank: u32,
        /// Its node.
        node: String,
        /// Its library.
        theirs: String,
        /// The library of rank 0.
        ours: String,
    },
    /// Ranks could not agree at the start.
    #[error(transparent)]
    Comm(#[from] CommError),
}
