//! Doubts about a figure, each with its supporting numbers.

use analysis::figures::{
    DeviceShare, MovedBeside, cache_verdict, harness_bound, incomplete, not_quiet, outliers, phase_warnings,
    too_short,
};
use plan::{Backend, Case, Nanos, Phase};
use record::{PhaseRow, Warning};

use crate::common::rows::{SECOND, case, key, phase, task, workload};

const MIB: u64 = 1 << 20;

fn read(device_bytes: Option<u64>) -> PhaseRow {
    PhaseRow { device_read_bytes: device_bytes, ..phase(&key(0, Phase::Read), 100 * MIB, 10 * SECOND) }
}

fn written(device_bytes: Option<u64>) -> PhaseRow {
    PhaseRow { device_write_bytes: device_bytes, ..phase(&key(0, Phase::Write), 100 * MIB, 10 * SECOND) }
}

#[test]
fn device_bytes_are_set_against_application_bytes() {
    let share = DeviceShare::of(&read(Some(100 * MIB)), MovedBeside::default());
    assert_eq!((share.read, share.write), (Some(1.0), None));
    assert_eq!(DeviceShare::of(&read(None), MovedBeside::default()).read, None);
}

#[test]
fn reads_that_the_page_cache_answered_are_marked() {
    assert_eq!(cache_verdict(&read(Some(0)), false), [Warning::CachedReads { device_share: 0.0 }]);
    assert_eq!(cache_verdict(&read(Some(94 * MIB)), false), [Warning::CachedReads { device_share: 0.94 }]);
    assert_eq!(cache_verdict(&read(Some(95 * MIB)), false), []);
    assert_eq!(cache_verdict(&read(None), false), [], "what was not observed is not judged");
}

#[test]
fn writes_that_are_still_in_memory_are_marked() {
    assert_eq!(cache_verdict(&written(Some(MIB)), false), [Warning::CachedWrites { device_share: 0.01 }]);
    // A higher number means read-modify-write, a journal or another user, but not a cache.
    assert_eq!(cache_verdict(&written(Some(300 * MIB)), false), []);
}

#[test]
fn direct_transfers_that_the_devices_did_not_see_were_not_direct() {
    let warnings = cache_verdict(&read(Some(0)), true);
    assert!(
        matches!(&warnings[..], [Warning::Unapplied { what, .. }] if what == "direct I/O"),
        "{warnings:?}"
    );
}

#[test]
fn devices_that_moved_more_than_the_tasks_were_shared() {
    let direct = |direct| workload(|spec| spec.direct = direct);
    let Some(Warning::NotQuiet { seen, share }) =
        not_quiet(&read(Some(365 * MIB)), MovedBeside::default(), &direct(true))
    else {
        panic!("somebody else read three times as much");
    };
    assert!(seen.contains("3.65 times"), "{seen}");
    assert!((share - 265.0 / 365.0).abs() < 1e-12, "others had {share} of what the devices read");
    assert_eq!(
        not_quiet(&written(Some(110 * MIB)), MovedBeside::default(), &direct(true)),
        None,
        "a journal is no company"
    );
    assert_eq!(
        not_quiet(&read(Some(365 * MIB)), MovedBeside::default(), &direct(false)),
        None,
        "the kernel reads ahead"
    );
}

#[test]
fn a_mixed_phase_can_be_cached_both_ways() {
    let row = PhaseRow {
        write_bytes: 10 * MIB,
        device_read_bytes: Some(0),
        device_write_bytes: Some(0),
        ..phase(&key(0, Phase::Mixed), 10 * MIB, 10 * SECOND)
    };
    assert_eq!(cache_verdict(&row, false).len(), 2);
}

/// One task that reads so many times.
fn once(repetitions: u32) -> Case {
    Case { repetitions, ..case(workload(|_| {}), vec![Phase::Read]) }
}

#[test]
fn a_short_phase_is_marked() {
    let lasting = |nanos: u64| PhaseRow { wall_ns: nanos, ..read(None) };
    assert_eq!(too_short(&lasting(2 * SECOND), &once(1)), None);
    let Some(Warning::TooShort { seconds, at_least_seconds }) = too_short(&lasting(1_800_000_000), &once(1))
    else {
        panic!("study A's shortest lines took 1.8 s");
    };
    assert_eq!((seconds, at_least_seconds), (1.8, plan::PHASE_SECONDS_MIN));
}

