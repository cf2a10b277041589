//! Node-local directories, and the rules for using them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use comm::{Comm, Topology};
use plan::{Case, Layer, Plan, TargetDescription, WorkloadSpec};
use record::{Warning, WarningRow};

use crate::RunnerError;
use crate::files::file_sets::FileSets;
use crate::files::paths::leads_to_device;
use crate::files::targets::place_of;
use crate::ranks::nodes::directory_probe::{NodeLocalDirectory, find_node_local};
use crate::ranks::rank_assignment::RankAssignment;

/// The node-local directories among those used by a case on several nodes.
pub(crate) fn node_local_directories(
    plan: &Plan,
    finished: &BTreeSet<String>,
    comm: &dyn Comm,
    run_id: &str,
) -> Result<Vec<NodeLocalDirectory>, RunnerError> {
    let topology = comm.topology();
    if topology.names().len() == 1 {
        return Ok(Vec::new());
    }
    let mut directories: BTreeSet<PathBuf> = BTreeSet::new();
    for case in FileSets::of_unfinished(plan, finished).cases() {
        if RankAssignment::of(&case.workload, topology)?.nodes(topology).len() > 1 {
            let targets = case.workload.files.targets.iter();
            let files = targets.filter(|target| !leads_to_device(target));
            directories.extend(files.map(|target| place_of(case, target)));
        }
    }
    find_node_local(comm, directories.into_iter().collect(), run_id)
}

/// Whether the study declares all targets there to be node-local, so that no warning is needed.
pub(crate) fn said_to_be_local(plan: &Plan, directory: &Path) -> bool {
    let there = |case: &&Case| case.workload.files.targets.iter().any(|at| place_of(case, at) == directory);
    plan.cases.iter().filter(there).all(|case| {
        let described = plan.criteria.targets.iter().find(|target| target.name == case.target);
        described.is_some_and(|target| target.layer == Layer::NodeLocal)
    })
}

pub(crate) fn node_local_warning(local: &NodeLocalDirectory, topology: &Topology) -> WarningRow {
    let nodes = u32::try_from(topology.names().len()).unwrap_or(u32::MAX);
    let directory = local.directory.display().to_string();
    WarningRow::of_run(Warning::SeparateTarget { directory, nodes })
}

/// Applies the rules of node-local targets to directories that were found to be node-local, even if the
/// study does not say so.
pub(crate) fn check_node_local(
    case: &Case,
    plan: &Plan,
    local_directories: &[NodeLocalDirectory],
    topology: &Topology,
) -> Result<(), RunnerError> {
    let assignment = RankAssignment::of(&case.workload, topology)?;
    let nodes = assignment.nodes(topology).len();
    let targets = case.workload.files.targets.iter().map(|target| place_of(case, target));
    let found = targets.filter_map(|at| local_directories.iter().find(|one| one.directory == at)).next();
    let Some(found) = found.filter(|_| nodes > 1) else { return Ok(()) };
    let described = plan.criteria.targets.iter().find(|target| target.name == case.target);
    let first = topology.names().first().map_or("the first", String::as_str);
    let differs = format!("is another directory on node {} than on {first}", found.node);
    if described.is_some_and(|target| target.layer == Layer::Shared) {
        return Err(RunnerError::Target {
            path: found.directory.clone(),
            problem: format!("{differs}, but `{}` is declared as shared", case.target),
            help: "mount the same file system there on every node, or declare the target as node-local"
                .to_owned(),
        });
    }
    let name = found.directory.display().to_string();
    let local = TargetDescription { name, layer: Layer::NodeLocal, ..TargetDescription::default() };
    node_local(case, &local, nodes).map_err(|error| {
        let RunnerError::Rule { problem: broken, .. } = error else { return error };
        let (problem, instead) = match broken.field {
            "own_trees" | "shift" | "collective" | "offset" => {
                (format!("{differs}: {}", broken.message), broken.help.as_str())
            }
            "sharing" => (
                format!("{differs}: {} tasks cannot share a file there", case.workload.tasks),
                "give each task a file of its own (ior: -F; in a study: sharing = \"per-task\")",
            ),
            _ => (
                format!("{differs}: tasks cannot read there what tasks of other nodes wrote"),
                "let each task read its own data (ior: neither -C nor -Z; randomops: --node-local; in a \
                 study: read_from = \"same\")",
            ),
        };
        let help = format!("mount the same file system there on every node, or {instead}");
        RunnerError::Target { path: found.directory.clone(), problem, help }
    })
}

/// Enforces the rules of node-local targets for `case`, whose tasks run on `nodes` nodes.
pub(crate) fn node_local(case: &Case, target: &TargetDescription, nodes: usize) -> Result<(), RunnerError> {
    let mut spread = case.clone();
    let mut spec: WorkloadSpec = spread.workload.into();
    spec.nodes = u32::try_from(nodes).unwrap_or(u32::MAX);
    spread.workload = spec.validate()?;
    plan::node_local_rule(&spread, target)
        .map_err(|problem| RunnerError::Rule { case: case.id.clone(), problem })
}
