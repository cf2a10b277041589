//! The nodes of a figure beside each other: which is slow, and what it lets all of them reach.

use std::collections::{HashMap, HashSet};

use plan::{Phase, Plan};
use record::Warning;

use crate::difference::{Contrast, difference};
use crate::gate::{Gate, Kind, Stated};
use crate::nodes::ends_with_close;
use crate::outlier::MAD_FACTOR;
use crate::slowest::MEMBER_SHARE_MIN;
use crate::subject::{Subject, subjects};
use crate::table::{Column, Of, Quantity, Statement, Value};
use crate::{
    DeviceMean, Figure, NodeFigure, NodeRate, ROBUST_Z_MAX, RateOf, SlowestMember, Summary, by_name,
    slowest_member,
};

/// A node of at least this share of the median rate is not slow, however well the others agree:
/// nodes that agree to 0.1 % would have one at 99 % stand apart.
pub const SLOW_NODE_SHARE: f64 = 0.93;
/// With fewer nodes the median of the distances rests on one or two of them and says nothing.
pub const SCORED_NODES_MIN: usize = 4;
/// Of fewer than [`SCORED_NODES_MIN`] nodes one is slow below this share of the median. Of two, whose
/// median is halfway between them, that is one of less than 60 % of the other.
pub const SLOW_NODE_SHARE_OF_FEW: f64 = 0.75;
/// The unit of a score is at least this share of the median, as it is 0 where half of the nodes are
/// equal. Being no more than (1 − [`SLOW_NODE_SHARE`]) ÷ [`ROBUST_Z_MAX`], it decides of no node whether
/// it is slow.
pub const NODE_UNIT_SHARE_MIN: f64 = 0.02;

/// The nodes of one figure.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeComparison {
    /// The figure.
    pub figure: usize,
    /// Its target.
    pub target: String,
    /// Its phase.
    pub phase: Phase,
    /// The nodes that it was measured on, in the order of names.
    pub nodes: Vec<NodeStanding>,
    /// Nodes of the study that it was not measured on though it could have been: blanks in a chart.
    /// None where each pass was on the same nodes, and on as many as the case asks for.
    pub missing: Vec<String>,
    /// All of the nodes worked at the same time, in each pass. Else the passes were on different
    /// nodes, as those of several batch jobs.
    pub together: bool,
    /// Over the nodes, of the median of each: mean, deviation, n.
    pub bytes_per_second: Summary,
    /// Likewise.
    pub transfers_per_second: Summary,
    /// What the slowest lets all of them reach; none where one stood still.
    pub bound: Option<CollectiveBound>,
}

/// A node among the others.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeStanding {
    /// The node.
    pub node: String,
    /// Tasks on it.
    pub tasks: usize,
    /// Over the passes that count: its own rate.
    pub bytes_per_second: Summary,
    /// Likewise.
    pub transfers_per_second: Summary,
    /// Which of both it is read by.
    pub counts: RateOf,
    /// Its devices by the kernel's count.
    pub devices: Vec<(String, DeviceMean)>,
    /// Its rate ÷ the median of all nodes.
    pub share: f64,
    /// Robust z-score of its rate; see [`NodeScore::z`].
    pub z: f64,
    /// Far below the others, see [`slow_nodes`], and its passes differ from the medians of the others, by the one test of
    /// differences. None where it is far below and the test does not show it, or has too few passes.
    pub slow: Option<bool>,
}

impl NodeStanding {
    /// The rate that it is read by.
    #[must_use]
    pub const fn headline(&self) -> &Summary {
        match self.counts {
            RateOf::Bytes => &self.bytes_per_second,
            RateOf::Operations => &self.transfers_per_second,
        }
    }
}

impl NodeComparison {
    /// Over the nodes, of the rate that the figure is read by.
    #[must_use]
    pub fn average(&self) -> &Summary {
        match self.counts() {
            RateOf::Bytes => &self.bytes_per_second,
            RateOf::Operations => &self.transfers_per_second,
        }
    }

    fn counts(&self) -> RateOf {
        RateOf::phase(self.phase)
    }

