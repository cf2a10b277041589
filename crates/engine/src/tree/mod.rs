//! Trees of directories with small files, and sets of small objects: one item, one operation.
//!
//! | module | what it does |
//! |---|---|
//! | `rules` | whose items each task touches, and how many |
//! | `walk`, `name` | from one item to the next: directory and name, without memory for each |
//! | `act` | files and directories by plain system calls |
//! | `trees` | the directories of the trees themselves |
//! | `objects` | objects in sets |
//! | `small`, `data` | small files as a whole, and what they hold |
//! | `live` | the way of a task through the phase |
//! | `rings`, `seat` | the same by `io_uring`, with many items under way |
//! | `trouble` | what ends a phase, and what is only counted |
//!
//! A phase meets, stops and is timed as one of transfers is. Only its root is made before the start and
//! removed after the end: it is one directory for all, and no item.

mod act;
mod data;
mod live;
mod name;
mod objects;
mod rings;
mod rules;
mod seat;
mod small;
mod trees;
mod trouble;
mod walk;

use std::collections::HashMap;
use std::path::PathBuf;

use plan::{Backend, ObjectsPlacement, Operation, Phase, TreePlacement};

use crate::account::Account;
use crate::buffer::{Arena, PAGE};
use crate::common::Common;
use crate::history::{History, LastOperation};
use crate::outcome::Mismatches;
use crate::series::{Counts, Recorder};
use crate::tree::act::Hand;
use crate::tree::live::{Harvest, Seat, Way};
use crate::tree::objects::{OPERATIONS, ObjectRules, Porter};
use crate::tree::rules::{ItemPlan, TreeRules};
use crate::tree::trees::Gardener;
use crate::{Controls, EngineError, Note, PhaseJob, PhaseOutcome, Rendezvous, Surprises, crew, limits, ring};

/// Descriptors that a task has open at once: root, directory, file.
const FILES_PER_TASK: u64 = 3;

/// Runs a phase of a workload of trees, as far as it belongs to this process.
pub(crate) fn run(
    job: &PhaseJob<'_>,
    placement: TreePlacement<'_>,
    rendezvous: &dyn Rendezvous,
    controls: &Controls,
) -> Result<PhaseOutcome, EngineError> {
    let rules = TreeRules::new(job, placement);
    let plans = rules.tasks();
    let (mut crew, mut memory) = agreed(prepare_crew(&rules, &plans), rendezvous)?;
    let mut common =
        Common::new(rules.points(), (crew.workers, crew.workers), rules.bytes, rendezvous, controls);
    let moves = matches!(job.phase, Phase::FileCreate | Phase::FileWrite | Phase::FileRead);
    keep(&mut common, job, &[rules.operation], if moves { rules.bytes } else { 0 }, controls);
    let (ending, interval_ns, workers) = (rules.ending, rules.interval_ns(), crew.workers);
    let harvests = crew::run(&common, seats(&mut memory, workers, &common), |seat, course| {
        if let Some(depth) = crew.depth {
            let share = plans.len() * seat.index / workers..plans.len() * (seat.index + 1) / workers;
            return rings::work(&common, &rules, &plans[share], depth, seat, course);
        }
        let plan = &plans[seat.index];
        let way = Way { job, ending, interval_ns, limit: plan.limit };
        if rules.of_trees() {
            live::work(&common, way, Gardener::new(&rules, plan), seat, course)
        } else {
            live::work(&common, way, Hand::new(&rules, plan), seat, course)
        }
    });
    let account = Account { operations: [rules.operation], ending, interval_ns };
    let path = |file| item_with(&rules, &plans, file);
    let (mut outcome, allocated) =
        outcome(&common, account, harvests, (rules.generations(), &path), controls)?;
    let in_rings = crew.depth.is_some();
    name(&mut outcome.history, |task, place| kept_path(&rules, &plans, in_rings, (task, place)));
    outcome.allocated_bytes = (rules.phase == Phase::FileStat).then_some(allocated);
    outcome.notes.append(&mut crew.notes);
    Ok(outcome)
}

