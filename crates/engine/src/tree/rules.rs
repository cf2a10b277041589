//! A phase of a tree resolved: whose items each task touches, and how many.

use std::ops::Range;
use std::path::PathBuf;

use plan::{Backend, Bytes, Operation, Permutation, Phase, Tree, TreePlacement};

use crate::check::{NoiseTable, generations};
use crate::rules::{Ending, LEAST_INTERVAL_NS};
use crate::tree::data::Inks;
use crate::{PhaseJob, Point, TransferLimit};

/// What all tasks of a phase have in common.
#[derive(Debug)]
pub(crate) struct TreeRules<'a> {
    pub(crate) job: &'a PhaseJob<'a>,
    pub(crate) tree: &'a Tree,
    pub(crate) placement: TreePlacement<'a>,
    pub(crate) phase: Phase,
    pub(crate) operation: Operation,
    pub(crate) ending: Ending,
    /// Number of tasks in the whole run.
    pub(crate) all_tasks: u32,
    /// Tasks whose trees stand in roots that no task before them has.
    pub(crate) distinct_roots: u32,
    /// Bytes that one operation moves.
    pub(crate) bytes: u64,
    /// Names are made, but nothing is done.
    pub(crate) null: bool,
    /// What is written; `None` where nothing is.
    pub(crate) inks: Option<Inks>,
    /// Noise to compare reads with; `None` where nothing is verified.
    pub(crate) noise: Option<NoiseTable>,
}

/// One task of this process.
#[derive(Debug, Clone)]
pub(crate) struct ItemPlan {
    /// Its number in the whole run.
    pub(crate) task: u32,
    /// Whose items it touches.
    pub(crate) owner: u32,
    /// Where the owner's tree stands.
    pub(crate) root: PathBuf,
    /// Operations that it does unless the clock ends it.
    pub(crate) limit: u64,
    /// The order of the items, where it is random.
    pub(crate) order: Option<Permutation>,
    /// Owners of the trees that it makes or removes.
    pub(crate) trees: Range<u32>,
}

impl<'a> TreeRules<'a> {
    pub(crate) fn new(job: &'a PhaseJob<'a>, placement: TreePlacement<'a>) -> Self {
        let (workload, tree, phase) = (job.workload, placement.tree(), job.phase);
        // Items that the clock would leave behind would be in the way of what comes after them.
        let may_stop = !matches!(
            phase,
            Phase::TreeCreate
                | Phase::TreeRemove
                | Phase::FileRename
                | Phase::FileRemove
                | Phase::DirectoryRename
                | Phase::DirectoryRemove
        );
        let ending = match workload.stonewall {
            Some(stonewall) if may_stop && matches!(job.limit, TransferLimit::Pass) => {
                Ending::Stonewall { deadline_ns: stonewall.deadline.0, wear_out: stonewall.wear_out }
            }
            _ => Ending::Volume,
        };
        let null = workload.backend == Backend::Null;
        let bytes = tree.bytes_per_item(phase);
        let writes = matches!(phase, Phase::FileCreate | Phase::FileWrite) && bytes > Bytes(0) && !null;
        let data = &job.data;
        let verifies = phase == Phase::FileRead && workload.verify && !null;
        Self {
            job,
            tree,
            placement,
            phase,
            operation: operation(phase),
            ending,
            all_tasks: workload.tasks,
            distinct_roots: u32::try_from(placement.roots(job.repetition).len()).unwrap_or(u32::MAX),
            bytes: bytes.0,
            null,
            inks: writes.then(|| Inks::new(data.signature, data.write_generation, bytes.0)),
            noise: verifies.then(|| NoiseTable::new(data.signature)),
        }
    }

    /// Where all tasks meet.
    pub(crate) fn points(&self) -> Vec<Point> {
        let mut points = vec![Point::Ready, Point::Start];
        if matches!(self.ending, Ending::Stonewall { wear_out: true, .. }) {
            points.push(Point::Stonewall);
        }
        // A root is removed when nobody's tree is left in it.
        if self.job.workload.barriers || self.phase == Phase::TreeRemove {
            points.push(Point::Transferred);
        }
        points.push(Point::Closed);
        points
    }

    /// First and last generation that a check accepts.
    pub(crate) fn generations(&self) -> Option<(u16, u16)> {
        generations(&self.job.data.expect)
    }

    /// Length of an interval of the series.
    pub(crate) fn interval_ns(&self) -> u64 {
        self.job.series_interval.0.max(LEAST_INTERVAL_NS)
    }

    /// Whether the items are directories.
    pub(crate) fn of_directories(&self) -> bool {
        matches!(
            self.phase,
            Phase::DirectoryCreate | Phase::DirectoryStat | Phase::DirectoryRename | Phase::DirectoryRemove
        )
    }

    /// Whether the directories of trees are made or removed.
    pub(crate) fn of_trees(&self) -> bool {
        matches!(self.phase, Phase::TreeCreate | Phase::TreeRemove)
    }

    /// The number of the tree of `owner` in the names of its directories.
    pub(crate) fn tree_number(&self, owner: u32) -> Option<u32> {
        self.tree.own_trees.then_some(owner)
    }

    /// The stable number of an item, by which its data is known. It begins anew beyond 2^32 items.
    #[expect(clippy::cast_possible_truncation, reason = "documented")]
    pub(crate) fn file_number(&self, owner: u32, item: u64) -> u32 {
        u64::from(owner).wrapping_mul(self.tree.items_per_task()).wrapping_add(item) as u32
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
            // What all tasks share can be removed once.
            Phase::FileRemove | Phase::FileRename if self.tree.shared && task > 0 => 0,
            _ => items,
        };
        let looks = matches!(self.phase, Phase::FileStat | Phase::DirectoryStat);
        let seed = self.tree.random.filter(|_| looks && limit > 1);
        // Tasks have orders of their own, and another one in each pass.
        let stream = u64::from(owner).wrapping_add(u64::from(self.job.repetition) << 32);
        let order = seed.map(|seed| Permutation::new(limit, seed).rekeyed(stream));
        ItemPlan { task, owner, root: self.placement.root(owner, self.job.repetition), limit, order, trees }
    }

    /// Owners of the trees that `task` makes and removes.
    fn trees_of(&self, task: u32) -> Range<u32> {
        let all = if self.tree.own_trees { self.all_tasks } else { self.distinct_roots };
        match self.tree.collective {
            true if task == 0 => 0..all,
            false if task < all => task..task + 1,
            _ => 0..0,
        }
    }
}

/// What one operation of `phase` does.
fn operation(phase: Phase) -> Operation {
    match phase {
        Phase::FileWrite => Operation::Write,
        Phase::FileRead => Operation::Read,
        Phase::DirectoryStat | Phase::FileStat => Operation::Stat,
        Phase::DirectoryList => Operation::List,
        Phase::DirectoryRename | Phase::FileRename => Operation::Rename,
        Phase::DirectoryRemove | Phase::FileRemove | Phase::TreeRemove => Operation::Remove,
        _ => Operation::Create,
    }
}
