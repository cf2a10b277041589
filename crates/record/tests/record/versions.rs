//! The version matrix: every format version that was ever written can be read.

use std::fs;
use std::path::{Path, PathBuf};

use record::{
    FORMAT_VERSION, PhaseRecord, RecordError, Recorder, Run, RunState, SharedText, merge, write_merged,
};

use crate::sample;
use crate::whole::{assert_holds, everything};

fn fixture(version: u32) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/fixtures/version-{version}"))
}

/// The contents of the fixture for a version. Up to version 2 a run had one node, up to version 3 it had only
/// transfers, and no fixture has jobs.
fn held(version: u32) -> Vec<PhaseRecord> {
    let mut records = everything(2);
    for record in records.iter_mut().filter(|_| version < 3) {
        record.nodes.clear();
        record.devices.truncate(1);
        record.tasks.iter_mut().for_each(|task| task.node = sample::NODES[0].into());
    }
    for record in records.iter_mut().filter(|_| version < 4) {
        record.history.clear();
        record.printed.clear();
        record.ends.clear();
        let phase = &mut record.phase;
        (phase.items, phase.allocated_bytes, phase.surprises) = (0, None, 0);
    }
    // Version 4 was written before jobs, node load and comments were added, which are in separate tables and columns.
    for record in &mut records {
        record.load.clear();
        (record.phase.node_cpu_ns, record.phase.cpu_wait_ns) = (None, None);
        (record.phase.resident_bytes, record.phase.resident_of_bytes) = (None, None);
        record.phase.fetched_bytes = None;
        record.history.iter_mut().for_each(|row| row.comment = SharedText::EMPTY);
        record.launches.clear();
        record.steps.clear();
        record.spaces.clear();
        record.servers.clear();
        record.server_texts.clear();
        record.phase.harness_cpu_ns = None;
    }
    records
}

/// Copies the entries `names` of a fixture to a new directory below `place`.
fn copy(version: u32, place: &Path, names: &[&str]) -> PathBuf {
    let directory = place.join(format!("run{version}"));
    fs::create_dir(&directory).expect("made");
    for name in names {
        let (from, to) = (fixture(version).join(name), directory.join(name));
        if from.is_dir() {
            fs::create_dir(&to).expect("made");
            for entry in fs::read_dir(&from).expect("readable") {
                let path = entry.expect("an entry").path();
                fs::copy(&path, to.join(path.file_name().expect("a name"))).expect("copied");
            }
        } else {
            fs::copy(&from, &to).expect("copied");
        }
    }
    directory
}

/// A fixture is written once, by the first release of its version, with
/// `cargo run -p ioproof-record --example small_run crates/record/tests/fixtures/version-N`,
/// and never again: a field that is added later needs a default.
#[test]
fn runs_of_every_version_are_read() {
    for version in 1..=FORMAT_VERSION {
        let run = Run::open(&fixture(version)).unwrap_or_else(|error| panic!("version {version}: {error}"));
        assert_eq!(run.manifest.format_version, version);
        assert_eq!(run.damage, [], "version {version}");
        assert_eq!(run.state, RunState::Complete, "version {version}");
        assert_holds(&run, &held(version));
        assert_eq!(run.manifest.cluster.is_some(), version >= 3);
        assert_eq!(run.clocks.len(), if version < 3 { 0 } else { 2 });
    }
}

/// In every version, the journal alone has the same data as the tables.
#[test]
fn journals_of_every_version_are_read() {
    for version in 1..=FORMAT_VERSION {
        let place = tempfile::tempdir().expect("a directory");
        let directory = copy(version, place.path(), &["manifest.json", "journal.jsonl"]);
        assert_holds(&Run::open(&directory).expect("readable"), &held(version));
    }
}

/// All entries that a version 2 run has, also after it is resumed. Later versions have more.
const VERSION_2: [&str; 8] =
    ["manifest.json", "journal.jsonl", "phases", "tasks", "latency", "series", "devices", "warnings"];

/// A run of an earlier version is resumed as a run of the current version. No table in the old format is left, so
/// that other programs find the same columns in all tables.
#[test]
fn runs_of_earlier_versions_go_on_as_ones_of_this_version() {
    goes_on(2, &VERSION_2);
    goes_on(3, &[&VERSION_2[..], &["node_series"]].concat());
}

