//! `ioproof verdict`: compares the commitments of a study with the results.

use std::path::{Path, PathBuf};

use clap::Args;
use record::{Reference, Run, Sums};
use report::{Screen, Study};

use crate::console::exit::{Exit, Failure};
use crate::console::{complain, print, print_line, screen};
use crate::records;
use crate::records::report::Output;

/// `ioproof verdict`.
#[derive(Debug, Args)]
pub(crate) struct VerdictArguments {
    /// Run directories; several are treated as one study.
    #[arg(value_name = "RUNDIR", required = true)]
    runs: Vec<PathBuf>,
    /// Print as JSON.
    #[arg(long)]
    json: bool,
    /// Write a sheet for each commitment: what was fixed in advance, the evidence, what contradicts it, what could not
    /// be observed, and the judgement. It goes to the terminal, or to FILE in the format of its extension: .html, .md
    /// or text.
    #[arg(long, value_name = "FILE", num_args = 0..=1, conflicts_with = "json")]
    sheet: Option<Option<PathBuf>>,
    /// Judge the commitments to a part of what a reference run reached (reference_rate_at_least = "90 %") by this run.
    /// The sheet has the SHA-256 of its record.
    #[arg(long, value_name = "REFERENCE")]
    against: Option<PathBuf>,
}

/// Prints a verdict for each commitment. The exit code says whether all were kept.
pub(crate) fn run(arguments: &VerdictArguments) -> Result<Exit, Failure> {
    let mut run = records::open(&arguments.runs)?;
    if let Some(path) = &arguments.against {
        run.reference = Some(Box::new(reference(&run, path)?));
    }
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

/// The run of which commitments promise a part, with the hash of its record.
fn reference(run: &Run, path: &Path) -> Result<Reference, Failure> {
    if !run.manifest.plan.criteria.commitments.iter().any(|one| one.asked.amount().is_none()) {
        return Err(Failure::usage(
            "--against has no effect: the study has no commitment with one of the keys that begin with reference_, such \
             as reference_rate_at_least = \"90 %\"",
        ));
    }
    let place = records::hold(path)?;
    let reference = records::one(&place)?;
    let own: Vec<&str> = super::compare::ids(run).collect();
    if super::compare::ids(&reference).any(|id| own.contains(&id)) {
        return Err(Failure::usage(
            "the run is its own reference: name an earlier run, such as that of the acceptance",
        ));
    }
    if reference.manifest.provenance != run.manifest.provenance {
        let problem = "the run and its reference are not of one kind (measured, imported or simulated): name a reference \
                       that is";
        return Err(Failure::usage(problem));
    }
    let sha256 = Sums::of(&place, None)?.sha256();
    records::exit(&reference, Exit::Success)?;
    Ok(Reference { run: reference, sha256 })
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
