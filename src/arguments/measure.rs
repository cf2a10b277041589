//! Arguments of the commands that measure.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use plan::{Binding, Bytes, Nanos, Pattern, cross_check, randomops as randomops_plan};

use report::Shown;

use crate::arguments::scale::Scale;
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

/// `ioproof cross-check`.
#[derive(Debug, Args)]
pub(crate) struct CrossCheckArguments {
    /// Directory to measure; one file is created there, and removed again.
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// Size of the file [default: a tenth of the free space, at most 1GiB].
    #[arg(long, value_name = "SIZE", value_parser = values::size)]
    pub(crate) size: Option<Bytes>,
    /// Duration of each pass; below 2s no result is stated.
    #[arg(long, value_name = "TIME", value_parser = values::time, default_value_t = cross_check::TIME)]
    pub(crate) time: Nanos,
    /// Number of times that each tool measures each case, in alternation.
    #[arg(long, value_name = "N", default_value_t = cross_check::PAIRS_MIN,
          value_parser = clap::value_parser!(u32).range(i64::from(cross_check::PAIRS_MIN)..=i64::from(cross_check::PAIRS_MAX)))]
    pub(crate) pairs: u32,
    /// Measure only this case; may be repeated.
    #[arg(long, value_name = "NAME", value_parser = clap::builder::PossibleValuesParser::new(cross_check::CASES))]
    pub(crate) case: Vec<String>,
    /// Directory for the record [default: ioproof-runs/DATE-TIME-NAME].
    #[arg(long, value_name = "RUNDIR")]
    pub(crate) out: Option<PathBuf>,
    /// Start without asking.
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Print what would be done, with files, bytes, seconds and fio's command lines; nothing is written.
    #[arg(long)]
    pub(crate) explain: bool,
    #[command(flatten)]
    pub(crate) shown: Quiet,
}

/// `ioproof randomops`.
#[derive(Debug, Args)]
pub(crate) struct RandomopsArguments {
    /// Directories over which the files of the tasks are distributed round-robin.
    #[arg(value_name = "DIR", required = true)]
    pub(crate) directories: Vec<PathBuf>,
    /// Tasks on each node, each with its own file [default: the number of processors of this node, or one for each
    /// process of a launcher].
    #[arg(long, value_name = "N")]
    pub(crate) tasks_per_node: Option<u32>,
    /// Operations of each task.
    #[arg(long, value_name = "N", default_value_t = randomops_plan::OPERATIONS)]
    pub(crate) operations: u64,
    /// Run for this time instead of a number of operations.
    #[arg(long, value_name = "TIME", value_parser = values::time, conflicts_with = "operations")]
    pub(crate) duration: Option<Nanos>,
    /// Size of one operation.
    #[arg(long, value_name = "SIZE", value_parser = values::size, default_value = "4KiB")]
    pub(crate) transfer: Bytes,
    /// Size of each task's file.
    #[arg(long, value_name = "SIZE", value_parser = values::size, default_value_t = randomops_plan::SIZE)]
    pub(crate) size: Bytes,
    /// Percentage of reads: 100 for random reads, 0 for random writes.
    #[arg(long, value_name = "PERCENT", default_value_t = 100,
          value_parser = clap::value_parser!(u8).range(0..=100))]
    pub(crate) read_percent: u8,
    /// Advice given to the kernel for each file after open: `as-published` is one call, which means only NOREUSE;
    /// `as-meant` is three calls.
    #[arg(long, value_enum, default_value = "none")]
    pub(crate) fadvise: Fadvise,
    /// Bypass the page cache (direct I/O) [default without --fadvise].
    #[arg(long, conflicts_with = "buffered")]
    pub(crate) direct: bool,
    /// Use the page cache (buffered I/O) [default with --fadvise].
    #[arg(long)]
    pub(crate) buffered: bool,
    /// Number of repetitions of the work of all tasks, each in a different random order.
    #[arg(long, value_name = "N", default_value_t = randomops_plan::REPETITIONS)]
    pub(crate) repetitions: u32,
    /// Let tasks use the files of the next node, so that no node reads what it wrote [default on several nodes, except
    /// with --node-local].
    #[arg(long, conflicts_with = "no_rotate")]
    pub(crate) rotate: bool,
    /// Let each node read what it wrote.
    #[arg(long)]
    pub(crate) no_rotate: bool,
    /// State that each node has its own directories.
    #[arg(long)]
    pub(crate) node_local: bool,
    /// Idle time before each repetition.
    #[arg(long, value_name = "TIME", value_parser = values::time, default_value = "0s")]
    pub(crate) rest: Nanos,
    /// State that nobody else could use the storage during the run.
    #[arg(long)]
    pub(crate) exclusive: bool,
    /// Keep the files, and read existing ones.
    #[arg(long)]
    pub(crate) keep: bool,
    /// Total memory of all servers: less than four times as much data is refused, because the servers may answer from
    /// memory.
    #[arg(long, value_name = "SIZE", value_parser = values::size)]
    pub(crate) server_memory: Option<Bytes>,
    /// Run all tasks on a few threads with io_uring, instead of one thread for each task with pread and pwrite.
    #[arg(long)]
    pub(crate) uring: bool,
    /// Seed for the random orders and the data.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) how: RunOptions,
}

