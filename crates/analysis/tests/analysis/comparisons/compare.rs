//! Comparison of two runs.

use analysis::{
    audit::{AuditIssue, Check, Outcome},
    comparisons::{Comparison, largest_gap, paired},
    gate::{Because, Gate},
    statistics::{Contrast, Steadier, compare_spread},
};
use plan::Operation;
use proptest::collection::vec;
use proptest::prelude::{prop_assert, proptest};
use record::Warning;

use crate::common::rows::{SECOND, bucket};
use crate::common::study::{Study, key, reads};

fn compare(before: &Study, after: &Study) -> Vec<Comparison> {
    compare_doubted(before, after, &[])
}

/// Compares two runs, with `doubts` about the second.
fn compare_doubted(before: &Study, after: &Study, doubts: &[AuditIssue]) -> Vec<Comparison> {
    let (figures, others) = (before.figures(), after.figures());
    let (plan, other_plan) = (before.plan(), after.plan());
    let found = paired(&[Gate::new(&plan, &figures, &[])], &[Gate::new(&other_plan, &others, doubts)]);
    found.into_iter().flat_map(|one| one.comparisons).collect()
}

#[test]
fn figures_are_compared_by_case_and_phase() {
    let before = Study::default()
        .with(reads("a"), &[100, 101, 102, 103, 104])
        .with(reads("b"), &[100, 101, 102, 103, 104])
        .with(reads("gone"), &[1]);
    let after = Study::default()
        .with(reads("b"), &[150, 151, 152, 153, 154])
        .with(reads("a"), &[104, 102, 100, 103, 101])
        .with(reads("new"), &[1]);
    let found = compare(&before, &after);
    let said: Vec<_> = found.iter().map(|one| (one.case.as_str(), one.difference.outcome)).collect();
    assert_eq!(said, [("a", Contrast::NotShown), ("b", Contrast::Higher), ("gone → new", Contrast::TooFew)]);
    let b = &found[1].difference;
    assert_eq!((b.before, b.after), (102.0 * 4096.0, 152.0 * 4096.0));
    let gap = largest_gap(&found).expect("two rates");
    assert_eq!(gap.case, "b");
}

/// Five passes with the same rate and this latency.
fn with_latency(latency_ns: u64) -> Study {
    let mut study = Study::default().with(reads("disk"), &[100; 5]);
    for repetition in 0..5 {
        let key = key(&study.cases[0], repetition, plan::Phase::Read);
        let edges = (latency_ns + repetition as u64, latency_ns + repetition as u64);
        study.latency.push(bucket(&key, Operation::Read, edges, 10));
    }
    study
}

/// Latencies are compared as well.
#[test]
fn mean_latencies_are_compared() {
    let found = compare(&with_latency(1000), &with_latency(500));
    assert_eq!(found.len(), 2);
    assert_eq!((found[0].operation, found[0].difference.outcome), (None, Contrast::NotShown));
    let latency = &found[1].difference;
    assert_eq!((found[1].operation, latency.before, latency.after), (Some(Operation::Read), 1002.0, 502.0));
    assert_eq!(latency.outcome, Contrast::Lower);
    assert_eq!(largest_gap(&found), None, "latencies are no rates");
}

/// A difference of 2 % with a probability of 0.01 by itself is not reported among a hundred figures without a
/// difference.
#[test]
fn comparisons_of_one_page_are_tested_together() {
    let study = |last: &[u64]| {
        let names: Vec<String> = (0..100).map(|number| format!("c{number}")).collect();
        let all = names
            .iter()
            .fold(Study::default(), |all, name| all.with(reads(name), &[100, 101, 102, 103, 104]));
        all.with(reads("last"), last)
    };
    let (before, after) = ([100, 101, 102, 103, 104], [105, 106, 107, 108, 109]);
    let alone = compare(
        &Study::default().with(reads("last"), &before),
        &Study::default().with(reads("last"), &after),
    );
    assert_eq!(alone[0].difference.outcome, Contrast::Higher);
    let found = compare(&study(&before), &study(&after));
    assert_eq!(found.last().map(|one| one.difference.outcome), Some(Contrast::NotShown));
}

/// However large the difference is. These figures are not part of the family either.
#[test]
fn what_the_audit_disqualifies_is_not_compared() {
    let before = Study::default().with(reads("a"), &[100, 101, 102, 103, 104]);
    let mut short = Study::default().with(reads("a"), &[150, 151, 152, 153, 154]);
    for phase in &mut short.phases {
        phase.wall_ns = 1_000_000;
    }
    let doubts = analysis::audit::audit(&short.plan(), &short.figures(), &[]);
    let found = compare_doubted(&before, &short, &doubts);
    let one = &found[0];
    assert!(one.is_withheld() && one.reasons[0].because == Because::Doubted(Check::TooShort), "{one:?}");
    assert!(one.reasons[0].evidence.starts_with("after: "), "{one:?}");
    assert!(!one.difference.is_stated() && one.difference.p_value.is_none(), "{one:?}");
    assert_eq!(largest_gap(&found), None);
}

