//! Whether this host can run a plan: targets, space, limits, backends, and what stands in the way.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use engine::UringUnavailable;
use host::files::{FileState, Kind, check_directory};
use host::{Host, PermittedDevice, Root, limits};
use plan::{Backend, Bytes, Case, Existing, Placement, Plan, Sharing, Workload, WorkloadSpec};
use record::{FileSystemFacts, Holder, HostFacts, Leftover, Warning, WarningRow};

use crate::cleanup::{self, absolute, directory_of, paths};
use crate::uses::Uses;
use crate::{Replaced, RunnerError, replaced};

/// Files that the program itself has open: streams, record, journal, counters, rings.
const OWN_FILES: u64 = 64;

/// What an earlier start of a run has left in its record for one that takes the run up again.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Earlier {
    /// Names of the cases that are finished.
    pub finished: BTreeSet<String>,
    /// The node that they ran on; none where nothing has run before.
    pub node: Option<String>,
}

/// A plan that this host can run.
#[derive(Debug)]
pub struct Checked {
    /// The plan, with backends replaced where that is allowed and needed.
    pub plan: Plan,
    /// The host.
    pub facts: HostFacts,
    /// A name for the run that no other run has.
    pub run_id: String,
    /// Wall clock, nanoseconds since 1970-01-01 UTC.
    pub started_unix_ns: i64,
    /// What a reader of the figures must know.
    pub warnings: Vec<WarningRow>,
    /// Cases that are in the record already, and are not run again.
    pub finished: BTreeSet<String>,
    /// What other killed runs left on the targets.
    pub leftovers: Vec<Leftover>,
    /// What an earlier start of this run left there; it is removed before the first case.
    pub own_leftovers: Vec<Leftover>,
    /// The block devices under the targets, as far as the kernel shows them.
    pub devices: Vec<String>,
    /// Devices whose data the user gave up, held open so that nothing else takes them.
    pub permits: Vec<PermittedDevice>,
}

impl Checked {
    /// The user's files that the cases which are not finished remove or write over.
    #[must_use]
    pub fn replaced(&self) -> Option<Replaced> {
        let mut plan = self.plan.clone();
        plan.cases.retain(|case| !self.finished.contains(&case.id));
        let leftovers: Vec<Leftover> = self.leftovers.iter().chain(&self.own_leftovers).cloned().collect();
        replaced(&plan, &leftovers)
    }
}

/// Checks `plan` against this host. Nothing is written.
///
/// # Errors
/// What the host lacks or refuses, with the next step.
pub fn check(plan: Plan, host: &Host, run_id: String, started_unix_ns: i64) -> Result<Checked, RunnerError> {
    check_again(plan, host, run_id, started_unix_ns, Earlier::default())
}

/// As [`check`], for a run of which the cases in `earlier` are finished. It may go on upon another
/// node, which its figures are marked with then.
///
/// # Errors
/// As [`check`]; also, if the run still goes on.
pub fn check_again(
    plan: Plan,
    host: &Host,
    run_id: String,
    started_unix_ns: i64,
    earlier: Earlier,
) -> Result<Checked, RunnerError> {
    let targets = targets(&plan);
    let mut permits = Vec::new();
    let mut warnings = Vec::new();
    for case in &plan.cases {
        check_rules(case, &plan)?;
    }
    for case in remaining(&plan, &earlier.finished).cases() {
        check_targets(case, &plan, host, &mut permits)?;
    }
    let plan = replace_backends(plan, &mut warnings)?;
    check_space(&plan, host)?;
    check_limits(&plan, host.root())?;
    // Nothing of this run is under way here: even a claim of its own is that of an earlier start.
    let found = check_in_use(&plan, &run_id, true)?;
    let (own_leftovers, leftovers) = found.into_iter().partition(|found| found.claim.run_id == run_id);
    let devices = devices(&targets, host);
    if let Some(warning) = host.quiet(&devices, Duration::ZERO) {
        warnings.push(WarningRow { key: None, warning });
    }
    let facts = host.facts(&targets, engine::clock_name());
    if let Some(before) = earlier.node.filter(|node| *node != facts.node) {
        let warning = Warning::ResumedElsewhere { before, now: facts.node.clone() };
        warnings.push(WarningRow { key: None, warning });
    }
    let finished = earlier.finished;
    Ok(Checked {
        plan,
        facts,
        run_id,
        started_unix_ns,
        warnings,
        finished,
        leftovers,
        own_leftovers,
        devices,
        permits,
    })
}

