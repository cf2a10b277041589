//! Determines which files of the user a run will remove or overwrite, because it creates, writes or wipes
//! files with these names.
//!
//! Files made by ioproof do not count. A file was made by ioproof if an earlier start of this run has left a claim on
//! it, or if all of its sampled data bears the stamps of this program ([`engine::is_own_file`]). A claim of another
//! run is not sufficient, because the user may have created a file of the same name after that run was killed. A file
//! with several hard links, or one that cannot be read, always counts as the user's.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use host::files::require_data;
use plan::{Bytes, Case, Placement, Plan};
use record::{Holder, Leftover, named_files};

use crate::RunnerError;
use crate::files::paths::paths;
use crate::files::targets;
use crate::files::trees;

/// Total number of blocks sampled to determine the origin of files, which takes seconds on slow storage.
/// If there are many files, fewer are sampled in each, but at least [`PLACES_MIN`].
const PLACES: u64 = 4096;
/// Minimum per file: the first, the last and some in between.
const PLACES_MIN: u64 = 4;
/// Maximum number of items in a directory whose data is sampled, which takes a second. Only a benchmark has
/// more files with such names.
const ITEMS_MAX: usize = 10_000;

/// Existing files that a plan will write over, in a write, a fill, the preconditioning or a wipe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replaced {
    /// Number of files.
    pub files: usize,
    /// Their total size.
    pub bytes: Bytes,
    /// The first of them by name.
    pub first: PathBuf,
}

impl Replaced {
    /// The sum of both.
    pub(crate) fn with(self, other: Self) -> Self {
        let bytes = Bytes(self.bytes.0.saturating_add(other.bytes.0));
        Self { files: self.files + other.files, bytes, first: self.first }
    }
}

/// The existing files that a run overwrites, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct LostFiles {
    /// Files of the user.
    users: BTreeMap<PathBuf, FileState>,
    /// Files with data of this program.
    own: BTreeMap<PathBuf, FileState>,
}

/// State of a file when it was checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileState {
    bytes: u64,
    device: u64,
    inode: u64,
    changed: [(i64, i64); 2],
}

impl FileState {
    fn of(metadata: &Metadata) -> Self {
        let (bytes, device, inode) = (metadata.len(), metadata.dev(), metadata.ino());
        let changed = [(metadata.mtime(), metadata.mtime_nsec()), (metadata.ctime(), metadata.ctime_nsec())];
        Self { bytes, device, inode, changed }
    }
}

impl LostFiles {
    /// Summary of the user's files, or `None` if nothing is lost.
    pub(crate) fn together(&self) -> Option<Replaced> {
        let each = self.users.iter().map(|(path, seen)| Replaced {
            files: 1,
            bytes: Bytes(seen.bytes),
            first: path.clone(),
        });
        each.reduce(Replaced::with)
    }

    /// Rejects losses that were not `seen` in the same state when the user was asked.
    pub(crate) fn only_what_was(&self, seen: &Self) -> Result<(), RunnerError> {
        match self.users.iter().find(|(path, now)| seen.users.get(*path) != Some(now)) {
            None => Ok(()),
            Some((path, _)) => Err(RunnerError::Target {
                path: path.clone(),
                problem: "contains data that was not there when the files were checked".to_owned(),
                help: "move it away, or start again: its current content would be lost".to_owned(),
            }),
        }
    }
}

/// The files that `plan` replaces, except empty files and those made by ioproof, or `None` if nothing is lost.
/// `leftovers` are those of earlier starts of the same run.
#[must_use]
pub fn replaced(plan: &Plan, leftovers: &[Leftover]) -> Option<Replaced> {
    lost_files(plan, leftovers, &LostFiles::default()).together()
}

/// Implements [`replaced`]. Files that have not changed since `before` are not read again.
pub(crate) fn lost_files(plan: &Plan, leftovers: &[Leftover], before: &LostFiles) -> LostFiles {
    let gone = leftovers.iter().filter(|leftover| leftover.holder == Holder::Gone);
    let left: BTreeSet<PathBuf> =
        gone.flat_map(|leftover| &leftover.files).filter_map(|file| file.path.canonicalize().ok()).collect();
    let is_there = |case: &Case| case.layout.as_ref().is_none_or(|name| !begins_empty(plan, name));
    let present = || plan.cases.iter().filter(|case| case.workload.backend.moves_data() && is_there(case));
    let names: BTreeSet<PathBuf> = present()
        .filter(|case| writes(case) || case.workload.files.fill)
        .flat_map(|case| paths(case).into_iter().filter(|path| writes(case) || fills_over(case, path)))
        .chain(present().flat_map(items))
        .collect();
    let is_left = |path: &Path| path.canonicalize().is_ok_and(|path| left.contains(&path));
    let places = (PLACES / names.len().max(1) as u64).clamp(PLACES_MIN, engine::OWN_PLACES);
    let mut all = LostFiles::default();
    for path in names {
        let file = fs::metadata(&path).ok().filter(|metadata| metadata.is_file() && metadata.len() > 0);
        let Some(seen) = file.as_ref().map(FileState::of).filter(|_| !is_left(&path)) else { continue };
        let is_known = before.own.get(&path) == Some(&seen);
        let is_own = is_known || engine::is_own_file(&path, places).unwrap_or(false);
        if is_own { &mut all.own } else { &mut all.users }.insert(path, seen);
    }
    all
}

/// Whether the layout `name` of `plan` cannot contain files before the run creates it.
fn begins_empty(plan: &Plan, name: &str) -> bool {
    plan.layouts.iter().any(|layout| layout.name == name && !layout.recipe.may_hold_files())
}

/// Files with item names in directories of the user, if `case` creates and removes such items next to other
/// files. In a directory with one of our names, all files belong to a benchmark, and so do files with names
/// of objects.
fn items(case: &Case) -> Vec<PathBuf> {
    let in_target = trees::needs_target(case) || (trees::in_target(&case.workload) && trees::makes(case));
    if !in_target || !targets::writes(case) {
        return Vec::new();
    }
    // A directory that cannot be read is reported when the case starts.
    trees::roots(case).iter().flat_map(|root| named_files(root, ITEMS_MAX).unwrap_or_default()).collect()
}

/// Whether `case` overwrites its files regardless of their content, or removes them first. A fill, a mixed
/// phase and preconditioning write to the files in the same way as a write phase. Files lose their data
/// whether they are reused or recreated.
fn writes(case: &Case) -> bool {
    let protocol = &case.protocol;
    protocol.wipe || protocol.precondition > 0 || case.phases.iter().any(|phase| phase.writes())
}

/// Whether `case` fills the file at `path` because it does not contain the data that the case reads.
fn fills_over(case: &Case, path: &Path) -> bool {
    let reads = case.phases.iter().any(|phase| phase.needs_data());
    let bytes = Placement::new(&case.workload).file_bytes().get();
    case.workload.files.fill && reads && require_data(path, bytes).is_err()
}
