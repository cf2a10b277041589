//! Backends with a queue: few threads carry all tasks, each with `depth` transfers in flight.
//!
//! In a closed loop the clock is read twice per round: just before requests are submitted, as the start of
//! all of them, and just after completions were reaped, as their end. This is exactly what an application
//! sees of the queue.

#![expect(unsafe_code, reason = "buffers that the kernel fills")]

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::os::fd::OwnedFd;
use std::sync::atomic::Ordering;

use crate::backend::contract::{BufferMemory, Queue, QueuedBackend};
use crate::data::buffer;
use crate::data::check::CheckResults;
use crate::data::stamp::PatternWriter;
use crate::driver::requests::{
    Completed, Fresh, Lane, Parts, RequestSlot, RoundConstants, Tally, issue, narrow, push_sync, slot_of,
    turn,
};
use crate::driver::transfer::give_up;
use crate::phase::barrier::BarrierGuard;
use crate::phase::clock::Clock;
use crate::phase::controls::WorkerCounters;
use crate::phase::crew;
use crate::phase::pace::{Schedule, TimerSlack, longest_wait, wait_until};
use crate::phase::rules::TaskPlan;
use crate::phase::shared::Shared;
use crate::recording::account::{TaskReport, WorkerReport};
use crate::recording::series::Recorder;
use crate::system::file;
use crate::{EngineError, Errno, Note, Point};

/// Buffers of the tasks running at once in this process, `depth` for each.
pub(crate) struct Pool<'m> {
    pub(crate) buffers: &'m mut [u8],
    /// Distance between two buffers.
    pub(crate) stride: usize,
    /// Maximum number of tasks that a worker runs at once.
    pub(crate) at_once: usize,
    pub(crate) depth: u32,
    /// Whether the user asked for the backend by name.
    pub(crate) required: bool,
}

/// Input of a worker.
struct Share<'s, 'a> {
    tasks: &'s [TaskPlan],
    counters: &'s WorkerCounters,
    buffers: &'a mut [u8],
    recorder: Recorder<'a>,
}

/// Runs all tasks of this process on few threads.
pub(crate) fn run<'a, C: Clock, B: QueuedBackend, const RECORD: bool>(
    shared: &Shared<'_>,
    clock: C,
    pool: Pool<'a>,
    recorders: Vec<Recorder<'a>>,
) -> Vec<WorkerReport<'a>> {
    let Pool { mut buffers, stride, at_once, depth, required } = pool;
    let per_task = stride * depth as usize;
    let processes = u64::from(shared.rules.job.processes_here);
    let locked = buffers.len() as u64 * processes;
    let (count, workers) = (shared.tasks.len(), recorders.len());
    let mut shares = Vec::with_capacity(workers);
    let mut from = 0;
    for ((number, recorder), counters) in (1..).zip(recorders).zip(&*shared.counters) {
        let to = count * number / workers;
        let (own, rest) = buffers.split_at_mut(at_once.min(to - from) * per_task);
        buffers = rest;
        shares.push(Share { tasks: &shared.tasks[from..to], counters, buffers: own, recorder });
        from = to;
    }
    crew::run(shared, shares, |share, mut barrier| {
        let Share { tasks, counters, buffers, mut recorder } = share;
        let mut log = WorkerLog { findings: CheckResults::default(), notes: Vec::new(), reports: Vec::new() };
        let memory = SlotMemory { buffers, stride, depth, locked: (locked, required) };
        match live::<C, B, RECORD>(
            shared,
            clock,
            tasks,
            counters,
            memory,
            &mut recorder,
            &mut log,
            &mut barrier,
        ) {
            Ok(unstarted) => {
                barrier.finish();
                let WorkerLog { findings, notes, reports } = log;
                Some(WorkerReport { tasks: reports, recorder, findings, unstarted, notes })
            }
            Err(error) => {
                shared.fail(error);
                None
            }
        }
    })
}

