//! Judging commitments.

use analysis::{
    audit::{AuditIssue, Check, Outcome},
    comparisons::{Verdict, verdicts},
    figures::{Figure, figures},
    findings::findings,
    gate::{Judgement, Table, Value},
    scaling::{Limit, limits},
};
use plan::{
    Amount, Bound, Case, Commitment, Nanos, Operation, Over, Phase, Plan, RateName, Selector, Statistic,
    Stopping,
};
use proptest::collection::vec;
use proptest::prelude::{prop_assert, proptest};
use record::Warning;

use crate::common::rows::{SECOND, at_least, bucket, cell, run_of, workload};
use crate::common::study::{Study, key, reads};

fn promise(operations: f64) -> Commitment {
    at_least(Amount::OperationsPerSecond(operations))
}

fn with(study: &Study, commitment: Commitment) -> Plan {
    let mut plan = study.plan();
    plan.criteria.commitments = vec![commitment];
    plan
}

fn verdict(study: &Study, commitment: Commitment, doubts: &[AuditIssue]) -> Verdict {
    let plan = with(study, commitment);
    let run = run_of(&plan, &study.phases, &study.tasks, &study.latency);
    verdicts(&plan, &figures(&run, RateName::ByWall), doubts).remove(0)
}

/// The verdict, including the result of the audit.
fn audited(study: &Study, commitment: Commitment) -> Verdict {
    verdict(study, commitment, &analysis::audit::audit(&study.plan(), &study.figures(), &[]))
}

fn doubt(figure: usize, disqualifies: bool) -> AuditIssue {
    AuditIssue {
        check: if disqualifies { Check::WrongData } else { Check::NotQuiet },
        figure: Some(figure),
        commitment: None,
        concerns: "a figure".to_owned(),
        evidence: "the devices read 1 %".to_owned(),
        advice: "read more".to_owned(),
        severity: 0.0,
    }
}

#[test]
fn a_reader_is_told_of_each_promise_and_how_many_were_kept() {
    let study = Study::default().with(reads("r"), &[100; 5]).with(reads("s"), &[200; 5]);
    let of_s = Selector {
        workload: Some("s".to_owned()),
        phase: Some(Phase::Read),
        at: vec![crate::common::studies::count("tasks", 33)],
        ..Selector::default()
    };
    let mut plan = study.plan();
    plan.criteria.commitments = vec![
        promise(90.0),
        Commitment { over: Over::Best, ..promise(150.0) },
        Commitment { bound: Bound::AtMost, ..promise(150.0) },
        Commitment { figures: of_s, ..promise(1.0) },
    ];
    let found = verdicts(&plan, &study.figures(), &[]);
    let told = |key| found.iter().map(|one| cell(one, key)).collect::<Vec<_>>();
    let texts = |all: [&str; 4]| all.map(|one| Value::Text(one.to_owned())).to_vec();
    assert_eq!(told("side"), texts(["at least", "at least", "at most", "at least"]));
    let concerned = ["every result", "the best result", "every result", "every read of s at tasks 33"];
    assert_eq!(told("concerns"), texts(concerned));
    assert_eq!(Table::planned(&found).notes[0], "4 commitments: 1 PASS, 1 FAIL, 1 DOUBTFUL, 1 NOT TESTED.");
}

/// Study D: 1 million were required, 1,320,137 were measured.
#[test]
fn a_promise_that_was_kept_passes_with_its_margin() {
    let study = Study::default().with(reads("r"), &[1_320_137]);
    let kept = verdict(&study, promise(1e6), &[]);
    assert_eq!((kept.judgement, kept.figure, kept.measured), (Judgement::Holds, Some(0), Some(1_320_137.0)));
    assert!((kept.margin.expect("a margin") - 0.320_137).abs() < 1e-12);
    assert!(kept.because.is_empty() && kept.bound.is_none());
    let near = verdict(&study, promise(1.2e6), &[]);
    assert_eq!(near.judgement, Judgement::CannotTell, "10 % may be noise");
    let why =
        "so close to the promise, the median of 1 may be on this side by chance: 5 repetitions are needed";
    assert_eq!(near.because, [why]);
    let two = Study::default().with(reads("r"), &[1_320_137]).with(reads("s"), &[1_000_000]);
    let best = |promised| verdict(&two, Commitment { over: Over::Best, ..promise(promised) }, &[]).judgement;
    assert_eq!(best(1.4e6), Judgement::CannotTell, "the best of two misses by 6 %");
    assert_eq!(best(2e6), Judgement::DoesNotHold);
    let broken = verdict(&study, promise(2e6), &[]);
    assert_eq!(broken.judgement, Judgement::DoesNotHold);
    assert!((broken.margin.expect("a margin") + 0.339_931_5).abs() < 1e-12);
    let study = Study::default().with(reads("r"), &[1_320_137; 5]);
    let exact = verdict(&study, promise(1_320_137.0), &[]);
    assert_eq!((exact.judgement, exact.margin), (Judgement::Holds, Some(0.0)));
}

