//! The best that a target can reach: the lowest of all limits between the data and the tasks.

use std::collections::BTreeSet;
use std::hash::Hash;

use plan::{Amount, Bytes, Case, Expectation, Layer, Phase, Plan};
use record::PublishedUnit;

use crate::figures::{Figure, Subject, grouped, in_unit_of, measured, subjects};
use crate::gate::{
    Gate, Kind, Of, Statement, Value,
    table::{Column, amount, below, bytes, count, detail, list, share, subject, text, word},
};

/// The lowest of all limits of a target, for a number of nodes.
#[derive(Debug, Clone, PartialEq)]
pub struct WeakestLink {
    pub(crate) target: String,
    /// The scope of the bound.
    pub scope: Scope,
    /// The number of nodes.
    pub nodes: u32,
    /// Every limit by name, lowest first; the first is the weakest link.
    pub limits: Vec<(String, Amount)>,
    /// The name of the lowest limit.
    pub weakest: String,
    /// The value of the lowest limit.
    pub amount: Amount,
    /// The index of the best figure of the target for this number of nodes, and that figure ÷ the amount.
    pub efficiency: Option<(usize, f64)>,
}

impl Statement for WeakestLink {
    const KIND: Kind = Kind::WeakestLink;
    const OF: Of = Of::Nothing;
    const CAPTION: &'static str = "The weakest link: the lowest of all limits, for each number of nodes";
    const COLUMNS: &'static [Column<Self>] = &[
        subject(word("target", "target", "The target.", |one| &one.target)),
        subject(word("phase", "phase", "Empty where it covers all phases.", |one| {
            one.scope.phase.map_or("", Phase::name)
        })),
        subject(word("order", "order", "`random` or `sequential`; empty where it covers both.", |one| {
            one.scope.random.map_or("", |random| if random { "random" } else { "sequential" })
        })),
        subject(bytes(
            "transfer",
            "transfer",
            "The size by which bytes and operations are converted.",
            |one| one.scope.transfer.map(|bytes| bytes.0),
        )),
        subject(count("nodes", "nodes", "Nodes.", |one| Some(one.nodes.into()))),
        amount("expected", "expected", "The lowest limit, in `unit`.", |one| {
            Value::amount(one.amount, one.amount.number())
        }),
        word("weakest", "weakest link", "Its name.", |one| &one.weakest),
        share("efficiency", "reached", "The best figure for this number of nodes ÷ the limit.", |one| {
            one.efficiency.map(|(_, ratio)| ratio)
        }),
        below(list("limits", "all limits", "Every limit, highest last.", |one| {
            let limit = |(name, one): &(String, Amount)| format!("{name} {}", in_words(*one));
            one.limits.iter().map(limit).collect()
        })),
        detail(text("unit", "unit", "`bytes/s` or `ops/s`.", |one| one.amount.unit().to_owned())),
    ];
}

fn in_words(amount: Amount) -> String {
    match amount {
        Amount::BytesPerSecond(value) => PublishedUnit::BytesPerSecond.text(value),
        Amount::OperationsPerSecond(value) => PublishedUnit::OperationsPerSecond.text(value),
        Amount::Latency { nanos, .. } => PublishedUnit::Seconds.text(nanos / 1e9),
    }
}

/// The [`weakest_links`], with the best of the figures that are not disqualified.
pub(crate) fn usable_links(gate: &Gate<'_>) -> Vec<WeakestLink> {
    links(gate.plan, gate.figures, |place| gate.is_usable(place))
}

/// The lowest limit of each target for each number of nodes in [`plan::Criteria::nodes`], or for one node. It is the
/// minimum over all limits of count × limit, times the number of nodes or devices for a limit per node or device, and
/// times the nodes if each has a target of its own. Study B: with 1.25 GB/s per node, 10 for the cluster and 120 for
/// the servers, 16 nodes can reach 10.
///
/// There is one bound for each combination of phase, order and transfer size that the target's expectations name;
/// limits that name less apply to all of them. If some limits are in operations and others in bytes and none names a
/// transfer size, there is one bound for each size in the plan; without any size, operations and bytes are bounded
/// separately. Latencies and rates of one mix of reads and writes are not links, and of several grades
/// ([`Expectation::reached`]) only the highest counts.
#[must_use]
pub fn weakest_links(plan: &Plan, figures: &[Figure]) -> Vec<WeakestLink> {
    links(plan, figures, |_| true)
}

