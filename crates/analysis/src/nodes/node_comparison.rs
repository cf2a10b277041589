//! Compares the nodes of a figure: which are slow, and what the slowest one allows all of them to reach.

use std::collections::{BTreeMap, HashSet};

use plan::Phase;
use record::Warning;

use crate::figures::{
    DeviceMean, Figure, NodeFigure, NodeRate, RateOf, RepetitionFigure, Subject, ends_with_close, named,
};
use crate::gate::{
    Gate, Kind, Of, Stated, Statement,
    table::{
        Column, bandwidth, below, count, detail, flag, list, names, number, rate, share, spread, subject,
        text, word,
    },
};
use crate::statistics::{
    Contrast, DIFFERENCE_LEAST, MAD_FACTOR, ROBUST_Z_MAX, Summary, difference::difference,
};

/// A node with at least this share of the median rate is not slow, however small the scatter of the others is: among
/// nodes that agree to 0.1 %, a node at 99 % would be an outlier.
pub const SLOW_NODE_SHARE: f64 = 0.93;
/// With fewer nodes, the median of the distances depends on one or two of them and is meaningless.
pub const SCORED_NODES_MIN: usize = 4;
/// With fewer than [`SCORED_NODES_MIN`] nodes, a node is slow below this share of the median. With two nodes, whose
/// median is halfway between them, that means less than 60 % of the other.
pub const SLOW_NODE_SHARE_OF_FEW: f64 = 0.75;
/// Lower limit for the unit of a score, as a share of the median, because the unit would be 0 if half of the nodes
/// are equal. As it is not more than (1 − [`SLOW_NODE_SHARE`]) ÷ [`ROBUST_Z_MAX`], it never decides whether a node is
/// slow.
pub const NODE_UNIT_SHARE_MIN: f64 = 0.02;
/// A member that moved less than this share of what the busiest one moved does not take part in the work, such as a
/// system disk next to the data disks.
const MEMBER_SHARE_MIN: f64 = 0.01;

/// The nodes of one figure.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeComparison {
    /// The figure.
    pub figure: usize,
    /// Its target.
    pub target: String,
    /// Its phase.
    pub phase: Phase,
    /// The nodes on which it was measured, in the order of names.
    pub nodes: Vec<NodeStanding>,
    /// Nodes of the study on which it could have been measured but was not; they are gaps in a chart. Empty if each
    /// pass ran on the same nodes, and on as many as the case asks for.
    pub missing: Vec<String>,
    /// Whether all of the nodes worked at the same time in each pass. Otherwise the passes were on different nodes,
    /// such as those of several batch jobs.
    pub together: bool,
    /// Summary, over the nodes, of each node's median of the figure's first rate.
    pub average: Summary,
    /// What the slowest node allows all of them to reach. `None` if a node stood still.
    pub bound: Option<CollectiveBound>,
}

/// A node in comparison with the others.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeStanding {
    /// The name of the node.
    pub node: String,
    /// The number of tasks on it.
    pub tasks: usize,
    /// Its own rate over the counted passes, of the kind that comes first for the figure.
    pub headline: Summary,
    /// What this rate counts.
    pub counts: RateOf,
    /// Its devices, from the kernel's counters.
    pub devices: Vec<(String, DeviceMean)>,
    /// Its rate ÷ the median of all nodes.
    pub share: f64,
    /// Robust z-score of its rate; see [`NodeScore::z`].
    pub z: f64,
    /// Whether it is slow: far below the others, see [`slow_nodes`], with passes that differ from the medians of the
    /// others by the test of differences. `None` if it is far below but the test does not show it, or there are too
    /// few passes.
    pub slow: Option<bool>,
}

/// Why one of several members, far below the others in `passes` passes, is not called slow. `None` if it is, or is not
/// far below.
pub(crate) fn unconfirmed(slow: Option<bool>, passes: usize) -> Option<String> {
    let why = match passes {
        few if few < DIFFERENCE_LEAST => format!("too few passes (n = {few}, {DIFFERENCE_LEAST} are needed)"),
        _ => "within the scatter of its passes".to_owned(),
    };
    slow.is_none().then(|| format!("may be slow: {why}"))
}

