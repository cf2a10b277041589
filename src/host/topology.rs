//! `ioproof host topology`.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::console::{print, print_line};
use crate::exit::{Exit, Failure};

/// `ioproof host topology`.
#[derive(Debug, Args)]
pub(crate) struct TopologyArguments {
    /// The description; docs/HOST.md lists its keys.
    #[arg(value_name = "FILE.toml")]
    file: PathBuf,
    /// Write the diagram as a picture, by the end of the name as SVG or as a page.
    #[arg(long, value_name = "FILE.svg|FILE.html")]
    output: Option<PathBuf>,
}

/// Draws what the file describes.
pub(crate) fn run(arguments: &TopologyArguments) -> Result<Exit, Failure> {
    let path = &arguments.file;
    let unreadable = |error: std::io::Error| {
        Failure::usage(format!("{} cannot be read ({error}): name a description of a site", path.display()))
    };
    let text = record::read_text(path).map_err(unreadable)?;
    let topology = plan::topology::read(path, &text).map_err(|error| Failure::new(Exit::Usage, *error))?;
    let Some(output) = &arguments.output else {
        return print(&report::topology(&topology)).map(|()| Exit::Success);
    };
    let picture = match output.extension().and_then(|end| end.to_str()) {
        Some("svg") => report::topology_svg(&topology),
        Some("html" | "htm") => report::topology_page(&topology),
        _ => {
            let message = format!("{} ends neither in .svg nor in .html", output.display());
            return Err(Failure::usage(message));
        }
    };
    write(output, &picture)?;
    print(&report::topology(&topology))?;
    print_line(&output.display().to_string()).map(|()| Exit::Success)
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    std::fs::write(path, text).map_err(|error| {
        Failure::new(Exit::Record, anyhow::anyhow!("cannot write {}: {error}", path.display()))
    })
}
