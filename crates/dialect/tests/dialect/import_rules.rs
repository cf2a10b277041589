//! What the rules of consistency say about printed values: nothing against true ones, and which changed digit they find.

use analysis::gate::Judgement;
use analysis::printed::imported_checks;
use dialect::import::{Imported, Text, import};
use plan::Phase;
use record::Run;

use crate::common::manifest;

fn read(text: &str) -> Imported {
    import(&[Text { name: "text", bytes: text.as_bytes() }], None, 0).expect("the output of a tool")
}

/// The rules that `text` contradicts, each once.
fn broken(text: &str) -> Vec<&'static str> {
    let Imported { plan, phases, .. } = read(text);
    let checks = imported_checks(&Run::in_memory(manifest(plan), phases));
    let differs = checks.into_iter().filter(|one| one.check.outcome == Judgement::DoesNotHold);
    let mut rules: Vec<&'static str> = differs.map(|one| one.check.rule).collect();
    rules.dedup();
    rules
}

/// The rules that `text` contradicts after `changed`, which replaces one value by another.
fn broken_by(text: &str, (value, other): (&str, &str)) -> Vec<&'static str> {
    assert!(text.contains(value), "{value}");
    broken(&text.replacen(value, other, 1))
}

const DEADLINE_4_1: &str = include_str!("fixtures/import/mdtest-4.1-deadline.txt");
const DEADLINE_3_3: &str = include_str!("fixtures/import/mdtest-3.3-deadline.txt");

#[test]
fn mdtest_is_not_accused_of_items_that_a_deadline_cut_short_or_of_statistics_over_processes() {
    let texts = [
        DEADLINE_4_1,
        DEADLINE_3_3,
        include_str!("fixtures/import/mdtest-3.3-deviation.txt"),
        include_str!("fixtures/import/mdtest-3.4-per-rank.txt"),
        include_str!("fixtures/import/mdtest-4.1-creation-only.txt"),
        include_str!("fixtures/import/mdtest-3.2.1.txt"),
        include_str!("fixtures/import/mdtest-3.3.0-1.txt"),
        include_str!("fixtures/import/mdtest-4.0.0.txt"),
        include_str!("fixtures/import/mdtest-4.1.txt"),
        include_str!("fixtures/import/published-mdtest-1.9.3.txt"),
    ];
    for text in texts {
        assert_eq!(broken(text), Vec::<&str>::new(), "{text}");
    }
}

#[test]
fn a_wrong_digit_of_mdtest_is_found_by_the_rule_that_binds_it() {
    let operations = "rate × time = operations";
    let found = [
        (DEADLINE_4_1, ("max: 50000", "max: 51000"), operations),
        (DEADLINE_3_3, ("1000.000        999.706", "1001.000        999.706"), operations),
        (DEADLINE_3_3, ("340.100        340.000", "341.100        340.000"), operations),
        (DEADLINE_3_3, ("999.800", "998.800"), "statistics of the same values"),
        (DEADLINE_3_3, ("avg: 16000.5", "avg: 16100.5"), "rate × time = tasks × items at the deadline"),
        (DEADLINE_3_3, ("0.100          0.100", "0.100          0.170"), "rate × time = whole directories"),
        (DEADLINE_3_3, ("09:18:40", "09:18:30"), "phases + delays ≤ finish − start"),
    ];
    for (text, change, rule) in found {
        assert!(broken_by(text, change).contains(&rule), "{change:?}: {:?}", broken_by(text, change));
    }
    let one =
        DEADLINE_4_1.replacen("10000.000      10000.000      10000.000", "10000.000 10000.000 10001.000", 1);
    assert!(broken(&one).contains(&"one iteration has one value"), "{:?}", broken(&one));
}

#[test]
fn phases_of_mdtest_that_never_ran_are_no_figures() {
    let phases = |text: &str| -> Vec<Phase> {
        read(text).phases.iter().map(|record| record.phase.key.phase).collect()
    };
    assert_eq!(phases(DEADLINE_4_1), [Phase::FileCreate, Phase::TreeCreate]);
    assert_eq!(phases(include_str!("fixtures/import/mdtest-4.1-creation-only.txt")).len(), 2);
    let none =
        DEADLINE_4_1.replace("10000.000", "0.000").replace("320.000", "0.000").replace("0.200", "0.000");
    let error = import(&[Text { name: "text", bytes: none.as_bytes() }], None, 0).expect_err("no phase");
    assert!(error.to_string().contains("no phase ran"), "{error}");
}

#[test]
fn a_deadline_of_mdtest_gives_the_items_that_were_made() {
    let made = read(DEADLINE_4_1);
    let creation = &made.phases[0].phase;
    assert_eq!((creation.items, creation.wall_ns), (3_200_000, 320_000_000_000));
}

#[test]
fn statistics_of_mdtest_over_iterations_are_those_of_the_figure_where_both_are_printed() {
    let both = read(include_str!("fixtures/import/mdtest-3.4-per-rank.txt"));
    let creation =
        both.phases.iter().find(|one| one.phase.key.phase == Phase::FileCreate).expect("creations");
    let mean = |label: &str| {
        let row = creation.printed.iter().find(|row| row.label == label && row.statistic == "mean");
        row.map(|row| row.value.to_string()).expect("a mean")
    };
    assert_eq!(mean("File creation"), "84000.000");
    assert_eq!(mean("File creation per rank"), "125000.000");
}