/// A promise is missed only if the favourable bound misses it too, and kept only if the unfavourable bound keeps it.
#[test]
fn the_bound_that_is_told_is_the_one_that_the_judgement_rests_on() {
    let study = Study::default().with(reads("r"), &[100, 110, 120, 130, 140, 240]);
    let bound = |side, promised: f64| {
        verdict(&study, Commitment { bound: side, ..promise(promised) }, &[]).decisive_bound()
    };
    assert_eq!(bound(Bound::AtLeast, 1000.0), Some((Bound::AtMost, 240.0)));
    assert_eq!(bound(Bound::AtLeast, 50.0), Some((Bound::AtLeast, 100.0)));
    assert_eq!(bound(Bound::AtMost, 50.0), Some((Bound::AtLeast, 100.0)));
    assert_eq!(bound(Bound::AtMost, 1000.0), Some((Bound::AtMost, 240.0)));
    let missed = verdict(&study, promise(1000.0), &[]);
    assert!((missed.share().expect("a share") - 0.125).abs() < 1e-12);
}

/// A promise of an upper limit is kept even by a figure that memory may have made faster.
#[test]
fn a_doubt_is_weighed_once_by_the_verdict() {
    let study = Study::default().with(reads("r"), &[100, 110, 120, 130, 140, 240]);
    let cached = AuditIssue { check: Check::MemoryNotExcluded, ..doubt(0, false) };
    let at_most = Commitment { bound: Bound::AtMost, ..promise(1000.0) };
    let kept = verdict(&study, at_most, std::slice::from_ref(&cached));
    assert_eq!(kept.judgement, Judgement::Holds);
    assert_ne!(kept.outcome(0, Check::MemoryNotExcluded), Some(Outcome::Withheld));
    let at_least = verdict(&study, promise(50.0), &[cached]);
    assert_eq!(at_least.judgement, Judgement::CannotTell);
    assert_eq!(at_least.outcome(0, Check::MemoryNotExcluded), Some(Outcome::Withheld));
    assert_eq!(at_least.outcome(1, Check::MemoryNotExcluded), None);
}

#[test]
fn the_statistic_is_the_one_that_was_agreed_on() {
    let study = Study::default().with(reads("r"), &[100, 110, 120, 130, 140, 240]);
    let measured = |statistic, bound| {
        let verdict = verdict(&study, Commitment { statistic, bound, ..promise(1.0) }, &[]);
        verdict.measured.expect("a value")
    };
    let (low, high) = (Bound::AtLeast, Bound::AtMost);
    assert_eq!((measured(Statistic::Median, low), measured(Statistic::Mean, low)), (125.0, 140.0));
    assert_eq!((measured(Statistic::Worst, low), measured(Statistic::Best, low)), (100.0, 240.0));
    assert_eq!((measured(Statistic::Worst, high), measured(Statistic::Best, high)), (240.0, 100.0));
    assert_eq!(measured(Statistic::ConfidenceBound, low), 100.0);
    assert_eq!(measured(Statistic::ConfidenceBound, high), 240.0);
}

