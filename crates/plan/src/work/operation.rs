//! Operations that are counted and timed.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::text::names::variants;

/// Kind of operation. For files in trees and for objects, a read or write covers the whole file, with open
/// and close.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Operation {
    /// From storage.
    Read,
    /// To storage.
    Write,
    /// A file, directory or object is made, with its bytes.
    Create,
    /// One is looked at.
    Stat,
    /// The names in a directory are read.
    List,
    /// One gets another name.
    Rename,
    /// One is removed.
    Remove,
    /// A request goes out and its response comes back.
    Exchange,
    /// A name is come across in a search, and looked at where it fits.
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
    /// All of them.
    pub const ALL: [Self; 9] = variants(&Self::NAMES);
    /// Those of transfers, in the order of their indices.
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
    /// From submission to the kernel. Only stored where it differs.
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
