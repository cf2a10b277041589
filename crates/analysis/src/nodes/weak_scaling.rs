//! Weak scaling: rates over the number of nodes, each of which has the same work.

use plan::{Client, Layer, Phase, Setting};

use crate::audit::Use;
use crate::figures::{
    NODES, RateOf, Subject, TARGET, TASKS, TASKS_PER_NODE, bytes_of_one, grouped, in_unit_of, texts,
};
use crate::gate::{
    Gate, Kind, Of, Stated, Statement,
    table::{Column, below, count, detail, list, number, rate, share, subject, text, word},
};
use crate::statistics::{
    Model, Regression, Sample, Summary, crossover, lack_of_fit::lack_of_fit, rises_straight, whole,
};
use crate::sweeps::{PLATEAU_SHARE, plateau, reaches, spread_beyond};
use crate::targets::{WeakestLink, weakest_links};

/// A plateau only counts as a saturation if its span is at least this wide compared with its height: the last few of
/// many nodes are within [`PLATEAU_SHARE`] of the peak even if the rate still grows with the nodes.
pub const SATURATION_SPAN_MIN: f64 = 1.0 + 2.0 * PLATEAU_SHARE;
/// The shares of the peak for which the smallest sufficient number of nodes is determined; study D uses 90 % and 95
/// %.
pub const PEAK_SHARES: [f64; 2] = [0.90, 0.95];

/// A target's rates over the number of nodes, with the same number of tasks on each.
#[derive(Debug, Clone, PartialEq)]
pub struct WeakScaling {
    /// The workload.
    pub group: String,
    /// The target.
    pub target: String,
    /// Which nodes can reach it.
    pub layer: Layer,
    /// Where the measuring program ran.
    pub client: Client,
    /// The phase.
    pub phase: Phase,
    /// Tasks on each node.
    pub tasks_per_node: u64,
    /// The other swept keys and their values.
    pub fixed: Vec<Setting>,
    /// The points, by ascending number of nodes.
    pub points: Vec<ScalingPoint>,
    /// The least-squares line through the points. `None` if they are flat, if the repetitions show that they do not
    /// lie on a straight line, or if there are too few to tell.
    pub line: Option<Regression>,
    /// Where more nodes give no further gain. `None` if the rate still grows at the last point, or if the repetitions
    /// do not distinguish the points from a rising line.
    pub saturation: Option<Saturation>,
    /// The number of nodes with the highest rate.
    pub peak_nodes: u64,
    /// The number of nodes that reaches each share of the peak, by [`PEAK_SHARES`]; empty for a flat series.
    pub reaches: Vec<Reach>,
}

/// The rate for one number of nodes.
#[derive(Debug, Clone, PartialEq)]
pub struct ScalingPoint {
    /// The figure.
    pub figure: usize,
    /// The number of nodes.
    pub nodes: u64,
    /// The rate used for the line, [`Figure::headline`](crate::figures::Figure::headline): the median over the
    /// counted repetitions.
    pub rate: f64,
    /// Standard deviation (n − 1) of the repetitions; 0 for a single one.
    pub deviation: f64,
    /// Parallel efficiency: rate ÷ (nodes × rate on one node). `None` if one node was not measured.
    pub efficiency: Option<f64>,
}

/// The line's rate for a number of nodes that was not measured. It is a statement of its own, since more doubts
/// withhold it than withhold the series.
#[derive(Debug, Clone, PartialEq)]
pub struct Extrapolation {
    /// The series, as an index into [`crate::findings::Findings::weak_scaling`].
    pub series: usize,
    /// Tasks on each node.
    pub tasks_per_node: u64,
    /// The number of nodes.
    pub nodes: u64,
    /// What the rate counts.
    pub counts: RateOf,
    /// The rate: that of the line, or what the study says can be reached, whichever is lower.
    pub rate: f64,
    /// Half width of the interval for one more measurement, if the line continues. `None` if it does not.
    pub half_width: Option<f64>,
    /// The other swept keys and their values.
    pub fixed: Vec<Setting>,
}

/// The range of node counts over which the rate no longer grows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Saturation {
    /// The first number of nodes.
    pub from_nodes: u64,
    /// The last number of nodes.
    pub to_nodes: u64,
    /// Median of the points in this range.
    pub rate: f64,
    /// The lowest and the highest rate of these points.
    pub range: (f64, f64),
}

