//! The keys of `[[workload]]`.

use super::protocol::PER_CASE;
use super::work::WORKS;
use crate::limits::STUDY_LIST_ITEMS;
use crate::study::table::definition::{INTEGER_MAX, Key, Setter, Table, ValueKind, Word};
use crate::study::table::values::Values as _;
use crate::workload::backend;
use crate::workload::limits::{DEPTH_MAX, HISTORY_MAX, PIECES_MAX, STRIDE_MAX, TASKS_MAX};
use crate::{Order, Pace, Phase, Stonewall, SyncRule};

/// Keys of a stonewall.
pub(crate) const STONEWALL: [&str; 2] = ["stonewall", "wear_out"];

/// Phases of transfers, by their words.
const PHASES_OF_TRANSFERS: &[Word] = &[
    ("write", "writes"),
    ("read", "reads"),
    ("mixed", "reads and writes; `read_percent` is the share of reads"),
    ("fill", "writes data that a later read needs; never a result"),
    ("check-write", "reads back what was written and compares it; never a result"),
    ("check-read", "reads again and compares; never a result"),
];

/// The phases of all kinds of work.
static PHASES: [Word; phase_count()] = {
    let mut words = [("", ""); phase_count()];
    let (mut kind, mut count) = (0, 0);
    while kind <= WORKS.len() {
        let phases = if kind == 0 { PHASES_OF_TRANSFERS } else { WORKS[kind - 1].phases };
        let mut index = 0;
        while index < phases.len() {
            words[count] = phases[index];
            (index, count) = (index + 1, count + 1);
        }
        kind += 1;
    }
    words
};

const fn phase_count() -> usize {
    let (mut kind, mut count) = (0, PHASES_OF_TRANSFERS.len());
    while kind < WORKS.len() {
        (kind, count) = (kind + 1, count + WORKS[kind].phases.len());
    }
    count
}

/// The kinds of work.
static KINDS: [Word; 1 + WORKS.len()] = {
    let mut words = [("transfers", "within files that stay open"); 1 + WORKS.len()];
    let mut kind = 0;
    while kind < WORKS.len() {
        words[1 + kind] = WORKS[kind].word;
        kind += 1;
    }
    words
};

/// Whether a tree writes data into files.
fn writes_files(phases: &[Phase]) -> bool {
    phases.iter().any(|phase| matches!(phase, Phase::FileCreate | Phase::FileWrite))
}

