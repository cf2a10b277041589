//! Targets that were measured in turns by a quick run of several directories.

use analysis::gate::Outcome;
use analysis::statistics::Contrast;
use plan::{Phase, PlanSource};

use crate::common::studies::{Study, said, target};

const RATES: [f64; 6] = [100e6, 100.4e6, 99.8e6, 100.1e6, 100.3e6, 99.9e6];

/// `rates` of reads and of writes on each of the targets, the first of which has [`RATES`].
fn study(others: &[(&str, f64)]) -> Study {
    let names = ["first"].into_iter().chain(others.iter().map(|(name, _)| *name));
    let mut study = Study::new(names.map(|name| target(name, |_| {})).collect());
    study.plan.source = PlanSource::Quick {
        directory: "/first".into(),
        others: others.iter().map(|(name, _)| format!("/{name}").into()).collect(),
    };
    for phase in [Phase::Read, Phase::Write] {
        for (name, factor) in [("first", 1.0)].iter().chain(others) {
            let factor = if phase == Phase::Read { *factor } else { 1.0 };
            study.add(phase.name(), name, &[], phase, &RATES.map(|rate| (rate * factor).round()));
        }
    }
    study
}

#[test]
fn each_figure_is_compared_with_that_of_the_first_target() {
    let study = study(&[("slow", 0.5), ("fast", 2.0)]);
    let findings = study.findings();
    let all = said(&findings.target_contrasts);
    let told: Vec<(&str, &str, &str, bool)> = all
        .iter()
        .map(|(_, one)| (&*one.target, &*one.first, one.outcome(), one.change().is_some()))
        .collect();
    assert_eq!(
        told,
        [
            ("slow", "first", "slower", true),
            ("fast", "first", "faster", true),
            ("slow", "first", "no difference shown", false),
            ("fast", "first", "no difference shown", false),
        ]
    );
    let slow = all[0].1;
    assert!((slow.difference.change + 0.5).abs() < 1e-6, "{slow:?}");
    let (low, high) = slow.difference.interval.expect("an interval");
    assert!(low <= -0.5 && (-0.5..0.0).contains(&high));
    assert_eq!(all[0].0, [1, 0], "the figure it is about comes first");
    assert!(findings.taxes.is_empty(), "they are not compared a second time");
}

#[test]
fn too_few_passes_state_nothing() {
    let mut study = study(&[("other", 1.1)]);
    study.phases.retain(|row| row.key.repetition < 2);
    let findings = study.findings();
    assert_eq!(findings.target_contrasts.len(), 2);
    assert!(
        said(&findings.target_contrasts).iter().all(|(_, one)| one.difference.outcome == Contrast::TooFew)
    );
    assert!(findings.target_contrasts.iter().all(|one| one.outcome != Outcome::Stated));
}

#[test]
fn other_plans_have_their_own_comparisons() {
    let mut study = study(&[("slow", 0.5)]);
    study.plan.source = PlanSource::Quick { directory: "/first".into(), others: Vec::new() };
    let findings = study.findings();
    assert!(findings.target_contrasts.is_empty() && !findings.taxes.is_empty());
}
