//! The program's own command line; foreign dialects take over theirs before it is looked at.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use clap::builder::ValueParser;
use clap::error::ErrorKind;
use clap::{Arg, Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use plan::{Binding, Bytes, Nanos, Pattern, randomops as randomops_plan};

use crate::exit::{Exit, Failure};
use crate::{
    audit, batch, calc, clean, cluster, compare, foreign, generate, history, import, ior, merge, overhead,
    randomops, reference, report, rpc, run, schema, values, verdict,
};

/// Measures what a storage system can really do, keeps the record, and shows the answer.
#[derive(Debug, Parser)]
#[command(name = "ioproof", version, disable_help_subcommand = true, after_help = AFTER_HELP)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

const AFTER_HELP: &str = "\
Called by the name of a tool (a link to this program), as in `ior` or `mdtest`, it takes that tool's
command line.
Exit status: 0 done, 2 wrong command line or study, 3 refused, 4 the host lacks something,
5 a transfer failed, 6 wrong data found, 7 run directory unusable, 8 a commitment was not kept,
9 a node was lost, 130 interrupted.";

#[derive(Debug, Subcommand)]
enum Command {
    #[command(flatten)]
    Together(Together),
    #[command(flatten)]
    Alone(Alone),
}

/// What all processes do together that a launcher has started.
#[derive(Debug, Subcommand)]
enum Together {
    /// Measure: a study file, or the storage under a directory in about a minute.
    Run(RunArguments),
    /// Measure random operations by many tasks with a file each, as study D did.
    Randomops(RandomopsArguments),
    /// Measure requests and responses between processes: rates, latency, CPU time, bandwidth.
    Rpc(RpcArguments),
    /// Take IOR's own command line; `ioproof ior -h` lists it.
    #[command(disable_help_flag = true)]
    Ior {
        /// IOR's options, and --explain, --out RUNDIR, --compat 3.0|3.3|4.0.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, num_args = 0..)]
        arguments: Vec<OsString>,
    },
}

/// What the first of them does alone.
#[derive(Debug, Subcommand)]
enum Alone {
    /// Print the tables of a run again, and write its report; several runs become one.
    Report(ReportArguments),
    /// Say of each commitment of a study whether it was kept, and by how much.
    Verdict(RunsArguments),
    /// Look for what cannot be true in the figures of a run, or in the published ones.
    Audit(AuditArguments),
    /// Show the last operations of a run one by one, with the device's part of their time.
    History(HistoryArguments),
    /// Set two runs against each other, as before and after a change.
    Compare(CompareArguments),
    /// Write job scripts that run a study under a batch system.
    Batch(BatchArguments),
    /// Put several runs together into one record.
    Merge(MergeArguments),
    /// Read what other tools have printed into a record: IOR, mdtest, iozone, ioping, gpfsperf, fio,
    /// elbencho, iostat, nsdperf, mmfsadm dump iohist.
    Import(ImportArguments),
    /// Show what studies have published: figures, statements, misprints.
    Reference(ReferenceArguments),
    /// Compute with figures given by hand: scalability, tax, bounds, statistics, lines, curves.
    #[command(subcommand)]
    Calc(calc::Calculation),
    /// Show and remove what a killed run left under a directory.
    Clean(CleanArguments),
    /// Measure what the instrument itself costs on this host.
    Overhead(OverheadArguments),
    /// Print the JSON schema of study files or of reports.
    Schema {
        /// Of what.
        what: schema::Schema,
    },
    /// Write the man pages and shell completions into a directory.
    #[command(hide = true)]
    Generate {
        /// Where to.
        directory: PathBuf,
    },
}

/// `ioproof run`.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("what").required(true).args(["study", "quick", "resume"]))]
pub(crate) struct RunArguments {
    /// The study file; docs/STUDY.md describes it.
    #[arg(value_name = "STUDY.toml")]
    pub(crate) study: Option<PathBuf>,
    /// Characterise the storage under this directory in about a minute.
    #[arg(long, value_name = "DIR")]
    pub(crate) quick: Option<PathBuf>,
    /// Go on with a run that was interrupted: finished cases are kept, the others run.
    #[arg(long, value_name = "RUNDIR", conflicts_with_all = ["out", "explain", "set"])]
    pub(crate) resume: Option<PathBuf>,
    /// Change a value of the study, as target.disk.directory=/mnt/x or workload.*.size=1GiB; may be
    /// repeated.
    #[arg(long, value_name = "KEY=VALUE", conflicts_with = "quick")]
    pub(crate) set: Vec<String>,
    /// Run only the cases on exactly so many nodes.
    #[arg(long, value_name = "N", conflicts_with_all = ["quick", "resume"])]
    pub(crate) on_nodes: Option<u32>,
    /// End with status 8 where a commitment of the study was not kept.
    #[arg(long)]
    pub(crate) verdict: bool,
    #[command(flatten)]
    pub(crate) how: How,
    /// Give up the data on a block device, named by serial number, WWN or path; may be repeated.
    #[arg(long, value_name = "SERIAL|WWN|PATH")]
    pub(crate) destroy_data_on: Vec<String>,
}

/// How something is measured, whatever it is.
#[derive(Debug, Args)]
pub(crate) struct How {
    /// Where the record goes [default: ioproof-runs/DATE-TIME-NAME].
    #[arg(long, value_name = "RUNDIR")]
    pub(crate) out: Option<PathBuf>,
    /// Start without asking.
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Print what would be done, with files, bytes and seconds, and write nothing.
    #[arg(long)]
    pub(crate) explain: bool,
    /// Each process keeps its last N operations one by one; `ioproof history` shows them.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=plan::HISTORY_MAX))]
    pub(crate) history: Option<u64>,
    /// The MPI library, where a launcher has started the program and the right one is not found.
    #[arg(long, value_name = "PATH")]
    pub(crate) mpi: Option<PathBuf>,
}

/// `ioproof randomops`.
#[derive(Debug, Args)]
pub(crate) struct RandomopsArguments {
    /// Directories that the files of the tasks go round.
    #[arg(value_name = "DIR", required = true)]
    pub(crate) directories: Vec<PathBuf>,
    /// Tasks on each node, with a file each [default: as many as this node has processors].
    #[arg(long, value_name = "N")]
    pub(crate) tasks_per_node: Option<u32>,
    /// Operations of each task.
    #[arg(long, value_name = "N", default_value_t = randomops_plan::OPERATIONS)]
    pub(crate) operations: u64,
    /// Operations until this time is over, instead of a number of them.
    #[arg(long, value_name = "TIME", value_parser = values::time, conflicts_with = "operations")]
    pub(crate) duration: Option<Nanos>,
    /// Bytes of one operation.
    #[arg(long, value_name = "SIZE", value_parser = values::size, default_value = "4KiB")]
    pub(crate) transfer: Bytes,
    /// Bytes of each task's file.
    #[arg(long, value_name = "SIZE", value_parser = values::size, default_value_t = randomops_plan::SIZE)]
    pub(crate) size: Bytes,
    /// Share of reads: 100 for random reads, 0 for random writes.
    #[arg(long, value_name = "PERCENT", default_value_t = 100,
          value_parser = clap::value_parser!(u8).range(0..=100))]
    pub(crate) read_percent: u8,
    /// What the kernel is told about each file after open: `as-published` is one call that means
    /// NOREUSE alone, `as-meant` three calls.
    #[arg(long, value_enum, default_value = "none")]
    pub(crate) fadvise: Fadvise,
    /// Around the page cache [default, but with --fadvise].
    #[arg(long, conflicts_with = "buffered")]
    pub(crate) direct: bool,
    /// Through the page cache [default with --fadvise].
    #[arg(long)]
    pub(crate) buffered: bool,
    /// How often all tasks do their work, in another random order each time.
    #[arg(long, value_name = "N", default_value_t = randomops_plan::REPETITIONS)]
    pub(crate) repetitions: u32,
    /// Tasks go to the files of the next node, so that no node reads what it wrote [default on several
    /// nodes, but for --node-local].
    #[arg(long, conflicts_with = "no_rotate")]
    pub(crate) rotate: bool,
    /// Each node reads what it wrote.
    #[arg(long)]
    pub(crate) no_rotate: bool,
    /// Each node has directories of its own.
    #[arg(long)]
    pub(crate) node_local: bool,
    /// Rest before each repetition.
    #[arg(long, value_name = "TIME", value_parser = values::time, default_value = "0s")]
    pub(crate) rest: Nanos,
    /// Nobody else could use the storage meanwhile.
    #[arg(long)]
    pub(crate) exclusive: bool,
    /// Leave the files, and read those that are there.
    #[arg(long)]
    pub(crate) keep: bool,
    /// Chooses the orders and the data.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) how: How,
}

