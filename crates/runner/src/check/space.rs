//! Space and inodes that the cases of a plan need on the file systems of their targets.

use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use host::Host;
use plan::{Bytes, Case, Existing, JobSpace, JobsPlacement, Keep};
use record::FileSystemFacts;
use serde::{Deserialize, Serialize};

use crate::RunnerError;
use crate::check::present_files::{CaseInBlock, PresentFiles};
use crate::files::paths::{directory_of, sets};
use crate::files::targets::is_node_local;
use crate::files::trees;

/// A resource of a file system that is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Resource {
    /// Bytes of files, including those in trees.
    Bytes,
    /// Bytes of the tables and outputs of jobs.
    JobBytes,
    Inodes,
}

/// A need on a file system, and the amount that is free there.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct SpaceNeed {
    /// The node, if the file system is node-local.
    node: Option<u32>,
    mount_point: String,
    resource: Resource,
    need: u64,
    free: u64,
    /// The case with which this much is needed.
    case: String,
}

/// The needs on each file system, with one entry per resource.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct SpaceNeeds(Vec<SpaceNeed>);

impl SpaceNeeds {
    /// Adds the needs of other ranks or of other kinds of work.
    pub(crate) fn add(&mut self, more: Self) {
        more.0.into_iter().for_each(|need| self.merge(need, u64::saturating_add));
    }

    fn add_on(
        &mut self,
        node: Option<u32>,
        place: &FileSystemFacts,
        resource: Resource,
        need: u64,
        case: &Case,
    ) {
        let free = if resource == Resource::Inodes { place.free_inodes } else { place.free_bytes };
        let (mount_point, case) = (place.mount_point.clone(), case.id.clone());
        self.merge(SpaceNeed { node, mount_point, resource, need, free, case }, u64::saturating_add);
    }

    /// Takes the maximum of each need, for cases that run one after the other.
    fn largest(&mut self, of_case: Self) {
        of_case.0.into_iter().for_each(|need| self.merge(need, u64::max));
    }

    fn merge(&mut self, need: SpaceNeed, together: impl Fn(u64, u64) -> u64) {
        let same = |known: &&mut SpaceNeed| {
            (known.node, &known.mount_point, known.resource) == (need.node, &need.mount_point, need.resource)
        };
        match self.0.iter_mut().find(same) {
            None => self.0.push(need),
            Some(known) => {
                if need.need > known.need {
                    known.case = need.case;
                }
                known.need = together(known.need, need.need);
                known.free = known.free.min(need.free);
            }
        }
    }

