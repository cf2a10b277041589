//! What can go wrong while a test device is set up.

use std::io;
use std::path::{Path, PathBuf};

/// A device that could not be set up or used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A helper program ended with an error.
    #[error("`{command}` failed ({status}): {message}")]
    Command {
        /// The program with its arguments.
        command: String,
        /// How it ended.
        status: String,
        /// What it wrote to its error output.
        message: String,
    },
    /// A file or directory could not be used.
    #[error("{}: {source}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The host lacks something; install it or run as root.
    #[error("not available here: {0}")]
    Missing(String),
    /// A program did not end in the time that it was given, and was killed.
    #[error("`{command}` was killed after {seconds} s; its output so far: {output}")]
    TimedOut {
        /// The program with its arguments.
        command: String,
        /// The limit.
        seconds: u64,
        /// What it had written.
        output: String,
    },
    /// A line of a trace that has not the shape of a call.
    #[error("line {line} of the trace is not a call: {text}")]
    Trace {
        /// From 1.
        line: usize,
        /// The line.
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
