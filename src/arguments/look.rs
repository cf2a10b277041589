//! Arguments of the commands that look at records, and at the host.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use plan::{Limit, Nanos};

use crate::arguments::values;

/// `ioproof report`.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("form").args(["format", "json"]))]
pub(crate) struct ReportArguments {
    /// Run directories. Several are shown as one study: equal cases become repetitions.
    #[arg(value_name = "RUNDIR", required = true)]
    pub(crate) runs: Vec<PathBuf>,
    /// Produce only this format [default: print the answer and write html, md, csv and json into RUNDIR].
    #[arg(long)]
    pub(crate) format: Option<Format>,
    /// Print all tables instead of only the answer.
    #[arg(long)]
    pub(crate) full: bool,
    /// Same as --format json.
    #[arg(long, conflicts_with = "format")]
    pub(crate) json: bool,
    /// Write to this file instead of the terminal.
    #[arg(long, value_name = "FILE", requires = "form")]
    pub(crate) output: Option<PathBuf>,
}

/// The forms of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// The answer for a terminal; with --full, all tables.
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
        /// Name of the study.
        name: String,
    },
}

/// `ioproof verdict`.
#[derive(Debug, Args)]
pub(crate) struct VerdictArguments {
    /// Run directories; several are treated as one study.
    #[arg(value_name = "RUNDIR", required = true)]
    pub(crate) runs: Vec<PathBuf>,
    /// Print as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Write a sheet for each commitment: what was fixed in advance, the evidence, what contradicts it, what could not
    /// be observed, and the judgement. It goes to the terminal, or to FILE in the format of its extension: .html, .md
    /// or text.
    #[arg(long, value_name = "FILE", num_args = 0..=1, conflicts_with = "json")]
    pub(crate) sheet: Option<Option<PathBuf>>,
    /// Judge the commitments to a part of what a reference run reached (reference_rate_at_least = "90 %") by this run.
    /// The sheet has the SHA-256 of its record.
    #[arg(long, value_name = "REFERENCE")]
    pub(crate) against: Option<PathBuf>,
}

/// `ioproof verify`.
#[derive(Debug, Args)]
pub(crate) struct VerifyArguments {
    /// The run directory.
    #[arg(value_name = "RUNDIR")]
    pub(crate) run: PathBuf,
    /// File with the public keys that you trust, each preceded by a name, for example `alice ssh-ed25519 AAAA…` (see
    /// ALLOWED SIGNERS in ssh-keygen(1)).
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
    /// Run directories; several are treated as one study.
    #[arg(value_name = "RUNDIR")]
    pub(crate) runs: Vec<PathBuf>,
    /// Check the published figures instead.
    #[arg(long)]
    pub(crate) published: bool,
    /// Print as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `ioproof history`.
#[derive(Debug, Args)]
pub(crate) struct HistoryArguments {
    /// Directory of a run that was measured with --history N, or of an imported I/O history.
    #[arg(value_name = "RUNDIR")]
    pub(crate) run: PathBuf,
    /// Show only this case.
    #[arg(value_name = "CASE")]
    pub(crate) case: Option<String>,
    /// Show only the last N operations of each phase.
    #[arg(long, value_name = "N")]
    pub(crate) last: Option<std::num::NonZeroUsize>,
    /// Show only this phase, for example `read` or `file-create`.
    #[arg(long, value_name = "PHASE", value_parser = values::phase)]
    pub(crate) phase: Option<plan::Phase>,
    /// Print comma-separated values with all columns of the record.
    #[arg(long, conflicts_with = "json")]
    pub(crate) csv: bool,
    /// Print as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `ioproof compare`.
#[derive(Debug, Args)]
pub(crate) struct CompareArguments {
    /// The baseline run; with --earlier the run to compare with those before it.
    #[arg(value_name = "BEFORE", required_unless_present = "base")]
    pub(crate) before: Option<PathBuf>,
    /// The run to compare with the baseline.
    #[arg(value_name = "AFTER", required_unless_present_any = ["against_itself", "base", "earlier"])]
    pub(crate) after: Option<PathBuf>,
    /// Several baseline runs. A run is then one value of each figure, the median of its passes, so that what changes
    /// from run to run counts.
    #[arg(long, value_name = "RUN", num_args = 1.., requires = "with", conflicts_with = "before")]
    pub(crate) base: Vec<PathBuf>,
    /// The runs to compare with those of --base.
    #[arg(long, value_name = "RUN", num_args = 1.., requires = "base")]
    pub(crate) with: Vec<PathBuf>,
    /// Compare the one run that is given with the last runs in DIR that were started before it, with the same plan on the
    /// same host. A single run is told apart from twenty or more.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["after", "base", "against_itself"])]
    pub(crate) earlier: Option<PathBuf>,
    /// How many earlier runs are compared with at most.
    #[arg(long, value_name = "N", default_value_t = 30, requires = "earlier",
          value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) last: u32,
    /// Judge a change by this limit; may be given several times. As in "read.rate drops by more than 5 %", "*.p99 rises
    /// by more than 20 %" or "small tasks=4 write.latency rises by more than 10 %": PHASE.QUANTITY, or the name of a case
    /// before it. * stands for every phase, and for any part of a name; QUANTITY is rate, latency (the mean) or a
    /// percentile. The exit status is 0 if every value is within its limit, 8 if one is beyond it, and 10 if neither can
    /// be told.
    #[arg(long, value_name = "LIMIT")]
    pub(crate) fail_if: Vec<Limit>,
    /// Judge all rates and mean latencies: none may become worse by more than the margin. Adds to the limits
    /// of --fail-if.
    #[arg(long)]
    pub(crate) verdict: bool,
    /// The margin, in percent [default: 5]; implies --verdict.
    #[arg(long, value_name = "PERCENT", value_parser = margin)]
    pub(crate) margin: Option<f64>,
    /// Exit with status 0, not 10, if it cannot be told of some values whether they are within the limit.
    #[arg(long)]
    pub(crate) allow_untold: bool,
    /// Compare each figure of BEFORE with itself N times, using its own repetitions, and print how often a difference
    /// is reported although there is none: by the test of differences, by the best of five and by the mean of three.
    /// Nothing is measured: BEFORE must have ten repetitions for each comparison.
    #[arg(long, value_name = "N",
          conflicts_with_all = ["after", "full", "verdict", "margin", "fail_if", "base", "allow_untold"],
          value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) against_itself: Option<u32>,
    /// Output format [default: text, or that of the ending of --output].
    #[arg(long)]
    pub(crate) format: Option<CompareFormat>,
    /// Print every comparison with its conditions instead of only the changes.
    #[arg(long)]
    pub(crate) full: bool,
    /// Write to this file instead of the terminal; may be given several times. Results of limits are printed as well.
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Vec<PathBuf>,
}

