//! Every option of ioping 1.3.

use crate::options::help;
use crate::options::{Options, Spec, State, Takes};

/// What an option sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    Async,
    Cached,
    Direct,
    ReadWrite,
    Linear,
    Nowait,
    Hipri,
    Write,
    Sync,
    DataSync,
    Rapid,
    Keep,
    Warmup,
    Burst,
    Count,
    Entropy,
    Interval,
    Size,
    WorkSize,
    WorkOffset,
    WorkTime,
    SpeedLimit,
    RateLimit,
    MinTime,
    MaxTime,
    Batch,
    Time,
    Json,
    PrintCount,
    PrintInterval,
    Quiet,
    Help,
    Version,
}

const fn flag(
    key: Key,
    short: &'static str,
    words: &'static [&'static str],
    about: &'static str,
) -> Spec<Key> {
    Spec::honoured(key, short, words, Takes::Nothing, about)
}

const fn value(
    key: Key,
    short: &'static str,
    words: &'static [&'static str],
    example: &'static str,
    about: &'static str,
) -> Spec<Key> {
    Spec::honoured(key, short, words, Takes::Value(example), about)
}

const fn refused(spec: Spec<Key>, why: &'static str) -> Spec<Key> {
    Spec { state: State::Refused(why), ..spec }
}

/// All options.
pub(super) const OPTIONS: Options<Key> = Options {
    tool: "ioping",
    called: "ioping",
    usage: "[OPTION]...",
    what:
        "Measures the latency of requests to a directory, a file or a block device, one at a time.
\
           Words may stand after one dash or two. Every option and every difference to ioping: docs/IOPING.md",
    own: help::OWN,
    long_only: true,
    ignores_dashes: false,
    specs: &[SPECS],
};

const SPECS: &[Spec<Key>] = &[
    flag(
        Key::Async,
        "A",
        &["async"],
        "requests by io_uring, one at a time (ioping: io_submit); needs -C or -D, as nothing can be done before each of them",
    ),
    flag(Key::Cached, "C", &["cached"], "the page cache may answer, and writes may stay in it"),
    flag(Key::Direct, "D", &["direct"], "around the page cache (O_DIRECT)"),
    flag(Key::ReadWrite, "G", &["read-write"], "writes and reads in turn"),
    flag(Key::Linear, "L", &["linear"], "in rising offsets, of 256k each if -s is not given"),
    refused(
        flag(Key::Nowait, "N", &["nowait"], "RWF_NOWAIT"),
        "a request that may not wait is answered by the page cache or not at all, so its time says nothing of storage; use -C for the page cache",
    ),
    refused(
        flag(Key::Hipri, "H", &["hipri"], "RWF_HIPRI"),
        "polled completion needs queues of the device that are set up for it; use -D",
    ),
    flag(
        Key::Write,
        "W",
        &["write"],
        "writes, each with fdatasync if -C is not given; on a file or device -WWW, and --destroy-data-on for a device",
    ),
    flag(
        Key::Sync,
        "Y",
        &["sync"],
        "each write is stable within its time: with -C by O_SYNC, else by fsync (ioping: O_SYNC and fdatasync)",
    ),
    flag(
        Key::DataSync,
        "y",
        &["dsync"],
        "the same of its data alone: with -C by O_DSYNC, else by fdatasync (ioping: O_DSYNC and fdatasync)",
    ),
    flag(
        Key::Rapid,
        "R",
        &["rapid"],
        "as fast as it goes for 3 s within 64m, without a line for each request",
    ),
    flag(
        Key::Keep,
        "k",
        &["keep"],
        "the file in the directory is called ioping.tmp, stays and is used again",
    ),
    value(Key::Warmup, "a", &["warmup"], "-a 1", "so many first requests are left out of the statistics"),
    refused(
        value(Key::Burst, "b", &["burst"], "-b 8", "requests without delay between intervals"),
        "bursts are not made here; use -i 0 for requests without delay, or -i with a short interval",
    ),
    value(Key::Count, "c", &["count"], "-c 10", "ends after so many requests"),
    value(
        Key::Entropy,
        "e",
        &["entropy"],
        "-e 7",
        "chooses the random offsets; 0 lets them be those of seed 1",
    ),
    value(
        Key::Interval,
        "i",
        &["interval"],
        "-i 0.2",
        "time from the start of a request to the start of the next (1s)",
    ),
    value(Key::Size, "s", &["size"], "-s 4k", "bytes of a request (4k)"),
    value(
        Key::WorkSize,
        "S",
        &["work-size"],
        "-S 64m",
        "bytes that the requests are spread over (1m, or the whole file or device)",
    ),
    refused(
        value(Key::WorkOffset, "o", &["work-offset"], "-o 1g", "where these bytes begin"),
        "requests begin at offset 0 here; in a directory that makes no difference, on a device use a partition",
    ),
    value(Key::WorkTime, "w", &["work-time"], "-w 3", "ends after this time"),
    value(
        Key::SpeedLimit,
        "l",
        &["speed-limit"],
        "-l 10m",
        "at most so many bytes a second: sets the interval, or makes that of -i longer",
    ),
    value(
        Key::RateLimit,
        "r",
        &["rate-limit"],
        "-r 100",
        "at most so many requests a second: sets the interval, or makes that of -i longer",
    ),
    value(Key::MinTime, "t", &["min-time"], "-t 1us", "faster requests are left out of the statistics"),
    value(Key::MaxTime, "T", &["max-time"], "-T 1s", "slower requests are left out of the statistics"),
    flag(Key::Batch, "B", &["batch"], "prints one line of raw numbers at the end and nothing else"),
    Spec::honoured(
        Key::Time,
        "I",
        &["time"],
        Takes::Attached("-I, -I%T"),
        "prints the time before each request, by default as `Jan 01 00:00:00`",
    ),
    flag(Key::Json, "J", &["json"], "prints JSON, when the run is over"),
    value(Key::PrintCount, "p", &["print-count"], "-p 100", "prints raw numbers for every so many requests"),
    value(Key::PrintInterval, "P", &["print-interval"], "-P 1", "prints raw numbers for every so much time"),
    flag(Key::Quiet, "q", &["quiet"], "no line for each request"),
    flag(Key::Help, "h", &["help"], "prints this and ends"),
    flag(Key::Version, "v", &["version"], "prints the version and ends"),
];
