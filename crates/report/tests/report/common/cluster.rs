//! Sample runs on several nodes: one that compares nodes, and one with an increasing number of nodes. All numbers are
//! invented.

use plan::{
    Bytes, Case, Criteria, Geometry, Layer, Operation, Phase, PlanSource, ReadFrom, Setting, Sharing,
    TargetDescription, WorkloadSpec,
};
use record::{
    Cluster, DeviceRow, Fact, HostFacts, NodeFacts, NodeSeriesRow, PhaseKey, PhaseRecord, Run, TaskRow,
};

use super::study::{count, word};
use super::{MIB, Made, SECOND, empty, in_memory, made, phase_row, wobble};

/// Tasks per node, and per process.
const TASKS: u32 = 4;
const RANKS: u32 = 2;
const SECONDS: u64 = 12;
const DEVICES: [&str; 2] = ["nvme0n1", "nvme1n1"];
/// The rate of one node.
const NODE: f64 = 860e6;

/// The name of a node, numbered from 0 and padded to the number of digits of the last one.
pub(crate) fn name(node: u32, nodes: u32) -> String {
    let width = nodes.to_string().len().max(2);
    format!("n{:0width$}", node + 1)
}

fn facts(node: u32, nodes: u32) -> HostFacts {
    let mut host = super::host();
    host.node = name(node, nodes);
    if node == 2 {
        host.kernel = Fact::Known("6.1.0-17-amd64 #1 SMP PREEMPT_DYNAMIC".to_owned());
    }
    let mut second = host.devices[0].clone();
    second.name = DEVICES[1].to_owned();
    if node == 1 {
        second.model = Fact::Known("OTHER SSD 2TB".to_owned());
    }
    host.devices.push(second);
    host
}

/// The processes of a launcher on `nodes` nodes.
fn launched(run: &mut Run, nodes: u32) {
    let node = |node: u32| NodeFacts {
        host: facts(node, nodes),
        ranks: (node * RANKS..(node + 1) * RANKS).collect(),
        clock_offset_ns: i64::from(node) * 1_250_000 - 700_000,
        clock_error_ns: if node == 0 { 0 } else { 900 + u64::from(node % 7) * 650 },
        clock_drift_ns: (node > 0).then_some(i64::from(node % 5) * 310 - 400),
        boot_id: None,
    };
    run.manifest.host = facts(0, nodes);
    run.manifest.cluster = Some(Cluster {
        library: "Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4, repo rev: v4.1.4".to_owned(),
        nodes: (0..nodes).map(node).collect(),
    });
}

/// The rate of a node. The fourth node is slow. With many nodes, every hundredth is slightly slow.
fn rate(node: u32) -> f64 {
    let share = match node {
        3 => 0.62,
        node if node % 100 == 57 => 0.93,
        _ => 1.0,
    };
    NODE * share * (1.0 + wobble(u64::from(node)) * 0.3)
}

/// All nodes write, and read what their neighbours wrote. The last node has no task, one device of the third node was
/// not observed, and the second node is idle for two seconds.
pub(crate) fn compared(nodes: u32) -> Run {
    let busy = nodes - 1;
    let mut manifest = empty().manifest;
    manifest.plan.title = format!("Made-up numbers: {busy} of {nodes} nodes write and read together");
    manifest.plan.criteria =
        Criteria { targets: vec![target("nvme", Layer::NodeLocal)], ..Criteria::default() };
    let one = Made {
        tasks: busy * TASKS,
        repetitions: 3,
        ..made(
            "collective",
            "All nodes at once",
            Phase::Write,
            MIB,
            false,
            1,
            true,
            NODE * f64::from(busy),
            4_500_000,
            1.0,
        )
    };
    manifest.plan.cases.push(case(&one, busy, &[], ""));
    let mut records = Vec::new();
    for repetition in 0..one.repetitions {
        for phase in [Phase::Write, Phase::Read] {
            records.push(record(&one, phase, repetition, busy, nodes, true));
        }
    }
    let mut run = in_memory(manifest, records);
    launched(&mut run, nodes);
    run
}

