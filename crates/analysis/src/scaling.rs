//! What devices bring together, and what a layout costs: scalability and tax.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use plan::{Client, Order, Phase, SettingValue};

use crate::amount::bytes_of_one;
use crate::gate::{self, Gate, Stated};
use crate::headline::RateOf;
use crate::subject::Subject;
use crate::table::{Column, Of, Quantity, Statement, Value};

/// With more targets than this each is compared with the first alone, so that the table grows in
/// step with the targets.
pub const TAXED_TARGETS_MAX: usize = 12;

/// A rate against the sum of single devices.
#[derive(Debug, Clone, PartialEq)]
pub struct Scaling {
    /// Devices.
    pub devices: u32,
    /// Median of the first rate.
    pub rate: f64,
    /// The same of one device.
    pub baseline: f64,
    /// What both count.
    pub counts: RateOf,
    /// Rate ÷ (devices × baseline).
    pub share: f64,
    /// Where that lies, at the level of the test; none where there are too few repetitions.
    pub interval: Option<(f64, f64)>,
    /// Rate ÷ baseline.
    pub ratio: f64,
    /// What the number of tasks can reach of it.
    pub balance_bound: f64,
    /// Rate ÷ rack units, where the study counts them.
    pub rate_per_rack_unit: Option<f64>,
}

impl Statement for Scaling {
    const KIND: gate::Kind = gate::Kind::Scaling;
    const OF: Of = Of::Point;
    const CAPTION: &'static str =
        "Rate ÷ (devices × the rate of one device); the best point of each target stands first.";
    const COLUMNS: &'static [Column<Self>] = &[
        Column::rate(
            "rate_per_second",
            |one: &Self| Value::Rate(one.rate, one.counts),
            "median of the first rate",
        )
        .headed("rate"),
        Column::count("devices", |one| Some(one.devices.into()), "devices of the target"),
        Column::rate(
            "baseline_per_second",
            |one: &Self| Value::Rate(one.baseline, one.counts),
            "the same of the figure that it is counted from, the second in `figures`",
        )
        .headed("one device"),
        Column::number("ratio", |one: &Self| Some(one.ratio), "rate ÷ baseline").headed("× one"),
        Column::share("share", |one: &Self| Some(one.share), "rate ÷ (devices × baseline)").headed("scaling"),
        Column::new(
            "interval",
            "between",
            Quantity::Interval,
            |one| Value::or_none(one.interval, |(low, high)| Value::Shares(low, high)),
            "where the share lies, with 99 %",
        ),
        Column::new(
            "balance_bound",
            "tasks allow",
            Quantity::Ratio,
            |one| if one.balance_bound < 1.0 { Value::Share(one.balance_bound) } else { Value::None },
            "share of the sum that so many tasks can reach, where it is below 1",
        ),
        Column::rate(
            "rate_per_rack_unit",
            |one: &Self| Value::or_none(one.rate_per_rack_unit, |rate| Value::Rate(rate, one.counts)),
            "rate ÷ rack units",
        )
        .headed("per rack unit"),
    ];
}

/// What a target loses or gains against another, both at their best.
#[derive(Debug, Clone, PartialEq)]
pub struct Tax {
    /// The target that is compared with.
    pub reference: String,
    /// Its rate.
    pub reference_rate: f64,
    /// That of the other target.
    pub rate: f64,
    /// What both count.
    pub counts: RateOf,
    /// (Reference − rate) ÷ reference; negative where the other is faster.
    pub share: f64,
    /// Where it lies, at the level of the test.
    pub interval: Option<(f64, f64)>,
}

