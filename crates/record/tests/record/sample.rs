//! Sample rows of every kind.

use std::path::Path;

use plan::{Bytes, Case, Geometry, Measure, Operation, Phase, Plan, PlanSource, WorkloadSpec};
use record::{
    Cluster, DeviceRow, EndRow, FORMAT_VERSION, Fact, HistoryRow, HostFacts, LatencyRow, LaunchRow, LoadRow,
    Manifest, NodeClock, NodeFacts, NodeSeriesRow, Outcome, PhaseKey, PhaseRecord, PhaseRow, PrintedRow,
    Provenance, RecordError, Recorder, SeriesRow, ServerRow, ServerTextRow, SpaceRow, StepRow, TaskRow,
    Warning, WarningRow,
};

/// The cases that [`write`] records.
pub(crate) const CASES: [&str; 2] = ["seq", "rand"];
/// The number of repetitions per case.
pub(crate) const REPETITIONS: u32 = 2;

/// The nodes that run the cases.
pub(crate) const NODES: [&str; 2] = ["node1", "node2"];

/// A manifest with a plan of [`CASES`] on [`NODES`]. The clock drift is not known yet.
pub(crate) fn manifest() -> Manifest {
    let geometry = Geometry { transfer: Bytes::kib(4), block: Bytes::mib(1), segments: 2 };
    let workload = WorkloadSpec::new("w", "/data/file", geometry).validate().expect("a valid workload");
    let case = |id: &str| Case {
        title: "a sample".to_owned(),
        repetitions: REPETITIONS,
        ..Case::new(id, workload.clone(), vec![Phase::Write, Phase::Read])
    };
    Manifest {
        cluster: Some(cluster(None)),
        model: None,
        format_version: FORMAT_VERSION,
        run_id: "sample-1".to_owned(),
        provenance: Provenance::Measured,
        program_version: "0.1.0".to_owned(),
        command_line: vec!["ioproof".to_owned(), "run".to_owned()],
        started_unix_ns: 1_700_000_000_000_000_000,
        finished_unix_ns: None,
        predicted: None,
        plan: Plan::new(
            "sample".to_owned(),
            PlanSource::Quick { directory: "/data".into(), others: Vec::new() },
            42,
            CASES.map(case).to_vec(),
        ),
        host: host(NODES[0]),
        defaults: Vec::new(),
    }
}

/// The cluster information for [`NODES`].
pub(crate) fn cluster(clock_drift_ns: Option<i64>) -> Cluster {
    let node = |(rank, node): (u32, &&str)| NodeFacts {
        host: host(node),
        ranks: vec![rank, rank + 2],
        clock_offset_ns: -1_250_000_000 * i64::from(rank),
        clock_error_ns: 20_000,
        clock_drift_ns,
        boot_id: None,
    };
    Cluster { library: "Open MPI v4.1.4".to_owned(), nodes: (0..).zip(&NODES).map(node).collect() }
}

/// A comparison of the clocks of [`NODES`].
pub(crate) fn clocks(case: u32) -> Vec<NodeClock> {
    let clock = |(place, node): (i64, &&str)| NodeClock {
        node: (*node).to_owned(),
        offset_ns: place * (1_250_000_000 + i64::from(case)),
        error_ns: 20_000,
    };
    (0..).zip(&NODES).map(clock).collect()
}

/// A journal in the format of an earlier version: without checksums of its lines and of the manifest.
#[allow(dead_code, reason = "the example that writes a small run has no use for it")]
pub(crate) fn without_checksums(journal: &str) -> String {
    let lines = journal.split_inclusive('\n').filter(|line| !line.starts_with("{\"event\":\"manifest\""));
    let without = |line: &str| match line.rfind(",\"sum\":\"") {
        Some(at) if line.ends_with("\"}\n") => format!("{}}}\n", &line[..at]),
        _ => line.to_owned(),
    };
    lines.map(without).collect()
}

fn host(node: &str) -> HostFacts {
    HostFacts {
        node: node.to_owned(),
        operating_system: Fact::Known("Debian GNU/Linux 12 (bookworm)".to_owned()),
        kernel: Fact::Known("6.1.0".to_owned()),
        cpu_model: Fact::Unknown("no model name in /proc/cpuinfo".to_owned()),
        sockets: Fact::Known(1),
        logical_cpus: 2,
        usable_cpus: 2,
        numa_nodes: Fact::Known(1),
        governor: Fact::Unknown("no cpufreq".to_owned()),
        memory_bytes: 24 << 30,
        memory_limit_bytes: None,
        transparent_hugepages: Fact::Known("madvise".to_owned()),
        clock: "tsc".to_owned(),
        batch_job: None,
        file_systems: Vec::new(),
        devices: Vec::new(),
        target_devices: Vec::new(),
        ..HostFacts::default()
    }
}

