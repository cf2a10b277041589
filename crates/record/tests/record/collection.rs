//! A directory of records: what is listed, what is removed, and what stays whatever happens.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use record::{Collection, FORMAT_VERSION, Manifest, Outcome, Recorder, Run, RunEntry, finish_removal};

use crate::sample;

const DAY_NS: i64 = 86_400_000_000_000;
/// A file that may be in a record besides its own.
const ALSO: [&str; 1] = ["report.html"];

/// The manifest of the run `name`, started on this day.
fn manifest(name: &str, day: i64) -> Manifest {
    Manifest { run_id: name.to_owned(), started_unix_ns: day * DAY_NS, ..sample::manifest() }
}

/// Records `manifest` in `place`, in a directory named after its run.
fn write(place: &Path, manifest: &Manifest, outcome: &Outcome) -> PathBuf {
    let directory = place.join(&manifest.run_id);
    let mut recorder = Recorder::create(&directory, manifest).expect("created");
    for case in &sample::CASES {
        recorder.case_started(case).expect("started");
        sample::case(case, 2).iter().for_each(|phase| recorder.phase_finished(phase).expect("written"));
        recorder.case_finished(case).expect("finished");
    }
    recorder.finish(outcome).expect("ended");
    directory
}

fn complete(place: &Path, name: &str, day: i64) -> PathBuf {
    write(place, &manifest(name, day), &Outcome::Complete)
}

/// The entry of the run `name`.
fn entry(place: &Path, name: &str) -> RunEntry {
    let all = Collection::read(place).expect("read");
    all.entries.into_iter().find(|entry| entry.name == name).expect("listed")
}

#[test]
fn each_record_is_listed_with_its_state_and_nothing_else_is() {
    let place = tempfile::tempdir().expect("a directory");
    let at = place.path();
    complete(at, "c", 3);
    write(at, &manifest("b", 2), &Outcome::Interrupted);
    write(at, &manifest("f", 4), &Outcome::Failed("no space".to_owned()));
    let mut running = Recorder::create(&at.join("r"), &manifest("r", 5)).expect("created");
    running.case_started("seq").expect("started");
    // Killed: the journal ends with a torn line.
    let killed = complete(at, "k", 6);
    let text = fs::read_to_string(killed.join("journal.jsonl")).expect("read");
    fs::write(killed.join("journal.jsonl"), &text[..text.len() - 30]).expect("cut");
    let changed = complete(at, "changed", 7).join("manifest.json");
    let text = fs::read_to_string(&changed).expect("read").replace("a sample", "a simple");
    fs::write(&changed, text).expect("changed");
    fs::remove_file(complete(at, "no-journal", 8).join("journal.jsonl")).expect("removed");
    fs::write(complete(at, "no-json", 9).join("manifest.json"), "{").expect("changed");
    let later = complete(at, "later", 10).join("manifest.json");
    let versions = [FORMAT_VERSION, FORMAT_VERSION + 1].map(|of| format!("\"format_version\": {of}"));
    let text = fs::read_to_string(&later).expect("read").replace(&versions[0], &versions[1]);
    fs::write(&later, text.replace("provenance", "origin")).expect("changed");
    fs::create_dir(at.join("begun")).expect("made");
    fs::write(at.join("begun/journal.jsonl"), "").expect("made");
    // These are none.
    symlink(at.join("c"), at.join("link")).expect("made");
    fs::create_dir(at.join("empty")).expect("made");
    fs::write(at.join("notes.txt"), "x").expect("made");
    let all = Collection::read(at).expect("read");
    let found: Vec<(&str, &str)> =
        all.entries.iter().map(|entry| (entry.name.as_str(), entry.state.name())).collect();
    let wanted = [
        ("begun", "unreadable"),
        ("later", "unreadable"),
        ("no-json", "damaged"),
        ("b", "interrupted"),
        ("c", "complete"),
        ("f", "failed"),
        ("r", "running"),
        ("k", "killed"),
        ("changed", "damaged"),
        ("no-journal", "damaged"),
    ];
    assert_eq!((found.as_slice(), all.others), (&wanted[..], 3));
    let told = |name: &str| entry(at, name).state.reason().expect("a reason").to_owned();
    assert!(told("later").contains("format version"), "{}", told("later"));
    assert!(told("changed").contains("checksum"), "{}", told("changed"));
    let start = entry(at, "c").start.expect("its start");
    assert_eq!((start.title.as_str(), &start.hosts[..]), ("sample", &sample::NODES.map(str::to_owned)[..]));
    let bytes: u64 =
        walk(&at.join("c")).iter().filter_map(|path| path.metadata().ok()).map(|one| one.len()).sum();
    assert_eq!(entry(at, "c").bytes, bytes);
    // A record is a collection of itself.
    assert_eq!(Collection::read(&at.join("c")).expect("read").entries[0].name, "c");
    drop(running);
    Collection::read(&at.join("nowhere")).expect_err("missing");
    Collection::read(&at.join("notes.txt")).expect_err("a file");
}

