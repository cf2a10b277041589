//! Rates of single nodes, for averages over nodes.

use std::borrow::Cow;
use std::collections::BTreeMap;

use plan::{Phase, Workload};
use record::{DeviceRow, PhaseRow, TaskRow};

use crate::{DeviceMean, Summary, by_name, observed};

/// What the tasks of one node moved together.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeRate {
    /// The node's name.
    pub node: String,
    /// Tasks on it.
    pub tasks: usize,
    /// Their bytes ÷ (the first of their transfers began → the last of them ended).
    pub bytes_per_second: f64,
    /// Their transfers ÷ the same time.
    pub transfers_per_second: f64,
}

/// The rates of the nodes in the rows of one phase, by name. [`crate::Summary::of`] them is the
/// average over nodes with its deviation and n; the sum of them is at least the rate of the whole.
/// A node that moved nothing has a rate of 0.
#[must_use]
pub fn node_rates<'a>(tasks: impl IntoIterator<Item = &'a TaskRow>) -> Vec<NodeRate> {
    rates_over(tasks, io_ns)
}

/// As [`node_rates`], with the time of the close where the bytes are on stable storage only then: a
/// node whose device is slow at fsync is slow.
pub(crate) fn rates_of<'a>(
    tasks: impl IntoIterator<Item = &'a TaskRow>,
    workload: &Workload,
    phase: Phase,
) -> Vec<NodeRate> {
    match (ends_with_close(workload, phase), workload.barriers) {
        (false, _) => rates_over(tasks, io_ns),
        // Tasks wait for those of other nodes before they close; that is nobody's own time.
        (true, true) => rates_over(tasks, |tasks| {
            io_ns(tasks) + span(tasks, |task| task.close_start_ns, |task| task.close_end_ns)
        }),
        (true, false) => {
            rates_over(tasks, |tasks| span(tasks, |task| task.io_start_ns, |task| task.close_end_ns))
        }
    }
}

/// Whether the transfers of `phase` are done only when the close is.
pub(crate) fn ends_with_close(workload: &Workload, phase: Phase) -> bool {
    workload.sync.at_close && phase.writes()
}

fn io_ns(tasks: &[&TaskRow]) -> u64 {
    span(tasks, |task| task.io_start_ns, |task| task.io_end_ns)
}

/// From the first start to the last end of the tasks that moved something.
fn span(tasks: &[&TaskRow], start: fn(&TaskRow) -> u64, end: fn(&TaskRow) -> u64) -> u64 {
    let moved = || tasks.iter().filter(|task| task.transfers > 0);
    let first = moved().map(|task| start(task)).min().unwrap_or(0);
    moved().map(|task| end(task)).max().unwrap_or(0).saturating_sub(first)
}

fn rates_over<'a>(
    tasks: impl IntoIterator<Item = &'a TaskRow>,
    nanos: impl Fn(&[&TaskRow]) -> u64,
) -> Vec<NodeRate> {
    let mut nodes: BTreeMap<&str, Vec<&TaskRow>> = BTreeMap::new();
    for task in tasks {
        nodes.entry(task.node.as_str()).or_default().push(task);
    }
    let rate = |(node, tasks): (&str, Vec<&TaskRow>)| {
        let seconds = nanos(&tasks) as f64 / 1e9;
        let per_second = |amount: u64| if seconds > 0.0 { amount as f64 / seconds } else { 0.0 };
        NodeRate {
            node: node.to_owned(),
            tasks: tasks.len(),
            bytes_per_second: per_second(tasks.iter().map(|task| task.bytes).sum()),
            transfers_per_second: per_second(tasks.iter().map(|task| task.transfers).sum()),
        }
    };
    let mut rates: Vec<NodeRate> = nodes.into_iter().map(rate).collect();
    rates.sort_by(|a, b| by_name(&a.node, &b.node));
    rates
}

