//! A run directory that is moved while the run is recorded.

use std::fs;
use std::os::unix::fs::symlink;

use plan::Phase;
use record::{NowAt, Outcome, RecordError, Recorder, Replacement, Run, RunDirectory};

use crate::sample;

#[test]
fn everything_is_written_to_the_directory_in_which_the_run_began() {
    let place = tempfile::tempdir().expect("a directory");
    let (directory, moved) = (place.path().join("run"), place.path().join("moved"));
    let mut recorder = Recorder::create(&directory, &sample::manifest()).expect("created");
    let held = recorder.place();
    recorder.case_started("seq").expect("it is in its place");
    recorder.phase_finished(&sample::phase("seq", 0, Phase::Write, 2)).expect("recorded");
    fs::rename(&directory, &moved).expect("moved");
    // What another user may put there.
    let victim = place.path().join("victim");
    fs::write(&victim, "stays").expect("written");
    fs::create_dir_all(directory.join("phases")).expect("made");
    for name in ["manifest.json", "report.html", "phases/000001.parquet"] {
        symlink(&victim, directory.join(name)).expect("a link");
    }

    recorder.case_finished("seq").expect("the record goes on");
    let refused = recorder.case_started("rnd").expect_err("no further case begins");
    assert!(matches!(refused, RecordError::Moved { .. }), "{refused}");
    let error = recorder.finish(&Outcome::Complete).expect_err("it is not where it should be");
    assert!(error.to_string().contains(&*moved.to_string_lossy()), "{error}");
    Replacement::new(&held, "report.html".as_ref()).expect("begun").finish().expect("written");

    assert_eq!(fs::read_to_string(&victim).expect("readable"), "stays");
    for run in [Run::open(&moved), Run::open(&held)] {
        let run = run.expect("readable");
        assert_eq!((run.all_phases().count(), run.damage.len(), run.finished_cases.len()), (1, 0, 1));
    }
    assert!(moved.join("report.html").is_file() && moved.join("phases/000001.parquet").is_file());
}

#[test]
fn a_journal_that_is_removed_or_replaced_ends_the_run() {
    let take: [fn(&std::path::Path); 2] = [
        |journal| fs::remove_file(journal).expect("removed"),
        |journal| {
            fs::copy(journal, journal.with_extension("copy")).expect("copied");
            fs::rename(journal.with_extension("copy"), journal).expect("replaced");
        },
    ];
    for take in take {
        let place = tempfile::tempdir().expect("a directory");
        let directory = place.path().join("run");
        let mut recorder = Recorder::create(&directory, &sample::manifest()).expect("created");
        recorder.case_started("seq").expect("it is in its place");
        recorder.phase_finished(&sample::phase("seq", 0, Phase::Write, 2)).expect("recorded");
        take(&directory.join("journal.jsonl"));
        recorder.case_finished("seq").expect("the record goes on");
        let refused = recorder.case_started("rnd").expect_err("no further case begins");
        assert!(refused.to_string().contains("removed or replaced"), "{refused}");
        let error = recorder.finish(&Outcome::Complete).expect_err("its lines are lost");
        assert!(error.to_string().contains("journal.jsonl: it was removed or replaced"), "{error}");
    }
}

#[test]
fn a_directory_that_cannot_be_found_is_not_said_to_be_removed() {
    let place = tempfile::tempdir().expect("a directory");
    let directory = place.path().join("run");
    let hold = || {
        fs::create_dir(&directory).expect("made");
        RunDirectory::hold(&directory).expect("opened")
    };
    let now = |held: &RunDirectory| match held.check_in_place() {
        Err(RecordError::Moved { now, .. }) => now,
        other => panic!("{other:?}"),
    };
    let held = hold();
    fs::remove_dir(&directory).expect("removed");
    assert_eq!(now(&held), NowAt::Removed);

    // Below so many directories that its path is longer than the kernel prints (PATH_MAX, 4096 bytes).
    let held = hold();
    let name = |level: usize| format!("{level}{}", "x".repeat(200));
    fs::rename(&directory, place.path().join(name(0))).expect("moved");
    for level in 1..24 {
        let outer = place.path().join(name(level));
        fs::create_dir(&outer).expect("made");
        fs::rename(place.path().join(name(level - 1)), outer.join(name(level - 1))).expect("moved");
    }
    assert_eq!(now(&held), NowAt::Unknown);
}