/// The buffer memory of a worker.
struct SlotMemory<'m> {
    buffers: &'m mut [u8],
    stride: usize,
    depth: u32,
    /// Locked memory needed by all workers of this host, in bytes, and whether the user requires the
    /// backend.
    locked: (u64, bool),
}

/// The records of a worker other than latencies.
struct WorkerLog {
    findings: CheckResults,
    notes: Vec<Note>,
    reports: Vec<TaskReport>,
}

/// Prepares, opens, transfers and closes. Returns the number of transfers of an open loop that were
/// never started.
#[expect(clippy::too_many_arguments, reason = "the parts of a worker, each of which outlives the call")]
fn live<C: Clock, B: QueuedBackend, const RECORD: bool>(
    shared: &Shared<'_>,
    clock: C,
    tasks: &[TaskPlan],
    counters: &WorkerCounters,
    mut memory: SlotMemory<'_>,
    recorder: &mut Recorder<'_>,
    log: &mut WorkerLog,
    barrier: &mut BarrierGuard<'_>,
) -> Result<u64, EngineError> {
    let rules = &shared.rules;
    let depth = memory.depth as usize;
    let count = memory.buffers.len() / memory.stride;
    let requests = count * if rules.sync_per_write { 2 } else { 1 };
    let mut context = B::set_up(requests, &mut log.notes)?;
    let mut writers: Vec<PatternWriter> = (0..)
        .zip(memory.buffers.chunks_mut(memory.stride))
        .map(|(index, buffer): (usize, _)| {
            buffer::touch(buffer);
            let file = tasks[index / depth].file.index;
            let writer =
                rules.pattern.as_ref().map(|pattern| pattern.writer(&mut buffer[..rules.transfer], file));
            writer.unwrap_or_default()
        })
        .collect();
    let ((all_bytes, required), stride) = (memory.locked, memory.stride);
    let buffers = BufferMemory { memory: &mut *memory.buffers, stride, all_bytes, required };
    let queue = B::queue(&mut context, buffers, &mut log.notes)?;
    let punctual = rules.pace_ns.is_some().then(TimerSlack::new);
    barrier.pass(Point::Ready);
    barrier.pass(Point::Start);
    if shared.is_abandoned() {
        return Ok(0);
    }
    recorder.start(shared.scale(), shared.start(), shared.scale().ticks(rules.interval_ns()));
    log.reports.reserve_exact(tasks.len());
    let mut worker = Worker::new(shared, counters, queue, writers.len());
    let mut unstarted = 0;
    for tasks in tasks.chunks((count / depth).max(1)) {
        let from = log.reports.len();
        if from > 0 && shared.stop().load(Ordering::Relaxed) {
            let now = clock.now();
            let times =
                TaskReport { open: (now, now), io: (now, now), close: (now, now), ..TaskReport::default() };
            let report = |task: &TaskPlan| TaskReport { task: task.task, file: task.file.index, ..times };
            log.reports.extend(tasks.iter().map(report));
            continue;
        }
        let mut files = Vec::with_capacity(tasks.len());
        for task in tasks {
            let start = clock.now();
            files.push(file::open(task, rules)?);
            let (task, file) = (task.task, task.file.index);
            let open = (start, clock.now());
            log.reports.push(TaskReport { task, file, open, ..TaskReport::default() });
        }
        barrier.pass(Point::Opened);
        worker.assign(tasks, &mut memory, &mut writers);
        worker.name_files(&files, &mut log.notes);
        let WorkerLog { findings, reports, .. } = log;
        let reports = &mut reports[from..];
        unstarted += worker.transfer_all::<C, RECORD>(clock, recorder, findings, reports, barrier)?;
        barrier.pass(Point::Transferred);
        worker.close(clock, files, reports)?;
    }
    drop(punctual);
    Ok(unstarted)
}

