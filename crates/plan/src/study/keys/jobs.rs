//! The keys of `[[table]]`, `[[test]]` and `[[test.step]]`, which a workload of jobs is made of.

use crate::study::kind::{Absent, INTEGER_MAX, Key, Kind, Sweeps, Table, Word};

/// More streams or rounds than this are a slip.
const LAUNCHES: u64 = crate::jobs::LAUNCHES_MAX;
/// More threads than this are more than any machine has processors for.
const THREADS_MAX: u64 = 4096;

/// What a step does.
const ACTIONS: &[Word] = &[
    ("generate", "makes a table: `output`, `rows` or `size`, `groups` or `distinct`, `sorted`"),
    ("scan", "reads `input`, keeps a share of it by `keep`, and may write that to `output`"),
    (
        "summarise",
        "counts and adds up `input` by key in a hash table, and may write a row for each key to `output`",
    ),
    ("sort", "sorts `input` by key into `output`, with copies of the input in work and utility space"),
    ("merge", "joins `left` and `right`, both in the order of keys, and may write the pairs to `output`"),
    ("index", "builds an index of `input` by key and reads `lookups` rows by it in a random order"),
    ("append", "adds `rows` (or `size`) to the end of `table`"),
    ("update", "changes a `share` of the pages of `table` where they stand"),
    ("regression", "reads `input` and fits it by least squares, for `operations`"),
    (
        "factorisation",
        "factorises a dense matrix that takes `operations`, filled from `input` if there is one",
    ),
    ("fourier", "Fourier transforms, for `operations`, of a series from `input` if there is one"),
    ("simulation", "paths of a random process, for `operations`"),
    ("shuffle", "visits rows in memory in a random order, `operations` times; from `input` if there is one"),
];

/// How many rows there are, and how many different keys.
const ROWS: Key = Key {
    name: "rows",
    kind: Kind::Count(1, INTEGER_MAX),
    absent: Absent::Described("`size` says how many"),
    meaning: "Rows of 128 bytes at scale 1.",
};
const SIZE: Key = Key {
    name: "size",
    kind: Kind::Size,
    absent: Absent::Described("`rows` says how many"),
    meaning: "Bytes of all rows at scale 1, instead of `rows`.",
};
const GROUPS: Key = Key {
    name: "groups",
    kind: Kind::Count(1, INTEGER_MAX),
    absent: Absent::Described("`distinct` says how many"),
    meaning: "Different keys at scale 1: each row has one below this number.",
};
const DISTINCT: Key = Key {
    name: "distinct",
    kind: Kind::Share,
    absent: Absent::Described("`10 %` where there are no `groups`"),
    meaning: "Different keys as a share of the rows, instead of `groups`.",
};
const SORTED: Key = Key {
    name: "sorted",
    kind: Kind::Flag,
    absent: Absent::Value("false"),
    meaning: "Its rows stand in the order of their keys, as a merge needs them.",
};

/// `[[table]]`.
pub(in crate::study) const TABLE: Table = Table {
    name: "table",
    named_by: Some("name"),
    meaning: "A table that stands in permanent space before the first job of a workload of `jobs`: a file for each \
              stream of the tests that use it, made from the seed. docs/JOBS.md says what its rows are. Of a scaled \
              table at least 511 rows are left, or as many as are written here if those are fewer.",
    sweeps: Sweeps::None,
    shared: &[],
    works: &[],
    keys: &[
        Key {
            name: "name",
            kind: Kind::Name,
            absent: Absent::Refused,
            meaning: "What steps call it; unique among tables.",
        },
        ROWS,
        SIZE,
        GROUPS,
        DISTINCT,
        SORTED,
    ],
};

