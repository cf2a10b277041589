//! What a table, a key and a kind of value are; the tables themselves are in `keys`.

use crate::parse::{SIZE_ALLOWED, TIME_ALLOWED};

/// Largest integer that TOML promises to carry.
const INTEGER_MAX: u64 = i64::MAX.unsigned_abs();

/// A table of a study file.
#[derive(Debug)]
pub(super) struct Table {
    /// Its name.
    pub(super) name: &'static str,
    /// It may come several times, as `[[name]]`.
    pub(super) many: bool,
    /// What it is for; a Markdown paragraph.
    pub(super) meaning: &'static str,
    /// Its keys, in the order of the reference.
    pub(super) keys: &'static [Key],
}

impl Table {
    /// As it is written in a file.
    pub(super) fn header(&self) -> String {
        if self.many { format!("[[{}]]", self.name) } else { format!("[{}]", self.name) }
    }

    /// The definition of one of its keys.
    pub(super) fn key(&self, name: &str) -> &'static Key {
        self.keys.iter().find(|key| key.name == name).expect("the reader asks for keys of this table only")
    }
}

/// A key of a table.
#[derive(Debug)]
pub(super) struct Key {
    /// How it is written.
    pub(super) name: &'static str,
    /// What values it takes.
    pub(super) kind: Kind,
    /// What holds where it is left out.
    pub(super) absent: Absent,
    /// What it does; one or two sentences in Markdown.
    pub(super) meaning: &'static str,
}

/// What holds where a key is left out.
#[derive(Debug)]
pub(super) enum Absent {
    /// The file is refused.
    Refused,
    /// As if this TOML value had been written.
    Value(&'static str),
    /// What these words say.
    Described(&'static str),
}

/// A word that a key takes, and what it means.
pub(super) type Word = (&'static str, &'static str);

/// What values a key takes.
#[derive(Debug)]
pub(super) enum Kind {
    /// Any text.
    Text,
    /// A text that can stand in tables and file names.
    Name,
    /// The path of a file or directory.
    Path,
    /// A list of paths.
    Paths,
    /// A number of bytes.
    Size,
    /// A length of time.
    Time,
    /// A whole number between two bounds, both included.
    Count(u64, u64),
    /// A number above 0.
    Rate,
    /// True or false.
    Flag,
    /// One of several words.
    Word(&'static [Word]),
    /// A list of words.
    Words(&'static [Word]),
}

impl Kind {
    /// The type, for the reference and for errors about it.
    pub(super) fn noun(&self) -> &'static str {
        match self {
            Self::Text | Self::Name => "a text",
            Self::Path => "a path",
            Self::Paths => "a list of paths",
            Self::Size => "a size",
            Self::Time => "a time",
            Self::Count(..) => "a whole number",
            Self::Rate => "a number",
            Self::Flag => "true or false",
            Self::Word(_) => "a word",
            Self::Words(_) => "a list of words",
        }
    }

    /// What is allowed, as a sentence for the help of an error.
    pub(super) fn allowed(&self) -> String {
        match self {
            Self::Text => "write a text in quotes".to_owned(),
            Self::Name => NAME_ALLOWED.to_owned(),
            Self::Path => "write one path in quotes".to_owned(),
            Self::Paths => "write paths in brackets, as [\"/mnt/0/data\", \"/mnt/1/data\"]".to_owned(),
            Self::Size => SIZE_ALLOWED.to_owned(),
            Self::Time => TIME_ALLOWED.to_owned(),
            Self::Count(least, INTEGER_MAX) => format!("write a whole number, {least} or more"),
            Self::Count(least, most) => format!("write a whole number from {least} to {most}"),
            Self::Rate => "write a number above 0 and up to 1e9".to_owned(),
            Self::Flag => "write true or false, without quotes".to_owned(),
            Self::Word(words) => format!("write one of {}", quoted(words)),
            Self::Words(words) => {
                format!("write a list, as [{}]; each is one of {}", first(words), quoted(words))
            }
        }
    }

    /// The words that it takes, if it takes words.
    pub(super) fn words(&self) -> &'static [Word] {
        match self {
            Self::Word(words) | Self::Words(words) => words,
            _ => &[],
        }
    }
}

/// What a name may look like.
const NAME_ALLOWED: &str =
    "a name has 1 to 64 letters, digits, `.`, `_` or `-`, and does not start with a dot or a dash";

fn quoted(words: &[Word]) -> String {
    words.iter().map(|(word, _)| format!("\"{word}\"")).collect::<Vec<_>>().join(", ")
}

fn first(words: &[Word]) -> String {
    words.first().map_or_else(String::new, |(word, _)| format!("\"{word}\""))
}
