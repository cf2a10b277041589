//! Arithmetic that studies apply to their figures: units, drives, jobs, Little's law, nodes.

use analysis::{
    figures::{Little, RateOf, RateUnits, little, node_rates, whole_mebibytes},
    gate::Value,
    jobs::job_rate,
    statistics::Summary,
    targets::{Stripe, drives},
};
use plan::{Backend, Bytes, Case, Operation, Order, Pace, Phase, PlanSource, Setting, SettingValue};
use proptest::prelude::{prop_assert, prop_assert_eq, proptest};
use record::TaskRow;

use crate::common::rows::{self, SECOND, bucket};
use crate::common::study::{Study, key, reads};

/// Study B: 4491 MiB/s are 4709 MB/s and 1,149,696 transfers of 4 KiB.
#[test]
fn one_rate_in_every_unit() {
    let rate = RateUnits::from_bytes(4_709_154_816.0, Bytes::kib(4));
    assert_eq!((rate.mebibytes, rate.megabytes.round(), rate.operations), (4491.0, 4709.0, 1_149_696.0));
    assert_eq!(RateUnits::from_operations(1_149_696.0, Bytes::kib(4)).mebibytes, 4491.0);
    assert_eq!(RateUnits::from_bytes(5e6, Bytes(1000)).megabytes, 5.0);
}

/// Published figures of study B that are multiples of 256, and counted ones of study D.
#[test]
fn converted_operations_are_told_from_counted_ones() {
    let at_4k = |operations| whole_mebibytes(operations, Bytes::kib(4));
    assert_eq!((at_4k(1_149_696.0), at_4k(76_800.0)), (Some(4491), Some(300)));
    assert_eq!((at_4k(1_320_137.0), at_4k(1_342_102.0)), (None, None));
    assert_eq!((at_4k(256.5), at_4k(0.0), at_4k(f64::NAN), at_4k(-256.0)), (None, None, None, None));
    assert_eq!(whole_mebibytes(64.0, Bytes::kib(16)), Some(1));
    assert_eq!(whole_mebibytes(7.0, Bytes::mib(1)), None, "every number is a multiple of one");
    assert_eq!(whole_mebibytes(256.0, Bytes(5000)), None);
    assert_eq!(whole_mebibytes(256.0, Bytes(0)), None);
}

/// Study E: 2.5 TB/s at 150, 100, 50 and 40 MB/s per drive, and 2.6 million files of 32 KiB.
#[test]
fn a_goal_needs_drives() {
    let data = |rate: f64| drives(2.5e12, rate * 1e6, Stripe::NONE).map(|drives| drives.data);
    let needed = [150.0, 100.0, 50.0, 40.0].map(data);
    assert_eq!(needed, [16_667, 25_000, 50_000, 62_500].map(Some));
    let with = |parity| drives(2.5e12, 100e6, Stripe { strips: 10, parity }).map(|drives| drives.with_parity);
    assert_eq!([0, 1, 2, 3].map(with), [25_000, 27_778, 31_250, 35_715].map(Some));
    let one = drives(101.0, 100.0, Stripe { strips: 10, parity: 2 }).expect("a goal");
    assert_eq!((one.data, one.with_parity), (2, 2));
    assert_eq!(drives(1.0, 1.0, Stripe { strips: 2, parity: 2 }), None);
    assert_eq!(drives(1.0, 1.0, Stripe { strips: 2, parity: 3 }), None);
    assert_eq!(drives(1.0, 0.0, Stripe::NONE), None);
    assert_eq!(drives(f64::NAN, 1.0, Stripe::NONE), None);
    assert_eq!(drives(1e300, 1.0, Stripe::NONE), None);
    assert_eq!(RateUnits::from_operations(2.6e6, Bytes::kib(32)).bytes, 85.1968e9);
}

/// Study D: 14616 × 20000 operations in 266 s. The printed value is 1,320,137.
#[test]
fn the_rate_of_a_job_depends_on_the_time_that_is_meant() {
    let rate = |seconds: f64| job_rate(14_616.0, 20_000.0, seconds);
    assert!((rate(266.0).expect("a time") - 1_098_947.368_421_052_6).abs() < 1e-6);
    assert!((rate(221.431_563_542_268_7).expect("a time") - 1_320_137.0).abs() < 1e-3);
    assert_eq!(rate(0.0), None);
}