    /// Checks that everything needed is free.
    ///
    /// # Errors
    /// Returns the first need that is not met, or for jobs the needs on all file systems.
    pub(crate) fn check(&self) -> Result<(), RunnerError> {
        let Some(lacking) = self.0.iter().find(|need| need.need > need.free) else { return Ok(()) };
        let SpaceNeed { need, free, .. } = *lacking;
        let (place, case) = (lacking.mount_point.clone(), lacking.case.clone());
        Err(match lacking.resource {
            Resource::Inodes => RunnerError::NoInodes { need, free, place, case },
            Resource::Bytes => RunnerError::NoSpace { need: Bytes(need), free: Bytes(free), place, case },
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
        let less = if self.need > self.free { ", which is too little" } else { "" };
        format!("{} needs {} and has {} free{less}", self.mount_point, Bytes(self.need), Bytes(self.free))
    }
}

/// Computes what the tasks of a rank need.
pub(crate) struct SpaceCheck<'a> {
    pub(crate) host: &'a Host,
    /// The node of the rank.
    pub(crate) node: u32,
    /// Directories that differ from node to node.
    pub(crate) local_directories: &'a [PathBuf],
}

impl SpaceCheck<'_> {
    /// Maximum number of bytes and inodes that the files and trees of `cases` use at the same time. Each case removes its
    /// own files, unless a later one needs them or they are kept. The cases are in order, each with the number of its
    /// block in the plan and the tasks of this rank; cases of a block alternate, or run at the same time.
    pub(crate) fn files_and_trees(&self, cases: &[CaseInBlock<'_>]) -> Result<SpaceNeeds, RunnerError> {
        let mut places: HashMap<PathBuf, FileSystemFacts> = HashMap::new();
        let mut place_of = |target: &Path| -> Result<FileSystemFacts, RunnerError> {
            if let Some(known) = places.get(target) {
                return Ok(known.clone());
            }
            let found = self.host.file_system_of(target)?;
            places.insert(target.to_owned(), found.clone());
            Ok(found)
        };
        let files = PresentFiles::of(cases).most(|target| self.place(target))?;
        let mut files = files.into_iter().peekable();
        let (mut most, mut kept) = (SpaceNeeds::default(), SpaceNeeds::default());
        // A tree that is kept is created once, however many cases use it.
        let mut of_kept: Vec<&[PathBuf]> = Vec::new();
        for block in cases.chunk_by(|(one, ..), (next, ..)| one == next) {
            // Trees that are there until the end of the block, by target: cases with the same one replace them. Those of
            // other cases are removed in each pass.
            let mut staying: Vec<(&[PathBuf], SpaceNeeds)> = Vec::new();
            let mut now = SpaceNeeds::default();
            let makes = |case: &Case| trees::makes(case) && case.workload.stonewall.is_none();
            for (_, case, tasks) in block.iter().filter(|(_, case, _)| makes(case)) {
                let needs = self.trees(case, tasks, &mut place_of)?;
                let targets = case.workload.files.targets.as_slice();
                let stays = case.concurrent.is_some() || !case.phases.iter().any(|phase| phase.ends());
                let same = staying.iter_mut().find(|(known, _)| *known == targets);
                match (case.workload.files.keep, same) {
                    (Keep::Always, _) if !of_kept.contains(&targets) => {
                        of_kept.push(targets);
                        kept.add(needs);
                    }
                    _ if !stays => now.largest(needs),
                    (_, Some((_, same))) => same.largest(needs),
                    (_, None) => staying.push((targets, needs)),
                }
            }
            now.add(kept.clone());
            staying.into_iter().for_each(|(_, needs)| now.add(needs));
            while let Some((_, target, bytes, case)) = files.next_if(|(number, ..)| *number == block[0].0) {
                let place = place_of(target)?;
                // Some file systems, for example ramfs, have no size, and their free space is meaningless.
                if place.size_bytes > 0 {
                    now.add_on(self.node_of(target), &place, Resource::Bytes, bytes, case);
                }
            }
            most.largest(now);
        }
        Ok(most)
    }

    /// The node and the file system of a target. The files of a target share its space with all others
    /// there.
    fn place(&self, target: &Path) -> Result<(Option<u32>, String), RunnerError> {
        Ok((self.node_of(target), self.host.file_system_of(target)?.mount_point))
    }

    /// The node, if the directory of `target` differs from node to node.
    fn node_of(&self, target: &Path) -> Option<u32> {
        self.local_directories.contains(&directory_of(target)).then_some(self.node)
    }

    /// Inodes, and bytes in them, that the trees of `tasks` of `case` use.
    fn trees(
        &self,
        case: &Case,
        tasks: &Range<u32>,
        mut place_of: impl FnMut(&Path) -> Result<FileSystemFacts, RunnerError>,
    ) -> Result<SpaceNeeds, RunnerError> {
        let targets = &case.workload.files.targets;
        let mut needs = SpaceNeeds::default();
        for (index, target) in targets.iter().enumerate() {
            let here = tasks.clone().filter(|task| *task as usize % targets.len() == index).count();
            let (inodes, bytes) = trees::needs(case, u64::try_from(here).unwrap_or(u64::MAX));
            let place = place_of(target)?;
            let node = is_node_local(self.local_directories, case, target).then_some(self.node);
            if place.inodes > 0 {
                needs.add_on(node, &place, Resource::Inodes, inodes, case);
            }
            if place.size_bytes > 0 {
                needs.add_on(node, &place, Resource::Bytes, bytes, case);
            }
        }
        Ok(needs)
    }

    /// Bytes that the tables and outputs of the jobs of `cases` use. Cases usually remove their files
    /// before the next case, so the largest need counts.
    pub(crate) fn jobs<'c>(&self, cases: impl Iterator<Item = &'c Case>) -> Result<SpaceNeeds, RunnerError> {
        let mut all = SpaceNeeds::default();
        for case in cases {
            let Some(placement) = JobsPlacement::new(&case.workload) else { continue };
            // Existing valid tables need no additional space.
            if case.workload.files.existing == Existing::Reuse {
                continue;
            }
            let mut own = SpaceNeeds::default();
            for space in JobSpace::ALL {
                let Bytes(need) = placement.jobs().needs(space);
                // If each pass has its own tables, they exist until the case ends.
                let sets = if space == JobSpace::Permanent { sets(case) } else { 1 };
                let place = self.host.file_system_of(placement.target(space))?;
                if place.size_bytes > 0 {
                    let need = need.saturating_mul(u64::from(sets));
                    own.add_on(None, &place, Resource::JobBytes, need, case);
                }
            }
            all.largest(own);
        }
        Ok(all)
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
            case: "c".to_owned(),
        };
        SpaceNeeds(all.iter().map(need).collect())
    }

    #[test]
    fn every_file_system_is_named_with_its_need() {
        let jobs = [("/data", Resource::JobBytes, 8 << 30), ("/work", Resource::JobBytes, 1 << 30)];
        let said = needs(&jobs).check().expect_err("too little").to_string();
        assert!(said.contains("/data needs 8 GiB and has 4 GiB free, which is too little"), "{said}");
        assert!(said.contains("/work needs 1 GiB and has 4 GiB free;"), "{said}");
    }

    #[test]
    fn inodes_and_bytes_of_several_ranks_are_added_apart() {
        let rank = || needs(&[("/t", Resource::Inodes, 400), ("/t", Resource::Bytes, 1 << 20)]);
        let mut all = rank();
        all.add(rank());
        all.check().expect("800 of 1000 inodes, and 2 MiB of 4 GiB");
        all.add(rank());
        let said = all.check().expect_err("1200 of 1000 inodes").to_string();
        assert!(said.contains("need 1200 inodes"), "{said}");
    }
}
