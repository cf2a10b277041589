//! elbencho: rates, times and amounts, which it prints for the first worker and for all.

use record::PrintedRow;

use super::printout::{Found, Printout, Values};
use crate::printed::{Printed, PrintedCheck, short};

const MIB: f64 = 1_048_576.0;
/// The labels of the time in text, CSV and JSON.
const TIMES: [&str; 4] = ["Elapsed time", "Elapsed ms", "time ms", "elapsed_time_ms"];
/// The labels of rates, each with those of its amount.
const RATES: [(&str, &[&str]); 10] = [
    ("Throughput MiB/s", &["Total MiB"]),
    ("MiB/s read", &["MiB read"]),
    ("MiB/s write", &["MiB write"]),
    ("Files/s", &["Total files", "Files total"]),
    ("Dirs/s", &["Total dirs", "Dirs total"]),
    ("MiB/s", &["MiB"]),
    ("entries/s", &["entries"]),
    ("rwmix read MiB/s", &["rwmix read MiB"]),
    ("rwmix read entries/s", &["rwmix read entries"]),
    ("bytes/s", &["bytes"]),
];

/// Rate × time = amount, of the first worker and of all.
pub(super) fn rates(printout: &Printout<'_>) -> Vec<Found> {
    let check = |values: &Values<'_>, statistic: &str| -> Vec<PrintedCheck> {
        let time = TIMES.iter().find_map(|label| values.find(label, statistic));
        let Some(seconds) = time.and_then(cut).map(|ms| ms.times(1e-3)) else { return Vec::new() };
        let of = |(rate, amounts): &(&str, &[&str])| {
            let rate_row = values.find(rate, statistic)?;
            let amount = amounts.iter().find_map(|label| values.find(label, statistic))?;
            let computed = cut(rate_row)?.by(seconds);
            let evidence = format!(
                "{statistic}: {} {rate} for {:.3} s are {}, printed {}",
                rate_row.value,
                seconds.value,
                short(computed.value),
                amount.value
            );
            Some(PrintedCheck::of("rate × time = amount", cut(amount)?, computed, 0.0, evidence))
        };
        RATES.iter().filter_map(of).collect()
    };
    printout
        .of_passes(|values| ["first done", "last done"].iter().flat_map(|one| check(values, one)).collect())
}

/// The rates of a mixed phase: its sum, and those of both directions.
const MIXED: [&str; 2] = ["IOPS", "MiB/s"];

/// Total = reads + writes, of a mixed phase.
pub(super) fn mixed(printout: &Printout<'_>) -> Vec<Found> {
    let check = |values: &Values<'_>, rate: &str, statistic: &str| {
        let of = |which: &str| cut(values.find(&format!("{rate} {which}"), statistic)?);
        let (read, write, total) = (of("read")?, of("write")?, of("total")?);
        let computed = read.plus(write);
        let evidence =
            format!("{statistic}: {rate} of {} and {}, in total {}", read.value, write.value, total.value);
        Some(PrintedCheck::of("total = reads + writes", total, computed, 0.0, evidence))
    };
    printout.of_passes(|values| {
        let of =
            |rate| ["first done", "last done"].into_iter().filter_map(move |one| check(values, rate, one));
        MIXED.into_iter().flat_map(of).collect()
    })
}

/// IOPS × block = bandwidth of all workers. That of the first is printed while the others go on.
pub(super) fn operations(printout: &Printout<'_>) -> Vec<Found> {
    let Some(block) = printout.case.transfer().map(|bytes| bytes.0 as f64) else { return Vec::new() };
    let is_whole = printout.case.transfers_per_task().is_some()
        && printout.case.workload.geometry.bytes_per_task().0 as f64 % block == 0.0;
    let check = |values: &Values<'_>| {
        let last = |label: &str| values.find(label, "last done");
        let operations = last("IOPS").or_else(|| last("iops"))?;
        let (row, unit) = last("MiB/s").map(|row| (row, MIB)).or_else(|| Some((last("bytes/s")?, 1.0)))?;
        let (computed, rate) = (cut(operations)?.times(block / unit), cut(row)?);
        let evidence = format!(
            "{} × {block} = {} {}, printed {}",
            operations.value,
            short(computed.value),
            row.unit,
            row.value
        );
        Some(PrintedCheck::of("bandwidth = IOPS × block", rate, computed, 0.0, evidence))
    };
    match is_whole {
        true => printout.of_passes(|values| check(values).into_iter().collect()),
        false => Vec::new(),
    }
}

/// The number in `row`, whose further digits are cut off.
fn cut(row: &PrintedRow) -> Option<Printed> {
    let value = row.number?;
    // Times of more than a second are printed in seconds, with ms.
    let step = if row.unit == "ms" { 1.0 } else { Printed::parse(&row.value)?.half_digit * 2.0 };
    Some(Printed { value: value + step / 2.0, half_digit: step / 2.0 })
}
