//! The same workload on a device and on each layer above it: what every layer costs.

use std::collections::{HashMap, HashSet};

use plan::{Phase, Plan};
use record::{Fact, HostFacts, PhaseRow};

use crate::gate::{Gate, Kind, Stated};
use crate::subject::{Subject, TARGET, ValueKey};
use crate::table::{Column, Of, Statement, Value};
use crate::{BoundBy, Difference, Figure, Limit, RateOf};

/// Bytes of the GB in "seconds of processor time for each GB".
const GIGABYTE: f64 = 1e9;

/// One workload at one point of its sweep on all layers that it was measured on, the lowest first; at least two.
pub type LayerStack = Vec<Stated<Layer>>;

/// A layer at one point of a sweep.
#[derive(Debug, Clone, PartialEq)]
pub struct Layer {
    /// Its target.
    pub target: String,
    /// The layer below that was measured; none of the lowest.
    pub below: Option<String>,
    /// Of the points of this workload, phase and chain of layers the one at which the lowest layer is fastest.
    pub best: bool,
    /// Its first rate.
    pub rate: f64,
    counts: RateOf,
    /// Against the layer below.
    pub difference: Option<Difference>,
    /// Its rate ÷ that of the lowest layer.
    pub share: f64,
    cpu_ns_per_operation: Option<f64>,
    /// Processor time of the program's processes in seconds for each GB.
    pub cpu_seconds_per_gb: Option<f64>,
    /// Share of the bytes that a cache of this layer or of one below answered or held back: 1 − the device
    /// share, and not below 0. Of reads it is the hit rate.
    pub cache_share: Option<f64>,
    /// Hardware queues of the devices that carry its bytes.
    top: Vec<DeviceQueues>,
    /// Those of the devices at the bottom, where it is stacked; else the same.
    bottom: Vec<DeviceQueues>,
    /// Of a volume over several devices that were measured in direct use: whether one queue is the limit, and why.
    ///
    /// Source: study A, which suspects "a single submission/completion queue" behind the read tax of volumes.
    pub single_queue: Option<(QueueVerdict, String)>,
}

impl Layer {
    /// (Rate of the layer below − its own) ÷ that of the layer below, where a difference is shown; negative where
    /// it is faster.
    #[must_use]
    pub fn loss(&self) -> Option<f64> {
        self.difference.filter(Difference::is_stated).map(|one| -one.change)
    }
}

impl Statement for Layer {
    const KIND: Kind = Kind::Layer;
    const OF: Of = Of::Point;
    const CAPTION: &'static str = "The same workload on each layer. Loss: (layer below − this one) ÷ layer below, where a difference is \
         shown; negative where it is faster. Processor time is that of this program with its system calls; \
         threads of the kernel are not in it";
    const COLUMNS: &'static [Column<Self>] = &[
        Column::rate(
            "rate_per_second",
            |one: &Self| Value::Rate(one.rate, one.counts),
            "Median of the first rate.",
        )
        .headed("rate"),
        Column::text("below", |one: &Self| one.below.clone().unwrap_or_default(), "The layer below.")
            .subject(),
        Column::change(
            "loss",
            Self::loss,
            "(Layer below − this one) ÷ layer below, where a difference is shown.",
        ),
        Column::share("share", |one: &Self| Some(one.share), "Its rate ÷ that of the lowest layer.")
            .headed("of the lowest"),
        Column::number(
            "cpu_seconds_per_gb",
            |one: &Self| one.cpu_seconds_per_gb,
            "Processor seconds of the program's processes for each 10⁹ bytes.",
        )
        .headed("CPU s/GB"),
        Column::nanos(
            "cpu_per_operation",
            |one: &Self| one.cpu_ns_per_operation,
            "Processor time of an operation.",
        )
        .detail(),
        Column::share("caches", |one| one.cache_share, "1 − device bytes ÷ bytes of the tasks, not below 0."),
        Column::flag(
            "best",
            |one: &Self| Some(one.best),
            "Whether the lowest layer is fastest at this point.",
        )
        .detail(),
        Column::text(
            "carried_by",
            |one| queues_of(&one.top),
            "The devices under it, and their hardware queues.",
        ),
        Column::text(
            "at_the_bottom",
            |one| if one.bottom == one.top { String::new() } else { queues_of(&one.bottom) },
            "Those at the bottom, where they are others.",
        ),
        Column::text(
            "single_queue",
            |one: &Self| match &one.single_queue {
                Some((verdict, because)) => format!("{}: {because}", verdict.name()),
                None => String::new(),
            },
            "Of a volume: whether a single submission and completion queue is the limit, and why.",
        )
        .below(),
    ];
}

