//! Removing trees by name: entries that a run creates below its roots have names that [`plan::entry_type`] knows,
//! so that a million files are removed without a list of them, and no others are.

use std::fs::{self, DirEntry};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use plan::{EntryType, entry_type};

use crate::RecordError;

/// Limit on remaining entries that are listed.
const NAMED_MAX: usize = 8;
/// No tree of a plan is deeper; see `plan::TREE_DEPTH_MAX`, and an item below its lowest level.
const LEVELS_MAX: u32 = plan::TREE_DEPTH_MAX + 3;

/// What a sweep did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SweepResult {
    /// Files and directories that are gone.
    pub removed: u64,
    /// The first entries left in place, because no run gives such names, or another user owns them.
    pub foreign: Vec<PathBuf>,
    /// How many those are.
    pub foreign_count: u64,
    /// Directories of the run that stay, since something of others is in them.
    pub held: Vec<PathBuf>,
}

impl SweepResult {
    /// Adds what another sweep did.
    pub fn add(&mut self, other: Self) {
        self.removed += other.removed;
        self.foreign_count += other.foreign_count;
        self.foreign.extend(other.foreign);
        self.foreign.truncate(NAMED_MAX);
        self.held.extend(other.held);
    }

    fn stays(&mut self, path: PathBuf) {
        self.foreign_count += 1;
        if self.foreign.len() < NAMED_MAX {
            self.foreign.push(path);
        }
    }
}

/// Removes entries with the program's names below `root`, and `root` itself if nothing else is in it. If
/// `owner` is given, only entries of that user. Links are never followed.
///
/// # Errors
/// An own entry cannot be removed, or a directory cannot be read; earlier removals remain.
pub fn sweep_tree(root: &Path, owner: Option<u32>) -> Result<SweepResult, RecordError> {
    let mut result = SweepResult::default();
    let is_ours = |uid| owner.is_none_or(|owner| owner == uid);
    match fs::symlink_metadata(root) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(result),
        Err(error) => return Err(RecordError::target("look at", root)(error)),
        Ok(metadata) if !metadata.is_dir() || !is_ours(metadata.uid()) => {
            result.stays(root.to_owned());
            return Ok(result);
        }
        Ok(_) => {}
    }
    Sweep { owner, strangers: true, result: &mut result }.directory(root, 0)?;
    Ok(result)
}

/// Like [`sweep_tree`], for a `directory` with other entries: it and they stay, unlisted.
///
/// # Errors
/// As [`sweep_tree`].
pub fn sweep_names(directory: &Path, owner: Option<u32>) -> Result<SweepResult, RecordError> {
    let mut result = SweepResult::default();
    Sweep { owner, strangers: false, result: &mut result }.entries(directory, 0)?;
    Ok(result)
}

/// The first entry in `directory` with one of the program's names.
///
/// # Errors
/// The directory cannot be read.
pub fn first_named(directory: &Path) -> Result<Option<PathBuf>, RecordError> {
    let entries = match fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        entries => entries.map_err(RecordError::target("read", directory))?,
    };
    for entry in entries {
        let entry = entry.map_err(RecordError::target("read", directory))?;
        if entry.file_name().to_str().is_some_and(|name| entry_type(name).is_some()) {
            return Ok(Some(entry.path()));
        }
    }
    Ok(None)
}

/// The files that [`sweep_names`] would remove from `directory`, but no more than `most` of them.
///
/// # Errors
/// A directory cannot be read.
pub fn named_files(directory: &Path, most: usize) -> Result<Vec<PathBuf>, RecordError> {
    let mut found = Vec::new();
    let mut left = vec![(directory.to_owned(), 0)];
    while let Some((here, level)) = left.pop() {
        let entries = match fs::read_dir(&here) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            entries => entries.map_err(RecordError::target("read", &here))?,
        };
        for entry in entries {
            let entry = entry.map_err(RecordError::target("read", &here))?;
            let Ok(file_type) = entry.file_type() else { continue };
            match entry.file_name().to_str().and_then(entry_type) {
                Some(EntryType::File) if file_type.is_file() && found.len() < most => {
                    found.push(entry.path())
                }
                Some(EntryType::Directory) if file_type.is_dir() && level < LEVELS_MAX => {
                    left.push((entry.path(), level + 1));
                }
                _ => {}
            }
            if found.len() == most {
                return Ok(found);
            }
        }
    }
    Ok(found)
}

struct Sweep<'a> {
    owner: Option<u32>,
    /// Whether remaining entries are reported.
    strangers: bool,
    result: &'a mut SweepResult,
}