/// What the kernel is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Fadvise {
    /// Nothing.
    None,
    /// One call with three values or-ed, which is another value.
    AsPublished,
    /// Three calls.
    AsMeant,
}

/// `ioproof rpc`.
#[derive(Debug, Args)]
pub(crate) struct RpcArguments {
    /// Bytes of a message, as 1k or 4MiB; k, m and g are powers of 1024. Lists, here and below, are swept.
    #[arg(long, value_name = "SIZE,…", value_delimiter = ',', value_parser = values::message, default_value = "1KiB")]
    pub(crate) size: Vec<Bytes>,
    /// Bytes of a response [default: as many as of the request].
    #[arg(long, value_name = "SIZE,…", value_delimiter = ',', value_parser = values::message)]
    pub(crate) response: Vec<Bytes>,
    /// Data in the request and a response of 1 byte, as nsdperf's write.
    #[arg(long)]
    pub(crate) write: bool,
    /// A request of 1 byte and data in the response, as nsdperf's read.
    #[arg(long)]
    pub(crate) read: bool,
    /// As large a response as the request, beside --write or --read [default without them].
    #[arg(long)]
    pub(crate) exchange: bool,
    /// Who asks whom. The ends are the ranks of a launcher, node by node; without one a process asks
    /// itself over loopback.
    #[arg(long, value_name = "PATTERN,…", value_delimiter = ',', value_enum, default_value = "one-to-one")]
    pub(crate) pattern: Vec<PatternWord>,
    /// Threads of each process that ask, and as many that answer.
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_value = "1")]
    pub(crate) threads: Vec<u32>,
    /// Connections of each pair of processes [default: one for each thread].
    #[arg(long, value_name = "N,…", value_delimiter = ',')]
    pub(crate) connections: Vec<u32>,
    /// Requests under way on each connection.
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_value = "1")]
    pub(crate) depth: Vec<u32>,
    /// Length of a phase, as 5, 500ms or 2min.
    #[arg(long, value_name = "TIME", value_parser = values::seconds, default_value = "5")]
    pub(crate) seconds: Nanos,
    /// So many exchanges on each connection, instead of a time.
    #[arg(long, value_name = "N", conflicts_with = "seconds")]
    pub(crate) exchanges: Option<u64>,
    /// Time in the beginning of each phase that is not counted.
    #[arg(long, value_name = "TIME", value_parser = values::seconds, default_value = "500ms")]
    pub(crate) warm_up: Nanos,
    /// Network interface that sockets are bound to [default: the one that leads to the peer].
    #[arg(long, value_name = "NAME")]
    pub(crate) interface: Option<String>,
    /// Port of the first process of a host that answers, the next one of the second [default: the kernel
    /// chooses].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) port: Option<u16>,
    /// Where threads run: processors in turn as 0-3,6, a NUMA node as numa:0, adapter for the node of the
    /// network adapter, or none.
    #[arg(long, value_name = "WHERE", value_parser = values::binding)]
    pub(crate) bind: Option<Binding>,
    /// The same for the threads that ask alone.
    #[arg(long, value_name = "WHERE", value_parser = values::binding)]
    pub(crate) bind_clients: Option<Binding>,
    /// The same for the threads that answer alone.
    #[arg(long, value_name = "WHERE", value_parser = values::binding)]
    pub(crate) bind_servers: Option<Binding>,
    /// How often each case is measured.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) repetitions: u32,
    /// A connection on which nothing moves for this long is an error.
    #[arg(long, value_name = "TIME", value_parser = values::seconds, default_value = "30")]
    pub(crate) deadline: Nanos,
    /// Plain calls on a thread for each connection, instead of io_uring.
    #[arg(long)]
    pub(crate) blocking: bool,
    /// Compare every byte with what was sent.
    #[arg(long)]
    pub(crate) verify: bool,
    /// Chooses the bytes.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) how: How,
}

