//! What a printer is told of a run beside its phases.

use plan::{Plan, PlanSource};
use record::{Fact, HostFacts, Manifest, Provenance};

fn unknown<T>() -> Fact<T> {
    Fact::Unknown("not asked".into())
}

/// That of a run of `plan` that took a second, on a host of which little is known.
pub(crate) fn manifest(plan: Plan) -> Manifest {
    let command_line = match &plan.source {
        PlanSource::Dialect { arguments, .. } => arguments.clone(),
        _ => Vec::new(),
    };
    Manifest {
        cluster: None,
        model: None,
        format_version: record::FORMAT_VERSION,
        run_id: "run".into(),
        provenance: Provenance::Measured,
        program_version: "0.1.0".into(),
        command_line,
        started_unix_ns: 1_795_256_357_000_000_000,
        finished_unix_ns: Some(1_795_256_358_000_000_000),
        predicted: None,
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
            target_devices: Vec::new(),
            ..HostFacts::default()
        },
        defaults: Vec::new(),
    }
}
