//! The job of a batch system, from its environment.

use record::{BatchJobFacts, Fact};

use crate::Root;

/// A batch system and its environment variables.
struct System {
    name: &'static str,
    id: &'static str,
    title: &'static str,
    nodes: &'static str,
    /// Whether `nodes` is the name of a file with one line per node.
    nodes_in_file: bool,
    queue: &'static str,
}

/// Sources: sbatch(1), qsub(1B) of PBS Professional, the LSF reference of environment variables, and
/// flux-environment(7), which only documents the job number.
const SYSTEMS: [System; 4] = [
    System {
        name: "slurm",
        id: "SLURM_JOB_ID",
        title: "SLURM_JOB_NAME",
        nodes: "SLURM_JOB_NODELIST",
        nodes_in_file: false,
        queue: "SLURM_JOB_PARTITION",
    },
    System {
        name: "pbs",
        id: "PBS_JOBID",
        title: "PBS_JOBNAME",
        nodes: "PBS_NODEFILE",
        nodes_in_file: true,
        queue: "PBS_QUEUE",
    },
    System {
        name: "lsf",
        id: "LSB_JOBID",
        title: "LSB_JOBNAME",
        nodes: "LSB_HOSTS",
        nodes_in_file: false,
        queue: "LSB_QUEUE",
    },
    System {
        name: "flux",
        id: "FLUX_JOB_ID",
        title: "FLUX_JOB_NAME",
        nodes: "FLUX_JOB_NODELIST",
        nodes_in_file: false,
        queue: "FLUX_JOB_QUEUE",
    },
];

pub(super) fn gather(root: &Root, environment: fn(&str) -> Option<String>) -> Option<BatchJobFacts> {
    let set = |variable: &str| environment(variable).filter(|value| !value.is_empty());
    let (system, id) = SYSTEMS.iter().find_map(|system| Some((system, set(system.id)?)))?;
    let told =
        |variable: &str| Fact::of(set(variable), || format!("{} does not set {variable}", system.name));
    let nodes = told(system.nodes).and_then(|list| match system.nodes_in_file {
        true => in_file(root, &list),
        false => Fact::Known(once(list.split_whitespace())),
    });
    Some(BatchJobFacts {
        system: system.name.to_owned(),
        id,
        name: told(system.title),
        nodes,
        queue: told(system.queue),
    })
}

fn in_file(root: &Root, path: &str) -> Fact<String> {
    match root.read(path) {
        Ok(text) => Fact::Known(once(text.lines().map(str::trim).filter(|line| !line.is_empty()))),
        Err(reason) => Fact::Unknown(reason),
    }
}

/// Removes duplicates and keeps the order, because a node is listed once for each of its processors.
fn once<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut seen: Vec<&str> = Vec::new();
    for name in names {
        if !seen.contains(&name) {
            seen.push(name);
        }
    }
    seen.join(" ")
}
