//! Cases on layouts: only one layout exists at a time, and none after the run.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use comm::Solo;
use engine::Controls;
use plan::{Case, Layout, Phase, Plan, Recipe};
use record::{
    CommandEnd, CommandRun, FORMAT_VERSION, Fact, LayoutFinding, Manifest, Provenance, Recorder, Run,
    RunState, Warning,
};
use runner::{
    EarlierStart, ErrorKind, Event, LayoutBuilder, PlanExecution, RunSummary, RunnerError, Silent, Watch,
    campaign, validate_campaign,
};

use crate::place::{Place, RUN_ID, case, spec};

/// Creates directories instead of layouts, and records the order.
#[derive(Default)]
struct Directories {
    done: RefCell<Vec<String>>,
    /// Layouts that cannot be created.
    broken: Vec<&'static str>,
    /// Layouts that cannot be removed.
    stuck: Vec<&'static str>,
    /// Layouts that are refused.
    refused: Vec<&'static str>,
}

fn trouble(message: &str) -> RunnerError {
    RunnerError::Layout { kind: ErrorKind::HostLacks, message: message.to_owned() }
}

fn ran(command: String) -> CommandRun {
    let (purpose, output) = ("for a test".to_owned(), String::new());
    CommandRun { purpose, command, status: CommandEnd::Exited(0), output, took_ns: 1, printed: None }
}

impl LayoutBuilder for Directories {
    type MadeLayout = Layout;

    fn look(&self, layout: &Layout) -> Result<(), RunnerError> {
        let name = layout.name.as_str();
        if self.refused.contains(&name) {
            Err(trouble(&format!("layout {name}: mmcrfs not found")))
        } else {
            Ok(())
        }
    }

    fn create(
        &self,
        layout: &Layout,
        run_id: &str,
        tell: &mut dyn FnMut(&CommandRun),
    ) -> Result<Layout, RunnerError> {
        assert_eq!(run_id, RUN_ID);
        self.done.borrow_mut().push(format!("make {}", layout.name));
        tell(&ran(format!("mkdir {}", layout.mount_point.display())));
        if self.broken.contains(&layout.name.as_str()) {
            return Err(trouble("mkfs failed"));
        }
        fs::create_dir(&layout.mount_point).expect("no other layout stands there");
        Ok(layout.clone())
    }

    fn places(&self, standing: &Layout) -> Vec<PathBuf> {
        vec![standing.mount_point.clone()]
    }

    fn verify(&self, standing: &Layout) -> Vec<LayoutFinding> {
        vec![LayoutFinding {
            subject: standing.mount_point.display().to_string(),
            property: "mount options".to_owned(),
            wanted: Some("noatime".to_owned()),
            found: Fact::Known(if standing.name == "b" { "relatime" } else { "noatime" }.to_owned()),
            source: "/proc/self/mountinfo".to_owned(),
        }]
    }

    fn destroy(&self, standing: Layout, tell: &mut dyn FnMut(&CommandRun)) -> Result<(), RunnerError> {
        self.done.borrow_mut().push(format!("remove {}", standing.name));
        tell(&ran(format!("rmdir {}", standing.mount_point.display())));
        // The run has already removed its files.
        fs::remove_dir(&standing.mount_point).expect("it is empty");
        if self.stuck.contains(&standing.name.as_str()) { Err(trouble("device busy")) } else { Ok(()) }
    }
}

/// Layouts `a` and `b` at the same mount point, cases on each, and a case without a layout in between.
fn plan(place: &Place) -> Plan {
    let at = place.directory.path().join("mounted");
    let layout = |name: &str| Layout {
        name: name.to_owned(),
        title: String::new(),
        stands_for: String::new(),
        devices: Vec::new(),
        mount_point: at.clone(),
        recipe: Recipe::Existing,
    };
    let on = |id: &str, layout: &str, phases: &[Phase]| Case {
        layout: Some(layout.to_owned()),
        ..case(id, spec(&at.join("file")), phases)
    };
    let cases = vec![
        on("a1", "a", &[Phase::Write]),
        on("a2", "a", &[Phase::Read]),
        case("free", spec(&place.file()), &[Phase::Write]),
        on("b1", "b", &[Phase::Write, Phase::Read]),
    ];
    Plan { layouts: vec![layout("a"), layout("b")], ..place.plan(cases) }
}

