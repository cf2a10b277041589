//! What can stop a job.

use std::io;
use std::path::{Path, PathBuf};

use plan::JobSpace;
use thiserror::Error;

/// Why a step could not be done. Each message is a fragment that fits after "failed to …:" and ends with the next
/// step.
#[derive(Debug, Error)]
pub enum JobError {
    /// The kernel refused a call on a file.
    #[error("cannot {what} {} in {space} space: {error}; {}", path.display(), advice(error))]
    File {
        /// What was to be done, as in `write page 7 of`.
        what: String,
        /// The file.
        path: PathBuf,
        /// The space that it stands in.
        space: JobSpace,
        /// What the kernel said.
        error: io::Error,
    },
    /// A table is not what its writer left.
    #[error("{}, page {page}: {what}; make the table again, and look for what else writes there", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The page, from 0.
        page: u64,
        /// What is wrong with it.
        what: String,
    },
    /// Rows stand in another order than a step needs.
    #[error(
        "{}, row {row}: key {key} stands behind key {before}, but a merge reads tables in the order of their keys; \
         sort it first, or make it with `order = \"key\"`",
        path.display()
    )]
    NotInOrder {
        /// The file.
        path: PathBuf,
        /// The row, from 0.
        row: u64,
        /// Its key.
        key: u64,
        /// The key of the row before it.
        before: u64,
    },
    /// A step asks for a table that nobody has made.
    #[error("no table {table} for step {step}: neither an earlier step nor an input of the job is called so")]
    NoTable {
        /// Its name.
        table: String,
        /// The step, from 0.
        step: u32,
    },
    /// A step needs more memory than it may have.
    #[error(
        "{what} needs {needed_bytes} bytes of memory, but the step may have {memory_bytes}; give it more memory"
    )]
    Memory {
        /// What needs it.
        what: String,
        /// How much.
        needed_bytes: u64,
        /// What the step may have.
        memory_bytes: u64,
    },
}

/// The next step that an error of the kernel asks for.
fn advice(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "free some space there, choose another directory, or lower `scale`"
        }
        io::ErrorKind::NotFound => "make the tables first (phase `load`), or correct the directory",
        io::ErrorKind::PermissionDenied => "give this user the right to it, or choose another directory",
        io::ErrorKind::InvalidInput => {
            "where pages are direct, leave `direct` out or choose a file system that can do direct I/O"
        }
        _ => "look at the file system and its device (`dmesg`)",
    }
}

impl JobError {
    /// An error of the kernel on a file.
    pub(crate) fn file(what: impl Into<String>, path: &Path, space: JobSpace, error: io::Error) -> Self {
        Self::File { what: what.into(), path: path.to_owned(), space, error }
    }

    /// A page that is not what its writer left.
    pub(crate) fn damaged(path: &Path, page: u64, what: impl Into<String>) -> Self {
        Self::Damaged { path: path.to_owned(), page, what: what.into() }
    }
}
