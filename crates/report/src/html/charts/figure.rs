//! The charts of one figure: over time, by device, by task.

use serde_json::{Value, json};

use super::latency::{latency_axis, microseconds};
use super::{BLUE, Chart, DASHES, FRAME_PX, GREEN, PALETTE, PANEL_PX, PURPLE, SHAPES, VERMILLION, escaped};
use crate::format::{column_unit, divisor, latency, number, rate, rate_in};
use crate::html::detail::Detail;
use crate::text::iops;
use crate::view::Figure;

/// The charts of one figure: over time, devices, tasks.
pub(crate) fn of_figure(figure: &Figure, detail: &Detail) -> Vec<Chart> {
    let mut charts = Vec::new();
    if !detail.seconds.is_empty() {
        charts.push(over_time(figure, detail));
    }
    if !detail.devices.is_empty() {
        charts.push(devices(figure, detail));
    }
    if detail.tasks.iter().any(|task| task.task > 0) {
        charts.push(tasks(figure, detail));
    }
    charts
}

/// Devices of one chart; of more the slowest of the last repetition are drawn.
const DEVICES_MAX: usize = 24;
/// Points of tasks in one chart; of more the slowest of some neighbours stands for them.
const TASK_POINTS_MAX: usize = 3_000;

/// Lines of one chart with names of their own; more are told apart by pointing at them.
const NAMED_MAX: usize = 4;

/// How a line looks, and what it is called.
struct Style {
    name: String,
    colour: &'static str,
    dash: &'static str,
    symbol: &'static str,
    opacity: f64,
    in_legend: bool,
}

impl Style {
    /// The line of one direction of one repetition, number `index` of `lines`.
    fn of_repetition(index: usize, lines: usize, repetition: u32, operation: &str, both: bool) -> Self {
        let few = lines <= NAMED_MAX;
        let name = match (both, lines > 2 || !both) {
            (true, true) => format!("{operation}s, repetition {}", repetition + 1),
            (true, false) => format!("{operation}s"),
            (false, _) => format!("repetition {}", repetition + 1),
        };
        let by_direction = match operation {
            "read" => BLUE,
            "stat" => GREEN,
            "remove" => PURPLE,
            _ => VERMILLION,
        };
        Self {
            name,
            colour: if few && !both { PALETTE[index % PALETTE.len()] } else { by_direction },
            dash: if few { DASHES[index % DASHES.len()] } else { "solid" },
            symbol: SHAPES[index % SHAPES.len()],
            opacity: if few { 1.0 } else { 0.6 },
            in_legend: few && lines > 1,
        }
    }

    /// A line of `points` on the axis `yaxis`; only the first panel names it.
    fn line(&self, yaxis: &str, x: &[f64], y: Vec<f64>, text: Vec<String>) -> Value {
        json!({
            "type": "scatter", "mode": "lines+markers", "name": self.name, "legendgroup": self.name,
            "showlegend": self.in_legend && yaxis == "y", "x": x, "y": y, "text": text, "xaxis": "x", "yaxis": yaxis,
            "hovertemplate": "second %{x:.1f}: %{text}<extra>%{fullData.name}</extra>", "opacity": self.opacity,
            "line": { "color": self.colour, "dash": self.dash, "width": 2 },
            "marker": { "symbol": self.symbol, "size": 5 },
        })
    }
}

