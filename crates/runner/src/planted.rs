//! Defects that can be switched on deliberately, to check that the fault tests detect them.

use std::fs::OpenOptions;
use std::path::Path;

/// The environment variable that names the defect.
const VARIABLE: &str = "IOPROOF_PLANT";

/// Whether the defect `name` is switched on.
#[must_use]
pub fn planted(name: &str) -> bool {
    std::env::var(VARIABLE).is_ok_and(|planted| planted == name)
}

/// Drops the last third of the journal in `directory`.
pub(crate) fn forget(directory: &Path) {
    if let Ok(file) = OpenOptions::new().write(true).open(directory.join("journal.jsonl")) {
        let length = file.metadata().map_or(0, |metadata| metadata.len());
        let _ = file.set_len(length / 3 * 2);
    }
}
