//! The same workload on a device and on each layer above it: what every layer costs.

use std::collections::{HashMap, HashSet};

use plan::{Phase, Plan, Setting};
use record::{Fact, HostFacts, PhaseRow};

use crate::subject::{Subject, ValueKey, subjects};
use crate::{BoundBy, Figure, Limit, tax};

/// A tax up to this share is no tax to be explained.
pub const TAX_MIN: f64 = 0.02;
/// Nor is one up to so many standard deviations of the repetitions of both sides.
pub const TAX_DEVIATIONS_MIN: f64 = 2.0;
/// Bytes of the GB in "seconds of processor time for each GB".
const GIGABYTE: f64 = 1e9;

/// One workload at one point of its sweep on all layers that it was measured on, the lowest first.
#[derive(Debug, Clone, PartialEq)]
pub struct LayerStack {
    /// The workload.
    pub group: String,
    /// The phase.
    pub phase: Phase,
    /// The swept keys and their values, without the target.
    pub settings: Vec<Setting>,
    /// At least two.
    pub steps: Vec<LayerStep>,
    /// Of the points of this workload, phase and chain of layers the one at which the lowest layer is fastest.
    pub best: bool,
}

/// A layer.
#[derive(Debug, Clone, PartialEq)]
pub struct LayerStep {
    /// Its target.
    pub target: String,
    /// The figure.
    pub figure: usize,
    /// Its first rate.
    pub rate: f64,
    /// (Rate of the layer below − its own) ÷ that of the layer below; negative where it is faster. None of the
    /// lowest.
    pub loss: Option<f64>,
    /// The loss is within the scatter of the repetitions, or below [`TAX_MIN`].
    pub within_noise: bool,
    /// Its rate ÷ that of the lowest layer.
    pub share: f64,
    /// Processor time of the program's processes for each operation, in nanoseconds.
    pub cpu_ns_per_operation: Option<f64>,
    /// The same in seconds for each GB.
    pub cpu_seconds_per_gb: Option<f64>,
    /// Bytes that the devices under it moved ÷ bytes that the tasks moved.
    pub device_share: Option<f64>,
    /// Share of the bytes that a cache of this layer or of one below answered or held back: 1 − the device
    /// share, and not below 0. Of reads it is the hit rate.
    pub cache_share: Option<f64>,
    /// Hardware queues of the devices that carry its bytes.
    pub top: Vec<DeviceQueues>,
    /// Those of the devices at the bottom, where it is stacked; else the same.
    pub bottom: Vec<DeviceQueues>,
}

/// The queues of a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceQueues {
    /// The kernel's name.
    pub device: String,
    /// Hardware queues; none where it has none of its own, as a driver that passes requests on, or tells none.
    pub queues: Option<u32>,
    /// Requests that one queue holds.
    pub requests: Option<u32>,
}

/// A volume against the direct use of as many devices: is one queue the limit?
///
/// Source: study A, which suspects "a single submission/completion queue" behind the read tax of volumes.
#[derive(Debug, Clone, PartialEq)]
pub struct QueueProbe {
    /// The stack, by its place in [`crate::Findings::layers`].
    pub stack: usize,
    /// The step of the volume in it; the one before it is the direct use.
    pub step: usize,
    /// What the volume loses.
    pub tax: f64,
    /// What can be said of the hypothesis.
    pub verdict: QueueVerdict,
    /// Why, with the figures that decided.
    pub because: String,
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

/// The stacks of all workloads that were measured on several layers of each other at the same point.
#[must_use]
pub fn layer_stacks(plan: &Plan, figures: &[Figure], host: Option<&HostFacts>) -> Vec<LayerStack> {
    of_subjects(plan, &subjects(plan, figures), host)
}

/// A point of a sweep: workload, phase, and swept values without the target.
type PointKey<'a> = (&'a str, Phase, Vec<(&'a str, ValueKey<'a>)>);

