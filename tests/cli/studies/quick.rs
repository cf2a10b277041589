//! `ioproof run --quick DIR`: measures the storage under a directory in about a minute.

use std::fs;

use testbed::{FileSystem, Limits, LoopDevice, Testbed, skipped};

use crate::desk::{Desk, assert_says, measured, names, run, tree};

#[test]
fn a_quick_run_ends_with_tables_a_page_and_nothing_left_on_the_storage() {
    if skipped(Testbed::available()) {
        return;
    }
    let device = LoopDevice::builder().file_system(FileSystem::Xfs).build().expect("a device");
    let storage = device.mount_point().expect("mounted");
    fs::write(storage.join("mine"), "stays").expect("a file");
    let before = tree(storage);
    let desk = Desk::new();
    let words = "run --yes --cached --set duration=200ms --quick";
    let program = desk.ioproof(words).arg(storage).arg("--out").arg(desk.record());
    let finished = run(&program).expect_code(0);
    assert_eq!(tree(storage), before, "the data file and the claim are gone, the user's file is not");

    // The plan is printed before the tables with the results.
    assert_says(&finished.stdout, &["predicted", "space", "rand read 4 KiB ×32", "p99", "report.html"]);
    let report = desk.report();
    assert_eq!(report.state(), "complete");
    let conditions: Vec<String> = report.0["figures"]
        .as_array()
        .expect("figures")
        .iter()
        .map(|figure| figure["conditions"].as_str().expect("words").to_owned())
        .collect();
    let wanted: [&[&str]; 8] = [
        &["1 MiB sequential write", "direct"],
        &["1 MiB sequential read", "direct"],
        &["4 KiB random read", "direct", "depth 1,"],
        &["4 KiB random write", "direct", "depth 1,"],
        &["4 KiB random read", "direct", "depth 32"],
        &["4 KiB random write", "direct", "depth 32"],
        &["1 MiB sequential read", "buffered"],
        &["4 KiB random read", "buffered"],
    ];
    for words in wanted {
        let has = |line: &&String| words.iter().all(|word| line.contains(word));
        assert!(conditions.iter().any(|line| has(&line)), "no figure of {words:?} in {conditions:#?}");
    }
    for figure in report.0["figures"].as_array().expect("figures") {
        let direct = figure["conditions"].as_str().is_some_and(|words| words.contains("direct"));
        assert!(!direct || figure["page_cache"] == false, "a direct figure is marked as cached: {figure:#}");
        assert_eq!(figure["repetitions"].as_array().map(Vec::len), Some(6), "{figure:#}");
    }
    let page = fs::read_to_string(desk.record().join("report.html")).expect("the page");
    assert!(page.starts_with("<!DOCTYPE html>") || page.starts_with("<!doctype html>"));
    assert!(names(&desk.path("")).contains(&"record".to_owned()));
}

/// Two runs of one device differ in nothing, and a throttle is seen by every figure.
#[test]
fn measured_quick_runs_before_and_after_a_throttle_are_told_apart() {
    if skipped(Testbed::available()) {
        return;
    }
    measured(throttled);
}

fn throttled(times: u32) {
    let built = LoopDevice::builder().file_system(FileSystem::Xfs).limits(Limits::iops(2000)).build();
    let mut device = built.expect("a device");
    let desk = Desk::new();
    let quick = |device: &LoopDevice, name: &str| {
        let words = format!("run --yes --set duration={}ms --quick", 500 * times);
        let storage = device.mount_point().expect("mounted");
        let _ = run(&desk.ioproof(&words).arg(storage).arg("--out").arg(desk.path(name))).expect_code(0);
    };
    quick(&device, "before");
    quick(&device, "again");
    device.limit(Limits::iops(200)).expect("a limit");
    quick(&device, "after");
    // A healthy pair may need more passes to tell 5 %, but is never called worse.
    let _ = run(&desk.ioproof("compare before again --verdict --allow-untold")).expect_code(0);
    let slower = run(&desk.ioproof("compare again after")).expect_code(0).stdout;
    assert_says(&slower, &["6 slower"]);
    assert!(!slower.contains("too short"), "{slower}");
    let rates = ["--fail-if", "*.rate drops by more than 5 %"];
    let worse = run(&desk.ioproof("compare again after").args(rates)).expect_code(8).stdout;
    assert_says(&worse, &["6 of 6 values are worse than the limit"]);
}

#[test]
fn what_a_quick_run_is_told_is_taken_or_refused_with_what_can_be() {
    let desk = Desk::new();
    let explain = |set: &str| {
        let program = desk.ioproof("run --explain --quick").arg(desk.path("")).arg("--set").arg(set);
        run(&program)
    };
    let shown = explain("repetitions=5").expect_code(0);
    assert_says(&shown.stdout, &["5 repetitions"]);
    let refused = explain("tasks=4").expect_code(2);
    assert_says(&refused.stderr, &["`tasks=4` cannot be set in a quick run", "repetitions=5", "size=256MiB"]);
    let _ = run(&desk.ioproof("run --cached studies")).expect_code(2);
}