#[test]
fn the_job_table_marks_the_best_run() {
    let random = |tasks| {
        rows::workload(|spec| {
            spec.tasks = tasks;
            spec.order = Order::Random { seed: 1 };
        })
    };
    let nodes = Setting { key: "nodes".to_owned(), value: SettingValue::Count(4) };
    let two = Case { workload: random(2), settings: vec![nodes], ..reads(plan::randomops::CASE) };
    let alone = Case { workload: random(1), ..reads("alone") };
    let study = Study::default().with(alone, &[300]).with(reads("one"), &[100, 120]).with(two, &[110, 90]);
    let found = analysis::findings::findings(&study.run(), &study.figures());
    let table: Vec<_> = found.jobs.iter().filter_map(analysis::gate::Stated::says).collect();
    let keys = ["repetition", "nodes", "tasks", "operations_per_task", "best"];
    let rows: Vec<_> = table.iter().map(|job| keys.map(|key| rows::cell(*job, key))).collect();
    let of = |repetition, operations, best| {
        let [repetition, nodes, tasks] = [repetition, 4, 2].map(Value::Count);
        [repetition, nodes, tasks, Value::Number(operations), best]
    };
    let expected = [of(0, 550.0, Value::Flag(true)), of(1, 450.0, Value::None)];
    assert_eq!(rows, expected, "jobs of randomops");
    assert_eq!(rows::cell(table[0], "seconds"), Value::Seconds(10.0));
    assert_eq!(rows::cell(table[0], "by_wall_per_second"), Value::Rate(110.0, RateOf::Operations));
}

/// Study D prints three jobs of `randomops`. Doubts about the own ones do not concern them.
#[test]
fn the_published_jobs_stand_above_those_of_the_command_line() {
    let random = rows::workload(|spec| {
        spec.tasks = 2;
        spec.order = Order::Random { seed: 1 };
        spec.operations = Some(550);
    });
    let study = Study::default().with(Case { workload: random, ..reads(plan::randomops::CASE) }, &[110, 90]);
    let mut run = study.run();
    run.manifest.plan.source = PlanSource::Dialect {
        tool: plan::randomops::TOOL.to_owned(),
        arguments: Vec::new(),
        notes: Vec::new(),
        memo: String::new(),
    };
    let found = analysis::findings::findings(&run, &study.figures());
    let published = |job| format!("{:?}", rows::cell(job, "published"));
    let rows: Vec<String> =
        found.jobs.iter().filter_map(analysis::gate::Stated::says).map(published).collect();
    let ids = ["d-job-12501-iops", "d-job-12504-iops", "d-job-12515-iops"].map(|id| format!("Text({id:?})"));
    assert_eq!(rows[..3], ids);
    assert_eq!(rows.len(), 5, "{rows:?}");
    let differs: Vec<&str> = found
        .published
        .iter()
        .filter_map(analysis::gate::Stated::says)
        .filter(|one| one.published.id == "d-job-12501-iops" && one.elsewhere && one.ratio().is_none())
        .flat_map(|one| one.differs.iter().map(String::as_str))
        .collect();
    assert_eq!(differs[..2], ["14616 processes, here 2", "609 nodes, here 1"]);
    assert!(differs.contains(&"20000 operations of each, here 550"), "{differs:?}");
}

