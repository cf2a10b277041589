//! Arguments of `ioproof run`, and those that it shares with other commands.

use std::path::PathBuf;

use clap::Args;
use plan::{Budget, Bytes, Nanos};
use report::Shown;

use crate::arguments::values::{self, GivenRate};

/// `ioproof run`.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("what").required(true).args(["study", "quick", "resume"]))]
pub(crate) struct RunArguments {
    /// The study file (docs/STUDY.md describes it), or the name of a ready study (`ioproof studies` lists them).
    #[arg(value_name = "STUDY")]
    pub(crate) study: Option<PathBuf>,
    /// Run the study on this directory instead of its own targets: the only target is called `storage`, and everything
    /// about the hardware that the study was written for is left out.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["quick", "resume"])]
    pub(crate) on: Option<PathBuf>,
    /// Characterise the storage under this directory in about a minute: six figures, in six interleaved passes. Several
    /// directories are measured in turns, a minute for each, and the figures of each are compared with those of the
    /// first.
    #[arg(long, value_name = "DIR", num_args = 1..,
          conflicts_with_all = ["time", "space", "tasks", "nodes"])]
    pub(crate) quick: Vec<PathBuf>,
    /// With --quick: also measure the page cache, after the storage itself.
    #[arg(long, requires = "quick")]
    pub(crate) cached: bool,
    /// Resume an interrupted run: finished cases, and complete passes of interleaved cases, are kept; the rest is run.
    #[arg(long, value_name = "RUNDIR", conflicts_with_all = ["out", "set", "like", "time", "space", "tasks", "nodes"])]
    pub(crate) resume: Option<PathBuf>,
    /// Override a value of the study, for example target.disk.directory=/mnt/x or workload.*.size=1GiB, or of a quick
    /// run: repetitions, duration, size, delay; may be repeated.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Simulate the study on the model in this file, with a virtual clock: nothing on this host is measured or changed.
    #[arg(long, value_name = "MODEL", conflicts_with_all = [
        "quick", "on", "destroy_data_on", "allow_commands", "like", "expect", "probe",
    ])]
    pub(crate) model: Option<PathBuf>,
    /// With --model: seed of the random number generator.
    #[arg(long, value_name = "N", default_value_t = 0, requires = "model")]
    pub(crate) seed: u64,
    /// With --model: simulate all of each phase, and compute nothing from steady states. May take hours.
    #[arg(long, requires = "model")]
    pub(crate) simulate_all: bool,
    /// Run only the cases that use exactly N nodes, after the study was scaled; --nodes gives up those on more.
    #[arg(long, value_name = "N", conflicts_with_all = ["quick", "resume"])]
    pub(crate) on_nodes: Option<u32>,
    /// Exit with status 8 if a commitment of the study was not kept.
    #[arg(long)]
    pub(crate) verdict: bool,
    #[command(flatten)]
    pub(crate) basis: Box<Basis>,
    #[command(flatten)]
    pub(crate) how: RunOptions,
    /// Agree to lose the data on a block device, named by serial number, WWN or path; may be repeated.
    #[arg(long, value_name = "SERIAL|WWN|PATH")]
    pub(crate) destroy_data_on: Vec<String>,
    /// Agree to the commands that the study executes, and to the loss of the data on the devices of its layouts;
    /// --explain shows them and prints the hash.
    #[arg(long, value_name = "HASH", conflicts_with_all = ["explain", "quick"])]
    pub(crate) allow_commands: Option<String>,
    /// Directory for the ledger of the layouts that a study creates [default: /var/lib/ioproof].
    #[arg(long, value_name = "DIR")]
    pub(crate) state: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) scale: Scale,
}

