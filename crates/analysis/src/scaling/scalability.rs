//! The gain from several devices, and the cost of a layout: scalability and tax.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::mem::Discriminant;

use plan::{Backend, Bytes, Order, Phase, Sharing, SyncRule};

use crate::figures::{RateOf, Subject, TARGET, bytes_of_one, grouped, texts, value_of};
use crate::gate::{
    Chosen, Gate, Kind, Of, Quantity, Stated, Statement, Value,
    table::{Column, any, change, count, number, rate, share, subject, word},
};

/// With more targets than this, each is only compared with the first, so that the table grows linearly with the
/// number of targets.
pub const TAXED_TARGETS_MAX: usize = 12;

/// A rate compared with the sum of single devices.
#[derive(Debug, Clone, PartialEq)]
pub struct Scaling {
    /// The number of devices.
    pub devices: u32,
    /// Median of the first rate.
    pub rate: f64,
    /// The best of one device with any of its sizes and tasks.
    pub baseline: f64,
    /// One device with the same work. `None` if it was not measured.
    pub same_work: Option<f64>,
    /// What both count.
    pub counts: RateOf,
    /// Rate ÷ (devices × baseline).
    pub share: f64,
    /// The confidence interval of the share, at the level of the test. `None` if there are too few repetitions.
    pub interval: Option<(f64, f64)>,
    /// Rate ÷ that of one device with the same work.
    pub ratio: Option<f64>,
    /// The part of it that can be reached with the number of tasks.
    pub balance_bound: Option<f64>,
    /// Rate ÷ rack units, if the study gives them.
    pub rate_per_rack_unit: Option<f64>,
}

impl Statement for Scaling {
    const KIND: Kind = Kind::Scaling;
    const OF: Of = Of::Point;
    const COUNTS: Option<fn(&Self) -> RateOf> = Some(|one| one.counts);
    const CAPTION: &'static str = "Rate ÷ (devices × the best rate of one device), and ÷ the rate of one device with the same work: the same \
         size, depth, path and order, and as many tasks or as many for each device. The best point of each target \
         stands first.";
    const COLUMNS: &'static [Column<Self>] = &[
        rate("rate_per_second", "rate", "median of the first rate", |one| Some(one.rate)),
        count("devices", "devices", "devices of the target", |one| Some(one.devices.into())),
        rate(
            "baseline_per_second",
            "best of one",
            "the best of one device, with any of its sizes and tasks; the second in `figures`",
            |one| Some(one.baseline),
        ),
        rate(
            "same_work_per_second",
            "one, same work",
            "one device with the same work, the last in `figures`; empty where that was not measured",
            |one| one.same_work,
        ),
        number("ratio", "× one", "rate ÷ that of one device with the same work", |one| one.ratio),
        share("share", "scaling", "rate ÷ (devices × baseline)", |one| Some(one.share)),
        any(
            "interval",
            "between",
            "interval of the share, with 99 % confidence",
            Quantity::Interval,
            |one| Value::or_none(one.interval, |(low, high)| Value::Shares(low, high)),
        ),
        share(
            "balance_bound",
            "tasks allow",
            "share of the sum that this number of tasks can reach, where it is below 1",
            |one| one.balance_bound.filter(|&bound| bound < 1.0),
        ),
        rate("rate_per_rack_unit", "per rack unit", "rate ÷ rack units", |one| one.rate_per_rack_unit),
    ];
}

/// The loss or gain of a target compared with another, both at the best of the points at which both were measured.
#[derive(Debug, Clone, PartialEq)]
pub struct LayerOverhead {
    /// The target used as reference.
    pub reference: String,
    /// The reference's position in the sweep.
    reference_at: String,
    /// The reference's rate.
    pub reference_rate: f64,
    /// The rate of the other target.
    pub rate: f64,
    /// What both count.
    pub counts: RateOf,
    /// (Reference − rate) ÷ reference; negative if the other target is faster.
    pub share: f64,
    /// The confidence interval of the share, at the level of the test.
    pub interval: Option<(f64, f64)>,
}

