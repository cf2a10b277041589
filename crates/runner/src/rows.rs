//! What is stored of each task and node of a phase: handed to rank 0 rank by rank, and never joined.

use engine::{PhaseOutcome, TaskOutcome};
use host::DeviceSample;
use record::{DeviceRow, NodeSeriesRow, PhaseKey, TaskRow};
use serde::{Deserialize, Serialize};

use crate::part::{Interval, interval, join_sorted};

/// One task: its number, its file, and the columns of [`TaskRow`] in their order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Task(u32, u32, [u64; 8]);

/// One interval of a device: its name, and the columns of [`DeviceRow`] in their order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Device(String, [u64; 10]);

/// What is stored of each task and node: it is handed to rank 0 rank by rank.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Default)]
pub(crate) struct Rows {
    node: u32,
    tasks: Vec<Task>,
    devices: Vec<Device>,
    /// Its own series, where the phase has several nodes.
    series: Vec<Interval>,
}

impl Rows {
    /// Those of one rank on the node of this number.
    pub(crate) fn of(
        outcome: &PhaseOutcome,
        node: u32,
        samples: Vec<DeviceSample>,
        several_nodes: bool,
    ) -> Self {
        let series = if several_nodes { outcome.series.iter().map(interval).collect() } else { Vec::new() };
        Self {
            node,
            tasks: outcome.tasks.iter().map(task).collect(),
            devices: samples.into_iter().map(device).collect(),
            series,
        }
    }
}

fn task(task: &TaskOutcome) -> Task {
    let times = [
        task.open_start_ns,
        task.open_end_ns,
        task.io_start_ns,
        task.io_end_ns,
        task.close_start_ns,
        task.close_end_ns,
    ];
    let [a, b, c, d, e, f] = times;
    Task(task.task, task.file, [a, b, c, d, e, f, task.bytes, task.transfers()])
}

fn device(sample: DeviceSample) -> Device {
    let columns = [
        sample.start_ns,
        sample.length_ns,
        sample.reads,
        sample.read_bytes,
        sample.read_time_ns,
        sample.writes,
        sample.write_bytes,
        sample.write_time_ns,
        sample.busy_ns,
        sample.queue_time_ns,
    ];
    Device(sample.device, columns)
}

/// The rows of all ranks, by task and node.
#[derive(Debug)]
pub(crate) struct Table<'a> {
    key: PhaseKey,
    names: &'a [String],
    pub(crate) tasks: Vec<TaskRow>,
    pub(crate) devices: Vec<DeviceRow>,
    nodes: Vec<(u32, Vec<Interval>)>,
}

impl<'a> Table<'a> {
    /// No rows yet; `names` are those of the nodes, by number.
    pub(crate) fn new(key: PhaseKey, names: &'a [String]) -> Self {
        Self { key, names, tasks: Vec::new(), devices: Vec::new(), nodes: Vec::new() }
    }

    /// Adds those of a rank.
    pub(crate) fn add(&mut self, rows: Rows) {
        let Rows { node, tasks, devices, series } = rows;
        let name = self.names.get(node as usize).map_or("", String::as_str);
        let key = &self.key;
        self.tasks.extend(tasks.into_iter().map(|task| task_row(key, name, &task)));
        self.devices.extend(devices.into_iter().map(|device| device_row(key, name, device)));
        if series.is_empty() {
            return;
        }
        match self.nodes.iter_mut().find(|(number, _)| *number == node) {
            Some((_, known)) => join_sorted(known, series, Interval::place, Interval::add),
            None => self.nodes.push((node, series)),
        }
    }

    /// The rows of the nodes; tasks are in their order from now on.
    pub(crate) fn close(&mut self) -> Vec<NodeSeriesRow> {
        self.tasks.sort_by_key(|row| row.task);
        let mut nodes = std::mem::take(&mut self.nodes);
        nodes.sort_by_key(|(node, _)| *node);
        let row = |node: u32, one: &Interval| NodeSeriesRow {
            key: self.key.clone(),
            node: self.names.get(node as usize).cloned().unwrap_or_default(),
            operation: one.operation,
            start_ns: one.start_ns,
            length_ns: one.length_ns,
            bytes: one.bytes,
            transfers: one.transfers,
            latency_sum_ns: one.latency_sum_ns,
            latency_max_ns: one.latency_max_ns,
        };
        nodes.iter().flat_map(|(node, series)| series.iter().map(|one| row(*node, one))).collect()
    }
}

fn task_row(key: &PhaseKey, node: &str, Task(task, file, columns): &Task) -> TaskRow {
    let [open_start_ns, open_end_ns, io_start_ns, io_end_ns, close_start_ns, close_end_ns, bytes, transfers] =
        *columns;
    TaskRow {
        key: key.clone(),
        task: *task,
        node: node.to_owned(),
        file: *file,
        open_start_ns,
        open_end_ns,
        io_start_ns,
        io_end_ns,
        close_start_ns,
        close_end_ns,
        bytes,
        transfers,
    }
}

fn device_row(key: &PhaseKey, node: &str, Device(device, columns): Device) -> DeviceRow {
    let [
        start_ns,
        length_ns,
        reads,
        read_bytes,
        read_time_ns,
        writes,
        write_bytes,
        write_time_ns,
        busy_ns,
        queue_time_ns,
    ] = columns;
    DeviceRow {
        key: key.clone(),
        node: node.to_owned(),
        device,
        start_ns,
        length_ns,
        reads,
        read_bytes,
        read_time_ns,
        writes,
        write_bytes,
        write_time_ns,
        busy_ns,
        queue_time_ns,
    }
}
