//! Facts about the ranks: hosts, processors, processes and clocks of the nodes.

pub(crate) mod directory_probe;
pub(crate) mod observer;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use comm::{Clock, Comm, Topology};
use host::Host;
use record::{Cluster, HostFacts, NodeFacts, Warning};

use crate::RunnerError;
use crate::files::targets::observable_devices;
use crate::ranks::order::{Answer, HostReports, NodeReport, Order};
use crate::ranks::rank_group::{give, synchronize};

/// Maximum number of nodes named in one warning.
const NAMED_MAX: usize = 3;

/// The facts of this rank's host.
pub(crate) fn report_host(host: &Host, comm: &dyn Comm, targets: &[PathBuf], uring: bool) -> HostReports {
    let (topology, rank) = (comm.topology(), comm.rank());
    let leads = topology.is_leader(rank);
    let uring_missing = if uring { engine::uring_available().err().map(|why| why.to_string()) } else { None };
    let devices = if leads { observable_devices(targets, host) } else { Vec::new() };
    let quiet = if leads { host.quiet(&devices, Duration::ZERO) } else { None };
    let facts = leads.then(|| Box::new(host.facts(targets, engine::clock_name())));
    let (mut cpus, mut quota) = (BTreeSet::new(), None);
    if comm.size() > 1 {
        cpus = host.allowed_cpus().into_iter().collect();
        quota = Some(host.usable_cpus()).filter(|usable| (*usable as usize) < cpus.len());
    }
    let node = NodeReport {
        node: topology.node_of()[rank as usize],
        facts,
        boot_id: host.boot_id(),
        pids: BTreeSet::from([std::process::id()]),
        cpus,
        quota,
        devices,
        quiet,
    };
    HostReports { nodes: vec![node], uring_missing }
}

/// What rank 0 needs to know about the nodes of a run.
#[derive(Debug, Default)]
pub(crate) struct Nodes {
    /// The reports, by node number.
    reports: Vec<NodeReport>,
    clocks: Vec<Clock>,
    have_clocks: bool,
    ranks: Vec<Vec<u32>>,
}

impl Nodes {
    /// Makes all ranks report the facts of their hosts.
    ///
    /// # Errors
    /// Errors if a rank was lost.
    pub(crate) fn query(
        host: &Host,
        comm: &dyn Comm,
        targets: &[PathBuf],
        uring: bool,
    ) -> Result<(Self, Option<String>), RunnerError> {
        let order = Order::ReportHost { targets: targets.to_vec(), uring };
        let answer = give(comm, &order, || Ok(Answer::HostReports(report_host(host, comm, targets, uring))))?;
        let Answer::HostReports(HostReports { mut nodes, uring_missing }) = answer else {
            return Err(RunnerError::OutOfPlace);
        };
        let clocks = synchronize(comm)?;
        let topology = comm.topology();
        // There must be one report for each node, in order, because the numbers are used to find names
        // and ranks.
        let known = (0..).take(topology.names().len());
        if !nodes.iter().map(|node| node.node).eq(known) {
            return Err(RunnerError::OutOfPlace);
        }
        let several = comm.size() > 1;
        for node in &mut nodes {
            let usable = Some(node.usable_cpus()).filter(|_| !node.cpus.is_empty());
            if let Some(facts) = node.facts.as_mut().filter(|_| several) {
                facts.usable_cpus = usable.unwrap_or(facts.usable_cpus);
                facts.node.clone_from(&topology.names()[node.node as usize]);
            }
        }
        let ranks = (0..).zip(&nodes).map(|(node, _)| topology.ranks_on(node).collect()).collect();
        Ok((Self { reports: nodes, clocks, have_clocks: several, ranks }, uring_missing))
    }

    /// The nodes of a machine described by `facts`, with their `clocks` if there are several. No two of them share
    /// a kernel.
    pub(crate) fn described(facts: Vec<HostFacts>, mut clocks: Vec<Clock>, topology: &Topology) -> Self {
        let report = |(node, facts): (u32, HostFacts)| NodeReport {
            node,
            boot_id: facts.node.clone(),
            pids: BTreeSet::new(),
            cpus: BTreeSet::new(),
            quota: None,
            devices: Vec::new(),
            quiet: None,
            facts: Some(Box::new(facts)),
        };
        let reports: Vec<NodeReport> = (0..).zip(facts).map(report).collect();
        let mut ranks = vec![Vec::new(); reports.len()];
        for (rank, node) in (0..).zip(topology.node_of()) {
            ranks[*node as usize].push(rank);
        }
        let have_clocks = !clocks.is_empty();
        clocks.resize(reports.len(), Clock::default());
        Self { reports, clocks, have_clocks, ranks }
    }

    /// The report of each node.
    pub(crate) fn reports(&self) -> &[NodeReport] {
        &self.reports
    }