#[test]
fn a_bound_needs_its_repetitions() {
    let bound = |rates: &[u64]| {
        let study = Study::default().with(reads("r"), rates);
        verdict(&study, Commitment { statistic: Statistic::ConfidenceBound, ..promise(90.0) }, &[])
    };
    let six = bound(&[100, 101, 102, 103, 104, 105]);
    assert_eq!((six.judgement, six.measured), (Judgement::Holds, Some(100.0)));
    assert_eq!(six.bound.map(|(bound, _)| bound), Some(100.0));
    let five = bound(&[100, 101, 102, 103, 104]);
    assert_eq!((five.judgement, five.bound), (Judgement::Holds, Some((100.0, 0.968_75))));
    let four = bound(&[100, 101, 102, 103]);
    assert_eq!(four.judgement, Judgement::CannotTell);
    assert_eq!(four.because, ["4 repetitions give no bound of 95 % confidence: 5 are needed"]);
    assert_eq!(bound(&[80, 81, 82, 83, 84, 85]).judgement, Judgement::DoesNotHold);
}

#[test]
fn what_lies_between_both_bounds_is_neither_kept_nor_broken() {
    let study = Study::default().with(reads("r"), &[81, 86, 88, 91, 92, 99]);
    let of = |bound, promised| {
        let commitment =
            Commitment { statistic: Statistic::ConfidenceBound, bound, ..promise(f64::from(promised)) };
        verdict(&study, commitment, &[])
    };
    for bound in [Bound::AtLeast, Bound::AtMost] {
        let open = of(bound, 90);
        assert_eq!(open.judgement, Judgement::CannotTell, "{bound:?}");
        let [because] = open.because.as_slice() else { panic!("{:?}", open.because) };
        assert!(because.contains("are -10.00 % and +10.00 % from what was promised"), "{because}");
    }
    let judged = |bound, promised| of(bound, promised).judgement;
    assert_eq!(judged(Bound::AtLeast, 100), Judgement::DoesNotHold);
    assert_eq!(judged(Bound::AtLeast, 81), Judgement::Holds);
    assert_eq!(judged(Bound::AtMost, 80), Judgement::DoesNotHold);
    assert_eq!(judged(Bound::AtMost, 99), Judgement::Holds);
}

/// The bounds apply to the median and say nothing about a mean.
#[test]
fn a_median_whose_bounds_lie_on_both_sides_may_be_so_by_chance() {
    let study = Study::default().with(reads("r"), &[81, 86, 88, 91, 92, 99]);
    let of = |statistic, bound, promised| {
        let found = verdict(&study, Commitment { statistic, bound, ..promise(promised) }, &[]);
        (found.judgement, found.because)
    };
    let by_chance = vec!["the median of 6 may be on this side by chance".to_owned()];
    for (promised, at_least, at_most, why) in [
        (80.0, Judgement::Holds, Judgement::DoesNotHold, vec![]),
        (88.0, Judgement::Holds, Judgement::DoesNotHold, by_chance.clone()),
        (90.0, Judgement::DoesNotHold, Judgement::Holds, by_chance),
        (100.0, Judgement::DoesNotHold, Judgement::Holds, vec![]),
    ] {
        let median = |bound| of(Statistic::Median, bound, promised);
        assert_eq!(median(Bound::AtLeast), (at_least, why.clone()), "{promised}");
        assert_eq!(median(Bound::AtMost), (at_most, why), "{promised}");
        assert!(of(Statistic::Mean, Bound::AtLeast, promised).1.is_empty(), "{promised}");
    }
}

#[test]
fn less_is_better_for_a_latency() {
    let mut study = Study::default().with(reads("r"), &[100, 100, 100]);
    for (repetition, nanos) in [1000, 2000, 4000].into_iter().enumerate() {
        let key = key(&study.cases[0], repetition, Phase::Read);
        study.latency.push(bucket(&key, Operation::Read, (nanos, nanos), 100));
        study.latency.push(bucket(&key, Operation::Write, (nanos / 2, nanos / 2), 100));
    }
    let promised = |nanos, percent| Commitment {
        bound: Bound::AtMost,
        asked: Amount::Latency { nanos, percent }.into(),
        ..promise(1.0)
    };
    let percentile = verdict(&study, promised(2500.0, Some(99.0)), &[]);
    assert_eq!((percentile.judgement, percentile.measured), (Judgement::CannotTell, Some(2000.0)));
    let kept = verdict(&study, promised(2500.0, None), &[]);
    assert_eq!((kept.judgement, kept.measured), (Judgement::Holds, Some(2000.0)));
    assert!((kept.margin.expect("a margin") - 0.2).abs() < 1e-12, "a positive margin is good");
    let broken = verdict(&study, promised(1000.0, None), &[]);
    assert_eq!((broken.judgement, broken.margin), (Judgement::DoesNotHold, Some(-1.0)));
    study.latency.clear();
    let none = verdict(&study, promised(1.0, None), &[]);
    assert_eq!(
        (none.judgement, none.because),
        (Judgement::NotTested, vec!["r read: has no latencies".to_owned()])
    );
}

