//! The named rates, checked against hand calculation.

use std::collections::HashSet;

use analysis::{RateName, figures::Rates};
use plan::{Operation, Phase};
use record::{PhaseRow, SeriesRow, TaskRow};

use crate::common::rows::{SECOND, key, phase, second, task};

const MIB: u64 = 1 << 20;

fn bytes_of(rates: &Rates, name: RateName) -> Option<f64> {
    rates.get(name).map(|rate| rate.bytes_per_second)
}

/// Two tasks of 40 MiB: one from 0.5 s to 4.5 s, one to 8.5 s, with a total of 1 s for open and close.
fn two_tasks() -> (PhaseRow, Vec<TaskRow>) {
    let key = key(0, Phase::Read);
    let row = PhaseRow {
        first_done_ns: 4 * SECOND,
        first_done_bytes: 60 * MIB,
        stonewall_ns: Some(2 * SECOND),
        stonewall_bytes: Some(40 * MIB),
        ..phase(&key, 80 * MIB, 8 * SECOND)
    };
    let half = SECOND / 2;
    let tasks = vec![
        task(&key, 0, 40 * MIB, (half, 4 * SECOND + half)),
        task(&key, 1, 40 * MIB, (half, 8 * SECOND + half)),
    ];
    (row, tasks)
}

#[test]
fn each_rate_divides_what_its_definition_says() {
    let (row, tasks) = two_tasks();
    let rates = Rates::of(&row, &tasks, &[]);
    let mib = MIB as f64;
    let expected = [
        (RateName::ByWall, Some(80.0 * mib / 9.0)),
        (RateName::ByIo, Some(10.0 * mib)),
        (RateName::SumOfTasks, Some(15.0 * mib)),
        (RateName::AtFirstDone, Some(15.0 * mib)),
        (RateName::AtLastDone, Some(10.0 * mib)),
        (RateName::Sustained, None),
        (RateName::AtStonewall, Some(20.0 * mib)),
    ];
    for (name, value) in expected {
        assert_eq!(bytes_of(&rates, name), value, "{}", name.name());
        if let Some(rate) = rates.get(name) {
            let of_4_kib = rate.bytes_per_second / 4096.0;
            assert!((rate.transfers_per_second - of_4_kib).abs() < 1e-6 * of_4_kib, "{}", name.name());
        }
    }
}

#[test]
fn names_and_definitions_are_told_apart() {
    let names: HashSet<_> = RateName::ALL.iter().map(|name| name.name()).collect();
    let definitions: HashSet<_> = RateName::ALL.iter().map(|name| name.definition()).collect();
    assert_eq!((names.len(), definitions.len()), (7, 7));
    assert!(definitions.iter().all(|definition| !definition.contains('\n')));
}

fn seconds(amounts: &[u64]) -> Vec<SeriesRow> {
    let key = key(0, Phase::Read);
    (0..)
        .zip(amounts)
        .filter(|(_, bytes)| **bytes > 0)
        .map(|(at, &bytes)| second(&key, Operation::Read, at, bytes))
        .collect()
}

fn sustained(amounts: &[u64], from_ns: u64, to_ns: u64) -> Option<f64> {
    let key = key(0, Phase::Read);
    let row = phase(&key, amounts.iter().sum(), to_ns - from_ns);
    let tasks = [task(&key, 0, row.read_bytes, (from_ns, to_ns))];
    bytes_of(&Rates::of(&row, &tasks, &seconds(amounts)), RateName::Sustained)
}

#[test]
fn sustained_is_the_low_percentile_of_whole_seconds() {
    // Nineteen good seconds and one bad one: the bad one is the 5th percentile of twenty.
    let mut amounts = vec![MIB; 19];
    amounts.push(4096);
    assert_eq!(sustained(&amounts, 0, 20 * SECOND), Some(4096.0));
    // One bad second in twenty-one is less than 5 %.
    amounts.push(MIB);
    assert_eq!(sustained(&amounts, 0, 21 * SECOND), Some(MIB as f64));
}

#[test]
fn a_second_in_which_nothing_completed_counts_as_nothing() {
    assert_eq!(sustained(&[MIB, MIB, 0, MIB, MIB], 0, 5 * SECOND), Some(0.0));
}

#[test]
fn seconds_that_are_only_part_of_the_transfers_time_are_left_out() {
    // Transfers began after half a second and ended after 4.2 s, which leaves three whole seconds.
    assert_eq!(sustained(&[9, MIB, MIB, MIB, 9], SECOND / 2, 4 * SECOND + 200_000_000), Some(MIB as f64));
    // Two seconds are too short for a sustained rate.
    assert_eq!(sustained(&[MIB, MIB], 0, 2 * SECOND), None);
}

