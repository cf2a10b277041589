//! Every option and directive of IOR, in one table: what it is called, whether it takes a value,
//! what it does, or why it is refused. The reader, the help and the documentation use it.

use crate::nearest::nearest;

/// What an option sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    Api,
    RefNum,
    Block,
    Transfer,
    Segments,
    Repetitions,
    Tasks,
    TestFile,
    Read,
    Write,
    CheckRead,
    CheckWrite,
    FilePerProc,
    UniqueDir,
    DualMount,
    MultiFile,
    Keep,
    KeepWithError,
    UseExisting,
    Preallocate,
    Fsync,
    FsyncPerWrite,
    Direct,
    Barriers,
    SingleAttempt,
    QuitOnError,
    RandomOffset,
    RandomSeed,
    Reorder,
    ReorderRandom,
    ReorderSeed,
    TaskOffset,
    Delay,
    Deadline,
    WearOut,
    WearOutIterations,
    StatusFile,
    MinTime,
    MaxMinutes,
    Outlier,
    Signature,
    Packet,
    StoreOffset,
    MemoryPerNode,
    MemoryPerTask,
    AioPending,
    AioGranularity,
    RankCsv,
    DryRun,
    WarningsAsErrors,
    Verbose,
    ShowHints,
    SummaryAlways,
    SummaryFormat,
    SummaryFile,
    GpuId,
    Script,
    Directives,
    Help,
    Version,
    /// Asks for what is not here; the reason, and what to do instead.
    Refused(&'static str),
}

/// Whether an option stands alone on a command line. A directive always has a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Takes {
    Nothing,
    /// A value; one that would do.
    Value(&'static str),
}

/// One option.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spec {
    pub key: Key,
    /// The letter after one dash.
    pub short: Option<char>,
    /// The words after two dashes.
    pub long: &'static [&'static str],
    /// The names that `-O` and scripts know, the first of which is its name in `--explain`.
    pub names: &'static [&'static str],
    pub takes: Takes,
    /// One line for the help.
    pub about: &'static str,
}

const MPIIO_VIEW: &str = "file views and shared file pointers are MPI-IO; ioproof drives POSIX, MMAP, DUMMY and AIO, \
                          where every task has explicit offsets: leave it out";
const HDF5: &str = "it belongs to HDF5 files; ioproof drives POSIX, MMAP, DUMMY and AIO: leave it out";
const STRIPES: &str = "ioproof leaves striping to the file system: run `lfs setstripe` on the directory first \
                       (-c for the count, -S for the size, -i for the first OST), then leave it out";
const GPFS: &str =
    "ioproof gives GPFS no hints of its own: leave it out, or set them by the file system's policy";
const BEEGFS: &str = "ioproof leaves striping to the file system: run `beegfs-ctl --setpattern` on the directory \
                      first, then leave it out";
const GPU: &str = "ioproof has no buffers on a GPU: leave it out";
const DELAYS: &str =
    "the DUMMY backend measures what the harness itself costs, so it adds no delays: leave it out";
const ADVICE: &str = "ioproof gives a mapping no madvise(2): leave it out";

const fn flag(
    key: Key,
    short: Option<char>,
    long: &'static [&'static str],
    names: &'static [&'static str],
    about: &'static str,
) -> Spec {
    Spec { key, short, long, names, takes: Takes::Nothing, about }
}

const fn value(
    key: Key,
    short: Option<char>,
    long: &'static [&'static str],
    names: &'static [&'static str],
    example: &'static str,
    about: &'static str,
) -> Spec {
    Spec { key, short, long, names, takes: Takes::Value(example), about }
}

/// A flag that is refused, by command line and by directive.
const fn no_flag(
    reason: &'static str,
    short: Option<char>,
    long: &'static [&'static str],
    names: &'static [&'static str],
) -> Spec {
    flag(Key::Refused(reason), short, long, names, "refused")
}

/// An option with a value that is refused, by command line and by directive.
const fn no_value(
    reason: &'static str,
    short: Option<char>,
    long: &'static [&'static str],
    names: &'static [&'static str],
) -> Spec {
    value(Key::Refused(reason), short, long, names, "0", "refused")
}