impl Statement for LayerOverhead {
    const KIND: Kind = Kind::LayerOverhead;
    const OF: Of = Of::Point;
    const COUNTS: Option<fn(&Self) -> RateOf> = Some(|one| one.counts);
    const CAPTION: &'static str = "What a target loses against the reference, each at its own best among the \
         points at which both were measured: (reference − rate) ÷ reference. Negative where it is faster; \
         then the gain is rate ÷ reference − 1.";
    const COLUMNS: &'static [Column<Self>] = &[
        rate("rate_per_second", "rate", "median of the first rate", |one| Some(one.rate)),
        subject(word(
            "reference",
            "reference",
            "the target it is compared with, whose figure is the second in `figures`",
            |one| &one.reference,
        )),
        subject(word("reference_at", "its point", "where in its sweep the reference was measured", |one| {
            &one.reference_at
        })),
        rate("reference_per_second", "its rate", "the rate of the reference", |one| Some(one.reference_rate)),
        change("share", "tax", "(reference − rate) ÷ reference", |one| Some(one.share)),
        any(
            "interval",
            "between",
            "interval of the tax, at the level of the test",
            Quantity::Interval,
            |one| Value::or_none(one.interval, |(low, high)| Value::Changes(low, high)),
        ),
        change("gain", "gain", "rate ÷ reference − 1, where it is faster", |one| {
            (one.share < 0.0).then(|| one.rate / one.reference_rate - 1.0)
        }),
    ];
}

/// Rate ÷ (devices × rate of one device). Returns `None` if the product is not above 0.
///
/// Source: study A, "scalability": 24.1 GB/s for twelve cards with 2.05 GB/s each are 98.0 %.
///
/// ```
/// let share = analysis::scaling::scalability(24.1e9, 12.0, 2.05e9).expect("twelve cards");
/// assert_eq!(format!("{:.1} %", share * 100.0), "98.0 %");
/// ```
#[must_use]
pub fn scalability(rate: f64, devices: f64, baseline: f64) -> Option<f64> {
    let sum = devices * baseline;
    (sum > 0.0).then(|| rate / sum)
}

/// (Reference − rate) ÷ reference, negative if the rate is the higher one. Returns `None` if the reference is not
/// above 0.
///
/// Source: study A, "tax": 29.9 GB/s after 32.9 GB/s before is a tax of 9.1 %.
///
/// ```
/// let share = analysis::scaling::tax(32.9e9, 29.9e9).expect("a reference");
/// assert_eq!(format!("{:.1} %", share * 100.0), "9.1 %");
/// ```
#[must_use]
pub fn tax(reference: f64, rate: f64) -> Option<f64> {
    (reference > 0.0).then(|| (reference - rate) / reference)
}

/// The properties that must be equal to compare the best figures: target, nodes, phase, the mix, and the operation
/// size if the rate is limited by transfers and not by bytes per second, as for random ones.
type Alike<'a> = (&'a str, Option<u64>, Phase, Option<u64>, Option<u8>);

fn alike<'a>(subject: &Subject<'a>) -> Alike<'a> {
    let (case, phase) = (subject.case, subject.figure.phase);
    let sized = subject.is_random() || !phase.is_transfers();
    let read_percent = (phase == Phase::Mixed).then_some(case.workload.read_percent);
    let bytes = bytes_of_one(case, phase).filter(|_| sized).map(|bytes| bytes.0);
    (&case.target, subject.nodes(), phase, bytes, read_percent)
}

/// The conditions of comparable figures that only differ in their targets: how much was requested at a time, and on
/// which path.
fn conditions(subject: &Subject<'_>) -> Conditions {
    let workload = &subject.case.workload;
    let load = (workload.tasks, workload.geometry.transfer, std::mem::discriminant(&workload.order));
    let path = (workload.backend, workload.direct, workload.sync, workload.files.sharing);
    (load, path, devices(subject))
}

type Conditions = ((u32, Bytes, Discriminant<Order>), (Backend, bool, SyncRule, Sharing), Option<u32>);

/// What figures of several devices and of one have in common before their sizes are compared: [`alike`], the backend
/// with its depth, direct I/O, what is synced if it writes, whether files are shared, and the kind of order.
type WorkKind<'a> = (Alike<'a>, (Backend, bool, SyncRule, Sharing, Discriminant<Order>));

