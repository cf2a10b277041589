//! One rank's part of a phase, observed from start to end.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fs;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use comm::Comm;
use engine::{Controls, DataSpec, Expect, MadeFiles, PhaseJob, ProcessNeeds, TransferLimit};
use host::servers::CollectedOutput;
use host::{BlockTrace, Host, Stored, Unobservable};
use plan::{Phase, Placement, Plan, Sharing, TreePlacement, Workload};

use crate::execution::device_trace;
use crate::execution::jobs::{JobsRun, KeepLaunches};
use crate::files::data::fill_workload;
use crate::files::targets::devices_under;
use crate::ranks::merge_ranks::{PhaseTotals, SERIES_INTERVAL};
use crate::ranks::nodes::observer::NodeObserver;
use crate::ranks::order::PhaseOrder;
use crate::ranks::phase_barrier::{Beside, RankBarrier};
use crate::ranks::rank_assignment::RankAssignment;
use crate::ranks::rows::{Rows, TraceSource};
use crate::{Program, RunnerError};

/// What is read when the tasks start. Before that, phases that run at the same time may already move data.
#[derive(Default)]
struct AtStart {
    /// Bytes that this process has fetched from block devices.
    fetched: Option<u64>,
    /// Counters of the network file system clients on this node.
    clients: Vec<(String, String)>,
    observer: Option<NodeObserver>,
}

/// One phase of one pass of one case.
pub(crate) struct PhaseRun<'a> {
    pub(crate) order: &'a PhaseOrder,
    /// The case's workload, or the workload that fills its files.
    pub(crate) workload: Cow<'a, Workload>,
    /// For launches of jobs: the program to execute, and the name of the run.
    pub(crate) launcher: (Option<&'a Program>, &'a str),
    /// The other processes of the run on the node.
    pub(crate) mates: Arc<BTreeSet<u32>>,
    /// Number of phases that run at the same time.
    streams: u32,
    /// What the others of them need in this process.
    needs_beside: ProcessNeeds,
    /// Whether the study promises something, so that the content of files which the run has not written is sampled.
    is_promised: bool,
}

impl<'a> PhaseRun<'a> {
    /// Creates the phase of `plan` that `order` names.
    ///
    /// # Errors
    /// Errors if the plan does not have it.
    pub(crate) fn new(
        plan: &'a Plan,
        order: &'a PhaseOrder,
        launcher: (Option<&'a Program>, &'a str),
        mates: Arc<BTreeSet<u32>>,
    ) -> Result<Self, RunnerError> {
        let case = |index: usize| plan.cases.get(index).ok_or(RunnerError::OutOfPlace);
        let workload = match order.fills {
            Some(writer) => Cow::Owned(fill_workload(&case(writer)?.workload)?),
            None => Cow::Borrowed(&case(order.case)?.workload),
        };
        let is_promised = !plan.criteria.commitments.is_empty();
        Ok(Self {
            order,
            workload,
            launcher,
            mates,
            streams: 1,
            needs_beside: ProcessNeeds::default(),
            is_promised,
        })
    }

    /// The same as one of so many phases that run at the same time, of which the others need this in this process.
    pub(crate) fn among(self, streams: u32, needs_beside: ProcessNeeds) -> Self {
        Self { streams, needs_beside, ..self }
    }

