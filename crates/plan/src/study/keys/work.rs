//! The keys of `[[workload]]` for work other than transfers.

use crate::jobs::LAUNCHES_MAX;
use crate::study::table::definition::{INTEGER_MAX, Key, NUMBER_LEAST, Setter, ValueKind, WorkKeys};
use crate::study::table::values::Values as _;
use crate::work::tree::{PPM_OF_PERCENT, TREE_DEPTH_MAX};
use crate::workload::limits::TASKS_MAX;
use crate::{Bytes, Find, Jobs, Objects, Phase, Rpc, Tree, Work};

/// Limit on directories in a directory; more are taken for a typing error.
const BRANCHING_MAX: u64 = 1 << 20;
/// Limit on sets, connections and the like.
const MANY: u64 = 1 << 20;
/// Larger scales are taken for a typing error: the published workload has 420 GB at scale 1.
const SCALE_MAX: f64 = 1e6;
/// Limit on threads of a process.
const THREADS_MAX: u64 = 4096;

/// A factor in parts of 1,000,000,000; at least one part.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the key bounds it to above 0 and at most a million"
)]
fn billionths(factor: f64) -> u64 {
    ((factor * 1e9).round() as u64).max(1)
}

/// A setter in one kind of work, as in `field!(Find, |find, value| find.matching = value.text())`.
macro_rules! field {
    ($kind:ident, |$work:ident, $value:ident| $set:expr) => {
        Setter::Work(|work, $value| {
            if let Work::$kind($work) = work {
                $set
            }
        })
    };
}

/// The kinds of work besides transfers.
pub(crate) const WORKS: &[WorkKeys] = &[TREE, OBJECTS, RPC, FIND, JOBS];

const TREE: WorkKeys = WorkKeys {
    word: ("tree", "creates, stats and removes files and directories"),
    make: |_| Work::Tree(Tree::flat(0)),
    what: "the files and directories of a tree",
    backends: "`psync`, `uring` or `null`",
    meaning: "A tree of directories is created below the target, which is a directory; each task creates, \
                stats, reads, renames and removes items in it. Names and order are those of mdtest. A \
                stonewall ends phases that create, stat or read items, and the phases after it go as far \
                as the items were created; renames and removals take all of them.",
    phases: &[
        ("tree-create", "creates the directories of a tree"),
        ("directory-create", "creates directories that are items"),
        ("directory-stat", "stats them"),
        ("directory-list", "lists the directories of a tree"),
        ("directory-rename", "renames directories that are items"),
        ("directory-remove", "removes them"),
        ("file-create", "creates files, writes their bytes and closes them"),
        ("file-write", "opens files, writes their bytes and closes them"),
        ("file-stat", "stats files"),
        ("file-read", "opens files, reads their bytes and closes them"),
        ("file-rename", "renames files"),
        ("file-remove", "removes files"),
        ("tree-remove", "removes the directories of a tree"),
    ],
    default_phases: &["tree-create", "file-create", "file-stat", "file-read", "file-remove", "tree-remove"],
    uses: &[
        "target",
        "member",
        "members",
        "tasks",
        "tasks_per_node",
        "direct",
        "fsync",
        "stonewall",
        "wear_out",
        "barriers",
        "verify",
        "existing",
        "keep",
        "file_per_repetition",
        "history",
    ],
    keys: &[
        Key::new("items_per_directory", ValueKind::Count(1, INTEGER_MAX))
            .needed("needed")
            .means("Files (or directories) of each task in each directory of the tree that has items.")
            .sets(field!(Tree, |tree, value| tree.items_per_directory = value.count())),
        Key::new("levels", ValueKind::Count(0, TREE_DEPTH_MAX as u64))
            .default("0")
            .means("Levels of directories below the topmost one: mdtest's depth.")
            .sets(field!(Tree, |tree, value| tree.depth = value.count_u32())),
        Key::new("branching", ValueKind::Count(1, BRANCHING_MAX))
            .default("1")
            .means("Directories in each directory that is not on the lowest level.")
            .needs("it needs `levels`", |table, _| table.count("levels") != Some(0))
            .sets(field!(Tree, |tree, value| tree.branching = value.count_u32())),
        Key::flag("leaf_only")
            .means("Items are only on the lowest level.")
            .needs("it needs `levels`", |table, _| table.count("levels") != Some(0))
            .sets(field!(Tree, |tree, value| tree.leaf_only = value.flag())),
        Key::flag("own_trees")
            .means("Each task has a tree of its own, instead of one for all.")
            .sets(field!(Tree, |tree, value| tree.own_trees = value.flag())),
        Key::new("file_bytes", ValueKind::Size)
            .default("0")
            .means("Bytes that are written into each file, as part of its creation.")
            .sets(field!(Tree, |tree, value| {
                (tree.write_bytes, tree.read_bytes) = (value.bytes(), value.bytes());
            })),
        Key::new("read_bytes", ValueKind::Size)
            .left_out("`file_bytes`")
            .means("Bytes that are read from each file; 0 opens and closes it.")
            .needs("it needs the phase \"file-read\"", |_, phases| phases.contains(&Phase::FileRead))
            .sets(field!(Tree, |tree, value| tree.read_bytes = value.bytes())),
        Key::new("shift", ValueKind::Count(0, TASKS_MAX as u64))
            .default("0")
            .means(
                "A task stats items of the task this many places further on, reads those of the task twice \
                as far on and removes those of the task three times as far on, so that no cache of its own \
                node has them.",
            )
            .sets(field!(Tree, |tree, value| tree.shift = value.count_u32())),
        Key::flag("random")
            .means("The stat phases visit items in a random order that follows from the seed.")
            .needs("it needs a phase that stats items, such as \"file-stat\"", |_, phases| {
                phases.iter().any(|phase| matches!(phase, Phase::FileStat | Phase::DirectoryStat))
            })
            .sets(field!(Tree, |tree, value| tree.random = value.flag().then_some(0))),
        Key::flag("collective")
            .means("The first task creates and removes the trees of all tasks.")
            .sets(field!(Tree, |tree, value| tree.collective = value.flag())),
        Key::flag("make_node")
            .means("Files are created by `mknod(2)` with mode 0400, without being opened; they stay empty.")
            .sets(field!(Tree, |tree, value| tree.make_node = value.flag())),
        Key::flag("in_target")
            .means(
                "The tree is in the target itself, next to what is there, instead of in a directory of its \
                own.",
            )
            .fixed()
            .sets(field!(Tree, |tree, value| tree.in_target = value.flag())),
    ],
};

