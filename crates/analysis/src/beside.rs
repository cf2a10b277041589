//! Published figures that a study names, beside the own figures that it names for them.

use std::collections::HashMap;

use plan::{Bytes, Case, Layer, Phase, Plan, PublishedPlace, Setting, SettingValue};
use record::{Library, Metric, Operation, Published, PublishedOperation, PublishedStatistic, PublishedUnit};

use crate::gate::{Gate, Kind};
use crate::subject::Subject;
use crate::table::{Column, Of, Statement, Value, amount, below, detail, list, share, subject, text, word};
use crate::{
    Figure, NodeFigure, Rate, RateOf, RepetitionFigure, Summary, WeakScaling, operation_of, scalability, tax,
    weak_scaling,
};

/// A published figure and the own figure beside it.
#[derive(Debug, Clone, PartialEq)]
pub struct Beside {
    /// The id in the library.
    pub id: String,
    /// The own figure; none where nothing comparable was measured.
    pub figure: Option<usize>,
    /// The point of the sweep at which it stands, for charts.
    pub at: Vec<Setting>,
    /// The workload and target of the curves that it belongs to.
    pub group: Option<String>,
    /// The target.
    pub target: Option<String>,
    /// The phase.
    pub phase: Option<Phase>,
    /// The published value, in the unit of [`Beside::own`].
    pub published: f64,
    /// The own value: bytes per second, operations per second, nanoseconds or a share.
    pub own: Option<f64>,
    /// The unit of both: `bytes/s`, `ops/s`, `ns` or `fraction`.
    pub unit: String,
    /// Own ÷ published.
    pub ratio: Option<f64>,
    /// As printed, with its unit.
    pub as_published: String,
    /// Best, mean, stated …
    pub statistic: String,
    /// The storage that it is of, in the study's words; empty where it says none.
    pub storage: String,
    /// In what its conditions are not those of the own figure, of a command line that no study names.
    pub differs: Vec<String>,
    /// What must be known of the printed figure; empty where nothing must.
    pub note: String,
    /// What is known to be wrong with the printed figure; empty where nothing is.
    pub misprint: String,
    /// The study and the table, slide or section.
    pub source: String,
}

impl Statement for Beside {
    const KIND: Kind = Kind::Published;
    const OF: Of = Of::Figure;
    const CAPTION: &'static str =
        "Own figures beside published ones; without an own one nothing comparable was measured";
    const COLUMNS: &'static [Column<Self>] = &[
        subject(word("id", "published figure", "Its id.", |one| &one.id)),
        subject(word("as_published", "printed", "As printed, with its unit.", |one| &one.as_published)),
        amount("published", "published", "In `unit`.", |one| one.in_unit(one.published)),
        amount("own", "own", "In `unit`; nothing where nothing comparable was measured.", |one| {
            Value::or_none(one.own, |own| one.in_unit(own))
        }),
        share("ratio", "own ÷ published", "Own ÷ published.", |one| one.ratio),
        below(word("statistic", "statistic", "Best, mean, stated …", |one| &one.statistic)),
        below(word("source", "source", "Where it stands.", |one| &one.source)),
        below(word("storage", "storage", "What it is of.", |one| &one.storage)),
        below(text("differs", "differs", "In what its conditions differ.", |one| one.differs.join("; "))),
        below(word("note", "note", "What must be known of it.", |one| &one.note)),
        below(word("misprint", "misprint", "What is known to be wrong with the printed figure.", |one| {
            &one.misprint
        })),
        below(list("at", "at", "The point of the sweep at which it stands.", |one| {
            one.at.iter().map(ToString::to_string).collect()
        })),
        detail(word("unit", "unit", "Of both.", |one| &one.unit)),
    ];
}