/// What the noise of short phases is, five passes show; what their start and end take of them, does not scatter.
#[test]
fn five_short_phases_of_many_transfers_are_not_too_short() {
    let of = |nanos: u64, reads: u64, passes: u32, tasks: u32| {
        let mut case = once(passes);
        case.workload = workload(|spec| spec.tasks = tasks);
        let row = PhaseRow { wall_ns: nanos, reads, ..read(None) };
        match too_short(&row, &case)? {
            Warning::TooShort { at_least_seconds, .. } => Some(at_least_seconds),
            other => panic!("{other:?}"),
        }
    };
    let half = SECOND / 2;
    assert_eq!(of(half, 6, 5, 2), None);
    assert_eq!(of(half, 6, 4, 2), Some(2.0), "their scatter is not known");
    assert_eq!(of(half, 5, 5, 2), Some(2.0), "a task has two turns");
    assert_eq!(of(half - 1, 1000, 5, 1), Some(0.5));
    let mut asked = once(5);
    asked.protocol.phase_min = Nanos::secs(1);
    assert!(too_short(&PhaseRow { wall_ns: half, reads: 1000, ..read(None) }, &asked).is_some());
}

#[test]
fn a_busy_processor_is_told_from_a_slow_device() {
    let row = |cpu: u64| PhaseRow {
        wall_ns: 10 * SECOND,
        user_cpu_ns: cpu / 2,
        system_cpu_ns: cpu / 2,
        ..read(None)
    };
    let reads = |workload| case(workload, vec![Phase::Read]);
    let one_task = reads(workload(|_| {}));
    let four_tasks = reads(workload(|spec| spec.tasks = 4));
    let null = reads(workload(|spec| spec.backend = Backend::Null));
    // One task can use at most one processor, however many there are.
    assert!(harness_bound(&row(98 * SECOND / 10), &one_task, 8).is_some());
    assert_eq!(harness_bound(&row(5 * SECOND), &one_task, 8), None);
    // Four tasks on two processors.
    assert_eq!(harness_bound(&row(98 * SECOND / 10), &four_tasks, 2), None);
    let Some(Warning::HarnessBound { cpu_share }) = harness_bound(&row(19 * SECOND), &four_tasks, 2) else {
        panic!("nineteen of twenty processor seconds were used");
    };
    assert_eq!(cpu_share, 0.95);
    assert_eq!(harness_bound(&row(10 * SECOND), &null, 1), None, "the null backend is meant to be bound");
    // The time of all workloads at the same time says something of all processors only.
    let together = plan::Concurrent { name: "both".to_owned(), alone: "one".to_owned(), start: Nanos(0) };
    let beside = plan::Case { concurrent: Some(together), ..four_tasks };
    assert_eq!(harness_bound(&row(50 * SECOND), &beside, 8), None);
    assert!(harness_bound(&row(76 * SECOND), &beside, 8).is_some());
}

#[test]
fn bytes_that_were_planned_and_not_moved_are_told() {
    let of = |bytes: u64| phase(&key(0, Phase::Read), bytes, 10 * SECOND);
    let one_mib = workload(|_| {});
    assert_eq!(incomplete(&of(MIB), &one_mib), None);
    let expected = Warning::Incomplete { bytes: 4096, planned_bytes: MIB };
    assert_eq!(incomplete(&of(4096), &one_mib), Some(expected));
    let timed = workload(|spec| spec.duration = Some(Nanos::secs(1)));
    assert_eq!(incomplete(&of(4096), &timed), None, "a duration moves what it can");
}

#[test]
fn a_task_far_from_the_mean_is_named_for_each_timer() {
    let key = key(0, Phase::Read);
    let mut tasks: Vec<_> = (0..9).map(|number| task(&key, number, MIB, (0, 10 * SECOND))).collect();
    tasks.push(task(&key, 9, MIB, (0, 20 * SECOND)));
    let found = outliers(&tasks, Nanos::secs(5));
    let [Warning::Outlier { task: 9, timer, seconds, mean_seconds, deviation_seconds }] = &found[..] else {
        panic!("{found:?}");
    };
    assert_eq!((timer.as_str(), *seconds, *mean_seconds, *deviation_seconds), ("transfer", 20.0, 11.0, 3.0));
    assert_eq!(outliers(&tasks, Nanos::secs(10)), []);
    assert_eq!(outliers(&[], Nanos::secs(1)), []);
}

#[test]
fn a_fill_is_no_result_and_is_not_judged() {
    let fill = PhaseRow { device_write_bytes: Some(0), wall_ns: 1, ..phase(&key(0, Phase::Fill), MIB, 1) };
    assert_eq!(phase_warnings(&fill, &[], &once(1), 1), []);
    let write = PhaseRow { device_write_bytes: Some(0), wall_ns: 1, ..phase(&key(0, Phase::Write), MIB, 1) };
    assert_eq!(phase_warnings(&write, &[], &once(1), 1).len(), 2, "cached and too short");
}
