//! Splitting a history of operations.

use analysis::figures::{HistoryContext, HistorySplit};
use plan::{Operation, Phase};
use record::{HistoryRow, PhaseKey};

/// The eight rows of a published history: start in seconds and microseconds, duration in milliseconds.
const PUBLISHED: [(u64, u64); 8] = [
    (451_846, 55),
    (451_918, 55),
    (451_990, 54),
    (452_061, 54),
    (452_132, 55),
    (452_205, 53),
    (452_275, 57),
    (452_349, 56),
];

fn row(task: u32, start_ns: u64, latency_ns: u64, device: Option<(u64, &str)>) -> HistoryRow {
    let key = PhaseKey { case: "c".into(), repetition: 0, phase: Phase::Read };
    HistoryRow {
        node: "n".into(),
        task,
        start_ns,
        latency_ns,
        bytes: 4096,
        device_ns: device.map(|(nanos, _)| nanos),
        matched: device.map_or("", |(_, how)| how).into(),
        ..HistoryRow::new(key, Operation::Read)
    }
}

#[test]
fn the_published_rows_give_the_published_means() {
    let rows: Vec<HistoryRow> =
        PUBLISHED.iter().map(|&(start, took)| row(0, start * 1_000, took * 1_000, None)).collect();
    let split = HistorySplit::of(&rows).expect("eight rows");
    let micros = |nanos: f64| format!("{:.1}", nanos / 1e3);
    assert_eq!((split.operations, micros(split.latency_ns)), (8, "54.9".to_owned()));
    assert_eq!(split.gap_ns.map(micros), Some("71.9".to_owned()));
    assert_eq!(split.between_ns.map(micros), Some("17.1".to_owned()));
    assert_eq!(split.device, None);
}

#[test]
fn the_device_s_part_is_of_the_operations_whose_requests_were_seen() {
    let rows =
        [row(0, 0, 100, Some((60, "sector"))), row(0, 110, 300, None), row(0, 420, 50, Some((30, "time")))];
    let split = HistorySplit::of(&rows).expect("rows");
    assert_eq!(split.latency_ns, 150.0);
    let device = split.device.expect("two were seen");
    assert_eq!((device.operations, device.by_sector), (2, 1));
    assert_eq!((device.latency_ns, device.device_ns, device.rest_ns), (75.0, 45.0, 30.0));
}

/// Start times of different tasks say nothing about the gaps within one task.
#[test]
fn gaps_are_those_of_each_task() {
    let rows: Vec<HistoryRow> = (0..10)
        .flat_map(|round| (0..3).map(move |task| row(task, round * 1_000 + u64::from(task), 900, None)))
        .collect();
    let split = HistorySplit::of(&rows).expect("rows");
    assert_eq!((split.gap_ns, split.between_ns), (Some(1_000.0), Some(100.0)));
    assert_eq!(HistorySplit::of(&rows[..3]).expect("rows").gap_ns, None);
    assert_eq!(HistorySplit::of(&[]), None);
}

/// Each pass has a clock of its own: the starts of one say nothing about those of another.
#[test]
fn gaps_are_those_of_each_pass() {
    let rows: Vec<HistoryRow> = (0..10)
        .flat_map(|round| {
            (0..5).map(move |repetition| {
                let one = row(0, round * 1_000 + u64::from(repetition) * 7, 900, None);
                HistoryRow { key: PhaseKey { repetition, ..one.key.clone() }, ..one }
            })
        })
        .collect();
    let split = HistorySplit::of(&rows).expect("rows");
    assert_eq!((split.gap_ns, split.between_ns), (Some(1_000.0), Some(100.0)));
}

#[test]
fn without_a_request_is_everything_where_requests_were_traced_and_none_was_found() {
    let rows = [row(0, 0, 100, None), row(0, 110, 300, None)];
    let share = |traced| HistoryContext::whole(&rows, traced).expect("rows").without_request;
    assert_eq!((share(true), share(false)), (Some(1.0), None));
}
