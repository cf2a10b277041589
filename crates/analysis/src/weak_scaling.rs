//! Weak scaling: rates against the number of nodes, each of which has the same work.

use std::collections::HashMap;

use plan::{Amount, Bytes, Client, Layer, Order, Phase, Plan, Setting};

use crate::amount::{bytes_of_one, in_unit_of};
use crate::curve::Sample;
use crate::gate::{self, Gate, Stated};
use crate::lack_of_fit::{Model, ModelTest, lack_of_fit, rises_straight};
use crate::regression::Regression;
use crate::shape::{PLATEAU_SHARE, plateau, reaches};
use crate::subject::{NODES, Subject, TARGET, TASKS, TASKS_PER_NODE, ValueKey};
use crate::table::{Column, Of, Quantity, Statement, Value};
use crate::{Figure, RateOf, Summary, crossover, weakest_links};

/// A plateau is a saturation only if it is so much wider than it is high: a rate that grows with the
/// nodes is within [`PLATEAU_SHARE`] of its peak at the last few of many nodes, too.
pub const SATURATION_SPAN_MIN: f64 = 1.0 + 2.0 * PLATEAU_SHARE;
/// The shares of the peak that a small number of nodes may reach; study D asks for 90 % and 95 %.
pub const PEAK_SHARES: [f64; 2] = [0.90, 0.95];

/// A target's rates over numbers of nodes with as many tasks on each.
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
    /// In rising order of nodes.
    pub points: Vec<ScalingPoint>,
    /// The line of least squares through them; none where they are flat, where repetitions show that they are on no
    /// straight line, or where there are too few to tell.
    pub line: Option<Regression>,
    /// What the line says of the nodes that the study lists, and of which none was measured, where the study says what
    /// the target can reach there, up to that.
    pub extrapolated: Vec<Extrapolation>,
    /// Where more nodes bring no more; none where the rate still grows at the last point, or repetitions do not tell
    /// the points from a line that does.
    pub saturation: Option<Saturation>,
    /// The number of nodes with the highest rate.
    pub peak_nodes: u64,
    /// How many nodes reach a share of the peak, by [`PEAK_SHARES`]; none of a flat series.
    pub reaches: Vec<Reach>,
}

/// A rate on a number of nodes.
#[derive(Debug, Clone, PartialEq)]
pub struct ScalingPoint {
    /// The figure.
    pub figure: usize,
    /// Nodes.
    pub nodes: u64,
    /// The rate that the line is of, [`Figure::headline`]: the median over the repetitions that count.
    pub rate: f64,
    /// Repetitions that count.
    pub repetitions: usize,
    /// Mean of them, of [`ScalingPoint::rate`].
    pub mean: f64,
    /// Standard deviation (n − 1) of them, of [`ScalingPoint::rate`]; 0 for one.
    pub deviation: f64,
    /// Parallel efficiency: rate ÷ (nodes × rate on one node); none where one node was not measured.
    pub efficiency: Option<f64>,
}

/// What a line says of a number of nodes that was not measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Extrapolation {
    /// Tasks on each node.
    pub tasks_per_node: u64,
    /// Nodes.
    pub nodes: u64,
    /// What the rate counts.
    pub counts: RateOf,
    /// The rate: of the line, or what the study says can be reached, whichever is lower.
    pub rate: f64,
    /// Half width of the interval that holds one more measurement if the line goes on; none where it does not.
    pub half_width: Option<f64>,
}

/// Where the rate no longer grows with the nodes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Saturation {
    /// From so many nodes on.
    pub from_nodes: u64,
    /// Up to so many.
    pub to_nodes: u64,
    /// Median of the points there.
    pub rate: f64,
    /// The lowest and the highest of them.
    pub range: (f64, f64),
}

/// The smallest number of nodes that reaches a share of the peak.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reach {
    /// The share.
    pub share: f64,
    /// Nodes.
    pub nodes: u64,
    /// Largest distance from the peak at more nodes, as a share of the peak; none where none were
    /// measured.
    pub spread_beyond: Option<f64>,
    /// Coefficient of variation from these nodes on; none for one point.
    pub variation: Option<f64>,
}

/// From how many nodes on node-local targets are faster than a shared one that has saturated.
#[derive(Debug, Clone, PartialEq)]
pub struct LayerCrossover {
    /// The series of the node-local target, by its place in [`crate::Findings::weak_scaling`].
    pub local: usize,
    /// That of the shared one.
    pub shared: usize,
    /// The names of both targets.
    pub targets: [String; 2],
    /// The phase.
    pub phase: Phase,
    /// Tasks on each node.
    pub tasks_per_node: u64,
    /// The plateau of the shared one.
    pub plateau: f64,
    /// The smallest number of nodes at which the line of the local one reaches the plateau. None where that cannot be
    /// told: there is no line, or the interval around it does not cross the plateau within the nodes that were measured.
    pub nodes: Option<u64>,
}

