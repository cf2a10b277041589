//! What was observed over time, as the lines of charts, and per device.

pub(crate) mod own_time;
pub(crate) mod servers;
pub(crate) mod starved;

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use plan::{Operation, Phase, Workload};
use record::{DeviceRow, PhaseKey, PhaseRow, SeriesRow, TaskRow};

use crate::figures::by_name;
use crate::figures::observed::own_time::own_spans;
use crate::statistics::whole;

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

/// Over a shorter time nothing is said of counters that the kernel advances by its clock tick, which takes up to 10 ms:
/// they may be off by one tick at each end, a tenth of this time.
pub(crate) const TICKED_NS_MIN: u64 = 200_000_000;

/// The kernel's counters for one device, per unit of time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DeviceMean {
    /// Bytes read per second.
    pub read_bytes_per_second: f64,
    /// Bytes written per second.
    pub write_bytes_per_second: f64,
    /// Share of the time with at least one request in flight, from 0 to 1 (`%util`). A device that serves many
    /// requests in parallel may not be saturated at 1. `None` if the observed time is too short for the kernel's
    /// counters, see `TICKED_NS_MIN`.
    pub busy_share: Option<f64>,
    /// Mean number of requests in flight (`aqu-sz`), under the same condition.
    pub queue_requests: Option<f64>,
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

/// What the devices of a figure counted, each device alike.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Utilisation {
    /// The number of devices.
    pub devices: usize,
    /// The mean of their `%util` as a share, and the highest. `None` if it is unknown of one.
    pub busy: Option<(f64, f64)>,
    /// Bytes per second of all devices together.
    pub bytes_per_second: f64,
    /// The mean of their `aqu-sz`. `None` if it is unknown of one.
    pub queue_requests: Option<f64>,
    /// The mean of their `await`. `None` if it is unknown of one.
    pub wait_ns: Option<f64>,
}

impl Utilisation {
    /// Returns `None` if no device was observed.
    #[must_use]
    pub fn of(devices: &[(String, DeviceMean)]) -> Option<Self> {
        let mean = |of: fn(&DeviceMean) -> Option<f64>| {
            let values: Option<Vec<f64>> = devices.iter().map(|(_, one)| of(one)).collect();
            values.map(|values| values.iter().sum::<f64>() / values.len() as f64)
        };
        let highest = devices.iter().filter_map(|(_, one)| one.busy_share).fold(0.0, f64::max);
        (!devices.is_empty()).then(|| Self {
            devices: devices.len(),
            busy: mean(|one| one.busy_share).map(|mean| (mean, highest)),
            bytes_per_second: devices.iter().map(|(_, one)| one.moved_per_second()).sum(),
            queue_requests: mean(|one| one.queue_requests),
            wait_ns: mean(|one| one.wait_ns),
        })
    }
}

/// A row from which device rates are computed, and the part of its length that counts.
pub(crate) type Steady<'a> = (&'a DeviceRow, u64);

