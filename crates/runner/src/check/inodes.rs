//! Inodes and bytes that trees need on their file systems.

use std::collections::HashMap;
use std::path::Path;

use crate::RunnerError;
use crate::check::RankCheck;
use crate::files::cleanup;
use crate::files::trees;
use crate::ranks::order::{Scarce, SpaceNeed};

impl RankCheck<'_> {
    /// Inodes, and bytes in them, that the trees of this rank's tasks will take. Cases usually remove their
    /// files before the next one: the largest counts.
    pub(crate) fn inodes(&self, node: u32) -> Result<Vec<SpaceNeed>, RunnerError> {
        let mut most: HashMap<(&Path, bool), (u64, u64)> = HashMap::new();
        for case in trees::left(self.plan, self.finished).filter(|case| trees::makes(case)) {
            let (tasks, stonewalled) = (self.tasks(case)?, case.workload.stonewall.is_some());
            if stonewalled {
                continue;
            }
            let targets = &case.workload.files.targets;
            for (index, target) in targets.iter().enumerate() {
                let here = tasks.clone().filter(|task| *task as usize % targets.len() == index).count();
                let (inodes, bytes) = trees::needs(case, u64::try_from(here).unwrap_or(u64::MAX));
                let separate = cleanup::is_separate(self.separate, case, target);
                let known = most.entry((target, separate)).or_default();
                *known = (known.0.max(inodes), known.1.max(bytes));
            }
        }
        let mut needs: Vec<SpaceNeed> = Vec::new();
        for ((target, separate), (inodes, bytes)) in most {
            let place = self.host.file_system_of(target)?;
            let node = separate.then_some(node);
            let mut add = |what, need: u64, free: u64| {
                let same = |one: &&mut SpaceNeed| {
                    one.node == node && one.mount_point == place.mount_point && one.what == what
                };
                match needs.iter_mut().find(same) {
                    Some(known) => known.need = known.need.saturating_add(need),
                    None => {
                        needs.push(SpaceNeed {
                            node,
                            mount_point: place.mount_point.clone(),
                            what,
                            need,
                            free,
                        });
                    }
                }
            };
            if place.inodes > 0 {
                add(Scarce::Inodes, inodes, place.free_inodes);
            }
            if place.size_bytes > 0 {
                add(Scarce::Bytes, bytes, place.free_bytes);
            }
        }
        Ok(needs)
    }
}
