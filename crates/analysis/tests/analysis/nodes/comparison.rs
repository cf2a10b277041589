//! Comparison of nodes: slow ones, missing data, and how the slowest limits the total.

use analysis::{
    RateName,
    audit::Check,
    comparisons::beside,
    figures::{Figure, NodeRate, figures, phase_warnings},
    findings::Findings,
    gate::{Gate, Kind, Value},
    nodes::{NodeComparison, node_comparisons, slow_node_warnings, slow_nodes},
};
use plan::{Case, Layer, Phase, Plan, PublishedReference, Selector};
use proptest::prelude::*;
use record::{DeviceRow, PhaseKey, PhaseRecord, TaskRow, Warning, published};

use crate::common::rows::{self, SECOND};
use crate::common::studies::target;

/// The result of one node in one pass: its name, bytes and seconds, and the number of tasks, which share the work
/// equally.
pub(crate) struct OnNode<'a> {
    pub(crate) node: &'a str,
    pub(crate) tasks: u32,
    pub(crate) bytes: u64,
    pub(crate) seconds: u64,
}

/// A node that moved `rate` bytes per second for ten seconds with two tasks.
pub(crate) fn at(node: &str, rate: u64) -> OnNode<'_> {
    OnNode { node, tasks: 2, bytes: rate * 10, seconds: 10 }
}

/// The record of one pass on these nodes. Each node has a device with the same name that moved its bytes.
pub(crate) fn pass(case: &str, repetition: u32, phase: Phase, nodes: &[OnNode<'_>]) -> PhaseRecord {
    let key = PhaseKey { case: case.into(), repetition, phase };
    let seconds = nodes.iter().map(|node| node.seconds).max().unwrap_or(1);
    let mut tasks: Vec<TaskRow> = Vec::new();
    for node in nodes {
        for _ in 0..node.tasks {
            let number = u32::try_from(tasks.len()).expect("few");
            let bytes = node.bytes / u64::from(node.tasks);
            let row = rows::task(&key, number, bytes, (0, node.seconds * SECOND));
            tasks.push(TaskRow { node: node.node.into(), transfers: bytes, ..row });
        }
    }
    let device = |node: &OnNode<'_>| DeviceRow {
        key: key.clone(),
        node: node.node.into(),
        device: "nvme0n1".into(),
        start_ns: 0,
        length_ns: node.seconds * SECOND,
        reads: 1,
        read_bytes: node.bytes,
        read_time_ns: 1,
        writes: 0,
        write_bytes: 0,
        write_time_ns: 0,
        busy_ns: node.seconds * SECOND,
        queue_time_ns: 1,
    };
    let mut row = rows::phase(&key, nodes.iter().map(|node| node.bytes).sum(), seconds * SECOND);
    row.started_unix_ns = i64::from(repetition) * 3_600_000_000_000;
    PhaseRecord { devices: nodes.iter().map(device).collect(), tasks, ..PhaseRecord::new(row) }
}

/// A case on `nodes` nodes with two tasks each.
pub(crate) fn case(id: &str, target: &str, nodes: u32, repetitions: u32) -> Case {
    let workload = rows::workload(|spec| (spec.nodes, spec.tasks) = (nodes, nodes * 2));
    Case {
        group: "w".to_owned(),
        target: target.to_owned(),
        repetitions,
        ..Case::new(id, workload, vec![Phase::Read])
    }
}

fn of(plan: &Plan, records: Vec<PhaseRecord>) -> Vec<Figure> {
    figures(&rows::run(plan, records), RateName::ByWall)
}

fn compared(rates: &[(&str, u64)]) -> NodeComparison {
    let nodes = u32::try_from(rates.len()).expect("few");
    let plan = rows::plan(vec![case("c", "t", nodes, 1)]);
    let on: Vec<_> = rates.iter().map(|(name, rate)| at(name, *rate)).collect();
    let figures = of(&plan, vec![pass("c", 0, Phase::Read, &on)]);
    node_comparisons(&Gate::new(&plan, &figures, &[]), &[]).remove(0)
}

