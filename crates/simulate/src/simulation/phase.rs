//! The events of a phase.

use std::collections::VecDeque;

use engine::{Controls, Ending, Mixture, Offsets, PhaseJob, Progress, Stonewalled};
use plan::{Operation, Phase, Sharing, Work};

use crate::simulation::names::NameCall;
use crate::simulation::queue::Events;
use crate::simulation::recording::Recording;
use crate::simulation::request::{NONE, Request, Requests, Stage};
use crate::simulation::service::{uniform, whole};
use crate::simulation::station::{READ, WRITE};
use crate::simulation::system::{LayoutPath, NodeLimits, System};
use crate::simulation::task::{ITEMS, Items, Program, READS, Task, WRITES, limit_of};
use crate::simulation::time::{CLOCK_END, TICKS_PER_NS, Ticks, ns, ticks};

/// Events between two looks at the stop flag, after each of which the progress is shown.
const LOOK_EVERY: u32 = 1 << 16;

/// A phase, as it is simulated.
pub(crate) struct PhaseInput<'a> {
    pub(crate) job: &'a PhaseJob<'a>,
    /// The node of each task.
    pub(crate) node_of: &'a [u32],
    /// Index of the layout.
    pub(crate) layout: usize,
    pub(crate) limits: &'a NodeLimits,
    /// All times are so many times as long, but no limit of a rate is exceeded.
    pub(crate) factor: f64,
    /// The share of each node's reads that its page cache serves.
    pub(crate) cached: &'a [f64],
    pub(crate) controls: &'a Controls,
}

/// What a phase gave.
pub(crate) struct PhaseOutput {
    pub(crate) tasks: Vec<Task>,
    pub(crate) recording: Recording,
    /// When it began and ended.
    pub(crate) start: Ticks,
    pub(crate) end: Ticks,
    pub(crate) stonewall: Option<Stonewalled>,
    /// First transfer began → first task was done, and the bytes of all tasks by then.
    pub(crate) first_done: (Ticks, u64),
    /// Counters of each device at the end of each interval.
    pub(crate) samples: Vec<Sample>,
    pub(crate) stopped: bool,
    /// It came to the end of the clock.
    pub(crate) too_long: bool,
    /// In an open loop: transfers that were due and never started.
    pub(crate) unstarted: u64,
    pub(crate) request_time: Ticks,
}

/// The counters of the devices in an interval.
pub(crate) struct Sample {
    pub(crate) start: Ticks,
    pub(crate) length: Ticks,
    /// Those that did something, by index.
    pub(crate) drives: Vec<(usize, crate::simulation::drive::Counters)>,
}

/// A phase under way.
struct Running<'a> {
    input: &'a PhaseInput<'a>,
    system: &'a mut System,
    path: LayoutPath,
    events: Events,
    /// Events of other requests that the current one brings about. They join the others when it is done, since
    /// one of them may come before it in the order of equal times.
    following: Vec<(Ticks, u32)>,
    requests: Requests,
    tasks: Vec<Task>,
    recording: Recording,
    start: Ticks,
    interval: Ticks,
    interval_end: Ticks,
    samples: Vec<Sample>,
    /// No operation begins at this time or later.
    deadline: Ticks,
    /// Operations to which all tasks go on after a stonewall.
    worn: Option<u64>,
    stonewall: Option<(Ticks, u64)>,
    /// Tasks that have not seen the end yet.
    left: usize,
    first_done: Option<(Ticks, u64)>,
    moved: u64,
    /// For each node: whether tasks wait for processors.
    crowded: Vec<bool>,
    /// Requests of each node that wait for room in its page cache.
    waiting: Vec<VecDeque<u32>>,
    /// Ticks between due operations of one task, and of neighbouring tasks.
    pace: Option<(f64, f64)>,
    buffered: bool,
    moves_data: bool,
    warm: bool,
    pieces: Vec<(u32, crate::simulation::drive::Piece)>,
    unstarted: u64,
    first_io: Ticks,
}