/// Selects the rows of one pass from which device rates are computed: the whole intervals during the own I/O of the
/// `tasks` of the device's node, by which the rate of the node is computed as well. For a device without such an
/// interval, the intervals are cut to that time, with all that the device did in them. For a node without tasks, the
/// time is that of all nodes; if there are none, all rows are used.
pub(crate) fn while_working<'a, 't>(
    devices: impl Iterator<Item = &'a DeviceRow>,
    tasks: impl Iterator<Item = &'t TaskRow>,
    workload: &Workload,
    phase: Phase,
) -> Vec<Steady<'a>> {
    let mut of_node: HashMap<&str, Vec<&TaskRow>> = HashMap::new();
    for task in tasks {
        of_node.entry(task.node.as_str()).or_default().push(task);
    }
    let own = |tasks: &Vec<&TaskRow>| -> Vec<Range<u64>> {
        own_spans(tasks, workload, phase).filter(|span| !span.is_empty()).collect()
    };
    let spans: HashMap<&str, Vec<Range<u64>>> =
        of_node.iter().map(|(node, tasks)| (*node, own(tasks))).filter(|(_, own)| !own.is_empty()).collect();
    // Before record version 3, device rows had no node; there was only one node.
    let ends = spans.values().flatten();
    let all = ends.cloned().reduce(|a, b| a.start.min(b.start)..a.end.max(b.end)).unwrap_or(0..u64::MAX);
    let all = vec![all];
    let mut found = Vec::new();
    for of_device in by_device(devices, |row| *row) {
        let own = spans.get(of_device[0].node.as_str()).unwrap_or(&all);
        let end = |row: &DeviceRow| row.start_ns + row.length_ns;
        let is_whole =
            |row: &&&DeviceRow| own.iter().any(|span| row.start_ns >= span.start && end(row) <= span.end);
        let whole = || of_device.iter().filter(is_whole);
        if whole().next().is_some() {
            found.extend(whole().map(|row| (*row, row.length_ns)));
            continue;
        }
        found.extend(of_device.iter().map(|&row| {
            let within = |span: &Range<u64>| row.start_ns.max(span.start)..end(row).min(span.end);
            (row, own.iter().map(within).map(|part| part.end.saturating_sub(part.start)).sum())
        }));
    }
    found
}

/// The mean over `rows` for each device of each node, in the order of names. With several nodes, the name of the node
/// comes first: `node3:nvme0n1`.
pub(crate) fn means<'a>(rows: impl Iterator<Item = Steady<'a>>) -> Vec<(String, DeviceMean)> {
    let devices = by_device(rows.filter(|(_, length_ns)| *length_ns > 0), |(row, _)| *row);
    let several = devices.windows(2).any(|pair| pair[0][0].0.node != pair[1][0].0.node);
    devices.iter().map(|rows| (name_of(rows[0].0, several), mean_of(rows))).collect()
}

/// The rows of each device, in the order of the names of nodes and devices. Comparing names takes long, and devices are
/// far fewer than rows.
fn by_device<'a, T>(rows: impl Iterator<Item = T>, row_of: impl Fn(&T) -> &'a DeviceRow) -> Vec<Vec<T>> {
    let mut devices: HashMap<(&str, &str), Vec<T>> = HashMap::new();
    for row in rows {
        let of = row_of(&row);
        devices.entry((&of.node, &of.device)).or_default().push(row);
    }
    let mut devices: Vec<_> = devices.into_iter().collect();
    devices.sort_by(|(a, _), (b, _)| by_name(a.0, b.0).then_with(|| by_name(a.1, b.1)));
    devices.into_iter().map(|(_, rows)| rows).collect()
}

fn name_of(row: &DeviceRow, several: bool) -> String {
    if several { format!("{}:{}", row.node, row.device) } else { row.device.to_string() }
}

