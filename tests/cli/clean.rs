//! Runs that end before their time: Ctrl-C, kill -9, and what the next start finds.

use std::fs;

use rustix::process::Signal;
use testbed::Running;

use crate::desk::{Desk, assert_says, events, names, run, tree, wait_for};

/// Writes a little, then reads until it is ended.
fn endless(desk: &Desk) -> Running {
    let study = "[[target]]\nname = \"data\"\ndirectory = \"data\"\n\
                 [[workload]]\nname = \"short\"\nphases = [\"write\"]\n\
                 transfer = \"64k\"\nsize = \"1m\"\nfsync = \"close\"\n\
                 [[workload]]\nname = \"long\"\nphases = [\"read\"]\n\
                 transfer = \"4k\"\nsize = \"1m\"\nduration = \"80s\"\n";
    let mut running = desk.study(study).spawn().expect("it starts");
    // The second case has begun when the first one is over.
    wait_for(&mut running, "the second phase", || events(desk, "case-started") == 2);
    running
}

#[test]
fn ctrl_c_ends_a_run_in_order() {
    for signal in [Signal::INT, Signal::TERM] {
        let (desk, data) = Desk::with_data();
        let running = endless(&desk);
        running.signal(signal).expect("it lives");
        let finished = running.wait().expect("it ends").expect_code(130);
        assert_says(&finished.stderr, &["interrupted", "record"]);
        assert_eq!(names(&data), ["mine"], "files and claim are gone, the user's file is not");
        let report = desk.report();
        assert_eq!(report.state(), "interrupted");
        assert!(report.rate("write") > 0.0, "the finished phase is in the record");
    }
}

/// A summary of a part would pass for one of the whole; IOR itself dies without a word.
#[test]
fn ctrl_c_ends_a_tool_without_a_summary() {
    let ends = |name: &str, line: &str, row: &str| {
        let (desk, data) = Desk::with_data();
        let place = data.join("f").display().to_string();
        let mut running = desk.tool(name, &line.replace("PLACE", &place)).spawn().expect("it starts");
        wait_for(&mut running, "a repetition", || events(&desk, "phase-finished") > 2);
        running.signal(Signal::INT).expect("it lives");
        let finished = running.wait().expect("it ends").expect_code(130);
        assert_says(&finished.stdout, &[row]);
        let record = desk.record().display().to_string();
        assert_says(&finished.stderr, &["interrupted: the phases that had ended are in the record", &record]);
        assert_eq!(names(&data), ["mine"]);
        assert_eq!(desk.report().state(), "interrupted");
        finished.stdout
    };
    let ior = "-w -r -z -i 100000 -t 4k -b 64k -N 4 -o PLACE";
    let without = ends("ior", ior, "write");
    assert!(!without.contains("Summary of all tests"), "{without}");
    let always = ends("ior", &format!("{ior} -O summaryAlways=1"), "write");
    assert_says(&always, &["Summary of all tests"]);
    let mdtest = ends("mdtest", "-n 2000 -i 1000 -F -d PLACE", "-- started at");
    assert!(!mdtest.contains("SUMMARY rate") && !mdtest.contains("finished at"), "{mdtest}");
}

#[test]
fn a_killed_run_keeps_its_finished_phases_and_is_cleaned_up_on_request() {
    let (desk, data) = Desk::with_data();
    let running = endless(&desk);
    running.signal(Signal::KILL).expect("it lives");
    let finished = running.wait().expect("it ends");
    assert_eq!(finished.signal, Some(9));

    let text = desk.tables();
    assert_says(&text, &["killed", "1 of 2 cases finished", "64 KiB sequential write"]);
    let report = desk.report();
    assert_eq!(report.state(), "killed");
    assert_eq!(report.0["figures"].as_array().map(Vec::len), Some(1));

    let left = tree(&data);
    assert_eq!(left.len(), 3, "the user's file, the data and the claim: {left:?}");
    next_start_tells(&desk);
    assert_eq!(tree(&data), left, "telling removes nothing");

    let asked = run(&desk.ioproof("clean data")).expect_code(0).stdout;
    assert_says(&asked, &["was killed", "ioproof-data.data", "kept", "--yes"]);
    assert_eq!(tree(&data), left, "nobody agreed");
    let removed = run(&desk.ioproof("clean data --yes")).expect_code(0).stdout;
    assert_says(&removed, &["ioproof-data.data", "removed"]);
    assert_eq!(names(&data), ["mine"]);
    assert_says(&run(&desk.ioproof("clean data --yes")).expect_code(0).stdout, &["nothing was left"]);
}

