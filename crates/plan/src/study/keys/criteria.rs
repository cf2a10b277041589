//! The keys for what a study states in addition to its cases: expectations, commitments, published
//! figures and claims, and the selections in them.

use crate::study::table::definition::{Key, NUMBER_LEAST, Setter, Table, ValueKind, Word};
use crate::workload::limits::TASKS_MAX;

/// The keys of promised amounts, with the favourable side.
pub(crate) const PROMISES: [&str; 10] = [
    "bandwidth_at_least",
    "bandwidth_at_most",
    "iops_at_least",
    "iops_at_most",
    "latency_at_least",
    "latency_at_most",
    "reference_rate_at_least",
    "reference_rate_at_most",
    "reference_latency_at_least",
    "reference_latency_at_most",
];

/// Phases that have a figure.
const RESULTS: &[Word] = &[
    ("write", "writes"),
    ("read", "reads"),
    ("mixed", "both, in the workload's share"),
    ("tree-create", "directories of trees are created"),
    ("directory-create", "directories are created"),
    ("directory-stat", "`stat(2)` of directories"),
    ("directory-list", "directories are listed"),
    ("directory-rename", "directories are renamed"),
    ("directory-remove", "directories are removed"),
    ("file-create", "files are created"),
    ("file-write", "files are written"),
    ("file-stat", "`stat(2)` of files"),
    ("file-read", "files are read"),
    ("file-rename", "files are renamed"),
    ("file-remove", "files are removed"),
    ("tree-remove", "directories of trees are removed"),
    ("precreate", "sets of objects are created"),
    ("benchmark", "steps through objects"),
    ("cleanup", "sets of objects are removed"),
    ("exchange", "requests and responses"),
    ("load", "creates the tables that jobs read, and checks them"),
    ("jobs", "launches jobs"),
];

/// The rates of a phase, by their words.
const RATES: &[Word] = &[
    ("by-wall", "all bytes ÷ the time from the first open to the last close"),
    ("by-io", "all bytes ÷ the time from the first transfer to the last"),
    ("sum-of-tasks", "the sum of the rates of the tasks"),
    ("at-first-done", "when the first task was done"),
    ("at-last-done", "when the slowest task was done, from the tasks' own times"),
    ("sustained", "the 5th percentile of the rates of all whole seconds"),
    ("at-stonewall", "at the deadline"),
];

/// The words for the relation.
const RELATIONS: &[Word] = &[
    ("greater", "left is greater, by more than the tolerance"),
    ("less", "left is less, by more than the tolerance"),
    ("equal", "both are equal within the tolerance"),
];

/// The quantities that a claim compares.
const QUANTITIES: &[Word] = &[
    ("best-rate", "the best median rate among the selected cases"),
    ("lowest-rate", "the lowest of them"),
    ("typical-rate", "the median of them"),
    ("variation", "their coefficient of variation"),
    ("repetition-spread", "the largest coefficient of variation of the repetitions of one case"),
    ("latency", "the smallest mean latency"),
    ("best-at", "the value of the swept key at which the best median rate was measured"),
    ("knee", "the value of the swept key up to which the curve rises steeply"),
    ("plateau-from", "the value of the swept key from which the curve is flat"),
    ("cpu-share", "the share of the processors that the program used at the best point"),
    ("r-squared", "how straight the curve over nodes or tasks is: R² of the least-squares line"),
    ("reaches-90", "the smallest value of the swept key with 90 % of the best rate"),
    ("variation-beyond", "the coefficient of variation of the curve from that value on"),
    ("slowest-share", "the largest rate of several nodes ÷ (nodes × rate of the slowest)"),
];

const WORKLOAD: Key = Key::new("workload", ValueKind::Reference("workload"))
    .left_out("all that run alone")
    .means("The name of a `[[workload]]`; of a `[[concurrent]]` for all of its workloads, or `NAME:WORKLOAD` for one.");

const TARGET: Key =
    Key::new("target", ValueKind::Reference("target")).left_out("all").means("The name of a `[[target]]`.");

const PHASE: Key =
    Key::new("phase", ValueKind::Word(RESULTS)).left_out("all that have a figure").means("The phase.");

const AT: Key = Key::new("at", ValueKind::Settings)
    .left_out("all points of the sweep")
    .means("Values of swept keys, for example `{ tasks = 132, transfer = \"1MiB\" }`.");

/// A selection of figures, written as an inline table.
pub(crate) const SELECTION: Table = Table {
    name: "selection",
    meaning: "Selects figures, for example `left = { workload = \"scale\", target = \"flash\", at = { \
                tasks = 132 } }`.",
    keys: &[WORKLOAD, TARGET, PHASE, AT],
    ..Table::PLAIN
};

