//! Named rates. There is no bare "bandwidth": each rate says which bytes it divides by which time.

use plan::RateName;
use record::{Operation, PhaseRow, SeriesRow, TaskRow};

use crate::summary::nearest_rank;

/// The percentile of the per-second rates that a storage system is said to sustain: one second
/// in twenty was worse.
pub const SUSTAINED_PERCENTILE: f64 = 5.0;
/// Whole seconds that a sustained rate needs: a low percentile of fewer is just the lowest.
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
    /// `bytes` and `transfers` in `nanos`; none where no time passed.
    fn of(bytes: u64, transfers: u64, nanos: u64) -> Option<Self> {
        let seconds = nanos as f64 / 1e9;
        (nanos > 0).then(|| Self {
            bytes_per_second: bytes as f64 / seconds,
            transfers_per_second: transfers as f64 / seconds,
        })
    }
}

/// All named rates of one phase of one repetition.
#[derive(Debug, Clone, PartialEq)]
pub struct Rates {
    /// All bytes ÷ wall time, open and close (with its fsync) included. IOR's `bw(MiB/s)` of a
    /// phase (IOR user guide, "access" table: bandwidth is data over total time).
    pub by_wall: Rate,
    /// All bytes ÷ time between the first transfer's start and the last one's end.
    pub by_io: Rate,
    /// Sum of the tasks' own rates; above [`Rates::by_io`] where tasks did not run together.
    pub sum_of_tasks: Rate,
    /// What all tasks had moved when the first was done ÷ the time until then.
    pub at_first_done: Option<Rate>,
    /// All bytes ÷ the time until the slowest task was done, from the tasks' own times.
    pub at_last_done: Rate,
    /// [`SUSTAINED_PERCENTILE`] of the per-second rates.
    pub sustained: Option<Rate>,
    /// What was moved up to the stonewall's deadline ÷ the time until then.
    pub at_stonewall: Option<Rate>,
    /// The slowest and the fastest task; none where no task has times.
    pub tasks: Option<TaskRates>,
    /// Each operation apart, where the phase did several: reads and writes of a mixed one, creates,
    /// stats, reads and removes of a round of objects. Else empty.
    pub operations: Vec<OperationRates>,
}

/// What single tasks did: iozone's `Min throughput per process`, `Max throughput` and `Min xfer`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TaskRates {
    /// The lowest of the tasks' own rates.
    pub slowest: Rate,
    /// The highest.
    pub fastest: Rate,
    /// Operations of the task that did fewest.
    pub least_transfers: u64,
    /// From its first transfer to its last, of all tasks together, in nanoseconds.
    pub busy_ns: u64,
}

/// The rates of one operation of a phase that did several, over the times of the phase. Per-task and
/// stonewall counts are not kept by operation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OperationRates {
    /// Which one.
    pub operation: Operation,
    /// As [`Rates::by_wall`].
    pub by_wall: Rate,
    /// As [`Rates::by_io`].
    pub by_io: Rate,
    /// As [`Rates::sustained`].
    pub sustained: Option<Rate>,
}

const NONE: Rate = Rate { bytes_per_second: 0.0, transfers_per_second: 0.0 };

impl Rates {
    /// The rates of `phase`. Rows of other phases among `tasks` and `series` are left out, so a
    /// whole run's rows can be given.
    ///
    /// Transfers at the first task's end and at the stonewall are not counted by the record; they
    /// are taken in proportion to the bytes, which is exact as long as transfers have one size. Operations
    /// that move no bytes are taken from the seconds, as if they had been done evenly within each; where
    /// there are none, neither rate is known.
    #[must_use]
    pub fn of<'a>(
        phase: &PhaseRow,
        tasks: impl IntoIterator<Item = &'a TaskRow>,
        series: impl IntoIterator<Item = &'a SeriesRow>,
    ) -> Self {
        let key = &phase.key;
        let tasks: Vec<&TaskRow> = tasks.into_iter().filter(|task| task.key == *key).collect();
        let series: Vec<&SeriesRow> = series.into_iter().filter(|second| second.key == *key).collect();
        let (bytes, transfers) = (phase.bytes(), phase.transfers());
        let by_io = Rate::of(bytes, transfers, phase.io_ns).unwrap_or(NONE);
        let window = Window::of(phase, &tasks);
        Self {
            by_wall: Rate::of(bytes, transfers, phase.wall_ns).unwrap_or(NONE),
            by_io,
            sum_of_tasks: sum_of_tasks(&tasks).unwrap_or(by_io),
            at_first_done: part_of(phase, &series, window, phase.first_done_bytes, phase.first_done_ns),
            at_last_done: Rate::of(bytes, transfers, window.length()).unwrap_or(by_io),
            sustained: sustained(&series, window, |_| true),
            at_stonewall: phase
                .stonewall_bytes
                .zip(phase.stonewall_ns)
                .and_then(|(bytes, nanos)| part_of(phase, &series, window, bytes, nanos)),
            tasks: task_rates(&tasks),
            operations: operations(phase, &series, window),
        }
    }

    /// The rate called `name`, if the phase has it.
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

