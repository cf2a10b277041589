//! Named rates. There is no bare "bandwidth": each rate says which bytes it divides by which time.

use plan::RateName;
use record::{Operation, PhaseRow, SeriesRow, TaskRow};

use crate::summary::nearest_rank;

/// The percentile of the per-second rates that a storage system is said to sustain: one second
/// in twenty was worse.
pub const SUSTAINED_PERCENTILE: f64 = 5.0;
/// Whole seconds that a sustained rate needs: a low percentile of fewer is just the lowest.
pub const SUSTAINED_SECONDS_MIN: usize = 3;

/// Bytes and transfers per second, over the same time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    /// Bytes per second.
    pub bytes_per_second: f64,
    /// Completed transfers per second.
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
#[derive(Debug, Clone, Copy, PartialEq)]
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
    /// Reads and writes apart, where the phase did both.
    pub split: Option<Split>,
}

/// The rates of both directions of a mixed phase, over the same times.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Split {
    /// Reads.
    pub read: DirectionRates,
    /// Writes.
    pub write: DirectionRates,
}

/// The rates of one direction of a mixed phase. Per-task and stonewall counts are not kept by
/// direction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DirectionRates {
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
    /// are taken in proportion to the bytes, which is exact as long as transfers have one size.
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
            at_first_done: part_of(phase, phase.first_done_bytes, phase.first_done_ns),
            at_last_done: Rate::of(bytes, transfers, window.length()).unwrap_or(by_io),
            sustained: sustained(&series, window, |_| true),
            at_stonewall: phase
                .stonewall_bytes
                .zip(phase.stonewall_ns)
                .and_then(|(bytes, nanos)| part_of(phase, bytes, nanos)),
            split: (phase.reads > 0 && phase.writes > 0).then(|| Split {
                read: direction(phase, &series, window, Operation::Read),
                write: direction(phase, &series, window, Operation::Write),
            }),
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

/// The rate of a part of the phase's bytes.
fn part_of(phase: &PhaseRow, bytes: u64, nanos: u64) -> Option<Rate> {
    let rate = Rate::of(bytes, 0, nanos)?;
    let share = if phase.bytes() == 0 { 0.0 } else { bytes as f64 / phase.bytes() as f64 };
    let transfers = phase.transfers() as f64 * share;
    Some(Rate { transfers_per_second: transfers / (nanos as f64 / 1e9), ..rate })
}

/// Sum of each task's own rate; none where no task has times.
fn sum_of_tasks(tasks: &[&TaskRow]) -> Option<Rate> {
    let own = |task: &&TaskRow| {
        Rate::of(task.bytes, task.transfers, task.io_end_ns.saturating_sub(task.io_start_ns))
    };
    let mut rates = tasks.iter().filter_map(own).peekable();
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

fn direction(
    phase: &PhaseRow,
    series: &[&SeriesRow],
    window: Window,
    operation: Operation,
) -> DirectionRates {
    let (bytes, transfers) = match operation {
        Operation::Read => (phase.read_bytes, phase.reads),
        Operation::Write => (phase.write_bytes, phase.writes),
        _ => (0, phase.items),
    };
    DirectionRates {
        by_wall: Rate::of(bytes, transfers, phase.wall_ns).unwrap_or(NONE),
        by_io: Rate::of(bytes, transfers, phase.io_ns).unwrap_or(NONE),
        sustained: sustained(series, window, |row| row.operation == operation),
    }
}
