//! Checks of figures that a commitment is about. A promise needs more than a statement: somebody is paid by it.

use std::collections::BTreeMap;

use plan::{Commitment, Nanos, PHASE_SECONDS_MIN};
use record::{PublishedUnit, Run};

use super::issue::{AuditIssue, RawIssue, doubted};
use super::{measured, memory};
use crate::audit::Check;
use crate::figures::{Figure, RepetitionFigure, Subject, subjects};

/// A few names show which nodes are meant.
const NODES_SHOWN: usize = 3;

/// Doubts about figures that a commitment refers to, given the doubts `found` so far.
pub(crate) fn promised(run: &Run, figures: &[Figure], found: &[AuditIssue]) -> Vec<AuditIssue> {
    let plan = &run.manifest.plan;
    // What is known to be in doubt for the same cause needs no second doubt.
    let of_memory = doubted(found, &[Check::Cached, Check::MemoryNotExcluded]);
    let of_length = doubted(found, &[Check::TooShort]);
    let is_promised = |subject: &&Subject<'_>| {
        let takes = |one: &Commitment| one.figures.takes(subject.case, subject.figure.phase);
        plan.criteria.commitments.iter().any(takes)
    };
    let doubts = |subject: &Subject<'_>| {
        let counted: Vec<&RepetitionFigure> = subject.figure.counted().collect();
        let behind = (!of_memory.contains(&subject.index)).then(|| memory::behind(subject, &counted));
        let short = (!of_length.contains(&subject.index)).then(|| short(subject, &counted));
        let found = [behind, short, Some(shared_kernel(run, subject))].into_iter().flatten().flatten();
        let tied = |one: RawIssue| one.of(Some(subject.index), subject.figure.conditions.clone());
        found.map(tied).collect::<Vec<_>>()
    };
    subjects(plan, figures).iter().filter(is_promised).flat_map(doubts).collect()
}

/// Whether a pass was below the least length although `phase_min` allows it: a study may state what such phases show,
/// but bursts, starts and ends decide their rates.
fn short(subject: &Subject<'_>, counted: &[&RepetitionFigure]) -> Option<RawIssue> {
    let seconds = Nanos(counted.iter().map(|one| one.phase.wall_ns).min()?).as_secs_f64();
    let text = |seconds| PublishedUnit::Seconds.text(seconds);
    let allowed = match subject.case.protocol.phase_min {
        Nanos(0) => format!("{} passes show their scatter", counted.len()),
        phase_min => format!("`phase_min` is {phase_min}"),
    };
    let evidence = format!(
        "took {}; {allowed}, but a promise needs {}, because a burst may last that long",
        text(seconds),
        text(PHASE_SECONDS_MIN)
    );
    (seconds < PHASE_SECONDS_MIN).then(|| {
        let advice = measured::longer(&subject.case.workload);
        RawIssue::new(Check::ShortForPromise, evidence, advice).with_severity(-seconds)
    })
}

/// Nodes of a figure that are containers of one machine: a machine has one kernel, and each boot of a kernel has an
/// identity of its own.
fn shared_kernel(run: &Run, subject: &Subject<'_>) -> Option<RawIssue> {
    let cluster = run.manifest.cluster.as_ref()?;
    let is_of_figure = |name: &str| subject.figure.nodes.iter().any(|node| node.node == name);
    let mut kernels: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for node in cluster.nodes.iter().filter(|node| is_of_figure(&node.host.node)) {
        if let Some(kernel) = &node.boot_id {
            kernels.entry(kernel).or_default().push(&node.host.node);
        }
    }
    let nodes: usize = kernels.values().map(Vec::len).sum();
    let shared = kernels.values().find(|names| names.len() > 1)?;
    let shown: Vec<&str> = shared.iter().copied().take(NODES_SHOWN).collect();
    let more = if shared.len() > NODES_SHOWN { ", …" } else { "" };
    let several = if kernels.len() == 1 { "" } else { "s" };
    let evidence = format!(
        "its {nodes} nodes have {} kernel{several}: {}{more} are containers of one machine",
        kernels.len(),
        shown.join(", ")
    );
    let advice = "start the processes on as many machines as were promised";
    Some(RawIssue::new(Check::SharedKernel, evidence, advice))
}
