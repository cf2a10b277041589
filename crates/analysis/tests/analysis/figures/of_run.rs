//! Figures: all repetitions, with names, conditions and warnings.

use analysis::{RateName, figures::figures};
use plan::{Operation, PassRole, Phase, Plan, Protocol, Stopping};
use record::{PhaseRecord, Warning, WarningRow};

use crate::common::rows::{SECOND, bucket, case, key, phase, plan, run, second, task, workload};

const MIB: u64 = 1 << 20;

/// A phase with all values set.
fn record(repetition: u32, what: Phase, seconds: u64, latency_ns: u64) -> PhaseRecord {
    let key = key(repetition, what);
    let operation = if what == Phase::Read { Operation::Read } else { Operation::Write };
    PhaseRecord {
        tasks: vec![task(&key, 0, 60 * MIB, (0, seconds * SECOND))],
        latency: vec![bucket(&key, operation, (latency_ns, latency_ns), 100)],
        series: (0..seconds).map(|at| second(&key, operation, at, 60 * MIB / seconds)).collect(),
        warnings: vec![WarningRow {
            key: Some(key.clone()),
            warning: Warning::CachedReads { device_share: 0.5 },
        }],
        ..PhaseRecord::new(phase(&key, 60 * MIB, seconds * SECOND))
    }
}

fn two_repetitions() -> (Plan, Vec<PhaseRecord>) {
    let phases = vec![Phase::Fill, Phase::Write, Phase::Read];
    let plan = plan(vec![case(workload(|_| {}), phases)]);
    let mut rows = Vec::new();
    for (repetition, seconds) in [(0, 10), (1, 20)] {
        rows.push(record(repetition, Phase::Fill, 1, 5));
        rows.push(record(repetition, Phase::Write, seconds, 300));
        rows.push(record(repetition, Phase::Read, seconds, 100 * u64::from(repetition + 1)));
    }
    (plan, rows)
}

#[test]
fn a_figure_has_all_repetitions_its_conditions_and_the_name_of_its_rate() {
    let (plan, rows) = two_repetitions();
    let figures = figures(&run(&plan, rows), RateName::ByIo);
    let phases: Vec<_> = figures.iter().map(|figure| figure.phase).collect();
    assert_eq!(phases, [Phase::Write, Phase::Read], "a fill is no result");
    let read = &figures[1];
    assert_eq!((read.case.as_str(), read.title.as_str()), ("c", "a case"));
    assert_eq!(read.conditions, "4 KiB sequential read, buffered, psync depth 1, 1 task");
    assert_eq!(read.rate, RateName::ByIo);
    let repetitions: Vec<_> = read.repetitions.iter().map(|one| one.repetition).collect();
    assert_eq!(repetitions, [0, 1]);
    let mib = MIB as f64;
    assert_eq!((read.bytes_per_second.min, read.bytes_per_second.max), (3.0 * mib, 6.0 * mib));
    assert_eq!(read.bytes_per_second.median, 4.5 * mib);
    assert_eq!(read.transfers_per_second.median, 4.5 * mib / 4096.0);
}

#[test]
fn latency_is_merged_over_all_transfers() {
    let (plan, rows) = two_repetitions();
    let figures = figures(&run(&plan, rows), RateName::ByWall);
    let read = figures[1].response(Operation::Read).expect("reads");
    assert_eq!((read.count, read.percentile(50.0), read.get("p90")), (200, Some(100.0), 200.0));
    let second = figures[1].repetitions[1].response(Operation::Read).expect("reads");
    assert_eq!((second.count, second.percentile(50.0)), (100, Some(200.0)));
    assert_eq!(figures[1].response(Operation::Write), None);
}

#[test]
fn a_warning_of_every_repetition_is_shown_once() {
    let (plan, rows) = two_repetitions();
    let figures = figures(&run(&plan, rows), RateName::ByWall);
    assert_eq!(figures[1].warnings, [Warning::CachedReads { device_share: 0.5 }]);
    assert_eq!(figures[1].repetitions[0].warnings.len(), 1);
}

