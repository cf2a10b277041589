//! How long a large study takes to read, and how much memory:
//!
//! - `large_record write DIR [TASKS_MAX [REPETITIONS]]` makes up the record of a sweep: five workloads on two
//!   targets, 25 transfer sizes and 1 to `TASKS_MAX` tasks (40, which makes 10,000 cases), five
//!   repetitions, a histogram of 200 buckets for each phase.
//! - `large_record interrupt DIR [TASKS_MAX [REPETITIONS]]` leaves all of it in the journal, as a run that was killed
//!   while its cases were measured in turn.
//! - `large_record nodes DIR` makes up a simulated record of one case with 36,000 tasks on 1,500 nodes.
//! - `large_record devices DIR SECONDS` makes up a record of one phase with 24 devices on each of 16 nodes, most of
//!   them idle: rows that are all alike take most memory for their bytes. `devices-interrupt` leaves it in the journal.
//! - `large_record read DIR` opens it and goes through all of its rows.
//!
//! Analysis and report of the same record are measured with the program itself:
//! `/usr/bin/time -v ioproof report DIR --format html --output FILE`.
#![expect(clippy::print_stdout, reason = "the figures are its output")]

use std::error::Error;
use std::fs;
use std::path::Path;
use std::time::Instant;

use plan::study::{Options, read_with};
use plan::{Case, Measure, Operation, Phase, Plan};
use record::{
    Cluster, DeviceRow, FORMAT_VERSION, Fact, HostFacts, LatencyRow, Manifest, ModelSource, NodeFacts,
    NodeSeriesRow, Outcome, PhaseKey, PhaseRecord, PhaseRow, Provenance, Recorder, Run, SeriesRow,
    SharedText, TaskRow, Warning, WarningRow,
};

const START_UNIX_NS: i64 = 1_700_000_000_000_000_000;
/// Transfer sizes in pieces of 64 KiB, all of which divide 720 MiB.
const TRANSFERS: [u64; 25] =
    [1, 2, 3, 4, 5, 6, 8, 9, 10, 12, 15, 16, 18, 20, 24, 30, 32, 36, 40, 45, 48, 60, 64, 72, 80];
/// Buckets that are not empty in each phase.
const BUCKETS: u64 = 200;
/// So many of them are as wide as the shortest latency.
const BUCKET_SHARE: u64 = 128;
/// Nodes of one case with many, and tasks of each.
const NODES: u32 = 1_500;
const TASKS_PER_NODE: u32 = 24;
/// Seconds of each phase.
const SECONDS: u64 = 10;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        [what @ ("write" | "interrupt"), directory, size @ ..] if size.len() <= 2 => {
            let tasks_max = size.first().unwrap_or(&"40").parse()?;
            let repetitions = size.get(1).unwrap_or(&"5").parse()?;
            let manifest = manifest(study(tasks_max, repetitions)?);
            record(Path::new(directory), manifest, *what == "write")?;
        }
        ["nodes", directory] => record(Path::new(directory), simulated(manifest(many_nodes()?)), true)?,
        [what @ ("devices" | "devices-interrupt"), directory, seconds] => {
            idle_devices(Path::new(directory), seconds.parse()?, *what == "devices")?;
        }
        ["read", directory] => read(Path::new(directory))?,
        _ => {
            return Err("expected write or interrupt DIR [TASKS_MAX [REPETITIONS]], nodes DIR, \
                        devices or devices-interrupt DIR SECONDS, or read DIR"
                .into());
        }
    }
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    println!("{}", status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or("VmHWM unknown"));
    Ok(())
}

fn study(tasks_max: u32, repetitions: u32) -> Result<Plan, Box<dyn Error>> {
    let mut text = format!("[study]\ntitle = \"A large sweep\"\n\n[protocol]\nrepetitions = {repetitions}\n");
    for target in ["disk", "flash"] {
        text += &format!("\n[[target]]\nname = \"{target}\"\ndirectory = \"/mnt/{target}\"\ndevices = 12\n");
    }
    let transfers: Vec<String> = TRANSFERS.iter().map(|pieces| format!("\"{}KiB\"", pieces * 64)).collect();
    let transfers = transfers.join(", ");
    for name in ["streams", "neighbours", "direct", "strided", "aligned"] {
        text += &format!(
            "\n[[workload]]\nname = \"{name}\"\ntarget = [\"disk\", \"flash\"]\n\
             transfer = [{transfers}]\ntasks = \"1..{tasks_max} step 1\"\n\
             size = \"720MiB\"\nsharing = \"per-task\"\nbackend = \"psync\"\n"
        );
    }
    let options = Options { cases_max: u64::MAX, ..Options::default() };
    read_with(Path::new("large.toml"), &text, &options)
        .map_err(|errors| format!("{:?}", errors.errors()).into())
}

