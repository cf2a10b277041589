//! Figures compared with data sheets and limits.

use analysis::{
    RateName,
    figures::figures,
    gate::{Table, Value},
    targets::{Expected, expected, mix, weakest_links},
};
use plan::{
    Amount, Bytes, Case, Expectation, Nanos, Operation, Order, Per, Phase, Plan, Setting, SettingValue,
    TargetDescription, WorkloadSpec,
};

use crate::common::rows::{self, bucket, cell, run_of, workload};
use crate::common::study::{Study, key, reads};
use crate::nodes::comparison::{OnNode, at, case, pass};

pub(crate) fn sheet(name: &str, amount: Amount) -> Expectation {
    Expectation { source: "data sheet".to_owned(), ..Expectation::new(name, amount) }
}

fn on(target: &str, id: &str, phase: Phase, change: impl FnOnce(&mut WorkloadSpec)) -> Case {
    let workload = workload(change);
    Case { target: target.to_owned(), repetitions: 100, ..Case::new(id, workload, vec![phase]) }
}

fn random(spec: &mut WorkloadSpec) {
    spec.order = Order::Random { seed: 1 };
}

fn with(study: &Study, expectations: Vec<Expectation>) -> Plan {
    let mut plan = study.plan();
    plan.criteria.expectations = expectations;
    plan
}

fn shares(found: &[Expected]) -> Vec<(&str, f64)> {
    found.iter().map(|one| (one.name.as_str(), (one.ratio * 1e4).round() / 1e4)).collect()
}

/// Study A: a drive with reads of 2.8 GB/s and writes of 2.0 GB/s.
#[test]
fn a_user_sees_the_two_percentages_of_a_data_sheet() {
    let study = Study::default()
        .with(on("d", "r", Phase::Read, |_| ()), &[2_700_000_000 / 4096])
        .with(on("d", "w", Phase::Write, |_| ()), &[2_050_000_000 / 4096]);
    let plan = with(
        &study,
        vec![
            Expectation { phase: Some(Phase::Read), ..sheet("read", Amount::BytesPerSecond(2.8e9)) },
            Expectation { phase: Some(Phase::Write), ..sheet("write", Amount::BytesPerSecond(2.0e9)) },
        ],
    );
    let found = expected(&plan, &study.figures());
    assert_eq!(shares(&found), [("read", 0.9643), ("write", 1.025)]);
    assert_eq!((found[1].figure, found[1].source.as_str(), found[1].in_time), (1, "data sheet", None));
}

/// Study E: 19 nodes write 8.75 GB/s over two fabrics to two servers.
#[test]
fn what_each_of_several_carries_is_told() {
    let study = Study::default().with(on("d", "w", Phase::Write, |_| ()), &[8_750_000_000 / 4096]);
    let of = |name, count| Expectation { count, ..sheet(name, Amount::BytesPerSecond(6.8e9)) };
    let plan = with(&study, vec![of("node", 19.0), of("fabric", 2.0), of("server", 1.0)]);
    let found = expected(&plan, &study.figures());
    let counts: Vec<f64> = found.iter().map(|one| one.count.round()).collect();
    assert_eq!(counts, [19.0, 2.0, 1.0]);
    let table = Table::planned(&found);
    let place = table.columns.iter().position(|head| head.key == "each").expect("a column");
    let each: Vec<&Value> = table.rows.iter().map(|row| &row.cells[place]).collect();
    let rate = |value: &Value| match value {
        Value::Rate(rate, _) => (rate / 1e6).round(),
        other => panic!("{other:?}"),
    };
    assert_eq!((rate(each[0]), rate(each[1]), each[2]), (461.0, 4375.0, &Value::None));
}