fn of_kind<'a>(subject: &Subject<'a>) -> WorkKind<'a> {
    let workload = &subject.case.workload;
    let sync = if subject.figure.phase.writes() { workload.sync } else { SyncRule::default() };
    let order = std::mem::discriminant(&workload.order);
    (alike(subject), (workload.backend, workload.direct, sync, workload.files.sharing, order))
}

/// The figures that stand for one device.
#[derive(Default)]
struct Baselines<'a, 'b> {
    /// The best of each kind of work.
    bests: HashMap<WorkKind<'a>, Chosen<'b, 'a>>,
    /// The best of those with the same size and number of tasks.
    same: HashMap<(WorkKind<'a>, Option<Bytes>, u32), Chosen<'b, 'a>>,
    /// The sizes.
    sizes: HashSet<(WorkKind<'a>, Option<Bytes>)>,
}

impl<'a, 'b> Baselines<'a, 'b> {
    /// Of the figures `all`, those that are not disqualified.
    fn of(gate: &Gate<'a>, all: &[&'b Subject<'a>]) -> Self {
        let load = |one: &Subject<'a>| (of_kind(one), size(one), one.case.workload.tasks);
        let best = |these: Vec<&'b Subject<'a>>| Some((these[0], gate.best(&these)?));
        let bests = grouped(all.iter().copied(), |one| of_kind(one)).into_iter().filter_map(best);
        let same = grouped(all.iter().copied(), |one| load(one)).into_iter().filter_map(best);
        Self {
            bests: bests.map(|(one, best)| (of_kind(one), best)).collect(),
            same: same.map(|(one, best)| (load(one), best)).collect(),
            sizes: all.iter().map(|one| (of_kind(one), size(one))).collect(),
        }
    }

    /// The best of one device with work of `kind`, if it was measured with the size of `subject` too.
    fn best(&self, kind: WorkKind<'a>, subject: &Subject<'a>) -> Option<&Chosen<'b, 'a>> {
        self.bests.get(&kind).filter(|_| self.sizes.contains(&(kind, size(subject))))
    }

    /// The figure with work of `kind`, the size of `subject`, and its number of tasks or else that for each device.
    fn same_work(&self, kind: WorkKind<'a>, subject: &Subject<'a>) -> Option<&'b Subject<'a>> {
        let (tasks, devices) = (subject.case.tasks()?, devices(subject)?.max(1));
        let for_each = tasks.is_multiple_of(devices).then(|| tasks / devices);
        let found = [Some(tasks), for_each].into_iter().flatten();
        let found = found.filter_map(|tasks| self.same.get(&(kind, size(subject), tasks)));
        found.map(|found| found.best).next()
    }
}

fn size(subject: &Subject<'_>) -> Option<Bytes> {
    bytes_of_one(subject.case, subject.figure.phase)
}

/// For each target that was measured with an increasing number of members, the figures with the fewest.
fn fewest<'a, 'b>(gate: &'b Gate<'a>) -> Vec<&'b Subject<'a>> {
    let swept = gate.subjects.iter().filter(|one| value_of(one.case, "members").is_some());
    let of_target = grouped(swept, |one| of_kind(one)).into_iter().flat_map(|all| {
        let least = all.iter().map(|one| one.case.members()).min().flatten();
        all.into_iter().filter(move |one| one.case.members() == least)
    });
    of_target.collect()
}

/// Whether the clients of two figures are comparable. Figures measured on the storage server are not compared with
/// those measured over a network, nor with figures that may be either.
fn same_client(one: &Subject<'_>, other: &Subject<'_>) -> bool {
    one.client() == other.client()
}

/// Every figure of a target with a baseline, compared with figures of the baseline with the same phase, path, order, mix
/// and number of nodes, or else of one node, among which one has the same size: with the best of them, and with the one
/// of the same work. If no baseline is named and `members` is swept, the fewest members of the same target are the
/// baseline. If the study does not give the number of devices of a target, it is the number of its paths. With a
/// node-local target, each node has its own devices. The best figure of each target and baseline comes first.
#[must_use]
pub(crate) fn scaling(gate: &Gate<'_>) -> Vec<Stated<Scaling>> {
    let named = Baselines::of(gate, &gate.subjects.iter().collect::<Vec<_>>());
    let fewest = Baselines::of(gate, &fewest(gate));
    let of_figure = |subject: &Subject<'_>| {
        let kind @ ((_, nodes, phase, bytes, mix), path) = of_kind(subject);
        let (from, kind_of_one) = match subject.target?.baseline.as_deref() {
            Some(baseline) => {
                // A device is often measured on one node only.
                let kinds = [nodes, Some(1)].map(|nodes| ((baseline, nodes, phase, bytes, mix), path));
                (&named, kinds.into_iter().find(|&kind| named.best(kind, subject).is_some())?)
            }
            None => (&fewest, kind),
        };
        let is_fewer = |one: &Subject<'_>| {
            let members = one.case.members().zip(subject.case.members());
            subject.target.is_some_and(|target| target.baseline.is_some())
                || members.is_some_and(|(few, many)| few < many)
        };
        let Chosen { best: one, of, .. } = from.best(kind_of_one, subject)?;
        if !is_fewer(one) || !same_client(one, subject) {
            return None;
        }
        let same_work = from.same_work(kind_of_one, subject).filter(|one| one.rate() > 0.0);
        let devices = devices(subject)?;
        let all = f64::from(devices) / devices_of_baseline(one)?;
        let units = subject.target.map_or(0.0, |target| target.rack_units);
        let value = Scaling {
            devices,
            rate: subject.rate(),
            baseline: one.rate(),
            same_work: same_work.map(Subject::rate),
            counts: subject.figure.rate_of(),
            share: scalability(subject.rate(), all, one.rate())?,
            interval: gate.difference(one, subject, *of).and_then(|found| found.interval).map(
                |(low, high)| {
                    let of_share = |change: f64| (1.0 + change) / all;
                    (of_share(low), of_share(high))
                },
            ),
            ratio: same_work.map(|same| subject.rate() / same.rate()),
            balance_bound: subject.balance_bound(),
            rate_per_rack_unit: (units > 0.0).then(|| subject.rate() / units),
        };
        let is_best = named.bests.get(&kind).is_some_and(|found| found.best.index == subject.index);
        let mut inputs = vec![subject.index, one.index];
        inputs.extend(same_work.map(|same| same.index).filter(|same| !inputs.contains(same)));
        Some((!is_best, gate.state(inputs, value)))
    };
    let mut all: Vec<_> = gate.subjects.iter().filter_map(of_figure).collect();
    all.sort_by_key(|(is_other, _)| *is_other);
    all.into_iter().map(|(_, stated)| stated).collect()
}

