//! Resumed runs.

use std::collections::BTreeSet;
use std::fs;
use std::sync::Arc;

use comm::Solo;
use engine::Controls;
use plan::{Case, Existing, Keep, Phase, Sharing};
use record::{Run, TargetClaim, Warning};
use runner::{EarlierStart, ErrorKind, Event, PlanExecution, Silent, Watch};

use crate::place::{Place, RUN_ID, case, spec};

fn finished(ids: &[&str]) -> EarlierStart {
    EarlierStart { finished: ids.iter().map(|id| (*id).to_owned()).collect(), places: Vec::new() }
}

/// The case and phase of every row.
fn rows(run: &Run) -> Vec<(String, Phase)> {
    run.all_phases().map(|row| (row.key.case.to_string(), row.key.phase)).collect()
}

/// Counts the reported cases.
#[derive(Default)]
struct Told {
    started: Vec<String>,
    skipped: Vec<String>,
}

impl Watch for Told {
    fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::CaseStarted { case, .. } => self.started.push(case.id.clone()),
            Event::CaseSkipped { case, .. } => self.skipped.push(case.id.clone()),
            _ => {}
        }
    }
}

#[test]
fn finished_cases_are_skipped_and_all_others_run_once() {
    let place = Place::new();
    let cases: Vec<Case> =
        ["a", "b", "c", "d"].map(|id| case(id, spec(&place.file()), &[Phase::Write])).to_vec();
    let checked = place.check_again(cases, finished(&["a", "c"])).expect("runs here");
    let mut told = Told::default();
    let (ended, run) = place.live(&checked, &mut told, Arc::new(Controls::new()));
    assert!(ended.failed.is_none(), "{ended:?}");
    assert_eq!(rows(&run), [("b".to_owned(), Phase::Write), ("d".to_owned(), Phase::Write)]);
    assert_eq!((told.started, told.skipped), (vec!["b".into(), "d".into()], vec!["a".into(), "c".into()]));
}

#[test]
fn data_of_a_skipped_case_is_written_again_for_the_case_that_reads_it() {
    let place = Place::new();
    let mut write = spec(&place.file());
    (write.tasks, write.files.sharing) = (3, Sharing::PerTask);
    let mut read = write.clone();
    read.verify = true;
    let cases = vec![case("write", write, &[Phase::Write]), case("read", read, &[Phase::Read])];
    let checked = place.check_again(cases, finished(&["write"])).expect("runs here");
    let (ended, run) = place.live(&checked, &mut Silent, Arc::new(Controls::new()));
    assert!(ended.failed.is_none(), "{ended:?}");
    assert_eq!(rows(&run), [("read".to_owned(), Phase::Fill), ("read".to_owned(), Phase::Read)]);
    assert_eq!(ended.wrong_cells, 0, "it is the data that the skipped case had written");
    assert!(place.left().is_empty(), "{:?}", place.left());
}

#[test]
fn a_case_that_writes_over_the_files_of_a_skipped_one_finds_them_again() {
    let place = Place::new();
    let first = case("first", spec(&place.file()), &[Phase::Write]);
    let mut over = spec(&place.file());
    over.files.existing = Existing::Reuse;
    let cases = vec![first, case("over", over, &[Phase::Write])];
    let checked = place.check_again(cases, finished(&["first"])).expect("runs here");
    let (ended, run) = place.live(&checked, &mut Silent, Arc::new(Controls::new()));
    assert!(ended.failed.is_none(), "{ended:?}");
    assert_eq!(rows(&run), [("over".to_owned(), Phase::Fill), ("over".to_owned(), Phase::Write)]);
}

#[test]
fn files_that_were_kept_are_not_written_again() {
    let place = Place::new();
    let mut write = spec(&place.file());
    write.files.keep = Keep::Always;
    let mut read = write.clone();
    read.verify = true;
    let cases =
        || vec![case("write", write.clone(), &[Phase::Write]), case("read", read.clone(), &[Phase::Read])];
    place.run(vec![cases().swap_remove(0)]);
    place.forget_record();
    let checked = place.check_again(cases(), finished(&["write"])).expect("runs here");
    let (ended, run) = place.live(&checked, &mut Silent, Arc::new(Controls::new()));
    assert_eq!((ended.failed, ended.wrong_cells), (None, 0));
    assert_eq!(rows(&run), [("read".to_owned(), Phase::Read)]);
}