/// Study E: 19 nodes on two fabrics. The part that the nodes of each moved is compared with its limit.
#[test]
fn a_limit_of_some_nodes_is_for_the_part_that_they_moved() {
    /// Half of the whole: 1000 bytes in eleven seconds.
    const LIMIT: Amount = Amount::BytesPerSecond(1000.0 / 11.0 / 2.0);
    let of =
        |nodes: &str, per| Expectation { nodes: nodes.parse().expect("a list"), per, ..sheet(nodes, LIMIT) };
    let mut plan = rows::plan(vec![case("c", "t", 3, 1)]);
    plan.criteria.expectations = vec![
        of("n[1-2]", Per::Target),
        of("n3", Per::Target),
        of("n[8-9]", Per::Target),
        of("n[2-4]", Per::Node),
        sheet("whole", LIMIT),
    ];
    // The last is done sooner: its own rate is higher, but of the whole it moved 60 %.
    let sooner = OnNode { seconds: 5, ..at("n3.site", 60) };
    let pass = pass("c", 0, Phase::Read, &[at("n1", 30), at("n2", 10), sooner]);
    let figures = figures(&rows::run(&plan, vec![pass]), RateName::ByWall);
    // Of the last list two nodes took part, each with a limit of its own.
    let expected = expected(&plan, &figures);
    assert_eq!(shares(&expected), [("whole", 2.0), ("n[1-2]", 0.8), ("n3", 1.2), ("n[2-4]", 0.7)]);
    let [whole] = &weakest_links(&plan, &figures)[..] else { panic!("one limit of the whole") };
    assert_eq!(whole.weakest, "whole");
}

#[test]
fn an_expectation_is_about_what_it_names() {
    let study = Study::default()
        .with(on("d", "random", Phase::Read, random), &[1000])
        .with(on("e", "sequential", Phase::Read, |_| ()), &[1000]);
    let rate = Amount::OperationsPerSecond(500.0);
    let plan = with(
        &study,
        vec![
            Expectation { target: Some("d".to_owned()), ..sheet("target d", rate) },
            Expectation { random: Some(false), ..sheet("sequential", rate) },
            Expectation { transfer: Some(Bytes::kib(8)), ..sheet("8 KiB", rate) },
            Expectation { transfer: Some(Bytes::kib(4)), ..sheet("4 KiB", rate) },
            Expectation { read_percent: Some(100), ..sheet("all reads", rate) },
            Expectation { read_percent: Some(75), ..sheet("a mix", rate) },
            sheet("in bytes", Amount::BytesPerSecond(1000.0 * 4096.0)),
        ],
    );
    let found = expected(&plan, &study.figures());
    let of = |figure| {
        let of = found.iter().filter(|one| one.figure == figure);
        of.map(|one| (one.name.as_str(), one.ratio)).collect::<Vec<_>>()
    };
    assert_eq!(of(0), [("target d", 2.0), ("4 KiB", 2.0), ("all reads", 2.0), ("in bytes", 1.0)]);
    assert_eq!(of(1), [("sequential", 2.0), ("4 KiB", 2.0), ("all reads", 2.0), ("in bytes", 1.0)]);
}

/// A limit for one drive applies to all drives of the only target that is described.
#[test]
fn an_imported_case_without_a_target_is_on_the_only_one_that_is_described() {
    let study = Study::default().with(on("", "r", Phase::Read, |_| ()), &[1000]);
    let drive = Expectation { per: Per::Device, ..sheet("drive", Amount::OperationsPerSecond(100.0)) };
    let mut plan = with(&study, vec![drive]);
    let described =
        |name: &str| TargetDescription { name: name.to_owned(), devices: 10, ..TargetDescription::default() };
    plan.criteria.targets = vec![described("d")];
    assert_eq!(shares(&expected(&plan, &study.figures())), [("drive", 1.0)]);
    // Of two, either may be meant, so that the number of its devices is not known.
    plan.criteria.targets.push(described("e"));
    assert_eq!(expected(&plan, &study.figures()), []);
    plan.criteria.expectations[0].target = Some("d".to_owned());
    assert_eq!(expected(&plan, &study.figures()), [], "either may be meant");
    plan.criteria.targets.truncate(1);
    assert_eq!(shares(&expected(&plan, &study.figures())), [("drive", 1.0)], "it is the one that is named");
}

