//! Directory trees: they are created, used and removed, whatever happens in the meantime.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use comm::Fake;
use engine::Controls;
use plan::{Bytes, Case, Existing, Keep, Nanos, Objects, Phase, Stonewall, Tree, Work, WorkloadSpec};
use record::{Run, RunState, TargetClaim, Warning};
use runner::{EarlierStart, ErrorKind, Event, RunSummary, RunnerError, Silent, Watch};

use crate::many::live_with;
use crate::place::{Place, case, spec};

const ALL: [Phase; 5] =
    [Phase::TreeCreate, Phase::FileCreate, Phase::FileStat, Phase::FileRemove, Phase::TreeRemove];
const MADE: [Phase; 2] = [Phase::TreeCreate, Phase::FileCreate];

fn tree_spec(target: &Path, tasks: u32, tree: Tree) -> WorkloadSpec {
    let mut spec = spec(target);
    (spec.tasks, spec.work) = (tasks, Work::Tree(tree));
    spec
}

/// A small tree with two levels, one tree per task.
fn small() -> Tree {
    Tree { depth: 1, branching: 2, own_trees: true, write_bytes: Bytes(100), ..Tree::flat(10) }
}

fn root(place: &Place) -> PathBuf {
    place.data().join("test-dir.0-0")
}

fn items(run: &Run, phase: Phase) -> u64 {
    run.all_phases().filter(|row| row.key.phase == phase).map(|row| row.items).sum()
}

#[test]
fn a_tree_is_made_looked_at_and_gone() {
    let place = Place::new();
    let (ended, run) = place.run(vec![case("a", tree_spec(&place.data(), 2, small()), &ALL)]);
    assert!(ended.failed.is_none() && ended.left_behind.is_none(), "{ended:?}");
    assert_eq!((ended.surprises, &run.state), (0, &RunState::Complete));
    let counts = ALL.map(|phase| items(&run, phase));
    assert_eq!(counts, [6, 60, 60, 60, 6]);
    assert!(place.left().is_empty(), "{:?}", place.left());
}

#[test]
fn a_tree_that_no_phase_removes_goes_at_the_end() {
    let place = Place::new();
    for own_trees in [true, false] {
        let tree = Tree { own_trees, ..small() };
        let mut case = case("a", tree_spec(&place.data(), 2, tree), &MADE);
        case.repetitions = 3;
        let (ended, run) = place.run(vec![case]);
        assert!(ended.failed.is_none() && ended.left_behind.is_none(), "{ended:?}");
        assert_eq!((ended.surprises, run.all_phases().count()), (0, 6));
        assert!(place.left().is_empty(), "{:?}", place.left());
        place.forget_record();
    }
}

#[test]
fn passes_with_trees_of_their_own_are_all_removed() {
    let place = Place::new();
    let mut spec = tree_spec(&place.data(), 1, small());
    spec.files.file_per_repetition = true;
    let mut case = case("a", spec, &MADE);
    case.repetitions = 2;
    let (ended, _) = place.run(vec![case]);
    assert!(ended.failed.is_none() && ended.surprises == 0, "{ended:?}");
    assert!(place.left().is_empty(), "{:?}", place.left());
}

