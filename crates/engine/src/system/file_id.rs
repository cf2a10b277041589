//! Recognises the files that a run has created, so that what somebody else has put under their names is neither used nor
//! removed.

use std::collections::BTreeMap;
use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::fs::{AtFlags, CWD, FileType, Statx, StatxFlags};

/// What distinguishes a file from all others. A number of a removed file is given to a new one, so the time of its
/// creation is part of it, where the file system has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileId {
    device: (u32, u32),
    inode: u64,
    file_type: FileType,
    born: Option<(i64, u32)>,
}

impl FileId {
    fn of(found: &Statx) -> Self {
        let has_birth = found.stx_mask & StatxFlags::BTIME.bits() != 0;
        Self {
            device: (found.stx_dev_major, found.stx_dev_minor),
            inode: found.stx_ino,
            file_type: FileType::from_raw_mode(found.stx_mode.into()),
            born: has_birth.then_some((found.stx_btime.tv_sec, found.stx_btime.tv_nsec)),
        }
    }

    fn at(path: &Path) -> Option<Self> {
        rustix::fs::statx(CWD, path, AtFlags::SYMLINK_NOFOLLOW, wanted()).ok().map(|found| Self::of(&found))
    }
}

fn wanted() -> StatxFlags {
    StatxFlags::TYPE | StatxFlags::INO | StatxFlags::BTIME
}

/// File systems that may number a file again while nobody has it open: FUSE, CIFS, SMB and 9P.
const RENUMBER: [rustix::fs::FsWord; 4] = [0x6573_5546, 0xFF53_4D42, 0xFE53_4D42, 0x0102_1997];

/// The files that this process has created.
#[derive(Debug, Default)]
pub struct MadeFiles {
    /// What was created under each name; `None` where somebody else was found to have created something.
    files: Mutex<BTreeMap<PathBuf, Option<FileId>>>,
    /// Whether other processes may create them again, so that they cannot be recognised.
    are_shared: bool,
}

impl MadeFiles {
    /// No file yet. If `are_shared` is set, other processes of the run may replace them, and none is noted.
    #[must_use]
    pub fn new(are_shared: bool) -> Self {
        Self { files: Mutex::default(), are_shared }
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<PathBuf, Option<FileId>>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes the file that was created as `path` and is open. On a file system that numbers files again nothing is
    /// noted, so that what it has there always counts as made by the run.
    pub(crate) fn add(&self, path: &Path, file: BorrowedFd<'_>) {
        let is_numbered_again = rustix::fs::fstatfs(file).is_ok_and(|found| RENUMBER.contains(&found.f_type));
        if is_numbered_again || self.are_shared {
            return;
        }
        if let Ok(found) = rustix::fs::statx(file, "", AtFlags::EMPTY_PATH, wanted()) {
            self.all().insert(path.to_owned(), Some(FileId::of(&found)));
        }
    }

    /// Notes that somebody else has created what is at `path`.
    pub(crate) fn add_theirs(&self, path: &Path) {
        self.all().insert(path.to_owned(), None);
    }

    /// Notes that `path` was removed. What is there before it is created again, is somebody else's.
    pub fn removed(&self, path: &Path) {
        if !self.are_shared {
            self.add_theirs(path);
        }
    }

    /// Forgets what was at `path`, because it is created again.
    pub fn forget(&self, path: &Path) {
        self.all().remove(path);
    }

    /// Whether `path` now leads to something else than what was created there.
    #[must_use]
    pub fn is_replaced(&self, path: &Path) -> bool {
        let Some(made) = self.all().get(path).copied() else { return false };
        FileId::at(path).is_some_and(|found| made != Some(found))
    }
}

/// Whether `path` itself is a named pipe. Opening one to read blocks until somebody writes.
pub(crate) fn is_pipe(path: &Path) -> bool {
    FileId::at(path).is_some_and(|found| found.file_type == FileType::Fifo)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::fd::AsFd;

    use super::{MadeFiles, is_pipe};

    #[test]
    fn another_file_under_the_name_is_recognised() {
        let place = tempfile::tempdir().expect("a directory");
        let (path, other) = (place.path().join("data"), place.path().join("other"));
        let made = MadeFiles::default();
        let file = fs::File::create(&path).expect("created");
        made.add(&path, file.as_fd());
        fs::write(&path, "written").expect("written");
        assert!(!made.is_replaced(&path) && !is_pipe(&path));
        fs::write(&other, "theirs").expect("written");
        fs::rename(&other, &path).expect("renamed");
        assert!(made.is_replaced(&path));
        fs::remove_file(&path).expect("removed");
        assert!(!made.is_replaced(&path), "nothing is there");
        std::os::unix::fs::symlink("nowhere", &path).expect("a link");
        assert!(made.is_replaced(&path));
        made.forget(&path);
        assert!(!made.is_replaced(&path), "nothing is known of it");
        made.add_theirs(&path);
        assert!(made.is_replaced(&path));
    }
}
