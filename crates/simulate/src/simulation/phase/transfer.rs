//! The path of bytes between a node and the devices, through its page cache, adapter, links and servers.

use plan::{Operation, Order};

use super::one::RunningPhase;
use super::{Running, narrow};
use crate::simulation::parts::drive::Piece;
use crate::simulation::parts::service::uniform;
use crate::simulation::parts::station::{READ, WRITE};
use crate::simulation::request::{NONE, Request, Stage};
use crate::simulation::system::{Behind, System};
use crate::simulation::task::{Gathered, Program, ReadAhead, Task};
use crate::simulation::time::{TICKS_PER_NS, Ticks};

/// A page cache writes consecutive bytes of a file in requests of this size: Linux sends at most 1,280 KiB at once to
/// most devices (`max_sectors_kb`).
pub(super) const GATHERED_BYTES: u64 = 1 << 20;

/// How far a piece has come.
enum Travel {
    /// It reaches the part with this number at this time, perhaps after others that are not on their way yet.
    Waits(Ticks, u8),
    /// Its node knows at this time that the device has served it.
    Served(Ticks),
}

impl Running<'_> {
    /// Serves the bytes of a request from the page cache of its node, or sends them to the devices.
    pub(super) fn data(&mut self, now: Ticks, number: u32) -> Option<Ticks> {
        let request = *self.requests.get(number);
        let (node, phase) = (request.node as usize, &self.phases[request.phase as usize]);
        if !phase.moves_data {
            self.requests.get(number).stage = Stage::End;
            return Some(now.saturating_add(TICKS_PER_NS));
        }
        if phase.buffered && !(phase.synced && request.piece.direction() == WRITE) {
            let bytes = request.piece.bytes;
            let cost = self.limits.copies.cost(bytes) * phase.input.factor.max(1.0);
            if request.piece.direction() == WRITE {
                let unwritten = self.tasks[request.task as usize].unwritten;
                if self.jobs.is_none() && unwritten.saturating_add(bytes) > phase.bytes_of_task {
                    // The whole file is waiting to be written, so these bytes are included.
                    self.requests.get(number).stage = Stage::End;
                    return Some(self.system.nodes[node].copies.pass(now, cost).max(now + TICKS_PER_NS));
                }
                if !self.waiting[node].is_empty() || !self.has_room(node, bytes) {
                    self.waiting[node].push_back(number);
                    self.waited += 1;
                    self.make_room(now, node);
                    return None;
                }
                return Some(self.copy(now, number));
            }
            let copied = self.system.nodes[node].copies.pass(now, cost).max(now + TICKS_PER_NS);
            return self.read(now, copied, number);
        }
        self.send(now, number, true)
    }

    /// A read through the page cache, whose copy ends at `copied` if the bytes are there.
    fn read(&mut self, now: Ticks, copied: Ticks, number: u32) -> Option<Ticks> {
        let request = *self.requests.get(number);
        let Piece { place: (file, offset), bytes, .. } = request.piece;
        let end = offset + bytes;
        let workload = self.phases[request.phase as usize].input.job.workload;
        let block = workload.geometry.block.0;
        let index = request.task;
        let task = &mut self.tasks[index as usize];
        let is_in_order = task.ahead.next == (file, offset);
        task.ahead.next = (file, end);
        let is_file = matches!(task.program, Program::Transfers { .. });
        let is_sequential = workload.order == Order::Sequential && block > bytes;
        if !(is_file && is_sequential && is_in_order) {
            (task.ahead.ready, task.ahead.until) = (end, end);
            let cached = task.cached;
            // Nothing is read ahead any more where it was before.
            for waiting in std::mem::take(&mut task.awaiting) {
                if let Some(next) = self.send(now, waiting, true) {
                    self.following.push((next, waiting));
                }
            }
            if self.is_cached(cached) {
                self.requests.get(number).stage = Stage::End;
                return Some(copied);
            }
            // Missing data is read while other bytes are copied.
            self.requests.get(number).ended = copied;
            return self.send(now, number, true);
        }
        let request = self.requests.get(number);
        (request.stage, request.ended) = (Stage::End, copied);
        self.look_ahead(now, index, (offset, end));
        let task = &mut self.tasks[index as usize];
        if end <= task.ahead.ready {
            return Some(copied);
        }
        task.awaiting.push_back(number);
        None
    }

    /// Bytes that a page cache reads ahead at a time.
    pub(super) fn read_ahead_unit(&self, of: usize) -> u64 {
        let phase = &self.phases[of];
        phase.path.striping.gathered(GATHERED_BYTES.max(phase.transfer))
    }

    /// Begins to read the next unit of a file when the task reads the one before it, from `offset` to `end`. Units that are
    /// in the page cache are passed over.
    fn look_ahead(&mut self, now: Ticks, index: u32, (offset, end): (u64, u64)) {
        loop {
            let before = self.tasks[index as usize].ahead.until;
            self.read_unit(now, index, offset);
            let ReadAhead { ready, until, .. } = self.tasks[index as usize].ahead;
            if ready < until || ready >= end || until == before {
                return;
            }
        }
    }

    /// Begins to read the next unit, if none is being read and it is needed soon.
    fn read_unit(&mut self, now: Ticks, index: u32, offset: u64) {
        let of = self.tasks[index as usize].phase as usize;
        let (unit, block) = (self.read_ahead_unit(of), self.phases[of].input.job.workload.geometry.block.0);
        let task = &mut self.tasks[index as usize];
        let ReadAhead { next: (file, _), ready, until } = task.ahead;
        let from = until.max(offset);
        // Nothing is read ahead beyond the block of the task.
        let is_needed = from == offset || (from - offset <= unit && !from.is_multiple_of(block));
        if ready < until || !is_needed {
            return;
        }
        let bound = |of: u64| (from / of + 1).saturating_mul(of);
        let until = bound(unit).min(bound(block));
        (task.ahead.ready, task.ahead.until) = (from, until);
        let (node, cached) = (task.node, task.cached);
        if self.is_cached(cached) {
            self.tasks[index as usize].ahead.ready = until;
            return;
        }
        let piece = Piece::new(READ, until - from, (file, from), false);
        let request = Request { stage: Stage::ReadAhead, piece, ..Request::new(index, node, narrow(of)) };
        let request = self.requests.add(request);
        let _ = self.send(now, request, false);
    }

    /// What was read ahead is in the page cache: reads that waited for it end.
    pub(super) fn read_ahead(&mut self, now: Ticks, number: u32) {
        let Request { task: index, piece: Piece { place: (file, from), bytes, .. }, .. } =
            *self.requests.get(number);
        self.requests.remove(number);
        let ahead = &mut self.tasks[index as usize].ahead;
        if (ahead.next.0, ahead.until) != (file, from + bytes) {
            return;
        }
        ahead.ready = ahead.until;
        let mut awaiting = std::mem::take(&mut self.tasks[index as usize].awaiting);
        while let Some(&first) = awaiting.front() {
            let Request { piece: Piece { place: (_, offset), bytes, .. }, ended: copied, .. } =
                *self.requests.get(first);
            self.look_ahead(now, index, (offset, offset + bytes));
            if offset + bytes > self.tasks[index as usize].ahead.ready {
                break;
            }
            awaiting.pop_front();
            self.following.push((copied.max(now), first));
        }
        self.tasks[index as usize].awaiting = awaiting;
    }

    /// Whether the page cache has something of which it has the share `cached`.
    fn is_cached(&mut self, cached: f64) -> bool {
        cached >= 1.0 || (cached > 0.0 && uniform(&mut self.system.random) <= cached)
    }

    /// Whether the page cache of a node takes `bytes` more before it has written others.
    fn has_room(&self, node: usize, bytes: u64) -> bool {
        let dirty = self.system.nodes[node].dirty;
        dirty == 0 || dirty + bytes <= self.limits.cache.map_or(0, |(_, dirty)| dirty)
    }

    /// Copies the bytes of a write to the page cache, which has room for them. Returns when it is done.
    fn copy(&mut self, now: Ticks, number: u32) -> Ticks {
        let request = *self.requests.get(number);
        let bytes = request.piece.bytes;
        let factor = self.phases[request.phase as usize].input.factor;
        let cost = self.limits.copies.cost(bytes) * factor.max(1.0);
        let state = &mut self.system.nodes[request.node as usize];
        state.dirty += bytes;
        let copied = state.copies.pass(now, cost).max(now + TICKS_PER_NS);
        self.requests.get(number).stage = Stage::End;
        self.tasks[request.task as usize].unwritten += bytes;
        self.gather(copied, &request);
        copied
    }

    /// Lets writes that wait for room continue, first come, first served, as far as there is room. If nothing is being
    /// written that would make room, what was gathered for larger writes is written.
    fn make_room(&mut self, now: Ticks, node: usize) {
        while let Some(&first) = self.waiting[node].front() {
            let request = *self.requests.get(first);
            if self.has_room(node, request.piece.bytes) {
                self.waiting[node].pop_front();
                let copied = self.copy(now, first);
                self.following.push((copied, first));
            } else if self.system.nodes[node].writing == 0 {
                self.write_gathered(now, request.task);
                if self.system.nodes[node].writing == 0 {
                    self.write_all_gathered(now, node);
                }
                return;
            } else {
                return;
            }
        }
    }

    /// Writes what the tasks of a node have gathered.
    fn write_all_gathered(&mut self, now: Ticks, node: usize) {
        for index in 0..narrow(self.tasks.len()) {
            if self.tasks[index as usize].node as usize == node {
                self.write_gathered(now, index);
            }
        }
    }

    /// Adds the bytes that a task has copied to its page cache to those before them, and writes them up to the last
    /// boundary of a write, or all of them when others follow that are elsewhere.
    fn gather(&mut self, now: Ticks, request: &Request) {
        let Piece { place: (file, offset), bytes, .. } = request.piece;
        let task = &mut self.tasks[request.task as usize];
        let follows = |one: &Gathered| one.place.0 == file && one.place.1 + one.bytes == offset;
        let gathered = match task.gathered.filter(follows) {
            Some(before) => Gathered { bytes: before.bytes + bytes, ..before },
            None => {
                self.write_gathered(now, request.task);
                Gathered { place: request.piece.place, bytes }
            }
        };
        let unit = self.phases[request.phase as usize].path.striping.gathered(GATHERED_BYTES);
        let end = offset + bytes;
        let left = if gathered.place.1 / unit < end / unit { end % unit } else { gathered.bytes };
        self.write_back(now, request.task, Gathered { bytes: gathered.bytes - left, ..gathered });
        let left = Gathered { place: (file, end - left), bytes: left };
        self.tasks[request.task as usize].gathered = Some(left).filter(|left| left.bytes > 0);
    }

    /// Writes the bytes that a task has gathered in its page cache.
    pub(super) fn write_gathered(&mut self, now: Ticks, index: u32) {
        if let Some(gathered) = self.tasks[index as usize].gathered.take() {
            self.write_back(now, index, gathered);
        }
    }

    fn write_back(&mut self, now: Ticks, index: u32, Gathered { place, bytes }: Gathered) {
        if bytes == 0 {
            return;
        }
        let piece = Piece::new(WRITE, bytes, place, false);
        let Task { node, phase, .. } = self.tasks[index as usize];
        self.system.nodes[node as usize].writing += bytes;
        let new = Request::new(index, node, phase);
        let behind = self.requests.add(Request {
            stage: Stage::WrittenBack,
            piece,
            operation: Operation::Write,
            ..new
        });
        let _ = self.send(now, behind, false);
    }

    /// Sends the pieces of a request on their way. Returns its next event if a task waits for it and there is only one
    /// piece, or all of them were served. Copies to the page cache take a different time on each node.
    pub(super) fn send(&mut self, now: Ticks, number: u32, is_awaited: bool) -> Option<Ticks> {
        let &mut Request { task, node, phase, piece, .. } = self.requests.get(number);
        let (direction, Piece { bytes, place: (file, offset), .. }) = (piece.direction(), piece);
        let mut pieces = std::mem::take(&mut self.pieces);
        let RunningPhase { path, apart, .. } = &self.phases[phase as usize];
        let apart = *apart;
        path.striping.pieces(file, offset, bytes, direction, &mut pieces);
        let single = pieces.len() == 1 && is_awaited;
        let (mut pending, mut ended, mut next) = (0, now, None);
        for (device, mut piece) in pieces.drain(..) {
            piece.place.0 ^= apart;
            match self.leave(now, (node, phase), device, &piece, is_awaited) {
                Travel::Served(back) => ended = ended.max(back),
                Travel::Waits(at, part) => {
                    pending += 1;
                    let stage = Stage::Part(part);
                    if single {
                        let own = self.requests.get(number);
                        (own.device, own.piece, own.stage) = (device, piece, stage);
                        next = Some(at);
                    } else {
                        let part = Request {
                            parent: number,
                            device,
                            piece,
                            stage,
                            ..Request::new(task, node, phase)
                        };
                        let part = self.requests.add(part);
                        self.following.push((at, part));
                    }
                }
            }
        }
        self.pieces = pieces;
        let own = self.requests.get(number);
        (own.pending, own.ended) = (pending, own.ended.max(ended));
        if pending > 0 {
            return next;
        }
        let ended = own.served();
        if is_awaited {
            return Some(ended);
        }
        self.following.push((ended, number));
        None
    }

    /// Sends a piece through the network adapter of the node, and further. It is `in_order` if from here on no other
    /// request leaves any node before `now`.
    fn leave(
        &mut self,
        now: Ticks,
        (node, of): (u32, u32),
        device: u32,
        piece: &Piece,
        in_order: bool,
    ) -> Travel {
        let phase = &self.phases[of as usize];
        let (mut left, mut limited) = (now, false);
        if !phase.path.local {
            let limits = self.limits;
            let state = &mut self.system.nodes[node as usize];
            let (calls, transmission) = (limits.client.cost(piece.bytes), limits.adapter.cost(piece.bytes));
            let factor = phase.input.factor.max(1.0);
            left = state.client.pass(left, calls * factor);
            left = state.adapter[piece.direction()].pass(left, transmission * factor);
            limited = calls + transmission > 0.0;
        }
        let there = left.saturating_add(phase.path.latency);
        // Requests of different nodes or phases do not stay in order.
        let alone = phase.path.local || self.on_one_node;
        if self.phases.len() == 1 && (alone || (in_order && !limited)) {
            self.travel(there, (node, of), device, piece, 0)
        } else {
            Travel::Waits(there, 0)
        }
    }

    /// Moves a piece on from part number `part` of its path, as far as it is known when others arrive there.
    fn travel(
        &mut self,
        mut now: Ticks,
        (node, of): (u32, u32),
        device: u32,
        piece: &Piece,
        part: u8,
    ) -> Travel {
        let phase = &self.phases[of as usize];
        let factor = phase.input.factor;
        for tier in usize::from(part)..phase.goes_on.len() {
            let station = phase.path.station(tier, node, device);
            let System { stations, random, .. } = &mut *self.system;
            now = stations[station].pass(now, piece.direction(), piece.bytes, random, factor);
            if !phase.goes_on[tier] {
                return Travel::Waits(now, u8::try_from(tier + 1).unwrap_or(u8::MAX));
            }
        }
        let drive = phase.path.drive(node, device);
        let System { drives, random, .. } = &mut *self.system;
        let drive = &mut drives[drive];
        let warm = phase.warm && piece.direction() == READ && drive.warming > 0.0;
        let served = if warm && uniform(random) <= drive.warming {
            now.saturating_add(TICKS_PER_NS)
        } else {
            drive.serve(now, piece, factor)
        };
        Travel::Served(served.saturating_add(phase.path.latency))
    }

    /// A request reaches part number `part` of its path.
    pub(super) fn route(&mut self, now: Ticks, number: u32, part: u8) -> Option<Ticks> {
        let &mut Request { node, phase, device, piece, parent, .. } = self.requests.get(number);
        let back = match self.travel(now, (node, phase), device, &piece, part) {
            Travel::Served(back) => back,
            Travel::Waits(at, part) => {
                self.requests.get(number).stage = Stage::Part(part);
                return Some(at);
            }
        };
        let is_part = parent != NONE;
        if is_part {
            self.requests.remove(number);
        }
        let whole = if is_part { parent } else { number };
        let request = self.requests.get(whole);
        request.pending -= 1;
        request.ended = request.ended.max(back);
        if request.pending > 0 {
            return None;
        }
        let ended = request.served();
        if is_part {
            self.following.push((ended, whole));
            return None;
        }
        Some(ended)
    }

    /// Handles the end of a write by the page cache.
    pub(super) fn written_back(&mut self, now: Ticks, number: u32) {
        let request = *self.requests.get(number);
        self.requests.remove(number);
        let (node, bytes) = (request.node as usize, request.piece.bytes);
        if self.is_over() {
            let task = self.tasks.get(request.task as usize).map_or(NONE, |task| task.number);
            let key = self.phases[request.phase as usize].input.key;
            self.system.behind.push(Behind { at: now, node: request.node, bytes, key, task });
        }
        // Data written for an earlier phase belongs to no task.
        if let Some(task) = self.tasks.get_mut(request.task as usize) {
            task.unwritten -= bytes;
            if task.unwritten == 0
                && let Some(closed) = &mut task.closed
                && closed[1] == u64::MAX
            {
                closed[1] = now;
                let of = task.phase as usize;
                self.phases[of].syncing -= 1;
                self.phase_may_end(now, of);
            }
        }
        let state = &mut self.system.nodes[node];
        state.dirty -= bytes;
        state.writing -= bytes;
        self.make_room(now, node);
    }
}