/// A worker and its transfers.
struct Worker<'s, Q: Queue> {
    constants: RoundConstants<'s>,
    queue: Q,
    lanes: Vec<Lane<'s>>,
    slots: Vec<RequestSlot<Q>>,
    fresh: Fresh,
    tally: Tally,
}

/// In an open loop: lanes with a free slot, ordered by their next intended start.
type Due = BinaryHeap<Reverse<(u64, u32)>>;

impl<'s, Q: Queue> Worker<'s, Q> {
    fn new(shared: &'s Shared<'s>, counters: &'s WorkerCounters, queue: Q, count: usize) -> Self {
        Self {
            constants: RoundConstants::new(shared, counters),
            queue,
            lanes: Vec::new(),
            slots: Vec::with_capacity(count),
            fresh: Fresh::new(0),
            tally: Tally::default(),
        }
    }

    /// Assigns the slots to `tasks`. Requires that nothing is in flight.
    fn assign(&mut self, tasks: &'s [TaskPlan], memory: &mut SlotMemory<'_>, writers: &mut [PatternWriter]) {
        let rules = self.constants.rules;
        let depth = memory.depth as usize;
        // The slots of the previous tasks have advanced their pattern writers together with the
        // buffers, so keep them.
        writers.iter_mut().zip(&self.slots).for_each(|(writer, slot)| *writer = slot.writer);
        let writers = &mut writers[..tasks.len() * depth];
        if let Some(pattern) = &rules.pattern {
            for ((index, writer), buffer) in
                writers.iter_mut().enumerate().zip(memory.buffers.chunks_mut(memory.stride))
            {
                writer.turn_to(pattern, &mut buffer[..rules.transfer], tasks[index / depth].file.index);
            }
        }
        let start = memory.buffers.as_mut_ptr();
        let slot = |(index, &writer): (usize, &PatternWriter)| {
            // SAFETY: the memory holds a buffer for each pattern writer, `stride` bytes apart.
            let buffer = unsafe { start.add(index * memory.stride) };
            let group = self.queue.group(index);
            RequestSlot::new(narrow(index / depth), buffer, group, rules.writes, writer)
        };
        self.slots.clear();
        self.slots.extend(writers.iter().enumerate().map(slot));
        self.lanes.clear();
        self.lanes.extend(tasks.iter().map(|plan| Lane::new(plan, rules, memory.depth)));
        self.fresh = Fresh::new(writers.len());
    }

    fn name_files(&mut self, files: &[OwnedFd], notes: &mut Vec<Note>) {
        let names = self.queue.register_files(files, notes);
        for (lane, name) in self.lanes.iter_mut().zip(names) {
            lane.file = name;
        }
        for (index, slot) in self.slots.iter_mut().enumerate() {
            slot.prepare(index, &self.lanes[slot.lane as usize], &self.queue, &self.constants);
        }
    }

    /// Runs all transfers of the phase, including stonewall and wear-out. On return nothing is in flight,
    /// even after an error.
    fn transfer_all<C: Clock, const RECORD: bool>(
        &mut self,
        clock: C,
        recorder: &mut Recorder<'_>,
        findings: &mut CheckResults,
        reports: &mut [TaskReport],
        barrier: &mut BarrierGuard<'_>,
    ) -> Result<u64, EngineError> {
        let rules = self.constants.rules;
        let scale = self.constants.shared.scale();
        let now = clock.now();
        let from = if rules.pace_ns.is_some() { self.constants.shared.base() } else { now };
        for (lane, report) in self.lanes.iter_mut().zip(&mut *reports) {
            let (task, tasks) = (lane.plan.task, rules.all_tasks);
            lane.schedule = rules.pace_ns.map(|pace| Schedule::new(from, pace, scale, task, tasks));
            lane.deadline = rules.ending.deadline(from, scale, lane.schedule.as_ref().zip(rules.pace_ns));
            report.io.0 = now;
            lane.last = now;
        }
        self.drive::<C, RECORD>(clock, recorder, findings)?;
        for (lane, report) in self.lanes.iter().zip(&mut *reports) {
            let (at, transfers) = lane.stonewall.unwrap_or((lane.last, lane.transfers()));
            report.stonewall = rules.ending.at_stonewall(at, transfers);
        }
        let transfers = self.lanes.iter().map(Lane::transfers);
        if let Some(most) = rules.ending.agree(transfers, self.constants.shared, barrier) {
            for lane in &mut self.lanes {
                (lane.limit, lane.deadline, lane.unstarted) = (most, u64::MAX, 0);
            }
            self.constants.last_round = true;
            self.drive::<C, RECORD>(clock, recorder, findings)?;
        }
        for (lane, report) in self.lanes.iter().zip(reports) {
            self.constants.shared.task_done(lane.last);
            report.io.1 = lane.last;
            [report.reads, report.writes] = lane.done;
            [report.read_bytes, report.write_bytes] = lane.done.map(|count| count * rules.transfer as u64);
        }
        Ok(self.lanes.iter().map(|lane| lane.unstarted).sum())
    }

