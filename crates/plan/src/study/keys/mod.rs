//! The one definition of every key of a study file: what the reader accepts, what its errors say
//! is allowed, what `docs/STUDY.md` prints and what the JSON schema holds.

mod jobs;
mod layout;
mod protocol;
mod target;
mod terms;
mod work;
mod workload;

pub(super) use jobs::{STEP, TABLE, TEST, of_step};
pub(super) use layout::LAYOUT;
pub(super) use protocol::PROTOCOL;
pub(super) use target::TARGET;
pub(super) use terms::{CLAIM, COMMITMENT, EXPECTATION, PUBLISHED, SELECTION};
pub(super) use work::OF_TRANSFERS;
pub(super) use workload::WORKLOAD;

use super::kind::{Absent, INTEGER_MAX, Key, Kind, Sweeps, Table};
/// More nodes than the largest machines have.
const NODES_MAX: u64 = 1 << 20;
/// Hardware threads of a node: more than any has.
const NODE_THREADS_MAX: u64 = 1 << 16;

/// Every table that a study file may have, in the order of the reference.
pub(super) const TABLES: [&Table; 11] = [
    &STUDY,
    &PROTOCOL,
    &LAYOUT,
    &TARGET,
    &WORKLOAD,
    &TABLE,
    &TEST,
    &EXPECTATION,
    &COMMITMENT,
    &PUBLISHED,
    &CLAIM,
];

/// `[study]`.
pub(super) const STUDY: Table = Table {
    name: "study",
    named_by: None,
    meaning: "What the study is called, what its random choices are drawn from, and what is said about the \
              whole of it.",
    sweeps: Sweeps::None,
    shared: &[],
    works: &[],
    keys: &[
        Key {
            name: "title",
            kind: Kind::Text,
            absent: Absent::Described("the name of the file"),
            meaning: "Heads the report.",
        },
        Key {
            name: "seed",
            kind: Kind::Count(0, INTEGER_MAX),
            absent: Absent::Value("0"),
            meaning: "Random orders, assignments and data are drawn from it: the same study and seed give the \
                      same sequence of operations.",
        },
        Key {
            name: "exclusive",
            kind: Kind::Flag,
            absent: Absent::Described("nothing is said"),
            meaning: "Whether nobody else could use the storage meanwhile. The report says so with every figure.",
        },
        Key {
            name: "release",
            kind: Kind::Text,
            absent: Absent::Described("nothing is said"),
            meaning: "The software release that is measured, in your words; comparisons of runs show it.",
        },
        Key {
            name: "nodes",
            kind: Kind::Counts(1, NODES_MAX),
            absent: Absent::Described("this node alone"),
            meaning: "Numbers of nodes for which expected figures are listed beforehand, as `[1, 4, 8, 16]`.",
        },
        Key {
            name: "node_cores",
            kind: Kind::Count(1, NODE_THREADS_MAX),
            absent: Absent::Described("nothing is said"),
            meaning: "Processor cores of each node. The report says so, and where the measuring node is another one.",
        },
        Key {
            name: "node_threads",
            kind: Kind::Count(1, NODE_THREADS_MAX),
            absent: Absent::Described("nothing is said"),
            meaning: "Hardware threads of each node, likewise.",
        },
        Key {
            name: "node_memory",
            kind: Kind::Size,
            absent: Absent::Described("what the record has of the nodes"),
            meaning: "Memory of each node, likewise. Of imported figures it is what may have cached their data.",
        },
    ],
};