/// Simulates a phase, from the time of `system` on, which is moved to its end.
pub(crate) fn simulate(input: &PhaseInput<'_>, system: &mut System) -> PhaseOutput {
    let mut running = Running::new(input, system);
    running.open();
    let stopped = running.go();
    running.finish(stopped)
}

impl<'a> Running<'a> {
    fn new(input: &'a PhaseInput<'a>, system: &'a mut System) -> Self {
        let job = input.job;
        let workload = job.workload;
        let start = system.now;
        let tasks: Vec<Task> = tasks(input);
        let interval = whole(ticks(job.series_interval.0 as f64)).max(TICKS_PER_NS);
        let deadline = match job.ending() {
            _ if !workload.work.is_transfers() => {
                let stonewall =
                    workload.stonewall.filter(|_| job.phase.is_result() && limit_of(job.limit, 0).is_none());
                stonewall.map_or(u64::MAX, |wall| {
                    start.saturating_add(wall.deadline.0.saturating_mul(TICKS_PER_NS))
                })
            }
            Ending::Volume => u64::MAX,
            Ending::Stonewall { deadline_ns, .. } => {
                start.saturating_add(deadline_ns.saturating_mul(TICKS_PER_NS))
            }
            Ending::Duration(duration) => start.saturating_add(duration.saturating_mul(TICKS_PER_NS)),
        };
        let processors_of = |node: usize| system.nodes[node].processors.count();
        let mut on_node = vec![0_usize; system.nodes.len()];
        tasks.iter().for_each(|task| on_node[task.node as usize] += 1);
        let crowded = on_node.iter().enumerate().map(|(node, count)| *count > processors_of(node)).collect();
        let pace = workload.pace.filter(|_| job.phase.is_result()).map(|pace| {
            let between = ticks(1e9) / pace.transfers_per_second;
            (between * f64::from(workload.tasks), between)
        });
        let synced = workload.sync.per_write;
        let several = system.nodes.len();
        let path = system.paths[input.layout].clone();
        system.names.iter_mut().for_each(super::names::NameService::unlock);
        Self {
            left: tasks.len(),
            tasks,
            recording: Recording::new(several, interval),
            events: Events::default(),
            following: Vec::new(),
            requests: Requests::default(),
            start,
            interval,
            interval_end: start + interval,
            samples: Vec::new(),
            deadline,
            worn: None,
            stonewall: None,
            first_done: None,
            moved: 0,
            crowded,
            waiting: vec![VecDeque::new(); several],
            pace,
            buffered: input.limits.cache.is_some() && !workload.direct && !synced,
            moves_data: workload.backend.moves_data(),
            warm: job.repetition > 0,
            pieces: Vec::new(),
            unstarted: 0,
            first_io: u64::MAX,
            path,
            input,
            system,
        }
    }

    /// Opens the files and sets off the first operations.
    fn open(&mut self) {
        let job = self.input.job;
        let workload = job.workload;
        let creates = matches!(job.phase, Phase::Write | Phase::Fill);
        let shared = workload.files.sharing == Sharing::Shared;
        let names = self.path.names.filter(|_| self.moves_data && workload.work.is_transfers());
        let mut last = self.start;
        for task in &mut self.tasks {
            let call =
                if creates && (!shared || task.number == 0) { NameCall::Create } else { NameCall::Open };
            let opened = match names {
                Some(names) => {
                    let there = self.start.saturating_add(self.path.latency);
                    self.system.names[names]
                        .serve(there, call, 0, self.input.factor)
                        .saturating_add(self.path.latency)
                }
                None => self.start,
            };
            task.opened = [self.start, opened];
            last = last.max(opened);
        }
        let together = workload.barriers || self.pace.is_some();
        let depth = if workload.work.is_transfers() { workload.backend.depth() } else { 1 };
        for index in 0..self.tasks.len() {
            let begin = if together { last } else { self.tasks[index].opened[1] };
            self.tasks[index].io = [begin; 2];
            self.first_io = self.first_io.min(begin);
            for _ in 0..depth.max(1) {
                let number = self.requests.add(Request::new(narrow(index), self.tasks[index].node));
                self.events.push((begin, number));
            }
        }
    }

