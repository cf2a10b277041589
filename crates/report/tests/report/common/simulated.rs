//! The sample runs, as if produced by a model.

use record::{Fact, HostFacts, ModelSource, PhaseRow, Run};

/// Turns `run` into a simulated run. The name, processors and memory of the model's machine are known.
pub(crate) fn simulated(mut run: Run) -> Run {
    run.manifest = run.manifest.simulated(ModelSource {
        name: "twelve cards".to_owned(),
        path: "models/cards.toml".into(),
        sha256: "5f0a9c31d2".repeat(6) + "77e0",
        seed: 7,
        percentile: None,
        simulates_all: false,
    });
    run.manifest.host = HostFacts {
        node: "node1".to_owned(),
        logical_cpus: 24,
        usable_cpus: 24,
        memory_bytes: 128 << 30,
        cpu_model: Fact::Unknown("the model does not say".to_owned()),
        ..HostFacts::default()
    };
    // A virtual clock starts at 0.
    let start = run.all_phases().map(|row| row.started_unix_ns).min().unwrap_or_default();
    run.change_phases(|row| Some(PhaseRow { started_unix_ns: row.started_unix_ns - start, ..row }));
    run
}
