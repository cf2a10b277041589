//! Which task accesses which file, and where in it.

pub(crate) mod cross_node_reads;
pub(crate) mod geometry;
pub(crate) mod region;
pub(crate) mod spread;

use std::path::{Path, PathBuf};

use crate::placement::region::{RandomBlocks, Region, TransferRegion, VisitOrder};
use crate::{Bytes, Order, Permutation, Phase, ReadFrom, Sharing, Workload};

/// A file of a workload.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileSlot {
    /// Where it is.
    pub path: PathBuf,
    /// Its number in the set; part of the data's signature, so that misplaced data is detected.
    pub index: u32,
}

/// The rules by which the tasks of a workload find their files and offsets.
///
/// ```
/// use plan::{Bytes, Geometry, Phase, Placement, WorkloadSpec};
/// let geometry = Geometry { transfer: Bytes(1), block: Bytes(2), segments: 2 };
/// let mut spec = WorkloadSpec::new("figure 2", "file", geometry);
/// spec.tasks = 3;
/// let workload = spec.validate()?;
/// let region = Placement::new(&workload).region(1, Phase::Write, 0);
/// let offsets: Vec<u64> = (0..4).map(|transfer| region.at(transfer)).collect();
/// assert_eq!(offsets, [2, 3, 8, 9]);
/// # Ok::<(), plan::PlanError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Placement<'a> {
    workload: &'a Workload,
}

impl<'a> Placement<'a> {
    /// The placement of `workload`.
    #[must_use]
    pub fn new(workload: &'a Workload) -> Self {
        Self { workload }
    }

    /// Every file that `repetition` touches, by number.
    #[must_use]
    pub fn files(&self, repetition: u32) -> Vec<FileSlot> {
        (0..self.file_count()).map(|index| self.slot(index, repetition)).collect()
    }

    /// The number of files that one repetition touches.
    #[must_use]
    pub fn file_count(&self) -> u32 {
        match self.workload.files.sharing {
            // Exchanges have no files.
            _ if self.workload.files.targets.is_empty() => 0,
            Sharing::Shared => 1,
            Sharing::PerTask => self.workload.tasks,
        }
    }

    /// Bytes of each file.
    #[must_use]
    pub fn file_bytes(&self) -> Bytes {
        if let Order::RandomBlocks { blocks, .. } = self.workload.order {
            return Bytes(self.workload.geometry.block.0 * blocks);
        }
        match self.workload.files.sharing {
            Sharing::Shared => {
                Bytes(self.workload.geometry.bytes_per_task().0 * u64::from(self.workload.tasks))
            }
            Sharing::PerTask => self.workload.geometry.bytes_per_task(),
        }
    }

    /// Bytes of each file that must exist before a pass: all, or those up to the last transfer if
    /// [`crate::WorkloadSpec::transfer_limit`] ends a pass in order earlier, for example because a deadline ended
    /// the write of the files.
    #[must_use]
    pub fn bytes_to_read(&self) -> Bytes {
        let workload = self.workload;
        if workload.transfer_limit.is_none() || workload.order != Order::Sequential {
            return self.file_bytes();
        }
        let last = |task: u32| {
            let region = self.region(task, Phase::Read, 0);
            let index = region.transfers().checked_sub(1)?;
            Some(region.at(index).saturating_add(region.transfer().0))
        };
        let tasks = match workload.files.sharing {
            Sharing::Shared => 0..workload.tasks,
            Sharing::PerTask => 0..1,
        };
        Bytes(tasks.filter_map(last).max().unwrap_or(0)).min(self.file_bytes())
    }

    /// The task whose data `task` accesses in `phase`: its own if it only writes, or that given by [`ReadFrom`] if
    /// it reads or checks. A mixed phase writes where it reads, and no two tasks share data. A check of a read
    /// compares what that read accessed.
    #[must_use]
    pub fn owner(&self, task: u32, phase: Phase, repetition: u32) -> u32 {
        let tasks = self.workload.tasks;
        if phase.only_writes() {
            return task;
        }
        match self.workload.read_from {
            ReadFrom::Same => task,
            ReadFrom::Shift { tasks: shift } => {
                let shift = u64::from(shift % tasks);
                narrow((u64::from(task) + shift) % u64::from(tasks))
            }
            ReadFrom::Shuffle { at_least, seed, reseed } => {
                let seed = if reseed { seed.wrapping_add(u64::from(repetition)) } else { seed };
                shuffled_owner(task, tasks, at_least, seed)
            }
        }
    }