impl Beside {
    /// `published`, beside the value of an own figure.
    pub(crate) fn of(published: &Published, own: Option<(&Subject<'_>, f64)>) -> Self {
        let factor = if published.unit == PublishedUnit::Seconds { 1e9 } else { 1.0 };
        let value = published.value * factor;
        let case = own.map(|(one, _)| one.case);
        let printed = &published.parameters;
        let storage = printed.layer.as_ref().or(printed.layout.as_ref()).or(printed.file_system.as_ref());
        Self {
            id: published.id.clone(),
            figure: own.map(|(one, _)| one.index),
            at: case.map(|case| published_point(case, published)).unwrap_or_default(),
            group: case.map(|case| case.group.clone()),
            target: case.map(|case| case.target.clone()),
            phase: own.map(|(one, _)| one.figure.phase),
            published: value,
            own: own.map(|(_, own)| own),
            unit: match published.unit {
                PublishedUnit::Seconds => "ns".to_owned(),
                unit => unit.name().to_owned(),
            },
            ratio: own.filter(|_| value != 0.0).map(|(_, own)| own / value),
            as_published: published.as_published(),
            statistic: published.statistic.name().to_owned(),
            storage: storage.cloned().unwrap_or_default(),
            differs: Vec::new(),
            note: published.note.clone().unwrap_or_default(),
            misprint: String::new(),
            source: format!("{}, {}", published.cited, published.section),
        }
    }

    fn in_unit(&self, value: f64) -> Value {
        match self.unit.as_str() {
            "bytes/s" => Value::Rate(value, RateOf::Bytes),
            "ops/s" => Value::Rate(value, RateOf::Operations),
            "ns" => Value::Nanos(value),
            "fraction" => Value::Share(value),
            _ => Value::Number(value),
        }
    }
}

/// An id of a study file that the library does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownId {
    /// As written.
    pub id: String,
    /// The table that it stands in: `published` or `claim`.
    pub table: &'static str,
    /// Which of these tables, from 0.
    pub index: usize,
    /// The id that was probably meant.
    pub nearest: Option<String>,
}

/// The ids in `plan` that `library` does not have, so that a run can be refused before it starts.
/// A claim with a text is the user's own and needs no entry.
#[must_use]
pub fn unknown_ids(plan: &Plan, library: &Library) -> Vec<UnknownId> {
    let unknown = |id: &str, table: &'static str, index: usize, nearest: Option<&str>| UnknownId {
        id: id.to_owned(),
        table,
        index,
        nearest: nearest.map(str::to_owned),
    };
    let figures = || library.figures.iter().map(|figure| figure.id.as_str());
    let claims = || library.claims.iter().map(|claim| claim.id.as_str());
    let places = plan.terms.published.iter().enumerate();
    let mut found: Vec<UnknownId> = places
        .filter(|(_, place)| library.figure(&place.id).is_none())
        .map(|(index, place)| unknown(&place.id, "published", index, Library::nearest(&place.id, figures())))
        .collect();
    let rules = plan.terms.claims.iter().enumerate();
    let foreign = rules.filter(|(_, rule)| rule.text.is_empty() && library.claim(&rule.id).is_none());
    found.extend(
        foreign.map(|(index, rule)| unknown(&rule.id, "claim", index, Library::nearest(&rule.id, claims()))),
    );
    found
}

/// Every place of a published figure in `plan`, with the own figure that belongs there: the one at
/// the named point of the sweep, else the best by its median. Where nothing comparable was
/// measured the own side is empty. Beside what one more node brings stands the slope of the own weak
/// scaling, at its last point: with as many tasks on each node where it is known of the published one.
/// Ids that `library` does not have are left out;
/// [`unknown_ids`] names them. So are those of jobs, which stand beside sums, ratios and profiles of their launches
/// ([`crate::published_matrix`], [`crate::JobsBeside`]): no figure is the same quantity.
#[must_use]
pub fn beside(plan: &Plan, figures: &[Figure], library: &Library) -> Vec<Beside> {
    let gate = Gate::new(plan, figures, &[]);
    let all = &gate.subjects;
    let bests = bests(all);
    let places = || {
        let of_figures = plan.terms.published.iter().filter(|place| place.figures.phase != Some(Phase::Jobs));
        of_figures.filter_map(|place| Some((place, library.figure(&place.id)?)))
    };
    let has_slopes = places().any(|(_, published)| published.statistic == PublishedStatistic::Slope);
    let scaling = if has_slopes { weak_scaling::weak_scaling(&gate) } else { Vec::new() };
    let own = Own { all, bests, scaling };
    places().map(|(place, published)| own.placed(place, published, library)).collect()
}

/// What published figures are set beside.
struct Own<'a> {
    all: &'a [Subject<'a>],
    bests: Bests<'a>,
    scaling: Vec<WeakScaling>,
}

