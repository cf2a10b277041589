//! Published figures that a study names, compared with the own figures it names for them.

use std::collections::HashMap;

use plan::study::UnknownId;
use plan::{
    Bytes, Case, Layer, Operation, Phase, Plan, PublishedReference, Setting, SettingValue, UntoldKind,
};
use record::{Library, Metric, Published, PublishedOperation, PublishedStatistic, PublishedUnit};

use crate::figures::{Figure, Rate, RateOf, RepetitionFigure, Subject};
use crate::gate::{
    Gate, Kind, Of, Statement, Value,
    table::{Column, amount, below, detail, list, share, subject, text, word},
};
use crate::nodes::{WeakScaling, weak_scaling};
use crate::scaling::{scalability::scalability, tax};
use crate::statistics::Summary;

/// A published figure and the own figure to compare with it. There is no own figure if nothing comparable was
/// measured.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the name says it, or its column")]
pub struct PublishedComparison {
    pub published: Published,
    pub figure: Option<usize>,
    /// The own value, in [`PublishedComparison::unit`].
    pub own: Option<f64>,
    /// The standard deviation of the own rate, and the number of values: nodes if they have storage of their own,
    /// else repetitions.
    pub spread: Option<(f64, usize)>,
    pub at: Vec<Setting>,
    /// The workload of the curves that the figure belongs to.
    pub group: Option<String>,
    pub target: Option<String>,
    pub phase: Option<Phase>,
    /// The differing conditions, for a command line that no study names.
    pub differs: Vec<String>,
    /// Whether the published figure is of another command line of the same tool on another machine, and no study
    /// asked for the comparison.
    pub elsewhere: bool,
    pub misprint: String,
}

impl Statement for PublishedComparison {
    const KIND: Kind = Kind::Published;
    const OF: Of = Of::Figure;
    const CAPTION: &'static str =
        "Own figures beside published ones; where there is no own figure, nothing comparable was measured";
    const COLUMNS: &'static [Column<Self>] = &[
        subject(word("id", "published figure", "Its id.", |one| &one.published.id)),
        subject(text("as_published", "printed", "As printed, with its unit.", |one| {
            one.published.as_published()
        })),
        subject(amount("published", "published", "In `unit`.", |one| one.in_unit(Some(one.value())))),
        amount("own", "own", "In `unit`; empty where nothing comparable was measured.", |one| {
            one.in_unit(one.own)
        }),
        share("ratio", "own ÷ published", "Own ÷ published.", |one| one.ratio()),
        subject(below(word("statistic", "statistic", "Best, mean, stated …", |one| {
            one.published.statistic.name()
        }))),
        subject(below(text("source", "source", "Where it was published.", |one| one.source()))),
        subject(below(word("storage", "storage", "Storage of the published figure.", |one| one.storage()))),
        below(text("differs", "differs", "How its conditions differ.", |one| one.differs.join("; "))),
        subject(below(word("caution", "caution", "What the study says against relying on it.", |one| {
            &one.published.caution
        }))),
        subject(share(
            "cache_share",
            "its caches ÷ data",
            "Caches of all components ÷ the working set, as published.",
            |one| one.published.cache_share(),
        )),
        subject(below(word("note", "note", "What must be known about it.", |one| {
            one.published.note.as_deref().unwrap_or_default()
        }))),
        below(word("misprint", "misprint", "What is known to be wrong with the printed figure.", |one| {
            &one.misprint
        })),
        below(list("at", "at", "The point of the sweep that it belongs to.", |one| {
            one.at.iter().map(ToString::to_string).collect()
        })),
        detail(word("unit", "unit", "Unit of the published and of the own value.", |one| one.unit())),
    ];
}

