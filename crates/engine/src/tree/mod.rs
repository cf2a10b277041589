//! Trees of directories with small files: one item, one operation.
//!
//! | module | what it does |
//! |---|---|
//! | `rules` | whose items each task touches, and how many |
//! | `walk`, `name` | from one item to the next: directory and name, without memory for each |
//! | `act` | files and directories by plain system calls |
//! | `trees` | the directories of the trees themselves |
//! | `data` | what small files hold |
//! | `live` | the way of a task through the phase |
//! | `trouble` | what ends a phase, and what is only counted |
//!
//! A phase meets, stops and is timed as one of transfers is. Only its root is made before the start and
//! removed after the end: it is one directory for all, and no item.

mod act;
mod data;
mod live;
mod name;
mod rules;
mod trees;
mod trouble;
mod walk;

use std::path::PathBuf;

use plan::{Backend, Phase, TreePlacement};

use crate::account::{Account, WorkerReport};
use crate::buffer::{Arena, PAGE};
use crate::common::Common;
use crate::outcome::Mismatches;
use crate::series::{Counts, Recorder};
use crate::tree::live::{Harvest, Seat};
use crate::tree::rules::{ItemPlan, TreeRules};
use crate::{Controls, EngineError, PhaseJob, PhaseOutcome, Rendezvous, Surprises, crew, limits};

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
    let mut memory = match prepare::<1>(job, plans.len(), data::buffer_bytes(rules.bytes)) {
        Ok(memory) => memory,
        Err(error) => {
            // The peers ask each other before they start; without an answer they would wait.
            return match rendezvous.any(true) {
                Ok(_) => Err(error),
                Err(lost) => Err(EngineError::Rendezvous(lost)),
            };
        }
    };
    let common = Common::new(rules.points(), (plans.len(), plans.len()), rules.bytes, rendezvous, controls);
    let seats = seats(&mut memory, plans.len());
    let harvests =
        crew::run(&common, seats, |seat, course| live::work(&common, &rules, &plans, seat, course));
    match common.take_failure() {
        Some(error) => Err(error),
        None => Ok(outcome(&common, &rules, &plans, harvests, controls)),
    }
}

/// Bytes between the histograms of two workers.
const fn stride<const N: usize>() -> usize {
    size_of::<Counts<N>>().next_multiple_of(PAGE)
}

/// Checks limits and reserves the memory of `tasks` histograms; nothing is touched yet.
fn prepare<const N: usize>(job: &PhaseJob<'_>, tasks: usize, buffer: usize) -> Result<Arena, EngineError> {
    let count = tasks as u64;
    limits::threads(count, job.processes_here)?;
    if job.workload.backend != Backend::Null {
        limits::open_files(count.saturating_mul(FILES_PER_TASK))?;
    }
    let buffers = count.saturating_mul(buffer as u64);
    limits::memory(buffers, job.processes_here, "the buffers of the files")?;
    Ok(Arena::new(tasks * stride::<N>(), "the latency histograms")?.sparse())
}

/// A seat with a book for each of `tasks`.
fn seats<const N: usize>(memory: &mut Arena, tasks: usize) -> Vec<Seat<'_, N>> {
    let pieces = memory.pieces::<Counts<N>>(tasks, stride::<N>());
    let seat = |(index, counts)| Seat { index, recorder: Recorder::new(counts, None) };
    pieces.into_iter().enumerate().map(seat).collect()
}

fn outcome(
    common: &Common<'_>,
    rules: &TreeRules<'_>,
    plans: &[ItemPlan],
    harvests: Vec<Harvest<'_, 1>>,
    controls: &Controls,
) -> PhaseOutcome {
    let mut surprises = Surprises::default();
    let mut allocated_bytes = 0;
    let mut reports: Vec<WorkerReport<'_, 1>> = Vec::with_capacity(harvests.len());
    for harvest in harvests {
        surprises.merge(harvest.surprises);
        allocated_bytes += harvest.allocated_bytes;
        reports.push(harvest.report);
    }
    let mut mismatches = Mismatches::default();
    for report in &reports {
        let path = |file| item_with(rules, plans, file);
        mismatches.merge(report.findings.describe(rules.generations(), path));
    }
    let account =
        Account { operations: [rules.operation], ending: rules.ending, interval_ns: rules.interval_ns() };
    PhaseOutcome {
        mismatches,
        surprises,
        allocated_bytes: (rules.phase == Phase::FileStat).then_some(allocated_bytes),
        ..account.outcome(common, &reports, controls)
    }
}

/// The path of the item of one of `plans` whose data has the number `file`.
fn item_with(rules: &TreeRules<'_>, plans: &[ItemPlan], file: u32) -> PathBuf {
    let all = rules.tree.items_per_task();
    let item = |plan: &ItemPlan| u64::from(file.wrapping_sub(rules.file_number(plan.owner, 0)));
    let plan = plans.iter().find(|plan| item(plan) < all);
    plan.map(|plan| walk::item_path(rules, plan, item(plan))).unwrap_or_default()
}