/// Both ways to start say what is left in a directory.
fn next_start_tells(desk: &Desk) {
    let words = ["was killed", "1 files", "ioproof clean"];
    let line = "ior -w -t 4k -b 4k -o data/other --out second";
    let by_ior = run(&desk.ioproof(line)).expect_code(0).stderr;
    assert_says(&by_ior, &words[..2]);
    let study = "[[target]]\nname = \"x\"\npath = \"data/other\"\n\
                 [[workload]]\nname = \"w\"\nphases = [\"write\"]\ntransfer = \"4k\"\nsize = \"4k\"\n";
    fs::write(desk.path("other.toml"), study).expect("a study");
    let by_run = run(&desk.ioproof("run other.toml --yes --out third")).expect_code(0).stdout;
    assert_says(&by_run, &words);
}

#[test]
fn files_that_were_there_before_a_killed_run_stay() {
    let (desk, data) = Desk::with_data();
    fs::write(data.join("f.00000000"), vec![1; 4096]).expect("a file");
    let line = format!("--yes -w -r -E -F -N 2 -i 100000 -t 4k -b 4k -o {}", data.join("f").display());
    let mut running = desk.ior(&line).spawn().expect("it starts");
    wait_for(&mut running, "a repetition", || events(&desk, "phase-finished") > 2);
    running.signal(Signal::KILL).expect("it lives");
    let _ = running.wait().expect("it ends");
    let removed = run(&desk.ioproof("clean data --yes")).expect_code(0).stdout;
    assert!(removed.contains("f.00000001") && !removed.contains("f.00000000"), "{removed}");
    assert_eq!(names(&data), ["f.00000000", "mine"]);
}

#[test]
fn files_of_a_run_that_goes_on_are_left_alone() {
    let (desk, data) = Desk::with_data();
    let running = endless(&desk);
    let left = tree(&data);
    let refused = run(&desk.ioproof("clean data --yes")).expect_code(3).stdout;
    assert_says(&refused, &["is running", "its files stay"]);
    assert_eq!(tree(&data), left);
    for line in ["ior -w -t 4k -b 4k", "ior -r -t 4k -b 4k"] {
        let line = format!("{line} -o data/ioproof-data.data --out second");
        let refused = run(&desk.ioproof(&line)).expect_code(3).stderr;
        assert_says(&refused, &["ioproof-data.data", "in use by run", "wait until"]);
    }
    assert_eq!(tree(&data), left, "a second run does not touch the files of the first");
    let _ = run(&desk.ioproof("ior -w -t 4k -b 4k -o data/other --out second")).expect_code(0);
    running.signal(Signal::INT).expect("it lives");
    let _ = running.wait().expect("it ends").expect_code(130);
    assert_eq!(names(&data), ["mine"]);
}

#[test]
fn of_two_runs_that_start_together_on_one_file_at_most_one_goes_on() {
    for _ in 0..5 {
        let (desk, data) = Desk::with_data();
        let line = format!("ior -w -r -i 20 -t 4k -b 256k -o {}", data.join("f").display());
        let start =
            |record: &str| desk.ioproof(&format!("{line} --out {record}")).spawn().expect("it starts");
        let both = [start("one"), start("other")].map(|running| running.wait().expect("it ends"));
        let ended: Vec<_> = both.iter().map(|finished| finished.code).collect();
        // Both may have been refused, and the second may have come after the end of the first.
        assert!(ended.iter().all(|code| [Some(0), Some(3)].contains(code)), "{both:#?}");
        for refused in both.iter().filter(|finished| finished.code == Some(3)) {
            assert_says(&refused.stderr, &["in use by run"]);
        }
        assert_eq!(names(&data), ["mine"]);
    }
}
