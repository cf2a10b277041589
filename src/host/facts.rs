//! `ioproof host facts`.

use std::path::PathBuf;

use clap::Args;
use host::{Host, Root};

use crate::console::print;
use crate::exit::{Exit, Failure};

/// `ioproof host facts`.
#[derive(Debug, Args)]
pub(crate) struct FactsArguments {
    /// As JSON; `ioproof schema host` describes it.
    #[arg(long)]
    json: bool,
    /// Read /proc, /sys and /etc below this directory, as of a support bundle.
    #[arg(long, value_name = "DIR", default_value = "/")]
    root: PathBuf,
}

/// Shows what is asked.
pub(crate) fn run(arguments: &FactsArguments) -> Result<Exit, Failure> {
    let host = Host::new(Root::new(arguments.root.clone()));
    let facts = host.facts(&[], "unknown");
    print(&format!("{facts:#?}\n"))?;
    Ok(Exit::Success)
}
