//! The request for scripts, and the jobs that result from it.

use std::path::{Path, PathBuf};

use plan::{Nanos, Plan, RunEnvironment};
use thiserror::Error;

use super::system::System;
use super::time::WallTime;

/// Which jobs to create.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Jobs {
    /// One job that runs the whole study.
    #[default]
    One,
    /// One job for every number of nodes for which the study has cases.
    PerNodes,
}

/// The content of the scripts.
#[derive(Debug, Clone)]
pub struct BatchRequest<'a> {
    /// The plan of a study file. Its path and overrides are written to the scripts unchanged, so the path
    /// should be absolute.
    pub plan: &'a Plan,
    /// The environment from which, together with the study, the wall time is predicted.
    pub environment: &'a RunEnvironment,
    /// The batch system.
    pub system: System,
    /// Which jobs to create.
    pub jobs: Jobs,
    /// Number of processes on each node, which run the tasks, whatever their number.
    pub ranks_per_node: u32,
    /// Further options of `ioproof run`, such as those by which the plan was scaled; each is one word.
    pub options: Vec<String>,
    /// The wall time of each job, instead of the forecast.
    pub time: Option<Nanos>,
    /// The account to charge: Slurm's account, PBS's account, Flux's bank.
    pub account: Option<String>,
    /// Where to run: Slurm's partition, the queue of PBS and Flux.
    pub partition: Option<String>,
    /// Further directives without their prefix, for example `--constraint=nvme`, each for its own line.
    pub directives: Vec<String>,
    /// Shell lines before the run, for example `module load openmpi`. They are used verbatim.
    pub setup: Vec<String>,
    /// Words that start the ranks instead of the system's own launcher, for example `mpirun --map-by
    /// ppr:1:node`. They are used verbatim.
    pub launcher: Option<String>,
    /// The MPI library, if the right one is not found automatically.
    pub mpi: Option<PathBuf>,
    /// The hash of the commands that the study executes, because a job cannot ask for consent.
    pub allow_commands: Option<String>,
    /// The program.
    pub program: PathBuf,
    /// The directory in which the jobs start. By default, the one from which they are submitted.
    pub directory: Option<PathBuf>,
    /// The directory for records: one for each job, and `all` for the merged one.
    pub out: PathBuf,
}

impl<'a> BatchRequest<'a> {
    /// A request for a single job with one rank on each node. Everything else is left to the defaults of
    /// the site.
    #[must_use]
    pub fn new(plan: &'a Plan, environment: &'a RunEnvironment, system: System) -> Self {
        Self {
            plan,
            environment,
            system,
            jobs: Jobs::One,
            ranks_per_node: 1,
            options: Vec::new(),
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
    /// Its name, for example `submit.sh`.
    pub name: String,
    /// Its content.
    pub text: String,
    /// Why its job may be killed before its end, as a sentence for the user.
    pub warning: Option<String>,
}

/// Why there are no scripts.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum BatchError {
    /// The plan is not that of a study file.
    #[error("only a study file can be run by a batch system; write the measurement as a study file")]
    NoStudy,
    /// The study executes commands, but there is no consent.
    #[error(
        "the study executes commands, and a job cannot ask for consent: add --allow-commands HASH; \
         to get the hash, run `ioproof run STUDY --explain` where the job is going to run: it is below the commands"
    )]
    NoConsent,
    /// A number is 0 that must not be.
    #[error("the number of {what} is 0; give at least 1")]
    None {
        /// What it counts.
        what: &'static str,
    },
    /// All cases run on the same number of nodes.
    #[error(
        "all cases run on the same number of nodes ({nodes}), so there are no points to split into jobs; \
         leave --per-point out, or give `nodes` several values in the study"
    )]
    NoPoints {
        /// This number.
        nodes: u32,
    },
    /// A workload uses as many nodes as the run has, so it cannot be assigned to a job.
    #[error("workload `{workload}` does not set `nodes`, so it belongs to no point; set `nodes` to a number")]
    NoNodes {
        /// Its name.
        workload: String,
    },
    /// A value would break the line that contains it.
    #[error("{what} cannot be {value:?}: {expected}")]
    BadValue {
        /// What the value is for.
        what: &'static str,
        /// As given.
        value: String,
        /// What is allowed.
        expected: &'static str,
    },
    /// A path that is not UTF-8.
    #[error("the name {} is not valid UTF-8, which a script requires; rename it", path.display())]
    NotUtf8 {
        /// The path.
        path: PathBuf,
    },
}

/// A job: its name, its allocation, and the cases that it runs.
pub(super) struct Job {
    pub name: String,
    pub nodes: u32,
    /// Whether it only runs the cases for exactly this number of nodes.
    pub selects: bool,
    pub time: WallTime,
}

/// The study, as named in the scripts.
pub(super) struct Study<'a> {
    pub path: &'a Path,
    pub text: &'a str,
    pub overrides: &'a [String],
}
