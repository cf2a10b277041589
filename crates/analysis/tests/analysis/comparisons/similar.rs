//! Every kind of published tool figure is shown next to an own figure of the same tool.

use analysis::comparisons::{own_value, published_similar};
use plan::{Bytes, Operation, Phase, Tree, Work, WorkloadSpec};
use record::{LatencyRow, PhaseRow, TaskRow};

use crate::common::rows::{SECOND, bucket, case, key, phase, plan, run_of, task, workload};

/// The IDs shown next to figures of `phases`, with the own values.
fn beside(
    tool: &str,
    group: &str,
    change: impl FnOnce(&mut WorkloadSpec),
    phases: &[PhaseRow],
    tasks: &[TaskRow],
    latency: &[LatencyRow],
) -> Vec<(String, f64)> {
    let case = plan::Case {
        group: group.to_owned(),
        ..case(workload(change), phases.iter().map(|row| row.key.phase).collect())
    };
    let run = run_of(&plan(vec![case.clone()]), phases, tasks, latency);
    let figures = analysis::figures::figures(&run, analysis::RateName::ByWall);
    let of = |figure: &analysis::figures::Figure| {
        published_similar(tool, &case, figure.phase)
            .into_iter()
            .filter_map(|(one, _)| Some((one.id.clone(), own_value(&case, figure, one)?)))
            .collect::<Vec<_>>()
    };
    figures.iter().flat_map(of).collect()
}

fn items(what: Phase, items: u64) -> PhaseRow {
    PhaseRow { items, ..phase(&key(0, what), 0, 9 * SECOND) }
}

#[test]
fn six_rates_of_mdtest_and_both_goals() {
    let rows = [
        items(Phase::TreeCreate, 1),
        items(Phase::FileCreate, 4000),
        items(Phase::FileStat, 4000),
        items(Phase::FileRead, 4000),
        items(Phase::FileRemove, 4000),
        items(Phase::TreeRemove, 1),
    ];
    let found = beside(
        "mdtest",
        "",
        |spec| (spec.tasks, spec.work) = (4, Work::Tree(Tree::flat(1000))),
        &rows,
        &[],
        &[],
    );
    let expected = [
        ("e-mdtest-tree_create-mean", 0.1),
        ("e-goal-50k", 400.0),
        ("e-mdtest-create-mean", 400.0),
        ("e-mdtest-stat-mean", 400.0),
        ("e-mdtest-read-mean", 400.0),
        ("e-mdtest-remove-mean", 400.0),
        ("e-mdtest-tree_remove-mean", 0.1),
    ];
    assert_eq!(found, expected.map(|(id, value)| (id.to_owned(), value)));
    let large = Tree { write_bytes: Bytes::kib(32), ..Tree::flat(1000) };
    let found = beside("", "", |spec| spec.work = Work::Tree(large), &rows[1..2], &[], &[]);
    assert_eq!(found.iter().map(|(id, _)| id.as_str()).collect::<Vec<_>>(), ["e-goal-50k", "e-goal-2.6m"]);
}

/// Two processes move 256 records each, one in 1 s, the other in 2 s, and the phase takes 3 s with its opens and closes.
/// IOzone prints the sum of both rates, least, most and mean of them, and the 128 records that the slower one has moved
/// when the faster one is done.
#[test]
fn the_five_lines_of_each_test_of_iozone() {
    let own_files = |spec: &mut WorkloadSpec| {
        spec.tasks = 2;
        spec.files.sharing = plan::Sharing::PerTask;
    };
    for (test, what) in [
        ("write", Phase::Write),
        ("rewrite", Phase::Write),
        ("read", Phase::Read),
        ("reread", Phase::Read),
        ("random-read", Phase::Read),
        ("fwrite", Phase::Write),
    ] {
        let key = key(0, what);
        let tasks = [task(&key, 0, 1 << 20, (0, SECOND)), task(&key, 1, 1 << 20, (0, 2 * SECOND))];
        let whole = PhaseRow { wall_ns: 3 * SECOND, ..phase(&key, 2 << 20, 2 * SECOND) };
        let found = beside("iozone", test, own_files, &[whole], &tasks, &[]);
        let lines = ["total", "min", "max", "mean", "minxfer"];
        let values = [384.0, 128.0, 256.0, 192.0, 128.0];
        let expected: Vec<(String, f64)> = match test {
            "random-read" | "fwrite" => Vec::new(),
            _ => lines
                .iter()
                .zip(values)
                .map(|(line, value)| (format!("e-iozone-{test}-{line}"), value))
                .collect(),
        };
        assert_eq!(found, expected, "{test}");
    }
}