/// Two panels above each other on one time axis: rate and longest latency.
fn over_time(figure: &Figure, detail: &Detail) -> Chart {
    let large = figure.is_large();
    let lines = detail.seconds.len();
    let both = detail.seconds.iter().any(|line| line.operation != detail.seconds[0].operation);
    let mut data = Vec::new();
    for (index, line) in detail.seconds.iter().enumerate() {
        let style = Style::of_repetition(index, lines, line.repetition, line.operation.name(), both);
        let x: Vec<f64> = line.points.iter().map(|point| point.at_seconds).collect();
        let in_unit = |point: &analysis::Second| match large {
            true => point.bytes_per_second / 1e6,
            false => point.transfers_per_second,
        };
        let words = |point: &analysis::Second| {
            let operations = format!("{} {}", iops(point.transfers_per_second), figure.operations_unit());
            match point.bytes_per_second > 0.0 || !figure.is_operations() {
                true => format!("{} · {operations}", rate(point.bytes_per_second)),
                false => operations,
            }
        };
        let rates = line.points.iter().map(in_unit).collect();
        data.push(style.line("y", &x, rates, line.points.iter().map(words).collect()));
        let longest = line.points.iter().map(|point| microseconds(point.latency_max_ns as f64)).collect();
        let words = line.points.iter().map(|point| format!("longest {}", latency(point.latency_max_ns)));
        data.push(style.line("y2", &x, longest, words.collect()));
    }
    let all = detail.seconds.iter().flat_map(|line| &line.points);
    let mut longest = latency_axis("longest latency", all.map(|point| point.latency_max_ns as f64));
    longest["domain"] = json!([0.0, 0.42]);
    let longest_of = if figure.is_operations() { "operation" } else { "transfer" };
    let several = if lines > NAMED_MAX { " One line for each repetition." } else { "" };
    Chart {
        id: format!("chart-{}-time", figure.number),
        place: String::new(),
        title: "Over time".to_owned(),
        note: format!("What completed in each second, and its longest {longest_of}.{several}"),
        full: false,
        height: FRAME_PX + 2 * PANEL_PX,
        data,
        layout: json!({
            "xaxis": { "title": { "text": "seconds since the start of the phase" }, "rangemode": "tozero", "anchor": "y2" },
            "yaxis": { "title": { "text": if large { "MB/s" } else { figure.operations_unit() } }, "rangemode": "tozero", "domain": [0.52, 1.0] },
            "yaxis2": longest,
            "hovermode": "closest",
        }),
    }
}

/// The lines that are drawn of `devices` devices, and what is said of the others.
fn lines_of(detail: &Detail, devices: usize) -> (Vec<&analysis::DeviceLine>, Option<String>) {
    let mut lines: Vec<&analysis::DeviceLine> = detail.devices.iter().collect();
    if devices <= DEVICES_MAX {
        return (lines, None);
    }
    let last = lines.iter().map(|line| line.repetition).max();
    lines.retain(|line| Some(line.repetition) == last);
    let moved =
        |line: &analysis::DeviceLine| line.mean.read_bytes_per_second + line.mean.write_bytes_per_second;
    lines.sort_by(|a, b| moved(a).total_cmp(&moved(b)));
    lines.truncate(DEVICES_MAX);
    lines.sort_by(|a, b| analysis::by_name(&a.device, &b.device));
    let of = crate::format::grouped(devices as u64);
    (lines, Some(format!(" The {DEVICES_MAX} slowest of {of} devices, in the last repetition.")))
}

/// Three panels on one time axis for the block devices: MB/s, busy, queue.
fn devices(figure: &Figure, detail: &Detail) -> Chart {
    let mut names: Vec<&str> = detail.devices.iter().map(|line| line.device.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let (lines, left_out) = lines_of(detail, names.len());
    if left_out.is_some() {
        names.retain(|name| lines.iter().any(|line| line.device == *name));
    }
    let mut named: Vec<&str> = Vec::new();
    let mut data = Vec::new();
    for line in &lines {
        let index = names.iter().position(|name| *name == line.device).unwrap_or_default();
        let first = !named.contains(&line.device.as_str());
        named.push(&line.device);
        let style = Style {
            name: line.device.clone(),
            colour: PALETTE[index % PALETTE.len()],
            dash: DASHES[index / PALETTE.len() % DASHES.len()],
            symbol: SHAPES[index % SHAPES.len()],
            opacity: if lines.len() > names.len() { 0.6 } else { 1.0 },
            in_legend: first,
        };
        let x: Vec<f64> = line.points.iter().map(|point| point.at_seconds).collect();
        let mut panel = |axis: &str, value: fn(&analysis::DeviceMean) -> f64, words: fn(f64) -> String| {
            let values: Vec<f64> = line.points.iter().map(|point| value(&point.rates)).collect();
            let words =
                values.iter().map(|&value| format!("{}, repetition {}", words(value), line.repetition + 1));
            let words = words.collect();
            data.push(style.line(axis, &x, values, words));
        };
        panel(
            "y",
            |rates| (rates.read_bytes_per_second + rates.write_bytes_per_second) / 1e6,
            |value| format!("{} MB/s", number(value)),
        );
        panel("y2", |rates| rates.busy_share * 100.0, |value| format!("{value:.0} % busy"));
        panel("y3", |rates| rates.queue_requests, |value| format!("{} requests under way", number(value)));
    }
    Chart {
        id: format!("chart-{}-devices", figure.number),
        place: String::new(),
        title: "Block devices".to_owned(),
        note: format!("What the kernel counted beside the run.{}", left_out.unwrap_or_default()),
        full: false,
        height: FRAME_PX + 2 * PANEL_PX,
        data,
        layout: json!({
            "xaxis": { "title": { "text": "seconds since the start of the phase" }, "rangemode": "tozero", "anchor": "y3" },
            "yaxis": { "title": { "text": "MB/s" }, "rangemode": "tozero", "domain": [0.72, 1.0] },
            "yaxis2": { "title": { "text": "busy" }, "ticksuffix": " %", "range": [0, 105], "domain": [0.36, 0.64] },
            "yaxis3": { "title": { "text": "queue" }, "rangemode": "tozero", "domain": [0.0, 0.28] },
            "hovermode": "closest",
        }),
    }
}

/// The rate of a task that its figure is read by.
fn own_rate(figure: &Figure, task: &analysis::TaskRate) -> f64 {
    if figure.is_operations() { task.transfers_per_second } else { task.bytes_per_second }
}

fn slowest<'a>(figure: &Figure, tasks: &[&'a analysis::TaskRate]) -> Option<&'a analysis::TaskRate> {
    tasks.iter().copied().min_by(|a, b| own_rate(figure, a).total_cmp(&own_rate(figure, b)))
}

