//! The targets of a case, whether files or trees: their directories and devices, and whether it writes there.

use std::path::{Path, PathBuf};

use host::{Host, Unobservable};
use plan::Case;

use crate::files::paths::{directory_of, leads_to_device, paths};
use crate::files::trees;

/// The directories that contain the claims of `case`: the parents of its targets, or the targets themselves
/// if trees are created in them. A device needs no claim, because the process that writes it has it open
/// exclusively.
pub(crate) fn directories(case: &Case) -> Vec<PathBuf> {
    let targets = case.workload.files.targets.iter().filter(|target| !leads_to_device(target));
    targets.map(|target| place_of(case, target)).collect()
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
    around || case.phases.iter().any(|phase| phase.writes() || phase.changes_names())
}

/// The devices under `targets`, without duplicates.
///
/// # Errors
/// Errors if the devices of a target cannot be observed.
pub(crate) fn devices_under<'t>(
    targets: impl IntoIterator<Item = &'t PathBuf>,
    host: &Host,
) -> Result<Vec<String>, Unobservable> {
    let each = targets.into_iter().map(|target| host.devices_under(target)).collect::<Result<Vec<_>, _>>()?;
    Ok(distinct(each.into_iter().flatten()))
}

/// The devices under those `targets` whose devices can be observed, without duplicates.
pub(crate) fn observable_devices(targets: &[PathBuf], host: &Host) -> Vec<String> {
    distinct(targets.iter().filter_map(|target| host.devices_under(target).ok()).flatten())
}

fn distinct(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for name in names {
        if !all.contains(&name) {
            all.push(name);
        }
    }
    all
}