impl Own<'_> {
    fn placed(&self, place: &PublishedPlace, published: &Published, library: &Library) -> Beside {
        let phase = place.figures.phase.or(phase_of(published));
        // What a bandwidth of no phase is of are transfers.
        let counted = |phase: Phase| {
            phase != Phase::Jobs && (published.unit != PublishedUnit::BytesPerSecond || phase.is_transfers())
        };
        let chosen = self.all.iter().filter(|one| {
            let own = one.figure.phase;
            place.figures.takes(one.case, own) && phase.map_or_else(|| counted(own), |phase| phase == own)
        });
        let values = chosen.filter_map(|one| Some((one, self.value(one, published)?)));
        let less_is_better = published.metric == Metric::Latency;
        let best = values.reduce(|best, one| match less_is_better {
            true if one.1 < best.1 => one,
            false if one.1 > best.1 => one,
            _ => best,
        });
        let place_of = |point: &[Setting]| (!point.is_empty()).then(|| point.to_vec());
        let found = Beside::of(published, best);
        Beside {
            at: place_of(&place.figures.at).unwrap_or(found.at),
            group: place.figures.workload.clone().or(found.group),
            target: place.figures.target.clone().or(found.target),
            phase: found.phase.or(phase),
            misprint: misprint(published, library),
            ..found
        }
    }

    /// The own value of what `published` is of: bytes or transfers per second, nanoseconds, or a share.
    /// Beside the rate of one node stands the mean of the own nodes where each has storage of its own.
    fn value(&self, own: &Subject<'_>, published: &Published) -> Option<f64> {
        let of_one = |value: fn(&NodeFigure) -> f64| {
            let nodes: Vec<f64> = own.figure.nodes.iter().map(value).collect();
            let local = own.target.is_some_and(|target| target.layer == Layer::NodeLocal);
            let one = local && published.parameters.nodes == Some(1) && nodes.len() > 1;
            Summary::of(&nodes).filter(|_| one).map(|nodes| nodes.mean)
        };
        if let Some(value) = own_detail(own.case, own.figure, published) {
            return Some(value);
        }
        let summary = match (published.unit, published.metric) {
            (PublishedUnit::BytesPerSecond, _) => {
                if let Some(mean) = of_one(|node| node.bytes_per_second.median) {
                    return Some(mean);
                }
                own.figure.bytes_per_second
            }
            (PublishedUnit::OperationsPerSecond, _) => {
                if let Some(mean) = of_one(|node| node.transfers_per_second.median) {
                    return Some(mean);
                }
                own.figure.transfers_per_second
            }
            (PublishedUnit::Fraction, Metric::Scalability) => return share_of_devices(&self.bests, own),
            (PublishedUnit::Fraction, Metric::Tax) => return self.tax(own),
            _ => return None,
        };
        match published.statistic {
            PublishedStatistic::Deviation => (summary.n > 1).then_some(summary.deviation_sample),
            PublishedStatistic::Range | PublishedStatistic::Difference => {
                (summary.n > 1).then_some(summary.max - summary.min)
            }
            PublishedStatistic::Slope => self.slope(own, published),
            _ => Some(summary.median),
        }
    }

    /// What the best point of a layout costs against the best of the target that it is built on.
    fn tax(&self, own: &Subject<'_>) -> Option<f64> {
        let best = |target| {
            self.bests.get(&(target, own.figure.phase, own.nodes())).copied().filter(|&rate| rate > 0.0)
        };
        let rate = own.figure.bytes_per_second.median;
        let below = best(own.target?.above.as_deref()?)?;
        (best(&own.case.target)? <= rate).then(|| tax(below, rate))?
    }

    /// What one more node adds is no figure but the slope of a curve; it stands at the last point.
    fn slope(&self, own: &Subject<'_>, published: &Published) -> Option<f64> {
        let ends_here = |one: &&WeakScaling| one.points.last().is_some_and(|last| last.figure == own.index);
        let series = self.scaling.iter().find(ends_here)?;
        let as_many = |tasks: u32| u64::from(tasks) == series.tasks_per_node;
        if !published.parameters.tasks_per_node.is_none_or(as_many) {
            return None;
        }
        let last = series.points.last()?;
        let slope = series.line.as_ref()?.slope;
        match published.unit {
            PublishedUnit::OperationsPerSecond => {
                Some(slope * own.figure.transfers_per_second.median / last.rate)
            }
            _ => Some(slope),
        }
        .filter(|slope| slope.is_finite())
    }
}