/// A phase with rows in every table.
pub(crate) fn phase(case: &str, repetition: u32, phase: Phase, tasks: u32) -> PhaseRecord {
    let key = PhaseKey { case: case.into(), repetition, phase };
    let reads = phase == Phase::Read;
    let bytes = u64::from(tasks) << 21;
    PhaseRecord {
        nodes: (0..3).flat_map(|second| NODES.map(|node| node_series(&key, node, second))).collect(),
        phase: PhaseRow {
            key: key.clone(),
            started_unix_ns: 1_700_000_000_000_000_000 + i64::from(repetition),
            wall_ns: 3_000_000_000,
            open_ns: 1_000,
            io_ns: 2_900_000_000,
            close_ns: 2_000,
            read_bytes: if reads { bytes } else { 0 },
            write_bytes: if reads { 0 } else { bytes },
            reads: if reads { 512 } else { 0 },
            writes: if reads { 0 } else { 512 },
            first_done_ns: 2_800_000_000,
            first_done_bytes: bytes - 4096,
            stonewall_ns: (repetition == 1).then_some(2_000_000_000),
            stonewall_bytes: (repetition == 1).then_some(bytes / 2),
            user_cpu_ns: 10,
            system_cpu_ns: 20,
            wrong_cells: 0,
            device_read_bytes: reads.then_some(bytes),
            device_write_bytes: None,
            items: u64::from(tasks),
            allocated_bytes: reads.then_some(bytes * 2),
            surprises: u64::from(repetition),
            harness_cpu_ns: reads.then_some(77),
            node_cpu_ns: reads.then_some(900),
            cpu_wait_ns: reads.then_some(70),
            resident_bytes: reads.then_some(8_192),
            resident_of_bytes: reads.then_some(1 << 20),
            fetched_bytes: reads.then_some(4_096),
            ..PhaseRow::new(key.clone())
        },
        tasks: (0..tasks).map(|task| self::task(&key, task)).collect(),
        latency: (0..200).map(|bucket| latency(&key, bucket)).collect(),
        series: (0..3).map(|second| series(&key, second)).collect(),
        devices: NODES.map(|node| device(&key, node)).to_vec(),
        load: NODES.map(|node| load(&key, node)).to_vec(),
        history: (0..3).map(|place| history(&key, place)).collect(),
        printed: (1..4).map(|line| printed(&key, line)).collect(),
        ends: NODES.iter().zip(0..).map(|(node, number)| end(&key, node, number)).collect(),
        launches: (0..2).map(|number| launch(&key, number)).collect(),
        steps: (0..2).map(|number| step(&key, number)).collect(),
        spaces: (0..3).map(|second| space(&key, second)).collect(),
        servers: NODES.map(|node| server(&key, node)).to_vec(),
        server_texts: NODES.map(|node| server_text(&key, node)).to_vec(),
        warnings: vec![WarningRow {
            key: Some(key),
            warning: Warning::TooShort { seconds: 0.1, at_least_seconds: 2.0 },
        }],
    }
}

fn task(key: &PhaseKey, task: u32) -> TaskRow {
    TaskRow {
        key: key.clone(),
        task,
        node: NODES[task as usize % NODES.len()].into(),
        file: task,
        open_start_ns: 0,
        open_end_ns: 1_000,
        io_start_ns: 1_000,
        io_end_ns: 2_900_000_000 + u64::from(task),
        close_start_ns: 2_900_001_000,
        close_end_ns: 2_900_002_000,
        bytes: 2 << 20,
        transfers: 512,
        stonewall_transfers: None,
    }
}

fn latency(key: &PhaseKey, bucket: u64) -> LatencyRow {
    LatencyRow {
        key: key.clone(),
        operation: if key.phase == Phase::Read { Operation::Read } else { Operation::Write },
        measure: Measure::Response,
        low_ns: 1_000 + bucket * 8,
        high_ns: 1_007 + bucket * 8,
        count: bucket + 1,
    }
}

fn series(key: &PhaseKey, second: u64) -> SeriesRow {
    SeriesRow {
        key: key.clone(),
        operation: if key.phase == Phase::Read { Operation::Read } else { Operation::Write },
        start_ns: second * 1_000_000_000,
        length_ns: 1_000_000_000,
        bytes: 700_000,
        transfers: 171,
        latency_sum_ns: 900_000,
        latency_max_ns: 70_000,
    }
}

fn load(key: &PhaseKey, node: &str) -> LoadRow {
    LoadRow {
        key: key.clone(),
        node: node.into(),
        start_ns: 0,
        length_ns: 1_000_000_000,
        busy_cpu_ns: Some(900_000_000),
        stolen_cpu_ns: Some(0),
        quota_periods: None,
        throttled_periods: None,
        cpu_wait_ns: Some(70_000),
        memory_stall_ns: Some(5),
        stopped_ns: 0,
        blocked_threads: 2,
        blocked_in: "percpu_rwsem_wait".into(),
    }
}