    /// Runs `tasks` together with the other ranks of `group`. The first rank of each node observes the
    /// devices. A failure is sent to all ranks of `comm`. Jobs can only be launched if the run has a
    /// single rank; finished jobs are stored with `keep`.
    ///
    /// # Errors
    /// Errors if a transfer failed, here or on another rank, or if the host lacks something.
    pub(crate) fn go(
        &self,
        (host, comm, group): (&Host, &dyn Comm, &dyn Comm),
        tasks: Range<u32>,
        (new_files, made, links): (&BTreeSet<PathBuf>, &MadeFiles, &BTreeSet<PathBuf>),
        (controls, beside): (&Arc<Controls>, Option<Beside<'_>>),
        keep: Option<&mut KeepLaunches<'_>>,
    ) -> Result<(PhaseTotals, Rows), RunnerError> {
        if self.workload.work.jobs().is_some() {
            let keep = keep.ok_or(RunnerError::OutOfPlace)?;
            return self.go_jobs(host, comm, controls, keep);
        }
        let order = self.order;
        let expect = order.expect.map_or(Expect::Any, |(first, last)| Expect::Generations(first..=last));
        let resident = self.resident(host, comm, &tasks);
        let stored = self.stored(comm, &tasks);
        let own = tasks.start as usize..tasks.end as usize;
        let limits = order.limits.as_ref().and_then(|limits| limits.get(own));
        let topology = group.topology();
        let here = topology.ranks_on(topology.node_of()[group.rank() as usize]).count();
        let place = RankAssignment::of(&self.workload, comm.topology())?.place_of(comm.rank());
        let job = PhaseJob {
            tasks,
            new_files,
            made: Some(made),
            links,
            end: place,
            processes_here: u32::try_from(here).unwrap_or(u32::MAX).saturating_mul(self.streams),
            beside: self.needs_beside,
            data: DataSpec { signature: self.workload.signature, write_generation: order.generation, expect },
            series_interval: SERIES_INTERVAL,
            renamings: order.renamings,
            steps_before: &order.steps_before,
            limit: limits.map_or(TransferLimit::Pass, TransferLimit::PerTask),
            ..PhaseJob::new(&self.workload, order.phase, order.pass)
        };
        let leads = topology.is_leader(group.rank());
        let trace = leads.then(|| device_trace::start(&self.workload, order.phase, here, host)).flatten();
        let at_start = Mutex::new(AtStart::default());
        let look = || {
            let seen = AtStart {
                fetched: host.fetched_bytes(),
                clients: if leads { self.clients(host) } else { Vec::new() },
                observer: leads.then(|| self.observe(host)),
            };
            *at_start.lock().unwrap_or_else(PoisonError::into_inner) = seen;
        };
        let outcome = {
            let barrier = RankBarrier::new(comm, group, order.number, beside, &look);
            engine::run(&job, &barrier, controls).map_err(RunnerError::of_phase)?
        };
        let AtStart { fetched, clients, observer } =
            at_start.into_inner().unwrap_or_else(PoisonError::into_inner);
        let fetched = host.fetched_bytes().zip(fetched).map(|(now, before)| now.saturating_sub(before));
        let device_trace = trace.map(|trace| trace.and_then(BlockTrace::stop));
        let observer = observer.map(NodeObserver::stop);
        let node = comm.topology().node_of()[comm.rank() as usize];
        let mut totals = PhaseTotals::of(&outcome);
        (totals.resident, totals.fetched, totals.stored) = (resident, fetched, stored);
        if group.size() > 1 {
            agree_on_first_done(group, &mut totals)?;
        }
        let observed = observer.map(|(observed, unobserved)| {
            totals.unobserved.extend(unobserved.map(|reason| (node, reason)));
            observed
        });
        if leads {
            self.look_below(host, &mut totals);
        }
        let requests = match device_trace {
            Some(Err(Unobservable { reason })) => {
                totals.untraced.push((node, reason));
                Vec::new()
            }
            Some(Ok(requests)) => requests,
            None => Vec::new(),
        };
        let seen = TraceSource { host: (!self.workload.untraced).then_some(host), requests };
        let mut rows =
            Rows::of(&outcome, node, observed.unwrap_or_default(), group.topology().names().len() > 1, seen);
        rows.told = self.told(host, clients);
        Ok((totals, rows))
    }

    /// Runs a phase of jobs, in a run with a single rank.
    fn go_jobs(
        &self,
        host: &Host,
        comm: &dyn Comm,
        controls: &Arc<Controls>,
        keep: &mut KeepLaunches<'_>,
    ) -> Result<(PhaseTotals, Rows), RunnerError> {
        let (Some(program), run_id) = self.launcher else { return Err(RunnerError::OutOfPlace) };
        let (phase, pass) = (self.order.phase, self.order.pass);
        let run = JobsRun { workload: &self.workload, phase, pass, program, run_id, host, controls };
        let before = self.clients(host);
        let observer = self.observe(host);
        let launched = run.go(keep);
        let (observed, unobserved) = observer.stop();
        let (outcome, jobs) = launched?;
        let node = comm.topology().node_of()[comm.rank() as usize];
        let mut totals = PhaseTotals::of(&outcome);
        totals.unobserved.extend(unobserved.map(|reason| (node, reason)));
        self.look_below(host, &mut totals);
        let mut rows = Rows::of(&outcome, node, observed, false, TraceSource::default());
        rows.jobs = Some(jobs);
        rows.told = self.told(host, before);
        Ok((totals, rows))
    }

    /// Counters of the network file system clients on this node.
    fn clients(&self, host: &Host) -> Vec<(String, String)> {
        self.observed_targets().map_or_else(Vec::new, |targets| host.clients(targets))
    }

    /// The targets of a counted phase that moves data on them.
    fn observed_targets(&self) -> Option<&[PathBuf]> {
        let workload = &self.workload;
        let observes =
            workload.backend.moves_data() && workload.work.has_target() && self.order.phase.is_result();
        observes.then_some(&*workload.files.targets)
    }

    /// The same counters, before the phase and now.
    fn told(&self, host: &Host, before: Vec<(String, String)>) -> Vec<CollectedOutput> {
        if before.is_empty() {
            return Vec::new();
        }
        let mut now = self.clients(host);
        let told = |(source, text): (String, String)| {
            let place = now.iter().position(|(name, _)| *name == source);
            let after = place.map(|place| now.swap_remove(place).1);
            CollectedOutput { source, before: Some(text), after }
        };
        before.into_iter().map(told).collect()
    }

    /// Number of bytes of the files to be read by `tasks` that are in the page cache of this node, and the
    /// total size of these files. A shared file is queried once per node, and its size counts once, since
    /// each node may cache a different part.
    fn resident(&self, host: &Host, comm: &dyn Comm, tasks: &Range<u32>) -> Option<(u64, u64)> {
        let paths = self.paths_to_read(tasks)?;
        let is_shared = self.workload.files.sharing == Sharing::Shared;
        if is_shared && !comm.topology().is_leader(comm.rank()) {
            return Some((0, 0));
        }
        let counts = !is_shared || comm.rank() == 0;
        paths.iter().try_fold((0, 0), |(resident, of), path| {
            path.metadata().ok().filter(fs::Metadata::is_file)?;
            let (held, all) = host.page_cache_bytes(path).ok()?;
            Some((resident + held, of + if counts { all } else { 0 }))
        })
    }

    /// What some of the files of a tree store that `tasks` will read, evenly spread, if the run has not written them.
    fn items_stored(&self, placement: TreePlacement<'_>, tasks: &Range<u32>) -> Option<Stored> {
        /// Number of files, which takes less than a second on a disk.
        const ITEMS: u64 = 256;
        let (tree, phase) = (placement.tree(), self.order.phase);
        let bytes = tree.bytes_per_item(phase).0.min(tree.write_bytes.0);
        if phase != Phase::FileRead || !self.samples() || bytes == 0 || !self.workload.backend.moves_data() {
            return None;
        }
        let (each, tasks_here) = (tree.items_per_task(), tasks.end - tasks.start);
        let step = each.saturating_mul(u64::from(tasks_here)).div_ceil(ITEMS).max(1);
        let all = (0..each.saturating_mul(u64::from(tasks_here))).step_by(usize::try_from(step).ok()?);
        let path = |index: u64| {
            let task = tasks.start + u32::try_from(index / each).unwrap_or(0);
            let owner = tree.owner(task, phase, self.workload.tasks);
            let number = tree.number_of(index % each);
            let name = match tree.shared {
                true => TreePlacement::shared_name(number),
                false => TreePlacement::file_name(owner, number),
            };
            let directory = placement.directory(owner, tree.directory_of(index % each));
            placement.root(owner, self.order.pass).join(directory).join(name)
        };
        let paths: Vec<PathBuf> = all.map(path).collect();
        Some(Stored::of(paths.iter().map(PathBuf::as_path), bytes, true))
    }

    /// Whether the content of files is sampled: only a promise depends on it, and reads would precede those of the tasks.
    fn samples(&self) -> bool {
        self.is_promised && !self.order.written
    }

    /// The files that `tasks` will read, or `None` if the phase reads none.
    fn paths_to_read(&self, tasks: &Range<u32>) -> Option<BTreeSet<PathBuf>> {
        let (workload, phase) = (&self.workload, self.order.phase);
        let reads = phase.reads() && self.order.fills.is_none();
        if !reads || !workload.backend.moves_data() || !workload.work.is_transfers() {
            return None;
        }
        let placement = Placement::new(workload);
        Some(tasks.clone().map(|task| placement.file(task, phase, self.order.pass).path).collect())
    }

    /// What the files store that `tasks` will read. Their content is only sampled if the run has not written it.
    fn stored(&self, comm: &dyn Comm, tasks: &Range<u32>) -> Option<Stored> {
        if let Some(placement) = TreePlacement::new(&self.workload) {
            return self.items_stored(placement, tasks);
        }
        let paths = self.paths_to_read(tasks)?;
        if self.workload.files.sharing == Sharing::Shared && comm.rank() > 0 {
            return None;
        }
        let bytes = Placement::new(&self.workload).bytes_to_read().get();
        Some(Stored::of(paths.iter().map(PathBuf::as_path), bytes, self.samples()))
    }

    /// Adds warnings about what is below the targets.
    fn look_below(&self, host: &Host, totals: &mut PhaseTotals) {
        let targets = self.observed_targets().into_iter().flatten();
        targets.flat_map(|target| host.below(target)).for_each(|warning| totals.add_below(warning));
    }

    /// Starts to observe the node and, if possible, the devices of the targets.
    fn observe(&self, host: &Host) -> NodeObserver {
        // Exchanges of requests and responses do not use any device.
        let targets = self.workload.files.targets.iter().filter(|_| self.order.phase != Phase::Exchange);
        let devices = match self.workload.backend.moves_data() {
            true => devices_under(targets, host),
            false => Err(Unobservable { reason: "the null backend transfers no data".to_owned() }),
        };
        NodeObserver::start(host, devices, &self.mates)
    }
}

/// Counts the bytes that each rank had moved when the first task of all ranks was done.
fn agree_on_first_done(group: &dyn Comm, totals: &mut PhaseTotals) -> Result<(), RunnerError> {
    // The ranks can only agree on a maximum, so the complement is sent to get the minimum.
    let own = totals.first_done_ns().map_or(0, |at_ns| u64::MAX - at_ns);
    let first = group.max_u64(own)?;
    if first > 0 {
        totals.count_at(u64::MAX - first);
    }
    Ok(())
}
