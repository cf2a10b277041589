//! Whether the hosts of a run can run a plan: nodes, directories, space and limits.

pub(crate) mod backends;
pub(crate) mod file_usage;
pub(crate) mod inodes;
pub(crate) mod node_local;
pub(crate) mod overwrites;
pub(crate) mod path_conflicts;
pub(crate) mod spaces;

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use comm::{Comm, Topology};
use host::{Host, PermittedDevice, limits};
use plan::{Bytes, Case, Placement, Plan, PlanError, Sharing};
use record::{Cluster, FileSystemFacts, HostFacts, Leftover, Warning, WarningRow};

use crate::check::backends::replace_backends;
use crate::check::file_usage::Uses;
use crate::check::node_local::{check_separate, node_local, said_to_be_local, separate, separate_warning};
use crate::check::overwrites::{Lost, lost};
use crate::check::path_conflicts::{check_in_use, check_names, check_targets, check_there};
use crate::files::cleanup::{self, directory_of};
use crate::files::trees::{self, Keepers, check_roots};
use crate::ranks::order::{Answer, Found, Order, Question, Scarce, SpaceNeed};
use crate::ranks::rank_assignment::{Roster, files_of};
use crate::ranks::rank_group::give;
use crate::ranks::seen::Nodes;
use crate::{Replaced, RunnerError, replaced};

/// Files that the program itself has open: streams, record, journal, counters, rings.
const OWN_FILES: u64 = 64;
/// Files that a task has open while it works on a tree.
const TREE_FILES: u64 = 3;
/// Files that are open for a launch: its order, events, errors, counters and end.
const LAUNCH_FILES: u64 = 5;

/// What the record of a run holds from its earlier start, for a resumed run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Earlier {
    /// Names of the finished cases.
    pub finished: BTreeSet<String>,
    /// The nodes of that start with their process counts; empty if nothing has run before.
    pub places: Vec<(String, usize)>,
}

/// A plan that passed the check on this host.
#[derive(Debug)]
pub struct Checked {
    /// The plan, with backends replaced where that is allowed and needed.
    pub plan: Plan,
    /// The host.
    pub facts: HostFacts,
    /// Unique name of the run.
    pub run_id: String,
    /// Wall clock, nanoseconds since 1970-01-01 UTC.
    pub started_unix_ns: i64,
    /// Warnings about the figures.
    pub warnings: Vec<WarningRow>,
    /// Cases that are already in the record and are not run again.
    pub finished: BTreeSet<String>,
    /// Files that other, killed runs left on the targets.
    pub leftovers: Vec<Leftover>,
    /// Files that an earlier start of this run left there; removed before the first case.
    pub own_leftovers: Vec<Leftover>,
    /// The block devices under the targets, as far as the kernel shows them.
    pub devices: Vec<String>,
    /// Devices that the user agreed to overwrite, held open exclusively.
    pub permits: Vec<PermittedDevice>,
    /// Target directories that differ from node to node.
    pub separate: Vec<PathBuf>,
    /// The nodes of the run.
    pub(crate) nodes: Nodes,
    /// The user's files that will be lost, as far as this node sees them.
    pub(crate) lost: Lost,
    /// The user's files that will be lost in node-local directories of nodes other than the first.
    pub(crate) replaced_elsewhere: Option<Replaced>,
    /// The ranks of the run.
    pub(crate) ranks: u32,
}

impl Checked {
    /// The user's files that the unfinished cases remove or overwrite.
    #[must_use]
    pub fn replaced(&self) -> Option<Replaced> {
        match (self.lost.together(), self.replaced_elsewhere.clone()) {
            (Some(one), Some(two)) => Some(one.with(two)),
            (one, two) => one.or(two),
        }
    }

    /// The user's files that the cases not in `finished` would destroy now.
    pub(crate) fn lost_now(&self, finished: &BTreeSet<String>) -> Lost {
        let mut plan = self.plan.clone();
        plan.cases.retain(|case| !finished.contains(&case.id));
        let leftovers: Vec<Leftover> = self.leftovers.iter().chain(&self.own_leftovers).cloned().collect();
        lost(&plan, &leftovers, &self.lost)
    }

