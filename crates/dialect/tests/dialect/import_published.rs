//! Blocks of a publication, pasted as they are printed there: every value is the published one.

use dialect::import::{Imported, Text, import};
use plan::{Phase, PlanSource};
use record::{PhaseRecord, PrintedRow, Warning, published};

const TSQ_WRITE: &str = include_str!("fixtures/import/published-tsqosperf-write.txt");
const TSQ_READ: &str = include_str!("fixtures/import/published-tsqosperf-read.txt");
const IOHIST: &str = include_str!("fixtures/import/published-iohist.txt");
const MDTEST: &str = include_str!("fixtures/import/published-mdtest-1.9.3.txt");
const IOZONE: &str = include_str!("fixtures/import/published-iozone-3.414.txt");
const PAGE: &str = include_str!("fixtures/import/published-page.txt");

fn read(text: &str) -> Imported {
    import(&[Text { name: "page.txt", bytes: text.as_bytes() }], None, 7)
        .unwrap_or_else(|error| panic!("{error}"))
}

/// The value of the figure `id` of the library of published figures.
fn value(id: &str) -> f64 {
    published().figures.iter().find(|figure| figure.id == id).unwrap_or_else(|| panic!("no {id}")).value
}

fn printed<'a>(record: &'a PhaseRecord, label: &str, statistic: &str) -> &'a PrintedRow {
    let found = record.printed.iter().find(|row| row.label == label && row.statistic == statistic);
    found.unwrap_or_else(|| panic!("no {label} {statistic} in {:#?}", record.printed))
}

fn number(record: &PhaseRecord, label: &str, statistic: &str) -> f64 {
    printed(record, label, statistic).number.expect("a number")
}

#[track_caller]
fn near(found: f64, wanted: f64) {
    assert!((found / wanted - 1.0).abs() < 1e-6, "{found} instead of {wanted}");
}

fn bytes_per_second(record: &PhaseRecord) -> f64 {
    record.phase.bytes() as f64 * 1e9 / record.phase.wall_ns as f64
}

fn per_second(record: &PhaseRecord) -> f64 {
    record.phase.transfers() as f64 * 1e9 / record.phase.wall_ns as f64
}

/// `Kbytes` are 1000 bytes: 13,454.96 × 4096 are 55,111.52 of them.
#[test]
fn a_kbyte_of_tsqosperf_is_what_its_operations_say() {
    let imported = read(TSQ_READ);
    let record = &imported.phases[0];
    assert_eq!(record.phase.key.phase, Phase::Read);
    near(bytes_per_second(record), value("e-tsq-read-rate"));
    near(per_second(record), value("e-tsq-read-ops"));
    near(number(record, "Latency", "mean") / 1e3, value("e-tsq-read-lat"));
    near(number(record, "thread utilization", ""), value("e-tsq-read-util"));
    near(number(record, "bytesTransferred", ""), value("e-tsq-read-bytes"));
    let workload = &imported.plan.cases[0].workload;
    assert!(workload.direct);
    assert_eq!((workload.tasks, workload.geometry.transfer.0), (1, 4096));
    // The same figures by 1024, as older releases count them.
    let old = TSQ_READ.replace("55111.52", "53819.84").replace("tsqosperf", "gpfsperf");
    near(bytes_per_second(&read(&old).phases[0]), value("e-tsq-read-rate"));
}

#[test]
fn the_single_client_write_is_16_12_gb_a_second() {
    let imported = read(TSQ_WRITE);
    let record = &imported.phases[0];
    assert_eq!(record.phase.key.phase, Phase::Write);
    near(bytes_per_second(record), value("e-tsq-write-rate"));
    near(number(record, "thread utilization", ""), value("e-tsq-write-util"));
    near(number(record, "bytesTransferred", ""), value("e-tsq-write-bytes"));
    let case = &imported.plan.cases[0];
    assert_eq!((case.workload.tasks, case.workload.direct, case.workload.sync.at_close), (16, false, true));
    let stated = case.stated.as_deref().expect("what is said");
    assert!(
        stated.contains("file cache flushed before test") && stated.contains("fsync at end of test"),
        "{stated}"
    );
}

#[test]
fn the_history_has_its_rows_with_all_columns() {
    let imported = read(IOHIST);
    let record = &imported.phases[0];
    assert_eq!(record.history.len(), 8);
    for (place, row) in record.history.iter().enumerate() {
        near(row.latency_ns as f64 / 1e9, value(&format!("e-iohist-{place}")));
    }
    let mean = record.history.iter().map(|row| row.latency_ns).sum::<u64>() as f64 / 8.0;
    near(mean, 54_875.0);
    let gaps = (record.history[7].start_ns - record.history[0].start_ns) as f64 / 7.0;
    near(gaps, 71_857.142_857);
    let first = &record.history[0];
    assert_eq!((first.sector, first.bytes, first.device.as_str()), (Some(192_933_224), 4096, "4"));
    assert_eq!((first.tag1, first.tag2, first.kind.as_str()), (Some(284_160), Some(504), "data"));
    let words = [&first.disk_uid, &first.node_type, &first.server, &first.context, &first.thread_name];
    assert_eq!(words, ["C0A74D01:58BD6495", "cli", "192.167.20.127", "MBHandler", "DioHandlerThread"]);
    assert_eq!(record.latency.iter().map(|row| row.count).sum::<u64>(), 8);
}

