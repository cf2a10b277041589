//! Text layout: the width of the terminal, and highlighting.

use std::borrow::Cow;
use std::os::fd::AsFd;

use plan::visible;
use serde::Serialize;

use crate::format::escape;

/// The escape codes used by coloured output.
const CODES: [&str; 5] = ["\u{1b}[0m", "\u{1b}[1m", "\u{1b}[31m", "\u{1b}[32m", "\u{1b}[33m"];

/// The width for a file or a pipe, and for a terminal that does not report its width.
pub(crate) const COLUMNS: usize = 120;
/// Minimum width of the layout; on a narrower terminal the lines wrap.
const COLUMNS_LEAST: usize = 60;
/// Maximum width of the layout, because longer lines are hard to read.
const COLUMNS_MOST: usize = 200;
/// Maximum width of prose.
pub(crate) const PROSE_COLUMNS: usize = 100;

/// Output layout: width, and whether colour is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Screen {
    /// Whether to use bold headings and yellow warnings; otherwise there are no escape codes at all.
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

    /// Sets the width to `columns`, limited to 60 to 200.
    #[must_use]
    pub fn wide(self, columns: usize) -> Self {
        Self { columns: columns.clamp(COLUMNS_LEAST, COLUMNS_MOST), ..self }
    }

    /// The maximum width of a table.
    pub(crate) const fn columns(self) -> usize {
        self.columns
    }

    /// The maximum width of prose.
    pub(crate) const fn prose(self) -> usize {
        if self.columns < PROSE_COLUMNS { self.columns } else { PROSE_COLUMNS }
    }

    /// `text` made safe for a terminal: line ends, tabs and, if any, the colours of a report are kept. Every
    /// other control character and other invisible characters are escaped, as `\\u{1b}`.
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

    /// `text` highlighted.
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

/// The columns of the terminal `stream`, if it is one and reports its width.
#[must_use]
pub fn terminal_columns(stream: impl AsFd) -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(stream).ok().filter(|size| size.ws_col > 0)?;
    Some(usize::from(size.ws_col))
}

/// Highlighting of a cell.
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
