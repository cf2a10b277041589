//! A run directory that is moved or removed while the run goes on: the record stays whole, nothing is written to what
//! takes its place, and the run does not end as if nothing had happened.

use std::fs;
use std::os::unix::fs::symlink;

use testbed::Running;

use crate::desk::{Desk, assert_says, events, names, run, wait_for};

/// Two cases, of which the first is long enough to be interrupted.
const STUDY: &str = "[[target]]\nname = \"data\"\ndirectory = \".\"\n\
     [[workload]]\nname = \"first\"\ntransfer = \"4k\"\nsize = \"1m\"\nduration = \"700ms\"\n\
     [[workload]]\nname = \"second\"\ntransfer = \"8k\"\nsize = \"1m\"\nduration = \"100ms\"\n";

fn begun(desk: &Desk, study: &str) -> Running {
    let mut running = desk.study(study).spawn().expect("it starts");
    wait_for(&mut running, "the first case", || events(desk, "case-started") >= 1);
    running
}

#[test]
fn a_record_that_was_moved_is_whole_where_it_is_and_no_success() {
    let one_case = STUDY.split("[[workload]]\nname = \"second\"").next().expect("the first case");
    for study in [one_case, STUDY] {
        let desk = Desk::new();
        let running = begun(&desk, study);
        fs::rename(desk.record(), desk.path("moved")).expect("moved");
        // What another user might put there.
        fs::create_dir(desk.record()).expect("a directory");
        fs::write(desk.path("victim"), "stays").expect("a file");
        for name in ["manifest.json", "report.html"] {
            symlink(desk.path("victim"), desk.record().join(name)).expect("a link");
        }
        let ended = running.wait().expect("it ends").expect_code(7);
        assert_says(&ended.stderr, &["was moved to", "moved", "everything measured is there"]);
        assert!(!ended.stdout.contains("report.html"), "{}", ended.stdout);
        assert_eq!(names(&desk.record()), ["manifest.json", "report.html"], "nothing was written there");
        assert_eq!(fs::read_to_string(desk.path("victim")).expect("a file"), "stays");
        let shown = run(&desk.ioproof("report moved --format csv")).expect_code(0).stdout;
        assert!(shown.contains("first"), "{shown}");
        assert!(
            !names(&desk.path("")).iter().any(|name| name.starts_with("ioproof-data")),
            "no data is left"
        );
    }
}

#[test]
fn a_run_in_a_moved_directory_goes_on_there() {
    let desk = Desk::new();
    let running = begun(&desk, STUDY);
    fs::rename(desk.record(), desk.path("moved")).expect("moved");
    let _ = running.wait().expect("it ends").expect_code(7);
    let _ = run(&desk.ioproof("run --yes --resume moved")).expect_code(0);
    let shown = run(&desk.ioproof("report moved --format csv")).expect_code(0).stdout;
    assert!(shown.contains("second"), "{shown}");
}

#[test]
fn a_record_that_was_removed_is_told() {
    let desk = Desk::new();
    let running = begun(&desk, STUDY);
    fs::remove_dir_all(desk.record()).expect("removed");
    let ended = running.wait().expect("it ends").expect_code(7);
    assert_says(&ended.stderr, &["was removed during the run", "start the run again"]);
    assert!(!desk.record().exists(), "it is not made anew");
}
