//! Job matrices: sums, ratios and comparisons are checked against values computed by hand and the published tables.

use analysis::{
    RateName,
    audit::Check,
    figures::figures,
    findings::findings,
    gate::{Because, Stated, Table, Value},
    jobs::{JobContrast, Matrices, MatrixComparison, matrices, published_matrix},
    statistics::Contrast,
};
use plan::jobs::{Action, Step};
use plan::{Bytes, Case, JobTest, Jobs, Phase, Setting, SettingValue, TargetDescription, TestKind, Work};
use proptest::prelude::{ProptestConfig, any, prop_assert_eq, proptest};
use record::{LaunchRow, PhaseKey, PhaseRecord, PhaseRow, Run};

use crate::common::rows::{SECOND, cell, plan, run, workload};

/// A launch of `test`: real time, user and system CPU time in milliseconds.
#[derive(Debug, Clone, Copy)]
struct Did {
    test: &'static str,
    stream: u32,
    real: u64,
    user: u64,
    system: u64,
    complete: bool,
}

const fn did(test: &'static str, stream: u32, real: u64, user: u64, system: u64) -> Did {
    Did { test, stream, real, user, system, complete: true }
}

/// A case on `target`. Each test has as many streams as it has launches in `launches`.
fn case(target: &str, repetitions: u32, launches: &[Did]) -> Case {
    let step = Step { action: Action::Simulation { operations: 1 }, threads: 1, memory: Bytes::mib(64) };
    let mut jobs = Jobs::new(Bytes::kib(64));
    for one in launches {
        match jobs.tests.iter_mut().find(|test| test.name == one.test) {
            Some(test) => test.streams += 1,
            None => jobs.tests.push(JobTest::new(one.test, TestKind::Io, vec![step.clone()])),
        }
    }
    let workload = workload(|spec| {
        spec.files.targets = ["p", "w", "u"].map(|space| format!("/{target}/{space}").into()).to_vec();
        spec.tasks = u32::try_from(launches.len()).expect("few");
        spec.work = Work::Jobs(jobs);
    });
    Case {
        group: "g".to_owned(),
        target: target.to_owned(),
        settings: vec![Setting { key: "target".into(), value: SettingValue::Word(target.to_owned()) }],
        repetitions,
        ..Case::new(format!("g:{target}"), workload, vec![Phase::Jobs])
    }
}

fn record(case: &Case, repetition: u32, launches: &[Did]) -> PhaseRecord {
    let key = PhaseKey { case: case.id.as_str().into(), repetition, phase: Phase::Jobs };
    let row = |(launch, one): (usize, &Did)| {
        let launch = u32::try_from(launch).expect("few");
        let start_ns = u64::from(launch) * 1_000;
        LaunchRow {
            node: "n".into(),
            launch,
            kind: "io".into(),
            stream: one.stream,
            start_ns,
            end_ns: start_ns + one.real * 1_000_000,
            user_cpu_ns: one.user * 1_000_000,
            system_cpu_ns: one.system * 1_000_000,
            peak_memory_bytes: 1_000_000 * u64::from(launch + 1),
            outcome: if one.complete { "complete" } else { "failed" }.into(),
            message: if one.complete { "" } else { "no space left" }.into(),
            ..LaunchRow::new(key.clone(), one.test)
        }
    };
    let phase = PhaseRow {
        wall_ns: 10 * SECOND,
        io_ns: 10 * SECOND,
        read_bytes: 1 << 20,
        reads: 16,
        ..PhaseRow::new(key.clone())
    };
    PhaseRecord { launches: launches.iter().enumerate().map(row).collect(), ..PhaseRecord::new(phase) }
}

/// Passes of each system.
fn of(systems: &[(&str, Vec<Vec<Did>>)]) -> Run {
    let (mut cases, mut records) = (Vec::new(), Vec::new());
    for (target, passes) in systems {
        let case = case(target, u32::try_from(passes.len()).expect("few"), &passes[0]);
        let passes = passes.iter().zip(0..);
        records.extend(passes.map(|(launches, repetition)| record(&case, repetition, launches)));
        cases.push(case);
    }
    let mut plan = plan(cases);
    plan.criteria.targets = systems
        .iter()
        .map(|(name, _)| TargetDescription { name: (*name).to_owned(), ..TargetDescription::default() })
        .collect();
    run(&plan, records)
}

fn found(run: &Run) -> Matrices {
    matrices(run, &figures(run, RateName::ByWall))
}

