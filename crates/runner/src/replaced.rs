//! Files of the user that a run will remove or write over, since it makes files of these names
//! itself or wipes.

use std::collections::BTreeSet;
use std::fs::{self, Metadata};
use std::path::PathBuf;

use plan::{Backend, Bytes, Case, Existing, Placement, Plan};
use record::{Holder, Leftover};

use crate::cleanup::paths;

/// What stands where a plan makes its files anew: by a write, a fill, the preconditioning or a wipe.
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
    let bytes_of = |path: &PathBuf| {
        let metadata = fs::symlink_metadata(path).ok().filter(Metadata::is_file)?;
        Some(metadata.len())
    };
    let is_lost = |case: &Case, path: &PathBuf| {
        replaces(case) || bytes_of(path).is_some_and(|bytes| fills_over(case, bytes))
    };
    let names: BTreeSet<PathBuf> = plan
        .cases
        .iter()
        .filter(|case| replaces(case) || case.workload.files.fill)
        .flat_map(|case| paths(case).into_iter().filter(|path| is_lost(case, path)))
        .collect();
    let lost = names.into_iter().filter_map(|path| {
        // Of a link only the link goes.
        let bytes = bytes_of(&path)?;
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

/// Whether a file of this case's name is lost, whatever it holds.
fn replaces(case: &Case) -> bool {
    let files = &case.workload.files;
    // A fill, a mixed phase and the preconditioning write into the files as a write phase does.
    let writes = case.phases.iter().any(|phase| phase.writes());
    let makes_anew = files.existing == Existing::Replace && (writes || case.protocol.precondition > 0);
    case.workload.backend != Backend::Null && (makes_anew || case.protocol.wipe)
}

/// Whether a file of `bytes` is lost because it does not hold what the case will read, and the
/// case is allowed to write it.
fn fills_over(case: &Case, bytes: u64) -> bool {
    let files = &case.workload.files;
    let reads = case.phases.iter().any(|phase| phase.needs_data());
    let fills = files.fill && files.existing == Existing::Replace && reads;
    case.workload.backend != Backend::Null
        && fills
        && bytes < Placement::new(&case.workload).file_bytes().get()
}
