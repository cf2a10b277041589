//! Short forms of conditions for table columns; the long form is [`plan::Workload::conditions`].

use plan::{Case, Client, Layer, Phase, Workload};
use record::{Manifest, Provenance};

use crate::format::BYTES_PER_SECOND;

/// Maximum number of parts of an imported text that are shown in a column.
const STATED_PARTS: usize = 2;

/// [`what`], or for an imported case its name and the phase.
pub(crate) fn what_of(case: &Case, phase: Phase) -> String {
    match &case.stated {
        None => what(&case.workload, phase),
        Some(_) if case.id.contains(phase.name()) => case.id.clone(),
        Some(_) => format!("{} {phase}", case.id),
    }
}

/// [`path`], or for an imported case the beginning of its text.
pub(crate) fn path_of(case: &Case) -> String {
    match &case.stated {
        None => path(&case.workload),
        Some(stated) => stated.split(", ").take(STATED_PARTS).collect::<Vec<_>>().join(", "),
    }
}

/// `4 KiB random read`; `64 KiB sequential mix 70/30` has 70 % of reads.
///
/// For files and directories `file-create of 32 KiB`; for exchanges `1 KiB → 4 KiB one-to-one`.
pub(crate) fn what(workload: &Workload, phase: Phase) -> String {
    workload.what(phase)
}

/// The unit in which a figure of `phase` is shown: `bytes/s`, or operations by their name.
pub(crate) fn unit(phase: Phase) -> &'static str {
    if phase.counts_bytes() {
        return BYTES_PER_SECOND;
    }
    phase.operations_per_second()
}

/// The unit of operations per second in `phase`: `IOPS` of transfers, else operations by their name, as in
/// `creates/s`. Every form uses this one.
pub(crate) fn operations_unit(phase: Phase) -> &'static str {
    match unit(phase) {
        BYTES_PER_SECOND => "IOPS",
        named => named,
    }
}

/// The unit of operations per second in all of `phases`; that of transfers if there are none.
pub(crate) fn common_operations_unit(phases: impl IntoIterator<Item = Phase>) -> &'static str {
    let mut units = phases.into_iter().map(operations_unit);
    let first = units.next().unwrap_or("IOPS");
    if units.all(|unit| unit == first) { first } else { "operations/s" }
}

/// `direct uring 32`, `buffered psync 1`, `mmap`: the path of transfers to the kernel, and how many are in
/// flight per task.
pub(crate) fn path(workload: &Workload) -> String {
    let name = workload.backend.name();
    if !workload.work.is_transfers() {
        return format!("{name} {}", workload.backend.depth());
    }
    if !workload.backend.can_be_direct() {
        return name.to_owned();
    }
    let cache = if workload.direct { "direct" } else { "buffered" };
    format!("{cache} {name} {}", workload.backend.depth())
}

/// Whether the storage was otherwise unused, as stated by the study.
pub(crate) const fn exclusive(exclusive: bool) -> &'static str {
    if exclusive { "exclusive" } else { "not exclusive" }
}

/// Location of the measuring program, in words; empty if not stated.
pub(crate) const fn client(client: Client) -> &'static str {
    match client {
        Client::Unstated => "",
        Client::LocalToServer => "local to server",
        Client::Remote => "remote",
    }
}

/// Nodes that reach a target, in words; empty if not stated.
pub(crate) const fn layer(layer: Layer) -> &'static str {
    match layer {
        Layer::Unstated => "",
        Layer::NodeLocal => "node-local",
        Layer::Shared => "shared",
    }
}

/// The mark that precedes every mention of a run whose figures come from a model: `SIMULATED by model cards`.
/// Returns `None` for any other run. It is one line without hidden characters, whatever the model file contains.
#[must_use]
pub fn mark(manifest: &Manifest) -> Option<String> {
    (manifest.provenance == Provenance::Simulated)
        .then(|| simulated(manifest.model.as_ref().map(|model| model.name.as_str())))
}

/// `SIMULATED by model cards`.
pub(crate) fn simulated(model: Option<&str>) -> String {
    let model = model.map(|name| format!(" by model {}", plan::visible(name)));
    provenance(Provenance::Simulated).to_uppercase() + &model.unwrap_or_default()
}

/// The title of a run, preceded by its [`mark`].
pub(crate) fn heading(manifest: &Manifest) -> String {
    let title = &manifest.plan.title;
    mark(manifest).map_or_else(|| title.clone(), |mark| format!("{mark}, not measured: {title}"))
}

/// The word for the origin of figures.
pub(crate) const fn provenance(provenance: Provenance) -> &'static str {
    match provenance {
        Provenance::Measured => "measured",
        Provenance::Imported => "imported",
        Provenance::Published => "published",
        Provenance::Simulated => "simulated",
    }
}

#[cfg(test)]
mod tests {
    use plan::Phase;

    use super::{common_operations_unit, operations_unit};

    #[test]
    fn operations_are_called_by_what_the_phase_does() {
        assert_eq!(operations_unit(Phase::Read), "IOPS");
        assert_eq!(operations_unit(Phase::FileCreate), "creates/s");
        assert_eq!(operations_unit(Phase::FileStat), "stats/s");
        assert_eq!(operations_unit(Phase::DirectoryRemove), "removes/s");
        assert_eq!(common_operations_unit([Phase::FileCreate, Phase::DirectoryCreate]), "creates/s");
        assert_eq!(common_operations_unit([Phase::FileCreate, Phase::FileStat]), "operations/s");
        assert_eq!(common_operations_unit(None), "IOPS");
    }
}
