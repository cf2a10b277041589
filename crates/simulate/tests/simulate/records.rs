//! What the record of a simulated run says of clocks, and what a resumed run adds to it.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use comm::{Clock, Solo};
use engine::Controls;
use host::{Host, Root};
use plan::{Case, Concurrent, Nanos, Phase, Plan, PlanSource};
use record::{HostFacts, Recorder, Run};
use runner::{
    Event, Machine, MachineJob, MachinePhase, PlanExecution, RunSummary, RunnerError, Silent, Watch,
};
use simulate::SimulatedMachine;

use crate::bench::{machine, manifest, random_for};

/// Two nodes; nothing takes time between them.
const MODEL: &str = r#"
    [[device]]
    name = "disk"
    read = { time = "1ms" }
    write = { time = "1ms" }

    [[layout]]
    name = "one"
    devices = "disk"
"#;

fn drifting(drift: f64) -> SimulatedMachine {
    machine(&format!("node = {{ count = 2, clock_drift = {drift:?} }}\n{MODEL}"), 1)
}

/// Cases with these names, each of ten seconds on both nodes.
fn plan(names: &[&str]) -> Plan {
    let case = |name: &&str| {
        let mut spec = random_for(10, 2);
        spec.nodes = 2;
        Case::new(*name, spec.validate().expect("valid"), vec![Phase::Read])
    };
    let cases = names.iter().map(case).collect();
    Plan::new("a test", PlanSource::Quick { directory: "/data".into(), others: Vec::new() }, 1, cases)
}

/// Starts a run of `plan` on `machine`, or resumes the one whose record is there.
fn start(
    directory: &Path,
    plan: &Plan,
    machine: &mut dyn Machine,
    watch: &mut dyn Watch,
    controls: Arc<Controls>,
) -> RunSummary {
    let host = Host::new(Root::default());
    let comm = Solo::of_nodes(drifting(0.0).topology());
    let resumed = directory.exists().then(|| Recorder::resume(directory).expect("an interrupted run"));
    let (recorder, finished) =
        resumed.map_or((None, Vec::new()), |(recorder, there)| (Some(recorder), there.finished.to_vec()));
    let finished = finished.into_iter().collect();
    let checked = runner::check_on(machine, plan.clone(), &comm, "a-run".to_owned(), 0, finished);
    let checked = checked.expect("the model has all parts");
    let recorder = recorder
        .unwrap_or_else(|| Recorder::create(directory, &manifest(&checked)).expect("a new directory"));
    let execution = PlanExecution::new(&host, &comm, recorder, watch, controls);
    execution.on_machine(machine).run(&checked).expect("the record can be written")
}

#[test]
fn clocks_that_only_drift_are_compared_before_between_and_after_the_cases() {
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a place");
    let directory = place.path().join("record");
    let controls = Arc::new(Controls::new());
    start(&directory, &plan(&["a", "b", "c"]), &mut drifting(1e-5), &mut Silent, controls);
    let run = Run::open(&directory).expect("a whole record");
    let offsets: Vec<i64> = run.clocks.iter().map(|one| one.nodes[1].offset_ns).collect();
    // 100 µs in each of three times ten seconds.
    let off =
        offsets.iter().zip([0, 100_000, 200_000, 300_000]).map(|(one, expected)| one.abs_diff(expected));
    assert!(offsets.len() == 4 && off.max() < Some(1_000), "{offsets:?}");
    let nodes = &run.manifest.cluster.expect("two nodes").nodes;
    assert_eq!(nodes[1].clock_drift_ns, Some(offsets[3]));
}

/// Ends a run after the case of this name, and counts the warnings.
struct EndsAfter<'a>(Arc<Controls>, &'a str, usize);

impl Watch for EndsAfter<'_> {
    fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::CaseFinished(case) if case.id == self.1 => self.0.stop(),
            Event::Warning(_) => self.2 += 1,
            _ => {}
        }
    }
}

