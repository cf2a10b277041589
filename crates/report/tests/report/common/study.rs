//! A sample study: six layouts over tasks and transfer sizes, a series of task counts with latencies, a mix, and file
//! sizes whose repetitions scatter increasingly. All numbers are invented.

use plan::{
    Amount, Bound, Bytes, Case, Claim, Client, Commitment, Criteria, Expectation, Layer, Over, Per, Phase,
    Protocol, PublishedReference, Quantity, RateName, Relation, Selector, Setting, SettingValue, Side,
    Statistic, TargetDescription, Workload, WorkloadSpec,
};
use record::{Manifest, PhaseKey, PhaseRecord, Run};

use super::{MIB, Made, SECOND, in_memory, latency, made, phase_row, tasks, wobble};

/// Name, title, and the share of the combined rate of twelve devices for reads and for writes.
pub(super) const LAYOUTS: [(&str, &str, f64, f64); 6] = [
    ("xfs", "Twelve XFS", 0.99, 0.98),
    ("md", "MD RAID 0", 0.97, 0.965),
    ("imsm", "IMSM RAID 0", 0.72, 0.74),
    ("xvm", "XVM stripe", 0.955, 0.96),
    ("gpfs-1m", "GPFS, 1 MiB blocks", 0.81, 0.78),
    ("gpfs-4m", "GPFS, 4 MiB blocks", 0.88, 0.86),
];
const TASKS: [u32; 5] = [33, 66, 99, 132, 264];
const TRANSFERS: [u64; 4] = [1, 4, 8, 16];
const DEVICES: u32 = 12;
/// The rates of one device.
const READ: f64 = 2.78e9;
const WRITE: f64 = 2.05e9;

/// The parts of a run.
struct Draft {
    manifest: Manifest,
    records: Vec<PhaseRecord>,
}

/// The complete study, with everything that can be reported about its figures.
pub(crate) fn study() -> Run {
    let mut run = Draft { manifest: super::empty().manifest, records: Vec::new() };
    run.manifest.plan.title = "Made-up numbers: six layouts of twelve devices".to_owned();
    run.manifest.host.batch_job = Some("slurm 12345".to_owned());
    run.manifest.plan.criteria = terms();
    layouts(&mut run);
    ladder(&mut run);
    mix(&mut run);
    sizes(&mut run);
    in_memory(run.manifest, run.records)
}

/// The same study, run again: writes are 5 % slower.
pub(crate) fn again() -> Run {
    let mut run = study();
    run.change_phases(|mut row| {
        if row.key.phase == Phase::Write {
            row.wall_ns += row.wall_ns / 20;
        }
        Some(row)
    });
    run
}

/// A study of `tasks` × `sizes` cases with five repetitions and latencies.
pub(crate) fn large(tasks: u32, sizes: u64) -> Run {
    let mut draft = Draft { manifest: super::empty().manifest, records: Vec::new() };
    for tasks in 1..=tasks {
        for size in 1..=sizes {
            let rate =
                90e3 * 4096.0 * f64::from(tasks) / (10.0 + f64::from(tasks)) * (1.0 + size as f64 / 100.0);
            let made = Made {
                tasks,
                repetitions: 5,
                ..made("grid", "", Phase::Read, 4096, true, 1, true, rate, 90_000, 1.0)
            };
            let settings = vec![count("tasks", tasks.into()), bytes("size", size << 30)];
            let point = Point {
                group: "grid",
                target: "",
                settings,
                protocol: Protocol::default(),
                read_percent: 100,
            };
            put(&mut draft, point, &[(made, Phase::Read)], true);
        }
    }
    super::in_memory(draft.manifest, draft.records)
}

