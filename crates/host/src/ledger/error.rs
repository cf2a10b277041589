//! Errors of ledgers.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// An error of a ledger.
#[derive(Debug, Error)]
pub enum LedgerError {
    /// The ledger cannot be read or written.
    #[error("{action} {path}: {source}; {next}", path = path.display())]
    Io {
        /// The attempted action.
        action: &'static str,
        /// The path of the action.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
        /// What to do.
        next: &'static str,
    },
    /// Other users could have written it, or it is not a regular file.
    #[error("{path}: {reason}", path = path.display())]
    Untrusted {
        /// The file.
        path: PathBuf,
        /// The reason, and what to do.
        reason: String,
    },
    /// A line is not an event of a ledger.
    #[error("{path}: line {line} is damaged ({reason}): {by_hand}", path = path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The line number, starting at 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
        /// How to undo the changes without this program.
        by_hand: &'static str,
    },
    /// It was written by another host.
    #[error(
        "{path} was written on host {theirs}, but this is {ours}: its values do not belong to this host; \
         restore there, or give another --state",
        path = path.display()
    )]
    OtherHost {
        /// The file.
        path: PathBuf,
        /// The host that wrote it.
        theirs: String,
        /// This host.
        ours: String,
    },
    /// It was written before the host was last booted.
    #[error(
        "{path} was written before the last boot: run `ioproof host restore` first, which restores the \
         values that are still set",
        path = path.display()
    )]
    EarlierBoot {
        /// The file.
        path: PathBuf,
    },
    /// Another process is using it.
    #[error("another ioproof process is tuning or restoring this host ({path} is locked): wait for it to \
             end", path = path.display())]
    Busy {
        /// The directory.
        path: PathBuf,
    },
}

impl LedgerError {
    pub(crate) fn io(
        action: &'static str,
        path: &Path,
        source: impl Into<io::Error>,
        next: &'static str,
    ) -> Self {
        Self::Io { action, path: path.to_owned(), source: source.into(), next }
    }

    /// Whether the program could go on but refuses.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        !matches!(self, Self::Io { .. })
    }
}
