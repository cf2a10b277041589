//! Space taken by files on each file system.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::ops::Range;
use std::path::PathBuf;

use super::concern::whole;
use super::{CaseEstimate, FileSystemSpace, RunEnvironment};
use crate::placement::spread::tasks_of_node;
use crate::{Bytes, Case, JobSpace, Keep, Layer, Plan, Sharing, Workload};

/// Space that a case (or a plan) takes on one file system.
#[derive(Debug, Clone, PartialEq)]
pub struct SpaceEstimate {
    /// Mount point or device.
    pub name: String,
    /// Bytes that its files take there at the same time; for node-local storage, those of the node with the most.
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

    /// Number of different file systems that hold `targets`, as far as known.
    pub(super) fn count(&self, targets: &[PathBuf]) -> u32 {
        let spaces: HashSet<usize> =
            targets.iter().filter_map(|target| self.0.get(target.as_os_str())).flatten().copied().collect();
        u32::try_from(spaces.len()).unwrap_or(u32::MAX)
    }
}

/// Space that the files of `case` take on each file system of its targets, of which `share` is written. Files that
/// are only read take no additional space, unless the data has to exist before the run.
pub(super) fn spaces(
    case: &Case,
    environment: &RunEnvironment,
    placed: &TargetFileSystems<'_>,
    layer: Layer,
    share: f64,
) -> Vec<SpaceEstimate> {
    if case.only_reads() && environment.model.is_none() {
        return Vec::new();
    }
    let files = &case.workload.files;
    let sets = if files.file_per_repetition { u64::from(case.passes_max()) } else { 1 };
    let mut targets: Vec<Vec<usize>> = vec![Vec::new(); environment.spaces.len()];
    for (index, target) in files.targets.iter().enumerate() {
        for &space in placed.0.get(target.as_os_str()).map_or(&[][..], Vec::as_slice) {
            targets[space].push(index);
        }
    }
    let estimate = |(space, targets): (&FileSystemSpace, Vec<usize>)| {
        let needed = (!targets.is_empty()).then(|| bytes_on_targets(&case.workload, &targets, layer))?;
        let needed = match share < 1.0 {
            true => whole(needed.saturating_mul(sets) as f64 * share),
            false => Bytes(needed.saturating_mul(sets)),
        };
        Some(SpaceEstimate { name: space.name.clone(), needed, free: space.free })
    };
    environment.spaces.iter().zip(targets).filter_map(estimate).collect()
}

/// Key by which cases use the same files.
type Names<'p> = (&'p [PathBuf], Sharing, bool, bool);

/// The maximum space that the cases take on each file system at any time: every set of files at its largest, from
/// the first case that writes it to the last that uses it, or to the end if it is kept. Cases that take turns have
/// their files at the same time.
pub(super) fn together(
    plan: &Plan,
    environment: &RunEnvironment,
    all: &[CaseEstimate],
) -> Vec<SpaceEstimate> {
    fn names(case: &Case) -> Names<'_> {
        let files = &case.workload.files;
        (files.targets.as_slice(), files.sharing, files.unique_dir, files.file_per_repetition)
    }
    let blocks: Vec<Range<usize>> = plan.blocks().collect();
    let mut last: HashMap<Names<'_>, usize> = HashMap::new();
    for (number, block) in blocks.iter().enumerate() {
        last.extend(plan.cases[block.clone()].iter().map(|case| (names(case), number)));
    }
    let mut present: HashMap<Names<'_>, HashMap<&str, u64>> = HashMap::new();
    let mut kept: HashSet<Names<'_>> = HashSet::new();
    let mut most: HashMap<&str, u64> = HashMap::new();
    for (number, block) in blocks.into_iter().enumerate() {
        for (case, estimate) in plan.cases[block.clone()].iter().zip(&all[block]) {
            let files = present.entry(names(case)).or_default();
            for space in &estimate.spaces {
                let size = files.entry(space.name.as_str()).or_default();
                *size = (*size).max(space.needed.0);
            }
            if case.workload.files.keep == Keep::Always {
                kept.insert(names(case));
            }
        }
        for space in &environment.spaces {
            let here = present.values().filter_map(|files| files.get(space.name.as_str()));
            let here = here.fold(0, |sum: u64, &bytes| sum.saturating_add(bytes));
            let most = most.entry(space.name.as_str()).or_default();
            *most = (*most).max(here);
        }
        present.retain(|names, _| kept.contains(names) || last.get(names) != Some(&number));
    }
    let total = |space: &FileSystemSpace| {
        let needed = Bytes(most.get(space.name.as_str()).copied().unwrap_or(0));
        SpaceEstimate { name: space.name.clone(), needed, free: space.free }
    };
    environment.spaces.iter().map(total).collect()
}

/// Bytes of `workload` on the targets with these indices. Tasks are distributed round-robin over the targets; a
/// shared file is on the first.
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