fn terms() -> Criteria {
    let target = |&(name, title, ..): &(&str, &str, f64, f64)| TargetDescription {
        name: name.to_owned(),
        title: title.to_owned(),
        stands_for: name.to_uppercase(),
        layer: Layer::Shared,
        client: Client::LocalToServer,
        devices: DEVICES,
        baseline: Some("one".to_owned()),
        rack_units: 8.0,
        caches: Some(Bytes::mib(1)),
        ..TargetDescription::default()
    };
    let commitment = |name: &str, statistic, bound, amount: Amount| Commitment {
        name: name.to_owned(),
        by: "vendor".to_owned(),
        figures: Selector {
            workload: Some("layouts".to_owned()),
            phase: Some(Phase::Read),
            ..Selector::default()
        },
        rate: RateName::ByWall,
        statistic,
        bound,
        asked: amount.into(),
        over: Over::Best,
        terms: plan::Terms::default(),
    };
    Criteria {
        targets: LAYOUTS.iter().map(target).collect(),
        expectations: vec![Expectation {
            phase: Some(Phase::Read),
            per: Per::Device,
            source: "the vendor's data sheet".to_owned(),
            ..Expectation::new("data sheet", Amount::BytesPerSecond(2.8e9))
        }],
        commitments: vec![
            commitment(
                "aggregate read",
                Statistic::ConfidenceBound,
                Bound::AtLeast,
                Amount::BytesPerSecond(30e9),
            ),
            commitment("all layouts", Statistic::Median, Bound::AtLeast, Amount::BytesPerSecond(40e9)),
            commitment(
                "small reads",
                Statistic::Median,
                Bound::AtLeast,
                Amount::OperationsPerSecond(1_000_000.0),
            ),
            commitment(
                "response",
                Statistic::Worst,
                Bound::AtMost,
                Amount::Latency { nanos: 200_000.0, percent: Some(99.0) },
            ),
        ],
        claims: vec![
            claim("own", "Blocks of 1 MiB are better than 4 MiB.", "gpfs-1m", "gpfs-4m"),
            claim("second", "Twelve file systems read faster than IMSM.", "xfs", "imsm"),
            claim("third", "Remote clients reach the same.", "remote", "xfs"),
        ],
        published: [("a-t2-read-best", "xfs"), ("a-sum-imsm-read", "imsm")]
            .map(|(id, target)| PublishedReference { id: id.to_owned(), figures: reads(target) })
            .into(),
        exclusive: Some(true),
        release: Some("firmware 1.2".to_owned()),
        nodes: vec![1, 4, 8],
        node: plan::NodeDescription::default(),
    }
}

fn reads(target: &str) -> Selector {
    Selector {
        workload: Some("layouts".to_owned()),
        target: Some(target.to_owned()),
        phase: Some(Phase::Read),
        ..Selector::default()
    }
}

fn claim(id: &str, text: &str, left: &str, right: &str) -> Claim {
    Claim {
        id: id.to_owned(),
        text: text.to_owned(),
        quantity: Quantity::BestRate,
        left: reads(left),
        relation: Relation::Greater,
        right: Side::Measured(reads(right)),
        factor: 1.0,
        tolerance: 0.0,
    }
}

pub(super) fn count(key: &str, value: u64) -> Setting {
    Setting { key: key.to_owned(), value: SettingValue::Count(value) }
}

fn bytes(key: &str, value: u64) -> Setting {
    Setting { key: key.to_owned(), value: SettingValue::Bytes(Bytes(value)) }
}

pub(super) fn word(key: &str, value: &str) -> Setting {
    Setting { key: key.to_owned(), value: SettingValue::Word(value.to_owned()) }
}

/// One point of a sweep: its values and its position.
struct Point {
    group: &'static str,
    target: &'static str,
    settings: Vec<Setting>,
    protocol: Protocol,
    read_percent: u8,
}

fn put(run: &mut Draft, point: Point, parts: &[(Made, Phase)], with_latency: bool) {
    let (first, _) = &parts[0];
    let words: Vec<String> = point
        .settings
        .iter()
        .map(|one| format!("{}={}", one.key, one.value.to_string().replace(' ', "")))
        .collect();
    let id = format!("{}:{}", point.group, words.join(":"));
    let mut spec = WorkloadSpec::from(super::case(first).workload);
    spec.tasks = first.tasks;
    spec.read_percent = point.read_percent;
    if let Some(SettingValue::Bytes(size)) =
        point.settings.iter().find(|one| one.key == "size").map(|one| &one.value)
    {
        (spec.geometry.block, spec.duration) = (*size, None);
    }
    let workload: Workload = spec.validate().expect("valid");
    let phases = parts.iter().map(|(_, phase)| *phase).collect();
    let case = Case {
        group: point.group.to_owned(),
        target: point.target.to_owned(),
        settings: point.settings,
        protocol: point.protocol,
        repetitions: first.repetitions,
        ..Case::new(id.clone(), workload, phases)
    };
    for (made, phase) in parts {
        for pass in 0..case.passes_max() {
            let key = PhaseKey { case: id.as_str().into(), repetition: pass, phase: *phase };
            let seconds = 10;
            // Repetitions with large files scatter more.
            let spread = if point.group == "sizes" && made.rate < 1.9e9 { 4.0 } else { 0.4 };
            let noise = 1.0 + wobble(u64::from(pass) + made.transfer + u64::from(made.tasks) * 7) * spread;
            let bytes = (made.rate * noise) as u64 * seconds;
            let mut row = phase_row(&key, made, bytes, seconds, pass);
            row.wall_ns = seconds * SECOND;
            run.records.push(PhaseRecord {
                tasks: tasks(&key, &Made { tasks: made.tasks.min(4), ..*made }, bytes, seconds),
                latency: if with_latency { latency(&key, made, bytes / made.transfer) } else { Vec::new() },
                ..PhaseRecord::new(row)
            });
        }
    }
    run.manifest.plan.cases.push(case);
}

