//! Cases that run at the same time.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use comm::Fake;
use engine::Controls;
use plan::{Bytes, Case, Concurrent, Keep, Nanos, Order, Phase, Sharing, Spread, Tree, WorkloadSpec};
use record::{PhaseRow, Recorder, Run, RunState};
use runner::{EarlierStart, ErrorKind, Event, PlanExecution, Silent, Watch};

use crate::many::live_with;
use crate::place::{Place, case, spec};

/// Three cases at the same time: a writes, b and c read at random from files of their own; c begins later. They are preceded
/// by one that runs alone.
fn cases(place: &Place, tasks: u32) -> Vec<Case> {
    cases_of(place, tasks, 600)
}

/// The same, but c begins so many milliseconds later.
fn cases_of(place: &Place, tasks: u32, later: u64) -> Vec<Case> {
    let make = |id: &str, phase: Phase, start: u64| {
        let mut own = spec(&place.data().join(format!("file-{id}")));
        (own.tasks, own.files.sharing) = (tasks, Sharing::PerTask);
        own.duration = Some(Nanos::millis(1500));
        own.spread = Spread::Ranks { tasks_per_rank: 1 };
        if phase == Phase::Read {
            own.files.fill = true;
            own.order = Order::Random { seed: 1 };
        }
        let concurrent =
            Concurrent { name: "all".into(), alone: "alone".into(), start: Nanos::millis(start) };
        Case { repetitions: 3, concurrent: Some(concurrent), ..case(id, own, &[phase]) }
    };
    vec![
        case("alone", spec(&place.file()), &[Phase::Write]),
        make("a", Phase::Write, 0),
        make("b", Phase::Read, 0),
        make("c", Phase::Read, later),
    ]
}

/// The rows of the result phases, by repetition and case.
fn rows(run: &Run) -> HashMap<(u32, String), PhaseRow> {
    let results = run.all_phases().filter(|row| row.key.phase.is_result() && &*row.key.case != "alone");
    results.map(|row| ((row.key.repetition, row.key.case.to_string()), row.clone())).collect()
}

/// When the transfers of a phase began and ended, in nanoseconds.
fn span(row: &PhaseRow) -> (i64, i64) {
    let wall = i64::try_from(row.wall_ns).expect("short");
    (row.started_unix_ns, row.started_unix_ns + wall)
}

/// Asserts that all passes of all cases are there, and that those of the same number ran at the same time.
fn ran_together(run: &Run) {
    let rows = rows(run);
    assert_eq!(rows.len(), 9, "{:?}", rows.keys());
    for pass in 0..3 {
        let [a, b, c] = ["a", "b", "c"].map(|id| span(&rows[&(pass, id.to_owned())]));
        let begun_last = a.0.max(b.0).max(c.0);
        let ended_first = a.1.min(b.1).min(c.1);
        assert!(begun_last < ended_first, "pass {pass}: {a:?} {b:?} {c:?}");
        let later = c.0 - a.0.max(b.0);
        assert!(later >= 300_000_000, "pass {pass}: c began {later} ns later");
        assert!((a.0 - b.0).abs() < 300_000_000, "pass {pass}: {a:?} {b:?}");
    }
}

#[derive(Default)]
struct Seen {
    begun: Vec<(String, u32)>,
    finished: Vec<String>,
    failed: Vec<String>,
    stop_in: Option<(&'static str, u32)>,
}

impl Watch for Seen {
    fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::PhaseStarted { case, repetition, phase, controls, .. } if phase.is_result() => {
                self.begun.push((case.id.clone(), *repetition));
                if self.stop_in == Some((case.id.as_str(), *repetition)) {
                    controls.stop();
                }
            }
            Event::CaseFinished(case) => self.finished.push(case.id.clone()),
            Event::CaseFailed { case, .. } => self.failed.push(case.id.clone()),
            _ => {}
        }
    }
}

#[test]
fn phases_run_at_the_same_time_and_each_case_has_its_rows() {
    let place = Place::new();
    let checked = place.check(cases(&place, 1)).expect("runs here");
    let mut seen = Seen::default();
    let (ended, run) = place.live(&checked, &mut seen, Arc::new(Controls::new()));
    assert!(ended.failed.is_none(), "{ended:?}");
    ran_together(&run);
    let written = rows(&run).values().map(|row| row.writes).max();
    assert_eq!(Some(ended.most_transfers), written, "of the case that writes");
    assert_eq!(seen.finished, ["alone", "a", "b", "c"]);
    assert_eq!((run.damage.len(), place.left().len()), (0, 0), "{:?}", place.left());
}