/// A mean that is low enough says nothing about the slowest transfers, and vice versa.
#[test]
fn grades_of_the_mean_and_of_each_percentile_stand_for_themselves() {
    let mut study = Study::default().with(on("d", "r", Phase::Read, |_| ()), &[100; 5]);
    for repetition in 0..5 {
        let key = key(&study.cases[0], repetition, Phase::Read);
        study.latency.push(bucket(&key, Operation::Read, (100_000, 100_000), 990));
        study.latency.push(bucket(&key, Operation::Read, (9_000_000, 9_000_000), 10));
    }
    let grade = |name: &str, percent, nanos| Expectation {
        reached: format!("good {name}"),
        missed: format!("bad {name}"),
        ..sheet(name, Amount::Latency { nanos, percent })
    };
    let grades =
        [("mean", None, 400_000.0), ("tail", Some(99.9), 1_000_000.0), ("slow tail", Some(99.0), 1e7)];
    let plan = with(&study, grades.map(|(name, percent, nanos)| grade(name, percent, nanos)).to_vec());
    let figures = figures(&run_of(&plan, &study.phases, &[], &study.latency), RateName::ByWall);
    let found = expected(&plan, &figures);
    let said: Vec<_> =
        found.iter().map(|one| (one.reached.as_deref().unwrap_or_default(), one.open)).collect();
    // As of a commitment, five repetitions do not show that a percentile is reached.
    assert_eq!(said, [("good mean", false), ("bad tail", false), ("", true)]);
    let open = "too close to tell, or too little data: p99 takes at least 459 transfers and 17 repetitions";
    assert_eq!(cell(&found[2], "open"), Value::Text(open.to_owned()));
}

/// Study E: the vendor promises 150 MB/s per drive, the seller 100, and 40 to 50 are a reason to look for another
/// vendor. Ten drives that reach 1.2 GB/s fulfil the promise of the seller.
#[test]
fn only_drives_of_at_most_50_megabytes_have_the_advice_to_look_for_another_vendor() {
    let study = Study::default().with(on("d", "r", Phase::Read, |_| ()), &[1_200_000_000 / 4096]);
    let grade = |name: &str, megabytes: f64, [reached, missed]: [&str; 2]| Expectation {
        per: Per::Device,
        reached: reached.to_owned(),
        missed: missed.to_owned(),
        ..sheet(name, Amount::BytesPerSecond(megabytes * 1e6))
    };
    let mut plan = with(
        &study,
        vec![
            grade("50", 50.0, ["more than that", "look for a different vendor"]),
            grade("100", 100.0, ["what the seller says", ""]),
            grade("150", 150.0, ["what the vendor says", ""]),
        ],
    );
    let mut reached = |devices| {
        plan.criteria.targets =
            vec![TargetDescription { name: "d".to_owned(), devices, ..TargetDescription::default() }];
        let found = expected(&plan, &study.figures());
        let open = |one: &Expected| if one.open { "open".to_owned() } else { String::new() };
        found.into_iter().map(|one| one.reached.clone().unwrap_or_else(|| open(&one))).collect::<Vec<_>>()
    };
    assert_eq!(reached(10), ["", "what the seller says", ""]);
    assert_eq!(reached(16), ["more than that", "", ""], "75 MB/s each");
    assert_eq!(reached(53), ["look for a different vendor", "", ""], "22.6 MB/s each");
    // With one repetition, 110 MB/s per drive may be 99 the next time, and 45 may be 51.
    assert_eq!(reached(11), ["more than that", "open", ""], "109 MB/s each");
    assert_eq!(reached(26), ["open", "", ""], "46 MB/s each");
}