fn manifest(plan: Plan) -> Manifest {
    let unknown = || "this study is made up".to_owned();
    Manifest {
        cluster: None,
        model: None,
        format_version: FORMAT_VERSION,
        run_id: "large-1".to_owned(),
        provenance: Provenance::Measured,
        program_version: "0.1.0".to_owned(),
        command_line: ["ioproof", "run", "large.toml"].map(str::to_owned).to_vec(),
        started_unix_ns: START_UNIX_NS,
        finished_unix_ns: None,
        predicted: None,
        plan,
        host: HostFacts {
            node: "node1".to_owned(),
            operating_system: Fact::Unknown(unknown()),
            kernel: Fact::Unknown(unknown()),
            cpu_model: Fact::Unknown(unknown()),
            sockets: Fact::Known(2),
            logical_cpus: 64,
            usable_cpus: 64,
            numa_nodes: Fact::Known(2),
            governor: Fact::Unknown(unknown()),
            memory_bytes: 256 << 30,
            memory_limit_bytes: None,
            transparent_hugepages: Fact::Unknown(unknown()),
            clock: "tsc".to_owned(),
            batch_job: None,
            file_systems: Vec::new(),
            devices: Vec::new(),
            target_devices: Vec::new(),
            ..HostFacts::default()
        },
        defaults: Vec::new(),
    }
}

/// One file for each of 24 tasks on each of 1,500 nodes, and random reads of them.
fn many_nodes() -> Result<Plan, Box<dyn Error>> {
    let text = format!(
        "[study]\ntitle = \"36,000 tasks\"\n\n[protocol]\nrepetitions = 5\n\n[[target]]\nname = \"cell\"\n\
         directory = \"/mnt/cell\"\n\n[[workload]]\nname = \"all\"\ntransfer = \"4KiB\"\norder = \"random\"\n\
         nodes = {NODES}\ntasks = {}\nsize = \"80MiB\"\nsharing = \"per-task\"\n\
         backend = \"psync\"\ndirect = true\n",
        NODES * TASKS_PER_NODE
    );
    read_with(Path::new("nodes.toml"), &text, &Options::default())
        .map_err(|errors| format!("{:?}", errors.errors()).into())
}

/// One phase of `seconds`, in which the first of 24 devices of each of 16 nodes reads.
fn idle_devices(directory: &Path, seconds: u64, ends: bool) -> Result<(), Box<dyn Error>> {
    let mut plan = study(2, 5)?;
    plan.cases.truncate(1);
    let manifest = manifest(plan);
    let case = &manifest.plan.cases[0];
    let mut recorder = Recorder::create(directory, &manifest)?;
    recorder.case_started(&case.id)?;
    let mut record = phase_of(case, 0, 0, Phase::Read);
    let nodes: Vec<SharedText> = (0..16).map(|node| node_name(node).into()).collect();
    let names: Vec<SharedText> = (0..24).map(|device| format!("nvme{device}n1").into()).collect();
    let key = record.phase.key.clone();
    let devices = nodes.iter().flat_map(|node| names.iter().map(move |device| (node, device)));
    let rows = devices.flat_map(|(node, device)| {
        let (key, bytes) = (&key, if device == &names[0] { 1 << 30 } else { 0 });
        (0..seconds).map(move |second| DeviceRow {
            key: key.clone(),
            node: node.clone(),
            device: device.clone(),
            start_ns: second * 1_000_000_000,
            length_ns: 1_000_000_000,
            reads: bytes >> 20,
            read_bytes: bytes,
            read_time_ns: bytes,
            writes: 0,
            write_bytes: 0,
            write_time_ns: 0,
            busy_ns: bytes,
            queue_time_ns: bytes,
        })
    });
    record.devices = rows.collect();
    println!("{} rows of devices", record.devices.len());
    recorder.phase_finished(&record)?;
    if ends {
        recorder.case_finished(&case.id)?;
        recorder.finish(&Outcome::Complete)?;
    }
    Ok(())
}

