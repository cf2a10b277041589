//! `ioproof host topology`.

use std::path::PathBuf;

use clap::Args;

use crate::console::exit::{Exit, Failure};
use crate::console::print;

/// `ioproof host topology`.
#[derive(Debug, Args)]
pub(crate) struct TopologyArguments {
    /// The description; docs/HOST.md lists its keys.
    #[arg(value_name = "FILE.toml")]
    file: PathBuf,
}

/// Draws what the file describes.
pub(crate) fn run(arguments: &TopologyArguments) -> Result<Exit, Failure> {
    let path = &arguments.file;
    let unreadable = |error: std::io::Error| {
        Failure::usage(format!("{} cannot be read ({error}): name a site description", path.display()))
    };
    let text = record::read_text(path).map_err(unreadable)?;
    let topology = plan::topology::read(path, &text).map_err(|error| Failure::new(Exit::Usage, *error))?;
    print(&report::topology(&topology)).map(|()| Exit::Success)
}
