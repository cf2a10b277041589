//! Whether the hosts of a run can run a plan: nodes, directories, space and limits.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use comm::{Comm, Topology};
use host::{Host, PermittedDevice, limits};
use plan::{Backend, Bytes, Case, Placement, Plan, PlanError, Sharing};
use record::{Cluster, FileSystemFacts, HostFacts, Leftover, Warning, WarningRow};

use crate::backends::replace_backends;
use crate::cleanup::{self, directory_of};
use crate::crew::give;
use crate::obstacles::{check_in_use, check_names, check_targets, check_there};
use crate::order::{Answer, Found, Order, Question, Scarce, SpaceNeed};
use crate::replaced::{Lost, lost};
use crate::roster::{Roster, files_of};
use crate::seen::Nodes;
use crate::separate::{check_separate, node_local, said_to_be_local, separate, separate_warning};
use crate::spaces;
use crate::trees::{self, Keepers, check_roots};
use crate::uses::Uses;
use crate::{Replaced, RunnerError, replaced};

/// Files that the program itself has open: streams, record, journal, counters, rings.
const OWN_FILES: u64 = 64;
/// Files that a task has open while it works on a tree.
const TREE_FILES: u64 = 3;
/// Files that are open for a launch: its order, events, errors, counters and end.
const LAUNCH_FILES: u64 = 5;

/// What an earlier start of a run has left in its record for one that takes the run up again.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Earlier {
    /// Names of the cases that are finished.
    pub finished: BTreeSet<String>,
    /// The nodes of that start, and how many processes were on each; none where nothing has run before.
    pub places: Vec<(String, usize)>,
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
    /// Directories of targets that are another one on each node.
    pub separate: Vec<PathBuf>,
    /// The nodes of the run.
    pub(crate) nodes: Nodes,
    /// What is lost where this node can see it.
    pub(crate) lost: Lost,
    /// What is lost in directories that nodes have for themselves, on others than the first.
    pub(crate) replaced_elsewhere: Option<Replaced>,
    /// The ranks of the run.
    pub(crate) ranks: u32,
}

impl Checked {
    /// The user's files that the cases which are not finished remove or write over.
    #[must_use]
    pub fn replaced(&self) -> Option<Replaced> {
        match (self.lost.together(), self.replaced_elsewhere.clone()) {
            (Some(one), Some(two)) => Some(one.with(two)),
            (one, two) => one.or(two),
        }
    }

    /// What the cases that are not `finished` lose as things are now.
    pub(crate) fn lost_now(&self, finished: &BTreeSet<String>) -> Lost {
        let mut plan = self.plan.clone();
        plan.cases.retain(|case| !finished.contains(&case.id));
        let leftovers: Vec<Leftover> = self.leftovers.iter().chain(&self.own_leftovers).cloned().collect();
        lost(&plan, &leftovers, &self.lost)
    }

    /// The nodes of the run for its record, where there are several ranks; `library` is what the MPI
    /// library says of itself.
    #[must_use]
    pub fn cluster(&self, library: &str) -> Option<Cluster> {
        (self.ranks > 1).then(|| self.nodes.cluster(library))
    }
}

/// The file systems of the targets that have times of access written.
fn access_times(facts: &HostFacts) -> impl Iterator<Item = WarningRow> {
    let writes_times = |options: &str| !options.split(',').any(|option| matches!(option, "noatime" | "ro"));
    let found = facts.file_systems.iter().filter(move |one| writes_times(&one.options));
    found.map(|one| {
        let (mount_point, options) = (one.mount_point.clone(), one.options.clone());
        of_run(Warning::AccessTimes { mount_point, options })
    })
}

/// Checks `plan` against the hosts of all ranks of `comm`, on rank 0. Nothing is written, but that
/// with several nodes a file is made for a moment in directories that they have to share.
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

/// As [`check`], for a run of which the cases in `earlier` are finished. It may go on upon other nodes,
/// or with more or fewer processes, which its figures are marked with then.
///
/// # Errors
/// As [`check`]; also, if the run still goes on.
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
    let wants_uring = plan.cases.iter().any(|case| matches!(case.workload.backend, Backend::Uring { .. }));
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
        let part = Part { plan: &plan, finished: &finished, separate: &separate, host, comm };
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
    // Nothing of this run is under way here: even a claim of its own is that of an earlier start.
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

