//! The sections of a configuration and their options, as in IO500 of 2025 and 2026.
//!
//! Names, types, defaults and order are taken from the benchmark's own listing. The hash of a
//! configuration depends on all of them.

use super::phases::Phase;

/// The type of an option's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Whole,
    Count,
    Flag,
    Number,
}

/// An option of a section.
#[derive(Debug, Clone, Copy)]
pub(super) struct OptionRow {
    pub name: &'static str,
    pub kind: Kind,
    /// The default value. An empty text is a valid default.
    pub default: Option<&'static str>,
    pub about: &'static str,
}

/// A section, which usually belongs to a phase.
#[derive(Debug, Clone, Copy)]
pub(super) struct Section {
    pub name: &'static str,
    pub options: &'static [OptionRow],
    /// Whether it is only used in the extended mode.
    pub is_extended: bool,
}

const fn row(
    name: &'static str,
    kind: Kind,
    default: Option<&'static str>,
    about: &'static str,
) -> OptionRow {
    OptionRow { name, kind, default, about }
}

const RUN: OptionRow = row("run", Kind::Flag, Some("TRUE"), "whether to run the phase");
const API: OptionRow = row(
    "API",
    Kind::Text,
    None,
    "interface of this phase, with its own options; by default that of [global]",
);
const COLLECTIVE: OptionRow =
    row("collective", Kind::Flag, None, "collective transfers, if the interface has them");
const VERBOSITY: OptionRow = row("verbosity", Kind::Whole, None, "number of times that -v is passed on");

const ONE_PHASE: &[OptionRow] = &[API, RUN];
const FIND: &[OptionRow] = &[
    row("external-script", Kind::Text, None, "refused: ioproof's own parallel search is measured"),
    row("external-mpi-args", Kind::Text, Some(""), "MPI arguments for external-script"),
    row("external-extra-args", Kind::Text, Some(""), "extra arguments for external-script"),
    row("nproc", Kind::Count, None, "number of tasks that search; by default all"),
    RUN,
    row("pfind-queue-length", Kind::Whole, Some("10000"), "for pfind; ioproof's search has no such queue"),
    row(
        "pfind-steal-next",
        Kind::Flag,
        Some("FALSE"),
        "for pfind; ioproof distributes directories to the tasks",
    ),
    row(
        "pfind-parallelize-single-dir-access-using-hashing",
        Kind::Flag,
        Some("FALSE"),
        "for pfind; in ioproof, each directory is read by one task",
    ),
];

/// Every section, in the benchmark's order.
pub(super) const SECTIONS: &[Section] = &[
    Section {
        name: "global",
        is_extended: false,
        options: &[
            row("datadir", Kind::Text, Some("./datafiles"), "directory for the files of the run"),
            row(
                "timestamp-datadir",
                Kind::Flag,
                Some("TRUE"),
                "add a subdirectory named after the start time to datadir",
            ),
            row("resultdir", Kind::Text, Some("./results"), "directory for the results"),
            row(
                "timestamp-resultdir",
                Kind::Flag,
                Some("TRUE"),
                "add a subdirectory named after the start time to resultdir",
            ),
            row("api", Kind::Text, Some("POSIX"), "interface of all phases, with its options"),
            row(
                "drop-caches",
                Kind::Flag,
                Some("FALSE"),
                "drop the page cache of each node before each phase",
            ),
            row(
                "drop-caches-cmd",
                Kind::Text,
                Some("sudo -n bash -c \"echo 3 > /proc/sys/vm/drop_caches\""),
                "command to drop the caches; any other command is refused",
            ),
            row("io-buffers-on-gpu", Kind::Flag, Some("FALSE"), "refused: buffers are in main memory"),
            row("verbosity", Kind::Count, Some("1"), "from 0 to 10"),
            row(
                "scc",
                Kind::Flag,
                Some("FALSE"),
                "the rules of the student competition: 30 s instead of 300 s",
            ),
            row("dataPacketType", Kind::Text, Some("timestamp"), "passed on; data are always stamped"),
        ],
    },
    Section {
        name: "debug",
        is_extended: false,
        options: &[
            row("stonewall-time", Kind::Whole, Some("300"), "minimum seconds of each write phase"),
            row(
                "pause-dir",
                Kind::Text,
                None,
                "a phase waits while this directory contains a file with the name of the phase",
            ),
        ],
    },
    Section {
        name: "ior-easy",
        is_extended: false,
        options: &[
            API,
            row("transferSize", Kind::Text, Some("2m"), "bytes per transfer"),
            row("blockSize", Kind::Text, Some("9920000m"), "bytes per task, cut short by the deadline"),
            row("filePerProc", Kind::Flag, Some("TRUE"), "one file per task"),
            row("uniqueDir", Kind::Flag, Some("FALSE"), "one directory per file"),
            RUN,
            VERBOSITY,
        ],
    },
    section(Phase::IorEasyWrite, ONE_PHASE),
    Section {
        name: "mdtest-easy",
        is_extended: false,
        options: &[
            API,
            row("n", Kind::Count, Some("1000000"), "files per task, cut short by the deadline"),
            RUN,
        ],
    },
    section(Phase::MdtestEasyWrite, ONE_PHASE),
    Section {
        name: "mdworkbench",
        is_extended: true,
        options: &[
            API,
            row(
                "waitingTime",
                Kind::Number,
                Some("0.0"),
                "pause after each step, as a multiple of its duration",
            ),
            row(
                "precreatePerSet",
                Kind::Count,
                None,
                "objects per set; by default derived from the rate of mdtest-easy-write",
            ),
            row("filesPerProc", Kind::Count, None, "steps per set; by default as many as objects"),
            RUN,
            VERBOSITY,
        ],
    },
    section(Phase::MdworkbenchCreate, &[RUN]),
    section(Phase::Timestamp, &[]),
    section(Phase::FindEasy, FIND),
    Section {
        name: "ior-hard",
        is_extended: false,
        options: &[
            API,
            row(
                "segmentCount",
                Kind::Whole,
                Some("10000000"),
                "segments per task, cut short by the deadline",
            ),
            COLLECTIVE,
            RUN,
            VERBOSITY,
        ],
    },
    section(Phase::IorHardWrite, &[API, COLLECTIVE, RUN]),
    Section {
        name: "mdtest-hard",
        is_extended: false,
        options: &[
            API,
            row("n", Kind::Count, Some("1000000"), "files per task, cut short by the deadline"),
            row("files-per-dir", Kind::Count, None, "files per directory; makes the run invalid"),
            RUN,
        ],
    },
    section(Phase::MdtestHardWrite, ONE_PHASE),
    section(Phase::Find, FIND),
    section(Phase::FindHard, FIND),
    section(Phase::MdworkbenchBench, &[RUN]),
    section(Phase::IorEasyRead, ONE_PHASE),
    section(Phase::MdtestEasyStat, ONE_PHASE),
    section(Phase::IorHardRead, &[API, COLLECTIVE, RUN]),
    section(Phase::MdtestHardStat, ONE_PHASE),
    section(Phase::MdworkbenchDelete, &[RUN]),
    section(Phase::MdtestEasyDelete, ONE_PHASE),
    section(Phase::MdtestHardRead, ONE_PHASE),
    section(Phase::MdtestHardDelete, ONE_PHASE),
    section(Phase::IorRnd4kEasyRead, ONE_PHASE),
];

const fn section(phase: Phase, options: &'static [OptionRow]) -> Section {
    Section { name: phase.name(), is_extended: phase.is_extended(), options }
}
