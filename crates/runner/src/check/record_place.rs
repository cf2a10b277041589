//! Whether the record is written to the storage that is measured.

use std::collections::HashSet;
use std::path::Path;

use host::{Host, Relation};
use plan::Plan;
use record::Warning;

/// The warning that `record`, the directory of the record, is on the file system of a target of `plan`. `None` if it is
/// on none of them, or if that cannot be found out.
#[must_use]
pub fn record_on_target(host: &Host, record: &Path, plan: &Plan) -> Option<Warning> {
    let mut seen = HashSet::new();
    let targets = plan.cases.iter().filter(|case| case.layout.is_none());
    let mut targets =
        targets.flat_map(|case| &case.workload.files.targets).filter(|target| seen.insert(*target));
    let is_beside = |target: &Path| {
        let relation = host.relation(target, record);
        matches!(relation, Ok(Relation::Same | Relation::Inside | Relation::SameFileSystem(_)))
    };
    let target = targets.find(|target| is_beside(target))?;
    let file_system = host.file_system_name(target).ok()?;
    // The file of a target has a name that the user did not give.
    let shown = target.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(target);
    Some(Warning::RecordOnTarget { target: shown.display().to_string(), file_system })
}
