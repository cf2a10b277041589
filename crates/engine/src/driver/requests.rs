//! Transfers in flight: turns a task's next offset into a request, and a completion into updates of the
//! task's counters.
//!
//! A task is a *lane*; each of its transfers in flight has a *slot* with its own buffer. A slot is owned
//! either by the kernel or by us, never both: its buffer is only touched while it is ours.

#![expect(unsafe_code, reason = "buffers that the kernel fills")]

use std::sync::atomic::Ordering;

use crate::backend::contract::{Queue, Request, SYNC};
use crate::data::check::{CheckResults, Expected, check};
use crate::data::offsets::{Mixture, Offsets};
use crate::data::stamp::PatternWriter;
use crate::driver::transfer::{Short, wrong_data};
use crate::phase::clock::{Clock, between};
use crate::phase::controls::WorkerCounters;
use crate::phase::pace::Schedule;
use crate::phase::rules::{Rules, TaskPlan};
use crate::phase::shared::Shared;
use crate::recording::series::Recorder;
use crate::system::file;
use crate::{EngineError, Errno};
use plan::Operation;

/// The sequence of a task's transfers.
pub(crate) struct Lane<'s> {
    pub(crate) plan: &'s TaskPlan,
    /// The file's number in the queue.
    pub(crate) file: i32,
    pub(crate) offsets: Offsets,
    mixture: Mixture,
    pub(crate) schedule: Option<Schedule>,
    /// Number of transfers, or the number already issued if the task is ended early.
    pub(crate) limit: u64,
    pub(crate) issued: u64,
    /// Completed reads and writes.
    pub(crate) done: [u64; 2],
    pub(crate) under_way: u32,
    pub(crate) deadline: u64,
    /// In an open loop: whether the lane is queued for its intended start.
    pub(crate) queued: bool,
    /// Slots owned by us: in an open loop all of them, otherwise those that wait for the end of a pass.
    pub(crate) free: Vec<u32>,
    /// End time of the last transfer.
    pub(crate) last: u64,
    /// Time at which the stonewall was seen, and the number of transfers until then.
    pub(crate) stonewall: Option<(u64, u64)>,
    /// In an open loop: number of transfers that were given up.
    pub(crate) unstarted: u64,
}

impl<'s> Lane<'s> {
    pub(crate) fn new(plan: &'s TaskPlan, rules: &Rules<'_>, depth: u32) -> Self {
        Self {
            plan,
            file: 0,
            offsets: Offsets::new(&plan.region, plan.whole),
            mixture: Mixture::new(rules.read_percent, plan.task),
            schedule: None,
            limit: plan.limit,
            issued: 0,
            done: [0; 2],
            under_way: 0,
            deadline: u64::MAX,
            queued: false,
            free: Vec::with_capacity(depth as usize),
            last: 0,
            stonewall: None,
            unstarted: 0,
        }
    }

    /// Number of completed transfers.
    pub(crate) fn transfers(&self) -> u64 {
        self.done[0] + self.done[1]
    }

    /// Whether another transfer may be issued.
    #[inline(always)]
    pub(crate) fn has_more(&self) -> bool {
        self.issued < self.limit
    }

    /// Stops issuing transfers.
    pub(crate) fn end(&mut self) {
        self.limit = self.issued;
    }
}

/// Slot for one transfer in flight.
pub(crate) struct RequestSlot<Q: Queue> {
    template: Q::Template,
    memory: *mut u8,
    offset: u64,
    /// Submission time.
    pub(crate) start: u64,
    /// In an open loop: intended submission time.
    pub(crate) intended: u64,
    pub(crate) lane: u32,
    /// Number of bytes moved so far, after a short transfer.
    moved: u32,
    /// Number of the registered group that contains its buffer.
    group: u16,
    writes: bool,
    /// Whether its fsync must be awaited although not all bytes have been written yet.
    cut_short: bool,
    pub(crate) writer: PatternWriter,
}

