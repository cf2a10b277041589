//! Runs of plans on several ranks, which are threads here.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::thread;

use comm::Fake;
use engine::Controls;
use plan::{
    Backend, Bytes, Case, Existing, Geometry, Layer, Nanos, Phase, Plan, ReadFrom, Sharing, Spread,
    Stonewall, TargetDescription,
};
use record::{Run, RunState, Warning};
use runner::{Checked, EarlierStart, ErrorKind, Event, RunSummary, RunnerError, Silent, Watch};

use crate::mortal::Mortal;
use crate::place::{Place, case, spec};

/// The result on rank 0.
pub(crate) type Lived = Result<(Result<RunSummary, RunnerError>, Run, Checked), RunnerError>;

/// Runs `plan` on `world`. If `dies_in` is given, the last rank dies in that phase.
pub(crate) fn live_with(
    place: &Place,
    world: Vec<Fake>,
    dies_in: Option<u32>,
    plan: Plan,
    earlier: EarlierStart,
    watch: &mut (dyn Watch + Send),
) -> Lived {
    live_on(place, world, dies_in, None, plan, earlier, watch)
}

/// Like [`live_with`]. If `other` is given, the last rank has another directory in place of the data directory.
fn live_on(
    place: &Place,
    mut world: Vec<Fake>,
    dies_in: Option<u32>,
    other: Option<&Path>,
    plan: Plan,
    earlier: EarlierStart,
    watch: &mut (dyn Watch + Send),
) -> Lived {
    let first = world.remove(0);
    let last = (dies_in.is_some() || other.is_some()).then(|| world.pop()).flatten();
    let mounted = other.map(|other| (place.data().display().to_string(), other.display().to_string()));
    let last = last.map(|rank| Mortal::new(rank, dies_in.unwrap_or(0), mounted));
    thread::scope(|scope| {
        for rank in world {
            scope.spawn(move || {
                let followed = runner::follow(&place.host, &rank, Arc::new(Controls::new()));
                assert_eq!(followed.is_err(), dies_in.is_some(), "{followed:?}");
            });
        }
        let died = last.map(|rank| {
            scope.spawn(move || drop(runner::follow(&place.host, &rank, Arc::new(Controls::new()))))
        });
        let lived = place.check_on(&first, plan, earlier).map(|checked| {
            let controls = Arc::new(Controls::new());
            let (ended, run) = place.live_among(&place.host, &first, &checked, watch, controls);
            (ended, run, checked)
        });
        assert_eq!(runner::dismiss(&first).is_err(), dies_in.is_some());
        assert!(died.is_none_or(|died| died.join().is_err() == dies_in.is_some()));
        lived
    })
}

fn live(place: &Place, nodes: &[&str], cases: Vec<Case>) -> (RunSummary, Run) {
    let plan = place.plan(cases);
    let lived = live_with(place, Fake::world(nodes), None, plan, EarlierStart::default(), &mut Silent);
    let (ended, run, _) = lived.expect("runs here");
    (ended.expect("the record can be written"), run)
}

/// Returns why a case cannot run on these nodes.
fn refused(nodes: &[&str], change: impl FnOnce(&mut plan::WorkloadSpec)) -> RunnerError {
    let place = Place::new();
    let mut spec = spec(&place.file());
    change(&mut spec);
    let plan = place.plan(vec![case("too many", spec, &[Phase::Write])]);
    let lived = live_with(&place, Fake::world(nodes), None, plan, EarlierStart::default(), &mut Silent);
    assert!(place.left().is_empty(), "nothing is touched: {:?}", place.left());
    lived.expect_err("refused")
}

fn per_task(file: &Path, tasks: u32, nodes: u32) -> plan::WorkloadSpec {
    let mut spec = spec(file);
    (spec.tasks, spec.nodes, spec.files.sharing) = (tasks, nodes, Sharing::PerTask);
    spec
}

