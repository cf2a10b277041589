//! Parsing of sizes and times in study files.
//!
//! Sizes follow two rules: a bare letter is binary, as in IOR (`4k` is 4096 bytes), and a spelt-out unit
//! follows the standards (`4KiB` is 4096 bytes, `4kB` is 4000). Foreign command lines have rules of their
//! own, defined with their dialects.

use thiserror::Error;

use crate::text::visible::shown;
use crate::{Amount, Bytes, Nanos};

/// Syntax of a size.
pub(crate) const SIZE_ALLOWED: &str = "write a size as \"4k\" or \"4KiB\" (4096 bytes), \"4kB\" (4000 bytes), \
                                       or as a whole number of bytes";
/// Syntax of a time.
pub(crate) const TIME_ALLOWED: &str =
    "write a time with its unit, such as \"500ms\", \"10s\", \"2min\" or \"1h\" (also us and ns)";

/// Syntax of a bandwidth.
pub(crate) const BANDWIDTH_ALLOWED: &str =
    "write a bandwidth with its unit, such as \"2.8GB/s\", \"500MiB/s\" or \"10Gbit/s\"";
/// Syntax of a share.
pub(crate) const SHARE_ALLOWED: &str = "write a share as \"5 %\", or as a number from 0 to 1 without quotes";

/// Number of decimal digits of 2^63; more are taken for a typing error.
const DIGITS_MAX: usize = 19;

/// A text that is not a valid size or time.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct UnitError {
    /// What is wrong, as a lowercase fragment that names the text.
    pub message: String,
    /// What is allowed.
    pub help: String,
}

impl UnitError {
    fn new(message: String, help: &str) -> Self {
        Self { message, help: help.to_owned() }
    }
}

impl Bytes {
    /// Reads a size by the rules of study files: `512`, `4k`, `1.5 GiB`, `1MB`.
    ///
    /// ```
    /// use plan::Bytes;
    /// assert_eq!(Bytes::parse_study("1m")?, Bytes::mib(1));
    /// assert_eq!(Bytes::parse_study("1.5 GiB")?, Bytes::mib(1536));
    /// assert_eq!(Bytes::parse_study("1MB")?, Bytes(1_000_000));
    /// assert!(Bytes::parse_study("1mb").is_err(), "neither unit is meant for certain");
    /// # Ok::<(), plan::UnitError>(())
    /// ```
    ///
    /// # Errors
    /// Errors if the text is not a size, is not a whole number of bytes, or does not fit into a file
    /// offset.
    pub fn parse_study(text: &str) -> Result<Self, UnitError> {
        let (number, unit) = split(text);
        let Some(unit) = size_unit(unit) else {
            let help = match unit {
                "kb" | "Kb" | "mb" | "Mb" | "gb" | "Gb" | "tb" | "Tb" => {
                    "that could mean two sizes: write MiB (or a bare m) for 2^20 bytes, MB for 10^6 bytes, \
                     and likewise for k, g and t"
                }
                _ => SIZE_ALLOWED,
            };
            return Err(UnitError::new(format!("`{}` is not a size", shown(text)), help));
        };
        match scale(number, unit) {
            Scaled::Whole(bytes) if bytes <= i64::MAX.unsigned_abs() => Ok(Self(bytes)),
            Scaled::Whole(_) | Scaled::TooLarge => {
                let message = format!("`{}` is more than a file offset can hold", shown(text));
                Err(UnitError::new(message, "the largest size is 2^63 - 1 bytes, just below 8 EiB"))
            }
            Scaled::Fraction => {
                let message = format!("`{}` is not a whole number of bytes", shown(text));
                Err(UnitError::new(message, "use a smaller unit, or a fraction that comes out even"))
            }
            Scaled::NoNumber => Err(UnitError::new(format!("`{}` is not a size", shown(text)), SIZE_ALLOWED)),
        }
    }
}