impl NodeComparison {
    fn slowest(&self) -> Option<&SlowestMember> {
        Some(&self.bound.as_ref()?.slowest)
    }

    /// The slowest device of the slowest node.
    fn device(&self) -> Option<&(String, DeviceMean)> {
        self.bound.as_ref()?.device.as_ref()
    }
}

impl Statement for NodeComparison {
    const KIND: Kind = Kind::NodeSet;
    const OF: Of = Of::Figure;
    const COUNTS: Option<fn(&Self) -> RateOf> = Some(|one| RateOf::phase(one.phase));
    const CAPTION: &'static str = "Mean and standard deviation (n − 1) of the nodes' medians; what all nodes \
         can reach at the pace of the slowest: their number × its rate; and what they reached together. \
         Slow: far below the median, and the test of differences confirms it";
    const COLUMNS: &'static [Column<Self>] = &[
        subject(count("nodes", "n", "Nodes that it was measured on.", |one| Some(one.nodes.len() as u64))),
        rate("mean_per_second", "mean", "Mean of the nodes.", |one| Some(one.average.mean)),
        rate("deviation_per_second", "±", "Standard deviation (n − 1) over the nodes.", |one| {
            (one.nodes.len() > 1).then_some(one.average.deviation_sample)
        }),
        share("variation", "fluctuation", "Deviation ÷ mean.", |one| {
            (one.nodes.len() > 1).then_some(one.average.variation)
        }),
        names("slow", "slow", "Much slower than the others.", |one| {
            one.nodes.iter().filter(|node| node.slow == Some(true)).map(|node| node.node.clone()).collect()
        }),
        names(
            "may_be_slow",
            "may be slow",
            "Far below the others, which the test does not confirm.",
            |one| one.nodes.iter().filter(|node| node.slow.is_none()).map(|node| node.node.clone()).collect(),
        ),
        subject(names("missing", "not measured on", "Other nodes of the study.", |one| one.missing.clone())),
        word("slowest", "slowest", "The slowest node.", |one| one.slowest().map_or("", |one| &one.name)),
        detail(rate("slowest_per_second", "slowest per second", "Its rate.", |one| {
            Some(one.slowest()?.rate)
        })),
        rate("bound_per_second", "n × slowest", "Nodes × its rate.", |one| Some(one.slowest()?.bound)),
        rate("measured_per_second", "together", "All at the same time.", |one| one.bound.as_ref()?.measured),
        share("share", "of it", "Together ÷ n × the slowest.", |one| one.bound.as_ref()?.share),
        detail(rate("lost_per_second", "lost per second", "n × (median − slowest).", |one| {
            Some(one.bound.as_ref()?.lost)
        })),
        word("device", "its device", "Its slowest device.", |one| one.device().map_or("", |(name, _)| name)),
        bandwidth("device_per_second", "with", "By the kernel's count.", |one| {
            Some(one.device()?.1.moved_per_second())
        }),
    ];
}

impl Statement for NodeStanding {
    const KIND: Kind = Kind::Node;
    const OF: Of = Of::Figure;
    const COUNTS: Option<fn(&Self) -> RateOf> = Some(|one| one.counts);
    const CAPTION: &'static str = "Nodes of figures; z: distance from the median in robust standard deviations; devices by the kernel's count";
    const COLUMNS: &'static [Column<Self>] = &[
        subject(word("node", "node", "Its name.", |one| &one.node)),
        count("tasks", "tasks", "Tasks on it.", |one| Some(one.tasks as u64)),
        spread(rate("rate_per_second", "rate", "Over its own time: median of the passes.", |one| {
            Some(one.headline.median)
        })),
        rate("deviation_per_second", "±", "Standard deviation (n − 1) over the passes.", |one| {
            (one.headline.n > 1).then_some(one.headline.deviation_sample)
        }),
        count("passes", "n", "Passes that count.", |one| Some(one.headline.n as u64)),
        share("share", "of median", "Rate ÷ median of all nodes.", |one| Some(one.share)),
        number("z", "z", "Robust z-score.", |one| Some(one.z)),
        flag("slow", "slow", "Much slower than the others; empty where that cannot be told.", |one| one.slow),
        below(text(
            "unconfirmed",
            "unconfirmed",
            "Why a node that is far below the others is not called slow.",
            |one| unconfirmed(one.slow, one.headline.n).unwrap_or_default(),
        )),
        list("devices", "devices", "Its devices.", |one| {
            one.devices.iter().map(|(name, _)| name.clone()).collect()
        }),
        spread(bandwidth("devices_per_second", "moved", "Bytes that they moved.", |one| {
            one.devices.iter().map(|(_, mean)| mean.moved_per_second()).reduce(|sum, more| sum + more)
        })),
    ];

    fn stands_out(&self) -> bool {
        self.slow != Some(false)
    }
}

