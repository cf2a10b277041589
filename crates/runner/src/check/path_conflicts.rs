//! Conflicts about the paths of a case: other kinds of files, other runs, and devices of the user.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ffi::OsString;
use std::io::ErrorKind;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use host::files::{FileState, Kind, check_directory};
use host::{Host, HostError, PermittedDevice};
use plan::shell_word;
use plan::{Case, Existing, FileSet, Keep, Plan, Sharing};
use record::{Holder, Leftover};

use crate::RunnerError;
use crate::files::file_sets::{FileSets, directories};
use crate::files::paths::{absolute, directory_of, paths};
use crate::files::targets::writes;
use crate::files::trees;
use crate::ranks::rank_assignment::paths_of;

/// Checks the targets of `case` on one of its `nodes`. The rank that runs the first of the `tasks` there
/// gets the permits for devices that are written.
///
/// # Errors
/// Errors if a target cannot store what the case writes, or may not be written.
pub(crate) fn check_targets(
    case: &Case,
    plan: &Plan,
    host: &Host,
    tasks: &Range<u32>,
    nodes: usize,
    permits: &mut Vec<PermittedDevice>,
) -> Result<(), RunnerError> {
    let files = &case.workload.files;
    let writes = writes(case);
    if trees::has(case) {
        return files.targets.iter().try_for_each(|target| check_tree_target(case, target));
    }
    if !case.workload.work.is_transfers() && !case.workload.work.makes_trees() {
        return files.targets.iter().try_for_each(|target| check_searched(plan, target));
    }
    for target in &files.targets {
        match FileState::of(target)?.kind {
            Some(Kind::BlockDevice) => {
                check_device_layout(case, target)?;
                if writes && nodes > 1 {
                    return Err(RunnerError::Target {
                        path: target.clone(),
                        problem: format!(
                            "is a block device, which {nodes} nodes cannot write at the same time"
                        ),
                        help: "write it from one node: it is unknown whether the path is the same device on \
                               the other nodes"
                            .to_owned(),
                    });
                }
                // The rank of the first task holds it.
                if writes && tasks.contains(&0) && !permits.iter().any(|permit| permit.covers(target)) {
                    let signature = case.workload.signature;
                    let guard =
                        host.guard().with_stamp_test(move |cell| engine::is_own_cell(signature, cell));
                    permits.push(guard.permit(target, &plan.destroy_data_on)?);
                }
            }
            Some(Kind::Directory) => {
                return Err(RunnerError::Target {
                    path: target.clone(),
                    problem: "is a directory".to_owned(),
                    help: format!("name a file in it, for example {}", target.join("testFile").display()),
                });
            }
            Some(Kind::Other) => {
                return Err(RunnerError::Target {
                    path: target.clone(),
                    problem: "is neither a file nor a block device".to_owned(),
                    help: "name a regular file, or a block device".to_owned(),
                });
            }
            None | Some(Kind::Regular) if writes => check_directory(&directory_of(target))?,
            None | Some(Kind::Regular) => {}
        }
    }
    Ok(())
}

/// Checks that the target of a search is a directory, or is created by another case.
fn check_searched(plan: &Plan, target: &Path) -> Result<(), RunnerError> {
    let (problem, help) = match FileState::of(target)?.kind {
        Some(Kind::Directory) => return Ok(()),
        None if plan
            .cases
            .iter()
            .any(|one| writes(one) && one.workload.files.targets.iter().any(|at| at == target)) =>
        {
            return Ok(());
        }
        None => ("does not exist, but is to be searched", "name an existing directory"),
        Some(_) => ("is not a directory, but is to be searched", "name a directory"),
    };
    Err(RunnerError::Target { path: target.to_owned(), problem: problem.to_owned(), help: help.to_owned() })
}

/// Checks that the target of a tree is a directory. Only its last component may be missing; it is created
/// then.
fn check_tree_target(case: &Case, target: &Path) -> Result<(), RunnerError> {
    let refused = |problem: &str, help: &str| {
        let (path, problem, help) = (target.to_owned(), problem.to_owned(), help.to_owned());
        Err(RunnerError::Target { path, problem, help })
    };
    match FileState::of(target)?.kind {
        Some(Kind::Directory) if writes(case) => Ok(check_directory(target)?),
        Some(Kind::Directory) => Ok(()),
        Some(Kind::BlockDevice) => refused(
            "is a block device, which cannot contain files",
            "create a file system on it, and name its mount point",
        ),
        Some(Kind::Regular | Kind::Other) => {
            refused("is not a directory, but trees are created in a directory", "name a directory")
        }
        None if is_link(target) => refused(
            "is a dangling symbolic link",
            "create the directory that it should point to, or remove it",
        ),
        None if trees::needs_target(case) => refused(
            "does not exist, but items are to be created directly in it",
            "create it, or name an existing directory",
        ),
        None => Ok(check_directory(&directory_of(target))?),
    }
}

