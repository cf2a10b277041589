//! Errors about the host. Each message names the path and the next step.

use std::io;
use std::path::{Path, PathBuf};

use plan::Bytes;
use thiserror::Error;

/// An error about something on this host.
#[derive(Debug, Error)]
pub enum HostError {
    /// A call of the operating system failed.
    #[error("{action} {path}: {source}{help}", path = path.display(), help = help(source))]
    Io {
        /// The attempted action, for example `open`.
        action: &'static str,
        /// The path of the action.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// A kernel file does not have its documented format.
    #[error("{path}: expected {expected}, found {found:?}", path = path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What it should contain.
        expected: &'static str,
        /// What it contains.
        found: String,
    },
    /// Settings that root would read, and that others may change.
    #[error(
        "{path} is not read as root: {why}; {cure} {path}, or remove it",
        path = path.display()
    )]
    SettingsOfOthers {
        /// The file.
        path: PathBuf,
        /// Why others may change it.
        why: &'static str,
        /// The command that ends this, without the path.
        cure: &'static str,
    },
    /// Only root may do this.
    #[error("{what} needs root: run as root, or without it")]
    NeedsRoot {
        /// The attempted action, with the path.
        what: String,
    },
    /// A file that is to be read does not exist.
    #[error("{path} does not exist: write it first, or let a fill phase write it", path = path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// A file that is to be read is too short.
    #[error(
        "{path} has {have} bytes ({}) of the {need} ({}) that are to be read: write it first with the same \
         geometry, or let a fill phase write it",
        Bytes(*have), Bytes(*need), path = path.display()
    )]
    Short {
        /// The file.
        path: PathBuf,
        /// Its size in bytes.
        have: u64,
        /// Number of bytes to be read.
        need: u64,
    },
    /// A file that is to be read has ranges that were never written.
    #[error(
        "{path} has a hole at offset {first_hole_offset} in the {need} bytes that are to be read: reading \
         it would measure memory, not storage; write the file, or let a fill phase write it",
        path = path.display()
    )]
    Holes {
        /// The file.
        path: PathBuf,
        /// Offset of the first of these ranges.
        first_hole_offset: u64,
        /// Number of bytes to be read.
        need: u64,
    },
    /// The file system has allocated less for a file than is to be read.
    #[error(
        "the file system has allocated {allocated} of the {need} bytes of {path} that are to be read: the rest is \
         holes, compressed or stored elsewhere, and reading it would not measure storage; write the file, or let a \
         fill phase write it",
        path = path.display()
    )]
    Unallocated {
        /// The file.
        path: PathBuf,
        /// Number of bytes allocated (`st_blocks`).
        allocated: u64,
        /// Number of bytes to be read.
        need: u64,
    },
    /// The path of the data is neither a file nor a block device.
    #[error("{path} is a {kind}: give a regular file or a block device", path = path.display())]
    NotData {
        /// The path.
        path: PathBuf,
        /// Description of what it is.
        kind: &'static str,
    },
    /// The directory for the files does not exist.
    #[error(
        "directory {path} does not exist (its nearest existing parent is {ancestor}): create it with mkdir \
         -p",
        path = path.display(), ancestor = ancestor.display()
    )]
    MissingDirectory {
        /// The directory.
        path: PathBuf,
        /// The longest part of it that exists.
        ancestor: PathBuf,
    },
    /// The path of a directory leads to something else.
    #[error("{path} is a {kind}, not a directory: give another directory", path = path.display())]
    NotADirectory {
        /// The path.
        path: PathBuf,
        /// Description of what it is.
        kind: &'static str,
    },
    /// The directory is on a file system that is mounted read-only.
    #[error(
        "{path} is on a file system that is mounted read-only: mount it read-write, or give another directory",
        path = path.display()
    )]
    ReadOnlyFileSystem {
        /// The directory.
        path: PathBuf,
    },
    /// The directory is on a file system of the kernel, for example `/proc`.
    #[error(
        "{path} is on {kind}, an internal file system of the kernel, which cannot store files: give another \
         directory",
        path = path.display()
    )]
    KernelFileSystem {
        /// The directory.
        path: PathBuf,
        /// The kind of file system.
        kind: &'static str,
    },
    /// This user lacks a permission.
    #[error("no permission to {wanted} {path}: change its owner or mode, or run as another user", path = path.display())]
    NoPermission {
        /// The path.
        path: PathBuf,
        /// The action that needs it, for example `create files in`.
        wanted: &'static str,
    },
    /// A block device was expected.
    #[error("{path} is not a block device: give one, for example /dev/nvme0n1", path = path.display())]
    NotABlockDevice {
        /// The path.
        path: PathBuf,
    },
}

impl HostError {
    /// Whether the program could go on but refuses, to protect data or the correctness of a figure. All
    /// other errors are about something that the host lacks.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        matches!(
            self,
            Self::Missing { .. }
                | Self::Short { .. }
                | Self::Holes { .. }
                | Self::Unallocated { .. }
                | Self::NotData { .. }
        )
    }

    /// Whether a device or its file system failed, which is not a matter of the host's configuration.
    #[must_use]
    pub fn is_device_error(&self) -> bool {
        matches!(self, Self::Io { source, .. } if is_of_device(source))
    }

    /// Makes the error of a failed call on `path`.
    pub(crate) fn io(action: &'static str, path: &Path, source: impl Into<io::Error>) -> Self {
        Self::Io { action, path: path.to_owned(), source: source.into() }
    }
}

/// The next step after a failed call, if the error alone does not say it.
fn help(source: &io::Error) -> &'static str {
    match is_of_device(source) {
        true => "; check the file system and its device (`dmesg`)",
        false => "",
    }
}

fn is_of_device(source: &io::Error) -> bool {
    source.raw_os_error() == Some(rustix::io::Errno::IO.raw_os_error())
}

/// Why the bytes of a path are not visible in the counters of block devices.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{reason}")]
pub struct Unobservable {
    /// The reason, for example `tmpfs keeps its data in memory`.
    pub reason: String,
}

impl Unobservable {
    pub(crate) fn because(reason: impl Into<String>) -> Self {
        Self { reason: reason.into() }
    }
}
