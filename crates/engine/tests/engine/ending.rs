//! How phases end: by volume, by time, or by the user.

use std::time::{Duration, Instant};

use engine::{Controls, EngineError, LimitKind, PhaseJob, ProcessNeeds, SingleProcess, TransferLimit};
use plan::{Backend, Nanos, Order, Pace, Phase, Sharing, Stonewall, WorkloadSpec};

use crate::bed::{BACKENDS, Bed, run, run_with, spec, with};

/// Far more transfers than a test can do.
const MANY: u64 = 1 << 40;

fn null(tasks: u32) -> WorkloadSpec {
    let mut spec = spec("unused".into(), 4096, MANY);
    spec.backend = Backend::Null;
    spec.tasks = tasks;
    spec
}

/// Four tasks that read their own sparse files, which are larger than what the tasks have time to read.
fn readers(bed: &Bed, backend: Backend) -> WorkloadSpec {
    let mut spec = bed.spec("file", 4096, 1 << 20);
    spec.tasks = 4;
    spec.files.sharing = Sharing::PerTask;
    spec.backend = backend;
    for task in 0..4 {
        let file = std::fs::File::create(bed.path(&format!("file.{task:08}"))).expect("created");
        file.set_len(4 << 30).expect("made long");
    }
    spec
}

#[test]
fn a_stonewall_ends_the_first_pass() {
    let workload = with(&null(3), |spec| {
        spec.stonewall = Some(Stonewall { deadline: Nanos::millis(20), wear_out: false });
    });
    let outcome = run(&workload, Phase::Read).expect("ran");
    let stonewall = outcome.stonewall.expect("there was one");
    assert!(stonewall.ns >= 20_000_000);
    assert_eq!(stonewall.bytes, outcome.read_bytes);
    assert_eq!(stonewall.worn_out_transfers, None);
    assert!(outcome.tasks.iter().all(|task| task.reads > 0 && task.reads < MANY));
    assert!(!outcome.stopped);
}

#[test]
fn wear_out_gives_all_tasks_the_most_that_one_had() {
    let bed = Bed::new();
    let mut specs: Vec<_> = BACKENDS.iter().map(|&backend| readers(&bed, backend)).collect();
    specs.push(null(5));
    for spec in specs {
        let workload = with(&spec, |spec| {
            spec.stonewall = Some(Stonewall { deadline: Nanos::millis(15), wear_out: true });
        });
        let outcome = run(&workload, Phase::Read).expect("ran");
        let stonewall = outcome.stonewall.expect("there was one");
        let most = outcome.most_transfers();
        assert_eq!(stonewall.worn_out_transfers, Some(most));
        assert!(outcome.tasks.iter().all(|task| task.reads == most), "{:?}", outcome.tasks);
        assert!(stonewall.bytes <= outcome.read_bytes && stonewall.bytes > 0);
        // A later phase can repeat exactly this number of transfers, regardless of the time limit.
        let again =
            run_with(&workload, Phase::Read, |job| job.limit = TransferLimit::Exactly(7)).expect("ran");
        assert!(again.tasks.iter().all(|task| task.reads == 7));
        assert!(again.stonewall.is_none());
    }
}

#[test]
fn each_task_may_have_a_limit_of_its_own() {
    let limit = TransferLimit::PerTask(&[5, 0, 9]);
    let outcome = run_with(&with(&null(3), |_| {}), Phase::Read, |job| job.limit = limit);
    let reads: Vec<u64> = outcome.expect("ran").tasks.iter().map(|task| task.reads).collect();
    assert_eq!(reads, [5, 0, 9]);
}

