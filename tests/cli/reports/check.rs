//! `ioproof check`: figures that cannot be what they appear to be, with the evidence.

use std::time::Duration;

use serde_json::Value;
use testbed::{FileSystem, LoopDevice, Testbed, skipped};

use crate::desk::{Desk, assert_says, cached, events, measured, run, wait_for};

/// A file that is in memory, with a commitment, a link that is far too slow for it, and caches of an eighth of its
/// size.
const CACHED: &str = r#"
[protocol]
repetitions = 2
phase_min = "1us"

[[target]]
name = "disk"
directory = "."
caches = "1MiB"

[[workload]]
name = "cached"
transfer = "64KiB"
size = "8MiB"

[[expectation]]
name = "the link"
bandwidth = "1MB/s"
ceiling = true
source = "a data sheet"

[[commitment]]
name = "reading"
workload = "cached"
phase = "read"
statistic = "median"
bandwidth_at_least = "1kB/s"
"#;

/// The doubts about the record on the desk.
fn doubts(desk: &Desk) -> Vec<Value> {
    let finished = run(&desk.ioproof("check --json").arg(desk.record()));
    let json: Value = serde_json::from_str(&finished.stdout).expect("JSON");
    let code = if json["withheld"] == 0 { 0 } else { 8 };
    let _ = finished.expect_code(code);
    json["doubts"].as_array().expect("a list").clone()
}

/// The evidence from one check of a figure.
fn evidence<'a>(doubts: &'a [Value], check: &str, figure: u64) -> Option<&'a str> {
    let found = doubts.iter().find(|doubt| doubt["check"] == check && doubt["figure"] == figure)?;
    found["evidence"].as_str()
}

/// D27: "Reads are still cached?"
#[test]
fn a_cached_read_is_flagged_with_the_evidence_and_cannot_pass() {
    let _cached = cached();
    let desk = Desk::new();
    let finished = run(&desk.study(CACHED).arg("--verdict")).expect_code(8);
    assert_says(&finished.stdout, &["DOUBTFUL", "cached", "% of the link (1 MB/s)"]);
    let doubts = doubts(&desk);
    let cached = evidence(&doubts, "cached", 2).expect("the read is flagged");
    assert!(cached.contains("the page cache answered") || cached.contains("page cache"), "{cached}");
    assert!(evidence(&doubts, "above ceiling", 2).is_some_and(|why| why.contains("the link")), "{doubts:?}");
    let verdict = run(&desk.ioproof("verdict").arg(desk.record())).expect_code(8).stdout;
    assert_says(
        &verdict,
        &["DOUBTFUL", "cached: the page cache answered", "above ceiling: ", "from passing"],
    );
}

/// E26: the ratio, with a warning above 5 %, both before the run and with the result; no warning below 5 %.
#[test]
fn caches_above_five_percent_of_the_data_are_warned_of() {
    let desk = Desk::new();
    let before = run(&desk.study(CACHED)).expect_code(0).stdout;
    assert_says(&before, &["caches of", "12.5 %", "more than 5 %"]);
    assert_says(evidence(&doubts(&desk), "working set", 2).expect("flagged"), &["12.5 % of the working set"]);
    let large = Desk::new();
    let few = CACHED.replace("caches = \"1MiB\"", "caches = \"64KiB\"");
    let before = run(&large.study(&few)).expect_code(0).stdout;
    assert!(!before.contains("caches of"), "{before}");
    assert_eq!(evidence(&doubts(&large), "working set", 2), None);
}

/// D7.
#[test]
fn data_below_four_times_the_memory_of_the_servers_are_refused_with_what_is_needed() {
    let desk = Desk::new();
    let small = CACHED.replace("caches = \"1MiB\"", "server_memory = \"4MiB\"");
    let refused = run(&desk.study(&small)).expect_code(2).stderr;
    assert_says(
        &refused,
        &["less than 4 times the 4 MiB of memory of the servers", "16 MiB (16.8 MB) are needed"],
    );
    assert!(!desk.record().exists(), "nothing was touched");
    // What the published study needed: six servers with 64 GiB each.
    let published = small.replace("\"4MiB\"", "\"384GiB\"");
    assert_says(&run(&desk.study(&published)).expect_code(2).stderr, &["1.50 TiB"]);
}