/// The smallest number of nodes that reaches a share of the peak.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reach {
    /// The share.
    pub share: f64,
    /// The number of nodes.
    pub nodes: u64,
    /// Largest distance from the peak at more nodes, as a share of the peak. `None` if no more nodes were measured.
    pub spread_beyond: Option<f64>,
    /// Coefficient of variation from this number of nodes on. `None` for a single point.
    pub variation: Option<f64>,
}

/// The number of nodes from which node-local targets are faster than a saturated shared one.
#[derive(Debug, Clone, PartialEq)]
pub struct LayerCrossover {
    /// The series of the node-local target, as an index into [`crate::findings::Findings::weak_scaling`].
    pub local: usize,
    /// The series of the shared target, as an index.
    pub shared: usize,
    /// The names of both targets.
    pub targets: [String; 2],
    /// The phase.
    pub phase: Phase,
    /// Tasks on each node.
    pub tasks_per_node: u64,
    /// The plateau rate of the shared target.
    pub plateau: f64,
    /// The smallest number of nodes at which the line of the local target reaches the plateau. `None` if that cannot
    /// be determined: there is no line, or the interval around it does not cross the plateau within the measured
    /// numbers of nodes.
    pub nodes: Option<u64>,
    /// The other swept keys of the local series, and their values.
    pub fixed: Vec<Setting>,
}

impl Statement for WeakScaling {
    const KIND: Kind = Kind::WeakScaling;
    const OF: Of = Of::Sweep;
    const COUNTS: Option<fn(&Self) -> RateOf> = Some(|one| RateOf::phase(one.phase));
    const CAPTION: &'static str = "The same number of tasks on each node. Slope: what one more node adds, ± \
         half of its 95 % interval. Efficiency: rate ÷ (nodes × the rate of one node), at the largest number \
         of nodes. Full: more nodes add nothing. 95 %: of the highest rate";
    const COLUMNS: &'static [Column<Self>] = &[
        subject(count("tasks_per_node", "tasks/node", "Tasks on each node.", |one| Some(one.tasks_per_node))),
        subject(text("nodes", "nodes", "The fewest and the most nodes.", Self::span)),
        rate("slope_per_second", "per node", "What one more node adds.", |one| {
            one.of_line(|line| Some(line.slope))
        }),
        rate("slope_half_width_per_second", "±", "Half of its 95 % interval.", |one| {
            one.of_line(|line| Some(line.uncertainty?.slope_half_width))
        }),
        number("r_squared", "R²", "Variance that the line explains.", |one| {
            Some(one.line.as_ref()?.r_squared)
        }),
        share("efficiency", "efficiency", "At the largest node count.", |one| one.points.last()?.efficiency),
        rate("full_at_per_second", "full at", "The plateau.", |one| one.saturation.map(|full| full.rate)),
        count("full_from", "from", "Nodes from which on it is full.", |one| Some(one.saturation?.from_nodes)),
        count("reaches_90", "90 % at", "Nodes that reach 90 % of the peak.", |one| {
            Some(one.reaches.first()?.nodes)
        }),
        count("reaches_95", "95 % at", "Nodes that reach 95 % of the peak.", |one| {
            Some(one.reaches.last()?.nodes)
        }),
        share(
            "spread_beyond",
            "then lower by up to",
            "From 95 % on, the largest distance from the peak.",
            |one| one.reaches.last()?.spread_beyond,
        ),
        share("variation_beyond", "then varies by", "From 95 % on, the coefficient of variation.", |one| {
            one.reaches.last()?.variation
        }),
        detail(count("peak_nodes", "peak nodes", "Nodes with the highest rate.", |one| Some(one.peak_nodes))),
        below(list("at", "at", "The other swept keys.", |one| texts(&one.fixed))),
    ];
}

impl WeakScaling {
    fn of_line(&self, value: impl FnOnce(&Regression) -> Option<f64>) -> Option<f64> {
        self.line.as_ref().and_then(value)
    }

    /// The range as text, as in `1–16`.
    fn span(&self) -> String {
        let ends = self.points.first().zip(self.points.last());
        ends.map(|(first, last)| format!("{}–{}", first.nodes, last.nodes)).unwrap_or_default()
    }

    fn inputs(&self) -> Vec<usize> {
        self.points.iter().map(|point| point.figure).collect()
    }
}

