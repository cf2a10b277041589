//! A run compared with itself: ways to split it, and which methods report a difference where there is none.

use analysis::audit::{AuditIssue, Check};
use analysis::comparisons::{AgainstItself, Division, TooFewRepetitions, against_itself};
use analysis::gate::Gate;
use analysis::statistics::{Rule, exact_share};

use crate::common::random::Random;
use crate::common::study::{Study, reads};

fn compared(study: &Study, times: usize, doubts: &[AuditIssue]) -> Result<AgainstItself, TooFewRepetitions> {
    let (plan, figures) = (study.plan(), study.figures());
    against_itself(&Gate::new(&plan, &figures, doubts), times)
}

fn alarms(found: &AgainstItself, rule: Rule, division: Division) -> usize {
    let one = found.alarms.iter().find(|one| one.rule == rule && one.division == division);
    one.expect("each rule with each division").alarms
}

#[test]
fn repetitions_go_to_both_sides_in_turn_or_one_after_the_other() {
    let values: Vec<f64> = (0..10).map(f64::from).collect();
    let [first, second] = Division::InTurn.sides(&values);
    assert_eq!((first, second), (vec![0.0, 3.0, 4.0, 7.0, 8.0], vec![1.0, 2.0, 5.0, 6.0, 9.0]));
    let [first, second] = Division::OneAfterOther.sides(&values);
    assert_eq!((first, second), (vec![0.0, 1.0, 2.0, 3.0, 4.0], vec![5.0, 6.0, 7.0, 8.0, 9.0]));
}

/// Storage with a constant rate and 3 % noise: only the informal rules report differences.
#[test]
fn on_steady_storage_the_test_keeps_its_level_and_the_habits_do_not() {
    let random = &mut Random::seeded(3);
    let rates: Vec<u64> = (0..2000).map(|_| drawn(random, 100_000.0)).collect();
    let found = compared(&Study::default().with(reads("a"), &rates), 200, &[]).expect("ten for each");
    assert_eq!((found.figures, found.comparisons, found.repetitions), (1, 200, (5, 5)));
    for division in Division::ALL {
        assert!(alarms(&found, Rule::Test, division) <= 6, "{found:?}");
        assert!(alarms(&found, Rule::BestOfFive(0.01), division) >= 60, "{found:?}");
        assert!(alarms(&found, Rule::MeanOfThree(0.02), division) >= 60, "{found:?}");
    }
}

/// Storage that gets a percent faster with each repetition: two consecutive runs differ, alternating cases do not.
#[test]
fn a_drift_gives_alarms_where_one_side_is_measured_after_the_other() {
    let random = &mut Random::seeded(4);
    let rates: Vec<u64> = (0..100).map(|step| drawn(random, 100_000.0 * 1.02_f64.powi(step))).collect();
    let found = compared(&Study::default().with(reads("a"), &rates), 10, &[]).expect("ten for each");
    assert!(alarms(&found, Rule::Test, Division::OneAfterOther) >= 5, "{found:?}");
    assert_eq!(alarms(&found, Rule::Test, Division::InTurn), 0, "{found:?}");
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rate far below the limits")]
fn drawn(random: &mut Random, rate: f64) -> u64 {
    (rate * (0.03 * random.normal()).exp()) as u64
}

#[test]
fn too_few_repetitions_are_told_with_the_number_that_is_needed() {
    let study = Study::default().with(reads("a"), &[100; 19]).with(reads("b"), &[100; 4]);
    assert_eq!(compared(&study, 2, &[]), Err(TooFewRepetitions { has: 19, needed: 20 }));
    let once = compared(&study, 1, &[]).expect("nine on each side");
    assert_eq!((once.figures, once.left_out, once.repetitions), (1, 1, (9, 9)));
    assert_eq!(compared(&study, 0, &[]), Err(TooFewRepetitions { has: 19, needed: 0 }));
}

#[test]
fn what_the_audit_refuses_is_not_compared() {
    let study = Study::default().with(reads("a"), &[100; 10]);
    let doubt = AuditIssue {
        check: Check::TooShort,
        figure: Some(0),
        commitment: None,
        concerns: String::new(),
        evidence: String::new(),
        advice: String::new(),
        severity: 0.0,
    };
    assert_eq!(compared(&study, 1, &[doubt]), Err(TooFewRepetitions { has: 0, needed: 10 }));
}

/// Clopper-Pearson bounds by hand: 0 of n is at most 1 − 0.025^(1/n), n of n is at least 0.025^(1/n).
#[test]
fn an_exact_interval_of_a_share_is_that_of_the_binomial_distribution() {
    let near = |got: (f64, f64), wanted: (f64, f64)| {
        assert!((got.0 - wanted.0).abs() < 1e-6 && (got.1 - wanted.1).abs() < 1e-6, "{got:?}, {wanted:?}");
    };
    near(exact_share(0, 20), (0.0, 1.0 - 0.025_f64.powf(0.05)));
    near(exact_share(20, 20), (0.025_f64.powf(0.05), 1.0));
    near(exact_share(0, 0), (0.0, 1.0));
}