impl PublishedComparison {
    /// Pairs `published` with the value of an own figure.
    pub(crate) fn of(published: &Published, own: Option<(&Subject<'_>, f64)>) -> Self {
        let case = own.map(|(one, _)| one.case);
        Self {
            published: published.clone(),
            figure: own.map(|(one, _)| one.index),
            own: own.map(|(_, own)| own),
            spread: own.and_then(|(one, _)| spread(one, published)),
            at: case.map(|case| published_point(case, published)).unwrap_or_default(),
            group: case.map(|case| case.group.clone()),
            target: case.map(|case| case.target.clone()),
            phase: own.map(|(one, _)| one.figure.phase),
            differs: Vec::new(),
            elsewhere: false,
            misprint: String::new(),
        }
    }

    /// The published value, in [`PublishedComparison::unit`].
    #[must_use]
    pub fn value(&self) -> f64 {
        self.published.value * if self.published.unit == PublishedUnit::Seconds { 1e9 } else { 1.0 }
    }

    /// The unit of both values: that of the published one, with `ns` instead of seconds.
    #[must_use]
    pub const fn unit(&self) -> &'static str {
        match self.published.unit {
            PublishedUnit::Seconds => "ns",
            unit => unit.name(),
        }
    }

    /// Own ÷ published. `None` for figures of another machine that no study compares.
    #[must_use]
    pub fn ratio(&self) -> Option<f64> {
        self.own.filter(|_| self.value() != 0.0 && !self.elsewhere).map(|own| own / self.value())
    }

    /// The study, and the table, slide or section.
    #[must_use]
    pub fn source(&self) -> String {
        format!("{}, {}", self.published.cited, self.published.section)
    }

    /// The storage of the published figure, in the study's words; empty if it gives none.
    #[must_use]
    pub fn storage(&self) -> &str {
        let printed = &self.published.parameters;
        let storage = printed.layer.as_ref().or(printed.layout.as_ref()).or(printed.file_system.as_ref());
        storage.map_or("", String::as_str)
    }

    fn in_unit(&self, value: Option<f64>) -> Value {
        Value::or_none(value, |value| match self.published.unit {
            PublishedUnit::BytesPerSecond => Value::Rate(value, RateOf::Bytes),
            PublishedUnit::OperationsPerSecond => Value::Rate(value, RateOf::Operations),
            PublishedUnit::Seconds => Value::Nanos(value),
            PublishedUnit::Fraction => Value::Share(value),
            _ => Value::Number(value),
        })
    }
}

/// The ids in `plan` that `library` does not have, so that a run can be refused before it starts. A claim with its
/// own text comes from the user and needs no entry.
#[must_use]
pub fn unknown_ids(plan: &Plan, library: &Library) -> Vec<UnknownId> {
    let unknown = |table, index, id: &str, nearest: Option<&str>| UnknownId {
        id: id.to_owned(),
        table,
        index,
        nearest: nearest.map(str::to_owned),
    };
    let figures = library.figures.iter().map(|figure| figure.id.as_str());
    let places = plan.criteria.published.iter().enumerate();
    let places = places.filter(|(_, place)| library.figure(&place.id).is_none()).map(|(index, place)| {
        unknown("published", index, &place.id, Library::nearest(&place.id, figures.clone()))
    });
    let claims = library.claims.iter().map(|claim| claim.id.as_str());
    let rules = plan.criteria.claims.iter().enumerate();
    let rules = rules
        .filter(|(_, rule)| rule.text.is_empty() && library.claim(&rule.id).is_none())
        .map(|(index, rule)| unknown("claim", index, &rule.id, Library::nearest(&rule.id, claims.clone())));
    places.chain(rules).collect()
}