impl Statement for WeakScaling {
    const KIND: gate::Kind = gate::Kind::WeakScaling;
    const OF: Of = Of::Sweep;
    const CAPTION: &'static str = "As many tasks on each node. Slope: what one more node brings, ± half of its 95 % interval. Efficiency: rate ÷ \
         (nodes × the rate of one node), at the most nodes. Full: more nodes bring no more. 95 %: of the highest rate";
    const COLUMNS: &'static [Column<Self>] = &[
        Column::count("tasks_per_node", |one: &Self| Some(one.tasks_per_node), "Tasks on each node.")
            .headed("tasks/node")
            .subject(),
        Column::text("nodes", Self::span, "The fewest and the most nodes.").subject(),
        Column::rate(
            "slope_per_second",
            |one: &Self| one.of_line(|line| Some(line.slope)),
            "What one more node brings.",
        )
        .headed("per node"),
        Column::rate(
            "slope_half_width_per_second",
            |one: &Self| one.of_line(|line| Some(line.uncertainty?.slope_half_width)),
            "Half of its 95 % interval.",
        )
        .headed("±"),
        Column::number(
            "r_squared",
            |one: &Self| Some(one.line.as_ref()?.r_squared),
            "Variance that the line explains.",
        )
        .headed("R²"),
        Column::share("efficiency", |one| one.points.last()?.efficiency, "At the most nodes."),
        Column::rate(
            "full_at_per_second",
            |one: &Self| one.rate(one.saturation.map(|full| full.rate)),
            "The plateau.",
        )
        .headed("full at"),
        Column::count(
            "full_from",
            |one: &Self| Some(one.saturation?.from_nodes),
            "Nodes from which on it is full.",
        )
        .headed("from"),
        Column::count(
            "reaches_90",
            |one: &Self| Some(one.reaches.first()?.nodes),
            "Nodes that reach 90 % of the peak.",
        )
        .headed("90 % at"),
        Column::count(
            "reaches_95",
            |one: &Self| Some(one.reaches.last()?.nodes),
            "Nodes that reach 95 % of the peak.",
        )
        .headed("95 % at"),
        Column::share(
            "spread_beyond",
            |one: &Self| one.reaches.last()?.spread_beyond,
            "From 95 % on, the largest distance from the peak.",
        )
        .headed("then below it by"),
        Column::share(
            "variation_beyond",
            |one: &Self| one.reaches.last()?.variation,
            "From 95 % on, the coefficient of variation.",
        )
        .headed("then varies by"),
        Column::count("peak_nodes", |one: &Self| Some(one.peak_nodes), "Nodes with the highest rate.")
            .detail(),
        Column::new(
            "at",
            "at",
            Quantity::List,
            |one: &Self| Value::List(one.fixed.iter().map(ToString::to_string).collect()),
            "The other swept keys.",
        )
        .below(),
    ];
}

impl WeakScaling {
    fn counts(&self) -> RateOf {
        RateOf::phase(self.phase)
    }

    fn rate(&self, rate: Option<f64>) -> Value {
        Value::or_none(rate, |rate| Value::Rate(rate, self.counts()))
    }

    fn of_line(&self, value: impl FnOnce(&Regression) -> Option<f64>) -> Value {
        self.rate(self.line.as_ref().and_then(value))
    }

    /// `1–16`.
    fn span(&self) -> String {
        let ends = self.points.first().zip(self.points.last());
        ends.map(|(first, last)| format!("{}–{}", first.nodes, last.nodes)).unwrap_or_default()
    }
}

impl Statement for Extrapolation {
    const KIND: gate::Kind = gate::Kind::Extrapolation;
    const OF: Of = Of::Sweep;
    const CAPTION: &'static str = "What the lines say of numbers of nodes that were not measured, at most what the study says can be reached there. \
         ±: the interval of one more value, where the line goes on";
    const COLUMNS: &'static [Column<Self>] = &[
        Column::count("tasks_per_node", |one: &Self| Some(one.tasks_per_node), "Tasks on each node.")
            .headed("tasks/node")
            .subject(),
        Column::count("nodes", |one: &Self| Some(one.nodes), "Nodes.").subject(),
        Column::rate("rate_per_second", |one: &Self| Value::Rate(one.rate, one.counts), "The rate there.")
            .headed("rate"),
        Column::rate(
            "half_width_per_second",
            |one: &Self| Value::or_none(one.half_width, |half| Value::Rate(half, one.counts)),
            "Half of the 95 % interval of one more value.",
        )
        .headed("±"),
    ];
}

