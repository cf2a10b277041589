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

const MPIIO_VIEW: &str = "file views and shared file pointers are MPI-IO; ioproof drives POSIX, MMAP, DUMMY and AIO, \
                          where every task has explicit offsets: leave it out";
const HDF5: &str = "it belongs to HDF5 files; ioproof drives POSIX, MMAP, DUMMY and AIO: leave it out";
const STRIPES: &str = "ioproof leaves striping to the file system: run `lfs setstripe` on the directory first \
                       (-c for the count, -S for the size, -i for the first OST), then leave it out";
const GPFS: &str =
    "ioproof gives GPFS no hints of its own: leave it out, or set them by the file system's policy";
const BEEGFS: &str = "ioproof leaves striping to the file system: run `beegfs-ctl --setpattern` on the directory \
                      first, then leave it out";
const STAMPED: &str =
    "every transfer is incompressible and stamped with its file, offset, signature and generation";
const ADVICE: &str = "ioproof gives a mapping no madvise(2): leave it out";

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
    what: "Measures as IOR does: -w -r on one file, -F a file for each task, -N tasks.\n\
           Sizes take k, m, g, t (powers of 1024). Every option and every difference to IOR: docs/IOR.md",
    own: &[
        help::EXPLAIN,
        help::OUT,
        ("--compat 3.0|3.3|4.0", "which release's tables are printed"),
        help::VERIFY,
        ("--fadvise none|as-published|as-meant", "what the kernel is told after open"),
        help::TASKS_PER_RANK,
        help::YES,
        help::NO_PROGRESS,
        ("--destroy-data-on SERIAL|WWN|PATH", "give up the data of a block device"),
    ],
    long_only: false,
    ignores_dashes: true,
    specs: &[SPECS, &common(Key::Other, true)],
};