/// The devices that carry `targets`, each once.
fn devices(targets: &[PathBuf], host: &Host) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for device in targets.iter().filter_map(|target| host.devices_under(target).ok()).flatten() {
        if !all.contains(&device) {
            all.push(device);
        }
    }
    all
}

/// What runs have claimed on the targets; of the run `own` only what an `earlier` start of it has.
///
/// # Errors
/// One of them goes on, or may go on where this node cannot look, and has claimed a file of `plan`:
/// each would measure, and remove, the other's data.
pub(crate) fn check_in_use(plan: &Plan, own: &str, earlier: bool) -> Result<Vec<Leftover>, RunnerError> {
    let mut leftovers = Vec::new();
    for directory in directories(&targets(plan)) {
        leftovers.extend(record::leftovers(&directory)?);
    }
    leftovers.retain(|leftover| earlier || leftover.claim.run_id != own);
    // A start of the same run on another node was this one's own: nobody else takes up that run.
    let may_go_on = |leftover: &&Leftover| match leftover.holder {
        Holder::Alive => true,
        Holder::Elsewhere => leftover.claim.run_id != own,
        Holder::Gone => false,
    };
    let mut going_on = leftovers.iter().filter(may_go_on).peekable();
    if going_on.peek().is_none() {
        return Ok(leftovers);
    }
    let files: HashSet<PathBuf> = absolute(real(plan).cases().flat_map(paths))?.into_iter().collect();
    for Leftover { claim, claim_path, holder, .. } in going_on {
        let directory = directory_of(claim_path);
        let claimed = absolute(claim.files.iter().map(|file| directory.join(&file.path)))?;
        if let Some(path) = claimed.into_iter().find(|path| files.contains(path)) {
            let (run, pid, node) = (&claim.run_id, claim.pid, &claim.node);
            let (problem, help) = match holder {
                Holder::Elsewhere => (
                    format!(
                        "may be in use by run {run} on {node} (process {pid}), which cannot be seen from here"
                    ),
                    format!(
                        "if that run is over, `ioproof clean {}` on {node} removes its files; or name another file",
                        directory.display()
                    ),
                ),
                Holder::Alive | Holder::Gone => (
                    format!("is in use by run {run} (process {pid} on {node})"),
                    "wait until that run is over, or name another file".to_owned(),
                ),
            };
            return Err(RunnerError::Target { path, problem, help });
        }
    }
    Ok(leftovers)
}

/// The sets of files of cases that touch any.
pub(crate) fn real(plan: &Plan) -> Uses<'_> {
    Uses::of(plan.cases.iter().enumerate().filter(|(_, case)| case.workload.backend != Backend::Null))
}

/// As [`real`], without the cases that are finished.
pub(crate) fn remaining<'a>(plan: &'a Plan, finished: &BTreeSet<String>) -> Uses<'a> {
    let real = |case: &Case| case.workload.backend != Backend::Null && !finished.contains(&case.id);
    Uses::of(plan.cases.iter().enumerate().filter(|(_, case)| real(case)))
}

/// Refuses what the kind of a target forbids. All tasks are on this node.
fn check_rules(case: &Case, plan: &Plan) -> Result<(), RunnerError> {
    let Some(target) = plan.terms.targets.iter().find(|target| target.name == case.target) else {
        return Ok(());
    };
    plan::node_local_rule(case, target)
        .map_err(|problem| RunnerError::Rule { case: case.id.clone(), problem })
}

/// Every target that is not imagined, once.
fn targets(plan: &Plan) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = Vec::new();
    for case in real(plan).cases() {
        for target in &case.workload.files.targets {
            if !all.contains(target) {
                all.push(target.clone());
            }
        }
    }
    all
}

fn directories(targets: &[PathBuf]) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = Vec::new();
    for directory in targets.iter().map(|target| directory_of(target)) {
        if !all.contains(&directory) && directory.is_dir() {
            all.push(directory);
        }
    }
    all
}

