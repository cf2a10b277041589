//! The backend `uring`: few threads carry all tasks, each with `depth` transfers under way.
//!
//! A task is a *lane*; each of its transfers under way has a *seat* with a buffer of its own. A seat
//! is either in the kernel or ours, never both: its buffer is only touched while it is ours.
//!
//! In a closed loop the clock is read twice per round: just before requests are handed over, as
//! the start of all of them, and just after completions were reaped, as their end. What
//! an application sees of `io_uring` is exactly that.

#![expect(unsafe_code, reason = "buffers that the kernel fills")]

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::os::fd::OwnedFd;
use std::sync::atomic::Ordering;

use crate::check::{Expected, Findings, check};
use crate::clock::Clock;
use crate::controls::Slot;
use crate::crew;
use crate::gate::Course;
use crate::offsets::{Mixture, Offsets};
use crate::pace::{Punctual, Schedule, longest_wait, wait_until};
use crate::ring::{self, Buffers, Queue, Request, SYNC};
use crate::rules::{Ending, Rules, TaskPlan};
use crate::series::Recorder;
use crate::shared::{Shared, TaskReport, WorkerReport};
use crate::stamp::{self, Pen};
use crate::sync::{Short, first_noise, give_up, wrong_data};
use crate::{EngineError, Errno, Note, Operation, Point, buffer, file};

/// Buffers of all tasks of this process, `depth` for each.
pub(crate) struct Pool<'m> {
    pub(crate) buffers: &'m mut [u8],
    /// Distance between two of them.
    pub(crate) stride: usize,
    pub(crate) depth: u32,
    /// The user asked for `io_uring` by name.
    pub(crate) required: bool,
}

/// Threads that carry `tasks` tasks: no more than processors that this process may use.
pub(crate) fn workers(tasks: usize) -> usize {
    let usable = rustix::thread::sched_getaffinity(None).map_or(1, |set| set.count() as usize);
    tasks.min(usable.max(1))
}

/// What a worker is given.
struct Share<'s, 'a> {
    tasks: &'s [TaskPlan],
    slot: &'s Slot,
    buffers: &'a mut [u8],
    recorder: Recorder<'a>,
}

/// Runs all tasks of this process on few threads.
pub(crate) fn run<'a, C: Clock, const RECORD: bool>(
    shared: &Shared<'_>,
    clock: C,
    pool: Pool<'a>,
    recorders: Vec<Recorder<'a>>,
) -> Vec<WorkerReport<'a>> {
    let Pool { mut buffers, stride, depth, required } = pool;
    let per_task = stride * depth as usize;
    let (count, workers) = (shared.tasks.len(), recorders.len());
    let mut shares = Vec::with_capacity(workers);
    let mut from = 0;
    for ((number, recorder), slot) in (1..).zip(recorders).zip(&*shared.slots) {
        let to = count * number / workers;
        let (own, rest) = buffers.split_at_mut((to - from) * per_task);
        buffers = rest;
        shares.push(Share { tasks: &shared.tasks[from..to], slot, buffers: own, recorder });
        from = to;
    }
    crew::run(shared, shares, |share, mut course| {
        let Share { tasks, slot, buffers, mut recorder } = share;
        let mut book = Book { findings: Findings::default(), notes: Vec::new(), reports: Vec::new() };
        let seats = Seats { memory: buffers, stride, depth, required };
        match live::<C, RECORD>(shared, clock, tasks, slot, seats, &mut recorder, &mut book, &mut course) {
            Ok(unstarted) => {
                course.pass(Point::Closed);
                let Book { findings, notes, reports } = book;
                Some(WorkerReport { tasks: reports, recorder, findings, unstarted, notes })
            }
            Err(error) => {
                shared.fail(error);
                None
            }
        }
    })
}

/// Memory of a worker's transfers.
struct Seats<'m> {
    memory: &'m mut [u8],
    stride: usize,
    depth: u32,
    required: bool,
}

/// What a worker writes down beside the latencies.
struct Book {
    findings: Findings,
    notes: Vec<Note>,
    reports: Vec<TaskReport>,
}