/// What a prediction rests on, before what the study says of its targets.
#[derive(Debug, Default, Args)]
pub(crate) struct Basis {
    /// Predict from the rates measured by this run: those of the same phases in the most similar cases. Their scatter
    /// tells with --explain what the repetitions can tell.
    #[arg(long, value_name = "RUNDIR")]
    pub(crate) like: Option<PathBuf>,
    /// Predict from this rate, for example 2GB/s or 30000/s, or read=2GB/s for one phase only; may be repeated.
    #[arg(long, value_name = "[PHASE=]RATE", value_parser = values::given_rate)]
    pub(crate) expect: Vec<GivenRate>,
    /// Predict the rest from a probe: up to three cases with direct transfers in the directory of each target, run from
    /// this node in passes of 300 ms. The record of the probe is kept.
    #[arg(long)]
    pub(crate) probe: bool,
}

/// What is shown while it runs.
#[derive(Debug, Args)]
pub(crate) struct Quiet {
    /// Do not print the path of the record and the progress on standard error; warnings are still printed.
    #[arg(long, short, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_value_t = false,
          default_missing_value = "true", action = clap::ArgAction::Set, hide_default_value = true,
          hide_possible_values = true)]
    quiet: bool,
}

impl Quiet {
    pub(crate) fn shown(&self) -> Shown {
        if self.quiet { Shown::Nothing } else { Shown::All }
    }
}

/// How something is measured, whatever it is.
#[derive(Debug, Args)]
pub(crate) struct RunOptions {
    #[command(flatten)]
    pub(crate) quiet: Quiet,
    /// Directory for the record [default: ioproof-runs/DATE-TIME-NAME].
    #[arg(long, value_name = "RUNDIR")]
    pub(crate) out: Option<PathBuf>,
    /// Start without asking, and lose the data of existing files. This does not agree to the commands of a study.
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Print what would be done, with files, bytes and seconds; nothing is written except the data of a probe.
    #[arg(long)]
    pub(crate) explain: bool,
    /// With --explain: print each case in full, with offsets and memory, and each command of layouts.
    #[arg(long, requires = "explain")]
    pub(crate) full: bool,
    /// Record the last N operations of each process individually; `ioproof history` shows them.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=plan::HISTORY_MAX))]
    pub(crate) history: Option<u64>,
    /// Sign the finished record with this SSH key, or with the agent's key for this `.pub` file; `ioproof verify`
    /// checks the signature.
    #[arg(long, value_name = "KEY", conflicts_with = "explain")]
    pub(crate) sign: Option<PathBuf>,
    /// Word of the other party, signed with the record, so that no older record can be passed off as this one.
    #[arg(long, value_name = "WORD", requires = "sign", value_parser = values::nonce)]
    pub(crate) nonce: Option<String>,
    /// The MPI library, if a launcher started the program and the right library is not found.
    #[arg(long, value_name = "PATH")]
    pub(crate) mpi: Option<PathBuf>,
}

impl RunOptions {
    pub(crate) fn shown(&self) -> Shown {
        self.quiet.shown()
    }
}

/// What a study may take. `run` and `batch` take the same options.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Scale the study")]
pub(crate) struct Scale {
    /// Scale the study so that it is predicted to take at most this time, for example 10min: sizes, durations, points
    /// and repetitions are given up, in this order, until it fits. --explain says which, and what can no longer be
    /// told.
    #[arg(long, value_name = "TIME", value_parser = values::time)]
    pub(crate) time: Option<Nanos>,
    /// Scale the study so that its files take at most this space at the same time, on all targets together, for example
    /// 10GiB.
    #[arg(long, value_name = "SIZE", value_parser = values::size)]
    pub(crate) space: Option<Bytes>,
    /// Give up the points with more than N tasks.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) tasks: Option<u32>,
    /// Give up the points on more than N nodes. (`run --on-nodes N` keeps those on exactly N nodes, and --per-point of
    /// `batch` writes a job for each number that is left.)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) nodes: Option<u32>,
}

impl Scale {
    pub(crate) fn budget(&self) -> Budget {
        Budget { time: self.time, space: self.space, tasks: self.tasks, nodes: self.nodes }
    }
}
