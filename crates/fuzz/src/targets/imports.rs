//! Output of other tools.

use dialect::import::{Text, import as read};
use record::{FORMAT_VERSION, HostFacts, Manifest, Provenance, Run};

use super::records::rendered;

/// The time of the import.
const NOW: i64 = 1_700_000_000_000_000_000;

/// One output, imported.
pub(super) fn import(input: &[u8]) {
    match read(&[Text { name: "printed", bytes: input }], None, NOW) {
        Ok(imported) => assert!(!imported.plan.cases.is_empty(), "nothing was read, and no error"),
        Err(error) => drop(error.to_string()),
    }
}

/// One output. The result is displayed as `ioproof import` does.
pub(super) fn report(input: &[u8]) {
    let Ok(imported) = read(&[Text { name: "printed", bytes: input }], None, NOW) else { return };
    let manifest = Manifest {
        format_version: FORMAT_VERSION,
        run_id: "fuzz".to_owned(),
        provenance: Provenance::Imported,
        program_version: "0.0.0".to_owned(),
        command_line: Vec::new(),
        started_unix_ns: NOW,
        finished_unix_ns: None,
        predicted: None,
        plan: imported.plan,
        host: HostFacts::default(),
        cluster: None,
        model: None,
        defaults: Vec::new(),
    };
    rendered(&Run::in_memory(manifest, imported.phases));
}
