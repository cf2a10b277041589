//! Space taken by files on each file system.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::ops::Range;
use std::path::PathBuf;

use super::{CaseEstimate, RunEnvironment, Space};
use crate::placement::spread::tasks_of_node;
use crate::{Bytes, Case, JobSpace, Layer, Plan, Sharing, Workload};

/// Space that a case (or a plan) takes on one file system.
#[derive(Debug, Clone, PartialEq)]
pub struct SpaceEstimate {
    /// Mount point or device.
    pub name: String,
    /// Bytes that its files take there at the same time; of the node with the most where each node
    /// has storage of its own.
    pub needed: Bytes,
    /// Bytes free there.
    pub free: Bytes,
}

impl SpaceEstimate {
    /// Needed ÷ free.
    #[must_use]
    pub fn share(&self) -> f64 {
        self.needed.0 as f64 / (self.free.0 as f64).max(1.0)
    }
}

/// The file systems of each target, precomputed for many cases.
pub(super) struct TargetFileSystems<'a>(HashMap<&'a OsStr, Vec<usize>>);

impl<'a> TargetFileSystems<'a> {
    pub(super) fn of(environment: &'a RunEnvironment) -> Self {
        let mut placed: HashMap<&OsStr, Vec<usize>> = HashMap::new();
        for (index, space) in environment.spaces.iter().enumerate() {
            for target in &space.targets {
                placed.entry(target.as_os_str()).or_default().push(index);
            }
        }
        Self(placed)
    }
}

/// Space that the files of `case` take on each file system of its targets.
pub(super) fn spaces(
    case: &Case,
    environment: &RunEnvironment,
    placed: &TargetFileSystems<'_>,
    layer: Layer,
) -> Vec<SpaceEstimate> {
    let files = &case.workload.files;
    let sets = if files.file_per_repetition { u64::from(case.passes_max()) } else { 1 };
    let mut targets: Vec<Vec<usize>> = vec![Vec::new(); environment.spaces.len()];
    for (index, target) in files.targets.iter().enumerate() {
        for &space in placed.0.get(target.as_os_str()).map_or(&[][..], Vec::as_slice) {
            targets[space].push(index);
        }
    }
    let estimate = |(space, targets): (&Space, Vec<usize>)| {
        let needed = (!targets.is_empty()).then(|| bytes_on_targets(&case.workload, &targets, layer))?;
        let needed = Bytes(needed.saturating_mul(sets));
        Some(SpaceEstimate { name: space.name.clone(), needed, free: space.free })
    };
    environment.spaces.iter().zip(targets).filter_map(estimate).collect()
}

/// The key by which cases use the same files.
type Names<'p> = (&'p [PathBuf], Sharing, bool, bool);

/// Space that all cases together take on each file system: every set of files once, at its largest.
pub(super) fn together(
    plan: &Plan,
    environment: &RunEnvironment,
    all: &[CaseEstimate],
) -> Vec<SpaceEstimate> {
    let mut sets: HashMap<Names<'_>, HashMap<&str, u64>> = HashMap::new();
    for (case, estimate) in plan.cases.iter().zip(all) {
        let files = &case.workload.files;
        let key = (files.targets.as_slice(), files.sharing, files.unique_dir, files.file_per_repetition);
        let most = sets.entry(key).or_default();
        for space in &estimate.spaces {
            let most = most.entry(space.name.as_str()).or_default();
            *most = (*most).max(space.needed.0);
        }
    }
    let total = |space: &Space| {
        let needed = sets.values().filter_map(|most| most.get(space.name.as_str()));
        let needed = Bytes(needed.fold(0, |sum, &bytes| sum.saturating_add(bytes)));
        SpaceEstimate { name: space.name.clone(), needed, free: space.free }
    };
    environment.spaces.iter().map(total).collect()
}

/// Bytes on these targets of `workload`, by their numbers. Tasks are distributed round-robin over the
/// targets; a shared file is on the first.
fn bytes_on_targets(workload: &Workload, indexes: &[usize], layer: Layer) -> u64 {
    if workload.files.sharing == Sharing::Shared && workload.work.is_transfers() {
        return if indexes.contains(&0) { workload.footprint().0 } else { 0 };
    }
    if let Some(jobs) = workload.work.jobs() {
        let needs =
            indexes.iter().filter_map(|&index| JobSpace::ALL.get(index)).map(|space| jobs.needs(*space).0);
        return needs.fold(0, u64::saturating_add);
    }
    let targets = workload.files.targets.len();
    // Tasks below `end` whose files are on target `index`.
    let below = |end: u32, index: usize| (end as usize + targets - 1 - index) / targets;
    let here = |tasks: Range<u32>| -> usize {
        indexes.iter().map(|&index| below(tasks.end, index) - below(tasks.start, index)).sum()
    };
    let files = match layer {
        Layer::NodeLocal => {
            (0..workload.nodes).map(|node| here(tasks_of_node(workload, node))).max().unwrap_or(0)
        }
        Layer::Unstated | Layer::Shared => here(0..workload.tasks),
    };
    let each = match workload.work.is_transfers() {
        true => workload.geometry.bytes_per_task().0,
        false => workload.footprint().0 / u64::from(workload.tasks.max(1)),
    };
    each.saturating_mul(files as u64)
}
