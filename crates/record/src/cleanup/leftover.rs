//! Finds what ended runs have left below a directory, according to their claims, and removes it.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use plan::limits::CLAIM_BYTES;
use rustix::fs::{AtFlags, FileType, statat, unlinkat};
use rustix::io::Errno;

use crate::RecordError;
use crate::cleanup::claim::{
    ClaimedFile, ClaimedTree, Holder, PlacedClaim, TargetClaim, is_below, may_be_tree,
};
use crate::cleanup::names::{is_claim, is_temporary};
use crate::cleanup::sweep::{SweepResult, first_named, sweep_entry, sweep_names, sweep_names_in};
use crate::events::recorder::now_unix_ns;
use crate::files::directory::{self, DirectoryEntry};

/// A file that a run left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftoverFile {
    /// Its path.
    pub path: PathBuf,
    /// Its length in bytes.
    pub bytes: u64,
    /// Device and inode. If another file has taken its place since, it is not removed.
    identity: (u64, u64),
}

impl LeftoverFile {
    /// Removes the file below `directory` if it still is the one that was found. Its name is looked up again, only
    /// through real directories.
    fn remove(&self, directory: &Path, owner: u32) -> io::Result<()> {
        let below = self.path.strip_prefix(directory).unwrap_or(&self.path);
        let is_gone = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
        let entry = match DirectoryEntry::of(&directory.into(), below, false) {
            Err(error) if is_gone(&error) => return Ok(()),
            entry => entry?,
        };
        let stat = match statat(&entry.directory, entry.name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => return Ok(()),
            stat => stat?,
        };
        let is_regular = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
        if !is_regular || stat.st_uid != owner || (stat.st_dev, stat.st_ino) != self.identity {
            let changed = "another file has taken its place since it was found";
            return Err(io::Error::new(io::ErrorKind::InvalidData, changed));
        }
        match unlinkat(&entry.directory, entry.name, AtFlags::empty()) {
            Err(error) if error != Errno::NOENT => Err(error.into()),
            _ => Ok(()),
        }
    }
}

/// A tree that a run left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftoverTree {
    /// The path of its root.
    pub root: PathBuf,
    /// The root's path below the directory of the claim.
    relative: PathBuf,
    /// Whether only the entries in the root with the program's names belong to the run. The root is then
    /// kept.
    pub names_only: bool,
    /// The owner of the claim. Nothing of other users is removed.
    owner: u32,
}

impl LeftoverTree {
    fn sweep(&self, directory: &Path) -> Result<SweepResult, RecordError> {
        let owner = Some(self.owner);
        if self.relative.as_os_str().is_empty() {
            return sweep_names(&self.root, owner);
        }
        let unreadable = |error| RecordError::target("inspect", &self.root)(error);
        let entry = match DirectoryEntry::of(&directory.into(), &self.relative, false) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(SweepResult::default()),
            entry => entry.map_err(unreadable)?,
        };
        match self.names_only {
            true => sweep_names_in(&entry.open_directory().map_err(unreadable)?, &self.root, owner),
            false => sweep_entry(&entry, &self.root, owner),
        }
    }
}

/// What a run has left below a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leftover {
    /// The claim.
    pub claim: TargetClaim,
    /// The path of the claim.
    pub claim_path: PathBuf,
    /// Whether the run is still in progress.
    pub holder: Holder,
    /// Files that the run created and that still exist.
    pub files: Vec<LeftoverFile>,
    /// Trees that the run created and that still exist.
    pub trees: Vec<LeftoverTree>,
    /// Files and trees that the run created and was asked to keep. They are not removed.
    pub kept: Vec<PathBuf>,
    /// Files and trees that the run created and that another run, which is in progress, is using.
    pub in_use: Vec<PathBuf>,
    /// The owner of the claim.
    owner: u32,
}