/// Study D's data sheet, in thousands at two latencies. It lists a mix of 75 % reads. A mix of 60 % lies between two
/// of its rows.
#[test]
fn a_mix_is_set_against_the_rows_around_it() {
    let rows =
        [(100, 650.0, 628.0), (75, 314.0, 281.0), (50, 195.0, 168.0), (25, 144.0, 133.0), (0, 117.0, 102.0)];
    let expectations: Vec<Expectation> = rows
        .iter()
        .flat_map(|&(percent, slow, fast)| {
            [(slow, 2), (fast, 1)].map(|(thousands, millis)| Expectation {
                read_percent: Some(percent),
                at_latency: Some(Nanos::millis(millis)),
                random: Some(true),
                ..sheet(&format!("{percent} % in {millis} ms"), Amount::OperationsPerSecond(thousands * 1e3))
            })
        })
        .collect();
    let mixed = |id: &str, percent| {
        on("d", id, Phase::Mixed, |spec| {
            random(spec);
            spec.read_percent = percent;
        })
    };
    let mut study = Study::default().with(mixed("m75", 75), &[157_000]).with(mixed("m60", 60), &[100_000]);
    let slow = key(&study.cases[0], 0, Phase::Mixed);
    study.latency.push(bucket(&slow, Operation::Read, (1_500_000, 1_500_000), 10));
    let found = expected(&with(&study, expectations), &study.figures());
    assert_eq!(found.len(), 4);
    assert_eq!((found[0].name.as_str(), found[0].ratio), ("75 % in 2 ms", 0.5));
    assert_eq!(
        (found[1].name.as_str(), found[1].amount),
        ("75 % in 1 ms", Amount::OperationsPerSecond(281e3))
    );
    assert_eq!((found[0].in_time, found[1].in_time, found[2].in_time), (Some(true), Some(false), None));
    let between = 1.0 / (0.6 / 195e3 + 0.4 / 314e3);
    assert_eq!(found[2].name, "50 % in 2 ms at 60 % reads");
    assert!((found[2].ratio - 100e3 / between).abs() < 1e-12 && between > 195e3 && between < 314e3);
}

/// The times of operations scale linearly, not the rates: the outer rows of the same sheet predict its inner ones to
/// within four percent.
#[test]
fn a_data_sheet_mixes_times() {
    for (share, thousands) in [(0.25, 144.0), (0.5, 195.0), (0.75, 314.0)] {
        let rate = mix(117.0, 650.0, share).expect("two rates");
        assert!((rate / thousands - 1.0).abs() < 0.04, "{rate} for {thousands}");
    }
    assert_eq!((mix(1.0, 3.0, 0.0), mix(1.0, 3.0, 1.0)), (Some(1.0), Some(3.0)));
    assert_eq!((mix(0.0, 3.0, 0.5), mix(1.0, 3.0, 1.5)), (None, None));
}

#[test]
fn a_latency_is_set_against_what_was_promised() {
    let mut study = Study::default().with(on("d", "r", Phase::Read, |_| ()), &[100]);
    let read = key(&study.cases[0], 0, Phase::Read);
    study.latency.push(bucket(&read, Operation::Read, (100, 100), 99));
    study.latency.push(bucket(&read, Operation::Read, (10_100, 10_100), 1));
    let latency = |nanos, percent| sheet("latency", Amount::Latency { nanos, percent });
    let plan = with(&study, vec![latency(400.0, None), latency(200.0, Some(99.0))]);
    assert_eq!(shares(&expected(&plan, &study.figures())), [("latency", 0.5), ("latency", 0.5)]);
    study.latency.clear();
    assert_eq!(expected(&plan, &study.figures()), []);
}