#[test]
fn tasks_on_two_nodes_leave_what_one_process_would() {
    let place = Place::new();
    let spec = per_task(&place.file(), 6, 2);
    let phases = [Phase::Write, Phase::CheckWrite, Phase::Read];
    let (ended, run) = live(&place, &["a", "b", "a", "b"], vec![case("c", spec, &phases)]);
    assert!(ended.failed.is_none() && ended.left_behind.is_none(), "{ended:?}");
    assert_eq!((ended.wrong_cells, &run.state), (0, &RunState::Complete));
    assert_eq!(run.all_phases().count(), 3);
    for row in run.all_phases() {
        assert_eq!((row.bytes(), row.transfers()), (6 * 256 * 1024, 6 * 64));
        assert!(row.first_done_bytes >= 256 * 1024 && row.first_done_bytes <= row.bytes());
    }
    let counted: u64 = run.latency("c").iter().map(|bucket| bucket.count).sum();
    assert_eq!(counted, 3 * 6 * 64, "every transfer has its latency");
    let tasks = run.tasks("c");
    let of_write: Vec<(u32, &str)> = tasks
        .iter()
        .filter(|row| row.key.phase == Phase::Write)
        .map(|row| (row.task, row.node.as_str()))
        .collect();
    assert_eq!(of_write, [(0, "a"), (1, "a"), (2, "a"), (3, "b"), (4, "b"), (5, "b")]);
    let nodes: BTreeSet<String> = run.nodes("c").iter().map(|row| row.node.to_string()).collect();
    assert_eq!(nodes, BTreeSet::from(["a".to_owned(), "b".to_owned()]));
    let bytes: u64 = run.nodes("c").iter().map(|row| row.bytes).sum();
    assert_eq!(bytes, 3 * 6 * 256 * 1024, "the nodes' seconds are all there is");
    let cluster = run.manifest.cluster.as_ref().expect("several ranks");
    let ranks: Vec<&[u32]> = cluster.nodes.iter().map(|node| node.ranks.as_slice()).collect();
    assert_eq!(ranks, [&[0, 2][..], &[1, 3]]);
    assert!(cluster.nodes.iter().all(|node| node.clock_drift_ns.is_some()));
    assert!(place.left().is_empty(), "{:?}", place.left());
}

#[test]
fn one_node_has_no_seconds_of_nodes() {
    let place = Place::new();
    let (ended, run) =
        live(&place, &["a", "a"], vec![case("c", per_task(&place.file(), 4, 1), &[Phase::Write])]);
    assert!(ended.failed.is_none(), "{ended:?}");
    assert!(run.nodes("c").is_empty());
    assert_eq!(run.tasks("c").len(), 4);
}

#[test]
fn a_shared_file_is_written_by_all_and_read_across() {
    let place = Place::new();
    let mut spec = spec(&place.file());
    (spec.tasks, spec.nodes, spec.read_from) = (4, 2, ReadFrom::Shift { tasks: 2 });
    spec.verify = true;
    let (ended, run) = live(&place, &["a", "b"], vec![case("c", spec, &[Phase::Write, Phase::Read])]);
    assert_eq!((ended.failed, ended.wrong_cells), (None, 0));
    assert_eq!(run.all_phases().nth(1).expect("a phase").bytes(), 4 * 256 * 1024);
    assert!(place.left().is_empty(), "{:?}", place.left());
}

#[test]
fn ranks_without_tasks_rest() {
    let place = Place::new();
    let mut spec = per_task(&place.file(), 3, 1);
    spec.spread = Spread::Ranks { tasks_per_rank: 1 };
    let other = per_task(&place.data().join("other"), 2, 1);
    let cases = vec![case("three", spec, &[Phase::Write]), case("two", other, &[Phase::Write])];
    let (ended, run) = live(&place, &["a", "a", "b", "b", "b"], cases);
    assert!(ended.failed.is_none(), "{ended:?}");
    let nodes = |id| run.tasks(id).iter().map(|row| row.node.to_string()).collect::<Vec<_>>();
    assert_eq!(
        (nodes("three"), nodes("two")),
        (vec!["a".into(), "a".into(), "b".into()], vec!["a".to_owned(); 2])
    );
    assert!(place.left().is_empty(), "{:?}", place.left());
}

#[test]
fn files_go_over_to_the_rank_that_has_their_task_in_a_later_case() {
    let place = Place::new();
    let written = per_task(&place.file(), 4, 2);
    let mut read = written.clone();
    (read.nodes, read.verify) = (1, true);
    let mut over = written.clone();
    (over.nodes, over.files.existing) = (1, Existing::Reuse);
    let cases = vec![
        case("write", written, &[Phase::Write]),
        case("read", read, &[Phase::Read]),
        case("over", over, &[Phase::Write]),
    ];
    let (ended, run) = live(&place, &["a", "b"], cases);
    assert_eq!((ended.failed, ended.wrong_cells), (None, 0));
    assert_eq!(run.all_phases().count(), 3);
    assert!(place.left().is_empty(), "whoever made them removes them: {:?}", place.left());
}

