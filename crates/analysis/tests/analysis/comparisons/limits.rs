//! Limits of changes, and comparisons of several runs on a side.

use analysis::comparisons::{LimitResult, LimitResults, Limited, Needs, RunScatter, limited, paired};
use analysis::gate::Gate;
use analysis::statistics::{Contrast, difference};
use plan::{Backend, Limit, Operation, Phase};

use crate::common::random::Random;
use crate::common::rows::{bucket, workload};
use crate::common::study::{Study, key, reads};

const STEADY: [u64; 6] = [1002, 1000, 1004, 998, 1001, 999];

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rate far below the limits")]
fn whole(rate: f64) -> u64 {
    rate.round() as u64
}

fn times(values: &[u64], factor: f64) -> Vec<u64> {
    values.iter().map(|value| whole(*value as f64 * factor)).collect()
}

fn of(rates: &[u64]) -> Study {
    Study::default().with(reads("disk"), rates)
}

/// Judges limits between two sides of several runs.
fn judged(limits: &[&str], before: &[Study], after: &[Study]) -> LimitResults {
    let limits: Vec<Limit> = limits.iter().map(|text| text.parse().expect("a limit")).collect();
    with_gates(before, |before| with_gates(after, |after| limited(&limits, before, after)))
}

fn with_gates<T>(runs: &[Study], then: impl FnOnce(&[Gate<'_>]) -> T) -> T {
    let plans: Vec<_> = runs.iter().map(Study::plan).collect();
    let figures: Vec<_> = runs.iter().map(Study::figures).collect();
    let doubts: Vec<_> = plans
        .iter()
        .zip(&figures)
        .map(|(plan, figures)| analysis::audit::audit(plan, figures, &[]))
        .collect();
    let gates: Vec<Gate<'_>> =
        (0..runs.len()).map(|run| Gate::new(&plans[run], &figures[run], &doubts[run])).collect();
    then(&gates)
}

fn only(found: LimitResults) -> Limited {
    assert_eq!(found.all.len(), 1, "{found:?}");
    found.all.into_iter().next().expect("one")
}

#[test]
fn a_limit_is_kept_or_broken_only_if_the_interval_says_so() {
    const LIMIT: &str = "read.rate drops by more than 5 %";
    for (factor, result) in [
        (0.5, LimitResult::Worse),
        (0.90, LimitResult::Worse),
        (0.95, LimitResult::Untold),
        (0.99, LimitResult::Within),
        (1.0, LimitResult::Within),
        (1.5, LimitResult::Within),
    ] {
        let one = only(judged(&[LIMIT], &[of(&STEADY)], &[of(&times(&STEADY, factor))]));
        assert_eq!(one.result, result, "{factor}: {one:?}");
        assert_eq!(one.name, "disk read.rate");
        let change = one.change().expect("nothing is withheld");
        assert!((change - (factor - 1.0)).abs() < 2e-3, "{change}");
        let (low, high) = one.comparison.expect("both sides").difference.interval.expect("enough values");
        match result {
            LimitResult::Worse => assert!(high < -0.05, "{high}"),
            LimitResult::Within => assert!(low > -0.05, "{low}"),
            LimitResult::Untold => assert!(low < -0.05 && high > -0.05, "{low} {high}"),
        }
    }
}

#[test]
fn what_may_not_rise_is_worse_above_its_limit() {
    let of = |micros: u64| {
        let mut study = of(&[100; 6]);
        for repetition in 0..6 {
            let key = key(&study.cases[0], repetition, Phase::Read);
            let edge = micros * 1000 + repetition as u64;
            study.latency.push(bucket(&key, Operation::Read, (edge, edge), 1000));
        }
        study
    };
    for (limit, name) in [
        ("read.latency rises by more than 10 %", "disk read.latency"),
        ("* disk read.p99 rises by more than 10 %", "disk read.p99"),
    ] {
        let limit = limit.trim_start_matches("* ");
        let worse = only(judged(&[limit], &[of(100)], &[of(120)]));
        assert_eq!((worse.result, worse.name.as_str()), (LimitResult::Worse, name));
        assert_eq!(only(judged(&[limit], &[of(100)], &[of(105)])).result, LimitResult::Within);
        assert_eq!(only(judged(&[limit], &[of(100)], &[of(50)])).result, LimitResult::Within);
    }
    let unknown = judged(&["read.p12 rises by more than 10 %"], &[of(100)], &[of(100)]);
    assert_eq!(unknown.without_figure, [0], "no figure has this percentile");
}

/// A fall of 99.5 % between three passes and three is obvious.
#[test]
fn few_passes_tell_what_anyone_sees_and_else_name_how_many_would() {
    let limit = ["read.rate drops by more than 5 %"];
    let fall = only(judged(&limit, &[of(&[99_600, 99_500, 99_700])], &[of(&[514, 515, 513])]));
    assert_eq!(fall.result, LimitResult::Worse);
    let open = only(judged(&limit, &[of(&[1000, 1020, 990])], &[of(&[1010, 980, 1000])]));
    assert_eq!(open.result, LimitResult::Untold);
    assert!(matches!(open.needs, Some(Needs::Values(5..40))), "{:?}", open.needs);
    let once = only(judged(&limit, &[of(&[1000])], &[of(&[10])]));
    assert_eq!((once.result, once.needs), (LimitResult::Untold, Some(Needs::AtLeast(5))));
    assert!(once.why.contains("n = 1"), "{}", once.why);
}

#[test]
fn what_is_asked_for_tells_what_the_values_did_not() {
    let random = &mut Random::seeded(45);
    let mut drawn =
        |n: usize| -> Vec<u64> { (0..n).map(|_| whole(1e6 * (0.02 * random.normal()).exp())).collect() };
    let limit = ["read.rate drops by more than 5 %"];
    let (mut asked, mut told) = (0, 0);
    for _ in 0..60 {
        let first = only(judged(&limit, &[of(&drawn(6))], &[of(&drawn(6))]));
        assert_ne!(first.result, LimitResult::Worse, "a healthy pair");
        if let Some(Needs::Values(count)) = first.needs {
            asked += 1;
            let again = only(judged(&limit, &[of(&drawn(count))], &[of(&drawn(count))]));
            told += usize::from(again.result == LimitResult::Within);
        }
    }
    assert!(asked > 10 && told * 10 >= asked * 6, "{told} of {asked}");
}

#[test]
fn a_figure_of_one_side_alone_cannot_be_told() {
    let before = of(&STEADY).with(reads("gone"), &STEADY);
    let found = judged(&["*.rate drops by more than 5 %"], &[before], &[of(&STEADY)]);
    let said: Vec<_> =
        found.all.iter().map(|one| (one.name.as_str(), one.result, one.why.as_str())).collect();
    let (gone, disk) = (("gone read.rate", LimitResult::Untold, "not measured after"), "disk read.rate");
    assert_eq!(said, [gone, (disk, LimitResult::Within, "")]);
    assert_eq!(found.result(), LimitResult::Untold);
    let other = judged(&["write.rate drops by more than 5 %"], &[of(&STEADY)], &[of(&STEADY)]);
    assert_eq!((other.without_figure.as_slice(), other.result()), (&[0][..], LimitResult::Untold));
}

#[test]
fn the_worst_comes_first_and_then_what_changed_most() {
    let study = |factors: [f64; 4]| {
        let all = factors.iter().enumerate();
        all.fold(Study::default(), |all, (place, factor)| {
            all.with(reads(&format!("c{place}")), &times(&STEADY, *factor))
        })
    };
    let found =
        judged(&["*.rate drops by more than 5 %"], &[study([1.0; 4])], &[study([1.8, 0.9, 0.06, 1.0])]);
    let order: Vec<&str> = found.all.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(order, ["c2 read.rate", "c1 read.rate", "c0 read.rate", "c3 read.rate"]);
    assert_eq!((found.result(), found.count(LimitResult::Worse)), (LimitResult::Worse, 2));
}

/// A changed study is no change of the storage.
#[test]
fn what_was_not_measured_alike_cannot_be_told() {
    let deep = |depth: u32| {
        let mut case = reads("disk");
        case.workload = workload(|one| one.backend = Backend::Uring { depth, required: false });
        Study::default().with(case, &STEADY)
    };
    let limit = ["read.rate drops by more than 5 %"];
    let one = only(judged(&limit, &[deep(1)], &[deep(32)]));
    assert_eq!((one.result, one.needs), (LimitResult::Untold, None));
    assert!(one.why.starts_with("not measured alike: depth: 1, then 32"), "{}", one.why);
    assert_eq!(only(judged(&limit, &[deep(8)], &[deep(8)])).result, LimitResult::Within);
    // One run of several is left out.
    let mixed = [deep(8), deep(8), deep(16), deep(8), deep(8), deep(8)];
    let same = [deep(8), deep(8), deep(8), deep(8), deep(8)];
    let one = only(judged(&limit, &same, &mixed));
    let compared = one.comparison.expect("five runs a side");
    assert_eq!((one.result, compared.difference.n), (LimitResult::Within, (5, 5)));
    let why = &compared.reasons[0].evidence;
    assert!(why.starts_with("after: 1 of 6 runs: not measured alike: depth: 8, then 16"), "{why}");
}

/// Doubts of the audit keep a figure from being within a limit, and from being beyond it.
#[test]
fn a_disqualified_figure_cannot_be_told() {
    let mut short = of(&STEADY);
    for phase in &mut short.phases {
        phase.wall_ns = 1_000_000;
    }
    let one = only(judged(&["read.rate drops by more than 5 %"], &[of(&STEADY)], &[short]));
    assert_eq!((one.result, one.change(), one.needs), (LimitResult::Untold, None, None));
    assert!(one.why.contains("after: "), "{}", one.why);
}

/// Passes that agree to 0.1 % within runs that differ by 3 %: single comparisons of passes find differences that the
/// runs do not show.
#[test]
fn with_several_runs_a_side_the_run_is_the_unit() {
    let random = &mut Random::seeded(7);
    let mut runs = |count: usize| -> Vec<Study> {
        let mut run = || {
            let level = 1e6 * (0.03 * random.normal()).exp();
            of(&(0..6).map(|_| whole(level * (0.001 * random.normal()).exp())).collect::<Vec<_>>())
        };
        (0..count).map(|_| run()).collect()
    };
    let compared = |before: &[Study], after: &[Study]| {
        let found = with_gates(before, |before| with_gates(after, |after| paired(before, after)));
        found[0].comparisons[0].clone()
    };
    let (mut by_pass, mut by_run) = (0, 0);
    for _ in 0..50 {
        let (before, after) = (runs(5), runs(5));
        by_pass += usize::from(compared(&before[..1], &after[..1]).difference.is_stated());
        let one = compared(&before, &after);
        by_run += usize::from(one.difference.is_stated());
        assert_eq!(one.difference.n, (5, 5));
        let [RunScatter { between: Some(between), within: Some(within) }, _] =
            one.scatter.expect("several runs")
        else {
            panic!("{one:?}");
        };
        assert!(within < 0.003 && between > 0.005, "{within} {between}");
    }
    assert!(by_pass > 30 && by_run <= 2, "{by_pass} {by_run}");
    assert_eq!(compared(&runs(1), &runs(1)).scatter, None);
}

#[test]
fn runs_that_nothing_may_be_compared_with_are_left_out_and_named() {
    let mut short = of(&STEADY);
    for phase in &mut short.phases {
        phase.wall_ns = 1_000_000;
    }
    let mut before: Vec<Study> = (0..5).map(|run| of(&times(&STEADY, 1.0 + 1e-3 * f64::from(run)))).collect();
    before.push(short);
    let after: Vec<Study> = (0..5).map(|run| of(&times(&STEADY, 0.8 + 1e-3 * f64::from(run)))).collect();
    let one = only(judged(&["read.rate drops by more than 5 %"], &before, &after));
    let compared = one.comparison.expect("five runs are left");
    assert_eq!((one.result, compared.difference.n), (LimitResult::Worse, (5, 5)));
    assert!(
        compared.reasons.iter().any(|one| one.evidence.starts_with("before: 1 of 6 runs")),
        "{compared:?}"
    );
}

/// A run that is left out does not make passes of runs, and both sides say what they left out.
#[test]
fn a_run_stays_the_unit_if_others_are_left_out() {
    let short = || {
        let mut short = of(&STEADY);
        for phase in &mut short.phases {
            phase.wall_ns = 1_000_000;
        }
        short
    };
    let limit = ["read.rate drops by more than 5 %"];
    let slow = || of(&times(&STEADY, 0.5));
    let one = only(judged(&limit, &[of(&STEADY), short()], &[slow()]));
    let compared = one.comparison.expect("one run a side is left");
    assert_eq!((one.result, compared.difference.n), (LimitResult::Untold, (1, 1)));
    let both = only(judged(&limit, &[of(&STEADY), short()], &[slow(), short(), short()]));
    let reasons = both.comparison.expect("one run a side is left").reasons;
    let left_out =
        reasons.iter().find(|one| one.evidence.contains("before: 1 of 2 runs")).expect("it is said");
    assert!(left_out.evidence.contains("after: 2 of 3 runs"), "{left_out:?}");
}

/// One run against many earlier ones: its value has to be outside of all of them, and improbable.
#[test]
fn a_single_run_is_compared_with_twenty() {
    let random = &mut Random::seeded(3);
    let told = |before: &[f64], after: &[f64]| difference(before, after, 1).expect("positive").is_stated();
    let normal: fn(&mut Random) -> f64 = |random| 100.0 * (0.02 * random.normal()).exp();
    let skewed: fn(&mut Random) -> f64 = |random| 100.0 * (1.0 - 0.02 * random.uniform().ln()).recip();
    let two_states: fn(&mut Random) -> f64 =
        |random| (if random.uniform() < 0.1 { 90.0 } else { 100.0 }) * (0.005 * random.normal()).exp();
    for (of, most) in [(normal, 10), (skewed, 15), (two_states, 10)] {
        let (mut false_ones, mut found) = (0, 0);
        for _ in 0..1000 {
            let before: Vec<f64> = (0..20).map(|_| of(random)).collect();
            let one = of(random);
            false_ones += usize::from(told(&before, &[one]));
            found += usize::from(told(&before, &[one * 0.8]));
            assert!(!told(&before[..19], &[50.0]), "nineteen are too few");
        }
        assert!(false_ones <= most, "{false_ones}");
        assert!(found > 900, "{found}");
    }
    let before: Vec<f64> = (0..20).map(|_| normal(random)).collect();
    let found = difference(&before, &[50.0], 1).expect("positive");
    assert_eq!((found.outcome, found.is_obvious(), found.interval), (Contrast::Lower, true, None));
}
