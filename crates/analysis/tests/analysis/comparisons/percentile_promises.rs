//! Promises of latency percentiles, judged by histograms with known percentiles.

use analysis::{
    RateName,
    comparisons::{Verdict, verdicts},
    figures::figures,
    gate::Judgement,
};
use plan::{Amount, Backend, Bound, Case, Commitment, Operation, Over, Phase, Statistic};

use crate::common::random::Random;
use crate::common::rows::{at_least, bucket, run_of, workload};
use crate::common::study::{Study, key, reads};

const MS: u64 = 1_000_000;

fn promise(percent: f64, milliseconds: f64) -> Commitment {
    let amount = Amount::Latency { nanos: milliseconds * 1e6, percent: Some(percent) };
    Commitment { bound: Bound::AtMost, ..at_least(amount) }
}

/// Times of transfers in milliseconds, and how many took that long.
type Times<'a> = &'a [(u64, u64)];

/// Adds a case whose passes have these times of reads.
fn with(study: Study, case: Case, passes: &[Times<'_>]) -> Study {
    let mut study = study.with(case, &vec![1_000; passes.len()]);
    let case = study.cases.last().expect("just added").clone();
    for (repetition, times) in passes.iter().enumerate() {
        let key = key(&case, repetition, Phase::Read);
        for &(milliseconds, count) in *times {
            let edges = (milliseconds * MS, milliseconds * MS + MS / 200);
            study.latency.push(bucket(&key, Operation::Read, edges, count));
        }
    }
    study
}

fn one(passes: &[Times<'_>]) -> Study {
    with(Study::default(), reads("r"), passes)
}

/// As many passes, all with these times.
fn alike(count: usize, times: Times<'_>) -> Study {
    one(&vec![times; count])
}

fn verdict(study: &Study, commitment: Commitment) -> Verdict {
    let mut plan = study.plan();
    plan.criteria.commitments = vec![commitment];
    let run = run_of(&plan, &study.phases, &study.tasks, &study.latency);
    verdicts(&plan, &figures(&run, RateName::ByWall), &[]).remove(0)
}

fn why(verdict: &Verdict) -> String {
    verdict.because.join("; ")
}

/// Exponential times with a mean of 100 ms: the true p99.9 is 691 ms, and 500 ms are exceeded by 0.67 %.
#[test]
fn a_percentile_beyond_the_number_of_transfers_is_not_kept() {
    let mut random = Random::seeded(3);
    for count in [6, 20, 60] {
        for _ in 0..10 {
            let mut pass = || {
                let time = |_| (-random.uniform().ln() * 100.0).ceil();
                let times = (0..50).map(time).map(|time| format!("{time:.0}").parse().expect("whole"));
                times.map(|time: u64| (time, 1)).collect::<Vec<_>>()
            };
            let passes: Vec<_> = (0..count).map(|_| pass()).collect();
            let passes: Vec<Times<'_>> = passes.iter().map(Vec::as_slice).collect();
            for statistic in [Statistic::Median, Statistic::Mean, Statistic::Best, Statistic::ConfidenceBound]
            {
                let found = verdict(&one(&passes), Commitment { statistic, ..promise(99.9, 500.0) });
                assert_eq!(found.judgement, Judgement::CannotTell, "{count} passes, {statistic:?}");
                assert!(why(&found).contains("p99.9"), "{found:?}");
            }
        }
    }
}

#[test]
fn a_percentile_is_kept_by_enough_transfers_in_enough_passes() {
    let passes = |count: usize, transfers| verdict(&alike(count, &[(2, transfers)]), promise(99.0, 3.0));
    let kept = passes(17, 1_000);
    assert_eq!(kept.judgement, Judgement::Holds, "{kept:?}");
    assert_eq!(kept.bound, Some((2_005_000.0, 0.99)));
    let few = passes(16, 1_000);
    assert_eq!(few.judgement, Judgement::CannotTell);
    let told = "p99 takes at least 17 repetitions of 1000 transfers with 1 in flight, not 16";
    assert_eq!(few.because, [told]);
    // 17 times 26 are 442, and ln 100 ÷ ln 1.26 is 19.9.
    let short = passes(17, 26);
    let (all, each) = (
        "p99 takes at least 459 transfers, not 442",
        "p99 takes at least 20 repetitions of 26 transfers with 1 in flight, not 17",
    );
    assert_eq!(short.because, [all, each]);
}

/// A stall strikes all that are in flight, so that 64 of 1,000 transfers may be one event.
#[test]
fn transfers_in_flight_together_count_as_one() {
    let deep = |tasks, count: usize| {
        let case = Case::new(
            "r",
            workload(|spec| {
                spec.tasks = tasks;
                spec.backend = Backend::Libaio { depth: 16 };
                spec.direct = true;
            }),
            vec![Phase::Read],
        );
        let study = with(Study::default(), case, &vec![&[(2, 1_000)][..]; count]);
        verdict(&study, promise(99.0, 3.0))
    };
    let few = deep(4, 12);
    let told = "p99 takes at least 32 repetitions of 1000 transfers with 64 in flight, not 12";
    assert_eq!(few.because, [told]);
    assert_eq!(deep(4, 32).judgement, Judgement::Holds);
}

#[test]
fn passes_that_differ_keep_nothing_by_their_sum() {
    // 4 of 20 passes are far above the promise: 0.8 % of all transfers, and 4 % of theirs.
    let (fast, slow): (Times<'_>, Times<'_>) = (&[(2, 1_000)], &[(2, 960), (9, 40)]);
    let passes: Vec<_> = (0..20).map(|pass| if pass % 5 == 0 { slow } else { fast }).collect();
    let found = verdict(&one(&passes), promise(99.0, 3.0));
    assert_eq!(found.judgement, Judgement::CannotTell);
    assert!(why(&found).contains("bounds of p99 are"), "{found:?}");
}

#[test]
fn a_clear_miss_is_broken_however_few_the_passes() {
    for (transfers, percent) in [(50, 99.9), (1_000, 50.0), (1_000, 99.99)] {
        for statistic in [Statistic::Median, Statistic::Worst, Statistic::Best, Statistic::ConfidenceBound] {
            let found =
                verdict(&one(&[&[(9, transfers)]]), Commitment { statistic, ..promise(percent, 3.0) });
            assert_eq!(found.judgement, Judgement::DoesNotHold, "p{percent}, {statistic:?}: {found:?}");
            assert_eq!(found.best, Some(9e6));
        }
    }
    // One slow transfer of 50 neither keeps nor breaks a p99.9: 5 % of such passes have one. Six passes have none.
    let slow = |passes| verdict(&alike(passes, &[(2, 49), (9, 1)]), promise(99.9, 3.0)).judgement;
    assert_eq!((slow(1), slow(6)), (Judgement::CannotTell, Judgement::DoesNotHold));
}

/// A quarter of the passes misses it by so much that all transfers together do.
#[test]
fn a_median_of_passes_does_not_outvote_the_transfers() {
    let (fast, slow): (Times<'_>, Times<'_>) = (&[(2, 1_000)], &[(2, 500), (9, 500)]);
    let passes: Vec<_> = (0..20).map(|pass| if pass % 4 == 0 { slow } else { fast }).collect();
    let judged = |statistic| verdict(&one(&passes), Commitment { statistic, ..promise(99.0, 3.0) }).judgement;
    assert_eq!(judged(Statistic::Median), Judgement::CannotTell);
    assert_eq!(judged(Statistic::Worst), Judgement::DoesNotHold);
    assert_eq!(judged(Statistic::Best), Judgement::Holds, "15 of them are fast");
}

#[test]
fn no_number_of_transfers_shows_that_none_is_slower() {
    let never = verdict(&alike(30, &[(2, 1_000_000)]), promise(100.0, 3.0));
    assert_eq!(never.judgement, Judgement::CannotTell);
    assert!(why(&never).contains("promise a percentile below 100"), "{never:?}");
    let (fast, slow): (Times<'_>, Times<'_>) = (&[(2, 1_000)], &[(2, 999), (9, 1)]);
    let once =
        verdict(&one(&[fast, fast, slow]), Commitment { statistic: Statistic::Worst, ..promise(100.0, 3.0) });
    assert_eq!(once.judgement, Judgement::DoesNotHold);
}

#[test]
fn a_limit_within_a_bucket_is_on_the_unfavourable_side() {
    // As printed by a tool: nothing is known between two percentiles.
    let mut study = Study::default().with(reads("r"), &[1_000; 17]);
    for repetition in 0..17 {
        let key = key(&study.cases[0], repetition, Phase::Read);
        study.latency.push(bucket(&key, Operation::Read, (MS, 4 * MS), 10_000));
    }
    let judged = |milliseconds| verdict(&study, promise(99.0, milliseconds)).judgement;
    assert_eq!(judged(4.0), Judgement::Holds);
    assert_eq!(judged(3.0), Judgement::CannotTell);
    assert_eq!(judged(0.9), Judgement::DoesNotHold);
}

#[test]
fn each_direction_has_to_keep_it() {
    let mut study = alike(17, &[(2, 1_000)]);
    let writes = |study: &mut Study, milliseconds: u64, count| {
        for repetition in 0..17 {
            let key = key(&study.cases[0], repetition, Phase::Read);
            let edges = (milliseconds * MS, milliseconds * MS);
            study.latency.push(bucket(&key, Operation::Write, edges, count));
        }
    };
    writes(&mut study, 1, 10);
    let few = verdict(&study, promise(99.0, 3.0));
    assert_eq!(few.judgement, Judgement::CannotTell, "170 writes show nothing of a p99");
    assert!(why(&few).contains("at least 459 transfers, not 170"), "{few:?}");
    writes(&mut study, 1, 990);
    assert_eq!(verdict(&study, promise(99.0, 3.0)).judgement, Judgement::Holds);
    writes(&mut study, 9, 5_000);
    assert_eq!(verdict(&study, promise(99.0, 3.0)).judgement, Judgement::DoesNotHold);
}

#[test]
fn the_best_of_several_cases_needs_more() {
    let cases = |passes: usize| {
        let add = |study, name| with(study, reads(name), &vec![&[(2, 1_000)][..]; passes]);
        ["a", "b", "c", "d"].into_iter().fold(Study::default(), add)
    };
    let best = Commitment { over: Over::Best, ..promise(99.0, 3.0) };
    assert_eq!(verdict(&cases(17), promise(99.0, 3.0)).judgement, Judgement::Holds);
    assert_eq!(verdict(&cases(17), best.clone()).judgement, Judgement::CannotTell);
    assert_eq!(verdict(&cases(21), best).judgement, Judgement::Holds);
}

#[test]
fn at_least_is_the_other_way_round() {
    let at_least = |milliseconds, passes| {
        let promise = Commitment { bound: Bound::AtLeast, ..promise(99.0, milliseconds) };
        verdict(&one(passes), promise).judgement
    };
    let passes: [Times<'_>; 17] = [&[(2, 950), (9, 50)]; 17];
    assert_eq!(at_least(8.0, &passes), Judgement::Holds);
    assert_eq!(at_least(8.0, &passes[..1]), Judgement::CannotTell);
    assert_eq!(at_least(20.0, &passes), Judgement::DoesNotHold);
}