#[test]
fn all_cases_have_to_keep_it_or_the_best() {
    let study =
        Study::default().with(reads("a"), &[90; 6]).with(reads("b"), &[120; 6]).with(reads("c"), &[80; 6]);
    let every = verdict(&study, promise(85.0), &[]);
    assert_eq!((every.judgement, every.figure), (Judgement::DoesNotHold, Some(2)));
    let best = verdict(&study, Commitment { over: Over::Best, ..promise(85.0) }, &[]);
    assert_eq!((best.judgement, best.figure), (Judgement::Holds, Some(1)));
    let selector = Selector { workload: Some("a".to_owned()), ..Selector::default() };
    let chosen = verdict(&study, Commitment { figures: selector, ..promise(85.0) }, &[]);
    assert_eq!((chosen.judgement, chosen.figure), (Judgement::Holds, Some(0)));
    let selector = Selector { target: Some("nowhere".to_owned()), ..Selector::default() };
    let none = verdict(&study, Commitment { figures: selector, ..promise(85.0) }, &[]);
    assert_eq!((none.judgement, none.figure, none.measured), (Judgement::NotTested, None, None));
    assert_eq!(none.because, ["no case of the study matches it"]);
}

/// The highest of many medians is above the true value of each.
#[test]
fn the_best_of_several_needs_a_bound_for_all_of_them() {
    let best = |rates: &[u64]| {
        let names: Vec<String> = (0..4).map(|number| format!("c{number}")).collect();
        let study = names.iter().fold(Study::default(), |study, name| study.with(reads(name), rates));
        verdict(&study, Commitment { over: Over::Best, ..promise(100.0) }, &[])
    };
    assert_eq!(best(&[101; 7]).judgement, Judgement::Holds);
    let few = best(&[101; 6]);
    assert_eq!(few.judgement, Judgement::CannotTell);
    assert_eq!(few.because, ["the best of 4 may keep it by chance: 7 repetitions are needed, not 6"]);
    let wide = best(&[90, 95, 101, 102, 103, 104, 105]);
    assert_eq!(wide.because, ["the best of 4 may keep it by chance: its bound does not keep it"]);
    assert_eq!(best(&[99; 7]).judgement, Judgement::DoesNotHold, "none keeps it");
    assert_eq!(best(&[80; 3]).judgement, Judgement::DoesNotHold, "far from it");
    assert_eq!(best(&[99; 3]).judgement, Judgement::CannotTell, "near to it, and without bounds");
}

#[test]
fn a_doubtful_figure_keeps_nothing() {
    let study = Study::default().with(reads("a"), &[100; 6]).with(reads("b"), &[200; 6]);
    let every = |promised, doubts: &[AuditIssue]| verdict(&study, promise(promised), doubts);
    assert_eq!(every(50.0, &[doubt(1, false)]).judgement, Judgement::Holds);
    let cached = every(50.0, &[doubt(1, true)]);
    assert_eq!((cached.judgement, cached.figure), (Judgement::CannotTell, Some(1)));
    assert_eq!(cached.because, ["wrong data: the devices read 1 %"]);
    assert_eq!(every(150.0, &[doubt(1, true)]).judgement, Judgement::DoesNotHold, "a fails without doubt");
    assert_eq!(every(150.0, &[doubt(0, true)]).judgement, Judgement::CannotTell);
    let best = |promised, doubts: &[AuditIssue]| {
        verdict(&study, Commitment { over: Over::Best, ..promise(promised) }, doubts)
    };
    let (kept, in_doubt) = (best(80.0, &[doubt(1, true)]), best(150.0, &[doubt(1, true)]));
    assert_eq!((kept.judgement, kept.figure), (Judgement::Holds, Some(0)));
    assert_eq!((in_doubt.judgement, in_doubt.figure), (Judgement::CannotTell, Some(1)));
    assert_eq!(best(300.0, &[]).judgement, Judgement::DoesNotHold);
}

