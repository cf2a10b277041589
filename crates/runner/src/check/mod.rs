//! Checks whether the hosts of a run can run a plan: nodes, directories, space and limits.

mod backends;
mod direct;
mod node_local;
pub(crate) mod overwrites;
pub(crate) mod path_conflicts;
mod present_files;
pub(crate) mod process_needs;
pub(crate) mod rank_check;
pub(crate) mod record_place;
pub(crate) mod space;
mod tree_roots;

use std::collections::BTreeSet;
use std::path::PathBuf;

use comm::{Comm, Topology};
use host::{Host, PermittedDevice};
use plan::{Bytes, Case, Plan, PlanError};
use record::{Cluster, HostFacts, Leftover, Warning, WarningRow};

use crate::check::backends::replace_backends;
use crate::check::node_local::{
    check_node_local, node_local, node_local_directories, node_local_warning, said_to_be_local,
};
use crate::check::overwrites::{LostFiles, lost_files};
use crate::check::rank_check::RankCheck;
use crate::files::file_sets::{FileSets, targets};
use crate::ranks::nodes::Nodes;
use crate::ranks::order::{Answer, CheckRequest, Order};
use crate::ranks::rank_assignment::RankAssignment;
use crate::ranks::rank_group::give;
use crate::{Machine, Replaced, RunnerError};

/// What the record of a resumed run contains from its earlier start.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EarlierStart {
    /// Names of the finished cases.
    pub finished: BTreeSet<String>,
    /// The nodes of that start with their numbers of processes; empty if nothing has been run yet.
    pub places: Vec<(String, usize)>,
}

/// A plan that passed the check on this host.
#[derive(Debug)]
pub struct Checked {
    /// The plan, with backends replaced where necessary and permitted.
    pub plan: Plan,
    /// The facts about the host.
    pub facts: HostFacts,
    /// Unique name of the run.
    pub run_id: String,
    /// Wall clock, nanoseconds since 1970-01-01 UTC.
    pub started_unix_ns: i64,
    /// Warnings about the figures.
    pub warnings: Vec<WarningRow>,
    /// Cases that are already in the record, so they are not run again.
    pub finished: BTreeSet<String>,
    /// Files that other, killed runs left on the targets.
    pub leftovers: Vec<Leftover>,
    /// Files that an earlier start of this run has left there. They are removed before the first case.
    pub own_leftovers: Vec<Leftover>,
    /// The block devices under the targets, as far as the kernel reports them.
    pub devices: Vec<String>,
    /// Devices that the user agreed to overwrite, held open exclusively.
    pub permits: Vec<PermittedDevice>,
    /// Target directories that differ from node to node.
    pub local_directories: Vec<PathBuf>,
    /// The nodes of the run.
    pub(crate) nodes: Nodes,
    /// The user's files that will be lost, as far as this node sees them.
    pub(crate) lost_files: LostFiles,
    /// The user's files that will be lost in node-local directories of nodes other than the first.
    pub(crate) replaced_elsewhere: Option<Replaced>,
    /// The number of ranks of the run.
    pub(crate) ranks: u32,
}

impl Checked {
    /// The user's files that the unfinished cases remove or overwrite.
    #[must_use]
    pub fn replaced(&self) -> Option<Replaced> {
        match (self.lost_files.together(), self.replaced_elsewhere.clone()) {
            (Some(one), Some(two)) => Some(one.with(two)),
            (one, two) => one.or(two),
        }
    }

    /// The user's files that the cases not in `finished` would destroy as of now.
    pub(crate) fn lost_now(&self, finished: &BTreeSet<String>) -> LostFiles {
        let mut plan = self.plan.clone();
        plan.cases.retain(|case| !finished.contains(&case.id));
        lost_files(&plan, &self.own_leftovers, &self.lost_files)
    }

    /// The nodes of the run for its record, if it has several ranks or nodes; `library` is the version text of
    /// the MPI library.
    #[must_use]
    pub fn cluster(&self, library: &str) -> Option<Cluster> {
        let several = self.ranks > 1 || self.nodes.reports().len() > 1;
        several.then(|| self.nodes.cluster(library))
    }
}

/// Warnings about target file systems that update access times.
fn access_times(facts: &HostFacts) -> impl Iterator<Item = WarningRow> {
    let writes_times = |options: &str| !options.split(',').any(|option| matches!(option, "noatime" | "ro"));
    let found = facts.file_systems.iter().filter(move |one| writes_times(&one.options));
    found.map(|one| {
        let (mount_point, options) = (one.mount_point.clone(), one.options.clone());
        WarningRow::of_run(Warning::AccessTimes { mount_point, options })
    })
}

/// Checks `plan` against the hosts of all ranks of `comm`. Runs on rank 0. Nothing is written, except that
/// with several nodes a temporary file is created in directories that they must share.
///
/// # Errors
/// Returns what a host lacks or rejects, with the next step.
pub fn check(
    plan: Plan,
    host: &Host,
    comm: &dyn Comm,
    run_id: String,
    started_unix_ns: i64,
) -> Result<Checked, RunnerError> {
    check_again(plan, host, comm, run_id, started_unix_ns, EarlierStart::default())
}

