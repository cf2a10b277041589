//! Runs that were interrupted and resumed: no case is duplicated or lost.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use plan::Phase;
use record::{FORMAT_VERSION, Outcome, PhaseRecord, RecordError, Recorder, Run, RunState, Warning};

use crate::sample;
use crate::whole::{assert_holds, everything};

/// Records the missing cases of [`sample::CASES`], like a runner that works through the plan.
fn go_on(mut recorder: Recorder, finished: &[String]) {
    for id in sample::CASES.iter().filter(|id| !finished.iter().any(|done| done == *id)) {
        recorder.case_started(id).expect("started");
        for record in sample::case(id, 2) {
            recorder.phase_finished(&record).expect("recorded");
        }
        recorder.case_finished(id).expect("finished");
    }
    recorder.finish(&Outcome::Complete).expect("the end");
}

fn resume(directory: &Path) -> (Recorder, Vec<String>) {
    let (recorder, resumed) = Recorder::resume(directory).expect("resumed");
    assert_eq!(resumed.manifest.finished_unix_ns, None, "it goes on");
    (recorder, resumed.finished)
}

/// Every length of the journal that a kill can result in: at the end of each line, and within lines.
#[test]
fn a_run_that_was_cut_anywhere_goes_on_to_the_same_record() {
    let place = tempfile::tempdir().expect("a directory");
    let whole = place.path().join("whole");
    sample::write(&whole, 2, Outcome::Complete).expect("recorded");
    let journal = fs::read(whole.join("journal.jsonl")).expect("readable");
    let manifest = fs::read(whole.join("manifest.json")).expect("readable");
    let ends: Vec<usize> = (1..=journal.len()).filter(|&end| journal[end - 1] == b'\n').collect();
    let mut starts = vec![0];
    starts.extend(&ends);
    let inside = ends
        .iter()
        .zip(&starts)
        .skip(1)
        .flat_map(|(end, start)| [end - 1, end - 2, start + (end - start) / 2, start + 1]);
    // After the last line there is nothing left to do.
    let cuts = ends[..ends.len() - 1].iter().copied().chain(inside);
    for (number, cut) in cuts.enumerate() {
        let directory = place.path().join(number.to_string());
        fs::create_dir(&directory).expect("made");
        fs::write(directory.join("journal.jsonl"), &journal[..cut]).expect("cut");
        fs::write(directory.join("manifest.json"), &manifest).expect("written");
        if cut == journal.len() - 1 {
            let error = Recorder::resume(&directory).map(|_| ()).expect_err("complete");
            assert!(error.to_string().contains("complete"), "{error}");
            continue;
        }
        let (recorder, finished) = resume(&directory);
        go_on(recorder, &finished);
        let run = Run::open(&directory).expect("readable");
        assert_eq!(run.damage, [], "cut at {cut}");
        assert_eq!(run.state, RunState::Complete);
        assert_eq!(run.finished_cases, sample::CASES, "cut at {cut}");
        assert_holds(&run, &everything(2));
        assert_eq!(rows_in_tables(&directory), rows_in_tables(&whole), "cut at {cut}");
    }
}

/// The number of phases in the tables, for readers that ignore the journal.
fn rows_in_tables(directory: &Path) -> usize {
    let copy = tempfile::tempdir().expect("a directory");
    fs::create_dir(copy.path().join("phases")).expect("made");
    fs::copy(directory.join("manifest.json"), copy.path().join("manifest.json")).expect("copied");
    for entry in fs::read_dir(directory.join("phases")).expect("tables") {
        let path = entry.expect("an entry").path();
        fs::copy(&path, copy.path().join("phases").join(path.file_name().expect("a name"))).expect("copied");
    }
    Run::open(copy.path()).expect("readable").all_phases().count()
}

#[test]
fn a_case_that_failed_starts_again_and_its_earlier_rows_do_not_count() {
    let place = tempfile::tempdir().expect("a directory");
    let directory = place.path().join("run");
    let mut recorder = Recorder::create(&directory, &sample::manifest()).expect("created");
    recorder.case_started("seq").expect("started");
    for record in sample::case("seq", 2) {
        recorder.phase_finished(&record).expect("recorded");
    }
    recorder.case_finished("seq").expect("finished");
    recorder.case_started("rand").expect("started");
    recorder.phase_finished(&sample::phase("rand", 0, Phase::Write, 7)).expect("recorded");
    recorder.case_failed("rand", "EIO").expect("recorded");
    recorder.finish(&Outcome::Complete).expect("the end");
    let run = Run::open(&directory).expect("readable");
    assert_eq!((run.failed_cases.len(), run.tasks("rand").len()), (1, 7));

    let (mut recorder, finished) = resume(&directory);
    assert_eq!(finished, ["seq"]);
    let error = recorder.case_started("seq").expect_err("it is finished");
    assert!(matches!(error, RecordError::Finished { .. }), "{error}");
    // Until the run is resumed, the recorded data of the case is still available.
    assert_eq!(Run::open(&directory).expect("readable").tasks("rand").len(), 7);
    go_on(recorder, &finished);
    let run = Run::open(&directory).expect("readable");
    assert_eq!(run.failed_cases, []);
    assert_holds(&run, &everything(2));
}

