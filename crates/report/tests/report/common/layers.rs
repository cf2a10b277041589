//! A sample study of twelve disks of two models, the layers above them, and their cost. All numbers are invented.

use plan::{
    Amount, Bytes, Case, Expectation, Operation, Per, Phase, Setting, SettingValue, Sharing,
    TargetDescription, WorkloadSpec,
};
use record::{BlockDeviceFacts, Fact, HistoryRow, Manifest, PhaseKey, PhaseRecord, Run, TargetDevices};

use super::study::{count, word};
use super::{MIB, Made, SECOND, in_memory, made, phase_row, wobble};

const DISKS: usize = 12;
/// The disk that is slower than others of its model.
const SLOW: usize = 5;

struct Draft {
    manifest: Manifest,
    records: Vec<PhaseRecord>,
}

/// One figure: workload, target, position in the sweep, rate.
struct Point<'a> {
    group: &'a str,
    target: &'a str,
    settings: Vec<Setting>,
    phase: Phase,
    transfer: u64,
    random: bool,
    tasks: u32,
    rate: f64,
}

pub(crate) fn layers() -> Run {
    let mut run = Draft { manifest: super::empty().manifest, records: Vec::new() };
    run.manifest.plan.title = "Made-up numbers: disks, and what stands on them".to_owned();
    terms(&mut run);
    devices(&mut run);
    for phase in [Phase::Write, Phase::Read] {
        let faster = if phase == Phase::Read { 1.1 } else { 1.0 };
        for disk in 0..DISKS {
            let name = format!("disk{disk}");
            let settings = vec![word("target", &name)];
            let rate = disk_rate(disk) * faster;
            let point = Point {
                group: "alone",
                target: &name,
                settings,
                phase,
                transfer: 2 * MIB,
                random: true,
                tasks: 1,
                rate,
            };
            run.put(&point, |spec| spec.files.targets = vec![path(disk).into()]);
        }
        for size in [4_u64, 16, 64, 256, 1024, 4096] {
            let transfer = size << 10;
            let rate = faster * transfer as f64 / (8e-3 + transfer as f64 / 160e6);
            let settings =
                vec![Setting { key: "transfer".into(), value: SettingValue::Bytes(Bytes(transfer)) }];
            let point = Point {
                group: "sizes",
                target: "disk0",
                settings,
                phase,
                transfer,
                random: true,
                tasks: 1,
                rate,
            };
            run.put(&point, |spec| spec.files.targets = vec![path(0).into()]);
        }
        for (target, rate) in [("disks", 1.2e9), ("volume", 1.0e9), ("xfs", 0.97e9), ("nfs", 0.6e9)] {
            let settings = vec![word("target", target)];
            let rate = rate * faster;
            let point = Point {
                group: "stack",
                target,
                settings,
                phase,
                transfer: MIB,
                random: false,
                tasks: 12,
                rate,
            };
            run.put(&point, |spec| {
                if target == "disks" {
                    spec.files.sharing = Sharing::PerTask;
                    spec.files.targets = (0..DISKS).map(|disk| path(disk).into()).collect();
                } else {
                    spec.files.targets = vec![format!("/there/{target}").into()];
                }
            });
        }
        for (target, rate) in [("fs-256k", 90e6), ("fs-4m", 500e6)] {
            let settings = vec![word("target", target)];
            let point = Point {
                group: "blocks",
                target,
                settings,
                phase,
                transfer: 4 * MIB,
                random: true,
                tasks: 4,
                rate,
            };
            run.put(&point, |_| {});
        }
        for members in [1_u64, 4, 12] {
            for (tasks, rate) in [(1, 40e6), (24, 70e6 * members as f64)] {
                let settings = vec![count("tasks", tasks), count("members", members)];
                let tasks = u32::try_from(tasks).expect("few");
                let point = Point {
                    group: "luns",
                    target: "luns",
                    settings,
                    phase,
                    transfer: 4096,
                    random: true,
                    tasks,
                    rate,
                };
                run.put(&point, |spec| {
                    spec.files.sharing = Sharing::PerTask;
                    spec.files.targets = (0..members).map(|lun| format!("/lun/{lun}").into()).collect();
                });
            }
        }
    }
    streams(&mut run);
    in_memory(run.manifest, run.records)
}

fn path(disk: usize) -> String {
    format!("/dev/sd{}", char::from(b'b' + u8::try_from(disk).expect("few")))
}

fn disk_rate(disk: usize) -> f64 {
    let model = if disk < 8 { 105e6 } else { 158e6 };
    let slow = if disk == SLOW { 0.45 } else { 1.0 };
    model * slow * (1.0 + wobble(disk as u64))
}