impl Statement for LayerCrossover {
    const KIND: gate::Kind = gate::Kind::Crossover;
    const OF: Of = Of::Nothing;
    const CAPTION: &'static str = "From how many nodes on node-local targets are faster than a shared one that is full; without a number it cannot be \
         told";
    const COLUMNS: &'static [Column<Self>] = &[
        Column::text("phase", |one: &Self| one.phase.name().to_owned(), "The phase.").subject(),
        Column::count("tasks_per_node", |one: &Self| Some(one.tasks_per_node), "Tasks on each node.")
            .headed("tasks/node")
            .subject(),
        Column::text("target", |one: &Self| one.targets[0].clone(), "The node-local target.").subject(),
        Column::text("shared", |one: &Self| one.targets[1].clone(), "The shared one.")
            .headed("faster than")
            .subject(),
        Column::rate(
            "plateau_per_second",
            |one: &Self| Value::Rate(one.plateau, RateOf::phase(one.phase)),
            "Where the shared one is full.",
        )
        .headed("full at"),
        Column::count("nodes", |one: &Self| one.nodes, "The fewest nodes.").headed("from nodes"),
    ];
}

/// The weak scaling of every workload of `plan` that was measured on several numbers of nodes with as
/// many tasks on each, for each target, client, phase and combination of other swept keys. A number
/// of nodes that was measured twice has two points.
#[must_use]
pub fn weak_scaling(plan: &Plan, figures: &[Figure]) -> Vec<WeakScaling> {
    all_series(&Gate::new(plan, figures, &[]))
}

/// What is stated of the series: those that are there, what lies beyond them, and where layers meet.
#[derive(Debug, Default)]
pub(crate) struct Scaled {
    pub(crate) series: Vec<Stated<WeakScaling>>,
    pub(crate) beyond: Vec<Stated<Extrapolation>>,
    pub(crate) crossovers: Vec<Stated<LayerCrossover>>,
}

/// Statements rest on all figures of a series: where one is disqualified nothing is said of it.
pub(crate) fn of_gate(gate: &Gate<'_>) -> Scaled {
    let all = all_series(gate);
    let inputs = |one: &WeakScaling| -> Vec<usize> { one.points.iter().map(|point| point.figure).collect() };
    let crossovers = crossovers_of(gate, &all).into_iter().map(|one| {
        let of_both = [one.local, one.shared].into_iter().flat_map(|place| inputs(&all[place])).collect();
        gate.state(gate::Kind::Crossover, of_both, one)
    });
    let crossovers = crossovers.collect();
    let mut found = Scaled { crossovers, ..Scaled::default() };
    for one in all {
        let of_series = inputs(&one);
        let more = one.extrapolated.iter().filter(|more| more.rate > 0.0);
        found.beyond.extend(more.map(|more| gate.state(gate::Kind::Extrapolation, of_series.clone(), *more)));
        found.series.push(gate.state(gate::Kind::WeakScaling, of_series, one));
    }
    found
}

/// What the points of one series have in common.
type SeriesKey<'a> = (&'a str, &'a str, Client, Phase, u64, Vec<(&'a str, ValueKey<'a>)>);

/// As [`weak_scaling`], whatever speaks against the figures.
fn all_series(gate: &Gate<'_>) -> Vec<WeakScaling> {
    let mut places: HashMap<SeriesKey<'_>, usize> = HashMap::new();
    let mut series: Vec<Vec<&Subject<'_>>> = Vec::new();
    for subject in &gate.subjects {
        let Some(tasks) = tasks_per_node(subject) else { continue };
        let fixed = subject.case.settings.iter().filter(|setting| is_fixed(setting));
        let fixed = fixed.map(|setting| (setting.key.as_str(), ValueKey::from(&setting.value))).collect();
        let case = subject.case;
        let key =
            (case.group.as_str(), case.target.as_str(), subject.client(), subject.figure.phase, tasks, fixed);
        let place = *places.entry(key).or_insert_with(|| {
            series.push(Vec::new());
            series.len() - 1
        });
        series[place].push(subject);
    }
    series.iter().filter_map(|members| scaled(gate, members)).collect()
}

