//! `ioproof compare` and one report in every format: two releases side by side, and the conditions that must
//! accompany a figure.

use std::fs;
use std::time::Duration;

use serde_json::Value;
use testbed::{Programme, ProgrammedFs, skipped};

use crate::desk::{Desk, assert_near, assert_says, measured, run};

/// Small direct writes in a directory whose latency is set by the test.
const WRITES: &str = r#"
[study]
release = "4.2.0"

[protocol]
repetitions = 6
phase_min = "1ms"

[[target]]
name = "fs"
directory = "DIR"

[[workload]]
name = "w"
phases = ["write"]
transfer = ["4KiB", "16KiB"]
block = "64KiB"
direct = true
"#;

fn latency(millis: u64) -> Programme {
    Programme { write_latency: Duration::from_millis(millis), ..Programme::default() }
}

/// E10: each write takes 6 ms in the first run and 3 ms in the second.
#[test]
fn measured_two_releases_are_compared_point_by_point_with_the_gain() {
    if skipped(ProgrammedFs::available()) {
        return;
    }
    measured(gain_of_a_release);
}

fn gain_of_a_release(times: u32) {
    let fs = ProgrammedFs::builder().programme(latency(6 * u64::from(times))).mount().expect("a file system");
    let desk = Desk::new();
    let study = WRITES.replace("DIR", &fs.path().display().to_string());
    let _ = run(&desk.study(&study)).expect_code(0);
    fs::rename(desk.record(), desk.path("before")).expect("kept");
    fs.set_programme(latency(3 * u64::from(times)));
    let _ = run(&desk.study(&study).args(["--set", "study.release=4.2.1"])).expect_code(0);

    let text = run(&desk.ioproof("compare before record")).expect_code(0).stdout;
    assert_says(&text, &["4.2.0", "4.2.1", "w transfer=4KiB write", "w transfer=16KiB write", "faster"]);
    let _ = run(&desk.ioproof("compare before record --verdict")).expect_code(0);
    let slower = run(&desk.ioproof("compare record before")).expect_code(0);
    assert_says(&slower.stdout, &["slower"]);
    let worse = run(&desk.ioproof("compare record before --verdict")).expect_code(8);
    assert_says(&worse.stdout, &["worse than the limit"]);
    let json = run(&desk.ioproof("compare before record --format json")).expect_code(0).stdout;
    let json: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(
        (json["before"]["release"].as_str(), json["after"]["release"].as_str()),
        (Some("4.2.0"), Some("4.2.1"))
    );
    let rows = json["comparisons"].as_array().expect("rows");
    let rates: Vec<&Value> = rows.iter().filter(|row| row["latency_of"].is_null()).collect();
    assert_eq!(rates.len(), 2, "one gain for each point");
    for row in rates {
        assert_eq!(row["outcome"], "faster", "{row}");
        assert_near("after ÷ before", 1.0 + row["change"].as_f64().expect("a gain"), 2.0, 0.35);
        let ends = (row["change_low"].as_f64(), row["change_high"].as_f64());
        assert!(
            ends.0 > Some(0.0) && ends.0 <= row["change"].as_f64() && ends.1 >= row["change"].as_f64(),
            "{row}"
        );
    }
    let markdown = run(&desk.ioproof("compare before record --format md")).expect_code(0).stdout;
    assert!(markdown.contains("| faster |"), "{markdown}");

    let same = run(&desk.ioproof("compare before before")).expect_code(0).stdout;
    assert_says(&same, &["no change shown"]);
    assert!(!same.contains("faster") && !same.contains("slower"), "{same}");
}

/// Three repetitions before and after a throttle: nobody needs a test to see it, so it is told, with its condition.
#[test]
fn measured_a_fall_to_a_tenth_is_told_of_three_repetitions() {
    if skipped(ProgrammedFs::available()) {
        return;
    }
    measured(fall_to_a_tenth);
}

