//! Paths of the files that a case uses.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use plan::Case;

use crate::RunnerError;

/// Number of file sets that a case touches in all of its passes.
pub(crate) fn sets(case: &Case) -> u32 {
    if case.workload.files.file_per_repetition { case.passes_max() } else { 1 }
}

/// Every file that a case uses in any pass; empty for trees, whose files are not listed.
pub(crate) fn paths(case: &Case) -> Vec<PathBuf> {
    (0..sets(case)).flat_map(|set| case.workload.listed_files(set)).map(|slot| slot.path).collect()
}

/// The directory of a target: its parent, or `.` if the target is a bare name.
pub(crate) fn directory_of(target: &Path) -> PathBuf {
    match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// The absolute paths, without duplicates.
pub(crate) fn absolute(paths: impl IntoIterator<Item = PathBuf>) -> Result<Vec<PathBuf>, RunnerError> {
    let mut all = BTreeSet::new();
    for path in paths {
        all.insert(absolute_path(&path)?);
    }
    Ok(all.into_iter().collect())
}

/// `path` as an absolute path.
pub(crate) fn absolute_path(path: &Path) -> Result<PathBuf, RunnerError> {
    let full = std::path::absolute(path).map_err(RunnerError::file("resolve", path))?;
    // Drops `.` components, so that names can be compared as the file system sees them.
    Ok(full.components().collect())
}

/// Whether `path` is a block device or a link to one.
pub(crate) fn leads_to_device(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| metadata.file_type().is_block_device())
}
