//! What a text is laid out for: the width of the terminal, and how parts of it stand out.

use std::borrow::Cow;
use std::os::fd::AsFd;

use plan::visible;
use serde::Serialize;

use crate::escape;

/// The escape codes that a coloured screen is sent.
const CODES: [&str; 5] = ["\u{1b}[0m", "\u{1b}[1m", "\u{1b}[31m", "\u{1b}[32m", "\u{1b}[33m"];

/// Columns of a file or a pipe, and of a terminal that does not say how many it has.
pub(crate) const COLUMNS: usize = 120;
/// A narrower terminal wraps lines: figures and their units need that much.
const COLUMNS_LEAST: usize = 60;
/// Longer lines are harder to read than folded ones.
const COLUMNS_MOST: usize = 200;
/// Prose is folded to that, as it is in print.
pub(crate) const PROSE_COLUMNS: usize = 100;

/// What a text is laid out for: its width, and whether parts of it stand out by colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Screen {
    /// Bold headings, yellow warnings; else no escape codes at all.
    coloured: bool,
    columns: usize,
}

impl Default for Screen {
    fn default() -> Self {
        Self::PLAIN
    }
}

impl Screen {
    /// For files and pipes: 120 columns without escape codes.
    pub const PLAIN: Self = Self { coloured: false, columns: COLUMNS };

    /// With escape codes for colours.
    #[must_use]
    pub const fn coloured(self) -> Self {
        Self { coloured: true, ..self }
    }

    /// With lines of at most `columns`, where that is between 60 and 200.
    #[must_use]
    pub fn wide(self, columns: usize) -> Self {
        Self { columns: columns.clamp(COLUMNS_LEAST, COLUMNS_MOST), ..self }
    }

    /// The most columns that a table may take.
    pub(crate) const fn columns(self) -> usize {
        self.columns
    }

    /// The most columns of prose.
    pub(crate) const fn prose(self) -> usize {
        if self.columns < PROSE_COLUMNS { self.columns } else { PROSE_COLUMNS }
    }

    /// What of `text` may go to a terminal: its lines, its tabs and the colours of a report, where there are any. Every
    /// other control character and whatever else cannot be seen is written out, as `\\u{1b}`.
    #[must_use]
    pub fn safe(self, text: &str) -> Cow<'_, str> {
        let codes: &[&str] = if self.coloured { &CODES } else { &[] };
        escape::terminal(text, codes)
    }

    /// A heading: one line.
    pub(crate) fn strong(self, text: &str) -> String {
        self.wrap("1", &visible(text))
    }

    pub(crate) fn warning(self, text: &str) -> String {
        self.wrap("33", text)
    }

    /// The text of a cell that stands out; its words say the same without colour.
    pub(crate) fn tone(self, tone: Tone, text: &str) -> String {
        match tone {
            Tone::Plain => text.to_owned(),
            Tone::Main => self.wrap("1", text),
            Tone::Good => self.wrap("32", text),
            Tone::Bad => self.wrap("31", text),
            Tone::Doubtful => self.wrap("33", text),
        }
    }

    fn wrap(self, code: &str, text: &str) -> String {
        if self.coloured { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}

/// The columns of the terminal that `stream` is, if it is one and says how many it has.
#[must_use]
pub fn terminal_columns(stream: impl AsFd) -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(stream).ok().filter(|size| size.ws_col > 0)?;
    Some(usize::from(size.ws_col))
}

/// How much a cell stands out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Tone {
    #[default]
    Plain,
    /// The best of its kind.
    Main,
    Good,
    Bad,
    Doubtful,
}
