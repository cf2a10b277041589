//! The audit of own figures.

use std::collections::{BTreeMap, HashMap};

use plan::Plan;

use super::doubt::{Found, SCALING_SLACK, percent};
use super::{measured, passes, terms};
use crate::gate::Stated;
use crate::node_comparison::comparison;
use crate::subject::{Subject, subjects};
use crate::{Check, Doubt, Expected, Figure, Scaling};

/// What is doubtful in `figures`, in their order, then what concerns the study as a whole. Each
/// check speaks once of a figure, however many repetitions it finds. `expected` are the figures
/// against data sheets and limits.
#[must_use]
pub fn audit(plan: &Plan, figures: &[Figure], expected: &[Expected]) -> Vec<Doubt> {
    let mut limits: HashMap<usize, Vec<&Expected>> = HashMap::new();
    for one in expected {
        limits.entry(one.figure).or_default().push(one);
    }
    let mut doubts = Vec::new();
    let subjects = subjects(plan, figures);
    let random = passes::random_above_sequential(&subjects);
    for subject in &subjects {
        let limits = limits.get(&subject.index).map_or(&[][..], Vec::as_slice);
        let mut found = measured::doubts(subject);
        found.extend(terms::of_figure(subject, limits));
        // Of reads that are known to come from memory their rate needs no further word.
        if !found.iter().any(|one| one.check == Check::Cached) {
            found.extend(random.get(&subject.index).cloned());
        }
        doubts.extend(found.into_iter().map(|one| one.of(Some(subject.index), concerns(subject.figure))));
    }
    doubts.extend(slow_nodes(&subjects));
    doubts.extend(terms::of_study(plan, figures));
    doubts
}

/// Nodes that are much slower than the others: one doubt for each, at the figure in which it stays
/// behind most.
fn slow_nodes(subjects: &[Subject<'_>]) -> Vec<Doubt> {
    let mut slow: BTreeMap<String, SlowNode> = BTreeMap::new();
    let mut compared: HashMap<String, usize> = HashMap::new();
    for (subject, nodes) in subjects.iter().filter_map(|one| Some((one, comparison(one, &[])?))) {
        let of = nodes.nodes.len();
        for node in nodes.nodes {
            *compared.entry(node.node.clone()).or_default() += 1;
            if node.slow == Some(false) {
                continue;
            }
            let found = SlowNode { figure: subject.index, share: node.share, z: node.z, of, times: 0 };
            let known = slow.entry(node.node).or_insert(found);
            let times = known.times + 1;
            if found.share < known.share {
                *known = found;
            }
            known.times = times;
        }
    }
    let doubt = |(name, node): (String, SlowNode)| {
        let evidence = format!(
            "{} of the median rate of {} nodes (robust z-score {:.1}); slow in {} of {} figures",
            percent(node.share),
            node.of,
            node.z,
            node.times,
            compared.get(&name).copied().unwrap_or_default()
        );
        let advice =
            "look at that node's devices, links and load; work that waits for all has n times its rate";
        Found::new(Check::SlowNode, evidence, advice).of(Some(node.figure), format!("node {name}"))
    };
    slow.into_iter().map(doubt).collect()
}

/// Where a node stays behind most, and in how many figures it is slow.
#[derive(Clone, Copy)]
struct SlowNode {
    figure: usize,
    share: f64,
    z: f64,
    of: usize,
    times: usize,
}

/// Figures that are faster than all their devices together: the baseline is wrong then.
pub(crate) fn beyond_devices(figures: &[Figure], scaling: &[Stated<Scaling>]) -> Vec<Doubt> {
    let beyond = |one: &Stated<Scaling>| {
        let value = one.says().filter(|value| value.share > 1.0 + SCALING_SLACK)?;
        let (own, baseline) = (figures.get(one.figure())?, figures.get(*one.inputs.get(1)?)?);
        let evidence = format!(
            "{} of what {} devices reach together, by the baseline of {}",
            percent(value.share),
            value.devices,
            baseline.conditions
        );
        let advice = "measure the baseline with the same sizes and enough tasks, or correct `devices`";
        Some(Found::new(Check::AboveDevices, evidence, advice).of(Some(one.figure()), concerns(own)))
    };
    scaling.iter().filter_map(beyond).collect()
}

/// What a doubt about a figure concerns.
fn concerns(figure: &Figure) -> String {
    match figure.target.as_str() {
        "" => figure.conditions.clone(),
        target => format!("{target}: {}", figure.conditions),
    }
}
