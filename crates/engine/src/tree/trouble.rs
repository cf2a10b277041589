//! What goes wrong with items: what ends the phase, and what is only counted.

use std::path::{Path, PathBuf};

use crate::{EngineError, Errno, Exhausted, Surprises};
use plan::Operation;

/// Less space than this is none: what is left may be kept for the file system itself.
const NO_SPACE: u64 = 64 << 10;

/// What came of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It was done.
    Done,
    /// The item was not as this run had left it.
    Surprise(Surprise),
}

/// What was found instead of the item as this run had left it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Surprise {
    /// Nothing.
    Missing,
    /// It is there already.
    Present,
    /// The directory to be removed is not empty.
    NotEmpty,
    /// Something that is no file, or no directory.
    OtherKind,
    /// A file with fewer bytes than were written.
    Short { found: u64, expected: u64 },
}

impl Surprise {
    /// Whether `errno` of an `operation` says that somebody else has been there.
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

    /// In words, behind the path.
    fn words(self, path: &Path) -> String {
        match self {
            Self::Missing => "is not there".to_owned(),
            Self::Present => "is there already".to_owned(),
            Self::OtherKind => "is of another kind than was made there".to_owned(),
            Self::Short { found, expected } => {
                format!("has only {found} of the {expected} bytes that were written")
            }
            Self::NotEmpty => match first_entry(path) {
                Some(name) => format!("holds {name}, which does not belong there"),
                None => "was not empty".to_owned(),
            },
        }
    }
}

fn first_entry(directory: &Path) -> Option<String> {
    let entry = std::fs::read_dir(directory).ok()?.next()?.ok()?;
    Some(entry.file_name().to_string_lossy().into_owned())
}

/// Counts a surprise, and keeps the first of them in words.
#[cold]
pub(crate) fn note(surprises: &mut Surprises, surprise: Surprise, path: impl FnOnce() -> PathBuf) {
    surprises.count += 1;
    if surprises.first.len() < Surprises::DESCRIBED {
        let path = path();
        surprises.first.push(format!("{}: {}", path.display(), surprise.words(&path)));
    }
}

/// The error of an `operation` on `path`, with what is used up where the kernel says that something is.
#[cold]
pub(crate) fn failed(path: PathBuf, operation: Operation, errno: Errno, bytes: u64) -> EngineError {
    let exhausted = (errno == Errno(libc::ENOSPC)).then(|| exhausted(&path, bytes));
    EngineError::Item { path, operation, errno, exhausted }
}

/// What a file system in which `path` could not be made with its `bytes` has no more of.
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
