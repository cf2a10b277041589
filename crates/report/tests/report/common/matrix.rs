//! A sample matrix of 19 tests and 101 launches on two storage systems, with five passes each. All numbers are
//! invented.

use plan::jobs::{Action, Step};
use plan::{
    Bytes, Case, Geometry, JobTest, Jobs, Launch, Phase, Setting, SettingValue, TargetDescription, TestKind,
    Work, WorkloadSpec,
};
use record::{LaunchRow, PhaseKey, PhaseRecord, PhaseRow, Run};

use super::{SECOND, empty, in_memory, wobble};

/// Ten compute tests, two memory tests, seven I/O tests: name, streams, rounds, real seconds per launch, CPU ÷ real.
const TESTS: [(&str, TestKind, u32, u32, f64, f64); 19] = [
    ("regression-large", TestKind::Computation, 2, 3, 18.0, 1.9),
    ("regression-small", TestKind::Computation, 2, 3, 5.0, 1.2),
    ("factorisation", TestKind::Computation, 2, 3, 24.0, 2.6),
    ("fourier", TestKind::Computation, 2, 3, 9.0, 1.1),
    ("simulation", TestKind::Computation, 2, 3, 12.0, 1.0),
    ("logistic", TestKind::Computation, 2, 3, 30.0, 1.4),
    ("mixed-model", TestKind::Computation, 2, 3, 67.8, 1.3),
    ("forecast", TestKind::Computation, 2, 3, 14.0, 1.0),
    ("cluster", TestKind::Computation, 2, 3, 16.0, 1.5),
    ("survival", TestKind::Computation, 2, 3, 21.0, 0.98),
    ("shuffle", TestKind::Memory, 2, 3, 8.0, 0.99),
    ("lookup", TestKind::Memory, 2, 3, 6.0, 0.97),
    ("sort", TestKind::Io, 2, 3, 40.0, 0.8),
    ("merge", TestKind::Io, 2, 2, 22.0, 0.6),
    ("scan", TestKind::Io, 2, 2, 11.0, 0.4),
    ("summarise", TestKind::Io, 2, 2, 13.0, 0.7),
    ("index", TestKind::Io, 2, 2, 17.0, 0.5),
    ("append", TestKind::Io, 2, 2, 3.0, 0.35),
    ("update", TestKind::Io, 3, 1, 7.0, 0.45),
];
/// Name, title, factor for the real time, factor for its scatter.
const SYSTEMS: [(&str, &str, f64, f64); 2] =
    [("disks", "Spinning disks", 1.0, 3.0), ("flash", "Flash cards", 1.05, 1.0)];
const PASSES: u32 = 5;

/// The matrix in which all launches completed.
pub(crate) fn matrix() -> Run {
    matrix_with(|_| {})
}

/// The matrix with launches modified by `change`.
pub(crate) fn matrix_with(mut change: impl FnMut(&mut LaunchRow)) -> Run {
    let mut manifest = empty().manifest;
    manifest.plan.title = "Made-up numbers: a mixed analytics workload on two storage systems".to_owned();
    let target = |(name, title, ..): (&str, &str, f64, f64)| TargetDescription {
        name: name.to_owned(),
        title: title.to_owned(),
        ..TargetDescription::default()
    };
    manifest.plan.criteria.targets = SYSTEMS.map(target).to_vec();
    let mut records = Vec::new();
    for (place, (name, ..)) in SYSTEMS.iter().enumerate() {
        let case = case(name);
        for pass in 0..PASSES {
            let mut record = record(&case, place, pass);
            record.launches.iter_mut().for_each(&mut change);
            records.push(record);
        }
        manifest.plan.cases.push(case);
    }
    in_memory(manifest, records)
}

