//! A worker that does one operation at a time in its own thread.

use std::path::PathBuf;
use std::sync::atomic::Ordering;

use crate::data::check::CheckResults;
use crate::phase::barrier::BarrierGuard;
use crate::phase::clock::{self, between};
use crate::phase::common::Common;
use crate::phase::controls::WorkerCounters;
use crate::recording::account::{TaskReport, WorkerReport};
use crate::recording::series::Recorder;
use crate::tree::trouble::{OpOutcome, note};
use crate::{EngineError, PhaseJob, Point, Surprises};

/// Input of a worker.
pub(crate) struct WorkerInput<'a, const N: usize> {
    /// The task's index among the tasks of the process.
    pub(crate) index: usize,
    pub(crate) recorder: Recorder<'a, N>,
}

/// Result of a worker.
#[derive(Debug)]
pub(crate) struct WorkerResult<'a, const N: usize> {
    pub(crate) report: WorkerReport<'a, N>,
    pub(crate) surprises: Surprises,
    /// Paths of the findings by file number, if the number does not determine the path.
    pub(crate) paths: Vec<(u32, PathBuf)>,
    pub(crate) allocated_bytes: u64,
    /// Number of names that a search has found.
    pub(crate) found: u64,
}

/// What a task needs to run a phase, whatever its kind of work.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TaskContext<'w> {
    pub(crate) job: &'w PhaseJob<'w>,
    /// Length of an interval of the series.
    pub(crate) interval_ns: u64,
    /// Number of operations unless the clock ends the phase.
    pub(crate) limit: u64,
}

/// Runs a worker with `runner`. An error is stored in `common`.
pub(crate) fn work<'a, D: OpRunner, const N: usize>(
    common: &Common<'_>,
    context: TaskContext<'_>,
    mut runner: D,
    input: WorkerInput<'a, N>,
    mut barrier: BarrierGuard<'_>,
) -> Option<WorkerResult<'a, N>> {
    let WorkerInput { index, mut recorder } = input;
    let mut surprises = Surprises::default();
    let (task, file) = runner.task();
    let mut report = TaskReport { task, file, ..TaskReport::default() };
    let counters = &common.counters[index];
    let task_loop =
        TaskLoop { common, context, counters, recorder: &mut recorder, surprises: &mut surprises };
    match task_loop.live(&mut runner, &mut report, &mut barrier) {
        Ok(()) => {
            barrier.finish();
            let OpCounters { findings, paths, read_bytes, write_bytes, allocated_bytes, found, continued } =
                runner.give();
            common.continued.fetch_add(continued, Ordering::Relaxed);
            (report.read_bytes, report.write_bytes) = (read_bytes, write_bytes);
            let report =
                WorkerReport { tasks: vec![report], recorder, findings, unstarted: 0, notes: Vec::new() };
            Some(WorkerResult { report, surprises, paths, allocated_bytes, found })
        }
        Err(error) => {
            // Done before the barrier guard is dropped, so that the others see the failure at their next
            // item or barrier.
            common.fail(error);
            None
        }
    }
}

/// Results of a task's operations, apart from their times.
#[derive(Debug, Default)]
pub(crate) struct OpCounters {
    pub(crate) findings: CheckResults,
    /// Paths of the findings by file number, if the number does not determine the path.
    pub(crate) paths: Vec<(u32, PathBuf)>,
    pub(crate) read_bytes: u64,
    pub(crate) write_bytes: u64,
    pub(crate) allocated_bytes: u64,
    pub(crate) found: u64,
    /// Number of files for which a short transfer was continued.
    pub(crate) continued: u64,
}

/// The operations of a task, one after the other.
pub(crate) trait OpRunner {
    /// The task's number in the whole run, and that of the owner of its items.
    fn task(&self) -> (u32, u32);

    /// Called before the timed phase, for all tasks before any of them starts.
    fn prepare(&mut self) -> Result<(), EngineError>;

    /// Called when the phase has started.
    fn enter(&mut self, surprises: &mut Surprises) -> Result<(), EngineError>;

    /// Called after the last operation, within the timed phase.
    fn finish(&mut self, _surprises: &mut Surprises) -> Result<(), EngineError> {
        Ok(())
    }

    /// Advances to operation number `position`. Returns whether that took time that is not storage time.
    fn go(&mut self, position: u64) -> Result<bool, EngineError>;

    /// Whether there is another operation, if the number of operations is not known in advance.
    fn more(&mut self) -> Result<bool, EngineError> {
        Ok(true)
    }

