//! Helpers that build rows for tests.

use analysis::gate::{Statement, Table, Value};
use plan::{
    Amount, Bound, Bytes, Case, Commitment, Geometry, Measure, Operation, Over, Phase, Plan, PlanSource,
    RateName, Selector, Statistic, Workload, WorkloadSpec,
};
use record::{
    FORMAT_VERSION, Fact, HostFacts, LatencyRow, Manifest, PhaseKey, PhaseRecord, PhaseRow, Provenance, Run,
    SeriesRow, TaskRow,
};

pub(crate) const SECOND: u64 = 1_000_000_000;

pub(crate) fn key(repetition: u32, phase: Phase) -> PhaseKey {
    PhaseKey { case: "c".into(), repetition, phase }
}

/// A phase that read `bytes` in 4 KiB transfers in `io_ns`, with 1 s around it.
pub(crate) fn phase(key: &PhaseKey, bytes: u64, io_ns: u64) -> PhaseRow {
    let writes = key.phase == Phase::Write;
    let (read_bytes, write_bytes) = if writes { (0, bytes) } else { (bytes, 0) };
    PhaseRow {
        wall_ns: io_ns + SECOND,
        open_ns: SECOND / 2,
        io_ns,
        close_ns: SECOND / 2,
        read_bytes,
        write_bytes,
        reads: read_bytes / 4096,
        writes: write_bytes / 4096,
        device_read_bytes: Some(read_bytes),
        device_write_bytes: Some(write_bytes),
        ..PhaseRow::new(key.clone())
    }
}

pub(crate) fn task(key: &PhaseKey, task: u32, bytes: u64, io: (u64, u64)) -> TaskRow {
    TaskRow {
        key: key.clone(),
        task,
        node: "n".into(),
        file: task,
        open_start_ns: 0,
        open_end_ns: 100,
        io_start_ns: io.0,
        io_end_ns: io.1,
        close_start_ns: io.1,
        close_end_ns: io.1 + 100,
        bytes,
        transfers: bytes / 4096,
        stonewall_transfers: None,
    }
}

pub(crate) fn second(key: &PhaseKey, operation: Operation, start: u64, bytes: u64) -> SeriesRow {
    SeriesRow {
        key: key.clone(),
        operation,
        start_ns: start * SECOND,
        length_ns: SECOND,
        bytes,
        transfers: bytes / 4096,
        latency_sum_ns: 0,
        latency_max_ns: 0,
    }
}

pub(crate) fn bucket(key: &PhaseKey, operation: Operation, edges: (u64, u64), count: u64) -> LatencyRow {
    LatencyRow {
        key: key.clone(),
        operation,
        measure: Measure::Response,
        low_ns: edges.0,
        high_ns: edges.1,
        count,
    }
}

pub(crate) fn workload(change: impl FnOnce(&mut WorkloadSpec)) -> Workload {
    let geometry = Geometry { transfer: Bytes::kib(4), block: Bytes::mib(1), segments: 1 };
    let mut spec = WorkloadSpec::new("w", "f", geometry);
    change(&mut spec);
    spec.validate().expect("a valid workload")
}

pub(crate) fn case(workload: Workload, phases: Vec<Phase>) -> Case {
    Case { title: "a case".to_owned(), repetitions: 2, ..Case::new("c", workload, phases) }
}

pub(crate) fn plan(cases: Vec<Case>) -> Plan {
    Plan::new("p", PlanSource::Quick { directory: "d".into(), others: Vec::new() }, 1, cases)
}

/// A run of `plan` with these `records`.
/// A commitment that every figure's median rate by wall time is at least `amount`.
pub(crate) fn at_least(amount: Amount) -> Commitment {
    Commitment {
        name: "rate".to_owned(),
        by: String::new(),
        figures: Selector::default(),
        rate: RateName::ByWall,
        statistic: Statistic::Median,
        bound: Bound::AtLeast,
        asked: amount.into(),
        over: Over::Every,
        terms: plan::Terms::default(),
    }
}

pub(crate) fn run(plan: &Plan, records: Vec<PhaseRecord>) -> Run {
    let manifest = Manifest {
        cluster: None,
        model: None,
        format_version: FORMAT_VERSION,
        run_id: "r".to_owned(),
        provenance: Provenance::Measured,
        program_version: String::new(),
        command_line: Vec::new(),
        started_unix_ns: 0,
        finished_unix_ns: None,
        predicted: None,
        plan: plan.clone(),
        host: host(),
        defaults: Vec::new(),
    };
    Run::in_memory(manifest, records)
}

/// A run of `plan` with these rows.
pub(crate) fn run_of(plan: &Plan, phases: &[PhaseRow], tasks: &[TaskRow], latency: &[LatencyRow]) -> Run {
    let record = |phase: &PhaseRow| PhaseRecord {
        tasks: tasks.iter().filter(|row| row.key == phase.key).cloned().collect(),
        latency: latency.iter().filter(|row| row.key == phase.key).cloned().collect(),
        ..PhaseRecord::new(phase.clone())
    };
    run(plan, phases.iter().map(record).collect())
}

fn host() -> HostFacts {
    let unknown = || Fact::Unknown("made up".to_owned());
    HostFacts {
        node: "n".to_owned(),
        operating_system: unknown(),
        kernel: unknown(),
        cpu_model: unknown(),
        sockets: Fact::Known(1),
        logical_cpus: 1,
        usable_cpus: 1,
        numa_nodes: Fact::Known(1),
        governor: unknown(),
        memory_bytes: 0,
        memory_limit_bytes: None,
        transparent_hugepages: unknown(),
        clock: "tsc".to_owned(),
        batch_job: None,
        file_systems: Vec::new(),
        devices: Vec::new(),
        target_devices: Vec::new(),
        ..HostFacts::default()
    }
}

/// The value in the column `key` of a statement.
pub(crate) fn cell<T: Statement + Clone>(said: &T, key: &str) -> Value {
    let table = Table::planned(std::slice::from_ref(said));
    let column = table.columns.iter().position(|column| column.key == key).expect("a column");
    table.rows[0].cells[column].clone()
}
