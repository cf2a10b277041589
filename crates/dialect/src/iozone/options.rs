//! Every option of IOzone 3.489 and 3.508, in one table: the reader, the help and the documentation use it.

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
    /// Heeded without an effect; what IOzone prints for it.
    Idle(&'static str),
    /// Asks for what is not here; the reason, and what to do instead.
    Refused(&'static str),
}

/// What follows an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Takes {
    Nothing,
    /// One value; its name.
    Value(&'static str),
    /// Words up to the next option.
    Words(&'static str),
}

/// One option.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spec {
    /// With its dash, as in `-a` and `-+n`.
    pub name: &'static str,
    pub takes: Takes,
    pub key: Key,
    /// What it does here.
    pub about: &'static str,
}

use Takes::{Nothing, Value, Words};

const fn spec(name: &'static str, takes: Takes, key: Key, about: &'static str) -> Spec {
    Spec { name, takes, key, about }
}

const fn refused(name: &'static str, takes: Takes, reason: &'static str) -> Spec {
    Spec { name, takes, key: Key::Refused(reason), about: "" }
}

const fn idle(name: &'static str, takes: Takes, said: &'static str, about: &'static str) -> Spec {
    Spec { name, takes, key: Key::Idle(said), about }
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

/// All options, by their letters; those with a plus sign at the end.
#[rustfmt::skip]
pub(super) const OPTIONS: &[Spec] = &[
    spec("-a", Nothing, Key::Auto, "automatic mode: files of 64 kB to 512 MB, records of 4 kB to 16 MB, each twice the one before; records below 64 kB only for files below 32 MB"),
    spec("-A", Nothing, Key::Auto2, "automatic mode with small records for large files too; only -i 0 and -i 1 without -i. Obsolete in IOzone: -az -i 0 -i 1"),
    spec("-b", Value("FILE"), Key::ReportFile, "the report of -R goes into this file as text as well; IOzone writes a binary worksheet, which spreadsheets of today no longer need"),
    spec("-B", Nothing, Key::Mmap, "shared memory mappings; without the fwrite and fread tests, as in IOzone"),
    spec("-c", Nothing, Key::IncludeClose, "the time of a test has its close in it"),
    spec("-C", Nothing, Key::ShowChildren, "a line for each process of a throughput test"),
    refused("-d", Value("MICROSECONDS"), "processes start together or the figure is not of them all; a delay between them is not offered"),
    idle("-D", Nothing, "Using msync(MS_ASYNC) on mmap files", "no effect: a shared mapping is written back by the kernel as MS_ASYNC asks, which Linux does nothing for"),
    spec("-e", Nothing, Key::IncludeFlush, "the time of a test has its fsync in it, and the close, which comes with it"),
    spec("-E", Nothing, Key::Extension, "the columns of pwrite, pread, pwritev and preadv, which IOzone has with -E alone"),
    spec("-f", Value("FILE"), Key::File, "the file of single and automatic mode; iozone.tmp without it"),
    spec("-F", Words("FILE..."), Key::Names, "the files of the processes of throughput mode, one for each; iozone.DUMMY.0 and so on without it"),
    spec("-g", Value("SIZE"), Key::SizeMost, "largest file of automatic mode (kB, or with k, m, g)"),
    idle("-G", Nothing, "Using msync(MS_SYNC) on mmap files", "no effect: with -e the mapping is synced in the timed close"),
    spec("-h", Nothing, Key::Help, "help"),
    spec("-H", Value("DEPTH"), Key::Depth, "as -k: io_uring stands for POSIX asynchronous I/O, and no bytes are copied beside it"),
    spec("-i", Value("TEST"), Key::Test, "0 write, rewrite; 1 read, reread; 2 random read, write; 3 backward read; 4 record rewrite; 5 stride read; 6 fwrite; 7 fread; 8 mix (throughput mode); 9 pwrite; 10 pread; 11 pwritev; 12 preadv. May be repeated; all without it"),
    spec("-I", Nothing, Key::Direct, "O_DIRECT; the fwrite and fread tests stay buffered, since streams have buffers of their own"),
    spec("-j", Value("RECORDS"), Key::Stride, "stride of test 5 in records; 17 without it. Each record is read once; IOzone reads some twice and the last ones not at all"),
    refused("-J", Value("MILLISECONDS"), NO_THINK),
    spec("-k", Value("DEPTH"), Key::Depth, "io_uring with so many transfers under way, which stands for POSIX asynchronous I/O; without the fwrite and fread tests, as in IOzone"),
    refused("-K", Nothing, "a few random places within a sequential test make a figure of neither; use -i 2"),
    spec("-l", Value("PROCESSES"), Key::Lower, "least number of processes of throughput mode"),
    spec("-L", Value("BYTES"), Key::LineSize, "printed; buffers always start at a page"),
    idle("-m", Nothing, "", "no effect: each transfer under way has a buffer of its own anyway"),
    spec("-M", Nothing, Key::Uname, "the host's name and kernel stand in the output"),
    spec("-n", Value("SIZE"), Key::SizeLeast, "smallest file of automatic mode (kB, or with k, m, g)"),
    spec("-N", Nothing, Key::Microseconds, "microseconds of a record; not in throughput mode, as in IOzone"),
    spec("-o", Nothing, Key::SyncWrites, "each write is on stable storage when it ends: opened with O_SYNC; fwrite tests and mappings (-B), which write later than their calls, by fsync after each"),
    spec("-O", Nothing, Key::Operations, "records per second"),
    idle("-p", Nothing, "Purge Mode On", "no effect: buffers are stamped anew for each write, so that no processor cache holds what is written"),
    refused("-P", Value("PROCESSOR"), "threads are bound by who starts the program: taskset, numactl, or --cpu-bind of srun"),
    spec("-q", Value("SIZE"), Key::RecordMost, "largest record of automatic mode (kB, or with k, m, g)"),
    spec("-Q", Nothing, Key::Latencies, "each operation's offset and latency is kept in the record (`ioproof history`); IOzone's .dat files are not written"),
    spec("-r", Value("SIZE"), Key::Record, "record size (kB, or with k, m, g); 4 kB without it. May be repeated"),
    spec("-R", Nothing, Key::Report, "a report for spreadsheets at the end of the output"),
    spec("-s", Value("SIZE"), Key::Size, "file size of each process (kB, or with k, m, g); 512 kB without it. May be repeated. What is left beyond whole records is left out, as in IOzone"),
    spec("-S", Value("KB"), Key::CacheSize, "printed; nothing depends on it"),
    spec("-t", Value("PROCESSES"), Key::Processes, "throughput mode: so many processes at once, threads of this program or of those that a launcher has started. May be repeated"),
    idle("-T", Nothing, "", "no effect: processes of a throughput test are threads here"),
    spec("-u", Value("PROCESSES"), Key::Upper, "largest number of processes of throughput mode; all from -l on are tried"),
    spec("-U", Value("MOUNT"), Key::Remount, "instead of unmounting, which would take the file system from everybody, caches are written back and dropped before each test that reads (needs root)"),
    spec("-v", Nothing, Key::Version, "version"),
    spec("-V", Value("PATTERN"), Key::Verify, "what is read is compared with what was written: stamps that also tell stale and misplaced data, not the pattern"),
    spec("-w", Nothing, Key::Keep, "the files are kept"),
    refused("-W", Nothing, NO_LOCKS),
    spec("-x", Nothing, Key::NoStonewall, "all processes count to their end. Here they always go on to it; without -x only `Min xfer` looks at the moment when the first was done"),
    refused("-X", Value("FILE"), NO_TELEMETRY),
    spec("-y", Value("SIZE"), Key::RecordLeast, "smallest record of automatic mode (kB, or with k, m, g)"),
    refused("-Y", Value("FILE"), NO_TELEMETRY),
    spec("-z", Nothing, Key::CrossOver, "with -a: small records for large files too"),
    refused("-Z", Nothing, "a mapping and calls on one file at once are not offered; run once with -B and once without"),
    refused("-+A", Value("0-4"), "advice for mappings is not given; --fadvise tells the kernel about files"),
    refused("-+b", Value("KB,MILLISECONDS"), "bursts with sleep between are not offered; a study's `rate` starts transfers by the clock"),
    spec("-+B", Nothing, Key::SequentialMix, "test 8 goes in rising order"),
    refused("-+a", Value("PERCENT"), NO_DEDUP),
    refused("-+C", Value("PERCENT"), NO_DEDUP),
    spec("-+d", Nothing, Key::Diagnose, "every byte that is read is compared with what was written"),
    spec("-+D", Nothing, Key::SyncData, "as -o, but with O_DSYNC: the data alone"),
    spec("-+E", Nothing, Key::ReadOnly, "only tests that read, on files that are there"),
    idle("-+F", Nothing, "", "no effect: files of the mix are as the tests before left them"),
    spec("-+h", Value("HOST"), Key::Host, "printed; each process knows the name of its own node"),
    refused("-+H", Value("HOST"), NO_PIT),
    refused("-+J", Nothing, NO_THINK),
    spec("-+k", Nothing, Key::ConstantSize, "-s is the size of all files together, whatever the number of processes"),
    refused("-+K", Nothing, "it has no meaning that is documented"),
    refused("-+l", Nothing, NO_LOCKS),
    refused("-+L", Nothing, NO_LOCKS),
    spec("-+m", Value("FILE"), Key::Clients, "a client list: `HOST DIRECTORY PROGRAM` for each process. A launcher (mpirun, srun) starts the processes; the list gives their directories, and is compared with where they run"),
    refused("-+M", Nothing, NO_DEDUP),
    spec("-+n", Nothing, Key::NoRetest, "no retests; their columns are 0"),
    spec("-+N", Nothing, Key::Overwrite, "the first write goes over files that are there"),
    spec("-+p", Value("PERCENT"), Key::ReadPercent, "share of reads in test 8: of all transfers of each process here, of all processes in IOzone"),
    refused("-+P", Value("SERVICE"), NO_PIT),
    spec("-+q", Value("SECONDS"), Key::Delay, "rest before each test"),
    refused("-+Q", Value("BYTES"), NO_DEDUP),
    spec("-+r", Nothing, Key::SyncWrites, "as -o; that reads wait for metadata as well (O_RSYNC) is the same on Linux"),
    refused("-+R", Value("FILE"), "names of files stand on the line: -F $(cat FILE)"),
    refused("-+S", Value("NUMBER"), NO_DEDUP),
    refused("-+t", Nothing, "the network is measured by `ioproof rpc`, without a file system behind it"),
    idle("-+T", Nothing, "", "no effect: the record has the time of every test and second"),
    spec("-+u", Nothing, Key::ShowCpu, "processor time of throughput tests, of all processes of the run together"),
    refused("-+V", Nothing, "one file for all processes is what `ioproof ior` without -F measures, each with a part of its own; processes that write over each other's data are not offered"),
    refused("-+w", Value("PERCENT"), NO_DEDUP),
    refused("-+W", Value("NUMBER"), NO_DEDUP),
    spec("-+x", Value("FACTOR"), Key::Multiplier, "from size to size in automatic mode; 2 without it"),
    refused("-+X", Nothing, NO_SHORT),
    refused("-+y", Value("PERCENT"), NO_DEDUP),
    idle("-+z", Nothing, "Histogram summary enabled.", "no effect: every run has the histogram of all latencies in its record"),
    refused("-+Z", Nothing, "old data sets can be optimised away by storage that knows them; figures of them are not offered"),
];

/// The option of this name.
pub(super) fn by_name(name: &str) -> Option<&'static Spec> {
    OPTIONS.iter().find(|spec| spec.name == name)
}
