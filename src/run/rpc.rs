//! `ioproof rpc`: requests and responses between the processes of a run.

use plan::Predictions;
use plan::exchanges::{Calls, Options, TOOL, Test, Until, plan};

use crate::arguments::RpcArguments;
use crate::console::exit::{Exit, Failure};
use crate::run::ask::PlannedRun;
use crate::run::cluster::World;
use crate::run::measure;

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
