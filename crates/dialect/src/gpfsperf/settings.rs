//! Converts the words of a command line to settings.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::options::{Key, OPTIONS, wrong};
use crate::ToolError;
use crate::options::Given;

/// The operation on the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Action {
    Create,
    Read,
    Write,
}

/// The access pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Pattern {
    Seq,
    Rand,
    RandHint,
    Strided,
}

impl Action {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Read => "read",
            Self::Write => "write",
        }
    }
}

impl Pattern {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Seq => "seq",
            Self::Rand => "rand",
            Self::RandHint => "randhint",
            Self::Strided => "strided",
        }
    }
}

/// The release whose report format is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) enum Release {
    /// Before GPFS 4: a Kbyte is 1024 bytes, and operations are called `iops`.
    #[serde(rename = "3")]
    V3,
    /// tsqosperf of Spectrum Scale 4.2.1: a Kbyte is 1000 bytes, and operations are not printed for large
    /// records.
    #[serde(rename = "4.2")]
    V4_2,
    /// Includes rate and latency of operations.
    #[default]
    #[serde(rename = "5")]
    V5,
}

/// The values that `--compat` accepts.
pub(super) const RELEASES: &str = "give 3, 4.2 or 5";

impl FromStr for Release {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        match text {
            "3" => Ok(Self::V3),
            "4.2" => Ok(Self::V4_2),
            "5" => Ok(Self::V5),
            _ => Err(()),
        }
    }
}

/// A size in gpfsperf's format: in the largest unit of which it is a whole number.
#[derive(Debug, Clone, Copy)]
pub(super) struct Short(pub(super) u64);

impl fmt::Display for Short {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [(1_u64 << 40, "T"), (1 << 30, "G"), (1 << 20, "M"), (1 << 10, "K")];
        let fits = |(unit, _): &&(u64, &str)| self.0 >= *unit && self.0.is_multiple_of(*unit);
        match units.iter().find(fits) {
            Some((unit, name)) => write!(f, "{}{name}", self.0 / unit),
            None => write!(f, "{}", self.0),
        }
    }
}

/// The values of a command line.
#[derive(Debug, Default)]
pub(super) struct Settings {
    pub action: Option<Action>,
    pub pattern: Option<Pattern>,
    pub file: Option<PathBuf>,
    pub record: Option<u64>,
    pub bytes: Option<u64>,
    pub stride: Option<u64>,
    pub threads: u32,
    pub depth: u32,
    pub direct: bool,
    pub fsync: bool,
    pub sync_writes: bool,
    pub keep_cache: bool,
    /// The options in the order of the command line.
    pub options: Vec<Given<Key>>,
}

/// A larger number of threads in a process is taken for a typing error.
const THREADS_MAX: u32 = 1 << 16;

impl Settings {
    /// Parses the words after the program's name: operation, pattern and file in this order, with options
    /// at any position.
    pub(super) fn of(words: &[String]) -> Result<Self, ToolError> {
        let mut settings = Self { threads: 1, ..Self::default() };
        let options = OPTIONS.read_with(words, |word| settings.operand(word))?;
        for option in &options {
            settings.set(option)?;
        }
        settings.options = options;
        Ok(settings)
    }

    pub(super) fn asks_for_help(&self) -> bool {
        self.options.iter().any(|option| option.key == Key::Help)
    }

    fn operand(&mut self, word: &str) -> Result<(), ToolError> {
        if self.action.is_none() {
            self.action = Some(match word {
                "create" => Action::Create,
                "read" => Action::Read,
                "write" => Action::Write,
                "uncache" => {
                    return Err(wrong(
                        word,
                        "it measures nothing, so it is not supported: without -noinv, caches are dropped \
                         before every test; `dd of=FILE oflag=nocache conv=notrunc,fdatasync count=0` drops \
                         those of one file"
                            .to_owned(),
                    ));
                }
                _ => return Err(wrong(word, "is not an operation; give create, read or write".to_owned())),
            });
        } else if self.pattern.is_none() {
            self.pattern = Some(match word {
                "seq" => Pattern::Seq,
                "rand" => Pattern::Rand,
                "randhint" => Pattern::RandHint,
                "strided" => Pattern::Strided,
                _ => {
                    return Err(wrong(
                        word,
                        "is not a pattern; give seq, rand, randhint or strided".to_owned(),
                    ));
                }
            });
        } else if self.file.is_none() {
            self.file = Some(PathBuf::from(word));
        } else {
            return Err(wrong(
                word,
                "is one word too many; give one operation, one pattern and one file".to_owned(),
            ));
        }
        Ok(())
    }

    fn set(&mut self, given: &Given<Key>) -> Result<(), ToolError> {
        let size = || match given.size()? {
            0 => Err(given.wrong("is not a valid size; give at least 1")),
            size => Ok(Some(size)),
        };
        let count = |most: u32| match given.text().parse() {
            Ok(number) if (1..=most).contains(&number) => Ok(number),
            _ => Err(given.wrong(&format!("is not a whole number from 1 to {most}"))),
        };
        match given.key {
            Key::Record => self.record = size()?,
            Key::Bytes => self.bytes = size()?,
            Key::Stride => self.stride = size()?,
            Key::Threads => self.threads = count(THREADS_MAX)?,
            Key::Depth => self.depth = count(32_768)?,
            Key::Direct => self.direct = true,
            Key::Fsync => self.fsync = true,
            Key::SyncWrites => self.sync_writes = true,
            Key::KeepCache => self.keep_cache = true,
            Key::Help | Key::Other => {}
        }
        Ok(())
    }
}
