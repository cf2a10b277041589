//! The layouts of a run, in the words of a report.

use plan::{MdMetadata, Recipe};
use record::{Run, Stood};

use crate::view::layouts::LayoutInfo;

pub(super) fn layouts(run: &Run) -> Vec<LayoutInfo> {
    run.layouts.iter().map(|stood| layout(run, stood)).collect()
}

fn layout(run: &Run, stood: &Stood) -> LayoutInfo {
    let planned = run.manifest.plan.layouts.iter().find(|one| one.name == stood.layout);
    let text = |of: fn(&plan::Layout) -> &String| planned.map_or_else(String::new, |one| of(one).clone());
    let title = text(|one| &one.title);
    let (state, error) = match (&stood.not_created, stood.destroyed_unix_ns, &stood.not_destroyed) {
        (Some(error), ..) => ("not made", error.clone()),
        (None, _, Some(error)) => ("left", error.clone()),
        (None, Some(_), None) => ("dismantled", String::new()),
        (None, None, None) => ("standing", String::new()),
    };
    LayoutInfo {
        title: if title.is_empty() { stood.layout.clone() } else { title },
        name: stood.layout.clone(),
        stands_for: text(|one| &one.stands_for),
        recipe: planned.map_or("", |one| recipe(&one.recipe)),
        members: planned.map_or_else(Vec::new, |one| one.devices.clone()),
        state,
        error,
        created: stood.created.clone(),
        findings: stood.findings.clone(),
        file_systems: stood.file_systems.clone(),
        devices: stood.devices.clone(),
        destroyed: stood.destroyed.clone(),
    }
}

/// As a study calls it.
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
