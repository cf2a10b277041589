//! The charts of one figure: over time, by device, by task.

use analysis::{DeviceLine, DeviceSecond, Second, SecondsLine, TaskRate};
use record::Run;
use serde_json::json;

use super::latency;
use super::plotly::{BLUE, Chart, Look, Trace, axis};
use super::series::grouped;
use crate::escape::chart as escaped;
use crate::figure::Figure;
use crate::format::BYTES_PER_SECOND;
use crate::format::{
    self, column_unit, divisor, grouped as with_groups, iops, number, percent, rate, rate_in,
};

/// Devices of one chart; of more the slowest of the last repetition are drawn.
const DEVICES_MAX: usize = 24;
/// Points of tasks in one chart; of more the slowest of some neighbours stands for them.
const TASK_POINTS_MAX: usize = 3_000;
/// Lines of one chart with names of their own; more are told apart by pointing at them.
const NAMED_MAX: usize = 4;
/// Height of panels above each other, in CSS pixels.
const PANELS_PX: usize = 416;

/// What `run` holds on `figure`.
pub(crate) fn of_figure(run: &Run, figure: &Figure) -> Vec<Chart> {
    let (case, phase) = (figure.case.as_str(), figure.phase);
    [
        over_time(figure, &analysis::seconds(&run.series(case), case, phase)),
        devices(&analysis::device_lines(&run.devices(case), case, phase)),
        tasks(figure, &analysis::task_rates(&run.tasks(case), case, phase)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Where a point of a panel stands, and what a pointer is told.
type Place<'a, T> = &'a dyn Fn(&T) -> (f64, f64, String);

/// A line in each of the panels above each other; the first one names it, if it is `named`.
fn lines<T>(
    name: &str,
    look: Look,
    (opacity, named): (f64, bool),
    points: &[T],
    panels: &[Place<'_, T>],
) -> Vec<Trace> {
    let line = |(number, point): (usize, &Place<'_, T>)| {
        let points = points.iter().map(point).map(|(at, value, words)| {
            (at, value, format!("<b>{}</b>, second {at:.1}: {words}", escaped(name)))
        });
        let panel = if number == 0 { "y".to_owned() } else { format!("y{}", number + 1) };
        let line = Trace::curve(name, look).with("marker.size", 5).with("opacity", opacity).points(points);
        line.with("yaxis", panel).with("legendgroup", name).hidden(!named || number > 0)
    };
    panels.iter().enumerate().map(line).collect()
}

/// Two panels: rate and longest latency.
fn over_time(figure: &Figure, all: &[SecondsLine]) -> Option<Chart> {
    let first = all.first()?;
    let both = all.iter().any(|line| line.operation != first.operation);
    let few = all.len() <= NAMED_MAX;
    let unit = figure.shown_unit();
    let rates = |second: &Second| {
        let (bytes, transfers) = (second.bytes_per_second, second.transfers_per_second);
        let value = if unit == BYTES_PER_SECOND { bytes } else { transfers };
        let mut words = format!("{} {}", iops(transfers), figure.operations_unit());
        if bytes > 0.0 || !figure.is_operations() {
            words = format!("{} · {words}", rate(bytes));
        }
        (second.at_seconds, value / divisor(unit), words)
    };
    let longest = |second: &Second| {
        let words = format!("longest {}", format::latency(second.latency_max_ns));
        (second.at_seconds, latency::microseconds(second.latency_max_ns as f64), words)
    };
    let data = all.iter().enumerate().flat_map(|(index, one)| {
        let of = if both { format!("{}s, ", one.operation.name()) } else { String::new() };
        let name = format!("{of}repetition {}", one.repetition + 1);
        // Of many lines those of one operation look alike.
        let alike = all.iter().position(|line| line.operation == one.operation).unwrap_or_default();
        let (look, opacity) = if few { (index, 1.0) } else { (alike, 0.6) };
        let shown = (opacity, few && all.len() > 1);
        lines(&name, Look::of(look), shown, &one.points, &[&rates, &longest])
    });
    let nanos = all.iter().flat_map(|line| &line.points).map(|second| second.latency_max_ns as f64);
    let of = if figure.is_operations() { "operation" } else { "transfer" };
    let several = if few { "" } else { " One line for each repetition." };
    let note = format!("What completed in each second, and its longest {of}.{several}");
    let chart = Chart::new("time", "", "Over time", note).half(true).height(PANELS_PX).panels([
        ([0.52, 1.0], axis(column_unit(unit))),
        ([0.0, 0.42], latency::axis("longest latency", nanos)),
    ]);
    Some(chart.traces(data))
}

/// Three panels for the block devices: MB/s, busy, queue.
fn devices(all: &[DeviceLine]) -> Option<Chart> {
    let last = all.iter().map(|line| line.repetition).max()?;
    let alike = |one: &&DeviceLine, other: &&DeviceLine| one.device == other.device;
    let mut devices = grouped(all, alike);
    let mut note = "What the kernel counted beside the run.".to_owned();
    if devices.len() > DEVICES_MAX {
        let of = with_groups(devices.len() as u64);
        note.push_str(&format!(" The {DEVICES_MAX} slowest of {of} devices, in the last repetition."));
        devices = grouped(all.iter().filter(|line| line.repetition == last), alike);
        let moved = |lines: &[&DeviceLine]| lines[0].mean.moved_per_second();
        devices.sort_by(|one, other| moved(one).total_cmp(&moved(other)));
        devices.truncate(DEVICES_MAX);
    }
    devices.sort_by(|one, other| analysis::by_name(&one[0].device, &other[0].device));
    let moved = |second: &DeviceSecond| {
        let moved = second.rates.moved_per_second();
        (second.at_seconds, moved / 1e6, rate(moved))
    };
    let busy = |second: &DeviceSecond| {
        (
            second.at_seconds,
            second.rates.busy_share * 100.0,
            format!("{} busy", percent(second.rates.busy_share)),
        )
    };
    let queue = |second: &DeviceSecond| {
        let queue = second.rates.queue_requests;
        (second.at_seconds, queue, format!("{} requests under way", number(queue)))
    };
    let data = devices.iter().enumerate().flat_map(|(index, repetitions)| {
        let opacity = if repetitions.len() > 1 { 0.6 } else { 1.0 };
        let each = repetitions.iter().enumerate();
        each.flat_map(move |(number, one)| {
            lines(&one.device, Look::of(index), (opacity, number == 0), &one.points, &[&moved, &busy, &queue])
        })
    });
    let share = json!({ "title": { "text": "busy" }, "ticksuffix": " %", "range": [0, 105] });
    let chart = Chart::new("figure-devices", "", "Block devices", note)
        .half(true)
        .height(PANELS_PX)
        .panels([([0.72, 1.0], axis("MB/s")), ([0.36, 0.64], share), ([0.0, 0.28], axis("queue"))]);
    Some(chart.traces(data))
}

/// The rate of every task, so that a straggler is seen.
fn tasks(figure: &Figure, all: &[TaskRate]) -> Option<Chart> {
    all.iter().any(|task| task.task > 0).then_some(())?;
    let repetitions = grouped(all, |one, other| one.repetition == other.repetition);
    let few = repetitions.len() <= NAMED_MAX;
    let neighbours = all.len().div_ceil(TASK_POINTS_MAX);
    let rate = |task: &TaskRate| match figure.is_operations() {
        true => task.transfers_per_second,
        false => task.bytes_per_second,
    };
    let point = |task: &TaskRate| {
        let (rate, shown) = (rate(task) / divisor(figure.unit()), rate_in(rate(task), figure.unit()));
        let TaskRate { task, file, repetition, node, .. } = task;
        let words =
            format!("task {task} on {}, file {file}: {shown}, repetition {}", escaped(node), repetition + 1);
        (*task, rate, words)
    };
    let data = repetitions.iter().enumerate().map(|(index, tasks)| {
        let slowest =
            |some: &[&TaskRate]| some.iter().copied().min_by(|a, b| rate(a).total_cmp(&rate(b))).map(point);
        let name = format!("repetition {}", tasks[0].repetition + 1);
        Trace::marks(&name, if few { Look::of(index) } else { BLUE.into() })
            .with("opacity", if few { 1.0 } else { 0.5 })
            .hidden(!few || repetitions.len() == 1)
            .points(tasks.chunks(neighbours).filter_map(slowest))
    });
    let mut note = match figure.is_operations() {
        true => "Operations of a task ÷ the time from the start of its first to the end of its last.",
        false => "Bytes of a task ÷ the time from its first to the end of its last transfer.",
    }
    .to_owned();
    if neighbours > 1 {
        note.push_str(&format!(" The slowest of each {neighbours} neighbours."));
    }
    let x = json!({ "title": { "text": "task" }, "tickformat": "d" });
    let chart = Chart::new("tasks", "", "Each task", note).half(true);
    Some(chart.height(286).axes(x, axis(column_unit(figure.unit()))).traces(data))
}