fn check_targets(
    case: &Case,
    plan: &Plan,
    host: &Host,
    permits: &mut Vec<PermittedDevice>,
) -> Result<(), RunnerError> {
    let files = &case.workload.files;
    let writes = writes(case);
    for target in &files.targets {
        match FileState::of(target)?.kind {
            Some(Kind::BlockDevice) => {
                check_device_layout(case, target)?;
                if writes && !permits.iter().any(|permit| permit.covers(target)) {
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
                    help: format!("name a file in it, as in {}", target.join("testFile").display()),
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
    if writes { check_names(case) } else { Ok(()) }
}

/// Whether `case` makes, changes or wipes what is on its targets.
pub(crate) fn writes(case: &Case) -> bool {
    let protocol = &case.protocol;
    let around = case.workload.files.fill || protocol.wipe || protocol.precondition > 0;
    around || case.phases.iter().any(|phase| phase.writes())
}

/// Where a file is to be made, somebody may have put something else, or a link to it.
fn check_names(case: &Case) -> Result<(), RunnerError> {
    let files = &case.workload.files;
    let refused = |path: PathBuf, problem: &str, help: &str| {
        Err(RunnerError::Target { path, problem: problem.to_owned(), help: help.to_owned() })
    };
    for path in paths(case) {
        if path.as_os_str().as_bytes().ends_with(b"/") {
            return refused(path, "ends in a slash, as a directory does", "name a file in it");
        }
        match std::fs::metadata(&path) {
            Ok(metadata) if files.sharing == Sharing::PerTask && !metadata.is_file() => {
                let problem = "is where the file of a task should stand, and is no file";
                return refused(path, problem, "remove it, or choose another name");
            }
            // The file would be made where the link leads to, where nobody claims or removes it.
            Err(error)
                if error.kind() == ErrorKind::NotFound
                    && files.existing == Existing::Reuse
                    && is_link(&path) =>
            {
                let problem = "is a link that leads nowhere";
                return refused(path, problem, "make the file that it should lead to, or remove the link");
            }
            Err(error) if error.kind() == ErrorKind::InvalidFilename => {
                return refused(path, "is too long for a file name here", "choose a shorter name");
            }
            Ok(_) | Err(_) => {}
        }
    }
    Ok(())
}

fn is_link(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink())
}

/// A device has one name and no room for files of tasks.
fn check_device_layout(case: &Case, target: &Path) -> Result<(), RunnerError> {
    let files = &case.workload.files;
    if files.sharing == Sharing::Shared && files.targets.len() == 1 {
        return Ok(());
    }
    Err(RunnerError::Target {
        path: target.to_owned(),
        problem: "is a block device, which cannot hold a file for each task".to_owned(),
        help: "use one shared target (ior: without -F and @)".to_owned(),
    })
}

/// Puts psync in the place of io_uring where it is missing and the user did not ask for it.
fn replace_backends(mut plan: Plan, warnings: &mut Vec<WarningRow>) -> Result<Plan, RunnerError> {
    let wanted = |case: &&Case| matches!(case.workload.backend, Backend::Uring { .. });
    let Some(first) = plan.cases.iter().find(wanted) else { return Ok(plan) };
    let Err(missing) = engine::uring_available() else { return Ok(plan) };
    let asked = first.workload.backend;
    for case in &mut plan.cases {
        match case.workload.backend {
            Backend::Uring { required: true, .. } => {
                return Err(RunnerError::UringMissing { reason: missing.to_string() });
            }
            Backend::Uring { depth, .. } => case.workload = with_threads(&case.workload, depth)?,
            Backend::Psync | Backend::Mmap | Backend::Null => {}
        }
    }
    warnings.push(backend_warning(asked, &missing));
    Ok(plan)
}

fn backend_warning(asked: Backend, missing: &UringUnavailable) -> WarningRow {
    let warning = Warning::BackendReplaced {
        asked: format!("io_uring with depth {}", asked.depth()),
        used: "psync, with a task for each transfer under way where the file is shared".to_owned(),
        reason: missing.to_string(),
    };
    WarningRow { key: None, warning }
}

/// As many transfers under way as before: a task for each of them in a shared file, where the
/// block divides; one for each task otherwise.
fn with_threads(workload: &Workload, depth: u32) -> Result<Workload, RunnerError> {
    let mut spec: WorkloadSpec = workload.clone().into();
    spec.backend = Backend::Psync;
    let share = u64::from(depth) * spec.geometry.transfer.get();
    if spec.files.sharing == Sharing::Shared && spec.geometry.block.get() >= share {
        let block = spec.geometry.block.get() / share * spec.geometry.transfer.get();
        spec.geometry.block = Bytes(block);
        spec.tasks *= depth;
    }
    Ok(spec.validate()?)
}

/// Whether the files fit. A stonewall may end a write long before its volume, so that such a
/// case is left to the forecast's warning.
fn check_space(plan: &Plan, host: &Host) -> Result<(), RunnerError> {
    // Cases of a sweep share files: each is counted once, at its largest.
    let mut sizes: HashMap<PathBuf, (&Path, u64)> = HashMap::new();
    let mut sets: HashMap<(&[PathBuf], bool, bool, u32, u32), u64> = HashMap::new();
    for case in plan.cases.iter().filter(|case| takes_space(case)) {
        let bytes = Placement::new(&case.workload).file_bytes().get();
        let (files, tasks) = (&case.workload.files, case.workload.tasks);
        let shared = files.sharing == Sharing::Shared;
        let set = (files.targets.as_slice(), shared, files.unique_dir, tasks, cleanup::sets(case));
        if sets.get(&set).is_some_and(|known| *known >= bytes) {
            continue;
        }
        sets.insert(set, bytes);
        for target in &case.workload.files.targets {
            for path in paths_on(case, target) {
                let size = sizes.entry(path).or_insert((target, 0));
                size.1 = size.1.max(bytes);
            }
        }
    }
    let mut places: HashMap<&Path, FileSystemFacts> = HashMap::new();
    let mut needs: Vec<(String, u64, u64)> = Vec::new();
    for (path, (target, bytes)) in sizes {
        let place = match places.entry(target) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => unknown.insert(host.file_system_of(target)?),
        };
        if place.size_bytes == 0 {
            // Such as ramfs: it has no size, and what it says of free space means nothing.
            continue;
        }
        let need = grows(&path, bytes);
        match needs.iter_mut().find(|(name, ..)| *name == place.mount_point) {
            Some((_, sum, _)) => *sum = sum.saturating_add(need),
            None => needs.push((place.mount_point.clone(), need, place.free_bytes)),
        }
    }
    match needs.into_iter().find(|(_, need, free)| need > free) {
        Some((place, need, free)) => {
            Err(RunnerError::NoSpace { need: Bytes(need), free: Bytes(free), place })
        }
        None => Ok(()),
    }
}

fn takes_space(case: &Case) -> bool {
    let workload = &case.workload;
    writes(case) && workload.backend != Backend::Null && workload.stonewall.is_none()
}

/// The files of `case` that go to `target`.
fn paths_on<'a>(case: &'a Case, target: &'a Path) -> impl Iterator<Item = PathBuf> + 'a {
    let targets = &case.workload.files.targets;
    let files = paths(case).into_iter().enumerate();
    let per_set = Placement::new(&case.workload).file_count() as usize;
    files.filter(move |(index, _)| targets[(index % per_set) % targets.len()] == target).map(|(_, path)| path)
}

/// Bytes that a file of `bytes` will take beyond what stands there now. A device has its size.
fn grows(path: &Path, bytes: u64) -> u64 {
    match std::fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => bytes.saturating_sub(metadata.blocks().saturating_mul(512)),
        Ok(_) => 0,
        Err(_) => bytes,
    }
}

/// Cases of a sweep need the same again and again, and each question reads files of the kernel.
fn check_limits(plan: &Plan, root: &Root) -> Result<(), RunnerError> {
    let needs = |case: &Case| {
        let tasks = u64::from(case.workload.tasks);
        match case.workload.backend {
            Backend::Psync | Backend::Mmap => (tasks, tasks),
            Backend::Uring { .. } => (tasks, 0),
            Backend::Null => (0, 0),
        }
    };
    for (files, threads) in plan.cases.iter().map(needs).collect::<BTreeSet<_>>() {
        limits::check(root, limits::Needs { open_files: files + OWN_FILES, locked_bytes: 0, threads })?;
    }
    Ok(())
}
