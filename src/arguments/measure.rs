//! Arguments of the commands that measure.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use plan::{Binding, Bytes, Nanos, Pattern, cross_check, randomops as randomops_plan};

use report::Shown;

use crate::arguments::values::{self, GivenRate};

/// `ioproof run`.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("what").required(true).args(["study", "quick", "resume"]))]
pub(crate) struct RunArguments {
    /// The study file (docs/STUDY.md describes it), or the name of a ready study (`ioproof studies` lists them).
    #[arg(value_name = "STUDY")]
    pub(crate) study: Option<PathBuf>,
    /// Run the study on this directory instead of what it names: one target, called `storage`, and nothing of the
    /// hardware that the study was written for.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["quick", "resume"])]
    pub(crate) on: Option<PathBuf>,
    /// Characterise the storage under this directory in about a minute: six figures, in three passes that take turns.
    #[arg(long, value_name = "DIR")]
    pub(crate) quick: Option<PathBuf>,
    /// With --quick: measure what the page cache gives as well, after the storage itself.
    #[arg(long, requires = "quick")]
    pub(crate) cached: bool,
    /// Go on with a run that was interrupted: finished cases are kept, and so are whole passes of cases that take turns;
    /// the others run.
    #[arg(long, value_name = "RUNDIR", conflicts_with_all = ["out", "set", "like"])]
    pub(crate) resume: Option<PathBuf>,
    /// Change a value of the study, as target.disk.directory=/mnt/x or workload.*.size=1GiB, or of a quick run:
    /// repetitions, duration, size, delay; may be repeated.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Simulate the study on the model in this file, on a virtual clock: nothing of this host is measured or changed.
    #[arg(long, value_name = "MODEL", conflicts_with_all = [
        "quick", "on", "destroy_data_on", "allow_commands", "like", "expect", "probe",
    ])]
    pub(crate) model: Option<PathBuf>,
    /// With --model: what its random choices follow from.
    #[arg(long, value_name = "N", default_value_t = 0, requires = "model")]
    pub(crate) seed: u64,
    /// Run only the cases on exactly so many nodes.
    #[arg(long, value_name = "N", conflicts_with_all = ["quick", "resume"])]
    pub(crate) on_nodes: Option<u32>,
    /// End with status 8 where a commitment of the study was not kept.
    #[arg(long)]
    pub(crate) verdict: bool,
    #[command(flatten)]
    pub(crate) basis: Box<Basis>,
    #[command(flatten)]
    pub(crate) how: RunOptions,
    /// Give up the data on a block device, named by serial number, WWN or path; may be repeated.
    #[arg(long, value_name = "SERIAL|WWN|PATH")]
    pub(crate) destroy_data_on: Vec<String>,
    /// Agree to the commands that the study executes, and to lose the data on the devices of its layouts; --explain
    /// shows them and prints the hash.
    #[arg(long, value_name = "HASH", conflicts_with_all = ["explain", "quick"])]
    pub(crate) allow_commands: Option<String>,
    /// Where the ledger of layouts that a study makes stands [default: /var/lib/ioproof].
    #[arg(long, value_name = "DIR")]
    pub(crate) state: Option<PathBuf>,
}

/// What a prediction rests on, before what the study says of its targets.
#[derive(Debug, Default, Args)]
pub(crate) struct Basis {
    /// Predict from the rates that this run has measured: of the same phases in the nearest cases.
    #[arg(long, value_name = "RUNDIR")]
    pub(crate) like: Option<PathBuf>,
    /// Predict from this rate, as 2GB/s or 30000/s, or of one phase alone as read=2GB/s; may be repeated.
    #[arg(long, value_name = "[PHASE=]RATE", value_parser = values::given_rate)]
    pub(crate) expect: Vec<GivenRate>,
    /// Predict the rest from a probe: up to three cases with direct transfers in the directory of each target, from this
    /// node, in passes of 300 ms. Its record is kept.
    #[arg(long)]
    pub(crate) probe: bool,
}

