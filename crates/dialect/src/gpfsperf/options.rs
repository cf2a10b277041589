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
    what: "Measures as gpfsperf and tsqosperf do: threads access the records of one file in turn.\n\
           All options and differences: docs/GPFSPERF.md",
    own: &[
        help::EXPLAIN,
        help::OUT,
        ("--compat 3|4.2|5", "release whose report is printed; before 4, a Kbyte is 1024 bytes"),
        help::YES,
        help::NO_PROGRESS,
    ],
    long_only: false,
    ignores_dashes: false,
    specs: &[SPECS],
};

#[rustfmt::skip]
const SPECS: &[Spec<Key>] = &[
    Spec::honoured(Key::Record, "r", &[], Takes::Value("-r SIZE"), "record size (k, m, g are powers of 1024) [default: block size that the file system reports]"),
    Spec::honoured(Key::Bytes, "n", &[], Takes::Value("-n SIZE"), "total bytes moved by all threads [default: size of the file]. If this is more than the file has, records are accessed again. A remainder that is not a whole record for every thread is skipped, with a warning"),
    Spec::honoured(Key::Stride, "s", &[], Takes::Value("-s SIZE"), "with strided: bytes from one access of a thread to its next [default: one record for each thread]"),
    Spec::honoured(Key::Threads, "th", &[], Takes::Value("-th THREADS"), "threads of each process [default: 1]"),
    Spec::honoured(Key::Depth, "aio", &[], Takes::Value("-aio DEPTH"), "asynchronous I/O by io_uring, with this many transfers in flight for each thread"),
    Spec::honoured(Key::Direct, "dio", &[], Takes::Nothing, "direct I/O, bypassing the page cache"),
    Spec::honoured(Key::Fsync, "fsync", &[], Takes::Nothing, "fsync at the end of a test that writes, included in its time"),
    Spec::honoured(Key::SyncWrites, "osync", &[], Takes::Nothing, "open with O_SYNC: each write is on stable storage when it ends"),
    Spec::honoured(Key::KeepCache, "noinv", &[], Takes::Nothing, "keep the file's pages in the cache before a test that reads; by default they are dropped, as gpfsperf drops the blocks of its file, and those of other files are kept"),
    Spec::explained(Key::Other, "reltoken", &[], Takes::Nothing, ("no effect", "byte-range tokens belong to GPFS, which releases them when another node asks")),
    Spec::explained(Key::Other, "v", &[], Takes::Nothing, ("no effect", "--explain describes every option")),
    Spec::honoured(Key::Help, "h", &[], Takes::Nothing, "print this help"),
    Spec::refused(Key::Other, "shm", &[], Takes::Nothing, "a buffer that is shared with GPFS requires GPFS; leave it out: each thread has its own page-aligned buffer"),
    Spec::refused(Key::Other, "ds", &[], Takes::Nothing, "data shipping is part of GPFS's own interface, not of POSIX; leave it out"),
    Spec::refused(Key::Other, "nolabels", &[], Takes::Nothing, "the columns of that line differ between releases; `ioproof report --format csv` prints them with their names"),
    Spec::refused(Key::Other, "nocycle", &[], Takes::Nothing, "a second pass over offsets other than those of the first is not supported; set -n to the size of the file"),
];

/// An error of the command line.
pub(super) fn wrong(written: &str, reason: String) -> ToolError {
    OPTIONS.error(written, &reason)
}
