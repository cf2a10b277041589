//! The phases of a case.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Operation;
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

/// What the operations of a phase are on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PhaseSubject {
    /// Data in files of [`crate::Placement`].
    Data,
    /// The directories of a tree.
    Tree,
    /// Directories that are items of a tree.
    Directories,
    /// Files that are items of a tree.
    Files,
    /// Objects in sets.
    Objects,
    /// Messages between endpoints.
    Messages,
    /// Names that a search visits.
    Names,
    /// Tables that jobs read.
    Tables,
    /// Launches of jobs.
    Launches,
}

/// What a phase is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// It is measured.
    Measured,
    /// It is measured, and creates all that the later phases of its work need.
    Begins,
    /// It is measured, and removes all that is left.
    Ends,
    /// It only prepares or checks others.
    Aids,
}

/// What is known of a phase.
#[derive(Debug, Clone, Copy)]
struct PhaseRow {
    name: &'static str,
    on: PhaseSubject,
    /// `None` for several.
    operation: Option<Operation>,
    /// The unit of its rate, if that counts operations.
    per_second: &'static str,
    role: Role,
    /// Whether a clock may end it: later phases need no more than was done.
    may_stop: bool,
}

impl PhaseRow {
    const fn of(
        name: &'static str,
        on: PhaseSubject,
        operation: Operation,
        per_second: &'static str,
    ) -> Self {
        Self { name, on, operation: Some(operation), per_second, role: Role::Measured, may_stop: true }
    }

    const fn several(name: &'static str, on: PhaseSubject, per_second: &'static str) -> Self {
        Self { operation: None, ..Self::of(name, on, Operation::Read, per_second) }
    }

    const fn role(self, role: Role) -> Self {
        Self { role, ..self }
    }

    const fn to_its_end(self) -> Self {
        Self { may_stop: false, ..self }
    }
}

/// Each phase, in the order of declaration.
const PHASES: [(Phase, PhaseRow); 26] = {
    use Operation::{Create, Exchange, Find, List, Read, Remove, Rename, Stat, Write};
    use PhaseSubject::{Data, Directories, Files, Launches, Messages, Names, Objects, Tables, Tree};
    let (of, several) = (PhaseRow::of, PhaseRow::several);
    [
        (Phase::Fill, of("fill", Data, Write, "transfers/s").role(Role::Aids).to_its_end()),
        (Phase::Write, of("write", Data, Write, "transfers/s")),
        (Phase::Read, of("read", Data, Read, "transfers/s")),
        (Phase::Mixed, several("mixed", Data, "transfers/s")),
        (Phase::CheckWrite, of("check-write", Data, Read, "transfers/s").role(Role::Aids).to_its_end()),
        (Phase::CheckRead, of("check-read", Data, Read, "transfers/s").role(Role::Aids).to_its_end()),
        (Phase::TreeCreate, of("tree-create", Tree, Create, "creates/s").role(Role::Begins).to_its_end()),
        (Phase::DirectoryCreate, of("directory-create", Directories, Create, "creates/s")),
        (Phase::DirectoryStat, of("directory-stat", Directories, Stat, "stats/s")),
        (Phase::DirectoryList, of("directory-list", Tree, List, "lists/s")),
        (Phase::DirectoryRename, of("directory-rename", Directories, Rename, "renames/s").to_its_end()),
        (Phase::DirectoryRemove, of("directory-remove", Directories, Remove, "removes/s").to_its_end()),
        (Phase::FileCreate, of("file-create", Files, Create, "creates/s")),
        (Phase::FileWrite, of("file-write", Files, Write, "writes/s")),
        (Phase::FileStat, of("file-stat", Files, Stat, "stats/s")),
        (Phase::FileRead, of("file-read", Files, Read, "reads/s")),
        (Phase::FileRename, of("file-rename", Files, Rename, "renames/s").to_its_end()),
        (Phase::FileRemove, of("file-remove", Files, Remove, "removes/s").to_its_end()),
        (Phase::TreeRemove, of("tree-remove", Tree, Remove, "removes/s").role(Role::Ends).to_its_end()),
        (Phase::Precreate, of("precreate", Objects, Create, "creates/s").role(Role::Begins).to_its_end()),
        (Phase::Benchmark, several("benchmark", Objects, "operations/s")),
        (Phase::Cleanup, of("cleanup", Objects, Remove, "removes/s").role(Role::Ends).to_its_end()),
        (Phase::Exchange, of("exchange", Messages, Exchange, "RPC/s")),
        // The tasks of a search share the directories and are done when none is left.
        (Phase::Find, of("find", Names, Find, "names/s").to_its_end()),
        (Phase::Load, of("load", Tables, Write, "transfers/s").role(Role::Begins)),
        (Phase::Jobs, several("jobs", Launches, "transfers/s")),
    ]
};

impl Phase {
    /// Every phase.
    pub const ALL: [Self; 26] = variants(&PHASES);