impl Statement for Extrapolation {
    const KIND: Kind = Kind::Extrapolation;
    const OF: Of = Of::Sweep;
    const COUNTS: Option<fn(&Self) -> RateOf> = Some(|one| one.counts);
    const CAPTION: &'static str = "What the lines predict for numbers of nodes that were not measured, \
         limited to what the study says can be reached there. ±: the interval of one more value, if the line \
         continues";
    const COLUMNS: &'static [Column<Self>] = &[
        subject(count("tasks_per_node", "tasks/node", "Tasks on each node.", |one| Some(one.tasks_per_node))),
        subject(count("nodes", "nodes", "Nodes.", |one| Some(one.nodes))),
        rate("rate_per_second", "rate", "The rate there.", |one| Some(one.rate)),
        rate("half_width_per_second", "±", "Half of the 95 % interval of one more value.", |one| {
            one.half_width
        }),
        below(list("at", "at", "The other swept keys.", |one| texts(&one.fixed))),
    ];
}

impl Statement for LayerCrossover {
    const KIND: Kind = Kind::Crossover;
    const OF: Of = Of::Nothing;
    const COUNTS: Option<fn(&Self) -> RateOf> = Some(|one| RateOf::phase(one.phase));
    const CAPTION: &'static str = "The number of nodes from which node-local targets are faster than a \
         shared one that is full; without a number it cannot be told";
    const COLUMNS: &'static [Column<Self>] = &[
        subject(word("phase", "phase", "The phase.", |one| one.phase.name())),
        subject(count("tasks_per_node", "tasks/node", "Tasks on each node.", |one| Some(one.tasks_per_node))),
        subject(word("target", "target", "The node-local target.", |one| &one.targets[0])),
        subject(word("shared", "faster than", "The shared one.", |one| &one.targets[1])),
        rate("plateau_per_second", "full at", "Where the shared one is full.", |one| Some(one.plateau)),
        count("nodes", "from nodes", "The fewest nodes.", |one| one.nodes),
        below(list("at", "at", "The other swept keys of the node-local series.", |one| texts(&one.fixed))),
    ];
}

type Scaled = (Vec<Stated<WeakScaling>>, Vec<Stated<Extrapolation>>, Vec<Stated<LayerCrossover>>);

/// The series, their extrapolations, and the crossovers of layers, as statements. Nothing is stated about a series
/// with a disqualified figure.
pub(crate) fn of_gate(gate: &Gate<'_>) -> Scaled {
    let series = weak_scaling(gate);
    let crossovers = layer_crossovers(gate, &series).into_iter().map(|one| {
        let inputs = [one.local, one.shared].into_iter().flat_map(|place| series[place].inputs());
        gate.state_as(Use::Compared, inputs.collect(), one)
    });
    let crossovers = crossovers.collect();
    let beyond = extrapolations(gate, &series).into_iter().map(|more| {
        let inputs = series[more.series].inputs();
        gate.state_as(Use::Compared, inputs, more)
    });
    let beyond = beyond.collect();
    let state = |one: WeakScaling| gate.state(one.inputs(), one);
    (series.into_iter().map(state).collect(), beyond, crossovers)
}

/// The settings in which the points of one series may differ.
const APART: [&str; 4] = [NODES, TASKS, TASKS_PER_NODE, TARGET];

/// The weak scaling of every workload that was measured on several numbers of nodes with the same number of tasks on
/// each, for each target, client, phase and combination of other swept keys. A number of nodes that was measured
/// twice gives two points.
#[must_use]
pub fn weak_scaling(gate: &Gate<'_>) -> Vec<WeakScaling> {
    let all = gate.subjects.iter().filter_map(OnNodes::of);
    let series = grouped(all, |one| {
        let subject = one.subject;
        (subject.case.target.as_str(), subject.client(), one.tasks_per_node, subject.place(&APART))
    });
    series.into_iter().filter_map(scaled).collect()
}

/// A figure whose numbers of tasks and nodes are known.
#[derive(Clone, Copy)]
struct OnNodes<'b, 'a> {
    subject: &'b Subject<'a>,
    nodes: u64,
    tasks_per_node: u64,
}

impl<'b, 'a> OnNodes<'b, 'a> {
    /// Returns `None` if a number is not known, or if the tasks do not divide evenly over the nodes.
    fn of(subject: &'b Subject<'a>) -> Option<Self> {
        let (tasks, nodes) = (u64::from(subject.case.tasks()?), subject.nodes()?);
        // Before workloads contained the number of nodes, the tasks were those of one node.
        let are_of_all = subject.case.nodes().is_none_or(|nodes| nodes > 1);
        let tasks_per_node = if are_of_all { tasks / nodes } else { tasks };
        (!are_of_all || tasks.is_multiple_of(nodes)).then_some(Self { subject, nodes, tasks_per_node })
    }
}