#[test]
fn on_several_ranks_all_begin_together() {
    let place = Place::new();
    let plan = place.plan(cases(&place, 3));
    let world = Fake::world(&["n1", "n2", "n2"]);
    let lived = live_with(&place, world, None, plan, EarlierStart::default(), &mut Silent);
    let (ended, run, _) = lived.expect("runs here");
    let ended = ended.expect("recorded");
    assert!(ended.failed.is_none(), "{ended:?}");
    ran_together(&run);
    for ((_, id), row) in rows(&run) {
        let tasks = run.tasks(&row.key.case).iter().filter(|task| task.key == row.key).count();
        assert_eq!(tasks, 3, "{id}");
    }
    assert_eq!(run.clocks.len(), 5, "before the first case, before each pass of the set, and at the end");
    assert!(place.left().is_empty(), "{:?}", place.left());
}

#[test]
fn some_ranks_may_have_no_task_of_a_case() {
    let place = Place::new();
    let mut all = cases(&place, 3);
    all[2] = Case { workload: cases(&place, 1)[2].workload.clone(), ..all[2].clone() };
    let world = Fake::world(&["n1", "n2", "n3"]);
    let lived = live_with(&place, world, None, place.plan(all), EarlierStart::default(), &mut Silent);
    let (ended, run, _) = lived.expect("runs here");
    assert!(ended.expect("recorded").failed.is_none());
    ran_together(&run);
}

#[test]
fn a_failure_of_one_is_that_of_all_and_nothing_is_left() {
    let place = Place::new();
    let mut all = cases(&place, 1);
    fs::create_dir(place.data().join("gone")).expect("made");
    let mut lost = spec(&place.data().join("gone/file"));
    lost.duration = Some(Nanos::secs(60));
    all[1].workload = lost.validate().expect("valid");
    let checked = place.check(all).expect("runs here");
    struct Remove<'a>(&'a Place, Seen);
    impl Watch for Remove<'_> {
        fn event(&mut self, event: &Event<'_>) {
            if matches!(event, Event::CaseStarted { case, .. } if case.id == "a") {
                fs::remove_dir_all(self.0.data().join("gone")).expect("removed");
            }
            self.1.event(event);
        }
    }
    let mut watch = Remove(&place, Seen::default());
    let (ended, run) = place.live(&checked, &mut watch, Arc::new(Controls::new()));
    let (message, _) = ended.failed.expect("one has failed");
    assert!(message.contains("gone"), "{message}");
    assert_eq!((watch.1.finished.as_slice(), watch.1.failed.len()), (&["alone".to_owned()][..], 3));
    assert_eq!(rows(&run).len(), 0);
    assert!(place.left().is_empty(), "{:?}", place.left());
}

/// Resumes the run of [`cases`], in which these are finished.
fn resumed(place: &Place, finished: &[&str]) -> Seen {
    let (recorder, resumed) =
        Recorder::resume(&place.directory.path().join("record")).expect("it was not complete");
    assert_eq!(resumed.finished, finished);
    let earlier =
        EarlierStart { finished: resumed.finished.into_iter().collect(), ..EarlierStart::default() };
    let checked = place.check_again(cases(place, 1), earlier).expect("runs here");
    let mut seen = Seen::default();
    let solo = comm::Solo::new("here");
    let life = PlanExecution::new(&place.host, &solo, recorder, &mut seen, Arc::new(Controls::new()));
    let ended = life.run(&checked).expect("recorded");
    assert!(ended.failed.is_none(), "{ended:?}");
    seen
}

#[test]
fn a_resumed_run_goes_on_after_the_last_pass_that_all_have() {
    let place = Place::new();
    let checked = place.check(cases(&place, 1)).expect("runs here");
    let mut seen = Seen { stop_in: Some(("c", 2)), ..Seen::default() };
    let (ended, run) = place.live(&checked, &mut seen, Arc::new(Controls::new()));
    assert!(ended.interrupted && place.left().is_empty(), "{ended:?} {:?}", place.left());
    assert_eq!((&run.state, rows(&run).len()), (&RunState::Interrupted, 6));

    let record = place.directory.path().join("record");
    let seen = resumed(&place, &["alone"]);
    // The last phase before a stop may be incomplete, so its pass is repeated.
    let passes: Vec<u32> = seen.begun.iter().filter(|(id, _)| id == "b").map(|(_, pass)| *pass).collect();
    assert_eq!(passes, [1, 2]);
    let run = Run::open(&record).expect("whole");
    assert_eq!((&run.state, run.damage.len()), (&RunState::Complete, 0));
    ran_together(&run);
}

#[test]
fn files_and_trees_at_the_same_time_need_the_space_of_both() {
    let place = Place::new();
    let free = place.host.file_system_of(&place.data()).expect("known").free_bytes;
    let mut file = spec(&place.file());
    file.geometry.block = Bytes((free / 10 * 6).next_multiple_of(file.geometry.transfer.0));
    file.geometry.segments = 1;
    let mut trees = spec(&place.data().join("trees"));
    let each = Bytes::mib(64);
    trees.work = Tree { write_bytes: each, ..Tree::flat(free / 10 * 6 / each.0) }.into();
    let trees = case("trees", trees, &[Phase::TreeCreate, Phase::FileCreate]);
    let mut all = vec![case("file", file, &[Phase::Write]), trees];
    place.check(all.clone()).expect("one after the other they fit");
    for case in &mut all {
        let (name, alone, start) = ("set".to_owned(), case.id.clone(), Nanos(0));
        case.concurrent = Some(Concurrent { name, alone, start });
    }
    let error = place.check(all).expect_err("not at the same time");
    assert_eq!(error.kind(), ErrorKind::HostLacks, "{error}");
}

