//! What devices bring together, and what a layout costs: scalability and tax.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use plan::{Client, Order, Phase, Plan, SettingValue};

use crate::Figure;
use crate::amount::bytes_of_one;
use crate::findings::{Scaling, Tax};
use crate::subject::{Subject, subjects};

/// With more targets than this each is compared with the first alone, so that the table grows in
/// step with the targets.
pub const TAXED_TARGETS_MAX: usize = 12;

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

fn bests<'a, 'b>(subjects: &'b [Subject<'a>]) -> Bests<'a, 'b> {
    let mut bests: Bests<'a, 'b> = HashMap::new();
    for subject in subjects {
        let best = bests.entry((subject.case.target.as_str(), Kind::of(subject))).or_insert(subject);
        if subject.rate() > best.rate() {
            *best = subject;
        }
    }
    bests
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
fn fewest<'a, 'b>(subjects: &'b [Subject<'a>]) -> Bests<'a, 'b> {
    let mut fewest: Bests<'a, 'b> = HashMap::new();
    for subject in subjects.iter().filter(|one| one.case.settings.iter().any(|set| set.key == "members")) {
        let best = fewest.entry((subject.case.target.as_str(), Kind::of(subject))).or_insert(subject);
        let (own, least) = (members(subject), members(best));
        if own < least || own == least && subject.rate() > best.rate() {
            *best = subject;
        }
    }
    fewest
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
/// has its own devices.
#[must_use]
pub fn scaling(plan: &Plan, figures: &[Figure]) -> Vec<Scaling> {
    scaling_of(&subjects(plan, figures))
}

/// As [`scaling`], of figures that were looked up already.
pub(crate) fn scaling_of(subjects: &[Subject<'_>]) -> Vec<Scaling> {
    let (bests, fewest) = (bests(subjects), fewest(subjects));
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
        let ratio = scalability(subject.rate(), 1.0, one.rate())?;
        Some(Scaling {
            figure: subject.index,
            target: subject.case.target.clone(),
            baseline: one.index,
            devices,
            share: scalability(subject.rate(), f64::from(devices), each)?,
            ratio,
            balance_bound: subject.balance_bound(),
        })
    };
    subjects.iter().filter_map(of_figure).collect()
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
/// phase, order and mix, on the largest number of nodes that both were measured on. Targets are left out that are not alike: of different clients, of
/// different numbers of devices, and baselines.
#[must_use]
pub fn taxes(plan: &Plan, figures: &[Figure]) -> Vec<Tax> {
    taxes_of(plan, &subjects(plan, figures))
}

/// As [`taxes`], of figures that were looked up already.
pub(crate) fn taxes_of(plan: &Plan, subjects: &[Subject<'_>]) -> Vec<Tax> {
    let mut kinds: Vec<(Kind, Vec<&Subject<'_>>)> = Vec::new();
    let bests = bests(subjects);
    let mut places = HashMap::new();
    let all = &plan.terms.targets;
    let baselines: HashSet<&str> = all.iter().filter_map(|terms| terms.baseline.as_deref()).collect();
    let targets = all.iter().map(|terms| terms.name.as_str()).filter(|name| !baselines.contains(name));
    let targets: Vec<&str> = targets.collect();
    for subject in subjects {
        places.entry(Kind::of(subject)).or_insert_with_key(|&kind| {
            let of_kind = targets.iter().filter_map(|&target| bests.get(&(target, kind)).copied());
            kinds.push((kind, of_kind.collect()));
        });
    }
    // The sort is stable: within a number of nodes the order is that of the figures.
    kinds.sort_by_key(|(kind, _)| Reverse(kind.nodes));
    let mut compared = HashSet::new();
    let mut taxes = Vec::new();
    for (kind, bests) in &kinds {
        let any_nodes = Kind { nodes: 0, ..*kind };
        let target: HashMap<usize, &str> =
            bests.iter().map(|best| (best.index, best.case.target.as_str())).collect();
        let of_kind = taxes_among(kind.phase, bests);
        let new = |tax: &Tax| compared.insert((any_nodes, target[&tax.reference], target[&tax.figure]));
        taxes.extend(of_kind.into_iter().filter(new));
    }
    taxes
}

fn taxes_among(phase: Phase, bests: &[&Subject<'_>]) -> Vec<Tax> {
    let references = if bests.len() > TAXED_TARGETS_MAX { &bests[..1] } else { bests };
    let mut taxes = Vec::new();
    for (place, reference) in references.iter().enumerate() {
        for other in &bests[place + 1..] {
            let alike = same_client(reference, other) && devices(reference) == devices(other);
            if let Some(share) = tax(reference.rate(), other.rate()).filter(|_| alike) {
                let (reference, figure) = (reference.index, other.index);
                taxes.push(Tax { phase, reference, figure, share });
            }
        }
    }
    taxes
}

/// The best figure of each target, phase and order among `scaling`, by place in it: what one device and
/// all of them reach, and their ratio.
#[must_use]
pub fn best_scaling(scaling: &[Scaling], figures: &[Figure]) -> Vec<usize> {
    // All figures of one target, phase and order are counted from one figure of the baseline.
    let mut bests: HashMap<(&str, usize), usize> = HashMap::new();
    for (place, one) in scaling.iter().enumerate() {
        let rate = |place: usize| figures[scaling[place].figure].bytes_per_second.median;
        let best = bests.entry((one.target.as_str(), one.baseline)).or_insert(place);
        if rate(place) > rate(*best) {
            *best = place;
        }
    }
    let mut places: Vec<usize> = bests.into_values().collect();
    places.sort_unstable();
    places
}
