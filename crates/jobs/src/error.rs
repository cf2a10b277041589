//! Errors of a job.

use std::io;
use std::path::{Path, PathBuf};

use plan::JobSpace;
use thiserror::Error;

/// Why a step failed. Each message is written to follow "failed to …:" and ends with the next step.
#[derive(Debug, Error)]
pub enum JobError {
    /// A call on a file failed.
    #[error("cannot {what} {} in {space} space: {error}; {}", path.display(), advice(error))]
    File {
        /// The action, for example `write page 7 of`.
        what: String,
        /// The file.
        path: PathBuf,
        /// The space that contains it.
        space: JobSpace,
        /// The error reported by the kernel.
        error: io::Error,
    },
    /// A table differs from what was written.
    #[error("{}, page {page}: {what}; create the table again, and find out what else writes there", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The page, from 0.
        page: u64,
        /// What is wrong with it.
        what: String,
    },
    /// Rows are not in the order that a step needs.
    #[error(
        "{}, row {row}: key {key} comes after key {before}, but a merge reads tables in the order of their \
         keys; sort it first, or create it with `order = \"key\"`",
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
    /// A step needs a table that does not exist.
    #[error("no table {table} for step {step}: no earlier step and no input of the job has this name")]
    NoTable {
        /// Its name.
        table: String,
        /// The step, from 0.
        step: u32,
    },
    /// A thread of a step cannot be started.
    #[error(
        "cannot start {threads} threads: {error}; lower `threads`, or raise `ulimit -u` and the control group's pids.max"
    )]
    Threads {
        /// The number of threads of the step.
        threads: u32,
        /// The error reported by the kernel.
        error: io::Error,
    },
    /// A step needs more memory than allowed.
    #[error(
        "{what} needs {needed_bytes} bytes of memory, but the step may use {memory_bytes}; give it more \
         memory"
    )]
    Memory {
        /// What needs it.
        what: String,
        /// Required memory.
        needed_bytes: u64,
        /// The step's memory limit.
        memory_bytes: u64,
    },
}

/// The suggested next step for an error reported by the kernel.
fn advice(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "free some space there, choose another directory, or lower `scale`"
        }
        io::ErrorKind::NotFound => "create the tables first (phase `load`), or correct the directory",
        io::ErrorKind::PermissionDenied => "give this user access to it, or choose another directory",
        io::ErrorKind::InvalidInput => {
            "if pages use direct I/O, omit `direct` or choose a file system that supports direct I/O"
        }
        _ => "check the file system and its device (`dmesg`)",
    }
}

impl JobError {
    /// Makes an error about a failed call on a file.
    pub(crate) fn file(what: impl Into<String>, path: &Path, space: JobSpace, error: io::Error) -> Self {
        Self::File { what: what.into(), path: path.to_owned(), space, error }
    }

    /// A page that differs from what was written.
    pub(crate) fn damaged(path: &Path, page: u64, what: impl Into<String>) -> Self {
        Self::Damaged { path: path.to_owned(), page, what: what.into() }
    }
}
