//! Removes trees by name. Entries that a run creates below its roots have names that [`plan::entry_type`] knows,
//! so a million files can be removed without a list of them, and no other files are removed.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use plan::{EntryType, entry_type};
use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat, statat, unlinkat};
use rustix::io::Errno;

use crate::RecordError;
use crate::files::directory::DirectoryEntry;

/// Maximum number of remaining entries that are listed.
const NAMED_MAX: usize = 8;
/// Maximum depth of a plan's trees (see `plan::TREE_DEPTH_MAX`), including an item below the lowest
/// level.
const LEVELS_MAX: u32 = plan::TREE_DEPTH_MAX + 3;

/// The result of a sweep.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SweepResult {
    /// Number of files and directories removed.
    pub removed: u64,
    /// The first entries that were kept because no run uses such names, or because another user owns
    /// them.
    pub foreign: Vec<PathBuf>,
    /// Total number of such entries.
    pub foreign_count: u64,
    /// Directories of the run that were kept because they contain entries of others.
    pub held: Vec<PathBuf>,
}

impl SweepResult {
    /// Adds the result of another sweep.
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

/// Removes entries with the program's names below `root`, and `root` itself if nothing else is in it. If `owner` is
/// given, only removes entries of that user. Links are never followed, even if somebody replaces a directory by a
/// link meanwhile: each name is removed relative to the directory that was opened.
///
/// # Errors
/// Errors if an own entry cannot be removed or a directory cannot be read. What was removed before that
/// stays removed.
pub fn sweep_tree(root: &Path, owner: Option<u32>) -> Result<SweepResult, RecordError> {
    let parent = root.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = root.file_name().map_or(Path::new("."), Path::new);
    match DirectoryEntry::of(&parent.into(), name, false) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(SweepResult::default()),
        entry => sweep_entry(&entry.map_err(RecordError::target("inspect", root))?, root, owner),
    }
}

/// Like [`sweep_tree`], for a root in an open directory.
pub(crate) fn sweep_entry(
    entry: &DirectoryEntry<'_>,
    root: &Path,
    owner: Option<u32>,
) -> Result<SweepResult, RecordError> {
    let mut result = SweepResult::default();
    let is_ours = |uid| owner.is_none_or(|owner| owner == uid);
    match statat(&entry.directory, entry.name, AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) => return Ok(result),
        Err(error) => return Err(RecordError::target("inspect", root)(error.into())),
        Ok(stat) if !is(&stat, FileType::Directory) || !is_ours(stat.st_uid) => {
            result.stays(root.to_owned());
            return Ok(result);
        }
        Ok(_) => {}
    }
    Sweep { owner, strangers: true, result: &mut result }.directory(&entry.directory, entry.name, root, 0)?;
    Ok(result)
}

/// Like [`sweep_tree`], for a `directory` that also contains other entries. The directory and these
/// entries are kept and not listed.
///
/// # Errors
/// Same as for [`sweep_tree`].
pub fn sweep_names(directory: &Path, owner: Option<u32>) -> Result<SweepResult, RecordError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    match rustix::fs::openat(CWD, directory, flags, Mode::empty()) {
        Err(Errno::NOENT) => Ok(SweepResult::default()),
        opened => {
            let opened = opened.map_err(|error| RecordError::target("read", directory)(error.into()))?;
            sweep_names_in(&opened.into(), directory, owner)
        }
    }
}

/// Like [`sweep_names`], for an open directory.
pub(crate) fn sweep_names_in(
    opened: &File,
    directory: &Path,
    owner: Option<u32>,
) -> Result<SweepResult, RecordError> {
    let mut result = SweepResult::default();
    Sweep { owner, strangers: false, result: &mut result }.entries(opened, directory, 0)?;
    Ok(result)
}

/// The first entry in `directory` with one of the program's names.
///
/// # Errors
/// Errors if the directory cannot be read.
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

/// The files that [`sweep_names`] would remove from `directory`, limited to `most` files.
///
/// # Errors
/// Errors if a directory cannot be read.
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
    /// Removes the directory `name` in `parent`, including the program's entries in it.
    fn directory(&mut self, parent: &File, name: &OsStr, path: &Path, level: u32) -> Result<(), RecordError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match rustix::fs::openat(parent, name, flags, Mode::empty()) {
            Ok(opened) => self.entries(&opened.into(), path, level)?,
            Err(Errno::NOENT) => return Ok(()),
            Err(error) => return Err(RecordError::target("read", path)(error.into())),
        }
        match unlinkat(parent, name, AtFlags::REMOVEDIR) {
            Ok(()) => {
                self.result.removed += 1;
                Ok(())
            }
            // It is kept because of foreign entries, which have been reported.
            Err(Errno::NOTEMPTY | Errno::EXIST | Errno::NOENT) => Ok(()),
            Err(error) => Err(RecordError::target("remove", path)(error.into())),
        }
    }

    /// Removes the program's entries in a directory. A file system may skip names while others are being
    /// removed, so the directory is read again until nothing more is found.
    fn entries(&mut self, directory: &File, path: &Path, level: u32) -> Result<(), RecordError> {
        let unreadable = |error: Errno| RecordError::target("read", path)(error.into());
        loop {
            let before = (self.result.removed, self.result.foreign_count, self.result.foreign.len());
            for entry in Dir::read_from(directory).map_err(unreadable)? {
                let entry = entry.map_err(unreadable)?;
                let name = OsStr::from_bytes(entry.file_name().to_bytes());
                if name != "." && name != ".." {
                    self.entry(directory, name, &path.join(name), level)?;
                }
            }
            if self.result.removed == before.0 {
                return Ok(());
            }
            self.result.foreign_count = before.1;
            self.result.foreign.truncate(before.2);
        }
    }

    fn entry(&mut self, directory: &File, name: &OsStr, path: &Path, level: u32) -> Result<(), RecordError> {
        let kind = name.to_str().and_then(entry_type);
        let stat = match statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => return Ok(()),
            stat => stat.map_err(|error| RecordError::target("inspect", path)(error.into()))?,
        };
        let is_ours = self.owner.is_none_or(|owner| owner == stat.st_uid);
        match kind {
            Some(EntryType::File) if is(&stat, FileType::RegularFile) && is_ours => {
                match unlinkat(directory, name, AtFlags::empty()) {
                    Ok(()) => self.result.removed += 1,
                    Err(Errno::NOENT) => {}
                    Err(error) => return Err(RecordError::target("remove", path)(error.into())),
                }
            }
            Some(EntryType::Directory) if is(&stat, FileType::Directory) && is_ours && level < LEVELS_MAX => {
                // An item is usually an empty directory.
                match unlinkat(directory, name, AtFlags::REMOVEDIR) {
                    Ok(()) => self.result.removed += 1,
                    Err(_) => {
                        Sweep { strangers: true, ..self.reborrow() }.directory(
                            directory,
                            name,
                            path,
                            level + 1,
                        )?;
                    }
                }
            }
            _ if self.strangers => self.result.stays(path.to_owned()),
            _ => {}
        }
        Ok(())
    }

    fn reborrow(&mut self) -> Sweep<'_> {
        Sweep { owner: self.owner, strangers: self.strangers, result: self.result }
    }
}

fn is(stat: &Stat, kind: FileType) -> bool {
    FileType::from_raw_mode(stat.st_mode) == kind
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
        fs::write(place.path().join("file.mdtest.0.0-XX"), "x").expect("made");
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