/// All files below a directory.
fn walk(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).expect("a directory").flatten().map(|entry| entry.path());
    entries.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
}

#[test]
fn the_earlier_runs_of_the_same_plan_and_host_are_found() {
    let place = tempfile::tempdir().expect("a directory");
    let at = place.path();
    for day in 1..=5 {
        complete(at, &format!("day-{day}"), day);
    }
    write(at, &manifest("stopped", 6), &Outcome::Interrupted);
    let mut other = manifest("other-plan", 7);
    other.plan.cases.truncate(1);
    let directory = at.join("other-plan");
    Recorder::create(&directory, &other).expect("created").finish(&Outcome::Complete).expect("ended");
    let mut elsewhere = manifest("elsewhere", 8);
    elsewhere.cluster = None;
    write(at, &elsewhere, &Outcome::Complete);
    let damaged = complete(at, "damaged", 9).join("tasks/000001.parquet");
    fs::write(damaged, "x").expect("changed");
    let mut seeded = manifest("seeded", 10);
    seeded.plan.seed += 1;
    let new = write(at, &seeded, &Outcome::Complete);
    complete(at, "later", 11);
    let run = Run::open(&new).expect("opened");
    let names = |most| -> Vec<String> {
        let found = Collection::earlier_of_same(at, &run.manifest, most).expect("read");
        found.iter().map(|path| Run::open(path).expect("a record").manifest.run_id).collect()
    };
    assert_eq!(names(3), ["day-3", "day-4", "day-5"]);
    assert_eq!(names(100).len(), 5);
    assert_eq!(names(0), [] as [String; 0]);
}

#[test]
fn a_record_is_removed_with_its_report_and_nothing_beside_it() {
    let place = tempfile::tempdir().expect("a directory");
    let at = place.path();
    let (gone, stays) = (complete(at, "gone", 1), complete(at, "stays", 2));
    write(at, &manifest("interrupted", 3), &Outcome::Interrupted);
    fs::write(gone.join("report.html"), "x").expect("made");
    for name in ["gone", "interrupted"] {
        entry(at, name).removable(&ALSO).expect("sound").remove(&ALSO).expect("removed");
    }
    assert_eq!(fs::read_dir(at).expect("read").count(), 1);
    assert!(Run::open(&stays).expect("opened").damage.is_empty());
}

