//! What a study states in addition to its cases: targets, expectations, commitments, published figures for
//! comparison, and claims to be tested. All are fixed before the run and stored with it.

use serde::{Deserialize, Serialize};

use crate::text::names::variants;
use crate::{Bytes, Case, FigureQuantity, Nanos, NodeList, Phase, Setting, Terms};

/// The terms under which the figures of a plan are shown and judged.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Criteria {
    /// Descriptions of the targets.
    pub targets: Vec<TargetDescription>,
    /// Data-sheet values and limits of links.
    pub expectations: Vec<Expectation>,
    /// Promised figures.
    pub commitments: Vec<Commitment>,
    /// Published figures shown beside measured ones.
    pub published: Vec<PublishedReference>,
    /// Statements to be tested.
    pub claims: Vec<Claim>,
    /// Whether the storage was otherwise unused during the run, as stated by the user.
    pub exclusive: Option<bool>,
    /// The software release that is measured, in the user's words; for comparisons of releases.
    pub release: Option<String>,
    /// Numbers of nodes for which limits are listed in advance; only this node if empty.
    pub nodes: Vec<u32>,
    /// Description of each node.
    pub node: NodeDescription,
}

/// A node, as described by the study.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct NodeDescription {
    /// Number of processor cores.
    pub cores: Option<u32>,
    /// Total number of hardware threads.
    pub threads: Option<u32>,
    /// Memory.
    pub memory: Option<Bytes>,
}

impl NodeDescription {
    /// `40 cores, 160 threads, 512 GiB of memory`; empty if the study states nothing.
    #[must_use]
    pub fn words(&self) -> String {
        let count = |count: Option<u32>, what: &str| count.map(|count| format!("{count} {what}"));
        let memory = self.memory.map(|memory| format!("{memory} of memory"));
        let parts = [count(self.cores, "cores"), count(self.threads, "threads"), memory];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

/// Which nodes can reach a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layer {
    /// Not stated by the study.
    #[default]
    Unstated,
    /// Each node has its own.
    NodeLocal,
    /// All nodes reach the same files.
    Shared,
}

/// Location of the measuring program, relative to the storage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Client {
    /// Not stated by the study.
    #[default]
    Unstated,
    /// On the server of the storage.
    LocalToServer,
    /// Behind a network.
    Remote,
}

/// The description of a target.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TargetDescription {
    /// Its name in the study.
    pub name: String,
    /// Display name in the report; the name if empty.
    pub title: String,
    /// The published layout that it reproduces; may be empty.
    pub stands_for: String,
    /// Which nodes can reach it.
    pub layer: Layer,
    /// Location of the measuring program.
    pub client: Client,
    /// Devices or members that it is made of; 0 if not stated.
    pub devices: u32,
    /// The target with one device that is the reference for scalability.
    pub baseline: Option<String>,
    /// The target that it is built on: the layer below it.
    pub above: Option<String>,
    /// Block size of a file system that spreads each block over all its devices.
    pub fs_block: Option<Bytes>,
    /// Memory of all servers: data must be [`SERVER_MEMORY_MULTIPLE`] times as large.
    pub server_memory: Option<Bytes>,
    /// Commands that print the counters of servers and clients; they run before and after each phase.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub server_collect: Vec<String>,
    /// Time limit for each of them; none if not stated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_time_limit: Option<Nanos>,
    /// Caches of clients, servers and controllers together; a working set should be
    /// [`CACHE_MULTIPLE`] times as large.
    pub caches: Option<Bytes>,
    /// Rack units, or another unit of cost; 0 if not stated.
    pub rack_units: f64,
    /// Switch ports that it takes; 0 if not stated.
    pub ports: u32,
    /// Slots for its devices; 0 if not stated.
    pub slots: u32,
    /// Capacity in bytes.
    pub capacity: Option<Bytes>,
    /// Bytes that the real work would store there.
    pub needs: Option<Bytes>,
}

impl TargetDescription {
    /// The memory that may answer reads instead of the devices, as far as the study states it: `caches`, else
    /// `server_memory`.
    #[must_use]
    pub fn stated_memory(&self) -> Option<Bytes> {
        self.caches.or(self.server_memory)
    }
}

/// The line with which the study states the caches of the target `name`, as advice.
#[must_use]
pub fn state_caches(name: &str) -> String {
    let target = match name {
        "" => "the [[target]]".to_owned(),
        name => format!("[[target]] name = \"{}\"", crate::visible(name)),
    };
    format!("write caches = \"64MiB\" in {target}: the real size, \"0\" for none")
}

