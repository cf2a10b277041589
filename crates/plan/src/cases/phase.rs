//! The phases of a case.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::text::names::variants;

/// One pass of all tasks over their transfers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Writes data needed by a later read; never a result.
    Fill,
    /// Writes.
    Write,
    /// Reads.
    Read,
    /// Reads and writes in the proportion set by the workload.
    Mixed,
    /// Reads back what was written and compares it; never a result.
    CheckWrite,
    /// Reads again and compares; never a result.
    CheckRead,
    /// Creates the directories of a tree.
    TreeCreate,
    /// Creates directories that are items.
    DirectoryCreate,
    /// Stats directories that are items.
    DirectoryStat,
    /// Lists the directories of a tree.
    DirectoryList,
    /// Renames directories that are items.
    DirectoryRename,
    /// Removes directories that are items.
    DirectoryRemove,
    /// Creates files, writes their bytes and closes them.
    FileCreate,
    /// Opens files, writes their bytes and closes them.
    FileWrite,
    /// Stats files.
    FileStat,
    /// Opens files, reads their bytes and closes them.
    FileRead,
    /// Renames files.
    FileRename,
    /// Removes files.
    FileRemove,
    /// Removes the directories of a tree.
    TreeRemove,
    /// Creates the object sets and the objects that exist before the steps.
    Precreate,
    /// Visits the objects in turn.
    Benchmark,
    /// Removes the objects and their sets.
    Cleanup,
    /// Requests and responses.
    Exchange,
    /// Searches through directories.
    Find,
    /// Creates the tables that jobs read, and checks them.
    Load,
    /// Launches jobs.
    Jobs,
}

impl Phase {
    const NAMES: [(Self, &'static str); 26] = [
        (Self::Fill, "fill"),
        (Self::Write, "write"),
        (Self::Read, "read"),
        (Self::Mixed, "mixed"),
        (Self::CheckWrite, "check-write"),
        (Self::CheckRead, "check-read"),
        (Self::TreeCreate, "tree-create"),
        (Self::DirectoryCreate, "directory-create"),
        (Self::DirectoryStat, "directory-stat"),
        (Self::DirectoryList, "directory-list"),
        (Self::DirectoryRename, "directory-rename"),
        (Self::DirectoryRemove, "directory-remove"),
        (Self::FileCreate, "file-create"),
        (Self::FileWrite, "file-write"),
        (Self::FileStat, "file-stat"),
        (Self::FileRead, "file-read"),
        (Self::FileRename, "file-rename"),
        (Self::FileRemove, "file-remove"),
        (Self::TreeRemove, "tree-remove"),
        (Self::Precreate, "precreate"),
        (Self::Benchmark, "benchmark"),
        (Self::Cleanup, "cleanup"),
        (Self::Exchange, "exchange"),
        (Self::Find, "find"),
        (Self::Load, "load"),
        (Self::Jobs, "jobs"),
    ];
    /// Every phase.
    pub const ALL: [Self; 26] = variants(&Self::NAMES);

    /// Name used in tables and records.
    #[must_use]
    pub const fn name(self) -> &'static str {
        Self::NAMES[self as usize].1
    }

    /// The phase of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|phase| phase.name() == name)
    }

    /// Whether a figure of this phase is a result that a summary shows.
    #[must_use]
    pub const fn is_result(self) -> bool {
        !matches!(self, Self::Fill | Self::CheckWrite | Self::CheckRead)
    }

    /// Whether its operations are transfers within files.
    #[must_use]
    pub const fn is_transfers(self) -> bool {
        matches!(
            self,
            Self::Fill | Self::Write | Self::Read | Self::Mixed | Self::CheckWrite | Self::CheckRead
        )
    }

    /// Whether its primary figure counts bytes: true of transfers, and of jobs, whose steps move pages.
    #[must_use]
    pub const fn counts_bytes(self) -> bool {
        self.is_transfers() || matches!(self, Self::Load | Self::Jobs)
    }

    /// Whether the phase measures reads of files of [`crate::Placement`].
    #[must_use]
    pub const fn reads(self) -> bool {
        matches!(self, Self::Read | Self::Mixed)
    }

    /// Whether the phase needs data in files of [`crate::Placement`] before it starts.
    #[must_use]
    pub const fn needs_data(self) -> bool {
        self.reads() || matches!(self, Self::CheckWrite | Self::CheckRead)
    }

    /// Whether the phase creates data or names.
    #[must_use]
    pub const fn makes(self) -> bool {
        self.writes()
            || matches!(
                self,
                Self::TreeCreate
                    | Self::DirectoryCreate
                    | Self::FileCreate
                    | Self::FileWrite
                    | Self::Precreate
                    | Self::Benchmark
                    | Self::Load
                    | Self::Jobs
            )
    }

    /// Whether the phase changes the files of [`crate::Placement`].
    #[must_use]
    pub const fn writes(self) -> bool {
        matches!(self, Self::Fill | Self::Write | Self::Mixed)
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
