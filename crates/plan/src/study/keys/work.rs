//! The keys of `[[workload]]` that are about work other than transfers, and those that are about
//! transfers alone.

use crate::jobs::LAUNCHES_MAX;
use crate::study::kind::{Absent, INTEGER_MAX, Key, Kind, NUMBER_LEAST, WorkKeys};
use crate::tree::TREE_DEPTH_MAX;
use crate::workload::TASKS_MAX;

/// Largest number of directories in a directory that is not taken for a slip.
const BRANCHING_MAX: u64 = 1 << 20;
/// Largest number of sets, connections and the like.
const MANY: u64 = 1 << 20;
/// Larger scales are taken for a slip: the published workload has 420 GB at scale 1.
const SCALE_MAX: f64 = 1e6;
/// Largest number of threads of a process.
const THREADS_MAX: u64 = 4096;

/// What a workload does besides transfers.
pub(in crate::study) const WORKS: &[WorkKeys] = &[TREE, OBJECTS, RPC, JOBS];

/// Keys of workloads with transfers, and which other kinds of work heed them, too.
pub(in crate::study) const OF_TRANSFERS: &[(&str, &[&str])] = &[
    ("transfer", &[]),
    ("block", &[]),
    ("segments", &[]),
    ("size", &[]),
    ("tasks", &["tree", "objects"]),
    ("tasks_per_node", &["tree", "objects"]),
    ("sharing", &[]),
    ("order", &[]),
    ("stride", &[]),
    ("fresh_order", &[]),
    ("pieces", &[]),
    ("direct", &["jobs"]),
    ("fsync", &["tree", "jobs"]),
    ("advice", &[]),
    ("read_from", &[]),
    ("read_distance", &[]),
    ("reshuffle", &[]),
    ("stonewall", &["tree", "objects"]),
    ("wear_out", &["tree", "objects"]),
    ("duration", &["rpc"]),
    ("operations", &["rpc"]),
    ("rate", &[]),
    ("read_percent", &[]),
    ("barriers", &["tree", "objects"]),
    ("verify", &["tree", "objects", "rpc"]),
    ("quit_on_error", &["rpc"]),
    ("single_attempt", &[]),
    ("fill", &[]),
    ("existing", &["tree", "objects", "jobs"]),
    ("keep", &["tree", "objects", "jobs"]),
    ("preallocate", &[]),
    ("unique_dir", &[]),
    ("file_per_repetition", &["tree", "objects", "jobs"]),
    ("target", &["tree", "objects", "jobs"]),
    ("member", &["tree", "objects"]),
    ("members", &["tree", "objects"]),
    ("history", &["tree", "objects"]),
];

const TREE: WorkKeys = WorkKeys {
    word: "tree",
    what: "the files and directories of a tree",
    backends: "`psync`, `uring` or `null`",
    meaning: "A tree of directories is made below the target, which is a directory; each task makes, looks at, \
              reads, renames and removes items in it. Names and order are those of mdtest. A stonewall ends \
              phases that make, look at or read items, and the phases behind it go as far as the items were \
              made; renames and removals take all of them.",
    phases: &[
        "tree-create",
        "directory-create",
        "directory-stat",
        "directory-list",
        "directory-rename",
        "directory-remove",
        "file-create",
        "file-write",
        "file-stat",
        "file-read",
        "file-rename",
        "file-remove",
        "tree-remove",
    ],
    default_phases: &["tree-create", "file-create", "file-stat", "file-read", "file-remove", "tree-remove"],
    keys: &[
        Key {
            name: "items_per_directory",
            kind: Kind::Count(1, INTEGER_MAX),
            absent: Absent::Described("needed"),
            meaning: "Files (or directories) of each task in each directory of the tree that has items.",
        },
        Key {
            name: "levels",
            kind: Kind::Count(0, TREE_DEPTH_MAX as u64),
            absent: Absent::Value("0"),
            meaning: "Levels of directories below the topmost one: mdtest's depth.",
        },
        Key {
            name: "branching",
            kind: Kind::Count(1, BRANCHING_MAX),
            absent: Absent::Value("1"),
            meaning: "Directories in each directory that is not on the lowest level.",
        },
        Key {
            name: "leaf_only",
            kind: Kind::Flag,
            absent: Absent::Value("false"),
            meaning: "Items stand on the lowest level only.",
        },
        Key {
            name: "own_trees",
            kind: Kind::Flag,
            absent: Absent::Value("false"),
            meaning: "Each task has a tree of its own, instead of one for all.",
        },
        Key {
            name: "file_bytes",
            kind: Kind::Size,
            absent: Absent::Value("0"),
            meaning: "Bytes that are written into each file, inside its creation.",
        },
        Key {
            name: "read_bytes",
            kind: Kind::Size,
            absent: Absent::Described("`file_bytes`"),
            meaning: "Bytes that are read from each file; 0 opens and closes it.",
        },
        Key {
            name: "shift",
            kind: Kind::Count(0, TASKS_MAX as u64),
            absent: Absent::Value("0"),
            meaning: "A task looks at items of the task so many places further on, reads those of twice and \
                      removes those of three times as many, so that no cache of its own node has them.",
        },
        Key {
            name: "random",
            kind: Kind::Flag,
            absent: Absent::Value("false"),
            meaning: "Items are looked at in a random order, drawn from the seed.",
        },
        Key {
            name: "collective",
            kind: Kind::Flag,
            absent: Absent::Value("false"),
            meaning: "The first task makes and removes the trees of all.",
        },
        Key {
            name: "make_node",
            kind: Kind::Flag,
            absent: Absent::Value("false"),
            meaning: "Files are made by `mknod(2)`, without being opened; they stay empty.",
        },
        Key {
            name: "in_target",
            kind: Kind::Flag,
            absent: Absent::Value("false"),
            meaning: "The tree stands in the target itself, beside what is there, instead of in a directory of \
                      its own.",
        },
    ],
};