/// Rejects paths of files to be created if they are links or other kinds of files.
pub(crate) fn check_names(case: &Case, tasks: &Range<u32>) -> Result<(), RunnerError> {
    let files = &case.workload.files;
    let refused = |path: PathBuf, problem: &str, help: &str| {
        Err(RunnerError::Target { path, problem: problem.to_owned(), help: help.to_owned() })
    };
    for path in paths_of(case, tasks) {
        if path.as_os_str().as_bytes().ends_with(b"/") {
            return refused(path, "ends in a slash, as a directory does", "name a file in it");
        }
        match std::fs::metadata(&path) {
            Ok(metadata) if has_own_devices(files) && metadata.file_type().is_block_device() => {}
            Ok(metadata) if files.sharing == Sharing::PerTask && !metadata.is_file() => {
                let problem = "is the path of a task's file, but is not a file";
                return refused(path, problem, "remove it, or choose another name");
            }
            // The file would be created at the link's target, where it is neither claimed nor removed.
            Err(error)
                if error.kind() == ErrorKind::NotFound
                    && files.existing == Existing::Reuse
                    && is_link(&path) =>
            {
                let problem = "is a dangling symbolic link";
                return refused(path, problem, "create the file that it should point to, or remove the link");
            }
            Err(error) if error.kind() == ErrorKind::InvalidFilename => {
                return refused(
                    path,
                    "is too long for a file name on this file system",
                    "choose a shorter name",
                );
            }
            Ok(_) | Err(_) => {}
        }
    }
    Ok(())
}

/// Checks that listed files which are only read exist, unless a case of the plan creates them.
pub(crate) fn check_there(case: &Case, plan: &Plan, tasks: &Range<u32>) -> Result<(), RunnerError> {
    let targets = &case.workload.files.targets;
    let makes = |one: &Case| writes(one) && one.workload.files.targets.iter().any(|at| targets.contains(at));
    if plan.cases.iter().any(makes) {
        return Ok(());
    }
    let is_missing =
        |path: &PathBuf| std::fs::metadata(path).is_err_and(|error| error.kind() == ErrorKind::NotFound);
    match paths_of(case, tasks).into_iter().find(is_missing) {
        Some(path) => Err(HostError::Missing { path }.into()),
        None => Ok(()),
    }
}

/// Rejects cases that run at the same time, one of which writes to a file, device or tree of another. The plan has compared
/// their names; here, other names of the same files are found.
pub(crate) fn check_apart(plan: &Plan, finished: &BTreeSet<String>) -> Result<(), RunnerError> {
    for block in plan.blocks().filter(|block| plan.cases[block.start].concurrent.is_some()) {
        let mut known: HashMap<FileIdentity, (&Case, PathBuf, bool)> = HashMap::new();
        let uses_files = |case: &&Case| case.workload.backend.moves_data() && !finished.contains(&case.id);
        for case in plan.cases[block].iter().filter(uses_files) {
            let writes = writes(case);
            for path in paths(case).into_iter().chain(trees::roots(case)) {
                let (user, name, is_written) =
                    known.entry(FileIdentity::of(&path)).or_insert_with(|| (case, path.clone(), writes));
                if user.id != case.id && (writes || *is_written) {
                    let problem = format!(
                        "is the same as {}, which {} uses at the same time, and one of them writes",
                        name.display(),
                        user.id
                    );
                    let help = format!("give {} a target of its own", case.id);
                    return Err(RunnerError::Target { path, problem, help });
                }
            }
        }
    }
    Ok(())
}

/// What a path leads to, whatever its name.
#[derive(Debug, PartialEq, Eq, Hash)]
enum FileIdentity {
    Device(u64),
    /// A file system, and a file there.
    File(u64, u64),
    /// A file system, a directory there, and the name of a missing file in it.
    Missing(u64, u64, OsString),
    /// A path whose directory is missing, too.
    Unknown(PathBuf),
}

impl FileIdentity {
    fn of(path: &Path) -> Self {
        match (std::fs::metadata(path), directory_of(path).metadata(), path.file_name()) {
            (Ok(found), ..) if found.file_type().is_block_device() => Self::Device(found.rdev()),
            (Ok(found), ..) => Self::File(found.dev(), found.ino()),
            (Err(_), Ok(directory), Some(name)) => {
                Self::Missing(directory.dev(), directory.ino(), name.to_owned())
            }
            (Err(_), ..) => Self::Unknown(path.to_owned()),
        }
    }
}