/// A percentage above 0 and below 100.
fn margin(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text).trim_end().parse().ok();
    let percent = number.filter(|percent: &f64| *percent >= 0.001 && *percent < 100.0);
    percent.ok_or_else(|| "a margin is a percentage from 0.001 and below 100, such as 5".to_owned())
}

/// The forms of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CompareFormat {
    /// A table for a terminal.
    Text,
    /// A Markdown table; with limits a short summary, as for a pull request.
    Md,
    /// JSON for programs.
    Json,
    /// The HTML report of BEFORE, with AFTER drawn as dotted lines in its charts.
    Html,
    /// JUnit XML: a test case for each value that has a limit.
    Junit,
}

/// `ioproof batch`.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("system").required(true).args(["slurm", "pbs", "flux"]))]
pub(crate) struct BatchArguments {
    /// The study file.
    #[arg(value_name = "STUDY.toml")]
    pub(crate) study: PathBuf,
    /// Write scripts for Slurm (sbatch).
    #[arg(long)]
    pub(crate) slurm: bool,
    /// Write scripts for PBS Professional (qsub).
    #[arg(long)]
    pub(crate) pbs: bool,
    /// Write scripts for Flux (flux batch).
    #[arg(long)]
    pub(crate) flux: bool,
    /// Write a job for each number of nodes in the study, and one that merges their records [default: one job for the
    /// whole study].
    #[arg(long)]
    pub(crate) per_point: bool,
    /// Processes on each node, which run the tasks of the study.
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) ranks_per_node: u32,
    /// Wall time that is asked for each job, for example 2h [default: from the prediction].
    #[arg(long, value_name = "TIME", value_parser = values::time)]
    pub(crate) wall_time: Option<Nanos>,
    #[command(flatten)]
    pub(crate) basis: Box<super::measure::Basis>,
    /// Account to charge.
    #[arg(long)]
    pub(crate) account: Option<String>,
    /// Partition or queue.
    #[arg(long)]
    pub(crate) partition: Option<String>,
    /// Shell line to execute before the run, for example `module load openmpi`; may be repeated.
    #[arg(long, value_name = "LINE")]
    pub(crate) setup: Vec<String>,
    /// Command that starts the ranks, instead of the batch system's own launcher.
    #[arg(long, value_name = "WORDS")]
    pub(crate) launcher: Option<String>,
    /// Path of the MPI library, as seen by the jobs, if the right one is not found automatically.
    #[arg(long, value_name = "PATH")]
    pub(crate) mpi: Option<PathBuf>,
    /// Agree to the commands that the study executes, by the hash that `ioproof run STUDY --explain` prints.
    #[arg(long, value_name = "HASH")]
    pub(crate) allow_commands: Option<String>,
    /// Path of the program, as seen by the jobs.
    #[arg(long, value_name = "PATH", default_value = "ioproof")]
    pub(crate) program: PathBuf,
    /// Override a value of the study; may be repeated.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Directory for the scripts and for the records of the jobs.
    #[arg(long, value_name = "DIR", default_value = "ioproof-batch")]
    pub(crate) out: PathBuf,
    /// Accept a study with very many cases without asking.
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Additional directives for the batch system, verbatim, for example `-- --constraint=nvme`.
    #[arg(last = true)]
    pub(crate) directives: Vec<String>,
    #[command(flatten)]
    pub(crate) scale: super::scale::Scale,
}