fn slow(rates: &[f64]) -> Vec<usize> {
    let scores = slow_nodes(rates);
    (0..rates.len()).filter(|&node| scores[node].slow).collect()
}

#[test]
fn a_node_at_half_speed_is_slow_among_four_sixteen_and_six_hundred() {
    for n in [4, 16, 600] {
        let mut rates = vec![200e6; n];
        rates[n / 2] = 100e6;
        assert_eq!(slow(&rates), [n / 2], "of {n} that are equal otherwise");
        // Other nodes with a scatter of 3 % do not hide the slow one.
        for (place, rate) in rates.iter_mut().enumerate() {
            *rate *= 1.0 + 0.01 * ((place * 7 % 7) as f64 - 3.0);
        }
        assert_eq!(slow(&rates), [n / 2], "of {n} that scatter");
    }
}

#[test]
fn equal_nodes_and_nodes_near_the_median_are_not_slow() {
    assert!(slow(&[5.0; 16]).is_empty());
    assert!(slow(&[100.0, 100.0, 100.0, 93.0]).is_empty());
    assert_eq!(slow(&[100.0, 100.0, 100.0, 89.0]), [3]);
    // With a large scatter, a node at 80 % is not different from the others.
    assert!(slow(&[100.0, 80.0, 120.0, 90.0, 110.0, 95.0]).is_empty());
    // A fast node does not make any other slow.
    assert!(slow(&[100.0, 100.0, 100.0, 300.0]).is_empty());
}

#[test]
fn of_two_or_three_nodes_one_is_slow_below_three_quarters_of_the_median() {
    assert_eq!(slow(&[100.0, 50.0]), [1]);
    assert!(slow(&[100.0, 61.0]).is_empty());
    assert_eq!(slow(&[100.0, 70.0, 98.0]), [1]);
    assert!(slow(&[100.0, 80.0, 100.0]).is_empty());
    assert!(slow(&[100.0]).is_empty() && slow(&[]).is_empty() && slow(&[0.0, 0.0]).is_empty());
}

#[test]
fn a_score_is_the_distance_from_the_median_in_robust_deviations() {
    // Median 30, distances 20, 10, 0, 10, 40: MAD 10.
    let scores = slow_nodes(&[10.0, 20.0, 30.0, 40.0, 70.0]);
    for (score, distance) in scores.iter().zip([-20.0, -10.0, 0.0, 10.0, 40.0]) {
        assert!((score.z - distance / 14.826).abs() < 1e-4, "{score:?}");
    }
    // Half of the values are equal, so the MAD is 0, and 2 % of the median is used instead.
    let scores = slow_nodes(&[100.0, 100.0, 100.0, 50.0]);
    assert_eq!((scores[3].z, scores[3].share), (-25.0, 0.5));
}

#[test]
fn the_slow_node_of_a_figure_is_named_with_its_device_and_what_it_costs() {
    let found = compared(&[("n10", 200), ("n2", 100), ("n1", 200), ("n3", 200)]);
    let names: Vec<_> = found.nodes.iter().map(|node| (node.node.as_str(), node.slow)).collect();
    assert_eq!(names, [("n1", Some(false)), ("n2", None), ("n3", Some(false)), ("n10", Some(false))]);
    assert!(found.together && found.missing.is_empty());
    let bound = found.bound.expect("all moved something");
    assert_eq!((bound.slowest.name.as_str(), bound.slowest.bound), ("n2", 400.0));
    assert_eq!((bound.measured, bound.share), (Some(700.0), Some(1.75)), "each ran for ten seconds");
    assert_eq!((bound.lost, bound.slowest.rate, bound.slowest.typical), (400.0, 100.0, 200.0));
    let (device, mean) = bound.device.expect("observed");
    assert_eq!((device.as_str(), mean.read_bytes_per_second), ("nvme0n1", 100.0));
    assert_eq!((found.average.n, found.average.mean), (4, 175.0));
    assert_eq!(found.average.deviation_sample, 50.0);
}