/// Checks that the files read by `plan` exist on this host, or are created by the plan.
///
/// # Errors
/// Returns an error about the first file of a case that is missing.
pub fn check_files_to_read(plan: &Plan) -> Result<(), RunnerError> {
    let reads = FileSets::of_plan(plan);
    let all = |case: &Case| 0..case.workload.tasks;
    let mut reads = reads.cases().filter(|case| !writes(case) && case.layout.is_none());
    reads.try_for_each(|case| check_there(case, plan, &all(case)))
}

fn is_link(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink())
}

/// Whether each task may have its own device: the target is its exact name, and nothing is created or
/// removed.
fn has_own_devices(files: &FileSet) -> bool {
    files.exact_names && files.existing == Existing::Reuse && files.keep == Keep::Always
}

/// Rejects a separate file for each task on a device.
fn check_device_layout(case: &Case, target: &Path) -> Result<(), RunnerError> {
    let files = &case.workload.files;
    if has_own_devices(files) || (files.sharing == Sharing::Shared && files.targets.len() == 1) {
        return Ok(());
    }
    Err(RunnerError::Target {
        path: target.to_owned(),
        problem: "is a block device, which cannot hold a file for each task".to_owned(),
        help: "use one shared target (ior: without -F and @); in a study, `disks` gives each task its own \
               device"
            .to_owned(),
    })
}

/// Returns the claims of runs on the targets, in the directories that `is_looked_at` selects. Of the run
/// `own`, only those of an `earlier` start are returned.
///
/// # Errors
/// Errors if a run that is active, or that may be active on a node that cannot be checked from here, has
/// claimed a file of `plan`: each run would measure, and remove, the other's data.
pub(crate) fn check_in_use(
    plan: &Plan,
    own: &str,
    earlier: bool,
    is_looked_at: impl Fn(&Path) -> bool,
) -> Result<Vec<Leftover>, RunnerError> {
    let mut leftovers = Vec::new();
    for directory in directories(plan).into_iter().filter(|at| is_looked_at(at)) {
        leftovers.extend(record::leftovers(&directory)?);
    }
    leftovers.retain(|leftover| {
        let id = &leftover.claim.run_id;
        (earlier || id != own) && !is_part_of(own, id)
    });
    // If the claim is from this run on another node, that start has ended, since only one process can
    // resume a run.
    let may_go_on = |leftover: &&Leftover| match leftover.holder {
        Holder::Alive => true,
        Holder::Elsewhere => leftover.claim.run_id != own,
        Holder::Gone => false,
    };
    let mut going_on = leftovers.iter().filter(may_go_on).peekable();
    if going_on.peek().is_none() {
        return Ok(leftovers);
    }
    let made = |case: &Case| paths(case).into_iter().chain(trees::roots(case)).collect::<Vec<_>>();
    let files: HashSet<PathBuf> =
        absolute(FileSets::of_plan(plan).cases().flat_map(made))?.into_iter().collect();
    for Leftover { claim, claim_path, holder, .. } in going_on {
        let directory = directory_of(claim_path);
        let trees = claim.trees.iter().map(|tree| directory.join(&tree.path));
        let claimed = absolute(claim.files.iter().map(|file| directory.join(&file.path)).chain(trees))?;
        if let Some(path) = claimed.into_iter().find(|path| files.contains(path)) {
            let (run, pid, node) = (&claim.run_id, claim.pid, &claim.node);
            let (problem, help) = match holder {
                Holder::Elsewhere => (
                    format!(
                        "may be in use by run {run} on {node} (process {pid}), which cannot be checked from \
                         here"
                    ),
                    format!(
                        "if that run has ended, `ioproof clean {}` on {node} removes its files; otherwise \
                         name another file",
                        shell_word(&directory.to_string_lossy())
                    ),
                ),
                Holder::Alive | Holder::Gone => (
                    format!("is in use by run {run} (process {pid} on {node})"),
                    "wait until that run has ended, or name another file".to_owned(),
                ),
            };
            return Err(RunnerError::Target { path, problem, help });
        }
    }
    Ok(leftovers)
}

/// Whether the run `id` is a part of the run `whole`, whose claim covers what its parts leave for each other
/// ([`crate::claim_sequence`]).
fn is_part_of(id: &str, whole: &str) -> bool {
    id.strip_prefix(whole).is_some_and(|rest| rest.starts_with('.'))
}
