//! A sample run. All numbers below are invented, and the title of the run says so.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "made-up numbers are small and not negative"
)]

pub(crate) mod cluster;
pub(crate) mod concurrent;
pub(crate) mod imports;
pub(crate) mod layers;
pub(crate) mod matrix;
pub(crate) mod operations;
pub(crate) mod simulated;
pub(crate) mod study;
pub(crate) mod timeline;

use plan::{
    Backend, Bytes, Case, Geometry, Measure, Nanos, Operation, OptionNote, Order, Pace, Phase, Plan,
    PlanSource, ReadFrom, Sharing, SyncRule, WorkloadSpec,
};
use record::{
    BlockDeviceFacts, DeviceRow, Fact, FileSystemFacts, HostFacts, LatencyRow, Manifest, PhaseKey,
    PhaseRecord, PhaseRow, Provenance, Run, RunState, SeriesRow, TaskRow, Warning, WarningRow,
};

/// The text without the parts that differ between builds or machines.
pub(crate) fn redacted(text: &str) -> String {
    for word in ["/home/", "/root/", "/tmp/"] {
        assert!(!text.contains(word), "a path of this machine: {word} in\n{text}");
    }
    text.replace(env!("CARGO_PKG_VERSION"), "[version]")
}

/// The rows of comma-separated values, heading first, each with a cell for each column.
pub(crate) fn rows(table: &str) -> Vec<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(table.as_bytes());
    reader
        .records()
        .map(|row| row.expect("as many cells as columns").iter().map(str::to_owned).collect())
        .collect()
}

const SECOND: u64 = 1_000_000_000;
/// 2025-11-03 09:15:00 UTC.
const STARTED: i64 = 1_762_161_300_000_000_000;

/// One sample result.
struct Made {
    id: &'static str,
    title: &'static str,
    phase: Phase,
    transfer: u64,
    random: bool,
    depth: u32,
    tasks: u32,
    direct: bool,
    /// Bytes per second, and the median transfer latency.
    rate: f64,
    p50_ns: u64,
    repetitions: u32,
    /// Device bytes divided by application bytes.
    share: f64,
}

const MADE: [Made; 8] = [
    made("seq-write", "Sequential write, 1 MiB", Phase::Write, MIB, false, 8, true, 1.91e9, 4_300_000, 1.0),
    made("seq-read", "Sequential read, 1 MiB", Phase::Read, MIB, false, 8, true, 3.22e9, 2_550_000, 1.0),
    made(
        "rand-read-d1",
        "Random read, 4 KiB, 1 at a time",
        Phase::Read,
        4096,
        true,
        1,
        true,
        44.1e6,
        88_000,
        1.0,
    ),
    made(
        "rand-read-d32",
        "Random read, 4 KiB, 32 at a time",
        Phase::Read,
        4096,
        true,
        32,
        true,
        1.12e9,
        112_000,
        1.0,
    ),
    made(
        "rand-write-d1",
        "Random write, 4 KiB, 1 at a time",
        Phase::Write,
        4096,
        true,
        1,
        true,
        212e6,
        17_900,
        1.0,
    ),
    made(
        "cached-seq-read",
        "Sequential read, 1 MiB, cached",
        Phase::Read,
        MIB,
        false,
        8,
        false,
        9.8e9,
        780_000,
        0.0,
    ),
    made(
        "cached-rand-read-d1",
        "Random read, 4 KiB, cached",
        Phase::Read,
        4096,
        true,
        1,
        false,
        2.1e9,
        1_700,
        0.002,
    ),
    made("ior", "Study A, test 1", Phase::Write, MIB, false, 1, true, 1.98e9, 3_100_000, 1.0),
];

const MIB: u64 = 1 << 20;

#[expect(clippy::too_many_arguments, reason = "a table of made-up results, one row each")]
const fn made(
    id: &'static str,
    title: &'static str,
    phase: Phase,
    transfer: u64,
    random: bool,
    depth: u32,
    direct: bool,
    rate: f64,
    p50_ns: u64,
    share: f64,
) -> Made {
    Made { id, title, phase, transfer, random, depth, tasks: 1, direct, rate, p50_ns, repetitions: 1, share }
}

/// A complete quick run with two more cases: six tasks as printed in study A with seven repetitions, and a mixed
/// open-loop case.
pub(crate) fn run() -> Run {
    run_with(|_| true)
}