/// The limit for work that is divided evenly among all nodes and waits for all of them.
#[derive(Debug, Clone, PartialEq)]
pub struct CollectiveBound {
    /// The slowest node, and n × its rate.
    pub slowest: SlowestMember,
    /// The slowest of its devices that took part, from the kernel's counters of both directions. `None` if no device
    /// was observed.
    pub device: Option<(String, DeviceMean)>,
    /// The rate of all nodes together. `None` if they did not work at the same time.
    pub measured: Option<f64>,
    /// The same rate for each counted pass.
    pub passes: Vec<f64>,
    /// Measured ÷ bound.
    pub share: Option<f64>,
    /// n × the median node − the bound: the loss caused by the slowest node, in the rate of the figure.
    pub lost: f64,
}

/// The slowest of several members, and the bound that it sets.
#[derive(Debug, Clone, PartialEq)]
pub struct SlowestMember {
    /// The number of members.
    pub members: usize,
    /// The name of the slowest one.
    pub name: String,
    /// Its rate.
    pub rate: f64,
    /// Members × its rate: the limit for work that is divided evenly and waits for all members. A measured rate ÷
    /// this is near 1 if the slowest member limits the whole, and higher if it got less of the work than the others.
    pub bound: f64,
    /// Median rate of the members.
    pub typical: f64,
}

/// The slowest of `members` (name, rate). Returns `None` if there are none, or if one stands still.
///
/// Source: study B: a collective transfer over sixteen disks, the slowest of which writes at 350 MB/s, is limited to
/// 5.6 GB/s.
#[must_use]
pub fn slowest_member(members: &[(String, f64)]) -> Option<SlowestMember> {
    let rates: Vec<f64> = members.iter().map(|(_, rate)| *rate).collect();
    let all = Summary::of(&rates).filter(|all| all.min > 0.0)?;
    let (name, rate) = members.iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
    let bound = all.n as f64 * rate;
    Some(SlowestMember { members: all.n, name: name.clone(), rate: *rate, bound, typical: all.median })
}

/// The score of one of several nodes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NodeScore {
    /// Rate ÷ median.
    pub share: f64,
    /// `(rate − median) ÷ (1.4826 × MAD)`, where MAD is the median absolute deviation from the median; the unit is at
    /// least [`NODE_UNIT_SHARE_MIN`] of the median.
    ///
    /// Source: B. Iglewicz and D. Hoaglin, "How to Detect and Handle Outliers", ASQC, 1993.
    pub z: f64,
    /// Whether the node is slow.
    pub slow: bool,
}

