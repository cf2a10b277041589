//! Claims are tested by their rules, with evidence from both sides. Claims that no rule tests are reported as such.

use std::fs;
use std::path::Path;

use analysis::{
    audit::audit,
    comparisons::{ClaimVerdict, claims},
    figures::Figure,
    gate::{Gate, Judgement},
    sweeps::curves,
};
use plan::{Claim, Phase, PublishedReference, Quantity, Relation, Selector, Side};
use record::{PhaseKey, Warning, published};

use crate::common::rows::{SECOND, phase};
use crate::common::studies::{Study, count, target};

const FAST: [f64; 5] = [10e9, 10.1e9, 9.9e9, 10.05e9, 9.95e9];
const SLOW: [f64; 5] = [8e9, 8.1e9, 7.9e9, 8.05e9, 7.95e9];

fn on(target: &str) -> Selector {
    Selector { target: Some(target.to_owned()), phase: Some(Phase::Write), ..Selector::default() }
}

fn rule(id: &str, quantity: Quantity, left: Selector, relation: Relation, right: Side) -> Claim {
    let text = if id == "own" { "the own statement".to_owned() } else { String::new() };
    Claim { id: id.to_owned(), text, quantity, left, relation, right, factor: 1.0, tolerance: 0.0 }
}

/// The rates of two targets over tasks, with these repetitions at 8 tasks.
fn study(xfs: &[f64], gpfs: &[f64]) -> Study {
    let mut study = Study::new(vec![target("xfs", |_| {}), target("gpfs", |_| {})]);
    for (name, rates) in [("xfs", xfs), ("gpfs", gpfs)] {
        for (tasks, share) in [(1, 0.2), (4, 0.8), (8, 1.0), (16, 0.99)] {
            let rates: Vec<f64> = rates.iter().map(|rate| rate * share).collect();
            study.add("scale", name, &[count("tasks", tasks)], Phase::Write, &rates);
        }
    }
    study
}

fn verdicts(study: &Study, rules: Vec<Claim>) -> Vec<ClaimVerdict> {
    let mut plan = study.plan.clone();
    plan.criteria.claims = rules;
    let figures = study.figures();
    let doubts = audit(&plan, &figures, &[]);
    claims(&plan, &figures, &curves(&Gate::new(&plan, &figures, &[])), &doubts, published())
}

fn first(study: &Study, rule: Claim) -> (Judgement, String) {
    let mut found = verdicts(study, vec![rule]);
    let first = found.remove(0);
    (first.judgement, first.evidence.join("; "))
}

/// The transfers of these studies have 4 KiB, so their rates are said in IOPS.
#[test]
fn a_difference_beyond_the_scatter_holds() {
    let study = study(&FAST, &SLOW);
    let greater =
        |left, right| rule("own", Quantity::BestRate, on(left), Relation::Greater, Side::Measured(on(right)));
    assert_eq!(
        first(&study, greater("xfs", "gpfs")),
        (
            Judgement::Holds,
            "2,441,406 IOPS (xfs, write, tasks 8) > 1,953,125 IOPS (gpfs, write, tasks 8)".to_owned()
        )
    );
    assert_eq!(
        first(&study, greater("gpfs", "xfs")),
        (
            Judgement::DoesNotHold,
            "1,953,125 IOPS (gpfs, write, tasks 8) < 2,441,406 IOPS (xfs, write, tasks 8); should be greater"
                .to_owned()
        )
    );
    let less = rule("own", Quantity::LowestRate, on("gpfs"), Relation::Less, Side::Measured(on("xfs")));
    assert_eq!(first(&study, less).0, Judgement::Holds);
}

#[test]
fn a_difference_within_the_scatter_cannot_be_told() {
    let study = study(&[10e9, 12e9, 8e9, 11e9, 9e9], &[9e9, 11e9, 7e9, 10e9, 8e9]);
    let rule = rule("own", Quantity::BestRate, on("xfs"), Relation::Greater, Side::Measured(on("gpfs")));
    assert_eq!(
        first(&study, rule),
        (
            Judgement::CannotTell,
            "2,441,406 IOPS (xfs, write, tasks 8) against 2,197,266 IOPS (gpfs, write, tasks 8), a difference within the \
             scatter; 99 repetitions a side would tell 11.1 %"
                .to_owned()
        )
    );
}

