//! What was observed over time, as the lines of charts, and per device.

pub(crate) mod servers;
pub(crate) mod starved;

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::HashMap;

use plan::{Operation, Phase};
use record::{DeviceRow, PhaseKey, PhaseRow, SeriesRow, TaskRow};

use crate::figures::by_name;

/// One direction of one repetition as a time series.
#[derive(Debug, Clone, PartialEq)]
pub struct SecondsLine {
    /// The number of the repetition, starting at 0.
    pub repetition: u32,
    /// The direction.
    pub operation: Operation,
    /// The points, in the order of time.
    pub points: Vec<Second>,
}

/// The transfers that completed in one interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Second {
    /// The middle of the interval, in seconds since the start of the phase.
    pub at_seconds: f64,
    /// Bytes of the completed transfers ÷ the length of the interval.
    pub bytes_per_second: f64,
    /// Number of completed transfers ÷ the length of the interval.
    pub transfers_per_second: f64,
    /// The longest latency among them; 0 if none completed.
    pub latency_max_ns: u64,
}

/// The lines of `phase` of `case`, by repetition, reads before writes. An interval in which nothing completed may
/// have no row. It becomes a point at 0 here, because leaving it out would hide a stall.
#[must_use]
pub fn seconds(rows: &[SeriesRow], case: &str, phase: Phase) -> Vec<SecondsLine> {
    let mut lines: Vec<(SecondsLine, u64)> = Vec::new();
    let mut sorted: Vec<&SeriesRow> = rows.iter().filter(|row| is_of(&row.key, case, phase)).collect();
    sorted.sort_by_key(|row| (row.key.repetition, row.operation, row.start_ns));
    let mut before: Option<SeriesRow> = None;
    for row in sorted.into_iter().filter(|row| row.length_ns > 0) {
        let same =
            |line: &SecondsLine| line.repetition == row.key.repetition && line.operation == row.operation;
        if !lines.last().is_some_and(|(line, _)| same(line)) {
            let (repetition, operation) = (row.key.repetition, row.operation);
            lines.push((SecondsLine { repetition, operation, points: Vec::new() }, row.start_ns));
            before = None;
        }
        let Some((line, end)) = lines.last_mut() else { continue };
        for gap in 0..(row.start_ns.saturating_sub(*end) / row.length_ns).min(GAPS_MAX) {
            line.points.push(point(*end + gap * row.length_ns, row.length_ns, 0, 0, 0));
        }
        *end = row.start_ns + row.length_ns;
        match line.points.last_mut().zip(before.as_mut()) {
            Some((last, before))
                if is_rest(row.length_ns, before.length_ns, before.start_ns, row.start_ns) =>
            {
                *before = joined(before, row);
                *last = of_row(before);
            }
            _ => {
                line.points.push(of_row(row));
                before = Some(row.clone());
            }
        }
    }
    lines.into_iter().map(|(line, _)| line).collect()
}

/// A full day of consecutive empty seconds is a damaged record, not a stall.
const GAPS_MAX: u64 = 86_400;

/// An interval shorter than this share of the one before it is the end of a phase, with a few transfers at an
/// arbitrary rate; it is merged into the interval before it.
const REST_SHARE: f64 = 0.25;

fn is_rest(length_ns: u64, before_ns: u64, before_start_ns: u64, start_ns: u64) -> bool {
    (length_ns as f64) < before_ns as f64 * REST_SHARE && before_start_ns + before_ns == start_ns
}

fn joined(one: &SeriesRow, rest: &SeriesRow) -> SeriesRow {
    SeriesRow {
        length_ns: one.length_ns + rest.length_ns,
        bytes: one.bytes + rest.bytes,
        transfers: one.transfers + rest.transfers,
        latency_sum_ns: one.latency_sum_ns + rest.latency_sum_ns,
        latency_max_ns: one.latency_max_ns.max(rest.latency_max_ns),
        ..one.clone()
    }
}

fn of_row(row: &SeriesRow) -> Second {
    point(row.start_ns, row.length_ns, row.bytes, row.transfers, row.latency_max_ns)
}

fn point(start_ns: u64, length_ns: u64, bytes: u64, transfers: u64, latency_max_ns: u64) -> Second {
    let seconds = length_ns as f64 / 1e9;
    Second {
        at_seconds: start_ns as f64 / 1e9 + seconds / 2.0,
        bytes_per_second: bytes as f64 / seconds,
        transfers_per_second: transfers as f64 / seconds,
        latency_max_ns,
    }
}

/// The kernel's counters for one device, per unit of time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DeviceMean {
    /// Bytes read per second.
    pub read_bytes_per_second: f64,
    /// Bytes written per second.
    pub write_bytes_per_second: f64,
    /// Share of the time with at least one request in flight, from 0 to 1 (`%util`). A device that serves many
    /// requests in parallel may not be saturated at 1.
    pub busy_share: f64,
    /// Mean number of requests in flight (`aqu-sz`).
    pub queue_requests: f64,
    /// Mean time of a request (`await`). `None` if no request completed.
    pub wait_ns: Option<f64>,
}

