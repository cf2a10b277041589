//! The keys of what a study says beside its cases: expectations, commitments, published figures
//! and claims, and of the selections in them.

use crate::study::kind::{Absent, Key, Kind, NUMBER_LEAST, Sweeps, Table, Word};

/// Phases that have a figure.
const RESULTS: &[Word] = &[
    ("write", "writes"),
    ("read", "reads"),
    ("mixed", "both, in the workload's share"),
    ("tree-create", "directories of trees are made"),
    ("directory-create", "directories are made"),
    ("directory-stat", "directories are looked at"),
    ("directory-list", "the names in directories are read"),
    ("directory-rename", "directories are renamed"),
    ("directory-remove", "directories are removed"),
    ("file-create", "files are made"),
    ("file-write", "files are written"),
    ("file-stat", "files are looked at"),
    ("file-read", "files are read"),
    ("file-rename", "files are renamed"),
    ("file-remove", "files are removed"),
    ("tree-remove", "directories of trees are removed"),
    ("precreate", "sets of objects are made"),
    ("benchmark", "objects are gone round"),
    ("cleanup", "sets of objects are removed"),
    ("exchange", "requests and responses"),
    ("load", "makes the tables that jobs read, and checks them"),
    ("jobs", "launches jobs"),
];

/// The rates of a phase by their words.
const RATES: &[Word] = &[
    ("by-wall", "all bytes by the time from the first open to the last close"),
    ("by-io", "all bytes by the time from the first transfer to the last"),
    ("sum-of-tasks", "the sum of the rates of the tasks"),
    ("at-first-done", "when the first task was done"),
    ("at-last-done", "when the slowest task was done, from the tasks' own times"),
    ("sustained", "the 5th percentile of the rates of all whole seconds"),
    ("at-stonewall", "at the deadline"),
];

/// Which side is good.
const RELATIONS: &[Word] = &[
    ("greater", "left is greater, by more than the tolerance"),
    ("less", "left is less, by more than the tolerance"),
    ("equal", "both are equal within the tolerance"),
];

/// What a claim compares.
const QUANTITIES: &[Word] = &[
    ("best-rate", "the best median rate among the selected cases"),
    ("lowest-rate", "the lowest of them"),
    ("typical-rate", "the median of them"),
    ("variation", "their coefficient of variation"),
    ("repetition-spread", "the largest coefficient of variation of the repetitions of one case"),
    ("latency", "the smallest mean latency"),
    ("best-at", "the value of the swept key at which the best median rate was measured"),
    ("knee", "the value of the swept key up to which the curve rises steeply"),
    ("plateau-from", "the value of the swept key from which on the curve is flat"),
    ("cpu-share", "the share of the processors that the program used at the best point"),
    ("r-squared", "how straight the curve over nodes or tasks is: R² of the line of least squares"),
    ("reaches-90", "the smallest value of the swept key with 90 % of the best rate"),
    ("variation-beyond", "the coefficient of variation of the curve from that value on"),
    ("slowest-share", "the largest rate of several nodes ÷ (nodes × rate of the slowest)"),
];

const WORKLOAD: Key = Key {
    name: "workload",
    kind: Kind::Reference("workload"),
    absent: Absent::Described("all"),
    meaning: "The name of a `[[workload]]`.",
};

const TARGET: Key = Key {
    name: "target",
    kind: Kind::Reference("target"),
    absent: Absent::Described("all"),
    meaning: "The name of a `[[target]]`.",
};

const PHASE: Key = Key {
    name: "phase",
    kind: Kind::Word(RESULTS),
    absent: Absent::Described("all that have a figure"),
    meaning: "The phase.",
};

const AT: Key = Key {
    name: "at",
    kind: Kind::Settings,
    absent: Absent::Described("all points of the sweep"),
    meaning: "Values of swept keys, as `{ tasks = 132, transfer = \"1MiB\" }`.",
};

/// A choice of figures, written as an inline table.
pub(in crate::study) const SELECTION: Table = Table {
    name: "selection",
    named_by: None,
    meaning: "Chooses figures, as `left = { workload = \"scale\", target = \"flash\", at = { tasks = 132 } }`.",
    sweeps: Sweeps::None,
    shared: &[],
    works: &[],
    keys: &[WORKLOAD, TARGET, PHASE, AT],
};

