//! Space and inodes that the cases of a plan need on the file systems of their targets.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use host::Host;
use plan::{Bytes, Case, Existing, JobSpace, JobsPlacement, Placement, Sharing};
use record::FileSystemFacts;
use serde::{Deserialize, Serialize};

use crate::RunnerError;
use crate::files::paths::{directory_of, sets};
use crate::files::targets::{is_node_local, writes};
use crate::files::trees;
use crate::ranks::rank_assignment::files_of;

/// What is needed on a file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Resource {
    FileBytes,
    /// Bytes of the files in trees.
    TreeBytes,
    /// Bytes of the tables and outputs of jobs.
    JobBytes,
    Inodes,
}

/// A need on a file system, and what is free there.
#[derive(Debug, Serialize, Deserialize)]
struct SpaceNeed {
    /// The node, if the file system is node-local.
    node: Option<u32>,
    mount_point: String,
    resource: Resource,
    need: u64,
    free: u64,
}

/// The needs on each file system, each resource once.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct SpaceNeeds(Vec<SpaceNeed>);

impl SpaceNeeds {
    /// Adds the needs of other ranks or of other kinds of work.
    pub(crate) fn add(&mut self, more: Self) {
        more.0.into_iter().for_each(|need| self.merge(need, u64::saturating_add));
    }

    fn add_on(&mut self, node: Option<u32>, place: &FileSystemFacts, resource: Resource, need: u64) {
        let free = if resource == Resource::Inodes { place.free_inodes } else { place.free_bytes };
        let mount_point = place.mount_point.clone();
        self.merge(SpaceNeed { node, mount_point, resource, need, free }, u64::saturating_add);
    }

    fn merge(&mut self, need: SpaceNeed, together: impl Fn(u64, u64) -> u64) {
        let same = |known: &&mut SpaceNeed| {
            (known.node, &known.mount_point, known.resource) == (need.node, &need.mount_point, need.resource)
        };
        match self.0.iter_mut().find(same) {
            None => self.0.push(need),
            Some(known) => {
                known.need = together(known.need, need.need);
                known.free = known.free.min(need.free);
            }
        }
    }

    /// Checks that all of it is free.
    ///
    /// # Errors
    /// The first need that is not met; for jobs the needs on all file systems.
    pub(crate) fn check(&self) -> Result<(), RunnerError> {
        let Some(lacking) = self.0.iter().find(|need| need.need > need.free) else { return Ok(()) };
        let SpaceNeed { need, free, .. } = *lacking;
        let place = lacking.mount_point.clone();
        Err(match lacking.resource {
            Resource::Inodes => RunnerError::NoInodes { need, free, place },
            Resource::FileBytes | Resource::TreeBytes => {
                RunnerError::NoSpace { need: Bytes(need), free: Bytes(free), place }
            }
            Resource::JobBytes => {
                let jobs = self.0.iter().filter(|need| need.resource == Resource::JobBytes);
                RunnerError::NoSpaceForJobs {
                    places: jobs.map(SpaceNeed::text).collect::<Vec<_>>().join("; "),
                }
            }
        })
    }
}

impl SpaceNeed {
    fn text(&self) -> String {
        let less = if self.need > self.free { ", too little" } else { "" };
        format!("{} needs {} and has {} free{less}", self.mount_point, Bytes(self.need), Bytes(self.free))
    }
}

/// Key of a set of files whose sizes are needed: targets, shared or not, own directories or not, first and
/// last task, sets.
type FilesOf<'a> = (&'a [PathBuf], bool, bool, u32, u32, u32);

/// Computes what the tasks of a rank need.
pub(crate) struct SpaceCheck<'a> {
    pub(crate) host: &'a Host,
    /// The node of the rank.
    pub(crate) node: u32,
    /// Directories that differ from node to node.
    pub(crate) local_directories: &'a [PathBuf],
}