/// The rate of every task, so that a straggler is seen.
fn tasks(figure: &Figure, detail: &Detail) -> Chart {
    let repetitions: Vec<u32> = {
        let mut all: Vec<u32> = detail.tasks.iter().map(|task| task.repetition).collect();
        all.sort_unstable();
        all.dedup();
        all
    };
    let few = repetitions.len() <= NAMED_MAX;
    let neighbours = detail.tasks.len().div_ceil(TASK_POINTS_MAX).max(1);
    let data = repetitions
        .iter()
        .enumerate()
        .map(|(index, repetition)| {
            let all: Vec<_> = detail.tasks.iter().filter(|task| task.repetition == *repetition).collect();
            let these: Vec<_> = all.chunks(neighbours).filter_map(|some| slowest(figure, some)).collect();
            let words = |task: &&analysis::TaskRate| {
                let node = escaped(&task.node);
                let rate = rate_in(own_rate(figure, task), figure.unit);
                format!(
                    "task {} on {node}, file {}: {rate}, repetition {}",
                    task.task,
                    task.file,
                    repetition + 1
                )
            };
            json!({
                "type": "scatter", "mode": "markers", "name": format!("repetition {}", repetition + 1),
                "showlegend": few && repetitions.len() > 1,
                "x": these.iter().map(|task| task.task).collect::<Vec<_>>(),
                "y": these.iter().map(|task| own_rate(figure, task) / divisor(figure.unit)).collect::<Vec<_>>(),
                "text": these.iter().map(words).collect::<Vec<_>>(),
                "hovertemplate": "%{text}<extra></extra>",
                "opacity": if few { 1.0 } else { 0.5 },
                "marker": {
                    "color": if few { PALETTE[index % PALETTE.len()] } else { BLUE },
                    "symbol": if few { SHAPES[index % SHAPES.len()] } else { "circle" }, "size": 7,
                },
            })
        })
        .collect();
    Chart {
        id: format!("chart-{}-tasks", figure.number),
        place: String::new(),
        title: "Each task".to_owned(),
        note: format!(
            "{}.{}",
            if figure.is_operations() {
                "Operations of a task ÷ the time from the start of its first to the end of its last"
            } else {
                "Bytes of a task ÷ the time from its first to the end of its last transfer"
            },
            match neighbours {
                1 => String::new(),
                _ => format!(" The slowest of each {neighbours} neighbours."),
            }
        ),
        full: false,
        height: FRAME_PX + PANEL_PX + 40,
        data,
        layout: json!({
            "xaxis": { "title": { "text": "task" }, "tickformat": "d" },
            "yaxis": { "title": { "text": column_unit(figure.unit) }, "rangemode": "tozero" },
            "hovermode": "closest",
        }),
    }
}
