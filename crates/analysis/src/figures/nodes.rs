//! Rates of single nodes, and of the members of a target whose tasks worked at the same time.

use std::collections::{BTreeMap, BTreeSet};

use plan::{Phase, Sharing, Workload};
use record::{PhaseRow, TaskRow};

use crate::figures::observed::own_time::{own_ns, span};
use crate::figures::observed::{self, Steady};
use crate::figures::{DeviceMean, by_name};
use crate::statistics::Summary;

/// What the tasks of one node moved together.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeRate {
    /// The node's name.
    pub node: String,
    /// The number of tasks on the node.
    pub tasks: usize,
    /// The bytes of the node's tasks.
    pub bytes: u64,
    /// Their transfers.
    pub transfers: u64,
    /// The bytes of the node's tasks ÷ the time from the start of their first transfer to the end of their last.
    pub bytes_per_second: f64,
    /// Transfers ÷ the same time.
    pub transfers_per_second: f64,
}

/// The rates of the nodes in the rows of one phase, by name. [`crate::statistics::Summary::of`] these rates is the
/// average over nodes with its deviation and n; their sum is at least the rate of the whole. A node that moved
/// nothing has a rate of 0. The time is that of the transfers. It includes the close if the bytes are only on stable
/// storage afterwards: a node whose device is slow at fsync is slow.
#[must_use]
pub fn node_rates<'a>(
    tasks: impl IntoIterator<Item = &'a TaskRow>,
    workload: &Workload,
    phase: Phase,
) -> Vec<NodeRate> {
    let mut nodes: BTreeMap<&str, Vec<&TaskRow>> = BTreeMap::new();
    for task in tasks {
        nodes.entry(task.node.as_str()).or_default().push(task);
    }
    let rate = |(node, tasks): (&str, Vec<&TaskRow>)| {
        let (bytes_per_second, transfers_per_second) =
            per_second(&tasks, own_ns(&tasks, workload, phase)).unwrap_or_default();
        NodeRate {
            node: node.to_owned(),
            tasks: tasks.len(),
            bytes: tasks.iter().map(|task| task.bytes).sum(),
            transfers: tasks.iter().map(|task| task.transfers).sum(),
            bytes_per_second,
            transfers_per_second,
        }
    };
    let mut rates: Vec<NodeRate> = nodes.into_iter().map(rate).collect();
    rates.sort_by(|a, b| by_name(&a.node, &b.node));
    rates
}

/// Bytes and transfers per second of tasks that took this long together. Returns `None` if the time is zero.
fn per_second(tasks: &[&TaskRow], nanos: u64) -> Option<(f64, f64)> {
    let rate = |of: fn(&TaskRow) -> u64| {
        tasks.iter().map(|task| of(task)).sum::<u64>() as f64 / (nanos as f64 / 1e9)
    };
    (nanos > 0).then(|| (rate(|task| task.bytes), rate(|task| task.transfers)))
}

/// What one node did for a figure, over the counted passes.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeFigure {
    /// The node's name.
    pub node: String,
    /// The number of tasks on the node, in the pass with the most.
    pub tasks: usize,
    /// Over the counted passes with tasks on this node: bytes of its tasks ÷ its own time, see [`node_rates`].
    pub bytes_per_second: Summary,
    /// Transfers ÷ the same time.
    pub transfers_per_second: Summary,
    /// The passes that these summaries cover.
    pub passes: Vec<NodePass>,
    /// The node's devices in the order of names, from the kernel's counters during its own I/O, see [`node_rates`].
    pub devices: Vec<(String, DeviceMean)>,
}

/// What one node did in one pass.
#[derive(Debug, Clone, PartialEq)]
pub struct NodePass {
    /// The number of the pass.
    pub repetition: u32,
    /// Wall clock at the start of the pass, in nanoseconds since 1970-01-01 UTC.
    pub started_unix_ns: i64,
    /// The rate of the node in this pass.
    pub rate: NodeRate,
}

/// Collects the nodes of a figure pass by pass.
#[derive(Debug, Default)]
pub(crate) struct NodeFigures<'a>(BTreeMap<String, (Vec<NodePass>, Vec<Steady<'a>>)>);