impl<Q: Queue> RequestSlot<Q> {
    /// Creates a slot of `lane` with the buffer at `memory`, in registered group `group`.
    pub(crate) fn new(lane: u32, memory: *mut u8, group: u16, writes: bool, writer: PatternWriter) -> Self {
        Self {
            template: Q::idle(),
            memory,
            offset: 0,
            start: 0,
            intended: 0,
            lane,
            moved: 0,
            group,
            writes,
            cut_short: false,
            writer,
        }
    }

    /// Creates the template, once the file is registered in the queue.
    pub(crate) fn prepare(
        &mut self,
        index: usize,
        lane: &Lane<'_>,
        queue: &Q,
        constants: &RoundConstants<'_>,
    ) {
        self.template = queue.template(&self.rest(index, lane, constants));
    }

    /// Whether a completion is the last one of its transfer.
    pub(crate) fn is_end(&self, data: u64, constants: &RoundConstants<'_>) -> bool {
        data & SYNC != 0 || !(Q::LINKS_SYNC && constants.syncs && self.writes)
    }

    /// A request for the rest of the transfer.
    fn rest(&self, index: usize, lane: &Lane<'_>, constants: &RoundConstants<'_>) -> Request {
        Request {
            writes: self.writes,
            file: lane.file,
            memory: self.memory.wrapping_add(self.moved as usize),
            bytes: constants.bytes - self.moved,
            offset: self.offset + u64::from(self.moved),
            group: self.group,
            user_data: index as u64,
        }
    }
}

/// Values that stay constant during a round of transfers, for the hot loop.
#[derive(Clone, Copy)]
pub(crate) struct RoundConstants<'s> {
    pub(crate) shared: &'s Shared<'s>,
    pub(crate) rules: &'s Rules<'s>,
    pub(crate) counters: &'s WorkerCounters,
    pub(crate) bytes: u32,
    /// Result of a completion that moved a whole transfer. If an fsync must follow, a value that is
    /// never returned.
    whole: i32,
    /// Whether the buffer, the operation or the next step depends on the transfer, as it does unless
    /// there are only reads.
    varies: bool,
    mixed: bool,
    syncs: bool,
    verifies: bool,
    /// Whether writes of the next pass must not overlap with reads of this one, as with verification.
    pub(crate) keeps_passes_apart: bool,
    /// Whether a lane that finishes now is done for good, because no wear-out follows.
    pub(crate) last_round: bool,
}

impl<'s> RoundConstants<'s> {
    pub(crate) fn new(shared: &'s Shared<'s>, counters: &'s WorkerCounters) -> Self {
        let rules = &shared.rules;
        let verifies = rules.noise.is_some();
        Self {
            shared,
            rules,
            counters,
            bytes: u32::try_from(rules.transfer).unwrap_or(u32::MAX),
            whole: i32::try_from(rules.transfer).ok().filter(|_| !rules.sync_per_write).unwrap_or(i32::MIN),
            varies: rules.writes,
            mixed: rules.reads && rules.writes,
            syncs: rules.sync_per_write,
            verifies,
            keeps_passes_apart: verifies && rules.writes,
            last_round: !rules.ending.wears_out(),
        }
    }
}

/// The counts of a worker.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Tally {
    /// Numbers of completed reads and writes.
    done: [u64; 2],
    /// Number of transfers in flight, of all lanes.
    pub(crate) under_way: usize,
}

impl Tally {
    /// Publishes the counts to other threads.
    #[inline(always)]
    pub(crate) fn publish(&self, counters: &WorkerCounters) {
        counters.reads.store(self.done[0], Ordering::Relaxed);
        counters.writes.store(self.done[1], Ordering::Relaxed);
    }
}

/// Slots queued since the last submission.
pub(crate) struct Fresh {
    /// The indices of these slots. One entry per slot of the worker.
    indices: Box<[u32]>,
    count: usize,
}

impl Fresh {
    pub(crate) fn new(slots: usize) -> Self {
        Self { indices: vec![0; slots].into(), count: 0 }
    }

    /// Adds a slot. Between two submissions each slot is queued at most once, since it must complete before
    /// it is queued again.
    #[inline(always)]
    fn add(&mut self, index: u32) {
        debug_assert!(self.count < self.indices.len());
        // SAFETY: there is room for each slot, and each is added at most once.
        unsafe { *self.indices.get_unchecked_mut(self.count) = index };
        self.count += 1;
    }