fn run(place: &Place, builder: &Directories, finished: &[&str], watch: &mut dyn Watch) -> (RunSummary, Run) {
    let controls = Arc::new(Controls::new());
    run_with(place, builder, finished, watch, &controls)
}

fn run_with(
    place: &Place,
    builder: &Directories,
    finished: &[&str],
    watch: &mut dyn Watch,
    controls: &Arc<Controls>,
) -> (RunSummary, Run) {
    let finished: BTreeSet<String> = finished.iter().map(|id| (*id).to_owned()).collect();
    let (earlier, comm) = (EarlierStart { finished, places: Vec::new() }, Solo::new("here"));
    let mustered = validate_campaign(plan(place), &place.host, &comm, builder, RUN_ID.to_owned(), 0, earlier)
        .expect("nothing stands against it");
    let manifest = Manifest {
        cluster: None,
        model: None,
        format_version: FORMAT_VERSION,
        run_id: RUN_ID.to_owned(),
        provenance: Provenance::Measured,
        program_version: "0".to_owned(),
        command_line: Vec::new(),
        started_unix_ns: 0,
        finished_unix_ns: None,
        predicted: None,
        plan: mustered.checked.plan.clone(),
        host: mustered.checked.facts.clone(),
        defaults: Vec::new(),
    };
    let directory = place.directory.path().join("record");
    let recorder = Recorder::create(&directory, &manifest).expect("a new directory");
    let life = PlanExecution::new(&place.host, &comm, recorder, watch, Arc::clone(controls));
    let ended = campaign(life, builder, mustered).expect("the record can be written");
    (ended, Run::open(&directory).expect("a whole record"))
}

fn mounted(place: &Place) -> bool {
    Path::new(&place.directory.path().join("mounted")).exists()
}

#[test]
fn layouts_stand_one_after_another_for_their_cases() {
    let (place, builder) = (Place::new(), Directories::default());
    let (ended, run) = run(&place, &builder, &[], &mut Silent);
    assert!(ended.failed.is_none() && ended.left_behind.is_none() && !ended.interrupted, "{ended:?}");
    assert_eq!(*builder.done.borrow(), ["make a", "remove a", "make b", "remove b"]);
    assert_eq!(run.state, RunState::Complete);
    assert_eq!(run.finished_cases, ["a1", "a2", "free", "b1"]);
    let phases: Vec<Phase> = run.all_phases().map(|row| row.key.phase).collect();
    assert_eq!(phases, [Phase::Write, Phase::Read, Phase::Write, Phase::Write, Phase::Read]);
    assert!(!mounted(&place) && place.left().is_empty());
    let told: Vec<(&str, usize, usize)> = (run.layouts.iter())
        .map(|one| (one.layout.as_str(), one.created.len(), one.destroyed.len()))
        .collect();
    assert_eq!(told, [("a", 1, 1), ("b", 1, 1)]);
    assert!(run.layouts.iter().all(|one| !one.file_systems.is_empty()), "where the files stood");
    let differs = run.warnings.iter().filter_map(|row| match &row.warning {
        Warning::LayoutDiffers { layout, found } => Some((layout.as_str(), found.len())),
        _ => None,
    });
    assert_eq!(differs.collect::<Vec<_>>(), [("b", 1)]);
}

#[test]
fn a_layout_that_cannot_be_made_fails_its_cases_and_no_others() {
    let (place, builder) = (Place::new(), Directories { broken: vec!["a"], ..Directories::default() });
    let (ended, run) = run(&place, &builder, &[], &mut Silent);
    assert_eq!(ended.failed, Some(("mkfs failed".to_owned(), ErrorKind::HostLacks)));
    let failed: Vec<&str> = run.failed_cases.iter().map(|failed| failed.case.as_str()).collect();
    assert_eq!(failed, ["a1", "a2"]);
    assert_eq!(run.finished_cases, ["free", "b1"]);
    assert_eq!(run.layouts[0].not_created.as_deref(), Some("mkfs failed"));
    assert_eq!(*builder.done.borrow(), ["make a", "make b", "remove b"]);
}

