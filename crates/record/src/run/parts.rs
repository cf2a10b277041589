//! The runs from which a merged run was made.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use plan::limits::MANIFEST_BYTES;
use plan::{Case, PassRole, Spread};
use serde::{Deserialize, Serialize};

#[cfg(doc)]
use crate::Manifest;
use crate::files::directory::{self, RunDirectory};
use crate::files::replacement::replace;
use crate::format::PARTS;
use crate::{CaseId, Cluster, Damage, HostFacts, ModelSource, Provenance, RecordError};

/// A run that was merged into another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// [`Manifest::run_id`].
    pub run_id: String,
    /// The source of its figures.
    pub provenance: Provenance,
    /// [`Manifest::model`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelSource>,
    /// Version of the program that wrote it.
    pub program_version: String,
    /// The command line as given.
    pub command_line: Vec<String>,
    /// Wall clock at its start, nanoseconds since 1970-01-01 UTC.
    pub started_unix_ns: i64,
    /// Wall clock at its end, if known.
    pub finished_unix_ns: Option<i64>,
    /// The host, or the first node if there are several.
    pub host: HostFacts,
    /// Its processes, if a launcher has started several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<Cluster>,
    /// [`plan::Criteria::exclusive`] of its study.
    #[serde(default)]
    pub exclusive: Option<bool>,
    /// The study file that it ran, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub study: Option<PartStudy>,
    /// [`crate::plan_sha256`] of its plan; empty in records of earlier programs.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub plan_sha256: String,
    /// Its own record, while the runs are only read together; empty in a merged record.
    #[serde(skip)]
    pub directory: PathBuf,
    /// The cases for which it has rows.
    pub cases: Vec<CaseId>,
    /// Descriptions of the damage in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub damage: Vec<String>,
    /// The numbers of its passes of each case in the merged run; empty in records of version 2 and
    /// earlier.
    #[serde(default)]
    pub passes: BTreeMap<CaseId, PartPasses>,
}

/// The study file of a part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartStudy {
    /// Its path as given.
    pub path: PathBuf,
    /// [`crate::sha256`] of its text.
    pub sha256: String,
    /// What `--set` changed of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overrides: Vec<String>,
}

/// The passes of a case that belong to one part. Their numbers are consecutive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartPasses {
    /// Number of the first pass.
    pub first: u32,
    /// Number of the last pass.
    pub last: u32,
}

impl PartPasses {
    /// Whether the pass with this number is one of them.
    #[must_use]
    pub fn holds(self, pass: u32) -> bool {
        (self.first..=self.last).contains(&pass)
    }

    /// The smallest range that contains all of `passes`, or `None` if there are none.
    pub(crate) fn of(passes: impl IntoIterator<Item = u32>) -> Option<Self> {
        let wider = |all: Option<Self>, pass: u32| {
            Some(all.map_or(Self { first: pass, last: pass }, |all| Self {
                first: all.first.min(pass),
                last: all.last.max(pass),
            }))
        };
        passes.into_iter().fold(None, wider)
    }
}

impl Part {
    /// The nodes that ran `case`. Its tasks are on the first nodes.
    pub(crate) fn nodes_of(&self, case: &Case) -> HashSet<&str> {
        let Some(cluster) = &self.cluster else { return HashSet::from([self.host.node.as_str()]) };
        let count = match case.workload.spread {
            Spread::Nodes => case.workload.nodes as usize,
            Spread::Ranks { .. } => cluster.nodes.len(),
        };
        cluster.nodes.iter().take(count).map(|node| node.host.node.as_str()).collect()
    }

    /// The number of counted passes of `case`.
    pub(crate) fn recorded(&self, case: &Case) -> usize {
        let passes = self.passes.get(case.id.as_str()).map_or(0..=0, |passes| passes.first..=passes.last);
        passes.filter(|&pass| case.role(pass) == PassRole::Recorded).count()
    }
}

/// Stores `parts` in the directory of a merged run.
pub(crate) fn write_parts(directory: &RunDirectory, parts: &[Part]) -> Result<(), RecordError> {
    let parts = serde_json::to_vec_pretty(parts).map_err(|error| RecordError::CannotMerge {
        why: format!("the parts could not be encoded: {error}; report this as a bug"),
    })?;
    replace(directory, PARTS, &parts, true)
}

/// The damage in `parts`, as reported by the file at `path`.
pub(crate) fn damage_of<'a>(parts: &'a [Part], path: &'a Path) -> impl Iterator<Item = Damage> + 'a {
    let of_part = move |part: &'a Part| {
        let told = move |what: &String| format!("run {} was damaged when it was merged: {what}", part.run_id);
        part.damage.iter().map(move |what| Damage { path: path.to_path_buf(), what: told(what) })
    };
    parts.iter().flat_map(of_part)
}

/// The parts of the run in `directory`; empty if it was not merged.
pub(crate) fn read_parts(directory: &RunDirectory, damage: &mut Vec<Damage>) -> Vec<Part> {
    let path = directory.join(PARTS);
    if !directory::is_there(directory, &path) {
        return Vec::new();
    }
    let text = directory::read(directory, &path, MANIFEST_BYTES).map_err(|error| error.to_string());
    let parts = text.and_then(|text| serde_json::from_slice(&text).map_err(|error| error.to_string()));
    match parts {
        Ok(parts) => {
            let parts: Vec<Part> = parts;
            damage.extend(damage_of(&parts, &path));
            parts
        }
        Err(error) => {
            let what = format!("{error}; the list of the runs it was merged from is lost");
            damage.push(Damage { path, what });
            Vec::new()
        }
    }
}
