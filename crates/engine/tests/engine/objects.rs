//! Objects in sets: which task accesses whose set, and which objects exist after each phase.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use engine::PhaseOutcome;
use plan::{
    Backend, Bytes, Nanos, Objects, ObjectsPlacement, Operation, Phase, Stonewall, Work, Workload,
    WorkloadSpec,
};

use crate::bed::{Bed, run, run_with, spec, with};
use crate::tree::{BACKENDS, total, walk};

const OBJECTS: Objects = Objects {
    sets: 2,
    precreated: 3,
    steps: 2,
    object_bytes: Bytes(3901),
    offset: 1,
    waiting_ppm: 0,
    read_only: false,
    no_stat: false,
    in_target: false,
    first: 0,
};

fn workload(
    bed: &Bed,
    backend: Backend,
    objects: Objects,
    change: impl FnOnce(&mut WorkloadSpec),
) -> Workload {
    let target = bed.path("t");
    std::fs::create_dir_all(&target).expect("a target");
    with(&spec(target, 1, 1), |spec| {
        (spec.tasks, spec.backend, spec.work) = (5, backend, Work::Objects(objects));
        change(spec);
    })
}

/// The objects that exist in the set `set` of `owner`.
fn objects_in(workload: &Workload, owner: u32, set: u32) -> BTreeSet<u64> {
    let placement = ObjectsPlacement::new(workload).expect("objects");
    let directory = placement.root(owner, 0).join(ObjectsPlacement::set(owner, set));
    let number = |name: String| name.strip_prefix("file-").expect("an object").parse().expect("a number");
    walk(&directory).into_iter().map(number).collect()
}

fn totals(outcome: &PhaseOutcome) -> BTreeMap<Operation, u64> {
    let of = |latency: &engine::Latency| (latency.operation, latency.histogram.total());
    outcome.latency.iter().map(of).collect()
}

#[test]
fn each_step_takes_one_object_of_each_set_and_leaves_one() {
    for backend in BACKENDS {
        let bed = Bed::new();
        let workload = workload(&bed, backend, OBJECTS, |spec| spec.verify = true);
        let made = run(&workload, Phase::Precreate).expect("made");
        assert_eq!((made.items, totals(&made)), (30, BTreeMap::from([(Operation::Create, 30)])));
        assert_eq!(made.write_bytes, 30 * 3901);
        for before in [0, 2] {
            let steps = [before; 5];
            let gone =
                run_with(&workload, Phase::Benchmark, |job| job.steps_before = &steps).expect("it runs");
            let each = [Operation::Stat, Operation::Read, Operation::Remove, Operation::Create];
            assert_eq!((gone.items, totals(&gone)), (80, each.map(|operation| (operation, 20)).into()));
            assert_eq!((gone.read_bytes, gone.write_bytes), (20 * 3901, 20 * 3901));
            assert_eq!((gone.surprises.count, gone.mismatches.wrong_cells), (0, 0));
            assert_eq!(gone.mismatches.checked_cells, 20 * 8);
            let in_series: u64 = gone.series.iter().map(|interval| interval.bytes).sum();
            assert_eq!(in_series, 40 * 3901);
            for (owner, set) in (0..5).flat_map(|owner| [(owner, 0), (owner, 1)]) {
                assert_eq!(objects_in(&workload, owner, set), BTreeSet::from([2, 3, 4].map(|n| n + before)));
            }
        }
        let steps = [4; 5];
        let removed = run_with(&workload, Phase::Cleanup, |job| job.steps_before = &steps).expect("removed");
        assert_eq!((removed.items, removed.surprises.count, total(&removed)), (30, 0, 30));
        assert!(walk(&bed.path("t")).is_empty());
    }
}

#[test]
fn a_task_takes_from_tasks_before_it_and_gives_to_those_behind_it() {
    for backend in BACKENDS {
        let bed = Bed::new();
        let workload = workload(&bed, backend, OBJECTS, |_| {});
        run(&workload, Phase::Precreate).expect("made");
        run_with(&workload, Phase::Benchmark, |job| job.tasks = 4..5).expect("it runs");
        for (owner, set) in (0..5).flat_map(|owner| [(owner, 0), (owner, 1)]) {
            let objects: Vec<u64> = match (owner, set) {
                (3, 0) | (2, 1) => vec![2],
                (0, 0) | (1, 1) => vec![0, 1, 2, 3, 4],
                _ => vec![0, 1, 2],
            };
            assert_eq!(objects_in(&workload, owner, set), BTreeSet::from_iter(objects), "{owner} {set}");
        }
        // If tasks have made different progress, each set contains the objects that the neighbouring tasks left in
        // it.
        let steps = [0, 0, 0, 0, 2];
        let removed = run_with(&workload, Phase::Cleanup, |job| job.steps_before = &steps).expect("removed");
        assert_eq!((removed.items, removed.surprises.count), (30, 0));
        assert!(walk(&bed.path("t")).is_empty());
    }
}