impl<'a> NodeFigures<'a> {
    /// Adds a counted pass: what its nodes did, and the steady part of its devices.
    pub(crate) fn add(&mut self, rates: Vec<NodeRate>, phase: &PhaseRow, devices: &[Steady<'a>]) {
        // Before record version 3, device rows had no node; there was only one node.
        let only = match rates.as_slice() {
            [only] => only.node.clone(),
            _ => String::new(),
        };
        let (repetition, started_unix_ns) = (phase.key.repetition, phase.started_unix_ns);
        for rate in rates {
            let (passes, _) = self.0.entry(rate.node.clone()).or_default();
            passes.push(NodePass { repetition, started_unix_ns, rate });
        }
        for (device, length_ns) in devices {
            let name = if device.node.is_empty() { only.as_str() } else { &*device.node };
            if let Some((_, devices)) = self.0.get_mut(name) {
                devices.push((*device, *length_ns));
            }
        }
    }

    /// Returns the nodes in the order of names.
    pub(crate) fn finish(self) -> Vec<NodeFigure> {
        let figure = |(node, (passes, devices)): (String, (Vec<NodePass>, Vec<Steady<'a>>))| {
            let rates =
                passes.iter().map(|NodePass { rate, .. }| (rate.bytes_per_second, rate.transfers_per_second));
            let (bytes_per_second, transfers_per_second) = summaries(rates)?;
            Some(NodeFigure {
                node,
                tasks: passes.iter().map(|pass| pass.rate.tasks).max()?,
                bytes_per_second,
                transfers_per_second,
                devices: observed::means(devices.into_iter()),
                passes,
            })
        };
        let mut nodes: Vec<NodeFigure> = self.0.into_iter().filter_map(figure).collect();
        nodes.sort_by(|a, b| by_name(&a.node, &b.node));
        nodes
    }
}

/// Summaries of byte rates and of transfer rates.
fn summaries(rates: impl Iterator<Item = (f64, f64)>) -> Option<(Summary, Summary)> {
    let (bytes, transfers): (Vec<f64>, Vec<f64>) = rates.unzip();
    Some((Summary::of(&bytes)?, Summary::of(&transfers)?))
}

/// What the tasks of one member of a target moved, if several members were measured together.
#[derive(Debug, Clone, PartialEq)]
pub struct MemberFigure {
    /// The index among the paths of the case.
    pub place: usize,
    /// Its path.
    pub path: String,
    /// The rates of the tasks of all nodes together.
    pub all: MemberRates,
    /// The rates of each node's tasks, in the order of names, if there were several nodes: the same path may lead to
    /// a device of its own on each.
    pub nodes: Vec<(String, MemberRates)>,
}

/// The rates of tasks on one member, over the counted passes.
#[derive(Debug, Clone, PartialEq)]
pub struct MemberRates {
    /// Bytes ÷ the time from the start of their first transfer to the end of their last.
    pub bytes_per_second: Summary,
    /// Operations ÷ the same time.
    pub transfers_per_second: Summary,
    /// Both rates of each pass.
    pub passes: Vec<(f64, f64)>,
}

/// Both rates of each counted pass, for all nodes together and for each node.
#[derive(Default)]
struct MemberPasses<'a> {
    all: Vec<(f64, f64)>,
    nodes: BTreeMap<&'a str, Vec<(f64, f64)>>,
}

/// The rates of each member in each counted pass.
#[derive(Default)]
pub(crate) struct MemberFigures<'a>(Vec<MemberPasses<'a>>);

impl<'a> MemberFigures<'a> {
    /// Adds a pass. Does nothing if tasks have no members of their own.
    pub(crate) fn add(&mut self, workload: &Workload, tasks: impl Iterator<Item = &'a TaskRow>) {
        let members = workload.files.targets.len();
        if members < 2 || workload.files.sharing != Sharing::PerTask {
            return;
        }
        self.0.resize_with(members, MemberPasses::default);
        let mut of_member: Vec<BTreeMap<&str, Vec<&TaskRow>>> = vec![BTreeMap::new(); members];
        for task in tasks {
            of_member[task.file as usize % members].entry(&task.node).or_default().push(task);
        }
        let rate = |tasks: &[&TaskRow]| {
            let own = span(tasks, |task| task.io_start_ns, |task| task.io_end_ns);
            per_second(tasks, own.end - own.start)
        };
        for (nodes, passes) in of_member.iter().zip(&mut self.0) {
            passes.all.extend(rate(&nodes.values().flatten().copied().collect::<Vec<_>>()));
            for (node, tasks) in nodes {
                passes.nodes.entry(node).or_default().extend(rate(tasks));
            }
        }
    }

    /// The members that moved something.
    pub(crate) fn finish(self, workload: &Workload) -> Vec<MemberFigure> {
        let rates = |passes: Vec<(f64, f64)>| {
            let (bytes_per_second, transfers_per_second) = summaries(passes.iter().copied())?;
            Some(MemberRates { bytes_per_second, transfers_per_second, passes })
        };
        let on_several = self.0.iter().flat_map(|one| one.nodes.keys()).collect::<BTreeSet<_>>().len() > 1;
        let members = self.0.into_iter().zip(&workload.files.targets).enumerate();
        let member = members.filter_map(|(place, (MemberPasses { all, nodes }, path))| {
            let nodes = nodes.into_iter().filter(|_| on_several);
            let mut nodes: Vec<(String, MemberRates)> =
                nodes.filter_map(|(node, passes)| Some((node.to_owned(), rates(passes)?))).collect();
            nodes.sort_by(|a, b| by_name(&a.0, &b.0));
            Some(MemberFigure { place, path: path.display().to_string(), all: rates(all)?, nodes })
        });
        member.collect()
    }
}
