//! Items by `io_uring`: a few threads run all tasks, each with `depth` items in flight.
//!
//! The latency of an item is the time from the submission of its first request to the completion of its
//! last.

#![expect(unsafe_code, reason = "requests that refer to memory of the slots")]

use std::sync::atomic::Ordering;

use io_uring::CompletionQueue;

use crate::data::check::CheckResults;
use crate::phase::barrier::BarrierGuard;
use crate::phase::clock::{self, between};
use crate::phase::common::Common;
use crate::phase::controls::WorkerCounters;
use crate::recording::account::{TaskReport, WorkerReport};
use crate::recording::series::Recorder;
use crate::system::ring::{self, Ring};
use crate::tree::item_slot::{ItemSlot, Next};
use crate::tree::rules::{ItemPlan, TreeRules};
use crate::tree::sync_worker::{WorkerInput, WorkerResult};
use crate::tree::trouble::{OpOutcome, Surprise, failed, note};
use crate::tree::walk::{item_path, item_stem, needs_root};
use crate::{EngineError, Errno, Note, Point, Surprises};

/// A task of a worker.
struct Lane<'s> {
    plan: &'s ItemPlan,
    stem: Vec<u8>,
    /// Number of items after which the task ends.
    limit: u64,
    issued: u64,
    under_way: u64,
    report: TaskReport,
    /// End of the last item, in ticks.
    last: u64,
    allocated_bytes: u64,
}

/// Runs a worker with `plans`, each with `depth` items in flight. An error is stored in `common`.
pub(crate) fn work<'a>(
    common: &Common<'_>,
    rules: &TreeRules<'_>,
    plans: &[ItemPlan],
    depth: u32,
    input: WorkerInput<'a, 1>,
    mut barrier: BarrierGuard<'_>,
) -> Option<WorkerResult<'a, 1>> {
    let WorkerInput { index, mut recorder } = input;
    let mut log =
        WorkerLog { surprises: Surprises::default(), findings: CheckResults::default(), notes: Vec::new() };
    let counters = &common.counters[index];
    match live(common, rules, plans, depth, counters, &mut recorder, &mut log, &mut barrier) {
        Ok((tasks, allocated_bytes)) => {
            barrier.finish();
            let WorkerLog { surprises, findings, notes } = log;
            let report = WorkerReport { tasks, recorder, findings, unstarted: 0, notes };
            Some(WorkerResult { report, surprises, paths: Vec::new(), allocated_bytes, found: 0 })
        }
        Err(error) => {
            common.fail(error);
            None
        }
    }
}

/// The records of a worker other than latencies.
struct WorkerLog {
    surprises: Surprises,
    findings: CheckResults,
    notes: Vec<Note>,
}

#[expect(clippy::too_many_arguments, reason = "the parts of a worker, each of which outlives the call")]
fn live(
    common: &Common<'_>,
    rules: &TreeRules<'_>,
    plans: &[ItemPlan],
    depth: u32,
    counters: &WorkerCounters,
    recorder: &mut Recorder<'_, 1>,
    log: &mut WorkerLog,
    barrier: &mut BarrierGuard<'_>,
) -> Result<(Vec<TaskReport>, u64), EngineError> {
    let slots: Vec<ItemSlot<'_>> = (0..plans.len())
        .flat_map(|lane| std::iter::repeat_n(lane, depth as usize))
        .map(|lane| ItemSlot::new(rules, lane))
        .collect();
    let mut ring = ring::set_up(slots.len(), &mut log.notes)?;
    let (queue, completions) = Ring::split(&mut ring);
    barrier.pass(Point::Ready);
    barrier.pass(Point::Start);
    if common.is_abandoned() {
        return Ok((Vec::new(), 0));
    }
    let scale = common.scale();
    recorder.start(scale, common.start(), scale.ticks(rules.interval_ns()));
    let begun = clock::now(common.kind);
    let lanes = plans.iter().map(|plan| Lane::enter(rules, plan, begun)).collect::<Result<_, _>>()?;
    let mut worker = Worker {
        common,
        rules,
        counters,
        queue,
        completions,
        lanes,
        slots,
        fresh: Vec::new(),
        items: 0,
        under_way: 0,
    };
    let ending = rules.job.ending();
    worker.drive(ending.deadline(begun, scale, None), recorder, log)?;
    for lane in &mut worker.lanes {
        lane.report.stonewall = ending.at_stonewall(lane.last, lane.report.items);
    }
    if let Some(most) = ending.agree(worker.lanes.iter().map(|lane| lane.issued), common, barrier) {
        for lane in &mut worker.lanes {
            lane.limit = most.min(lane.plan.limit);
        }
        worker.drive(u64::MAX, recorder, log)?;
    }
    for lane in &mut worker.lanes {
        common.task_done(lane.last);
        (lane.report.io.1, lane.report.close) = (lane.last, (lane.last, lane.last));
    }
    if rules.job.workload.syncs_all() {
        rustix::fs::sync();
        let now = clock::now(common.kind);
        worker.lanes.iter_mut().for_each(|lane| lane.report.close.1 = now);
    }
    barrier.pass(Point::Transferred);
    let allocated_bytes = worker.lanes.iter().map(|lane| lane.allocated_bytes).sum();
    Ok((worker.lanes.iter().map(|lane| lane.report).collect(), allocated_bytes))
}