/// The phase that a published figure is of; none where it is of any, or of several.
#[must_use]
pub(crate) fn phase_of(published: &Published) -> Option<Phase> {
    let of_files = matches!(published.metric, Metric::Rate | Metric::Creates);
    Some(match published.operation {
        PublishedOperation::Read | PublishedOperation::Reread if of_files => Phase::FileRead,
        PublishedOperation::Write | PublishedOperation::Rewrite if of_files => Phase::FileWrite,
        PublishedOperation::Read | PublishedOperation::Reread => Phase::Read,
        PublishedOperation::Write | PublishedOperation::Rewrite => Phase::Write,
        PublishedOperation::Create => Phase::FileCreate,
        PublishedOperation::Stat => Phase::FileStat,
        PublishedOperation::Remove => Phase::FileRemove,
        PublishedOperation::TreeCreate => Phase::TreeCreate,
        PublishedOperation::TreeRemove => Phase::TreeRemove,
        _ => return None,
    })
}

/// What `figure` says of that which `published` says: of latencies, single tasks, busy threads, bytes, and
/// times, which no rate is. In nanoseconds where the published unit is seconds, else in that unit; none where
/// the published figure is a rate of all, or where the own one does not know.
fn own_detail(case: &Case, figure: &Figure, published: &Published) -> Option<f64> {
    let of_one_task = published.parameters.more.contains_key("per");
    let middle = |value: &dyn Fn(&RepetitionFigure) -> Option<f64>| {
        let values: Option<Vec<f64>> = figure.counted().map(value).collect();
        Summary::of(&values?).map(|all| all.median)
    };
    let in_unit = |rate: &Rate| match published.unit {
        PublishedUnit::BytesPerSecond => rate.bytes_per_second,
        _ => rate.transfers_per_second,
    };
    match (published.metric, published.statistic) {
        (Metric::Latency, statistic) => latency_ns(figure, statistic),
        (Metric::Iops | Metric::Rate | Metric::Bandwidth, statistic) if of_one_task => match statistic {
            PublishedStatistic::Min => middle(&|one| Some(in_unit(&one.rates.tasks?.slowest))),
            PublishedStatistic::Max => middle(&|one| Some(in_unit(&one.rates.tasks?.fastest))),
            _ => middle(&|one| Some(in_unit(&one.rates.get(figure.rate)?) / f64::from(case.workload.tasks))),
        },
        (Metric::Count, PublishedStatistic::Min) if of_one_task => {
            middle(&|one| Some(one.rates.tasks?.least_transfers as f64))
        }
        // As gpfsperf prints it: the time of its threads in transfers, against the time with the fsync.
        (Metric::ThreadUtilisation, _) if case.stated.is_none() => middle(&|one| {
            let close_ns = if case.workload.sync.at_close { one.phase.close_ns } else { 0 };
            let all_ns = (one.phase.io_ns + close_ns) as f64 * f64::from(case.workload.tasks);
            one.rates
                .tasks
                .map(|tasks| (tasks.busy_ns as f64 / all_ns).min(1.0))
                .filter(|share| share.is_finite())
        }),
        (Metric::Bytes, _) => middle(&|one| Some(one.phase.bytes() as f64)),
        (Metric::CpuRealRatio, _) => middle(&|one| {
            let phase = &one.phase;
            let cpu = (phase.user_cpu_ns + phase.system_cpu_ns) as f64;
            (phase.wall_ns > 0).then(|| cpu / phase.wall_ns as f64)
        }),
        // The longest distance of a repetition from the others.
        (
            Metric::Seconds,
            PublishedStatistic::Difference | PublishedStatistic::Range | PublishedStatistic::Max,
        ) => None,
        (Metric::Seconds, _) => middle(&|one| {
            Some(match published.operation {
                PublishedOperation::UserCpu => one.phase.user_cpu_ns as f64,
                PublishedOperation::SystemCpu => one.phase.system_cpu_ns as f64,
                _ => one.phase.wall_ns as f64,
            })
        }),
        _ => None,
    }
}

