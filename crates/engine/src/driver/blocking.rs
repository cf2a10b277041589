//! Runs tasks that do one transfer at a time. Each task has a thread, and the same loop serves every backend
//! with synchronous calls.

use std::iter::StepBy;
use std::ops::Range;
use std::sync::atomic::Ordering;

use crate::backend::contract::SyncBackend;
use crate::data::buffer;
use crate::data::check::{CheckResults, Expected, check};
use crate::data::offsets::{Mixture, Offsets};
use crate::data::stamp::PatternWriter;
use crate::driver::transfer::{Short, give_up, wrong_data};
use crate::phase::barrier::BarrierGuard;
use crate::phase::clock::{Clock, between};
use crate::phase::controls::WorkerCounters;
use crate::phase::crew;
use crate::phase::pace::{Schedule, TimerSlack, wait_until};
use crate::phase::rules::{Rules, TaskPlan};
use crate::phase::shared::Shared;
use crate::recording::account::{TaskReport, WorkerReport};
use crate::recording::series::Recorder;
use crate::{EngineError, Errno, Point};
use plan::Operation;

/// Without recording, the clock is read once per this many transfers.
const CLOCK_EVERY: u64 = 64;

/// Why the loop ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LoopEnd {
    /// The number of transfers.
    Volume,
    Deadline,
    Stopped,
}

/// One running task.
struct Task<'t, M> {
    plan: &'t TaskPlan,
    rules: &'t Rules<'t>,
    shared: &'t Shared<'t>,
    counters: &'t WorkerCounters,
    backend: M,
    buffer: &'t mut [u8],
    /// Size of a transfer in bytes, which may be smaller than the buffer.
    length: usize,
    writer: PatternWriter,
    offsets: Offsets,
    mixture: Mixture,
    schedule: Option<Schedule>,
    reads: u64,
    writes: u64,
    /// End of the last transfer, in ticks.
    last: u64,
}

/// Runs all tasks of this process: each in its own thread, or in turn on as many threads as there are
/// recorders.
pub(crate) fn run<'a, C: Clock, M: SyncBackend, const RECORD: bool>(
    shared: &Shared<'_>,
    clock: C,
    buffers: Vec<&mut [u8]>,
    recorders: Vec<Recorder<'a>>,
) -> Vec<WorkerReport<'a>> {
    let workers = recorders.len();
    let shares = (0..).zip(buffers.into_iter().zip(recorders)).map(|(number, (buffer, recorder))| {
        // Each thread gets every `workers`-th task, so that the tasks running at once are spread over
        // all targets.
        Share { tasks: (number..shared.tasks.len()).step_by(workers), buffer, recorder }
    });
    crew::run(shared, shares.collect(), |share, barrier| work::<C, M, RECORD>(shared, clock, share, barrier))
}

/// Input of a worker.
struct Share<'b, 'a> {
    /// Indices of the worker's tasks among those of the process.
    tasks: StepBy<Range<usize>>,
    buffer: &'b mut [u8],
    recorder: Recorder<'a>,
}

/// Runs a worker. Its error goes to `shared`.
fn work<'a, C: Clock, M: SyncBackend, const RECORD: bool>(
    shared: &Shared<'_>,
    clock: C,
    share: Share<'_, 'a>,
    mut barrier: BarrierGuard<'_>,
) -> Option<WorkerReport<'a>> {
    let Share { tasks, buffer, mut recorder } = share;
    let mut findings = CheckResults::default();
    let mut reports = Vec::with_capacity(tasks.len());
    let log = WorkerLog { recorder: &mut recorder, findings: &mut findings, reports: &mut reports };
    match live::<C, M, RECORD>(shared, clock, tasks, buffer, log, &mut barrier) {
        Ok(unstarted) => {
            barrier.finish();
            Some(WorkerReport { tasks: reports, recorder, findings, unstarted, notes: Vec::new() })
        }
        Err(error) => {
            // Done before the barrier guard is dropped, so that the others see it at their next
            // transfer or barrier.
            shared.fail(error);
            None
        }
    }
}

/// Records of a worker.
struct WorkerLog<'w, 'a> {
    recorder: &'w mut Recorder<'a>,
    findings: &'w mut CheckResults,
    reports: &'w mut Vec<TaskReport>,
}