/// A million bytes per second is slow, a million operations per second is fast. The magnitude of the value shows
/// which is meant.
#[test]
fn operations_per_second_are_compared_with_operations() {
    let study = study(&FAST, &SLOW);
    let figures = study.figures();
    let best = figures.iter().map(|figure| figure.transfers_per_second.median).fold(0.0, f64::max);
    let claim = |operations| {
        let right = Side::OperationsPerSecond(operations);
        first(&study, rule("own", Quantity::BestRate, on("xfs"), Relation::Greater, right))
    };
    let (judgement, evidence) = claim(best / 2.0);
    assert_eq!(judgement, Judgement::Holds, "{evidence}");
    assert!(evidence.contains("/s (xfs, write, tasks 8) > ") && !evidence.contains("B/s"), "{evidence}");
    let (judgement, evidence) = claim(best * 2.0);
    assert_eq!(judgement, Judgement::DoesNotHold, "{evidence}");
}

/// This holds however large the difference is.
#[test]
fn fewer_than_five_repetitions_cannot_tell() {
    for (repetitions, there) in [(1, "is 1"), (2, "are 2"), (4, "are 4")] {
        let study = study(&FAST[..repetitions], &SLOW[..repetitions]);
        let own = |relation, right| rule("own", Quantity::BestRate, on("xfs"), relation, right);
        for relation in [Relation::Greater, Relation::Less, Relation::Equal] {
            let (judgement, evidence) = first(&study, own(relation, Side::Measured(on("gpfs"))));
            assert_eq!(judgement, Judgement::CannotTell, "{evidence}");
            let why = format!(": 5 repetitions on each side are needed, but there {there}");
            assert!(evidence.ends_with(&why), "{evidence}");
            let (judgement, evidence) = first(&study, own(relation, Side::Value(1e9)));
            assert_eq!(judgement, Judgement::CannotTell, "{evidence}");
        }
    }
}

/// Ten studies of two equal targets with six rules each, on four points: at most one rule in a hundred is wrong.
#[test]
fn equal_targets_are_not_told_apart() {
    let mut state = 1_u64;
    let mut noise = || {
        let uniform: f64 = (0..12)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 11) as f64 / (1_u64 << 53) as f64
            })
            .sum();
        1.0 + 0.05 * (uniform - 6.0)
    };
    let mut told = 0;
    for _ in 0..100 {
        let mut study = Study::new(vec![target("xfs", |_| {}), target("gpfs", |_| {})]);
        for name in ["xfs", "gpfs"] {
            for tasks in [1, 4, 8, 16] {
                let rates: Vec<f64> = (0..5).map(|_| 10e9 * noise()).collect();
                study.add("scale", name, &[count("tasks", tasks)], Phase::Write, &rates);
            }
        }
        let quantities = [Quantity::BestRate, Quantity::LowestRate, Quantity::Variation, Quantity::BestAt];
        let rules = quantities
            .iter()
            .map(|&quantity| {
                let right = Side::Measured(on("gpfs"));
                rule(&format!("own {quantity:?}"), quantity, on("xfs"), Relation::Greater, right)
            })
            .collect();
        told += verdicts(&study, rules).iter().filter(|one| one.judgement != Judgement::CannotTell).count();
    }
    assert!(told <= 4, "{told} of 400");
}

#[test]
fn tolerance_and_factor_are_of_the_right_side() {
    let study =
        study(&[9.09e9, 9.1e9, 9.08e9, 9.095e9, 9.085e9], &[10e9, 10.01e9, 9.99e9, 10.005e9, 9.995e9]);
    let tax = |tolerance| Claim {
        factor: 0.909,
        tolerance,
        ..rule("own", Quantity::BestRate, on("xfs"), Relation::Equal, Side::Measured(on("gpfs")))
    };
    let (judgement, evidence) = first(&study, tax(0.01));
    assert_eq!(judgement, Judgement::Holds);
    assert_eq!(
        evidence,
        "2,219,238 IOPS (xfs, write, tasks 8) = 2,441,406 IOPS (gpfs, write, tasks 8) × 0.909, equal within 1 %: yes"
    );
    let greater = |tolerance| Claim {
        tolerance,
        ..rule("own", Quantity::BestRate, on("gpfs"), Relation::Greater, Side::Measured(on("xfs")))
    };
    assert_eq!(first(&study, greater(0.05)).0, Judgement::Holds);
    let (judgement, evidence) = first(&study, greater(0.2));
    assert_eq!(judgement, Judgement::DoesNotHold);
    assert!(evidence.ends_with("should be greater by more than 20 %"), "{evidence}");
}