/// Like [`check`], for a resumed run whose cases in `earlier` are finished. It may use other nodes or
/// another number of processes, in which case its figures are marked accordingly.
///
/// # Errors
/// Same as for [`check`]; also errors if the run is still active.
pub fn check_again(
    plan: Plan,
    host: &Host,
    comm: &dyn Comm,
    run_id: String,
    started_unix_ns: i64,
    earlier: EarlierStart,
) -> Result<Checked, RunnerError> {
    let topology = comm.topology();
    let targets = targets(&plan, &earlier.finished);
    for case in plan.cases.iter().filter(|case| !earlier.finished.contains(&case.id)) {
        check_place(case, &plan, topology)?;
    }
    let wants_uring = plan.cases.iter().any(|case| case.workload.backend.capabilities().needs_uring);
    let (nodes, uring_missing) = Nodes::query(host, comm, &targets, wants_uring)?;
    let mut warnings = Vec::new();
    let plan = replace_backends(plan, uring_missing, &mut warnings)?;
    let local_directories = node_local_directories(&plan, &earlier.finished, comm, &run_id)?;
    for case in FileSets::of_unfinished(&plan, &earlier.finished).cases() {
        check_node_local(case, &plan, &local_directories, topology)?;
    }
    let unsaid = local_directories.iter().filter(|one| !said_to_be_local(&plan, &one.directory));
    warnings.extend(unsaid.map(|one| node_local_warning(one, topology)));
    let local_directories: Vec<PathBuf> = local_directories.into_iter().map(|one| one.directory).collect();
    let request =
        CheckRequest { plan, run_id, finished: earlier.finished, local_directories, mates: nodes.mates() };
    let order = Order::Check(Box::new(request));
    let Order::Check(request) = &order else { return Err(RunnerError::OutOfPlace) };
    let (mut permits, mut leftovers) = (Vec::new(), Vec::new());
    let all = give(comm, &order, || {
        let (found, left) = RankCheck { request, host, comm }.check(&mut permits)?;
        leftovers = left;
        Ok(Answer::CheckFindings(found))
    })?;
    let Answer::CheckFindings(found) = all else { return Err(RunnerError::OutOfPlace) };
    let Order::Check(request) = order else { return Err(RunnerError::OutOfPlace) };
    let CheckRequest { plan, run_id, finished, local_directories, .. } = *request;
    found.space.check()?;
    // This run is not active here, so even a claim of its own comes from an earlier start.
    let (own_leftovers, leftovers) = leftovers.into_iter().partition(|found| found.claim.run_id == run_id);
    let first = nodes.reports().first();
    let facts = first.and_then(|node| node.facts.as_deref()).ok_or(RunnerError::OutOfPlace)?.clone();
    let devices = first.map(|node| node.devices.clone()).unwrap_or_default();
    warnings.extend(nodes.not_quiet().into_iter().map(WarningRow::of_run));
    if FileSets::of_unfinished(&plan, &finished).cases().any(|case| case.workload.work.jobs().is_some()) {
        warnings.extend(access_times(&facts));
    }
    let places = nodes.places();
    if !earlier.places.is_empty() && earlier.places != places {
        let (before, now) = (in_words(&earlier.places), in_words(&places));
        warnings.push(WarningRow::of_run(Warning::ResumedElsewhere { before, now }));
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
        local_directories,
        nodes,
        lost_files: LostFiles::default(),
        replaced_elsewhere,
        ranks: comm.size(),
    };
    checked.lost_files = checked.lost_now(&checked.finished);
    Ok(checked)
}

/// Checks `plan` against a `machine` given by a description. Nothing on this host is examined.
///
/// # Errors
/// Returns what the machine lacks, with the next step.
pub fn check_on(
    machine: &dyn Machine,
    plan: Plan,
    comm: &dyn Comm,
    run_id: String,
    started_unix_ns: i64,
    finished: BTreeSet<String>,
) -> Result<Checked, RunnerError> {
    machine.check(&plan)?;
    for case in plan.cases.iter().filter(|case| !finished.contains(&case.id)) {
        check_place(case, &plan, comm.topology())?;
    }
    let nodes = Nodes::described(machine.nodes(), machine.clocks(), comm.topology());
    let facts = nodes.reports().first().and_then(|node| node.facts.as_deref()).cloned();
    Ok(Checked {
        plan,
        facts: facts.ok_or(RunnerError::OutOfPlace)?,
        run_id,
        started_unix_ns,
        warnings: Vec::new(),
        finished,
        leftovers: Vec::new(),
        own_leftovers: Vec::new(),
        devices: Vec::new(),
        permits: Vec::new(),
        local_directories: Vec::new(),
        nodes,
        lost_files: LostFiles::default(),
        replaced_elsewhere: None,
        ranks: 1,
    })
}

/// Describes the nodes and their numbers of processes briefly.
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

/// Rejects a case that needs more ranks, or that is not permitted for its kind of target.
fn check_place(case: &Case, plan: &Plan, topology: &Topology) -> Result<(), RunnerError> {
    let refused = |problem| RunnerError::Rule { case: case.id.clone(), problem };
    let ranks = topology.node_of().len();
    if case.workload.work.jobs().is_some() && ranks > 1 {
        let help = "start it without a launcher: jobs are processes that this program launches itself";
        return Err(refused(PlanError::new("work", format!("jobs with {ranks} processes"), help)));
    }
    let assignment = RankAssignment::of(&case.workload, topology).map_err(refused)?;
    match plan.criteria.targets.iter().find(|target| target.name == case.target) {
        Some(target) => node_local(case, target, assignment.nodes(topology).len()),
        None => Ok(()),
    }
}