    /// Sets the start of everything queued since the last submission to `now`.
    #[inline(always)]
    pub(crate) fn start<Q: Queue>(&mut self, slots: &mut [RequestSlot<Q>], now: u64) {
        debug_assert!(slots.len() == self.indices.len());
        for &index in &self.indices[..self.count] {
            // SAFETY: only slot numbers are added.
            unsafe { slots.get_unchecked_mut(index as usize).start = now };
        }
        self.count = 0;
    }
}

/// Result of handling a completion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Completed {
    /// The slot's transfer continues, or its next transfer has been queued.
    Busy,
    /// The transfer is complete and there is nothing more to queue. The slot is ours.
    Ours,
}

/// Whether the slot must wait until the lane's other transfers in flight have ended.
#[inline(always)]
pub(crate) fn must_wait(lane: &Lane<'_>, others: u32, constants: &RoundConstants<'_>) -> bool {
    constants.keeps_passes_apart && others > 0 && lane.offsets.at_end_of_stretch()
}

/// Queues the next transfer of a slot that is ours; returns whether there was one.
pub(crate) fn issue<C: Clock, Q: Queue, const RECORD: bool>(
    index: usize,
    worker: &mut Parts<'_, '_, Q>,
    clock: C,
) -> Result<bool, EngineError> {
    let slot = &mut worker.slots[index];
    let lane = &mut worker.lanes[slot.lane as usize];
    if !lane.has_more() {
        return Ok(false);
    }
    if must_wait(lane, lane.under_way, worker.constants) {
        lane.free.push(narrow(index));
        return Ok(false);
    }
    lane.under_way += 1;
    worker.tally.under_way += 1;
    if !dispatch(slot, lane, worker.queue, worker.constants) {
        push_slowly(worker, index, RECORD.then(|| clock.now()))?;
    }
    if RECORD {
        worker.fresh.add(narrow(index));
    }
    Ok(true)
}

/// The parts of a worker that the hot loop changes, and its constants.
pub(crate) struct Parts<'w, 's, Q: Queue> {
    pub(crate) constants: &'w RoundConstants<'s>,
    pub(crate) queue: &'w mut Q,
    pub(crate) lanes: &'w mut [Lane<'s>],
    pub(crate) slots: &'w mut [RequestSlot<Q>],
    pub(crate) fresh: &'w mut Fresh,
    pub(crate) tally: &'w mut Tally,
}

/// Prepares the lane's next transfer in a slot that is ours, and queues it. Returns whether there was room;
/// if not, [`push_slowly`] queues it.
#[inline(always)]
fn dispatch<Q: Queue>(
    slot: &mut RequestSlot<Q>,
    lane: &mut Lane<'_>,
    queue: &mut Q,
    constants: &RoundConstants<'_>,
) -> bool {
    lane.issued += 1;
    let offset = lane.offsets.next();
    slot.offset = offset;
    Q::set_offset(&mut slot.template, offset);
    if constants.varies {
        if constants.mixed {
            slot.writes = lane.mixture.next_writes();
            queue.set_writes(&mut slot.template, slot.writes);
        }
        if let Some(pattern) = &constants.rules.pattern
            && slot.writes
        {
            // SAFETY: the slot is ours: its last transfer was reaped, or it had none.
            let buffer = unsafe { std::slice::from_raw_parts_mut(slot.memory, constants.bytes as usize) };
            slot.writer.place(pattern, buffer, offset);
            if constants.syncs {
                return false;
            }
        }
    }
    // SAFETY: the slot's memory belongs to this worker until everything in flight was reaped, and is not
    // touched until then.
    unsafe { queue.push(&slot.template) }
}

