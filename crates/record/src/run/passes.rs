//! Where and when each pass of a case ran. For a run merged from many jobs, this shows which nodes and
//! times of day it covers.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use crate::{CaseId, Run, TaskRow};

/// One pass of one case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pass {
    /// The case.
    pub case: CaseId,
    /// The number of the pass, from 0.
    pub repetition: u32,
    /// Wall clock at the start of its first phase, nanoseconds since 1970-01-01 UTC.
    pub started_unix_ns: i64,
    /// The nodes on which its tasks ran, in the order of the tasks.
    pub nodes: Arc<[String]>,
    /// Its index in [`Run::parts`], or `None` if the run was not merged, or was merged by a program that
    /// did not record it.
    pub part: Option<usize>,
}

impl Run {
    /// All recorded passes, with the cases in the order of [`Run::cases`] and the passes of each case in
    /// ascending order. This reads the tasks of all cases.
    #[must_use]
    pub fn passes(&self) -> Vec<Pass> {
        let parts = self.parts_by_case();
        let mut all: Vec<Pass> = Vec::new();
        for case in self.cases() {
            let mut starts: BTreeMap<u32, i64> = BTreeMap::new();
            for row in self.phases(case).iter() {
                let start = starts.entry(row.key.repetition).or_insert(row.started_unix_ns);
                *start = (*start).min(row.started_unix_ns);
            }
            let tasks = self.tasks(case);
            let mut nodes = nodes_by_pass(&tasks);
            let of_case = parts.get(&**case).map_or(&[][..], Vec::as_slice);
            for (repetition, started_unix_ns) in starts {
                let is_within = |&&part: &&usize| {
                    self.parts[part].passes.get(&**case).is_some_and(|passes| passes.holds(repetition))
                };
                let nodes = nodes.remove(&repetition).unwrap_or_default();
                // Usually they are the same as for the previous pass.
                let nodes = match all.last() {
                    Some(before) if before.nodes.iter().eq(nodes.iter().copied()) => {
                        Arc::clone(&before.nodes)
                    }
                    _ => nodes.into_iter().map(str::to_owned).collect(),
                };
                let part = of_case.iter().find(is_within).copied();
                all.push(Pass { case: case.clone(), repetition, started_unix_ns, nodes, part });
            }
        }
        all
    }

    /// The indices of the parts that have rows of each case.
    pub(crate) fn parts_by_case(&self) -> HashMap<&str, Vec<usize>> {
        let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
        for (place, part) in self.parts.iter().enumerate() {
            for case in &part.cases {
                places.entry(case).or_default().push(place);
            }
        }
        places
    }
}

/// The nodes of each pass, without duplicates.
fn nodes_by_pass(tasks: &[TaskRow]) -> HashMap<u32, Vec<&str>> {
    let mut nodes: HashMap<u32, Vec<&str>> = HashMap::new();
    let mut seen: HashSet<(u32, &str)> = HashSet::new();
    for chunk in tasks.chunk_by(|a, b| a.node == b.node && a.key.repetition == b.key.repetition) {
        let (pass, node) = (chunk[0].key.repetition, chunk[0].node.as_str());
        if seen.insert((pass, node)) {
            nodes.entry(pass).or_default().push(node);
        }
    }
    nodes
}
