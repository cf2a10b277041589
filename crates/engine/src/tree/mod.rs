//! Trees of directories with small files, and sets of small objects. Each operation works on one item.
//!
//! | module | what it does |
//! |---|---|
//! | `rules` | which items each task touches, and how many |
//! | `walk`, `name` | iteration over items: directory and name, without memory per item |
//! | `item_ops` | files and directories by plain system calls |
//! | `trees` | the directories of the trees themselves |
//! | `object_order` | the order in which a task visits objects |
//! | `objects` | objects in sets |
//! | `find`, `deal`, `listing` | a search through directories, its distribution to tasks, and reading names |
//! | `small`, `data` | small files as a whole, and their data |
//! | `sync_worker` | a worker's phase, one operation at a time |
//! | `rings`, `item_slot` | the same by `io_uring`, with many items in flight |
//! | `trouble` | errors that end a phase, and surprises that are only counted |
//!
//! A phase has the same barriers, stops and timing as a phase of transfers. Only its root is created
//! before the start and removed after the end, since all tasks share it and it is not counted as an item.

mod data;
mod find;
mod item_ops;
mod item_slot;
mod listing;
mod name;
pub(crate) mod objects;
mod rings;
mod rules;
mod small;
mod sync_worker;
mod trees;
mod trouble;
mod walk;

use std::collections::HashMap;
use std::path::PathBuf;

use plan::{Find, ObjectsPlacement, Operation, Phase, TreePlacement};

use crate::data::buffer::{Arena, PAGE};
use crate::phase::common::Common;
use crate::phase::crew;
use crate::phase::outcome::Mismatches;
use crate::recording::account::Account;
use crate::recording::history::{History, LastOperation};
use crate::recording::series::{Counts, Recorder};
use crate::system::limits;
use crate::system::ring;
use crate::tree::find::{FindRules, FindWorker};
use crate::tree::item_ops::ItemWorker;
use crate::tree::objects::order::OPERATIONS;
use crate::tree::objects::{ObjectRules, ObjectWorker};
use crate::tree::rules::{ItemPlan, TreeRules};
use crate::tree::sync_worker::{TaskContext, WorkerInput, WorkerResult};
use crate::tree::trees::TreeWorker;
use crate::{Controls, EngineError, Note, PhaseJob, PhaseOutcome, Rendezvous, Surprises};

/// Number of descriptors that a task has open at once: a file, or a directory whose names it reads.
const FILES_PER_TASK: u64 = 1;

/// Runs this process's part of a phase of a workload of trees.
pub(crate) fn run(
    job: &PhaseJob<'_>,
    placement: TreePlacement<'_>,
    rendezvous: &dyn Rendezvous,
    controls: &Controls,
) -> Result<PhaseOutcome, EngineError> {
    let rules = TreeRules::new(job, placement);
    let plans = rules.tasks();
    let (mut layout, mut memory) = agreed(prepare_layout(&rules, &plans), rendezvous)?;
    let mut common =
        Common::new(rules.points(), (layout.workers, layout.workers), rules.bytes, rendezvous, controls);
    let moves = matches!(job.phase, Phase::FileCreate | Phase::FileWrite | Phase::FileRead);
    keep(&mut common, job, &[rules.operation], if moves { rules.bytes } else { 0 }, controls);
    let (interval_ns, workers) = (rules.interval_ns(), layout.workers);
    let results = crew::run(&common, inputs(&mut memory, workers, &common), |input, barrier| {
        if let Some(depth) = layout.depth {
            let share = plans.len() * input.index / workers..plans.len() * (input.index + 1) / workers;
            return rings::work(&common, &rules, &plans[share], depth, input, barrier);
        }
        let plan = &plans[input.index];
        let context = TaskContext { job, interval_ns, limit: plan.limit };
        if rules.of_trees() {
            sync_worker::work(&common, context, TreeWorker::new(&rules, plan), input, barrier)
        } else {
            sync_worker::work(&common, context, ItemWorker::new(&rules, plan), input, barrier)
        }
    });
    let account = Account { operations: [rules.operation], ending: job.ending(), interval_ns };
    let path = |file| item_with(&rules, &plans, file);
    let (mut outcome, allocated) =
        outcome(&common, account, results, (rules.generations(), &path), controls)?;
    let in_rings = layout.depth.is_some();
    name(&mut outcome.history, |task, place| kept_path(&rules, &plans, in_rings, (task, place)));
    outcome.allocated_bytes = (rules.phase == Phase::FileStat).then_some(allocated);
    outcome.notes.append(&mut layout.notes);
    Ok(outcome)
}

/// How this process's tasks are distributed over threads.
struct ThreadLayout {
    workers: usize,
    /// Number of items of a task in flight in a ring, or `None` for plain calls with one thread for each
    /// task.
    depth: Option<u32>,
    notes: Vec<Note>,
}