/// Every option, sorted by letter as IOR's documentation has them, then by name.
pub(super) const OPTIONS: &[Spec] = &[
    value(Key::Api, Some('a'), &[], &["api"], "-a POSIX", "POSIX, MMAP, DUMMY or AIO (libaio)"),
    value(Key::RefNum, Some('A'), &[], &["refNum"], "-A 1", "a number that the summary repeats"),
    value(Key::Block, Some('b'), &[], &["blockSize"], "-b 16m", "contiguous bytes of each task"),
    flag(
        Key::Direct,
        Some('B'),
        &["posix.odirect", "aio.odirect"],
        &["useO_DIRECT"],
        "direct I/O, around the page cache",
    ),
    no_flag(
        "collective buffering needs MPI-IO; ioproof drives POSIX, MMAP, DUMMY and AIO, where each task moves its \
         own data: leave it out",
        Some('c'),
        &["collective"],
        &["collective"],
    ),
    flag(
        Key::Reorder,
        Some('C'),
        &[],
        &["reorderTasksConstant", "reorderTasks"],
        "each task reads what another one wrote",
    ),
    value(Key::Delay, Some('d'), &[], &["interTestDelay"], "-d 1", "seconds of rest before each phase"),
    value(
        Key::Deadline,
        Some('D'),
        &[],
        &["deadlineForStonewalling"],
        "-D 30",
        "seconds after which each task stops",
    ),
    flag(Key::Fsync, Some('e'), &[], &["fsync"], "fsync before each close after a write"),
    flag(Key::UseExisting, Some('E'), &[], &["useExistingTestFile"], "write over files that are there"),
    value(Key::Script, Some('f'), &[], &[], "-f tests.ior", "a script of tests"),
    flag(Key::FilePerProc, Some('F'), &[], &["filePerProc"], "a file for each task"),
    flag(
        Key::Barriers,
        Some('g'),
        &[],
        &["intraTestBarriers"],
        "tasks wait for each other between open, I/O and close",
    ),
    value(Key::Signature, Some('G'), &[], &["setTimeStampSignature"], "-G 5", "signature of the data"),
    flag(Key::Help, Some('h'), &["help"], &["showHelp"], "print this"),
    flag(Key::ShowHints, Some('H'), &["mpiio.showHints"], &["showHints"], "show hints of MPI-IO"),
    value(Key::Repetitions, Some('i'), &[], &["repetitions"], "-i 3", "how often the test is run"),
    no_flag(
        HDF5,
        Some('I'),
        &["hdf5.individualDataSets"],
        &["individualDataSets", "hdf5.individualDataSets"],
    ),
    value(
        Key::Outlier,
        Some('j'),
        &[],
        &["outlierThreshold"],
        "-j 5",
        "warn of a task this many seconds from the mean",
    ),
    no_value(HDF5, Some('J'), &["hdf5.setAlignment"], &["setAlignment", "hdf5.setAlignment"]),
    flag(Key::Keep, Some('k'), &[], &["keepFile"], "keep the files"),
    flag(
        Key::KeepWithError,
        Some('K'),
        &[],
        &["keepFileWithError"],
        "keep files in which a check found errors",
    ),
    value(
        Key::Packet,
        Some('l'),
        &["dataPacketType"],
        &["dataPacketType"],
        "-l random",
        "offset, incompressible, timestamp or random",
    ),
    flag(Key::MultiFile, Some('m'), &[], &["multiFile"], "files of its own for each repetition"),
    value(
        Key::MemoryPerNode,
        Some('M'),
        &[],
        &["memoryPerNode"],
        "-M 50%",
        "memory of the node that is held meanwhile",
    ),
    no_flag(HDF5, Some('n'), &["hdf5.noFill"], &["noFill", "hdf5.noFill"]),
    value(Key::Tasks, Some('N'), &[], &["numTasks"], "-N 12", "number of tasks"),
    value(Key::TestFile, Some('o'), &[], &["testFile"], "-o DIR/file", "the file, or several joined by @"),
    value(
        Key::Directives,
        Some('O'),
        &[],
        &[],
        "-O keepFile=1,useO_DIRECT=1",
        "directives: any name of this list with a value",
    ),
    flag(
        Key::Preallocate,
        Some('p'),
        &["mpiio.preallocate"],
        &["preallocate"],
        "allocate the space before the write",
    ),
    no_flag(MPIIO_VIEW, Some('P'), &[], &["useSharedFilePointer"]),
    flag(Key::QuitOnError, Some('q'), &[], &["quitOnError"], "end at the first wrong byte"),
    value(
        Key::TaskOffset,
        Some('Q'),
        &[],
        &["taskPerNodeOffset"],
        "-Q 1",
        "how far -C shifts, and -Z at least",
    ),
    flag(Key::Read, Some('r'), &[], &["readFile"], "read"),
    flag(Key::CheckRead, Some('R'), &[], &["checkRead"], "read, read again and compare"),
    value(Key::Segments, Some('s'), &[], &["segmentCount"], "-s 16", "blocks of each task"),
    no_flag(MPIIO_VIEW, Some('S'), &["mpiio.useStridedDatatype"], &["useStridedDatatype"]),
    value(Key::Transfer, Some('t'), &[], &["transferSize"], "-t 1m", "bytes of one I/O call"),
    value(
        Key::MaxMinutes,
        Some('T'),
        &[],
        &["maxTimeDuration"],
        "-T 10",
        "minutes after which no phase starts",
    ),
    flag(Key::UniqueDir, Some('u'), &[], &["uniqueDir"], "a directory for each task's file"),
    no_value(
        "hints of MPI-IO have no place here: ioproof drives POSIX, MMAP, DUMMY and AIO; leave it out",
        Some('U'),
        &["mpiio.hintsFileName"],
        &["hintsFileName"],
    ),
    flag(Key::Verbose, Some('v'), &[], &["verbose"], "say more, up to five times"),
    no_flag(MPIIO_VIEW, Some('V'), &["mpiio.useFileView"], &["useFileView"]),
    flag(Key::Write, Some('w'), &[], &["writeFile"], "write"),
    flag(Key::CheckWrite, Some('W'), &[], &["checkWrite"], "read what was written and compare"),
    flag(Key::SingleAttempt, Some('x'), &[], &["singleXferAttempt"], "a short transfer is an error"),
    value(Key::ReorderSeed, Some('X'), &[], &["reorderTasksRandomSeed"], "-X 5", "seed of -Z"),
    flag(
        Key::DualMount,
        Some('y'),
        &[],
        &["dualMount"],
        "tasks of even nodes use FILE0/data, of odd ones FILE1/data",
    ),
    flag(Key::FsyncPerWrite, Some('Y'), &[], &["fsyncPerWrite"], "fsync after each write"),
    flag(Key::RandomOffset, Some('z'), &[], &["randomOffset"], "random offsets, each once"),
    flag(
        Key::ReorderRandom,
        Some('Z'),
        &[],
        &["reorderTasksRandom"],
        "each task reads a random other one's data",
    ),
    flag(Key::Version, None, &["version"], &[], "print the version"),
    flag(Key::DryRun, None, &["dryRun"], &["dryRun"], "print the plan and move nothing"),
    flag(
        Key::WarningsAsErrors,
        None,
        &["warningAsErrors"],
        &["warningAsErrors"],
        "a warning makes the run fail",
    ),
    value(Key::RandomSeed, None, &["random-offset-seed"], &["random-offset-seed"], "5", "seed of -z"),
    value(
        Key::AioPending,
        None,
        &["aio.max-pending"],
        &["aio.max-pending"],
        "128",
        "transfers under way for each task, with -a AIO",
    ),
    value(
        Key::AioGranularity,
        None,
        &["aio.granularity"],
        &["aio.granularity"],
        "16",
        "how many are submitted at once",
    ),
    flag(
        Key::WearOut,
        None,
        &[],
        &["stoneWallingWearOut"],
        "after -D, all tasks go on to the number of transfers of the fastest",
    ),
    value(
        Key::WearOutIterations,
        None,
        &[],
        &["stoneWallingWearOutIterations"],
        "1000",
        "each task stops after this many transfers",
    ),
    value(
        Key::StatusFile,
        None,
        &[],
        &["stoneWallingStatusFile"],
        "run.stonewall",
        "keeps the number of transfers from a write for a later read",
    ),
    value(Key::MinTime, None, &[], &["minTimeDuration"], "60", "seconds that each phase goes on at least"),
    flag(Key::StoreOffset, None, &[], &["storeFileOffset"], "offsets as signature of the data"),
    value(Key::MemoryPerTask, None, &[], &["memoryPerTask"], "1g", "memory that each task holds meanwhile"),
    value(
        Key::RankCsv,
        None,
        &[],
        &["saveRankPerformanceDetailsCSV"],
        "ranks.csv",
        "one row for each task and phase",
    ),
    flag(Key::SummaryAlways, None, &[], &["summaryAlways"], "a summary also of an interrupted run"),
    value(Key::SummaryFormat, None, &[], &["summaryFormat"], "JSON", "default, JSON or CSV"),
    value(Key::SummaryFile, None, &[], &["summaryFile"], "out.json", "where the output goes"),
    value(Key::GpuId, None, &[], &["GPUid"], "0", "has no effect without buffers on a GPU"),
    no_value(
        "ioproof keeps a full latency histogram and a series of seconds instead of one line for each transfer; \
         look at them with `ioproof report RUNDIR`",
        None,
        &[],
        &["savePerOpDataCSV"],
    ),
    no_value(
        "ioproof does not fill a file on the side: write it first without -z but with -k, then use -z -E",
        None,
        &["randomPrefill"],
        &["randomPrefill"],
    ),
    no_flag(
        "ioproof takes no lock around a transfer: leave it out",
        None,
        &["posix.rangelocks"],
        &["posix.rangelocks"],
    ),
    no_flag(
        "only an IOR that was built with undocumented options knows it; use -k -E -W -i N",
        None,
        &[],
        &["multiReRead"],
    ),
    no_flag(GPU, None, &["gpuDirect"], &["gpuDirect"]),
    no_value(
        GPU,
        None,
        &["allocateBufferOnGPU", "gpuMemoryFlags"],
        &["allocateBufferOnGPU", "gpuMemoryFlags"],
    ),
    no_flag(ADVICE, None, &["mmap.madv_dont_need"], &["mmap.madv_dont_need"]),
    no_flag(ADVICE, None, &["mmap.madv_pattern"], &["mmap.madv_pattern"]),
    no_flag(DELAYS, None, &["dummy.delay-only-rank0"], &["dummy.delay-only-rank0"]),
    no_value(DELAYS, None, &["dummy.delay-create"], &["dummy.delay-create"]),
    no_value(DELAYS, None, &["dummy.delay-close"], &["dummy.delay-close"]),
    no_value(DELAYS, None, &["dummy.delay-sync"], &["dummy.delay-sync"]),
    no_value(DELAYS, None, &["dummy.delay-xfer"], &["dummy.delay-xfer"]),
    no_value(STRIPES, None, &["posix.lustre.stripecount"], &["lustreStripeCount"]),
    no_value(STRIPES, None, &["posix.lustre.stripesize"], &["lustreStripeSize"]),
    no_value(STRIPES, None, &["posix.lustre.startost"], &["lustreStartOST"]),
    no_flag(
        "ioproof leaves Lustre's range locks as they are: leave it out",
        None,
        &["posix.lustre.ignorelocks"],
        &["lustreIgnoreLocks"],
    ),
    no_flag(GPFS, None, &["posix.gpfs.hintaccess"], &["gpfsHintAccess"]),
    no_flag(GPFS, None, &["posix.gpfs.releasetoken"], &["gpfsReleaseToken"]),
    no_flag(GPFS, None, &["posix.gpfs.finegrainwritesharing"], &["gpfsFineGrainWriteSharing"]),
    no_flag(GPFS, None, &["posix.gpfs.finegrainreadsharing"], &["gpfsFineGrainReadSharing"]),
    no_value(BEEGFS, None, &["posix.beegfs.NumTargets"], &["beegfsNumTargets"]),
    no_value(BEEGFS, None, &["posix.beegfs.ChunkSize"], &["beegfsChunkSize"]),
    no_value(HDF5, None, &["hdf5.chunkSize"], &["hdf5.chunkSize"]),
    no_flag(HDF5, None, &["hdf5.collectiveMetadata"], &["hdf5.collectiveMetadata", "collectiveMetadata"]),
];

