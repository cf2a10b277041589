//! Operations on small objects in sets.
//!
//! A set is a directory. The directories of a task's own sets are created before its first object and removed
//! after its last one. This takes time but is not counted.

use engine::{Emptied, ObjectCall, ObjectOrder};
use plan::{Objects, Operation, Phase};

use crate::simulation::parts::station::{READ, WRITE};
use crate::simulation::request::Request;
use crate::simulation::time::Ticks;

/// The objects of a phase.
pub(crate) struct ObjectPhase<'a> {
    pub(crate) order: ObjectOrder<'a>,
    objects: &'a Objects,
    /// Number of calls on the directories of each task, before and after its objects.
    around: (u64, u64),
    /// Number of directories that contain the sets, one on each target.
    roots: u64,
}

/// The position of a task among its objects.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ObjectState {
    emptied: Emptied,
    /// When its step began, or `None` before the first one.
    began: Option<Ticks>,
}

impl<'a> ObjectPhase<'a> {
    /// Creates the part of `job` that concerns `objects`.
    pub(crate) fn new(job: &'a engine::PhaseJob<'a>, objects: &'a Objects) -> Self {
        let sets = u64::from(objects.sets);
        let around = match job.phase {
            Phase::Precreate => (sets, 0),
            Phase::Cleanup => (0, sets),
            _ => (0, 0),
        };
        let roots = job.workload.files.targets.len().max(1) as u64;
        Self { order: ObjectOrder::new(job, objects), objects, around, roots }
    }

    /// Number of calls of the task that is at `index` in the phase and has the number `task`.
    pub(crate) fn calls(&self, index: usize, task: u32) -> u64 {
        self.around.0 + self.order.operations(index, task) + self.around.1
    }

    /// Whether a task may end after `done` calls, which is only possible between steps.
    pub(crate) fn may_end(&self, done: u64) -> bool {
        done.is_multiple_of(self.order.round())
    }

    /// Turns `request` into call number `position` of `task`, which has `calls` calls. Returns when it
    /// begins.
    pub(crate) fn call(
        &self,
        (task, calls): (u32, u64),
        position: u64,
        state: &mut ObjectState,
        request: &mut Request,
        now: Ticks,
    ) -> Ticks {
        let (before, after) = self.around;
        request.counts = position >= before && position < calls - after;
        if !request.counts {
            request.operation = if before > 0 { Operation::Create } else { Operation::Remove };
            request.piece.bytes = 0;
            let root = (1 << 63) + u64::from(task) % self.roots;
            request.piece.place = (root, 0);
            return now;
        }
        let position = position - before;
        let call = self.order.at(task, position, &mut state.emptied);
        request.operation = call.operation();
        request.piece.set_direction(if request.operation == Operation::Read { READ } else { WRITE });
        request.piece.bytes = self.bytes_of(request.operation);
        request.piece.place = self.place(call);
        if self.objects.waiting_ppm == 0 || !self.order.begins_step(position) {
            return now;
        }
        // The rest is proportional to the duration of the last step.
        let took = state.began.map_or(0, |began| now - began);
        let begins = now.saturating_add(self.objects.rest_ns(took));
        state.began = Some(begins);
        begins
    }

    /// Number of bytes that `operation` on an object moves.
    pub(crate) fn bytes_of(&self, operation: Operation) -> u64 {
        match operation {
            Operation::Read | Operation::Create => self.objects.object_bytes.0,
            _ => 0,
        }
    }

    /// The directory of an object, and the number of its file.
    fn place(&self, call: ObjectCall) -> (u64, u64) {
        let set = u64::from(call.owner) * u64::from(self.objects.sets) + u64::from(call.set);
        (set, (set << 32).wrapping_add(call.object))
    }
}