/// Three tasks on two files.
#[test]
fn tasks_that_do_not_divide_over_targets_are_told_their_bound() {
    let desk = Desk::new();
    let study = "[[target]]\nname = \"two\"\npaths = [\"one\", \"other\"]\n[[workload]]\nname = \"w\"\n\
                 phases = [\"write\"]\nsharing = \"per-task\"\ntransfer = \"64KiB\"\nsize = \"1MiB\"\ntasks = 3\n";
    let _ = run(&desk.study(study)).expect_code(0);
    assert_says(
        evidence(&doubts(&desk), "unbalanced", 1).expect("flagged"),
        &["3 tasks over 2 targets", "75.0 %"],
    );
}

#[test]
fn the_best_shown_as_typical_is_told() {
    let desk = Desk::new();
    let _ = run(&desk.study(&CACHED.replace("\"median\"", "\"best\""))).expect_code(0);
    let doubts = doubts(&desk);
    let found = doubts.iter().find(|doubt| doubt["check"] == "best as typical").expect("flagged");
    assert_eq!(found["concerns"], "reading");
}

/// Contradictions among the published figures, found with the project's own rules.
#[test]
fn the_slips_of_published_studies_are_found() {
    let text = run(&Desk::new().ioproof("check --published")).expect_code(0).stdout;
    for (id, evidence) in [
        // C21: n = 101, range 2.15, standard deviation 0.035.
        ("c-tab2-flash-sdev", "at least 0.152"),
        ("a-t2-scal-read-33", "33 tasks over 12 targets"),
        ("b-iops-nvme-read", "exactly 4491 MiB/s"),
        ("a-sum-imsm-read", "29.9 GB/s"),
        ("b-tab2-ssd-512-mean", "the page cache's"),
        ("c-tab2-flash-mean", "1.325"),
        ("e-mdtest-stat-mean", "less than a round trip"),
    ] {
        assert_says(&text, &[id, evidence]);
    }
    let json = run(&Desk::new().ioproof("check --published --json")).expect_code(0).stdout;
    assert!(serde_json::from_str::<Value>(&json).is_ok(), "{json}");
}

/// Writes in time steps on a device that either nobody else uses, or somebody else does.
const WRITES: &str = r#"
[[target]]
name = "device"
directory = "DIR"

[[workload]]
name = "w"
phases = ["write"]
transfer = "64KiB"
size = "8MiB"
direct = true
duration = "TIME"
"#;

/// What the report says about other users of the device below the target, and the marks of the only figure.
fn traffic_of_others(desk: &Desk) -> (bool, Vec<String>) {
    let report = desk.report();
    let notes = report.0["notes"].as_array().expect("notes").iter();
    let entries = notes.flat_map(|note| note["entries"].as_array().expect("entries"));
    let audit = report.0["audit"].as_array().expect("a list").iter();
    let told = entries.map(|entry| &entry["text"]).chain(audit.map(|doubt| &doubt["evidence"]));
    let told = told.filter_map(|text| text.as_str());
    let told =
        told.filter(|text| text.contains("on the devices") || text.contains("times what the tasks did"));
    (told.count() > 0, report.warnings("write"))
}

/// C22. Other tests use the processors at the same time, so only the storage is checked: this test has a device of
/// its own.
#[test]
fn measured_a_competing_load_marks_a_run_and_none_does_not() {
    if skipped(Testbed::available()) {
        return;
    }
    measured(|_| {
        let device = LoopDevice::builder().bytes(64 << 20).file_system(FileSystem::Ext4).build();
        let device = device.expect("a device");
        let place = device.mount_point().expect("mounted").display().to_string();
        let writes = |time: &str| WRITES.replace("DIR", &place).replace("TIME", time);
        let alone = Desk::new();
        let _ = run(&alone.study(&writes("1s"))).expect_code(0);
        assert!(!traffic_of_others(&alone).0, "a quiet device is not marked");

        let (competing, desk) = (Desk::new(), Desk::new());
        let other = writes("4s").replace("name = \"device\"", "name = \"other\"");
        let mut other = competing.study(&other).spawn().expect("a competitor");
        wait_for(&mut other, "its writes", || events(&competing, "case-started") > 0);
        std::thread::sleep(Duration::from_millis(200));
        let _ = run(&desk.study(&writes("1500ms"))).expect_code(0);
        let (marked, warnings) = traffic_of_others(&desk);
        assert!(marked, "nothing is said of the competitor: {warnings:?}");
        assert!(warnings.contains(&"not quiet".to_owned()), "{warnings:?}");
        let text = desk.tables();
        assert_says(&text, &["not quiet", "repeat the run on a quiet host"]);
        assert!(evidence(&doubts(&desk), "not quiet", 1).is_some());
        let _ = other.wait().expect("it ends").expect_code(0);
    });
}
