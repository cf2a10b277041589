//! `ioproof rpc`: requests and responses between the processes of a run.

use clap::{Args, ValueEnum};
use plan::exchanges::{Calls, Options, TOOL, Test, Until, plan};
use plan::{Binding, Bytes, Nanos, Pattern, Predictions};

use crate::arguments::values;
use crate::console::exit::{Exit, Failure};
use crate::run::arguments::RunOptions;
use crate::run::ask::PlannedRun;
use crate::run::cluster::World;
use crate::run::measure;

/// `ioproof rpc`.
#[derive(Debug, Args)]
pub(crate) struct RpcArguments {
    /// Message size, for example 1k or 4MiB; k, m and g are powers of 1024. Lists, here and below, are swept.
    #[arg(long, value_name = "SIZE,…", value_delimiter = ',', value_parser = values::message, default_value = "1KiB")]
    size: Vec<Bytes>,
    /// Response size [default: the size of the request].
    #[arg(long, value_name = "SIZE,…", value_delimiter = ',', value_parser = values::message)]
    response: Vec<Bytes>,
    /// Send the data in the request, with a response of 1 byte, like nsdperf's write.
    #[arg(long)]
    write: bool,
    /// Send a request of 1 byte, with the data in the response, like nsdperf's read.
    #[arg(long)]
    read: bool,
    /// Send a response as large as the request, in addition to --write or --read [default without them].
    #[arg(long)]
    exchange: bool,
    /// Which processes send requests to which. The endpoints are the ranks of a launcher, node by node; without a
    /// launcher, a process sends requests to itself over loopback.
    #[arg(long, value_name = "PATTERN,…", value_delimiter = ',', value_enum, default_value = "one-to-one")]
    pattern: Vec<PatternWord>,
    /// Client threads of each process, and as many server threads.
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_value = "1")]
    threads: Vec<u32>,
    /// Connections between each pair of processes [default: one for each thread].
    #[arg(long, value_name = "N,…", value_delimiter = ',')]
    connections: Vec<u32>,
    /// Requests in flight on each connection.
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_value = "1")]
    depth: Vec<u32>,
    /// Duration of a phase, for example 5, 500ms or 2min.
    #[arg(long, aliases = ["duration", "time"], value_name = "TIME", value_parser = values::seconds, default_value = "5")]
    seconds: Nanos,
    /// Number of exchanges on each connection, instead of a duration.
    #[arg(long, value_name = "N", conflicts_with = "seconds")]
    exchanges: Option<u64>,
    /// Time at the start of each phase that is not counted.
    #[arg(long, value_name = "TIME", value_parser = values::seconds, default_value = "500ms")]
    warm_up: Nanos,
    /// Network interface that sockets are bound to [default: the one that leads to the peer].
    #[arg(long, value_name = "NAME")]
    interface: Option<String>,
    /// Port of the first server process of a host; the second process uses the next port [default: chosen by the
    /// kernel].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    port: Option<u16>,
    /// Where threads run: a list of processors, used in turn, such as 0-3,6; a NUMA node, such as numa:0; adapter for
    /// the NUMA node of the network adapter; or none.
    #[arg(long, value_name = "WHERE", value_parser = values::binding)]
    bind: Option<Binding>,
    /// As --bind, for the client threads only.
    #[arg(long, value_name = "WHERE", value_parser = values::binding)]
    bind_clients: Option<Binding>,
    /// As --bind, for the server threads only.
    #[arg(long, value_name = "WHERE", value_parser = values::binding)]
    bind_servers: Option<Binding>,
    /// Number of times that each case is measured.
    #[arg(long, value_name = "N", default_value_t = 1)]
    repetitions: u32,
    /// Treat a connection without any progress for this long as an error.
    #[arg(long, value_name = "TIME", value_parser = values::seconds, default_value = "30")]
    deadline: Nanos,
    /// Use blocking calls, with a thread for each connection [default with one request in flight on each thread].
    #[arg(long, conflicts_with = "uring")]
    blocking: bool,
    /// Use io_uring, which serves all connections of a thread [default otherwise].
    #[arg(long)]
    uring: bool,
    /// Compare every byte with what was sent.
    #[arg(long)]
    verify: bool,
    /// Seed for the bytes that are sent.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    how: RunOptions,
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

/// Carries out the measurement specified by the arguments.
pub(crate) fn run(arguments: &RpcArguments, world: &World) -> Result<Exit, Failure> {
    // The message names the value, because the field may belong to the workload and have no option of
    // that name.
    let wrong = |error: plan::PlanError| Failure::usage(format!("{}: {}", error.message, error.help));
    let plan = plan(options(arguments, world)).map_err(wrong)?;
    let planned = PlannedRun { what: TOOL.to_owned(), plan, notes: Vec::new() };
    measure(planned, Predictions::default(), &arguments.how, None, false, world)
}

fn options(arguments: &RpcArguments, world: &World) -> Options {
    let tests = [(arguments.write, Test::Write), (arguments.read, Test::Read)];
    let mut tests: Vec<Test> =
        tests.into_iter().filter(|(planned, _)| *planned).map(|(_, test)| test).collect();
    if tests.is_empty() || arguments.exchange {
        tests.insert(0, Test::Exchange);
    }
    let binding = arguments.bind.clone().unwrap_or_default();
    Options {
        ends: world.comm().size(),
        nodes: world.nodes(),
        tests,
        sizes: arguments.size.clone(),
        responses: arguments.response.clone(),
        patterns: arguments.pattern.iter().map(|&pattern| pattern.into()).collect(),
        threads: arguments.threads.clone(),
        connections: arguments.connections.clone(),
        depths: arguments.depth.clone(),
        interface: arguments.interface.clone(),
        port: arguments.port,
        client_binding: arguments.bind_clients.clone().unwrap_or_else(|| binding.clone()),
        server_binding: arguments.bind_servers.clone().unwrap_or(binding),
        until: arguments.exchanges.map_or(Until::Duration(arguments.seconds), Until::Exchanges),
        warm_up: arguments.warm_up,
        deadline: arguments.deadline,
        repetitions: arguments.repetitions,
        calls: match (arguments.blocking, arguments.uring) {
            (true, _) => Calls::Plain,
            (_, true) => Calls::Uring,
            _ => Calls::Faster,
        },
        verify: arguments.verify,
        seed: arguments.seed,
        arguments: std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect(),
        ..Options::default()
    }
}
