//! Trees and sets of objects that a run creates: their roots, the space they need, and their removal. Their files
//! are identified by name and not kept in a list.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use plan::shell_word;
use plan::{Case, NamesMade, Nanos, ObjectsPlacement, Phase, TreePlacement, Workload};
use record::{SweepResult, TargetClaim, sweep_names, sweep_tree};

use crate::RunnerError;
use crate::files::paths::{absolute_path, directory_of, sets};

/// Smallest allocation of a file with data on most file systems.
const BLOCK_BYTES: u64 = 4096;

/// Whether `case` creates directory entries on real targets.
pub(crate) fn has(case: &Case) -> bool {
    case.workload.work.makes_trees() && case.workload.backend.moves_data()
}

/// Whether `phase` accesses items of another phase. If the protocol empties caches, these items must not be
/// found in caches.
pub(crate) fn finds(phase: Phase) -> bool {
    !phase.is_transfers() && !phase.begins() && !phase.creates_items() && phase != Phase::Exchange
}

/// Whether `case` recreates its trees, so that existing ones are in its way.
pub(crate) fn makes(case: &Case) -> bool {
    has(case)
        && (in_target(&case.workload) && case.phases.iter().any(|phase| phase.creates_items())
            || case.phases.iter().any(|phase| phase.begins()))
}

/// Whether items, or sets of objects, are created in the target itself, next to other files.
pub(crate) fn in_target(workload: &Workload) -> bool {
    workload.work.kind().is_in_target()
}

/// Whether the targets of `case` must exist, because items are created directly in them and not in a
/// directory of the run.
pub(crate) fn needs_target(case: &Case) -> bool {
    case.workload.work.kind().needs_target()
}

/// The roots of every pass of `case`.
pub(crate) fn roots(case: &Case) -> BTreeSet<PathBuf> {
    if !has(case) {
        return BTreeSet::new();
    }
    (0..sets(case)).flat_map(|set| case.workload.roots(set)).collect()
}

/// The claims for `case`: its roots, and whether its items are next to other files there.
pub(crate) fn claimed(case: &Case) -> Vec<(PathBuf, bool)> {
    match makes(case) {
        true => roots(case).into_iter().map(|root| (root, in_target(&case.workload))).collect(),
        false => Vec::new(),
    }
}

/// The missing targets of `case`, which it creates.
pub(crate) fn missing_targets(case: &Case) -> Vec<PathBuf> {
    if !makes(case) || needs_target(case) {
        return Vec::new();
    }
    case.workload
        .files
        .targets
        .iter()
        .filter(|target| fs::symlink_metadata(target).is_err())
        .cloned()
        .collect()
}

/// The directory that contains the claim for the target of a tree: the target itself, or its parent as long
/// as the target does not exist.
pub(crate) fn place_of(target: &Path) -> PathBuf {
    if target.is_dir() { target.to_owned() } else { directory_of(target) }
}

/// Whether `target`, or the directory that contains it, is node-local.
pub(crate) fn is_node_local(local_directories: &[PathBuf], target: &Path) -> bool {
    local_directories.iter().any(|own| own == target || *own == directory_of(target))
}

/// The error for a leftover of an earlier run at `root`, which was found by its name or by the name of an
/// item in it.
pub(crate) fn left_there(root: &Path, found: &Path) -> RunnerError {
    let changed = fs::symlink_metadata(found).and_then(|metadata| metadata.modified());
    let age = changed.ok().and_then(|changed| SystemTime::now().duration_since(changed).ok());
    let ago = match age.map(|age| age.as_secs()) {
        None => String::new(),
        Some(0) => ", last changed just now".to_owned(),
        Some(seconds) => format!(", last changed {} ago", Nanos::secs(seconds)),
    };
    let help = match claim_on(root) {
        Some((claim, place)) => format!(
            "run {} has claimed it: `ioproof clean {}` removes it if that run was killed; otherwise name \
             another directory",
            claim.run_id,
            shell_word(&place.to_string_lossy())
        ),
        None => "they were created by a run that keeps its files (`ioproof clean` knows only those of \
                 killed runs): remove them, or name another directory"
            .to_owned(),
    };
    let problem = format!("already exists: files left by an earlier run{ago}");
    RunnerError::Target { path: found.to_owned(), problem, help }
}

/// The claim of a run on `root`, and the directory that contains it.
pub(crate) fn claim_on(root: &Path) -> Option<(TargetClaim, PathBuf)> {
    let root = absolute_path(root).ok()?;
    let places = root.ancestors().take(3).map(Path::to_owned);
    places.into_iter().find_map(|place| {
        let left = record::leftovers(&place).ok()?;
        // `ioproof clean` does not remove what is to be kept.
        let covers =
            |claim: &TargetClaim| claim.trees.iter().any(|tree| !tree.kept && place.join(&tree.path) == root);
        left.into_iter().find(|left| covers(&left.claim)).map(|left| (left.claim, place.clone()))
    })
}

/// Inodes and bytes that `tasks` of `case` use on their target. Directories of their trees count once.
pub(crate) fn needs(case: &Case, tasks: u64) -> (u64, u64) {
    if tasks == 0 {
        return (0, 0);
    }
    // Of jobs there are none: there are few tables, and each job space has its own estimate.
    let NamesMade { files, directories, file_bytes } =
        case.workload.work.kind().names_needed(&case.phases, tasks);
    let blocks = file_bytes.0.div_ceil(BLOCK_BYTES).saturating_mul(BLOCK_BYTES);
    (files.saturating_add(directories), files.saturating_mul(blocks))
}

