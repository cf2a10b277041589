//! Errors of a run.

use std::path::{Path, PathBuf};

use comm::{CommError, Topology};
use engine::{EngineError, NetworkError};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The kind of an error. It determines the exit code of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ErrorKind {
    /// The program refused, to protect data or the correctness of a figure.
    Refused,
    /// The host lacks something that the plan needs.
    HostLacks,
    /// A transfer failed.
    TransferFailed,
    /// A check found wrong data and had to stop, or a tree contains files that the run has not created.
    WrongData,
    /// The record could not be written.
    Record,
    /// A node, or a rank on it, was lost.
    NodeLost,
    /// A defect of the program.
    Internal,
}

/// Why a run could not start or continue.
#[derive(Debug, Error)]
pub enum RunnerError {
    /// The host crate rejected something, or could not read a fact.
    #[error(transparent)]
    Host(#[from] host::HostError),
    /// A device may not be written.
    #[error(transparent)]
    Refusal(#[from] host::Refusal),
    /// A layout cannot be created or destroyed.
    #[error("{message}")]
    Layout {
        /// The kind of the error.
        kind: ErrorKind,
        /// What happened, and the next step.
        message: String,
    },
    /// The plan needs more than a limit allows.
    #[error(transparent)]
    Limit(#[from] host::limits::LimitTooLow),
    /// io_uring was requested by name and cannot be used.
    #[error("io_uring was requested but is not available: {reason}")]
    UringMissing {
        /// The reason, and the remedy.
        reason: String,
    },
    /// There is not enough space for the files.
    #[error(
        "with case `{case}` the files need {need}, but {place} has {free} free: write less (smaller or \
         fewer files, fewer tasks), or free some space"
    )]
    NoSpace {
        /// Number of bytes that the files need.
        need: plan::Bytes,
        /// Number of bytes that are free.
        free: plan::Bytes,
        /// Mount point.
        place: String,
        /// The case.
        case: String,
    },
    /// The file system has too few inodes.
    #[error(
        "with case `{case}` the files and directories need {need} inodes, but {place} has {free} free: \
         lower the items or tasks, or create the file system with more inodes"
    )]
    NoInodes {
        /// Number of files and directories.
        need: u64,
        /// Number of inodes that are free.
        free: u64,
        /// Mount point.
        place: String,
        /// The case.
        case: String,
    },
    /// A target is not suitable for data.
    #[error("{path} {problem}: {help}", path = path.display())]
    Target {
        /// The target.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
        /// The next step.
        help: String,
    },
    /// A case asks for something that is not permitted for its kind of target.
    #[error("{case}: {problem}; {}", problem.help)]
    Rule {
        /// The case.
        case: String,
        /// What is not permitted, and the next step.
        problem: plan::PlanError,
    },
    /// A case needs something that the model of a simulated run does not have.
    #[error("{case}: {told}")]
    Model {
        /// The case.
        case: String,
        /// What is missing, and the next step.
        told: String,
    },
    /// A transfer or an open failed, or a limit was reached while measuring.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The record could not be written.
    #[error(transparent)]
    Record(#[from] record::RecordError),
    /// A file could not be created or removed.
    #[error("cannot {action} {path}: {source}", path = path.display())]
    File {
        /// The attempted action, for example `remove`.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The kernel's error.
        source: std::io::Error,
    },
    /// A tree contains files that this run has not created, so it is not removed.
    #[error(
        "{path} was not created by this run ({count} such files): it is kept, with the directories that \
         contain it; find out whose it is, and remove it yourself",
        path = path.display()
    )]
    Foreign {
        /// The first of these files.
        path: PathBuf,
        /// Their number.
        count: u64,
    },
    /// The storage does not contain what this run has written.
    #[error("data written by this run is gone: {message}")]
    DataGone {
        /// What was found instead.
        message: String,
    },
    /// A table needed by jobs could not be created.
    #[error("the table `{table}` of stream {stream} could not be loaded: {message}")]
    Unloaded {
        /// The table.
        table: String,
        /// Its stream.
        stream: u32,
        /// The message of its process, with the next step.
        message: String,
    },
    /// There is not enough space for the tables and outputs of jobs.
    #[error(
        "jobs need more space than is available: {places}; lower the scale, or give directories with more \
         space"
    )]
    NoSpaceForJobs {
        /// Each file system with its need and its free space.
        places: String,
    },
    /// The other tool of a cross-check failed.
    #[error("{tool} failed ({message}); run its command line, which is in the record, by hand")]
    Rival {
        /// The tool with its version.
        tool: String,
        /// Its exit status and its last output.
        message: String,
    },
    /// A workload derived from a valid one is invalid, which is a defect of this program.
    #[error("a derived workload is invalid: {0}")]
    Derived(#[from] plan::PlanError),
    /// The connection between the ranks of the run was lost.
    #[error(transparent)]
    Comm(#[from] CommError),
    /// Another rank could not do its part.
    #[error("on node {node} (rank {rank}): {message}")]
    Elsewhere {
        /// The rank.
        rank: u32,
        /// Its node.
        node: String,
        /// The kind of the error.
        kind: ErrorKind,
        /// Its own message.
        message: String,
    },
    /// A message between ranks could not be serialized or parsed.
    #[error("a message between the ranks of this run cannot be encoded or decoded: {0}; use paths in UTF-8")]
    Words(#[source] serde_json::Error),
    /// An order was received out of sequence, which is a defect of this program.
    #[error("an order arrived out of sequence; report this as a bug")]
    OutOfPlace,
}

impl From<host::LayoutError> for RunnerError {
    fn from(error: host::LayoutError) -> Self {
        let kind = if error.is_refusal() { ErrorKind::Refused } else { ErrorKind::HostLacks };
        Self::Layout { kind, message: error.to_string() }
    }
}

impl RunnerError {
    /// The kind of the error.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Host(error) if error.is_refusal() => ErrorKind::Refused,
            Self::Host(error) if error.is_device_error() => ErrorKind::TransferFailed,
            Self::Refusal(_) => ErrorKind::Refused,
            Self::Host(_)
            | Self::Model { .. }
            | Self::Limit(_)
            | Self::UringMissing { .. }
            | Self::NoSpace { .. }
            | Self::NoSpaceForJobs { .. }
            | Self::NoInodes { .. } => ErrorKind::HostLacks,
            Self::Target { .. } | Self::Rule { .. } => ErrorKind::Refused,
            Self::Engine(error) => engine_kind(error),
            Self::Comm(CommError::OutOfStep { .. }) => ErrorKind::Internal,
            Self::Comm(_) => ErrorKind::NodeLost,
            Self::Elsewhere { kind, .. } | Self::Layout { kind, .. } => *kind,
            Self::File { .. } | Self::DataGone { .. } | Self::Unloaded { .. } | Self::Rival { .. } => {
                ErrorKind::TransferFailed
            }
            Self::Foreign { .. } => ErrorKind::WrongData,
            Self::Record(record::RecordError::Target { .. }) => ErrorKind::TransferFailed,
            Self::Record(_) => ErrorKind::Record,
            Self::Derived(_) | Self::Words(_) | Self::OutOfPlace => ErrorKind::Internal,
        }
    }

    /// Whether files are missing or contain less than they should, on any rank.
    pub(crate) fn is_about_files(&self) -> bool {
        match self {
            Self::Host(_) | Self::Target { .. } => true,
            Self::Elsewhere { kind, .. } => matches!(kind, ErrorKind::Refused | ErrorKind::HostLacks),
            _ => false,
        }
    }

    /// Converts a kernel error to an error about `path`.
    pub(crate) fn file(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::File { action, path, source }
    }

    /// Whether the error means that a rank was lost.
    pub(crate) fn is_loss(&self) -> bool {
        matches!(self, Self::Comm(_)) || self.kind() == ErrorKind::NodeLost
    }

    /// Whether the error only reports that another rank has failed.
    pub(crate) fn is_echo(&self) -> bool {
        matches!(self, Self::Engine(EngineError::Peer))
    }

    /// The lost node, by its name in `topology` if known.
    pub(crate) fn lost_node(&self, topology: &Topology) -> String {
        let of = |rank: u32| {
            let node = topology.node_of().get(rank as usize)?;
            topology.names().get(*node as usize).cloned()
        };
        let known = match self {
            Self::Comm(CommError::PeerGone { rank, .. }) => of(*rank),
            Self::Comm(CommError::TimedOut { missing, .. }) => missing.first().and_then(|rank| of(*rank)),
            Self::Comm(CommError::Lost { node, .. }) | Self::Elsewhere { node, .. } => Some(node.clone()),
            _ => None,
        };
        known.unwrap_or_else(|| "unknown".to_owned())
    }

    /// Makes the error of a phase. A failed agreement between ranks counts as a lost rank.
    pub(crate) fn of_phase(error: EngineError) -> Self {
        match error {
            EngineError::Rendezvous(lost) => match lost.downcast::<CommError>() {
                Ok(lost) => Self::Comm(*lost),
                Err(other) => Self::Engine(EngineError::Rendezvous(other)),
            },
            other => Self::Engine(other),
        }
    }
}