/// Queues a slot's template together with its fsync, or after the ring was full. Queued entries are
/// submitted first, and `now` becomes their start if starts are recorded.
#[cold]
#[inline(never)]
fn push_slowly<Q: Queue>(
    worker: &mut Parts<'_, '_, Q>,
    index: usize,
    now: Option<u64>,
) -> Result<(), EngineError> {
    let slot = &worker.slots[index];
    let sync = (worker.constants.syncs && slot.writes).then(|| worker.lanes[slot.lane as usize].file);
    loop {
        let template = &worker.slots[index].template;
        let queued = match sync {
            // SAFETY: as in `dispatch`, which this is a part of.
            Some(file) => unsafe { worker.queue.push_with_sync(template, file) },
            // SAFETY: as in `dispatch`, which this is a part of.
            None => unsafe { worker.queue.push(template) },
        };
        if queued {
            return Ok(());
        }
        if let Some(now) = now {
            worker.fresh.start(worker.slots, now);
        }
        worker.queue.submit().map_err(Q::failed)?;
    }
}

/// Accounts for a completion and, in a closed loop, queues the lane's next transfer in the same slot.
#[inline(always)]
pub(crate) fn turn<C: Clock, Q: Queue, const RECORD: bool, const OPEN: bool>(
    data: u64,
    result: i32,
    now: u64,
    worker: &mut Parts<'_, '_, Q>,
    clock: C,
    recorder: &mut Recorder<'_>,
    findings: &mut CheckResults,
) -> Result<Completed, EngineError> {
    let constants = worker.constants;
    if result != constants.whole && !settle(data, result, worker)? {
        return Ok(Completed::Busy);
    }
    let index = slot_of(data);
    let slot = &mut worker.slots[index];
    let lane = &mut worker.lanes[slot.lane as usize];
    let direction = usize::from(slot.writes);
    lane.last = now;
    lane.done[direction] += 1;
    worker.tally.done[direction] += 1;
    if RECORD {
        let from = if OPEN { slot.intended } else { slot.start };
        recorder.add(direction, between(from, now), now);
        recorder.keep(lane.plan.task, direction, slot.start, now, slot.offset);
        if OPEN {
            recorder.add_service(direction, between(slot.start, now));
        }
    }
    if !OPEN && now >= lane.deadline {
        lane.end();
        let transfers = lane.transfers();
        lane.stonewall.get_or_insert((now, transfers));
    }
    let mut waits = OPEN;
    if constants.verifies {
        if !slot.writes {
            verify(slot, lane, constants, findings).inspect_err(|_| worker.tally.under_way -= 1)?;
        }
        waits |= must_wait(lane, lane.under_way - 1, constants);
    }
    if !waits && lane.has_more() {
        if !dispatch(slot, lane, worker.queue, constants) {
            push_slowly(worker, index, RECORD.then(|| clock.now()))?;
        }
        if RECORD {
            worker.fresh.add(narrow(index));
        }
        return Ok(Completed::Busy);
    }
    lane.under_way -= 1;
    worker.tally.under_way -= 1;
    if constants.last_round && lane.under_way == 0 && !lane.has_more() {
        worker.tally.publish(constants.counters);
        constants.shared.task_done(now);
    }
    Ok(Completed::Ours)
}

/// Checks the data read into the slot.
#[inline(never)]
fn verify<Q: Queue>(
    slot: &RequestSlot<Q>,
    lane: &Lane<'_>,
    constants: &RoundConstants<'_>,
    findings: &mut CheckResults,
) -> Result<(), EngineError> {
    let rules = constants.rules;
    let Some(table) = &rules.noise else { return Ok(()) };
    let (plan, generations) = (lane.plan, rules.generations());
    let expected = Expected { table, file: plan.file.index, generations };
    // SAFETY: the slot is ours: its read was just reaped.
    let buffer = unsafe { std::slice::from_raw_parts(slot.memory, constants.bytes as usize) };
    check(buffer, slot.offset, plan.task, &expected, findings);
    if rules.quit_on_error && findings.wrong_cells > 0 {
        return Err(wrong_data(findings, generations, plan));
    }
    Ok(())
}