/// A difference cannot be shown with one pass, but with five.
#[test]
fn a_node_is_called_slow_where_its_passes_differ_from_those_of_the_others() {
    let slow = |passes: u32| {
        let plan = rows::plan(vec![case("c", "t", 4, passes)]);
        let of_pass = |number: u32| {
            let on = [("a", 200), ("b", 201), ("c", 199), ("d", 120)].map(|(node, bytes)| OnNode {
                node,
                tasks: 2,
                bytes: (bytes + u64::from(number % 3)) * 10,
                seconds: 10,
            });
            pass("c", number, Phase::Read, &on)
        };
        let figures = of(&plan, (0..passes).map(of_pass).collect());
        node_comparisons(&Gate::new(&plan, &figures, &[]), &[])
            .remove(0)
            .nodes
            .iter()
            .map(|node| node.slow)
            .collect::<Vec<_>>()
    };
    let alike = Some(false);
    assert_eq!(slow(1), [alike, alike, alike, None]);
    assert_eq!(slow(5), [alike, alike, alike, Some(true)]);
}

/// Sixteen nodes with equal work: the run is finished when the slowest is.
#[test]
fn work_that_is_shared_out_evenly_is_bound_by_the_slowest_node() {
    let plan = rows::plan(vec![case("c", "t", 16, 1)]);
    let names: Vec<String> = (1..=16).map(|number| format!("node{number}")).collect();
    let seconds = |name: &str| if name == "node7" { 20 } else { 16 };
    let on: Vec<OnNode<'_>> = names
        .iter()
        .map(|name| OnNode { node: name, tasks: 2, bytes: 7_000_000_000, seconds: seconds(name) })
        .collect();
    let figures = of(&plan, vec![pass("c", 0, Phase::Read, &on)]);
    let found = node_comparisons(&Gate::new(&plan, &figures, &[]), &[]).remove(0);
    let bound = found.bound.expect("all moved something");
    assert_eq!((bound.slowest.name.as_str(), bound.slowest.bound), ("node7", 5.6e9));
    assert_eq!((bound.measured, bound.share), (Some(5.6e9), Some(1.0)));
    assert_eq!(found.nodes.iter().filter(|node| node.slow != Some(false)).count(), 1);
    assert_eq!(found.nodes[15].node, "node16", "in the order of numbers");
}

#[test]
fn devices_of_two_nodes_are_two_devices() {
    let plan = rows::plan(vec![case("c", "t", 2, 1)]);
    let figures = of(&plan, vec![pass("c", 0, Phase::Read, &[at("a", 100), at("b", 300)])]);
    let rates: Vec<_> =
        figures[0].devices.iter().map(|(name, mean)| (name.as_str(), mean.read_bytes_per_second)).collect();
    assert_eq!(rates, [("a:nvme0n1", 100.0), ("b:nvme0n1", 300.0)]);
    let of_node = &figures[0].nodes[1].devices;
    assert_eq!((of_node[0].0.as_str(), of_node[0].1.read_bytes_per_second), ("nvme0n1", 300.0));
}

/// The kernel keeps counting until the slowest node is done.
#[test]
fn a_device_is_not_slower_than_its_node_because_another_node_is_slow() {
    let plan = rows::plan(vec![case("c", "t", 2, 1)]);
    let slow = OnNode { node: "b", tasks: 2, bytes: 1000, seconds: 20 };
    let mut record = pass("c", 0, Phase::Read, &[at("a", 100), slow]);
    // Seconds 0 to 8, then 8 to 16, then 16 to 20.
    let first = record.devices.remove(0);
    for (index, (start, length, bytes)) in [(0, 8, 800), (8, 8, 200), (16, 4, 0)].into_iter().enumerate() {
        let row = DeviceRow {
            start_ns: start * SECOND,
            length_ns: length * SECOND,
            read_bytes: bytes,
            ..first.clone()
        };
        record.devices.insert(index, row);
    }
    let figures = of(&plan, vec![record]);
    let rate = |node: usize| figures[0].nodes[node].devices[0].1.read_bytes_per_second;
    assert_eq!((rate(0).round(), rate(1).round()), (100.0, 50.0));
}

