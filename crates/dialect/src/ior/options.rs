//! Every option and directive of IOR, in one table.

use crate::ior_family::common;
use crate::options::help;
use crate::options::{Options, Spec, State, Takes};

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
    /// A rejected option.
    Other,
}

const MPIIO_VIEW: &str = "file views and shared file pointers belong to MPI-IO; ioproof supports POSIX, \
                          MMAP, DUMMY and AIO, where every task has explicit offsets: leave it out";
const HDF5: &str = "it belongs to HDF5 files; ioproof supports POSIX, MMAP, DUMMY and AIO: leave it out";
const STRIPES: &str = "ioproof leaves striping to the file system: run `lfs setstripe` on the directory first \
                       (-c for the count, -S for the size, -i for the first OST), then leave it out";
const GPFS: &str = "ioproof gives no hints to GPFS: leave it out, or set them in the file system's policy";
const BEEGFS: &str = "ioproof leaves striping to the file system: run `beegfs-ctl --setpattern` on the directory \
                      first, then leave it out";
const STAMPED: &str =
    "every transfer is incompressible and stamped with its file, offset, signature and generation";
const ADVICE: &str = "ioproof calls no madvise(2) for a mapping: leave it out";

const fn flag(
    key: Key,
    short: &'static str,
    words: &'static [&'static str],
    directives: &'static [&'static str],
    about: &'static str,
) -> Spec<Key> {
    Spec::honoured(key, short, words, Takes::Nothing, about).directives(directives)
}

const fn value(
    key: Key,
    short: &'static str,
    words: &'static [&'static str],
    directives: &'static [&'static str],
    example: &'static str,
    about: &'static str,
) -> Spec<Key> {
    Spec::honoured(key, short, words, Takes::Value(example), about).directives(directives)
}

/// A value that cannot begin with a dash, because IOR would take the next option for a file name.
const fn name(
    key: Key,
    short: &'static str,
    words: &'static [&'static str],
    directives: &'static [&'static str],
    example: &'static str,
    about: &'static str,
) -> Spec<Key> {
    Spec::honoured(key, short, words, Takes::Name(example), about).directives(directives)
}

const fn without_effect(spec: Spec<Key>, why: &'static str) -> Spec<Key> {
    Spec { state: State::Explained(why), ..spec }
}

const fn no_flag(
    why: &'static str,
    short: &'static str,
    words: &'static [&'static str],
    directives: &'static [&'static str],
) -> Spec<Key> {
    Spec::refused(Key::Other, short, words, Takes::Nothing, why).directives(directives)
}

const fn no_value(
    why: &'static str,
    short: &'static str,
    words: &'static [&'static str],
    directives: &'static [&'static str],
) -> Spec<Key> {
    Spec::refused(Key::Other, short, words, Takes::Value("0"), why).directives(directives)
}

/// All options.
pub(super) const OPTIONS: Options<Key> = Options {
    tool: "ior",
    called: "IOR",
    usage: "[OPTION]...",
    what: "Measures as IOR does: -w -r on one file, -F for one file per task, -N tasks.\n\
           Sizes take k, m, g, t (powers of 1024). All options and differences from IOR: docs/IOR.md",
    own: &[
        help::EXPLAIN,
        help::OUT,
        ("--compat 3.0|3.3|4.0", "release whose tables are printed"),
        help::VERIFY,
        ("--fadvise none|as-published|as-meant", "access advice to the kernel after open"),
        help::TASKS_PER_RANK,
        help::YES,
        help::NO_PROGRESS,
        ("--destroy-data-on SERIAL|WWN|PATH", "allow the data on a block device to be destroyed"),
    ],
    long_only: false,
    ignores_dashes: true,
    specs: &[SPECS, &common(Key::Other, true)],
};

