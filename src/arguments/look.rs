//! Arguments of the commands that look at records, and at the host.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use plan::Nanos;

use crate::arguments::values;

/// `ioproof report`.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("form").args(["format", "json"]))]
pub(crate) struct ReportArguments {
    /// Run directories. Several are shown as one study: equal cases become repetitions.
    #[arg(value_name = "RUNDIR", required = true)]
    pub(crate) runs: Vec<PathBuf>,
    /// One format only [default: print the answer and write html, md, csv and json into RUNDIR].
    #[arg(long)]
    pub(crate) format: Option<Format>,
    /// Print all tables instead of the answer alone.
    #[arg(long)]
    pub(crate) full: bool,
    /// As --format json.
    #[arg(long, conflicts_with = "format")]
    pub(crate) json: bool,
    /// Write to this file instead of the terminal.
    #[arg(long, value_name = "FILE", requires = "form")]
    pub(crate) output: Option<PathBuf>,
}

/// The forms of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// The answer for a terminal, with --full all tables.
    Text,
    /// One self-contained page with charts.
    Html,
    /// Markdown tables.
    Md,
    /// One row for each figure and repetition.
    Csv,
    /// Everything, for programs.
    Json,
    /// Metrics for a monitoring system, as OpenMetrics text.
    Openmetrics,
}

/// `ioproof studies`.
#[derive(Debug, Args)]
pub(crate) struct StudiesArguments {
    #[command(subcommand)]
    pub(crate) what: Option<StudiesWhat>,
}

/// What of the ready studies.
#[derive(Debug, Subcommand)]
pub(crate) enum StudiesWhat {
    /// Print the text of a ready study.
    Show {
        /// Its name.
        name: String,
    },
}

/// `ioproof verdict`.
#[derive(Debug, Args)]
pub(crate) struct VerdictArguments {
    /// Run directories; several are taken as one study.
    #[arg(value_name = "RUNDIR", required = true)]
    pub(crate) runs: Vec<PathBuf>,
    /// As JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// A sheet for each commitment: what was fixed before, the evidence, what speaks against it, what could not be
    /// seen, and the judgement. To the terminal, or to FILE as its ending says: .html, .md or text.
    #[arg(long, value_name = "FILE", num_args = 0..=1, conflicts_with = "json")]
    pub(crate) sheet: Option<Option<PathBuf>>,
}

/// `ioproof verify`.
#[derive(Debug, Args)]
pub(crate) struct VerifyArguments {
    /// The run directory.
    #[arg(value_name = "RUNDIR")]
    pub(crate) run: PathBuf,
    /// The public keys that you trust, with a name before each, as `alice ssh-ed25519 AAAA…` (ALLOWED SIGNERS in
    /// ssh-keygen(1)).
    #[arg(long, value_name = "FILE")]
    pub(crate) signers: Option<PathBuf>,
    /// The word that you gave before the run (`ioproof run --nonce`).
    #[arg(long, value_name = "WORD", value_parser = values::nonce)]
    pub(crate) nonce: Option<String>,
}

