//! `ioproof verdict`: the commitments of a study against what was measured.

use report::Study;

use crate::arguments::RunsArguments;
use crate::console::{colour, print};
use crate::exit::{Exit, Failure};
use crate::runs;

/// Prints a verdict for each commitment; the exit code says whether all were kept.
pub(crate) fn run(arguments: &RunsArguments) -> Result<Exit, Failure> {
    let run = runs::open(&arguments.runs)?;
    let study = Study::of(&run);
    print(&if arguments.json { study.verdicts_json() } else { study.verdicts(colour()) })?;
    Ok(exit(&study))
}

/// Success only where there are commitments and every one was kept.
pub(crate) fn exit(study: &Study<'_>) -> Exit {
    if study.kept() { Exit::Success } else { Exit::NotKept }
}