/// The same run, with only the records for which `keep` returns true. `keep` may modify them.
pub(crate) fn run_with(keep: impl FnMut(&mut PhaseRecord) -> bool) -> Run {
    let mut manifest = empty().manifest;
    let mut records = Vec::new();
    for made in &MADE {
        let ior = made.id == "ior";
        let made = Made {
            tasks: if ior { 6 } else { 1 },
            repetitions: if ior { 7 } else { made.repetitions },
            ..*made
        };
        manifest.plan.cases.push(if ior { study_a() } else { case(&made) });
        for repetition in 0..made.repetitions {
            records.push(record(&made, made.phase, repetition));
            if ior {
                let read = Made { rate: 2.69e9, p50_ns: 2_200_000, ..made };
                records.push(record(&read, Phase::Read, repetition));
            }
        }
    }
    let mixed = Made {
        p50_ns: 151_000,
        ..made("paced-mix", "1000 transfers a second", Phase::Mixed, 4096, true, 1, true, 4.096e6, 0, 1.0)
    };
    let mut paced = case(&mixed);
    let mut spec = plan::WorkloadSpec::from(paced.workload.clone());
    spec.pace = Some(Pace { transfers_per_second: 1_000.0 });
    spec.read_percent = 70;
    paced.workload = spec.validate().expect("valid");
    manifest.plan.cases.push(paced);
    records.push(record(&mixed, Phase::Mixed, 0));
    warn(&mut records, "cached-seq-read", Warning::CachedReads { device_share: 0.0 });
    warn(&mut records, "cached-rand-read-d1", Warning::CachedReads { device_share: 0.002 });
    warn(&mut records, "cached-rand-read-d1", Warning::HarnessBound { cpu_share: 0.97 });
    let mut keep = keep;
    records.retain_mut(&mut keep);
    let mut run = in_memory(manifest, records);
    run.warnings.push(WarningRow {
        key: None,
        warning: Warning::NotQuiet { seen: "load average 1.8 before the start".into(), share: 0.0 },
    });
    run
}

/// The same run, killed in its fourth case, with an unreadable table.
pub(crate) fn killed() -> Run {
    let kept: Vec<&str> = MADE[..3].iter().map(|made| made.id).collect();
    let mut run = run_with(|record| kept.iter().any(|id| record.phase.key.case == *id));
    run.manifest.finished_unix_ns = None;
    run.state = RunState::Killed;
    run.damage.push(record::Damage {
        path: "runs/made-up/journal.jsonl".into(),
        what: "line 41 is incomplete after 812 bytes: the run ended while it was being written; its content is lost"
            .into(),
    });
    run
}

fn in_memory(manifest: Manifest, records: Vec<PhaseRecord>) -> Run {
    let mut run = Run::in_memory(manifest, records);
    run.directory = "runs/made-up".into();
    run
}

/// A run that was started and has no results yet.
pub(crate) fn empty() -> Run {
    let plan = Plan::new(
        "Made-up numbers: quick characterisation of /data <tests & docs>",
        PlanSource::Dialect {
            tool: "ior".into(),
            arguments: ["ior", "-B", "-o", "/data/it's"].map(str::to_owned).to_vec(),
            memo: String::new(),
            notes: vec![OptionNote {
                written: "-B".into(),
                name: "useO_DIRECT".into(),
                meaning: "direct I/O: round the page cache".into(),
            }],
        },
        42,
        Vec::new(),
    );
    let manifest = Manifest {
        cluster: None,
        model: None,
        format_version: 1,
        run_id: "20251103-091500-made-up".into(),
        provenance: Provenance::Measured,
        program_version: "0.1.0".into(),
        command_line: ["ioproof", "run", "--quick", "/data"].map(str::to_owned).to_vec(),
        started_unix_ns: STARTED,
        finished_unix_ns: Some(STARTED + 71_400_000_000),
        predicted: None,
        plan,
        host: host(),
        defaults: Vec::new(),
    };
    in_memory(manifest, Vec::new())
}