/// `ioproof merge`.
#[derive(Debug, Args)]
pub(crate) struct MergeArguments {
    /// Directory for the merged record; it must be empty or not exist.
    #[arg(value_name = "OUT")]
    pub(crate) out: PathBuf,
    /// The runs to merge; they are not changed.
    #[arg(value_name = "RUNDIR", required = true)]
    pub(crate) runs: Vec<PathBuf>,
}

/// `ioproof import`.
#[derive(Debug, Args)]
pub(crate) struct ImportArguments {
    /// Files that tools have written, or pages with their output; `-` is standard input. The tool is recognised by the
    /// content.
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Directory for the record [default: ioproof-runs/DATE-TIME-import].
    #[arg(long, value_name = "RUNDIR")]
    pub(crate) out: Option<PathBuf>,
    /// The tool, if it is not recognised: ior, mdtest, md-workbench, iozone, ioping, ioping-batch, gpfsperf, iohist,
    /// fio, fio-json, elbencho, elbencho-csv, elbencho-json, elbencho-live, iostat, iostat-json, nsdperf, ior-json, ior-csv.
    #[arg(long = "as", value_name = "TOOL", value_parser = values::import_format)]
    pub(crate) format: Option<dialect::import::Format>,
    /// A title for reports.
    #[arg(long)]
    pub(crate) title: Option<String>,
    /// Study file whose terms apply to the imported data: its commitments, claims, expectations and published figures.
    /// It needs no workload.
    #[arg(long, value_name = "STUDY")]
    pub(crate) terms: Option<PathBuf>,
}

