//! Statistics of several values that a tool prints together.

use std::collections::HashSet;

use record::PrintedRow;

use super::printout::{Found, Printout, Values};
use crate::gate::Judgement;
use crate::printed::{Printed, PrintedCheck, PrintedStatistics, check_statistics};

const DEVIATION: &str = "standard deviation";

/// With one iteration the standard deviation is 0 by definition and says nothing about scatter. Returns `None` for
/// several iterations, or if no deviation is printed.
#[must_use]
pub fn one_iteration(iterations: u64, deviation: Option<Printed>) -> Option<PrintedCheck> {
    let value = deviation.filter(|_| iterations == 1)?.value;
    let (outcome, why) = match value == 0.0 {
        true => (Judgement::CannotTell, ": no measure of scatter"),
        false => (Judgement::DoesNotHold, ", which has none"),
    };
    let evidence = format!("{value} of one iteration{why}");
    Some(PrintedCheck { rule: "standard deviation of one iteration", outcome, evidence, off: None })
}

/// Statistics of rates of all iterations, and of other values, that cannot belong to the same values.
pub(super) fn of_iterations(printout: &Printout<'_>) -> Vec<Found> {
    let number =
        |values: &Values<'_>, row: &PrintedRow| values.iterations.filter(|_| row.unit.ends_with("/s"));
    printout.of_passes(|values| impossible(values, |row| number(values, row)))
}

/// Statistics of an unknown number of values that cannot belong to the same values.
pub(super) fn of_some_values(printout: &Printout<'_>) -> Vec<Found> {
    of_some_values_if(printout, |_| true)
}

/// As [`of_some_values`], for labels that `is_one` accepts.
pub(super) fn of_some_values_if(printout: &Printout<'_>, is_one: fn(&str) -> bool) -> Vec<Found> {
    printout.of_passes(|values| {
        let rows = values.rows.iter().copied().filter(|row| is_one(&row.label)).collect();
        impossible(&Values { rows, ..*values }, |_| None)
    })
}

/// A deviation of the rate of one iteration.
pub(super) fn scatter(printout: &Printout<'_>) -> Vec<Found> {
    let check = |values: &Values<'_>| {
        let is_it = |row: &&&PrintedRow| row.statistic == DEVIATION && row.unit.ends_with("/s");
        let deviation = Printed::parse(&values.rows.iter().find(is_it)?.value);
        one_iteration(values.iterations?, deviation)
    };
    printout.of_passes(|values| check(values).into_iter().collect())
}

/// Statistics that cannot belong to the same values, whose number is `number_of` one of their rows, if it is known.
fn impossible(values: &Values<'_>, number_of: impl Fn(&PrintedRow) -> Option<u64>) -> Vec<PrintedCheck> {
    let mut seen = HashSet::new();
    let means = values.rows.iter().filter(|row| row.statistic == "mean");
    let found = means.filter(|row| seen.insert((&row.label, &row.unit)));
    let check = |row: &&PrintedRow| {
        let evidence = format!("{}: {}", row.label, why(values, row, number_of(row))?);
        Some(PrintedCheck::new("statistics of the same values", false, evidence, None))
    };
    found.filter_map(check).collect()
}

/// Why the statistics that `of` belongs to are impossible for `n` values.
fn why(values: &Values<'_>, of: &PrintedRow, n: Option<u64>) -> Option<String> {
    let rows = ["min", "max", "mean", DEVIATION].map(|statistic| {
        let mut alike = values.rows.iter().filter(|row| row.label == of.label && row.unit == of.unit);
        alike.find(|row| row.statistic == statistic)
    });
    let digits = |row: &PrintedRow| {
        Printed::parse(row.value.split(|c: char| !(c.is_ascii_digit() || c == '.')).next()?)
    };
    let share =
        |row: &&PrintedRow| row.number.filter(|&number| number > 0.0).and(digits(row)).map(Printed::share);
    let rounding = |rows: &[Option<&&PrintedRow>]| {
        rows.iter().flatten().filter_map(|row| share(row)).fold(0.0, f64::max)
    };
    let half_digits = rows.map(|row| row.and_then(|row| Some(row.number? * share(row)?)).unwrap_or(0.0));
    let [min, max, mean, deviation] = rows.map(|row| row.and_then(|row| row.number));
    // Some tools divide by n, others by n − 1.
    let n = n.filter(|&n| n > 1);
    let all = PrintedStatistics { n, min, max, mean, either_divisor: true, ..PrintedStatistics::default() };
    let order = match n {
        Some(_) => PrintedStatistics { rounding: rounding(&rows[..3]), ..all },
        // A small value is rounded more than a large one.
        None => PrintedStatistics {
            min: min.map(|min| min - half_digits[0] - half_digits[2]),
            max: max.map(|max| max + half_digits[1] + half_digits[2]),
            ..all
        },
    };
    // So is a small deviation.
    let spread = PrintedStatistics { mean: None, deviation, rounding: rounding(&rows), ..all };
    [order, spread].iter().flat_map(check_statistics).map(|(_, evidence)| evidence).next()
}
