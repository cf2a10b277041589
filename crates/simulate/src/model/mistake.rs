//! The mistakes of a model file.

use std::fmt;

use thiserror::Error;

/// Why a file cannot be used as a model.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub struct ModelErrors {
    pub(super) path: String,
    /// The mistakes with their lines, in the order of the file.
    pub mistakes: Vec<Mistake>,
}

/// One mistake of a model file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mistake {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong, and what is allowed.
    pub message: String,
}

impl fmt::Display for ModelErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, Mistake { line, message }) in self.mistakes.iter().enumerate() {
            let end = if index + 1 < self.mistakes.len() { "\n" } else { "" };
            write!(f, "{}, line {line}: {message}{end}", self.path)?;
        }
        Ok(())
    }
}

/// The number of the line, from 1, that contains the byte at `offset` of `text`.
pub(super) fn line_of(text: &str, offset: usize) -> usize {
    text.as_bytes()[..offset.min(text.len())].iter().filter(|&&byte| byte == b'\n').count() + 1
}
