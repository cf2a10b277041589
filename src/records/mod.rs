//! Commands that read records or create some from others, and opening one run, or several as one.

pub(crate) mod check;
pub(crate) mod clean;
pub(crate) mod compare;
pub(crate) mod history;
pub(crate) mod import;
pub(crate) mod merge;
pub(crate) mod reference;
pub(crate) mod report;
pub(crate) mod runs;
pub(crate) mod schema;
pub(crate) mod sign;
pub(crate) mod unfinished;
pub(crate) mod verdict;

use std::path::{Path, PathBuf};

use record::{Damage, RecordError, Run, RunDirectory, SIGNATURE};

use crate::console::exit::{Exit, Failure};

/// Opens `paths`. Several runs are combined into one study.
pub(crate) fn open(paths: &[PathBuf]) -> Result<Run, Failure> {
    open_in(None, paths)
}

/// Like [`open`]; `place` is the only one of `paths`, held open.
pub(crate) fn open_in(place: Option<&RunDirectory>, paths: &[PathBuf]) -> Result<Run, Failure> {
    if let Some(place) = place {
        return one(place);
    }
    let mut runs = Vec::new();
    for path in paths {
        runs.push(one(path)?);
    }
    match runs.len() {
        1 => Ok(runs.remove(0)),
        _ => Ok(record::merge(runs)?),
    }
}

/// Opens the directory of a run and holds it.
pub(crate) fn hold(path: &Path) -> Result<RunDirectory, Failure> {
    RunDirectory::hold(path).map_err(|error| not_a_run(path, error))
}

/// Opens one run. If it is signed, it is compared with what was signed; a difference is damage, so nothing is stated
/// of it without a mark.
pub(crate) fn one(place: impl Into<RunDirectory>) -> Result<Run, Failure> {
    let place = place.into();
    let mut run = Run::open(&place).map_err(|error| not_a_run(place.path(), error))?;
    if let Some(doubt) = sign::doubt(&place)? {
        run.damage.push(Damage { path: place.path().join(SIGNATURE), what: doubt });
    }
    Ok(run)
}

/// The exit code of a command that has shown `run`, and would otherwise end with `exit`.
pub(crate) fn exit(run: &Run, exit: Exit) -> Result<Exit, Failure> {
    let signature =
        run.damage.iter().find(|damage| damage.path.file_name().is_some_and(|name| name == SIGNATURE));
    match signature {
        Some(damage) if matches!(exit, Exit::Success | Exit::NotKept | Exit::Untold) => {
            let directory = damage.path.parent().unwrap_or(Path::new("."));
            Err(sign::not_shown(&format!("{}: {}", directory.display(), damage.what)))
        }
        _ => Ok(exit),
    }
}

/// Says how to go on if `path` belongs to an interrupted IO500, which is no record yet.
fn not_a_run(path: &Path, error: RecordError) -> Failure {
    let is_missing = match &error {
        RecordError::NotARun { .. } => true,
        RecordError::Io { source, .. } => source.kind() == std::io::ErrorKind::NotFound,
        _ => false,
    };
    match unfinished::interrupted(path).filter(|_| is_missing) {
        Some(next) => {
            Failure::new(Exit::Record, anyhow::anyhow!("{} is not a record yet: {next}", path.display()))
        }
        None if is_missing && path.symlink_metadata().is_err() => {
            let path = path.display();
            let problem = anyhow::anyhow!(
                "{path} does not exist; name the directory of a run, which it prints at its end (by default one in \
                 ioproof-runs)"
            );
            Failure::new(Exit::Record, problem)
        }
        None => error.into(),
    }
}