    /// The nodes of the run for its record, if it has several ranks; `library` is the version text of the MPI
    /// library.
    #[must_use]
    pub fn cluster(&self, library: &str) -> Option<Cluster> {
        (self.ranks > 1).then(|| self.nodes.cluster(library))
    }
}

/// Warnings for target file systems that update access times.
fn access_times(facts: &HostFacts) -> impl Iterator<Item = WarningRow> {
    let writes_times = |options: &str| !options.split(',').any(|option| matches!(option, "noatime" | "ro"));
    let found = facts.file_systems.iter().filter(move |one| writes_times(&one.options));
    found.map(|one| {
        let (mount_point, options) = (one.mount_point.clone(), one.options.clone());
        of_run(Warning::AccessTimes { mount_point, options })
    })
}

/// Checks `plan` against the hosts of all ranks of `comm`, on rank 0. Nothing is written, except that with
/// several nodes a temporary file is created in directories that they have to share.
///
/// # Errors
/// What a host lacks or refuses, with the next step.
pub fn check(
    plan: Plan,
    host: &Host,
    comm: &dyn Comm,
    run_id: String,
    started_unix_ns: i64,
) -> Result<Checked, RunnerError> {
    check_again(plan, host, comm, run_id, started_unix_ns, Earlier::default())
}

/// As [`check`], for a resumed run whose cases in `earlier` are finished. It may use other nodes or another
/// number of processes; its figures are then marked so.
///
/// # Errors
/// As [`check`]; also if the run is still active.
pub fn check_again(
    plan: Plan,
    host: &Host,
    comm: &dyn Comm,
    run_id: String,
    started_unix_ns: i64,
    earlier: Earlier,
) -> Result<Checked, RunnerError> {
    let topology = comm.topology();
    let targets = targets(&plan, &earlier.finished);
    for case in plan.cases.iter().filter(|case| !earlier.finished.contains(&case.id)) {
        check_place(case, &plan, topology)?;
    }
    let wants_uring = plan.cases.iter().any(|case| case.workload.backend.capabilities().needs_uring);
    let (nodes, uring_missing) = Nodes::look(host, comm, &targets, wants_uring)?;
    let mut warnings = Vec::new();
    let plan = replace_backends(plan, uring_missing, &mut warnings)?;
    let separate = separate(&plan, &earlier.finished, comm, &run_id)?;
    for case in remaining(&plan, &earlier.finished).cases() {
        check_separate(case, &plan, &separate, topology)?;
    }
    let unsaid = separate.iter().filter(|one| !said_to_be_local(&plan, &one.directory));
    warnings.extend(unsaid.map(|one| separate_warning(one, topology)));
    let separate: Vec<PathBuf> = separate.into_iter().map(|one| one.directory).collect();
    let finished = earlier.finished;
    let own = |permits: &mut Vec<PermittedDevice>| {
        let part = RankCheck { plan: &plan, finished: &finished, separate: &separate, host, comm };
        part.check(&run_id, permits)
    };
    let (found, leftovers, permits) = match comm.size() {
        1 => {
            let mut permits = Vec::new();
            let (found, leftovers) = own(&mut permits)?;
            (found, leftovers, permits)
        }
        _ => {
            let mates = nodes.mates();
            let (plan, run_id) = (plan.clone(), run_id.clone());
            let (finished, separate) = (finished.clone(), separate.clone());
            let question = Question { plan, run_id, finished, separate, mates };
            check_everywhere(comm, question, own)?
        }
    };
    enough_space(&found.space)?;
    // This run is not active here: even a claim of its own comes from an earlier start.
    let (own_leftovers, leftovers) = leftovers.into_iter().partition(|found| found.claim.run_id == run_id);
    let first = nodes.seen().first();
    let facts = first.and_then(|node| node.facts.as_deref()).ok_or(RunnerError::OutOfPlace)?.clone();
    let devices = first.map(|node| node.devices.clone()).unwrap_or_default();
    warnings.extend(nodes.not_quiet().into_iter().map(of_run));
    if remaining(&plan, &finished).cases().any(|case| case.workload.work.jobs().is_some()) {
        warnings.extend(access_times(&facts));
    }
    let places = nodes.places();
    if !earlier.places.is_empty() && earlier.places != places {
        let (before, now) = (in_words(&earlier.places), in_words(&places));
        warnings.push(of_run(Warning::ResumedElsewhere { before, now }));
    }
    let replaced_elsewhere =
        found.replaced.map(|(files, bytes, first)| Replaced { files, bytes: Bytes(bytes), first });
    let mut checked = Checked {
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
        separate,
        nodes,
        lost: Lost::default(),
        replaced_elsewhere,
        ranks: comm.size(),
    };
    checked.lost = checked.lost_now(&checked.finished);
    Ok(checked)
}

