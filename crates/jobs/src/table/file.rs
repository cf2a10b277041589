//! The file of a table: transfers of one page each, and their accounting.
#![expect(unsafe_code, reason = "a close that tells its error has no safe binding")]

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::IntoRawFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use plan::{Bytes, JobSpace};

use crate::{JobError, Meter};

/// `O_DIRECT` of Linux on x86-64 and most other architectures, in the type needed for the standard
/// library's custom flags.
const O_DIRECT: i32 = rustix::fs::OFlags::DIRECT.bits().cast_signed();
const O_NOFOLLOW: i32 = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();

/// How a job transfers its pages.
#[derive(Debug, Clone)]
pub struct Io {
    /// Size of a page.
    pub page_bytes: Bytes,
    /// Whether pages bypass the page cache.
    pub direct: bool,
    /// Whether tables are synced when closed.
    pub sync: bool,
    /// Counts the bytes moved and held.
    pub meter: Arc<Meter>,
}

impl Io {
    /// Size of a page as a length in memory.
    #[must_use]
    pub fn page(&self) -> usize {
        usize::try_from(self.page_bytes.0).unwrap_or(usize::MAX)
    }

    /// Removes a table created by the job.
    ///
    /// # Errors
    /// Errors if it cannot be removed.
    pub fn remove(&self, space: JobSpace, path: &Path) -> Result<(), JobError> {
        let wrong = |error| JobError::file("remove", path, space, error);
        let bytes = std::fs::metadata(path).map_err(wrong)?.len();
        std::fs::remove_file(path).map_err(wrong)?;
        self.meter.holds(space, -i64::try_from(bytes).unwrap_or(i64::MAX));
        Ok(())
    }
}

/// An open table. Threads may share it.
#[derive(Debug)]
pub(super) struct TableFile {
    file: File,
    pub(super) io: Io,
    pub(super) space: JobSpace,
    pub(super) path: PathBuf,
}

impl TableFile {
    pub(super) fn open(io: &Io, space: JobSpace, path: &Path, writes: bool) -> Result<Self, JobError> {
        let mut options = OpenOptions::new();
        options.read(true).write(writes);
        Self::with(io, space, path, &mut options, "open")
    }

    /// Creates the file, replacing an existing one.
    pub(super) fn create(io: &Io, space: JobSpace, path: &Path) -> Result<Self, JobError> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(true);
        Self::with(io, space, path, &mut options, "create")
    }

    fn with(
        io: &Io,
        space: JobSpace,
        path: &Path,
        options: &mut OpenOptions,
        what: &str,
    ) -> Result<Self, JobError> {
        // No table is a link, unless someone has put one there.
        let direct = if io.direct { O_DIRECT } else { 0 };
        options.custom_flags(O_NOFOLLOW | direct);
        let file = options.open(path).map_err(|error| JobError::file(what, path, space, error))?;
        Ok(Self { file, io: io.clone(), space, path: path.to_owned() })
    }

    /// Number of pages. The file must consist of whole pages, and at least one.
    pub(super) fn pages(&self) -> Result<u64, JobError> {
        let length = self.file.metadata().map_err(|error| self.error("inspect", error))?.len();
        let page_bytes = self.io.page_bytes.0;
        if length == 0 || !length.is_multiple_of(page_bytes) {
            let what = format!(
                "the file has {length} bytes, not one or more whole pages of {page_bytes} bytes: it was \
                 truncated"
            );
            return Err(JobError::damaged(&self.path, length / page_bytes, what));
        }
        Ok(length / page_bytes)
    }

    /// Reads page `number` without checks.
    pub(super) fn read(&self, number: u64, page: &mut [u8]) -> Result<(), JobError> {
        match self.file.read_exact_at(page, number * self.io.page_bytes.0) {
            Ok(()) => {
                self.io.meter.read(self.space, page.len() as u64);
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                Err(JobError::damaged(&self.path, number, "the file ends before it"))
            }
            Err(error) => Err(self.error(&format!("read page {number} of"), error)),
        }
    }

    /// Writes page `number`. `new` says whether the file grows by it.
    pub(super) fn write(&self, number: u64, page: &[u8], new: bool) -> Result<(), JobError> {
        self.file
            .write_all_at(page, number * self.io.page_bytes.0)
            .map_err(|error| self.error(&format!("write page {number} of"), error))?;
        self.io.meter.wrote(self.space, page.len() as u64);
        if new {
            self.io.meter.holds(self.space, i64::try_from(page.len()).unwrap_or(i64::MAX));
        }
        Ok(())
    }

    /// Syncs the file, if tables are to be synced, and closes it. Network file systems report late write
    /// errors at this point.
    pub(super) fn close(self) -> Result<(), JobError> {
        if self.io.sync {
            self.file.sync_all().map_err(|error| self.error("put on stable storage", error))?;
        }
        // SAFETY: the descriptor is owned and given up here, so it cannot be used or closed elsewhere.
        if unsafe { libc::close(self.file.into_raw_fd()) } == 0 {
            return Ok(());
        }
        let error = io::Error::last_os_error();
        // Linux has closed the descriptor even if it reports EINTR.
        match error.kind() {
            io::ErrorKind::Interrupted => Ok(()),
            _ => Err(JobError::file("close", &self.path, self.space, error)),
        }
    }

    fn error(&self, what: &str, error: io::Error) -> JobError {
        JobError::file(what, &self.path, self.space, error)
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::path::{Path, PathBuf};
    use std::sync::Arc;

    use plan::{Bytes, JobSpace};

    use super::{Io, TableFile};
    use crate::Meter;

    fn io() -> Io {
        Io { page_bytes: Bytes::kib(64), direct: false, sync: false, meter: Arc::new(Meter::default()) }
    }

    #[test]
    fn a_full_file_system_is_told_with_its_space() {
        // Every write to this device fails as on a full file system.
        let file = File::options().write(true).open("/dev/full").expect("Linux");
        let path = PathBuf::from("t.0.table");
        let table = TableFile { file, io: io(), space: JobSpace::Permanent, path };
        let error = table.write(0, &[1; 64 << 10], true).expect_err("full").to_string();
        assert!(error.contains("cannot write page 0 of") && error.contains("t.0.table"), "{error}");
        assert!(error.contains("in permanent space: No space left on device"), "{error}");
        assert!(
            error.ends_with("free some space there, choose another directory, or lower `scale`"),
            "{error}"
        );
    }

    #[test]
    fn a_link_in_place_of_a_table_is_not_followed() {
        let place = tempfile::tempdir().expect("a directory");
        let victim = place.path().join("victim");
        fs::write(&victim, "stays").expect("written");
        let link: &Path = &place.path().join("t.0.table");
        std::os::unix::fs::symlink(&victim, link).expect("a link");
        assert!(TableFile::create(&io(), JobSpace::Permanent, link).is_err());
        assert!(TableFile::open(&io(), JobSpace::Permanent, link, true).is_err());
        assert_eq!(fs::read_to_string(&victim).expect("it is there"), "stays");
    }
}
