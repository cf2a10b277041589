//! `ioproof verdict`: compares the commitments of a study with the results.

use std::path::Path;

use report::{Screen, Study};

use crate::arguments::VerdictArguments;
use crate::console::exit::{Exit, Failure};
use crate::console::{complain, print, print_line, screen};
use crate::records;
use crate::records::report::Output;

/// Prints a verdict for each commitment. The exit code says whether all were kept.
pub(crate) fn run(arguments: &VerdictArguments) -> Result<Exit, Failure> {
    let run = records::open(&arguments.runs)?;
    let study = Study::of(&run);
    match &arguments.sheet {
        None if arguments.json => print(&study.verdicts_json())?,
        None => print(&study.verdicts(screen()))?,
        // If there are no commitments, the table says so.
        Some(_) if !study.promises() => print(&study.verdicts(screen()))?,
        Some(None) => print(&study.sheet(screen()).unwrap_or_default())?,
        Some(Some(path)) => {
            let sheet = sheet(&study, path).unwrap_or_default();
            Output::new(&arguments.runs, path)?.write(path, |out| Ok(out.write_all(sheet.as_bytes())?))?;
            Output::done(path).map_or(Ok(()), |done| print_line(&done))?;
        }
    }
    explain(&study);
    records::exit(&run, exit(&study))
}

/// The sheet in the format given by the extension of `path`, or as text by default.
fn sheet(study: &Study<'_>, path: &Path) -> Option<String> {
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("html" | "htm") => study.sheet_html(),
        Some("md") => study.sheet_markdown(),
        _ => study.sheet(Screen::PLAIN),
    }
}

/// Returns success if every commitment was kept, or if there are none. A simulated run never keeps a commitment,
/// whatever its figures: a script that accepts a delivery by the exit code must not mistake a model for the storage.
pub(crate) fn exit(study: &Study<'_>) -> Exit {
    if study.kept() || !study.promises() { Exit::Success } else { Exit::NotKept }
}

/// Explains on standard error why a simulated run keeps no commitment.
pub(crate) fn explain(study: &Study<'_>) {
    if study.is_simulated() && study.promises() {
        complain(
            "the run is simulated, so it keeps no commitment: run the study on the storage, without --model; the \
             table, and `would_be_kept` of `ioproof verdict --json`, show what the model would keep",
        );
    }
}
