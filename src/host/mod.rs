//! `ioproof host`: what this host is, how it is set, and how it should be.

mod facts;

use clap::Subcommand;

use crate::exit::{Exit, Failure};

/// What is done with the host.
#[derive(Debug, Subcommand)]
pub(crate) enum What {
    /// Show what this host is: processors, memory, devices and their slots, file systems, network,
    /// volumes.
    Facts(facts::FactsArguments),
}

/// Does what is asked.
pub(crate) fn run(what: &What) -> Result<Exit, Failure> {
    match what {
        What::Facts(arguments) => facts::run(arguments),
    }
}