    /// Runs transfers until every lane has ended and nothing is in flight.
    fn drive<C: Clock, const RECORD: bool>(
        &mut self,
        clock: C,
        recorder: &mut Recorder<'_>,
        findings: &mut CheckResults,
    ) -> Result<(), EngineError> {
        let driven = if self.constants.rules.pace_ns.is_some() {
            self.drive_open::<C, RECORD>(clock, recorder, findings)
        } else {
            self.drive_closed::<C, RECORD>(clock, recorder, findings)
        };
        if driven.is_err() {
            self.constants.shared.stop().store(true, Ordering::Relaxed);
            self.drain();
        }
        driven
    }

    /// The parts of the worker that transfers change.
    fn parts(&mut self) -> Parts<'_, 's, Q> {
        let Self { constants, queue, lanes, slots, fresh, tally } = self;
        Parts { constants, queue, lanes, slots, fresh, tally }
    }

    /// Runs a closed loop: a completed slot is reused at once.
    #[inline(never)]
    fn drive_closed<C: Clock, const RECORD: bool>(
        &mut self,
        clock: C,
        recorder: &mut Recorder<'_>,
        findings: &mut CheckResults,
    ) -> Result<(), EngineError> {
        let mut parts = self.parts();
        let hand_over = hand_over(parts.slots.len(), parts.constants.rules.direct);
        for lane in &mut *parts.lanes {
            lane.free.clear();
        }
        for index in 0..parts.slots.len() {
            issue::<C, Q, RECORD>(index, &mut parts, clock)?;
        }
        while parts.tally.under_way > 0 {
            if parts.constants.shared.stop().load(Ordering::Relaxed) {
                parts.lanes.iter_mut().for_each(Lane::end);
            }
            if RECORD {
                parts.fresh.start(parts.slots, clock.now());
            }
            parts.queue.submit_and_wait().map_err(Q::failed)?;
            parts.queue.sync_completions();
            let now = clock.now();
            let mut unsent = 0;
            while let Some((data, result)) = parts.queue.reap() {
                if unsent == hand_over {
                    if RECORD {
                        parts.fresh.start(parts.slots, clock.now());
                    }
                    parts.queue.submit().map_err(Q::failed)?;
                    unsent = 0;
                }
                unsent += 1;
                let next =
                    turn::<C, Q, RECORD, false>(data, result, now, &mut parts, clock, recorder, findings)?;
                if next == Completed::Ours && parts.constants.keeps_passes_apart {
                    begin_pass::<C, Q, RECORD>(slot_of(data), &mut parts, clock)?;
                }
            }
            parts.tally.publish(parts.constants.counters);
            parts.queue.sync_completions();
        }
        Ok(())
    }