/// The number of devices of a baseline, if it is known.
fn devices_of_baseline(one: &Subject<'_>) -> Option<f64> {
    let known = one.case.members().or_else(|| one.target.map(|target| target.devices.max(1)));
    Some(f64::from(known.unwrap_or(1).saturating_mul(one.targets_of_all_nodes()?)))
}

fn devices(subject: &Subject<'_>) -> Option<u32> {
    Some(subject.devices().saturating_mul(subject.targets_of_all_nodes()?))
}

/// The best figures of two targets, at the points at which both were measured, or at all points if there are no
/// common ones.
struct Pair<'b, 'a> {
    reference: Chosen<'b, 'a>,
    other: Chosen<'b, 'a>,
    in_common: bool,
}

impl<'b, 'a> Pair<'b, 'a> {
    fn of(gate: &Gate<'a>, reference: &Points<'b, 'a>, other: &Points<'b, 'a>) -> Option<Self> {
        let shared = |of: &Points<'b, 'a>, with: &Points<'b, 'a>| -> Vec<&'b Subject<'a>> {
            let with: HashSet<&Conditions> = with.iter().map(|(at, _)| at).collect();
            of.iter().filter(|(at, _)| with.contains(at)).map(|(_, one)| *one).collect()
        };
        let common = (shared(reference, other), shared(other, reference));
        let in_common = !common.0.is_empty();
        let all = |of: &Points<'b, 'a>| of.iter().map(|(_, one)| *one).collect();
        let (ones, others) = if in_common { common } else { (all(reference), all(other)) };
        Some(Self { reference: gate.best(&ones)?, other: gate.best(&others)?, in_common })
    }