/// The queues of a device.
#[derive(Debug, Clone, PartialEq, Eq)]
struct DeviceQueues {
    /// The kernel's name.
    device: String,
    /// Hardware queues; none where it has none of its own, as a driver that passes requests on, or tells none.
    queues: Option<u32>,
}

/// `12 devices, 48 queues`.
fn queues_of(all: &[DeviceQueues]) -> String {
    let of = |queues: Option<u32>| match queues {
        Some(1) => "1 queue".to_owned(),
        Some(count) => format!("{count} queues"),
        None => "no queue of its own".to_owned(),
    };
    match all {
        [] => String::new(),
        [one] => format!("{}: {}", one.device, of(one.queues)),
        _ => format!("{} devices, {}", all.len(), of(all.iter().map(|one| one.queues).sum())),
    }
}

/// How the hypothesis of a single queue stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueueVerdict {
    /// The volume has one queue, the members have more, and it is slower.
    Supported,
    /// It is slower, but not for want of queues.
    NotSupported,
    /// This run cannot tell.
    CannotTell,
}

impl QueueVerdict {
    /// The words in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Supported => "supported",
            Self::NotSupported => "not supported",
            Self::CannotTell => "cannot be told here",
        }
    }
}

/// A point of a sweep: workload, phase, and swept values without the target.
type PointKey<'a> = (&'a str, Phase, Vec<(&'a str, ValueKey<'a>)>);