/// Describes the activity of a phase for which `io_uring` has no operation or no benefit.
fn plain(phase: Phase, make_node: bool) -> Option<&'static str> {
    match phase {
        Phase::TreeCreate => Some("creates the directories of trees"),
        Phase::TreeRemove => Some("removes the directories of trees"),
        Phase::DirectoryList => Some("reads the names in directories"),
        Phase::FileRename | Phase::DirectoryRename => {
            Some("renames items in a ring, each to the previous name")
        }
        Phase::FileCreate if make_node => Some("creates files with mknod"),
        Phase::Precreate | Phase::Benchmark | Phase::Cleanup => Some("cycles through objects"),
        _ => None,
    }
}

/// Chooses between rings and plain calls, and reserves memory. Nothing is touched yet.
fn prepare_layout(rules: &TreeRules<'_>, plans: &[ItemPlan]) -> Result<(ThreadLayout, Arena), EngineError> {
    let (job, buffer) = (rules.job, data::buffer_bytes(rules.bytes));
    let mut notes = Vec::new();
    let backend = job.workload.backend;
    if backend.capabilities().needs_uring {
        match (plain(rules.phase, rules.tree.make_node), ring::has_tree_operations()) {
            (Some(what), _) => notes.push(Note::PlainCalls { what }),
            (None, Ok(())) => {
                let most = plans.iter().map(|plan| plan.limit).max().unwrap_or(1);
                let depth = u32::try_from(most).unwrap_or(u32::MAX).clamp(1, backend.depth());
                let workers = crew::workers(plans.len(), job.processes_here);
                let under_way = (plans.len() as u64).saturating_mul(depth.into());
                limits::open_files(job.beside.open_files.saturating_add(under_way + workers as u64))?;
                limits::memory(
                    under_way.saturating_mul(buffer as u64),
                    job.processes_here,
                    "the buffers of the files",
                )?;
                let memory = Arena::new(workers * stride::<1>(), "the latency histograms")?.sparse();
                return Ok((ThreadLayout { workers, depth: Some(depth), notes }, memory));
            }
            (None, Err(error)) if !backend.is_replaceable() => return Err(error.into()),
            (None, Err(_)) => notes.push(Note::PlainCalls { what: "works on items of trees" }),
        }
    }
    let memory = prepare::<1>(job, FILES_PER_TASK, buffer)?;
    Ok((ThreadLayout { workers: plans.len(), depth: None, notes }, memory))
}

/// Runs this process's part of a phase of a workload of objects.
pub(crate) fn run_objects(
    job: &PhaseJob<'_>,
    placement: ObjectsPlacement<'_>,
    rendezvous: &dyn Rendezvous,
    controls: &Controls,
) -> Result<PhaseOutcome, EngineError> {
    let rules = ObjectRules::new(job, placement);
    // One object is read while another is being prepared.
    let buffers = data::buffer_bytes(rules.bytes()).saturating_mul(2);
    let mut memory = agreed(prepare::<4>(job, 1, buffers), rendezvous)?;
    let tasks = job.tasks.len();
    let mut common = Common::new(rules.points(), (tasks, tasks), rules.bytes(), rendezvous, controls);
    keep(&mut common, job, &OPERATIONS, rules.bytes(), controls);
    let results = crew::run(&common, inputs(&mut memory, tasks, &common), |input, barrier| {
        let index = input.index;
        let task = job.tasks.start + u32::try_from(index).unwrap_or(u32::MAX);
        sync_worker::work(
            &common,
            rules.context(index, task),
            ObjectWorker::new(&rules, task),
            input,
            barrier,
        )
    });
    let account = Account { operations: OPERATIONS, ending: job.ending(), interval_ns: rules.interval_ns() };
    let path = |_| PathBuf::new();
    let (mut outcome, _) = outcome(&common, account, results, (rules.generations(), &path), controls)?;
    name(&mut outcome.history, |_, _| PathBuf::new());
    if let (true, Some(what)) = (job.workload.backend.is_queued(), plain(job.phase, false)) {
        outcome.notes.push(Note::PlainCalls { what });
    }
    Ok(outcome)
}

/// Runs this process's part of a search.
pub(crate) fn run_find(
    job: &PhaseJob<'_>,
    find: &Find,
    rendezvous: &dyn Rendezvous,
    controls: &Controls,
) -> Result<PhaseOutcome, EngineError> {
    let rules = FindRules::new(job, find);
    let targets = job.workload.files.targets.len() as u64;
    let mut memory = agreed(prepare::<1>(job, targets + 1, listing::LIST_BYTES), rendezvous)?;
    let tasks = job.tasks.len();
    let common = Common::new(FindRules::points(), (tasks, tasks), 0, rendezvous, controls);
    let results = crew::run(&common, inputs(&mut memory, tasks, &common), |input, barrier| {
        let task = job.tasks.start + u32::try_from(input.index).unwrap_or(u32::MAX);
        sync_worker::work(&common, rules.context(), FindWorker::new(&rules, &common, task), input, barrier)
    });
    let found = results.iter().map(|result| result.found).sum();
    let account =
        Account { operations: [Operation::Find], ending: job.ending(), interval_ns: rules.interval_ns() };
    let path = |_| PathBuf::new();
    let (mut outcome, _) = outcome(&common, account, results, (None, &path), controls)?;
    outcome.found = Some(found);
    Ok(outcome)
}