fn scaled(mut members: Vec<OnNodes<'_, '_>>) -> Option<WeakScaling> {
    members.sort_by_key(|one| one.nodes);
    let OnNodes { subject: first, nodes: fewest, tasks_per_node } = *members.first()?;
    let one = Some(first.rate()).filter(|&rate| fewest == 1 && rate > 0.0);
    let point = |&OnNodes { subject, nodes, .. }: &OnNodes<'_, '_>| ScalingPoint {
        figure: subject.index,
        nodes,
        rate: subject.rate(),
        deviation: subject.figure.headline().deviation_sample,
        efficiency: one.map(|one| subject.rate() / (nodes as f64 * one)),
    };
    let points: Vec<ScalingPoint> = members.iter().map(point).collect();
    let several = points.last()?.nodes > fewest;
    let peak = points.iter().max_by(|a, b| a.rate.total_cmp(&b.rate)).filter(|_| several)?;
    let sample = |one: &OnNodes<'_, '_>| Sample::of(one.nodes as f64, one.subject.figure.headline());
    let samples: Vec<Sample> = members.iter().map(sample).collect();
    let (x, y): (Vec<f64>, Vec<f64>) = samples.iter().map(|one| (one.x, one.y)).unzip();
    let plateau = saturation(&samples);
    // What changes by less than a tenth over all of them does not grow, however certain the change is.
    let is_level =
        plateau.is_some_and(|all| (all.from_nodes, all.to_nodes) == (fewest, points[points.len() - 1].nodes));
    let line = Regression::of(&x, &y).filter(|_| !is_level && rises_straight(&samples));
    let flat = lack_of_fit(&samples, Model::Flat);
    let full = match flat {
        Some(true) => is_level || lack_of_fit(&samples, Model::Straight) == Some(true),
        Some(false) => true,
        None => false,
    };
    let shares = if flat == Some(true) { &PEAK_SHARES[..] } else { &[] };
    Some(WeakScaling {
        group: first.case.group.clone(),
        target: first.case.target.clone(),
        layer: first.layer(),
        client: first.client(),
        phase: first.figure.phase,
        tasks_per_node,
        fixed: first.settings(&APART),
        saturation: plateau.filter(|_| full),
        peak_nodes: peak.nodes,
        reaches: shares.iter().filter_map(|&share| reach(&samples, share)).collect(),
        line,
        points,
    })
}

/// The rates of the lines of `series` for the node counts that the study lists but that were not measured, as far as
/// the study says what can be reached there. A falling line has no rate for enough nodes.
#[must_use]
pub fn extrapolations(gate: &Gate<'_>, series: &[WeakScaling]) -> Vec<Extrapolation> {
    let mut listed: Vec<u64> = gate.plan.criteria.nodes.iter().map(|&nodes| u64::from(nodes)).collect();
    listed.dedup();
    let has_line = series.iter().any(|one| one.line.is_some());
    let links =
        if listed.is_empty() || !has_line { Vec::new() } else { weakest_links(gate.plan, gate.figures) };
    let of_series = |(place, one): (usize, &WeakScaling)| {
        let measured = |nodes: &u64| one.points.iter().any(|point| point.nodes == *nodes);
        let wanted: Vec<u64> = listed.iter().copied().filter(|nodes| !measured(nodes)).collect();
        let first = one.points.first().and_then(|point| gate.subject(point.figure));
        let found = first.zip(one.line.as_ref()).map(|(first, line)| beyond(first, line, &links, &wanted));
        let found = found.unwrap_or_default().into_iter().filter(|(_, rate, _)| *rate > 0.0);
        let counts = first.map_or_else(|| RateOf::phase(one.phase), |first| first.figure.rate_of());
        let more = |(nodes, rate, half_width)| Extrapolation {
            series: place,
            tasks_per_node: one.tasks_per_node,
            nodes,
            counts,
            rate,
            half_width,
            fixed: one.fixed.clone(),
        };
        found.map(more).collect::<Vec<_>>()
    };
    series.iter().enumerate().flat_map(of_series).collect()
}