/// `[[expectation]]`.
pub(in crate::study) const EXPECTATION: Table = Table {
    name: "expectation",
    named_by: Some("name"),
    meaning: "A data-sheet value or the limit of a link, a controller or a server. Measured figures are shown as a \
              share of it. One of `bandwidth`, `iops` and `latency` says how much.",
    sweeps: Sweeps::None,
    shared: &[],
    works: &[],
    keys: &[
        Key {
            name: "name",
            kind: Kind::Text,
            absent: Absent::Refused,
            meaning: "What it is, as `\"PCIe x4\"`; unique in the study.",
        },
        Key {
            name: "bandwidth",
            kind: Kind::Bandwidth,
            absent: Absent::Described("another key says how much"),
            meaning: "Bytes per second of one of `count`.",
        },
        Key {
            name: "iops",
            kind: Kind::Number(NUMBER_LEAST, 1e15),
            absent: Absent::Described("another key says how much"),
            meaning: "Operations per second of one of `count`.",
        },
        Key {
            name: "latency",
            kind: Kind::Time,
            absent: Absent::Described("another key says how much"),
            meaning: "Time of one transfer.",
        },
        Key {
            name: "percentile",
            kind: Kind::Number(NUMBER_LEAST, 100.0),
            absent: Absent::Described("the mean"),
            meaning: "Of `latency`: so many percent of the transfers are at most so long.",
        },
        Key {
            name: "count",
            kind: Kind::Number(NUMBER_LEAST, 1e9),
            absent: Absent::Value("1"),
            meaning: "How many of them there are.",
        },
        Key {
            name: "per",
            kind: Kind::Word(&[
                ("target", "of the whole target"),
                ("device", "of each of the target's `devices`"),
                ("node", "of each node"),
            ]),
            absent: Absent::Value("\"target\""),
            meaning: "What they belong to.",
        },
        Key {
            name: "ceiling",
            kind: Kind::Flag,
            absent: Absent::Value("false"),
            meaning: "No figure can be above it: a link or a controller, not the promise of a data sheet. The lowest \
                      of all limits is the expected bound; a figure above a ceiling is doubted.",
        },
        TARGET,
        PHASE,
        Key {
            name: "order",
            kind: Kind::Word(&[("sequential", "rising offsets"), ("random", "a random order")]),
            absent: Absent::Described("both"),
            meaning: "The order of the transfers.",
        },
        Key {
            name: "transfer",
            kind: Kind::Size,
            absent: Absent::Described("all"),
            meaning: "The transfer size.",
        },
        Key {
            name: "read_percent",
            kind: Kind::Count(0, 100),
            absent: Absent::Described("all"),
            meaning: "Share of reads in a mixed phase.",
        },
        Key {
            name: "at_latency",
            kind: Kind::Time,
            absent: Absent::Described("none"),
            meaning: "The latency at which a data sheet promises it.",
        },
        Key {
            name: "source",
            kind: Kind::Text,
            absent: Absent::Described("none"),
            meaning: "Where the value is from; the report prints it.",
        },
        Key {
            name: "reached",
            kind: Kind::Text,
            absent: Absent::Described("none"),
            meaning: "What it means to reach it, in your words.",
        },
        Key {
            name: "missed",
            kind: Kind::Text,
            absent: Absent::Described("none"),
            meaning: "What it means to stay below it, in your words, where it is the easiest of those with `reached`.",
        },
    ],
};