#[test]
fn a_run_may_be_interrupted_many_times() {
    let place = tempfile::tempdir().expect("a directory");
    let directory = place.path().join("run");
    drop(Recorder::create(&directory, &sample::manifest()).expect("created"));
    for pass in 1..4 {
        let (mut recorder, finished) = resume(&directory);
        assert!(finished.is_empty());
        recorder.case_started("seq").expect("started");
        let records: Vec<PhaseRecord> = sample::case("seq", 2).into_iter().take(pass).collect();
        records.iter().for_each(|record| recorder.phase_finished(record).expect("recorded"));
        if pass == 2 {
            recorder.finish(&Outcome::Interrupted).expect("the end");
        } else {
            drop(recorder);
        }
        assert_holds(&Run::open(&directory).expect("readable"), &records);
    }
    let (recorder, finished) = resume(&directory);
    go_on(recorder, &finished);
    assert_holds(&Run::open(&directory).expect("readable"), &everything(2));
}

#[test]
fn what_cannot_go_on_is_told_why() {
    let place = tempfile::tempdir().expect("a directory");
    let directory = place.path().join("run");
    let refused =
        |directory: &Path| Recorder::resume(directory).map(|_| ()).expect_err("refused").to_string();
    assert!(refused(&directory).contains("neither manifest.json nor journal.jsonl"));

    let recorder = Recorder::create(&directory, &sample::manifest()).expect("created");
    assert!(
        refused(&directory)
            .contains(&format!("it is still running in process {} of this node", std::process::id())),
        "{}",
        refused(&directory)
    );
    go_on(recorder, &[]);
    assert!(refused(&directory).contains("all of its 2 cases are finished"), "{}", refused(&directory));

    let version_1 = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/version-1");
    let old = place.path().join("old");
    fs::create_dir(&old).expect("made");
    for name in ["manifest.json", "journal.jsonl"] {
        fs::copy(version_1.join(name), old.join(name)).expect("copied");
    }
    assert!(refused(&old).contains("format version 1"), "{}", refused(&old));

    let text = fs::read_to_string(directory.join("manifest.json")).expect("readable");
    let version = |version: u32| format!("\"format_version\": {version}");
    let later = FORMAT_VERSION + 1;
    let text = text.replace(&version(FORMAT_VERSION), &version(later));
    fs::write(directory.join("manifest.json"), text).expect("written");
    let said = format!("format version {later}");
    assert!(refused(&directory).contains(&said), "{}", refused(&directory));

    fs::write(directory.join("manifest.json"), "{").expect("damaged");
    fs::write(directory.join("journal.jsonl"), "{\n").expect("damaged");
    assert!(refused(&directory).contains("what it was to measure cannot be read"), "{}", refused(&directory));
}

/// Every file below `directory` with its contents.
fn files(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(directory).expect("readable") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            all.extend(files(&path));
        } else {
            // A dangling link has no contents.
            all.insert(path.clone(), fs::read(&path).unwrap_or_default());
        }
    }
    all
}

/// A run that was killed within a line after its first case, while that case was being sealed.
fn killed(directory: &Path) {
    let mut recorder = Recorder::create(directory, &sample::manifest()).expect("created");
    recorder.case_started("seq").expect("started");
    sample::case("seq", 2).iter().for_each(|record| recorder.phase_finished(record).expect("recorded"));
    recorder.case_finished("seq").expect("finished");
    drop(recorder);
    let journal = directory.join("journal.jsonl");
    let mut text = fs::read(&journal).expect("readable");
    text.extend(b"{\"event\":\"case-sta");
    fs::write(&journal, text).expect("torn");
    fs::create_dir(directory.join("phases")).expect("made");
    fs::write(directory.join("phases/.000001.parquet.unfinished"), "PAR1").expect("written");
}

#[test]
fn nothing_changes_before_something_is_recorded() {
    let place = tempfile::tempdir().expect("a directory");
    let directory = place.path().join("run");
    killed(&directory);
    let before = files(&directory);
    let (recorder, finished) = resume(&directory);
    assert_eq!(finished, ["seq"]);
    let error = Recorder::resume(&directory).map(|_| ()).expect_err("it is held");
    assert!(
        error
            .to_string()
            .contains(&format!("it is still running in process {} of this node", std::process::id())),
        "{error}"
    );
    drop(recorder);
    assert_eq!(files(&directory), before);

    let (recorder, finished) = resume(&directory);
    go_on(recorder, &finished);
    let run = Run::open(&directory).expect("readable");
    assert_eq!((run.damage, run.finished_cases.len()), (vec![], 2));
    assert!(!directory.join("phases/.000001.parquet.unfinished").exists());
}

