//! What opening a record and going through its rows leaves in memory grows far slower than its bytes.

use std::alloc::System;
use std::fs;
use std::path::Path;

use plan::{Bytes, Case, Geometry, Measure, Operation, Phase, Plan, PlanSource, WorkloadSpec};
use record::{
    FORMAT_VERSION, HostFacts, LatencyRow, Manifest, Outcome, PhaseKey, PhaseRecord, PhaseRow, Provenance,
    Recorder, Run,
};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Buckets of a phase, with which it takes 6 KB of the journal.
const BUCKETS: u64 = 200;
/// Memory for each byte of the record, at most: 2 GiB for 37 GB, a hundred times the largest record of a stock study,
/// are 0.058.
const MEMORY_PER_BYTE: f64 = 0.03;

fn manifest(cases: u32, repetitions: u32) -> Manifest {
    let geometry = Geometry { transfer: Bytes::kib(4), block: Bytes::mib(1), segments: 1 };
    let workload = WorkloadSpec::new("w", "/data/file", geometry).validate().expect("a valid workload");
    let case = |number: u32| {
        let id = format!("case-{number}");
        Case { repetitions, ..Case::new(&id, workload.clone(), vec![Phase::Read]) }
    };
    let source = PlanSource::Quick { directory: "/data".into(), others: Vec::new() };
    Manifest {
        cluster: None,
        model: None,
        format_version: FORMAT_VERSION,
        run_id: "many-1".to_owned(),
        provenance: Provenance::Measured,
        program_version: "0.1.0".to_owned(),
        command_line: Vec::new(),
        started_unix_ns: 0,
        finished_unix_ns: None,
        predicted: None,
        plan: Plan::new("many".to_owned(), source, 42, (0..cases).map(case).collect()),
        host: HostFacts::default(),
        defaults: Vec::new(),
    }
}

fn phase(case: &str, repetition: u32) -> PhaseRecord {
    let key = PhaseKey { case: case.into(), repetition, phase: Phase::Read };
    let bucket = |bucket: u64| LatencyRow {
        key: key.clone(),
        operation: Operation::Read,
        measure: Measure::Response,
        low_ns: 100_000 + bucket * 800,
        high_ns: 100_800 + bucket * 800,
        count: (bucket + 7) * 7919 % 10_007,
    };
    let latency = (0..BUCKETS).map(bucket).collect();
    PhaseRecord { latency, ..PhaseRecord::new(PhaseRow { wall_ns: 3_000_000_000, ..PhaseRow::new(key) }) }
}

/// A record of `cases` in `directory`, whose rows are all in the journal unless it `ends`.
fn write(directory: &Path, (cases, repetitions): (u32, u32), ends: bool) {
    let manifest = manifest(cases, repetitions);
    let mut recorder = Recorder::create(directory, &manifest).expect("created").not_durable();
    for case in &manifest.plan.cases {
        recorder.case_started(&case.id).expect("started");
        for repetition in 0..repetitions {
            recorder.phase_finished(&phase(&case.id, repetition)).expect("recorded");
        }
        if ends {
            recorder.case_finished(&case.id).expect("finished");
        }
    }
    if ends {
        recorder.finish(&Outcome::Complete).expect("finished");
    }
}

fn bytes_in(directory: &Path) -> u64 {
    let entries = fs::read_dir(directory).expect("readable").map(|entry| entry.expect("readable"));
    let bytes = |entry: fs::DirEntry| match entry.file_type().expect("known").is_dir() {
        true => bytes_in(&entry.path()),
        false => entry.metadata().expect("known").len(),
    };
    entries.map(bytes).sum()
}

struct Memory {
    /// Bytes of the record.
    stored: u64,
    /// Bytes in memory after it was opened.
    opened: usize,
    /// The most bytes in addition while its rows are read case by case.
    rows: usize,
}

fn read(size: (u32, u32), ends: bool) -> Memory {
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory for the test");
    let directory = place.path().join("run");
    write(&directory, size, ends);
    let stored = bytes_in(&directory);
    let before = Region::new(ALLOCATOR);
    let taken = || {
        let change = before.change();
        change.bytes_allocated - change.bytes_deallocated
    };
    let run = Run::open(&directory).expect("a run");
    assert_eq!(run.damage, []);
    let opened = taken();
    let (mut count, mut rows) = (0, 0);
    for case in run.cases() {
        let (phases, latency) = (run.phases(case), run.latency(case));
        count += phases.len() + latency.len();
        rows = rows.max(taken() - opened);
    }
    assert_eq!(count as u64, u64::from(size.0 * size.1) * (BUCKETS + 1), "all rows");
    Memory { stored, opened, rows }
}

/// This must be the only test in the binary: memory of other tests would be counted as well.
#[test]
fn a_record_takes_little_memory_for_each_of_its_bytes() {
    for ends in [true, false] {
        let (few, many) = (read((16, 100), ends), read((48, 100), ends));
        let per_byte = (many.opened as f64 - few.opened as f64) / (many.stored - few.stored) as f64;
        let shown =
            format!("finished {ends}: {per_byte:.4} B for each byte; rows {} B, {} B", few.rows, many.rows);
        assert!(per_byte < MEMORY_PER_BYTE, "{shown}");
        assert!(many.rows < few.rows + few.rows / 10, "{shown}");
    }
}
