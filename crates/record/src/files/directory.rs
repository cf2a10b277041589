//! The files of a run directory. It may come from an untrusted source, so nothing in it may lead outside:
//! links below it are not followed, and only regular files are opened.
//!
//! The directory itself may be a link, because it was named by the user.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags};

use crate::RecordError;
use crate::error::NowAt;
use crate::files::unexpected::Unexpected;
use crate::format::{JOURNAL, MANIFEST};

/// The file type that a record's files must have.
const FILE: &str = "a regular file";
const DIRECTORY: &str = "a directory";
/// The directory of the tables that every case has.
const PHASE_TABLES: &str = "phases";

/// The directory of a run. While a run is being written it is held open: the record stays in the directory in which it
/// began, and nothing is written to another directory that gets its name. A directory that is only read is opened by
/// its name each time.
///
/// Everything below the directory is reached from its descriptor.
#[derive(Debug, Clone)]
pub struct RunDirectory {
    path: PathBuf,
    held: Option<Arc<File>>,
}

impl RunDirectory {
    /// Opens the directory at `path` and holds it. `path` may be a link, because it was named by the user.
    ///
    /// # Errors
    /// Errors if it is not a directory that can be entered.
    pub fn hold(path: &Path) -> Result<Self, RecordError> {
        let held = open_directory(path).map_err(RecordError::io("open", path))?;
        Ok(Self { path: path.to_owned(), held: Some(Arc::new(held)) })
    }

    /// Like [`RunDirectory::hold`], with its absolute path without links.
    pub(crate) fn hold_whole(path: &Path) -> Result<Self, RecordError> {
        Self::hold(&std::fs::canonicalize(path).map_err(RecordError::io("find", path))?)
    }

    /// Opens the directory `name` in `parent` and holds it. A link is rejected.
    pub(crate) fn hold_below(parent: &Self, name: &OsStr) -> io::Result<Self> {
        let held = step_into(&*parent.descriptor()?, name, false)?;
        Ok(Self { path: parent.path.join(name), held: Some(Arc::new(held)) })
    }

    /// The directory, opened for reading its names.
    pub(crate) fn opened(&self) -> io::Result<File> {
        step_into(&*self.descriptor()?, OsStr::new("."), false)
    }

    /// Its path when it was opened.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path of `name` in it, for messages.
    pub(crate) fn join(&self, name: impl AsRef<Path>) -> PathBuf {
        self.path.join(name)
    }

