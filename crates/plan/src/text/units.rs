//! Sizes and times as types, so that bytes and seconds cannot be confused.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A number of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Bytes(pub u64);

impl Bytes {
    /// `n` × 1024 bytes.
    #[must_use]
    pub const fn kib(n: u64) -> Self {
        Self(n << 10)
    }

    /// `n` × 1024² bytes.
    #[must_use]
    pub const fn mib(n: u64) -> Self {
        Self(n << 20)
    }

    /// `n` × 1024³ bytes.
    #[must_use]
    pub const fn gib(n: u64) -> Self {
        Self(n << 30)
    }

    /// The bare number.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Shows both unit systems if they differ, as in `1 GiB (1.07 GB)`.
    #[must_use]
    pub fn both_units(self) -> String {
        if self.0 < 1000 {
            return self.to_string();
        }
        format!("{self} ({})", scaled(self.0, 1000, ["B", "kB", "MB", "GB", "TB", "PB", "EB"]))
    }
}

/// Binary units, exact if the value is a whole multiple: `47008 B`, `4 KiB`, `1.5 GiB`.
impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 < (1 << 20) && !self.0.is_multiple_of(1 << 10) {
            return write!(f, "{} B", self.0);
        }
        f.write_str(&scaled(self.0, 1024, ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]))
    }
}

/// `value` with three significant digits, in the largest of `names` (powers of `base`) with which it is at
/// least 1.
fn scaled(value: u64, base: u64, names: [&str; 7]) -> String {
    let mut unit = 1_u64;
    let mut index = 0;
    while index + 1 < names.len() && value / unit >= base {
        unit *= base;
        index += 1;
    }
    if value.is_multiple_of(unit) {
        return format!("{} {}", value / unit, names[index]);
    }
    let number = value as f64 / unit as f64;
    let digits = if number < 9.995 {
        2
    } else if number < 99.95 {
        1
    } else {
        0
    };
    format!("{number:.digits$} {}", names[index])
}

/// A length of time in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Nanos(pub u64);

impl Nanos {
    /// `n` whole seconds.
    #[must_use]
    pub const fn secs(n: u64) -> Self {
        Self(n.saturating_mul(1_000_000_000))
    }

    /// `n` whole milliseconds.
    #[must_use]
    pub const fn millis(n: u64) -> Self {
        Self(n.saturating_mul(1_000_000))
    }

    /// The bare number.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The same length in seconds.
    #[must_use]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }
}

impl From<Duration> for Nanos {
    fn from(duration: Duration) -> Self {
        Self(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
    }
}

impl From<Nanos> for Duration {
    fn from(nanos: Nanos) -> Self {
        Self::from_nanos(nanos.0)
    }
}

/// Uses the unit that gives one to three digits before the decimal point: `850 ns`, `12.3 µs`, `4.5 ms`, `2
/// s`.
impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, name) = match self.0 {
            0..1_000 => (1, "ns"),
            1_000..1_000_000 => (1_000, "µs"),
            1_000_000..1_000_000_000 => (1_000_000, "ms"),
            _ => (1_000_000_000, "s"),
        };
        if self.0.is_multiple_of(unit) {
            return write!(f, "{} {name}", self.0 / unit);
        }
        let number = self.0 as f64 / unit as f64;
        let digits = if number < 9.995 { 2 } else { 1 };
        write!(f, "{number:.digits$} {name}")
    }
}

#[cfg(test)]
mod tests {
    use super::{Bytes, Nanos};

    #[test]
    fn sizes_show_the_unit_that_fits() {
        assert_eq!(Bytes(47_008).to_string(), "47008 B");
        assert_eq!(Bytes::kib(4).to_string(), "4 KiB");
        assert_eq!(Bytes::mib(1536).to_string(), "1.50 GiB");
        assert_eq!(Bytes::gib(1).both_units(), "1 GiB (1.07 GB)");
        assert_eq!(Bytes(512).both_units(), "512 B");
    }

    #[test]
    fn times_show_the_unit_that_fits() {
        assert_eq!(Nanos(850).to_string(), "850 ns");
        assert_eq!(Nanos(12_345).to_string(), "12.3 µs");
        assert_eq!(Nanos::secs(2).to_string(), "2 s");
    }
}
