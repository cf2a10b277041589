//! Consistency of values that tools print together, checked on the blocks printed in study E and on real output.

use analysis::{
    gate::Judgement,
    printed::{
        Printed, Reconciled, RoundTrip, average_between, kbyte, latency_agrees, one_iteration,
        rate_of_records, throughput_block, total_of_averages,
    },
};
use plan::Bytes;
use proptest::{collection::vec, prelude::*};

fn printed(text: &str) -> Printed {
    Printed::parse(text).expect("a number")
}

/// Total, min, max, average and min xfer of each phase of 76 processes with 32 GiB in records of 4 KiB.
const BLOCKS: [[&str; 5]; 4] = [
    ["5859945.57", "67595.85", "87392.73", "77104.55", "6488345.00"],
    ["5925287.16", "67195.85", "88241.34", "77964.30", "6388664.00"],
    ["7193675.62", "79806.80", "112921.42", "94653.63", "5929575.00"],
    ["7195287.09", "76148.84", "121510.56", "94674.83", "5257923.00"],
];

#[test]
fn the_published_blocks_of_iozone_pass_all_their_checks() {
    for block in BLOCKS {
        let [total, min, max, average, moved] = block.map(printed);
        let each = Printed::exact(8_388_608.0);
        let checks = throughput_block(76, total, [min, max, average], Some((moved, each)));
        assert_eq!(checks.len(), 3);
        for check in checks {
            assert_eq!(check.outcome, Judgement::Holds, "{check:?}");
        }
    }
}

#[test]
fn a_wrong_digit_is_found_and_rounding_is_not() {
    let of = |average: &str| total_of_averages(76, printed(average), printed("5859945.57")).outcome;
    let check = total_of_averages(76, printed("77104.55"), printed("5859945.57"));
    assert_eq!(check.outcome, Judgement::Holds);
    assert_eq!(check.evidence, "76 × 77104.55 = 5859945.8, printed 5859945.57");
    assert_eq!(of("77104.54"), Judgement::DoesNotHold, "76 roundings hide less than the last digit");
    assert_eq!(of("77104.65"), Judgement::DoesNotHold);
    assert_eq!(of("77014.55"), Judgement::DoesNotHold);
    let between = |average| average_between(printed("1.00"), printed(average), printed("2.00")).outcome;
    assert_eq!((between("1.00"), between("2.5")), (Judgement::Holds, Judgement::DoesNotHold));
}

/// A run so short that the processes hardly overlapped: `iozone -t 2` with 16 MiB each.
#[test]
fn processes_that_did_not_run_together_are_seen() {
    let [total, min, max, average, moved] =
        ["6964371.50", "1871325.50", "5093046.00", "3482185.75", "13440.00"].map(printed);
    let checks = throughput_block(2, total, [min, max, average], Some((moved, Printed::exact(16384.0))));
    let outcomes: Vec<_> = checks.iter().map(|check| check.outcome).collect();
    assert_eq!(outcomes, [Judgement::Holds, Judgement::Holds, Judgement::DoesNotHold]);
    assert_eq!(checks[2].evidence, "13440 ÷ 16384 = 0.820312, 1871325.5 ÷ 5093046 = 0.367428");
}

#[test]
fn a_kbyte_is_what_operations_and_records_say() {
    let kib = Bytes::kib(4);
    assert_eq!(kbyte(55111.52, 13454.96, kib), Some(1000.0));
    assert_eq!(kbyte(53819.84, 13454.96, kib), Some(1024.0));
    assert_eq!(kbyte(55111.52, 13454.96, Bytes::kib(8)), None);
    assert_eq!(kbyte(0.0, 13454.96, kib), None);
    let check = rate_of_records(printed("55111.52"), printed("13454.96"), kib);
    assert_eq!(check.outcome, Judgement::Holds, "{check:?}");
    let other = rate_of_records(printed("55111.52"), printed("13454.96"), Bytes::kib(8));
    assert_eq!(other.outcome, Judgement::DoesNotHold);
    assert!((other.off.expect("two rates") + 0.5).abs() < 1e-6);
}

#[test]
fn the_latency_of_one_thread_is_the_time_between_its_operations() {
    let check = |latency, threads| {
        latency_agrees(printed(latency), threads, printed("1.000"), printed("13454.96")).expect("a rate")
    };
    assert_eq!(check("0.074", 1).outcome, Judgement::Holds);
    assert_eq!(check("0.074", 1).evidence, "1 ÷ 13454.96 = 0.0743 ms, printed 0.074 ms");
    assert_eq!(check("0.074", 2).outcome, Judgement::DoesNotHold);
    assert!(latency_agrees(printed("0.1"), 1, printed("1"), printed("0")).is_none());
}