#[test]
fn a_duration_repeats_the_pass_until_it_is_over() {
    let bed = Bed::new();
    for backend in BACKENDS.into_iter().chain([Backend::Null]) {
        for order in [Order::Sequential, Order::Random { seed: 9 }] {
            let spec = bed.spec("file", 4096, 16);
            run(&with(&spec, |_| {}), Phase::Fill).expect("filled");
            let last = |millis: u64| {
                let workload = with(&spec, |spec| {
                    spec.backend = backend;
                    spec.order = order;
                    spec.verify = true;
                    spec.duration = Some(Nanos::millis(millis));
                });
                let outcome = run(&workload, Phase::Read).expect("ran");
                assert!(outcome.io_ns >= millis * 1_000_000);
                outcome
            };
            // On a busy machine the task may get no processor time for a while.
            let outcome = [20, 500, 5000].into_iter().map(last).find(|outcome| outcome.reads > 32);
            let outcome = outcome.unwrap_or_else(|| panic!("{backend:?}: fewer than two passes in 5 s"));
            assert_eq!(outcome.mismatches.wrong_cells, 0);
            let series: u64 = outcome.series.iter().map(|interval| interval.transfers).sum();
            assert_eq!(series, outcome.reads);
        }
    }
}

/// The number of 4 KiB blocks of `path` that contain nonzero data.
fn written_blocks(path: &std::path::Path) -> usize {
    let bytes = std::fs::read(path).expect("written");
    bytes.chunks(4096).filter(|block| block.iter().any(|&byte| byte != 0)).count()
}

#[test]
fn each_task_does_exactly_its_operations() {
    for backend in BACKENDS.into_iter().chain([Backend::Null]) {
        for (order, operations) in [
            (Order::Sequential, 5),
            (Order::Sequential, 16),
            (Order::Random { seed: 3 }, 5),
            (Order::Random { seed: 3 }, 16),
            (Order::Random { seed: 3 }, 83),
        ] {
            let bed = Bed::new();
            let spec = bed.spec("file", 4096, 16);
            let workload = with(&spec, |spec| {
                spec.tasks = 3;
                spec.files.sharing = Sharing::PerTask;
                spec.backend = backend;
                spec.order = order;
                spec.verify = true;
                spec.read_percent = 40;
                spec.operations = Some(operations);
            });
            let written = run(&workload, Phase::Write).expect("written");
            assert!(written.tasks.iter().all(|task| task.writes == operations && task.reads == 0));
            if backend != Backend::Null {
                for task in 0..3 {
                    let blocks = written_blocks(&bed.path(&format!("file.{task:08}")));
                    assert_eq!(blocks as u64, 16.min(operations), "{backend:?} {order:?}");
                }
            }
            let filled = run(&workload, Phase::Fill).expect("filled");
            assert!(filled.tasks.iter().all(|task| task.writes == 16), "a fill is one pass");
            let read = run(&workload, Phase::Read).expect("read");
            assert!(read.tasks.iter().all(|task| task.reads == operations && task.writes == 0));
            let mixed = run(&workload, Phase::Mixed).expect("mixed");
            assert!(mixed.tasks.iter().all(|task| task.transfers() == operations));
            let checked = run(&workload, Phase::CheckRead).expect("checked");
            assert!(checked.tasks.iter().all(|task| task.reads == 16), "a check is one pass");
            for outcome in [&read, &mixed, &checked] {
                assert_eq!(outcome.mismatches.wrong_cells, 0, "{backend:?} {order:?}");
            }
            let recorded: u64 = read.latency.iter().map(|latency| latency.histogram.total()).sum();
            assert_eq!(recorded, 3 * operations);
        }
    }
}

#[test]
fn a_fill_takes_many_tasks_in_turn() {
    let bed = Bed::new();
    for backend in [Backend::Psync, Backend::Uring { depth: 8, required: true }, Backend::Libaio { depth: 8 }]
    {
        for sharing in [Sharing::PerTask, Sharing::Shared] {
            let workload = with(&bed.spec("file", 1 << 20, 1), |spec| {
                spec.tasks = 200;
                spec.files.sharing = sharing;
                spec.backend = backend;
                spec.sync.at_close = true;
            });
            let outcome = run(&workload, Phase::Fill).expect("filled");
            assert_eq!((outcome.tasks.len(), outcome.writes), (200, 200));
            assert!((0..).zip(&outcome.tasks).all(|(number, task)| task.task == number && task.writes == 1));
            let checked =
                run_with(&workload, Phase::CheckWrite, |job| job.tasks = 100..120).expect("checked");
            assert_eq!((checked.reads, checked.mismatches.wrong_cells), (20, 0));
            // There are more tasks than processors, so some tasks reuse the buffers of others.
            let all = run(&workload, Phase::CheckWrite).expect("checked");
            assert_eq!((all.reads, all.mismatches.wrong_cells), (200, 0), "{backend:?} {sharing:?}");
        }
    }
}