impl Statement for Tax {
    const KIND: gate::Kind = gate::Kind::Tax;
    const OF: Of = Of::Target;
    const CAPTION: &'static str = "What a target loses against the reference, both at their best: (reference − rate) ÷ reference. Negative where it is \
         faster; then the gain is rate ÷ reference − 1.";
    const COLUMNS: &'static [Column<Self>] = &[
        Column::rate(
            "rate_per_second",
            |one: &Self| Value::Rate(one.rate, one.counts),
            "median of the first rate",
        )
        .headed("rate"),
        Column::text(
            "reference",
            |one: &Self| one.reference.clone(),
            "the target that is compared with; its figure is the second in `figures`",
        )
        .subject(),
        Column::rate(
            "reference_per_second",
            |one: &Self| Value::Rate(one.reference_rate, one.counts),
            "the rate of the reference",
        )
        .headed("its rate"),
        Column::change("share", |one: &Self| Some(one.share), "(reference − rate) ÷ reference").headed("tax"),
        Column::new(
            "interval",
            "between",
            Quantity::Interval,
            |one| Value::or_none(one.interval, |(low, high)| Value::Changes(low, high)),
            "where the tax lies, at the level of the test",
        ),
        Column::new(
            "gain",
            "gain",
            Quantity::Ratio,
            |one| {
                if one.share < 0.0 { Value::Change(one.rate / one.reference_rate - 1.0) } else { Value::None }
            },
            "rate ÷ reference − 1, where it is faster",
        ),
    ];
}

/// Rate ÷ (devices × rate of one device); none where the sum is not above 0.
///
/// Source: study A, "scalability": 24.1 GB/s of twelve cards with 2.05 GB/s each are 98.0 %.
///
/// ```
/// let share = analysis::scalability(24.1e9, 12.0, 2.05e9).expect("twelve cards");
/// assert_eq!(format!("{:.1} %", share * 100.0), "98.0 %");
/// ```
#[must_use]
pub fn scalability(rate: f64, devices: f64, baseline: f64) -> Option<f64> {
    let sum = devices * baseline;
    (sum > 0.0).then(|| rate / sum)
}

/// (Reference − rate) ÷ reference, negative where the rate is the higher one; none where the
/// reference is not above 0.
///
/// Source: study A, "tax": 29.9 GB/s where 32.9 GB/s were there before are a tax of 9.1 %.
///
/// ```
/// let share = analysis::tax(32.9e9, 29.9e9).expect("a reference");
/// assert_eq!(format!("{:.1} %", share * 100.0), "9.1 %");
/// ```
#[must_use]
pub fn tax(reference: f64, rate: f64) -> Option<f64> {
    (reference > 0.0).then(|| (reference - rate) / reference)
}

/// Figures whose best ones may be compared: of one phase, order, mix and number of nodes, and of one
/// transfer size where it is random, because transfers and not bytes per second limit it then.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Kind {
    phase: Phase,
    /// Of random transfers, and of all that is no transfer: bytes of one.
    sized: Option<u64>,
    read_percent: Option<u8>,
    nodes: u64,
}

impl Kind {
    fn of(subject: &Subject<'_>) -> Self {
        let workload = &subject.case.workload;
        let random = matches!(workload.order, Order::Random { .. });
        Self {
            phase: subject.figure.phase,
            sized: (random || !subject.figure.phase.is_transfers())
                .then(|| bytes_of_one(subject.case, subject.figure.phase).0),
            read_percent: (subject.figure.phase == Phase::Mixed).then_some(workload.read_percent),
            nodes: subject.nodes(),
        }
    }
}

