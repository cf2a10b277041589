//! Trees of directories with small files in them, and sets of small objects.
//!
//! The layout is mdtest's, so that its command lines mean here what they mean there. Source: its
//! documentation and the names that it leaves on disk.

use serde::{Deserialize, Serialize};

use crate::{Bytes, Phase};

/// A path has at most 4096 bytes (`PATH_MAX`), and a level of a tree takes about 20 of them.
pub const TREE_DEPTH_MAX: u32 = 128;

/// A tree of directories, and the items (files, directories) that each task has in it.
///
/// Below each target stands a directory of its own for each pass, [`crate::TreePlacement::root`]; in it one tree
/// for all tasks, or one for each of them. The directories of a tree are numbered level by level from 0,
/// the topmost; those below number `d` are `d · branching + 1` to `d · branching + branching`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tree {
    /// Levels of directories below the topmost one.
    pub depth: u32,
    /// Directories in each directory that is not on the lowest level; at least 1.
    pub branching: u32,
    /// Items stand on the lowest level only.
    pub leaf_only: bool,
    /// Items of each task in each directory that has items.
    pub items_per_directory: u64,
    /// Each task has a tree of its own.
    pub own_trees: bool,
    /// Bytes that are written into a file.
    pub write_bytes: Bytes,
    /// Bytes that are read from a file; 0 opens and closes it.
    pub read_bytes: Bytes,
    /// `fsync(2)` of each file that was written.
    pub sync: bool,
    /// Task `t` looks at items of task `t + shift`, reads those of `t + 2 · shift` and removes those of
    /// `t + 3 · shift`, modulo the tasks, so that no cache of its own node has them.
    pub shift: u32,
    /// Items are looked at in a random order, chosen by this.
    pub random: Option<u64>,
    /// Task 0 makes and removes the trees of all tasks.
    pub collective: bool,
    /// Files are made by `mknod(2)`, without being opened.
    pub make_node: bool,
    /// Items are not made in a directory of this run but in the target itself, which exists.
    pub in_target: bool,
}

impl Tree {
    /// One shared directory with so many items of each task; empty files.
    #[must_use]
    pub const fn flat(items_per_directory: u64) -> Self {
        Self {
            depth: 0,
            branching: 1,
            leaf_only: false,
            items_per_directory,
            own_trees: false,
            write_bytes: Bytes(0),
            read_bytes: Bytes(0),
            sync: false,
            shift: 0,
            random: None,
            collective: false,
            make_node: false,
            in_target: false,
        }
    }

    /// Directories of one tree; `u64::MAX` where that is too many to count.
    #[must_use]
    pub fn directories(&self) -> u64 {
        (0..=self.depth).fold(0, |sum: u64, level| sum.saturating_add(self.on_level(level)))
    }

    /// Directories of one tree on `level`; 0 is the topmost.
    fn on_level(&self, level: u32) -> u64 {
        u64::from(self.branching).saturating_pow(level)
    }

    /// The first directory that has items, and how many have.
    #[must_use]
    pub fn used_directories(&self) -> (u64, u64) {
        let (all, leaves) = (self.directories(), self.on_level(self.depth));
        if self.leaf_only { (all - leaves, leaves) } else { (0, all) }
    }

    /// Items of each kind that each task has.
    #[must_use]
    pub fn items_per_task(&self) -> u64 {
        self.items_per_directory.saturating_mul(self.used_directories().1)
    }

    /// The directory that item number `item` of a task stands in.
    #[must_use]
    pub fn directory_of(&self, item: u64) -> u64 {
        self.used_directories().0 + item / self.items_per_directory.max(1)
    }

    /// Bytes that one operation of `phase` moves.
    #[must_use]
    pub const fn bytes_per_item(&self, phase: Phase) -> Bytes {
        match phase {
            Phase::FileCreate | Phase::FileWrite => self.write_bytes,
            Phase::FileRead => self.read_bytes,
            _ => Bytes(0),
        }
    }

    /// The task whose items `task` touches in `phase`.
    #[must_use]
    pub fn owner(&self, task: u32, phase: Phase, tasks: u32) -> u32 {
        let times = match phase {
            Phase::FileStat | Phase::DirectoryStat => 1,
            Phase::FileRead | Phase::DirectoryList => 2,
            Phase::FileRemove | Phase::DirectoryRemove => 3,
            _ => 0,
        };
        let all = u64::from(tasks.max(1));
        let owner = (u64::from(task) + times * u64::from(self.shift)) % all;
        u32::try_from(owner).unwrap_or(task)
    }
}

/// Goes round small objects in sets: each task owns sets with objects in each, and a step takes one object
/// of a set, looks at it, reads it, removes it, and makes a new one.
///
/// Source: the documentation of md-workbench, which comes with IOR.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Objects {
    /// Sets of each task.
    pub sets: u32,
    /// Objects in each set before the steps begin.
    pub precreated: u64,
    /// Steps in each set in one benchmark phase.
    pub steps: u64,
    /// Bytes of an object.
    pub object_bytes: Bytes,
    /// A step of task `t` takes objects that task `t + offset` has made.
    pub offset: u32,
    /// Each step rests for so much longer than its operations took, times this; 0 does not rest.
    pub waiting_percent: u32,
    /// Steps only look and read.
    pub read_only: bool,
    /// Looking at objects is left out.
    pub no_stat: bool,
}

#[cfg(test)]
mod tests {
    use super::Tree;
    use crate::Phase;

    fn tree(depth: u32, branching: u32) -> Tree {
        Tree { depth, branching, ..Tree::flat(10) }
    }

    #[test]
    fn directories_are_numbered_level_by_level() {
        let tree = tree(2, 3);
        assert_eq!(tree.directories(), 13);
        assert_eq!(tree.used_directories(), (0, 13));
        assert_eq!(tree.items_per_task(), 130);
        let leaves = Tree { leaf_only: true, ..tree };
        assert_eq!(leaves.used_directories(), (4, 9));
        assert_eq!(leaves.items_per_task(), 90);
        assert_eq!((leaves.directory_of(0), leaves.directory_of(19)), (4, 5));
    }

    #[test]
    fn a_shift_moves_each_phase_on_by_one_more() {
        let tree = Tree { shift: 1, ..Tree::flat(1) };
        let owners = [Phase::FileCreate, Phase::FileStat, Phase::FileRead, Phase::FileRemove]
            .map(|phase| tree.owner(3, phase, 4));
        assert_eq!(owners, [3, 0, 1, 2]);
    }
}
