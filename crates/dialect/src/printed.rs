//! Numbers and times in the formats of C programs.

use jiff::tz::TimeZone;

/// Formats a number like C's `%.Ne`, with `digits` for N: the exponent has a sign and at least two
/// digits.
pub(crate) fn exponent(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, exponent) = match exponent.strip_prefix('-') {
        Some(exponent) => ('-', exponent),
        None => ('+', exponent),
    };
    format!("{mantissa}e{sign}{exponent:0>2}")
}

/// Formats a time in the local time zone, with a pattern of `strftime(3)`.
pub(crate) fn local(unix_ns: i64, pattern: &str) -> String {
    in_zone(unix_ns, pattern, TimeZone::system())
}

/// The pattern of `ctime(3)`.
pub(crate) const CTIME: &str = "%a %b %e %H:%M:%S %Y";

/// Formats a time like `ctime(3)`, in the local time zone: `Sat Nov 21 10:19:17 2026`.
pub(crate) fn ctime(unix_ns: i64) -> String {
    local(unix_ns, CTIME)
}

/// Formats a time in `zone`.
pub(crate) fn in_zone(unix_ns: i64, pattern: &str, zone: TimeZone) -> String {
    match jiff::Timestamp::from_nanosecond(i128::from(unix_ns)) {
        Ok(time) => time.to_zoned(zone).strftime(pattern).to_string(),
        Err(_) => format!("{unix_ns} ns after 1970"),
    }
}

/// Converts `ns` to seconds, with a minimum of one nanosecond, so that no rate is infinite.
pub(crate) fn seconds(ns: u64) -> f64 {
    ns.max(1) as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use jiff::tz::TimeZone;

    use super::{CTIME, in_zone};

    #[test]
    fn moments_are_written_as_ctime_writes_them() {
        assert_eq!(in_zone(1_775_120_400_000_000_000, CTIME, TimeZone::UTC), "Thu Apr  2 09:00:00 2026");
    }
}