/// Study E: 1.2 million transfers per second of 50 µs keep 60 of 64 threads busy.
#[test]
fn rate_and_latency_tell_what_was_under_way() {
    let published = Little::of(1.2e6, 50_000.0, 64.0).expect("64 threads");
    assert!((published.predicted - 60.0).abs() < 1e-9 && (published.agreement - 0.9375).abs() < 1e-12);
    assert_eq!(Little::of(1.0, 1.0, 0.0), None);
    let deep = |pace| Case {
        workload: rows::workload(|spec| {
            spec.tasks = 4;
            spec.backend = Backend::Uring { depth: 8, required: false };
            spec.pace = pace;
        }),
        ..reads("deep")
    };
    // 1000 transfers per second of 16 ms each: 16 in flight of 32.
    let mut study = Study::default().with(deep(None), &[1000, 1000]);
    for repetition in 0..2 {
        let key = key(&study.cases[0], repetition, Phase::Read);
        study.latency.push(bucket(&key, Operation::Read, (16_000_000, 16_000_000), 10_000));
    }
    let figures = study.figures();
    let found = little(&study.cases[0], &figures[0]).expect("latencies");
    assert!((found.predicted - 16.0).abs() < 1e-9 && found.ran == 32.0, "{found:?}");
    let paced = deep(Some(Pace { transfers_per_second: 1000.0 }));
    assert_eq!(little(&paced, &figures[0]), None);
    for condition in [plan::Condition::Tasks, plan::Condition::Depth] {
        let mut imported = study.cases[0].clone();
        imported.stated = Some("1 MiB, depth 32".to_owned());
        assert!(little(&Case { not_printed: Some([].into()), ..imported.clone() }, &figures[0]).is_some());
        imported.not_printed = Some([condition].into());
        assert_eq!(little(&imported, &figures[0]), None, "{condition:?} is not printed");
    }
    study.latency.clear();
    assert_eq!(little(&study.cases[0], &study.figures()[0]), None);
}

/// Study B, table 3: averages over nodes, with their number.
#[test]
fn nodes_are_averaged_with_their_number() {
    let key = rows::key(0, Phase::Read);
    let on =
        |node: &str, number, bytes, io| TaskRow { node: node.into(), ..rows::task(&key, number, bytes, io) };
    let tasks = [
        on("n1", 0, 100 << 20, (0, SECOND)),
        on("n1", 1, 100 << 20, (0, 2 * SECOND)),
        on("n2", 2, 300 << 20, (SECOND, 3 * SECOND)),
        on("n3", 3, 0, (0, 0)),
    ];
    let rates = node_rates(&tasks, &rows::workload(|_| {}), Phase::Read);
    let seen: Vec<_> =
        rates.iter().map(|rate| (rate.node.as_str(), rate.tasks, rate.bytes_per_second)).collect();
    let mib = 1_048_576.0;
    assert_eq!(seen, [("n1", 2, 100.0 * mib), ("n2", 1, 150.0 * mib), ("n3", 1, 0.0)]);
    let moved: Vec<f64> = rates[..2].iter().map(|rate| rate.bytes_per_second / mib).collect();
    let summary = Summary::of(&moved).expect("two nodes");
    assert_eq!((summary.n, summary.mean), (2, 125.0));
    assert!((summary.deviation_sample - 1250.0_f64.sqrt()).abs() < 1e-9);
}

proptest! {
    #[test]
    fn conversions_turn_back(mebibytes in 1_u32..1_000_000, shift in 9_u32..24) {
        let transfer = Bytes(1 << shift);
        let rate = RateUnits::from_bytes(f64::from(mebibytes) * 1_048_576.0, transfer);
        let back = RateUnits::from_operations(rate.operations, transfer);
        prop_assert_eq!(back.mebibytes, f64::from(mebibytes));
        if shift <= 16 {
            prop_assert_eq!(whole_mebibytes(rate.operations, transfer), Some(u64::from(mebibytes)));
        }
    }

    /// This number of drives reaches the goal, and one fewer does not.
    #[test]
    fn no_drive_is_too_many(goal in 1_u32..1_000_000, rate in 1_u32..1000, strips in 2_u32..20, parity in 0_u32..3) {
        let parity = parity.min(strips - 1);
        let needed = drives(f64::from(goal), f64::from(rate), Stripe { strips, parity }).expect("a goal");
        let (goal, rate, data) = (u64::from(goal), u64::from(rate), u64::from(strips - parity));
        let strips = u64::from(strips);
        prop_assert!(needed.data * rate >= goal && (needed.data - 1) * rate < goal);
        prop_assert!(needed.with_parity * rate * data >= goal * strips);
        prop_assert!((needed.with_parity - 1) * rate * data < goal * strips);
    }
}
