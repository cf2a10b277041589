//! Numbers and times as IOR prints them. The rules were found by watching the program.

use jiff::tz::TimeZone;

/// A figure of a row: six digits below 1, two below 3600, none from there on, `-` for what does
/// not exist.
pub(super) fn figure(value: Option<f64>) -> String {
    match value {
        None => "-".to_owned(),
        Some(value) if value < 1.0 => format!("{value:.6}"),
        Some(value) if value < 3600.0 => format!("{value:.2}"),
        Some(value) => format!("{value:.0}"),
    }
}

/// C's `%.10e`: the exponent has a sign and at least two digits.
pub(super) fn scientific(value: f64) -> String {
    let text = format!("{value:.10e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, exponent) = match exponent.strip_prefix('-') {
        Some(exponent) => ('-', exponent),
        None => ('+', exponent),
    };
    format!("{digits}e{sign}{exponent:0>2}")
}

/// A moment as `ctime(3)` writes it, in the local time zone: `Sat Nov 21 10:19:17 2026`.
pub(super) fn moment(unix_ns: i64) -> String {
    in_zone(unix_ns, TimeZone::system())
}

fn in_zone(unix_ns: i64, zone: TimeZone) -> String {
    match jiff::Timestamp::from_nanosecond(i128::from(unix_ns)) {
        Ok(time) => time.to_zoned(zone).strftime("%a %b %e %H:%M:%S %Y").to_string(),
        Err(_) => format!("{unix_ns} ns after 1970"),
    }
}

#[cfg(test)]
mod tests {
    use jiff::tz::TimeZone;

    use super::{figure, in_zone, scientific};

    #[test]
    fn figures_have_as_many_digits_as_ior_gives_them() {
        let printed = [
            (0.0, "0.000000"),
            (0.5, "0.500000"),
            (1.0, "1.00"),
            (3599.0, "3599.00"),
            (3600.0, "3600"),
            (3640.29, "3640"),
            (5_120_000_000.0, "5120000000"),
        ];
        for (value, text) in printed {
            assert_eq!(figure(Some(value)), text);
        }
        assert_eq!(figure(None), "-");
    }

    #[test]
    fn exponents_have_two_digits_as_in_c() {
        assert_eq!(scientific(1.147_910_833_4), "1.1479108334e+00");
        assert_eq!(scientific(1.388_295_036_2e9), "1.3882950362e+09");
        assert_eq!(scientific(0.010_486_125_946), "1.0486125946e-02");
        assert_eq!(scientific(0.0), "0.0000000000e+00");
    }

    #[test]
    fn moments_are_written_as_ctime_writes_them() {
        assert_eq!(in_zone(1_775_120_400_000_000_000, TimeZone::UTC), "Thu Apr  2 09:00:00 2026");
    }
}