fn goes_on(version: u32, all: &[&str]) {
    let place = tempfile::tempdir().expect("a directory");
    let directory = copy(version, place.path(), all);
    let journal = directory.join("journal.jsonl");
    let text = fs::read_to_string(&journal).expect("readable");
    let end = text.find("{\"event\":\"run-finished\"").expect("it had ended");
    // Simulates a plan with one more case that did not finish.
    let more = "{\"event\":\"case-started\",\"case\":\"more\",\"number\":3,\"at_unix_ns\":1}\n";
    fs::write(&journal, text[..end].to_owned() + more).expect("cut");
    for again in [false, true] {
        let (mut recorder, resumed) = Recorder::resume(&directory).expect("resumed");
        assert_eq!(resumed.finished, sample::CASES, "a second time: {again}");
        assert_eq!(resumed.manifest.format_version, FORMAT_VERSION);
        recorder.case_started("more").expect("started");
        let going_on = Run::open(&directory).expect("readable");
        assert_eq!((going_on.all_phases().count(), going_on.damage), (8, vec![]), "a second time: {again}");
        if again {
            let record = sample::phase("more", 0, plan::Phase::Write, 2);
            recorder.phase_finished(&record).expect("recorded");
            recorder.case_finished("more").expect("finished");
            recorder.finish(&record::Outcome::Complete).expect("the end");
        }
    }
    let records: Vec<_> =
        held(version).into_iter().chain([sample::phase("more", 0, plan::Phase::Write, 2)]).collect();
    let run = Run::open(&directory).expect("readable");
    assert_eq!((&run.damage, run.manifest.format_version), (&vec![], FORMAT_VERSION));
    assert_holds(&run, &records);
    let tables = || fs::read_dir(directory.join("devices")).expect("tables");
    assert_eq!(tables().count(), 1, "{:?}", tables().collect::<Vec<_>>());
    // The tables alone have the same data.
    fs::remove_file(&journal).expect("removed");
    assert_holds(&Run::open(&directory).expect("readable"), &records);
}

#[test]
fn runs_of_all_versions_are_merged() {
    let place = tempfile::tempdir().expect("a directory");
    let runs: Vec<Run> = (1..=FORMAT_VERSION)
        .map(|version| {
            let mut run = Run::open(&fixture(version)).expect("readable");
            run.manifest.run_id = format!("version-{version}");
            run
        })
        .collect();
    let whole = merge(runs).expect("merged");
    write_merged(&whole, &[], &place.path().join("merged")).expect("written");
    let read = Run::open(&place.path().join("merged")).expect("readable");
    assert_eq!((&read.damage, read.manifest.format_version), (&vec![], FORMAT_VERSION));
    for case in sample::CASES {
        assert_eq!(*read.devices(case), *whole.devices(case));
        assert_eq!(*read.nodes(case), *whole.nodes(case));
        let devices = read.devices(case);
        let of = |node: &str| devices.iter().filter(|row| row.node == node).count();
        assert_eq!((of("node1"), of("node2")), (16, 8), "each version has four phases of a case");
        assert_eq!(*read.history(case), *whole.history(case));
        assert_eq!(*read.printed(case), *whole.printed(case));
        assert_eq!(*read.ends(case), *whole.ends(case));
        assert_eq!(
            (read.history(case).len(), read.printed(case).len(), read.ends(case).len()),
            (12, 12, 8),
            "only the last one has any"
        );
    }
    assert_eq!(read.clocks, whole.clocks);
}

#[test]
fn a_later_version_is_refused_with_the_next_step() {
    let place = tempfile::tempdir().expect("a directory");
    let text = fs::read_to_string(fixture(FORMAT_VERSION).join("manifest.json")).expect("readable");
    let later = format!("\"format_version\": {}", FORMAT_VERSION + 1);
    let text = text.replace(&format!("\"format_version\": {FORMAT_VERSION}"), &later);
    // Other changes in a later version are unknown, so the version must be reported before anything else is parsed.
    let text = text.replace("\"seed\"", "\"entropy\"");
    fs::write(place.path().join("manifest.json"), text).expect("written");
    let error = Run::open(place.path()).expect_err("refused");
    assert!(
        matches!(error, RecordError::NewerVersion { found, .. } if found == FORMAT_VERSION + 1),
        "{error}"
    );
    assert!(error.to_string().contains("the program that wrote it"), "{error}");
}
