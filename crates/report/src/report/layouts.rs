//! The layouts of a run, in the words of a report.

use plan::{MdMetadata, Recipe};
use record::{BlockDeviceFacts, CommandRun, FileSystemFacts, LayoutFinding, LayoutLifetime, Run};
use schemars::JsonSchema;
use serde::Serialize;

/// One time that a layout was made for the cases on it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct LayoutInfo {
    pub(crate) name: String,
    pub(crate) title: String,
    /// What it stands for; empty where it stands for nothing else.
    pub(crate) stands_for: String,
    /// As in `md`.
    pub(crate) recipe: &'static str,
    /// The devices as the plan names them, in the order of the members.
    pub(crate) members: Vec<String>,
    #[schemars(extend("enum" = ["dismantled", "not made", "left", "standing"]))]
    pub(crate) state: &'static str,
    /// Why it was not made, or why something is left; empty where all went well.
    pub(crate) error: String,
    /// What was run to make it.
    pub(crate) created: Vec<CommandRun>,
    /// What was read back.
    pub(crate) findings: Vec<LayoutFinding>,
    pub(crate) file_systems: Vec<FileSystemFacts>,
    /// The block devices under it.
    pub(crate) devices: Vec<BlockDeviceFacts>,
    /// What was run to dismantle it.
    pub(crate) destroyed: Vec<CommandRun>,
}

pub(crate) fn layouts(run: &Run) -> Vec<LayoutInfo> {
    run.layouts.iter().map(|lifetime| layout(run, lifetime)).collect()
}

fn layout(run: &Run, lifetime: &LayoutLifetime) -> LayoutInfo {
    let planned = run.manifest.plan.layouts.iter().find(|one| one.name == lifetime.layout);
    let text = |of: fn(&plan::Layout) -> &String| planned.map_or_else(String::new, |one| of(one).clone());
    let title = text(|one| &one.title);
    let (state, error) = match (&lifetime.not_created, lifetime.destroyed_unix_ns, &lifetime.not_destroyed) {
        (Some(error), ..) => ("not made", error.clone()),
        (None, _, Some(error)) => ("left", error.clone()),
        (None, Some(_), None) => ("dismantled", String::new()),
        (None, None, None) => ("standing", String::new()),
    };
    LayoutInfo {
        title: if title.is_empty() { lifetime.layout.clone() } else { title },
        name: lifetime.layout.clone(),
        stands_for: text(|one| &one.stands_for),
        recipe: planned.map_or("", |one| recipe(&one.recipe)),
        members: planned.map_or_else(Vec::new, |one| one.devices.clone()),
        state,
        error,
        created: lifetime.created.clone(),
        findings: lifetime.findings.clone(),
        file_systems: lifetime.file_systems.clone(),
        devices: lifetime.devices.clone(),
        destroyed: lifetime.destroyed.clone(),
    }
}

/// The name of a recipe in studies.
fn recipe(recipe: &Recipe) -> &'static str {
    match recipe {
        Recipe::Raw => "raw",
        Recipe::PerDevice { .. } => "per-device",
        Recipe::Btrfs { .. } => "btrfs",
        Recipe::Md { metadata: MdMetadata::Plain, .. } => "md",
        Recipe::Md { metadata: MdMetadata::Imsm, .. } => "imsm",
        Recipe::Lvm { .. } => "lvm",
        Recipe::Gpfs { .. } => "gpfs",
        Recipe::Lustre { .. } => "lustre",
        Recipe::Existing => "existing",
        Recipe::Own { .. } => "own",
    }
}