/// Prepare, open, transfer, close. Returns the transfers of an open loop that were never started.
#[expect(clippy::too_many_arguments, reason = "the parts of a worker, each of which outlives the call")]
fn live<C: Clock, const RECORD: bool>(
    shared: &Shared<'_>,
    clock: C,
    tasks: &[TaskPlan],
    slot: &Slot,
    mut seats: Seats<'_>,
    recorder: &mut Recorder<'_>,
    book: &mut Book,
    course: &mut Course<'_>,
) -> Result<u64, EngineError> {
    let rules = &shared.rules;
    let count = tasks.len() * seats.depth as usize;
    let requests = count * if rules.sync_per_write { 2 } else { 1 };
    let mut ring = ring::set_up(requests.max(tasks.len()), &mut book.notes)?;
    for (index, buffer) in seats.memory.chunks_mut(seats.stride).enumerate() {
        let (task, place) = (&tasks[index / seats.depth as usize], index % seats.depth as usize);
        if rules.writes {
            let first = first_noise(task.task, u32::try_from(place).unwrap_or(0), rules.transfer);
            stamp::fill(&mut buffer[..rules.transfer], first, rules.origin(task.file.index));
        } else {
            buffer::touch(buffer);
        }
    }
    let buffers = ring::register_buffers(&ring, seats.memory, seats.stride, seats.required, &mut book.notes)?;
    let queue = Queue::new(&mut ring, buffers);
    let punctual = rules.pace_ns.is_some().then(Punctual::new);
    course.pass(Point::Ready);
    course.pass(Point::Start);
    if shared.is_abandoned() {
        return Ok(0);
    }
    recorder.start(shared.scale(), shared.start(), shared.scale().ticks(rules.interval_ns()));
    let mut files = Vec::with_capacity(tasks.len());
    for task in tasks {
        let start = clock.now();
        files.push(file::open(task, rules)?);
        let open = (start, clock.now());
        book.reports.push(TaskReport {
            task: task.task,
            file: task.file.index,
            open,
            ..TaskReport::default()
        });
    }
    course.pass(Point::Opened);
    let mut worker = Worker::new(shared, slot, tasks, queue, buffers, &mut seats);
    worker.name_files(&files, &mut book.notes);
    let unstarted = worker.transfer_all::<C, RECORD>(clock, recorder, book, course)?;
    drop(punctual);
    course.pass(Point::Transferred);
    worker.close(clock, files, &mut book.reports)?;
    Ok(unstarted)
}

/// A task's stream of transfers.
struct Lane<'s> {
    plan: &'s TaskPlan,
    file: i32,
    offsets: Offsets,
    mixture: Mixture,
    schedule: Option<Schedule>,
    /// Transfers that it does unless the clock ends it.
    limit: u64,
    issued: u64,
    reads: u64,
    writes: u64,
    under_way: u32,
    deadline: u64,
    /// Nothing more is issued.
    ended: bool,
    /// Seats that are ours: all of them in an open loop, those that wait for the end of a pass else.
    free: Vec<u32>,
    /// Open loop: it is among those that wait for their intended start.
    queued: bool,
    /// End of the last transfer.
    last: u64,
    /// When the stonewall was seen, and the transfers until then.
    stonewall: Option<(u64, u64)>,
    /// Open loop: transfers that were given up.
    unstarted: u64,
}

impl Lane<'_> {
    fn done(&self) -> u64 {
        self.reads + self.writes
    }

    /// Nothing is under way and nothing more will be.
    #[inline(always)]
    fn has_finished(&self) -> bool {
        self.under_way == 0 && (self.ended || self.issued >= self.limit)
    }

    /// Whether a seat must wait until the lane's transfers under way have ended: where what is
    /// read is verified, a write of the next pass must not meet a read of this one.
    #[inline(always)]
    fn must_wait(&self, keeps_passes_apart: bool) -> bool {
        keeps_passes_apart && self.under_way > 0 && self.offsets.at_end_of_pass()
    }
}

/// Room for one transfer under way.
#[derive(Clone, Copy)]
struct Seat {
    memory: *mut u8,
    lane: u32,
    /// Number of the registered group of its buffer.
    group: u16,
    writes: bool,
    /// Its fsync must be waited for, and its bytes are not complete yet.
    cut_short: bool,
    /// Bytes moved so far.
    moved: u32,
    offset: u64,
    start: u64,
    intended: u64,
    pen: Pen,
}

