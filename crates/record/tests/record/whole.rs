//! Runs that were recorded without problems.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::Barrier;
use std::thread;

use plan::Phase;
use record::{CaseId, Outcome, PhaseRecord, RecordError, Recorder, Row, Run, RunState, TaskRow};

use crate::sample;

/// Asserts that `run` has all rows of `records` in order, and no others.
pub(crate) fn assert_holds(run: &Run, records: &[PhaseRecord]) {
    let all = |run_rows: usize, rows: usize, what: &str| assert_eq!(run_rows, rows, "{what}");
    assert!(run.all_phases().eq(records.iter().map(|r| r.phase.clone())));
    let mut cases: Vec<CaseId> = records.iter().map(|r| r.phase.key.case.clone()).collect();
    cases.dedup();
    assert_eq!(run.cases(), cases);
    for case in &cases {
        let of_case = || records.iter().filter(|r| r.phase.key.case == *case);
        assert_eq!(*run.tasks(case), of_case().flat_map(|r| r.tasks.clone()).collect::<Vec<_>>());
        assert_eq!(*run.latency(case), of_case().flat_map(|r| r.latency.clone()).collect::<Vec<_>>());
        assert_eq!(*run.series(case), of_case().flat_map(|r| r.series.clone()).collect::<Vec<_>>());
        assert_eq!(*run.nodes(case), of_case().flat_map(|r| r.nodes.clone()).collect::<Vec<_>>());
        assert_eq!(*run.devices(case), of_case().flat_map(|r| r.devices.clone()).collect::<Vec<_>>());
        assert_eq!(*run.load(case), of_case().flat_map(|r| r.load.clone()).collect::<Vec<_>>());
        assert_eq!(*run.history(case), of_case().flat_map(|r| r.history.clone()).collect::<Vec<_>>());
        assert_eq!(*run.printed(case), of_case().flat_map(|r| r.printed.clone()).collect::<Vec<_>>());
        assert_eq!(*run.ends(case), of_case().flat_map(|r| r.ends.clone()).collect::<Vec<_>>());
        assert_eq!(*run.launches(case), of_case().flat_map(|r| r.launches.clone()).collect::<Vec<_>>());
        assert_eq!(*run.steps(case), of_case().flat_map(|r| r.steps.clone()).collect::<Vec<_>>());
        assert_eq!(*run.spaces(case), of_case().flat_map(|r| r.spaces.clone()).collect::<Vec<_>>());
        assert_eq!(*run.servers(case), of_case().flat_map(|r| r.servers.clone()).collect::<Vec<_>>());
        assert_eq!(
            *run.server_texts(case),
            of_case().flat_map(|r| r.server_texts.clone()).collect::<Vec<_>>()
        );
    }
    for warning in records.iter().flat_map(|r| &r.warnings) {
        assert!(run.warnings.contains(warning), "{warning:?} is lost");
    }
    let of_phases = run.warnings.iter().filter(|warning| warning.key.is_some()).count();
    all(of_phases, records.iter().map(|r| r.warnings.len()).sum(), "warnings");
}

pub(crate) fn everything(tasks: u32) -> Vec<PhaseRecord> {
    sample::CASES.iter().flat_map(|id| sample::case(id, tasks)).collect()
}

#[test]
fn what_was_recorded_is_read_again() {
    let place = tempfile::tempdir().expect("a directory");
    let directory = place.path().join("run");
    sample::write(&directory, 3, Outcome::Complete).expect("recorded");
    let run = Run::open(&directory).expect("readable");
    assert_eq!(run.damage, []);
    assert_eq!(run.state, RunState::Complete);
    assert_eq!(run.finished_cases, sample::CASES);
    assert!(run.warnings.contains(&sample::run_warning()));
    assert_holds(&run, &everything(3));
    let finished = run.manifest.finished_unix_ns.expect("the end is in the manifest");
    assert!(directory.join("phases/000001.parquet").exists());
    assert!(!directory.join("phases/000002.parquet").exists(), "small cases share their tables");
    let cluster = Some(sample::cluster(Some(-300)));
    let manifest = record::Manifest { finished_unix_ns: Some(finished), cluster, ..sample::manifest() };
    assert_eq!(run.manifest, manifest);
    let clocks: Vec<_> = run.clocks.iter().map(|one| (one.case.as_deref(), one.nodes.clone())).collect();
    assert_eq!(clocks, [(Some("seq"), sample::clocks(1)), (Some("rand"), sample::clocks(2))]);
}

#[test]
fn tables_of_more_rows_than_one_group_holds_are_whole() {
    let place = tempfile::tempdir().expect("a directory");
    let directory = place.path().join("run");
    sample::write(&directory, 5_000, Outcome::Complete).expect("recorded");
    let run = Run::open(&directory).expect("readable");
    assert_eq!(run.damage, []);
    assert_holds(&run, &everything(5_000));
}

#[test]
fn a_run_is_written_into_a_new_or_empty_directory_only() {
    let place = tempfile::tempdir().expect("a directory");
    fs::write(place.path().join("thesis.tex"), "years of work").expect("written");
    let error = Recorder::create(place.path(), &sample::manifest()).map(|_| ()).expect_err("refused");
    assert!(matches!(error, RecordError::NotEmpty { .. }), "{error}");
    assert!(error.to_string().contains("does not exist yet"), "{error}");
    let empty = place.path().join("a/b");
    fs::create_dir_all(&empty).expect("made");
    assert!(Recorder::create(&empty, &sample::manifest()).is_ok());
}

