//! IOR: the table of passes, its summary of all iterations, and what both have in common with the options.

use plan::{Case, Phase};
use record::PrintedRow;

use super::printout::{Found, Printout, Values};
use crate::printed::{Printed, PrintedCheck, short};

const MIB: f64 = 1_048_576.0;
/// The summary of releases before 4.1 prints the amount with the digits of a 32-bit floating-point number.
const SINGLE_PRECISION: f64 = 6e-8;

/// The statistics of each phase.
pub(super) fn of_iterations(printout: &Printout<'_>) -> Vec<Found> {
    let check = |&phase: &Phase| {
        let found = [("bw", "bw", "MiB/s"), ("total", "time", "s")];
        let found =
            found.into_iter().flat_map(move |of| statistics(printout.case, phase, printout.printed, of));
        found.map(move |one| (Some(phase), one))
    };
    printout.case.phases.iter().flat_map(check).collect()
}

/// Compares the printed statistics called `summary` with the values called `single` of all iterations.
fn statistics(
    case: &Case,
    phase: Phase,
    printed: &[PrintedRow],
    (single, summary, unit): (&str, &str, &str),
) -> Vec<PrintedCheck> {
    let of = |label: &str, statistic: &str| -> Vec<Printed> {
        let is_it = |row: &&PrintedRow| {
            row.key.phase == phase && row.label == label && row.unit == unit && row.statistic == statistic
        };
        printed.iter().filter(is_it).filter_map(|row| Printed::parse(&row.value)).collect()
    };
    let singles = of(single, "single");
    // In a truncated text, some iterations are missing.
    if singles.is_empty() || singles.len() != case.repetitions as usize {
        return Vec::new();
    }
    let n = singles.len() as f64;
    let by_value = |a: &&Printed, b: &&Printed| a.value.total_cmp(&b.value);
    let mean = singles.iter().map(|one| one.value).sum::<f64>() / n;
    let squares = singles.iter().map(|one| (one.value - mean).powi(2)).sum::<f64>();
    // Each of the values may be off by as much as the one with the fewest digits.
    let half_digit = singles.iter().map(|one| one.half_digit).fold(0.0, f64::max);
    let computed = [
        ("maximum of the iterations", "max", singles.iter().max_by(by_value).copied()),
        ("minimum of the iterations", "min", singles.iter().min_by(by_value).copied()),
        ("mean of the iterations", "mean", Some(Printed { value: mean, half_digit })),
        (
            "deviation of the iterations",
            "standard deviation",
            Some(Printed { value: (squares / n).sqrt(), half_digit: half_digit * 2.0 }),
        ),
    ];
    let mut found = Vec::new();
    for (rule, name, computed) in computed {
        let Some(computed) = computed else { continue };
        // The highest value is printed in the summary and again below it.
        let mut printed = of(summary, name);
        printed.dedup_by(|a, b| a.value == b.value);
        found.extend(printed.into_iter().map(|printed| {
            let by = format!("{} by its {n} iterations", short(computed.value));
            PrintedCheck::of(rule, printed, computed, 0.0, format!("{by}, printed {}", printed.value))
        }));
    }
    found
}

/// Whether what a pass moved is not known: it had a deadline, and only excerpts of such an output do not have the line
/// with the bytes that were moved.
fn is_unknown(printout: &Printout<'_>) -> bool {
    let has_deadline =
        printout.value("stonewallingTime", "stated").is_some_and(|seconds| seconds.value > 0.0)
            || printout.case.workload.stonewall.is_some();
    has_deadline && printout.value("bytes moved", "total").is_none()
}

/// The bandwidth in MiB/s and the time of a pass.
fn rate_and_time(values: &Values<'_>) -> Option<(Printed, Printed)> {
    Some((of_unit(values, "bw", "MiB/s", "single")?, values.value("total", "single")?))
}

fn of_unit(values: &Values<'_>, label: &str, unit: &str, statistic: &str) -> Option<Printed> {
    let is_it = |row: &&&PrintedRow| row.label == label && row.unit == unit && row.statistic == statistic;
    Printed::parse(&values.rows.iter().find(is_it)?.value)
}

/// Bandwidth × time = bytes moved, of each pass and of the summary of one.
pub(super) fn amounts(printout: &Printout<'_>) -> Vec<Found> {
    const RULE: &str = "bandwidth × time = bytes moved";
    if is_unknown(printout) {
        return Vec::new();
    }
    let in_mib = |bytes: Printed| bytes.times(1.0 / MIB);
    let check = |values: &Values<'_>| {
        let moved = values.value("bytes moved", "total").map(|bytes| Printed::exact(bytes.value));
        let moved = moved.or_else(|| size(printout, "aggregate filesize")).map(in_mib);
        let summary = values.value("aggregate", "total").filter(|_| printout.case.repetitions == 1);
        let summary = summary
            .map(|mib| Printed { half_digit: mib.half_digit.max(mib.value * SINGLE_PRECISION), ..mib });
        let mean = of_unit(values, "bw", "MiB/s", "mean").zip(values.value("time", "mean"));
        [(rate_and_time(values), moved), (mean, summary)].into_iter().filter_map(|(factors, moved)| {
            let ((rate, seconds), moved) = factors.zip(moved)?;
            let computed = rate.by(seconds);
            let evidence = format!(
                "{} MiB/s × {} s = {} MiB, printed {}",
                rate.value,
                seconds.value,
                short(computed.value),
                short(moved.value)
            );
            Some(PrintedCheck::of(RULE, moved, computed, 0.0, evidence))
        })
    };
    printout.of_passes(|values| check(values).collect())
}