/// Table 3 of study B has means over its nodes.
#[test]
fn beside_the_published_rate_of_a_node_with_own_storage_stands_the_mean_of_the_own_nodes() {
    let own = |layer: Layer, phase: Phase, id: &str| {
        let mut plan = rows::plan(vec![Case { phases: vec![phase], ..case("c", "t", 2, 1) }]);
        plan.criteria.targets = vec![target("t", |target| target.layer = layer)];
        plan.criteria.published =
            vec![PublishedReference { id: id.to_owned(), figures: Selector::default() }];
        let figures = of(&plan, vec![pass("c", 0, phase, &[at("a", 100), at("b", 300)])]);
        beside(&plan, &figures, published())[0].own.map(f64::round)
    };
    // All of them together: 4000 bytes in 11 s, including open and close.
    let mean = "b-tab3-ssd-read-mean";
    assert_eq!(
        (own(Layer::NodeLocal, Phase::Read, mean), own(Layer::Shared, Phase::Read, mean)),
        (Some(200.0), Some(364.0))
    );
    assert_eq!(own(Layer::NodeLocal, Phase::Read, "b-tab3-ssd-read-sdev"), None, "a mean is no deviation");
    assert_eq!(own(Layer::NodeLocal, Phase::Write, "d-onenode-bs-peak"), Some(300.0), "a mean is no maximum");
}

/// Simulates ten batch jobs that the scheduler places on random nodes.
#[test]
fn jobs_on_other_nodes_leave_blanks_and_have_no_rate_together() {
    let plan = rows::plan(vec![case("c", "t", 1, 3)]);
    let on = |repetition, node, rate| pass("c", repetition, Phase::Read, &[at(node, rate)]);
    let records = vec![on(0, "n1", 100), on(1, "n3", 90), on(2, "n1", 110)];
    let figures = of(&plan, records);
    let known = ["n1", "n2", "n3", "n4"].map(str::to_owned);
    let found = node_comparisons(&Gate::new(&plan, &figures, &[]), &known).remove(0);
    assert_eq!(found.missing, ["n2", "n4"]);
    assert!(!found.together);
    let bound = found.bound.expect("all moved something");
    assert_eq!((bound.measured, bound.share, bound.slowest.bound), (None, None, 180.0));
    let passes: Vec<_> = found.nodes.iter().map(|node| node.headline.n).collect();
    assert_eq!(passes, [2, 1]);
    // If a case intentionally uses two of four nodes, nothing is missing.
    let plan = rows::plan(vec![case("c", "t", 2, 1)]);
    let figures = of(&plan, vec![pass("c", 0, Phase::Read, &[at("n1", 1), at("n2", 1)])]);
    assert!(node_comparisons(&Gate::new(&plan, &figures, &[]), &known)[0].missing.is_empty());
    // If only two of three nodes reported, the third is missing.
    let plan = rows::plan(vec![case("c", "t", 3, 1)]);
    let figures = of(&plan, vec![pass("c", 0, Phase::Read, &[at("n1", 1), at("n2", 1)])]);
    assert_eq!(node_comparisons(&Gate::new(&plan, &figures, &[]), &known)[0].missing, ["n3", "n4"]);
}

