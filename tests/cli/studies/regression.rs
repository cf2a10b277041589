//! Fixed defects of the program that must not come back, each named after its cause.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

use testbed::{LoopDevice, Program, Testbed, skipped};

use crate::desk::{Desk, assert_says, names, run, tree};

/// A name below `/dev/disk` is a link. It was treated as a file to be replaced and removed, and a file in memory took
/// its place and was measured instead.
#[test]
fn a_link_to_a_device_is_followed_and_stays() {
    if skipped(Testbed::available()) {
        return;
    }
    let device = LoopDevice::builder().bytes(16 << 20).build().expect("a device");
    let desk = Desk::new();
    let link = desk.path("disk");
    symlink(device.device(), &link).expect("a link");
    let line = format!("-w -t 4k -b 64k -o disk --destroy-data-on {}", device.device().display());
    let _ = run(&desk.ior(&line)).expect_code(0);
    assert_eq!(fs::read_link(&link).expect("a link"), device.device());
    let written = fs::read(device.device()).expect("the device is read");
    assert!(written[..64 << 10].iter().any(|byte| *byte != 0), "the device was not written");
}

const STUDY: &str = "[[target]]\nname = \"t\"\npath = \"mine\"\n\
                     [[workload]]\nname = \"w\"\ntransfer = \"4k\"\nsize = \"4k\"\n";

/// A study removed a user's file that had the same name as one of its own, without reporting it.
#[test]
fn data_are_not_lost_before_somebody_agreed() {
    let desk = Desk::new();
    fs::write(desk.path("study.toml"), STUDY).expect("a study");
    fs::write(desk.path("mine"), "important").expect("a file");
    let told = "mine exists (9 B): its data will be lost";
    let refused = run(&desk.ioproof("run study.toml --out record")).expect_code(3);
    assert_says(&refused.stderr, &[told, "--yes"]);
    assert_says(&run(&desk.ioproof("run study.toml --explain")).expect_code(0).stdout, &[told]);
    let ior = "ior -w -k -t 4k -b 4k -o mine";
    assert_says(&run(&desk.ioproof(ior).arg("--explain")).expect_code(0).stdout, &[told]);
    assert_eq!(fs::read_to_string(desk.path("mine")).expect("it is there"), "important");
    assert!(!desk.record().exists(), "nothing was touched");
    let agreed = run(&desk.study(STUDY)).expect_code(0);
    assert_says(&agreed.stdout, &[told]);
}

#[test]
fn a_report_is_not_written_over_the_record_that_it_is_made_of() {
    let desk = Desk::new();
    let _ = run(&desk.ior("-w -t 4k -b 4k -o f")).expect_code(0);
    symlink(desk.record().join("manifest.json"), desk.path("link")).expect("a link");
    let before = tree(&desk.record());
    for place in ["record/journal.jsonl", "record/../record/phases/000001.parquet", "link"] {
        let refused =
            run(&desk.ioproof("report record --format json --output").arg(place)).expect_code(3).stderr;
        let why = if place == "link" { "is a symbolic link" } else { "is part of the record of a run" };
        assert_says(&refused, &[place, why, "choose another place"]);
    }
    // Nor over that of any other run.
    let _ = run(&desk.ioproof("ior -w -t 4k -b 4k -o g --out other")).expect_code(0);
    let other = tree(&desk.path("other"));
    for place in ["other/manifest.json", "other/journal.jsonl", "other/phases/000001.parquet"] {
        let commands = [
            format!("report record --format md --output {place}"),
            format!("compare record record --format md --output {place}"),
        ];
        for command in commands {
            let refused = run(&desk.ioproof(&command)).expect_code(3).stderr;
            assert_says(&refused, &[place, "is part of the record of a run"]);
        }
    }
    assert_eq!(tree(&desk.path("other")), other);
    assert_eq!(tree(&desk.record()), before);
    let _ = run(&desk.ioproof("report record --format md --output record/report.md")).expect_code(0);
    let _ = run(&desk.ioproof("report record --format md --output record/report.md")).expect_code(0);
}

/// Text was written to the path whatever kind of file it was.
#[test]
fn a_summary_is_not_written_on_a_device() {
    if skipped(Testbed::available()) {
        return;
    }
    let device = LoopDevice::builder().bytes(16 << 20).build().expect("a device");
    let desk = Desk::new();
    let name = device.device().display();
    for key in ["summaryFile", "saveRankPerformanceDetailsCSV", "stoneWallingStatusFile"] {
        let line = format!("-w -k -D 1 -t 4k -b 4k -o f -O {key}={name}");
        let refused = run(&desk.ior(&line)).expect_code(3);
        assert_says(&refused.stderr, &[&name.to_string(), "block device"]);
    }
    let _ = run(&desk.ior("-w -t 4k -b 4k -o f")).expect_code(0);
    let report = format!("report record --format json --output {name}");
    let _ = run(&desk.ioproof(&report)).expect_code(3);
    assert!(fs::read(device.device()).expect("readable").iter().all(|byte| *byte == 0));
}

/// A closed pipe was treated as an error, and the files that should have been written afterwards were missing.
#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let desk = Desk::new();
    let _ = run(&desk.ior("-w -t 4k -b 4k -o f")).expect_code(0);
    for words in ["report record", "clean .", "report --help", "ior -h"] {
        let script = format!("set -o pipefail; {} {words} | true", env!("CARGO_BIN_EXE_ioproof"));
        let shell = Program::new("bash").args(["-c", &script]).current_dir(desk.path(""));
        let _ = run(&shell).expect_code(0);
    }
    let written = names(&desk.record());
    for report in ["report.html", "report.md", "report.csv", "report.json"] {
        assert!(written.iter().any(|name| name == report), "{report} is missing in {written:?}");
    }
    let full = Program::new("sh")
        .args(["-c", &format!("{} report record > /dev/full", env!("CARGO_BIN_EXE_ioproof"))])
        .current_dir(desk.path(""));
    assert_says(&run(&full).expect_code(7).stderr, &["cannot write to the standard output", "space"]);
}

/// With `ulimit -f`, a signal ended the program and its files were left behind.
#[test]
fn a_limit_on_the_size_of_files_is_an_error_of_the_transfer() {
    let desk = Desk::new();
    fs::create_dir(desk.path("data")).expect("a directory");
    let line = "ior -w -t 4k -b 4m -o data/f --out record";
    let failed = run(&desk.after("ulimit -f 1024", line)).expect_code(5);
    assert_says(&failed.stderr, &["data/f", "file too large"]);
    assert_eq!(names(&desk.path("data")), [""; 0]);
    assert_eq!(desk.report().state(), "failed");
}

/// Each cause was printed twice: once in the message and once after it.
#[test]
fn a_cause_is_told_once() {
    let desk = Desk::new();
    let said = run(&desk.ioproof("report no/such")).expect_code(7).stderr;
    assert_eq!(said.matches("os error").count(), said.matches("No such file").count());
    let said = run(&desk.ioproof("clean no/such")).expect_code(7).stderr;
    assert_eq!(said.matches("No such file").count(), 1, "{said}");
}

/// The record stores the name; after the start, it rejected the name as a defect of the program.
#[test]
fn a_study_whose_name_is_not_utf_8_is_refused_before_the_start() {
    let desk = Desk::new();
    let name = OsStr::from_bytes(b"study\xfe.toml");
    fs::write(desk.path("").join(name), STUDY).expect("a study");
    let refused = run(&desk.ioproof("run --yes --out record").arg(name)).expect_code(2);
    assert_says(&refused.stderr, &["UTF-8", "rename"]);
    assert!(!desk.record().exists());
}
