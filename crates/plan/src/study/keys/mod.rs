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

use super::kind::{INTEGER_MAX, Key, Kind, Table};
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
    meaning: "What the study is called, what its random choices are drawn from, and what is said about the \
              whole of it.",
    keys: &[
        Key::new("title", Kind::Text).left_out("the name of the file").means("Heads the report."),
        Key::new("seed", Kind::Count(0, INTEGER_MAX)).default("0").means(
            "Random orders, assignments and data are drawn from it: the same study and seed give the same \
             sequence of operations.",
        ),
        Key::new("exclusive", Kind::Flag).left_out("nothing is said").means(
            "Whether nobody else could use the storage meanwhile. The report says so with every figure.",
        ),
        Key::new("release", Kind::Text)
            .left_out("nothing is said")
            .means("The software release that is measured, in your words; comparisons of runs show it."),
        Key::new("nodes", Kind::Counts(1, NODES_MAX))
            .left_out("this node alone")
            .means("Numbers of nodes for which expected figures are listed beforehand, as `[1, 4, 8, 16]`."),
        Key::new("node_cores", Kind::Count(1, NODE_THREADS_MAX)).left_out("nothing is said").means(
            "Processor cores of each node. The report says so, and where the measuring node is another one.",
        ),
        Key::new("node_threads", Kind::Count(1, NODE_THREADS_MAX))
            .left_out("nothing is said")
            .means("Hardware threads of each node, likewise."),
        Key::new("node_memory", Kind::Size).left_out("what the record has of the nodes").means(
            "Memory of each node, likewise. Of imported figures it is what may have cached their data.",
        ),
    ],
    ..Table::PLAIN
};
