//! The same workload on a device and on each layer above it: the cost of each layer.

use std::collections::{HashMap, HashSet};

use plan::Plan;
use record::{BlockDeviceFacts, HostFacts, PhaseRow, TargetDevices};

use crate::figures::{Figure, RateOf, Subject, TARGET, grouped};
use crate::gate::{
    Gate, Judgement, Kind, Of, Stated, Statement,
    table::{Column, below, change, detail, flag, nanos, number, rate, share, subject, text, word},
};
use crate::scaling::{BoundBy, Limit};
use crate::statistics::{Contrast, Difference};

/// One workload at one point of its sweep on all layers on which it was measured, lowest layer first; at least two
/// layers.
pub type LayerStack = Vec<Stated<Layer>>;

/// A layer at one point of a sweep.
#[derive(Debug, Clone, PartialEq)]
pub struct Layer {
    /// Its target.
    pub target: String,
    /// The measured layer directly below. `None` for the lowest layer.
    pub below: Option<String>,
    /// Whether this is the point at which the lowest layer is fastest, among all points of this workload, phase and
    /// chain of layers.
    pub best: bool,
    /// Its first rate.
    pub rate: f64,
    counts: RateOf,
    /// (Rate of the layer below − own rate) ÷ rate of the layer below, if a difference is shown; negative if this
    /// layer is faster.
    pub loss: Option<f64>,
    /// Its rate ÷ that of the lowest layer. `None` if no difference between both is shown.
    pub share: Option<f64>,
    cpu_ns_per_operation: Option<f64>,
    /// Processor time of the program's processes in seconds per GB, which equals nanoseconds per byte.
    pub cpu_seconds_per_gb: Option<f64>,
    /// The same for everything on the nodes, including kernel threads such as those of `md` and loop devices.
    pub(crate) node_cpu_seconds_per_gb: Option<f64>,
    /// Share of the bytes that a cache of this layer or of one below served or held back: 1 − the device share, but
    /// at least 0. For reads it is the hit rate.
    pub cache_share: Option<f64>,
    /// The devices that carry its bytes, with their hardware queues.
    carried_by: String,
    /// The devices at the bottom, if they are different ones.
    at_the_bottom: String,
    /// For a volume over several devices that were also measured directly: whether a single queue is the limit, and
    /// why.
    ///
    /// Source: study A, which suspects "a single submission/completion queue" behind the read tax of volumes.
    pub single_queue: Option<(Judgement, String)>,
}

impl Statement for Layer {
    const KIND: Kind = Kind::Layer;
    const OF: Of = Of::Point;
    const COUNTS: Option<fn(&Self) -> RateOf> = Some(|one| one.counts);
    const CAPTION: &'static str = "The same workload on each layer. Loss: (layer below − this one) ÷ layer \
         below, where a difference is shown; negative where it is faster. Processor time is that of this \
         program with its system calls; that of the node also includes kernel threads and everything else \
         that ran";
    const COLUMNS: &'static [Column<Self>] = &[
        rate("rate_per_second", "rate", "Median of the first rate.", |one| Some(one.rate)),
        subject(text("below", "below", "The layer below.", |one| one.below.clone().unwrap_or_default())),
        change("loss", "loss", "(Below − this one) ÷ below, where a difference is shown.", |one| one.loss),
        share(
            "share",
            "of the lowest",
            "Its rate ÷ that of the lowest layer, where a difference is shown.",
            |one| one.share,
        ),
        number("cpu_seconds_per_gb", "CPU s/GB", "Processor seconds for each 10⁹ bytes.", |one| {
            one.cpu_seconds_per_gb
        }),
        number(
            "node_cpu_seconds_per_gb",
            "of the node",
            "Processor seconds per GB of everything that ran on the node.",
            |one| one.node_cpu_seconds_per_gb,
        ),
        detail(nanos("cpu_per_operation", "cpu per operation", "Processor time.", |one| {
            one.cpu_ns_per_operation
        })),
        share("caches", "caches", "1 − device bytes ÷ bytes of tasks, not below 0.", |one| {
            one.cache_share
        }),
        detail(flag("best", "best", "The lowest layer is fastest here.", |one| Some(one.best))),
        word("carried_by", "carried by", "The devices under it, with their queues.", |one| &one.carried_by),
        word("at_the_bottom", "at the bottom", "The lowest devices, if different.", |one| &one.at_the_bottom),
        below(text(
            "single_queue",
            "single queue",
            "Whether the single queue of a volume is the limit.",
            |one| {
                let told = one.single_queue.iter();
                told.map(|(judgement, why)| format!("{}: {why}", supported(*judgement))).collect()
            },
        )),
    ];
}

/// The kernel's name of a device, and its number of hardware queues. `None` if it has none of its own, like a driver
/// that passes requests on, or does not report them.
type DeviceQueues = (String, Option<u32>);