/// None where the tasks do not divide over the nodes.
fn tasks_per_node(subject: &Subject<'_>) -> Option<u64> {
    let (tasks, nodes) = (u64::from(subject.case.workload.tasks), subject.nodes());
    // Before workloads said on how many nodes they are, tasks were those of one.
    let per_node = if subject.case.workload.nodes > 1 { tasks / nodes } else { tasks };
    (subject.case.workload.nodes <= 1 || tasks.is_multiple_of(nodes)).then_some(per_node)
}

fn is_fixed(setting: &Setting) -> bool {
    ![NODES, TASKS, TASKS_PER_NODE, TARGET].contains(&setting.key.as_str())
}

fn scaled(gate: &Gate<'_>, members: &[&Subject<'_>]) -> Option<WeakScaling> {
    let mut members = members.to_vec();
    members.sort_by_key(|subject| subject.nodes());
    let first = *members.first()?;
    let several = members.iter().any(|subject| subject.nodes() != first.nodes());
    let one = (first.nodes() == 1).then(|| first.rate());
    let points: Vec<ScalingPoint> = members.iter().map(|subject| point(subject, one)).collect();
    let samples: Vec<Sample> = points.iter().map(sample).collect();
    let (x, y): (Vec<f64>, Vec<f64>) = samples.iter().map(|one| (one.x, one.y)).unzip();
    let line = Regression::of(&x, &y);
    let peak = points.iter().max_by(|a, b| a.rate.total_cmp(&b.rate)).filter(|_| several)?;
    let is_flat = lack_of_fit(&samples, Model::Flat);
    let line = line.filter(|_| rises_straight(&samples));
    let full =
        is_flat == ModelTest::Compatible || lack_of_fit(&samples, Model::Straight) == ModelTest::Refuted;
    let mut wanted: Vec<u64> = gate.plan.terms.nodes.iter().map(|&nodes| u64::from(nodes)).collect();
    wanted.retain(|nodes| points.iter().all(|point| point.nodes != *nodes));
    wanted.dedup();
    let fixed = first.case.settings.iter().filter(|setting| is_fixed(setting));
    Some(WeakScaling {
        group: first.case.group.clone(),
        target: first.case.target.clone(),
        layer: first.layer(),
        client: first.client(),
        phase: first.figure.phase,
        tasks_per_node: tasks_per_node(first)?,
        fixed: fixed.cloned().collect(),
        extrapolated: line.as_ref().map_or_else(Vec::new, |line| extrapolated(gate, first, line, &wanted)),
        saturation: saturation(&samples).filter(|_| full),
        peak_nodes: peak.nodes,
        reaches: match is_flat {
            ModelTest::Refuted => {
                PEAK_SHARES.into_iter().filter_map(|share| reach(&samples, share)).collect()
            }
            ModelTest::Compatible | ModelTest::Unknown => Vec::new(),
        },
        line,
        points,
    })
}

/// The line beyond what was measured, as far as the study says what can be reached there.
fn extrapolated(
    gate: &Gate<'_>,
    first: &Subject<'_>,
    line: &Regression,
    wanted: &[u64],
) -> Vec<Extrapolation> {
    let (figure, bytes) = (first.figure, bytes_of_one(first.case, first.figure.phase));
    let unit = match figure.rate_of() {
        RateOf::Bytes => Amount::BytesPerSecond(0.0),
        RateOf::Operations => Amount::OperationsPerSecond(0.0),
    };
    let links = if wanted.is_empty() { Vec::new() } else { weakest_links(gate.plan, gate.figures) };
    let random = matches!(first.case.workload.order, Order::Random { .. });
    let ceiling = |nodes: u64| {
        let of_series = links.iter().filter(|link| {
            link.target == first.case.target
                && u64::from(link.nodes) == nodes
                && link.phase.is_none_or(|phase| phase == figure.phase)
                && link.random.is_none_or(|is| is == random)
                && link.transfer.is_none_or(|transfer| transfer == bytes)
        });
        of_series.filter_map(|link| in_unit_of(link.amount, unit, bytes)).reduce(f64::min)
    };
    let at = |&nodes: &u64| {
        let (ceiling, predicted) = (ceiling(nodes)?, line.predict(nodes as f64));
        let goes_on = predicted.value <= ceiling;
        Some(Extrapolation {
            tasks_per_node: tasks_per_node(first)?,
            nodes,
            counts: figure.rate_of(),
            rate: predicted.value.min(ceiling),
            half_width: predicted.half_width.filter(|_| goes_on),
        })
    };
    wanted.iter().filter_map(at).collect()
}

