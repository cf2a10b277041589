//! Every option of IOzone 3.489 and 3.508, in one table.

use crate::ToolError;
use crate::options::help;
use crate::options::{Options, Spec, Takes};

/// What an option sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    Auto,
    Auto2,
    ReportFile,
    Mmap,
    IncludeClose,
    ShowChildren,
    IncludeFlush,
    Extension,
    File,
    Names,
    SizeMost,
    SizeLeast,
    Help,
    Depth,
    Test,
    Direct,
    Stride,
    Lower,
    Upper,
    LineSize,
    CacheSize,
    Uname,
    Microseconds,
    SyncWrites,
    SyncData,
    Operations,
    RecordMost,
    RecordLeast,
    Latencies,
    Record,
    Report,
    Size,
    Processes,
    Remount,
    Version,
    Verify,
    Keep,
    NoStonewall,
    CrossOver,
    Clients,
    Host,
    ShowCpu,
    Diagnose,
    Multiplier,
    ReadPercent,
    NoRetest,
    ConstantSize,
    Delay,
    SequentialMix,
    Overwrite,
    ReadOnly,
    /// An option without an effect, with the line that IOzone prints for it.
    Idle(&'static str),
    /// A rejected option.
    Other,
}

const fn flag(short: &'static str, key: Key, about: &'static str) -> Spec<Key> {
    Spec::honoured(key, short, &[], Takes::Nothing, about)
}

const fn value(short: &'static str, example: &'static str, key: Key, about: &'static str) -> Spec<Key> {
    Spec::honoured(key, short, &[], Takes::Value(example), about)
}

const fn no_flag(short: &'static str, why: &'static str) -> Spec<Key> {
    Spec::refused(Key::Other, short, &[], Takes::Nothing, why)
}

const fn no_value(short: &'static str, example: &'static str, why: &'static str) -> Spec<Key> {
    Spec::refused(Key::Other, short, &[], Takes::Value(example), why)
}

const fn idle(short: &'static str, printed: &'static str, why: &'static str) -> Spec<Key> {
    Spec::explained(Key::Idle(printed), short, &[], Takes::Nothing, ("no effect", why))
}

const NO_LOCKS: &str = "locks around transfers are not offered: they would measure the lock manager, of which no figure here says so";
const NO_DEDUP: &str = "data that can be deduplicated or compressed is not offered: buffers are unique and incompressible, so that no storage can make the figures larger";
const NO_PIT: &str =
    "a time server is not asked: the offsets of the clocks of all nodes are measured by the run itself";
const NO_SHORT: &str = "figures of calls that move nothing are no figures of storage; `ioproof overhead` measures the instrument";
const NO_THINK: &str =
    "time to think between transfers is not offered; a study's `rate` starts transfers by the clock instead";
const NO_TELEMETRY: &str =
    "replaying a list of transfers is not offered; choose an order with -i, -j, or a study";

/// All options.
pub(super) const OPTIONS: Options<Key> = Options {
    tool: "iozone",
    called: "IOzone",
    usage: "[OPTION]...",
    what: "Measures as IOzone does: -a a table of file × record sizes, -s -r one pair, -t processes at once.\n\
           Sizes are kB, or take k, m, g (powers of 1024). Every difference to IOzone: docs/IOZONE.md",
    own: &[
        help::EXPLAIN,
        help::OUT,
        help::VERIFY,
        ("--tasks-per-rank K", "processes of the line on each process of a launcher (1)"),
        help::YES,
        help::NO_PROGRESS,
    ],
    long_only: false,
    ignores_dashes: false,
    specs: &[SPECS],
};

