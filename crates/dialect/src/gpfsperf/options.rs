//! Every option of gpfsperf, in one table.

use crate::ToolError;
use crate::options::help;
use crate::options::{Options, Spec, Takes};

/// What an option sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    Record,
    Bytes,
    Stride,
    Threads,
    Depth,
    Direct,
    Fsync,
    SyncWrites,
    KeepCache,
    Help,
    /// An option without an effect, or a rejected one.
    Other,
}

/// All options.
pub(super) const OPTIONS: Options<Key> = Options {
    tool: "gpfsperf",
    called: "gpfsperf",
    usage: "create|read|write seq|rand|randhint|strided FILE [OPTION]...",
    what: "Measures as gpfsperf and tsqosperf do: one file, threads that take its records in turn.\n\
           Every option and every difference: docs/GPFSPERF.md",
    own: &[
        help::EXPLAIN,
        help::OUT,
        ("--compat 3|4.2|5", "which release's report is printed; before 4 a Kbyte is 1024 bytes"),
        help::YES,
        help::NO_PROGRESS,
    ],
    long_only: false,
    ignores_dashes: false,
    specs: &[SPECS],
};

#[rustfmt::skip]
const SPECS: &[Spec<Key>] = &[
    Spec::honoured(Key::Record, "r", &[], Takes::Value("-r SIZE"), "record size (k, m, g are powers of 1024); the block size that the file system tells without it"),
    Spec::honoured(Key::Bytes, "n", &[], Takes::Value("-n SIZE"), "bytes moved by all threads together; the file's size without it. More than the file has: its records are visited again. What is left beyond whole records of all threads is left out, and said"),
    Spec::honoured(Key::Stride, "s", &[], Takes::Value("-s SIZE"), "with strided: bytes from one access of a thread to its next; as many records as there are threads without it"),
    Spec::honoured(Key::Threads, "th", &[], Takes::Value("-th THREADS"), "threads of each process; 1 without it"),
    Spec::honoured(Key::Depth, "aio", &[], Takes::Value("-aio DEPTH"), "io_uring with so many transfers of each thread under way, which stands for asynchronous I/O"),
    Spec::honoured(Key::Direct, "dio", &[], Takes::Nothing, "direct I/O, around the page cache"),
    Spec::honoured(Key::Fsync, "fsync", &[], Takes::Nothing, "fsync at the end of a test that writes, within its time"),
    Spec::honoured(Key::SyncWrites, "osync", &[], Takes::Nothing, "each write is on stable storage when it ends: opened with O_SYNC"),
    Spec::honoured(Key::KeepCache, "noinv", &[], Takes::Nothing, "the file's pages stay in the cache before a test that reads; without it they are dropped, as gpfsperf drops the blocks of its file, and those of other files stay"),
    Spec::explained(Key::Other, "reltoken", &[], Takes::Nothing, ("no effect", "tokens of byte ranges are of GPFS, which gives them up when another node asks")),
    Spec::explained(Key::Other, "v", &[], Takes::Nothing, ("no effect", "every option is told by --explain")),
    Spec::honoured(Key::Help, "h", &[], Takes::Nothing, "help"),
    Spec::refused(Key::Other, "shm", &[], Takes::Nothing, "a buffer that GPFS shares with the program needs GPFS; leave it out: each thread has a page-aligned buffer of its own"),
    Spec::refused(Key::Other, "ds", &[], Takes::Nothing, "data shipping is of GPFS's own interface and not of POSIX; leave it out"),
    Spec::refused(Key::Other, "nolabels", &[], Takes::Nothing, "the columns of that line differ from release to release; `ioproof report --format csv` has them with their names"),
    Spec::refused(Key::Other, "nocycle", &[], Takes::Nothing, "a second pass over other offsets than the first is not offered; give -n the size of the file"),
];

/// An error of the command line.
pub(super) fn wrong(written: &str, reason: String) -> ToolError {
    OPTIONS.error(written, &reason)
}