fn point(subject: &Subject<'_>, one: Option<f64>) -> ScalingPoint {
    let (figure, nodes) = (subject.figure, subject.nodes());
    let efficiency = |one: f64| subject.rate() / (nodes as f64 * one);
    ScalingPoint {
        figure: subject.index,
        nodes,
        rate: subject.rate(),
        repetitions: figure.headline().n,
        mean: figure.headline().mean,
        deviation: figure.headline().deviation_sample,
        efficiency: one.filter(|&one| one > 0.0).map(efficiency),
    }
}

fn sample(point: &ScalingPoint) -> Sample {
    Sample {
        x: point.nodes as f64,
        y: point.rate,
        mean: point.mean,
        repetitions: point.repetitions,
        deviation: point.deviation,
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a number of nodes that was a whole number before"
)]
const fn whole(nodes: f64) -> u64 {
    nodes as u64
}

/// Where the rate stays within [`PLATEAU_SHARE`] of its peak while the nodes grow at least
/// [`SATURATION_SPAN_MIN`]-fold. Points stand in rising order of x.
#[must_use]
pub fn saturation(samples: &[Sample]) -> Option<Saturation> {
    let (from, to) = plateau(samples, PLATEAU_SHARE)?;
    if to < from * SATURATION_SPAN_MIN {
        return None;
    }
    let inside = samples.iter().filter(|sample| sample.x >= from && sample.x <= to);
    let all = Summary::of(&inside.map(|sample| sample.y).collect::<Vec<_>>())?;
    Some(Saturation {
        from_nodes: whole(from),
        to_nodes: whole(to),
        rate: all.median,
        range: (all.min, all.max),
    })
}

fn reach(samples: &[Sample], share: f64) -> Option<Reach> {
    let from = reaches(samples, share)?;
    let beyond: Vec<f64> = samples.iter().filter(|sample| sample.x >= from).map(|sample| sample.y).collect();
    let all = Summary::of(&beyond)?;
    Some(Reach {
        share,
        nodes: whole(from),
        spread_beyond: crate::spread_beyond(samples, from),
        variation: (all.n > 1).then_some(all.variation),
    })
}

/// Where the line reaches `plateau`, if the lower end of the interval around it does so at the most nodes that were
/// measured.
fn crossing(line: &Regression, points: &[ScalingPoint], plateau: f64) -> Option<u64> {
    let nodes = crossover(line.slope, line.intercept, plateau)?;
    let last = line.predict(points.last()?.nodes as f64);
    (last.value - last.line_half_width? >= plateau).then_some(nodes)
}

/// What two workloads have to have in common before their targets are compared.
type Kind = (Phase, u64, Bytes, bool);

/// Every node-local target against every shared one that has saturated, of workloads with the same
/// phase, transfer size, order and tasks on each node.
#[must_use]
pub fn layer_crossovers(plan: &Plan, figures: &[Figure], scaling: &[WeakScaling]) -> Vec<LayerCrossover> {
    crossovers_of(&Gate::new(plan, figures, &[]), scaling)
}

/// As [`layer_crossovers`], of figures that were looked up already.
fn crossovers_of(gate: &Gate<'_>, scaling: &[WeakScaling]) -> Vec<LayerCrossover> {
    if !scaling.iter().any(|one| one.layer == Layer::Shared) {
        return Vec::new();
    }
    let of_figure: HashMap<usize, &Subject<'_>> =
        gate.subjects.iter().map(|subject| (subject.index, subject)).collect();
    let kind = |one: &WeakScaling| -> Option<Kind> {
        let case = of_figure.get(&one.points.first()?.figure)?.case;
        let random = matches!(case.workload.order, Order::Random { .. });
        Some((one.phase, one.tasks_per_node, bytes_of_one(case, one.phase), random))
    };
    let mut shared: HashMap<Kind, Vec<(usize, f64)>> = HashMap::new();
    for (place, one) in scaling.iter().enumerate().filter(|(_, one)| one.layer == Layer::Shared) {
        if let Some((kind, saturation)) = kind(one).zip(one.saturation) {
            shared.entry(kind).or_default().push((place, saturation.rate));
        }
    }
    let mut found = Vec::new();
    for (local, one) in scaling.iter().enumerate().filter(|(_, one)| one.layer == Layer::NodeLocal) {
        let of_kind = kind(one).and_then(|kind| shared.get(&kind));
        for &(shared, plateau) in of_kind.into_iter().flatten() {
            let nodes = one.line.as_ref().and_then(|line| crossing(line, &one.points, plateau));
            let targets = [one, &scaling[shared]].map(|one| one.target.clone());
            let (phase, tasks_per_node) = (one.phase, one.tasks_per_node);
            found.push(LayerCrossover { local, shared, targets, phase, tasks_per_node, plateau, nodes });
        }
    }
    found
}
