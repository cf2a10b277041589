//! Runs a phase and converts the workers' reports to an outcome.

pub(crate) mod barrier;
pub(crate) mod clock;
pub(crate) mod common;
pub(crate) mod controls;
pub(crate) mod crew;
pub(crate) mod ending;
pub(crate) mod job;
pub(crate) mod outcome;
pub(crate) mod pace;
pub(crate) mod rendezvous;
pub(crate) mod rules;
pub(crate) mod shared;

use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;

use plan::{ObjectsPlacement, Operation, TreePlacement};

use crate::backend::{COUNTS_STRIDE, Memory, ThreadLayout};
use crate::data::buffer::{Arena, PAGE};
use crate::phase::clock::ClockKind;
use crate::phase::outcome::Mismatches;
use crate::phase::rules::{Rules, TaskPlan};
use crate::phase::shared::Shared;
use crate::recording::account::{Account, WorkerReport};
use crate::recording::history::History;
use crate::system::file;
use crate::system::limits;
use crate::{Controls, EngineError, PhaseJob, PhaseOutcome, Rendezvous, backend, rpc, tree};

/// Runs this process's part of one phase of a workload.
///
/// The directories of the files must exist; writing phases create the files. For trees, the targets must
/// exist, and phases of items need the tree that an earlier phase created. The calling thread also works,
/// and is the only one that calls `rendezvous`. All processes of the run must call this function with the
/// same workload, phase and repetition.
///
/// After [`Controls::stop`] the outcome holds the values measured until then and is marked as stopped.
///
/// # Errors
/// Returns the first error of a task. All tasks then stop and all files are closed; written data is kept.
pub fn run(
    job: &PhaseJob<'_>,
    rendezvous: &dyn Rendezvous,
    controls: &Controls,
) -> Result<PhaseOutcome, EngineError> {
    if let Some(rpc) = job.workload.work.rpc() {
        return rpc::run(job, rpc, rendezvous, controls);
    }
    // The clock's rate is measured from here on.
    let kind = clock::kind();
    if let Some(find) = job.workload.work.find() {
        return tree::run_find(job, find, rendezvous, controls);
    }
    if let Some(placement) = TreePlacement::new(job.workload) {
        return tree::run(job, placement, rendezvous, controls);
    }
    if let Some(placement) = ObjectsPlacement::new(job.workload) {
        return tree::run_objects(job, placement, rendezvous, controls);
    }
    let rules = Rules::new(job);
    let tasks = rules.tasks();
    let (layout, mut memory) = match prepare(&rules, &tasks) {
        Ok(prepared) => prepared,
        Err(error) => {
            // The peers ask before they start, and would wait for an answer.
            return match rendezvous.any(true) {
                Ok(_) => Err(error),
                Err(lost) => Err(EngineError::Rendezvous(lost)),
            };
        }
    };
    let counters = if job.workload.backend.is_queued() { layout.workers } else { tasks.len() };
    let mut shared = Shared::new(rules, tasks, (layout.workers, counters), rendezvous, controls);
    if let Some(history) = history(&shared.rules, &shared.tasks, layout.workers) {
        shared.keep(history, controls);
    }
    let reports = match kind {
        #[cfg(target_arch = "x86_64")]
        ClockKind::Counter => backend::run(&shared, clock::Counter, layout, &mut memory),
        ClockKind::Monotonic => backend::run(&shared, clock::Monotonic, layout, &mut memory),
    };
    match shared.take_failure() {
        Some(error) => Err(error),
        None => Ok(outcome(&shared, &reports, controls)),
    }
}

/// Creates the history of the last transfers, if requested. Only for phases whose figures are results.
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

/// Spreads the tasks of this process over threads.
fn thread_layout(rules: &Rules<'_>, tasks: &[TaskPlan], stride: usize) -> ThreadLayout {
    let backend = rules.job.workload.backend;
    // A task with fewer transfers than the depth cannot have more of them in flight.
    let most = tasks.iter().map(|task| task.limit).max().unwrap_or(1);
    let depth = u32::try_from(most).unwrap_or(u32::MAX).clamp(1, backend.depth());
    let buffers = usize::try_from(depth).unwrap_or(usize::MAX).saturating_mul(stride);
    let in_turn = (IN_TURN_BYTES / buffers).max(1);
    if backend.is_queued() {
        let workers = crew::workers(tasks.len(), rules.job.processes_here);
        let each = tasks.len().div_ceil(workers.max(1));
        let at_once = if rules.in_turn { each.min((in_turn / workers.max(1)).max(1)) } else { each };
        return ThreadLayout { workers, at_once, depth };
    }
    let workers = if rules.in_turn { in_turn.min(IN_TURN_THREADS) } else { tasks.len() };
    ThreadLayout { workers: workers.min(tasks.len()), at_once: 1, depth }
}

/// Bytes in flight at once if tasks may run in turn: enough to keep any storage busy, but little compared
/// with the memory of a node.
const IN_TURN_BYTES: usize = 64 << 20;
/// Maximum number of threads if tasks may run in turn.
const IN_TURN_THREADS: usize = 64;

/// Checks limits and alignment, and reserves memory. Nothing is touched yet.
///
/// A fill needs fewer files and threads than the measured phase, but the same limits apply to it: there is
/// no point in writing data that cannot be measured.
fn prepare(rules: &Rules<'_>, tasks: &[TaskPlan]) -> Result<(ThreadLayout, Memory), EngineError> {
    let backend = rules.job.workload.backend;
    let PhaseJob { processes_here: processes, beside, .. } = *rules.job;
    // The null engine moves no data, so its tasks need no separate buffers.
    let stride = if backend.moves_data() { rules.buffer_bytes().next_multiple_of(PAGE) } else { PAGE };
    let layout = thread_layout(rules, tasks, stride);
    let workers = layout.workers;
    if !backend.is_queued() {
        limits::threads(tasks.len() as u64, beside.threads, processes)?;
    }
    if backend.moves_data() {
        let rings = if backend.is_queued() { workers } else { 0 };
        limits::open_files(beside.open_files.saturating_add(tasks.len() as u64 + rings as u64))?;
        if rules.direct {
            check_alignment(rules, tasks)?;
        }
    }
    if backend.capabilities().needs_uring {
        crate::uring_available()?;
    }
    let at_once = tasks.len().min(workers.saturating_mul(layout.at_once));
    let buffers = (at_once as u128) * u128::from(layout.depth);
    let bytes = usize::try_from(buffers * stride as u128).unwrap_or(usize::MAX - PAGE);
    limits::memory(bytes as u64, processes, "the buffers of the transfers")?;
    let sets = 1 + usize::from(rules.pace_ns.is_some());
    let memory = Memory {
        buffers: Arena::new(bytes, "the buffers of the transfers")?,
        stride,
        counts: Arena::new(workers * sets * COUNTS_STRIDE, "the latency histograms")?.sparse(),
        sets,
    };
    Ok((layout, memory))
}

/// Checks once per directory, since files of one directory are on the same device.
fn check_alignment(rules: &Rules<'_>, tasks: &[TaskPlan]) -> Result<(), EngineError> {
    let mut seen = BTreeSet::new();
    for task in tasks {
        if seen.insert(task.file.path.parent()) {
            file::check_alignment(&task.file.path, rules.job.workload.geometry.transfer)?;
        }
    }
    Ok(())
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
