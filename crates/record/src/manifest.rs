//! `manifest.json`: what was asked, where and by which program.

use plan::Plan;
use serde::{Deserialize, Serialize};

use crate::HostFacts;

/// The name of the manifest in the run directory.
pub(crate) const MANIFEST: &str = "manifest.json";

/// The version of the run directory that this program writes. Readers accept every earlier one.
pub const FORMAT_VERSION: u32 = 1;

/// Where figures come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Provenance {
    /// This program moved the bytes on this host.
    Measured,
    /// Read from the output of another tool.
    Imported,
    /// Read from a publication.
    Published,
    /// A simulated device on a virtual clock.
    Simulated,
}

/// What a run is: written once at the start, and again, with the end time, at the end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// [`FORMAT_VERSION`] of the writer.
    pub format_version: u32,
    /// A name that no other run has.
    pub run_id: String,
    /// Where the figures come from.
    pub provenance: Provenance,
    /// Version of the program that wrote the run.
    pub program_version: String,
    /// The command line as given.
    pub command_line: Vec<String>,
    /// Wall clock at the start, nanoseconds since 1970-01-01 UTC.
    pub started_unix_ns: i64,
    /// Wall clock at the end; absent while the run goes on or when it was killed.
    pub finished_unix_ns: Option<i64>,
    /// What was asked.
    pub plan: Plan,
    /// Where it ran.
    pub host: HostFacts,
}