impl DeviceMean {
    /// Bytes per second in both directions.
    #[must_use]
    pub const fn moved_per_second(&self) -> f64 {
        self.read_bytes_per_second + self.write_bytes_per_second
    }
}

/// Selects the rows of one pass from which device rates are computed: the whole intervals during which the `tasks` of
/// the node moved bytes or closed files. For a device without such an interval, the intervals are cut to that time,
/// with all that the device did in them. For a node without tasks, all rows are used.
pub(crate) fn while_working<'a, 't>(
    devices: impl Iterator<Item = &'a DeviceRow>,
    tasks: impl Iterator<Item = &'t TaskRow>,
) -> Vec<Cow<'a, DeviceRow>> {
    let mut spans: HashMap<&str, (u64, u64)> = HashMap::new();
    for task in tasks {
        let (start, end) = spans.entry(task.node.as_str()).or_insert((u64::MAX, 0));
        (*start, *end) = ((*start).min(task.io_start_ns), (*end).max(task.close_end_ns).max(task.io_end_ns));
    }
    // Before record version 3, device rows had no node; there was only one node.
    let all = spans.values().copied().reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))).unwrap_or((0, u64::MAX));
    let mut sorted: Vec<&DeviceRow> = devices.collect();
    sorted.sort_by(|a, b| by_place(a, b));
    let mut found = Vec::new();
    for of_device in sorted.chunk_by(|a, b| by_place(a, b).is_eq()) {
        let (start, end) = spans.get(of_device[0].node.as_str()).copied().unwrap_or(all);
        let is_whole = |row: &&&DeviceRow| row.start_ns >= start && row.start_ns + row.length_ns <= end;
        let whole: Vec<Cow<'_, DeviceRow>> =
            of_device.iter().filter(is_whole).map(|row| Cow::Borrowed(*row)).collect();
        if !whole.is_empty() {
            found.extend(whole);
            continue;
        }
        found.extend(of_device.iter().filter_map(|&row| {
            let start_ns = row.start_ns.max(start);
            let length_ns = (row.start_ns + row.length_ns).min(end).checked_sub(start_ns)?;
            Some(Cow::Owned(DeviceRow { start_ns, length_ns, ..row.clone() }))
        }));
    }
    found
}

/// The mean over `rows` for each device of each node, in the order of names. With several nodes, the name of the node
/// comes first: `node3:nvme0n1`.
pub(crate) fn means<'a>(rows: impl Iterator<Item = &'a DeviceRow>) -> Vec<(String, DeviceMean)> {
    let mut sorted: Vec<&DeviceRow> = rows.filter(|row| row.length_ns > 0).collect();
    let several = on_several_nodes(&sorted);
    sorted.sort_by(|a, b| by_place(a, b));
    let same = |a: &&DeviceRow, b: &&DeviceRow| by_place(a, b).is_eq();
    sorted.chunk_by(same).map(|rows| (name_of(rows[0], several), mean_of(rows))).collect()
}

fn by_place(a: &DeviceRow, b: &DeviceRow) -> Ordering {
    by_name(&a.node, &b.node).then_with(|| by_name(&a.device, &b.device))
}

/// Whether the rows are of several nodes, whose devices may have the same names.
fn on_several_nodes(rows: &[&DeviceRow]) -> bool {
    rows.windows(2).any(|pair| pair[0].node != pair[1].node)
}

fn name_of(row: &DeviceRow, several: bool) -> String {
    if several { format!("{}:{}", row.node, row.device) } else { row.device.clone() }
}

/// Sums ÷ total time; `rows` is not empty and no interval has length 0.
fn mean_of(rows: &[&DeviceRow]) -> DeviceMean {
    let sum = |value: fn(&DeviceRow) -> u64| rows.iter().map(|row| value(row) as f64).sum::<f64>();
    let nanos = sum(|row| row.length_ns);
    let requests = sum(|row| row.reads) + sum(|row| row.writes);
    let waited = sum(|row| row.read_time_ns) + sum(|row| row.write_time_ns);
    DeviceMean {
        read_bytes_per_second: sum(|row| row.read_bytes) / nanos * 1e9,
        write_bytes_per_second: sum(|row| row.write_bytes) / nanos * 1e9,
        busy_share: (sum(|row| row.busy_ns) / nanos).min(1.0),
        queue_requests: sum(|row| row.queue_time_ns) / nanos,
        wait_ns: (requests > 0.0).then(|| waited / requests),
    }
}

fn is_of(key: &PhaseKey, case: &str, phase: Phase) -> bool {
    key.case == case && key.phase == phase
}

/// Bytes that the devices moved, per byte that the application moved.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DeviceShare {
    /// For reads. `None` if there were none or the devices could not be observed.
    pub read: Option<f64>,
    /// For writes.
    pub write: Option<f64>,
}

