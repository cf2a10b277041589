//! gpfsperf and tsqosperf: the block of a run.

use plan::{Bytes, Case};

use super::printout::{Found, Printout, Values};
use crate::printed::{Printed, PrintedCheck, short};

/// Half of the difference between 1000 and 1024: a value farther than this from both fits neither Kbyte.
const KBYTE_ROOM: f64 = 0.012;

/// The block of each pass.
pub(super) fn check(printout: &Printout<'_>) -> Vec<Found> {
    printout.of_passes(|values| block(values, printout.case).unwrap_or_default())
}

fn block(values: &Values<'_>, case: &Case) -> Option<Vec<PrintedCheck>> {
    let (rate, operations) = (values.value("Data rate", "")?, values.value("Op Rate", "")?);
    let busy = values.value("thread utilization", "").unwrap_or(Printed::exact(1.0));
    let agrees = |latency| latency_agrees(latency, case.tasks()?.into(), busy, operations);
    let records = rate_of_records(rate, operations, case.workload.geometry.transfer);
    Some(std::iter::once(records).chain(values.value("Latency", "mean").and_then(agrees)).collect())
}

/// The bytes in what a tool calls a Kbyte, 1000 or 1024: whichever makes `kbytes_per_second` consistent with
/// `operations_per_second` of `record` bytes each. Returns `None` if neither does, or if a rate is not above 0.
#[must_use]
pub fn kbyte(kbytes_per_second: f64, operations_per_second: f64, record: Bytes) -> Option<f64> {
    let bytes = operations_per_second * record.0 as f64 / kbytes_per_second;
    [1000.0, 1024.0].into_iter().find(|kbyte| (bytes / kbyte - 1.0).abs() < KBYTE_ROOM)
}

/// Bandwidth = operations per second × record size, with the size of a Kbyte that fits the values (gpfsperf).
#[must_use]
pub fn rate_of_records(kbytes: Printed, operations: Printed, record: Bytes) -> PrintedCheck {
    let kbyte = kbyte(kbytes.value, operations.value, record).unwrap_or(1000.0);
    let computed = operations.times(record.0 as f64 / kbyte);
    let evidence = format!(
        "{} × {record} = {} Kbytes/s of {kbyte} bytes, printed {}",
        operations.value,
        short(computed.value),
        kbytes.value
    );
    PrintedCheck::of("data rate = operation rate × record size", kbytes, computed, 0.0, evidence)
}

/// Average latency = busy threads ÷ operations per second: `utilization` is the share of the time for which threads
/// were busy, or 1 if none is printed. Returns `None` if the operation rate is 0.
#[must_use]
pub fn latency_agrees(
    latency_ms: Printed,
    threads: u64,
    utilization: Printed,
    operations: Printed,
) -> Option<PrintedCheck> {
    let busy = utilization.times(threads as f64);
    let computed = busy.times(1e3).over(operations)?;
    let evidence = format!(
        "{} ÷ {} = {:.4} ms, printed {} ms",
        short(busy.value),
        operations.value,
        computed.value,
        latency_ms.value
    );
    let rule = "average latency = busy threads ÷ operation rate";
    Some(PrintedCheck::of(rule, latency_ms, computed, 0.0, evidence))
}