/// The eight operations that study E shows for one thread that reads 4 KiB.
#[test]
fn a_round_trip_is_split_by_its_history() {
    let starts = [451_846, 451_918, 451_990, 452_061, 452_132, 452_205, 452_275, 452_349];
    let times = [55, 55, 54, 54, 55, 53, 57, 56];
    let rows = starts.iter().zip(times);
    let operations: Vec<_> = rows.map(|(&start, time)| (start * 1000, time * 1000)).collect();
    let split = RoundTrip::of(&operations, Some(13454.96)).expect("a history");
    let micros = |nanos: f64| format!("{:.1}", nanos / 1e3);
    let known = [split.device_ns, split.gap_ns, split.between_ns].map(micros);
    assert_eq!((split.n, known), (8, ["54.9", "71.9", "17.1"].map(str::to_owned)));
    let by_rate = [split.application_ns, split.rest_ns].map(|nanos| micros(nanos.expect("a rate")));
    assert_eq!(by_rate, ["74.3", "19.4"]);
    assert_eq!(RoundTrip::of(&operations[..1], None), None);
    let mut backwards = operations.clone();
    backwards.reverse();
    assert_eq!(RoundTrip::of(&backwards, Some(13454.96)), Some(split), "a history may be newest first");
    let mut overlapping = operations.clone();
    overlapping[2].1 = 500_000;
    assert_eq!(RoundTrip::of(&overlapping, Some(13454.96)), None, "no time is between those that overlap");
}

/// The last operation takes long, but nothing comes after it.
#[test]
fn the_last_operation_is_in_no_gap() {
    let micros = [(451_846, 55), (451_946, 55), (452_046, 3_000)];
    let operations = micros.map(|(start, time): (u64, u64)| (start * 1_000, time * 1_000));
    let split = RoundTrip::of(&operations, None).expect("a history");
    assert_eq!((split.gap_ns, split.between_ns), (100_000.0, 45_000.0));
}

proptest! {
    /// Each operation starts a known time after the end of the one before.
    #[test]
    fn the_time_between_operations_is_the_mean_of_the_pauses(
        operations in vec((0..10_000_000_u64, 0..1_000_000_u64), 2..50),
    ) {
        let mut now = 0;
        let mut history = Vec::new();
        for (time, pause) in &operations {
            history.push((now, *time));
            now += time + pause;
        }
        let pauses = &operations[..operations.len() - 1];
        let mean = pauses.iter().map(|(_, pause)| *pause as f64).sum::<f64>() / pauses.len() as f64;
        let split = RoundTrip::of(&history, None).expect("none overlap");
        prop_assert!((split.between_ns - mean).abs() <= 1e-3, "{} instead of {mean}", split.between_ns);
    }
}

/// The mdtest table printed in study E, and the 26 s between its start and its end.
#[test]
fn phases_and_delays_explain_the_wall_time() {
    let rates = [("create", 50032.690), ("stat", 3937604.341), ("read", 941193.073), ("remove", 143095.519)];
    let files: f64 = rates.iter().map(|(_, rate)| 490_000.0 / rate).sum();
    let parts = vec![("files", files), ("tree removal", 1.0 / 0.239), ("delay", 8.0)];
    let time = Reconciled::new(parts.clone(), 26.0, 1.0);
    assert_eq!(time.to_string(), "13.86 + 4.18 + 8 = 26.05 s of 26 s");
    assert_eq!(time.check().outcome, Judgement::Holds);
    let longer = Reconciled::new(parts, 40.0, 1.0);
    assert!(!longer.agrees() && (longer.unexplained_seconds() - 13.95).abs() < 0.01);
}

#[test]
fn the_deviation_of_one_iteration_says_nothing() {
    let of = |n, text| one_iteration(n, Some(printed(text))).map(|check| check.outcome);
    assert_eq!(of(1, "0.000"), Some(Judgement::CannotTell));
    assert_eq!(of(1, "3.000"), Some(Judgement::DoesNotHold));
    assert_eq!(of(3, "0.000"), None);
    assert_eq!(one_iteration(1, None), None);
}

#[test]
fn numbers_are_read_with_what_their_last_digit_hides() {
    let half = |text| Printed::parse(text).map(|printed| printed.half_digit);
    assert_eq!(half(" 12 "), Some(0.5));
    assert_eq!(half("0.074"), Some(0.5 * 10_f64.powi(-3)));
    assert_eq!(half("1.5e+06"), Some(0.5 * 10_f64.powi(5)));
    assert_eq!((half("-"), half("nan"), half("inf"), half("1e999")), (None, None, None, None));
}
