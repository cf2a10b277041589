//! Written data matches the plan, and wrong data is identified.

use std::fs;
use std::os::unix::fs::FileExt;

use engine::{EngineError, Expect, MismatchKind, PhaseJob, PhaseOutcome};
use plan::{Backend, Order, Phase, Sharing, Workload};

use crate::bed::{BACKENDS, Bed, run, run_with, with};

/// Verifies a file that was written up to generation `last`.
fn check(workload: &Workload, last: u16) -> PhaseOutcome {
    run_with(workload, Phase::CheckRead, |job| job.data.expect = Expect::Generations(last..=last))
        .expect("a check that finds something is no error")
}

#[test]
fn every_backend_writes_the_same_file() {
    let bed = Bed::new();
    for transfer in [512, 4096, 47_008, 1 << 18] {
        let mut first: Option<Vec<u8>> = None;
        for (number, backend) in BACKENDS.into_iter().enumerate() {
            for random in [false, true] {
                let workload = with(&bed.spec("file", transfer, 5), |spec| {
                    spec.tasks = 3;
                    spec.geometry.segments = 2;
                    spec.backend = backend;
                    spec.order = if random { Order::Random { seed: 5 } } else { Order::Sequential };
                });
                let outcome = run(&workload, Phase::Write).expect("written");
                assert_eq!((outcome.writes, outcome.write_bytes), (30, 30 * transfer));
                assert_eq!(outcome.latency[0].histogram.total(), 30);
                let content = fs::read(bed.path("file")).expect("readable");
                assert_eq!(content.len() as u64, 30 * transfer);
                match &first {
                    None => first = Some(content),
                    Some(first) => assert!(*first == content, "{backend:?} wrote something else"),
                }
                let other = with(&bed.spec("file", transfer, 5), |spec| {
                    spec.tasks = 3;
                    spec.geometry.segments = 2;
                    spec.backend = BACKENDS[(number + 1) % BACKENDS.len()];
                });
                let found = check(&other, 1).mismatches;
                assert_eq!((found.wrong_cells, found.checked_cells), (0, 30 * transfer.div_ceil(512)));
                fs::remove_file(bed.path("file")).expect("removable");
            }
        }
    }
}

#[test]
fn random_writes_visit_each_offset_once() {
    let bed = Bed::new();
    for backend in BACKENDS {
        let written = with(&bed.spec("file", 4096, 250), |spec| {
            spec.tasks = 4;
            spec.backend = backend;
            spec.order = Order::Random { seed: 11 };
        });
        let outcome = run(&written, Phase::Write).expect("written");
        // There are as many transfers as offsets and no offset is missing, so no offset occurs twice.
        assert_eq!(outcome.writes, 1000);
        assert!(outcome.tasks.iter().all(|task| task.writes == 250));
        let read = with(&bed.spec("file", 4096, 1000), |_| {});
        let found = check(&read, 1).mismatches;
        assert_eq!((found.wrong_cells, found.checked_cells), (0, 8000));
    }
}

#[test]
fn a_mixture_reads_its_exact_share_and_writes_what_belongs_there() {
    // Short, medium and long transfers generate the data of writes in different ways.
    for (transfer, count, reads) in [(4096, 300, 210), (48 << 10, 20, 14), (256 << 10, 10, 7)] {
        let bed = Bed::new();
        let filled = with(&bed.spec("file", transfer, count), |spec| spec.tasks = 3);
        run(&filled, Phase::Fill).expect("filled");
        for backend in BACKENDS.into_iter().chain([Backend::Null]) {
            let workload = with(&bed.spec("file", transfer, count), |spec| {
                spec.tasks = 3;
                spec.backend = backend;
                spec.read_percent = 70;
                spec.verify = true;
                spec.order = Order::Random { seed: 3 };
            });
            let both = |job: &mut PhaseJob<'_>| {
                job.data.write_generation = 2;
                job.data.expect = Expect::Generations(1..=2);
            };
            let outcome = run_with(&workload, Phase::Mixed, both).expect("mixed");
            let all = (reads, count - reads);
            assert!(outcome.tasks.iter().all(|task| (task.reads, task.writes) == all), "{backend:?}");
            assert_eq!(outcome.mismatches.wrong_cells, 0, "{:?}", outcome.mismatches.first);
            let cells = if backend == Backend::Null { 0 } else { 3 * reads * transfer / 512 };
            assert_eq!(outcome.mismatches.checked_cells, cells);
            let after = run_with(&workload, Phase::CheckRead, both).expect("checked");
            assert_eq!(after.mismatches.wrong_cells, 0, "{backend:?}: {:?}", after.mismatches.first);
        }
    }
}

#[test]
fn mixed_passes_over_few_transfers_never_meet_each_other() {
    let bed = Bed::new();
    let spec = bed.spec("file", 16_384, 5);
    run(&with(&spec, |_| {}), Phase::Fill).expect("filled");
    let workload = with(&spec, |spec| {
        spec.backend = Backend::Uring { depth: 16, required: true };
        spec.read_percent = 50;
        spec.verify = true;
        spec.duration = Some(plan::Nanos::millis(100));
    });
    let outcome = run_with(&workload, Phase::Mixed, |job| {
        job.data.write_generation = 2;
        job.data.expect = Expect::Generations(1..=2);
    })
    .expect("mixed");
    assert!(outcome.reads + outcome.writes > 10);
    assert_eq!(outcome.mismatches.wrong_cells, 0, "{:?}", outcome.mismatches.first);
}