#[test]
fn what_a_killed_start_of_the_same_run_left_is_removed_first() {
    let place = Place::new();
    let mut claim = TargetClaim::new(RUN_ID, place.directory.path(), 0, Keep::Never, "node1").expect("Linux");
    claim.files = vec![record::ClaimedFile { path: "file".into(), ..record::ClaimedFile::default() }];
    claim.process_start_ticks += 1; // Another process had this number.
    let text = serde_json::to_vec(&claim).expect("only names and numbers");
    fs::write(place.data().join(format!(".ioproof-claim-{RUN_ID}.json")), text).expect("can be written");
    fs::write(place.file(), "a torn half").expect("can be written");
    let cases = vec![case("a", spec(&place.file()), &[Phase::Write])];
    let checked = place.check_again(cases, EarlierStart::default()).expect("runs here");
    assert_eq!((checked.own_leftovers.len(), checked.leftovers.len()), (1, 0));
    let (ended, _) = place.live(&checked, &mut Silent, Arc::new(Controls::new()));
    assert!(ended.failed.is_none(), "{ended:?}");
    assert!(place.left().is_empty(), "neither file nor claim: {:?}", place.left());
}

#[test]
fn a_run_that_goes_on_is_not_taken_up() {
    let place = Place::new();
    let claim = TargetClaim::new(RUN_ID, place.directory.path(), 0, Keep::Never, "node1").expect("Linux");
    let placed = claim.place(&[place.data()], &[place.file()], &[]).expect("can be written");
    let cases = vec![case("a", spec(&place.file()), &[Phase::Write])];
    let error = place.check_again(cases, EarlierStart::default()).expect_err("this process lives");
    assert!(error.to_string().contains("in use by run"), "{error}");
    assert_eq!(error.kind(), ErrorKind::Refused);
    placed.withdraw().expect("own");
}

#[test]
fn a_run_whose_files_another_has_claimed_meanwhile_leaves_no_record() {
    let place = Place::new();
    let checked = place.check(vec![case("a", spec(&place.file()), &[Phase::Write])]).expect("runs here");
    let claim = TargetClaim::new("another", place.directory.path(), 0, Keep::Never, "node1").expect("Linux");
    let placed = claim.place(&[place.data()], &[place.file()], &[]).expect("can be written");
    let recorder = place.recorder(&checked);
    let (comm, mut watch) = (Solo::new("here"), Silent);
    let run = PlanExecution::new(&place.host, &comm, recorder, &mut watch, Arc::new(Controls::new()));
    let error = run.run(&checked).expect_err("this process lives");
    assert_eq!(error.kind(), ErrorKind::Refused, "{error}");
    assert!(!place.directory.path().join("record").exists(), "nothing was measured");
    placed.withdraw().expect("own");
    assert!(place.left().is_empty(), "its own claim is gone: {:?}", place.left());
}

#[test]
fn figures_of_two_nodes_are_marked() {
    let place = Place::new();
    let cases = || vec![case("a", spec(&place.file()), &[Phase::Write])];
    let earlier = |node: &str, ranks| EarlierStart {
        finished: BTreeSet::new(),
        places: vec![(node.to_owned(), ranks)],
    };
    let moved = |checked: &runner::Checked| {
        let warnings = checked.warnings.iter();
        warnings.filter(|row| matches!(row.warning, Warning::ResumedElsewhere { .. })).count()
    };
    let checked = place.check_again(cases(), earlier("another", 1)).expect("runs here");
    assert_eq!(moved(&checked), 1);
    let here = checked.facts.node.clone();
    assert_eq!(moved(&place.check_again(cases(), earlier(&here, 2)).expect("runs here")), 1);
    assert_eq!(moved(&place.check_again(cases(), earlier(&here, 1)).expect("runs here")), 0);
}

#[test]
fn an_interrupted_case_is_not_called_finished() {
    /// Stops the run in the first phase of the second case.
    struct StopInSecond;
    impl Watch for StopInSecond {
        fn event(&mut self, event: &Event<'_>) {
            if let Event::PhaseStarted { case, controls, .. } = event
                && case.id == "b"
            {
                controls.stop();
            }
        }
    }
    let place = Place::new();
    let cases = ["a", "b", "c"].map(|id| case(id, spec(&place.file()), &[Phase::Write])).to_vec();
    let checked = place.check(cases).expect("runs here");
    let (ended, _) = place.live(&checked, &mut StopInSecond, Arc::new(Controls::new()));
    assert!(ended.interrupted);
    let journal = fs::read_to_string(place.directory.path().join("record/journal.jsonl")).expect("a record");
    let ends: Vec<&str> = journal.lines().filter(|line| line.contains("\"case-finished\"")).collect();
    assert!(matches!(ends[..], [end] if end.contains("\"a\"")), "{ends:?}");
}