#[test]
fn a_fill_goes_through_one_pass_whatever_the_clock_says() {
    let bed = Bed::new();
    let workload = with(&bed.spec("file", 4096, 300), |spec| {
        spec.duration = Some(Nanos(1));
        spec.pace = Some(Pace { transfers_per_second: 0.001 });
    });
    assert_eq!(run(&workload, Phase::Fill).expect("filled").writes, 300);
}

#[test]
fn a_stop_ends_the_phase_and_keeps_what_was_measured() {
    let bed = Bed::new();
    let mut specs: Vec<_> = BACKENDS.iter().map(|&backend| readers(&bed, backend)).collect();
    specs.push(null(2));
    // The stop also wakes a task that sleeps for an hour until its next transfer.
    let sleepers = specs.clone().into_iter().map(|mut spec| {
        spec.pace = Some(Pace { transfers_per_second: 1.0 / 3600.0 });
        spec
    });
    for spec in specs.clone().into_iter().chain(sleepers) {
        let workload = with(&spec, |spec| spec.duration = Some(Nanos::secs(7200)));
        let controls = Controls::new();
        let outcome = std::thread::scope(|scope| {
            scope.spawn(|| {
                let start = Instant::now();
                while controls.progress().transfers == 0 && start.elapsed() < Duration::from_secs(5) {
                    std::thread::sleep(Duration::from_millis(5));
                }
                controls.stop();
            });
            engine::run(&PhaseJob::new(&workload, Phase::Read, 0), &SingleProcess, &controls)
        })
        .expect("a stop is no error");
        assert!(outcome.stopped);
        assert!(outcome.wall_ns < 7_200_000_000_000);
        let recorded: u64 = outcome
            .latency
            .iter()
            .filter(|latency| latency.measure == plan::Measure::Response)
            .map(|latency| latency.histogram.total())
            .sum();
        assert_eq!(recorded, outcome.reads);
        assert_eq!(controls.progress().transfers, outcome.reads);
    }
}

#[test]
fn recording_can_be_left_off() {
    let bed = Bed::new();
    for backend in BACKENDS.into_iter().chain([Backend::Null]) {
        let workload = with(&bed.spec("file", 4096, 100), |spec| spec.backend = backend);
        let outcome = run_with(&workload, Phase::Write, |job| job.instrument = false).expect("written");
        assert_eq!(outcome.writes, 100);
        assert!(outcome.latency.is_empty() && outcome.series.is_empty());
        assert!(outcome.io_ns > 0);
    }
}

#[test]
fn times_are_in_order_and_named_rates_can_be_made_of_them() {
    let bed = Bed::new();
    for backend in BACKENDS {
        for barriers in [false, true] {
            let workload = with(&bed.spec("file", 4096, 50), |spec| {
                spec.tasks = 6;
                spec.backend = backend;
                spec.barriers = barriers;
                spec.sync.at_close = true;
            });
            let outcome = run(&workload, Phase::Write).expect("written");
            for task in &outcome.tasks {
                assert!(task.open_start_ns <= task.open_end_ns && task.open_end_ns <= task.io_start_ns);
                assert!(task.io_start_ns < task.io_end_ns && task.io_end_ns <= task.close_start_ns);
                assert!(task.close_start_ns <= task.close_end_ns);
            }
            if barriers {
                let last_open = outcome.tasks.iter().map(|task| task.open_end_ns).max();
                let first_io = outcome.tasks.iter().map(|task| task.io_start_ns).min();
                assert!(last_open <= first_io);
                let last_io = outcome.tasks.iter().map(|task| task.io_end_ns).max();
                let first_close = outcome.tasks.iter().map(|task| task.close_start_ns).min();
                assert!(last_io <= first_close);
            }
            assert!(outcome.wall_ns >= outcome.io_ns);
            assert!(
                outcome.first_done_ns <= outcome.io_ns && outcome.first_done_bytes <= outcome.write_bytes
            );
            assert!(outcome.first_done_bytes >= 50 * 4096);
            assert!(outcome.user_cpu_ns + outcome.system_cpu_ns > 0);
            assert!(outcome.started_unix_ns > 0);
        }
    }
}