/// `[[expectation]]`.
pub(crate) const EXPECTATION: Table = Table {
    name: "expectation",
    named_by: Some("name"),
    meaning: "A data-sheet value or the limit of a link, a controller or a server. Measured figures are \
                shown as a share of it; those of a workload beside others only with `ceiling`. One of `bandwidth`, `iops` and \
                `latency` gives the amount.",
    keys: &[
        Key::new("name", ValueKind::Text)
            .means("What it is, for example `\"PCIe x4\"`; unique in the study."),
        Key::new("bandwidth", ValueKind::Bandwidth)
            .left_out("another key gives the amount")
            .means("Bytes per second of each of the `count`."),
        Key::new("iops", ValueKind::Number(NUMBER_LEAST, 1e15))
            .left_out("another key gives the amount")
            .means("Operations per second of each of the `count`."),
        Key::new("latency", ValueKind::Time)
            .left_out("another key gives the amount")
            .means("Time of one transfer."),
        Key::new("percentile", ValueKind::Number(NUMBER_LEAST, 100.0))
            .left_out("the mean")
            .means("Percentile of `latency`: this percentage of the transfers takes at most that time."),
        Key::new("count", ValueKind::Number(NUMBER_LEAST, 1e9))
            .default("1")
            .means("How many there are.")
            .sets(Setter::Expectation(|expected, value| expected.count = value.number())),
        Key::new(
            "per",
            ValueKind::Word(&[
                ("target", "of the whole target"),
                ("device", "of each of the target's `devices`"),
                ("node", "of each node"),
            ]),
        )
        .default("\"target\"")
        .means("What they are counted for.")
        .sets(Setter::Expectation(|expected, value| value.put(&mut expected.per))),
        Key::flag("ceiling")
            .means(
                "No figure can be above it: a link or a controller, not the promise of a data \
                sheet. The lowest of all limits is the expected bound; a figure above a ceiling \
                is doubted.",
            )
            .sets(Setter::Expectation(|expected, value| expected.ceiling = value.flag())),
        TARGET,
        PHASE,
        Key::new("order", ValueKind::Word(&[("sequential", "rising offsets"), ("random", "a random order")]))
            .left_out("both")
            .means("The order of the transfers.")
            .sets(Setter::Expectation(|expected, value| expected.random = Some(value.word() == "random"))),
        Key::new("transfer", ValueKind::Size)
            .left_out("all")
            .means("The transfer size.")
            .sets(Setter::Expectation(|expected, value| expected.transfer = Some(value.bytes()))),
        Key::new("read_percent", ValueKind::Count(0, 100))
            .left_out("all")
            .means("Share of reads in a mixed phase.")
            .sets(Setter::Expectation(|expected, value| {
                expected.read_percent = u8::try_from(value.count()).ok()
            })),
        Key::new("nodes", ValueKind::Text)
            .left_out("all")
            .means(
                "The nodes on one fabric, switch or rack, as `\"n[01-16],login\"`: the part of the figure that they \
                moved is compared. Not with `latency`, `at_latency` or `per = \"device\"`.",
            ),
        Key::new("at_latency", ValueKind::Time)
            .left_out("none")
            .means("The latency at which a data sheet promises it.")
            .sets(Setter::Expectation(|expected, value| expected.at_latency = Some(value.nanos()))),
        Key::new("source", ValueKind::Text)
            .left_out("none")
            .means("Source of the value; the report prints it.")
            .sets(Setter::Expectation(|expected, value| expected.source = value.text())),
        Key::new("reached", ValueKind::Text)
            .left_out("none")
            .means("What it means to reach it, in your words.")
            .sets(Setter::Expectation(|expected, value| expected.reached = value.text())),
        Key::new("missed", ValueKind::Text)
            .left_out("none")
            .means(
                "What it means to stay below it, in your words, where it is the easiest of those \
                with `reached`.",
            )
            .sets(Setter::Expectation(|expected, value| expected.missed = value.text())),
    ],
    ..Table::PLAIN
};

