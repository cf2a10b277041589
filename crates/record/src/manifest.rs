//! `manifest.json`: the plan, the host and the program of a run.

use std::path::Path;

use plan::limits::MANIFEST_BYTES;
use plan::{Plan, Prediction};
use serde::{Deserialize, Serialize};

use crate::files::checksum::checksum_of;
use crate::files::directory;
use crate::files::replacement::replace;
use crate::format::{FORMAT_VERSION, MANIFEST};
use crate::{Cluster, HostFacts, RecordError};

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

/// Description of a run: written at the start, and again, with the end time, at the end.
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
    /// Wall clock at the end; absent while the run is in progress or if it was killed.
    pub finished_unix_ns: Option<i64>,
    /// The time that was predicted for it before it started; absent in records of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predicted: Option<Prediction>,
    /// The plan of the run.
    pub plan: Plan,
    /// The host; of several nodes the first.
    pub host: HostFacts,
    /// Its processes, where a launcher has started several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<Cluster>,
}

/// The text of a manifest.
pub(crate) struct ManifestText {
    bytes: Vec<u8>,
    /// Its checksum, which the journal has before the text is put in its place.
    pub(crate) checksum: String,
}

impl ManifestText {
    pub(crate) fn of(directory: &Path, manifest: &Manifest) -> Result<Self, RecordError> {
        let mut bytes = serde_json::to_vec_pretty(manifest).map_err(|error| RecordError::Unreadable {
            path: directory.join(MANIFEST),
            message: format!("the manifest could not be written down: {error}; report this as a defect"),
        })?;
        bytes.push(b'\n');
        Ok(Self { checksum: checksum_of(&bytes), bytes })
    }

    /// Puts it in its place.
    pub(crate) fn write(&self, directory: &Path, durable: bool) -> Result<(), RecordError> {
        replace(directory, MANIFEST, &self.bytes, durable)
    }
}

/// The manifest of the run in `directory`, and the checksum of its text.
pub(crate) fn read_manifest(directory: &Path) -> Result<(Manifest, String), RecordError> {
    let path = directory.join(MANIFEST);
    let text = directory::read(directory, &path, MANIFEST_BYTES).map_err(RecordError::io("read", &path))?;
    let unreadable = |error: serde_json::Error| RecordError::Unreadable {
        path: path.clone(),
        message: format!("it is no manifest of a run ({error}); restore it, or repeat the run"),
    };
    let version: Version = serde_json::from_slice(&text).map_err(unreadable)?;
    check_version(directory, version.format_version)?;
    Ok((serde_json::from_slice(&text).map_err(unreadable)?, checksum_of(&text)))
}

/// The one field of a manifest that every version has.
#[derive(Deserialize)]
struct Version {
    format_version: u32,
}

/// Rejects runs written by a later program.
pub(crate) fn check_version(directory: &Path, found: u32) -> Result<(), RecordError> {
    if found > FORMAT_VERSION {
        return Err(RecordError::NewerVersion { path: directory.to_path_buf(), found });
    }
    Ok(())
}