/// As [`layer_stacks`], of figures that were looked up already.
pub(crate) fn of_subjects(
    plan: &Plan,
    subjects: &[Subject<'_>],
    host: Option<&HostFacts>,
) -> Vec<LayerStack> {
    let chains = chains(plan);
    if chains.is_empty() {
        return Vec::new();
    }
    let mut places: HashMap<PointKey<'_>, usize> = HashMap::new();
    let mut points: Vec<Vec<&Subject<'_>>> = Vec::new();
    for subject in subjects {
        let settings = subject.case.settings.iter().filter(|one| one.key != crate::subject::TARGET);
        let settings = settings.map(|one| (one.key.as_str(), ValueKey::from(&one.value))).collect();
        let key = (subject.case.group.as_str(), subject.figure.phase, settings);
        let place = *places.entry(key).or_insert_with(|| {
            points.push(Vec::new());
            points.len() - 1
        });
        points[place].push(subject);
    }
    let mut stacks: Vec<(usize, LayerStack)> = Vec::new();
    for point in &points {
        for (number, chain) in chains.iter().enumerate() {
            let of_layer = |name: &&str| point.iter().find(|one| one.case.target == *name).copied();
            let layers: Vec<&Subject<'_>> = chain.iter().filter_map(of_layer).collect();
            stacks.extend(stack(&layers, host).map(|stack| (number, stack)));
        }
    }
    mark_best(&mut stacks);
    stacks.into_iter().map(|(_, stack)| stack).collect()
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

fn mark_best(stacks: &mut [(usize, LayerStack)]) {
    let mut best: HashMap<(usize, String, Phase, usize), (usize, f64)> = HashMap::new();
    for (place, (chain, stack)) in stacks.iter().enumerate() {
        let key = (*chain, stack.group.clone(), stack.phase, stack.steps.len());
        let rate = stack.steps[0].rate;
        let known = best.entry(key).or_insert((place, rate));
        if rate > known.1 {
            *known = (place, rate);
        }
    }
    for (place, _) in best.into_values() {
        stacks[place].1.best = true;
    }
}

fn stack(layers: &[&Subject<'_>], host: Option<&HostFacts>) -> Option<LayerStack> {
    let (first, _) = layers.split_first().filter(|(_, above)| !above.is_empty())?;
    let step = |(place, subject): (usize, &&Subject<'_>)| {
        let below = place.checked_sub(1).map(|below| layers[below]);
        let loss = below.and_then(|below| tax(below.rate(), subject.rate()));
        let figure = subject.figure;
        let device_share = figure.moved_by_devices();
        let (top, bottom) = queues(subject, host);
        LayerStep {
            target: subject.case.target.clone(),
            figure: subject.index,
            rate: subject.rate(),
            loss,
            within_noise: below.zip(loss).is_some_and(|(below, loss)| loss.abs() <= noise(below, subject)),
            share: if first.rate() > 0.0 { subject.rate() / first.rate() } else { 0.0 },
            cpu_ns_per_operation: figure.cpu_ns_per_operation(),
            cpu_seconds_per_gb: cpu_seconds_per_gb(figure),
            device_share,
            cache_share: device_share.map(|share| (1.0 - share).max(0.0)),
            top,
            bottom,
        }
    };
    Some(LayerStack {
        group: first.case.group.clone(),
        phase: first.figure.phase,
        settings: first.settings(),
        steps: layers.iter().enumerate().map(step).collect(),
        best: false,
    })
}

/// What a loss must be beyond to be one.
fn noise(below: &Subject<'_>, above: &Subject<'_>) -> f64 {
    let variation = |subject: &Subject<'_>| subject.figure.headline().variation;
    let both = variation(below).hypot(variation(above));
    if both.is_finite() { (TAX_DEVIATIONS_MIN * both).max(TAX_MIN) } else { TAX_MIN }
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
    Some(DeviceQueues {
        device: name.to_owned(),
        queues: known(&device.hardware_queues),
        requests: known(&device.queue_requests),
    })
}

/// A probe for each step of a stack from several devices to a volume over several.
#[must_use]
pub fn queue_probes(stacks: &[LayerStack], limits: &[BoundBy]) -> Vec<QueueProbe> {
    let mut probes = Vec::new();
    for (place, stack) in stacks.iter().enumerate() {
        for (step, pair) in stack.steps.windows(2).enumerate() {
            let (direct, volume) = (&pair[0], &pair[1]);
            // One device and its file system have the same queues.
            if direct.top.len() < 2 || volume.bottom.is_empty() {
                continue;
            }
            let Some(tax) = volume.loss else { continue };
            let busy = limits.iter().any(|one| one.figure == volume.figure && one.limit == Limit::Processor);
            let (verdict, because) = judged(direct, volume, tax, busy);
            probes.push(QueueProbe { stack: place, step: step + 1, tax, verdict, because });
        }
    }
    probes
}

fn judged(direct: &LayerStep, volume: &LayerStep, tax: f64, busy: bool) -> (QueueVerdict, String) {
    use QueueVerdict::{CannotTell, NotSupported, Supported};
    if volume.within_noise || tax <= 0.0 {
        return (CannotTell, format!("there is no tax to explain: {:+.1} %", tax * 100.0));
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