/// Every published figure that `plan` names, with the matching own figure: the one at the named point of the sweep,
/// or else the one with the best median. If nothing comparable was measured, the own side is empty. A published gain
/// per additional node is compared with the slope of the own weak scaling, at its last point, with as many tasks per
/// node if the published number is known. Ids that `library` does not have are left out; [`unknown_ids`] returns
/// them. Published figures of jobs are left out too, because no figure is the same quantity: they are compared with
/// sums, ratios and profiles of their launches ([`crate::jobs::published_matrix`],
/// [`crate::jobs::PublishedJobComparison`]).
#[must_use]
pub fn beside(plan: &Plan, figures: &[Figure], library: &Library) -> Vec<PublishedComparison> {
    let gate = Gate::new(plan, figures, &[]);
    let all = &gate.subjects;
    let of_figures = plan.criteria.published.iter().filter(|place| place.figures.phase != Some(Phase::Jobs));
    let places: Vec<(&PublishedReference, &Published)> =
        of_figures.filter_map(|place| Some((place, library.figure(&place.id)?))).collect();
    let has_slopes = places.iter().any(|(_, published)| published.statistic == PublishedStatistic::Slope);
    let scaling = if has_slopes { weak_scaling::weak_scaling(&gate) } else { Vec::new() };
    let mut bests = Bests::new();
    for one in all {
        let best = bests.entry((one.case.target.as_str(), one.figure.phase, one.nodes())).or_default();
        *best = best.max(one.figure.bytes_per_second.median);
    }
    let own = OwnResults { all, bests, scaling };
    // A study that was scaled may have given up what made both alike.
    let given_up = |id: &str| plan.scaling.as_ref()?.untold(UntoldKind::Published, id);
    let placed = |(place, published): (&PublishedReference, &Published)| {
        let found = own.placed(place, published, library);
        PublishedComparison { differs: given_up(&published.id).into_iter().collect(), ..found }
    };
    places.into_iter().map(placed).collect()
}

/// The best median rate for each target, phase and number of nodes.
type Bests<'a> = HashMap<(&'a str, Phase, Option<u64>), f64>;

/// What published figures are compared with.
struct OwnResults<'a> {
    all: &'a [Subject<'a>],
    bests: Bests<'a>,
    scaling: Vec<WeakScaling>,
}

impl OwnResults<'_> {
    fn placed(
        &self,
        place: &PublishedReference,
        published: &Published,
        library: &Library,
    ) -> PublishedComparison {
        let phase = place.figures.phase.or(phase_of(published));
        // A bandwidth without a phase is a bandwidth of transfers.
        let counted = |phase: Phase| {
            phase != Phase::Jobs && (published.unit != PublishedUnit::BytesPerSecond || phase.is_transfers())
        };
        let chosen = self.all.iter().filter(|one| {
            let own = one.figure.phase;
            place.figures.takes(one.case, own) && phase.map_or_else(|| counted(own), |phase| phase == own)
        });
        let values = chosen.filter_map(|one| Some((one, self.value(one, published)?)));
        let less_is_better = published.metric == Metric::Latency;
        let better = |one: f64, other: f64| if less_is_better { one < other } else { one > other };
        let best = values.reduce(|best, one| if better(one.1, best.1) { one } else { best });
        let place = &place.figures;
        let found = PublishedComparison::of(published, best);
        PublishedComparison {
            at: if place.at.is_empty() { found.at } else { place.at.clone() },
            group: place.workload.clone().or(found.group),
            target: place.target.clone().or(found.target),
            phase: found.phase.or(phase),
            misprint: misprint(published, library),
            ..found
        }
    }

    /// The own value of the quantity that `published` gives: bytes or transfers per second, nanoseconds, or a share.
    fn value(&self, own: &Subject<'_>, published: &Published) -> Option<f64> {
        match (published.unit, published.metric, published.statistic) {
            (PublishedUnit::Fraction, Metric::Scalability, _) => self.share_of_devices(own),
            (PublishedUnit::Fraction, Metric::Tax, _) => self.tax(own),
            (.., PublishedStatistic::Slope) => self.slope(own, published),
            _ => match rates_of_nodes(own, published) {
                Some(rates) => of_nodes(&Summary::of(&rates)?, published.statistic),
                None => own_value(own.case, own.figure, published),
            },
        }
    }

    /// Rate ÷ (devices × best rate of the target of one device in the same phase).
    fn share_of_devices(&self, own: &Subject<'_>) -> Option<f64> {
        let target = own.target?;
        let of_nodes =
            |nodes| self.bests.get(&(target.baseline.as_deref()?, own.figure.phase, nodes)).copied();
        let targets = f64::from(own.targets_of_all_nodes()?);
        // For a node-local target that was measured on the same number of nodes, each node has its own device.
        let single = of_nodes(Some(1)).or_else(|| Some(of_nodes(own.nodes())? / targets))?;
        scalability(own.figure.bytes_per_second.median, f64::from(target.devices) * targets, single)
    }

    /// What the best point of a layout loses against the best of the target that the layout is built on.
    fn tax(&self, own: &Subject<'_>) -> Option<f64> {
        let best = |target| {
            self.bests.get(&(target, own.figure.phase, own.nodes())).copied().filter(|&rate| rate > 0.0)
        };
        let rate = own.figure.bytes_per_second.median;
        let below = best(own.target?.above.as_deref()?)?;
        (best(&own.case.target)? <= rate).then(|| tax(below, rate))?
    }

    /// The gain per additional node is the slope of a curve, not a figure; it is reported at the last point.
    fn slope(&self, own: &Subject<'_>, published: &Published) -> Option<f64> {
        let last = |one: &&WeakScaling| one.points.last().is_some_and(|last| last.figure == own.index);
        let series = self.scaling.iter().find(last)?;
        let tasks = published.parameters.tasks_per_node.map(u64::from);
        let slope =
            series.line.as_ref().filter(|_| tasks.is_none_or(|tasks| tasks == series.tasks_per_node))?;
        let factor = match published.unit {
            PublishedUnit::OperationsPerSecond => {
                own.figure.transfers_per_second.median / series.points.last()?.rate
            }
            _ => 1.0,
        };
        Some(slope.slope * factor).filter(|slope| slope.is_finite())
    }
}