fn server(key: &PhaseKey, node: &str) -> ServerRow {
    ServerRow {
        key: key.clone(),
        node: node.into(),
        source: "/proc/self/mountstats".into(),
        system: "nfs-client".into(),
        device: "server:/export on /mnt".into(),
        counter: "server_read_bytes".into(),
        before: Some(7),
        after: None,
    }
}

fn server_text(key: &PhaseKey, node: &str) -> ServerTextRow {
    ServerTextRow {
        key: key.clone(),
        node: node.into(),
        source: "/proc/self/mountstats".into(),
        moment: "before".into(),
        bytes: 1 << 20,
        text: "device server:/export mounted on /mnt with fstype nfs4 statvers=1.1\n\tbytes:\t1 2 \"\n"
            .into(),
    }
}

fn node_series(key: &PhaseKey, node: &str, second: u64) -> NodeSeriesRow {
    let SeriesRow { key, operation, start_ns, length_ns, bytes, transfers, latency_sum_ns, latency_max_ns } =
        series(key, second);
    NodeSeriesRow {
        key,
        node: node.into(),
        operation,
        start_ns,
        length_ns,
        bytes: bytes / 2,
        transfers: transfers / 2,
        latency_sum_ns: latency_sum_ns / 2,
        latency_max_ns,
    }
}

fn device(key: &PhaseKey, node: &str) -> DeviceRow {
    DeviceRow {
        node: node.into(),
        key: key.clone(),
        device: "nvme0n1".into(),
        start_ns: 0,
        length_ns: 3_000_000_000,
        reads: 512,
        read_bytes: 2 << 20,
        read_time_ns: 5,
        writes: 1,
        write_bytes: 4096,
        write_time_ns: 6,
        busy_ns: 7,
        queue_time_ns: 8,
    }
}

/// Rows for an operation recorded by the engine, for one on a traced device, and for a line of iohist.
fn history(key: &PhaseKey, place: u32) -> HistoryRow {
    let (watched, imported) = (place == 1, place == 2);
    let text = |known: bool, text: &str| if known { text.to_owned() } else { String::new() };
    HistoryRow {
        key: key.clone(),
        node: NODES[place as usize % NODES.len()].into(),
        task: place,
        thread: place / 2,
        operation: if key.phase == Phase::Read { Operation::Read } else { Operation::Write },
        start_ns: 71_900 * u64::from(place),
        latency_ns: 55_000 + u64::from(place),
        file: text(!imported, "/data/file").into(),
        offset_bytes: 4096 * u64::from(place),
        bytes: 4096,
        device: (text(watched, "nvme0n1") + &text(imported, "4")).into(),
        sector: (place > 0).then_some(192_933_224 + 8 * u64::from(place)),
        device_ns: watched.then_some(48_000),
        matched: text(watched, "sector").into(),
        kind: text(imported, "data").into(),
        tag1: imported.then_some(284_160),
        tag2: imported.then_some(-1),
        disk_uid: text(imported, "C0A74D01:58BD6495").into(),
        node_type: text(imported, "cli").into(),
        server: text(imported, "192.167.20.127").into(),
        context: text(imported, "MBHandler").into(),
        thread_name: text(imported, "DioHandlerThread").into(),
        comment: text(imported, "from a newer dump").into(),
    }
}

/// Values that need all digits, and one that is not a number.
fn printed(key: &PhaseKey, line: u32) -> PrintedRow {
    let (value, number) = match line {
        1 => ("16124635.71", Some(16_124_635.71)),
        2 => ("0.30000000000000004", Some(0.1 + 0.2)),
        _ => ("-", None),
    };
    PrintedRow {
        key: key.clone(),
        label: "Data rate was".into(),
        value: value.into(),
        number,
        unit: "kB/s".into(),
        statistic: record::SharedText::EMPTY,
        source: "published.txt".into(),
        line,
    }
}

/// A client and a server, which differ in all fields that can be missing.
fn end(key: &PhaseKey, node: &str, number: u32) -> EndRow {
    let asks = number == 0;
    let text = |known: bool, text: &str| if known { text.to_owned() } else { String::new() };
    EndRow {
        key: key.clone(),
        node: node.into(),
        end: number,
        interface: text(asks, "eth1").into(),
        address: format!("10.0.0.{}", number + 1).into(),
        adapter_node: asks.then_some(1),
        client_threads: if asks { 4 } else { 0 },
        server_threads: if asks { 0 } else { 4 },
        client_cpu_ns: if asks { 1_234_567 } else { 0 },
        server_cpu_ns: if asks { 0 } else { 7_654_321 },
        client_processors: text(asks, "0,1,0,1").into(),
        server_processors: text(!asks, "0-3").into(),
        transport: "TCP".into(),
        rdma: "RDMA not available: no device in /sys/class/infiniband".into(),
        shut_out: u64::from(number),
    }
}

