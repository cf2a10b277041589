//! iozone: the block of throughput mode.

use super::printout::{Found, Printout, Values};
use crate::printed::printed_checks::LAST_BITS;
use crate::printed::{Printed, PrintedCheck, short};
use plan::Case;

/// The rule that fails if the processes of iozone did not run at the same time.
pub(crate) const SLOWEST_MOVED: &str = "min transferred ÷ each one's total = min rate ÷ max rate";

/// The slowest task starts slightly later than the fastest and continues slightly longer: in the runs of study E the
/// shares agree to 2 in 10,000. A difference of one in a hundred is more than that.
const SLOWEST_ROOM: f64 = 0.01;
/// The label of the throughput of each process.
const EACH: &str = "throughput per process";

/// The block of each pass.
pub(super) fn check(printout: &Printout<'_>) -> Vec<Found> {
    printout.of_passes(|values| block(values, printout.case).unwrap_or_default())
}

fn block(values: &Values<'_>, case: &Case) -> Option<Vec<PrintedCheck>> {
    let each = |statistic| values.value(EACH, statistic);
    let total = values.value("Children see throughput", "sum")?;
    let each = [each("min")?, each("max")?, each("mean")?];
    let geometry = case.workload.geometry;
    let moved = values.find("xfer", "min").filter(|_| case.transfers_per_task().is_some()).and_then(|row| {
        let each = match row.unit.as_str() {
            "ops" => geometry.transfers_per_task() as f64,
            _ => geometry.bytes_per_task().0 as f64 / 1024.0,
        };
        Some((Printed::parse(&row.value)?, Printed::exact(each)))
    });
    Some(throughput_block(case.tasks()?.into(), total, each, moved))
}

/// The total equals the number of tasks times the average per task (iozone).
#[must_use]
pub fn total_of_averages(tasks: u64, average: Printed, total: Printed) -> PrintedCheck {
    let computed = average.times(tasks as f64);
    let evidence =
        format!("{tasks} × {} = {}, printed {}", average.value, short(computed.value), total.value);
    PrintedCheck::of("total = tasks × average", total, computed, 0.0, evidence)
}

/// The average lies between minimum and maximum.
#[must_use]
pub fn average_between(min: Printed, average: Printed, max: Printed) -> PrintedCheck {
    let below = |low: Printed, high: Printed| {
        low.value - low.half_digit <= (high.value + high.half_digit) * (1.0 + LAST_BITS)
    };
    let agrees = below(min, average) && below(average, max);
    let evidence = format!("{}, {}, {}", min.value, average.value, max.value);
    PrintedCheck::new("min ≤ average ≤ max", agrees, evidence, None)
}

/// The share of its data that the slowest task had moved when the fastest finished equals its rate ÷ that of the
/// fastest, because iozone stops all of them at that time. `each` is the total amount per task, in the unit of
/// `moved`. Returns `None` if a divisor is 0.
fn slowest_moved(moved: Printed, each: Printed, min: Printed, max: Printed) -> Option<PrintedCheck> {
    let (share, rates) = (moved.over(each)?, min.over(max)?);
    let evidence = format!(
        "{} ÷ {} = {:.6}, {} ÷ {} = {:.6}",
        moved.value, each.value, share.value, min.value, max.value, rates.value
    );
    Some(PrintedCheck::of(SLOWEST_MOVED, share, rates, SLOWEST_ROOM, evidence))
}

/// The checks of a printed block of iozone's throughput mode: total and average, the order of the rates, and the
/// share of the slowest task. `moved` holds what that task moved and the total amount per task.
#[must_use]
pub fn throughput_block(
    tasks: u64,
    total: Printed,
    [min, max, average]: [Printed; 3],
    moved: Option<(Printed, Printed)>,
) -> Vec<PrintedCheck> {
    let slowest = moved.and_then(|(moved, each)| slowest_moved(moved, each, min, max));
    let both = [total_of_averages(tasks, average, total), average_between(min, average, max)];
    both.into_iter().chain(slowest).collect()
}