/// If an interval overlaps the tolerance, the claim is left open, and the interval is reported.
#[test]
fn values_are_equal_to_a_number_as_far_as_their_interval_tells() {
    let study = study(&FAST, &SLOW);
    let equal = |value: f64, tolerance| {
        let right = Side::Value(value);
        first(
            &study,
            Claim { tolerance, ..rule("own", Quantity::BestRate, on("xfs"), Relation::Equal, right) },
        )
    };
    let (judgement, evidence) = equal(10e9, 0.05);
    assert_eq!(
        (judgement, evidence.as_str()),
        (Judgement::Holds, "10 GB/s (xfs, write, tasks 8) = 10 GB/s, equal within 5 %: yes")
    );
    for value in [8e9, 12e9] {
        let (judgement, evidence) = equal(value, 0.05);
        assert_eq!(judgement, Judgement::DoesNotHold, "{evidence}");
    }
    // The median is within 2 % of the first.
    for (value, shown, interval) in
        [(9.9e9, "9.9 GB/s", "-1 % to +3 %"), (10.3e9, "10.3 GB/s", "-4.8 % to -1 %")]
    {
        let (judgement, evidence) = equal(value, 0.02);
        let within = format!("against {shown}, equal within 2 %: the difference may be {interval}");
        assert_eq!(judgement, Judgement::CannotTell, "{evidence}");
        assert!(evidence.ends_with(&within), "{evidence}");
    }
}

/// A quantity derived from several figures is computed separately for each repetition.
#[test]
fn values_are_in_the_unit_of_their_quantity() {
    let study = study(&FAST, &SLOW);
    let at = |value| rule("own", Quantity::BestAt, on("xfs"), Relation::Equal, Side::Value(value));
    assert_eq!(
        first(&study, at(8.0)),
        (Judgement::Holds, "8 (xfs, write, tasks 8) = 8, equal within 0 %: yes".to_owned())
    );
    assert_eq!(first(&study, at(4.0)).0, Judgement::DoesNotHold);
    let plateau = rule("own", Quantity::PlateauFrom, on("xfs"), Relation::Less, Side::Value(16.0));
    assert_eq!(first(&study, plateau).0, Judgement::Holds);
    let variation = rule("own", Quantity::Variation, on("xfs"), Relation::Equal, Side::Measured(on("gpfs")));
    let (judgement, evidence) = first(&study, Claim { tolerance: 0.01, ..variation });
    assert_eq!(judgement, Judgement::Holds, "{evidence}");
}

/// The scatter of repetitions is a single value with unknown uncertainty.
#[test]
fn which_of_two_spreads_is_larger_cannot_be_told() {
    let spread =
        rule("own", Quantity::RepetitionSpread, on("xfs"), Relation::Less, Side::Measured(on("gpfs")));
    let (judgement, evidence) = first(&study(&FAST, &[8e9, 9e9, 7e9, 8.5e9, 7.5e9]), spread);
    assert_eq!(judgement, Judgement::CannotTell);
    assert!(evidence.ends_with("which do not have a value for each repetition"), "{evidence}");
}

/// Curves over the other key pass through one of the figures each.
#[test]
fn a_curve_whose_other_keys_are_fixed_is_found() {
    let mut study = Study::new(vec![target("xfs", |_| {})]);
    for percent in [0, 50, 100] {
        for (nodes, share) in [(1, 0.3), (2, 0.6), (4, 0.95), (8, 1.0)] {
            let rates = FAST.map(|rate| rate * share * (1.0 + percent as f64 / 100.0));
            let settings = [count("read_percent", percent), count("nodes", nodes)];
            study.add("mixes", "xfs", &settings, Phase::Write, &rates);
        }
    }
    let reads = Selector { at: vec![count("read_percent", 100)], ..Selector::default() };
    let reaches = rule("own", Quantity::Reaches90, reads.clone(), Relation::Less, Side::Value(5.0));
    let (judgement, evidence) = first(&study, reaches);
    assert_eq!((judgement, evidence.as_str()), (Judgement::Holds, "4 (xfs) < 5"));
    let any = rule("own", Quantity::Reaches90, Selector::default(), Relation::Less, Side::Value(5.0));
    let (judgement, evidence) = first(&study, any);
    assert_eq!(judgement, Judgement::NotTested);
    assert!(evidence.contains("fix the other keys with `at`"), "{evidence}");
}

