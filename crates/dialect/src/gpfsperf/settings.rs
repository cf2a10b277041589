//! Words of a command line to what is asked for.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use plan::OptionNote;
use serde::{Deserialize, Serialize};

use super::options::{Key, OPTIONS, Spec, by_name};
use super::wrong;
use crate::{ToolError, sizes};

/// What is done with the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Action {
    Create,
    Read,
    Write,
}

/// In which order.
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

/// The release whose report is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) enum Release {
    /// Before GPFS 4: a Kbyte is 1024 bytes, and operations are `iops`.
    #[serde(rename = "3")]
    V3,
    /// tsqosperf of Spectrum Scale 4.2.1: a Kbyte is 1000 bytes; no operations for large records.
    #[serde(rename = "4.2")]
    V4_2,
    /// With rate and latency of operations.
    #[default]
    #[serde(rename = "5")]
    V5,
}

/// What `--compat` takes.
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

/// A size as gpfsperf prints it: in the largest unit of which it is a whole number.
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

/// What a line says, before the file was looked at.
#[derive(Debug, Default)]
pub(super) struct Said {
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
    pub help: bool,
    pub notes: Vec<OptionNote>,
}

/// More threads of a process than this are taken for a slip of the pen.
const THREADS_MAX: u32 = 1 << 16;

impl Said {
    /// Reads the words behind the program's name: operation, pattern and file in this order, options
    /// anywhere.
    pub(super) fn of(words: &[String]) -> Result<Self, ToolError> {
        let mut said = Self { threads: 1, ..Self::default() };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            if !word.starts_with('-') {
                said.place(word)?;
                continue;
            }
            let spec = by_name(word).ok_or_else(|| {
                let all: Vec<&str> = OPTIONS.iter().map(|spec| spec.name).collect();
                wrong(word, format!("is no option of gpfsperf; they are {}", all.join(", ")))
            })?;
            let value = match spec.value {
                "" => "",
                expected => {
                    words.next().ok_or_else(|| wrong(word, format!("needs a value: {expected}")))?.as_str()
                }
            };
            let written = if value.is_empty() { word.clone() } else { format!("{word} {value}") };
            said.set(spec, value, &written)?;
        }
        Ok(said)
    }

    fn place(&mut self, word: &str) -> Result<(), ToolError> {
        if self.action.is_none() {
            self.action = Some(match word {
                "create" => Action::Create,
                "read" => Action::Read,
                "write" => Action::Write,
                "uncache" => {
                    return Err(wrong(
                        word,
                        "nothing is measured by it, so it is not offered: caches are dropped before every test \
                         without -noinv; `dd of=FILE oflag=nocache conv=notrunc,fdatasync count=0` drops those \
                         of one file"
                            .to_owned(),
                    ));
                }
                _ => return Err(wrong(word, "is no operation; give create, read or write".to_owned())),
            });
        } else if self.pattern.is_none() {
            self.pattern = Some(match word {
                "seq" => Pattern::Seq,
                "rand" => Pattern::Rand,
                "randhint" => Pattern::RandHint,
                "strided" => Pattern::Strided,
                _ => {
                    return Err(wrong(word, "is no pattern; give seq, rand, randhint or strided".to_owned()));
                }
            });
        } else if self.file.is_none() {
            self.file = Some(PathBuf::from(word));
        } else {
            return Err(wrong(word, "is one word too many: one operation, one pattern, one file".to_owned()));
        }
        Ok(())
    }

    fn set(&mut self, spec: &Spec, value: &str, written: &str) -> Result<(), ToolError> {
        let size = || match sizes::parse(value) {
            Ok(0) => Err(wrong(written, "a size of 0 moves nothing".to_owned())),
            Ok(size) => Ok(size),
            Err(problem) => Err(wrong(written, format!("{value:?} {problem}"))),
        };
        let count = |most: u32| match value.parse() {
            Ok(number) if (1..=most).contains(&number) => Ok(number),
            _ => Err(wrong(written, format!("{value:?} is no whole number from 1 to {most}"))),
        };
        match spec.key {
            Key::Record => self.record = Some(size()?),
            Key::Bytes => self.bytes = Some(size()?),
            Key::Stride => self.stride = Some(size()?),
            Key::Threads => self.threads = count(THREADS_MAX)?,
            Key::Depth => self.depth = count(32_768)?,
            Key::Direct => self.direct = true,
            Key::Fsync => self.fsync = true,
            Key::SyncWrites => self.sync_writes = true,
            Key::KeepCache => self.keep_cache = true,
            Key::Help => self.help = true,
            Key::Idle | Key::Verbose => {}
            Key::Refused(reason) => return Err(wrong(written, reason.to_owned())),
        }
        let name = spec.name.trim_start_matches('-').to_owned();
        self.notes.push(OptionNote { written: written.to_owned(), name, meaning: spec.about.to_owned() });
        Ok(())
    }
}
