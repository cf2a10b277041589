//! Job scripts for batch systems.
//!
//! [`scripts`] writes what `ioproof batch` puts into a directory: either one job that runs the
//! whole study in one allocation, whose nodes it uses as the cases ask; or, with
//! [`Jobs::PerNodes`], a job for every number of nodes in the study, each with the allocation that
//! fits, one after another, and a last one that merges what came back. `submit.sh` submits all of
//! them.
//!
//! A script shows the one command that runs. Paths
//! are single-quoted in its body and never part of a directive, since directives have no quoting
//! that all versions of these systems agree on.
//!
//! Directives are those of sbatch(1) and srun(1) of Slurm 22.05, of qsub(1B) in the PBS
//! Professional 2022.1 Reference Guide, and of flux-batch(1), flux-run(1) and Flux RFC 36.
//!
//! ```
//! use dialect::batch::{Asked, Jobs, System, scripts};
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
//! let around = plan::RunEnvironment::default();
//! let asked = Asked { jobs: Jobs::PerNodes, ..Asked::new(&plan, &around, System::Slurm) };
//! let scripts = scripts(&asked)?;
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

use plan::{Case, Plan, Prediction, Question, estimates};

pub use request::{Asked, BatchError, Jobs, Script};
use request::{Job, Study};
pub use system::System;
pub use time::WallTime;

/// All scripts; the last one submits the others.
///
/// # Errors
/// What is asked for is not possible, or cannot be written safely.
pub fn scripts(asked: &Asked<'_>) -> Result<Vec<Script>, BatchError> {
    let Question::Study { path, text, overrides } = &asked.plan.question else {
        return Err(BatchError::NoStudy);
    };
    let study = Study { path, text, overrides };
    check(asked)?;
    let jobs = match asked.jobs {
        Jobs::One => vec![one_job(asked)?],
        Jobs::PerNodes => jobs_per_nodes(asked, &study)?,
    };
    write::all(asked, &study, &jobs)
}

/// Refuses what would break a directive.
fn check(asked: &Asked<'_>) -> Result<(), BatchError> {
    if asked.ranks_per_node == 0 {
        return Err(BatchError::None { what: "ranks per node" });
    }
    if asked.nodes == Some(0) {
        return Err(BatchError::None { what: "nodes" });
    }
    let makes = asked.plan.layouts.iter().any(|layout| layout.recipe.executes());
    let executes = makes || asked.plan.terms.targets.iter().any(|target| !target.server_collect.is_empty());
    if executes && asked.allow_commands.is_none() {
        return Err(BatchError::NoConsent);
    }
    let expected = "letters, digits and any of _ . - : @ / + , =";
    for (what, value) in [("the account", &asked.account), ("the partition", &asked.partition)] {
        if let Some(value) = value.as_ref().filter(|value| !quote::is_plain_word(value)) {
            return Err(BatchError::BadValue { what, value: value.clone(), expected });
        }
    }
    let expected = "one line that starts with `-`";
    let bad = |line: &&String| quote::has_control(line) || !line.starts_with('-');
    if let Some(value) = asked.directives.iter().find(bad) {
        return Err(BatchError::BadValue { what: "a directive", value: value.clone(), expected });
    }
    let bad = |line: &&String| quote::has_control(line) || line.trim().is_empty();
    let shell = asked.setup.iter().map(|line| ("a line of the setup", line));
    match shell.chain(asked.launcher.iter().map(|words| ("the launcher", words))).find(|(_, line)| bad(line))
    {
        Some((what, value)) => {
            let (value, expected) = (value.clone(), "one line of shell");
            Err(BatchError::BadValue { what, value, expected })
        }
        None => Ok(()),
    }
}

fn one_job(asked: &Asked<'_>) -> Result<Job, BatchError> {
    let largest = asked.plan.cases.iter().max_by_key(|case| case.workload.nodes);
    let needed = largest.map_or(1, |case| case.workload.nodes);
    let nodes = asked.nodes.unwrap_or(needed);
    if let Some(case) = largest.filter(|_| nodes < needed) {
        return Err(BatchError::TooFewNodes { nodes, case: case.id.clone(), needed });
    }
    Ok(Job { name: "run".to_owned(), nodes, selects: false, time: wall_time(asked, None) })
}

fn jobs_per_nodes(asked: &Asked<'_>, study: &Study<'_>) -> Result<Vec<Job>, BatchError> {
    if asked.nodes.is_some() {
        return Err(BatchError::NodesOfPoints);
    }
    if let Some(workload) = workload_without_nodes(asked.plan, study) {
        return Err(BatchError::NoNodes { workload });
    }
    let points: BTreeSet<u32> = asked.plan.cases.iter().map(|case| case.workload.nodes).collect();
    if points.len() < 2 {
        return Err(BatchError::NoPoints { nodes: points.first().copied().unwrap_or(1) });
    }
    let job = |nodes| Job {
        name: format!("nodes-{nodes}"),
        nodes,
        selects: true,
        time: wall_time(asked, Some(nodes)),
    };
    Ok(points.into_iter().map(job).collect())
}

/// A workload that is on as many nodes as the run: one whose cases differ between runs on one node
/// and on many, or that makes the study impossible on many.
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

/// The wall time of a job that runs all cases, or those on exactly so many nodes.
fn wall_time(asked: &Asked<'_>, nodes: Option<u32>) -> WallTime {
    let mut plan = asked.plan.clone();
    plan.cases.retain(|case| nodes.is_none_or(|nodes| case.workload.nodes == nodes));
    let (all, _) = estimates(&plan, asked.around);
    WallTime::of(Prediction::of(&plan.cases, &all, asked.around), asked.time)
}
