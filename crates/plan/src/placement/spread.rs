//! Assignment of tasks to the processes of a run.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::{PlanError, Rpc, Spread, Workload};

/// The tasks of one process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assigned {
    /// The process.
    pub rank: u32,
    /// Its tasks; none if it is only a server ([`crate::Rpc`]).
    pub tasks: Range<u32>,
}

/// Assigns the tasks of `workload` to processes, given the node of each by rank in `node_of`; nodes are
/// numbered in the order of their first ranks. Task numbers ascend in the result. Processes without a task
/// are left out, which may include the first one. For exchanges, the index in the result is the end
/// number.
///
/// ```
/// use plan::{Bytes, Geometry, WorkloadSpec, assign};
/// let geometry = Geometry { transfer: Bytes(1), block: Bytes(1), segments: 1 };
/// let mut spec = WorkloadSpec::new("w", "f", geometry);
/// (spec.tasks, spec.nodes) = (6, 2);
/// // Three nodes, whose two processes each are numbered in turn.
/// let assigned = assign(&spec.validate()?, &[0, 1, 2, 0, 1, 2])?;
/// let shown: Vec<_> = assigned.iter().map(|one| (one.rank, one.tasks.clone())).collect();
/// assert_eq!(shown, [(0, 0..2), (3, 2..3), (1, 3..5), (4, 5..6)]);
/// # Ok::<(), plan::PlanError>(())
/// ```
///
/// # Errors
/// Errors if there are fewer nodes or processes than the workload needs.
pub fn assign(workload: &Workload, node_of: &[u32]) -> Result<Vec<Assigned>, PlanError> {
    match workload.spread {
        _ if let Some(rpc) = workload.work.rpc() => over_ends(rpc, workload.nodes, node_of),
        Spread::Nodes => over_nodes(workload, node_of),
        Spread::Ranks { tasks_per_rank } => over_ranks(workload.tasks, tasks_per_rank, node_of.len()),
    }
}

/// The tasks of `node`, by its number in the workload, for tasks spread over nodes.
pub(crate) fn tasks_of_node(workload: &Workload, node: u32) -> Range<u32> {
    part(0..workload.tasks, node, workload.nodes)
}

/// Whether each task of `reader` is on the same node as the same task of `writer`, which may have more
/// tasks. Both are spread over nodes.
pub(crate) fn same_nodes(writer: &Workload, reader: &Workload) -> bool {
    let all = reader.tasks;
    let end = |workload: &Workload, node| match node < workload.nodes {
        true => tasks_of_node(workload, node).end.min(all),
        false => all,
    };
    let nodes = reader.nodes.max(writer.nodes);
    all <= writer.tasks && (0..nodes).all(|node| end(writer, node) == end(reader, node))
}

/// The ranks on each of the first `nodes` nodes.
fn ranks_on(nodes: u32, node_of: &[u32]) -> Result<impl Iterator<Item = Vec<u32>> + use<>, PlanError> {
    let mut ranks_on: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (rank, &node) in (0..).zip(node_of) {
        ranks_on.entry(node).or_default().push(rank);
    }
    if ranks_on.len() < nodes as usize {
        return Err(PlanError::new(
            "nodes",
            format!("{nodes} nodes are requested, but the run has {}", ranks_on.len()),
            "start it on more nodes, or request fewer",
        ));
    }
    Ok(ranks_on.into_values().take(nodes as usize))
}

/// The ends of exchanges: the first processes of each node, with numbers per node that differ by at most
/// one.
fn over_ends(rpc: &Rpc, nodes: u32, node_of: &[u32]) -> Result<Vec<Assigned>, PlanError> {
    let mut assigned = Vec::new();
    for (node, ranks) in (0..).zip(ranks_on(nodes, node_of)?) {
        let ends = part(0..rpc.ends, node, nodes);
        if ranks.len() < ends.len() {
            return Err(PlanError::new(
                "ends",
                format!(
                    "{} processes on {nodes} nodes need {} on one of them, which has {}",
                    rpc.ends,
                    ends.len(),
                    ranks.len()
                ),
                "start more processes on each node, or request fewer",
            ));
        }
        assigned.extend(ends.zip(ranks).map(|(end, rank)| Assigned { rank, tasks: rpc.tasks_of(end) }));
    }
    Ok(assigned)
}