/// Creates `root`. Returns whether it is new.
pub(crate) fn make(root: &Path) -> Result<bool, RunnerError> {
    match fs::create_dir(root) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(source) => {
            Err(RunnerError::File { action: "create the directory", path: root.to_owned(), source })
        }
    }
}

/// Removes this run's items at `root`. Other files are kept if items are `beside` them.
///
/// # Errors
/// Errors if it cannot be removed.
pub(crate) fn remove(root: &Path, beside: bool) -> Result<SweepResult, RunnerError> {
    Ok(if beside { sweep_names(root, None)? } else { sweep_tree(root, None)? })
}

/// Removes the items of `tasks` in every pass, so that many ranks share the work. The ranks responsible for
/// the roots remove the rest.
///
/// # Errors
/// Errors if something cannot be removed.
pub(crate) fn remove_own(case: &Case, tasks: &Range<u32>) -> Result<SweepResult, RunnerError> {
    let mut result = SweepResult::default();
    for set in 0..sets(case) {
        for task in tasks.clone() {
            if let Some(placement) = TreePlacement::new(&case.workload) {
                match placement.tree().own_trees {
                    true => {
                        let top = placement.root(task, set).join(placement.directory(task, 0));
                        result.add(sweep_tree(&top, None)?);
                    }
                    false => remove_items(case, placement, task, set)?,
                }
            }
            if let Some(placement) = ObjectsPlacement::new(&case.workload) {
                for number in 0..placement.objects().sets {
                    let set = placement.root(task, set).join(ObjectsPlacement::set(task, number));
                    result.add(sweep_tree(&set, None)?);
                }
            }
        }
    }
    Ok(result)
}

/// Removes the items of `task` by name from a tree shared with other tasks.
fn remove_items(case: &Case, placement: TreePlacement<'_>, task: u32, set: u32) -> Result<(), RunnerError> {
    let has = |phase: Phase| case.phases.contains(&phase);
    let tree = placement.tree();
    let (first, count) = tree.used_directories();
    for directory in first..first.saturating_add(count) {
        let place = placement.root(task, set).join(placement.directory(task, directory));
        let from = (directory - first).saturating_mul(tree.items_per_directory);
        for item in from..from.saturating_add(tree.items_per_directory) {
            let number = tree.number_of(item);
            if has(Phase::FileCreate) {
                let name = match tree.shared {
                    true => TreePlacement::shared_name(number),
                    false => TreePlacement::file_name(task, number),
                };
                remove_named(&place.join(name), |path| fs::remove_file(path))?;
            }
            if has(Phase::DirectoryCreate) {
                let name = TreePlacement::directory_name(task, number);
                remove_named(&place.join(name), |path| fs::remove_dir(path))?;
            }
        }
    }
    Ok(())
}

/// Removes `path`, if it exists.
fn remove_named(path: &Path, remove: impl Fn(&Path) -> io::Result<()>) -> Result<(), RunnerError> {
    match remove(path) {
        Ok(()) => Ok(()),
        // The rank responsible for the root will find the remaining files and report them.
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::DirectoryNotEmpty) => {
            Ok(())
        }
        Err(source) => Err(RunnerError::File { action: "remove", path: path.to_owned(), source }),
    }
}

/// Reports the remaining files of a tree as an error of the run.
pub(crate) fn stays(result: &SweepResult) -> Result<(), RunnerError> {
    match result.foreign.first() {
        Some(path) => Err(RunnerError::Foreign { path: path.clone(), count: result.foreign_count }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use plan::{Bytes, Case, Geometry, Phase, Tree, TreePlacement, WorkloadSpec};

    use super::{fs, remove_own};

    #[test]
    fn a_rank_removes_the_items_of_its_tasks_by_the_names_that_they_have() {
        for (leaf_only, shared) in [(false, false), (true, false), (true, true)] {
            let place = tempfile::tempdir().unwrap();
            let geometry = Geometry { transfer: Bytes(1), block: Bytes(1), segments: 1 };
            let mut spec = WorkloadSpec::new("w", place.path(), geometry);
            spec.work = Tree { depth: 1, branching: 2, leaf_only, shared, ..Tree::flat(3) }.into();
            let case = Case::new("c", spec.validate().unwrap(), vec![Phase::TreeCreate, Phase::FileCreate]);
            let placement = TreePlacement::new(&case.workload).unwrap();
            let tree = placement.tree();
            let of = |item: u64| {
                let number = tree.number_of(item);
                let name = match shared {
                    true => TreePlacement::shared_name(number),
                    false => TreePlacement::file_name(0, number),
                };
                let directory = placement.directory(0, tree.directory_of(item));
                placement.root(0, 0).join(directory).join(name)
            };
            let files: Vec<_> = (0..tree.items_per_task()).map(of).collect();
            for file in &files {
                fs::create_dir_all(file.parent().unwrap()).unwrap();
                fs::write(file, "").unwrap();
            }
            let _ = remove_own(&case, &(0..1)).unwrap();
            assert!(files.iter().all(|file| !file.exists()), "{leaf_only} {shared}");
        }
    }
}