#[test]
fn a_kept_tree_is_worked_on_by_a_later_run() {
    let place = Place::new();
    let mut spec = tree_spec(&place.data(), 2, small());
    spec.files.keep = Keep::Always;
    place.run(vec![case("make", spec.clone(), &MADE)]);
    assert_eq!(place.left(), ["test-dir.0-0"]);
    place.forget_record();
    let (ended, run) = place.run(vec![case("look", spec.clone(), &[Phase::FileStat, Phase::FileRead])]);
    assert!(ended.failed.is_none() && ended.surprises == 0, "{ended:?}");
    assert_eq!((items(&run, Phase::FileStat), items(&run, Phase::FileRead)), (60, 60));
    assert_eq!(place.left(), ["test-dir.0-0"], "who only looks removes nothing");
    place.forget_record();
    let error = place.check(vec![case("make", spec.clone(), &MADE)]).expect_err("it is in the way");
    let text = error.to_string();
    assert!(text.contains("test-dir.0-0") && text.contains("earlier run"), "{text}");
    assert!(text.contains("created by a run that keeps its files"), "{text}");
    assert_eq!(error.kind(), ErrorKind::Refused);
    let (ended, _) = place.run(vec![case("remove", spec, &[Phase::FileRemove, Phase::TreeRemove])]);
    assert!(ended.failed.is_none() && ended.surprises == 0, "{ended:?}");
    assert!(place.left().is_empty(), "{:?}", place.left());
}

#[test]
fn looking_at_a_tree_that_is_not_there_is_refused_with_the_next_step() {
    let place = Place::new();
    let error = place
        .check(vec![case("look", tree_spec(&place.data(), 1, small()), &[Phase::FileStat])])
        .expect_err("nothing is there");
    let text = error.to_string();
    assert!(
        text.contains("does not exist") && text.contains("file-stat") && text.contains("create them"),
        "{text}"
    );
}

#[test]
fn cases_that_follow_each_other_have_the_tree_that_they_need() {
    let place = Place::new();
    let spec = tree_spec(&place.data(), 1, small());
    let (make, look) = (case("make", spec.clone(), &MADE), case("look", spec.clone(), &[Phase::FileStat]));
    let (ended, run) = place.run(vec![make.clone(), look.clone()]);
    assert!(ended.failed.is_none() && ended.surprises == 0, "{ended:?}");
    assert_eq!(items(&run, Phase::FileStat), 30);
    assert!(place.left().is_empty(), "{:?}", place.left());
    place.forget_record();
    let gone = case("gone", spec, &ALL);
    let error = place.check(vec![gone, look]).expect_err("the first has removed it");
    assert!(error.to_string().contains("does not exist"), "{error}");
}

#[test]
fn a_directory_that_is_missing_is_made_and_removed() {
    let place = Place::new();
    let target = place.data().join("new");
    let (ended, _) = place.run(vec![case("a", tree_spec(&target, 1, small()), &ALL)]);
    assert!(ended.failed.is_none() && ended.left_behind.is_none(), "{ended:?}");
    assert!(place.left().is_empty(), "{:?}", place.left());
    let deeper = place.data().join("not/there");
    place.check(vec![case("a", tree_spec(&deeper, 1, small()), &ALL)]).expect_err("two levels are missing");
}

#[test]
fn a_file_as_the_target_of_a_tree_is_refused() {
    let place = Place::new();
    fs::write(place.file(), "x").expect("written");
    let error = place.check(vec![case("a", tree_spec(&place.file(), 1, small()), &ALL)]).expect_err("a file");
    assert!(error.to_string().contains("is not a directory"), "{error}");
}

/// Performs an action when a phase starts or has ended.
struct Meanwhile<F: FnMut(Phase)>(Phase, F);

impl<F: FnMut(Phase)> Watch for Meanwhile<F> {
    fn event(&mut self, event: &Event<'_>) {
        if let Event::PhaseFinished(record) = event
            && record.phase.key.phase == self.0
        {
            (self.1)(self.0);
        }
    }
}

fn meanwhile(place: &Place, case: Case, after: Phase, act: impl FnMut(Phase)) -> (RunSummary, Run) {
    let checked = place.check(vec![case]).expect("runs here");
    place.live(&checked, &mut Meanwhile(after, act), Arc::new(Controls::new()))
}