#[test]
fn too_few_nodes_or_ranks_are_told_with_the_case() {
    for (error, words) in [
        (refused(&["a", "a"], |spec| (spec.tasks, spec.nodes) = (2, 2)), "2 nodes are requested"),
        (
            refused(&["a", "b"], |spec| {
                (spec.tasks, spec.spread) = (3, Spread::Ranks { tasks_per_rank: 1 });
            }),
            "need 3 processes",
        ),
    ] {
        assert_eq!(error.kind(), ErrorKind::Refused);
        let said = error.to_string();
        assert!(said.starts_with("too many: ") && said.contains(words), "{said}");
    }
}

#[test]
fn a_failure_on_one_rank_ends_the_case_on_all() {
    let place = Place::new();
    // The file of the second rank is a link to a full device, so its first write fails.
    std::os::unix::fs::symlink("/dev/full", place.data().join("file.00000001")).expect("can be made");
    let mut spec = per_task(&place.file(), 2, 2);
    (spec.files.existing, spec.backend) = (Existing::Reuse, Backend::Psync);
    spec.duration = Some(Nanos::secs(600));
    let reading = case("next", per_task(&place.data().join("next"), 2, 2), &[Phase::Write]);
    let plan = place.plan(vec![case("full", spec, &[Phase::Write]), reading]);
    let world = Fake::world(&["a", "b"]);
    let lived = live_with(&place, world, None, plan, EarlierStart::default(), &mut Silent);
    let error = match lived {
        // The target is not a regular file, which is detected before the start.
        Err(error) => error,
        Ok((ended, ..)) => panic!("refused, not {ended:?}"),
    };
    let said = error.to_string();
    assert!(said.starts_with("on node b (rank 1): ") && said.contains("file.00000001"), "{said}");
    assert_eq!(error.kind(), ErrorKind::Refused);
}

/// Stops the run when its first phase starts.
struct StopAtOnce;

impl Watch for StopAtOnce {
    fn event(&mut self, event: &Event<'_>) {
        if let Event::PhaseStarted { controls, .. } = event {
            controls.stop();
        }
    }
}

#[test]
fn the_user_s_stop_reaches_every_rank() {
    let place = Place::new();
    let mut spec = per_task(&place.file(), 3, 3);
    spec.duration = Some(Nanos::secs(600));
    let plan = place.plan(vec![case("c", spec, &[Phase::Write])]);
    let world = Fake::world(&["a", "b", "c"]);
    let lived = live_with(&place, world, None, plan, EarlierStart::default(), &mut StopAtOnce);
    let (ended, run, _) = lived.expect("runs here");
    assert!(ended.expect("a record").interrupted);
    assert_eq!(run.state, RunState::Interrupted);
    assert!(place.left().is_empty(), "{:?}", place.left());
}

#[test]
fn a_stonewall_that_fell_on_all_limits_what_each_reads() {
    let place = Place::new();
    let mut spec = per_task(&place.file(), 4, 2);
    spec.geometry = Geometry { transfer: Bytes::kib(4), block: Bytes::gib(1), segments: 1 };
    (spec.verify, spec.backend) = (true, Backend::Psync);
    spec.stonewall = Some(Stonewall { deadline: Nanos::millis(30), wear_out: false });
    let phases = [Phase::Write, Phase::Read, Phase::CheckWrite];
    let (ended, run) = live(&place, &["a", "b"], vec![case("c", spec, &phases)]);
    assert_eq!((ended.failed, ended.wrong_cells), (None, 0));
    let [write, read, check] = &run.all_phases().collect::<Vec<_>>()[..] else {
        panic!("three phases, not {}", run.all_phases().count())
    };
    assert!(write.stonewall_bytes.is_some() && write.bytes() < 4 << 30);
    assert!(read.bytes() <= write.bytes());
    assert_eq!(check.bytes(), write.bytes());
}

