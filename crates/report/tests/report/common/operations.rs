//! Sample runs with files, objects, messages and single requests.

use plan::{
    Backend, Bytes, Case, Geometry, Measure, Objects, Operation, Order, Phase, PlanSource, PrintedBy, Rpc,
    Setting, SettingValue, Tree, Work, WorkloadSpec,
};
use record::{
    HistoryRow, LatencyRow, Manifest, PhaseKey, PhaseRecord, PhaseRow, PrintedRow, Provenance, Run,
    SeriesRow, TaskRow,
};

use super::{SECOND, STARTED, empty, in_memory};

/// The activity of one sample phase.
#[derive(Clone, Copy)]
struct Did {
    phase: Phase,
    /// Operations per second.
    per_second: u64,
    p50_ns: u64,
    /// Bytes read and written per operation.
    moves: (u64, u64),
}

const fn did(phase: Phase, per_second: u64, p50_ns: u64) -> Did {
    Did { phase, per_second, p50_ns, moves: (0, 0) }
}

/// The operations of a phase, each with its share.
fn operations(phase: Phase) -> Vec<Operation> {
    match phase {
        Phase::Benchmark => vec![Operation::Read, Operation::Create, Operation::Stat, Operation::Remove],
        Phase::FileStat => vec![Operation::Stat],
        Phase::FileRead | Phase::Read => vec![Operation::Read],
        Phase::FileRemove | Phase::TreeRemove | Phase::Cleanup => vec![Operation::Remove],
        Phase::Exchange => vec![Operation::Exchange],
        _ => vec![Operation::Create],
    }
}

fn geometry() -> Geometry {
    Geometry { transfer: Bytes::kib(4), block: Bytes::mib(1), segments: 1 }
}

fn case(id: &str, tasks: u32, work: Work, phases: &[Phase], repetitions: u32) -> Case {
    let mut spec = WorkloadSpec::new(id, "/data", geometry());
    spec.work = work;
    spec.tasks = tasks;
    spec.nodes = if matches!(spec.work, Work::Tree(_)) { 2 } else { 1 };
    Case { repetitions, ..Case::new(id, spec.validate().expect("valid"), phases.to_vec()) }
}

/// Two seconds of a phase of `case`.
fn record(case: &Case, what: Did, repetition: u32) -> PhaseRecord {
    let key = PhaseKey { case: case.id.as_str().into(), repetition, phase: what.phase };
    let kinds = operations(what.phase);
    let of_second = |second: u64| what.per_second - (second + u64::from(repetition)) * what.per_second / 50;
    let all: u64 = (0..2).map(of_second).sum();
    let tasks = u64::from(case.workload.tasks);
    let transfers = what.phase.is_transfers();
    let share = all / kinds.len() as u64;
    let series = kinds.iter().flat_map(|&operation| {
        let key = key.clone();
        let count = kinds.len() as u64;
        (0..2).map(move |second| SeriesRow {
            key: key.clone(),
            operation,
            start_ns: second * SECOND,
            length_ns: SECOND,
            bytes: match operation {
                Operation::Read => of_second(second) / count * what.moves.0,
                Operation::Create | Operation::Write | Operation::Exchange => {
                    of_second(second) / count * what.moves.1
                }
                _ => 0,
            },
            transfers: of_second(second) / count,
            latency_sum_ns: of_second(second) / count * what.p50_ns,
            latency_max_ns: what.p50_ns * 12,
        })
    });
    let latency = kinds.iter().flat_map(|&operation| {
        let key = key.clone();
        let counts = [(0.7, share / 10), (1.0, share / 10 * 8), (8.0, share - share / 10 * 9)];
        counts.into_iter().map(move |(times, count)| {
            let low = (what.p50_ns as f64 * times) as u64;
            LatencyRow {
                key: key.clone(),
                operation,
                measure: Measure::Response,
                low_ns: low,
                high_ns: low + low / 128,
                count,
            }
        })
    });
    let task = |task: u32| TaskRow {
        key: key.clone(),
        task,
        node: if case.workload.nodes > 1 && task % 2 == 1 { "node2" } else { "node1" }.into(),
        file: task,
        open_start_ns: 0,
        open_end_ns: 1_000,
        io_start_ns: 1_000,
        io_end_ns: 2 * SECOND - u64::from(task) * SECOND / 40,
        close_start_ns: 2 * SECOND,
        close_end_ns: 2 * SECOND + 1_000,
        bytes: all / tasks * (what.moves.0 + what.moves.1),
        transfers: all / tasks,
        stonewall_transfers: None,
    };
    PhaseRecord {
        tasks: (0..case.workload.tasks).map(task).collect(),
        latency: latency.collect(),
        series: series.collect(),
        ..PhaseRecord::new(PhaseRow {
            started_unix_ns: STARTED + i64::from(repetition) * 20_000_000_000,
            wall_ns: 2 * SECOND + 2_000,
            open_ns: 1_000,
            io_ns: 2 * SECOND,
            close_ns: 1_000,
            read_bytes: share * what.moves.0,
            write_bytes: share * what.moves.1,
            reads: if transfers { all } else { 0 },
            first_done_ns: SECOND,
            user_cpu_ns: all * 900,
            system_cpu_ns: all * 5_100,
            items: if transfers { 0 } else { all },
            allocated_bytes: (what.phase == Phase::FileStat).then(|| all * 36_864),
            surprises: if what.phase == Phase::FileRemove { 3 } else { 0 },
            ..PhaseRow::new(key.clone())
        })
    }
}