const FIO: &str = r#"{ "fio version" : "fio-3.36", "timestamp" : 1700000000, "jobs" : [ { "jobname" : "j",
  "job options" : { "rw" : "randread", "bs" : "4k", "ioengine" : "libaio" },
  "read" : { "io_bytes" : 4096000, "bw_bytes" : 1637744, "bw" : 1599, "iops" : 399.840064, "runtime" : 2501,
    "total_ios" : 1000, "bw_min" : 10, "bw_max" : 90, "bw_mean" : 5.0, "bw_dev" : 500.0,
    "slat_ns" : { "min" : 100, "max" : 300, "mean" : 200.25, "stddev" : 1.0, "N" : 1000 },
    "clat_ns" : { "min" : 2000, "max" : 9000, "mean" : 4000.5, "stddev" : 10.0, "N" : 1000 },
    "lat_ns" : { "min" : 2100, "max" : 9300, "mean" : 4200.75, "stddev" : 10.0, "N" : 1000 } } } ] }
"#;

/// Bandwidths of samples are not those of iterations.
#[test]
fn fio_is_not_accused_of_the_scatter_of_its_samples() {
    assert_eq!(broken(FIO), Vec::<&str>::new());
    for text in [
        include_str!("fixtures/import/fio-3.33.json"),
        include_str!("fixtures/import/fio-3.33-plus.json"),
        include_str!("fixtures/import/fio-3.33-terse.txt"),
        include_str!("fixtures/import/fio-normal.txt"),
    ] {
        assert_eq!(broken(text), Vec::<&str>::new(), "{text}");
    }
}

#[test]
fn a_wrong_digit_of_fio_is_found_by_the_rule_that_binds_it() {
    let (bytes, requests) = ("bandwidth = bytes ÷ time", "requests per second = requests ÷ time");
    let (size, parts) = ("bytes = requests × size", "mean latency = submission + completion");
    for (change, rules) in [
        (("4096000", "4096100"), vec![bytes, size]),
        (("1637744", "1637754"), vec![bytes]),
        (("\"bw\" : 1599", "\"bw\" : 1589"), vec![bytes]),
        (("399.840064", "399.840164"), vec![requests]),
        (("\"total_ios\" : 1000", "\"total_ios\" : 1001"), vec![requests, size]),
        (("2501", "2502"), vec![bytes, requests]),
        (("4200.75", "4201.75"), vec![parts]),
        (("200.25", "210.25"), vec![parts]),
    ] {
        assert_eq!(broken_by(FIO, change), rules, "{change:?}");
    }
    // Without timed submissions a latency begins before its completion is waited for.
    let submitted = r#""min" : 100, "max" : 300, "mean" : 200.25, "stddev" : 1.0, "N" : 1000"#;
    let none = r#""min" : 0, "max" : 0, "mean" : 0.0, "stddev" : 0.0, "N" : 0"#;
    let synchronous = FIO.replace(submitted, none).replace("4200.75", "4230.0");
    assert_eq!(broken(&synchronous), Vec::<&str>::new());
}

const SUMMARY_2018: &str = include_str!("fixtures/import/io500-2018-summary.txt");
const EXTENDED_2021: &str = include_str!("fixtures/import/io500-sc21-extended.txt");

#[test]
fn io500_of_every_release_is_read_and_its_scores_follow_from_its_results() {
    let old = read(SUMMARY_2018);
    assert_eq!(old.phases.len(), 12);
    let gib = 12.5 * 1_073_741_824.0 * 310.0;
    assert!((old.phases[0].phase.write_bytes as f64 / gib - 1.0).abs() < 1e-6, "GB/s means GiB/s");
    assert_eq!(old.plan.cases[0].tasks(), None, "a summary has no processes");
    let extended = read(EXTENDED_2021);
    let names: Vec<&str> = extended.plan.cases.iter().map(|case| case.id.as_str()).collect();
    for name in ["ior-rnd4K-write", "ior-rnd1MB-write", "ior-rnd4K-read", "ior-rnd1MB-read"] {
        assert!(names.contains(&name), "{names:?}");
    }
    let result = read(include_str!("fixtures/import/io500-isc24-result.txt"));
    assert!(result.started_unix_ns.is_some() && result.finished_unix_ns.is_some());
    assert_eq!(result.plan.cases[0].tasks(), Some(64));
    let without_run = read(include_str!("fixtures/import/io500-isc21-result.txt"));
    assert_eq!((without_run.phases.len(), without_run.plan.cases[0].tasks()), (1, None));
    for text in [SUMMARY_2018, EXTENDED_2021] {
        assert_eq!(broken(text), Vec::<&str>::new());
    }
    let rules = ["geometric mean of the results", "total = √(bandwidth × metadata)"];
    assert_eq!(broken_by(SUMMARY_2018, ("12.500", "13.500")), [rules[0]]);
    assert_eq!(broken_by(EXTENDED_2021, ("0.250000", "0.350000")), [rules[0]]);
    assert_eq!(broken_by(SUMMARY_2018, ("14.5906", "14.6906")), [rules[1]]);
}

#[test]
fn a_total_of_the_first_scripts_of_io500_may_be_the_product_and_that_of_a_release_may_not() {
    let product = SUMMARY_2018.replace("14.5906", "212.8878");
    assert_eq!(broken(&product), Vec::<&str>::new());
    assert_eq!(broken(&format!("IO500 version io500-isc21\n{product}")), ["total = √(bandwidth × metadata)"]);
}

#[test]
fn a_job_log_with_results_of_io500_between_other_lines_has_each_once() {
    let marked = SUMMARY_2018.replace('\n', "\nStarting the next phase\n");
    let (results, score) = marked.split_once("[SCORE]").expect("the score");
    let log = format!("System: node7\n{results}{results}[SCORE-invalid]{score}");
    let found = read(&log);
    assert_eq!(found.phases.len(), 12);
    let last = found.phases.last().expect("a phase");
    assert!(last.printed.iter().any(|row| row.value.ends_with("[INVALID]")), "{:?}", last.printed);
    assert_eq!(broken(&log), Vec::<&str>::new());
}