    /// Goes through all events, until it is stopped or the clock ends.
    fn go(&mut self) -> bool {
        self.input.controls.show(Progress::default());
        let mut count = 0_u32;
        while let Some((now, number)) = self.events.first() {
            if now >= CLOCK_END {
                return false;
            }
            if now >= self.interval_end {
                self.sample(now);
            }
            match self.advance(now, number) {
                Some(next) => self.events.replace_first((next.max(now), number)),
                None => self.events.pop(),
            }
            while let Some(event) = self.following.pop() {
                self.events.push(event);
            }
            count = count.wrapping_add(1);
            if count.is_multiple_of(LOOK_EVERY) {
                if self.input.controls.is_stopped() {
                    return true;
                }
                let transfers = self.tasks.iter().map(|task| task.done.iter().sum::<u64>()).sum();
                self.input.controls.show(Progress { transfers, bytes: self.moved, launches: None });
            }
        }
        false
    }

    /// Takes a request as far as it gets at `now`; returns the time of its next event.
    fn advance(&mut self, now: Ticks, number: u32) -> Option<Ticks> {
        match self.requests.get(number).stage {
            Stage::Next => self.next(now, number),
            Stage::Submit => self.submit(now, number),
            Stage::Issue => self.issue(now.saturating_add(self.system.request_time), number),
            Stage::Names => self.names(now, number),
            Stage::Data => self.data(now, number),
            Stage::Part(part) => self.route(now, number, part),
            Stage::End => self.end(now, number),
            Stage::WrittenBack => {
                self.written_back(now, number);
                None
            }
        }
    }

    /// The next operation of the request's task, if it has one.
    fn next(&mut self, now: Ticks, number: u32) -> Option<Ticks> {
        let index = self.requests.get(number).task;
        let task = &mut self.tasks[index as usize];
        let limit = self.worn.map_or(task.limit, |worn| task.limit.min(worn));
        if task.issued >= limit || now >= self.deadline {
            self.requests.remove(number);
            if self.tasks[index as usize].under_way == 0 {
                self.task_is_over(now, index);
            }
            return None;
        }
        let request = self.requests.get(number);
        let bytes = self.input.job.workload.geometry.transfer.0;
        match &mut task.program {
            Program::Transfers { offsets, mixture } => {
                let writes = mixture.next_writes();
                request.piece.direction = if writes { WRITE } else { READ };
                request.operation = if writes { Operation::Write } else { Operation::Read };
                request.piece.bytes = bytes;
                request.piece.place = (u64::from(task.file), offsets.next());
            }
            Program::Items(items) => {
                request.operation = items.operation;
                request.piece.bytes = items.bytes;
                let reads = items.operation == Operation::Read;
                request.piece.direction = if reads { READ } else { WRITE };
                // The name is found again by this when the call is served.
                request.piece.place = (items.directory(task.issued), task.issued);
            }
        }
        let due = match self.pace {
            Some((each, between)) => {
                let due = each * task.issued as f64 + between * f64::from(task.number);
                self.first_io.saturating_add(whole(due))
            }
            None => now,
        };
        if due >= self.deadline {
            self.requests.remove(number);
            if self.tasks[index as usize].under_way == 0 {
                self.task_is_over(now, index);
            }
            return None;
        }
        task.issued += 1;
        task.under_way += 1;
        request.due = due;
        request.stage = Stage::Submit;
        if due > now { Some(due) } else { self.submit(now, number) }
    }