/// The best figures of each target, by kind.
type Bests<'a, 'b> = HashMap<(&'a str, Kind), &'b Subject<'a>>;

/// Of the figures that are not disqualified, where there are any.
fn bests<'a, 'b>(gate: &'b Gate<'a>, takes: impl Fn(&Subject<'a>) -> bool) -> Bests<'a, 'b> {
    let mut of_target: HashMap<(&'a str, Kind), Vec<&'b Subject<'a>>> = HashMap::new();
    for subject in gate.subjects.iter().filter(|one| takes(one)) {
        of_target.entry((subject.case.target.as_str(), Kind::of(subject))).or_default().push(subject);
    }
    of_target.into_iter().filter_map(|(key, all)| Some((key, gate.best(&all)?.best))).collect()
}

/// How many members of its target a figure is of, where that is swept.
fn members(subject: &Subject<'_>) -> Option<u32> {
    subject.case.settings.iter().find_map(|setting| match (setting.key.as_str(), &setting.value) {
        ("members", SettingValue::Count(count)) => u32::try_from(*count).ok(),
        ("member", _) => Some(1),
        _ => None,
    })
}

/// Of each target of which more and more members were measured, the best figures of the fewest.
fn fewest<'a, 'b>(gate: &'b Gate<'a>) -> Bests<'a, 'b> {
    let mut least: HashMap<(&str, Kind), Option<u32>> = HashMap::new();
    let swept = |one: &Subject<'_>| one.case.settings.iter().any(|setting| setting.key == "members");
    for subject in gate.subjects.iter().filter(|one| swept(one)) {
        let known =
            least.entry((subject.case.target.as_str(), Kind::of(subject))).or_insert(members(subject));
        *known = (*known).min(members(subject));
    }
    bests(gate, |one| {
        swept(one) && least.get(&(one.case.target.as_str(), Kind::of(one))) == Some(&members(one))
    })
}

/// Figures from the server of the storage and from behind a network are not set against each
/// other.
fn same_client(one: &Subject<'_>, other: &Subject<'_>) -> bool {
    let (one, other) = (one.client(), other.client());
    one == other || one == Client::Unstated || other == Client::Unstated
}

/// Every figure of a target with a baseline against the baseline's best figure of the same phase,
/// order, mix and number of nodes, or else of one node; of random transfers, of the same size. Where no
/// baseline is named and `members` is swept, the fewest members of the same target are the baseline. A target
/// whose devices the study does not count has as many as it has paths. Of a node-local target each node
/// has its own devices. The best figure of each target and baseline stands first.
#[must_use]
pub(crate) fn scaling(gate: &Gate<'_>) -> Vec<Stated<Scaling>> {
    let (bests, fewest) = (bests(gate, |_| true), fewest(gate));
    let of_figure = |subject: &Subject<'_>| {
        // A device is often measured on one node alone.
        let of_baseline = |baseline| {
            let of_nodes = |nodes| bests.get(&(baseline, Kind { nodes, ..Kind::of(subject) }));
            of_nodes(subject.nodes()).or_else(|| of_nodes(1))
        };
        let one = match subject.target?.baseline.as_deref() {
            Some(baseline) => of_baseline(baseline),
            None => fewest
                .get(&(subject.case.target.as_str(), Kind::of(subject)))
                .filter(|one| members(one).zip(members(subject)).is_some_and(|(few, many)| few < many)),
        };
        let one = one.filter(|one| same_client(one, subject))?;
        let devices = devices(subject);
        let each = one.rate() / f64::from(devices_of_baseline(one));
        let units = subject.target.map_or(0.0, |terms| terms.rack_units);
        let value = Scaling {
            devices,
            rate: subject.rate(),
            baseline: one.rate(),
            counts: subject.figure.rate_of(),
            share: scalability(subject.rate(), f64::from(devices), each)?,
            interval: gate.difference(one, subject, 1).and_then(|found| found.interval).map(|(low, high)| {
                let of_share = |change: f64| (1.0 + change) * one.rate() / (f64::from(devices) * each);
                (of_share(low), of_share(high))
            }),
            ratio: scalability(subject.rate(), 1.0, one.rate())?,
            balance_bound: subject.balance_bound(),
            rate_per_rack_unit: (units > 0.0).then(|| subject.rate() / units),
        };
        let best = bests.get(&(subject.case.target.as_str(), Kind::of(subject)));
        let is_best = best.is_some_and(|best| best.index == subject.index);
        Some((!is_best, gate.state(gate::Kind::Scaling, vec![subject.index, one.index], value)))
    };
    let mut all: Vec<_> = gate.subjects.iter().filter_map(of_figure).collect();
    all.sort_by_key(|(is_other, _)| *is_other);
    all.into_iter().map(|(_, stated)| stated).collect()
}

fn devices(subject: &Subject<'_>) -> u32 {
    let paths = subject.case.workload.files.targets.len();
    let chosen = members(subject).or_else(|| crate::seek::chosen_devices(subject.case));
    let said = chosen.or_else(|| subject.target.map(|terms| terms.devices).filter(|&devices| devices > 0));
    let of_target = said.unwrap_or_else(|| u32::try_from(paths).unwrap_or(u32::MAX));
    of_target.saturating_mul(subject.targets_of_all_nodes())
}

fn devices_of_baseline(subject: &Subject<'_>) -> u32 {
    let of_target = members(subject);
    let of_target = of_target.unwrap_or_else(|| subject.target.map_or(1, |terms| terms.devices.max(1)));
    of_target.saturating_mul(subject.targets_of_all_nodes())
}

/// The best figure of each target against that of each target before it in the study, for each
/// phase, order and mix, on the largest number of nodes that both were measured on. Targets are left out that are not
/// alike: of different clients, of different numbers of devices, and baselines.
#[must_use]
pub(crate) fn taxes(gate: &Gate<'_>) -> Vec<Stated<Tax>> {
    let mut kinds: Vec<(Kind, Vec<&Subject<'_>>)> = Vec::new();
    let bests = bests(gate, |_| true);
    let all = &gate.plan.terms.targets;
    let baselines: HashSet<&str> = all.iter().filter_map(|terms| terms.baseline.as_deref()).collect();
    let targets = all.iter().map(|terms| terms.name.as_str()).filter(|name| !baselines.contains(name));
    let targets: Vec<&str> = targets.collect();
    let mut seen = HashSet::new();
    for kind in gate.subjects.iter().map(Kind::of).filter(|kind| seen.insert(*kind)) {
        let of_kind = targets.iter().filter_map(|&target| bests.get(&(target, kind)).copied());
        kinds.push((kind, of_kind.collect()));
    }
    // The sort is stable: within a number of nodes the order is that of the figures.
    kinds.sort_by_key(|(kind, _)| Reverse(kind.nodes));
    let mut compared = HashSet::new();
    let mut pairs = Vec::new();
    for (kind, bests) in &kinds {
        let any_nodes = Kind { nodes: 0, ..*kind };
        let references = if bests.len() > TAXED_TARGETS_MAX { &bests[..1] } else { bests };
        for (place, reference) in references.iter().enumerate() {
            for other in &bests[place + 1..] {
                let alike = same_client(reference, other) && devices(reference) == devices(other);
                let names = (any_nodes, reference.case.target.as_str(), other.case.target.as_str());
                if alike && reference.rate() > 0.0 && compared.insert(names) {
                    pairs.push((*reference, *other));
                }
            }
        }
    }
    let family = pairs.len();
    pairs.into_iter().filter_map(|(reference, other)| tax_of(gate, reference, other, family)).collect()
}

fn tax_of(
    gate: &Gate<'_>,
    reference: &Subject<'_>,
    other: &Subject<'_>,
    family: usize,
) -> Option<Stated<Tax>> {
    let difference = gate.difference(reference, other, family)?;
    let value = Tax {
        reference: reference.case.target.clone(),
        reference_rate: reference.rate(),
        rate: other.rate(),
        counts: other.figure.rate_of(),
        share: tax(reference.rate(), other.rate())?,
        // The interval is one of rate ÷ reference − 1.
        interval: difference.interval.map(|(low, high)| (-high, -low)),
    };
    let inputs = vec![other.index, reference.index];
    Some(gate.state_difference(gate::Kind::Tax, inputs, &difference, value))
}