/// Determines which nodes are slow from their rates: those with z ≤ −[`ROBUST_Z_MAX`] and less than
/// [`SLOW_NODE_SHARE`] of the median. With fewer than [`SCORED_NODES_MIN`] nodes, those below
/// [`SLOW_NODE_SHARE_OF_FEW`] of the median. No node is slow if there are fewer than two, if the median is 0, or if a
/// rate is NaN.
///
/// ```
/// let slow = analysis::nodes::slow_nodes(&[100.0, 50.0, 100.0, 100.0]);
/// assert_eq!(slow.iter().map(|node| node.slow).collect::<Vec<_>>(), [false, true, false, false]);
/// ```
#[must_use]
pub fn slow_nodes(rates: &[f64]) -> Vec<NodeScore> {
    let middle = |values: &[f64]| Summary::of(values).map_or(0.0, |all| all.median);
    let median = middle(rates);
    let distances: Vec<f64> = rates.iter().map(|rate| (rate - median).abs()).collect();
    let unit = (middle(&distances) * MAD_FACTOR).max(median * NODE_UNIT_SHARE_MIN);
    let score = |rate: &f64| {
        if median <= 0.0 {
            return NodeScore { share: 1.0, z: 0.0, slow: false };
        }
        let (share, z) = (rate / median, (rate - median) / unit);
        let slow = match rates.len() {
            0 | 1 => false,
            few if few < SCORED_NODES_MIN => share < SLOW_NODE_SHARE_OF_FEW,
            _ => z <= -ROBUST_Z_MAX && share < SLOW_NODE_SHARE,
        };
        NodeScore { share, z, slow }
    };
    rates.iter().map(score).collect()
}

/// The scores of nodes given as `(rate, tasks)`. A node with fewer tasks than others is only slow if its rate per
/// task is low as well: if the tasks do not divide evenly over the nodes, some nodes have fewer.
fn scores(nodes: impl Iterator<Item = (f64, usize)>) -> Vec<NodeScore> {
    let (rates, of_task): (Vec<f64>, Vec<f64>) =
        nodes.map(|(rate, tasks)| (rate, rate / tasks.max(1) as f64)).unzip();
    let scores = slow_nodes(&rates).into_iter().zip(slow_nodes(&of_task));
    scores.map(|(node, task)| NodeScore { slow: node.slow && task.slow, ..node }).collect()
}

/// The warnings about slow nodes among the rates of one phase.
#[must_use]
pub fn slow_node_warnings(rates: &[NodeRate], phase: Phase) -> Vec<Warning> {
    let counts = RateOf::phase(phase);
    let nodes = u32::try_from(rates.len()).unwrap_or(u32::MAX);
    let warning = |(rate, score): (&NodeRate, NodeScore)| {
        let (share, z) = (score.share, score.z);
        score.slow.then(|| Warning::SlowNode { node: rate.node.clone(), share, z, nodes })
    };
    let all = rates.iter().map(|node| (counts.of_node(node), node.tasks));
    rates.iter().zip(scores(all)).filter_map(warning).collect()
}

/// The nodes of every figure that was measured on several nodes. `known` are further nodes of the study in addition
/// to those that its figures name.
#[must_use]
pub fn node_comparisons(gate: &Gate<'_>, known: &[String]) -> Vec<NodeComparison> {
    let all_nodes = all_nodes(gate.figures, known);
    gate.subjects.iter().filter_map(|subject| comparison(subject, &all_nodes)).collect()
}

/// The same as [`node_comparisons`], as statements; no node of a disqualified figure is called slow.
pub(crate) fn of_gate(gate: &Gate<'_>, known: &[String]) -> Vec<Stated<NodeComparison>> {
    let stated = |mut one: NodeComparison| {
        for node in one.nodes.iter_mut().filter(|_| !gate.is_usable(one.figure)) {
            node.slow = node.slow.filter(|slow| !slow);
        }
        gate.state(vec![one.figure], one)
    };
    node_comparisons(gate, known).into_iter().map(stated).collect()
}

/// All nodes of a study, in the order of names.
pub(crate) fn all_nodes(figures: &[Figure], known: &[String]) -> Vec<String> {
    let measured = figures.iter().flat_map(|figure| figure.nodes.iter().map(|node| &node.node));
    named(known.iter().chain(measured).map(String::as_str))
}

/// The scores of the nodes of a figure, from rates and tasks, in the figure's order.
fn node_scores(figure: &Figure) -> Vec<NodeScore> {
    scores(figure.nodes.iter().map(|node| (figure.headline_of_node(node).median, node.tasks)))
}

