//! `ioproof host`: the facts about this host, its settings, and the advised settings.

mod check;
mod common;
mod facts;
mod restore;
mod topology;
mod tune;

use clap::Subcommand;

use crate::console::exit::{Exit, Failure};

/// What is done with the host.
#[derive(Debug, Subcommand)]
pub(crate) enum HostCommand {
    /// Show what this host is: processors, memory, devices and their slots, file systems, network,
    /// volumes.
    Facts(facts::FactsArguments),
    /// Compare how this host is set with what is advised for measuring storage, each piece of advice with
    /// its reason and source.
    Check(check::CheckArguments),
    /// Set this host as a profile says, after showing every write; what was is kept. Needs root.
    Tune(tune::TuneArguments),
    /// Put back what was before `host tune`. Needs root.
    Restore(restore::RestoreArguments),
    /// Draw the cells of a site from a description: servers, cards of each socket, controllers, drives.
    Topology(topology::TopologyArguments),
}

/// Runs the subcommand.
pub(crate) fn run(what: &HostCommand) -> Result<Exit, Failure> {
    match what {
        HostCommand::Facts(arguments) => facts::run(arguments),
        HostCommand::Check(arguments) => check::run(arguments),
        HostCommand::Tune(arguments) => tune::run(arguments),
        HostCommand::Restore(arguments) => restore::run(arguments),
        HostCommand::Topology(arguments) => topology::run(arguments),
    }
}
