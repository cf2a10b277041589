//! Files of the user that a run will remove, since it makes files of these names itself or wipes.

use std::collections::BTreeSet;
use std::fs::{self, Metadata};
use std::path::PathBuf;

use plan::{Backend, Bytes, Case, Existing, Phase, Plan};
use record::{Holder, Leftover};

use crate::cleanup::paths;

/// What stands where write phases of a plan make their files anew.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replaced {
    /// How many files it is.
    pub files: usize,
    /// What they hold together.
    pub bytes: Bytes,
    /// The first by name.
    pub first: PathBuf,
}

/// What `plan` replaces, without empty files and those that killed runs are known to have left;
/// none where nothing is lost.
#[must_use]
pub fn replaced(plan: &Plan, leftovers: &[Leftover]) -> Option<Replaced> {
    let gone = leftovers.iter().filter(|leftover| leftover.holder == Holder::Gone);
    let left: BTreeSet<PathBuf> =
        gone.flat_map(|leftover| &leftover.files).filter_map(|file| file.path.canonicalize().ok()).collect();
    let names: BTreeSet<PathBuf> = plan.cases.iter().filter(|case| replaces(case)).flat_map(paths).collect();
    let lost = names.into_iter().filter_map(|path| {
        // Of a link only the link goes.
        let bytes = fs::symlink_metadata(&path).ok().filter(Metadata::is_file)?.len();
        let is_left = || path.canonicalize().is_ok_and(|path| left.contains(&path));
        (bytes > 0 && !is_left()).then_some((path, bytes))
    });
    lost.fold(None, |all, (path, bytes)| match all {
        None => Some(Replaced { files: 1, bytes: Bytes(bytes), first: path }),
        Some(Replaced { files, bytes: Bytes(sum), first }) => {
            Some(Replaced { files: files + 1, bytes: Bytes(sum.saturating_add(bytes)), first })
        }
    })
}

fn replaces(case: &Case) -> bool {
    let files = &case.workload.files;
    let makes_anew = files.existing == Existing::Replace && case.phases.contains(&Phase::Write);
    case.workload.backend != Backend::Null && (makes_anew || case.protocol.wipe)
}
