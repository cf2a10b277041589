//! The keys of `[[table]]`, `[[test]]` and `[[test.step]]`, which define a workload of jobs.

use crate::study::table::definition::{INTEGER_MAX, Key, Table, ValueKind, Word};

/// Limit on streams and rounds; more are taken for a typing error.
const LAUNCHES: u64 = crate::jobs::LAUNCHES_MAX;
/// Limit on threads; no machine has more processors.
const THREADS_MAX: u64 = 4096;

/// The actions of a step.
const ACTIONS: &[Word] = &[
    ("generate", "creates a table: `output`, `rows` or `size`, `groups` or `distinct`, `sorted`"),
    ("scan", "reads `input`, keeps a share of it by `keep`, and may write that to `output`"),
    (
        "summarise",
        "counts and adds up `input` by key in a hash table, and may write a row for each \
                key to `output`",
    ),
    (
        "sort",
        "sorts `input` by key into `output`, with copies of the input in work and utility \
                space",
    ),
    ("merge", "joins `left` and `right`, both sorted by key, and may write the pairs to `output`"),
    ("index", "builds an index of `input` by key and reads `lookups` rows by it in a random order"),
    ("append", "adds `rows` (or `size`) to the end of `table`"),
    ("update", "changes a `share` of the pages of `table` in place"),
    ("regression", "reads `input` and fits it by least squares, for `operations`"),
    (
        "factorisation",
        "factorises a dense matrix that takes `operations`, filled from `input` if there \
                is one",
    ),
    ("fourier", "Fourier transforms, for `operations`, of a series from `input` if there is one"),
    ("simulation", "paths of a random process, for `operations`"),
    (
        "shuffle",
        "visits rows in memory in a random order, `operations` times; from `input` if \
                there is one",
    ),
];

/// The keys for the number of rows and the number of distinct keys.
const ROWS: Key = Key::new("rows", ValueKind::Count(1, INTEGER_MAX))
    .left_out("`size` gives the number")
    .means("Rows of 128 bytes at scale 1.");
const SIZE: Key = Key::new("size", ValueKind::Size)
    .left_out("`rows` gives the number")
    .means("Bytes of all rows at scale 1, instead of `rows`.");
const GROUPS: Key = Key::new("groups", ValueKind::Count(1, INTEGER_MAX))
    .left_out("`distinct` gives the number")
    .means("Number of different keys at scale 1: each row has one below this number.");
const DISTINCT: Key = Key::new("distinct", ValueKind::Share)
    .left_out("`10 %` if there are no `groups`")
    .means("Different keys as a share of the rows, instead of `groups`.");
const SORTED: Key = Key::flag("sorted").means("Its rows are sorted by key, as a merge needs them.");

/// `[[table]]`.
pub(crate) const TABLE: Table = Table {
    name: "table",
    named_by: Some("name"),
    meaning: "A table that exists in permanent space before the first job of a workload of `jobs`: a file \
                for each stream of the tests that use it, generated from the seed. docs/JOBS.md describes \
                its rows. A scaled table keeps at least 511 rows, or as many as are given here if those \
                are fewer.",
    keys: &[
        Key::new("name", ValueKind::Name).means("The name that steps use; unique among tables."),
        ROWS,
        SIZE,
        GROUPS,
        DISTINCT,
        SORTED,
    ],
    ..Table::PLAIN
};

/// `[[test]]`.
pub(crate) const TEST: Table = Table {
    name: "test",
    named_by: Some("name"),
    meaning: "A kind of job of a workload of `jobs`: a list of steps that one process runs. It is launched \
                `streams` × `rounds` times. It waits for the tests in `after`, and for those whose \
                permanent outputs it reads.",
    keys: &[
        Key::new("name", ValueKind::Name).means("Its name in tables and files; unique in the study."),
        Key::new("title", ValueKind::Text).left_out("none").means("Its purpose, in the reader's words."),
        Key::new(
            "kind",
            ValueKind::Word(&[
                ("computation", "processors, fed by I/O"),
                ("memory", "memory"),
                ("io", "storage"),
            ]),
        )
        .means("What it stresses most: the report groups tests by it."),
        Key::new("streams", ValueKind::Count(1, LAUNCHES))
            .default("1")
            .means("Number of launches that run at the same time, each on its own copies of the tables."),
        Key::new("rounds", ValueKind::Count(1, LAUNCHES))
            .default("1")
            .means("Number of launches that run back to back in each stream, on the same data."),
        Key::new("after", ValueKind::Texts("[\"extract\"]"))
            .left_out("none")
            .means("Tests whose launches must all have ended before the first launch of this one begins."),
        Key::new("threads", ValueKind::Count(1, THREADS_MAX))
            .default("1")
            .means("Threads of each of its steps that does not set its own."),
        Key::new("memory", ValueKind::Size).default("\"64MiB\"").means(
            "Memory for the data of each of its steps that does not set its own. It is not scaled. A step \
                has at least 16 pages and 4 more for each thread.",
        ),
        Key::new("memory_max", ValueKind::Size).left_out("no limit").means(
            "A limit that the kernel enforces on all memory of one launch, page cache included, where \
                control groups are available.",
        ),
        Key::new("step", ValueKind::Tables(&STEP))
            .means("Its steps, in order: each as a `[[test.step]]`, or as a table in braces."),
    ],
    ..Table::PLAIN
};

