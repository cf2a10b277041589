//! The keys of `[protocol]`, most of which a workload may give for itself.

use crate::study::kind::{Absent, Key, Kind, Sweeps, Table};

/// Repetitions beyond this are a slip: a minute each would take a week.
const REPETITIONS_MAX: u64 = 10_000;
/// More rounds of one repetition are a slip.
const ROUNDS_MAX: u64 = 1_000;
/// `[protocol]`.
pub(in crate::study) const PROTOCOL: Table = Table {
    name: "protocol",
    named_by: None,
    meaning: "What is done around the phases, how often, and when a case is over. A workload may say otherwise \
              for itself, in all but `shuffle` and `interleaved`. A *pass* goes once through all phases; the passes of the \
              warm-up and the early rounds are kept and shown, but do not count.",
    sweeps: Sweeps::None,
    shared: PER_CASE,
    works: &[],
    keys: &[
        Key {
            name: "shuffle",
            kind: Kind::Flag,
            absent: Absent::Value("false"),
            meaning: "Cases run in an order drawn from the seed, so that a slow change of the storage does not \
                      look like an effect of what is swept. Refused where a case needs another one's data.",
        },
        Key {
            name: "interleaved",
            kind: Kind::Flag,
            absent: Absent::Value("false"),
            meaning: "Cases take turns: the first pass of each, the second of each in reverse order, and so on, so \
                      that a slow change of the storage is in all of them alike. Of one layout at a time. For \
                      transfers and requests, without `wipe`, `precondition` and `memory_hog`; refused where a case \
                      needs another one's data.",
        },
    ],
};

/// The keys that a workload may give for itself.
pub(super) const PER_CASE: &[Key] = &[
    Key {
        name: "repetitions",
        kind: Kind::Count(1, REPETITIONS_MAX),
        absent: Absent::Described("`1`; with `until` it is needed"),
        meaning: "How often the phases are gone through; with `until` the most that is allowed. All \
                  repetitions are kept.",
    },
    Key {
        name: "until",
        kind: Kind::Until,
        absent: Absent::Described("`\"count\"`"),
        meaning: "Ends a case earlier.<br>`\"interval 5 %\"`: as soon as the confidence interval of the \
                  median of each result phase is at most this share of the median wide<br>`\"steady\"`: as \
                  soon as the last repetitions are steady by the rule of the SNIA Solid State Storage \
                  Performance Test Specification; those in the window are the ones that \
                  count<br>`\"count\"`: after all repetitions",
    },
    Key {
        name: "repetitions_min",
        kind: Kind::Count(2, REPETITIONS_MAX),
        absent: Absent::Described("`6` with an interval: the fewest that have one of 95 %"),
        meaning: "Not before so many repetitions; only with `until = \"interval …\"`.",
    },
    Key {
        name: "steady_window",
        kind: Kind::Count(2, REPETITIONS_MAX),
        absent: Absent::Described("`5`, as in the specification"),
        meaning: "Repetitions that have to be steady; only with `until = \"steady\"`.",
    },
    Key {
        name: "steady_excursion",
        kind: Kind::Share,
        absent: Absent::Described("`\"20 %\"`, as in the specification"),
        meaning: "Largest minus smallest value in the window, as a share of their mean; only with \
                  `until = \"steady\"`.",
    },
    Key {
        name: "steady_slope",
        kind: Kind::Share,
        absent: Absent::Described("`\"10 %\"`, as in the specification"),
        meaning: "How much the line of least squares may rise or fall over the window, as a share of the \
                  mean; only with `until = \"steady\"`.",
    },
    Key {
        name: "warm_up",
        kind: Kind::Count(0, REPETITIONS_MAX),
        absent: Absent::Value("0"),
        meaning: "Passes in the beginning that do not count.",
    },
    Key {
        name: "rounds",
        kind: Kind::Count(1, ROUNDS_MAX),
        absent: Absent::Value("1"),
        meaning: "Passes of one repetition, of which the last counts.",
    },
    Key {
        name: "wipe",
        kind: Kind::Flag,
        absent: Absent::Value("false"),
        meaning: "Before the first pass of a case its files are removed, a device is discarded, and so is the free space of a layout's file systems.",
    },
    Key {
        name: "precondition",
        kind: Kind::Count(0, ROUNDS_MAX),
        absent: Absent::Value("0"),
        meaning: "Full sequential writes of the files before the first pass; never a result.",
    },
    Key {
        name: "drop_caches",
        kind: Kind::Flag,
        absent: Absent::Value("false"),
        meaning: "The page cache is written back and dropped before each phase that reads.",
    },
    Key {
        name: "phase_min",
        kind: Kind::Time,
        absent: Absent::Described("the program's own limit"),
        meaning: "A phase that was shorter is marked, and meets no commitment.",
    },
    Key {
        name: "phase_max",
        kind: Kind::Time,
        absent: Absent::Described("no limit"),
        meaning: "The `stonewall` of workloads that have neither that nor a `duration`; launches of jobs have a \
                  `launch_limit` instead.",
    },
    Key {
        name: "delay",
        kind: Kind::Time,
        absent: Absent::Value("\"0s\""),
        meaning: "Rest before each write and read phase.",
    },
    Key {
        name: "time_limit",
        kind: Kind::Time,
        absent: Absent::Described("no limit"),
        meaning: "No phase of a case starts after the case has run for this long.",
    },
];
