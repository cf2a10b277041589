//! A sample matrix of launches, with their steps and the bytes moved in each second. All numbers are invented.

use plan::jobs::{Action, Output, Step, TableOrder};
use plan::{
    Bytes, Case, Geometry, JobSpace, JobTable, JobTest, Jobs, Launch, Phase, TargetDescription, TestKind,
    Work, WorkloadSpec,
};
use record::{FileSystemFacts, LaunchRow, PhaseKey, PhaseRecord, PhaseRow, Run, SpaceRow, StepRow};

use super::{SECOND, empty, in_memory, wobble};

/// Name, kind, streams, rounds, real seconds per launch.
type Test = (&'static str, TestKind, u32, u32, f64);

const FEW: [Test; 4] = [
    ("regression", TestKind::Computation, 2, 2, 30.0),
    ("shuffle", TestKind::Memory, 1, 2, 12.0),
    ("sort", TestKind::Io, 3, 1, 70.0),
    ("scan", TestKind::Io, 2, 3, 9.0),
];
const MB: u64 = 1_000_000;
/// The steps of each launch, with their share of its time.
const STEPS: [(&str, f64); 3] = [("generate", 0.2), ("scan", 0.3), ("sort", 0.5)];

/// Fourteen launches of four tests in two passes.
pub(crate) fn jobs() -> Run {
    made(&FEW, 2, 1)
}

/// The same, with three launches in a pass that was cut short.
pub(crate) fn interrupted() -> Run {
    let mut run = jobs();
    let case = run.cases()[0].clone();
    let launches: Vec<_> = run.launches(&case).iter().take(3).cloned().collect();
    let key = launches[0].key.clone();
    let is_of = |step: &&record::StepRow| step.key == key && step.launch < 3;
    let steps = run.steps(&case).iter().filter(is_of).cloned().collect();
    run.interrupted = vec![record::InterruptedPass { key: key.clone(), attempt: 2, launches, steps }];
    run
}

/// 101 launches of 19 tests with six steps each.
pub(crate) fn many() -> Run {
    let names: [&'static str; 19] = [
        "c01-regression",
        "c02-regression",
        "c03-factorise",
        "c04-factorise",
        "c05-fourier",
        "c06-fourier",
        "c07-simulate",
        "c08-simulate",
        "c09-forecast",
        "c10-mixed",
        "m01-shuffle",
        "m02-lookup",
        "i01-sort",
        "i02-merge",
        "i03-scan",
        "i04-summarise",
        "i05-index",
        "i06-append",
        "i07-update",
    ];
    let kind = |place: usize| match place {
        0..10 => TestKind::Computation,
        10..12 => TestKind::Memory,
        _ => TestKind::Io,
    };
    let test = |(place, name): (usize, &&'static str)| {
        let (streams, rounds) = match place {
            0..18 => {
                if place < 12 {
                    (3, 2)
                } else {
                    (2, 2)
                }
            }
            _ => (5, 1),
        };
        (*name, kind(place), streams, rounds, 5.0 + 100.0 * wobble(place as u64 * 31).abs() / 0.02)
    };
    made(&names.iter().enumerate().map(test).collect::<Vec<_>>(), 1, 2)
}

fn made(tests: &[Test], passes: u32, times: usize) -> Run {
    let mut manifest = empty().manifest;
    manifest.plan.title = "Made-up numbers: jobs over time".to_owned();
    manifest.plan.criteria.targets = vec![TargetDescription {
        name: "flash".to_owned(),
        title: "Flash cards".to_owned(),
        devices: 5,
        slots: 6,
        rack_units: 2.0,
        capacity: Some(Bytes(8_000_000 * MB)),
        ..TargetDescription::default()
    }];
    let file_system = |(name, size): (&str, u64)| FileSystemFacts {
        mount_point: format!("/flash/{name}"),
        kind: "xfs".to_owned(),
        source: "/dev/mapper/made-up".to_owned(),
        options: "rw,noatime,nodiratime".to_owned(),
        size_bytes: size,
        free_bytes: size,
        reserved_bytes: 0,
        inodes: 0,
        free_inodes: 0,
    };
    manifest.host.file_systems =
        [("permanent", 300_000 * MB), ("work", 300_000 * MB), ("utility", 60_000 * MB)]
            .map(file_system)
            .to_vec();
    let case = case(tests, passes);
    let records = (0..passes).map(|pass| record(&case, tests, pass, times)).collect();
    manifest.plan.cases.push(case);
    in_memory(manifest, records)
}

fn case(tests: &[Test], passes: u32) -> Case {
    let geometry = Geometry { transfer: Bytes::kib(256), block: Bytes::mib(1), segments: 1 };
    let mut spec = WorkloadSpec::new("analytics", "/flash/permanent", geometry);
    spec.files.targets = JobSpace::ALL.map(|space| format!("/flash/{}", space.name()).into()).to_vec();
    let sort = Step {
        action: Action::Sort {
            input: "sales".to_owned(),
            output: Output { table: "sorted".to_owned(), space: JobSpace::Work },
        },
        threads: 2,
        memory: Bytes::mib(64),
    };
    let test = |&(name, kind, streams, rounds, _): &Test| JobTest {
        streams,
        rounds,
        ..JobTest::new(name, kind, vec![sort.clone()])
    };
    let table = JobTable { name: "sales".to_owned(), rows: 200_000, groups: 1000, order: TableOrder::Number };
    let jobs = Jobs {
        tables: vec![table],
        tests: tests.iter().map(test).collect(),
        scale_billionths: 100_000,
        ..Jobs::new(Bytes::kib(256))
    };
    spec.tasks = u32::try_from(jobs.launches().len()).expect("few");
    spec.work = Work::Jobs(jobs);
    Case {
        group: "analytics".to_owned(),
        target: "flash".to_owned(),
        repetitions: passes,
        ..Case::new("analytics", spec.validate().expect("valid"), vec![Phase::Jobs])
    }
}

fn record(case: &Case, tests: &[Test], pass: u32, times: usize) -> PhaseRecord {
    let key = PhaseKey { case: case.id.as_str().into(), repetition: pass, phase: Phase::Jobs };
    let Work::Jobs(jobs) = &case.workload.work else { unreachable!("made above") };
    let mut launches: Vec<LaunchRow> = Vec::new();
    for one in jobs.launches() {
        // A round begins when the previous round of the same stream has ended.
        let before =
            launches.iter().filter(|row| one.after.contains(&row.launch)).map(|row| row.end_ns).max();
        let start = before.unwrap_or(u64::from(one.number) * SECOND / 2);
        launches.push(launch(&key, tests, &one, start, pass));
    }
    let last = launches.len() - 1;
    launches[last].outcome = "out-of-memory".into();
    launches[last].message = "its control group let it have 64 MiB".into();
    let end = launches.iter().map(|one| one.end_ns).max().unwrap_or(0);
    let steps: Vec<StepRow> = launches.iter().flat_map(|one| steps(one, times)).collect();
    let spaces = seconds(&key, &launches, end);
    let sum = |of: fn(&LaunchRow) -> u64| launches.iter().map(of).sum::<u64>();
    let (read, write) = (
        sum(|one| one.permanent_read_bytes + one.work_read_bytes + one.utility_read_bytes),
        sum(|one| one.permanent_write_bytes + one.work_write_bytes + one.utility_write_bytes),
    );
    let row = PhaseRow {
        wall_ns: end + SECOND,
        open_ns: SECOND,
        io_ns: end,
        read_bytes: read,
        write_bytes: write,
        reads: read >> 18,
        writes: write >> 18,
        user_cpu_ns: sum(|one| one.user_cpu_ns),
        system_cpu_ns: sum(|one| one.system_cpu_ns),
        device_read_bytes: Some(read / 10 * 9),
        device_write_bytes: Some(write),
        harness_cpu_ns: Some(end / 125),
        ..PhaseRow::new(key)
    };
    PhaseRecord { launches, steps, spaces, ..PhaseRecord::new(row) }
}

fn launch(key: &PhaseKey, tests: &[Test], one: &Launch, start_ns: u64, pass: u32) -> LaunchRow {
    let (test, kind, _, _, seconds) = tests[one.test];
    let real = seconds * (1.0 + wobble(u64::from(one.number) * 8 + u64::from(pass)) * 3.0);
    let nanos = |seconds: f64| (seconds * 1e9) as u64;
    // CPU time ÷ real time.
    let share = 1.0 + wobble(u64::from(one.number) * 16 + 7) * 15.0;
    let busy = match kind {
        TestKind::Io => 3,
        TestKind::Computation => 2,
        TestKind::Memory => 1,
    };
    let moved = nanos(real) / 100 / MB * MB * busy;
    LaunchRow {
        node: "made-up-node".into(),
        launch: one.number,
        kind: kind.name().into(),
        stream: one.stream,
        round: one.round,
        start_ns,
        end_ns: start_ns + nanos(real),
        start_cost_ns: 9_000_000 + u64::from(one.number) * 100_000,
        user_cpu_ns: nanos(real * 0.9 * share),
        system_cpu_ns: nanos(real * 0.1 * share),
        group_cpu_ns: Some(nanos(real * share) + 4_000_000),
        peak_memory_bytes: (60 + u64::from(one.number)) * MB,
        block_input_bytes: moved,
        block_output_bytes: moved,
        voluntary_switches: 1900,
        involuntary_switches: 40,
        permanent_read_bytes: moved * 4,
        work_read_bytes: moved,
        work_write_bytes: moved * 2,
        work_peak_bytes: moved * 2,
        utility_read_bytes: moved,
        utility_write_bytes: moved,
        utility_peak_bytes: moved,
        ..LaunchRow::new(key.clone(), test)
    }
}

fn steps(one: &LaunchRow, times: usize) -> Vec<StepRow> {
    let (mut rows, mut start) = (Vec::new(), one.start_ns + one.start_cost_ns);
    let (real, end) = (one.end_ns - start, one.end_ns);
    let all = STEPS.len() * times;
    for place in 0..all {
        let (action, share) = STEPS[place % STEPS.len()];
        let part = |value: u64| (value as f64 * share / times as f64) as u64;
        let until = if place + 1 == all { end } else { start + part(real) };
        rows.push(StepRow {
            key: one.key.clone(),
            launch: one.launch,
            test: one.test.clone(),
            step: place as u32,
            action: action.into(),
            threads: 1 + u32::from(action == "sort"),
            start_ns: start,
            end_ns: until,
            user_cpu_ns: part(one.user_cpu_ns),
            system_cpu_ns: part(one.system_cpu_ns),
            peak_memory_bytes: one.peak_memory_bytes,
            block_input_bytes: part(one.block_input_bytes),
            block_output_bytes: part(one.block_output_bytes),
            voluntary_switches: part(one.voluntary_switches),
            involuntary_switches: part(one.involuntary_switches),
            permanent_read_bytes: part(one.permanent_read_bytes),
            permanent_write_bytes: 0,
            work_read_bytes: part(one.work_read_bytes),
            work_write_bytes: part(one.work_write_bytes),
            utility_read_bytes: part(one.utility_read_bytes),
            utility_write_bytes: part(one.utility_write_bytes),
            rows_in: part(one.permanent_read_bytes) / 4 / 128,
            rows_out: part(one.permanent_read_bytes) / 4 / 128,
            checksum: record::SharedText::EMPTY,
            result: "{}".into(),
        });
        start = until;
    }
    rows
}

/// The bytes that all launches move in each second. Each running launch moves its bytes evenly over its time.
fn seconds(key: &PhaseKey, launches: &[LaunchRow], end_ns: u64) -> Vec<SpaceRow> {
    let mut rows = Vec::new();
    for at in 0..end_ns.div_ceil(SECOND) {
        let from = at * SECOND;
        let until = (from + SECOND).min(end_ns);
        let share = |one: &LaunchRow| {
            let both = until.min(one.end_ns).saturating_sub(from.max(one.start_ns));
            both as f64 / (one.end_ns - one.start_ns) as f64
        };
        for space in JobSpace::ALL {
            let sum = |of: fn(&LaunchRow) -> [u64; 3]| {
                launches.iter().map(|one| of(one)[space as usize] as f64 * share(one)).sum::<f64>() as u64
            };
            rows.push(SpaceRow {
                key: key.clone(),
                space: space.name().into(),
                start_ns: from,
                length_ns: until - from,
                read_bytes: sum(|one| {
                    [one.permanent_read_bytes, one.work_read_bytes, one.utility_read_bytes]
                }),
                write_bytes: sum(|one| {
                    [one.permanent_write_bytes, one.work_write_bytes, one.utility_write_bytes]
                }),
                free_bytes: Some(match space {
                    JobSpace::Utility => 40_000 * MB - at.min(70) * 540 * MB,
                    _ => 200_000 * MB,
                }),
            });
        }
    }
    rows
}