fn fall_to_a_tenth(times: u32) {
    let (fast, slow) = (latency(2 * u64::from(times)), latency(20 * u64::from(times)));
    let fs = ProgrammedFs::builder().programme(fast).mount().expect("a file system");
    let desk = Desk::new();
    let study =
        WRITES.replace("DIR", &fs.path().display().to_string()).replace("repetitions = 6", "repetitions = 3");
    let _ = run(&desk.study(&study)).expect_code(0);
    fs::rename(desk.record(), desk.path("before")).expect("kept");
    fs.set_programme(slow);
    let _ = run(&desk.study(&study)).expect_code(0);
    let slower = run(&desk.ioproof("compare before record --verdict")).expect_code(8);
    assert_says(
        &slower.stdout,
        &["worse", "obvious", "unless this storage has two states this far apart", "5 a side tell"],
    );
    let json = run(&desk.ioproof("compare before record --format json")).expect_code(0).stdout;
    let json: Value = serde_json::from_str(&json).expect("JSON");
    let rows = json["comparisons"].as_array().expect("rows");
    let rates: Vec<&Value> = rows.iter().filter(|row| row["latency_of"].is_null()).collect();
    for row in rates {
        assert_eq!((&row["outcome"], &row["standing"]), (&"slower".into(), &"marked".into()), "{row}");
        let reasons = row["reasons"].as_array().expect("reasons");
        assert!(reasons.iter().any(|one| one["because"] == "obvious"), "{row}");
        assert!(row["change"].as_f64() < Some(-0.7), "{row}");
    }
    let _ = run(&desk.ioproof("compare record before --verdict")).expect_code(0);
}

/// A study swept over two sizes, without I/O: only the text of its report matters.
fn swept(desk: &Desk) {
    let study = WRITES.replace("DIR", ".").replace("direct = true", "backend = \"null\"");
    let _ = run(&desk.study(&study)).expect_code(0);
}

/// The run has two figures with twenty repetitions, so there are two comparisons.
#[test]
fn a_run_is_compared_with_itself_and_what_cannot_be_is_refused_with_the_next_step() {
    let desk = Desk::new();
    let study = WRITES.replace("DIR", ".").replace("direct = true", "backend = \"null\"\nduration = \"5ms\"");
    let _ = run(&desk.study(&study).args(["--set", "protocol.repetitions=20"])).expect_code(0);
    let text = run(&desk.ioproof("compare record --against-itself 2")).expect_code(0).stdout;
    assert_says(
        &text,
        &["4 comparisons of 2 figures", "test of differences", "best of five", "mean of three"],
    );
    let json = run(&desk.ioproof("compare record --against-itself 2 --format json")).expect_code(0).stdout;
    let json: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!((json["comparisons"].as_u64(), json["repetitions_least"].as_u64()), (Some(4), Some(5)));
    assert_eq!(json["alarms"].as_array().map(Vec::len), Some(14), "seven rules, divided in two ways");
    let few = run(&desk.ioproof("compare record --against-itself 3")).expect_code(2).stderr;
    assert_says(&few, &["30 repetitions", "ask for at most 2", "workload.*.repetitions=30"]);
    let none = run(&desk.ioproof("compare record --against-itself 0")).expect_code(2).stderr;
    assert_says(&none, &["--against-itself"]);
    let _ = run(&desk.ioproof("compare record record --against-itself 2")).expect_code(2);
    let _ = run(&desk.ioproof("compare record")).expect_code(2);
}