#[test]
fn what_others_put_into_the_tree_stays_and_is_named() {
    let place = Place::new();
    let notes = root(&place).join("mdtest_tree.0.0/notes.txt");
    let made = case("a", tree_spec(&place.data(), 1, small()), &MADE);
    let (ended, _) = meanwhile(&place, made, Phase::FileCreate, |_| {
        fs::write(&notes, "mine").expect("written");
    });
    let error = ended.left_behind.or(ended.failed.map(|(message, _)| RunnerError::Target {
        path: PathBuf::new(),
        problem: message,
        help: String::new(),
    }));
    let text = error.expect("told").to_string();
    assert!(text.contains("notes.txt") && text.contains("not created by this run"), "{text}");
    assert!(notes.exists());
    let beside: Vec<_> = fs::read_dir(notes.parent().expect("a directory")).expect("there").collect();
    assert_eq!(beside.len(), 1, "everything of ours is gone");
}

#[test]
fn files_that_others_remove_meanwhile_are_counted_and_named() {
    let place = Place::new();
    let victim = root(&place).join("mdtest_tree.0.0/file.mdtest.0.3");
    let whole = case("a", tree_spec(&place.data(), 1, small()), &ALL);
    let (ended, run) = meanwhile(&place, whole, Phase::FileCreate, |_| {
        fs::remove_file(&victim).expect("it was made");
    });
    assert!(ended.failed.is_none(), "{ended:?}");
    assert_eq!(ended.surprises, 2, "missing for stat and for remove");
    let named = run.warnings.iter().any(|row| {
        matches!(&row.warning, Warning::Surprises { count: 1, first } if first[0].contains("file.mdtest.0.3"))
    });
    assert!(named, "{:?}", run.warnings);
    assert!(place.left().is_empty(), "{:?}", place.left());
}

struct StopAfter(Phase);

impl Watch for StopAfter {
    fn event(&mut self, event: &Event<'_>) {
        if let Event::PhaseStarted { phase, controls, .. } = event
            && *phase == self.0
        {
            controls.stop();
        }
    }
}

#[test]
fn a_run_that_is_stopped_leaves_no_tree() {
    let place = Place::new();
    let mut tree = small();
    tree.items_per_directory = 100_000;
    let checked = place.check(vec![case("a", tree_spec(&place.data(), 2, tree), &ALL)]).expect("runs here");
    let (ended, run) = place.live(&checked, &mut StopAfter(Phase::FileCreate), Arc::new(Controls::new()));
    assert!(ended.interrupted && ended.left_behind.is_none(), "{ended:?}");
    assert_eq!(run.state, RunState::Interrupted);
    assert!(place.left().is_empty(), "{:?}", place.left());
}

#[test]
fn after_a_stonewall_later_phases_go_as_far_as_the_owner_of_the_items() {
    let place = Place::new();
    let tree = Tree { shift: 1, random: Some(7), ..Tree::flat(2_000_000) };
    let mut spec = tree_spec(&place.data(), 2, tree);
    spec.stonewall = Some(Stonewall { deadline: Nanos::millis(20), wear_out: false });
    let phases =
        [Phase::TreeCreate, Phase::FileCreate, Phase::FileStat, Phase::FileRemove, Phase::TreeRemove];
    let (ended, run) = place.run(vec![case("a", spec, &phases)]);
    assert!(ended.failed.is_none() && ended.surprises == 0, "{ended:?}");
    let made = items(&run, Phase::FileCreate);
    assert!(made > 0 && made < 4_000_000);
    assert_eq!(items(&run, Phase::FileStat), made);
    assert_eq!(items(&run, Phase::FileRemove), made);
    let of = |phase: Phase| {
        let rows = run.tasks("a");
        let each = rows.iter().filter(|row| row.key.phase == phase);
        each.map(|row| (row.task, row.transfers)).collect::<Vec<_>>()
    };
    let (create, stat) = (of(Phase::FileCreate), of(Phase::FileStat));
    assert_eq!((stat[0].1, stat[1].1), (create[1].1, create[0].1));
    assert!(ended.most_transfers >= create[0].1.max(create[1].1));
    assert!(place.left().is_empty(), "{:?}", place.left());
}

