//! Defects that are built in on purpose, to see that the tests of faults find them.

use std::fs::OpenOptions;
use std::path::Path;

/// The variable that names the defect.
const VARIABLE: &str = "IOPROOF_PLANT";

/// Whether this program has the defect called `name`.
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
