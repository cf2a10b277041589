//! The order in which a task visits objects: the access pattern of md-workbench.
//!
//! Each task has its own sets, in which it creates the initial objects. In each step, task `t` stats, reads
//! and removes the oldest object in set `d` of task `t − offset·(d + 1)`, and creates a new one in set `d` of
//! task `t + offset·(d + 1)`; all modulo the number of tasks. Every set loses and gains one object in each
//! step, so the number of objects stays constant. Source: the `--help` of md-workbench of IOR 4.1, and the
//! files that it touches with five tasks and two sets, as shown by strace.

use plan::{Objects, Operation, Phase};

use crate::{PhaseJob, TransferLimit};

/// The operations on objects, in the order of a step.
pub(crate) const OPERATIONS: [Operation; 4] =
    [Operation::Stat, Operation::Read, Operation::Remove, Operation::Create];
pub(crate) const STAT: usize = 0;
pub(crate) const READ: usize = 1;
pub(crate) const REMOVE: usize = 2;
pub(crate) const CREATE: usize = 3;

/// The order of the operations of all tasks in a phase of objects.
///
/// ```
/// use engine::{ObjectOrder, PhaseJob};
/// use plan::{Bytes, Geometry, Objects, Operation, Phase, Work, WorkloadSpec};
/// let geometry = Geometry { transfer: Bytes(1), block: Bytes(1), segments: 1 };
/// let mut spec = WorkloadSpec::new("w", "d", geometry);
/// let objects = Objects { sets: 2, precreated: 9, steps: 4, offset: 1, ..Objects::default() };
/// (spec.tasks, spec.work) = (5, objects.clone().into());
/// let workload = spec.validate()?;
/// let job = PhaseJob::new(&workload, Phase::Benchmark, 0);
/// let order = ObjectOrder::new(&job, &objects);
/// let mut emptied = Default::default();
/// let first = order.at(0, 0, &mut emptied);
/// assert_eq!((first.operation(), first.owner, first.set), (Operation::Stat, 4, 0));
/// let last = order.at(0, order.round() - 1, &mut emptied);
/// assert_eq!((last.operation(), last.owner, last.set), (Operation::Create, 2, 1));
/// # Ok::<(), plan::PlanError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct ObjectOrder<'a> {
    job: &'a PhaseJob<'a>,
    objects: &'a Objects,
    /// The operations of a step, as indices into [`OPERATIONS`].
    pub(crate) step: &'static [usize],
}

/// An operation on an object.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ObjectCall {
    /// Index into [`OPERATIONS`].
    pub(crate) kind: usize,
    /// The task whose set contains the object.
    pub owner: u32,
    /// Number of the set among those of its owner.
    pub set: u32,
    /// Number of the object among those of its set.
    pub object: u64,
}

/// Progress of a task's cleanup: the set being emptied, and the first operation on it.
pub type Emptied = (u32, u64);

impl ObjectCall {
    /// The operation.
    #[must_use]
    pub const fn operation(&self) -> Operation {
        OPERATIONS[self.kind]
    }
}

impl<'a> ObjectOrder<'a> {
    /// Creates the order of `job`, whose work is `objects`.
    #[must_use]
    pub fn new(job: &'a PhaseJob<'a>, objects: &'a Objects) -> Self {
        let step: &[usize] = match (job.phase, objects.read_only, objects.no_stat) {
            (Phase::Precreate, ..) => &[CREATE],
            (Phase::Cleanup, ..) => &[REMOVE],
            (_, true, true) => &[READ],
            (_, true, false) => &[STAT, READ],
            (_, false, true) => &[READ, REMOVE, CREATE],
            (_, false, false) => &[STAT, READ, REMOVE, CREATE],
        };
        Self { job, objects, step }
    }

    /// Number of operations of a step in all sets. The clock ends a phase only after a multiple of this.
    #[must_use]
    pub fn round(&self) -> u64 {
        self.step.len() as u64 * u64::from(self.objects.sets)
    }

    /// Maximum number of operations of the task that is at `index` in the job and has the number `task`.
    #[must_use]
    pub fn operations(&self, index: usize, task: u32) -> u64 {
        let all = match self.job.phase {
            Phase::Precreate => self.objects.precreated.saturating_mul(self.round()),
            Phase::Cleanup => (0..self.objects.sets).map(|set| count(self.present(task, set))).sum(),
            _ => self.objects.steps.saturating_mul(self.round()),
        };
        match self.job.limit {
            TransferLimit::Pass => all,
            TransferLimit::Exactly(count) => count.min(all),
            TransferLimit::PerTask(counts) => counts.get(index).map_or(all, |&count| count.min(all)),
        }
    }