fn run(title: &str, tool: &str, made: Vec<(Case, Vec<Did>)>) -> Run {
    let mut manifest: Manifest = empty().manifest;
    manifest.plan.title = title.to_owned();
    manifest.plan.source = PlanSource::Dialect {
        tool: tool.to_owned(),
        arguments: vec![tool.to_owned()],
        memo: String::new(),
        notes: Vec::new(),
    };
    let mut records = Vec::new();
    for (case, phases) in made {
        for repetition in 0..case.repetitions {
            records.extend(phases.iter().map(|&what| record(&case, what, repetition)));
        }
        manifest.plan.cases.push(case);
    }
    in_memory(manifest, records)
}

/// `mdtest` with files of 32 KiB in one shared directory, and a round over objects.
pub(crate) fn files() -> Run {
    let phases = [
        Did { moves: (0, 32_768), ..did(Phase::FileCreate, 21_000, 160_000) },
        did(Phase::FileStat, 310_000, 11_000),
        Did { moves: (32_768, 0), ..did(Phase::FileRead, 95_000, 38_000) },
        did(Phase::FileRemove, 44_000, 81_000),
        did(Phase::TreeRemove, 40, 20_000_000),
    ];
    let tree = Tree { write_bytes: Bytes::kib(32), read_bytes: Bytes::kib(32), ..Tree::flat(10_500) };
    let of_tree = case("mdtest", 4, Work::Tree(tree), &phases.map(|one| one.phase), 3);
    let objects = Objects {
        sets: 10,
        precreated: 300,
        steps: 1_000,
        object_bytes: Bytes(3_901),
        offset: 1,
        ..Objects::default()
    };
    let of_objects = case("md-workbench", 2, Work::Objects(objects), &[Phase::Benchmark], 1);
    let round = Did { moves: (3_901, 3_901), ..did(Phase::Benchmark, 80_000, 24_000) };
    run(
        "Made-up numbers: files and objects",
        "mdtest",
        vec![(of_tree, phases.to_vec()), (of_objects, vec![round])],
    )
}

/// 1 KiB requests with 1, 2 and 4 threads.
pub(crate) fn exchanges() -> Run {
    let of = |threads: u32| {
        let rpc = Rpc { threads, connections: threads, ..Rpc::new(Bytes::kib(1), Bytes::kib(4)) };
        let tasks = rpc.tasks();
        let mut one = case(&format!("rpc-{threads}"), tasks, Work::Rpc(rpc), &[Phase::Exchange], 3);
        one.group = "rpc".to_owned();
        one.settings =
            vec![Setting { key: "threads".to_owned(), value: SettingValue::Count(threads.into()) }];
        let rate = 60_000 * u64::from(threads) - 5_000 * u64::from(threads * threads);
        (one, vec![Did { moves: (0, 5_120), ..did(Phase::Exchange, rate, 9_000) }])
    };
    run("Made-up numbers: requests between processes", "rpc", [1, 2, 4].map(of).to_vec())
}