fn over_nodes(workload: &Workload, node_of: &[u32]) -> Result<Vec<Assigned>, PlanError> {
    let nodes = workload.nodes;
    let mut assigned = Vec::new();
    for (node, ranks) in (0..nodes).zip(ranks_on(nodes, node_of)?) {
        let of_node = tasks_of_node(workload, node);
        let count = u32::try_from(ranks.len()).unwrap_or(u32::MAX);
        let each = (0..)
            .zip(ranks)
            .map(|(place, rank)| Assigned { rank, tasks: part(of_node.clone(), place, count) });
        assigned.extend(each.filter(|one| !one.tasks.is_empty()));
    }
    Ok(assigned)
}

fn over_ranks(tasks: u32, tasks_per_rank: u32, ranks: usize) -> Result<Vec<Assigned>, PlanError> {
    let needed = tasks.div_ceil(tasks_per_rank);
    if needed as usize > ranks {
        return Err(PlanError::new(
            "tasks",
            format!(
                "{tasks} tasks, {tasks_per_rank} on each process, need {needed} processes, but the run has \
                 {ranks}"
            ),
            "start more processes, or put more tasks on each (--tasks-per-rank)",
        ));
    }
    let end = |rank: u32| rank.saturating_mul(tasks_per_rank).min(tasks);
    Ok((0..needed).map(|rank| Assigned { rank, tasks: end(rank)..end(rank + 1) }).collect())
}

/// Part `index` of `all`, divided into `parts` whose sizes differ by at most one, larger ones first.
fn part(all: Range<u32>, index: u32, parts: u32) -> Range<u32> {
    let (least, larger) = ((all.end - all.start) / parts, (all.end - all.start) % parts);
    let start = all.start + index * least + index.min(larger);
    start..start + least + u32::from(index < larger)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

    use super::assign;
    use crate::{Bytes, Geometry, Spread, Workload, WorkloadSpec};

    fn workload(tasks: u32, nodes: u32, spread: Spread) -> Workload {
        let geometry = Geometry { transfer: Bytes(1), block: Bytes(1), segments: 1 };
        let mut spec = WorkloadSpec::new("w", "f", geometry);
        (spec.tasks, spec.nodes, spec.spread) = (tasks, nodes, spread);
        spec.validate().expect("valid")
    }

    proptest! {
        #[test]
        fn every_task_has_one_process_on_the_first_nodes(
            tasks in 1_u32..300, wanted in 1_u32..9, ranks in 1_u32..40, have in 1_u32..9,
        ) {
            let node_of: Vec<u32> = (0..ranks.max(have)).map(|rank| rank % have).collect();
            let workload = workload(tasks, wanted.min(tasks), Spread::Nodes);
            match assign(&workload, &node_of) {
                Ok(assigned) => {
                    let all: Vec<u32> = assigned.iter().flat_map(|one| one.tasks.clone()).collect();
                    prop_assert_eq!(all, (0..tasks).collect::<Vec<_>>());
                    prop_assert!(assigned.iter().all(|one| node_of[one.rank as usize] < workload.nodes));
                    let on = |node: u32| -> usize { assigned.iter().filter(|one| node_of[one.rank as usize] == node).map(|one| one.tasks.len()).sum() };
                    let counts: Vec<usize> = (0..workload.nodes).map(on).collect();
                    prop_assert!(counts.iter().max().unwrap() - counts.iter().min().unwrap() <= 1);
                }
                Err(error) => {
                    prop_assert!(workload.nodes > have);
                    prop_assert_eq!(error.field, "nodes");
                }
            }
        }
    }

    #[test]
    fn by_ranks_a_task_is_where_ior_puts_it_and_the_rest_of_the_processes_are_idle() {
        let assigned = |tasks, tasks_per_rank, ranks| {
            assign(&workload(tasks, 1, Spread::Ranks { tasks_per_rank }), &vec![0; ranks])
                .map(|all| all.into_iter().map(|one| (one.rank, one.tasks)).collect::<Vec<_>>())
                .map_err(|error| error.to_string())
        };
        assert_eq!(assigned(2, 1, 4), Ok(vec![(0, 0..1), (1, 1..2)]));
        assert_eq!(assigned(5, 2, 3), Ok(vec![(0, 0..2), (1, 2..4), (2, 4..5)]));
        assert!(assigned(7, 2, 3).is_err_and(|error| error.contains("need 4 processes, but the run has 3")));
    }
}