/// `ioproof check`.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("whose").required(true).args(["runs", "published"]))]
pub(crate) struct CheckArguments {
    /// Run directories; several are taken as one study.
    #[arg(value_name = "RUNDIR")]
    pub(crate) runs: Vec<PathBuf>,
    /// Look at the published figures instead.
    #[arg(long)]
    pub(crate) published: bool,
    /// As JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `ioproof history`.
#[derive(Debug, Args)]
pub(crate) struct HistoryArguments {
    /// A run directory; of a run that was measured with --history N, or of an imported I/O history.
    #[arg(value_name = "RUNDIR")]
    pub(crate) run: PathBuf,
    /// One case only.
    #[arg(value_name = "CASE")]
    pub(crate) case: Option<String>,
    /// Of each phase the last N only.
    #[arg(long, value_name = "N")]
    pub(crate) last: Option<std::num::NonZeroUsize>,
    /// One phase only, as `read` or `file-create`.
    #[arg(long, value_name = "PHASE", value_parser = values::phase)]
    pub(crate) phase: Option<plan::Phase>,
    /// Comma-separated values with all columns of the record.
    #[arg(long, conflicts_with = "json")]
    pub(crate) csv: bool,
    /// As JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `ioproof compare`.
#[derive(Debug, Args)]
pub(crate) struct CompareArguments {
    /// The run that is compared with.
    #[arg(value_name = "BEFORE")]
    pub(crate) before: PathBuf,
    /// The other run.
    #[arg(value_name = "AFTER", required_unless_present = "against_itself")]
    pub(crate) after: Option<PathBuf>,
    /// Compare each figure of BEFORE with itself N times, by repetitions of its own, and print how often a difference is
    /// called where there is none: by the test of differences, by the best of five and by the mean of three. Nothing is
    /// measured: BEFORE must have ten repetitions for each comparison.
    #[arg(long, value_name = "N", conflicts_with_all = ["after", "full", "verdict"],
          value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) against_itself: Option<u32>,
    /// How it is shown.
    #[arg(long, default_value = "text")]
    pub(crate) format: CompareFormat,
    /// Print every comparison with its conditions instead of the changes alone.
    #[arg(long)]
    pub(crate) full: bool,
    /// End with status 8 where something is slower in AFTER, beyond the scatter.
    #[arg(long)]
    pub(crate) verdict: bool,
    /// Write to this file instead of the terminal.
    #[arg(long, value_name = "FILE", requires = "format")]
    pub(crate) output: Option<PathBuf>,
}

/// The forms of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CompareFormat {
    /// A table for a terminal.
    Text,
    /// A Markdown table.
    Md,
    /// For programs.
    Json,
    /// The page of BEFORE, with AFTER drawn dotted in its charts.
    Html,
}

/// `ioproof batch`.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("system").required(true).args(["slurm", "pbs", "flux"]))]
pub(crate) struct BatchArguments {
    /// The study file.
    #[arg(value_name = "STUDY.toml")]
    pub(crate) study: PathBuf,
    /// For Slurm (sbatch).
    #[arg(long)]
    pub(crate) slurm: bool,
    /// For PBS Professional (qsub).
    #[arg(long)]
    pub(crate) pbs: bool,
    /// For Flux (flux batch).
    #[arg(long)]
    pub(crate) flux: bool,
    /// A job for each number of nodes in the study, and one that merges their records [default: one
    /// job for the whole study].
    #[arg(long)]
    pub(crate) per_point: bool,
    /// Nodes of the one job [default: the most that a case asks for].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) nodes: Option<u32>,
    /// Processes on each node, which carry the tasks of the study.
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) ranks_per_node: u32,
    /// Wall time of each job, as 2h [default: from the prediction].
    #[arg(long, value_name = "TIME", value_parser = values::time)]
    pub(crate) time: Option<Nanos>,
    #[command(flatten)]
    pub(crate) basis: Box<super::measure::Basis>,
    /// Who pays.
    #[arg(long)]
    pub(crate) account: Option<String>,
    /// Partition or queue.
    #[arg(long)]
    pub(crate) partition: Option<String>,
    /// A line of shell before the run, as `module load openmpi`; may be repeated.
    #[arg(long, value_name = "LINE")]
    pub(crate) setup: Vec<String>,
    /// Words that start the ranks, instead of the system's own launcher.
    #[arg(long, value_name = "WORDS")]
    pub(crate) launcher: Option<String>,
    /// The MPI library as the jobs find it, where the right one is not found by itself.
    #[arg(long, value_name = "PATH")]
    pub(crate) mpi: Option<PathBuf>,
    /// Agree to the commands that the study executes, by the hash that `ioproof run STUDY --explain` prints.
    #[arg(long, value_name = "HASH")]
    pub(crate) allow_commands: Option<String>,
    /// The program as the jobs find it.
    #[arg(long, value_name = "PATH", default_value = "ioproof")]
    pub(crate) program: PathBuf,
    /// Change a value of the study; may be repeated.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Where the scripts are written, and the records of the jobs.
    #[arg(long, value_name = "DIR", default_value = "ioproof-batch")]
    pub(crate) out: PathBuf,
    /// Take a study with very many cases without asking.
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// More directives of the system, verbatim, as `-- --constraint=nvme`.
    #[arg(last = true)]
    pub(crate) directives: Vec<String>,
}

