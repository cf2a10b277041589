//! Why a text cannot be imported.

use thiserror::Error;

/// Why a text cannot be imported; nothing of it was.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ImportError {
    /// No known tool prints such a text.
    #[error(
        "{file}: this is not the output of a tool that is known; known are {known}: give a file that one of them \
         wrote, or name the tool with --as"
    )]
    Unknown {
        /// The file.
        file: String,
        /// The forms that are known.
        known: String,
    },
    /// The text is not of the form that was named.
    #[error("{file}: this is not the output of {format}: leave --as out to have the tool found")]
    NotOf {
        /// The file.
        file: String,
        /// The form that was named.
        format: &'static str,
    },
    /// A line is not what it would be.
    #[error("{file}:{line}: found `{found}`, expected {expected}: {next}")]
    Malformed {
        /// The file.
        file: String,
        /// The line, from 1.
        line: u32,
        /// The text found.
        found: String,
        /// What is expected.
        expected: String,
        /// The next step.
        next: String,
    },
    /// It ends too early.
    #[error("{file}:{line}: the output of {tool} ends before {expected}: give all of it, to its last line")]
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
    /// It is correct but has nothing that can be recorded.
    #[error("{file}:{line}: {what}: {next}")]
    Unusable {
        /// The file.
        file: String,
        /// The line.
        line: u32,
        /// Why.
        what: String,
        /// The next step.
        next: String,
    },
}

/// The number of characters of a found text that a message shows.
const FOUND_MAX: usize = 80;

/// The beginning of `text`, on one line.
pub(super) fn shown(text: &str) -> String {
    let text = text.trim();
    let mut shown: String =
        text.chars().take(FOUND_MAX).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().count() > FOUND_MAX {
        shown.push('…');
    }
    shown
}
