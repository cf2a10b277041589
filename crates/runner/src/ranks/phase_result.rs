//! Converts the merged result of a phase to rows and warnings of the record.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use analysis::figures::NodeWork;
use plan::{Case, FileSlot, Phase, Workload};
use record::{DeviceRow, LoadRow, PhaseKey, PhaseRecord, PhaseRow, SeriesRow, Warning, WarningRow};

use crate::files::data::Content;
use crate::ranks::merge_ranks::PhaseTotals;
use crate::ranks::nodes::{self, Nodes};
use crate::ranks::order::NodeReport;
use crate::ranks::rows::Table;

/// A finished phase.
pub(crate) struct PhaseResult<'a> {
    pub(crate) case: &'a Case,
    /// The case's workload, or the workload that filled its files.
    pub(crate) workload: &'a Workload,
    pub(crate) key: PhaseKey,
    pub(crate) nodes: &'a Nodes,
    /// The nodes that took part.
    pub(crate) on: BTreeSet<u32>,
    /// Whether the run is simulated. Nobody else uses a model, so additional bytes moved by its devices
    /// are copies and parity.
    pub(crate) is_simulated: bool,
    /// The work of all phases that ran at the same time, if there were several.
    pub(crate) of_all: Option<&'a WorkOfAll>,
}

/// The work of several phases, whose threads share the processors of their nodes.
#[derive(Debug)]
pub(crate) struct WorkOfAll {
    /// Number of tasks, by node.
    tasks: HashMap<String, u32>,
    /// Whether none of them uses the page cache.
    direct: bool,
}

impl WorkOfAll {
    /// That of these phases, each with its rows.
    pub(crate) fn of<'t>(phases: impl IntoIterator<Item = (&'t Workload, &'t Table<'t>)>) -> Self {
        let mut all = Self { tasks: HashMap::new(), direct: true };
        for (workload, table) in phases {
            all.direct &= workload.direct;
            for task in &table.record.tasks {
                *all.tasks.entry(task.node.to_string()).or_default() += 1;
            }
        }
        all
    }
}

impl PhaseResult<'_> {
    /// The complete record of the phase. `warnings_before` are the warnings known before it started.
    pub(crate) fn record(
        &self,
        totals: &PhaseTotals,
        mut table: Table<'_>,
        warnings_before: Vec<Warning>,
    ) -> PhaseRecord {
        table.close();
        // Exchanges do not use any device.
        let observed = totals.unobserved.is_empty() && self.workload.work.has_target();
        let device_bytes = observed.then(|| device_bytes(&table.record.devices, &self.nodes.kernels()));
        let is_jobs = self.workload.work.jobs().is_some();
        let pattern = table.pattern();
        let phase = PhaseRow {
            traced_requests: pattern.map(|one| one.requests),
            traced_contiguous: pattern.map(|one| one.contiguous),
            traced_seek_bytes: pattern.and_then(|one| one.seek_bytes),
            harness_cpu_ns: is_jobs.then_some(table.jobs.harness_cpu_ns),
            node_cpu_ns: node_cpu_ns(&table.record.load, &self.nodes.kernels()),
            ..totals.phase_row(&self.key, device_bytes)
        };
        let phase = PhaseRow {
            cpu_wait_ns: analysis::figures::cpu_wait_ns(&table.record.load, phase.io_ns),
            ..phase
        };
        let series = totals.series_rows(&self.key);
        let usable_cpus = self.nodes.usable_cpus(&self.on);
        let mut warnings = warnings_before;
        warnings.extend(analysis::figures::phase_warnings(
            &phase,
            &table.record.tasks,
            self.case,
            usable_cpus,
        ));
        if self.is_simulated {
            warnings.retain(|warning| !matches!(warning, Warning::NotQuiet { .. }));
        }
        warnings.extend(self.unobserved(totals));
        // Whether a layer keeps data matters only to what is written.
        let writes = phase.write_bytes > 0;
        let concerns = |warning: &&Warning| writes || !matches!(warning, Warning::NotDurable { .. });
        warnings.extend(totals.below.iter().filter(concerns).cloned());
        let lack = totals.stored.and_then(|stored| stored.lack());
        warnings.extend(lack.map(|what| Warning::LessStored { what }));
        warnings.extend(table.jobs.warnings());
        warnings.extend(table.warnings.iter().cloned());
        if let Some((cells, first)) = totals.wrong() {
            warnings.push(Warning::WrongData { cells, first: first.to_owned() });
        }
        if let Some((count, first)) = totals.surprises() {
            warnings.push(Warning::Surprises { count, first: first.to_vec() });
        }
        if totals.continued > 0 {
            warnings.push(Warning::ShortTransfers {
                transfers: totals.continued,
                // A file of a tree is one transfer.
                of: phase.reads.saturating_add(phase.writes).saturating_add(phase.items),
            });
        }
        for reason in totals.notes() {
            let what = "the fastest mode of io_uring".to_owned();
            warnings.push(Warning::Unapplied { what, reason: reason.clone() });
        }
        let strangers = table.record.ends.iter().map(|end| end.shut_out).fold(0, u64::saturating_add);
        if strangers > 0 {
            warnings.push(Warning::Strangers { count: strangers });
        }
        if let Some(reason) = self.text_of(&totals.untraced) {
            let what = "the device's part of each of the last operations".to_owned();
            warnings.push(Warning::Unapplied { what, reason });
        }
        let share = totals.disturbed.iter().map(|(.., share)| *share).max_by(f64::total_cmp);
        let disturbed: Vec<_> =
            totals.disturbed.iter().map(|(node, seen, _)| (*node, seen.clone())).collect();
        if let Some((seen, share)) = self.text_of(&disturbed).zip(share) {
            warnings.push(Warning::NotQuiet { seen, share });
        }
        let starved = self.starved(&table, &series, phase.user_cpu_ns + phase.system_cpu_ns);
        if let Some(share) = starved.iter().map(|(.., share)| *share).max_by(f64::total_cmp) {
            let seen: Vec<_> = starved.into_iter().map(|(node, seen, _)| (node, seen)).collect();
            warnings.extend(self.text_of(&seen).map(|seen| Warning::Starved { seen, share }));
        }
        let of_phase = |warning| WarningRow { key: Some(self.key.clone()), warning };
        PhaseRecord {
            phase,
            latency: totals.latency_rows(&self.key),
            series,
            launches: table.jobs.launches,
            steps: table.jobs.steps,
            spaces: table.jobs.spaces,
            warnings: warnings.into_iter().map(of_phase).collect(),
            ..table.record
        }
    }

    /// What delayed the threads of each node, and for which share of the time. Only for phases whose
    /// figures are results. `cpu_ns` is the processor time of the program on all nodes.
    fn starved(&self, table: &Table<'_>, series: &[SeriesRow], cpu_ns: u64) -> Vec<(u32, String, f64)> {
        if !self.key.phase.is_result() {
            return Vec::new();
        }
        let mut load: HashMap<&str, Vec<&LoadRow>> = HashMap::new();
        table.record.load.iter().for_each(|row| load.entry(&row.node).or_default().push(row));
        let own = WorkOfAll::of([(self.workload, table)]);
        let (of_all, tasks) = (self.of_all.unwrap_or(&own), &own.tasks);
        let of_node = |report: &NodeReport| {
            let facts = report.facts.as_ref()?;
            let name = facts.node.as_str();
            let tasks_here = tasks.get(name).copied().unwrap_or(0);
            let work = NodeWork {
                tasks: of_all.tasks.get(name).copied().unwrap_or(tasks_here),
                cpu_ns: cpu_ns / table.record.tasks.len().max(1) as u64 * u64::from(tasks_here),
                usable_cpus: facts.usable_cpus.max(1),
                logical_cpus: facts.logical_cpus.max(1),
                direct: of_all.direct,
            };
            let (text, share) = analysis::figures::starvation(load.get(name)?, series, work)?;
            Some((report.node, text, share))
        };
        self.nodes
            .reports()
            .iter()
            .filter(|report| self.on.contains(&report.node))
            .filter_map(of_node)
            .collect()
    }

    fn unobserved(&self, totals: &PhaseTotals) -> Option<Warning> {
        let exchanges = self.key.phase == Phase::Exchange;
        if !self.key.phase.is_result() || !self.workload.backend.moves_data() || exchanges {
            return None;
        }
        let mut reasons: Vec<&str> = totals.unobserved.iter().map(|(_, reason)| reason.as_str()).collect();
        reasons.dedup();
        let reason = match reasons[..] {
            [only] if totals.unobserved.len() == self.on.len() => only.to_owned(),
            _ => self.text_of(&totals.unobserved)?,
        };
        Some(Warning::DevicesUnknown { reason })
    }

    /// The messages of nodes as one text, with node names if there are several.
    fn text_of(&self, told: &[(u32, String)]) -> Option<String> {
        let name = |node: u32| self.nodes.name(node).unwrap_or("a node");
        let each = |(node, what): &(u32, String)| match self.nodes.reports().len() {
            1 => what.clone(),
            _ => format!("{}: {what}", name(*node)),
        };
        nodes::summary(told.iter().map(each).collect())
    }
}

