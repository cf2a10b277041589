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
    let release = printout.case.printed_by.as_ref().and_then(plan::PrintedBy::numbers);
    printout
        .of_passes(|values| DIRECTIONS.into_iter().flat_map(|name| of_rates(values, name, release)).collect())
}

fn of_rates(values: &Values<'_>, direction: &str, release: Option<(u32, u32)>) -> Vec<PrintedCheck> {
    let of = |label: &str, statistic: &str| values.find(&format!("{direction} {label}"), statistic);
    let number = |row: &PrintedRow, units: &[(&str, f64)]| Some(carried(row, in_unit(row, units)?, release));
    let seconds = of("runtime", "").and_then(|row| in_unit(row, &[("ms", 1e-3), ("ns", 1e-9)]));
    // The rates are computed from the time as it is printed.
    let seconds = seconds.map(|seconds| Printed::exact(seconds.value));
    let Some(seconds) = seconds.filter(|seconds| seconds.value > 0.0) else { return Vec::new() };
    let compare = |rule: &'static str, rate: &PrintedRow, scale: f64, amount: Printed| {
        let computed = amount.over(seconds)?;
        let printed = cut_off(number(rate, &[(rate.unit.as_str(), scale)])?);
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
    let bytes = of("io", "total").and_then(|row| number(row, &[("bytes", 1.0), ("KiB", 1024.0)]));
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
    let release = printout.case.printed_by.as_ref().and_then(plan::PrintedBy::numbers);
    let check = |values: &Values<'_>, direction: &str| {
        let of = |label: &str| values.find(&format!("{direction} {label}"), "total");
        let io = of("io")?;
        let bytes = carried(io, in_unit(io, &[("bytes", 1.0), ("KiB", 1024.0)])?, release);
        let (requests, transfer) = (of("requests")?.number?, transfer?);
        let computed = requests * transfer;
        let evidence = format!("{requests} × {transfer} = {computed}, printed {} {}", io.value, io.unit);
        Some(PrintedCheck::of("bytes = requests × size", bytes, Printed::exact(computed), 0.0, evidence))
    };
    printout.of_passes(|values| DIRECTIONS.into_iter().filter_map(|name| check(values, name)).collect())
}

/// Mean latency = mean submission + mean completion, where submissions are timed.
pub(super) fn latency_parts(printout: &Printout<'_>) -> Vec<Found> {
    parts(printout, "mean latency = submission + completion", false)
}

/// As [`latency_parts`]. Between both, earlier releases read the clock twice, so that the whole is longer.
pub(super) fn latency_above_parts(printout: &Printout<'_>) -> Vec<Found> {
    parts(printout, "mean latency ≥ submission + completion", true)
}

fn parts(printout: &Printout<'_>, rule: &'static str, may_be_longer: bool) -> Vec<Found> {
    let check = |values: &Values<'_>, direction: &str| {
        let of = |kind: &str| {
            let row = values.find(&format!("{direction} {kind}"), "mean")?;
            in_unit(row, &[("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9)])
        };
        let (submission, completion, all) = (of("slat")?, of("clat")?, of("lat")?);
        let computed = submission.plus(completion);
        let evidence = format!(
            "{} + {} = {} ns, printed {} ns",
            short(submission.value),
            short(completion.value),
            short(computed.value),
            short(all.value)
        );
        if submission.value == 0.0 {
            return None;
        }
        Some(match may_be_longer && all.value > computed.value {
            true => PrintedCheck::new(rule, true, evidence, None),
            false => PrintedCheck::of(rule, all, computed, 0.0, evidence),
        })
    };
    printout.of_passes(|values| DIRECTIONS.into_iter().filter_map(|name| check(values, name)).collect())
}

/// The number of `row` × the scale of its unit, with the rounding of its digits.
fn in_unit(row: &PrintedRow, units: &[(&str, f64)]) -> Option<Printed> {
    let (_, scale) = units.iter().find(|(unit, _)| row.unit == *unit)?;
    let end = row.value.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(row.value.len());
    let digits = Printed::parse(&row.value[..end])?;
    let value = row.number? * scale;
    let unit = if digits.value == 0.0 { *scale } else { value / digits.value };
    Some(Printed { value, half_digit: digits.half_digit * unit })
}

/// The first release whose text is known to round 24.97 to 25.0. 3.1 prints 24.0.
const CARRIES: (u32, u32) = (3, 33);
/// `printed`, the value of `row`, with what `release` makes of decimals. In texts of release 2, 1595.93 may be 1595.1
/// and 5462.03 may be 5462.4: its decimals say nothing.
fn carried(row: &PrintedRow, printed: Printed, release: Option<(u32, u32)>) -> Printed {
    let digits = row.value.trim_end_matches(|c: char| !(c.is_ascii_digit() || c == '.'));
    let has_unit = digits.len() < row.value.len();
    let (Ok(number), Some((whole, decimals))) = (digits.parse::<f64>(), digits.split_once('.')) else {
        return printed;
    };
    let unit = printed.value / number.max(f64::MIN_POSITIVE);
    let between =
        |low: f64, high: f64| Printed { value: f64::midpoint(low, high), half_digit: (high - low) / 2.0 };
    match release {
        Some((2, _)) if has_unit => {
            let whole = whole.parse::<f64>().map_or(printed.value, |whole| whole * unit);
            between(whole, whole + unit)
        }
        release if has_unit && decimals == "0" && release.is_none_or(|release| release < CARRIES) => {
            between(printed.value - printed.half_digit, printed.value + unit)
        }
        _ => printed,
    }
}

/// `printed`, whose further digits may be cut off instead of rounded.
fn cut_off(printed: Printed) -> Printed {
    Printed { half_digit: printed.half_digit * 2.0, ..printed }
}