fn host() -> HostFacts {
    let known = |text: &str| Fact::Known(text.to_owned());
    HostFacts {
        node: "made-up-node".into(),
        operating_system: known("Debian GNU/Linux 12 (bookworm)"),
        kernel: known("6.1.0-18-amd64 #1 SMP PREEMPT_DYNAMIC"),
        cpu_model: known("Example CPU @ 3.00GHz"),
        sockets: Fact::Known(1),
        logical_cpus: 16,
        usable_cpus: 8,
        numa_nodes: Fact::Known(1),
        governor: Fact::Unknown("no /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor".into()),
        memory_bytes: 64 << 30,
        memory_limit_bytes: Some(32 << 30),
        transparent_hugepages: known("madvise"),
        clock: "tsc".into(),
        batch_job: None,
        file_systems: vec![FileSystemFacts {
            mount_point: "/data".into(),
            kind: "xfs".into(),
            source: "/dev/nvme0n1p1".into(),
            options: "rw,noatime,attr2,inode64,logbufs=8,logbsize=32k,noquota".into(),
            size_bytes: 2_000_000_000_000,
            free_bytes: 1_400_000_000_000,
            reserved_bytes: 0,
            inodes: 195_000_000,
            free_inodes: 194_000_000,
        }],
        target_devices: Vec::new(),
        devices: vec![BlockDeviceFacts {
            name: "nvme0n1".into(),
            model: known("EXAMPLE SSD 2TB"),
            serial: known("S0000001"),
            firmware: known("1.0"),
            size_bytes: 2_000_398_934_016,
            rotational: Fact::Known(false),
            scheduler: known("none"),
            hardware_queues: Fact::Known(8),
            queue_requests: Fact::Known(1023),
            read_ahead_bytes: Fact::Known(131_072),
            logical_block_bytes: Fact::Known(512),
            physical_block_bytes: Fact::Known(512),
            numa_node: Fact::Unknown("-1 in /sys/block/nvme0n1/device/numa_node".into()),
            ..BlockDeviceFacts::default()
        }],
        ..HostFacts::default()
    }
}

fn case(made: &Made) -> Case {
    let geometry = Geometry { transfer: Bytes(made.transfer), block: Bytes::gib(1), segments: 1 };
    let mut spec = WorkloadSpec::new(made.id, "/data/ioproof.data", geometry);
    spec.direct = made.direct;
    spec.duration = Some(Nanos::secs(6));
    if made.random {
        spec.order = Order::Random { seed: 7 };
    }
    if made.depth > 1 {
        spec.backend = Backend::Uring { depth: made.depth, required: false };
    }
    finish(made.id, made.title, spec, vec![made.phase], made.repetitions)
}

/// `ior -a POSIX -B -e -t 1m -b 1m -s 10000 -N 6 -C -F`.
fn study_a() -> Case {
    let geometry = Geometry { transfer: Bytes::mib(1), block: Bytes::mib(1), segments: 10_000 };
    let mut spec = WorkloadSpec::new("ior", "/data/testFile", geometry);
    spec.tasks = 6;
    spec.files.sharing = Sharing::PerTask;
    spec.direct = true;
    spec.sync = SyncRule { at_close: true, per_write: false };
    spec.read_from = ReadFrom::Shift { tasks: 1 };
    finish("ior", "Study A, test 1", spec, vec![Phase::Write, Phase::Read], 7)
}

fn finish(id: &str, title: &str, spec: WorkloadSpec, phases: Vec<Phase>, repetitions: u32) -> Case {
    Case { title: title.into(), repetitions, ..Case::new(id, spec.validate().expect("valid"), phases) }
}

/// A pseudo-random number that differs from step to step and is the same in every test.
fn wobble(step: u64) -> f64 {
    let mixed = step.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((mixed >> 40) as f64 / f64::from(1 << 24) - 0.5) * 0.06
}

fn record(made: &Made, phase: Phase, repetition: u32) -> PhaseRecord {
    let key = PhaseKey { case: made.id.into(), repetition, phase };
    let salt = made.p50_ns ^ u64::from(repetition) << 32 ^ made.transfer;
    let seconds = 6;
    let mut bytes = 0;
    let (mut series, mut devices) = (Vec::new(), Vec::new());
    for second in 0..seconds {
        let rate = made.rate * (1.0 + wobble(salt + second));
        let transfers = (rate / made.transfer as f64) as u64;
        bytes += transfers * made.transfer;
        for (operation, share) in operations(phase) {
            let part = (transfers as f64 * share) as u64;
            series.push(SeriesRow {
                key: key.clone(),
                operation,
                start_ns: second * SECOND,
                length_ns: SECOND,
                bytes: part * made.transfer,
                transfers: part,
                latency_sum_ns: part * made.p50_ns,
                latency_max_ns: (made.p50_ns as f64 * (9.0 + 60.0 * wobble(salt + second).abs())) as u64,
            });
        }
        devices.push(device_row(&key, made, phase, second, rate));
    }
    PhaseRecord {
        tasks: tasks(&key, made, bytes, seconds),
        latency: latency(&key, made, bytes / made.transfer),
        series,
        devices,
        ..PhaseRecord::new(phase_row(&key, made, bytes, seconds, repetition))
    }
}

fn operations(phase: Phase) -> Vec<(Operation, f64)> {
    match phase {
        Phase::Read => vec![(Operation::Read, 1.0)],
        Phase::Mixed => vec![(Operation::Read, 0.7), (Operation::Write, 0.3)],
        _ => vec![(Operation::Write, 1.0)],
    }
}