/// Sums ÷ total time; `rows` is not empty and no interval has length 0.
fn mean_of(rows: &[Steady<'_>]) -> DeviceMean {
    let sum = |value: fn(&DeviceRow) -> u64| rows.iter().map(|(row, _)| value(row) as f64).sum::<f64>();
    let nanos = rows.iter().map(|(_, length_ns)| *length_ns as f64).sum::<f64>();
    let requests = sum(|row| row.reads) + sum(|row| row.writes);
    let waited = sum(|row| row.read_time_ns) + sum(|row| row.write_time_ns);
    // The counters of a pass are exact but for its ends.
    let passes = rows.iter().map(|(row, _)| row.key.repetition).collect::<HashSet<_>>().len();
    let ticked = |value: f64| (nanos / passes as f64 >= TICKED_NS_MIN as f64).then_some(value);
    DeviceMean {
        read_bytes_per_second: sum(|row| row.read_bytes) / nanos * 1e9,
        write_bytes_per_second: sum(|row| row.write_bytes) / nanos * 1e9,
        busy_share: ticked((sum(|row| row.busy_ns) / nanos).min(1.0)),
        queue_requests: ticked(sum(|row| row.queue_time_ns) / nanos),
        wait_ns: (requests > 0.0).then(|| waited / requests),
    }
}

fn is_of(key: &PhaseKey, case: &str, phase: Phase) -> bool {
    key.case == case && key.phase == phase
}

/// Bytes that workloads at the same time moved during a phase, on devices on which it was, too.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the name says it")]
pub struct MovedBeside {
    pub read_bytes: u64,
    pub write_bytes: u64,
}

impl MovedBeside {
    /// Those of `phase`, which were moved by `others`: each with its series, if it used the same devices. What
    /// completed in an interval counts as far as the interval is within the time of `phase`.
    pub(crate) fn of<'a>(
        phase: &PhaseRow,
        others: impl Iterator<Item = (&'a PhaseRow, &'a [SeriesRow])>,
    ) -> Self {
        let mut all = Self::default();
        for (other, series) in others {
            let shift = i128::from(other.started_unix_ns) - i128::from(phase.started_unix_ns);
            let within = |row: &SeriesRow| {
                let start = i128::from(row.start_ns) + shift;
                let both = (start + i128::from(row.length_ns)).min(i128::from(phase.wall_ns)) - start.max(0);
                both.max(0) as f64 / row.length_ns.max(1) as f64
            };
            let moved: f64 = series.iter().map(|row| row.bytes as f64).sum();
            let during: f64 = series.iter().map(|row| row.bytes as f64 * within(row)).sum();
            let part = if moved > 0.0 { during / moved } else { 1.0 };
            let part_of = |bytes: u64| whole(bytes as f64 * part);
            all.read_bytes = all.read_bytes.saturating_add(part_of(other.read_bytes));
            all.write_bytes = all.write_bytes.saturating_add(part_of(other.write_bytes));
        }
        all
    }
}

/// Bytes that the devices moved, per byte that the application and the workloads beside it moved.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DeviceShare {
    /// For reads. `None` if there were none or the devices could not be observed.
    pub read: Option<f64>,
    /// For writes.
    pub write: Option<f64>,
}