#[test]
fn what_was_not_measured_was_not_kept() {
    let mut study = Study::default().with(reads("a"), &[100; 6]).with(reads("b"), &[100; 6]);
    study.phases.retain(|row| row.key.case != study.cases[1].id);
    let every = verdict(&study, promise(50.0), &[]);
    assert_eq!((every.judgement, every.figure), (Judgement::CannotTell, Some(0)));
    assert_eq!(every.because, ["b read: was not measured"]);
    assert_eq!(verdict(&study, promise(150.0), &[]).judgement, Judgement::DoesNotHold);
    let best = |promised| verdict(&study, Commitment { over: Over::Best, ..promise(promised) }, &[]);
    assert_eq!((best(50.0).judgement, best(150.0).judgement), (Judgement::Holds, Judgement::CannotTell));
    let sustained = verdict(&study, Commitment { rate: RateName::Sustained, ..promise(1.0) }, &[]);
    assert_eq!(sustained.judgement, Judgement::NotTested);
    assert!(sustained.because[0].contains("sustained"), "{:?}", sustained.because);
}

/// Shorter than two seconds, or than the minimum set by the study.
#[test]
fn a_short_phase_keeps_nothing() {
    let mut study = Study::default().with(reads("a"), &[100]);
    study.phases[0].wall_ns = SECOND;
    let short = audited(&study, promise(50.0));
    assert_eq!(short.judgement, Judgement::CannotTell);
    assert_eq!(
        short.because,
        ["too short: took 1 s; under 2 s a rate is mostly noise, unless 5 passes show how much"]
    );
    study.cases[0].protocol.phase_min = Nanos::millis(500);
    assert_eq!(audited(&study, promise(50.0)).judgement, Judgement::Holds);
    study.cases[0].protocol.phase_min = Nanos::secs(20);
    assert_eq!(audited(&study, promise(50.0)).judgement, Judgement::CannotTell);
}

#[test]
fn a_case_that_was_not_finished_keeps_nothing() {
    let mut study = Study::default().with(reads("a"), &[100, 100]);
    assert_eq!(audited(&study, promise(50.0)).judgement, Judgement::Holds);
    study.cases[0].repetitions = 3;
    let unfinished = audited(&study, promise(50.0));
    assert_eq!(unfinished.judgement, Judgement::CannotTell);
    assert_eq!(unfinished.because, ["unfinished: 2 of 3 repetitions were measured"]);
}

#[test]
fn a_case_that_never_settled_keeps_nothing() {
    let by = |stopping, rates: &[u64]| {
        let mut study = Study::default().with(reads("a"), rates);
        study.cases[0].protocol.stopping = stopping;
        audited(&study, promise(50.0))
    };
    let steady = Stopping::Steady { window: 3, excursion: 0.2, slope: 0.1 };
    assert_eq!(by(steady, &[900, 100, 101, 100]).judgement, Judgement::Holds);
    let falling = by(steady, &[900, 500, 300, 100]);
    assert_eq!(falling.judgement, Judgement::CannotTell);
    assert_eq!(falling.because, ["unfinished: not steady after 4 repetitions"]);
    let interval = Stopping::Interval { share: 0.05, least: 8 };
    assert_eq!(by(interval, &[100, 100, 101, 101, 100, 101, 100, 101]).judgement, Judgement::Holds);
    let wide = by(interval, &[100, 200, 300, 400, 500, 600, 700, 800]);
    assert_eq!(wide.because, ["unfinished: no interval of the median within 5 % after 8 repetitions"]);
}

/// The initial fast phase of a drive is not what was asked for.
#[test]
fn only_repetitions_that_count_are_judged() {
    let mut study = Study::default().with(reads("a"), &[900, 800, 100, 100, 100]);
    study.cases[0].protocol.warm_up = 1;
    study.cases[0].protocol.stopping = Stopping::Steady { window: 3, excursion: 0.2, slope: 0.1 };
    let best = verdict(&study, Commitment { statistic: Statistic::Best, ..promise(150.0) }, &[]);
    assert_eq!((best.judgement, best.measured), (Judgement::DoesNotHold, Some(100.0)));
}