fn split(phase: Phase, total: u64) -> (u64, u64) {
    match phase {
        Phase::Read => (total, 0),
        Phase::Mixed => (total / 10 * 7, total - total / 10 * 7),
        _ => (0, total),
    }
}

fn phase_row(key: &PhaseKey, made: &Made, bytes: u64, seconds: u64, repetition: u32) -> PhaseRow {
    let transfers = bytes / made.transfer;
    let (reads, writes) = split(key.phase, transfers);
    let (read_bytes, write_bytes) = (reads * made.transfer, writes * made.transfer);
    PhaseRow {
        started_unix_ns: STARTED + i64::from(repetition) * 7_000_000_000,
        wall_ns: seconds * SECOND + 11_000_000,
        open_ns: 300_000,
        io_ns: seconds * SECOND,
        close_ns: 9_000_000,
        read_bytes,
        write_bytes,
        reads,
        writes,
        first_done_ns: seconds * SECOND * 98 / 100,
        first_done_bytes: bytes / 100 * 98,
        user_cpu_ns: transfers * 400,
        system_cpu_ns: transfers * 2_100,
        device_read_bytes: Some((read_bytes as f64 * made.share) as u64),
        device_write_bytes: Some((write_bytes as f64 * made.share) as u64),
        ..PhaseRow::new(key.clone())
    }
}

fn device_row(key: &PhaseKey, made: &Made, phase: Phase, second: u64, rate: f64) -> DeviceRow {
    let moved = (rate * made.share) as u64;
    let (read_bytes, write_bytes) = split(phase, moved);
    let requests = moved / made.transfer.min(128 << 10);
    let (reads, writes) = split(phase, requests);
    let busy = (SECOND as f64 * (made.share.min(1.0) * 0.97 + wobble(second)).clamp(0.0, 1.0)) as u64;
    DeviceRow {
        node: "node1".into(),
        key: key.clone(),
        device: "nvme0n1".into(),
        start_ns: second * SECOND,
        length_ns: SECOND,
        reads,
        read_bytes,
        read_time_ns: reads * made.p50_ns,
        writes,
        write_bytes,
        write_time_ns: writes * made.p50_ns,
        busy_ns: busy,
        queue_time_ns: busy * u64::from(made.depth * made.tasks),
    }
}

fn tasks(key: &PhaseKey, made: &Made, bytes: u64, seconds: u64) -> Vec<TaskRow> {
    let task = |task: u32| {
        let end = seconds * SECOND - (wobble(u64::from(task) + 3).abs() * 4.0 * SECOND as f64) as u64;
        TaskRow {
            key: key.clone(),
            task,
            node: "made-up-node".into(),
            file: task,
            open_start_ns: 0,
            open_end_ns: 200_000,
            io_start_ns: 300_000,
            io_end_ns: end,
            close_start_ns: end,
            close_end_ns: end + 9_000_000,
            bytes: bytes / u64::from(made.tasks),
            transfers: bytes / u64::from(made.tasks) / made.transfer,
            stonewall_transfers: None,
        }
    };
    (0..made.tasks).map(task).collect()
}

/// Latencies with a long tail: the median is at most `p50_ns`, the maximum about twelve times that.
fn latency(key: &PhaseKey, made: &Made, transfers: u64) -> Vec<LatencyRow> {
    let mut rows = Vec::new();
    for (operation, share) in operations(key.phase) {
        let all = (transfers as f64 * share) as u64;
        for measure in [Measure::Response, Measure::Service] {
            if measure == Measure::Service && key.phase != Phase::Mixed {
                continue;
            }
            let scale = if measure == Measure::Service { 0.8 } else { 1.0 };
            let mut left = all;
            for step in 0..40_u64 {
                let low = (made.p50_ns as f64 * scale * 0.6 * 1.083_f64.powi(step as i32)) as u64;
                let count = if step == 39 { 1.min(left) } else { (left as f64 * 0.14).ceil() as u64 };
                left -= count;
                if count > 0 {
                    rows.push(LatencyRow {
                        key: key.clone(),
                        operation,
                        measure,
                        low_ns: low,
                        high_ns: low + low / 128,
                        count,
                    });
                }
            }
        }
    }
    rows
}

fn warn(records: &mut [PhaseRecord], case: &str, warning: Warning) {
    let record = records.iter_mut().find(|record| record.phase.key.case == case).expect("made before");
    record.warnings.push(WarningRow { key: Some(record.phase.key.clone()), warning });
}