fn near(one: f64, other: f64) {
    assert!((one - other).abs() < 1e-9, "{one} is not {other}");
}

/// Ratios 0.5, 1.5, 1.0 and 2.0.
const FOUR: [Did; 4] = [
    did("a", 0, 2000, 900, 100),
    did("a", 1, 1000, 1400, 100),
    did("b", 0, 1000, 1000, 0),
    did("c", 0, 500, 1000, 0),
];

#[test]
fn sums_and_ratios_are_those_of_a_pencil() {
    let all = found(&of(&[("disks", vec![FOUR.to_vec()])])).all;
    let [one] = &all[..] else { panic!("one case, {} matrices", all.len()) };
    let [real, memory, user, system] = one.passes[0].sums;
    near(real, 4.5);
    near(user, 4.3);
    near(system, 0.2);
    near(memory, 10e6);
    let ratios = one.ratios.expect("four ratios");
    assert_eq!((ratios.summary.n, ratios.waiting, ratios.threaded), (4, 1, 2));
    near(ratios.summary.mean, 1.25);
    near(ratios.summary.deviation_sample, (1.25_f64 / 3.0).sqrt());
    near(ratios.of_sums, 1.0);
    assert_eq!(
        one.histogram.bins().map(|(_, _, launches)| launches).sum::<usize>(),
        4,
        "each launch is in one bin"
    );
}

#[test]
fn a_test_waits_is_busy_or_is_threaded_by_the_mean_of_its_ratios() {
    let run = of(&[("disks", vec![FOUR.to_vec()])]);
    let findings = findings(&run, &figures(&run, RateName::ByWall));
    let tests = Table::of(&findings.matrix_tables.tests);
    let standings: Vec<_> = ["test", "standing"]
        .map(|key| {
            let column = tests.columns.iter().position(|column| column.key == key).expect("a column");
            tests.rows.iter().map(|row| row.cells[column].clone()).collect::<Vec<_>>()
        })
        .to_vec();
    let words = |words: [&str; 3]| words.map(|word| Value::Text(word.to_owned())).to_vec();
    assert_eq!(standings, [words(["a", "b", "c"]), words(["busy", "busy", "threaded"])]);
    let ratios = findings.matrix_tables.ratios[0].says().expect("one system");
    assert_eq!(cell(ratios, "range"), Value::Number(1.5));
}

/// Launches with these ratios of CPU time to real time, in hundredths.
fn with_ratios(hundredths: impl IntoIterator<Item = u64>) -> Vec<(f64, f64, usize)> {
    let launches: Vec<Did> =
        (0..).zip(hundredths).map(|(stream, ratio)| did("a", stream, 1000, ratio * 10, 0)).collect();
    found(&of(&[("disks", vec![launches])])).all[0].histogram.bins().collect()
}

#[test]
fn bins_are_as_wide_as_twice_the_quartiles_distance_by_the_cube_root_of_n() {
    let width = |bins: Vec<(f64, f64, usize)>| bins[0].1 - bins[0].0;
    // 0.01, 0.02 … 1.00: quartiles 0.25 and 0.75, 2 × 0.5 ÷ ∛100 = 0.215, rounded up to 0.5.
    near(width(with_ratios(1..=100)), 0.5);
    near(width(with_ratios([120; 5])), 0.1);
    // The quartiles of 0.00, 0.03 … 0.21 differ by 0.12. Twice that divided by the cube root of 8 is 0.12, rounded up
    // to 0.2.
    near(width(with_ratios((0..8).map(|step| step * 3))), 0.2);
}

#[test]
fn a_ratio_on_an_edge_is_in_the_bin_above_it() {
    let bins = with_ratios([39, 40, 45, 50, 55, 60, 60, 100]);
    let counts: Vec<usize> = bins.iter().map(|bin| bin.2).collect();
    assert_eq!(counts, [1, 4, 2, 0, 1]);
    assert_eq!(bins[4].0.to_bits(), 1.0_f64.to_bits());
}

#[test]
fn of_several_passes_a_launch_has_its_mean_and_each_column_its_spread() {
    let slower: Vec<Did> = FOUR.iter().map(|one| Did { real: one.real * 3, ..*one }).collect();
    let all = found(&of(&[("disks", vec![FOUR.to_vec(), slower])])).all;
    let real = all[0].sums[0];
    near(real.mean, 9.0);
    near(real.deviation_sample, 40.5_f64.sqrt());
    let first = &all[0].launches[0];
    assert_eq!(first.key(), ("a", 0, 0));
    near(first.amounts[0], 4.0);
    near(first.ratio.expect("a ratio"), f64::midpoint(0.5, 0.5 / 3.0));
}