/// `ioproof merge`.
#[derive(Debug, Args)]
pub(crate) struct MergeArguments {
    /// The record to make; a directory that is empty or not there.
    #[arg(value_name = "OUT")]
    pub(crate) out: PathBuf,
    /// The runs that go into it; they stay as they are.
    #[arg(value_name = "RUNDIR", required = true)]
    pub(crate) runs: Vec<PathBuf>,
}

/// `ioproof import`.
#[derive(Debug, Args)]
pub(crate) struct ImportArguments {
    /// Files that tools have written, or pages with their output; `-` is the standard input. The tool is
    /// found by what stands in them.
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Where the record goes [default: ioproof-runs/DATE-TIME-import].
    #[arg(long, value_name = "RUNDIR")]
    pub(crate) out: Option<PathBuf>,
    /// The tool, where it is not found: ior, mdtest, md-workbench, iozone, ioping, ioping-batch, gpfsperf, iohist,
    /// fio, fio-json, elbencho, elbencho-csv, elbencho-json, elbencho-live, iostat, iostat-json, nsdperf, ior-json, ior-csv.
    #[arg(long = "as", value_name = "TOOL", value_parser = values::import_format)]
    pub(crate) format: Option<dialect::import::Format>,
    /// A title for reports.
    #[arg(long)]
    pub(crate) title: Option<String>,
    /// A study file whose terms hold for what is imported: its commitments, claims, expectations and published
    /// figures. It needs no workload.
    #[arg(long, value_name = "STUDY")]
    pub(crate) terms: Option<PathBuf>,
}

/// `ioproof reference`.
#[derive(Debug, Args)]
pub(crate) struct ReferenceArguments {
    /// What to show.
    #[command(subcommand)]
    pub(crate) what: ReferenceWhat,
    /// As JSON.
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// What of the library is shown.
#[derive(Debug, Subcommand)]
pub(crate) enum ReferenceWhat {
    /// The figures, in one unit and as printed.
    List(ReferenceFilter),
    /// All that is known of a figure, statement, command line or study.
    Show {
        /// Its id, as a-t2-read-best.
        #[arg(value_name = "ID")]
        id: String,
    },
    /// The studies.
    Studies(ReferenceFilter),
    /// Statements that own data can confirm or refute.
    Claims(ReferenceFilter),
    /// Printed figures that are wrong or contradict themselves, with the reading that is used.
    Misprints(ReferenceFilter),
}

/// Which part is shown.
#[derive(Debug, Args)]
pub(crate) struct ReferenceFilter {
    /// The letter or id of a study.
    #[arg(long, value_name = "A|ID")]
    pub(crate) study: Option<String>,
    /// What figures are of, as bandwidth.
    #[arg(long)]
    pub(crate) metric: Option<String>,
    /// What was done, as read.
    #[arg(long)]
    pub(crate) operation: Option<String>,
    /// Stands somewhere in it.
    #[arg(value_name = "TEXT")]
    pub(crate) text: Option<String>,
}

/// `ioproof clean`.
#[derive(Debug, Args)]
pub(crate) struct CleanArguments {
    /// The directory that was measured.
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// Remove without asking.
    #[arg(long, short)]
    pub(crate) yes: bool,
}

/// `ioproof overhead`.
#[derive(Debug, Args)]
pub(crate) struct OverheadArguments {
    /// A directory on the storage that the cost is to be compared with.
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    #[command(flatten)]
    pub(crate) shown: super::measure::Quiet,
}