impl<'s> Lane<'s> {
    fn enter(rules: &TreeRules<'_>, plan: &'s ItemPlan, begun: u64) -> Result<Self, EngineError> {
        if plan.limit > 0 {
            needs_root(&plan.root)?;
        }
        let report = TaskReport {
            task: plan.task,
            file: plan.owner,
            open: (begun, begun),
            io: (begun, begun),
            ..TaskReport::default()
        };
        Ok(Self {
            plan,
            stem: item_stem(rules, plan),
            limit: plan.limit,
            issued: 0,
            under_way: 0,
            report,
            last: begun,
            allocated_bytes: 0,
        })
    }
}

/// A worker and its items.
struct Worker<'s, 'r> {
    common: &'s Common<'s>,
    rules: &'s TreeRules<'s>,
    counters: &'s WorkerCounters,
    queue: Ring<'r>,
    completions: CompletionQueue<'r>,
    lanes: Vec<Lane<'s>>,
    slots: Vec<ItemSlot<'s>>,
    /// Slots whose first request was queued since the last submission.
    fresh: Vec<usize>,
    /// Number of items done by all lanes.
    items: u64,
    under_way: usize,
}

impl Worker<'_, '_> {
    /// Runs items until every lane has ended. On return nothing is in flight, even after an error.
    fn drive(
        &mut self,
        deadline: u64,
        recorder: &mut Recorder<'_, 1>,
        log: &mut WorkerLog,
    ) -> Result<(), EngineError> {
        let driven = self.try_drive(deadline, recorder, log);
        if driven.is_err() {
            self.common.stop().store(true, Ordering::Relaxed);
            self.drain();
        }
        driven
    }