#[test]
fn what_was_not_measured_is_not_tested() {
    let study = study(&[10e9], &[8e9]);
    let (judgement, evidence) =
        first(&study, rule("own", Quantity::BestRate, on("btrfs"), Relation::Greater, Side::Value(1.0)));
    assert_eq!(
        (judgement, evidence.as_str()),
        (Judgement::NotTested, "btrfs, write: none of it was measured")
    );
    let (judgement, evidence) =
        first(&study, rule("own", Quantity::Latency, on("xfs"), Relation::Less, Side::Value(1.0)));
    assert_eq!(
        (judgement, evidence.as_str()),
        (Judgement::NotTested, "xfs, write: no latencies were recorded")
    );
}

#[test]
fn a_statement_with_several_rules_holds_if_all_do() {
    let study = study(&FAST, &SLOW);
    let less = |left, right| {
        rule("a-claim-gpfs-4m", Quantity::BestRate, on(left), Relation::Less, Side::Measured(on(right)))
    };
    let both = verdicts(&study, vec![less("gpfs", "xfs"), less("xfs", "gpfs")]);
    assert_eq!((both[0].judgement, both[0].relation), (Judgement::DoesNotHold, None));
    assert_eq!(both[0].evidence.len(), 2, "{:?}", both[0].evidence);
    assert!(both[0].text.starts_with("Formatting using a larger, 4MB GPFS block size"), "{}", both[0].text);
    assert_eq!(both[0].source, "Analysis of Intel SSDs on SGI UV 300 (2016)");
}

#[test]
fn the_other_statements_of_the_study_are_listed_as_not_tested() {
    let mut study = study(&[10e9], &[8e9]);
    assert_eq!(verdicts(&study, Vec::new()), []);
    study.plan.criteria.published =
        vec![PublishedReference { id: "a-t2-read-best".to_owned(), figures: Selector::default() }];
    assert_eq!(verdicts(&study, Vec::new()), [], "a figure beside own ones asks for no statement");
    let rules = vec![rule(
        "a-claim-best",
        Quantity::BestRate,
        on("xfs"),
        Relation::Greater,
        Side::Measured(on("gpfs")),
    )];
    let found = verdicts(&study, rules);
    assert_eq!(found.len(), 9);
    assert_eq!((found[0].id.as_str(), found[0].judgement), ("a-claim-best", Judgement::CannotTell));
    assert!(
        found[1..].iter().all(|one| one.judgement == Judgement::NotTested && one.id.starts_with("a-claim-"))
    );
    let tax = found.iter().find(|one| one.id == "a-claim-tax").expect("a statement of the study");
    assert_eq!(
        tax.evidence.join("; "),
        "no rule in this study tests it; it would need: tax = (reference - layout)/reference"
    );
}

/// A program that was held back cannot show that the storage is slow.
#[test]
fn figures_of_a_program_that_was_held_back_decide_nothing() {
    let study = study(&FAST, &SLOW);
    let mut plan = study.plan.clone();
    plan.criteria.claims =
        vec![rule("own", Quantity::BestRate, on("xfs"), Relation::Greater, Side::Measured(on("gpfs")))];
    let mut figures = study.figures();
    let judged = |figures: &[Figure]| {
        let (doubts, curves) = (audit(&plan, figures, &[]), curves(&Gate::new(&plan, figures, &[])));
        claims(&plan, figures, &curves, &doubts, published()).remove(0)
    };
    assert_eq!(judged(&figures).judgement, Judgement::Holds);
    for pass in figures.iter_mut().flat_map(|figure| &mut figure.repetitions) {
        pass.warnings = vec![Warning::Starved { seen: "stopped".to_owned(), share: 0.3 }];
    }
    let found = judged(&figures);
    assert_eq!(found.judgement, Judgement::CannotTell, "{:?}", found.evidence);
    assert!(found.evidence[0].contains("starved"), "{:?}", found.evidence);
}