/// The kind of an engine error: if the host lacks something, this shows before any transfer; other errors
/// occur while measuring.
fn engine_kind(error: &EngineError) -> ErrorKind {
    match error {
        EngineError::DirectUnsupported { .. }
        | EngineError::DirectAlignment { .. }
        | EngineError::Limit { .. }
        | EngineError::Uring(_)
        | EngineError::Libaio { .. }
        | EngineError::NoTree { .. }
        | EngineError::Memory { .. } => ErrorKind::HostLacks,
        EngineError::Network(
            NetworkError::NoInterface { .. }
            | NetworkError::NoAddress { .. }
            | NetworkError::Down { .. }
            | NetworkError::NoWay { .. }
            | NetworkError::Listen { .. }
            | NetworkError::Binding { .. },
        ) => ErrorKind::HostLacks,
        EngineError::Appeared { .. } => ErrorKind::Refused,
        EngineError::WrongData(_) => ErrorKind::WrongData,
        EngineError::Open { .. }
        | EngineError::Transfer { .. }
        | EngineError::FileTooShort { .. }
        | EngineError::ShortTransfer { .. }
        | EngineError::Call { .. }
        | EngineError::Network(_)
        | EngineError::Item { .. }
        | EngineError::Rendezvous(_)
        | EngineError::Peer => ErrorKind::TransferFailed,
    }
}