/// 9 s of user time and 0.5 s of system time in 10 s for one task, then the same for one of four tasks.
#[test]
fn a_busy_task_is_told_from_a_waiting_one() {
    let four = Case { workload: workload(|spec| spec.tasks = 4), ..reads("four") };
    let mut study =
        Study::default().with(reads("one"), &[100]).with(four, &[100]).with(reads("idle"), &[100]);
    for (row, (user, system)) in study.phases.iter_mut().zip([(9000, 500), (9000, 500), (0, 0)]) {
        (row.user_cpu_ns, row.system_cpu_ns) = (user * SECOND / 1000, system * SECOND / 1000);
    }
    let found = limits(&study.plan(), &study.figures(), 8);
    assert_eq!(found.len(), 2, "an imported figure has no processor time");
    let (one, four) = (found[0], found[1]);
    assert_eq!((one.figure, one.limit, one.cpu_ns_per_transfer), (0, Limit::Processor, 9.5e6));
    assert!((one.user_share - 0.9).abs() < 1e-12 && (one.wait_share - 0.05).abs() < 1e-12);
    assert_eq!((four.figure, four.limit), (1, Limit::Storage));
    let two = limits(&study.plan(), &study.figures(), 2);
    assert_eq!((two[1].limit, two[1].user_share), (Limit::Storage, 0.45));
    let single = limits(&study.plan(), &study.figures(), 1);
    assert_eq!(single[1].limit, Limit::Processor);
    // Ready threads waited for a processor rather than for storage: four of them shared one.
    study.phases[1].cpu_wait_ns = Some(28 * SECOND);
    let ready = limits(&study.plan(), &study.figures(), 8)[1];
    assert_eq!(ready.limit, Limit::Processor);
    assert!((ready.wait_share - (1.0 - 9.5 / 40.0 - 0.7)).abs() < 1e-12, "{ready:?}");
    // What another tool waited for is not known, unless its options set the rate.
    for case in &mut study.cases {
        (case.stated, case.not_printed) = (Some("1 job".to_owned()), Some(std::collections::BTreeSet::new()));
    }
    assert_eq!(limits(&study.plan(), &study.figures(), 8), []);
    study.cases[0].not_printed = Some([plan::Condition::Nodes].into_iter().collect());
    let rate = study.figures()[0].transfers_per_second.median;
    study.cases[0].workload =
        workload(|spec| spec.pace = Some(plan::Pace { transfers_per_second: rate * 1.01 }));
    let paced = limits(&study.plan(), &study.figures(), 8);
    assert_eq!(paced.iter().map(|one| (one.figure, one.limit)).collect::<Vec<_>>(), [(0, Limit::SetRate)]);
}

/// Time spent waiting for memory or for another user of the host was not spent waiting for storage.
#[test]
fn nobody_knows_what_tasks_waited_for_on_a_busy_host() {
    let mut study = Study::default().with(reads("a"), &[100]);
    (study.phases[0].user_cpu_ns, study.phases[0].system_cpu_ns) = (SECOND, SECOND);
    let mut figures = study.figures();
    let told = |figures: &[Figure]| findings(&study.run(), figures).limits.remove(0);
    assert_eq!(told(&figures).says().map(|one| one.limit), Some(Limit::Storage));
    let seen = || "others".to_owned();
    for warning in
        [Warning::NotQuiet { seen: seen(), share: 0.0 }, Warning::Starved { seen: seen(), share: 0.5 }]
    {
        let check = Check::of(&warning).expect("of the audit");
        figures[0].repetitions[0].warnings = vec![warning];
        let doubtful = told(&figures);
        assert_eq!((doubtful.says(), doubtful.reasons[0].because.name()), (None, check.name()));
    }
    study.phases[0].user_cpu_ns = 10 * SECOND;
    let mut figures = study.figures();
    figures[0].repetitions[0].warnings = vec![Warning::NotQuiet { seen: seen(), share: 0.0 }];
    let busy = findings(&study.run(), &figures).limits.remove(0);
    assert_eq!(busy.outcome, Outcome::Marked);
    assert_eq!(busy.says().map(|one| one.limit), Some(Limit::Processor));
}

fn doubted(check: Check) -> AuditIssue {
    AuditIssue { check, ..doubt(0, false) }
}