fn layouts(run: &mut Draft) {
    for (layout, &(target, _, read, write)) in LAYOUTS.iter().enumerate() {
        for transfer in TRANSFERS {
            for tasks in TASKS {
                let bound = f64::from(tasks) / f64::from(DEVICES * tasks.div_ceil(DEVICES));
                let rise = 1.0 - 0.35 * (-f64::from(tasks) / 50.0).exp();
                let size = 1.0 - 0.04 * (transfer as f64 - 4.0).abs() / 12.0 + wobble(layout as u64) * 0.1;
                let one = |rate: f64, share: f64| rate * f64::from(DEVICES) * share * bound * rise * size;
                let made = |rate, phase| Made {
                    tasks,
                    repetitions: 2,
                    ..made("layouts", "", phase, transfer * MIB, false, 1, true, rate, 9_000_000, 1.0)
                };
                let settings = vec![
                    word("target", target),
                    count("tasks", tasks.into()),
                    bytes("transfer", transfer * MIB),
                ];
                let protocol = Protocol { rounds: 2, ..Protocol::default() };
                let point = Point { group: "layouts", target, settings, protocol, read_percent: 100 };
                let parts = [
                    (made(one(WRITE, write), Phase::Write), Phase::Write),
                    (made(one(READ, read), Phase::Read), Phase::Read),
                ];
                put(run, point, &parts, false);
            }
        }
    }
}

/// 4 KiB random reads with 1 to 64 tasks.
fn ladder(run: &mut Draft) {
    for tasks in [1_u32, 2, 4, 8, 16, 32, 64] {
        let one = f64::from(tasks) * 11_000.0;
        let rate = 1.0 / (1.0 / one + 1.0 / 330_000.0);
        let p50 = (f64::from(tasks) / rate * 1e9 * 0.72) as u64;
        let made = Made {
            tasks,
            repetitions: 3,
            ..made("ladder", "", Phase::Read, 4096, true, 1, true, rate * 4096.0, p50, 1.0)
        };
        let settings = vec![count("tasks", tasks.into())];
        let point = Point {
            group: "ladder",
            target: "xfs",
            settings,
            protocol: Protocol::default(),
            read_percent: 100,
        };
        put(run, point, &[(made, Phase::Read)], true);
    }
}

/// 0 to 100 % reads.
fn mix(run: &mut Draft) {
    for read_percent in (0..=100_u8).step_by(10) {
        let share = f64::from(read_percent) / 100.0;
        let rate = 90e3 + 160e3 * share + 60e3 * (-(share - 0.7).powi(2) / 0.01).exp();
        let made = Made {
            tasks: 24,
            repetitions: 3,
            ..made("mix", "", Phase::Mixed, 4096, true, 1, true, rate * 4096.0, 90_000, 1.0)
        };
        let settings = vec![count("read_percent", read_percent.into())];
        let point =
            Point { group: "mix", target: "xfs", settings, protocol: Protocol::default(), read_percent };
        put(run, point, &[(made, Phase::Mixed)], false);
    }
}

/// File sizes up to an almost full file system.
fn sizes(run: &mut Draft) {
    for gigabytes in [100_u64, 200, 400, 800, 1200] {
        let slow = if gigabytes > 400 { 0.8 } else { 1.0 };
        let made = Made {
            tasks: 64,
            repetitions: 5,
            ..made("sizes", "", Phase::Write, MIB, false, 1, true, 1.9e9 * slow, 3_000_000, 1.0)
        };
        let settings = vec![bytes("size", gigabytes << 30)];
        let point =
            Point { group: "sizes", target: "xfs", settings, protocol: Protocol::default(), read_percent: 0 };
        put(run, point, &[(made, Phase::Write)], false);
    }
}