impl Nanos {
    /// Reads a time by the rules of study files: `10s`, `500ms`, `1.5 h`.
    ///
    /// ```
    /// use plan::Nanos;
    /// assert_eq!(Nanos::parse_study("500ms")?, Nanos::millis(500));
    /// assert_eq!(Nanos::parse_study("2min")?, Nanos::secs(120));
    /// assert!(Nanos::parse_study("10").is_err(), "ten what?");
    /// # Ok::<(), plan::UnitError>(())
    /// ```
    ///
    /// # Errors
    /// Errors if the text is not a time, has no unit, or exceeds the range of nanoseconds.
    pub fn parse_study(text: &str) -> Result<Self, UnitError> {
        let (number, unit) = split(text);
        let Some(unit) = time_unit(unit) else {
            return Err(UnitError::new(format!("`{}` is not a time", shown(text)), TIME_ALLOWED));
        };
        match scale(number, unit) {
            Scaled::Whole(nanos) if nanos <= i64::MAX.unsigned_abs() => Ok(Self(nanos)),
            Scaled::Whole(_) | Scaled::TooLarge => {
                let message = format!("`{}` is longer than can be counted in nanoseconds", shown(text));
                Err(UnitError::new(message, "the longest time is about 292 years"))
            }
            Scaled::Fraction => {
                let message = format!("`{}` is not a whole number of nanoseconds", shown(text));
                Err(UnitError::new(message, "leave out the digits below a nanosecond"))
            }
            Scaled::NoNumber => Err(UnitError::new(format!("`{}` is not a time", shown(text)), TIME_ALLOWED)),
        }
    }
}

/// Syntax of a rate.
const RATE_ALLOWED: &str =
    "write a rate as \"2.8GB/s\", \"500MiB/s\" or \"10Gbit/s\", or operations as \"1320137/s\"";

/// Reads a bandwidth as bytes per second: `2.8GB/s`, `500 MiB/s`, `10Gbit/s`. A bit is an eighth of a
/// byte; prefixes of bits are powers of ten, as usual for links.
pub(crate) fn bandwidth(text: &str) -> Result<f64, UnitError> {
    let refused = || UnitError::new(format!("`{}` is not a bandwidth", shown(text)), BANDWIDTH_ALLOWED);
    let (number, unit) = split(text);
    let unit = unit.strip_suffix("/s").ok_or_else(refused)?;
    let bytes = match unit {
        "bit" => 0.125,
        "kbit" => 125.0,
        "Mbit" => 125e3,
        "Gbit" => 125e6,
        "Tbit" => 125e9,
        spelt if spelt.ends_with('B') => size_unit(spelt).ok_or_else(refused)? as f64,
        _ => return Err(refused()),
    };
    let number: f64 = number.parse().map_err(|_| refused())?;
    let rate = number * bytes;
    if rate > 0.0 && rate.is_finite() { Ok(rate) } else { Err(refused()) }
}

impl Amount {
    /// Reads a rate: a bandwidth such as `2.8GB/s` or `10Gbit/s`, or operations such as `1320137/s` or
    /// `100k IOPS`.
    ///
    /// ```
    /// use plan::Amount;
    /// assert_eq!(Amount::parse_rate("2.5 MB/s")?, Amount::BytesPerSecond(2.5e6));
    /// assert_eq!(Amount::parse_rate("1320137/s")?, Amount::OperationsPerSecond(1_320_137.0));
    /// assert_eq!(Amount::parse_rate("100k IOPS")?, Amount::OperationsPerSecond(100_000.0));
    /// assert!(Amount::parse_rate("1320137").is_err(), "of what?");
    /// # Ok::<(), plan::UnitError>(())
    /// ```
    ///
    /// # Errors
    /// Errors if the text is not a rate above 0.
    pub fn parse_rate(text: &str) -> Result<Self, UnitError> {
        let refused = || UnitError::new(format!("`{}` is not a rate", shown(text)), RATE_ALLOWED);
        let (number, unit) = split(text);
        let Some(prefix) = unit.strip_suffix("IOPS").or_else(|| unit.strip_suffix("/s")) else {
            return Err(refused());
        };
        let factor = match prefix.trim_end() {
            "" => 1.0,
            "k" => 1e3,
            "M" => 1e6,
            _ => return bandwidth(text).map(Self::BytesPerSecond).map_err(|_| refused()),
        };
        let rate = number.parse::<f64>().map_err(|_| refused())? * factor;
        if rate > 0.0 && rate.is_finite() { Ok(Self::OperationsPerSecond(rate)) } else { Err(refused()) }
    }
}