/// The option of a letter.
pub(super) fn by_letter(letter: char) -> Option<&'static Spec> {
    OPTIONS.iter().find(|spec| spec.short == Some(letter))
}

/// The option of the word after two dashes.
pub(super) fn by_word(word: &str) -> Option<&'static Spec> {
    OPTIONS.iter().find(|spec| spec.long.iter().any(|long| long.eq_ignore_ascii_case(word)))
}

/// The option of a directive's name, in any case.
pub(super) fn by_name(name: &str) -> Option<&'static Spec> {
    OPTIONS.iter().find(|spec| spec.names.iter().any(|known| known.eq_ignore_ascii_case(name)))
}

/// The long option that looks most like `word`.
pub(super) fn nearest_word(word: &str) -> Option<String> {
    nearest(word, OPTIONS.iter().flat_map(|spec| spec.long)).map(|long| format!("--{long}"))
}

/// The directive that looks most like `name`.
pub(super) fn nearest_name(name: &str) -> Option<String> {
    nearest(name, OPTIONS.iter().flat_map(|spec| spec.names))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{OPTIONS, nearest_name, nearest_word};

    #[test]
    fn no_letter_word_or_directive_stands_for_two_options() {
        let mut seen = BTreeSet::new();
        for spec in OPTIONS {
            if let Some(letter) = spec.short {
                assert!(seen.insert(format!("-{letter}")), "-{letter} stands twice");
            }
            for word in spec.long {
                assert!(seen.insert(format!("--{}", word.to_ascii_lowercase())), "--{word} stands twice");
            }
            for name in spec.names {
                assert!(seen.insert(name.to_ascii_lowercase()), "{name} stands twice");
            }
        }
    }

    #[test]
    fn every_letter_of_the_documentation_is_known() {
        for letter in "aAbBcCdDeEfFgGhHiIjJkKlmMnNoOpPqQrRsStTuUvVwWxXyYzZ".chars() {
            assert!(super::by_letter(letter).is_some(), "-{letter} is missing");
        }
    }

    #[test]
    fn a_slip_of_the_pen_is_understood() {
        assert_eq!(nearest_name("keepfiles").as_deref(), Some("keepFile"));
        assert_eq!(nearest_name("summaryformt").as_deref(), Some("summaryFormat"));
        assert_eq!(nearest_word("posix.odirct").as_deref(), Some("--posix.odirect"));
        assert_eq!(nearest_name("somethingelse"), None);
    }
}