    /// Checks that its path still leads to it.
    ///
    /// # Errors
    /// Errors if it was moved or removed, or if something else has its name.
    pub fn check_in_place(&self) -> Result<(), RecordError> {
        let Some(held) = &self.held else { return Ok(()) };
        let own =
            rustix::fs::fstat(held).map_err(|error| RecordError::io("read", &self.path)(error.into()))?;
        let named = rustix::fs::statat(CWD, here(&self.path), AtFlags::empty());
        if named.is_ok_and(|named| (named.st_dev, named.st_ino) == (own.st_dev, own.st_ino)) {
            return Ok(());
        }
        // The kernel knows where it is now.
        let link = format!("/proc/self/fd/{}", held.as_raw_fd());
        let now = std::fs::read_link(link).ok();
        let is_same = |path: &PathBuf| {
            rustix::fs::statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW)
                .is_ok_and(|found| (found.st_dev, found.st_ino) == (own.st_dev, own.st_ino))
        };
        let now = match now.filter(is_same) {
            Some(now) => NowAt::Path(now),
            None if own.st_nlink == 0 => NowAt::Removed,
            None => NowAt::Unknown,
        };
        Err(RecordError::Moved { path: self.path.clone(), now })
    }

    /// Whether the file `name` in it is still `file`.
    pub(crate) fn names(&self, name: &str, file: &File) -> io::Result<bool> {
        let own = rustix::fs::fstat(file)?;
        let named = rustix::fs::statat(&*self.descriptor()?, name, AtFlags::SYMLINK_NOFOLLOW);
        Ok(named.is_ok_and(|named| (named.st_dev, named.st_ino) == (own.st_dev, own.st_ino)))
    }

    /// Moves the directory to `to`, which must be empty or not exist.
    ///
    /// # Errors
    /// Errors if it cannot be moved, or if it was another directory that had its path.
    pub fn rename(&self, to: &Path) -> Result<Self, RecordError> {
        self.check_in_place()?;
        std::fs::rename(&self.path, to).map_err(RecordError::io("rename", &self.path))?;
        let renamed = Self { path: to.to_owned(), held: self.held.clone() };
        renamed.check_in_place()?;
        Ok(renamed)
    }

    fn descriptor(&self) -> io::Result<Arc<File>> {
        match &self.held {
            Some(held) => Ok(Arc::clone(held)),
            None => open_directory(&self.path).map(Arc::new),
        }
    }

    /// Syncs the names in the directory to stable storage, or those in its parent directory.
    pub(crate) fn sync(&self, parent: bool) -> Result<(), RecordError> {
        let name = if parent { ".." } else { "." };
        let sync = || sync_names(&*self.descriptor()?, name);
        sync().map_err(RecordError::io("sync", &self.path))
    }

    /// Removes the file `name` in it, if it exists.
    pub(crate) fn remove(&self, name: impl AsRef<Path>) -> Result<(), RecordError> {
        let path = self.join(name);
        let remove = || match DirectoryEntry::of(self, below(self, &path), false) {
            Ok(place) => Ok(rustix::fs::unlinkat(&place.directory, place.name, AtFlags::empty())?),
            Err(error) => Err(error),
        };
        match remove() {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(RecordError::io("remove", &path)(error))
            }
            _ => Ok(()),
        }
    }

    /// Whether it contains anything.
    pub(crate) fn is_empty(&self) -> io::Result<bool> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = rustix::fs::openat(&*self.descriptor()?, ".", flags, Mode::empty())?;
        for entry in Dir::read_from(opened)? {
            if !matches!(entry?.file_name().to_bytes(), b"." | b"..") {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// A directory that is opened by its name.
impl From<&Path> for RunDirectory {
    fn from(path: &Path) -> Self {
        Self { path: path.to_owned(), held: None }
    }
}

impl From<&PathBuf> for RunDirectory {
    fn from(path: &PathBuf) -> Self {
        path.as_path().into()
    }
}

impl From<&Self> for RunDirectory {
    fn from(directory: &Self) -> Self {
        directory.clone()
    }
}

fn here(path: &Path) -> &Path {
    if path.as_os_str().is_empty() { Path::new(".") } else { path }
}

fn open_directory(path: &Path) -> io::Result<File> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(CWD, here(path), flags, Mode::empty())?.into())
}

/// Syncs the names in the directory `name` of `directory` to stable storage.
pub(crate) fn sync_names(directory: &File, name: &str) -> io::Result<()> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let opened = File::from(rustix::fs::openat(directory, name, flags, Mode::empty())?);
    match opened.sync_all() {
        // Some file systems make names durable by themselves, and reject the call.
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
        synced => synced,
    }
}

/// Syncs the names in the directory that contains the file at `path`, in the run directory.
pub(crate) fn sync_names_beside(directory: &RunDirectory, path: &Path) -> io::Result<()> {
    sync_names(&DirectoryEntry::of(directory, below(directory, path), false)?.directory, ".")
}

/// Whether `directory` or one above it has the record of a run: two of its manifest, its journal and its tables, or the
/// journal beside the file itself.
#[must_use]
pub fn is_in_record(directory: &Path) -> bool {
    let has = |directory: &Path, name: &str| directory.join(name).symlink_metadata().is_ok();
    let is_record = |above: &&Path| {
        let parts = [MANIFEST, JOURNAL, PHASE_TABLES].iter().filter(|name| has(above, name)).count();
        parts >= 2
    };
    has(directory, JOURNAL) || directory.ancestors().find(is_record).is_some()
}

/// A name in a directory. The directory is held open, so that it cannot be replaced.
#[derive(Debug)]
pub(crate) struct DirectoryEntry<'a> {
    pub(crate) directory: Arc<File>,
    pub(crate) name: &'a OsStr,
}