/// Single requests of 512 bytes and 4 KiB, through the page cache and with direct I/O.
pub(crate) fn single() -> Run {
    let of = |(bytes, direct, p50_ns): (u64, bool, u64)| {
        let transfer = Bytes(bytes);
        let mut spec = WorkloadSpec::new("ping", "/data/f", Geometry { transfer, ..geometry() });
        (spec.direct, spec.order, spec.backend) = (direct, Order::Random { seed: 1 }, Backend::Psync);
        let way = if direct { "direct" } else { "cached" };
        let id = format!("ping-{bytes}-{way}");
        let one = Case::new(id, spec.validate().expect("valid"), vec![Phase::Read]);
        (one, vec![Did { moves: (bytes, 0), ..did(Phase::Read, 600_000_000 / p50_ns, p50_ns) }])
    };
    let all = [(512, true, 81_000), (4096, true, 1_000), (512, false, 900), (4096, false, 1_100)].map(of);
    run("Made-up numbers: single requests", "ioping", all.to_vec())
}

/// A single-threaded 4 KiB read as printed by gpfsperf, and the history of its device.
pub(crate) fn imported() -> Run {
    let mut spec = WorkloadSpec::new("tsqosperf", "/ibm/fs", geometry());
    spec.direct = true;
    let one = |id: &str| Case {
        stated: Some("4 KiB sequential, direct, 1 thread".to_owned()),
        printed_by: Some(PrintedBy { tool: id.to_owned(), release: None }),
        ..Case::new(id, spec.clone().validate().expect("valid"), vec![Phase::Read])
    };
    let (block, dump) = (one("tsqosperf"), one("iohist"));
    let mut printed = record(&block, Did { moves: (4096, 0), ..did(Phase::Read, 13_454, 74_000) }, 0);
    let value = |label: &str, value: &str, unit: &str, statistic: &str| PrintedRow {
        key: printed.phase.key.clone(),
        label: label.into(),
        value: value.into(),
        number: value.parse().ok(),
        unit: unit.into(),
        statistic: statistic.into(),
        source: "page.txt".into(),
        line: 126,
    };
    let values = vec![
        value("Data rate", "55111.52", "Kbytes/s", ""),
        value("Op Rate", "13454.96", "ops/s", ""),
        value("Latency", "0.074", "ms", "mean"),
        value("thread utilization", "1.000", "fraction", ""),
    ];
    printed.printed = values;
    let mut history = record(&dump, Did { moves: (4096, 0), ..did(Phase::Read, 13_454, 55_000) }, 0);
    let key = history.phase.key.clone();
    let row = |(place, micros): (u64, u64)| HistoryRow {
        start_ns: place * 71_857,
        latency_ns: micros * 1000,
        bytes: 4096,
        device: "4".into(),
        sector: Some(192_933_224 + place * 8),
        kind: "data".into(),
        tag1: Some(284_160),
        tag2: Some(504),
        disk_uid: "C0A74D01:58BD6495".into(),
        node_type: "cli".into(),
        server: "192.167.20.127".into(),
        context: "MBHandler".into(),
        thread_name: "DioHandlerThread".into(),
        ..HistoryRow::new(key.clone(), Operation::Read)
    };
    history.history = (0..).zip([55, 55, 54, 54, 55, 53, 57, 56]).map(row).collect();
    let mut manifest: Manifest = empty().manifest;
    manifest.provenance = Provenance::Imported;
    manifest.plan.title = "Printed by tsqosperf, mmfsadm".to_owned();
    manifest.plan.source = PlanSource::Import {
        files: vec!["page.txt".into()],
        tools: vec!["tsqosperf".to_owned(), "mmfsadm".to_owned()],
        command_lines: vec!["tsqosperf read seq -r 4k /ibm/fs -dio".to_owned()],
        undated: true,
        zoneless: false,
    };
    manifest.plan.cases = vec![block, dump];
    in_memory(manifest, vec![printed, history])
}
