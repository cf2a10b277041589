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
    what: "Measures the latency of requests to a directory, a file or a block device, one at a time.
\
           Option words may follow one dash or two. All options and differences from ioping: docs/IOPING.md",
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
        "requests by io_uring, one at a time (ioping: io_submit); needs -C or -D, as nothing can be done \
         before each request",
    ),
    flag(Key::Cached, "C", &["cached"], "allow the page cache to serve reads, and writes to stay in it"),
    flag(Key::Direct, "D", &["direct"], "direct I/O, bypassing the page cache (O_DIRECT)"),
    flag(Key::ReadWrite, "G", &["read-write"], "alternate writes and reads"),
    flag(Key::Linear, "L", &["linear"], "ascending offsets, with requests of 256k unless -s is given"),
    refused(
        flag(Key::Nowait, "N", &["nowait"], "RWF_NOWAIT"),
        "a request that must not wait is served by the page cache or not at all, so its time says nothing \
         about storage; use -C for the page cache",
    ),
    refused(
        flag(Key::Hipri, "H", &["hipri"], "RWF_HIPRI"),
        "polled completion requires device queues that are set up for it; use -D",
    ),
    flag(
        Key::Write,
        "W",
        &["write"],
        "write, with fdatasync after each write unless -C is given; a file or device needs -WWW, and a \
         device also --destroy-data-on",
    ),
    flag(
        Key::Sync,
        "Y",
        &["sync"],
        "each write is on stable storage within its time: with -C by O_SYNC, otherwise by fsync (ioping: \
         O_SYNC and fdatasync)",
    ),
    flag(
        Key::DataSync,
        "y",
        &["dsync"],
        "the same for data only: with -C by O_DSYNC, otherwise by fdatasync (ioping: O_DSYNC and fdatasync)",
    ),
    flag(
        Key::Rapid,
        "R",
        &["rapid"],
        "as fast as possible for 3 s within 64m, without a line for each request",
    ),
    flag(Key::Keep, "k", &["keep"], "keep and reuse the file in the directory, which is called ioping.tmp"),
    value(Key::Warmup, "a", &["warmup"], "-a 1", "number of first requests to exclude from the statistics"),
    refused(
        value(Key::Burst, "b", &["burst"], "-b 8", "requests without delay between intervals"),
        "bursts are not supported; use -i 0 for requests without delay, or -i with a short interval",
    ),
    value(Key::Count, "c", &["count"], "-c 10", "stop after this many requests"),
    value(Key::Entropy, "e", &["entropy"], "-e 7", "seed of the random offsets; 0 is the same as 1"),
    value(
        Key::Interval,
        "i",
        &["interval"],
        "-i 0.2",
        "time from the start of a request to the start of the next [default: 1s]",
    ),
    value(Key::Size, "s", &["size"], "-s 4k", "bytes per request [default: 4k]"),
    value(
        Key::WorkSize,
        "S",
        &["work-size"],
        "-S 64m",
        "bytes that the requests are spread over [default: 1m, or the whole file or device]",
    ),
    refused(
        value(Key::WorkOffset, "o", &["work-offset"], "-o 1g", "offset at which these bytes begin"),
        "requests begin at offset 0; in a directory that makes no difference, on a device use a partition",
    ),
    value(Key::WorkTime, "w", &["work-time"], "-w 3", "stop after this time"),
    value(
        Key::SpeedLimit,
        "l",
        &["speed-limit"],
        "-l 10m",
        "maximum bytes per second: sets the interval, or lengthens that of -i",
    ),
    value(
        Key::RateLimit,
        "r",
        &["rate-limit"],
        "-r 100",
        "maximum requests per second: sets the interval, or lengthens that of -i",
    ),
    value(Key::MinTime, "t", &["min-time"], "-t 1us", "exclude faster requests from the statistics"),
    value(Key::MaxTime, "T", &["max-time"], "-T 1s", "exclude slower requests from the statistics"),
    flag(Key::Batch, "B", &["batch"], "print only one line of raw numbers at the end"),
    Spec::honoured(
        Key::Time,
        "I",
        &["time"],
        Takes::Attached("-I, -I%T"),
        "print the time before each request, by default as `Jan 01 00:00:00`",
    ),
    flag(Key::Json, "J", &["json"], "print JSON at the end of the run"),
    value(
        Key::PrintCount,
        "p",
        &["print-count"],
        "-p 100",
        "print raw numbers once per this number of requests",
    ),
    value(Key::PrintInterval, "P", &["print-interval"], "-P 1", "print raw numbers once per this time"),
    flag(Key::Quiet, "q", &["quiet"], "no line for each request"),
    flag(Key::Help, "h", &["help"], "print this help and exit"),
    flag(Key::Version, "v", &["version"], "print the version and exit"),
];