#[test]
fn items_beside_other_things_are_removed_and_the_others_stay() {
    let place = Place::new();
    fs::write(place.file(), "mine").expect("written");
    let tree = Tree { in_target: true, ..Tree::flat(20) };
    let phases = [Phase::TreeCreate, Phase::FileCreate, Phase::FileStat];
    let (ended, run) = place.run(vec![case("a", tree_spec(&place.data(), 1, tree.clone()), &phases)]);
    assert!(ended.failed.is_none() && ended.surprises == 0, "{ended:?}");
    assert_eq!(items(&run, Phase::FileStat), 20);
    assert_eq!(place.left(), ["file"]);
    place.forget_record();
    fs::write(place.data().join("file.mdtest.0.3"), "x").expect("written");
    let error = place
        .check(vec![case("a", tree_spec(&place.data(), 1, tree), &phases)])
        .expect_err("one of these names is taken");
    assert!(error.to_string().contains("file.mdtest.0.3"), "{error}");
}

#[test]
fn an_item_that_is_in_the_way_shortens_no_later_phase() {
    let place = Place::new();
    let mut spec = tree_spec(&place.data(), 1, Tree::flat(10));
    spec.files.existing = Existing::Reuse;
    fs::create_dir_all(root(&place).join("mdtest_tree.0")).expect("made");
    fs::write(root(&place).join("mdtest_tree.0/file.mdtest.0.3"), "").expect("written");
    let (ended, run) = place.run(vec![case("a", spec, &ALL)]);
    assert!(ended.failed.is_none(), "{ended:?}");
    assert_eq!(ended.surprises, 1, "the directory was there; the file is opened, as mdtest opens it");
    let counts = [Phase::FileCreate, Phase::FileStat, Phase::FileRemove].map(|phase| items(&run, phase));
    assert_eq!(counts, [10, 10, 10]);
    assert!(place.left().is_empty(), "{:?}", place.left());
}

/// Two tasks with two object sets each.
fn objects_spec(place: &Place) -> WorkloadSpec {
    let mut spec = spec(&place.data());
    spec.tasks = 2;
    spec.work = Work::Objects(Objects {
        sets: 2,
        precreated: 5,
        steps: 4,
        object_bytes: Bytes(100),
        offset: 1,
        ..Objects::default()
    });
    spec
}

#[test]
fn objects_that_others_remove_shift_nothing_in_later_rounds() {
    let place = Place::new();
    let phases = [Phase::Precreate, Phase::Benchmark, Phase::Benchmark, Phase::Cleanup];
    let root = place.data().join("objects.0-0");
    let mut left = 3;
    let remove = |_| {
        while left > 0 {
            left -= 1;
            fs::remove_file(root.join(format!("0_0/file-{left}"))).expect("an object");
        }
    };
    let case = case("a", objects_spec(&place), &phases);
    let (ended, _) = meanwhile(&place, case, Phase::Precreate, remove);
    assert!(ended.failed.is_none(), "{ended:?}");
    // Their steps create no new objects, so the gap moves from set to set, through both rounds until the removal.
    assert_eq!(ended.surprises, 9);
    assert!(place.left().is_empty(), "{:?}", place.left());
}

#[test]
fn objects_are_made_gone_round_and_removed() {
    let place = Place::new();
    let spec = objects_spec(&place);
    let (precreate, benchmark, cleanup) = (Phase::Precreate, Phase::Benchmark, Phase::Cleanup);
    for phases in [&[precreate, benchmark, benchmark, cleanup][..], &[precreate, benchmark][..]] {
        let (ended, run) = place.run(vec![case("a", spec.clone(), phases)]);
        assert!(ended.failed.is_none() && ended.surprises == 0, "{ended:?}");
        assert!(items(&run, Phase::Precreate) >= 20, "{:?}", run.all_phases().collect::<Vec<_>>());
        assert!(place.left().is_empty(), "{:?}", place.left());
        place.forget_record();
    }
}