const OBJECTS: WorkKeys = WorkKeys {
    word: "objects",
    what: "small objects in sets",
    backends: "`psync`, `uring` or `null`",
    meaning: "Each task has sets of small objects. A step takes an object of a set, looks at it, reads it, removes \
              it and makes a new one, set after set, as md-workbench does.",
    phases: &["precreate", "benchmark", "cleanup"],
    default_phases: &["precreate", "benchmark", "cleanup"],
    keys: &[
        Key {
            name: "sets",
            kind: Kind::Count(1, MANY),
            absent: Absent::Value("10"),
            meaning: "Sets of each task.",
        },
        Key {
            name: "precreated",
            kind: Kind::Count(1, INTEGER_MAX),
            absent: Absent::Described("needed"),
            meaning: "Objects in each set before the steps begin.",
        },
        Key {
            name: "steps",
            kind: Kind::Count(1, INTEGER_MAX),
            absent: Absent::Described("needed"),
            meaning: "Steps in each set in one benchmark phase.",
        },
        Key {
            name: "object_bytes",
            kind: Kind::Size,
            absent: Absent::Value("3901"),
            meaning: "Bytes of an object.",
        },
        Key {
            name: "offset",
            kind: Kind::Count(0, TASKS_MAX as u64),
            absent: Absent::Value("1"),
            meaning: "In its first set a task takes objects of the task so many places before it and makes objects for the one \
                      so many places behind it, in its second set twice as many places away, and so on; with 0 it \
                      stays among its own.",
        },
        Key {
            name: "waiting_percent",
            kind: Kind::Count(0, 100_000),
            absent: Absent::Value("0"),
            meaning: "Each step rests for so many percent of the time that its operations took.",
        },
        Key {
            name: "read_only",
            kind: Kind::Flag,
            absent: Absent::Value("false"),
            meaning: "Steps only look and read.",
        },
        Key {
            name: "no_stat",
            kind: Kind::Flag,
            absent: Absent::Value("false"),
            meaning: "Steps do not look at objects before they read them.",
        },
    ],
};

