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
    /// Describe this host: processors, memory, devices and their slots, file systems, network,
    /// volumes.
    Facts(facts::FactsArguments),
    /// Compare the settings of this host with those advised for measuring storage; each piece of advice has its
    /// reason and source.
    Check(check::CheckArguments),
    /// Apply the settings of a profile, after showing every write; the previous settings are kept. Needs root.
    Tune(tune::TuneArguments),
    /// Restore the settings from before `host tune`. Needs root.
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