impl DeviceShare {
    /// The shares of `phase`.
    #[must_use]
    pub fn of(phase: &PhaseRow) -> Self {
        let share = |device: Option<u64>, application: u64| {
            device.filter(|_| application > 0).map(|device| device as f64 / application as f64)
        };
        Self {
            read: share(phase.device_read_bytes, phase.read_bytes),
            write: share(phase.device_write_bytes, phase.write_bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use plan::{Operation, Phase};
    use record::{DeviceRow, PhaseKey, SeriesRow, TaskRow};

    use super::{means, seconds, while_working};

    fn key(repetition: u32) -> PhaseKey {
        PhaseKey { case: "c".into(), repetition, phase: Phase::Read }
    }

    fn second(repetition: u32, start_s: u64, bytes: u64) -> SeriesRow {
        SeriesRow {
            key: key(repetition),
            operation: Operation::Read,
            start_ns: start_s * 1_000_000_000,
            length_ns: 1_000_000_000,
            bytes,
            transfers: 1,
            latency_sum_ns: 5,
            latency_max_ns: 5,
        }
    }

    #[test]
    fn a_stall_is_a_point_at_zero_even_without_rows() {
        let rows = [second(1, 4, 7), second(0, 0, 1), second(1, 0, 3)];
        let lines = seconds(&rows, "c", Phase::Read);
        let rates = |index: usize| lines[index].points.iter().map(|p| p.bytes_per_second).collect::<Vec<_>>();
        assert_eq!((lines.len(), rates(0), rates(1)), (2, vec![1.0], vec![3.0, 0.0, 0.0, 0.0, 7.0]));
        assert!((lines[1].points[2].at_seconds - 2.5).abs() < 1e-9);
        assert!(seconds(&rows, "other", Phase::Read).is_empty());
    }

    #[test]
    fn the_rest_of_a_phase_is_counted_to_the_second_before_it() {
        let rest = SeriesRow { length_ns: 1_000_000, latency_max_ns: 9, ..second(0, 2, 500) };
        let lines = seconds(&[second(0, 0, 10), second(0, 1, 20), rest], "c", Phase::Read);
        let points = &lines[0].points;
        assert_eq!(points.len(), 2);
        assert!((points[1].bytes_per_second - 520.0 / 1.001).abs() < 1e-6);
        assert_eq!(points[1].latency_max_ns, 9);
    }

    fn device(name: &str, start_ns: u64, length_ns: u64, busy_ns: u64) -> DeviceRow {
        DeviceRow {
            node: "node1".to_owned(),
            key: key(0),
            device: name.into(),
            start_ns,
            length_ns,
            reads: 2,
            read_bytes: 1_000,
            read_time_ns: 600,
            writes: 1,
            write_bytes: 0,
            write_time_ns: 300,
            busy_ns,
            queue_time_ns: 2 * length_ns,
        }
    }

    #[test]
    fn device_means_weigh_intervals_by_their_length() {
        let rows = [device("b", 0, 1_000, 1_000), device("a", 1_000, 3_000, 0), device("a", 0, 1_000, 1_000)];
        let means = means(rows.iter());
        assert_eq!(means.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
        assert!((means[0].1.busy_share - 0.25).abs() < 1e-12);
        assert!((means[0].1.queue_requests - 2.0).abs() < 1e-12);
        assert_eq!(means[0].1.wait_ns, Some(300.0));
        assert!((means[0].1.read_bytes_per_second - 2_000.0 / 4_000.0 * 1e9).abs() < 1e-3);
    }

    /// The tasks start late in the first interval and finish early in the last one.
    #[test]
    fn rates_of_devices_are_those_of_whole_intervals_while_the_tasks_worked() {
        let task = TaskRow {
            key: key(0),
            task: 0,
            node: "node1".to_owned(),
            file: 0,
            open_start_ns: 0,
            open_end_ns: 0,
            io_start_ns: 800,
            io_end_ns: 3_100,
            close_start_ns: 3_100,
            close_end_ns: 3_200,
            bytes: 0,
            transfers: 0,
            stonewall_transfers: None,
        };
        let rows: Vec<DeviceRow> = (0..4).map(|second| device("a", second * 1_000, 1_000, 0)).collect();
        let rates = |rows: &[DeviceRow], tasks: &[TaskRow]| -> f64 {
            let steady = while_working(rows.iter(), tasks.iter());
            means(steady.iter().map(AsRef::as_ref))[0].1.read_bytes_per_second
        };
        let full = 1_000.0 / 1_000.0 * 1e9;
        assert!((rates(&rows, std::slice::from_ref(&task)) - full).abs() < 1e-3);
        // A short pass has no whole interval: all bytes are divided by the time of the tasks.
        let short = TaskRow { io_start_ns: 200, io_end_ns: 600, close_end_ns: 700, ..task };
        assert!((rates(&rows[..1], &[short]) - 2.0 * full).abs() < 1e-3);
        assert!((rates(&rows, &[]) - full).abs() < 1e-3, "nobody tells when tasks worked");
    }
}
