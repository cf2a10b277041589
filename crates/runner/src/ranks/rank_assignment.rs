//! The assignment of tasks, and of their files, to ranks.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::PathBuf;

use comm::Topology;
use plan::{Assigned, Case, FileSlot, Phase, Placement, PlanError, ReadFrom, Sharing, Workload};

use crate::files::paths::{paths, sets};
use crate::files::trees::{in_target, is_node_local};

/// The ranks that run a workload, in the order of their tasks.
#[derive(Debug, Clone)]
pub(crate) struct RankAssignment {
    assigned: Vec<Assigned>,
}

impl RankAssignment {
    /// Assigns `workload` to the ranks of `topology`.
    ///
    /// # Errors
    /// Errors if there are fewer nodes or ranks than it needs.
    pub(crate) fn of(workload: &Workload, topology: &Topology) -> Result<Self, PlanError> {
        plan::assign(workload, topology.node_of()).map(|assigned| Self { assigned })
    }

    /// The tasks of `rank`; empty if it is idle.
    pub(crate) fn tasks_of(&self, rank: u32) -> Range<u32> {
        self.assigned.iter().find(|one| one.rank == rank).map_or(0..0, |one| one.tasks.clone())
    }

    /// The rank that runs `task` and owns the file with that number.
    pub(crate) fn rank_of(&self, task: u32) -> u32 {
        let place = self.assigned.partition_point(|one| one.tasks.end <= task);
        self.assigned.get(place).map_or(0, |one| one.rank)
    }

    /// The index of `rank` among the participating ranks; for exchanges, its endpoint number.
    pub(crate) fn place_of(&self, rank: u32) -> u32 {
        let place = self.assigned.iter().position(|one| one.rank == rank);
        place.and_then(|place| u32::try_from(place).ok()).unwrap_or(0)
    }

    /// The participating ranks, in ascending order.
    pub(crate) fn ranks(&self) -> Vec<u32> {
        let all: BTreeSet<u32> = self.assigned.iter().map(|one| one.rank).collect();
        all.into_iter().collect()
    }

    /// The participating nodes.
    pub(crate) fn nodes(&self, topology: &Topology) -> BTreeSet<u32> {
        self.assigned.iter().map(|one| topology.node_of()[one.rank as usize]).collect()
    }
}

/// The node of each task of `workload`.
///
/// # Errors
/// Errors if there are fewer nodes or ranks than it needs.
pub fn nodes_of_tasks(workload: &Workload, topology: &Topology) -> Result<Vec<u32>, PlanError> {
    let assignment = RankAssignment::of(workload, topology)?;
    let node_of = |task| topology.node_of()[assignment.rank_of(task) as usize];
    Ok((0..workload.tasks).map(node_of).collect())
}

/// The files that belong to `tasks`: their own files, or a shared file if the first task of all is among
/// them. Empty for trees.
pub(crate) fn files_of(workload: &Workload, tasks: &Range<u32>, pass: u32) -> Vec<FileSlot> {
    if !workload.work.is_transfers() {
        return Vec::new();
    }
    let placement = Placement::new(workload);
    let file = |task| placement.file(task, Phase::Write, pass);
    match workload.files.sharing {
        Sharing::Shared if tasks.contains(&0) => vec![file(0)],
        Sharing::Shared => Vec::new(),
        Sharing::PerTask => tasks.clone().map(file).collect(),
    }
}

/// The same for every pass of `case`.
pub(crate) fn paths_of(case: &Case, tasks: &Range<u32>) -> Vec<PathBuf> {
    let files = (0..sets(case)).flat_map(|set| files_of(&case.workload, tasks, set));
    files.map(|slot| slot.path).collect()
}

/// Every file of `case` that `tasks` may open: their own, and those of others if they share or read them.
pub(crate) fn paths_opened(case: &Case, tasks: &Range<u32>) -> Vec<PathBuf> {
    let files = &case.workload.files;
    let is_own = files.sharing == Sharing::PerTask && case.workload.read_from == ReadFrom::Same;
    if is_own { paths_of(case, tasks) } else { paths(case) }
}