/// E27: in every format, the conditions of a headline figure are in the same row or object. On the HTML page they are
/// shown next to it.
#[test]
fn no_form_of_a_report_drops_the_conditions_of_a_headline() {
    let desk = Desk::new();
    swept(&desk);
    let conditions = "16 KiB sequential write, null depth 1, 1 task";
    let form = |form: &str| {
        let program = desk.ioproof(&format!("report --full --format {form}")).arg(desk.record());
        run(&program).expect_code(0).stdout
    };
    let report = desk.report();
    for figure in report.0["figures"].as_array().expect("figures") {
        assert!(
            figure["conditions"].as_str().is_some_and(|words| words.contains("sequential write")),
            "{figure}"
        );
    }
    for best in report.0["statements"]["best"].as_array().expect("peaks") {
        assert!(
            best["conditions"].as_str().is_some_and(|words| words.contains("sequential write")),
            "{best}"
        );
    }
    let csv = form("csv");
    let lines: Vec<&str> = csv.lines().collect();
    assert!(lines[0].contains("conditions"), "{csv}");
    let figures: Vec<&&str> = lines.iter().filter(|line| line.starts_with("figure,")).collect();
    assert_eq!(figures.len(), 2, "{csv}");
    for line in figures {
        assert!(line.contains("sequential write, null depth 1, 1 task"), "{line}");
    }
    let markdown = form("md");
    let peaks = markdown.split("## ").find(|section| section.starts_with("Best points")).expect("peaks");
    let rows: Vec<&str> =
        peaks.lines().filter(|line| line.starts_with("| ") && !line.contains("---")).collect();
    assert!(rows.len() > 1 && rows[1..].iter().all(|row| row.contains("null depth 1, 1 task")), "{peaks}");
    assert_says(peaks, &["unlikely to reach it"]);
    let text = form("text");
    assert_says(&text, &["unlikely to reach it"]);
    assert!(form("html").contains(conditions) || form("html").contains("null depth 1, 1 task"));
    let metrics = form("openmetrics");
    for line in metrics.lines().filter(|line| line.contains("bytes_per_second{")) {
        assert!(line.contains("conditions=") || line.contains("case="), "{line}");
    }
}

/// The intact parts of a study are shown and the damage is named; a format from the future is refused.
#[test]
fn damaged_studies_show_what_is_whole_and_later_formats_are_told() {
    let desk = Desk::new();
    swept(&desk);
    let shown = |what: &str| {
        let finished = run(&desk.ioproof("report --format json").arg(desk.record()));
        let report: Value = serde_json::from_str(&finished.expect_code(0).stdout).expect("JSON");
        assert!(!report["missing"].as_array().expect("a list").is_empty(), "{what} is not named");
        report["figures"].as_array().map(Vec::len)
    };
    let file = |name: &str| desk.record().join(name);
    let cut = |name: &str, keep: usize| {
        let whole = fs::read(file(name)).expect("the file");
        fs::write(file(name), &whole[..keep.min(whole.len())]).expect("written");
        whole
    };
    for name in ["latency/000001.parquet", "tasks/000001.parquet", "manifest.json"] {
        let whole = cut(name, 90);
        assert_eq!(shown(name), Some(2), "{name}: the rates are whole");
        fs::write(file(name), whole).expect("mended");
    }
    // The rows of a truncated table are in the journal as well.
    let whole = cut("phases/000001.parquet", 90);
    assert_eq!(shown("phases"), Some(2));
    fs::write(file("phases/000001.parquet"), whole).expect("mended");
    let journal = fs::read(file("journal.jsonl")).expect("a journal");
    let _ = cut("journal.jsonl", journal.len() - 30);
    assert_eq!(shown("a torn journal"), Some(2));
    fs::write(file("journal.jsonl"), journal).expect("mended");

    for name in ["manifest.json", "journal.jsonl"] {
        let text = fs::read_to_string(file(name)).expect("text");
        let later = text.replace("format_version\": 4", "format_version\": 99");
        fs::write(file(name), later.replace("format_version\":4", "format_version\":99")).expect("written");
    }
    for command in ["report", "verdict", "check", "compare record"] {
        let refused = run(&desk.ioproof(command).arg(desk.record())).expect_code(7).stderr;
        assert_says(
            &refused,
            &["record", "format version 99", "supports versions 1 to 4", "a later version"],
        );
    }
}
