//! The charts of one figure: over time, by device, by task.

use analysis::{DeviceLine, DeviceMean, Second, TaskRate};
use record::Run;
use serde_json::json;

use super::plotly::{BLUE, Chart, GREEN, Look, PURPLE, Trace, VERMILLION, axis};
use super::{escaped, grouped, latency};
use crate::format::iops;
use crate::format::{self, column_unit, divisor, grouped as with_groups, number, rate, rate_in};
use crate::view::{BYTES_PER_SECOND, Figure};

/// Devices of one chart; of more the slowest of the last repetition are drawn.
const DEVICES_MAX: usize = 24;
/// Points of tasks in one chart; of more the slowest of some neighbours stands for them.
const TASK_POINTS_MAX: usize = 3_000;
/// Lines of one chart with names of their own; more are told apart by pointing at them.
const NAMED_MAX: usize = 4;
/// Height of panels above each other, in CSS pixels.
const PANELS_PX: usize = 416;

/// What `run` holds on `figure`, which is `source` in the analysis.
pub(crate) fn of_figure(run: &Run, figure: &Figure, source: &analysis::Figure) -> Vec<Chart> {
    let (case, phase) = (source.case.as_str(), source.phase);
    [
        over_time(figure, &analysis::seconds(&run.series(case), case, phase)),
        devices(figure, &analysis::device_lines(&run.devices(case), case, phase)),
        tasks(figure, &analysis::task_rates(&run.tasks(case), case, phase)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// A line of a panel; only the first panel names it.
fn line<'a, T: 'a>(
    name: &str,
    look: Look,
    panel: &str,
    points: impl IntoIterator<Item = &'a T>,
    point: impl Fn(&T) -> (f64, f64, String),
) -> Trace {
    let told = |one: &T| {
        let (at, value, words) = point(one);
        (at, value, format!("<b>{}</b>, second {at:.1}: {words}", escaped(name)))
    };
    let line = Trace::curve(name, look).with("marker.size", 5).with("yaxis", panel).with("legendgroup", name);
    line.points(points.into_iter().map(told))
}

/// Two panels above each other on one time axis: rate and longest latency.
fn over_time(figure: &Figure, lines: &[analysis::SecondsLine]) -> Option<Chart> {
    let first = lines.first()?;
    let both = lines.iter().any(|line| line.operation != first.operation);
    let few = lines.len() <= NAMED_MAX;
    let unit = figure.shown_unit();
    let mut data = Vec::new();
    for (index, one) in lines.iter().enumerate() {
        let operation = one.operation.name();
        let repetition = format!("repetition {}", one.repetition + 1);
        let name = match (both, lines.len() > 2) {
            (true, true) => format!("{operation}s, {repetition}"),
            (true, false) => format!("{operation}s"),
            (false, _) => repetition,
        };
        let colour = match operation {
            "read" => BLUE,
            "stat" => GREEN,
            "remove" => PURPLE,
            _ => VERMILLION,
        };
        let look = Look::of(index);
        let look = if few && !both { look } else { Look { colour, ..look } };
        let rates = |second: &Second| {
            let bytes = second.bytes_per_second;
            let value = if unit == BYTES_PER_SECOND { bytes } else { second.transfers_per_second };
            let mut words = format!("{} {}", iops(second.transfers_per_second), figure.operations_unit());
            if bytes > 0.0 || !figure.is_operations() {
                words = format!("{} · {words}", rate(bytes));
            }
            (second.at_seconds, value / divisor(unit), words)
        };
        let longest = |second: &Second| {
            let words = format!("longest {}", format::latency(second.latency_max_ns));
            (second.at_seconds, latency::microseconds(second.latency_max_ns as f64), words)
        };
        let opacity = if few { 1.0 } else { 0.6 };
        data.push(
            line(&name, look, "y", &one.points, rates)
                .with("opacity", opacity)
                .hidden(!few || lines.len() == 1),
        );
        data.push(line(&name, look, "y2", &one.points, longest).with("opacity", opacity).hidden(true));
    }
    let longest = lines.iter().flat_map(|line| &line.points).map(|second| second.latency_max_ns as f64);
    let note = format!(
        "What completed in each second, and its longest {}.{}",
        if figure.is_operations() { "operation" } else { "transfer" },
        if few { "" } else { " One line for each repetition." }
    );
    let chart = Chart::new(format!("chart-{}-time", figure.number), "", "Over time", note)
        .half(true)
        .height(PANELS_PX)
        .panels([
            ([0.52, 1.0], axis(column_unit(unit))),
            ([0.0, 0.42], latency::axis("longest latency", longest)),
        ]);
    Some(chart.traces(data))
}

/// Three panels on one time axis for the block devices: MB/s, busy, queue.
fn devices(figure: &Figure, all: &[DeviceLine]) -> Option<Chart> {
    let last = all.iter().map(|line| line.repetition).max()?;
    let mut devices = grouped(all, |one, other| one.device == other.device);
    devices.sort_by(|one, other| one[0].device.cmp(&other[0].device));
    let mut note = "What the kernel counted beside the run.".to_owned();
    if devices.len() > DEVICES_MAX {
        let of = with_groups(devices.len() as u64);
        note.push_str(&format!(" The {DEVICES_MAX} slowest of {of} devices, in the last repetition."));
        devices.iter_mut().for_each(|lines| lines.retain(|line| line.repetition == last));
        devices.retain(|lines| !lines.is_empty());
        let moved = |lines: &[&DeviceLine]| lines[0].mean.moved_per_second();
        devices.sort_by(|one, other| moved(one).total_cmp(&moved(other)));
        devices.truncate(DEVICES_MAX);
        devices.sort_by(|one, other| analysis::by_name(&one[0].device, &other[0].device));
    }
    type Panel = (&'static str, fn(&DeviceMean) -> f64, fn(f64) -> String);
    let panels: [Panel; 3] = [
        ("y", |mean| mean.moved_per_second() / 1e6, |value| format!("{} MB/s", number(value))),
        ("y2", |mean| mean.busy_share * 100.0, |value| format!("{value:.0} % busy")),
        ("y3", |mean| mean.queue_requests, |value| format!("{} requests under way", number(value))),
    ];
    let mut data = Vec::new();
    for (index, lines) in devices.iter().enumerate() {
        let opacity = if lines.len() > 1 { 0.6 } else { 1.0 };
        for (number, one) in lines.iter().enumerate() {
            for (panel, value, words) in panels {
                let point = |second: &analysis::DeviceSecond| {
                    let value = value(&second.rates);
                    (second.at_seconds, value, format!("{}, repetition {}", words(value), one.repetition + 1))
                };
                let line = line(&one.device, Look::of(index), panel, &one.points, point);
                data.push(line.with("opacity", opacity).hidden(number > 0 || panel != "y"));
            }
        }
    }
    let busy = json!({ "title": { "text": "busy" }, "ticksuffix": " %", "range": [0, 105] });
    let chart = Chart::new(format!("chart-{}-devices", figure.number), "", "Block devices", note)
        .half(true)
        .height(PANELS_PX)
        .panels([([0.72, 1.0], axis("MB/s")), ([0.36, 0.64], busy), ([0.0, 0.28], axis("queue"))]);
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
        let (rate, shown) = (rate(task) / divisor(figure.unit), rate_in(rate(task), figure.unit));
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
    let chart = Chart::new(format!("chart-{}-tasks", figure.number), "", "Each task", note).half(true);
    Some(chart.height(286).axes(x, axis(column_unit(figure.unit))).traces(data))
}