#[test]
fn a_rank_that_dies_ends_the_run_and_leaves_its_record_and_no_files() {
    let place = Place::new();
    let spec = per_task(&place.file(), 4, 2);
    let cases =
        ["first", "second", "third"].map(|id| case(id, spec.clone(), &[Phase::Write, Phase::Read])).to_vec();
    let (plan, world) = (place.plan(cases), Fake::world(&["a", "a", "b"]));
    let lived = live_with(&place, world, Some(4), plan, EarlierStart::default(), &mut Silent);
    let (ended, run, _) = lived.expect("it begins");
    let error = ended.expect_err("a rank is lost");
    assert_eq!(error.kind(), ErrorKind::NodeLost, "{error}");
    let ids: Vec<String> = run.all_phases().map(|row| row.key.case.to_string()).collect();
    assert_eq!(ids, ["first", "first", "second"], "what was measured stays");
    assert_eq!(run.failed_cases.iter().map(|failed| &*failed.case).collect::<Vec<_>>(), ["second"]);
    let said =
        run.warnings.iter().any(|row| matches!(&row.warning, Warning::NodeLost { node, .. } if node == "b"));
    assert!(said, "{:?}", run.warnings);
    assert!(place.left().is_empty(), "what the lost rank made is removed too: {:?}", place.left());
}

#[test]
fn a_run_of_many_ranks_is_taken_up_again() {
    let place = Place::new();
    let written = per_task(&place.file(), 4, 2);
    let mut read = written.clone();
    read.verify = true;
    let cases = vec![case("write", written, &[Phase::Write]), case("read", read, &[Phase::Read])];
    let earlier = EarlierStart { finished: BTreeSet::from(["write".to_owned()]), places: Vec::new() };
    let (plan, world) = (place.plan(cases), Fake::world(&["a", "b"]));
    let (ended, run, _) = live_with(&place, world, None, plan, earlier, &mut Silent).expect("runs here");
    let ended = ended.expect("a record");
    assert_eq!((ended.failed, ended.wrong_cells), (None, 0));
    let phases: Vec<Phase> = run.all_phases().map(|row| row.key.phase).collect();
    assert_eq!(phases, [Phase::Fill, Phase::Read], "the data is written again for the case that reads it");
}

#[test]
fn a_run_goes_on_upon_fewer_nodes_than_its_finished_cases_had_and_says_so() {
    let place = Place::new();
    let cases = || {
        vec![
            case("wide", per_task(&place.file(), 4, 4), &[Phase::Write]),
            case("narrow", per_task(&place.file(), 2, 1), &[Phase::Write]),
        ]
    };
    let go_on = |nodes: &[&str], finished: &[&str]| {
        let finished = finished.iter().map(|id| (*id).to_owned()).collect();
        let places = ["a", "b", "c", "d"].map(|node| (node.to_owned(), 1)).to_vec();
        let earlier = EarlierStart { finished, places };
        live_with(&place, Fake::world(nodes), None, place.plan(cases()), earlier, &mut Silent)
    };
    let said = go_on(&["a", "a"], &[]).expect_err("four nodes are not there").to_string();
    assert!(said.starts_with("wide: ") && said.contains("request fewer"), "{said}");
    let (ended, run, _) = go_on(&["a", "a"], &["wide"]).expect("the other one runs here");
    assert!(ended.expect("a record").failed.is_none());
    assert_eq!(run.all_phases().count(), 1);
    let words = |warning: &Warning| match warning {
        Warning::ResumedElsewhere { before, now } => Some((before.clone(), now.clone())),
        _ => None,
    };
    let moved: Vec<_> = run.warnings.iter().filter_map(|row| words(&row.warning)).collect();
    assert_eq!(moved, [("4 nodes (a to d, 4 processes)".to_owned(), "a (2 processes)".to_owned())]);
}

#[test]
fn what_is_said_to_be_node_local_is_not_shared_over_nodes() {
    let place = Place::new();
    let mut spec = per_task(&place.file(), 4, 2);
    spec.read_from = ReadFrom::Shift { tasks: 2 };
    let mut across = case("across", spec, &[Phase::Write, Phase::Read]);
    across.target = "scratch".to_owned();
    let mut plan = place.plan(vec![across]);
    let layer = Layer::NodeLocal;
    plan.criteria.targets =
        vec![TargetDescription { name: "scratch".to_owned(), layer, ..TargetDescription::default() }];
    let world = Fake::world(&["a", "b"]);
    let lived = live_with(&place, world, None, plan, EarlierStart::default(), &mut Silent);
    let error = lived.expect_err("refused");
    assert!(error.to_string().contains("node-local"), "{error}");
    assert!(fs::read_dir(place.data()).expect("there").next().is_none());
}

/// A place whose data directory is a different directory on the last node.
fn separate() -> (Place, std::path::PathBuf) {
    let place = Place::new();
    let other = place.directory.path().join("other");
    fs::create_dir(&other).expect("can be made");
    (place, other)
}

