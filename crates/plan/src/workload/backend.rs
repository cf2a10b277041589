//! The backends: how transfers reach the kernel. Each is declared once, in [`BACKENDS`]; other code asks for its
//! capabilities.

use serde::{Deserialize, Serialize};

/// How transfers reach the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Backend {
    /// One thread for each task, `pread(2)` and `pwrite(2)`.
    Psync,
    /// io_uring: few threads serve all tasks, each with `depth` transfers in flight.
    Uring {
        /// Transfers in flight per task.
        depth: u32,
        /// Whether the user asked for io_uring by name, so that no fallback is allowed.
        required: bool,
    },
    /// Linux asynchronous I/O, `io_submit(2)`: a few threads serve all tasks, each with `depth` transfers in
    /// flight.
    Libaio {
        /// Transfers in flight per task.
        depth: u32,
    },
    /// One thread for each task, `preadv(2)` and `pwritev(2)`.
    Vectored {
        /// Number of equally sized pieces of memory that each transfer moves in a single call.
        pieces: u32,
    },
    /// One thread for each task, `fread(3)` and `fwrite(3)`: C library streams with a process buffer of one
    /// transfer.
    Stdio,
    /// Copies to and from a shared memory mapping.
    Mmap,
    /// No I/O at all: measures the overhead of the program itself.
    Null,
}

/// Name and capabilities of a backend.
#[derive(Debug, Clone, Copy)]
pub struct Capabilities {
    /// Name in studies, tables and records.
    pub name: &'static str,
    /// Description for the reference of studies.
    pub about: &'static str,
    /// Calls by which data is moved.
    pub calls: &'static str,
    /// Whether it moves data. Otherwise no file is opened.
    pub moves_data: bool,
    /// Whether a few threads serve all tasks, each with several transfers in flight.
    pub queued: bool,
    /// Whether it needs io_uring.
    pub needs_uring: bool,
    /// Whether each transfer moves data from or to several pieces of memory.
    pub vectored: bool,
    /// Whether a transfer is a system call, as opposed to a copy in memory.
    pub by_calls: bool,
    /// Why it does not support direct I/O, if so.
    pub direct_refused: Option<&'static str>,
    /// Why it cannot fail on a short transfer, if so.
    pub single_attempt_refused: Option<&'static str>,
    /// Whether it can drop pages from the page cache before each read.
    pub forgets: bool,
    /// Whether it can sync data without metadata (`fdatasync`).
    pub data_sync: bool,
    /// Whether it writes within its calls, so that `O_SYNC` takes effect there.
    pub sync_open: bool,
    /// Whether it can create and remove files and directories.
    pub trees: bool,
    /// Whether it can send and receive over sockets.
    pub sockets: bool,
    /// Whether it is the backend of jobs.
    pub jobs: bool,
    /// Creates the backend for a depth and a number of pieces.
    make: fn(u32, u32) -> Backend,
}

/// The capabilities of `pread(2)`; the other backends are declared by their differences.
const PSYNC: Capabilities = Capabilities {
    name: "psync",
    about: "one thread for each task, `pread(2)` and `pwrite(2)`",
    calls: "pread and pwrite",
    moves_data: true,
    queued: false,
    needs_uring: false,
    vectored: false,
    by_calls: true,
    direct_refused: None,
    single_attempt_refused: None,
    forgets: true,
    data_sync: true,
    sync_open: true,
    trees: true,
    sockets: true,
    jobs: true,
    make: |_, _| Backend::Psync,
};

const URING: Capabilities = Capabilities {
    name: "uring",
    about: "io_uring, without a fallback to another backend",
    calls: "io_uring",
    queued: true,
    needs_uring: true,
    trees: true,
    sockets: true,
    make: |depth, _| Backend::Uring { depth, required: true },
    ..TRANSFERS_ONLY
};

const LIBAIO: Capabilities = Capabilities {
    name: "libaio",
    about: "Linux asynchronous I/O, `io_submit(2)`; asynchronous in the kernel for direct transfers only",
    calls: "io_submit",
    queued: true,
    make: |depth, _| Backend::Libaio { depth },
    ..TRANSFERS_ONLY
};

const VECTORED: Capabilities = Capabilities {
    name: "vectored",
    about: "one thread for each task, `preadv(2)` and `pwritev(2)`",
    calls: "preadv and pwritev",
    vectored: true,
    make: |_, pieces| Backend::Vectored { pieces },
    ..TRANSFERS_ONLY
};

const STDIO: Capabilities = Capabilities {
    name: "stdio",
    about: "one thread for each task, `fread(3)` and `fwrite(3)`: buffered in the process too",
    calls: "streams of the C library, fread and fwrite, buffered in the process too",
    direct_refused: Some(
        "a stream of the C library has a buffer of its own, which is not aligned for direct I/O",
    ),
    single_attempt_refused: Some("a stream of the C library continues short transfers by itself"),
    sync_open: false,
    make: |_, _| Backend::Stdio,
    ..TRANSFERS_ONLY
};

