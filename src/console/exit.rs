//! The exit codes, which `docs/EXIT_CODES.md` lists too, and how they are determined from errors.

use std::process::ExitCode;

use runner::ErrorKind;

/// The exit status of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Success.
    Success = 0,
    /// A defect of the program.
    Internal = 1,
    /// The command line or the study is wrong. Nothing was changed.
    Usage = 2,
    /// The program refused, to protect data or the correctness of a figure.
    Refused = 3,
    /// The host lacks something that the plan needs.
    HostLacks = 4,
    /// A transfer failed while measuring.
    TransferFailed = 5,
    /// A check found data that differs from what was written.
    WrongData = 6,
    /// The run directory could not be written or read.
    Record = 7,
    /// A commitment was missed or could not be verified, or a value is beyond its limit.
    NotKept = 8,
    /// A node of the run was lost. Earlier measurements are kept.
    NodeLost = 9,
    /// It cannot be told whether a limit was kept, and none was shown not to be.
    Untold = 10,
    /// The user ended the run. The measurements so far are kept.
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        #[cfg(feature = "planted-faults")]
        if runner::planted("untold") && exit == Exit::TransferFailed {
            return Self::SUCCESS;
        }
        Self::from(exit as u8)
    }
}

/// An error with its exit code.
#[derive(Debug)]
pub(crate) struct Failure {
    /// The exit code.
    pub(crate) exit: Exit,
    /// What happened.
    pub(crate) error: anyhow::Error,
    /// Whether another process reports it.
    pub(crate) told_elsewhere: bool,
}

impl Failure {
    /// Creates a failure that ends the program with `exit`.
    pub(crate) fn new(exit: Exit, error: impl Into<anyhow::Error>) -> Self {
        Self { exit, error: error.into(), told_elsewhere: false }
    }

    /// Returns the same failure, marked as reported by another process of the run.
    pub(crate) fn silent(self) -> Self {
        Self { told_elsewhere: true, ..self }
    }

    /// Returns the same failure with `more` at the end of its message.
    pub(crate) fn followed_by(self, more: &str) -> Self {
        Self { error: anyhow::anyhow!("{}; {more}", with_causes(&self.error)), ..self }
    }

    /// Creates a failure about wrong usage.
    pub(crate) fn usage(message: impl std::fmt::Display) -> Self {
        Self::new(Exit::Usage, anyhow::anyhow!("{message}"))
    }
}

impl From<ErrorKind> for Exit {
    fn from(kind: ErrorKind) -> Self {
        match kind {
            ErrorKind::Refused => Self::Refused,
            ErrorKind::HostLacks => Self::HostLacks,
            ErrorKind::TransferFailed => Self::TransferFailed,
            ErrorKind::WrongData => Self::WrongData,
            ErrorKind::Record => Self::Record,
            ErrorKind::NodeLost => Self::NodeLost,
            ErrorKind::Internal => Self::Internal,
        }
    }
}

impl From<runner::RunnerError> for Failure {
    fn from(error: runner::RunnerError) -> Self {
        Self::new(error.kind().into(), error)
    }
}

impl From<record::RecordError> for Failure {
    fn from(error: record::RecordError) -> Self {
        let exit = match &error {
            // The directory is intact, but the request makes no sense for it.
            record::RecordError::CannotResume { .. }
            | record::RecordError::Complete { .. }
            | record::RecordError::CannotMerge { .. } => Exit::Usage,
            record::RecordError::InTheWay { .. } | record::RecordError::Running { .. } => Exit::Refused,
            record::RecordError::Target { .. } => Exit::TransferFailed,
            _ => Exit::Record,
        };
        Self::new(exit, error)
    }
}

/// Formats `error` with its causes, except those already contained in a previous message.
pub(crate) fn with_causes(error: &anyhow::Error) -> String {
    error.chain().map(ToString::to_string).fold(String::new(), |told, cause| {
        match (told.is_empty(), told.contains(&cause)) {
            (true, _) => cause,
            (false, true) => told,
            (false, false) => format!("{told}: {cause}"),
        }
    })
}
