//! Mistakes in a study file, each with its position.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use miette::{Diagnostic, LabeledSpan, NamedSource};
use thiserror::Error;

use crate::limits::STUDY_BYTES;

/// Limit on the length of a line that is shown with a mark below it.
const LINE_BYTES_MAX: usize = 4096;
/// Maximum number of mistakes shown at once; a file with more is best fixed from the top.
const SHOWN_MAX: usize = 20;

/// All mistakes of a study file, or of a file of defaults. Displayed with [`miette`], each has its line, a mark under the
/// position, what is allowed and, for a misspelt word, the nearest one.
#[derive(Debug, Error, Diagnostic)]
#[error("{path} cannot be used {purpose}: {}", count(*.total, "mistake"))]
pub struct StudyErrors {
    path: String,
    purpose: &'static str,
    total: u64,
    too_many_cases: Option<u64>,
    #[source_code]
    source_code: Arc<NamedSource<String>>,
    #[related]
    errors: Vec<StudyError>,
}

impl StudyErrors {
    /// Sorts the mistakes by their position in the file.
    pub(super) fn new(path: &Path, text: &str, errors: Vec<StudyError>) -> Self {
        Self::of(path, text, errors, "as a study")
    }

    /// The same for a file of defaults.
    pub(crate) fn of_defaults(path: &Path, text: &str, errors: Vec<StudyError>) -> Self {
        Self::of(path, text, errors, "for defaults")
    }

    fn of(path: &Path, text: &str, mut errors: Vec<StudyError>, purpose: &'static str) -> Self {
        errors.sort_by_key(StudyError::place);
        errors.dedup();
        // A text too long to be a study is not shown; its mistakes are given by line number.
        let too_long = text.len() > STUDY_BYTES;
        let text = if too_long || text.lines().any(|line| line.len() > LINE_BYTES_MAX) {
            errors.iter_mut().filter(|_| !too_long).for_each(|error| error.tell_line(text));
            ""
        } else {
            text
        };
        let too_many_cases = match errors.as_slice() {
            [only] => only.too_many_cases,
            _ => None,
        };
        let total = errors.len() as u64;
        errors.truncate(SHOWN_MAX);
        let path = path.display().to_string();
        Self {
            source_code: Arc::new(NamedSource::new(&path, text.to_owned())),
            path,
            purpose,
            total,
            too_many_cases,
            errors,
        }
    }

    /// The mistakes in the order of the file; at most 20.
    #[must_use]
    pub fn errors(&self) -> &[StudyError] {
        &self.errors
    }

    /// The number of cases of the study, if that is the only mistake and [`super::Options::cases_max`] can
    /// allow it. Further mistakes are only found then.
    #[must_use]
    pub fn too_many_cases(&self) -> Option<u64> {
        self.too_many_cases
    }
}

/// One mistake in a study file.
#[derive(Debug, Clone, PartialEq, Eq, Error, Diagnostic)]
#[error("{message}")]
pub struct StudyError {
    message: String,
    #[label(collection)]
    labels: Vec<LabeledSpan>,
    #[help]
    help: String,
    too_many_cases: Option<u64>,
}

impl StudyError {
    /// Describes the line in words instead of showing it.
    fn tell_line(&mut self, text: &str) {
        let offset = self.labels.first().map_or(0, LabeledSpan::offset).min(text.len());
        let line = text.as_bytes()[..offset].iter().filter(|&&byte| byte == b'\n').count() + 1;
        self.message = format!("line {line}: {}", self.message);
        self.labels.clear();
    }

    /// A mistake at `span`, which is marked and named by `label`.
    pub(crate) fn new(
        span: Range<usize>,
        label: impl Into<String>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Self {
        let labels = vec![LabeledSpan::new_primary_with_span(Some(label.into()), span)];
        Self { message: message.into(), labels, help: help.into(), too_many_cases: None }
    }

    /// Marks a second place that belongs to the mistake.
    pub(super) fn and(mut self, span: Range<usize>, label: impl Into<String>) -> Self {
        self.labels.push(LabeledSpan::new_with_span(Some(label.into()), span));
        self
    }

    /// Marks the mistake as an excessive number of cases, which can be allowed.
    pub(super) fn of_many_cases(self, cases: u64) -> Self {
        Self { too_many_cases: Some(cases), ..self }
    }

    /// Adds something to the message.
    pub(super) fn adding(mut self, more: &str) -> Self {
        self.message.push_str(more);
        self
    }

    /// What is wrong, as a lowercase fragment.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What is allowed, or the next step.
    #[must_use]
    pub fn help_text(&self) -> &str {
        &self.help
    }

    /// Offset in bytes of the first place in the file that is marked.
    #[must_use]
    pub fn place(&self) -> usize {
        self.labels.first().map_or(0, LabeledSpan::offset)
    }
}

/// `1 mistake`, `2 mistakes`.
pub(super) fn count(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}
