//! Space that jobs need on the file systems of their job spaces.

use plan::{Bytes, Existing, JobSpace, JobsPlacement};

use crate::RunnerError;
use crate::check::RankCheck;
use crate::files::cleanup;
use crate::files::trees;
use crate::ranks::order::{Scarce, SpaceNeed};

impl RankCheck<'_> {
    /// Bytes that the tables and outputs of jobs will take, by file system. Cases usually remove their files
    /// before the next one: the largest counts.
    pub(crate) fn jobs_space(&self) -> Result<Vec<SpaceNeed>, RunnerError> {
        let mut all: Vec<SpaceNeed> = Vec::new();
        for case in trees::left(self.plan, self.finished) {
            let Some(placement) = JobsPlacement::new(&case.workload) else { continue };
            // Existing valid tables take no more space.
            if case.workload.files.existing == Existing::Reuse {
                continue;
            }
            let mut own: Vec<SpaceNeed> = Vec::new();
            for space in JobSpace::ALL {
                let Bytes(need) = placement.jobs().needs(space);
                // If each pass has its own tables, they stay until the case ends.
                let sets = if space == JobSpace::Permanent { cleanup::sets(case) } else { 1 };
                let need = need.saturating_mul(u64::from(sets));
                let place = self.host.file_system_of(placement.target(space))?;
                if place.size_bytes == 0 {
                    continue;
                }
                match own.iter_mut().find(|known| known.mount_point == place.mount_point) {
                    Some(known) => known.need = known.need.saturating_add(need),
                    None => own.push(SpaceNeed {
                        node: None,
                        mount_point: place.mount_point,
                        what: Scarce::Jobs,
                        need,
                        free: place.free_bytes,
                    }),
                }
            }
            for need in own {
                match all.iter_mut().find(|known| known.mount_point == need.mount_point) {
                    Some(known) => known.need = known.need.max(need.need),
                    None => all.push(need),
                }
            }
        }
        Ok(all)
    }
}

/// All file systems that jobs need, with their free space.
pub(crate) fn lacking(needs: &[SpaceNeed]) -> RunnerError {
    let one = |need: &SpaceNeed| {
        let less = if need.need > need.free { ", too little" } else { "" };
        format!("{} needs {} and has {} free{less}", need.mount_point, Bytes(need.need), Bytes(need.free))
    };
    let jobs = needs.iter().filter(|need| need.what == Scarce::Jobs);
    RunnerError::NoSpaceForJobs { places: jobs.map(one).collect::<Vec<_>>().join("; ") }
}

#[cfg(test)]
mod tests {
    use super::{Scarce, SpaceNeed, lacking};

    #[test]
    fn every_file_system_is_named_with_its_need() {
        let need = |place: &str, need: u64| SpaceNeed {
            node: None,
            mount_point: place.to_owned(),
            what: Scarce::Jobs,
            need,
            free: 4 << 30,
        };
        let said = lacking(&[need("/data", 8 << 30), need("/work", 1 << 30)]).to_string();
        assert!(said.contains("/data needs 8 GiB and has 4 GiB free, too little"), "{said}");
        assert!(said.contains("/work needs 1 GiB and has 4 GiB free;"), "{said}");
    }
}