#[test]
fn launches_that_did_not_complete_are_told_and_disqualify() {
    let mut broken = FOUR.to_vec();
    broken[1].complete = false;
    let run = of(&[("disks", vec![FOUR.to_vec()]), ("flash", vec![broken.clone(), FOUR.to_vec()])]);
    let findings = findings(&run, &figures(&run, RateName::ByWall));
    let flash = &findings.matrices.all[1];
    assert!(!flash.is_complete() && !flash.partial, "its second pass is whole");
    near(flash.sums[0].mean, 4.5);
    assert!(!findings.matrices.comparisons[0].complete, "nothing is compared as if complete");
    let doubts: Vec<_> = findings.audit.iter().filter(|doubt| doubt.check == Check::FailedJobs).collect();
    assert_eq!(doubts.len(), 1, "{doubts:?}");
    assert!(doubts[0].disqualifies() && doubts[0].figure == Some(1));
    assert_eq!(
        doubts[0].evidence,
        "1 of 4 launches did not complete in pass 0: 1 failed (a, stream 1, round 0: no space left)"
    );
    let partial = found(&of(&[("flash", vec![broken])]));
    assert!(partial.all[0].partial);
    near(partial.all[0].passes[0].sums[0], 3.5);
}

#[test]
fn launches_without_a_row_are_missed() {
    let case = case("disks", 1, &FOUR);
    let run = run(&plan(vec![case.clone()]), vec![record(&case, 0, &FOUR[..3])]);
    let one = &found(&run).all[0];
    assert_eq!((one.planned, one.passes[0].completed, one.partial), (4, 3, true));
}

/// This many tests with four launches each. Their real time varies by `spread`, their CPU time by `cpu`.
fn many(tests: usize, spread: f64, salt: u64) -> Vec<Did> {
    const NAMES: [&str; 12] = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"];
    let wobble = |step: u64| {
        let mixed = (step + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed >> 40) as f64 / f64::from(1 << 24) - 0.5
    };
    let launch = |(test, stream): (usize, u32)| {
        let place = test as u64 * 4 + u64::from(stream);
        let real = 10_000.0 * (1.0 + spread * wobble(salt * 1_000 + place));
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "some seconds")]
        let real = real as u64;
        did(NAMES[test], stream, real, 10_000, 0)
    };
    (0..tests).flat_map(|test| (0..4).map(move |stream| (test, stream))).map(launch).collect()
}

/// Five different passes of [`many`].
fn passes(tests: usize, spread: f64, salt: u64) -> Vec<Vec<Did>> {
    (0..5).map(|pass| many(tests, spread, 10 * salt + pass)).collect()
}

#[test]
fn a_steadier_system_is_found_and_two_that_are_alike_are_not_told_apart() {
    let run =
        of(&[("disks", passes(12, 0.4, 1)), ("flash", passes(12, 0.1, 2)), ("other", passes(12, 0.4, 3))]);
    let all = found(&run);
    let [flash, other] = &all.comparisons[..] else { panic!("two against the first: {:?}", all.comparisons) };
    assert_eq!((flash.first, flash.second, other.first, other.second), (0, 1, 0, 2));
    assert_eq!((text(contrast(flash, REAL), "of").as_str(), flash.complete), ("48 launches", true));
    for spread in [RATIOS, TIMES].map(|what| contrast(flash, what)) {
        assert_eq!(verdict(spread), "more consistent is flash", "{spread:?}");
        assert!((-0.85..-0.6).contains(&number(spread, "change")), "{spread:?}");
    }
    for spread in [RATIOS, TIMES].map(|what| contrast(other, what)) {
        assert_eq!(verdict(spread), "not shown");
    }
    assert_eq!(verdict(contrast(other, REAL)), "not shown");
}

const REAL: &str = "real time, launch by launch";
const RATIOS: &str = "spread of CPU ÷ real within a test";
const TIMES: &str = "spread of real times within a test";

fn contrast<'a>(all: &'a MatrixComparison, what: &str) -> &'a JobContrast {
    let mut rows = all.contrasts.iter().map(|(contrast, _)| contrast);
    rows.find(|row| cell(*row, "what") == Value::Text(what.to_owned())).expect("a contrast")
}

