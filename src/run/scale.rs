//! Scales a planned study to the budget of `--time`, `--space`, `--tasks` and `--nodes`.

use plan::{Plan, Predictions, RunEnvironment};

use crate::console::exit::Failure;
use crate::run::arguments::{RunArguments, Scale};
use crate::run::ask::only_on;
use crate::run::cluster::World;
use crate::run::on_layouts::Campaign;
use crate::run::session::{self, Session};

/// The plan that is run of `plan`: scaled to the budget, and then only the cases on `--on-nodes`.
pub(crate) fn planned(
    mut plan: Plan,
    arguments: &RunArguments,
    nodes: u32,
    environment: impl FnOnce(&Plan) -> RunEnvironment,
) -> Result<Plan, Failure> {
    plan = scaled(plan, &arguments.scale, nodes, environment)?;
    if let Some(nodes) = arguments.on_nodes {
        only_on(&mut plan, nodes)?;
    }
    Ok(plan)
}

/// `plan` scaled to a budget, for a run on `nodes` nodes.
pub(crate) fn scaled(
    plan: Plan,
    scale: &Scale,
    nodes: u32,
    environment: impl FnOnce(&Plan) -> RunEnvironment,
) -> Result<Plan, Failure> {
    let budget = scale.budget();
    if budget.is_unlimited() {
        return Ok(plan);
    }
    let environment = environment(&plan);
    plan::fit(&plan, nodes, &budget, &environment).map_err(|error| Failure::usage(error.to_string()))
}

/// What is known of this host before the plan is checked on it.
pub(crate) fn environment(
    plan: &Plan,
    predicted: &Predictions,
    arguments: &RunArguments,
    world: &World,
) -> RunEnvironment {
    let mut session = Session::new(world, "scaled");
    session.predicted = predicted.clone();
    let facts = session.host.facts(&session::targets_without_layout(plan), engine::clock_name());
    match plan.layouts.is_empty() {
        true => session.environment(plan, &facts),
        false => Campaign::new(&session, plan, arguments).environment(plan, &facts),
    }
}
