//! Runs a phase and turns the workers' reports into an outcome.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;

use plan::{Backend, ObjectsPlacement, Operation, TreePlacement, Work};

use crate::account::{Account, WorkerReport};
use crate::buffer::{Arena, PAGE};
use crate::clock::{self, Clock, ClockKind};
use crate::history::History;
use crate::mmap::Mmap;
use crate::null::Null;
use crate::outcome::Mismatches;
use crate::psync::Psync;
use crate::rules::{Rules, TaskPlan};
use crate::series::{Counts, Recorder};
use crate::shared::Shared;
use crate::stdio::Stdio;
use crate::vectored::Vectored;
use crate::{
    Controls, EngineError, PhaseJob, PhaseOutcome, Rendezvous, crew, file, limits, rpc, sync, tree, uring,
};

/// Runs this process's part of one phase of a workload.
///
/// The directories of the files must exist; writing phases create the files. For trees, the targets must
/// exist, and phases of items need the tree made by an earlier phase. The calling thread works too, and is
/// the only one that calls `rendezvous`. All processes of the run must call this with the same workload,
/// phase and repetition.
///
/// After [`Controls::stop`] the outcome holds the values measured until then and is marked as stopped.
///
/// # Errors
/// The first error of a task. All tasks then stop and all files are closed; written data is kept.
pub fn run(
    job: &PhaseJob<'_>,
    rendezvous: &dyn Rendezvous,
    controls: &Controls,
) -> Result<PhaseOutcome, EngineError> {
    if let Work::Rpc(rpc) = &job.workload.work {
        return rpc::run(job, rpc, rendezvous, controls);
    }
    // The clock's rate is measured from here on.
    let kind = clock::kind();
    if let Some(placement) = TreePlacement::new(job.workload) {
        return tree::run(job, placement, rendezvous, controls);
    }
    if let Some(placement) = ObjectsPlacement::new(job.workload) {
        return tree::run_objects(job, placement, rendezvous, controls);
    }
    let rules = Rules::new(job);
    let tasks = rules.tasks();
    let (crew, mut memory) = match prepare(&rules, &tasks) {
        Ok(prepared) => prepared,
        Err(error) => {
            // The peers ask each other before they start; without an answer they would wait.
            return match rendezvous.any(true) {
                Ok(_) => Err(error),
                Err(lost) => Err(EngineError::Rendezvous(lost)),
            };
        }
    };
    let slots =
        if matches!(job.workload.backend, Backend::Uring { .. }) { crew.workers } else { tasks.len() };
    let mut shared = Shared::new(rules, tasks, (crew.workers, slots), rendezvous, controls);
    if let Some(history) = history(&shared.rules, &shared.tasks, crew.workers) {
        shared.keep(history, controls);
    }
    let reports = match kind {
        #[cfg(target_arch = "x86_64")]
        ClockKind::Counter => dispatch(&shared, clock::Counter, crew, &mut memory),
        ClockKind::Monotonic => dispatch(&shared, clock::Monotonic, crew, &mut memory),
    };
    match shared.take_failure() {
        Some(error) => Err(error),
        None => Ok(outcome(&shared, &reports, controls)),
    }
}

/// The history of the last transfers, if requested: only for phases whose figures are results.
fn history(rules: &Rules<'_>, tasks: &[TaskPlan], workers: usize) -> Option<History> {
    let kept = rules.job.workload.history.filter(|_| rules.job.instrument && rules.job.phase.is_result())?;
    let mut files: HashMap<u32, Arc<Path>> = HashMap::new();
    let paths = tasks.iter().map(|task| {
        let path = files.entry(task.file.index).or_insert_with(|| Arc::from(task.file.path.as_path()));
        (task.task, Arc::clone(path))
    });
    let paths = paths.collect();
    Some(History::new(kept, workers, &Operation::TRANSFERS, rules.transfer as u64, paths))
}

/// Memory of all workers.
struct Memory {
    buffers: Arena,
    /// Distance between buffers.
    stride: usize,
    counts: Arena,
    /// Histograms of each worker: response, and service in an open loop.
    sets: usize,
}

