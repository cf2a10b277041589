//! Run directories made by someone else: nothing in them may redirect access elsewhere, hang the reader, or use more
//! memory than their contents justify.

use std::fs;
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use record::{Outcome, RecordError, Recorder, Replacement, Run};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::sample;

fn recorded() -> (TempDir, PathBuf) {
    let place = tempfile::tempdir().expect("a directory");
    let directory = place.path().join("run");
    sample::write(&directory, 1, Outcome::Interrupted).expect("recorded");
    fs::write(directory.join("parts.json"), "[]").expect("written");
    (place, directory)
}

/// The entries of a run directory.
const NAMES: [&str; 5] = ["manifest.json", "journal.jsonl", "parts.json", "tasks/000001.parquet", "tasks"];

fn pipe(path: &Path) {
    mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a pipe");
}

/// Asserts that reading and resuming are refused, and that both errors mention `name` and what it `is`.
fn assert_refused(directory: &Path, name: &str, is: &str) {
    let errors = [Run::open(directory).map(drop), Recorder::resume(directory).map(drop)];
    for error in errors {
        let error = error.expect_err("refused").to_string();
        assert!(error.contains(name) && error.contains(is), "{name}: {error}");
    }
}

#[test]
fn a_link_in_place_of_a_file_or_directory_is_refused() {
    for name in NAMES {
        let (place, directory) = recorded();
        let elsewhere = place.path().join("elsewhere");
        fs::rename(directory.join(name), &elsewhere).expect("moved");
        symlink(&elsewhere, directory.join(name)).expect("a link");
        assert_refused(&directory, name, "a symbolic link");
    }
}

#[test]
fn a_pipe_or_a_device_in_place_of_a_file_is_refused() {
    for name in NAMES {
        let (_place, directory) = recorded();
        let path = directory.join(name);
        fs::remove_file(&path).or_else(|_| fs::remove_dir_all(&path)).expect("removed");
        pipe(&path);
        assert_refused(&directory, name, "a named pipe");
    }
    let (_place, directory) = recorded();
    fs::remove_file(directory.join("journal.jsonl")).expect("removed");
    symlink("/dev/zero", directory.join("journal.jsonl")).expect("a link");
    assert_refused(&directory, "journal.jsonl", "a symbolic link");
}

#[test]
fn the_run_directory_itself_may_be_named_by_a_link() {
    let (place, directory) = recorded();
    let link = place.path().join("last");
    symlink(&directory, &link).expect("a link");
    assert_eq!(Run::open(&link).expect("readable").damage, []);
    let (recorder, _) = Recorder::resume(&link).expect("resumed");
    assert_eq!(recorder.directory(), directory.canonicalize().expect("there"));
}

/// The owner of that file cannot be determined.
#[test]
fn a_journal_with_a_second_name_is_not_written_to() {
    let (place, directory) = recorded();
    let other = place.path().join("other");
    fs::hard_link(directory.join("journal.jsonl"), &other).expect("a link");
    let before = fs::read(&other).expect("readable");
    let error = Recorder::resume(&directory).map(drop).expect_err("refused").to_string();
    assert!(error.contains("a second name"), "{error}");
    assert_eq!(fs::read(&other).expect("readable"), before);
    assert_eq!(Run::open(&directory).expect("readable").damage, []);
}

#[test]
fn what_replaces_a_file_goes_through_no_link() {
    let place = tempfile::tempdir().expect("a directory");
    let (victim, name) = (place.path().join("victim"), Path::new("report.md"));
    let run = place.path().join("run");
    fs::create_dir(&run).expect("a directory");
    let path = run.join(name);

    fs::write(&victim, "mine").expect("written");
    symlink(&victim, &path).expect("a link");
    let error = Replacement::new(&run, name).map(drop).expect_err("refused");
    assert!(matches!(error, RecordError::InTheWay { .. }), "{error}");
    assert!(error.to_string().contains("report.md: it is a symbolic link"), "{error}");
    fs::remove_file(&path).expect("removed");
    pipe(&path);
    let error = Replacement::new(&run, name).map(drop).expect_err("refused").to_string();
    assert!(error.contains("a named pipe"), "{error}");
    fs::remove_file(&path).expect("removed");

    // The contents of a hard-linked file are kept, and a symbolic link in place of the unfinished file is not
    // followed.
    fs::hard_link(&victim, &path).expect("a link");
    symlink(&victim, run.join(format!(".report.md.{}.unfinished", std::process::id()))).expect("a link");
    let mut file = Replacement::new(&run, name).expect("begun");
    file.write_all(b"new").expect("written");
    assert_eq!(fs::read_to_string(&path).expect("readable"), "mine", "not before it is whole");
    file.finish().expect("put");
    assert_eq!(fs::read_to_string(&path).expect("readable"), "new");
    assert_eq!(fs::read_to_string(&victim).expect("readable"), "mine");

    drop(Replacement::new(&run, name).expect("begun"));
    assert_eq!(fs::read_dir(&run).expect("readable").count(), 1, "nothing unfinished is left");
}

