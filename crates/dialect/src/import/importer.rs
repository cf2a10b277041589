//! What each importer declares, and the list that names them.

use super::draft::Draft;
use super::error::ImportError;
use super::text::lines::{Block, Line, lines};

/// A form of output that can be read.
#[derive(Debug)]
pub(crate) struct Importer {
    /// The word on the command line. Forms of one tool begin alike: `fio`, `fio-json`.
    pub(crate) name: &'static str,
    /// The tool, in messages and in records.
    pub(crate) tool: &'static str,
    /// The newest release whose output was seen.
    pub(crate) newest: Option<(u32, u32)>,
    pub(crate) form: Form,
}

/// How an output is recognised and read.
#[derive(Debug)]
pub(crate) enum Form {
    /// Lines, between those of other outputs.
    Lines {
        /// Whether an output starts with this line.
        starts: fn(&str) -> bool,
        /// Whether only this tool prints this line, for outputs whose beginning is missing.
        is_own: fn(&str) -> bool,
        /// Whether outputs that follow each other are one: the tool prints no banner.
        continues: bool,
        read: fn(&Block<'_>) -> Result<Draft, ImportError>,
    },
    /// A whole file of lines.
    File {
        /// Whether the whole text is of this form.
        is_it: fn(&str) -> bool,
        read: fn(&Block<'_>) -> Result<Draft, ImportError>,
    },
    /// JSON, maybe after messages of the tool.
    Json {
        /// A member that the first 4 KiB contain.
        member: &'static str,
        /// Whether it is several values, one after the other.
        several: bool,
        read: fn(&str, &str) -> Result<Draft, ImportError>,
    },
}

impl Importer {
    /// Whether an output is a whole file, not lines between others.
    pub(super) const fn is_whole(&self) -> bool {
        !matches!(self.form, Form::Lines { .. })
    }

    /// Reads a file that is one output.
    pub(super) fn read_whole(&self, file: &str, text: &str) -> Result<Draft, ImportError> {
        match self.form {
            Form::Json { read, .. } => read(file, text),
            Form::File { .. } | Form::Lines { .. } => self.read_lines(file, &lines(text)),
        }
    }

    /// Reads the lines of one output.
    pub(super) fn read_lines(&self, file: &str, lines: &[Line<'_>]) -> Result<Draft, ImportError> {
        match self.form {
            Form::Lines { read, .. } | Form::File { read, .. } => {
                read(&Block { file, tool: self.tool, lines })
            }
            Form::Json { .. } => Err(ImportError::NotOf { file: file.to_owned(), format: self.name }),
        }
    }

    /// A sentence if the output is of a newer release than those that were seen.
    pub(super) fn newer(&self, draft: &Draft) -> Option<String> {
        let (version, (major, minor)) = (draft.version.as_deref()?, self.newest?);
        let mut parts = version.split(|c: char| !c.is_ascii_digit()).map(str::parse::<u32>);
        let found = (parts.next()?.ok()?, parts.next().and_then(Result::ok).unwrap_or(0));
        (found > (major, minor)).then(|| {
            let tool = self.tool;
            format!(
                "{tool} {version} is newer than {major}.{minor}, the last release that is known; it was read as one of that"
            )
        })
    }
}

/// For [`Form::Lines::is_own`] of a tool without such lines.
pub(crate) fn no_line(_: &str) -> bool {
    false
}