/// The comparison for one figure. Returns `None` if it was measured on one node.
pub(crate) fn comparison(subject: &Subject<'_>, all_nodes: &[String]) -> Option<NodeComparison> {
    let figure = subject.figure;
    if figure.nodes.len() < 2 {
        return None;
    }
    let passes = figure.counted().count();
    let together = figure.nodes.iter().all(|node| node.passes.len() == passes);
    let whole = together && subject.nodes().is_some_and(|nodes| figure.nodes.len() as u64 >= nodes);
    let measured: HashSet<&String> =
        figure.nodes.iter().map(|node| &node.node).chain(&figure.answering).collect();
    let standing = |(node, score): (&NodeFigure, NodeScore)| NodeStanding {
        node: node.node.clone(),
        tasks: node.tasks,
        headline: *figure.headline_of_node(node),
        counts: figure.rate_of(),
        devices: node.devices.clone(),
        share: score.share,
        z: score.z,
        slow: if score.slow { is_below_others(figure, node).then_some(true) } else { Some(false) },
    };
    let nodes: Vec<NodeStanding> = figure.nodes.iter().zip(node_scores(figure)).map(standing).collect();
    Some(NodeComparison {
        figure: subject.index,
        target: figure.target.clone(),
        phase: figure.phase,
        missing: all_nodes.iter().filter(|name| !whole && !measured.contains(name)).cloned().collect(),
        together,
        average: Summary::of(&nodes.iter().map(|node| node.headline.median).collect::<Vec<_>>())?,
        bound: bound(subject, &nodes, together),
        nodes,
    })
}

/// Whether the passes of a node are below the medians of the other nodes in the same passes, by the test of
/// differences among all nodes.
fn is_below_others(figure: &Figure, node: &NodeFigure) -> bool {
    let counts = figure.rate_of();
    let of = |one: &NodeFigure| -> Passes {
        one.passes.iter().map(|pass| (pass.repetition, counts.of_node(&pass.rate))).collect()
    };
    let others = figure.nodes.iter().filter(|one| one.node != node.node).map(of);
    is_below(&of(node), others, figure.nodes.len())
}

/// Pairs of the number of a pass and its rate.
pub(crate) type Passes = Vec<(u32, f64)>;

/// Whether the passes of one of `family` members are below the medians of the others in the same passes, by the test
/// of differences.
pub(crate) fn is_below(own: &Passes, others: impl Iterator<Item = Passes>, family: usize) -> bool {
    let mut of_pass: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for (pass, rate) in others.flatten() {
        of_pass.entry(pass).or_default().push(rate);
    }
    let medians: Vec<f64> = of_pass.values().filter_map(|rates| Some(Summary::of(rates)?.median)).collect();
    let own: Vec<f64> = own.iter().map(|(_, rate)| *rate).collect();
    difference(&medians, &own, family)
        .is_some_and(|found| found.outcome == Contrast::Lower && found.is_repeated())
}

fn bound(subject: &Subject<'_>, nodes: &[NodeStanding], together: bool) -> Option<CollectiveBound> {
    let counts = subject.figure.rate_of();
    let members: Vec<(String, f64)> =
        nodes.iter().map(|node| (node.node.clone(), node.headline.median)).collect();
    let slowest = slowest_member(&members)?;
    let of_slowest = nodes.iter().find(|node| node.node == slowest.name)?;
    // The slowest of the devices that took part.
    let moved = |one: &&(String, DeviceMean)| one.1.moved_per_second();
    let most = of_slowest.devices.iter().map(|one| moved(&one)).fold(0.0, f64::max);
    let part = of_slowest.devices.iter().filter(|one| most > 0.0 && moved(one) >= most * MEMBER_SHARE_MIN);
    let with_close = ends_with_close(&subject.case.workload, subject.figure.phase);
    let rate = |pass: &RepetitionFigure| if with_close { pass.rates.by_wall } else { pass.rates.by_io };
    let passes: Vec<f64> = subject.figure.counted().map(|pass| counts.get(&rate(pass))).collect();
    let measured = Summary::of(&passes).map(|all| all.median).filter(|_| together);
    Some(CollectiveBound {
        device: part.min_by(|a, b| moved(a).total_cmp(&moved(b))).cloned(),
        measured,
        passes,
        share: measured.map(|measured| measured / slowest.bound),
        lost: slowest.members as f64 * slowest.typical - slowest.bound,
        slowest,
    })
}