/// What is shown while it runs.
#[derive(Debug, Args)]
pub(crate) struct Quiet {
    /// Do not show on the error stream where the record is and how far the run is; warnings still come.
    #[arg(long, short)]
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
    /// Where the record goes [default: ioproof-runs/DATE-TIME-NAME].
    #[arg(long, value_name = "RUNDIR")]
    pub(crate) out: Option<PathBuf>,
    /// Do not ask: start, and lose the data of files that are there. It is no consent to commands of a study.
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Print what would be done, with files, bytes and seconds, and write nothing but the data of a probe.
    #[arg(long)]
    pub(crate) explain: bool,
    /// With --explain: each case in full, with offsets and memory, and each command of layouts.
    #[arg(long, requires = "explain")]
    pub(crate) full: bool,
    /// Each process keeps its last N operations one by one; `ioproof history` shows them.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=plan::HISTORY_MAX))]
    pub(crate) history: Option<u64>,
    /// Sign the record at its end with this SSH key, or with the agent's key of this `.pub` file; `ioproof verify`
    /// checks it.
    #[arg(long, value_name = "KEY", conflicts_with = "explain")]
    pub(crate) sign: Option<PathBuf>,
    /// A word of the other party that is signed with the record, so that no older record can pass for it.
    #[arg(long, value_name = "WORD", requires = "sign", value_parser = values::nonce)]
    pub(crate) nonce: Option<String>,
    /// The MPI library, where a launcher has started the program and the right one is not found.
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
    /// The directory; one file is made there, and removed again.
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// Bytes of the file [default: a tenth of the free space, at most 1GiB].
    #[arg(long, value_name = "SIZE", value_parser = values::size)]
    pub(crate) size: Option<Bytes>,
    /// How long each pass takes; below 2s nothing is stated.
    #[arg(long, value_name = "TIME", value_parser = values::time, default_value_t = cross_check::TIME)]
    pub(crate) time: Nanos,
    /// How often each tool measures each case, in turn.
    #[arg(long, value_name = "N", default_value_t = cross_check::PAIRS_MIN,
          value_parser = clap::value_parser!(u32).range(i64::from(cross_check::PAIRS_MIN)..=i64::from(cross_check::PAIRS_MAX)))]
    pub(crate) pairs: u32,
    /// Only this case; may be repeated.
    #[arg(long, value_name = "NAME", value_parser = clap::builder::PossibleValuesParser::new(cross_check::CASES))]
    pub(crate) case: Vec<String>,
    /// Where the record goes [default: ioproof-runs/DATE-TIME-NAME].
    #[arg(long, value_name = "RUNDIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print what would be done, with files, bytes, seconds and fio's command lines, and write nothing.
    #[arg(long)]
    pub(crate) explain: bool,
    #[command(flatten)]
    pub(crate) shown: Quiet,
}

/// `ioproof randomops`.
#[derive(Debug, Args)]
pub(crate) struct RandomopsArguments {
    /// Directories that the files of the tasks go round.
    #[arg(value_name = "DIR", required = true)]
    pub(crate) directories: Vec<PathBuf>,
    /// Tasks on each node, with a file each [default: as many as this node has processors, or one for
    /// each process of a launcher].
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
    /// Memory of all servers together: less data than four times that is refused, as they may answer from it.
    #[arg(long, value_name = "SIZE", value_parser = values::size)]
    pub(crate) server_memory: Option<Bytes>,
    /// Few threads carry all tasks with io_uring, instead of one for each with pread and pwrite.
    #[arg(long)]
    pub(crate) uring: bool,
    /// Chooses the orders and the data.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) how: RunOptions,
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
    #[arg(long, aliases = ["duration", "time"], value_name = "TIME", value_parser = values::seconds, default_value = "5")]
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
    /// Plain calls on a thread for each connection [default with one request under way on each thread].
    #[arg(long, conflicts_with = "uring")]
    pub(crate) blocking: bool,
    /// io_uring, which carries all connections of a thread [default otherwise].
    #[arg(long)]
    pub(crate) uring: bool,
    /// Compare every byte with what was sent.
    #[arg(long)]
    pub(crate) verify: bool,
    /// Chooses the bytes.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) how: RunOptions,
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
