//! Output of other tools, imported as a run.

use dialect::import::{Text, import};
use record::{HostFacts, Manifest, Provenance, Run, Warning, WarningRow};

/// The run obtained by importing the text of `name`.
pub(crate) fn run(name: &str, text: &[u8]) -> Run {
    let imported = import(&[Text { name, bytes: text }], None, super::STARTED).expect("it is read");
    let manifest = Manifest {
        provenance: Provenance::Imported,
        command_line: ["ioproof", "import", name].map(str::to_owned).to_vec(),
        started_unix_ns: imported.started_unix_ns.unwrap_or(super::STARTED),
        finished_unix_ns: imported.finished_unix_ns,
        predicted: None,
        plan: imported.plan,
        host: HostFacts {
            node: imported.node.unwrap_or_else(|| "unknown".to_owned()),
            ..HostFacts::default()
        },
        ..super::empty().manifest
    };
    let mut run = super::in_memory(manifest, imported.phases);
    let note = |note| WarningRow { key: None, warning: Warning::Import { note } };
    run.warnings.extend(imported.doubts.into_iter().map(note));
    run
}