    const fn row(self) -> &'static PhaseRow {
        &PHASES[self as usize].1
    }

    /// Name used in tables and records.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// The phase of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|phase| phase.name() == name)
    }

    /// What its operations are on.
    #[must_use]
    pub const fn subject(self) -> PhaseSubject {
        self.row().on
    }

    /// The operation that it is named after. `None` for a phase with several operations.
    #[must_use]
    pub const fn operation(self) -> Option<Operation> {
        self.row().operation
    }

    /// The unit of its operations per second, as in `creates/s`.
    #[must_use]
    pub const fn operations_per_second(self) -> &'static str {
        self.row().per_second
    }

    /// The plural noun for its operations, as in `creates`.
    #[must_use]
    pub fn operations(self) -> &'static str {
        self.operations_per_second().trim_end_matches("/s")
    }

    /// Whether a figure of this phase is a result that a summary shows.
    #[must_use]
    pub const fn is_result(self) -> bool {
        !matches!(self.row().role, Role::Aids)
    }

    /// Whether a clock may end it. No clock ends phases whose work later phases depend on.
    #[must_use]
    pub const fn may_stop(self) -> bool {
        self.row().may_stop
    }

    /// Whether its operations are transfers within files.
    #[must_use]
    pub const fn is_transfers(self) -> bool {
        matches!(self.subject(), PhaseSubject::Data)
    }

    /// Whether its primary figure counts bytes: true of transfers, and of jobs, whose steps move pages.
    #[must_use]
    pub const fn counts_bytes(self) -> bool {
        matches!(self.subject(), PhaseSubject::Data | PhaseSubject::Tables | PhaseSubject::Launches)
    }

    /// Whether the phase measures reads of files of [`crate::Placement`].
    #[must_use]
    pub const fn reads(self) -> bool {
        self.needs_data() && self.is_result()
    }

    /// Whether the phase needs data in files of [`crate::Placement`] before it starts.
    #[must_use]
    pub const fn needs_data(self) -> bool {
        self.is_transfers() && !matches!(self.operation(), Some(Operation::Write))
    }

    /// Whether the phase creates data or names.
    #[must_use]
    pub const fn makes(self) -> bool {
        matches!(self.operation(), Some(Operation::Create | Operation::Write) | None)
    }

    /// Whether the phase changes the files of [`crate::Placement`].
    #[must_use]
    pub const fn writes(self) -> bool {
        self.is_transfers() && self.makes()
    }

    /// Whether the phase only writes to the files of [`crate::Placement`].
    #[must_use]
    pub const fn only_writes(self) -> bool {
        self.is_transfers() && matches!(self.operation(), Some(Operation::Write))
    }

    /// Whether the phase creates, changes or removes directory entries of its work.
    #[must_use]
    pub const fn changes_names(self) -> bool {
        let changes = matches!(self.operation(), Some(Operation::Rename | Operation::Remove));
        !self.is_transfers() && (changes || self.makes())
    }

    /// Whether the phase creates all that later phases of its work need.
    #[must_use]
    pub const fn begins(self) -> bool {
        matches!(self.row().role, Role::Begins)
    }

    /// Whether the phase removes all that is left of its work.
    #[must_use]
    pub const fn ends(self) -> bool {
        matches!(self.row().role, Role::Ends)
    }

    /// Whether the phase creates items of a tree.
    #[must_use]
    pub const fn creates_items(self) -> bool {
        let items = matches!(self.subject(), PhaseSubject::Directories | PhaseSubject::Files);
        items && matches!(self.operation(), Some(Operation::Create))
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::Phase;

    #[test]
    fn what_follows_from_the_rows() {
        let those = |of: fn(Phase) -> bool| {
            Phase::ALL.into_iter().filter(|one| of(*one)).map(Phase::name).collect::<Vec<_>>()
        };
        assert_eq!(those(Phase::reads), ["read", "mixed"]);
        assert_eq!(those(Phase::writes), ["fill", "write", "mixed"]);
        assert_eq!(those(Phase::only_writes), ["fill", "write"]);
        assert_eq!(those(Phase::needs_data), ["read", "mixed", "check-write", "check-read"]);
        assert_eq!(those(|one| !one.is_result()), ["fill", "check-write", "check-read"]);
        assert_eq!(those(Phase::begins), ["tree-create", "precreate", "load"]);
        assert_eq!(those(Phase::ends), ["tree-remove", "cleanup"]);
        assert_eq!(those(Phase::creates_items), ["directory-create", "file-create"]);
        let looks = ["directory-stat", "directory-list", "file-stat", "file-read", "exchange", "find"];
        assert_eq!(those(|one| !one.is_transfers() && !one.changes_names()), looks);
        let makes = "tree-create directory-create file-create file-write precreate benchmark load jobs";
        assert_eq!(those(|one| one.makes() && !one.is_transfers()).join(" "), makes);
    }
}