/// The stacks of all workloads that were measured on several layers of each other at the same point, those at which
/// the lowest layer is fastest first.
pub(crate) fn layers(gate: &Gate<'_>, host: Option<&HostFacts>, limits: &[BoundBy]) -> Vec<LayerStack> {
    let chains = chains(gate.plan);
    if chains.is_empty() {
        return Vec::new();
    }
    let mut places: HashMap<PointKey<'_>, usize> = HashMap::new();
    let mut points: Vec<Vec<&Subject<'_>>> = Vec::new();
    for subject in &gate.subjects {
        let settings = subject.case.settings.iter().filter(|one| one.key != TARGET);
        let settings = settings.map(|one| (one.key.as_str(), ValueKey::from(&one.value))).collect();
        let key = (subject.case.group.as_str(), subject.figure.phase, settings);
        let place = *places.entry(key).or_insert_with(|| {
            points.push(Vec::new());
            points.len() - 1
        });
        points[place].push(subject);
    }
    let mut stacks: Vec<(usize, Vec<&Subject<'_>>)> = Vec::new();
    for point in &points {
        for (number, chain) in chains.iter().enumerate() {
            let of_layer = |name: &&str| point.iter().find(|one| one.case.target == *name).copied();
            let layers: Vec<&Subject<'_>> = chain.iter().filter_map(of_layer).collect();
            stacks.extend((layers.len() > 1).then_some((number, layers)));
        }
    }
    let family: usize = stacks.iter().map(|(_, layers)| layers.len() - 1).sum();
    let best = best_points(&stacks);
    let stack = |(place, (_, layers)): (usize, &(usize, Vec<&Subject<'_>>))| {
        stack(gate, layers, family, best.contains(&place), host, limits)
    };
    let mut all: Vec<(bool, LayerStack)> =
        stacks.iter().enumerate().map(|one| (best.contains(&one.0), stack(one))).collect();
    all.sort_by_key(|(best, _)| !best);
    all.into_iter().map(|(_, stack)| stack).collect()
}

/// The places of the stacks whose lowest layer is fastest, of each workload, phase and chain of layers.
fn best_points(stacks: &[(usize, Vec<&Subject<'_>>)]) -> HashSet<usize> {
    let mut best: HashMap<(usize, &str, Phase, usize), (usize, f64)> = HashMap::new();
    for (place, (chain, layers)) in stacks.iter().enumerate() {
        let first = layers[0];
        let key = (*chain, first.case.group.as_str(), first.figure.phase, layers.len());
        let known = best.entry(key).or_insert((place, first.rate()));
        if first.rate() > known.1 {
            *known = (place, first.rate());
        }
    }
    best.into_values().map(|(place, _)| place).collect()
}

/// The targets from each highest layer down, the lowest first.
fn chains(plan: &Plan) -> Vec<Vec<&str>> {
    let below: HashMap<&str, &str> = plan
        .terms
        .targets
        .iter()
        .filter_map(|terms| Some((terms.name.as_str(), terms.above.as_deref()?)))
        .collect();
    let carrying: HashSet<&str> = below.values().copied().collect();
    let highest = plan.terms.targets.iter().map(|terms| terms.name.as_str());
    let highest = highest.filter(|name| below.contains_key(name) && !carrying.contains(name));
    highest
        .map(|name| {
            // A record may come from anywhere: a ring of layers ends after all targets.
            let down = std::iter::successors(Some(name), |at| below.get(at).copied());
            let mut chain: Vec<&str> = down.take(plan.terms.targets.len()).collect();
            chain.reverse();
            chain
        })
        .collect()
}

fn stack(
    gate: &Gate<'_>,
    layers: &[&Subject<'_>],
    family: usize,
    best: bool,
    host: Option<&HostFacts>,
    limits: &[BoundBy],
) -> LayerStack {
    let mut below: Option<(&Subject<'_>, Layer)> = None;
    let mut stack = LayerStack::new();
    for subject in layers {
        let under = below.as_ref().map(|(under, _)| *under);
        let figure = subject.figure;
        let (top, bottom) = queues(subject, host);
        let mut layer = Layer {
            target: subject.case.target.clone(),
            below: under.map(|one| one.case.target.clone()),
            best,
            rate: subject.rate(),
            counts: RateOf::phase(figure.phase),
            difference: under.and_then(|one| gate.difference(one, subject, family)),
            share: if layers[0].rate() > 0.0 { subject.rate() / layers[0].rate() } else { 0.0 },
            cpu_ns_per_operation: figure.cpu_ns_per_operation(),
            cpu_seconds_per_gb: cpu_seconds_per_gb(figure),
            cache_share: figure.moved_by_devices().map(|share| (1.0 - share).max(0.0)),
            top,
            bottom,
            single_queue: None,
        };
        let busy = limits.iter().any(|one| one.figure == subject.index && one.limit == Limit::Processor);
        // One device and its file system have the same queues.
        layer.single_queue = below
            .as_ref()
            .filter(|(_, direct)| direct.top.len() > 1 && !layer.bottom.is_empty())
            .map(|(_, direct)| single_queue(direct, &layer, busy));
        let inputs = std::iter::once(subject.index).chain(under.map(|one| one.index)).collect();
        stack.push(match &layer.difference {
            Some(difference) => gate.state_difference(Kind::Layer, inputs, difference, layer.clone()),
            None => gate.state(Kind::Layer, inputs, layer.clone()),
        });
        below = Some((subject, layer));
    }
    stack
}

/// Processor seconds of the program's processes for each GB, over the passes that count; none where no time was
/// recorded or no bytes were moved. Threads of the kernel, as those of a volume's driver, are not in it.
#[must_use]
pub fn cpu_seconds_per_gb(figure: &Figure) -> Option<f64> {
    let (cpu, bytes) = figure.counted().fold((0.0, 0.0), |(cpu, bytes), one| {
        let phase: &PhaseRow = &one.phase;
        (cpu + (phase.user_cpu_ns + phase.system_cpu_ns) as f64, bytes + phase.bytes() as f64)
    });
    (cpu > 0.0 && bytes > 0.0).then(|| cpu / 1e9 / (bytes / GIGABYTE))
}

/// The queues of the devices that carry the bytes of a case, and of those at the bottom.
fn queues(subject: &Subject<'_>, host: Option<&HostFacts>) -> (Vec<DeviceQueues>, Vec<DeviceQueues>) {
    let Some(host) = host else { return (Vec::new(), Vec::new()) };
    let paths: HashSet<String> =
        subject.case.workload.files.targets.iter().map(|path| path.display().to_string()).collect();
    let under = || host.target_devices.iter().filter(|one| paths.contains(&one.path));
    let of = |names: Vec<&String>| {
        let mut seen = HashSet::new();
        let names = names.into_iter().filter(|name| seen.insert(name.as_str()));
        names.filter_map(|name| device_queues(host, name)).collect()
    };
    (of(under().flat_map(|one| &one.top).collect()), of(under().flat_map(|one| &one.bottom).collect()))
}

fn device_queues(host: &HostFacts, name: &str) -> Option<DeviceQueues> {
    let device = host.devices.iter().find(|device| device.name == name)?;
    let known = |fact: &Fact<u32>| fact.known().copied();
    Some(DeviceQueues { device: name.to_owned(), queues: known(&device.hardware_queues) })
}

/// Whether one queue is why `volume` is slower than as many devices in direct use.
fn single_queue(direct: &Layer, volume: &Layer, busy: bool) -> (QueueVerdict, String) {
    use QueueVerdict::{CannotTell, NotSupported, Supported};
    if volume.loss().is_none_or(|loss| loss <= 0.0) {
        return (CannotTell, "there is no tax to explain".to_owned());
    }
    if busy {
        return (CannotTell, "the processors were busy with the volume, and may be the limit".to_owned());
    }
    let sum = |all: &[DeviceQueues]| all.iter().map(|one| one.queues).sum::<Option<u32>>();
    let members = sum(&volume.bottom).or_else(|| sum(&direct.top));
    let (verdict, why) = match (volume.top.as_slice(), members) {
        ([_, _, ..], Some(members)) => (
            NotSupported,
            format!("there is no volume device: requests go to {members} queues of its members"),
        ),
        (_, None) => (CannotTell, "its members do not tell their queues".to_owned()),
        ([only], Some(members)) => match only.queues {
            None if volume.bottom.len() > 1 => (
                NotSupported,
                format!(
                    "{} has no queue of its own: its driver passes requests on to {members} queues of its members",
                    only.device
                ),
            ),
            None => (CannotTell, format!("{} does not tell its queues", only.device)),
            Some(1) if members > 1 || direct.top.len() > 1 => (
                Supported,
                format!("{} has 1 hardware queue, the devices in direct use have {}", only.device, {
                    sum(&direct.top).unwrap_or(members)
                }),
            ),
            Some(queues) => (NotSupported, format!("{} has {queues} hardware queues", only.device)),
        },
        ([], Some(_)) => (CannotTell, "which device carries it is not known".to_owned()),
    };
    let cpu = match (direct.cpu_seconds_per_gb, volume.cpu_seconds_per_gb) {
        (Some(direct), Some(volume)) => {
            format!("; {volume:.3} s of processor time for each GB, {direct:.3} s in direct use")
        }
        _ => String::new(),
    };
    (verdict, format!("{why}{cpu}"))
}
