//! Layouts: how devices are combined into the file system or device that is measured.
//!
//! A [`Layout`] is data. [`Layout::problems`] validates it, and [`Layout::steps`] turns it into commands, each
//! with its purpose, how to undo it, and whether a publication prints it. Nothing here accesses a host.
//!
//! ```
//! use plan::{FileSystem, FileSystemKind, Layout, Recipe};
//! let file_system = FileSystem { kind: FileSystemKind::Xfs, make_options: vec![], mount_options: String::new() };
//! let layout = Layout {
//!     name: "cards".into(),
//!     title: String::new(),
//!     stands_for: String::new(),
//!     devices: vec!["/dev/nvme0n1".into()],
//!     mount_point: "/p3700".into(),
//!     recipe: Recipe::PerDevice { file_system },
//! };
//! assert!(layout.problems().is_empty());
//! let steps = layout.steps(&["/dev/nvme0n1".into()]);
//! assert_eq!(steps[1].action.to_string(), "mkfs.xfs -f -K /dev/nvme0n1");
//! ```

mod array;
mod cluster;
mod files;
mod own;
mod packages;
mod printed;
mod recipe;
mod step;
mod steps;
mod valid;
mod volumes;

pub use packages::{Package, package};
pub use printed::Provenance;
pub use recipe::{FileSystem, FileSystemKind, MdMetadata, Recipe, Volume};
pub use step::{Action, Step, Undo, UndoCondition};
pub use valid::LayoutProblem;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// Devices combined in one way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Layout {
    /// A name that is unique in the study.
    pub name: String,
    /// Display name in the report; the name if empty.
    pub title: String,
    /// The published layout that it reproduces; may be empty.
    pub stands_for: String,
    /// The devices in the order of the members, each by path, serial number or world wide name.
    pub devices: Vec<String>,
    /// Where it is mounted. With a file system per device, they are at `0`, `1` … below it; each volume is at its
    /// name below it; and a single file system over all devices is at the path itself.
    pub mount_point: PathBuf,
    /// How its devices are combined.
    pub recipe: Recipe,
}

impl Layout {
    /// The user's own checks, each of which must exit with 0.
    #[must_use]
    pub fn checks(&self, devices: &[PathBuf]) -> Vec<Action> {
        match &self.recipe {
            Recipe::Own { verify, .. } => own::checks(verify, devices, &self.mount_point),
            _ => Vec::new(),
        }
    }

    /// The directories that can be measured, in the order of members or volumes. [`Recipe::Raw`] has none, because
    /// its devices themselves are measured.
    #[must_use]
    pub fn directories(&self) -> Vec<PathBuf> {
        let below = |name: &dyn AsRef<Path>| self.mount_point.join(name.as_ref());
        match &self.recipe {
            Recipe::Raw => Vec::new(),
            Recipe::PerDevice { .. } => {
                (0..self.devices.len()).map(|member| below(&member.to_string())).collect()
            }
            Recipe::Lvm { volumes, .. } => volumes.iter().map(|volume| below(&volume.name)).collect(),
            _ => vec![self.mount_point.clone()],
        }
    }
}

#[cfg(test)]
mod tests;
