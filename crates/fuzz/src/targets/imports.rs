//! What other tools have printed.

use dialect::import::{Text, import as read};
use record::{FORMAT_VERSION, HostFacts, Manifest, Provenance, Run};

use super::records::rendered;

/// One text; what is read of it is shown as `ioproof import` shows it.
pub(super) fn import(input: &[u8]) {
    let text = Text { name: "printed", bytes: input };
    let imported = match read(&[text], None, 1_700_000_000_000_000_000) {
        Ok(imported) => imported,
        Err(error) => return drop(error.to_string()),
    };
    let manifest = Manifest {
        format_version: FORMAT_VERSION,
        run_id: "fuzz".to_owned(),
        provenance: Provenance::Imported,
        program_version: "0.0.0".to_owned(),
        command_line: Vec::new(),
        started_unix_ns: 1_700_000_000_000_000_000,
        finished_unix_ns: None,
        plan: imported.plan,
        host: HostFacts::default(),
        cluster: None,
    };
    rendered(&Run::in_memory(manifest, imported.phases));
}
