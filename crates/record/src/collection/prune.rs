//! Removes records of a collection: only what is certainly a sound record of this program, and nothing beside it.
//!
//! A record is first renamed to a hidden name, so that none is ever half there; a removal that was killed is recognised
//! by that name, and ended by the next one.

use std::ffi::{OsStr, OsString};
use std::fs::{File, TryLockError};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, statat, unlinkat};
use rustix::io::Errno;

use crate::collection::entry::{EntryState, RunEntry};
use crate::files::directory::{self, RunDirectory};
use crate::files::sums::{SIGNATURE, SUMS};
use crate::format::{JOURNAL, MANIFEST, PARTS};
use crate::table::tables::TABLES;
use crate::{RecordError, Run};

/// The ending of the hidden name of a record whose removal was begun.
const PRUNED: &str = ".pruned";

/// Whether `name` is that of a record whose removal was begun.
pub(crate) fn is_pruned(name: &str) -> bool {
    name.strip_prefix('.').and_then(|name| name.strip_suffix(PRUNED)).is_some_and(|name| !name.is_empty())
}

/// A record that may be removed, and stays locked: no run resumes it meanwhile.
#[derive(Debug)]
pub struct Removable {
    path: PathBuf,
    place: RunDirectory,
    _lock: File,
}

impl RunEntry {
    /// Checks that the record can be removed: it has ended by itself or by its user, is sound, and its directory has
    /// no files other than those of a record and those named in `also`.
    ///
    /// # Errors
    /// The reason why it stays.
    pub fn removable(&self, also: &[&str]) -> Result<Removable, String> {
        match &self.state {
            EntryState::Complete | EntryState::Interrupted => {}
            EntryState::Killed => return Err("it has no end: it may be running on another node".to_owned()),
            state => return Err(format!("it is {}", state.name())),
        }
        let told = |error: io::Error| RecordError::io("read", &self.path)(error).to_string();
        let place = open(&self.path).map_err(told)?;
        check_contents(&place, also)?;
        let lock = directory::open(&place, &place.join(JOURNAL)).map_err(told)?;
        if matches!(lock.try_lock(), Err(TryLockError::WouldBlock)) {
            return Err("another process is using it".to_owned());
        }
        let run = Run::open(&place).map_err(|error| error.to_string())?;
        if self.start.as_ref().is_none_or(|start| start.run_id != run.manifest.run_id) {
            return Err("it was replaced by another record".to_owned());
        }
        match run.damage.first() {
            Some(damage) => Err(format!("it is damaged: {damage}")),
            None => Ok(Removable { path: self.path.clone(), place, _lock: lock }),
        }
    }
}

impl Removable {
    /// Removes the record.
    ///
    /// # Errors
    /// Errors if it cannot be removed. It is then still in its place, or has a hidden name from which
    /// [`finish_removal`] removes it.
    pub fn remove(self, also: &[&str]) -> Result<(), RecordError> {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        let hidden = self.path.with_file_name(format!(".{name}{PRUNED}"));
        let place = self.place.rename(&hidden)?;
        remove_contents(&place, also)
    }
}

/// Removes what is left of a record at `path`, whose removal was begun. Files that no record has are kept.
///
/// # Errors
/// Errors if something in it cannot be removed, or is not part of a record.
pub fn finish_removal(path: &Path, also: &[&str]) -> Result<(), RecordError> {
    let place = open(path).map_err(RecordError::io("read", path))?;
    check_contents(&place, also).map_err(|why| RecordError::Unreadable {
        path: path.to_owned(),
        message: format!("it cannot be removed: {why}; move that away, then prune again"),
    })?;
    remove_contents(&place, also)
}

/// Opens the directory at `path`, whose name is not that of a link.
fn open(path: &Path) -> io::Result<RunDirectory> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = path.file_name().ok_or_else(|| {
        io::Error::new(io::ErrorKind::InvalidInput, "name the directory above it, and the record with --run")
    })?;
    RunDirectory::hold_below(&RunDirectory::hold(parent).map_err(io::Error::other)?, name)
}

/// What a name at the top of a record is.
fn kind_of(name: &str, also: &[&str]) -> Option<FileType> {
    match name {
        MANIFEST | JOURNAL | PARTS | SUMS | SIGNATURE => Some(FileType::RegularFile),
        _ if TABLES.contains(&name) => Some(FileType::Directory),
        _ => also.contains(&name).then_some(FileType::RegularFile),
    }
}

/// As `000001.parquet`.
fn is_table(name: &str) -> bool {
    const DIGITS: usize = 6;
    name.strip_suffix(".parquet")
        .is_some_and(|number| number.len() >= DIGITS && number.bytes().all(|digit| digit.is_ascii_digit()))
}

/// Says what in `place` is not part of a record.
fn check_contents(place: &RunDirectory, also: &[&str]) -> Result<(), String> {
    let foreign = |path: &Path| Err(format!("{} is not part of a record", path.display()));
    let told = |path: &Path| {
        let path = path.to_owned();
        move |error| RecordError::io("read", &path)(error).to_string()
    };
    let top = place.opened().map_err(told(place.path()))?;
    for (name, kind) in names(&top).map_err(told(place.path()))? {
        let path = place.join(&name);
        if name.to_str().and_then(|name| kind_of(name, also)) != Some(kind) {
            return foreign(&path);
        }
        if kind == FileType::Directory {
            let inside = directory::step_into(&top, &name, false).map_err(told(&path))?;
            for (file, kind) in names(&inside).map_err(told(&path))? {
                if !file.to_str().is_some_and(is_table) || kind != FileType::RegularFile {
                    return foreign(&path.join(file));
                }
            }
        }
    }
    Ok(())
}

/// The names in a directory, and what they are. No link is followed.
fn names(opened: &File) -> io::Result<Vec<(OsString, FileType)>> {
    let mut all = Vec::new();
    for entry in Dir::read_from(opened)? {
        let entry = entry?;
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        if name != "." && name != ".." {
            let stat = statat(opened, name, AtFlags::SYMLINK_NOFOLLOW)?;
            all.push((name.to_owned(), FileType::from_raw_mode(stat.st_mode)));
        }
    }
    Ok(all)
}

/// Removes the files of the record in `place`, and then its directory if nothing else is in it.
fn remove_contents(place: &RunDirectory, also: &[&str]) -> Result<(), RecordError> {
    let path = place.path();
    let remove = || -> io::Result<()> {
        let top = place.opened()?;
        for (name, kind) in names(&top)? {
            match name.to_str().and_then(|name| kind_of(name, also)) {
                Some(FileType::Directory) if kind == FileType::Directory => {
                    let inside = directory::step_into(&top, &name, false)?;
                    for (file, kind) in names(&inside)? {
                        if file.to_str().is_some_and(is_table) && kind == FileType::RegularFile {
                            gone(unlinkat(&inside, &file, AtFlags::empty()))?;
                        }
                    }
                    gone(unlinkat(&top, &name, AtFlags::REMOVEDIR))?;
                }
                Some(_) if kind == FileType::RegularFile => gone(unlinkat(&top, &name, AtFlags::empty()))?,
                _ => {}
            }
        }
        place.check_in_place().map_err(io::Error::other)?;
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let parent = rustix::fs::open(parent, flags, Mode::empty())?;
        gone(unlinkat(&parent, path.file_name().unwrap_or_default(), AtFlags::REMOVEDIR))
    };
    remove().map_err(RecordError::io("remove", path))
}

/// Something that somebody else has removed is removed.
fn gone(result: Result<(), Errno>) -> io::Result<()> {
    match result {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