/// Simulates a run that was killed in the middle of a tree.
fn killed(place: &Place, run_id: &str) {
    let mut child = Command::new("true").spawn().expect("a process");
    let pid = child.id();
    child.wait().expect("ended");
    let claim = TargetClaim::new(run_id, Path::new("/runs/1"), 0, Keep::Never, "here").expect("a claim");
    let claim = TargetClaim { pid, ..claim }.with_trees(&[(root(place), false)]);
    drop(claim.place(&[place.data()], &[], &[]).expect("placed"));
    fs::create_dir_all(root(place).join("mdtest_tree.0")).expect("made");
    fs::write(root(place).join("mdtest_tree.0/file.mdtest.0.0"), "x").expect("made");
}

#[test]
fn the_tree_of_a_killed_start_is_removed_by_the_next_start_of_that_run() {
    let place = Place::new();
    let (own, another) = (crate::place::RUN_ID, "another");
    killed(&place, another);
    let case = case("a", tree_spec(&place.data(), 1, small()), &ALL);
    let error = place.check(vec![case.clone()]).expect_err("it is another run's");
    let text = error.to_string();
    assert!(text.contains("run another has claimed it: `ioproof clean "), "{text}");
    record::leftovers(&place.data()).expect("readable")[0].remove().expect("removed");
    killed(&place, own);
    let (ended, _) = place.run(vec![case]);
    assert!(ended.failed.is_none() && ended.surprises == 0, "{ended:?}");
    assert!(place.left().is_empty(), "{:?}", place.left());
}

#[test]
fn more_items_than_inodes_are_refused_before_the_start() {
    let place = Place::new();
    let tree = Tree::flat(1 << 22);
    let device = match testbed::Testbed::available() {
        Ok(()) => {
            testbed::LoopDevice::builder().bytes(16 << 20).file_system(testbed::FileSystem::Ext4).build()
        }
        Err(reason) => {
            testbed::skipped(Err(reason));
            return;
        }
    };
    let device = device.expect("a small file system");
    let target = device.mount_point().expect("mounted");
    let error = place.check(vec![case("a", tree_spec(target, 1, tree), &ALL)]).expect_err("too many");
    assert!(error.to_string().contains("inodes"), "{error}");
    assert_eq!(error.kind(), ErrorKind::HostLacks);
}

#[test]
fn ranks_make_and_remove_what_is_theirs() {
    for own_trees in [true, false] {
        for phases in [&ALL[..], &MADE[..]] {
            let place = Place::new();
            let tree = Tree { own_trees, shift: 2, ..small() };
            let mut spec = tree_spec(&place.data(), 4, tree);
            spec.nodes = 2;
            let plan = place.plan(vec![case("c", spec, phases)]);
            let world = Fake::world(&["a", "b", "a", "b"]);
            let lived = live_with(&place, world, None, plan, EarlierStart::default(), &mut Silent);
            let (ended, run, _) = lived.expect("runs here");
            let ended = ended.expect("the record can be written");
            assert!(ended.failed.is_none() && ended.left_behind.is_none(), "{ended:?}");
            assert_eq!(ended.surprises, 0);
            assert_eq!(items(&run, Phase::FileCreate), 4 * 30);
            assert!(place.left().is_empty(), "{:?}", place.left());
        }
    }
}

#[test]
fn what_is_there_may_be_used_again_and_then_stays() {
    let place = Place::new();
    fs::create_dir(root(&place)).expect("made");
    let mut spec = tree_spec(&place.data(), 1, small());
    spec.files.existing = Existing::Reuse;
    let (ended, _) = place.run(vec![case("a", spec, &[Phase::TreeCreate, Phase::FileCreate])]);
    assert!(ended.failed.is_none(), "{ended:?}");
    assert_eq!(place.left(), ["test-dir.0-0"], "it was there before");
}