fn verdict(of: &JobContrast) -> String {
    text(of, "verdict")
}

fn text(of: &JobContrast, key: &str) -> String {
    match cell(of, key) {
        Value::Text(text) => text,
        other => panic!("{other:?}"),
    }
}

fn number(of: &JobContrast, key: &str) -> f64 {
    match cell(of, key) {
        Value::Change(value) | Value::Number(value) | Value::Seconds(value) => value,
        other => panic!("{other:?}"),
    }
}

/// `launches`, with the time of each scaled to this percentage.
fn taking(launches: &[Did], percent: u64) -> Vec<Did> {
    launches.iter().map(|one| Did { real: one.real * percent / 100, ..*one }).collect()
}

#[test]
fn launches_of_one_pass_are_no_repetitions() {
    let own = many(6, 0.1, 1);
    let one = found(&of(&[("disks", vec![own.clone()]), ("flash", vec![taking(&own, 105)])]));
    let [one] = &one.comparisons[..] else { panic!("{:?}", one.comparisons) };
    for what in ["real time", REAL, RATIOS, TIMES] {
        assert_eq!(verdict(contrast(one, what)), "too few passes", "{what}");
    }
    // A variation shared by all launches of a pass is as large within a system as between both.
    let moments = |percent: [u64; 5]| percent.map(|percent| taking(&own, percent)).to_vec();
    let several = found(&of(&[
        ("disks", moments([100, 104, 98, 108, 101])),
        ("flash", moments([106, 99, 109, 103, 107])),
    ]));
    assert_eq!(verdict(contrast(&several.comparisons[0], REAL)), "not shown");
}

#[test]
fn launches_that_stall_now_and_then_make_no_system_faster() {
    let pass = |salt: u64| {
        let launch = |one: Did| {
            let mixed = (u64::from(one.stream) + 1000 * salt).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            if (mixed >> 40).is_multiple_of(10) { Did { real: 5 * one.real, ..one } } else { one }
        };
        (0..400).map(|stream| launch(did("a", stream, 2000, 1000, 0))).collect::<Vec<_>>()
    };
    let passes = |salt: u64| (salt..salt + 5).map(pass).collect();
    let all = found(&of(&[("disks", passes(1)), ("flash", passes(11))]));
    let [one] = &all.comparisons[..] else { panic!("{:?}", all.comparisons) };
    assert_eq!(verdict(contrast(one, REAL)), "not shown");
}

#[test]
fn a_slower_system_is_found_over_passes() {
    let own = passes(3, 0.1, 1);
    let slower = |pass: &Vec<Did>| taking(pass, 110).into_iter().rev().collect();
    // The launches of the second system are listed in reverse order. They are matched by their identity.
    let all = found(&of(&[("disks", own.clone()), ("flash", own.iter().map(slower).collect())]));
    let one = &all.comparisons[0];
    let real = contrast(one, REAL);
    assert_eq!(verdict(real), "slower");
    assert_eq!(text(real, "of"), "12 launches");
    assert!((number(real, "change") - 0.1).abs() < 1e-3, "{real:?}");
    let [(sum, test), _, (user, of_user), _, ..] = &one.contrasts[..] else {
        panic!("four columns: {one:?}")
    };
    assert!((number(sum, "change") - 0.1).abs() < 1e-3);
    assert!(number(sum, "second") > number(sum, "first"), "the second took longer");
    assert_eq!(test.expect("sums").outcome, Contrast::Higher);
    assert_eq!((verdict(user).as_str(), of_user.expect("sums").outcome), ("not shown", Contrast::NotShown));
    assert_eq!(verdict(contrast(one, TIMES)), "not shown");
}

#[test]
fn the_baseline_is_the_target_that_the_study_names() {
    let mut run = of(&[("flash", vec![FOUR.to_vec()]), ("disks", vec![FOUR.to_vec()])]);
    run.manifest.plan.criteria.targets[0].baseline = Some("disks".to_owned());
    let pairs: Vec<_> = found(&run).comparisons.iter().map(|one| (one.first, one.second)).collect();
    assert_eq!(pairs, [(1, 0)]);
}

