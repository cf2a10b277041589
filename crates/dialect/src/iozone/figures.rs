//! The figures of one phase, as defined by IOzone.

use plan::Operation;
use record::{PhaseRecord, TaskRow};

use super::case::Point;
use super::settings::{Settings, Unit};

/// The results of a phase, in the unit requested on the command line.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Figures {
    /// For each process: its rate over its own time, and the amount it counts as moved.
    pub children: Vec<Child>,
    /// The total amount moved, divided by the time from the first start to the last end.
    pub parent: f64,
    pub wall_seconds: f64,
    pub cpu_seconds: f64,
}

/// The figures of one process.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Child {
    pub rate: f64,
    /// Amount in kB or records until the first process was done or, with `-x`, until its own end.
    pub moved: f64,
}

impl Figures {
    pub(super) fn of(record: &PhaseRecord, settings: &Settings, point: Point) -> Self {
        let (row, tasks) = (&record.phase, &record.tasks);
        let outside = stamping_ns(record);
        let amount = |bytes: u64| match settings.unit {
            Unit::Kilobytes => bytes as f64 / 1024.0,
            Unit::Operations | Unit::Microseconds => bytes as f64 / 1024.0 / point.record_kb as f64,
        };
        let time = |task: &TaskRow| {
            let transfers = task.io_end_ns.saturating_sub(task.io_start_ns).saturating_sub(outside);
            let close = task.close_end_ns.saturating_sub(task.close_start_ns);
            transfers + if settings.counts_close() { close } else { 0 }
        };
        let first_end = tasks.iter().map(|task| task.io_end_ns).min().unwrap_or(0);
        let child = |task: &TaskRow| {
            let all = amount(task.bytes);
            let took = task.io_end_ns.saturating_sub(task.io_start_ns);
            let until = first_end.saturating_sub(task.io_start_ns);
            let share = if settings.no_stonewall || took == 0 { 1.0 } else { until as f64 / took as f64 };
            Child {
                rate: rate(all, time(task), settings.unit),
                moved: whole(all * share.min(1.0), settings, point),
            }
        };
        let wall_ns = if settings.counts_close() { row.wall_ns } else { row.io_ns };
        Self {
            children: tasks.iter().map(child).collect(),
            parent: rate(amount(row.bytes()), wall_ns, settings.unit),
            wall_seconds: seconds(row.wall_ns),
            cpu_seconds: (row.user_cpu_ns + row.system_cpu_ns) as f64 / 1e9,
        }
    }

    /// The sum of the children's rates, which is the value of a cell in single mode.
    pub(super) fn sum(&self) -> f64 {
        self.children.iter().map(|child| child.rate).sum()
    }
}

/// For a phase that writes with a single task: the time between its writes, in which each buffer is stamped. IOzone
/// writes the same bytes again.
fn stamping_ns(record: &PhaseRecord) -> u64 {
    let writes = record.series.iter().filter(|row| row.operation == Operation::Write);
    let in_calls: u64 = writes.map(|row| row.latency_sum_ns).sum();
    match &record.tasks[..] {
        [only] if in_calls > 0 && record.phase.reads == 0 => {
            only.io_end_ns.saturating_sub(only.io_start_ns).saturating_sub(in_calls)
        }
        _ => 0,
    }
}

/// The amount per second, or microseconds per unit.
fn rate(amount: f64, ns: u64, unit: Unit) -> f64 {
    match unit {
        Unit::Microseconds if amount > 0.0 => seconds(ns) * 1e6 / amount,
        Unit::Microseconds => 0.0,
        Unit::Kilobytes | Unit::Operations => amount / seconds(ns),
    }
}

/// Rounded down to whole records.
fn whole(amount: f64, settings: &Settings, point: Point) -> f64 {
    match settings.unit {
        Unit::Kilobytes => (amount / point.record_kb as f64).floor() * point.record_kb as f64,
        Unit::Operations | Unit::Microseconds => amount.floor(),
    }
}

/// Converts `ns` to seconds, with a minimum of one nanosecond, so that no rate is infinite.
fn seconds(ns: u64) -> f64 {
    ns.max(1) as f64 / 1e9
}
