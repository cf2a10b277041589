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

const NO_LOCKS: &str = "locks around transfers are not supported: they would measure the lock manager, and no figure would show it";
const NO_DEDUP: &str = "data that can be deduplicated or compressed is not supported: buffers are unique and incompressible, so that no storage can improve the figures";
const NO_PIT: &str = "no time server is used: the run itself measures the clock offsets of all nodes";
const NO_SHORT: &str = "figures of calls that move no data say nothing about storage; `ioproof overhead` measures the instrument";
const NO_THINK: &str =
    "think time between transfers is not supported; a study's `rate` starts transfers by the clock instead";
const NO_TELEMETRY: &str =
    "replaying a list of transfers is not supported; choose an order with -i, -j, or a study";

/// All options.
pub(super) const OPTIONS: Options<Key> = Options {
    tool: "iozone",
    called: "IOzone",
    usage: "[OPTION]...",
    what: "Measures as IOzone does: -a for a table of file × record sizes, -s -r for one pair, -t for \
           several processes at once.\n\
           Sizes are in kB, or take k, m, g (powers of 1024). All differences from IOzone: docs/IOZONE.md",
    own: &[
        help::EXPLAIN,
        help::OUT,
        help::VERIFY,
        ("--tasks-per-rank K", "processes of the line on each process of a launcher [default: 1]"),
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
    flag("a", Key::Auto, "automatic mode: files of 64 kB to 512 MB, records of 4 kB to 16 MB, each twice the previous size; records below 64 kB only for files below 32 MB, unless -y or -q is given"),
    flag("A", Key::Auto2, "automatic mode with small records for large files as well; without -i, only -i 0 and -i 1. Obsolete in IOzone: use -az -i 0 -i 1"),
    value("b", "-b FILE", Key::ReportFile, "also write the report of -R to this file as text; IOzone writes a binary worksheet, which current spreadsheets no longer need"),
    flag("B", Key::Mmap, "shared memory mappings; without the fwrite and fread tests, as in IOzone"),
    flag("c", Key::IncludeClose, "include the close in the time of a test"),
    flag("C", Key::ShowChildren, "print a line for each process of a throughput test"),
    no_value("d", "-d MICROSECONDS", "processes must start together for a figure that covers all of them; a delay between them is not supported"),
    idle("D", "Using msync(MS_ASYNC) on mmap files", "the kernel writes back a shared mapping as with MS_ASYNC, for which Linux does nothing"),
    flag("e", Key::IncludeFlush, "include the fsync in the time of a test, and with it the close"),
    flag("E", Key::Extension, "add the columns of pwrite, pread, pwritev and preadv, which IOzone has only with -E"),
    value("f", "-f FILE", Key::File, "file of single and automatic mode [default: iozone.tmp]"),
    Spec::honoured(Key::Names, "F", &[], Takes::Words("-F FILE..."), "files of the processes in throughput mode, one for each [default: iozone.DUMMY.0 and so on]"),
    value("g", "-g SIZE", Key::SizeMost, "largest file of automatic mode (kB, or with k, m, g)"),
    idle("G", "Using msync(MS_SYNC) on mmap files", "with -e the mapping is synced in the timed close"),
    flag("h", Key::Help, "print this help"),
    value("H", "-H DEPTH", Key::Depth, "as -k: io_uring instead of POSIX asynchronous I/O, without an additional copy of the data"),
    value("i", "-i TEST", Key::Test, "0 write, rewrite; 1 read, reread; 2 random read, write; 3 backward read; 4 record rewrite; 5 stride read; 6 fwrite; 7 fread; 8 mix (throughput mode); 9 pwrite; 10 pread; 11 pwritev; 12 preadv. May be repeated [default: all]"),
    flag("I", Key::Direct, "O_DIRECT; the fwrite and fread tests stay buffered, because streams have their own buffers"),
    value("j", "-j RECORDS", Key::Stride, "stride of test 5 in records [default: 17]. Each record is read once; IOzone reads some twice and the last ones not at all"),
    no_value("J", "-J MILLISECONDS", NO_THINK),
    value("k", "-k DEPTH", Key::Depth, "io_uring instead of POSIX asynchronous I/O, with this many transfers in flight; without the fwrite and fread tests, as in IOzone"),
    no_flag("K", "a few random accesses within a sequential test give a figure for neither; use -i 2"),
    value("l", "-l PROCESSES", Key::Lower, "smallest number of processes in throughput mode"),
    value("L", "-L BYTES", Key::LineSize, "only printed; buffers always start at a page boundary"),
    idle("m", "", "each transfer in flight has its own buffer anyway"),
    flag("M", Key::Uname, "print the host's name and kernel in the output"),
    value("n", "-n SIZE", Key::SizeLeast, "smallest file of automatic mode (kB, or with k, m, g)"),
    flag("N", Key::Microseconds, "microseconds per record; not in throughput mode, as in IOzone"),
    flag("o", Key::SyncWrites, "open with O_SYNC: each write is on stable storage when it ends; fwrite tests and mappings (-B), which write later than their calls, use fsync after each call"),
    flag("O", Key::Operations, "records per second"),
    idle("p", "Purge Mode On", "buffers are stamped anew for each write, so no processor cache holds the data to be written"),
    no_value("P", "-P PROCESSOR", "whoever starts the program binds its threads: use taskset, numactl, or --cpu-bind of srun"),
    value("q", "-q SIZE", Key::RecordMost, "largest record of automatic mode (kB, or with k, m, g)"),
    flag("Q", Key::Latencies, "keep each operation's offset and latency in the record (`ioproof history`); IOzone's .dat files are not written"),
    value("r", "-r SIZE", Key::Record, "record size (kB, or with k, m, g) [default: 4 kB]. May be repeated"),
    flag("R", Key::Report, "print a report for spreadsheets at the end of the output"),
    value("s", "-s SIZE", Key::Size, "file size of each process (kB, or with k, m, g) [default: 512 kB]. May be repeated. A remainder smaller than a record is left out, as in IOzone"),
    value("S", "-S KB", Key::CacheSize, "only printed; nothing depends on it"),
    value("t", "-t PROCESSES", Key::Processes, "throughput mode: this many processes at once, which are threads of this program or of the processes started by a launcher. May be repeated"),
    idle("T", "", "processes of a throughput test are threads here"),
    value("u", "-u PROCESSES", Key::Upper, "largest number of processes in throughput mode; all numbers from -l on are tried"),
    value("U", "-U MOUNT", Key::Remount, "instead of unmounting, which would affect all users of the file system, caches are written back and dropped before each test that reads (needs root)"),
    flag("v", Key::Version, "print the version"),
    value("V", "-V PATTERN", Key::Verify, "compare the data read with the data written, by stamps instead of the pattern; stamps also reveal stale and misplaced data"),
    flag("w", Key::Keep, "keep the files"),
    no_flag("W", NO_LOCKS),
    flag("x", Key::NoStonewall, "count all processes to their end. They always continue to their end here; without -x, only `Min xfer` refers to the moment when the first one finished"),
    no_value("X", "-X FILE", NO_TELEMETRY),
    value("y", "-y SIZE", Key::RecordLeast, "smallest record of automatic mode (kB, or with k, m, g)"),
    no_value("Y", "-Y FILE", NO_TELEMETRY),
    flag("z", Key::CrossOver, "with -a: small records for large files as well"),
    no_flag("Z", "access to a file by a mapping and by calls at the same time is not supported; run once with -B and once without"),
    no_value("+A", "-+A 0-4", "no advice is given for mappings; --fadvise advises the kernel about files"),
    no_value("+b", "-+b KB,MILLISECONDS", "bursts with pauses between them are not supported; a study's `rate` starts transfers by the clock"),
    flag("+B", Key::SequentialMix, "test 8 in ascending order"),
    no_value("+a", "-+a PERCENT", NO_DEDUP),
    no_value("+C", "-+C PERCENT", NO_DEDUP),
    flag("+d", Key::Diagnose, "compare every byte read with what was written"),
    flag("+D", Key::SyncData, "as -o, but with O_DSYNC: data only"),
    flag("+E", Key::ReadOnly, "only tests that read, on existing files"),
    idle("+F", "", "the mix uses the files as the previous tests left them"),
    value("+h", "-+h HOST", Key::Host, "only printed; each process knows the name of its own node"),
    no_value("+H", "-+H HOST", NO_PIT),
    no_flag("+J", NO_THINK),
    flag("+k", Key::ConstantSize, "-s is the total size of all files, for any number of processes"),
    no_flag("+K", "it has no documented meaning"),
    no_flag("+l", NO_LOCKS),
    no_flag("+L", NO_LOCKS),
    value("+m", "-+m FILE", Key::Clients, "client list: `HOST DIRECTORY PROGRAM` for each process. A launcher (mpirun, srun) starts the processes; the list gives their directories, and is checked against where they run"),
    no_flag("+M", NO_DEDUP),
    flag("+n", Key::NoRetest, "no retests; their columns are 0"),
    flag("+N", Key::Overwrite, "the first write overwrites existing files"),
    value("+p", "-+p PERCENT", Key::ReadPercent, "percentage of reads in test 8: of all transfers of each process here, of all processes in IOzone"),
    no_value("+P", "-+P SERVICE", NO_PIT),
    value("+q", "-+q SECONDS", Key::Delay, "pause in seconds before each test"),
    no_value("+Q", "-+Q BYTES", NO_DEDUP),
    flag("+r", Key::SyncWrites, "as -o; that reads also wait for metadata (O_RSYNC) is the same on Linux"),
    no_value("+R", "-+R FILE", "give file names on the command line: -F $(cat FILE)"),
    no_value("+S", "-+S NUMBER", NO_DEDUP),
    no_flag("+t", "`ioproof rpc` measures the network, without a file system"),
    idle("+T", "", "the record contains the time of every test and second"),
    flag("+u", Key::ShowCpu, "processor time of throughput tests, for all processes of the run together"),
    no_flag("+V", "`ioproof ior` without -F measures one file for all processes, each with its own part; processes that overwrite each other's data are not supported"),
    no_value("+w", "-+w PERCENT", NO_DEDUP),
    no_value("+W", "-+W NUMBER", NO_DEDUP),
    value("+x", "-+x FACTOR", Key::Multiplier, "factor from size to size in automatic mode [default: 2]"),
    no_flag("+X", NO_SHORT),
    no_value("+y", "-+y PERCENT", NO_DEDUP),
    idle("+z", "Histogram summary enabled.", "the record of every run has the histogram of all latencies"),
    no_flag("+Z", "storage that knows old data sets can optimise them away; figures of them are not supported"),
];

/// An error of the command line.
pub(super) fn wrong(written: &str, reason: String) -> ToolError {
    OPTIONS.error(written, &reason)
}