#[test]
fn what_stands_against_a_layout_is_told_before_anything_is_made() {
    let (place, builder) = (Place::new(), Directories { refused: vec!["b"], ..Directories::default() });
    let comm = Solo::new("here");
    let start = |earlier: EarlierStart| {
        validate_campaign(plan(&place), &place.host, &comm, &builder, RUN_ID.to_owned(), 0, earlier).map(drop)
    };
    assert_eq!(start(EarlierStart::default()).unwrap_err().to_string(), "layout b: mmcrfs not found");
    assert!(builder.done.borrow().is_empty());
    // A layout whose cases are all finished is not created again, so it is not refused.
    let finished = ["b1"].map(str::to_owned).into_iter().collect();
    start(EarlierStart { finished, places: Vec::new() }).expect("it is not needed");
}

/// Study A on a host without GPFS.
#[test]
fn all_layouts_that_cannot_be_made_are_named_with_how_to_leave_them_out() {
    let (place, comm) = (Place::new(), Solo::new("here"));
    let builder = Directories { refused: vec!["a", "b"], ..Directories::default() };
    let mut plan = plan(&place);
    for (case, target) in plan.cases.iter_mut().zip(["gpfs-1m", "gpfs-1m", "md", "gpfs-4m"]) {
        (case.group, case.target) = ("layouts".to_owned(), target.to_owned());
    }
    let start = |plan: &Plan| {
        let all = EarlierStart::default();
        validate_campaign(plan.clone(), &place.host, &comm, &builder, RUN_ID.to_owned(), 0, all)
            .map(drop)
            .unwrap_err()
    };
    assert_eq!(
        start(&plan).to_string(),
        "layout a: mmcrfs not found\nlayout b: mmcrfs not found\n\
         to omit a, b: --set 'workload.layouts.target=[\"md\"]'"
    );
    plan.cases[2].group = "other".to_owned();
    assert!(!start(&plan).to_string().contains("to omit"), "nothing would be left of the workload");
}

#[test]
fn a_layout_whose_cases_are_finished_is_not_made_again() {
    let (place, builder) = (Place::new(), Directories::default());
    let (_, run) = run(&place, &builder, &["a1", "a2", "free"], &mut Silent);
    assert_eq!(*builder.done.borrow(), ["make b", "remove b"]);
    assert_eq!(run.finished_cases, ["b1"]);
}

#[test]
fn data_of_a_finished_case_is_written_again_on_a_new_layout() {
    let (place, builder) = (Place::new(), Directories::default());
    let (ended, run) = run(&place, &builder, &["a1", "free", "b1"], &mut Silent);
    assert!(ended.failed.is_none(), "{ended:?}");
    let phases: Vec<Phase> = run.all_phases().map(|row| row.key.phase).collect();
    assert_eq!(phases, [Phase::Fill, Phase::Read]);
}

#[test]
fn a_layout_that_stays_is_told_and_left_behind() {
    let (place, builder) = (Place::new(), Directories { stuck: vec!["a"], ..Directories::default() });
    let (ended, run) = run(&place, &builder, &[], &mut Silent);
    assert!(ended.left_behind.is_some_and(|error| error.to_string() == "device busy"));
    assert_eq!(run.layouts[0].not_destroyed.as_deref(), Some("device busy"));
    assert!(run.warnings.iter().any(|row| matches!(row.warning, Warning::LayoutStays { .. })));
    assert_eq!(run.finished_cases.len(), 4, "all was measured");
}

/// Stops the run when this case has begun.
struct Stopper(&'static str, Arc<Controls>);

impl Watch for Stopper {
    fn event(&mut self, event: &Event<'_>) {
        if let Event::CaseStarted { case, .. } = event
            && case.id == self.0
        {
            self.1.stop();
        }
    }
}

#[test]
fn a_run_that_is_stopped_dismantles_the_layout_and_makes_no_other() {
    let (place, builder) = (Place::new(), Directories::default());
    let controls = Arc::new(Controls::new());
    let mut stopper = Stopper("a2", Arc::clone(&controls));
    let (ended, run) = run_with(&place, &builder, &[], &mut stopper, &controls);
    assert!(ended.interrupted && ended.failed.is_none(), "{ended:?}");
    assert_eq!(*builder.done.borrow(), ["make a", "remove a"]);
    assert_eq!((run.state, run.finished_cases), (RunState::Interrupted, vec!["a1".to_owned()]));
    assert!(run.layouts[0].destroyed_unix_ns.is_some());
    assert!(!mounted(&place));
}