#[test]
fn doubtful_figures_decide_nothing() {
    let mut study = study(&FAST, &SLOW);
    let greater = rule("own", Quantity::BestRate, on("xfs"), Relation::Greater, Side::Measured(on("gpfs")));
    assert_eq!(first(&study, greater.clone()).0, Judgement::Holds);
    // The best figure of the first target, at 8 tasks, was too short.
    for row in study.phases.iter_mut().filter(|row| &*row.key.case == "scale/2") {
        row.wall_ns = 15_000_000;
        row.write_bytes /= 600;
        row.writes /= 600;
    }
    let (judgement, evidence) = first(&study, greater);
    assert_eq!(judgement, Judgement::CannotTell, "{evidence}");
    assert_eq!(
        evidence,
        "xfs, write: the figure is doubtful: too short: took 15 ms; under 500 ms a rate is mostly noise"
    );
    // The minimum is taken over the point at 8 tasks as well, although that is not the lowest.
    let lowest = rule("own", Quantity::LowestRate, on("xfs"), Relation::Less, Side::Measured(on("gpfs")));
    let (judgement, evidence) = first(&study, lowest.clone());
    assert_eq!(judgement, Judgement::CannotTell, "{evidence}");
    assert!(evidence.starts_with("xfs, write: one of 4 figures is doubtful: too short"), "{evidence}");
    for row in study.phases.iter_mut().filter(|row| ["scale/0", "scale/1"].contains(&&*row.key.case)) {
        row.wall_ns = SECOND / 4;
    }
    let (_, evidence) = first(&study, lowest);
    assert!(
        evidence.starts_with("xfs, write: 3 of 4 figures are doubtful, first reason: too short"),
        "{evidence}"
    );
}

#[test]
fn sides_of_two_workloads_are_told_apart() {
    let mut study = Study::new(vec![target("xfs", |_| {})]);
    study.add("large", "xfs", &[count("tasks", 8)], Phase::Write, &[10e9]);
    study.add("small", "xfs", &[count("tasks", 8)], Phase::Write, &[8e9]);
    let of = |workload: &str| Selector { workload: Some(workload.to_owned()), ..on("xfs") };
    let (_, evidence) = first(
        &study,
        rule("own", Quantity::BestRate, of("large"), Relation::Greater, Side::Measured(of("small"))),
    );
    assert!(
        evidence.starts_with(
            "2,441,406 IOPS (large: xfs, write, tasks 8) against 1,953,125 IOPS (small: xfs, write, tasks 8)"
        ),
        "{evidence}"
    );
}

#[test]
fn a_sweep_that_was_not_finished_decides_nothing() {
    let mut study = study(&FAST, &SLOW);
    study.phases.retain(|row| &*row.key.case != "scale/7");
    let greater = rule("own", Quantity::BestRate, on("xfs"), Relation::Greater, Side::Measured(on("gpfs")));
    assert_eq!(
        first(&study, greater),
        (Judgement::NotTested, "gpfs, write: 1 of 4 figures was not measured".to_owned())
    );
    // The points that these selectors match were measured.
    let tasks =
        |count: u64| Selector { at: vec![crate::common::studies::count("tasks", count)], ..on("gpfs") };
    let risen = rule("own", Quantity::BestRate, tasks(8), Relation::Greater, Side::Measured(tasks(1)));
    assert_eq!(first(&study, risen).0, Judgement::Holds);
}

/// The published study of mixes sweeps nodes and mixes. Its claims are about one mix, which is one curve over nodes.
#[test]
fn the_claims_of_a_shipped_study_are_judged_when_all_of_it_was_measured() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../studies/many-nodes-mixes.toml");
    let text = fs::read_to_string(&path).expect("the study");
    let plan = plan::study::read(&path, &text).expect("a plan");
    let mut phases = Vec::new();
    for case in &plan.cases {
        // Saturated from 12 nodes on to within one percent, with a scatter of half a percent.
        let off = if case.workload.nodes == 64 { 0.99 } else { 1.0 };
        let share = off * f64::from(case.workload.nodes).min(12.0) / 12.0;
        for (repetition, scatter) in (0..case.repetitions).zip([1.0, 1.005, 0.995, 1.002, 0.998]) {
            let key = PhaseKey { case: case.id.as_str().into(), repetition, phase: case.phases[0] };
            let bytes = format!("{:.0}", 4e9 * 60.0 * share * scatter).parse().expect("whole bytes");
            phases.push(phase(&key, bytes, 60 * SECOND));
        }
    }
    let study = Study { plan, phases };
    let found: Vec<_> = study.findings().claims;
    let judged: Vec<_> =
        found.iter().filter_map(|one| one.says()).map(|one| (one.id.as_str(), one.judgement)).collect();
    for id in ["d-claim-few-nodes", "d-claim-stable"] {
        assert!(judged.contains(&(id, Judgement::Holds)), "{id}: {found:?}");
    }
}