/// Nodes and their processes in a few words, however many they are.
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

/// What tells sets of files apart whose sizes are to be known: targets, shared or not, in directories of
/// their own or not, first and last task, sets.
type FilesOf<'a> = (&'a [PathBuf], bool, bool, u32, u32, u32);

/// One rank's part of a check.
pub(crate) struct Part<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) finished: &'a BTreeSet<String>,
    /// Directories that are another one on each node.
    pub(crate) separate: &'a [PathBuf],
    pub(crate) host: &'a Host,
    pub(crate) comm: &'a dyn Comm,
}

impl Part<'_> {
    /// Checks what this rank's tasks, and on the first rank of a node the node, need. Gives what
    /// rank 0 judges of all together, and what runs have left here.
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

    /// What is lost in this node's own directories.
    fn replaced(&self, leftovers: &[Leftover]) -> Option<Replaced> {
        let mut plan = self.plan.clone();
        plan.cases.retain(|case| {
            let is_own = |target: &PathBuf| cleanup::is_separate(self.separate, case, target);
            !self.finished.contains(&case.id) && case.workload.files.targets.iter().any(is_own)
        });
        replaced(&plan, leftovers)
    }

    /// Bytes that the files of this rank's tasks will take, by file system. A stonewall may end a
    /// write long before its volume, so that such a case is left to the forecast's warning.
    fn space(&self, node: u32) -> Result<Vec<SpaceNeed>, RunnerError> {
        // Cases of a sweep share files: each is counted once, at its largest.
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
                // Such as ramfs: it has no size, and what it says of free space means nothing.
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

    /// Cases of a sweep need the same again and again, and each question reads files of the kernel.
    fn check_limits(&self) -> Result<(), RunnerError> {
        let mut all = BTreeSet::new();
        for case in self.plan.cases.iter().filter(|case| !self.finished.contains(&case.id)) {
            let tasks = self.tasks(case)?.len() as u64;
            if let Some(jobs) = case.workload.work.jobs() {
                let most = if jobs.concurrency == 0 { tasks } else { tasks.min(u64::from(jobs.concurrency)) };
                all.insert((most.saturating_mul(LAUNCH_FILES), most));
                continue;
            }
            // A task with a tree holds the root and a directory open beside the file that it is at.
            let tasks_files = if trees::has(case) { tasks.saturating_mul(TREE_FILES) } else { tasks };
            all.insert(match case.workload.backend {
                Backend::Psync | Backend::Vectored { .. } | Backend::Stdio | Backend::Mmap => {
                    (tasks_files, tasks)
                }
                Backend::Uring { depth, .. } if trees::has(case) => {
                    (tasks_files.saturating_add(tasks.saturating_mul(u64::from(depth))), 0)
                }
                Backend::Uring { .. } => (tasks_files, 0),
                Backend::Null => (0, 0),
            });
        }
        for (files, threads) in all {
            let needs = limits::Needs { open_files: files + OWN_FILES, locked_bytes: 0, threads };
            limits::check(self.host.root(), needs)?;
        }
        Ok(())
    }
}

/// The devices that carry `targets`, each once.
pub(crate) fn devices(targets: &[PathBuf], host: &Host) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for device in targets.iter().filter_map(|target| host.devices_under(target).ok()).flatten() {
        if !all.contains(&device) {
            all.push(device);
        }
    }
    all
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

/// Refuses what the ranks are too few for, and what the kind of a target forbids.
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

/// Every target of a case that is not finished and not imagined, once.
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

/// Every directory that exists and in which word is left of what `plan` makes: also beside a directory
/// that an earlier start has made for its trees.
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

/// Whether `case` makes, changes or wipes what is on its targets.
pub(crate) fn writes(case: &Case) -> bool {
    let protocol = &case.protocol;
    let around = case.workload.files.fill || protocol.wipe || protocol.precondition > 0;
    around || case.phases.iter().any(|phase| phase.writes() || trees::changes(*phase))
}

/// Whether the files fit.
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
    writes(case) && !tables && workload.backend != Backend::Null && workload.stonewall.is_none()
}

/// Bytes that a file of `bytes` will take beyond what stands there now. A device has its size.
fn grows(path: &Path, bytes: u64) -> u64 {
    match std::fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => bytes.saturating_sub(metadata.blocks().saturating_mul(512)),
        Ok(_) => 0,
        Err(_) => bytes,
    }
}