/// A short description of any number of nodes and their processes.
fn in_words(places: &[(String, usize)]) -> String {
    let ranks: usize = places.iter().map(|(_, ranks)| ranks).sum();
    match places {
        [(node, 1)] => node.clone(),
        [(node, _)] => format!("{node} ({ranks} processes)"),
        [(first, _), .., (last, _)] => {
            format!("{} nodes ({first} to {last}, {ranks} processes)", places.len())
        }
        [] => String::new(),
    }
}

pub(crate) fn of_run(warning: Warning) -> WarningRow {
    WarningRow { key: None, warning }
}

/// Has every rank check its part; `own` is that of rank 0.
fn check_everywhere(
    comm: &dyn Comm,
    question: Question,
    own: impl FnOnce(&mut Vec<PermittedDevice>) -> Result<(Found, Vec<Leftover>), RunnerError>,
) -> Result<(Found, Vec<Leftover>, Vec<PermittedDevice>), RunnerError> {
    let (mut permits, mut left) = (Vec::new(), Vec::new());
    let order = Order::Check(Box::new(question));
    let all = give(comm, &order, || {
        let (found, leftovers) = own(&mut permits)?;
        left = leftovers;
        Ok(Answer::Found(found))
    })?;
    let Answer::Found(found) = all else { return Err(RunnerError::OutOfPlace) };
    Ok((found, left, permits))
}

/// Key of a set of files whose sizes are needed: targets, shared or not, own directories or not, first and
/// last task, sets.
type FilesOf<'a> = (&'a [PathBuf], bool, bool, u32, u32, u32);

/// One rank's part of a check.
pub(crate) struct RankCheck<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) finished: &'a BTreeSet<String>,
    /// Directories that differ from node to node.
    pub(crate) separate: &'a [PathBuf],
    pub(crate) host: &'a Host,
    pub(crate) comm: &'a dyn Comm,
}

