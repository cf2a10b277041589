//! Records for printers, and pages of documentation.

use plan::{Plan, Question};
use record::{Fact, HostFacts, Manifest, PhaseKey, PhaseRecord, Provenance, Run};

/// A run of `plan` that has ended, on a host of which little is known.
pub(crate) fn run_of(plan: Plan) -> Run {
    Run::in_memory(manifest(plan), Vec::new())
}

fn unknown<T>() -> Fact<T> {
    Fact::Unknown("not asked".into())
}

fn manifest(plan: Plan) -> Manifest {
    let command_line = match &plan.question {
        Question::Dialect { arguments, .. } => arguments.clone(),
        _ => Vec::new(),
    };
    Manifest {
        cluster: None,
        format_version: record::FORMAT_VERSION,
        run_id: "run".into(),
        provenance: Provenance::Measured,
        program_version: "0.1.0".into(),
        command_line,
        started_unix_ns: 1_795_256_357_000_000_000,
        finished_unix_ns: Some(1_795_256_358_000_000_000),
        plan,
        host: HostFacts {
            node: "node".into(),
            operating_system: unknown(),
            kernel: Fact::Known("6.1.0".into()),
            cpu_model: unknown(),
            sockets: unknown(),
            logical_cpus: 2,
            usable_cpus: 2,
            numa_nodes: unknown(),
            governor: unknown(),
            memory_bytes: 1 << 34,
            memory_limit_bytes: None,
            transparent_hugepages: unknown(),
            clock: "tsc".into(),
            batch_job: None,
            file_systems: Vec::new(),
            devices: Vec::new(),
        },
    }
}

/// The record of one transfer phase: `row` and `tasks`, and nothing beside them.
pub(crate) fn record(phase: record::PhaseRow, tasks: Vec<record::TaskRow>) -> PhaseRecord {
    PhaseRecord {
        phase,
        tasks,
        latency: Vec::new(),
        series: Vec::new(),
        nodes: Vec::new(),
        devices: Vec::new(),
        ends: Vec::new(),
        history: Vec::new(),
        printed: Vec::new(),
        warnings: Vec::new(),
    }
}

/// Compares the generated part of a page under `docs/`, or writes it with `UPDATE_DOCS=1`.
pub(crate) fn page_has(name: &str, reference: &str) {
    let path = format!("{}/../../docs/{name}", env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(&path).expect(name);
    let (start, end) = ("<!-- options: generated -->\n", "<!-- end of options -->");
    let (before, rest) = page.split_once(start).expect("a start mark");
    let (_, after) = rest.split_once(end).expect("an end mark");
    let expected = format!("{before}{start}{reference}{end}{after}");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &expected).expect("written");
    } else {
        assert!(page == expected, "docs/{name} has another table than the program: UPDATE_DOCS=1 cargo test");
    }
}

/// The key of the only pass of a case.
pub(crate) fn key(case: &plan::Case) -> PhaseKey {
    PhaseKey { case: case.id.as_str().into(), repetition: 0, phase: case.phases[0] }
}