#[test]
fn two_names_of_one_file_are_refused() {
    let place = Place::new();
    std::os::unix::fs::symlink(place.data(), place.data().join("link")).expect("a link");
    let mut all = cases(&place, 1);
    let mut other = WorkloadSpec::from(all[2].workload.clone());
    other.files.targets = vec![place.data().join("link/file-a")];
    all[2].workload = other.validate().expect("valid");
    let error = place.check(all).expect_err("a writes to the file of b").to_string();
    assert!(error.contains("link/file-a") && error.contains("which a uses at the same time"), "{error}");
}

/// Writes over a part of a file when the tasks of a case are about to read it.
struct Spoil(PathBuf);

impl Watch for Spoil {
    fn event(&mut self, event: &Event<'_>) {
        if matches!(event, Event::PhaseStarted { case, phase: Phase::Read, .. } if case.id == "b") {
            let file = fs::OpenOptions::new().write(true).open(&self.0).expect("it is there");
            file.write_all_at(b"oops", 5000).expect("writable");
        }
    }
}

#[test]
fn files_with_wrong_data_stay_where_the_study_wants_it() {
    let place = Place::new();
    let mut all = cases(&place, 1);
    let mut verified = WorkloadSpec::from(all[2].workload.clone());
    (verified.verify, verified.files.keep) = (true, Keep::OnError);
    all[2].workload = verified.validate().expect("valid");
    let checked = place.check(all).expect("runs here");
    let mut spoil = Spoil(place.data().join("file-b.00000000"));
    let (ended, _) = place.live(&checked, &mut spoil, Arc::new(Controls::new()));
    assert!(ended.failed.is_none() && ended.wrong_cells > 0, "{ended:?}");
    assert_eq!(place.left(), ["file-b.00000000"]);
}

#[test]
fn a_stop_does_not_wait_for_what_begins_later() {
    let place = Place::new();
    let mut all = cases_of(&place, 1, 600_000);
    all[1].workload =
        WorkloadSpec { duration: None, ..all[1].workload.clone().into() }.validate().expect("valid");
    let checked = place.check(all).expect("runs here");
    let mut seen = Seen { stop_in: Some(("c", 0)), ..Seen::default() };
    let before = Instant::now();
    let (ended, run) = place.live(&checked, &mut seen, Arc::new(Controls::new()));
    assert!(ended.interrupted && before.elapsed() < Duration::from_secs(300), "{:?}", before.elapsed());
    assert_eq!((rows(&run).len(), place.left().len()), (0, 0));
}

/// Ends the record of [`cases`] as if the run had been killed when one of three cases was finished in it, and the others
/// were not. Of the lines of the journal until then, those are kept that `change` returns.
fn killed(place: &Place, change: impl Fn(&str) -> String) {
    let checked = place.check(cases(place, 1)).expect("runs here");
    let (ended, _) = place.live(&checked, &mut Silent, Arc::new(Controls::new()));
    assert!(ended.failed.is_none(), "{ended:?}");
    let record = place.directory.path().join("record");
    let journal = fs::read_to_string(record.join("journal.jsonl")).expect("it is there");
    let ends_a = |line: &str| line.contains("case-finished") && line.contains("\"a\"");
    let last = journal.lines().position(ends_a).expect("it was finished");
    let kept: String = journal.lines().take(last + 1).map(|line| format!("{}\n", change(line))).collect();
    fs::write(record.join("journal.jsonl"), kept).expect("writable");
    for entry in fs::read_dir(&record).expect("readable") {
        let path = entry.expect("readable").path();
        if path.is_dir() {
            fs::remove_dir_all(path).expect("removable");
        }
    }
}

#[test]
fn what_is_left_of_a_set_does_not_run_alone() {
    let place = Place::new();
    killed(&place, str::to_owned);
    let seen = resumed(&place, &["alone", "a"]);
    assert_eq!((seen.begun.len(), seen.finished.as_slice()), (0, &["b".to_owned(), "c".to_owned()][..]));
    ran_together(&Run::open(&place.directory.path().join("record")).expect("whole"));
}

#[test]
fn a_set_of_which_a_pass_is_damaged_is_measured_again() {
    let place = Place::new();
    killed(&place, |line| match line.contains("phase-finished") && line.contains("\"b\"") {
        true => line.replace("\"b\"", "\"d\""),
        false => line.to_owned(),
    });
    let seen = resumed(&place, &["alone"]);
    assert_eq!((seen.begun.len(), seen.finished.as_slice()), (9, &["a", "b", "c"].map(str::to_owned)[..]));
    ran_together(&Run::open(&place.directory.path().join("record")).expect("whole"));
}