/// Both check before either has begun. The loser must not touch what the winner has created.
#[test]
fn of_two_that_begin_in_one_directory_at_once_one_succeeds() {
    for _ in 0..50 {
        let place = tempfile::tempdir().expect("a directory");
        let directory = place.path().join("runs/one");
        let both = Barrier::new(2);
        let begin = || {
            both.wait();
            Recorder::create(&directory, &sample::manifest())
        };
        let results = thread::scope(|scope| {
            let other = scope.spawn(begin);
            [begin(), other.join().expect("no panic")]
        });
        let lost: Vec<_> = results.iter().filter_map(|result| result.as_ref().err()).collect();
        assert!(matches!(lost[..], [RecordError::NotEmpty { .. }]), "{lost:?}");
        Run::open(&directory).expect("the record of the other");
    }
}

#[test]
fn a_run_that_is_given_up_leaves_the_place_as_it_was() {
    let place = tempfile::tempdir().expect("a directory");
    let directory = place.path().join("runs/one");
    let recorder = Recorder::create(&directory, &sample::manifest()).expect("created");
    assert!(recorder.is_untouched());
    recorder.abandon();
    assert_eq!(fs::read_dir(place.path()).expect("readable").count(), 0);
    fs::create_dir_all(&directory).expect("made");
    Recorder::create(&directory, &sample::manifest()).expect("created").abandon();
    assert_eq!(fs::read_dir(&directory).expect("it was there").count(), 0);
    let mut recorder = Recorder::create(&directory, &sample::manifest()).expect("created");
    recorder.case_started(&sample::manifest().plan.cases[0].id).expect("written");
    assert!(!recorder.is_untouched());
    recorder.abandon();
    assert!(Run::open(&directory).is_ok(), "what was recorded stays");
}

#[test]
fn others_may_read_the_run() {
    let place = tempfile::tempdir().expect("a directory");
    let directory = place.path().join("run");
    sample::write(&directory, 1, Outcome::Complete).expect("recorded");
    // Permissions are 0666 and 0777 minus the user's umask, as for any other program.
    let probe = place.path().join("probe");
    fs::write(&probe, "").expect("written");
    let mode = |path: &std::path::Path| fs::metadata(path).expect("there").permissions().mode() & 0o777;
    for name in ["manifest.json", "journal.jsonl", "phases/000001.parquet"] {
        assert_eq!(mode(&directory.join(name)), mode(&probe), "{name}");
    }
    let probe = place.path().join("probes");
    fs::create_dir(&probe).expect("made");
    assert_eq!(mode(&directory.join("phases")), mode(&probe));
}

#[test]
fn a_case_that_failed_is_named_and_its_finished_phases_are_there() {
    let place = tempfile::tempdir().expect("a directory");
    let directory = place.path().join("run");
    let mut recorder = Recorder::create(&directory, &sample::manifest()).expect("created");
    recorder.case_started("seq").expect("started");
    let record = sample::phase("seq", 0, Phase::Write, 2);
    recorder.phase_finished(&record).expect("recorded");
    recorder.case_failed("seq", "read /data/file: EIO at offset 4096").expect("recorded");
    recorder.finish(&Outcome::Failed("no case was left".to_owned())).expect("finished");
    let run = Run::open(&directory).expect("readable");
    assert_eq!(run.state, RunState::Failed { message: "no case was left".to_owned() });
    assert_eq!(run.failed_cases.len(), 1);
    assert!(run.failed_cases[0].message.contains("offset 4096"));
    assert_holds(&run, &[record]);
}

#[test]
fn an_interrupted_run_keeps_the_case_under_way() {
    let place = tempfile::tempdir().expect("a directory");
    let directory = place.path().join("run");
    let mut recorder = Recorder::create(&directory, &sample::manifest()).expect("created");
    recorder.case_started("seq").expect("started");
    let record = sample::phase("seq", 0, Phase::Write, 2);
    recorder.phase_finished(&record).expect("recorded");
    let running = Run::open(&directory).expect("readable");
    assert_eq!(running.state, RunState::Running);
    assert_holds(&running, std::slice::from_ref(&record));
    recorder.finish(&Outcome::Interrupted).expect("finished");
    let run = Run::open(&directory).expect("readable");
    assert_eq!(run.state, RunState::Interrupted);
    assert!(!directory.join("phases").exists(), "only finished cases are in tables");
    assert_holds(&run, &[record]);
}

#[test]
fn rows_of_a_case_that_is_not_under_way_are_refused() {
    let place = tempfile::tempdir().expect("a directory");
    let mut recorder = Recorder::create(&place.path().join("run"), &sample::manifest()).expect("created");
    let error = recorder.phase_finished(&sample::phase("seq", 0, Phase::Write, 1)).expect_err("refused");
    assert!(matches!(error, RecordError::NoSuchCase { .. }), "{error}");
}

#[test]
fn every_table_leads_with_the_key_and_ends_names_with_units() {
    fn check<R: Row>() {
        let names: Vec<_> = R::COLUMNS.iter().map(|column| column.name).collect();
        assert_eq!(names[..3], ["case", "repetition", "phase"], "{}", R::TABLE);
    }
    check::<record::PhaseRow>();
    check::<TaskRow>();
    check::<record::LatencyRow>();
    check::<record::SeriesRow>();
    check::<record::NodeSeriesRow>();
    check::<record::DeviceRow>();
    check::<record::HistoryRow>();
    check::<record::PrintedRow>();
    check::<record::EndRow>();
    check::<record::LaunchRow>();
    check::<record::StepRow>();
    check::<record::SpaceRow>();
    check::<record::WarningRow>();
}