/// `[[test.step]]`.
pub(crate) const STEP: Table = Table {
    name: "test.step",
    named_by: Some("do"),
    meaning: "A step of the `[[test]]` above it. An input is a `[[table]]`, the output of an earlier step \
                of the same test, or a permanent output of another test. A key that the step does not use \
                is refused.",
    keys: &[
        Key::new("do", ValueKind::Word(ACTIONS))
            .means("What the step does. docs/JOBS.md defines each action."),
        Key::new("input", ValueKind::Name).left_out("required by the actions that need it").means(
            "The table that is read. `factorisation`, `fourier` and `shuffle` generate their data from the \
                seed if it is left out.",
        ),
        Key::new("left", ValueKind::Name)
            .left_out("required by the actions that need it")
            .means("The first table of a merge."),
        Key::new("right", ValueKind::Name)
            .left_out("required by the actions that need it")
            .means("The second table of a merge."),
        Key::new("table", ValueKind::Name)
            .left_out("required by the actions that need it")
            .means("The table that is changed. No other test may use it, except the one that writes it."),
        Key::new("output", ValueKind::Name)
            .left_out("nothing is written")
            .means("The table that is written. `generate` and `sort` need one."),
        Key::new(
            "space",
            ValueKind::Word(&[
                ("work", "for later steps of the same job"),
                ("permanent", "for tests that come after this one, too"),
                ("utility", "as `work`, where the copies of a sort are"),
            ]),
        )
        .left_out("`\"work\"`")
        .means("Where `output` is stored."),
        ROWS,
        SIZE,
        GROUPS,
        DISTINCT,
        SORTED,
        Key::new("keep", ValueKind::Share).left_out("`100 %`").means("Share of the rows that a scan keeps."),
        Key::new("share", ValueKind::Share)
            .left_out("required by the actions that need it")
            .means("Share of the pages that an update changes."),
        Key::new("lookups", ValueKind::Count(1, INTEGER_MAX))
            .left_out("required by the actions that need it")
            .means("Number of rows looked up, at scale 1."),
        Key::new("operations", ValueKind::Number(1.0, 1e18))
            .left_out("required by the actions that need it")
            .means("Floating-point operations (for a shuffle: visits) at scale 1, for example `3e12`."),
        Key::new("threads", ValueKind::Count(1, THREADS_MAX))
            .left_out("`threads` of the test")
            .means("Number of threads."),
        Key::new("memory", ValueKind::Size).left_out("`memory` of the test").means("Memory for its data."),
    ],
    ..Table::PLAIN
};

/// The keys that a step with `action` uses in addition to `do`, `threads` and `memory`, and those among them
/// that it requires.
pub(crate) fn of_step(action: &str) -> (&'static [&'static str], &'static [&'static str]) {
    match action {
        "generate" => (&["output", "space", "rows", "size", "groups", "distinct", "sorted"], &["output"]),
        "scan" => (&["input", "output", "space", "keep"], &["input"]),
        "summarise" => (&["input", "output", "space"], &["input"]),
        "sort" => (&["input", "output", "space"], &["input", "output"]),
        "merge" => (&["left", "right", "output", "space"], &["left", "right"]),
        "index" => (&["input", "lookups"], &["input", "lookups"]),
        "append" => (&["table", "rows", "size"], &["table"]),
        "update" => (&["table", "share"], &["table", "share"]),
        "regression" => (&["input", "operations"], &["input", "operations"]),
        "simulation" => (&["operations"], &["operations"]),
        _ => (&["input", "operations"], &["operations"]),
    }
}