impl<'a> DirectoryEntry<'a> {
    /// The entry `name` below `directory`. All directories between the two must be real ones; missing ones
    /// are created if `make` is set.
    pub(crate) fn of(directory: &RunDirectory, name: &'a Path, make: bool) -> io::Result<Self> {
        let mut directory = directory.descriptor()?;
        let mut parts = name.components().peekable();
        while let Some(Component::Normal(part)) = parts.next() {
            if parts.peek().is_none() {
                return Ok(Self { directory, name: part });
            }
            directory = Arc::new(step_into(&directory, part, make)?);
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

pub(crate) fn step_into(directory: &File, name: &OsStr, make: bool) -> io::Result<File> {
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
fn below<'a>(directory: &RunDirectory, path: &'a Path) -> &'a Path {
    path.strip_prefix(&directory.path).unwrap_or(path)
}

/// Opens the file at `path`, in the run directory, for reading.
pub(crate) fn open(directory: &RunDirectory, path: &Path) -> io::Result<File> {
    DirectoryEntry::of(directory, below(directory, path), false)?.open(OFlags::RDONLY)
}

/// Creates the file at `path`, in the run directory, for appending. It must not exist.
pub(crate) fn create_to_append(directory: &RunDirectory, path: &Path) -> io::Result<File> {
    let place = DirectoryEntry::of(directory, below(directory, path), false)?;
    let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let mode = Mode::from_raw_mode(0o666);
    Ok(rustix::fs::openat(&place.directory, place.name, flags, mode)?.into())
}

/// Opens the file at `path`, in the run directory, for appending.
pub(crate) fn open_to_append(directory: &RunDirectory, path: &Path) -> io::Result<File> {
    DirectoryEntry::of(directory, below(directory, path), false)?.open(OFlags::WRONLY | OFlags::APPEND)
}

/// Reads the whole file at `path`, in the run directory, if it has at most `max` bytes.
pub(crate) fn read(directory: &RunDirectory, path: &Path, max: u64) -> io::Result<Vec<u8>> {
    let file = open(directory, path)?;
    let length = file.metadata()?.len();
    // With room for all of it, and one byte that shows the end, it is read at once.
    let mut bytes = Vec::with_capacity(usize::try_from(length.min(max)).unwrap_or(0) + 1);
    if length > max || (&file).take(max + 1).read_to_end(&mut bytes)? as u64 > max {
        let what = format!("it has more than {}, the maximum for this file of a record", plan::Bytes(max));
        return Err(io::Error::new(io::ErrorKind::InvalidData, what));
    }
    Ok(bytes)
}

/// Whether anything exists at `path`, in the run directory, including a dangling link.
pub(crate) fn is_there(directory: &RunDirectory, path: &Path) -> bool {
    let kind = DirectoryEntry::of(directory, below(directory, path), false).and_then(|place| place.kind());
    kind.is_ok_and(|kind| kind.is_some())
}

/// Length of the file at `path`, in the run directory, if it exists.
pub(crate) fn length(directory: &RunDirectory, path: &Path) -> Option<u64> {
    let place = DirectoryEntry::of(directory, below(directory, path), false).ok()?;
    let stat = rustix::fs::statat(&place.directory, place.name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    u64::try_from(stat.st_size).ok()
}

/// The files in the subdirectory `name` of a run directory, ordered by name; empty if the directory does
/// not exist.
pub(crate) fn list(directory: &RunDirectory, name: &str) -> io::Result<Vec<PathBuf>> {
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

/// The names of all that is in the run directory and not a directory, relative to it and in order. No link is followed.
pub(crate) fn all_files(directory: &RunDirectory) -> io::Result<Vec<String>> {
    let mut all = Vec::new();
    let mut left = vec![(directory.opened()?, String::new())];
    while let Some((opened, before)) = left.pop() {
        for entry in Dir::read_from(&opened)? {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." {
                continue;
            }
            let path = format!("{before}{}", name.to_string_lossy());
            match kind_of(&opened, name)? {
                Some(FileType::Directory) => {
                    left.push((step_into(&opened, name, false)?, format!("{path}/")))
                }
                _ => all.push(path),
            }
        }
    }
    all.sort();
    Ok(all)
}

/// Total length of the files in the run directory and the directories in it, in bytes.
pub(crate) fn bytes(directory: &RunDirectory) -> io::Result<u64> {
    let mut all = 0;
    let mut left = vec![directory.opened()?];
    while let Some(opened) = left.pop() {
        let mut opened = Dir::new(opened)?;
        let entries: Vec<_> = (&mut opened).collect::<Result<_, _>>()?;
        let opened = opened.fd()?;
        for entry in entries.iter().filter(|entry| !matches!(entry.file_name().to_bytes(), b"." | b"..")) {
            let stat = || rustix::fs::statat(opened, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW);
            let kind = match entry.file_type() {
                FileType::Unknown => FileType::from_raw_mode(stat()?.st_mode),
                kind => kind,
            };
            match kind {
                FileType::Directory => {
                    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                    left.push(rustix::fs::openat(opened, entry.file_name(), flags, Mode::empty())?.into());
                }
                _ => all += u64::try_from(stat()?.st_size).unwrap_or(0),
            }
        }
    }
    Ok(all)
}

/// Rejects anything at `path`, in the run directory, except a regular file or nothing.
pub(crate) fn check_file(directory: &RunDirectory, path: &Path) -> io::Result<()> {
    DirectoryEntry::of(directory, below(directory, path), false)?.check_file()
}
