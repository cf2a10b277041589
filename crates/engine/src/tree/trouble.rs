//! Problems with items: errors that end the phase, and surprises that are only counted.

use std::path::{Path, PathBuf};

use crate::{EngineError, Errno, Exhausted, Surprises};
use plan::Operation;

/// Less free space than this counts as none, because the rest may be reserved for the file system itself.
const NO_SPACE: u64 = 64 << 10;

/// Outcome of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OpOutcome {
    /// It was done.
    Done,
    /// It was skipped because an earlier operation did not find the item.
    LeftOut,
    /// The item was modified by another process.
    Surprise(Surprise),
}

/// The unexpected state of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Surprise {
    /// It does not exist.
    Missing,
    /// It exists already.
    Present,
    /// The directory to be removed is not empty.
    NotEmpty,
    /// The item is not a file, or not a directory, as expected.
    OtherKind,
    /// A file with fewer bytes than were written.
    Short { found: u64, expected: u64 },
}

impl Surprise {
    /// The surprise that `errno` of an `operation` indicates if another process modified the item.
    pub(crate) fn of(operation: Operation, errno: Errno) -> Option<Self> {
        match (operation, errno.0) {
            (Operation::Create, libc::EEXIST) => Some(Self::Present),
            (Operation::Create, _) => None,
            (Operation::Remove, libc::ENOTEMPTY | libc::EEXIST) => Some(Self::NotEmpty),
            (Operation::Rename, libc::ENOTEMPTY | libc::EEXIST) => Some(Self::Present),
            (_, libc::ENOENT | libc::ESTALE) => Some(Self::Missing),
            (_, libc::EISDIR | libc::ENOTDIR) => Some(Self::OtherKind),
            _ => None,
        }
    }

    /// Describes the surprise, starting with the path.
    fn words(self, path: &Path) -> String {
        match self {
            Self::Missing => "does not exist".to_owned(),
            Self::Present => "already exists".to_owned(),
            Self::OtherKind => "is of a different kind than was created".to_owned(),
            Self::Short { found, expected } => {
                format!("has only {found} of the {expected} bytes that were written")
            }
            Self::NotEmpty => match first_entry(path) {
                Some(name) => format!("contains {name}, which does not belong there"),
                None => "was not empty".to_owned(),
            },
        }
    }
}

fn first_entry(directory: &Path) -> Option<String> {
    let entry = std::fs::read_dir(directory).ok()?.next()?.ok()?;
    Some(entry.file_name().to_string_lossy().into_owned())
}

/// Counts a surprise, and keeps descriptions of the first ones.
#[cold]
pub(crate) fn note(surprises: &mut Surprises, surprise: Surprise, path: impl FnOnce() -> PathBuf) {
    surprises.count += 1;
    if surprises.first.len() < Surprises::DESCRIBED {
        let path = path();
        surprises.first.push(format!("{}: {}", path.display(), surprise.words(&path)));
    }
}

/// Makes the error of an `operation` on `path`, with the exhausted resource if `errno` reports one.
#[cold]
pub(crate) fn failed(path: PathBuf, operation: Operation, errno: Errno, bytes: u64) -> EngineError {
    let exhausted = (errno == Errno(libc::ENOSPC)).then(|| exhausted(&path, bytes));
    EngineError::Item { path, operation, errno, exhausted }
}

/// The exhausted resource of a file system in which `path` could not be created with its `bytes`.
fn exhausted(path: &Path, bytes: u64) -> Exhausted {
    let found = path.ancestors().find_map(|directory| rustix::fs::statvfs(directory).ok());
    let Some(found) = found else { return Exhausted::Unknown };
    let free = found.f_bavail.saturating_mul(found.f_frsize);
    if free < bytes.max(NO_SPACE) {
        Exhausted::Space { all: found.f_blocks.saturating_mul(found.f_frsize) }
    } else if found.f_files > 0 && found.f_favail == 0 {
        Exhausted::Inodes { all: found.f_files }
    } else {
        Exhausted::Unknown
    }
}