/// The phase of a published figure. `None` if it covers any phase or several.
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

/// The median of `value` over the counted passes. Returns `None` if it is unknown for one of them.
fn middle(figure: &Figure, value: impl Fn(&RepetitionFigure) -> Option<f64>) -> Option<f64> {
    let values: Option<Vec<f64>> = figure.counted().map(value).collect();
    Some(Summary::of(&values?)?.median)
}

/// Whether a published figure is for a single one of several tasks.
fn is_of_one_task(published: &Published) -> bool {
    published.parameters.more.contains_key("per")
}

/// The rates of the own nodes, which are compared with the published rate of one node if each node has storage of its
/// own.
fn rates_of_nodes(own: &Subject<'_>, published: &Published) -> Option<Vec<f64>> {
    let of_one = published.parameters.nodes == Some(1) && !is_of_one_task(published);
    if own.layer() != Layer::NodeLocal || own.figure.nodes.len() < 2 || !of_one {
        return None;
    }
    let rates = own.figure.nodes.iter().map(|node| match published.unit {
        PublishedUnit::BytesPerSecond => Some(node.bytes_per_second.median),
        PublishedUnit::OperationsPerSecond => Some(node.transfers_per_second.median),
        _ => None,
    });
    rates.collect()
}

/// The standard deviation of the own value that is compared with a published rate, and the number of values. `None` if
/// the published rate is not one of the whole figure over the time of the phase.
fn spread(own: &Subject<'_>, published: &Published) -> Option<(f64, usize)> {
    if is_of_one_task(published) || published.statistic == PublishedStatistic::Sum {
        return None;
    }
    let rates = match (rates_of_nodes(own, published), published.unit) {
        (Some(rates), _) => Summary::of(&rates)?,
        (None, PublishedUnit::BytesPerSecond) => own.figure.bytes_per_second,
        (None, PublishedUnit::OperationsPerSecond) => own.figure.transfers_per_second,
        (None, _) => return None,
    };
    (rates.n > 1).then_some((rates.deviation_sample, rates.n))
}

/// The own value to compare with `statistic` of one node: the same extreme of the own nodes, or their mean, which has
/// no scatter.
const fn of_nodes(rates: &Summary, statistic: PublishedStatistic) -> Option<f64> {
    match statistic {
        PublishedStatistic::Min => Some(rates.min),
        PublishedStatistic::Max => Some(rates.max),
        PublishedStatistic::Deviation | PublishedStatistic::Range | PublishedStatistic::Difference => None,
        _ => Some(rates.mean),
    }
}

