//! An operation of a task: its beginning, its processor time, its call on a name, and its end.

use plan::Operation;

use super::Running;
use crate::simulation::exchanges::Exchanges;
use crate::simulation::parts::names::NameCall;
use crate::simulation::parts::service::whole;
use crate::simulation::parts::station::{READ, WRITE};
use crate::simulation::request::{Request, Stage};
use crate::simulation::task::{ITEMS, Program, READS, WRITES};
use crate::simulation::time::{TICKS_PER_NS, Ticks};

impl Running<'_> {
    /// Begins the next operation of the request's task, if there is one.
    pub(super) fn next(&mut self, now: Ticks, number: u32) -> Option<Ticks> {
        if self.jobs.is_some() {
            return self.job_next(now, number);
        }
        let request = self.requests.get(number);
        let phase = &self.phases[request.phase as usize];
        let task = &mut self.tasks[request.task as usize];
        let limit = phase.worn.map_or(task.limit, |worn| task.limit.min(worn));
        let may_end = phase.objects.as_ref().is_none_or(|objects| objects.may_end(task.issued));
        if task.issued >= limit || (now >= phase.deadline && may_end) {
            return self.rest(now, number);
        }
        let mut due = now;
        match &mut task.program {
            Program::Transfers { offsets, mixture } => {
                let writes = mixture.next_writes();
                request.piece.set_direction(if writes { WRITE } else { READ });
                request.operation = if writes { Operation::Write } else { Operation::Read };
                request.piece.bytes = phase.transfer;
                request.piece.place = (task.place, offsets.next());
            }
            Program::Items(items) => {
                request.operation = items.operation;
                request.piece.bytes = items.bytes;
                let reads = items.operation == Operation::Read;
                request.piece.set_direction(if reads { READ } else { WRITE });
                // Each name belongs to its own file.
                let file = (u64::from(task.number) << 32) + task.issued;
                request.piece.place = (items.directory(task.issued), file);
            }
            Program::Objects(state) => {
                let own = (task.number, task.limit);
                due = phase.objects.as_ref()?.call(own, task.issued, state, request, now);
            }
            Program::Exchanges => Self::exchange(request),
            // Its threads determine what comes next.
            Program::Job => return None,
        }
        if let Some((each, between)) = phase.pace {
            let after = each * task.issued as f64 + between * f64::from(task.number);
            due = phase.first_io.saturating_add(whole(after));
            if due >= phase.deadline {
                return self.rest(now, number);
            }
        }
        // Operations during a warm-up do not count for the requested number.
        task.issued += u64::from(phase.exchanges.as_ref().is_none_or(|all| all.is_of_the_number(now)));
        task.under_way += 1;
        request.due = due;
        if phase.exchanges.is_some() {
            return self.work(now, number);
        }
        request.stage = Stage::Submit;
        if due > now { Some(due) } else { self.submit(now, number) }
    }

    /// Drops the request, because its task begins no other operation.
    fn rest(&mut self, now: Ticks, number: u32) -> Option<Ticks> {
        let index = self.requests.get(number).task;
        self.requests.remove(number);
        if self.tasks[index as usize].under_way == 0 {
            self.task_is_over(now, index);
        }
        None
    }

    /// Spends processor time.
    pub(super) fn submit(&mut self, now: Ticks, number: u32) -> Option<Ticks> {
        let request = self.requests.get(number);
        request.submitted = now;
        request.stage = Stage::Issue;
        let time = self.phases[request.phase as usize].request_time;
        let task = &mut self.tasks[request.task as usize];
        let node = task.node as usize;
        let done = match self.crowded[node] {
            true => self.system.nodes[node].processors.serve(now.max(task.busy_until), time),
            false => now.max(task.busy_until).saturating_add(time),
        };
        task.busy_until = done;
        // All are examined when their processor time begins, so that they leave in order. Calls on names are put in order
        // where they arrive.
        let begin = done - time;
        let is_call = matches!(task.program, Program::Items(_) | Program::Objects(_));
        if begin == now || is_call { self.issue(done, number) } else { Some(begin) }
    }

    /// Makes a request leave its node.
    pub(super) fn issue(&mut self, now: Ticks, number: u32) -> Option<Ticks> {
        let request = *self.requests.get(number);
        let index = request.task as usize;
        if let Program::Items(_) | Program::Objects(_) = self.tasks[index].program {
            self.requests.get(number).stage = Stage::Names;
            return Some(now.saturating_add(self.phases[request.phase as usize].path.latency));
        }
        self.data(now, number)
    }

    /// A call on a name is served.
    pub(super) fn names(&mut self, now: Ticks, number: u32) -> Option<Ticks> {
        let request = *self.requests.get(number);
        let call = match self.tasks[request.task as usize].program {
            Program::Items(items) => items.call,
            _ => NameCall::of_operation(request.operation),
        };
        let phase = &self.phases[request.phase as usize];
        let (directory, file) = request.piece.place;
        let served = match phase.path.names_of(request.node) {
            Some(names) => {
                self.system.names[names].serve(now, call, directory ^ phase.apart, phase.input.factor)
            }
            None => now.saturating_add(TICKS_PER_NS),
        };
        let back = served.saturating_add(phase.path.latency);
        let next = self.requests.get(number);
        next.stage = Stage::End;
        next.ended = back;
        if request.piece.bytes > 0 && phase.moves_data {
            next.piece.place = (file, 0);
            next.stage = Stage::Data;
        }
        Some(back)
    }

    /// An operation has ended.
    pub(super) fn end(&mut self, now: Ticks, number: u32) -> Option<Ticks> {
        let request = *self.requests.get(number);
        self.requests.get(number).stage = Stage::Next;
        if self.jobs.is_some() {
            return self.job_moved(now, number);
        }
        let moved = self.bytes_of(&request);
        let phase = &mut self.phases[request.phase as usize];
        let task = &mut self.tasks[request.task as usize];
        task.under_way -= 1;
        if !request.counts {
            task.io[1] = task.io[1].max(now);
            return self.next(now, number);
        }
        if phase.exchanges.as_ref().is_some_and(|all| !all.counts(request.due, now)) {
            return self.next(now, number);
        }
        task.bytes += moved;
        let kind = match task.program {
            Program::Items(_) | Program::Objects(_) | Program::Exchanges | Program::Job => ITEMS,
            Program::Transfers { .. } if request.operation == Operation::Write => WRITES,
            Program::Transfers { .. } => READS,
        };
        task.done[kind] += 1;
        task.io[1] = task.io[1].max(now);
        phase.moved += moved;
        let node = task.node as usize;
        phase.recording.add(node, request.operation, now - phase.start, now - request.due, moved);
        if phase.pace.is_some() {
            phase.recording.add_service(request.operation, now - request.submitted);
        }
        self.next(now, number)
    }

    /// Bytes that an operation has moved for its task.
    pub(super) fn bytes_of(&self, request: &Request) -> u64 {
        let phase = &self.phases[request.phase as usize];
        match &self.tasks[request.task as usize].program {
            Program::Transfers { .. } => phase.transfer,
            Program::Items(items) => items.bytes,
            Program::Objects(_) => phase.objects.as_ref().map_or(0, |all| all.bytes_of(request.operation)),
            Program::Job => request.piece.bytes,
            Program::Exchanges => phase.exchanges.as_ref().map_or(0, Exchanges::bytes),
        }
    }
}
