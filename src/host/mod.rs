//! `ioproof host`: what this host is, how it is set, and how it should be.

mod check;
mod facts;
mod restore;
mod topology;
mod tune;

use std::path::{Path, PathBuf};

use clap::Subcommand;
use host::LedgerError;
use host::Root;
use host::tuning::{self, Profile};

use crate::exit::{Exit, Failure};

/// What is done with the host.
#[derive(Debug, Subcommand)]
pub(crate) enum What {
    /// Show what this host is: processors, memory, devices and their slots, file systems, network,
    /// volumes.
    Facts(facts::FactsArguments),
    /// Compare how this host is set with what is advised for measuring storage, each piece of advice with
    /// its reason and source.
    Check(check::CheckArguments),
    /// Set this host as a profile says, after showing every write; what was is kept.
    Tune(tune::TuneArguments),
    /// Put back what was before `host tune`.
    Restore(restore::RestoreArguments),
    /// Draw the cells of a site from a description: servers, cards of each socket, controllers, drives.
    Topology(topology::TopologyArguments),
}

/// Runs the subcommand.
pub(crate) fn run(what: &What) -> Result<Exit, Failure> {
    match what {
        What::Facts(arguments) => facts::run(arguments),
        What::Check(arguments) => check::run(arguments),
        What::Tune(arguments) => tune::run(arguments),
        What::Restore(arguments) => restore::run(arguments),
        What::Topology(arguments) => topology::run(arguments),
    }
}

/// The profiles of these names.
fn profiles_named(names: &[String]) -> Result<Vec<Profile>, Failure> {
    let named = names.iter().map(|name| tuning::profile(name));
    named.collect::<Result<_, _>>().map_err(|error| Failure::new(Exit::Usage, error))
}

/// The directory with the previous settings.
fn state_of(root: &Root, named: Option<&Path>) -> PathBuf {
    named.map_or_else(|| tuning::state_directory(root, |name| std::env::var(name).ok()), Path::to_owned)
}

/// A ledger of another host, damaged or in use is a refusal; an unwritable one is a lack of the host.
fn ledger_failure(error: LedgerError) -> Failure {
    let exit = if error.is_refusal() { Exit::Refused } else { Exit::HostLacks };
    Failure::new(exit, error)
}
