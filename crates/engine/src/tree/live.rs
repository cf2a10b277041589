//! The life of a worker that does one operation at a time, in a thread of its own.

use std::path::PathBuf;
use std::sync::atomic::Ordering;

use crate::account::{TaskReport, WorkerReport};
use crate::check::Findings;
use crate::clock::{self, between};
use crate::common::Common;
use crate::controls::Slot;
use crate::gate::Course;
use crate::rules::Ending;
use crate::series::Recorder;
use crate::tree::act::Hand;
use crate::tree::rules::{ItemPlan, TreeRules};
use crate::tree::trees::Gardener;
use crate::tree::trouble::{Surprise, Verdict, note};
use crate::{EngineError, Point, Surprises};

/// What a worker is given.
pub(crate) struct Seat<'a, const N: usize> {
    /// Its place among the tasks of the process.
    pub(crate) index: usize,
    pub(crate) recorder: Recorder<'a, N>,
}

/// What a worker gives back.
#[derive(Debug)]
pub(crate) struct Harvest<'a, const N: usize> {
    pub(crate) report: WorkerReport<'a, N>,
    pub(crate) surprises: Surprises,
    pub(crate) allocated_bytes: u64,
}

/// A worker's life. Its error goes to `common`.
pub(crate) fn work<'a>(
    common: &Common<'_>,
    rules: &TreeRules<'_>,
    plans: &[ItemPlan],
    seat: Seat<'a, 1>,
    mut course: Course<'_>,
) -> Option<Harvest<'a, 1>> {
    let Seat { index, mut recorder } = seat;
    let (plan, slot) = (&plans[index], &common.slots[index]);
    let mut surprises = Surprises::default();
    let mut report = TaskReport { task: plan.task, file: plan.owner, ..TaskReport::default() };
    let lived = if rules.of_trees() {
        let mut gardener = Gardener::new(rules, plan);
        let beat = Beat { common, rules, plan, slot, recorder: &mut recorder, surprises: &mut surprises };
        beat.live(&mut gardener, &mut report, &mut course).map(|()| (Findings::default(), 0))
    } else {
        let mut hand = Hand::new(rules, plan);
        let beat = Beat { common, rules, plan, slot, recorder: &mut recorder, surprises: &mut surprises };
        let lived = beat.live(&mut hand, &mut report, &mut course);
        (report.read_bytes, report.write_bytes) = (hand.read_bytes, hand.write_bytes);
        lived.map(|()| (std::mem::take(&mut hand.findings), hand.allocated_bytes))
    };
    match lived {
        Ok((findings, allocated_bytes)) => {
            course.pass(Point::Closed);
            let report =
                WorkerReport { tasks: vec![report], recorder, findings, unstarted: 0, notes: Vec::new() };
            Some(Harvest { report, surprises, allocated_bytes })
        }
        Err(error) => {
            // Before the course is dropped: the others learn of it at their next item or gate.
            common.fail(error);
            None
        }
    }
}

/// What a task does, one operation after the other.
pub(crate) trait Doer {
    /// Before the phase is timed, for all tasks before any of them starts.
    fn prepare(&mut self) -> Result<(), EngineError>;

    /// When the phase has started.
    fn enter(&mut self) -> Result<(), EngineError>;

    /// Goes to operation number `position`. Says whether that took time that is not the storage's.
    fn go(&mut self, position: u64) -> Result<bool, EngineError>;

    /// Does it.
    fn act(&mut self) -> Result<Verdict, EngineError>;

    /// Compares what was read. Says whether something was, which took time.
    fn check(&mut self) -> bool;

    /// Cells of wrong data that were found.
    fn wrong_cells(&self) -> u64;

    /// The first of them as an error.
    fn wrong_data(&self) -> EngineError;

    /// What it works at, for people.
    fn path(&self) -> PathBuf;

    /// When all tasks have done everything. Gives what stood in the way.
    fn leave(&mut self) -> Result<Vec<(Surprise, PathBuf)>, EngineError>;
}

/// The task's way through the phase.
struct Beat<'w, 'a> {
    common: &'w Common<'w>,
    rules: &'w TreeRules<'w>,
    plan: &'w ItemPlan,
    slot: &'w Slot,
    recorder: &'w mut Recorder<'a, 1>,
    surprises: &'w mut Surprises,
}

impl Beat<'_, '_> {
    fn live<D: Doer>(
        mut self,
        doer: &mut D,
        report: &mut TaskReport,
        course: &mut Course<'_>,
    ) -> Result<(), EngineError> {
        let (common, rules) = (self.common, self.rules);
        doer.prepare()?;
        course.pass(Point::Ready);
        course.pass(Point::Start);
        if common.is_abandoned() {
            return Ok(());
        }
        let scale = common.scale();
        self.recorder.start(scale, common.start(), scale.ticks(rules.interval_ns()));
        let mut last = clock::now(common.kind);
        (report.open, report.io.0) = ((last, last), last);
        doer.enter()?;
        let mut position = 0;
        let deadline = match rules.ending {
            Ending::Stonewall { deadline_ns, .. } => last.saturating_add(scale.ticks(deadline_ns)),
            _ => u64::MAX,
        };
        self.go_on(doer, &mut position, (self.plan.limit, deadline), &mut last, report)?;
        if let Ending::Stonewall { wear_out, .. } = rules.ending {
            report.stonewall = Some((last, report.items));
            if wear_out {
                common.offer_most(position);
                course.pass(Point::Stonewall);
                last = clock::now(common.kind);
                let most = common.most().min(self.plan.limit);
                self.go_on(doer, &mut position, (most, u64::MAX), &mut last, report)?;
            }
        }
        common.task_done(last);
        report.io.1 = last;
        report.close = (last, last);
        course.pass(Point::Transferred);
        for (surprise, path) in doer.leave()? {
            note(self.surprises, surprise, || path);
        }
        Ok(())
    }

    /// Operations from `position` on, until so many are done or one ends at or after the deadline.
    #[inline(never)]
    fn go_on<D: Doer>(
        &mut self,
        doer: &mut D,
        position: &mut u64,
        (limit, deadline): (u64, u64),
        last: &mut u64,
        report: &mut TaskReport,
    ) -> Result<(), EngineError> {
        let Self { common, rules, slot, .. } = *self;
        let (stop, kind, record) = (common.stop(), common.kind, rules.job.instrument);
        let quits = rules.job.workload.quit_on_error;
        while *position < limit && !stop.load(Ordering::Relaxed) {
            let mut start = *last;
            if doer.go(*position)? {
                start = clock::now(kind);
            }
            let verdict = doer.act()?;
            *position += 1;
            let end = clock::now(kind);
            *last = end;
            match verdict {
                Verdict::Done => {
                    report.items += 1;
                    slot.items.store(report.items, Ordering::Relaxed);
                    if record {
                        self.recorder.add(0, between(start, end), end);
                    }
                }
                Verdict::Surprise(surprise) => note(self.surprises, surprise, || doer.path()),
            }
            if doer.check() {
                if quits && doer.wrong_cells() > 0 {
                    return Err(doer.wrong_data());
                }
                *last = clock::now(kind);
            }
            if end >= deadline {
                break;
            }
        }
        Ok(())
    }
}