/// Processor time of everything on the nodes per byte, over the counted passes.
fn node_cpu_ns_per_byte(figure: &Figure) -> Option<f64> {
    let cpu: Option<Vec<f64>> =
        figure.counted().map(|one| one.phase.node_cpu_ns.map(|ns| ns as f64)).collect();
    let bytes: u64 = figure.counted().map(|one| one.phase.bytes()).sum();
    cpu.filter(|_| bytes > 0).map(|all| all.iter().sum::<f64>() / bytes as f64)
}

/// Formats the totals, as in `12 devices, 48 queues`.
fn queues_of(all: &[DeviceQueues]) -> String {
    let of = |queues: Option<u32>| match queues {
        Some(1) => "1 queue".to_owned(),
        Some(count) => format!("{count} queues"),
        None => "no queue of its own".to_owned(),
    };
    match all {
        [] => String::new(),
        [(device, queues)] => format!("{device}: {}", of(*queues)),
        _ => format!("{} devices, {}", all.len(), of(sum(all))),
    }
}

fn sum(all: &[DeviceQueues]) -> Option<u32> {
    all.iter().map(|(_, queues)| *queues).sum()
}

/// The stacks of all workloads that were measured at the same point on several layers above each other; those at
/// which the lowest layer is fastest come first.
pub(crate) fn layers(gate: &Gate<'_>, host: Option<&HostFacts>, limits: &[BoundBy]) -> Vec<LayerStack> {
    let chains = chains(gate.plan);
    let points = grouped(gate.subjects.iter().filter(|_| !chains.is_empty()), |one| one.place(&[TARGET]));
    let mut stacks: Vec<(bool, usize, Vec<&Subject<'_>>)> = Vec::new();
    for point in &points {
        for (number, chain) in chains.iter().enumerate() {
            let of_layer = |name: &&str| point.iter().find(|one| one.case.target == *name).copied();
            let layers: Vec<&Subject<'_>> = chain.iter().filter_map(of_layer).collect();
            stacks.extend((layers.len() > 1).then_some((false, number, layers)));
        }
    }
    // Each layer above the lowest is compared with the one below it and with the lowest.
    let family: usize = stacks.iter().map(|(.., layers)| 2 * layers.len() - 3).sum();
    let alike = grouped(0..stacks.len(), |&place| {
        let (_, chain, layers) = &stacks[place];
        (*chain, layers[0].case.group.as_str(), layers[0].figure.phase, layers.len())
    });
    for places in alike {
        // The first of the fastest ones.
        let rate = |place: usize| stacks[place].2[0].rate();
        let best = places.into_iter().rev().max_by(|&a, &b| rate(a).total_cmp(&rate(b)));
        best.into_iter().for_each(|best| stacks[best].0 = true);
    }
    stacks.sort_by_key(|(best, ..)| !best);
    let stack = |(best, _, layers): &(bool, usize, Vec<_>)| stack(gate, layers, family, *best, host, limits);
    stacks.iter().map(stack).collect()
}

/// The chains of targets from each highest layer down, listed lowest first.
fn chains(plan: &Plan) -> Vec<Vec<&str>> {
    let targets = &plan.criteria.targets;
    let below: HashMap<&str, &str> =
        targets.iter().filter_map(|one| Some((one.name.as_str(), one.above.as_deref()?))).collect();
    let carrying: HashSet<&str> = below.values().copied().collect();
    let highest = targets.iter().map(|one| one.name.as_str());
    let highest = highest.filter(|name| below.contains_key(name) && !carrying.contains(name));
    let chain = |name| {
        // A record may be untrusted: a cycle of layers ends after all targets.
        let down = std::iter::successors(Some(name), |at| below.get(at).copied());
        let mut chain: Vec<&str> = down.take(targets.len()).collect();
        chain.reverse();
        chain
    };
    highest.map(chain).collect()
}

fn stack(
    gate: &Gate<'_>,
    layers: &[&Subject<'_>],
    family: usize,
    best: bool,
    host: Option<&HostFacts>,
    limits: &[BoundBy],
) -> LayerStack {
    let carried: Vec<Carried<'_>> = layers.iter().map(|one| Carried::of(one, host)).collect();
    let lowest = layers[0];
    let layer = |(place, one): (usize, &Carried<'_>)| {
        let (subject, figure) = (one.subject, one.subject.figure);
        let direct = place.checked_sub(1).map(|below| &carried[below]);
        let difference = direct.and_then(|direct| gate.difference(direct.subject, subject, family));
        let loss = difference.filter(Difference::is_stated).map(|one| -one.change);
        let busy = limits.iter().any(|one| one.figure == subject.index && one.limit == Limit::Processor);
        // One device and its file system have the same queues.
        let volume_over = direct.filter(|direct| direct.top.len() > 1 && !one.bottom.is_empty());
        let layer = Layer {
            target: subject.case.target.clone(),
            below: direct.map(|direct| direct.subject.case.target.clone()),
            best,
            rate: subject.rate(),
            counts: figure.rate_of(),
            loss,
            share: gate
                .stated_difference(lowest.index, subject.index, family)
                .map(|_| subject.rate() / lowest.rate()),
            cpu_ns_per_operation: figure.cpu_ns_per_operation(),
            cpu_seconds_per_gb: figure.cpu_ns_per(PhaseRow::bytes),
            node_cpu_seconds_per_gb: node_cpu_ns_per_byte(figure),
            cache_share: figure.moved_by_devices().map(|share| (1.0 - share).max(0.0)),
            carried_by: queues_of(&one.top),
            at_the_bottom: if one.bottom == one.top { String::new() } else { queues_of(&one.bottom) },
            single_queue: volume_over.map(|direct| single_queue(direct, one, difference.as_ref(), busy)),
        };
        let inputs =
            std::iter::once(subject.index).chain(direct.map(|direct| direct.subject.index)).collect();
        match difference {
            Some(difference) => gate.state_difference(inputs, &difference, layer),
            None => gate.state(inputs, layer),
        }
    };
    carried.iter().enumerate().map(layer).collect()
}

/// A layer with the devices that carry its bytes, and the devices at the bottom.
struct Carried<'a> {
    subject: &'a Subject<'a>,
    top: Vec<DeviceQueues>,
    bottom: Vec<DeviceQueues>,
}

impl<'a> Carried<'a> {
    fn of(subject: &'a Subject<'a>, host: Option<&HostFacts>) -> Self {
        let paths: HashSet<String> =
            subject.case.workload.files.targets.iter().map(|path| path.display().to_string()).collect();
        let of = |names: fn(&TargetDevices) -> &[String]| {
            let mut seen = HashSet::new();
            let under = host.into_iter().flat_map(|host| &host.target_devices);
            let names = under.filter(|one| paths.contains(&one.path)).flat_map(names);
            let device = |name: &String| host?.devices.iter().find(|device| device.name == *name);
            let queues = |device: &BlockDeviceFacts| device.hardware_queues.known().copied();
            let names = names.filter(|name| seen.insert(name.as_str()));
            names.filter_map(device).map(|device| (device.name.clone(), queues(device))).collect()
        };
        Self { subject, top: of(|one| &one.top), bottom: of(|one| &one.bottom) }
    }
}

/// The word for whether something is supported.
const fn supported(judgement: Judgement) -> &'static str {
    match judgement {
        Judgement::Holds => "supported",
        Judgement::DoesNotHold => "not supported",
        Judgement::CannotTell | Judgement::NotTested => "cannot be told here",
    }
}