    /// Spends processor time.
    fn submit(&mut self, now: Ticks, number: u32) -> Option<Ticks> {
        let request = self.requests.get(number);
        request.submitted = now;
        request.stage = Stage::Issue;
        let time = self.system.request_time;
        let task = &mut self.tasks[request.task as usize];
        let node = task.node as usize;
        let done = match self.crowded[node] {
            true => self.system.nodes[node].processors.serve(now.max(task.busy_until), time),
            false => now.max(task.busy_until).saturating_add(time),
        };
        task.busy_until = done;
        // All are looked at when their processor time begins, so that they leave in order.
        let begin = done - time;
        if begin == now { self.issue(done, number) } else { Some(begin) }
    }

    /// Lets a request leave its node.
    fn issue(&mut self, now: Ticks, number: u32) -> Option<Ticks> {
        let request = *self.requests.get(number);
        let index = request.task as usize;
        if let Program::Items(_) = self.tasks[index].program {
            self.requests.get(number).stage = Stage::Names;
            return Some(now.saturating_add(self.path.latency));
        }
        self.data(now, number)
    }

    /// Serves the bytes of a request from the page cache of its node, or sends them to the devices.
    fn data(&mut self, now: Ticks, number: u32) -> Option<Ticks> {
        let request = *self.requests.get(number);
        let node = request.node as usize;
        if !self.moves_data {
            self.requests.get(number).stage = Stage::End;
            return Some(now.saturating_add(TICKS_PER_NS));
        }
        if self.buffered {
            let bytes = request.piece.bytes;
            let cost = self.input.limits.copies.cost(bytes) * self.input.factor.max(1.0);
            if request.piece.direction == WRITE {
                let dirty = self.input.limits.cache.map_or(0, |(_, dirty)| dirty);
                let state = &mut self.system.nodes[node];
                if state.dirty > 0 && state.dirty + bytes > dirty {
                    self.waiting[node].push_back(number);
                    self.requests.get(number).stage = Stage::Data;
                    return None;
                }
                state.dirty += bytes;
                let copied = state.copies.pass(now, cost);
                self.requests.get(number).stage = Stage::End;
                self.tasks[request.task as usize].unwritten += bytes;
                let behind = Request { parent: NONE, stage: Stage::WrittenBack, ..request };
                let behind = self.requests.add(behind);
                let _ = self.send(copied, behind, false);
                return Some(copied);
            }
            let cached = self.tasks[request.task as usize].cached;
            if cached >= 1.0 || (cached > 0.0 && uniform(&mut self.system.random) <= cached) {
                self.requests.get(number).stage = Stage::End;
                return Some(self.system.nodes[node].copies.pass(now, cost));
            }
        }
        self.send(now, number, true)
    }

    /// Sends the pieces of a request on their way; returns its next event if it is one piece and a task waits
    /// for it. Copies to the page cache take a different time on each node.
    fn send(&mut self, now: Ticks, number: u32, is_awaited: bool) -> Option<Ticks> {
        let request = *self.requests.get(number);
        let (file, offset) = request.piece.place;
        let mut pieces = std::mem::take(&mut self.pieces);
        self.path.striping.pieces(file, offset, request.piece.bytes, request.piece.direction, &mut pieces);
        let single = pieces.len() == 1 && is_awaited;
        let next = if single {
            let own = self.requests.get(number);
            (own.device, own.piece) = pieces[0];
            own.pending = 1;
            self.leave(now, number, true)
        } else {
            self.requests.get(number).pending = narrow(pieces.len());
            self.requests.get(number).ended = now;
            for (device, piece) in pieces.drain(..) {
                let part = Request { parent: number, device, piece, ..request };
                let part = self.requests.add(part);
                if let Some(next) = self.leave(now, part, is_awaited) {
                    self.following.push((next, part));
                }
            }
            None
        };
        self.pieces = pieces;
        next
    }

