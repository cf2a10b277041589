//! What a line says about the output, and what is stored for it.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::settings::Settings;
use crate::Compat;

/// The form of the output.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// IOR's text.
    #[default]
    Text,
    /// `-O summaryFormat=JSON`.
    Json,
    /// `-O summaryFormat=CSV`.
    Csv,
}

impl Format {
    /// The word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Json => "JSON",
            Self::Csv => "CSV",
        }
    }
}

/// What the line says about the output.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OutputOptions {
    /// The form.
    pub format: Format,
    /// `-O summaryFile=FILE`: the output goes there, and one line to the terminal says so.
    pub file: Option<PathBuf>,
    /// `--warningAsErrors`: a warning makes the run fail.
    pub warnings_as_errors: bool,
    /// `-O summaryAlways`: a summary also of a run that was interrupted.
    pub summary_always: bool,
}

/// What is stored with a plan so that its output can be printed from the record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Memo {
    pub format: Format,
    pub compat: Compat,
    /// The resolved settings of each test.
    pub tests: Vec<Settings>,
}