/// 1 to `nodes` nodes, with local devices and with a shared file system that saturates at 10 GB/s.
pub(crate) fn weak(nodes: u32) -> Run {
    let mut manifest = empty().manifest;
    manifest.plan.title = format!("Made-up numbers: weak scaling over 1 to {nodes} nodes");
    manifest.plan.criteria = Criteria {
        targets: vec![target("nvme", Layer::NodeLocal), target("gpfs", Layer::Shared)],
        nodes: (1..=nodes).collect(),
        ..Criteria::default()
    };
    let mut records = Vec::new();
    for layer in ["nvme", "gpfs"] {
        for used in 1..=nodes {
            let all = f64::from(used);
            let noise = 1.0 + wobble(u64::from(used) + layer.len() as u64) * 0.2;
            let rate = if layer == "nvme" { 5.15e9 * all } else { (1.24e9 * all).min(10e9) } * noise;
            let one = Made {
                tasks: used * TASKS,
                repetitions: 3,
                ..made("weak", "", Phase::Write, 32 * MIB, false, 1, true, rate, 60_000_000, 1.0)
            };
            let settings = [word("target", layer), count("nodes", used.into())];
            let case = case(&one, used, &settings, layer);
            for repetition in 0..one.repetitions {
                let mut made = record(&one, Phase::Write, repetition, used, nodes, false);
                made.phase.key.case = case.id.as_str().into();
                made.tasks.iter_mut().for_each(|row| row.key.case = case.id.as_str().into());
                records.push(made);
            }
            manifest.plan.cases.push(case);
        }
    }
    let mut run = in_memory(manifest, records);
    launched(&mut run, nodes);
    run
}

/// 24 tasks on each of `nodes` nodes, with 2,000 random reads of 4 KiB each.
pub(crate) fn operations(nodes: u32) -> Run {
    let tasks = nodes * 24;
    let mut manifest = empty().manifest;
    manifest.plan.title = "Made-up numbers: random operations".to_owned();
    manifest.plan.source = PlanSource::Dialect {
        tool: plan::randomops::TOOL.to_owned(),
        arguments: vec!["randomops".to_owned()],
        notes: Vec::new(),
        memo: String::new(),
    };
    let transfers = u64::from(tasks) * 2_000;
    let rate = transfers as f64 * 4096.0 / SECONDS as f64;
    let one = Made {
        tasks,
        repetitions: 1,
        ..made(
            plan::randomops::CASE,
            "Random operations",
            Phase::Read,
            4096,
            true,
            1,
            true,
            rate,
            90_000,
            1.0,
        )
    };
    let mut case = super::case(&one);
    let mut spec = WorkloadSpec::from(case.workload);
    (spec.tasks, spec.nodes, spec.duration, spec.operations) = (tasks, nodes, None, Some(2_000));
    spec.files.sharing = Sharing::PerTask;
    case.workload = spec.validate().expect("valid");
    manifest.plan.cases.push(case);
    let key = PhaseKey { case: one.id.into(), repetition: 0, phase: Phase::Read };
    let tasks = (0..tasks).map(|task| TaskRow {
        key: key.clone(),
        task,
        node: name(task / 24, nodes).into(),
        file: task,
        open_start_ns: 0,
        open_end_ns: 200_000,
        io_start_ns: 300_000,
        io_end_ns: SECONDS * SECOND - u64::from(task % 97) * 3_000_000,
        close_start_ns: SECONDS * SECOND,
        close_end_ns: SECONDS * SECOND + 100_000,
        bytes: 2_000 * 4096,
        transfers: 2_000,
        stonewall_transfers: None,
    });
    let record = PhaseRecord {
        tasks: tasks.collect(),
        latency: super::latency(&key, &one, transfers),
        ..PhaseRecord::new(phase_row(&key, &one, transfers * 4096, SECONDS, 0))
    };
    let mut run = in_memory(manifest, vec![record]);
    launched(&mut run, nodes);
    run
}

fn target(name: &str, layer: Layer) -> TargetDescription {
    TargetDescription {
        name: name.to_owned(),
        title: name.to_uppercase(),
        layer,
        ..TargetDescription::default()
    }
}

