//! Every option of md-workbench, in one table.

use crate::options::{Options, Spec, State, Takes};

/// What an option sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    Offset,
    Api,
    Steps,
    Precreated,
    Sets,
    Signature,
    Directory,
    ObjectBytes,
    Rounds,
    Waiting,
    Adaptive,
    Deadline,
    WearOut,
    Precreate,
    Benchmark,
    Cleanup,
    Verify,
    ReadOnly,
    StartItem,
    Packet,
    Quiet,
    Detailed,
    Help,
    /// Changes nothing, or is refused.
    Other,
}

const fn option(
    key: Key,
    letter: Option<char>,
    words: &'static [&'static str],
    takes: Takes,
    about: &'static str,
) -> Spec<Key> {
    Spec { key, letter, words, takes, state: State::Honoured, about }
}

const fn explained(
    letter: Option<char>,
    words: &'static [&'static str],
    takes: Takes,
    about: &'static str,
    why: &'static str,
) -> Spec<Key> {
    Spec { key: Key::Other, letter, words, takes, state: State::Explained(why), about }
}

const fn refused(
    letter: Option<char>,
    words: &'static [&'static str],
    takes: Takes,
    why: &'static str,
) -> Spec<Key> {
    Spec { key: Key::Other, letter, words, takes, state: State::Refused(why), about: "refused" }
}

const HISTOGRAM: &str = "ioproof keeps a full latency histogram and a series of seconds for each operation instead of one \
                         line for each; look at them with `ioproof report RUNDIR`";
const DELAYS: &str =
    "the DUMMY backend measures what the harness itself costs, so it adds no delays: leave it out";
const MPIIO: &str = "it belongs to MPI-IO; ioproof drives POSIX and DUMMY: leave it out";
const MMAP: &str = "it belongs to memory mappings; ioproof drives POSIX and DUMMY: leave it out";

/// Every option, in the order of its help.
pub(super) const OPTIONS: Options<Key> = Options { tool: super::TOOL, specs: SPECS };

const SPECS: &[Spec<Key>] = &[
    option(
        Key::Offset,
        Some('O'),
        &["offset"],
        Takes::Value("-O 1"),
        "how many places on a task works on others' sets",
    ),
    option(Key::Api, Some('a'), &["api"], Takes::Value("-a POSIX"), "POSIX or DUMMY (no I/O at all)"),
    option(
        Key::Steps,
        Some('I'),
        &["obj-per-proc"],
        Takes::Value("-I 1000"),
        "steps in each set in each round",
    ),
    option(
        Key::Precreated,
        Some('P'),
        &["precreate-per-set"],
        Takes::Value("-P 3000"),
        "objects in each set before",
    ),
    option(Key::Sets, Some('D'), &["data-sets"], Takes::Value("-D 10"), "sets of each task"),
    option(Key::Signature, Some('G'), &[], Takes::Value("-G 5"), "signature of the data"),
    option(Key::Directory, Some('o'), &[], Takes::Value("-o DIR"), "where the sets stand"),
    option(Key::ObjectBytes, Some('S'), &["object-size"], Takes::Value("-S 3901"), "bytes of an object"),
    option(Key::Rounds, Some('R'), &["iterations"], Takes::Value("-R 3"), "rounds of the benchmark"),
    option(
        Key::Waiting,
        Some('t'),
        &["waiting-time"],
        Takes::Value("-t 0.5"),
        "each step rests for this times as long as it took",
    ),
    option(
        Key::Adaptive,
        Some('T'),
        &["adaptive-waiting"],
        Takes::Nothing,
        "rounds with rising rests, from 0 to 4",
    ),
    option(
        Key::Deadline,
        Some('w'),
        &["stonewall-timer"],
        Takes::Value("-w 30"),
        "seconds after which a round ends",
    ),
    option(
        Key::WearOut,
        Some('W'),
        &["stonewall-wear-out"],
        Takes::Nothing,
        "after -w, all tasks go on to as many steps as the fastest",
    ),
    option(
        Key::Precreate,
        Some('1'),
        &["run-precreate"],
        Takes::Nothing,
        "make the sets; without -1 -2 -3 all run",
    ),
    option(Key::Benchmark, Some('2'), &["run-benchmark"], Takes::Nothing, "go round the objects"),
    option(Key::Cleanup, Some('3'), &["run-cleanup"], Takes::Nothing, "remove the sets"),
    option(Key::Verify, Some('X'), &["verify-read"], Takes::Nothing, "compare what is read"),
    option(Key::ReadOnly, None, &["read-only"], Takes::Nothing, "steps only look and read"),
    option(
        Key::StartItem,
        None,
        &["start-item"],
        Takes::Value("--start-item=0"),
        "the object that the first step takes; only 0, as sets are made anew for each round",
    ),
    option(
        Key::Packet,
        None,
        &["dataPacketType"],
        Takes::Value("--dataPacketType=t"),
        "offset, incompressible, timestamp or random; data are always incompressible and stamped",
    ),
    option(Key::Quiet, Some('q'), &["quiet"], Takes::Nothing, "print the lines of phases alone"),
    option(Key::Detailed, None, &["print-detailed-stats"], Takes::Nothing, "print a table for programs"),
    option(Key::Help, Some('h'), &["help"], Takes::Nothing, "print this"),
    explained(
        Some('v'),
        &["verbose"],
        Takes::Nothing,
        "name every operation",
        "the last operations of each process can be kept in the record by a study with `history`",
    ),
    explained(
        None,
        &["process-reports"],
        Takes::Nothing,
        "a line for each process",
        "the times of all tasks are in the record: `ioproof report RUNDIR`",
    ),
    explained(
        None,
        &["ignore-precreate-errors"],
        Takes::Nothing,
        "go on after errors",
        "objects that are there already are counted as surprises, named, and the phase goes on",
    ),
    explained(
        None,
        &["run-info-file"],
        Takes::Value("--run-info-file=FILE"),
        "a file that says where a run ended",
        "the phases of one line are one run here, which nothing has to be carried into",
    ),
    refused(Some('L'), &["latency"], Takes::Value("PREFIX"), HISTOGRAM),
    refused(None, &["latency-all"], Takes::Nothing, HISTOGRAM),
    refused(
        None,
        &["posix.odirect"],
        Takes::Nothing,
        "objects are written and read through the page cache, as their sizes need no alignment: leave it out, and \
         measure direct I/O with `ioproof ior -B`",
    ),
    refused(
        None,
        &["posix.rangelocks"],
        Takes::Nothing,
        "ioproof takes no lock around a transfer: leave it out",
    ),
    refused(None, &["dummy.delay-only-rank0"], Takes::Nothing, DELAYS),
    refused(
        None,
        &["dummy.delay-create", "dummy.delay-close", "dummy.delay-sync", "dummy.delay-xfer"],
        Takes::Value("1"),
        DELAYS,
    ),
    refused(
        None,
        &["mpiio.showHints", "mpiio.preallocate", "mpiio.useStridedDatatype", "mpiio.useFileView"],
        Takes::Nothing,
        MPIIO,
    ),
    refused(None, &["mpiio.hintsFileName"], Takes::Value("FILE"), MPIIO),
    refused(None, &["mmap.madv_dont_need", "mmap.madv_pattern"], Takes::Nothing, MMAP),
    refused(
        None,
        &["allocateBufferOnGPU", "gpuMemoryFlags", "gpuDirect"],
        Takes::Nothing,
        "ioproof has no buffers on a GPU: leave it out",
    ),
];
