//! Checks of figures that a commitment is about. A promise needs more than a statement: somebody is paid by it.

use plan::{Commitment, Nanos, PHASE_SECONDS_MIN};
use record::{PublishedUnit, Run};

use super::issue::{AuditIssue, RawIssue, doubted};
use super::{measured, memory};
use crate::audit::Check;
use crate::figures::{Figure, RepetitionFigure, Subject, subjects};

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
        let found = [behind, short].into_iter().flatten().flatten();
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
    let evidence = format!(
        "took {}; `phase_min` is {}, but a promise needs {}, because a burst may last that long",
        text(seconds),
        subject.case.protocol.phase_min,
        text(PHASE_SECONDS_MIN)
    );
    (seconds < PHASE_SECONDS_MIN).then(|| {
        let advice = measured::longer(&subject.case.workload);
        RawIssue::new(Check::ShortForPromise, evidence, advice).with_severity(-seconds)
    })
}
