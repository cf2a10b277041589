//! The targets of a case, whether files or trees: their directories and devices, and whether it writes there.

use std::path::{Path, PathBuf};

use host::Host;
use plan::Case;

use crate::files::paths::{directory_of, paths};
use crate::files::trees;

/// The directories that hold the claims of `case`: the parents of its targets, or the targets themselves if
/// trees are made in them.
pub(crate) fn directories(case: &Case) -> Vec<PathBuf> {
    case.workload.files.targets.iter().map(|target| place_of(case, target)).collect()
}

/// The same for one target.
pub(crate) fn place_of(case: &Case, target: &Path) -> PathBuf {
    if trees::has(case) { trees::place_of(target) } else { directory_of(target) }
}

/// Whether `target` of `case` differs from node to node.
pub(crate) fn is_node_local(local_directories: &[PathBuf], case: &Case, target: &Path) -> bool {
    match trees::has(case) {
        true => trees::is_node_local(local_directories, target),
        false => local_directories.contains(&directory_of(target)),
    }
}

/// The directories that `case` creates for its files.
pub(crate) fn own_directories(case: &Case) -> Vec<PathBuf> {
    if !case.workload.files.unique_dir {
        return trees::missing_targets(case);
    }
    paths(case).iter().map(|path| directory_of(path)).collect()
}

/// Whether `case` creates, changes or wipes data on its targets.
pub(crate) fn writes(case: &Case) -> bool {
    let protocol = &case.protocol;
    let around = case.workload.files.fill || protocol.wipe || protocol.precondition > 0;
    around || case.phases.iter().any(|phase| phase.writes() || trees::changes(*phase))
}

/// The devices under `targets`, without duplicates.
pub(crate) fn devices(targets: &[PathBuf], host: &Host) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for device in targets.iter().filter_map(|target| host.devices_under(target).ok()).flatten() {
        if !all.contains(&device) {
            all.push(device);
        }
    }
    all
}
