//! Cycles through small objects in sets, against what a service for names and a device give.

use plan::{Bytes, Geometry, Nanos, Objects, Operation, Phase, Stonewall, Tree, Work, WorkloadSpec};

use crate::bench::{Simulated, is_close, machine, phase};
use crate::closed_networks::{Part, agrees};

const DISK: &str = r#"
    [[device]]
    name = "disk"
    slots = 64
    read = { time = "400us" }
    write = { time = "700us" }

    [[layout]]
    name = "one"
    devices = "disk"
    metadata = "mds"
"#;

/// Fixed times, so that a step is a sum.
const FIXED: &str = r#"
    node = { processors = 64, request_time = "2us" }

    [[metadata]]
    name = "mds"
    slots = 64
    create = { time = "300us" }
    stat = { time = "50us" }
    open = { time = "70us" }
    remove = { time = "110us" }
"#;

fn spec(tasks: u32, objects: Objects) -> WorkloadSpec {
    let geometry = Geometry { transfer: Bytes(1), block: Bytes(1), segments: 1 };
    let mut spec = WorkloadSpec::new("w", "/data", geometry);
    (spec.tasks, spec.direct, spec.work) = (tasks, true, Work::Objects(objects));
    spec
}

fn simulated(model: &str, tasks: u32, objects: &Objects, of: Phase) -> Simulated {
    let one = phase(&mut machine(model, 1), spec(tasks, objects.clone()), of, 0);
    assert_eq!(one.outcome.items, objects.operations(of, tasks), "{of}");
    one
}

/// Sets of 20 objects with 30 steps around them.
fn objects() -> Objects {
    Objects { sets: 4, precreated: 20, steps: 30, object_bytes: Bytes(4000), ..Objects::default() }
}

#[test]
fn a_step_takes_the_sum_of_its_operations() {
    let model = format!("{FIXED}{DISK}");
    let objects = objects();
    let step = simulated(&model, 3, &objects, Phase::Benchmark);
    let mean = |operation: Operation| {
        let own = step.outcome.series.iter().filter(|one| one.operation == operation);
        let (sum, count) =
            own.fold((0, 0), |(sum, count), one| (sum + one.latency_sum_ns, count + one.transfers));
        sum as f64 / count as f64 / 1e3
    };
    for (operation, microseconds) in [
        (Operation::Stat, 52.0),
        (Operation::Read, 2.0 + 70.0 + 400.0),
        (Operation::Remove, 112.0),
        (Operation::Create, 2.0 + 300.0 + 700.0),
    ] {
        is_close(operation.name(), mean(operation), microseconds);
    }
    let steps = 4.0 * 30.0;
    is_close("time", step.seconds(), steps * (52.0 + 472.0 + 112.0 + 1002.0) / 1e6);
    let moved = 3 * 4 * 30 * 4000;
    assert_eq!((step.outcome.read_bytes, step.outcome.write_bytes), (moved, moved));
    // Resting as long as each step took, and a half.
    let rests = Objects { waiting_ppm: 1_500_000, ..objects.clone() };
    let rested = simulated(&model, 3, &rests, Phase::Benchmark);
    is_close("latency", rested.latency(), step.latency());
    is_close("time with rests", rested.seconds(), (1.0 + (steps - 1.0) * 2.5) / steps * step.seconds());
    // The first of three steps begins with the clock, and the second one rests all the same.
    let few = Objects { sets: 1, steps: 3, ..rests };
    let one = step.seconds() / steps;
    is_close("three steps with rests", simulated(&model, 1, &few, Phase::Benchmark).seconds(), 6.0 * one);
    let looks = Objects { read_only: true, no_stat: true, ..objects };
    is_close("reads alone", simulated(&model, 3, &looks, Phase::Benchmark).latency(), 472e-6);
}

#[test]
fn directories_of_sets_are_made_one_after_the_other_and_are_not_counted() {
    let locked = FIXED.replace("slots = 64", "slots = 64\n    directory_lock = \"10ms\"");
    let objects = Objects { sets: 16, precreated: 1, object_bytes: Bytes(0), ..objects() };
    for (of, last) in [(Phase::Precreate, 300e-6), (Phase::Cleanup, 110e-6)] {
        let simulated = simulated(&format!("{locked}{DISK}"), 8, &objects, of);
        // All sets are in one directory, whose lock limits: 8 tasks × 16 sets × 10 ms, besides the objects.
        let least = 8.0 * 16.0 * 10e-3;
        let time = simulated.seconds();
        assert!(time >= least - 10e-3 && time < least + 16.0 * 10e-3 + 16.0 * last, "{of}: {time} s");
    }
}

#[test]
fn a_service_for_names_is_m_m_c_with_as_many_customers_as_tasks() {
    for (slots, tasks) in [(1, 6), (4, 3), (4, 12)] {
        let model = format!(
            "node = {{ processors = 64, request_time = \"2ms\" }}\n[[metadata]]\nname = \"mds\"\nslots = {slots}\n{}{DISK}",
            ["create", "stat", "remove"]
                .map(|call| format!("{call} = {{ time = \"1ms\", distribution = \"exponential\" }}\n"))
                .concat()
        );
        let objects = Objects { sets: 4, steps: 30_000, object_bytes: Bytes(0), ..objects() };
        let simulated = simulated(&model, tasks, &objects, Phase::Benchmark);
        let parts = [Part::Delay(2e-3), Part::Queue { seconds: 1e-3, slots }];
        agrees(&format!("{slots} slots, {tasks} tasks"), &simulated, &parts, tasks);
    }
}

#[test]
fn a_stonewall_ends_after_whole_steps_in_all_sets() {
    let objects = Objects { steps: 100_000, ..objects() };
    let mut spec = spec(3, objects.clone());
    spec.stonewall = Some(Stonewall { deadline: Nanos::millis(100), wear_out: false });
    let one = phase(&mut machine(&format!("{FIXED}{DISK}"), 1), spec, Phase::Benchmark, 0);
    let round = u64::from(objects.sets) * objects.operations_of_step();
    assert!(one.outcome.items > 0 && one.outcome.tasks.iter().all(|task| task.items % round == 0));
    is_close("time", one.seconds(), (0.1_f64 / (4.0 * 1638e-6)).ceil() * 4.0 * 1638e-6);
}

#[test]
fn a_stonewall_ends_looking_at_files_but_not_their_removal() {
    let tree = Tree::flat(1000);
    let of = |of: Phase| {
        let mut spec = spec(3, objects());
        spec.work = Work::Tree(tree.clone());
        spec.stonewall = Some(Stonewall::after(Nanos::millis(10)));
        phase(&mut machine(&format!("{FIXED}{DISK}"), 1), spec, of, 0).outcome
    };
    let (seen, removed) = (of(Phase::FileStat), of(Phase::FileRemove));
    assert!(seen.stonewall.is_some() && seen.items < tree.operations(Phase::FileStat, 3));
    assert_eq!((removed.stonewall, removed.items), (None, tree.operations(Phase::FileRemove, 3)));
}
