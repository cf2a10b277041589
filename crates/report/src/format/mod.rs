//! Formatting of values: numbers with grouped digits, few significant digits and named units. Submodules format
//! tables and names and escape text.
//!
//! Tables show decimal units (MB/s = 10⁶ bytes per second) next to binary ones (MiB/s = 2²⁰), because tools print
//! both under similar names.

pub(crate) mod escape;
pub(crate) mod fold;
pub(crate) mod names;
pub(crate) mod node_names;
pub(crate) mod screen;
pub(crate) mod table;

use analysis::statistics::Summary;
use plan::shell_word;
use plan::{Interval, Nanos};

/// Shown for a value that was not observed.
pub(crate) const NOT_OBSERVED: &str = "–";

/// Unit of figures shown in bytes.
pub(crate) const BYTES_PER_SECOND: &str = "bytes/s";

/// `12345678` becomes `12,345,678`.
pub(crate) fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Four significant digits below 1000, whole grouped numbers from there on:
/// `1.234`, `12.34`, `123.4`, `12,345`.
pub(crate) fn number(value: f64) -> String {
    let size = value.abs();
    if !value.is_finite() {
        return NOT_OBSERVED.to_owned();
    }
    if value == 0.0 {
        return "0".to_owned();
    }
    let digits = match size {
        _ if size < 9.999_5 => 3,
        _ if size < 99.995 => 2,
        _ if size < 999.95 => 1,
        _ => 0,
    };
    if digits > 0 {
        return format!("{value:.digits$}");
    }
    let sign = if value < 0.0 { "-" } else { "" };
    format!("{sign}{}", grouped(whole(size)))
}

/// Nearest whole number; `value` is not negative.
pub(crate) fn whole(value: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "rounded and not negative; `as` saturates at the ends"
    )]
    let rounded = value.max(0.0).round() as u64;
    rounded
}

/// A rate in its unit: `bytes/s` as MB/s or GB/s, operations by their name, as in `50,033 creates/s`.
pub(crate) fn rate_in(value: f64, unit: &str) -> String {
    match unit {
        BYTES_PER_SECOND => rate(value),
        _ => format!("{} {unit}", iops(value)),
    }
}

/// A rate without its unit, for columns and axes in [`column_unit`].
pub(crate) fn bare_rate(value: f64, unit: &str) -> String {
    if unit == BYTES_PER_SECOND { megabytes(value) } else { iops(value) }
}

/// Divisor of a rate of `unit` on an axis.
pub(crate) fn divisor(unit: &str) -> f64 {
    if unit == BYTES_PER_SECOND { 1e6 } else { 1.0 }
}