/// The rate of a part of the phase: of its `bytes`, or, where it moves none, of the operations in the
/// first `nanos` of its `window`.
fn part_of(phase: &PhaseRow, series: &[&SeriesRow], window: Window, bytes: u64, nanos: u64) -> Option<Rate> {
    let rate = Rate::of(bytes, 0, nanos)?;
    let transfers = match phase.bytes() {
        0 if phase.transfers() > 0 => done_until(series, window.start_ns.saturating_add(nanos))?,
        0 => 0.0,
        all => phase.transfers() as f64 * (bytes as f64 / all as f64),
    };
    Some(Rate { transfers_per_second: transfers / (nanos as f64 / 1e9), ..rate })
}

/// Operations that had completed at `end_ns`; none without seconds.
fn done_until(series: &[&SeriesRow], end_ns: u64) -> Option<f64> {
    let share = |row: &SeriesRow| match row.length_ns {
        0 => 0.0,
        length => (end_ns.saturating_sub(row.start_ns) as f64 / length as f64).min(1.0),
    };
    (!series.is_empty()).then(|| series.iter().map(|row| row.transfers as f64 * share(row)).sum())
}

/// A task's own rate; none where it has no times.
fn own_rate(task: &TaskRow) -> Option<Rate> {
    Rate::of(task.bytes, task.transfers, task.io_end_ns.saturating_sub(task.io_start_ns))
}

fn task_rates(tasks: &[&TaskRow]) -> Option<TaskRates> {
    let rates = || tasks.iter().filter_map(|task| own_rate(task));
    let by_operations =
        |one: &Rate, other: &Rate| one.transfers_per_second.total_cmp(&other.transfers_per_second);
    Some(TaskRates {
        slowest: rates().min_by(by_operations)?,
        fastest: rates().max_by(by_operations)?,
        least_transfers: tasks.iter().map(|task| task.transfers).min()?,
        busy_ns: tasks.iter().map(|task| task.io_end_ns.saturating_sub(task.io_start_ns)).sum(),
    })
}

/// Sum of each task's own rate; none where no task has times.
fn sum_of_tasks(tasks: &[&TaskRow]) -> Option<Rate> {
    let mut rates = tasks.iter().filter_map(|task| own_rate(task)).peekable();
    rates.peek()?;
    Some(rates.fold(NONE, |sum, rate| Rate {
        bytes_per_second: sum.bytes_per_second + rate.bytes_per_second,
        transfers_per_second: sum.transfers_per_second + rate.transfers_per_second,
    }))
}

/// First transfer began → last transfer ended, counted from the phase's common start.
#[derive(Debug, Clone, Copy)]
struct Window {
    start_ns: u64,
    end_ns: u64,
}

impl Window {
    /// From the tasks' times; where there are none, as in an imported record, the I/O time from
    /// the phase's start.
    fn of(phase: &PhaseRow, tasks: &[&TaskRow]) -> Self {
        let moved = || tasks.iter().filter(|task| task.transfers > 0);
        match (moved().map(|t| t.io_start_ns).min(), moved().map(|t| t.io_end_ns).max()) {
            (Some(start_ns), Some(end_ns)) => Self { start_ns, end_ns },
            _ => Self { start_ns: 0, end_ns: phase.io_ns },
        }
    }

    fn length(self) -> u64 {
        self.end_ns.saturating_sub(self.start_ns)
    }
}

/// The low percentile over all whole intervals inside `window`. An interval without a row is one
/// in which nothing completed: leaving it out would hide a stall.
fn sustained(series: &[&SeriesRow], window: Window, wanted: impl Fn(&SeriesRow) -> bool) -> Option<Rate> {
    let interval = series.iter().map(|row| row.length_ns).max().filter(|&length| length > 0)?;
    let (first, end) = (window.start_ns.div_ceil(interval), window.end_ns / interval);
    let count = usize::try_from(end.saturating_sub(first)).ok()?;
    // A record with more seconds than rows could ever fill is damaged; ten years are 3e8 seconds.
    if !(SUSTAINED_SECONDS_MIN..=300_000_000).contains(&count) {
        return None;
    }
    let mut bytes = vec![0.0; count];
    let mut transfers = vec![0.0; count];
    for row in series.iter().filter(|row| wanted(row)) {
        let index =
            (row.start_ns / interval).checked_sub(first).and_then(|index| usize::try_from(index).ok());
        if let Some(index) = index.filter(|&index| index < count) {
            bytes[index] += row.bytes as f64;
            transfers[index] += row.transfers as f64;
        }
    }
    let seconds = interval as f64 / 1e9;
    let low = |mut values: Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values[nearest_rank(SUSTAINED_PERCENTILE, count as u64).min(count) - 1] / seconds
    };
    Some(Rate { bytes_per_second: low(bytes), transfers_per_second: low(transfers) })
}

/// The rates of each operation, where there are several. Reads and writes of transfers are counted by the
/// phase; of files and objects it counts all operations together, and the seconds count each.
fn operations(phase: &PhaseRow, series: &[&SeriesRow], window: Window) -> Vec<OperationRates> {
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
