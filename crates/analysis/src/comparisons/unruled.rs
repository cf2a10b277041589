//! Claims of studies that no rule tests: some are judged by other statements of the report.

use std::collections::HashSet;

use record::{JudgedBy, Library, PublishedClaim};

use crate::comparisons::claim_verdict::{ClaimVerdict, source};
use crate::figures::label;
use crate::gate::{Gate, Judgement, Stated};
use crate::scaling::{Layer, LayerStack};
use crate::sweeps::Best;

/// The statements that judge claims without a rule.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Beside<'a> {
    pub(crate) best: &'a [Stated<Best>],
    pub(crate) layers: &'a [LayerStack],
}

/// A judgement with its evidence and its figures.
type Judged = (Judgement, Vec<String>, Vec<usize>);

/// The claims of the studies from which the plan tests some, except those in `seen`. A plan that only compares own
/// figures with a published one asks for none of them.
pub(crate) fn unruled(
    gate: &Gate<'_>,
    beside: Beside<'_>,
    library: &Library,
    seen: &HashSet<&str>,
) -> Vec<ClaimVerdict> {
    let ruled = gate.plan.criteria.claims.iter().filter_map(|rule| library.claim(&rule.id));
    let studies: HashSet<&str> = ruled.map(|claim| claim.study.as_str()).collect();
    let missing = library.claims.iter().filter(|claim| studies.contains(claim.study.as_str()));
    let missing = missing.filter(|claim| !seen.contains(claim.id.as_str()));
    let verdict = |claim: &PublishedClaim| {
        let judged = match claim.judged_by {
            Some(JudgedBy::SingleQueue) => by_queues(gate, beside.layers),
            Some(JudgedBy::Caution) => by_caution(beside.best),
            None => None,
        };
        let (judgement, evidence, figures) = judged.unwrap_or_else(|| untested(claim));
        ClaimVerdict {
            id: claim.id.clone(),
            text: claim.text.clone(),
            source: source(claim, library),
            judgement,
            simulated: gate.simulated,
            evidence,
            relation: None,
            figures,
        }
    };
    missing.map(verdict).collect()
}

fn untested(claim: &PublishedClaim) -> Judged {
    let evidence = match (claim.judged_by, claim.check.as_str()) {
        (None, "" | "-") => "no rule in this study tests it".to_owned(),
        (None, check) => format!("no rule in this study tests it; it would need: {check}"),
        (Some(JudgedBy::SingleQueue), _) => {
            "no volume with known queues was measured beside its members in direct use".to_owned()
        }
        (Some(JudgedBy::Caution), _) => "no best point is stated".to_owned(),
    };
    (Judgement::NotTested, vec![evidence], Vec::new())
}

/// Whether a single queue explains the loss of volumes, at the points at which direct use of the members is fastest.
/// `None` if there is no volume.
fn by_queues(gate: &Gate<'_>, layers: &[LayerStack]) -> Option<Judged> {
    let at_best = layers.iter().flatten().filter(|one| one.about().best);
    let volumes = at_best.filter_map(|one| Some((one, one.about().single_queue.as_ref()?)));
    let told = |(one, (judgement, why)): (&Stated<Layer>, &(Judgement, String))| {
        let name = gate.subject(one.figure()).map(label).unwrap_or_default();
        match one.says() {
            Some(_) => (*judgement, format!("{name}: {why}"), one.figure()),
            None => {
                let reasons = one.reasons.iter().map(|one| one.because.name()).collect::<Vec<_>>().join(", ");
                (Judgement::CannotTell, format!("{name}: withheld: {reasons}"), one.figure())
            }
        }
    };
    let mut all: Vec<(Judgement, String, usize)> = volumes.map(told).collect();
    let any = |wanted| all.iter().any(|one| one.0 == wanted);
    let judgement = match (any(Judgement::Holds), any(Judgement::DoesNotHold)) {
        (true, false) => Judgement::Holds,
        (false, true) => Judgement::DoesNotHold,
        _ => Judgement::CannotTell,
    };
    all.sort_by_key(|one| one.0 != judgement);
    let figures = all.iter().map(|one| one.2).collect();
    (!all.is_empty()).then(|| (judgement, all.into_iter().map(|one| one.1).collect(), figures))
}

/// A claim that a peak is no promise stands with each best point. `None` if none is stated.
fn by_caution(best: &[Stated<Best>]) -> Option<Judged> {
    let stated: Vec<&Stated<Best>> = best.iter().filter(|one| one.says().is_some()).collect();
    let points = match stated.len() {
        1 => "the best point".to_owned(),
        count => format!("each of {count} best points"),
    };
    let evidence = format!(
        "{points} says: a peak holds under its conditions and no others, and applications are unlikely to reach it"
    );
    let figures = stated.iter().map(|one| one.figure()).collect();
    (!stated.is_empty()).then(|| (Judgement::Holds, vec![evidence], figures))
}
