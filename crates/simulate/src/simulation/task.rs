//! A task of a phase, and its sequence of operations.

use std::collections::VecDeque;

use engine::{Mixture, Offsets, TaskOutcome, TransferLimit};
use plan::{Operation, Phase, Tree, Workload};

use crate::simulation::objects::ObjectState;
use crate::simulation::parts::names::NameCall;
use crate::simulation::time::{Ticks, ns};

/// The devices of a case that uses members of its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Members {
    /// The device of its first path.
    pub(crate) first: u32,
    /// Number of its paths, each of which is a device.
    pub(crate) count: u32,
}

/// Total size of the files of each task of `workload`, in bytes.
pub(crate) fn bytes_of_task(workload: &Workload) -> u64 {
    match workload.work.tree().is_some() || workload.work.objects().is_some() {
        true => workload.footprint().0 / u64::from(workload.tasks.max(1)),
        false => workload.geometry.bytes_per_task().0,
    }
}

/// Number of operations that a task has in flight. Calls on names are made one after another.
pub(crate) fn depth_of(workload: &Workload) -> u32 {
    if workload.work.makes_trees() { 1 } else { workload.backend.depth().max(1) }
}

/// The kind of operations of a task.
#[derive(Debug, Clone)]
#[expect(clippy::large_enum_variant, reason = "all tasks of a phase have the same")]
pub(crate) enum Program {
    /// Transfers within its file.
    Transfers { offsets: Offsets, mixture: Mixture },
    /// Calls on names.
    Items(Items),
    /// Operations on small objects.
    Objects(ObjectState),
    /// Requests and responses on one connection.
    Exchanges,
    /// The work of a thread of a job.
    Job,
}

/// Calls on the names of a tree.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Items {
    pub(crate) call: NameCall,
    pub(crate) operation: Operation,
    /// Number of bytes of each file that are moved as well.
    pub(crate) bytes: u64,
    /// Number of names in one directory. The directories of each task's own tree have different numbers.
    per_directory: u64,
    first_directory: u64,
}

impl Items {
    /// The calls in `phase` on `tree` by task `task` of `tasks`, and their number.
    pub(crate) fn of(tree: &Tree, phase: Phase, task: u32, tasks: u32, limit: Option<u64>) -> (Self, u64) {
        let alone = match phase {
            Phase::TreeCreate | Phase::TreeRemove => tree.collective || !tree.own_trees,
            Phase::FileRemove => tree.shared,
            _ => false,
        };
        let all = tree.operations(phase, tasks);
        let count = match alone {
            true if task == 0 => all,
            true => 0,
            false => all / u64::from(tasks.max(1)),
        };
        let bytes = match phase {
            Phase::FileCreate | Phase::FileWrite => tree.write_bytes.0,
            Phase::FileRead => tree.read_bytes.0,
            _ => 0,
        };
        let operation = phase.operation().unwrap_or(Operation::Read);
        let per_directory = match phase {
            Phase::TreeCreate | Phase::TreeRemove => u64::from(tree.branching.max(1)),
            Phase::DirectoryList => 1,
            _ => tree.items_per_directory.max(1),
        };
        let first_directory = if tree.own_trees { u64::from(task + 1) << 32 } else { 0 };
        let items = Self { call: NameCall::of(phase), operation, bytes, per_directory, first_directory };
        (items, limit.map_or(count, |limit| limit.min(count)))
    }

    /// The directory of name number `index`.
    pub(crate) fn directory(&self, index: u64) -> u64 {
        self.first_directory + index / self.per_directory
    }
}

/// Consecutive bytes of a file in a page cache, whose write has not begun.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Gathered {
    /// The file and the offset of the first byte.
    pub(crate) place: (u64, u64),
    pub(crate) bytes: u64,
}