const RPC: WorkKeys = WorkKeys {
    word: "rpc",
    what: "requests and responses",
    backends: "`psync` or `uring`",
    meaning: "Processes send each other requests and responses over TCP connections that stay open for a phase. \
              There is no target, and a task for each connection.",
    phases: &["exchange"],
    default_phases: &["exchange"],
    keys: &[
        Key {
            name: "request_bytes",
            kind: Kind::Size,
            absent: Absent::Value("\"1KiB\""),
            meaning: "Bytes of a request.",
        },
        Key {
            name: "response_bytes",
            kind: Kind::Size,
            absent: Absent::Value("\"1KiB\""),
            meaning: "Bytes of a response.",
        },
        Key {
            name: "pattern",
            kind: Kind::Word(&[
                ("one-to-one", "the first half of the processes asks the second half, each one other"),
                ("many-to-one", "all processes but the first ask the first"),
                ("all-to-all", "every process asks every other"),
            ]),
            absent: Absent::Value("\"one-to-one\""),
            meaning: "Who asks whom.",
        },
        Key {
            name: "processes",
            kind: Kind::Count(1, 65_536),
            absent: Absent::Described("as many as `nodes`"),
            meaning: "Processes that ask or answer, spread evenly over the nodes. One alone asks itself.",
        },
        Key {
            name: "connections",
            kind: Kind::Count(1, MANY),
            absent: Absent::Value("1"),
            meaning: "Connections of each pair of processes.",
        },
        Key {
            name: "threads",
            kind: Kind::Count(1, THREADS_MAX),
            absent: Absent::Value("1"),
            meaning: "Threads of each process that ask, and as many that answer.",
        },
        Key {
            name: "interface",
            kind: Kind::Text,
            absent: Absent::Described("the one that leads to the peer"),
            meaning: "The network interface that sockets are bound to, as `\"ib0\"`.",
        },
        Key {
            name: "port",
            kind: Kind::Count(1, 65_535),
            absent: Absent::Described("the kernel chooses"),
            meaning: "The port of the first process of a host that answers, the next one of the second, and so on.",
        },
        Key {
            name: "client_processors",
            kind: Kind::Text,
            absent: Absent::Value("\"none\""),
            meaning: "Processors that asking threads are bound to: `\"none\"`, as `\"0-3,6\"`, a NUMA node as \
                      `\"numa:0\"`, or `\"adapter\"` for those next to the network adapter.",
        },
        Key {
            name: "server_processors",
            kind: Kind::Text,
            absent: Absent::Value("\"none\""),
            meaning: "The same of threads that answer.",
        },
        Key {
            name: "uncounted",
            kind: Kind::Time,
            absent: Absent::Value("\"0s\""),
            meaning: "This time from the start of the phase is left out of everything: exchanges, seconds, processor \
                      time.",
        },
        Key {
            name: "deadline",
            kind: Kind::Time,
            absent: Absent::Value("\"30s\""),
            meaning: "A connection on which nothing moves for this long is an error.",
        },
    ],
};

const JOBS: WorkKeys = WorkKeys {
    word: "jobs",
    what: "the jobs of an analytics server",
    backends: "`psync`",
    meaning: "The jobs of each `[[test]]` are launched, each as a process of its own: they compute, sort, scan and \
              write tables in permanent, work and utility space. `load` makes the `[[table]]`s that they read. \
              There is a task for each launch, all on one node.",
    phases: &["load", "jobs"],
    default_phases: &["load", "jobs"],
    keys: &[
        Key {
            name: "tests",
            kind: Kind::Texts("[\"sort\", \"scan\"]"),
            absent: Absent::Described("every `[[test]]`"),
            meaning: "The tests that are launched.",
        },
        Key {
            name: "scale",
            kind: Kind::Number(NUMBER_LEAST, SCALE_MAX),
            absent: Absent::Value("1"),
            meaning: "Rows, different keys, lookups and operations of all tables and steps are multiplied by this; \
                      memory is not.",
        },
        Key {
            name: "page",
            kind: Kind::Size,
            absent: Absent::Value("\"256KiB\""),
            meaning: "Bytes of a page of a table, which one transfer moves: a power of two from 64 KiB to 1 MiB. The \
                      rows are the same whatever it is.",
        },
        Key {
            name: "concurrency",
            kind: Kind::Count(1, LAUNCHES_MAX),
            absent: Absent::Described("all launches that wait for nothing"),
            meaning: "At most so many launches run at a time; the others follow in their order as soon as one has \
                      ended.",
        },
        Key {
            name: "free_percent",
            kind: Kind::Count(0, 99),
            absent: Absent::Value("5"),
            meaning: "Less free space than this share of a file system is warned about.",
        },
        Key {
            name: "launch_limit",
            kind: Kind::Time,
            absent: Absent::Described("no limit"),
            meaning: "A launch that runs for longer is ended, and counts as failed.",
        },
    ],
};