/// What one node did of a figure, over the passes that count.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeFigure {
    /// The node's name.
    pub node: String,
    /// Tasks on it, in the pass that had most.
    pub tasks: usize,
    /// Over the passes that count and had tasks on it: bytes of its tasks ÷ its own I/O time, with
    /// the close where the workload asks for fsync there.
    pub bytes_per_second: Summary,
    /// Transfers ÷ the same time.
    pub transfers_per_second: Summary,
    /// The first of them of each of those passes.
    pub bytes_of_passes: Vec<f64>,
    /// Likewise of transfers.
    pub transfers_of_passes: Vec<f64>,
    /// Its devices in the order of names, by the kernel's count until the last of its tasks was done: the rest
    /// of the pass belongs to slower nodes.
    pub devices: Vec<(String, DeviceMean)>,
    /// The numbers of those passes.
    pub repetitions: Vec<u32>,
    /// Wall clock at the start of each of those passes, nanoseconds since 1970-01-01 UTC.
    pub started_unix_ns: Vec<i64>,
}

/// Collects the nodes of a figure, pass by pass.
#[derive(Debug, Default)]
pub(crate) struct NodeFigures<'a> {
    nodes: BTreeMap<String, Passes<'a>>,
}

#[derive(Debug, Default)]
struct Passes<'a> {
    tasks: usize,
    bytes_per_second: Vec<f64>,
    transfers_per_second: Vec<f64>,
    devices: Vec<Cow<'a, DeviceRow>>,
    repetitions: Vec<u32>,
    started_unix_ns: Vec<i64>,
}

impl<'a> NodeFigures<'a> {
    /// Adds a pass that counts: what its nodes did, when their tasks were done, and its devices.
    pub(crate) fn add<'t>(
        &mut self,
        rates: Vec<NodeRate>,
        phase: &PhaseRow,
        tasks: impl Iterator<Item = &'t TaskRow>,
        devices: impl Iterator<Item = &'a DeviceRow>,
    ) {
        let mut done: BTreeMap<&str, u64> = BTreeMap::new();
        for task in tasks {
            let end = done.entry(task.node.as_str()).or_default();
            *end = (*end).max(task.close_end_ns).max(task.io_end_ns);
        }
        // Before version 3 of the record a device had no node; there was only one then.
        let only = match rates.as_slice() {
            [only] => only.node.clone(),
            _ => String::new(),
        };
        for rate in rates {
            let node = self.nodes.entry(rate.node).or_default();
            node.tasks = node.tasks.max(rate.tasks);
            node.bytes_per_second.push(rate.bytes_per_second);
            node.transfers_per_second.push(rate.transfers_per_second);
            node.repetitions.push(phase.key.repetition);
            node.started_unix_ns.push(phase.started_unix_ns);
        }
        for device in devices {
            let name = if device.node.is_empty() { &only } else { &device.node };
            if let Some(node) = self.nodes.get_mut(name) {
                node.devices.extend(until(device, done.get(name.as_str()).copied().unwrap_or(u64::MAX)));
            }
        }
    }

    /// In the order of names.
    pub(crate) fn finish(self) -> Vec<NodeFigure> {
        let figure = |(node, passes): (String, Passes<'a>)| {
            Some(NodeFigure {
                node,
                tasks: passes.tasks,
                bytes_per_second: Summary::of(&passes.bytes_per_second)?,
                transfers_per_second: Summary::of(&passes.transfers_per_second)?,
                bytes_of_passes: passes.bytes_per_second,
                transfers_of_passes: passes.transfers_per_second,
                devices: observed::means_by_device(passes.devices.iter().map(Cow::as_ref)),
                repetitions: passes.repetitions,
                started_unix_ns: passes.started_unix_ns,
            })
        };
        let mut nodes: Vec<NodeFigure> = self.nodes.into_iter().filter_map(figure).collect();
        nodes.sort_by(|a, b| by_name(&a.node, &b.node));
        nodes
    }
}

/// The part of an interval before `end`; none where it begins later. What the device still did in the
/// rest of it is counted to the part.
fn until(device: &DeviceRow, end: u64) -> Option<Cow<'_, DeviceRow>> {
    let length_ns = end.checked_sub(device.start_ns).filter(|left| *left > 0)?;
    Some(match length_ns < device.length_ns {
        true => Cow::Owned(DeviceRow { length_ns, ..device.clone() }),
        false => Cow::Borrowed(device),
    })
}