    fn rate(&self, rate: Option<f64>) -> Value {
        Value::or_none(rate, |rate| Value::Rate(rate, self.counts()))
    }

    fn of_bound(&self, rate: impl FnOnce(&CollectiveBound) -> Option<f64>) -> Value {
        self.rate(self.bound.as_ref().and_then(rate))
    }

    /// The slowest device of the slowest node.
    fn device(&self) -> Option<&(String, DeviceMean)> {
        self.bound.as_ref()?.device.as_ref()
    }
}

impl Statement for NodeComparison {
    const KIND: Kind = Kind::NodeSet;
    const OF: Of = Of::Figure;
    const CAPTION: &'static str = "Mean and standard deviation (n − 1) over the nodes, of the median of each; what the slowest node lets all of them \
         reach: their number × its rate; and what they reached together. Slow: far below the median, and the test of differences shows it";
    const COLUMNS: &'static [Column<Self>] = &[
        Column::count("nodes", |one: &Self| Some(one.nodes.len() as u64), "Nodes that it was measured on.")
            .headed("n")
            .subject(),
        Column::rate(
            "mean_per_second",
            |one: &Self| one.rate(Some(one.average().mean)),
            "Mean of the nodes.",
        )
        .headed("mean"),
        Column::rate(
            "deviation_per_second",
            |one: &Self| one.rate((one.nodes.len() > 1).then_some(one.average().deviation_sample)),
            "Standard deviation (n − 1) over the nodes.",
        )
        .headed("±"),
        Column::share(
            "variation",
            |one: &Self| (one.nodes.len() > 1).then_some(one.average().variation),
            "Deviation ÷ mean.",
        )
        .headed("fluctuation"),
        Column::new(
            "slow",
            "slow",
            Quantity::List,
            |one: &Self| {
                Value::Names(
                    one.nodes
                        .iter()
                        .filter(|node| node.slow == Some(true))
                        .map(|node| node.node.clone())
                        .collect(),
                )
            },
            "Much slower than the others.",
        ),
        Column::new(
            "missing",
            "not measured on",
            Quantity::List,
            |one: &Self| Value::Names(one.missing.clone()),
            "Nodes of the study without a measurement.",
        )
        .subject(),
        Column::text(
            "slowest",
            |one: &Self| one.bound.as_ref().map_or_else(String::new, |bound| bound.slowest.name.clone()),
            "The slowest node.",
        ),
        Column::rate(
            "slowest_per_second",
            |one: &Self| one.of_bound(|bound| Some(bound.slowest.rate)),
            "Its rate.",
        )
        .detail(),
        Column::rate(
            "bound_per_second",
            |one: &Self| one.of_bound(|bound| Some(bound.slowest.bound)),
            "Nodes × its rate.",
        )
        .headed("n × slowest"),
        Column::rate(
            "measured_per_second",
            |one: &Self| one.of_bound(|bound| bound.measured),
            "All together; nothing where they did not work at the same time.",
        )
        .headed("together"),
        Column::share("share", |one: &Self| one.bound.as_ref()?.share, "Together ÷ n × the slowest.")
            .headed("of it"),
        Column::rate(
            "lost_per_second",
            |one: &Self| one.of_bound(|bound| Some(bound.lost)),
            "n × the median node − n × the slowest.",
        )
        .detail(),
        Column::text(
            "device",
            |one: &Self| one.device().map_or_else(String::new, |(name, _)| name.clone()),
            "The slowest device of the slowest node.",
        )
        .headed("its device"),
        Column::rate(
            "device_per_second",
            |one: &Self| {
                Value::or_none(one.device(), |(_, mean)| Value::Rate(mean.moved_per_second(), RateOf::Bytes))
            },
            "By the kernel's count.",
        )
        .headed("with"),
    ];
}

