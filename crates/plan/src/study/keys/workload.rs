//! The keys of `[[workload]]`.

use super::protocol::PER_CASE;
use crate::backend;
use crate::study::kind::{Absent, INTEGER_MAX, Key, Kind, Sweeps, Table, Word};
use crate::study::value::LIST_MAX;
use crate::workload::{DEPTH_MAX, HISTORY_MAX, PIECES_MAX, STRIDE_MAX, TASKS_MAX};

/// Phases by their words.
pub(super) const PHASES: &[Word] = &[
    ("write", "writes"),
    ("read", "reads"),
    ("mixed", "reads and writes in the share of `read_percent`"),
    ("fill", "writes data that a later read needs; never a result"),
    ("check-write", "reads back what was written and compares it; never a result"),
    ("check-read", "reads again and compares; never a result"),
    ("tree-create", "makes the directories of a tree"),
    ("directory-create", "makes directories that are items"),
    ("directory-stat", "looks at them"),
    ("directory-list", "reads the names in the directories of a tree"),
    ("directory-rename", "renames directories that are items"),
    ("directory-remove", "removes them"),
    ("file-create", "makes files, writes their bytes and closes them"),
    ("file-write", "opens files, writes their bytes and closes them"),
    ("file-stat", "looks at files"),
    ("file-read", "opens files, reads their bytes and closes them"),
    ("file-rename", "renames files"),
    ("file-remove", "removes files"),
    ("tree-remove", "removes the directories of a tree"),
    ("precreate", "makes sets of objects"),
    ("benchmark", "goes round the objects"),
    ("cleanup", "removes them and their sets"),
    ("exchange", "requests and responses"),
    ("load", "makes the tables that jobs read, and checks them"),
    ("jobs", "launches jobs"),
];

/// Keys of one value that cannot be swept: what is said of the files holds for all workloads on
/// them, and how often a case is repeated is no property of what is measured.
const FIXED: &[&str] = &[
    "name",
    "title",
    "work",
    "in_target",
    "existing",
    "keep",
    "preallocate",
    "fill",
    "quit_on_error",
    "repetitions",
    "repetitions_min",
    "steady_window",
    "steady_excursion",
    "steady_slope",
    "time_limit",
];