#[test]
fn a_resumed_run_that_ends_with_a_finished_case_still_warns() {
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a place");
    let directory = place.path().join("record");
    let plan = plan(&["a", "b"]);
    let warnings = ["b", ""].map(|last| {
        let controls = Arc::new(Controls::new());
        let mut watch = EndsAfter(Arc::clone(&controls), last, 0);
        // The clocks go 20 ms apart, so that the series of the nodes cannot be set beside each other.
        let ended = start(&directory, &plan, &mut drifting(1e-3), &mut watch, controls);
        assert_eq!((ended.interrupted, ended.failed), (last == "b", None));
        watch.2
    });
    assert_eq!(warnings, [1, 1], "of the clock of the second node");
}

/// The run was killed when one of two cases was finished in the record.
#[test]
fn a_set_whose_media_are_prepared_goes_on() {
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a place");
    let directory = place.path().join("record");
    let mut plan = plan(&["a", "b"]);
    for case in &mut plan.cases {
        case.protocol.precondition = 1;
        case.concurrent =
            Some(Concurrent { name: "set".to_owned(), alone: case.id.clone(), start: Nanos(0) });
    }
    let run = || start(&directory, &plan, &mut drifting(0.0), &mut Silent, Arc::new(Controls::new()));
    assert_eq!(run().failed, None);
    let whole = Run::open(&directory).expect("a whole record").all_phases().count();
    let journal = fs::read_to_string(directory.join("journal.jsonl")).expect("it is there");
    let last = journal.lines().position(|line| line.contains("case-finished")).expect("it was finished");
    let kept: String = journal.lines().take(last + 1).map(|line| format!("{line}\n")).collect();
    fs::write(directory.join("journal.jsonl"), kept).expect("writable");
    for entry in fs::read_dir(&directory).expect("readable") {
        let path = entry.expect("readable").path();
        if path.is_dir() {
            fs::remove_dir_all(path).expect("removable");
        }
    }
    assert_eq!(run().failed, None);
    let run = Run::open(&directory).expect("a whole record");
    assert_eq!((run.all_phases().count(), run.finished_cases.len()), (whole, 2));
}

/// A model that lacks something in its first phase.
struct Lacking(SimulatedMachine, bool);

impl Machine for Lacking {
    fn check(&self, plan: &Plan) -> Result<(), RunnerError> {
        self.0.check(plan)
    }

    fn nodes(&self) -> Vec<HostFacts> {
        self.0.nodes()
    }

    fn clocks(&self) -> Vec<Clock> {
        self.0.clocks()
    }

    fn phases(&mut self, phases: &[MachineJob<'_>]) -> Result<Vec<MachinePhase>, RunnerError> {
        if std::mem::take(&mut self.1) {
            let case = phases[0].case.id.clone();
            return Err(RunnerError::Model { case, told: "it is gone".to_owned() });
        }
        self.0.phases(phases)
    }

    fn files_removed(&mut self, case: &Case) {
        self.0.files_removed(case);
    }

    fn drop_caches(&mut self) {
        self.0.drop_caches();
    }

    fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }

    fn pause(&mut self, time: Duration) {
        self.0.pause(time);
    }
}

#[test]
fn a_finished_case_that_cannot_be_gone_through_again_stays_finished() {
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a place");
    let directory = place.path().join("record");
    let plan = plan(&["a", "b"]);
    let controls = Arc::new(Controls::new());
    let mut watch = EndsAfter(Arc::clone(&controls), "a", 0);
    start(&directory, &plan, &mut drifting(0.0), &mut watch, controls);
    let mut lacking = Lacking(drifting(0.0), true);
    let ended = start(&directory, &plan, &mut lacking, &mut Silent, Arc::new(Controls::new()));
    assert!(ended.failed.is_some_and(|(message, _)| message.contains("it is gone")));
    let run = Run::open(&directory).expect("a whole record");
    assert_eq!(run.finished_cases, ["a", "b"]);
}
