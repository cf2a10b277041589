//! `ioproof randomops`: random operations by many tasks, each with its own file.

use plan::randomops::{Options, TOOL, Work, plan};
use plan::{Advice, Layer, Predictions};

use crate::arguments::{Fadvise, RandomopsArguments};
use crate::console::exit::{Exit, Failure};
use crate::run::ask::PlannedRun;
use crate::run::cluster::World;
use crate::run::measure;

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
        work: arguments.duration.map_or(Work::Operations(arguments.operations), Work::Duration),
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