fn case(one: &Made, nodes: u32, settings: &[Setting], layer: &str) -> Case {
    let geometry = Geometry { transfer: Bytes(one.transfer), block: Bytes::gib(4), segments: 1 };
    let mut spec = WorkloadSpec::new(one.id, "/data/ioproof.data", geometry);
    (spec.tasks, spec.nodes, spec.direct) = (one.tasks, nodes, one.direct);
    spec.files.sharing = Sharing::PerTask;
    let mut phases = vec![Phase::Write];
    let id = match settings {
        [] => {
            spec.read_from = ReadFrom::Shift { tasks: TASKS };
            phases.push(Phase::Read);
            one.id.to_owned()
        }
        _ => format!("{}:target={layer}:nodes={nodes}", one.id),
    };
    Case {
        group: one.id.to_owned(),
        target: if layer.is_empty() { "nvme" } else { layer }.to_owned(),
        settings: settings.to_vec(),
        repetitions: one.repetitions,
        title: one.title.to_owned(),
        ..Case::new(id, spec.validate().expect("valid"), phases)
    }
}

/// A phase on `used` of `nodes` nodes.
fn record(one: &Made, phase: Phase, repetition: u32, used: u32, nodes: u32, in_full: bool) -> PhaseRecord {
    let key = PhaseKey { case: one.id.into(), repetition, phase };
    let share = one.rate / (NODE * f64::from(used));
    let faster = if phase == Phase::Read { 1.3 } else { 1.0 };
    let of_node = |node: u32| rate(node) * share * faster * (1.0 + wobble(u64::from(repetition)) * 0.2);
    let tasks: Vec<TaskRow> = (0..used * TASKS)
        .map(|task| {
            let node = task / TASKS;
            let bytes = (of_node(node) / f64::from(TASKS) * SECONDS as f64) as u64;
            let own = (phase == Phase::Write) || !in_full;
            TaskRow {
                key: key.clone(),
                task,
                node: name(node, nodes).into(),
                file: if own { task } else { (task + TASKS) % one.tasks },
                open_start_ns: 0,
                open_end_ns: 200_000,
                io_start_ns: 300_000,
                io_end_ns: SECONDS * SECOND - u64::from(task % 3) * 40_000_000,
                close_start_ns: SECONDS * SECOND,
                close_end_ns: SECONDS * SECOND + 9_000_000,
                bytes,
                transfers: bytes / one.transfer,
                stonewall_transfers: None,
            }
        })
        .collect();
    let bytes: u64 = tasks.iter().map(|row| row.bytes).sum();
    let mut row = phase_row(&key, one, bytes, SECONDS, repetition);
    row.wall_ns = SECONDS * SECOND + 20_000_000;
    let delayed = Made { p50_ns: (one.p50_ns as f64 * 0.75 / faster) as u64, ..*one };
    let mut record = PhaseRecord {
        tasks,
        latency: if in_full { super::latency(&key, &delayed, bytes / one.transfer) } else { Vec::new() },
        ..PhaseRecord::new(row)
    };
    if in_full {
        for node in 0..used {
            over_time(&mut record, &key, &name(node, nodes), node, of_node(node));
        }
    }
    record
}

/// Adds the activity of the tasks and devices of one node in each second.
fn over_time(record: &mut PhaseRecord, key: &PhaseKey, name: &str, node: u32, rate: f64) {
    let reads = key.phase == Phase::Read;
    for second in 0..SECONDS {
        let silent = node == 1 && (5..7).contains(&second);
        let bytes = (rate * (1.0 + wobble(u64::from(node) * 31 + second))) as u64;
        if !silent {
            record.nodes.push(NodeSeriesRow {
                key: key.clone(),
                node: name.into(),
                operation: if reads { Operation::Read } else { Operation::Write },
                start_ns: second * SECOND,
                length_ns: SECOND,
                bytes,
                transfers: bytes / MIB,
                latency_sum_ns: bytes / MIB * 4_500_000,
                latency_max_ns: 19_000_000,
            });
        }
        for (index, device) in DEVICES.iter().enumerate() {
            if node == 2 && index == 1 {
                continue;
            }
            let moved = if silent { 0 } else { bytes / 2 };
            record.devices.push(DeviceRow {
                key: key.clone(),
                node: name.into(),
                device: (*device).into(),
                start_ns: second * SECOND,
                length_ns: SECOND,
                reads: if reads { moved >> 17 } else { 0 },
                read_bytes: if reads { moved } else { 0 },
                read_time_ns: 0,
                writes: if reads { 0 } else { moved >> 17 },
                write_bytes: if reads { 0 } else { moved },
                write_time_ns: 0,
                busy_ns: if silent { 0 } else { SECOND * 97 / 100 },
                queue_time_ns: if silent { 0 } else { SECOND * 2 },
            });
        }
    }
}
