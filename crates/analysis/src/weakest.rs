//! What a target can reach at best: the lowest of all limits between the data and the tasks.

use std::collections::HashMap;

use plan::{Amount, Bytes, Case, Expectation, Layer, Order, Phase, Plan};

use crate::amount::in_unit_of;
use crate::jobs::nodes_of;
use crate::{Figure, WeakestLink};

/// The lowest limit of each target for each number of nodes in [`plan::Terms::nodes`], or for one: the
/// minimum over all its limits of count × limit, times the nodes or devices where a limit is one of
/// each, and times the nodes where each has a target of its own. Study B: of 1.25 GB/s for each node, 10 for the cluster and 120 for the servers, 16
/// nodes can have 10.
///
/// There is one bound for each combination of phase, order and transfer size that the target's
/// expectations name; limits that name less belong to all of them. Where some limits are in
/// operations and others in bytes and none names a transfer size, there is one for each size that
/// the plan has; without any, operations and bytes are bounded apart. Latencies and rates of one mix
/// of reads and writes are no links, and of several grades ([`Expectation::reached`]) only the
/// highest counts.
#[must_use]
pub fn weakest_links(plan: &Plan, figures: &[Figure]) -> Vec<WeakestLink> {
    let mut links = Vec::new();
    for target in targets(plan) {
        let terms = plan.terms.targets.iter().find(|terms| terms.name == target);
        let (devices, layer) = terms.map_or((0, Layer::Unstated), |terms| (terms.devices, terms.layer));
        let about: Vec<&Expectation> = plan
            .terms
            .expectations
            .iter()
            .filter(|one| one.target.as_ref().is_none_or(|named| *named == target))
            .filter(|one| one.read_percent.is_none() && !matches!(one.amount, Amount::Latency { .. }))
            .collect();
        for scope in scopes(plan, &target, &about) {
            let within: Vec<&Expectation> = about.iter().copied().filter(|one| scope.has(one)).collect();
            let best = best_by_nodes(plan, figures, &target, scope);
            for nodes in plan.terms.nodes.iter().copied().chain(plan.terms.nodes.is_empty().then_some(1)) {
                let limits = scope.limits(&within, nodes, devices, layer);
                let Some((weakest, amount)) = limits.first().cloned() else { continue };
                links.push(WeakestLink {
                    target: target.clone(),
                    phase: scope.phase,
                    random: scope.random,
                    transfer: scope.transfer,
                    nodes,
                    limits,
                    weakest,
                    amount,
                    efficiency: best.get(&u64::from(nodes)).and_then(|&best| efficiency(best, amount)),
                });
            }
        }
    }
    links
}

/// The targets that are used, or described where no case says which it uses, or named by an expectation.
fn targets(plan: &Plan) -> Vec<String> {
    let described = plan.described_targets().map(|terms| &terms.name);
    let used = plan.cases.iter().map(|case| &case.target);
    let named = plan.terms.expectations.iter().filter_map(|one| one.target.as_ref());
    let mut targets: Vec<String> = Vec::new();
    for name in described.chain(used).chain(named) {
        if !targets.contains(name) {
            targets.push(name.clone());
        }
    }
    if targets.is_empty() {
        targets.push(String::new());
    }
    targets
}

/// What a bound is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Scope {
    phase: Option<Phase>,
    random: Option<bool>,
    transfer: Option<Bytes>,
    /// Only limits in operations, or only those in bytes.
    operations: Option<bool>,
}

fn in_operations(expectation: &Expectation) -> bool {
    matches!(expectation.amount, Amount::OperationsPerSecond(_))
}

/// The scopes that the expectations name, without those that a narrower one covers.
fn scopes(plan: &Plan, target: &str, about: &[&Expectation]) -> Vec<Scope> {
    let mut named: Vec<Scope> = Vec::new();
    for one in about {
        let scope = Scope { phase: one.phase, random: one.random, transfer: one.transfer, operations: None };
        if !named.contains(&scope) {
            named.push(scope);
        }
    }
    let narrowest = named.iter().filter(|scope| !named.iter().any(|other| scope.covers(other))).copied();
    let mut scopes: Vec<Scope> = Vec::new();
    for scope in narrowest {
        let kinds = || about.iter().filter(|one| scope.has(one)).map(|one| in_operations(one));
        let both = kinds().any(|kind| kind) && kinds().any(|kind| !kind);
        if scope.transfer.is_some() || !both {
            scopes.push(scope);
            continue;
        }
        let mut sizes: Vec<Bytes> = plan
            .cases
            .iter()
            .filter(|case| case.target == target && scope.is_of(case))
            .map(|case| case.workload.geometry.transfer)
            .collect();
        sizes.sort_unstable();
        sizes.dedup();
        if sizes.is_empty() {
            scopes.extend([true, false].map(|kind| Scope { operations: Some(kind), ..scope }));
        }
        scopes.extend(sizes.into_iter().map(|size| Scope { transfer: Some(size), ..scope }));
    }
    scopes
}

