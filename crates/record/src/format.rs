//! The version of the format on disk, and the names of the files other than the tables.

/// The version of the run directory that this program writes. Readers accept all earlier versions.
pub const FORMAT_VERSION: u32 = 4;

/// The plan, the host and the program.
pub(crate) const MANIFEST: &str = "manifest.json";
/// One event per line.
pub(crate) const JOURNAL: &str = "journal.jsonl";
/// The runs that a merged run was made of.
pub(crate) const PARTS: &str = "parts.json";
