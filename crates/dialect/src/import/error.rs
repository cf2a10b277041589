//! Why a text cannot be imported.

use std::io;

use thiserror::Error;

/// Why a text cannot be imported. Nothing of it is imported then.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ImportError {
    /// The file cannot be read.
    #[error("cannot read {file}: {why}: give files that tools have written, or - for standard input")]
    Unreadable {
        /// The file.
        file: String,
        /// The error of the operating system.
        why: String,
    },
    /// The file is longer than is read.
    #[error(
        "{} has more than {most}: split the output of the tools into smaller files and import these",
        if .file == "-" { "standard input" } else { .file },
        most = plan::Bytes(plan::limits::PRINTED_BYTES)
    )]
    TooLong {
        /// The file.
        file: String,
    },
    /// The text is not the output of any known tool.
    #[error(
        "{file}: this is not the output of a known tool; known are {known}: give a file that one of them \
         wrote, or name the tool with --as"
    )]
    Unknown {
        /// The file.
        file: String,
        /// The known formats.
        known: String,
    },
    /// The text does not have the specified format.
    #[error("{file}: this is not the output of {format}: leave --as out to detect the tool")]
    NotOf {
        /// The file.
        file: String,
        /// The specified format.
        format: &'static str,
    },
    /// A line is not as expected.
    #[error("{file}:{line}: found `{found}`, expected {expected}: {next}")]
    Malformed {
        /// The file.
        file: String,
        /// The line, from 1.
        line: u32,
        /// The text found.
        found: String,
        /// What was expected.
        expected: String,
        /// The next step.
        next: String,
    },
    /// The text ends too early.
    #[error("{file}:{line}: the output of {tool} ends before {expected}: give the complete output")]
    Ended {
        /// The file.
        file: String,
        /// The last line.
        line: u32,
        /// The tool.
        tool: String,
        /// What is missing.
        expected: String,
    },
    /// The text is correct but contains nothing that can be recorded.
    #[error("{file}:{line}: {what}: {next}")]
    Unusable {
        /// The file.
        file: String,
        /// The line.
        line: u32,
        /// The reason.
        what: String,
        /// The next step.
        next: String,
    },
}

impl ImportError {
    /// The error for a `file` that cannot be read.
    pub fn unreadable(file: &str) -> impl Fn(io::Error) -> Self {
        move |error| Self::Unreadable { file: file.to_owned(), why: error.to_string() }
    }
}

/// Maximum number of characters of a text that a message shows.
const FOUND_MAX: usize = 80;

/// The beginning of `text`, on a single line.
pub(super) fn shown(text: &str) -> String {
    let text = text.trim();
    let mut shown: String =
        text.chars().take(FOUND_MAX).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().count() > FOUND_MAX {
        shown.push('…');
    }
    shown
}
