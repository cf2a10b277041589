//! `ioproof run --quick A B`: measures two directories in turns, and says how their figures differ.

use std::fs;
use std::os::unix::fs::symlink;

use testbed::{FileSystem, Limits, LoopDevice, Testbed, skipped};

use crate::desk::{Desk, assert_says, measured, run, tree};

#[test]
fn two_directories_are_measured_in_turns_in_one_record() {
    let desk = Desk::new();
    for name in ["one", "two"] {
        fs::create_dir(desk.path(name)).expect("a directory");
    }
    let words =
        "run --yes --out record --set duration=20ms --set repetitions=2 --set size=16MiB --quick one two";
    let finished = run(&desk.ioproof(words)).expect_code(0);
    assert_says(&finished.stdout, &["one and two are on", "two beside one", "withheld"]);
    assert!(tree(&desk.path("one")).is_empty() && tree(&desk.path("two")).is_empty());
    let report = desk.report();
    let figures = report.0["figures"].as_array().expect("figures");
    assert_eq!(figures.len(), 12);
    let contrasts = report.0["statements"]["target_contrast"].as_array().expect("the comparison");
    assert_eq!(contrasts.len(), 6);
    assert!(contrasts.iter().all(|one| one["target"] == "two" && one["first"] == "one"), "{contrasts:#?}");
    let page = fs::read_to_string(desk.record().join("report.html")).expect("the page");
    assert!(page.contains("two beside one"));
    let full = run(&desk.ioproof("report record --full")).expect_code(0).stdout;
    assert!(!full.contains("Tax"), "it compares the targets a second time: {full}");
}

#[test]
fn a_directory_is_not_compared_with_itself_whatever_it_is_called() {
    let desk = Desk::new();
    fs::create_dir_all(desk.path("one/inner")).expect("a directory");
    symlink(desk.path("one"), desk.path("link")).expect("a link");
    for other in ["one", "./one/", "one/inner/..", "link"] {
        let words = format!("run --yes --quick one {other}");
        let refused = run(&desk.ioproof(&words)).expect_code(2);
        assert_says(&refused.stderr, &["one and", "are the same directory", "--quick one"]);
    }
    let shown = run(&desk.ioproof("run --explain --quick one one/inner")).expect_code(0).stdout;
    assert_says(&shown, &["one is inside the other", "a difference is one of the directories"]);
    let missing = run(&desk.ioproof("run --yes --quick one elsewhere")).expect_code(4);
    assert_says(&missing.stderr, &["elsewhere"]);
}

/// A limit on one of two devices is seen by every figure, and none is called different without it.
#[test]
fn measured_the_slower_of_two_devices_is_named() {
    if skipped(Testbed::available()) {
        return;
    }
    measured(one_is_slower);
}

fn one_is_slower(times: u32) {
    let device = |iops| {
        let builder = LoopDevice::builder().file_system(FileSystem::Xfs).limits(Limits::iops(iops));
        builder.build().expect("a device")
    };
    let (fast, slow) = (device(2000), device(200));
    let desk = Desk::new();
    let words = format!("run --yes --set duration={}ms --out {} --quick", 500 * times, "record");
    let storage = |device: &LoopDevice| device.mount_point().expect("mounted").to_owned();
    let _ = run(&desk.ioproof(&words).arg(storage(&fast)).arg(storage(&slow))).expect_code(0);
    let report = desk.report();
    let contrasts = report.0["statements"]["target_contrast"].as_array().expect("the comparison");
    assert!(contrasts.iter().all(|one| one["outcome_word"] == "slower"), "{contrasts:#?}");
}