/// Data that is meant to be read from devices is at least this many times the memory of the servers (study D,
/// "at least 4x RAM of the servers").
pub const SERVER_MEMORY_MULTIPLE: u64 = 4;
/// A working set is at least this many times the caches, so that they hold at most 5 % of it.
pub const CACHE_MULTIPLE: u64 = 20;

/// An amount that is expected or promised, or that a claim is about.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Amount {
    /// Bytes per second.
    BytesPerSecond(f64),
    /// Operations per second.
    OperationsPerSecond(f64),
    /// A latency that `percent` of all transfers do not exceed; the mean if `percent` is `None`.
    Latency {
        /// Nanoseconds.
        nanos: f64,
        /// For example 99 for p99.
        percent: Option<f64>,
    },
}

impl Amount {
    /// The number, in [`Amount::unit`].
    #[must_use]
    pub const fn number(self) -> f64 {
        match self {
            Self::BytesPerSecond(value) | Self::OperationsPerSecond(value) => value,
            Self::Latency { nanos, .. } => nanos,
        }
    }

    /// Its unit in JSON and CSV.
    #[must_use]
    pub const fn unit(self) -> &'static str {
        match self {
            Self::BytesPerSecond(_) => "bytes/s",
            Self::OperationsPerSecond(_) => "ops/s",
            Self::Latency { .. } => "ns",
        }
    }
}

/// What a commitment asks for.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Asked {
    /// This amount.
    Amount(Amount),
    /// A part of what a reference run reached at the same point; it is judged beside that run.
    OfReference {
        /// The part, above 0.
        share: f64,
        /// What of it.
        of: FigureQuantity,
    },
}

impl Asked {
    /// The amount. `None` for a part of what a reference run reached.
    #[must_use]
    pub const fn amount(self) -> Option<Amount> {
        match self {
            Self::Amount(amount) => Some(amount),
            Self::OfReference { .. } => None,
        }
    }

    /// Whether it is about latencies.
    #[must_use]
    pub const fn is_of_latency(self) -> bool {
        match self {
            Self::Amount(amount) => matches!(amount, Amount::Latency { .. }),
            Self::OfReference { of, .. } => of.is_of_latency(),
        }
    }

    /// The percentile of latencies that it is about.
    #[must_use]
    pub const fn percentile(self) -> Option<f64> {
        match self {
            Self::Amount(Amount::Latency { percent, .. }) => percent,
            Self::OfReference { of: FigureQuantity::Percentile(percent), .. } => Some(percent),
            Self::Amount(_) | Self::OfReference { .. } => None,
        }
    }
}

impl From<Amount> for Asked {
    fn from(amount: Amount) -> Self {
        Self::Amount(amount)
    }
}

/// A share in percent, without trailing zeros: `92.5 %`.
#[must_use]
pub fn share_words(share: f64) -> String {
    let percent = format!("{:.2}", share * 100.0);
    format!("{} %", percent.trim_end_matches('0').trim_end_matches('.'))
}

/// The scope of the limit of an [`Expectation`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Per {
    /// The whole target.
    #[default]
    Target,
    /// One of the target's devices.
    Device,
    /// One node.
    Node,
}

/// A data-sheet value or the limit of a link.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Expectation {
    /// Its name, as in `PCIe x4`; unique in the study.
    pub name: String,
    /// The target; all targets if `None`.
    pub target: Option<String>,
    /// The phase; all phases if `None`.
    pub phase: Option<Phase>,
    /// Random or sequential; both if `None`.
    pub random: Option<bool>,
    /// The transfer size; all sizes if `None`.
    pub transfer: Option<Bytes>,
    /// Share of reads in a mixed phase.
    pub read_percent: Option<u8>,
    /// The nodes that it is for: those on one fabric or switch, of which it limits the part that they moved of a figure.
    /// All nodes if empty.
    #[serde(default, skip_serializing_if = "NodeList::is_empty")]
    pub nodes: NodeList,
    /// The limit for one of [`Expectation::count`] units.
    pub amount: Amount,
    /// The latency at which a data sheet promises the value.
    pub at_latency: Option<Nanos>,
    /// The number of units.
    pub count: f64,
    /// What one unit belongs to.
    pub per: Per,
    /// Whether no figure can exceed it: a link or a controller, as opposed to a data sheet value.
    pub ceiling: bool,
    /// Source of the value.
    pub source: String,
    /// What reaching it means, as in `what the vendor says`; may be empty.
    pub reached: String,
    /// What missing it means, as in `look for a different vendor`; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub missed: String,
}