/// Processor time of all processes on the nodes. Two nodes with the same kernel count the same
/// processors.
fn node_cpu_ns(rows: &[LoadRow], kernels: &BTreeMap<&str, &str>) -> Option<u64> {
    let mut counted: BTreeMap<&str, &str> = BTreeMap::new();
    let mut sum = None;
    for row in rows {
        let kernel = kernels.get(row.node.as_str()).copied().unwrap_or_default();
        if *counted.entry(kernel).or_insert(&row.node) == row.node {
            sum = Some(row.busy_cpu_ns? + sum.unwrap_or(0));
        }
    }
    sum
}

/// Number of bytes that the devices read and wrote. Two nodes with the same kernel count the same device.
fn device_bytes(rows: &[DeviceRow], kernels: &BTreeMap<&str, &str>) -> (u64, u64) {
    let mut counted: HashMap<(&str, &str), &str> = HashMap::new();
    let mut sum = (0_u64, 0_u64);
    for row in rows {
        let kernel = kernels.get(row.node.as_str()).copied().unwrap_or_default();
        let by = counted.entry((kernel, row.device.as_str())).or_insert(row.node.as_str());
        if *by == row.node {
            sum = (sum.0.saturating_add(row.read_bytes), sum.1.saturating_add(row.write_bytes));
        }
    }
    sum
}

/// The generations that a check accepts: those that this run has written to the files, according to
/// `content`. If a mixed phase repeats its offsets, its reads also find its own writes, whose generation
/// is `own`.
pub(crate) fn expected<'c>(
    workload: &Workload,
    phase: Phase,
    pass: u32,
    own: u16,
    content: impl Fn(&FileSlot) -> Option<&'c Content>,
) -> Option<(u16, u16)> {
    let mut range: Option<(u16, u16)> = None;
    for slot in workload.listed_files(pass) {
        let content = content(&slot)?;
        let (first, last) = (*content.generations.start(), *content.generations.end());
        range = Some(range.map_or((first, last), |(low, high)| (low.min(first), high.max(last))));
    }
    let again = workload.duration.is_some() || workload.operations.is_some();
    let reads_its_own = phase == Phase::Mixed && again;
    range.map(|(first, last)| (first, if reads_its_own { last.max(own) } else { last }))
}