/// Study B: 1.25 GB/s per node, 10 GB/s for the cluster, 120 GB/s for the servers.
#[test]
fn the_weakest_link_changes_with_the_nodes() {
    let nodes = |nodes| Setting { key: "nodes".to_owned(), value: SettingValue::Count(nodes) };
    let at_4 = Case { settings: vec![nodes(4)], ..on("gpfs", "r", Phase::Read, |_| ()) };
    let study = Study::default().with(at_4, &[2_500_000_000 / 4096]);
    let rate = |gigabytes: f64| Amount::BytesPerSecond(gigabytes * 1e9);
    let mut plan = with(
        &study,
        vec![
            Expectation { per: Per::Node, ..sheet("node link", rate(1.25)) },
            sheet("cluster link", rate(10.0)),
            Expectation { count: 4.0, ..sheet("servers", rate(30.0)) },
        ],
    );
    plan.criteria.nodes = vec![1, 4, 8, 16];
    let links = weakest_links(&plan, &study.figures());
    let amounts: Vec<_> = links.iter().map(|link| (link.nodes, link.amount)).collect();
    assert_eq!(amounts, [(1, rate(1.25)), (4, rate(5.0)), (8, rate(10.0)), (16, rate(10.0))]);
    let names: Vec<&str> = links.iter().map(|link| link.weakest.as_str()).collect();
    assert_eq!((names[0], names[3]), ("node link", "cluster link"));
    assert_eq!(links[3].limits.last(), Some(&("servers".to_owned(), rate(120.0))));
    let efficiency: Vec<_> =
        links.iter().map(|link| link.efficiency.map(|(_, share)| (share * 1e3).round())).collect();
    assert_eq!(efficiency, [None, Some(500.0), None, None]);
}

/// Study D: 60 drives of 120,000, three controllers of 825,000, SAS and InfiniBand in bytes. The controllers are the
/// lowest bound, and 1,320,137 are 53 % of it.
#[test]
fn the_lowest_of_all_ceilings_is_the_bound() {
    let study = Study::default().with(on("sas", "r", Phase::Read, random), &[1_320_137]);
    let random_reads =
        |expectation| Expectation { phase: Some(Phase::Read), random: Some(true), ..expectation };
    let times = |count, expectation| Expectation { count, ..expectation };
    let plan = with(
        &study,
        vec![
            random_reads(times(60.0, sheet("drives", Amount::OperationsPerSecond(120e3)))),
            random_reads(times(3.0, sheet("controllers", Amount::OperationsPerSecond(825e3)))),
            times(24.0, sheet("SAS", Amount::BytesPerSecond(2.4e9))),
            times(12.0, sheet("InfiniBand", Amount::BytesPerSecond(6e9))),
        ],
    );
    let links = weakest_links(&plan, &study.figures());
    assert_eq!(links.len(), 1);
    let link = &links[0];
    assert_eq!((link.weakest.as_str(), link.amount), ("controllers", Amount::OperationsPerSecond(2.475e6)));
    assert_eq!(link.scope.transfer, Some(Bytes::kib(4)));
    let names: Vec<&str> = link.limits.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["controllers", "drives", "SAS", "InfiniBand"]);
    assert_eq!(link.limits[1].1, Amount::OperationsPerSecond(7.2e6));
    assert!((link.efficiency.expect("measured").1 - 0.533_388_686_868_686_9).abs() < 1e-12);
}

/// Without a measurement and a known size, operations and bytes are bounded separately.
#[test]
fn bounds_are_told_before_a_run() {
    let plan = with(
        &Study::default(),
        vec![
            sheet("drives", Amount::OperationsPerSecond(100.0)),
            sheet("link", Amount::BytesPerSecond(5.0)),
            sheet("slow", Amount::Latency { nanos: 1.0, percent: None }),
        ],
    );
    let links = weakest_links(&plan, &[]);
    let told: Vec<_> =
        links.iter().map(|link| (link.weakest.as_str(), link.scope.transfer, link.efficiency)).collect();
    assert_eq!(told, [("drives", None, None), ("link", None, None)]);
    assert_eq!(weakest_links(&with(&Study::default().with(reads("r"), &[1]), vec![]), &[]), []);
}