/// What the kernel is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Fadvise {
    /// No advice.
    None,
    /// One call with three values OR-ed together, which is a different value.
    AsPublished,
    /// Three calls.
    AsMeant,
}

/// `ioproof rpc`.
#[derive(Debug, Args)]
pub(crate) struct RpcArguments {
    /// Message size, for example 1k or 4MiB; k, m and g are powers of 1024. Lists, here and below, are swept.
    #[arg(long, value_name = "SIZE,…", value_delimiter = ',', value_parser = values::message, default_value = "1KiB")]
    pub(crate) size: Vec<Bytes>,
    /// Response size [default: the size of the request].
    #[arg(long, value_name = "SIZE,…", value_delimiter = ',', value_parser = values::message)]
    pub(crate) response: Vec<Bytes>,
    /// Send the data in the request, with a response of 1 byte, like nsdperf's write.
    #[arg(long)]
    pub(crate) write: bool,
    /// Send a request of 1 byte, with the data in the response, like nsdperf's read.
    #[arg(long)]
    pub(crate) read: bool,
    /// Send a response as large as the request, in addition to --write or --read [default without them].
    #[arg(long)]
    pub(crate) exchange: bool,
    /// Which processes send requests to which. The endpoints are the ranks of a launcher, node by node; without a
    /// launcher, a process sends requests to itself over loopback.
    #[arg(long, value_name = "PATTERN,…", value_delimiter = ',', value_enum, default_value = "one-to-one")]
    pub(crate) pattern: Vec<PatternWord>,
    /// Client threads of each process, and as many server threads.
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_value = "1")]
    pub(crate) threads: Vec<u32>,
    /// Connections between each pair of processes [default: one for each thread].
    #[arg(long, value_name = "N,…", value_delimiter = ',')]
    pub(crate) connections: Vec<u32>,
    /// Requests in flight on each connection.
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_value = "1")]
    pub(crate) depth: Vec<u32>,
    /// Duration of a phase, for example 5, 500ms or 2min.
    #[arg(long, aliases = ["duration", "time"], value_name = "TIME", value_parser = values::seconds, default_value = "5")]
    pub(crate) seconds: Nanos,
    /// Number of exchanges on each connection, instead of a duration.
    #[arg(long, value_name = "N", conflicts_with = "seconds")]
    pub(crate) exchanges: Option<u64>,
    /// Time at the start of each phase that is not counted.
    #[arg(long, value_name = "TIME", value_parser = values::seconds, default_value = "500ms")]
    pub(crate) warm_up: Nanos,
    /// Network interface that sockets are bound to [default: the one that leads to the peer].
    #[arg(long, value_name = "NAME")]
    pub(crate) interface: Option<String>,
    /// Port of the first server process of a host; the second process uses the next port [default: chosen by the
    /// kernel].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) port: Option<u16>,
    /// Where threads run: a list of processors, used in turn, such as 0-3,6; a NUMA node, such as numa:0; adapter for
    /// the NUMA node of the network adapter; or none.
    #[arg(long, value_name = "WHERE", value_parser = values::binding)]
    pub(crate) bind: Option<Binding>,
    /// As --bind, for the client threads only.
    #[arg(long, value_name = "WHERE", value_parser = values::binding)]
    pub(crate) bind_clients: Option<Binding>,
    /// As --bind, for the server threads only.
    #[arg(long, value_name = "WHERE", value_parser = values::binding)]
    pub(crate) bind_servers: Option<Binding>,
    /// Number of times that each case is measured.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) repetitions: u32,
    /// Treat a connection without any progress for this long as an error.
    #[arg(long, value_name = "TIME", value_parser = values::seconds, default_value = "30")]
    pub(crate) deadline: Nanos,
    /// Use blocking calls, with a thread for each connection [default with one request in flight on each thread].
    #[arg(long, conflicts_with = "uring")]
    pub(crate) blocking: bool,
    /// Use io_uring, which serves all connections of a thread [default otherwise].
    #[arg(long)]
    pub(crate) uring: bool,
    /// Compare every byte with what was sent.
    #[arg(long)]
    pub(crate) verify: bool,
    /// Seed for the bytes that are sent.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) how: RunOptions,
}

/// Who asks whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PatternWord {
    /// The first half of the processes sends requests to the second half.
    OneToOne,
    /// All processes except the first send requests to the first.
    ManyToOne,
    /// Each process sends requests to every other process.
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
