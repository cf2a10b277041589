//! The keys of `[protocol]`, most of which a workload may override.

use crate::study::table::definition::{Key, Setter, Table, ValueKind};
use crate::study::table::values::{Until, Value};
use crate::{INTERVAL_REPETITIONS_MIN, Stopping};

/// The SNIA Solid State Storage Performance Test Specification (section 2.1.27) specifies five
/// rounds, a range of 20 % of their mean and a slope of 10 % of it.
const STEADY: Stopping = Stopping::Steady { window: 5, excursion: 0.20, slope: 0.10 };
/// Limit on repetitions; more are taken for a typing error: with a minute each, they would take a
/// week.
const REPETITIONS_MAX: u64 = 10_000;
/// Limit on rounds of a repetition; more are taken for a typing error.
const ROUNDS_MAX: u64 = 1_000;
/// `[protocol]`.
pub(crate) const PROTOCOL: Table = Table {
    name: "protocol",
    meaning: "What is done around the phases, how often, and when a case ends. A workload may override all \
                keys except `shuffle` and `interleaved`. A *pass* runs all phases once; the passes of the \
                warm-up and the early rounds are kept and shown, but do not count.",
    shared: PER_CASE,
    keys: &[
        Key::flag("shuffle").means(
            "Cases run in a random order that follows from the seed, so that a slow change of the storage \
                does not look like an effect of what is swept. Refused if a case needs the data of another \
                one.",
        ),
        Key::flag("interleaved").means(
            "Cases are interleaved: in order in one repetition and in reverse in the next (A B B A, A B C \
                C B A), so that a slow change of the storage affects all of them alike; best with an even \
                number of repetitions. Only cases of the same layout are interleaved. For transfers and \
                requests, without `wipe`, `precondition` and `memory_hog`; refused if a case needs the \
                data of another one.",
        ),
    ],
    ..Table::PLAIN
};

/// The keys that a workload may override.
pub(super) const PER_CASE: &[Key] = &[
    Key::new("repetitions", ValueKind::Count(1, REPETITIONS_MAX))
        .left_out("`1`; required with `until`")
        .means("How often the phases are run; with `until`, the maximum allowed. All repetitions are kept.")
        .fixed()
        .sets(Setter::Case(|case, value| case.repetitions = value.count_u32())),
    Key::new("until", ValueKind::Until)
        .left_out("`\"count\"`")
        .means(
            "Ends a case earlier.<br>`\"interval 5 %\"`: as soon as the width of the interval of the \
                median of each result phase is at most this share of the median. It is computed after each \
                repetition, and designed for that (a confidence sequence): with 95 % it contains the \
                median after every one of them<br>`\"steady\"`: as soon as the last repetitions are steady \
                by the rule of the SNIA Solid State Storage Performance Test Specification; those in the \
                window are the ones that count<br>`\"count\"`: after all repetitions",
        )
        .sets(Setter::Case(|case, value| {
            case.protocol.stopping = match value {
                Value::Until(Until::Interval(share)) => {
                    Stopping::Interval { share: *share, least: INTERVAL_REPETITIONS_MIN }
                }
                Value::Until(Until::Steady) => STEADY,
                _ => Stopping::Count,
            }
        })),
    Key::new("repetitions_min", ValueKind::Count(INTERVAL_REPETITIONS_MIN as u64, REPETITIONS_MAX))
        .left_out("`8` with an interval: the fewest that have one of 95 % each time it is computed")
        .means("Minimum number of repetitions; only with `until = \"interval …\"`.")
        .fixed()
        .sets(Setter::Case(|case, value| {
            if let Stopping::Interval { least, .. } = &mut case.protocol.stopping {
                *least = value.count_u32();
            }
        })),
    Key::new("steady_window", ValueKind::Count(2, REPETITIONS_MAX))
        .left_out("`5`, as in the specification")
        .means("Number of repetitions that must be steady; only with `until = \"steady\"`.")
        .fixed()
        .sets(Setter::Case(|case, value| {
            if let Stopping::Steady { window, .. } = &mut case.protocol.stopping {
                *window = value.count_u32();
            }
        })),
    Key::new("steady_excursion", ValueKind::Share)
        .left_out("`\"20 %\"`, as in the specification")
        .means(
            "Largest minus smallest value in the window, as a share of their mean; only with \
                `until = \"steady\"`.",
        )
        .fixed()
        .sets(Setter::Case(|case, value| {
            if let Stopping::Steady { excursion, .. } = &mut case.protocol.stopping {
                *excursion = value.number();
            }
        })),
    Key::new("steady_slope", ValueKind::Share)
        .left_out("`\"10 %\"`, as in the specification")
        .means(
            "How much the least-squares line may rise or fall over the window, as a share of the mean; \
                only with `until = \"steady\"`.",
        )
        .fixed()
        .sets(Setter::Case(|case, value| {
            if let Stopping::Steady { slope, .. } = &mut case.protocol.stopping {
                *slope = value.number();
            }
        })),
    Key::new("warm_up", ValueKind::Count(0, REPETITIONS_MAX))
        .default("0")
        .means("Passes at the beginning that do not count.")
        .sets(Setter::Case(|case, value| case.protocol.warm_up = value.count_u32())),
    Key::new("rounds", ValueKind::Count(1, ROUNDS_MAX))
        .default("1")
        .means("Passes of one repetition, of which the last counts.")
        .sets(Setter::Case(|case, value| case.protocol.rounds = value.count_u32())),
    Key::flag("wipe")
        .means(
            "Before the first pass of a case, and before the rounds of each of its repetitions, its files are \
                removed, a device is discarded, and so is the free space of a layout's file systems. With \
                `until = \"steady\"` only before the first pass: its repetitions approach one state.",
        )
        .sets(Setter::Case(|case, value| case.protocol.wipe = value.flag())),
    Key::new("precondition", ValueKind::Count(0, ROUNDS_MAX))
        .default("0")
        .means("Full sequential writes of the files before the first pass and after each `wipe`; never a result.")
        .sets(Setter::Case(|case, value| case.protocol.precondition = value.count_u32())),
    Key::flag("drop_caches")
        .means("The page cache is written back and dropped before each phase that reads.")
        .sets(Setter::Case(|case, value| case.protocol.drop_caches = value.flag())),
    Key::new("phase_min", ValueKind::Time)
        .left_out("2 s; 0.5 s of five passes or more, each long enough for three operations in turn")
        .means("A phase that was shorter is marked and cannot meet a commitment. Below 2 s it lets reports state what \
                such phases show, but no commitment is kept by a phase below 2 s.")
        .sets(Setter::Case(|case, value| case.protocol.phase_min = value.nanos())),
    Key::new("noise", ValueKind::Share)
        .left_out("1, 2 and 5 %")
        .means("The expected standard deviation of ln(rate) between passes. `--explain` computes from it what the \
                repetitions can tell, where no `--like` run has measured it; nothing is judged by it.")
        .sets(Setter::Case(|case, value| case.protocol.noise = Some(value.number()))),
    Key::new("phase_max", ValueKind::Time).left_out("no limit").means(
        "The `stonewall` of workloads that have neither that nor a `duration`; launches \
                of jobs have a `launch_limit` instead.",
    ),
    Key::new("delay", ValueKind::Time)
        .default("\"0s\"")
        .means("Pause before each write and read phase.")
        .sets(Setter::Case(|case, value| case.delay = value.nanos())),
    Key::new("time_limit", ValueKind::Time)
        .left_out("no limit")
        .means("No phase of a case starts after the case has run for this long.")
        .fixed()
        .sets(Setter::Case(|case, value| case.time_limit = Some(value.nanos()))),
];