#[test]
fn hundreds_of_tasks_run_in_one_process() {
    let bed = Bed::new();
    for backend in [Backend::Psync, Backend::Uring { depth: 2, required: true }, Backend::Libaio { depth: 2 }]
    {
        let workload = with(&bed.spec("file", 4096, 4), |spec| {
            spec.tasks = 512;
            spec.files.sharing = Sharing::PerTask;
            spec.backend = backend;
        });
        let outcome = run(&workload, Phase::Write).expect("written");
        assert_eq!((outcome.tasks.len(), outcome.writes), (512, 2048));
        assert_eq!(run(&workload, Phase::CheckWrite).expect("checked").mismatches.wrong_cells, 0);
    }
}

/// The value of a kernel setting.
fn setting(path: &str) -> u64 {
    std::fs::read_to_string(path).expect("it is there").trim().parse().expect("a number")
}

#[test]
fn thousands_of_tasks_share_few_threads_or_have_one_each() {
    const TASKS: u32 = 3000;
    let bed = Bed::new();
    for backend in [Backend::Null, Backend::Psync, Backend::Uring { depth: 1, required: true }] {
        let workload = with(&bed.spec("file", 4096, 1), |spec| {
            spec.tasks = TASKS;
            spec.backend = backend;
            spec.order = Order::Random { seed: 1 };
        });
        run(&workload, Phase::Fill).expect("filled");
        let read = with(&workload, |spec| spec.operations = Some(5));
        let outcome = run(&read, Phase::Read).expect("read");
        assert_eq!((outcome.tasks.len(), outcome.reads), (TASKS as usize, u64::from(TASKS) * 5));
        assert!(outcome.tasks.iter().all(|task| task.reads == 5), "{backend:?}: each has its share");
    }
}

#[test]
fn more_threads_than_a_process_can_have_are_refused_before_anything_is_made() {
    // Each thread needs four mappings.
    let tasks = setting("/proc/sys/vm/max_map_count") / 4 + 1;
    let bed = Bed::new();
    for phase in [Phase::Fill, Phase::Write] {
        let workload = with(&bed.spec("file", 4096, 1), |spec| {
            spec.tasks = u32::try_from(tasks).expect("a usual machine").min(1 << 20);
        });
        let error = run(&workload, phase).expect_err("refused");
        let EngineError::Limit { which, need, .. } = &error else { panic!("{error}") };
        // If the number of memory mappings is unlimited, the limit on open files is reached first.
        assert!(matches!(which, LimitKind::Mappings | LimitKind::OpenFiles), "{error}");
        assert!(
            *need >= u64::from(workload.tasks) && error.to_string().contains(&need.to_string()),
            "{error}"
        );
        assert!(!bed.path("file").exists(), "nothing was made");
    }
}

#[test]
fn what_phases_at_the_same_time_need_in_the_process_counts_too() {
    let bed = Bed::new();
    let workload = bed.spec("file", 4096, 1).validate().expect("valid");
    let more = 1 << 40;
    let all = [
        (ProcessNeeds { threads: more, ..ProcessNeeds::default() }, LimitKind::Mappings),
        (ProcessNeeds { open_files: more, ..ProcessNeeds::default() }, LimitKind::OpenFiles),
    ];
    for (beside, limit) in all {
        let error = run_with(&workload, Phase::Write, |job| job.beside = beside).expect_err("refused");
        assert!(
            matches!(&error, EngineError::Limit { which, need, .. } if *which == limit && *need > more),
            "{error}"
        );
        assert!(!bed.path("file").exists(), "nothing was made");
    }
}

#[test]
fn processes_of_a_host_do_not_take_more_memory_together_than_there_is() {
    let bed = Bed::new();
    let workload = with(&bed.spec("file", 1 << 20, 1), |spec| spec.tasks = 2);
    let error = run_with(&workload, Phase::Write, |job| job.processes_here = u32::MAX).expect_err("refused");
    assert!(matches!(error, EngineError::Memory { .. }), "{error}");
    assert!(!bed.path("file").exists(), "nothing was made");
}