const OBJECTS: WorkKeys = WorkKeys {
    word: ("objects", "steps through small objects in sets"),
    make: |_| Work::Objects(Objects::default()),
    what: "small objects in sets",
    backends: "`psync`, `uring` or `null`",
    meaning: "Each task has sets of small objects. A step stats, reads and removes an object of a set and \
                creates a new one, set after set, as md-workbench does.",
    phases: &[
        ("precreate", "creates sets of objects"),
        ("benchmark", "runs the steps on the objects"),
        ("cleanup", "removes them and their sets"),
    ],
    default_phases: &["precreate", "benchmark", "cleanup"],
    uses: &[
        "target",
        "member",
        "members",
        "tasks",
        "tasks_per_node",
        "stonewall",
        "wear_out",
        "barriers",
        "verify",
        "existing",
        "keep",
        "file_per_repetition",
        "history",
    ],
    keys: &[
        Key::new("sets", ValueKind::Count(1, MANY))
            .default("10")
            .means("Sets of each task.")
            .sets(field!(Objects, |objects, value| objects.sets = value.count_u32())),
        Key::new("precreated", ValueKind::Count(1, INTEGER_MAX))
            .needed("needed")
            .means("Objects in each set before the steps begin.")
            .sets(field!(Objects, |objects, value| objects.precreated = value.count())),
        Key::new("steps", ValueKind::Count(1, INTEGER_MAX))
            .needed("needed")
            .means("Steps in each set in one benchmark phase.")
            .sets(field!(Objects, |objects, value| objects.steps = value.count())),
        Key::new("object_bytes", ValueKind::Size)
            .default("3901")
            .means("Bytes of an object.")
            .sets(field!(Objects, |objects, value| objects.object_bytes = value.bytes())),
        Key::new("offset", ValueKind::Count(0, TASKS_MAX as u64))
            .default("1")
            .means(
                "In its first set a task takes objects of the task this many places before it and creates \
                objects for the task this many places after it, in its second set twice as many places \
                away, and so on; with 0 it uses only its own.",
            )
            .needs("it needs more than one task", |table, _| {
                table.count("offset") == Some(0) || table.count_u32("tasks") != Some(1)
            })
            .sets(field!(Objects, |objects, value| objects.offset = value.count_u32())),
        Key::new("waiting_percent", ValueKind::Count(0, 100_000))
            .default("0")
            .means("Pause after each step, in percent of the time that its operations took.")
            .sets(field!(Objects, |objects, value| objects.waiting_ppm = value.count_u32() * PPM_OF_PERCENT)),
        Key::flag("read_only")
            .means("Steps only stat and read.")
            .sets(field!(Objects, |objects, value| objects.read_only = value.flag())),
        Key::flag("no_stat")
            .means("Steps do not stat objects before they read them.")
            .sets(field!(Objects, |objects, value| objects.no_stat = value.flag())),
    ],
};

