//! What helpers simulate is what the run asks for.

use std::num::NonZero;
use std::path::Path;
use std::time::Duration;

use engine::{Controls, PhaseJob};
use plan::{Bytes, Case, Geometry, Phase, Plan, PlanSource, Sharing, WorkloadSpec};
use runner::Machine;

use crate::SimulatedMachine;

const MODEL: &str = "
    model = { name = \"a page cache\", noise = 0.1 }
    node = { count = 1, processors = 4, cache = { size = \"1GiB\", rate = \"1GB/s\" } }
    device = [{ name = \"disk\", read = { rate = \"200MB/s\" }, write = { rate = \"100MB/s\" } }]
    layout = [{ name = \"local\", devices = \"disk\", targets = [\"*\"] }]";

/// A machine for three cases with files of their own, each written and read three times.
fn machine(threads: usize) -> (SimulatedMachine, Vec<Case>) {
    let model = crate::read(Path::new("model.toml"), MODEL).expect("a model");
    let case = |number: u64| {
        let geometry = Geometry { transfer: Bytes::kib(256), block: Bytes::mib(32 * number), segments: 1 };
        let mut spec = WorkloadSpec::new("w", format!("/data/file {number}"), geometry);
        (spec.tasks, spec.files.sharing) = (2, Sharing::PerTask);
        let phases = vec![Phase::Write, Phase::Read];
        Case {
            repetitions: 3,
            ..Case::new(format!("case {number}"), spec.validate().expect("valid"), phases)
        }
    };
    let cases: Vec<Case> = (1..=3).map(case).collect();
    let source = PlanSource::Quick { directory: "/data".into(), others: Vec::new() };
    let plan = Plan::new("a test", source, 1, cases.clone());
    (SimulatedMachine::new(model, &plan, 1).with_threads(NonZero::new(threads).expect("one")), cases)
}

/// Runs the cases, with a pause after so many phases of the second one. Returns all results, and how many of them were
/// simulated ahead.
fn run(threads: usize, pause_after: Option<u32>) -> (String, u32) {
    let (mut machine, cases) = machine(threads);
    let (mut all, mut ahead) = (String::new(), 0);
    for case in &cases {
        let mut phases = 0;
        for pass in 0..3 {
            for &phase in &case.phases {
                let job = PhaseJob::new(&case.workload, phase, pass);
                let done = machine.phase(case, &job, &[0, 0], &Controls::new()).expect("all parts");
                all += &format!("{:?} {done:?}\n", machine.elapsed());
                phases += 1;
                ahead += u32::from(machine.state.is_stale());
                if case.id == "case 2" && pause_after == Some(phases) {
                    machine.pause(Duration::from_millis(10));
                }
            }
        }
        machine.files_removed(case);
    }
    (all, ahead)
}

#[test]
fn whole_cases_are_simulated_ahead() {
    let (alone, none) = run(1, None);
    let (all, ahead) = run(2, None);
    assert!(all == alone);
    assert_eq!(none, 0);
    // All phases of the second case but its last one, at least.
    assert!(ahead >= 5, "{ahead}");
}

#[test]
fn a_run_that_leaves_the_plan_goes_on_from_the_right_state() {
    for phases in 1..=6 {
        let (alone, _) = run(1, Some(phases));
        for threads in [2, 3] {
            assert!(run(threads, Some(phases)).0 == alone, "after {phases} phases with {threads} threads");
        }
    }
}
