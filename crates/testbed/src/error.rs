//! Errors of the testbed.

use std::io;
use std::path::{Path, PathBuf};

/// An error of the testbed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A helper program ended with an error.
    #[error("`{command}` failed ({status}): {message}")]
    Command {
        /// The program with its arguments.
        command: String,
        /// Its exit status.
        status: String,
        /// Its error output.
        message: String,
    },
    /// A file or directory could not be used.
    #[error("{}: {source}", path.display())]
    File {
        /// Its path.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A requirement of the host is not met. Install what is missing, or run as root.
    #[error("not available here: {0}")]
    Missing(String),
    /// A program exceeded its time limit and was killed.
    #[error("`{command}` was killed after {seconds} s; its output so far: {output}")]
    TimedOut {
        /// The program with its arguments.
        command: String,
        /// The time limit.
        seconds: u64,
        /// Its output until then.
        output: String,
    },
    /// A line of a trace could not be parsed as a call.
    #[error("line {line} of the trace is not a call: {text}")]
    Trace {
        /// Line number, counted from 1.
        line: usize,
        /// Text of the line.
        text: String,
    },
}

impl Error {
    /// Wraps the error of an operation on `path`.
    pub(crate) fn file(path: impl AsRef<Path>) -> impl FnOnce(io::Error) -> Self {
        let path = path.as_ref().to_path_buf();
        move |source| Self::File { path, source }
    }
}