/// A worker at its transfers.
struct Worker<'s, 'r> {
    shared: &'s Shared<'s>,
    rules: &'s Rules<'s>,
    slot: &'s Slot,
    queue: Queue<'r>,
    lanes: Vec<Lane<'s>>,
    seats: Vec<Seat>,
    /// Seats that were queued since the last hand-over.
    fresh: Vec<u32>,
    /// Completions that are still to come.
    expected: usize,
    /// Open loop: lanes with a free seat, by their next intended start.
    due: BinaryHeap<Reverse<(u64, u32)>>,
    /// Transfers done, of all lanes.
    reads: u64,
    writes: u64,
    bytes: u32,
    /// Bytes of a transfer as a completion reports them.
    whole: i32,
    open_loop: bool,
    keeps_passes_apart: bool,
    /// A lane that finishes now is done for good: no wear-out follows.
    last_round: bool,
}

impl<'s, 'r> Worker<'s, 'r> {
    fn new(
        shared: &'s Shared<'s>,
        slot: &'s Slot,
        tasks: &'s [TaskPlan],
        queue: Queue<'r>,
        buffers: Buffers,
        room: &mut Seats<'_>,
    ) -> Self {
        let rules = &shared.rules;
        let lane = |plan: &'s TaskPlan| Lane {
            plan,
            file: 0,
            offsets: Offsets::new(&plan.region, plan.whole),
            mixture: Mixture::new(rules.read_percent, plan.task),
            schedule: None,
            limit: plan.limit,
            issued: 0,
            reads: 0,
            writes: 0,
            under_way: 0,
            deadline: u64::MAX,
            ended: false,
            free: Vec::with_capacity(room.depth as usize),
            queued: false,
            last: 0,
            stonewall: None,
            unstarted: 0,
        };
        let per_group = match buffers {
            Buffers::Plain => usize::MAX,
            Buffers::Registered { per_group } => per_group,
        };
        let start = room.memory.as_mut_ptr();
        let count = tasks.len() * room.depth as usize;
        let seat = |index: usize| Seat {
            // SAFETY: the memory holds `count` buffers, `stride` bytes apart.
            memory: unsafe { start.add(index * room.stride) },
            lane: narrow(index / room.depth as usize),
            group: u16::try_from(index / per_group).unwrap_or(u16::MAX),
            writes: false,
            cut_short: false,
            moved: 0,
            offset: 0,
            start: 0,
            intended: 0,
            pen: Pen::default(),
        };
        Self {
            shared,
            rules,
            slot,
            queue,
            lanes: tasks.iter().map(lane).collect(),
            seats: (0..count).map(seat).collect(),
            fresh: Vec::with_capacity(count),
            expected: 0,
            due: BinaryHeap::with_capacity(tasks.len()),
            reads: 0,
            writes: 0,
            bytes: narrow(rules.transfer),
            whole: i32::try_from(rules.transfer).unwrap_or(i32::MAX),
            open_loop: rules.pace_ns.is_some(),
            last_round: !matches!(rules.ending, Ending::Stonewall { wear_out: true, .. }),
            keeps_passes_apart: rules.noise.is_some() && rules.writes,
        }
    }

    fn name_files(&mut self, files: &[OwnedFd], notes: &mut Vec<Note>) {
        let names = self.queue.register_files(files, notes);
        for (lane, name) in self.lanes.iter_mut().zip(names) {
            lane.file = name;
        }
    }

    /// All transfers of the phase, stonewall and wear-out included. Whatever happens, nothing is
    /// under way when it returns.
    fn transfer_all<C: Clock, const RECORD: bool>(
        &mut self,
        clock: C,
        recorder: &mut Recorder<'_>,
        book: &mut Book,
        course: &mut Course<'_>,
    ) -> Result<u64, EngineError> {
        let scale = self.shared.scale();
        let now = clock.now();
        let from = if self.rules.pace_ns.is_some() { self.shared.base() } else { now };
        let (nanos, stonewall, wear_out) = match self.rules.ending {
            Ending::Volume => (None, false, false),
            Ending::Duration(nanos) => (Some(nanos), false, false),
            Ending::Stonewall { deadline_ns, wear_out } => (Some(deadline_ns), true, wear_out),
        };
        let deadline = nanos.map_or(u64::MAX, |nanos| from.saturating_add(scale.ticks(nanos)));
        for (lane, report) in self.lanes.iter_mut().zip(&mut book.reports) {
            lane.deadline = deadline;
            lane.schedule = self
                .rules
                .pace_ns
                .map(|pace| Schedule::new(from, pace, scale, lane.plan.task, self.rules.all_tasks));
            report.io.0 = now;
            lane.last = now;
        }
        self.drive::<C, RECORD>(clock, recorder, &mut book.findings)?;
        if stonewall {
            for lane in &mut self.lanes {
                let done = lane.done();
                lane.stonewall.get_or_insert((lane.last, done));
                self.shared.offer_most(done);
            }
        }
        if wear_out {
            course.pass(Point::Stonewall);
            let most = self.shared.most();
            for lane in &mut self.lanes {
                (lane.limit, lane.deadline, lane.ended, lane.unstarted) = (most, u64::MAX, false, 0);
            }
            self.last_round = true;
            self.drive::<C, RECORD>(clock, recorder, &mut book.findings)?;
        }
        for (lane, report) in self.lanes.iter().zip(&mut book.reports) {
            self.shared.task_done(lane.last);
            report.io.1 = lane.last;
            (report.reads, report.writes) = (lane.reads, lane.writes);
            report.stonewall = lane.stonewall.filter(|_| stonewall);
        }
        Ok(self.lanes.iter().map(|lane| lane.unstarted).sum())
    }

    /// Transfers until every lane has ended and nothing is under way.
    fn drive<C: Clock, const RECORD: bool>(
        &mut self,
        clock: C,
        recorder: &mut Recorder<'_>,
        findings: &mut Findings,
    ) -> Result<(), EngineError> {
        let driven = if self.rules.pace_ns.is_some() {
            self.drive_open::<C, RECORD>(clock, recorder, findings)
        } else {
            self.drive_closed::<C, RECORD>(clock, recorder, findings)
        };
        if driven.is_err() {
            self.shared.stop().store(true, Ordering::Relaxed);
            self.drain();
        }
        driven
    }

    /// Closed loop: a seat that has come back goes out again at once.
    #[inline(never)]
    fn drive_closed<C: Clock, const RECORD: bool>(
        &mut self,
        clock: C,
        recorder: &mut Recorder<'_>,
        findings: &mut Findings,
    ) -> Result<(), EngineError> {
        for lane in &mut self.lanes {
            lane.free.clear();
        }
        for seat in 0..self.seats.len() {
            self.issue::<C, RECORD>(seat, clock)?;
        }
        while self.expected > 0 {
            if RECORD {
                self.start_fresh(clock.now());
            }
            self.queue.submit_and_wait().map_err(lost)?;
            let now = clock.now();
            while let Some(completion) = self.queue.completions.next() {
                let (data, result) = (completion.user_data(), completion.result());
                if let Some(seat) =
                    self.complete::<C, RECORD>(data, result, now, clock, recorder, findings)?
                {
                    self.issue::<C, RECORD>(seat, clock)?;
                    if self.keeps_passes_apart {
                        self.issue_waiting::<C, RECORD>(seat, clock)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Begins the next pass of the seat's lane with the seats that waited for the last one's end.
    fn issue_waiting<C: Clock, const RECORD: bool>(
        &mut self,
        seat: usize,
        clock: C,
    ) -> Result<(), EngineError> {
        let number = self.seats[seat].lane as usize;
        if self.lanes[number].under_way > 0 {
            return Ok(());
        }
        while let Some(seat) = self.lanes[number].free.pop() {
            self.issue::<C, RECORD>(seat as usize, clock)?;
        }
        Ok(())
    }

    /// Open loop: a free seat goes out when its lane's next transfer is due.
    #[inline(never)]
    fn drive_open<C: Clock, const RECORD: bool>(
        &mut self,
        clock: C,
        recorder: &mut Recorder<'_>,
        findings: &mut Findings,
    ) -> Result<(), EngineError> {
        let scale = self.shared.scale();
        let base = self.shared.base();
        for lane in &mut self.lanes {
            lane.free.clear();
            lane.queued = false;
        }
        for (index, seat) in (0..).zip(&self.seats) {
            self.lanes[seat.lane as usize].free.push(index);
        }
        self.due.clear();
        for lane in 0..self.lanes.len() {
            self.await_turn(lane);
        }
        loop {
            let now = clock.now();
            if self.shared.stop().load(Ordering::Relaxed) {
                self.due.clear();
            }
            while let Some(&Reverse((intended, number))) = self.due.peek()
                && intended <= now
            {
                self.due.pop();
                let lane = &mut self.lanes[number as usize];
                lane.queued = false;
                if now >= give_up(base, lane.deadline) {
                    lane.unstarted = lane.schedule.map_or(0, |schedule| schedule.left_before(lane.deadline));
                    lane.ended = true;
                    continue;
                }
                let Some(seat) = lane.free.pop() else { continue };
                self.seats[seat as usize].intended = intended;
                if self.issue::<C, RECORD>(seat as usize, clock)? {
                    if let Some(schedule) = &mut self.lanes[number as usize].schedule {
                        schedule.advance();
                    }
                    self.await_turn(number as usize);
                }
            }
            let next = self.due.peek().map(|Reverse((intended, _))| *intended);
            if self.expected == 0 && next.is_none() {
                break;
            }
            let handed_over = clock.now();
            self.start_fresh(handed_over);
            let wait = match next {
                Some(next) => longest_wait(scale.nanos(next.saturating_sub(handed_over))),
                None => Some(u64::MAX).and_then(longest_wait),
            };
            self.queue.submit_and_wait_for(wait).map_err(lost)?;
            let now = clock.now();
            while let Some(completion) = self.queue.completions.next() {
                let (data, result) = (completion.user_data(), completion.result());
                if let Some(seat) =
                    self.complete::<C, RECORD>(data, result, now, clock, recorder, findings)?
                {
                    let lane = self.seats[seat].lane as usize;
                    self.lanes[lane].free.push(narrow(seat));
                    self.await_turn(lane);
                }
            }
        }
        self.wait_for_deadline(clock);
        Ok(())
    }

    /// The phase of an open loop lasts until its deadline, also when its last transfer ended before.
    fn wait_for_deadline<C: Clock>(&mut self, clock: C) {
        for lane in &mut self.lanes {
            if lane.deadline != u64::MAX && lane.issued < lane.limit {
                wait_until(clock, self.shared.scale(), lane.deadline, self.shared.stop());
                lane.last = lane.last.max(clock.now().min(lane.deadline));
            }
        }
    }

    /// Open loop: queues a lane that has a free seat for its next intended start.
    fn await_turn(&mut self, number: usize) {
        let lane = &mut self.lanes[number];
        let Some(schedule) = &lane.schedule else { return };
        let next = schedule.next();
        if !lane.queued
            && !lane.ended
            && !lane.free.is_empty()
            && lane.issued < lane.limit
            && next < lane.deadline
        {
            lane.queued = true;
            self.due.push(Reverse((next, narrow(number))));
        }
    }

    /// Queues the next transfer of the seat's lane; says whether there was one.
    #[inline(always)]
    fn issue<C: Clock, const RECORD: bool>(&mut self, index: usize, clock: C) -> Result<bool, EngineError> {
        let seat = &mut self.seats[index];
        let lane = &mut self.lanes[seat.lane as usize];
        if lane.ended || lane.issued >= lane.limit || self.shared.stop().load(Ordering::Relaxed) {
            return Ok(false);
        }
        if lane.must_wait(self.keeps_passes_apart) {
            lane.free.push(narrow(index));
            return Ok(false);
        }
        lane.issued += 1;
        lane.under_way += 1;
        seat.offset = lane.offsets.next();
        seat.writes = if self.rules.reads { self.rules.writes && lane.mixture.next_writes() } else { true };
        seat.moved = 0;
        if seat.writes {
            // SAFETY: the seat is ours: its last transfer was reaped, or it had none.
            let buffer = unsafe { std::slice::from_raw_parts_mut(seat.memory, self.bytes as usize) };
            seat.pen.place(buffer, seat.offset);
        }
        self.push::<C, RECORD>(index, clock)?;
        if RECORD {
            self.fresh.push(narrow(index));
        }
        Ok(true)
    }

    /// Queues what is left of the seat's transfer.
    #[inline(always)]
    fn push<C: Clock, const RECORD: bool>(&mut self, index: usize, clock: C) -> Result<(), EngineError> {
        if !self.queue.has_room() {
            if RECORD {
                self.start_fresh(clock.now());
            }
            self.make_room()?;
        }
        let seat = &self.seats[index];
        let request = Request {
            writes: seat.writes,
            file: self.lanes[seat.lane as usize].file,
            memory: seat.memory.wrapping_add(seat.moved as usize),
            bytes: self.bytes - seat.moved,
            offset: seat.offset + u64::from(seat.moved),
            group: seat.group,
            user_data: index as u64,
        };
        let sync = seat.writes && self.rules.sync_per_write;
        // SAFETY: the seat's memory belongs to this worker until `live` returns, which is after
        // everything under way was reaped; until then nobody touches it.
        unsafe { self.queue.push(&request, sync) };
        self.expected += 1 + usize::from(sync);
        Ok(())
    }

    /// Hands over what is queued until there is room for a request with its fsync.
    #[cold]
    fn make_room(&mut self) -> Result<(), EngineError> {
        while !self.queue.has_room() {
            self.queue.submit().map_err(lost)?;
        }
        Ok(())
    }

    /// What was queued since the last hand-over starts at `now`.
    #[inline(always)]
    fn start_fresh(&mut self, now: u64) {
        for &seat in &self.fresh {
            self.seats[seat as usize].start = now;
        }
        self.fresh.clear();
    }

    /// Books a completion. Gives the seat when its transfer is complete and it is ours again.
    #[inline(always)]
    fn complete<C: Clock, const RECORD: bool>(
        &mut self,
        data: u64,
        result: i32,
        now: u64,
        clock: C,
        recorder: &mut Recorder<'_>,
        findings: &mut Findings,
    ) -> Result<Option<usize>, EngineError> {
        self.expected -= 1;
        let index = (data & !SYNC) as usize;
        if (data & SYNC != 0 || result != self.whole || self.rules.sync_per_write)
            && !self.settle::<C, RECORD>(data, result, clock)?
        {
            return Ok(None);
        }
        let seat = &self.seats[index];
        let lane = &mut self.lanes[seat.lane as usize];
        lane.under_way -= 1;
        lane.last = now;
        if seat.writes {
            lane.writes += 1;
            self.writes += 1;
            self.slot.writes.store(self.writes, Ordering::Relaxed);
        } else {
            lane.reads += 1;
            self.reads += 1;
            self.slot.reads.store(self.reads, Ordering::Relaxed);
        }
        if RECORD {
            let direction = usize::from(seat.writes);
            if self.open_loop {
                recorder.add(direction, now.saturating_sub(seat.intended), now);
                recorder.add_service(direction, now.saturating_sub(seat.start));
            } else {
                recorder.add(direction, now.saturating_sub(seat.start), now);
            }
        }
        if now >= lane.deadline && !self.open_loop {
            lane.ended = true;
            let done = lane.done();
            lane.stonewall.get_or_insert((now, done));
        }
        if self.last_round && lane.has_finished() {
            self.shared.task_done(now);
        }
        if !seat.writes && self.rules.noise.is_some() {
            self.verify(index, findings)?;
        }
        Ok(Some(index))
    }

    /// Compares what the seat has read.
    #[inline(never)]
    fn verify(&self, index: usize, findings: &mut Findings) -> Result<(), EngineError> {
        let Some(table) = &self.rules.noise else { return Ok(()) };
        let seat = &self.seats[index];
        let plan = self.lanes[seat.lane as usize].plan;
        let generations = self.rules.generations();
        let expected = Expected { table, file: plan.file.index, generations };
        // SAFETY: the seat is ours: its read was just reaped.
        let buffer = unsafe { std::slice::from_raw_parts(seat.memory, self.bytes as usize) };
        check(buffer, seat.offset, plan.task, &expected, findings);
        if self.rules.quit_on_error && findings.wrong_cells > 0 {
            return Err(wrong_data(findings, generations, plan));
        }
        Ok(())
    }

    /// A completion that is not a whole transfer at once: an fsync, a write that waits for
    /// one, a short transfer, an error. Says whether the transfer is complete now.
    #[cold]
    #[inline(never)]
    fn settle<C: Clock, const RECORD: bool>(
        &mut self,
        data: u64,
        result: i32,
        clock: C,
    ) -> Result<bool, EngineError> {
        let index = (data & !SYNC) as usize;
        let seat = &mut self.seats[index];
        let plan = self.lanes[seat.lane as usize].plan;
        let syncs = seat.writes && self.rules.sync_per_write;
        let errno = Errno(result.wrapping_neg());
        if data & SYNC != 0 {
            return match errno {
                // The rest of a write that was cut short goes out with an fsync of its own.
                _ if seat.cut_short && (result >= 0 || errno.0 == libc::ECANCELED) => {
                    seat.cut_short = false;
                    self.push::<C, RECORD>(index, clock).map(|()| false)
                }
                _ if result >= 0 => Ok(true),
                Errno(libc::EINTR | libc::EAGAIN) => {
                    let file = self.lanes[seat.lane as usize].file;
                    self.make_room()?;
                    self.queue.push_sync(file, index as u64);
                    self.expected += 1;
                    Ok(false)
                }
                _ => Err(file::call("fsync", &plan.file.path, errno)),
            };
        }
        let moved = u32::try_from(result).unwrap_or(0);
        seat.moved += moved;
        if seat.moved == self.bytes {
            return Ok(!syncs);
        }
        let short = Short {
            path: &plan.file.path,
            operation: if seat.writes { Operation::Write } else { Operation::Read },
            offset: seat.offset,
            asked: self.bytes as usize,
            moved: seat.moved as usize,
        };
        match errno {
            _ if result >= 0 => {
                short.judge(moved as usize, self.rules.single_attempt, file::length_of(&plan.file.path))?;
            }
            Errno(libc::EINTR | libc::EAGAIN) => {}
            _ => return Err(short.failed(errno)),
        }
        if syncs {
            // Its fsync comes back cancelled; the rest goes out then.
            seat.cut_short = true;
            return Ok(false);
        }
        self.push::<C, RECORD>(index, clock).map(|()| false)
    }

    /// Waits for everything that is under way, whatever becomes of it.
    #[cold]
    fn drain(&mut self) {
        loop {
            while self.queue.completions.next().is_some() {
                self.expected -= 1;
            }
            if self.expected == 0 || self.queue.submit_and_wait().is_err() {
                return;
            }
        }
    }

    /// Closes all files; their fsyncs, where asked for, are under way together.
    fn close<C: Clock>(
        &mut self,
        clock: C,
        files: Vec<OwnedFd>,
        reports: &mut [TaskReport],
    ) -> Result<(), EngineError> {
        let mut files: Vec<Option<OwnedFd>> = files.into_iter().map(Some).collect();
        if self.rules.sync_at_close {
            let start = clock.now();
            for (index, report) in reports.iter_mut().enumerate() {
                report.close.0 = start;
                self.queue_sync(index)?;
            }
            let synced = self.finish_syncs(clock, &mut files, reports);
            if synced.is_err() {
                self.drain();
            }
            synced?;
        }
        self.queue.release();
        for ((file, report), lane) in files.into_iter().zip(reports).zip(&self.lanes) {
            if let Some(file) = file {
                report.close.0 = clock.now();
                file::close(file, &lane.plan.file.path)?;
                report.close.1 = clock.now();
            }
        }
        Ok(())
    }

    fn queue_sync(&mut self, index: usize) -> Result<(), EngineError> {
        self.make_room()?;
        self.queue.push_sync(self.lanes[index].file, index as u64);
        self.expected += 1;
        Ok(())
    }

    /// Waits for the fsyncs of all files and closes each when its own is done.
    fn finish_syncs<C: Clock>(
        &mut self,
        clock: C,
        files: &mut [Option<OwnedFd>],
        reports: &mut [TaskReport],
    ) -> Result<(), EngineError> {
        while self.expected > 0 {
            self.queue.submit_and_wait().map_err(lost)?;
            while let Some(completion) = self.queue.completions.next() {
                self.expected -= 1;
                let index = (completion.user_data() & !SYNC) as usize;
                let path = &self.lanes[index].plan.file.path;
                match Errno(completion.result().wrapping_neg()) {
                    Errno(libc::EINTR | libc::EAGAIN) => self.queue_sync(index)?,
                    errno if errno.0 > 0 => return Err(file::call("fsync", path, errno)),
                    _ => {
                        if let Some(file) = files[index].take() {
                            file::close(file, path)?;
                        }
                        reports[index].close.1 = clock.now();
                    }
                }
            }
        }
        Ok(())
    }
}

/// The ring itself failed.
#[cold]
fn lost(errno: Errno) -> EngineError {
    EngineError::Uring(crate::UringUnavailable::Other(errno))
}

fn narrow(index: usize) -> u32 {
    u32::try_from(index)
        .expect("fewer than 2^32 transfers are under way: tasks and depth are limited by the plan")
}