/// For a promise of an upper limit this is reversed: a cache breaks it, and being held back keeps it.
#[test]
fn what_flatters_a_figure_speaks_against_the_judgement_that_it_leads_to() {
    let study = Study::default().with(reads("r"), &[100; 5]);
    let judged = |bound, rate, check| {
        verdict(&study, Commitment { bound, ..promise(rate) }, &[doubted(check)]).judgement
    };
    let (least, most) = (Bound::AtLeast, Bound::AtMost);
    assert_eq!(judged(least, 90.0, Check::MemoryNotExcluded), Judgement::CannotTell);
    assert_eq!(judged(least, 110.0, Check::MemoryNotExcluded), Judgement::DoesNotHold);
    assert_eq!(judged(most, 90.0, Check::MemoryNotExcluded), Judgement::CannotTell, "it is too fast");
    assert_eq!(judged(most, 110.0, Check::MemoryNotExcluded), Judgement::Holds);
    assert_eq!(judged(most, 110.0, Check::Starved), Judgement::CannotTell, "it is too slow");
    assert_eq!(judged(most, 90.0, Check::Starved), Judgement::DoesNotHold);
}

/// A program that was stopped for a tenth of the time could not have been twice as fast otherwise.
#[test]
fn being_held_back_excuses_no_more_than_its_share_of_the_time_twice() {
    let study = Study::default().with(reads("r"), &[100; 5]);
    let mut figures = study.figures();
    for pass in &mut figures[0].repetitions {
        pass.warnings = vec![Warning::Starved { seen: "stopped".to_owned(), share: 0.1 }];
    }
    let judged = |figures: &[Figure], rate: f64| {
        verdicts(&with(&study, promise(rate)), figures, &[doubted(Check::Starved)]).remove(0).judgement
    };
    assert_eq!(judged(&figures, 105.0), Judgement::CannotTell);
    assert_eq!(judged(&figures, 120.0), Judgement::CannotTell);
    assert_eq!(judged(&figures, 130.0), Judgement::DoesNotHold);
    assert_eq!(judged(&figures, 95.0), Judgement::Holds);
    // A single stop may cover all of the worst second, or affect only the slowest task.
    let slowest = Commitment { rate: RateName::AtLastDone, ..promise(1e9) };
    let found = verdicts(&with(&study, slowest), &figures, &[doubted(Check::Starved)]).remove(0);
    assert_eq!(found.judgement, Judgement::CannotTell);
    // However much the program was held back, an absurdly high rate remains out of reach.
    for pass in &mut figures[0].repetitions {
        pass.warnings = vec![Warning::Starved { seen: "stopped".to_owned(), share: 0.8 }];
    }
    assert_eq!(judged(&figures, 2000.0), Judgement::CannotTell);
    assert_eq!(judged(&figures, 1e9), Judgement::DoesNotHold);
}

/// When judged by a bound, a promise is broken only if the other bound misses it too: the slowest pass may be the one
/// that was held back.
#[test]
fn being_held_back_excuses_a_bound_by_the_better_end() {
    let study = Study::default().with(reads("r"), &[20, 60, 80, 90, 95]);
    let mut figures = study.figures();
    for pass in &mut figures[0].repetitions {
        pass.warnings = vec![Warning::Starved { seen: "stopped".to_owned(), share: 0.1 }];
    }
    let judged = |rate: f64| {
        let by_bound = Commitment { statistic: Statistic::ConfidenceBound, ..promise(rate) };
        verdicts(&with(&study, by_bound), &figures, &[doubted(Check::Starved)]).remove(0).judgement
    };
    assert_eq!(judged(100.0), Judgement::CannotTell, "95 is less than a fifth below it");
    assert_eq!(judged(130.0), Judgement::DoesNotHold);
}

