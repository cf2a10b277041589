//! Checks of figures against the criteria of their study and against the network links of the
//! nodes.

use plan::{
    Amount, CACHE_MULTIPLE, Client, Operation, Phase, Plan, SERVER_MEMORY_MULTIPLE, Statistic,
    TargetDescription,
};
use record::{HostFacts, Provenance, PublishedStatistic, Run};

use super::issue::{CEILING_SLACK, RawIssue, percent};
use super::memory;
use crate::audit::{AuditIssue, Check};
use crate::figures::{Figure, RateOf, Subject};
use crate::targets::Expected;

/// Checks against the limits of the target and against what the study says about its caches.
pub(super) fn of_figure(subject: &Subject<'_>, limits: &[&Expected]) -> Vec<RawIssue> {
    let mut found = Vec::new();
    found.extend(above_ceiling(subject, limits));
    if let Some(target) = subject.target {
        found.extend(working_set(subject, target));
    }
    found
}

/// The measured rate, or the rate of the devices, exceeds that of a link or a controller.
fn above_ceiling(subject: &Subject<'_>, limits: &[&Expected]) -> Option<RawIssue> {
    let limits = limits.iter().filter(|one| one.ceiling);
    let evidence =
        limits.filter_map(|limit| measured_above(limit).or_else(|| devices_above(subject, limit))).next()?;
    let advice = "look for a cache between the program and the limit, or correct the limit";
    Some(RawIssue::new(Check::AboveCeiling, evidence, advice))
}

fn measured_above(limit: &Expected) -> Option<String> {
    let (value, counts) = match limit.amount {
        Amount::BytesPerSecond(value) => (value, RateOf::Bytes),
        Amount::OperationsPerSecond(value) => (value, RateOf::Operations),
        // A latency has no upper limit that a link could set.
        Amount::Latency { .. } => return None,
    };
    (limit.ratio > 1.0 + CEILING_SLACK).then(|| {
        let measured = counts.text(value * limit.ratio);
        let whose = if limit.nodes.is_empty() { String::new() } else { format!(" by {}", limit.nodes) };
        format!("{measured}{whose} is {} of {} ({})", percent(limit.ratio), limit.name, counts.text(value))
    })
}

fn devices_above(subject: &Subject<'_>, limit: &Expected) -> Option<String> {
    let Amount::BytesPerSecond(value) = limit.amount else { return None };
    // Devices are counted for all nodes.
    if !limit.nodes.is_empty() {
        return None;
    }
    let device_rate = |one: &crate::figures::RepetitionFigure| {
        let bytes = match subject.figure.phase.operation() {
            Some(Operation::Write | Operation::Create) => {
                one.phase.device_write_bytes.map(|bytes| bytes.saturating_sub(one.beside.write_bytes))
            }
            Some(Operation::Exchange) => None,
            _ => one.phase.device_read_bytes.map(|bytes| bytes.saturating_sub(one.beside.read_bytes)),
        };
        let seconds = one.phase.wall_ns as f64 / 1e9;
        bytes.filter(|_| seconds > 0.0).map(|bytes| bytes as f64 / seconds)
    };
    let counted = subject.figure.repetitions.iter().filter(|one| one.counts);
    let fastest = counted.filter_map(device_rate).max_by(f64::total_cmp)?;
    (fastest > value * (1.0 + CEILING_SLACK)).then(|| {
        let [fastest, limit_rate] = [fastest, value].map(|rate| RateOf::Bytes.text(rate));
        format!("the devices moved {fastest}, above {} ({limit_rate})", limit.name)
    })
}

/// Compares the data size with all caches, and the data read with the memory of the servers.
/// Source: study E keeps caches to 5 % of the working set, study D reads four times the memory of
/// its servers.
fn working_set(subject: &Subject<'_>, target: &TargetDescription) -> Option<RawIssue> {
    if !subject.figure.phase.is_transfers() {
        return None;
    }
    let data = subject.working_set()?;
    let too_small = |held: u64, multiple: u64| held > 0 && data < held.saturating_mul(multiple);
    let caches = target.caches.map(|caches| caches.0).filter(|&caches| too_small(caches, CACHE_MULTIPLE));
    let reads = subject.figure.counted().any(|pass| memory::reads(subject, pass));
    let memory = target.server_memory.map(|memory| memory.0);
    let memory = memory.filter(|&memory| reads && too_small(memory, SERVER_MEMORY_MULTIPLE));
    let share = |held: u64| percent(held as f64 / data as f64);
    let parts: Vec<String> = [
        caches.map(|held| format!("caches are {} of the working set (limit: 5 %)", share(held))),
        memory.map(|held| format!("the servers' memory is {} of the data (limit: 25 %)", share(held))),
    ]
    .into_iter()
    .flatten()
    .collect();
    let advice = "use more data, or report with the figure that caches took part";
    (!parts.is_empty()).then(|| RawIssue::new(Check::WorkingSet, parts.join("; "), advice))
}

