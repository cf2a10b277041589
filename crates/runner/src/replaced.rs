//! Files of the user that a run will remove or write over, since it makes files of these names itself,
//! writes into them or wipes.
//!
//! A file that ioproof has made is not the user's: a killed run has left word of it, or all of its data that
//! is looked at bears the stamps of this program ([`engine::is_own_file`]). A file with several names is
//! somebody's whatever it holds, and so is one that cannot be read.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use host::files::require_data;
use plan::{Backend, Bytes, Case, Placement, Plan};
use record::{Holder, Leftover, named_files};

use crate::cleanup::paths;
use crate::{RunnerError, check, trees};

/// Places of all files that are read to know whose they are: seconds on storage that takes its time. Of many
/// files each has fewer, but no less than [`PLACES_MIN`].
const PLACES: u64 = 4096;
/// The first, the last and some between.
const PLACES_MIN: u64 = 4;
/// Of so many items in a directory the data are looked at, which takes a second; nobody but a benchmark has
/// more files of such names.
const ITEMS_MAX: usize = 10_000;

/// What stands where a plan writes its files: by a write, a fill, the preconditioning or a wipe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replaced {
    /// How many files it is.
    pub files: usize,
    /// What they hold together.
    pub bytes: Bytes,
    /// The first by name.
    pub first: PathBuf,
}

impl Replaced {
    /// What is lost here and there.
    pub(crate) fn with(self, other: Self) -> Self {
        let bytes = Bytes(self.bytes.0.saturating_add(other.bytes.0));
        Self { files: self.files + other.files, bytes, first: self.first }
    }
}

/// The files that a run takes, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Lost {
    /// Those of the user.
    users: BTreeMap<PathBuf, Seen>,
    /// Those that hold data of this program.
    own: BTreeMap<PathBuf, Seen>,
}

/// A file as it was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Seen {
    bytes: u64,
    device: u64,
    inode: u64,
    changed: [(i64, i64); 2],
}

impl Seen {
    fn of(metadata: &Metadata) -> Self {
        let (bytes, device, inode) = (metadata.len(), metadata.dev(), metadata.ino());
        let changed = [(metadata.mtime(), metadata.mtime_nsec()), (metadata.ctime(), metadata.ctime_nsec())];
        Self { bytes, device, inode, changed }
    }
}

impl Lost {
    /// All of them together; none where nothing is lost.
    pub(crate) fn together(&self) -> Option<Replaced> {
        let each = self.users.iter().map(|(path, seen)| Replaced {
            files: 1,
            bytes: Bytes(seen.bytes),
            first: path.clone(),
        });
        each.reduce(Replaced::with)
    }

    /// Refuses what is lost by now and was not `seen` as it is when the user was asked.
    pub(crate) fn only_what_was(&self, seen: &Self) -> Result<(), RunnerError> {
        match self.users.iter().find(|(path, now)| seen.users.get(*path) != Some(now)) {
            None => Ok(()),
            Some((path, _)) => Err(RunnerError::Target {
                path: path.clone(),
                problem: "holds data that were not there when the files were checked".to_owned(),
                help: "move it away, or start again: what it holds now would be lost".to_owned(),
            }),
        }
    }
}

/// What `plan` replaces, without empty files and those that ioproof has made; none where nothing is lost.
#[must_use]
pub fn replaced(plan: &Plan, leftovers: &[Leftover]) -> Option<Replaced> {
    lost(plan, leftovers, &Lost::default()).together()
}

/// See [`replaced`]. Files that are as they were `before` are not read again.
pub(crate) fn lost(plan: &Plan, leftovers: &[Leftover], before: &Lost) -> Lost {
    let gone = leftovers.iter().filter(|leftover| leftover.holder == Holder::Gone);
    let left: BTreeSet<PathBuf> =
        gone.flat_map(|leftover| &leftover.files).filter_map(|file| file.path.canonicalize().ok()).collect();
    let is_there = |case: &Case| case.layout.as_ref().is_none_or(|name| !begins_empty(plan, name));
    let real = || plan.cases.iter().filter(|case| case.workload.backend != Backend::Null && is_there(case));
    let names: BTreeSet<PathBuf> = real()
        .filter(|case| writes(case) || case.workload.files.fill)
        .flat_map(|case| paths(case).into_iter().filter(|path| writes(case) || fills_over(case, path)))
        .chain(real().flat_map(items))
        .collect();
    let is_left = |path: &Path| path.canonicalize().is_ok_and(|path| left.contains(&path));
    let places = (PLACES / names.len().max(1) as u64).clamp(PLACES_MIN, engine::OWN_PLACES);
    let mut all = Lost::default();
    for path in names {
        let file = fs::metadata(&path).ok().filter(|metadata| metadata.is_file() && metadata.len() > 0);
        let Some(seen) = file.as_ref().map(Seen::of).filter(|_| !is_left(&path)) else { continue };
        let is_known = before.own.get(&path) == Some(&seen);
        let is_own = is_known || engine::is_own_file(&path, places).unwrap_or(false);
        if is_own { &mut all.own } else { &mut all.users }.insert(path, seen);
    }
    all
}

/// Whether there is no file on the layout `name` of `plan` before it is made for the run.
fn begins_empty(plan: &Plan, name: &str) -> bool {
    plan.layouts.iter().any(|layout| layout.name == name && !layout.recipe.may_hold_files())
}

/// The files that bear names of items in directories of the user, where `case` makes and removes such items
/// beside other things. In a directory that bears a name of ours all of that is a benchmark's.
fn items(case: &Case) -> Vec<PathBuf> {
    if !trees::in_target(&case.workload) || !check::writes(case) {
        return Vec::new();
    }
    // One that cannot be read is told when the case begins.
    trees::roots(case).iter().flat_map(|root| named_files(root, ITEMS_MAX).unwrap_or_default()).collect()
}

/// Whether `case` writes its files, whatever they hold, or removes them before. A fill, a mixed phase and
/// the preconditioning write into the files as a write phase does; files that are reused lose their data as
/// those do that are made anew.
fn writes(case: &Case) -> bool {
    let protocol = &case.protocol;
    protocol.wipe || protocol.precondition > 0 || case.phases.iter().any(|phase| phase.writes())
}

/// Whether `case` fills the file at `path` because it does not hold what the case will read.
fn fills_over(case: &Case, path: &Path) -> bool {
    let reads = case.phases.iter().any(|phase| phase.needs_data());
    let bytes = Placement::new(&case.workload).file_bytes().get();
    case.workload.files.fill && reads && require_data(path, bytes).is_err()
}