/// How the tasks of this process are spread over threads.
struct Crew {
    workers: usize,
    /// Items of a task that are under way in a ring; `None` for plain calls of a thread for each task.
    depth: Option<u32>,
    notes: Vec<Note>,
}

/// What a phase does for which `io_uring` has no operation, or which it would gain nothing for.
fn plain(phase: Phase, make_node: bool) -> Option<&'static str> {
    match phase {
        Phase::TreeCreate => Some("makes the directories of trees"),
        Phase::TreeRemove => Some("removes the directories of trees"),
        Phase::DirectoryList => Some("reads the names in directories"),
        Phase::FileCreate if make_node => Some("makes files by mknod"),
        Phase::Precreate | Phase::Benchmark | Phase::Cleanup => Some("goes round objects"),
        _ => None,
    }
}

/// Chooses between rings and plain calls, and reserves memory; nothing is touched yet.
fn prepare_crew(rules: &TreeRules<'_>, plans: &[ItemPlan]) -> Result<(Crew, Arena), EngineError> {
    let (job, buffer) = (rules.job, data::buffer_bytes(rules.bytes));
    let mut notes = Vec::new();
    if let Backend::Uring { depth, required } = job.workload.backend {
        match (plain(rules.phase, rules.tree.make_node), ring::has_tree_operations()) {
            (Some(what), _) => notes.push(Note::PlainCalls { what }),
            (None, Ok(())) => {
                let most = plans.iter().map(|plan| plan.limit).max().unwrap_or(1);
                let depth = u32::try_from(most).unwrap_or(u32::MAX).clamp(1, depth);
                let workers = crew::workers(plans.len(), job.processes_here);
                let under_way = (plans.len() as u64).saturating_mul(depth.into());
                limits::open_files(under_way + plans.len() as u64 + workers as u64)?;
                limits::memory(
                    under_way.saturating_mul(buffer as u64),
                    job.processes_here,
                    "the buffers of the files",
                )?;
                let memory = Arena::new(workers * stride::<1>(), "the latency histograms")?.sparse();
                return Ok((Crew { workers, depth: Some(depth), notes }, memory));
            }
            (None, Err(error)) if required => return Err(error.into()),
            (None, Err(_)) => notes.push(Note::PlainCalls { what: "works on items of trees" }),
        }
    }
    let memory = prepare::<1>(job, FILES_PER_TASK, buffer)?;
    Ok((Crew { workers: plans.len(), depth: None, notes }, memory))
}

/// Runs a phase of a workload of objects, as far as it belongs to this process.
pub(crate) fn run_objects(
    job: &PhaseJob<'_>,
    placement: ObjectsPlacement<'_>,
    rendezvous: &dyn Rendezvous,
    controls: &Controls,
) -> Result<PhaseOutcome, EngineError> {
    let rules = ObjectRules::new(job, placement);
    let targets = job.workload.files.targets.len() as u64;
    // One object is read while another is made ready.
    let buffers = data::buffer_bytes(rules.bytes()).saturating_mul(2);
    let mut memory = agreed(prepare::<4>(job, targets + 1, buffers), rendezvous)?;
    let tasks = job.tasks.len();
    let mut common = Common::new(rules.points(), (tasks, tasks), rules.bytes(), rendezvous, controls);
    keep(&mut common, job, &OPERATIONS, rules.bytes(), controls);
    let harvests = crew::run(&common, seats(&mut memory, tasks, &common), |seat, course| {
        let index = seat.index;
        let task = job.tasks.start + u32::try_from(index).unwrap_or(u32::MAX);
        live::work(&common, rules.way(index, task), Porter::new(&rules, task), seat, course)
    });
    let account = Account { operations: OPERATIONS, ending: rules.ending, interval_ns: rules.interval_ns() };
    let path = |_| PathBuf::new();
    let (mut outcome, _) = outcome(&common, account, harvests, (rules.generations(), &path), controls)?;
    name(&mut outcome.history, |_, _| PathBuf::new());
    if let (Backend::Uring { .. }, Some(what)) = (job.workload.backend, plain(job.phase, false)) {
        outcome.notes.push(Note::PlainCalls { what });
    }
    Ok(outcome)
}