/// A complete and an incomplete launch, which differ in all fields that can be missing.
fn launch(key: &PhaseKey, number: u32) -> LaunchRow {
    let well = number == 0;
    let scaled = |value: u64| value * (u64::from(number) + 1);
    LaunchRow {
        key: key.clone(),
        node: NODES[0].into(),
        launch: number,
        test: format!("test{number}").into(),
        kind: "io".into(),
        stream: number,
        round: 1 - number,
        start_ns: scaled(1_000),
        end_ns: scaled(2_000_000),
        start_cost_ns: scaled(900),
        user_cpu_ns: scaled(11),
        system_cpu_ns: scaled(12),
        group_cpu_ns: well.then_some(23),
        peak_memory_bytes: scaled(1 << 20),
        major_faults: scaled(1),
        block_input_bytes: scaled(512),
        block_output_bytes: scaled(1024),
        voluntary_switches: scaled(3),
        involuntary_switches: scaled(4),
        permanent_read_bytes: scaled(100),
        permanent_write_bytes: scaled(200),
        work_read_bytes: scaled(300),
        work_write_bytes: scaled(400),
        work_peak_bytes: scaled(500),
        utility_read_bytes: scaled(600),
        utility_write_bytes: scaled(700),
        utility_peak_bytes: scaled(800),
        outcome: if well { "complete" } else { "failed" }.into(),
        message: if well { record::SharedText::EMPTY } else { "step 1: no space".into() },
    }
}

fn step(key: &PhaseKey, number: u32) -> StepRow {
    let scaled = |value: u64| value * (u64::from(number) + 1);
    StepRow {
        key: key.clone(),
        launch: 0,
        test: "test0".into(),
        step: number,
        action: if number == 0 { "scan" } else { "sort" }.into(),
        threads: number + 1,
        start_ns: scaled(2_000),
        end_ns: scaled(3_000),
        user_cpu_ns: scaled(5),
        system_cpu_ns: scaled(6),
        peak_memory_bytes: scaled(1 << 19),
        block_input_bytes: scaled(512),
        block_output_bytes: scaled(1024),
        voluntary_switches: scaled(1),
        involuntary_switches: scaled(2),
        permanent_read_bytes: scaled(10),
        permanent_write_bytes: scaled(20),
        work_read_bytes: scaled(30),
        work_write_bytes: scaled(40),
        utility_read_bytes: scaled(50),
        utility_write_bytes: scaled(60),
        rows_in: scaled(70),
        rows_out: scaled(80),
        checksum: if number == 0 { record::SharedText::EMPTY } else { "00ff00ff00ff00ff".into() },
        result: "{\"sum\":1.5}".into(),
    }
}

fn space(key: &PhaseKey, second: u64) -> SpaceRow {
    SpaceRow {
        key: key.clone(),
        space: ["permanent", "work", "utility"][usize::try_from(second % 3).expect("small")].into(),
        start_ns: second * 1_000_000_000,
        length_ns: 1_000_000_000,
        read_bytes: 4096 * second,
        write_bytes: 8192 * second,
        free_bytes: (second > 0).then_some(1 << 30),
    }
}

/// All phases of one case, in order.
pub(crate) fn case(id: &str, tasks: u32) -> Vec<PhaseRecord> {
    (0..REPETITIONS)
        .flat_map(|repetition| [Phase::Write, Phase::Read].map(|p| phase(id, repetition, p, tasks)))
        .collect()
}

/// A warning about the run as a whole.
pub(crate) fn run_warning() -> WarningRow {
    WarningRow {
        key: None,
        warning: Warning::NotQuiet { seen: "load 3.1 before the run".to_owned(), share: 0.0 },
    }
}

/// Writes a run of [`CASES`] that ends with `outcome`.
pub(crate) fn write(directory: &Path, tasks: u32, outcome: Outcome) -> Result<(), RecordError> {
    let mut recorder = Recorder::create(directory, &manifest())?;
    recorder.warning(&run_warning())?;
    for (number, id) in (1..).zip(CASES) {
        recorder.case_started(id)?;
        recorder.clocks(&clocks(number))?;
        for record in case(id, tasks) {
            recorder.phase_finished(&record)?;
        }
        recorder.case_finished(id)?;
    }
    recorder.clocks_drifted(&[-300; NODES.len()]);
    recorder.finish(&outcome)?;
    Ok(())
}
