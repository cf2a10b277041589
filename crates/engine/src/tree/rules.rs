//! The resolved plan of a tree phase: which items each task touches, and how many.

use std::ops::Range;
use std::path::PathBuf;

use plan::{Bytes, Operation, Permutation, Phase, PhaseSubject, Tree, TreePlacement};
use rustix::fs::OFlags;

use crate::data::check::{NoiseTable, generations};
use crate::phase::rules::LEAST_INTERVAL_NS;
use crate::tree::data::DataPatterns;
use crate::{PhaseJob, Point, TransferLimit};

/// Parameters shared by all tasks of a phase.
#[derive(Debug)]
pub(crate) struct TreeRules<'a> {
    pub(crate) job: &'a PhaseJob<'a>,
    pub(crate) tree: &'a Tree,
    pub(crate) placement: TreePlacement<'a>,
    pub(crate) phase: Phase,
    pub(crate) operation: Operation,
    /// Number of tasks in the whole run.
    pub(crate) all_tasks: u32,
    /// Number of tasks with distinct roots.
    pub(crate) distinct_roots: u32,
    /// Number of bytes that one operation moves.
    pub(crate) bytes: u64,
    /// `O_DIRECT`, if the data of files bypasses the page cache.
    pub(crate) direct: OFlags,
    /// Whether names are only built, without doing any operation.
    pub(crate) null: bool,
    /// Patterns of the data to write, or `None` if nothing is written.
    pub(crate) patterns: Option<DataPatterns>,
    /// Noise that reads are compared with, or `None` without verification.
    pub(crate) noise: Option<NoiseTable>,
}

/// One task of this process.
#[derive(Debug, Clone)]
pub(crate) struct ItemPlan {
    /// The task's number in the whole run.
    pub(crate) task: u32,
    /// The task whose items this task touches.
    pub(crate) owner: u32,
    /// Root of the owner's tree.
    pub(crate) root: PathBuf,
    /// Number of operations unless the clock ends the phase.
    pub(crate) limit: u64,
    /// The order of the items, if random.
    pub(crate) order: Option<Permutation>,
    /// Owners of the trees that the task creates or removes.
    pub(crate) trees: Range<u32>,
}

impl<'a> TreeRules<'a> {
    pub(crate) fn new(job: &'a PhaseJob<'a>, placement: TreePlacement<'a>) -> Self {
        let (workload, tree, phase) = (job.workload, placement.tree(), job.phase);
        let null = !workload.backend.moves_data();
        let bytes = tree.bytes_per_item(phase);
        let writes = matches!(phase, Phase::FileCreate | Phase::FileWrite) && bytes > Bytes(0) && !null;
        let data = &job.data;
        let verifies = phase == Phase::FileRead && workload.verify && !null;
        Self {
            job,
            tree,
            placement,
            phase,
            operation: phase.operation().unwrap_or(Operation::Create),
            all_tasks: workload.tasks,
            distinct_roots: u32::try_from(placement.roots(job.repetition).len()).unwrap_or(u32::MAX),
            bytes: bytes.0,
            direct: if workload.direct { OFlags::DIRECT } else { OFlags::empty() },
            null,
            patterns: writes.then(|| DataPatterns::new(data.signature, data.write_generation, bytes.0)),
            noise: verifies.then(|| NoiseTable::new(data.signature)),
        }
    }

    /// The points at which all tasks synchronise.
    pub(crate) fn points(&self) -> Vec<Point> {
        let mut points = vec![Point::Ready, Point::Start];
        points.extend(self.job.ending().point());
        // A root is only removed when no task's tree is left in it.
        if self.job.workload.barriers || self.phase == Phase::TreeRemove {
            points.push(Point::Transferred);
        }
        points.push(Point::Closed);
        points
    }

    /// The first and last generation that a check accepts.
    pub(crate) fn generations(&self) -> Option<(u16, u16)> {
        generations(&self.job.data.expect)
    }

