//! IOR: its summary of all iterations.

use plan::{Case, Phase};
use record::PrintedRow;

use super::printout::{Found, Printout};
use crate::printed::{Printed, PrintedCheck, short};

/// The statistics of each phase.
pub(super) fn of_iterations(printout: &Printout<'_>) -> Vec<Found> {
    let check = |&phase: &Phase| {
        let found = bandwidths(printout.case, phase, printout.printed).into_iter();
        found.map(move |one| (Some(phase), one))
    };
    printout.case.phases.iter().flat_map(check).collect()
}

/// Compares the printed statistics of bandwidths with those of all iterations.
fn bandwidths(case: &Case, phase: Phase, printed: &[PrintedRow]) -> Vec<PrintedCheck> {
    let rates = printed.iter().filter(|row| row.key.phase == phase && row.label == "bw");
    let of = |statistic: &str| -> Vec<Printed> {
        let rows = rates.clone().filter(|row| row.statistic == statistic);
        rows.filter_map(|row| Printed::parse(&row.value)).collect()
    };
    let singles = of("single");
    // In a truncated text, some iterations are missing.
    if singles.len() < 2 || singles.len() != case.repetitions as usize {
        return Vec::new();
    }
    let n = singles.len() as f64;
    let mean = Printed {
        value: singles.iter().map(|one| one.value).sum::<f64>() / n,
        half_digit: singles.iter().map(|one| one.half_digit).sum::<f64>() / n,
    };
    let by_value = |a: &&Printed, b: &&Printed| a.value.total_cmp(&b.value);
    let computed = [
        ("maximum of the iterations", "max", singles.iter().max_by(by_value).copied()),
        ("minimum of the iterations", "min", singles.iter().min_by(by_value).copied()),
        ("mean of the iterations", "mean", Some(mean)),
    ];
    let mut found = Vec::new();
    for (rule, name, computed) in computed {
        let Some(computed) = computed else { continue };
        // The highest value is printed in the summary and again below it.
        let mut printed = of(name);
        printed.dedup_by(|a, b| a.value == b.value);
        found.extend(printed.into_iter().map(|printed| {
            let by = format!("{} by its {n} iterations", short(computed.value));
            PrintedCheck::of(rule, printed, computed, 0.0, format!("{by}, printed {}", printed.value))
        }));
    }
    found
}
