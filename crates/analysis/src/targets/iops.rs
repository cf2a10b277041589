//! Transfers per second, each with its definition: "How many IOPS?" alone has no answer.

use std::collections::HashSet;

use plan::{Bytes, Client, Phase, Plan, PlanSource};

use crate::audit::{AuditIssue, Check, doubted};
use crate::figures::{Figure, Subject, subjects};
use crate::gate::{
    Kind, Of, Statement,
    table::{Column, bytes, count, nanos, operations, subject, text, word},
};

/// The best figure for one definition of transfers per second.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the name says it")]
pub struct DefinedIops {
    pub figure: usize,
    pub definition: Definition,
    /// Median of transfers per second.
    rate: f64,
    /// Mean latency and 99th percentile, in nanoseconds.
    latency: Option<(f64, f64)>,
}

/// Everything that has to be specified before two numbers of transfers per second are comparable.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Definition {
    target: String,
    client: Client,
    phase: Phase,
    /// Bytes of one transfer.
    pub transfer: Option<Bytes>,
    /// Order and path, as in `random, 70 % reads, direct`.
    pub way: String,
    /// Transfers in flight per task.
    pub depth: Option<u32>,
    tasks: Option<u32>,
    nodes: Option<u64>,
    /// Whether data was served from memory, in words.
    pub cache: &'static str,
}

impl Statement for DefinedIops {
    const KIND: Kind = Kind::Iops;
    const OF: Of = Of::Target;
    const CAPTION: &'static str = "Transfers completed per second of the same system, highest first; of equal \
                                   definitions the fastest";
    const COLUMNS: &'static [Column<Self>] = &[
        subject(bytes("transfer", "size", "Size of a transfer.", |one| Some(one.definition.transfer?.0))),
        subject(text("way", "transfers", "Order and path.", |one| one.definition.way.clone())),
        subject(count("depth", "depth", "Transfers in flight of each task.", |one| {
            one.definition.depth.map(u64::from)
        })),
        subject(count("tasks", "tasks", "Tasks on all nodes together.", |one| {
            one.definition.tasks.map(u64::from)
        })),
        subject(count("nodes", "nodes", "Nodes.", |one| one.definition.nodes)),
        subject(word("client", "client", "Where the measuring program ran.", |one| {
            match one.definition.client {
                Client::Unstated => "",
                Client::LocalToServer => "local to server",
                Client::Remote => "remote",
            }
        })),
        subject(word(
            "cache",
            "answered",
            "`from the devices` as the kernel of the node counts them, whatever caches these have, `from memory` or `not observed`.",
            |one| one.definition.cache,
        )),
        operations("iops", "IOPS", "Median of transfers per second.", |one| Some(one.rate)),
        nanos("mean", "mean", "Mean latency.", |one| one.latency.map(|(mean, _)| mean)),
        nanos("p99", "p99", "99 % of the transfers take no longer.", |one| one.latency.map(|(_, p99)| p99)),
    ];

    fn notes(_: &[&Self]) -> Vec<String> {
        vec![
            "All of these are its IOPS. None of them means anything without the words in its row.".to_owned(),
        ]
    }
}

/// The rate of larger transfers is given in bytes per second.
const SMALL_BELOW: Bytes = Bytes::kib(64);

/// The [`iops_table`] of small transfers; a single definition needs no table.
pub(crate) fn of_small(plan: &Plan, figures: &[Figure], doubts: &[AuditIssue]) -> Vec<DefinedIops> {
    let mut all = iops_table(plan, figures, doubts);
    all.retain(|one| one.definition.transfer.is_some_and(|transfer| transfer < SMALL_BELOW));
    if all.len() < 2 { Vec::new() } else { all }
}

/// The best figure for each definition of transfers per second, highest first. A disqualified figure is only used if
/// its definition has no other. No number of transfers per second is to be shown without its definition. Names, small
/// files and messages are not transfers.
#[must_use]
pub fn iops_table(plan: &Plan, figures: &[Figure], doubts: &[AuditIssue]) -> Vec<DefinedIops> {
    let cached = doubted(doubts, &[Check::Cached]);
    // In a cross-check, the figures of the other tool have the same definitions and are shown elsewhere.
    let both = matches!(plan.source, PlanSource::CrossCheck { .. });
    let is_told = |one: &Subject<'_>| one.figure.phase.is_transfers() && !(both && one.case.stated.is_some());
    let subjects = subjects(plan, figures).into_iter().filter(is_told);
    let mut table: Vec<DefinedIops> =
        subjects.map(|one| DefinedIops::of(&one, cached.contains(&one.index))).collect();
    let disqualified: HashSet<usize> =
        doubts.iter().filter(|doubt| doubt.disqualifies()).filter_map(|doubt| doubt.figure).collect();
    table.sort_by(|a, b| b.rate.total_cmp(&a.rate));
    table.sort_by_key(|one| disqualified.contains(&one.figure));
    let mut seen = HashSet::new();
    table.retain(|one| seen.insert(one.definition.clone()));
    table.sort_by(|a, b| b.rate.total_cmp(&a.rate));
    table
}

impl DefinedIops {
    fn of(subject: &Subject<'_>, cached: bool) -> Self {
        let (workload, figure) = (&subject.case.workload, subject.figure);
        let reads = format!("{} % reads", workload.read_percent);
        let way = [
            Some(match subject.order_is_random() {
                Some(true) => "random",
                Some(false) => "sequential",
                None => "order not printed",
            }),
            (figure.phase == Phase::Mixed).then_some(reads.as_str()),
            Some(match subject.case.is_direct() {
                Some(true) => "direct",
                Some(false) => "page cache",
                None => "cache not printed",
            }),
            (figure.phase.writes() && workload.sync.per_write).then_some("each on stable storage"),
        ];
        let latency = figure.phase.operation().and_then(|operation| figure.response(operation));
        Self {
            figure: subject.index,
            definition: Definition {
                target: subject.case.target.clone(),
                client: subject.client(),
                phase: figure.phase,
                transfer: subject.case.transfer(),
                way: way.into_iter().flatten().collect::<Vec<_>>().join(", "),
                depth: subject.case.depth(),
                tasks: subject.case.tasks(),
                nodes: subject.nodes(),
                cache: match figure.moved_by_devices() {
                    _ if cached => "from memory",
                    None => "not observed",
                    Some(_) => "from the devices",
                },
            },
            rate: figure.transfers_per_second.median,
            latency: latency.map(|latency| (latency.mean_ns(), latency.get("p99"))),
        }
    }
}