const FIND: WorkKeys = WorkKeys {
    word: ("find", "searches everything below the target"),
    make: |_| Work::Find(Find::default()),
    what: "a search through directories",
    backends: "`psync`",
    meaning: "Everything below the target is searched, whatever created it, as `find(1)` does. Each name \
                that is not a directory is an operation; if size or time matters, each matching name needs a `stat(2)`. Directories are distributed over the tasks by their size. Nothing is written.",
    phases: &[("find", "searches through directories")],
    default_phases: &["find"],
    uses: &["target", "tasks", "tasks_per_node"],
    keys: &[
        Key::new("matching", ValueKind::Text)
            .default("\"*\"")
            .means("The pattern of names; `*` matches any characters.")
            .sets(field!(Find, |find, value| find.matching = value.text())),
        Key::new("find_bytes", ValueKind::Size)
            .left_out("any size")
            .means("Only files of exactly this size are counted as found.")
            .sets(field!(Find, |find, value| find.bytes = Some(value.bytes()))),
        Key::new("newer_than", ValueKind::Text)
            .left_out("any time")
            .means("Only files that were changed later than this file are counted as found.")
            .sets(field!(Find, |find, value| find.newer_than = Some(value.text().into()))),
    ],
};

const RPC: WorkKeys = WorkKeys {
    word: ("rpc", "requests and responses between processes"),
    make: |nodes| Work::Rpc(Rpc { ends: nodes, ..Rpc::new(Bytes(0), Bytes(0)) }),
    what: "requests and responses",
    backends: "`psync` or `uring`",
    meaning: "Processes send each other requests and responses over TCP connections that stay open for a \
                phase. There is no target, and one task for each connection.",
    phases: &[("exchange", "requests and responses")],
    default_phases: &["exchange"],
    uses: &["duration", "operations", "verify", "quit_on_error"],
    keys: &[
        Key::new("request_bytes", ValueKind::Size)
            .default("\"1KiB\"")
            .means("Bytes of a request.")
            .sets(field!(Rpc, |rpc, value| rpc.request_bytes = value.bytes())),
        Key::new("response_bytes", ValueKind::Size)
            .default("\"1KiB\"")
            .means("Bytes of a response.")
            .sets(field!(Rpc, |rpc, value| rpc.response_bytes = value.bytes())),
        Key::new(
            "pattern",
            ValueKind::Word(&[
                ("one-to-one", "each process of the first half sends requests to one of the second half"),
                ("many-to-one", "all processes but the first send requests to the first"),
                ("all-to-all", "every process sends requests to every other one"),
            ]),
        )
        .default("\"one-to-one\"")
        .means("Which processes send requests to which.")
        .sets(field!(Rpc, |rpc, value| value.put(&mut rpc.pattern))),
        Key::new("processes", ValueKind::Count(1, 65_536))
            .left_out("as many as `nodes`")
            .means(
                "Client and server processes, spread evenly over the nodes. A single one sends requests to \
                    itself.",
            )
            .sets(field!(Rpc, |rpc, value| rpc.ends = value.count_u32())),
        Key::new("connections", ValueKind::Count(1, MANY))
            .default("1")
            .means("Connections of each pair of processes.")
            .sets(field!(Rpc, |rpc, value| rpc.connections = value.count_u32())),
        Key::new("threads", ValueKind::Count(1, THREADS_MAX))
            .default("1")
            .means("Client threads of each process, and as many server threads.")
            .sets(field!(Rpc, |rpc, value| rpc.threads = value.count_u32())),
        Key::new("interface", ValueKind::Text)
            .left_out("the one that leads to the peer")
            .means("The network interface that sockets are bound to, as `\"ib0\"`.")
            .sets(field!(Rpc, |rpc, value| rpc.interface = Some(value.text()))),
        Key::new("port", ValueKind::Count(1, 65_535))
            .left_out("the kernel chooses")
            .means("The port of the first server process of a host; the second uses the next one, and so on.")
            .sets(field!(Rpc, |rpc, value| rpc.port = u16::try_from(value.count()).ok())),
        Key::new("client_processors", ValueKind::Text).default("\"none\"").means(
            "Processors that client threads are bound to: `\"none\"`, a list such as `\"0-3,6\"`, a NUMA \
                node such as `\"numa:0\"`, or `\"adapter\"` for those next to the network adapter.",
        ),
        Key::new("server_processors", ValueKind::Text)
            .default("\"none\"")
            .means("Processors that server threads are bound to, likewise."),
        Key::new("uncounted", ValueKind::Time)
            .default("\"0s\"")
            .means(
                "Time at the start of the phase that is excluded from everything: exchanges, seconds, \
                processor time.",
            )
            .sets(field!(Rpc, |rpc, value| rpc.warm_up = value.nanos())),
        Key::new("deadline", ValueKind::Time)
            .default("\"30s\"")
            .means("A connection on which nothing moves for this long is an error.")
            .sets(field!(Rpc, |rpc, value| rpc.deadline = value.nanos())),
    ],
};