impl Draft {
    fn put(&mut self, point: &Point<'_>, change: impl FnOnce(&mut WorkloadSpec)) {
        let words: Vec<String> =
            point.settings.iter().map(|one| format!("{}={}", one.key, one.value.exact())).collect();
        let id = format!("{}:{}:{}", point.group, words.join(":"), point.phase.name());
        let made = Made {
            tasks: point.tasks,
            repetitions: 3,
            ..made("layers", "", point.phase, point.transfer, point.random, 1, true, point.rate, 90_000, 1.0)
        };
        let mut spec = WorkloadSpec::from(super::case(&made).workload);
        change(&mut spec);
        let case = Case {
            group: point.group.to_owned(),
            target: point.target.to_owned(),
            settings: point.settings.clone(),
            repetitions: 3,
            ..Case::new(id.clone(), spec.validate().expect("valid"), vec![point.phase])
        };
        for pass in 0..3 {
            let key = PhaseKey { case: id.as_str().into(), repetition: pass, phase: point.phase };
            let bytes = (point.rate * (1.0 + wobble(u64::from(pass)) * 0.2)) as u64 * 10;
            let mut row = phase_row(&key, &made, bytes, 10, pass);
            row.wall_ns = 10 * SECOND;
            let mut record = PhaseRecord::new(row);
            record.tasks = super::tasks(&key, &made, bytes, 10);
            self.records.push(record);
        }
        self.manifest.plan.cases.push(case);
    }
}

fn terms(run: &mut Draft) {
    let named = |name: &str, title: &str| TargetDescription {
        name: name.to_owned(),
        title: title.to_owned(),
        ..TargetDescription::default()
    };
    let on = |name: &str, title: &str, above: &str| TargetDescription {
        above: Some(above.to_owned()),
        devices: 12,
        rack_units: 8.0,
        ..named(name, title)
    };
    let disk = |disk: usize| TargetDescription { devices: 1, ..named(&format!("disk{disk}"), "") };
    let mut targets: Vec<TargetDescription> = (0..DISKS).map(disk).collect();
    targets.push(TargetDescription {
        devices: 12,
        rack_units: 4.0,
        slots: 8,
        capacity: Some(Bytes::gib(4000)),
        needs: Some(Bytes::gib(5000)),
        ..named("disks", "Twelve disks")
    });
    targets.push(on("volume", "Volume", "disks"));
    targets.push(on("xfs", "XFS", "volume"));
    targets.push(on("nfs", "NFS", "xfs"));
    for (name, block) in [("fs-256k", Bytes::kib(256)), ("fs-4m", Bytes::mib(4))] {
        targets.push(TargetDescription { fs_block: Some(block), devices: 8, ..on(name, name, "disk0") });
    }
    targets.push(named("luns", "LUNs"));
    targets.push(named("streams", "One disk"));
    run.manifest.plan.criteria.targets = targets;
    let grade = |name: &str, megabytes: f64, [reached, missed]: [&str; 2]| Expectation {
        random: Some(true),
        transfer: Some(Bytes::mib(2)),
        per: Per::Device,
        source: "made up".to_owned(),
        reached: reached.to_owned(),
        missed: missed.to_owned(),
        ..Expectation::new(name, Amount::BytesPerSecond(megabytes * 1e6))
    };
    run.manifest.plan.criteria.expectations = vec![
        grade("vendor", 150.0, ["what the vendor says", ""]),
        grade("seller", 100.0, ["what the seller says", ""]),
        grade("least", 50.0, ["above 40 to 50 MB/s", "look for a different vendor"]),
    ];
}

/// Sixteen queues per disk, one for the volume.
fn devices(run: &mut Draft) {
    let host = &mut run.manifest.host;
    let like = host.devices[0].clone();
    let device = |name: &str, model: &str, queues: u32| BlockDeviceFacts {
        name: name.to_owned(),
        model: Fact::Known(model.to_owned()),
        hardware_queues: Fact::Known(queues),
        ..like.clone()
    };
    let name = |disk: usize| path(disk).trim_start_matches("/dev/").to_owned();
    host.devices.clear();
    for disk in 0..DISKS {
        host.devices.push(device(&name(disk), if disk < 8 { "NLSAS 4 TB" } else { "SAS 600 GB" }, 16));
        let only = vec![name(disk)];
        host.target_devices.push(TargetDevices { path: path(disk), top: only.clone(), bottom: only });
    }
    host.devices.push(device("md0", "Volume", 1));
    let bottom: Vec<String> = (0..DISKS).map(name).collect();
    for target in ["volume", "xfs"] {
        let path = format!("/there/{target}");
        host.target_devices.push(TargetDevices { path, top: vec!["md0".to_owned()], bottom: bottom.clone() });
    }
}

/// One and sixteen sequential streams on one disk.
fn streams(run: &mut Draft) {
    for (tasks, contiguous) in [(1_u32, 990), (16, 120)] {
        let settings = vec![count("tasks", tasks.into())];
        let point = Point {
            group: "streams",
            target: "streams",
            settings,
            phase: Phase::Read,
            transfer: MIB,
            random: false,
            tasks,
            rate: 150e6 / f64::from(tasks).sqrt(),
        };
        run.put(&point, |spec| spec.history = Some(100));
        for record in run.records.iter_mut().rev().take(3) {
            let phase = &mut record.phase;
            (phase.traced_requests, phase.traced_contiguous) = (Some(1000), Some(contiguous));
            phase.traced_seek_bytes = Some(64 << 20);
            for step in 0..20_u64 {
                record.history.push(HistoryRow {
                    task: u32::try_from(step).expect("few") % tasks,
                    start_ns: step * 1_000_000,
                    latency_ns: 900_000,
                    offset_bytes: (step / u64::from(tasks)) * MIB,
                    bytes: MIB,
                    ..HistoryRow::new(record.phase.key.clone(), Operation::Read)
                });
            }
        }
    }
}
