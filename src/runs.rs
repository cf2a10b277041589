//! Opens one run, or several as one.

use std::path::PathBuf;

use record::Run;

use crate::exit::Failure;

/// Opens `paths`; several runs become one study.
pub(crate) fn open(paths: &[PathBuf]) -> Result<Run, Failure> {
    let mut runs = Vec::new();
    for path in paths {
        runs.push(Run::open(path)?);
    }
    match runs.len() {
        1 => Ok(runs.remove(0)),
        _ => Ok(record::merge(runs)?),
    }
}