#[test]
fn mdtest_has_its_24_values_and_its_times() {
    let imported = read(MDTEST);
    assert_eq!(imported.tools, ["mdtest 1.9.3"]);
    let operations = [
        (Phase::FileCreate, "File creation", "create"),
        (Phase::FileStat, "File stat", "stat"),
        (Phase::FileRead, "File read", "read"),
        (Phase::FileRemove, "File removal", "remove"),
        (Phase::TreeCreate, "Tree creation", "tree_create"),
        (Phase::TreeRemove, "Tree removal", "tree_remove"),
    ];
    let statistics = [("max", "max"), ("min", "min"), ("mean", "mean"), ("standard deviation", "sdev")];
    assert_eq!(imported.phases.len(), operations.len());
    for (record, (phase, label, id)) in imported.phases.iter().zip(operations) {
        assert_eq!(record.phase.key.phase, phase);
        for (statistic, of) in statistics {
            let wanted = value(&format!("e-mdtest-{id}-{of}"));
            assert_eq!(number(record, label, statistic).to_bits(), wanted.to_bits(), "{label} {statistic}");
        }
        let is_tree = matches!(phase, Phase::TreeCreate | Phase::TreeRemove);
        assert_eq!(record.phase.items, if is_tree { 1 } else { 490_000 });
        let said = record.warnings.iter().map(|row| row.warning.to_string()).collect::<Vec<_>>();
        assert!(said.iter().any(|said| said.contains("one iteration")), "{said:?}");
    }
    let results =
        imported.phases.iter().flat_map(|record| &record.printed).filter(|row| row.statistic != "stated");
    assert_eq!(results.count(), 24);
    near(per_second(&imported.phases[0]), value("e-mdtest-create-mean"));
    let case = &imported.plan.cases[0];
    assert_eq!((case.workload.tasks, case.workload.nodes, case.delay.as_secs_f64()), (14, 14, 8.0));
    let seconds = imported.phases.iter().map(|record| record.phase.wall_ns).sum::<u64>() as f64 / 1e9;
    assert!((seconds + 8.0 - 26.047).abs() < 0.001, "{seconds}");
    let took = imported
        .finished_unix_ns
        .zip(imported.started_unix_ns)
        .map(|(end, start)| (end - start) / 1_000_000_000);
    assert_eq!(took, Some(26));
    let first = &imported.phases[0];
    near(number(first, "FS", "stated"), value("e-mdtest-fs-size"));
    near(number(first, "Inodes", "stated"), value("e-mdtest-inodes"));
}

#[test]
fn iozone_has_its_20_values() {
    let imported = read(IOZONE);
    let tests = ["write", "rewrite", "read", "reread"];
    assert_eq!(imported.phases.len(), tests.len());
    for (record, test) in imported.phases.iter().zip(tests) {
        let found = [
            ("Children see throughput", "sum", "total"),
            ("throughput per process", "min", "min"),
            ("throughput per process", "max", "max"),
            ("throughput per process", "mean", "mean"),
            ("xfer", "min", "minxfer"),
        ];
        for (label, statistic, id) in found {
            let wanted = value(&format!("e-iozone-{test}-{id}"));
            assert_eq!(
                number(record, label, statistic).to_bits(),
                wanted.to_bits(),
                "{test} {label} {statistic}"
            );
        }
        near(per_second(record), value(&format!("e-iozone-{test}-total")));
        // The fastest moves its file, and then all stop: the slowest has what it moved until then.
        let (min, xfer) =
            (value(&format!("e-iozone-{test}-min")), value(&format!("e-iozone-{test}-minxfer")));
        let by_time = min * record.phase.wall_ns as f64 / 1e9;
        assert!((by_time / xfer - 1.0).abs() < 1e-3, "{by_time} {xfer}");
    }
    let PlanSource::Import { command_lines, .. } = &imported.plan.source else { panic!("an import") };
    assert_eq!(
        command_lines[..],
        ["/usr/local/bin/iozone -i 0 -i 1 -O -t 76 -r 4k -s 32g -+m /ghome/oehmes/mpi/19.clients.76.iozone"]
    );
}

/// Prompts, headings, prose and the page's own words stand around the blocks.
#[test]
fn a_whole_page_is_read_block_by_block() {
    let imported = read(PAGE);
    assert_eq!(imported.tools, ["tsqosperf", "mmfsadm dump iohist", "mdtest 1.9.3", "iozone 3.414"]);
    let results =
        imported.phases.iter().flat_map(|record| &record.printed).filter(|row| row.statistic != "stated");
    assert_eq!(results.count(), 3 + 5 + 8 + 24 + 20);
    let ids: Vec<&str> = imported.plan.cases.iter().map(|case| case.id.as_str()).collect();
    let wanted = ["write-seq", "read-seq", "iohist", "mdtest", "write", "rewrite", "read", "reread"];
    assert_eq!(ids, wanted);
    // Every value stands on the line that it names.
    let lines: Vec<&str> = PAGE.lines().collect();
    for row in imported.phases.iter().flat_map(|record| &record.printed) {
        let line = lines[row.line as usize - 1];
        assert!(line.contains(row.value.trim()), "{row:?} is not in {line:?}");
    }
    let means = imported.phases.iter().flat_map(|record| &record.warnings);
    assert!(!means.into_iter().any(|row| matches!(row.warning, Warning::PrintedMean { .. })));
}
