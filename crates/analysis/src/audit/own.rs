//! The audit of own figures.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};

use plan::Plan;

use super::issue::{RawIssue, SCALING_SLACK, percent};
use super::{criteria, measured, passes};
use crate::audit::{AuditIssue, Check};
use crate::figures::{Figure, Subject, subjects};
use crate::gate::Stated;
use crate::nodes::{NodeStanding, comparison, unconfirmed};
use crate::scaling::Scaling;
use crate::statistics::TREND_LEAST;
use crate::targets::Expected;

/// The doubts about `figures`, in their order, followed by those about the study as a whole. Each check reports a
/// figure once, however many of its repetitions are affected. `expected` holds the comparisons of figures with data
/// sheets and limits.
#[must_use]
pub fn audit(plan: &Plan, figures: &[Figure], expected: &[Expected]) -> Vec<AuditIssue> {
    let mut limits: HashMap<usize, Vec<&Expected>> = HashMap::new();
    for one in expected {
        limits.entry(one.figure).or_default().push(one);
    }
    let mut doubts = Vec::new();
    let subjects = subjects(plan, figures);
    let random = passes::random_above_sequential(&subjects);
    // As many series of passes could have one.
    let among = subjects.iter().filter(|one| one.figure.counted().count() >= TREND_LEAST).count();
    for subject in &subjects {
        let limits = limits.get(&subject.index).map_or(&[][..], Vec::as_slice);
        let mut found = measured::doubts(subject, among);
        found.extend(criteria::of_figure(subject, limits));
        // If reads are known to come from memory, nothing more needs to be said about their rate.
        if !found.iter().any(|one| one.check == Check::Cached) {
            found.extend(random.get(&subject.index).cloned());
        }
        doubts.extend(found.into_iter().map(|one| one.of(Some(subject.index), concerns(subject.figure))));
    }
    doubts.extend(slow_nodes(&subjects));
    doubts.extend(criteria::of_study(plan, figures));
    doubts
}

/// Nodes that are far below the others: one doubt for each, attached to the figure in which the node is furthest
/// behind, among those that confirm it if there are any.
fn slow_nodes(subjects: &[Subject<'_>]) -> Vec<AuditIssue> {
    let mut nodes: BTreeMap<String, Vec<(&Subject<'_>, NodeStanding, usize)>> = BTreeMap::new();
    for (subject, all) in subjects.iter().filter_map(|one| Some((one, comparison(one, &[])?.nodes))) {
        let of = all.len();
        for node in all {
            nodes.entry(node.node.clone()).or_default().push((subject, node, of));
        }
    }
    let doubt = |(name, all): (String, Vec<(&Subject<'_>, NodeStanding, usize)>)| {
        let below = || all.iter().filter(|(_, node, _)| node.slow != Some(false));
        // A figure that confirms it says more than one that is further behind.
        let order = |node: &NodeStanding| (node.slow.is_none(), node.share);
        let (subject, node, of) =
            below().min_by(|a, b| order(&a.1).partial_cmp(&order(&b.1)).unwrap_or(Ordering::Equal))?;
        let evidence = format!(
            "{}{} of the median rate of {of} nodes (robust z-score {:.1}); far below it in {} of {} figures",
            unconfirmed(node.slow, node.headline.n).map(|why| format!("{why}; ")).unwrap_or_default(),
            percent(node.share),
            node.z,
            below().count(),
            all.len()
        );
        let advice =
            "check that node's devices, links and load; work that waits for all runs at n times its rate";
        let found = RawIssue::new(Check::SlowNode, evidence, advice).with_severity(-node.share);
        Some(found.of(Some(subject.index), format!("node {name}")))
    };
    nodes.into_iter().filter_map(doubt).collect()
}

/// Figures that are faster than all their devices together, which means that the baseline is wrong.
pub(crate) fn beyond_devices(figures: &[Figure], scaling: &[Stated<Scaling>]) -> Vec<AuditIssue> {
    let beyond = |one: &Stated<Scaling>| {
        let value = one.says().filter(|value| value.share > 1.0 + SCALING_SLACK)?;
        let (own, baseline) = (figures.get(one.figure())?, figures.get(*one.inputs.get(1)?)?);
        let evidence = format!(
            "{} of what {} devices reach together, by the baseline of {}",
            percent(value.share),
            value.devices,
            baseline.conditions
        );
        let advice = "measure the baseline with the same sizes and enough tasks, or correct its devices";
        let found = RawIssue::new(Check::AboveDevices, evidence, advice).with_severity(value.share);
        Some(found.of(Some(one.figure()), concerns(own)))
    };
    scaling.iter().filter_map(beyond).collect()
}

/// Describes the figure that a doubt is about.
fn concerns(figure: &Figure) -> String {
    match figure.target.as_str() {
        "" => figure.conditions.clone(),
        target => format!("{target}: {}", figure.conditions),
    }
}