/// Whether a single queue explains why `volume` is slower than the same number of devices used directly.
fn single_queue(
    direct: &Carried<'_>,
    volume: &Carried<'_>,
    difference: Option<&Difference>,
    busy: bool,
) -> (Judgement, String) {
    const CANNOT_TELL: Judgement = Judgement::CannotTell;
    const NOT_SUPPORTED: Judgement = Judgement::DoesNotHold;
    let untold = match difference.map(|one| (one.outcome, one)) {
        None => Some("there is no rate of both to compare".to_owned()),
        Some((Contrast::TooFew, one)) => {
            Some(format!("{} repetitions do not tell whether there is a loss", one.n.0.min(one.n.1)))
        }
        Some((Contrast::NotShown, _)) => Some("no loss was shown".to_owned()),
        Some((Contrast::Higher, _)) => Some("the volume is faster".to_owned()),
        Some((Contrast::Lower, _)) => None,
    };
    if let Some(why) = untold {
        return (CANNOT_TELL, why);
    }
    if busy {
        return (CANNOT_TELL, "the processors were busy with the volume, and may be the limit".to_owned());
    }
    let members = sum(&volume.bottom).or_else(|| sum(&direct.top));
    let (verdict, why) = match (volume.top.as_slice(), members) {
        ([_, _, ..], Some(members)) => (
            NOT_SUPPORTED,
            format!("there is no volume device: requests go to {members} queues of its members"),
        ),
        (_, None) => (CANNOT_TELL, "its members do not report their queues".to_owned()),
        ([(device, None)], Some(members)) if volume.bottom.len() > 1 => (
            NOT_SUPPORTED,
            format!(
                "{device} has no queue of its own: its driver passes requests on to {members} queues of its members"
            ),
        ),
        ([(device, None)], _) => (CANNOT_TELL, format!("{device} does not report its queues")),
        ([(device, Some(1))], Some(members)) if members > 1 || direct.top.len() > 1 => {
            let of_direct = sum(&direct.top).unwrap_or(members);
            (
                Judgement::Holds,
                format!("{device} has 1 hardware queue, the devices in direct use have {of_direct}"),
            )
        }
        ([(device, Some(queues))], _) => (NOT_SUPPORTED, format!("{device} has {queues} hardware queues")),
        ([], _) => (CANNOT_TELL, "which device carries it is not known".to_owned()),
    };
    let cpu = match [direct, volume].map(|one| one.subject.figure.cpu_ns_per(PhaseRow::bytes)) {
        [Some(direct), Some(volume)] => {
            format!("; {volume:.3} s of processor time for each GB, {direct:.3} s in direct use")
        }
        _ => String::new(),
    };
    (verdict, format!("{why}{cpu}"))
}