fn jobs() -> Jobs {
    let simulation =
        Step { action: Action::Simulation { operations: 1000 }, threads: 1, memory: Bytes::mib(64) };
    let test = |&(name, kind, streams, rounds, ..): &(&str, TestKind, u32, u32, f64, f64)| JobTest {
        streams,
        rounds,
        ..JobTest::new(name, kind, vec![simulation.clone()])
    };
    Jobs { tests: TESTS.iter().map(test).collect(), ..Jobs::new(Bytes::kib(256)) }
}

fn case(target: &str) -> Case {
    let geometry = Geometry { transfer: Bytes::kib(256), block: Bytes::mib(1), segments: 1 };
    let mut spec = WorkloadSpec::new("analytics", format!("/{target}/permanent"), geometry);
    spec.files.targets =
        ["permanent", "work", "utility"].map(|space| format!("/{target}/{space}").into()).to_vec();
    let jobs = jobs();
    spec.tasks = u32::try_from(jobs.launches().len()).expect("few");
    spec.work = Work::Jobs(jobs);
    let id = format!("analytics:{target}");
    Case {
        group: "analytics".to_owned(),
        target: target.to_owned(),
        settings: vec![Setting { key: "target".into(), value: SettingValue::Word(target.to_owned()) }],
        repetitions: PASSES,
        ..Case::new(id, spec.validate().expect("valid"), vec![Phase::Jobs])
    }
}

fn record(case: &Case, system: usize, pass: u32) -> PhaseRecord {
    let key = PhaseKey { case: case.id.as_str().into(), repetition: pass, phase: Phase::Jobs };
    let Work::Jobs(jobs) = &case.workload.work else { unreachable!("made above") };
    let launches: Vec<LaunchRow> =
        jobs.launches().iter().map(|one| launch(&key, one, system, pass)).collect();
    let last = launches.iter().map(|one| one.end_ns).max().unwrap_or(0);
    let cpu = |of: fn(&LaunchRow) -> u64| launches.iter().map(of).sum::<u64>();
    let row = PhaseRow {
        wall_ns: last + SECOND,
        open_ns: SECOND,
        io_ns: last,
        read_bytes: 40 << 30,
        write_bytes: 20 << 30,
        reads: 40 << 12,
        writes: 20 << 12,
        user_cpu_ns: cpu(|one| one.user_cpu_ns),
        system_cpu_ns: cpu(|one| one.system_cpu_ns),
        ..PhaseRow::new(key)
    };
    PhaseRecord { launches, ..PhaseRecord::new(row) }
}

fn launch(key: &PhaseKey, one: &Launch, system: usize, pass: u32) -> LaunchRow {
    let (test, kind, _, _, seconds, ratio) = TESTS[one.test];
    let (_, _, slower, scatter) = SYSTEMS[system];
    let salt = u64::from(one.number) * 16 + system as u64 * 8 + u64::from(pass);
    let real = seconds * slower * (1.0 + wobble(salt) * scatter);
    let cpu = seconds * ratio * (1.0 + wobble(salt + 5_000) * 0.2);
    let nanos = |seconds: f64| (seconds * 1e9) as u64;
    let start_ns = u64::from(one.round) * 70 * SECOND + u64::from(one.number) * 20_000_000;
    LaunchRow {
        node: "made-up-node".into(),
        launch: one.number,
        kind: kind.name().into(),
        stream: one.stream,
        round: one.round,
        start_ns,
        end_ns: start_ns + nanos(real),
        start_cost_ns: 9_000_000,
        user_cpu_ns: nanos(cpu * 0.88),
        system_cpu_ns: nanos(cpu * 0.12),
        peak_memory_bytes: (550 + u64::from(one.number)) * 1_000_000,
        block_input_bytes: 1 << 30,
        block_output_bytes: 1 << 29,
        voluntary_switches: 900,
        involuntary_switches: 40,
        permanent_read_bytes: 1 << 30,
        work_read_bytes: 1 << 28,
        work_write_bytes: 1 << 28,
        work_peak_bytes: 1 << 28,
        ..LaunchRow::new(key.clone(), test)
    }
}