/// Prepares the worker, then opens, transfers and closes for each task. Returns the number of transfers of
/// an open loop that were never started.
fn live<C: Clock, M: SyncBackend, const RECORD: bool>(
    shared: &Shared<'_>,
    clock: C,
    tasks: StepBy<Range<usize>>,
    buffer: &mut [u8],
    mut log: WorkerLog<'_, '_>,
    barrier: &mut BarrierGuard<'_>,
) -> Result<u64, EngineError> {
    let rules = &shared.rules;
    buffer::touch(buffer);
    let file = tasks.clone().next().map_or(0, |first| shared.tasks[first].file.index);
    let mut writer = rules.pattern.as_ref().map(|pattern| pattern.writer(buffer, file)).unwrap_or_default();
    let punctual = rules.pace_ns.is_some().then(TimerSlack::new);
    barrier.pass(Point::Ready);
    barrier.pass(Point::Start);
    if shared.is_abandoned() {
        return Ok(0);
    }
    log.recorder.start(shared.scale(), shared.start(), shared.scale().ticks(rules.interval_ns()));
    let mut unstarted = 0;
    for task in tasks {
        let (plan, counters) = (&shared.tasks[task], &shared.counters[task]);
        let mut report = TaskReport { task: plan.task, file: plan.file.index, ..TaskReport::default() };
        if rules.in_turn && shared.stop().load(Ordering::Relaxed) {
            let now = clock.now();
            (report.open, report.io, report.close) = ((now, now), (now, now), (now, now));
            log.reports.push(report);
            continue;
        }
        if let Some(pattern) = &rules.pattern {
            writer.turn_to(pattern, buffer, plan.file.index);
        }
        let task_buffer = TaskBuffer { counters, buffer: &mut *buffer, writer };
        (unstarted, writer) =
            pursue::<C, M, RECORD>(shared, clock, plan, task_buffer, &mut report, &mut log, barrier)?;
        log.reports.push(report);
    }
    drop(punctual);
    Ok(unstarted)
}

/// A task's buffer, borrowed from its worker.
struct TaskBuffer<'w> {
    counters: &'w WorkerCounters,
    buffer: &'w mut [u8],
    writer: PatternWriter,
}

/// Opens, transfers and closes for one task. Returns the number of transfers of an open loop that were never
/// started, and the final state of the pattern writer.
fn pursue<C: Clock, M: SyncBackend, const RECORD: bool>(
    shared: &Shared<'_>,
    clock: C,
    plan: &TaskPlan,
    task_buffer: TaskBuffer<'_>,
    report: &mut TaskReport,
    log: &mut WorkerLog<'_, '_>,
    barrier: &mut BarrierGuard<'_>,
) -> Result<(u64, PatternWriter), EngineError> {
    let rules = &shared.rules;
    let TaskBuffer { counters, buffer, writer } = task_buffer;
    report.open.0 = clock.now();
    let backend = M::open(plan, rules)?;
    report.open.1 = clock.now();
    barrier.pass(Point::Opened);
    let schedule = rules
        .pace_ns
        .map(|pace| Schedule::new(shared.base(), pace, shared.scale(), plan.task, rules.all_tasks));
    let mut task = Task {
        plan,
        rules,
        shared,
        counters,
        backend,
        // The null engine's buffer has its own size.
        length: if M::MOVES { rules.transfer } else { buffer.len() },
        buffer,
        writer,
        offsets: Offsets::new(&plan.region, plan.whole),
        mixture: Mixture::new(rules.read_percent, plan.task),
        schedule,
        reads: 0,
        writes: 0,
        last: clock.now(),
    };
    if rules.primes > 0 {
        log.recorder.touch();
        (0..rules.primes).for_each(|_| task.prime());
        task.last = clock.now();
    }
    report.io.0 = task.last;
    let unstarted = task.go::<C, RECORD>(clock, report, log.recorder, log.findings, barrier)?;
    report.io.1 = task.last;
    (report.reads, report.writes) = (task.reads, task.writes);
    let transfer = rules.transfer as u64;
    (report.read_bytes, report.write_bytes) = (task.reads * transfer, task.writes * transfer);
    barrier.pass(Point::Transferred);
    report.close.0 = clock.now();
    task.backend.close(plan, rules.sync_at_close)?;
    report.close.1 = if rules.untimed_close { report.close.0 } else { clock.now() };
    Ok((unstarted, task.writer))
}