impl Sweep<'_> {
    /// Removes `directory` with the program's entries in it.
    fn directory(&mut self, directory: &Path, level: u32) -> Result<(), RecordError> {
        self.entries(directory, level)?;
        match fs::remove_dir(directory) {
            Ok(()) => {
                self.result.removed += 1;
                Ok(())
            }
            // Foreign entries keep it, and have been reported.
            Err(error)
                if matches!(error.kind(), io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::NotFound) =>
            {
                Ok(())
            }
            Err(error) => Err(RecordError::target("remove", directory)(error)),
        }
    }

    /// Removes the program's entries in `directory`. A file system may skip names while others are removed:
    /// it is read again until nothing more is found.
    fn entries(&mut self, directory: &Path, level: u32) -> Result<(), RecordError> {
        loop {
            let before = (self.result.removed, self.result.foreign_count, self.result.foreign.len());
            let entries = match fs::read_dir(directory) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
                entries => entries.map_err(RecordError::target("read", directory))?,
            };
            for entry in entries {
                let entry = entry.map_err(RecordError::target("read", directory))?;
                self.entry(&entry, level)?;
            }
            if self.result.removed == before.0 {
                return Ok(());
            }
            self.result.foreign_count = before.1;
            self.result.foreign.truncate(before.2);
        }
    }

    fn entry(&mut self, entry: &DirEntry, level: u32) -> Result<(), RecordError> {
        let path = entry.path();
        let kind = entry.file_name().to_str().and_then(entry_type);
        let file_type = match entry.file_type() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            file_type => file_type.map_err(RecordError::target("look at", &path))?,
        };
        match kind {
            Some(EntryType::File) if file_type.is_file() && self.owns(&path) => {
                match fs::remove_file(&path) {
                    Ok(()) => self.result.removed += 1,
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                    Err(error) => return Err(RecordError::target("remove", &path)(error)),
                }
            }
            Some(EntryType::Directory) if file_type.is_dir() && self.owns(&path) && level < LEVELS_MAX => {
                // An item is empty, as a rule.
                match fs::remove_dir(&path) {
                    Ok(()) => self.result.removed += 1,
                    Err(_) => Sweep { strangers: true, ..self.reborrow() }.directory(&path, level + 1)?,
                }
            }
            _ if self.strangers => self.result.stays(path),
            _ => {}
        }
        Ok(())
    }

    fn reborrow(&mut self) -> Sweep<'_> {
        Sweep { owner: self.owner, strangers: self.strangers, result: self.result }
    }

    fn owns(&self, path: &Path) -> bool {
        self.owner.is_none_or(|owner| fs::symlink_metadata(path).is_ok_and(|found| found.uid() == owner))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::{first_named, sweep_names, sweep_tree};

    #[test]
    fn a_tree_goes_by_its_names() {
        let place = tempfile::tempdir().expect("a directory");
        let root = place.path().join("test-dir.0-0");
        let leaf = root.join("mdtest_tree.0/mdtest_tree.1");
        fs::create_dir_all(leaf.join("dir.mdtest.0.1")).expect("made");
        for item in 0..1000 {
            fs::write(leaf.join(format!("file.mdtest.0.{item}")), "x").expect("made");
        }
        let result = sweep_tree(&root, None).expect("swept");
        assert_eq!((result.removed, result.foreign_count), (1004, 0));
        assert!(!root.exists() && place.path().exists());
        assert_eq!(sweep_tree(&root, None).expect("nothing there"), super::SweepResult::default());
    }

    #[test]
    fn what_is_not_ours_stays_and_is_named() {
        let place = tempfile::tempdir().expect("a directory");
        let root = place.path().join("test-dir.0-0");
        let top = root.join("mdtest_tree.0");
        fs::create_dir_all(&top).expect("made");
        let outside = place.path().join("outside");
        fs::create_dir(&outside).expect("made");
        fs::write(outside.join("file.mdtest.0.0"), "x").expect("made");
        symlink(&outside, top.join("mdtest_tree.1")).expect("made");
        fs::write(top.join("notes.txt"), "x").expect("made");
        fs::write(top.join("file.mdtest.0.0"), "x").expect("made");
        fs::create_dir(top.join("file.mdtest.0.1")).expect("made");
        let result = sweep_tree(&root, None).expect("swept");
        assert_eq!((result.removed, result.foreign_count), (1, 3));
        let mut foreign = result.foreign;
        foreign.sort();
        assert_eq!(foreign, ["file.mdtest.0.1", "mdtest_tree.1", "notes.txt"].map(|name| top.join(name)));
        assert!(outside.join("file.mdtest.0.0").exists());
        assert!(top.join("notes.txt").exists() && !top.join("file.mdtest.0.0").exists());
    }

    #[test]
    fn names_go_from_a_directory_that_stays() {
        let place = tempfile::tempdir().expect("a directory");
        fs::write(place.path().join("file.mdtest.0.0-renamed"), "x").expect("made");
        fs::write(place.path().join("mine"), "x").expect("made");
        assert!(first_named(place.path()).expect("read").is_some());
        let result = sweep_names(place.path(), None).expect("swept");
        assert_eq!((result.removed, result.foreign_count), (1, 0));
        assert!(place.path().join("mine").exists());
        assert_eq!(first_named(place.path()).expect("read"), None);
    }

    #[test]
    fn what_another_user_owns_stays() {
        let place = tempfile::tempdir().expect("a directory");
        let root = place.path().join("test-dir.0-0");
        fs::create_dir(&root).expect("made");
        let result = sweep_tree(&root, Some(u32::MAX - 5)).expect("swept");
        assert_eq!((result.removed, result.foreign), (0, vec![root.clone()]));
        assert!(root.exists());
    }
}