#[test]
fn a_mixed_phase_has_both_directions_apart() {
    let key = key(0, Phase::Mixed);
    let row = PhaseRow { write_bytes: 20 * MIB, writes: 5120, ..phase(&key, 60 * MIB, 4 * SECOND) };
    let tasks = [task(&key, 0, 80 * MIB, (0, 4 * SECOND))];
    let series: Vec<_> = (0..4)
        .flat_map(|at| {
            [second(&key, Operation::Read, at, 15 * MIB), second(&key, Operation::Write, at, 5 * MIB)]
        })
        .collect();
    let rates = Rates::of(&row, &tasks, &series);
    let [read, write] = &rates.operations[..] else { panic!("both directions moved bytes") };
    assert_eq!((read.operation, write.operation), (Operation::Read, Operation::Write));
    let mib = MIB as f64;
    assert_eq!(read.by_io.bytes_per_second, 15.0 * mib);
    assert_eq!(write.by_io.bytes_per_second, 5.0 * mib);
    assert_eq!(write.by_wall.transfers_per_second, 5120.0 / 5.0);
    let low = |rate: Option<analysis::figures::Rate>| rate.map(|rate| rate.bytes_per_second);
    assert_eq!(low(read.sustained), Some(15.0 * mib));
    assert_eq!(low(rates.sustained), Some(20.0 * mib));
    let reads = phase(&self::key(0, Phase::Read), MIB, SECOND);
    assert!(Rates::of(&reads, &[], &[]).operations.is_empty());
}

/// `items` operations without data in `seconds`, with half a second around them.
fn items(what: Phase, items: u64, seconds: u64) -> PhaseRow {
    let key = key(0, what);
    PhaseRow { items, ..phase(&key, 0, seconds * SECOND) }
}

fn done(row: &PhaseRow, operation: Operation, at: u64, transfers: u64, bytes: u64) -> SeriesRow {
    SeriesRow { transfers, ..second(&row.key, operation, at, bytes) }
}

#[test]
fn files_count_as_operations_without_bytes() {
    let row = items(Phase::FileCreate, 4000, 4);
    let task = TaskRow { transfers: 4000, ..task(&row.key, 0, 0, (0, 4 * SECOND)) };
    let series: Vec<_> = [700, 1100, 1100, 1100]
        .iter()
        .zip(0..)
        .map(|(&n, at)| done(&row, Operation::Create, at, n, 0))
        .collect();
    let rates = Rates::of(&row, &[task], &series);
    assert_eq!(rates.by_wall.transfers_per_second, 800.0);
    assert_eq!(rates.by_io.transfers_per_second, 1000.0);
    assert_eq!(rates.sum_of_tasks.transfers_per_second, 1000.0);
    assert_eq!(rates.sustained.map(|rate| rate.transfers_per_second), Some(700.0));
    assert_eq!((rates.by_wall.bytes_per_second, rates.operations.len()), (0.0, 0));
}

#[test]
fn what_moves_no_bytes_has_its_part_from_the_seconds() {
    let row = PhaseRow {
        first_done_ns: 3 * SECOND / 2,
        stonewall_ns: Some(SECOND),
        stonewall_bytes: Some(0),
        ..items(Phase::FileStat, 600, 2)
    };
    let series = [done(&row, Operation::Stat, 0, 400, 0), done(&row, Operation::Stat, 1, 200, 0)];
    let rates = Rates::of(&row, &[], &series);
    let of = |rate: Option<analysis::figures::Rate>| rate.map(|rate| rate.transfers_per_second);
    assert_eq!(of(rates.at_first_done), Some(500.0 / 1.5));
    assert_eq!(of(rates.at_stonewall), Some(400.0));
    let unknown = Rates::of(&row, &[], &[]);
    assert_eq!((unknown.at_first_done, unknown.at_stonewall), (None, None));
}

/// Each operation in a round over objects is counted separately, with its own bytes.
#[test]
fn a_round_over_objects_has_each_operation_apart() {
    let row = PhaseRow {
        items: 40,
        read_bytes: 10 * 3901,
        write_bytes: 10 * 3901,
        ..items(Phase::Benchmark, 40, 1)
    };
    let series = [
        done(&row, Operation::Read, 0, 10, 39_010),
        done(&row, Operation::Create, 0, 10, 39_010),
        done(&row, Operation::Stat, 0, 10, 0),
        done(&row, Operation::Remove, 0, 10, 0),
    ];
    let rates = Rates::of(&row, &[], &series);
    let apart: Vec<_> = rates
        .operations
        .iter()
        .map(|one| (one.operation, one.by_io.transfers_per_second, one.by_io.bytes_per_second))
        .collect();
    let expected = [
        (Operation::Read, 10.0, 39_010.0),
        (Operation::Create, 10.0, 39_010.0),
        (Operation::Stat, 10.0, 0.0),
        (Operation::Remove, 10.0, 0.0),
    ];
    assert_eq!(apart, expected);
    assert_eq!(rates.by_io.transfers_per_second, 40.0);
}

#[test]
fn rows_of_other_phases_do_not_count() {
    let (row, mut tasks) = two_tasks();
    let alone = Rates::of(&row, &tasks, &[]);
    tasks.push(task(&key(1, Phase::Read), 0, 500 * MIB, (0, SECOND)));
    assert_eq!(Rates::of(&row, &tasks, &[]), alone);
}

#[test]
fn a_phase_that_took_no_time_has_no_infinite_rate() {
    let mut row = phase(&key(0, Phase::Read), 0, 0);
    row.wall_ns = 0;
    let rates = Rates::of(&row, &[], &[]);
    for name in RateName::ALL {
        assert!(rates.get(name).is_none_or(|rate| rate.bytes_per_second == 0.0), "{}", name.name());
    }
}
