//! A value as it stands behind an option, and the ways to read it.

use std::path::PathBuf;

use super::IorError;
use super::settings::Hog;
use crate::sizes;

/// A stop after more seconds than this (three years) is taken for a slip of the pen.
const SECONDS_MAX: u64 = 100_000_000;

/// A value that an option stands with, and how to name it in an error.
#[derive(Clone, Copy)]
pub(super) struct Given<'a> {
    /// The option, as in `-b`.
    pub option: &'a str,
    /// The value; absent where a flag stands alone.
    pub value: Option<&'a str>,
}

impl<'a> Given<'a> {
    pub(super) fn text(self) -> &'a str {
        self.value.unwrap_or_default()
    }

    pub(super) fn wrong(self, problem: impl Into<String>) -> IorError {
        IorError::BadValue {
            written: self.option.to_owned(),
            value: self.text().to_owned(),
            problem: problem.into(),
        }
    }

    /// A flag stands alone, or has a value as in `keepFile=1`.
    pub(super) fn flag(self) -> Result<bool, IorError> {
        match self.value.map(str::to_ascii_lowercase).as_deref() {
            None | Some("1" | "true") => Ok(true),
            Some("0" | "false") => Ok(false),
            Some(other) => match other.parse::<i64>() {
                Ok(number) => Ok(number != 0),
                Err(_) => Err(self.wrong("is neither 0 nor 1")),
            },
        }
    }

    pub(super) fn size(self) -> Result<u64, IorError> {
        sizes::parse(self.text()).map_err(|problem| self.wrong(problem))
    }

    pub(super) fn whole(self) -> Result<i64, IorError> {
        self.text().parse().map_err(|_| self.wrong("is no whole number"))
    }

    pub(super) fn count(self, most: u64) -> Result<u64, IorError> {
        match self.text().parse::<u64>() {
            Ok(number) if number <= most => Ok(number),
            Ok(_) => Err(self.wrong(format!("is too large; the most is {most}"))),
            Err(_) => Err(self.wrong(format!("is no whole number from 0 to {most}"))),
        }
    }

    pub(super) fn count32(self, most: u32) -> Result<u32, IorError> {
        self.count(u64::from(most)).map(narrow)
    }

    pub(super) fn path(self) -> Result<PathBuf, IorError> {
        if self.text().is_empty() {
            return Err(self.wrong("names no file"));
        }
        Ok(PathBuf::from(self.text()))
    }

    pub(super) fn hog(self) -> Result<Hog, IorError> {
        let Some(percent) = self.text().strip_suffix('%') else {
            return self.size().map(|bytes| if bytes == 0 { Hog::None } else { Hog::Bytes(bytes) });
        };
        match percent.parse::<u8>() {
            Ok(0) => Ok(Hog::None),
            Ok(percent @ 1..=100) => Ok(Hog::Percent(percent)),
            _ => Err(self.wrong("is no share of the node's memory; give 0% to 100%, or a size such as 2g")),
        }
    }

    /// A flag whose repetition says more, as in `-z -z`.
    pub(super) fn repeated(self, before: u32) -> Result<u32, IorError> {
        match self.value {
            None => Ok(before.saturating_add(1)),
            Some(_) => self.flag().map(u32::from),
        }
    }

    /// -1 (the default) and 0 (as the documentation has it) mean all tasks of the launcher.
    pub(super) fn tasks(self) -> Result<Option<u32>, IorError> {
        match self.whole()? {
            -1 | 0 => Ok(None),
            number => match u32::try_from(number) {
                Ok(number) => Ok(Some(number)),
                Err(_) => {
                    Err(self.wrong("is no number of tasks; give 1 or more, or -1 for all of the launcher"))
                }
            },
        }
    }

    /// Whole seconds (or minutes).
    pub(super) fn seconds(self) -> Result<u64, IorError> {
        if self.text().parse::<f64>().is_ok_and(|number| number.fract() != 0.0) {
            return Err(self.wrong("has a fraction, which IOR would cut off; give a whole number"));
        }
        self.count(SECONDS_MAX)
    }

    /// Refuses whatever does not say no.
    pub(super) fn refuse(self, reason: &str) -> Result<(), IorError> {
        if self.value.is_some_and(says_no) {
            return Ok(());
        }
        let written = match self.value {
            Some(value) => format!("{}={value}", self.option),
            None => self.option.to_owned(),
        };
        Err(IorError::Refused { written, reason: reason.to_owned() })
    }
}

/// A value that says no, as scripts that list every directive have it, asks for nothing.
pub(super) fn says_no(value: &str) -> bool {
    matches!(value.to_ascii_lowercase().as_str(), "0" | "false" | "-1" | "" | "(null)" | "default")
}

/// A count that was checked against a limit of 32 bits.
pub(super) fn narrow(count: u64) -> u32 {
    u32::try_from(count).expect("the count was checked against a limit that is a u32")
}