    /// Operation number `position` of `task`, which must be below [`ObjectOrder::operations`]. The caller
    /// keeps `emptied` for the task; positions must ascend.
    #[must_use]
    #[inline]
    pub fn at(&self, task: u32, position: u64, emptied: &mut Emptied) -> ObjectCall {
        let sets = u64::from(self.objects.sets);
        match self.job.phase {
            Phase::Precreate => {
                let set = u32::try_from(position % sets).unwrap_or(0);
                ObjectCall { kind: CREATE, owner: task, set, object: position / sets }
            }
            Phase::Cleanup => {
                let (mut set, mut from) = *emptied;
                let mut present = self.present(task, set);
                while position - from >= count(present) {
                    debug_assert!(
                        set + 1 < self.objects.sets,
                        "operation {position} of task {task}: no set has it"
                    );
                    (set, from) = (set + 1, from + count(present));
                    present = self.present(task, set);
                }
                *emptied = (set, from);
                ObjectCall { kind: REMOVE, owner: task, set, object: present.0 + (position - from) }
            }
            _ => {
                let length = self.step.len() as u64;
                let (step, operation) = (position / length, position % length);
                let kind = self.step[usize::try_from(operation).unwrap_or(0)];
                let set = u32::try_from(step % sets).unwrap_or(0);
                let object = self.steps_before(task) + step / sets;
                let (before, object) = match (kind, self.objects.read_only) {
                    (CREATE, _) => (false, self.objects.precreated + object),
                    // Objects that steps only read remain, so steps start again after the last object.
                    (_, true) => {
                        let first = self.steps_before(task);
                        (true, first + (object - first) % self.objects.precreated.max(1))
                    }
                    (_, false) => (true, object),
                };
                ObjectCall { kind, owner: self.other(task, set, before), set, object }
            }
        }
    }

    /// Whether operation number `position` is the first of a step, before which a rest is possible.
    #[must_use]
    pub fn begins_step(&self, position: u64) -> bool {
        self.job.phase == Phase::Benchmark && position.is_multiple_of(self.step.len() as u64)
    }

    /// The task whose set number `set` comes `before` (or after) that of `task` in the ring of tasks.
    fn other(&self, task: u32, set: u32, before: bool) -> u32 {
        let all = u64::from(self.job.workload.tasks);
        let places = u64::from(self.objects.offset) * (u64::from(set) + 1) % all;
        let other = if before { u64::from(task) + all - places } else { u64::from(task) + places };
        u32::try_from(other % all).unwrap_or(0)
    }

    /// Number of steps that `task` has done before this phase and that have moved objects.
    fn steps_before(&self, task: u32) -> u64 {
        if self.objects.read_only {
            return self.objects.first;
        }
        self.job.steps_before.get(task as usize).copied().unwrap_or(self.objects.first)
    }

    /// The range of objects in a set of `owner`: the first one, and one past the last.
    fn present(&self, owner: u32, set: u32) -> (u64, u64) {
        // The task that removes from the set comes after the owner, the one that adds to it comes before.
        let taken = self.steps_before(self.other(owner, set, false));
        let added = self.steps_before(self.other(owner, set, true));
        (taken, self.objects.precreated + added)
    }
}

fn count((first, end): (u64, u64)) -> u64 {
    end.saturating_sub(first)
}

#[cfg(test)]
mod tests {
    use plan::{Bytes, Geometry, Objects, Phase, WorkloadSpec};

    use super::ObjectOrder;
    use crate::PhaseJob;

    #[test]
    #[should_panic(expected = "no set has it")]
    #[cfg(debug_assertions)]
    fn the_cleanup_has_no_operation_beyond_its_sets() {
        let geometry = Geometry { transfer: Bytes(1), block: Bytes(1), segments: 1 };
        let mut spec = WorkloadSpec::new("w", "d", geometry);
        let objects = Objects { sets: 2, precreated: 9, steps: 4, offset: 1, ..Objects::default() };
        (spec.tasks, spec.work) = (5, objects.clone().into());
        let workload = spec.validate().expect("valid");
        let job = PhaseJob::new(&workload, Phase::Cleanup, 0);
        let order = ObjectOrder::new(&job, &objects);
        let mut emptied = Default::default();
        let last = order.at(0, order.operations(0, 0) - 1, &mut emptied);
        assert_eq!((last.set, last.object), (1, 8));
        let _ = order.at(0, order.operations(0, 0), &mut emptied);
    }
}
