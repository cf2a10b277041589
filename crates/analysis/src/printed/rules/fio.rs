//! fio.

use record::PrintedRow;

use super::printout::{Found, Printout, Values};
use super::statistics;
use crate::printed::{Printed, PrintedCheck, short, without_zeros};

/// The names of the directions.
const DIRECTIONS: [&str; 2] = ["read", "write"];

/// Latencies that cannot belong to the same requests. Bandwidths are of samples, of which each job has its own.
pub(super) fn latencies(printout: &Printout<'_>) -> Vec<Found> {
    statistics::of_some_values_if(printout, |label| label.ends_with("lat"))
}

/// Bandwidth × time = bytes, and requests per second × time = requests, of each direction.
pub(super) fn rates(printout: &Printout<'_>) -> Vec<Found> {
    printout.of_passes(|values| DIRECTIONS.into_iter().flat_map(|name| of_rates(values, name)).collect())
}

fn of_rates(values: &Values<'_>, direction: &str) -> Vec<PrintedCheck> {
    let of = |label: &str, statistic: &str| values.find(&format!("{direction} {label}"), statistic);
    let seconds = of("runtime", "").and_then(|row| in_unit(row, &[("ms", 1e-3), ("ns", 1e-9)]));
    // The rates are computed from the time as it is printed.
    let seconds = seconds.map(|seconds| Printed::exact(seconds.value));
    let Some(seconds) = seconds.filter(|seconds| seconds.value > 0.0) else { return Vec::new() };
    let compare = |rule: &'static str, rate: &PrintedRow, scale: f64, amount: Printed| {
        let computed = amount.over(seconds)?;
        let printed = cut_off(in_unit(rate, &[(rate.unit.as_str(), scale)])?);
        let evidence = format!(
            "{} ÷ {} s = {} {}, printed {}",
            short(amount.value),
            without_zeros(&format!("{:.6}", seconds.value)),
            short(computed.value / scale),
            rate.unit,
            rate.value
        );
        Some(PrintedCheck::of(rule, printed, computed, 0.0, evidence))
    };
    let bytes = of("io", "total").and_then(|row| in_unit(row, &[("bytes", 1.0)]));
    let requests = of("requests", "total").and_then(|row| Some(Printed::exact(row.number?)));
    let label = format!("{direction} bw");
    let rates = values.rows.iter().filter(|row| row.label == label && row.statistic.is_empty());
    let by_bytes = rates.filter_map(|row| {
        let scale = if row.unit.as_str() == "KiB/s" { 1024.0 } else { 1.0 };
        compare("bandwidth = bytes ÷ time", row, scale, bytes?)
    });
    let by_requests =
        of("iops", "").and_then(|row| compare("requests per second = requests ÷ time", row, 1.0, requests?));
    by_bytes.chain(by_requests).collect()
}

/// Bytes = requests × their size, if all have the same.
pub(super) fn sizes(printout: &Printout<'_>) -> Vec<Found> {
    let transfer = printout.case.transfer().map(|bytes| bytes.0 as f64);
    let check = |values: &Values<'_>, direction: &str| {
        let of = |label: &str, unit: &str| {
            let row = values.find(&format!("{direction} {label}"), "total")?;
            in_unit(row, &[(unit, 1.0)])
        };
        let (bytes, requests) = (of("io", "bytes")?, of("requests", "")?);
        let computed = requests.times(transfer?);
        let evidence =
            format!("{} × {} = {}, printed {}", requests.value, transfer?, computed.value, bytes.value);
        Some(PrintedCheck::of(
            "bytes = requests × size",
            bytes,
            Printed::exact(computed.value),
            0.0,
            evidence,
        ))
    };
    printout.of_passes(|values| DIRECTIONS.into_iter().filter_map(|name| check(values, name)).collect())
}

/// Mean latency = mean submission + mean completion, where submissions are timed.
pub(super) fn latency_parts(printout: &Printout<'_>) -> Vec<Found> {
    let check = |values: &Values<'_>, direction: &str| {
        let of = |kind: &str| {
            let row = values.find(&format!("{direction} {kind}"), "mean")?;
            in_unit(row, &[("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9)])
        };
        let (submission, completion, all) = (of("slat")?, of("clat")?, of("lat")?);
        let computed = Printed {
            value: submission.value + completion.value,
            half_digit: submission.half_digit + completion.half_digit,
        };
        let evidence = format!(
            "{} + {} = {} ns, printed {} ns",
            short(submission.value),
            short(completion.value),
            short(computed.value),
            short(all.value)
        );
        let rule = "mean latency = submission + completion";
        (submission.value > 0.0).then(|| PrintedCheck::of(rule, all, computed, 0.0, evidence))
    };
    printout.of_passes(|values| DIRECTIONS.into_iter().filter_map(|name| check(values, name)).collect())
}

/// The number of `row` × the scale of its unit, with the rounding of its digits.
fn in_unit(row: &PrintedRow, units: &[(&str, f64)]) -> Option<Printed> {
    let (_, scale) = units.iter().find(|(unit, _)| row.unit == *unit)?;
    let end = row.value.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(row.value.len());
    let share = Printed::parse(&row.value[..end])?.share();
    let value = row.number? * scale;
    Some(Printed { value, half_digit: value * share })
}

/// `printed`, whose further digits may be cut off instead of rounded.
fn cut_off(printed: Printed) -> Printed {
    Printed { half_digit: printed.half_digit * 2.0, ..printed }
}