    /// The file that `task` touches in `phase`.
    #[must_use]
    pub fn file(&self, task: u32, phase: Phase, repetition: u32) -> FileSlot {
        match self.workload.files.sharing {
            Sharing::Shared => self.slot(0, repetition),
            Sharing::PerTask => self.slot(self.owner(task, phase, repetition), repetition),
        }
    }

    /// The offsets that `task` touches in `phase`.
    #[must_use]
    pub fn region(&self, task: u32, phase: Phase, repetition: u32) -> Region {
        let geometry = self.workload.geometry;
        let owner = u64::from(self.owner(task, phase, repetition));
        let tasks = u64::from(self.workload.tasks);
        let (sharers, position) = match self.workload.files.sharing {
            Sharing::Shared => (tasks, owner),
            Sharing::PerTask => (1, 0),
        };
        let per_task = geometry.transfers_per_task();
        let part = TransferRegion {
            geometry,
            segment_stride: geometry.block.0 * sharers,
            block_start: geometry.block.0 * position,
        };
        let way = match self.workload.order {
            Order::Sequential => VisitOrder::Forward,
            Order::Backward => VisitOrder::Backward,
            Order::Strided { stride } => VisitOrder::Strided { stride },
            // Repeated reads of one offset, or reads of some blocks, only cover a part of the data that must exist.
            Order::Same | Order::RandomBlocks { .. } if phase == Phase::Fill => VisitOrder::Forward,
            Order::Same => VisitOrder::Same,
            Order::Random { seed } => {
                let again = if self.workload.fresh_order { u64::from(repetition) } else { 0 };
                let seed = seed.wrapping_add(again);
                // Files of single tasks get an order each; a shared file has one order for all.
                let stream = if sharers == 1 { seed ^ owner.rotate_left(32) } else { seed };
                let first = position * per_task;
                VisitOrder::Random { order: Permutation::new(per_task * sharers, stream), first }
            }
            Order::RandomBlocks { seed, blocks, own } => {
                let seed = if own { seed.wrapping_add(u64::from(task)) } else { seed };
                VisitOrder::Blocks(RandomBlocks { seed, blocks, bytes: geometry.block.0 })
            }
        };
        Region::new(part, way, self.workload.transfers_per_pass())
    }

    fn slot(&self, index: u32, repetition: u32) -> FileSlot {
        let files = &self.workload.files;
        let place = index as usize % files.targets.len().max(1);
        let Some(base) = files.targets.get(place) else { return FileSlot { path: PathBuf::new(), index } };
        let mut path = match files.sharing {
            Sharing::Shared => base.clone(),
            Sharing::PerTask if files.exact_names => base.clone(),
            Sharing::PerTask if files.unique_dir => in_own_directory(base, index),
            Sharing::PerTask => with_suffix(base, &format!(".{index:08}")),
        };
        if files.file_per_repetition {
            path = with_suffix(&path, &format!(".{repetition}"));
        }
        FileSlot { path, index }
    }
}