    /// Runs an open loop: a free slot is submitted when its lane's next transfer is due.
    #[inline(never)]
    fn drive_open<C: Clock, const RECORD: bool>(
        &mut self,
        clock: C,
        recorder: &mut Recorder<'_>,
        findings: &mut CheckResults,
    ) -> Result<(), EngineError> {
        for lane in &mut self.lanes {
            lane.free.clear();
            lane.queued = false;
        }
        for (index, slot) in (0..).zip(&self.slots) {
            self.lanes[slot.lane as usize].free.push(index);
        }
        let scale = self.constants.shared.scale();
        let mut due = BinaryHeap::with_capacity(self.lanes.len());
        for (number, lane) in (0..).zip(&mut self.lanes) {
            await_turn(lane, number, &mut due);
        }
        let mut parts = self.parts();
        loop {
            issue_due::<C, Q, RECORD>(&mut parts, &mut due, clock)?;
            let next = due.peek().map(|Reverse((intended, _))| *intended);
            if parts.tally.under_way == 0 && next.is_none() {
                break;
            }
            let handed_over = clock.now();
            parts.fresh.start(parts.slots, handed_over);
            let left = next.map(|next| scale.nanos(next.saturating_sub(handed_over)));
            parts.queue.submit_and_wait_for(longest_wait(left.unwrap_or(u64::MAX))).map_err(Q::failed)?;
            parts.queue.sync_completions();
            let now = clock.now();
            while let Some((data, result)) = parts.queue.reap() {
                let next =
                    turn::<C, Q, RECORD, true>(data, result, now, &mut parts, clock, recorder, findings)?;
                if next == Completed::Ours {
                    let index = slot_of(data);
                    let number = parts.slots[index].lane;
                    let lane = &mut parts.lanes[number as usize];
                    lane.free.push(narrow(index));
                    await_turn(lane, number, &mut due);
                }
            }
            parts.tally.publish(parts.constants.counters);
            parts.queue.sync_completions();
        }
        self.wait_for_deadline(clock);
        Ok(())
    }

    /// Waits for the deadline: an open-loop phase lasts until then, even if its last transfer ended
    /// earlier.
    fn wait_for_deadline<C: Clock>(&mut self, clock: C) {
        for lane in &mut self.lanes {
            if lane.deadline != u64::MAX && lane.has_more() {
                wait_until(clock, self.constants.shared.scale(), lane.deadline, self.constants.shared.stop());
                lane.last = lane.last.max(clock.now().min(lane.deadline));
            }
        }
    }

    /// Waits for everything in flight, regardless of its result.
    #[cold]
    fn drain(&mut self) {
        loop {
            self.queue.sync_completions();
            while let Some((data, _)) = self.queue.reap() {
                if self.slots[slot_of(data)].is_end(data, &self.constants) {
                    self.tally.under_way -= 1;
                }
            }
            if self.tally.under_way == 0 || self.queue.submit_and_wait().is_err() {
                return;
            }
        }
    }

    /// Closes all files. If fsyncs are requested, they are in flight together.
    fn close<C: Clock>(
        &mut self,
        clock: C,
        files: Vec<OwnedFd>,
        reports: &mut [TaskReport],
    ) -> Result<(), EngineError> {
        let mut files: Vec<Option<OwnedFd>> = files.into_iter().map(Some).collect();
        if self.constants.rules.sync_at_close {
            let start = clock.now();
            for (index, report) in reports.iter_mut().enumerate() {
                report.close.0 = start;
                push_sync(&mut self.queue, self.lanes[index].file, index as u64)?;
            }
            self.finish_syncs(clock, &mut files, reports)?;
        }
        self.queue.release_files();
        for ((file, report), lane) in files.into_iter().zip(reports).zip(&self.lanes) {
            if let Some(file) = file {
                report.close.0 = clock.now();
                file::close(file, &lane.plan.file.path)?;
                report.close.1 = clock.now();
            }
            if self.constants.rules.untimed_close {
                report.close.1 = report.close.0;
            }
        }
        Ok(())
    }

