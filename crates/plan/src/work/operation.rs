//! Operations that are counted and timed.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::text::names::variants;

/// Kind of operation. For files in trees and for objects, a read or write covers the whole file, with open
/// and close.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Operation {
    /// Reads from storage.
    Read,
    /// Writes to storage.
    Write,
    /// Creates a file, directory or object, including its data.
    Create,
    /// Stats a file, directory or object.
    Stat,
    /// Reads the names in a directory.
    List,
    /// Renames a file or directory.
    Rename,
    /// Removes a file, directory or object.
    Remove,
    /// Sends a request and receives its response.
    Exchange,
    /// Visits a name in a search, and stats it if it matches.
    Find,
}

impl Operation {
    const NAMES: [(Self, &'static str); 9] = [
        (Self::Read, "read"),
        (Self::Write, "write"),
        (Self::Create, "create"),
        (Self::Stat, "stat"),
        (Self::List, "list"),
        (Self::Rename, "rename"),
        (Self::Remove, "remove"),
        (Self::Exchange, "exchange"),
        (Self::Find, "find"),
    ];
    /// All operations.
    pub const ALL: [Self; 9] = variants(&Self::NAMES);
    /// The operations of transfers, in the order of their indices.
    pub const TRANSFERS: [Self; 2] = [Self::Read, Self::Write];

    /// The word used in tables and records.
    #[must_use]
    pub const fn name(self) -> &'static str {
        Self::NAMES[self as usize].1
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Start point of a latency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Measure {
    /// From the scheduled start of the transfer (open loop), else from its actual start.
    Response,
    /// From submission to the kernel. Only stored if it differs.
    Service,
}

impl Measure {
    /// The word used in tables and records.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Response => "response",
            Self::Service => "service",
        }
    }
}