fn names_in(directory: &Path) -> Vec<String> {
    let names = fs::read_dir(directory).expect("it is there");
    names.map(|entry| entry.expect("readable").file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn a_directory_that_each_node_has_for_itself_takes_files_of_its_own_tasks() {
    let (place, other) = separate();
    let mut spec = per_task(&place.file(), 4, 2);
    spec.verify = true;
    let mut again = spec.clone();
    again.files.existing = Existing::Reuse;
    let cases = vec![
        case("write", spec, &[Phase::Write, Phase::Read]),
        case("again", again, &[Phase::Write, Phase::CheckWrite]),
    ];
    let plan = place.plan(cases);
    let world = Fake::world(&["a", "b"]);
    let lived = live_on(&place, world, None, Some(&other), plan, EarlierStart::default(), &mut Silent);
    let (ended, run, checked) = lived.expect("runs here");
    let ended = ended.expect("a record");
    assert_eq!((ended.failed, ended.wrong_cells), (None, 0));
    assert!(ended.left_behind.is_none());
    assert_eq!(run.all_phases().count(), 4);
    assert!(run.all_phases().all(|row| row.bytes() == 4 * 256 * 1024));
    assert_eq!(checked.local_directories, [place.data()]);
    let said =
        run.warnings.iter().any(|row| matches!(&row.warning, Warning::SeparateTarget { nodes: 2, .. }));
    assert!(said, "{:?}", run.warnings);
    assert!(place.left().is_empty() && names_in(&other).is_empty(), "files and claims are gone");
}

#[test]
fn files_that_nodes_would_share_are_refused_where_each_has_a_directory_for_itself() {
    for shared in [true, false] {
        let (place, other) = separate();
        let mut spec = per_task(&place.file(), 4, 2);
        match shared {
            true => spec.files.sharing = Sharing::Shared,
            false => spec.read_from = ReadFrom::Shift { tasks: 2 },
        }
        let plan = place.plan(vec![case("across", spec, &[Phase::Write, Phase::Read])]);
        let world = Fake::world(&["a", "b"]);
        let lived = live_on(&place, world, None, Some(&other), plan, EarlierStart::default(), &mut Silent);
        let error = lived.expect_err("refused");
        assert_eq!(error.kind(), ErrorKind::Refused);
        let said = error.to_string();
        assert!(said.starts_with(&place.data().display().to_string()), "{said}");
        assert!(said.contains("another directory on node b than on a: "), "{said}");
        assert!(said.contains(if shared { "-F" } else { "--node-local" }), "{said}");
        assert!(place.left().is_empty() && names_in(&other).is_empty());
    }
}

#[test]
fn a_target_that_is_said_to_be_shared_and_is_not_is_named_with_a_node() {
    let (place, other) = separate();
    let mut own = case("own", per_task(&place.file(), 4, 2), &[Phase::Write]);
    own.target = "lustre".to_owned();
    let mut plan = place.plan(vec![own]);
    let layer = Layer::Shared;
    plan.criteria.targets =
        vec![TargetDescription { name: "lustre".to_owned(), layer, ..TargetDescription::default() }];
    let world = Fake::world(&["a", "b"]);
    let lived = live_on(&place, world, None, Some(&other), plan, EarlierStart::default(), &mut Silent);
    let said = lived.expect_err("refused").to_string();
    assert!(said.contains("on node b") && said.contains("lustre"), "{said}");
    assert!(said.starts_with(&place.data().display().to_string()), "{said}");
    assert!(place.left().is_empty() && names_in(&other).is_empty());
}

#[test]
fn files_of_a_lost_node_in_its_own_directory_stay_claimed() {
    let (place, other) = separate();
    let plan = place.plan(vec![case("c", per_task(&place.file(), 4, 2), &[Phase::Write, Phase::Read])]);
    let world = Fake::world(&["a", "b"]);
    let lived = live_on(&place, world, Some(2), Some(&other), plan, EarlierStart::default(), &mut Silent);
    let (ended, ..) = lived.expect("it begins");
    assert_eq!(ended.expect_err("lost").kind(), ErrorKind::NodeLost);
    assert!(place.left().is_empty(), "{:?}", place.left());
    let left = names_in(&other);
    assert!(left.iter().any(|name| name.starts_with("file.")), "{left:?}");
    let claims = record::leftovers(&other).expect("readable");
    assert_eq!(claims.iter().map(|claim| claim.files.len()).collect::<Vec<_>>(), [2]);
}