    /// Length of an interval of the series.
    pub(crate) fn interval_ns(&self) -> u64 {
        self.job.series_interval.0.max(LEAST_INTERVAL_NS)
    }

    /// Whether the items are directories.
    pub(crate) fn of_directories(&self) -> bool {
        self.phase.subject() == PhaseSubject::Directories
    }

    /// Whether the phase creates or removes the directories of trees.
    pub(crate) fn of_trees(&self) -> bool {
        matches!(self.phase, Phase::TreeCreate | Phase::TreeRemove)
    }

    /// The number that identifies `owner`'s tree in its directory names.
    pub(crate) fn tree_number(&self, owner: u32) -> Option<u32> {
        self.tree.own_trees.then_some(owner)
    }

    /// The file number of an item's data, which never changes. It wraps around at 2^32 items.
    #[expect(clippy::cast_possible_truncation, reason = "documented")]
    pub(crate) fn file_number(&self, owner: u32, item: u64) -> u32 {
        u64::from(owner).wrapping_mul(self.tree.items_per_task()).wrapping_add(item) as u32
    }

    /// The item whose data is in the file now named `item`. Each renaming in a ring has moved all files but the last
    /// one down by one name.
    #[inline(always)]
    pub(crate) fn content_of(&self, plan: &ItemPlan, item: u64) -> u64 {
        match plan.limit.saturating_sub(1) {
            ring if self.job.renamings > 0 && item < ring => (item + u64::from(self.job.renamings)) % ring,
            _ => item,
        }
    }

    /// The name of the file that has the data of `item`: the inverse of [`TreeRules::content_of`].
    pub(crate) fn item_with(&self, plan: &ItemPlan, item: u64) -> u64 {
        match plan.limit.saturating_sub(1) {
            ring if item < ring => (item + ring - u64::from(self.job.renamings) % ring) % ring,
            _ => item,
        }
    }

    /// The tasks of this process.
    pub(crate) fn tasks(&self) -> Vec<ItemPlan> {
        self.job.tasks.clone().enumerate().map(|(index, task)| self.task(index, task)).collect()
    }

    fn task(&self, index: usize, task: u32) -> ItemPlan {
        let owner = self.tree.owner(task, self.phase, self.all_tasks);
        let trees = self.trees_of(task);
        let all = self.tree.items_per_task();
        let items = match self.job.limit {
            TransferLimit::Pass => self.job.workload.transfers_per_pass().min(all),
            TransferLimit::Exactly(count) => count.min(all),
            TransferLimit::PerTask(counts) => counts.get(index).map_or(all, |&count| count.min(all)),
        };
        let limit = match self.phase {
            Phase::TreeCreate | Phase::TreeRemove => {
                u64::from(trees.end - trees.start).saturating_mul(self.tree.directories())
            }
            Phase::DirectoryList if items == all => self.tree.used_directories().1,
            Phase::DirectoryList => items.div_ceil(self.tree.items_per_directory.max(1)),
            // Shared items can only be removed once.
            Phase::FileRemove | Phase::FileRename if self.tree.shared && task > 0 => 0,
            _ => items,
        };
        let looks = matches!(self.phase, Phase::FileStat | Phase::DirectoryStat);
        let seed = self.tree.random.filter(|_| looks && limit > 1);
        // Each task has its own order, and a new one in each pass.
        let stream = u64::from(owner).wrapping_add(u64::from(self.job.repetition) << 32);
        let order = seed.map(|seed| Permutation::new(limit, seed).rekeyed(stream));
        ItemPlan { task, owner, root: self.placement.root(owner, self.job.repetition), limit, order, trees }
    }

    /// Owners of the trees that `task` creates and removes.
    fn trees_of(&self, task: u32) -> Range<u32> {
        let all = if self.tree.own_trees { self.all_tasks } else { self.distinct_roots };
        match self.tree.collective {
            true if task == 0 => 0..all,
            false if task < all => task..task + 1,
            _ => 0..0,
        }
    }
}