/// Sorted by letter as in IOR's documentation, then by name.
const SPECS: &[Spec<Key>] = &[
    name(Key::Api, "a", &[], &["api"], "-a POSIX", "POSIX, MMAP, DUMMY or AIO (libaio)"),
    value(Key::RefNum, "A", &[], &["refNum"], "-A 1", "a number that the summary repeats"),
    value(Key::Block, "b", &[], &["blockSize"], "-b 16m", "contiguous bytes of each task"),
    flag(
        Key::Direct,
        "B",
        &["posix.odirect", "aio.odirect"],
        &["useO_DIRECT"],
        "direct I/O, around the page cache",
    ),
    no_flag(
        "collective buffering needs MPI-IO; ioproof drives POSIX, MMAP, DUMMY and AIO, where each task moves its \
         own data: leave it out",
        "c",
        &["collective"],
        &["collective"],
    ),
    flag(
        Key::Reorder,
        "C",
        &[],
        &["reorderTasksConstant", "reorderTasks"],
        "each task reads what another one wrote",
    ),
    value(
        Key::Delay,
        "d",
        &[],
        &["interTestDelay"],
        "-d 1",
        "seconds of rest before each phase; a fraction is cut off",
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
    flag(Key::UseExisting, "E", &[], &["useExistingTestFile"], "write over files that are there"),
    name(Key::Script, "f", &[], &[], "-f tests.ior", "a script of tests"),
    flag(Key::FilePerProc, "F", &[], &["filePerProc"], "a file for each task"),
    flag(
        Key::Barriers,
        "g",
        &[],
        &["intraTestBarriers"],
        "tasks wait for each other between open, I/O and close",
    ),
    value(Key::Signature, "G", &[], &["setTimeStampSignature"], "-G 5", "signature of the data"),
    flag(Key::Help, "h", &["help"], &["showHelp"], "print this"),
    without_effect(
        flag(Key::ShowHints, "H", &["mpiio.showHints"], &["showHints"], "show hints of MPI-IO"),
        "files have no hints outside MPI-IO",
    ),
    value(Key::Repetitions, "i", &[], &["repetitions"], "-i 3", "how often the test is run"),
    no_flag(HDF5, "I", &["hdf5.individualDataSets"], &["individualDataSets", "hdf5.individualDataSets"]),
    value(
        Key::Outlier,
        "j",
        &[],
        &["outlierThreshold"],
        "-j 5",
        "warn of a task this many seconds from the mean",
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
        "files of its own for each repetition, with its number at the end of the name",
    ),
    value(
        Key::MemoryPerNode,
        "M",
        &[],
        &["memoryPerNode"],
        "-M 50%",
        "memory of the node that is held meanwhile",
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
        "directives: any name of this list with a value",
    ),
    flag(
        Key::Preallocate,
        "p",
        &["mpiio.preallocate"],
        &["preallocate"],
        "allocate the space (posix_fallocate) before the write; IOR does so with MPI-IO only",
    ),
    no_flag(MPIIO_VIEW, "P", &[], &["useSharedFilePointer"]),
    flag(Key::QuitOnError, "q", &[], &["quitOnError"], "end at the first wrong byte"),
    value(Key::TaskOffset, "Q", &[], &["taskPerNodeOffset"], "-Q 1", "how far -C shifts, and -Z at least"),
    flag(Key::Read, "r", &[], &["readFile"], "read"),
    flag(Key::CheckRead, "R", &[], &["checkRead"], "read, read again and compare; the check is not timed"),
    value(Key::Segments, "s", &[], &["segmentCount"], "-s 16", "blocks of each task"),
    no_flag(MPIIO_VIEW, "S", &["mpiio.useStridedDatatype"], &["useStridedDatatype"]),
    value(Key::Transfer, "t", &[], &["transferSize"], "-t 1m", "bytes of one I/O call"),
    value(Key::MaxMinutes, "T", &[], &["maxTimeDuration"], "-T 10", "minutes after which no phase starts"),
    flag(Key::UniqueDir, "u", &[], &["uniqueDir"], "a directory for each task's file"),
    no_value(
        "hints of MPI-IO have no place here: ioproof drives POSIX, MMAP, DUMMY and AIO; leave it out",
        "U",
        &["mpiio.hintsFileName"],
        &["hintsFileName"],
    ),
    flag(Key::Verbose, "v", &[], &["verbose"], "say more, up to five times"),
    no_flag(MPIIO_VIEW, "V", &["mpiio.useFileView"], &["useFileView"]),
    flag(Key::Write, "w", &[], &["writeFile"], "write"),
    flag(Key::CheckWrite, "W", &[], &["checkWrite"], "read what was written and compare; not timed"),
    flag(
        Key::SingleAttempt,
        "x",
        &[],
        &["singleXferAttempt"],
        "a short transfer is an error, and not continued",
    ),
    value(Key::ReorderSeed, "X", &[], &["reorderTasksRandomSeed"], "-X 5", "seed of -Z"),
    flag(
        Key::DualMount,
        "y",
        &[],
        &["dualMount"],
        "tasks of even nodes use FILE0/data, of odd ones FILE1/data",
    ),
    flag(
        Key::FsyncPerWrite,
        "Y",
        &[],
        &["fsyncPerWrite"],
        "fsync after each write, inside that transfer's latency",
    ),
    flag(
        Key::RandomOffset,
        "z",
        &[],
        &["randomOffset"],
        "random offsets over the whole file, each once; twice: random blocks of the file as it is, for -r alone",
    ),
    flag(Key::ReorderRandom, "Z", &[], &["reorderTasksRandom"], "each task reads a random other one's data"),
    flag(Key::Version, "", &["version"], &[], "print the version"),
    flag(Key::DryRun, "", &["dryRun"], &["dryRun"], "print the plan and move nothing"),
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
        "transfers under way for each task, with -a AIO",
    ),
    without_effect(
        value(
            Key::AioGranularity,
            "",
            &["aio.granularity"],
            &["aio.granularity"],
            "--aio.granularity=16",
            "how many are submitted at once",
        ),
        "each transfer is submitted as soon as there is room",
    ),
    flag(
        Key::WearOut,
        "",
        &[],
        &["stoneWallingWearOut"],
        "after -D, all tasks go on to the number of transfers of the fastest",
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
        "keeps the number of transfers from a write for a later read",
    ),
    value(
        Key::MinTime,
        "",
        &[],
        &["minTimeDuration"],
        "-O minTimeDuration=60",
        "seconds that each phase goes on at least",
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
        "memory that each task holds meanwhile",
    ),
    name(
        Key::RankCsv,
        "",
        &[],
        &["saveRankPerformanceDetailsCSV"],
        "-O saveRankPerformanceDetailsCSV=ranks.csv",
        "one row for each task and phase",
    ),
    flag(Key::SummaryAlways, "", &[], &["summaryAlways"], "a summary also of an interrupted run"),
    value(Key::SummaryFormat, "", &[], &["summaryFormat"], "-O summaryFormat=JSON", "default, JSON or CSV"),
    name(Key::SummaryFile, "", &[], &["summaryFile"], "-O summaryFile=out.json", "where the output goes"),
    without_effect(
        value(Key::GpuId, "", &[], &["GPUid"], "-O GPUid=0", "the GPU that holds the buffers"),
        "ioproof has no buffers on a GPU",
    ),
    no_value(
        "ioproof keeps a full latency histogram and a series of seconds instead of one line for each transfer; \
         look at them with `ioproof report RUNDIR`",
        "",
        &[],
        &["savePerOpDataCSV"],
    ),
    no_value(
        "ioproof does not fill a file on the side: write it first without -z but with -k, then use -z -E",
        "",
        &["randomPrefill"],
        &["randomPrefill"],
    ),
    no_flag(
        "only an IOR that was built with undocumented options knows it; use -k -E -W -i N",
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
        "ioproof leaves Lustre's range locks as they are: leave it out",
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
