//! The history of the last operations of a workload.

use std::collections::BTreeSet;
use std::time::Duration;

use engine::{Controls, HistoryCursor, PhaseJob, SingleProcess};
use plan::{Backend, Bytes, Operation, Phase, Sharing, Tree};

use crate::bed::{BACKENDS, Bed, run, run_with, with};

/// Three tasks, each with 8 blocks of 4 KiB in its own file.
fn three(bed: &Bed, backend: Backend, history: Option<u64>) -> plan::Workload {
    with(&bed.spec("f", 4096, 8), |spec| {
        spec.tasks = 3;
        spec.files.sharing = Sharing::PerTask;
        spec.backend = backend;
        spec.history = history;
    })
}

#[test]
fn every_backend_keeps_what_it_did() {
    for backend in BACKENDS.into_iter().chain([Backend::Null]) {
        let bed = Bed::new();
        let workload = three(&bed, backend, Some(1_000));
        for (phase, operation) in [(Phase::Write, Operation::Write), (Phase::Read, Operation::Read)] {
            let outcome = run(&workload, phase).expect("measured");
            let kept = &outcome.history;
            assert_eq!(kept.len(), 24, "{backend:?} {phase}: all of them fit");
            for task in 0..3 {
                let of_task = || kept.iter().filter(|one| one.task == task);
                let offsets: BTreeSet<u64> = of_task().map(|one| one.offset).collect();
                assert_eq!(offsets, (0..8).map(|block| block * 4096).collect(), "{backend:?} {phase}");
                assert_eq!(of_task().map(|one| &one.path).collect::<BTreeSet<_>>().len(), 1);
            }
            assert_eq!(kept.iter().map(|one| &one.path).collect::<BTreeSet<_>>().len(), 3);
            assert!(kept.iter().all(|one| (one.operation, one.bytes) == (operation, 4096)));
            assert!(kept.is_sorted_by_key(|one| one.start_ns), "by their starts");
            let wall = outcome.tasks.iter().map(|task| task.io_end_ns).max().expect("three");
            // The clock's rate is known more accurately at the end than at the start.
            let end = kept.iter().map(|one| one.start_ns + one.latency_ns).max().expect("some");
            assert!(end.abs_diff(wall) <= wall / 100 + 1_000, "{backend:?} {phase}: {end} of {wall}");
            let sum: u64 = kept.iter().map(|one| one.latency_ns).sum();
            let series: u64 = outcome.series.iter().map(|one| one.latency_sum_ns).sum();
            assert_eq!(sum, series, "{backend:?} {phase}: the latencies are those of the histogram");
        }
    }
}

#[test]
fn only_so_many_are_kept_and_they_are_the_last() {
    let bed = Bed::new();
    for backend in [Backend::Psync, Backend::Uring { depth: 4, required: true }, Backend::Libaio { depth: 4 }]
    {
        let one =
            |kept| with(&bed.spec("f", 4096, 64), |spec| (spec.backend, spec.history) = (backend, kept));
        let outcome = run(&one(Some(10)), Phase::Write).expect("measured");
        let offsets: BTreeSet<u64> = outcome.history.iter().map(|one| one.offset / 4096).collect();
        assert_eq!(offsets, (54..64).collect(), "{backend:?}");
        assert_eq!(run(&one(None), Phase::Read).expect("measured").history, []);
    }
}

#[test]
fn what_is_no_result_is_not_kept() {
    let bed = Bed::new();
    let workload = three(&bed, Backend::Psync, Some(100));
    assert_eq!(run(&workload, Phase::Fill).expect("filled").history, []);
    let without = run_with(&workload, Phase::Read, |job| job.instrument = false).expect("measured");
    assert_eq!(without.history, []);
}

#[test]
fn an_open_loop_keeps_when_a_transfer_was_really_handed_over() {
    let bed = Bed::new();
    let workload = with(&bed.spec("f", 4096, 20), |spec| {
        spec.history = Some(100);
        spec.pace = Some(plan::Pace { transfers_per_second: 500.0 });
    });
    run(&workload, Phase::Write).expect("written");
    let kept = run(&workload, Phase::Read).expect("measured").history;
    assert_eq!(kept.len(), 20);
    for pair in kept.windows(2) {
        assert!(pair[1].start_ns >= pair[0].start_ns + pair[0].latency_ns, "one after the other: {pair:?}");
    }
}

/// Needed for printing a line per request: another thread sees each operation once, while the phase is running.
#[test]
fn operations_can_be_seen_while_the_phase_runs() {
    let bed = Bed::new();
    let workload = with(&bed.spec("f", 4096, 40), |spec| {
        spec.history = Some(100);
        spec.pace = Some(plan::Pace { transfers_per_second: 100.0 });
    });
    run(&workload, Phase::Write).expect("written");
    let controls = Controls::new();
    std::thread::scope(|scope| {
        let job = PhaseJob::new(&workload, Phase::Read, 0);
        let phase = scope.spawn({
            let controls = &controls;
            move || engine::run(&job, &SingleProcess, controls).expect("measured")
        });
        let (mut seen, mut all, mut looks) = (HistoryCursor::default(), Vec::new(), 0);
        while !phase.is_finished() {
            let new = controls.last_operations(&mut seen);
            looks += u32::from(!new.is_empty());
            all.extend(new);
            std::thread::sleep(Duration::from_millis(5));
        }
        all.extend(controls.last_operations(&mut seen));
        // The clock's rate, and therefore the start times, are known more accurately at the end.
        let what = |all: &[engine::LastOperation]| -> Vec<(u64, u64)> {
            all.iter().map(|one| (one.offset, one.latency_ns)).collect()
        };
        assert_eq!(what(&all), what(&phase.join().expect("it ran").history));
        assert!(looks > 1, "all of them were seen at once");
    });
}

/// Items are recorded with their paths, whatever the order of traversal.
#[test]
fn items_of_trees_are_kept_by_their_paths() {
    let shape =
        Tree { shift: 1, random: Some(5), depth: 1, branching: 2, write_bytes: Bytes(700), ..Tree::flat(4) };
    for backend in crate::tree::BACKENDS {
        let bed = Bed::new();
        let tree = crate::tree::changed(&bed, backend, 2, shape.clone(), |spec| spec.history = Some(1_000));
        run(&tree, Phase::TreeCreate).expect("made");
        let created = run(&tree, Phase::FileCreate).expect("made").history;
        let stat = run(&tree, Phase::FileStat).expect("looked at").history;
        assert_eq!((created.len(), stat.len()), (24, 24), "{backend:?}");
        for kept in [&created, &stat] {
            let paths: BTreeSet<&std::path::Path> = kept.iter().map(|one| &*one.path).collect();
            assert_eq!(paths.len(), 24, "{backend:?}: each item once");
            assert!(paths.iter().all(|path| path.is_file()), "{backend:?}: {paths:?}");
        }
        assert!(created.iter().all(|one| (one.operation, one.bytes) == (Operation::Create, 700)));
        assert!(stat.iter().all(|one| (one.operation, one.bytes, one.offset) == (Operation::Stat, 0, 0)));
        // With a shift, each task accesses the items that the other task created.
        let task_of = |kept: &[engine::LastOperation], path: &std::path::Path| {
            kept.iter().find(|one| &*one.path == path).map(|one| one.task)
        };
        assert!(stat.iter().all(|one| task_of(&created, &one.path) == Some(1 - one.task)), "{backend:?}");
    }
}
