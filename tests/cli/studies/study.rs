//! `ioproof run STUDY.toml`.

use rustix::process::Signal;

use crate::desk::{Desk, assert_says, names, run};

const RIGHT: &str = r#"
[study]
title = "Two workloads on one file"
seed = 7

[protocol]
repetitions = 2

[[target]]
name = "here"
directory = "."

[[workload]]
name = "stream"
transfer = "64KiB"
size = "4MiB"
tasks = 2
fsync = "close"

[[workload]]
name = "random"
phases = ["read"]
transfer = "4KiB"
size = "4MiB"
order = "random"
verify = true
"#;

#[test]
fn a_study_runs_all_its_workloads_and_shows_them() {
    let desk = Desk::new();
    let finished = run(&desk.study(RIGHT)).expect_code(0);
    assert_says(&finished.stdout, &["Two workloads on one file", "seq write 64 KiB", "report.html"]);
    let report = desk.report();
    assert_eq!(report.0["figures"].as_array().map(Vec::len), Some(3), "write, read, random read");
    let repetitions = report.figure("read")["repetitions"].as_array().map(Vec::len);
    assert_eq!(repetitions, Some(2));
    assert_eq!(report.0["run"]["seed"], 7);
    assert_eq!(names(&desk.path("")), ["record", "study.toml"], "the data file is gone");
}

/// The output for a study with one line changed.
fn refused(from: &str, to: &str) -> String {
    let desk = Desk::new();
    assert!(RIGHT.contains(from), "{from}");
    let finished = run(&desk.study(&RIGHT.replacen(from, to, 1))).expect_code(2);
    assert_eq!(names(&desk.path("")), ["study.toml"], "nothing was touched");
    finished.stderr
}

#[test]
fn a_misspelt_key_is_shown_with_its_line_and_a_caret() {
    let shown = refused("fsync = ", "fsink = ");
    assert_says(&shown, &["study.toml:18:1", "fsink = \"close\"", "fsync"]);
    let after = shown.lines().skip_while(|line| !line.contains("fsink = ")).nth(1).unwrap_or_default();
    assert!(after.contains('^') || after.contains('┬') || after.contains('─'), "no caret below:\n{shown}");
}

#[test]
fn an_impossible_value_is_shown_with_what_is_allowed() {
    assert_says(
        &refused("transfer = \"64KiB\"", "transfer = \"0\""),
        &["study.toml:15:12", "at least 1 byte"],
    );
    assert_says(&refused("fsync = \"close\"", "fsync = \"often\""), &["often", "none", "close", "each"]);
    assert_says(&refused("size = \"4MiB\"", "size = \"4MiBs\""), &["4MiBs"]);
    assert_says(&refused("tasks = 2", "tasks = 0"), &["study.toml:17", "1048576"]);
}

#[test]
fn a_mistake_in_a_very_long_line_is_told_without_the_line() {
    let shown = refused("transfer = \"64KiB\"", &format!("transfer = \"{}\"", "9".repeat(70_000)));
    assert_says(&shown, &["line 15", "9999", "the largest size"]);
    assert!(shown.len() < 4000, "{} bytes of message", shown.len());
}

#[test]
fn a_study_that_cannot_be_read_is_named() {
    let desk = Desk::new();
    let finished = run(&desk.ioproof("run no-such-study.toml")).expect_code(2);
    assert_says(&finished.stderr, &["no-such-study.toml"]);
}

/// One case at a time, slow enough to be interrupted in between.
const SLOW: &str = r#"
[study]
title = "A sweep that takes its time"

[[target]]
name = "here"
directory = "place"

[[workload]]
name = "paced"
transfer = "4KiB"
size = "64KiB"
tasks = [1, 2, 4]
sharing = "per-task"
phases = ["write"]
duration = "1s"
rate = 100
"#;

#[test]
fn what_a_resumed_run_would_take_from_the_user_is_asked_for() {
    let desk = Desk::new();
    let place = desk.path("place");
    std::fs::create_dir(&place).expect("a directory");
    let running = desk.study(SLOW).spawn().expect("the program starts");
    std::thread::sleep(std::time::Duration::from_millis(2500));
    running.signal(Signal::KILL).expect("it lives");
    running.wait().expect("it is gone");
    std::fs::remove_dir_all(&place).expect("the place is emptied");
    std::fs::create_dir(&place).expect("and made again");
    let precious = place.join("ioproof-here.data.00000000");
    std::fs::write(&precious, "precious").expect("the user's file");
    let files = names(&place);
    let resume = || desk.ioproof("run --resume").arg(desk.record());
    let finished = run(&resume()).expect_code(3);
    assert_says(&finished.stderr, &["will be lost", "--yes"]);
    assert_eq!(names(&place), files, "nothing was touched");
    assert_eq!(std::fs::read_to_string(&precious).expect("it is there"), "precious");
    let _ = run(&resume().arg("--yes")).expect_code(0);
    let report = desk.report();
    assert_eq!(report.0["figures"].as_array().map(Vec::len), Some(3), "each point once");
}

/// A sweep in place of `tasks = 2`, and the output for it.
fn swept(range: &str) -> String {
    refused("tasks = 2", &format!("tasks = {range}"))
}

#[test]
fn an_impossible_or_empty_sweep_is_shown_where_it_stands() {
    assert_says(&swept("[]"), &["study.toml:17:9", "swept over an empty list", "at least one value"]);
    assert_says(&swept("\"4..1 step 1\""), &["study.toml:17:9", "does not rise"]);
    assert_says(&swept("\"1..10 step 0\""), &["study.toml:17:9", "never ends"]);
    assert_says(&swept("\"1..8 times 1\""), &["study.toml:17:9", "does not give a range"]);
}

/// 20,000 cases: the program prints how many there are, and asks for confirmation if it can ask a user.
#[test]
fn a_sweep_of_very_many_cases_says_how_many_and_asks() {
    let desk = Desk::new();
    let many = RIGHT.replacen("tasks = 2", "tasks = \"1..20000 step 1\"", 1).replacen("4MiB", "20000MiB", 1);
    std::fs::write(desk.path("study.toml"), many).expect("a study");
    let unattended = run(&desk.ioproof("run study.toml --out record")).expect_code(3);
    assert_says(&unattended.stderr, &["20,001 cases", "study.toml:17", "--yes"]);
    assert!(!desk.record().exists(), "nothing was touched");
}

#[test]
fn a_sweep_of_millions_of_cases_says_how_many_and_ends() {
    let shown = refused(
        "tasks = 2",
        "tasks = \"1..2000 step 1\"\nread_distance = \"1..2000 step 1\"\nread_from = \"shift\"",
    );
    assert_says(&shown, &["4,000,001 cases", "1,000,000", "sweep fewer values"]);
}