impl<M: SyncBackend> Task<'_, M> {
    /// Reads the task's part once, untimed. If the phase writes, also writes the first transfer back unchanged. Data
    /// that does not exist yet is skipped.
    #[cold]
    fn prime(&mut self) {
        let mut offsets = Offsets::new(&self.plan.region, self.plan.whole);
        // The data to be written stays in the task's own buffer.
        let mut writes = self.rules.writes;
        let mut scratch = if self.rules.writes { vec![0; self.length] } else { Vec::new() };
        for _ in 0..self.rules.job.workload.geometry.transfers_per_task() {
            let buffer = if self.rules.writes { &mut scratch[..] } else { &mut self.buffer[..self.length] };
            let offset = offsets.next();
            let whole = self.backend.read(buffer, offset) == Ok(buffer.len());
            if std::mem::replace(&mut writes, false) && whole {
                let _ = self.backend.write(buffer, offset);
            }
        }
        std::hint::black_box(self.buffer.iter().fold(0_u8, |sum, byte| sum ^ byte));
    }

    /// Runs all transfers of the phase, including stonewall and wear-out.
    fn go<C: Clock, const RECORD: bool>(
        &mut self,
        clock: C,
        report: &mut TaskReport,
        recorder: &mut Recorder<'_>,
        findings: &mut CheckResults,
        barrier: &mut BarrierGuard<'_>,
    ) -> Result<u64, EngineError> {
        let ending = self.rules.ending;
        let schedule = self.schedule.as_ref().zip(self.rules.pace_ns);
        let end = ending.deadline(self.last, self.shared.scale(), schedule);
        let left = self.transfer::<C, RECORD>(clock, self.plan.limit, end, recorder, findings)?;
        report.stonewall = ending.at_stonewall(self.last, self.reads + self.writes);
        let mut unstarted = 0;
        if left == LoopEnd::Deadline
            && let Some(schedule) = &self.schedule
        {
            unstarted = schedule.left_before(end);
        }
        if let Some(most) = ending.agree([self.reads + self.writes], self.shared, barrier) {
            self.last = clock.now();
            self.transfer::<C, RECORD>(clock, most, u64::MAX, recorder, findings)?;
            unstarted = 0;
        }
        self.shared.task_done(self.last);
        Ok(unstarted)
    }

    /// The hot loop: transfers until `limit` of them are done or one ends at or after `deadline`.
    #[inline(never)]
    fn transfer<C: Clock, const RECORD: bool>(
        &mut self,
        clock: C,
        limit: u64,
        deadline: u64,
        recorder: &mut Recorder<'_>,
        findings: &mut CheckResults,
    ) -> Result<LoopEnd, EngineError> {
        let stop = self.shared.stop();
        let rules = self.rules;
        let expected = rules.noise.as_ref().map(|table| Expected {
            table,
            file: self.plan.file.index,
            generations: rules.generations(),
        });
        let mixed = rules.reads && rules.writes;
        let mut done = self.reads + self.writes;
        while done < limit {
            if stop.load(Ordering::Relaxed) {
                return Ok(LoopEnd::Stopped);
            }
            let mut intended = self.last;
            let mut start = self.last;
            if self.schedule.is_some() {
                match self.next_start(clock, deadline) {
                    Ok(begin) => (intended, start) = begin,
                    Err(left) => return Ok(left),
                }
            }
            let offset = self.offsets.next();
            let writes = if mixed { self.mixture.next_writes() } else { rules.writes };
            if writes {
                let range = match &rules.pattern {
                    Some(pattern) => self.writer.place(pattern, self.buffer, offset),
                    None => 0..self.length,
                };
                if RECORD && M::MOVES {
                    start = clock.now();
                    if self.schedule.is_none() {
                        intended = start;
                    }
                }
                let moved = self.backend.write(&self.buffer[range.clone()], offset);
                if moved != Ok(self.length) {
                    self.finish(Operation::Write, offset, range, moved)?;
                }
                if rules.sync_per_write {
                    self.sync(offset)?;
                }
                self.writes += 1;
                self.counters.writes.store(self.writes, Ordering::Relaxed);
            } else {
                if rules.forgets {
                    self.backend.forget(offset, self.length);
                    start = clock.now();
                    if self.schedule.is_none() {
                        intended = start;
                    }
                }
                let moved = self.backend.read(&mut self.buffer[..self.length], offset);
                if moved != Ok(self.length) {
                    self.finish(Operation::Read, offset, 0..self.length, moved)?;
                }
                self.reads += 1;
                self.counters.reads.store(self.reads, Ordering::Relaxed);
            }
            done += 1;
            if RECORD || done.is_multiple_of(CLOCK_EVERY) || self.schedule.is_some() {
                self.last = clock.now();
            }
            let end = self.last;
            if RECORD {
                let direction = usize::from(writes);
                recorder.add(direction, between(intended, end), end);
                recorder.keep(self.plan.task, direction, start, end, offset);
                if self.schedule.is_some() {
                    recorder.add_service(direction, between(start, end));
                }
            }
            if let Some(expected) = &expected
                && !writes
            {
                check(&self.buffer[..self.length], offset, self.plan.task, expected, findings);
                if rules.quit_on_error && findings.wrong_cells > 0 {
                    return Err(self.wrong_data(findings));
                }
                if RECORD {
                    self.last = clock.now();
                }
            }
            if end >= deadline && self.schedule.is_none() {
                return Ok(LoopEnd::Deadline);
            }
        }
        if !RECORD {
            self.last = clock.now();
        }
        Ok(LoopEnd::Volume)
    }

    /// In an open loop: waits for the next intended start. Returns that time and the actual start, or
    /// the reason why there is none.
    ///
    /// Every transfer due before the deadline is made, however late, because late transfers reveal a
    /// stall. This continues for at most the same time again.
    fn next_start<C: Clock>(&mut self, clock: C, deadline: u64) -> Result<(u64, u64), LoopEnd> {
        let Some(schedule) = &mut self.schedule else { return Ok((self.last, self.last)) };
        let intended = schedule.next();
        if intended >= deadline {
            // The phase lasts until its deadline, even if its last transfer ended earlier.
            wait_until(clock, self.shared.scale(), deadline, self.shared.stop());
            self.last = clock.now();
            return Err(LoopEnd::Deadline);
        }
        wait_until(clock, self.shared.scale(), intended, self.shared.stop());
        if self.shared.stop().load(Ordering::Relaxed) {
            return Err(LoopEnd::Stopped);
        }
        let now = clock.now();
        if now >= give_up(self.shared.base(), deadline) {
            return Err(LoopEnd::Deadline);
        }
        schedule.advance();
        Ok((intended, now))
    }

    /// Completes a transfer of `range` of the buffer that was interrupted, short or rejected.
    #[cold]
    #[inline(never)]
    fn finish(
        &mut self,
        operation: Operation,
        offset: u64,
        range: Range<usize>,
        first: Result<usize, Errno>,
    ) -> Result<(), EngineError> {
        let asked = self.length;
        let mut moved = 0;
        let mut outcome = first;
        let mut is_continued = false;
        loop {
            moved += match outcome {
                Ok(bytes) => {
                    let short =
                        Short { path: &self.plan.file.path, operation, offset, asked, moved: moved + bytes };
                    short.judge(bytes, self.rules.single_attempt, self.backend.length())?;
                    if moved + bytes < asked && !std::mem::replace(&mut is_continued, true) {
                        self.shared.continued.fetch_add(1, Ordering::Relaxed);
                    }
                    bytes
                }
                Err(Errno(libc::EINTR | libc::EAGAIN)) if !self.shared.stop().load(Ordering::Relaxed) => 0,
                Err(errno) => {
                    let short = Short { path: &self.plan.file.path, operation, offset, asked, moved };
                    return Err(short.failed(errno));
                }
            };
            if moved == asked {
                return Ok(());
            }
            let at = offset + moved as u64;
            let rest = &mut self.buffer[range.start + moved..range.end];
            outcome = match operation {
                Operation::Read => self.backend.read(rest, at),
                _ => self.backend.write(rest, at),
            };
        }
    }

    fn sync(&mut self, offset: u64) -> Result<(), EngineError> {
        loop {
            match self.backend.sync(offset, self.length) {
                Ok(()) => return Ok(()),
                Err(Errno(libc::EINTR)) => {}
                Err(errno) => return Err(crate::system::file::call("fsync", &self.plan.file.path, errno)),
            }
        }
    }

    #[cold]
    fn wrong_data(&self, findings: &CheckResults) -> EngineError {
        wrong_data(findings, self.rules.generations(), self.plan)
    }
}
