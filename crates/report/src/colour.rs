//! How a terminal shows the parts that stand out.

use std::borrow::Cow;

use plan::visible;
use serde::Serialize;

use crate::escape;

/// What [`Colour::Ansi`] writes.
const CODES: [&str; 5] = ["\u{1b}[0m", "\u{1b}[1m", "\u{1b}[31m", "\u{1b}[32m", "\u{1b}[33m"];

/// How a terminal shows the parts that stand out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Colour {
    /// No escape codes at all: for files, pipes and `NO_COLOR`.
    #[default]
    Plain,
    /// Bold headings, yellow warnings.
    Ansi,
}

impl Colour {
    /// What of `text` may go to a terminal: its lines, its tabs and the colours of a report, where there are any. Every
    /// other control character and whatever else cannot be seen is written out, as `\\u{1b}`.
    #[must_use]
    pub fn safe(self, text: &str) -> Cow<'_, str> {
        match self {
            Self::Plain => escape::terminal(text, &[]),
            Self::Ansi => escape::terminal(text, &CODES),
        }
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
        match self {
            Self::Plain => text.to_owned(),
            Self::Ansi => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
        }
    }
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