#[test]
fn tasks_that_do_not_divide_make_no_node_slow() {
    let rate = |node: &str, tasks, rate| NodeRate {
        node: node.to_owned(),
        tasks,
        bytes: 0,
        transfers: 0,
        bytes_per_second: rate,
        transfers_per_second: rate,
    };
    // Three nodes with four tasks and one with three, all tasks equally fast.
    let nodes = [rate("a", 4, 400.0), rate("b", 4, 400.0), rate("c", 4, 400.0), rate("d", 3, 300.0)];
    assert_eq!(slow_node_warnings(&nodes, Phase::Read), []);
    // A node with fewer tasks that are also slow.
    let nodes = [rate("a", 4, 400.0), rate("b", 4, 400.0), rate("c", 4, 400.0), rate("d", 3, 150.0)];
    let warnings = slow_node_warnings(&nodes, Phase::Read);
    let expected = Warning::SlowNode { node: "d".to_owned(), share: 0.375, z: -31.25, nodes: 4 };
    assert_eq!(warnings, [expected]);
}

#[test]
fn a_phase_of_several_nodes_warns_of_the_slow_one() {
    let record = pass("c", 0, Phase::Read, &[at("a", 900), at("b", 900), at("c", 450), at("d", 900)]);
    let workload = rows::workload(|spec| (spec.nodes, spec.tasks) = (4, 8));
    let warned = |workload| {
        let warnings = phase_warnings(
            &record.phase,
            &record.tasks,
            &rows::case(workload, vec![record.phase.key.phase]),
            64,
        );
        let slow = |warning: &Warning| match warning {
            Warning::SlowNode { node, .. } => Some(node.clone()),
            _ => None,
        };
        warnings.iter().filter_map(slow).collect::<Vec<_>>()
    };
    assert_eq!(warned(workload.clone()), ["c"]);
    let single = pass("c", 0, Phase::Read, &[at("a", 900)]);
    let warnings = phase_warnings(&single.phase, &single.tasks, &rows::case(workload, vec![Phase::Read]), 64);
    assert!(!warnings.iter().any(|warning| matches!(warning, Warning::SlowNode { .. })));
}

/// A device of a node may be slow only in its fsync.
#[test]
fn the_time_of_a_close_that_syncs_is_the_nodes_own() {
    let mut record = pass("c", 0, Phase::Write, &[at("a", 900), at("b", 900), at("c", 900), at("d", 900)]);
    for task in record.tasks.iter_mut().filter(|task| task.node == "b") {
        task.close_end_ns = task.io_end_ns + 10 * SECOND;
    }
    let slow = |sync: bool, barriers: bool| {
        let workload = rows::workload(|spec| {
            (spec.nodes, spec.tasks, spec.barriers) = (4, 8, barriers);
            spec.sync.at_close = sync;
        });
        let warnings =
            phase_warnings(&record.phase, &record.tasks, &rows::case(workload, vec![Phase::Write]), 64);
        warnings.iter().filter(|warning| matches!(warning, Warning::SlowNode { .. })).count()
    };
    assert_eq!((slow(true, false), slow(true, true), slow(false, false)), (1, 1, 0));
}

#[test]
fn a_slow_node_is_a_doubt_that_disqualifies_nothing() {
    let plan = rows::plan(vec![case("c", "t", 4, 1)]);
    let record = pass("c", 0, Phase::Read, &[at("a", 900), at("b", 900), at("c", 450), at("d", 900)]);
    let run = rows::run(&plan, vec![record]);
    let found = analysis::findings::findings(&run, &figures(&run, RateName::ByWall));
    let doubts: Vec<_> =
        found.audit.iter().filter(|doubt| doubt.check == analysis::audit::Check::SlowNode).collect();
    assert_eq!(doubts.len(), 1);
    assert!(!doubts[0].disqualifies());
    assert_eq!(doubts[0].concerns, "node c");
    let why = "may be slow: too few passes (n = 1, 5 are needed)";
    let evidence =
        "50.0 % of the median rate of 4 nodes (robust z-score -25.0); far below it in 1 of 1 figures";
    assert_eq!(doubts[0].evidence, format!("{why}; {evidence}"));
    assert_eq!(found.nodes.len(), 1);
    // The tables say the same of it.
    assert_eq!(told(&found, Kind::NodeSet), [("slow", Vec::new()), ("may_be_slow", vec!["c".to_owned()])]);
    assert_eq!(told(&found, Kind::Node), [("unconfirmed", vec![why.to_owned()])]);
}