impl Scope {
    /// Whether `other` is another scope within this one.
    fn covers(&self, other: &Self) -> bool {
        self != other
            && (self.phase.is_none() || self.phase == other.phase)
            && (self.random.is_none() || self.random == other.random)
            && (self.transfer.is_none() || self.transfer == other.transfer)
    }

    /// Whether the limit belongs to it.
    fn has(&self, one: &Expectation) -> bool {
        (one.phase.is_none() || one.phase == self.phase)
            && (one.random.is_none() || one.random == self.random)
            && (one.transfer.is_none() || one.transfer == self.transfer)
            && self.operations.is_none_or(|operations| operations == in_operations(one))
    }

    /// Whether it is about `phase`; where it names none, about transfers.
    fn means(&self, phase: Phase) -> bool {
        self.phase.map_or(phase.is_transfers(), |named| named == phase)
    }

    fn is_of(&self, case: &Case) -> bool {
        let random = matches!(case.workload.order, Order::Random { .. });
        self.phase.is_none_or(|phase| case.phases.contains(&phase))
            && self.random.is_none_or(|wanted| wanted == random)
            && self.transfer.is_none_or(|transfer| transfer == case.workload.geometry.transfer)
    }

    /// All limits, highest last.
    fn limits(
        &self,
        within: &[&Expectation],
        nodes: u32,
        devices: u32,
        layer: Layer,
    ) -> Vec<(String, Amount)> {
        // Where no size is given all limits are in one unit, and the size does not matter.
        let transfer = self.transfer.unwrap_or(Bytes(1));
        let bytes =
            |amount| in_unit_of(amount, Amount::BytesPerSecond(0.0), transfer).unwrap_or(f64::INFINITY);
        let all = within.iter().map(|one| (one, one.in_all(nodes, devices, layer)));
        let highest_grade = all
            .clone()
            .filter(|(one, _)| !one.reached.is_empty())
            .max_by(|a, b| bytes(a.1).total_cmp(&bytes(b.1)))
            .map(|(one, _)| &one.name);
        let mut limits: Vec<(String, Amount)> = all
            .filter(|(one, _)| one.reached.is_empty() || Some(&one.name) == highest_grade)
            .map(|(one, amount)| (one.name.clone(), amount))
            .collect();
        limits.sort_by(|a, b| bytes(a.1).total_cmp(&bytes(b.1)));
        limits
    }
}

/// The best medians of a scope.
#[derive(Debug, Clone, Copy, Default)]
struct BestRate {
    bytes_per_second: f64,
    transfers_per_second: f64,
}

/// The best medians of the target, by the number of nodes.
fn best_by_nodes(plan: &Plan, figures: &[Figure], target: &str, scope: Scope) -> HashMap<u64, BestRate> {
    let cases: HashMap<&str, u64> = plan
        .cases
        .iter()
        .filter(|case| case.target == target && scope.is_of(case))
        .map(|case| (case.id.as_str(), nodes_of(case)))
        .collect();
    let mut best: HashMap<u64, BestRate> = HashMap::new();
    for figure in figures.iter().filter(|figure| scope.means(figure.phase)) {
        let Some(nodes) = cases.get(&*figure.case) else { continue };
        let best = best.entry(*nodes).or_default();
        best.bytes_per_second = best.bytes_per_second.max(figure.bytes_per_second.median);
        best.transfers_per_second = best.transfers_per_second.max(figure.transfers_per_second.median);
    }
    best
}

/// Best ÷ limit.
fn efficiency(best: BestRate, limit: Amount) -> Option<f64> {
    match limit {
        Amount::BytesPerSecond(limit) => Some(best.bytes_per_second / limit),
        Amount::OperationsPerSecond(limit) => Some(best.transfers_per_second / limit),
        Amount::Latency { .. } => None,
    }
}
