//! What ended runs left below a directory, as their claims say, and its removal.

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
use crate::cleanup::claim::{Claim, ClaimedFile, ClaimedTree, Holder, PREFIX, SUFFIX, is_below, may_be_tree};
use crate::cleanup::sweep::{SweepResult, first_named, sweep_entry, sweep_names, sweep_names_in};
use crate::events::recorder::now_unix_ns;
use crate::files::directory::{self, DirectoryEntry};

/// A file that a run left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftoverFile {
    /// Where it is.
    pub path: PathBuf,
    /// Its length.
    pub bytes: u64,
    /// Device and inode: another file that has come into its place since is not removed.
    identity: (u64, u64),
}

impl LeftoverFile {
    /// Removes the file below `directory`, if it is the one that was found: its name is looked up again, through real
    /// directories only.
    fn remove(&self, directory: &Path, owner: u32) -> io::Result<()> {
        let below = self.path.strip_prefix(directory).unwrap_or(&self.path);
        let is_gone = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
        let entry = match DirectoryEntry::of(directory, below, false) {
            Err(error) if is_gone(&error) => return Ok(()),
            entry => entry?,
        };
        let stat = match statat(&entry.directory, entry.name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => return Ok(()),
            stat => stat?,
        };
        let is_regular = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
        if !is_regular || stat.st_uid != owner || (stat.st_dev, stat.st_ino) != self.identity {
            let changed = "another file has come into its place since it was found";
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
    /// Its root.
    pub root: PathBuf,
    /// The same below the directory of the claim.
    relative: PathBuf,
    /// Only entries with the program's names in the root belong to the run; the root stays.
    pub names_only: bool,
    /// The user of the claim: nothing of others is removed.
    owner: u32,
}

impl LeftoverTree {
    fn sweep(&self, directory: &Path) -> Result<SweepResult, RecordError> {
        let owner = Some(self.owner);
        if self.relative.as_os_str().is_empty() {
            return sweep_names(&self.root, owner);
        }
        let unreadable = |error| RecordError::target("look at", &self.root)(error);
        let entry = match DirectoryEntry::of(directory, &self.relative, false) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(SweepResult::default()),
            entry => entry.map_err(unreadable)?,
        };
        match self.names_only {
            true => sweep_names_in(&entry.open_directory().map_err(unreadable)?, &self.root, owner),
            false => sweep_entry(&entry, &self.root, owner),
        }
    }
}

/// What a run left below one directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leftover {
    /// The claim.
    pub claim: Claim,
    /// Where it stands.
    pub claim_path: PathBuf,
    /// Whether the run goes on.
    pub holder: Holder,
    /// Files that the run made and that are still there.
    pub files: Vec<LeftoverFile>,
    /// Trees that the run made and that are still there.
    pub trees: Vec<LeftoverTree>,
    /// Files and trees that the run made and was asked to keep: they are not removed.
    pub kept: Vec<PathBuf>,
    /// Files and trees that the run made and that another run, which goes on, is using.
    pub in_use: Vec<PathBuf>,
    /// The user of the claim.
    owner: u32,
}