/// The value of `figure`, of `case`, for the quantity of `published`, whatever the phase of either: a rate, or what
/// [`Metric`] needs from latencies, single tasks, busy threads, bytes and times. The value is in nanoseconds if the
/// published unit is seconds, else in the published unit. Returns `None` if the figure has no such value, or if
/// several figures are needed, as for scalability and slopes.
#[must_use]
pub fn own_value(case: &Case, figure: &Figure, published: &Published) -> Option<f64> {
    let tasks = case.tasks().map(f64::from);
    let in_unit = |rate: &Rate| match published.unit {
        PublishedUnit::BytesPerSecond => rate.bytes_per_second,
        _ => rate.transfers_per_second,
    };
    let of_one_task = is_of_one_task(published);
    match (published.metric, published.statistic) {
        (Metric::Latency, statistic) => latency_ns(figure, statistic),
        (Metric::Iops | Metric::Rate | Metric::Bandwidth, statistic) if of_one_task => match statistic {
            PublishedStatistic::Min => middle(figure, |one| Some(in_unit(&one.rates.tasks?.slowest))),
            PublishedStatistic::Max => middle(figure, |one| Some(in_unit(&one.rates.tasks?.fastest))),
            // The arithmetic mean of the tasks' own rates, each over its own time.
            _ => middle(figure, |one| Some(in_unit(&one.rates.sum_of_tasks) / tasks?)),
        },
        (Metric::Iops | Metric::Rate | Metric::Bandwidth, PublishedStatistic::Sum) => {
            middle(figure, |one| Some(in_unit(&one.rates.sum_of_tasks)))
        }
        (Metric::Count, PublishedStatistic::Min) if of_one_task => {
            middle(figure, |one| Some(one.rates.tasks?.least_transfers as f64))
        }
        // As gpfsperf prints it: the time of its threads in transfers, divided by the time including the fsync.
        (Metric::ThreadUtilisation, _) if case.stated.is_none() => middle(figure, |one| {
            let close_ns = if case.workload.sync.at_close { one.phase.close_ns } else { 0 };
            let all_ns = (one.phase.io_ns + close_ns) as f64 * tasks?;
            Some((one.rates.tasks?.busy_ns as f64 / all_ns).min(1.0)).filter(|share| share.is_finite())
        }),
        (Metric::Bytes, _) => middle(figure, |one| Some(one.phase.bytes() as f64)),
        (Metric::CpuRealRatio, _) => middle(figure, |one| {
            let cpu = (one.phase.user_cpu_ns + one.phase.system_cpu_ns) as f64;
            (one.phase.wall_ns > 0).then(|| cpu / one.phase.wall_ns as f64)
        }),
        // The largest deviation of a repetition from the others.
        (
            Metric::Seconds,
            PublishedStatistic::Difference | PublishedStatistic::Range | PublishedStatistic::Max,
        ) => None,
        (Metric::Seconds, _) => middle(figure, |one| {
            Some(match published.operation {
                PublishedOperation::UserCpu => one.phase.user_cpu_ns as f64,
                PublishedOperation::SystemCpu => one.phase.system_cpu_ns as f64,
                _ => one.phase.wall_ns as f64,
            })
        }),
        _ if of_one_task => None,
        (_, statistic) => {
            let rate = match published.unit {
                PublishedUnit::BytesPerSecond => &figure.bytes_per_second,
                PublishedUnit::OperationsPerSecond => &figure.transfers_per_second,
                _ => return None,
            };
            let repeated = rate.n > 1;
            match statistic {
                PublishedStatistic::Deviation => repeated.then_some(rate.deviation_sample),
                PublishedStatistic::Range | PublishedStatistic::Difference => {
                    repeated.then_some(rate.max - rate.min)
                }
                PublishedStatistic::Slope => None,
                PublishedStatistic::Mean => Some(rate.mean),
                _ => Some(rate.median),
            }
        }
    }
}

fn latency_ns(figure: &Figure, statistic: PublishedStatistic) -> Option<f64> {
    let latency = figure.response(figure.phase.operation().unwrap_or(Operation::Read))?;
    match statistic {
        PublishedStatistic::Min => Some(latency.get("minimum")),
        PublishedStatistic::Max => Some(latency.get("maximum")),
        PublishedStatistic::Deviation => Some(latency.get("deviation")),
        PublishedStatistic::Range => None,
        _ => Some(latency.mean_ns()),
    }
}

/// The settings of the published figure on the axes over which `case` is swept.
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

/// The known error of a published figure, in a sentence; empty if there is none.
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
