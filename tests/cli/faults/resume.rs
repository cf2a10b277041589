//! A sweep that is killed in the middle and resumed.

use std::collections::BTreeMap;
use std::path::Path;

use rustix::process::Signal;
use testbed::{Finished, Running};

use crate::desk::{Desk, assert_says, events, names, run, tree, wait_for};

/// Three by two points; each phase lasts long enough to be interrupted in the middle.
const SWEEP: &str = r#"
[protocol]
repetitions = 2

[[target]]
name = "data"
directory = "data"

[[workload]]
name = "scale"
sharing = "per-task"
tasks = [1, 2, 3]
transfer = ["16KiB", "64KiB"]
size = "256KiB"
duration = "60ms"
"#;

/// The number of finished cases after which the sweep is interrupted.
const DONE_BEFORE: usize = 2;
const POINTS: usize = 6;

/// Starts the sweep and waits until it is in the middle of its third point.
fn midway(desk: &Desk) -> Running {
    let mut running = desk.study(SWEEP).spawn().expect("it starts");
    wait_for(&mut running, "the middle of the third point", || {
        events(desk, "case-finished") == DONE_BEFORE && events(desk, "phase-finished") > 4 * DONE_BEFORE
    });
    running
}

fn resumed(desk: &Desk) -> Finished {
    run(&desk.ioproof("run --yes --resume").arg(desk.record()))
}

/// When each repetition of each point and phase began.
fn starts(desk: &Desk) -> BTreeMap<(String, String), Vec<i64>> {
    let report = desk.report();
    let mut found = BTreeMap::new();
    for figure in report.0["figures"].as_array().expect("a list") {
        let word = |key: &str| figure[key].as_str().expect("a word").to_owned();
        let repetitions = figure["repetitions"].as_array().expect("a list").iter();
        let starts: Vec<i64> =
            repetitions.map(|one| one["started_unix_ns"].as_i64().expect("a time")).collect();
        let before = found.insert((word("case"), word("phase")), starts);
        assert_eq!(before, None, "two figures of {} {}", word("case"), word("phase"));
    }
    found
}

/// Every point appears once, with all its repetitions; those in `before` are unchanged.
fn is_whole(desk: &Desk, data: &Path, before: &BTreeMap<(String, String), Vec<i64>>) {
    assert_eq!(desk.report().state(), "complete");
    let after = starts(desk);
    let mut expected = Vec::new();
    for tasks in 1..=3 {
        for transfer in ["16KiB", "64KiB"] {
            for phase in ["read", "write"] {
                expected.push((format!("scale:tasks={tasks}:transfer={transfer}"), phase.to_owned()));
            }
        }
    }
    assert_eq!(after.keys().cloned().collect::<Vec<_>>(), expected, "each point once, none lost");
    for (point, starts) in &after {
        let mut once = starts.clone();
        once.sort_unstable();
        once.dedup();
        assert_eq!((starts.len(), once.len()), (2, 2), "{point:?}: two repetitions: {starts:?}");
    }
    for point in &expected[..2 * DONE_BEFORE] {
        assert_eq!(Some(&after[point]), before.get(point), "{point:?} was finished and measured again");
    }
    assert_eq!(names(data), ["mine"], "nothing is left, and the user's file is");
}

#[test]
fn a_sweep_that_was_interrupted_goes_on_where_it_was() {
    let (desk, data) = Desk::with_data();
    let running = midway(&desk);
    running.signal(Signal::INT).expect("it lives");
    let finished = running.wait().expect("it ends").expect_code(130);
    assert_says(&finished.stderr, &["interrupted", "--resume"]);
    assert_eq!(names(&data), ["mine"]);
    let report = desk.report();
    assert_eq!(report.state(), "interrupted");
    assert!(!report.0["missing"].as_array().expect("a list").is_empty(), "what is missing is said");
    let before = starts(&desk);

    let record = tree(&desk.record());
    let told = run(&desk.ioproof("run --explain --resume").arg(desk.record())).expect_code(0).stdout;
    assert_says(&told, &["2 of 6 cases are finished", "In each of 4 cases", "predicted"]);
    assert_eq!(tree(&desk.record()), record, "telling writes nothing");
    let finished = resumed(&desk).expect_code(0);
    assert_says(&finished.stdout, &["2 of 6 cases are finished"]);
    is_whole(&desk, &data, &before);
    assert_eq!(events(&desk, "case-finished"), POINTS, "the journal has each end once");
}

#[test]
fn a_sweep_that_was_killed_goes_on_where_it_was() {
    let (desk, data) = Desk::with_data();
    let running = midway(&desk);
    running.signal(Signal::KILL).expect("it lives");
    assert_eq!(running.wait().expect("it ends").signal, Some(9));
    assert!(names(&data).len() > 1, "its files are still there: {:?}", names(&data));
    assert_eq!(desk.report().state(), "killed");
    let before = starts(&desk);

    std::thread::sleep(PAUSE);
    let _ = resumed(&desk).expect_code(0);
    is_whole(&desk, &data, &before);
    let run = &desk.report().0["run"];
    assert_eq!((&run["resumed"], &run["killed"]), (&1.into(), &1.into()));
    let (paused, whole) = (run["paused_ns"].as_u64().expect("a number"), times(run));
    assert!(paused >= 1_000_000_000 && paused < whole, "{paused} of {whole}");
    let text = run_report(&desk);
    assert_says(&text, &["left nothing in the record: killed", "killed, resumed once"]);
}

/// The time between the kill and the resume, in which the run does not make progress.
const PAUSE: std::time::Duration = std::time::Duration::from_secs(1);

fn run_report(desk: &Desk) -> String {
    desk.tables()
}

/// Nanoseconds from the start to the end of a run.
fn times(run: &serde_json::Value) -> u64 {
    let time = |key: &str| run[key].as_i64().expect("a time");
    time("finished_unix_ns").abs_diff(time("started_unix_ns"))
}

#[test]
fn a_sweep_may_be_ended_more_than_once() {
    let (desk, data) = Desk::with_data();
    let running = midway(&desk);
    running.signal(Signal::KILL).expect("it lives");
    let _ = running.wait().expect("it ends");
    let before = starts(&desk);
    let again = desk.ioproof("run --yes --resume").arg(desk.record());
    let mut running = again.spawn().expect("it starts");
    wait_for(&mut running, "two more points", || events(&desk, "case-finished") >= DONE_BEFORE + 2);
    running.signal(Signal::INT).expect("it lives");
    let _ = running.wait().expect("it ends").expect_code(130);
    let _ = resumed(&desk).expect_code(0);
    is_whole(&desk, &data, &before);
}

#[test]
fn a_run_that_is_whole_has_nothing_to_go_on_with() {
    let (desk, data) = Desk::with_data();
    let _ = run(&desk.study(SWEEP)).expect_code(0);
    let before = starts(&desk);
    let finished = resumed(&desk);
    let said = finished.stdout.clone() + &finished.stderr;
    assert_says(&said, &["finished"]);
    is_whole(&desk, &data, &before);
    assert_eq!(starts(&desk), before, "nothing was measured");
}