#[test]
fn a_rate_that_a_repetition_lacks_is_replaced_by_name() {
    let (plan, rows) = two_repetitions();
    let figures = figures(&run(&plan, rows), RateName::AtStonewall);
    assert_eq!(figures[0].rate, RateName::ByWall);
}

#[test]
fn a_case_that_was_not_reached_has_no_figure() {
    let plan = plan(vec![case(workload(|_| {}), vec![Phase::Read])]);
    assert!(figures(&run(&plan, Vec::new()), RateName::ByWall).is_empty());
}

/// Rows may be in any order, for example if several nodes wrote them.
#[test]
fn the_order_of_the_rows_does_not_matter() {
    let (plan, rows) = two_repetitions();
    let mut turned = rows.clone();
    turned.reverse();
    for record in &mut turned {
        record.series.reverse();
    }
    assert_eq!(
        figures(&run(&plan, rows), RateName::Sustained),
        figures(&run(&plan, turned), RateName::Sustained)
    );
}

/// The write rates of passes that took `seconds` each, under `protocol`.
fn of_protocol(protocol: Protocol, seconds: &[u64]) -> analysis::figures::Figure {
    let case = plan::Case { protocol, ..case(workload(|_| {}), vec![Phase::Write]) };
    let passes =
        (0..).zip(seconds).map(|(pass, &seconds)| record(pass, Phase::Write, seconds, 100 * seconds));
    let mut figures = figures(&run(&plan(vec![case]), passes.collect()), RateName::ByIo);
    figures.pop().expect("a figure")
}

#[test]
fn passes_that_do_not_count_are_shown_and_not_summarised() {
    let figure = of_protocol(Protocol { warm_up: 1, rounds: 2, ..Protocol::default() }, &[1, 10, 20, 10, 30]);
    let roles: Vec<_> = figure.repetitions.iter().map(|pass| (pass.role, pass.counts)).collect();
    let (warm_up, earlier, recorded) =
        ((PassRole::WarmUp, false), (PassRole::EarlierRound, false), (PassRole::Recorded, true));
    assert_eq!(roles, [warm_up, earlier, recorded, earlier, recorded]);
    assert_eq!((figure.bytes_per_second.n, figure.bytes_per_second.max), (2, 3.0 * MIB as f64));
    assert_eq!(figure.response(Operation::Write).map(|one| one.count), Some(200));
    // 20 s after 10 s is half the rate, 30 s after 10 s a third of it.
    let drifts: Vec<f64> = figure.repetitions.iter().filter_map(|pass| pass.drift).collect();
    let expected = [-0.5, -2.0 / 3.0];
    assert!(
        drifts.len() == 2 && drifts.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-9),
        "{drifts:?}"
    );
}

#[test]
fn without_rounds_there_is_no_drift() {
    let figure = of_protocol(Protocol::default(), &[10, 20]);
    assert!(figure.repetitions.iter().all(|pass| pass.drift.is_none()));
}

#[test]
fn of_a_steady_state_the_last_window_counts() {
    let stopping = Stopping::Steady { window: 2, excursion: 0.2, slope: 0.1 };
    let figure = of_protocol(Protocol { stopping, ..Protocol::default() }, &[1, 2, 20, 20]);
    let counts: Vec<_> = figure.repetitions.iter().map(|pass| pass.counts).collect();
    assert_eq!(counts, [false, false, true, true]);
    assert_eq!(figure.bytes_per_second.max, 3.0 * MIB as f64);
}

#[test]
fn a_case_with_nothing_but_its_warm_up_has_no_figure() {
    let case = plan::Case {
        protocol: Protocol { warm_up: 2, ..Protocol::default() },
        ..case(workload(|_| {}), vec![Phase::Write])
    };
    let run = run(&plan(vec![case]), vec![record(0, Phase::Write, 1, 1), record(1, Phase::Write, 1, 1)]);
    assert!(figures(&run, RateName::ByWall).is_empty());
}