/// `[[test]]`.
pub(in crate::study) const TEST: Table = Table {
    name: "test",
    named_by: Some("name"),
    meaning: "A kind of job of a workload of `jobs`: a list of steps that one process goes through. It is launched \
              `streams` × `rounds` times. It waits for the tests in `after`, and for those whose permanent outputs \
              it reads.",
    sweeps: Sweeps::None,
    shared: &[],
    works: &[],
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
            name: "kind",
            kind: Kind::Word(&[
                ("computation", "processors, fed by I/O"),
                ("memory", "memory"),
                ("io", "storage"),
            ]),
            absent: Absent::Refused,
            meaning: "What it stresses most: the report groups tests by it.",
        },
        Key {
            name: "streams",
            kind: Kind::Count(1, LAUNCHES),
            absent: Absent::Value("1"),
            meaning: "So many run at the same time, each on copies of the tables for itself.",
        },
        Key {
            name: "rounds",
            kind: Kind::Count(1, LAUNCHES),
            absent: Absent::Value("1"),
            meaning: "So many run back to back in each stream, on the same data.",
        },
        Key {
            name: "after",
            kind: Kind::Texts("[\"extract\"]"),
            absent: Absent::Described("none"),
            meaning: "Tests all of whose launches have ended before the first of this one begins.",
        },
        Key {
            name: "threads",
            kind: Kind::Count(1, THREADS_MAX),
            absent: Absent::Value("1"),
            meaning: "Threads of each of its steps that does not say otherwise.",
        },
        Key {
            name: "memory",
            kind: Kind::Size,
            absent: Absent::Value("\"64MiB\""),
            meaning: "Memory for the data of each of its steps that does not say otherwise. It is not scaled. A step \
                      has 16 pages and 4 more for each thread at least.",
        },
        Key {
            name: "memory_max",
            kind: Kind::Size,
            absent: Absent::Described("no ceiling"),
            meaning: "A ceiling that the kernel keeps for all memory of one launch, page cache included, where \
                      control groups can be had.",
        },
        Key {
            name: "step",
            kind: Kind::Tables(&STEP),
            absent: Absent::Refused,
            meaning: "What is done, in this order: each as a `[[test.step]]`, or as a table in braces.",
        },
    ],
};

/// `[[test.step]]`.
pub(in crate::study) const STEP: Table = Table {
    name: "test.step",
    named_by: Some("do"),
    meaning: "A step of the `[[test]]` above it. An input is a `[[table]]`, the output of an earlier step of the same \
              test, or a permanent output of another test. A key that the step does not heed is refused.",
    sweeps: Sweeps::None,
    shared: &[],
    works: &[],
    keys: &[
        Key {
            name: "do",
            kind: Kind::Word(ACTIONS),
            absent: Absent::Refused,
            meaning: "What is done. docs/JOBS.md defines each of them.",
        },
        Key {
            name: "input",
            kind: Kind::Name,
            absent: Absent::Described("refused where it is needed"),
            meaning: "The table that is read. `factorisation`, `fourier` and `shuffle` draw their data from the seed \
                      where it is left out.",
        },
        Key {
            name: "left",
            kind: Kind::Name,
            absent: Absent::Described("refused where it is needed"),
            meaning: "The one table of a merge.",
        },
        Key {
            name: "right",
            kind: Kind::Name,
            absent: Absent::Described("refused where it is needed"),
            meaning: "The other table of a merge.",
        },
        Key {
            name: "table",
            kind: Kind::Name,
            absent: Absent::Described("refused where it is needed"),
            meaning: "The table that is changed. No other test may use it, unless it makes it.",
        },
        Key {
            name: "output",
            kind: Kind::Name,
            absent: Absent::Described("nothing is written"),
            meaning: "The table that is written. `generate` and `sort` need one.",
        },
        Key {
            name: "space",
            kind: Kind::Word(&[
                ("work", "for later steps of the same job"),
                ("permanent", "for tests that come after this one, too"),
                ("utility", "as `work`, where the copies of a sort are"),
            ]),
            absent: Absent::Described("`\"work\"`"),
            meaning: "Where `output` stands.",
        },
        ROWS,
        SIZE,
        GROUPS,
        DISTINCT,
        SORTED,
        Key {
            name: "keep",
            kind: Kind::Share,
            absent: Absent::Described("`100 %`"),
            meaning: "Share of the rows that a scan keeps.",
        },
        Key {
            name: "share",
            kind: Kind::Share,
            absent: Absent::Described("refused where it is needed"),
            meaning: "Share of the pages that an update changes.",
        },
        Key {
            name: "lookups",
            kind: Kind::Count(1, INTEGER_MAX),
            absent: Absent::Described("refused where it is needed"),
            meaning: "Rows that are looked up at scale 1.",
        },
        Key {
            name: "operations",
            kind: Kind::Number(1.0, 1e18),
            absent: Absent::Described("refused where it is needed"),
            meaning: "Floating-point operations at scale 1, of a shuffle visits: as `3e12`.",
        },
        Key {
            name: "threads",
            kind: Kind::Count(1, THREADS_MAX),
            absent: Absent::Described("`threads` of the test"),
            meaning: "Threads that do it.",
        },
        Key {
            name: "memory",
            kind: Kind::Size,
            absent: Absent::Described("`memory` of the test"),
            meaning: "Memory for its data.",
        },
    ],
};

/// The keys that a step which does `action` heeds beside `do`, `threads` and `memory`, and those of them that it
/// cannot do without.
pub(in crate::study) fn of_step(action: &str) -> (&'static [&'static str], &'static [&'static str]) {
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
