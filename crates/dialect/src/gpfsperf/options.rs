//! Every option of gpfsperf, in one table: the reader, the help and the documentation use it.

use std::fmt::Write as _;

use crate::help::{self, Help};

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
    Verbose,
    Help,
    /// Heeded without an effect.
    Idle,
    /// Asks for what is not here; the reason, and what to do instead.
    Refused(&'static str),
}

/// One option.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spec {
    pub name: &'static str,
    /// The name of its value; empty where it has none.
    pub value: &'static str,
    pub key: Key,
    pub about: &'static str,
}

const fn spec(name: &'static str, value: &'static str, key: Key, about: &'static str) -> Spec {
    Spec { name, value, key, about }
}

/// All options.
#[rustfmt::skip]
pub(super) const OPTIONS: &[Spec] = &[
    spec("-r", "SIZE", Key::Record, "record size (k, m, g are powers of 1024); the block size that the file system tells without it"),
    spec("-n", "SIZE", Key::Bytes, "bytes moved by all threads together; the file's size without it. More than the file has: its records are visited again. What is left beyond whole records of all threads is left out, and said"),
    spec("-s", "SIZE", Key::Stride, "with strided: bytes from one access of a thread to its next; as many records as there are threads without it"),
    spec("-th", "THREADS", Key::Threads, "threads of each process; 1 without it"),
    spec("-aio", "DEPTH", Key::Depth, "io_uring with so many transfers of each thread under way, which stands for asynchronous I/O"),
    spec("-dio", "", Key::Direct, "direct I/O, around the page cache"),
    spec("-fsync", "", Key::Fsync, "fsync at the end of a test that writes, within its time"),
    spec("-osync", "", Key::SyncWrites, "each write is on stable storage when it ends: opened with O_SYNC"),
    spec("-noinv", "", Key::KeepCache, "caches are not dropped before the test"),
    spec("-reltoken", "", Key::Idle, "no effect: tokens of byte ranges are of GPFS, which gives them up when another node asks"),
    spec("-v", "", Key::Verbose, "no effect: every option is told by --explain"),
    spec("-h", "", Key::Help, "help"),
    spec("-shm", "", Key::Refused("a buffer that GPFS shares with the program needs GPFS; leave it out: each thread has a page-aligned buffer of its own"), ""),
    spec("-ds", "", Key::Refused("data shipping is of GPFS's own interface and not of POSIX; leave it out"), ""),
    spec("-nolabels", "", Key::Refused("the columns of that line differ from release to release; `ioproof report --format csv` has them with their names"), ""),
    spec("-nocycle", "", Key::Refused("a second pass over other offsets than the first is not offered; give -n the size of the file"), ""),
];

/// The option of this name.
pub(super) fn by_name(name: &str) -> Option<&'static Spec> {
    OPTIONS.iter().find(|spec| spec.name == name)
}

fn usage(spec: &Spec) -> String {
    if spec.value.is_empty() { spec.name.to_owned() } else { format!("{} {}", spec.name, spec.value) }
}

/// What `-h` shows.
pub(super) fn help() -> Help {
    let refused = |spec: &&Spec| matches!(spec.key, Key::Refused(_));
    let taken = OPTIONS.iter().filter(|spec| !refused(spec));
    Help {
        usage: "gpfsperf create|read|write seq|rand|randhint|strided FILE [OPTION]...".to_owned(),
        what: "Measures as gpfsperf and tsqosperf do: one file, threads that take its records in turn.\n\
               Every option and every difference: docs/GPFSPERF.md",
        called: "gpfsperf",
        options: taken.map(|spec| (usage(spec), spec.about.to_owned())).collect(),
        own: vec![
            help::EXPLAIN,
            help::OUT,
            ("--compat 3|4.2|5", "which release's report is printed; before 4 a Kbyte is 1024 bytes"),
            help::YES,
            help::NO_PROGRESS,
        ],
        refused: OPTIONS.iter().filter(refused).map(|spec| spec.name.to_owned()).collect(),
    }
}

/// The table of all options for `docs/GPFSPERF.md`, in Markdown.
pub(super) fn reference() -> String {
    let mut out = String::from("| option | state | what it does, or why not |\n|---|---|---|\n");
    for spec in OPTIONS {
        let (state, text) = match spec.key {
            Key::Refused(reason) => ("refused", reason),
            Key::Idle | Key::Verbose => ("explained", spec.about),
            _ => ("honoured", spec.about),
        };
        // Writing to a String cannot fail.
        let _ = writeln!(out, "| `{}` | {state} | {text} |", usage(spec));
    }
    out
}
