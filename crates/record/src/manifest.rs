//! `manifest.json`: the plan, the host and the program of a run.

use std::fmt;
use std::path::{Path, PathBuf};

use plan::limits::MANIFEST_BYTES;
use plan::{Plan, Prediction, shell_word};
use serde::{Deserialize, Serialize};

use crate::files::checksum::checksum_of;
use crate::files::directory::{self, RunDirectory};
use crate::files::replacement::replace;
use crate::format::{FORMAT_VERSION, MANIFEST};
use crate::{Cluster, HostFacts, RecordError};

/// The source of figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Provenance {
    /// This program moved the bytes on this host.
    Measured,
    /// Read from the output of another tool.
    Imported,
    /// Read from a publication.
    Published,
    /// Computed by a model on a virtual clock; [`Manifest::model`] names it.
    Simulated,
}

/// The model that computed the figures of a simulated run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelSource {
    /// Its name, as stated in its file.
    pub name: String,
    /// The path of its file, as given by the user.
    pub path: PathBuf,
    /// SHA-256 sum of its file in hexadecimal digits ([`crate::sha256`]).
    pub sha256: String,
    /// The seed of its random numbers.
    pub seed: u64,
    /// The largest percentile that it describes; without one it describes all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percentile: Option<f64>,
    /// Whether all of each phase is simulated, and nothing is computed from steady states.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub simulates_all: bool,
}

impl ModelSource {
    /// Whether both give the same figures for the same plan. Names and paths of their files may differ.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        let figures = |of: &Self| (of.sha256.clone(), of.seed, of.simulates_all);
        figures(self) == figures(other)
    }

    /// The options with which a run on it is begun and resumed.
    #[must_use]
    pub fn options(&self) -> String {
        let all = if self.simulates_all { " --simulate-all" } else { "" };
        format!("--model {} --seed {}{all}", shell_word(&self.path.to_string_lossy()), self.seed)
    }
}

/// The name, and what distinguishes it from other models: `twelve cards (sha256 5f0a9c31, seed 7)`.
impl fmt::Display for ModelSource {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let short: String = self.sha256.chars().take(SHORT_SHA256_DIGITS).collect();
        let all = if self.simulates_all { ", all of it simulated" } else { "" };
        write!(formatter, "{} (sha256 {short}, seed {}{all})", self.name, self.seed)
    }
}

/// Number of hash digits shown, which is enough to distinguish thousands of models.
const SHORT_SHA256_DIGITS: usize = 12;

/// Description of a run. It is written at the start, and again at the end together with the end time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// The writer's [`FORMAT_VERSION`].
    pub format_version: u32,
    /// A unique name of the run.
    pub run_id: String,
    /// The source of the figures.
    pub provenance: Provenance,
    /// Version of the program that wrote the run.
    pub program_version: String,
    /// The command line as given.
    pub command_line: Vec<String>,
    /// Wall clock at the start, nanoseconds since 1970-01-01 UTC.
    pub started_unix_ns: i64,
    /// Wall clock at the end. Missing while the run is in progress, or if it was killed.
    pub finished_unix_ns: Option<i64>,
    /// The duration predicted before the run started. Missing in records of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predicted: Option<Prediction>,
    /// The plan of the run.
    pub plan: Plan,
    /// The host, or the first node if there are several.
    pub host: HostFacts,
    /// Its processes, if a launcher has started several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<Cluster>,
    /// The model, if [`Manifest::provenance`] is [`Provenance::Simulated`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelSource>,
    /// The defaults from files and the environment that had an effect on the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub defaults: Vec<TakenDefault>,
}

/// A default that did not come from the program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TakenDefault {
    /// The key, such as `records`.
    pub key: String,
    /// Its value.
    pub value: String,
    /// Where it was found: a file with a line, or a variable of the environment.
    pub from: String,
}

impl Manifest {
    /// Reads the manifest of the run in `directory`, without its rows.
    ///
    /// # Errors
    /// Errors if it does not exist, cannot be read, or was written by a later program.
    pub fn read(directory: impl Into<RunDirectory>) -> Result<Self, RecordError> {
        read_manifest(&directory.into()).map(|(manifest, _)| manifest)
    }