/// Sorted by letter as in IOR's documentation, then by name.
const SPECS: &[Spec<Key>] = &[
    name(Key::Api, "a", &[], &["api"], "-a POSIX", "POSIX, MMAP, DUMMY or AIO (libaio)"),
    value(Key::RefNum, "A", &[], &["refNum"], "-A 1", "number to print in the summary"),
    value(Key::Block, "b", &[], &["blockSize"], "-b 16m", "contiguous bytes per task"),
    flag(
        Key::Direct,
        "B",
        &["posix.odirect", "aio.odirect"],
        &["useO_DIRECT"],
        "direct I/O, bypassing the page cache",
    ),
    no_flag(
        "collective buffering needs MPI-IO; ioproof supports POSIX, MMAP, DUMMY and AIO, where each task \
         moves its own data: leave it out",
        "c",
        &["collective"],
        &["collective"],
    ),
    flag(
        Key::Reorder,
        "C",
        &[],
        &["reorderTasksConstant", "reorderTasks"],
        "each task reads what another task wrote",
    ),
    value(
        Key::Delay,
        "d",
        &[],
        &["interTestDelay"],
        "-d 1",
        "seconds of pause before each phase; a fraction is truncated",
    ),
    value(
        Key::Deadline,
        "D",
        &[],
        &["deadlineForStonewalling"],
        "-D 30",
        "seconds after which each task stops",
    ),
    flag(Key::Fsync, "e", &[], &["fsync"], "fsync after a task's last write, inside the timed close"),
    flag(Key::UseExisting, "E", &[], &["useExistingTestFile"], "overwrite existing files"),
    name(Key::Script, "f", &[], &[], "-f tests.ior", "a script of tests"),
    flag(Key::FilePerProc, "F", &[], &["filePerProc"], "one file per task"),
    flag(
        Key::Barriers,
        "g",
        &[],
        &["intraTestBarriers"],
        "tasks wait for each other between open, I/O and close",
    ),
    value(Key::Signature, "G", &[], &["setTimeStampSignature"], "-G 5", "signature of the data"),
    flag(Key::Help, "h", &["help"], &["showHelp"], "print this help"),
    without_effect(
        flag(Key::ShowHints, "H", &["mpiio.showHints"], &["showHints"], "show hints of MPI-IO"),
        "files have no hints outside MPI-IO",
    ),
    value(Key::Repetitions, "i", &[], &["repetitions"], "-i 3", "number of repetitions of the test"),
    no_flag(HDF5, "I", &["hdf5.individualDataSets"], &["individualDataSets", "hdf5.individualDataSets"]),
    value(
        Key::Outlier,
        "j",
        &[],
        &["outlierThreshold"],
        "-j 5",
        "warn about a task that is more than this many seconds from the mean",
    ),
    no_value(HDF5, "J", &["hdf5.setAlignment"], &["setAlignment", "hdf5.setAlignment"]),
    flag(Key::Keep, "k", &[], &["keepFile"], "keep the files"),
    flag(Key::KeepWithError, "K", &[], &["keepFileWithError"], "keep files in which a check found errors"),
    without_effect(
        value(
            Key::Packet,
            "l",
            &["dataPacketType"],
            &["dataPacketType"],
            "-l random",
            "offset, incompressible, timestamp or random",
        ),
        STAMPED,
    ),
    flag(
        Key::MultiFile,
        "m",
        &[],
        &["multiFile"],
        "separate files for each repetition, with its number at the end of the name",
    ),
    value(
        Key::MemoryPerNode,
        "M",
        &[],
        &["memoryPerNode"],
        "-M 50%",
        "memory of the node to hold during the run",
    ),
    no_flag(HDF5, "n", &["hdf5.noFill"], &["noFill", "hdf5.noFill"]),
    value(Key::Tasks, "N", &[], &["numTasks"], "-N 12", "number of tasks"),
    name(Key::TestFile, "o", &[], &["testFile"], "-o DIR/file", "the file, or several joined by @"),
    value(
        Key::Directives,
        "O",
        &[],
        &[],
        "-O keepFile=1,useO_DIRECT=1",
        "directives: any name in this list with a value",
    ),
    flag(
        Key::Preallocate,
        "p",
        &["mpiio.preallocate"],
        &["preallocate"],
        "allocate the space (posix_fallocate) before the write; IOR does so with MPI-IO only",
    ),
    no_flag(MPIIO_VIEW, "P", &[], &["useSharedFilePointer"]),
    flag(Key::QuitOnError, "q", &[], &["quitOnError"], "stop at the first wrong byte"),
    value(Key::TaskOffset, "Q", &[], &["taskPerNodeOffset"], "-Q 1", "shift of -C, and minimum shift of -Z"),
    flag(Key::Read, "r", &[], &["readFile"], "read"),
    flag(Key::CheckRead, "R", &[], &["checkRead"], "read, read again and compare; the check is not timed"),
    value(Key::Segments, "s", &[], &["segmentCount"], "-s 16", "blocks per task"),
    no_flag(MPIIO_VIEW, "S", &["mpiio.useStridedDatatype"], &["useStridedDatatype"]),
    value(Key::Transfer, "t", &[], &["transferSize"], "-t 1m", "bytes per I/O call"),
    value(Key::MaxMinutes, "T", &[], &["maxTimeDuration"], "-T 10", "minutes after which no phase starts"),
    flag(Key::UniqueDir, "u", &[], &["uniqueDir"], "one directory per task for its file"),
    no_value(
        "hints are for MPI-IO; ioproof supports POSIX, MMAP, DUMMY and AIO: leave it out",
        "U",
        &["mpiio.hintsFileName"],
        &["hintsFileName"],
    ),
    flag(Key::Verbose, "v", &[], &["verbose"], "increase verbosity, up to five times"),
    no_flag(MPIIO_VIEW, "V", &["mpiio.useFileView"], &["useFileView"]),
    flag(Key::Write, "w", &[], &["writeFile"], "write"),
    flag(Key::CheckWrite, "W", &[], &["checkWrite"], "read what was written and compare; not timed"),
    flag(
        Key::SingleAttempt,
        "x",
        &[],
        &["singleXferAttempt"],
        "a short transfer is an error and is not continued",
    ),
    value(Key::ReorderSeed, "X", &[], &["reorderTasksRandomSeed"], "-X 5", "seed of -Z"),
    flag(
        Key::DualMount,
        "y",
        &[],
        &["dualMount"],
        "tasks on even nodes use FILE0/data, those on odd nodes FILE1/data",
    ),
    flag(
        Key::FsyncPerWrite,
        "Y",
        &[],
        &["fsyncPerWrite"],
        "fsync after each write, included in the latency of that transfer",
    ),
    flag(
        Key::RandomOffset,
        "z",
        &[],
        &["randomOffset"],
        "random offsets over the whole file, each once; twice: random blocks of an existing file, for -r \
         only",
    ),
    flag(Key::ReorderRandom, "Z", &[], &["reorderTasksRandom"], "each task reads a random other task's data"),
    flag(Key::Version, "", &["version"], &[], "print the version"),
    flag(Key::DryRun, "", &["dryRun"], &["dryRun"], "print the plan without moving data"),
    flag(
        Key::WarningsAsErrors,
        "",
        &["warningAsErrors"],
        &["warningAsErrors"],
        "a warning makes the run fail",
    ),
    value(
        Key::RandomSeed,
        "",
        &["random-offset-seed"],
        &["random-offset-seed"],
        "--random-offset-seed=5",
        "seed of -z",
    ),
    value(
        Key::AioPending,
        "",
        &["aio.max-pending"],
        &["aio.max-pending"],
        "--aio.max-pending=128",
        "transfers in flight for each task, with -a AIO",
    ),
    without_effect(
        value(
            Key::AioGranularity,
            "",
            &["aio.granularity"],
            &["aio.granularity"],
            "--aio.granularity=16",
            "number of transfers submitted at once",
        ),
        "each transfer is submitted as soon as fewer than the maximum are in flight",
    ),
    flag(
        Key::WearOut,
        "",
        &[],
        &["stoneWallingWearOut"],
        "after -D, all tasks continue to the number of transfers of the fastest",
    ),
    value(
        Key::WearOutIterations,
        "",
        &[],
        &["stoneWallingWearOutIterations"],
        "-O stoneWallingWearOutIterations=1000",
        "each task stops after this many transfers",
    ),
    name(
        Key::StatusFile,
        "",
        &[],
        &["stoneWallingStatusFile"],
        "-O stoneWallingStatusFile=run.stonewall",
        "file that keeps the number of transfers of a write for a later read",
    ),
    value(
        Key::MinTime,
        "",
        &[],
        &["minTimeDuration"],
        "-O minTimeDuration=60",
        "minimum duration of each phase in seconds",
    ),
    without_effect(
        flag(Key::StoreOffset, "", &[], &["storeFileOffset"], "offsets as signature of the data"),
        STAMPED,
    ),
    value(
        Key::MemoryPerTask,
        "",
        &[],
        &["memoryPerTask"],
        "-O memoryPerTask=1g",
        "memory to hold for each task during the run",
    ),
    name(
        Key::RankCsv,
        "",
        &[],
        &["saveRankPerformanceDetailsCSV"],
        "-O saveRankPerformanceDetailsCSV=ranks.csv",
        "file for one row per task and phase",
    ),
    flag(Key::SummaryAlways, "", &[], &["summaryAlways"], "print a summary even if the run is interrupted"),
    value(Key::SummaryFormat, "", &[], &["summaryFormat"], "-O summaryFormat=JSON", "default, JSON or CSV"),
    name(Key::SummaryFile, "", &[], &["summaryFile"], "-O summaryFile=out.json", "file for the output"),
    without_effect(
        value(Key::GpuId, "", &[], &["GPUid"], "-O GPUid=0", "the GPU that holds the buffers"),
        "ioproof has no buffers on a GPU",
    ),
    no_value(
        "ioproof records a full latency histogram and a time series by second instead of one line for each \
         transfer; see them with `ioproof report RUNDIR`",
        "",
        &[],
        &["savePerOpDataCSV"],
    ),
    no_value(
        "ioproof does not fill a file beforehand: write it first without -z but with -k, then use -z -E",
        "",
        &["randomPrefill"],
        &["randomPrefill"],
    ),
    no_flag(
        "only an IOR built with undocumented options supports it; use -k -E -W -i N",
        "",
        &[],
        &["multiReRead"],
    ),
    no_flag(ADVICE, "", &["mmap.madv_dont_need"], &["mmap.madv_dont_need"]),
    no_flag(ADVICE, "", &["mmap.madv_pattern"], &["mmap.madv_pattern"]),
    no_value(STRIPES, "", &["posix.lustre.stripecount"], &["lustreStripeCount"]),
    no_value(STRIPES, "", &["posix.lustre.stripesize"], &["lustreStripeSize"]),
    no_value(STRIPES, "", &["posix.lustre.startost"], &["lustreStartOST"]),
    no_flag(
        "ioproof does not change Lustre's range locks: leave it out",
        "",
        &["posix.lustre.ignorelocks"],
        &["lustreIgnoreLocks"],
    ),
    no_flag(GPFS, "", &["posix.gpfs.hintaccess"], &["gpfsHintAccess"]),
    no_flag(GPFS, "", &["posix.gpfs.releasetoken"], &["gpfsReleaseToken"]),
    no_flag(GPFS, "", &["posix.gpfs.finegrainwritesharing"], &["gpfsFineGrainWriteSharing"]),
    no_flag(GPFS, "", &["posix.gpfs.finegrainreadsharing"], &["gpfsFineGrainReadSharing"]),
    no_value(BEEGFS, "", &["posix.beegfs.NumTargets"], &["beegfsNumTargets"]),
    no_value(BEEGFS, "", &["posix.beegfs.ChunkSize"], &["beegfsChunkSize"]),
    no_value(HDF5, "", &["hdf5.chunkSize"], &["hdf5.chunkSize"]),
    no_flag(HDF5, "", &["hdf5.collectiveMetadata"], &["hdf5.collectiveMetadata", "collectiveMetadata"]),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::OPTIONS;

    #[test]
    fn no_letter_word_or_directive_stands_for_two_options() {
        let mut seen = BTreeSet::new();
        for spec in OPTIONS.all() {
            let short = spec.short;
            assert!(short.is_empty() || seen.insert(format!("-{short}")), "-{short} stands twice");
            for word in spec.words {
                assert!(seen.insert(format!("--{}", word.to_ascii_lowercase())), "--{word} stands twice");
            }
            for name in spec.directives {
                assert!(seen.insert(name.to_ascii_lowercase()), "{name} stands twice");
            }
        }
    }

    #[test]
    fn every_letter_of_the_documentation_is_known() {
        for letter in "aAbBcCdDeEfFgGhHiIjJkKlmMnNoOpPqQrRsStTuUvVwWxXyYzZ".chars() {
            assert!(OPTIONS.all().any(|spec| spec.short.chars().eq([letter])), "-{letter} is missing");
        }
    }

    #[test]
    fn a_slip_of_the_pen_is_understood() {
        let told = |directive: &str| OPTIONS.directive(directive, directive.to_owned()).expect_err(directive);
        assert!(told("keepfiles=1").to_string().contains("did you mean keepFile?"));
        assert!(told("summaryformt=JSON").to_string().contains("did you mean summaryFormat?"));
        assert!(told("somethingelse=1").to_string().contains("see -h"));
        let told = OPTIONS.read(&["--posix.odirct".to_owned()]).expect_err("a slip").to_string();
        assert!(told.contains("did you mean --posix.odirect?"), "{told}");
    }
}