/// `[[workload]]`.
pub(in crate::study) const WORKLOAD: Table = Table {
    name: "workload",
    named_by: Some("name"),
    meaning: "A pattern of transfers, or other work, by a number of tasks on a target. Workloads run in the order of the file. \
              The keys of `[protocol]` but for `shuffle` may stand here too, and hold for this workload.",
    sweeps: Sweeps::AllBut(FIXED),
    shared: PER_CASE,
    works: super::work::WORKS,
    keys: &[
        Key {
            name: "name",
            kind: Kind::Name,
            absent: Absent::Refused,
            meaning: "Names it in tables and files; unique in the study.",
        },
        Key {
            name: "title",
            kind: Kind::Text,
            absent: Absent::Described("none"),
            meaning: "What it is for, in the reader's words.",
        },
        Key {
            name: "work",
            kind: Kind::Word(&[
                ("transfers", "within files that stay open"),
                ("tree", "files and directories are made, looked at and removed"),
                ("objects", "small objects in sets are gone round"),
                ("rpc", "requests and responses between processes"),
                ("jobs", "processes compute, sort, scan and write tables"),
            ]),
            absent: Absent::Value("\"transfers\""),
            meaning: "What the tasks do. Each kind of work but transfers has keys of its own, which are listed \
                      below; keys that are about another kind are refused.",
        },
        Key {
            name: "target",
            kind: Kind::Reference("target"),
            absent: Absent::Described("the only target, if there is only one"),
            meaning: "The name of a `[[target]]`. Trees, objects and tables are made in its directory.",
        },
        Key {
            name: "member",
            kind: Kind::Count(0, LIST_MAX as u64 - 1),
            absent: Absent::Described("all members of the target"),
            meaning: "Only this member of a target of several paths, counted from 0. Swept, as `\"0..11\"`, it \
                      measures each of them alone.",
        },
        Key {
            name: "members",
            kind: Kind::Count(1, LIST_MAX as u64),
            absent: Absent::Described("all members of the target"),
            meaning: "Only the first so many members of a target of several paths. Swept, as `[1, 12]`, it shows \
                      what more of them bring.",
        },
        Key {
            name: "phases",
            kind: Kind::Words(PHASES),
            absent: Absent::Value("[\"write\", \"read\"]"),
            meaning: "The phases of one repetition, in order. Where nothing is said, a tree goes through \
                      `tree-create`, `file-create`, `file-stat`, `file-read`, `file-remove` and `tree-remove`, \
                      objects through `precreate`, `benchmark` and `cleanup`, jobs through `load` and `jobs`.",
        },
        Key {
            name: "together",
            kind: Kind::Keys,
            absent: Absent::Described("swept keys make a product"),
            meaning: "Swept keys that go in step, as `[\"tasks\", \"size\"]`: the first value of each, then the \
                      second, and so on.",
        },
        Key {
            name: "transfer",
            kind: Kind::Size,
            absent: Absent::Described("refused"),
            meaning: "Bytes of one I/O call.",
        },
        Key {
            name: "block",
            kind: Kind::Size,
            absent: Absent::Described("`size` says how much"),
            meaning: "Contiguous bytes of one task; a multiple of `transfer`.",
        },
        Key {
            name: "segments",
            kind: Kind::Count(1, INTEGER_MAX),
            absent: Absent::Value("1"),
            meaning: "How many blocks each task has. In a shared file the blocks of all tasks alternate, \
                      segment by segment.",
        },
        Key {
            name: "size",
            kind: Kind::Size,
            absent: Absent::Described("`block` and `segments` say how much"),
            meaning: "Bytes of each file, instead of `block` and `segments`. The tasks of a shared file get \
                      equal, contiguous parts of it.",
        },
        Key {
            name: "tasks",
            kind: Kind::Count(1, TASKS_MAX as u64),
            absent: Absent::Value("1"),
            meaning: "Logical workers, each with offsets of its own; on all nodes together.",
        },
        Key {
            name: "tasks_per_node",
            kind: Kind::Count(1, TASKS_MAX as u64),
            absent: Absent::Described("`tasks` says how many"),
            meaning: "Tasks on each node, instead of `tasks`: together they are `nodes` times as many.",
        },
        Key {
            name: "nodes",
            kind: Kind::Count(1, TASKS_MAX as u64),
            absent: Absent::Described("all nodes of the run, or as many as there are tasks"),
            meaning: "Nodes that the tasks are on, evenly and neighbours together: the first ones of the run. \
                      A run on fewer nodes is refused when it starts.",
        },
        Key {
            name: "sharing",
            kind: Kind::Word(&[
                ("shared", "one file for all tasks"),
                ("per-task", "a file for each task, named by the task's number"),
                ("own", "as `per-task`; of a target that is one device each task has its own part of it"),
            ]),
            absent: Absent::Value("\"shared\""),
            meaning: "Whether tasks share one file. `own` is for sweeps over targets of which some are devices.",
        },
        Key {
            name: "order",
            kind: Kind::Word(&[
                ("sequential", "rising offsets, block by block"),
                ("random", "each transfer once, in a random order drawn from the seed"),
                ("backward", "falling offsets, from the last transfer to the first"),
                ("strided", "every `stride`-th transfer, then those between, each once"),
                ("same", "the first transfer over and over"),
            ]),
            absent: Absent::Value("\"sequential\""),
            meaning: "The order in which a task visits its transfers.",
        },
        Key {
            name: "stride",
            kind: Kind::Count(1, STRIDE_MAX),
            absent: Absent::Value("17"),
            meaning: "From one transfer to the next, in transfers of the task; only with `order = \"strided\"`.",
        },
        Key {
            name: "fresh_order",
            kind: Kind::Flag,
            absent: Absent::Value("false"),
            meaning: "Another random order in each repetition, so that caches have not seen its places before; \
                      only with `order = \"random\"`.",
        },
        Key {
            name: "backend",
            kind: Kind::Word(&backend::WORDS),
            absent: Absent::Described("psync at a depth of 1, else io_uring where it can be had"),
            meaning: "How transfers reach the kernel.",
        },
        Key {
            name: "pieces",
            kind: Kind::Count(1, PIECES_MAX),
            absent: Absent::Described("as many as the transfer has pages, at most 16"),
            meaning: "Pieces of memory that each transfer moves in its one call; only with `backend = \"vectored\"`.",
        },
        Key {
            name: "depth",
            kind: Kind::Count(1, DEPTH_MAX as u64),
            absent: Absent::Value("1"),
            meaning: "Transfers that each task has under way. Above 1 it needs io_uring or libaio.",
        },
        Key {
            name: "direct",
            kind: Kind::Flag,
            absent: Absent::Value("false"),
            meaning: "`O_DIRECT`: around the page cache.",
        },
        Key {
            name: "fsync",
            kind: Kind::Word(&[
                ("none", "never"),
                ("close", "after the last write, inside the timed close"),
                ("each", "after each write, inside that transfer's latency"),
            ]),
            absent: Absent::Value("\"none\""),
            meaning: "When data must be on stable storage.",
        },
        Key {
            name: "advice",
            kind: Kind::Word(&[
                ("none", "nothing"),
                (
                    "as-published",
                    "one `posix_fadvise(2)` with RANDOM, NOREUSE and DONTNEED or-ed, which is NOREUSE alone",
                ),
                ("as-meant", "three calls, one for each of them"),
            ]),
            absent: Absent::Value("\"none\""),
            meaning: "What the kernel is told about the access pattern after open.",
        },
        Key {
            name: "read_from",
            kind: Kind::Word(&[
                ("same", "its own"),
                ("shift", "what the task `read_distance` further on wrote"),
                ("next-node", "what the same task of the next node wrote; on one node its own"),
                ("shuffle", "a random assignment in which each task's data is read once"),
            ]),
            absent: Absent::Value("\"same\""),
            meaning: "Whose data a task reads or checks.",
        },
        Key {
            name: "read_distance",
            kind: Kind::Count(1, TASKS_MAX as u64),
            absent: Absent::Value("1"),
            meaning: "Tasks between reader and writer: exactly with `shift`, at least with `shuffle`.",
        },
        Key {
            name: "reshuffle",
            kind: Kind::Flag,
            absent: Absent::Value("false"),
            meaning: "A different assignment in each repetition; only with `read_from = \"shuffle\"`.",
        },
        Key {
            name: "stonewall",
            kind: Kind::Time,
            absent: Absent::Described("no deadline"),
            meaning: "Each task stops after this time, however far it came. Not together with `duration`.",
        },
        Key {
            name: "wear_out",
            kind: Kind::Flag,
            absent: Absent::Value("false"),
            meaning: "After `stonewall`, all tasks go on until each has done as much as the fastest had.",
        },
        Key {
            name: "duration",
            kind: Kind::Time,
            absent: Absent::Described("one pass"),
            meaning: "The pass is repeated until this time is over, and ends there.",
        },
        Key {
            name: "operations",
            kind: Kind::Count(1, INTEGER_MAX),
            absent: Absent::Described("one pass"),
            meaning: "Each task does exactly so many transfers: it repeats the pass, or ends within it. Not \
                      together with `duration` or `stonewall`.",
        },
        Key {
            name: "rate",
            kind: Kind::Rate,
            absent: Absent::Described("as fast as it goes"),
            meaning: "Transfers per second of all tasks together. They start by the clock, and their latency \
                      counts from the intended start.",
        },
        Key {
            name: "read_percent",
            kind: Kind::Count(0, 100),
            absent: Absent::Described("needed by the phase `mixed`, refused without it"),
            meaning: "Share of reads in a mixed phase.",
        },
        Key {
            name: "barriers",
            kind: Kind::Flag,
            absent: Absent::Value("false"),
            meaning: "Tasks wait for each other between open, transfers and close.",
        },
        Key {
            name: "verify",
            kind: Kind::Flag,
            absent: Absent::Value("false"),
            meaning: "Reads are compared with what was written, inside the timed phase; of messages, both ends compare every byte.",
        },
        Key {
            name: "quit_on_error",
            kind: Kind::Flag,
            absent: Absent::Value("false"),
            meaning: "A comparison ends at the first wrong byte instead of counting them.",
        },
        Key {
            name: "single_attempt",
            kind: Kind::Flag,
            absent: Absent::Value("false"),
            meaning: "A short read or write is an error at once instead of being continued.",
        },
        Key {
            name: "fill",
            kind: Kind::Flag,
            absent: Absent::Described("needed where data is read that no phase before has written"),
            meaning: "`true`: data that a read needs (or a write goes over, with `existing = \"reuse\"`) and \
                      that is missing is written first, untimed. `false`: it has to be there; a missing, \
                      short or sparse file that is read is an error.",
        },
        Key {
            name: "existing",
            kind: Kind::Word(&[
                ("replace", "removed first, so that each write phase creates its files"),
                ("reuse", "written over in place"),
            ]),
            absent: Absent::Described("`\"replace\"`; `\"reuse\"` on a device"),
            meaning: "What happens to files that exist before a write phase.",
        },
        Key {
            name: "keep",
            kind: Kind::Word(&[
                ("never", "removed, whatever happened"),
                ("on-error", "kept only where a check found wrong data"),
                ("always", "kept"),
            ]),
            absent: Absent::Described("`\"never\"`; `\"always\"` on a device"),
            meaning: "What happens to the files at the end.",
        },
        Key {
            name: "preallocate",
            kind: Kind::Flag,
            absent: Absent::Described("`false`"),
            meaning: "Space is allocated (`posix_fallocate(3)`) before the write phase.",
        },
        Key {
            name: "unique_dir",
            kind: Kind::Flag,
            absent: Absent::Value("false"),
            meaning: "Each task's file stands in a directory of its own; only with `sharing = \"per-task\"`.",
        },
        Key {
            name: "file_per_repetition",
            kind: Kind::Flag,
            absent: Absent::Value("false"),
            meaning: "Each repetition has files of its own.",
        },
        Key {
            name: "signature",
            kind: Kind::Count(0, INTEGER_MAX),
            absent: Absent::Described("the seed of the study"),
            meaning: "Chooses the data: the same value gives the same bytes.",
        },
        Key {
            name: "memory_hog",
            kind: Kind::Size,
            absent: Absent::Value("0"),
            meaning: "Memory held on each node during the run, so that the page cache has less.",
        },
        Key {
            name: "history",
            kind: Kind::Count(1, HISTORY_MAX),
            absent: Absent::Described("none are kept"),
            meaning: "Each process keeps its last so many operations one by one: when, where, how long.",
        },
        Key {
            name: "outlier",
            kind: Kind::Time,
            absent: Absent::Described("no warning"),
            meaning: "Warns of a task whose time differs from the mean by more than this.",
        },
    ],
};
