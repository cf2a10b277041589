//! Numbers in IOR's format. The rules were determined by observing the program.

use crate::printed::exponent;

/// A figure of a row: six decimals below 1, two below 3600, none from 3600 on, and `-` for a missing
/// value.
pub(super) fn figure(value: Option<f64>) -> String {
    match value {
        None => "-".to_owned(),
        Some(value) if value < 1.0 => format!("{value:.6}"),
        Some(value) if value < 3600.0 => format!("{value:.2}"),
        Some(value) => format!("{value:.0}"),
    }
}

/// Formats a number like C's `%.10e`.
pub(super) fn scientific(value: f64) -> String {
    exponent(value, 10)
}

#[cfg(test)]
mod tests {
    use super::{figure, scientific};

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
}