/// How the tasks of this process are spread over threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ThreadLayout {
    /// Threads.
    workers: usize,
    /// Maximum number of tasks each thread has in progress at once.
    at_once: usize,
    /// Transfers in flight for each of these tasks.
    depth: u32,
}

impl ThreadLayout {
    fn of(rules: &Rules<'_>, tasks: &[TaskPlan], stride: usize) -> Self {
        let backend = rules.job.workload.backend;
        // A task with fewer transfers than the depth has no more of them in flight.
        let most = tasks.iter().map(|task| task.limit).max().unwrap_or(1);
        let depth = u32::try_from(most).unwrap_or(u32::MAX).clamp(1, backend.depth());
        let buffers = usize::try_from(depth).unwrap_or(usize::MAX).saturating_mul(stride);
        let in_turn = (IN_TURN_BYTES / buffers).max(1);
        match backend {
            Backend::Uring { .. } => {
                let workers = crew::workers(tasks.len(), rules.job.processes_here);
                let each = tasks.len().div_ceil(workers.max(1));
                let at_once = if rules.in_turn { each.min((in_turn / workers.max(1)).max(1)) } else { each };
                Self { workers, at_once, depth }
            }
            Backend::Psync | Backend::Vectored { .. } | Backend::Stdio | Backend::Mmap | Backend::Null => {
                let workers = if rules.in_turn { in_turn.min(IN_TURN_THREADS) } else { tasks.len() };
                Self { workers: workers.min(tasks.len()), at_once: 1, depth }
            }
        }
    }
}

/// Bytes in flight at once if tasks may run in turn: enough to keep any storage busy, and little compared
/// with the memory of a node.
const IN_TURN_BYTES: usize = 64 << 20;
/// Maximum number of threads if tasks may run in turn.
const IN_TURN_THREADS: usize = 64;

/// Bytes between the histograms of two workers: whole pages, so that no page is shared.
const COUNTS_STRIDE: usize = size_of::<Counts>().next_multiple_of(PAGE);

/// Checks limits and alignment, and reserves memory; nothing is touched yet.
///
/// A fill needs fewer files and threads than the measured phase, but is held to the same limits: there is no
/// use in writing data that cannot be measured.
fn prepare(rules: &Rules<'_>, tasks: &[TaskPlan]) -> Result<(ThreadLayout, Memory), EngineError> {
    let backend = rules.job.workload.backend;
    let processes = rules.job.processes_here;
    // The null engine moves no data, so its tasks need no separate buffers.
    let stride = if backend == Backend::Null { PAGE } else { rules.transfer.next_multiple_of(PAGE) };
    let crew = ThreadLayout::of(rules, tasks, stride);
    let workers = crew.workers;
    if !matches!(backend, Backend::Uring { .. }) {
        limits::threads(tasks.len() as u64, processes)?;
    }
    if backend != Backend::Null {
        let rings = if matches!(backend, Backend::Uring { .. }) { workers } else { 0 };
        limits::open_files(tasks.len() as u64 + rings as u64)?;
        if rules.direct {
            check_alignment(rules, tasks)?;
        }
    }
    if matches!(backend, Backend::Uring { .. }) {
        crate::uring_available()?;
    }
    let at_once = tasks.len().min(workers.saturating_mul(crew.at_once));
    let buffers = (at_once as u128) * u128::from(crew.depth);
    let bytes = usize::try_from(buffers * stride as u128).unwrap_or(usize::MAX - PAGE);
    limits::memory(bytes as u64, processes, "the buffers of the transfers")?;
    let sets = 1 + usize::from(rules.pace_ns.is_some());
    let memory = Memory {
        buffers: Arena::new(bytes, "the buffers of the transfers")?,
        stride,
        counts: Arena::new(workers * sets * COUNTS_STRIDE, "the latency histograms")?.sparse(),
        sets,
    };
    Ok((crew, memory))
}

