//! `ioproof host facts`.

use std::path::PathBuf;

use clap::Args;
use host::{Host, Root};

use crate::console::exit::{Exit, Failure};
use crate::console::{print, print_folded, screen};

/// `ioproof host facts`.
#[derive(Debug, Args)]
pub(crate) struct FactsArguments {
    /// Print as JSON; `ioproof schema host` describes it.
    #[arg(long)]
    json: bool,
    /// Read /proc, /sys and /etc below this directory, for example that of a support bundle.
    #[arg(long, value_name = "DIR", default_value = "/")]
    root: PathBuf,
}

/// Prints the facts.
pub(crate) fn run(arguments: &FactsArguments) -> Result<Exit, Failure> {
    let inventory = read(arguments)?;
    match arguments.json {
        true => print(&report::inventory_json(&inventory))?,
        false => print_folded(&report::inventory(&inventory, screen()))?,
    }
    Ok(Exit::Success)
}

fn read(arguments: &FactsArguments) -> Result<record::Inventory, Failure> {
    let path = &arguments.root;
    let unusable = |error: std::io::Error| {
        Failure::usage(format!(
            "{} cannot be read as the root of a host ({error}): name a directory that contains proc and sys",
            path.display()
        ))
    };
    let root = path.canonicalize().map_err(unusable)?;
    if !root.join("proc").is_dir() && !root.join("sys").is_dir() {
        return Err(Failure::usage(format!(
            "{} contains neither proc nor sys: name the directory that represents / of the host",
            path.display()
        )));
    }
    let root = Root::new(root);
    if root.is_system() {
        return Ok(Host::new(root).inventory(engine::clock_name()));
    }
    // The clock of this process does not describe the other host.
    Ok(Host::new(root).inventory("unknown: of another host"))
}