#[test]
fn both_lines_of_gpfsperf_and_its_latency() {
    let key = key(0, Phase::Read);
    let found = beside(
        "gpfsperf",
        "",
        |spec| spec.direct = true,
        &[PhaseRow { wall_ns: SECOND, ..phase(&key, 4096 * 10_000, SECOND) }],
        &[task(&key, 0, 4096 * 10_000, (0, SECOND / 4 * 3))],
        &[bucket(&key, Operation::Read, (99_000, 101_000), 10_000)],
    );
    let of = |id: &str| {
        found.iter().find(|(found, _)| found == id).unwrap_or_else(|| panic!("{id} in {found:?}")).1
    };
    assert_eq!((of("e-tsq-read-ops"), of("e-tsq-read-lat")), (10_000.0, 100_000.0));
    assert_eq!((of("e-tsq-read-rate"), of("e-tsq-read-util")), (40_960_000.0, 0.75));
    let key = crate::common::rows::key(0, Phase::Write);
    let large = |spec: &mut WorkloadSpec| {
        spec.geometry = plan::Geometry { transfer: Bytes::mib(16), block: Bytes::mib(64), segments: 1 };
        (spec.tasks, spec.sync.at_close) = (16, true);
    };
    let found = beside("tsqosperf", "", large, &[phase(&key, 1 << 30, SECOND)], &[], &[]);
    assert!(found.iter().any(|(id, _)| id == "e-tsq-write-rate"), "{found:?}");
}

/// The block printed in study E states neither the number of nodes nor the size of one file.
#[test]
fn what_an_imported_text_does_not_say_is_no_difference() {
    let large = workload(|spec| {
        spec.geometry = plan::Geometry { transfer: Bytes::mib(16), block: Bytes::mib(64), segments: 1 };
        (spec.tasks, spec.sync.at_close) = (16, false);
    });
    let measured = case(large, vec![Phase::Write]);
    let not_printed = Some([plan::Condition::Volume, plan::Condition::Sync].into_iter().collect());
    let imported = plan::Case { stated: Some("16 threads".to_owned()), not_printed, ..measured.clone() };
    let differs = |case: &plan::Case| {
        let found = published_similar("tsqosperf", case, Phase::Write);
        let rate = found.into_iter().find(|(one, _)| one.id == "e-tsq-write-rate");
        rate.expect("the printed rate").1
    };
    let place = "on fs2-16m-06";
    assert_eq!(differs(&imported), [place]);
    let own = ["files of 200 GiB, here 1 GiB", "fsync at the end, here none", place];
    assert_eq!(differs(&measured), own, "a shared file has the bytes of all tasks");
}

#[test]
fn each_layer_of_the_latency_table() {
    let key = key(0, Phase::Read);
    let latency = [
        bucket(&key, Operation::Read, (1_000, 1_000), 50),
        bucket(&key, Operation::Read, (3_000, 3_000), 50),
    ];
    let found = beside("ioping", "", |_| {}, &[phase(&key, 409_600, SECOND)], &[], &latency);
    assert_eq!(found.len(), 3 * 4, "{found:?}");
    let of = |id: &str| found.iter().find(|(found, _)| found == id).expect(id).1;
    let ids = ["min", "mean", "max", "sdev"].map(|which| of(&format!("b-tab2-nvme-4k-{which}")));
    assert_eq!(ids, [1_000.0, 2_000.0, 3_000.0, 1_000.0]);
}
