//! The output options of a command line, and what is stored for printing.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::settings::Settings;
use crate::Compat;

/// The format of the output.
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
    /// The name of the format.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Json => "JSON",
            Self::Csv => "CSV",
        }
    }
}

/// The output options of a command line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OutputOptions {
    /// The form.
    pub format: Format,
    /// `-O summaryFile=FILE`: the output is written to this file, and one line on the terminal says so.
    pub file: Option<PathBuf>,
    /// `--warningAsErrors`: a warning makes the run fail.
    pub warnings_as_errors: bool,
    /// `-O summaryAlways`: print a summary even if the run was interrupted.
    pub summary_always: bool,
}

/// Stored with a plan so that its output can be printed from the record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Memo {
    pub format: Format,
    pub compat: Compat,
    /// The resolved settings of each test.
    pub tests: Vec<Settings>,
}