impl RankCheck<'_> {
    /// Checks what this rank's tasks need and, on the first rank of a node, what the node needs. Returns the
    /// values that rank 0 judges together, and the leftovers of runs here.
    ///
    /// # Errors
    /// What the host lacks or refuses, with the next step.
    pub(crate) fn check(
        &self,
        run_id: &str,
        permits: &mut Vec<PermittedDevice>,
    ) -> Result<(Found, Vec<Leftover>), RunnerError> {
        let (topology, rank) = (self.comm.topology(), self.comm.rank());
        let node = topology.node_of()[rank as usize];
        let leads = topology.is_leader(rank);
        for case in remaining(self.plan, self.finished).cases() {
            let roster = Roster::of(&case.workload, topology)?;
            let nodes = roster.nodes(topology);
            let tasks = roster.tasks_of(rank);
            if leads && nodes.contains(&node) {
                check_targets(case, self.plan, self.host, &tasks, nodes.len(), permits)?;
            }
            match writes(case) {
                true => check_names(case, &tasks)?,
                false => check_there(case, self.plan, &tasks)?,
            }
        }
        let places = |case: &Case| {
            let roster = Roster::of(&case.workload, topology)?;
            let keepers = Keepers { case, roster: &roster, topology, separate: self.separate };
            Ok(keepers.all_roots_of(rank))
        };
        check_roots(trees::left(self.plan, self.finished), run_id, places)?;
        let mut space = self.space(node)?;
        space.extend(self.inodes(node)?);
        space.extend(self.jobs_space()?);
        self.check_limits()?;
        let looks_in =
            |directory: &Path| rank == 0 || (leads && self.separate.iter().any(|own| own == directory));
        let leftovers = check_in_use(self.plan, run_id, true, looks_in)?;
        let replaced = (rank > 0 && leads && !self.separate.is_empty())
            .then(|| self.replaced(&leftovers))
            .flatten()
            .map(|lost| (lost.files, lost.bytes.0, lost.first));
        Ok((Found { space, replaced }, leftovers))
    }

    /// The user's files that will be lost in this node's own directories.
    fn replaced(&self, leftovers: &[Leftover]) -> Option<Replaced> {
        let mut plan = self.plan.clone();
        plan.cases.retain(|case| {
            let is_own = |target: &PathBuf| cleanup::is_separate(self.separate, case, target);
            !self.finished.contains(&case.id) && case.workload.files.targets.iter().any(is_own)
        });
        replaced(&plan, leftovers)
    }

    /// Bytes that the files of this rank's tasks will take, by file system. A stonewall may end a write long
    /// before its volume is reached; such a case is left to the forecast's warning.
    fn space(&self, node: u32) -> Result<Vec<SpaceNeed>, RunnerError> {
        // Cases of a sweep share files: each file counts once, at its largest size.
        let mut sizes: HashMap<PathBuf, (&Path, u64)> = HashMap::new();
        let mut sets: HashMap<FilesOf<'_>, u64> = HashMap::new();
        for case in remaining(self.plan, self.finished).cases().filter(|case| takes_space(case)) {
            let bytes = Placement::new(&case.workload).file_bytes().get();
            let files = &case.workload.files;
            let tasks = self.tasks(case)?;
            let shared = files.sharing == Sharing::Shared;
            let (all, unique) = (cleanup::sets(case), files.unique_dir);
            let set = (files.targets.as_slice(), shared, unique, tasks.start, tasks.end, all);
            if sets.get(&set).is_some_and(|known| *known >= bytes) {
                continue;
            }
            sets.insert(set, bytes);
            for slot in (0..all).flat_map(|pass| files_of(&case.workload, &tasks, pass)) {
                let target = &files.targets[slot.index as usize % files.targets.len()];
                let size = sizes.entry(slot.path).or_insert((target, 0));
                size.1 = size.1.max(bytes);
            }
        }
        let mut places: HashMap<&Path, FileSystemFacts> = HashMap::new();
        let mut needs: Vec<SpaceNeed> = Vec::new();
        for (path, (target, bytes)) in sizes {
            let place = match places.entry(target) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(unknown) => unknown.insert(self.host.file_system_of(target)?),
            };
            if place.size_bytes == 0 {
                // For example ramfs: it has no size, and its free space figure means nothing.
                continue;
            }
            let need = grows(&path, bytes);
            let node = self.separate.contains(&directory_of(target)).then_some(node);
            let same = |known: &&mut SpaceNeed| known.node == node && known.mount_point == place.mount_point;
            match needs.iter_mut().find(same) {
                Some(known) => known.need = known.need.saturating_add(need),
                None => needs.push(SpaceNeed {
                    node,
                    mount_point: place.mount_point.clone(),
                    what: Scarce::Bytes,
                    need,
                    free: place.free_bytes,
                }),
            }
        }
        Ok(needs)
    }

    /// The tasks of `case` that this rank carries.
    pub(crate) fn tasks(&self, case: &Case) -> Result<Range<u32>, RunnerError> {
        Ok(Roster::of(&case.workload, self.comm.topology())?.tasks_of(self.comm.rank()))
    }

    /// Checks each limit once: cases of a sweep repeat the same needs, and each query reads files of the
    /// kernel.
    fn check_limits(&self) -> Result<(), RunnerError> {
        let mut all = BTreeSet::new();
        for case in self.plan.cases.iter().filter(|case| !self.finished.contains(&case.id)) {
            let tasks = self.tasks(case)?.len() as u64;
            if let Some(jobs) = case.workload.work.jobs() {
                let most = if jobs.concurrency == 0 { tasks } else { tasks.min(u64::from(jobs.concurrency)) };
                all.insert((most.saturating_mul(LAUNCH_FILES), most));
                continue;
            }
            // A tree task holds the root and a directory open besides the current file.
            let tasks_files = if trees::has(case) { tasks.saturating_mul(TREE_FILES) } else { tasks };
            let backend = case.workload.backend;
            all.insert(match (backend.moves_data(), backend.is_queued()) {
                (false, _) => (0, 0),
                (true, false) => (tasks_files, tasks),
                (true, true) if trees::has(case) => {
                    (tasks_files.saturating_add(tasks.saturating_mul(u64::from(backend.depth()))), 0)
                }
                (true, true) => (tasks_files, 0),
            });
        }
        for (files, threads) in all {
            let needs = limits::Needs { open_files: files + OWN_FILES, locked_bytes: 0, threads };
            limits::check(self.host.root(), needs)?;
        }
        Ok(())
    }
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