/// `ioproof reference`.
#[derive(Debug, Args)]
pub(crate) struct ReferenceArguments {
    /// What to show.
    #[command(subcommand)]
    pub(crate) what: ReferenceWhat,
    /// Print as JSON.
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// What of the library is shown.
#[derive(Debug, Subcommand)]
pub(crate) enum ReferenceWhat {
    /// List the figures, in one unit and as printed.
    List(ReferenceFilter),
    /// Show everything known about a figure, statement, command line or study.
    Show {
        /// Its id, for example a-t2-read-best.
        #[arg(value_name = "ID")]
        id: String,
    },
    /// List the studies.
    Studies(ReferenceFilter),
    /// List statements that your own data can confirm or refute.
    Claims(ReferenceFilter),
    /// List printed figures that are wrong or contradict themselves, with the interpretation that is used.
    Misprints(ReferenceFilter),
}

/// Which part is shown.
#[derive(Debug, Args)]
pub(crate) struct ReferenceFilter {
    /// Show only entries of the study with this letter or id.
    #[arg(long, value_name = "A|ID")]
    pub(crate) study: Option<String>,
    /// Show only figures of this metric, for example bandwidth.
    #[arg(long)]
    pub(crate) metric: Option<String>,
    /// Show only entries of this operation, for example read.
    #[arg(long)]
    pub(crate) operation: Option<String>,
    /// Text that an entry must contain.
    #[arg(value_name = "TEXT")]
    pub(crate) text: Option<String>,
}

/// `ioproof clean`.
#[derive(Debug, Args)]
pub(crate) struct CleanArguments {
    /// The directory that was measured, or one above it on the same file system.
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// Remove without asking.
    #[arg(long, short)]
    pub(crate) yes: bool,
}

/// `ioproof runs`.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("form").args(["format", "json"]))]
pub(crate) struct RunsArguments {
    /// Directories with records directly in them, or records.
    #[arg(value_name = "DIR", default_value = "ioproof-runs")]
    pub(crate) directories: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) filter: RunsFilter,
    /// Show this figure of the selected runs over time, and the runs with which its level changed: `read.rate`,
    /// `write.latency`, `CASE read.p99`.
    #[arg(long, value_name = "[CASE ]PHASE.QUANTITY", value_parser = values::figure)]
    pub(crate) figure: Option<plan::FigureName>,
    /// Output format.
    #[arg(long, default_value = "text")]
    pub(crate) format: RunsFormat,
    /// Same as --format json.
    #[arg(long, conflicts_with = "format")]
    pub(crate) json: bool,
    /// Write to this file instead of the terminal.
    #[arg(long, value_name = "FILE", requires = "form")]
    pub(crate) output: Option<PathBuf>,
    /// Give the selected runs this tag; may be repeated. A run with a tag is not pruned.
    #[arg(long, value_name = "TAG", value_parser = values::tag, conflicts_with_all = ["figure", "prune"])]
    pub(crate) set_tag: Vec<String>,
    /// Take this tag from the selected runs; may be repeated.
    #[arg(long, value_name = "TAG", value_parser = values::tag, conflicts_with_all = ["figure", "prune"])]
    pub(crate) remove_tag: Vec<String>,
    /// Remove the selected records, after showing them. Signed and tagged ones are only removed if named by --run;
    /// damaged, running and unfinished ones, and those with files of others, never.
    #[arg(long, conflicts_with_all = ["figure", "form", "last"])]
    pub(crate) prune: bool,
    /// With --prune: keep the newest N of the selected runs.
    #[arg(long, value_name = "N", requires = "prune")]
    pub(crate) keep_last: Option<usize>,
    /// With --prune: remove without asking.
    #[arg(long, short, requires = "prune")]
    pub(crate) yes: bool,
}

/// Which runs are selected: those that every given filter selects.
#[derive(Debug, Args)]
pub(crate) struct RunsFilter {
    /// Only the run with this directory name or id; may be repeated.
    #[arg(long, value_name = "NAME")]
    pub(crate) run: Vec<String>,
    /// Only runs of studies whose title contains this text; `*` stands for any text.
    #[arg(long, value_name = "TEXT")]
    pub(crate) study: Option<String>,
    /// Only runs on this host; `*` stands for any text.
    #[arg(long, value_name = "NAME")]
    pub(crate) host: Option<String>,
    /// Only runs with this tag.
    #[arg(long, value_name = "TAG", value_parser = values::tag)]
    pub(crate) tag: Option<String>,
    /// Only runs started at this time or later: 2026-11-30, or 2026-11-30T14:00. Without a time zone it is UTC.
    #[arg(long, value_name = "DATE", value_parser = values::since)]
    pub(crate) since: Option<i64>,
    /// Only runs started before the end of this day or minute.
    #[arg(long, value_name = "DATE", value_parser = values::until)]
    pub(crate) until: Option<i64>,
    /// Only runs in this state: complete, interrupted, failed, killed, running, damaged or unreadable.
    #[arg(long, value_name = "STATE",
          value_parser = clap::builder::PossibleValuesParser::new(record::EntryState::NAMES))]
    pub(crate) state: Option<String>,
    /// Only the newest N of the runs that the other filters select.
    #[arg(long, value_name = "N")]
    pub(crate) last: Option<usize>,
}

impl RunsFilter {
    /// As the library takes it.
    pub(crate) fn filter(&self) -> record::RunFilter {
        let Self { run, study, host, tag, since, until, state, last } = self;
        record::RunFilter {
            runs: run.clone(),
            study: study.clone(),
            host: host.clone(),
            tag: tag.clone(),
            since: *since,
            until: *until,
            state: state.clone(),
            last: *last,
        }
    }
}

/// The forms of a list of runs, and of a figure over time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RunsFormat {
    /// A table for a terminal.
    Text,
    /// JSON for programs.
    Json,
    /// One row for each run.
    Csv,
    /// With --figure: one self-contained page with a chart.
    Html,
}

/// `ioproof overhead`.
#[derive(Debug, Args)]
pub(crate) struct OverheadArguments {
    /// Directory on the storage with which the overhead is compared.
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    #[command(flatten)]
    pub(crate) shown: super::measure::Quiet,
}
