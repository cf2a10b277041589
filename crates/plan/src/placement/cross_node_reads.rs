//! Which node reads the data written by which other node.
//!
//! A read of data that the same node wrote may be served from that node's memory, so benchmarks let tasks
//! read what another node wrote (study D, "rotation of MPI ranks"; `-C` of IOR). Whether that works depends
//! on task placement, which this module reports.

use std::collections::BTreeMap;

use crate::placement::spread::tasks_of_node;
use crate::{Phase, Placement, PlanError, ReadFrom, Spread, Workload, assign};

/// Map of readers to writers, by node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CrossNodeReads {
    /// Every node with tasks, by node number.
    pub nodes: Vec<NodeReads>,
    /// Tasks that read.
    pub tasks: u32,
    /// Tasks that read data written by a task of their own node.
    pub own_node: u32,
    /// A shift with which no task reads from its own node, if one is needed and known.
    pub distance: Option<u32>,
}

/// What the tasks of one node read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeReads {
    /// Node number in the run.
    pub node: u32,
    /// Number of tasks on the node.
    pub tasks: u32,
    /// Lowest and highest task number.
    pub first_and_last: (u32, u32),
    /// Nodes read from, by node number, each with the number of this node's tasks that read from it.
    pub from: Vec<(u32, u32)>,
}

/// The map of `workload` in its first repetition: which nodes each node reads from. `node_of` is the node of
/// each process, by rank; if empty, the nodes of the plan are used. `None` if all tasks are on one node, or
/// if the placement of tasks is unknown.
///
/// ```
/// use plan::{Bytes, Geometry, ReadFrom, WorkloadSpec, cross_node_reads};
/// let geometry = Geometry { transfer: Bytes(1), block: Bytes(1), segments: 1 };
/// let mut spec = WorkloadSpec::new("w", "f", geometry);
/// (spec.tasks, spec.nodes, spec.read_from) = (24, 4, ReadFrom::Shift { tasks: 1 });
/// let map = cross_node_reads(&spec.clone().validate()?, &[])?.expect("several nodes");
/// assert_eq!((map.own_node, map.distance), (20, Some(6)));
/// spec.read_from = ReadFrom::Shift { tasks: 6 };
/// let map = cross_node_reads(&spec.validate()?, &[])?.expect("several nodes");
/// assert_eq!((map.own_node, &map.nodes[0].from[..]), (0, &[(1, 6)][..]));
/// # Ok::<(), plan::PlanError>(())
/// ```
///
/// # Errors
/// Errors if the run has fewer nodes or processes than the workload needs.
pub fn cross_node_reads(workload: &Workload, node_of: &[u32]) -> Result<Option<CrossNodeReads>, PlanError> {
    let Some(nodes) = node_of_tasks(workload, node_of)? else { return Ok(None) };
    if nodes.iter().all(|node| *node == nodes[0]) {
        return Ok(None);
    }
    let placement = Placement::new(workload);
    let owners = (0..).map(|task| placement.owner(task, Phase::Read, 0));
    let mut map: BTreeMap<u32, (NodeReads, BTreeMap<u32, u32>)> = BTreeMap::new();
    let mut own_node = 0;
    for ((task, &node), owner) in (0..).zip(&nodes).zip(owners) {
        let fresh = || {
            (NodeReads { node, tasks: 0, first_and_last: (task, task), from: Vec::new() }, BTreeMap::new())
        };
        let (reads, from) = map.entry(node).or_insert_with(fresh);
        reads.tasks += 1;
        reads.first_and_last.1 = task;
        let writer = nodes[owner as usize];
        *from.entry(writer).or_insert(0) += 1;
        own_node += u32::from(writer == node);
    }
    let nodes_read =
        map.into_values().map(|(reads, from)| NodeReads { from: from.into_iter().collect(), ..reads });
    let nodes_read: Vec<NodeReads> = nodes_read.collect();
    let distance = if own_node > 0 { distance(workload, &nodes, &nodes_read) } else { None };
    Ok(Some(CrossNodeReads { nodes: nodes_read, tasks: workload.tasks, own_node, distance }))
}

/// The node of each task, if it is known.
fn node_of_tasks(workload: &Workload, node_of: &[u32]) -> Result<Option<Vec<u32>>, PlanError> {
    if !node_of.is_empty() {
        let assigned = assign(workload, node_of)?;
        let nodes = assigned.iter().flat_map(|one| one.tasks.clone().map(|_| node_of[one.rank as usize]));
        return Ok(Some(nodes.collect()));
    }
    Ok(match workload.spread {
        Spread::Nodes => {
            let nodes = (0..workload.nodes).flat_map(|node| tasks_of_node(workload, node).map(move |_| node));
            Some(nodes.collect())
        }
        Spread::Ranks { .. } => None,
    })
}

/// A shift with which no task reads from its own node: the task count of the largest node if nodes are
/// filled one after the other, or that of a process if ranks are assigned round-robin over the nodes.
fn distance(workload: &Workload, nodes: &[u32], reads: &[NodeReads]) -> Option<u32> {
    let largest = reads.iter().map(|node| node.tasks).max()?;
    let of_rank = match workload.spread {
        Spread::Ranks { tasks_per_rank } => tasks_per_rank,
        Spread::Nodes => 1,
    };
    let avoids = |shift: &u32| {
        let shift = *shift as usize;
        (0..nodes.len()).all(|task| nodes[task] != nodes[(task + shift) % nodes.len()])
    };
    [largest, of_rank].into_iter().find(avoids)
}

