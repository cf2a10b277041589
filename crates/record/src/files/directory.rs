//! The files of a run directory. It may come from an untrusted source, so nothing in it may lead outside:
//! links below it are not followed, and only regular files are opened.
//!
//! The directory itself may be a link, because it was named by the user.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags};
use thiserror::Error;

/// Something other than the regular file or directory that a record has at this path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("it is {found}, but a record has {expected} there")]
pub(crate) struct Unexpected {
    found: &'static str,
    expected: &'static str,
}

impl Unexpected {
    fn error(found: FileType, expected: &'static str) -> io::Error {
        io::Error::new(io::ErrorKind::InvalidInput, Self { found: name_of(found), expected })
    }

    /// Whether `error` is of this type.
    pub(crate) fn is(error: &io::Error) -> bool {
        error.get_ref().is_some_and(|inner| inner.is::<Self>())
    }
}

fn name_of(kind: FileType) -> &'static str {
    match kind {
        FileType::RegularFile => "a regular file",
        FileType::Directory => "a directory",
        FileType::Symlink => "a symbolic link",
        FileType::Fifo => "a named pipe",
        FileType::Socket => "a socket",
        FileType::CharacterDevice | FileType::BlockDevice => "a device",
        FileType::Unknown => "a file of an unknown kind",
    }
}

/// The file type that a record's files must have.
const FILE: &str = "a regular file";
const DIRECTORY: &str = "a directory";

/// A name in a directory. The directory is held open, so that it cannot be replaced.
#[derive(Debug)]
pub(crate) struct DirectoryEntry<'a> {
    pub(crate) directory: File,
    pub(crate) name: &'a OsStr,
}

impl<'a> DirectoryEntry<'a> {
    /// The entry `name` below `directory`. All directories between the two must be real ones; missing ones
    /// are created if `make` is set.
    pub(crate) fn of(directory: &Path, name: &'a Path, make: bool) -> io::Result<Self> {
        let here = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let mut directory = File::from(rustix::fs::openat(CWD, here, flags, Mode::empty())?);
        let mut parts = name.components().peekable();
        while let Some(Component::Normal(part)) = parts.next() {
            if parts.peek().is_none() {
                return Ok(Self { directory, name: part });
            }
            directory = step_into(&directory, part, make)?;
        }
        Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a path below a run directory"))
    }

    /// The file type, or `None` if the name does not exist.
    pub(crate) fn kind(&self) -> io::Result<Option<FileType>> {
        kind_of(&self.directory, self.name)
    }

    /// Rejects anything except a regular file or a missing name.
    pub(crate) fn check_file(&self) -> io::Result<()> {
        match self.kind()? {
            Some(FileType::RegularFile) | None => Ok(()),
            Some(other) => Err(Unexpected::error(other, FILE)),
        }
    }

    /// Opens the regular file. Other types are not opened at all, because opening alone can block or move
    /// a tape.
    pub(crate) fn open(&self, access: OFlags) -> io::Result<File> {
        self.check_file()?;
        let flags = access | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = File::from(rustix::fs::openat(&self.directory, self.name, flags, Mode::empty())?);
        // It may have been replaced in the meantime.
        match FileType::from_raw_mode(rustix::fs::fstat(&file)?.st_mode) {
            FileType::RegularFile => Ok(file),
            other => Err(Unexpected::error(other, FILE)),
        }
    }
}

impl DirectoryEntry<'_> {
    /// Opens the directory. A link to a directory is rejected.
    pub(crate) fn open_directory(&self) -> io::Result<File> {
        step_into(&self.directory, self.name, false)
    }
}

fn kind_of(directory: &File, name: &OsStr) -> io::Result<Option<FileType>> {
    match rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(Some(FileType::from_raw_mode(stat.st_mode))),
        Err(rustix::io::Errno::NOENT) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn step_into(directory: &File, name: &OsStr, make: bool) -> io::Result<File> {
    if make {
        match rustix::fs::mkdirat(directory, name, Mode::from_raw_mode(0o777)) {
            Ok(()) | Err(rustix::io::Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
    }
    match kind_of(directory, name)? {
        Some(FileType::Directory) => {}
        Some(other) => return Err(Unexpected::error(other, DIRECTORY)),
        None => return Err(io::ErrorKind::NotFound.into()),
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(directory, name, flags, Mode::empty())?.into())
}

/// Converts `path`, which is in the run directory, to a path relative to it.
fn below<'a>(directory: &Path, path: &'a Path) -> &'a Path {
    path.strip_prefix(directory).unwrap_or(path)
}

/// Opens the file at `path`, in the run directory, for reading.
pub(crate) fn open(directory: &Path, path: &Path) -> io::Result<File> {
    DirectoryEntry::of(directory, below(directory, path), false)?.open(OFlags::RDONLY)
}

/// Opens the file at `path`, in the run directory, for appending.
pub(crate) fn open_to_append(directory: &Path, path: &Path) -> io::Result<File> {
    DirectoryEntry::of(directory, below(directory, path), false)?.open(OFlags::WRONLY | OFlags::APPEND)
}

/// Reads the whole file at `path`, in the run directory, if it has at most `max` bytes.
pub(crate) fn read(directory: &Path, path: &Path, max: u64) -> io::Result<Vec<u8>> {
    let file = open(directory, path)?;
    let mut bytes = Vec::new();
    if file.metadata()?.len() > max || (&file).take(max + 1).read_to_end(&mut bytes)? as u64 > max {
        let what = format!("it has more than {}, the maximum for this file of a record", plan::Bytes(max));
        return Err(io::Error::new(io::ErrorKind::InvalidData, what));
    }
    Ok(bytes)
}

/// Whether anything exists at `path`, including a dangling link.
pub(crate) fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// The files in the subdirectory `name` of a run directory, ordered by name; empty if the directory does
/// not exist.
pub(crate) fn list(directory: &Path, name: &str) -> io::Result<Vec<PathBuf>> {
    let place = DirectoryEntry::of(directory, Path::new(name), false)?;
    if place.kind()?.is_none() {
        return Ok(Vec::new());
    }
    let opened = step_into(&place.directory, place.name, false)?;
    let mut paths = Vec::new();
    for entry in Dir::read_from(&opened)? {
        let name = entry?.file_name().to_bytes().to_vec();
        if name != b"." && name != b".." {
            paths.push(directory.join(place.name).join(OsString::from_vec(name)));
        }
    }
    paths.sort();
    Ok(paths)
}

/// Rejects anything at `path`, in the run directory, except a regular file or nothing.
pub(crate) fn check_file(directory: &Path, path: &Path) -> io::Result<()> {
    DirectoryEntry::of(directory, below(directory, path), false)?.check_file()
}