/// Which of the rates of a phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RateName {
    /// All bytes ÷ (first open began → last close ended), including fsync on close.
    #[default]
    ByWall,
    /// All bytes ÷ (first transfer began → last transfer ended), without open and close.
    ByIo,
    /// Sum over tasks of bytes ÷ (its first transfer began → its last transfer ended).
    SumOfTasks,
    /// Bytes that all tasks had moved ÷ time, at the end of the first task.
    AtFirstDone,
    /// All bytes ÷ (first transfer began → the slowest task's last transfer ended).
    AtLastDone,
    /// 5th percentile of the rates of all whole seconds between first and last transfer.
    Sustained,
    /// Bytes moved up to the deadline ÷ time up to the deadline.
    AtStonewall,
}

/// Statistic by which a commitment is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Statistic {
    /// The middle one of the repetitions.
    Median,
    /// Their mean.
    Mean,
    /// The worst of them.
    Worst,
    /// The best of them.
    Best,
    /// The bound on the unfavourable side, of the median or of a promised percentile.
    ConfidenceBound,
}

/// Which of the selected cases must meet a commitment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Over {
    /// All of them.
    #[default]
    Every,
    /// The best one.
    Best,
}

/// Favourable side of an amount.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bound {
    /// The figure is to be this much or more.
    AtLeast,
    /// The figure is to be this much or less.
    AtMost,
}

/// Selects figures of a study.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Selector {
    /// The workload, or the workloads that run at the same time under this name; all that run alone if `None`.
    pub workload: Option<String>,
    /// The target; all targets if `None`.
    pub target: Option<String>,
    /// The phase; all result phases if `None`.
    pub phase: Option<Phase>,
    /// Points of the sweep with these values; all points if empty.
    pub at: Vec<Setting>,
}

/// A promised figure, and how it is judged; fixed before the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Commitment {
    /// What was promised, in a few words; unique in the study.
    pub name: String,
    /// Who promised or requested it; may be empty.
    pub by: String,
    /// The figures that it applies to.
    pub figures: Selector,
    /// The rate by which it is judged; not used for latencies.
    pub rate: RateName,
    /// The statistic over the repetitions by which it is judged.
    pub statistic: Statistic,
    /// Which side of the amount is good.
    pub bound: Bound,
    /// What is promised.
    #[serde(rename = "amount")]
    pub asked: Asked,
    /// Which of the selected cases have to keep it.
    pub over: Over,
    /// What the study file fixes about the measurement itself.
    #[serde(default, skip_serializing_if = "Terms::is_empty")]
    pub terms: Terms,
}

/// A published figure and the measured figures that it is compared with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PublishedReference {
    /// Its id in the library of published figures.
    pub id: String,
    /// The own figures. Without [`Selector::at`], the best of them is compared.
    pub figures: Selector,
}

/// The compared quantity of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Quantity {
    /// The best median rate among the selected cases.
    BestRate,
    /// The lowest median rate among them.
    LowestRate,
    /// The median over the selected cases of their median rates.
    TypicalRate,
    /// The coefficient of variation of the median rates over the selected cases.
    Variation,
    /// The largest coefficient of variation of the repetitions of one selected case.
    RepetitionSpread,
    /// The smallest mean latency.
    Latency,
    /// The value of the swept key at which the best median rate was measured.
    BestAt,
    /// The value of the swept key up to which the curve rises steeply.
    Knee,
    /// The value of the swept key from which on the curve is flat.
    PlateauFrom,
    /// The share of the processors that the program used at the best point.
    CpuShare,
    /// Linearity of the curve over nodes or tasks: the share of its variance that the least-squares line
    /// explains.
    RSquared,
    /// The smallest value of the swept key with 90 % of the best rate of the curve.
    #[serde(alias = "reaches-90")]
    Reaches90,
    /// The coefficient of variation of the curve from that value on.
    VariationBeyond,
    /// The largest measured rate of several nodes ÷ (nodes × rate of the slowest).
    SlowestShare,
}

impl Quantity {
    /// Whether it counts bytes or operations per second.
    #[must_use]
    pub const fn is_rate(self) -> bool {
        matches!(self, Self::BestRate | Self::LowestRate | Self::TypicalRate)
    }
}

/// One side of a claim.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// Own figures.
    Measured(Selector),
    /// A number: bytes per second, bytes, nanoseconds or a share, depending on the quantity.
    Value(f64),
    /// Operations per second, also of transfers.
    OperationsPerSecond(f64),
}

/// How the sides of a claim compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Relation {
    /// Left is greater, by more than the tolerance.
    Greater,
    /// Left is less, by more than the tolerance.
    Less,
    /// They are equal within the tolerance.
    Equal,
}