fn links(plan: &Plan, figures: &[Figure], usable: impl Fn(usize) -> bool) -> Vec<WeakestLink> {
    let subjects = subjects(plan, figures);
    let mut links = Vec::new();
    for target in targets(plan) {
        let described = plan.criteria.targets.iter().find(|one| one.name == target);
        let (devices, layer) =
            described.map_or((0, Layer::Unstated), |target| (target.devices, target.layer));
        let concerns = |one: &&Expectation| {
            one.target.as_ref().is_none_or(|named| *named == target)
                && one.read_percent.is_none()
                && one.is_of_all_nodes()
                && !matches!(one.amount, Amount::Latency { .. })
        };
        let about: Vec<&Expectation> = plan.criteria.expectations.iter().filter(concerns).collect();
        for scope in scopes(plan, &target, &about) {
            let within: Vec<&Expectation> = about.iter().copied().filter(|one| scope.has(one)).collect();
            let is_own = |one: &&Subject<'_>| {
                one.case.target == target
                    && scope.is_of(one.case)
                    // An expectation without a phase is about transfers.
                    && scope.phase.map_or(one.figure.phase.is_transfers(), |named| named == one.figure.phase)
                    && usable(one.index)
            };
            let own: Vec<&Subject<'_>> = subjects.iter().filter(is_own).collect();
            let link = |nodes: u32| {
                let all = within.iter().map(|one| (*one, one.in_all(nodes, devices, layer)));
                let limits = scope.limits(all.collect());
                let (weakest, amount) = limits.first().cloned()?;
                let own = own.iter().filter(|one| one.nodes() == Some(u64::from(nodes)));
                let reached =
                    own.filter_map(|one| Some((one.index, measured(one.figure, amount)? / amount.number())));
                let efficiency = reached.max_by(|a, b| a.1.total_cmp(&b.1));
                Some(WeakestLink {
                    target: target.clone(),
                    scope,
                    nodes,
                    limits,
                    weakest,
                    amount,
                    efficiency,
                })
            };
            let one = plan.criteria.nodes.is_empty().then_some(1);
            links.extend(plan.criteria.nodes.iter().copied().chain(one).filter_map(link));
        }
    }
    links
}

/// The distinct elements of `all`.
fn each_once<T: Clone + Eq + Hash>(all: impl Iterator<Item = T>) -> Vec<T> {
    grouped(all, T::clone).into_iter().filter_map(|mut same| same.pop()).collect()
}

/// The targets that are used, or described if no case names its target, or named by an expectation.
fn targets(plan: &Plan) -> Vec<String> {
    let described = plan.described_targets().map(|one| &one.name);
    let used = plan.cases.iter().filter(|case| case.workload.work.has_target()).map(|case| &case.target);
    let named = plan.criteria.expectations.iter().filter_map(|one| one.target.as_ref());
    let targets = each_once(described.chain(used).chain(named).cloned());
    if targets.is_empty() { vec![String::new()] } else { targets }
}

/// What a bound applies to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Scope {
    /// All phases if `None`.
    pub(crate) phase: Option<Phase>,
    /// Random or sequential; both if `None`.
    pub(crate) random: Option<bool>,
    /// The transfer size at which bytes and operations are converted. `None` if nothing is converted.
    pub transfer: Option<Bytes>,
    /// Only limits in operations, or only those in bytes.
    operations: Option<bool>,
}

const fn in_operations(expectation: &Expectation) -> bool {
    matches!(expectation.amount, Amount::OperationsPerSecond(_))
}

/// The scopes that the expectations name, without those that a narrower one covers.
fn scopes(plan: &Plan, target: &str, about: &[&Expectation]) -> Vec<Scope> {
    let named = each_once(about.iter().map(|one| {
        let Expectation { phase, random, transfer, .. } = **one;
        Scope { phase, random, transfer, operations: None }
    }));
    let split = |scope: &Scope| {
        let kinds: Vec<bool> =
            about.iter().filter(|one| scope.has(one)).map(|one| in_operations(one)).collect();
        if scope.transfer.is_some() || !(kinds.contains(&true) && kinds.contains(&false)) {
            return vec![*scope];
        }
        let of_target = plan.cases.iter().filter(|case| case.target == target && scope.is_of(case));
        let sizes: BTreeSet<Bytes> = of_target.filter_map(plan::Case::transfer).collect();
        if sizes.is_empty() {
            return [true, false].map(|of| Scope { operations: Some(of), ..*scope }).to_vec();
        }
        sizes.into_iter().map(|size| Scope { transfer: Some(size), ..*scope }).collect()
    };
    named.iter().filter(|scope| !named.iter().any(|other| scope.covers(other))).flat_map(split).collect()
}

/// Whether `other` matches the named value, if one is named.
fn takes<T: PartialEq>(named: Option<T>, other: Option<T>) -> bool {
    named.is_none() || named == other
}

impl Scope {
    /// Whether `other` is a different scope within this one.
    fn covers(&self, other: &Self) -> bool {
        self != other
            && takes(self.phase, other.phase)
            && takes(self.random, other.random)
            && takes(self.transfer, other.transfer)
    }

    /// Whether the limit applies to this scope.
    fn has(&self, one: &Expectation) -> bool {
        takes(one.phase, self.phase)
            && takes(one.random, self.random)
            && takes(one.transfer, self.transfer)
            && takes(self.operations, Some(in_operations(one)))
    }

    fn is_of(&self, case: &Case) -> bool {
        self.phase.is_none_or(|phase| case.phases.contains(&phase))
            && takes(self.random, case.order().map(plan::Order::is_random))
            && takes(self.transfer, case.transfer())
    }

    /// All limits, lowest first; of several grades only the highest.
    fn limits(&self, mut all: Vec<(&Expectation, Amount)>) -> Vec<(String, Amount)> {
        // If no size is given, all limits are in one unit, so the size does not matter.
        let transfer = Some(self.transfer.unwrap_or(Bytes(1)));
        let bytes =
            |amount| in_unit_of(amount, Amount::BytesPerSecond(0.0), transfer).unwrap_or(f64::INFINITY);
        all.sort_by(|a, b| bytes(a.1).total_cmp(&bytes(b.1)));
        let highest = all.iter().rev().find(|(one, _)| !one.reached.is_empty()).map(|(one, _)| &one.name);
        let counts = |one: &Expectation| one.reached.is_empty() || Some(&one.name) == highest;
        let counted = all.iter().filter(|(one, _)| counts(one));
        counted.map(|(one, amount)| (one.name.clone(), *amount)).collect()
    }
}