/// The sets of files of the cases that use files.
pub(crate) fn real(plan: &Plan) -> Uses<'_> {
    Uses::of(plan.cases.iter().enumerate().filter(|(_, case)| case.workload.backend.moves_data()))
}

/// As [`real`], without the finished cases.
pub(crate) fn remaining<'a>(plan: &'a Plan, finished: &BTreeSet<String>) -> Uses<'a> {
    let real = |case: &Case| case.workload.backend.moves_data() && !finished.contains(&case.id);
    Uses::of(plan.cases.iter().enumerate().filter(|(_, case)| real(case)))
}

/// Refuses a case that needs more ranks, or that the kind of its target forbids.
fn check_place(case: &Case, plan: &Plan, topology: &Topology) -> Result<(), RunnerError> {
    let refused = |problem| RunnerError::Rule { case: case.id.clone(), problem };
    let ranks = topology.node_of().len();
    if case.workload.work.jobs().is_some() && ranks > 1 {
        let help = "start it without a launcher: jobs are processes that this program launches itself";
        return Err(refused(PlanError::new("work", format!("jobs with {ranks} processes"), help)));
    }
    let roster = Roster::of(&case.workload, topology).map_err(refused)?;
    match plan.terms.targets.iter().find(|target| target.name == case.target) {
        Some(target) => node_local(case, target, roster.nodes(topology).len()),
        None => Ok(()),
    }
}

/// The real targets of all unfinished cases, without duplicates.
pub(crate) fn targets(plan: &Plan, finished: &BTreeSet<String>) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = Vec::new();
    for case in remaining(plan, finished).cases() {
        for target in &case.workload.files.targets {
            if !all.contains(target) {
                all.push(target.clone());
            }
        }
    }
    all
}

/// Every existing directory that gets a claim of what `plan` makes, including those beside a directory that
/// an earlier start has made for its trees.
pub(crate) fn directories(plan: &Plan) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = Vec::new();
    let uses = real(plan);
    let places = uses.cases().flat_map(|case| {
        let beside = case.workload.files.targets.iter().map(|target| directory_of(target));
        cleanup::directories(case).into_iter().chain(beside)
    });
    for directory in places {
        if !all.contains(&directory) && directory.is_dir() {
            all.push(directory);
        }
    }
    all
}

/// Whether `case` creates, changes or wipes data on its targets.
pub(crate) fn writes(case: &Case) -> bool {
    let protocol = &case.protocol;
    let around = case.workload.files.fill || protocol.wipe || protocol.precondition > 0;
    around || case.phases.iter().any(|phase| phase.writes() || trees::changes(*phase))
}

/// Checks that the files fit.
fn enough_space(needs: &[SpaceNeed]) -> Result<(), RunnerError> {
    match needs.iter().find(|need| need.need > need.free) {
        Some(SpaceNeed { what: Scarce::Jobs, .. }) => Err(spaces::lacking(needs)),
        Some(SpaceNeed { mount_point, need, free, what: Scarce::Inodes, .. }) => {
            Err(RunnerError::NoInodes { need: *need, free: *free, place: mount_point.clone() })
        }
        Some(SpaceNeed { mount_point, need, free, .. }) => {
            Err(RunnerError::NoSpace { need: Bytes(*need), free: Bytes(*free), place: mount_point.clone() })
        }
        None => Ok(()),
    }
}

fn takes_space(case: &Case) -> bool {
    let workload = &case.workload;
    let tables = workload.work.jobs().is_some();
    writes(case) && !tables && workload.backend.moves_data() && workload.stonewall.is_none()
}

/// Bytes that a file of `bytes` takes beyond its present size. A device does not grow.
fn grows(path: &Path, bytes: u64) -> u64 {
    match std::fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => bytes.saturating_sub(metadata.blocks().saturating_mul(512)),
        Ok(_) => 0,
        Err(_) => bytes,
    }
}
