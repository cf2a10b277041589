//! The single definition of every key of a study file: what the reader accepts, what its errors
//! list as allowed, what `docs/STUDY.md` prints and what the JSON schema contains.

mod concurrent;
mod criteria;
mod jobs;
mod layout;
mod protocol;
mod target;
mod work;
mod workload;

pub(super) use concurrent::CONCURRENT;
pub(super) use criteria::{CLAIM, COMMITMENT, EXPECTATION, PROMISES, PUBLISHED, SELECTION};
pub(super) use jobs::{STEP, TABLE, TEST, of_step};
pub(super) use layout::LAYOUT;
pub(super) use protocol::PROTOCOL;
pub(super) use target::TARGET;
pub(super) use workload::{STONEWALL, WORKLOAD};

use crate::study::table::definition::{INTEGER_MAX, Key, Setter, Table, ValueKind};
/// Limit on nodes; the largest machines have fewer.
const NODES_MAX: u64 = 1 << 20;
/// Limit on hardware threads of a node; no node has more.
const NODE_THREADS_MAX: u64 = 1 << 16;

/// Every table that a study file may have, in the order of the reference.
pub(super) const TABLES: [&Table; 12] = [
    &STUDY,
    &PROTOCOL,
    &LAYOUT,
    &TARGET,
    &WORKLOAD,
    &CONCURRENT,
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
    meaning: "The title and the seed of the study, and facts about the whole of it.",
    keys: &[
        Key::new("title", ValueKind::Text).left_out("the name of the file").means("The title of the report."),
        Key::new("seed", ValueKind::Count(0, INTEGER_MAX)).default("0").means(
            "Seed of random orders, assignments and data: the same study and seed give the same sequence \
                of operations.",
        ),
        Key::new("exclusive", ValueKind::Flag)
            .left_out("not stated")
            .means(
                "Whether nobody else could use the storage during the run. The report states this with \
                every figure.",
            )
            .sets(Setter::Criteria(|criteria, value| criteria.exclusive = Some(value.flag()))),
        Key::new("release", ValueKind::Text)
            .left_out("not stated")
            .means("The software release that is measured, in your words; comparisons of runs show it.")
            .sets(Setter::Criteria(|criteria, value| criteria.release = Some(value.text()))),
        Key::new("nodes", ValueKind::Counts(1, NODES_MAX))
            .left_out("this node alone")
            .means(
                "Numbers of nodes for which expected figures are listed beforehand, for example `[1, 4, 8, \
                16]`.",
            )
            .sets(Setter::Criteria(|criteria, value| criteria.nodes = value.counts_u32())),
        Key::new("node_cores", ValueKind::Count(1, NODE_THREADS_MAX))
            .left_out("not stated")
            .means(
                "Processor cores of each node. The report states this, and where the measuring node differs.",
            )
            .sets(Setter::Criteria(|criteria, value| criteria.node.cores = Some(value.count_u32()))),
        Key::new("node_threads", ValueKind::Count(1, NODE_THREADS_MAX))
            .left_out("not stated")
            .means("Hardware threads of each node, likewise.")
            .sets(Setter::Criteria(|criteria, value| criteria.node.threads = Some(value.count_u32()))),
        Key::new("node_memory", ValueKind::Size)
            .left_out("what the record contains about the nodes")
            .means(
                "Memory of each node, likewise. For imported figures, it is the memory that may have \
                cached their data.",
            )
            .sets(Setter::Criteria(|criteria, value| criteria.node.memory = Some(value.bytes()))),
    ],
    ..Table::PLAIN
};

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::fmt::Debug;

    use super::TABLES;
    use crate::study::table::definition::{Key, Setter, ValueKind};
    use crate::study::table::values::Value;
    use crate::{
        Amount, Bytes, Expectation, Geometry, Over, Quantity, RateName, Relation, Rpc, Statistic,
        TargetDescription, WorkloadSpec,
    };

    /// The results of setting `fresh` to each word of `key`.
    fn outcomes<T: Clone + Debug>(key: &Key, set: fn(&mut T, &Value), fresh: &T) -> HashSet<String> {
        let outcome = |(word, _): &(&'static str, &str)| {
            let mut changed = fresh.clone();
            set(&mut changed, &Value::Word(word));
            format!("{changed:?}")
        };
        key.kind.words().iter().map(outcome).collect()
    }

    #[test]
    fn each_word_of_a_key_sets_something_else() {
        let spec = WorkloadSpec::new("w", "f", Geometry { transfer: Bytes(1), block: Bytes(1), segments: 1 });
        for key in TABLES.into_iter().flat_map(|table| table.all()) {
            let ValueKind::Word(words) = key.kind else { continue };
            let outcomes = match key.set {
                Setter::Target(set) => outcomes(key, set, &TargetDescription::default()),
                Setter::Workload(set) => outcomes(key, set, &spec),
                Setter::Files(set) => outcomes(key, set, &spec.files),
                Setter::Work(set) => outcomes(key, set, &Rpc::new(Bytes(1), Bytes(1)).into()),
                Setter::Expectation(set) => {
                    outcomes(key, set, &Expectation::new("e", Amount::BytesPerSecond(1.0)))
                }
                _ => continue,
            };
            assert_eq!(outcomes.len(), words.len(), "{}", key.name);
        }
    }

    #[test]
    fn what_a_kind_of_work_uses_is_there() {
        for table in TABLES {
            let given = table.keys.iter().filter(|key| key.for_transfers).map(|key| key.name);
            let given: HashSet<&str> = given.collect();
            for work in table.works {
                let unknown: Vec<_> = work.uses.iter().filter(|key| !given.contains(*key)).collect();
                assert!(unknown.is_empty(), "{}: {unknown:?}", work.word.0);
            }
        }
    }

    #[test]
    fn each_word_of_a_comparison_stands_for_something() {
        for (name, key) in TABLES.into_iter().flat_map(|table| table.all().map(|key| (table.name, key))) {
            for (word, _) in key.kind.words() {
                let word = Value::Word(word);
                let known = match (name, key.name) {
                    ("commitment", "rate") => word.parsed::<RateName>().is_some(),
                    ("commitment", "statistic") => word.parsed::<Statistic>().is_some(),
                    ("commitment", "over") => word.parsed::<Over>().is_some(),
                    ("claim", "quantity") => word.parsed::<Quantity>().is_some(),
                    ("claim", "relation") => word.parsed::<Relation>().is_some(),
                    _ => true,
                };
                assert!(known, "{name} {} {word:?}", key.name);
            }
        }
    }
}
