//! `ioproof check`: finds implausible figures, whether measured or published.

use std::path::PathBuf;

use clap::Args;
use report::Study;

use crate::console::exit::{Exit, Failure};
use crate::console::{print, screen};
use crate::records;

/// `ioproof check`.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("whose").required(true).args(["runs", "published"]))]
pub(crate) struct CheckArguments {
    /// Run directories; several are treated as one study.
    #[arg(value_name = "RUNDIR")]
    runs: Vec<PathBuf>,
    /// Check the published figures instead.
    #[arg(long)]
    published: bool,
    /// Print as JSON.
    #[arg(long)]
    json: bool,
}

/// Prints doubtful figures by cause. The exit code says whether every measured figure is usable.
pub(crate) fn run(arguments: &CheckArguments) -> Result<Exit, Failure> {
    if arguments.published {
        let library = record::published();
        print(&match arguments.json {
            true => report::check_published_json(library),
            false => report::check_published(library),
        })?;
        return Ok(Exit::Success);
    }
    let run = records::open(&arguments.runs)?;
    let study = Study::of(&run);
    print(&if arguments.json { study.check_json() } else { study.check(screen()) })?;
    records::exit(&run, if study.withheld() == 0 { Exit::Success } else { Exit::NotKept })
}
