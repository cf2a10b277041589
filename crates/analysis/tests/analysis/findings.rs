//! All findings together: each part equals the result of its own function, and large studies are processed in one
//! pass.

use analysis::{audit::Check, gate::Judgement};
use plan::{Amount, Bound, Commitment, Over, Phase, PublishedReference, RateName, Selector, Statistic};

use crate::common::studies::{Study, count, findings, target};

const GB: f64 = 1e9;

fn promised(amount: f64) -> Commitment {
    Commitment {
        name: "read".to_owned(),
        by: String::new(),
        figures: Selector::default(),
        rate: RateName::ByWall,
        statistic: Statistic::Median,
        bound: Bound::AtLeast,
        asked: Amount::BytesPerSecond(amount).into(),
        over: Over::Every,
        terms: plan::Terms::default(),
    }
}

#[test]
fn a_commitment_is_judged_with_the_doubts_of_the_audit() {
    let mut study = Study::new(vec![target("disk", |target| target.caches = Some(plan::Bytes(0)))]);
    study.add("w", "disk", &[count("tasks", 1)], Phase::Read, &[2.0 * GB]);
    study.plan.criteria.commitments.push(promised(GB));
    let judged = |study: &Study| findings(&study.plan, &study.figures(), 4);
    assert_eq!(judged(&study).verdicts[0].says().map(|one| one.judgement), Some(Judgement::Holds));
    // The devices read only a tenth of the data, so the rest came from memory.
    study.phases[0].device_read_bytes = Some(study.phases[0].read_bytes / 10);
    let doubted = judged(&study);
    assert!(doubted.audit.iter().any(|doubt| doubt.check == Check::Cached), "{:?}", doubted.audit);
    assert_eq!(doubted.verdicts[0].says().map(|one| one.judgement), Some(Judgement::CannotTell));
}

#[test]
fn published_figures_stand_beside_own_ones_where_the_study_names_them() {
    let mut study = Study::new(vec![target("disk", |_| {})]);
    study.add("w", "disk", &[count("tasks", 1)], Phase::Read, &[2.0 * GB]);
    let none = findings(&study.plan, &study.figures(), 4);
    assert!(none.published.is_empty() && none.claims.is_empty());
    let place = PublishedReference { id: "a-t2-read-best".to_owned(), figures: Selector::default() };
    study.plan.criteria.published.push(place);
    let found = findings(&study.plan, &study.figures(), 4);
    assert_eq!(found.published.len(), 1);
    let published = found.published[0].says().expect("it is stated");
    assert_eq!((published.figure, published.own), (Some(0), Some(2.0 * GB)));
}