/// A claim that own data can confirm or refute.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// Its id in the library of published studies, or a name chosen by the user.
    pub id: String,
    /// The text of the claim; that of the library if empty.
    pub text: String,
    /// What is compared.
    pub quantity: Quantity,
    /// The left side.
    pub left: Selector,
    /// How it compares.
    pub relation: Relation,
    /// The right side.
    pub right: Side,
    /// The right side is multiplied by this before the comparison: 0.909 for "9.1 % less".
    pub factor: f64,
    /// Share of the right side within which both sides are equal.
    pub tolerance: f64,
}

impl RateName {
    const NAMES: [(Self, &'static str); 7] = [
        (Self::ByWall, "by wall time"),
        (Self::ByIo, "by I/O phase"),
        (Self::SumOfTasks, "sum of tasks"),
        (Self::AtFirstDone, "at first task done"),
        (Self::AtLastDone, "at last task done"),
        (Self::Sustained, "sustained"),
        (Self::AtStonewall, "at stonewall"),
    ];
    /// All names, in the order in which tables show them.
    pub const ALL: [Self; 7] = variants(&Self::NAMES);

    /// The name shown with every figure.
    #[must_use]
    pub const fn name(self) -> &'static str {
        Self::NAMES[self as usize].1
    }

    /// The formula, in one line.
    #[must_use]
    pub const fn definition(self) -> &'static str {
        match self {
            Self::ByWall => "all bytes ÷ (first open began → last close ended), fsync on close included",
            Self::ByIo => "all bytes ÷ (first transfer began → last transfer ended), without open and close",
            Self::SumOfTasks => {
                "sum over tasks of bytes ÷ (its first transfer began → its last transfer ended)"
            }
            Self::AtFirstDone => {
                "bytes that all tasks had moved ÷ time, at the moment when the first task was done; \
                 hides stragglers"
            }
            Self::AtLastDone => {
                "all bytes ÷ (first transfer began → the slowest task's last transfer ended), from the tasks' own times"
            }
            Self::Sustained => {
                "5th percentile of the rates of all whole seconds between first and last transfer"
            }
            Self::AtStonewall => "bytes moved up to the deadline ÷ time up to the deadline",
        }
    }
}

impl Selector {
    /// Whether the figure of `phase` of `case` is selected. Of cases that run at the same time it is only that of the phase
    /// that does, and only if they are named.
    #[must_use]
    pub fn takes(&self, case: &Case, phase: Phase) -> bool {
        self.names(case, phase) && (case.concurrent.is_none() || case.is_concurrent(phase))
    }

    /// Whether everything that it names matches `phase` of `case`, also if that runs alone before or after what runs at the
    /// same time.
    #[must_use]
    pub fn names(&self, case: &Case, phase: Phase) -> bool {
        self.workload.as_ref().map_or(case.concurrent.is_none(), |workload| case.is_of(workload))
            && self.target.as_ref().is_none_or(|target| *target == case.target)
            && self.phase.is_none_or(|wanted| wanted == phase)
            && self.at.iter().all(|setting| case.settings.contains(setting))
    }
}

impl Expectation {
    /// An expectation for one whole target, in every phase.
    #[must_use]
    pub fn new(name: impl Into<String>, amount: Amount) -> Self {
        Self {
            name: name.into(),
            target: None,
            phase: None,
            random: None,
            transfer: None,
            read_percent: None,
            nodes: NodeList::default(),
            amount,
            at_latency: None,
            count: 1.0,
            per: Per::Target,
            ceiling: false,
            source: String::new(),
            reached: String::new(),
            missed: String::new(),
        }
    }