    /// Through the network adapter of the node, and on. `now` is `in_order` if no other request leaves any node
    /// before it from here on.
    fn leave(&mut self, now: Ticks, number: u32, in_order: bool) -> Option<Ticks> {
        let request = *self.requests.get(number);
        let node = request.node as usize;
        let (mut left, mut limited) = (now, false);
        if !self.path.local {
            let limits = self.input.limits;
            let state = &mut self.system.nodes[node];
            let bytes = request.piece.bytes;
            let (calls, transmission) = (limits.client.cost(bytes), limits.adapter.cost(bytes));
            let factor = self.input.factor.max(1.0);
            left = state.client.pass(left, calls * factor);
            left = state.adapter[request.piece.direction].pass(left, transmission * factor);
            limited = calls + transmission > 0.0;
        }
        let there = left.saturating_add(self.path.latency);
        self.requests.get(number).stage = Stage::Part(0);
        // Nodes do not keep each other's order.
        let alone = self.path.local || self.system.nodes.len() == 1;
        if alone || (in_order && !limited) { self.route(there, number, 0) } else { Some(there) }
    }

    /// From part number `part` of the way on.
    fn route(&mut self, now: Ticks, number: u32, part: u8) -> Option<Ticks> {
        let request = *self.requests.get(number);
        let factor = self.input.factor;
        let Request { node, device, piece, .. } = request;
        if usize::from(part) < self.path.tiers.len() {
            let station = self.path.station(usize::from(part), node, device);
            let System { stations, random, .. } = &mut *self.system;
            let left = stations[station].pass(now, piece.direction, piece.bytes, random, factor);
            self.requests.get(number).stage = Stage::Part(part + 1);
            return Some(left);
        }
        let drive = self.path.drive(node, device);
        let System { drives, random, .. } = &mut *self.system;
        let drive = &mut drives[drive];
        let warm = self.warm && piece.direction == READ && drive.warming > 0.0;
        let served = if warm && uniform(random) <= drive.warming {
            now.saturating_add(TICKS_PER_NS)
        } else {
            drive.serve(now, &piece, factor)
        };
        let back = served.saturating_add(self.path.latency);
        let (whole, is_part) = if request.parent == NONE { (number, false) } else { (request.parent, true) };
        if is_part {
            self.requests.remove(number);
        }
        let whole_request = self.requests.get(whole);
        whole_request.pending -= 1;
        whole_request.ended = whole_request.ended.max(back);
        if whole_request.pending > 0 {
            return None;
        }
        let ended = whole_request.ended;
        if whole_request.stage != Stage::WrittenBack {
            whole_request.stage = Stage::End;
        }
        if is_part {
            self.following.push((ended, whole));
            return None;
        }
        Some(ended)
    }

    /// A call on a name is served.
    fn names(&mut self, now: Ticks, number: u32) -> Option<Ticks> {
        let request = *self.requests.get(number);
        let Program::Items(items) = self.tasks[request.task as usize].program else { return None };
        let served = match self.path.names {
            Some(names) => {
                let directory = request.piece.place.0;
                self.system.names[names].serve(now, items.call, directory, self.input.factor)
            }
            None => now.saturating_add(TICKS_PER_NS),
        };
        let back = served.saturating_add(self.path.latency);
        let next = self.requests.get(number);
        next.stage = Stage::End;
        next.ended = back;
        if items.bytes > 0 && self.moves_data {
            // A file of its own.
            let file = (u64::from(request.task) << 32) + request.piece.place.1;
            next.piece.place = (file, 0);
            next.stage = Stage::Data;
        }
        Some(back)
    }