    /// The name of a node.
    pub(crate) fn name(&self, node: u32) -> Option<&str> {
        let node = self.reports.iter().find(|report| report.node == node)?;
        Some(node.facts.as_ref()?.node.as_str())
    }

    /// The name of each node and its number of ranks.
    pub(crate) fn places(&self) -> Vec<(String, usize)> {
        let name = |node: &NodeReport| node.facts.as_ref().map_or(String::new(), |facts| facts.node.clone());
        let ranks = |index: usize| self.ranks.get(index).map_or(1, Vec::len);
        self.reports.iter().enumerate().map(|(index, node)| (name(node), ranks(index))).collect()
    }

    /// Whether there is more than one clock, even if they are equal at first.
    pub(crate) fn have_clocks(&self) -> bool {
        self.have_clocks
    }

    /// The offset of each clock before the first case.
    pub(crate) fn clocks(&self) -> &[Clock] {
        &self.clocks
    }

    /// Total number of processors that the ranks on `nodes` may use.
    pub(crate) fn usable_cpus(&self, nodes: &BTreeSet<u32>) -> u32 {
        let of = |node: &NodeReport| node.facts.as_ref().map_or(1, |facts| facts.usable_cpus);
        let there = self.reports.iter().filter(|node| nodes.contains(&node.node));
        there.map(of).fold(0, u32::saturating_add).max(1)
    }

    /// The kernel of each node, by node name. Two nodes with the same kernel have the same devices.
    pub(crate) fn kernels(&self) -> BTreeMap<&str, &str> {
        let all = self.reports.iter().filter_map(|node| Some((node.facts.as_ref()?, &node.boot_id)));
        all.map(|(facts, boot_id)| (facts.node.as_str(), boot_id.as_str())).collect()
    }

    /// The processes of the run, by kernel.
    pub(crate) fn mates(&self) -> Vec<(String, BTreeSet<u32>)> {
        let mut all: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
        for node in &self.reports {
            all.entry(&node.boot_id).or_default().extend(&node.pids);
        }
        all.into_iter().map(|(boot_id, pids)| (boot_id.to_owned(), pids)).collect()
    }

    /// The processes of the run on the kernel of `host`; empty if there is only one rank.
    pub(crate) fn mates_on(&self, host: &Host, comm: &dyn Comm) -> BTreeSet<u32> {
        if comm.size() == 1 {
            return BTreeSet::new();
        }
        let boot_id = host.boot_id();
        let mut all = self.mates().into_iter();
        all.find(|(kernel, _)| *kernel == boot_id).map(|(_, pids)| pids).unwrap_or_default()
    }

    /// A warning about activity of other processes.
    pub(crate) fn not_quiet(&self) -> Option<Warning> {
        let several = self.reports.len() > 1;
        let name = |node: &NodeReport| node.facts.as_ref().map_or(String::new(), |facts| facts.node.clone());
        let disturbed = self.reports.iter().filter_map(|node| match &node.quiet {
            Some(Warning::NotQuiet { seen, share }) if several => {
                Some((format!("{}: {seen}", name(node)), *share))
            }
            Some(Warning::NotQuiet { seen, share }) => Some((seen.clone(), *share)),
            _ => None,
        });
        let (disturbed, shares): (Vec<String>, Vec<f64>) = disturbed.unzip();
        let share = shares.into_iter().max_by(f64::total_cmp)?;
        summary(disturbed).map(|seen| Warning::NotQuiet { seen, share })
    }

    /// The nodes for the record; `library` is the version text of the MPI library.
    pub(crate) fn cluster(&self, library: &str) -> Cluster {
        let facts = |(index, node): (usize, &NodeReport)| {
            let clock = self.clocks.get(index).copied().unwrap_or_default();
            Some(NodeFacts {
                host: node.facts.as_deref()?.clone(),
                ranks: self.ranks.get(index).cloned().unwrap_or_default(),
                clock_offset_ns: clock.offset_ns,
                clock_error_ns: clock.error_ns,
                clock_drift_ns: None,
                // Processes belong to a kernel; a described machine has neither.
                boot_id: Some(node.boot_id.clone()).filter(|id| !id.is_empty() && !node.pids.is_empty()),
            })
        };
        Cluster {
            library: library.to_owned(),
            nodes: self.reports.iter().enumerate().filter_map(facts).collect(),
        }
    }
}

/// Summarises the findings of several nodes in one line: the first ones, and the total number.
pub(crate) fn summary(mut findings: Vec<String>) -> Option<String> {
    let others = findings.len().saturating_sub(NAMED_MAX);
    findings.truncate(NAMED_MAX);
    if others > 0 {
        findings
            .push(format!("and the same for {others} more {}", if others == 1 { "node" } else { "nodes" }));
    }
    (!findings.is_empty()).then(|| findings.join("; "))
}