/// For each of the `wanted` numbers of nodes whose limits are known: the rate of `line`, or the limit if that is lower,
/// and the half width of the interval of the line.
fn beyond(
    first: &Subject<'_>,
    line: &Regression,
    links: &[WeakestLink],
    wanted: &[u64],
) -> Vec<(u64, f64, Option<f64>)> {
    let (figure, bytes) = (first.figure, bytes_of_one(first.case, first.figure.phase));
    let at = |&nodes: &u64| {
        let of_series = links.iter().filter(|link| {
            link.target == first.case.target
                && u64::from(link.nodes) == nodes
                && link.scope.phase.is_none_or(|phase| phase == figure.phase)
                && link.scope.random.is_none_or(|random| Some(random) == first.order_is_random())
                && link.scope.transfer.is_none_or(|transfer| Some(transfer) == bytes)
        });
        let limits =
            of_series.filter_map(|link| in_unit_of(link.amount, figure.rate_of().amount(0.0), bytes));
        let (ceiling, predicted) = (limits.reduce(f64::min)?, line.predict(nodes as f64));
        let half_width = predicted.half_width.filter(|_| predicted.value <= ceiling);
        Some((nodes, predicted.value.min(ceiling), half_width))
    };
    wanted.iter().filter_map(at).collect()
}

/// The range in which the rate stays within [`PLATEAU_SHARE`] of its peak while the number of nodes grows at least
/// [`SATURATION_SPAN_MIN`]-fold. Points are in ascending order of x.
#[must_use]
pub fn saturation(samples: &[Sample]) -> Option<Saturation> {
    let (from, to) =
        plateau(samples, PLATEAU_SHARE).filter(|(from, to)| *to >= from * SATURATION_SPAN_MIN)?;
    let inside = samples.iter().filter(|sample| sample.x >= from && sample.x <= to);
    let all = Summary::of(&inside.map(|sample| sample.y).collect::<Vec<_>>())?;
    let (from_nodes, to_nodes) = (whole(from), whole(to));
    Some(Saturation { from_nodes, to_nodes, rate: all.median, range: (all.min, all.max) })
}

fn reach(samples: &[Sample], share: f64) -> Option<Reach> {
    let from = reaches(samples, share)?;
    let beyond = samples.iter().filter(|sample| sample.x >= from).map(|sample| sample.y);
    let all = Summary::of(&beyond.collect::<Vec<_>>())?;
    Some(Reach {
        share,
        nodes: whole(from),
        spread_beyond: spread_beyond(samples, from),
        variation: (all.n > 1).then_some(all.variation),
    })
}

/// Every node-local target compared with every saturated shared target, for workloads with the same phase, transfer
/// size, order and tasks per node.
#[must_use]
pub fn layer_crossovers(gate: &Gate<'_>, scaling: &[WeakScaling]) -> Vec<LayerCrossover> {
    let kind = |one: &WeakScaling| {
        let first = gate.subject(one.points.first()?.figure)?;
        Some((one.phase, one.tasks_per_node, bytes_of_one(first.case, one.phase)?, first.order_is_random()?))
    };
    let of_layer = |layer| scaling.iter().enumerate().filter(move |(_, one)| one.layer == layer);
    let full =
        of_layer(Layer::Shared).filter_map(|(place, one)| Some((place, one.saturation?.rate, kind(one)?)));
    let full: Vec<_> = full.collect();
    let mut found = Vec::new();
    for (local, one) in of_layer(Layer::NodeLocal).filter(|_| !full.is_empty()) {
        let of_local = kind(one);
        for &(shared, plateau, _) in full.iter().filter(|(.., of_shared)| Some(*of_shared) == of_local) {
            let (phase, tasks_per_node) = (one.phase, one.tasks_per_node);
            let nodes = one.line.as_ref().and_then(|line| crossing(line, &one.points, plateau));
            let targets = [one, &scaling[shared]].map(|one| one.target.clone());
            let fixed = one.fixed.clone();
            found.push(LayerCrossover {
                local,
                shared,
                targets,
                phase,
                tasks_per_node,
                plateau,
                nodes,
                fixed,
            });
        }
    }
    found
}

/// Where the line reaches `plateau`, provided that the lower end of the interval around it does so at the largest
/// measured number of nodes.
fn crossing(line: &Regression, points: &[ScalingPoint], plateau: f64) -> Option<u64> {
    let nodes = crossover(line.slope, line.intercept, plateau)?;
    let last = line.predict(points.last()?.nodes as f64);
    (last.value - last.line_half_width? >= plateau).then_some(nodes)
}
