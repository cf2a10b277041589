//! The kinds of work, as studies.

use std::path::Path;

/// The work that runs while a fault strikes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Work {
    Psync,
    Uring,
    Libaio,
    Vectored,
    Stdio,
    Mmap,
    Tree,
    Objects,
    Rpc,
    Jobs,
    Ranks,
    Import,
    Merge,
    Layout,
    Tuning,
    Restore,
    Io500,
    Record,
}

impl Work {
    pub(super) const ALL: [Self; 18] = [
        Self::Psync,
        Self::Uring,
        Self::Libaio,
        Self::Vectored,
        Self::Stdio,
        Self::Mmap,
        Self::Tree,
        Self::Objects,
        Self::Rpc,
        Self::Jobs,
        Self::Ranks,
        Self::Import,
        Self::Merge,
        Self::Layout,
        Self::Tuning,
        Self::Restore,
        Self::Io500,
        Self::Record,
    ];

    /// The work's name in the table.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Psync => "psync",
            Self::Uring => "uring",
            Self::Libaio => "libaio",
            Self::Vectored => "vectored",
            Self::Stdio => "stdio",
            Self::Mmap => "mmap",
            Self::Tree => "tree",
            Self::Objects => "objects",
            Self::Rpc => "rpc",
            Self::Jobs => "jobs",
            Self::Ranks => "MPI, 2 ranks",
            Self::Import => "import",
            Self::Merge => "merge",
            Self::Layout => "layout",
            Self::Tuning => "tuning",
            Self::Restore => "host restore",
            Self::Io500 => "io500",
            Self::Record => "finished record",
        }
    }

    /// Whether the work is file transfers by one backend.
    pub(super) const fn is_transfers(self) -> bool {
        matches!(self, Self::Psync | Self::Uring | Self::Libaio | Self::Vectored | Self::Stdio | Self::Mmap)
    }

    /// Whether a task has several transfers in flight.
    pub(super) const fn is_queued(self) -> bool {
        matches!(self, Self::Uring | Self::Libaio)
    }

    /// Whether `ioproof run` does the work, with a record and with its own files or connections.
    pub(super) const fn is_run(self) -> bool {
        self.is_transfers()
            || matches!(self, Self::Tree | Self::Objects | Self::Rpc | Self::Jobs | Self::Ranks)
    }

    /// The study for this work, on a directory.
    pub(super) fn study(self, data: &Path) -> String {
        let target = format!("[[target]]\nname = \"data\"\ndirectory = \"{}\"\n", data.display());
        match self {
            Self::Ranks => format!("{target}{}backend = \"psync\"\ntasks = 2\n", transfers("300ms")),
            Self::Tree => format!("{target}{TREE}"),
            Self::Objects => format!("{target}{OBJECTS}"),
            Self::Rpc => RPC.to_owned(),
            Self::Jobs => format!("{target}{JOBS}"),
            Self::Uring | Self::Libaio => {
                let queued = "depth = 4\ntasks = [1, 2]\n";
                format!("{target}{}backend = \"{}\"\n{queued}", transfers("40ms"), self.name())
            }
            _ => format!("{target}{}backend = \"{}\"\ntasks = [1, 2]\n", transfers("40ms"), self.name()),
        }
    }
}

/// Cases of two passes, each with a write and a read phase.
fn transfers(duration: &str) -> String {
    format!(
        "[protocol]\nrepetitions = 2\n[[workload]]\nname = \"moves\"\nsharing = \"per-task\"\ntransfer = \"16KiB\"\n\
         size = \"256KiB\"\nduration = \"{duration}\"\nfsync = \"close\"\n"
    )
}

const TREE: &str = r#"
[protocol]
repetitions = 2

[[workload]]
name = "tree"
work = "tree"
tasks = [1, 2]
items_per_directory = 60
file_bytes = "4KiB"
fsync = "close"
"#;

const OBJECTS: &str = r#"
[protocol]
repetitions = 2

[[workload]]
name = "objects"
work = "objects"
tasks = [1, 2]
sets = 4
precreated = 40
steps = 40
"#;

const RPC: &str = r#"
[protocol]
repetitions = 3

[[workload]]
name = "asks"
work = "rpc"
duration = "60ms"
threads = [1, 2]
"#;

/// Launches in two streams, followed by a job that sums them up.
const JOBS: &str = r#"
[[workload]]
name = "jobs"
work = "jobs"
page = "64KiB"
concurrency = 2
fsync = "close"

[[table]]
name = "sales"
size = "1MB"
groups = 100

[[test]]
name = "extract"
kind = "io"
streams = 2
rounds = 4
memory = "8MiB"

[[test.step]]
do = "scan"
input = "sales"
output = "some"
keep = "50 %"

[[test.step]]
do = "sort"
input = "some"
output = "sorted"
space = "permanent"

[[test]]
name = "total"
kind = "io"
memory = "8MiB"

[[test.step]]
do = "summarise"
input = "sorted"
"#;