    /// The number of points, each of which could have been the best.
    fn among(&self) -> usize {
        self.reference.of.max(self.other.of)
    }
}

/// The figures of a target with their [`conditions`].
type Points<'b, 'a> = Vec<(Conditions, &'b Subject<'a>)>;

/// The best figure of each target compared with that of each target before it in the study, at the points at which
/// both were measured, for each phase, order and mix, on the largest number of nodes with such points. If there are
/// no common points, the statement is withheld. Targets that are not comparable are left out: those with different
/// clients or different numbers of devices, and baselines. A quick run of several directories has
/// [`crate::targets::TargetContrast`] instead.
#[must_use]
pub(crate) fn taxes(gate: &Gate<'_>) -> Vec<Stated<LayerOverhead>> {
    if gate.plan.source.quick_directories().len() > 1 {
        return Vec::new();
    }
    let all = &gate.plan.criteria.targets;
    let baselines: HashSet<&str> = all.iter().filter_map(|target| target.baseline.as_deref()).collect();
    let targets = all.iter().map(|one| one.name.as_str()).filter(|name| !baselines.contains(name));
    let targets: Vec<&str> = targets.collect();
    let groups = grouped(&gate.subjects, |one| alike(one)).into_iter();
    let points: HashMap<Alike<'_>, Points<'_, '_>> = groups
        .map(|all| (alike(all[0]), all.into_iter().map(|one| (conditions(one), one)).collect()))
        .collect();
    let mut seen = HashSet::new();
    let kinds = gate.subjects.iter().map(|one| {
        let (_, nodes, phase, bytes, mix) = alike(one);
        (nodes, phase, bytes, mix)
    });
    let mut kinds: Vec<_> = kinds.filter(|kind| seen.insert(*kind)).collect();
    // The sort is stable: figures with the same number of nodes keep their order.
    kinds.sort_by_key(|(nodes, ..)| Reverse(*nodes));
    let mut pairs: Vec<Pair<'_, '_>> = Vec::new();
    let mut places = HashMap::new();
    for (nodes, phase, bytes, mix) in kinds {
        let of_targets = targets.iter().filter_map(|&name| points.get(&(name, nodes, phase, bytes, mix)));
        let all: Vec<&Points<'_, '_>> = of_targets.collect();
        let references = if all.len() > TAXED_TARGETS_MAX { 1 } else { all.len() };
        for (place, &reference) in all.iter().enumerate().take(references) {
            for &other in &all[place + 1..] {
                let Some(pair) = Pair::of(gate, reference, other) else { continue };
                let (one, other) = (pair.reference.best, pair.other.best);
                let names = (phase, bytes, mix, &one.case.target, &other.case.target);
                let is_alike = same_client(one, other) && devices(one) == devices(other);
                if !is_alike || one.rate() <= 0.0 {
                    continue;
                }
                let place = *places.entry(names).or_insert(pairs.len());
                match pairs.get_mut(place) {
                    None => pairs.push(pair),
                    Some(known) if pair.in_common && !known.in_common => *known = pair,
                    Some(_) => {}
                }
            }
        }
    }
    let family = pairs.iter().filter(|pair| pair.in_common).map(Pair::among).sum();
    let tax_of = |pair: &Pair<'_, '_>| {
        let (reference, other) = (pair.reference.best, pair.other.best);
        let difference = gate.difference(reference, other, family)?;
        let value = LayerOverhead {
            reference: reference.case.target.clone(),
            reference_at: texts(&reference.settings(&[TARGET])).join(", "),
            reference_rate: reference.rate(),
            rate: other.rate(),
            counts: other.figure.rate_of(),
            share: tax(reference.rate(), other.rate())?,
            interval: difference.interval.map(|(low, high)| (-high, -low)),
        };
        let inputs = vec![other.index, reference.index];
        Some(match pair.in_common {
            true => gate.state_difference(inputs, &difference, value),
            false => gate.state_apart(inputs, "no point was measured on both sides", value),
        })
    };
    pairs.iter().filter_map(tax_of).collect()
}