/// Study C, tables 1 and 2. The values are those of the checks XC1a to XC6s.
#[test]
fn the_published_tables_are_computed_again() {
    let tables = published_matrix(record::published()).expect("the study is in the library");
    let again = ["+61 min, +5.05 %", "+0.1 GB, +0.18 %", "+82 min, +5.92 %", "+36 min, +20.22 %"];
    let changes: Vec<&JobContrast> = tables.contrasts.iter().filter_map(Stated::says).collect();
    for (change, again) in changes.iter().zip(again) {
        assert!(text(change, "how").ends_with(&format!("; computed again {again}")), "{change:?}");
    }
    let verdicts: Vec<String> = changes.iter().map(|change| verdict(change)).collect();
    assert_eq!(verdicts, ["as printed", "misprint", "as printed", "as printed"], "+0.01 is a misprint");
    near(number(changes[0], "change"), 0.050_496_688_741_721_855);
    near(number(changes[3], "change"), 0.202_247_191_011_235_95);
    let ratios: Vec<_> = tables.ratios.iter().filter_map(Stated::says).collect();
    let Value::Number(of_sums) = cell(ratios[1], "of_sums") else { panic!("a ratio") };
    near(of_sums, 1.324_665_090_622_537_5);
    let words = |system: usize| format!("{:?}", cell(ratios[system], "more"));
    assert!(words(1).contains("at least 0.152"), "{}", words(1));
    assert!(!words(0).contains("at least"), "0.345 is above 0.187");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn sums_do_not_depend_on_the_order(times in proptest::collection::vec(any::<u32>(), 1..40), turn in any::<usize>()) {
        let launches: Vec<Did> = (0..).zip(&times)
            .map(|(stream, &real)| did("a", stream, u64::from(real), u64::from(real) / 3, 7))
            .collect();
        let mut turned = launches.clone();
        turned.rotate_left(turn % launches.len());
        turned.reverse();
        let sums = |launches: &[Did]| {
            found(&of(&[("s", vec![launches.to_vec()])])).all[0].passes[0].sums.map(f64::to_bits)
        };
        prop_assert_eq!(sums(&launches), sums(&turned));
    }
}

/// The best of points that ran the same jobs, if any: the size of its pages in KiB, its seconds, how far it is ahead in
/// percent, and whether its passes are too few.
fn best_page(
    points: &[(u64, u64)],
    repetitions: u32,
    other_jobs: bool,
) -> Vec<(u64, f64, Option<f64>, bool)> {
    let (mut cases, mut records) = (Vec::new(), Vec::new());
    for (place, (page, tenths)) in (1..).zip(points) {
        let mut case = case("disks", repetitions, &FOUR);
        case.id = format!("g:{page}");
        case.settings = vec![Setting { key: "page".into(), value: SettingValue::Bytes(Bytes::kib(*page)) }];
        let Work::Jobs(mut jobs) = case.workload.work.clone() else { panic!("jobs") };
        jobs.page_bytes = Bytes::kib(*page);
        (jobs.concurrency, jobs.seed) = (place, if other_jobs { place.into() } else { 1 });
        case.workload = workload(|spec| {
            spec.files.targets = case.workload.files.targets.clone();
            (spec.tasks, spec.work) = (4, Work::Jobs(jobs));
        });
        for repetition in 0..repetitions {
            let mut one = record(&case, repetition, &FOUR);
            let wall_ns = tenths * SECOND / 10 + u64::from(repetition) * SECOND / 100;
            (one.phase.wall_ns, one.phase.io_ns) = (wall_ns, wall_ns);
            // The larger its pages, the more bytes are moved for the same rows.
            one.phase.read_bytes = (page * page) << 20;
            records.push(one);
        }
        cases.push(case);
    }
    let run = run(&plan(cases), records);
    let found = findings(&run, &figures(&run, RateName::ByWall));
    let row = |one: &Stated<analysis::sweeps::Best>| {
        let best = one.says()?;
        let gain = best.gain.map(|gain| (gain * 100.0).round());
        Some((
            points[one.figure()].0,
            best.elapsed?,
            gain,
            one.reasons.iter().any(|one| one.because == Because::TooFew),
        ))
    };
    found.best.iter().filter_map(row).collect()
}

/// 1 MiB moves the most bytes per second, and 256 KiB is done first. How many jobs run at a time makes them no others.
#[test]
fn the_best_point_of_the_same_jobs_is_the_one_that_is_done_first() {
    let pages = [(64, 58), (256, 28), (1024, 29)];
    assert_eq!(best_page(&pages, 5, false), [(256, 2.82, Some(4.0), false)]);
    assert_eq!(best_page(&pages, 1, false), [(256, 2.8, None, true)], "one pass");
    assert_eq!(best_page(&pages, 5, true), [], "other jobs take other times");
}