/// Reads a share in percent, such as `5 %`.
pub(crate) fn share(text: &str) -> Result<f64, UnitError> {
    let refused = || UnitError::new(format!("`{}` is not a share", shown(text.trim())), SHARE_ALLOWED);
    let (number, unit) = split(text);
    let percent: f64 = number.parse().map_err(|_| refused())?;
    if unit == "%" && (0.0..=100.0).contains(&percent) { Ok(percent / 100.0) } else { Err(refused()) }
}

/// What is allowed for [`percent()`].
pub(crate) const PERCENT_ALLOWED: &str = "a percentage above 0, such as \"90 %\"";

/// A part of another value as a number: `"110 %"` is 1.1.
pub(crate) fn percent(text: &str) -> Result<f64, UnitError> {
    let (number, unit) = split(text);
    let percent =
        number.parse().ok().filter(|percent: &f64| unit == "%" && percent.is_finite() && *percent > 0.0);
    let refused = || UnitError::new(format!("`{}` is not a percentage", shown(text.trim())), PERCENT_ALLOWED);
    percent.map(|percent| percent / 100.0).ok_or_else(refused)
}

/// The number and the unit after it.
fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    (&text[..end], text[end..].trim_start())
}

fn size_unit(unit: &str) -> Option<u64> {
    let bytes = match unit {
        "" | "B" => 1,
        "k" | "K" | "KiB" => 1 << 10,
        "m" | "M" | "MiB" => 1 << 20,
        "g" | "G" | "GiB" => 1 << 30,
        "t" | "T" | "TiB" => 1 << 40,
        "p" | "P" | "PiB" => 1 << 50,
        "kB" | "KB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        "TB" => 1_000_000_000_000,
        "PB" => 1_000_000_000_000_000,
        _ => return None,
    };
    Some(bytes)
}

fn time_unit(unit: &str) -> Option<u64> {
    let nanos = match unit {
        "ns" => 1,
        "us" | "µs" | "μs" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "min" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        _ => return None,
    };
    Some(nanos)
}

/// A decimal number times a unit, exactly.
enum Scaled {
    Whole(u64),
    Fraction,
    TooLarge,
    NoNumber,
}