/// The claims in `directory`, each with what is left of its files. What several ended runs have claimed is
/// left by the last of them. A file with the name but not the content of a claim is left alone.
///
/// # Errors
/// The directory cannot be read.
pub fn leftovers(directory: &Path) -> Result<Vec<Leftover>, RecordError> {
    let mut found = Vec::new();
    let entries = fs::read_dir(directory).map_err(|error| match error.kind() {
        // It was named wrongly.
        io::ErrorKind::NotFound => RecordError::io("read", directory)(error),
        _ => RecordError::target("read", directory)(error),
    })?;
    for entry in entries {
        let entry = entry.map_err(RecordError::target("read", directory))?;
        let name = entry.file_name();
        if name.to_str().is_some_and(|name| name.starts_with(PREFIX) && name.ends_with(SUFFIX))
            && let Some((claim, owner)) = read_claim(&entry.path())?
        {
            let (claim_path, holder) = (entry.path(), claim.holder());
            let (files, trees, kept, in_use) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
            found.push(Leftover { claim, claim_path, holder, files, trees, kept, in_use, owner });
        }
    }
    // Newest first: it made what stands there under a name that an earlier one has claimed, too.
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

/// The claim at `path` and the user that owns it; nothing where another file has such a name. What a device does not
/// give back may be a claim.
fn read_claim(path: &Path) -> Result<Option<(Claim, u32)>, RecordError> {
    let Some(directory) = path.parent() else { return Ok(None) };
    match directory::read(directory, path, CLAIM_BYTES) {
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

/// The file `claimed` below `directory`, if the run made it and the claim may cover it: a regular file of the
/// claim's owner, reached through real directories only.
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

/// What is left of `tree` below `directory`, if the claim may cover it: a real directory of the claim's
/// owner, or entries with the program's names in one.
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

/// Whether every directory between `directory` and `relative` is one, and no link to one.
fn reached_without_links(directory: &Path, relative: &Path) -> bool {
    relative
        .ancestors()
        .skip(1)
        .filter(|part| !part.as_os_str().is_empty())
        .all(|part| fs::symlink_metadata(directory.join(part)).is_ok_and(|metadata| metadata.is_dir()))
}

impl Leftover {
    /// Finds what is left below `directory`, without what other runs use or have `taken`.
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

    /// Where the claim stands.
    fn directory(&self) -> &Path {
        self.claim_path.parent().unwrap_or(Path::new("."))
    }

    /// Whether the claim is this user's: anybody can write one with the name of a run of others.
    #[must_use]
    pub fn is_of_this_user(&self) -> bool {
        self.owner == rustix::process::geteuid().as_raw()
    }

    /// Bytes of the files that are left.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }

    /// How long ago its run began.
    #[must_use]
    pub fn age(&self) -> Duration {
        let age_ns = now_unix_ns().saturating_sub(self.claim.started_unix_ns);
        Duration::from_nanos(u64::try_from(age_ns).unwrap_or_default())
    }

    /// Removes the files, the trees, the run's own directories if empty, and the claim. Files that existed
    /// before the run, links and files of other users stay; so do foreign entries in a tree, which are
    /// reported. The claim stays while something of the run does: [`SweepResult::held`], or
    /// [`Leftover::in_use`].
    ///
    /// # Errors
    /// The run is in progress or was made on another node, or a file cannot be removed; the claim then stays,
    /// so that the rest can be removed later.
    pub fn remove(&self) -> Result<SweepResult, RecordError> {
        self.remove_unless(|holder| holder != Holder::Gone)
    }

    /// Like [`Leftover::remove`], also for another node. For a user who confirmed that the run is over, and
    /// for the next start of that run itself.
    ///
    /// # Errors
    /// The run can be seen to go on, or a file cannot be removed; the claim then stays.
    pub fn remove_unseen(&self) -> Result<SweepResult, RecordError> {
        self.remove_unless(|holder| holder == Holder::Alive)
    }

    /// Removes the trees alone.
    ///
    /// # Errors
    /// Something cannot be removed.
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
                    Holder::Elsewhere => "may still be going on",
                    Holder::Alive | Holder::Gone => "is still going on",
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
        }
        Ok(sweep)
    }

    /// Removes the directories that the run made for its files, if nothing is in them; returns those that stay,
    /// without those of files that are kept or in use.
    pub fn remove_directories(&self) -> Vec<PathBuf> {
        let directory = self.directory();
        let made = self.claim.directories.iter();
        let made = made.filter(|made| !made.existed && is_below(&made.path));
        let mut made: Vec<&PathBuf> =
            made.map(|made| &made.path).filter(|path| reached_without_links(directory, path)).collect();
        // Inner directories first; one that is not empty, or a link, is refused by the kernel and stays.
        made.sort_by_key(|path| std::cmp::Reverse(path.components().count()));
        let removed = |path: &PathBuf| {
            let below = path.strip_prefix(directory).unwrap_or(path);
            DirectoryEntry::of(directory, below, false)
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