impl DeviceShare {
    /// The shares of `phase`, if workloads at the same time moved the bytes `beside` on its devices.
    #[must_use]
    pub fn of(phase: &PhaseRow, beside: MovedBeside) -> Self {
        let share = |device: Option<u64>, application: u64, others: u64| {
            let all = application.saturating_add(others);
            device.filter(|_| application > 0).map(|device| device as f64 / all as f64)
        };
        Self {
            read: share(phase.device_read_bytes, phase.read_bytes, beside.read_bytes),
            write: share(phase.device_write_bytes, phase.write_bytes, beside.write_bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use plan::{Bytes, Geometry, Operation, Phase, Workload, WorkloadSpec};
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
            node: "node1".into(),
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
        let ms = 1_000_000;
        let rows = [
            device("b", 0, 1_000 * ms, 1_000 * ms),
            device("a", 1_000 * ms, 3_000 * ms, 0),
            device("a", 0, 1_000 * ms, 1_000 * ms),
        ];
        let means = means(rows.iter().map(|row| (row, row.length_ns)));
        assert_eq!(means.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
        assert!(means[0].1.busy_share.is_some_and(|share| (share - 0.25).abs() < 1e-12));
        assert!(means[0].1.queue_requests.is_some_and(|queue| (queue - 2.0).abs() < 1e-12));
        assert_eq!(means[0].1.wait_ns, Some(300.0));
        assert!((means[0].1.read_bytes_per_second - 2_000.0 / 4.0).abs() < 1e-3);
    }

    #[test]
    fn a_few_ticks_are_no_share() {
        let short = device("a", 0, 1_000_000, 4_000_000);
        let (_, mean) = means([(&short, short.length_ns)].into_iter()).remove(0);
        assert_eq!((mean.busy_share, mean.queue_requests), (None, None));
        let long = device("a", 0, 200_000_000, 204_000_000);
        assert_eq!(means([(&long, long.length_ns)].into_iter())[0].1.busy_share, Some(1.0));
    }

    /// The tasks start late in the first interval and finish early in the last one.
    #[test]
    fn rates_of_devices_are_those_of_whole_intervals_while_the_tasks_worked() {
        let task = TaskRow {
            key: key(0),
            task: 0,
            node: "node1".into(),
            file: 0,
            open_start_ns: 0,
            open_end_ns: 0,
            io_start_ns: 800,
            io_end_ns: 3_100,
            close_start_ns: 3_100,
            close_end_ns: 3_200,
            bytes: 0,
            transfers: 1,
            stonewall_transfers: None,
        };
        let rows: Vec<DeviceRow> = (0..4).map(|second| device("a", second * 1_000, 1_000, 0)).collect();
        let rates = |rows: &[DeviceRow], tasks: &[TaskRow]| -> f64 {
            let steady = while_working(rows.iter(), tasks.iter(), &workload(), Phase::Read);
            means(steady.into_iter())[0].1.read_bytes_per_second
        };
        let full = 1_000.0 / 1_000.0 * 1e9;
        assert!((rates(&rows, std::slice::from_ref(&task)) - full).abs() < 1e-3);
        // A short pass has no whole interval: all bytes are divided by the time of the tasks.
        let short = TaskRow { io_start_ns: 200, io_end_ns: 700, close_end_ns: 800, ..task };
        assert!((rates(&rows[..1], &[short]) - 2.0 * full).abs() < 1e-3);
        assert!((rates(&rows, &[]) - full).abs() < 1e-3, "nobody tells when tasks worked");
    }

    fn workload() -> Workload {
        let geometry = Geometry { transfer: Bytes::kib(4), block: Bytes::mib(1), segments: 1 };
        WorkloadSpec::new("w", "f", geometry).validate().expect("valid")
    }

    /// The tasks of a fast node wait for those of a slow one before they close their files.
    #[test]
    fn the_time_in_which_a_node_waits_for_others_is_not_that_of_its_devices() {
        let task = |node: &str, io_end_ns: u64| TaskRow {
            node: node.into(),
            io_start_ns: 0,
            io_end_ns,
            close_start_ns: 4_000,
            close_end_ns: 4_000,
            transfers: 1,
            ..TaskRow::new(key(0), 0)
        };
        let second = |node: &str, second: u64, bytes: u64| DeviceRow {
            node: node.into(),
            read_bytes: bytes,
            ..device("a", second * 1_000, 1_000, bytes)
        };
        let fast = [1_000, 1_000, 0, 0].into_iter().zip(0..).map(|(bytes, at)| second("fast", at, bytes));
        let slow = (0..4).map(|at| second("slow", at, 500));
        let rows: Vec<DeviceRow> = fast.chain(slow).collect();
        let tasks = [task("fast", 2_000), task("slow", 4_000)];
        let steady = while_working(rows.iter(), tasks.iter(), &workload(), Phase::Read);
        let rates: Vec<(String, f64)> = means(steady.into_iter())
            .into_iter()
            .map(|(name, mean)| (name, mean.read_bytes_per_second))
            .collect();
        assert_eq!(rates, [("fast:a".to_owned(), 1e9), ("slow:a".to_owned(), 0.5e9)]);
        // A phase so short that no interval is over before the wait begins.
        let rows = [DeviceRow { length_ns: 4_000, ..second("fast", 0, 2_000) }];
        let steady = while_working(rows.iter(), tasks.iter(), &workload(), Phase::Read);
        assert_eq!(means(steady.into_iter())[0].1.read_bytes_per_second, 1e9);
    }
}