fn scale(number: &str, unit: u64) -> Scaled {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let fraction = fraction.trim_end_matches('0');
    let is_number = !whole.is_empty() && !number.ends_with('.') && !fraction.contains('.');
    if !is_number {
        return Scaled::NoNumber;
    }
    let whole = whole.trim_start_matches('0');
    if whole.len() > DIGITS_MAX {
        return Scaled::TooLarge;
    }
    if fraction.len() > DIGITS_MAX {
        return Scaled::Fraction;
    }
    // Both have at most 19 digits, so their products with a unit stay below 2^128.
    let digits = |text: &str| text.bytes().fold(0_u128, |sum, digit| sum * 10 + u128::from(digit - b'0'));
    let parts = digits(fraction) * u128::from(unit);
    let denominator = 10_u128.pow(u32::try_from(fraction.len()).expect("at most 19 digits"));
    if !parts.is_multiple_of(denominator) {
        return Scaled::Fraction;
    }
    match u64::try_from(digits(whole) * u128::from(unit) + parts / denominator) {
        Ok(value) => Scaled::Whole(value),
        Err(_) => Scaled::TooLarge,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

    use super::{bandwidth, share};
    use crate::{Bytes, Nanos};

    #[test]
    fn bandwidths_and_shares_need_their_unit() {
        for (text, rate) in [
            ("2.8GB/s", 2.8e9),
            ("1 GiB/s", 1_073_741_824.0),
            ("10Gbit/s", 1.25e9),
            ("100 Mbit/s", 12.5e6),
            ("500kB/s", 5e5),
        ] {
            assert!((bandwidth(text).expect(text) - rate).abs() < 1e-3, "{text}");
        }
        for text in ["2.8", "2.8GB", "GB/s", "2.8Gb/s", "0MB/s", "1m/s", "1..2GB/s", "-1GB/s"] {
            assert!(bandwidth(text).is_err(), "{text}");
        }
        assert_eq!((share("5 %"), share("12.5%")), (Ok(0.05), Ok(0.125)));
        assert!(share("5").is_err() && share("101 %").is_err() && share("%").is_err());
    }

    #[test]
    fn letters_are_binary_and_spelt_units_mean_what_they_say() {
        for (text, bytes) in [
            ("0", 0),
            ("47008", 47_008),
            ("512B", 512),
            ("4k", 4096),
            ("4K", 4096),
            ("4KiB", 4096),
            ("4 KiB", 4096),
            ("4kB", 4000),
            ("4KB", 4000),
            ("1m", 1 << 20),
            ("1MB", 1_000_000),
            ("0.5g", 1 << 29),
            ("1.50 GiB", 3 << 29),
            ("2TB", 2_000_000_000_000),
            ("7PiB", 7 << 50),
        ] {
            assert_eq!(Bytes::parse_study(text), Ok(Bytes(bytes)), "{text}");
        }
    }

    #[test]
    fn what_is_no_size_is_refused_with_what_is_allowed() {
        for text in ["", "k", "-1", "1x", "1..2k", "1.", ".5k", "1e3", "0x10", "1 k b", "½k", "1k2", "+1"] {
            let error = Bytes::parse_study(text).unwrap_err();
            assert!(error.message.contains(text) && error.help.contains("4KiB"), "{text}: {error:?}");
        }
        assert!(Bytes::parse_study("1mb").unwrap_err().help.contains("MiB"));
        assert!(Bytes::parse_study("0.3k").unwrap_err().message.contains("whole number of bytes"));
        assert!(Bytes::parse_study("8192PiB").unwrap_err().message.contains("file offset"));
        assert!(Bytes::parse_study(&"9".repeat(5000)).is_err());
    }

    #[test]
    fn times_need_their_unit() {
        for (text, nanos) in [("1ns", 1), ("2us", 2_000), ("2µs", 2_000), ("0.5 ms", 500_000), ("0s", 0)] {
            assert_eq!(Nanos::parse_study(text), Ok(Nanos(nanos)), "{text}");
        }
        for text in ["10", "", "s", "10m", "1d", "-1s", "1 s s", "1000y"] {
            assert!(Nanos::parse_study(text).is_err(), "{text}");
        }
        assert!(Nanos::parse_study("10000000h").unwrap_err().message.contains("longer"));
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text: String) {
            let _ = Bytes::parse_study(&text);
            let _ = Nanos::parse_study(&text);
        }

        #[test]
        fn numbers_with_any_unit_are_read_or_refused(text in r"[0-9]{0,25}(\.[0-9]{0,25})?[a-zA-Z]{0,3}") {
            let _ = Bytes::parse_study(&text);
            let _ = Nanos::parse_study(&text);
        }

        #[test]
        fn whole_numbers_come_back(bytes in 0..=i64::MAX.unsigned_abs(), nanos in 0..=i64::MAX.unsigned_abs()) {
            prop_assert_eq!(Bytes::parse_study(&bytes.to_string()), Ok(Bytes(bytes)));
            prop_assert_eq!(Nanos::parse_study(&format!("{nanos}ns")), Ok(Nanos(nanos)));
        }

        #[test]
        fn a_size_that_is_shown_can_be_typed_in(
            count in 1_u64..1024, power in 0_u32..6,
        ) {
            let bytes = Bytes(count << (10 * power));
            prop_assert_eq!(Bytes::parse_study(&bytes.to_string()), Ok(bytes));
        }

        #[test]
        fn what_is_shown_is_within_half_a_percent(bytes in 0..=i64::MAX.unsigned_abs(), shift in 0_u32..63) {
            let bytes = Bytes(bytes >> shift);
            if let Ok(back) = Bytes::parse_study(&bytes.to_string()) {
                prop_assert!(back.0.abs_diff(bytes.0) <= bytes.0 / 200, "{} shown as {}", bytes.0, bytes);
            }
        }

        #[test]
        fn shown_times_are_within_half_a_percent(nanos in 0..=i64::MAX.unsigned_abs(), shift in 0_u32..63) {
            let nanos = Nanos(nanos >> shift);
            let back = Nanos::parse_study(&nanos.to_string());
            let near = back.as_ref().is_ok_and(|back| back.0.abs_diff(nanos.0) <= nanos.0 / 200);
            prop_assert!(near, "{} shown as {}", nanos.0, nanos);
        }
    }
}