/// The claims in `directory`, each with what is left of its files. If several ended runs have claimed the
/// same file, it is attributed to the last of them. A file with the name but not the content of a claim is
/// ignored.
///
/// # Errors
/// Errors if the directory cannot be read.
pub fn leftovers(directory: &Path) -> Result<Vec<Leftover>, RecordError> {
    let mut found = Vec::new();
    let entries = fs::read_dir(directory).map_err(|error| match error.kind() {
        // The user gave a wrong name.
        io::ErrorKind::NotFound => RecordError::io("read", directory)(error),
        _ => RecordError::target("read", directory)(error),
    })?;
    for entry in entries {
        let entry = entry.map_err(RecordError::target("read", directory))?;
        if is_claim(&entry.path())
            && let Some((claim, owner)) = read_claim(&entry.path())?
        {
            let (claim_path, holder) = (entry.path(), claim.holder());
            let (files, trees, kept, in_use) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
            found.push(Leftover { claim, claim_path, holder, files, trees, kept, in_use, owner });
        }
    }
    // Newest first, because the newest run has created what now exists under a name that an earlier run
    // has claimed as well.
    found.sort_by_key(|left| std::cmp::Reverse(left.claim.placed()));
    let all = |left: &Leftover| {
        let files = left.claim.files.iter().map(|file| file.path.clone());
        files.chain(left.claim.trees.iter().map(|tree| tree.path.clone())).collect::<Vec<_>>()
    };
    let in_use = found.iter().filter(|left| left.holder != Holder::Gone).flat_map(all).collect();
    let mut taken = BTreeSet::new();
    for left in &mut found {
        left.look(directory, &in_use, &mut taken);
    }
    found.sort_by(|a, b| a.claim_path.cmp(&b.claim_path));
    Ok(found)
}