impl CrossNodeReads {
    /// A sentence that states how many tasks read data written by their own node.
    #[must_use]
    pub fn sentence(&self) -> String {
        match (self.own_node, self.distance) {
            (0, _) => "no task reads what its own node wrote".to_owned(),
            (own, _) if own == self.tasks => "every task reads what its own node wrote".to_owned(),
            (own, _) => format!("{own} of {} tasks read what their own node wrote", self.tasks),
        }
    }
}

/// Whether the tasks of `workload` are meant to read data of other tasks in any of `phases`.
pub(crate) fn reads_from_others(workload: &Workload, phases: &[Phase]) -> bool {
    workload.read_from != ReadFrom::Same && phases.iter().any(|phase| phase.needs_data())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

    use super::cross_node_reads;
    use crate::{Bytes, Geometry, Phase, Placement, ReadFrom, Spread, Workload, WorkloadSpec, assign};

    fn workload(tasks: u32, nodes: u32, spread: Spread, read_from: ReadFrom) -> Workload {
        let geometry = Geometry { transfer: Bytes(1), block: Bytes(1), segments: 1 };
        let mut spec = WorkloadSpec::new("w", "f", geometry);
        (spec.tasks, spec.nodes, spec.spread, spec.read_from) = (tasks, nodes, spread, read_from);
        spec.validate().expect("valid")
    }

    proptest! {
        #[test]
        fn every_task_is_counted_once_and_a_distance_that_is_given_avoids_the_own_node(
            nodes in 2_u32..6, ranks_per_node in 1_u32..5, tasks in 6_u32..200, shift in 0_u32..50,
            per_rank in 0_u32..4, in_turn: bool, shuffled: bool,
        ) {
            let ranks = nodes * ranks_per_node;
            let node_of: Vec<u32> =
                (0..ranks).map(|rank| if in_turn { rank % nodes } else { rank / ranks_per_node }).collect();
            let (tasks, spread) = match per_rank {
                0 => (tasks, Spread::Nodes),
                each => (tasks.min(each * ranks), Spread::Ranks { tasks_per_rank: each }),
            };
            let read_from = match shuffled {
                true => ReadFrom::Shuffle { at_least: shift, seed: 1, reseed: false },
                false => ReadFrom::Shift { tasks: shift },
            };
            let workload = workload(tasks, nodes, spread, read_from);
            let assigned = assign(&workload, &node_of).expect("there are enough");
            let by_task: Vec<u32> =
                assigned.iter().flat_map(|one| one.tasks.clone().map(|_| node_of[one.rank as usize])).collect();
            let Some(map) = cross_node_reads(&workload, &node_of).expect("there are enough") else {
                prop_assert!(by_task.iter().all(|node| *node == by_task[0]));
                return Ok(());
            };
            // Worked out by hand: each task against the one whose data it reads.
            let placement = Placement::new(&workload);
            let own = (0..tasks).filter(|&task| {
                by_task[task as usize] == by_task[placement.owner(task, Phase::Read, 0) as usize]
            });
            prop_assert_eq!(map.own_node as usize, own.count());
            prop_assert_eq!(map.nodes.iter().map(|node| node.tasks).sum::<u32>(), tasks);
            for node in &map.nodes {
                prop_assert_eq!(node.from.iter().map(|(_, tasks)| tasks).sum::<u32>(), node.tasks);
            }
            // All data is read once, so each node is read as often as it has tasks.
            for node in &map.nodes {
                let read: u32 = map.nodes.iter().flat_map(|other| &other.from).filter(|(from, _)| *from == node.node).map(|(_, tasks)| tasks).sum();
                prop_assert_eq!(read, node.tasks);
            }
            if let Some(distance) = map.distance {
                prop_assert!(map.own_node > 0);
                let mut better: WorkloadSpec = workload.into();
                better.read_from = ReadFrom::Shift { tasks: distance };
                let better = cross_node_reads(&better.validate().expect("valid"), &node_of).expect("as before");
                prop_assert_eq!(better.map(|map| map.own_node), Some(0));
            }
        }
    }

    #[test]
    fn the_plan_alone_knows_where_tasks_are_unless_the_launcher_decides() {
        let shift = ReadFrom::Shift { tasks: 6 };
        let map = cross_node_reads(&workload(24, 4, Spread::Nodes, shift), &[])
            .expect("no run")
            .expect("four nodes");
        assert_eq!(map.sentence(), "no task reads what its own node wrote");
        assert_eq!((map.nodes[3].first_and_last, &map.nodes[3].from[..]), ((18, 23), &[(0, 6)][..]));
        assert_eq!(
            cross_node_reads(&workload(24, 4, Spread::Ranks { tasks_per_rank: 1 }, shift), &[]),
            Ok(None)
        );
        assert_eq!(cross_node_reads(&workload(24, 1, Spread::Nodes, shift), &[]), Ok(None));
        // Ranks are assigned round-robin over the nodes: a shift of six ends two nodes further.
        let by_node: Vec<u32> = (0..24).map(|rank| rank % 4).collect();
        let ranks = Spread::Ranks { tasks_per_rank: 1 };
        let map =
            cross_node_reads(&workload(24, 4, ranks, shift), &by_node).expect("enough").expect("four nodes");
        assert_eq!((map.own_node, &map.nodes[0].from[..]), (0, &[(2, 6)][..]));
        let four = cross_node_reads(&workload(24, 4, ranks, ReadFrom::Shift { tasks: 4 }), &by_node);
        let four = four.expect("enough").expect("four nodes");
        assert_eq!((four.own_node, four.distance), (24, Some(6)));
        assert_eq!(four.sentence(), "every task reads what its own node wrote");
    }

    #[test]
    fn a_run_that_is_too_small_is_an_error() {
        let same = ReadFrom::Same;
        assert_eq!(
            cross_node_reads(&workload(4, 4, Spread::Nodes, same), &[0, 1]).unwrap_err().field,
            "nodes"
        );
    }
}