#[test]
fn what_is_not_certain_stays() {
    let place = tempfile::tempdir().expect("a directory");
    let at = place.path();
    let refused = |name: &str| entry(at, name).removable(&ALSO).map(drop).expect_err(name);
    fs::write(complete(at, "notes", 1).join("notes.txt"), "x").expect("made");
    assert!(refused("notes").contains("notes.txt is not part of a record"), "{}", refused("notes"));
    fs::create_dir(complete(at, "directory", 1).join("mine")).expect("made");
    assert!(refused("directory").contains("mine"), "{}", refused("directory"));
    fs::write(complete(at, "inside", 1).join("tasks/mine.parquet"), "x").expect("made");
    assert!(refused("inside").contains("mine.parquet"), "{}", refused("inside"));
    let linked = complete(at, "linked", 1);
    fs::rename(linked.join("tasks"), at.join("outside")).expect("moved");
    symlink(at.join("outside"), linked.join("tasks")).expect("made");
    assert!(refused("linked").contains("tasks"), "{}", refused("linked"));
    let report = complete(at, "report", 1).join("report.html");
    symlink(at.join("outside"), report).expect("made");
    assert!(refused("report").contains("report.html"), "{}", refused("report"));
    fs::write(complete(at, "damaged", 1).join("tasks/000001.parquet"), "x").expect("changed");
    assert!(refused("damaged").contains("it is damaged"), "{}", refused("damaged"));
    let killed = complete(at, "killed", 1).join("journal.jsonl");
    let text = fs::read_to_string(&killed).expect("read");
    fs::write(&killed, &text[..text.len() - 200]).expect("cut");
    assert!(refused("killed").contains("no end"), "{}", refused("killed"));
    let held = write(at, &manifest("held", 1), &Outcome::Interrupted);
    let listed = entry(at, "held");
    let (resumed, _) = Recorder::resume(&held).expect("resumed");
    assert_eq!(listed.removable(&ALSO).map(drop).expect_err("held"), "another process is using it");
    drop(resumed);
    // Between the list and the removal it was replaced.
    complete(at, "first", 1);
    let listed = entry(at, "first");
    fs::rename(at.join("first"), at.join("elsewhere")).expect("moved");
    fs::rename(complete(at, "second", 1), at.join("first")).expect("moved");
    assert!(listed.removable(&ALSO).is_err());
    fs::remove_dir_all(at.join("first")).expect("removed");
    symlink(at.join("elsewhere"), at.join("first")).expect("made");
    assert!(listed.removable(&ALSO).is_err());
    assert!(at.join("elsewhere/manifest.json").exists() && at.join("outside/000001.parquet").exists());
}

#[test]
fn nothing_resumes_a_record_that_is_about_to_be_removed() {
    let place = tempfile::tempdir().expect("a directory");
    let directory = write(place.path(), &manifest("a", 1), &Outcome::Interrupted);
    let removable = entry(place.path(), "a").removable(&ALSO).expect("sound");
    Recorder::resume(&directory).map(drop).expect_err("held");
    removable.remove(&ALSO).expect("removed");
}

/// A removal that was killed at any time leaves a hidden directory with a part of the record.
#[test]
fn a_removal_that_was_killed_is_ended_by_the_next_one() {
    let place = tempfile::tempdir().expect("a directory");
    let at = place.path();
    let files = walk(&complete(at, "count", 1)).len();
    for left in 0..=files {
        let directory = complete(at, "gone", 2);
        let hidden = at.join(".gone.pruned");
        fs::rename(&directory, &hidden).expect("moved");
        walk(&hidden).iter().skip(left).for_each(|path| fs::remove_file(path).expect("removed"));
        let all = Collection::read(at).expect("read");
        assert_eq!((all.entries.len(), &all.half_removed[..], all.others), (1, &[hidden.clone()][..], 0));
        finish_removal(&hidden, &ALSO).expect("ended");
        assert!(!hidden.exists());
    }
    // What somebody has put there is kept.
    fs::rename(complete(at, "gone", 2), at.join(".gone.pruned")).expect("moved");
    fs::write(at.join(".gone.pruned/mine"), "x").expect("made");
    finish_removal(&at.join(".gone.pruned"), &ALSO).expect_err("kept");
    assert!(at.join(".gone.pruned/manifest.json").exists());
    // A record of the same name is not mixed with it.
    complete(at, "gone", 3);
    entry(at, "gone").removable(&ALSO).expect("sound").remove(&ALSO).expect_err("in the way");
    assert!(Run::open(at.join("gone").as_path()).expect("opened").damage.is_empty());
}