#[test]
fn a_finished_case_with_a_damaged_line_runs_again() {
    let place = tempfile::tempdir().expect("a directory");
    let directory = place.path().join("run");
    killed(&directory);
    let journal = directory.join("journal.jsonl");
    let text = fs::read_to_string(&journal).expect("readable");
    // Within the rows of the last phase, after its key.
    let wall = text.rfind("\"wall_ns\":").expect("recorded");
    fs::write(&journal, text[..wall].to_owned() + "\"wall_ns\"," + &text[wall + 10..]).expect("damaged");
    let (recorder, resumed) = Recorder::resume(&directory).expect("resumed");
    assert!(resumed.finished.is_empty(), "{:?}", resumed.finished);
    let again = |row: &record::WarningRow| matches!(&row.warning, Warning::MeasuredAgain { case, .. } if case == "seq");
    assert_eq!(resumed.warnings.iter().filter(|row| again(row)).count(), 1, "{:?}", resumed.warnings);
    go_on(recorder, &resumed.finished);
    let run = Run::open(&directory).expect("readable");
    assert_eq!((run.all_phases().count(), run.damage, run.finished_cases.len()), (8, vec![], 2));
    assert_eq!(run.warnings.iter().filter(|row| again(row)).count(), 1);
}

/// Whether the tables have the finished case or not: its passes and those of the other one belong to each other.
#[test]
fn a_finished_case_runs_again_with_one_that_runs_at_the_same_time() {
    for is_sealed in [false, true] {
        let place = tempfile::tempdir().expect("a directory");
        let directory = place.path().join("run");
        let mut manifest = sample::manifest();
        for case in &mut manifest.plan.cases {
            let (name, alone, start) = ("set".to_owned(), "alone".to_owned(), plan::Nanos(0));
            case.concurrent = Some(plan::Concurrent { name, alone, start });
        }
        let mut recorder = Recorder::create(&directory, &manifest).expect("created");
        sample::CASES.iter().for_each(|id| recorder.case_started(id).expect("started"));
        for record in sample::CASES.iter().flat_map(|id| sample::case(id, 2)) {
            recorder.phase_finished(&record).expect("recorded");
        }
        recorder.case_finished("seq").expect("finished");
        if is_sealed {
            recorder.finish(&Outcome::Interrupted).expect("the end");
        } else {
            recorder.case_finished("rand").expect("finished");
            drop(recorder);
        }
        let journal = directory.join("journal.jsonl");
        let text = fs::read_to_string(&journal).expect("readable");
        let event = if is_sealed { "phase-finished" } else { "case-finished" };
        let is_last = |line: &&str| line.contains(event) && line.contains("\"rand\"");
        let line = text.lines().rfind(is_last).expect("recorded");
        fs::write(&journal, text.replace(line, &line.replace("\"rand\"", "\"rend\""))).expect("damaged");

        let (recorder, resumed) = Recorder::resume(&directory).expect("resumed");
        assert!(resumed.finished.is_empty(), "{:?}", resumed.finished);
        let is_told = |row: &record::WarningRow| matches!(&row.warning, Warning::MeasuredAgain { case, .. } if case == "seq");
        assert_eq!(resumed.warnings.iter().filter(|row| is_told(row)).count(), 1, "{:?}", resumed.warnings);
        go_on(recorder, &resumed.finished);
        let run = Run::open(&directory).expect("readable");
        assert_eq!((run.all_phases().count(), run.damage, run.finished_cases.len()), (8, vec![], 2));
        assert_eq!(rows_in_tables(&directory), 8, "sealed: {is_sealed}");
    }
}

#[test]
fn tables_that_cannot_be_judged_are_not_removed() {
    let place = tempfile::tempdir().expect("a directory");
    let directory = place.path().join("run");
    sample::write(&directory, 2, Outcome::Interrupted).expect("recorded");
    let journal = directory.join("journal.jsonl");
    let text = fs::read(&journal).expect("readable");
    let refused = || Recorder::resume(&directory).map(|_| ()).expect_err("refused").to_string();

    // The journal was truncated, and nothing else shows that the cases of the table are finished.
    fs::write(&journal, &text[..4000]).expect("cut");
    let before = files(&directory);
    let error = refused();
    assert!(error.contains("000001.parquet") && error.contains("restore the complete journal"), "{error}");
    assert_eq!(files(&directory), before);

    // Now a table is unreadable.
    fs::write(&journal, &text).expect("whole again");
    let table = directory.join("tasks/000001.parquet");
    let kept = place.path().join("kept");
    fs::rename(&table, &kept).expect("moved");
    symlink(&table, &table).expect("a link to itself");
    let before = files(&directory);
    let error = refused();
    assert!(error.contains("tasks/000001.parquet"), "{error}");
    assert_eq!(files(&directory), before);
}
