//! `ioproof report`: prints the tables again, in every format, and also for a damaged run directory.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use testbed::Testbed;

use crate::desk::{Desk, assert_says, names, run};

/// A desk with the record of two tests, each with two phases.
fn recorded() -> Desk {
    let desk = Desk::new();
    let script =
        "IOR START\ntransferSize=4k\nblockSize=64k\ntestFile=f\nRUN\ntransferSize=8k\nRUN\nIOR STOP\n";
    fs::write(desk.path("script"), script).expect("a script");
    let _ = run(&desk.ior("-f script")).expect_code(0);
    desk
}

#[test]
fn every_form_is_printed_or_written() {
    let desk = recorded();
    let report = || desk.ioproof("report").arg(desk.record());
    let text = run(&report()).expect_code(0).stdout;
    assert_says(&text, &["seq write 4 KiB", "seq read 8 KiB", "report.html"]);
    let files = names(&desk.record());
    for name in ["report.html", "report.md", "report.csv", "report.json"] {
        assert!(files.contains(&name.to_owned()), "{name} is not among {files:?}");
    }
    for (form, file) in [("md", "report.md"), ("csv", "report.csv"), ("json", "report.json")] {
        let printed = run(&report().args(["--format", form])).expect_code(0).stdout;
        assert_eq!(printed, fs::read_to_string(desk.record().join(file)).expect("a file"), "{form}");
    }
    let elsewhere = desk.path("page.html");
    let _ = run(&report().args(["--format", "html", "--output"]).arg(&elsewhere)).expect_code(0);
    let page = fs::read_to_string(&elsewhere).expect("the page");
    assert!(page.to_lowercase().starts_with("<!doctype html>"));
    assert!(!page.contains("<script src"), "the page needs other files");
    let csv = fs::read_to_string(desk.record().join("report.csv")).expect("a file");
    let figures = csv.lines().filter(|line| line.starts_with("figure,")).count();
    assert_eq!(figures, 4, "a row for each figure");
    assert_eq!(desk.report().0["schema"], "ioproof-report/3");
}

#[test]
fn a_report_that_cannot_be_written_is_told() {
    let desk = recorded();
    let program = desk.ioproof("report --format csv --output no/such/file").arg(desk.record());
    assert_says(&run(&program).expect_code(7).stderr, &["no/such/file", "check the path"]);
}

#[test]
fn an_older_report_stays_where_the_new_one_has_no_room() {
    if testbed::skipped(Testbed::available()) {
        return;
    }
    let desk = recorded();
    let small = SmallDisk::mount(desk.path("small"));
    for (name, before) in [("page.html", Some("the older one")), ("new.html", None)] {
        let path = small.0.join(name);
        if let Some(text) = before {
            fs::write(&path, text).expect("it fits");
        }
        let program = desk.ioproof("report --format html --output").arg(&path).arg(desk.record());
        let failed = run(&program).expect_code(7);
        assert_says(&failed.stderr, &[name, "No space left", "choose another place"]);
        assert_eq!(fs::read_to_string(&path).ok().as_deref(), before);
    }
    assert_eq!(names(&small.0), ["page.html"]);
}

/// A file system with only a few pages.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn mount(place: PathBuf) -> Self {
        fs::create_dir(&place).expect("a directory");
        let mount =
            Command::new("mount").args(["-t", "tmpfs", "-o", "size=32k", "none"]).arg(&place).status();
        assert!(mount.expect("it runs").success());
        Self(place)
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

#[test]
fn what_is_no_run_directory_is_told() {
    let desk = Desk::new();
    fs::create_dir(desk.record()).expect("a directory");
    for name in ["record", "none"] {
        let failed = run(&desk.ioproof("report").arg(desk.path(name))).expect_code(7);
        assert_says(&failed.stderr, &[name]);
    }
}

/// Truncates a file to this length.
fn cut(path: &Path, percent: usize) {
    let bytes = fs::read(path).expect("the file");
    fs::write(path, &bytes[..bytes.len() * percent / 100]).expect("written");
}

/// Damages a run directory.
type Harm = fn(&Path);

#[test]
fn a_damaged_record_shows_what_is_whole_and_names_the_damage() {
    let damages: [(&str, Harm); 3] = [
        ("a table that was cut", |record| cut(&record.join("phases/000001.parquet"), 50)),
        ("a table that is gone", |record| {
            fs::remove_file(record.join("phases/000001.parquet")).expect("gone")
        }),
        ("a torn journal", |record| cut(&record.join("journal.jsonl"), 99)),
    ];
    for (damage, harm) in damages {
        let desk = recorded();
        harm(&desk.record());
        let report = desk.report();
        assert!(!report.0["missing"].as_array().expect("a list").is_empty(), "{damage} is not named");
        let cases: Vec<_> =
            report.0["figures"].as_array().expect("figures").iter().map(|f| &f["case"]).collect();
        assert!(cases.len() >= 2 && cases[..2] == ["test0", "test0"], "{damage}: {cases:?}");
        let text = desk.tables();
        assert_says(&text, &["4 KiB sequential write", "!"]);
    }
}

/// A run that meets a small commitment, and its record.
fn kept(desk: &Desk) {
    let study = "[protocol]\nrepetitions = 2\n[[target]]\nname = \"t\"\ndirectory = \".\"\n\
                 [[workload]]\nname = \"w\"\nphases = [\"write\"]\ntransfer = \"64k\"\nsize = \"1m\"\ndirect = true\nfsync = \"close\"\nduration = \"2100ms\"\n\
                 [[commitment]]\nname = \"c\"\nworkload = \"w\"\nphase = \"write\"\nstatistic = \"median\"\n\
                 bandwidth_at_least = \"1kB/s\"\n";
    let _ = run(&desk.study(study)).expect_code(0);
    let _ = run(&desk.ioproof("verdict record")).expect_code(0);
}

#[test]
fn a_part_that_was_edited_is_named_everywhere_and_keeps_no_promise() {
    let edits = [
        ("journal.jsonl", "\"bytes\":[", "\"bytes\":[9"),
        ("manifest.json", "\"repetitions\": 2", "\"repetitions\": 3"),
    ];
    for (name, from, to) in edits {
        let desk = Desk::new();
        kept(&desk);
        let path = desk.record().join(name);
        let text = fs::read_to_string(&path).expect("readable");
        assert!(text.contains(from), "{from} is in {name}");
        fs::write(&path, text.replacen(from, to, 1)).expect("edited");
        let verdict = run(&desk.ioproof("verdict record"));
        assert_ne!(verdict.code, Some(0), "{name}: {}", verdict.stdout);
        assert_says(&verdict.stdout, &["DOUBTFUL", "damaged record"]);
        let report = run(&desk.ioproof("report record --full --format text")).expect_code(0);
        assert_says(&report.stdout, &[name, "not what was written"]);
        let check = run(&desk.ioproof("check record"));
        assert_says(&check.stdout, &["damaged record"]);

        let other = Desk::new();
        kept(&other);
        let merged = run(&desk.ioproof("merge merged record").arg(other.record())).expect_code(0);
        assert_says(&merged.stderr, &[name, "not what was written"]);
        let verdict = run(&desk.ioproof("verdict merged"));
        assert_says(&verdict.stdout, &["DOUBTFUL", "damaged record"]);
    }
}