const MMAP: Capabilities = Capabilities {
    name: "mmap",
    about: "copies to and from a shared memory mapping",
    calls: "shared memory mapping, through the page cache",
    by_calls: false,
    direct_refused: Some("a memory mapping always goes through the page cache"),
    single_attempt_refused: Some("a memory mapping has no short transfers"),
    sync_open: false,
    make: |_, _| Backend::Mmap,
    ..TRANSFERS_ONLY
};

const NULL: Capabilities = Capabilities {
    name: "null",
    about: "no I/O at all: measures the instrument",
    calls: "null: no I/O at all, measures the instrument",
    moves_data: false,
    by_calls: false,
    trees: true,
    make: |_, _| Backend::Null,
    ..TRANSFERS_ONLY
};

/// A backend that only moves file data, immediately and by calls.
const TRANSFERS_ONLY: Capabilities =
    Capabilities { forgets: false, data_sync: false, trees: false, sockets: false, jobs: false, ..PSYNC };

/// All backends, in the order of the reference.
pub const BACKENDS: [Capabilities; 7] = [PSYNC, URING, LIBAIO, VECTORED, STDIO, MMAP, NULL];

/// Names and descriptions of [`BACKENDS`].
pub(crate) const WORDS: [(&str, &str); BACKENDS.len()] = {
    let mut words = [("", ""); BACKENDS.len()];
    let mut index = 0;
    while index < words.len() {
        words[index] = (BACKENDS[index].name, BACKENDS[index].about);
        index += 1;
    }
    words
};

impl Backend {
    /// The backend with this name, with `depth` and `pieces` if it has them.
    #[must_use]
    pub fn named(name: &str, depth: u32, pieces: u32) -> Option<Self> {
        BACKENDS.iter().find(|one| one.name == name).map(|one| (one.make)(depth, pieces))
    }

    /// Plain system calls, which are available on every host.
    #[must_use]
    pub const fn plain() -> Self {
        Self::Psync
    }

    /// io_uring if the host supports it, else plain calls by more tasks.
    #[must_use]
    pub const fn queued(depth: u32) -> Self {
        Self::Uring { depth, required: false }
    }

    /// No I/O: measures the program itself.
    #[must_use]
    pub const fn no_io() -> Self {
        Self::Null
    }

    /// The name and capabilities.
    #[must_use]
    pub const fn capabilities(self) -> &'static Capabilities {
        match self {
            Self::Psync => &PSYNC,
            Self::Uring { .. } => &URING,
            Self::Libaio { .. } => &LIBAIO,
            Self::Vectored { .. } => &VECTORED,
            Self::Stdio => &STDIO,
            Self::Mmap => &MMAP,
            Self::Null => &NULL,
        }
    }

    /// Transfers in flight per task.
    #[must_use]
    pub const fn depth(self) -> u32 {
        match self {
            Self::Uring { depth, .. } | Self::Libaio { depth } => depth,
            _ => 1,
        }
    }

    /// Pieces of memory per transfer.
    #[must_use]
    pub const fn pieces(self) -> u32 {
        match self {
            Self::Vectored { pieces } => pieces,
            _ => 1,
        }
    }

    /// The name used in tables and records.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.capabilities().name
    }

    /// Whether it moves data.
    #[must_use]
    pub const fn moves_data(self) -> bool {
        self.capabilities().moves_data
    }

    /// Whether few threads serve all tasks, each with several transfers in flight.
    #[must_use]
    pub const fn is_queued(self) -> bool {
        self.capabilities().queued
    }

    /// Whether its transfers can bypass the page cache.
    #[must_use]
    pub const fn can_be_direct(self) -> bool {
        self.moves_data() && self.capabilities().direct_refused.is_none()
    }

    /// Whether another backend may replace it on hosts that lack it.
    #[must_use]
    pub const fn is_replaceable(self) -> bool {
        matches!(self, Self::Uring { required: false, .. })
    }

    /// The same backend, with no fallback allowed.
    #[must_use]
    pub const fn required(self) -> Self {
        match self {
            Self::Uring { depth, .. } => Self::Uring { depth, required: true },
            other => other,
        }
    }

    /// The backend that fills the files before this one is measured, with `depth` transfers in flight if
    /// possible.
    #[must_use]
    pub const fn for_fill(self, depth: u32) -> Self {
        match self {
            Self::Uring { .. } => Self::Uring { depth, required: false },
            Self::Libaio { .. } => Self::Libaio { depth },
            Self::Null => Self::Null,
            _ => Self::Psync,
        }
    }
}

/// The names of backends that move data and are `suitable`, as in `psync, vectored or uring`.
pub(crate) fn names_with(suitable: impl Fn(&Capabilities) -> bool) -> String {
    let names: Vec<&str> =
        BACKENDS.iter().filter(|one| one.moves_data && suitable(one)).map(|one| one.name).collect();
    match names.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::{BACKENDS, Backend};

    #[test]
    fn each_backend_is_found_by_its_name() {
        for one in BACKENDS {
            let backend = Backend::named(one.name, 4, 2).expect("it is there");
            assert_eq!((backend.name(), backend.depth() > 1), (one.name, one.queued));
            assert_eq!(backend.pieces() > 1, one.vectored);
        }
        assert_eq!(Backend::named("sync", 1, 1), None);
    }
}