    fn try_drive(
        &mut self,
        deadline: u64,
        recorder: &mut Recorder<'_, 1>,
        log: &mut WorkerLog,
    ) -> Result<(), EngineError> {
        let kind = self.common.kind;
        for index in 0..self.slots.len() {
            self.issue(index)?;
        }
        let mut reaped = Vec::with_capacity(self.slots.len());
        while self.under_way > 0 {
            if self.common.stop().load(Ordering::Relaxed) {
                self.lanes.iter_mut().for_each(|lane| lane.limit = lane.issued);
            }
            let now = clock::now(kind);
            for index in self.fresh.drain(..) {
                self.slots[index].start = now;
            }
            self.queue.submit_and_wait().map_err(ring::failed)?;
            self.completions.sync();
            let now = clock::now(kind);
            reaped.extend(self.completions.by_ref().map(|entry| (entry.user_data(), entry.result())));
            self.under_way -= reaped.len();
            let mut turned = Ok(());
            for (data, result) in reaped.drain(..) {
                let index = usize::try_from(data).unwrap_or(usize::MAX);
                if turned.is_ok() {
                    turned = self.turn(index, result, (now, deadline), recorder, log);
                } else {
                    // A file that has been opened in the meantime is closed with its slot.
                    let _ = self.slots[index].turn(result, 0, &mut CheckResults::default());
                }
            }
            turned?;
            self.counters.items.store(self.items, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Handles a completion for its slot.
    fn turn(
        &mut self,
        index: usize,
        result: i32,
        (now, deadline): (u64, u64),
        recorder: &mut Recorder<'_, 1>,
        log: &mut WorkerLog,
    ) -> Result<(), EngineError> {
        let (rules, slot) = (self.rules, &mut self.slots[index]);
        let lane = &mut self.lanes[slot.lane];
        let wrong_before = log.findings.wrong_cells;
        let turned = slot.turn(result, lane.plan.task, &mut log.findings);
        if rules.job.workload.quit_on_error && log.findings.wrong_cells > wrong_before {
            let path = item_path(rules, lane.plan, slot.item);
            if let Some(mismatch) = log.findings.first_described(rules.generations(), &path) {
                return Err(EngineError::WrongData(Box::new(mismatch)));
            }
        }
        let verdict = match turned {
            Ok(Next::Request) => return self.push(index),
            Ok(Next::Done(verdict)) => verdict,
            Err(errno) => match Surprise::of(rules.operation, errno) {
                Some(surprise) => OpOutcome::Surprise(surprise),
                None => {
                    slot.abandon();
                    let path = item_path(rules, lane.plan, slot.item);
                    if errno == Errno(libc::ENOENT) {
                        let path = path.parent().map_or_else(|| path.clone(), Into::into);
                        return Err(EngineError::NoTree { path });
                    }
                    return Err(failed(path, rules.operation, errno, rules.bytes));
                }
            },
        };
        match rules.patterns {
            Some(_) => lane.report.write_bytes += slot.moved(),
            None => lane.report.read_bytes += slot.moved(),
        }
        if slot.is_continued() {
            self.common.continued.fetch_add(1, Ordering::Relaxed);
        }
        lane.under_way -= 1;
        lane.last = now;
        match verdict {
            OpOutcome::Done => {
                lane.report.items += 1;
                self.items += 1;
                lane.allocated_bytes += slot.allocated_bytes();
                if rules.job.instrument {
                    recorder.add(0, between(slot.start, now), now);
                    recorder.keep(lane.plan.task, 0, slot.start, now, slot.item);
                }
            }
            OpOutcome::LeftOut => {}
            OpOutcome::Surprise(surprise) => {
                slot.abandon();
                note(&mut log.surprises, surprise, || item_path(rules, lane.plan, slot.item));
            }
        }
        if now >= deadline {
            lane.limit = lane.issued;
        }
        self.issue(index)
    }

    /// Assigns the next item of its lane to the slot, if there is one.
    fn issue(&mut self, index: usize) -> Result<(), EngineError> {
        let slot = &mut self.slots[index];
        let lane = &mut self.lanes[slot.lane];
        if lane.issued >= lane.limit {
            return Ok(());
        }
        let position = lane.issued;
        let item = lane.plan.order.as_ref().map_or(position, |order| order.at(position));
        lane.issued += 1;
        lane.under_way += 1;
        slot.begin(lane.plan, &lane.stem, item);
        self.fresh.push(index);
        self.push(index)
    }

    /// Queues the next request of a slot.
    fn push(&mut self, index: usize) -> Result<(), EngineError> {
        let slot = &mut self.slots[index];
        let lane = &self.lanes[slot.lane];
        let entry = match slot.entry() {
            Ok(entry) => entry.user_data(index as u64),
            Err(errno) => {
                let path = item_path(self.rules, lane.plan, slot.item);
                return Err(failed(path, self.rules.operation, errno, self.rules.bytes));
            }
        };
        // SAFETY: the request refers only to memory of its slot, which is on the heap and not touched before
        // its completion is reaped: `drive` does not return before that.
        while !unsafe { self.queue.push(&entry) } {
            self.queue.submit().map_err(ring::failed)?;
        }
        self.under_way += 1;
        Ok(())
    }

    /// Waits for everything in flight, regardless of its result.
    #[cold]
    fn drain(&mut self) {
        let mut nothing = CheckResults::default();
        loop {
            self.completions.sync();
            for completion in self.completions.by_ref() {
                self.under_way -= 1;
                let index = usize::try_from(completion.user_data()).unwrap_or(usize::MAX);
                // A file that has been opened in the meantime is closed with its slot.
                let _ = self.slots[index].turn(completion.result(), 0, &mut nothing);
            }
            if self.under_way == 0 || self.queue.submit_and_wait().is_err() {
                return;
            }
        }
    }
}
