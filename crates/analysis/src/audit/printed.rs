//! What stands on the page, and how exactly.

use record::{Detail, Published, Qualifier};

/// What is meant approximately may be off by this.
const APPROXIMATELY: f64 = 0.10;

/// The printed value, wrong where it is misprinted.
pub(super) fn value(figure: &Published) -> f64 {
    figure.misprint.and_then(|slip| slip.printed_value).unwrap_or(figure.value)
}

/// By which share the value may be off because it was rounded: half of its last printed digit.
pub(super) fn rounding(figure: &Published) -> f64 {
    if figure.qualifier == Some(Qualifier::Approximately) {
        return APPROXIMATELY;
    }
    let from_number = figure.printed.trim_start_matches(|c: char| !c.is_ascii_digit());
    let number =
        from_number.split(|c: char| !(c.is_ascii_digit() || c == ',' || c == '.')).next().unwrap_or("");
    let digits: String = number.chars().filter(char::is_ascii_digit).collect();
    let whole: f64 = digits.parse().unwrap_or(0.0);
    if whole > 0.0 { 0.5 / whole } else { APPROXIMATELY }
}

/// A number among the conditions that have no column of their own.
pub(super) fn more(figure: &Published, key: &str) -> Option<f64> {
    figure.parameters.more.get(key).and_then(Detail::number)
}

/// `a` and `b` are the same number, as exactly as both are printed.
pub(super) fn same(a: (f64, f64), b: (f64, f64)) -> bool {
    let ((a, a_rounding), (b, b_rounding)) = (a, b);
    (a - b).abs() <= a.abs() * a_rounding + b.abs() * b_rounding
}

#[cfg(test)]
mod tests {
    use super::{rounding, same};

    #[test]
    fn a_value_is_as_exact_as_its_last_digit() {
        let of = |id: &str| rounding(record::published().figure(id).expect("an id"));
        assert!((of("b-abs-ssd") - 0.5 / 56.0).abs() < 1e-12);
        assert!((of("b-ws-nvme-write-max") - 0.5 / 82_607.0).abs() < 1e-12);
        assert!((of("c-tab2-flash-sdev") - 0.5 / 35.0).abs() < 1e-12);
        assert!((of("a-t1-util") - 0.10).abs() < 1e-12);
        assert!(same((449.0, 0.5 / 449.0), (449.4, 0.0)));
        assert!(!same((449.0, 0.5 / 449.0), (447.0, 0.5 / 447.0)));
    }
}