/// A node that one figure confirms is slow, whatever another one with fewer passes leaves open.
#[test]
fn a_node_that_five_passes_confirm_is_called_slow_by_the_audit_and_by_the_tables() {
    let plan = rows::plan(vec![case("c", "t", 4, 5), case("d", "t", 4, 1)]);
    let of_pass = |case, number: u32, slow| {
        let rate = |all: u64| all + u64::from(number % 3);
        pass(
            case,
            number,
            Phase::Read,
            &[at("a", rate(900)), at("b", rate(901)), at("c", rate(slow)), at("d", rate(899))],
        )
    };
    let passes = (0..5).map(|number| of_pass("c", number, 450)).chain([of_pass("d", 0, 300)]).collect();
    let run = rows::run(&plan, passes);
    let found = analysis::findings::findings(&run, &figures(&run, RateName::ByWall));
    let doubts: Vec<_> = found.audit.iter().filter(|doubt| doubt.check == Check::SlowNode).collect();
    let [doubt] = doubts[..] else { panic!("one node: {doubts:?}") };
    assert_eq!((doubt.figure, doubt.concerns.as_str()), (Some(0), "node c"));
    assert!(doubt.evidence.starts_with("50.1 % of the median"), "{}", doubt.evidence);
    assert_eq!(
        told(&found, Kind::NodeSet)[..2],
        [("slow", vec!["c".to_owned()]), ("may_be_slow", Vec::new())]
    );
}

/// The words of the tables of `kind` about slow nodes, row by row.
fn told(found: &Findings, kind: Kind) -> Vec<(&'static str, Vec<String>)> {
    let tables = found.tables();
    let table = tables.iter().find(|table| table.kind == kind).expect("nodes");
    let mut all = Vec::new();
    for row in &table.rows {
        for (head, value) in table.columns.iter().zip(&row.cells) {
            match (head.key, value) {
                ("slow" | "may_be_slow", Value::Names(names)) => all.push((head.key, names.clone())),
                ("unconfirmed", Value::Text(text)) if !text.is_empty() => {
                    all.push((head.key, vec![text.clone()]));
                }
                _ => {}
            }
        }
    }
    all
}

proptest! {
    /// The result is the same in bytes and in megabytes.
    #[test]
    fn scores_do_not_depend_on_the_unit(
        rates in prop::collection::vec(1_u32..100_000, 2..50), factor in 1_u32..1_000_000,
    ) {
        let plain: Vec<f64> = rates.iter().map(|&rate| f64::from(rate)).collect();
        let scaled: Vec<f64> = plain.iter().map(|rate| rate * f64::from(factor)).collect();
        for (one, other) in slow_nodes(&plain).iter().zip(slow_nodes(&scaled)) {
            prop_assert!((one.z - other.z).abs() <= 1e-9 * one.z.abs().max(1.0));
            prop_assert!((one.share - other.share).abs() <= 1e-9);
        }
    }

    /// Which nodes are slow does not depend on their order, and fewer than half of them are.
    #[test]
    fn slow_nodes_are_few_whatever_their_order(rates in prop::collection::vec(1_u32..1000, 4..100)) {
        let forth: Vec<f64> = rates.iter().map(|&rate| f64::from(rate)).collect();
        let back: Vec<f64> = forth.iter().rev().copied().collect();
        let mut turned: Vec<usize> = slow(&back).iter().map(|place| rates.len() - 1 - place).collect();
        turned.reverse();
        prop_assert_eq!(slow(&forth), turned);
        prop_assert!(slow(&forth).len() * 2 < rates.len());
    }
}