/// The unit of a column or an axis of rates of `unit`.
pub(crate) fn column_unit(unit: &'static str) -> &'static str {
    if unit == BYTES_PER_SECOND { "MB/s" } else { unit }
}

/// The unit of a column of rates: the common one of all `units`. Otherwise it is empty, and each cell has its own
/// unit.
pub(crate) fn shared_unit(mut units: impl Iterator<Item = &'static str>) -> &'static str {
    let Some(first) = units.next() else { return "MB/s" };
    if units.all(|unit| unit == first) { column_unit(first) } else { "" }
}

/// A rate in a column with the heading unit `shared`, the result of [`shared_unit`].
pub(crate) fn rate_under(shared: &str, value: f64, unit: &str) -> String {
    if shared.is_empty() { rate_in(value, unit) } else { bare_rate(value, unit) }
}

/// Bytes per second in MB/s, without the unit.
pub(crate) fn megabytes(bytes_per_second: f64) -> String {
    number(bytes_per_second / 1e6)
}

/// Bytes per second in MiB/s, without the unit.
pub(crate) fn mebibytes(bytes_per_second: f64) -> String {
    number(bytes_per_second / f64::from(1 << 20))
}

/// Bytes per second with three digits in the decimal unit that fits: `18.8 GB/s`.
pub(crate) fn rate(bytes_per_second: f64) -> String {
    let (unit, name) = match bytes_per_second.abs() {
        r if r < 1e6 => (1e3, "kB/s"),
        r if r < 1e9 => (1e6, "MB/s"),
        r if r < 1e12 => (1e9, "GB/s"),
        _ => (1e12, "TB/s"),
    };
    format!("{} {name}", three_digits(bytes_per_second / unit))
}

/// A rate with three digits and its unit: `3.24 GB/s`, `36.5k IOPS`.
pub(crate) fn compact_rate(value: f64, unit: &str) -> String {
    if unit == BYTES_PER_SECOND { rate(value) } else { format!("{} {unit}", compact(value, value, false)) }
}

/// A rate with three digits in the scale of the rate `like`, without its unit: `3.24`, `36.5k`.
pub(crate) fn compact(value: f64, like: f64, of_bytes: bool) -> String {
    let scales = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")];
    let (scale, letter) = scales.into_iter().find(|(scale, _)| like.abs() >= *scale).unwrap_or((1.0, ""));
    match (of_bytes, letter) {
        (true, "") => three_digits(value / 1e3),
        (true, _) => three_digits(value / scale),
        (false, _) => format!("{}{letter}", three_digits(value / scale)),
    }
}

fn three_digits(value: f64) -> String {
    let digits = match value.abs() {
        size if size < 9.995 => 2,
        size if size < 99.95 => 1,
        size if size < 999.5 => 0,
        _ => return number(value),
    };
    format!("{value:.digits$}")
}

/// Bytes in decimal units: `34.6 GB`.
pub(crate) fn decimal_bytes(bytes: u64) -> String {
    let (unit, name) = match bytes {
        0..1_000 => return format!("{bytes} B"),
        1_000..1_000_000 => (1e3, "kB"),
        1_000_000..1_000_000_000 => (1e6, "MB"),
        1_000_000_000..1_000_000_000_000 => (1e9, "GB"),
        _ => (1e12, "TB"),
    };
    let value = bytes as f64 / unit;
    if value < 9.995 { format!("{value:.2} {name}") } else { format!("{value:.1} {name}") }
}

/// The ends of a range in words, as in `3 min to 5 min`; only one of them if both read the same.
pub(crate) fn ends(range: Interval, words: impl Fn(f64) -> String) -> String {
    match (words(range.low), words(range.high)) {
        (low, high) if low == high => low,
        (low, high) => format!("{low} to {high}"),
    }
}

/// A duration in readable form, with two units if one is too coarse: `3.62 ms`, `0.8 s`, `3 min 20 s`, `24 h 27 min`,
/// `12 d 4 h`.
pub(crate) fn duration(seconds: f64) -> String {
    if !seconds.is_finite() {
        return NOT_OBSERVED.to_owned();
    }
    if seconds > 0.0 && seconds < 0.095 {
        return latency(whole(seconds * 1e9));
    }
    if seconds < 9.95 {
        return format!("{:.1} s", seconds.max(0.0));
    }
    let all = whole(seconds);
    let two = |large: u64, large_name: &str, small: u64, small_name: &str| {
        if small == 0 {
            format!("{large} {large_name}")
        } else {
            format!("{large} {large_name} {small} {small_name}")
        }
    };
    match all {
        0..60 => format!("{all} s"),
        60..3_600 => two(all / 60, "min", all % 60, "s"),
        3_600..360_000 => two(all / 3_600, "h", all % 3_600 / 60, "min"),
        _ => two(all / 86_400, "d", all % 86_400 / 3_600, "h"),
    }
}

/// A latency with three significant digits: `850 ns`, `12.3 µs`, `1.05 s`.
pub(crate) fn latency(nanos: u64) -> String {
    let (unit, name) = match nanos {
        0..1_000 => return Nanos(nanos).to_string(),
        1_000..999_500 => (1e3, "µs"),
        999_500..999_500_000 => (1e6, "ms"),
        _ => (1e9, "s"),
    };
    format!("{} {name}", three_digits(nanos as f64 / unit))
}

/// A share as a percentage: `99.8 %`.
pub(crate) fn percent(share: f64) -> String {
    if share.is_finite() { format!("{:.1} %", share * 100.0) } else { NOT_OBSERVED.to_owned() }
}

/// `1 task`, `2 tasks`.
#[must_use]
pub fn counted(count: u64, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", grouped(count))
}

/// `text` with a capital first letter.
pub(crate) fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// The mark of a footnote: `a` to `z`, then `aa`, `ab`, …
pub(crate) fn mark(mut index: usize) -> String {
    let mut letters = Vec::new();
    loop {
        letters.push(char::from(b"abcdefghijklmnopqrstuvwxyz"[index % 26]));
        if index < 26 {
            return letters.iter().rev().collect();
        }
        index = index / 26 - 1;
    }
}

/// A wall-clock time in UTC, to the second.
pub(crate) fn utc(unix_ns: i64) -> String {
    jiff::Timestamp::from_nanosecond(i128::from(unix_ns)).map_or_else(
        |_| format!("{unix_ns} ns since 1970"),
        |time| time.strftime("%Y-%m-%d %H:%M:%S UTC").to_string(),
    )
}

/// A command line that a shell parses back into the same words.
pub(crate) fn shell_line(words: &[String]) -> String {
    words.iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" ")
}

/// Transfers per second: whole from 100 on.
pub(crate) fn iops(per_second: f64) -> String {
    if per_second.is_finite() && per_second >= 99.95 {
        grouped(whole(per_second))
    } else {
        number(per_second)
    }
}

/// A ratio with two decimal places.
pub(crate) fn share(share: Option<f64>) -> String {
    share.map_or_else(|| NOT_OBSERVED.to_owned(), |share| format!("{share:.2}"))
}

/// The confidence interval of a median in readable form: `811.2 – 815.0`.
pub(crate) fn interval(summary: &Summary, text: fn(f64) -> String) -> Option<String> {
    let ends = summary.median_interval?;
    Some(format!("{} – {}", text(ends.low), text(ends.high)))
}

#[cfg(test)]
mod tests {
    use super::{decimal_bytes, duration, grouped, latency, mark, number, rate, shell_line};

    #[test]
    fn numbers_keep_four_places_and_group_thousands() {
        let cases = [
            (0.0, "0"),
            (1.23456, "1.235"),
            (9.9996, "10.00"),
            (99.996, "100.0"),
            (999.96, "1,000"),
            (1234567.0, "1,234,567"),
            (-1234.0, "-1,234"),
            (f64::NAN, "–"),
        ];
        for (value, shown) in cases {
            assert_eq!(number(value), shown);
        }
        assert_eq!(grouped(1000), "1,000");
        assert_eq!(grouped(999), "999");
    }

    #[test]
    fn rates_sizes_and_times_name_their_unit() {
        assert_eq!(rate(18.8e9), "18.8 GB/s");
        assert_eq!(rate(-18.8e9), "-18.8 GB/s");
        assert_eq!(rate(-14_865_320.0), "-14.9 MB/s");
        assert_eq!(rate(-2.5e9), "-2.50 GB/s");
        assert_eq!(decimal_bytes(34_603_008_000), "34.6 GB");
        assert_eq!(duration(1.84), "1.8 s");
        assert_eq!(duration(200.4), "3 min 20 s");
        assert_eq!(duration(3600.0), "1 h");
        assert_eq!(duration(1467.0 * 60.0), "24 h 27 min");
        assert_eq!(duration(432_000.0), "5 d");
        assert_eq!(duration(0.003_62), "3.62 ms");
        assert_eq!(duration(0.0), "0.0 s");
        assert_eq!(latency(850), "850 ns");
        assert_eq!(latency(12_345), "12.3 µs");
        assert_eq!(latency(999_700), "1.00 ms");
        assert_eq!(latency(1_050_000_000), "1.05 s");
    }

    #[test]
    fn marks_go_on_after_z() {
        assert_eq!([0, 25, 26, 27, 702].map(mark), ["a", "z", "aa", "ab", "aaa"]);
    }

    #[test]
    fn a_command_line_survives_the_shell() {
        let words = ["ior", "-o", "a b/it's", ""].map(str::to_owned);
        assert_eq!(shell_line(&words), r"ior -o 'a b/it'\''s' ''");
    }
}
