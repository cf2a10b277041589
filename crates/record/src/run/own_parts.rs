//! The parts of a run that is to be merged.

use std::collections::BTreeMap;

use plan::PlanSource;

use crate::format::PARTS;
use crate::{Part, PartStudy, Run, plan_sha256, sha256};

/// The runs from which `run` was merged, or the run itself.
pub(super) fn parts_of(run: &Run) -> Vec<Part> {
    // What is known about its parts stays with them.
    let of_parts = run.directory.join(PARTS);
    let own = run.damage.iter().filter(|damage| run.parts.is_empty() || damage.path != of_parts);
    let damage: Vec<String> = own.map(ToString::to_string).collect();
    if !run.parts.is_empty() {
        let mut parts = run.parts.clone();
        parts[0].damage.extend(damage);
        return parts;
    }
    let manifest = &run.manifest;
    vec![Part {
        run_id: manifest.run_id.clone(),
        provenance: manifest.provenance,
        model: manifest.model.clone(),
        program_version: manifest.program_version.clone(),
        command_line: manifest.command_line.clone(),
        started_unix_ns: manifest.started_unix_ns,
        finished_unix_ns: manifest.finished_unix_ns,
        host: manifest.host.clone(),
        cluster: manifest.cluster.clone(),
        exclusive: manifest.plan.criteria.exclusive,
        study: study_of(&manifest.plan.source),
        plan_sha256: plan_sha256(&manifest.plan),
        directory: run.directory.clone(),
        cases: run.cases().to_vec(),
        damage,
        passes: BTreeMap::new(),
    }]
}

fn study_of(source: &PlanSource) -> Option<PartStudy> {
    let PlanSource::Study { path, text, overrides } = source else { return None };
    let (path, sha256) = (path.clone(), sha256(text.as_bytes()));
    Some(PartStudy { path, sha256, overrides: overrides.clone() })
}
