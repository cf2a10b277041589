//! A file that is written under a hidden name and renamed when it is complete.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{AtFlags, Mode, OFlags};

use crate::RecordError;
use crate::files::directory::{DirectoryEntry, RunDirectory, sync_names};
use crate::files::unexpected::Unexpected;

/// The name under which this process writes `name` until it is complete. It is hidden, so that
/// `*.parquet` does not match it.
fn unfinished(name: &OsStr) -> OsString {
    let mut hidden = OsString::from(".");
    hidden.push(name);
    hidden.push(format!(".{}.unfinished", std::process::id()));
    hidden
}

/// Parses a name that [`Replacement`] uses for an incomplete file. Returns the final name, and the number
/// of the process that was writing it.
pub(crate) fn unfinished_parts(name: &str) -> Option<(&str, u32)> {
    let (name, process) = name.strip_prefix('.')?.strip_suffix(".unfinished")?.rsplit_once('.')?;
    Some((name, process.parse().ok()?))
}

/// A file that replaces another one, or is created, when it is complete, so that a reader sees either the
/// old or the new one. The old file itself is never written to, even if it has other names. A link, pipe
/// or device in its place is rejected. If dropped before it is complete, nothing remains.
///
/// ```no_run
/// use std::io::Write;
/// use std::path::Path;
/// let mut page = record::Replacement::new(Path::new("runs/first"), Path::new("report.md"))?;
/// page.write_all(b"# Results\n")?;
/// page.finish()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Replacement {
    path: PathBuf,
    /// The directory that contains the file.
    directory: Arc<File>,
    name: OsString,
    file: File,
    is_whole: bool,
}

impl Replacement {
    /// Begins the file `name` below `directory`. The directory may be a link, but nothing below it may be
    /// one. Missing directories between the two are created.
    ///
    /// # Errors
    /// Errors if something other than a regular file is in its place, or if the directory cannot be
    /// written.
    pub fn new(directory: impl Into<RunDirectory>, name: &Path) -> Result<Self, RecordError> {
        let directory = directory.into();
        let path = directory.join(name);
        Self::begin(&directory, name, &path).map_err(|source| match Unexpected::is(&source) {
            true => RecordError::InTheWay { path, source },
            false => RecordError::Io { action: "write", path, source },
        })
    }

    fn begin(directory: &RunDirectory, name: &Path, path: &Path) -> io::Result<Self> {
        let place = DirectoryEntry::of(directory, name, true)?;
        place.check_file()?;
        let hidden = unfinished(place.name);
        // Removes what a process with the same number has left. Whatever it is, it must not be written
        // to.
        let _ = rustix::fs::unlinkat(&place.directory, &hidden, AtFlags::empty());
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(0o666);
        let file = rustix::fs::openat(&place.directory, &hidden, flags, mode)?.into();
        let name = place.name.to_owned();
        Ok(Self { path: path.to_owned(), directory: place.directory, name, file, is_whole: false })
    }

    /// Moves the file to its final place.
    ///
    /// # Errors
    /// Errors if the directory cannot be written, or was replaced by another directory.
    pub fn finish(self) -> Result<(), RecordError> {
        self.put(false)
    }

    /// The same. If `durable` is set, the file and its name are on stable storage afterwards.
    pub(crate) fn put(mut self, durable: bool) -> Result<(), RecordError> {
        let put = || {
            if durable {
                self.file.sync_all()?;
            }
            let hidden = unfinished(&self.name);
            rustix::fs::renameat(&self.directory, &hidden, &self.directory, &self.name)?;
            Ok(())
        };
        put().map_err(RecordError::io("write", &self.path))?;
        self.is_whole = true;
        if durable {
            sync_names(&self.directory, ".").map_err(RecordError::io("sync", &self.path))?;
        }
        Ok(())
    }
}

impl Write for Replacement {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for Replacement {
    fn drop(&mut self) {
        if !self.is_whole {
            // An error could not be reported to anybody.
            let _ = rustix::fs::unlinkat(&self.directory, unfinished(&self.name), AtFlags::empty());
        }
    }
}

/// Replaces the file `name` in `directory` by one with the content `bytes`. A reader sees either the old or
/// the new file, never a part. The mode depends on the user's umask.
pub(crate) fn replace(
    directory: &RunDirectory,
    name: &str,
    bytes: &[u8],
    durable: bool,
) -> Result<(), RecordError> {
    let mut file = Replacement::new(directory, Path::new(name))?;
    file.write_all(bytes).map_err(RecordError::io("write", &directory.join(name)))?;
    file.put(durable)
}

/// Removes the file at `path`, if it exists.
pub(crate) fn remove_if_there(path: &Path) -> Result<(), RecordError> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(RecordError::io("remove", path)(error)),
        _ => Ok(()),
    }
}
