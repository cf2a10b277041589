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
use crate::tree::trouble::{Verdict, note};
use crate::{EngineError, PhaseJob, Point, Surprises};

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
    /// The files of the findings by their numbers, where the numbers do not tell them.
    pub(crate) paths: Vec<(u32, PathBuf)>,
    pub(crate) allocated_bytes: u64,
}

/// How a task goes through a phase, whatever it does there.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Way<'w> {
    pub(crate) job: &'w PhaseJob<'w>,
    pub(crate) ending: Ending,
    /// Length of an interval of the series.
    pub(crate) interval_ns: u64,
    /// Operations that it does unless the clock ends it.
    pub(crate) limit: u64,
}

/// A worker's life with `doer`. Its error goes to `common`.
pub(crate) fn work<'a, D: Doer, const N: usize>(
    common: &Common<'_>,
    way: Way<'_>,
    mut doer: D,
    seat: Seat<'a, N>,
    mut course: Course<'_>,
) -> Option<Harvest<'a, N>> {
    let Seat { index, mut recorder } = seat;
    let mut surprises = Surprises::default();
    let (task, file) = doer.task();
    let mut report = TaskReport { task, file, ..TaskReport::default() };
    let slot = &common.slots[index];
    let beat = Beat { common, way, slot, recorder: &mut recorder, surprises: &mut surprises };
    match beat.live(&mut doer, &mut report, &mut course) {
        Ok(()) => {
            course.pass(Point::Closed);
            let Yield { findings, paths, read_bytes, write_bytes, allocated_bytes } = doer.give();
            (report.read_bytes, report.write_bytes) = (read_bytes, write_bytes);
            let report =
                WorkerReport { tasks: vec![report], recorder, findings, unstarted: 0, notes: Vec::new() };
            Some(Harvest { report, surprises, paths, allocated_bytes })
        }
        Err(error) => {
            // Before the course is dropped: the others learn of it at their next item or gate.
            common.fail(error);
            None
        }
    }
}

/// What came of a task's operations beside their times.
#[derive(Debug, Default)]
pub(crate) struct Yield {
    pub(crate) findings: Findings,
    /// The files of the findings by their numbers, where the numbers do not tell them.
    pub(crate) paths: Vec<(u32, PathBuf)>,
    pub(crate) read_bytes: u64,
    pub(crate) write_bytes: u64,
    pub(crate) allocated_bytes: u64,
}

/// What a task does, one operation after the other.
pub(crate) trait Doer {
    /// Its number in the whole run, and that of the task whose items it touches.
    fn task(&self) -> (u32, u32);

    /// Before the phase is timed, for all tasks before any of them starts.
    fn prepare(&mut self) -> Result<(), EngineError>;

    /// When the phase has started.
    fn enter(&mut self, surprises: &mut Surprises) -> Result<(), EngineError>;

    /// After its last operation, in the time of the phase.
    fn finish(&mut self, _surprises: &mut Surprises) -> Result<(), EngineError> {
        Ok(())
    }

    /// Goes to operation number `position`. Says whether that took time that is not the storage's.
    fn go(&mut self, position: u64) -> Result<bool, EngineError>;

    /// Does it.
    fn act(&mut self) -> Result<Verdict, EngineError>;

    /// The kind of operation that it is at, as a place among those of the recorder.
    fn kind(&self) -> usize {
        0
    }

    /// Whether the clock may end the phase after `done` operations.
    fn may_end(&self, _done: u64) -> bool {
        true
    }

    /// Compares what was read. Says whether something was, which took time.
    fn check(&mut self) -> bool;

    /// The first wrong data that was found, as an error.
    fn wrong_data(&self) -> Option<EngineError>;

    /// What it works at, for people.
    fn path(&self) -> PathBuf;

    /// When all tasks have done everything, where they meet for that.
    fn leave(&mut self, _surprises: &mut Surprises) -> Result<(), EngineError> {
        Ok(())
    }

    /// What came of it all.
    fn give(self) -> Yield;
}

/// The task's way through the phase.
struct Beat<'w, 'a, const N: usize> {
    common: &'w Common<'w>,
    way: Way<'w>,
    slot: &'w Slot,
    recorder: &'w mut Recorder<'a, N>,
    surprises: &'w mut Surprises,
}

impl<const N: usize> Beat<'_, '_, N> {
    fn live<D: Doer>(
        mut self,
        doer: &mut D,
        report: &mut TaskReport,
        course: &mut Course<'_>,
    ) -> Result<(), EngineError> {
        let (common, way) = (self.common, self.way);
        doer.prepare()?;
        course.pass(Point::Ready);
        course.pass(Point::Start);
        if common.is_abandoned() {
            return Ok(());
        }
        let scale = common.scale();
        self.recorder.start(scale, common.start(), scale.ticks(way.interval_ns));
        let mut last = clock::now(common.kind);
        (report.open, report.io.0) = ((last, last), last);
        doer.enter(self.surprises)?;
        let mut position = 0;
        let deadline = match way.ending {
            Ending::Stonewall { deadline_ns, .. } => last.saturating_add(scale.ticks(deadline_ns)),
            _ => u64::MAX,
        };
        self.go_on(doer, &mut position, (way.limit, deadline), &mut last, report)?;
        if let Ending::Stonewall { wear_out, .. } = way.ending {
            report.stonewall = Some((last, report.items));
            if wear_out {
                common.offer_most(position);
                course.pass(Point::Stonewall);
                last = clock::now(common.kind);
                let most = common.most().min(way.limit);
                self.go_on(doer, &mut position, (most, u64::MAX), &mut last, report)?;
            }
        }
        doer.finish(self.surprises)?;
        last = clock::now(common.kind);
        common.task_done(last);
        report.io.1 = last;
        report.close = (last, last);
        if way.job.workload.syncs_all() {
            rustix::fs::sync();
            report.close.1 = clock::now(common.kind);
        }
        course.pass(Point::Transferred);
        doer.leave(self.surprises)
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
        let Self { common, way, slot, .. } = *self;
        let (stop, kind, record) = (common.stop(), common.kind, way.job.instrument);
        let quits = way.job.workload.quit_on_error;
        let task = doer.task().0;
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
                        self.recorder.add(doer.kind(), between(start, end), end);
                        self.recorder.keep(task, doer.kind(), start, end, *position - 1);
                    }
                }
                Verdict::Surprise(surprise) => note(self.surprises, surprise, || doer.path()),
            }
            if doer.check() {
                if quits && let Some(error) = doer.wrong_data() {
                    return Err(error);
                }
                *last = clock::now(kind);
            }
            if end >= deadline && doer.may_end(*position) {
                break;
            }
        }
        Ok(())
    }
}