/// Returns the prepared value if all peers succeeded too.
fn agreed<T>(prepared: Result<T, EngineError>, rendezvous: &dyn Rendezvous) -> Result<T, EngineError> {
    prepared.map_err(|error| {
        // The peers ask before they start, and would wait for an answer.
        match rendezvous.any(true) {
            Ok(_) => error,
            Err(lost) => EngineError::Rendezvous(lost),
        }
    })
}

/// Distance in bytes between the histograms of two workers.
const fn stride<const N: usize>() -> usize {
    size_of::<Counts<N>>().next_multiple_of(PAGE)
}

/// Checks limits and reserves the memory of the histograms. Nothing is touched yet. A task has `files` files
/// open at once and needs a buffer of `buffer` bytes.
fn prepare<const N: usize>(job: &PhaseJob<'_>, files: u64, buffer: usize) -> Result<Arena, EngineError> {
    let count = job.tasks.len() as u64;
    limits::threads(count, job.beside.threads, job.processes_here)?;
    if job.workload.backend.moves_data() {
        limits::open_files(job.beside.open_files.saturating_add(count.saturating_mul(files)))?;
    }
    let buffers = count.saturating_mul(buffer as u64);
    limits::memory(buffers, job.processes_here, "the buffers of the files")?;
    Ok(Arena::new(job.tasks.len() * stride::<N>(), "the latency histograms")?.sparse())
}

/// Creates a worker's input, including a recorder, for each of `tasks`.
fn inputs<'m, const N: usize>(
    memory: &'m mut Arena,
    tasks: usize,
    common: &Common<'_>,
) -> Vec<WorkerInput<'m, N>> {
    let pieces = memory.pieces::<Counts<N>>(tasks, stride::<N>());
    let recorder = |index, counts| Recorder::new(counts, None).keeping(common.keeper(index));
    let input = |(index, counts)| WorkerInput { index, recorder: recorder(index, counts) };
    pieces.into_iter().enumerate().map(input).collect()
}

/// Enables the history for these `operations`, if requested. Each operation moves `bytes`.
fn keep(
    common: &mut Common<'_>,
    job: &PhaseJob<'_>,
    operations: &[Operation],
    bytes: u64,
    controls: &Controls,
) {
    let wanted = job.workload.history.filter(|_| job.instrument && job.phase.is_result());
    if let Some(kept) = wanted {
        common.keep(History::new(kept, common.counters.len(), operations, bytes, HashMap::new()), controls);
    }
}

/// Sets the paths of the recorded operations. `path` maps a task and a recorded position to a path.
fn name(kept: &mut [LastOperation], path: impl Fn(u32, u64) -> PathBuf) {
    for one in kept {
        one.path = path(one.task, one.offset).into();
        one.offset = 0;
    }
}

/// The path of an item by its recorded position, which is the item number in rings and otherwise the
/// operation number.
fn kept_path(
    rules: &TreeRules<'_>,
    plans: &[ItemPlan],
    in_rings: bool,
    (task, place): (u32, u64),
) -> PathBuf {
    let Some(plan) = plans.iter().find(|plan| plan.task == task) else { return PathBuf::new() };
    if rules.of_trees() {
        return plan.root.clone();
    }
    let order = plan.order.as_ref().filter(|_| !in_rings);
    walk::item_path(rules, plan, order.map_or(place, |order| order.at(place)))
}

/// The generations that a check accepts, and the paths of data by file number.
type Names<'n> = (Option<(u16, u16)>, &'n dyn Fn(u32) -> PathBuf);

/// Combines the results with the bytes allocated for the examined files.
fn outcome<const N: usize>(
    common: &Common<'_>,
    account: Account<N>,
    results: Vec<WorkerResult<'_, N>>,
    (generations, path): Names<'_>,
    controls: &Controls,
) -> Result<(PhaseOutcome, u64), EngineError> {
    if let Some(error) = common.take_failure() {
        return Err(error);
    }
    let (mut surprises, mut mismatches, mut allocated) = (Surprises::default(), Mismatches::default(), 0);
    let mut reports = Vec::with_capacity(results.len());
    for WorkerResult { report, surprises: more, paths, allocated_bytes, found: _ } in results {
        surprises.merge(more);
        allocated += allocated_bytes;
        mismatches.merge(report.findings.describe(generations, |file| {
            let known = paths.iter().find(|(number, _)| *number == file);
            known.map_or_else(|| path(file), |(_, path)| path.clone())
        }));
        reports.push(report);
    }
    Ok((PhaseOutcome { mismatches, surprises, ..account.outcome(common, &reports, controls) }, allocated))
}

/// The path of the item, of one of `plans`, whose data has the number `file`.
fn item_with(rules: &TreeRules<'_>, plans: &[ItemPlan], file: u32) -> PathBuf {
    let all = rules.tree.items_per_task();
    let item = |plan: &ItemPlan| u64::from(file.wrapping_sub(rules.file_number(plan.owner, 0)));
    let plan = plans.iter().find(|plan| item(plan) < all);
    plan.map(|plan| walk::item_path(rules, plan, rules.item_with(plan, item(plan)))).unwrap_or_default()
}