/// What could be prepared, when all peers could.
fn agreed<T>(prepared: Result<T, EngineError>, rendezvous: &dyn Rendezvous) -> Result<T, EngineError> {
    prepared.map_err(|error| {
        // The peers ask each other before they start; without an answer they would wait.
        match rendezvous.any(true) {
            Ok(_) => error,
            Err(lost) => EngineError::Rendezvous(lost),
        }
    })
}

/// Bytes between the histograms of two workers.
const fn stride<const N: usize>() -> usize {
    size_of::<Counts<N>>().next_multiple_of(PAGE)
}

/// Checks limits and reserves the memory of the histograms; nothing is touched yet. A task has so many
/// `files` open at once, and so many bytes of `buffer`.
fn prepare<const N: usize>(job: &PhaseJob<'_>, files: u64, buffer: usize) -> Result<Arena, EngineError> {
    let count = job.tasks.len() as u64;
    limits::threads(count, job.processes_here)?;
    if job.workload.backend != Backend::Null {
        limits::open_files(count.saturating_mul(files))?;
    }
    let buffers = count.saturating_mul(buffer as u64);
    limits::memory(buffers, job.processes_here, "the buffers of the files")?;
    Ok(Arena::new(job.tasks.len() * stride::<N>(), "the latency histograms")?.sparse())
}

/// A seat with a book for each of `tasks`.
fn seats<'m, const N: usize>(memory: &'m mut Arena, tasks: usize, common: &Common<'_>) -> Vec<Seat<'m, N>> {
    let pieces = memory.pieces::<Counts<N>>(tasks, stride::<N>());
    let recorder = |index, counts| Recorder::new(counts, None).keeping(common.keeper(index));
    let seat = |(index, counts)| Seat { index, recorder: recorder(index, counts) };
    pieces.into_iter().enumerate().map(seat).collect()
}

/// Has the last of these `operations` kept, each of which moves `bytes`, where that is wanted.
fn keep(
    common: &mut Common<'_>,
    job: &PhaseJob<'_>,
    operations: &[Operation],
    bytes: u64,
    controls: &Controls,
) {
    let wanted = job.workload.history.filter(|_| job.instrument && job.phase.is_result());
    if let Some(kept) = wanted {
        common.keep(History::new(kept, common.slots.len(), operations, bytes, HashMap::new()), controls);
    }
}

/// Gives the operations that were kept of items the paths of these: `path` finds one by the task and the
/// place that was kept.
fn name(kept: &mut [LastOperation], path: impl Fn(u32, u64) -> PathBuf) {
    for one in kept {
        one.path = path(one.task, one.offset).into();
        one.offset = 0;
    }
}

/// The path of an item at a place that was kept: its number in rings, else the number of the operation.
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

/// The generations that a check accepts, and the files of data by their numbers.
type Names<'n> = (Option<(u16, u16)>, &'n dyn Fn(u32) -> PathBuf);

/// What came of it all, and the bytes that the files hold that were looked at.
fn outcome<const N: usize>(
    common: &Common<'_>,
    account: Account<N>,
    harvests: Vec<Harvest<'_, N>>,
    (generations, path): Names<'_>,
    controls: &Controls,
) -> Result<(PhaseOutcome, u64), EngineError> {
    if let Some(error) = common.take_failure() {
        return Err(error);
    }
    let (mut surprises, mut mismatches, mut allocated) = (Surprises::default(), Mismatches::default(), 0);
    let mut reports = Vec::with_capacity(harvests.len());
    for Harvest { report, surprises: more, paths, allocated_bytes } in harvests {
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

/// The path of the item of one of `plans` whose data has the number `file`.
fn item_with(rules: &TreeRules<'_>, plans: &[ItemPlan], file: u32) -> PathBuf {
    let all = rules.tree.items_per_task();
    let item = |plan: &ItemPlan| u64::from(file.wrapping_sub(rules.file_number(plan.owner, 0)));
    let plan = plans.iter().find(|plan| item(plan) < all);
    plan.map(|plan| walk::item_path(rules, plan, item(plan))).unwrap_or_default()
}