/// The claims in `directory` that belong to this user, or to anyone if this is root, and cannot be interpreted: what their
/// runs have created is not known.
///
/// # Errors
/// Errors if the directory or a claim cannot be read.
pub fn unreadable_claims(directory: &Path) -> Result<Vec<PathBuf>, RecordError> {
    let mut found = Vec::new();
    let user = rustix::process::geteuid();
    for entry in fs::read_dir(directory).map_err(RecordError::target("read", directory))? {
        let path = entry.map_err(RecordError::target("read", directory))?.path();
        let is_own = |metadata: fs::Metadata| {
            metadata.is_file() && (user.is_root() || metadata.uid() == user.as_raw())
        };
        if is_claim(&path) && fs::symlink_metadata(&path).is_ok_and(is_own) && read_claim(&path)?.is_none() {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// `directory` and those directories below it that contain claims, temporary files, or a name that `is_wanted`. Other
/// file systems that are mounted there are left out, and so are directories that this user may not read.
///
/// # Errors
/// Errors if `directory` itself cannot be read.
pub fn claimed_directories(
    directory: &Path,
    is_wanted: impl Fn(&Path) -> bool,
) -> Result<Vec<PathBuf>, RecordError> {
    let device = fs::metadata(directory).map_err(RecordError::io("read", directory))?.dev();
    fs::read_dir(directory).map_err(RecordError::target("read", directory))?;
    let (mut found, mut left) = (vec![directory.to_owned()], vec![directory.to_owned()]);
    while let Some(here) = left.pop() {
        let mut has_any = false;
        for entry in fs::read_dir(&here).into_iter().flatten().flatten() {
            let path = entry.path();
            has_any |= is_claim(&path) || is_temporary(&path) || is_wanted(&path);
            let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_directory && entry.metadata().is_ok_and(|metadata| metadata.dev() == device) {
                left.push(path);
            }
        }
        if has_any && here != directory {
            found.push(here);
        }
    }
    found.sort();
    Ok(found)
}

/// The claim at `path` and its owner, or `None` if another file has such a name. If the file cannot be read because
/// of a device error, this is an error, since it may be a claim.
fn read_claim(path: &Path) -> Result<Option<(TargetClaim, u32)>, RecordError> {
    let Some(directory) = path.parent() else { return Ok(None) };
    match directory::read(&directory.into(), path, CLAIM_BYTES) {
        Ok(text) => {
            let claim = serde_json::from_slice(&text).ok();
            Ok(claim.zip(fs::symlink_metadata(path).ok().map(|metadata| metadata.uid())))
        }
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::IO.raw_os_error()) => {
            Err(RecordError::target("read", path)(error))
        }
        Err(_) => Ok(None),
    }
}

/// The file `claimed` below `directory`, provided that the run created it and the claim may cover it: it must
/// be a regular file owned by the owner of the claim, and only reached through real directories.
fn left_file(directory: &Path, claimed: &ClaimedFile, owner: u32) -> Option<LeftoverFile> {
    if !is_below(&claimed.path) || !reached_without_links(directory, &claimed.path) {
        return None;
    }
    let path = directory.join(&claimed.path);
    let metadata = fs::symlink_metadata(&path).ok()?;
    (metadata.is_file() && metadata.uid() == owner && claimed.is_made(&metadata)).then_some(LeftoverFile {
        path,
        bytes: metadata.len(),
        identity: (metadata.dev(), metadata.ino()),
    })
}

/// What is left of `tree` below `directory`, as far as the claim may cover it: a real directory owned by
/// the owner of the claim, or entries with the program's names in such a directory.
fn left_tree(directory: &Path, tree: &ClaimedTree, owner: u32) -> Option<LeftoverTree> {
    let ClaimedTree { path, existed, names_only, .. } = tree;
    if !may_be_tree(path, *names_only) || !reached_without_links(directory, path) {
        return None;
    }
    let root = if path.as_os_str().is_empty() { directory.to_owned() } else { directory.join(path) };
    let metadata = fs::symlink_metadata(&root).ok().filter(fs::Metadata::is_dir)?;
    let is_left = match names_only {
        true => first_named(&root).is_ok_and(|found| found.is_some()),
        false => !existed && metadata.uid() == owner,
    };
    is_left.then_some(LeftoverTree { root, relative: path.clone(), names_only: *names_only, owner })
}

/// Whether every component between `directory` and `relative` is a directory and not a link.
fn reached_without_links(directory: &Path, relative: &Path) -> bool {
    relative
        .ancestors()
        .skip(1)
        .filter(|part| !part.as_os_str().is_empty())
        .all(|part| fs::symlink_metadata(directory.join(part)).is_ok_and(|metadata| metadata.is_dir()))
}

impl Leftover {
    /// Finds what is left below `directory`, except what other runs use or have `taken`.
    fn look(&mut self, directory: &Path, in_use: &BTreeSet<PathBuf>, taken: &mut BTreeSet<PathBuf>) {
        let gone = self.holder == Holder::Gone;
        let mut is_own = |path: &PathBuf, place: &Path, kept: bool| {
            let is_in_use = gone && in_use.contains(path);
            if is_in_use && !kept {
                self.in_use.push(place.to_owned());
            }
            let is_own = !is_in_use && (!gone || taken.insert(path.clone()));
            if is_own && kept {
                self.kept.push(place.to_owned());
            }
            is_own && !kept
        };
        for claimed in &self.claim.files {
            let left = left_file(directory, claimed, self.owner);
            self.files.extend(left.filter(|left| is_own(&claimed.path, &left.path, claimed.kept)));
        }
        for claimed in &self.claim.trees {
            let left = left_tree(directory, claimed, self.owner);
            self.trees.extend(left.filter(|left| is_own(&claimed.path, &left.root, claimed.kept)));
        }
    }

    /// The directory that contains the claim.
    fn directory(&self) -> &Path {
        self.claim_path.parent().unwrap_or(Path::new("."))
    }

    /// Whether the claim belongs to this user. Anybody can write a claim with the name of another user's
    /// run.
    #[must_use]
    pub fn is_of_this_user(&self) -> bool {
        self.owner == rustix::process::geteuid().as_raw()
    }

    /// Makes this process the holder of the claim, because it continues that run.
    ///
    /// # Errors
    /// Errors if the claim cannot be written.
    pub fn take_over(&self) -> Result<PlacedClaim, RecordError> {
        self.claim.held_here(&self.claim_path)
    }

    /// Total size of the files that are left.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }

    /// Time since the run began.
    #[must_use]
    pub fn age(&self) -> Duration {
        let age_ns = now_unix_ns().saturating_sub(self.claim.started_unix_ns);
        Duration::from_nanos(u64::try_from(age_ns).unwrap_or_default())
    }

    /// Removes the files, the trees, the run's own directories if they are empty, and the claim. Files
    /// that existed before the run, links, and files of other users are kept; so are foreign entries in a
    /// tree, which are reported. The claim is kept as long as something of the run remains:
    /// [`SweepResult::held`], or [`Leftover::in_use`].
    ///
    /// # Errors
    /// Errors if the run is in progress or belongs to another node, or if a file cannot be removed. The claim
    /// is then kept, so that the rest can be removed later.
    pub fn remove(&self) -> Result<SweepResult, RecordError> {
        self.remove_unless(|holder| holder != Holder::Gone)
    }

    /// Like [`Leftover::remove`], but also for another node. Meant for a user who has confirmed that the
    /// run is over, and for the next start of that run itself.
    ///
    /// # Errors
    /// Errors if the run is known to be in progress, or if a file cannot be removed. The claim is then
    /// kept.
    pub fn remove_unseen(&self) -> Result<SweepResult, RecordError> {
        self.remove_unless(|holder| holder == Holder::Alive)
    }

    /// Removes only the trees.
    ///
    /// # Errors
    /// Errors if something cannot be removed.
    pub fn remove_trees(&self) -> Result<SweepResult, RecordError> {
        let mut sweep = SweepResult::default();
        for tree in &self.trees {
            sweep.add(tree.sweep(self.directory())?);
        }
        Ok(sweep)
    }

    fn remove_unless(&self, refused: fn(Holder) -> bool) -> Result<SweepResult, RecordError> {
        let directory = self.directory();
        let holder = self.claim.holder();
        if refused(holder) {
            return Err(RecordError::StillRunning {
                path: directory.to_path_buf(),
                run_id: self.claim.run_id.clone(),
                state: match holder {
                    Holder::Elsewhere => "may still be running",
                    Holder::Alive | Holder::Gone => "is still running",
                },
                pid: self.claim.pid,
                node: self.claim.node.clone(),
            });
        }
        for file in &self.files {
            file.remove(directory, self.owner).map_err(RecordError::target("remove", &file.path))?;
        }
        let mut sweep = self.remove_trees()?;
        let trees = self.claim.trees.iter().filter(|tree| !tree.kept);
        let trees = trees.filter_map(|tree| left_tree(directory, tree, self.owner));
        sweep.held.extend(trees.map(|tree| tree.root).filter(|root| !self.in_use.contains(root)));
        sweep.held.extend(self.remove_directories());
        if sweep.held.is_empty() && self.in_use.is_empty() {
            fs::remove_file(&self.claim_path).map_err(RecordError::target("remove", &self.claim_path))?;
            self.remove_levels();
        }
        Ok(sweep)
    }

    /// Removes the directories that were created for the claim, from its own upwards, as long as they are empty and
    /// belong to its owner.
    fn remove_levels(&self) {
        let is_own = |path: &&Path| {
            fs::symlink_metadata(path).is_ok_and(|found| found.is_dir() && found.uid() == self.owner)
        };
        let made = self.directory().ancestors().take(self.claim.levels_made as usize);
        for path in made.take_while(is_own) {
            if fs::remove_dir(path).is_err() {
                return;
            }
        }
    }

    /// Removes the directories that the run created for its files, if they are empty. Returns those that
    /// remain, except for directories of files that are kept or in use.
    pub fn remove_directories(&self) -> Vec<PathBuf> {
        let directory = self.directory();
        let made = self.claim.directories.iter();
        let made = made.filter(|made| !made.existed && is_below(&made.path));
        let mut made: Vec<&PathBuf> =
            made.map(|made| &made.path).filter(|path| reached_without_links(directory, path)).collect();
        // Inner directories first. The kernel refuses to remove a link or a directory that is not empty,
        // so these remain.
        made.sort_by_key(|path| std::cmp::Reverse(path.components().count()));
        let removed = |path: &PathBuf| {
            let below = path.strip_prefix(directory).unwrap_or(path);
            DirectoryEntry::of(&directory.into(), below, false)
                .is_ok_and(|entry| unlinkat(&entry.directory, entry.name, AtFlags::REMOVEDIR).is_ok())
        };
        let is_own = |path: &PathBuf| {
            fs::symlink_metadata(path).is_ok_and(|found| found.is_dir() && found.uid() == self.owner)
                && !self.kept.iter().chain(&self.in_use).any(|file| file.starts_with(path))
        };
        made.into_iter()
            .map(|path| directory.join(path))
            .filter(|path| !removed(path) && is_own(path))
            .collect()
    }
}
