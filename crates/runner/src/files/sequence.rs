//! The claim of a sequence of plans that leave files for each other, such as the phases of IO500.

use std::path::{Path, PathBuf};

use plan::{Case, Keep};
use record::{PlacedClaim, TargetClaim};

use crate::RunnerError;
use crate::files::paths::{absolute, absolute_path, paths};
use crate::files::targets::own_directories;
use crate::files::trees;

/// Claims in `directory` what `cases` create below it, and the `directories` that are made for them. The claim
/// covers what the plan of each case would no longer claim once it has ended; the run of each plan is a part of the
/// sequence, with a name like `NAME.part`, so that the claim does not stop it. `levels_made` directories, `directory`
/// and those above it, were created for the sequence. `run` is the name of the sequence, the directory of its records
/// and the time when it began; `node` is the name of this node.
///
/// # Errors
/// Errors if the directory cannot be written.
pub fn claim_sequence(
    (directory, levels_made): (&Path, u32),
    cases: &[Case],
    directories: &[PathBuf],
    (run_id, run_directory, started_unix_ns): (&str, &Path, i64),
    node: &str,
) -> Result<PlacedClaim, RunnerError> {
    let files = absolute(cases.iter().flat_map(paths))?;
    let directories = absolute(cases.iter().flat_map(own_directories).chain(directories.iter().cloned()))?;
    let roots = cases.iter().flat_map(trees::claimed);
    let roots = roots.map(|(root, beside)| Ok((absolute_path(&root)?, beside)));
    let roots: Vec<(PathBuf, bool)> = roots.collect::<Result<_, RunnerError>>()?;
    let run_directory = absolute_path(run_directory)?;
    let claim = TargetClaim::new(run_id, &run_directory, started_unix_ns, Keep::Never, node)?;
    let claim = TargetClaim { levels_made, ..claim };
    Ok(claim.with_trees(&roots).place(&[absolute_path(directory)?], &files, &directories)?)
}
