//! A sample study of three workloads that ran alone and at the same time on one device. All numbers are invented.

use plan::{Case, Concurrent, Phase, PlanSource};
use record::Run;

use super::{MIB, Made, case, empty, in_memory, made, record};

const REPETITIONS: u32 = 6;

/// A checkpoint, a restart and users, alone and beside the others; their rates beside the others as a share.
const WORKLOADS: [(Made, &str, f64); 3] = [
    (
        made("checkpoint", "Checkpoint", Phase::Write, MIB, false, 8, true, 1.2e9, 6_300_000, 1.0),
        "night:checkpoint",
        0.8,
    ),
    (
        made("restart", "Restart", Phase::Read, MIB, false, 8, true, 0.6e9, 12_600_000, 1.0),
        "night:restart",
        0.69,
    ),
    (made("users", "Users", Phase::Read, 16 << 10, true, 4, true, 160e6, 390_000, 1.0), "night:users", 1.0),
];

/// The case with four tasks.
fn tasks(case: Case) -> Case {
    let mut spec = plan::WorkloadSpec::from(case.workload.clone());
    spec.tasks = 4;
    Case { workload: spec.validate().expect("valid"), ..case }
}

pub(crate) fn concurrent() -> Run {
    let mut manifest = empty().manifest;
    manifest.plan.title = "Made-up numbers: what workloads cost each other".to_owned();
    manifest.plan.source =
        PlanSource::Study { path: "night.toml".into(), text: String::new(), overrides: Vec::new() };
    let mut records = Vec::new();
    for (alone, ..) in &WORKLOADS {
        let alone = Made { repetitions: REPETITIONS, tasks: 4, ..*alone };
        manifest.plan.cases.push(Case { group: alone.id.to_owned(), ..tasks(case(&alone)) });
        records.extend((0..REPETITIONS).map(|repetition| record(&alone, alone.phase, repetition)));
    }
    for (alone, id, part) in &WORKLOADS {
        let together =
            Concurrent { name: "night".to_owned(), alone: alone.id.to_owned(), start: plan::Nanos(0) };
        let p50_ns = (alone.p50_ns as f64 / part) as u64;
        let beside =
            Made { id, rate: alone.rate * part, p50_ns, repetitions: REPETITIONS, tasks: 4, ..*alone };
        manifest.plan.cases.push(Case {
            group: (*id).to_owned(),
            concurrent: Some(together),
            ..tasks(case(&beside))
        });
        records.extend((0..REPETITIONS).map(|repetition| record(&beside, beside.phase, repetition)));
    }
    let of = |record: &record::PhaseRecord| {
        record.phase.key.case.contains(':').then_some(record.phase.key.repetition)
    };
    for repetition in 0..REPETITIONS {
        let all = || records.iter().filter(|record| of(record) == Some(repetition));
        let reads: u64 = all().map(|record| record.phase.read_bytes).sum();
        let writes: u64 = all().map(|record| record.phase.write_bytes).sum();
        for record in records.iter_mut().filter(|record| of(record) == Some(repetition)) {
            (record.phase.device_read_bytes, record.phase.device_write_bytes) = (Some(reads), Some(writes));
        }
    }
    // For three seconds of one pass nothing completed for the users.
    let stalled =
        records.iter_mut().find(|record| record.phase.key.case == *"night:users").expect("made before");
    stalled.series.retain(|row| !(2_000_000_000..5_000_000_000).contains(&row.start_ns));
    in_memory(manifest, records)
}
