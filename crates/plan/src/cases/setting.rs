//! A swept key and its value at one point of a sweep.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Bytes, Nanos};

/// One coordinate of a case in its sweep, as in `tasks = 33`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Setting {
    /// The key of the study file, as in `tasks`.
    pub key: String,
    /// Its value at this point.
    pub value: SettingValue,
}

/// The value of a swept key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SettingValue {
    /// A size.
    Bytes(Bytes),
    /// A time.
    Time(Nanos),
    /// A whole number.
    Count(u64),
    /// A number.
    Number(f64),
    /// True or false.
    Flag(bool),
    /// A word, or the name of a target.
    Word(String),
}

impl SettingValue {
    /// The numeric value on an axis: bytes, nanoseconds or the number itself. Returns `None` for words
    /// and flags.
    #[must_use]
    pub fn on_axis(&self) -> Option<f64> {
        match self {
            Self::Bytes(Bytes(value)) | Self::Time(Nanos(value)) | Self::Count(value) => Some(*value as f64),
            Self::Number(value) => Some(*value),
            Self::Flag(_) | Self::Word(_) => None,
        }
    }

    /// Formats the value without spaces or rounding, as in the id of a case: `1MiB`, `47008B`.
    #[must_use]
    pub fn exact(&self) -> String {
        let in_units = |value: u64, units: &[(u64, &str)]| {
            let fits = |(unit, _): &&(u64, &str)| *unit == 1 || value >= *unit && value.is_multiple_of(*unit);
            let (unit, name) = units.iter().find(fits).unwrap_or(&(1, ""));
            format!("{}{name}", value / unit)
        };
        match self {
            Self::Bytes(Bytes(value)) => in_units(*value, &SIZE_UNITS),
            Self::Time(Nanos(value)) => in_units(*value, &TIME_UNITS),
            other => other.to_string(),
        }
    }
}

/// Units of sizes, largest first.
const SIZE_UNITS: [(u64, &str); 6] =
    [(1 << 50, "PiB"), (1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"), (1, "B")];
/// Units of times, largest first.
const TIME_UNITS: [(u64, &str); 4] = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us"), (1, "ns")];

impl fmt::Display for SettingValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(bytes) => bytes.fmt(f),
            Self::Time(nanos) => nanos.fmt(f),
            Self::Count(count) => count.fmt(f),
            Self::Number(number) => number.fmt(f),
            Self::Flag(flag) => flag.fmt(f),
            Self::Word(word) => f.write_str(word),
        }
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.key, self.value)
    }
}

#[cfg(test)]
mod tests {
    use super::{Setting, SettingValue};
    use crate::{Bytes, Nanos};

    #[test]
    fn a_setting_reads_as_a_user_would_say_it() {
        let setting = |key: &str, value| Setting { key: key.to_owned(), value }.to_string();
        assert_eq!(setting("transfer", SettingValue::Bytes(Bytes::kib(4))), "transfer 4 KiB");
        assert_eq!(setting("tasks", SettingValue::Count(33)), "tasks 33");
        assert_eq!(setting("target", SettingValue::Word("flash".to_owned())), "target flash");
    }

    #[test]
    fn in_an_id_a_value_is_not_rounded() {
        let exact = |bytes| SettingValue::Bytes(Bytes(bytes)).exact();
        assert_eq!((exact(1 << 20), exact(47_008), exact(0)), ("1MiB".into(), "47008B".into(), "0B".into()));
        assert_ne!(exact((1 << 30) + 1), exact((1 << 30) + 2));
        assert_eq!(SettingValue::Time(Nanos::millis(1500)).exact(), "1500ms");
        assert_eq!(SettingValue::Number(0.5).exact(), "0.5");
    }

    #[test]
    fn only_numbers_have_a_place_on_an_axis() {
        assert_eq!(SettingValue::Bytes(Bytes::kib(1)).on_axis(), Some(1024.0));
        assert_eq!(SettingValue::Time(Nanos::millis(1)).on_axis(), Some(1e6));
        assert_eq!(SettingValue::Word("direct".to_owned()).on_axis(), None);
        assert_eq!(SettingValue::Flag(true).on_axis(), None);
    }
}
