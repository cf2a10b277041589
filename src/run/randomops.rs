//! `ioproof randomops`: random operations by many tasks, each with its own file.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use plan::randomops::{Options, TOOL, Until, plan};
use plan::{Advice, Bytes, Layer, Nanos, Predictions};

use crate::arguments::values;
use crate::console::exit::{Exit, Failure};
use crate::run::arguments::RunOptions;
use crate::run::ask::PlannedRun;
use crate::run::cluster::World;
use crate::run::measure;

/// `ioproof randomops`.
#[derive(Debug, Args)]
pub(crate) struct RandomopsArguments {
    /// Directories over which the files of the tasks are distributed round-robin.
    #[arg(value_name = "DIR", required = true)]
    directories: Vec<PathBuf>,
    /// Tasks on each node, each with its own file [default: the number of processors of this node, or one for each
    /// process of a launcher].
    #[arg(long, value_name = "N")]
    tasks_per_node: Option<u32>,
    /// Operations of each task.
    #[arg(long, value_name = "N", default_value_t = plan::randomops::OPERATIONS)]
    operations: u64,
    /// Run for this time instead of a number of operations.
    #[arg(long, value_name = "TIME", value_parser = values::time, conflicts_with = "operations")]
    duration: Option<Nanos>,
    /// Size of one operation.
    #[arg(long, value_name = "SIZE", value_parser = values::size, default_value = "4KiB")]
    transfer: Bytes,
    /// Size of each task's file.
    #[arg(long, value_name = "SIZE", value_parser = values::size, default_value_t = plan::randomops::SIZE)]
    size: Bytes,
    /// Percentage of reads: 100 for random reads, 0 for random writes.
    #[arg(long, value_name = "PERCENT", default_value_t = 100,
          value_parser = clap::value_parser!(u8).range(0..=100))]
    read_percent: u8,
    /// Advice given to the kernel for each file after open: `as-published` is one call, which means only NOREUSE;
    /// `as-meant` is three calls.
    #[arg(long, value_enum, default_value = "none")]
    fadvise: Fadvise,
    /// Bypass the page cache (direct I/O) [default without --fadvise].
    #[arg(long, conflicts_with = "buffered")]
    direct: bool,
    /// Use the page cache (buffered I/O) [default with --fadvise].
    #[arg(long)]
    buffered: bool,
    /// Number of repetitions of the work of all tasks, each in a different random order.
    #[arg(long, value_name = "N", default_value_t = plan::randomops::REPETITIONS)]
    repetitions: u32,
    /// Let tasks use the files of the next node, so that no node reads what it wrote [default on several nodes, except
    /// with --node-local].
    #[arg(long, conflicts_with = "no_rotate")]
    rotate: bool,
    /// Let each node read what it wrote.
    #[arg(long)]
    no_rotate: bool,
    /// State that each node has its own directories.
    #[arg(long)]
    node_local: bool,
    /// Idle time before each repetition.
    #[arg(long, value_name = "TIME", value_parser = values::time, default_value = "0s")]
    rest: Nanos,
    /// State that nobody else could use the storage during the run.
    #[arg(long)]
    exclusive: bool,
    /// Keep the files, and read existing ones.
    #[arg(long)]
    keep: bool,
    /// Total memory of all servers: less than four times as much data is refused, because the servers may answer from
    /// memory.
    #[arg(long, value_name = "SIZE", value_parser = values::size)]
    server_memory: Option<Bytes>,
    /// Run all tasks on a few threads with io_uring, instead of one thread for each task with pread and pwrite.
    #[arg(long)]
    uring: bool,
    /// Seed for the random orders and the data.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    how: RunOptions,
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

/// Carries out the measurement specified by the arguments.
pub(crate) fn run(arguments: &RandomopsArguments, world: &World) -> Result<Exit, Failure> {
    // The message names the value, because the field may belong to the workload and have no option of
    // that name.
    let wrong = |error: plan::PlanError| Failure::usage(format!("{}: {}", error.message, error.help));
    let options = options(arguments, world);
    all_ranks_work(world, options.tasks_per_node)?;
    let plan = plan(options).map_err(wrong)?;
    let planned = PlannedRun { what: TOOL.to_owned(), plan, notes: Vec::new() };
    measure(planned, Predictions::default(), &arguments.how, None, false, world)
}

fn options(arguments: &RandomopsArguments, world: &World) -> Options {
    let processors = std::thread::available_parallelism().map_or(1, |count| count.get());
    let each = if world.launched { ranks_on_a_node(world) } else { processors };
    let defaults = Options::new(arguments.directories.clone(), u32::try_from(each).unwrap_or(u32::MAX));
    Options {
        nodes: world.nodes(),
        tasks_per_node: arguments.tasks_per_node.unwrap_or(defaults.tasks_per_node),
        until: arguments.duration.map_or(Until::Operations(arguments.operations), Until::Duration),
        transfer: arguments.transfer,
        size: arguments.size,
        read_percent: arguments.read_percent,
        advice: match arguments.fadvise {
            Fadvise::None => Advice::None,
            Fadvise::AsPublished => Advice::AsPublished,
            Fadvise::AsMeant => Advice::AsMeant,
        },
        direct: said(arguments.direct, arguments.buffered),
        repetitions: arguments.repetitions,
        rotate: said(arguments.rotate, arguments.no_rotate),
        rest: arguments.rest,
        layer: if arguments.node_local { Layer::NodeLocal } else { Layer::Unstated },
        exclusive: arguments.exclusive.then_some(true),
        keep: arguments.keep,
        queued: arguments.uring,
        server_memory: arguments.server_memory,
        seed: arguments.seed,
        arguments: std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect(),
        ..defaults
    }
}

/// The number of processes on the node that has most of them.
fn ranks_on_a_node(world: &World) -> usize {
    let topology = world.comm().topology();
    (0..world.nodes()).map(|node| topology.ranks_on(node).count()).max().unwrap_or(1)
}

/// Rejects processes that would have no task.
fn all_ranks_work(world: &World, tasks: u32) -> Result<(), Failure> {
    let ranks = ranks_on_a_node(world);
    if usize::try_from(tasks).is_ok_and(|tasks| tasks >= ranks) {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "{ranks} processes on a node would share {tasks} tasks, and some would have none: start fewer, or leave \
         --tasks-per-node out, so that each has one"
    )))
}

/// The value of a pair of opposite flags, or `None` if neither is given.
fn said(yes: bool, no: bool) -> Option<bool> {
    (yes || no).then_some(yes)
}
