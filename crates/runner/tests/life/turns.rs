//! Cases that alternate, pass by pass.

use std::sync::Arc;

use engine::Controls;
use plan::{Case, Existing, Phase, Protocol, Stopping};
use record::{Recorder, Run, RunState};
use runner::{EarlierStart, Event, PlanExecution, Watch};

use crate::place::{Place, case, spec};

/// Records each phase that begins, and stops the run in one of them.
#[derive(Default)]
struct Order {
    begun: Vec<(String, u32)>,
    finished: Vec<String>,
    stop_in: Option<(&'static str, u32)>,
}

impl Watch for Order {
    fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::PhaseStarted { case, repetition, phase: Phase::Write, controls, .. } => {
                self.begun.push((case.id.clone(), *repetition));
                if self.stop_in == Some((case.id.as_str(), *repetition)) {
                    controls.stop();
                }
            }
            Event::CaseFinished(case) => self.finished.push(case.id.clone()),
            _ => {}
        }
    }
}

/// Two cases that alternate on one file, followed by a third.
fn cases(place: &Place) -> Vec<Case> {
    let mut over = spec(&place.file());
    over.files.existing = Existing::Reuse;
    let all = ["a", "b", "c"].map(|id| case(id, over.clone(), &[Phase::Write]));
    all.map(|case| Case { repetitions: 3, in_turn: case.id == "b", ..case }).to_vec()
}

fn begun(all: &[(&str, u32)]) -> Vec<(String, u32)> {
    all.iter().map(|(case, pass)| ((*case).to_owned(), *pass)).collect()
}

/// The case and pass of every write, in the order of the record.
fn written(run: &Run) -> Vec<(String, u32)> {
    let writes = run.all_phases().filter(|row| row.key.phase == Phase::Write);
    writes.map(|row| (row.key.case.to_string(), row.key.repetition)).collect()
}

const WHOLE: [(&str, u32); 9] =
    [("a", 0), ("a", 1), ("a", 2), ("b", 0), ("b", 1), ("b", 2), ("c", 0), ("c", 1), ("c", 2)];

#[test]
fn passes_come_in_turn_and_the_record_has_them_case_by_case() {
    let place = Place::new();
    let checked = place.check(cases(&place)).expect("runs here");
    let mut order = Order::default();
    let (ended, run) = place.live(&checked, &mut order, Arc::new(Controls::new()));
    assert!(ended.failed.is_none(), "{ended:?}");
    let turns = [("a", 0), ("b", 0), ("b", 1), ("a", 1), ("a", 2), ("b", 2), ("c", 0), ("c", 1), ("c", 2)];
    assert_eq!(order.begun, begun(&turns));
    assert_eq!(order.finished, ["a", "b", "c"]);
    assert_eq!(written(&run), begun(&WHOLE));
    assert_eq!((run.damage.len(), place.left().len()), (0, 0), "{:?}", place.left());
}

#[test]
fn a_run_that_was_stopped_between_turns_keeps_whole_passes() {
    let place = Place::new();
    let checked = place.check(cases(&place)).expect("runs here");
    let mut order = Order { stop_in: Some(("a", 1)), ..Order::default() };
    let (ended, run) = place.live(&checked, &mut order, Arc::new(Controls::new()));
    assert!(ended.interrupted && place.left().is_empty(), "{ended:?} {:?}", place.left());
    assert_eq!(run.state, RunState::Interrupted);

    let (recorder, resumed) = Recorder::resume(&place.directory.path().join("record")).expect("resumed");
    assert_eq!(resumed.finished, [""; 0]);
    let checked = place.check_again(cases(&place), EarlierStart::default()).expect("runs here");
    let mut order = Order::default();
    let solo = comm::Solo::new("here");
    let life = PlanExecution::new(&place.host, &solo, recorder, &mut order, Arc::new(Controls::new()));
    let ended = life.run(&checked).expect("recorded");
    assert!(ended.failed.is_none(), "{ended:?}");
    // The pass that was interrupted is repeated. Earlier passes are not.
    assert_eq!(order.begun, begun(&[("a", 1), ("a", 2), ("b", 2), ("c", 0), ("c", 1), ("c", 2)]));
    let run = Run::open(&place.directory.path().join("record")).expect("whole");
    assert_eq!(run.state, RunState::Complete);
    assert_eq!((written(&run), run.damage.len()), (begun(&WHOLE), 0));
}

#[test]
fn a_case_that_fails_leaves_the_others_their_turns() {
    let place = Place::new();
    let mut all = cases(&place);
    let mut lost = spec(&place.data().join("gone/file"));
    lost.files.existing = Existing::Reuse;
    std::fs::create_dir(place.data().join("gone")).expect("made");
    all[0] = Case { repetitions: 3, ..case("a", lost, &[Phase::Write]) };
    let checked = place.check(all).expect("runs here");
    struct Remove<'a>(&'a Place, Vec<String>);
    impl Watch for Remove<'_> {
        fn event(&mut self, event: &Event<'_>) {
            match event {
                Event::CaseStarted { case, .. } if case.id == "a" => {
                    std::fs::remove_dir_all(self.0.data().join("gone")).expect("removed");
                }
                Event::CaseFailed { case, .. } => self.1.push(case.id.clone()),
                _ => {}
            }
        }
    }
    let mut watch = Remove(&place, Vec::new());
    let (ended, run) = place.live(&checked, &mut watch, Arc::new(Controls::new()));
    assert!(ended.failed.is_some());
    assert_eq!(watch.1, ["a"]);
    assert_eq!(written(&run), begun(&WHOLE[3..]));
}

#[test]
fn one_that_has_settled_leaves_the_turns() {
    let place = Place::new();
    let mut all = cases(&place);
    all.truncate(2);
    all[0].repetitions = 9;
    // Any values are steady within these limits.
    let stopping = Stopping::Steady { window: 2, excursion: 1e9, slope: 1e9 };
    all[0].protocol = Protocol { stopping, ..Protocol::default() };
    let (ended, run) = place.run(all);
    assert!(ended.failed.is_none(), "{ended:?}");
    assert_eq!(written(&run), begun(&[("a", 0), ("a", 1), ("b", 0), ("b", 1), ("b", 2)]));
}