/// A marked figure is not refused, and writes can be compared whether or not a promise requires to know where they
/// went.
#[test]
fn what_the_audit_marks_is_compared_with_the_mark() {
    let of = |rates: &[u64]| Study::default().with(reads("a"), rates);
    let (before, after) = (of(&[100, 101, 102, 103, 104]), of(&[150, 151, 152, 153, 154]));
    let doubt = |check| AuditIssue {
        check,
        figure: Some(0),
        commitment: None,
        concerns: "a".to_owned(),
        evidence: "others used 40 %".to_owned(),
        advice: String::new(),
        severity: 0.4,
    };
    let found = compare_doubted(&before, &after, &[doubt(Check::NotQuiet), doubt(Check::AbsorbedWrites)]);
    let one = &found[0];
    assert_eq!((one.outcome, one.difference.outcome), (Outcome::Marked, Contrast::Higher));
    let reasons: Vec<_> = one.reasons.iter().map(|one| (one.because, one.evidence.as_str())).collect();
    assert_eq!(reasons, [(Because::Doubted(Check::NotQuiet), "after: others used 40 %")]);
}

/// Compares two runs, where the program was held back for a fifth of the time in those that `is_held` selects.
fn compare_held(before: &Study, after: &Study, is_held: [bool; 2]) -> Vec<Comparison> {
    let (plan, other_plan) = (before.plan(), after.plan());
    let [first, second] =
        [(before, &plan, is_held[0]), (after, &other_plan, is_held[1])].map(|(study, plan, is_held)| {
            let mut figures = study.figures();
            for pass in figures.iter_mut().flat_map(|one| &mut one.repetitions).filter(|_| is_held) {
                pass.warnings = vec![Warning::Starved { seen: "stopped".to_owned(), share: 0.2 }];
            }
            let doubts = analysis::audit::audit(plan, &figures, &[]);
            (figures, doubts)
        });
    let first = Gate::new(&plan, &first.0, &first.1);
    let found = paired(&[first], &[Gate::new(&other_plan, &second.0, &second.1)]);
    found.into_iter().flat_map(|one| one.comparisons).collect()
}

/// A program that was stopped for a fifth of the time could have been faster by half, but not twice as fast. If the
/// other side was held back, that does not weaken the result.
#[test]
fn a_difference_that_being_held_back_may_have_made_is_not_stated() {
    let of = |rates: &[u64]| Study::default().with(reads("a"), rates);
    let judged = |rates: &[u64], is_held| {
        let one = compare_held(&of(&[100, 101, 102, 103, 104]), &of(rates), is_held).remove(0);
        (one.outcome, one.difference.outcome)
    };
    let (lower, higher) = ([80, 81, 82, 83, 84], [120, 121, 122, 123, 124]);
    assert_eq!(judged(&lower, [false; 2]), (Outcome::Stated, Contrast::Lower));
    for is_held in [[false, true], [true; 2]] {
        assert_eq!(judged(&lower, is_held), (Outcome::Withheld, Contrast::NotShown), "{is_held:?}");
        assert_eq!(judged(&[40, 41, 42, 43, 44], is_held), (Outcome::Marked, Contrast::Lower), "{is_held:?}");
    }
    assert_eq!(judged(&lower, [true, false]), (Outcome::Marked, Contrast::Lower));
    assert_eq!(judged(&higher, [true, false]), (Outcome::Withheld, Contrast::NotShown));
    assert_eq!(judged(&higher, [false, true]), (Outcome::Marked, Contrast::Higher));
    assert_eq!(judged(&[200, 201, 202, 203, 204], [true, false]), (Outcome::Marked, Contrast::Higher));
}

/// A single stop may account for all of the longest latencies, and for much of their mean.
#[test]
fn latencies_of_a_program_that_was_held_back_are_not_called_longer() {
    let judged = |is_held| {
        let one = compare_held(&with_latency(100_000), &with_latency(900_000), is_held).remove(1);
        one.difference.outcome
    };
    assert_eq!(judged([false; 2]), Contrast::Higher);
    assert_eq!(judged([false, true]), Contrast::NotShown);
    assert_eq!(judged([true, false]), Contrast::Higher);
}