impl Statement for NodeStanding {
    const KIND: Kind = Kind::Node;
    const OF: Of = Of::Figure;
    const CAPTION: &'static str = "Nodes of figures; z: distance from the median in robust standard deviations; devices by the kernel's count";
    const COLUMNS: &'static [Column<Self>] = &[
        Column::text("node", |one: &Self| one.node.clone(), "Its name.").subject(),
        Column::count("tasks", |one: &Self| Some(one.tasks as u64), "Tasks on it."),
        Column::rate(
            "rate_per_second",
            |one: &Self| Value::Rate(one.headline().median, one.counts),
            "Of its tasks over its own time, median of the passes that count.",
        )
        .headed("rate"),
        Column::rate(
            "deviation_per_second",
            |one: &Self| match one.headline().n {
                0 | 1 => Value::None,
                _ => Value::Rate(one.headline().deviation_sample, one.counts),
            },
            "Standard deviation (n − 1) over the passes.",
        )
        .headed("±"),
        Column::count("passes", |one: &Self| Some(one.headline().n as u64), "Passes that count.").headed("n"),
        Column::share("share", |one: &Self| Some(one.share), "Rate ÷ median of all nodes.")
            .headed("of median"),
        Column::number("z", |one: &Self| Some(one.z), "Robust z-score."),
        Column::flag(
            "slow",
            |one: &Self| one.slow,
            "Whether it is much slower than the others; nothing where that cannot be told.",
        ),
        Column::new(
            "devices",
            "devices",
            Quantity::List,
            |one: &Self| Value::List(one.devices.iter().map(|(name, _)| name.clone()).collect()),
            "Its devices.",
        ),
        Column::rate(
            "devices_per_second",
            |one: &Self| match one.devices.as_slice() {
                [] => Value::None,
                all => Value::Rate(all.iter().map(|(_, mean)| mean.moved_per_second()).sum(), RateOf::Bytes),
            },
            "Bytes that they moved.",
        )
        .headed("moved"),
    ];
}

/// What work that is shared out evenly among all nodes, and waits for all of them, can reach.
#[derive(Debug, Clone, PartialEq)]
pub struct CollectiveBound {
    /// The slowest node and n × its rate.
    pub slowest: SlowestMember,
    /// Of its devices that took part the slowest, by the kernel's count of both directions; none where no
    /// device was observed.
    pub device: Option<(String, DeviceMean)>,
    /// The rate of all nodes together; none where they did not work at the same time.
    pub measured: Option<f64>,
    /// The same of each pass that counts.
    pub passes: Vec<f64>,
    /// Measured ÷ bound: near 1 where the slowest node limits all; above where it got less of the work.
    pub share: Option<f64>,
    /// n × the median node − the bound: what the slowest one costs, in the rate of the figure.
    pub lost: f64,
}

/// The standing of one of several nodes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NodeScore {
    /// Rate ÷ median.
    pub share: f64,
    /// `(rate − median) ÷ (1.4826 × MAD)`, MAD being the median of all distances from the median; the
    /// unit is at least [`NODE_UNIT_SHARE_MIN`] of the median.
    ///
    /// Source: B. Iglewicz and D. Hoaglin, "How to Detect and Handle Outliers", ASQC, 1993.
    pub z: f64,
    /// Whether it is slow.
    pub slow: bool,
}