/// IOPS × transfer × time between open and close = bandwidth × time, of each pass; in the summary, bandwidth =
/// operations per second × transfer.
pub(super) fn operations(printout: &Printout<'_>) -> Vec<Found> {
    let known = || printout.case.transfer().map(|bytes| Printed::exact(bytes.0 as f64));
    let transfer = size(printout, "xfersize").or_else(known).filter(|_| !is_unknown(printout));
    let Some(transfer) = transfer.map(|bytes| bytes.times(1.0 / MIB)) else { return Vec::new() };
    let of_pass = |values: &Values<'_>| {
        let (rate, seconds) = rate_and_time(values)?;
        let (operations, between) = (values.value("IOPS", "single")?, values.value("wr/rd", "single")?);
        let (computed, moved) = (operations.by(transfer).by(between), rate.by(seconds));
        let evidence = format!(
            "{} × {} s = {} MiB, by bandwidth and time {}",
            operations.value,
            between.value,
            short(computed.value),
            short(moved.value)
        );
        let rule = "IOPS × transfer × wr/rd = bandwidth × time";
        Some(PrintedCheck::of(rule, moved, computed, 0.0, evidence))
    };
    let of_summary = |values: &Values<'_>, statistic: &str| {
        let operations = of_unit(values, "IOPS", "ops/s", statistic)?;
        let (rate, computed) = (of_unit(values, "bw", "MiB/s", statistic)?, operations.by(transfer));
        let evidence = format!(
            "{statistic}: {} ops/s are {}, printed {}",
            operations.value,
            short(computed.value),
            rate.value
        );
        Some(PrintedCheck::of("bandwidth = OPs × transfer", rate, computed, 0.0, evidence))
    };
    printout.of_passes(|values| {
        let statistics = ["max", "min", "mean", "standard deviation"].into_iter();
        of_pass(values).into_iter().chain(statistics.filter_map(|one| of_summary(values, one))).collect()
    })
}

/// The highest bandwidth in MB/s is that in MiB/s.
pub(super) fn decimal(printout: &Printout<'_>) -> Vec<Found> {
    printout.of_passes(|values| {
        let both = of_unit(values, "bw", "MB/s", "max").zip(of_unit(values, "bw", "MiB/s", "max"));
        let check = |(decimal, binary): (Printed, Printed)| {
            let computed = binary.times(MIB / 1e6);
            let evidence = format!(
                "{} MiB/s are {} MB/s, printed {}",
                binary.value,
                short(computed.value),
                decimal.value
            );
            PrintedCheck::of("MB/s = MiB/s × 1.048576", decimal, computed, 0.0, evidence)
        };
        both.map(check).into_iter().collect()
    })
}

/// Aggregate file size = tasks × segments × block size, in 64 bits.
pub(super) fn aggregate(printout: &Printout<'_>) -> Vec<Found> {
    let check = || {
        if is_unknown(printout) {
            return None;
        }
        let count = |label: &str| Some(printout.value(label, "stated")?.value);
        let tasks = count("tasks").or_else(|| count("clients"))?;
        let (segments, block) = (count("segments")?, size(printout, "blocksize")?);
        let all = block.times(tasks * segments);
        // Larger products are cut off.
        let computed = Printed { value: all.value % 2_f64.powi(64), ..all };
        let aggregate = size(printout, "aggregate filesize")?;
        let evidence = format!(
            "{tasks} × {segments} × {} = {} bytes, printed {}",
            short(block.value),
            short(computed.value),
            short(aggregate.value)
        );
        let rule = "aggregate = tasks × segments × block size";
        Some((None, PrintedCheck::of(rule, aggregate, computed, 0.0, evidence)))
    };
    check().into_iter().collect()
}

/// A size among the options, in bytes. Whole numbers of a unit are exact.
fn size(printout: &Printout<'_>, label: &str) -> Option<Printed> {
    let is_it = |row: &&PrintedRow| row.label == label && row.statistic == "stated";
    let row = printout.printed.iter().find(is_it)?;
    let digits = row.value.split_whitespace().next()?;
    let (bytes, printed) = (row.number?, Printed::parse(digits)?);
    let half_digit = if digits.contains('.') { bytes / printed.value * printed.half_digit } else { 0.0 };
    Some(Printed { value: bytes, half_digit })
}