    /// Waits for the fsyncs of all files, and closes each file when its own fsync is done.
    fn finish_syncs<C: Clock>(
        &mut self,
        clock: C,
        files: &mut [Option<OwnedFd>],
        reports: &mut [TaskReport],
    ) -> Result<(), EngineError> {
        let mut left = files.len();
        let mut first_error = None;
        while left > 0 {
            self.queue.submit_and_wait().map_err(Q::failed)?;
            self.queue.sync_completions();
            while let Some((data, result)) = self.queue.reap() {
                let index = slot_of(data);
                let (file, path) = (self.lanes[index].file, &self.lanes[index].plan.file.path);
                let closed = match Errno(result.wrapping_neg()) {
                    Errno(libc::EINTR | libc::EAGAIN) => {
                        push_sync(&mut self.queue, file, index as u64)?;
                        continue;
                    }
                    errno if errno.0 > 0 => Err(file::call("fsync", path, errno)),
                    _ => files[index].take().map_or(Ok(()), |file| file::close(file, path)),
                };
                left -= 1;
                reports[index].close.1 = clock.now();
                first_error = first_error.or(closed.err());
            }
        }
        first_error.map_or(Ok(()), Err)
    }
}

/// Returns the number of requests to prepare before each submission.
///
/// Completions of a device arrive in batches. If all new requests were submitted at the end of the batch, the
/// device would be idle meanwhile. If they are submitted in parts, the device works on the first while the
/// others are prepared (about a tenth more transfers per second at depth 32). The page cache answers at once,
/// so additional calls would only cost time there.
fn hand_over(under_way: usize, direct: bool) -> usize {
    const PARTS: usize = 8;
    if direct { (under_way / PARTS).max(1) } else { usize::MAX }
}

/// Begins the next pass of the slot's lane once nothing of the previous pass is in flight. Uses this slot and
/// the waiting ones.
fn begin_pass<C: Clock, Q: Queue, const RECORD: bool>(
    index: usize,
    parts: &mut Parts<'_, '_, Q>,
    clock: C,
) -> Result<(), EngineError> {
    let number = parts.slots[index].lane as usize;
    parts.lanes[number].free.push(narrow(index));
    if parts.lanes[number].under_way == 0 {
        for index in std::mem::take(&mut parts.lanes[number].free) {
            issue::<C, Q, RECORD>(index as usize, parts, clock)?;
        }
    }
    Ok(())
}

/// In an open loop: queues all transfers that are due and have a free slot.
fn issue_due<C: Clock, Q: Queue, const RECORD: bool>(
    parts: &mut Parts<'_, '_, Q>,
    due: &mut Due,
    clock: C,
) -> Result<(), EngineError> {
    let now = clock.now();
    let shared = parts.constants.shared;
    if shared.stop().load(Ordering::Relaxed) {
        due.clear();
    }
    while let Some(&Reverse((intended, number))) = due.peek()
        && intended <= now
    {
        due.pop();
        let lane = &mut parts.lanes[number as usize];
        lane.queued = false;
        if now >= give_up(shared.base(), lane.deadline) {
            lane.unstarted = lane.schedule.map_or(0, |schedule| schedule.left_before(lane.deadline));
            lane.end();
            continue;
        }
        let Some(index) = lane.free.pop() else { continue };
        parts.slots[index as usize].intended = intended;
        if issue::<C, Q, RECORD>(index as usize, parts, clock)? {
            let lane = &mut parts.lanes[number as usize];
            if let Some(schedule) = &mut lane.schedule {
                schedule.advance();
            }
            await_turn(lane, number, due);
        }
    }
    Ok(())
}

/// In an open loop: registers a lane with a free slot for its next intended start.
fn await_turn(lane: &mut Lane<'_>, number: u32, due: &mut Due) {
    let Some(schedule) = &lane.schedule else { return };
    let next = schedule.next();
    if !lane.queued && !lane.free.is_empty() && lane.has_more() && next < lane.deadline {
        lane.queued = true;
        due.push(Reverse((next, number)));
    }
}