/// Who asks whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PatternWord {
    /// The first half of the processes asks the second half.
    OneToOne,
    /// All but the first ask the first.
    ManyToOne,
    /// Each asks every other.
    AllToAll,
}

impl From<PatternWord> for Pattern {
    fn from(word: PatternWord) -> Self {
        match word {
            PatternWord::OneToOne => Self::OneToOne,
            PatternWord::ManyToOne => Self::ManyToOne,
            PatternWord::AllToAll => Self::AllToAll,
        }
    }
}

/// `ioproof report`.
#[derive(Debug, Args)]
pub(crate) struct ReportArguments {
    /// Run directories. Several are shown as one study: equal cases become repetitions.
    #[arg(value_name = "RUNDIR", required = true)]
    pub(crate) runs: Vec<PathBuf>,
    /// One format only [default: print the tables and write html, md, csv and json into RUNDIR].
    #[arg(long)]
    pub(crate) format: Option<Format>,
    /// Write to this file instead of the terminal.
    #[arg(long, value_name = "FILE", requires = "format")]
    pub(crate) output: Option<PathBuf>,
}

/// The forms of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Tables for a terminal.
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

/// Run directories.
#[derive(Debug, Args)]
pub(crate) struct RunsArguments {
    /// Run directories; several are taken as one study.
    #[arg(value_name = "RUNDIR", required = true)]
    pub(crate) runs: Vec<PathBuf>,
    /// As JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `ioproof audit`.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("whose").required(true).args(["runs", "published"]))]
pub(crate) struct AuditArguments {
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
    #[arg(value_name = "AFTER")]
    pub(crate) after: PathBuf,
    /// How it is shown.
    #[arg(long, default_value = "text")]
    pub(crate) format: CompareFormat,
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
    /// Wall time of each job, as 2h [default: from the forecast].
    #[arg(long, value_name = "TIME", value_parser = values::time)]
    pub(crate) time: Option<Nanos>,
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
    /// The tool, where it is not found: ior, mdtest, iozone, ioping, ioping-batch, gpfsperf, iohist, fio,
    /// fio-json, elbencho-csv, elbencho-json, iostat, iostat-json, nsdperf, ior-json, ior-csv.
    #[arg(long = "as", value_name = "TOOL", value_parser = values::import_format)]
    pub(crate) format: Option<dialect::import::Format>,
    /// A title for reports.
    #[arg(long)]
    pub(crate) title: Option<String>,
}

/// `ioproof reference`.
#[derive(Debug, Args)]
pub(crate) struct ReferenceArguments {
    /// What to show.
    #[command(subcommand)]
    pub(crate) what: reference::What,
    /// As JSON.
    #[arg(long, global = true)]
    pub(crate) json: bool,
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
}

/// Runs what `arguments` (the program's name first) ask for.
pub(crate) fn dispatch(arguments: Vec<OsString>) -> Result<Exit, Failure> {
    if let Some((tool, words)) = foreign(&arguments) {
        return cluster::lead(&arguments, |world| match tool {
            Foreign::Ior => ior::run(words, world),
            Foreign::Tool(tool) => foreign::run(tool, words, world),
        });
    }
    let parsed = definition().try_get_matches_from(&arguments).and_then(|matches| {
        match matches.subcommand_name().and_then(dialect::tool) {
            Some(tool) => Err(definition().error(ErrorKind::InvalidSubcommand, not_first(tool.name))),
            None => Arguments::from_arg_matches(&matches),
        }
    });
    let parsed = match parsed {
        Ok(parsed) => parsed,
        Err(error) => return usage(&error),
    };
    match parsed.command {
        Command::Together(together) => cluster::lead(&arguments, |world| match &together {
            Together::Run(run) => run::run(run, world),
            Together::Randomops(asked) => randomops::run(asked, world),
            Together::Rpc(asked) => rpc::run(asked, world),
            Together::Ior { .. } => Err(Failure::usage(not_first("ior"))),
        }),
        Command::Alone(alone) if cluster::is_first() => look(alone),
        Command::Alone(_) => Ok(Exit::Success),
    }
}

fn look(command: Alone) -> Result<Exit, Failure> {
    match command {
        Alone::Report(arguments) => report::run(&arguments),
        Alone::Verdict(arguments) => verdict::run(&arguments),
        Alone::Audit(arguments) => audit::run(&arguments),
        Alone::History(arguments) => history::run(&arguments),
        Alone::Compare(arguments) => compare::run(&arguments),
        Alone::Batch(arguments) => batch::run(&arguments),
        Alone::Merge(arguments) => merge::run(&arguments),
        Alone::Import(arguments) => import::run(&arguments),
        Alone::Reference(arguments) => reference::run(&arguments),
        Alone::Calc(calculation) => calc::run(&calculation),
        Alone::Schema { what } => schema::run(what),
        Alone::Clean(arguments) => clean::run(&arguments),
        Alone::Overhead(arguments) => overhead::run(&arguments),
        Alone::Generate { directory } => generate::run(&directory),
    }
}

fn not_first(tool: &str) -> String {
    format!("write `{tool}` as the first argument: ioproof {tool} …")
}

/// The definition that help, man pages and completions are made from.
pub(crate) fn definition() -> clap::Command {
    dialect::TOOLS.iter().fold(Arguments::command(), |command, tool| {
        let words = Arg::new("arguments")
            .help(format!("{}'s options, and --explain, --out RUNDIR", tool.name))
            .trailing_var_arg(true)
            .allow_hyphen_values(true)
            .num_args(0..)
            .value_parser(ValueParser::os_string());
        command.subcommand(
            clap::Command::new(tool.name)
                .about(tool.about)
                .visible_aliases(tool.called.iter().skip(1).copied())
                .disable_help_flag(true)
                .arg(words),
        )
    })
}

/// Whose command line it is.
enum Foreign {
    Ior,
    Tool(&'static dialect::Tool),
}

/// The foreign command line, its program name first, when the program is called by that name or
/// with it as the first argument.
fn foreign(arguments: &[OsString]) -> Option<(Foreign, &[OsString])> {
    let called = arguments.first().map(Path::new).and_then(Path::file_name)?;
    if let Some(tool) = tool_called(called) {
        return Some((tool, arguments));
    }
    let tool = tool_called(arguments.get(1)?)?;
    Some((tool, &arguments[1..]))
}

fn tool_called(name: &OsStr) -> Option<Foreign> {
    let name = name.to_str()?.to_ascii_lowercase();
    if name == "ior" { Some(Foreign::Ior) } else { dialect::tool(&name).map(Foreign::Tool) }
}

/// Help and version go to standard output with success; everything else is wrong usage.
fn usage(error: &clap::Error) -> Result<Exit, Failure> {
    let exit = if error.use_stderr() { Exit::Usage } else { Exit::Success };
    if !cluster::is_first() {
        return Ok(exit);
    }
    match error.print() {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::new(Exit::Internal, error))
        }
        Ok(()) | Err(_) => Ok(exit),
    }
}
