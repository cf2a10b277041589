//! Job scripts for batch systems.
//!
//! [`scripts`] creates the files that `ioproof batch` writes to a directory. There is either one job that
//! runs the whole study in one allocation and uses as many of its nodes as each case asks for; or, with
//! [`Jobs::PerNodes`], one job for every number of nodes in the study, each with a matching allocation,
//! one after another, and a last job that merges their records. `submit.sh` submits all of them.
//!
//! A script contains only the command that it runs. Paths are single-quoted in its body and never part of
//! a directive, because directives have no quoting that all versions of these systems support.
//!
//! Directives are those of sbatch(1) and srun(1) of Slurm 22.05, of qsub(1B) in the PBS
//! Professional 2022.1 Reference Guide, and of flux-batch(1), flux-run(1) and Flux RFC 36.
//!
//! ```
//! use dialect::batch::{BatchRequest, Jobs, System, scripts};
//! let text = r#"
//!     [[target]]
//!     name = "scratch"
//!     directory = "/scratch/me"
//!     layer = "shared"
//!
//!     [[workload]]
//!     name = "weak"
//!     nodes = [1, 2, 4]
//!     tasks_per_node = 8
//!     transfer = "1MiB"
//!     size = "4GiB"
//! "#;
//! let plan = plan::study::read("/home/me/weak.toml".as_ref(), text)?;
//! let environment = plan::RunEnvironment::default();
//! let request = BatchRequest { jobs: Jobs::PerNodes, ..BatchRequest::new(&plan, &environment, System::Slurm) };
//! let scripts = scripts(&request)?;
//! let names: Vec<&str> = scripts.iter().map(|script| script.name.as_str()).collect();
//! assert_eq!(names, ["nodes-1.sh", "nodes-2.sh", "nodes-4.sh", "merge.sh", "submit.sh"]);
//! assert!(scripts[2].text.contains("#SBATCH --nodes=4"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod quote;
mod request;
mod system;
mod time;
mod write;

use std::collections::BTreeSet;

use plan::{Case, Plan, PlanSource, Prediction, estimates};

pub use request::{BatchError, BatchRequest, Jobs, Script};
use request::{Job, Study};
pub use system::System;
pub use time::WallTime;

/// All scripts; the last one submits the others.
///
/// # Errors
/// Errors if the request is not possible, or if it cannot be written safely.
pub fn scripts(request: &BatchRequest<'_>) -> Result<Vec<Script>, BatchError> {
    let PlanSource::Study { path, text, overrides } = &request.plan.source else {
        return Err(BatchError::NoStudy);
    };
    let study = Study { path, text, overrides };
    check(request)?;
    let jobs = match request.jobs {
        Jobs::One => vec![one_job(request)],
        Jobs::PerNodes => jobs_per_nodes(request, &study)?,
    };
    write::all(request, &study, &jobs)
}

/// Rejects values that would break a directive.
fn check(request: &BatchRequest<'_>) -> Result<(), BatchError> {
    if request.ranks_per_node == 0 {
        return Err(BatchError::None { what: "ranks per node" });
    }
    let makes = request.plan.layouts.iter().any(|layout| layout.recipe.executes());
    let executes =
        makes || request.plan.criteria.targets.iter().any(|target| !target.server_collect.is_empty());
    if executes && request.allow_commands.is_none() {
        return Err(BatchError::NoConsent);
    }
    let expected = "use only letters, digits and _ . - : @ / + , =";
    for (what, value) in [("the account", &request.account), ("the partition", &request.partition)] {
        if let Some(value) = value.as_ref().filter(|value| !quote::is_plain_word(value)) {
            return Err(BatchError::BadValue { what, value: value.clone(), expected });
        }
    }
    let expected = "give one line that starts with `-`";
    let bad = |line: &&String| quote::has_control(line) || !line.starts_with('-');
    if let Some(value) = request.directives.iter().find(bad) {
        return Err(BatchError::BadValue { what: "a directive", value: value.clone(), expected });
    }
    let bad = |line: &&String| quote::has_control(line) || line.trim().is_empty();
    let shell = request.setup.iter().map(|line| ("a setup line", line));
    match shell
        .chain(request.launcher.iter().map(|words| ("the launcher", words)))
        .find(|(_, line)| bad(line))
    {
        Some((what, value)) => {
            let (value, expected) = (value.clone(), "give one line of shell");
            Err(BatchError::BadValue { what, value, expected })
        }
        None => Ok(()),
    }
}

fn one_job(request: &BatchRequest<'_>) -> Job {
    let nodes = request.plan.cases.iter().map(|case| case.workload.nodes).max().unwrap_or(1);
    Job { name: "run".to_owned(), nodes, selects: false, time: wall_time(request, None) }
}

fn jobs_per_nodes(request: &BatchRequest<'_>, study: &Study<'_>) -> Result<Vec<Job>, BatchError> {
    if let Some(workload) = workload_without_nodes(request.plan, study) {
        return Err(BatchError::NoNodes { workload });
    }
    let points: BTreeSet<u32> = request.plan.cases.iter().map(|case| case.workload.nodes).collect();
    if points.len() < 2 {
        return Err(BatchError::NoPoints { nodes: points.first().copied().unwrap_or(1) });
    }
    let job = |nodes| Job {
        name: format!("nodes-{nodes}"),
        nodes,
        selects: true,
        time: wall_time(request, Some(nodes)),
    };
    Ok(points.into_iter().map(job).collect())
}

/// Finds a workload that uses as many nodes as the run has, if its cases differ between runs on one node
/// and on many, or if it makes the study impossible on many nodes.
fn workload_without_nodes(plan: &Plan, study: &Study<'_>) -> Option<String> {
    let nodes_max = plan.cases.iter().map(|case| case.workload.nodes).max()?;
    let read = |nodes| {
        let overrides =
            study.overrides.iter().filter_map(|one| plan::study::Override::parse(one).ok()).collect();
        let options = plan::study::Options { overrides, cases_max: plan::study::CASES_LIMIT, nodes };
        plan::study::read_with(study.path, study.text, &options)
    };
    let swept = |case: &Case| case.settings.iter().any(|setting| setting.key == "nodes");
    match (read(1), read(nodes_max.saturating_mul(2))) {
        (Ok(one), Ok(many)) => {
            let mut pairs = one.cases.iter().zip(&many.cases);
            pairs
                .find(|(one, many)| one.workload.nodes != many.workload.nodes)
                .map(|(one, _)| one.group.clone())
        }
        _ => plan.cases.iter().find(|case| !swept(case)).map(|case| case.group.clone()),
    }
}

/// The wall time of a job that runs all cases, or only those on exactly `nodes` nodes.
fn wall_time(request: &BatchRequest<'_>, nodes: Option<u32>) -> WallTime {
    let mut plan = request.plan.clone();
    plan.cases.retain(|case| nodes.is_none_or(|nodes| case.workload.nodes == nodes));
    let (all, _) = estimates(&plan, request.environment);
    WallTime::of(Prediction::of(&plan.cases, &all, request.environment), request.time)
}
