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
    /// The same for one device.
    pub baseline: f64,
    /// What both count.
    pub counts: RateOf,
    /// Rate ÷ (devices × baseline).
    pub share: f64,
    /// The confidence interval of the share, at the level of the test. `None` if there are too few repetitions.
    pub interval: Option<(f64, f64)>,
    /// Rate ÷ baseline.
    pub ratio: f64,
    /// The part of it that can be reached with the number of tasks.
    pub balance_bound: f64,
    /// Rate ÷ rack units, if the study gives them.
    pub rate_per_rack_unit: Option<f64>,
}

impl Statement for Scaling {
    const KIND: Kind = Kind::Scaling;
    const OF: Of = Of::Point;
    const COUNTS: Option<fn(&Self) -> RateOf> = Some(|one| one.counts);
    const CAPTION: &'static str =
        "Rate ÷ (devices × the rate of one device); the best point of each target stands first.";
    const COLUMNS: &'static [Column<Self>] = &[
        rate("rate_per_second", "rate", "median of the first rate", |one| Some(one.rate)),
        count("devices", "devices", "devices of the target", |one| Some(one.devices.into())),
        rate(
            "baseline_per_second",
            "one device",
            "the same for the baseline figure, the second in `figures`",
            |one| Some(one.baseline),
        ),
        number("ratio", "× one", "rate ÷ baseline", |one| Some(one.ratio)),
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
            |one| Some(one.balance_bound).filter(|&bound| bound < 1.0),
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
type Alike<'a> = (&'a str, u64, Phase, Option<u64>, Option<u8>);

fn alike<'a>(subject: &Subject<'a>) -> Alike<'a> {
    let (case, phase) = (subject.case, subject.figure.phase);
    let sized = subject.is_random() || !phase.is_transfers();
    let read_percent = (phase == Phase::Mixed).then_some(case.workload.read_percent);
    let bytes = sized.then(|| bytes_of_one(case, phase).0);
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

type Conditions = ((u32, Bytes, Discriminant<Order>), (Backend, bool, SyncRule, Sharing), u32);

type Bests<'a, 'b> = HashMap<Alike<'a>, Chosen<'b, 'a>>;

/// The best figures, among those that are not disqualified, if there are any.
fn bests<'a, 'b>(gate: &Gate<'a>, all: impl Iterator<Item = &'b Subject<'a>>) -> Bests<'a, 'b> {
    let best = |all: Vec<&'b Subject<'a>>| Some((alike(all[0]), gate.best(&all)?));
    grouped(all, |one| alike(one)).into_iter().filter_map(best).collect()
}

/// For each target that was measured with an increasing number of members, the best figures with the fewest.
fn fewest<'a, 'b>(gate: &'b Gate<'a>) -> Bests<'a, 'b> {
    let swept = gate.subjects.iter().filter(|one| value_of(one.case, "members").is_some());
    let all = grouped(swept, |one| alike(one)).into_iter().flat_map(|all| {
        let least = all.iter().map(|one| one.case.members()).min().flatten();
        all.into_iter().filter(move |one| one.case.members() == least)
    });
    bests(gate, all)
}

/// Whether the clients of two figures are comparable. Figures measured on the storage server are not compared with
/// those measured over a network, nor with figures that may be either.
fn same_client(one: &Subject<'_>, other: &Subject<'_>) -> bool {
    one.client() == other.client()
}

/// Every figure of a target with a baseline, compared with the baseline's best figure of the same phase, order, mix
/// and number of nodes, or else of one node; for random transfers, of the same size. If no baseline is named and
/// `members` is swept, the fewest members of the same target are the baseline. If the study does not give the number
/// of devices of a target, it is the number of its paths. With a node-local target, each node has its own devices.
/// The best figure of each target and baseline comes first.
#[must_use]
pub(crate) fn scaling(gate: &Gate<'_>) -> Vec<Stated<Scaling>> {
    let (bests, fewest) = (bests(gate, gate.subjects.iter()), fewest(gate));
    let of_figure = |subject: &Subject<'_>| {
        let key @ (_, nodes, phase, bytes, mix) = alike(subject);
        let one = match subject.target?.baseline.as_deref() {
            // A device is often measured on one node only.
            Some(baseline) => {
                [nodes, 1].iter().find_map(|&nodes| bests.get(&(baseline, nodes, phase, bytes, mix)))
            }
            None => fewest.get(&key).filter(|one| {
                one.best.case.members().zip(subject.case.members()).is_some_and(|(few, many)| few < many)
            }),
        };
        let Chosen { best: one, of, .. } = one.filter(|one| same_client(one.best, subject))?;
        let devices = devices(subject);
        let of_baseline = one.case.members().or_else(|| one.target.map(|target| target.devices.max(1)));
        let of_baseline = of_baseline.unwrap_or(1).saturating_mul(one.targets_of_all_nodes());
        let each = one.rate() / f64::from(of_baseline);
        let units = subject.target.map_or(0.0, |target| target.rack_units);
        let value = Scaling {
            devices,
            rate: subject.rate(),
            baseline: one.rate(),
            counts: subject.figure.rate_of(),
            share: scalability(subject.rate(), f64::from(devices), each)?,
            interval: gate.difference(one, subject, *of).and_then(|found| found.interval).map(
                |(low, high)| {
                    let of_share = |change: f64| (1.0 + change) * one.rate() / (f64::from(devices) * each);
                    (of_share(low), of_share(high))
                },
            ),
            ratio: scalability(subject.rate(), 1.0, one.rate())?,
            balance_bound: subject.balance_bound(),
            rate_per_rack_unit: (units > 0.0).then(|| subject.rate() / units),
        };
        let is_best = bests.get(&key).is_some_and(|found| found.best.index == subject.index);
        Some((!is_best, gate.state(vec![subject.index, one.index], value)))
    };
    let mut all: Vec<_> = gate.subjects.iter().filter_map(of_figure).collect();
    all.sort_by_key(|(is_other, _)| *is_other);
    all.into_iter().map(|(_, stated)| stated).collect()
}

fn devices(subject: &Subject<'_>) -> u32 {
    subject.devices().saturating_mul(subject.targets_of_all_nodes())
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
/// clients or different numbers of devices, and baselines.
#[must_use]
pub(crate) fn taxes(gate: &Gate<'_>) -> Vec<Stated<LayerOverhead>> {
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
            false => gate.state_apart(inputs, value),
        })
    };
    pairs.iter().filter_map(tax_of).collect()
}
