//! What other tools printed, and where the time of a run went, in the words of a report.

use plan::Question;
use record::{Provenance, Run};

use crate::view::printed as view;

/// None where nothing of the run is imported.
pub(super) fn printed(run: &Run) -> Option<view::Printed> {
    let is_imported = |provenance: Provenance| provenance == Provenance::Imported;
    let any =
        is_imported(run.manifest.provenance) || run.parts.iter().any(|part| is_imported(part.provenance));
    if !any {
        return None;
    }
    let files = match &run.manifest.plan.question {
        Question::Import { files, .. } => files.iter().map(|file| file.display().to_string()).collect(),
        _ => Vec::new(),
    };
    let value = |row: &record::PrintedRow| view::PrintedValue {
        case: row.key.case.to_string(),
        phase: row.key.phase.name(),
        label: row.label.clone(),
        statistic: row.statistic.clone(),
        value: row.value.clone(),
        number: row.number,
        unit: row.unit.clone(),
        source: row.source.clone(),
        line: row.line,
    };
    let cases = run.manifest.plan.cases.iter();
    Some(view::Printed {
        files,
        values: cases.flat_map(|case| run.printed(&case.id).iter().map(value).collect::<Vec<_>>()).collect(),
    })
}

pub(super) fn run_time(run: &Run) -> Option<view::RunTime> {
    let time = analysis::run_time(run)?;
    let part = |&(name, seconds): &(&str, f64)| view::TimePart { name: name.to_owned(), seconds };
    Some(view::RunTime {
        parts: time.parts.iter().map(part).collect(),
        explained_seconds: time.explained_seconds(),
        wall_seconds: time.wall_seconds,
        unexplained_seconds: time.unexplained_seconds(),
        words: time.to_string(),
    })
}