/// Asks once per directory, since files of one directory share their device.
fn check_alignment(rules: &Rules<'_>, tasks: &[TaskPlan]) -> Result<(), EngineError> {
    let mut seen = BTreeSet::new();
    for task in tasks {
        if seen.insert(task.file.path.parent()) {
            file::check_alignment(&task.file.path, rules.job.workload.geometry.transfer)?;
        }
    }
    Ok(())
}

/// Chooses the compiled loop: by clock (the type parameter), backend and recording.
fn dispatch<'m, C: Clock>(
    shared: &Shared<'_>,
    clock: C,
    crew: ThreadLayout,
    memory: &'m mut Memory,
) -> Vec<WorkerReport<'m>> {
    let Memory { buffers, stride, counts, sets } = memory;
    let recorders = (0..).zip(recorders(counts, *sets));
    let recorders = recorders.map(|(worker, recorder)| recorder.keeping(shared.keeper(worker))).collect();
    let buffers = buffers.bytes_mut();
    let record = shared.rules.job.instrument;
    let by_task = |buffers: &'m mut [u8]| buffers.chunks_mut(*stride).collect::<Vec<_>>();
    match shared.rules.job.workload.backend {
        Backend::Uring { required, .. } => {
            let ThreadLayout { at_once, depth, .. } = crew;
            let plan = uring::Pool { buffers, stride: *stride, at_once, depth, required };
            if record {
                uring::run::<C, true>(shared, clock, plan, recorders)
            } else {
                uring::run::<C, false>(shared, clock, plan, recorders)
            }
        }
        Backend::Psync if record => sync::run::<C, Psync, true>(shared, clock, by_task(buffers), recorders),
        Backend::Psync => sync::run::<C, Psync, false>(shared, clock, by_task(buffers), recorders),
        Backend::Vectored { .. } if record => {
            sync::run::<C, Vectored, true>(shared, clock, by_task(buffers), recorders)
        }
        Backend::Vectored { .. } => {
            sync::run::<C, Vectored, false>(shared, clock, by_task(buffers), recorders)
        }
        Backend::Stdio if record => sync::run::<C, Stdio, true>(shared, clock, by_task(buffers), recorders),
        Backend::Stdio => sync::run::<C, Stdio, false>(shared, clock, by_task(buffers), recorders),
        Backend::Mmap if record => sync::run::<C, Mmap, true>(shared, clock, by_task(buffers), recorders),
        Backend::Mmap => sync::run::<C, Mmap, false>(shared, clock, by_task(buffers), recorders),
        Backend::Null if record => sync::run::<C, Null, true>(shared, clock, by_task(buffers), recorders),
        Backend::Null => sync::run::<C, Null, false>(shared, clock, by_task(buffers), recorders),
    }
}

fn recorders(counts: &mut Arena, sets: usize) -> Vec<Recorder<'_>> {
    let count = counts.bytes_mut().len() / COUNTS_STRIDE;
    let mut pieces = counts.pieces::<Counts>(count, COUNTS_STRIDE).into_iter();
    let mut recorders = Vec::with_capacity(count / sets);
    while let Some(response) = pieces.next() {
        let service = if sets > 1 { pieces.next() } else { None };
        recorders.push(Recorder::new(response, service));
    }
    recorders
}

fn outcome(shared: &Shared<'_>, reports: &[WorkerReport<'_>], controls: &Controls) -> PhaseOutcome {
    let account = Account {
        operations: Operation::TRANSFERS,
        ending: shared.rules.ending,
        interval_ns: shared.rules.interval_ns(),
    };
    let mismatches = mismatches(shared, reports);
    PhaseOutcome { mismatches, ..account.outcome(shared, reports, controls) }
}

fn mismatches(shared: &Shared<'_>, reports: &[WorkerReport<'_>]) -> Mismatches {
    let path = |file: u32| {
        let task = shared.tasks.iter().find(|task| task.file.index == file);
        task.map(|task| task.file.path.clone()).unwrap_or_default()
    };
    let mut all = Mismatches::default();
    for report in reports {
        all.merge(report.findings.describe(shared.rules.generations(), path));
    }
    all
}
