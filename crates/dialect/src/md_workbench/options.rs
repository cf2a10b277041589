//! Every option of md-workbench, in one table.

use crate::ior_family::{common, interfaces};
use crate::options::help;
use crate::options::{Options, Spec, Takes};

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
    StatusFile,
    Latencies,
    LatenciesOfAll,
    IgnorePresent,
    Packet,
    Direct,
    Quiet,
    Detailed,
    Help,
    /// An option without an effect, or a rejected one.
    Other,
}

/// Every option, in the order of its help.
pub(super) const OPTIONS: Options<Key> = Options {
    tool: "md-workbench",
    called: "md-workbench",
    usage: "[OPTION]...",
    what: "Cycles through small objects in sets as md-workbench does: -D sets per task, -P objects per \
           set, -I steps per set.
All options and differences from md-workbench: docs/MD_WORKBENCH.md",
    own: help::OWN,
    long_only: false,
    ignores_dashes: true,
    specs: &[SPECS, &common(Key::Other, false), &interfaces(Key::Other)],
};

const SPECS: &[Spec<Key>] = &[
    Spec::honoured(
        Key::Offset,
        "O",
        &["offset"],
        Takes::Value("-O 1"),
        "distance to the task on whose sets a task works",
    ),
    Spec::honoured(Key::Api, "a", &["api"], Takes::Value("-a POSIX"), "POSIX or DUMMY (no I/O at all)"),
    Spec::honoured(
        Key::Steps,
        "I",
        &["obj-per-proc"],
        Takes::Value("-I 1000"),
        "steps per set in each round",
    ),
    Spec::honoured(
        Key::Precreated,
        "P",
        &["precreate-per-set"],
        Takes::Value("-P 3000"),
        "objects per set before the rounds",
    ),
    Spec::honoured(Key::Sets, "D", &["data-sets"], Takes::Value("-D 10"), "sets per task"),
    Spec::honoured(Key::Signature, "G", &[], Takes::Value("-G 5"), "signature of the data"),
    Spec::honoured(Key::Directory, "o", &[], Takes::Value("-o DIR"), "directory of the sets"),
    Spec::honoured(Key::ObjectBytes, "S", &["object-size"], Takes::Value("-S 3901"), "bytes per object"),
    Spec::honoured(Key::Rounds, "R", &["iterations"], Takes::Value("-R 3"), "rounds of the benchmark"),
    Spec::honoured(
        Key::Waiting,
        "t",
        &["waiting-time"],
        Takes::Value("-t 0.5"),
        "pause after each step, as a multiple of its duration",
    ),
    Spec::honoured(
        Key::Adaptive,
        "T",
        &["adaptive-waiting"],
        Takes::Nothing,
        "rounds with increasing pauses, from 0 to 4",
    ),
    Spec::honoured(
        Key::Deadline,
        "w",
        &["stonewall-timer"],
        Takes::Value("-w 30"),
        "seconds after which a round ends",
    ),
    Spec::honoured(
        Key::WearOut,
        "W",
        &["stonewall-wear-out"],
        Takes::Nothing,
        "after -w, all tasks continue to as many steps as the fastest",
    ),
    Spec::honoured(
        Key::Precreate,
        "1",
        &["run-precreate"],
        Takes::Nothing,
        "create the sets; without -1 -2 -3 all run",
    ),
    Spec::honoured(Key::Benchmark, "2", &["run-benchmark"], Takes::Nothing, "cycle through the objects"),
    Spec::honoured(Key::Cleanup, "3", &["run-cleanup"], Takes::Nothing, "remove the sets"),
    Spec::honoured(
        Key::Verify,
        "X",
        &["verify-read"],
        Takes::Nothing,
        "compare the data read with the data written",
    ),
    Spec::honoured(Key::ReadOnly, "", &["read-only"], Takes::Nothing, "steps only stat and read"),
    Spec::honoured(
        Key::StartItem,
        "",
        &["start-item"],
        Takes::Value("--start-item=0"),
        "with -2 or -3: steps done so far in each set [default: as in --run-info-file]",
    ),
    Spec::honoured(
        Key::Packet,
        "",
        &["dataPacketType"],
        Takes::Value("--dataPacketType=t"),
        "offset, incompressible, timestamp or random; data are always incompressible and stamped",
    ),
    Spec::honoured(
        Key::StatusFile,
        "",
        &["run-info-file"],
        Takes::Value("--run-info-file=FILE"),
        "file for the number of steps done in each set, for a later command line with -2 or -3 [default: \
         md-workbench.status]",
    ),
    Spec::honoured(
        Key::IgnorePresent,
        "",
        &["ignore-precreate-errors"],
        Takes::Nothing,
        "create objects in sets that already exist, and count the existing ones",
    ),
    Spec::honoured(
        Key::Latencies,
        "L",
        &["latency"],
        Takes::Value("-L lat"),
        "one file per round and operation with latencies of the first task, such as lat-0.00-0-create.csv",
    ),
    Spec::honoured(
        Key::LatenciesOfAll,
        "",
        &["latency-all"],
        Takes::Nothing,
        "the latencies of all tasks, such as lat-0.00-0-create-all.csv",
    ),
    Spec::honoured(Key::Quiet, "q", &["quiet"], Takes::Nothing, "print only the lines of phases"),
    Spec::honoured(
        Key::Detailed,
        "",
        &["print-detailed-stats"],
        Takes::Nothing,
        "print a machine-readable table",
    ),
    Spec::honoured(Key::Help, "h", &["help"], Takes::Nothing, "print this help"),
    Spec::explained(
        Key::Other,
        "v",
        &["verbose"],
        Takes::Nothing,
        (
            "name every operation",
            "a study with `history` can keep the last operations of each process in the record",
        ),
    ),
    Spec::explained(
        Key::Other,
        "",
        &["process-reports"],
        Takes::Nothing,
        ("a line for each process", "the times of all tasks are in the record: `ioproof report RUNDIR`"),
    ),
    Spec::honoured(
        Key::Direct,
        "",
        &["posix.odirect"],
        Takes::Nothing,
        "opens objects with O_DIRECT; the file system decides which sizes it takes",
    ),
];