/// `dir/name` for task 3 becomes `dir/3/name.00000003`, as IOR names it.
fn in_own_directory(base: &Path, index: u32) -> PathBuf {
    let name = base.file_name().unwrap_or_default();
    let own = base.parent().unwrap_or_else(|| Path::new("")).join(index.to_string()).join(name);
    with_suffix(&own, &format!(".{index:08}"))
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// A bijection in which no task keeps its own data if there are at least two tasks.
///
/// Each task reads from its successor on a random cycle over all tasks. If a minimum distance is requested, tasks
/// are rotated by a random number of places instead, which keeps that distance for all.
fn shuffled_owner(task: u32, tasks: u32, at_least: u32, seed: u64) -> u32 {
    if tasks == 1 {
        return 0;
    }
    let order = Permutation::new(u64::from(tasks), seed);
    let all = u64::from(tasks);
    if at_least <= 1 {
        return narrow(order.at((order.index_of(u64::from(task)) + 1) % all));
    }
    let nearest = u64::from(at_least.min(tasks / 2));
    let turn = nearest + order.at(0) % (all - 2 * nearest + 1);
    narrow((u64::from(task) + turn) % all)
}

/// Converts a task number from 64-bit arithmetic.
fn narrow(task: u64) -> u32 {
    u32::try_from(task).expect("a task number is below the number of tasks, which is a u32")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

    use super::Placement;
    use crate::{Bytes, Geometry, Order, Phase, ReadFrom, Sharing, WorkloadSpec};

    fn spec(tasks: u32, per_block: u64, segments: u64) -> WorkloadSpec {
        let geometry = Geometry { transfer: Bytes(512), block: Bytes(512 * per_block), segments };
        let mut spec = WorkloadSpec::new("w", "dir/file", geometry);
        spec.tasks = tasks;
        spec
    }

    proptest! {
        #[test]
        fn all_tasks_together_cover_a_shared_file_once(
            tasks in 1_u32..9, per_block in 1_u64..9, segments in 1_u64..9, random: bool, seed: u64,
        ) {
            let mut spec = spec(tasks, per_block, segments);
            if random {
                spec.order = Order::Random { seed };
            }
            let workload = spec.validate().expect("valid");
            let placement = Placement::new(&workload);
            let mut offsets = BTreeSet::new();
            for task in 0..tasks {
                let region = placement.region(task, Phase::Write, 0);
                for index in 0..region.transfers() {
                    offsets.insert(region.at(index));
                }
            }
            let expected: BTreeSet<u64> = (0..workload.transfers()).map(|i| i * 512).collect();
            prop_assert_eq!(offsets, expected);
        }

        #[test]
        fn each_task_s_data_is_read_once(tasks in 1_u32..200, at_least in 0_u32..50, seed: u64) {
            let mut spec = spec(tasks, 1, 1);
            spec.read_from = ReadFrom::Shuffle { at_least, seed, reseed: true };
            let workload = spec.validate().expect("valid");
            let owners: BTreeSet<u32> =
                (0..tasks).map(|t| Placement::new(&workload).owner(t, Phase::Read, 3)).collect();
            prop_assert_eq!(owners.len(), tasks as usize);
            let nearest = at_least.min(tasks / 2).max(u32::from(tasks > 1));
            for task in 0..tasks {
                let owner = Placement::new(&workload).owner(task, Phase::Read, 3);
                let apart = owner.abs_diff(task);
                prop_assert!(apart.min(tasks - apart) >= nearest, "{} reads {}", task, owner);
            }
        }
    }

    #[test]
    fn twenty_four_tasks_put_two_files_on_each_of_twelve_targets() {
        let mut spec = spec(24, 1, 1);
        spec.files.sharing = Sharing::PerTask;
        spec.files.targets = (0..12).map(|d| format!("{d}/{d}").into()).collect();
        let workload = spec.validate().expect("valid");
        for directory in 0..12 {
            let here = Placement::new(&workload)
                .files(0)
                .iter()
                .filter(|slot| slot.path.starts_with(directory.to_string()))
                .count();
            assert_eq!(here, 2);
        }
    }

    #[test]
    fn exact_names_are_the_targets_and_every_task_has_one() {
        let mut spec = spec(3, 1, 1);
        (spec.files.sharing, spec.files.exact_names) = (Sharing::PerTask, true);
        spec.files.targets = ["a/x", "b/x", "y"].map(Into::into).to_vec();
        let workload = spec.clone().validate().expect("valid");
        let paths = Placement::new(&workload).files(0).into_iter().map(|slot| slot.path);
        assert_eq!(paths.collect::<Vec<_>>(), spec.files.targets);
        spec.files.targets[2] = "a/x".into();
        assert_eq!(spec.clone().validate().expect_err("one file twice").field, "target");
        spec.files.targets.truncate(2);
        assert_eq!(spec.validate().expect_err("a task without a file").field, "target");
    }

    #[test]
    fn a_limit_ends_a_pass_early_and_moves_no_offset() {
        let mut spec = spec(2, 2, 3);
        let whole = spec.clone().validate().expect("valid");
        spec.transfer_limit = Some(3);
        let workload = spec.validate().expect("valid");
        let (region, all) = (
            Placement::new(&workload).region(1, Phase::Read, 0),
            Placement::new(&whole).region(1, Phase::Read, 0),
        );
        assert_eq!((region.transfers(), all.transfers(), workload.transfers()), (3, 6, 6));
        assert_eq!(workload.bytes(), Bytes(6 * 512));
        for index in 0..3 {
            assert_eq!(region.at(index), all.at(index));
        }
        // Each of two tasks has two transfers in each of three segments: the third ends in the second segment.
        assert_eq!(Placement::new(&workload).bytes_to_read(), Bytes(7 * 512));
        assert_eq!(Placement::new(&whole).bytes_to_read(), Placement::new(&whole).file_bytes());
    }

    #[test]
    fn a_shift_reads_the_neighbour() {
        let mut spec = spec(6, 1, 1);
        spec.files.sharing = Sharing::PerTask;
        spec.read_from = ReadFrom::Shift { tasks: 1 };
        let workload = spec.validate().expect("valid");
        let placement = Placement::new(&workload);
        assert_eq!(placement.file(5, Phase::Write, 0).path.to_str(), Some("dir/file.00000005"));
        assert_eq!(placement.file(5, Phase::Read, 0).path.to_str(), Some("dir/file.00000000"));
    }
}