/// As a model gives it, whose machine has [`NODES`].
fn simulated(mut manifest: Manifest) -> Manifest {
    let node = |number: u32| NodeFacts {
        host: HostFacts { node: node_name(number), ..manifest.host.clone() },
        ranks: vec![number],
        clock_offset_ns: 0,
        clock_error_ns: 0,
        clock_drift_ns: None,
        boot_id: None,
    };
    let nodes = (0..NODES).map(node).collect();
    manifest.cluster = Some(Cluster { library: "a model".to_owned(), nodes });
    manifest.simulated(ModelSource {
        name: "1500 nodes".to_owned(),
        path: "models/nodes.toml".into(),
        sha256: record::sha256(b"made up"),
        seed: 1,
        percentile: None,
        simulates_all: false,
    })
}

fn node_name(number: u32) -> String {
    format!("n{number:04}")
}

fn record(directory: &Path, manifest: Manifest, ends: bool) -> Result<(), Box<dyn Error>> {
    // Everything can be made up again, so that no phase need be on stable storage before the next one.
    let mut recorder = Recorder::create(directory, &manifest)?.not_durable();
    let mut longest = 0.0_f64;
    for (number, case) in manifest.plan.cases.iter().enumerate() {
        recorder.case_started(&case.id)?;
        for pass in 0..case.repetitions {
            for &phase in &case.phases {
                recorder.phase_finished(&phase_of(case, number as u64, pass, phase))?;
            }
        }
        let start = Instant::now();
        if ends {
            recorder.case_finished(&case.id)?;
        }
        longest = longest.max(start.elapsed().as_secs_f64());
    }
    let start = Instant::now();
    if ends {
        recorder.finish(&Outcome::Complete)?;
    }
    let end = start.elapsed().as_secs_f64();
    let cases = manifest.plan.cases.len();
    println!("{cases} cases; longest end of a case {:.1} ms, end of the run {end:.3} s", longest * 1e3);
    Ok(())
}

/// A number from 0 to 1 that `seed` alone decides (the finaliser of SplitMix64).
fn noise(seed: u64) -> f64 {
    let mut mixed = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
}

