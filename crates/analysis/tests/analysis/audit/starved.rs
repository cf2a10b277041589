//! What held a run back, derived from observations of its nodes.

use analysis::figures::{NodeWork, cpu_wait_ns, starvation};
use plan::{Operation, Phase};
use record::{LoadRow, PhaseKey, SeriesRow};

const SECOND: u64 = 1_000_000_000;

fn key() -> PhaseKey {
    PhaseKey { case: "c".into(), repetition: 0, phase: Phase::Write }
}

/// Two tasks on a node with two processors.
const WORK: NodeWork = NodeWork { tasks: 2, cpu_ns: 0, usable_cpus: 2, logical_cpus: 2, direct: true };

/// A second in which nothing held the node back.
fn quiet(second: u64) -> LoadRow {
    LoadRow {
        key: key(),
        node: "n".into(),
        start_ns: second * SECOND,
        length_ns: SECOND,
        busy_cpu_ns: Some(SECOND / 2),
        stolen_cpu_ns: Some(0),
        quota_periods: Some(10),
        throttled_periods: Some(0),
        cpu_wait_ns: Some(SECOND / 100),
        memory_stall_ns: Some(0),
        stopped_ns: 0,
        blocked_threads: 0,
        blocked_in: record::SharedText::EMPTY,
    }
}

/// What is reported for four seconds of two tasks on two processors, where one second is `odd`. Transfers completed
/// in the seconds listed in `completed`.
fn told(odd: &LoadRow, completed: &[u64]) -> Option<(String, f64)> {
    told_of(WORK, odd, completed)
}

fn told_of(work: NodeWork, odd: &LoadRow, completed: &[u64]) -> Option<(String, f64)> {
    let rows: Vec<LoadRow> = (0..4).map(|at| if at == 2 { odd.clone() } else { quiet(at) }).collect();
    let series: Vec<SeriesRow> = completed
        .iter()
        .map(|at| SeriesRow {
            key: key(),
            operation: Operation::Write,
            start_ns: at * SECOND,
            length_ns: SECOND,
            bytes: 4096,
            transfers: 1,
            latency_sum_ns: 1,
            latency_max_ns: 1,
        })
        .collect();
    starvation(&rows.iter().collect::<Vec<_>>(), &series, work)
}

/// One tick of a processor is ten times as long as the phase.
#[test]
fn a_few_ticks_are_no_cause() {
    let short = LoadRow { length_ns: SECOND / 1000, stolen_cpu_ns: Some(SECOND / 50), ..quiet(0) };
    assert_eq!(starvation(&[&short], &[], WORK), None);
    let long = LoadRow { stolen_cpu_ns: Some(26 * SECOND), ..quiet(0) };
    let (text, share) = starvation(&[&long], &[], WORK).expect("all of it was stolen");
    assert_eq!((text.as_str(), share), ("the hypervisor took 100 % of the processor time (steal)", 1.0));
}

#[test]
fn each_cause_is_told_with_its_numbers_and_a_quiet_node_with_nothing() {
    let at_2 = quiet(2);
    let blocked = LoadRow { blocked_threads: 3, blocked_in: "percpu_rwsem_wait".into(), ..at_2.clone() };
    let cases = [
        (LoadRow { stopped_ns: SECOND / 2, ..at_2.clone() }, "did not run for 0.5 s of 4.0 s", 0.125),
        (LoadRow { throttled_periods: Some(4), ..at_2.clone() }, "quota in 4 of 40 periods", 0.1),
        (LoadRow { cpu_wait_ns: Some(SECOND), ..at_2.clone() }, "waited for a processor for 13 %", 0.12875),
        (LoadRow { stolen_cpu_ns: Some(SECOND), ..at_2.clone() }, "took 12 % of the processor time", 0.125),
        (LoadRow { memory_stall_ns: Some(SECOND), ..at_2.clone() }, "memory for 25 %", 0.25),
        (
            blocked.clone(),
            "for 1.0 s nothing completed and no device had a request, while 3 of its threads",
            0.25,
        ),
    ];
    for (odd, text, share) in &cases {
        let (seen, found) = told(odd, &[0, 1, 3]).unwrap_or_else(|| panic!("nothing of {text}"));
        assert!(seen.contains(text), "{seen}");
        assert!((found - share).abs() < 1e-9, "{found} of {text}");
    }
    assert_eq!(told(&at_2, &[0, 1, 3]), None);
    assert_eq!(told(&blocked, &[0, 1, 2, 3]), None, "transfers completed meanwhile");
}

#[test]
fn stolen_time_is_a_share_of_all_processors_of_the_node() {
    let row = LoadRow { stolen_cpu_ns: Some(4 * SECOND), ..quiet(2) };
    let of = |logical_cpus| told_of(NodeWork { logical_cpus, ..WORK }, &row, &[0, 1, 3]);
    assert!(of(8).is_some_and(|(text, _)| text.contains("took 12 %")), "{:?}", of(8));
    assert_eq!(of(64), None, "less than 2 %");
}

#[test]
fn memory_that_the_page_cache_takes_is_the_workload_s_own() {
    let row = LoadRow { memory_stall_ns: Some(SECOND), ..quiet(2) };
    assert_eq!(told_of(NodeWork { direct: false, ..WORK }, &row, &[0, 1, 3]), None);
}

#[test]
fn more_tasks_than_processors_wait_for_each_other() {
    let row = LoadRow { cpu_wait_ns: Some(SECOND), ..quiet(0) };
    assert!(starvation(&[&row], &[], WORK).is_some());
    assert_eq!(starvation(&[&row], &[], NodeWork { tasks: 3, ..WORK }), None);
}

/// Two tasks on the processor that handles an interrupt wait for each other while another processor is idle.
#[test]
fn tasks_that_wait_while_nobody_else_has_a_processor_are_not_held_back() {
    let row = |busy_cpu_ns| LoadRow { cpu_wait_ns: Some(SECOND), busy_cpu_ns, ..quiet(0) };
    let of = |busy| starvation(&[&row(busy)], &[], NodeWork { cpu_ns: SECOND, ..WORK });
    assert_eq!(of(Some(SECOND + SECOND / 10)), None);
    assert!(of(Some(SECOND + SECOND / 2)).is_some_and(|(_, share)| (share - 0.25).abs() < 1e-9));
    assert!(of(None).is_some(), "nobody knows who had them");
}

/// Two threads exchange requests for one task: half a second of waiting is a third of the time that both existed.
#[test]
fn waiting_is_a_share_of_all_threads_of_the_program() {
    let row = LoadRow { cpu_wait_ns: Some(SECOND / 2), busy_cpu_ns: Some(2 * SECOND), ..quiet(0) };
    let of = |cpu_ns| starvation(&[&row], &[], NodeWork { tasks: 1, cpu_ns, ..WORK });
    assert!(of(SECOND).is_some_and(|(text, _)| text.contains("for 33 % of the time")), "{:?}", of(SECOND));
    assert!(of(0).is_some_and(|(text, _)| text.contains("for 50 % of the time")), "{:?}", of(0));
}

#[test]
fn waiting_is_summed_over_nodes_for_the_time_of_transfers() {
    let row = |node: &str, wait| LoadRow { node: node.into(), cpu_wait_ns: wait, ..quiet(0) };
    let rows = [row("a", Some(SECOND / 2)), row("a", None), row("b", Some(SECOND / 4))];
    assert_eq!(cpu_wait_ns(&rows, 2 * SECOND), Some(SECOND + SECOND / 2));
    assert_eq!(cpu_wait_ns(&rows[1..2], SECOND), None);
}
