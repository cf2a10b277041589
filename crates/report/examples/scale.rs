//! `scale [TASKS] [SIZES]`: what a report of `TASKS` × `SIZES` cases takes, each with two phases and five repetitions, in
//! seconds and in memory. The run is made up and in memory, so it is part of what is measured.

#![expect(clippy::print_stdout, reason = "that is what it is for")]

use std::error::Error;
use std::time::Instant;
use std::{env, fs, io};

use plan::{
    Bytes, Case, Geometry, Measure, Operation, Order, Phase, Plan, PlanSource, Setting, SettingValue,
    WorkloadSpec,
};
use record::{HostFacts, LatencyRow, Manifest, PhaseKey, PhaseRecord, PhaseRow, Provenance, Run, TaskRow};
use report::{Screen, Study};

const REPETITIONS: u32 = 5;
const BUCKETS: u64 = 16;
const TRANSFER: u64 = 4096;
const SECOND: u64 = 1_000_000_000;

fn main() -> Result<(), Box<dyn Error>> {
    let mut sizes = env::args().skip(1).map(|text| text.parse::<u64>());
    let tasks = sizes.next().unwrap_or(Ok(100))?;
    let sizes = sizes.next().unwrap_or(Ok(100))?;
    let run = made(u32::try_from(tasks)?, sizes);
    println!("{} cases: {} MB before the report", tasks * sizes, megabytes("VmRSS")?);
    let all = Instant::now();
    let study = timed("figures and findings", || Study::of(&run));
    let text = timed("text", || study.text_in_full(Screen::PLAIN));
    timed("page", || study.html(&mut io::sink()))?;
    println!("{:28} {:6.2} s", "all of these", all.elapsed().as_secs_f64());
    timed("Markdown", || study.markdown());
    timed("CSV", || study.csv());
    timed("JSON", || study.write_json(&mut io::sink()))?;
    timed("OpenMetrics", || study.openmetrics());
    println!("{} lines of text; {} MB at most", text.lines().count(), megabytes("VmHWM")?);
    Ok(())
}

fn timed<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let (start, before) = (Instant::now(), cpu_seconds());
    let made = work();
    let cpu = cpu_seconds() - before;
    let peak = megabytes("VmHWM").unwrap_or_default();
    println!(
        "{what:28} {:6.2} s ({cpu:.2} s CPU), {peak} MB at most until now",
        start.elapsed().as_secs_f64()
    );
    made
}

/// Processor time of this process: what it takes where others are busy, too.
fn cpu_seconds() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let ticks = stat.rsplit(')').next().unwrap_or_default().split_whitespace().skip(11).take(2);
    ticks.filter_map(|one| one.parse::<f64>().ok()).sum::<f64>() / 100.0
}

/// Memory of this process, in 10⁶ bytes.
fn megabytes(which: &str) -> Result<u64, Box<dyn Error>> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|line| line.starts_with(which)).ok_or("the kernel does not tell")?;
    let kibibytes: u64 = line.split_whitespace().nth(1).ok_or("no number")?.parse()?;
    Ok(kibibytes * 1024 / 1_000_000)
}

fn made(tasks: u32, sizes: u64) -> Run {
    let (mut cases, mut records) = (Vec::new(), Vec::new());
    for tasks in 1..=tasks {
        for size in 1..=sizes {
            let id = format!("grid-tasks{tasks}-size{size}");
            let geometry = Geometry { transfer: Bytes(TRANSFER), block: Bytes::gib(size), segments: 1 };
            let mut spec = WorkloadSpec::new(&id, "/data/file", geometry);
            spec.tasks = tasks;
            spec.direct = true;
            spec.order = Order::Random { seed: 7 };
            let workload = spec.validate().expect("valid");
            let phases = [Phase::Write, Phase::Read];
            let settings = vec![
                Setting { key: "tasks".to_owned(), value: SettingValue::Count(tasks.into()) },
                Setting { key: "size".to_owned(), value: SettingValue::Bytes(Bytes::gib(size)) },
            ];
            cases.push(Case {
                repetitions: REPETITIONS,
                group: "grid".to_owned(),
                settings,
                ..Case::new(&id, workload, phases.to_vec())
            });
            for repetition in 0..REPETITIONS {
                let keys = phases.map(|phase| PhaseKey { case: id.as_str().into(), repetition, phase });
                records.extend(keys.map(|key| record(key, tasks, size)));
            }
        }
    }
    let question = PlanSource::Quick { directory: "/data".into(), others: Vec::new() };
    let manifest = Manifest {
        cluster: None,
        model: None,
        format_version: 1,
        run_id: "made-up".to_owned(),
        provenance: Provenance::Measured,
        program_version: "0".to_owned(),
        command_line: vec!["ioproof".to_owned()],
        started_unix_ns: 0,
        finished_unix_ns: Some(1),
        predicted: None,
        plan: Plan::new("Made-up numbers", question, 1, cases),
        host: HostFacts::default(),
        defaults: Vec::new(),
    };
    Run::in_memory(manifest, records)
}

/// A pass whose rate saturates with the tasks and scatters by two percent.
fn record(key: PhaseKey, tasks: u32, size: u64) -> PhaseRecord {
    let step =
        (u64::from(tasks) << 32 ^ size << 8 ^ u64::from(key.repetition)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let io_ns = 5 * SECOND + SECOND / 25 * (step >> 54) / 1024;
    let transfers = 450_000 * u64::from(tasks) / (10 + u64::from(tasks)) * (100 + size) / 100;
    let operation = if key.phase == Phase::Read { Operation::Read } else { Operation::Write };
    let (reads, writes) = if key.phase == Phase::Read { (transfers, 0) } else { (0, transfers) };
    let bucket = |bucket: u64| LatencyRow {
        key: key.clone(),
        operation,
        measure: Measure::Response,
        low_ns: 50_000 + bucket * 10_000,
        high_ns: 50_400 + bucket * 10_000,
        count: transfers / BUCKETS,
    };
    let task = TaskRow {
        key: key.clone(),
        task: 0,
        node: "node".into(),
        file: 0,
        open_start_ns: 0,
        open_end_ns: 1_000,
        io_start_ns: 1_000,
        io_end_ns: io_ns,
        close_start_ns: io_ns,
        close_end_ns: io_ns + 1_000,
        bytes: transfers * TRANSFER,
        transfers,
        stonewall_transfers: None,
    };
    PhaseRecord {
        tasks: vec![task],
        latency: (0..BUCKETS).map(bucket).collect(),
        ..PhaseRecord::new(PhaseRow {
            wall_ns: io_ns + 10_000,
            open_ns: 1_000,
            io_ns,
            close_ns: 1_000,
            reads,
            writes,
            read_bytes: reads * TRANSFER,
            write_bytes: writes * TRANSFER,
            first_done_ns: io_ns,
            first_done_bytes: transfers * TRANSFER,
            ..PhaseRow::new(key)
        })
    }
}