/// `[[workload]]`.
pub(crate) const WORKLOAD: Table = Table {
    name: "workload",
    named_by: Some("name"),
    meaning: "A pattern of transfers, or other work, by a number of tasks on a target. Workloads run in \
                the order of the file. The keys of `[protocol]` except `shuffle` may be given here too, \
                and apply to this workload.",
    sweeps: true,
    shared: PER_CASE,
    works: WORKS,
    keys: &[
        Key::new("name", ValueKind::Name).means("Its name in tables and files; unique in the study.").fixed(),
        Key::new("title", ValueKind::Text)
            .left_out("none")
            .means("Its purpose, in the reader's words.")
            .fixed(),
        Key::new("work", ValueKind::Word(&KINDS))
        .default("\"transfers\"")
        .means(
            "What the tasks do. Each kind of work except transfers has its own keys, which are listed \
                below; keys of another kind are refused.",
        )
        .fixed(),
        Key::new("target", ValueKind::Reference("target"))
            .left_out("the only target, if there is only one")
            .means("The name of a `[[target]]`. Trees, objects and tables are created in its directory.")
            .for_transfers(),
        Key::new("member", ValueKind::Count(0, STUDY_LIST_ITEMS as u64 - 1))
            .left_out("all members of the target")
            .means(
                "Only this member of a target with several paths, counted from 0. A sweep, for example \
                `\"0..11\"`, measures each of them alone.",
            )
            .for_transfers(),
        Key::new("members", ValueKind::Count(1, STUDY_LIST_ITEMS as u64))
            .left_out("all members of the target")
            .means(
                "Only this many members, from the first on, of a target with several paths. A sweep, for \
                example `[1, 12]`, shows what more of them bring.",
            )
            .for_transfers(),
        Key::new("phases", ValueKind::Words(&PHASES)).default("[\"write\", \"read\"]").means(
            "The phases of one repetition, in order. By default, a tree goes through `tree-create`, \
                `file-create`, `file-stat`, `file-read`, `file-remove` and `tree-remove`, objects through \
                `precreate`, `benchmark` and `cleanup`, jobs through `load` and `jobs`, a search through \
                `find`.",
        ),
        Key::new("together", ValueKind::Keys).left_out("every combination of swept keys").means(
            "Swept keys that change together, for example `[\"tasks\", \"size\"]`: the first value of \
                each, then the second, and so on.",
        ),
        Key::new("transfer", ValueKind::Size)
            .needed("required")
            .means("Bytes of one I/O call.")
            .for_transfers(),
        Key::new("block", ValueKind::Size)
            .left_out("`size` gives the amount")
            .means("Contiguous bytes of one task; a multiple of `transfer`.")
            .for_transfers(),
        Key::new("segments", ValueKind::Count(1, INTEGER_MAX))
            .default("1")
            .means(
                "How many blocks each task has. In a shared file the blocks of all tasks \
                alternate, segment by segment.",
            )
            .for_transfers(),
        Key::new("size", ValueKind::Size)
            .left_out("`block` and `segments` give the amount")
            .means(
                "Bytes of each file, instead of `block` and `segments`. The tasks of a shared \
                file get equal, contiguous parts of it.",
            )
            .for_transfers(),
        Key::new("tasks", ValueKind::Count(1, TASKS_MAX as u64))
            .default("1")
            .means("Logical workers, each with offsets of its own; on all nodes together.")
            .for_transfers(),
        Key::new("tasks_per_node", ValueKind::Count(1, TASKS_MAX as u64))
            .left_out("`tasks` gives the number")
            .means("Tasks on each node, instead of `tasks`: together they are `nodes` times as many.")
            .for_transfers(),
        Key::new("nodes", ValueKind::Count(1, TASKS_MAX as u64))
            .left_out("all nodes of the run, or as many as there are tasks")
            .means(
                "Number of nodes that the tasks are spread over evenly, neighbours together: the first \
                nodes of the run. A run on fewer nodes is refused when it starts.",
            ),
        Key::new(
            "sharing",
            ValueKind::Word(&[
                ("shared", "one file for all tasks"),
                ("per-task", "a file for each task, named by the task's number"),
                ("own", "like `per-task`; on a target that is one device, each task has its own part of it"),
            ]),
        )
        .default("\"shared\"")
        .means("Whether tasks share one file. `own` is for sweeps over targets some of which are devices.")
        .for_transfers(),
        Key::new(
            "order",
            ValueKind::Word(&[
                ("sequential", "rising offsets, block by block"),
                ("random", "each transfer once, in a random order that follows from the seed"),
                ("backward", "falling offsets, from the last transfer to the first"),
                ("strided", "every `stride`-th transfer, then those between, each once"),
                ("same", "the first transfer over and over"),
            ]),
        )
        .default("\"sequential\"")
        .means("The order in which a task visits its transfers.")
        .for_transfers()
        .sets(Setter::Workload(|spec, value| {
            spec.order = match value.word() {
                // The seed is derived from the name of the workload.
                "random" => Order::Random { seed: 0 },
                "backward" => Order::Backward,
                "strided" => Order::Strided { stride: 0 },
                "same" => Order::Same,
                _ => Order::Sequential,
            }
        })),
        Key::new("stride", ValueKind::Count(1, STRIDE_MAX))
            .default("17")
            .means(
                "Distance from one transfer to the next, in transfers of the task; only with `order = \
                \"strided\"`.",
            )
            .needs("it needs order = \"strided\"", |table, _| table.word("order") == Some("strided"))
            .for_transfers()
            .sets(Setter::Workload(|spec, value| {
                if let Order::Strided { stride } = &mut spec.order {
                    *stride = value.count();
                }
            })),
        Key::flag("fresh_order")
            .means(
                "Another random order in each repetition, so that caches have not seen its offsets before; \
                only with `order = \"random\"`.",
            )
            .needs("it needs order = \"random\"", |table, _| table.word("order") == Some("random"))
            .for_transfers()
            .sets(Setter::Workload(|spec, value| spec.fresh_order = value.flag())),
        Key::new("backend", ValueKind::Word(&backend::WORDS))
            .left_out("psync at a depth of 1, otherwise io_uring where available")
            .means("How transfers reach the kernel."),
        Key::new("pieces", ValueKind::Count(1, PIECES_MAX))
            .left_out("as many as the transfer has pages, at most 16")
            .means(
                "Pieces of memory that each transfer moves in one call; only with `backend = \"vectored\"`.",
            )
            .needs("it needs backend = \"vectored\"", |table, _| table.word("backend") == Some("vectored"))
            .for_transfers(),
        Key::new("depth", ValueKind::Count(1, DEPTH_MAX as u64))
            .default("1")
            .means("Transfers that each task keeps in flight. Above 1 it needs io_uring or libaio."),
        Key::flag("direct")
            .means("`O_DIRECT`: bypasses the page cache. The file system decides which sizes it takes.")
            .for_transfers()
            .sets(Setter::Workload(|spec, value| match spec.work.jobs_mut() {
                Some(jobs) => jobs.direct = value.flag(),
                None => spec.direct = value.flag(),
            })),
        Key::new(
            "fsync",
            ValueKind::Word(&[
                ("none", "never"),
                ("close", "after the last write, inside the timed close"),
                ("each", "after each write, inside that transfer's latency"),
            ]),
        )
        .default("\"none\"")
        .means("When data must be on stable storage.")
        .needs("it needs a phase that writes", |table, phases| {
            table.word("fsync") == Some("none")
                || match table.word("work") {
                    Some("tree") => writes_files(phases),
                    Some("jobs") => true,
                    _ => phases.iter().any(|phase| phase.writes()),
                }
        })
        .for_transfers()
        .sets(Setter::Workload(|spec, value| {
            let at_close = value.word() == "close";
            if let Some(tree) = spec.work.tree_mut() {
                tree.sync = at_close;
            } else if let Some(jobs) = spec.work.jobs_mut() {
                jobs.sync = at_close;
            } else {
                spec.sync = SyncRule { at_close, per_write: value.word() == "each" };
            }
        })),
        Key::new(
            "advice",
            ValueKind::Word(&[
                ("none", "nothing"),
                (
                    "as-published",
                    "one `posix_fadvise(2)` with RANDOM, NOREUSE and DONTNEED ORed together, which is \
                NOREUSE alone",
                ),
                ("as-meant", "three calls, one for each of them"),
            ]),
        )
        .default("\"none\"")
        .means("What the kernel is told about the access pattern after open.")
        .for_transfers()
        .sets(Setter::Workload(|spec, value| value.put(&mut spec.advice))),
        Key::new(
            "read_from",
            ValueKind::Word(&[
                ("same", "its own"),
                ("shift", "the data of the task `read_distance` further on"),
                ("next-node", "the data of the same task of the next node; refused on one node, but in a sweep over `nodes` the point of one node reads its own"),
                ("shuffle", "a random assignment in which each task's data is read once"),
            ]),
        )
        .default("\"same\"")
        .means("Whose data a task reads or checks.")
        .for_transfers(),
        Key::new("read_distance", ValueKind::Count(1, TASKS_MAX as u64))
            .default("1")
            .means("Tasks between reader and writer: exactly with `shift`, at least with `shuffle`.")
            .needs("it needs read_from = \"shift\" or \"shuffle\"", |table, _| {
                matches!(table.word("read_from"), Some("shift" | "shuffle"))
            })
            .for_transfers(),
        Key::flag("reshuffle")
            .means("A different assignment in each repetition; only with `read_from = \"shuffle\"`.")
            .needs("it needs read_from = \"shuffle\"", |table, _| table.word("read_from") == Some("shuffle"))
            .for_transfers(),
        Key::new("stonewall", ValueKind::Time)
            .left_out("no deadline")
            .means("Each task stops after this time, however far it got. Not together with `duration`.")
            .for_transfers()
            .sets(Setter::Workload(|spec, value| {
                spec.stonewall = Some(Stonewall::after(value.nanos()));
            })),
        Key::flag("wear_out")
            .means("After `stonewall`, all tasks go on until each has done as much as the fastest had.")
            .needs("it needs a `stonewall`", |table, _| table.has("stonewall"))
            .for_transfers()
            .sets(Setter::Workload(|spec, value| {
                if let Some(stonewall) = &mut spec.stonewall {
                    stonewall.wear_out = value.flag();
                }
            })),
        Key::new("duration", ValueKind::Time)
            .left_out("one pass")
            .means("The pass is repeated until this time is over, and ends there.")
            .for_transfers()
            .sets(Setter::Workload(|spec, value| spec.duration = Some(value.nanos()))),
        Key::new("operations", ValueKind::Count(1, INTEGER_MAX))
            .left_out("one pass")
            .means(
                "Each task does exactly this many transfers: it repeats the pass, or ends within it. Not \
                together with `duration` or `stonewall`.",
            )
            .for_transfers()
            .sets(Setter::Workload(|spec, value| spec.operations = Some(value.count()))),
        Key::new("rate", ValueKind::Rate)
            .left_out("as fast as possible")
            .means(
                "Transfers per second of all tasks together. They start on schedule, and their latency \
                counts from the intended start.",
            )
            .for_transfers()
            .sets(Setter::Workload(|spec, value| {
                spec.pace = Some(Pace { transfers_per_second: value.number() })
            })),
        Key::new("read_percent", ValueKind::Count(0, 100))
            .left_out("required by the phase `mixed`, refused without it")
            .means("Share of reads in a mixed phase.")
            .needs("it needs the phase \"mixed\"", |_, phases| phases.contains(&Phase::Mixed))
            .for_transfers()
            .sets(Setter::Workload(|spec, value| {
                spec.read_percent = u8::try_from(value.count()).unwrap_or(u8::MAX)
            })),
        Key::flag("barriers")
            .means("Tasks wait for each other between open, transfers and close.")
            .for_transfers()
            .sets(Setter::Workload(|spec, value| spec.barriers = value.flag())),
        Key::flag("verify")
            .means(
                "Reads are compared with what was written, inside the timed phase; for messages, both ends \
                compare every byte.",
            )
            .needs("it needs a phase that reads", |table, phases| {
                table.word("work") != Some("transfers")
                    || phases.iter().any(|phase| phase.reads())
            })
            .needs("it needs the phase \"file-read\"", |table, phases| {
                table.word("work") != Some("tree") || phases.contains(&Phase::FileRead)
            })
            .for_transfers()
            .sets(Setter::Workload(|spec, value| spec.verify = value.flag())),
        Key::flag("quit_on_error")
            .means("A comparison ends at the first wrong byte instead of counting them.")
            .fixed()
            .for_transfers()
            .sets(Setter::Workload(|spec, value| spec.quit_on_error = value.flag())),
        Key::flag("single_attempt")
            .means("A short read or write is an error at once instead of being continued.")
            .for_transfers()
            .sets(Setter::Workload(|spec, value| spec.single_attempt = value.flag())),
        Key::new("fill", ValueKind::Flag)
            .left_out("required if data is read that no earlier phase has written")
            .means(
                "`true`: missing data that a read needs (or that a write overwrites, with `existing = \
                \"reuse\"`) is written first, untimed. `false`: it must exist; a missing, short or sparse \
                file that is read is an error.",
            )
            .fixed()
            .for_transfers()
            .sets(Setter::Files(|files, value| files.fill = value.flag())),
        Key::new(
            "existing",
            ValueKind::Word(&[
                ("replace", "removed first, so that each write phase creates its files"),
                ("reuse", "overwritten in place"),
            ]),
        )
        .left_out("`\"replace\"`; `\"reuse\"` on a device")
        .means("What happens to files that exist before a write phase.")
        .fixed()
        .for_transfers()
        .sets(Setter::Files(|files, value| value.put(&mut files.existing))),
        Key::new(
            "keep",
            ValueKind::Word(&[
                ("never", "removed, whatever happened"),
                ("on-error", "kept only where a check found wrong data"),
                ("always", "kept"),
            ]),
        )
        .left_out("`\"never\"`; `\"always\"` on a device")
        .means("What happens to the files at the end.")
        .fixed()
        .for_transfers()
        .sets(Setter::Files(|files, value| value.put(&mut files.keep))),
        Key::new("preallocate", ValueKind::Flag)
            .left_out("`false`")
            .means("Space is allocated (`posix_fallocate(3)`) before the write phase.")
            .fixed()
            .for_transfers()
            .sets(Setter::Files(|files, value| files.preallocate = value.flag())),
        Key::flag("unique_dir")
            .means("Each task's file is in a directory of its own; only with `sharing = \"per-task\"`.")
            .needs("it needs sharing = \"per-task\"", |table, _| {
                matches!(table.word("sharing"), Some("per-task" | "own"))
            })
            .for_transfers()
            .sets(Setter::Workload(|spec, value| spec.files.unique_dir = value.flag())),
        Key::flag("file_per_repetition")
            .means("Each repetition has files of its own.")
            .for_transfers()
            .sets(Setter::Workload(|spec, value| spec.files.file_per_repetition = value.flag())),
        Key::new("signature", ValueKind::Count(0, INTEGER_MAX))
            .left_out("the seed of the study")
            .means("Chooses the data: the same value gives the same bytes.")
            .sets(Setter::Workload(|spec, value| spec.signature = value.count())),
        Key::new("memory_hog", ValueKind::Size)
            .default("0")
            .means("Memory held on each node during the run, so that the page cache has less.")
            .sets(Setter::Workload(|spec, value| spec.memory_hog = value.bytes())),
        Key::new("history", ValueKind::Count(1, HISTORY_MAX))
            .left_out("none are kept")
            .means("Each process keeps this many of its last operations one by one: when, where, how long.")
            .for_transfers()
            .sets(Setter::Workload(|spec, value| spec.history = Some(value.count()))),
        Key::new("outlier", ValueKind::Time)
            .left_out("no warning")
            .means("Warns of a task whose time differs from the mean by more than this.")
            .sets(Setter::Workload(|spec, value| spec.outlier = Some(value.nanos()))),
    ],
};