const JOBS: WorkKeys = WorkKeys {
    word: ("jobs", "processes compute, sort, scan and write tables"),
    make: |_| Work::Jobs(Jobs::new(Bytes(0))),
    what: "the jobs of an analytics server",
    backends: "`psync`",
    meaning: "The jobs of each `[[test]]` are launched, each as a process of its own: they compute, sort, \
                scan and write tables in permanent, work and utility space. `load` creates the \
                `[[table]]`s that they read. There is one task for each launch, all on one node.",
    phases: &[("load", "creates the tables that jobs read, and checks them"), ("jobs", "launches jobs")],
    default_phases: &["load", "jobs"],
    uses: &["target", "direct", "fsync", "existing", "keep", "file_per_repetition"],
    keys: &[
        Key::new("tests", ValueKind::Texts("[\"sort\", \"scan\"]"))
            .left_out("every `[[test]]`")
            .means("The tests that are launched."),
        Key::new("scale", ValueKind::Number(NUMBER_LEAST, SCALE_MAX))
            .default("1")
            .means(
                "Rows, different keys, lookups and operations of all tables and steps are \
                multiplied by this; memory is not.",
            )
            .sets(field!(Jobs, |jobs, value| jobs.scale_billionths = billionths(value.number()))),
        Key::new("page", ValueKind::Size)
            .default("\"256KiB\"")
            .means(
                "Bytes of a page of a table, which one transfer moves: a power of two from 64 KiB \
                to 1 MiB. The rows are the same whatever it is.",
            )
            .sets(field!(Jobs, |jobs, value| jobs.page_bytes = value.bytes())),
        Key::new("concurrency", ValueKind::Count(1, LAUNCHES_MAX))
            .left_out("all launches that wait for nothing")
            .means(
                "Maximum number of launches that run at a time; the others follow in their order as soon \
                as one has ended.",
            )
            .sets(field!(Jobs, |jobs, value| jobs.concurrency = value.count_u32())),
        Key::new("free_percent", ValueKind::Count(0, 99))
            .default("5")
            .means("Warns if less than this share of a file system is free.")
            .sets(field!(Jobs, |jobs, value| jobs.free_percent_min = value.count_u32())),
        Key::new("launch_limit", ValueKind::Time)
            .left_out("no limit")
            .means("A launch that runs for longer is ended, and counts as failed.")
            .sets(field!(Jobs, |jobs, value| jobs.launch_limit = Some(value.nanos()))),
    ],
};
