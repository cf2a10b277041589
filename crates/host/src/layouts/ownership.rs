//! The place of a layout: what conflicts with it, and whether existing objects belong to it.

use std::fs;
use std::path::{Path, PathBuf};

use plan::layout::UndoCondition;

use super::commands;
use super::error::Obstacle;
use crate::Root;
use crate::devices::block;
use crate::file_systems::file_system::mount_table;
use crate::file_systems::mounts::Mount;
use crate::guard::Guard;

/// Whether a step has to be undone.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Ownership {
    /// It exists and belongs to the layout.
    Own,
    /// Nothing exists there.
    Nothing,
    /// Something exists that the layout did not create.
    Foreign(String),
}

/// Examines what exists of the result of a step.
pub(super) fn examine(root: &Root, when: &UndoCondition) -> Ownership {
    match when {
        UndoCondition::Begun => Ownership::Own,
        UndoCondition::Mounted { place, sources } => mounted(root, place, sources),
        UndoCondition::Stacked { node, members } => stacked(root, node, members),
        UndoCondition::Grouped { group, volume, members } => grouped(group, volume.as_deref(), members),
        UndoCondition::Carries { device, kind } => match Guard::signatures(device) {
            Ok(found) if found.iter().any(|signature| signature.kind == *kind) => Ownership::Own,
            Ok(_) => Ownership::Nothing,
            Err(reason) => Ownership::Foreign(format!("{}: {reason}", device.display())),
        },
        UndoCondition::Answers(words) => match commands::succeeds(words) {
            true => Ownership::Own,
            false => Ownership::Nothing,
        },
    }
}

/// The visible mount at `place`, if it is a mount point.
pub(super) fn mount_at(root: &Root, place: &Path) -> Option<Mount> {
    let real = fs::canonicalize(root.path(place)).ok().and_then(|path| root.without_prefix(&path));
    let place = real.as_deref().unwrap_or(place);
    // If mounts are stacked, the last one is visible.
    mount_table(root).ok()?.into_iter().rfind(|mount| mount.mount_point == place)
}

fn mounted(root: &Root, place: &Path, sources: &[PathBuf]) -> Ownership {
    let Some(mount) = mount_at(root, place) else { return Ownership::Nothing };
    if is_from(root, &mount, sources) {
        return Ownership::Own;
    }
    Ownership::Foreign(format!("{} is mounted at {}, but not by the layout", mount.source, place.display()))
}

/// Whether one of `sources` is mounted, determined by the name in the table or by comparing device
/// numbers.
pub(super) fn is_from(root: &Root, mount: &Mount, sources: &[PathBuf]) -> bool {
    let shown = block::number_at(root, Path::new(&mount.source));
    sources.iter().any(|source| {
        let number = block::number_at(root, source);
        Path::new(&mount.source) == source
            || number.is_some_and(|number| number == mount.number || Some(number) == shown)
    })
}

/// The kernel's names of devices.
fn names(root: &Root, devices: &[PathBuf]) -> Vec<String> {
    devices.iter().filter_map(|device| block::name_of(root, block::number_at(root, device)?)).collect()
}

fn stacked(root: &Root, node: &Path, members: &[PathBuf]) -> Ownership {
    let Some(name) = block::number_at(root, node).and_then(|number| block::name_of(root, number)) else {
        return Ownership::Nothing;
    };
    let found = block::slaves(root, &name);
    if found.is_empty() {
        return Ownership::Nothing;
    }
    let own = names(root, members);
    match found.iter().find(|member| !own.contains(member)) {
        None => Ownership::Own,
        Some(other) => Ownership::Foreign(format!(
            "{} has the member {other}, which does not belong to the layout",
            node.display()
        )),
    }
}

/// Checks the output of `vgs`, which lists the physical volumes of a group, one per line.
fn grouped(group: &str, volume: Option<&str>, members: &[PathBuf]) -> Ownership {
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let Some(listed) = commands::answer(&words(&["vgs", "--noheadings", "-o", "pv_name", group])) else {
        return Ownership::Nothing;
    };
    let is_own = |name: &str| members.iter().any(|member| member == Path::new(name));
    if let Some(other) = listed.split_whitespace().find(|name| name.starts_with('/') && !is_own(name)) {
        return Ownership::Foreign(format!(
            "volume group {group} contains {other}, which does not belong to the layout"
        ));
    }
    match volume {
        Some(volume) if !commands::succeeds(&words(&["lvs", &format!("{group}/{volume}")])) => {
            Ownership::Nothing
        }
        _ => Ownership::Own,
    }
}

/// The obstacle, if any, to mounting at `place` or to creating a directory there.
pub(super) fn mount_point_obstacle(root: &Root, place: &Path) -> Option<Obstacle> {
    let obstacle = |reason: String| Some(Obstacle::Place { path: place.to_owned(), reason });
    if let Some(mount) = mount_at(root, place) {
        return obstacle(format!(
            "{} is mounted there: give another mount point, or unmount it",
            mount.source
        ));
    }
    let real = root.path(place);
    let metadata = match fs::symlink_metadata(&real) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return above(root, place),
        Err(error) => return obstacle(error.to_string()),
    };
    if !metadata.is_dir() {
        return obstacle("it is not a directory: give another mount point".to_owned());
    }
    match fs::read_dir(&real).map(|mut entries| entries.next().is_none()) {
        Ok(true) => None,
        Ok(false) => obstacle("the directory is not empty: give an empty or new directory".to_owned()),
        Err(error) => obstacle(error.to_string()),
    }
}

/// Checks that the nearest existing ancestor is a directory.
fn above(root: &Root, place: &Path) -> Option<Obstacle> {
    let nearest = place.ancestors().skip(1).find(|path| fs::metadata(root.path(path)).is_ok())?;
    let is_directory = fs::metadata(root.path(nearest)).is_ok_and(|metadata| metadata.is_dir());
    (!is_directory).then(|| Obstacle::Place {
        path: place.to_owned(),
        reason: format!("{} is not a directory: give another mount point", nearest.display()),
    })
}