    /// An operation has ended.
    fn end(&mut self, now: Ticks, number: u32) -> Option<Ticks> {
        let request = *self.requests.get(number);
        let moved = self.bytes_of(&request);
        let task = &mut self.tasks[request.task as usize];
        task.under_way -= 1;
        task.bytes += moved;
        let kind = match task.program {
            Program::Items(_) => ITEMS,
            Program::Transfers { .. } if request.operation == Operation::Write => WRITES,
            Program::Transfers { .. } => READS,
        };
        task.done[kind] += 1;
        task.io[1] = task.io[1].max(now);
        self.moved += moved;
        let node = task.node as usize;
        self.recording.add(node, request.operation, now - self.start, now - request.due, moved);
        if self.pace.is_some() {
            self.recording.add_service(request.operation, now - request.submitted);
        }
        self.requests.get(number).stage = Stage::Next;
        self.next(now, number)
    }

    /// Bytes that an operation has moved for its task.
    fn bytes_of(&self, request: &Request) -> u64 {
        match &self.tasks[request.task as usize].program {
            Program::Transfers { .. } => self.input.job.workload.geometry.transfer.0,
            Program::Items(items) => items.bytes,
        }
    }

    /// The page cache has written something.
    fn written_back(&mut self, now: Ticks, number: u32) {
        let request = *self.requests.get(number);
        self.requests.remove(number);
        let bytes = self.bytes_of(&request);
        let task = &mut self.tasks[request.task as usize];
        let node = task.node as usize;
        task.unwritten -= bytes;
        if task.unwritten == 0
            && let Some(closed) = &mut task.closed
            && closed[1] == u64::MAX
        {
            closed[1] = now;
        }
        let state = &mut self.system.nodes[node];
        state.dirty -= bytes;
        // Each makes room for as many as it was large; they look for room themselves.
        if let Some(first) = self.waiting[node].pop_front() {
            self.following.push((now, first));
        }
    }

    /// A task has no operation under way and begins no other.
    fn task_is_over(&mut self, now: Ticks, index: u32) {
        let task = &mut self.tasks[index as usize];
        if task.is_over {
            return;
        }
        task.is_over = true;
        self.left -= 1;
        self.unstarted += self.unstarted_of(index);
        let wears = self.input.job.workload.stonewall.is_some_and(|wall| wall.wear_out);
        let by_deadline = self.deadline != u64::MAX && now >= self.deadline;
        if by_deadline && self.input.job.workload.stonewall.is_some() {
            self.stonewall = Some((now, self.moved));
        }
        if !(wears && by_deadline) {
            self.close(now, index);
        }
        if self.left == 0 && wears && self.worn.is_none() && self.stonewall.is_some() {
            self.wear_out(now);
        }
    }

    /// In an open loop: operations that were due before the deadline and have not begun.
    fn unstarted_of(&self, index: u32) -> u64 {
        let task = &self.tasks[index as usize];
        let Some((each, between)) = self.pace.filter(|_| self.deadline != u64::MAX) else { return 0 };
        let time = (self.deadline - self.first_io) as f64 - between * f64::from(task.number);
        whole((time / each).ceil().max(0.0)).saturating_sub(task.issued)
    }

    /// After the stonewall all tasks go on to as many operations as the fastest has done.
    fn wear_out(&mut self, now: Ticks) {
        let worn = self.tasks.iter().map(|task| task.issued).max().unwrap_or(0);
        self.worn = Some(worn);
        self.deadline = u64::MAX;
        for index in 0..self.tasks.len() {
            let task = &mut self.tasks[index];
            if task.issued < worn.min(task.limit) {
                task.is_over = false;
                self.left += 1;
                let number = self.requests.add(Request::new(narrow(index), self.tasks[index].node));
                self.following.push((now, number));
            } else if task.closed.is_none() {
                self.close(now, narrow(index));
            }
        }
    }

    /// Closes the file of a task, and waits for its data where that is asked.
    fn close(&mut self, now: Ticks, index: u32) {
        let workload = self.input.job.workload;
        let syncs = workload.sync.at_close || self.input.job.phase == Phase::Fill;
        let task = &mut self.tasks[index as usize];
        let ended = if syncs && task.unwritten > 0 { u64::MAX } else { now };
        task.closed = Some([now, ended]);
        let first = now - self.first_io.min(now);
        let moved = self.moved;
        self.first_done.get_or_insert((first, moved));
    }