/// Which of several rates of nodes are slow: z ≤ −[`ROBUST_Z_MAX`] and less than [`SLOW_NODE_SHARE`]
/// of the median. Of fewer than [`SCORED_NODES_MIN`] nodes those below [`SLOW_NODE_SHARE_OF_FEW`] of
/// the median. None of fewer than two, and none where the median is 0 or a rate is no number.
///
/// ```
/// let slow = analysis::slow_nodes(&[100.0, 50.0, 100.0, 100.0]);
/// assert_eq!(slow.iter().map(|node| node.slow).collect::<Vec<_>>(), [false, true, false, false]);
/// ```
#[must_use]
pub fn slow_nodes(rates: &[f64]) -> Vec<NodeScore> {
    let even = || vec![NodeScore { share: 1.0, z: 0.0, slow: false }; rates.len()];
    let Some(median) = Summary::of(rates).map(|all| all.median).filter(|&median| median > 0.0) else {
        return even();
    };
    let distances: Vec<f64> = rates.iter().map(|rate| (rate - median).abs()).collect();
    let Some(distance) = Summary::of(&distances).map(|all| all.median) else { return even() };
    let unit = (distance * MAD_FACTOR).max(median * NODE_UNIT_SHARE_MIN);
    let score = |rate: &f64| {
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

/// The scores of nodes of `(rate, tasks)`. One with fewer tasks than others is slow only if each of its
/// tasks is, too: where tasks do not divide over the nodes, some have less to do it with.
fn scores(nodes: &[(f64, usize)]) -> Vec<NodeScore> {
    let rates: Vec<f64> = nodes.iter().map(|(rate, _)| *rate).collect();
    let of_task: Vec<f64> = nodes.iter().map(|(rate, tasks)| rate / (*tasks).max(1) as f64).collect();
    let scores = slow_nodes(&rates).into_iter().zip(slow_nodes(&of_task));
    scores.map(|(node, task)| NodeScore { slow: node.slow && task.slow, ..node }).collect()
}

/// The warnings of slow nodes among the rates of one phase.
#[must_use]
pub fn slow_node_warnings(rates: &[NodeRate], phase: Phase) -> Vec<Warning> {
    let counts = RateOf::phase(phase);
    let all: Vec<(f64, usize)> = rates.iter().map(|node| (counts.of_node(node), node.tasks)).collect();
    let nodes = u32::try_from(rates.len()).unwrap_or(u32::MAX);
    let warning = |(rate, score): (&NodeRate, NodeScore)| {
        let (share, z) = (score.share, score.z);
        score.slow.then(|| Warning::SlowNode { node: rate.node.clone(), share, z, nodes })
    };
    rates.iter().zip(scores(&all)).filter_map(warning).collect()
}

/// The nodes of every figure that was measured on several. `known` are nodes of the study beside those
/// that its figures name.
#[must_use]
pub fn node_comparisons(plan: &Plan, figures: &[Figure], known: &[String]) -> Vec<NodeComparison> {
    of_subjects(&subjects(plan, figures), &all_nodes(figures, known))
}

fn of_subjects(subjects: &[Subject<'_>], all_nodes: &[String]) -> Vec<NodeComparison> {
    subjects.iter().filter_map(|subject| comparison(subject, all_nodes)).collect()
}

/// As [`node_comparisons`], as statements.
pub(crate) fn of_gate(gate: &Gate<'_>, all_nodes: &[String]) -> Vec<Stated<NodeComparison>> {
    let all = of_subjects(&gate.subjects, all_nodes).into_iter();
    all.map(|mut one| {
        // Of a figure that counts for nothing, no node is called slow.
        for node in one.nodes.iter_mut().filter(|_| !gate.is_usable(one.figure)) {
            node.slow = node.slow.filter(|slow| !slow);
        }
        gate.state(Kind::NodeSet, vec![one.figure], one)
    })
    .collect()
}

/// All nodes of a study, in the order of names.
pub(crate) fn all_nodes(figures: &[Figure], known: &[String]) -> Vec<String> {
    let measured = figures.iter().flat_map(|figure| figure.nodes.iter().map(|node| &node.node));
    let mut nodes: Vec<String> = known.iter().chain(measured).cloned().collect();
    nodes.sort_by(|a, b| by_name(a, b));
    nodes.dedup();
    nodes
}

/// Rates of the nodes of a figure with their tasks, in its order.
pub(crate) fn node_scores(figure: &Figure) -> Vec<NodeScore> {
    let rates = figure.nodes.iter().map(|node| (figure.headline_of_node(node).median, node.tasks));
    scores(&rates.collect::<Vec<_>>())
}

/// The nodes of one figure; none where it was measured on one.
pub(crate) fn comparison(subject: &Subject<'_>, all_nodes: &[String]) -> Option<NodeComparison> {
    let figure = subject.figure;
    if figure.nodes.len() < 2 {
        return None;
    }
    let passes = figure.counted().count();
    let together = figure.nodes.iter().all(|node| node.bytes_per_second.n == passes);
    let asked = usize::try_from(subject.nodes()).unwrap_or(usize::MAX);
    let whole = together && figure.nodes.len() >= asked;
    let asked_for = figure.nodes.iter().map(|node| node.node.as_str());
    let measured: HashSet<&str> = asked_for.chain(figure.answering.iter().map(String::as_str)).collect();
    let nodes: Vec<NodeStanding> = figure
        .nodes
        .iter()
        .zip(node_scores(figure))
        .map(|(node, score)| standing(figure, node, score))
        .collect();
    let over_nodes = |rate: fn(&NodeStanding) -> &Summary| {
        Summary::of(&nodes.iter().map(|node| rate(node).median).collect::<Vec<_>>())
    };
    Some(NodeComparison {
        figure: subject.index,
        target: figure.target.clone(),
        phase: figure.phase,
        missing: if whole {
            Vec::new()
        } else {
            all_nodes.iter().filter(|name| !measured.contains(name.as_str())).cloned().collect()
        },
        together,
        bytes_per_second: over_nodes(|node| &node.bytes_per_second)?,
        transfers_per_second: over_nodes(|node| &node.transfers_per_second)?,
        bound: bound(subject, &nodes, together),
        nodes,
    })
}

fn standing(figure: &Figure, node: &NodeFigure, score: NodeScore) -> NodeStanding {
    NodeStanding {
        node: node.node.clone(),
        tasks: node.tasks,
        bytes_per_second: node.bytes_per_second,
        transfers_per_second: node.transfers_per_second,
        counts: figure.rate_of(),
        devices: node.devices.clone(),
        share: score.share,
        z: score.z,
        slow: match score.slow {
            false => Some(false),
            true => is_below_others(figure, node).then_some(true),
        },
    }
}

/// Whether the passes of a node are below the medians of the other nodes in the same passes, by the test of differences
/// among all nodes.
fn is_below_others(figure: &Figure, node: &NodeFigure) -> bool {
    let passes = |one: &NodeFigure| match figure.rate_of() {
        RateOf::Bytes => one.bytes_of_passes.clone(),
        RateOf::Operations => one.transfers_of_passes.clone(),
    };
    let others = figure.nodes.iter().filter(|one| one.node != node.node);
    let mut of_pass: HashMap<u32, Vec<f64>> = HashMap::new();
    for other in others {
        for (pass, rate) in other.repetitions.iter().zip(passes(other)) {
            of_pass.entry(*pass).or_default().push(rate);
        }
    }
    let medians: Vec<f64> =
        of_pass.values().filter_map(|rates| Summary::of(rates)).map(|all| all.median).collect();
    let found = difference(&medians, &passes(node), figure.nodes.len());
    found.is_some_and(|found| found.outcome == Contrast::Lower)
}

fn bound(subject: &Subject<'_>, nodes: &[NodeStanding], together: bool) -> Option<CollectiveBound> {
    let counts = subject.figure.rate_of();
    let members: Vec<(String, f64)> =
        nodes.iter().map(|node| (node.node.clone(), node.headline().median)).collect();
    let slowest = slowest_member(&members)?;
    let of_slowest = nodes.iter().find(|node| node.node == slowest.name)?;
    let with_close = ends_with_close(&subject.case.workload, subject.figure.phase);
    let rates = subject.figure.counted().map(|pass| match with_close {
        true => counts.get(&pass.rates.by_wall),
        false => counts.get(&pass.rates.by_io),
    });
    let passes: Vec<f64> = rates.collect();
    let measured = Summary::of(&passes).map(|all| all.median).filter(|_| together);
    Some(CollectiveBound {
        device: slowest_of(&of_slowest.devices),
        measured,
        passes,
        share: measured.map(|measured| slowest.share(measured)),
        lost: slowest.members as f64 * slowest.typical - slowest.bound,
        slowest,
    })
}

/// The slowest of the devices that took part.
fn slowest_of(devices: &[(String, DeviceMean)]) -> Option<(String, DeviceMean)> {
    let rate = |one: &(String, DeviceMean)| one.1.moved_per_second();
    let most = devices.iter().map(rate).fold(0.0, f64::max);
    let part = devices.iter().filter(|one| most > 0.0 && rate(one) >= most * MEMBER_SHARE_MIN);
    part.min_by(|a, b| rate(a).total_cmp(&rate(b))).cloned()
}
