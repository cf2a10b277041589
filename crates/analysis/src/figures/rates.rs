//! Named rates. There is no plain "bandwidth": each rate specifies which bytes it divides by which time.

use std::ops::Range;

use plan::{Operation, RateName};
use record::{PhaseRow, SeriesRow, TaskRow};

use crate::figures::seconds::WholeSeconds;
use crate::statistics::nearest_rank;

/// The percentile of the per-second rates that counts as sustained: one second in twenty was slower.
pub const SUSTAINED_PERCENTILE: f64 = 5.0;
/// The number of whole seconds that a sustained rate needs: a low percentile of fewer values is just the minimum.
pub const SUSTAINED_SECONDS_MIN: usize = 3;

/// Bytes and operations per second, over the same time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    /// Bytes per second.
    pub bytes_per_second: f64,
    /// Completed operations per second: transfers, or files, directories, objects and exchanges.
    pub transfers_per_second: f64,
}

impl Rate {
    /// The rate of `bytes` and `transfers` over `nanos`. Returns `None` if the time is 0.
    fn of(bytes: u64, transfers: u64, nanos: u64) -> Option<Self> {
        let seconds = nanos as f64 / 1e9;
        (nanos > 0).then(|| Self {
            bytes_per_second: bytes as f64 / seconds,
            transfers_per_second: transfers as f64 / seconds,
        })
    }

    fn plus(self, other: Self) -> Self {
        Self {
            bytes_per_second: self.bytes_per_second + other.bytes_per_second,
            transfers_per_second: self.transfers_per_second + other.transfers_per_second,
        }
    }
}

/// All named rates of one phase of one repetition.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "as the rate of that name")]
pub struct Rates {
    /// IOR's `bw(MiB/s)` of a phase (IOR user guide, "access" table: bandwidth is data over total time).
    pub by_wall: Rate,
    pub by_io: Rate,
    /// Sum of the tasks' own rates; exceeds [`Rates::by_io`] if the tasks did not run at the same time.
    pub sum_of_tasks: Rate,
    pub at_first_done: Option<Rate>,
    pub at_last_done: Rate,
    pub sustained: Option<Rate>,
    pub at_stonewall: Option<Rate>,
    /// The slowest and the fastest task. `None` if no task has times.
    pub tasks: Option<TaskRates>,
    /// The rates of each operation if the phase has several, else empty.
    pub operations: Vec<OperationRates>,
}

/// Per-task results: iozone's `Min throughput per process`, `Max throughput` and `Min xfer`.
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(missing_docs, reason = "the name says it")]
pub struct TaskRates {
    pub slowest: Rate,
    pub fastest: Rate,
    /// Operations that the task with the fewest had done when the first task was done, if each had a rate of its own.
    pub least_transfers: u64,
    /// The time from the start of the first transfer to the end of the last, over all tasks, in nanoseconds.
    pub busy_ns: u64,
}

/// The rates of one operation in a phase with several, over the times of the phase. Per-task and stonewall counts are
/// not recorded per operation.
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(missing_docs, reason = "as those of all operations")]
pub struct OperationRates {
    pub operation: Operation,
    pub by_wall: Rate,
    pub by_io: Rate,
    pub sustained: Option<Rate>,
}

const NONE: Rate = Rate { bytes_per_second: 0.0, transfers_per_second: 0.0 };

impl Rates {
    /// The rates of `phase`. Rows of other phases in `tasks` and `series` are ignored.
    ///
    /// Transfers at the end of the first task and at the stonewall are computed in proportion to the bytes, which is
    /// exact as long as all transfers have the same size. For operations that move no bytes, they are computed from
    /// the per-second counts, assuming an even rate within each second.
    #[must_use]
    pub fn of<'a>(
        phase: &PhaseRow,
        tasks: impl IntoIterator<Item = &'a TaskRow>,
        series: impl IntoIterator<Item = &'a SeriesRow>,
    ) -> Self {
        let key = &phase.key;
        let tasks: Vec<&TaskRow> = tasks.into_iter().filter(|task| task.key == *key).collect();
        let series: Vec<&SeriesRow> = series.into_iter().filter(|second| second.key == *key).collect();
        let all = |nanos| Rate::of(phase.bytes(), phase.transfers(), nanos);
        let by_io = all(phase.io_ns).unwrap_or(NONE);
        let window = transfer_span(phase, &tasks);
        let part = |(bytes, nanos)| part_of(phase, &series, window.start, bytes, nanos);
        let busy_ns = |task: &TaskRow| task.io_end_ns.saturating_sub(task.io_start_ns);
        let own = || tasks.iter().filter_map(|task| Rate::of(task.bytes, task.transfers, busy_ns(task)));
        let first_end_ns = tasks.iter().map(|task| task.io_end_ns).min().unwrap_or(0);
        let until_then = |task: &TaskRow| {
            let took = first_end_ns.saturating_sub(task.io_start_ns);
            match busy_ns(task) {
                0 => task.transfers,
                all => u64::try_from(u128::from(task.transfers) * u128::from(took) / u128::from(all))
                    .unwrap_or(u64::MAX),
            }
        };
        let by_operations =
            |one: &Rate, other: &Rate| one.transfers_per_second.total_cmp(&other.transfers_per_second);
        Self {
            by_wall: all(phase.wall_ns).unwrap_or(NONE),
            by_io,
            sum_of_tasks: own().reduce(Rate::plus).unwrap_or(by_io),
            at_first_done: part((phase.first_done_bytes, phase.first_done_ns)),
            at_last_done: all(window.end.saturating_sub(window.start)).unwrap_or(by_io),
            sustained: sustained(&series, &window, |_| true),
            at_stonewall: phase.stonewall_bytes.zip(phase.stonewall_ns).and_then(part),
            tasks: own().min_by(by_operations).zip(own().max_by(by_operations)).map(|(slowest, fastest)| {
                TaskRates {
                    slowest,
                    fastest,
                    least_transfers: tasks.iter().map(|task| until_then(task)).min().unwrap_or(0),
                    busy_ns: tasks.iter().map(|task| busy_ns(task)).sum(),
                }
            }),
            operations: operations(phase, &series, &window),
        }
    }

    /// The rate named `name`, if the phase has it.
    #[must_use]
    pub const fn get(&self, name: RateName) -> Option<Rate> {
        match name {
            RateName::ByWall => Some(self.by_wall),
            RateName::ByIo => Some(self.by_io),
            RateName::SumOfTasks => Some(self.sum_of_tasks),
            RateName::AtFirstDone => self.at_first_done,
            RateName::AtLastDone => Some(self.at_last_done),
            RateName::Sustained => self.sustained,
            RateName::AtStonewall => self.at_stonewall,
        }
    }
}

