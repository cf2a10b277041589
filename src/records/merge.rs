//! `ioproof merge`: combines several runs into one record.

use std::path::PathBuf;

use clap::Args;

use crate::console::exit::{Exit, Failure};
use crate::console::{complain, print_line};
use crate::records;
use crate::records::unfinished::Unfinished;
use crate::run::session;

/// `ioproof merge`.
#[derive(Debug, Args)]
pub(crate) struct MergeArguments {
    /// Directory for the merged record; it must be empty or not exist.
    #[arg(value_name = "OUT")]
    out: PathBuf,
    /// The runs to merge; they are not changed.
    #[arg(value_name = "RUNDIR", required = true)]
    runs: Vec<PathBuf>,
}

/// Merges the runs into a new record. The originals are not changed.
pub(crate) fn run(arguments: &MergeArguments) -> Result<Exit, Failure> {
    let merged = records::open(&arguments.runs)?;
    let unfinished = Unfinished::beside(&arguments.out, &session::run_id(jiff::Timestamp::now(), "merge"))?;
    let place = record::write_merged(&merged, &[], unfinished.path())?;
    unfinished.finish(&place)?;
    let late = merged.late_damage();
    for damage in merged.damage.iter().chain(&late) {
        complain(&format!("warning: {damage}"));
    }
    let (cases, parts) = (merged.manifest.plan.cases.len(), arguments.runs.len());
    print_line(&format!("{parts} runs with {cases} cases were merged into {}", arguments.out.display()))?;
    // Some data that could be read at first could not be read again.
    records::exit(&merged, if late.is_empty() { Exit::Success } else { Exit::Record })
}
