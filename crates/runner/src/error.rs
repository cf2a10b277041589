//! Why a run could not go on.

use std::path::PathBuf;

use engine::EngineError;
use thiserror::Error;

/// What kind of trouble it is; the program's exit code follows from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// Refused, to protect data or the truth of a figure.
    Refused,
    /// The host lacks something that the plan needs.
    HostLacks,
    /// A transfer failed.
    TransferFailed,
    /// A check found wrong data and was to end there.
    WrongData,
    /// The record could not be written.
    Record,
    /// A fault of the program.
    Internal,
}

/// Why a run could not start or go on.
#[derive(Debug, Error)]
pub enum RunnerError {
    /// The host room refused or could not find out.
    #[error(transparent)]
    Host(#[from] host::HostError),
    /// A device may not be written.
    #[error(transparent)]
    Refusal(#[from] host::Refusal),
    /// The plan needs more than a limit allows.
    #[error(transparent)]
    Limit(#[from] host::limits::LimitTooLow),
    /// io_uring was asked for by name and cannot be used.
    #[error("io_uring was asked for and is not available: {reason}")]
    UringMissing {
        /// Why, and what would help.
        reason: String,
    },
    /// The files do not fit.
    #[error(
        "the files need {need} and {place} has {free} free: lower the segments, blocks or tasks, or make room"
    )]
    NoSpace {
        /// What the files need.
        need: plan::Bytes,
        /// What is there.
        free: plan::Bytes,
        /// Mount point.
        place: String,
    },
    /// A target that cannot hold data.
    #[error("{path} {problem}: {help}", path = path.display())]
    Target {
        /// The target.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
        /// The next step.
        help: String,
    },
    /// The kind of its target forbids what a case asks for.
    #[error("{case}: {problem}")]
    Rule {
        /// The case.
        case: String,
        /// What is forbidden, and the next step.
        problem: plan::PlanError,
    },
    /// A transfer or an open failed, or a limit was met while measuring.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The record could not be written.
    #[error(transparent)]
    Record(#[from] record::RecordError),
    /// A file could not be made or removed.
    #[error("cannot {action} {path}: {source}", path = path.display())]
    File {
        /// What was tried, as in `remove`.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// What the kernel said.
        source: std::io::Error,
    },
    /// A workload that was derived from a valid one is not valid: a fault of this program.
    #[error("a derived workload is not valid: {0}")]
    Derived(#[from] plan::PlanError),
}

impl RunnerError {
    /// What kind of trouble it is.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Host(error) if error.is_refusal() => ErrorKind::Refused,
            Self::Refusal(_) => ErrorKind::Refused,
            Self::Host(_) | Self::Limit(_) | Self::UringMissing { .. } | Self::NoSpace { .. } => {
                ErrorKind::HostLacks
            }
            Self::Target { .. } | Self::Rule { .. } => ErrorKind::Refused,
            Self::Engine(error) => engine_kind(error),
            Self::File { .. } => ErrorKind::TransferFailed,
            Self::Record(_) => ErrorKind::Record,
            Self::Derived(_) => ErrorKind::Internal,
        }
    }
}

/// A lack of the host shows before any transfer; the rest happened while measuring.
fn engine_kind(error: &EngineError) -> ErrorKind {
    match error {
        EngineError::DirectUnsupported { .. }
        | EngineError::DirectAlignment { .. }
        | EngineError::Limit { .. }
        | EngineError::Uring(_)
        | EngineError::Memory { .. } => ErrorKind::HostLacks,
        EngineError::WrongData(_) => ErrorKind::WrongData,
        EngineError::Open { .. }
        | EngineError::Transfer { .. }
        | EngineError::FileTooShort { .. }
        | EngineError::ShortTransfer { .. }
        | EngineError::Call { .. }
        | EngineError::Rendezvous(_)
        | EngineError::Peer => ErrorKind::TransferFailed,
    }
}
