//! The properties that each importer declares.

use std::borrow::Cow;
use std::io::Read;

use plan::PrintedBy;
use plan::limits::PRINTED_LINES;

use super::draft::Draft;
use super::error::ImportError;
use super::text::json;
use super::text::lines::{Block, Line, numbered};
use super::text::messages::Messages;

/// A format of output that can be parsed.
#[derive(Debug)]
pub(crate) struct Importer {
    /// The word on the command line. Formats of the same tool have the same prefix: `fio`, `fio-json`.
    pub(crate) name: &'static str,
    /// The name of the tool in messages and in records.
    pub(crate) tool: &'static str,
    /// The newest release whose output has been tested.
    pub(crate) newest: Option<(u32, u32)>,
    pub(crate) form: Form,
}

/// How an output is recognised and parsed.
#[derive(Debug)]
pub(crate) enum Form {
    /// Lines, which may be between those of other outputs.
    Lines {
        /// Whether an output starts with this line.
        starts: fn(&str) -> bool,
        /// Whether only this tool prints this line. Used for outputs whose beginning is missing.
        is_own: fn(&str) -> bool,
        /// Whether consecutive outputs form a single one, because the tool prints no banner.
        continues: bool,
        read: fn(&Block<'_>) -> Result<Draft, ImportError>,
    },
    /// A whole file of lines.
    File {
        /// Whether the whole text has this format.
        is_it: fn(&str) -> bool,
        read: fn(&Block<'_>) -> Result<Draft, ImportError>,
    },
    /// JSON, possibly after messages of the tool.
    Json {
        /// A member that must occur in the first 4 KiB.
        member: &'static str,
        /// Whether there are several values in sequence.
        several: bool,
        read: fn(&str, &str) -> Result<Draft, ImportError>,
    },
    /// Like [`Form::Json`], with several values of any length.
    Parts {
        member: &'static str,
        /// Reads the content of a file, whose JSON starts at a byte.
        read: fn(&str, usize, &mut dyn Read) -> Result<Whole<'static>, ImportError>,
    },
}

/// What was read of a file that is a single output.
pub(super) struct Whole<'a> {
    pub(super) draft: Draft,
    /// Its text, possibly without parts that have been read.
    pub(super) text: Cow<'a, str>,
}

/// An output, and the importer that has parsed it.
pub(super) type ReadOutput = (&'static Importer, Draft);

impl Importer {
    /// Whether an output is a whole file, as opposed to lines between others.
    pub(super) const fn is_whole(&self) -> bool {
        !matches!(self.form, Form::Lines { .. })
    }

    /// Parses a file that is a single output.
    pub(super) fn read_whole<'a>(&self, file: &str, text: &'a str) -> Result<Whole<'a>, ImportError> {
        match self.form {
            Form::Json { read, .. } => {
                Ok(self.telling(Whole { draft: read(file, text)?, text: text.into() }))
            }
            Form::Parts { .. } => self.read_parts(file, json::start(text).unwrap_or(0), &mut text.as_bytes()),
            Form::File { .. } | Form::Lines { .. } => {
                Ok(Whole { draft: self.read_lines(file, text, 1)?, text: text.into() })
            }
        }
    }

    /// Parses a file of [`Form::Parts`], whose JSON starts at byte `start`.
    pub(super) fn read_parts(
        &self,
        file: &str,
        start: usize,
        content: &mut dyn Read,
    ) -> Result<Whole<'static>, ImportError> {
        match self.form {
            Form::Parts { read, .. } => Ok(self.telling(read(file, start, content)?)),
            _ => Err(ImportError::NotOf { file: file.to_owned(), format: self.name }),
        }
    }

    /// Adds the messages that tools print before their JSON.
    fn telling<'a>(&self, mut whole: Whole<'a>) -> Whole<'a> {
        let before = &whole.text[..json::start(&whole.text).unwrap_or(0)];
        Messages::of(self.tool, numbered(before, 1)).tell(&mut whole.draft.tests);
        whole
    }

    /// Parses the lines of one output, the first of which has the number `first`.
    pub(super) fn read_lines(&self, file: &str, text: &str, first: u32) -> Result<Draft, ImportError> {
        let lines: Vec<Line<'_>> = numbered(text, first).take(PRINTED_LINES + 1).collect();
        let block = Block { file, tool: self.tool, lines: &lines };
        if let Some(line) = lines.get(PRINTED_LINES) {
            let what = format!("this output has more than {PRINTED_LINES} lines");
            return Err(block.unusable(
                *line,
                what,
                "give a shorter one, or one without a line for each request",
            ));
        }
        match self.form {
            Form::Lines { read, .. } | Form::File { read, .. } => {
                let mut draft = read(&block)?;
                Messages::of(self.tool, lines.iter().copied()).tell(&mut draft.tests);
                Ok(draft)
            }
            Form::Json { .. } | Form::Parts { .. } => {
                Err(ImportError::NotOf { file: file.to_owned(), format: self.name })
            }
        }
    }

    /// A sentence if the output comes from a newer release than those that were tested.
    pub(super) fn newer(&self, draft: &Draft) -> Option<String> {
        let (version, (major, minor)) = (draft.version.as_deref()?, self.newest?);
        let by = PrintedBy { tool: draft.tool.to_owned(), release: Some(version.to_owned()) };
        let found = by.numbers()?;
        (found > (major, minor)).then(|| {
            let tool = self.tool;
            format!(
                "{tool} {version} is newer than {major}.{minor}, the last known release; it was \
                 read as output of that release"
            )
        })
    }
}

/// Used as [`Form::Lines::is_own`] for a tool without such lines.
pub(crate) fn no_line(_: &str) -> bool {
    false
}