/// One phase: its rate rises with tasks and transfer size up to a ceiling, and scatters by 4 %.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "times of seconds and sizes of gigabytes are far from the ends of the types"
)]
fn phase_of(case: &Case, number: u64, pass: u32, phase: Phase) -> PhaseRecord {
    let key = PhaseKey { case: case.id.as_str().into(), repetition: pass, phase };
    let seed = number << 8 | u64::from(pass) << 1 | u64::from(phase == Phase::Read);
    let tasks = case.workload.tasks;
    let (transfer, bytes) = (case.workload.geometry.transfer.0, case.workload.bytes().0);
    let ceiling = if case.target == "flash" { 24e9 } else { 6e9 };
    let wanted = f64::from(tasks) * 4e8 * (transfer as f64 / (1 << 20) as f64).sqrt();
    let rate = ceiling * wanted / (ceiling + wanted) * (0.98 + 0.04 * noise(seed));
    let wall_ns = (bytes as f64 / rate * 1e9) as u64;
    let (io_ns, transfers, reads) = (wall_ns - wall_ns / 100, bytes / transfer, phase == Phase::Read);
    let operation = if reads { Operation::Read } else { Operation::Write };
    // The buckets are filled by 1, ½, ⅓ …: with these the mean is what Little's law wants.
    let filling: f64 = (1..=BUCKETS).map(|place| 1.0 / place as f64).sum();
    let mean_bucket = BUCKETS as f64 / filling - 1.0;
    let base_ns =
        (f64::from(tasks) * transfer as f64 / rate * 1e9 / (1.0 + mean_bucket / BUCKET_SHARE as f64)) as u64;
    let row = PhaseRow {
        started_unix_ns: START_UNIX_NS + ((number * 10 + u64::from(pass)) * 1_000_000_000) as i64,
        wall_ns,
        open_ns: wall_ns / 200,
        io_ns,
        close_ns: wall_ns / 200,
        read_bytes: if reads { bytes } else { 0 },
        write_bytes: if reads { 0 } else { bytes },
        reads: if reads { transfers } else { 0 },
        writes: if reads { 0 } else { transfers },
        first_done_ns: io_ns - io_ns / 50,
        first_done_bytes: bytes - bytes / 50,
        user_cpu_ns: wall_ns / 20,
        system_cpu_ns: wall_ns / 5,
        device_read_bytes: Some(if reads { bytes } else { 0 }),
        device_write_bytes: Some(if reads { 0 } else { bytes }),
        ..PhaseRow::new(key.clone())
    };
    let many = tasks == NODES * TASKS_PER_NODE;
    let node_of = |task: u32| -> SharedText {
        if many { node_name(task / TASKS_PER_NODE).into() } else { "node1".into() }
    };
    // The tasks of two nodes take as long as the phase, those of the others 70 % of that.
    let is_slow = |node: u32| node % 700 == 699;
    let before_end = |task: u32| if many && !is_slow(task / TASKS_PER_NODE) { 0.3 } else { 0.0 };
    let share = |node: u32| if is_slow(node) { 0.7 } else { 1.0 } / f64::from(NODES);
    let seconds_of = |node: u32| {
        let (key, node) = (key.clone(), (SharedText::from(node_name(node)), share(node)));
        (0..SECONDS).map(move |second| NodeSeriesRow {
            key: key.clone(),
            node: node.0.clone(),
            operation,
            start_ns: second * wall_ns / SECONDS,
            length_ns: wall_ns / SECONDS,
            bytes: ((bytes / SECONDS) as f64 * node.1) as u64,
            transfers: ((transfers / SECONDS) as f64 * node.1) as u64,
            latency_sum_ns: 0,
            latency_max_ns: base_ns * 3,
        })
    };
    PhaseRecord {
        nodes: if many { (0..NODES).flat_map(seconds_of).collect() } else { Vec::new() },
        tasks: (0..tasks)
            .map(|task| TaskRow {
                key: key.clone(),
                task,
                node: node_of(task),
                file: task,
                open_start_ns: 0,
                open_end_ns: wall_ns / 200,
                io_start_ns: wall_ns / 200,
                io_end_ns: wall_ns / 200 + io_ns
                    - ((before_end(task) + noise(seed ^ u64::from(task) << 40) * 1e-2) * io_ns as f64) as u64,
                close_start_ns: wall_ns - wall_ns / 200,
                close_end_ns: wall_ns,
                bytes: bytes / u64::from(tasks),
                transfers: transfers / u64::from(tasks),
                stonewall_transfers: None,
            })
            .collect(),
        latency: (0..BUCKETS)
            .map(|bucket| LatencyRow {
                key: key.clone(),
                operation,
                measure: Measure::Response,
                low_ns: base_ns + bucket * base_ns / BUCKET_SHARE,
                high_ns: base_ns + (bucket + 1) * base_ns / BUCKET_SHARE - 1,
                count: (transfers as f64 / filling / (bucket + 1) as f64) as u64,
            })
            .collect(),
        series: (0..SECONDS)
            .map(|second| SeriesRow {
                key: key.clone(),
                operation,
                start_ns: second * wall_ns / SECONDS,
                length_ns: wall_ns / SECONDS,
                bytes: bytes / SECONDS,
                transfers: transfers / SECONDS,
                latency_sum_ns: transfers / SECONDS * base_ns,
                latency_max_ns: base_ns * 3,
            })
            .collect(),
        warnings: too_short(&key, wall_ns).into_iter().collect(),
        ..PhaseRecord::new(row)
    }
}

/// What a run says of a phase that is shorter than two seconds; every one in words of its own.
fn too_short(key: &PhaseKey, wall_ns: u64) -> Option<WarningRow> {
    let seconds = wall_ns as f64 / 1e9;
    let warning = Warning::TooShort { seconds, at_least_seconds: 2.0 };
    (seconds < 2.0).then(|| WarningRow { key: Some(key.clone()), warning })
}

fn read(directory: &Path) -> Result<(), Box<dyn Error>> {
    let start = Instant::now();
    let run = Run::open(directory)?;
    let opened = start.elapsed().as_secs_f64();
    let mut rows = 0;
    for case in run.cases() {
        rows +=
            run.phases(case).len() + run.tasks(case).len() + run.latency(case).len() + run.series(case).len();
        rows += run.nodes(case).len() + run.devices(case).len();
    }
    for damage in run.damage.iter().chain(&run.late_damage()) {
        println!("{damage}");
    }
    println!("opened in {opened:.3} s, {rows} rows in {:.3} s", start.elapsed().as_secs_f64());
    Ok(())
}
