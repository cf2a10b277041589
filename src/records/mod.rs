//! Commands that read records or create some from others, and opening one run, or several as one.

pub(crate) mod check;
pub(crate) mod clean;
pub(crate) mod compare;
pub(crate) mod history;
pub(crate) mod import;
pub(crate) mod merge;
pub(crate) mod reference;
pub(crate) mod report;
pub(crate) mod schema;
pub(crate) mod sign;
pub(crate) mod verdict;

use std::path::PathBuf;

use record::Run;

use crate::console::exit::Failure;

/// Opens `paths`. Several runs are combined into one study.
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