/// Handles a completion that is not a whole transfer: an fsync, a write waiting for one, a short transfer, an
/// error. Returns whether the transfer is complete now.
#[cold]
#[inline(never)]
fn settle<Q: Queue>(data: u64, result: i32, worker: &mut Parts<'_, '_, Q>) -> Result<bool, EngineError> {
    let (index, is_sync) = (slot_of(data), data & SYNC != 0);
    let settled =
        if is_sync { settle_sync(data, result, worker) } else { settle_transfer(data, result, worker) };
    let constants = worker.constants;
    let slot = &mut worker.slots[index];
    if matches!(settled, Ok(true)) {
        slot.moved = 0;
        slot.prepare(index, &worker.lanes[slot.lane as usize], worker.queue, constants);
    }
    // A failed write is still followed by the completion of its cancelled fsync.
    if settled.is_err() && slot.is_end(data, constants) {
        worker.tally.under_way -= 1;
    }
    settled
}

fn settle_sync<Q: Queue>(data: u64, result: i32, worker: &mut Parts<'_, '_, Q>) -> Result<bool, EngineError> {
    let index = slot_of(data);
    let slot = &mut worker.slots[index];
    let lane = &worker.lanes[slot.lane as usize];
    match Errno(result.wrapping_neg()) {
        // The rest of a short write is submitted with its own fsync.
        errno if slot.cut_short && (result >= 0 || errno.0 == libc::ECANCELED) => {
            slot.cut_short = false;
            push_rest(index, worker)
        }
        _ if result >= 0 => Ok(true),
        Errno(libc::EINTR | libc::EAGAIN) => push_sync(worker.queue, lane.file, index as u64).map(|()| false),
        errno => Err(file::call("fsync", &lane.plan.file.path, errno)),
    }
}

fn settle_transfer<Q: Queue>(
    data: u64,
    result: i32,
    worker: &mut Parts<'_, '_, Q>,
) -> Result<bool, EngineError> {
    let constants = worker.constants;
    let index = slot_of(data);
    let slot = &mut worker.slots[index];
    let path = &worker.lanes[slot.lane as usize].plan.file.path;
    let syncs = slot.writes && constants.syncs;
    let moved = u32::try_from(result).unwrap_or(0);
    slot.moved += moved;
    if slot.moved == constants.bytes {
        if syncs && !Q::LINKS_SYNC {
            push_sync(worker.queue, worker.lanes[slot.lane as usize].file, index as u64)?;
        }
        return Ok(!syncs);
    }
    let short = Short {
        path,
        operation: if slot.writes { Operation::Write } else { Operation::Read },
        offset: slot.offset,
        asked: constants.bytes as usize,
        moved: slot.moved as usize,
    };
    match Errno(result.wrapping_neg()) {
        _ if result >= 0 => {
            short.judge(moved as usize, constants.rules.single_attempt, file::length_of(path))?;
            if slot.moved == moved {
                constants.shared.continued.fetch_add(1, Ordering::Relaxed);
            }
        }
        Errno(libc::EINTR | libc::EAGAIN) => {}
        errno => return Err(short.failed(errno)),
    }
    if syncs && Q::LINKS_SYNC {
        // The linked fsync is cancelled; the rest is submitted after that.
        slot.cut_short = true;
        return Ok(false);
    }
    push_rest(index, worker)
}

/// Queues the rest of a transfer, which is not complete yet.
fn push_rest<Q: Queue>(index: usize, worker: &mut Parts<'_, '_, Q>) -> Result<bool, EngineError> {
    let constants = worker.constants;
    let slot = &mut worker.slots[index];
    let lane = &worker.lanes[slot.lane as usize];
    slot.template = worker.queue.template(&slot.rest(index, lane, constants));
    push_slowly(worker, index, None).map(|()| false)
}

/// Queues an fsync, making room if necessary.
pub(crate) fn push_sync<Q: Queue>(queue: &mut Q, file: i32, user_data: u64) -> Result<(), EngineError> {
    while !queue.push_sync(file, user_data) {
        queue.submit().map_err(Q::failed)?;
    }
    Ok(())
}

/// The slot or lane that a completion belongs to.
#[inline(always)]
pub(crate) fn slot_of(data: u64) -> usize {
    (data & (SYNC - 1)) as usize
}

/// Makes the number of a slot or lane.
#[inline(always)]
#[expect(
    clippy::cast_possible_truncation,
    reason = "tasks times depth is below 2^32 where memory has room for buffers"
)]
pub(crate) fn narrow(index: usize) -> u32 {
    debug_assert!(u32::try_from(index).is_ok());
    index as u32
}