/// What `figure`, of `case`, says of that which `published` says, whatever the phase of either: a rate,
/// or what [`Metric`] asks for. In nanoseconds where the published unit is seconds, else in that unit; none
/// where the figure does not know it, or several figures are needed, as for scalability and slopes.
#[must_use]
pub fn own_value(case: &Case, figure: &Figure, published: &Published) -> Option<f64> {
    if let Some(value) = own_detail(case, figure, published) {
        return Some(value);
    }
    let of_one_task = published.parameters.more.contains_key("per");
    let rate = match published.metric {
        Metric::Bandwidth if !of_one_task => &figure.bytes_per_second,
        Metric::Iops | Metric::Rate | Metric::Creates if !of_one_task => &figure.transfers_per_second,
        _ => return None,
    };
    match published.statistic {
        PublishedStatistic::Deviation => (rate.n > 1).then_some(rate.deviation_sample),
        PublishedStatistic::Range | PublishedStatistic::Difference => {
            (rate.n > 1).then_some(rate.max - rate.min)
        }
        PublishedStatistic::Slope => None,
        _ => Some(rate.median),
    }
}

fn latency_ns(figure: &Figure, statistic: PublishedStatistic) -> Option<f64> {
    let latency = figure.response(operation_of(figure.phase).unwrap_or(Operation::Read))?;
    match statistic {
        PublishedStatistic::Min => Some(latency.get("minimum")),
        PublishedStatistic::Max => Some(latency.get("maximum")),
        PublishedStatistic::Deviation => Some(latency.get("deviation")),
        PublishedStatistic::Range => None,
        _ => Some(latency.mean_ns()),
    }
}

/// Rate ÷ (devices × best rate of the target of one device in the same phase).
fn share_of_devices(bests: &Bests<'_>, own: &Subject<'_>) -> Option<f64> {
    let terms = own.target?;
    let of_nodes = |nodes| bests.get(&(terms.baseline.as_deref()?, own.figure.phase, nodes)).copied();
    let targets = f64::from(own.targets_of_all_nodes());
    // Of a node-local target that was measured on as many nodes, each node has its device.
    let single = of_nodes(1).or_else(|| Some(of_nodes(own.nodes())? / targets))?;
    scalability(own.figure.bytes_per_second.median, f64::from(terms.devices) * targets, single)
}

/// The best median rate of each target, phase and number of nodes.
type Bests<'a> = HashMap<(&'a str, Phase, u64), f64>;

fn bests<'a>(subjects: &[Subject<'a>]) -> Bests<'a> {
    let mut bests = Bests::new();
    for one in subjects {
        let best = bests.entry((one.case.target.as_str(), one.figure.phase, one.nodes())).or_default();
        *best = best.max(one.figure.bytes_per_second.median);
    }
    bests
}

/// Where the published figure stands on the axes that `case` is swept over.
fn published_point(case: &Case, published: &Published) -> Vec<Setting> {
    let parameters = &published.parameters;
    let value = |key: &str| match key {
        "tasks" => parameters.tasks.map(|tasks| SettingValue::Count(tasks.into())),
        "transfer" => parameters.transfer_bytes.map(|bytes| SettingValue::Bytes(Bytes(bytes))),
        "depth" => parameters.queue_depth.map(|depth| SettingValue::Count(depth.into())),
        "tasks_per_node" => parameters.tasks_per_node.map(|tasks| SettingValue::Count(tasks.into())),
        "nodes" => parameters.nodes.map(|nodes| SettingValue::Count(nodes.into())),
        "read_percent" => parameters.read_percent.map(|percent| SettingValue::Count(percent.into())),
        _ => None,
    };
    let keys = case.settings.iter().map(|setting| &setting.key);
    keys.filter_map(|key| Some(Setting { key: key.clone(), value: value(key)? })).collect()
}

/// What is known to be wrong with a published figure, in a sentence; empty where nothing is.
fn misprint(published: &Published, library: &Library) -> String {
    let known: Vec<String> = library
        .misprints_of(&published.id)
        .map(|one| {
            format!("{}: printed {}; read as {} ({})", one.sort, one.printed, one.reading, one.because)
        })
        .collect();
    match (known.is_empty(), &published.misprint) {
        (true, Some(_)) => published.note.clone().unwrap_or_else(|| "misprint".to_owned()),
        _ => known.join("; "),
    }
}
