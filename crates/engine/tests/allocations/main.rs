//! Transfers do not allocate memory: a phase with ten times as many transfers makes the same number of allocations.

use std::alloc::System;
use std::path::Path;

use engine::{Controls, PhaseJob, SingleProcess};
use plan::{Backend, Bytes, Geometry, Order, Phase, WorkloadSpec};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const TRANSFERS: u64 = 2048;

/// The number of allocations and reallocations by all threads of a phase.
fn allocations(path: &Path, backend: Backend, order: Order, phase: Phase, operations: u64) -> usize {
    let geometry = Geometry { transfer: Bytes(4096), block: Bytes(4096 * TRANSFERS), segments: 1 };
    let mut spec = WorkloadSpec::new("test", path, geometry);
    spec.backend = backend;
    spec.order = order;
    spec.operations = Some(operations);
    let workload = spec.validate().expect("a valid workload");
    let job = PhaseJob::new(&workload, phase, 0);
    let before = Region::new(ALLOCATOR);
    let outcome = engine::run(&job, &SingleProcess, &Controls::new()).expect("a phase");
    let counted = before.change();
    assert_eq!(outcome.reads + outcome.writes, operations);
    counted.allocations + counted.reallocations
}

/// This must be the only test in the binary: allocations by threads of other tests would be counted as well.
#[test]
fn ten_times_the_transfers_allocate_as_often() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory for the test");
    let path = directory.path().join("file");
    for backend in [
        Backend::Psync,
        Backend::Vectored { pieces: 2 },
        Backend::Uring { depth: 1, required: false },
        Backend::Uring { depth: 8, required: false },
        Backend::Libaio { depth: 8 },
        Backend::Mmap,
    ] {
        for (order, phase) in [
            (Order::Sequential, Phase::Write),
            (Order::Sequential, Phase::Read),
            (Order::Random { seed: 42 }, Phase::Read),
        ] {
            // What happens once per process, and what the thread of the test harness does meanwhile, adds to some phases
            // only. An allocation of a transfer adds to all of them, so also to the least.
            let least = |operations| {
                let counts = (0..5).map(|_| allocations(&path, backend, order, phase, operations));
                counts.min().expect("five phases")
            };
            let (few, many) = (least(TRANSFERS / 10), least(TRANSFERS));
            assert_eq!(few, many, "{backend:?}, {order:?}, {phase:?}");
        }
    }
}
