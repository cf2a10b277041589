//! Errors when a record is read from or written to disk.

use std::io;
use std::path::{Path, PathBuf};

use parquet::errors::ParquetError;
use thiserror::Error;

use crate::files::unexpected::Unexpected;
use crate::format::FORMAT_VERSION;

/// Where a run directory is that is no longer at its path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NowAt {
    /// At another path.
    Path(PathBuf),
    /// It was removed.
    Removed,
    /// This process cannot see where it is, or whether it exists.
    Unknown,
}

/// Each message is written to follow "failed to", names the path and states the next step.
#[derive(Debug, Error)]
pub enum RecordError {
    /// The operating system reported an error.
    #[error("{action} {}: {source}; {}", path.display(), next_step(source))]
    Io {
        /// The attempted action, for example `write`.
        action: &'static str,
        /// The path of the action.
        path: PathBuf,
        /// The error.
        source: io::Error,
    },
    /// The operating system reported an error about the storage that is measured, not about the record.
    #[error("{action} {}: {source}; {}", path.display(), next_step(source))]
    Target {
        /// The attempted action, for example `remove`.
        action: &'static str,
        /// The path of the action.
        path: PathBuf,
        /// The error.
        source: io::Error,
    },
    /// A file of the record was to be written where there is a link, pipe or device.
    #[error(
        "write {}: {source}; nothing was written there: remove it, or write elsewhere",
        path.display()
    )]
    InTheWay {
        /// The path.
        path: PathBuf,
        /// What is there.
        source: io::Error,
    },
    /// According to their headers, the tables of a run contain more than their files can hold.
    #[error("read {}: {message}; none of it was read: ask for an undamaged copy of the directory", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The claimed size, and the limit.
        message: String,
    },
    /// The directory of a new run is not empty.
    #[error("create the run directory {}: it is not empty; name a directory that does not exist yet", path.display())]
    NotEmpty {
        /// The directory.
        path: PathBuf,
    },
    /// The run directory was moved or removed while the run was being recorded.
    #[error(
        "record the run in {}: {}", path.display(), moved(now)
    )]
    Moved {
        /// Where the run began.
        path: PathBuf,
        /// Where it is now.
        now: NowAt,
    },
    /// The directory does not contain a run.
    #[error(
        "read {} as a run: it has neither manifest.json nor journal.jsonl; \
         name the directory that was printed at the end of the run",
        path.display()
    )]
    NotARun {
        /// The directory.
        path: PathBuf,
    },
    /// The run ended while its directory was being created.
    #[error(
        "read {} as a run: it ended before anything was recorded; remove the directory, and start the run again",
        path.display()
    )]
    NotBegun {
        /// The directory.
        path: PathBuf,
    },
    /// The run was written by a later version of the program.
    #[error(
        "read {}: it has format version {found}, but this program supports versions 1 to {}; read it with \
         the program that wrote it, or a later version",
        path.display(),
        FORMAT_VERSION
    )]
    NewerVersion {
        /// The run directory.
        path: PathBuf,
        /// The version found.
        found: u32,
    },
    /// A file exists but cannot be interpreted.
    #[error("read {}: {message}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What was found, what was expected, and the next step.
        message: String,
    },
    /// A table could not be written or read.
    #[error("{action} the table {}: {source}; the rows are also in journal.jsonl", path.display())]
    Table {
        /// The attempted action.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The error.
        source: ParquetError,
    },
    /// Files were to be removed that a run may still be using.
    #[error(
        "remove what run {run_id} left in {}: it {state} (process {pid} on {node}); \
         end it first, or remove the files there by hand",
        path.display()
    )]
    StillRunning {
        /// The directory.
        path: PathBuf,
        /// The run.
        run_id: String,
        /// Description of how certain it is that the run is in progress.
        state: &'static str,
        /// The process number of the run.
        pid: u32,
        /// The node of the run.
        node: String,
    },
    /// A run cannot be continued.
    #[error("cannot resume {}: {why}", path.display())]
    CannotResume {
        /// The run directory.
        path: PathBuf,
        /// The reason, and the next step.
        why: String,
    },
    /// The run has not ended, so it is not resumed.
    #[error(
        "cannot resume {}: it is still running{}; wait for it to end, or end it first", path.display(), by(*process)
    )]
    Running {
        /// The run directory.
        path: PathBuf,
        /// The process that writes the record, if it can be seen from here.
        process: Option<u32>,
    },
    /// The run has nothing left to do.
    #[error(
        "cannot resume {}: the run is complete: {}; show it with `ioproof report`",
        path.display(),
        if *cases == 1 { "its only case is finished".to_owned() } else { format!("all of its {cases} cases are finished") }
    )]
    Complete {
        /// The run directory.
        path: PathBuf,
        /// Number of cases.
        cases: usize,
    },
    /// Runs cannot be merged.
    #[error("merge: {why}")]
    CannotMerge {
        /// The reason, and the next step.
        why: String,
    },
    /// A case that is finished was to be run again.
    #[error("record case `{case}`: it is already finished; skip the cases that `Resumed` lists")]
    Finished {
        /// The case.
        case: String,
    },
    /// There are rows for a case that is not in progress.
    #[error("record {what}: case `{case}` is not in progress; call case_started first")]
    NoSuchCase {
        /// What was to be recorded.
        what: &'static str,
        /// The case.
        case: String,
    },
}

impl RecordError {
    /// Converts an operating system error to an error about `path`.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self::Io { action, path, source }
    }

    /// Converts an operating system error to an error about `path`, which is on the storage that is
    /// measured.
    pub(crate) fn target(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self::Target { action, path, source }
    }

    /// Converts an error of the table writer or reader to an error about `path`.
    pub(crate) fn table(action: &'static str, path: &Path) -> impl FnOnce(ParquetError) -> Self {
        let path = path.to_path_buf();
        move |source| match source {
            ParquetError::External(inner) => match inner.downcast::<io::Error>() {
                Ok(source) => Self::Io { action, path, source: *source },
                Err(inner) => Self::Table { action, path, source: ParquetError::External(inner) },
            },
            source => Self::Table { action, path, source },
        }
    }
}

/// Where the record of a run is whose directory is no longer in its place.
fn moved(now: &NowAt) -> String {
    match now {
        NowAt::Path(now) => format!(
            "that directory was moved to {0} during the run, and everything measured is there; `ioproof report {1}` \
             shows it",
            now.display(),
            plan::shell_word(&now.to_string_lossy())
        ),
        NowAt::Removed => {
            "that directory was removed during the run, and what was measured is lost; start the run \
                           again, and leave its directory alone"
                .to_owned()
        }
        NowAt::Unknown => {
            "that directory is no longer at its path, and where it is now cannot be seen; if it still \
                           exists, everything measured is there"
                .to_owned()
        }
    }
}

/// Which process writes a record.
fn by(process: Option<u32>) -> String {
    match process {
        Some(process) => format!(" in process {process} of this node"),
        None => ": a process that cannot be seen from here is writing it".to_owned(),
    }
}

/// What the user can do about an error.
fn next_step(source: &io::Error) -> &'static str {
    if Unexpected::is(source) {
        return "restore what the run wrote there, or ask for a complete copy of the directory";
    }
    match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "free some space there, or choose another directory"
        }
        io::ErrorKind::ReadOnlyFilesystem => "choose a directory on a writable file system",
        io::ErrorKind::PermissionDenied => "choose a directory that you may write to",
        io::ErrorKind::NotFound => "check the path",
        io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists => "name a directory",
        _ => "check the file system, or choose another directory",
    }
}
