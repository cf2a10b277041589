//! What the scripts are to do, and the jobs that follow from it.

use std::path::{Path, PathBuf};

use plan::{Nanos, Plan, RunEnvironment};
use thiserror::Error;

use super::system::System;
use super::time::WallTime;

/// Which jobs there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Jobs {
    /// One, in which the whole study runs.
    #[default]
    One,
    /// One for every number of nodes that the study has cases on.
    PerNodes,
}

/// The content of the scripts.
#[derive(Debug, Clone)]
pub struct BatchRequest<'a> {
    /// The plan of a study file. Its path and overrides go into the scripts as they are, so that
    /// the path should be absolute.
    pub plan: &'a Plan,
    /// What the wall time is predicted from, besides the study.
    pub environment: &'a RunEnvironment,
    /// For which batch system.
    pub system: System,
    /// Which jobs.
    pub jobs: Jobs,
    /// Nodes of the one job; left out, the most that a case asks for. It is an error together
    /// with [`Jobs::PerNodes`].
    pub nodes: Option<u32>,
    /// Processes on each node. They carry the tasks, however many these are.
    pub ranks_per_node: u32,
    /// The wall time of each job, instead of the forecast.
    pub time: Option<Nanos>,
    /// Who pays: Slurm's account, PBS's account, Flux's bank.
    pub account: Option<String>,
    /// The place to run: Slurm's partition, the queue of PBS and Flux.
    pub partition: Option<String>,
    /// More directives without their mark, as in `--constraint=nvme`, each on a line of its own.
    pub directives: Vec<String>,
    /// Lines of shell before the run, as in `module load openmpi`; verbatim.
    pub setup: Vec<String>,
    /// Words that start the ranks instead of the system's own launcher, as in
    /// `mpirun --map-by ppr:1:node`; verbatim.
    pub launcher: Option<String>,
    /// The MPI library, where the right one is not found.
    pub mpi: Option<PathBuf>,
    /// The hash of the commands that the study executes; a job cannot ask.
    pub allow_commands: Option<String>,
    /// The program.
    pub program: PathBuf,
    /// Where the jobs start; left out, where they are submitted.
    pub directory: Option<PathBuf>,
    /// Records go below it: one for each job, `all` for the merged one.
    pub out: PathBuf,
}

impl<'a> BatchRequest<'a> {
    /// One job with one rank on each node, all else left to the site.
    #[must_use]
    pub fn new(plan: &'a Plan, environment: &'a RunEnvironment, system: System) -> Self {
        Self {
            plan,
            environment,
            system,
            jobs: Jobs::One,
            nodes: None,
            ranks_per_node: 1,
            time: None,
            account: None,
            partition: None,
            directives: Vec::new(),
            setup: Vec::new(),
            launcher: None,
            mpi: None,
            allow_commands: None,
            program: "ioproof".into(),
            directory: None,
            out: "ioproof-batch".into(),
        }
    }
}

/// One file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    /// Its name, as in `submit.sh`.
    pub name: String,
    /// Its content.
    pub text: String,
    /// Why its job may be killed before its end, as a sentence, for the user.
    pub warning: Option<String>,
}

/// Why there are no scripts.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum BatchError {
    /// The plan is not that of a study file.
    #[error("only a study file can be run by a batch system; write the question as one")]
    NoStudy,
    /// The study executes commands, without consent.
    #[error(
        "the study executes commands, and a job cannot ask: add --allow-commands HASH, which \
         `ioproof run STUDY --explain` prints where the job is going to run, below the commands"
    )]
    NoConsent,
    /// A number that must not be 0 is.
    #[error("{what} are 0; give at least 1")]
    None {
        /// What it counts.
        what: &'static str,
    },
    /// The one job has fewer nodes than a case needs.
    #[error("{nodes} nodes are too few: case `{case}` is on {needed}; ask for {needed} with --nodes")]
    TooFewNodes {
        /// As asked.
        nodes: u32,
        /// The case.
        case: String,
        /// What it needs.
        needed: u32,
    },
    /// All cases are on the same number of nodes.
    #[error(
        "all cases are on the same number of nodes ({nodes}), so there are no points to part; leave \
         --per-point out, or give `nodes` several values in the study"
    )]
    NoPoints {
        /// How many.
        nodes: u32,
    },
    /// Both a number of nodes and a job for each one.
    #[error("--nodes and --per-point exclude each other: the study says how many nodes a point has")]
    NodesOfPoints,
    /// A workload is on whatever a run has, so that it belongs to no point.
    #[error("workload `{workload}` names no `nodes`, so it belongs to no point; give it a number")]
    NoNodes {
        /// Its name.
        workload: String,
    },
    /// A value would break its line.
    #[error("{what} cannot be {value:?}: {expected}")]
    BadValue {
        /// What it is for.
        what: &'static str,
        /// As given.
        value: String,
        /// What is allowed.
        expected: &'static str,
    },
    /// A path that is not UTF-8.
    #[error("{} is no name in UTF-8, as a script needs: rename it", path.display())]
    NotUtf8 {
        /// The path.
        path: PathBuf,
    },
}

/// A job: its name, its allocation, and which cases run in it.
pub(super) struct Job {
    pub name: String,
    pub nodes: u32,
    /// Whether only the cases on exactly so many nodes run in it.
    pub selects: bool,
    pub time: WallTime,
}

/// The study as the scripts name it.
pub(super) struct Study<'a> {
    pub path: &'a Path,
    pub text: &'a str,
    pub overrides: &'a [String],
}