impl SpaceCheck<'_> {
    /// Bytes that the files of `cases`, each with the tasks of this rank, will take. A stonewall may end a
    /// write long before its volume is reached; such a case is left to the forecast's warning.
    pub(crate) fn files(&self, cases: &[(&Case, Range<u32>)]) -> Result<SpaceNeeds, RunnerError> {
        // Cases of a sweep share files: each file counts once, at its largest size.
        let mut sizes: HashMap<PathBuf, (&Path, u64)> = HashMap::new();
        let mut known_sets: HashMap<FilesOf<'_>, u64> = HashMap::new();
        for (case, tasks) in cases.iter().filter(|(case, _)| takes_space(case)) {
            let bytes = Placement::new(&case.workload).file_bytes().get();
            let files = &case.workload.files;
            let shared = files.sharing == Sharing::Shared;
            let (all, unique) = (sets(case), files.unique_dir);
            let set = (files.targets.as_slice(), shared, unique, tasks.start, tasks.end, all);
            if known_sets.get(&set).is_some_and(|known| *known >= bytes) {
                continue;
            }
            known_sets.insert(set, bytes);
            for slot in (0..all).flat_map(|pass| files_of(&case.workload, tasks, pass)) {
                let target = &files.targets[slot.index as usize % files.targets.len()];
                let size = sizes.entry(slot.path).or_insert((target, 0));
                size.1 = size.1.max(bytes);
            }
        }
        let mut places: HashMap<&Path, FileSystemFacts> = HashMap::new();
        let mut needs = SpaceNeeds::default();
        for (path, (target, bytes)) in sizes {
            let place = match places.entry(target) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(unknown) => unknown.insert(self.host.file_system_of(target)?),
            };
            // For example ramfs has no size, and its free space figure means nothing.
            if place.size_bytes > 0 {
                let node = self.local_directories.contains(&directory_of(target)).then_some(self.node);
                needs.add_on(node, place, Resource::FileBytes, grows(&path, bytes));
            }
        }
        Ok(needs)
    }

    /// Inodes, and bytes in them, that the trees of `cases` will take. Cases usually remove their files before
    /// the next one: the largest counts.
    pub(crate) fn trees(&self, cases: &[(&Case, Range<u32>)]) -> Result<SpaceNeeds, RunnerError> {
        let mut most: HashMap<(&Path, bool), (u64, u64)> = HashMap::new();
        let makes = |case: &Case| trees::makes(case) && case.workload.stonewall.is_none();
        for (case, tasks) in cases.iter().filter(|(case, _)| makes(case)) {
            let targets = &case.workload.files.targets;
            for (index, target) in targets.iter().enumerate() {
                let here = tasks.clone().filter(|task| *task as usize % targets.len() == index).count();
                let (inodes, bytes) = trees::needs(case, u64::try_from(here).unwrap_or(u64::MAX));
                let known =
                    most.entry((target, is_node_local(self.local_directories, case, target))).or_default();
                *known = (known.0.max(inodes), known.1.max(bytes));
            }
        }
        let mut needs = SpaceNeeds::default();
        for ((target, is_local), (inodes, bytes)) in most {
            let place = self.host.file_system_of(target)?;
            let node = is_local.then_some(self.node);
            if place.inodes > 0 {
                needs.add_on(node, &place, Resource::Inodes, inodes);
            }
            if place.size_bytes > 0 {
                needs.add_on(node, &place, Resource::TreeBytes, bytes);
            }
        }
        Ok(needs)
    }

    /// Bytes that the tables and outputs of the jobs of `cases` will take. Cases usually remove their files
    /// before the next one: the largest counts.
    pub(crate) fn jobs<'c>(&self, cases: impl Iterator<Item = &'c Case>) -> Result<SpaceNeeds, RunnerError> {
        let mut all = SpaceNeeds::default();
        for case in cases {
            let Some(placement) = JobsPlacement::new(&case.workload) else { continue };
            // Existing valid tables take no more space.
            if case.workload.files.existing == Existing::Reuse {
                continue;
            }
            let mut own = SpaceNeeds::default();
            for space in JobSpace::ALL {
                let Bytes(need) = placement.jobs().needs(space);
                // If each pass has its own tables, they stay until the case ends.
                let sets = if space == JobSpace::Permanent { sets(case) } else { 1 };
                let place = self.host.file_system_of(placement.target(space))?;
                if place.size_bytes > 0 {
                    own.add_on(None, &place, Resource::JobBytes, need.saturating_mul(u64::from(sets)));
                }
            }
            own.0.into_iter().for_each(|need| all.merge(need, u64::max));
        }
        Ok(all)
    }
}

fn takes_space(case: &Case) -> bool {
    let workload = &case.workload;
    let tables = workload.work.jobs().is_some();
    writes(case) && !tables && workload.backend.moves_data() && workload.stonewall.is_none()
}

/// Bytes that a file of `bytes` takes beyond its present size. A device does not grow.
fn grows(path: &Path, bytes: u64) -> u64 {
    match std::fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => bytes.saturating_sub(metadata.blocks().saturating_mul(512)),
        Ok(_) => 0,
        Err(_) => bytes,
    }
}

#[cfg(test)]
mod tests {
    use super::{Resource, SpaceNeed, SpaceNeeds};

    fn needs(all: &[(&str, Resource, u64)]) -> SpaceNeeds {
        let need = |&(place, resource, need): &(&str, Resource, u64)| SpaceNeed {
            node: None,
            mount_point: place.to_owned(),
            resource,
            need,
            free: if resource == Resource::Inodes { 1000 } else { 4 << 30 },
        };
        SpaceNeeds(all.iter().map(need).collect())
    }

    #[test]
    fn every_file_system_is_named_with_its_need() {
        let jobs = [("/data", Resource::JobBytes, 8 << 30), ("/work", Resource::JobBytes, 1 << 30)];
        let said = needs(&jobs).check().expect_err("too little").to_string();
        assert!(said.contains("/data needs 8 GiB and has 4 GiB free, too little"), "{said}");
        assert!(said.contains("/work needs 1 GiB and has 4 GiB free;"), "{said}");
    }

    #[test]
    fn inodes_and_bytes_of_several_ranks_are_added_apart() {
        let rank = || needs(&[("/t", Resource::Inodes, 400), ("/t", Resource::TreeBytes, 1 << 20)]);
        let mut all = rank();
        all.add(rank());
        all.check().expect("800 of 1000 inodes, and 2 MiB of 4 GiB");
        all.add(rank());
        let said = all.check().expect_err("1200 of 1000 inodes").to_string();
        assert!(said.contains("need 1200 inodes"), "{said}");
    }
}