#[test]
fn a_manifest_of_gigabytes_is_refused() {
    for name in ["manifest.json", "parts.json"] {
        let (_place, directory) = recorded();
        let file = fs::OpenOptions::new().write(true).open(directory.join(name)).expect("there");
        file.set_len(1 << 40).expect("longer");
        let error = Run::open(&directory).map(drop).expect_err("refused").to_string();
        assert!(error.contains(name) && error.contains("more than 256 MiB"), "{error}");
    }
}

/// A run that was killed and whose journal ends with `line`.
fn with_line(line: &[u8]) -> (TempDir, PathBuf) {
    let (place, directory) = recorded();
    let path = directory.join("journal.jsonl");
    let mut journal = sample::without_checksums(&fs::read_to_string(&path).expect("readable")).into_bytes();
    journal.extend_from_slice(line);
    fs::write(path, journal).expect("written");
    (place, directory)
}

/// A finished phase of another case, with `columns` replaced in its tasks.
fn tasks_with(columns: &[(&str, Value)]) -> Vec<u8> {
    let (_place, directory) = recorded();
    let journal = fs::read_to_string(directory.join("journal.jsonl")).expect("readable");
    let line = journal.lines().find(|line| line.contains("phase-finished")).expect("one");
    let mut line: Value = serde_json::from_str(line).expect("JSON");
    line["case"] = json!("other");
    for (name, values) in columns {
        line["tables"]["tasks"][name] = values.clone();
    }
    let mut line = serde_json::to_vec(&line).expect("JSON");
    line.push(b'\n');
    line
}

#[test]
fn a_text_for_all_rows_of_a_line_is_not_in_memory_for_each_row() {
    let rows = 20_000;
    let numbers = json!(vec![1; rows]);
    let numbers = ["task", "file", "open_start_ns", "open_end_ns", "io_start_ns", "io_end_ns"]
        .into_iter()
        .chain(["close_start_ns", "close_end_ns", "bytes", "transfers"])
        .map(|name| (name, numbers.clone()))
        .chain([("stonewall_transfers", json!(vec![serde_json::Value::Null; rows]))]);
    let with_node = |node: String| numbers.clone().chain([("node", json!(node))]).collect::<Vec<_>>();

    let (_place, directory) = with_line(&tasks_with(&with_node("node-1.cluster".to_owned())));
    let run = Run::open(&directory).expect("readable");
    assert_eq!((run.damage.as_slice(), run.tasks("other").len()), (&[][..], rows));

    let (_place, directory) = with_line(&tasks_with(&with_node("n".repeat(rows))));
    let run = Run::open(&directory).expect("readable");
    assert_eq!(run.damage, []);
    let tasks = run.tasks("other");
    assert_eq!(tasks.len(), rows);
    let texts = tasks.chunk_by(|one, next| one.node.as_ptr() == next.node.as_ptr()).count();
    assert!(texts <= 2, "{texts} texts for two pieces of the line");
}

/// Summing these values would overflow.
#[test]
fn numbers_that_cannot_be_true_are_named() {
    let (_place, directory) = with_line(&tasks_with(&[("bytes", json!(i64::MAX))]));
    let run = Run::open(&directory).expect("readable");
    let [damage] = run.damage.as_slice() else { panic!("{:?}", run.damage) };
    assert!(damage.what.contains("table tasks: column bytes contains values of another type"), "{damage}");
}

#[test]
fn many_lines_without_sense_are_counted() {
    let (_place, directory) = with_line("x\n".repeat(5_000).as_bytes());
    let run = Run::open(&directory).expect("readable");
    assert_eq!(run.damage.len(), 101);
    assert!(run.damage[100].what.contains("4900 more lines"), "{}", run.damage[100]);
}

#[test]
fn a_line_without_end_is_not_read_to_its_end() {
    let (_place, directory) = with_line(b"");
    let journal = directory.join("journal.jsonl");
    let file = fs::OpenOptions::new().append(true).open(&journal).expect("there");
    file.set_len(1 << 40).expect("longer");
    let run = Run::open(&directory).expect("readable");
    let damage: Vec<String> = run.damage.iter().map(ToString::to_string).collect();
    assert!(damage.iter().any(|damage| damage.contains("more than 512 MiB")), "{damage:?}");
}
