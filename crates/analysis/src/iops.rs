//! "How many IOPS?" is no question: transfers per second by definition.

use std::collections::HashMap;

use plan::{Bytes, Client, Order, Phase, Plan};

use crate::gate::{Gate, Kind, Stated};
use crate::subject::{Subject, subjects};
use crate::table::{Column, Of, Statement, bytes, count, nanos, operations, subject, text, word};
use crate::{Check, Doubt, Figure, doubted, operation_of};

/// Transfers per second, with all that has to be said before two such numbers mean the same.
#[derive(Debug, Clone, PartialEq)]
pub struct DefinedIops {
    /// The best figure of the definition.
    pub figure: usize,
    /// Transfers per second: its median.
    pub transfers_per_second: f64,
    /// The target.
    pub target: String,
    /// Where the measuring program ran.
    pub client: Client,
    /// Bytes of one transfer.
    pub transfer: Bytes,
    /// The direction.
    pub phase: Phase,
    /// Share of reads in a mixed phase.
    pub read_percent: Option<u8>,
    /// Random or sequential.
    pub random: bool,
    /// Around the page cache.
    pub direct: bool,
    /// Each write was on stable storage before the next.
    pub sync_per_write: bool,
    /// Transfers under way for each task.
    pub depth: u32,
    /// Tasks, of all nodes.
    pub tasks: u32,
    /// Nodes.
    pub nodes: u64,
    /// Whether memory answered.
    pub cache: CacheState,
    /// Mean latency and that which 99 % do not exceed, in nanoseconds.
    pub latency: Option<(f64, f64)>,
    /// Figures with this definition.
    pub of: usize,
}

impl Statement for DefinedIops {
    const KIND: Kind = Kind::Iops;
    const OF: Of = Of::Target;
    const CAPTION: &'static str = "Transfers completed per second of the same system, highest first; of equal \
                                   definitions the fastest";
    const COLUMNS: &'static [Column<Self>] = &[
        subject(bytes("transfer", "size", "Of a transfer.", |one| Some(one.transfer.0))),
        subject(text("way", "transfers", "Order and path.", |one| one.way())),
        subject(count("depth", "depth", "Of each task.", |one| Some(one.depth.into()))),
        subject(count("tasks", "tasks", "Of all nodes.", |one| Some(one.tasks.into()))),
        subject(count("nodes", "nodes", "Nodes.", |one| Some(one.nodes))),
        subject(word("client", "client", "Where the measuring program ran.", |one| match one.client {
            Client::Unstated => "",
            Client::LocalToServer => "local to server",
            Client::Remote => "remote",
        })),
        subject(word("cache", "answered", "`from the devices`, `from memory` or `not observed`.", |one| {
            one.cache.name()
        })),
        operations("iops", "IOPS", "Median of transfers per second.", |one| Some(one.transfers_per_second)),
        nanos("mean", "mean", "Mean latency.", |one| one.latency.map(|(mean, _)| mean)),
        nanos("p99", "p99", "99 % of the transfers take no longer.", |one| one.latency.map(|(_, p99)| p99)),
    ];

    fn notes(_: &[&Self]) -> Vec<String> {
        vec![
            "All of these are its IOPS. None of them means anything without the words in its row.".to_owned(),
        ]
    }
}

impl DefinedIops {
    /// `random, 70 % reads, direct, sync each`.
    fn way(&self) -> String {
        let mix = self.read_percent.map(|percent| format!("{percent} % reads"));
        let words = [
            Some(if self.random { "random" } else { "sequential" }.to_owned()),
            mix,
            Some(if self.direct { "direct" } else { "page cache" }.to_owned()),
            self.sync_per_write.then(|| "each on stable storage".to_owned()),
        ];
        words.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

/// Larger transfers are told in bytes per second.
const SMALL_BELOW: Bytes = Bytes::kib(64);

/// Those of [`iops_table`] of small transfers; a single definition needs no table.
pub(crate) fn of_gate(gate: &Gate<'_>, doubts: &[Doubt]) -> Vec<Stated<DefinedIops>> {
    let mut all = of_subjects(&gate.subjects, doubts);
    all.retain(|one| one.transfer < SMALL_BELOW);
    if all.len() < 2 {
        return Vec::new();
    }
    all.into_iter().map(|one| gate.state(Kind::Iops, vec![one.figure], one)).collect()
}

/// Whether memory answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CacheState {
    /// The devices moved all bytes.
    Devices,
    /// Memory answered for a part.
    Cached,
    /// The devices could not be observed.
    NotObserved,
}

impl CacheState {
    /// The word in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Devices => "from the devices",
            Self::Cached => "from memory",
            Self::NotObserved => "not observed",
        }
    }
}

/// The best figure of each definition of transfers per second, highest first: of each target,
/// client, size, direction, order, path, depth, number of tasks and nodes, and state of the caches. No number
/// of transfers per second is to be shown without these. Names, small files and messages are no transfers.
#[must_use]
pub fn iops_table(plan: &Plan, figures: &[Figure], doubts: &[Doubt]) -> Vec<DefinedIops> {
    of_subjects(&subjects(plan, figures), doubts)
}

/// What one number of transfers per second is the number of.
type Definition<'a> =
    (&'a str, Client, Bytes, Phase, Option<u8>, (bool, bool, bool), (u32, u32, u64), CacheState);

/// As [`iops_table`], of figures that were looked up already.
fn of_subjects(subjects: &[Subject<'_>], doubts: &[Doubt]) -> Vec<DefinedIops> {
    let cached = doubted(doubts, &[Check::Cached]);
    let mut places: HashMap<Definition<'_>, usize> = HashMap::new();
    let mut table: Vec<DefinedIops> = Vec::new();
    for subject in subjects.iter().filter(|one| one.figure.phase.is_transfers()) {
        let row = defined(subject, cached.contains(&subject.index));
        let ways = (row.random, row.direct, row.sync_per_write);
        let target = subject.case.target.as_str();
        let many = (row.depth, row.tasks, row.nodes);
        let key = (target, row.client, row.transfer, row.phase, row.read_percent, ways, many, row.cache);
        match places.get(&key).map(|&place| &mut table[place]) {
            None => {
                places.insert(key, table.len());
                table.push(row);
            }
            Some(best) => {
                let of = best.of + 1;
                if row.transfers_per_second > best.transfers_per_second {
                    *best = row;
                }
                best.of = of;
            }
        }
    }
    table.sort_by(|a, b| b.transfers_per_second.total_cmp(&a.transfers_per_second));
    table
}

fn defined(subject: &Subject<'_>, cached: bool) -> DefinedIops {
    let (workload, figure) = (&subject.case.workload, subject.figure);
    let writes = figure.phase.writes();
    DefinedIops {
        figure: subject.index,
        transfers_per_second: figure.transfers_per_second.median,
        target: subject.case.target.clone(),
        client: subject.client(),
        transfer: workload.geometry.transfer,
        phase: figure.phase,
        read_percent: (figure.phase == Phase::Mixed).then_some(workload.read_percent),
        random: matches!(workload.order, Order::Random { .. }),
        direct: workload.direct,
        sync_per_write: writes && workload.sync.per_write,
        depth: workload.backend.depth(),
        tasks: workload.tasks,
        nodes: subject.nodes(),
        cache: match figure.moved_by_devices() {
            _ if cached => CacheState::Cached,
            None => CacheState::NotObserved,
            Some(_) => CacheState::Devices,
        },
        latency: operation_of(figure.phase)
            .and_then(|operation| figure.response(operation))
            .map(|latency| (latency.mean_ns(), latency.get("p99"))),
        of: 1,
    }
}