    /// Returns the manifest of a run whose figures come from `model`. The host facts are then those of
    /// the model's machine.
    #[must_use]
    pub fn simulated(self, model: ModelSource) -> Self {
        Self { provenance: Provenance::Simulated, model: Some(model), ..self }
    }

    /// Checks that the run in `directory` is resumed as it began: with the same model and seed, or on real
    /// storage without a model. Otherwise measured and simulated passes of a case would be combined into one
    /// figure.
    ///
    /// # Errors
    /// Errors if `model` is not what the run began with.
    pub fn check_resumed_with(
        &self,
        directory: &Path,
        model: Option<&ModelSource>,
    ) -> Result<(), RecordError> {
        let simulated = self.provenance == Provenance::Simulated;
        let why = match (simulated, &self.model, model) {
            (false, _, None) => return Ok(()),
            (true, Some(own), Some(given)) if own.is_same(given) => return Ok(()),
            (false, _, Some(given)) => format!(
                "it was started without a model, but model `{}` was given: omit --model, or start a \
                 simulated run in another directory",
                given.name
            ),
            (true, Some(own), None) => format!("it is simulated with model {own}: add {}", own.options()),
            (true, Some(own), Some(given)) => format!(
                "it was started with model {own}, but model {given} was given: give the file and the options \
                 with which it was started, or start a new run"
            ),
            (true, None, _) => "it is simulated, but its model is unknown: start a new run".to_owned(),
        };
        Err(RecordError::CannotResume { path: directory.to_path_buf(), why })
    }
}

/// The text of a manifest.
pub(crate) struct ManifestText {
    bytes: Vec<u8>,
    /// Its checksum, which is written to the journal before the text is written.
    pub(crate) checksum: String,
}

impl ManifestText {
    pub(crate) fn of(directory: &RunDirectory, manifest: &Manifest) -> Result<Self, RecordError> {
        let mut bytes = serde_json::to_vec_pretty(manifest).map_err(|error| RecordError::Unreadable {
            path: directory.join(MANIFEST),
            message: format!("the manifest could not be encoded: {error}; report this as a bug"),
        })?;
        bytes.push(b'\n');
        Ok(Self { checksum: checksum_of(&bytes), bytes })
    }

    /// Writes the text to the manifest file.
    pub(crate) fn write(&self, directory: &RunDirectory, durable: bool) -> Result<(), RecordError> {
        replace(directory, MANIFEST, &self.bytes, durable)
    }
}

/// Reads the manifest of the run in `directory`, and computes the checksum of its text.
pub(crate) fn read_manifest(directory: &RunDirectory) -> Result<(Manifest, String), RecordError> {
    let path = directory.join(MANIFEST);
    let text = directory::read(directory, &path, MANIFEST_BYTES).map_err(RecordError::io("read", &path))?;
    let unreadable = |error: serde_json::Error| RecordError::Unreadable {
        path: path.clone(),
        message: format!("it is not a manifest of a run ({error}); restore it, or repeat the run"),
    };
    check_version_in(directory, &text).map_err(unreadable)??;
    Ok((serde_json::from_slice(&text).map_err(unreadable)?, checksum_of(&text)))
}

/// Rejects the text of a manifest that was written by a later program. The outer error says that it is no manifest.
pub(crate) fn check_version_in(
    directory: &RunDirectory,
    text: &[u8],
) -> Result<Result<(), RecordError>, serde_json::Error> {
    let version: Version = serde_json::from_slice(text)?;
    Ok(check_version(directory, version.format_version))
}

/// The only field that manifests of every version have.
#[derive(Deserialize)]
struct Version {
    format_version: u32,
}

/// Rejects runs that were written by a later program.
pub(crate) fn check_version(directory: &RunDirectory, found: u32) -> Result<(), RecordError> {
    if found > FORMAT_VERSION {
        return Err(RecordError::NewerVersion { path: directory.path().to_owned(), found });
    }
    Ok(())
}
