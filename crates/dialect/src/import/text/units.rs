//! Sizes and times as printed by tools.

use super::lines::number;

/// Parses `64 MiB`, `4k`, `200G`, `32g`, `65536 bytes`, `33554432 KB`. Letters are powers of 1024, as on
/// the command line of every tool that accepts them. With `decimal`, `kB` and `MB` are powers of 1000.
pub(crate) fn size(text: &str, decimal: bool) -> Option<f64> {
    let (value, unit) = split(text)?;
    Some(value * size_unit(unit, decimal)?)
}

/// Number of bytes in a unit of size.
pub(crate) fn size_unit(unit: &str, decimal: bool) -> Option<f64> {
    let unit = unit.trim().to_ascii_lowercase();
    let unit = unit.strip_suffix("bytes").or_else(|| unit.strip_suffix("byte")).unwrap_or(&unit).trim();
    let binary = unit.ends_with("ib") || unit.ends_with('i');
    let letter = unit.trim_end_matches('b').trim_end_matches('i');
    let base: f64 = if decimal && !binary { 1000.0 } else { 1024.0 };
    let power = match letter {
        "" => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        "p" => 5,
        _ => return None,
    };
    Some(base.powi(power))
}

/// Parses `97.4 us`, `3.78 ms`, `284msec`, `1.00 s` to nanoseconds.
pub(crate) fn time_ns(text: &str) -> Option<f64> {
    let (value, unit) = split(text)?;
    Some(value * time_unit_ns(unit)?)
}

/// Number of nanoseconds in a unit of time.
pub(crate) fn time_unit_ns(unit: &str) -> Option<f64> {
    Some(match unit.trim() {
        "ns" | "nsec" => 1.0,
        "us" | "usec" | "µs" | "μs" => 1e3,
        "ms" | "msec" => 1e6,
        "s" | "sec" | "secs" | "seconds" => 1e9,
        "min" => 60e9,
        "hour" | "h" => 3600e9,
        _ => return None,
    })
}

/// Parses `3.45 k`, `323k`, `1.2M`, with powers of 1000.
pub(crate) fn thousands(text: &str) -> Option<f64> {
    let (value, unit) = split(text)?;
    let factor = match unit.trim() {
        "" => 1.0,
        "k" | "K" => 1e3,
        "M" | "m" => 1e6,
        "G" | "g" => 1e9,
        _ => return None,
    };
    Some(value * factor)
}

/// The number at the beginning of `text`, and the remaining text.
pub(crate) fn split(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    Some((number(&text[..end])?, text[end..].trim_start()))
}

#[cfg(test)]
mod tests {
    use super::{size, thousands, time_ns};

    #[test]
    fn letters_are_powers_of_1024_unless_a_tool_says_otherwise() {
        assert_eq!(size("64 MiB", false), Some(67_108_864.0));
        assert_eq!(size("65536 bytes", false), Some(65_536.0));
        assert_eq!(size("200G", false), Some(214_748_364_800.0));
        assert_eq!(size("33554432 KB", false), Some(34_359_738_368.0));
        assert_eq!(size("1322MB", true), Some(1_322_000_000.0));
        assert_eq!(size("1261MiB", true), Some(1_322_254_336.0));
        assert_eq!(size("4 QB", false), None);
    }

    #[test]
    fn times_have_their_unit_behind_them() {
        assert_eq!(time_ns("97.4 us"), Some(97_400.0));
        assert_eq!(time_ns("284msec"), Some(284e6));
        assert_eq!(time_ns("12"), None);
        assert_eq!(thousands("3.45 k"), Some(3450.0));
        assert_eq!(thousands("4.5K"), Some(4500.0));
    }
}