    /// Executes the current operation.
    fn act(&mut self) -> Result<OpOutcome, EngineError>;

    /// The kind of the current operation, as an index among those of the recorder.
    fn kind(&self) -> usize {
        0
    }

    /// Whether the clock may end the phase after `done` operations.
    fn may_end(&self, _done: u64) -> bool {
        true
    }

    /// Checks the data read. Returns whether there was any, in which case the check took time.
    fn check(&mut self) -> bool;

    /// The first wrong data found, as an error.
    fn wrong_data(&self) -> Option<EngineError>;

    /// The path of the current item, for messages.
    fn path(&self) -> PathBuf;

    /// Called when all tasks are done, if they synchronise for that.
    fn leave(&mut self, _surprises: &mut Surprises) -> Result<(), EngineError> {
        Ok(())
    }

    /// Returns the results.
    fn give(self) -> OpCounters;
}

/// The operation loop of a task.
struct TaskLoop<'w, 'a, const N: usize> {
    common: &'w Common<'w>,
    context: TaskContext<'w>,
    counters: &'w WorkerCounters,
    recorder: &'w mut Recorder<'a, N>,
    surprises: &'w mut Surprises,
}

impl<const N: usize> TaskLoop<'_, '_, N> {
    fn live<D: OpRunner>(
        mut self,
        runner: &mut D,
        report: &mut TaskReport,
        barrier: &mut BarrierGuard<'_>,
    ) -> Result<(), EngineError> {
        let (common, context) = (self.common, self.context);
        runner.prepare()?;
        barrier.pass(Point::Ready);
        barrier.pass(Point::Start);
        if common.is_abandoned() {
            return Ok(());
        }
        let scale = common.scale();
        self.recorder.start(scale, common.start(), scale.ticks(context.interval_ns));
        let mut last = clock::now(common.kind);
        (report.open, report.io.0) = ((last, last), last);
        runner.enter(self.surprises)?;
        barrier.pass(Point::Dealt);
        let mut position = 0;
        let ending = context.job.ending();
        let deadline = ending.deadline(last, scale, None);
        self.go_on(runner, &mut position, (context.limit, deadline), &mut last, report)?;
        report.stonewall = ending.at_stonewall(last, report.items);
        if let Some(most) = ending.agree([position], common, barrier) {
            last = clock::now(common.kind);
            self.go_on(runner, &mut position, (most.min(context.limit), u64::MAX), &mut last, report)?;
        }
        runner.finish(self.surprises)?;
        last = clock::now(common.kind);
        common.task_done(last);
        report.io.1 = last;
        report.close = (last, last);
        if context.job.workload.syncs_all() {
            rustix::fs::sync();
            report.close.1 = clock::now(common.kind);
        }
        barrier.pass(Point::Transferred);
        runner.leave(self.surprises)
    }

    /// Runs operations from `position` on, until the limit is reached or an operation ends at or after
    /// the deadline.
    #[inline(never)]
    fn go_on<D: OpRunner>(
        &mut self,
        runner: &mut D,
        position: &mut u64,
        (limit, deadline): (u64, u64),
        last: &mut u64,
        report: &mut TaskReport,
    ) -> Result<(), EngineError> {
        let Self { common, context, counters, .. } = *self;
        let (stop, kind, record) = (common.stop(), common.kind, context.job.instrument);
        let quits = context.job.workload.quit_on_error;
        let task = runner.task().0;
        while *position < limit && !stop.load(Ordering::Relaxed) {
            let mut start = *last;
            if runner.go(*position)? {
                start = clock::now(kind);
            }
            if !runner.more()? {
                break;
            }
            let verdict = runner.act()?;
            *position += 1;
            let end = clock::now(kind);
            *last = end;
            match verdict {
                OpOutcome::Done => {
                    report.items += 1;
                    counters.items.store(report.items, Ordering::Relaxed);
                    if record {
                        self.recorder.add(runner.kind(), between(start, end), end);
                        self.recorder.keep(task, runner.kind(), start, end, *position - 1);
                    }
                }
                OpOutcome::LeftOut => {}
                OpOutcome::Surprise(surprise) => note(self.surprises, surprise, || runner.path()),
            }
            if runner.check() {
                if quits && let Some(error) = runner.wrong_data() {
                    return Err(error);
                }
                *last = clock::now(kind);
            }
            if end >= deadline && runner.may_end(*position) {
                break;
            }
        }
        Ok(())
    }
}