/// Checks that concern the study as a whole, not a single figure.
pub(super) fn of_study(plan: &Plan, figures: &[Figure]) -> Vec<AuditIssue> {
    let mut doubts = Vec::new();
    if plan.criteria.exclusive == Some(false) {
        let found = RawIssue::new(
            Check::NotQuiet,
            "the study says that others could use the storage during the run",
            "measure in exclusive mode, or show the spread of many repetitions",
        );
        doubts.push(found.of(None, plan.title.clone()));
    }
    let commitments = plan.criteria.commitments.iter().enumerate();
    for (place, commitment) in commitments.filter(|(_, one)| one.statistic == Statistic::Best) {
        let found = RawIssue::new(
            Check::BestAsTypical,
            "the best repetition is judged, which says nothing about the typical one",
            "commit to a median or to the confidence bound",
        );
        doubts.push(AuditIssue { commitment: Some(place), ..found.of(None, commitment.name.clone()) });
    }
    doubts.extend(bests_beside_medians(plan, figures));
    doubts
}

/// Published best-of-several values compared with own medians, reported as one doubt for all
/// places.
fn bests_beside_medians(plan: &Plan, figures: &[Figure]) -> Option<AuditIssue> {
    if plan.criteria.published.is_empty() || figures.iter().all(|figure| figure.headline().n < 2) {
        return None;
    }
    let is_best = |id: &&str| {
        let statistic = record::published().figure(id).map(|figure| figure.statistic);
        matches!(statistic, Some(PublishedStatistic::Best | PublishedStatistic::Max))
    };
    let ids = plan.criteria.published.iter().map(|place| place.id.as_str());
    let bests: Vec<&str> = ids.filter(is_best).collect();
    let evidence = format!(
        "published figures that are the best of several are compared with own medians: {}",
        bests.join(", ")
    );
    let advice = "compare them with the best own repetition as well";
    (!bests.is_empty())
        .then(|| RawIssue::new(Check::BestAsTypical, evidence, advice).of(None, plan.title.clone()))
}

/// Figures of remote targets that exceed the network links of their nodes.
pub(crate) fn above_links(run: &Run, figures: &[Figure]) -> Vec<AuditIssue> {
    if run.manifest.provenance != Provenance::Measured {
        return Vec::new();
    }
    let nodes = run.manifest.cluster.iter().flat_map(|cluster| &cluster.nodes).map(|node| &node.host);
    let nodes: Vec<&HostFacts> = nodes.chain([&run.manifest.host]).collect();
    let all: Option<Vec<f64>> = nodes.into_iter().map(links).collect();
    // The node with the fastest links stands for all: the limit of any other node is lower.
    let Some(node) = all.into_iter().flatten().max_by(f64::total_cmp) else { return Vec::new() };
    let above = |(place, figure): (usize, &Figure)| {
        // Mixed traffic uses the link in both directions, so twice its rate is available.
        let ways = if figure.phase == Phase::Mixed { 2.0 } else { 1.0 };
        let limit = node * ways * figure.node_count? as f64;
        let rate = figure.bytes_per_second.median;
        (figure.client == Client::Remote && rate > limit * (1.0 + CEILING_SLACK)).then(|| {
            let [rate, limit] = [rate, limit].map(|value| RateOf::Bytes.text(value));
            let found = RawIssue::new(
                Check::AboveCeiling,
                format!("{rate} from a remote target, but the network links of its nodes carry only {limit}"),
                "something on the client side of the network answered: use more data than all caches hold",
            );
            found.of(Some(place), figure.conditions.clone())
        })
    };
    figures.iter().enumerate().filter_map(above).collect()
}

/// Bytes per second of all links of a node that are up. Returns `None` if one of its cards does not
/// report its speed.
fn links(host: &HostFacts) -> Option<f64> {
    let all = host.network.known()?.iter();
    let up = all.filter(|one| one.state.known().is_some_and(|state| state.eq_ignore_ascii_case("up")));
    // Interfaces without a card, such as those of containers, have no bandwidth of their own.
    let cards = up.filter(|one| one.pci_address.known().is_some());
    let bits: Option<Vec<f64>> = cards.map(|one| Some(*one.bits_per_second.known()? as f64)).collect();
    bits.map(|all| all.iter().sum::<f64>() / 8.0).filter(|&bytes| bytes > 0.0)
}
