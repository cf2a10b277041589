//! Log of wiped data, to trace data loss.

use std::fmt;

use plan::{Bytes, Nanos};
use serde::{Deserialize, Serialize};

/// Something that was wiped before the first pass or a repetition of a case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Wiped {
    /// Files were removed.
    Files {
        /// Number of files.
        files: u32,
        /// Duration in nanoseconds.
        took_ns: u64,
    },
    /// A whole device was discarded.
    Device {
        /// The path of its node.
        device: String,
        /// Its size in bytes.
        bytes: u64,
        /// Duration in nanoseconds.
        took_ns: u64,
    },
    /// The free space of a layout's file system was discarded on its devices.
    Space {
        /// A directory on it.
        directory: String,
        /// Number of bytes that the file system discarded.
        bytes: u64,
        /// Duration in nanoseconds.
        took_ns: u64,
    },
}

impl fmt::Display for Wiped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Files { files: 1, took_ns } => write!(f, "removed 1 file in {}", Nanos(*took_ns)),
            Self::Files { files, took_ns } => write!(f, "removed {files} files in {}", Nanos(*took_ns)),
            Self::Device { device, bytes, took_ns } => {
                write!(f, "discarded {} of {device} in {}", Bytes(*bytes), Nanos(*took_ns))
            }
            Self::Space { directory, bytes, took_ns } => {
                let (bytes, took) = (Bytes(*bytes), Nanos(*took_ns));
                write!(f, "discarded {bytes} of free space at {directory} in {took}")
            }
        }
    }
}