    /// Whether it is for all nodes of a figure, and not for the part that some of them moved.
    #[must_use]
    pub const fn is_of_all_nodes(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Whether everything that it names, except the share of reads, matches `phase` of `case` on `target`, in
    /// `random` or sequential order.
    #[must_use]
    pub fn agrees(&self, target: &str, case: &Case, phase: Phase, random: Option<bool>) -> bool {
        let of_transfers = self.random.is_some() || self.transfer.is_some() || self.read_percent.is_some();
        (phase.is_transfers() || !of_transfers)
            && self.target.as_ref().is_none_or(|wanted| wanted == target)
            && self.phase.is_none_or(|wanted| wanted == phase)
            && self.random.is_none_or(|wanted| Some(wanted) == random)
            && self.transfer.is_none_or(|transfer| Some(transfer) == case.transfer())
    }

    /// Whether the share of reads in `phase` of `case` matches the one that it names, if any.
    #[must_use]
    pub fn is_of_mix(&self, case: &Case, phase: Phase) -> bool {
        let share = match phase {
            Phase::Mixed => case.workload.read_percent,
            Phase::Write | Phase::Fill => 0,
            _ => 100,
        };
        self.read_percent.is_none_or(|wanted| wanted == share)
    }

    /// The limit of all units together, on `nodes` nodes and `devices` devices of the target. For a node-local
    /// target each node has its own, with that many devices.
    #[must_use]
    pub fn in_all(&self, nodes: u32, devices: u32, layer: Layer) -> Amount {
        let targets = if layer == Layer::NodeLocal { f64::from(nodes) } else { 1.0 };
        let times = self.count
            * match self.per {
                Per::Target => targets,
                Per::Node => f64::from(nodes),
                Per::Device => targets * f64::from(devices.max(1)),
            };
        match self.amount {
            Amount::BytesPerSecond(value) => Amount::BytesPerSecond(value * times),
            Amount::OperationsPerSecond(value) => Amount::OperationsPerSecond(value * times),
            latency @ Amount::Latency { .. } => latency,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Amount, Expectation, Layer, Per, Selector};
    use crate::{Bytes, Case, Concurrent, Geometry, Nanos, Phase, Setting, SettingValue, WorkloadSpec};

    #[test]
    fn a_selector_takes_the_points_that_it_names() {
        let geometry = Geometry { transfer: Bytes::kib(4), block: Bytes::kib(4), segments: 1 };
        let workload = WorkloadSpec::new("w", "f", geometry).validate().expect("valid");
        let tasks = |count| Setting { key: "tasks".to_owned(), value: SettingValue::Count(count) };
        let case = Case {
            group: "scale".to_owned(),
            target: "flash".to_owned(),
            settings: vec![tasks(4)],
            ..Case::new("scale:tasks=4", workload, vec![Phase::Read])
        };
        let all = Selector::default();
        assert!(all.takes(&case, Phase::Read));
        let four = Selector { workload: Some("scale".to_owned()), at: vec![tasks(4)], ..all.clone() };
        assert!(four.takes(&case, Phase::Write));
        assert!(!Selector { at: vec![tasks(8)], ..four.clone() }.takes(&case, Phase::Read));
        assert!(!Selector { phase: Some(Phase::Read), ..four }.takes(&case, Phase::Write));
        assert!(!Selector { target: Some("disk".to_owned()), ..all }.takes(&case, Phase::Read));
    }

    #[test]
    fn what_runs_beside_others_is_taken_only_by_name_and_only_its_phase_that_does() {
        let geometry = Geometry { transfer: Bytes::kib(4), block: Bytes::kib(4), segments: 1 };
        let workload = WorkloadSpec::new("w", "f", geometry).validate().expect("valid");
        let phases = vec![Phase::Precreate, Phase::Benchmark, Phase::Cleanup];
        let together = Concurrent { name: "night".to_owned(), alone: "small".to_owned(), start: Nanos(0) };
        let case =
            Case { concurrent: Some(together), ..Case::new("night:small", workload.clone(), phases.clone()) };
        let alone = Case::new("small", workload, phases);
        let all = Selector::default();
        assert!(all.takes(&alone, Phase::Precreate) && !all.takes(&case, Phase::Benchmark));
        for name in ["night", "night:small"] {
            let of = Selector { workload: Some(name.to_owned()), ..all.clone() };
            assert!(of.takes(&case, Phase::Benchmark) && !of.takes(&alone, Phase::Benchmark));
            assert!(!of.takes(&case, Phase::Precreate) && of.names(&case, Phase::Precreate));
        }
    }

    #[test]
    fn a_limit_is_counted_by_nodes_or_devices() {
        let link = |per| Expectation {
            count: 2.0,
            per,
            ceiling: true,
            ..Expectation::new("link", Amount::BytesPerSecond(1.25e9))
        };
        let of = |per, layer| link(per).in_all(4, 12, layer);
        assert_eq!(of(Per::Target, Layer::Shared), Amount::BytesPerSecond(2.5e9));
        assert_eq!(of(Per::Node, Layer::Shared), Amount::BytesPerSecond(10e9));
        assert_eq!(of(Per::Device, Layer::Shared), Amount::BytesPerSecond(30e9));
        assert_eq!(of(Per::Target, Layer::NodeLocal), Amount::BytesPerSecond(10e9));
        assert_eq!(of(Per::Node, Layer::NodeLocal), Amount::BytesPerSecond(10e9));
        assert_eq!(of(Per::Device, Layer::NodeLocal), Amount::BytesPerSecond(120e9));
    }
}