/// What a page cache has read ahead for a task that reads a file in order.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReadAhead {
    /// The file and the offset at which the last read ended.
    pub(crate) next: (u64, u64),
    /// The offset up to which that file is in the page cache from `next` on, or is being read to it.
    pub(crate) until: u64,
    /// The offset from which on it is being read.
    pub(crate) ready: u64,
}

/// The state of a task.
#[derive(Debug, Clone)]
pub(crate) struct Task {
    pub(crate) number: u32,
    /// Its phase, among those that run at the same time.
    pub(crate) phase: u32,
    /// Its node, among those that take part.
    pub(crate) node: u32,
    /// Number of its file.
    pub(crate) file: u32,
    /// The number that determines on which devices the layout places its file.
    pub(crate) place: u64,
    pub(crate) program: Program,
    /// Maximum number of operations.
    pub(crate) limit: u64,
    pub(crate) issued: u64,
    pub(crate) done: [u64; 3],
    pub(crate) bytes: u64,
    pub(crate) under_way: u32,
    /// Whether it has seen the deadline or has completed all operations.
    pub(crate) is_over: bool,
    /// The time until which its thread is busy.
    pub(crate) busy_until: Ticks,
    /// Number of bytes in the page cache that have not been written yet.
    pub(crate) unwritten: u64,
    /// Those of them that are gathered for one write.
    pub(crate) gathered: Option<Gathered>,
    pub(crate) ahead: ReadAhead,
    /// Requests that wait for what is read ahead.
    pub(crate) awaiting: VecDeque<u32>,
    /// The share of its reads that the page cache serves.
    pub(crate) cached: f64,
    pub(crate) opened: [Ticks; 2],
    pub(crate) io: [Ticks; 2],
    pub(crate) closed: Option<[Ticks; 2]>,
}

impl Task {
    /// Creates a task that has not begun, with its node and the number of its file. `cached` is the share of its
    /// reads that the page cache serves.
    pub(crate) fn new(
        number: u32,
        (node, file): (u32, u32),
        program: Program,
        limit: u64,
        cached: f64,
    ) -> Self {
        Self {
            number,
            phase: 0,
            node,
            file,
            place: u64::from(file),
            program,
            limit,
            issued: 0,
            done: [0; 3],
            bytes: 0,
            under_way: 0,
            is_over: false,
            busy_until: 0,
            unwritten: 0,
            gathered: None,
            ahead: ReadAhead { next: (u64::MAX, 0), ready: 0, until: 0 },
            awaiting: VecDeque::new(),
            cached,
            opened: [0; 2],
            io: [0; 2],
            closed: None,
        }
    }
}

/// Indices into [`Task::done`].
pub(crate) const READS: usize = 0;
/// See [`READS`].
pub(crate) const WRITES: usize = 1;
/// See [`READS`].
pub(crate) const ITEMS: usize = 2;

impl Task {
    /// Its outcome, with times relative to `start`.
    pub(crate) fn outcome(&self, start: Ticks) -> TaskOutcome {
        let since = |at: Ticks| ns(at.saturating_sub(start));
        let closed = self.closed.unwrap_or([self.io[1]; 2]);
        TaskOutcome {
            task: self.number,
            file: self.file,
            open_start_ns: since(self.opened[0]),
            open_end_ns: since(self.opened[1]),
            io_start_ns: since(self.io[0]),
            io_end_ns: since(self.io[1]),
            close_start_ns: since(closed[0]),
            close_end_ns: since(closed[1]),
            bytes: self.bytes,
            reads: self.done[READS],
            writes: self.done[WRITES],
            items: self.done[ITEMS],
            stonewall_transfers: None,
        }
    }
}

/// The limit for the task at `index` of a phase.
pub(crate) fn limit_of(limit: TransferLimit<'_>, index: usize) -> Option<u64> {
    match limit {
        TransferLimit::Pass => None,
        TransferLimit::Exactly(count) => Some(count),
        TransferLimit::PerTask(counts) => counts.get(index).copied(),
    }
}
