//! What a record cannot have in the place of a file or a directory.

use std::io;

use rustix::fs::FileType;
use thiserror::Error;

/// Something other than the regular file or directory that a record has at this path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("it is {found}, but a record has {expected} there")]
pub(crate) struct Unexpected {
    found: &'static str,
    expected: &'static str,
}

impl Unexpected {
    pub(super) fn error(found: FileType, expected: &'static str) -> io::Error {
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
