//! `ioproof history`: prints the last operations of a run one by one.

use std::path::PathBuf;

use clap::Args;
use report::{History, HistorySelection};

use crate::arguments::values;
use crate::console::exit::{Exit, Failure};
use crate::console::{print, screen};
use crate::records;

/// `ioproof history`.
#[derive(Debug, Args)]
pub(crate) struct HistoryArguments {
    /// Directory of a run that was measured with --history N, or of an imported I/O history.
    #[arg(value_name = "RUNDIR")]
    run: PathBuf,
    /// Show only this case.
    #[arg(value_name = "CASE")]
    case: Option<String>,
    /// Show only the last N operations of each phase.
    #[arg(long, value_name = "N")]
    last: Option<std::num::NonZeroUsize>,
    /// Show only this phase, for example `read` or `file-create`.
    #[arg(long, value_name = "PHASE", value_parser = values::phase)]
    phase: Option<plan::Phase>,
    /// Print comma-separated values with all columns of the record.
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    /// Print as JSON.
    #[arg(long)]
    json: bool,
}

/// Prints the requested operations.
pub(crate) fn run(arguments: &HistoryArguments) -> Result<Exit, Failure> {
    let run = records::open(std::slice::from_ref(&arguments.run))?;
    let cases = run.cases();
    if let Some(case) = arguments.case.as_ref().filter(|case| !cases.iter().any(|id| *id == **case)) {
        let known: Vec<&str> = cases.iter().map(|id| &**id).collect();
        return Err(Failure::usage(format!("the run has no case `{case}`; it has {}", known.join(", "))));
    }
    let wanted = HistorySelection {
        case: arguments.case.clone(),
        phase: arguments.phase,
        last: arguments.last.map(|last| last.get()),
    };
    let history = History::of(&run, &wanted);
    if history.is_empty() {
        if run.manifest.provenance == record::Provenance::Simulated {
            return Err(Failure::usage("a model has no operations of a kernel, so that none were recorded"));
        }
        let what = "no operation of this selection was recorded; measure with --history N, or with \
                    `history = N` in a workload of the study";
        return Err(Failure::usage(what));
    }
    print(&match (arguments.csv, arguments.json) {
        (true, _) => history.csv(),
        (_, true) => history.json(),
        _ => history.text(screen()),
    })
    .and_then(|()| records::exit(&run, Exit::Success))
}
