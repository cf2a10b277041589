//! A sample study of three workloads that ran alone and at the same time on one device. All numbers are invented.

use std::ops::Range;

use plan::{Case, Concurrent, Phase, PlanSource};
use record::Run;

use super::{MIB, Made, case, empty, in_memory, made, record};

const REPETITIONS: u32 = 6;

/// A checkpoint, a restart and users, alone and beside the others; their rates beside the others as a share.
const WORKLOADS: [(Made, f64); 3] = [
    (made("checkpoint", "Checkpoint", Phase::Write, MIB, false, 8, true, 1.2e9, 6_300_000, 1.0), 0.8),
    (made("restart", "Restart", Phase::Read, MIB, false, 8, true, 0.6e9, 12_600_000, 1.0), 0.69),
    (made("users", "Users", Phase::Read, 16 << 10, true, 4, true, 160e6, 390_000, 1.0), 1.0),
];

/// The case with four tasks.
fn tasks(case: Case) -> Case {
    let mut spec = plan::WorkloadSpec::from(case.workload.clone());
    spec.tasks = 4;
    Case { workload: spec.validate().expect("valid"), ..case }
}

pub(crate) fn concurrent() -> Run {
    concurrent_in(&["night"])
}

/// The same with several sets of these workloads.
pub(crate) fn concurrent_in(sets: &[&str]) -> Run {
    // For three seconds of one pass nothing completed for the users.
    stalled(sets, 2..5)
}

/// The same; for all of one pass nothing completed for the users of the first set.
pub(crate) fn starved(sets: &[&str]) -> Run {
    stalled(sets, 0..u64::MAX)
}

fn stalled(sets: &[&str], seconds: Range<u64>) -> Run {
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
    for set in sets {
        let first = records.len();
        for (alone, part) in &WORKLOADS {
            let together =
                Concurrent { name: (*set).to_owned(), alone: alone.id.to_owned(), start: plan::Nanos(0) };
            let p50_ns = (alone.p50_ns as f64 / part) as u64;
            let id: &str = format!("{set}:{}", alone.id).leak();
            let beside =
                Made { id, rate: alone.rate * part, p50_ns, repetitions: REPETITIONS, tasks: 4, ..*alone };
            manifest.plan.cases.push(Case {
                group: id.to_owned(),
                concurrent: Some(together),
                ..tasks(case(&beside))
            });
            records.extend((0..REPETITIONS).map(|repetition| record(&beside, beside.phase, repetition)));
        }
        let of_set = &mut records[first..];
        for repetition in 0..REPETITIONS {
            let all = || of_set.iter().filter(|record| record.phase.key.repetition == repetition);
            let reads: u64 = all().map(|record| record.phase.read_bytes).sum();
            let writes: u64 = all().map(|record| record.phase.write_bytes).sum();
            for record in of_set.iter_mut().filter(|record| record.phase.key.repetition == repetition) {
                (record.phase.device_read_bytes, record.phase.device_write_bytes) =
                    (Some(reads), Some(writes));
            }
        }
    }
    let stalled =
        records.iter_mut().find(|record| record.phase.key.case.ends_with(":users")).expect("made before");
    stalled.series.retain(|row| !seconds.contains(&(row.start_ns / 1_000_000_000)));
    in_memory(manifest, records)
}
