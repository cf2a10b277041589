//! Numbers in the formats that ioping parses and prints.

/// The name of a unit, and its value.
type Unit = (&'static str, u64);

const SIZES: [Unit; 5] = [("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1)];
const COUNTS: [Unit; 5] =
    [("T", 1_000_000_000_000), ("G", 1_000_000_000), ("M", 1_000_000), ("k", 1_000), ("", 1)];
const TIMES: [Unit; 6] = [
    ("hour", 3_600_000_000_000),
    ("min", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
];

/// Formats bytes, for example `4 KiB` or `23.9 MiB`.
pub(super) fn size(bytes: u64) -> String {
    scaled(bytes, &SIZES)
}

/// Formats a number of requests, for example `3` or `6.11 k`.
pub(super) fn count(count: u64) -> String {
    scaled(count, &COUNTS).trim_end().to_owned()
}

/// Formats nanoseconds, for example `170 ns` or `2.20 ms`.
pub(super) fn time(nanos: u64) -> String {
    scaled(nanos, &TIMES)
}

/// Formats a value in the largest unit that does not exceed it: without decimals if it is whole,
/// otherwise with about three digits.
fn scaled(value: u64, units: &[Unit]) -> String {
    let unit = units.iter().find(|(_, one)| value >= *one).or_else(|| units.last());
    let Some(&(name, one)) = unit else { return value.to_string() };
    let number = value as f64 / one as f64;
    if value.is_multiple_of(one) {
        format!("{} {name}", value / one)
    } else if number < 10.0 {
        format!("{number:.2} {name}")
    } else {
        format!("{number:.1} {name}")
    }
}

/// Parses a number with one of `suffixes`. `plain` is the unit of a number without a suffix.
fn read(text: &str, plain: u64, suffixes: &[(&[&str], u64)], expected: &str) -> Result<u64, String> {
    let split = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').len();
    let (number, suffix) = text.split_at(split);
    let number: f64 = number.parse().map_err(|_| format!("is not a number; {expected}"))?;
    let suffix = suffix.trim().to_ascii_lowercase();
    let one = match suffix.as_str() {
        "" => plain,
        suffix => suffixes
            .iter()
            .find(|(names, _)| names.contains(&suffix))
            .map(|(_, one)| *one)
            .ok_or_else(|| format!("ends in {suffix:?}; {expected}"))?,
    };
    let value = number * one as f64;
    if !(0.0..1.8e19).contains(&value) {
        return Err(format!("is too large; {expected}"));
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "found to be in range")]
    let value = value.round() as u64;
    Ok(value)
}

/// Parses bytes: `4k`, `1.5m`, `8 sector`.
pub(super) fn read_size(text: &str) -> Result<u64, String> {
    let suffixes: [(&[&str], u64); 7] = [
        (&["b"], 1),
        (&["sector"], 512),
        (&["k", "kb", "kib"], 1 << 10),
        (&["page"], 4096),
        (&["m", "mb", "mib"], 1 << 20),
        (&["g", "gb", "gib"], 1 << 30),
        (&["t", "tb", "tib"], 1 << 40),
    ];
    read(text, 1, &suffixes, "give a size, optionally with sector, page, k, m, g or t, as in 4k")
}

/// Parses a duration to nanoseconds: `0.2`, `100us`.
pub(super) fn read_time(text: &str) -> Result<u64, String> {
    let suffixes: [(&[&str], u64); 6] = [
        (&["ns", "nsec"], 1),
        (&["us", "usec"], 1_000),
        (&["ms", "msec"], 1_000_000),
        (&["s", "sec"], 1_000_000_000),
        (&["m", "min"], 60_000_000_000),
        (&["h", "hour"], 3_600_000_000_000),
    ];
    read(
        text,
        1_000_000_000,
        &suffixes,
        "give seconds, or a number with ns, us, ms, s, min or hour, as in 100us",
    )
}

/// Parses a number: `10`, `2k`.
pub(super) fn read_count(text: &str) -> Result<u64, String> {
    let suffixes: [(&[&str], u64); 4] =
        [(&["k"], 1_000), (&["m"], 1_000_000), (&["g"], 1_000_000_000), (&["t"], 1_000_000_000_000)];
    read(text, 1, &suffixes, "give a number, optionally with k, m, g or t, as in 10")
}

#[cfg(test)]
mod tests {
    use super::{count, read_count, read_size, read_time, size, time};

    /// What ioping 1.3 printed.
    #[test]
    fn numbers_are_worded_as_ioping_words_them() {
        assert_eq!([size(4096), size(512), size(427_819_008)], ["4 KiB", "512 B", "408 MiB"]);
        assert_eq!([size(270_553_174_016), size(3_626_844)], ["252.0 GiB", "3.46 MiB"]);
        assert_eq!([count(3), count(2_000), count(2_001)], ["3", "2 k", "2.00 k"]);
        assert_eq!([count(1_330_000), count(12_456)], ["1.33 M", "12.5 k"]);
        assert_eq!([time(0), time(170), time(2_200_100)], ["0 ns", "170 ns", "2.20 ms"]);
        assert_eq!([time(61_200_187_000), time(1_000_300_000)], ["1.02 min", "1.00 s"]);
    }

    #[test]
    fn numbers_are_read_with_their_suffixes() {
        assert_eq!(
            [read_size("4k"), read_size("8sector"), read_size("2page")],
            [Ok(4096), Ok(4096), Ok(8192)]
        );
        assert_eq!(
            [read_time("0.2"), read_time("100us"), read_time("1min")],
            [Ok(200_000_000), Ok(100_000), Ok(60_000_000_000)]
        );
        assert_eq!([read_count("10"), read_count("2k")], [Ok(10), Ok(2_000)]);
        for wrong in ["", "x", "4q", "-1", "1e30", "."] {
            assert!(
                read_size(wrong).is_err() && read_time(wrong).is_err() && read_count(wrong).is_err(),
                "{wrong}"
            );
        }
    }
}