/// The ranks that are responsible for the roots of a case.
pub(crate) struct RootOwners<'a> {
    pub(crate) case: &'a Case,
    pub(crate) assignment: &'a RankAssignment,
    pub(crate) topology: &'a Topology,
    /// Directories that differ from node to node.
    pub(crate) local_directories: &'a [PathBuf],
}

impl RootOwners<'_> {
    /// The targets whose roots `rank` is responsible for, because it runs the first task there or, for a
    /// node-local directory, the first task on its node.
    pub(crate) fn targets_of(&self, rank: u32) -> Vec<PathBuf> {
        let files = &self.case.workload.files;
        let (targets, tasks) = (&files.targets, self.case.workload.tasks);
        let count = u32::try_from(targets.len()).unwrap_or(u32::MAX);
        // All job spaces are used, even if there are fewer launches.
        let count = if self.case.workload.work.jobs().is_some() { count } else { count.min(tasks) };
        let node_of = self.topology.node_of();
        let mut all: Vec<PathBuf> = Vec::new();
        for first in 0..count {
            let target = &targets[first as usize];
            let owner = match is_node_local(self.local_directories, target) {
                false => self.assignment.rank_of(first),
                true => {
                    let mut there =
                        (first..tasks).step_by(targets.len()).map(|task| self.assignment.rank_of(task));
                    let here = there.find(|other| node_of[*other as usize] == node_of[rank as usize]);
                    let Some(owner) = here else { continue };
                    owner
                }
            };
            if owner == rank && !all.contains(target) {
                all.push(target.clone());
            }
        }
        all
    }

    /// The roots of all passes that `rank` is responsible for.
    pub(crate) fn all_roots_of(&self, rank: u32) -> BTreeSet<PathBuf> {
        (0..sets(self.case)).flat_map(|pass| self.roots_of(rank, pass)).collect()
    }

    /// The roots of `pass` that `rank` is responsible for.
    pub(crate) fn roots_of(&self, rank: u32, pass: u32) -> Vec<PathBuf> {
        let targets = self.targets_of(rank);
        let beside = in_target(&self.case.workload);
        let is_mine = |root: &PathBuf| {
            targets.iter().any(|target| if beside { target == root } else { root.parent() == Some(target) })
        };
        self.case.workload.roots(pass).into_iter().filter(is_mine).collect()
    }
}

#[cfg(test)]
mod tests {
    use comm::Topology;
    use plan::{Bytes, Geometry, Sharing, WorkloadSpec};

    use super::{RankAssignment, files_of};

    #[test]
    fn a_file_is_with_the_rank_of_its_task_and_a_shared_one_with_that_of_the_first() {
        let geometry = Geometry { transfer: Bytes(1), block: Bytes(1), segments: 1 };
        let mut spec = WorkloadSpec::new("w", "f", geometry);
        (spec.tasks, spec.nodes) = (5, 2);
        let topology = Topology::of(["a", "b", "a", "b"]);
        let shared = spec.clone().validate().expect("valid");
        let assignment = RankAssignment::of(&shared, &topology).expect("two nodes");
        let ranks: Vec<u32> = (0..5).map(|task| assignment.rank_of(task)).collect();
        assert_eq!(ranks, [0, 0, 2, 1, 3]);
        let files: Vec<usize> =
            (0..4).map(|rank| files_of(&shared, &assignment.tasks_of(rank), 0).len()).collect();
        assert_eq!(files, [1, 0, 0, 0]);
        spec.files.sharing = Sharing::PerTask;
        let own = spec.validate().expect("valid");
        let numbers = |rank| files_of(&own, &assignment.tasks_of(rank), 0).into_iter().map(|slot| slot.index);
        assert_eq!(numbers(1).chain(numbers(2)).collect::<Vec<_>>(), [3, 2]);
    }
}