proptest! {
    /// For every statistic the margin is positive exactly if the verdict is a pass, and the worst never passes if the
    /// best does not.
    #[test]
    fn a_pass_has_a_margin(mut rates in vec(1_u64..1000, 1..9), promised in 1_u32..1000) {
        // In this order nothing drops for good, which no margin would show.
        rates.sort_unstable();
        let study = Study::default().with(reads("r"), &rates);
        let judge = |statistic, bound| {
            verdict(&study, Commitment { statistic, bound, ..promise(f64::from(promised)) }, &[])
        };
        for bound in [Bound::AtLeast, Bound::AtMost] {
            for statistic in [Statistic::Median, Statistic::Mean, Statistic::Worst, Statistic::Best] {
                let verdict = judge(statistic, bound);
                let margin = verdict.margin.expect("a margin");
                let near = statistic == Statistic::Median && rates.len() < 5 && margin.abs() <= 0.15;
                let judgement = match () {
                    () if near => Judgement::CannotTell,
                    () if margin >= 0.0 => Judgement::Holds,
                    () => Judgement::DoesNotHold,
                };
                prop_assert!(verdict.judgement == judgement);
                prop_assert!(judge(Statistic::Worst, bound).margin <= Some(margin));
                prop_assert!(judge(Statistic::Best, bound).margin >= Some(margin));
            }
        }
    }
}

/// A burst allowance, a write cache or free blocks that are used up.
#[test]
fn a_promise_is_not_kept_by_the_passes_before_a_lasting_drop() {
    let of = |rates: &[u64], statistic: Statistic| {
        let study = Study::default().with(reads("r"), rates);
        audited(&study, Commitment { statistic, ..promise(90.0) })
    };
    let median = |rates: &[u64]| of(rates, Statistic::Median);
    let drops = median(&[100, 101, 99, 100, 60, 61]);
    assert_eq!(drops.judgement, Judgement::CannotTell);
    let why = drops.because.join("; ");
    assert!(
        why.contains("the median of the last 2 of 6 repetitions is -32.8 % from what was promised"),
        "{why}"
    );
    assert_eq!(of(&[200, 200, 200, 60, 60], Statistic::Mean).judgement, Judgement::CannotTell);
    // What is left keeps it, it became better, one pass is an outlier, or nothing lasts.
    for kept in [[150, 151, 149, 150, 100, 101], [60, 60, 100, 99, 101, 100], [100, 101, 99, 100, 102, 60]] {
        let kept = median(&kept);
        assert_eq!(kept.judgement, Judgement::Holds, "{:?}", kept.because);
    }
    assert_eq!(median(&[100, 101, 60, 100, 61, 102]).judgement, Judgement::Holds);
    assert_eq!(of(&[100, 101, 99, 100, 60, 61], Statistic::Best).judgement, Judgement::Holds);
    assert_eq!(median(&[80, 80, 80, 40, 40]).judgement, Judgement::DoesNotHold);
}

/// One request of 128 KiB makes 32 transfers of 4 KiB ready.
#[test]
fn what_was_read_ahead_keeps_no_promise_of_latencies_or_operations() {
    let of = |slow: u64, direct: bool, amount: Amount| {
        let case = Case { workload: workload(|spec| spec.direct = direct), ..reads("r") };
        let mut study = Study::default().with(case, &[100_000; 6]);
        for repetition in 0..6 {
            let key = key(&study.cases[0], repetition, Phase::Read);
            let total = study.phases[repetition].reads;
            study.latency.push(bucket(&key, Operation::Read, (700, 800), total - total * slow / 100));
            study.latency.push(bucket(&key, Operation::Read, (200_000, 210_000), total * slow / 100));
        }
        verdict(&study, Commitment { bound: bound_of(amount), ..at_least(amount) }, &[])
    };
    let bound_of_mean = Amount::Latency { percent: None, nanos: 50_000.0 };
    let promised = promise(90_000.0).asked.amount().expect("an amount");
    for amount in [promised, bound_of_mean] {
        let ahead = of(3, false, amount);
        assert_eq!(ahead.judgement, Judgement::CannotTell);
        assert!(
            ahead.because.join("; ").contains("the page cache had read them ahead"),
            "{:?}",
            ahead.because
        );
    }
    assert_eq!(of(3, false, Amount::BytesPerSecond(1e8)).judgement, Judgement::Holds);
    assert_eq!(of(3, true, promised).judgement, Judgement::Holds);
    assert_eq!(of(60, false, promised).judgement, Judgement::Holds);
}

fn bound_of(amount: Amount) -> Bound {
    if matches!(amount, Amount::Latency { .. }) { Bound::AtMost } else { Bound::AtLeast }
}