    /// Takes the counters of the devices up to `now`.
    fn sample(&mut self, now: Ticks) {
        while self.interval_end <= now {
            self.take_sample(self.interval_end);
            // Intervals without any event have nothing.
            let skipped = (now - self.interval_end) / self.interval;
            self.interval_end += self.interval * (skipped + 1);
        }
    }

    fn take_sample(&mut self, end: Ticks) {
        let start = self.samples.last().map_or(self.start, |sample| sample.start + sample.length);
        let drives = self.system.drives.iter_mut().enumerate().filter_map(|(index, drive)| {
            let counters = std::mem::take(&mut drive.counters);
            (counters.requests != [0, 0]).then_some((index, counters))
        });
        let drives = drives.collect();
        self.samples.push(Sample { start, length: end - start, drives });
    }

    fn finish(mut self, stopped: bool) -> PhaseOutput {
        let too_long = self.events.first().is_some_and(|(at, _)| at >= CLOCK_END);
        let last_end = |task: &Task| {
            let closed = task.closed.map_or(task.io[1], |closed| closed[1]);
            if closed == u64::MAX { task.io[1] } else { closed }
        };
        let end = self.tasks.iter().map(last_end).max().unwrap_or(self.start).max(self.start + TICKS_PER_NS);
        for task in &mut self.tasks {
            let ended = task.io[1];
            let closed = task.closed.get_or_insert([ended; 2]);
            if closed[1] == u64::MAX {
                closed[1] = end;
            }
        }
        self.take_sample(end.max(self.interval_end.saturating_sub(self.interval) + 1));
        self.system.now = end;
        let stonewall = self.stonewall.map(|(at, bytes)| Stonewalled {
            ns: ns(at - self.first_io.min(at)),
            bytes,
            worn_out_transfers: self.worn,
        });
        let first_done = self.first_done.unwrap_or((end - self.start, self.moved));
        PhaseOutput {
            tasks: self.tasks,
            recording: self.recording,
            start: self.start,
            end,
            stonewall,
            first_done,
            samples: self.samples,
            stopped,
            too_long,
            unstarted: self.unstarted,
            request_time: self.system.request_time,
        }
    }
}

/// The tasks of a phase.
fn tasks(input: &PhaseInput<'_>) -> Vec<Task> {
    let job = input.job;
    let workload = job.workload;
    let new = |number: u32, file: u32, program: Program, limit: u64| {
        let node = input.node_of[number as usize];
        Task {
            number,
            node,
            file,
            program,
            limit,
            issued: 0,
            done: [0; 3],
            bytes: 0,
            under_way: 0,
            is_over: false,
            busy_until: 0,
            unwritten: 0,
            cached: input.cached.get(node as usize).copied().unwrap_or(0.0),
            opened: [0; 2],
            io: [0; 2],
            closed: None,
        }
    };
    match &workload.work {
        Work::Tree(tree) => {
            let of = |(index, number): (usize, u32)| {
                let limit = limit_of(job.limit, index);
                let (items, count) = Items::of(tree, job.phase, number, workload.tasks, limit);
                new(number, number, Program::Items(items), count)
            };
            job.tasks.clone().enumerate().map(of).collect()
        }
        _ => {
            let percent = job.read_percent();
            let of = |plan: engine::TaskPlan| {
                let offsets = Offsets::new(&plan.region, plan.whole);
                let mixture = Mixture::new(percent, plan.task);
                new(plan.task, plan.file.index, Program::Transfers { offsets, mixture }, plan.limit)
            };
            job.task_plans().into_iter().map(of).collect()
        }
    }
}

/// An index that a u32 holds: there are fewer tasks and requests.
fn narrow(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(NONE)
}