#[test]
fn steps_that_only_read_change_nothing() {
    for (backend, no_stat) in BACKENDS.into_iter().flat_map(|b| [true, false].map(|no_stat| (b, no_stat))) {
        let bed = Bed::new();
        let objects = Objects { read_only: true, no_stat, steps: 7, ..OBJECTS };
        let workload = workload(&bed, backend, objects, |_| {});
        run(&workload, Phase::Precreate).expect("made");
        let before = walk(&bed.path("t"));
        let gone = run(&workload, Phase::Benchmark).expect("it runs");
        let stats = if no_stat { None } else { Some(&70) };
        assert_eq!(totals(&gone).get(&Operation::Stat), stats);
        assert_eq!(totals(&gone).get(&Operation::Read), Some(&70));
        assert_eq!(gone.surprises.count, 0);
        assert_eq!(walk(&bed.path("t")), before);
        let steps = [7; 5];
        run_with(&workload, Phase::Cleanup, |job| job.steps_before = &steps).expect("removed");
        assert!(walk(&bed.path("t")).is_empty());
    }
}

#[test]
fn a_stonewall_ends_whole_rounds_and_wears_out() {
    for backend in BACKENDS {
        let bed = Bed::new();
        let objects = Objects { steps: 1 << 30, precreated: 2000, object_bytes: Bytes(0), ..OBJECTS };
        let workload = workload(&bed, backend, objects, |spec| {
            spec.tasks = 2;
            spec.stonewall = Some(Stonewall { deadline: Nanos(30_000_000), wear_out: true });
        });
        run(&workload, Phase::Precreate).expect("made");
        let gone = run(&workload, Phase::Benchmark).expect("it runs");
        let most = gone.stonewall.and_then(|wall| wall.worn_out_transfers).expect("worn out");
        assert!(most > 0 && most.is_multiple_of(8));
        let counts: Vec<u64> = gone.tasks.iter().map(|task| task.items).collect();
        // A task that is further ahead than the number of initial objects reaches sets that no other task has filled
        // yet.
        assert_eq!(counts.iter().sum::<u64>() + 4 * gone.surprises.count, 2 * most);
        let steps = [most / 8; 2];
        let removed = run_with(&workload, Phase::Cleanup, |job| job.steps_before = &steps).expect("removed");
        assert_eq!(removed.items + removed.surprises.count, 8000);
    }
}

#[test]
fn a_rest_follows_each_step_and_is_in_no_latency() {
    for backend in BACKENDS {
        let bed = Bed::new();
        let objects = Objects { waiting_ppm: 3_000_000, steps: 200, precreated: 10, ..OBJECTS };
        let workload = workload(&bed, backend, objects, |spec| spec.tasks = 1);
        run(&workload, Phase::Precreate).expect("made");
        let gone = run(&workload, Phase::Benchmark).expect("it runs");
        let latencies_ns: u64 = gone.series.iter().map(|interval| interval.latency_sum_ns).sum();
        let io_ns = gone.io_ns;
        assert!(io_ns > 2 * latencies_ns, "{io_ns} ns, of which {latencies_ns} ns in operations");
    }
}

#[test]
fn objects_that_somebody_took_are_surprises() {
    for backend in BACKENDS {
        let bed = Bed::new();
        let workload = workload(&bed, backend, OBJECTS, |_| {});
        run(&workload, Phase::Precreate).expect("made");
        let placement = ObjectsPlacement::new(&workload).expect("objects");
        let set = placement.root(2, 0).join(ObjectsPlacement::set(2, 0));
        std::fs::remove_file(set.join(ObjectsPlacement::object_name(1))).expect("removed");
        let gone = run(&workload, Phase::Benchmark).expect("it goes on");
        assert_eq!((gone.items, gone.surprises.count), (76, 1), "its step goes no further");
        assert!(gone.surprises.first[0].ends_with("/2_0/file-1: does not exist"), "{:?}", gone.surprises);
        assert!(Path::new(&set).exists());
    }
}