/// The rate of a part of the phase: of its `bytes` or, if the phase moves none, of the operations in the first
/// `nanos` from `start_ns` on, which are only known if there are per-second counts.
fn part_of(phase: &PhaseRow, series: &[&SeriesRow], start_ns: u64, bytes: u64, nanos: u64) -> Option<Rate> {
    let rate = Rate::of(bytes, 0, nanos)?;
    let end_ns = start_ns.saturating_add(nanos);
    let done = |row: &SeriesRow| match row.length_ns {
        0 => 0.0,
        length => {
            let share = end_ns.saturating_sub(row.start_ns) as f64 / length as f64;
            row.transfers as f64 * share.min(1.0)
        }
    };
    let transfers = match (phase.bytes(), phase.transfers()) {
        (0, 0) => 0.0,
        (0, _) if series.is_empty() => return None,
        (0, _) => series.iter().map(|row| done(row)).sum(),
        (all, transfers) => transfers as f64 * (bytes as f64 / all as f64),
    };
    Some(Rate { transfers_per_second: transfers / (nanos as f64 / 1e9), ..rate })
}

/// The range from the start of the first transfer to the end of the last, relative to the phase's common start, from
/// the tasks' times. If there are none, as in an imported record, the I/O time from the start of the phase.
pub(crate) fn transfer_span(phase: &PhaseRow, tasks: &[&TaskRow]) -> Range<u64> {
    let moved = || tasks.iter().filter(|task| task.transfers > 0);
    let (start, end) = (moved().map(|task| task.io_start_ns).min(), moved().map(|task| task.io_end_ns).max());
    start.zip(end).map_or(0..phase.io_ns, |(start, end)| start..end)
}

/// The low percentile over all whole intervals within `window`.
pub(crate) fn sustained(
    series: &[&SeriesRow],
    window: &Range<u64>,
    wanted: impl Fn(&SeriesRow) -> bool,
) -> Option<Rate> {
    let low = |of: fn(&SeriesRow) -> u64| {
        let WholeSeconds { length_ns, amounts: mut sums, .. } =
            WholeSeconds::of(series, window, SUSTAINED_SECONDS_MIN, &wanted, of)?;
        sums.sort_unstable();
        let low = sums[nearest_rank(SUSTAINED_PERCENTILE, sums.len() as u64).min(sums.len()) - 1];
        Some(low as f64 / (length_ns as f64 / 1e9))
    };
    Some(Rate { bytes_per_second: low(|row| row.bytes)?, transfers_per_second: low(|row| row.transfers)? })
}

/// The rates of each operation, if there are several. The phase counts reads and writes of transfers separately. For
/// files and objects it only counts all operations together, so the per-second counts are used.
fn operations(phase: &PhaseRow, series: &[&SeriesRow], window: &Range<u64>) -> Vec<OperationRates> {
    let done = |operation: Operation| match operation {
        Operation::Read if phase.key.phase.is_transfers() => (phase.read_bytes, phase.reads),
        Operation::Write if phase.key.phase.is_transfers() => (phase.write_bytes, phase.writes),
        _ => series
            .iter()
            .filter(|row| row.operation == operation)
            .fold((0, 0), |(bytes, done), row| (bytes + row.bytes, done + row.transfers)),
    };
    let rates = |operation| {
        let (bytes, transfers) = done(operation);
        (transfers > 0).then(|| OperationRates {
            operation,
            by_wall: Rate::of(bytes, transfers, phase.wall_ns).unwrap_or(NONE),
            by_io: Rate::of(bytes, transfers, phase.io_ns).unwrap_or(NONE),
            sustained: sustained(series, window, |row| row.operation == operation),
        })
    };
    let all: Vec<OperationRates> = Operation::ALL.into_iter().filter_map(rates).collect();
    if all.len() > 1 { all } else { Vec::new() }
}
