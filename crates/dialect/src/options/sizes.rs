//! Sizes in the formats that IOR parses and prints.
//!
//! A size is a whole number with a suffix of which only the first letter matters, in either case: `k`,
//! `m`, `g`, `t` and `p` are 2^10 to 2^50, so `1m`, `1M`, `1mb` and `1MiB` are the same. IOR ignores what
//! it does not understand (`1.5g` is 1 byte); here this is an error.

/// The number of bytes that `text` stands for.
///
/// # Errors
/// Returns a phrase with the problem and what is permitted.
pub(crate) fn parse(text: &str) -> Result<u64, String> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, suffix) = text.split_at(digits);
    if number.is_empty() {
        return Err("is not a size; give a whole number, optionally with k, m, g or t, as in 1m".to_owned());
    }
    if suffix.starts_with(['.', ',']) {
        return Err(fraction_help(text));
    }
    let shift = match suffix.to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        "t" | "tb" | "tib" => 40,
        "p" | "pb" | "pib" => 50,
        _ => {
            return Err(format!(
                "ends in {suffix:?}; the suffixes are k, m, g, t and p (powers of 1024), for example 4k"
            ));
        }
    };
    let too_large = || "is more than 2^64 bytes; give a smaller size".to_owned();
    let number: u64 = number.parse().map_err(|_| too_large())?;
    number.checked_mul(1 << shift).ok_or_else(too_large)
}

/// IOR silently truncates a fraction; this message names the whole number that was meant.
fn fraction_help(text: &str) -> String {
    let mut problem = "has a fraction, which IOR would truncate; give a whole number".to_owned();
    let split = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').len();
    let (number, suffix) = text.split_at(split);
    let smaller = match suffix.to_ascii_lowercase().get(..1) {
        Some("k") => "",
        Some("m") => "k",
        Some("g") => "m",
        Some("t") => "g",
        _ => return problem,
    };
    if let Ok(number) = number.parse::<f64>()
        && (number * 1024.0).fract() == 0.0
    {
        problem.push_str(&format!(", as in {:.0}{smaller}", number * 1024.0));
    }
    problem
}

/// A size in the format of IOR's `Options` block: bytes below 1 MiB, above that the largest unit with a
/// value of at least 1, without decimals if the value is whole.
pub(crate) fn human(bytes: u64) -> String {
    let (unit, name) = match bytes {
        0..0x10_0000 => return format!("{bytes} bytes"),
        0x10_0000..0x4000_0000 => (1_u64 << 20, "MiB"),
        0x4000_0000..0x100_0000_0000 => (1 << 30, "GiB"),
        _ => (1 << 40, "TiB"),
    };
    if bytes.is_multiple_of(unit) {
        format!("{} {name}", bytes / unit)
    } else {
        format!("{:.2} {name}", bytes as f64 / unit as f64)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert_eq, proptest};

    use super::{human, parse};

    proptest! {
        #[test]
        fn a_number_with_any_spelling_of_its_suffix_is_read_back(
            number in 0_u64..8192, power in 0_usize..6, spelling in 0_usize..3, upper: bool,
        ) {
            let letter = ["", "k", "m", "g", "t", "p"][power];
            let tail = if power == 0 { "" } else { ["", "b", "ib"][spelling] };
            let mut suffix = format!("{letter}{tail}");
            if upper {
                suffix = suffix.to_uppercase();
            }
            prop_assert_eq!(parse(&format!("{number}{suffix}")), Ok(number << (10 * power)));
        }

        #[test]
        fn nothing_makes_the_reader_panic(text in ".{0,24}") {
            let _ = parse(&text);
        }
    }

    #[test]
    fn what_ior_would_cut_off_is_refused_with_what_was_meant() {
        assert!(parse("1.5g").unwrap_err().contains("1536m"));
        assert!(parse("0.5k").unwrap_err().contains("512"));
        assert!(parse("1x").unwrap_err().contains("k, m, g, t and p"));
        assert!(parse("-5").unwrap_err().contains("is not a size"));
        assert!(parse("").unwrap_err().contains("is not a size"));
        assert!(parse("99999999999t").unwrap_err().contains("2^64"));
    }

    #[test]
    fn sizes_are_printed_as_ior_prints_them() {
        let printed = [
            (512, "512 bytes"),
            (65_536, "65536 bytes"),
            (1000 << 10, "1024000 bytes"),
            (1 << 20, "1 MiB"),
            (1536 << 10, "1.50 MiB"),
            (1000 << 20, "1000 MiB"),
            (1500 << 20, "1.46 GiB"),
            (10 << 30, "10 GiB"),
            (1 << 40, "1 TiB"),
            (5000 << 40, "5000 TiB"),
            (20_971_520_000, "19.53 GiB"),
        ];
        for (bytes, text) in printed {
            assert_eq!(human(bytes), text);
        }
    }
}