/// Other processes used more than one processor during the second run, and its task waited for a tenth of the time
/// more.
#[test]
fn what_a_busier_host_may_have_made_is_no_difference() {
    let of = |rates: &[u64], others_ns: u64, waited_ns: u64| {
        let mut study = Study::default().with(reads("a"), rates);
        for row in &mut study.phases {
            (row.user_cpu_ns, row.system_cpu_ns) = (SECOND / 10, SECOND / 10);
            (row.node_cpu_ns, row.cpu_wait_ns) = (Some(SECOND / 5 + others_ns), Some(waited_ns));
        }
        study
    };
    let quiet = of(&[100, 101, 102, 103, 104], SECOND / 10, SECOND / 100);
    let wall_ns = quiet.phases[0].wall_ns;
    assert_eq!((wall_ns, quiet.cases[0].workload.tasks), (10 * SECOND, 1), "the numbers below are of these");
    let judged = |rates: &[u64], others_ns, waited_ns, doubts: &[AuditIssue]| {
        let found = compare_doubted(&quiet, &of(rates, others_ns, waited_ns), doubts);
        (found[0].outcome, found[0].difference.outcome)
    };
    let not_quiet = AuditIssue {
        check: Check::NotQuiet,
        figure: Some(0),
        commitment: None,
        concerns: "a".to_owned(),
        evidence: "others used 40 %".to_owned(),
        advice: String::new(),
        severity: 0.4,
    };
    let (lower, not_quiet) = ([85, 86, 87, 88, 89], std::slice::from_ref(&not_quiet));
    let (busy, waiting) = (12 * SECOND, SECOND);
    assert_eq!(judged(&lower, busy, waiting, not_quiet), (Outcome::Withheld, Contrast::NotShown));
    assert_eq!(judged(&lower, busy, waiting, &[]), (Outcome::Stated, Contrast::Lower), "it is not others");
    assert_eq!(judged(&lower, SECOND / 5, waiting, not_quiet), (Outcome::Marked, Contrast::Lower));
    assert_eq!(judged(&lower, busy, SECOND / 50, not_quiet), (Outcome::Marked, Contrast::Lower));
    let (far, higher) = ([75, 76, 77, 78, 79], [115, 116, 117, 118, 119]);
    assert_eq!(judged(&far, busy, waiting, not_quiet), (Outcome::Marked, Contrast::Lower));
    assert_eq!(
        judged(&higher, busy, waiting, not_quiet),
        (Outcome::Marked, Contrast::Higher),
        "in spite of it"
    );
    // The task waited as long in the first run.
    let as_long = of(&[100, 101, 102, 103, 104], SECOND / 10, waiting);
    let found = compare_doubted(&as_long, &of(&lower, busy, waiting), not_quiet);
    assert_eq!((found[0].outcome, found[0].difference.outcome), (Outcome::Marked, Contrast::Lower));
}

/// The warm-up of the first run is very different. Without it both runs are equal.
#[test]
fn a_warm_up_is_not_compared() {
    let case = || {
        let mut case = reads("a");
        case.protocol.warm_up = 1;
        case
    };
    let before = Study::default().with(case(), &[9000, 100, 101, 102, 103]);
    let after = Study::default().with(case(), &[100, 100, 101, 102, 103]);
    let found = compare(&before, &after);
    let one = &found[0].difference;
    assert_eq!((one.before, one.after, one.n), (101.5 * 4096.0, 101.5 * 4096.0, (4, 4)));
}

/// The probability of the analysis of variance by integrating Student's density, that of the ranks by counting all
/// divisions of sixteen values, in a separate program.
#[test]
fn the_steadier_system_is_named() {
    let calm: Vec<f64> =
        [10.0, 11.0, 9.0, 10.5, 9.5, 10.2, 9.8, 10.1].iter().map(|value| value / 10.1).collect();
    let wild: Vec<f64> =
        [10.0, 15.0, 5.0, 13.0, 7.0, 11.0, 8.0, 14.0].iter().map(|value| value / 10.5).collect();
    let test = compare_spread(&calm, &wild).expect("two samples");
    assert_eq!(test.steadier, Steadier::NoDifference, "not at 1 %");
    assert!((test.p_value - 2.0 * 0.006_834_048_6).abs() < 1e-9, "{}", test.p_value);
    let twice = |values: &[f64]| values.repeat(2);
    let steadier = |one: &[f64], other: &[f64]| compare_spread(one, other).map(|test| test.steadier);
    assert_eq!(steadier(&twice(&calm), &twice(&wild)), Some(Steadier::First));
    assert_eq!(steadier(&twice(&wild), &twice(&calm)), Some(Steadier::Second));
    let larger: Vec<f64> = calm.iter().map(|value| value * 7.0).collect();
    assert_eq!(compare_spread(&calm, &larger).map(|test| test.steadier), Some(Steadier::NoDifference));
    assert_eq!(compare_spread(&calm[..7], &wild).map(|test| test.steadier), Some(Steadier::TooFew));
    assert_eq!(compare_spread(&[5.0; 5], &[9.0; 5]).map(|test| test.p_value), Some(1.0));
    assert_eq!(compare_spread(&[5.0], &wild), None);
    assert_eq!(compare_spread(&[0.0; 5], &wild), None);
}

proptest! {
    #[test]
    fn a_run_is_as_steady_as_itself(values in vec(1.0_f64..1e9, 2..30)) {
        prop_assert!(compare_spread(&values, &values).is_some_and(|test| test.p_value > 0.99));
    }
}