/// Sorted by letter; options with a plus sign are at the end.
#[rustfmt::skip]
const SPECS: &[Spec<Key>] = &[
    flag("a", Key::Auto, "automatic mode: files of 64 kB to 512 MB, records of 4 kB to 16 MB, each twice the one before; records below 64 kB only for files below 32 MB"),
    flag("A", Key::Auto2, "automatic mode with small records for large files too; only -i 0 and -i 1 without -i. Obsolete in IOzone: -az -i 0 -i 1"),
    value("b", "-b FILE", Key::ReportFile, "the report of -R goes into this file as text as well; IOzone writes a binary worksheet, which spreadsheets of today no longer need"),
    flag("B", Key::Mmap, "shared memory mappings; without the fwrite and fread tests, as in IOzone"),
    flag("c", Key::IncludeClose, "the time of a test has its close in it"),
    flag("C", Key::ShowChildren, "a line for each process of a throughput test"),
    no_value("d", "-d MICROSECONDS", "processes start together or the figure is not of them all; a delay between them is not offered"),
    idle("D", "Using msync(MS_ASYNC) on mmap files", "a shared mapping is written back by the kernel as MS_ASYNC asks, which Linux does nothing for"),
    flag("e", Key::IncludeFlush, "the time of a test has its fsync in it, and the close, which comes with it"),
    flag("E", Key::Extension, "the columns of pwrite, pread, pwritev and preadv, which IOzone has with -E alone"),
    value("f", "-f FILE", Key::File, "the file of single and automatic mode; iozone.tmp without it"),
    Spec::honoured(Key::Names, "F", &[], Takes::Words("-F FILE..."), "the files of the processes of throughput mode, one for each; iozone.DUMMY.0 and so on without it"),
    value("g", "-g SIZE", Key::SizeMost, "largest file of automatic mode (kB, or with k, m, g)"),
    idle("G", "Using msync(MS_SYNC) on mmap files", "with -e the mapping is synced in the timed close"),
    flag("h", Key::Help, "help"),
    value("H", "-H DEPTH", Key::Depth, "as -k: io_uring stands for POSIX asynchronous I/O, and no bytes are copied beside it"),
    value("i", "-i TEST", Key::Test, "0 write, rewrite; 1 read, reread; 2 random read, write; 3 backward read; 4 record rewrite; 5 stride read; 6 fwrite; 7 fread; 8 mix (throughput mode); 9 pwrite; 10 pread; 11 pwritev; 12 preadv. May be repeated; all without it"),
    flag("I", Key::Direct, "O_DIRECT; the fwrite and fread tests stay buffered, since streams have buffers of their own"),
    value("j", "-j RECORDS", Key::Stride, "stride of test 5 in records; 17 without it. Each record is read once; IOzone reads some twice and the last ones not at all"),
    no_value("J", "-J MILLISECONDS", NO_THINK),
    value("k", "-k DEPTH", Key::Depth, "io_uring with so many transfers under way, which stands for POSIX asynchronous I/O; without the fwrite and fread tests, as in IOzone"),
    no_flag("K", "a few random places within a sequential test make a figure of neither; use -i 2"),
    value("l", "-l PROCESSES", Key::Lower, "least number of processes of throughput mode"),
    value("L", "-L BYTES", Key::LineSize, "printed; buffers always start at a page"),
    idle("m", "", "each transfer under way has a buffer of its own anyway"),
    flag("M", Key::Uname, "the host's name and kernel stand in the output"),
    value("n", "-n SIZE", Key::SizeLeast, "smallest file of automatic mode (kB, or with k, m, g)"),
    flag("N", Key::Microseconds, "microseconds of a record; not in throughput mode, as in IOzone"),
    flag("o", Key::SyncWrites, "each write is on stable storage when it ends: opened with O_SYNC; fwrite tests and mappings (-B), which write later than their calls, by fsync after each"),
    flag("O", Key::Operations, "records per second"),
    idle("p", "Purge Mode On", "buffers are stamped anew for each write, so that no processor cache holds what is written"),
    no_value("P", "-P PROCESSOR", "threads are bound by who starts the program: taskset, numactl, or --cpu-bind of srun"),
    value("q", "-q SIZE", Key::RecordMost, "largest record of automatic mode (kB, or with k, m, g)"),
    flag("Q", Key::Latencies, "each operation's offset and latency is kept in the record (`ioproof history`); IOzone's .dat files are not written"),
    value("r", "-r SIZE", Key::Record, "record size (kB, or with k, m, g); 4 kB without it. May be repeated"),
    flag("R", Key::Report, "a report for spreadsheets at the end of the output"),
    value("s", "-s SIZE", Key::Size, "file size of each process (kB, or with k, m, g); 512 kB without it. May be repeated. What is left beyond whole records is left out, as in IOzone"),
    value("S", "-S KB", Key::CacheSize, "printed; nothing depends on it"),
    value("t", "-t PROCESSES", Key::Processes, "throughput mode: so many processes at once, threads of this program or of those that a launcher has started. May be repeated"),
    idle("T", "", "processes of a throughput test are threads here"),
    value("u", "-u PROCESSES", Key::Upper, "largest number of processes of throughput mode; all from -l on are tried"),
    value("U", "-U MOUNT", Key::Remount, "instead of unmounting, which would take the file system from everybody, caches are written back and dropped before each test that reads (needs root)"),
    flag("v", Key::Version, "version"),
    value("V", "-V PATTERN", Key::Verify, "what is read is compared with what was written: stamps that also tell stale and misplaced data, not the pattern"),
    flag("w", Key::Keep, "the files are kept"),
    no_flag("W", NO_LOCKS),
    flag("x", Key::NoStonewall, "all processes count to their end. Here they always go on to it; without -x only `Min xfer` looks at the moment when the first was done"),
    no_value("X", "-X FILE", NO_TELEMETRY),
    value("y", "-y SIZE", Key::RecordLeast, "smallest record of automatic mode (kB, or with k, m, g)"),
    no_value("Y", "-Y FILE", NO_TELEMETRY),
    flag("z", Key::CrossOver, "with -a: small records for large files too"),
    no_flag("Z", "a mapping and calls on one file at once are not offered; run once with -B and once without"),
    no_value("+A", "-+A 0-4", "advice for mappings is not given; --fadvise tells the kernel about files"),
    no_value("+b", "-+b KB,MILLISECONDS", "bursts with sleep between are not offered; a study's `rate` starts transfers by the clock"),
    flag("+B", Key::SequentialMix, "test 8 goes in rising order"),
    no_value("+a", "-+a PERCENT", NO_DEDUP),
    no_value("+C", "-+C PERCENT", NO_DEDUP),
    flag("+d", Key::Diagnose, "every byte that is read is compared with what was written"),
    flag("+D", Key::SyncData, "as -o, but with O_DSYNC: the data alone"),
    flag("+E", Key::ReadOnly, "only tests that read, on files that are there"),
    idle("+F", "", "files of the mix are as the tests before left them"),
    value("+h", "-+h HOST", Key::Host, "printed; each process knows the name of its own node"),
    no_value("+H", "-+H HOST", NO_PIT),
    no_flag("+J", NO_THINK),
    flag("+k", Key::ConstantSize, "-s is the size of all files together, whatever the number of processes"),
    no_flag("+K", "it has no meaning that is documented"),
    no_flag("+l", NO_LOCKS),
    no_flag("+L", NO_LOCKS),
    value("+m", "-+m FILE", Key::Clients, "a client list: `HOST DIRECTORY PROGRAM` for each process. A launcher (mpirun, srun) starts the processes; the list gives their directories, and is compared with where they run"),
    no_flag("+M", NO_DEDUP),
    flag("+n", Key::NoRetest, "no retests; their columns are 0"),
    flag("+N", Key::Overwrite, "the first write goes over files that are there"),
    value("+p", "-+p PERCENT", Key::ReadPercent, "share of reads in test 8: of all transfers of each process here, of all processes in IOzone"),
    no_value("+P", "-+P SERVICE", NO_PIT),
    value("+q", "-+q SECONDS", Key::Delay, "rest before each test"),
    no_value("+Q", "-+Q BYTES", NO_DEDUP),
    flag("+r", Key::SyncWrites, "as -o; that reads wait for metadata as well (O_RSYNC) is the same on Linux"),
    no_value("+R", "-+R FILE", "names of files stand on the line: -F $(cat FILE)"),
    no_value("+S", "-+S NUMBER", NO_DEDUP),
    no_flag("+t", "the network is measured by `ioproof rpc`, without a file system behind it"),
    idle("+T", "", "the record has the time of every test and second"),
    flag("+u", Key::ShowCpu, "processor time of throughput tests, of all processes of the run together"),
    no_flag("+V", "one file for all processes is what `ioproof ior` without -F measures, each with a part of its own; processes that write over each other's data are not offered"),
    no_value("+w", "-+w PERCENT", NO_DEDUP),
    no_value("+W", "-+W NUMBER", NO_DEDUP),
    value("+x", "-+x FACTOR", Key::Multiplier, "from size to size in automatic mode; 2 without it"),
    no_flag("+X", NO_SHORT),
    no_value("+y", "-+y PERCENT", NO_DEDUP),
    idle("+z", "Histogram summary enabled.", "every run has the histogram of all latencies in its record"),
    no_flag("+Z", "old data sets can be optimised away by storage that knows them; figures of them are not offered"),
];

/// An error of the command line.
pub(super) fn wrong(written: &str, reason: String) -> ToolError {
    OPTIONS.error(written, &reason)
}