/// `[[commitment]]`.
pub(in crate::study) const COMMITMENT: Table = Table {
    name: "commitment",
    named_by: Some("name"),
    meaning: "A promised figure and how it is judged, fixed before the run. One of the keys that end in `_at_least` \
              or `_at_most` says how much.",
    sweeps: Sweeps::None,
    shared: &[],
    works: &[],
    keys: &[
        Key {
            name: "name",
            kind: Kind::Text,
            absent: Absent::Refused,
            meaning: "What was promised, in a few words; unique in the study.",
        },
        Key {
            name: "by",
            kind: Kind::Text,
            absent: Absent::Described("none"),
            meaning: "Who promised it or asked for it.",
        },
        WORKLOAD,
        TARGET,
        PHASE,
        AT,
        Key {
            name: "statistic",
            kind: Kind::Word(&[
                ("median", "the middle one of the repetitions"),
                ("mean", "their mean"),
                ("worst", "the worst of them"),
                ("best", "the best of them"),
                (
                    "confidence-bound",
                    "the bound of the median on the unfavourable side: five repetitions have one of 95 %",
                ),
            ]),
            absent: Absent::Refused,
            meaning: "By which statistic over the repetitions it is judged. It has no default, because it must be \
                      agreed upon before anybody has seen a figure.",
        },
        Key {
            name: "rate",
            kind: Kind::Word(RATES),
            absent: Absent::Value("\"by-wall\""),
            meaning: "By which rate; not for latencies.",
        },
        Key {
            name: "bandwidth_at_least",
            kind: Kind::Bandwidth,
            absent: Absent::Described("another key says how much"),
            meaning: "Bytes per second, or more.",
        },
        Key {
            name: "bandwidth_at_most",
            kind: Kind::Bandwidth,
            absent: Absent::Described("another key says how much"),
            meaning: "Bytes per second, or less: for a limit that must hold.",
        },
        Key {
            name: "iops_at_least",
            kind: Kind::Number(NUMBER_LEAST, 1e15),
            absent: Absent::Described("another key says how much"),
            meaning: "Operations per second, or more.",
        },
        Key {
            name: "iops_at_most",
            kind: Kind::Number(NUMBER_LEAST, 1e15),
            absent: Absent::Described("another key says how much"),
            meaning: "Operations per second, or less.",
        },
        Key {
            name: "latency_at_most",
            kind: Kind::Time,
            absent: Absent::Described("another key says how much"),
            meaning: "Time of a transfer, or shorter.",
        },
        Key {
            name: "latency_at_least",
            kind: Kind::Time,
            absent: Absent::Described("another key says how much"),
            meaning: "Time of a transfer, or longer.",
        },
        Key {
            name: "percentile",
            kind: Kind::Number(NUMBER_LEAST, 100.0),
            absent: Absent::Described("the mean"),
            meaning: "Of a latency: so many percent of the transfers are at most so long.",
        },
        Key {
            name: "over",
            kind: Kind::Word(&[("every", "all of them"), ("best", "the best of them")]),
            absent: Absent::Value("\"every\""),
            meaning: "Which of the selected cases have to keep it.",
        },
    ],
};

/// `[[published]]`.
pub(in crate::study) const PUBLISHED: Table = Table {
    name: "published",
    named_by: Some("figure"),
    meaning: "A figure of the library of published ones (`ioproof reference list`) that stands beside own ones.",
    sweeps: Sweeps::None,
    shared: &[],
    works: &[],
    keys: &[
        Key { name: "figure", kind: Kind::Text, absent: Absent::Refused, meaning: "Its id in the library." },
        WORKLOAD,
        TARGET,
        PHASE,
        Key { absent: Absent::Described("the best point"), ..AT },
    ],
};

/// `[[claim]]`.
pub(in crate::study) const CLAIM: Table = Table {
    name: "claim",
    named_by: Some("id"),
    meaning: "A rule for a statement that own data can confirm or refute: *left* compared with *right*. A \
              statement with several rules, each in a table with the same `id`, holds if all of them do.",
    sweeps: Sweeps::None,
    shared: &[],
    works: &[],
    keys: &[
        Key {
            name: "id",
            kind: Kind::Text,
            absent: Absent::Refused,
            meaning: "Its id in the library of published studies (`ioproof reference claims`), or a name of your \
                      own.",
        },
        Key {
            name: "text",
            kind: Kind::Text,
            absent: Absent::Described("that of the library"),
            meaning: "The statement.",
        },
        Key {
            name: "quantity",
            kind: Kind::Word(QUANTITIES),
            absent: Absent::Value("\"best-rate\""),
            meaning: "What is compared.",
        },
        Key {
            name: "left",
            kind: Kind::Table(&SELECTION),
            absent: Absent::Refused,
            meaning: "Which figures are on the left side.",
        },
        Key {
            name: "relation",
            kind: Kind::Word(RELATIONS),
            absent: Absent::Refused,
            meaning: "How the sides compare.",
        },
        Key {
            name: "right",
            kind: Kind::Side(&SELECTION),
            absent: Absent::Refused,
            meaning: "Which figures are on the right side, or a value: a number, a rate as `\"2.8GB/s\"` or \
                      `\"100k IOPS\"`, a size, a time, or a share as `\"5 %\"`. Operations are compared with \
                      operations per second, also of transfers.",
        },
        Key {
            name: "factor",
            kind: Kind::Number(NUMBER_LEAST, 1e9),
            absent: Absent::Value("1"),
            meaning: "Right is multiplied by this before the comparison: `0.909` for \"9.1 % less\".",
        },
        Key {
            name: "tolerance",
            kind: Kind::Share,
            absent: Absent::Value("0"),
            meaning: "Share of the right side within which both are equal, as `\"5 %\"` or `0.05`.",
        },
    ],
};