/// `[[commitment]]`.
pub(crate) const COMMITMENT: Table = Table {
    name: "commitment",
    named_by: Some("name"),
    meaning: "A promised figure and how it is judged, fixed before the run. One of the keys that end in \
                `_at_least` or `_at_most` gives the amount.",
    keys: &[
        Key::new("name", ValueKind::Text).means("What was promised, in a few words; unique in the study."),
        Key::new("by", ValueKind::Text).left_out("none").means("Who promised it or asked for it."),
        WORKLOAD,
        TARGET,
        PHASE,
        AT,
        Key::new(
            "statistic",
            ValueKind::Word(&[
                ("median", "the median of the repetitions"),
                ("mean", "their mean"),
                ("worst", "the worst of them"),
                ("best", "the best of them"),
                (
                    "confidence-bound",
                    "the confidence bound of the median, or of `percentile`, on the unfavourable side: \
                     five repetitions have one of 95 % for a median",
                ),
            ]),
        )
        .means(
            "The statistic over the repetitions by which it is judged. It has no default, because it must \
                be agreed on before anybody has seen a figure.",
        ),
        Key::new("rate", ValueKind::Word(RATES))
            .default("\"by-wall\"")
            .means("The rate by which it is judged; not for latencies."),
        Key::new("bandwidth_at_least", ValueKind::Bandwidth)
            .left_out("another key gives the amount")
            .means("Minimum bytes per second."),
        Key::new("bandwidth_at_most", ValueKind::Bandwidth)
            .left_out("another key gives the amount")
            .means("Maximum bytes per second, for a limit that must hold."),
        Key::new("iops_at_least", ValueKind::Number(NUMBER_LEAST, 1e15))
            .left_out("another key gives the amount")
            .means("Minimum operations per second."),
        Key::new("iops_at_most", ValueKind::Number(NUMBER_LEAST, 1e15))
            .left_out("another key gives the amount")
            .means("Maximum operations per second."),
        Key::new("latency_at_most", ValueKind::Time)
            .left_out("another key gives the amount")
            .means("Maximum time of a transfer."),
        Key::new("latency_at_least", ValueKind::Time)
            .left_out("another key gives the amount")
            .means("Minimum time of a transfer."),
        Key::new("reference_rate_at_least", ValueKind::Percent)
            .left_out("another key gives the amount")
            .means("Minimum rate, as a part of what a reference run reached at the same point: `\"90 %\"`. It is judged by \
                    `ioproof verdict RUN --against REFERENCE`."),
        Key::new("reference_rate_at_most", ValueKind::Percent)
            .left_out("another key gives the amount")
            .means("Maximum rate, likewise."),
        Key::new("reference_latency_at_most", ValueKind::Percent)
            .left_out("another key gives the amount")
            .means("Maximum latency, likewise: `\"110 %\"`."),
        Key::new("reference_latency_at_least", ValueKind::Percent)
            .left_out("another key gives the amount")
            .means("Minimum latency, likewise."),
        Key::new("percentile", ValueKind::Number(NUMBER_LEAST, 100.0))
            .left_out("the mean")
            .means(
                "Percentile of a latency: this percentage of the transfers takes at most that time. To show that it \
                 is kept takes 4.6 ÷ (1 − percentile ÷ 100) transfers and 17 repetitions or more, of \
                 the best repetition alone more transfers in that one; `--explain` has the numbers.",
            ),
        Key::new("over", ValueKind::Word(&[("every", "all of them"), ("best", "the best of them")]))
            .default("\"every\"")
            .means("Which of the selected cases must keep it."),
        Key::new("nodes", ValueKind::Count(1, TASKS_MAX as u64))
            .left_out("those that the workloads in the file ask for, whatever `--set` makes of them")
            .means("The number of nodes that it is about: figures of another number do not keep it."),
    ],
    ..Table::PLAIN
};

/// `[[published]]`.
pub(crate) const PUBLISHED: Table = Table {
    name: "published",
    named_by: Some("figure"),
    meaning: "A published figure of the library (`ioproof reference list`) to show next to measured ones.",
    keys: &[
        Key::new("figure", ValueKind::Text).means("Its id in the library."),
        WORKLOAD,
        TARGET,
        PHASE,
        AT.left_out("the best point"),
    ],
    ..Table::PLAIN
};

/// `[[claim]]`.
pub(crate) const CLAIM: Table = Table {
    name: "claim",
    named_by: Some("id"),
    meaning: "A rule for a statement that your own data can confirm or refute: *left* compared with \
                *right*. A statement with several rules, each in a table with the same `id`, holds if all \
                of them do.",
    keys: &[
        Key::new("id", ValueKind::Text).means(
            "Its id in the library of published studies (`ioproof reference claims`), or a \
                name of your own.",
        ),
        Key::new("text", ValueKind::Text).left_out("that of the library").means("The statement."),
        Key::new("quantity", ValueKind::Word(QUANTITIES)).default("\"best-rate\"").means("What is compared."),
        Key::new("left", ValueKind::Table(&SELECTION)).means("Which figures are on the left side."),
        Key::new("relation", ValueKind::Word(RELATIONS)).means("How the sides compare."),
        Key::new("right", ValueKind::Side(&SELECTION)).means(
            "Which figures are on the right side, or a value: a number, a rate such as `\"2.8GB/s\"` or \
                `\"100k IOPS\"`, a size, a time, or a share such as `\"5 %\"`. Operations are compared \
                with operations per second, also for transfers.",
        ),
        Key::new("factor", ValueKind::Number(NUMBER_LEAST, 1e9))
            .default("1")
            .means("The right side is multiplied by this before the comparison: `0.909` for \"9.1 % less\"."),
        Key::new("tolerance", ValueKind::Share).default("0").means(
            "Share of the right side within which both count as equal, for example `\"5 %\"` or `0.05`.",
        ),
    ],
    ..Table::PLAIN
};