#[test]
fn wrong_data_is_named_by_what_it_is() {
    let bed = Bed::new();
    for backend in BACKENDS {
        let workload = with(&bed.spec("file", 4096, 16), |spec| spec.backend = backend);
        run(&workload, Phase::Write).expect("written");
        let older = fs::read(bed.path("file")).expect("readable");
        run_with(&workload, Phase::Write, |job| job.data.write_generation = 2).expect("written again");
        let file = fs::File::options().read(true).write(true).open(bed.path("file")).expect("opens");
        let put = |bytes: &[u8], at: u64| file.write_all_at(bytes, at).expect("written by hand");
        let mut cell = [0; 512];
        put(&[0; 4096], 4096);
        file.read_exact_at(&mut cell, 50_000 / 512 * 512).expect("readable");
        put(&cell, 8192);
        put(&older[12_288..16_384], 12_288);
        put(&older[16_384 + 512..16_384 + 1024], 16_384 + 512);
        put(b"damage", 20_480 + 100);
        put(&[0xee; 512], 24_576);
        let outcome = check(&workload, 2);
        let found: Vec<_> = outcome.mismatches.first.iter().map(|m| (m.offset, m.kind)).collect();
        let stale = |cell: u64| (12_288 + cell * 512, MismatchKind::Stale { found: 1 });
        let mut expected: Vec<_> = (0..8).map(|cell| (4096 + cell * 512, MismatchKind::Zeros)).collect();
        expected.push((8192, MismatchKind::Misplaced { file: 0, offset: 49_664 }));
        expected.extend((0..7).map(stale));
        assert_eq!(found, expected, "{backend:?}: the first sixteen are described");
        assert_eq!(
            outcome.mismatches.by_kind,
            [8, 1, 2, 1, 8, 0],
            "stale, misplaced, torn, foreign, zeros, other run"
        );
        assert_eq!(outcome.mismatches.wrong_cells, 20);

        put(&older[..12_288], 0);
        file.set_len(0).expect("emptied");
        run_with(&workload, Phase::Write, |job| job.data.write_generation = 2).expect("written again");
        put(&older[16_384 + 512..16_384 + 1024], 16_384 + 512);
        put(b"damage", 20_480 + 100);
        put(&[0xee; 512], 24_576);
        let outcome = check(&workload, 2);
        let found: Vec<_> = outcome.mismatches.first.iter().map(|m| (m.offset, m.kind)).collect();
        assert_eq!(
            found,
            [
                (16_896, MismatchKind::Torn { found: Some(1) }),
                (20_580, MismatchKind::Torn { found: None }),
                (24_576, MismatchKind::Foreign),
            ]
        );
        assert!(outcome.mismatches.first[1].to_string().contains("wrong data at offset 20580: torn data"));
        fs::remove_file(bed.path("file")).expect("removable");
    }
}

#[test]
fn another_file_or_signature_is_told_from_ours() {
    let bed = Bed::new();
    let workload = with(&bed.spec("file", 4096, 2), |spec| {
        spec.tasks = 2;
        spec.files.sharing = Sharing::PerTask;
    });
    run(&workload, Phase::Write).expect("written");
    fs::copy(bed.path("file.00000001"), bed.path("file.00000000")).expect("swapped");
    let found = check(&workload, 1).mismatches;
    assert_eq!(found.wrong_cells, 16);
    assert_eq!(found.first[0].kind, MismatchKind::Misplaced { file: 1, offset: 0 });
    let outcome = run_with(&workload, Phase::CheckRead, |job| job.data.signature = 99).expect("checked");
    assert_eq!(outcome.mismatches.by_kind, [0, 0, 0, 0, 0, 32]);
}

#[test]
fn the_first_wrong_byte_can_end_the_phase() {
    let bed = Bed::new();
    for backend in BACKENDS {
        let workload = with(&bed.spec("file", 4096, 64), |spec| {
            spec.backend = backend;
            spec.verify = true;
            spec.quit_on_error = true;
        });
        run(&workload, Phase::Write).expect("written");
        let file = fs::File::options().write(true).open(bed.path("file")).expect("opens");
        file.write_all_at(b"x", 100_000).expect("damaged");
        match run(&workload, Phase::Read) {
            Err(EngineError::WrongData(mismatch)) => assert_eq!(mismatch.offset, 100_000),
            other => panic!("{backend:?}: {other:?}"),
        }
    }
}

#[test]
fn large_and_small_readers_verify_what_others_wrote() {
    let bed = Bed::new();
    let written = with(&bed.spec("file", 65_536, 8), |spec| {
        spec.backend = Backend::Uring { depth: 4, required: true };
    });
    run(&written, Phase::Write).expect("written");
    for (transfer, count) in [(512, 1024), (4096, 128), (12_288, 42), (524_288, 1)] {
        let reader = with(&bed.spec("file", transfer, count), |_| {});
        assert_eq!(check(&reader, 1).mismatches.wrong_cells, 0, "read by {transfer}");
    }
}
